//! Regroups and refines a stack of views to the fewest.
//!
//! Invariant: no run of up to 8 neighbouring views in a reduced stack is a single view, as far as the work limit
//! reaches. Whether fewer views could do with other shapes in between is not decided; [`refine`] finds such shapes where
//! the axes of one view can be split so that it merges with the view below: without masks all of them.

use smallvec::SmallVec;

use crate::error::{Error, Fault};
use crate::merge::equation::Work;
use crate::merge::level::{IndexBox, Level};
use crate::merge::split::{Runs, split};
use crate::merge::{Unmerged, merge_fitting, merge_within, run};
use crate::shape::{MAX_RANK, checked_numel, row_major};
use crate::view::check_inside;
use crate::{Dims, Ranges, View};

/// The most views that a tracker may have. Real programs have 5 at most; without a limit crafted ones could grow for ever.
///
/// ```
/// assert_eq!(shapetracker::MAX_VIEWS, 256);
/// ```
pub const MAX_VIEWS: usize = 256;

/// The views of a tracker, the first next to memory.
pub(crate) type Stack = SmallVec<[View; 1]>;

/// The most views that are tried as one. Stacks of real programs are shorter; crafted ones can be of any height.
const LONGEST_RUN: usize = 8;

/// Puts a view on top of a reduced stack into which it fits, and reduces the result.
///
/// `refusal` is why the view does not merge with the top one, where that was decided before. Where the stack grows, the
/// pair of the two is still on top, and the answer is why it is two views. Of a stack that does not grow the answer
/// means nothing: something merged.
///
/// # Errors
/// More than [`MAX_VIEWS`] views are left.
pub(crate) fn push(
    op: &'static str,
    views: &mut Stack,
    view: View,
    refusal: Option<Unmerged>,
) -> Result<Option<Unmerged>, Error> {
    let refusal = put(views, view, refusal);
    if views.len() > MAX_VIEWS {
        return Err(Fault::TooManyViews { op, given: views.len() }.into());
    }
    Ok(refusal)
}

fn put(views: &mut Stack, view: View, refusal: Option<Unmerged>) -> Option<Unmerged> {
    views.push(view);
    let refusal = merge_top(views, refusal);
    while let Some([lower, upper]) = refine_top(views) {
        views.truncate(views.len() - 3);
        put(views, lower, None);
        views.push(upper);
        merge_top(views, None);
    }
    refusal
}

/// Merges runs of views that end with the top one, the longest first. The views below are a reduced stack.
///
/// `refusal` is why the top pair does not merge, where that was decided before: then it is not asked again. The answer
/// is why the pair that is left on top does not merge; nothing where a single view is left.
pub(crate) fn merge_top(views: &mut Stack, refusal: Option<Unmerged>) -> Option<Unmerged> {
    let mut refusal = refusal;
    loop {
        let top = views.len() - 1;
        let mut longer = top.saturating_sub(LONGEST_RUN - 1)..top.saturating_sub(1);
        let mut merged = longer.find_map(|from| Some((from, run(&views[from..]).ok()?)));
        if merged.is_none()
            && refusal.is_none()
            && let [.., earlier, later] = &views[..]
        {
            match merge_fitting(earlier, later) {
                Ok(view) => merged = Some((top - 1, view)),
                Err(why) => refusal = Some(why),
            }
        }
        let Some((from, view)) = merged else { return refusal };
        views.truncate(from);
        views.push(view);
        refusal = None; // It was about a pair that is no longer there.
    }
}

/// Replaces the top three views by two, if the middle one merges with the one below when its axes are split.
fn refine_top(views: &Stack) -> Option<[View; 2]> {
    match &views[..] {
        [.., lower, middle, upper] => refine(lower, middle, upper),
        _ => None,
    }
}

/// Two views that do what three do, found by splitting the axes of the middle one.
///
/// Between the middle view and the upper one only positions matter, so that the middle one may have any shape in which
/// those positions are written. Its axes are written as [`Blocks`]; if that view merges downwards, the upper one takes
/// over what was added to the axes.
///
/// Without masks two views are found wherever some split of the axes merges downwards: [`split`] has the proof. Most
/// stacks cannot be refined, and most of those have an axis that fits no split, which takes some nanoseconds to see.
/// Where the lower view is masked a split may have affine addresses and yet valid indices that are no box; whole blocks
/// of its digits are the next that is tried.
fn refine(lower: &View, middle: &View, upper: &View) -> Option<[View; 2]> {
    if lower.is_empty() || middle.is_empty() || upper.is_empty() {
        return None; // Merging takes care of these.
    }
    let (level, mut work) = (Level::of(lower), Work::a_little());
    let split = in_blocks(&level, middle, false, &mut work)?;
    refined(lower, &split, upper, &mut work).or_else(|| {
        let whole = in_blocks(&level, middle, true, &mut work).filter(|whole| level.masked && *whole != split)?;
        refined(lower, &whole, upper, &mut work)
    })
}

/// The two views, if the middle one merges downwards when it is written in blocks, and the upper one reads it so.
fn refined(lower: &View, [split, embedding]: &[View; 2], upper: &View, work: &mut Work) -> Option<[View; 2]> {
    check_inside("refine", split, lower.numel()).ok()?;
    Some([merge_within(lower, split, work).ok()?, merge_within(embedding, upper, work).ok()?])
}

/// The middle view with its axes in [`Blocks`], in `whole` ones where that is possible; and the view that tells for every
/// index which position of that shape it has. `None` if no axis is split, or if one of them fits no split and no masked
/// digit makes up for that.
fn in_blocks(level: &Level, middle: &View, whole: bool, work: &mut Work) -> Option<[View; 2]> {
    let corner = IndexBox::of(middle).origin;
    let (mut shape, mut strides, mut ranges) = (Dims::new(), Dims::new(), Ranges::new());
    let (mut extended, mut read) = (Dims::new(), Ranges::new());
    let (mut offset, mut starts) = (i128::from(middle.offset()), Dims::new());
    for (l, (&size, &stride)) in middle.shape().iter().zip(middle.strides()).enumerate() {
        let range = middle.range(l);
        let axis = match Blocks::extended(level, corner, stride, range) {
            Some(blocks) if whole => blocks,
            extended => match (split(level, corner, stride, range.1 - range.0, work).ok()?, extended) {
                (Some(runs), _) => Blocks::masked(runs, size, range),
                (None, Some(blocks)) => blocks,
                (None, None) if level.masked => Blocks::masked(Runs::from_slice(&[range.1 - range.0]), size, range),
                (None, None) => return None,
            },
        };
        let mut inner = axis.sizes.iter().try_fold(1i64, |size, &part| size.checked_mul(part))?;
        extended.push(inner);
        for (k, &part) in axis.sizes.iter().enumerate().rev() {
            inner /= part;
            shape.push(part);
            strides.push(stride * inner);
            ranges.push(if k + 1 == axis.sizes.len() { axis.range } else { (0, part) });
        }
        offset -= i128::from(stride) * i128::from(axis.start);
        starts.push(axis.start);
        read.push(axis.read);
    }
    if shape.len() == middle.rank() || shape.len() > MAX_RANK || checked_numel("refine", &extended).is_err() {
        return None;
    }
    let split = View::canonical("refine", shape, strides, offset, Some(ranges)).ok()?;
    let weights = row_major(&extended);
    let start = weights.iter().zip(&starts).map(|(&weight, &start)| i128::from(weight) * i128::from(start)).sum();
    let embedding = View::canonical("refine", Dims::from_slice(middle.shape()), weights, start, Some(read)).ok()?;
    Some([split, embedding])
}

/// An axis of the middle view as blocks, and blocks of blocks.
struct Blocks {
    /// The sizes, innermost first. Their product is the size of the axis with what was added to it on both sides.
    sizes: Runs,
    /// The valid range of the outermost. The others are valid as a whole.
    range: (i64, i64),
    /// Which index on the axis was index 0.
    start: i64,
    /// The old indices that the upper view may read.
    read: (i64, i64),
}

impl Blocks {
    /// An axis whose valid range has these runs. What is masked on both sides of it becomes whole blocks, masked like it.
    fn masked(mut sizes: Runs, size: i64, (begin, end): (i64, i64)) -> Blocks {
        let outermost = sizes.pop().unwrap_or(1);
        let block = (end - begin) / outermost;
        let [before, after] = [begin, size - end].map(|masked| masked / block + i64::from(masked % block > 0));
        sizes.push(before + outermost + after);
        Blocks { sizes, range: (before, before + outermost), start: before * block - begin, read: (0, size) }
    }

    /// An axis that crosses blocks of the digits of which it has whole steps, extended to whole blocks. The upper view
    /// leaves out what was added, and what was masked as well.
    fn extended(level: &Level, corner: i64, stride: i64, (begin, end): (i64, i64)) -> Option<Blocks> {
        let (step, valid) = (stride.abs(), end - begin);
        let (mut sizes, mut inner, mut start) = (Runs::new(), 1, 0);
        for digit in level.digits.iter().skip(1) {
            // How many steps are a block, and how many of them the axis begins after its start; where it leaves this one.
            let rest = corner % digit.weight;
            let before = if stride < 0 { digit.weight - 1 - rest } else { rest }.checked_div(step)?;
            let block = digit.weight / step;
            if digit.weight % step == 0 && block > 1 && before + valid > block {
                sizes.push(block / inner);
                (start, inner) = (before, block);
            }
        }
        let count = (start + valid - 1) / inner + 1;
        sizes.push(count);
        (inner > 1).then_some(Blocks { sizes, range: (0, count), start: start - begin, read: (begin, end) })
    }
}

#[cfg(test)]
mod tests {
    use crate::merge::decisions::counted;
    use crate::{Chain, Dims, ErrorKind, Movement, ShapeTracker, Unmerged, Verdict, View, merge};

    fn view(shape: &[i64], strides: &[i64], offset: i64, mask: Option<&[(i64, i64)]>) -> View {
        View::new(shape, strides, offset, mask).unwrap()
    }

    #[test]
    fn found_by_fuzzing_three_views_with_one_valid_element_are_one() {
        for (strides, offset, single, mask) in [
            ([-33, -33, -33, -33, -2, -1], 178, -12031, [(0, 1), (0, 1), (0, 1), (0, 1), (1, 2), (7, 8)]),
            ([-33, -33, -33, -33, -35, -1], 174, -12031, [(0, 1), (0, 1), (0, 1), (0, 1), (0, 1), (5, 6)]),
        ] {
            let st = ShapeTracker::from_views([
                view(&[8, 8, 8], &[-1, -1, -1], -12022, Some(&[(2, 5), (3, 6), (3, 6)])),
                view(&[3, 8, 2, 2, 2, 2], &[10, 20, -33, -33, -33, 103], 99, None),
                view(&[2, 2, 2, 2, 2, 8], &strides, offset, None),
            ]);
            assert_eq!(st.unwrap().as_view(), Some(&view(&[2, 2, 2, 2, 2, 8], &[0; 6], single, Some(&mask))));
        }
    }

    #[test]
    fn found_by_composing_a_stack_that_became_shorter_is_merged_again() {
        let masked = ShapeTracker::contiguous([4, 6, 3]).unwrap().reshape([3, 2, 1, 6, 2]).unwrap();
        let masked = masked.step([1, -2, 1, 1, 1]).unwrap().expand([3, 4, 1, 6, 2]).unwrap();
        let masked = masked.shrink([(1, 3), (1, 4), (0, 1), (0, 6), (0, 2)]).unwrap().permute([1, 2, 4, 3, 0]).unwrap();
        let masked = masked.pad([(0, 0), (0, 0), (0, 0), (1, 0), (2, 1)]).unwrap().flip([1, 4]).unwrap();
        let masked = masked.reshape([210, 1, 1, 1, 1]).unwrap().flip([0, 1, 2]).unwrap();
        let over = ShapeTracker::contiguous([210]).unwrap().flip([0]).unwrap().reshape([3, 2, 7, 5]).unwrap();
        assert_eq!(masked.compose(&over).unwrap().views().len(), 1);
    }

    #[test]
    fn a_view_that_is_appended_costs_one_decision_for_tracker_stack_and_verdict() {
        let transposed = ShapeTracker::contiguous([3, 2]).unwrap().permute([1, 0]).unwrap();
        for (op, over) in [
            (Movement::Reshape(Dims::from_slice(&[6])), View::contiguous([6]).unwrap()),
            (Movement::AsStrided(Dims::from_slice(&[4]), Dims::from_slice(&[1]), 1), view(&[4], &[1], 1, None)),
        ] {
            let (applied, decisions) = counted(|| transposed.apply(&op).unwrap());
            assert_eq!((applied.views(), decisions), (&[transposed.views()[0].clone(), over.clone()][..], 1), "{op}");
            let (performed, decisions) = counted(|| transposed.perform(&op).unwrap());
            let why = merge(&transposed.views()[0], &over).unwrap_err();
            assert!(matches!(why, Unmerged::Witness(_)), "{op}");
            assert_eq!((performed, decisions), ((applied, Verdict::NewView(why)), 1), "{op}");
        }
        let chain: Chain = "(3, 2).permute(1, 0).reshape(3, 2)".parse().unwrap();
        let (reason, decisions) = counted(|| chain.progress(None).reason());
        assert!(matches!((reason, decisions), (Some(Unmerged::Witness(_)), 1)));
        // On a taller stack, too: runs of three are no pairs, and the pair under the new one is as it was.
        let tall: Chain = "(6, 35).permute(1, 0).reshape(10, 21).permute(1, 0)".parse().unwrap();
        let tall = tall.tracker().unwrap();
        let (taller, decisions) = counted(|| tall.reshape([6, 35]).unwrap());
        assert_eq!((tall.views().len(), taller.views().len(), decisions), (2, 3, 1));
    }

    #[test]
    fn found_by_a_growing_chain_the_height_of_a_stack_is_limited() {
        let mut st = ShapeTracker::contiguous([6, 35]).unwrap();
        let error = loop {
            let turned = st.permute([1, 0]).unwrap();
            let (rows, columns) = (st.shape()[0], st.shape()[1]);
            let shape = if (rows, columns) == (6, 35) { [10, 21] } else { [6, 35] };
            match turned.reshape(shape) {
                Ok(grown) => st = grown,
                Err(err) => break err,
            }
        };
        assert_eq!(error.kind(), ErrorKind::TooManyViews);
        assert_eq!(st.views().len(), crate::MAX_VIEWS);
    }

    #[test]
    fn a_middle_view_is_split_where_the_view_below_has_its_boundaries() {
        // The perfect shuffle of 8 elements, three times over, is no shuffle at all; of 16 it takes four times.
        let shuffled = |n: i64, times: usize| {
            (0..times).fold(ShapeTracker::contiguous([n]).unwrap(), |st, _| {
                st.reshape([2, n / 2]).unwrap().permute([1, 0]).unwrap().reshape([n]).unwrap()
            })
        };
        let heights = |n: i64| (0..6).map(|times| shuffled(n, times).views().len()).collect::<Vec<_>>();
        assert_eq!(heights(8), [1, 2, 2, 1, 2, 2]);
        assert_eq!(heights(16), [1, 2, 2, 2, 1, 2]);
    }
}
