//! Polynomials as expressions by Horner's rule.

use std::collections::HashSet;

use indexpr::{Binary, Expr, Graph, Node};
use shapetracker_base::list::sort_short_by_key;

use crate::poly::{Monomial, Poly, Var};

/// What terms have in common.
enum Factor {
    Name(Var),
    Number(i128),
}

/// Writes polynomials as expressions.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) graph: Graph,
    /// So many of the first variables are loops.
    pub(crate) loops: usize,
    /// What else comes first in products.
    pub(crate) leading: Vec<Expr>,
    /// What variables are in the graph.
    pub(crate) known: Vec<(Var, Expr)>,
}

impl Writer {
    pub(crate) fn variable(&mut self, var: Var, name: &str, range: std::ops::Range<i64>) -> Result<(), indexpr::Error> {
        let expr = self.graph.variable(name, range)?;
        self.known.push((var, expr));
        Ok(())
    }

    /// What names are that equal a polynomial.
    pub(crate) fn solved(&self, solved: &[(Var, Poly)]) -> Vec<(Expr, Poly)> {
        let known = |var: Var| self.known.iter().find(|known| known.0 == var).map(|known| known.1);
        solved.iter().filter_map(|(var, value)| Some((known(*var)?, value.clone()))).collect()
    }

    /// A number, which must fit 64 bits.
    pub(crate) fn number(&mut self, number: i128) -> Result<Expr, indexpr::Error> {
        self.check(&Poly::from(number))?;
        Ok(self.graph.int(number as i64))
    }

    /// A polynomial by Horner's rule: what most terms have in common is taken out of them, again and again.
    pub(crate) fn poly(&mut self, poly: &Poly) -> Result<Expr, indexpr::Error> {
        self.check(poly)?;
        self.sum(poly.terms())
    }

    /// Refuses factors past 64 bits, as an expression that has them is.
    fn check(&mut self, poly: &Poly) -> Result<(), indexpr::Error> {
        if poly.terms().iter().any(|term| i64::try_from(term.1.unsigned_abs()).is_err()) {
            self.refused()?;
        }
        Ok(())
    }

    /// The error of what leaves 64 bits.
    fn refused(&mut self) -> Result<Expr, indexpr::Error> {
        let most = self.graph.int(i64::MAX);
        self.graph.binary(Binary::Mul, most, most)
    }

    /// A sum of terms, of which negative ones are subtracted.
    fn sum(&mut self, terms: &[(Monomial, i128)]) -> Result<Expr, indexpr::Error> {
        let Some(first) = terms.first() else { return Ok(self.graph.int(0)) };
        // What all terms have in common first.
        let common = terms.iter().skip(1).fold(first.0, |common, term| common.common(term.0));
        let content = terms.iter().fold(0, |content, term| shapetracker_base::int::gcd(content, term.1));
        if common != Monomial::ONE || content > 1 {
            let inner: Vec<_> = terms.iter().filter_map(|&(m, c)| Some((m.over(common)?, c / content))).collect();
            let mut value = if inner == [(Monomial::ONE, 1)] { None } else { Some(self.sum(&inner)?) };
            // Indices first, then numbers and sizes: what is multiplied last is what most loops share.
            let mut factors: Vec<Expr> = Vec::new();
            for var in common.factors() {
                // Who calls this writes what is not known yet first, or none of it.
                let known = self.known.iter().find(|known| known.0 == var).map(|known| known.1);
                factors.push(match known {
                    Some(known) => known,
                    None => self.refused()?,
                });
            }
            sort_short_by_key(&mut factors, |factor| std::cmp::Reverse(self.leads(*factor)));
            // It fits: every factor does.
            let number = (content > 1).then(|| self.graph.int(i64::try_from(content).unwrap_or(i64::MAX)));
            let place = factors.iter().take_while(|factor| self.leads(**factor)).count();
            factors.splice(place..place, number);
            for factor in factors {
                value = Some(match value {
                    None => factor,
                    Some(value) => self.graph.binary(Binary::Mul, value, factor)?,
                });
            }
            return Ok(value.unwrap_or_else(|| self.graph.int(1)));
        }
        if let [(_, sign)] = terms {
            // It is 1 or -1: there is nothing in common.
            return Ok(self.graph.int(sign.signum() as i64));
        }
        let mut sum: Option<Expr> = None;
        let mut subtracted: Vec<Vec<(Monomial, i128)>> = Vec::new();
        let mut rest = terms.to_vec();
        while !rest.is_empty() {
            let (with, without): (Vec<_>, Vec<_>) = match self.factor(&rest) {
                Some(Factor::Name(name)) => rest.into_iter().partition(|term| term.0.exponent(name) > 0),
                Some(Factor::Number(number)) => rest.into_iter().partition(|term| term.1 % number == 0),
                // A number is added last.
                None => {
                    let first = rest.iter().position(|term| term.0 != Monomial::ONE).unwrap_or(0);
                    let first = rest.remove(first);
                    (vec![first], rest)
                }
            };
            if with.iter().all(|term| term.1 < 0) {
                subtracted.push(with.into_iter().map(|(monomial, factor)| (monomial, -factor)).collect());
            } else {
                let term = self.sum(&with)?;
                sum = Some(match sum {
                    None => term,
                    Some(sum) => self.graph.binary(Binary::Add, sum, term)?,
                });
            }
            rest = without;
        }
        let mut sum = sum.unwrap_or_else(|| self.graph.int(0));
        for terms in subtracted {
            let term = self.sum(&terms)?;
            sum = self.graph.binary(Binary::Sub, sum, term)?;
        }
        Ok(sum)
    }

    /// What is taken out of the terms that have it: what most of them have, and at least two; a name before a number.
    fn factor(&self, terms: &[(Monomial, i128)]) -> Option<Factor> {
        let is_index = |var: Var| self.known.iter().any(|known| known.0 == var && self.is_index(known.1));
        let mut best: Option<(usize, Factor)> = None;
        let mut offer = |count: usize, factor: Factor| {
            if count > 1 && best.as_ref().is_none_or(|(most, _)| count > *most) {
                best = Some((count, factor));
            }
        };
        let mut names: Vec<Var> =
            terms.iter().flat_map(|term| term.0.factors()).filter(|var| !is_index(*var)).collect();
        names.sort_unstable();
        names.dedup();
        // Of several the last one: sizes further in are parts of more strides.
        for &name in names.iter().rev() {
            offer(terms.iter().filter(|term| term.0.exponent(name) > 0).count(), Factor::Name(name));
        }
        // Each number once, with how many terms have it: a power of a sum has few numbers and very many terms.
        let mut numbers: Vec<i128> = terms.iter().map(|term| term.1.saturating_abs()).collect();
        numbers.sort_unstable();
        let counts: Vec<(i128, usize)> = numbers.chunk_by(|a, b| a == b).map(|equal| (equal[0], equal.len())).collect();
        let multiples = |number: i128| counts.iter().filter(|known| known.0 % number == 0).map(|known| known.1).sum();
        let mut offered = HashSet::new();
        for number in terms.iter().map(|term| term.1.saturating_abs()).filter(|number| *number > 1) {
            if offered.insert(number) {
                offer(multiples(number), Factor::Number(number));
            }
        }
        best.map(|(_, factor)| factor)
    }

    /// Whether an expression comes first in products.
    fn leads(&self, expr: Expr) -> bool {
        self.is_index(expr) || self.leading.contains(&expr)
    }

    /// Whether an expression is a loop.
    pub(crate) fn is_index(&self, expr: Expr) -> bool {
        matches!(self.graph.node(expr), Node::Variable(place) if place < self.loops)
    }
}
