//! A pair of views whose later one may have any split of its axes: the address as a sum over their longest affine runs.

use smallvec::SmallVec;

use super::level::{Axis, IndexBox, Level};
use super::overflow::{Address, uneven_steps};
use super::split::affine_run;
use super::work::{OutOfWork, Work};
use crate::error::{Error, Fault};
use crate::view::check_inside;
use crate::{Dims, PerAxis, View};

/// The address of a pair of views as a sum over the longest affine runs of the later view's axes, by [`affine_runs`].
///
/// Index `i` of the later view reads the address `offset` plus, for each run, its stride times its digit of the index:
/// the runs of an axis are listed innermost first, and a digit is `i[axis]`, divided by the sizes of the runs of the
/// axis before it, modulo its own size.
///
/// ```
/// use shapetracker::{View, affine_runs};
///
/// // Columns of a row-major matrix, three rows by two columns, walked over in row-major order of its transpose.
/// let transposed = View::contiguous([3, 2])?.permute([1, 0])?;
/// let found = affine_runs(&transposed, &View::contiguous([6])?).unwrap();
/// let runs: Vec<_> = found.runs.iter().map(|run| (run.axis, run.size, run.stride)).collect();
/// assert_eq!(runs, [(0, 3, 2), (0, 2, 1)]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AffineRuns {
    /// The address at index 0.
    pub offset: i64,
    /// The runs, axis by axis, innermost first; an axis of one index has one run of one index.
    pub runs: PerAxis<AffineRun>,
}

/// A part of an axis along which an address is affine.
///
/// ```
/// let run = shapetracker::AffineRun { axis: 0, size: 3, stride: 2 };
/// assert_eq!(run.size * run.stride, 6);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct AffineRun {
    /// The axis of the later view.
    pub axis: usize,
    /// How many values the digit has.
    pub size: i64,
    /// How far the address moves when the digit goes up by one.
    pub stride: i64,
}

/// Why no split of the axes of a later view makes a pair of views one.
///
/// ```
/// use shapetracker::{Unsplit, View, affine_runs};
///
/// // Over columns of two elements each, every third element: addresses 0, 12, 97, 109, ..
/// let earlier = View::new([8, 2, 4], [97, 12, 3], 0, None)?;
/// let why = affine_runs(&earlier, &View::new([4], [3], 0, None)?).unwrap_err();
/// assert_eq!(why, Unsplit::Length { axis: 0, unit: 1, run: 3, left: 4 });
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unsplit {
    /// Among the multiples of `unit` along an axis the address is affine for `run` indices and not for one more; a
    /// split must have an axis of exactly so many, and they do not divide those that are left.
    #[error(
        "along axis {axis}, in steps of {unit}, the address is affine for {run} indices and no longer, which does not divide \
         the {left} that there are"
    )]
    Length {
        /// The axis of the later view.
        axis: usize,
        /// The product of the runs that were found on the axis before.
        unit: i64,
        /// The longest affine run, in steps of `unit`.
        run: i64,
        /// How many multiples of `unit` the axis has.
        left: i64,
    },
    /// At an index the address is not the sum over the runs, which every split must have.
    #[error("at index {index:?} the address is {address}, but the runs of the axes add up to {sum}")]
    Sum {
        /// The runs, axis by axis, innermost first.
        runs: PerAxis<AffineRun>,
        /// An index of the later view.
        index: Dims,
        /// The address there.
        address: i64,
        /// What the runs add up to there.
        sum: i128,
    },
    /// One of the views is masked, which is not decided.
    #[error("a view is masked, and the split of axes is decided for views without masks")]
    Masked,
    /// The decision was given up at its work limit.
    #[error("whether some split of the axes makes this one view was not decided within the work limit")]
    Undecided,
    /// The views do not fit into each other, or a stride is past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}

impl From<OutOfWork> for Unsplit {
    fn from(_: OutOfWork) -> Self {
        Unsplit::Undecided
    }
}

/// Whether two views are one when the axes of the later one may be split, and how.
///
/// Every axis of `later` is split at its longest affine run, what is left of it likewise. If any split of the axes
/// makes the pair a single view, this one does, and no split has fewer axes. An unsplit pair is a special case, which
/// [`merge`](crate::merge()) answers. This is composition of strided layouts whose result may have nested axes.
///
/// ```
/// use shapetracker::{View, affine_runs};
///
/// let earlier = View::new([10, 8, 6, 4], [7, 5, 3, 2], 0, None)?;
/// let found = affine_runs(&earlier, &View::new([6], [12], 0, None)?).unwrap();
/// let runs: Vec<_> = found.runs.iter().map(|run| (run.size, run.stride)).collect();
/// assert_eq!(runs, [(2, 9), (3, 5)]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// [`Unsplit::Length`] and [`Unsplit::Sum`] are evidence that no split does; [`Unsplit::Masked`] where a view has a
/// mask; [`Unsplit::Undecided`] at the work limit; [`Unsplit::Error`] when `later` reads outside `earlier`, or a stride
/// is past `i64`.
///
/// # Cost
/// That of one [`merge`](crate::merge()) of the split pair, and of up to 62 runs on each axis; it does not depend on
/// the sizes.
///
/// # Source
/// The theorem in `merge/split.rs`.
// Proved: `candidate_exact`, `refines_antisymmetric` in `proofs/Splits.v`.
pub fn affine_runs(earlier: &View, later: &View) -> Result<AffineRuns, Unsplit> {
    const OP: &str = "affine_runs";
    if earlier.mask().is_some() || later.mask().is_some() {
        return Err(Unsplit::Masked);
    }
    check_inside(OP, later, earlier.numel())?;
    let whole = |(axis, &size): (usize, &i64)| AffineRun { axis, size, stride: 0 };
    if later.is_empty() {
        return Ok(AffineRuns { offset: 0, runs: later.shape().iter().enumerate().map(whole).collect() });
    }
    let (level, mut work) = (Level::of(earlier), Work::new());
    let mut runs: PerAxis<AffineRun> = PerAxis::new();
    let mut space = IndexBox { axes: SmallVec::new(), origin: later.offset() };
    for (axis, (&size, &stride)) in later.shape().iter().zip(later.strides()).enumerate() {
        if stride == 0 {
            runs.push(AffineRun { axis, size, stride: 0 });
            continue;
        }
        let (mut unit, mut left) = (1, size);
        while left > 1 {
            let stride = stride * unit; // The last index of the axis is further away.
            let run = affine_run(&level, space.origin, stride, left, &mut work)?;
            if left % run != 0 {
                return Err(Unsplit::Length { axis, unit, run, left });
            }
            space.axes.push(Axis { axis: runs.len(), stride, first: 0, size: run });
            runs.push(AffineRun { axis, size: run, stride: 0 });
            (unit, left) = (unit * run, left / run);
        }
    }
    let mut address = Address::default();
    let Some(uneven) = uneven_steps(&level, &space, &mut address, &mut work)? else {
        for (part, &stride) in space.axes.iter().zip(&address.strides) {
            // Both ends of the first step are addresses: they fit, and the stride does if their difference has not
            // wrapped.
            if address.first.checked_add(stride).is_none() {
                return Err(
                    Error::new(OP, Fault::AxisOverflow { what: "the stride", axis: runs[part.axis].axis }).into()
                );
            }
            runs[part.axis].stride = stride;
        }
        return Ok(AffineRuns { offset: address.first, runs });
    };
    // The two steps move the address differently, and the first of them starts at index 0: at one of the ends of the
    // other the address is not what the runs add up to.
    let first = level.address(space.origin);
    let mut strides: SmallVec<[i128; 8]> = SmallVec::new();
    for part in &space.axes {
        let stride = level.address(space.origin + part.stride) - first;
        runs[part.axis].stride = i64::try_from(stride)
            .map_err(|_| Error::new(OP, Fault::AxisOverflow { what: "the stride", axis: runs[part.axis].axis }))?;
        strides.push(stride);
    }
    let [_, mut at] = uneven.at;
    let sum = |at: &[i64]| first + strides.iter().zip(at).map(|(stride, &i)| stride * i128::from(i)).sum::<i128>();
    if level.address(space.position(&at)) == sum(&at) {
        at[uneven.axis] += 1;
    }
    let mut index = Dims::from_elem(0, later.rank());
    let mut units = Dims::from_elem(1, later.rank());
    for (part, &i) in space.axes.iter().zip(&at) {
        let AffineRun { axis, size, .. } = runs[part.axis];
        index[axis] += i * units[axis];
        units[axis] *= size;
    }
    let address = level.address(space.position(&at)) as i64;
    Err(Unsplit::Sum { index, address, sum: sum(&at), runs })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::merge::merge;
    use crate::tests::Rng;

    #[test]
    fn runs_add_up_to_the_addresses_and_evidence_can_be_checked() {
        let mut rng = Rng(21);
        let (mut found, mut lengths, mut sums) = (0, 0, 0);
        for _ in 0..20_000 {
            let shape: Vec<i64> = (0..1 + rng.below(3)).map(|_| 1 + rng.below(8) as i64).collect();
            let strides: Vec<i64> = shape.iter().map(|_| rng.below(24) as i64 - 6).collect();
            let earlier = View::new(&shape, &strides, 40, None).unwrap();
            let mut room = earlier.numel() - 1;
            let (mut sizes, mut steps, mut offset) = (Vec::new(), Vec::new(), rng.below(2).min(room as u64) as i64);
            room -= offset;
            for _ in 0..1 + rng.below(2) {
                let stride = rng.below(1 + (room as u64 / 2).min(12)) as i64;
                let size = 1 + rng.below(1 + room.checked_div(stride).unwrap_or(3) as u64) as i64;
                room -= stride * (size - 1);
                let back = rng.below(4) == 0;
                offset += if back { stride * (size - 1) } else { 0 };
                steps.push(if back { -stride } else { stride });
                sizes.push(size);
            }
            let later = View::new(&sizes, &steps, offset, None).unwrap();
            let address = |index: &[i64]| {
                let mut position = later.address(index).unwrap();
                let mut at = Dims::from_elem(0, shape.len());
                for axis in (0..shape.len()).rev() {
                    (at[axis], position) = (position % shape[axis], position / shape[axis]);
                }
                earlier.address(&at).unwrap()
            };
            let sum = |runs: &[AffineRun], offset: i64, index: &[i64]| {
                let mut rest = Dims::from_slice(index);
                runs.iter().fold(offset, |sum, run| {
                    let digit = rest[run.axis] % run.size;
                    rest[run.axis] /= run.size;
                    sum + digit * run.stride
                })
            };
            let indices = (0..sizes[0]).flat_map(|i| (0..*sizes.get(1).unwrap_or(&1)).map(move |j| [i, j]));
            match affine_runs(&earlier, &later) {
                Ok(AffineRuns { offset, runs }) => {
                    found += 1;
                    for index in indices {
                        let index = &index[..sizes.len()];
                        assert_eq!(sum(&runs, offset, index), address(index), "{earlier} {later}");
                    }
                }
                Err(Unsplit::Length { axis, unit, run, left }) => {
                    lengths += 1;
                    let along = |x: i64| {
                        let mut index = vec![0; sizes.len()];
                        index[axis] = x * unit;
                        address(&index) - address(&vec![0; sizes.len()])
                    };
                    assert!((0..run).all(|x| along(x) == x * along(1)) && along(run) != run * along(1));
                    assert!(left % run != 0 && unit * left == sizes[axis]);
                    assert!(merge(&earlier, &later).is_err());
                }
                Err(Unsplit::Sum { runs, index, address: there, sum: expected }) => {
                    sums += 1;
                    let zero = vec![0; sizes.len()];
                    assert_eq!((address(&index), i128::from(sum(&runs, address(&zero), &index))), (there, expected));
                    assert_ne!(i128::from(there), expected);
                    assert!(merge(&earlier, &later).is_err());
                }
                Err(err) => panic!("{err}: {earlier} {later}"),
            }
        }
        assert!(found > 5_000 && lengths > 2_000 && sums > 500, "{found} {lengths} {sums}");
    }

    #[test]
    fn what_cannot_be_asked_is_refused() {
        let line = View::contiguous([4]).unwrap();
        let masked = View::new([4], [1], 0, Some(&[(0, 3)])).unwrap();
        assert_eq!(affine_runs(&line, &masked), Err(Unsplit::Masked));
        let outside = View::new([4], [2], 0, None).unwrap();
        let reason = affine_runs(&line, &outside).unwrap_err().to_string();
        assert_eq!(reason, "affine_runs: the view reads addresses 0 to 6, but what it reads from has 4 elements");
        let nothing = View::contiguous([0, 5]).unwrap();
        assert_eq!(affine_runs(&line, &nothing).unwrap().runs.len(), 2);
    }
}
