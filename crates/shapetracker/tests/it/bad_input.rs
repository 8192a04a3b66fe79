//! What callers get wrong: every error says what was done to which axis and both numbers that do not fit, nothing
//! panics, and nothing is changed by an operation that fails.

use shapetracker::{
    Dims, Error, ErrorKind, Movement, ShapeTracker, Unanswered, Unmerged, View, conditions, fit, merge,
};

use crate::oracle::{RawView, look_up};
use crate::random::{Op, Tape, cases, check};
use shapetracker_testing::held;

fn st(shape: &[i64]) -> ShapeTracker {
    ShapeTracker::contiguous(shape).unwrap()
}

/// Complains unless the error is of the kind and its sentence has all the parts.
#[track_caller]
fn refused<T: std::fmt::Debug>(outcome: Result<T, Error>, kind: ErrorKind, parts: &[&str]) {
    let error = outcome.expect_err("this is a mistake");
    assert_eq!(error.kind(), kind, "{error}");
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "{text:?} does not say {part:?}");
    }
}

#[test]
fn sizes_that_do_not_multiply_up() {
    refused(st(&[2, 3]).reshape([4, 2]), ErrorKind::SizeMismatch, &["reshape", "(2, 3)", "6", "(4, 2)", "8"]);
    refused(st(&[2, 3]).reshape([]), ErrorKind::SizeMismatch, &["reshape", "6", "1"]);
    refused(st(&[0, 3]).reshape([1]), ErrorKind::SizeMismatch, &["0 elements", "1"]);
    refused(st(&[2, 3]).reshape([-2, -3]), ErrorKind::NegativeSize, &["reshape", "axis 0", "-2"]);
    refused(st(&[2, 3]).reshape([i64::MIN]), ErrorKind::NegativeSize, &["axis 0", &i64::MIN.to_string()]);
}

#[test]
fn sizes_that_cannot_be_inferred() {
    refused(st(&[2, 3]).reshape([-1, 2, -1]), ErrorKind::Infer, &["reshape", "axes 0 and 2", "-1"]);
    refused(st(&[2, 3]).reshape([4, -1]), ErrorKind::Infer, &["reshape", "axis 1", "6", "4"]);
    refused(st(&[2, 0]).reshape([0, -1]), ErrorKind::Infer, &["reshape", "axis 1", "above 0", "-1"]);
    assert_eq!(st(&[2, 0]).reshape([5, -1]).unwrap().shape(), [5, 0]);
}

#[test]
fn axes_that_do_not_exist_or_are_named_twice() {
    refused(st(&[2, 3]).permute([0, 2]), ErrorKind::AxisOutOfRange, &["permute", "axis 2", "2 axes"]);
    refused(st(&[2, 3]).permute([0, -3]), ErrorKind::AxisOutOfRange, &["permute", "axis -3", "2 axes"]);
    refused(st(&[2, 3]).permute([1, 1]), ErrorKind::AxisRepeated, &["permute", "axis 1", "0 and 1"]);
    refused(st(&[2, 3]).permute([1, -1]), ErrorKind::AxisRepeated, &["permute", "axis 1"]);
    refused(st(&[2, 3]).permute([0]), ErrorKind::Rank, &["permute", "2 axes", "1 was"]);
    refused(st(&[2, 3]).flip([5]), ErrorKind::AxisOutOfRange, &["flip", "axis 5", "2 axes"]);
    refused(st(&[2, 3]).flip([0, -2]), ErrorKind::AxisRepeated, &["flip", "axis 0", "0 and 1"]);
    refused(st(&[2, 3]).transpose(0, 2), ErrorKind::AxisOutOfRange, &["transpose", "axis 2", "2 axes"]);
    refused(st(&[2, 1]).squeeze([2]), ErrorKind::AxisOutOfRange, &["squeeze", "axis 2", "2 axes"]);
    refused(st(&[2, 1]).squeeze([1, 1]), ErrorKind::AxisRepeated, &["squeeze", "axis 1"]);
    refused(st(&[2, 3]).unsqueeze(4), ErrorKind::AxisOutOfRange, &["unsqueeze", "axis 4", "2 axes", "-3 to 2"]);
    refused(st(&[]).flip([0]), ErrorKind::AxisOutOfRange, &["flip", "axis 0", "0 axes"]);
    for axis in [i64::MIN, i64::MAX] {
        refused(st(&[2, 3]).flip([axis]), ErrorKind::AxisOutOfRange, &["flip", &axis.to_string()]);
        refused(st(&[2, 3]).unsqueeze(axis), ErrorKind::AxisOutOfRange, &["unsqueeze", &axis.to_string()]);
        assert!(matches!(st(&[2, 3]).axis_is_masked(axis), Err(Unanswered::Error(_))));
    }
}

#[test]
fn axes_that_are_not_of_size_one() {
    refused(st(&[2, 3]).expand([2, 6]), ErrorKind::NotOne, &["expand", "axis 1", "3", "6"]);
    refused(st(&[2, 3]).expand([0, 3]), ErrorKind::NotOne, &["expand", "axis 0", "2", "0"]);
    refused(st(&[1, 3]).expand([-2, 3]), ErrorKind::NegativeSize, &["expand", "axis 0", "-2"]);
    refused(st(&[1, 3]).expand([2]), ErrorKind::Rank, &["expand", "2 axes", "1 was"]);
    refused(st(&[2, 3]).squeeze([0]), ErrorKind::NotOne, &["squeeze", "axis 0", "2"]);
    refused(st(&[2, 3]).broadcast_to([3]), ErrorKind::Rank, &["broadcast_to", "2 axes", "1 axis"]);
    refused(st(&[2, 3]).broadcast_to([5, 2, 4]), ErrorKind::NotOne, &["axis 2", "3", "4"]);
}

#[test]
fn pads_that_are_negative() {
    refused(st(&[2, 3]).pad([(0, 0), (-1, 0)]), ErrorKind::NegativePad, &["pad", "axis 1", "-1"]);
    refused(st(&[2, 3]).pad([(0, i64::MIN), (0, 0)]), ErrorKind::NegativePad, &["axis 0", &i64::MIN.to_string()]);
    refused(st(&[2, 3]).pad([(0, 0)]), ErrorKind::Rank, &["pad", "2 axes", "1 was"]);
}

#[test]
fn ranges_outside_their_axis() {
    refused(st(&[2, 3]).shrink([(0, 2), (1, 4)]), ErrorKind::RangeOutside, &["shrink", "axis 1", "(1, 4)", "3"]);
    refused(st(&[2, 3]).shrink([(-1, 2), (0, 3)]), ErrorKind::RangeOutside, &["shrink", "axis 0", "(-1, 2)", "2"]);
    refused(
        st(&[2, 3]).shrink([(2, 1), (0, 3)]),
        ErrorKind::RangeOutside,
        &["shrink", "axis 0", "(2, 1) ends before it begins", "2"],
    );
    refused(st(&[2, 3]).shrink([(i64::MIN, i64::MAX), (0, 3)]), ErrorKind::RangeOutside, &["axis 0"]);
    refused(st(&[2, 3]).shrink([(0, 2)]), ErrorKind::Rank, &["shrink", "2 axes", "1 was"]);
    refused(View::new([4], [1], 0, Some(&[(2, 5)])), ErrorKind::MaskOutside, &["axis 0", "(2, 5)", "4"]);
    refused(
        View::new([4], [1], 0, Some(&[(3, 2)])),
        ErrorKind::MaskOutside,
        &["axis 0", "(3, 2) ends before it begins", "4"],
    );
    refused(View::new([4], [1], 0, Some(&[(-1, 2)])), ErrorKind::MaskOutside, &["axis 0", "(-1, 2)", "4"]);
    refused(View::new([4], [1], 0, Some(&[])), ErrorKind::Rank, &["mask", "1 axis", "0 were"]);
}

#[test]
fn steps_of_zero() {
    refused(st(&[2, 3]).step([1, 0]), ErrorKind::ZeroStep, &["step", "axis 1"]);
    refused(st(&[2, 3]).step([1]), ErrorKind::Rank, &["step", "2 axes", "1 was"]);
    refused(st(&[2, 3]).slice([(None, None, 1), (None, None, 0)]), ErrorKind::ZeroStep, &["slice", "axis 1"]);
    refused(st(&[2, 3]).slice([(None, None, 1)]), ErrorKind::Rank, &["slice", "2 axes", "1 was"]);
    assert_eq!(st(&[5]).step([i64::MIN]).unwrap().address(&[0]), Some(4));
    assert_eq!(st(&[5]).step([i64::MAX]).unwrap().shape(), [1]);
}

#[test]
fn views_that_address_outside_what_they_read() {
    refused(st(&[6]).as_strided([2, 3], [4, 1], 0), ErrorKind::AddressOutside, &["as_strided", "0 to 6", "6 elements"]);
    refused(st(&[6]).as_strided([2], [-1], 0), ErrorKind::AddressOutside, &["as_strided", "-1 to 0", "6 elements"]);
    refused(st(&[0]).as_strided([1], [1], 0), ErrorKind::AddressOutside, &["as_strided", "0 elements"]);
    refused(st(&[1]).as_strided([1], [0], 1), ErrorKind::AddressOutside, &["as_strided", "1 to 1", "1 element"]);
    refused(st(&[6]).as_strided([2], [1, 1], 0), ErrorKind::Rank, &["as_strided", "stride", "1 axis", "2 were"]);
    let (small, large) = (View::contiguous([3]).unwrap(), View::contiguous([4]).unwrap());
    refused(
        ShapeTracker::from_views([small.clone(), large.clone()]),
        ErrorKind::AddressOutside,
        &["0 to 3", "3 elements"],
    );
    refused(st(&[3]).compose(&st(&[4])), ErrorKind::AddressOutside, &["compose", "0 to 3", "3 elements"]);
    refused(ShapeTracker::from_views([]), ErrorKind::NoViews, &["at least one view"]);
    let Err(Unmerged::Error(error)) = merge(&small, &large) else { panic!("the views do not fit") };
    assert_eq!(error.kind(), ErrorKind::AddressOutside);
    let Err(Unanswered::Error(error)) = conditions([3], &large) else { panic!("the view does not fit") };
    assert_eq!(error.kind(), ErrorKind::AddressOutside);
    // Masked indices read nothing, so that they may be anywhere.
    let padded = View::new([5], [1], -1, Some(&[(1, 4)])).unwrap();
    assert!(ShapeTracker::from_views([small, padded]).is_ok());
}

#[test]
fn numbers_past_i64() {
    const MAX: i64 = i64::MAX;
    let huge = st(&[MAX]);
    refused(ShapeTracker::contiguous([1 << 32, 1 << 31]), ErrorKind::Overflow, &["4294967296, 2147483648"]);
    refused(View::contiguous([MAX, 2]), ErrorKind::Overflow, &["elements", "9223372036854775807, 2"]);
    refused(View::new([MAX, 2], [0, 0], 0, None), ErrorKind::Overflow, &["elements"]);
    refused(View::new([3], [MAX], 0, None), ErrorKind::Overflow, &["address"]);
    refused(View::new([2], [1], MAX, None), ErrorKind::Overflow, &["address"]);
    refused(View::new([2], [-1], i64::MIN, None), ErrorKind::Overflow, &["address"]);
    refused(huge.pad([(1, 0)]), ErrorKind::Overflow, &["pad", "axis 0"]);
    refused(huge.pad([(MAX, MAX)]), ErrorKind::Overflow, &["pad", "axis 0"]);
    refused(huge.reshape([1, MAX]).unwrap().expand([2, MAX]), ErrorKind::Overflow, &["expand", "elements"]);
    refused(huge.broadcast_to([3, MAX]), ErrorKind::Overflow, &["elements"]);
    refused(huge.reshape([MAX, 2]), ErrorKind::Overflow, &["reshape", "elements"]);
    refused(huge.as_strided([2], [MAX], 1), ErrorKind::Overflow, &["as_strided"]);
    // A size of zero makes the product zero, in whatever order the sizes come.
    assert_eq!(View::contiguous([MAX, MAX, 0]).unwrap().numel(), 0);
    // What fits, works to the very end.
    assert_eq!(huge.address(&[MAX - 1]), Some(MAX - 1));
    assert_eq!(huge.flip([0]).unwrap().address(&[0]), Some(MAX - 1));
    assert_eq!(huge.step([-MAX]).unwrap().address(&[0]), Some(MAX - 1));
    assert_eq!(huge.shrink([(MAX - 1, MAX)]).unwrap().address(&[0]), Some(MAX - 1));
    assert_eq!(huge.reshape([7, MAX / 7]).unwrap().reshape([MAX / 7, 7]).unwrap().views().len(), 1);
    assert_eq!(View::new([1], [i64::MIN], i64::MIN, None).unwrap().address(&[0]), Some(i64::MIN));
}

#[test]
fn absurd_ranks() {
    let shape = |rank: usize| vec![1i64; rank];
    assert!(ShapeTracker::contiguous(shape(64)).is_ok());
    for rank in [65, 10_000] {
        let text = rank.to_string();
        let parts = [text.as_str(), "64"];
        let pairs = vec![(0, 0); rank];
        let slices = vec![(None, None, 1); rank];
        refused(ShapeTracker::contiguous(shape(rank)), ErrorKind::TooManyAxes, &parts);
        refused(View::new(shape(rank), shape(rank), 0, None), ErrorKind::TooManyAxes, &parts);
        refused(View::new([1], shape(rank), 0, None), ErrorKind::TooManyAxes, &parts);
        refused(View::new([1], [1], 0, Some(&pairs)), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).reshape(shape(rank)), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).permute(shape(rank)), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).expand(shape(rank)), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).broadcast_to(shape(rank)), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).pad(&pairs), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).shrink(&pairs), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).step(shape(rank)), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).slice(&slices), ErrorKind::TooManyAxes, &parts);
        refused(st(&[1]).as_strided(shape(rank), shape(rank), 0), ErrorKind::TooManyAxes, &parts);
        assert!(st(&[1]).flip(shape(rank)).is_err() && st(&[1]).squeeze(vec![0; rank]).is_err());
    }
    refused(ShapeTracker::contiguous(shape(64)).unwrap().unsqueeze(0), ErrorKind::TooManyAxes, &["65", "64"]);
}

#[test]
fn an_operation_that_fails_leaves_the_tracker_as_it_was() {
    let before = st(&[3, 2]).permute([1, 0]).unwrap().reshape([3, 2]).unwrap();
    let kept = before.clone();
    let ops = [
        Movement::Reshape([7].as_slice().into()),
        Movement::Permute([0, 0].as_slice().into()),
        Movement::Expand([9, 9].as_slice().into()),
        Movement::Pad([(-1, 0), (0, 0)].as_slice().into()),
        Movement::Shrink([(0, 9), (0, 1)].as_slice().into()),
        Movement::Flip([2].as_slice().into()),
        Movement::Step([0, 1].as_slice().into()),
        Movement::AsStrided([7].as_slice().into(), [1].as_slice().into(), 0),
    ];
    for op in ops {
        assert!(before.apply(&op).is_err());
        assert_eq!(before, kept);
    }
}

/// A number that tends to break things.
fn hostile(tape: &mut Tape) -> i64 {
    let special =
        [0, 1, 2, 3, -1, 1 << 31, 1 << 32, 1 << 62, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1, -(1 << 62)];
    match tape.below(4) {
        0 => tape.signed(9),
        1 => tape.below(i64::MAX),
        _ => tape.pick(&special),
    }
}

fn hostile_numbers(tape: &mut Tape, rank: usize) -> Vec<i64> {
    (0..rank).map(|_| hostile(tape)).collect()
}

fn hostile_pairs(tape: &mut Tape, rank: usize) -> Vec<(i64, i64)> {
    (0..rank).map(|_| (hostile(tape), hostile(tape))).collect()
}

/// A view of large numbers that may or may not be one.
pub(crate) fn hostile_view(tape: &mut Tape) -> RawView {
    let rank = tape.below(5) as usize;
    let mut shape = hostile_numbers(tape, rank);
    if tape.chance(90) {
        let mut room = i64::MAX;
        for size in &mut shape {
            *size = (*size & i64::MAX).min(room).max(1);
            room /= *size;
        }
    }
    let strides = (0..rank).map(|axis| {
        let fits = i64::MAX / shape[axis].clamp(1, i64::MAX - 1) / 8;
        let stride = hostile(tape);
        if tape.chance(80) { stride.clamp(-fits, fits) } else { stride }
    });
    let strides = strides.collect();
    let mask = tape.chance(40).then(|| {
        let range = |size: i64| if size > 0 { tape.range(size) } else { (0, size) };
        shape.iter().copied().map(range).collect()
    });
    RawView { strides, offset: hostile(tape), mask, shape }
}

/// An operation with numbers that may or may not fit.
fn hostile_op(tape: &mut Tape, shape: &[i64]) -> Op {
    let rank = shape.len();
    let odd = if tape.chance(90) { rank } else { tape.below(6) as usize };
    match tape.below(9) {
        0 => Op::Reshape(hostile_numbers(tape, odd)),
        1 => Op::Permute(tape.permutation(rank).into_iter().map(|axis| axis as i64).collect()),
        2 => Op::Expand(shape.iter().map(|&size| if size == 1 { hostile(tape) } else { size }).collect()),
        3 => Op::Pad(
            shape.iter().map(|_| if tape.chance(50) { (0, 0) } else { (hostile(tape) & i64::MAX, 0) }).collect(),
        ),
        4 => Op::Shrink(shape.iter().map(|&size| tape.range(size.max(1))).collect()),
        5 => Op::Flip((0..rank as i64).filter(|_| tape.chance(50)).collect()),
        6 => Op::Step(hostile_numbers(tape, odd)),
        7 => Op::AsStrided(hostile_numbers(tape, odd), hostile_numbers(tape, odd), hostile(tape)),
        _ => Op::Shrink(hostile_pairs(tape, odd)),
    }
}

/// Where an index of the moved tensor was before, for the operations that say so of each axis by itself.
fn origin(op: &Op, shape: &[i64], index: &[i64]) -> Option<Vec<i64>> {
    let each = |f: &dyn Fn(usize, i64) -> Option<i64>| index.iter().enumerate().map(|(axis, &i)| f(axis, i)).collect();
    match op {
        Op::Permute(axes) => {
            let mut old = index.to_vec();
            axes.iter().zip(index).for_each(|(&axis, &i)| old[axis as usize] = i);
            Some(old)
        }
        Op::Expand(_) => each(&|axis, i| Some(if shape[axis] == 1 { 0 } else { i })),
        Op::Pad(pads) => each(&|axis, i| Some(i - pads[axis].0).filter(|i| (0..shape[axis]).contains(i))),
        Op::Shrink(ranges) => each(&|axis, i| Some(i + ranges[axis].0)),
        Op::Flip(axes) => each(&|axis, i| Some(if axes.contains(&(axis as i64)) { shape[axis] - 1 - i } else { i })),
        Op::Step(steps) => each(&|axis, i| {
            let start = if steps[axis] < 0 { i128::from(shape[axis]) - 1 } else { 0 };
            i64::try_from(start + i128::from(i) * i128::from(steps[axis])).ok()
        }),
        _ => None,
    }
}

#[test]
fn hostile_numbers_give_an_error_or_the_right_addresses_and_never_a_panic() {
    let (fine, refused) = (std::cell::Cell::new(0u32), std::cell::Cell::new(0u32));
    check(
        cases::HOSTILE,
        |tape| {
            let view = hostile_view(tape);
            let other = hostile_view(tape);
            let ops: Vec<Op> = (0..3).map(|_| hostile_op(tape, &view.shape)).collect();
            let corners: Vec<bool> = (0..64).map(|_| tape.chance(50)).collect();
            (view, other, ops, corners)
        },
        |(raw, other, ops, corners)| {
            let Ok(view) = View::new(&raw.shape, &raw.strides, raw.offset, raw.mask.as_deref()) else {
                refused.set(refused.get() + 1);
                return Ok(());
            };
            fine.set(fine.get() + 1);
            let corner = |shape: &[i64], round: usize| -> Vec<i64> {
                let ends = |(axis, &size): (usize, &i64)| if corners[round * 8 + axis % 8] { size - 1 } else { 0 };
                shape.iter().enumerate().map(ends).collect()
            };
            for round in 0..4 {
                let index = corner(&raw.shape, round);
                let expected = if raw.has_no_elements() { None } else { look_up(std::slice::from_ref(raw), &index) };
                if view.address(&index).map(i128::from) != expected {
                    return Err(format!("{view:?} reads {:?} at {index:?}, not {expected:?}", view.address(&index)));
                }
            }
            let st = ShapeTracker::from(view.clone());
            let _ = (view.max_merge(), view.merge_dims(), view.address_range(), st.buffer_len(), st.collision());
            for op in ops {
                let Ok(moved) = op.on_tracker(&st) else { continue };
                for round in 0..4 {
                    let index = corner(moved.shape(), round);
                    if moved.shape().contains(&0) || matches!(op, Op::Reshape(_) | Op::AsStrided(..)) {
                        continue;
                    }
                    let expected = origin(op, &raw.shape, &index).and_then(|old| st.address(&old));
                    if moved.address(&index) != expected {
                        return Err(format!(
                            "{op:?}: {moved:?} reads {:?} at {index:?}, not {expected:?}",
                            moved.address(&index)
                        ));
                    }
                }
                let _ = (moved.difference(&st), moved.compose(&st), moved.invert([100]), fit(&view, moved.shape()));
            }
            if let Ok(other) = View::new(&other.shape, &other.strides, other.offset, other.mask.as_deref()) {
                let _ = (merge(&view, &other), merge(&other, &view), conditions(view.shape(), &other));
                let _ = (st.compose(&other.clone().into()), st.difference(&other.into()));
            }
            Ok(())
        },
    );
    println!("{} hostile views are views, {} are refused", fine.get(), refused.get());
    assert!(fine.get() > held(cases::HOSTILE) / 10 && refused.get() > held(cases::HOSTILE) / 20);
}

#[test]
fn an_index_that_is_none_reads_nothing() {
    let st = st(&[2, 3]);
    for index in [&[][..], &[0], &[0, 0, 0], &[2, 0], &[0, -1], &[i64::MIN, i64::MAX]] {
        assert_eq!(st.address(index), None);
        assert_eq!(st.views()[0].address(index), None);
    }
    assert_eq!(st.address(&Dims::from_slice(&[1, 2])), Some(5));
}
