//! Text with mistakes in it: where a mistake stands, how that is shown, and which name was meant.
//!
//! Whatever reads a text, of an expression or of a layout, reports its mistakes in this way.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use unicode_width::UnicodeWidthChar;

/// Why a text cannot be read: what was expected, what was found, and where.
///
/// `Display` writes the sentence, the line of the text, and carets under the offending characters.
///
/// ```
/// use shapetracker_base::text::ParseError;
///
/// let message = "expected a variable, found `rwo`: did you mean `row`?";
/// let err = ParseError::new(message, "rwo * 4", 0..3).with_suggestion(0..3, "row");
/// assert_eq!(err.message(), message);
/// assert_eq!(err.span(), 0..3);
/// assert_eq!(
///     err.to_string(),
///     "expected a variable, found `rwo`: did you mean `row`?\n\
///      \u{20} rwo * 4\n\
///      \u{20} ^^^",
/// );
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    message: String,
    place: Place,
    unknown_name: bool,
    unfinished: bool,
    suggestion: Option<(Range<usize>, Box<str>)>,
}

impl ParseError {
    /// A mistake at some bytes of a text, which must begin and end between characters.
    ///
    /// ```
    /// let err = shapetracker_base::text::ParseError::new("expected a size", "(3, x)", 4..5);
    /// assert_eq!(err.to_string(), "expected a size\n  (3, x)\n      ^");
    /// ```
    ///
    /// # Panics
    /// A span that is not of the text, or cuts a character.
    pub fn new(message: impl Into<String>, text: impl Into<Arc<str>>, span: Range<usize>) -> Self {
        ParseError::placed(message, Place::new(text, span))
    }

    /// A mistake at a place.
    ///
    /// ```
    /// use shapetracker_base::text::{ParseError, Place};
    ///
    /// let err = ParseError::placed("expected a size", Place::new("(3, x)", 4..5));
    /// assert_eq!(err.span(), 4..5);
    /// ```
    pub fn placed(message: impl Into<String>, place: Place) -> Self {
        ParseError { message: message.into(), place, unknown_name: false, unfinished: false, suggestion: None }
    }

    /// The same mistake, which is none yet where more text follows: the text ends before what it begins is complete.
    ///
    /// ```
    /// let err = shapetracker_base::text::ParseError::new("expected `)`", "(3, 2", 5..5).and_unfinished();
    /// assert!(err.is_unfinished());
    /// ```
    pub fn and_unfinished(self) -> Self {
        ParseError { unfinished: true, ..self }
    }

    /// The same mistake, with what should stand in the place of some bytes of the text.
    ///
    /// ```
    /// let err = shapetracker_base::text::ParseError::new("expected `)`", "(3, 2", 5..5).with_suggestion(5..5, ")");
    /// assert_eq!(err.suggestion(), Some((5..5, ")")));
    /// ```
    pub fn with_suggestion(self, span: Range<usize>, text: impl Into<Box<str>>) -> Self {
        ParseError { suggestion: Some((span, text.into())), ..self }
    }

    /// The same mistake without a suggestion.
    ///
    /// ```
    /// let err = shapetracker_base::text::ParseError::new("expected `)`", "(3, 2", 5..5).with_suggestion(5..5, ")");
    /// assert_eq!(err.without_suggestion().suggestion(), None);
    /// ```
    pub fn without_suggestion(self) -> Self {
        ParseError { suggestion: None, ..self }
    }

    /// The same mistake in a longer text, in which the text that was read begins at a byte.
    ///
    /// ```
    /// use shapetracker_base::text::ParseError;
    ///
    /// let err = ParseError::new("expected a size", "(3, x)", 4..5).in_longer("A = (3, x)", 4);
    /// assert_eq!(err.to_string(), "expected a size\n  A = (3, x)\n          ^");
    /// ```
    ///
    /// # Panics
    /// Where the place is not of the longer text.
    pub fn in_longer(self, text: impl Into<Arc<str>>, begin: usize) -> Self {
        let moved = |span: Range<usize>| span.start + begin..span.end + begin;
        let place = Place::new(text, moved(self.place.span));
        let suggestion = self.suggestion.map(|(span, with)| (moved(span), with));
        ParseError { place, suggestion, ..self }
    }

    /// Whether the text ends before what it begins is complete: more was expected at its end, or its last word is the
    /// beginning of a name that could stand there. Whoever is still typing has made no mistake.
    ///
    /// ```
    /// use shapetracker_base::text::Tokens;
    ///
    /// let unfinished = |text| Tokens::new(text).expected("a size").is_unfinished();
    /// assert!(unfinished("") && !unfinished(")"));
    /// ```
    pub fn is_unfinished(&self) -> bool {
        self.unfinished
    }

    /// The small change that was probably meant: some bytes of the text, and what should stand in their place. The
    /// changed text may have other mistakes behind that place.
    ///
    /// ```
    /// use shapetracker_base::text::ParseError;
    ///
    /// let err = ParseError::new("expected a variable, found `rwo`", "rwo * 4", 0..3);
    /// assert_eq!(err.suggestion(), None);
    /// assert_eq!(err.with_suggestion(0..3, "row").suggestion(), Some((0..3, "row")));
    /// ```
    pub fn suggestion(&self) -> Option<(Range<usize>, &str)> {
        self.suggestion.as_ref().map(|(span, text)| (span.clone(), &**text))
    }

    /// The same mistake, which is a name that means nothing and resembles none that does: see
    /// [`is_unknown_name`](ParseError::is_unknown_name).
    ///
    /// ```
    /// use shapetracker_base::text::ParseError;
    ///
    /// let err = ParseError::new("expected a variable, found `column`", "row + column", 6..12);
    /// assert!(err.of_unknown_name().is_unknown_name());
    /// ```
    pub fn of_unknown_name(self) -> Self {
        ParseError { unknown_name: true, ..self }
    }

    /// Whether the mistake is a name that is no variable, and not a misspelt one either: what is missing then is a
    /// variable rather than a letter.
    ///
    /// ```
    /// use shapetracker_base::text::ParseError;
    ///
    /// let misspelt = ParseError::new("expected a variable, found `rwo`", "rwo + 1", 0..3).with_suggestion(0..3, "row");
    /// assert!(!misspelt.is_unknown_name());
    /// let unknown = ParseError::new("expected a variable, found `column`", "row + column", 6..12).of_unknown_name();
    /// assert!(unknown.is_unknown_name());
    /// ```
    pub fn is_unknown_name(&self) -> bool {
        self.unknown_name
    }

    /// The sentence alone, without the text and the carets.
    ///
    /// ```
    /// let err = shapetracker_base::text::Tokens::new("").expected("a size");
    /// assert_eq!(err.message(), "expected a size, found the end of the text");
    /// ```
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The offending bytes of the text; empty at the end of the text when more was expected.
    ///
    /// ```
    /// let mut tokens = shapetracker_base::text::Tokens::new("3 $ ");
    /// tokens.advance();
    /// assert_eq!(tokens.expected("a size").span(), 2..3);
    /// tokens.advance();
    /// assert_eq!(tokens.expected("a size").span(), 3..3);
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.place.span()
    }

    /// The place in the text, which shows itself with carets.
    ///
    /// ```
    /// let err = shapetracker_base::text::ParseError::new("expected a size", "(3, x)", 4..5);
    /// assert_eq!(err.place().to_string(), "  (3, x)\n      ^");
    /// ```
    pub fn place(&self) -> &Place {
        &self.place
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}\n{}", self.message, self.place.line_number(), self.place)
    }
}

impl std::error::Error for ParseError {}

/// The most bytes of a text that is read: of an expression, of a chain of operations, of a view.
///
/// Texts of programs are shorter by far. Whoever reads what others send has a bound with it on the memory and the time
/// that reading takes, which are proportional to the length.
///
/// ```
/// use shapetracker_base::text::{LONGEST_TEXT, check_length};
///
/// let err = check_length(&("-".repeat(LONGEST_TEXT) + "1")).unwrap_err();
/// assert_eq!(err.message(), "the text has 1048577 bytes, more than the 1048576 that are read");
/// assert_eq!(err.span(), LONGEST_TEXT..LONGEST_TEXT);
/// ```
pub const LONGEST_TEXT: usize = 1 << 20;

/// Refuses a text of more than [`LONGEST_TEXT`] bytes. The place of the mistake is where reading would stop.
///
/// ```
/// use shapetracker_base::text::{LONGEST_TEXT, check_length};
///
/// assert!(check_length("x + 1").is_ok());
/// assert!(check_length(&" ".repeat(LONGEST_TEXT + 1)).is_err());
/// ```
///
/// # Errors
/// A text that is longer.
pub fn check_length(text: &str) -> Result<(), ParseError> {
    if text.len() <= LONGEST_TEXT {
        return Ok(());
    }
    let mut end = LONGEST_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let message = format!("the text has {} bytes, more than the {LONGEST_TEXT} that are read", text.len());
    Err(ParseError::new(message, &text[..end], end..end))
}

/// A place in a text. `Display` writes the line that it is on, and carets under it, without a line end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    text: Arc<str>,
    span: Range<usize>,
}

/// The most columns that are shown of a line.
const WIDTH: usize = 100;
/// The most columns that are shown in front of the fault, when the line is longer than that.
const BEFORE: usize = 40;

impl Place {
    /// Some bytes of a text, which must begin and end between characters.
    ///
    /// ```
    /// let place = shapetracker_base::text::Place::new("one two", 4..7);
    /// assert_eq!(place.to_string(), "  one two\n      ^^^");
    /// ```
    ///
    /// # Panics
    /// A span that is not of the text, or cuts a character.
    pub fn new(text: impl Into<Arc<str>>, span: Range<usize>) -> Place {
        let text = text.into();
        assert!(text.get(span.clone()).is_some(), "{span:?} are not bytes of a text of {} bytes", text.len());
        Place { text, span }
    }

    /// The bytes of the text.
    ///
    /// ```
    /// assert_eq!(shapetracker_base::text::Place::new("one two", 4..7).span(), 4..7);
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }

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
///
/// ```
/// assert_eq!(shapetracker_base::text::quoted("x\u{7}y"), "`x\u{fffd}y`");
/// ```
pub fn quoted(text: &str) -> String {
    const LONGEST: usize = 40;
    let end = prefix(text.chars(), LONGEST);
    let shown: String = text[..end].chars().map(|c| shown(c).0).collect();
    format!("`{shown}{}`", if end < text.len() { "..." } else { "" })
}

/// The name that is nearest to a misspelt one, if any is near.
///
/// ```
/// use shapetracker_base::text::nearest;
/// assert_eq!(nearest("premute", ["permute", "reshape"]), Some("permute"));
/// assert_eq!(nearest("transmogrify", ["permute", "reshape"]), None);
/// ```
pub fn nearest<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    const LONGEST: usize = 24;
    if name.len() > LONGEST {
        return None;
    }
    let name = name.to_ascii_lowercase();
    let distance = |other: &&str| strsim::osa_distance(&name, other);
    let nearest = names.into_iter().min_by_key(distance)?;
    // A guess that changes more than a third of the letters would be a joke.
    (distance(&nearest) * 3 <= nearest.len()).then_some(nearest)
}
