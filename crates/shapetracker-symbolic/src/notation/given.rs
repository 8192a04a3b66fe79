//! What is said of names: ranges such as `T=1..4097`, definitions such as `H=8*h`, and conditions such as `s + L <= N`.

use std::ops::Range;
use std::sync::Arc;

use indexpr::text::{ParseError, check_length, quoted};

use super::lexer::Token;
use super::parser::{Meaning, Parser, Role};
use super::why_no_name;
use crate::literal::Literal;
use crate::poly::{Poly, Var};
use crate::scope::MAX_NAMES;

/// Everything that is said of names, in polynomials over [`Given::names`].
#[derive(Clone, Debug, Default)]
pub(super) struct Given {
    pub(super) texts: Vec<Arc<str>>,
    pub(super) items: Vec<Item>,
    /// The names that occur, and where they occur first: the number of a text, and bytes of it.
    pub(super) names: Vec<(Arc<str>, usize, Range<usize>)>,
}

/// One thing that is said.
#[derive(Clone, Debug)]
pub(super) struct Item {
    /// The number of the text, and the bytes there.
    pub(super) text: usize,
    pub(super) span: Range<usize>,
    pub(super) what: What,
}

#[derive(Clone, Debug)]
pub(super) enum What {
    /// The least and the greatest value of a name.
    Range(Var, Option<i128>, Option<i128>),
    /// What a name stands for.
    Definition(Var, Poly),
    /// Conditions that hold together.
    Conditions(Vec<Literal>),
}

/// Gives each name a variable of its own.
struct Collected<'a> {
    text: usize,
    names: &'a mut Vec<(Arc<str>, usize, Range<usize>)>,
}

impl Meaning for Collected<'_> {
    fn meaning(&mut self, name: &str, span: Range<usize>, _: Role) -> Result<Poly, String> {
        if let Some(place) = self.names.iter().position(|(known, ..)| **known == *name) {
            return Ok(Poly::from(Var(place as u8)));
        }
        if let Some(why) = why_no_name(name) {
            return Err(format!("{} cannot be the name of a size: {why}", quoted(name)));
        }
        if self.names.len() == MAX_NAMES {
            return Err(format!("there are more than {MAX_NAMES} names"));
        }
        self.names.push((name.into(), self.text, span));
        Ok(Poly::from(Var(self.names.len() as u8 - 1)))
    }
}

impl Given {
    /// Reads a text of items with commas between them, of which there may be none.
    pub(super) fn read(&mut self, text: &str) -> Result<(), ParseError> {
        check_length(text)?;
        let number = self.texts.len();
        self.texts.push(text.into());
        let mut names = Collected { text: number, names: &mut self.names };
        let mut parser = Parser::new(text, &mut names);
        while parser.token != Token::End {
            let begin = parser.span.start;
            let what = item(&mut parser)?;
            let span = begin..parser.last;
            if let What::Range(var, ..) | What::Definition(var, _) = what {
                let given = |item: &Item| match item.what {
                    What::Range(known, ..) | What::Definition(known, _) => known == var,
                    What::Conditions(_) => false,
                };
                if self.items.iter().any(given) {
                    let name = parser.text[begin..].split(|c: char| !c.is_alphanumeric() && c != '_').next();
                    let message = format!("{} is given twice", quoted(name.unwrap_or_default()));
                    return Err(parser.error_at(span, message));
                }
            }
            self.items.push(Item { text: number, span, what });
            if !parser.take(",") && parser.token != Token::End {
                return Err(parser.expected("`,` or the end of the text"));
            }
        }
        self.without_cycles()
    }

    /// The definition of a name.
    pub(super) fn definition(&self, name: &str) -> Option<&Poly> {
        let var = self.names.iter().position(|(known, ..)| **known == *name)?;
        self.items.iter().find_map(|item| match &item.what {
            What::Definition(defined, poly) if usize::from(defined.0) == var => Some(poly),
            _ => None,
        })
    }

    /// A mistake at an item.
    pub(super) fn error_at(&self, item: &Item, message: impl Into<String>) -> ParseError {
        ParseError::new(message, self.texts[item.text].clone(), item.span.clone())
    }

    /// Refuses definitions that lead back to themselves.
    fn without_cycles(&self) -> Result<(), ParseError> {
        // A name is good when all names in its definition are; what is left when no more get good are cycles, and what
        // leads to them.
        let mut open: Vec<(&Item, Var, Vec<Var>)> = (self.items.iter())
            .filter_map(|item| match &item.what {
                What::Definition(var, poly) => Some((item, *var, poly.vars())),
                _ => None,
            })
            .collect();
        loop {
            let is_open = |var: &Var| open.iter().any(|(_, defined, _)| defined == var);
            let still: Vec<bool> = open.iter().map(|(_, _, vars)| vars.iter().any(is_open)).collect();
            if still.iter().all(|&still| still) {
                break;
            }
            let mut still = still.into_iter();
            open.retain(|_| still.next() == Some(true));
        }
        match open.first() {
            None => Ok(()),
            Some((item, var, _)) => {
                let name = &self.names[usize::from(var.0)].0;
                Err(self.error_at(item, format!("the definition of {} leads back to itself", quoted(name))))
            }
        }
    }
}

/// `x=0..4`, `x in 0..4`, `H = 8*h`, `s + L <= N`, `p % 2 == 0`.
fn item(parser: &mut Parser) -> Result<What, ParseError> {
    let second = parser.second();
    if parser.token == Token::Name && (second.0 == Token::Symbol("=") || second == (Token::Name, "in")) {
        let name = parser.name(Role::Other)?;
        let var = name.as_var().unwrap_or(Var(0));
        let defines = parser.at("=");
        parser.advance();
        return range_or_definition(parser, var, defines);
    }
    conditions(parser)
}

/// What follows the name and `=`: a range, or where that may be a polynomial.
fn range_or_definition(parser: &mut Parser, var: Var, defines: bool) -> Result<What, ParseError> {
    let begin = parser.span.start;
    let bound = |parser: &Parser, begin: usize, poly: &Poly| {
        poly.number().ok_or_else(|| {
            let message = "the end of a range is a number: say the rest as a condition, such as `L <= N`";
            parser.error_at(begin..parser.last, message)
        })
    };
    let lo = if parser.at("..") {
        None
    } else {
        let what = if defines { "a range such as `1..`, or a polynomial" } else { "a range such as `1..`" };
        let first = parser.number(what, Role::Other)?;
        if defines && !parser.at("..") {
            return Ok(What::Definition(var, first));
        }
        Some(bound(parser, begin, &first)?)
    };
    if !parser.take("..") {
        return Err(parser.expected("`..`"));
    }
    let hi = if matches!(parser.token, Token::End) || parser.at(",") {
        None
    } else {
        let begin = parser.span.start;
        let end = parser.number("the end of a range", Role::Other)?;
        Some(bound(parser, begin, &end)?)
    };
    let message = match (lo, hi) {
        (Some(lo), Some(hi)) if lo >= hi => {
            format!("the range {lo}..{hi} is empty: a range is half-open, {lo}..{} is one value", lo.saturating_add(1))
        }
        (None, Some(i128::MIN)) => "the range is empty".into(),
        _ => return Ok(What::Range(var, lo, hi.map(|hi| hi - 1))),
    };
    Err(parser.error_at(begin..parser.last, message))
}

/// One side of a comparison: a polynomial, or what it leaves when a number divides it.
struct Side {
    poly: Poly,
    modulus: Option<i128>,
    span: Range<usize>,
}

/// Comparisons one after the other, `0 <= s < N`, or one modulo a number, `p % 2 == 0`.
fn conditions(parser: &mut Parser) -> Result<What, ParseError> {
    let mut literals = Vec::new();
    let mut left = side(parser)?;
    loop {
        let Token::Symbol(symbol @ ("<=" | ">=" | "<" | ">" | "==" | "!=")) = parser.token else {
            if literals.is_empty() {
                let what = "`=` and a range, or a comparison such as `<=`";
                return Err(parser.expected(what));
            }
            return Ok(What::Conditions(literals));
        };
        let operator = parser.span.clone();
        parser.advance();
        let right = side(parser)?;
        literals.push(comparison(parser, &left, symbol, operator, &right)?);
        left = right;
    }
}

fn side(parser: &mut Parser) -> Result<Side, ParseError> {
    let begin = parser.span.start;
    parser.remainders = true;
    let poly = parser.number("a range such as `T=1..`, or a condition such as `s + L <= N`", Role::Other)?;
    parser.remainders = false;
    let mut modulus = None;
    if parser.take("%") {
        let Token::Number(Some(number @ 1..)) = parser.token else {
            return Err(parser.expected("a number, of which it is the remainder"));
        };
        modulus = Some(number);
        parser.advance();
    }
    Ok(Side { poly, modulus, span: begin..parser.last })
}

fn comparison(
    parser: &Parser,
    left: &Side,
    symbol: &str,
    operator: Range<usize>,
    right: &Side,
) -> Result<Literal, ParseError> {
    let begin = left.span.start;
    let difference = |a: &Side, b: &Side, less: i128| {
        let difference = a.poly.sub(&b.poly).and_then(|difference| difference.plus_number(-less));
        parser.checked(begin, difference)
    };
    let modulus = match (left.modulus, right.modulus) {
        (None, None) => {
            return Ok(match symbol {
                "<=" => Literal::at_least(difference(right, left, 0)?),
                "<" => Literal::at_least(difference(right, left, 1)?),
                ">=" => Literal::at_least(difference(left, right, 0)?),
                ">" => Literal::at_least(difference(left, right, 1)?),
                "==" => Literal::equal(difference(left, right, 0)?),
                _ => Literal::not_equal(difference(left, right, 0)?),
            });
        }
        (Some(modulus), None) => modulus,
        _ => {
            let message = "a remainder stands left of a comparison, and a number right of it, as in `p % 2 == 0`";
            return Err(parser.error_at(right.span.clone(), message));
        }
    };
    if !matches!(symbol, "==" | "!=") {
        return Err(parser.error_at(operator, "a remainder is compared by `==` or `!=`"));
    }
    if right.poly.number().is_none_or(|rest| !(0..modulus).contains(&rest)) {
        let message = format!("expected a remainder of {modulus}, which is a number from 0 to {}", modulus - 1);
        return Err(parser.error_at(right.span.clone(), message));
    }
    let difference = difference(left, right, 0)?;
    Ok(match (modulus, symbol) {
        // Everything is the same modulo 1, and the remainder is 0.
        (1, "==") => Literal::equal(Poly::zero()),
        (1, _) => Literal::not_equal(Poly::zero()),
        (_, "==") => Literal::divisible(difference, modulus),
        _ => Literal { modulus: Some(modulus), ..Literal::not_equal(difference) },
    })
}
