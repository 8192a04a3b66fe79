//! What a layout is to those who use it: in which order its elements lie, what it leaves out, what it shares, and which
//! libraries and instructions take it as it is.
//!
//! - [`describe`] and [`describe_array`] tell it of one layout; `Display` writes the answer as lines of text.
//! - [`ShapeTracker::overlap`](crate::ShapeTracker::overlap) says whether two layouts of one buffer share an address.
//!
//! Every "no" has its reason with the axis and both numbers, and the [nearest layout](Nearest) that would do.
//!
//! ```
//! use shapetracker::ShapeTracker;
//! use shapetracker::describe::{Memory, describe};
//!
//! // Images of 3 channels, stored with the channels innermost, as 2-byte numbers.
//! let images = ShapeTracker::contiguous([8, 32, 32, 3])?.permute([0, 3, 1, 2])?;
//! let found = describe(&images, Some(Memory::of(2)));
//! assert!(found.is_dense() == Some(true) && found.is_named("channels_last"));
//! assert_eq!(found.formats[0].to_string(), "NHWC (cuDNN)");
//! assert_eq!(found.formats[1].to_string(), "acdb (oneDNN)");
//! assert_eq!(
//!     found.tensor_map.unwrap().unwrap_err().to_string(),
//!     "the stride of axis 3 is 6 bytes, which is no multiple of 16",
//! );
//! # Ok::<(), shapetracker::Error>(())
//! ```

mod claim;
mod json;
mod matrix;
mod order;
mod overlap;
mod reported;
mod tensor_map;
mod text;
mod vector;

pub use claim::Claim;
pub use matrix::{Matrix, MatrixForm, NoMatrix};
pub use order::{Digit, Format, Order, formats_of, named_orders};
pub use overlap::{Apart, Overlap};
pub use reported::Reported;
pub use tensor_map::{NoTensorMap, TensorMap, TensorMapDim};
pub use text::Line;
pub use vector::Vector;

use crate::advice::Array;
use crate::merge::affine_runs;
use crate::{AffineRun, Dims, Error, Joined, ShapeTracker, Undecided, View};

/// How elements lie in bytes.
///
/// ```
/// let memory = shapetracker::describe::Memory::of(4);
/// assert_eq!((memory.bytes, memory.alignment), (4, 256));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Memory {
    /// How many bytes an element has; 0 counts as 1.
    pub bytes: u32,
    /// What the machine's address of the buffer's element 0 is a multiple of, in bytes.
    pub alignment: u64,
}

impl Memory {
    /// Elements of so many bytes in a buffer that begins where CUDA's allocator begins one: at a multiple of 256 bytes.
    ///
    /// ```
    /// assert_eq!(shapetracker::describe::Memory::of(2).bytes, 2);
    /// ```
    pub fn of(bytes: u32) -> Memory {
        Memory { bytes, alignment: 256 }
    }

    fn width(self) -> i64 {
        i64::from(self.bytes.max(1))
    }
}

/// What is known of a layout, by [`describe`].
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let found = describe(&ShapeTracker::contiguous([4, 6])?.shrink([(0, 4), (1, 4)])?, None);
/// assert_eq!((found.range, found.distinct, found.holes()), (Ok(Some((1, 21))), Some(12), Some(9)));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Description {
    /// The layout.
    pub tracker: ShapeTracker,
    /// How its elements lie in bytes, if that was given.
    pub memory: Option<Memory>,
    /// How many elements are not masked; `None` where that was not decided.
    pub valid: Option<i64>,
    /// The lowest and the highest address that is read; `Ok(None)` where nothing is.
    pub range: Result<Option<(i64, i64)>, Undecided>,
    /// How many addresses are read; `None` where that was not decided.
    pub distinct: Option<i64>,
    /// Two elements that read one address, and which; `Ok(None)` where there are none.
    pub collision: Result<Option<Shared>, Undecided>,
    /// In which order the axes lie in memory; `None` where the layout is no strided view, even with its axes split, and where
    /// the elements of one axis lie between those of another one.
    pub order: Option<Order>,
    /// The elements one after the other in row-major order, where they are not dense.
    pub nearest_dense: Option<Nearest>,
    /// What cuDNN and oneDNN call the layout; empty where it has no name there.
    pub formats: Vec<Format>,
    /// Whether its last two axes are a matrix for BLAS.
    pub matrix: Result<Matrix, NoMatrix>,
    /// A layout whose last two axes are one, where they are not.
    pub nearest_matrix: Option<Nearest>,
    /// Whether a tensor map of CUDA describes it, where the bytes are known.
    pub tensor_map: Option<Result<TensorMap, NoTensorMap>>,
    /// A layout that a tensor map describes, where this one has none.
    pub nearest_tensor_map: Option<Nearest>,
    /// The widest vectors that all elements can be read by; `None` where that was not decided.
    pub vector: Option<Vector>,
    /// What PyTorch, NumPy and JAX report of such an array.
    pub reported: Vec<Reported>,
}

/// Two elements that read one address.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let found = describe(&ShapeTracker::contiguous([6])?.as_strided([4, 3], [1, 1], 0)?, None);
/// let shared = found.collision?.unwrap();
/// assert_eq!(shared.to_string(), "elements (0, 1) and (1, 0) both lie at address 1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shared {
    /// Their indices.
    pub indices: [Dims; 2],
    /// The address.
    pub address: i64,
}

/// A layout that would do where the one that was asked about does not, and what it takes to get there: a fresh buffer into
/// which elements are copied, and the view of it.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let found = describe(&ShapeTracker::contiguous([4, 6])?.step([1, 2])?, None);
/// let nearest = found.nearest_matrix.unwrap();
/// assert_eq!((nearest.view.to_string(), nearest.elements), ("(4, 3):(3, 1)".into(), 12));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Nearest {
    /// The view of the fresh buffer.
    pub view: View,
    /// How many elements are copied: none twice that repeats along an axis which may go on repeating.
    pub elements: i64,
}

/// What is known of a layout, whose elements lie so in bytes, if that is given.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let found = describe(&ShapeTracker::contiguous([2, 3])?.permute([1, 0])?, None);
/// assert!(found.is_named("column-major") && !found.is_named("row-major"));
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Cost
/// That of [`ShapeTracker::collision`] and [`ShapeTracker::address_range`]. Where some addresses are read more often than
/// others they are counted by going through the elements, of which there may be 2^24.
pub fn describe(tracker: &ShapeTracker, memory: Option<Memory>) -> Description {
    let kept = tracker.as_view().map(|view| match view.numel() {
        0 => Array::contiguous(view.shape()),
        _ => Array::from(view).kept(),
    });
    described(tracker, kept, memory)
}

/// What is known of an array of a library, with the strides that the library keeps, those along axes of size 1 included.
///
/// ```
/// use shapetracker::{advice::Array, describe::describe_array};
///
/// // torch.zeros(1, 3).T, whose second axis keeps stride 3.
/// let array = Array { shape: [3, 1].into(), strides: [1, 3].into(), offset: 0 };
/// let found = describe_array(&array, None)?;
/// assert_eq!(found.reported[0].strides.as_deref(), Some(&[1, 3][..]));
/// assert!(found.reported[0].says("is_contiguous()"));
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// Those of [`View::new`].
pub fn describe_array(array: &Array, memory: Option<Memory>) -> Result<Description, Error> {
    let view = View::new(&array.shape, &array.strides, array.offset, None)?;
    Ok(described(&view.into(), Some(array.clone()), memory))
}

fn described(tracker: &ShapeTracker, array: Option<Array>, memory: Option<Memory>) -> Description {
    let range = tracker.address_range();
    let valid = valid(tracker);
    let shared = |indices: [Dims; 2]| {
        // A collision is of two elements that have an address.
        let address = tracker.address(&indices[0]).unwrap_or_default();
        Shared { indices, address }
    };
    let collision = tracker.collision().map(|found| found.map(shared));
    let laid = Laid::of(tracker);
    let distinct = laid.as_ref().and_then(Laid::distinct).or_else(|| distinct(tracker, valid, range));
    let order = laid.as_ref().and_then(|laid| Order::of(laid, tracker.rank()));
    let (matrix, nearest_matrix) = matrix::of(tracker);
    let tensor_map = memory.map(|memory| tensor_map::of(tracker, laid.as_ref(), memory));
    let nearest_tensor_map = match (&tensor_map, memory) {
        (Some(Err(why)), Some(memory)) => tensor_map::nearest(tracker, why, memory),
        _ => None,
    };
    let mut description = Description {
        tracker: tracker.clone(),
        memory,
        valid,
        range,
        distinct,
        collision,
        order,
        nearest_dense: None,
        formats: Vec::new(),
        matrix,
        nearest_matrix,
        tensor_map,
        nearest_tensor_map,
        vector: laid.as_ref().map(|laid| vector::of(laid, memory)),
        reported: Vec::new(),
    };
    let is_dense = description.is_dense();
    if is_dense == Some(false) {
        let rows = View::contiguous(tracker.shape()).ok();
        description.nearest_dense = rows.map(|view| Nearest { view, elements: tracker.numel() });
    }
    let order = description.order.as_ref().filter(|_| is_dense == Some(true));
    let plain = order.filter(|order| order.backwards.is_empty());
    let formats = plain.map(|order| order.formats(tracker.rank())).unwrap_or_default();
    let order = plain.and_then(|order| order.axes(tracker.rank()));
    description.reported = reported::of(tracker, array, order, memory);
    description.formats = formats;
    description
}

impl Description {
    /// Whether every address from the lowest to the highest one is read by exactly one element and no element is masked;
    /// `None` where that was not decided.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, describe::describe};
    ///
    /// let st = ShapeTracker::contiguous([4, 6])?;
    /// assert_eq!(describe(&st.permute([1, 0])?.flip([0])?, None).is_dense(), Some(true));
    /// assert_eq!(describe(&st.step([1, 2])?, None).is_dense(), Some(false));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_dense(&self) -> Option<bool> {
        let numel = self.tracker.numel();
        match (self.valid, self.distinct, self.holes()) {
            (Some(valid), ..) if valid != numel => Some(false),
            (Some(valid), Some(distinct), _) if valid != distinct => Some(false),
            (_, _, Some(1..)) => Some(false),
            (Some(_), Some(_), Some(_)) => Some(true),
            _ => None,
        }
    }

    /// How many addresses between the lowest and the highest one no element reads; `None` where that was not decided.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, describe::describe};
    ///
    /// assert_eq!(describe(&ShapeTracker::contiguous([10])?.step([3])?, None).holes(), Some(6));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn holes(&self) -> Option<i128> {
        match self.range {
            Ok(None) => Some(0),
            Ok(Some((low, high))) => Some(i128::from(high) - i128::from(low) + 1 - i128::from(self.distinct?)),
            Err(Undecided) => None,
        }
    }

    /// Whether an order of axes has this name: `row-major`, `column-major`, `channels_last`, `channels_last_3d` or `blocked`.
    /// A layout may have several: of one channel it is in row-major order and channels last.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, describe::describe};
    ///
    /// let found = describe(&ShapeTracker::contiguous([8, 1, 5, 5])?, None);
    /// assert!(found.is_named("row-major") && found.is_named("channels_last"));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_named(&self, name: &str) -> bool {
        self.order.as_ref().is_some_and(|order| order.names.contains(&name))
    }
}

/// A tracker as one strided view of the digits of its axes: each axis by itself, or split where it must be.
struct Laid {
    view: View,
    /// The axis of the tracker that each axis of the view belongs to.
    axes: Vec<usize>,
}

impl Laid {
    fn of(tracker: &ShapeTracker) -> Option<Laid> {
        if let Some(view) = tracker.as_view() {
            return Some(Laid { view: view.clone(), axes: (0..view.rank()).collect() });
        }
        let [earlier, later] = tracker.views() else { return None };
        let found = affine_runs(earlier, later).ok()?;
        // The runs of an axis are listed innermost first.
        let mut digits: Vec<AffineRun> = found.runs.iter().copied().collect();
        digits.reverse();
        digits.sort_by_key(|digit| digit.axis);
        let sizes: Dims = digits.iter().map(|digit| digit.size).collect();
        let strides: Dims = digits.iter().map(|digit| digit.stride).collect();
        let view = View::new(sizes, strides, found.offset, None).ok()?;
        Some(Laid { view, axes: digits.iter().map(|digit| digit.axis).collect() })
    }
}

impl Laid {
    /// How many addresses are read, where every stride either fills up what the shorter ones reach or goes past it.
    fn distinct(&self) -> Option<i64> {
        let view = &self.view;
        if view.is_empty() {
            return Some(0);
        }
        let long = (0..view.rank()).map(|axis| (view.strides()[axis].unsigned_abs(), view.range(axis)));
        let long = long.filter(|&(stride, (begin, end))| stride > 0 && end - begin > 1);
        let mut steps: Vec<(i128, i128)> =
            long.map(|(stride, (begin, end))| (i128::from(stride), i128::from(end - begin))).collect();
        steps.sort_unstable();
        let unit = steps.first().map_or(1, |step| step.0);
        // Of what is reached so far: how many addresses, and whether they are all multiples of the unit from 0 to `reach`.
        let (mut count, mut reach, mut is_whole) = (1, 0, true);
        for (stride, size) in steps {
            if is_whole && stride % unit == 0 && stride / unit <= count {
                count += stride / unit * (size - 1);
            } else if stride > reach {
                count *= size;
                is_whole = false;
            } else {
                return None;
            }
            reach += stride * (size - 1);
        }
        i64::try_from(count).ok()
    }
}

/// How many elements are not masked.
fn valid(tracker: &ShapeTracker) -> Option<i64> {
    if tracker.views().iter().all(|view| view.mask().is_none()) {
        return Some(tracker.numel());
    }
    if let Some(view) = tracker.as_view() {
        let sizes = (0..view.rank()).map(|axis| view.range(axis)).map(|(begin, end)| end - begin);
        return Some(if view.is_empty() { 0 } else { sizes.product() });
    }
    let all: Vec<usize> = (0..tracker.rank()).collect();
    let (rows, columns) = (Joined::new([], [0, 1]), Joined::new(all, [0, tracker.numel()]));
    let found = tracker.summaries(0, &rows, &columns, &vec![0; tracker.rank()]).ok()?;
    Some(found.first()?.valid())
}

/// How many addresses are read.
fn distinct(tracker: &ShapeTracker, valid: Option<i64>, range: Result<Option<(i64, i64)>, Undecided>) -> Option<i64> {
    /// What is walked through where nothing else tells, and the longest range of which the addresses are told apart.
    const MOST: i64 = 1 << 24;
    let Some((low, high)) = range.ok()? else { return Some(0) };
    if let Ok(Some(times)) = tracker.multiplicity() {
        return Some(valid? / times);
    }
    let end = high.checked_add(1)?;
    if tracker.numel() > MOST || end.checked_sub(low)? > MOST << 4 {
        return None;
    }
    tracker.coverage(low..end, 1).ok()?.distinct()?.first().copied()
}

/// How many elements a layout has that are to be copied, where axes along which they repeat go on doing so.
fn once(view: &View, may_repeat: impl Fn(usize) -> bool) -> i64 {
    let moving = (0..view.rank()).filter(|&axis| !(may_repeat(axis) && view.strides()[axis] == 0));
    moving.map(|axis| view.shape()[axis]).product()
}
