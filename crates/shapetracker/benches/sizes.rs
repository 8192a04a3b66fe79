//! Families of pairs from 10 to 10^9 elements an axis: the cost of a decision does not grow with the sizes.

use divan::{Bencher, black_box};
use shapetracker::{View, merge};

fn main() {
    divan::main();
}

const SIZES: [i64; 6] = [10, 100, 1_000, 100_000, 10_000_000, 1_000_000_000];

/// A padded transposed matrix whose outer axis is split: one view.
#[divan::bench(args = SIZES)]
fn padded_transposed_split(bencher: Bencher, n: i64) {
    let earlier = View::new([2 * n, n + 2], [1, 2 * n], -2 * n, Some(&[(0, 2 * n), (1, n + 1)]));
    measure(bencher, earlier, View::contiguous([2, n, n + 2]), true);
}

/// A triangular mask, made the way models make it: the valid indices are no box.
#[divan::bench(args = SIZES)]
fn triangular_mask(bencher: Bencher, n: i64) {
    let earlier = View::new([n, 2 * n - 1], [0, 0], 0, Some(&[(0, n), (n - 1, 2 * n - 1)]));
    measure(bencher, earlier, View::new([n, n], [2 * n, 1], 0, None), false);
}

/// Two coprime strides into a valid range: an equation of three terms that do not join.
#[divan::bench(args = SIZES)]
fn coprime_strides(bencher: Bencher, n: i64) {
    let len = 2 * n * n;
    let earlier = View::new([len], [0], 0, Some(&[(n * n - 2, n * n + 2)]));
    measure(bencher, earlier, View::new([n, n], [n + 1, n - 2], 0, None), false);
}

/// Carries over two boundaries that cancel each other: one view, which patterns of carries prove.
#[divan::bench(args = SIZES)]
fn carries_that_cancel(bencher: Bencher, n: i64) {
    let earlier = View::new([10, 9, 4 * n], [88 + 52 * n, 11, 13], 0, None);
    measure(bencher, earlier, View::new([6, n], [9 * n, 1], 0, None), true);
}

/// Measures the decision about a pair, which is known.
fn measure(
    bencher: Bencher,
    earlier: Result<View, shapetracker::Error>,
    later: Result<View, shapetracker::Error>,
    mergeable: bool,
) {
    let (earlier, later) = (earlier.expect("the view is sound"), later.expect("the view is sound"));
    assert_eq!(merge(&earlier, &later).is_ok(), mergeable);
    bencher.bench(|| merge(black_box(&earlier), black_box(&later)));
}
