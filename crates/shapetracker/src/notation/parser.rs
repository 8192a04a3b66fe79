//! Reads chains and views from tokens by recursive descent. The depth of the calls does not depend on the text: what nests
//! to any depth (CuTe's layouts) is read by a loop.

use std::ops::Range;

use super::ChainStart;
use super::call::Call;
use super::foreign::{MAKERS, Methods, instead, library};
use super::help::Method;
use super::lexer::{Lexer, Token};
use super::program::{MOST_COPIED, Pieces};
use super::types::Type;
use crate::advice::Hand;
use crate::operation::{Slice, Takes};
use crate::{Dims, MAX_RANK, Movement, MovementKind, PerAxis, Ranges, View};
use indexpr::text::{ParseError, check_length, nearest, quoted};

/// What a chain says, and where.
#[derive(Clone, Debug)]
pub(super) struct Parsed {
    pub(super) start: ChainStart,
    pub(super) start_span: Range<usize>,
    /// The name of an array of which no shape is known.
    pub(super) name: Option<Box<str>>,
    /// Of a layout of CuTe the sizes of the modes inside each axis, the fastest first.
    pub(super) modes: Option<Vec<Dims>>,
    pub(super) ops: Vec<Movement>,
    /// Where each operation begins and ends: the longest text has places for 32 bits.
    spans: Vec<[u32; 2]>,
    /// The call that each operation was read from. Operations of one call are neighbours and have the same place.
    calls: Vec<Call>,
    /// Whose methods the array has.
    pub(super) methods: Methods,
    /// The type of the elements, where the text says it.
    pub(super) of_type: Option<Type>,
    /// The type that addresses count elements of, where that is not the one that the chain begins with.
    pub(super) unit: Option<Type>,
    /// Whether the strides along axes of size 1 were not known when the chain began anew.
    pub(super) is_rough: bool,
    /// How often elements were read as those of another type of the same size.
    pub(super) retyped: usize,
    /// The shape after this many operations, once it was asked for.
    pub(super) known: (usize, Option<Dims>),
    /// The array that the library has after this many operations, once it was asked for.
    pub(super) kept: Option<(usize, Box<Hand>)>,
}

impl Parsed {
    /// The shape after all operations, if it was found out.
    pub(super) fn known_shape(&self) -> Option<Dims> {
        self.known.1.clone().filter(|_| self.known.0 == self.ops.len())
    }

    /// Nothing yet, which begins at a byte of the text.
    pub(super) fn new(begin: usize) -> Self {
        Parsed {
            start: ChainStart::Nothing,
            start_span: begin..begin,
            name: None,
            modes: None,
            ops: Vec::new(),
            spans: Vec::new(),
            calls: Vec::new(),
            methods: Methods::Ours,
            of_type: None,
            unit: None,
            is_rough: false,
            retyped: 0,
            known: (0, None),
            kept: None,
        }
    }

    /// Whether anything has been read of it.
    pub(super) fn is_begun(&self) -> bool {
        self.start != ChainStart::Nothing || self.name.is_some() || !self.ops.is_empty()
    }

    /// Where an operation stands.
    pub(super) fn span(&self, op: usize) -> Option<Range<usize>> {
        self.spans.get(op).map(|&[begin, end]| begin as usize..end as usize)
    }

    pub(super) fn push(&mut self, op: Movement, span: Range<usize>) {
        if self.ops.len() == self.ops.capacity() {
            // Operations are large, and a vector that doubles would hold twice the memory that they need.
            self.ops.reserve_exact(self.ops.len() / 4 + 4);
        }
        self.ops.push(op);
        self.spans.push([span.start as u32, span.end as u32]);
        self.calls.push(Call::Plain);
    }

    /// Says of which call the operations from this one on are.
    pub(super) fn called(&mut self, first: usize, call: Call) {
        self.calls[first..].fill(call);
    }

    /// The operations of the call that begins with this one, and what call that is.
    pub(super) fn call(&self, first: usize) -> (Call, Range<usize>) {
        let is_the_same = |op: &usize| (self.spans[*op], self.calls[*op]) == (self.spans[first], self.calls[first]);
        let call = self.calls[first];
        let more = match call {
            Call::Plain => 1,
            _ => (first..self.ops.len()).take_while(is_the_same).count(),
        };
        (call, first..first + more)
    }

    /// Whether axes were made or taken away by operations that do not have all of what PyTorch does in between: an index with
    /// `None` or a number, `select`, an `expand` to more axes.
    pub(super) fn has_rough_axes(&self) -> bool {
        let mut ops = self.ops.iter().enumerate();
        self.is_rough
            || ops.any(|(number, op)| match op {
                Movement::Reshape(_) => number > 0 && self.spans[number] == self.spans[number - 1],
                // Where a number takes an axis away and `None` makes one there may be no reshape.
                Movement::Slice(slices) => slices.iter().any(|&(begin, end, _)| {
                    begin.zip(end).is_some_and(|(begin, end)| end.checked_sub(begin) == Some(1))
                }),
                Movement::BroadcastTo(_) => true,
                _ => false,
            })
    }

    /// Whether both are the same operations by the same calls.
    pub(super) fn does_as(&self, other: &Parsed) -> bool {
        (&self.ops, &self.calls) == (&other.ops, &other.calls)
    }

    /// Takes away all operations from this one on.
    pub(super) fn truncate(&mut self, ops: usize) {
        self.ops.truncate(ops);
        self.spans.truncate(ops);
        self.calls.truncate(ops);
    }

    /// Says where the operations from this one on end.
    pub(super) fn end(&mut self, first: usize, end: usize) {
        let first = first.min(self.spans.len());
        self.spans[first..].iter_mut().for_each(|[_, last]| *last = end as u32);
    }
}

/// Reads a chain as far as it can be read, and says why it does not end there. `base` is the shape of the array that the
/// text has a name for, or nothing.
pub(super) fn chain(text: &str, base: Option<&[i64]>) -> (Parsed, Option<ParseError>) {
    let parsed = Parsed::new(0);
    if let Err(err) = check_length(text) {
        return (parsed, Some(err));
    }
    let mut parser = Parser::new(text);
    parser.base = base;
    let (parsed, error) = parser.read(parsed);
    (parsed, error.map(|err| checked_suggestion(text, base, err)))
}

/// Reads a chain on an array of which nothing is known but its name, as code of a library; nothing where the text says
/// itself whose code it is, or is no such code.
pub(super) fn chain_of(text: &str, base: Option<&[i64]>, methods: Methods) -> Option<Parsed> {
    check_length(text).ok()?;
    let mut parser = Parser::new(text);
    if parser.unknown != Methods::Unknown {
        return None;
    }
    (parser.base, parser.unknown) = (base, methods);
    match parser.read(Parsed::new(0)) {
        (parsed, None) => parsed.name.is_some().then_some(parsed),
        _ => None,
    }
}

/// The mistake without its suggestion, unless the text that is suggested can be read further than this one.
fn checked_suggestion(text: &str, base: Option<&[i64]>, err: ParseError) -> ParseError {
    let Some((span, meant)) = err.suggestion() else { return err };
    let better = [&text[..span.start], meant, &text[span.end..]].concat();
    // The first change may be one of several that are needed, but what follows it must be read.
    let reached = span.start + meant.len();
    let mut parser = Parser::new(&better);
    parser.base = base;
    let next = parser.program(&mut Parsed::new(0)).err();
    let helps = next.is_none_or(|next| next.span().start > reached || next.is_unfinished());
    if helps { err } else { err.without_suggestion() }
}

/// The one library whose functions a text calls by their path; nothing is known where there is none, or more than one.
fn library_of(text: &str) -> Methods {
    let (mut lexer, mut found, mut before) = (Lexer::new(text), Methods::Unknown, Methods::Unknown);
    let mut after_dot = false;
    loop {
        let (token, span) = lexer.next();
        match token {
            Token::End => return found,
            Token::Dot if before != Methods::Unknown && found == Methods::Unknown => found = before,
            Token::Dot if before != Methods::Unknown && found != before => return Methods::Unknown,
            _ => {}
        }
        before = match token {
            Token::Name if !after_dot => library(&text[span]),
            _ => Methods::Unknown,
        };
        after_dot = token == Token::Dot;
    }
}

/// Reads one view, the whole text.
pub(super) fn view(text: &str) -> Result<View, ParseError> {
    check_length(text)?;
    let mut parser = Parser::new(text);
    let view = parser.any_view("a view such as `(2, 3):(3, 1)` or `View(shape=(2, 3), strides=(3, 1))`")?;
    match parser.token {
        Token::End => Ok(view),
        _ => Err(parser.expected("the end of the text after the view")),
    }
}

/// The names of all operations, ours and others'.
pub(super) fn method_names() -> impl Iterator<Item = &'static str> {
    MovementKind::names().chain(Method::ALL.iter().filter(|method| method.library().is_some()).map(Method::name))
}

/// The words that a text may have, to tell one that is begun from one that is wrong.
fn known_words() -> impl Iterator<Item = &'static str> {
    const WORDS: [&str; 20] = [
        "View",
        "ShapeTracker",
        "views",
        "shape",
        "strides",
        "offset",
        "mask",
        "contiguous",
        "over",
        "True",
        "False",
        "None",
        "Ellipsis",
        "np",
        "numpy",
        "jnp",
        "torch",
        "Tensor",
        "newaxis",
        "storage_offset",
    ];
    method_names().chain(MAKERS).chain(ARGUMENTS).chain(WORDS)
}

/// The names that others give to all sizes or all axes of an operation, as in `flip(dims=(0, 1))`.
const ARGUMENTS: [&str; 6] = ["shape", "size", "dim", "dims", "axis", "axes"];

impl MovementKind {
    /// The sentence about a name that [`MovementKind::named`] does not know: with what to write instead, with a guess what
    /// was meant, or else with all names that there are.
    ///
    /// ```
    /// use shapetracker::MovementKind;
    ///
    /// assert_eq!(MovementKind::unknown("premute"), "expected an operation, found `premute`: did you mean `permute`?");
    /// assert_eq!(MovementKind::unknown("expand_as"), "`expand_as` is not read: write `expand` and the sizes");
    /// assert_eq!(MovementKind::unknown("narrow"), "`narrow` is read where all sizes are numbers");
    /// ```
    pub fn unknown(name: &str) -> String {
        // Whoever reads names for sizes knows fewer of the operations that others have.
        if method_names().any(|known| known == name) {
            return format!("`{name}` is read where all sizes are numbers");
        }
        instead(name).map_or_else(|| unknown_operation(name), |instead| format!("`{name}` is not read: {instead}"))
    }
}

/// The sentence about a name that no operation has: with a guess what was meant, or else with all there are.
pub(crate) fn unknown_operation(name: &str) -> String {
    let found = quoted(name);
    match nearest(name, method_names()) {
        Some(meant) => format!("expected an operation, found {found}: did you mean `{meant}`?"),
        None => {
            let names: Vec<&str> = MovementKind::names().collect();
            format!("expected an operation, found {found}; there are {}", names.join(", "))
        }
    }
}

#[derive(Clone)]
pub(super) struct Parser<'a> {
    pub(super) text: &'a str,
    pub(super) lexer: Lexer<'a>,
    /// The next token, and its bytes.
    pub(super) token: Token,
    pub(super) span: Range<usize>,
    /// The end of the token before.
    pub(super) last: usize,
    /// The shape of the array that the text has a name for.
    pub(super) base: Option<&'a [i64]>,
    /// What closes the arguments that come next, where their opening has been read already: those of a function stand
    /// behind its array.
    pub(super) opened: Option<Token>,
    /// The names that statements have given to arrays and numbers.
    pub(super) names: Vec<(&'a str, super::program::Named)>,
    /// How many operations have been copied from array to array, which has a limit.
    pub(super) copied: usize,
    /// How deep functions nest.
    pub(super) depth: usize,
    /// Whose methods an array has of which nothing is known but its name: those of the one library that the text names.
    pub(super) unknown: Methods,
}

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Self {
        let mut lexer = Lexer::new(text);
        let (token, span) = lexer.next();
        let unknown = library_of(text);
        let (names, base) = (Vec::new(), None);
        Parser { text, lexer, token, span, last: 0, base, opened: None, names, copied: 0, depth: 0, unknown }
    }

    /// Reads the whole text as a chain, and says why it does not end where the chain does.
    fn read(mut self, mut parsed: Parsed) -> (Parsed, Option<ParseError>) {
        parsed.start_span = self.span.start..self.span.start;
        let error = self.program(&mut parsed).err();
        (parsed, error)
    }

    /// The text of the next token.
    pub(super) fn word(&self) -> &'a str {
        &self.text[self.span.clone()]
    }

    pub(super) fn advance(&mut self) {
        self.last = self.span.end;
        (self.token, self.span) = self.lexer.next();
    }

    /// Goes on if the next token is the given one.
    pub(super) fn take(&mut self, token: Token) -> bool {
        let found = self.token == token;
        if found {
            self.advance();
        }
        found
    }

    /// The token after the next.
    pub(super) fn second(&self) -> Token {
        let mut ahead = self.lexer;
        ahead.next().0
    }

    /// The token after the next two, and its text.
    pub(super) fn third(&self) -> (Token, &'a str) {
        let mut ahead = self.lexer;
        ahead.next();
        let (token, span) = ahead.next();
        (token, &self.text[span])
    }

    pub(super) fn error_at(&self, span: Range<usize>, message: String) -> ParseError {
        ParseError::new(message, self.text, span)
    }

    /// The error that the next token is not what should stand there.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        if self.token == Token::End {
            let message = format!("expected {what}, found the end of the text");
            return self.error_at(self.last..self.last, message).and_unfinished();
        }
        let err = self.error_at(self.span.clone(), format!("expected {what}, found {}", quoted(self.word())));
        if self.is_begun() { err.and_unfinished() } else { err }
    }

    /// Whether the next token is a name that the text gives to nothing, and that is no constant of Python; it may be that of an
    /// operation, such as `T`.
    pub(super) fn is_unknown_name(&self) -> bool {
        let word = self.word();
        !self.names.iter().any(|(given, _)| *given == word) && !["True", "False", "None", "Ellipsis"].contains(&word)
    }

    /// Whether the next token is the last one of the text, and perhaps only the beginning of what shall stand there.
    pub(super) fn is_begun(&self) -> bool {
        let word = self.word();
        let begun = match self.token {
            Token::Name => known_words().any(|known| known.starts_with(word)),
            Token::Unknown => matches!(word, "-" | "+"),
            _ => false,
        };
        begun && self.second() == Token::End
    }

    /// The error that the next token is not what should stand there, which is one of the names; with a guess at which.
    fn unknown(&self, message: String, names: impl IntoIterator<Item = &'static str>) -> ParseError {
        let err = self.error_at(self.span.clone(), message);
        let err = if self.is_begun() { err.and_unfinished() } else { err };
        match nearest(self.word(), names) {
            Some(meant) if self.token == Token::Name => err.with_suggestion(self.span.clone(), meant),
            _ => err,
        }
    }

    /// What closes the brackets that are open at the end of the text.
    fn closing_brackets(&self) -> String {
        let (mut lexer, mut closing) = (Lexer::new(self.text), Vec::new());
        loop {
            match lexer.next().0 {
                Token::Open(open) => closing.push(if open == b'(' { ')' } else { ']' }),
                Token::Close(_) => drop(closing.pop()),
                Token::End => return closing.into_iter().rev().collect(),
                _ => {}
            }
        }
    }

    /// A complaint that a list neither goes on nor closes, with the comma or the bracket that is probably missing.
    fn not_closed(&self, what: &str, close: Token) -> ParseError {
        let err = self.expected(what);
        match self.token {
            Token::End => err.with_suggestion(self.last..self.last, self.closing_brackets()),
            Token::Close(_) => {
                err.with_suggestion(self.span.clone(), if close == Token::Close(b']') { "]" } else { ")" })
            }
            Token::Number(_) | Token::Open(_) => err.with_suggestion(self.last..self.span.start, ", "),
            _ => err,
        }
    }

    /// An array and the operations on it.
    ///
    /// With `parts`, the answer is what a last operation cuts it into, of which no part is chosen yet.
    pub(super) fn array(&mut self, parsed: &mut Parsed, parts: bool) -> Result<Option<Pieces>, ParseError> {
        let begin = self.span.start;
        let mut bare = false;
        if self.at_function() {
            if let Some(pieces) = self.function(parsed, parts)? {
                return Ok(Some(pieces));
            }
        } else if let Some(array) = self.named_array() {
            self.advance();
            self.copied += array.ops.len();
            if self.copied > MOST_COPIED {
                let message = format!("arrays with names have more than {MOST_COPIED} operations in all");
                return Err(self.error_at(begin..self.last, message));
            }
            parsed.clone_from(&array);
        } else {
            parsed.start_span = begin..begin;
            parsed.start = self.start(parsed)?;
            parsed.start_span = begin..self.last.max(begin);
            if parsed.methods == Methods::Unknown && parsed.start == ChainStart::Nothing {
                parsed.methods = self.unknown;
                let name = &self.text[parsed.start_span.clone()];
                parsed.name = Some(name.into());
                self.give(name, begin, parsed.clone())?;
            }
            // A chain without a start may begin with the name of its first operation.
            bare = parsed.start == ChainStart::Nothing && self.token == Token::Name && parsed.name.is_none();
        }
        self.methods_of(parsed, bare, parts)
    }

    /// What follows an array: operations after a dot, and indices; the first may stand without its dot.
    fn methods_of(&mut self, parsed: &mut Parsed, mut bare: bool, parts: bool) -> Result<Option<Pieces>, ParseError> {
        loop {
            let begin = self.span.start;
            if self.token == Token::Open(b'[') && !bare {
                let first = parsed.ops.len();
                for op in self.subscript(parsed)? {
                    parsed.push(op, begin..self.last);
                }
                parsed.called(first, Call::Index);
            } else if bare || self.take(Token::Dot) {
                bare = false;
                let begin = self.span.start;
                if self.token != Token::Name {
                    return Err(self.expected("the name of an operation"));
                }
                let (name, span) = (self.word(), self.span.clone());
                // Whether the name is one at all is said of the name itself, before what follows it is read.
                self.known_method(name, parsed)?;
                self.advance();
                if let Some(pieces) = self.done(parsed, name, span, begin, parts)? {
                    return Ok(Some(pieces));
                }
            } else {
                return Ok(None);
            }
        }
    }

    fn start(&mut self, parsed: &mut Parsed) -> Result<ChainStart, ParseError> {
        let begin = self.span.start;
        match self.token {
            _ if self.at_layout_type() => self.layout_type(parsed),
            // A layout of CuTe with one axis, such as `8:1`.
            Token::Number(_) if self.second() == Token::Colon => self.nested_start(self.expected("a shape"), parsed),
            Token::Open(_) => {
                let mut ahead = self.clone();
                let shape = match ahead.numbers("a size") {
                    Err(err) if matches!(ahead.token, Token::Open(_)) => return self.nested_start(err, parsed),
                    shape => shape?,
                };
                *self = ahead;
                if self.token != Token::Colon {
                    return Ok(ChainStart::Shape(shape));
                }
                let view = self.printed_view(begin, shape)?;
                self.views_over(view)
            }
            _ if self.at_word("View") => {
                let view = self.pasted_view()?;
                if !self.at_next_view() {
                    return self.views_over(view);
                }
                let mut views = vec![view];
                while self.at_next_view() {
                    self.take(Token::Comma);
                    views.push(self.pasted_view()?);
                }
                Ok(ChainStart::Views(views))
            }
            _ if self.at_word("ShapeTracker") => self.pasted_tracker(),
            Token::Name => self.made_array(parsed),
            Token::Dot => Ok(ChainStart::Nothing),
            _ => Err(self.expected("a base shape such as `(3, 2)`, a view or an operation")),
        }
    }

    /// Whether another `View` follows, with or without a comma.
    fn at_next_view(&self) -> bool {
        match self.token {
            Token::Comma => self.second() == Token::Name,
            _ => self.at_word("View"),
        }
    }

    /// `over` and a view, any number of times, after a first view: the last one is next to memory.
    fn views_over(&mut self, first: View) -> Result<ChainStart, ParseError> {
        let mut views = vec![first];
        while self.at_word("over") {
            self.advance();
            views.push(self.any_view("a view such as `(2, 3):(3, 1)`")?);
        }
        views.reverse();
        Ok(ChainStart::Views(views))
    }

    /// A view in either form.
    fn any_view(&mut self, what: &str) -> Result<View, ParseError> {
        let begin = self.span.start;
        match self.token {
            Token::Open(_) => {
                let shape = self.numbers("a size")?;
                self.printed_view(begin, shape)
            }
            _ if self.at_word("View") => self.pasted_view(),
            _ => Err(self.expected(what)),
        }
    }

    /// `:(3, 1) offset 2 mask ((0, 2), (1, 3))`: the rest of a view after its shape.
    fn printed_view(&mut self, begin: usize, shape: Dims) -> Result<View, ParseError> {
        if !self.take(Token::Colon) {
            return Err(self.expected("`:` and the strides"));
        }
        let strides = self.numbers("a stride")?;
        let mut offset = 0;
        if self.at_word("offset") {
            self.advance();
            offset = self.number("an offset")?;
        }
        let mut mask = None;
        if self.at_word("mask") {
            self.advance();
            mask = Some(self.mask()?);
        }
        self.checked_view(begin, &shape, &strides, offset, mask)
    }

    /// `View(shape=(2, 3), strides=(3, 1), offset=0, mask=None, contiguous=True)`.
    fn pasted_view(&mut self) -> Result<View, ParseError> {
        let begin = self.span.start;
        if !self.at_word("View") {
            return Err(self.expected("`View(...)`"));
        }
        self.advance();
        // `View.create` lays out its shape in row-major order where it is given no strides.
        let created = self.token == Token::Dot && self.third_is("create");
        self.view_fields(begin, created)
    }

    /// The arguments of `View`, or of a function that makes one.
    fn view_fields(&mut self, begin: usize, created: bool) -> Result<View, ParseError> {
        const FIELDS: [&str; 5] = ["shape", "strides", "offset", "mask", "contiguous"];
        let (mut shape, mut strides, mut offset, mut mask) = (None, None, 0, None);
        self.fields("`(` after `View`", &FIELDS, |parser, field| {
            match field {
                0 => shape = Some(parser.numbers("a size")?),
                1 if created && parser.at_word("None") => parser.advance(),
                1 => strides = Some(parser.numbers("a stride")?),
                2 => offset = parser.number("an offset")?,
                3 if parser.at_word("None") => parser.advance(),
                3 => mask = Some(parser.mask()?),
                // Whether it is contiguous follows from the rest; what the text says is of no consequence.
                _ if parser.boolean().is_some() || parser.at_word("None") => parser.advance(),
                _ => return Err(parser.expected("`True` or `False`")),
            }
            Ok(())
        })?;
        let shape = shape.ok_or_else(|| self.expected("`shape=(...)`"))?;
        if created && strides.is_none() {
            let contiguous = View::contiguous(&shape);
            strides = Some(contiguous.map_err(|err| self.refused(begin, &err))?.strides().into());
        }
        let strides = strides.ok_or_else(|| self.expected("`strides=(...)`"))?;
        self.advance();
        self.checked_view(begin, &shape, &strides, offset, mask)
    }

    /// Goes past a dot and a name, if the name is the given one.
    fn third_is(&mut self, name: &str) -> bool {
        let mut ahead = self.clone();
        ahead.advance();
        let found = ahead.at_word(name);
        if found {
            ahead.advance();
            *self = ahead;
        }
        found
    }

    /// `ShapeTracker(views=(View(...), View(...)))`.
    fn pasted_tracker(&mut self) -> Result<ChainStart, ParseError> {
        let begin = self.span.start;
        self.advance();
        if self.token == Token::Dot && self.third_is("from_shape") {
            return Ok(ChainStart::Views(vec![self.view_fields(begin, true)?]));
        }
        let close = self.open("`(` after `ShapeTracker`")?;
        if self.at_word("views") {
            self.advance();
            if !self.take(Token::Equals) {
                return Err(self.expected("`=`"));
            }
        }
        let close_views = self.open("`(` and views")?;
        let mut views = Vec::new();
        while views.is_empty() || self.token != close_views {
            views.push(self.pasted_view()?);
            self.comma_or(close_views)?;
        }
        self.advance();
        self.take(Token::Comma);
        self.close(close)?;
        Ok(ChainStart::Views(views))
    }

    pub(super) fn checked_view(
        &self,
        begin: usize,
        shape: &[i64],
        strides: &[i64],
        offset: i64,
        mask: Option<Ranges>,
    ) -> Result<View, ParseError> {
        View::new(shape, strides, offset, mask.as_deref())
            .map_err(|err| self.error_at(begin..self.last, err.to_string()))
    }

    /// The complaint about a name that no operation has.
    pub(super) fn unknown_method(&self, name: &str) -> ParseError {
        self.unknown(unknown_operation(name), method_names())
    }

    /// One of our own operations, after its name.
    pub(super) fn operation(&mut self, name: &str, kind: MovementKind) -> Result<Movement, ParseError> {
        if self.opened.is_none() && self.token != Token::Open(b'(') {
            return Err(self.expected(&format!("`(` after `{name}`")));
        }
        self.taken(kind.takes())
    }

    /// What stands between the parentheses of an operation, made into the operation.
    fn taken(&mut self, takes: Takes) -> Result<Movement, ParseError> {
        match takes {
            Takes::Numbers(what, make) => self.number_arguments(what).map(make),
            Takes::Pads(make) => self.pads().map(make),
            Takes::Ranges(make) => self.ranges().map(make),
            Takes::AxesOrBooleans(axes, booleans) => self.axes_or_booleans(axes, booleans),
            Takes::AxesOrAll(_, all) if self.first_argument() == Token::Close(b')') => {
                let close = self.open("`(`")?;
                self.close(close).map(|()| all())
            }
            Takes::AxesOrAll(axes, _) => self.number_arguments("an axis").map(axes),
            Takes::Axis(make) => self.some_axes("one axis").map(|[axis]| make(axis)),
            Takes::TwoAxes(make) => self.some_axes("two axes").map(|[a, b]| make(a, b)),
            Takes::Slices(make) => self.slices().map(make),
            Takes::Nothing(op) => {
                let close = self.open("`(`")?;
                self.close(close).map(|()| op)
            }
            Takes::Strided(make) => self.strided(make),
        }
    }

    /// As many axes as there must be.
    fn some_axes<const N: usize>(&mut self, what: &str) -> Result<[i64; N], ParseError> {
        let begin = self.span.start;
        let axes = self.number_arguments("an axis")?;
        <[i64; N]>::try_from(&axes[..])
            .map_err(|_| self.error_at(begin..self.last, format!("expected {what}, found {}", axes.len())))
    }

    fn pads(&mut self) -> Result<Ranges, ParseError> {
        let mut pads = Ranges::new();
        self.pair_arguments(|parser| {
            pads.push(if parser.at_word("None") {
                parser.advance();
                (0, 0)
            } else {
                parser.pair("a pair `(before, after)`")?
            });
            Ok(())
        })?;
        Ok(pads)
    }

    fn ranges(&mut self) -> Result<Ranges, ParseError> {
        let mut ranges = Ranges::new();
        self.pair_arguments(|parser| {
            ranges.push(parser.pair("a range `(begin, end)`")?);
            Ok(())
        })?;
        Ok(ranges)
    }

    fn axes_or_booleans(
        &mut self,
        of_axes: fn(Dims) -> Movement,
        of_booleans: fn(PerAxis<bool>) -> Movement,
    ) -> Result<Movement, ParseError> {
        let (mut axes, mut each) = (Dims::new(), PerAxis::new());
        self.arguments(|parser| {
            match parser.boolean() {
                Some(reversed) if axes.is_empty() => {
                    parser.advance();
                    each.push(reversed);
                }
                None if !each.is_empty() => return Err(parser.expected("`True` or `False`")),
                _ => axes.push(parser.number("an axis")?),
            }
            Ok(())
        })?;
        Ok(if each.is_empty() { of_axes(axes) } else { of_booleans(each) })
    }

    fn slices(&mut self) -> Result<Vec<Slice>, ParseError> {
        let mut slices = Vec::new();
        self.arguments(|parser| {
            let begin = parser.bound()?;
            slices.push(parser.slice_from(begin)?);
            Ok(())
        })?;
        Ok(slices)
    }

    /// `:3` or `:3:2`: the rest of a slice after its begin.
    pub(super) fn slice_from(&mut self, begin: Option<i64>) -> Result<Slice, ParseError> {
        if !self.take(Token::Colon) {
            let what = if begin.is_none() { "a slice such as `1:3`, `::-1` or `:`" } else { "`:`" };
            return Err(self.expected(what));
        }
        let end = self.bound()?;
        let step = if self.take(Token::Colon) { self.bound()? } else { None };
        Ok((begin, end, step.unwrap_or(1)))
    }

    /// A bound or the step of a slice, which may be missing.
    pub(super) fn bound(&mut self) -> Result<Option<i64>, ParseError> {
        match self.token {
            Token::Number(_) | Token::NotWhole => self.number("a bound").map(Some),
            _ if self.at_named_number() => self.number("a bound").map(Some),
            _ => Ok(None),
        }
    }

    pub(super) fn strided(&mut self, make: fn(Dims, Dims, i64) -> Movement) -> Result<Movement, ParseError> {
        let (shape, strides, offset) = self.strided_arguments()?;
        Ok(make(shape, strides, offset.unwrap_or(0)))
    }

    /// A shape, strides and perhaps an offset.
    pub(super) fn strided_arguments(&mut self) -> Result<(Dims, Dims, Option<i64>), ParseError> {
        const FIELDS: [&str; 3] = ["shape|size", "strides|stride", "offset|storage_offset"];
        let (mut shape, mut strides, mut offset) = (None, None, None);
        self.fields("`(`", &FIELDS, |parser, field| {
            match field {
                0 => shape = Some(parser.numbers("a size")?),
                1 => strides = Some(parser.numbers("a stride")?),
                _ => offset = Some(parser.number("an offset")?),
            }
            Ok(())
        })?;
        let shape = shape.ok_or_else(|| self.expected("a shape such as `(2, 3)`"))?;
        let strides = strides.ok_or_else(|| self.expected("strides such as `(3, 1)`"))?;
        self.advance();
        Ok((shape, strides, offset))
    }

    /// Arguments with or without names, as far as the parenthesis that closes them; `read` gets the number of the field
    /// that its argument is for. A field may have several names.
    pub(super) fn fields(
        &mut self,
        what: &str,
        fields: &[&str],
        mut read: impl FnMut(&mut Self, usize) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let close = self.open(what)?;
        let mut given = 0;
        while self.token != close {
            let field = self.field(fields, &mut given)?;
            read(self, field)?;
            self.comma_or(close)?;
        }
        Ok(())
    }

    /// Which field the next argument is for: the one that is named, or else the first one not given. `given` has a bit
    /// a field.
    fn field(&mut self, fields: &[&str], given: &mut u32) -> Result<usize, ParseError> {
        let first_name = |field: &str| format!("`{}`", field.split('|').next().unwrap_or(field));
        let field = if self.token == Token::Name && self.second() == Token::Equals {
            let word = self.word();
            let Some(field) = fields.iter().position(|field| field.split('|').any(|name| name == word)) else {
                let names: Vec<String> = fields.iter().map(|field| first_name(field)).collect();
                return Err(self.expected(&format!("one of {}", names.join(", "))));
            };
            if *given & (1 << field) != 0 {
                return Err(self.error_at(self.span.clone(), format!("`{word}` is given twice")));
            }
            self.advance();
            self.advance();
            field
        } else {
            let field = given.trailing_ones() as usize;
            if field == fields.len() {
                return Err(self.expected("`)`"));
            }
            if *given >> field != 0 {
                return Err(self.expected(&format!("the name of an argument, such as `{}=`", fields[field])));
            }
            field
        };
        *given |= 1 << field;
        Ok(field)
    }

    /// The numbers between the parentheses of an operation.
    pub(super) fn number_arguments(&mut self, what: &str) -> Result<Dims, ParseError> {
        let mut numbers = Dims::new();
        self.arguments(|parser| parser.sizes(what, &mut numbers))?;
        Ok(numbers)
    }

    /// What stands between the parentheses of an operation, perhaps in a tuple or a list of its own, which may have the
    /// name that others give it.
    fn arguments(&mut self, item: impl FnMut(&mut Self) -> Result<(), ParseError>) -> Result<(), ParseError> {
        let close = self.open("`(`")?;
        if ARGUMENTS.contains(&self.word()) && self.second() == Token::Equals {
            self.advance();
            self.advance();
        }
        let in_a_tuple = matches!(self.token, Token::Open(_));
        self.items(close, in_a_tuple, item)
    }

    /// The same where the items are pairs: a pair alone is not a list of its own.
    pub(super) fn pair_arguments(
        &mut self,
        item: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let close = self.open("`(`")?;
        if ["pad_width", "padding", "arg"].contains(&self.word()) && self.second() == Token::Equals {
            self.advance();
            self.advance();
        }
        let (second, span) = { self.lexer }.next();
        let of_pairs = matches!(second, Token::Open(_) | Token::Close(_)) || &self.text[span] == "None";
        let in_a_tuple = matches!(self.token, Token::Open(_)) && of_pairs;
        self.items(close, in_a_tuple, item)
    }

    /// `(2, 3)` or `[2, 3]`: the numbers in it.
    pub(super) fn numbers(&mut self, what: &str) -> Result<Dims, ParseError> {
        let mut numbers = Dims::new();
        if self.at_sizes() {
            self.sizes(what, &mut numbers)?;
            return Ok(numbers);
        }
        self.list("a tuple such as `(2, 3)`", |parser| parser.sizes(what, &mut numbers))?;
        Ok(numbers)
    }

    /// `((0, 2), (1, 3))`: the ranges in it.
    fn mask(&mut self) -> Result<Ranges, ParseError> {
        let mut ranges = Ranges::new();
        self.list("a tuple of ranges such as `((0, 2), (1, 3))`", |parser| {
            ranges.push(parser.pair("a range `(begin, end)`")?);
            Ok(())
        })?;
        Ok(ranges)
    }

    /// `(1, 2)` or `[1, 2]`.
    pub(super) fn pair(&mut self, what: &str) -> Result<(i64, i64), ParseError> {
        let close = self.open(what)?;
        let first = self.number("a number")?;
        if !self.take(Token::Comma) {
            return Err(self.expected(&format!("`,` and the second number of {what}")));
        }
        let second = self.number("a number")?;
        self.take(Token::Comma);
        self.close(close)?;
        Ok((first, second))
    }

    /// A parenthesis or a bracket, items with commas between them, and the closing one.
    pub(super) fn list(
        &mut self,
        what: &str,
        item: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let close = self.open(what)?;
        self.items(close, false, item)
    }

    /// Items with commas between them and what closes them, perhaps in a tuple or a list of their own.
    fn items(
        &mut self,
        close: Token,
        in_a_tuple: bool,
        mut item: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let inner = if in_a_tuple { self.open("`(`")? } else { close };
        let mut count = 0;
        while self.token != inner {
            if count == MAX_RANK {
                return Err(self.expected(&format!("at most {MAX_RANK} axes")));
            }
            item(self)?;
            count += 1;
            self.comma_or(inner)?;
        }
        self.advance();
        if in_a_tuple {
            self.take(Token::Comma);
            self.close(close)?;
        }
        Ok(())
    }

    /// A number as it is written: without the names of numbers, and without arithmetic.
    pub(super) fn plain_number(&mut self, what: &str) -> Result<i64, ParseError> {
        match self.token {
            Token::Number(Some(number)) => {
                self.advance();
                Ok(number)
            }
            Token::Number(None) => Err(self.expected(&format!("{what} within the range of 64-bit integers"))),
            Token::NotWhole => Err(self.expected(&format!("{what}, which is a whole number"))),
            Token::Name if self.second() == Token::Equals => {
                let names = ARGUMENTS.join("`, `");
                Err(self.expected(&format!("{what}, or one of the names `{names}` in front of all of them")))
            }
            Token::Name if self.is_unknown_name() => Err(self.nameless(what)),
            Token::Comma => {
                // A comma too many, together with the spaces behind it.
                let mut ahead = self.lexer;
                let end = ahead.next().1.start;
                Err(self.expected(what).with_suggestion(self.span.start..end, ""))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The error that a name stands here in place of a number, and that no number has it.
    pub(super) fn nameless(&self, what: &str) -> ParseError {
        let message = format!(
            "expected {what}, found {}, and nothing says which number that is: write the number in its place, or say it \
             before, as in {}",
            quoted(self.word()),
            quoted(&format!("{} = 2;", self.word())),
        );
        let err = self.error_at(self.span.clone(), message);
        if self.is_begun() { err.and_unfinished() } else { err }
    }

    /// The boolean that the next token is.
    pub(super) fn boolean(&self) -> Option<bool> {
        match self.word() {
            "True" | "true" => Some(true),
            "False" | "false" => Some(false),
            _ => None,
        }
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.token == Token::Name && self.word() == word
    }

    /// The token after the parenthesis that opens the arguments.
    pub(super) fn first_argument(&self) -> Token {
        if self.opened.is_some() { self.token } else { self.second() }
    }

    /// Goes past an opening parenthesis or bracket and says how it closes.
    pub(super) fn open(&mut self, what: &str) -> Result<Token, ParseError> {
        if let Some(close) = self.opened.take() {
            return Ok(close);
        }
        let Token::Open(open) = self.token else {
            return Err(self.expected(what));
        };
        self.advance();
        Ok(Token::Close(if open == b'(' { b')' } else { b']' }))
    }

    pub(super) fn close(&mut self, close: Token) -> Result<(), ParseError> {
        if self.take(close) {
            Ok(())
        } else if self.token == Token::Name && self.second() == Token::Equals {
            Err(self.expected(&format!("{} and no argument with a name", closing(close))))
        } else {
            Err(self.not_closed(closing(close), close))
        }
    }

    /// Goes past a comma, and demands one unless the list closes.
    pub(super) fn comma_or(&mut self, close: Token) -> Result<(), ParseError> {
        if self.take(Token::Comma) || self.token == close {
            return Ok(());
        }
        Err(self.not_closed(&format!("`,` or {}", closing(close)), close))
    }
}

fn closing(close: Token) -> &'static str {
    if close == Token::Close(b']') { "`]`" } else { "`)`" }
}
