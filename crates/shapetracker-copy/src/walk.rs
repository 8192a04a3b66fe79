//! A tensor without loops of its own: its elements in row-major order, as the library lists their addresses.
//!
//! What the planner finds no cheaper loops for is moved like this: runs of equally spaced addresses, each moved by itself.
//! Nothing here relies on what the library lists. A part of a walk moves to the elements that it is given, one after the
//! other, and panics if there are fewer or a run lies outside of a slice.

use std::ops::Range;

use shapetracker::{AddressRun, ShapeTracker, View};

use crate::Threads;
use crate::kernels::{Move, Stream};
use crate::mover::Axis;
use crate::nest::Direction;
use crate::run::{Run, chunk_of};

/// All elements of a tensor in row-major order, without any loops planned.
#[derive(Clone, Debug)]
pub(crate) struct Walk {
    pub(crate) direction: Direction,
    /// Bytes per element.
    pub(crate) width: usize,
    pub(crate) tracker: ShapeTracker,
}

/// An estimate of what it takes to find the address of every element by itself: a step to split its position into an index,
/// and one for each digit of an address on its way through the views, which ends where it is masked. A step takes a few
/// nanoseconds.
pub(crate) fn steps(tracker: &ShapeTracker) -> f64 {
    let Some((last, under)) = tracker.views().split_last() else { return 0.0 };
    let valid = last.mask().map(|mask| mask.iter().map(|(begin, end)| (end - begin) as f64).product());
    let numel = tracker.numel() as f64;
    numel * (2.0 + digits(last)) + valid.unwrap_or(numel) * under.iter().map(digits).sum::<f64>()
}

fn digits(view: &View) -> f64 {
    view.shape().iter().filter(|size| **size > 1).count() as f64
}

/// An estimate of what walking over a tensor takes, in nanoseconds: so much for each run, by the number of digits of an
/// address, and for each element. How long runs are tell a few of them, from places all over the tensor.
pub(crate) fn cost(tracker: &ShapeTracker) -> f64 {
    const PLACES: i64 = 16;
    const RUNS: usize = 8;
    let numel = tracker.numel();
    let place = |at: i64| (i128::from(numel) * i128::from(at) / i128::from(PLACES)) as i64;
    let (mut runs, mut elements) = (0.0, 0.0);
    for at in 0..PLACES {
        for run in tracker.runs_from(place(at)).take(RUNS) {
            runs += 1.0;
            elements += run.count() as f64;
        }
    }
    let each = 30.0 + 3.0 * tracker.views().iter().map(digits).sum::<f64>();
    numel as f64 * (1.5 + each * runs / f64::max(elements, 1.0))
}

/// The lowest and the highest address that an element of a tracker has, by walking over all of them.
pub(crate) fn addresses(tracker: &ShapeTracker) -> Option<(i64, i64)> {
    let ends = tracker.runs().filter_map(|run| match run {
        AddressRun::Valid { first, step, count } => {
            let last = first + step * (count - 1);
            Some((first.min(last), first.max(last)))
        }
        AddressRun::Masked { .. } => None,
    });
    ends.reduce(|(low, high), (first, last)| (low.min(first), high.max(last)))
}

impl Walk {
    /// Moves a tensor of so many elements.
    ///
    /// # Safety
    /// Nobody else uses the output meanwhile.
    ///
    /// # Panics
    /// If the runs have fewer elements, or one does not lie inside the slices.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn run(&self, run: &Run, numel: usize, threads: &Threads) {
        // Of the two sides it is the contiguous tensor of which different elements lie at different places.
        if self.direction == Direction::Write || !threads.are_worth(|| cost(&self.tracker)) {
            return self.part(run, 0..numel);
        }
        let chunks = threads.chunks(numel);
        threads.share(chunks, |at| self.part(run, chunk_of(numel, at, chunks)));
    }

    /// Some elements, by their places in the tensor.
    fn part(&self, run: &Run, places: Range<usize>) {
        let (mut at, end) = (places.start as i64, places.end as i64);
        let mut runs = self.tracker.runs_from(at);
        while at < end {
            let listed = runs.next().expect("a walk leaves out a part of the tensor");
            let count = listed.count().min(end - at);
            assert!(count > 0, "a run has no elements");
            self.move_run(run, at, count, listed);
            at += count;
        }
    }

    /// So many elements from a place on, which are the first ones of a run.
    #[inline]
    fn move_run(&self, run: &Run, place: i64, count: i64, listed: AddressRun) {
        // What is past the range of positions is past every slice.
        let bytes = |elements: i64| (elements as isize).checked_mul(self.width as isize);
        let bytes = |elements: i64| bytes(elements).expect("a run lies outside its buffer");
        let (first, step, data) = match listed {
            AddressRun::Valid { first, step, .. } => (bytes(first), if count > 1 { bytes(step) } else { 0 }, true),
            AddressRun::Masked { .. } => (0, 0, false),
        };
        let (tensor, width) = (bytes(place), self.width as isize);
        let (from, to, along) = match self.direction {
            Direction::Read => (first, tensor, Axis::new(count as usize, step, width)),
            Direction::Write => (tensor, first, Axis::new(count as usize, width, step)),
        };
        let moved = Move { stream: Stream::default(), ..run.moved(self.width, from, to, &[]) };
        // SAFETY: reading, this writes to the elements from `place` on, `count` of them, which lie in the part of one thread;
        // writing, this thread is the only one.
        #[allow(unsafe_code)]
        unsafe {
            moved.along(self.width, &along, 0..along.count, data);
        }
    }
}
