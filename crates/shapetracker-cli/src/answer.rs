//! The answer of a command as text and as JSON, or the failure that it ends with.

use std::fmt;
use std::ops::Range;

use anstyle::{AnsiColor, Style};
use serde_json::{Map, Value, json};
use shapetracker::json::Value as Document;
use shapetracker::{ChainError, Error, ParseError, Witness};
use shapetracker_base::text::Place;

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
    /// Whether the exit status is 0 rather than 1: a negative answer, such as views that do not merge, is not.
    pub(crate) positive: bool,
}

/// Why a command has no answer: its input cannot be read, does not make sense, or asks for what cannot be done.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: String,
    message: String,
    /// The part of the text that is at fault.
    place: Option<Place>,
    /// Whether the request makes sense and cannot be met: the exit status is then 1 instead of 2.
    refused: bool,
}

impl Failure {
    pub(crate) fn new(kind: &str, message: impl Into<String>) -> Failure {
        Failure { kind: kind.into(), message: message.into(), place: None, refused: false }
    }

    /// A request that makes sense, and cannot be met.
    pub(crate) fn refusal(kind: &str, message: impl Into<String>) -> Failure {
        Failure { refused: true, ..Failure::new(kind, message) }
    }

    /// A failure at some bytes of a text.
    pub(crate) fn at(kind: &str, message: impl Into<String>, text: &str, span: Range<usize>) -> Failure {
        Failure::new(kind, message).placed(&Place::new(text, span))
    }

    /// The same failure, at a place in a text.
    pub(crate) fn placed(self, place: &Place) -> Failure {
        Failure { place: Some(place.clone()), ..self }
    }

    /// Whether a text could not be read.
    pub(crate) fn is_syntax(&self) -> bool {
        self.kind == "syntax"
    }

    /// Whether it is one of some kinds.
    pub(crate) fn is_of(&self, kinds: &[&str]) -> bool {
        kinds.contains(&&self.kind[..])
    }

    /// The exit status.
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
        if let Some(span) = self.place.as_ref().map(Place::span) {
            error.insert("span".into(), json!([span.start, span.end]));
        }
        json!({ "error": error })
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Failure {
        Failure::new(err.kind().name(), err.to_string())
    }
}

impl From<shapetracker::expr::Error> for Failure {
    fn from(err: shapetracker::expr::Error) -> Failure {
        Error::from(err).into()
    }
}

impl From<ParseError> for Failure {
    fn from(err: ParseError) -> Failure {
        Failure::new("syntax", err.message()).placed(err.place())
    }
}

impl From<ChainError> for Failure {
    fn from(err: ChainError) -> Failure {
        Failure::new(err.name(), err.message()).placed(err.place())
    }
}

/// A witness as the command prints it: without the fields that follow from the others.
pub(crate) fn witness_json(witness: &Witness) -> Document {
    Document::from(witness).without(&["next", "moved"])
}

/// Writes numbers as Python writes a tuple: `()`, `(3,)`, `(2, 3)`.
pub(crate) fn tuple<T: fmt::Display>(items: &[T]) -> String {
    shapetracker::text::tuple(items).to_string()
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
    let (mut depth, mut before) = (0, ' ');
    let glued: String = text
        .chars()
        .map(|c| {
            // A colour begins with a bracket that nothing closes.
            if before != '\x1b' {
                depth += i32::from(matches!(c, '[' | '(')) - i32::from(matches!(c, ']' | ')'));
            }
            before = c;
            if c == ' ' && depth > 0 { GLUE } else { c }
        })
        .collect();
    let indent = " ".repeat(indent);
    let options = textwrap::Options::new(width()).initial_indent(&indent).subsequent_indent(&indent);
    textwrap::fill(&glued, options).replace(GLUE, " ") + "\n"
}

/// A text that begins with a capital and ends with a full stop.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string()).unwrap_or_default();
    let end = if text.ends_with('.') { "" } else { "." };
    format!("{first}{}{end}", letters.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_broken_where_they_are_without_colours() {
        let plain = format!("pair: {}", "elements (0, 1) and [1, 0] both lie there, ".repeat(8));
        let coloured = plain.replacen("pair", &format!("{BAD}pair{BAD:#}"), 1);
        let told = anstream::adapter::strip_str(&paragraph(&coloured, 2)).to_string();
        assert_eq!(told, paragraph(&plain, 2));
        assert!(told.lines().count() > 2 && told.lines().all(|line| line.len() <= width()));
    }
}
