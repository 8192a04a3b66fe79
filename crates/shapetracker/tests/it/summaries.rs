//! Summaries of blocks, by going through all elements.

use std::cell::Cell;

use shapetracker::{Joined, ShapeTracker};

use crate::oracle::{Array, RawView, evaluate, look_up};
use crate::random::{Tape, cases, check};

/// Some axes joined and cut, as the request says it.
#[derive(Clone, Debug)]
struct Cut {
    axes: Vec<usize>,
    edges: Vec<i64>,
}

impl Cut {
    fn joined(&self) -> Joined {
        Joined::new(&self.axes[..], &self.edges[..])
    }

    /// The block in which an index lies, if it does in any.
    fn blocks(&self, shape: &[i64], index: &[i64]) -> impl Iterator<Item = usize> {
        let entry = self.axes.iter().fold(0, |entry, &axis| entry * shape[axis] + index[axis]);
        let pairs: Vec<(i64, i64)> = self.edges.iter().copied().zip(self.edges.iter().copied().skip(1)).collect();
        (0..pairs.len()).filter(move |&block| (pairs[block].0..pairs[block].1).contains(&entry))
    }
}

#[derive(Clone, Debug)]
struct Case {
    stack: Vec<RawView>,
    lowest: usize,
    rows: Cut,
    columns: Cut,
    fixed: Vec<i64>,
}

fn case(tape: &mut Tape) -> Case {
    let stack = tape.stack();
    let shape = &stack[stack.len() - 1].shape;
    let order = tape.permutation(shape.len());
    let first = tape.within(0, order.len() as i64) as usize;
    let second = tape.within(first as i64, order.len() as i64) as usize;
    let mut cut = |axes: &[usize]| {
        let size: i64 = axes.iter().map(|axis| shape[*axis]).product();
        let mut edges: Vec<i64> = (0..tape.within(2, 6)).map(|_| tape.within(-1, size + 1)).collect();
        if tape.chance(95) {
            edges.sort_unstable();
        }
        Cut { axes: axes.to_vec(), edges }
    };
    let (rows, columns) = (cut(&order[..first]), cut(&order[first..second]));
    let fixed = shape.iter().map(|&size| tape.below(size.max(1))).collect();
    let lowest = if tape.chance(20) { tape.below(stack.len() as i64) as usize } else { 0 };
    Case { stack, lowest, rows, columns, fixed }
}

/// The elements of a block, those that are valid, the lowest and the highest address, and the sum of all of them.
type Summed = (i64, i64, Option<(i64, i64)>, i128);

/// The blocks as the oracle has them: elements, valid ones, lowest and highest address, sum.
fn blocks(case: &Case, array: &Array) -> Vec<Summed> {
    let across = case.columns.edges.len() - 1;
    let mut blocks = vec![(0, 0, None::<(i64, i64)>, 0); (case.rows.edges.len() - 1) * across];
    array.for_each_index(|index, address| {
        let is_free = |axis: &usize| case.rows.axes.contains(axis) || case.columns.axes.contains(axis);
        if (0..index.len()).any(|axis| !is_free(&axis) && index[axis] != case.fixed[axis]) {
            return;
        }
        for row in case.rows.blocks(&array.shape, index) {
            for column in case.columns.blocks(&array.shape, index) {
                let block = &mut blocks[row * across + column];
                block.0 += 1;
                if let Some(address) = address {
                    block.1 += 1;
                    let (low, high) = block.2.unwrap_or((address, address));
                    block.2 = Some((low.min(address), high.max(address)));
                    block.3 += i128::from(address);
                }
            }
        }
    });
    blocks
}

#[test]
fn blocks_are_what_their_elements_are() {
    let (several, masked, empty) = (Cell::new(0), Cell::new(0), Cell::new(0));
    check(cases::SUMMARIES, case, |case| {
        let st = ShapeTracker::from_views(case.stack.iter().map(RawView::view)).map_err(|error| error.to_string())?;
        let views: Vec<RawView> = st.views().iter().map(RawView::from).collect();
        let lowest = case.lowest.min(views.len() - 1);
        several.set(several.get() + u32::from(views.len() - lowest > 1));
        let found = st.summaries(case.lowest, &case.rows.joined(), &case.columns.joined(), &case.fixed);
        let found = found.map_err(|error| error.to_string())?;
        let found: Vec<_> =
            found.iter().map(|block| (block.elements(), block.valid(), block.range(), block.sum())).collect();
        let expected = blocks(case, &evaluate(&views[lowest..]));
        masked.set(masked.get() + u32::from(expected.iter().any(|block| 0 < block.1 && block.1 < block.0)));
        empty.set(empty.get() + u32::from(expected.iter().any(|block| block.0 == 0)));
        if found == expected { Ok(()) } else { Err(format!("found {found:?}\nnot {expected:?}\nof {st:?}")) }
    });
    let most = shapetracker_testing::held(cases::SUMMARIES);
    assert!(several.get() > most / 4, "{} of {most} cases have several views", several.get());
    assert!(masked.get() > most / 20 && empty.get() > most / 20, "{} and {} of {most}", masked.get(), empty.get());
}

/// A large tensor of one view or several.
fn large(tape: &mut Tape) -> ShapeTracker {
    let sizes = [1000, 1024, 720, 1001, 999, 360, 4096, 97, 50, 7, 3];
    let base: Vec<i64> = (0..tape.within(2, 3)).map(|_| tape.pick(&sizes)).collect();
    let mut st = ShapeTracker::contiguous(base).unwrap();
    for _ in 0..tape.within(1, 5) {
        let rank = st.rank();
        let next = match tape.below(8) {
            0..3 => st.permute(tape.permutation(rank).into_iter().map(|axis| axis as i64).collect::<Vec<_>>()),
            3..6 => st.reshape(tape.sizes_of(st.numel())),
            6 => st.pad((0..rank).map(|_| (tape.below(3), tape.below(3))).collect::<Vec<_>>()),
            _ => st.flip([tape.below(rank as i64)]),
        };
        let next = next.unwrap();
        // What is left of a size after padding may have large factors, which are slow to find.
        if next.rank() > 0 && next.views().len() < 5 {
            st = next;
        }
    }
    st
}

/// The whole as some blocks, then a part of one of them as some blocks, down to elements; each time the blocks together are
/// what they were as one, and those of few elements are what their elements are.
#[test]
fn blocks_of_large_tensors_add_up_to_the_whole_and_are_their_elements() {
    let [several, looked, undecided] = [0u32; 3].map(Cell::new);
    let case = |tape: &mut Tape| {
        let st = large(tape);
        let across = tape.within(0, st.rank() as i64) as usize;
        let cuts: Vec<[i64; 2]> = (0..40).map(|_| [tape.within(0, 1000), tape.within(0, 1000)]).collect();
        (st, across, cuts)
    };
    check(cases::LARGE_SUMMARIES, case, |(st, across, cuts)| {
        let views: Vec<RawView> = st.views().iter().map(RawView::from).collect();
        several.set(several.get() + u32::from(views.len() > 1));
        let axes: [Vec<usize>; 2] = [(0..*across).collect(), (*across..st.rank()).collect()];
        let size = |axes: &[usize]| axes.iter().map(|axis| st.shape()[*axis]).product::<i64>();
        let mut ends = [(0, size(&axes[0])), (0, size(&axes[1]))];
        let fixed = vec![0; st.rank()];
        let ask = |edges: [Vec<i64>; 2]| {
            let [rows, columns] = [0, 1].map(|side| Joined::new(&axes[side][..], &edges[side][..]));
            st.summaries(0, &rows, &columns, &fixed)
        };
        for cut in cuts {
            let Ok(whole) = ask(ends.map(|(begin, end)| vec![begin, end])) else {
                undecided.set(undecided.get() + 1);
                return Ok(());
            };
            let middle = [0, 1].map(|side| {
                let (begin, end) = ends[side];
                begin + (i128::from(end - begin) * i128::from(cut[side]) / 1000) as i64
            });
            let edges = [0, 1].map(|side| vec![ends[side].0, middle[side], ends[side].1]);
            let Ok(parts) = ask(edges) else {
                undecided.set(undecided.get() + 1);
                return Ok(());
            };
            let together = |ends: [Option<i64>; 2]| (ends[0], ends[1]);
            let least = parts.iter().filter_map(|part| part.range()).map(|range| range.0).min();
            let greatest = parts.iter().filter_map(|part| part.range()).map(|range| range.1).max();
            let sum = (
                parts.iter().map(|part| part.elements()).sum::<i64>(),
                parts.iter().map(|part| part.valid()).sum::<i64>(),
                parts.iter().map(|part| part.sum()).sum::<i128>(),
                together([least, greatest]),
            );
            let range = whole[0].range();
            let one = (
                whole[0].elements(),
                whole[0].valid(),
                whole[0].sum(),
                together([range.map(|r| r.0), range.map(|r| r.1)]),
            );
            if sum != one {
                return Err(format!("{ends:?} cut at {middle:?}: {sum:?}, and together {one:?}"));
            }
            if one.0 <= 300 {
                looked.set(looked.get() + 1);
                let (mut valid, mut total) = (Vec::new(), 0);
                for row in ends[0].0..ends[0].1 {
                    for column in ends[1].0..ends[1].1 {
                        let mut index = vec![0; st.rank()];
                        for (mut entry, axes) in [(row, &axes[0]), (column, &axes[1])] {
                            for axis in axes.iter().rev() {
                                index[*axis] = entry % st.shape()[*axis];
                                entry /= st.shape()[*axis];
                            }
                        }
                        total += 1;
                        valid.extend(look_up(&views, &index));
                    }
                }
                let range = valid.iter().min().copied().zip(valid.iter().max().copied());
                let found = (total, valid.len() as i64, valid.iter().sum::<i128>(), range);
                let range = whole[0].range().map(|(low, high)| (i128::from(low), i128::from(high)));
                if found != (one.0, one.1, one.2, range) {
                    return Err(format!("{ends:?} is {found:?}, not {one:?}"));
                }
                return Ok(());
            }
            // Into the part that leaves more to cut.
            for side in 0..2 {
                let (begin, end) = ends[side];
                let second = (cut[side] % 2 == 0) != (middle[side] == begin);
                ends[side] = if middle[side] == begin || middle[side] == end {
                    (begin, begin + (end - begin + 1) / 2)
                } else if second {
                    (middle[side], end)
                } else {
                    (begin, middle[side])
                };
            }
        }
        Ok(())
    });
    let most = shapetracker_testing::held(cases::LARGE_SUMMARIES);
    println!("{} stacks, {} looked at, {} undecided of {most}", several.get(), looked.get(), undecided.get());
    assert!(several.get() > most / 4 && looked.get() > most / 2 && undecided.get() < most / 50);
}
