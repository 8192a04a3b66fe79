//! Every question about a stack of views is decided, on ordinary layouts of any size, and decided right.

use std::sync::atomic::{AtomicUsize, Ordering};

use shapetracker::{NotInvertible, ShapeTracker};

use crate::corpus::{for_each_line, movement, numbers, stack, views};
use crate::growing;
use crate::oracle::{RawView, evaluate};
use crate::queries::{same, whole_stride};
use crate::random::{seed, timed};
use shapetracker_testing::{drawn, held, is_held};

/// The most elements of a tracker that the oracle evaluates here.
const JUDGED: i64 = 20_000;

/// Asks everything; the answers are held against the oracle where it can evaluate all elements, and must be there in any
/// case.
pub(crate) fn decided_and_right(st: &ShapeTracker) -> Result<(), String> {
    let open = |question: &str, error: &dyn std::fmt::Display| format!("{question} of {st:?}: {error}");
    let strides = timed("real_strides", || st.real_strides()).map_err(|error| open("real_strides", &error))?;
    let unit = timed("unit_stride_axes", || st.unit_stride_axes()).map_err(|error| open("unit_stride_axes", &error))?;
    let masked = (0..st.rank() as i64).map(|axis| timed("axis_is_masked", || st.axis_is_masked(axis)));
    let masked: Vec<bool> = masked.collect::<Result<_, _>>().map_err(|error| open("axis_is_masked", &error))?;
    let collision = timed("collision", || st.collision()).map_err(|error| open("collision", &error))?;
    let range = timed("address_range", || st.address_range()).map_err(|error| open("address_range", &error))?;
    let len = timed("buffer_len", || st.buffer_len()).map_err(|error| open("buffer_len", &error))?;
    match timed("invert", || st.invert([len])) {
        Ok(_) if collision.is_none() => {}
        Err(NotInvertible::Collision { .. }) if collision.is_some() => {}
        Err(NotInvertible::Interleaved | NotInvertible::LeftOut) if collision.is_none() => {}
        Err(error) => return Err(open("invert", &error)),
        Ok(_) => return Err(format!("{st:?} is inverted, and collides")),
    }
    let axes: Vec<i64> = (0..st.rank() as i64).collect();
    let turned = st.flip(&axes).and_then(|st| st.reshape([st.numel()])?.flip([0]));
    if let Ok(other) = turned.and_then(|turned| turned.reshape(st.shape())) {
        let difference = timed("difference", || st.difference(&other)).map_err(|error| open("difference", &error))?;
        same("the difference of two forms of one map", difference, None)?;
    }
    if let Some([a, b]) = &collision
        && (a == b || st.address(a).is_none() || st.address(a) != st.address(b))
    {
        return Err(format!("{a:?} and {b:?} do not collide in {st:?}"));
    }
    if st.numel() > JUDGED {
        return Ok(());
    }
    let array = evaluate(&st.views().iter().map(RawView::from).collect::<Vec<_>>());
    let addresses: Vec<i64> = array.cells.iter().copied().flatten().collect();
    let expected: Vec<Option<i64>> = (0..st.rank()).map(|axis| whole_stride(&array, axis)).collect();
    let units = (0..st.rank()).filter(|&axis| expected[axis] == Some(1)).collect();
    let depends: Vec<bool> = (0..st.rank()).map(|axis| array.validity_depends_on(axis)).collect();
    same("real_strides", strides, expected)?;
    same("unit_stride_axes", unit, units)?;
    same("axis_is_masked", masked, depends)?;
    same("injectivity", collision.is_none(), array.is_injective())?;
    same("address_range", range, addresses.iter().min().copied().zip(addresses.iter().max().copied()))?;
    same("buffer_len", len, array.buffer_len())
}

#[test]
fn found_by_an_audit_padded_and_flattened_images_have_strides_and_masks_that_are_decided() {
    let st: ShapeTracker = "(56, 56).pad((1, 1), (1, 1)).reshape(3364)".parse().unwrap();
    assert_eq!(st.real_strides().unwrap(), [None]);
    for (text, st) in growing::padded_and_flattened() {
        decided_and_right(&st).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
}

#[test]
fn every_question_about_a_recorded_layout_is_decided() {
    let several = AtomicUsize::new(0);
    let ask = |st: &ShapeTracker| {
        several.fetch_add(usize::from(st.views().len() > 1), Ordering::Relaxed);
        decided_and_right(st)
    };
    for_each_line("chains", |line| {
        let start = ShapeTracker::contiguous(numbers(&line["base"])).map_err(|error| error.to_string())?;
        let ops = line["ops"].as_array().expect("operations");
        // Two chains have more elements than 64 bits count.
        ops.iter().try_fold(start, |st, op| st.apply(&movement(op)).ok()).map_or(Ok(()), |st| ask(&st))
    });
    for_each_line("indexed", |line| match views(&stack(line))? {
        Some(views) => ask(&ShapeTracker::from_views(views).map_err(|error| error.to_string())?),
        None => Ok(()),
    });
    println!("{several:?} trackers have several views");
    assert!(several.into_inner() > held(3_000) as usize);
}

#[test]
pub(crate) fn every_question_about_a_random_chain_is_decided() {
    let chains = growing::chains(seed(), growing::MOST).take(drawn(600) as usize);
    for (_, (text, st)) in (0..).zip(chains).filter(|(number, _)| is_held(*number)) {
        decided_and_right(&st).unwrap_or_else(|why| panic!("{text}: {why}"));
    }
}

/// A walk through all of such a stack would take hours, and its equations took seconds. Now there is one work limit for a
/// question, not one for each axis; that all of these end is the test.
#[test]
fn found_by_an_audit_deep_and_large_stacks_are_answered_or_given_up_soon() {
    let deep = |st: &ShapeTracker| st.views().len() >= 7 && st.numel() > 1 << 30;
    let mut large = growing::chains(seed(), 1_000_000_000_000).map(|(_, st)| st).take(4_000).filter(deep);
    let st = large.next().expect("one of the chains is deep and large");
    for (_, st) in (0..).zip([st].into_iter().chain(large.take(9))).filter(|(number, _)| is_held(*number)) {
        let _ = (st.real_strides(), st.collision(), st.address_range(), st.axis_is_masked(0));
        let again = ShapeTracker::from_views(st.views().iter().cloned()).expect("the views are a stack");
        assert!(!matches!(st.difference(&again), Ok(Some(_))), "{st:?} differs from itself");
    }
}
