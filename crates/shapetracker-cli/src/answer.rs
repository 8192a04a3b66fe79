//! What a command says: an answer, or why there is none.

use std::fmt;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value, json};
use shapetracker::{ChainError, Error, ParseError, View, Witness};
use textwrap::core::display_width;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const GOOD: Style = AnsiColor::Green.on_default().bold();
pub(crate) const BAD: Style = AnsiColor::Yellow.on_default().bold();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// The answer of a command, in both forms.
pub(crate) struct Answer {
    /// For people, with colours.
    pub(crate) text: String,
    /// For programs.
    pub(crate) json: Value,
    /// Whether the answer is a yes, as opposed to a no.
    pub(crate) positive: bool,
}

/// Why a command has no answer: its input cannot be read, or makes no sense.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: String,
    message: String,
    /// The text that was given, with carets under the fault.
    place: Option<String>,
    /// The bytes that the carets are under.
    span: Option<Range<usize>>,
    /// Whether the question was well put, and the answer is that it cannot be done.
    refused: bool,
}

impl Failure {
    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Failure {
        Failure { kind: kind.into(), message: message.into(), place: None, span: None, refused: false }
    }

    /// A well-put question for something that cannot be done.
    pub(crate) fn refusal(kind: &str, message: impl Into<String>) -> Failure {
        Failure { refused: true, ..Failure::new(kind, message) }
    }

    /// A failure at some bytes of a text.
    pub(crate) fn at(kind: &str, message: impl Into<String>, text: &str, span: Range<usize>) -> Failure {
        Failure::new(kind, message).placed(text, span)
    }

    /// The same failure, at some bytes of a text.
    pub(crate) fn placed(self, text: &str, span: Range<usize>) -> Failure {
        // What a terminal would act on could hide the fault.
        let shown = |part: &str| part.replace(|c: char| c.is_control(), "\u{fffd}");
        let [before, marked] = [&text[..span.start], &text[span.clone()]].map(|part| display_width(&shown(part)));
        let place = format!("  {}\n  {}{}", shown(text), " ".repeat(before), "^".repeat(marked.max(1)));
        Failure { place: Some(place), span: Some(span), ..self }
    }

    /// How the command ends.
    pub(crate) fn status(&self) -> u8 {
        if self.refused { 1 } else { 2 }
    }

    /// The same failure, with words in front that say what it is about.
    pub(crate) fn about(self, what: impl fmt::Display) -> Failure {
        Failure { message: format!("{what}: {}", self.message), ..self }
    }

    /// The same failure, with words after it.
    pub(crate) fn adding(self, words: &str) -> Failure {
        Failure { message: self.message + words, ..self }
    }

    pub(crate) fn text(&self) -> String {
        let place = self.place.iter().map(|place| format!("{place}\n")).collect::<String>();
        format!("{ERROR}error{ERROR:#}: {}\n{place}", self.message)
    }

    pub(crate) fn json(&self) -> Value {
        let mut error = Map::new();
        error.insert("kind".into(), json!(self.kind));
        error.insert("message".into(), json!(self.message));
        if let Some(span) = &self.span {
            error.insert("span".into(), json!([span.start, span.end]));
        }
        json!({ "error": error })
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Failure {
        Failure::new(&err.kind().name(), err.to_string())
    }
}

impl From<shapetracker::expr::Error> for Failure {
    fn from(err: shapetracker::expr::Error) -> Failure {
        Error::from(err).into()
    }
}

impl From<ParseError> for Failure {
    fn from(err: ParseError) -> Failure {
        let shown = err.to_string();
        let place = shown.split_once('\n').map(|(_, place)| place.to_owned());
        Failure { place, span: Some(err.span()), ..Failure::new("syntax", err.message()) }
    }
}

impl From<ChainError> for Failure {
    fn from(err: ChainError) -> Failure {
        let kind = err.error().map_or("base".into(), |err| err.kind().name());
        let message = err.message();
        let shown = err.to_string();
        let place = shown.strip_suffix(&message).map(|place| place.trim_end().to_owned());
        Failure { place, span: Some(err.span()), ..Failure::new(&kind, message) }
    }
}

/// A witness as an object.
pub(crate) fn witness_json(witness: &Witness) -> Value {
    match witness {
        Witness::UnevenStep { axis, steps } => {
            let steps = steps.iter().map(|step| json!({ "index": step.index[..], "from": step.from, "to": step.to }));
            json!({ "kind": "uneven_step", "axis": axis, "steps": steps.collect::<Vec<_>>() })
        }
        Witness::NotABox { valid: [a, b], invalid } => {
            json!({ "kind": "not_a_box", "valid": [a[..], b[..]], "invalid": invalid[..] })
        }
        other => json!({ "kind": "other", "sentence": other.to_string() }),
    }
}

/// Views as a list of objects.
pub(crate) fn views_json(views: &[View]) -> Value {
    views.iter().map(|view| json!(view)).collect()
}

/// Writes numbers as Python writes a tuple: `()`, `(3,)`, `(2, 3)`.
pub(crate) fn tuple<T: fmt::Display>(items: &[T]) -> String {
    let inside = items.iter().map(T::to_string).collect::<Vec<_>>().join(", ");
    if items.len() == 1 { format!("({inside},)") } else { format!("({inside})") }
}

/// `1 view`, `2 views`.
pub(crate) fn count(number: i64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// How many columns there are to write in.
pub(crate) fn width() -> usize {
    terminal_size::terminal_size().map_or(100, |(width, _)| usize::from(width.0)).max(40)
}

/// A paragraph broken into lines, each indented by so many columns; never inside an index or a shape.
pub(crate) fn paragraph(text: &str, indent: usize) -> String {
    const GLUE: char = '\u{a0}';
    let mut depth = 0;
    let glued: String = text
        .chars()
        .map(|c| {
            depth += i32::from(matches!(c, '[' | '(')) - i32::from(matches!(c, ']' | ')'));
            if c == ' ' && depth > 0 { GLUE } else { c }
        })
        .collect();
    let indent = " ".repeat(indent);
    let options = textwrap::Options::new(width()).initial_indent(&indent).subsequent_indent(&indent);
    textwrap::fill(&glued, options).replace(GLUE, " ") + "\n"
}
