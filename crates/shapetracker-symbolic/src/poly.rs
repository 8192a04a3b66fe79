//! Polynomials over named sizes, with integer coefficients.
//!
//! A monomial is one number of 128 bits: its factors as bytes, the greatest first, so that the order of numbers is the
//! graded lexicographic order of monomials and a product is a merge of two short sorted lists.

use std::cell::Cell;
use std::fmt;

use smallvec::SmallVec;

/// A name by its place in a [`Scope`](crate::Scope).
///
/// ```
/// use shapetracker_symbolic::{Poly, Var};
/// assert_eq!(Poly::from(Var(3)).vars(), [Var(3)]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Var(pub u8);

/// Why a polynomial is not computed with.
///
/// ```
/// use shapetracker_symbolic::{Poly, TooLarge};
/// assert_eq!(Poly::from(i128::MAX).add(&Poly::from(1)), Err(TooLarge::Number));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TooLarge {
    /// A coefficient left 128 bits, or a product had more than 16 factors.
    #[error("a coefficient leaves 128 bits, or a product has more than 16 factors")]
    Number,
    /// It has, or a product may have, so many terms.
    #[error("a polynomial of {0} terms has more terms than are computed with, which is {MOST_TERMS}")]
    Terms(usize),
    /// The arithmetic of the whole question took so many steps, each of one term, that it was given up.
    #[error("the polynomials take more than the {0} steps, each of one term, that are done for one question")]
    Work(u64),
}

/// The most terms that a polynomial has. Polynomials of tensor programs have a few, and a few dozen where several sizes are
/// padded; all that is done with them is at least linear in their terms, and some of it quadratic.
pub(crate) const MOST_TERMS: usize = 1 << 11;
/// The most pairs of terms that are multiplied for one product.
const MOST_PAIRS: usize = 1 << 16;
/// The steps that are done for a question, each of one term: a tenth of a second.
pub(crate) const MOST_STEPS: u64 = 1 << 23;

thread_local! {
    /// The steps that are left for the question that is being answered on this thread, and the limit that it has.
    static LEFT: Cell<(u64, u64)> = const { Cell::new((u64::MAX, u64::MAX)) };
}

/// Answers a question within so many steps: after them all arithmetic fails, so that whatever is asked for is at once too
/// large to be known.
///
/// Steps are counted where terms are made and not where questions are asked, so that no question can forget to count; the
/// count starts with the question, so that an answer does not depend on what was asked before. Within another question
/// there are no more steps than that has left.
pub(crate) fn within<T>(steps: u64, answer: impl FnOnce() -> T) -> T {
    /// Gives the question around this one its steps back, also where an answer panics.
    struct Around {
        before: (u64, u64),
        given: u64,
    }
    impl Drop for Around {
        fn drop(&mut self) {
            let used = self.given - LEFT.get().0;
            LEFT.set((self.before.0 - used, self.before.1));
        }
    }
    let before = LEFT.get();
    let given = before.0.min(steps);
    LEFT.set((given, if steps <= before.0 { steps } else { before.1 }));
    let _around = Around { before, given };
    answer()
}

/// Answers all that is asked of a text together within the work of one question and a half.
///
/// Every question has a limit of its own, and some texts reach it again and again. Here they share one: what is asked after it
/// was reached is as undecided, or as refused, as what has reached it. The answer is the same on every machine.
///
/// ```
/// use shapetracker_symbolic::{Question, bounded};
///
/// let view = bounded(|| Question::default().chain("(a+b+c+d+e+f, 2)"));
/// assert!(view.is_ok());
/// ```
///
/// # Cost
/// That of the questions, and at most some 0.15 s of arithmetic with names.
pub fn bounded<T>(answer: impl FnOnce() -> T) -> T {
    within(MOST_STEPS + MOST_STEPS / 2, answer)
}

/// Answers a question, and says how many steps that took.
#[cfg(test)]
pub(crate) fn counted<T>(answer: impl FnOnce() -> T) -> (T, u64) {
    let before = LEFT.replace((u64::MAX, u64::MAX));
    let answer = answer();
    (answer, u64::MAX - LEFT.replace(before).0)
}

/// Counts steps.
fn count(steps: usize) -> Result<(), TooLarge> {
    let (left, limit) = LEFT.get();
    let rest = left.checked_sub(steps as u64);
    LEFT.set((rest.unwrap_or(0), limit));
    rest.map(|_| ()).ok_or(TooLarge::Work(limit))
}

/// Monomials with their coefficients.
pub(crate) type Terms = SmallVec<[(Monomial, i128); 2]>;

/// Variables multiplied, with repetition: bytes in descending order, a variable `v` being the byte `255 - v`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Monomial(u128);

impl Monomial {
    pub(crate) const ONE: Monomial = Monomial(0);

    pub(crate) fn of(var: Var) -> Monomial {
        Monomial(u128::from(255 - var.0))
    }

    /// How many factors there are.
    pub(crate) fn degree(self) -> u32 {
        16 - self.0.leading_zeros() / 8
    }

    /// The factors, the first variable first.
    pub(crate) fn factors(self) -> impl Iterator<Item = Var> {
        let degree = self.degree();
        (0..degree).rev().map(move |place| Var(255 - (self.0 >> (8 * place)) as u8))
    }

    /// How often a variable is a factor.
    pub(crate) fn exponent(self, var: Var) -> u32 {
        self.factors().filter(|&factor| factor == var).count() as u32
    }

    fn from_factors(factors: impl Iterator<Item = Var>) -> Monomial {
        Monomial(factors.fold(0, |bytes, var| bytes << 8 | u128::from(255 - var.0)))
    }

    fn times(self, other: Monomial) -> Result<Monomial, TooLarge> {
        if self.0 == 0 || other.0 == 0 {
            return Ok(Monomial(self.0 | other.0));
        }
        if self.degree() + other.degree() > 16 {
            return Err(TooLarge::Number);
        }
        let (mut a, mut b, mut product, mut place) = (self.0, other.0, 0, 0);
        // From the last factors on, the smaller byte first.
        while a != 0 || b != 0 {
            let (x, y) = (a & 255, b & 255);
            let take_a = b == 0 || (a != 0 && x <= y);
            product |= (if take_a { x } else { y }) << place;
            if take_a {
                a >>= 8
            } else {
                b >>= 8
            }
            place += 8;
        }
        Ok(Monomial(product))
    }

    /// What is left without the factors of another monomial, if they are all there.
    pub(crate) fn over(self, divisor: Monomial) -> Option<Monomial> {
        if divisor.0 == 0 {
            return Some(self);
        }
        let (mut a, mut b, mut quotient, mut place) = (self.0, divisor.0, 0, 0);
        while a != 0 {
            let x = a & 255;
            if b != 0 && x == b & 255 {
                b >>= 8;
            } else {
                quotient |= x << place;
                place += 8;
            }
            a >>= 8;
        }
        (b == 0).then_some(Monomial(quotient))
    }

    /// The factors that two monomials have in common.
    pub(crate) fn common(self, other: Monomial) -> Monomial {
        let (mut a, mut b, mut common, mut place) = (self.0, other.0, 0, 0);
        while a != 0 && b != 0 {
            let (x, y) = (a & 255, b & 255);
            if x == y {
                common |= x << place;
                place += 8;
            }
            if x <= y {
                a >>= 8;
            }
            if y <= x {
                b >>= 8;
            }
        }
        Monomial(common)
    }

    /// The monomial without a variable.
    pub(crate) fn without(self, var: Var) -> Monomial {
        Monomial::from_factors(self.factors().filter(|&factor| factor != var))
    }
}

impl fmt::Debug for Monomial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.factors().map(|var| var.0)).finish()
    }
}

/// A polynomial over the names of a [`Scope`](crate::Scope), with integer coefficients.
///
/// Terms are kept sorted and none is 0, so that equal polynomials are equal values. Operations are checked: what leaves
/// 128 bits is [`TooLarge`], never wrong.
///
/// ```
/// use shapetracker_symbolic::{Poly, Var};
///
/// let (b, t) = (Poly::from(Var(0)), Poly::from(Var(1)));
/// let area = b.mul(&t)?.add(&Poly::from(2))?;
/// assert_eq!(area.eval(&[3, 5]), Some(17));
/// assert_eq!(area.sub(&Poly::from(2))?.div_exact(&t)?, Some(b));
/// # Ok::<(), shapetracker_symbolic::TooLarge>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Poly {
    /// Terms, the greatest monomial first.
    terms: Terms,
}

impl From<i128> for Poly {
    fn from(number: i128) -> Poly {
        let mut terms = SmallVec::new();
        if number != 0 {
            terms.push((Monomial::ONE, number));
        }
        Poly { terms }
    }
}

impl From<i64> for Poly {
    fn from(number: i64) -> Poly {
        Poly::from(i128::from(number))
    }
}

impl From<i32> for Poly {
    fn from(number: i32) -> Poly {
        Poly::from(i128::from(number))
    }
}

impl From<Var> for Poly {
    fn from(var: Var) -> Poly {
        Poly { terms: smallvec::smallvec![(Monomial::of(var), 1)] }
    }
}

impl Poly {
    /// The polynomial 0.
    pub(crate) fn zero() -> Poly {
        Poly { terms: SmallVec::new() }
    }

    /// The polynomial 1.
    pub(crate) fn one() -> Poly {
        Poly::from(1_i128)
    }

    /// Its terms, the greatest monomial first.
    pub(crate) fn terms(&self) -> &[(Monomial, i128)] {
        &self.terms
    }

    /// A polynomial of terms in any order, of which several may have one monomial.
    pub(crate) fn from_terms(mut terms: Terms) -> Result<Poly, TooLarge> {
        terms.sort_unstable_by_key(|term| std::cmp::Reverse(term.0));
        let mut kept: Terms = SmallVec::new();
        for (monomial, coefficient) in terms {
            match kept.last_mut() {
                Some(last) if last.0 == monomial => {
                    last.1 = last.1.checked_add(coefficient).ok_or(TooLarge::Number)?;
                }
                _ => {
                    if kept.last().is_some_and(|last| last.1 == 0) {
                        kept.pop();
                    }
                    kept.push((monomial, coefficient));
                }
            }
        }
        if kept.last().is_some_and(|last| last.1 == 0) {
            kept.pop();
        }
        Poly::of_terms(kept)
    }

    /// The terms with positive coefficients, and the others with their signs changed.
    pub(crate) fn sides(&self) -> (Poly, Poly) {
        let (mut positive, mut negative) = (Poly::zero(), Poly::zero());
        for &(monomial, coefficient) in &self.terms {
            let side = if coefficient > 0 { &mut positive } else { &mut negative };
            side.terms.push((monomial, coefficient.saturating_abs()));
        }
        (positive, negative)
    }

    /// A polynomial of sorted terms, unless they are too many.
    fn of_terms(terms: Terms) -> Result<Poly, TooLarge> {
        if terms.len() > MOST_TERMS { Err(TooLarge::Terms(terms.len())) } else { Ok(Poly { terms }) }
    }

    /// Its value, where it has no variable.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, Var};
    /// assert_eq!((Poly::from(7).number(), Poly::from(Var(0)).number()), (Some(7), None));
    /// ```
    pub fn number(&self) -> Option<i128> {
        match self.terms[..] {
            [] => Some(0),
            [(Monomial::ONE, number)] => Some(number),
            _ => None,
        }
    }

    /// Whether it is the polynomial 0.
    ///
    /// ```
    /// assert!(shapetracker_symbolic::Poly::from(0).is_zero());
    /// ```
    pub fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    /// Whether it is the polynomial 1.
    pub(crate) fn is_one(&self) -> bool {
        self.terms[..] == [(Monomial::ONE, 1)]
    }

    /// The variable that it is, if it is one.
    pub(crate) fn as_var(&self) -> Option<Var> {
        match self.terms[..] {
            [(monomial, 1)] if monomial.degree() == 1 => monomial.factors().next(),
            _ => None,
        }
    }

    /// The sum.
    ///
    /// ```
    /// use shapetracker_symbolic::Poly;
    /// assert_eq!(Poly::from(2).add(&Poly::from(3)), Ok(Poly::from(5)));
    /// ```
    ///
    /// # Errors
    /// [`TooLarge`] where a coefficient leaves 128 bits, or there would be too many terms.
    pub fn add(&self, other: &Poly) -> Result<Poly, TooLarge> {
        self.plus(other, 1)
    }

    /// The difference.
    ///
    /// ```
    /// use shapetracker_symbolic::Poly;
    /// assert_eq!(Poly::from(2).sub(&Poly::from(3)), Ok(Poly::from(-1)));
    /// ```
    ///
    /// # Errors
    /// [`TooLarge`] where a coefficient leaves 128 bits, or there would be too many terms.
    pub fn sub(&self, other: &Poly) -> Result<Poly, TooLarge> {
        self.plus(other, -1)
    }

    /// The sum with a number.
    pub(crate) fn plus_number(&self, number: i128) -> Result<Poly, TooLarge> {
        let mut terms = self.terms.clone();
        match terms.last_mut() {
            Some(last) if last.0 == Monomial::ONE => {
                last.1 = last.1.checked_add(number).ok_or(TooLarge::Number)?;
                if last.1 == 0 {
                    terms.pop();
                }
            }
            _ if number == 0 => {}
            _ => terms.push((Monomial::ONE, number)),
        }
        Ok(Poly { terms })
    }

    /// `self + factor * other`.
    fn plus(&self, other: &Poly, factor: i128) -> Result<Poly, TooLarge> {
        if other.is_zero() {
            return Ok(self.clone());
        }
        count(self.terms.len() + other.terms.len())?;
        let mut terms = SmallVec::with_capacity(self.terms.len() + other.terms.len());
        let (mut a, mut b) = (self.terms.iter().peekable(), other.terms.iter().peekable());
        loop {
            match (a.peek(), b.peek()) {
                (None, None) => break,
                (Some(&&x), None) => {
                    terms.push(x);
                    a.next();
                }
                (None, Some(&&(monomial, y))) => {
                    terms.push((monomial, y.checked_mul(factor).ok_or(TooLarge::Number)?));
                    b.next();
                }
                (Some(&&(m, x)), Some(&&(n, y))) => {
                    let scaled = y.checked_mul(factor).ok_or(TooLarge::Number)?;
                    if m > n {
                        terms.push((m, x));
                        a.next();
                    } else if n > m {
                        terms.push((n, scaled));
                        b.next();
                    } else {
                        let sum = x.checked_add(scaled).ok_or(TooLarge::Number)?;
                        if sum != 0 {
                            terms.push((m, sum));
                        }
                        a.next();
                        b.next();
                    }
                }
            }
        }
        Poly::of_terms(terms)
    }

    /// The product.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, Var};
    /// let x = Poly::from(Var(0));
    /// assert_eq!(x.mul(&x)?.eval(&[7]), Some(49));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    ///
    /// # Errors
    /// [`TooLarge`] where a coefficient leaves 128 bits, a term would have more than 16 factors, or there would be too many
    /// terms.
    pub fn mul(&self, other: &Poly) -> Result<Poly, TooLarge> {
        match (&self.terms[..], &other.terms[..]) {
            ([], _) | (_, []) => Ok(Poly::zero()),
            (_, [(Monomial::ONE, 1)]) => Ok(self.clone()),
            ([(Monomial::ONE, 1)], _) => Ok(other.clone()),
            // A product by one term keeps the order of the terms.
            (many, &[term]) | (&[term], many) => Ok(Poly { terms: times_term(many, term)? }),
            (a, b) => {
                // Counted before it is made.
                let pairs = a.len() * b.len();
                if pairs > MOST_PAIRS {
                    return Err(TooLarge::Terms(pairs));
                }
                // They are sorted.
                count(pairs * (usize::BITS - pairs.leading_zeros()) as usize / 2)?;
                let mut terms = SmallVec::with_capacity(pairs);
                for &term in b {
                    terms.extend(times_term(a, term)?);
                }
                Poly::from_terms(terms)
            }
        }
    }

    /// The product with a number.
    pub(crate) fn scale(&self, factor: i128) -> Result<Poly, TooLarge> {
        if factor == 0 {
            return Ok(Poly::zero());
        }
        Ok(Poly { terms: times_term(&self.terms, (Monomial::ONE, factor))? })
    }

    /// Whether `scale * self - by * other` has no negative term and none with such factors, for a positive `scale`: what making it would
    /// say, with as many steps.
    pub(crate) fn is_positive_without(
        &self,
        scale: i128,
        other: &Poly,
        (by, times): (Monomial, i128),
        is_free: impl Fn(Monomial) -> bool,
    ) -> Result<bool, TooLarge> {
        // A product with 1 takes none.
        let is_made = (by, times) != (Monomial::ONE, 1) && other.terms[..] != [(Monomial::ONE, 1)];
        count(2 * self.terms.len() + if is_made { 2 } else { 1 } * other.terms.len())?;
        let is_good = |&(monomial, coefficient): &(Monomial, i128)| coefficient > 0 && !is_free(monomial);
        let mut own = self.terms.iter().peekable();
        for &(monomial, coefficient) in &other.terms {
            let monomial = monomial.times(by)?;
            while let Some(larger) = own.next_if(|term| term.0 > monomial) {
                if !is_good(larger) {
                    return Ok(false);
                }
            }
            let from = own.next_if(|term| term.0 == monomial).map_or(0, |term| term.1);
            let taken = coefficient.checked_mul(times).ok_or(TooLarge::Number)?;
            let left = from.checked_mul(scale).and_then(|from| from.checked_sub(taken)).ok_or(TooLarge::Number)?;
            if left != 0 && !is_good(&(monomial, left)) {
                return Ok(false);
            }
        }
        Ok(own.all(is_good))
    }

    /// The polynomial with all signs changed.
    pub(crate) fn neg(&self) -> Result<Poly, TooLarge> {
        self.scale(-1)
    }

    /// A power.
    pub(crate) fn pow(&self, exponent: u32) -> Result<Poly, TooLarge> {
        (0..exponent).try_fold(Poly::one(), |power, _| power.mul(self))
    }

    /// The quotient, where division by a polynomial leaves nothing.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, Var};
    /// let x = Poly::from(Var(0));
    /// assert_eq!(x.mul(&x)?.div_exact(&x)?, Some(x.clone()));
    /// assert_eq!(x.div_exact(&Poly::from(2))?, None);
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    ///
    /// # Errors
    /// [`TooLarge`] where a coefficient leaves 128 bits on the way.
    pub fn div_exact(&self, divisor: &Poly) -> Result<Option<Poly>, TooLarge> {
        let Some(&(lead, coefficient)) = divisor.terms.first() else { return Ok(None) };
        if divisor.terms.len() == 1 {
            let mut terms = SmallVec::with_capacity(self.terms.len());
            for &(monomial, c) in &self.terms {
                match monomial.over(lead) {
                    Some(rest) => match exact(c, coefficient) {
                        Some(quotient) => terms.push((rest, quotient)),
                        None => return Ok(None),
                    },
                    None => return Ok(None),
                }
            }
            return Ok(Some(Poly { terms }));
        }
        let (mut rest, mut quotient) = (self.clone(), SmallVec::new());
        while let Some(&(monomial, c)) = rest.terms.first() {
            let Some(term) = monomial.over(lead).zip(exact(c, coefficient)) else { return Ok(None) };
            rest = rest.sub(&Poly { terms: times_term(&divisor.terms, term)? })?;
            quotient.push(term);
        }
        Ok(Some(Poly { terms: quotient }))
    }

    /// Its value at a point that has a value for each of its variables; `None` where that leaves 128 bits.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, Var};
    /// assert_eq!(Poly::from(Var(1)).eval(&[4, 9]), Some(9));
    /// ```
    pub fn eval(&self, point: &[i128]) -> Option<i128> {
        // Whether a value leaves 128 bits is no question of steps.
        let _ = count(self.terms.len());
        let mut sum = 0_i128;
        for &(monomial, coefficient) in &self.terms {
            let mut product = coefficient;
            for var in monomial.factors() {
                product = product.checked_mul(*point.get(usize::from(var.0))?)?;
            }
            sum = sum.checked_add(product)?;
        }
        Some(sum)
    }

    /// What it is the sum of, the products of most factors first: each a coefficient and the variables that it is multiplied
    /// by, one for each factor.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, Var};
    /// let n = Poly::from(Var(0));
    /// let sum = n.mul(&n)?.mul(&Poly::from(3))?.add(&Poly::from(5))?;
    /// assert_eq!(sum.summands().collect::<Vec<_>>(), [(3, vec![Var(0), Var(0)]), (5, vec![])]);
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn summands(&self) -> impl Iterator<Item = (i128, Vec<Var>)> {
        self.terms.iter().map(|&(monomial, factor)| (factor, monomial.factors().collect()))
    }

    /// The variables that occur in it, in ascending order.
    ///
    /// ```
    /// use shapetracker_symbolic::{Poly, Var};
    /// assert_eq!(Poly::from(Var(1)).add(&Poly::from(Var(0)))?.vars(), [Var(0), Var(1)]);
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn vars(&self) -> Vec<Var> {
        let _ = count(4 * self.terms.len());
        let mut vars: Vec<Var> = self.terms.iter().flat_map(|(monomial, _)| monomial.factors()).collect();
        vars.sort_unstable();
        vars.dedup();
        vars
    }

    /// Whether a variable occurs in it.
    pub(crate) fn has(&self, var: Var) -> bool {
        self.terms.iter().any(|(monomial, _)| monomial.factors().any(|factor| factor == var))
    }

    /// The highest power of a variable in it.
    pub(crate) fn degree_in(&self, var: Var) -> u32 {
        self.terms.iter().map(|(monomial, _)| monomial.exponent(var)).max().unwrap_or(0)
    }

    /// The polynomials `a` and `b` of `a * var + b`, where the variable occurs with powers up to the first.
    pub(crate) fn linear_in(&self, var: Var) -> Option<(Poly, Poly)> {
        let (mut by, mut rest) = (SmallVec::new(), SmallVec::new());
        for &(monomial, coefficient) in &self.terms {
            match monomial.exponent(var) {
                0 => rest.push((monomial, coefficient)),
                1 => by.push((monomial.without(var), coefficient)),
                _ => return None,
            }
        }
        // Taking one variable out of terms that all have it once keeps their order.
        Some((Poly { terms: by }, Poly { terms: rest }))
    }

    /// The coefficients of the powers of a variable, that of the power 0 first.
    pub(crate) fn powers_of(&self, var: Var) -> Vec<Poly> {
        let mut powers = vec![Poly::zero(); self.degree_in(var) as usize + 1];
        for &(monomial, coefficient) in &self.terms {
            powers[monomial.exponent(var) as usize].terms.push((monomial.without(var), coefficient));
        }
        powers
    }

    /// The polynomial with a polynomial in the place of a variable.
    pub(crate) fn substitute(&self, var: Var, by: &Poly) -> Result<Poly, TooLarge> {
        if !self.has(var) {
            return Ok(self.clone());
        }
        let powers = self.powers_of(var);
        let mut result = Poly::zero();
        for coefficient in powers.iter().rev() {
            result = result.mul(by)?.add(coefficient)?;
        }
        Ok(result)
    }

    /// The polynomial with its variables renamed.
    pub(crate) fn renamed(&self, rename: impl Fn(Var) -> Var) -> Poly {
        let mut terms: SmallVec<[(Monomial, i128); 2]> = self
            .terms
            .iter()
            .map(|&(monomial, coefficient)| {
                let mut vars: SmallVec<[Var; 16]> = monomial.factors().map(&rename).collect();
                vars.sort_unstable();
                (Monomial::from_factors(vars.into_iter()), coefficient)
            })
            .collect();
        terms.sort_unstable_by_key(|term| std::cmp::Reverse(term.0));
        Poly { terms }
    }

    /// The greatest common divisor of the coefficients, 0 for the polynomial 0.
    pub(crate) fn content(&self) -> i128 {
        let mut content = 0_i128;
        for &(_, coefficient) in &self.terms {
            if coefficient == i128::MIN {
                return 1;
            }
            content = shapetracker_base::int::gcd(content, coefficient);
            if content == 1 {
                break;
            }
        }
        content
    }

    /// The factors that all terms have in common.
    pub(crate) fn common_monomial(&self) -> Monomial {
        let mut terms = self.terms.iter();
        let first = terms.next().map_or(Monomial::ONE, |term| term.0);
        terms.fold(first, |common, term| common.common(term.0))
    }

    /// The polynomial without a monomial that all terms have.
    pub(crate) fn over_monomial(&self, monomial: Monomial) -> Poly {
        let terms = self.terms.iter().filter_map(|&(m, c)| Some((m.over(monomial)?, c))).collect();
        Poly { terms }
    }

    /// The polynomial with all coefficients divided by a divisor of them all.
    pub(crate) fn over_number(&self, number: i128) -> Poly {
        Poly { terms: self.terms.iter().map(|&(monomial, c)| (monomial, c / number)).collect() }
    }

    /// A polynomial of one term.
    pub(crate) fn term(monomial: Monomial, coefficient: i128) -> Poly {
        Poly { terms: smallvec::smallvec![(monomial, coefficient)] }
    }

    /// The coefficient of the constant term.
    pub(crate) fn constant(&self) -> i128 {
        match self.terms.last() {
            Some(&(Monomial::ONE, number)) => number,
            _ => 0,
        }
    }
}

/// The quotient rounded down, by a number that is not 0; 0 where it leaves 128 bits.
pub(crate) fn floor(a: i128, b: i128) -> i128 {
    match b {
        1.. => a.div_euclid(b),
        _ => a.checked_neg().zip(b.checked_neg()).map_or(0, |(a, b)| a.div_euclid(b)),
    }
}

/// The remainder by a positive number, which is not negative.
pub(crate) fn modulo(a: i128, b: i128) -> i128 {
    a.rem_euclid(b)
}

/// The quotient of two numbers that leave no remainder.
fn exact(a: i128, b: i128) -> Option<i128> {
    (a.checked_rem(b)? == 0).then(|| a / b)
}

fn times_term(
    terms: &[(Monomial, i128)],
    (monomial, coefficient): (Monomial, i128),
) -> Result<SmallVec<[(Monomial, i128); 2]>, TooLarge> {
    count(terms.len())?;
    let mut product = SmallVec::with_capacity(terms.len());
    for &(m, c) in terms {
        product.push((m.times(monomial)?, c.checked_mul(coefficient).ok_or(TooLarge::Number)?));
    }
    Ok(product)
}

#[cfg(test)]
mod tests {
    use shapetracker_testing::Rng;

    use super::*;

    fn sum(vars: std::ops::Range<u8>) -> Poly {
        vars.map(Var).map(Poly::from).try_fold(Poly::zero(), |sum, var| sum.add(&var)).unwrap()
    }

    #[test]
    fn products_are_counted_before_they_are_made() {
        let (wide, other) = (sum(0..200), sum(20..250));
        // Of as many pairs as may be multiplied those of the 180 variables that both have fall together.
        assert_eq!(wide.mul(&other), Err(TooLarge::Terms(200 * 230 - 180 * 179 / 2)));
        let squared = sum(0..60).pow(2).unwrap();
        assert_eq!(squared.terms().len(), 60 * 61 / 2);
        assert_eq!(squared.mul(&sum(0..60)), Err(TooLarge::Terms(60 * 61 / 2 * 60)));
        assert_eq!(sum(0..5).pow(12).unwrap().terms().len(), 1820);
        assert_eq!(sum(0..6).pow(16), Err(TooLarge::Terms(3003)));
    }

    /// What is said of a difference without making it is what is seen when it is made, and takes as many steps.
    #[test]
    fn signs_of_a_difference_are_those_of_the_difference() {
        let mut random = Rng(81);
        let mut holds = 0;
        for _ in 0..20_000 {
            let monomial = |random: &mut Rng, most: u64| {
                let mut factors: Vec<u8> = (0..random.below(most)).map(|_| random.below(3) as u8).collect();
                factors.sort_unstable();
                Monomial::from_factors(factors.into_iter().map(Var))
            };
            let mut poly = |low: i128| {
                let terms: Terms = (0..random.below(4))
                    .map(|_| (monomial(&mut random, 4), i128::from(random.below(6)) + low))
                    .collect();
                Poly::from_terms(terms).unwrap()
            };
            let (f, other) = (poly(-1), poly(-4));
            if other.is_zero() {
                continue;
            }
            let by = monomial(&mut random, 2);
            let (scale, times) = (1 + i128::from(random.below(3)), 1 + i128::from(random.below(3)));
            let is_free = |monomial: Monomial| monomial.exponent(Var(2)) % 2 == 1;
            let (made, steps) = counted(|| {
                let rest = f.scale(scale)?.sub(&other.mul(&Poly::term(by, times))?)?;
                Ok::<_, TooLarge>(rest.terms().iter().all(|&(monomial, factor)| factor > 0 && !is_free(monomial)))
            });
            let (said, as_many) = counted(|| f.is_positive_without(scale, &other, (by, times), is_free));
            assert_eq!((said, as_many), (made, steps), "{scale} * {f:?} - {times} * {by:?} * {other:?}");
            holds += usize::from(said == Ok(true));
        }
        assert!(holds > 500, "{holds}");
    }

    #[test]
    fn a_question_ends_at_its_steps_and_gives_the_rest_back() {
        let power = |steps| within(steps, || sum(0..5).pow(8));
        assert_eq!(power(100), Err(TooLarge::Work(100)));
        assert!(power(100_000).is_ok());
        // A question within another one has no more than is left, after which the other one has nothing, either.
        let more = || Poly::from(Var(0)).add(&Poly::from(Var(1)));
        let both = within(1000, || (power(100_000), more()));
        assert_eq!(both, (Err(TooLarge::Work(1000)), Err(TooLarge::Work(1000))));
        let both = within(100_000, || (power(100), power(50_000)));
        assert!(matches!(both, (Err(TooLarge::Work(100)), Ok(_))));
        // Outside of questions nothing is counted.
        assert!(sum(0..5).pow(8).is_ok());
    }
}
