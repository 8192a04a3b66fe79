//! Merging two views and reducing stacks of more, against the oracle.

use std::cell::Cell;

use shapetracker::{ShapeTracker, Unmerged, View, Witness, merge};

use crate::oracle::{Array, RawView, check_witness, evaluate, look_up};
use crate::random::{cases, check};

/// Holds a decision about a stack against all of its addresses.
pub(crate) fn judge(outcome: &Result<View, Unmerged>, array: &Array) -> Result<(), String> {
    match (outcome, array.single_view()) {
        (Ok(view), Some(expected)) if expected == *view => Ok(()),
        (Ok(view), Some(expected)) => Err(format!("merged into {view:?}, and should be {expected:?}")),
        (Ok(view), None) => Err(format!("merged into {view:?}, and is not one view")),
        (Err(Unmerged::Witness(witness)), None) => {
            check_witness(witness, &array.shape, |index| array.at(index).map(i128::from))
                .map_err(|why| format!("{witness:?} is no witness: {why}"))
        }
        (Err(unmerged), expected) => Err(format!("refused with {unmerged:?}, and is {expected:?}")),
    }
}

/// How many of the cases were of the sorts that matter.
#[derive(Default)]
struct Tally {
    cases: Cell<u32>,
    merged: Cell<u32>,
    merged_masked: Cell<u32>,
    merged_empty: Cell<u32>,
    cancelled: Cell<u32>,
    uneven: Cell<u32>,
    not_a_box: Cell<u32>,
}

fn count(cell: &Cell<u32>) {
    cell.set(cell.get() + 1);
}

#[test]
pub(crate) fn pairs_merge_exactly_when_they_are_one_view() {
    let tally = Tally::default();
    check(
        cases::PAIRS,
        |tape| tape.pair(),
        |stack| {
            let outcome = merge(&stack[0].view(), &stack[1].view());
            let array = evaluate(stack);
            judge(&outcome, &array)?;
            count(&tally.cases);
            match outcome {
                Ok(view) => {
                    count(&tally.merged);
                    if view.is_empty() {
                        count(&tally.merged_empty);
                    } else if view.mask().is_some() {
                        count(&tally.merged_masked);
                    }
                    if overflows_cancel(stack, &array) {
                        count(&tally.cancelled);
                    }
                }
                Err(Unmerged::Witness(Witness::UnevenStep { .. })) => count(&tally.uneven),
                Err(_) => count(&tally.not_a_box),
            }
            Ok(())
        },
    );
    let share = |cell: &Cell<u32>| f64::from(cell.get()) / f64::from(tally.cases.get());
    println!(
        "{} pairs: {:.1}% merge ({:.1}% masked, {:.1}% empty, {:.2}% by overflows that cancel), {:.1}% have uneven steps, {:.1}% are no box",
        tally.cases.get(),
        100.0 * share(&tally.merged),
        100.0 * share(&tally.merged_masked),
        100.0 * share(&tally.merged_empty),
        100.0 * share(&tally.cancelled),
        100.0 * share(&tally.uneven),
        100.0 * share(&tally.not_a_box),
    );
    assert!((0.3..0.8).contains(&share(&tally.merged)), "both answers are common");
    assert!(share(&tally.merged_masked) > 0.03, "masked pairs that merge are common");
    assert!(share(&tally.cancelled) > 0.002, "overflows that cancel happen");
    assert!(share(&tally.uneven) > 0.1, "uneven steps are common");
    assert!(share(&tally.not_a_box) > 0.05, "valid sets that are not boxes are common");
}

/// Whether some unit steps between valid indices overflow boundaries at which the earlier view is uneven.
fn overflows_cancel(stack: &[RawView], array: &Array) -> bool {
    let earlier = &stack[0];
    let rank = earlier.shape.len();
    let uneven: Vec<usize> = (1..rank)
        .filter(|&axis| earlier.strides[axis - 1] != earlier.shape[axis] * earlier.strides[axis])
        .filter(|&axis| earlier.shape[axis] > 1)
        .collect();
    let positions = evaluate(&stack[1..]);
    let mut cancel = false;
    for axis in 0..array.shape.len() {
        let mut floors: Option<Vec<i64>> = None;
        array.for_each_index(|index, cell| {
            let mut next = index.to_vec();
            next[axis] += 1;
            if cell.is_none() || next[axis] == array.shape[axis] || array.at(&next).is_none() {
                return;
            }
            let (from, to) = (positions.at(index).unwrap_or(0), positions.at(&next).unwrap_or(0));
            let moved = uneven.iter().map(|&axis| {
                let product: i64 = earlier.shape[axis..].iter().product();
                to / product - from / product
            });
            let moved: Vec<i64> = moved.collect();
            cancel |= *floors.get_or_insert_with(|| moved.clone()) != moved;
        });
    }
    cancel
}

#[test]
pub(crate) fn a_view_reshapes_exactly_when_the_result_is_one_view() {
    check(
        cases::RESHAPES,
        |tape| {
            let view = tape.earlier_view();
            let shape = tape.sizes_of(view.numel());
            vec![view, RawView::contiguous(&shape)]
        },
        |stack| {
            if stack[0].numel() > 2500 {
                return Ok(());
            }
            judge(&stack[0].view().reshape(&stack[1].shape), &evaluate(stack))
        },
    );
}

#[test]
pub(crate) fn stacks_keep_their_addresses_and_end_in_one_view_when_there_is_one() {
    let (single, more) = (Cell::new(0), Cell::new(0));
    check(
        cases::STACKS,
        |tape| tape.stack(),
        |stack| {
            let st = ShapeTracker::from_views(stack.iter().map(RawView::view)).map_err(|error| error.to_string())?;
            let array = evaluate(stack);
            same_addresses(&st, &array)?;
            fewest(&st, &array)?;
            count(if st.views().len() == 1 { &single } else { &more });
            Ok(())
        },
    );
    println!("{} stacks are one view, {} are not", single.get(), more.get());
    assert!(single.get() > more.get() / 5 && more.get() > single.get() / 5, "both are common");
}

/// Says where a tracker reads something else than the array.
pub(crate) fn same_addresses(st: &ShapeTracker, array: &Array) -> Result<(), String> {
    if st.shape() != array.shape {
        return Err(format!("the shape is {:?}, and should be {:?}", st.shape(), array.shape));
    }
    if !st.addresses().eq(array.cells.iter().copied()) {
        return Err(format!(
            "{st:?} reads {:?}, and should read {:?}",
            st.addresses().collect::<Vec<_>>(),
            array.cells
        ));
    }
    // The tracker's own look-up is not trusted with the views that it holds.
    let stack: Vec<RawView> = st.views().iter().map(RawView::from).collect();
    let mut same = true;
    array.for_each_index(|index, cell| same &= look_up(&stack, index) == cell.map(i128::from));
    if same { Ok(()) } else { Err(format!("the views of {st:?} are not those addresses")) }
}

/// Says when a tracker has more views than one although the array is one view.
pub(crate) fn fewest(st: &ShapeTracker, array: &Array) -> Result<(), String> {
    match (st.as_view(), array.single_view()) {
        (Some(view), Some(expected)) if expected != *view => Err(format!("{view:?} should be {expected:?}")),
        (Some(view), None) => Err(format!("{view:?} is not these addresses at all")),
        (None, Some(expected)) => Err(format!("{st:?} has {} views, and is {expected:?}", st.views().len())),
        _ => Ok(()),
    }
}
