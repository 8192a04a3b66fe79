//! Errors in a request or in the texts in it, with the place that the page marks.

use std::ops::Range;

use shapetracker::expr::{self, Unsupported};
use shapetracker::{ChainError, Error, ParseError, Unanswered, Undecided};

use crate::json::{Value, object};

/// Why there is no answer, and which part of which text is at fault.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Fault {
    kind: String,
    pub(crate) message: String,
    field: Option<&'static str>,
    /// In UTF-16 code units, in which JavaScript counts.
    span: Option<Range<usize>>,
    step: Option<usize>,
    variable: Option<usize>,
    /// Whether the text ends before what it begins is complete.
    unfinished: bool,
    /// What should stand in the place of some UTF-16 code units.
    suggestion: Option<(Range<usize>, String)>,
}

impl Fault {
    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Fault {
        let (kind, message) = (kind.to_owned(), message.into());
        Fault {
            kind,
            message,
            field: None,
            span: None,
            step: None,
            variable: None,
            unfinished: false,
            suggestion: None,
        }
    }

    /// A request that the page should not have sent.
    pub(crate) fn request(message: impl Into<String>) -> Fault {
        Fault::new("request", message)
    }

    /// More than the engine takes on.
    pub(crate) fn limit(message: impl Into<String>) -> Fault {
        Fault::new("limit", message)
    }

    /// A text that cannot be read.
    pub(crate) fn syntax(err: &ParseError, field: &'static str, text: &str) -> Fault {
        let suggestion = err.suggestion().map(|(span, meant)| (utf16(text, span), meant.to_owned()));
        let fault = Fault::new("syntax", err.message()).at(field, text, err.span());
        Fault { unfinished: err.is_unfinished(), suggestion, ..fault }
    }

    /// A chain that cannot be done.
    pub(crate) fn chain(err: &ChainError, text: &str) -> Fault {
        Fault { step: err.op(), ..Fault::new(err.name(), err.message()).at("chain", text, err.span()) }
    }

    /// The same fault at some bytes of a text.
    pub(crate) fn at(self, field: &'static str, text: &str, bytes: Range<usize>) -> Fault {
        Fault { field: Some(field), span: Some(utf16(text, bytes)), ..self }
    }

    /// The same fault somewhere in a text.
    pub(crate) fn in_field(self, field: &'static str) -> Fault {
        Fault { field: Some(field), ..self }
    }

    /// The same fault in a row of the variables.
    pub(crate) fn in_variable(self, variable: usize) -> Fault {
        Fault { variable: Some(variable), field: Some("variables"), ..self }
    }

    /// The same fault at an operation.
    pub(crate) fn in_step(self, step: Option<usize>) -> Fault {
        Fault { step, ..self }
    }

    pub(crate) fn json(&self) -> Value {
        let json = object! {
            "kind": self.kind.clone(),
            "message": self.message.clone(),
            "field": self.field,
            "span": self.span.as_ref().map(|span| vec![span.start, span.end]),
            "step": self.step,
        };
        let json = match self.variable {
            Some(variable) => json.with("variable", variable),
            None => json,
        };
        let json = if self.unfinished { json.with("unfinished", true) } else { json };
        match &self.suggestion {
            Some((span, text)) => {
                json.with("suggestion", object! { "span": vec![span.start, span.end], "text": text.clone() })
            }
            None => json,
        }
    }
}

/// Some bytes of a text in UTF-16 code units.
pub(crate) fn utf16(text: &str, bytes: Range<usize>) -> Range<usize> {
    let units = |end: usize| text.get(..end).unwrap_or(text).encode_utf16().count();
    units(bytes.start)..units(bytes.end)
}

impl From<Error> for Fault {
    fn from(err: Error) -> Fault {
        Fault::new(err.kind().name(), err.to_string())
    }
}

impl From<expr::Error> for Fault {
    fn from(err: expr::Error) -> Fault {
        Error::from(err).into()
    }
}

impl From<Undecided> for Fault {
    fn from(err: Undecided) -> Fault {
        Fault::new("undecided", err.to_string())
    }
}

impl From<Unsupported> for Fault {
    fn from(err: Unsupported) -> Fault {
        Fault::new("unsupported", err.to_string())
    }
}

impl From<Unanswered> for Fault {
    fn from(err: Unanswered) -> Fault {
        match err {
            Unanswered::Error(err) => err.into(),
            err => Fault::new("undecided", err.to_string()),
        }
    }
}
