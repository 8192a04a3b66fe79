//! What people paste: prompts of Python with what it prints, tracebacks, messages of PyTorch, NumPy and JAX, shapes and strides
//! as they are printed. It is read as the chain that it is about.

use std::ops::Range;

use shapetracker_base::text::{ParseError, Token, quoted};

use super::ChainStartOf;
use super::arithmetic::{Known, Operator, Role};
use super::call::Call;
use super::parsed::Parsed;
use super::parser::{Num, Nums, Reader};
use super::types::Type;
use crate::MovementOf;
use crate::number::List as _;

/// A message of a library that tells of an array, as people paste it: it is read as the chain that it is about, or stands behind the
/// line of code that raised it.
///
/// ```
/// use shapetracker::{Chain, KnownMessage};
///
/// let message = KnownMessage::ALL.iter().find(|message| message.begins() == "shape '").unwrap();
/// assert_eq!(message.library(), "PyTorch");
/// assert!(message.has_shapes());
/// let chain: Chain = "RuntimeError: shape '[2, 3]' is invalid for input of size 12".parse()?;
/// assert_eq!(chain.to_string(), "(12).reshape(2, 3)");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct KnownMessage {
    begins: &'static str,
    library: &'static str,
    /// Where it says of which array it speaks.
    parts: Option<Parts>,
}

/// The words in front of each part of a message, in their order.
#[derive(Clone, Copy, Debug)]
struct Parts {
    /// What stands in front of the shape of the array, or of the number of its elements.
    from: &'static str,
    /// What stands in front of its strides, where it says them.
    strides: Option<&'static str>,
    /// What stands in front of the place where it begins, where it says that.
    offset: Option<&'static str>,
    /// What stands in front of the shape that it was to have, where there is one.
    to: Option<&'static str>,
    /// What makes it of the array.
    make: Make,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Make {
    View,
    Reshape,
    Expand,
    /// The one with fewer axes is expanded to the other.
    Together,
    Nothing,
}

impl KnownMessage {
    /// All of them: those that say of which array they speak, then the others.
    ///
    /// ```
    /// assert!(shapetracker::KnownMessage::ALL.len() >= 14);
    /// ```
    pub const ALL: &'static [KnownMessage] = &[
        // PyTorch, of tensors without data.
        KnownMessage::new(
            "Cannot view a tensor with shape",
            "PyTorch",
            Parts {
                strides: Some("and strides"),
                ..Parts::new("with shape", Some("as a tensor with shape"), Make::View)
            },
        ),
        // `shape '[2, 3]' is invalid for input of size 12`.
        KnownMessage::new("shape '", "PyTorch", Parts::new("for input of size", Some("shape '"), Make::View)),
        // `cannot reshape array of shape (2, 3) (size 6) into shape (4,) (size 4)`.
        KnownMessage::new(
            "cannot reshape array of shape",
            "JAX",
            Parts::new("array of shape", Some("into shape"), Make::Reshape),
        ),
        // `cannot reshape array of size 12 into shape (5,)`.
        KnownMessage::new(
            "cannot reshape array of size",
            "NumPy",
            Parts::new("array of size", Some("into shape"), Make::Reshape),
        ),
        // `.. Target sizes: [2, 4].  Tensor sizes: [2, 3]`.
        KnownMessage::new(
            "The expanded size of the tensor",
            "PyTorch",
            Parts::new("Tensor sizes:", Some("Target sizes:"), Make::Expand),
        ),
        // `setStorage: sizes [2, 3], strides [4, 1], storage offset 1, and itemsize 4 requiring ..`.
        KnownMessage::new(
            "setStorage: sizes",
            "PyTorch",
            Parts {
                strides: Some("strides"),
                offset: Some("storage offset"),
                ..Parts::new("setStorage: sizes", None, Make::Nothing)
            },
        ),
        // `input operand has more dimensions ..` has no shapes; NumPy's `broadcast_to` does.
        KnownMessage::new(
            "operands could not be broadcast together with remapped shapes",
            "NumPy",
            Parts::new("]: (", Some("and requested shape"), Make::Expand),
        ),
        // `could not broadcast input array from shape (3,) into shape (4,)`.
        KnownMessage::new(
            "could not broadcast input array from shape",
            "NumPy",
            Parts::new("from shape", Some("into shape"), Make::Expand),
        ),
        // `operands could not be broadcast together with shapes (2,3) (4,) `.
        KnownMessage::new(
            "operands could not be broadcast together with shapes",
            "NumPy",
            Parts::new("with shapes", Some(") ("), Make::Together),
        ),
        KnownMessage::without_shapes("view size is not compatible with input tensor's size and stride", "PyTorch"),
        KnownMessage::without_shapes("the tensor has a non-zero number of elements", "PyTorch"),
        KnownMessage::without_shapes("axes don't match array", "NumPy"),
        KnownMessage::without_shapes("Shape mismatch, can't divide axis of length", "einops"),
        KnownMessage::without_shapes("The size of tensor a", "PyTorch"),
    ];

    const fn new(begins: &'static str, library: &'static str, parts: Parts) -> Self {
        Self { begins, library, parts: Some(parts) }
    }

    /// One that does not say of which array it speaks, and may stand without the name of an exception.
    const fn without_shapes(begins: &'static str, library: &'static str) -> Self {
        Self { begins, library, parts: None }
    }

    /// How it begins, after the name of the exception.
    ///
    /// ```
    /// assert_eq!(shapetracker::KnownMessage::ALL[3].begins(), "cannot reshape array of size");
    /// ```
    pub const fn begins(&self) -> &'static str {
        self.begins
    }

    /// The library that says so.
    ///
    /// ```
    /// assert_eq!(shapetracker::KnownMessage::ALL[3].library(), "NumPy");
    /// ```
    pub const fn library(&self) -> &'static str {
        self.library
    }

    /// Whether it says of which array it speaks; else the line that raised it is needed.
    ///
    /// ```
    /// assert!(shapetracker::KnownMessage::ALL[3].has_shapes());
    /// ```
    pub const fn has_shapes(&self) -> bool {
        self.parts.is_some()
    }
}

impl Parts {
    const fn new(from: &'static str, to: Option<&'static str>, make: Make) -> Self {
        Self { from, strides: None, offset: None, to, make }
    }
}

/// The words that messages and tracebacks begin with, where no name of an exception stands in front.
const FIRST_WORDS: [&str; 12] = [
    "Cannot",
    "shape",
    "cannot",
    "could",
    "The",
    "setStorage",
    "operands",
    "view",
    "the",
    "axes",
    "Shape",
    "Traceback",
];

/// What a line of a session of Python begins with.
const PROMPTS: [&str; 2] = [">>> ", "... "];

impl<A: Known> Reader<'_, '_, A> {
    /// A message or a traceback, where the text is one: whether it was read.
    pub(super) fn pasted(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<bool, ParseError> {
        let text = self.text;
        let begins = self.token == Token::Name && FIRST_WORDS.contains(&self.word());
        if !begins && !text.contains("Error: ") && !text.contains("Exception: ") {
            return Ok(false);
        }
        let found = KnownMessage::ALL.iter().filter_map(|message| Some((text.find(message.begins)?, message.parts?)));
        if let Some((begin, parts)) = found.min_by_key(|(begin, _)| *begin)
            && self.is_message(begin)
        {
            self.message(parsed, begin, &parts)?;
            return Ok(true);
        }
        // What a session printed is passed over line by line.
        if self.has_prompts {
            return Ok(false);
        }
        let others = KnownMessage::ALL.iter().filter(|message| !message.has_shapes());
        let found = others.filter_map(|message| {
            let begin = text.find(message.begins)?;
            self.is_message(begin).then(|| begin..begin + message.begins.len())
        });
        let Some(message) = found.min_by_key(|span| span.start).or_else(|| exception(text)) else { return Ok(false) };
        // The code in front of it, or the line of a traceback that raised it, says more.
        let line = text[..message.start].rfind('\n').map_or(0, |end| end + 1);
        let code = text[..line].find("Traceback (most recent call last)").map_or(line, |at| {
            let begin = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let rule = text[..begin].trim_end().len();
            let last = text[..rule].rfind('\n').map_or(0, |end| end + 1);
            if rule > last && text[last..rule].bytes().all(|byte| byte == b'-') { last } else { begin }
        });
        let (begin, end) = if text[..code].trim().is_empty() {
            let Some(line) = line_of_code(&text[..line]) else {
                let hint = "the message does not say of which array it speaks: write the array in front of the line that \
                            raised it, as in `torch.zeros(2, 3).transpose(0, 1).view(6)`";
                return Err(self.error_at(message, hint));
            };
            // What stands behind the line is no part of it.
            (line, text[line..].find('\n').map_or(text.len(), |end| line + end))
        } else {
            (self.span.start, code)
        };
        self.tokens.text = &text[..end];
        self.tokens.go_on_at(begin);
        Ok(false)
    }

    /// Whether a message begins here: in front of it stands nothing, or the name of an exception, or a traceback.
    fn is_message(&self, begin: usize) -> bool {
        let line = self.text[..begin].rfind('\n').map_or(0, |end| end + 1);
        let before = self.text[line..begin].trim();
        before.is_empty() || before.ends_with("Error:") || before.ends_with("Exception:")
    }

    /// A message that says an array: the array, and what was to become of it.
    fn message(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize, message: &Parts) -> Result<(), ParseError> {
        let end = self.text.len();
        let (shape, mut span) = self.behind(begin, message.from, "a size")?;
        parsed.start = match message.strides {
            None => ChainStartOf::Shape(shape),
            Some(words) => {
                let (strides, at) = self.behind(begin, words, "a stride")?;
                span.end = at.end;
                let mut offset = Num::<A>::from(0);
                if let Some(words) = message.offset {
                    let (list, at) = self.behind(begin, words, "an offset")?;
                    offset = list.first().cloned().unwrap_or(offset);
                    span.end = at.end;
                }
                ChainStartOf::Views(vec![self.checked_view(span.start, &shape, &strides, offset, None)?])
            }
        };
        parsed.start_span = span.start..span.end.max(span.start);
        parsed.methods = super::foreign::Methods::PyTorch;
        if let Some(words) = message.to {
            let (mut to, mut at) = self.behind(begin, words, "a size")?;
            if let (Make::Together, ChainStartOf::Shape(from)) = (message.make, &mut parsed.start)
                && from.len() > to.len()
            {
                std::mem::swap(from, &mut to);
                std::mem::swap(&mut parsed.start_span, &mut at);
            }
            let (op, call) = match message.make {
                Make::View => (MovementOf::Reshape(to), Call::View),
                Make::Expand | Make::Together => (MovementOf::BroadcastTo(to), Call::Plain),
                Make::Reshape | Make::Nothing => (MovementOf::Reshape(to), Call::Plain),
            };
            parsed.push(op, at);
            parsed.called(0, call);
        }
        self.tokens.go_on_at(end);
        Ok(())
    }

    /// The numbers behind some words of a message: in parentheses, in brackets, or one.
    fn behind(&mut self, begin: usize, words: &str, what: &str) -> Result<(Nums<A>, Range<usize>), ParseError> {
        let Some(at) = self.text[begin..].find(words) else {
            return Err(self.error_at(begin..begin, format!("expected {} in the message", quoted(words))));
        };
        let mut at = begin + at + words.len();
        // The parenthesis may be the last of the words.
        if words.ends_with('(') {
            at -= 1;
        }
        self.tokens.go_on_at(at);
        let start = self.span.start;
        let numbers = match self.token {
            Token::Open(_) | Token::Name => self.numbers(what)?,
            _ => {
                let mut one = Nums::<A>::default();
                one.push(self.number(what, Role::Other)?);
                one
            }
        };
        Ok((numbers, start..self.last.max(start)))
    }

    /// Goes past the prompt of a session of Python at the beginning of a line, and past what Python printed: lines without a
    /// prompt behind one that has it.
    pub(super) fn past_prompt(&mut self) {
        if !self.has_prompts {
            return;
        }
        loop {
            let line = self.text[..self.span.start].rfind('\n').map_or(0, |end| end + 1);
            let is_first = self.text[line..self.span.start].trim().is_empty();
            if self.token == Token::End || !is_first {
                return;
            }
            let rest = &self.text[line..];
            if let Some(prompt) = PROMPTS.iter().find(|prompt| rest.trim_start().starts_with(prompt.trim_end())) {
                let blanks = rest.len() - rest.trim_start().len();
                self.tokens.go_on_at(line + blanks + prompt.trim_end().len());
                return;
            }
            let end = rest.find('\n').map_or(self.text.len(), |end| line + end + 1);
            self.tokens.go_on_at(end);
        }
    }

    /// Whether a shape and strides stand here as they are printed: `shape=(2, 3), strides=(24, 8)`, `x.size(): .., x.stride(): ..`.
    pub(super) fn at_printed(&self) -> bool {
        let mut ahead = self.tokens.clone();
        let mut has_shape = false;
        for _ in 0..64 {
            if ahead.token == Token::Name {
                let word = ahead.word();
                let is_shape = matches!(word, "shape" | "size" | "sizes");
                if has_shape && matches!(word, "stride" | "strides") {
                    return true;
                }
                let mut behind = ahead.clone();
                behind.advance();
                if behind.token == Token::Open(b'(') && matches!(behind.second(), Token::Close(_)) {
                    behind.advance();
                    behind.advance();
                }
                has_shape |= is_shape && matches!(behind.token, Token::Equals | Token::Colon);
                if !has_shape && ahead.second() != Token::Dot && !is_shape {
                    return false;
                }
            } else if !has_shape && ahead.token != Token::Dot {
                return false;
            }
            ahead.advance();
        }
        false
    }

    /// A shape and strides as they are printed. NumPy's are in bytes: where a type stands beside them, they are divided by its
    /// size.
    pub(super) fn printed(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let begin = self.span.start;
        let (mut shape, mut strides, mut offset, mut bytes) = (None, None, Num::<A>::from(0), None);
        let mut strides_at = begin..begin;
        loop {
            // The array in front of a dot, and what calls.
            while self.token == Token::Name && self.second() == Token::Dot {
                self.advance();
                self.advance();
            }
            let (field, at) = (self.word(), self.span.clone());
            self.advance();
            if self.token == Token::Open(b'(') && matches!(self.second(), Token::Close(_)) {
                self.advance();
                self.advance();
            }
            if !self.take(Token::Equals) && !self.take(Token::Colon) {
                return Err(self.expected("`=` or `:`"));
            }
            match field {
                "shape" | "size" | "sizes" => shape = Some(self.numbers("a size")?),
                "stride" | "strides" => {
                    strides_at.start = self.span.start;
                    strides = Some(self.strides()?);
                    strides_at.end = self.last;
                }
                "offset" | "storage_offset" => offset = self.number("an offset", Role::Other)?,
                "itemsize" => bytes = Some(self.integer("the bytes of an element")?),
                "dtype" => {
                    let of_type = self.printed_type()?;
                    bytes = bytes.or(of_type.map(|of_type| i64::from(of_type.bytes())));
                    parsed.of_type = of_type;
                }
                _ => {
                    let message = format!(
                        "expected `shape`, `strides`, `offset`, `dtype` or `itemsize`, found {}",
                        quoted(field)
                    );
                    return Err(self.error_at(at, message));
                }
            }
            let goes_on = self.take(Token::Comma) || self.take_symbol(";") || self.token == Token::Name;
            if !goes_on || self.token == Token::End {
                break;
            }
        }
        let shape = shape.ok_or_else(|| self.expected("`shape=(...)`"))?;
        let mut strides = strides.ok_or_else(|| self.expected("`strides=(...)`"))?;
        if let Some(bytes) = bytes.filter(|bytes| *bytes > 1) {
            let by = Num::<A>::from(bytes);
            for stride in strides.iter_mut() {
                let Some(elements) = self.quotient(stride, &by, strides_at.start)? else {
                    let stride = self.shown(stride);
                    let message = format!("a stride of {stride} bytes is no whole number of elements of {bytes} bytes");
                    return Err(self.error_at(strides_at, message));
                };
                *stride = elements;
            }
            offset = self.quotient(&offset, &by, begin)?.unwrap_or(offset);
        }
        let view = self.checked_view(begin, &shape, &strides, offset, None)?;
        Ok(ChainStartOf::Views(vec![view]))
    }

    /// `float32`, `torch.float32`, `dtype('<f4')`.
    fn printed_type(&mut self) -> Result<Option<Type>, ParseError> {
        if !(self.at_word("dtype") && self.second() == Token::Open(b'(')) {
            return self.type_argument();
        }
        self.advance();
        let close = self.open("`(`")?;
        let of_type = self.type_argument()?;
        self.close(close)?;
        Ok(of_type)
    }

    /// The size of a range of numbers, of which the end is given, or the begin, the end and perhaps the step.
    pub(super) fn length_of_range(&mut self, given: &[Num<A>], begin: usize) -> Result<Num<A>, ParseError> {
        let one = Num::<A>::from(1);
        let (first, end, step) = match given {
            [end] => return Ok(end.clone()),
            [first, end] => (first, end, &one),
            [first, end, step] => (first, end, step),
            _ => return Err(self.wrong(begin, "expected one size, as in `arange(6)`, or two ends")),
        };
        let step = self.whole(step, "a step", begin)?;
        if step == 0 {
            return Err(self.wrong(begin, "the step is 0; a step is 1 or more, or -1 or less to count backwards"));
        }
        let (low, high) = if step > 0 { (first, end) } else { (end, first) };
        let length = self.operate(Operator::Sub, high, low, begin)?;
        let up = Num::<A>::from(step.saturating_abs() - 1);
        let raised = self.operate(Operator::Add, &length, &up, begin)?;
        let count = self.operate(Operator::Div, &raised, &Num::<A>::from(step.saturating_abs()), begin)?;
        let zero = Num::<A>::from(0);
        Ok(if self.arithmetic.at_least(&count, &zero) == Some(false) { zero } else { count })
    }
}

/// The message of an exception, with its name, where a line begins with one: `IndexError: too many indices ..`.
fn exception(text: &str) -> Option<Range<usize>> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let name = line.split(':').next().unwrap_or_default();
        let is_name = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_'));
        if is_name
            && ["Error", "Exception"].iter().any(|end| name.ends_with(end))
            && line[name.len()..].starts_with(": ")
        {
            return Some(at..at + line.trim_end().len());
        }
        at += line.len();
    }
    None
}

/// The byte at which the last line of code of a traceback begins: of what somebody wrote, where the last lines are those of
/// installed packages. Python has the line below that of its file, and IPython has an arrow in front of it.
fn line_of_code(traceback: &str) -> Option<usize> {
    let is_written = |header: &str| !header.replace('\\', "/").contains("-packages/");
    let mut lines = Vec::new();
    let (mut at, mut written, mut below) = (0, true, false);
    for line in traceback.split_inclusive('\n') {
        let code = line.trim_start();
        let begin = at + line.len() - code.len();
        if ["File ", "Cell In", "Input In", "<ipython-input"].iter().any(|header| code.starts_with(header)) {
            (written, below) = (is_written(code), line.starts_with("  File "));
        } else if let Some(code) = after_arrow(code) {
            lines.push((written, at + line.len() - code.len()));
        } else if std::mem::take(&mut below) && begin - at >= 4 && !code.is_empty() {
            lines.push((written, begin));
        }
        at += line.len();
    }
    let last = lines.last().copied();
    lines.into_iter().rev().find(|(written, _)| *written).or(last).map(|(_, line)| line)
}

/// The code behind `----> 2 `.
fn after_arrow(line: &str) -> Option<&str> {
    let rest = line.trim_start_matches('-');
    let number = (rest.len() < line.len()).then(|| rest.strip_prefix("> "))??;
    let code = number.trim_start_matches(|c: char| c.is_ascii_digit());
    (code.len() < number.len() && !code.trim().is_empty()).then(|| code.trim_start())
}
