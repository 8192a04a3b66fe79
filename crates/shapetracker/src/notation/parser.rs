//! Reads chains and views from tokens by recursive descent. The depth of the calls does not depend on the text: what nests
//! to any depth (CuTe's layouts) is read by a loop.

use std::ops::{Deref, DerefMut};

use shapetracker_base::text::{ParseError, Token, Tokens, check_length, nearest, quoted};

use super::ChainStartOf;
use super::arguments::ARGUMENTS;
use super::arithmetic::{Arithmetic, Integers, Known, Role};
use super::call::Call;
use super::foreign::{MAKERS, Methods, library};
use super::methods::{Called, Method, instead, method_names};
use super::parsed::Parsed;
use super::program::{MOST_COPIED, Named, Pieces};
use crate::MovementKind;
use crate::number::Number;

/// The number that an arithmetic computes with, one per axis, and pairs of them.
pub(super) type Num<A> = <A as Arithmetic>::Number;
pub(super) type Nums<A> = <Num<A> as Number>::Numbers;
pub(super) type Pairs<A> = <Num<A> as Number>::Pairs;
pub(super) type View<A> = <Num<A> as Number>::View;

/// Reads a chain as far as it can be read, and says why it does not end there. `base` is the shape of the array that the
/// text has a name for, or nothing.
/// `given` are the names of numbers that are known from elsewhere.
pub(super) fn chain<'a, A: Known>(
    text: &'a str,
    base: Option<&[Num<A>]>,
    given: &[(&'a str, Num<A>)],
    numbers: &mut A,
) -> (Parsed<Num<A>>, Option<ParseError>) {
    let mut parsed = Parsed::new(0);
    if let Err(err) = check_length(text) {
        return (parsed, Some(err));
    }
    let mut reader = Reader::new(text, numbers);
    reader.base = base;
    reader.names.extend(given.iter().map(|(name, number)| (*name, Named::Number(number.clone()))));
    let error = reader.read(&mut parsed).err();
    let error = error.map(|err| reader.checked_suggestion(err, given));
    (parsed, error)
}

/// Reads a chain on an array of which nothing is known but its name, as code of a library; nothing where the text says
/// itself whose code it is, or is no such code.
pub(super) fn chain_of<A: Known>(
    text: &str,
    base: Option<&[Num<A>]>,
    methods: Methods,
    numbers: &mut A,
) -> Option<Parsed<Num<A>>> {
    check_length(text).ok()?;
    let mut reader = Reader::new(text, numbers);
    if reader.unknown != Methods::Unknown {
        return None;
    }
    (reader.base, reader.unknown) = (base, methods);
    let mut parsed = Parsed::new(0);
    reader.read(&mut parsed).ok()?;
    parsed.name.is_some().then_some(parsed)
}

/// The one library whose functions a text calls by their path; nothing is known where there is none, or more than one.
fn library_of(text: &str) -> Methods {
    let (mut tokens, mut found, mut before) = (Tokens::new(text), Methods::Unknown, Methods::Unknown);
    let mut after_dot = false;
    loop {
        match tokens.token {
            Token::End => return found,
            Token::Dot if before != Methods::Unknown && found == Methods::Unknown => found = before,
            Token::Dot if before != Methods::Unknown && found != before => return Methods::Unknown,
            _ => {}
        }
        before = match tokens.token {
            Token::Name if !after_dot => library(tokens.word()),
            _ => Methods::Unknown,
        };
        after_dot = tokens.token == Token::Dot;
        tokens.advance();
    }
}

/// Reads one view, the whole text.
pub(super) fn view(text: &str) -> Result<crate::View, ParseError> {
    check_length(text)?;
    let mut integers = Integers;
    let mut parser = Reader::new(text, &mut integers);
    let view = parser.any_view("a view such as `(2, 3):(3, 1)` or `View(shape=(2, 3), strides=(3, 1))`")?;
    match parser.token {
        Token::End => Ok(view),
        _ => Err(parser.expected("the end of the text after the view")),
    }
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

impl MovementKind {
    /// The sentence about a name that [`MovementKind::named`] does not know, for readers of documents such as JSON: with what
    /// to write instead, with a guess what was meant, or else with all names that there are.
    ///
    /// ```
    /// use shapetracker::MovementKind;
    ///
    /// assert_eq!(MovementKind::unknown("premute"), "expected an operation, found `premute`: did you mean `permute`?");
    /// assert!(MovementKind::unknown("cat").starts_with("`cat` is not read: it reads several arrays"));
    /// assert!(MovementKind::unknown("narrow").starts_with("`narrow` is read in the text of a chain, and not here"));
    /// ```
    pub fn unknown(name: &str) -> String {
        if Method::ALL.iter().any(|method| method.name() == name && method.library().is_some()) {
            let names: Vec<&str> = MovementKind::names().collect();
            return format!("`{name}` is read in the text of a chain, and not here: there are {}", names.join(", "));
        }
        instead(name).map_or_else(|| unknown_operation(name), |instead| format!("`{name}` is not read: {instead}"))
    }
}

/// The sentence about a name that no operation has: with a guess what was meant, or else with all there are.
pub(super) fn unknown_operation(name: &str) -> String {
    let found = quoted(name);
    match nearest(name, method_names()) {
        Some(meant) => format!("expected an operation, found {found}: did you mean `{meant}`?"),
        None => {
            let names: Vec<&str> = MovementKind::names().collect();
            format!("expected an operation, found {found}; there are {}", names.join(", "))
        }
    }
}

/// Reads numbers, and what texts of layouts are made of, from the tokens of a text, over numbers of some kind.
///
/// ```
/// use shapetracker::{Integers, Reader, Role};
///
/// let mut integers = Integers;
/// let mut reader = Reader::new("2 * (3 + 4), 5", &mut integers);
/// assert_eq!(reader.number("a size", Role::Other)?, 14);
/// assert_eq!(reader.word(), ",");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
pub struct Reader<'a, 'n, A: Arithmetic> {
    pub(super) tokens: Tokens<'a>,
    /// What numbers are, and what is known of them.
    pub(super) arithmetic: &'n mut A,
    /// The shape of the array that the text has a name for.
    pub(super) base: Option<&'n [A::Number]>,
    /// What closes the arguments that come next, where their opening has been read already: those of a function stand
    /// behind its array.
    pub(super) opened: Option<Token>,
    /// The names that statements have given to arrays and numbers.
    pub(super) names: Vec<(&'a str, super::program::Named<A::Number>)>,
    /// How many operations have been copied from array to array, which has a limit.
    pub(super) copied: usize,
    /// How deep functions and parentheses nest.
    pub(super) depth: usize,
    /// Whose methods an array has of which nothing is known but its name: those of the one library that the text names.
    pub(super) unknown: Methods,
    /// Whether `%` may follow a sum, for somebody else to read.
    pub(super) remainders: bool,
    /// Whether lines begin with the prompts of Python.
    pub(super) has_prompts: bool,
}

impl<'a, A: Arithmetic> Deref for Reader<'a, '_, A> {
    type Target = Tokens<'a>;

    #[inline]
    fn deref(&self) -> &Tokens<'a> {
        &self.tokens
    }
}

impl<'a, A: Arithmetic> DerefMut for Reader<'a, '_, A> {
    #[inline]
    fn deref_mut(&mut self) -> &mut Tokens<'a> {
        &mut self.tokens
    }
}

impl<'a, 'n, A: Arithmetic> Reader<'a, 'n, A> {
    /// The beginning of a text.
    ///
    /// ```
    /// use shapetracker::{Integers, Reader, Role};
    ///
    /// let mut integers = Integers;
    /// let err = Reader::new("T + 1", &mut integers).number("a size", Role::Other).unwrap_err();
    /// assert!(err.message().starts_with("expected a size, found `T`, and nothing says which number that is"));
    /// ```
    pub fn new(text: &'a str, arithmetic: &'n mut A) -> Self {
        let (tokens, unknown) = (Tokens::new(text), library_of(text));
        let (names, has_prompts) = (Vec::new(), text.trim_start().starts_with(">>>"));
        Reader {
            tokens,
            arithmetic,
            base: None,
            opened: None,
            names,
            copied: 0,
            depth: 0,
            unknown,
            remainders: false,
            has_prompts,
        }
    }

    /// The error that the next token is not what should stand there.
    #[cold]
    pub(super) fn expected(&self, what: &str) -> ParseError {
        let err = self.tokens.expected(what);
        if self.token == Token::End || self.is_begun() { err.and_unfinished() } else { err }
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
            Token::Symbol => matches!(word, "-" | "+"),
            _ => false,
        };
        begun && self.second() == Token::End
    }

    /// The error that the next token is not what should stand there, which is one of the names; with a guess at which.
    pub(super) fn unknown(&self, message: String, names: impl IntoIterator<Item = &'static str>) -> ParseError {
        let err = self.error_at(self.span.clone(), message);
        let err = if self.is_begun() { err.and_unfinished() } else { err };
        match nearest(self.word(), names) {
            Some(meant) if self.token == Token::Name => err.with_suggestion(self.span.clone(), meant),
            _ => err,
        }
    }

    /// What closes the brackets that are open at the end of the text.
    fn closing_brackets(&self) -> String {
        let (mut tokens, mut closing) = (Tokens::new(self.text), Vec::new());
        loop {
            match tokens.token {
                Token::Open(open) => closing.push(if open == b'(' { ')' } else { ']' }),
                Token::Close(_) => drop(closing.pop()),
                Token::End => return closing.into_iter().rev().collect(),
                _ => {}
            }
            tokens.advance();
        }
    }

    /// A complaint that a list neither goes on nor closes, with the comma or the bracket that is probably missing.
    pub(super) fn not_closed(&self, what: &str, close: Token) -> ParseError {
        let err = self.expected(what);
        match self.token {
            Token::End => err.with_suggestion(self.last..self.last, self.closing_brackets()),
            Token::Close(_) => {
                err.with_suggestion(self.span.clone(), if close == Token::Close(b']') { "]" } else { ")" })
            }
            Token::Number | Token::Open(_) => err.with_suggestion(self.last..self.span.start, ", "),
            _ => err,
        }
    }
}

impl<A: Known> Reader<'_, '_, A> {
    /// Reads the whole text as a chain, or says why it does not end where the chain does.
    fn read(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<(), ParseError> {
        parsed.start_span = self.span.start..self.span.start;
        self.program(parsed)
    }

    /// The mistake without its suggestion, unless the text that is suggested can be read further than this one.
    fn checked_suggestion(&mut self, err: ParseError, given: &[(&str, Num<A>)]) -> ParseError {
        let Some((span, meant)) = err.suggestion() else { return err };
        let better = [&self.text[..span.start], meant, &self.text[span.end..]].concat();
        // The first change may be one of several that are needed, but what follows it must be read.
        let reached = span.start + meant.len();
        let base = self.base;
        let mut reader = Reader::new(&better, &mut *self.arithmetic);
        reader.base = base;
        reader.names.extend(given.iter().map(|(name, number)| (*name, Named::Number(number.clone()))));
        let next = reader.program(&mut Parsed::new(0)).err();
        let helps = next.is_none_or(|next| next.span().start > reached || next.is_unfinished());
        if helps { err } else { err.without_suggestion() }
    }

    /// An array and the operations on it.
    ///
    /// With `parts`, the answer is what a last operation cuts it into, of which no part is chosen yet.
    pub(super) fn array(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        parts: bool,
    ) -> Result<Option<Pieces<Num<A>>>, ParseError> {
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
                return Err(self.wrong(begin, message));
            }
            parsed.clone_from(&array);
        } else {
            parsed.start_span = begin..begin;
            parsed.start = self.start(parsed)?;
            parsed.start_span = begin..self.last.max(begin);
            if parsed.methods == Methods::Unknown && parsed.start == ChainStartOf::Nothing {
                parsed.methods = self.unknown;
                let name = &self.text[parsed.start_span.clone()];
                parsed.name = Some(name.into());
                self.give(name, begin, parsed.clone())?;
            }
            // A chain without a start may begin with the name of its first operation.
            bare = parsed.start == ChainStartOf::Nothing && self.token == Token::Name && parsed.name.is_none();
        }
        self.methods_of(parsed, bare, parts)
    }

    /// What follows an array: operations after a dot, and indices; the first may stand without its dot.
    fn methods_of(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        mut bare: bool,
        parts: bool,
    ) -> Result<Option<Pieces<Num<A>>>, ParseError> {
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
                if self.past_query() {
                    return Ok(None);
                }
                // Whether the name is one at all is said of the name itself, before what follows it is read.
                self.known_method(name, parsed)?;
                self.advance();
                let called = Called { name, begin, span };
                if let Some(pieces) = self.done(parsed, &called, parts)? {
                    return Ok(Some(pieces));
                }
            } else {
                return Ok(None);
            }
        }
    }

    /// Goes past what only asks about an array at the end of a statement, such as `.shape`, `.stride()` or `.flags['C_CONTIGUOUS']`:
    /// the answer is about the array.
    fn past_query(&mut self) -> bool {
        const QUERIES: [&str; 14] = [
            "shape",
            "stride",
            "strides",
            "size",
            "is_contiguous",
            "dtype",
            "ndim",
            "numel",
            "storage_offset",
            "data_ptr",
            "flags",
            "nbytes",
            "itemsize",
            "device",
        ];
        if !QUERIES.contains(&self.word()) {
            return false;
        }
        let before = self.tokens.clone();
        self.advance();
        match (self.token, self.second()) {
            (Token::Open(b'('), Token::Close(b')')) => {
                self.advance();
                self.advance();
            }
            (Token::Open(b'['), Token::Text) | (Token::Dot, Token::Name) if before.word() == "flags" => {
                self.advance();
                self.advance();
                self.take(Token::Close(b']'));
            }
            _ => {}
        }
        let ends = self.at_statement_end();
        if !ends {
            self.tokens = before;
        }
        ends
    }

    fn start(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let begin = self.span.start;
        match self.token {
            _ if self.at_layout_type() => self.layout_type(parsed),
            // A layout of CuTe with one axis, such as `8:1`.
            Token::Number if self.second() == Token::Colon => self.nested_start(self.expected("a shape"), parsed),
            Token::Open(_) => {
                if let Some(inner) = self.tuple_inside() {
                    return self.nested_start(inner.expected("a size"), parsed);
                }
                let shape = self.numbers("a size")?;
                if self.token == Token::Comma && matches!(self.second(), Token::Open(_)) && self.begins_text(begin) {
                    return self.strides_beside(begin, &shape);
                }
                if self.token != Token::Colon {
                    return Ok(ChainStartOf::Shape(shape));
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
                Ok(ChainStartOf::Views(views))
            }
            _ if self.at_word("ShapeTracker") => self.pasted_tracker(),
            _ if self.at_printed() => self.printed(parsed),
            _ if self.at_size_of_torch() => self.size_and_strides(begin),
            Token::Name => self.made_array(parsed),
            Token::Dot => Ok(ChainStartOf::Nothing),
            _ => Err(self.expected("a base shape such as `(3, 2)`, a view or an operation")),
        }
    }

    /// Whether nothing stands in the text before a byte of it.
    fn begins_text(&self, byte: usize) -> bool {
        self.text[..byte].trim().is_empty()
    }

    /// What follows a shape in `(2, 3), (3, 1), 0`: strides in elements, and perhaps an offset, as `as_strided` takes them.
    fn strides_beside(&mut self, begin: usize, shape: &Nums<A>) -> Result<ChainStartOf<Num<A>>, ParseError> {
        self.advance();
        let strides = self.strides()?;
        let offset = if self.take(Token::Comma) && self.token != Token::End {
            self.number("an offset", Role::Other)?
        } else {
            Num::<A>::from(0)
        };
        let view = self.checked_view(begin, shape, &strides, offset, None)?;
        Ok(ChainStartOf::Views(vec![view]))
    }

    /// `torch.Size([2, 3])`, and perhaps the strides behind it.
    fn size_and_strides(&mut self, begin: usize) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let shape = self.size_of_torch()?;
        self.take(Token::Comma);
        if !matches!(self.token, Token::Open(b'(')) {
            return Ok(ChainStartOf::Shape(shape));
        }
        let strides = self.strides()?;
        let view = self.checked_view(begin, &shape, &strides, A::Number::from(0), None)?;
        Ok(ChainStartOf::Views(vec![view]))
    }

    /// Whether another `View` follows, with or without a comma.
    fn at_next_view(&self) -> bool {
        match self.token {
            Token::Comma => self.second() == Token::Name,
            _ => self.at_word("View"),
        }
    }

    /// `over` and a view, any number of times, after a first view: the last one is next to memory.
    fn views_over(&mut self, first: View<A>) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let mut views = vec![first];
        while self.at_word("over") {
            self.advance();
            views.push(self.any_view("a view such as `(2, 3):(3, 1)`")?);
        }
        views.reverse();
        Ok(ChainStartOf::Views(views))
    }

    /// A view in either form.
    fn any_view(&mut self, what: &str) -> Result<View<A>, ParseError> {
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
    fn printed_view(&mut self, begin: usize, shape: Nums<A>) -> Result<View<A>, ParseError> {
        if !self.take(Token::Colon) {
            return Err(self.expected("`:` and the strides"));
        }
        let strides = self.strides()?;
        let mut offset = A::Number::from(0);
        if self.at_word("offset") {
            self.advance();
            offset = self.number("an offset", Role::Other)?;
        }
        let mut mask = None;
        if self.at_word("mask") {
            self.advance();
            mask = Some(self.mask()?);
        }
        self.checked_view(begin, &shape, &strides, offset, mask)
    }

    /// `View(shape=(2, 3), strides=(3, 1), offset=0, mask=None, contiguous=True)`.
    fn pasted_view(&mut self) -> Result<View<A>, ParseError> {
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
    fn view_fields(&mut self, begin: usize, created: bool) -> Result<View<A>, ParseError> {
        const FIELDS: [&str; 5] = ["shape", "strides", "offset", "mask", "contiguous"];
        let (mut shape, mut strides, mut offset, mut mask) = (None, None, A::Number::from(0), None);
        self.fields("`(` after `View`", &FIELDS, &mut |parser, field| {
            match field {
                0 => shape = Some(parser.numbers("a size")?),
                1 if created && parser.at_word("None") => parser.advance(),
                1 => strides = Some(parser.strides()?),
                2 => offset = parser.number("an offset", Role::Other)?,
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
            let checked = self.arithmetic.numel("view", &shape).and_then(|_| self.arithmetic.row_major(&shape));
            strides = Some(checked.map_err(|message| self.wrong(begin, message))?);
        }
        let strides = strides.ok_or_else(|| self.expected("`strides=(...)`"))?;
        self.advance();
        self.checked_view(begin, &shape, &strides, offset, mask)
    }

    /// Goes past a dot and a name, if the name is the given one.
    fn third_is(&mut self, name: &str) -> bool {
        let mut ahead = self.tokens.clone();
        ahead.advance();
        let found = ahead.at_word(name);
        if found {
            ahead.advance();
            self.tokens = ahead;
        }
        found
    }

    /// `ShapeTracker(views=(View(...), View(...)))`.
    fn pasted_tracker(&mut self) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let begin = self.span.start;
        self.advance();
        if self.token == Token::Dot && self.third_is("from_shape") {
            return Ok(ChainStartOf::Views(vec![self.view_fields(begin, true)?]));
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
        Ok(ChainStartOf::Views(views))
    }

    pub(super) fn checked_view(
        &mut self,
        begin: usize,
        shape: &[Num<A>],
        strides: &[Num<A>],
        offset: Num<A>,
        mask: Option<Pairs<A>>,
    ) -> Result<View<A>, ParseError> {
        let view = self.arithmetic.view(shape, strides, offset, mask.as_deref());
        view.map_err(|message| self.wrong(begin, message))
    }
}
