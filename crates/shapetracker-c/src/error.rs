//! Why something could not be done, as a value.

use std::ffi::{CStr, CString, c_char};
use std::ops::Range;
use std::ptr;

use shapetracker::ParseError;

use crate::caller::{Caller, Handle, c_text, free, free_text, handed};

/// Why a call could not do what it was asked for: the operation, the kind of mistake, its place in a text, and a sentence.
pub struct Error {
    operation: CString,
    kind: CString,
    sentence: CString,
    place: Option<Range<usize>>,
}

impl Handle for Error {
    const WHAT: &'static str = "error";
}

/// What is wrong, on its way out.
#[derive(Debug)]
pub(crate) struct Mistake {
    kind: &'static str,
    operation: String,
    sentence: String,
    place: Option<Range<usize>>,
}

impl Mistake {
    #[cold]
    pub(crate) fn new(kind: &'static str, operation: impl Into<String>, sentence: impl Into<String>) -> Mistake {
        Mistake { kind, operation: operation.into(), sentence: sentence.into(), place: None }
    }

    /// The same mistake, at bytes of the text that was given.
    pub(crate) fn at(self, place: Range<usize>) -> Mistake {
        Mistake { place: Some(place), ..self }
    }

    /// The same mistake where so many bytes were put before the text that was given.
    pub(crate) fn after(self, bytes: usize) -> Mistake {
        let place = self.place.map(|place| place.start.saturating_sub(bytes)..place.end.saturating_sub(bytes));
        Mistake { place, ..self }
    }

    /// A text that cannot be read.
    pub(crate) fn text(operation: &str, err: &ParseError) -> Mistake {
        Mistake::new("syntax", operation, err.message()).at(err.span())
    }

    /// What is asked of numbers, and not of names.
    pub(crate) fn names(operation: &str) -> Mistake {
        let sentence = "takes numbers, and here sizes have names: say values, as st_tracker_at does";
        Mistake::new("names", operation, sentence)
    }

    /// Whether it is that a text cannot be read.
    pub(crate) fn is_syntax(&self) -> bool {
        self.kind == "syntax"
    }

    #[cold]
    pub(crate) fn handed(self) -> *mut Error {
        let Mistake { kind, operation, sentence, place } = self;
        let (operation, kind, sentence) = (c_text(operation), c_text(kind), c_text(sentence));
        handed(Error { operation, kind, sentence, place })
    }
}

impl From<shapetracker::Error> for Mistake {
    fn from(err: shapetracker::Error) -> Mistake {
        Mistake::new(err.kind().name(), err.operation(), err.reason())
    }
}

impl From<shapetracker_symbolic::Error> for Mistake {
    fn from(err: shapetracker_symbolic::Error) -> Mistake {
        Mistake::new(err.kind().name(), err.operation(), err.reason())
    }
}

impl From<indexpr::Error> for Mistake {
    fn from(err: indexpr::Error) -> Mistake {
        shapetracker::Error::from(err).into()
    }
}

impl From<shapetracker_cute::Error> for Mistake {
    fn from(err: shapetracker_cute::Error) -> Mistake {
        let kind = if err.is_limit() { "undecided" } else { "layout" };
        Mistake::new(kind, err.operation(), err.reason())
    }
}

impl From<shapetracker::ChainError> for Mistake {
    fn from(err: shapetracker::ChainError) -> Mistake {
        let (operation, sentence) = match err.error() {
            Some(err) => (err.operation(), err.reason()),
            None => ("read", err.message()),
        };
        Mistake::new(err.name(), operation, sentence).at(err.span())
    }
}

impl From<shapetracker_symbolic::ChainError> for Mistake {
    fn from(err: shapetracker_symbolic::ChainError) -> Mistake {
        let (operation, sentence) = match err.error() {
            Some(err) => (err.operation(), err.reason()),
            None => ("read", err.message()),
        };
        Mistake::new(err.name(), operation, sentence).at(err.place().span())
    }
}

/// What takes more work than is done.
pub(crate) fn undecided(operation: &str, why: impl ToString) -> Mistake {
    Mistake::new("undecided", operation, why.to_string())
}

/// A question to a tracker that was not answered.
pub(crate) fn unanswered(operation: &str, err: shapetracker::Unanswered) -> Mistake {
    match err {
        shapetracker::Unanswered::Error(err) => err.into(),
        err => undecided(operation, err),
    }
}

/// What moving data takes.
pub(crate) fn copying(operation: &str, err: shapetracker_copy::Error) -> Mistake {
    match err {
        shapetracker_copy::Error::Layout(err) => err.into(),
        shapetracker_copy::Error::Undecided(err) => undecided(operation, err),
        err => Mistake::new("copy", operation, err.to_string()),
    }
}

fn of_error(error: *const Error, of: impl FnOnce(&Error) -> &CStr) -> *const c_char {
    // SAFETY: the promises of the caller.
    #[allow(unsafe_code)]
    let caller = unsafe { Caller::of("error") };
    caller.asked(ptr::null(), |caller| Ok(of(caller.handle("the error", error)?).as_ptr()))
}

/// The operation that could not be done, such as `reshape`. The text lives as long as the error does.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_error_operation(error: *const Error) -> *const c_char {
    of_error(error, |error| &error.operation)
}

/// The sort of mistake, as a stable name to branch on: those of the library's JSON (`size_mismatch`, `overflow`, `axis_out_of_range`,
/// `undecided`, `syntax` ..) and of this interface: `null` (a null pointer), `handle` (a handle of another kind, or a freed one),
/// `utf8` (a text that is no UTF-8), `length` (memory that is too short), `names` (numbers are needed, and sizes have names), `panic`
/// (a defect of the library). The text lives as long as the error does.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_error_kind(error: *const Error) -> *const c_char {
    of_error(error, |error| &error.kind)
}

/// What is wrong, and where it can be said what would work, as a sentence for the person who made the mistake. The text lives as long
/// as the error does.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_error_sentence(error: *const Error) -> *const c_char {
    of_error(error, |error| &error.sentence)
}

/// Where in the text that was given: the first byte and the one behind the last. False where the mistake is in no text.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_error_place(error: *const Error, begin: *mut usize, end: *mut usize) -> bool {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("error") };
    caller.asked(false, |caller| {
        let Some(place) = &caller.handle("the error", error)?.place else { return Ok(false) };
        caller.also(begin, place.start);
        caller.also(end, place.end);
        Ok(true)
    })
}

/// Ends an error; null is left alone.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_error_free(error: *mut Error) {
    // SAFETY: the promise of the caller.
    unsafe { free(error) }
}

/// Ends a text that a function of this library made; null is left alone. Texts that live as long as a handle are not ended.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_text_free(text: *mut c_char) {
    // SAFETY: the promise of the caller.
    unsafe { free_text(text) }
}
