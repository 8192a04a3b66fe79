//! Names as variables of a graph: ranges with two ends for names that may have none.

use std::ops::Range;
use std::sync::Arc;

use indexpr::{Expr, Graph, Syntax};
use shapetracker_base::text::ParseError;

use crate::expression::STEPS;
use crate::expression::read::Reader;
use crate::literal::{Literal, Relation};
use crate::poly::{Poly, Var, floor, within};
use crate::region::Region;
use crate::scope::Scope;

/// The work of a question about layouts that reading one expression may not do.
const WORK_OF_OTHERS: usize = 200_000;

/// The names of an expression.
#[derive(Debug)]
pub(super) struct Names {
    pub(super) scope: Scope,
    pub(super) needs: Vec<Literal>,
    pub(super) carriers: Vec<Carrier>,
}

/// A name as a variable of a graph.
///
/// Variables of graphs have two ends, within which all values must fit 64 bits. A name without an end gets one, which is right for
/// code and no knowledge: nothing that follows from it is kept.
#[derive(Clone, Debug)]
pub(super) struct Carrier {
    pub(super) name: Arc<str>,
    lo: Option<i64>,
    hi: Option<i64>,
    /// What it is, over the names of the scope.
    pub(super) value: Poly,
    /// Whether these ends hold for all values.
    pub(super) is_true: bool,
    /// Whether it is a size: at least 1, the end of a range, or part of a definition. Other names come first in products.
    pub(super) is_size: bool,
    /// Whether it is divided by, is not 0 and may have either sign: in a graph it is positive, or negative.
    pub(super) has_either_sign: bool,
}

impl Carrier {
    /// The range where names without an end have so many bits.
    fn range(&self, bits: u32) -> Range<i64> {
        with_ends(self.lo, self.hi, bits)
    }
}

/// The range between two ends, where those that are missing have so many bits.
pub(crate) fn with_ends(lo: Option<i64>, hi: Option<i64>, bits: u32) -> Range<i64> {
    let far = 1_i64 << bits;
    // Where the one end lies beyond what is chosen for the other, that is counted from there.
    let lowest = if hi.unwrap_or(0) > -far { -far } else { hi.unwrap_or(0).saturating_sub(far) };
    let lo = lo.unwrap_or(lowest);
    let highest = if lo < far { far - 1 } else { lo.saturating_add(far - 1) };
    let hi = hi.unwrap_or(highest);
    lo..hi.saturating_add(1).max(lo.saturating_add(1))
}

impl Names {
    pub(super) fn new(scope: Scope, needs: Vec<Literal>, divisors: &[Arc<str>]) -> Names {
        // What follows from the rest is no need.
        let mut needs = needs;
        needs.retain(|need| {
            let mut without = scope.clone();
            let vars = need.poly.vars();
            vars.iter().for_each(|var| without.set_range(*var, None, None));
            let without = tightened(without);
            !vars.iter().all(|var| without.names()[usize::from(var.0)].lo.is_some_and(|lo| lo >= 1))
        });
        let scope = tightened(scope);
        let carriers = within(STEPS, || carriers(&scope, divisors));
        Names { scope, needs, carriers }
    }

    /// A graph of the names, where those without an end have so many bits.
    fn graph(&self, bits: u32) -> Result<Graph, indexpr::Error> {
        let mut graph = Graph::new();
        for carrier in &self.carriers {
            graph.variable(&carrier.name, carrier.range(bits))?;
        }
        Ok(graph)
    }

    /// What the variables of a graph are.
    pub(super) fn values(&self, graph: &Graph) -> Vec<Poly> {
        let value = |name: &str| self.carriers.iter().find(|carrier| *carrier.name == *name);
        let variables = graph.variables().iter();
        variables.map(|variable| value(&variable.name).map_or_else(Poly::zero, |found| found.value.clone())).collect()
    }

    /// Refuses what is read in another way where a divisor of either sign is negative: rounding towards zero, or up.
    pub(super) fn check_signs(&self, graph: &Graph, value: Expr, text: &str, syntax: Syntax) -> Result<(), ParseError> {
        const MOST: usize = 3;
        let signs = self.carriers.iter().enumerate().filter(|(_, carrier)| carrier.has_either_sign);
        let places: Vec<usize> = signs.map(|(place, _)| place).collect();
        let Some(first) = places.first().map(|&place| &self.carriers[place].name) else { return Ok(()) };
        let refused = || {
            let message = format!("what this is depends on the sign of {first}: say `{first}=1..`, or `{first}=..0`");
            Err(ParseError::new(message, text, 0..text.trim_end().len()))
        };
        if places.len() > MOST || syntax == Syntax::C {
            return refused();
        }
        for negative in 1..1_usize << places.len() {
            let mut carriers = self.carriers.clone();
            for (bit, &place) in places.iter().enumerate().filter(|(bit, _)| negative >> bit & 1 == 1) {
                let _ = bit;
                (carriers[place].lo, carriers[place].hi) = (None, Some(-1));
            }
            let names = Names { scope: Scope::new(), needs: Vec::new(), carriers };
            let (other, (), found) = parsed(&names, text, syntax, |_| Ok(()))?;
            let texts = [(graph, value), (&other, found)].map(|(graph, value)| graph.text(value, Syntax::Python).ok());
            if texts[0] != texts[1] {
                return refused();
            }
        }
        Ok(())
    }

    /// What is read on all values of the names.
    pub(super) fn reader(&self) -> Option<Reader> {
        let region = Region::of(&self.scope, &[])?;
        // Most lines take a hundredth of what a question about layouts may.
        region.shared.spend(WORK_OF_OTHERS);
        Some(Reader::new(region))
    }
}

/// The names of a scope as variables, where what is divided by is not 0.
fn carriers(scope: &Scope, divisors: &[Arc<str>]) -> Vec<Carrier> {
    let region = Region::of(scope, &[]);
    let is_not_zero = |poly: &Poly| {
        let Some(region) = &region else { return false };
        region.reduce(poly).is_ok_and(|poly| region.known_eq(&poly) == Some(false))
    };
    let known = |poly: &Poly, least: i128, sign: i128| {
        let Some(region) = &region else { return false };
        let moved = region.reduce(poly).and_then(|poly| poly.scale(sign)?.plus_number(-least));
        moved.is_ok_and(|poly| region.known_ge(&poly) == Some(true))
    };
    let names = scope.names().iter().enumerate().map(|(place, name)| {
        let ends = [name.lo, name.hi].map(|end| end.and_then(|end| i64::try_from(end).ok()));
        (name.name.clone(), Poly::from(Var(place as u8)), ends)
    });
    let definitions = scope.definitions().iter().map(|(name, poly)| {
        let number = poly.number().and_then(|number| i64::try_from(number).ok());
        (name.clone(), poly.clone(), [number; 2])
    });
    let is_part = |value: &Poly| {
        let Some(var) = value.as_var() else { return true };
        let ends = scope.given().iter().filter(|literal| literal.relation == Relation::AtLeast);
        let ends = ends.filter_map(|literal| literal.poly.linear_in(var));
        let mut ends = ends.filter_map(|(by, rest)| Some(by.number()? > 0 && !rest.vars().is_empty()));
        scope.definitions().iter().any(|(_, poly)| poly.has(var)) || ends.any(|is_end| is_end)
    };
    let carrier = |(name, value, [mut lo, mut hi]): (Arc<str>, Poly, [Option<i64>; 2])| {
        let is_divisor = divisors.contains(&name);
        if lo.is_none_or(|lo| lo < 1) && known(&value, 1, 1) {
            lo = Some(1);
        } else if lo.is_none() && known(&value, 0, 1) {
            lo = Some(0);
        }
        if hi.is_none_or(|hi| hi > -1) && known(&value, 1, -1) {
            hi = Some(-1);
        }
        let contains_zero = lo.is_none_or(|lo| lo <= 0) && hi.is_none_or(|hi| hi >= 0);
        let has_either_sign = is_divisor && contains_zero && is_not_zero(&value);
        if has_either_sign {
            (lo, hi) = (Some(1), hi.filter(|hi| *hi > 0));
        }
        // A half-open range ends behind its greatest value, which must be a number.
        let is_true = lo.is_some() && hi.is_some_and(|hi| hi < i64::MAX) && !has_either_sign;
        let is_size = lo.is_some_and(|lo| lo >= 1) || is_part(&value);
        Carrier { name, value, lo, hi, is_true, is_size, has_either_sign }
    };
    names.chain(definitions).map(carrier).collect()
}

/// A scope with the ends of ranges that follow from conditions: from `0 <= z < Z` that `Z` is at least 1.
fn tightened(mut scope: Scope) -> Scope {
    for _ in 0..3 {
        let mut changed = false;
        for literal in scope.given().to_vec() {
            if literal.modulus.is_some() || literal.relation != Relation::AtLeast {
                continue;
            }
            for var in literal.poly.vars() {
                let Some((by, rest)) = literal.poly.linear_in(var) else { continue };
                let Some(by) = by.number().filter(|by| by.unsigned_abs() < 1 << 62) else { continue };
                let Some(most) = greatest(&scope, &rest) else { continue };
                let name = &scope.names()[usize::from(var.0)];
                let (mut lo, mut hi) = (name.lo, name.hi);
                // by * var >= -most.
                if by > 0 {
                    let least = -floor(most, by);
                    lo = Some(lo.map_or(least, |lo| lo.max(least)));
                } else {
                    let greatest = floor(most, -by);
                    hi = Some(hi.map_or(greatest, |hi| hi.min(greatest)));
                }
                if (lo, hi) != (name.lo, name.hi) && lo.zip(hi).is_none_or(|(lo, hi)| lo <= hi) {
                    changed = true;
                    scope.set_range(var, lo, hi);
                }
            }
        }
        if !changed {
            break;
        }
    }
    scope
}

/// The greatest value of a linear polynomial by the ranges of its names, if that is small.
fn greatest(scope: &Scope, poly: &Poly) -> Option<i128> {
    let mut most = 0_i128;
    for &(monomial, factor) in poly.terms() {
        let mut vars = monomial.factors();
        let value = match (vars.next(), vars.next()) {
            (None, _) => 1,
            (Some(var), None) => {
                let name = scope.names().get(usize::from(var.0))?;
                if factor > 0 { name.hi? } else { name.lo? }
            }
            _ => return None,
        };
        most = most.checked_add(factor.checked_mul(value)?)?;
    }
    (most.unsigned_abs() < 1 << 62).then_some(most)
}

/// Expressions in a graph of the names with the widest ranges with which they fit.
pub(super) fn fitted(names: &Names, from: &Graph, roots: &[Expr]) -> Result<(Graph, Vec<Expr>), indexpr::Error> {
    widest(|bits| {
        let mut graph = names.graph(bits)?;
        let made = import(&mut graph, from, roots)?;
        Ok((graph, made))
    })
}

/// Expressions of a graph in another one, whose variables of the same names they have.
pub(crate) fn import(graph: &mut Graph, from: &Graph, roots: &[Expr]) -> Result<Vec<Expr>, indexpr::Error> {
    graph.import(from, roots, |graph, place| {
        let name = &from.variables()[place].name;
        let here = graph.variables().iter().find(|variable| variable.name == *name);
        let range = here.map_or_else(|| from.variables()[place].range.clone(), |variable| variable.range.clone());
        graph.variable(name, range)
    })
}

/// What is made where names without an end have as many bits as possible.
pub(crate) fn widest<T, E>(mut made: impl FnMut(u32) -> Result<T, E>) -> Result<T, E> {
    let (mut least, mut most) = (0, 31);
    let mut found = made(most);
    if found.is_ok() {
        return found;
    }
    while most - least > 1 {
        let middle = least + (most - least) / 2;
        match made(middle) {
            Ok(other) => (least, found) = (middle, Ok(other)),
            Err(err) => {
                most = middle;
                found = found.map_err(|_| err);
            }
        }
    }
    found
}

/// An expression of a text, in a graph of the names in which something may be made before it.
pub(super) fn parsed<T>(
    names: &Names,
    text: &str,
    syntax: Syntax,
    mut first: impl FnMut(&mut Graph) -> Result<T, indexpr::Error>,
) -> Result<(Graph, T, Expr), ParseError> {
    widest(|bits| {
        let refused = |err: indexpr::Error| ParseError::new(err.reason().to_string(), text, 0..text.len());
        let mut graph = names.graph(bits).map_err(refused)?;
        let before = first(&mut graph).map_err(refused)?;
        let value = graph.parse(text, syntax)?;
        Ok((graph, before, value))
    })
}
