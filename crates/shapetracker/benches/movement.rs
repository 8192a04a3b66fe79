//! Each movement operation on a tracker of six axes: its time, and how often it allocates (no row: not at all).

use divan::{AllocProfiler, Bencher, black_box};
use shapetracker::{Error, ShapeTracker};

#[global_allocator]
static ALLOC: AllocProfiler = AllocProfiler::system();

fn main() {
    divan::main();
}

/// The tracker that an operation starts from; always of the shape (8, 16, 32, 4, 5, 6).
#[derive(Clone, Copy, Debug)]
enum From {
    Contiguous,
    /// Its axes were permuted.
    Strided,
    /// Its axes were permuted, and one of them padded.
    Masked,
}

const ALL: [From; 3] = [From::Contiguous, From::Strided, From::Masked];

impl From {
    fn tracker(self) -> Result<ShapeTracker, Error> {
        match self {
            From::Contiguous => ShapeTracker::contiguous([8, 16, 32, 4, 5, 6]),
            From::Strided => ShapeTracker::contiguous([5, 6, 8, 16, 32, 4])?.permute([2, 3, 4, 5, 0, 1]),
            From::Masked => ShapeTracker::contiguous([5, 6, 8, 14, 32, 4])?.permute([2, 3, 4, 5, 0, 1])?.pad([
                (0, 0),
                (1, 1),
                (0, 0),
                (0, 0),
                (0, 0),
                (0, 0),
            ]),
        }
    }

    /// Measures an operation that yields the given number of views.
    fn measure(self, bencher: Bencher, views: usize, op: impl Fn(&ShapeTracker) -> Result<ShapeTracker, Error> + Sync) {
        let tracker = self.tracker().expect("the tracker is sound");
        assert_eq!(op(&tracker).expect("the operation fits").views().len(), views);
        bencher.bench(|| drop(black_box(op(black_box(&tracker)))));
    }
}

/// The measure for the others: what it costs to copy the tracker and do nothing.
#[divan::bench(args = ALL)]
fn clone(bencher: Bencher, from: From) {
    from.measure(bencher, 1, |tracker| Ok(tracker.clone()));
}

#[divan::bench(args = ALL)]
fn permute(bencher: Bencher, from: From) {
    from.measure(bencher, 1, |tracker| tracker.permute(black_box([5, 0, 4, 1, 3, 2])));
}

/// One axis split, two joined.
#[divan::bench(args = ALL)]
fn reshape(bencher: Bencher, from: From) {
    from.measure(bencher, 1, |tracker| tracker.reshape(black_box([2, 4, 16, 128, 5, 6])));
}

/// Axes joined that no stride can join: the tracker grows by a view.
#[divan::bench(args = [From::Strided, From::Masked])]
fn reshape_adding_a_view(bencher: Bencher, from: From) {
    from.measure(bencher, 2, |tracker| tracker.reshape(black_box([8, 16, 32, 20, 3, 2])));
}

#[divan::bench(args = ALL)]
fn expand(bencher: Bencher, from: From) {
    let tracker = from.tracker().and_then(|t| t.shrink([(0, 8), (5, 6), (0, 32), (0, 4), (2, 3), (0, 6)]));
    let tracker = tracker.expect("the tracker is sound");
    bencher.bench(|| drop(black_box(black_box(&tracker).expand(black_box([8, 16, 32, 4, 5, 6])))));
}

#[divan::bench(args = ALL)]
fn pad(bencher: Bencher, from: From) {
    from.measure(bencher, 1, |tracker| tracker.pad(black_box([(1, 1), (0, 3), (2, 0), (0, 0), (1, 1), (5, 5)])));
}

#[divan::bench(args = ALL)]
fn shrink(bencher: Bencher, from: From) {
    from.measure(bencher, 1, |tracker| tracker.shrink(black_box([(1, 7), (0, 16), (8, 24), (0, 4), (2, 5), (0, 5)])));
}

#[divan::bench(args = ALL)]
fn flip(bencher: Bencher, from: From) {
    from.measure(bencher, 1, |tracker| tracker.flip(black_box([0, 1, 4])));
}

#[divan::bench(args = ALL)]
fn step(bencher: Bencher, from: From) {
    from.measure(bencher, 1, |tracker| tracker.step(black_box([2, 1, 3, -1, 1, -2])));
}
