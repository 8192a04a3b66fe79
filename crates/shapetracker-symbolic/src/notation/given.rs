//! What is said of names: ranges such as `T=1..4097` and `s=0..N`, definitions such as `H=8*h`, and conditions such as `s + L <= N`.

use std::ops::Range;
use std::sync::Arc;

use shapetracker::{Arithmetic, Operator, Reader, Role};
use shapetracker_base::text::{ParseError, Token, Tokens, check_length, quoted};

use super::reading::{Computed, variable};
use super::why_no_variable;
use crate::literal::Literal;
use crate::poly::{Poly, TooLarge, Var};
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
    /// The least and the greatest value of a name, where these are numbers, and what the other ends say.
    Range(Var, Option<i128>, Option<i128>, Vec<Literal>),
    /// What a name stands for.
    Definition(Var, Poly),
    /// Conditions that hold together.
    Conditions(Vec<Literal>),
}

/// Gives each name a variable of its own.
struct Collected<'a> {
    text: usize,
    names: &'a mut Vec<(Arc<str>, usize, Range<usize>)>,
    computed: Computed,
}

/// The reader of what is said of names.
type Items<'a, 'n, 'c> = Reader<'a, 'n, Collected<'c>>;

impl Arithmetic for Collected<'_> {
    type Number = Poly;

    const RANGE: &'static str = "128-bit integers";

    fn name(&mut self, name: &str, span: Range<usize>, _: Role) -> Result<Option<Poly>, String> {
        if let Some(place) = self.names.iter().position(|(known, ..)| **known == *name) {
            return Ok(Some(variable(place)));
        }
        // Of a name that no size may have it is said later that it does not occur.
        if let Some(why) = why_no_variable(name) {
            return Err(format!("{} cannot be the name of a size: {why}", quoted(name)));
        }
        if self.names.len() == MAX_NAMES {
            return Err(format!("there are more than {MAX_NAMES} names"));
        }
        self.names.push((name.into(), self.text, span));
        Ok(Some(variable(self.names.len() - 1)))
    }

    fn knows(&self, _: &str) -> bool {
        true
    }

    fn has_names(&self) -> bool {
        true
    }

    fn literal(&mut self, value: i128) -> Option<Poly> {
        Some(Poly::from(value))
    }

    fn operate(&mut self, operator: Operator, a: &Poly, b: &Poly) -> Result<Option<Poly>, String> {
        self.computed.operate(operator, a, b)
    }
}

impl Given {
    /// Reads a text of items with commas between them, of which there may be none.
    pub(super) fn read(&mut self, text: &str) -> Result<(), ParseError> {
        check_length(text)?;
        let number = self.texts.len();
        self.texts.push(text.into());
        let mut names = Collected { text: number, names: &mut self.names, computed: Computed::default() };
        let mut reader = Reader::new(text, &mut names);
        while reader.token != Token::End {
            let begin = reader.span.start;
            let what = item(&mut reader)?;
            let span = begin..reader.last;
            if let What::Range(var, ..) | What::Definition(var, _) = what {
                let given = |item: &Item| match item.what {
                    What::Range(known, ..) | What::Definition(known, _) => known == var,
                    What::Conditions(_) => false,
                };
                if self.items.iter().any(given) {
                    let name = Tokens::new(&text[begin..]).word();
                    return Err(reader.error_at(span, format!("{} is given twice", quoted(name))));
                }
            }
            self.items.push(Item { text: number, span, what });
            if !reader.take(Token::Comma) && reader.token != Token::End {
                return Err(Tokens::expected(&reader, "`,` or the end of the text"));
            }
        }
        self.without_cycles()
    }

    /// Whether something is said of a name.
    pub(super) fn is_about(&self, name: &str) -> bool {
        self.names.iter().any(|(known, ..)| **known == *name)
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
fn item(reader: &mut Items) -> Result<What, ParseError> {
    let mut ahead = Tokens::clone(reader);
    ahead.advance();
    if reader.token == Token::Name && (ahead.token == Token::Equals || ahead.at_word("in")) {
        let (name, span) = (reader.word(), reader.span.clone());
        let name = reader.arithmetic().name(name, span.clone(), Role::Other);
        let name = name.map_err(|message| reader.error_at(span, message))?;
        let var = name.and_then(|name| name.as_var()).unwrap_or(Var(0));
        reader.advance();
        let defines = reader.token == Token::Equals;
        reader.advance();
        return range_or_definition(reader, var, defines);
    }
    conditions(reader)
}

/// What follows the name and `=`: a range, or where that may be a polynomial.
fn range_or_definition(reader: &mut Items, var: Var, defines: bool) -> Result<What, ParseError> {
    let begin = reader.span.start;
    // An end with names in it is a condition.
    let mut ends = Vec::new();
    let mut bound = |reader: &Items, begin: usize, poly: &Poly, is_first: bool| -> Result<_, ParseError> {
        if let Some(number) = poly.number() {
            return Ok(Some(number));
        }
        let inside = match is_first {
            true => Poly::from(var).sub(poly),
            false => poly.sub(&Poly::from(var)).and_then(|rest| rest.plus_number(-1)),
        };
        let inside = inside.map_err(|err| reader.error_at(begin..reader.last, err.to_string()))?;
        ends.push(Literal::at_least(inside));
        Ok(None)
    };
    let mut lo = None;
    if !reader.is_symbol("..") {
        let what = if defines { "a range such as `1..`, or a polynomial" } else { "a range such as `1..`" };
        let first = reader.number(what, Role::Other)?;
        if defines && !reader.is_symbol("..") {
            return Ok(What::Definition(var, first));
        }
        lo = bound(reader, begin, &first, true)?;
    }
    if !reader.take_symbol("..") {
        return Err(Tokens::expected(reader, "`..`"));
    }
    let mut hi = None;
    if !matches!(reader.token, Token::End | Token::Comma) {
        let begin = reader.span.start;
        let end = reader.number("the end of a range", Role::Other)?;
        hi = bound(reader, begin, &end, false)?;
    }
    let message = match (lo, hi) {
        (Some(lo), Some(hi)) if lo >= hi => {
            format!("the range {lo}..{hi} is empty: a range is half-open, {lo}..{} is one value", lo.saturating_add(1))
        }
        (None, Some(i128::MIN)) => "the range is empty".into(),
        _ => return Ok(What::Range(var, lo, hi.map(|hi| hi - 1), ends)),
    };
    Err(reader.error_at(begin..reader.last, message))
}

/// One side of a comparison: a polynomial, or what it leaves when a number divides it.
struct Side {
    poly: Poly,
    modulus: Option<i128>,
    span: Range<usize>,
}

/// Comparisons one after the other, `0 <= s < N`, or one modulo a number, `p % 2 == 0`.
fn conditions(reader: &mut Items) -> Result<What, ParseError> {
    let mut literals = Vec::new();
    let mut left = side(reader)?;
    loop {
        let symbol = reader.word();
        if !["<=", ">=", "<", ">", "==", "!="].into_iter().any(|comparison| reader.is_symbol(comparison)) {
            if literals.is_empty() {
                let what = "`=` and a range, or a comparison such as `<=`";
                return Err(Tokens::expected(reader, what));
            }
            return Ok(What::Conditions(literals));
        }
        let operator = reader.span.clone();
        reader.advance();
        let right = side(reader)?;
        literals.push(comparison(reader, &left, symbol, operator, &right)?);
        left = right;
    }
}

fn side(reader: &mut Items) -> Result<Side, ParseError> {
    let begin = reader.span.start;
    let what = "a range such as `T=1..`, or a condition such as `s + L <= N`";
    let poly = reader.dividend(what)?;
    let mut modulus = None;
    if reader.take_symbol("%") {
        let Some(number @ 1..) = reader.value() else {
            return Err(Tokens::expected(reader, "a number, of which it is the remainder"));
        };
        modulus = Some(number);
        reader.advance();
    }
    Ok(Side { poly, modulus, span: begin..reader.last })
}

fn comparison(
    reader: &Items,
    left: &Side,
    symbol: &str,
    operator: Range<usize>,
    right: &Side,
) -> Result<Literal, ParseError> {
    let begin = left.span.start;
    let difference = |a: &Side, b: &Side, less: i128| {
        let difference = a.poly.sub(&b.poly).and_then(|difference| difference.plus_number(-less));
        difference.map_err(|err: TooLarge| reader.error_at(begin..reader.last, err.to_string()))
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
            return Err(reader.error_at(right.span.clone(), message));
        }
    };
    if !matches!(symbol, "==" | "!=") {
        return Err(reader.error_at(operator, "a remainder is compared by `==` or `!=`"));
    }
    if right.poly.number().is_none_or(|rest| !(0..modulus).contains(&rest)) {
        let message = format!("expected a remainder of {modulus}, which is a number from 0 to {}", modulus - 1);
        return Err(reader.error_at(right.span.clone(), message));
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
