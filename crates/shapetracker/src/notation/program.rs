//! Several statements: names for arrays and for numbers, sizes taken from shapes, and arithmetic on them.

use std::rc::Rc;

use super::ChainStart;
use super::foreign::Methods;
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use crate::shape::resolve_axis;
use crate::{Dims, MAX_RANK, Movement, MovementKind};
use indexpr::text::{ParseError, quoted};

/// The most operations that are copied where arrays with names are used.
pub(super) const MOST_COPIED: usize = 1 << 16;
/// The most names that a text gives.
const MOST_NAMES: usize = 256;
/// How deep functions and sums in parentheses may nest.
const DEEPEST: usize = 32;

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Named {
    Array(Rc<Parsed>),
    Number(i64),
}

/// What a size may be written as: a number, or all sizes of a shape at once.
enum Quantity {
    Number(i64),
    List(Dims),
}

/// The parts of an array along an axis, of which an index or names choose.
pub(super) enum Pieces {
    /// So many elements each, the last part perhaps fewer.
    Even { axis: usize, size: i64, total: i64 },
    /// Half-open ranges.
    Bounds { axis: usize, bounds: Vec<(i64, i64)> },
    /// One element each, without the axis.
    Elements { axis: usize, total: i64 },
}

impl Pieces {
    fn count(&self) -> i64 {
        match self {
            // An axis without elements is one part without elements.
            Pieces::Even { size, total, .. } => {
                if *total > 0 {
                    (total - 1) / size + 1
                } else {
                    1
                }
            }
            Pieces::Bounds { bounds, .. } => bounds.len() as i64,
            Pieces::Elements { total, .. } => *total,
        }
    }

    /// The operations that take one of the parts of a shape; nothing where there is no such part.
    pub(super) fn taken(&self, shape: &[i64], index: i64) -> Option<super::foreign::Ops> {
        let index = if index < 0 { index + self.count() } else { index };
        if !(0..self.count()).contains(&index) {
            return None;
        }
        let (axis, (begin, end)) = match self {
            Pieces::Even { axis, size, total } => {
                (*axis, (index * size, (*total).min((index * size).saturating_add(*size))))
            }
            Pieces::Bounds { axis, bounds } => (*axis, bounds[index as usize]),
            Pieces::Elements { axis, .. } => (*axis, (index, index + 1)),
        };
        let ranges = shape.iter().enumerate().map(|(at, &size)| if at == axis { (begin, end) } else { (0, size) });
        let mut ops = super::foreign::Ops::from_iter([Movement::Shrink(ranges.collect())]);
        if let Pieces::Elements { .. } = self {
            let mut left = Dims::from_slice(shape);
            left.remove(axis);
            ops.push(Movement::Reshape(left));
        }
        Some(ops)
    }
}

impl<'a> Parser<'a> {
    /// Statements, of which the last one says what the text is about: an array with its operations.
    pub(super) fn program(&mut self, parsed: &mut Parsed) -> Result<(), ParseError> {
        let mut first = true;
        loop {
            while !first && self.is_symbol(";") {
                self.advance();
            }
            if self.token == Token::End && !first {
                if !parsed.is_begun() {
                    return Err(self.expected("an array, such as `x = np.zeros((2, 3))`"));
                }
                // A name whose shape is not known and on which no operation is done is no chain.
                if parsed.start == ChainStart::Nothing && parsed.ops.is_empty() {
                    return Err(self.expected("`.` and an operation"));
                }
                return Ok(());
            }
            self.statement(parsed)?;
            if !self.at_statement_end() {
                let err = self.expected("`.` and an operation, or the end of the text");
                return Err(match self.token {
                    Token::Name => err.with_suggestion(self.last..self.span.start, "."),
                    Token::Close(_) => err.with_suggestion(self.span.clone(), ""),
                    _ => err,
                });
            }
            first = false;
        }
    }

    fn statement(&mut self, parsed: &mut Parsed) -> Result<(), ParseError> {
        let begin = self.span.start;
        match self.word() {
            "import" | "from" if self.second() == Token::Name => {
                self.skip_line();
                return Ok(());
            }
            "return" if self.second() != Token::Dot => self.advance(),
            "def" | "class" | "for" | "while" | "if" | "with" | "print" | "assert" | "del" | "lambda"
                if matches!(self.second(), Token::Name | Token::Open(_)) =>
            {
                let message = format!(
                    "{} is not read: write assignments and operations, one after the other",
                    quoted(self.word())
                );
                return Err(self.error_at(self.span.clone(), message));
            }
            _ => {}
        }
        let targets = self.targets();
        if !targets.is_empty() && self.numbers_for(&targets, begin)? {
            return Ok(());
        }
        let begin = self.span.start;
        let mut array = Parsed::new(begin);
        let read = self.array(&mut array, targets.len() > 1);
        if array.is_begun() {
            parsed.clone_from(&array);
        } else if !parsed.is_begun() {
            parsed.start_span = begin..begin;
        }
        let pieces = read?;
        if let [_, _, ..] = targets[..] {
            return self.unpack(&targets, array, pieces, parsed, begin);
        }
        match targets[..] {
            [name] => self.give(name, begin, array),
            _ => Ok(()),
        }
    }

    /// Gives the parts of an array to names, and goes on with the first of them.
    fn unpack(
        &mut self,
        targets: &[&'a str],
        mut array: Parsed,
        pieces: Option<Pieces>,
        parsed: &mut Parsed,
        begin: usize,
    ) -> Result<(), ParseError> {
        let message = match pieces.as_ref().map(Pieces::count) {
            Some(count) if count == targets.len() as i64 => String::new(),
            Some(count) => format!("there are {count} parts for {} names", targets.len()),
            None => "several names are for parts, as `chunk`, `split` and `unbind` make them, or for a shape".into(),
        };
        let Some(pieces) = pieces.filter(|_| message.is_empty()) else {
            return Err(self.error_at(begin..self.last, message));
        };
        let shape = self.shape(&mut array, begin)?;
        for (index, name) in targets.iter().enumerate() {
            let mut part = array.clone();
            for op in pieces.taken(&shape, index as i64).unwrap_or_default() {
                part.push(op, begin..self.last);
            }
            if index == 0 {
                parsed.clone_from(&part);
            }
            self.give(name, begin, part)?;
        }
        Ok(())
    }

    /// Gives a name to an array; of which the shape is found out where it can be.
    pub(super) fn give(&mut self, name: &'a str, begin: usize, mut array: Parsed) -> Result<(), ParseError> {
        let _ = self.shape(&mut array, begin);
        self.bind(name, begin, Named::Array(array.into()))
    }

    fn bind(&mut self, name: &'a str, begin: usize, named: Named) -> Result<(), ParseError> {
        if let Some((_, value)) = self.names.iter_mut().find(|(given, _)| *given == name) {
            *value = named;
        } else if self.names.len() < MOST_NAMES {
            self.names.push((name, named));
        } else {
            return Err(self.error_at(begin..begin, format!("at most {MOST_NAMES} names are given")));
        }
        Ok(())
    }

    fn named(&self) -> Option<&Named> {
        let found = |(name, _): &&(&str, Named)| self.token == Token::Name && *name == self.word();
        self.names.iter().find(found).map(|(_, named)| named)
    }

    /// Whether a number stands here that is written with a name.
    pub(super) fn at_named_number(&self) -> bool {
        let negated = self.is_symbol("-") && self.second() == Token::Name;
        negated
            || self.at_signed_name()
            || matches!(self.named(), Some(Named::Number(_)))
            || (self.at_sizes() && !self.is_symbol("*"))
    }

    /// The array that the next token is the name of.
    pub(super) fn named_array(&self) -> Option<Rc<Parsed>> {
        match self.named() {
            Some(Named::Array(array)) => Some(array.clone()),
            _ => None,
        }
    }

    /// The names in front of an equals sign, which is gone past; none where no assignment begins.
    fn targets(&mut self) -> Vec<&'a str> {
        let (mut ahead, mut names) = (self.clone(), Vec::new());
        while ahead.token == Token::Name && names.len() < MOST_NAMES {
            names.push(ahead.word());
            ahead.advance();
            match ahead.token {
                Token::Comma => ahead.advance(),
                Token::Equals => {
                    ahead.advance();
                    *self = ahead;
                    return names;
                }
                _ => break,
            }
        }
        Vec::new()
    }

    /// Gives numbers to names, if it is numbers that stand here.
    fn numbers_for(&mut self, targets: &[&'a str], begin: usize) -> Result<bool, ParseError> {
        let numbers = match self.token {
            Token::Number(_) => self.second() != Token::Colon,
            Token::Open(_) => targets.len() > 1,
            _ => self.at_named_number() || self.is_symbol("*"),
        };
        if !numbers || (targets.len() == 1 && self.is_shape_only()) {
            return Ok(false);
        }
        let mut list = Dims::new();
        let mut single = false;
        if let Token::Open(_) = self.token {
            list = self.numbers("a number")?;
        } else {
            match self.quantity("a number")? {
                Quantity::List(sizes) => list = sizes,
                Quantity::Number(number) => {
                    list.push(number);
                    single = true;
                }
            }
            while self.take(Token::Comma) && list.len() <= MAX_RANK {
                list.push(self.number("a number")?);
            }
        }
        if let (&[name], false) = (targets, single && list.len() == 1) {
            // Several numbers under one name are a shape.
            let mut shape = Parsed::new(begin);
            (shape.start, shape.start_span) = (ChainStart::Shape(list), begin..self.last);
            return self.give(name, begin, shape).map(|()| true);
        }
        if list.len() != targets.len() {
            let message = format!("there are {} numbers for {} names", list.len(), targets.len());
            return Err(self.error_at(begin..self.last, message));
        }
        for (name, number) in targets.iter().zip(list) {
            self.bind(name, begin, Named::Number(number))?;
        }
        Ok(true)
    }

    fn skip_line(&mut self) {
        while self.token != Token::End && !self.is_symbol(";") {
            self.advance();
            if self.on_a_new_line() {
                break;
            }
        }
    }

    fn on_a_new_line(&self) -> bool {
        self.text[self.last..self.span.start].contains('\n')
    }

    /// Whether the next token is some character that is of no other kind.
    pub(super) fn is_symbol(&self, symbol: &str) -> bool {
        self.token == Token::Unknown && self.word() == symbol
    }

    /// Whether a statement ends here: at the end of the text, a semicolon, or a line on which something new begins.
    fn at_statement_end(&self) -> bool {
        match self.token {
            Token::End => true,
            Token::Unknown => self.is_symbol(";"),
            // An operation without an array goes on with the line before, and its dot is missing.
            Token::Name => {
                let operation = self.named().is_none()
                    && MovementKind::named(self.word()).is_some()
                    && self.second() != Token::Equals
                    && !self.at_function();
                self.on_a_new_line() && !operation
            }
            Token::Open(b'(') => self.on_a_new_line(),
            _ => false,
        }
    }

    /// Whether the next token is the name of nothing but a shape, such as `shape = (2, 3)`.
    fn is_shape_only(&self) -> bool {
        self.named_array().is_some_and(|array| array.is_shape_only())
            && !matches!(self.second(), Token::Dot | Token::Open(b'['))
    }

    /// Whether sizes of an array stand here, such as `x.shape`, `*x.shape[1:]` or `x.size(0)`.
    pub(super) fn at_sizes(&self) -> bool {
        let of_an_array = self.second() == Token::Dot && ["shape", "size", "ndim", "dim"].contains(&self.third().1);
        self.is_symbol("*") || self.is_shape_only() || (of_an_array && self.named_array().is_some())
    }

    /// A size in a list of sizes, or all sizes of a shape.
    pub(super) fn sizes(&mut self, what: &str, into: &mut Dims) -> Result<(), ParseError> {
        if self.is_symbol("*") {
            self.advance();
        }
        match self.quantity(what)? {
            Quantity::Number(number) => into.push(number),
            Quantity::List(sizes) => sizes.iter().for_each(|&size| into.push(size)),
        }
        if into.len() > 2 * MAX_RANK {
            return Err(self.error_at(self.last..self.last, format!("expected at most {MAX_RANK} axes")));
        }
        Ok(())
    }

    /// A whole number, perhaps as a sum of products of numbers and of names of numbers.
    pub(super) fn number(&mut self, what: &str) -> Result<i64, ParseError> {
        let begin = self.span.start;
        match self.quantity(what)? {
            Quantity::Number(number) => Ok(number),
            Quantity::List(_) => Err(self.error_at(begin..self.last, format!("expected {what}, found a shape"))),
        }
    }

    fn quantity(&mut self, what: &str) -> Result<Quantity, ParseError> {
        let begin = self.span.start;
        let mut sum = match self.factor(what, false)? {
            Quantity::Number(number) => self.product(number, begin)?,
            list => return Ok(list),
        };
        loop {
            let minus = self.word().starts_with('-');
            let signed = matches!(self.token, Token::Number(_)) && self.word().starts_with(['+', '-']);
            let first = if signed {
                let number = self.plain_number(what)?;
                if minus { number.checked_neg() } else { Some(number) }
            } else if self.is_symbol("+") || self.is_symbol("-") {
                self.advance();
                Some(self.one_factor()?)
            } else if self.at_signed_name() {
                self.past_sign();
                Some(self.one_factor()?)
            } else {
                return Ok(Quantity::Number(sum));
            };
            let product = first.map(|first| self.product(first, begin)).transpose()?;
            let next = product.and_then(|next| if minus { sum.checked_sub(next) } else { sum.checked_add(next) });
            sum = next.ok_or_else(|| self.too_large(begin))?;
        }
    }

    /// What a number is multiplied with and divided by.
    fn product(&mut self, mut product: i64, begin: usize) -> Result<i64, ParseError> {
        loop {
            let next = if self.is_symbol("*") {
                self.advance();
                product.checked_mul(self.one_factor()?)
            } else if self.is_symbol("/") || self.is_symbol("%") {
                let remainder = self.is_symbol("%");
                self.advance();
                if !remainder {
                    if !self.is_symbol("/") {
                        return Err(self.expected("another `/`: sizes are whole numbers"));
                    }
                    self.advance();
                }
                let divisor = self.one_factor()?;
                if divisor == 0 {
                    return Err(self.error_at(begin..self.last, "the divisor is 0".to_owned()));
                }
                // Both round as in Python: downwards.
                let low = i128::from(product).rem_euclid(i128::from(divisor).abs());
                let low = if divisor < 0 && low != 0 { low + i128::from(divisor) } else { low };
                let floor = (i128::from(product) - low) / i128::from(divisor);
                i64::try_from(if remainder { low } else { floor }).ok()
            } else {
                return Ok(product);
            };
            product = next.ok_or_else(|| self.too_large(begin))?;
        }
    }

    fn too_large(&self, begin: usize) -> ParseError {
        self.error_at(begin..self.last, "the number is past the range of 64-bit integers".to_owned())
    }

    fn one_factor(&mut self) -> Result<i64, ParseError> {
        let begin = self.span.start;
        match self.factor("a number", true)? {
            Quantity::Number(number) => Ok(number),
            Quantity::List(_) => Err(self.error_at(begin..self.last, "expected a number, found a shape".to_owned())),
        }
    }

    /// A number, the name of one, or a size of a shape; after an operator also a sum in parentheses.
    fn factor(&mut self, what: &str, inner: bool) -> Result<Quantity, ParseError> {
        if let Some(&Named::Number(number)) = self.named() {
            self.advance();
            return Ok(Quantity::Number(number));
        }
        if !self.is_symbol("*") && self.at_sizes() {
            return self.size_list();
        }
        let signed = self.at_signed_name();
        let negated = (signed || self.is_symbol("-") && self.second() == Token::Name) && self.word().starts_with('-');
        if (inner && self.token == Token::Open(b'(')) || negated {
            if self.depth == DEEPEST {
                return Err(self.nests_too_deep());
            }
            self.depth += 1;
            let close = if negated { None } else { Some(Token::Close(b')')) };
            if signed {
                self.past_sign()
            } else {
                self.advance()
            }
            let number = if negated { self.one_factor()?.checked_neg() } else { Some(self.number("a number")?) };
            if let Some(close) = close {
                self.close(close)?;
            }
            self.depth -= 1;
            return number.map(Quantity::Number).ok_or_else(|| self.too_large(self.last));
        }
        self.plain_number(what).map(Quantity::Number)
    }

    /// Whether a sign stands here in front of a name that something was given, which is one word to the lexer.
    fn at_signed_name(&self) -> bool {
        let name = self.word().strip_prefix(['+', '-']).filter(|_| self.token == Token::NotWhole);
        name.is_some_and(|name| self.names.iter().any(|(given, _)| *given == name))
    }

    fn past_sign(&mut self) {
        self.last = self.span.start + 1;
        self.lexer = self.lexer.at(self.last);
        (self.token, self.span) = self.lexer.next();
    }

    pub(super) fn nests_too_deep(&self) -> ParseError {
        self.error_at(self.span.clone(), format!("at most {DEEPEST} levels nest"))
    }

    /// Whether functions nest as deep as they may.
    pub(super) fn is_deepest(&self) -> bool {
        self.depth == DEEPEST
    }

    /// `x.shape`, `x.size()`, `x.shape[0]`, `x.shape[:-1]`, `x.size(0)`, `x.ndim`, or the name of a shape.
    fn size_list(&mut self) -> Result<Quantity, ParseError> {
        let begin = self.span.start;
        let Some(array) = self.named_array() else { return Err(self.expected("the name of an array")) };
        self.advance();
        let unknown = |parser: &Self| parser.error_at(begin..parser.last, super::foreign::NO_SHAPE.to_owned());
        let shape = array.known_shape().ok_or_else(|| unknown(self))?;
        if self.take(Token::Dot) {
            let word = self.word();
            self.advance();
            match word {
                "ndim" => return Ok(Quantity::Number(shape.len() as i64)),
                "shape" => {}
                _ => {
                    let close = self.open("`(`")?;
                    let mut axis = None;
                    if word == "size" && self.token != close {
                        axis = Some(self.number("an axis")?);
                    }
                    self.close(close)?;
                    if word == "dim" {
                        return Ok(Quantity::Number(shape.len() as i64));
                    }
                    if let Some(axis) = axis {
                        let axis = resolve_axis("size", axis, shape.len()).map_err(|err| self.refused(begin, &err))?;
                        return Ok(Quantity::Number(shape[axis]));
                    }
                }
            }
        }
        if self.token != Token::Open(b'[') {
            return Ok(Quantity::List(shape));
        }
        let close = self.open("`[`")?;
        let first = self.bound()?;
        let rank = shape.len() as i64;
        if self.take(Token::Colon) {
            let end = self.bound()?;
            self.close(close)?;
            let place =
                |bound: i64| (if bound < 0 { bound.saturating_add(rank) } else { bound }).clamp(0, rank) as usize;
            let (begin, end) = (place(first.unwrap_or(0)), place(end.unwrap_or(rank)));
            return Ok(Quantity::List(shape.get(begin..end).unwrap_or_default().into()));
        }
        let axis = first.ok_or_else(|| self.expected("an axis"))?;
        self.close(close)?;
        let axis = resolve_axis("shape", axis, shape.len()).map_err(|err| self.refused(begin, &err))?;
        Ok(Quantity::Number(shape[axis]))
    }
}

impl Parsed {
    /// Whether it is nothing but a shape as it is written here, which may be one in a list of sizes.
    fn is_shape_only(&self) -> bool {
        matches!(self.start, ChainStart::Shape(_)) && self.ops.is_empty() && self.methods == Methods::Ours
    }
}
