//! A few valid elements of a stack, and the lines through them.

use smallvec::SmallVec;

use crate::merge::stack::Stacked;
use crate::merge::work::Work;
use crate::shape::{scattered, unravel};
use crate::walk::AddressLines;
use crate::{AddressRun, Dims, ShapeTracker};

/// How many elements are looked at, and how many valid ones are kept of them.
const LOOKED_AT: usize = 48;
const KEPT: usize = 12;
/// How many runs of a line are looked at, from its element and from its ends.
const RUNS: usize = 24;
/// How many other elements of a line are looked at.
const PROBES: usize = 6;
/// How many entries may be tried to find who reads an address.
const STEPS: usize = 1 << 9;

/// Some valid elements, found by chance, from memory upwards, or by an equation; none only if nothing is valid or the
/// equation was too hard.
pub(super) struct Sample<'a> {
    st: &'a ShapeTracker,
    lines: AddressLines<'a>,
    points: Vec<Dims>,
}

/// What the elements on a line along an axis show, as far as they are looked at.
#[derive(Default)]
pub(super) struct Line {
    /// Two of its steps move the address by different amounts per index.
    pub(super) uneven: bool,
    /// How far the address moves per index, where two elements are valid.
    pub(super) stride: Option<i64>,
    /// Some element of it is masked.
    pub(super) masked: bool,
    /// Two elements of it that read one address.
    pub(super) twins: Option<[Dims; 2]>,
}

impl<'a> Sample<'a> {
    pub(super) fn of(st: &'a ShapeTracker) -> Sample<'a> {
        let last = st.last();
        // In the box of the last view's mask, without which nothing is valid.
        let ranges: Vec<(i64, i64)> = (0..st.rank()).map(|axis| last.range(axis)).collect();
        let sizes: Dims = ranges.iter().map(|(begin, end)| end - begin).collect();
        let inside = |position| {
            let mut index = unravel(position, &sizes);
            index.iter_mut().zip(&ranges).for_each(|(i, (begin, _))| *i += begin);
            index
        };
        let is_valid = |index: &Dims| st.address(index).is_some();
        let numel: i64 = sizes.iter().product();
        let mut points: Vec<Dims> = scattered(numel).take(LOOKED_AT).map(inside).filter(is_valid).take(KEPT).collect();
        if points.len() < KEPT / 2 {
            // Most of the box is masked. What lies in memory is read by somebody, unless it was cut off.
            let below = &st.views()[0];
            let sizes: Dims = (0..below.rank()).map(|axis| below.range(axis).1 - below.range(axis).0).collect();
            for position in scattered(sizes.iter().product()).take(KEPT) {
                let mut index = unravel(position, &sizes);
                index.iter_mut().enumerate().for_each(|(axis, i)| *i += below.range(axis).0);
                points.extend(below.address(&index).and_then(|address| readers(st, address, 1).next()));
            }
        }
        if points.is_empty()
            && let Some(stack) = Stacked::of(st.views())
        {
            points.extend(stack.some_valid(&mut Work::a_little()).ok().flatten());
        }
        points.dedup();
        Sample { st, lines: AddressLines::of(st, 0), points }
    }

    /// One of the elements.
    pub(super) fn point(&self) -> Option<&Dims> {
        self.points.first()
    }

    /// All of them.
    pub(super) fn points(&self) -> &[Dims] {
        &self.points
    }

    /// The lines along an axis through the elements.
    pub(super) fn lines(&self, axis: usize) -> impl Iterator<Item = Line> + '_ {
        self.points.iter().filter_map(move |point| self.line(point, axis))
    }

    /// The lines along an axis through elements next to where something changes on another line: where a mask begins, or
    /// the address leaps. They show what is rare.
    pub(super) fn lines_at_changes(&self, axis: usize) -> impl Iterator<Item = Line> + '_ {
        let others = (0..self.st.rank()).filter(move |other| *other != axis);
        let few = &self.points[..self.points.len().min(4)];
        let changes = others.flat_map(move |other| few.iter().flat_map(move |point| self.changes(point, other)));
        changes.filter_map(move |point| self.line(&point, axis))
    }

    /// Valid elements on the line along an axis through an element, on both sides of a place where the line stops to go on as
    /// it does at the element. Such a place lies between the element and an end of the line that is not as it should be, and
    /// is found by halving what lies between.
    fn changes(&self, point: &Dims, axis: usize) -> impl Iterator<Item = Dims> + use<> {
        let here = point[axis];
        let at = |i: i64| {
            let mut point = point.clone();
            point[axis] = i;
            point
        };
        let mut changes = SmallVec::<[Dims; 4]>::new();
        for end in [0, self.st.shape()[axis] - 1] {
            let next = here + (end - here).signum();
            let [Some(from), Some(to)] = [here, next].map(|i| self.st.address(&at(i))) else { continue };
            let stride = (i128::from(to) - i128::from(from)) * i128::from(next - here);
            let goes_on = |i: i64| {
                let expected = i128::from(from) + stride * i128::from(i - here);
                self.st.address(&at(i)).is_some_and(|address| i128::from(address) == expected)
            };
            if goes_on(end) {
                continue;
            }
            let (mut good, mut bad) = (here, end);
            while (bad - good).abs() > 1 {
                let middle = good + (bad - good) / 2;
                *(if goes_on(middle) { &mut good } else { &mut bad }) = middle;
            }
            changes.extend([good, bad].map(at));
        }
        changes.into_iter()
    }

    /// From where to where a line is followed: from an element upwards and downwards, and from both ends to it.
    fn ways(&self, here: i64, axis: usize) -> [(i64, i64); 4] {
        let last = self.st.shape()[axis] - 1;
        [(here, last), (here, 0), (0, here), (last, here)]
    }

    /// The runs of the line through an element from one index on its axis to another.
    fn run(&self, point: &Dims, axis: usize, from: i64, to: i64) -> impl Iterator<Item = AddressRun> + '_ {
        let mut start = point.clone();
        start[axis] = from;
        self.lines.follow(&start, axis as i64, if from <= to { 1 } else { -1 }, (to - from).abs() + 1).take(RUNS)
    }

    /// The line along an axis through an element.
    fn line(&self, point: &Dims, axis: usize) -> Option<Line> {
        let (here, address) = (point[axis], self.st.address(point)?);
        let mut line = Line::default();
        for (from, to) in self.ways(here, axis) {
            let step = if from <= to { 1 } else { -1 };
            let mut at = from;
            for run in self.run(point, axis, from, to) {
                match run {
                    AddressRun::Masked { .. } => line.masked = true,
                    AddressRun::Valid { first, step: moved, count } => {
                        line.meet(i128::from(first) - i128::from(address), at - here);
                        if count > 1 {
                            line.meet(i128::from(moved), step);
                        }
                        let twin = if at == here { at + step } else { at };
                        if first == address && (at != here || (count > 1 && moved == 0)) {
                            let mut other = point.clone();
                            other[axis] = twin;
                            line.twins = Some([point.clone(), other]);
                        }
                    }
                }
                at += step * run.count();
            }
        }
        // Where the runs are short, the rest of the line is far longer than what was followed.
        for i in scattered(self.st.shape()[axis]).take(PROBES).filter(|i| *i != here) {
            let mut other = point.clone();
            other[axis] = i;
            match self.st.address(&other) {
                None => line.masked = true,
                Some(there) => line.meet(i128::from(there) - i128::from(address), i - here),
            }
        }
        Some(line)
    }
}

impl Line {
    /// Takes up that the address moves by so much over so many indices.
    fn meet(&mut self, moved: i128, apart: i64) {
        if apart == 0 {
            return;
        }
        let apart = i128::from(apart);
        // A stride is a whole number; that of two valid elements fits unless the address leaps across all of `i64`.
        match i64::try_from(moved / apart) {
            Ok(stride) if moved % apart == 0 => self.uneven |= *self.stride.get_or_insert(stride) != stride,
            _ => self.uneven = true,
        }
    }
}

/// Up to so many elements that read an address, as far as they are found at once.
pub(super) fn readers(st: &ShapeTracker, address: i64, most: usize) -> impl Iterator<Item = Dims> + '_ {
    st.readers_within(address, STEPS).map_while(Result::ok).take(most)
}
