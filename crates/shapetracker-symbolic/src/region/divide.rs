//! Division of a polynomial by a positive one, with a remainder that is proved to be one.

use shapetracker_base::int;
use smallvec::SmallVec;

use crate::answer::Reason;
use crate::literal::Literal;
use crate::poly::{Poly, TooLarge, Var, floor, modulo};
use crate::region::{Ask, Region, Stop, Truth};

/// A quotient and a remainder: the polynomial is `divisor * quotient + remainder`, and `0 <= remainder < divisor`.
#[derive(Clone, Debug)]
pub(crate) struct Division {
    pub(crate) quotient: Poly,
    pub(crate) remainder: Poly,
}

/// The largest modulus for which each remainder is looked at by itself.
const RESIDUES: i128 = 12;

impl Region {
    /// The quotient, rounded down, and the remainder by a divisor that is known to be positive.
    pub(crate) fn divide(&self, a: &Poly, by: &Poly) -> Ask<Division> {
        match self.known_division(a, by)? {
            Some(division) => Ok(division),
            None => self.divide_by_cases(a, by),
        }
    }

    /// The quotient and the remainder, where these are polynomials that can be proved without looking at cases.
    pub(crate) fn known_division(&self, a: &Poly, by: &Poly) -> Result<Option<Division>, TooLarge> {
        if by.is_one() || a.is_zero() {
            return Ok(Some(Division { quotient: a.clone(), remainder: Poly::zero() }));
        }
        if let Some(quotient) = a.div_exact(by)? {
            return Ok(Some(Division { quotient, remainder: Poly::zero() }));
        }
        if let (Some(a), Some(by)) = (a.number(), by.number()) {
            let (quotient, remainder) = (Poly::from(floor(a, by)), Poly::from(modulo(a, by)));
            return Ok(Some(Division { quotient, remainder }));
        }
        let values = self.quotients_at_samples(a, by);
        for quotient in self.candidates(a, by, &values)? {
            self.shared.spend(1);
            let fits = values.iter().all(|(point, value)| quotient.eval(point) == Some(*value));
            if fits && let Some(division) = self.proved(a, by, quotient)? {
                return Ok(Some(division));
            }
        }
        Ok(None)
    }

    /// The quotient, rounded down, and the remainder, which has the sign of the divisor, where these are polynomials for all
    /// values: Python's `//` and `%`. Nothing is known of a division by what may be 0.
    pub(crate) fn floor_division(&self, a: &Poly, by: &Poly) -> Result<Option<Division>, TooLarge> {
        let one = Poly::one();
        if self.truth(&Literal::at_least(by.sub(&one)?)) == Truth::Always {
            return self.known_division(a, by);
        }
        // By what is below 0 the quotient is that of the negated values.
        let (a, by) = (a.neg()?, by.neg()?);
        if self.truth(&Literal::at_least(by.sub(&one)?)) != Truth::Always {
            return Ok(None);
        }
        let Some(Division { quotient, remainder }) = self.known_division(&a, &by)? else { return Ok(None) };
        Ok(Some(Division { quotient, remainder: remainder.neg()? }))
    }

    fn quotients_at_samples(&self, a: &Poly, by: &Poly) -> SmallVec<[(&[i128], i128); 12]> {
        let value = |point: &[i128]| {
            let by = by.eval(point).filter(|&by| by > 0)?;
            Some(floor(a.eval(point)?, by))
        };
        self.samples().iter().filter_map(|point| Some((&**point, value(point)?))).collect()
    }

    /// A division, if its remainder is proved to be one.
    fn proved(&self, a: &Poly, by: &Poly, quotient: Poly) -> Result<Option<Division>, TooLarge> {
        let remainder = a.sub(&quotient.mul(by)?)?;
        let proved = self.prove_ge(&remainder) && self.prove_ge(&by.sub(&remainder)?.plus_number(-1)?);
        Ok(proved.then_some(Division { quotient, remainder }))
    }

    /// Polynomials that may be the quotient: constants that it is at points, and what long division gives in several
    /// orders of the names, rounded either way.
    fn candidates(&self, a: &Poly, by: &Poly, values: &[(&[i128], i128)]) -> Result<Vec<Poly>, TooLarge> {
        let mut candidates: Vec<Poly> = Vec::new();
        let mut add = |poly: Poly| {
            if !candidates.contains(&poly) {
                candidates.push(poly);
            }
        };
        if let Some((_, first)) = values.first()
            && values.iter().all(|(_, value)| value == first)
        {
            add(Poly::from(*first));
        }
        let mut orders: SmallVec<[Option<Var>; 8]> = SmallVec::new();
        orders.push(None);
        orders.extend(by.vars().into_iter().map(Some));
        for order in orders {
            let quotient = long_division(a, by, order)?;
            add(quotient.clone());
            add(quotient.plus_number(-1)?);
            add(quotient.plus_number(1)?);
        }
        add(Poly::zero());
        Ok(candidates)
    }

    fn divide_by_cases(&self, a: &Poly, by: &Poly) -> Ask<Division> {
        self.check_work()?;
        // A number as divisor: the remainders of a name, if they are few.
        if let Some(modulus) = by.number() {
            for var in a.vars() {
                if let Some((factor, _)) = a.linear_in(var)
                    && let Some(factor) = factor.number()
                {
                    let period = modulus / int::gcd(modulus, factor);
                    if (2..=RESIDUES).contains(&period) {
                        return Err(Stop::Residues(var, period));
                    }
                }
            }
        }
        // A quotient that is right at most points: whether its remainder is one.
        let values = self.quotients_at_samples(a, by);
        let mut best: Option<(usize, Poly)> = None;
        for quotient in self.candidates(a, by, &values)? {
            let right = values.iter().filter(|(point, value)| quotient.eval(point) == Some(*value)).count();
            if best.as_ref().is_none_or(|(most, _)| right > *most) {
                best = Some((right, quotient));
            }
        }
        if let Some((right, quotient)) = best
            && (2 * right >= values.len().max(1))
        {
            let remainder = a.sub(&quotient.mul(by)?)?;
            let below = by.sub(&remainder)?.plus_number(-1)?;
            if self.ask_ge(&remainder)? && self.ask_ge(&below)? {
                return Ok(Division { quotient, remainder });
            }
        }
        // A name as it stands in the sum: its quotient and its remainder are given names.
        for var in a.vars() {
            if let Some((factor, _)) = a.linear_in(var)
                && factor.is_one()
                && !by.has(var)
                && var.0 < self.shared.named as u8
            {
                return Err(Stop::Quotient(var, by.clone()));
            }
        }
        // Whether it is one of two numbers.
        let numbers: Vec<i128> = values.iter().map(|value| value.1).collect();
        if let Some(&least) = numbers.iter().min()
            && numbers.iter().max().is_some_and(|most| most - least <= 4)
        {
            let rest = a.sub(&by.scale(least + 1)?)?;
            if self.known_ge(&rest).is_none() {
                return Err(Stop::Fork(Literal::at_least(self.same_sign(&rest))));
            }
        }
        Err(Stop::Undecided(Reason::Quotient))
    }
}

/// The quotient by long division: terms are divided by the first term of the divisor, in an order of monomials that looks at
/// one name before all others, if one is given; coefficients are rounded down.
pub(crate) fn long_division(a: &Poly, by: &Poly, first: Option<Var>) -> Result<Poly, TooLarge> {
    let key = |term: &(crate::poly::Monomial, i128)| (first.map_or(0, |var| term.0.exponent(var)), term.0);
    let Some(&(lead, factor)) = by.terms().iter().max_by_key(|term| key(term)) else { return Ok(Poly::zero()) };
    let (mut rest, mut quotient) = (a.clone(), Poly::zero());
    let mut below: Option<(u32, crate::poly::Monomial)> = None;
    for _ in 0..24 {
        // The greatest term that has not been looked at and is a multiple.
        let next = rest
            .terms()
            .iter()
            .filter(|term| below.is_none_or(|below| key(term) < below))
            .filter_map(|term| Some((key(term), term.0.over(lead)?, floor(term.1, factor))))
            .max_by_key(|found| found.0);
        let Some((place, monomial, times)) = next else { break };
        below = Some(place);
        if times != 0 {
            let term = Poly::term(monomial, times);
            rest = rest.sub(&by.mul(&term)?)?;
            quotient = quotient.add(&term)?;
        }
    }
    Ok(quotient)
}
