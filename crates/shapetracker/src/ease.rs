//! A stack of views in the form that is easiest to read through.
//!
//! The normal form of a stack ([`crate::fewest`]) has as much as possible in the views next to memory: repeats and masks, too,
//! which the views above could say as well. That makes one form of all, and more divisions than needed: what a view below
//! repeats or masks has to be found out of a position. Here the views above say it, wherever they remain views.

use shapetracker_base::int::gcd;
use smallvec::SmallVec;

use crate::fewest::{self, Stack};
use crate::merge::merge_within;
use crate::merge::work::Work;
use crate::shape::row_major;
use crate::{Dims, Ranges, View};

/// The stack with repeats and masks moved upwards, if there are any that can be; with `gaps` also those of axes of which a
/// single index is valid, as between elements that are spread out.
pub(crate) fn eased(views: &[View], gaps: bool) -> Option<Stack> {
    if views.len() < 2 || views.iter().any(View::is_empty) {
        return None;
    }
    let mut eased: Stack = views.iter().cloned().collect();
    let mut changed = false;
    for k in 0..eased.len() - 1 {
        let lower = cut(&eased[k], &eased[k + 1]);
        changed |= lower != eased[k];
        eased[k] = lower;
        let is_moved = |axis: &usize| is_open(&eased[k], *axis, gaps);
        let axes: SmallVec<[usize; 8]> = (0..eased[k].rank()).filter(is_moved).collect();
        if axes.is_empty() {
            continue;
        }
        // All together, or one after the other where not all can be.
        if moves_up(&mut eased[k..], &axes, true) {
            changed = true;
            continue;
        }
        for axis in axes {
            changed |= [true, false].into_iter().any(|repeats| moves_up(&mut eased[k..], &[axis], repeats));
        }
    }
    changed.then_some(eased)
}

/// Whether an axis repeats or masks something, and with `gaps` also where a single one of its indices is valid.
fn is_open(view: &View, axis: usize, gaps: bool) -> bool {
    let (size, (begin, end)) = (view.shape()[axis], view.range(axis));
    let repeats = view.strides()[axis] == 0 && end - begin > 1;
    repeats || (begin, end) != (0, size) && (gaps || end - begin > 1)
}

/// Moves what these axes of the first view mask, and with `repeats` what they repeat, into the next view, if that is a view
/// then.
fn moves_up(views: &mut [View], axes: &[usize], repeats: bool) -> bool {
    let [lower, upper, rest @ ..] = views else { return false };
    let Some([valid, positions]) = apart(lower, axes, repeats) else { return false };
    let work = || Work::a_little();
    if let Ok(merged) = merge_within(&positions, upper, &mut work()) {
        (*lower, *upper) = (valid, merged);
        return true;
    }
    // In another shape, if the view above that one takes it.
    let [next, ..] = rest else { return false };
    let Some([merged, shape]) = fewest::sink(&positions, upper) else { return false };
    let Ok(above) = merge_within(&shape, next, &mut work()) else { return false };
    (*lower, *upper, *next) = (valid, fewest::joined(&merged), above);
    true
}

/// A view with what is valid of these axes alone, and with `repeats` without those that only repeat; and the view of it that is
/// the one that there was.
fn apart(lower: &View, axes: &[usize], repeats: bool) -> Option<[View; 2]> {
    let (mut sizes, mut kept, mut read) = (Dims::from_slice(lower.shape()), Ranges::new(), Ranges::new());
    let is_repeat = |axis: usize| repeats && axes.contains(&axis) && lower.strides()[axis] == 0;
    let mut first = i128::from(lower.offset());
    for axis in 0..lower.rank() {
        let (begin, end) = lower.range(axis);
        if axes.contains(&axis) {
            sizes[axis] = if is_repeat(axis) { 1 } else { end - begin };
            read.push((begin, end));
            kept.push((0, sizes[axis]));
            first += i128::from(begin) * i128::from(lower.strides()[axis]);
        } else {
            read.push((0, sizes[axis]));
            kept.push((begin, end));
        }
    }
    let mut strides = row_major(&sizes);
    (0..lower.rank()).filter(|&axis| is_repeat(axis)).for_each(|axis| strides[axis] = 0);
    let offset = axes.iter().map(|&axis| -i128::from(read[axis].0) * i128::from(strides[axis])).sum();
    let valid = View::canonical("ease", sizes, lower.strides().into(), first, Some(kept)).ok()?;
    let positions = View::canonical("ease", lower.shape().into(), strides, offset, Some(read)).ok()?;
    Some([valid, positions])
}

/// The lower view with its masked axes cut in two, if the valid indices are a box then: where the upper view steps over a
/// part, or has an axis as long as some of them.
fn cut(lower: &View, upper: &View) -> View {
    let (mut shape, mut strides, mut ranges) = (Dims::new(), Dims::new(), Ranges::new());
    let mut weight = lower.numel();
    for axis in 0..lower.rank() {
        let (size, stride, (begin, end)) = (lower.shape()[axis], lower.strides()[axis], lower.range(axis));
        weight /= size;
        let is_part = |part: &i64| 1 < *part && *part < size && size % part == 0 && begin / part == (end - 1) / part;
        let above = upper.shape().iter().zip(upper.strides()).filter(|(_, step)| **step % weight == 0);
        let above = above.map(|(&n, step)| (n, gcd((step / weight).into(), size.into()) as i64));
        let steps = above.clone().map(|(_, step)| step).filter(is_part).min();
        let whole = || Some(end - begin).filter(is_part);
        let lengths = || above.map(|(n, step)| step * gcd(n.into(), (size / step).into()) as i64).filter(is_part).min();
        match steps.or_else(lengths).or_else(whole).filter(|_| end - begin < size) {
            Some(part) => {
                shape.extend([size / part, part]);
                strides.extend([stride * part, stride]);
                ranges.extend([(begin / part, begin / part + 1), (begin % part, (end - 1) % part + 1)]);
            }
            None => {
                shape.push(size);
                strides.push(stride);
                ranges.push((begin, end));
            }
        }
    }
    if shape.len() == lower.rank() {
        return lower.clone();
    }
    View::canonical("cut", shape, strides, lower.offset().into(), Some(ranges)).unwrap_or_else(|_| lower.clone())
}
