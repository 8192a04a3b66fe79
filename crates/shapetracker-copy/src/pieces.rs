//! Cuts a tensor into regions so that as few addresses as possible need a division.
//!
//! An axis of a later view that walks across an end of an axis of the view under it is cut there: into turns and steps if it
//! starts at such an end, otherwise after the part that comes before it; and where there are no such ends, by the number of
//! steps after which all divisions repeat. What a later view masks is set apart first. Where axes are masked together (a
//! window over a padded image), the part that has data whatever the other axes are is set apart from the borders, if only that
//! can be moved in long runs.
//!
//! This decides where to cut ([`Cut`]); that the parts are all of the region is the matter of [`Region`].

use shapetracker::expr::Term;
use shapetracker::{ShapeTracker, View};

use crate::Error;
use crate::cover::region::{Extent, Region};
use crate::form::{Access, Condition};
use crate::join::{continues, joined};
use crate::nest::{Outside, steps_within};

/// A region of the tensor, and how it is read.
#[derive(Debug)]
pub(crate) struct Piece {
    pub(crate) region: Region,
    /// What is read, with the region's shape; `None` when it has no data.
    pub(crate) tracker: Option<ShapeTracker>,
    /// How that is read; `None` when it has no data, or before it was asked for.
    pub(crate) access: Option<Access>,
    /// The work that it took, or is expected to take, to find the access.
    work: u64,
    /// Whether this is a piece as it was before, with other axes. Its access is asked for only where no further cut is clear
    /// without it.
    same: bool,
    /// Whether neighbouring axes were joined.
    joined: bool,
}

/// What is done to a piece next. A region is the same set of elements whatever this says, in one part or several.
enum Cut {
    /// Parts along an axis: where each ends, and whether it has data.
    Along(usize, Vec<(i64, bool)>),
    /// An axis as turns of so many steps.
    Split(usize, i64),
    /// Some axes in the other direction.
    Flip(Vec<usize>),
    /// Neighbouring axes joined that are one loop in the tensor and in the last view.
    Join,
}

/// From this number of pieces on none is cut any further.
const MOST: usize = 64;

/// The work of an operation on a tracker of two views, and of one of several views for each pair of those under the last.
const OPERATION: u64 = 12;
const RUN: u64 = 40;

/// The pieces of a tracker, whose elements are all those of a region; `None` when some work is too little to tell how
/// they are read, or numbers leave `i64`.
///
/// Each cut has its price: that of the operations on the tracker, and that of finding the parts' accesses, each of which is
/// expected to take half as much as that of the whole, as most have fewer views. A piece is cut as long as there is work left
/// for that after all that is expected of the other pieces.
pub(crate) fn pieces(tracker: &ShapeTracker, whole: Region, work: &mut u64) -> Result<Option<Vec<Piece>>, Error> {
    let whole =
        Piece { region: whole, tracker: Some(tracker.clone()), access: None, work: 0, same: false, joined: false };
    let (mut open, mut done) = (vec![whole], Vec::new());
    let mut expected = 0;
    while let Some(mut piece) = open.pop() {
        let Some(tracker) = &piece.tracker else {
            done.push(piece);
            continue;
        };
        expected -= piece.work;
        let more = open.len() + done.len() < MOST;
        let mut cut = if piece.same && more { piece.at_ends() } else { None };
        if cut.is_none() {
            let access = match piece.access.take() {
                Some(access) => access,
                None => {
                    let before = *work;
                    let Some(access) = Access::of(tracker, work) else { return Ok(None) };
                    piece.work = before - *work;
                    access
                }
            };
            let divides = !access.floors.is_empty();
            piece.access = Some(access);
            cut = match more {
                true if !divides => piece.core(),
                true => piece.next(),
                false => None,
            };
        }
        let affordable = |cut: &Cut| {
            let (operations, accesses) = piece.price(cut);
            operations.saturating_add(accesses).saturating_add(expected) < *work
        };
        let Some(cut) = cut.filter(affordable) else {
            if piece.access.is_none() {
                let Some(access) = Access::of(tracker, work) else { return Ok(None) };
                piece.access = Some(access);
            }
            done.push(piece);
            continue;
        };
        *work -= piece.price(&cut).0;
        let parts = piece.apply(cut)?;
        expected += parts.iter().filter(|part| part.tracker.is_some()).map(|part| part.work).sum::<u64>();
        open.extend(parts.into_iter().rev());
    }
    Ok(Some(done))
}

impl Piece {
    /// What brings a piece with divisions nearer to one without; `None` when nothing does.
    fn next(&self) -> Option<Cut> {
        // What a view in the middle masks keeps it in the stack.
        let views = self.tracker.as_ref().map_or(0, |tracker| tracker.views().len());
        let core = if views > 2 { self.core() } else { None };
        core.or_else(|| self.at_ends()).or_else(|| self.periods())
    }

    /// The work that a cut takes: that of the operations, and that of finding the parts' accesses.
    fn price(&self, cut: &Cut) -> (u64, u64) {
        let parts = if let Cut::Along(_, parts) = cut { parts.len() as u64 } else { 1 };
        // Keeping a stack short takes a decision for each run of its views that end with the last one.
        let under = self.tracker.as_ref().map_or(0, |tracker| tracker.views().len() as u64 - 1);
        let operation = if under == 1 { OPERATION } else { RUN * under * under };
        (parts * operation, parts * (self.work / 2))
    }

    fn extents(&self) -> impl Iterator<Item = (usize, &Extent)> {
        self.region.extents().iter().enumerate()
    }

    /// A cut where an axis of the view under the last one ends, or what makes the piece ready for that.
    ///
    /// The last view's axis takes a step of `step` in the row-major positions of the view under it, and an axis of that view
    /// ends at every multiple of its `weight`. If `step` divides `weight`, it takes `weight / step` steps from end to end.
    /// An axis that starts at an end and is a whole number of turns long is split into turns and steps, whose digits do not
    /// carry, and the library merges the views. Otherwise what comes before the first end and after the last one is set apart.
    fn at_ends(&self) -> Option<Cut> {
        let [.., under, top] = self.tracker.as_ref()?.views() else { return None };
        if let Some(mask) = top.mask() {
            for (axis, Extent { count, .. }) in self.extents() {
                let (begin, end) = mask[axis];
                if (begin, end) != (0, *count) {
                    return Some(Cut::Along(axis, vec![(begin, false), (end, true), (*count, false)]));
                }
            }
        }
        let negative = |(axis, extent): (usize, &Extent)| (top.strides()[axis] < 0 && extent.count > 1).then_some(axis);
        let negative: Vec<usize> = self.extents().filter_map(negative).collect();
        if !negative.is_empty() {
            return Some(Cut::Flip(negative));
        }
        if !self.joined {
            return Some(Cut::Join);
        }
        for weight in weights(under) {
            for (axis, Extent { count, .. }) in self.extents() {
                let step = top.strides()[axis];
                if step == 0 || weight % step != 0 || weight == step {
                    continue;
                }
                let (steps, before) = (weight / step, top.offset().rem_euclid(weight) / step);
                if before + count <= steps {
                    continue;
                }
                let head = (steps - before) % steps;
                let turns = (count - head) / steps;
                let tail = count - head - turns * steps;
                if head == 0 && tail == 0 {
                    return Some(Cut::Split(axis, steps));
                }
                return Some(Cut::Along(axis, vec![(head, true), (count - tail, true), (*count, true)]));
            }
        }
        None
    }

    /// An axis along which floors repeat sooner than they can be leapt over: whole periods, and what is left.
    fn periods(&self) -> Option<Cut> {
        let access = self.access.as_ref()?;
        for (axis, Extent { count, .. }) in self.extents() {
            let Some((period, leaps)) = access.period(axis, *count) else { continue };
            if period == 1 || 2 * period >= leaps {
                continue;
            }
            let tail = count % period;
            if tail != 0 {
                return Some(Cut::Along(axis, vec![(count - tail, true), (*count, true)]));
            }
            return Some(Cut::Split(axis, period));
        }
        None
    }

    /// What has data whatever the other axes say, apart from the rest; where that lets the innermost axis be moved along.
    fn core(&self) -> Option<Cut> {
        let access = self.access.as_ref()?;
        let extents = self.region.extents();
        let innermost = (0..extents.len()).filter(|axis| extents[*axis].count > 1);
        let innermost = innermost.min_by_key(|axis| extents[*axis].stride.abs());
        let outside = || innermost.is_some_and(|axis| Outside::choose(extents, access).contains(axis));
        if access.floors.is_empty() && !outside() {
            return None;
        }
        for Condition { form, range } in access.conditions.iter().filter(|condition| condition.form.is_affine()) {
            let count = |axis: usize| extents[axis].count;
            let Some(longest) = form.variables().max_by_key(|axis| count(*axis)) else { continue };
            // The least and the most that the other axes make of the form.
            let mut rest = (form.constant(), form.constant());
            for axis in form.variables().filter(|axis| *axis != longest) {
                let most = form.coefficient(Term::Variable(axis)).saturating_mul(count(axis) - 1);
                rest = (rest.0.saturating_add(most.min(0)), rest.1.saturating_add(most.max(0)));
            }
            let range = range.start.saturating_sub(rest.0)..range.end.saturating_sub(rest.1);
            let (begin, end) = steps_within(range, form.coefficient(Term::Variable(longest)));
            let inside = |number: i64| number.clamp(0, count(longest));
            let (begin, end) = (inside(begin), inside(end));
            if form.variables().count() > 1 && 2 * (end - begin) > count(longest) {
                return Some(Cut::Along(longest, vec![(begin, true), (end, true), (count(longest), true)]));
            }
        }
        None
    }

    /// The pieces after a cut. One without data stays as it is.
    fn apply(self, cut: Cut) -> Result<Vec<Piece>, Error> {
        let Piece { region, tracker: Some(tracker), access, work, joined, .. } = self else { return Ok(vec![self]) };
        let part = |region: Region, tracker: Option<ShapeTracker>| Piece {
            region,
            tracker,
            access: None,
            work: work / 2,
            same: matches!(cut, Cut::Flip(_) | Cut::Join),
            joined: joined || matches!(cut, Cut::Join),
        };
        match &cut {
            Cut::Along(axis, parts) => {
                Ok(along(region, &tracker, *axis, parts)?.map(|(region, tracker)| part(region, tracker)).collect())
            }
            Cut::Split(axis, steps) => {
                let region = region.split(*axis, *steps);
                let tracker = tracker.reshape(region.shape())?;
                Ok(vec![part(region, Some(tracker))])
            }
            Cut::Flip(axes) => {
                let numbers: Vec<i64> = axes.iter().map(|axis| *axis as i64).collect();
                Ok(vec![part(region.flip(axes), Some(tracker.flip(&numbers)?))])
            }
            Cut::Join => {
                let joins = |outer: usize, inner: usize| {
                    let top = tracker.views().last();
                    top.is_some_and(|top| continues(top.strides()[outer], top.shape()[inner], top.strides()[inner]))
                };
                let rank = region.extents().len();
                let region = region.join(joins);
                if region.extents().len() == rank {
                    // No axes were joined, and what was found of the piece holds as it is.
                    return Ok(vec![Piece { access, work, ..part(region, Some(tracker)) }]);
                }
                let tracker = tracker.reshape(region.shape())?;
                Ok(vec![part(region, Some(tracker))])
            }
        }
    }
}

/// The parts of a region along an axis, each from where the one before ended, and how those with data are read; empty ones
/// are left out.
fn along(
    region: Region,
    tracker: &ShapeTracker,
    axis: usize,
    parts: &[(i64, bool)],
) -> Result<impl Iterator<Item = (Region, Option<ShapeTracker>)>, Error> {
    let whole: Vec<(i64, i64)> = region.shape().into_iter().map(|count| (0, count)).collect();
    let mut begin = 0;
    let mut filled: Vec<(i64, Option<ShapeTracker>)> = Vec::new();
    for (end, data) in parts.iter().copied() {
        if end == begin {
            continue;
        }
        let mut ranges = whole.clone();
        ranges[axis] = (begin, end);
        filled.push((end, if data { Some(tracker.shrink(ranges)?) } else { None }));
        begin = end;
    }
    let regions = region.cut(axis, filled.iter().map(|(end, _)| *end));
    Ok(regions.into_iter().zip(filled).map(|(region, (_, tracker))| (region, tracker)))
}

/// Where in a view's row-major numbering one of its axes ends and another begins, the largest first; not between axes
/// that are one loop.
fn weights(view: &View) -> Vec<i64> {
    /// One axis, or several that are one loop; with a mask it stays apart.
    #[derive(Clone, Copy)]
    struct Run {
        size: i64,
        stride: i64,
        masked: bool,
    }
    let run = |axis: usize| Run {
        size: view.shape()[axis],
        stride: view.strides()[axis],
        masked: view.mask().is_some_and(|mask| mask[axis] != (0, view.shape()[axis])),
    };
    let runs = joined((0..view.rank()).map(run).filter(|run| run.size > 1), |outer, inner| {
        let one = !outer.masked && !inner.masked && continues(outer.stride, inner.size, inner.stride);
        one.then(|| Run { size: outer.size * inner.size, ..inner })
    });
    let mut weights: Vec<i64> = runs
        .iter()
        .skip(1)
        .rev()
        .scan(1, |weight, run| {
            *weight *= run.size;
            Some(*weight)
        })
        .collect();
    weights.reverse();
    weights
}
