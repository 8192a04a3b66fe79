//! Random cases: the runner, and generators of views, pairs and chains of operations.
//!
//! Every generator reads from a [`Tape`] of random numbers. Proptest shrinks the tape, and because smaller numbers
//! mean simpler choices, a failing case shrinks to a simple one, whatever it depends on.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};
use shapetracker::{Error, Movement, ShapeTracker};
use shapetracker_testing::{drawn, environment, is_held};

use crate::oracle::{Array, RawView, conditions, solutions};

/// How many cases each property draws in a default run.
pub(crate) mod cases {
    pub(crate) const PAIRS: u32 = 150_000;
    pub(crate) const RESHAPES: u32 = 20_000;
    pub(crate) const STACKS: u32 = 15_000;
    pub(crate) const REFINED: u32 = 30_000;
    pub(crate) const CHAINS: u32 = 12_000;
    pub(crate) const WAYS: u32 = 20_000;
    pub(crate) const COMPOSITIONS: u32 = 5_000;
    pub(crate) const COPIES: u32 = 6_000;
    pub(crate) const VIEW_OPERATIONS: u32 = 20_000;
    pub(crate) const SAME_MAPS: u32 = 12_000;
    pub(crate) const SCALED: u32 = 60_000;
    pub(crate) const LARGE: u32 = 20_000;
    pub(crate) const HOSTILE: u32 = 150_000;
    /// For each of the eight queries.
    pub(crate) const QUERIES: u32 = 5_000;
    pub(crate) const DESCRIBED: u32 = 2_000;
    pub(crate) const SUMMARIES: u32 = 30_000;
    pub(crate) const LARGE_SUMMARIES: u32 = 3_000;
    pub(crate) const EXPRESSIONS: u32 = 200_000;
    pub(crate) const REORDERED: u32 = 20_000;
    pub(crate) const PRINTED: u32 = 20_000;
    pub(crate) const INDEX_PAIRS: u32 = 60_000;
    pub(crate) const INDEX_CHAINS: u32 = 10_000;
    pub(crate) const INDEX_STACKS: u32 = 15_000;
    pub(crate) const MAPS: u32 = 12_000;
    pub(crate) const LARGE_MAPS: u32 = 2_000;
}

/// Draws cases and holds each to the property; panics with the simplest failing case that shrinking finds.
///
/// The draws are the same on every run, unless the environment asks for others; `SHAPETRACKER_PART` says which of them are held to
/// the property.
pub(crate) fn check<C: Debug>(
    cases: u32,
    generate: impl Fn(&mut Tape) -> C,
    property: impl Fn(&C) -> Result<(), String>,
) {
    let seed = seed();
    let cases = drawn(cases);
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
    let config = Config {
        cases,
        failure_persistence: None,
        max_shrink_iters: 20_000,
        max_shrink_time: 30_000,
        ..Config::default()
    };
    let tapes = prop::collection::vec(any::<u32>(), Tape::LENGTH);
    let case = |draws: &Vec<u32>| generate(&mut Tape { draws: draws.clone().into_iter() });
    let (number, failed) = (Cell::new(0), Cell::new(false));
    let outcome = TestRunner::new_with_rng(config, rng).run(&tapes, |draws| {
        let now = number.replace(number.get() + 1);
        // What comes after a failure is that case made simpler, whatever its number.
        if !failed.get() && !is_held(now) {
            return Ok(());
        }
        property(&case(&draws)).map_err(|reason| {
            failed.set(true);
            TestCaseError::fail(reason)
        })
    });
    match outcome {
        Ok(()) => {}
        Err(TestError::Fail(reason, draws)) => panic!("{reason}\nsimplest failing case: {:?}", case(&draws)),
        Err(TestError::Abort(reason)) => panic!("no cases: {reason}"),
    }
}

thread_local! {
    /// The seed of this thread's draws, where it is not that of the environment: see the module `stress`.
    static SEED: Cell<Option<u64>> = const { Cell::new(None) };
}

/// Which cases are drawn.
pub(crate) fn seed() -> u64 {
    SEED.get().or_else(|| environment("SHAPETRACKER_SEED")).unwrap_or(0)
}

/// Draws other cases on this thread from now on.
pub(crate) fn set_seed(seed: u64) {
    SEED.set(Some(seed));
}

/// Whether the draws are those of `stress`: fresh ones, so that a count of rare cases may be a few off what it mostly is.
pub(crate) fn is_stressed() -> bool {
    SEED.get().is_some()
}

/// How a question was answered.
#[derive(Clone, Default)]
pub(crate) struct Answered {
    pub(crate) cases: u64,
    pub(crate) undecided: u64,
    pub(crate) total: Duration,
    pub(crate) worst: Duration,
}

/// What was asked with [`timed`] so far.
pub(crate) static ANSWERED: Mutex<BTreeMap<&str, Answered>> = Mutex::new(BTreeMap::new());

/// Asks a question, and takes down for the table of `stress` how long that took and whether it was decided.
pub(crate) fn timed<T, E: Debug>(question: &'static str, ask: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    let start = Instant::now();
    let answer = ask();
    let time = start.elapsed();
    let is_open = |error: String| ["Undecided", "WorkLimit", "NotQuasiAffine"].iter().any(|word| error.contains(word));
    let undecided = answer.as_ref().is_err_and(|error| is_open(format!("{error:?}")));
    let mut all = ANSWERED.lock().unwrap_or_else(PoisonError::into_inner);
    let answered = all.entry(question).or_default();
    answered.cases += 1;
    answered.undecided += u64::from(undecided);
    answered.total += time;
    answered.worst = answered.worst.max(time);
    answer
}

/// Random numbers, used up one choice at a time; zeros follow.
pub(crate) struct Tape {
    draws: std::vec::IntoIter<u32>,
}

impl Tape {
    const LENGTH: usize = 160;

    /// A number in `0..n`, for `n` of at least 1.
    pub(crate) fn below(&mut self, n: i64) -> i64 {
        assert!(n > 0);
        let mut draw = || u128::from(self.draws.next().unwrap_or(0));
        if let Ok(n) = u32::try_from(n) {
            return ((draw() * u128::from(n)) >> 32) as i64;
        }
        ((((draw() << 32) | draw()) * n as u128) >> 64) as i64
    }

    /// Whether only zeros are left, so that further draws change nothing.
    pub(crate) fn is_used_up(&self) -> bool {
        self.draws.len() == 0
    }

    /// A number in `low..=high`.
    pub(crate) fn within(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low).saturating_add(1))
    }

    /// A number in `-most..=most`; small draws mean small numbers.
    pub(crate) fn signed(&mut self, most: i64) -> i64 {
        let draw = self.below(2 * most + 1);
        if draw % 2 == 0 { draw / 2 } else { -draw / 2 - 1 }
    }

    /// True in so many cases of a hundred.
    pub(crate) fn chance(&mut self, percent: i64) -> bool {
        self.below(100) >= 100 - percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, items: &[T]) -> T {
        items[self.below(items.len() as i64) as usize]
    }

    /// A half-open range inside an axis; now and then an empty one.
    pub(crate) fn range(&mut self, size: i64) -> (i64, i64) {
        if size == 0 || self.chance(2) {
            let at = self.within(0, size);
            return (at, at);
        }
        let begin = self.below(size);
        (begin, self.within(begin + 1, size))
    }

    pub(crate) fn permutation(&mut self, rank: usize) -> Vec<usize> {
        let mut axes: Vec<usize> = (0..rank).collect();
        for i in 0..rank {
            let other = self.within(i as i64, rank as i64 - 1) as usize;
            axes.swap(i, other);
        }
        axes
    }

    /// Sizes with a given product: its factors spread over some axes.
    pub(crate) fn sizes_of(&mut self, numel: i64) -> Vec<i64> {
        if numel == 0 {
            let rank = self.within(1, 3) as usize;
            let mut shape: Vec<i64> = (0..rank).map(|_| self.within(0, 3)).collect();
            shape[self.below(rank as i64) as usize] = 0;
            return shape;
        }
        let rank = self.within(i64::from(numel > 1), 5) as usize;
        let mut shape = vec![1; rank];
        let (mut rest, mut factor) = (numel, 2);
        while rest > 1 {
            if rest % factor == 0 {
                rest /= factor;
                shape[self.below(rank as i64) as usize] *= factor;
            } else {
                factor += 1;
            }
        }
        shape
    }

    /// A shape of few axes and elements; now and then with a size of 0, of 1, or with no axis at all.
    pub(crate) fn shape(&mut self, max_rank: i64, max_size: i64) -> Vec<i64> {
        let rank = if self.chance(3) { 0 } else { self.within(1, max_rank) };
        (0..rank)
            .map(|_| match self.below(40) {
                0..4 => 1,
                39 => 0,
                _ => self.within(2, max_size),
            })
            .collect()
    }

    fn mask(&mut self, shape: &[i64]) -> Vec<(i64, i64)> {
        shape.iter().map(|&size| if self.chance(50) { self.range(size) } else { (0, size) }).collect()
    }

    /// A view next to memory, whose strides are of all sorts: row-major, permuted, cancelling, any.
    pub(crate) fn earlier_view(&mut self) -> RawView {
        let (max_rank, max_size) = self.pick(&[(4, 4), (4, 6), (3, 12), (4, 12), (3, 40), (2, 300)]);
        let shape = self.shape(max_rank, max_size);
        let rank = shape.len();
        let mut strides = vec![0; rank];
        let style = self.below(5);
        let mut stride = match style {
            0 | 1 => self.pick(&[1, 2, 3, -1]),
            _ => self.signed(13),
        };
        let mut order: Vec<usize> = (0..rank).rev().collect();
        if style == 1 {
            order = self.permutation(rank);
        }
        // An overflow from axis j to the next changes the address by c_j = stride_{j+1} - size_j stride_j. Where all
        // c_j are multiples of one number, overflows that happen together may cancel.
        let defect = self.signed(8);
        for axis in order {
            strides[axis] = match style {
                3 => self.signed(9),
                4 => self.pick(&[0, 0, 1, 2, -3]),
                _ => stride,
            };
            stride *= shape[axis].max(1);
            if style == 2 {
                stride += defect * self.pick(&[0, 1, -1, 2, -2]);
            }
        }
        if style != 2 {
            strides.iter_mut().for_each(|stride| *stride *= if self.chance(10) { -1 } else { 1 });
        }
        let mask = self.chance(40).then(|| self.mask(&shape));
        self.place(RawView { shape, strides, offset: 0, mask }, None).expect("memory has room for everything")
    }

    /// A view whose valid addresses are positions of the earlier view.
    pub(crate) fn later_view(&mut self, earlier: &RawView) -> RawView {
        let numel = earlier.numel();
        let mut view = if numel > 0 && self.chance(60) { self.any_later(earlier) } else { self.reshaped(numel) };
        // Broadcast axes, the order of the axes and padding are of no consequence, which is just what is tested.
        if self.chance(15) {
            let axis = self.within(0, view.shape.len() as i64) as usize;
            view.shape.insert(axis, self.within(1, 4));
            view.strides.insert(axis, 0);
        }
        if self.chance(30) {
            let order = self.permutation(view.shape.len());
            view.shape = order.iter().map(|&axis| view.shape[axis]).collect();
            view.strides = order.iter().map(|&axis| view.strides[axis]).collect();
        }
        if self.chance(25) {
            let mut mask = self.mask(&view.shape);
            for (range, size) in mask.iter_mut().zip(&mut view.shape) {
                if self.chance(15) {
                    let (before, after) = (self.below(3), self.below(3));
                    *size += before + after;
                    *range = (range.0 + before, range.1 + before);
                }
            }
            view.mask = Some(mask);
        }
        match self.place(view.clone(), Some(numel)) {
            Some(view) => view,
            None => {
                // Only a view that reads nothing fits over one that has nothing.
                let mask = vec![(0, 0); view.shape.len()];
                RawView { mask: Some(mask), ..view }
            }
        }
    }

    /// A row-major view of as many elements, or a part of one, some axes backwards.
    fn reshaped(&mut self, numel: i64) -> RawView {
        let mut view = RawView::contiguous(&self.sizes_of(numel));
        for axis in 0..view.shape.len() {
            if self.chance(15) {
                view.strides[axis] *= -1;
            }
            if view.shape[axis] > 1 && self.chance(15) {
                view.shape[axis] = self.within(1, view.shape[axis] - 1);
            }
        }
        while view.numel() > 1000 {
            let longest = (0..view.shape.len()).max_by_key(|&axis| view.shape[axis]).unwrap_or(0);
            view.shape[longest] = (view.shape[longest] + 1) / 2;
        }
        view
    }

    /// Strides near the places where the earlier view overflows, and as many elements as there is room for.
    fn any_later(&mut self, earlier: &RawView) -> RawView {
        let numel = earlier.numel();
        let products: Vec<i64> = (0..=earlier.shape.len()).map(|axis| earlier.shape[axis..].iter().product()).collect();
        let rank = self.pick(&[2, 1, 2, 3, 3, 4]);
        let (mut room, mut elements) = (numel - 1, 1);
        let longest = self.pick(&[9, 9, 40]);
        let mut view = RawView::new(&[], &[], 0, None);
        for _ in 0..rank {
            let near = self.pick(&products);
            let stride = match self.below(8) {
                0 => near,
                1 => (near / self.within(1, 4)).max(1),
                2 => near * self.within(1, 3),
                3 => (near + self.signed(2)).abs(),
                4 => (near + self.pick(&products)).min(numel),
                5 => self.within(0, 9),
                6 => self.within(1, 1 + room / 4),
                _ => self.within(1, 1 + room / 20),
            };
            let most = if stride == 0 { 4 } else { (room / stride + 1).min(longest).min(1000 / elements) };
            let size = if self.chance(50) { most } else { self.within(most.min(2), most) };
            room -= (size - 1) * stride;
            elements *= size;
            view.shape.push(size);
            view.strides.push(if self.chance(20) { -stride } else { stride });
        }
        view
    }

    /// The view with an offset that puts every address into `0..len`, if there is such an offset.
    fn place(&mut self, view: RawView, len: Option<i64>) -> Option<RawView> {
        if view.is_empty() {
            return Some(RawView { offset: self.signed(9), ..view });
        }
        let (low, high) = view.reach();
        let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
        let room = len.map_or(4, |len| len - 1 - (high - low));
        if room < 0 {
            return None;
        }
        Some(RawView { offset: self.within(0, room) - low, ..view })
    }

    /// Two views of which the second reads the first.
    pub(crate) fn pair(&mut self) -> Vec<RawView> {
        if self.chance(25) {
            return self.accidental_pair();
        }
        let earlier = self.earlier_view();
        let later = self.later_view(&earlier);
        vec![earlier, later]
    }

    /// Two views whose strides are drawn so that every overflow that happens moves the address alike; some of them
    /// changed a little afterwards, so that they just fail to be one view.
    fn accidental_pair(&mut self) -> Vec<RawView> {
        let rank = self.within(2, 4);
        let shape: Vec<i64> = (0..rank).map(|_| self.within(2, 10)).collect();
        let mut earlier = RawView::contiguous(&shape);
        // Few elements, so that few overflows happen and the equations leave some freedom.
        let mut later = RawView::new(&[], &[], 0, None);
        let mut room = earlier.numel() - 1;
        for _ in 0..self.within(1, 3) {
            let stride = self.within(1, 1 + room / 3);
            let size = (room / stride + 1).min(self.within(2, 7));
            room -= (size - 1) * stride;
            later.shape.push(size);
            later.strides.push(if self.chance(20) { -stride } else { stride });
        }
        let later = self.place(later, Some(earlier.numel())).expect("there was room for it");
        let basis = solutions(&conditions(&shape, &later), shape.len());
        earlier.strides = vec![0; shape.len()];
        for solution in basis {
            let times = self.signed(7);
            earlier.strides.iter_mut().zip(solution).for_each(|(stride, part)| *stride += times * part);
        }
        if self.chance(20) {
            let axis = self.below(rank) as usize;
            earlier.strides[axis] += self.pick(&[1, -1]);
        }
        if self.chance(20) {
            earlier.mask = Some(self.mask(&shape));
        }
        let earlier = self.place(earlier, None).expect("memory has room for everything");
        vec![earlier, later]
    }

    /// Two to five views, each of which reads the one before.
    pub(crate) fn stack(&mut self) -> Vec<RawView> {
        let mut stack = self.pair();
        for _ in 0..self.below(4) {
            let next = self.later_view(&stack[stack.len() - 1]);
            if next.numel() <= 2000 {
                stack.push(next);
            }
        }
        stack
    }

    /// A base shape and up to 16 operations that fit it.
    pub(crate) fn chain(&mut self) -> Chain {
        let base = self.shape(4, 6);
        let mut array = Array::contiguous(&base);
        let mut ops = Vec::new();
        for _ in 0..self.within(1, 16) {
            let op = self.operation(&array.shape);
            let next = op.on_array(&array);
            if next.cells.len() <= 600 {
                array = next;
                ops.push(op);
            }
        }
        Chain { base, ops }
    }

    /// An operation that fits a shape.
    pub(crate) fn operation(&mut self, shape: &[i64]) -> Op {
        let rank = shape.len();
        let numel: i64 = shape.iter().product();
        match self.below(20) {
            0..6 => {
                let mut to = self.sizes_of(numel);
                // One size may be left to be inferred, if the others do not leave it open.
                if self.chance(10) && numel > 0 && !to.is_empty() {
                    let axis = self.below(to.len() as i64) as usize;
                    to[axis] = -1;
                }
                Op::Reshape(to)
            }
            6..9 => {
                let axes = self.permutation(rank).into_iter().map(|axis| self.named(axis, rank)).collect();
                Op::Permute(axes)
            }
            9 => {
                let to = shape
                    .iter()
                    .map(|&size| if size == 1 { self.pick(&[1, 2, 3, 0, 4]) } else { self.pick(&[size, -1]) });
                Op::Expand(to.collect())
            }
            10..12 => {
                let pads = shape.iter().map(|_| if self.chance(50) { (self.below(3), self.below(3)) } else { (0, 0) });
                Op::Pad(pads.collect())
            }
            12..14 => {
                let ranges = shape.iter().map(|&size| if self.chance(50) { self.range(size) } else { (0, size) });
                Op::Shrink(ranges.collect())
            }
            14 | 15 => {
                let axes = (0..rank).filter(|_| self.chance(50)).collect::<Vec<_>>();
                Op::Flip(axes.into_iter().map(|axis| self.named(axis, rank)).collect())
            }
            16 => {
                let steps =
                    shape.iter().map(|_| if self.chance(50) { self.pick(&[1, 2, -1, -2, 3, -3, 7]) } else { 1 });
                Op::Step(steps.collect())
            }
            17 => {
                let memory = RawView::contiguous(&[numel]);
                let view = if numel > 0 { self.any_later(&memory) } else { self.reshaped(0) };
                match self.place(view, Some(numel)) {
                    Some(view) => Op::AsStrided(view.shape, view.strides, if numel == 0 { 0 } else { view.offset }),
                    None => Op::Permute((0..rank as i64).collect()),
                }
            }
            18 => {
                let place = self.within(0, rank as i64);
                Op::Unsqueeze(if self.chance(50) { place - rank as i64 - 1 } else { place })
            }
            _ => {
                let ones = (0..rank).filter(|&axis| shape[axis] == 1 && self.chance(80)).collect::<Vec<_>>();
                Op::Squeeze(ones.into_iter().map(|axis| self.named(axis, rank)).collect())
            }
        }
    }

    /// An axis by its number or by how far it is from the end.
    fn named(&mut self, axis: usize, rank: usize) -> i64 {
        axis as i64 - if self.chance(20) { rank as i64 } else { 0 }
    }
}

/// A base shape and operations on it.
#[derive(Clone, Debug)]
pub(crate) struct Chain {
    pub(crate) base: Vec<i64>,
    pub(crate) ops: Vec<Op>,
}

/// An operation, for the oracle and the library alike.
#[derive(Clone, Debug)]
pub(crate) enum Op {
    Reshape(Vec<i64>),
    Permute(Vec<i64>),
    Expand(Vec<i64>),
    Pad(Vec<(i64, i64)>),
    Shrink(Vec<(i64, i64)>),
    Flip(Vec<i64>),
    Step(Vec<i64>),
    AsStrided(Vec<i64>, Vec<i64>, i64),
    Unsqueeze(i64),
    Squeeze(Vec<i64>),
}

impl Op {
    pub(crate) fn on_array(&self, array: &Array) -> Array {
        let rank = array.shape.len();
        let resolve = |axes: &[i64]| axes.iter().map(|&axis| axis.rem_euclid(rank as i64) as usize).collect::<Vec<_>>();
        match self {
            Op::Reshape(shape) => {
                let known: i64 = shape.iter().filter(|size| **size != -1).product();
                let infer = |size: i64| if size == -1 { array.cells.len() as i64 / known } else { size };
                array.reshape(&shape.iter().map(|&size| infer(size)).collect::<Vec<_>>())
            }
            Op::Permute(axes) => array.permute(&resolve(axes)),
            Op::Expand(shape) => {
                let keep = |(&to, &size): (&i64, &i64)| if to == -1 { size } else { to };
                array.expand(&shape.iter().zip(&array.shape).map(keep).collect::<Vec<_>>())
            }
            Op::Pad(pads) => array.pad(pads),
            Op::Shrink(ranges) => array.shrink(ranges),
            Op::Flip(axes) => array.flip(&resolve(axes)),
            Op::Step(steps) => array.step(steps),
            Op::AsStrided(shape, strides, offset) => array.as_strided(shape, strides, *offset),
            Op::Unsqueeze(axis) => {
                let mut shape = array.shape.clone();
                shape.insert(axis.rem_euclid(rank as i64 + 1) as usize, 1);
                array.reshape(&shape)
            }
            Op::Squeeze(axes) => {
                let axes = resolve(axes);
                let kept = (0..rank).filter(|axis| !axes.contains(axis)).map(|axis| array.shape[axis]);
                array.reshape(&kept.collect::<Vec<_>>())
            }
        }
    }

    pub(crate) fn on_tracker(&self, st: &ShapeTracker) -> Result<ShapeTracker, Error> {
        st.apply(&self.movement())
    }

    /// The operation of the library, which has a text.
    pub(crate) fn movement(&self) -> Movement {
        match self {
            Op::Reshape(shape) => Movement::Reshape(shape[..].into()),
            Op::Permute(axes) => Movement::Permute(axes[..].into()),
            Op::Expand(shape) => Movement::Expand(shape[..].into()),
            Op::Pad(pads) => Movement::Pad(pads[..].into()),
            Op::Shrink(ranges) => Movement::Shrink(ranges[..].into()),
            Op::Flip(axes) => Movement::Flip(axes[..].into()),
            Op::Step(steps) => Movement::Step(steps[..].into()),
            Op::AsStrided(shape, strides, offset) => Movement::AsStrided(shape[..].into(), strides[..].into(), *offset),
            Op::Unsqueeze(axis) => Movement::Unsqueeze(*axis),
            Op::Squeeze(axes) => Movement::Squeeze(axes[..].into()),
        }
    }
}
