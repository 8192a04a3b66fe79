//! Random layouts, moved in random ways.

use std::cell::Cell;

use crate::naive::{How, Tensor, WIDTHS, check_read, check_write};
use crate::oracle::{Array, RawView};
use crate::random::{Chain, Tape, check};

/// How many cases each property draws in a default run.
mod cases {
    pub(crate) const CHAINS: u32 = 6_000;
    pub(crate) const STACKS: u32 = 6_000;
    pub(crate) const LARGE_VIEWS: u32 = 1_200;
    pub(crate) const LARGE_CHAINS: u32 = 500;
}

/// A way to move, drawn with the layout.
fn how(tape: &mut Tape) -> How {
    // Half of the cases have a width that processors know.
    let width = if tape.chance(50) { tape.pick(&WIDTHS) } else { tape.pick(&WIDTHS[..5]) };
    How::drawn(width, tape.below(1 << 20) as u64)
}

/// Holds drawn layouts to the naive loop in both directions, and counts those that can be written through.
fn check_both<C: std::fmt::Debug>(
    cases: u32,
    generate: impl Fn(&mut Tape) -> C,
    tensor: impl Fn(&C) -> Result<Tensor, String>,
) {
    let (all, injective, several) = (Cell::new(0u32), Cell::new(0u32), Cell::new(0u32));
    let count = |cell: &Cell<u32>, yes: bool| cell.set(cell.get() + u32::from(yes));
    check(
        cases,
        |tape| (how(tape), generate(tape)),
        |(how, case)| {
            let tensor = tensor(case)?;
            count(&all, true);
            count(&injective, tensor.is_injective());
            count(&several, tensor.tracker.views().len() > 1);
            check_read(&tensor, *how)?;
            check_write(&tensor, *how)
        },
    );
    println!("{all:?} layouts, {injective:?} of them injective, {several:?} of several views");
    assert!(injective.get() >= all.get() / 8, "layouts that can be written through are common");
}

fn run(chain: &Chain) -> Result<Tensor, String> {
    Tensor::of_ops(&chain.base, &chain.ops)
}

#[test]
fn chains() {
    check_both(cases::CHAINS, |tape| tape.chain(), run);
}

#[test]
fn stacks() {
    check_both(cases::STACKS, |tape| tape.stack(), |stack| Tensor::of_views(stack));
}

/// One view with the sizes and strides of a part of a permuted tensor, some axes backwards, repeated or masked.
fn large_view(tape: &mut Tape) -> RawView {
    const SIZES: [i64; 20] = [4, 2, 3, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 48, 63, 64, 65, 100, 257];
    let rank = tape.within(1, 5) as usize;
    let mut view = RawView::new(&vec![1; rank], &vec![0; rank], 0, None);
    let mut elements = 1;
    for axis in tape.permutation(rank) {
        let size = tape.pick(&SIZES).min(60_000 / elements).max(1);
        view.shape[axis] = size;
        elements *= size;
    }
    let mut stride = tape.pick(&[1, 1, 1, 2, 3, 5]);
    for axis in tape.permutation(rank) {
        view.strides[axis] = match tape.below(20) {
            0 => 0,
            1..4 => -stride,
            _ => stride,
        };
        let gap = if tape.chance(20) { tape.below(4) } else { 0 };
        stride *= view.shape[axis] + gap;
    }
    if tape.chance(30) {
        let range = |&size: &i64| if tape.chance(60) { tape.range(size) } else { (0, size) };
        view.mask = Some(view.shape.iter().map(range).collect());
    }
    if !view.is_empty() {
        view.offset = tape.below(4) - view.reach().0 as i64;
    }
    view
}

#[test]
fn large_views() {
    check_both(cases::LARGE_VIEWS, large_view, |view| Tensor::of_views(std::slice::from_ref(view)));
}

/// A few operations on more elements than caches, blocks and threads take in one piece.
fn large_chain(tape: &mut Tape) -> Chain {
    let numel = tape.pick(&[1 << 12, 10_080, 3 << 12, 5040 * 7, 30_030, 1 << 15, 7 * 9 * 11 * 13 * 4, 55_440]);
    let base = tape.sizes_of(numel);
    let mut array = Array::contiguous(&base);
    let mut ops = Vec::new();
    for _ in 0..tape.within(1, 6) {
        let op = tape.operation(&array.shape);
        let next = op.on_array(&array);
        if next.cells.len() <= 150_000 {
            array = next;
            ops.push(op);
        }
    }
    Chain { base, ops }
}

#[test]
fn large_chains() {
    check_both(cases::LARGE_CHAINS, large_chain, run);
}
