//! Can a strided tensor be viewed under another shape? If not: what is in the way, and the smallest copy that clears it.
//!
//! - [`fit`](fit()) decides it for one view, and [`Blocked`] is the evidence against, with the copy.
//! - [`explain`] asks the same of a tracker, and keeps the question with the answer: what an interface shows.
//! - [`explain_array`] asks it of an array with its strides as they are, also along axes of size 1.
//! - [`Report`] is that answer in sentences.

mod blocked;
mod blocks;
mod buffer;
mod explanation;
mod obstacle;
mod recipe;
mod report;
mod reported;
mod smallest;
#[cfg(test)]
mod tests;

pub use blocked::Blocked;
pub use explanation::{Explanation, Outcome, explain, explain_array};
pub use obstacle::{Axis, Obstacle};
pub use report::{Line, Report, Section};

use crate::View;
use crate::error::Error;
use crate::merge::{Unmerged, reshape};
use crate::shape::infer;

/// The view of the same elements in row-major order under another shape, or what is in the way.
///
/// This is the question behind PyTorch's `view` and NumPy's no-copy `reshape`: can a tensor with this shape and these
/// strides be seen under that shape without moving data? One size of `to` may be -1 and is inferred. The answer is
/// exact: there is a view exactly when this function returns one.
///
/// ```
/// use shapetracker::View;
/// use shapetracker::fit::{Misfit, fit};
///
/// // A transposed matrix: rows can be split, but not joined.
/// let transposed = View::new([4, 6], [1, 4], 0, None)?;
/// assert_eq!(fit(&transposed, [4, 2, 3]).unwrap(), View::new([4, 2, 3], [1, 12, 4], 0, None)?);
///
/// let Err(Misfit::Blocked(blocked)) = fit(&transposed, [24]) else { panic!() };
/// assert_eq!(
///     blocked.obstacles()[0].to_string(),
///     "new axis 0 (size 24) would run over old axes 0 and 1 (sizes 4, 6); \
///      that needs stride[0] = size[1] * stride[1] = 24, but stride[0] is 1",
/// );
/// assert_eq!(blocked.elements(), 24);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// [`Misfit::Blocked`] when there is no such view, with the evidence and the copy that makes one possible;
/// [`Misfit::Error`] when the shapes have different numbers of elements; [`Misfit::Undecided`] at the work limit.
///
/// # Cost
/// That of one [`merge`](crate::merge()) when there is a view, and of a few more when there is not; it does not
/// depend on the sizes.
pub fn fit(view: &View, to: impl AsRef<[i64]>) -> Result<View, Misfit> {
    let to = infer("reshape", view.shape(), view.numel(), to.as_ref())?;
    match reshape(view, &to) {
        Ok(fitting) => Ok(fitting),
        Err(Unmerged::Witness(witness)) => Err(Misfit::Blocked(Box::new(Blocked::of(view, &to, witness)?))),
        Err(Unmerged::Undecided) => Err(Misfit::Undecided),
        Err(Unmerged::Error(err)) => Err(Misfit::Error(err)),
    }
}

/// Why a view does not take a shape.
///
/// ```
/// use shapetracker::View;
/// use shapetracker::fit::{Misfit, fit};
///
/// assert!(matches!(fit(&View::contiguous([2, 3])?, [7]), Err(Misfit::Error(_))));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Misfit {
    /// No single view of that shape has the same elements.
    #[error("{}", .0.witness())]
    Blocked(Box<Blocked>),
    /// The decision was given up at its work limit, which only crafted input reaches.
    #[error("whether there is such a view was not decided within the work limit")]
    Undecided,
    /// The shapes do not fit each other, or a number is past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}
