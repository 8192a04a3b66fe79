//! Single views: canonical form, and the operations that every view can take.

use std::collections::HashMap;

use shapetracker::View;

use crate::oracle::RawView;
use crate::random::{Op, Tape, cases, check};

/// All views of a shape with strides in -1..=1, offsets from `low`, and every mask.
fn all_views(shape: &[i64]) -> Vec<RawView> {
    let mut views = vec![RawView::new(&[], &[], 0, None)];
    for &size in shape {
        let mut more = Vec::new();
        for view in &views {
            for stride in -1..=1 {
                for (begin, end) in (0..=size).flat_map(|begin| (begin..=size).map(move |end| (begin, end))) {
                    let mut view = view.clone();
                    view.shape.push(size);
                    view.strides.push(stride);
                    view.mask.get_or_insert_default().push((begin, end));
                    more.push(view);
                }
            }
        }
        views = more;
    }
    let unmasked = views.clone().into_iter().map(|view| RawView { mask: None, ..view });
    let masked_scalar = RawView::new(&[], &[], 0, Some(&[]));
    let views: Vec<_> =
        views.iter().cloned().chain(unmasked).chain(shape.is_empty().then_some(masked_scalar)).collect();
    views.iter().flat_map(|view| (4..7).map(|offset| RawView { offset, ..view.clone() })).collect()
}

#[test]
fn views_are_equal_exactly_when_their_maps_are() {
    for shape in [&[][..], &[0], &[1], &[2], &[4], &[1, 1], &[2, 0], &[1, 3], &[2, 2], &[3, 2], &[1, 2, 2]] {
        let mut by_map: HashMap<Vec<Option<i64>>, View> = HashMap::new();
        let mut by_view: HashMap<View, Vec<Option<i64>>> = HashMap::new();
        for raw in all_views(shape) {
            let (view, array) = (raw.view(), raw.array());
            assert_eq!(array.single_view().expect("a view is a view"), view, "the canonical form of {raw:?}");
            assert_eq!(raw.canonical(), view, "the canonical form of {raw:?} by its rules");
            assert_eq!(*by_map.entry(array.cells.clone()).or_insert(view.clone()), view, "one map, two views");
            assert_eq!(*by_view.entry(view).or_insert(array.cells.clone()), array.cells, "one view, two maps");
        }
    }
}

#[test]
pub(crate) fn one_map_written_in_two_ways_is_one_view() {
    check(
        cases::SAME_MAPS,
        |tape| {
            let one = small_view(tape);
            // The other one differs in what may not matter: strides, offset, mask of an axis.
            let mut other = one.clone();
            for axis in 0..one.shape.len() {
                let (begin, end) = one.range(axis);
                if tape.chance(if end - begin <= 1 { 80 } else { 5 }) {
                    let stride = tape.signed(5);
                    other.offset -= begin * (stride - other.strides[axis]);
                    other.strides[axis] = stride;
                }
            }
            if one.mask.is_none() && tape.chance(50) && !one.shape.is_empty() {
                other.mask = Some(one.shape.iter().map(|&size| (0, size)).collect());
            }
            (one, other)
        },
        |(one, other)| {
            let same_map = one.array() == other.array();
            let same_view = one.view() == other.view();
            if same_map == same_view {
                Ok(())
            } else {
                Err(format!("same map: {same_map}, but same view: {same_view}"))
            }
        },
    );
}

fn small_view(tape: &mut Tape) -> RawView {
    let mut view = tape.earlier_view();
    while view.numel() > 600 {
        for axis in 0..view.shape.len() {
            view.shape[axis] = view.shape[axis].min(4);
            if let Some(mask) = &mut view.mask {
                mask[axis] = (mask[axis].0.min(4), mask[axis].1.min(4));
            }
        }
    }
    view
}

#[test]
fn every_operation_but_reshape_turns_a_view_into_a_view() {
    check(
        cases::VIEW_OPERATIONS,
        |tape| {
            let view = small_view(tape);
            let op = loop {
                let op = tape.operation(&view.shape);
                if !matches!(op, Op::Reshape(_) | Op::AsStrided(..) | Op::Unsqueeze(_) | Op::Squeeze(_)) {
                    break op;
                }
                if tape.is_used_up() {
                    break Op::Flip(Vec::new());
                }
            };
            (view, op)
        },
        |(raw, op)| {
            let view = raw.view();
            let array = op.on_array(&raw.array());
            let moved = match op {
                Op::Permute(axes) => view.permute(axes),
                Op::Expand(shape) => view.expand(shape),
                Op::Pad(pads) => view.pad(pads),
                Op::Shrink(ranges) => view.shrink(ranges),
                Op::Flip(axes) => view.flip(axes),
                Op::Step(steps) => view.step(steps),
                other => return Err(format!("{other:?} is not drawn here")),
            };
            let moved = moved.map_err(|error| error.to_string())?;
            let expected = array.single_view().ok_or("the oracle's own operation is wrong")?;
            if expected == moved { Ok(()) } else { Err(format!("{moved:?} should be {expected:?}")) }
        },
    );
}

#[test]
fn the_queries_of_a_view_agree_with_its_addresses() {
    check(cases::VIEW_OPERATIONS / 4, small_view, |raw| {
        let (view, array) = (raw.view(), raw.array());
        let addresses: Vec<i64> = array.cells.iter().copied().flatten().collect();
        let range = addresses.iter().min().copied().zip(addresses.iter().max().copied());
        let in_order = |first: i64| array.cells.iter().copied().eq((0..view.numel()).map(|i| Some(first + i)));
        let queries = [
            ("numel", view.numel() == array.cells.len() as i64),
            ("is_empty", view.is_empty() == addresses.is_empty()),
            ("address_range", view.address_range() == range),
            ("is_contiguous", view.is_contiguous() == in_order(range.map_or(0, |(low, _)| low))),
            ("is_identity", view.is_identity() == in_order(0)),
        ];
        for (name, right) in queries {
            if !right {
                return Err(format!("{name} of {view:?} is wrong"));
            }
        }
        let mut same = true;
        array.for_each_index(|index, cell| same &= view.address(index) == cell);
        if same { Ok(()) } else { Err(format!("{view:?} reads other addresses")) }
    });
}
