//! Runs the loops of a nest, on one thread or several.
//!
//! What is moved or filled at an index follows from numbers that nothing here relies on: addresses are checked where bytes
//! move. Which indices are met is a matter of these loops alone: the loops outside are shared out by the number of their
//! turn, a loop that leaps goes on by at least one step and not past its end, and the parts of a mover have numbers. So each
//! index is met once, by one thread.

use std::mem::MaybeUninit;
use std::ops::Range;

use shapetracker::expr::{Linear, Term};
use shapetracker_base::int::div_ceil_64;
use smallvec::SmallVec;

use crate::Threads;
use crate::kernels::{Checked, Few, Move, Output, Span, Stream, Tuning};
use crate::mover::{Axis, Inner, Mover};
use crate::nest::{Direction, Nest, steps_within};
use crate::trial::{PIECES, Trial};

/// The two sides of a copy, and what is written where there is no data.
#[derive(Clone, Copy)]
pub(crate) struct Run<'a> {
    source: &'a [u8],
    output: Output<'a>,
    fill: Option<&'a [u8]>,
    stream: Stream,
}

impl<'a> Run<'a> {
    /// `fresh` says that nobody has written to the output yet.
    pub(crate) fn new(
        source: &'a [u8],
        output: &'a mut [MaybeUninit<u8>],
        fill: Option<&'a [u8]>,
        fresh: bool,
        tuning: Tuning,
    ) -> Run<'a> {
        let large = tuning.stream && output.len() > STREAM;
        // A system clears the pages that it hands out when they are first touched, which brings them into the caches.
        // There rows are written with ordinary stores; for tiles non-temporal ones are faster all the same.
        let stream = Stream { rows: large && !fresh, tiles: large, ahead: source.len() > STREAM, tuning };
        Run { source, output: Output::new(output), fill, stream }
    }

    /// The same from elsewhere.
    pub(crate) fn from<'b>(&self, source: &'b [u8]) -> Run<'b>
    where
        'a: 'b,
    {
        Run { source, stream: Stream { ahead: source.len() > STREAM, ..self.stream }, ..*self }
    }

    pub(crate) fn source(&self) -> &'a [u8] {
        self.source
    }

    pub(crate) fn tuning(&self) -> Tuning {
        self.stream.tuning
    }

    /// The same, written another way.
    pub(crate) fn tuned(&self, tuning: Tuning) -> Run<'a> {
        Run { stream: Stream { rows: self.stream.rows && tuning.stream, tuning, ..self.stream }, ..*self }
    }

    /// Whether what a mover writes is stored past the caches.
    pub(crate) fn streams(&self, mover: &Mover) -> bool {
        match &mover.inner {
            Inner::Rows(..) | Inner::Shuffled(_) => self.stream.rows,
            Inner::Tiles(_) => self.stream.tiles,
            Inner::Strided(_) => false,
        }
    }

    /// A box of elements of some width to move, whose first index lies at bytes of both sides.
    #[inline]
    pub(crate) fn moved(&self, width: usize, from: isize, to: isize, spans: &'a [Span]) -> Move<'a> {
        let Run { source, output, fill, stream } = *self;
        Move { source, output, fill, stream, width, from, to, spans }
    }
}

/// Outputs of more bytes are written with non-temporal stores: they would empty the caches and not fit into them.
pub(crate) const STREAM: usize = if cfg!(miri) { 1 << 9 } else { 8 << 20 };

/// Bytes of a tensor up to which what a box is moved by is precomputed, if it can be.
pub(crate) const SMALL: usize = if cfg!(miri) { 1 << 7 } else { 256 << 10 };

/// Turns of loops, or steps, for each thread that are enough for sharing them out.
const ENOUGH: usize = 4;

/// Steps of a loop that leaps over wide strides for each turn of the others.
const BLOCK: i64 = if cfg!(miri) { 4 } else { 128 };

impl Nest {
    /// Moves it all.
    ///
    /// # Safety
    /// If `threads` are several, different indices of the loops lie at different places of the output. Nobody else uses the
    /// output meanwhile.
    ///
    /// # Panics
    /// If a box does not lie inside the slices.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run(&self, run: &Run, threads: &Threads, bytes: usize) {
        if let (Some(small), true) = (&self.small, bytes <= SMALL) {
            // SAFETY: this thread is the only one.
            return unsafe { small.run(&self.moved(run, (self.address.constant(), self.start), &[])) };
        }
        let (turns, steps) = (self.turns(), 0..self.steps());
        // Turns are shared out if there are enough, else steps of a loop that leaps, else what is moved, if that is enough.
        let enough = if threads.count() > 1 { ENOUGH * threads.count() } else { PIECES };
        let pieces = || {
            let whole = Inside::new(self).spans;
            if turns >= enough { turns } else { turns * self.moved(run, (0, 0), &whole).parts(&self.mover) }
        };
        // This region alone may be a small part of the tensor.
        let trial = match self.leaps || bytes <= STREAM {
            false => Trial::new(&self.mover, run, self.numel() as usize * self.width, pieces),
            true => None,
        };
        let trial = trial.as_ref();
        if trial.is_none() && !threads.are_worth(|| self.time()) {
            return self.turn(run, 0..turns, steps, &Shares::default());
        }
        if turns >= enough {
            let chunks = chunks(threads, trial, turns);
            threads.share(chunks, |at| {
                let turns = chunk_of(turns, at, chunks);
                piece(trial, run, |run| {
                    self.turn(run, turns.clone(), steps.clone(), &Shares::default());
                    turns.len()
                });
            });
        } else if self.leaps && steps.end >= enough as i64 {
            let chunks = threads.chunks(steps.end as usize);
            let chunk = |at: usize| {
                let Range { start, end } = chunk_of(steps.end as usize, at, chunks);
                self.turn(run, 0..turns, start as i64..end as i64, &Shares::default());
            };
            threads.share(chunks, chunk);
        } else {
            let one = || self.time() / (turns as i64 * steps.end.max(1)) as f64;
            let threads = Some(threads).filter(|threads| threads.are_worth(one));
            self.turn(run, 0..turns, steps.clone(), &Shares { threads, trial });
        }
    }

    /// The same precomputed, where it is one small box that is all of a tensor of so many bytes.
    pub(crate) fn few(&self, bytes: usize) -> Option<Few> {
        Few::whole(self.small.as_ref()?, self.sides(self.address.constant(), self.start), bytes, self.width)
    }

    /// A box to move, whose first index lies at elements of the tracker's buffer and of the tensor.
    #[inline]
    fn moved<'a>(&self, run: &Run<'a>, elements: (i64, i64), spans: &'a [Span]) -> Move<'a> {
        let Run { source, output, fill, stream } = *run;
        let (from, to) = self.sides(elements.0, elements.1);
        Move { source, output, fill, stream, width: self.width, from, to, spans }
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

    /// Some turns of the loops outside, and some steps of the one that leaps.
    ///
    /// Where steps are wide on both sides, a loop that leaps goes only a block far for each turn of the others: what a
    /// cache brought for one turn is still there for the next.
    fn turn(&self, run: &Run, turns: Range<usize>, steps: Range<i64>, shares: &Shares) {
        let mut inside = Inside::new(self);
        if self.outside.is_empty() {
            return inside.step(run, shares);
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
                    inside.leap(first..steps.end.min(first + block), run, shares);
                } else {
                    inside.step(run, shares);
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

/// Of a number of things, those of one of several chunks: the floor of `all * at / chunks`, without the product.
pub(crate) fn chunk_of(all: usize, at: usize, chunks: usize) -> Range<usize> {
    let begin = |at: usize| all / chunks * at + all % chunks * at / chunks;
    begin(at)..begin(at + 1)
}

/// What the loops outside enclose, at one of their turns.
struct Inside<'a> {
    nest: &'a Nest,
    /// The indices of the loops outside.
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
    fn value(&self, form: &Linear) -> i64 {
        form.terms().iter().fold(form.constant(), |sum, (atom, factor)| {
            let value = match atom {
                Term::Variable(axis) => self.at[self.loop_of(*axis)],
                Term::Floor(floor) => self.floors[*floor],
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
            let value = self.value(&floor.numerator).div_euclid(floor.divisor);
            self.floors.push(value);
        }
    }

    /// Sets the spans to the part that has data. Whatever the conditions say, that is a part of what the spans walk.
    fn decide_spans(&mut self) {
        let mut some = true;
        for span in &mut self.spans {
            span.data = span.all.clone();
        }
        for condition in &self.nest.decided {
            let value = self.value(&condition.form);
            let range = condition.range_from(value);
            let Some((span, factor)) = condition.along else {
                some &= range.contains(&0);
                continue;
            };
            let data = &mut self.spans[span].data;
            let (begin, end) = steps_within(range, factor);
            let begin = begin.clamp(data.start as i64, data.end as i64) as usize;
            *data = begin..end.clamp(begin as i64, data.end.max(begin) as i64) as usize;
        }
        if !some && let Some(last) = self.spans.last_mut() {
            last.data = last.all.start..last.all.start;
        }
    }

    /// One turn.
    fn step(&mut self, run: &Run, shares: &Shares) {
        self.decide_floors();
        self.decide_spans();
        self.go(run, shares);
    }

    /// Some steps of the last loop outside, as many at a time as have the same floors and the same conditions.
    ///
    /// Along the axis a form goes up or down by its factor at each step. A floor stays as it is until its form passes the
    /// next multiple of its divisor, and whether a condition holds until its form enters or leaves its range. The least
    /// number of steps until any of that happens can be moved at once, and costs one division for each of them.
    fn leap(&mut self, steps: Range<i64>, run: &Run, shares: &Shares) {
        let last = self.at.len() - 1;
        let axis = self.nest.outside[last].0;
        let mut first = steps.start;
        while first < steps.end {
            self.at[last] = first;
            self.decide_floors();
            let mut alike = steps.end - first;
            // How many steps until `factor * steps` reaches a distance, which is positive. Every step is met once even if
            // it were not.
            let mut until = |distance: i64, factor: i64| {
                alike = alike.min(div_ceil_64(distance, factor.saturating_abs())).max(1);
            };
            for (floor, value) in self.nest.floors.iter().zip(&self.floors) {
                let factor = floor.numerator.coefficient(Term::Variable(axis));
                let rest = self.value(&floor.numerator).wrapping_sub(value.wrapping_mul(floor.divisor));
                match factor {
                    0 => {}
                    1.. => until(floor.divisor - rest, factor),
                    _ => until(rest.saturating_add(1), factor),
                }
            }
            for condition in &self.nest.decided {
                let factor = condition.form.coefficient(Term::Variable(axis));
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
            self.go(run, shares);
            first += alike;
        }
    }

    /// Moves and fills.
    fn go(&self, run: &Run, shares: &Shares) {
        let nest = self.nest;
        let stepwise = nest.outside.len() - usize::from(nest.leaps);
        let tensor = nest.outside[..stepwise].iter().zip(&self.at);
        let tensor = tensor.fold(nest.start, |sum, ((_, extent), at)| sum + extent.stride * at);
        let moved = nest.moved(run, (self.value(&nest.address), tensor), &self.spans);
        if let (Some(axis), [span]) = (&nest.single, &self.spans[..])
            && (shares.threads.is_none() || span.all.len().saturating_mul(nest.width) < SMALL)
        {
            return along(&moved, nest.width, axis, span);
        }
        let empty = self.spans.iter().any(|span| span.data.is_empty());
        let fills = |mover: &Checked| matches!(mover.inner, Inner::Rows(..)) && run.fill.is_some();
        let margins = nest.margins.iter().filter(|_| run.fill.is_some()).map(|mover| (mover, None));
        let movers = margins.chain([(&nest.mover, shares.trial)]);
        for (mover, trial) in movers.filter(|(mover, _)| !empty || fills(mover)) {
            let parts = moved.parts(mover);
            let one = Threads::one();
            let threads = match (shares.threads, trial) {
                (Some(threads), _) if parts > 1 => threads,
                (None, Some(_)) if parts > 1 => &one,
                _ => {
                    part(&moved, mover, 0..parts);
                    continue;
                }
            };
            let chunks = chunks(threads, trial, parts);
            threads.share(chunks, |chunk| {
                let parts = chunk_of(parts, chunk, chunks);
                piece(trial, run, |run| part(&Move { stream: run.stream, ..moved }, mover, parts));
            });
        }
    }
}

/// Among whom a turn shares out what it moves, and whether they find out how that is faster.
#[derive(Clone, Copy, Default)]
struct Shares<'a> {
    threads: Option<&'a Threads>,
    trial: Option<&'a Trial>,
}

/// Into how many chunks a number of things is shared out.
fn chunks(threads: &Threads, trial: Option<&Trial>, all: usize) -> usize {
    let chunks = threads.chunks(all);
    if trial.is_some() { chunks.max(PIECES.min(all)) } else { chunks }
}

/// Moves a piece, one of the ways that are tried if there is a trial; `moves` returns a measure of it.
fn piece(trial: Option<&Trial>, run: &Run, moves: impl FnOnce(&Run) -> usize) {
    match trial {
        Some(trial) => trial.piece(run, moves),
        None => {
            moves(run);
        }
    }
}

/// Moves some parts of a box, and returns how many bytes that were.
fn part(moved: &Move, mover: &Checked, parts: Range<usize>) -> usize {
    // SAFETY: no part of a mover and no turn of the loops around it is given to two threads, and where there are several
    // threads different indices are different places (`Nest::run`).
    #[allow(unsafe_code)]
    unsafe {
        moved.run(mover, parts)
    }
}

/// Moves along the only axis there is.
fn along(moved: &Move, width: usize, axis: &Axis, span: &Span) {
    // SAFETY: as for `part`: no step of a loop that leaps is given to two threads either.
    #[allow(unsafe_code)]
    unsafe {
        moved.along(width, axis, span.all.clone(), !span.data.is_empty());
    }
}
