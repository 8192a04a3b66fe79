//! What cannot be read or done, and where in the text it stands.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use unicode_width::UnicodeWidthChar;

use crate::Dims;
use crate::error::Error;
use crate::tuple::tuple;

/// Why a text is not a chain, a view or a tracker: what was expected, what was found, and where.
///
/// `Display` writes the sentence, the line of the text, and carets under the offending characters.
///
/// ```
/// use shapetracker::Chain;
///
/// let err = "(3, 2).premute(1, 0)".parse::<Chain>().unwrap_err();
/// assert_eq!(err.message(), "expected an operation, found `premute`: did you mean `permute`?");
/// assert_eq!(err.span(), 7..14);
/// assert_eq!(
///     err.to_string(),
///     "expected an operation, found `premute`: did you mean `permute`?\n\
///      \u{20} (3, 2).premute(1, 0)\n\
///      \u{20}        ^^^^^^^",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    message: String,
    error: Option<Error>,
    place: Place,
}

impl ParseError {
    pub(crate) fn new(message: String, text: &str, span: Range<usize>) -> Self {
        ParseError { message, error: None, place: Place { text: text.into(), span } }
    }

    /// The text can be read, but what it says cannot be.
    pub(crate) fn refused(error: Error, text: &str, span: Range<usize>) -> Self {
        ParseError { message: error.to_string(), error: Some(error), place: Place { text: text.into(), span } }
    }

    /// Its name in JSON: `syntax`.
    ///
    /// ```
    /// assert_eq!("(3, x)".parse::<shapetracker::Chain>().unwrap_err().name(), "syntax");
    /// ```
    pub const fn name(&self) -> &'static str {
        "syntax"
    }

    /// The sentence, without the text and the carets.
    ///
    /// ```
    /// let err = "(3, x)".parse::<shapetracker::Chain>().unwrap_err();
    /// assert_eq!(err.message(), "expected a size, found `x`");
    /// ```
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The library's error, where the text can be read but what it says cannot be; its sentence is the message.
    ///
    /// ```
    /// use shapetracker::{ErrorKind, View};
    ///
    /// let err = "(3, 2):(2, 1) mask ((0, 4), (0, 2))".parse::<View>().unwrap_err();
    /// assert_eq!(err.error().map(|err| err.kind()), Some(ErrorKind::MaskOutside));
    ///
    /// let err = "(3, 2):(2, x)".parse::<View>().unwrap_err();
    /// assert_eq!(err.error(), None);
    /// ```
    pub fn error(&self) -> Option<&Error> {
        self.error.as_ref()
    }

    /// The offending bytes of the text; empty at the end of the text when more was expected.
    ///
    /// ```
    /// assert_eq!("(3, x)".parse::<shapetracker::Chain>().unwrap_err().span(), 4..5);
    /// assert_eq!("(3, 2".parse::<shapetracker::Chain>().unwrap_err().span(), 5..5);
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.place.span.clone()
    }

    /// The line of the text with the offending characters, and carets under them; two lines without a line end.
    ///
    /// What a terminal would act on is replaced, and of a long line only what surrounds the fault is shown.
    ///
    /// ```
    /// let err = "(3, x)".parse::<shapetracker::Chain>().unwrap_err();
    /// assert_eq!(err.excerpt().to_string(), "  (3, x)\n      ^");
    /// ```
    pub fn excerpt(&self) -> impl fmt::Display + '_ {
        &self.place
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}\n{}", self.message, self.place.line_number(), self.place)
    }
}

impl std::error::Error for ParseError {}

impl From<ChainError> for ParseError {
    fn from(err: ChainError) -> Self {
        let message = err.message();
        let error = match err.cause {
            Cause::Start(err) | Cause::Op(_, err) => Some(err),
            Cause::NoBase | Cause::OtherBase(_) => None,
        };
        ParseError { message, error, place: err.place }
    }
}

/// Why a chain that can be read cannot be done: the operation, its place in the text, and the reason.
///
/// `Display` writes the text with carets under the operation, then the reason.
///
/// ```
/// use shapetracker::{Chain, ErrorKind};
///
/// let chain: Chain = "(3, 2).permute(1, 0).reshape(4)".parse()?;
/// let err = chain.tracker().unwrap_err();
/// assert_eq!(err.op(), Some(1));
/// assert_eq!(err.error().map(|err| err.kind()), Some(ErrorKind::SizeMismatch));
/// assert_eq!(
///     err.to_string(),
///     "  (3, 2).permute(1, 0).reshape(4)\n\
///      \u{20}                      ^^^^^^^^^^\n\
///      reshape: shape (2, 3) has 6 elements, but shape (4,) needs 4",
/// );
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError {
    place: Place,
    cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The chain starts with an operation, and no base shape is known from elsewhere.
    NoBase,
    /// The base shape of the chain is not the one known from elsewhere.
    OtherBase(Box<[Dims; 2]>),
    /// The start of the chain cannot be.
    Start(Error),
    /// An operation of the chain cannot be done.
    Op(usize, Error),
}

impl ChainError {
    pub(super) fn new(text: Arc<str>, span: Range<usize>, cause: Cause) -> Self {
        ChainError { place: Place { text, span }, cause }
    }

    /// Its name in JSON: that of the kind of the library's error, or `base` when the base shape is missing or another one.
    ///
    /// ```
    /// use shapetracker::Chain;
    ///
    /// let [there, elsewhere]: [Chain; 2] = ["(3, 2).flip(2)".parse()?, "flip(2)".parse()?];
    /// assert_eq!(there.tracker().unwrap_err().name(), "axis_out_of_range");
    /// assert_eq!(elsewhere.tracker().unwrap_err().name(), "base");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn name(&self) -> &'static str {
        self.error().map_or("base", |err| err.kind().name())
    }

    /// The reason, without the text and the carets.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "permute(1, 0)".parse()?;
    /// let err = chain.tracker().unwrap_err();
    /// assert_eq!(
    ///     err.message(),
    ///     "the chain starts with an operation, so that a base shape is missing: write it in front, as in `(2, 3).permute(1, 0)`",
    /// );
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn message(&self) -> String {
        match &self.cause {
            Cause::NoBase => "the chain starts with an operation, so that a base shape is missing: \
                              write it in front, as in `(2, 3).permute(1, 0)`"
                .into(),
            Cause::OtherBase(shapes) => {
                let [chain, base] = &**shapes;
                format!("the chain starts from shape {}, but the base has shape {}", tuple(chain), tuple(base))
            }
            Cause::Start(err) | Cause::Op(_, err) => err.to_string(),
        }
    }

    /// The bytes of the operation (or of the start) in the text of the chain.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2) . permute(1, 1)".parse()?;
    /// assert_eq!(chain.tracker().unwrap_err().span(), 9..22);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.place.span.clone()
    }

    /// The line of the text with the operation (or the start), and carets under it; two lines without a line end.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).flip(2)".parse()?;
    /// let err = chain.tracker().unwrap_err();
    /// assert_eq!(err.excerpt().to_string(), "  (3, 2).flip(2)\n         ^^^^^^^");
    /// assert_eq!(err.to_string(), format!("{}\n{}", err.excerpt(), err.message()));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn excerpt(&self) -> impl fmt::Display + '_ {
        &self.place
    }

    /// Which operation could not be done, counted from 0; `None` when it is the start of the chain.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, -2).permute(1, 0)".parse()?;
    /// assert_eq!(chain.tracker().unwrap_err().op(), None);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn op(&self) -> Option<usize> {
        match self.cause {
            Cause::Op(op, _) => Some(op),
            _ => None,
        }
    }

    /// The library's error behind this one; `None` when the base shape is missing or another one.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).flip(2)".parse()?;
    /// let kind = chain.tracker().unwrap_err().error().map(|err| err.kind());
    /// assert_eq!(kind, Some(shapetracker::ErrorKind::AxisOutOfRange));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn error(&self) -> Option<&Error> {
        match &self.cause {
            Cause::Start(err) | Cause::Op(_, err) => Some(err),
            _ => None,
        }
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.place, self.message())
    }
}

impl std::error::Error for ChainError {}

/// A place in a text. `Display` writes the line that it is on, and carets under it, without a line end.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Place {
    text: Arc<str>,
    span: Range<usize>,
}

/// The most columns that are shown of a line.
const WIDTH: usize = 100;
/// The most columns that are shown in front of the fault, when the line is longer than that.
const BEFORE: usize = 40;

impl Place {
    /// ` on line 3` when the text has more than one line.
    fn line_number(&self) -> String {
        if self.text.trim_end().contains('\n') {
            format!(" on line {}", 1 + self.text[..self.span.start].matches('\n').count())
        } else {
            String::new()
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let start = self.text[..self.span.start].rfind('\n').map_or(0, |end| end + 1);
        let line = self.text[start..].lines().next().unwrap_or_default();
        let mark = self.span.start - start;

        let (mut from, mut to) = (0, line.len());
        if prefix(line.chars(), WIDTH) < line.len() {
            from = mark - prefix(line[..mark].chars().rev(), BEFORE);
            to = from + prefix(line[from..].chars(), WIDTH);
        }
        let marked = &line[mark..to.min(mark + self.span.len()).max(mark)];

        let (front, back) = (if from > 0 { "..." } else { "" }, if to < line.len() { "..." } else { "" });
        writeln!(f, "  {front}{}{back}", line[from..to].chars().map(|c| shown(c).0).collect::<String>())?;
        let indent = 2 + front.len() + columns(&line[from..mark]);
        write!(f, "{:indent$}{}", "", "^".repeat(columns(marked).max(1)))
    }
}

/// How a character is shown, and over how many columns: what has no width of its own could hide a fault or upset a
/// terminal.
fn shown(c: char) -> (Cow<'static, str>, usize) {
    match c.width() {
        _ if c == '\t' => ("    ".into(), 4),
        None | Some(0) => ("\u{fffd}".into(), 1),
        Some(width) => (c.to_string().into(), width),
    }
}

fn columns(text: &str) -> usize {
    text.chars().map(|c| shown(c).1).sum()
}

/// The length in bytes of as many of the characters as fit into some columns.
fn prefix(chars: impl Iterator<Item = char>, columns: usize) -> usize {
    let mut taken = 0;
    let fitting = chars.take_while(|&c| {
        taken += shown(c).1;
        taken <= columns
    });
    fitting.map(char::len_utf8).sum()
}

/// A piece of the text for a message: between backquotes, nothing in it that a terminal would act on, and not long.
pub(crate) fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let end = prefix(text.chars(), LONGEST);
    let shown: String = text[..end].chars().map(|c| shown(c).0).collect();
    format!("`{shown}{}`", if end < text.len() { "..." } else { "" })
}
