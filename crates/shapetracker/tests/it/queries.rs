//! The questions that a tracker answers, against the oracle.

use std::cell::Cell;

use shapetracker::fit::{Misfit, fit};
use shapetracker::{ErrorKind, NotInvertible, ShapeTracker, Unanswered, View, conditions};

use crate::oracle::{self, Array, RawView, check_witness, evaluate, look_up, reduced};
use crate::random::{Tape, cases, check, timed};
use shapetracker_testing::held;

/// A stack of few elements over a buffer of few elements, and its array.
fn stack(tape: &mut Tape) -> Vec<RawView> {
    loop {
        let stack = tape.stack();
        let small = stack.iter().all(|view| view.numel() <= 200);
        if small || tape.is_used_up() {
            return if small { stack } else { vec![RawView::contiguous(&[2])] };
        }
    }
}

fn tracker(stack: &[RawView]) -> ShapeTracker {
    let st = ShapeTracker::from_views(stack.iter().map(RawView::view));
    st.unwrap_or_else(|error| panic!("{stack:?} is a tracker, but: {error}"))
}

fn position(shape: &[i64], index: &[i64]) -> i64 {
    index.iter().zip(shape).fold(0, |position, (i, size)| position * size + i)
}

/// Complains unless two answers to a question are the same.
pub(crate) fn same<T: PartialEq + std::fmt::Debug>(question: &str, found: T, expected: T) -> Result<(), String> {
    if found == expected { Ok(()) } else { Err(format!("{question} is {found:?}, and should be {expected:?}")) }
}

#[test]
pub(crate) fn every_query_agrees_with_the_addresses() {
    let several = Cell::new(0);
    check(cases::QUERIES, stack, |stack| {
        let (st, array) = (tracker(stack), evaluate(stack));
        several.set(several.get() + u32::from(st.views().len() > 1));
        let addresses: Vec<i64> = array.cells.iter().copied().flatten().collect();
        let range = addresses.iter().min().copied().zip(addresses.iter().max().copied());
        let in_order = |first: i64| array.cells.iter().copied().eq((0..st.numel()).map(|i| Some(first + i)));
        same("is_identity", st.is_identity(), in_order(0))?;
        same("is_contiguous", st.is_contiguous(), in_order(range.map_or(0, |(low, _)| low)))?;
        same(
            "address_range",
            timed("address_range", || st.address_range()).map_err(|error| error.to_string())?,
            range,
        )?;
        same(
            "buffer_len",
            timed("buffer_len", || st.buffer_len()).map_err(|error| error.to_string())?,
            array.buffer_len(),
        )?;
        let strides: Vec<Option<i64>> = (0..array.shape.len()).map(|axis| whole_stride(&array, axis)).collect();
        same(
            "real_strides",
            timed("real_strides", || st.real_strides()).map_err(|error| error.to_string())?,
            strides.clone(),
        )?;
        let unit = (0..strides.len()).filter(|&axis| strides[axis] == Some(1)).collect();
        same("unit_stride_axes", st.unit_stride_axes().map_err(|error| error.to_string())?, unit)?;
        for axis in 0..array.shape.len() {
            let masked =
                timed("axis_is_masked", || st.axis_is_masked(axis as i64)).map_err(|error| error.to_string())?;
            same(&format!("axis_is_masked({axis})"), masked, array.validity_depends_on(axis))?;
        }
        Ok(())
    });
    println!("{} trackers have several views", several.get());
    assert!(several.get() > held(cases::QUERIES) / 10);
}

/// The stride along an axis as the library puts it: whole, 0 where no two valid indices differ on the axis alone.
pub(crate) fn whole_stride(array: &Array, axis: usize) -> Option<i64> {
    match array.stride(axis)? {
        None => Some(0),
        Some(ratio) => (ratio.rise % ratio.run == 0).then_some(ratio.rise / ratio.run),
    }
}

#[test]
pub(crate) fn two_indices_collide_exactly_when_they_read_one_address() {
    check(cases::QUERIES, stack, |stack| {
        let (st, array) = (tracker(stack), evaluate(stack));
        match timed("collision", || st.collision()).map_err(|error| error.to_string())? {
            None => same("injectivity", true, array.is_injective()),
            Some([a, b]) if a != b && array.at(&a).is_some() && array.at(&a) == array.at(&b) => Ok(()),
            Some([a, b]) => Err(format!("{a:?} and {b:?} do not collide")),
        }
    });
}

#[test]
pub(crate) fn an_inverse_undoes_and_exists_exactly_when_nothing_collides() {
    let [inverted, collided, interleaved] = [0; 3].map(Cell::new);
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    check(cases::QUERIES, stack, |stack| {
        let (st, array) = (tracker(stack), evaluate(stack));
        let len = array.buffer_len().max(st.views()[0].address_range().map_or(0, |(_, high)| high + 1)) + 1;
        match timed("invert", || st.invert([len])) {
            Ok(inverse) => {
                count(&inverted);
                let mut expected = vec![None; len as usize];
                let mut next = 0;
                array.for_each_index(|_, cell| {
                    if let Some(address) = cell {
                        expected[address as usize] = Some(next);
                    }
                    next += 1;
                });
                same("injectivity", array.is_injective(), true)?;
                same("the inverse", inverse.addresses().collect(), expected)
            }
            Err(NotInvertible::Collision { indices: [a, b], address }) => {
                count(&collided);
                let found = [array.at(&a), array.at(&b)];
                if a != b && found == [Some(address); 2] { Ok(()) } else { Err(format!("{a:?}, {b:?} read {found:?}")) }
            }
            Err(NotInvertible::Interleaved | NotInvertible::LeftOut) => {
                count(&interleaved);
                same("injectivity", array.is_injective(), true)
            }
            Err(other) => Err(other.to_string()),
        }
    });
    let [inverted, collided, interleaved] = [inverted, collided, interleaved].map(|cell| cell.get());
    println!("{inverted} inverted, {collided} collide, {interleaved} interleave");
    assert!(inverted > interleaved && collided > held(cases::QUERIES) / 10);
}

/// Where each address of a buffer is read, as a position in row-major order.
fn readers(array: &Array, len: i64) -> Vec<Option<i64>> {
    let mut readers = vec![None; len as usize];
    for (position, cell) in array.cells.iter().enumerate() {
        if let Some(address) = cell {
            readers[*address as usize] = Some(position as i64);
        }
    }
    readers
}

#[test]
fn found_by_an_audit_only_addresses_that_are_read_must_lie_in_the_buffer() {
    let [accepted, refused, wide] = [0; 3].map(Cell::new);
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    let drawn = |tape: &mut Tape| {
        let mut over = stack(tape);
        // Addresses that no element reads may then be negative, or past the buffer.
        let read: Vec<i64> = evaluate(&over).cells.iter().copied().flatten().collect();
        over[0].offset -= read.iter().min().unwrap_or(&0) - i64::from(tape.chance(10)) + i64::from(tape.chance(10));
        let read: Vec<i64> = evaluate(&over).cells.iter().copied().flatten().collect();
        let len = (read.iter().max().map_or(0, |high| high + 1) + tape.below(3) - 1).max(1);
        // What it is composed with: so many elements in some order, some of them masked or read twice.
        let sizes = tape.sizes_of(len);
        let mut under = vec![RawView::contiguous(&sizes)];
        match tape.below(5) {
            0 => under[0].strides.iter_mut().for_each(|stride| *stride = 0),
            1 => {
                under[0].offset = len - 1 + tape.below(2) * 3;
                under[0].strides.iter_mut().for_each(|stride| *stride = -*stride);
            }
            2 => under[0].mask = Some(sizes.iter().map(|&size| (i64::from(size > 2), size)).collect()),
            3 => under.push(RawView { offset: len - 1, strides: vec![-1], ..RawView::contiguous(&[len]) }),
            _ => {}
        }
        (over, under, len)
    };
    check(cases::QUERIES, drawn, |(over, under, len)| {
        let (st, array, len) = (tracker(over), evaluate(over), *len);
        let base = tracker(under);
        let inside = array.cells.iter().flatten().all(|address| (0..len).contains(address));
        let fits = st.views()[0].address_range().is_none_or(|(low, high)| 0 <= low && high < len);
        count(if !inside {
            &refused
        } else if fits {
            &accepted
        } else {
            &wide
        });
        let is_outside = |error: &shapetracker::Error| error.kind() == shapetracker::ErrorKind::AddressOutside;
        match (base.compose(&st), inside) {
            (Ok(both), true) => {
                let below = evaluate(under).cells;
                let expected = array.cells.iter().map(|cell| cell.and_then(|address| below[address as usize]));
                same("the composition", both.addresses().collect::<Vec<_>>(), expected.collect())?;
                let heights = both
                    .views()
                    .windows(2)
                    .all(|pair| pair[1].address_range().is_none_or(|(low, high)| 0 <= low && high < pair[0].numel()));
                same("that every view fits into the one under it", heights, true)?;
            }
            (Err(error), false) if is_outside(&error) => {}
            (answer, _) => return Err(format!("all inside: {inside}, but composing gives {answer:?}")),
        }
        match (st.invert([len]), inside) {
            (Ok(inverse), true) => {
                same("injectivity", array.is_injective(), true)?;
                same("the inverse", inverse.addresses().collect(), readers(&array, len))
            }
            (Err(NotInvertible::Collision { indices: [a, b], .. }), true) => {
                same("a collision", a != b && array.at(&a).is_some() && array.at(&a) == array.at(&b), true)
            }
            (Err(NotInvertible::Interleaved | NotInvertible::LeftOut), true) => {
                same("injectivity", array.is_injective(), true)
            }
            (Err(NotInvertible::Error(error)), false) if is_outside(&error) => Ok(()),
            (answer, _) => Err(format!("all inside: {inside}, but inverting gives {answer:?}")),
        }
    });
    let [accepted, refused, wide] = [accepted, refused, wide].map(|cell| cell.get());
    println!("{accepted} fit, {refused} read outside, of {wide} the first view alone would");
    assert!(accepted > wide && refused > 0 && wide > held(cases::QUERIES) / 100);
}

#[test]
fn a_layout_fits_a_buffer_exactly_when_every_address_lies_in_it() {
    let [fitting, below, past, unread] = [0; 4].map(Cell::new);
    let count = |cell: &Cell<u32>| cell.set(cell.get() + 1);
    let drawn = |tape: &mut Tape| {
        let mut stack = stack(tape);
        let far = tape.signed(20);
        stack[0].offset += tape.pick(&[0, -1, 1, -7, far]);
        let highest = evaluate(&stack).cells.iter().copied().flatten().max();
        let len = highest.unwrap_or(0).max(0) + tape.pick(&[0, 1, 1, 2, 10]);
        (stack, [None, Some(len)])
    };
    check(cases::QUERIES, drawn, |(stack, lens)| {
        let (st, cells) = (tracker(stack), evaluate(stack).cells);
        let addresses: Vec<i64> = cells.into_iter().flatten().collect();
        for len in *lens {
            let outside = |address: &&i64| **address < 0 || len.is_some_and(|len| **address >= len);
            let found = match st.fits_buffer(len) {
                Ok(()) => None,
                Err(Unanswered::Error(error)) => Some((error.kind(), error.reason())),
                Err(other) => return Err(other.to_string()),
            };
            let lowest = addresses.iter().min().copied().unwrap_or(0);
            match (addresses.iter().find(outside), found) {
                (None, None) => count(&fitting),
                (Some(_), Some((ErrorKind::AddressOutside, reason))) if lowest < 0 => {
                    same("that the lowest address is told", reason.contains(&lowest.to_string()), true)?;
                    count(&below);
                }
                (Some(_), Some((ErrorKind::AddressOutside, _))) => count(&past),
                (expected, found) => {
                    return Err(format!("{expected:?} is read of {len:?}, but the answer is {found:?}"));
                }
            }
            if let Some(view) = st.as_view() {
                same("the view's answer", view.fits_buffer(len).is_ok(), st.fits_buffer(len).is_ok())?;
            } else if st.fits_buffer(len).is_ok() && st.views()[0].fits_buffer(len).is_err() {
                count(&unread);
            }
        }
        Ok(())
    });
    let [fitting, below, past, unread] = [fitting, below, past, unread].map(|cell| cell.get());
    println!("{fitting} fit, {below} read below 0, {past} past the end; of {unread} the first view alone would");
    let few = held(cases::QUERIES) / 10;
    assert!(fitting > few && below > few && past > few / 2 && unread > 0);
}

#[test]
fn found_by_a_review_addresses_before_the_array_are_told() {
    let outside = |text: &str| text.parse::<ShapeTracker>().unwrap().fits_buffer(None).unwrap_err().to_string();
    let said = |low: i64, before: i64| {
        format!("tracker: the view reads from address {low} on, {before} before the beginning of the array")
    };
    assert_eq!(outside("(3, 4):(-5, 1)"), said(-10, 10));
    assert_eq!(outside("(3, 4):(5, 1) offset -7"), said(-7, 7));
    assert_eq!(outside("(3, 4):(4, 1) offset -1"), said(-1, 1));
    // Pads have negative addresses by the formula, and read none of them.
    assert!("(3).pad((7, 0))".parse::<ShapeTracker>().unwrap().fits_buffer(Some(3)).is_ok());
}

#[test]
fn found_by_an_audit_a_view_is_inverted_over_the_buffer_that_it_needs() {
    let st: ShapeTracker = "(3, 2).permute(1, 0).reshape(6).shrink((0, 5))".parse().unwrap();
    assert_eq!(st.buffer_len().unwrap(), 5);
    let inverse = st.invert([5]).unwrap();
    assert!(inverse.addresses().eq([0, 3, 1, 4, 2].map(Some)));
    // Over a contiguous buffer nothing is added.
    assert_eq!(ShapeTracker::contiguous([5]).unwrap().compose(&st).unwrap(), st);
    let backwards = ShapeTracker::contiguous([5]).unwrap().flip([0]).unwrap().compose(&st).unwrap();
    assert!(backwards.addresses().eq([4, 2, 0, 3, 1].map(Some)));
    assert_eq!(backwards.views().len(), 2);
    let refused = st.invert([4]).unwrap_err().to_string();
    assert_eq!(refused, "invert: the view reads addresses 0 to 4, but what it reads from has 4 elements");
}

#[test]
fn found_by_an_audit_an_inverse_is_found_where_a_view_repeats_what_is_left_out() {
    let text = "(3, 7, 8).shrink((2, 3), (4, 6), (0, 8)).expand(3, 2, 8).as_strided((4,), (2,), 29)";
    let st: ShapeTracker = text.parse().unwrap();
    let inverse = st.invert([168]).unwrap();
    let read: Vec<_> = inverse.addresses().collect();
    for position in 0..4 {
        assert_eq!(read[st.address(&[position]).unwrap() as usize], Some(position));
    }
    assert_eq!(read.iter().flatten().count(), 4);

    // Rows 0 and 1 are the same, and of the four elements none is at one place in both; no split makes this one view.
    let st: ShapeTracker = "(1, 5).expand(3, 5).as_strided((3,), (4,), 1)".parse().unwrap();
    assert!(st.addresses().eq([1, 0, 4].map(Some)));
    let Err(err) = st.invert([5]) else { panic!() };
    assert_eq!(err, NotInvertible::LeftOut);
    assert!(err.to_string().contains("at elements that the views over it leave out"), "{err}");
}

#[test]
pub(crate) fn trackers_are_equal_exactly_when_their_addresses_are() {
    let (equal, different) = (Cell::new(0u32), Cell::new(0u32));
    check(
        cases::QUERIES,
        |tape| {
            // The same map in other clothes: a chain, and the chain with something that undoes itself in between; or
            // the chain with one number changed.
            let one = stack(tape);
            let mut other = one.clone();
            let last = other.len() - 1;
            let shape = other[last].shape.clone();
            match tape.below(4) {
                0 if !shape.contains(&0) => {
                    let between = tape.sizes_of(other[last].numel());
                    other.push(RawView::contiguous(&between));
                    other.push(RawView::contiguous(&shape));
                }
                1 => {
                    let flipped: Vec<usize> = (0..shape.len()).filter(|_| tape.chance(50)).collect();
                    for _ in 0..2 {
                        let mut view = RawView::contiguous(&shape);
                        for &axis in &flipped {
                            view.offset += view.strides[axis] * (shape[axis] - 1).max(0);
                            view.strides[axis] *= -1;
                        }
                        other.push(view);
                    }
                }
                2 => {
                    let view = &mut other[0];
                    if !view.strides.is_empty() {
                        let axis = tape.below(view.strides.len() as i64) as usize;
                        view.strides[axis] += tape.pick(&[1, 1, -1]);
                    }
                }
                _ => {
                    let view = &mut other[0];
                    if let Some(mask) = view.mask.as_mut().filter(|mask| !mask.is_empty()) {
                        let axis = tape.below(mask.len() as i64) as usize;
                        mask[axis] = tape.range(view.shape[axis]);
                    }
                }
            }
            (one, other)
        },
        |(one, other)| {
            let (a, b) = (evaluate(one), evaluate(other));
            match timed("difference", || tracker(one).difference(&tracker(other))).map_err(|error| error.to_string())? {
                None => {
                    equal.set(equal.get() + 1);
                    same("equality", true, a == b)
                }
                Some(index) => {
                    different.set(different.get() + 1);
                    if a.at(&index) != b.at(&index) {
                        Ok(())
                    } else {
                        Err(format!("there is no difference at {index:?}"))
                    }
                }
            }
        },
    );
    println!("{} pairs of trackers are equal, {} differ", equal.get(), different.get());
    assert!(equal.get() > held(cases::QUERIES) / 4 && different.get() > held(cases::QUERIES) / 10);
}

#[test]
pub(crate) fn conditions_are_exactly_the_equations_of_all_steps() {
    check(
        cases::QUERIES,
        |tape| {
            let mut pair = tape.pair();
            pair[0].mask = None;
            // Without its mask the earlier view must still hold everything that the later one reads.
            pair
        },
        |pair| {
            if pair[0].shape.contains(&0) || pair[1].numel() > 500 {
                return Ok(());
            }
            let found = conditions(&pair[0].shape, &pair[1].view()).map_err(|error| error.to_string())?;
            let equations = found.equations().iter().map(|equation| equation.to_vec()).collect();
            same("the equations", reduced(equations), oracle::conditions(&pair[0].shape, &pair[1]))?;
            let merges = evaluate(pair).single_view().is_some();
            same("whether they hold", found.hold_for(&pair[0].strides), merges)
        },
    );
}

#[test]
fn merged_axes_are_those_of_the_source() {
    check(cases::QUERIES, Tape::earlier_view, |raw| {
        let view = raw.view();
        let found: Vec<_> = view.merge_dims().iter().map(|dim| (dim.size, dim.stride, dim.real)).collect();
        same("merge_dims", found, merge_dims(&RawView::from(&view)))
    });
}

/// `_merge_dims` of "How dimension merging works", line by line.
fn merge_dims(view: &RawView) -> Vec<(i64, i64, i64)> {
    let Some((&size, sizes)) = view.shape.split_first() else { return Vec::new() };
    let stride = view.strides[0];
    let mut ret = vec![(size, stride, if stride != 0 { size } else { 0 })];
    let one_is_left = |axis: usize, size: i64| match &view.mask {
        Some(mask) => mask[axis].1 - mask[axis].0 == 1,
        None => size == 1,
    };
    let mut merging = stride == 0 && one_is_left(0, size);
    for (axis, (&sh, &st)) in sizes.iter().zip(&view.strides[1..]).enumerate().map(|(i, axis)| (i + 1, axis)) {
        if sh == 1 {
            continue;
        }
        let last = ret.last_mut().expect("there is a first");
        if merging || last.1 == sh * st {
            let real = if merging { sh } else { last.2 * sh };
            *last = (last.0 * sh, st, if st != 0 { real } else { 0 });
        } else {
            ret.push((sh, st, if st != 0 { sh } else { 0 }));
        }
        merging = st == 0 && one_is_left(axis, sh);
    }
    ret
}

#[test]
fn the_max_merge_view_reads_the_same_elements_and_joins_what_can_be_joined() {
    check(cases::QUERIES, Tape::earlier_view, |raw| {
        if raw.numel() > 1000 {
            return Ok(());
        }
        let (array, merged) = (raw.array(), raw.view().max_merge());
        let found = RawView::from(&merged).array();
        same("the elements", &found.cells, &array.cells)?;
        // No two neighbours are one axis of a view.
        for axis in 1..merged.rank() {
            let mut shape = merged.shape().to_vec();
            let inner = shape.remove(axis);
            shape[axis - 1] *= inner;
            if !merged.is_empty() && found.reshape(&shape).single_view().is_some() {
                return Err(format!("{merged:?} could be of shape {shape:?}"));
            }
        }
        Ok(())
    });
}

#[test]
pub(crate) fn a_shape_fits_exactly_when_it_is_a_view_and_the_copy_makes_it_one() {
    let (fits, blocked) = (Cell::new(0u32), Cell::new(0u32));
    check(
        cases::QUERIES,
        |tape| {
            let view = tape.earlier_view();
            let shape = tape.sizes_of(view.numel());
            (view, shape)
        },
        |(raw, shape)| {
            if raw.numel() > 1000 {
                return Ok(());
            }
            let stack = [raw.clone(), RawView::contiguous(shape)];
            let array = evaluate(&stack);
            match (timed("fit", || fit(&raw.view(), shape)), array.single_view()) {
                (Ok(view), Some(expected)) => {
                    fits.set(fits.get() + 1);
                    if expected == view { Ok(()) } else { Err(format!("{view:?} should be {expected:?}")) }
                }
                (Err(Misfit::Blocked(why)), None) => {
                    blocked.set(blocked.get() + 1);
                    check_witness(why.witness(), shape, |index| look_up(&stack, index))?;
                    if why.obstacles().is_empty() {
                        return Err("there is no obstacle".into());
                    }
                    copy_works(&array, why.copied(), why.view())?;
                    if raw.mask.is_some() {
                        return Ok(());
                    }
                    let constant = |axis: usize| matches!(array.stride(axis), Some(Some(ratio)) if ratio.rise == 0);
                    let varying = (0..shape.len()).filter(|&axis| !constant(axis) && shape[axis] > 1);
                    let least: i64 = varying.map(|axis| shape[axis]).product();
                    if why.elements() <= least { Ok(()) } else { Err(format!("{:?} is not minimal", why.copied())) }
                }
                (found, expected) => Err(format!("{found:?} should be {expected:?}")),
            }
        },
    );
    println!("{} fit, {} are blocked", fits.get(), blocked.get());
    assert!(fits.get() > held(cases::QUERIES) / 20 && blocked.get() > held(cases::QUERIES) / 20);
}

/// Copies elements into a fresh buffer and reads them back under the new shape.
fn copy_works(array: &Array, copied: &[View], view: &View) -> Result<(), String> {
    let buffer: Vec<_> = copied.iter().flat_map(|copied| RawView::from(copied).array().cells).collect();
    let mut why = Ok(());
    array.for_each_index(|index, expected| {
        let found = view.address(index).and_then(|address| buffer.get(address as usize).copied().flatten());
        if found != expected {
            let at = position(&array.shape, index);
            why = Err(format!("after the copy element {at} is {found:?}, and should be {expected:?}"));
        }
    });
    why
}

#[test]
fn large_views_whose_strides_keep_apart_do_not_collide() {
    let views = [
        View::new([1_896_438_572_014_070], [607], 0, None),
        View::new([i64::MAX], [1], 0, None),
        View::new([i64::MAX], [-1], i64::MAX, Some(&[(1 << 40, 1 << 62)])),
        View::new([1 << 30, 1 << 31], [1, 1 << 30], 0, None),
        View::new([1_000_000_000, 1_000_000_000], [-1, 1_000_000_007], 1 << 40, None),
        View::new([1 << 20, 1 << 20, 1 << 20], [1 << 41, 1, -(1 << 20)], 1 << 41, None),
    ];
    for view in views.map(Result::unwrap) {
        assert_eq!(ShapeTracker::from(view.clone()).collision(), Ok(None), "{view:?}");
    }
    let overlapping = ShapeTracker::from(View::new([1 << 40, 3], [1, (1 << 40) - 1], 0, None).unwrap());
    let [a, b] = overlapping.collision().unwrap().expect("the rows overlap by one");
    assert!(a != b && overlapping.address(&a) == overlapping.address(&b));
}

#[test]
fn views_over_memory_that_span_all_of_i64_are_answered() {
    const VAST: i64 = 2_305_843_009_213_693_953;
    let views = [
        View::new([VAST], [6], -9_223_372_036_854_644_593, None),
        View::new([VAST - 1, 2], [6, 1], -9_223_372_036_854_644_593, None),
        View::new([3, 3], [i64::MAX - 1, 1], -i64::MAX, None),
        View::new([2, 3], [-i64::MAX, 1 << 61], 1 << 61, None),
    ];
    for view in views.map(Result::unwrap) {
        let (numel, rank) = (view.numel(), view.rank());
        let tracker = ShapeTracker::from(view.clone());
        let ends = |at: i64| i128::from(view.offset()) + i128::from(at);
        let reach = |sign: i128| -> i128 {
            let reach = view.shape().iter().zip(view.strides()).map(|(n, s)| i128::from(n - 1) * i128::from(*s));
            reach.map(|reach| if reach * sign > 0 { reach } else { 0 }).sum()
        };
        let range = Some(((ends(0) + reach(-1)) as i64, (ends(0) + reach(1)) as i64));
        for st in [
            tracker.clone(),
            tracker.flip([0]).unwrap(),
            tracker.permute((0..rank as i64).rev().collect::<Vec<_>>()).unwrap(),
            tracker.reshape([numel]).unwrap(),
            tracker.permute((0..rank as i64).rev().collect::<Vec<_>>()).unwrap().reshape([numel]).unwrap(),
        ] {
            assert_eq!(st.address_range(), Ok(range), "{st:?}");
            let _ = (st.single_view(), st.real_strides(), st.collision(), st.axis_is_masked(0));
            let Ok(code) = st.index_expr() else { continue };
            for position in [0, 1, numel / 2, numel - 1] {
                let mut rest = position;
                let mut index = vec![0; st.rank()];
                for (i, size) in index.iter_mut().zip(st.shape()).rev() {
                    (*i, rest) = (rest % size, rest / size);
                }
                let values: Vec<i64> = code
                    .graph()
                    .variables()
                    .iter()
                    .map(|variable| index[variable.name[3..].parse::<usize>().unwrap()])
                    .collect();
                assert_eq!(code.graph().evaluate(code.index(), &values).ok(), st.address(&index), "{st:?} {index:?}");
            }
        }
    }
}
