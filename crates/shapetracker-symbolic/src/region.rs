//! A set of values of the names: ranges, conditions, and a few points known to lie in it.

use crate::literal::{Literal, Relation};
use crate::poly::{Poly, Var};
use crate::scope::Scope;

/// Whether a condition holds on a region.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Truth {
    /// For all values: proved.
    Always,
    /// For no values: proved.
    Never,
    /// Not proved either way; with values at which it holds, and values at which it does not, where such are known.
    Depends {
        /// Values at which it holds.
        yes: Option<Vec<i128>>,
        /// Values at which it does not hold.
        no: Option<Vec<i128>>,
    },
}

/// A set of values of the names.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    names: Vec<(Option<i128>, Option<i128>)>,
    holds: Vec<Literal>,
}

impl Region {
    /// All values that a scope allows, under further conditions; `None` where there are provably none.
    pub(crate) fn of(scope: &Scope, needs: &[Literal]) -> Option<Region> {
        let names = scope.names().iter().map(|name| (name.lo, name.hi)).collect();
        let mut region = Region { names, holds: Vec::new() };
        for literal in scope.given().iter().chain(needs) {
            if region.truth(literal) == Truth::Never {
                return None;
            }
            region.holds.push(literal.clone());
        }
        Some(region)
    }

    /// Whether a condition holds for all values, for none, or for some that are known.
    pub(crate) fn truth(&self, literal: &Literal) -> Truth {
        let poly = &literal.poly;
        let positive = |poly: &Poly| poly.plus_number(-1).is_ok_and(|less| self.not_negative(&less));
        let negative = |poly: &Poly| poly.neg().is_ok_and(|poly| positive(&poly));
        let known = match literal.relation {
            _ if literal.modulus.is_some() => None,
            Relation::AtLeast if self.not_negative(poly) => Some(true),
            Relation::AtLeast => negative(poly).then_some(false),
            relation if poly.is_zero() => Some(relation == Relation::Equal),
            relation => (positive(poly) || negative(poly)).then_some(relation == Relation::NotEqual),
        };
        match known {
            Some(true) => Truth::Always,
            Some(false) => Truth::Never,
            None if self.holds.contains(literal) => Truth::Always,
            None => Truth::Depends { yes: None, no: None },
        }
    }

    /// A point known to lie in the region, a value for each name of the scope.
    pub(crate) fn sample(&self) -> Option<&[i128]> {
        None
    }

    fn not_negative(&self, poly: &Poly) -> bool {
        let slack = |poly: &Poly| {
            self.names.iter().enumerate().try_fold(poly.clone(), |poly, (place, bounds)| {
                let var = Var(place as u8);
                let t = Poly::from(var);
                match *bounds {
                    (Some(lo), _) => poly.substitute(var, &t.plus_number(lo)?),
                    (_, Some(hi)) => poly.substitute(var, &t.neg()?.plus_number(hi)?),
                    _ => Ok(poly),
                }
            })
        };
        let free = |var: Var| self.names[usize::from(var.0)] == (None, None);
        let clear = |poly: &Poly| {
            slack(poly).is_ok_and(|poly| poly.terms().iter().all(|&(m, c)| c >= 0 && !m.factors().any(free)))
        };
        let implied = |literal: &Literal| {
            literal.modulus.is_none()
                && match literal.relation {
                    Relation::AtLeast => poly.sub(&literal.poly).is_ok_and(|rest| clear(&rest)),
                    Relation::Equal => [poly.sub(&literal.poly), poly.add(&literal.poly)]
                        .into_iter()
                        .any(|rest| rest.is_ok_and(|rest| clear(&rest))),
                    Relation::NotEqual => false,
                }
        };
        clear(poly) || self.holds.iter().any(implied)
    }
}
