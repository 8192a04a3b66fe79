//! When are two views one? Decided exactly, with a witness for every no.
//!
//! Invariant: the answer is the definition's. A pair merges exactly if some single view has the same valid indices and
//! the same address at each of them. The parts:
//!
//! - [`level`] holds the earlier view as digits and the later one as a box of indices;
//! - [`validity`] decides which indices are valid, and whether they are a box;
//! - [`overflow`] decides whether the address is affine on that box, by the patterns of [`carries`]; [`split`] splits axes
//!   along which it is not, and [`runs`] decides the pair under the split that is the best;
//! - [`equation`] answers the one question that both come down to, a bounded linear equation, with [`lattice`] where
//!   sizes are large, and [`system`] several of them with common variables; [`terms`] are what they are made of, and [`work`] is
//!   what a decision may cost;
//! - [`stack`] does the same for stacks of any height, with [`steps`] for the patterns of carries and [`refute`] for a
//!   quick no; [`affine`] asks for an affine address where the valid indices are no box, and [`questions`] what else is
//!   asked of stacks; [`sample`] gives both points to look at first;
//! - [`conditions`](mod@conditions) tells what the strides must satisfy;
//! - [`witness`] is the evidence.

mod affine;
mod carries;
mod conditions;
mod equation;
mod lattice;
pub(crate) mod level;
mod overflow;
mod questions;
mod refute;
mod runs;
mod sample;
pub(crate) mod split;
pub(crate) mod stack;
mod steps;
pub(crate) mod system;
mod terms;
mod validity;
mod witness;
pub(crate) mod work;

pub use conditions::{Conditions, conditions};
pub use runs::{AffineRun, AffineRuns, Unsplit, affine_runs};
pub use witness::{Unanswered, Undecided, UnitStep, Unmerged, Witness};

use crate::error::{Error, Fault};
use crate::view::check_inside;
use crate::{Dims, Ranges, View};
use level::{IndexBox, Level};
use overflow::Address;
use validity::Validity;
use work::{OutOfWork, Work};

/// The single view that does what two views do, or the reason why there is none.
///
/// `earlier` is next to memory. An index enters `later`; the address that it yields is unravelled in the shape of
/// `earlier` and enters that one. The answer is complete: masks, offsets, negative and zero strides, sizes that line
/// up and strides that fit only by coincidence.
///
/// ```
/// use shapetracker::{Unmerged, View, merge};
///
/// // A reshape that splits an axis of a transposed tensor.
/// let transposed = View::contiguous([4, 6])?.permute([1, 0])?;
/// let split = merge(&transposed, &View::contiguous([2, 3, 4])?).unwrap();
/// assert_eq!(split.strides(), [3, 1, 6]);
///
/// // One that joins its axes.
/// let joined = merge(&transposed, &View::contiguous([24])?);
/// assert!(matches!(joined, Err(Unmerged::Witness(_))));
///
/// // Overflows that cancel: no condition on sizes and strides alone would find this view.
/// let earlier = View::new([10, 9, 4], [140, 11, 13], 0, None)?;
/// let later = View::new([6], [9], 0, None)?;
/// assert_eq!(merge(&earlier, &later).unwrap(), View::new([6], [35], 0, None)?);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// [`Unmerged::Witness`] when they are provably not one view; [`Unmerged::Undecided`] at the work limit, which only
/// crafted input reaches; [`Unmerged::Error`] when `later` reads outside `earlier` or the result is past `i64`.
///
/// # Cost
/// A few hundred nanoseconds for most pairs, a few microseconds where equations are solved; it does not depend on the
/// sizes. The question is coNP-complete in the number of axes.
///
/// # Source
/// uit de Bos, Merging tensor views, theorem 10 and section 4, made effective by overflow patterns and bounded linear
/// equations; see DESIGN.md.
pub fn merge(earlier: &View, later: &View) -> Result<View, Unmerged> {
    check_inside("merge", later, earlier.numel())?;
    merge_fitting(earlier, later)
}

/// [`merge`] for a later view that is known to read inside the earlier one.
pub(crate) fn merge_fitting(earlier: &View, later: &View) -> Result<View, Unmerged> {
    merge_within(earlier, later, &mut Work::new())
}

/// [`merge_fitting`] within a work limit.
pub(crate) fn merge_within(earlier: &View, later: &View, work: &mut Work) -> Result<View, Unmerged> {
    if earlier.is_empty() || later.is_empty() {
        return Ok(View::nothing(later.shape()));
    }
    #[cfg(test)]
    decisions::count();
    let level = Level::of(earlier);
    let space = if level.masked {
        match validity::valid_box(&level, later, work)? {
            Validity::Empty => return Ok(View::nothing(later.shape())),
            Validity::Hole(valid, invalid) => return Err(Unmerged::Witness(Witness::NotABox { valid, invalid })),
            Validity::Box(space) => space,
        }
    } else {
        IndexBox::of(later)
    };
    // On the box of valid indices nothing is masked any more, and the address alone decides.
    let mut address = Address::default();
    match overflow::uneven_steps(&level, &space, &mut address, work)? {
        None => Ok(view(&address, &space, later, level.masked || later.mask().is_some())?),
        Some(uneven) => {
            let steps = uneven.at.map(|mut at| {
                let index = space.index(&at, later);
                let from = level.address(space.position(&at)) as i64;
                at[uneven.axis] += 1;
                UnitStep { index, from, to: level.address(space.position(&at)) as i64 }
            });
            Err(Unmerged::Witness(Witness::UnevenStep { axis: space.axes[uneven.axis].axis, steps }))
        }
    }
}

/// The single view that does what a stack of fitting views does, within the work that keeping a tracker short is worth.
pub(crate) fn run(views: &[View]) -> Result<View, Unmerged> {
    stack::single_view(views, &mut Work::a_little())
}

/// The single view that does what a stack of fitting views does, or the reason why there is none.
pub(crate) fn single_view(views: &[View]) -> Result<View, Unmerged> {
    match views {
        [earlier, later] => merge_fitting(earlier, later),
        _ => stack::single_view(views, &mut Work::for_stack(views.len())),
    }
}

/// A view under another shape with the same number of elements, if one view can say it.
#[inline]
pub(crate) fn reshape(view: &View, shape: &[i64]) -> Result<View, Unmerged> {
    if view.is_empty() {
        return Ok(View::nothing(shape));
    }
    match Level::of(view).reshaped(shape) {
        Some(reshaped) => Ok(reshaped),
        None => merge_fitting(view, &View::row_major(shape)),
    }
}

/// The view of a pair whose address is affine on the box of its valid indices.
fn view(address: &Address, space: &IndexBox, later: &View, masked: bool) -> Result<View, Error> {
    let mut strides = Dims::from_elem(0, later.rank());
    let mut offset = i128::from(address.first);
    for (axis, &stride) in space.axes.iter().zip(&address.strides).filter(|(axis, _)| axis.size > 1) {
        // Both ends of the first step are addresses: they fit, and the stride does if their difference has not wrapped.
        if address.first.checked_add(stride).is_none() {
            return Err(Error::new("merge", Fault::AxisOverflow { what: "the stride", axis: axis.axis }));
        }
        offset -= i128::from(stride) * i128::from(axis.first);
        strides[axis.axis] = stride;
    }
    let mask = masked.then(|| {
        let mut mask: Ranges = (0..later.rank()).map(|axis| later.range(axis)).collect();
        space.axes.iter().for_each(|axis| mask[axis.axis] = (axis.first, axis.first + axis.size));
        mask
    });
    View::canonical("merge", Dims::from_slice(later.shape()), strides, offset, mask)
}

impl From<OutOfWork> for Undecided {
    fn from(_: OutOfWork) -> Self {
        Undecided
    }
}

impl From<OutOfWork> for Unanswered {
    fn from(_: OutOfWork) -> Self {
        Undecided.into()
    }
}

impl From<OutOfWork> for Unmerged {
    fn from(_: OutOfWork) -> Self {
        Unmerged::Undecided
    }
}

/// How many pairs have been decided, for tests of who decides them.
#[cfg(test)]
pub(crate) mod decisions {
    use std::cell::Cell;

    thread_local!(static COUNT: Cell<usize> = const { Cell::new(0) });

    pub(super) fn count() {
        COUNT.set(COUNT.get() + 1);
    }

    /// What a function returns, and how many pairs it decides on this thread.
    pub(crate) fn counted<T>(f: impl FnOnce() -> T) -> (T, usize) {
        let before = COUNT.get();
        let answer = f();
        (answer, COUNT.get() - before)
    }
}
