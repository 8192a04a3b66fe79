//! Calls of the C interface as bytes say them, with handles of any kind, alive, freed or null: with debug assertions all of them are
//! answered. Nothing panics, and what is refused has a kind and a sentence and writes no result.
#![no_main]

use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::{null, null_mut};

use libfuzzer_sys::fuzz_target;
use shapetracker_c::*;

/// Bytes, of which each is used once; then there are zeros.
struct Bytes<'a>(&'a [u8]);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        self.0.split_off_first().copied().unwrap_or_default()
    }

    /// A small number, or one at an end of what there is.
    fn number(&mut self) -> i64 {
        match self.next() {
            250 => i64::MAX,
            251 => i64::MIN,
            252 => 1 << 40,
            byte => i64::from(byte as i8) / 8,
        }
    }

    fn numbers(&mut self) -> Vec<i64> {
        (0..self.next() % 7).map(|_| self.number()).collect()
    }

    /// A text of pieces that mean something, or of any bytes.
    fn text(&mut self) -> CString {
        const PIECES: [&str; 32] = [
            "(",
            ")",
            ",",
            "2",
            "3",
            "12",
            "N",
            "T",
            "-1",
            ".reshape",
            ".permute",
            ".pad",
            ".flip",
            "(0)",
            "(2, 3)",
            "(N, 4)",
            ".T",
            "[",
            "]",
            ":",
            "::2",
            "*",
            "//",
            "+",
            "x",
            "y",
            "=",
            "; ",
            "y[i] += x[i]; x = (4,); y = (4,)",
            "i",
            "(2,2):(1,2)",
            "..",
        ];
        let mut text = Vec::new();
        for _ in 0..self.next() % 12 {
            match self.next() {
                byte @ ..224 => text.extend(PIECES[usize::from(byte) % PIECES.len()].bytes()),
                byte => text.push(byte),
            }
        }
        CString::new(text).unwrap_or_default()
    }
}

/// Whether a call was refused: then with a reason that is no panic.
fn is_refused(error: *mut Error) -> bool {
    if error.is_null() {
        return false;
    }
    // SAFETY: the error is a living one, which is ended.
    unsafe {
        let text = |text: *const c_char| CStr::from_ptr(text).to_str().expect("texts are UTF-8");
        let (kind, sentence) = (text(st_error_kind(error)), text(st_error_sentence(error)));
        assert!(kind != "panic" && !kind.is_empty() && !sentence.is_empty(), "{kind}: {sentence}");
        st_error_free(error);
    }
    true
}

/// Keeps a handle that a call has made, and ends a text.
macro_rules! kept {
    ($handles:ident, |$out:ident| $call:expr) => {{
        let mut made = null_mut();
        let $out = &raw mut made;
        assert_eq!(is_refused($call), made.is_null());
        if !made.is_null() {
            $handles.push(made.cast::<c_void>());
        }
    }};
}

fuzz_target!(|bytes: &[u8]| {
    let mut bytes = Bytes(bytes);
    // Freed handles stay in the list.
    let mut handles: Vec<*mut c_void> = vec![null_mut()];
    for _ in 0..12 {
        let (what, one, two) = (bytes.next(), bytes.next(), bytes.next());
        let handle = |byte: u8| handles[usize::from(byte) % handles.len()];
        let (one, two) = (handle(one), handle(two));
        let taken = |text: *mut c_char| unsafe { st_text_free(text) };
        // SAFETY: builds with debug assertions take any pointer for a handle; lists are as long as is said, and texts end.
        unsafe {
            match what % 28 {
                0 | 1 => {
                    let (text, known) = (bytes.text(), bytes.text());
                    let known = if bytes.next() % 2 == 0 { null() } else { known.as_ptr() };
                    kept!(handles, |out| st_tracker_read(text.as_ptr(), known, out));
                }
                2 | 3 => {
                    let shape = bytes.numbers();
                    kept!(handles, |out| st_tracker_new(shape.as_ptr(), shape.len(), out));
                }
                operation @ 4..10 => {
                    let list = bytes.numbers();
                    let count = if matches!(operation, 8 | 9) { list.len() / 2 } else { list.len() };
                    let call = [
                        st_tracker_reshape,
                        st_tracker_permute,
                        st_tracker_expand,
                        st_tracker_flip,
                        st_tracker_pad,
                        st_tracker_shrink,
                    ][usize::from(operation) - 4];
                    kept!(handles, |out| call(one.cast(), list.as_ptr(), count, out));
                }
                10 => {
                    let calls = bytes.text();
                    kept!(handles, |out| st_tracker_apply(one.cast(), calls.as_ptr(), null(), out));
                }
                11 => kept!(handles, |out| st_tracker_then(one.cast(), two.cast(), out)),
                12 => kept!(handles, |out| st_tracker_single_view(one.cast(), out)),
                13 => {
                    let mut view = null_mut();
                    if !is_refused(st_answer_view(one.cast(), &mut view)) && !view.is_null() {
                        handles.push(view.cast());
                    }
                }
                14 => kept!(handles, |out| st_tracker_index(one.cast(), out)),
                15 => {
                    let (text, known) = (bytes.text(), bytes.text());
                    kept!(handles, |out| {
                        st_expression_read(text.as_ptr(), known.as_ptr(), null(), c"c".as_ptr(), out)
                    });
                }
                16 => kept!(handles, |out| st_expression_simplify(one.cast(), out)),
                17 => {
                    let count = st_expression_nodes(one.cast());
                    for number in 0..count + 1 {
                        let mut node = std::mem::zeroed();
                        assert_eq!(is_refused(st_expression_node(one.cast(), number, &mut node)), number == count);
                    }
                    let (values, mut out) = (bytes.numbers(), 0);
                    is_refused(st_expression_evaluate(one.cast(), 0, values.as_ptr(), values.len(), &mut out));
                }
                18 => {
                    let (text, mut out) = (bytes.text(), null_mut());
                    is_refused(st_expression_code(one.cast(), text.as_ptr(), &mut out));
                    taken(out);
                }
                19 => {
                    let text = bytes.text();
                    kept!(handles, |out| st_nest_read(text.as_ptr(), null(), out));
                }
                20 => {
                    let (name, factor, mut out) = (bytes.text(), bytes.text(), null_mut());
                    let factors = [factor.as_ptr(), c"2".as_ptr()];
                    is_refused(st_nest_split(one.cast(), name.as_ptr(), factors.as_ptr(), 2));
                    is_refused(st_nest_code(one.cast(), c"rust".as_ptr(), null(), null(), null(), &mut out));
                    taken(out);
                }
                21 => {
                    let text = bytes.text();
                    kept!(handles, |out| st_layout_read(text.as_ptr(), out));
                }
                22 => kept!(handles, |out| st_layout_compose(one.cast(), two.cast(), out)),
                23 => kept!(handles, |out| st_layout_tracker(one.cast(), out)),
                24 => {
                    kept!(handles, |out| st_plan_new(one.cast(), usize::from(bytes.next() % 5), out));
                    let (buffer, mut tensor) = ([1_u8; 64], [2_u8; 64]);
                    let (from, to) = (buffer.as_ptr().cast(), tensor.as_mut_ptr().cast());
                    let lengths = [bytes.next(), bytes.next(), bytes.next()].map(|length| usize::from(length % 65));
                    is_refused(st_plan_read(two.cast(), from, lengths[0], to, lengths[1], from, lengths[2], 1));
                    is_refused(st_plan_write(two.cast(), from, lengths[0], to, lengths[1], 1));
                }
                25 => {
                    let (index, mut has, mut address) = (bytes.numbers(), false, 0);
                    is_refused(st_tracker_address(one.cast(), index.as_ptr(), index.len(), &mut has, &mut address));
                    let (mut view, mut text) = (std::mem::zeroed(), null_mut());
                    if !is_refused(st_tracker_view(one.cast(), 0, &mut view)) {
                        kept!(handles, |out| st_tracker_of_view(&view, out));
                    }
                    is_refused(st_tracker_document(one.cast(), &mut text));
                    taken(text);
                }
                26 => {
                    let (mut meets, mut why) = (false, null_mut());
                    is_refused(st_tracker_overlap(one.cast(), two.cast(), &mut meets, &mut why));
                    taken(why);
                }
                _ => end(one),
            }
        }
    }
    handles.into_iter().for_each(end);
});

/// Ends a handle of any kind: of another kind nothing is ended, and of a freed one neither.
fn end(handle: *mut c_void) {
    // SAFETY: builds with debug assertions take any pointer for a handle.
    unsafe {
        st_tracker_free(handle.cast());
        st_answer_free(handle.cast());
        st_expression_free(handle.cast());
        st_nest_free(handle.cast());
        st_plan_free(handle.cast());
        st_layout_free(handle.cast());
    }
}
