//! What libraries report of an array that has a layout.

use super::Memory;
use crate::advice::Array;
use crate::{Dims, ShapeTracker};

/// What a library reports of an array that has the layout.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::{Memory, describe}};
///
/// let found = describe(&ShapeTracker::contiguous([2, 3])?.permute([1, 0])?, Some(Memory::of(8)));
/// let [pytorch, numpy, jax] = &found.reported[..] else { panic!() };
/// assert_eq!(pytorch.strides.as_deref(), Some(&[1, 3][..]));
/// assert!(!pytorch.says("is_contiguous()"));
/// assert_eq!(numpy.strides.as_deref(), Some(&[8, 24][..]));
/// assert!(numpy.says("flags.f_contiguous"));
/// assert_eq!(jax.minor_to_major.as_deref(), Some(&[0, 1][..]));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reported {
    /// `PyTorch`, `NumPy` or `JAX`.
    pub library: &'static str,
    /// The strides, those along axes of size 1 included: NumPy's in bytes where they are known, and else in elements. JAX has
    /// none.
    pub strides: Option<Dims>,
    /// The axes from the innermost one outwards, as JAX says it of an array on its device.
    pub minor_to_major: Option<Dims>,
    /// What its own questions answer: the call, and the answer.
    pub says: Vec<(&'static str, bool)>,
    /// Why the library has no such array.
    pub none: Option<&'static str>,
}

impl Reported {
    /// Whether a question of the library is answered with yes.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, describe::describe};
    ///
    /// let found = describe(&ShapeTracker::contiguous([2, 3])?, None);
    /// assert!(found.reported[1].says("flags.c_contiguous"));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn says(&self, question: &str) -> bool {
        self.says.contains(&(question, true))
    }
}

/// What each library reports: of an array with its strides, where there is one view of them, and the axes of a dense one,
/// outermost first.
pub(super) fn of(
    tracker: &ShapeTracker,
    array: Option<Array>,
    dense: Option<Dims>,
    memory: Option<Memory>,
) -> Vec<Reported> {
    let view = tracker.as_view();
    let none = match view {
        None => Some("an array has one stride for each axis, and this is several views"),
        Some(view) if view.mask().is_some() => {
            Some("an array has a value for each element, and some of these are masked")
        }
        Some(view) if view.address_range().is_some_and(|(low, _)| low < 0) => Some("it begins before its buffer does"),
        _ => None,
    };
    let array = array.filter(|_| none.is_none());
    let report = |library| Reported { library, strides: None, minor_to_major: None, says: Vec::new(), none };
    let (mut pytorch, mut numpy, mut jax) = (report("PyTorch"), report("NumPy"), report("JAX"));
    if let Some(array) = array {
        let (rank, empty) = (array.shape.len(), array.numel() == 0);
        if array.strides.iter().any(|&stride| stride < 0) {
            pytorch.none = Some("PyTorch has no negative strides");
        } else {
            pytorch.says.push(("is_contiguous()", empty || array.is_contiguous()));
            if let Some(axes) = crate::advice::channels_last(rank) {
                let question = match rank {
                    4 => "is_contiguous(memory_format=torch.channels_last)",
                    _ => "is_contiguous(memory_format=torch.channels_last_3d)",
                };
                pytorch.says.push((question, array.follow(axes.iter().copied())));
            }
            pytorch.strides = Some(array.strides.clone());
        }
        numpy.says.push(("flags.c_contiguous", empty || array.is_contiguous()));
        numpy.says.push(("flags.f_contiguous", empty || array.is_column_major()));
        let width = memory.map_or(1, Memory::width);
        numpy.strides =
            array.strides.iter().map(|stride| stride.checked_mul(width)).collect::<Option<Vec<i64>>>().map(Dims::from);
        if numpy.strides.is_none() {
            numpy.none = Some("its strides in bytes are past 64 bits");
        }
        match dense {
            Some(axes) => jax.minor_to_major = Some(axes.into_iter().rev().collect()),
            None => jax.none = Some("the arrays of JAX are dense, without blocks, and walk forwards"),
        }
    }
    vec![pytorch, numpy, jax]
}
