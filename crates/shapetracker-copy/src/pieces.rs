//! Cuts a tensor's indices into boxes so that as few addresses as can be need a division.
//!
//! A later view's axis that walks across an axis of the view under it is split where that one ends: in steps, if it
//! starts there, else after the part that comes before; and elsewhere by the steps after which all divisions repeat.
//! What a later view masks is set apart first. Where axes are masked together (a window over a padded image), the part
//! that has data in any case is set apart from the borders, if only that can be moved in long runs.

use shapetracker::{ShapeTracker, View};

use crate::Error;
use crate::form::{Access, Atom, Condition};
use crate::nest::{Extent, Outside, steps_within};

/// A box of indices.
#[derive(Clone, Debug)]
pub(crate) struct Piece {
    /// Where it begins in the contiguous tensor, in elements.
    pub(crate) start: i64,
    pub(crate) extents: Vec<Extent>,
    /// How it is read; `None` when it has no data, or cannot be said in sums.
    pub(crate) access: Option<Access>,
    /// What is read; `None` when it has no data.
    pub(crate) tracker: Option<ShapeTracker>,
    fused: bool,
}

/// Boxes from this number on are not cut any further.
const MOST: usize = 64;

/// The boxes of a tracker.
pub(crate) fn pieces(tracker: &ShapeTracker) -> Result<Vec<Piece>, Error> {
    if tracker.numel() == 0 {
        return Ok(Vec::new());
    }
    let mut stride = 1;
    let mut extents = Vec::new();
    for count in tracker.shape().iter().rev() {
        extents.insert(0, Extent { count: *count, stride });
        stride *= count;
    }
    let whole = Piece { start: 0, extents, access: None, tracker: Some(tracker.clone()), fused: false };
    let (mut open, mut done) = (vec![whole], Vec::new());
    while let Some(mut piece) = open.pop() {
        let Some(tracker) = &piece.tracker else {
            done.push(piece);
            continue;
        };
        piece.access = Access::of(tracker);
        let divides = piece.access.as_ref().is_none_or(|access| !access.floors.is_empty());
        let cut = match open.len() + done.len() < MOST {
            true if !divides => piece.core()?,
            true => piece.cut()?,
            false => None,
        };
        match cut {
            Some(parts) => open.extend(parts.into_iter().rev()),
            None => done.push(piece),
        }
    }
    Ok(done)
}

impl Piece {
    /// The piece in parts, or in more axes or fewer; `None` when nothing is left to do.
    fn cut(&self) -> Result<Option<Vec<Piece>>, Error> {
        // What a view in the middle masks keeps it in the stack.
        let views = self.tracker.as_ref().map_or(0, |tracker| tracker.views().len());
        let core = if views > 2 { self.core()? } else { None };
        let cut = if core.is_some() { core } else { self.at_ends()? };
        if cut.is_some() { Ok(cut) } else { self.periods() }
    }

    /// The piece cut where an axis of the view under the last one ends, or made ready for that.
    fn at_ends(&self) -> Result<Option<Vec<Piece>>, Error> {
        let Some(tracker) = &self.tracker else { return Ok(None) };
        let [.., under, top] = tracker.views() else { return Ok(None) };
        let extents = || self.extents.iter().enumerate();
        if let Some(mask) = top.mask() {
            for (axis, Extent { count, .. }) in extents() {
                let (begin, end) = mask[axis];
                if (begin, end) != (0, *count) {
                    let parts = [(0, begin, false), (begin, end, true), (end, *count, false)];
                    return self.along(axis, &parts).map(Some);
                }
            }
        }
        let negative: Vec<i64> = extents()
            .filter(|(axis, extent)| top.strides()[*axis] < 0 && extent.count > 1)
            .map(|(axis, _)| axis as i64)
            .collect();
        if !negative.is_empty() {
            let mut turned = Piece { tracker: Some(tracker.flip(&negative)?), ..self.clone() };
            for axis in negative {
                let Extent { count, stride } = &mut turned.extents[axis as usize];
                turned.start += (*count - 1) * *stride;
                *stride = -*stride;
            }
            return Ok(Some(vec![turned]));
        }
        if !self.fused {
            return self.fuse(tracker, top).map(|piece| Some(vec![piece]));
        }
        for weight in weights(under) {
            for (axis, Extent { count, stride }) in extents() {
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
                    return self.split(axis, steps, *stride, tracker).map(|split| Some(vec![split]));
                }
                let parts = [(0, head, true), (head, count - tail, true), (count - tail, *count, true)];
                return self.along(axis, &parts).map(Some);
            }
        }
        Ok(None)
    }

    /// An axis along which floors repeat sooner than they can be leapt over: whole periods, and what is left.
    fn periods(&self) -> Result<Option<Vec<Piece>>, Error> {
        let (Some(access), Some(tracker)) = (&self.access, &self.tracker) else { return Ok(None) };
        for (axis, Extent { count, stride }) in self.extents.iter().enumerate() {
            let Some((period, leaps)) = access.period(axis, *count) else { continue };
            if period == 1 || 2 * period >= leaps {
                continue;
            }
            let tail = count % period;
            if tail != 0 {
                return self.along(axis, &[(0, count - tail, true), (count - tail, *count, true)]).map(Some);
            }
            return self.split(axis, period, *stride, tracker).map(|split| Some(vec![split]));
        }
        Ok(None)
    }

    /// An axis as turns of so many steps.
    fn split(&self, axis: usize, steps: i64, stride: i64, tracker: &ShapeTracker) -> Result<Piece, Error> {
        let mut split = self.clone();
        split.extents[axis] = Extent { count: self.extents[axis].count / steps, stride: stride * steps };
        split.extents.insert(axis + 1, Extent { count: steps, stride });
        split.tracker = Some(tracker.reshape(split.shape())?);
        Ok(split)
    }

    /// What has data whatever the other axes say, apart from the rest; where that lets the innermost axis be moved along.
    fn core(&self) -> Result<Option<Vec<Piece>>, Error> {
        let Some(access) = &self.access else { return Ok(None) };
        let innermost = (0..self.extents.len()).filter(|axis| self.extents[*axis].count > 1);
        let innermost = innermost.min_by_key(|axis| self.extents[*axis].stride.abs());
        let outside = || innermost.is_some_and(|axis| Outside::choose(&self.extents, access).contains(axis));
        if access.floors.is_empty() && !outside() {
            return Ok(None);
        }
        for Condition { form, range } in access.conditions.iter().filter(|condition| !condition.form.has_floors()) {
            let count = |axis: usize| self.extents[axis].count;
            let Some(longest) = form.axes().max_by_key(|axis| count(*axis)) else { continue };
            // The least and the most that the other axes make of the form.
            let mut rest = (form.constant, form.constant);
            for axis in form.axes().filter(|axis| *axis != longest) {
                let most = form.factor(Atom::Axis(axis)).saturating_mul(count(axis) - 1);
                rest = (rest.0.saturating_add(most.min(0)), rest.1.saturating_add(most.max(0)));
            }
            let range = range.start.saturating_sub(rest.0)..range.end.saturating_sub(rest.1);
            let (begin, end) = steps_within(range, form.factor(Atom::Axis(longest)));
            let inside = |number: i64| number.clamp(0, count(longest));
            let (begin, end) = (inside(begin), inside(end));
            if form.axes().count() > 1 && 2 * (end - begin) > count(longest) {
                let parts = [(0, begin, true), (begin, end, true), (end, count(longest), true)];
                return self.along(longest, &parts).map(Some);
            }
        }
        Ok(None)
    }

    fn shape(&self) -> Vec<i64> {
        self.extents.iter().map(|extent| extent.count).collect()
    }

    /// The parts between numbers of steps along an axis, each with or without data.
    fn along(&self, axis: usize, parts: &[(i64, i64, bool)]) -> Result<Vec<Piece>, Error> {
        let part = |(begin, end, data): &(i64, i64, bool)| {
            let mut part = self.clone();
            part.start += begin * part.extents[axis].stride;
            part.extents[axis].count = end - begin;
            let mut ranges: Vec<(i64, i64)> = self.extents.iter().map(|extent| (0, extent.count)).collect();
            ranges[axis] = (*begin, *end);
            part.tracker = match &self.tracker {
                Some(tracker) if *data => Some(tracker.shrink(ranges)?),
                _ => None,
            };
            Ok(part)
        };
        parts.iter().filter(|(begin, end, _)| begin < end).map(part).collect()
    }

    /// The two halves along the outermost axis; `None` of a single element.
    pub(crate) fn halves(&self) -> Result<Option<[Piece; 2]>, Error> {
        let Some(axis) = self.extents.iter().position(|extent| extent.count > 1) else { return Ok(None) };
        let count = self.extents[axis].count;
        let halves = self.along(axis, &[(0, count / 2, true), (count / 2, count, true)])?;
        let read = |half: Piece| Piece { access: half.tracker.as_ref().and_then(Access::of), ..half };
        Ok(<[Piece; 2]>::try_from(halves).ok().map(|halves| halves.map(read)))
    }

    /// Neighbours that are one loop, in the tensor and in the view, as one.
    fn fuse(&self, tracker: &ShapeTracker, top: &View) -> Result<Piece, Error> {
        let mut fused: Vec<(Extent, i64)> = Vec::new();
        for (inner, step) in self.extents.iter().zip(top.strides()).filter(|(extent, _)| extent.count > 1) {
            let goes_on = |outer: i64, inner_step: i64| Some(outer) == inner.count.checked_mul(inner_step);
            match fused.last_mut() {
                Some((outer, outer_step)) if goes_on(outer.stride, inner.stride) && goes_on(*outer_step, *step) => {
                    *outer = Extent { count: outer.count * inner.count, stride: inner.stride };
                    *outer_step = *step;
                }
                _ => fused.push((*inner, *step)),
            }
        }
        let extents = fused.into_iter().map(|(extent, _)| extent).collect();
        let mut piece = Piece { extents, fused: true, ..self.clone() };
        piece.tracker = Some(tracker.reshape(piece.shape())?);
        Ok(piece)
    }
}

/// Where in a view's row-major numbering one of its axes ends and another begins, the largest first; not between axes
/// that are one loop.
fn weights(view: &View) -> Vec<i64> {
    let mut weights = Vec::new();
    let mut weight = 1;
    let mut inner: Option<(i64, i64, bool)> = None;
    for axis in (0..view.rank()).rev().filter(|axis| view.shape()[*axis] > 1) {
        let (size, stride) = (view.shape()[axis], view.strides()[axis]);
        let masked = view.mask().is_some_and(|mask| mask[axis] != (0, size));
        if let Some((inner_size, inner_stride, inner_masked)) = inner {
            let one = Some(stride) == inner_size.checked_mul(inner_stride) && !masked && !inner_masked;
            if !one {
                weights.insert(0, weight);
            }
        }
        inner = Some((size, stride, masked));
        weight *= size;
    }
    weights
}
