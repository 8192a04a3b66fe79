//! A box of a tensor's indices as loops: those that decide where there is data stand outside, and what they enclose is
//! moved without a question.

use std::mem::MaybeUninit;
use std::ops::Range;

use rayon::iter::{IntoParallelIterator, ParallelIterator};
use smallvec::SmallVec;

use crate::Threads;
use crate::form::{Access, Atom, Condition, Floor, Form};
use crate::kernels::{Move, Output, Small, Span, Stream};
use crate::mover::{Axes, Axis, Inner, Mover};

/// Which side is the tracker's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Direction {
    /// From the tracker's buffer to a contiguous tensor.
    Read,
    /// From a contiguous tensor to the tracker's buffer.
    Write,
}

/// One axis of a box of indices: how many, and how far from each other they are in the contiguous tensor, in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    pub(crate) count: i64,
    pub(crate) stride: i64,
}

/// The loops for a box.
#[derive(Clone, Debug)]
pub(crate) struct Nest {
    pub(crate) direction: Direction,
    /// Bytes an element.
    pub(crate) width: usize,
    /// Where the box begins in the contiguous tensor, in elements.
    pub(crate) start: i64,
    /// The loops outside, outermost first; the box's axes by number.
    pub(crate) outside: SmallVec<[(usize, Extent); 4]>,
    /// Whether the last of them goes on by as many steps at a time as have the same floors and conditions. Its axis is
    /// among those of the mover, too.
    pub(crate) leaps: bool,
    pub(crate) floors: Vec<Floor>,
    /// Conditions on the loops outside, and for each at most one axis that is moved along, with its factor.
    conditions: Vec<(Condition, Option<(usize, i64)>)>,
    /// The conditions as they were, for those who read them.
    pub(crate) said: Vec<Condition>,
    /// The address where all that is moved along is at its first index.
    pub(crate) address: Form,
    /// How many of each spanned axis there are; the last one is that of all data, if conditions are left to it.
    spans: SmallVec<[usize; 4]>,
    /// Which of them goes along with the last loop outside.
    leap_span: usize,
    pub(crate) mover: Mover,
    /// All of it, if it is small.
    small: Option<Small>,
    /// The only axis that is moved along, if that is the one that leaps: leaps may be short.
    alone: Option<Axis>,
    /// Fills what the mover leaves out, if that does not.
    pub(crate) margins: Option<Mover>,
}

/// What runs: the two sides, and what is written where there is no data.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) output: Output<'a>,
    pub(crate) fill: Option<&'a [u8]>,
    pub(crate) stream: Stream,
}

impl<'a> Run<'a> {
    /// `fresh` says that nobody has written to the output yet.
    pub(crate) fn new(
        source: &'a [u8],
        output: &'a mut [MaybeUninit<u8>],
        fill: Option<&'a [u8]>,
        fresh: bool,
    ) -> Run<'a> {
        let large = output.len() > STREAM;
        // A system clears the pages that it hands out when they are first touched, which brings them into the caches.
        // There rows are written at once; tiles are better off past the caches all the same.
        let stream = Stream { rows: large && !fresh, tiles: large };
        Run { source, output: Output::new(output), fill, stream }
    }
}

/// Outputs from this many bytes on go past the caches, which they would only empty.
const STREAM: usize = 8 << 20;

/// Bytes along one axis that can be counted with room to spare.
pub(crate) const MOST_BYTES: i128 = (i64::MAX / 4) as i128;

/// Steps of a loop that leaps over wide strides for each turn of the others.
const BLOCK: i64 = 128;

/// An axis along which the tensor is contiguous is worth one so many times as long.
const CONTIGUOUS: i64 = 8;

/// Bytes for which no second thread is woken.
const ALONE: usize = 256 << 10;

impl Nest {
    /// The loops for a box of a tracker's indices. `None` when its numbers leave `i64`.
    pub(crate) fn new(
        direction: Direction,
        width: usize,
        start: i64,
        extents: &[Extent],
        access: &Access,
    ) -> Option<Nest> {
        let chosen = Outside::choose(extents, access);
        let bytes = |elements: i64| isize::try_from(elements.checked_mul(i64::try_from(width).ok()?)?).ok();

        let mut conditions = Vec::new();
        let mut spans: SmallVec<[usize; 4]> = SmallVec::new();
        let mut spanned: SmallVec<[usize; 4]> = SmallVec::new();
        let mut left_to_all = false;
        for condition in &access.conditions {
            let mut form = condition.form.clone();
            let inside = form.axes().find(|axis| !chosen.outside.contains(axis));
            let along = inside.map(|axis| {
                let at = spanned.iter().position(|of| *of == axis).unwrap_or_else(|| {
                    spanned.push(axis);
                    spanned.len() - 1
                });
                let factor = form.factor(Atom::Axis(axis));
                form.terms.retain(|(atom, _)| *atom != Atom::Axis(axis));
                (at, factor)
            });
            left_to_all |= along.is_none();
            conditions.push((Condition { form, range: condition.range.clone() }, along));
        }
        let leap_span = spanned.len();
        if chosen.leaps {
            spanned.push(*chosen.outside.last()?);
        }
        let mut axes: Axes<Axis> = Axes::new();
        let mut address = access.address.clone();
        for (axis, extent) in extents.iter().enumerate() {
            let leaps = chosen.leaps && chosen.outside.last() == Some(&axis);
            if chosen.outside.contains(&axis) && !leaps {
                continue;
            }
            let tracker = bytes(address.factor(Atom::Axis(axis)))?;
            let tensor = bytes(extent.stride)?;
            let (from, to) = if direction == Direction::Read { (tracker, tensor) } else { (tensor, tracker) };
            let span = spanned.iter().position(|of| *of == axis);
            axes.push(Axis { span, ..Axis::new(usize::try_from(extent.count).ok()?, from, to) });
            address.terms.retain(|(atom, _)| *atom != Atom::Axis(axis));
        }
        spans.extend(spanned.iter().map(|axis| extents[*axis].count as usize));
        if left_to_all && !chosen.leaps {
            axes.push(Axis { span: Some(spans.len()), ..Axis::new(1, 0, 0) });
            spans.push(1);
        }
        // Whatever the tracker masks or the floors take away again may leave `i64` on the way: sums wrap.
        let steps = extents.iter().enumerate().flat_map(|(axis, extent)| {
            let factor = access.address.factor(Atom::Axis(axis));
            [factor, extent.stride].map(|step| i128::from(step).abs() * i128::from(extent.count))
        });
        let most = steps.max().unwrap_or(1).max(1).checked_mul(i128::try_from(width).ok()?)?;
        if most > MOST_BYTES {
            return None;
        }
        let nothing = |condition: &Condition| {
            condition.form.terms.is_empty() && !condition.range.contains(&condition.form.constant)
        };
        if access.conditions.iter().any(nothing) {
            let mover = Mover::margins(width, &axes);
            return Some(Nest { mover, ..Nest::empty(direction, width, start, spans) });
        }
        let mover = Mover::new(width, &axes);
        let small = if chosen.outside.is_empty() { Small::new(&mover) } else { None };
        let alone = axes.first().copied().filter(|_| chosen.leaps && axes.len() == 1);
        let fills = direction == Direction::Read && !conditions.is_empty();
        let margins = (fills && !matches!(mover.inner, Inner::Rows(..))).then(|| Mover::margins(width, &axes));
        let outside = chosen.outside.iter().map(|axis| (*axis, extents[*axis])).collect();
        let floors = access.floors.clone();
        let leaps = chosen.leaps;
        Some(Nest {
            direction,
            width,
            start,
            outside,
            leaps,
            floors,
            conditions,
            said: access.conditions.clone(),
            address,
            spans,
            leap_span,
            mover,
            small,
            alone,
            margins,
        })
    }

    /// A box without loops outside, and without anything inside.
    fn empty(direction: Direction, width: usize, start: i64, spans: SmallVec<[usize; 4]>) -> Nest {
        Nest {
            direction,
            width,
            start,
            outside: SmallVec::new(),
            leaps: false,
            floors: Vec::new(),
            said: Vec::new(),
            conditions: vec![(Condition { form: Form::default(), range: 1..1 }, None)],
            address: Form::default(),
            leap_span: 0,
            spans,
            mover: Mover::margins(width, &[]),
            small: None,
            alone: None,
            margins: None,
        }
    }

    /// Moves it all.
    ///
    /// # Panics
    /// If a box does not lie inside the slices.
    pub(crate) fn run(&self, run: &Run, threads: &Threads, bytes: usize) {
        if let (Some(small), true) = (&self.small, bytes <= ALONE) {
            let (from, to) = self.sides(self.address.constant, self.start);
            let Run { source, output, fill, .. } = *run;
            let moved = Move { source, output, fill, stream: Stream::default(), from, to, spans: &[] };
            // SAFETY: as for `part`.
            #[allow(unsafe_code)]
            return unsafe { small.run(&moved) };
        }
        let (turns, steps) = (self.turns(), 0..self.steps());
        let Some(pool) = threads.pool().filter(|_| bytes > ALONE) else {
            return self.some(run, 0..turns, steps, None);
        };
        // Turns are shared out if there are enough, else steps of a loop that leaps, else what is moved.
        let chunks = 4 * threads.count();
        if turns >= chunks {
            let chunk = |at: usize| self.some(run, turns * at / chunks..turns * (at + 1) / chunks, steps.clone(), None);
            pool.install(|| (0..chunks).into_par_iter().for_each(chunk));
        } else if self.leaps && steps.end >= chunks as i64 {
            let cut = |at: usize| (i128::from(steps.end) * at as i128 / chunks as i128) as i64;
            let chunk = |at: usize| self.some(run, 0..turns, cut(at)..cut(at + 1), None);
            pool.install(|| (0..chunks).into_par_iter().for_each(chunk));
        } else {
            self.some(run, 0..turns, steps, Some(pool));
        }
    }

    /// Where it is read and where it is written, in bytes, from where it is in the tracker's buffer and in the tensor.
    fn sides(&self, tracker: i64, tensor: i64) -> (isize, isize) {
        let bytes = |elements: i64| (elements as isize).wrapping_mul(self.width as isize);
        let (tracker, tensor) = (bytes(tracker), bytes(tensor));
        if self.direction == Direction::Read { (tracker, tensor) } else { (tensor, tracker) }
    }

    /// How far the loop goes that leaps.
    fn steps(&self) -> i64 {
        self.outside.last().filter(|_| self.leaps).map_or(1, |(_, extent)| extent.count)
    }

    /// How many times the loops outside turn; a loop that leaps counts as one turn.
    fn turns(&self) -> usize {
        let stepwise = self.outside.len() - usize::from(self.leaps);
        self.outside[..stepwise].iter().map(|(_, extent)| extent.count as usize).product()
    }

    /// Some turns of the loops outside.
    ///
    /// Where steps are wide on both sides, a loop that leaps goes only a block far for each turn of the others: what a
    /// cache brought for one turn is still there for the next.
    fn some(&self, run: &Run, turns: Range<usize>, steps: Range<i64>, pool: Option<&rayon::ThreadPool>) {
        let mut inside = Inside::new(self);
        if self.outside.is_empty() {
            return inside.step(run, pool);
        }
        let stepwise = &self.outside[..self.outside.len() - usize::from(self.leaps)];
        let whole = stepwise.is_empty() || matches!(self.mover.inner, Inner::Rows(..));
        let block = if whole { steps.end.max(1) } else { BLOCK };
        for first in steps.clone().step_by(block as usize) {
            let mut rest = turns.start;
            for (at, (_, extent)) in stepwise.iter().enumerate().rev() {
                inside.at[at] = (rest % extent.count as usize) as i64;
                rest /= extent.count as usize;
            }
            for _ in turns.clone() {
                if self.leaps {
                    inside.leap(first..steps.end.min(first + block), run, pool);
                } else {
                    inside.step(run, pool);
                }
                for (at, (_, extent)) in stepwise.iter().enumerate().rev() {
                    inside.at[at] += 1;
                    if inside.at[at] < extent.count {
                        break;
                    }
                    inside.at[at] = 0;
                }
            }
        }
    }
}

/// What the loops outside enclose, at one of their turns.
struct Inside<'a> {
    nest: &'a Nest,
    at: SmallVec<[i64; 8]>,
    floors: SmallVec<[i64; 8]>,
    spans: SmallVec<[Span; 4]>,
}

impl<'a> Inside<'a> {
    fn new(nest: &'a Nest) -> Inside<'a> {
        let at = SmallVec::from_elem(0, nest.outside.len());
        let spans = nest.spans.iter().map(|count| Span { all: 0..*count, data: 0..*count }).collect();
        Inside { nest, at, floors: SmallVec::new(), spans }
    }

    /// The value of a form of loops outside and floors.
    fn value(&self, form: &Form) -> i64 {
        form.terms.iter().fold(form.constant, |sum, (atom, factor)| {
            let value = match atom {
                Atom::Axis(axis) => self.at[self.loop_of(*axis)],
                Atom::Floor(floor) => self.floors[*floor],
            };
            sum.wrapping_add(factor.wrapping_mul(value))
        })
    }

    fn loop_of(&self, axis: usize) -> usize {
        self.nest.outside.iter().position(|(of, _)| *of == axis).unwrap_or(0)
    }

    fn decide_floors(&mut self) {
        self.floors.clear();
        for floor in &self.nest.floors {
            let value = self.value(&floor.form).div_euclid(floor.divisor);
            self.floors.push(value);
        }
    }

    /// Sets the spans to the part that has data.
    fn decide_spans(&mut self) {
        let mut some = true;
        for span in &mut self.spans {
            span.data = span.all.clone();
        }
        for (condition, along) in &self.nest.conditions {
            let value = self.value(&condition.form);
            // Where these are cut off at the ends of `i64` they are as far beyond all indices as before.
            let (low, high) = (condition.range.start.saturating_sub(value), condition.range.end.saturating_sub(value));
            let Some((span, factor)) = *along else {
                some &= low <= 0 && 0 < high;
                continue;
            };
            let data = &mut self.spans[span].data;
            let (begin, end) = steps_within(low..high, factor);
            let begin = begin.clamp(data.start as i64, data.end as i64) as usize;
            *data = begin..end.clamp(begin as i64, data.end.max(begin) as i64) as usize;
        }
        if !some && let Some(last) = self.spans.last_mut() {
            last.data = last.all.start..last.all.start;
        }
    }

    /// One turn.
    fn step(&mut self, run: &Run, pool: Option<&rayon::ThreadPool>) {
        self.decide_floors();
        self.decide_spans();
        self.go(run, pool);
    }

    /// Some turns of the last loop outside, as many at a time as go alike.
    fn leap(&mut self, steps: Range<i64>, run: &Run, pool: Option<&rayon::ThreadPool>) {
        let last = self.at.len() - 1;
        let axis = self.nest.outside[last].0;
        let mut first = steps.start;
        while first < steps.end {
            self.at[last] = first;
            self.decide_floors();
            let mut alike = steps.end - first;
            // How many steps until `factor * steps` reaches a bound, which lies above what holds now.
            let mut until = |distance: i64, factor: i64| {
                alike = alike.min(up(distance, factor.saturating_abs()));
            };
            for (floor, value) in self.nest.floors.iter().zip(&self.floors) {
                let factor = floor.form.factor(Atom::Axis(axis));
                let rest = self.value(&floor.form).wrapping_sub(value.wrapping_mul(floor.divisor));
                match factor {
                    0 => {}
                    1.. => until(floor.divisor - rest, factor),
                    _ => until(rest.saturating_add(1), factor),
                }
            }
            for (condition, _) in &self.nest.conditions {
                let factor = condition.form.factor(Atom::Axis(axis));
                let value = self.value(&condition.form);
                let Range { start: low, end: high } = condition.range;
                match factor {
                    0 => {}
                    1.. if value < low => until(low.saturating_sub(value), factor),
                    1.. if value < high => until(high.saturating_sub(value), factor),
                    ..0 if value >= high => until(value.saturating_sub(high).saturating_add(1), factor),
                    ..0 if value >= low => until(value.saturating_sub(low).saturating_add(1), factor),
                    _ => {}
                }
            }
            let all = &mut self.spans[self.nest.leap_span].all;
            *all = first as usize..(first + alike) as usize;
            self.decide_spans();
            // The mover goes along this loop itself, from its first index on.
            self.at[last] = 0;
            self.go(run, pool);
            first += alike;
        }
    }

    /// Moves and fills.
    fn go(&self, run: &Run, pool: Option<&rayon::ThreadPool>) {
        let nest = self.nest;
        let stepwise = nest.outside.len() - usize::from(nest.leaps);
        let tensor = nest.outside[..stepwise].iter().zip(&self.at);
        let tensor = tensor.fold(nest.start, |sum, ((_, extent), at)| sum + extent.stride * at);
        let (from, to) = nest.sides(self.value(&nest.address), tensor);
        let Run { source, output, fill, stream } = *run;
        let moved = Move { source, output, fill, stream, from, to, spans: &self.spans };
        if let (Some(axis), [span]) = (&nest.alone, &self.spans[..])
            && (pool.is_none() || span.all.len().saturating_mul(nest.width) < ALONE)
        {
            return along(&moved, nest.width, axis, span);
        }
        let empty = self.spans.iter().any(|span| span.data.is_empty());
        let fills = |mover: &Mover| matches!(mover.inner, Inner::Rows(..)) && fill.is_some();
        for mover in nest.margins.iter().chain([&nest.mover]).filter(|mover| !empty || fills(mover)) {
            let parts = moved.parts(mover);
            match pool {
                Some(pool) if parts > 1 => {
                    let chunks = parts.min(4 * pool.current_num_threads());
                    pool.install(|| {
                        (0..chunks).into_par_iter().for_each(|chunk| {
                            part(&moved, mover, parts * chunk / chunks..parts * (chunk + 1) / chunks);
                        });
                    });
                }
                _ => part(&moved, mover, 0..parts),
            }
        }
    }
}

/// Moves some parts of a box.
fn part(moved: &Move, mover: &Mover, parts: Range<usize>) {
    // SAFETY: every part is other elements of the tensor, and so of the buffer, too, where that is written: its tracker
    // was shown to be injective. No part is given to two threads.
    #[allow(unsafe_code)]
    unsafe {
        moved.run(mover, parts);
    }
}

/// Moves along the only axis there is.
fn along(moved: &Move, width: usize, axis: &Axis, span: &Span) {
    // SAFETY: as for `part`.
    #[allow(unsafe_code)]
    unsafe {
        moved.along(width, axis, span.all.clone(), !span.data.is_empty());
    }
}

/// A number divided by a positive one, rounded up.
fn up(number: i64, by: i64) -> i64 {
    number.div_euclid(by) + i64::from(number.rem_euclid(by) != 0)
}

/// The steps at which a multiple of them lies in a range; begin and end.
pub(crate) fn steps_within(range: Range<i64>, factor: i64) -> (i64, i64) {
    let Range { start, end } = range;
    if factor > 0 {
        return (up(start, factor), up(end, factor));
    }
    let turned = |number: i64| 1i64.saturating_sub(number);
    (up(turned(end), factor.saturating_abs()), up(turned(start), factor.saturating_abs()))
}

/// Which axes are looped over outside what is moved.
#[derive(Debug, Default)]
pub(crate) struct Outside {
    /// The box's axes by number, outermost first; one that leaps last.
    outside: SmallVec<[usize; 4]>,
    leaps: bool,
}

impl Outside {
    /// Whether an axis is not moved along, or not far at a time.
    pub(crate) fn contains(&self, axis: usize) -> bool {
        self.outside.contains(&axis)
    }

    /// As few turns as can be so that every floor is decided outside, and every condition but for one axis.
    pub(crate) fn choose(extents: &[Extent], access: &Access) -> Outside {
        let mut divided: Vec<usize> = access.floors.iter().flat_map(|floor| floor.form.axes()).collect();
        divided.sort_unstable();
        divided.dedup();
        let candidates = divided.iter().map(|axis| Some(*axis));
        let each = candidates.map(|leaping| Outside::with(extents, access, &divided, leaping));
        let each = each.chain(divided.is_empty().then(|| Outside::with(extents, access, &divided, None)));
        let stride = |chosen: &Outside| chosen.outside.last().map_or(0, |axis| extents[*axis].stride.abs());
        let least = each.min_by(|(a, one), (b, other)| a.total_cmp(b).then(stride(one).cmp(&stride(other))));
        least.map_or_else(Outside::default, |(_, chosen)| chosen)
    }

    /// The choice with one axis that leaps, and about how many times something is moved under it.
    fn with(extents: &[Extent], access: &Access, divided: &[usize], leaping: Option<usize>) -> (f64, Outside) {
        let count = |axis: usize| extents[axis].count as f64;
        let mut outside: SmallVec<[usize; 4]> = divided.iter().copied().filter(|axis| Some(*axis) != leaping).collect();
        // A condition that changes with what leaps, or with floors, is decided outside altogether.
        for condition in &access.conditions {
            let form = &condition.form;
            if form.has_floors() || leaping.is_some_and(|axis| form.factor(Atom::Axis(axis)) != 0) {
                outside.extend(form.axes().filter(|axis| Some(*axis) != leaping));
            }
        }
        // The others keep one axis inside: the longest, and rather one along which the tensor is contiguous.
        let mut by_count: Vec<usize> = (0..extents.len()).collect();
        by_count.sort_by_key(|axis| {
            let Extent { count, stride } = extents[*axis];
            if stride.abs() == 1 { count.saturating_mul(CONTIGUOUS) } else { count }
        });
        for axis in by_count {
            let several = |form: &Form| form.axes().filter(|axis| !outside.contains(axis)).count() > 1;
            let mut forms = access.conditions.iter().map(|condition| &condition.form);
            if !outside.contains(&axis) && forms.any(|form| form.factor(Atom::Axis(axis)) != 0 && several(form)) {
                outside.push(axis);
            }
        }
        outside.sort_unstable();
        outside.dedup();
        let mut moves: f64 = outside.iter().map(|axis| count(*axis)).product();
        if let Some(axis) = leaping {
            let breaks = |factor: i64, divisor: f64| factor.unsigned_abs() as f64 * count(axis) / divisor;
            let floors =
                access.floors.iter().map(|floor| breaks(floor.form.factor(Atom::Axis(axis)), floor.divisor as f64));
            moves *= 1.0 + floors.sum::<f64>().min(count(axis));
            outside.push(axis);
        }
        (moves, Outside { outside, leaps: leaping.is_some() })
    }
}
