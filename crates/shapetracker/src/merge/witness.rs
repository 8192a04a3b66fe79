//! Evidence that two views are not one.

use std::fmt;

use crate::Dims;
use crate::error::Error;

/// Why views did not merge.
///
/// ```
/// use shapetracker::{Unmerged, View, merge};
///
/// let earlier = View::new([2, 3], [1, 2], 0, None)?;
/// let later = View::contiguous([3, 2])?;
/// let Err(Unmerged::Witness(witness)) = merge(&earlier, &later) else { panic!() };
/// assert_eq!(
///     witness.to_string(),
///     "along axis 0 the address moves by 4 from [0, 0] to [1, 0] (0 to 4), \
///      but by -1 from [1, 0] to [2, 0] (4 to 3): one stride cannot do both",
/// );
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unmerged {
    /// They are provably not one view, and here is why.
    #[error("{0}")]
    Witness(Witness),
    /// The decision was given up at its work limit: whether they are one view is not known.
    ///
    /// The question is coNP-complete when the number of axes is unbounded; only input crafted for it comes here.
    #[error("whether this is one view was not decided within the work limit")]
    Undecided,
    /// The views do not fit into each other, or the merged view has a number past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}

impl Unmerged {
    /// The evidence that the views are not one, where that is the reason.
    ///
    /// ```
    /// use shapetracker::{Unmerged, View};
    ///
    /// let transposed = View::contiguous([3, 2])?.permute([1, 0])?;
    /// assert!(transposed.reshape([6]).unwrap_err().witness().is_some());
    /// assert_eq!(Unmerged::Undecided.witness(), None);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn witness(&self) -> Option<&Witness> {
        match self {
            Unmerged::Witness(witness) => Some(witness),
            Unmerged::Undecided | Unmerged::Error(_) => None,
        }
    }
}

/// A question was given up at its work limit: the answer is not known.
///
/// The questions about stacks of views are as hard as integer programming when the number of axes is unbounded. The
/// limit is a safety valve against crafted input.
///
/// ```
/// assert_eq!(shapetracker::Undecided.to_string(), "the question was not decided within the work limit");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the question was not decided within the work limit")]
pub struct Undecided;

/// Why a question about a layout has no answer.
///
/// ```
/// use shapetracker::{ErrorKind, ShapeTracker, Unanswered};
///
/// let st = ShapeTracker::contiguous([2, 3])?;
/// let Err(Unanswered::Error(err)) = st.axis_is_masked(2) else { panic!() };
/// assert_eq!(err.kind(), ErrorKind::AxisOutOfRange);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unanswered {
    /// The work limit was reached.
    #[error(transparent)]
    Undecided(#[from] Undecided),
    /// What was asked about does not exist, or the answer is past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}

impl Unanswered {
    /// The sentence without the operation in front of it.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, View};
    ///
    /// let st = ShapeTracker::from(View::new([3], [1], -2, None)?);
    /// let reason = st.buffer_len().unwrap_err().reason();
    /// assert_eq!(reason, "the view reads from address -2 on, 2 before the beginning of the array");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn reason(&self) -> String {
        match self {
            Unanswered::Undecided(undecided) => undecided.to_string(),
            Unanswered::Error(err) => err.reason(),
        }
    }
}

/// Proof that no single view does what a stack of views does: a fact about its indices that anyone can check.
///
/// ```
/// use shapetracker::{Unmerged, View, Witness};
///
/// // Six elements of which the first four are valid, as two rows of three.
/// let padded = View::new([6], [1], 0, Some(&[(0, 4)]))?;
/// let Err(Unmerged::Witness(Witness::NotABox { valid, invalid })) = padded.reshape([2, 3]) else { panic!() };
/// let element = |index: &[i64]| padded.address(&[3 * index[0] + index[1]]);
/// assert!(valid.iter().all(|index| element(index).is_some()));
/// assert_eq!(element(&invalid), None);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Witness {
    /// Two unit steps along one axis, between valid indices, that move the address by different amounts.
    UnevenStep {
        /// The axis of both steps.
        axis: usize,
        /// The two steps.
        steps: [UnitStep; 2],
    },
    /// The valid indices are not a box: an invalid index lies between two valid ones on every axis.
    NotABox {
        /// Two valid indices.
        valid: [Dims; 2],
        /// An index whose every entry lies between theirs (ends included), and which is not valid.
        invalid: Dims,
    },
}

/// A unit step along an axis: from an index to the index one further along the axis.
///
/// ```
/// use shapetracker::{Unmerged, View, Witness};
///
/// let transposed = View::contiguous([3, 2])?.permute([1, 0])?;
/// let Err(Unmerged::Witness(Witness::UnevenStep { axis, steps })) = transposed.reshape([6]) else { panic!() };
/// assert_eq!(axis, 0);
/// assert_ne!(steps[0].to - steps[0].from, steps[1].to - steps[1].from);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct UnitStep {
    /// The index that the step starts from.
    pub index: Dims,
    /// The address there.
    pub from: i64,
    /// The address one further along the axis.
    pub to: i64,
}

impl UnitStep {
    /// A step from an index, with the addresses before and after it.
    ///
    /// ```
    /// use shapetracker::UnitStep;
    ///
    /// let step = UnitStep::new(&[1, 0], 4, 7);
    /// assert_eq!((&step.index[..], step.from, step.to), (&[1, 0][..], 4, 7));
    /// ```
    pub fn new(index: &[i64], from: i64, to: i64) -> UnitStep {
        UnitStep { index: index.into(), from, to }
    }

    /// How far the address moves. The difference of two addresses may take one bit more than they do.
    ///
    /// ```
    /// let step = shapetracker::UnitStep::new(&[0, 1], i64::MIN, i64::MAX);
    /// assert_eq!(step.moved(), (1 << 64) - 1);
    /// ```
    pub fn moved(&self) -> i128 {
        i128::from(self.to) - i128::from(self.from)
    }

    /// The index that the step leads to, along an axis; the index itself where it has no such axis.
    ///
    /// ```
    /// let step = shapetracker::UnitStep::new(&[0, 1], 2, 5);
    /// assert_eq!(step.next(1)[..], [0, 2]);
    /// ```
    pub fn next(&self, axis: usize) -> Dims {
        let mut index = self.index.clone();
        if let Some(index) = index.get_mut(axis) {
            *index = index.saturating_add(1);
        }
        index
    }
}

impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Witness::UnevenStep { axis, steps: [a, b] } => {
                write!(
                    f,
                    "along axis {axis} the address moves by {} from {:?} to {:?} ({} to {}), \
                     but by {} from {:?} to {:?} ({} to {}): one stride cannot do both",
                    a.moved(),
                    a.index,
                    a.next(*axis),
                    a.from,
                    a.to,
                    b.moved(),
                    b.index,
                    b.next(*axis),
                    b.from,
                    b.to,
                )
            }
            Witness::NotABox { valid: [a, b], invalid } => {
                write!(
                    f,
                    "elements {a:?} and {b:?} are valid, but {invalid:?} between them is masked: \
                     the valid elements are not a box, and one mask is a range an axis"
                )
            }
        }
    }
}
