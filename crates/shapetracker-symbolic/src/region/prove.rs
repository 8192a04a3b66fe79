//! Proofs that a polynomial is not negative, not 0, or 0, on a region. Each step is sound; none is complete.

use std::borrow::Cow;

use crate::poly::{Monomial, Poly, TooLarge, Var, floor};
use crate::region::factor::factors;
use crate::region::{Region, negative, positive_lead};

/// A region in coordinates that are at least 0: every name is its least value plus such a coordinate, or its greatest value
/// minus one. A polynomial all of whose coefficients are then positive is not negative.
#[derive(Debug)]
pub(crate) struct Frame {
    /// What stands for each name, in the order in which the replacements are made.
    steps: Vec<(Var, Poly)>,
    /// Names that have no end, and so no coordinate.
    free: Vec<Var>,
    /// What is at least 0, in the new coordinates.
    conditions: Vec<Poly>,
    /// The end that a name has where its coordinate is 0.
    ends: Vec<(Var, i128)>,
}

impl Frame {
    pub(crate) fn of(region: &Region) -> Frame {
        let mut frame = Frame { steps: Vec::new(), free: Vec::new(), conditions: Vec::new(), ends: Vec::new() };
        let mut moved: Vec<Var> = Vec::new();
        let mut conditions = region.at_least.clone();
        // A condition N >= s + L that implies the least value of N: N is s + L plus a coordinate.
        let mut ranges = Vec::new();
        for condition in &region.at_least {
            for var in condition.vars() {
                let (lo, hi) = region.bounds(var);
                let Some(lo) = lo else { continue };
                if moved.contains(&var) || condition.vars().iter().any(|other| moved.contains(other)) {
                    continue;
                }
                let Some((by, rest)) = condition.linear_in(var) else { continue };
                if !by.is_one() {
                    continue;
                }
                // var >= -rest, which must be at least the least value of var by ranges alone.
                let implied = rest.neg().and_then(|floor| floor.plus_number(-lo));
                if !implied.is_ok_and(|implied| Frame::by_ranges(region, &implied)) {
                    continue;
                }
                let Ok(value) = Poly::from(var).sub(&rest) else { continue };
                moved.push(var);
                frame.steps.push((var, value));
                conditions.retain(|other| other != condition);
                if let Some(hi) = hi
                    && let Ok(above) = Poly::from(hi).sub(&Poly::from(var))
                {
                    ranges.push(above);
                }
                break;
            }
        }
        for place in 0..=u8::MAX {
            let var = Var(place);
            if usize::from(place) >= region.vars() {
                break;
            }
            if moved.contains(&var) || region.is_solved(var) {
                continue;
            }
            let value = match region.bounds(var) {
                (Some(lo), hi) => {
                    if let Some(hi) = hi
                        && let Ok(above) = Poly::from(hi).sub(&Poly::from(var))
                    {
                        ranges.push(above);
                    }
                    frame.ends.push((var, lo));
                    if lo == 0 {
                        continue;
                    }
                    Poly::from(var).plus_number(lo)
                }
                (None, Some(hi)) => {
                    frame.ends.push((var, hi));
                    Poly::from(hi).sub(&Poly::from(var))
                }
                (None, None) => {
                    frame.free.push(var);
                    continue;
                }
            };
            match value {
                Ok(value) => frame.steps.push((var, value)),
                Err(_) => frame.free.push(var),
            }
        }
        conditions.extend(ranges);
        frame.conditions = conditions.iter().filter_map(|condition| frame.apply(condition).ok()).collect();
        frame
    }

    /// Whether a polynomial is at least 0 by the ranges of its names.
    fn by_ranges(region: &Region, poly: &Poly) -> bool {
        let mut shifted = poly.clone();
        for var in poly.vars() {
            let Some(lo) = region.bounds(var).0 else { return false };
            let moved = Poly::from(var).plus_number(lo).and_then(|value| shifted.substitute(var, &value));
            let Ok(moved) = moved else { return false };
            shifted = moved;
        }
        shifted.terms().iter().all(|term| term.1 > 0)
    }

    /// A polynomial in the coordinates.
    pub(crate) fn apply(&self, poly: &Poly) -> Result<Poly, TooLarge> {
        let mut moved = poly.clone();
        for (var, value) in &self.steps {
            moved = moved.substitute(*var, value)?;
        }
        Ok(moved)
    }

    /// Whether all terms of a polynomial in the coordinates are at least 0.
    fn is_positive(&self, poly: &Poly) -> bool {
        poly.terms().iter().all(|&(monomial, factor)| factor > 0 && !self.has_free(monomial))
    }

    fn has_free(&self, monomial: Monomial) -> bool {
        !self.free.is_empty()
            && monomial.factors().any(|var| self.free.contains(&var) && monomial.exponent(var) % 2 == 1)
    }

    /// The ends at which names must be where a sum is 0 whose terms are not negative.
    pub(crate) fn ends_where_zero(&self, sum: &Poly) -> Option<Vec<(Var, i128)>> {
        let moved = self.apply(sum).ok()?;
        if !self.is_positive(&moved) {
            return None;
        }
        let single = moved.terms().iter().filter_map(|(monomial, _)| {
            let var = monomial.factors().next()?;
            let alone = monomial.factors().all(|other| other == var);
            alone.then(|| self.ends.iter().find(|end| end.0 == var).copied())?
        });
        Some(single.collect())
    }
}

/// How deep proofs by differences and by conditions go.
const DEPTH: usize = 3;

impl Region {
    /// Whether `f >= 0` is proved.
    pub(crate) fn prove_ge(&self, f: &Poly) -> bool {
        let Some(f) = self.without_solved(f) else { return false };
        match f.number() {
            Some(number) => number >= 0,
            None => self.prove(&f).unwrap_or(false),
        }
    }

    /// A polynomial without names that are solved, for which there are no coordinates; `None` where that is too large.
    fn without_solved<'p>(&self, f: &'p Poly) -> Option<Cow<'p, Poly>> {
        match self.solved().iter().any(|(var, _)| f.has(*var)) {
            true => self.reduce(f).ok().map(Cow::Owned),
            false => Some(Cow::Borrowed(f)),
        }
    }

    fn prove(&self, f: &Poly) -> Result<bool, TooLarge> {
        self.shared.spend(2 + f.terms().len());
        if self.shared.is_spent() {
            return Ok(false);
        }
        let frame = self.frame();
        // A product of many names has very many terms in the coordinates; its factors may be known all the same.
        let moved = frame.apply(f);
        if let Ok(moved) = &moved {
            if frame.is_positive(moved) {
                return Ok(true);
            }
            // The value where every coordinate is 0 is a value of the polynomial, unless a condition excludes it.
            let all_there = frame.conditions.is_empty() && frame.free.is_empty() && self.unsolved().is_empty();
            if all_there && moved.constant() < 0 {
                return Ok(false);
            }
        }
        if self.at_least.iter().any(|known| known == f) {
            return Ok(true);
        }
        if let Ok(moved) = &moved
            && frame.by_conditions(self, moved, DEPTH)?
        {
            return Ok(true);
        }
        let simpler = self.same_sign(f);
        if simpler != *f {
            if let Some(number) = simpler.number() {
                return Ok(number >= 0);
            }
            let moved = frame.apply(&simpler)?;
            if self.at_least.contains(&simpler)
                || frame.is_positive(&moved)
                || frame.by_conditions(self, &moved, DEPTH)?
            {
                return Ok(true);
            }
        }
        self.monotone(&simpler, DEPTH)
    }

    /// Along a name in which it only grows, a polynomial is least at the least value; and so on.
    ///
    /// On the way down to the least value, with the other names as they are, nothing that the coordinates rest on is left:
    /// the least values of other names, as they were taken from conditions, only become smaller.
    fn monotone(&self, f: &Poly, depth: usize) -> Result<bool, TooLarge> {
        let frame = self.frame();
        let moved = frame.apply(f)?;
        if frame.is_positive(&moved) {
            return Ok(true);
        }
        if depth == 0 || self.shared.is_spent() {
            return Ok(false);
        }
        for var in f.vars() {
            let (lo, hi) = self.bounds(var);
            self.shared.spend(f.terms().len());
            if lo.is_none() && hi.is_none() || frame.steps.iter().any(|step| step.0 == var && step.1.vars() != [var]) {
                continue;
            }
            let step = f.substitute(var, &Poly::from(var).plus_number(1)?)?.sub(f)?;
            let at = |end: i128| f.substitute(var, &Poly::from(end));
            let grows = frame.is_positive(&frame.apply(&step)?);
            if grows && let Some(lo) = lo {
                return self.monotone(&at(lo)?, depth - 1);
            }
            // Upwards a condition may be left in which this name is a part of another one's least value.
            let bounds_others = || frame.steps.iter().any(|step| step.0 != var && step.1.has(var));
            if frame.is_positive(&frame.apply(&step.neg()?)?)
                && let Some(hi) = hi
                && !bounds_others()
            {
                return self.monotone(&at(hi)?, depth - 1);
            }
            if let Some(lo) = lo
                && depth == DEPTH
                && f.degree_in(var) > 1
                && self.monotone(&step, depth - 1)?
                && self.monotone(&at(lo)?, depth - 1)?
            {
                return Ok(true);
            }
            // Linear in a name with two ends: at least 0 at both.
            if f.degree_in(var) == 1
                && let (Some(lo), Some(hi)) = (lo, hi)
                && self.monotone(&at(lo)?, depth - 1)?
                && self.monotone(&at(hi)?, depth - 1)?
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether `f != 0` is proved.
    pub(crate) fn prove_ne(&self, f: &Poly) -> bool {
        let Some(f) = self.without_solved(f) else { return false };
        let f = &*f;
        if let Some(number) = f.number() {
            return number != 0;
        }
        if self.nonzero_once(f) {
            return true;
        }
        let factors = self.factors(f);
        // A multiple of a number, plus a rest that is none.
        let mut named = f.clone();
        let constant = named.constant();
        if constant != 0
            && let Ok(rest) = named.plus_number(-constant)
        {
            named = rest;
            let content = named.content();
            if content > 1 && constant % content != 0 {
                return true;
            }
        }
        (factors.len() > 1 || factors.first().is_some_and(|factor| factor != f))
            && factors.iter().all(|factor| self.nonzero_once(factor))
    }

    fn nonzero_once(&self, f: &Poly) -> bool {
        let known = |known: &Poly| known == f || f.neg().is_ok_and(|f| *known == f);
        if self.nonzero.iter().any(|other| known(other) || matches!(other.div_exact(f), Ok(Some(_)))) {
            return true;
        }
        let (mut above, mut below) = (true, true);
        for point in self.samples() {
            match f.eval(point) {
                Some(0) => return false,
                Some(value) if value > 0 => below = false,
                Some(_) => above = false,
                None => {}
            }
        }
        above && f.plus_number(-1).is_ok_and(|f| self.prove_ge(&f))
            || below && negative(f).is_ok_and(|f| self.prove_ge(&f))
    }

    /// Whether `f == 0` is proved.
    pub(crate) fn prove_eq(&self, f: &Poly) -> bool {
        if let Some(number) = f.number() {
            return number == 0;
        }
        // Equalities that could not be solved are rewritten by, when a polynomial is reduced.
        if self.reduce(f).is_ok_and(|reduced| reduced.is_zero()) {
            return true;
        }
        !self.at_least.is_empty() && self.prove_ge(f) && f.neg().is_ok_and(|f| self.prove_ge(&f))
    }

    /// The factors of a polynomial that are not numbers, their first coefficients positive.
    pub(crate) fn factors(&self, f: &Poly) -> Vec<Poly> {
        self.shared.spend(f.terms().len() * f.terms().len());
        factors(f).into_iter().map(positive_lead).collect()
    }

    /// A simpler polynomial that is at least 0 for the same values of the region.
    pub(crate) fn same_sign(&self, f: &Poly) -> Poly {
        let simpler = |f: &Poly| {
            self.without_signed_factors(f).or_else(|| {
                // f >= 0 where f + 1 >= 1; and a product with a positive factor is at least 1 where the rest is.
                let rest = self.without_signed_factors(&f.plus_number(1).ok()?)?;
                rest.plus_number(-1).ok()
            })
        };
        simpler(f)
            .or_else(|| self.rewritings(f).find_map(|other| simpler(&other)))
            .map_or_else(|| primitive(f), |simpler| primitive(&simpler))
    }

    /// What equals a polynomial by the equalities that could not be solved for a name: one term of it at a time replaced by
    /// the others.
    fn rewritings<'a>(&'a self, f: &'a Poly) -> impl Iterator<Item = Poly> + 'a {
        self.unsolved().iter().flat_map(move |zero| {
            zero.terms().iter().filter(|term| matches!(term.1, 1 | -1)).filter_map(move |&(monomial, sign)| {
                let (by, factor) = f.terms().iter().find_map(|term| Some((term.0.over(monomial)?, term.1)))?;
                f.sub(&zero.mul(&Poly::term(by, factor * sign)).ok()?).ok()
            })
        })
    }

    /// The polynomial without its positive factors, and without the negative ones with its sign changed; `None` where
    /// there are none.
    fn without_signed_factors(&self, f: &Poly) -> Option<Poly> {
        let all = factors(f);
        if all.len() < 2 && all.first().is_some_and(|factor| factor.terms().len() > 1) {
            return None;
        }
        self.shared.spend(f.terms().len());
        let (mut kept, mut sign, mut dropped) = (Poly::one(), 1, false);
        let mut product = Poly::one();
        for factor in &all {
            product = product.mul(factor).ok()?;
        }
        // What is left beside the factors is a number.
        let content = f.div_exact(&product).ok()??.number()?;
        if content < 0 {
            sign = -1;
        }
        for factor in all {
            let frame = self.frame();
            let positive = |f: Poly| frame.apply(&f).is_ok_and(|f| frame.is_positive(&f));
            if positive(factor.plus_number(-1).ok()?) {
                dropped = true;
            } else if positive(negative(&factor).ok()?) {
                sign = -sign;
                dropped = true;
            } else {
                kept = kept.mul(&factor).ok()?;
            }
        }
        dropped.then(|| kept.scale(sign).ok())?
    }
}

/// A polynomial that is at least 0 for the same integers, divided by what its factors have in common.
fn primitive(f: &Poly) -> Poly {
    let constant = f.constant();
    let Ok(named) = f.plus_number(-constant) else { return f.clone() };
    let content = named.content();
    if content <= 1 {
        return f.clone();
    }
    // content * g + constant >= 0 where g >= -constant / content, rounded up.
    named.over_number(content).plus_number(floor(constant, content)).unwrap_or_else(|_| f.clone())
}

impl Frame {
    /// Whether a polynomial is at least 0 as a sum of multiples of conditions and of a polynomial that is positive: each
    /// step cancels the first negative term.
    fn by_conditions(&self, region: &Region, f: &Poly, depth: usize) -> Result<bool, TooLarge> {
        if self.is_positive(f) {
            return Ok(true);
        }
        if depth == 0 || self.conditions.is_empty() || region.shared.is_spent() {
            return Ok(false);
        }
        let Some(&(monomial, factor)) =
            f.terms().iter().find(|&&(monomial, factor)| factor < 0 || self.has_free(monomial))
        else {
            return Ok(true);
        };
        for condition in &self.conditions {
            for &(m, c) in condition.terms() {
                if (c < 0) != (factor < 0) {
                    continue;
                }
                let Some(by) = monomial.over(m) else { continue };
                if self.has_free(by) {
                    continue;
                }
                region.shared.spend(1 + condition.terms().len());
                // scale f - times by condition, without the term.
                let common = shapetracker_base::int::gcd(factor, c);
                let (Some(times), Some(scale)) = (factor.checked_div(common), c.checked_div(common)) else { continue };
                let (times, scale) = if scale < 0 { (-times, -scale) } else { (times, scale) };
                if times < 0 {
                    continue;
                }
                let is_there = if depth == 1 {
                    f.is_positive_without(scale, condition, (by, times), |monomial| self.has_free(monomial))?
                } else {
                    let rest = f.scale(scale)?.sub(&condition.mul(&Poly::term(by, times))?)?;
                    self.by_conditions(region, &rest, depth - 1)?
                };
                if is_there {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }
}
