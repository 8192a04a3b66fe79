//! Which of two ways to store a large tensor is the faster one, found out by each copy about itself.
//!
//! That depends on what cannot be asked for: how long a processor holds a line that it stores past its caches, how many pages
//! it knows at a time, how much of the memory's bandwidth others use just now. The pieces of a large copy are alike, so the
//! first ones are moved both ways in turn and timed, and the rest the faster way. One of sixteen pieces is moved the other way
//! for that: where it takes half as long again, the trial takes a thirtieth of the copy's time.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use crate::kernels::Tuning;
use crate::mover::{Inner, Mover};
use crate::run::{Run, STREAM};

/// Into how many pieces a copy is cut, at least, if it can be.
pub(crate) const PIECES: usize = if cfg!(miri) { 8 } else { 64 };

/// One of so many pieces is moved each way before one is chosen.
const ONE_OF: usize = if cfg!(miri) { 2 } else { 16 };

/// The other way must take at most so much of the time of the usual one. An ordinary store leaves to later that its line must
/// be written back, so that a piece takes less than its share of the whole.
const LESS: f64 = 0.9;

/// A copy that is about to find out.
pub(crate) struct Trial {
    /// The usual way, and the other one.
    ways: [Tuning; 2],
    /// How many pieces are moved each way at first. The least time of them counts: others may disturb any of them.
    tries: usize,
    next: AtomicUsize,
    /// The least picoseconds that a byte has taken each way.
    least: [AtomicU64; 2],
}

impl Trial {
    /// A trial for a copy of so many bytes in so many pieces, where they are enough and there is another way.
    pub(crate) fn new(mover: &Mover, run: &Run, bytes: usize, pieces: impl FnOnce() -> usize) -> Option<Trial> {
        let usual = run.tuning();
        // Nobody tells the time there.
        let has_clock = !cfg!(all(target_family = "wasm", target_os = "unknown"));
        if bytes <= STREAM || !usual.tries || !run.streams(mover) || !has_clock {
            return None;
        }
        let tries = pieces().min(PIECES) / ONE_OF;
        if tries == 0 {
            return None;
        }
        let other = match &mover.inner {
            Inner::Tiles(tiles) if tiles.turned && !tiles.packed => usual.with_other_columns(),
            _ => Tuning { stream: false, ..usual },
        };
        let least = [AtomicU64::new(u64::MAX), AtomicU64::new(u64::MAX)];
        Some(Trial { ways: [usual, other], tries, next: AtomicUsize::new(0), least })
    }

    /// Moves a piece one of the ways; `moves` returns how many bytes it was, or any other measure that all pieces share.
    pub(crate) fn piece(&self, run: &Run, moves: impl FnOnce(&Run) -> usize) {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let is_tried = number < 2 * self.tries;
        let way = if is_tried { number % 2 } else { self.faster() };
        let run = run.tuned(self.ways[way]);
        if !is_tried {
            moves(&run);
            return;
        }
        let start = Instant::now();
        let bytes = moves(&run);
        if bytes > 0 {
            let each = (start.elapsed().as_nanos() as u64).saturating_mul(1000) / bytes as u64;
            self.least[way].fetch_min(each, Ordering::Relaxed);
        }
    }

    /// Which way has been the faster one so far.
    fn faster(&self) -> usize {
        let [usual, other] = [0, 1].map(|way| self.least[way].load(Ordering::Relaxed));
        usize::from((other as f64) < LESS * usual as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::mover::Axis;

    /// Calls with a trial for a box that fills a large output, if it has one.
    fn with_trial(unit: usize, axes: &[Axis], bytes: usize, check: impl FnOnce(Option<Trial>, &Run)) {
        let mut output = vec![std::mem::MaybeUninit::uninit(); STREAM + 1];
        let run = Run::new(&[], &mut output, None, false, Tuning::default());
        check(Trial::new(&Mover::new(unit, axes), &run, bytes, || PIECES), &run);
    }

    #[test]
    fn large_copies_have_another_way() {
        let turned = [Axis::new(4096, 4, 16384), Axis::new(4096, 16384, 4)];
        let every_other = [Axis::new(4096, 32768, 16384), Axis::new(4096, 8, 4)];
        let usual = Tuning::default();
        let ways = |trial: Option<Trial>| trial.expect("a trial").ways;
        with_trial(4, &turned, STREAM + 1, |trial, _| assert_eq!(ways(trial), [usual, usual.with_other_columns()]));
        with_trial(4, &every_other, STREAM + 1, |trial, _| {
            assert_eq!(ways(trial), [usual, Tuning { stream: false, ..usual }]);
        });
        with_trial(4, &every_other, STREAM, |trial, _| assert!(trial.is_none()));
    }

    /// The first pieces take turns; the others go the way that has been the faster one.
    #[test]
    fn pieces_take_turns() {
        let every_other = [Axis::new(4096, 32768, 16384), Axis::new(4096, 8, 4)];
        with_trial(4, &every_other, STREAM + 1, |trial, run| {
            let trial = trial.expect("a trial");
            for number in 0..PIECES {
                // Whatever the clock said of the others.
                if number == 2 * trial.tries {
                    trial.least[0].store(100, Ordering::Relaxed);
                    trial.least[1].store(50, Ordering::Relaxed);
                }
                let expected = if number < 2 * trial.tries { number % 2 } else { 1 };
                trial.piece(run, |run| {
                    assert_eq!(run.tuning(), trial.ways[expected], "piece {number}");
                    1
                });
            }
        });
    }

    fn faster(usual: u64, other: u64) -> usize {
        let ways = [Tuning::default(); 2];
        Trial { ways, tries: 1, next: AtomicUsize::new(0), least: [AtomicU64::new(usual), AtomicU64::new(other)] }
            .faster()
    }

    #[test]
    fn the_usual_way_is_left_for_one_that_is_clearly_faster() {
        assert_eq!(faster(100, 80), 1);
        assert_eq!(faster(100, 95), 0);
        assert_eq!(faster(100, u64::MAX), 0);
        // No piece was moved either way.
        assert_eq!(faster(u64::MAX, u64::MAX), 0);
    }
}
