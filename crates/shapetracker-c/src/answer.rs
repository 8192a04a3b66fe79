//! Is it one strided view? The answer, with the view or the evidence.

use std::ffi::{CString, c_char};
use std::ptr;

use shapetracker::{Unmerged, Witness};
use shapetracker_symbolic::{bounded, guard_text};

use crate::caller::{Caller, Handle, c_text, free, handed};
use crate::error::{Error, Mistake};
use crate::tracker::{ST_MAX_RANK, Tracker};

/// For which values of the names a tracker is one strided view. A tracker of numbers has the one choice of no values.
pub struct Answer {
    kind: CString,
    sentence: CString,
    guard: CString,
    view: Option<Tracker>,
    witness: Option<Witness>,
    values: Vec<(CString, i64)>,
}

impl Handle for Answer {
    const WHAT: &'static str = "answer";
}

/// Proof that a tracker is not one view, which anyone can check by asking for the addresses of a few elements.
///
/// Where `is_uneven_step`, two steps along `axis`, from the first two indices to those that are one further there, move the address
/// by different amounts: from `before` to `after`. Else the first two indices have an address, and the third, which lies between them on
/// every axis, has none, so that the elements with an address are no box.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Evidence {
    /// Whether it is two steps; else three indices.
    pub is_uneven_step: bool,
    /// The axis of the steps.
    pub axis: usize,
    /// The number of axes: so many entries of each index count.
    pub rank: usize,
    /// The indices.
    pub indices: [[i64; ST_MAX_RANK]; 3],
    /// The addresses from which the two steps go.
    pub before: [i64; 2],
    /// The addresses to which they go.
    pub after: [i64; 2],
}

impl Evidence {
    fn of(witness: &Witness) -> Option<Evidence> {
        let (mut before, mut after, mut axis_of_steps) = ([0; 2], [0; 2], 0);
        let indices: Vec<&[i64]> = match witness {
            Witness::UnevenStep { axis, steps } => {
                axis_of_steps = *axis;
                before = [steps[0].from, steps[1].from];
                after = [steps[0].to, steps[1].to];
                steps.iter().map(|step| &step.index[..]).collect()
            }
            Witness::NotABox { valid, invalid } => vec![&valid[0], &valid[1], invalid],
            _ => return None,
        };
        let mut found = [[0; ST_MAX_RANK]; 3];
        for (place, index) in found.iter_mut().zip(&indices) {
            place[..index.len()].copy_from_slice(index);
        }
        Some(Evidence {
            is_uneven_step: matches!(witness, Witness::UnevenStep { .. }),
            axis: axis_of_steps,
            rank: indices[0].len(),
            indices: found,
            before,
            after,
        })
    }
}

impl Answer {
    pub(crate) fn of_numbers(tracker: &shapetracker::ShapeTracker) -> Result<Answer, Mistake> {
        let answer = |kind: &str, guard: &str, sentence: String| Answer {
            kind: c_text(kind),
            sentence: c_text(sentence),
            guard: c_text(guard),
            view: None,
            witness: None,
            values: Vec::new(),
        };
        Ok(match tracker.single_view() {
            Ok(view) => {
                let found = answer("all", "True", format!("one view: {view}"));
                Answer { view: Some(Tracker::of_view(view)), ..found }
            }
            Err(Unmerged::Witness(witness)) => {
                Answer { witness: Some(witness.clone()), ..answer("never", "False", witness.to_string()) }
            }
            Err(Unmerged::Undecided) => answer("undecided", "False", Unmerged::Undecided.to_string()),
            Err(Unmerged::Error(err)) => return Err(err.into()),
            Err(err) => return Err(Mistake::new("undecided", "single_view", err.to_string())),
        })
    }

    pub(crate) fn of_names(named: &shapetracker_symbolic::ShapeTracker) -> Result<Answer, Mistake> {
        let answer = bounded(|| named.single_view());
        let scope = answer.scope(named.scope());
        let guard = guard_text(&answer.formula(), &scope);
        let view = answer.view().cloned().map(|view| Tracker::over(scope, view)).transpose()?;
        let counterexample = answer.counterexample();
        let values = counterexample.map_or(&[][..], |found| &found.values);
        let values = named.scope().names().iter().zip(values);
        let values = values.filter_map(|(name, &value)| Some((c_text(&*name.name), i64::try_from(value).ok()?)));
        Ok(Answer {
            kind: c_text(answer.kind()),
            sentence: c_text(answer.sentence(named.scope())),
            guard: c_text(guard),
            view,
            witness: counterexample.map(|found| found.witness.clone()),
            values: values.collect(),
        })
    }
}

fn of_answer(answer: *const Answer, of: impl FnOnce(&Answer) -> &CString) -> *const c_char {
    // SAFETY: the promises of the caller.
    #[allow(unsafe_code)]
    let caller = unsafe { Caller::of("answer") };
    caller.asked(ptr::null(), |caller| Ok(of(caller.handle("the answer", answer)?).as_ptr()))
}

/// `all` (one view for all values), `formula` (for exactly those where the guard holds), `never`, or `undecided` (where the guard holds
/// it is known to be one). The text lives as long as the answer does.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_answer_kind(answer: *const Answer) -> *const c_char {
    of_answer(answer, |answer| &answer.kind)
}

/// The answer as a sentence: `one view if and only if T == 1 or H == 1`; of numbers the view, or the evidence. The text lives as long as
/// the answer does.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_answer_sentence(answer: *const Answer) -> *const c_char {
    of_answer(answer, |answer| &answer.sentence)
}

/// The condition under which it is one view, as an expression of Python over the names: `T == 1 or H == 1`, `True`, `False`. The text
/// lives as long as the answer does.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_answer_guard(answer: *const Answer) -> *const c_char {
    of_answer(answer, |answer| &answer.guard)
}

/// The one view, as a tracker: it is the tensor wherever the guard holds. Null where it is never one view, or where no single set of
/// polynomials is the view for all values for which there is one.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_answer_view(answer: *const Answer, out: *mut *mut Tracker) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("answer") };
    caller.answer(out, |caller| {
        let view = caller.handle("the answer", answer)?.view.clone();
        Ok(view.map_or(ptr::null_mut(), handed))
    })
}

/// Proof that it is not one view, at the values that `st_answer_value` has; false where there is none.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_answer_witness(answer: *const Answer, out: *mut Evidence) -> bool {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("answer") };
    caller.asked(false, |caller| {
        let found = caller.handle("the answer", answer)?.witness.as_ref().and_then(Evidence::of);
        Ok(found.map(|found| caller.also(out, found)).is_some())
    })
}

/// The value that a name has where the witness proves that it is not one view: the name of that number, from 0 on, and its value, which
/// may be null; null where there are no more.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_answer_value(answer: *const Answer, number: usize, value: *mut i64) -> *const c_char {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("answer") };
    caller.asked(ptr::null(), |caller| {
        let Some((name, found)) = caller.handle("the answer", answer)?.values.get(number) else {
            return Ok(ptr::null());
        };
        caller.also(value, *found);
        Ok(name.as_ptr())
    })
}

/// Ends an answer; null is left alone.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_answer_free(answer: *mut Answer) {
    // SAFETY: the promise of the caller.
    unsafe { free(answer) }
}
