//! Two steps that each read or write whole lines, in place of one that does neither.
//!
//! Where a floor is left in an address, two neighbouring elements of the tensor can lie far from each other in the buffer
//! whichever way one goes: then each costs a line of memory. But the last view reads positions among the elements of the views
//! under it, and each of the two steps, from the buffer to positions and from positions to the tensor, may be a plain
//! transpose. So the tensor is cut along the axes that go furthest through the positions, until a part needs no more of them
//! than fit into a cache; these are read into a stage, and the part is read from there.

use shapetracker::{ShapeTracker, Undecided, View};
use shapetracker_base::int::div_ceil_64;

use crate::Error;
use crate::cover::region::Region;
use crate::cover::{Planned, Reading};
use crate::form::Access;
use crate::nest::{Direction, Nest};

/// Bytes of positions that are staged at a time: a part of the third-level cache, so that runs that are written are long enough.
/// Measured.
const STAGE: i64 = if cfg!(miri) { 1 << 9 } else { 2 << 20 };

/// The most parts of a region: each has loops of its own, which take some microseconds to plan.
const PARTS: i64 = if cfg!(miri) { 64 } else { 1 << 12 };

/// Loops for a region, in parts that are read through a stage of their own each. Where that is no gain (what fits into one
/// stage is in the caches anyway) the region comes back as it was.
///
/// What is staged is at most what is `needed` of the buffer, from the lowest address to the highest; other elements may be
/// missing. And a view under the last one must have no mask: what reads over a tensor could not tell then what the stage
/// has no data for. How a stage is read is `planned` like any other tensor.
pub(crate) fn staged(
    region: Region,
    tracker: &ShapeTracker,
    width: usize,
    needed: impl Fn() -> Result<Option<(i64, i64)>, Undecided>,
    planned: impl Fn(&ShapeTracker, Region) -> Result<Planned<(Region, Nest)>, Error>,
) -> Result<Result<Vec<(Region, Nest)>, Region>, Error> {
    let [under @ .., top] = tracker.views() else { return Ok(Err(region)) };
    if under.is_empty() || under.iter().any(|view| view.mask().is_some()) {
        return Ok(Err(region));
    }
    let Some(cuts) = Cuts::of(top, STAGE / width as i64) else { return Ok(Err(region)) };
    let under = ShapeTracker::from_views(under.iter().cloned())?;
    // A stage begins and ends with a whole row of positions, so that it is a box of them.
    let most = STAGE / (8 * width as i64);
    let longer = |row: &mut i64, size: &i64| {
        *row = row.saturating_mul(*size);
        (*row <= most).then_some(*row)
    };
    let row = under.shape().iter().rev().scan(1, longer).last().unwrap_or(1);
    let rows = under.reshape([under.numel() / row, row])?;
    // Elements that the tensor does not need may be missing at the ends of the buffer.
    let Some((first, last)) = top.address_range() else { return Ok(Err(region)) };
    let read = rows.shrink([(first / row, last / row + 1), (0, row)])?.address_range();
    let inside = |read: (i64, i64), needed: (i64, i64)| needed.0 <= read.0 && read.1 <= needed.1;
    if !matches!((read, needed()), (Ok(Some(read)), Ok(Some(needed))) if inside(read, needed)) {
        return Ok(Err(region));
    }

    let mut parts = vec![(region, ShapeTracker::from_views([top.clone()])?)];
    for (axis, steps) in cuts.axes {
        let mut cut = Vec::new();
        for (region, part) in parts {
            let count = part.shape()[axis];
            let ends = (1..=div_ceil_64(count, steps)).map(|part| count.min(part.saturating_mul(steps)));
            let mut ranges: Vec<(i64, i64)> = part.shape().iter().map(|size| (0, *size)).collect();
            let mut begin = 0;
            for (region, end) in region.cut(axis, ends.clone()).into_iter().zip(ends) {
                ranges[axis] = (std::mem::replace(&mut begin, end), end);
                cut.push((region, part.shrink(&ranges)?));
            }
        }
        parts = cut;
    }
    let mut staged = Vec::new();
    for (region, part) in parts {
        let [view] = part.views() else { panic!("a part of one view is one view") };
        let staged_rows = view.address_range().map(|(first, last)| (first / row, last / row + 1));
        let (first, end) = staged_rows.unwrap_or((0, 0));
        let view = View::new(view.shape(), view.strides(), view.offset() - first * row, view.mask())?;
        let access = Access::of(&ShapeTracker::from_views([view])?, &mut { u64::MAX });
        let nest = access.and_then(|access| Nest::new(Direction::Read, width, &region, &access));
        let Some(mut nest) = nest else { return Err(Error::TooLarge { shape: tracker.shape().to_vec(), width }) };
        if staged_rows.is_some() {
            let lines = rows.shrink([(first, end), (0, row)])?;
            nest.stage = Some(Box::new(Reading::new(lines.shape(), width, |whole| planned(&lines, whole))?));
        }
        staged.push((region, nest));
    }
    Ok(Ok(staged))
}

/// Along which axes a view is cut, the one that goes furthest first, and after how many steps each time.
struct Cuts {
    axes: Vec<(usize, i64)>,
}

impl Cuts {
    /// Cuts after which no part spans many more positions than some number; `None` where all parts together would span more
    /// than twice as many as there are elements, or where the parts are too many or have few elements each.
    fn of(view: &View, most: i64) -> Option<Cuts> {
        let moves = |axis: &usize| view.strides()[*axis] != 0 && view.shape()[*axis] > 1;
        let mut by_stride: Vec<usize> = (0..view.rank()).filter(moves).collect();
        by_stride.sort_by_key(|axis| std::cmp::Reverse(view.strides()[*axis].unsigned_abs()));
        let far = |axis: &usize| view.strides()[*axis].saturating_abs();
        let span = |axes: &[usize]| -> i64 {
            axes.iter().map(|axis| far(axis).saturating_mul(view.shape()[*axis] - 1)).fold(1, i64::saturating_add)
        };
        let (mut axes, mut parts) = (Vec::new(), 1i64);
        for (at, axis) in by_stride.iter().enumerate() {
            let (count, inner) = (view.shape()[*axis], span(&by_stride[at + 1..]));
            let whole = inner.saturating_add(far(axis).saturating_mul(count - 1));
            if whole <= most {
                break;
            }
            let steps = (1 + (most - inner).max(0) / far(axis)).min(count);
            axes.push((*axis, steps));
            parts = parts.saturating_mul(div_ceil_64(count, steps));
            if inner <= most {
                let spanned = parts.saturating_mul(inner.saturating_add(far(axis).saturating_mul(steps - 1)));
                let few = parts > PARTS || parts.saturating_mul(most / 4) > view.numel();
                return (!few && spanned <= view.numel().saturating_mul(2)).then_some(Cuts { axes });
            }
        }
        None
    }
}
