//! Refining: three views that are two once the axes of the middle one are split, against all ways of splitting them.

use std::cell::Cell;

use shapetracker::ShapeTracker;

use crate::oracle::{Array, RawView, evaluate};
use crate::pairs::{fewest, same_addresses};
use crate::random::{Tape, cases, check};
use shapetracker_testing::held;

/// Every list of sizes of at least 2 with a product, in every order; of size 1 the empty list.
fn factorizations(size: i64) -> Vec<Vec<i64>> {
    if size == 1 {
        return vec![Vec::new()];
    }
    let mut lists = Vec::new();
    for outermost in (2..=size).filter(|factor| size % factor == 0) {
        lists.extend(factorizations(size / outermost).into_iter().map(|inner| [&[outermost], &inner[..]].concat()));
    }
    lists
}

/// Whether some split of the axes of a view makes the pair that reads this array a single view; none of them is masked.
fn some_split_merges(pair: &Array) -> bool {
    let mut shapes = vec![Vec::new()];
    for &size in &pair.shape {
        let lists = factorizations(size);
        shapes = shapes.iter().flat_map(|shape| lists.iter().map(move |list| [&shape[..], list].concat())).collect();
    }
    // A split changes neither the order of the indices nor what they read.
    let cells: Vec<i64> = pair.cells.iter().map(|cell| cell.expect("nothing is masked")).collect();
    shapes.iter().any(|shape| {
        let mut weight = cells.len();
        shape.iter().all(|&size| {
            weight /= size as usize;
            let mut starts = (0..cells.len()).filter(|cell| cell / weight % (size as usize) < size as usize - 1);
            starts.all(|from| cells[from + weight] - cells[from] == cells[weight] - cells[0])
        })
    })
}

/// Three views without masks, strides of all signs among them, of which the middle one may straddle the axes of the
/// lower one.
fn three_views(tape: &mut Tape) -> Vec<RawView> {
    let shape: Vec<i64> = (0..tape.within(2, 4)).map(|_| tape.within(2, 12)).collect();
    let strides: Vec<i64> = shape.iter().map(|_| tape.signed(20)).collect();
    let offset = shape.iter().zip(&strides).map(|(size, stride)| (size - 1) * (-stride).max(0)).sum();
    let lower = RawView { shape, strides, offset, mask: None };
    let mut middle = RawView::new(&[], &[], 0, None);
    let mut room = lower.numel() - 1;
    let rank = tape.pick(&[2, 2, 3]); // Of rank 1 it merges with whatever is on top of it.
    for _ in 0..rank {
        let near: i64 = lower.shape[tape.within(0, lower.shape.len() as i64) as usize..].iter().product();
        let stride = match tape.below(8) {
            0 => near,
            1 => near * tape.within(1, 3),
            2 => near + tape.below(3),
            3 => tape.below(2),
            _ => (near / tape.within(1, 9)).max(1),
        };
        let most = room.checked_div(stride).map_or(3, |steps| (steps + 1).min([24, 16, 12][rank - 1]));
        // Whole blocks of a lower axis in half of the cases.
        let block = near.checked_div(stride).unwrap_or(0);
        let whole = (1..=most).contains(&block) && tape.chance(50);
        let size = if whole { block * tape.within(1, most / block) } else { tape.within(1, most) };
        room -= stride * (size - 1);
        if tape.chance(30) {
            middle.offset += stride * (size - 1);
            middle.strides.push(-stride);
        } else {
            middle.strides.push(stride);
        }
        middle.shape.push(size);
    }
    if tape.chance(50) {
        middle.offset += tape.within(0, room);
    }
    let upper = RawView::contiguous(&tape.sizes_of(middle.numel()));
    let upper = if tape.chance(50) { upper } else { RawView { mask: None, ..tape.later_view(&middle) } };
    let (low, high) = upper.reach();
    let fits = i128::from(upper.offset) + low >= 0 && i128::from(upper.offset) + high < i128::from(middle.numel());
    let upper = if fits { upper } else { RawView::contiguous(&[middle.numel()]) };
    vec![lower, middle, upper]
}

#[test]
pub(crate) fn three_views_of_which_the_middle_one_can_be_split_are_two() {
    let (split, kept) = (Cell::new(0), Cell::new(0));
    check(cases::REFINED, three_views, |stack| {
        let st = ShapeTracker::from_views(stack.iter().map(RawView::view)).map_err(|error| error.to_string())?;
        let array = evaluate(stack);
        same_addresses(&st, &array)?;
        fewest(&st, &array)?;
        let pair = evaluate(&stack[..2]);
        if pair.single_view().is_some() || evaluate(&stack[1..]).single_view().is_some() {
            return Ok(()); // These are two views without any splitting.
        }
        if !some_split_merges(&pair) {
            kept.set(kept.get() + u32::from(st.views().len() > 2));
            return Ok(());
        }
        split.set(split.get() + 1);
        if st.views().len() > 2 {
            return Err(format!("{st} has {} views, and its middle one can be split", st.views().len()));
        }
        Ok(())
    });
    println!("{} stacks are two views by splitting, {} of the others are three", split.get(), kept.get());
    assert!(split.get() > held(cases::REFINED) / 50 && kept.get() > held(cases::REFINED) / 10, "both are common");
}

#[test]
fn found_by_an_audit_a_boundary_need_not_be_a_whole_number_of_steps_away() {
    let stack = [
        RawView::new(&[16, 3, 4], &[4, 16, 1], 0, None),
        RawView::new(&[9, 2], &[16, 1], 0, None),
        RawView::new(&[6, 3], &[3, 1], 0, None),
    ];
    let st = ShapeTracker::from_views(stack.iter().map(RawView::view)).unwrap();
    same_addresses(&st, &evaluate(&stack)).unwrap();
    assert_eq!(st.to_string(), "(6, 3):(3, 1) over (3, 3, 2):(16, 20, 1)");
}

#[test]
fn a_mask_stays_on_the_axes_that_it_is_split_into() {
    // Ten rows of six, of which the last four are masked, read column by column: the rows are those of the lower view.
    let st = ShapeTracker::contiguous([6, 6]).and_then(|st| st.permute([1, 0])).unwrap();
    let st = st.reshape([36]).and_then(|st| st.pad([(0, 24)])).and_then(|st| st.reshape([12, 5])).unwrap();
    assert_eq!(st.to_string(), "(12, 5):(5, 1) over (10, 6):(1, 6) mask ((0, 6), (0, 6))");
}
