//! Questions about stacks of several views. Of a single view the answers are read off it (`queries.rs`).
//!
//! Each question is about all elements, and each is asked in the same order, from what costs little to what decides more:
//!
//! 1. [`Sample`]: a few elements. Most answers that deny something are visible from two of them: a step that moves the
//!    address by something else than another one, a masked neighbour, two readers of one address.
//! 2. [`Parts`]: groups of axes that have nothing to do with each other. What is asked of an axis is a question about its
//!    group alone, with the others held at one valid index, so that batches and channels do not count.
//! 3. [`Table`]: every element of a group, where there are not too many.
//! 4. Bounded linear equations (`merge/questions.rs`), whose cost does not depend on sizes, up to their work limit.
//!
//! Nothing here is a guess: an answer from a sample is a counterexample, and each of the others looks at all elements or
//! proves. Only where all four give up, the answer is [`Undecided`].

mod parts;
mod sample;
mod table;

use shapetracker_base::list::sort_short_by_key;

use parts::Parts;
use sample::{Line, Sample};
use table::Table;

use crate::merge::Undecided;
use crate::merge::stack::Stacked;
use crate::merge::work::Work;
use crate::shape::{scattered, unravel};
use crate::{AddressRun, Dims, ShapeTracker, View};

/// The most runs that are walked along for the range of the addresses.
const MOST_RUNS: usize = 1 << 16;

/// [`ShapeTracker::real_strides`] of a stack.
pub(crate) fn real_strides(st: &ShapeTracker) -> Result<Vec<Option<i64>>, Undecided> {
    // `None` is open; no two valid indices differ along the axes that are answered from the start.
    let mut answers: Vec<Option<Option<i64>>> =
        (0..st.rank()).map(|axis| is_one(st.last(), axis).then_some(Some(0))).collect();
    let Some(stack) = Stacked::of(st.views()) else { return Ok(vec![Some(0); st.rank()]) };
    let sample = Sample::of(st);
    let mut seen: Vec<Option<i64>> = vec![None; st.rank()];
    let mut uneven = |axis: usize, line: Line| {
        line.uneven || line.stride.is_some_and(|stride| *seen[axis].get_or_insert(stride) != stride)
    };
    for axis in open(&answers) {
        if sample.lines(axis).any(|line| uneven(axis, line)) {
            answers[axis] = Some(None);
        }
    }
    if let (Some(point), false) = (sample.point(), open(&answers).next().is_none()) {
        let parts = Parts::of(st);
        for axis in open(&answers) {
            if parts.stride(axis).is_none() && sample.lines_at_changes(axis).any(|line| uneven(axis, line)) {
                answers[axis] = Some(None);
            }
        }
        for axis in open(&answers) {
            // Where no floor depends on the axis its coefficient is the stride, if there is a step at all; else it is 0.
            answers[axis] = parts.stride(axis).filter(|&stride| stride == 0 || seen[axis].is_some()).map(Some);
        }
        for part in 0..parts.count() {
            let axes: Vec<usize> = open(&answers).filter(|&axis| parts.part(axis) == part).collect();
            if axes.is_empty() {
                continue;
            }
            if let Some(table) = Table::of(st, &parts.elements(part, point)) {
                axes.into_iter().for_each(|axis| answers[axis] = Some(table.stride(axis)));
            }
        }
    }
    let mut work = Work::for_a_question();
    (answers.into_iter().enumerate())
        .map(|(axis, answer)| answer.map_or_else(|| Ok(stack.stride(axis, &mut work)?), Ok))
        .collect()
}

/// The axes whose answer is open.
fn open<T>(answers: &[Option<T>]) -> impl Iterator<Item = usize> + use<T> {
    let open: Vec<usize> = (0..answers.len()).filter(|&axis| answers[axis].is_none()).collect();
    open.into_iter()
}

/// Whether all valid indices of a view have the same entry on an axis, or it does not matter which.
fn is_one(view: &View, axis: usize) -> bool {
    let (begin, end) = view.range(axis);
    view.strides()[axis] == 0 || end - begin == 1
}

/// [`ShapeTracker::axis_is_masked`] of a stack.
pub(crate) fn axis_is_masked(st: &ShapeTracker, axis: usize) -> Result<bool, Undecided> {
    let Some(stack) = Stacked::of(st.views()) else { return Ok(false) };
    let sample = Sample::of(st);
    if let Some(point) = sample.point() {
        if st.last().range(axis) != (0, st.shape()[axis]) || sample.lines(axis).any(|line| line.masked) {
            return Ok(true);
        }
        if is_one(st.last(), axis) {
            return Ok(false); // Nothing depends on the axis.
        }
        let parts = Parts::of(st);
        if parts.is_unguarded(axis) {
            return Ok(false);
        }
        if sample.lines_at_changes(axis).any(|line| line.masked) {
            return Ok(true);
        }
        if let Some(table) = Table::of(st, &parts.elements(parts.part(axis), point)) {
            return Ok(table.is_masked(axis));
        }
    }
    Ok(stack.is_masked(axis, &mut Work::for_a_question())?)
}

/// [`ShapeTracker::address_range`] of a stack.
pub(crate) fn address_range(st: &ShapeTracker) -> Result<Option<(i64, i64)>, Undecided> {
    let Some(stack) = Stacked::of(st.views()) else { return Ok(None) };
    // Mostly all that the view next to memory reads is read through the others as well.
    let reach = st.views()[0].address_range();
    let is_read = |address| sample::readers(st, address, 1).next().is_some();
    if let Some((low, high)) = reach
        && is_read(low)
        && is_read(high)
    {
        return Ok(reach);
    }
    if let Some(range) = walked_range(st) {
        return Ok(range);
    }
    Ok(stack.address_range(&mut Work::for_a_question())?)
}

/// The lowest and the highest address of the valid elements, if any is valid; `None` where there are too many runs to
/// walk along.
fn walked_range(st: &ShapeTracker) -> Option<Option<(i64, i64)>> {
    let mut range: Option<(i64, i64)> = None;
    for (number, run) in st.runs().enumerate() {
        if number == MOST_RUNS {
            return None;
        }
        if let AddressRun::Valid { first, step, count } = run {
            let last = first.wrapping_add(step.wrapping_mul(count - 1));
            let (low, high) = range.unwrap_or((first, first));
            range = Some((low.min(first).min(last), high.max(first).max(last)));
        }
    }
    Some(range)
}

/// [`ShapeTracker::collision`] of a stack that may have one.
#[inline(never)] // It is asked in three places.
pub(crate) fn collision(st: &ShapeTracker) -> Result<Option<[Dims; 2]>, Undecided> {
    let Some(stack) = Stacked::of(st.views()) else { return Ok(None) };
    let sample = Sample::of(st);
    if let Some(twins) = (0..st.rank()).flat_map(|axis| sample.lines(axis)).find_map(|line| line.twins) {
        return Ok(Some(twins));
    }
    for point in sample.points() {
        let Some(address) = st.address(point) else { continue };
        if let Some(other) = sample::readers(st, address, 2).find(|reader| reader != point) {
            return Ok(Some([point.clone(), other]));
        }
    }
    if let Some(point) = sample.point() {
        let parts = Parts::of(st);
        let tables: Option<Vec<Table>> =
            (0..parts.count()).map(|part| Table::of(st, &parts.elements(part, point))).collect();
        if let Some(tables) = tables {
            if let Some(found) = tables.iter().find_map(Table::collision) {
                return Ok(Some(found));
            }
            // Parts whose addresses lie further apart than all that the finer ones add up to never meet.
            let mut spans: Vec<(i64, i64)> = tables.iter().filter_map(Table::gap_and_span).collect();
            sort_short_by_key(&mut spans, |span| *span);
            let mut reach = 0i64;
            let apart = spans.into_iter().all(|(gap, span)| {
                let apart = gap > reach;
                reach = reach.saturating_add(span);
                apart
            });
            if apart {
                return Ok(None);
            }
        }
        if let Some(table) = Table::of(st, &Parts::whole(st).elements(0, point)) {
            return Ok(table.collision());
        }
    }
    // No view below reads an address twice: this is easier to ask.
    let is_injective = |view: &View| ShapeTracker::from(view.clone()).collision() == Ok(None);
    let injective = st.views().split_last().is_some_and(|(_, below)| below.iter().all(is_injective));
    Ok(stack.collision_over(injective, &mut Work::for_a_question())?)
}

/// [`ShapeTracker::difference`] of two trackers of one shape.
pub(crate) fn difference(a: &ShapeTracker, b: &ShapeTracker) -> Result<Option<Dims>, Undecided> {
    let differs = |index: &Dims| a.address(index) != b.address(index);
    let few = scattered(a.numel()).take(64).map(|position| unravel(position, a.shape()));
    if let Some(index) = few.into_iter().find(differs) {
        return Ok(Some(index));
    }
    let samples = [a, b].map(Sample::of);
    if let Some(index) = samples.iter().flat_map(Sample::points).find(|index| differs(index)) {
        return Ok(Some(index.clone()));
    }
    let (first, second) = match (Stacked::of(a.views()), Stacked::of(b.views())) {
        (None, None) => return Ok(None),
        (Some(stack), None) | (None, Some(stack)) => return Ok(stack.some_valid(&mut Work::for_a_question())?),
        (Some(first), Some(second)) => (first, second),
    };
    // An index at which both have the same address: otherwise it would be a difference.
    if let Some(point) = samples.iter().find_map(Sample::point) {
        let [one, other] = [a, b].map(Parts::of);
        if one.access().is_some() && one.access() == other.access() {
            return Ok(None);
        }
        let parts = one.joined(&other);
        let mut compared = true;
        for part in 0..parts.count() {
            let elements = parts.elements(part, point);
            let (Some(one), Some(other)) = (Table::of_all(a, &elements), Table::of_all(b, &elements)) else {
                compared = false;
                continue;
            };
            if let Some(index) = one.difference(&other) {
                return Ok(Some(index));
            }
        }
        if compared {
            return Ok(None);
        }
    }
    Ok(first.difference(&second, &mut Work::for_a_question())?)
}
