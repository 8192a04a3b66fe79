//! Chains of movement operations and composition of trackers, against the oracle.

use std::cell::Cell;

use shapetracker::ShapeTracker;

use crate::oracle::Array;
use crate::pairs::{fewest, same_addresses};
use crate::random::{Chain, cases, check};

#[test]
pub(crate) fn every_operation_of_a_chain_moves_what_it_should() {
    let views = Cell::new([0u32; 5]);
    check(
        cases::CHAINS,
        |tape| tape.chain(),
        |chain| {
            let mut array = Array::contiguous(&chain.base);
            let mut st = ShapeTracker::contiguous(&chain.base).map_err(|error| error.to_string())?;
            for (number, op) in chain.ops.iter().enumerate() {
                array = op.on_array(&array);
                st = op.on_tracker(&st).map_err(|error| format!("operation {number}, {op:?}: {error}"))?;
                let found = same_addresses(&st, &array).and_then(|()| fewest(&st, &array));
                found.map_err(|why| format!("after operation {number}, {op:?}: {why}"))?;
            }
            let mut counts = views.get();
            counts[st.views().len().min(4)] += 1;
            views.set(counts);
            Ok(())
        },
    );
    let counts = views.get();
    println!("chains that end in 1, 2, 3, more views: {:?}", &counts[1..]);
    assert!(counts[2..].iter().sum::<u32>() > counts[1] / 20, "chains of more than one view are common");
}

#[test]
pub(crate) fn composing_two_trackers_reads_the_one_through_the_other() {
    let run = |chain: &Chain| -> Result<(ShapeTracker, Array), String> {
        let mut array = Array::contiguous(&chain.base);
        let mut st = ShapeTracker::contiguous(&chain.base).map_err(|error| error.to_string())?;
        for op in &chain.ops {
            array = op.on_array(&array);
            st = op.on_tracker(&st).map_err(|error| error.to_string())?;
        }
        Ok((st, array))
    };
    check(
        cases::COMPOSITIONS,
        |tape| {
            let under = tape.chain();
            let end = under.ops.iter().fold(Array::contiguous(&under.base), |array, op| op.on_array(&array));
            let mut over = Chain { base: tape.sizes_of(end.cells.len() as i64), ops: Vec::new() };
            let mut array = Array::contiguous(&over.base);
            for _ in 0..5 {
                let op = tape.operation(&array.shape);
                let next = op.on_array(&array);
                if next.cells.len() <= 600 {
                    array = next;
                    over.ops.push(op);
                }
            }
            (under, over)
        },
        |(under, over)| {
            let ((under, base), (over, array)) = (run(under)?, run(over)?);
            let both = under.compose(&over).map_err(|error| error.to_string())?;
            let array = array.over(&base);
            same_addresses(&both, &array).and_then(|()| fewest(&both, &array))
        },
    );
}
