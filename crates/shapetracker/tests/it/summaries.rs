//! Summaries of blocks, by going through all elements.

use std::cell::Cell;

use shapetracker::{Joined, ShapeTracker};

use crate::oracle::{Array, RawView, evaluate};
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

/// The blocks as the oracle has them: elements, valid ones, lowest and highest address, sum.
fn blocks(case: &Case, array: &Array) -> Vec<(i64, i64, Option<(i64, i64)>, i128)> {
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
    let most = crate::random::held(cases::SUMMARIES);
    assert!(several.get() > most / 4, "{} of {most} cases have several views", several.get());
    assert!(masked.get() > most / 20 && empty.get() > most / 20, "{} and {} of {most}", masked.get(), empty.get());
}
