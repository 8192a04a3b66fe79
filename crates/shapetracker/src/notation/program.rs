//! Several statements: names for arrays and for numbers, sizes taken from shapes, and arithmetic on them.

use std::rc::Rc;

use shapetracker_base::text::{ParseError, Token, quoted};

use super::ChainStartOf;
use super::arithmetic::{Arithmetic, Known, Operator, Role};
use super::foreign::Ops;
use super::numbers::Quantity;
use super::parsed::Parsed;
use super::parser::{Num, Nums, Reader};
use crate::number::{List as _, Number};
use crate::{MAX_RANK, MovementKind, MovementOf};

/// The most operations that are copied where arrays with names are used.
pub(super) const MOST_COPIED: usize = 1 << 16;
/// The most names that a text gives.
const MOST_NAMES: usize = 256;

/// What a name stands for.
#[derive(Clone)]
pub(super) enum Named<N: Number> {
    Array(Rc<Parsed<N>>),
    Number(N),
}

/// The parts of an array along an axis, of which an index or names choose.
pub(super) struct Pieces<N: Number> {
    pub(super) axis: usize,
    pub(super) cut: Cut<N>,
    /// How many there are, where that is known.
    pub(super) count: Option<i64>,
}

/// Where an axis is cut.
pub(super) enum Cut<N> {
    /// So many elements each, the last part perhaps fewer.
    Even { size: N, total: N },
    /// Half-open ranges.
    Bounds(Vec<(N, N)>),
    /// One element each, without the axis.
    Elements,
}

impl<'a, A: Known> Reader<'a, '_, A> {
    /// Statements, of which the last one says what the text is about: an array with its operations.
    pub(super) fn program(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<(), ParseError> {
        if self.pasted(parsed)? {
            return Ok(());
        }
        let mut first = true;
        loop {
            self.past_prompt();
            while !first && self.is_symbol(";") {
                self.advance();
            }
            if self.token == Token::End && !first {
                if !parsed.is_begun() {
                    return Err(self.expected("an array, such as `x = np.zeros((2, 3))`"));
                }
                // A name whose shape is not known and on which no operation is done is no chain. Calls of an array that is known may
                // all leave it as it is.
                if parsed.start == ChainStartOf::Nothing && parsed.ops.is_empty() && self.base.is_none() {
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

    /// `x.shape = (3, 2)`, which is NumPy's reshape in place: the name, and the text is past the equals sign.
    fn shape_target(&mut self) -> Option<&'a str> {
        let mut ahead = self.tokens.clone();
        self.named_array()?;
        ahead.advance();
        let is_shape = ahead.token == Token::Dot && ahead.third() == (Token::Equals, "=") && {
            ahead.advance();
            ahead.at_word("shape")
        };
        if !is_shape {
            return None;
        }
        let name = self.word();
        ahead.advance();
        ahead.advance();
        self.tokens = ahead;
        Some(name)
    }

    fn statement(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<(), ParseError> {
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
        if let Some(array) = self.named_array()
            && let Some(name) = self.shape_target()
        {
            let sizes = self.one_or_more("a size")?;
            let mut reshaped = Parsed::clone(&array);
            reshaped.push(MovementOf::Reshape(sizes), begin..self.last);
            parsed.clone_from(&reshaped);
            return self.give(name, begin, reshaped);
        }
        let targets = if self.at_printed() { Vec::new() } else { self.targets() };
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
        mut array: Parsed<Num<A>>,
        pieces: Option<Pieces<Num<A>>>,
        parsed: &mut Parsed<Num<A>>,
        begin: usize,
    ) -> Result<(), ParseError> {
        let message = match pieces.as_ref().map(|pieces| pieces.count) {
            Some(Some(count)) if count == targets.len() as i64 => String::new(),
            Some(Some(count)) => format!("there are {count} parts, but {} names: write one for each", targets.len()),
            Some(None) => format!("how many parts there are is not known, but there are {} names", targets.len()),
            None => "several names are for parts, as `chunk`, `split` and `unbind` make them, or for a shape".into(),
        };
        let Some(pieces) = pieces.filter(|_| message.is_empty()) else {
            return Err(self.wrong(begin, message));
        };
        let shape = self.shape(&mut array, begin)?;
        for (index, name) in targets.iter().enumerate() {
            let mut part = array.clone();
            let taken = self.part(&shape, &pieces, index as i64);
            for op in taken.map_err(|message| self.wrong(begin, message))? {
                part.push(op, begin..self.last);
            }
            if index == 0 {
                parsed.clone_from(&part);
            }
            self.give(name, begin, part)?;
        }
        Ok(())
    }

    /// The operations that take one of the parts of a shape, or why there is no such part.
    pub(super) fn part(&mut self, shape: &[Num<A>], pieces: &Pieces<Num<A>>, index: i64) -> Result<Ops<A>, String> {
        let at = match pieces.count {
            Some(count) => {
                let at = if index < 0 { index + count } else { index };
                let none = || match count {
                    0 => format!("there is no part {index}: there are none"),
                    1 => format!("there is no part {index}: the only part is 0"),
                    _ => format!("there is no part {index}: the {count} parts are counted from 0"),
                };
                (0..count).contains(&at).then_some(at).ok_or_else(none)?
            }
            None if index < 0 => return Err("how many parts there are is not known: count from the first one".into()),
            None => index,
        };
        let mut number = |operator, a: &Num<A>, b: &Num<A>| {
            let result = self.arithmetic.operate(operator, a, b)?;
            result.ok_or_else(|| "the quotient is not known".to_owned())
        };
        let (one, at_number) = (Num::<A>::from(1), Num::<A>::from(at));
        let (begin, end) = match &pieces.cut {
            Cut::Bounds(bounds) => bounds[at as usize].clone(),
            Cut::Elements => (at_number.clone(), number(Operator::Add, &at_number, &one)?),
            Cut::Even { size, total } => {
                let begin = number(Operator::Mul, &at_number, size)?;
                let end = number(Operator::Add, &begin, size)?;
                let end = match self.arithmetic.at_least(total, &end) {
                    Some(true) => end,
                    Some(false) => total.clone(),
                    None => {
                        let [end, total] = [&end, total].map(|number| self.shown(number));
                        return Err(format!("part {index} ends at {end} or at {total}, which is not known"));
                    }
                };
                (begin, end)
            }
        };
        let mut ops = Ops::<A>::from_iter([cut(shape, pieces.axis, (begin, end))]);
        if let Cut::Elements = pieces.cut {
            let left = shape.iter().enumerate().filter(|(axis, _)| *axis != pieces.axis);
            ops.push(MovementOf::Reshape(left.map(|(_, size)| size.clone()).collect()));
        }
        Ok(ops)
    }

    /// Gives a name to an array; of which the shape is found out where it can be.
    pub(super) fn give(&mut self, name: &'a str, begin: usize, mut array: Parsed<Num<A>>) -> Result<(), ParseError> {
        let _ = self.shape(&mut array, begin);
        self.bind(name, begin, Named::Array(array.into()))
    }

    /// The names in front of an equals sign, which is gone past; none where no assignment begins.
    fn targets(&mut self) -> Vec<&'a str> {
        let (mut ahead, mut names) = (self.tokens.clone(), Vec::new());
        while ahead.token == Token::Name && names.len() < MOST_NAMES {
            names.push(ahead.word());
            ahead.advance();
            match ahead.token {
                Token::Comma => ahead.advance(),
                Token::Equals => {
                    ahead.advance();
                    self.tokens = ahead;
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
            Token::Number => self.second() != Token::Colon,
            Token::Open(_) => targets.len() > 1,
            // A name of which nothing is known is that of an array, unless something is computed with it.
            Token::Name => {
                let operates = self.is_size_name(self.word()) && {
                    let mut ahead = self.tokens.clone();
                    ahead.advance();
                    ["+", "-", "*", "/", "//", "%", "**"].iter().any(|operator| ahead.is_symbol(operator))
                };
                self.at_number() || operates
            }
            _ => self.at_number() || self.is_symbol("*"),
        };
        if !numbers || (targets.len() == 1 && self.is_shape_only()) {
            return Ok(false);
        }
        let mut list = Nums::<A>::default();
        let mut single = false;
        if let Token::Open(_) = self.token {
            list = self.numbers("a number")?;
        } else {
            match self.quantity("a number", Role::Other)? {
                Quantity::List(sizes) => list = sizes,
                Quantity::Number(number) => {
                    list.push(number);
                    single = true;
                }
            }
            while self.take(Token::Comma) && list.len() <= MAX_RANK {
                list.push(self.number("a number", Role::Other)?);
            }
        }
        if let (&[name], false) = (targets, single && list.len() == 1) {
            // Several numbers under one name are a shape.
            let mut shape = Parsed::new(begin);
            (shape.start, shape.start_span) = (ChainStartOf::Shape(list), begin..self.last);
            return self.give(name, begin, shape).map(|()| true);
        }
        if list.len() != targets.len() {
            let message = format!("there are {} numbers for {} names", list.len(), targets.len());
            return Err(self.wrong(begin, message));
        }
        for (name, number) in targets.iter().zip(list.iter()) {
            self.bind(name, begin, Named::Number(number.clone()))?;
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

    /// Whether a statement ends here: at the end of the text, a semicolon, or a line on which something new begins.
    pub(super) fn at_statement_end(&self) -> bool {
        if self.has_prompts && self.on_a_new_line() {
            return true;
        }
        match self.token {
            Token::End => true,
            Token::Symbol => self.is_symbol(";"),
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
}

impl<'a, A: Arithmetic> Reader<'a, '_, A> {
    fn bind(&mut self, name: &'a str, begin: usize, named: Named<Num<A>>) -> Result<(), ParseError> {
        if let Some((_, value)) = self.names.iter_mut().find(|(given, _)| *given == name) {
            *value = named;
        } else if self.names.len() < MOST_NAMES {
            self.names.push((name, named));
        } else {
            return Err(
                self.error_at(begin..begin, format!("a text gives at most {MOST_NAMES} names, and this is one more"))
            );
        }
        Ok(())
    }

    pub(super) fn named(&self) -> Option<&Named<Num<A>>> {
        let found = |(name, _): &&(&str, Named<Num<A>>)| self.token == Token::Name && *name == self.word();
        self.names.iter().find(found).map(|(_, named)| named)
    }

    /// The array that the next token is the name of.
    pub(super) fn named_array(&self) -> Option<Rc<Parsed<Num<A>>>> {
        match self.named() {
            Some(Named::Array(array)) => Some(array.clone()),
            _ => None,
        }
    }
}

/// A range of one axis, and all of the others.
pub(super) fn cut<N: Number>(shape: &[N], axis: usize, range: (N, N)) -> MovementOf<N> {
    let of = |(at, size): (usize, &N)| if at == axis { range.clone() } else { (N::from(0), size.clone()) };
    MovementOf::Shrink(shape.iter().enumerate().map(of).collect())
}
