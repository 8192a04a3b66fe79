//! Chains: a shape or views, and movement operations, with polynomials for numbers.
//!
//! What is read, and what it means, is what the crate `shapetracker` says of chains of numbers.

use std::ops::Range;
use std::sync::Arc;

use indexpr::text::ParseError;
use shapetracker::{MAX_RANK, Method, MovementKind};

use super::Question;
use super::lexer::Token;
use super::parser::{Parser, Role};
use crate::operation::{Movement, Slice};
use crate::poly::Poly;
use crate::view::View;

/// A chain as text whose sizes may be names: where it starts and the operations, with their places in the text.
///
/// ```
/// use shapetracker_symbolic::{ChainStart, Question};
///
/// let mut question = Question::default();
/// let text = "(B, T, 3*H*D).reshape(B, T, 3, H, D)";
/// let chain = question.chain(text)?;
/// assert!(matches!(chain.start(), ChainStart::Shape(shape) if shape.len() == 3));
/// assert_eq!(&text[chain.span(0)], "reshape(B, T, 3, H, D)");
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
///
/// It is what [`shapetracker::Chain`] reads, with polynomials in the place of sizes, strides, offsets, masks and bounds; axes
/// and steps are numbers.
#[derive(Clone, Debug)]
pub struct Chain {
    text: Arc<str>,
    start: ChainStart,
    start_span: Range<usize>,
    pub(super) ops: Vec<(Op, Range<usize>)>,
    /// The numbers in the text with their bytes, in the order of the text.
    numbers: Vec<(Poly, Range<usize>)>,
}

/// Where a [`Chain`] starts.
///
/// ```
/// use shapetracker_symbolic::{ChainStart, Question};
/// assert_eq!(*Question::default().chain("flip(0)")?.start(), ChainStart::Nothing);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChainStart {
    /// No start is given: the base shape is known from elsewhere.
    Nothing,
    /// A base shape, contiguous in memory.
    Shape(Vec<Poly>),
    /// At least one view, the first next to memory.
    Views(Vec<View>),
}

/// An operation as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Movement(Movement),
    // What others write and what depends on the shape that there is then.
    /// All axes in reverse order, of at most so many.
    Reversed(usize),
    /// The axes joined from the first to the last one.
    Flatten(i64, i64),
    /// An axis at another place.
    MoveAxis(i64, i64),
    /// Axes of size 1 repeated, where new ones may come in front.
    ExpandInFront(Vec<Poly>),
    /// `[1, :, ::-1, None, ...]`.
    Subscript(Vec<(Entry, Range<usize>)>),
}

/// One entry of an index: what stands between two commas.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    Slice(Slice),
    Index(Poly),
    NewAxis,
    Ellipsis,
}

impl Chain {
    /// Where the chain starts.
    ///
    /// ```
    /// use shapetracker_symbolic::{ChainStart, Question};
    ///
    /// let chain = Question::default().chain("(H, T):(1, H) offset 2*s mask ((0, H), (1, T)).flip(0)")?;
    /// assert!(matches!(chain.start(), ChainStart::Views(views) if views.len() == 1));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn start(&self) -> &ChainStart {
        &self.start
    }

    /// How many operations there are.
    ///
    /// ```
    /// let chain = shapetracker_symbolic::Question::default().chain("(H, T).T.reshape(-1)")?;
    /// assert_eq!(chain.len(), 2);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether there are no operations.
    ///
    /// ```
    /// assert!(shapetracker_symbolic::Question::default().chain("(H, T)")?.is_empty());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }

    /// The bytes of an operation in the text, without the dot; an empty range at the end for one that there is not.
    ///
    /// ```
    /// let chain = shapetracker_symbolic::Question::default().chain("(H, T).T.reshape(-1)")?;
    /// assert_eq!((chain.span(0), chain.span(9)), (7..8, 20..20));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn span(&self, op: usize) -> Range<usize> {
        self.ops.get(op).map_or(self.text.len()..self.text.len(), |(_, span)| span.clone())
    }

    /// The bytes of the start in the text; empty for one that there is not.
    ///
    /// ```
    /// let chain = shapetracker_symbolic::Question::default().chain(" (H, T).T")?;
    /// assert_eq!(chain.start_span(), 1..7);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn start_span(&self) -> Range<usize> {
        self.start_span.clone()
    }

    /// The text with values in the place of the names, one for each name of the question's
    /// [scope](crate::Question::scope); `None` where a number is past the range of 64-bit integers.
    ///
    /// ```
    /// let mut question = shapetracker_symbolic::Question::new(["D=64"])?;
    /// let chain = question.chain("torch.zeros(B, T, 3*D).transpose(0, -1)[:T - 1]")?;
    /// // The names are B and T, in the order of the text.
    /// assert_eq!(chain.at(&[2, 5]).unwrap(), "torch.zeros(2, 5, 192).transpose(0, -1)[:4]");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn at(&self, values: &[i128]) -> Option<String> {
        let (mut text, mut from) = (String::new(), 0);
        for (poly, span) in &self.numbers {
            // A number that is one already stays as it is written.
            let is_written = !self.text[span.clone()].contains(|c: char| !c.is_ascii_digit() && !"_-".contains(c));
            if !is_written {
                text += &self.text[from..span.start];
                text += &i64::try_from(poly.eval(values)?).ok()?.to_string();
                from = span.end;
            }
        }
        text += &self.text[from..];
        Some(text)
    }

    /// The text as it was written.
    ///
    /// ```
    /// assert_eq!(shapetracker_symbolic::Question::default().chain("( H,T )")?.text(), "( H,T )");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn text(&self) -> &str {
        &self.text
    }
}

/// Reads a chain, the whole text.
pub(super) fn read(text: &str, names: &mut Question) -> Result<Chain, ParseError> {
    let mut reader = Reader { parser: Parser::new(text, names), methods: Methods::Ours, ops: Vec::new() };
    let begin = reader.parser.span.start;
    let start = reader.start()?;
    let start_span = begin..reader.parser.last.max(begin);
    // A chain without a start may begin with the name of its first operation.
    let bare = start == ChainStart::Nothing && reader.parser.token == Token::Name;
    reader.operations(bare)?;
    let mut numbers = reader.parser.numbers;
    numbers.sort_by_key(|(_, span)| span.start);
    numbers.dedup_by_key(|(_, span)| span.start);
    Ok(Chain { text: text.into(), start, start_span, ops: reader.ops, numbers })
}

/// Whose methods an array has: NumPy, PyTorch and tinygrad mean different things by one name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Methods {
    /// Those of chains.
    Ours,
    /// Those of an array of which nothing is known but its name.
    Unknown,
    NumPy,
    PyTorch,
    Tinygrad,
}

/// The functions that make an array of a shape.
const MAKERS: [&str; 6] = ["arange", "zeros", "ones", "empty", "rand", "randn"];

/// The names that others give to all sizes or all axes of an operation, as in `flip(dims=(0, 1))`.
const ARGUMENTS: [&str; 6] = ["shape", "size", "dim", "dims", "axis", "axes"];

fn library(name: &str) -> Methods {
    match name {
        "np" | "numpy" | "jnp" => Methods::NumPy,
        "torch" => Methods::PyTorch,
        "Tensor" => Methods::Tinygrad,
        _ => Methods::Unknown,
    }
}

struct Reader<'a, 'n> {
    parser: Parser<'a, 'n>,
    methods: Methods,
    ops: Vec<(Op, Range<usize>)>,
}

impl Reader<'_, '_> {
    fn start(&mut self) -> Result<ChainStart, ParseError> {
        let parser = &mut self.parser;
        match parser.token {
            // A layout of CuTe with one axis, such as `8:1`.
            Token::Number(_) if parser.second().0 == Token::Symbol(":") => self.nested_start(),
            Token::Open(_) if parser.holds_a_tuple() => self.nested_start(),
            Token::Open(_) => {
                let begin = parser.span.start;
                let shape = parser.numbers("a size", Role::Other)?;
                if !parser.at(":") {
                    return Ok(ChainStart::Shape(shape));
                }
                let view = self.printed_view(begin, shape)?;
                self.views_over(view)
            }
            _ if parser.at_word("View") => {
                let view = self.pasted_view()?;
                if !self.at_next_view() {
                    return self.views_over(view);
                }
                let mut views = vec![view];
                while self.at_next_view() {
                    self.parser.take(",");
                    views.push(self.pasted_view()?);
                }
                Ok(ChainStart::Views(views))
            }
            _ if parser.at_word("ShapeTracker") => self.pasted_tracker(),
            Token::Name => self.array(),
            Token::Symbol(".") => Ok(ChainStart::Nothing),
            _ => Err(parser.expected("a base shape such as `(T, 2)`, a view or an operation")),
        }
    }

    fn operations(&mut self, mut bare: bool) -> Result<(), ParseError> {
        loop {
            let begin = self.parser.span.start;
            if self.parser.token == Token::Open(b'[') && !bare {
                let op = self.subscript()?;
                self.ops.push((op, begin..self.parser.last));
            } else if bare || self.parser.take(".") {
                bare = false;
                let begin = self.parser.span.start;
                let op = match self.foreign_operation()? {
                    Some(op) => op,
                    None => Op::Movement(self.operation()?),
                };
                self.ops.push((op, begin..self.parser.last));
            } else if self.parser.token == Token::End {
                return Ok(());
            } else {
                return Err(self.parser.expected("`.` and an operation, or the end of the text"));
            }
        }
    }

    /// Whether another `View` follows, with or without a comma.
    fn at_next_view(&self) -> bool {
        if self.parser.at(",") { self.parser.second().1 == "View" } else { self.parser.at_word("View") }
    }

    /// `over` and a view, any number of times, after a first view: the last one is next to memory.
    fn views_over(&mut self, first: View) -> Result<ChainStart, ParseError> {
        let mut views = vec![first];
        while self.parser.at_word("over") {
            self.parser.advance();
            let begin = self.parser.span.start;
            views.push(match self.parser.token {
                Token::Open(_) => {
                    let shape = self.parser.numbers("a size", Role::Other)?;
                    self.printed_view(begin, shape)?
                }
                _ if self.parser.at_word("View") => self.pasted_view()?,
                _ => return Err(self.parser.expected("a view such as `(2, T):(T, 1)`")),
            });
        }
        views.reverse();
        Ok(ChainStart::Views(views))
    }

    /// `:(T, 1) offset 2 mask ((0, 2), (1, T))`: the rest of a view after its shape.
    fn printed_view(&mut self, begin: usize, shape: Vec<Poly>) -> Result<View, ParseError> {
        let parser = &mut self.parser;
        if !parser.take(":") {
            return Err(parser.expected("`:` and the strides"));
        }
        let strides = parser.numbers("a stride", Role::Stride)?;
        let (mut offset, mut mask) = (Poly::zero(), None);
        if parser.at_word("offset") {
            parser.advance();
            offset = parser.number("an offset", Role::Other)?;
        }
        if parser.at_word("mask") {
            parser.advance();
            mask = Some(parser.ranges()?);
        }
        self.view(begin, shape, strides, offset, mask)
    }

    /// `View(shape=(2, T), strides=(T, 1), offset=0, mask=None, contiguous=True)`.
    fn pasted_view(&mut self) -> Result<View, ParseError> {
        const FIELDS: [&str; 5] = ["shape", "strides", "offset", "mask", "contiguous"];
        let begin = self.parser.span.start;
        if !self.parser.at_word("View") {
            return Err(self.parser.expected("`View(...)`"));
        }
        self.parser.advance();
        let (mut shape, mut strides, mut offset, mut mask) = (None, None, Poly::zero(), None);
        self.fields("`(` after `View`", &FIELDS, |parser, field| {
            match field {
                0 => shape = Some(parser.numbers("a size", Role::Other)?),
                1 => strides = Some(parser.numbers("a stride", Role::Stride)?),
                2 => offset = parser.number("an offset", Role::Other)?,
                3 if parser.at_word("None") => parser.advance(),
                3 => mask = Some(parser.ranges()?),
                // Whether it is contiguous follows from the rest; what the text says is of no consequence.
                _ if boolean(parser).is_some() || parser.at_word("None") => parser.advance(),
                _ => return Err(parser.expected("`True` or `False`")),
            }
            Ok(())
        })?;
        let shape = shape.ok_or_else(|| self.parser.expected("`shape=(...)`"))?;
        let strides = strides.ok_or_else(|| self.parser.expected("`strides=(...)`"))?;
        self.parser.advance();
        self.view(begin, shape, strides, offset, mask)
    }

    /// `ShapeTracker(views=(View(...), View(...)))`.
    fn pasted_tracker(&mut self) -> Result<ChainStart, ParseError> {
        self.parser.advance();
        let close = self.parser.open("`(` after `ShapeTracker`")?;
        if self.parser.at_word("views") {
            self.parser.advance();
            if !self.parser.take("=") {
                return Err(self.parser.expected("`=`"));
            }
        }
        let close_views = self.parser.open("`(` and views")?;
        let mut views = Vec::new();
        while views.is_empty() || self.parser.token != close_views {
            views.push(self.pasted_view()?);
            self.parser.comma_or(close_views)?;
        }
        self.parser.advance();
        self.parser.take(",");
        self.parser.close(close)?;
        Ok(ChainStart::Views(views))
    }

    /// A view of numbers that fit each other.
    fn view(
        &self,
        begin: usize,
        shape: Vec<Poly>,
        strides: Vec<Poly>,
        offset: Poly,
        mask: Option<Vec<(Poly, Poly)>>,
    ) -> Result<View, ParseError> {
        let (rank, ranges) = (shape.len(), mask.as_ref().map_or(shape.len(), Vec::len));
        for (what, given) in [("stride", strides.len()), ("range of the mask", ranges)] {
            // At rank 0 a mask without ranges says that the one element is masked.
            if given != rank {
                let message = format!("view: one {what} per axis is needed, {rank} in all, but {given} were given");
                return Err(self.parser.error_at(begin..self.parser.last, message));
            }
        }
        Ok(View { shape, strides, offset, mask })
    }

    /// A name that is no operation, and what follows if that makes an array; nothing if the chain starts without one.
    fn array(&mut self) -> Result<ChainStart, ParseError> {
        let (name, second) = (self.parser.word(), self.parser.second().0);
        match second {
            Token::Symbol("=") => {
                let message = "an assignment is not read: write what stands right of `=`";
                return Err(self.parser.error_at(self.parser.span.clone(), message));
            }
            Token::Symbol(".") | Token::Open(b'[') if MovementKind::named(name).is_none() => self.parser.advance(),
            _ => return Ok(ChainStart::Nothing),
        }
        self.methods = library(name);
        if self.methods == Methods::Unknown || !self.parser.take(".") {
            return Ok(ChainStart::Nothing);
        }
        let maker = self.parser.word();
        if !MAKERS.contains(&maker) {
            return Err(self.parser.expected(&format!(
                "one of {}, or in place of a function a shape and methods, as in `(2, T).permute(1, 0)`",
                MAKERS.join(", ")
            )));
        }
        self.parser.advance();
        let begin = self.parser.span.start;
        let shape = self.polys("a size", Role::Other)?;
        if maker == "arange" && shape.len() != 1 {
            return Err(self.parser.error_at(begin..self.parser.last, "expected one size, as in `arange(T)`"));
        }
        Ok(ChainStart::Shape(shape))
    }

    /// `((2, T), (T, 1), 0)`, a shape, strides and perhaps an offset, or `((2, 4), 8):((1, 16), 2)`, a layout of CuTe: every
    /// item of the outermost tuple is an axis, along which the innermost numbers run from left to right.
    fn nested_start(&mut self) -> Result<ChainStart, ParseError> {
        let begin = self.parser.span.start;
        let shape = self.nested("a size", Role::Other)?;
        if !self.parser.take(":") {
            let dots = |item: &[Poly]| ".".repeat(item.len());
            let is_triple =
                |sizes, strides, offset| shape.form == format!("(({})({}){offset})", dots(sizes), dots(strides));
            let (sizes, strides, offset) = match &shape.items[..] {
                [sizes, strides] if is_triple(sizes, strides, "") => (sizes, strides, Poly::zero()),
                [sizes, strides, offset] if is_triple(sizes, strides, ".") => (sizes, strides, offset[0].clone()),
                _ => {
                    let message = "expected a shape such as `(2, T)`, or a shape and strides as in `((2, T), (T, 1))`";
                    return Err(self.parser.error_at(begin..self.parser.last, message));
                }
            };
            let view = self.view(begin, sizes.clone(), strides.clone(), offset, None)?;
            return Ok(ChainStart::Views(vec![view]));
        }
        let begin_strides = self.parser.span.start;
        let strides = self.nested("a stride", Role::Stride)?;
        if strides.form != shape.form {
            let message = "the strides must have the same parentheses as the shape";
            return Err(self.parser.error_at(begin_strides..self.parser.last, message));
        }
        // The last number runs fastest in a view, and the first in a layout.
        let numbers = |nested: &Nested| -> Vec<Poly> {
            nested.items.iter().flat_map(|item| item.iter().rev().cloned()).collect()
        };
        let memory = self.view(begin, numbers(&shape), numbers(&strides), Poly::zero(), None)?;
        if shape.items.iter().any(|item| item.len() != 1) {
            let product = |item: &Vec<Poly>| item.iter().try_fold(Poly::one(), |product, size| product.mul(size));
            let joined = shape.items.iter().map(product).collect::<Result<Vec<_>, _>>();
            let joined = self.parser.checked(begin, joined)?;
            self.ops.push((Op::Movement(Movement::Reshape(joined)), begin..self.parser.last));
        }
        Ok(ChainStart::Views(vec![memory]))
    }

    fn nested(&mut self, what: &str, role: Role) -> Result<Nested, ParseError> {
        let parser = &mut self.parser;
        let mut nested = Nested { items: Vec::new(), form: String::new() };
        let (mut closing, mut numbers) = (Vec::new(), 0);
        loop {
            if matches!(parser.token, Token::Open(_)) && (parser.tuple_ahead().0 || closing.is_empty()) {
                if closing.len() > MAX_RANK {
                    return Err(parser.expected(&format!("at most {MAX_RANK} tuples in one another")));
                }
                if closing.len() == 1 {
                    nested.items.push(Vec::new());
                }
                nested.form.push('(');
                closing.push(parser.open(what)?);
                continue;
            }
            if closing.last() == Some(&parser.token) {
                nested.form.push(')');
                closing.pop();
                parser.advance();
            } else if numbers > 2 * MAX_RANK {
                return Err(parser.expected(&format!("at most {MAX_RANK} axes")));
            } else {
                let number = parser.number(what, role)?;
                nested.form.push('.');
                numbers += 1;
                match nested.items.last_mut() {
                    Some(item) if closing.len() > 1 => item.push(number),
                    _ => nested.items.push(vec![number]),
                }
            }
            match closing.last() {
                None => return Ok(nested),
                Some(&close) => parser.comma_or(close)?,
            }
        }
    }

    fn operation(&mut self) -> Result<Movement, ParseError> {
        let parser = &mut self.parser;
        let (name, span) = (parser.word(), parser.span.clone());
        if parser.token != Token::Name {
            return Err(parser.expected("the name of an operation"));
        }
        parser.advance();
        let kind =
            MovementKind::named(name).ok_or_else(|| parser.error_at(span.clone(), MovementKind::unknown(name)))?;
        if parser.token != Token::Open(b'(') {
            return Err(parser.expected(&format!("`(` after `{name}`")));
        }
        Ok(match kind {
            MovementKind::Reshape => Movement::Reshape(self.polys("a size", Role::Other)?),
            MovementKind::Expand => Movement::Expand(self.polys("a size", Role::Other)?),
            MovementKind::BroadcastTo => Movement::BroadcastTo(self.polys("a size", Role::Other)?),
            MovementKind::Permute => Movement::Permute(self.axes("an axis")?),
            MovementKind::Step => Movement::Step(self.axes("a step")?),
            MovementKind::Transpose => {
                let [a, b] = self.some_axes("two axes")?;
                Movement::Transpose(a, b)
            }
            MovementKind::Unsqueeze => {
                let [axis] = self.some_axes("one axis")?;
                Movement::Unsqueeze(axis)
            }
            MovementKind::Squeeze if parser.second().0 == Token::Close(b')') => {
                parser.advance();
                parser.advance();
                Movement::SqueezeAll
            }
            MovementKind::Squeeze => Movement::Squeeze(self.axes("an axis")?),
            MovementKind::Pad => Movement::Pad(self.pairs("a pair `(before, after)`")?),
            MovementKind::Shrink => Movement::Shrink(self.pairs("a range `(begin, end)`")?),
            MovementKind::Flip => self.flip()?,
            MovementKind::Slice => {
                let mut slices = Vec::new();
                self.arguments(|parser| {
                    let begin = bound(parser)?;
                    slices.push(slice_from(parser, begin)?);
                    Ok(())
                })?;
                Movement::Slice(slices)
            }
            MovementKind::AsStrided => self.strided()?,
            _ => {
                let message = format!("`{name}` is read where all sizes are numbers");
                return Err(parser.error_at(span, message));
            }
        })
    }

    /// An operation that only others have, or that they mean otherwise; nothing if it is ours.
    fn foreign_operation(&mut self) -> Result<Option<Op>, ParseError> {
        let (name, begin) = (self.parser.word(), self.parser.span.start);
        let ours = self.methods == Methods::Ours;
        let wrong = |reader: &Self, message: &str| Err(reader.parser.error_at(begin..reader.parser.last, message));
        if self.parser.token != Token::Name {
            return Ok(None);
        }
        let op = match name {
            "T" | "mT" => {
                self.parser.advance();
                if name == "mT" { Op::Movement(Movement::Transpose(-2, -1)) } else { self.reversed(MAX_RANK) }
            }
            "t" => {
                self.parser.advance();
                let close = self.parser.open("`(` after `t`")?;
                self.parser.close(close)?;
                self.reversed(2)
            }
            "transpose" if !ours => {
                self.parser.advance();
                let mut ahead = self.parser.ahead();
                let alone = !matches!(ahead.next().0, Token::Open(_));
                let axes = self.axes("an axis")?;
                match axes[..] {
                    [] => self.reversed(MAX_RANK),
                    // To NumPy, and it alone has them in a tuple, they are all axes in their new order.
                    [a, b] if self.methods != Methods::NumPy && alone => Op::Movement(Movement::Transpose(a, b)),
                    _ => Op::Movement(Movement::Permute(axes)),
                }
            }
            "expand" if matches!(self.methods, Methods::PyTorch | Methods::Tinygrad) => {
                self.parser.advance();
                Op::ExpandInFront(self.polys("a size", Role::Other)?)
            }
            "swapaxes" | "swapdims" => {
                self.parser.advance();
                match self.axes("an axis")?[..] {
                    [a, b] => Op::Movement(Movement::Transpose(a, b)),
                    _ => return wrong(self, "expected two axes"),
                }
            }
            "moveaxis" | "movedim" => {
                const WHAT: &str =
                    "expected two axes: from where, and to where; for more write the new order, as in `permute(1, 0)`";
                self.parser.advance();
                if matches!(self.parser.second().0, Token::Open(_)) {
                    return wrong(self, WHAT);
                }
                let [from, to] = self.axes("an axis")?[..] else { return wrong(self, WHAT) };
                Op::MoveAxis(from, to)
            }
            "flatten" | "ravel" => {
                self.parser.advance();
                let mut ends = [0, -1];
                self.fields("`(`", &["start_dim", "end_dim"], |parser, field| {
                    ends[field] = parser.integer("an axis")?;
                    Ok(())
                })?;
                self.parser.advance();
                Op::Flatten(ends[0], ends[1])
            }
            "view" if self.at_type() => {
                let message = "`view` of a type reads the bytes of the elements as another type, whose size the layout does \
                               not tell: where both types have one size, leave it out, and to change the shape write `reshape`";
                return Err(self.parser.error_at(self.parser.span.clone(), message));
            }
            "as_strided" if !ours && !self.ops.iter().all(|(op, _)| keeps_memory(op)) => {
                let message = "PyTorch's `as_strided` starts again from the memory of the first array: write it before \
                               what moves elements";
                return Err(self.parser.error_at(self.parser.span.clone(), message));
            }
            _ => return Ok(None),
        };
        Ok(Some(op))
    }

    /// Whether what `view` takes here is a type, and no size.
    fn at_type(&self) -> bool {
        let mut ahead = self.parser.ahead();
        let (open, (first, span)) = (ahead.next().0, ahead.next());
        let ((dot, _), (_, after)) = (ahead.next(), ahead.next());
        let word = &self.parser.text[span];
        let is_path = dot == Token::Symbol(".") && ["np", "numpy", "torch"].contains(&word);
        open == Token::Open(b'(')
            && first == Token::Name
            && Method::takes_type(if is_path { &self.parser.text[after] } else { word })
    }

    /// All axes in reverse order, as `.T` and `.transpose()` have it.
    fn reversed(&self, most: usize) -> Op {
        // In tinygrad it is the first two axes that change places, however many there are.
        if self.methods == Methods::Tinygrad { Op::Movement(Movement::Transpose(0, 1)) } else { Op::Reversed(most) }
    }

    fn flip(&mut self) -> Result<Movement, ParseError> {
        let (mut axes, mut each) = (Vec::new(), Vec::new());
        self.arguments(|parser| {
            match boolean(parser) {
                Some(reversed) if axes.is_empty() => {
                    parser.advance();
                    each.push(reversed);
                }
                None if !each.is_empty() => return Err(parser.expected("`True` or `False`")),
                _ => axes.push(parser.integer("an axis")?),
            }
            Ok(())
        })?;
        Ok(if each.is_empty() { Movement::Flip(axes) } else { Movement::FlipEach(each) })
    }

    fn strided(&mut self) -> Result<Movement, ParseError> {
        const FIELDS: [&str; 3] = ["shape|size", "strides|stride", "offset|storage_offset"];
        let (mut shape, mut strides, mut offset) = (None, None, Poly::zero());
        self.fields("`(`", &FIELDS, |parser, field| {
            match field {
                0 => shape = Some(parser.numbers("a size", Role::Other)?),
                1 => strides = Some(parser.numbers("a stride", Role::Stride)?),
                _ => offset = parser.number("an offset", Role::Other)?,
            }
            Ok(())
        })?;
        let shape = shape.ok_or_else(|| self.parser.expected("a shape such as `(2, T)`"))?;
        let strides = strides.ok_or_else(|| self.parser.expected("strides such as `(T, 1)`"))?;
        self.parser.advance();
        Ok(Movement::AsStrided(shape, strides, offset))
    }

    /// Arguments with or without names, as far as the parenthesis that closes them; `read` gets the number of the field that
    /// its argument is for. A field may have several names.
    fn fields(
        &mut self,
        what: &str,
        fields: &[&str],
        mut read: impl FnMut(&mut Parser, usize) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let parser = &mut self.parser;
        let close = parser.open(what)?;
        let mut given = 0_u32;
        while parser.token != close {
            let field = if parser.at_argument_name() {
                let word = parser.word();
                let Some(field) = fields.iter().position(|field| field.split('|').any(|name| name == word)) else {
                    let first = |field: &&str| format!("`{}`", field.split('|').next().unwrap_or(field));
                    let names: Vec<String> = fields.iter().map(first).collect();
                    return Err(parser.expected(&format!("one of {}", names.join(", "))));
                };
                if given & (1 << field) != 0 {
                    return Err(parser.error_at(parser.span.clone(), format!("`{word}` is given twice")));
                }
                parser.advance();
                parser.advance();
                field
            } else {
                let field = given.trailing_ones() as usize;
                if field == fields.len() {
                    return Err(parser.expected("`)`"));
                }
                if given >> field != 0 {
                    return Err(parser.expected(&format!("the name of an argument, such as `{}=`", fields[field])));
                }
                field
            };
            given |= 1 << field;
            read(parser, field)?;
            parser.comma_or(close)?;
        }
        Ok(())
    }

    fn polys(&mut self, what: &str, role: Role) -> Result<Vec<Poly>, ParseError> {
        let mut polys = Vec::new();
        self.arguments(|parser| {
            if parser.at_argument_name() {
                let names = ARGUMENTS.join("`, `");
                return Err(parser.expected(&format!("{what}, or one of the names `{names}` in front of all of them")));
            }
            polys.push(parser.number(what, role)?);
            Ok(())
        })?;
        Ok(polys)
    }

    fn axes(&mut self, what: &str) -> Result<Vec<i64>, ParseError> {
        let mut axes = Vec::new();
        self.arguments(|parser| {
            axes.push(parser.integer(what)?);
            Ok(())
        })?;
        Ok(axes)
    }

    /// As many axes as there must be.
    fn some_axes<const N: usize>(&mut self, what: &str) -> Result<[i64; N], ParseError> {
        let begin = self.parser.span.start;
        let axes = self.axes("an axis")?;
        let found = axes.len();
        <[i64; N]>::try_from(axes)
            .map_err(|_| self.parser.error_at(begin..self.parser.last, format!("expected {what}, found {found}")))
    }

    fn pairs(&mut self, what: &str) -> Result<Vec<(Poly, Poly)>, ParseError> {
        let mut pairs = Vec::new();
        // A pair alone is not a list of its own.
        self.listed(
            |parser| parser.holds_a_tuple(),
            |parser| {
                pairs.push(if parser.at_word("None") {
                    parser.advance();
                    (Poly::zero(), Poly::zero())
                } else {
                    parser.pair(what)?
                });
                Ok(())
            },
        )?;
        Ok(pairs)
    }

    /// What stands between the parentheses of an operation, perhaps in a tuple or a list of its own, which may have the
    /// name that others give it.
    fn arguments(&mut self, item: impl FnMut(&mut Parser) -> Result<(), ParseError>) -> Result<(), ParseError> {
        self.listed(|parser| parser.tuple_ahead().0, item)
    }

    fn listed(
        &mut self,
        is_list: impl Fn(&Parser) -> bool,
        mut item: impl FnMut(&mut Parser) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let parser = &mut self.parser;
        let close = parser.open("`(`")?;
        let is_named = ARGUMENTS.contains(&parser.word()) && parser.at_argument_name();
        if is_named {
            parser.advance();
            parser.advance();
        }
        if !(matches!(parser.token, Token::Open(_)) && is_list(parser)) {
            return parser.items(close, |parser| item(parser));
        }
        let inner = parser.open("`(`")?;
        parser.items(inner, |parser| item(parser))?;
        parser.take(",");
        if parser.at_argument_name() {
            return Err(parser.expected("`)` and no argument with a name"));
        }
        parser.close(close)
    }

    /// `[1, :, ::-1, None, ...]` after an array.
    fn subscript(&mut self) -> Result<Op, ParseError> {
        let parser = &mut self.parser;
        let close = parser.open("`[`")?;
        let mut entries: Vec<(Entry, Range<usize>)> = Vec::new();
        while parser.token != close {
            if entries.len() > 2 * MAX_RANK {
                return Err(parser.expected(&format!("at most {MAX_RANK} axes")));
            }
            let begin = parser.span.start;
            let entry = entry(parser)?;
            let span = begin..parser.last;
            if entry == Entry::Ellipsis && entries.iter().any(|(entry, _)| *entry == Entry::Ellipsis) {
                return Err(parser.error_at(span, "`...` stands once"));
            }
            entries.push((entry, span));
            parser.comma_or(close)?;
        }
        parser.advance();
        Ok(Op::Subscript(entries))
    }
}

/// Numbers in nested tuples, as shapes and strides of CuTe's layouts are.
struct Nested {
    /// The numbers of each item of the outermost tuple.
    items: Vec<Vec<Poly>>,
    /// The parentheses, and a dot for every number.
    form: String,
}

/// Whether an operation leaves the elements of an array that has its memory for itself in their order there.
fn keeps_memory(op: &Op) -> bool {
    matches!(
        op,
        Op::Flatten(..)
            | Op::Movement(Movement::Reshape(_) | Movement::Squeeze(_) | Movement::SqueezeAll | Movement::Unsqueeze(_))
    )
}

/// The boolean that the next token is.
fn boolean(parser: &Parser) -> Option<bool> {
    match parser.word() {
        "True" | "true" => Some(true),
        "False" | "false" => Some(false),
        _ => None,
    }
}

/// A bound of a slice, which may be missing.
fn bound(parser: &mut Parser) -> Result<Option<Poly>, ParseError> {
    let is_missing = parser.at(":") || parser.at(",") || matches!(parser.token, Token::Close(_) | Token::End);
    if is_missing { Ok(None) } else { parser.number("a bound", Role::Other).map(Some) }
}

/// `:3` or `:3:2`: the rest of a slice after its begin.
fn slice_from(parser: &mut Parser, begin: Option<Poly>) -> Result<Slice, ParseError> {
    if !parser.take(":") {
        let what = if begin.is_none() { "a slice such as `1:T`, `::-1` or `:`" } else { "`:`" };
        return Err(parser.expected(what));
    }
    let end = bound(parser)?;
    let mut step = 1;
    if parser.take(":") && !(parser.at(",") || matches!(parser.token, Token::Close(_))) {
        step = parser.integer("a step")?;
    }
    Ok((begin, end, step))
}

fn entry(parser: &mut Parser) -> Result<Entry, ParseError> {
    const WHAT: &str = "an index, a slice, `None` or `...`";
    match parser.word() {
        "..." | "Ellipsis" => {
            parser.advance();
            return Ok(Entry::Ellipsis);
        }
        "None" | "newaxis" => {
            parser.advance();
            return Ok(Entry::NewAxis);
        }
        "np" | "numpy" | "jnp" | "torch" if parser.second().1 == "." => {
            parser.advance();
            parser.advance();
            if !parser.at_word("newaxis") {
                return Err(parser.expected("`newaxis`"));
            }
            parser.advance();
            return Ok(Entry::NewAxis);
        }
        _ => {}
    }
    let first = if parser.at(":") { None } else { Some(parser.number(WHAT, Role::Other)?) };
    if parser.at(":") {
        return Ok(Entry::Slice(slice_from(parser, first)?));
    }
    first.map(Entry::Index).ok_or_else(|| parser.expected(WHAT))
}
