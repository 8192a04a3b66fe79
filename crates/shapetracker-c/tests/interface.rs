//! What C is told, beside elements that are moved one by one; and what it is told where it makes a mistake.

#![allow(unsafe_code)]

use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut, without_provenance};

use shapetracker_c::*;
use shapetracker_testing::{Rng, numbers};

/// The kind and the sentence of an error, which is ended.
fn told(error: *mut Error) -> (String, String) {
    assert!(!error.is_null(), "it is refused");
    // SAFETY: the error is a living one.
    unsafe {
        let text = |text: *const c_char| CStr::from_ptr(text).to_str().expect("texts are UTF-8").to_owned();
        let found = (text(st_error_kind(error)), text(st_error_sentence(error)));
        assert!(!found.1.is_empty() && !text(st_error_operation(error)).is_empty());
        st_error_free(error);
        found
    }
}

#[track_caller]
fn well(error: *mut Error) {
    if !error.is_null() {
        panic!("{:?}", told(error));
    }
}

/// What a text in C says, which is ended.
fn taken(text: *mut c_char) -> String {
    // SAFETY: the text is one that the library wrote.
    unsafe {
        let copy = CStr::from_ptr(text).to_str().expect("texts are UTF-8").to_owned();
        st_text_free(text);
        copy
    }
}

fn c(text: &str) -> CString {
    CString::new(text).unwrap()
}

fn read(text: &str, known: Option<&str>) -> *mut Tracker {
    let (text, known, mut out) = (c(text), known.map(c), null_mut());
    // SAFETY: texts and the place for the result live longer than the call.
    well(unsafe { st_tracker_read(text.as_ptr(), known.as_ref().map_or(null(), |known| known.as_ptr()), &mut out) });
    out
}

fn text_of(tracker: *const Tracker) -> String {
    let mut text = null_mut();
    // SAFETY: the tracker is a living one.
    well(unsafe { st_tracker_text(tracker, &mut text) });
    taken(text)
}

/// A tensor as a list of addresses: the oracle, which moves every element.
#[derive(Clone)]
struct Tensor {
    shape: Vec<i64>,
    elements: Vec<Option<i64>>,
}

fn indices(shape: &[i64]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for &size in shape {
        all = all.into_iter().flat_map(|index| (0..size).map(move |at| [&index[..], &[at]].concat())).collect();
    }
    all
}

impl Tensor {
    fn at(&self, index: &[i64]) -> Option<i64> {
        let place = index
            .iter()
            .zip(&self.shape)
            .try_fold(0, |place, (&at, &size)| (0..size).contains(&at).then_some(place * size + at));
        self.elements[place? as usize]
    }

    /// The tensor of another shape each of whose elements is one of this.
    fn moved(&self, shape: Vec<i64>, from: impl Fn(&[i64]) -> Vec<i64>) -> Tensor {
        let elements = indices(&shape).iter().map(|index| self.at(&from(index))).collect();
        Tensor { shape, elements }
    }
}

/// A random operation of C and of the oracle.
fn step(rng: &mut Rng, tracker: *const Tracker, tensor: &Tensor) -> (*mut Tracker, Tensor) {
    let (rank, shape, mut out) = (tensor.shape.len(), tensor.shape.clone(), null_mut());
    let place = &raw mut out;
    // SAFETY: the tracker is a living one, and lists are as long as is said.
    unsafe {
        let after = match rng.below(6) {
            0 => {
                let mut rest: i64 = shape.iter().product();
                let mut new = Vec::new();
                while rest > 1 && new.len() < 4 {
                    let divisors: Vec<i64> = (2..=rest).filter(|divisor| rest % divisor == 0).collect();
                    new.push(*rng.pick(&divisors));
                    rest /= new[new.len() - 1];
                }
                new.push(rest);
                well(st_tracker_reshape(tracker, new.as_ptr(), new.len(), place));
                Tensor { shape: new, ..tensor.clone() }
            }
            1 => {
                let mut axes: Vec<i64> = (0..rank as i64).collect();
                (0..rank).for_each(|at| axes.swap(at, rng.index(rank)));
                well(st_tracker_permute(tracker, axes.as_ptr(), rank, place));
                let new = axes.iter().map(|&axis| shape[axis as usize]).collect();
                tensor.moved(new, |index| {
                    let mut from = vec![0; rank];
                    axes.iter().zip(index).for_each(|(&axis, &at)| from[axis as usize] = at);
                    from
                })
            }
            2 => {
                let new: Vec<i64> = shape.iter().map(|&size| if size == 1 { 1 + rng.int(3) } else { size }).collect();
                well(st_tracker_expand(tracker, new.as_ptr(), rank, place));
                tensor.moved(new, |index| {
                    index.iter().zip(&shape).map(|(&at, &size)| if size == 1 { 0 } else { at }).collect()
                })
            }
            3 => {
                let pads: Vec<[i64; 2]> = (0..rank).map(|_| [rng.int(2), rng.int(2)]).collect();
                well(st_tracker_pad(tracker, pads.as_flattened().as_ptr(), rank, place));
                let new = shape.iter().zip(&pads).map(|(size, [before, after])| before + size + after).collect();
                tensor.moved(new, |index| index.iter().zip(&pads).map(|(at, [before, _])| at - before).collect())
            }
            4 => {
                let ranges: Vec<[i64; 2]> = shape
                    .iter()
                    .map(|&size| {
                        let begin = rng.int(size);
                        [begin, begin + 1 + rng.int(size - begin)]
                    })
                    .collect();
                well(st_tracker_shrink(tracker, ranges.as_flattened().as_ptr(), rank, place));
                let new = ranges.iter().map(|[begin, end]| end - begin).collect();
                tensor.moved(new, |index| index.iter().zip(&ranges).map(|(at, [begin, _])| at + begin).collect())
            }
            _ => {
                let axes: Vec<i64> = (0..rank as i64).filter(|_| rng.one_in(2)).collect();
                well(st_tracker_flip(tracker, axes.as_ptr(), axes.len(), place));
                tensor.moved(shape.clone(), |index| {
                    let turned =
                        |axis: usize, at: i64| if axes.contains(&(axis as i64)) { shape[axis] - 1 - at } else { at };
                    index.iter().enumerate().map(|(axis, &at)| turned(axis, at)).collect()
                })
            }
        };
        (out, after)
    }
}

/// The value of the nodes of an expression at an index, by the meaning that the header gives each.
fn evaluated(expression: *const Expression, index: &[i64]) -> Vec<i64> {
    // SAFETY: the expression is a living one; a node is plain data.
    unsafe {
        let mut values: Vec<i64> = Vec::new();
        for number in 0..st_expression_nodes(expression) {
            let mut node = std::mem::zeroed::<Part>();
            well(st_expression_node(expression, number, &mut node));
            let [a, b, c] = node.operands.map(|place| values.get(place).copied().unwrap_or_default());
            let value = match node.op {
                Op::Int | Op::Bool => node.value,
                Op::Variable => {
                    let name = CStr::from_ptr(node.name).to_str().unwrap();
                    index[name.strip_prefix("idx").unwrap().parse::<usize>().unwrap()]
                }
                Op::Add => a + b,
                Op::Subtract => a - b,
                Op::Multiply => a * b,
                Op::Divide => a.div_euclid(b),
                Op::Remainder => a.rem_euclid(b),
                Op::Minimum => a.min(b),
                Op::Maximum => a.max(b),
                Op::Xor => a ^ b,
                Op::Less => i64::from(a < b),
                Op::LessOrEqual => i64::from(a <= b),
                Op::Greater => i64::from(a > b),
                Op::GreaterOrEqual => i64::from(a >= b),
                Op::Equal => i64::from(a == b),
                Op::NotEqual => i64::from(a != b),
                Op::And => a & b,
                Op::Or => a | b,
                Op::Within => i64::from((node.value..node.end).contains(&a)),
                Op::Not => 1 - a,
                Op::Select => {
                    if a == 1 {
                        b
                    } else {
                        c
                    }
                }
            };
            assert!((node.least..=node.greatest).contains(&value), "{:?}: {value}", node.op);
            values.push(value);
        }
        let root = |number| {
            let mut root = 0;
            well(st_expression_root(expression, number, &mut root));
            values[root]
        };
        vec![root(0), root(1)]
    }
}

#[test]
fn chains_have_the_elements_that_were_moved_there() {
    for case in numbers(400) {
        let mut rng = Rng(case);
        let shape: Vec<i64> = (0..1 + rng.below(3)).map(|_| 1 + rng.int(4)).collect();
        let mut tracker = null_mut();
        // SAFETY: the shape is as long as is said.
        well(unsafe { st_tracker_new(shape.as_ptr(), shape.len(), &mut tracker) });
        let mut tensor = Tensor { elements: (0..shape.iter().product()).map(Some).collect(), shape };
        for _ in 0..1 + rng.below(6) {
            let (after, moved) = step(&mut rng, tracker, &tensor);
            // SAFETY: the tracker is not used again.
            unsafe { st_tracker_free(tracker) };
            (tracker, tensor) = (after, moved);
            if tensor.elements.len() > 600 {
                break;
            }
        }
        let (text, rank) = (text_of(tracker), tensor.shape.len());
        let (mut index, mut plan, mut answer) = (null_mut(), null_mut(), null_mut());
        // SAFETY: handles are living ones until they are ended, and lists as long as is said.
        unsafe {
            assert_eq!(st_tracker_rank(tracker), rank, "{text}");
            well(st_tracker_index(tracker, &mut index));
            for place in indices(&tensor.shape) {
                let (mut has, mut address) = (false, -1);
                well(st_tracker_address(tracker, place.as_ptr(), rank, &mut has, &mut address));
                assert_eq!(has.then_some(address), tensor.at(&place), "{text} at {place:?}");
                let values = evaluated(index, &place);
                assert_eq!((values[1] == 1).then_some(values[0]), tensor.at(&place), "{text} at {place:?}");
            }
            let mut length = 0;
            well(st_tracker_buffer_length(tracker, &mut length));
            let needed = tensor.elements.iter().flatten().max().map_or(0, |last| last + 1);
            assert_eq!(length, needed, "{text}");

            // As bytes of two: each element is its address.
            well(st_plan_new(tracker, 2, &mut plan));
            let buffer: Vec<u16> = (0..length as u16).collect();
            let (mut out, fill) = (vec![7_u16; tensor.elements.len()], 0xffff_u16);
            let (from, to) = (buffer.as_ptr().cast(), out.as_mut_ptr().cast());
            let error = st_plan_read(plan, from, 2 * buffer.len(), to, 2 * out.len(), (&raw const fill).cast(), 2, 1);
            well(error);
            let expected = tensor.elements.iter().map(|address| address.map_or(fill, |address| address as u16));
            assert!(out.iter().copied().eq(expected), "{text}");
            well(st_plan_read(plan, from, 2 * buffer.len(), to, 2 * out.len(), null(), 0, 1));
            let expected = tensor.elements.iter().map(|address| address.map_or(0, |address| address as u16));
            assert!(out.iter().copied().eq(expected), "{text}, filled with zeros");

            // The one view is the same map, and evidence against it is checked element by element.
            well(st_tracker_single_view(tracker, &mut answer));
            let (mut view, mut witness) = (null_mut(), std::mem::zeroed::<Evidence>());
            well(st_answer_view(answer, &mut view));
            if view.is_null() {
                assert!(st_answer_witness(answer, &mut witness), "{text}");
                let at = |number: usize| tensor.at(&witness.indices[number][..rank]);
                if witness.is_uneven_step {
                    let next = |number: usize| {
                        let mut index = witness.indices[number][..rank].to_vec();
                        index[witness.axis] += 1;
                        tensor.at(&index)
                    };
                    assert_eq!([at(0), at(1)], witness.before.map(Some), "{text}");
                    assert_eq!([next(0), next(1)], witness.after.map(Some), "{text}");
                    assert_ne!(witness.after[0] - witness.before[0], witness.after[1] - witness.before[1], "{text}");
                } else {
                    assert!(at(0).is_some() && at(1).is_some() && at(2).is_none(), "{text}");
                }
            } else {
                let mut found = std::mem::zeroed::<Strided>();
                well(st_tracker_view(view, 0, &mut found));
                for place in indices(&tensor.shape) {
                    let inside = (0..rank).all(|axis| (found.begins[axis]..found.ends[axis]).contains(&place[axis]));
                    let address = found.offset + (0..rank).map(|axis| place[axis] * found.strides[axis]).sum::<i64>();
                    // A masked scalar has no axis to say so with.
                    if rank > 0 || !found.is_masked {
                        assert_eq!(inside.then_some(address), tensor.at(&place), "{text} at {place:?}");
                    }
                }
                let mut again = null_mut();
                well(st_tracker_of_view(&found, &mut again));
                assert_eq!(text_of(again), text_of(view));
                st_tracker_free(again);
            }
            // What is written is read again.
            let again = read(&text, None);
            assert_eq!(text_of(again), text);
            st_tracker_free(again);
            st_tracker_free(view);
            st_answer_free(answer);
            st_plan_free(plan);
            st_expression_free(index);
            st_tracker_free(tracker);
        }
    }
}

/// Trackers of names, made as texts and by lists of numbers, are at values what the same text of numbers is.
#[test]
fn names_are_at_values_what_numbers_are() {
    let (text, known) = ("(B, 12, T).permute(1, 0, 2)", "B=1..65, T=1..4097");
    let named = read(text, Some(known));
    // SAFETY: handles are living ones until they are ended, and lists as long as is said.
    unsafe {
        let (mut split, mut applied, mut numbers) = (null_mut(), null_mut(), null_mut());
        well(st_tracker_flip(named, [1].as_ptr(), 1, &mut split));
        let (calls, more) = (c("reshape(3, 4, B, T).unsqueeze(0).expand(H, 3, 4, B, T)"), c("H=1..9"));
        well(st_tracker_apply(split, calls.as_ptr(), more.as_ptr(), &mut applied));
        let names = ["B", "T", "H"].map(c);
        let names = names.each_ref().map(|name| name.as_ptr());
        well(st_tracker_at(applied, names.as_ptr(), [2, 5, 3].as_ptr(), 3, &mut numbers));
        let chain = "(2, 12, 5).permute(1, 0, 2).flip(1).reshape(3, 4, 2, 5).unsqueeze(0).expand(3, 3, 4, 2, 5)";
        let expected = read(chain, None);
        assert_eq!(text_of(numbers), text_of(expected));

        let kind = told(st_tracker_view(applied, 0, &mut std::mem::zeroed())).0;
        assert_eq!(kind, "names");
        let kind = told(st_tracker_at(applied, names.as_ptr(), [2, 5, 9].as_ptr(), 3, &mut numbers)).0;
        assert_eq!(kind, "value_outside");
        let mut document = null_mut();
        well(st_tracker_document(applied, &mut document));
        let document = taken(document);
        assert!(document.starts_with(r#"{"shape":["H",3,4,"B","T"],"views":[{"#), "{document}");

        let flat = read("(T, H).permute(1, 0).reshape(T*H)", Some("T=1..4097"));
        let mut answer = null_mut();
        well(st_tracker_single_view(flat, &mut answer));
        let text = |text: *const c_char| CStr::from_ptr(text).to_str().unwrap().to_owned();
        assert_eq!(text(st_answer_kind(answer)), "formula");
        assert_eq!(text(st_answer_sentence(answer)), "one view if and only if T == 1 or H == 1");
        assert_eq!(text(st_answer_guard(answer)), "T == 1 or H == 1");
        let mut values = Vec::new();
        let mut value = 0;
        while let name @ 1.. = st_answer_value(answer, values.len(), &mut value).addr() {
            values.push((text(name as *const c_char), value));
        }
        assert!(values.len() == 2 && values.iter().all(|(_, value)| *value > 1), "{values:?}");
        for tracker in [named, split, applied, expected, flat] {
            st_tracker_free(tracker);
        }
        st_answer_free(answer);
    }
}

#[test]
fn expressions_nests_and_layouts_are_those_of_the_library() {
    // SAFETY: handles are living ones until they are ended, and lists as long as is said.
    unsafe {
        let (python, mut read, mut simple, mut out) = (c("python"), null_mut(), null_mut(), null_mut());
        let (text, known) = (c("(x*N + y) // N"), c("x=0..10, y=0..N, N=1.."));
        well(st_expression_read(text.as_ptr(), known.as_ptr(), null(), python.as_ptr(), &mut read));
        well(st_expression_simplify(read, &mut simple));
        well(st_expression_text(simple, 0, python.as_ptr(), &mut out));
        assert_eq!(taken(out), "x");
        let (mut before, mut after) = (0, 9);
        well(st_expression_cost(read, &mut before, null_mut()));
        well(st_expression_cost(simple, &mut after, null_mut()));
        assert!(before > 0 && after == 0);
        st_expression_free(read);
        st_expression_free(simple);

        let (text, c_text, mut nest) = (c("B[i] = A[i]; A = (6, 5).T.reshape(30); B = (30,)"), c("c"), null_mut());
        well(st_nest_read(text.as_ptr(), null(), &mut nest));
        let code = |nest: *const Nest| {
            let mut out = null_mut();
            well(st_nest_code(nest, c_text.as_ptr(), null(), null(), null(), &mut out));
            taken(out)
        };
        assert!(code(nest).contains(">>"));
        let (name, factors) = (c("i"), [c("7"), c("5")]);
        let factors = factors.each_ref().map(|factor| factor.as_ptr());
        let before = code(nest);
        told(st_nest_split(nest, name.as_ptr(), factors.as_ptr(), 2));
        assert_eq!(code(nest), before, "what is refused changes nothing");
        well(st_nest_split_where_affine(nest));
        assert!(!code(nest).contains(">>"));
        st_nest_free(nest);

        let (a, b, mut composed) = (c("(6,2):(8,2)"), c("(4,3):(3,1)"), null_mut());
        let (mut first, mut second) = (null_mut(), null_mut());
        well(st_layout_read(a.as_ptr(), &mut first));
        well(st_layout_read(b.as_ptr(), &mut second));
        well(st_layout_compose(first, second, &mut composed));
        well(st_layout_text(composed, &mut out));
        assert_eq!(taken(out), "((2,2),3):((24,2),8)");
        let (mut uneven, mut tile) = (null_mut(), null_mut());
        well(st_layout_read(c"(4,6,8):(2,3,5)".as_ptr(), &mut uneven));
        well(st_layout_read(c"6:3".as_ptr(), &mut tile));
        let (kind, why) = told(st_layout_compose(uneven, tile, &mut composed));
        assert_eq!(kind, "no_composition", "{why}");
        let mut tracker = null_mut();
        well(st_layout_tracker(composed, &mut tracker));
        st_tracker_free(tracker);
        for layout in [first, second, composed, uneven, tile] {
            st_layout_free(layout);
        }

        let (evens, odds) = (self::read("(8).step(2)", None), self::read("(8).shrink((1, 8)).step(2)", None));
        let (mut meets, mut why) = (true, null_mut());
        well(st_tracker_overlap(evens, odds, &mut meets, &mut why));
        assert!(!meets && taken(why).contains("divided by 2"));
        well(st_tracker_overlap(evens, evens, &mut meets, null_mut()));
        assert!(meets);
        let (mut strides, mut are) = ([0; 4], [false; 4]);
        well(st_tracker_real_strides(evens, strides.as_mut_ptr(), are.as_mut_ptr(), 4));
        assert_eq!((strides[0], are[0]), (2, true));
        assert_eq!(told(st_tracker_real_strides(evens, strides.as_mut_ptr(), are.as_mut_ptr(), 0)).0, "length");
        st_tracker_free(evens);
        st_tracker_free(odds);
    }
}

#[test]
fn mistakes_are_values() {
    let tracker = read("(2, 3)", None);
    let mut out = null_mut();
    let place = &raw mut out;
    // SAFETY: what is passed is what is promised, or null where that is an error.
    unsafe {
        let kinds = [
            (told(st_tracker_reshape(null(), [6].as_ptr(), 1, place)), "null"),
            (told(st_tracker_reshape(tracker, null(), 1, place)), "null"),
            (told(st_tracker_reshape(tracker, [6].as_ptr(), 1, null_mut())), "null"),
            (told(st_tracker_reshape(tracker, [6].as_ptr(), usize::MAX, place)), "length"),
            (told(st_tracker_pad(tracker, [6].as_ptr(), usize::MAX, place)), "length"),
            (told(st_tracker_reshape(tracker, [7].as_ptr(), 1, place)), "size_mismatch"),
            (told(st_tracker_permute(tracker, [0, 2].as_ptr(), 2, place)), "axis_out_of_range"),
            (told(st_tracker_new([i64::MAX, 2].as_ptr(), 2, place)), "overflow"),
            (told(st_tracker_new([-1].as_ptr(), 1, place)), "negative_size"),
            (told(st_tracker_new([1; 65].as_ptr(), 65, place)), "too_many_axes"),
            (told(st_tracker_read(null(), null(), place)), "null"),
            (told(st_tracker_read(c"(3, \xff)".as_ptr(), null(), place)), "utf8"),
            (told(st_tracker_read(c"(2, 9223372036854775808)".as_ptr(), null(), place)), "syntax"),
            (told(st_tracker_read(c"(2, N)".as_ptr(), c"N=1..1".as_ptr(), place)), "syntax"),
            (told(st_tracker_read(c"(2, 3).flip(2)".as_ptr(), null(), place)), "axis_out_of_range"),
            (told(st_tracker_apply(tracker, c"flip(2)".as_ptr(), null(), place)), "axis_out_of_range"),
            (told(st_tracker_then(tracker, null(), place)), "null"),
            (told(st_tracker_of_view(null(), place)), "null"),
            // A handle of another kind.
            (told(st_plan_read(tracker.cast(), null(), 0, null_mut(), 0, null(), 0, 1)), "handle"),
        ];
        for ((kind, sentence), expected) in kinds {
            assert_eq!(kind, expected, "{sentence}");
        }
        assert!(out.is_null(), "where something is refused, nothing is written");
        let mut has = false;
        assert_eq!(told(st_tracker_address(tracker, [0].as_ptr(), 1, &mut has, null_mut())).0, "rank");
        assert_eq!(told(st_tracker_address(tracker, [0, 3].as_ptr(), 2, &mut has, null_mut())).0, "range_outside");
        assert_eq!(told(st_tracker_view(tracker, 1, &mut std::mem::zeroed())).0, "views");
        let mut view = std::mem::zeroed::<Strided>();
        view.rank = 65;
        assert_eq!(told(st_tracker_of_view(&view, place)).0, "too_many_axes");

        // Places are those in the text that was given.
        let error = st_tracker_apply(tracker, c"flip(0).flop(1)".as_ptr(), null(), place);
        let (mut begin, mut end) = (0, 0);
        assert!(st_error_place(error, &mut begin, &mut end));
        assert_eq!(("syntax".to_owned(), (begin, end)), (told(error).0, (8, 12)));

        // Memory that is too short.
        let mut plan = null_mut();
        well(st_plan_new(tracker, 4, &mut plan));
        let (buffer, mut tensor) = ([0_u8; 24], [9_u8; 24]);
        for (buffer_bytes, tensor_bytes, fill_bytes) in [(20, 24, 4), (24, 20, 4), (24, 24, 3), (23, 24, 4)] {
            let (from, to) = (buffer.as_ptr().cast(), tensor.as_mut_ptr().cast());
            let fill = buffer.as_ptr().cast();
            let error = st_plan_read(plan, from, buffer_bytes, to, tensor_bytes, fill, fill_bytes, 1);
            assert_eq!(told(error).0, "copy");
        }
        assert_eq!(tensor, [9; 24]);
        let repeated = read("(1).expand(3)", None);
        let mut shared = null_mut();
        well(st_plan_new(repeated, 1, &mut shared));
        let error = st_plan_write(shared, buffer.as_ptr().cast(), 3, tensor.as_mut_ptr().cast(), 1, 1);
        assert!(told(error).1.contains("share an address"));
        st_plan_free(plan);
        st_plan_free(shared);
        st_tracker_free(repeated);
        st_tracker_free(tracker);
        st_tracker_free(null_mut());
        assert_eq!(st_tracker_rank(null()), 0);
        assert!(st_error_kind(null()).is_null());
    }
}

/// Builds with debug assertions know all handles.
#[test]
#[cfg(debug_assertions)]
fn handles_that_were_freed_and_foreign_ones_are_seen() {
    let (tracker, other) = (read("(2, 3)", None), read("(4)", None));
    let mut out = null_mut();
    // SAFETY: builds with debug assertions take any pointer for a handle.
    unsafe {
        st_tracker_free(tracker);
        assert_eq!(told(st_tracker_reshape(tracker, [6].as_ptr(), 1, &mut out)).0, "handle");
        st_tracker_free(tracker);
        let foreign = [0_u64; 64];
        assert_eq!(told(st_tracker_reshape(foreign.as_ptr().cast(), [6].as_ptr(), 1, &mut out)).0, "handle");
        assert_eq!(told(st_tracker_reshape(without_provenance(1), [6].as_ptr(), 1, &mut out)).0, "handle");
        st_plan_free(other.cast());
        assert_eq!(st_tracker_rank(other), 1, "a handle of another kind is not ended");
        st_tracker_free(other);
    }
}

/// What does not change may be used by any number of threads.
#[test]
fn handles_are_shared_by_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Tracker>();
    shared::<Answer>();
    shared::<Plan>();
    shared::<Layout>();
    shared::<Error>();
    shared::<Expression>();
}
