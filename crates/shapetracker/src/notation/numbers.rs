//! Numbers: sums of products of whole numbers, of names, and of sizes of arrays.

use shapetracker_base::text::{ParseError, Token, Tokens, quoted};

use super::arguments::ARGUMENTS;
use super::arithmetic::{Arithmetic, Operator, Role};
use super::parsed::Parsed;
use super::parser::{Num, Nums, Reader};
use super::program::Named;
use crate::MAX_RANK;
use crate::number::{List as _, Number};
use crate::shape::resolve_axis;

/// How deep functions and sums in parentheses may nest.
pub(super) const DEEPEST: usize = 32;
/// The greatest exponent of `**`.
const HIGHEST: i128 = 16;

/// What a size may be written as: a number, or all sizes of a shape at once.
pub(super) enum Quantity<N: Number> {
    Number(N),
    List(N::Numbers),
}

impl<'a, A: Arithmetic> Reader<'a, '_, A> {
    /// A whole number, or a sum of products of numbers and names.
    ///
    /// ```
    /// use shapetracker::{Integers, Reader, Role};
    ///
    /// let mut integers = Integers;
    /// assert_eq!(Reader::new("7 // 2 - 2**3", &mut integers).number("a bound", Role::Other)?, -5);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// What stands there in its place, or that it is out of range; `what` says what should stand there.
    pub fn number(&mut self, what: &str, role: Role) -> Result<A::Number, ParseError> {
        let begin = self.span.start;
        match self.quantity(what, role)? {
            Quantity::Number(number) => Ok(number),
            Quantity::List(_) => Err(self.error_at(begin..self.last, format!("expected {what}, found a shape"))),
        }
    }

    /// The same where `%` may follow, for the caller to read: what is left of it.
    ///
    /// ```
    /// use shapetracker::{Integers, Reader};
    ///
    /// let mut integers = Integers;
    /// let mut reader = Reader::new("7 * 2 % 4", &mut integers);
    /// assert_eq!((reader.dividend("a number")?, reader.word()), (14, "%"));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Reader::number`], and `%` behind a sum.
    pub fn dividend(&mut self, what: &str) -> Result<A::Number, ParseError> {
        self.remainders = true;
        let number = self.number(what, Role::Other);
        self.remainders = false;
        number
    }

    /// What numbers are made and computed with.
    ///
    /// ```
    /// use shapetracker::{Integers, Reader};
    /// assert_eq!(*Reader::new("7", &mut Integers).arithmetic(), Integers);
    /// ```
    pub fn arithmetic(&mut self) -> &mut A {
        self.arithmetic
    }

    /// A whole number, such as that of an axis.
    pub(super) fn integer(&mut self, what: &str) -> Result<i64, ParseError> {
        let begin = self.span.start;
        let number = self.number(what, Role::Other)?;
        self.whole(&number, what, begin)
    }

    /// The value of a number that was read from `begin` to here and may have no names.
    pub(super) fn whole(&self, number: &Num<A>, what: &str, begin: usize) -> Result<i64, ParseError> {
        number.integer().ok_or_else(|| {
            let message = format!("expected {what}, which is a whole number without names");
            self.wrong(begin, message)
        })
    }

    /// A size in a list of sizes, or all sizes of a shape.
    pub(super) fn sizes(&mut self, what: &str, role: Role, into: &mut Nums<A>) -> Result<(), ParseError> {
        self.take_symbol("*");
        match self.quantity(what, role)? {
            Quantity::Number(number) => into.push(number),
            Quantity::List(sizes) => sizes.iter().for_each(|size| into.push(size.clone())),
        }
        if into.len() > 2 * MAX_RANK {
            return Err(self.error_at(self.last..self.last, format!("expected at most {MAX_RANK} axes")));
        }
        Ok(())
    }

    /// Whether a number stands here, perhaps written with a name that is known to be one.
    pub(super) fn at_number(&self) -> bool {
        match self.token {
            Token::Number | Token::NotWhole => true,
            Token::Name => {
                let word = self.word();
                matches!(self.named(), Some(Named::Number(_))) || self.at_sizes() || self.arithmetic.knows(word)
            }
            // A star may stand in front of all sizes of a shape.
            Token::Symbol => {
                let is_sign = matches!(self.word(), "-" | "+");
                is_sign && matches!(self.second(), Token::Number | Token::NotWhole | Token::Name | Token::Open(b'('))
            }
            _ => false,
        }
    }

    /// Whether a name may be that of a size, and is not that of an array.
    pub(super) fn is_size_name(&self, name: &str) -> bool {
        self.arithmetic.has_names()
            && !["True", "False", "None", "Ellipsis", "newaxis"].contains(&name)
            && !self.names.iter().any(|(given, named)| *given == name && matches!(named, Named::Array(_)))
    }

    /// A number, or all sizes of a shape.
    pub(super) fn quantity(&mut self, what: &str, role: Role) -> Result<Quantity<Num<A>>, ParseError> {
        let begin = self.span.start;
        let first = if self.at_sizes() && !self.is_symbol("*") {
            match self.size_list()? {
                Quantity::Number(number) => Some(number),
                list => return Ok(list),
            }
        } else {
            None
        };
        let number = self.sum(what, role, first)?;
        self.arithmetic.note(&number, begin..self.last);
        Ok(Quantity::Number(number))
    }

    fn sum(&mut self, what: &str, role: Role, first: Option<Num<A>>) -> Result<Num<A>, ParseError> {
        let begin = self.span.start;
        let mut sum = self.product(what, role, first)?;
        loop {
            let operator = match self.token {
                Token::Symbol if self.word() == "+" => Operator::Add,
                Token::Symbol if self.word() == "-" => Operator::Sub,
                _ => return Ok(sum),
            };
            self.advance();
            let term = self.product("a number", role, None)?;
            if self.remainders && self.is_symbol("%") {
                return Err(self.expected("parentheses around what is divided, as in `(a + b) % 4 == 0`"));
            }
            sum = self.operate(operator, &sum, &term, begin)?;
        }
    }

    fn product(&mut self, what: &str, role: Role, first: Option<Num<A>>) -> Result<Num<A>, ParseError> {
        let begin = self.span.start;
        let mut product = self.signed(what, role, first)?;
        loop {
            let operator = match self.token {
                Token::Symbol => match self.word() {
                    "*" => Operator::Mul,
                    "/" | "//" => Operator::Div,
                    "%" if !(self.remainders && self.depth == 0) => Operator::Modulo,
                    _ => return Ok(product),
                },
                _ => return Ok(product),
            };
            let at = self.tokens.clone();
            self.advance();
            if at.word() == "/" && product.integer().is_some() {
                return Err(self.expected("another `/`: sizes are whole numbers"));
            }
            let factor = self.signed("a number", role, None)?;
            if operator != Operator::Mul && factor.integer() == Some(0) {
                return Err(self.error_at(begin..self.last, "the divisor is 0"));
            }
            product = match self.arithmetic.operate(operator, &product, &factor) {
                Ok(Some(result)) => result,
                Ok(None) => return Err(self.undivided(&at)),
                Err(message) => return Err(self.wrong(begin, message)),
            };
        }
    }

    fn signed(&mut self, what: &str, role: Role, first: Option<Num<A>>) -> Result<Num<A>, ParseError> {
        if first.is_some() || !(self.is_symbol("-") || self.is_symbol("+")) {
            return self.power(what, role, first);
        }
        let (begin, mut negative) = (self.span.start, false);
        while self.is_symbol("-") || self.is_symbol("+") {
            // What follows a sign may be anything, and is no number where nothing does.
            if matches!(self.second(), Token::End | Token::Comma | Token::Close(_)) {
                return Err(self.expected(what));
            }
            negative ^= self.word() == "-";
            self.advance();
        }
        if negative
            && let Some(value) = self.value()
            && !self.second_is("**")
            && let Some(number) = self.arithmetic.literal(-value)
        {
            // The least integer has no counterpart.
            self.advance();
            return Ok(number);
        }
        let power = self.power(what, role, None)?;
        if !negative {
            return Ok(power);
        }
        self.operate(Operator::Sub, &Num::<A>::from(0), &power, begin)
    }

    fn power(&mut self, what: &str, role: Role, first: Option<Num<A>>) -> Result<Num<A>, ParseError> {
        let begin = self.span.start;
        let base = match first {
            Some(first) => first,
            None => self.factor(what, role)?,
        };
        if !self.take_symbol("**") {
            return Ok(base);
        }
        let Some(exponent @ 0..=HIGHEST) = self.value() else {
            return Err(self.expected(&format!("an exponent, which is a number from 0 to {HIGHEST}")));
        };
        self.advance();
        if self.is_symbol("**") {
            return Err(self.expected("parentheses around one of two powers"));
        }
        (0..exponent).try_fold(Num::<A>::from(1), |power, _| self.operate(Operator::Mul, &power, &base, begin))
    }

    /// A number, the name of one, a size of a shape, or a sum in parentheses.
    fn factor(&mut self, what: &str, role: Role) -> Result<Num<A>, ParseError> {
        let begin = self.span.start;
        if let Some(Named::Number(number)) = self.named() {
            let number = number.clone();
            self.advance();
            return Ok(number);
        }
        if !self.is_symbol("*") && self.at_sizes() {
            return match self.size_list()? {
                Quantity::Number(number) => Ok(number),
                Quantity::List(_) => Err(self.error_at(begin..self.last, "expected a number, found a shape")),
            };
        }
        if self.token == Token::Open(b'(') && !self.at_tuple() {
            if self.is_deepest() {
                return Err(self.nests_too_deep());
            }
            self.depth += 1;
            self.advance();
            let sum = self.sum("a number", role, None)?;
            self.close(Token::Close(b')'))?;
            self.depth -= 1;
            return Ok(sum);
        }
        if self.token == Token::Name && self.is_size_name(self.word()) && !self.at_argument_name() {
            return self.name(what, role);
        }
        self.plain_number(what)
    }

    /// The number that a name is by itself.
    fn name(&mut self, what: &str, role: Role) -> Result<Num<A>, ParseError> {
        let word = self.word();
        if self.second() == Token::Open(b'(') {
            let message = format!(
                "expected {what}, found {}: sizes are made of names and numbers with + - * and **",
                quoted(word)
            );
            return Err(self.error_at(self.span.clone(), message));
        }
        let span = self.span.clone();
        match self.arithmetic.name(word, span, role) {
            Ok(Some(number)) => {
                self.advance();
                Ok(number)
            }
            Ok(None) => Err(self.nameless(what)),
            Err(message) => Err(self.error_at(self.span.clone(), message)),
        }
    }

    /// A number as it is written: without the names of numbers, and without arithmetic.
    pub(super) fn plain_number(&mut self, what: &str) -> Result<Num<A>, ParseError> {
        match self.token {
            Token::Number => match self.value().and_then(|value| self.arithmetic.literal(value)) {
                Some(number) => {
                    self.advance();
                    Ok(number)
                }
                None => Err(self.expected(&format!("{what} within the range of {}", A::RANGE))),
            },
            Token::NotWhole => {
                let or_names = if self.arithmetic.has_names() { " or has names" } else { "" };
                Err(self.expected(&format!("{what}, which is a whole number{or_names}")))
            }
            Token::Name if self.second() == Token::Equals => {
                let names = ARGUMENTS.join("`, `");
                Err(self.expected(&format!("{what}, or one of the names `{names}` in front of all of them")))
            }
            Token::Name if self.is_unknown_name() => Err(self.nameless(what)),
            Token::Comma => {
                // A comma too many, together with the spaces behind it.
                let mut ahead = self.tokens.clone();
                ahead.advance();
                Err(self.expected(what).with_suggestion(self.span.start..ahead.span.start, ""))
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The error that a name stands here in place of a number, and that no number has it.
    #[cold]
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

    /// Refuses a division whose result is not known, and says what to write instead.
    #[cold]
    fn undivided(&self, at: &Tokens<'_>) -> ParseError {
        // What is divided and by what, where both are one word.
        let before = self.text[..at.span.start].trim_end();
        let is_letter = |c: char| c.is_alphanumeric() || c == '_';
        let name = &before[before.trim_end_matches(is_letter).len()..];
        let mut after = at.clone();
        after.advance();
        let is_divisor = after.token == Token::Name || matches!(after.value(), Some(2..));
        let is_name = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
        let (name, by) = if is_divisor && is_name { (name, after.word()) } else { ("H", "8") };
        let quotient = name.to_ascii_lowercase();
        let quotient = if quotient == name { format!("{name}_{by}") } else { quotient };
        let result = if at.word() == "%" { "remainder" } else { "quotient" };
        let message = format!(
            "the {result} is not known for all values: say that `{name} = {by}*{quotient}`, and write `{quotient}` for the \
             quotient"
        );
        self.error_at(at.span.clone(), message)
    }

    /// An operation on two numbers that were read from `begin` to here, or on what comes of them.
    pub(super) fn operate(
        &mut self,
        operator: Operator,
        a: &Num<A>,
        b: &Num<A>,
        begin: usize,
    ) -> Result<Num<A>, ParseError> {
        match self.arithmetic.operate(operator, a, b) {
            Ok(Some(result)) => Ok(result),
            Ok(None) => Err(self.error_at(begin..self.last, "the quotient is not known")),
            Err(message) => Err(self.wrong(begin, message)),
        }
    }

    fn second_is(&self, symbol: &str) -> bool {
        let mut ahead = self.tokens.clone();
        ahead.advance();
        ahead.is_symbol(symbol)
    }

    #[cold]
    pub(super) fn nests_too_deep(&self) -> ParseError {
        self.error_at(self.span.clone(), format!("this nests deeper than the {DEEPEST} levels that are read"))
    }

    /// Whether functions and parentheses nest as deep as they may.
    pub(super) fn is_deepest(&self) -> bool {
        self.depth == DEEPEST
    }

    /// Whether the next token is the name of nothing but a shape, such as `shape = (2, 3)`.
    pub(super) fn is_shape_only(&self) -> bool {
        self.named_array().is_some_and(|array| array.is_shape_only())
            && !matches!(self.second(), Token::Dot | Token::Open(b'['))
    }

    /// `torch.Size([2, 3])`.
    pub(super) fn at_size_of_torch(&self) -> bool {
        self.at_word("torch") && self.second() == Token::Dot && self.third().1 == "Size"
    }

    /// The numbers of `torch.Size([2, 3])`.
    pub(super) fn size_of_torch(&mut self) -> Result<Nums<A>, ParseError> {
        for _ in 0..3 {
            self.advance();
        }
        let close = self.open("`(` after `torch.Size`")?;
        let sizes = self.numbers("a size")?;
        self.close(close)?;
        Ok(sizes)
    }

    /// Whether sizes of an array stand here, such as `x.shape`, `*x.shape[1:]` or `x.size(0)`.
    pub(super) fn at_sizes(&self) -> bool {
        if self.is_symbol("*") {
            return true;
        }
        if self.token != Token::Name {
            return false;
        }
        if self.names.is_empty() {
            return self.at_size_of_torch();
        }
        let of_an_array = self.second() == Token::Dot && ["shape", "size", "ndim", "dim"].contains(&self.third().1);
        self.is_shape_only() || (of_an_array && self.named_array().is_some()) || self.at_size_of_torch()
    }

    /// `x.shape`, `x.size()`, `x.shape[0]`, `x.shape[:-1]`, `x.size(0)`, `x.ndim`, or the name of a shape.
    fn size_list(&mut self) -> Result<Quantity<Num<A>>, ParseError> {
        if self.at_size_of_torch() {
            return self.size_of_torch().map(Quantity::List);
        }
        let begin = self.span.start;
        let Some(array) = self.named_array() else { return Err(self.expected("the name of an array")) };
        self.advance();
        let shape = array.known_shape();
        let shape = shape.ok_or_else(|| self.error_at(begin..self.last, super::foreign::NO_SHAPE))?;
        let rank = shape.len() as i64;
        if self.take(Token::Dot) {
            let word = self.word();
            self.advance();
            match word {
                "ndim" => return Ok(Quantity::Number(Num::<A>::from(rank))),
                "shape" => {}
                _ => {
                    let close = self.open("`(`")?;
                    let mut axis = None;
                    if word == "size" && self.token != close {
                        axis = Some(self.integer("an axis")?);
                    }
                    self.close(close)?;
                    if word == "dim" {
                        return Ok(Quantity::Number(Num::<A>::from(rank)));
                    }
                    if let Some(axis) = axis {
                        let axis = resolve_axis("size", axis, shape.len()).map_err(|err| self.refused(begin, &err))?;
                        return Ok(Quantity::Number(shape[axis].clone()));
                    }
                }
            }
        }
        if self.token != Token::Open(b'[') {
            return Ok(Quantity::List(shape));
        }
        let close = self.open("`[`")?;
        let place = |reader: &mut Self| if reader.at_number() { reader.integer("a bound").map(Some) } else { Ok(None) };
        let first = place(self)?;
        if self.take(Token::Colon) {
            let end = place(self)?;
            self.close(close)?;
            let place =
                |bound: i64| (if bound < 0 { bound.saturating_add(rank) } else { bound }).clamp(0, rank) as usize;
            let (begin, end) = (place(first.unwrap_or(0)), place(end.unwrap_or(rank)));
            return Ok(Quantity::List(shape.get(begin..end).unwrap_or_default().iter().cloned().collect()));
        }
        let axis = first.ok_or_else(|| self.expected("an axis"))?;
        self.close(close)?;
        let axis = resolve_axis("shape", axis, shape.len()).map_err(|err| self.refused(begin, &err))?;
        Ok(Quantity::Number(shape[axis].clone()))
    }

    /// The library's error about what was read from `begin` to here.
    #[cold]
    #[inline(never)]
    pub(super) fn refused(&self, begin: usize, err: &crate::Error) -> ParseError {
        self.error_at(begin..self.last, err.to_string())
    }

    /// A mistake in what was read from `begin` to here.
    #[cold]
    pub(super) fn wrong(&self, begin: usize, message: impl Into<String>) -> ParseError {
        self.error_at(begin..self.last, message)
    }
}

impl<N: Number> Parsed<N> {
    /// Whether it is nothing but a shape as it is written here, which may be one in a list of sizes.
    fn is_shape_only(&self) -> bool {
        matches!(self.start, super::ChainStartOf::Shape(_))
            && self.ops.is_empty()
            && self.methods == super::foreign::Methods::Ours
    }
}
