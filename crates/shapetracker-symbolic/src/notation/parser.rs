//! What chains, views and conditions have in common: a place in a text, polynomials, and lists of them.

use std::ops::Range;

use indexpr::text::{ParseError, quoted};
use shapetracker::MAX_RANK;

use super::lexer::{Lexer, Token};
use crate::poly::{Poly, TooLarge};

/// What a number stands for, which decides what a name in it may be when nobody says so.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    Stride,
    Other,
}

/// Gives names their meaning.
pub(super) trait Meaning {
    /// The polynomial that a name stands for, or why it cannot be a name here.
    fn meaning(&mut self, name: &str, span: Range<usize>, role: Role) -> Result<Poly, String>;
}

/// The arithmetic that is done for one text, in terms of polynomials: far more than any text has that people write, and
/// little enough to be done at once.
pub(super) const MOST_WORK: usize = 1 << 19;
/// How deep parentheses may nest in a number.
const DEEPEST: u32 = 64;

pub(super) struct Parser<'a, 'n> {
    pub(super) text: &'a str,
    lexer: Lexer<'a>,
    /// The next token, and its bytes.
    pub(super) token: Token,
    pub(super) span: Range<usize>,
    /// The end of the token before.
    pub(super) last: usize,
    names: &'n mut dyn Meaning,
    /// Whether `%` may follow a product, for somebody else to read.
    pub(super) remainders: bool,
    /// The numbers that were read, and their bytes.
    pub(super) numbers: Vec<(Poly, Range<usize>)>,
    work: usize,
}

impl<'a, 'n> Parser<'a, 'n> {
    pub(super) fn new(text: &'a str, names: &'n mut dyn Meaning) -> Self {
        let mut lexer = Lexer::new(text);
        let (token, span) = lexer.next();
        Parser { text, lexer, token, span, last: 0, names, remainders: false, numbers: Vec::new(), work: 0 }
    }

    /// The text of the next token.
    pub(super) fn word(&self) -> &'a str {
        &self.text[self.span.clone()]
    }

    pub(super) fn advance(&mut self) {
        self.last = self.span.end;
        (self.token, self.span) = self.lexer.next();
    }

    /// Goes on if the next token is the given symbol.
    pub(super) fn take(&mut self, symbol: &str) -> bool {
        let found = self.at(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub(super) fn at(&self, symbol: &str) -> bool {
        matches!(self.token, Token::Symbol(found) if found == symbol)
    }

    pub(super) fn at_word(&self, word: &str) -> bool {
        self.token == Token::Name && self.word() == word
    }

    /// The tokens after the next one.
    pub(super) fn ahead(&self) -> Lexer<'a> {
        self.lexer
    }

    /// The token after the next, and its text.
    pub(super) fn second(&self) -> (Token, &'a str) {
        let (token, span) = self.ahead().next();
        (token, &self.text[span])
    }

    /// Whether a name stands here with `=` after it: that of an argument.
    pub(super) fn at_argument_name(&self) -> bool {
        self.token == Token::Name && self.second().0 == Token::Symbol("=")
    }

    pub(super) fn error_at(&self, span: Range<usize>, message: impl Into<String>) -> ParseError {
        ParseError::new(message, self.text, span)
    }

    /// The error that the next token is not what should stand there.
    pub(super) fn expected(&self, what: &str) -> ParseError {
        match self.token {
            Token::End => self.error_at(self.last..self.last, format!("expected {what}, found the end of the text")),
            _ => self.error_at(self.span.clone(), format!("expected {what}, found {}", quoted(self.word()))),
        }
    }

    /// Goes past an opening parenthesis or bracket and says how it closes.
    pub(super) fn open(&mut self, what: &str) -> Result<Token, ParseError> {
        let Token::Open(open) = self.token else {
            return Err(self.expected(what));
        };
        self.advance();
        Ok(Token::Close(if open == b'(' { b')' } else { b']' }))
    }

    pub(super) fn close(&mut self, close: Token) -> Result<(), ParseError> {
        if self.token != close {
            return Err(self.expected(closing(close)));
        }
        self.advance();
        Ok(())
    }

    /// Goes past a comma, and demands one unless the list closes.
    pub(super) fn comma_or(&mut self, close: Token) -> Result<(), ParseError> {
        if self.take(",") || self.token == close {
            return Ok(());
        }
        self.undivided()?;
        Err(self.expected(&format!("`,` or {}", closing(close))))
    }

    /// Whether what opens here is a tuple rather than a number in parentheses, that is, whether it is empty or has a comma
    /// of its own; and the token after what closes it.
    pub(super) fn tuple_ahead(&self) -> (bool, Token) {
        let mut lexer = self.ahead();
        let (mut depth, mut is_tuple, mut is_empty) = (0_usize, self.token == Token::Open(b'['), true);
        loop {
            let (token, _) = lexer.next();
            match token {
                Token::End => return (is_tuple, Token::End),
                Token::Close(_) if depth == 0 => return (is_tuple || is_empty, lexer.next().0),
                Token::Close(_) => depth -= 1,
                Token::Open(_) => depth += 1,
                Token::Symbol("," | ":") if depth == 0 => is_tuple = true,
                _ => {}
            }
            is_empty = false;
        }
    }

    /// Whether the first item of what opens here is a tuple.
    pub(super) fn holds_a_tuple(&self) -> bool {
        let mut lexer = self.ahead();
        match lexer.next() {
            (Token::Open(b'['), _) => true,
            (Token::Open(_), _) => {
                // A comma right inside of it, before it closes.
                let mut depth = 0_usize;
                loop {
                    match lexer.next().0 {
                        Token::End => return false,
                        Token::Close(_) if depth == 0 => return false,
                        Token::Close(_) => depth -= 1,
                        Token::Open(_) => depth += 1,
                        Token::Symbol(",") if depth == 0 => return true,
                        _ => {}
                    }
                }
            }
            (Token::Name, span) => &self.text[span] == "None",
            _ => false,
        }
    }

    /// The end of the text.
    pub(super) fn end(&self) -> Result<(), ParseError> {
        if self.token == Token::End {
            return Ok(());
        }
        self.undivided()?;
        Err(self.expected("the end of the text"))
    }

    /// `(2, T)` or `[2, T]`: the numbers in it.
    pub(super) fn numbers(&mut self, what: &str, role: Role) -> Result<Vec<Poly>, ParseError> {
        let close = self.open("a tuple such as `(2, T)`")?;
        let mut numbers = Vec::new();
        self.items(close, |parser| {
            numbers.push(parser.number(what, role)?);
            Ok(())
        })?;
        Ok(numbers)
    }

    /// `((0, 2), (1, T))`: the ranges in it.
    pub(super) fn ranges(&mut self) -> Result<Vec<(Poly, Poly)>, ParseError> {
        let close = self.open("a tuple of ranges such as `((0, 2), (1, T))`")?;
        let mut ranges = Vec::new();
        self.items(close, |parser| {
            ranges.push(parser.pair("a range `(begin, end)`")?);
            Ok(())
        })?;
        Ok(ranges)
    }

    /// `(1, T)` or `[1, T]`.
    pub(super) fn pair(&mut self, what: &str) -> Result<(Poly, Poly), ParseError> {
        let close = self.open(what)?;
        let first = self.number("a number", Role::Other)?;
        if !self.take(",") {
            self.undivided()?;
            return Err(self.expected(&format!("`,` and the second number of {what}")));
        }
        let second = self.number("a number", Role::Other)?;
        self.take(",");
        self.close(close)?;
        Ok((first, second))
    }

    /// Items with commas between them, and what closes them.
    pub(super) fn items(
        &mut self,
        close: Token,
        mut item: impl FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let mut count = 0;
        while self.token != close {
            if count == MAX_RANK {
                return Err(self.expected(&format!("at most {MAX_RANK} axes")));
            }
            item(self)?;
            count += 1;
            self.comma_or(close)?;
        }
        self.advance();
        Ok(())
    }

    /// A polynomial: `+`, `-`, `*`, `**` and parentheses over names and numbers.
    pub(super) fn number(&mut self, what: &str, role: Role) -> Result<Poly, ParseError> {
        let begin = self.span.start;
        let number = self.sum(what, role, 0)?;
        self.numbers.push((number.clone(), begin..self.last));
        Ok(number)
    }

    /// A polynomial that is a number, such as that of an axis.
    pub(super) fn integer(&mut self, what: &str) -> Result<i64, ParseError> {
        let begin = self.span.start;
        let number = self.number(what, Role::Other)?;
        let message = match number.number().map(i64::try_from) {
            Some(Ok(number)) => return Ok(number),
            Some(Err(_)) => format!("expected {what} within the range of 64-bit integers"),
            None => format!("expected {what}, which is a number and has no names"),
        };
        Err(self.error_at(begin..self.last, message))
    }

    fn sum(&mut self, what: &str, role: Role, depth: u32) -> Result<Poly, ParseError> {
        let begin = self.span.start;
        let mut sum = self.product(what, role, depth)?;
        loop {
            let minus = self.at("-");
            if !minus && !self.at("+") {
                return Ok(sum);
            }
            self.advance();
            let term = self.product("a number", role, depth)?;
            if self.at("%") {
                return Err(self.expected("parentheses around what is divided, as in `(a + b) % 4 == 0`"));
            }
            self.charge(begin, sum.terms().len() + term.terms().len())?;
            sum = self.checked(begin, if minus { sum.sub(&term) } else { sum.add(&term) })?;
        }
    }

    fn product(&mut self, what: &str, role: Role, depth: u32) -> Result<Poly, ParseError> {
        let begin = self.span.start;
        let mut product = self.signed(what, role, depth)?;
        loop {
            if self.take("*") {
                let factor = self.signed("a number", role, depth)?;
                product = self.times(begin, &product, &factor)?;
                continue;
            }
            if !(self.remainders && depth == 0 && self.at("%")) {
                self.undivided()?;
            }
            return Ok(product);
        }
    }

    fn signed(&mut self, what: &str, role: Role, depth: u32) -> Result<Poly, ParseError> {
        let (begin, mut negative, mut signs) = (self.span.start, false, 0);
        while self.at("-") || self.at("+") {
            negative ^= self.at("-");
            signs += 1;
            self.advance();
        }
        let power = self.power(if signs > 0 { "a number" } else { what }, role, depth)?;
        if negative { self.checked(begin, power.neg()) } else { Ok(power) }
    }

    fn power(&mut self, what: &str, role: Role, depth: u32) -> Result<Poly, ParseError> {
        const EXPONENT: &str = "an exponent, which is a number from 0 to 16";
        let begin = self.span.start;
        let base = self.atom(what, role, depth)?;
        if !self.take("**") {
            return Ok(base);
        }
        let Token::Number(Some(exponent @ 0..=16)) = self.token else {
            return Err(self.expected(EXPONENT));
        };
        self.advance();
        if self.at("**") {
            return Err(self.expected("parentheses around one of two powers"));
        }
        (0..exponent).try_fold(Poly::one(), |power, _| self.times(begin, &power, &base))
    }

    fn atom(&mut self, what: &str, role: Role, depth: u32) -> Result<Poly, ParseError> {
        match self.token {
            Token::Number(Some(number)) => {
                self.advance();
                Ok(Poly::from(number))
            }
            Token::Number(None) => Err(self.expected(&format!("{what} within the range of 128-bit integers"))),
            Token::NotWhole => Err(self.expected(&format!("{what}, which is a whole number or has names"))),
            Token::Name if self.second().0 == Token::Open(b'(') => {
                let message = format!(
                    "expected {what}, found {}: sizes are made of names and numbers with + - * and **",
                    quoted(self.word())
                );
                Err(self.error_at(self.span.clone(), message))
            }
            Token::Name if !self.at_argument_name() => self.name(role),
            Token::Open(b'(') if depth == DEEPEST => {
                Err(self.expected(&format!("at most {DEEPEST} parentheses around one another")))
            }
            Token::Open(b'(') => {
                self.advance();
                let sum = self.sum("a number", role, depth + 1)?;
                self.close(Token::Close(b')'))?;
                Ok(sum)
            }
            _ => Err(self.expected(what)),
        }
    }

    /// The polynomial that the name that stands here is.
    pub(super) fn name(&mut self, role: Role) -> Result<Poly, ParseError> {
        let found = self.names.meaning(self.word(), self.span.clone(), role);
        let poly = found.map_err(|message| self.error_at(self.span.clone(), message))?;
        self.advance();
        Ok(poly)
    }

    /// Refuses a division where it stands, and says what to write instead.
    fn undivided(&self) -> Result<(), ParseError> {
        let Token::Symbol("/" | "//" | "%") = self.token else { return Ok(()) };
        // What is divided and by what, where both are one word.
        let before = self.text[..self.span.start].trim_end();
        let name = &before[before
            .rfind(|c: char| !c.is_alphanumeric() && c != '_')
            .map_or(0, |end| end + before[end..].chars().next().map_or(1, char::len_utf8))..];
        let (name, number) = match self.second() {
            (Token::Number(Some(2..)) | Token::Name, number)
                if name.starts_with(|c: char| c.is_alphabetic() || c == '_') =>
            {
                (name, number)
            }
            _ => ("H", "8"),
        };
        let quotient = name.to_lowercase();
        let quotient = if quotient == name { format!("{name}_{number}") } else { quotient };
        let message = format!(
            "sizes have no division: say that `{name} = {number}*{quotient}`, and write `{quotient}` for the quotient"
        );
        Err(self.error_at(self.span.clone(), message))
    }

    fn times(&mut self, begin: usize, a: &Poly, b: &Poly) -> Result<Poly, ParseError> {
        self.charge(begin, a.terms().len() * b.terms().len())?;
        self.checked(begin, a.mul(b))
    }

    /// Counts work, so that a short text cannot ask for more than can be done at once.
    fn charge(&mut self, begin: usize, work: usize) -> Result<(), ParseError> {
        self.work = self.work.saturating_add(work);
        if self.work <= MOST_WORK {
            return Ok(());
        }
        Err(self.error_at(begin..self.last, "the polynomials of the text have more terms than are computed with"))
    }

    pub(super) fn checked<T>(&self, begin: usize, result: Result<T, TooLarge>) -> Result<T, ParseError> {
        result.map_err(|err| self.error_at(begin..self.last, err.to_string()))
    }
}

pub(super) fn closing(close: Token) -> &'static str {
    match close {
        Token::Close(b']') => "`]`",
        Token::End => "the end of the text",
        _ => "`)`",
    }
}
