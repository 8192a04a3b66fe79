//! A set of values of the names: ranges, conditions, and a few points that are known to lie in it.
//!
//! A region may stand for more values than its conditions allow (a condition that nothing here can use is only held
//! against points), never for fewer: what is proved of it holds for all values, and its points are real.

pub(crate) mod divide;
mod factor;
mod points;
pub(crate) mod prove;

pub(crate) use factor::factors;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use crate::answer::Reason;
use crate::literal::{Literal, Relation};
use crate::poly::{Monomial, Poly, TooLarge, Var, floor, modulo};
use crate::region::points::with_values;
use crate::region::prove::Frame;
use crate::scope::{MAX_NAMES, Quotient, Scope};

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

/// Why a question that was put to a region has no answer there.
#[derive(Clone, Debug)]
pub(crate) enum Stop {
    /// It depends on whether this holds: ask again where it does, and where it does not.
    Fork(Literal),
    /// It depends on the remainder of a name modulo a small number.
    Residues(Var, i128),
    /// The quotient and the remainder of a name by a polynomial must have names.
    Quotient(Var, Poly),
    /// It is not decided.
    Undecided(Reason),
}

impl Stop {
    /// Whether evidence against one view is looked for before cases are told apart: a fork costs little, and makes the
    /// formula that people read.
    pub(crate) fn is_worth_a_refutation(&self) -> bool {
        !matches!(self, Stop::Fork(_) | Stop::Undecided(Reason::WorkLimit | Reason::TooLarge | Reason::TooManyTerms(_)))
    }
}

/// An answer, or why there is none.
pub(crate) type Ask<T> = Result<T, Stop>;

impl From<TooLarge> for Stop {
    fn from(err: TooLarge) -> Stop {
        Stop::Undecided(err.into())
    }
}

/// A value for every name.
pub(crate) type Point = Rc<[i128]>;

/// What all regions of one question share: quotients that were given names, and the work that was done.
#[derive(Debug)]
pub(crate) struct Shared {
    /// How many names the scope has.
    pub(crate) named: usize,
    /// Quotients and remainders, whose variables follow those of the scope.
    pub(crate) quotients: RefCell<Vec<Quotient>>,
    work: Cell<u64>,
}

impl Shared {
    /// The work that a question may take: far more than any that is known to be answered needs.
    const LIMIT: u64 = 400_000;

    /// The variable of the quotient or the remainder of a division; a new one if it has none.
    fn variable(&self, quotient: Quotient) -> Ask<Var> {
        let mut known = self.quotients.borrow_mut();
        let place = known.iter().position(|other| *other == quotient).unwrap_or_else(|| {
            known.push(quotient);
            known.len() - 1
        });
        // Names, quotients and what the lowering adds must stay below the 255 variables that there are.
        if place >= MAX_NAMES / 2 {
            return Err(Stop::Undecided(Reason::TooManyCases));
        }
        Ok(Var((self.named + place) as u8))
    }

    /// Counts work.
    pub(crate) fn spend(&self, units: usize) {
        self.work.set(self.work.get() + units as u64);
    }

    /// Whether the limit was reached.
    pub(crate) fn is_spent(&self) -> bool {
        self.work.get() > Shared::LIMIT
    }
}

/// A name that was split by its remainder: `var = modulus * quotient + residue`.
#[derive(Clone, Copy, Debug)]
struct Split {
    var: Var,
    quotient: Var,
    modulus: i128,
    residue: i128,
}

/// A set of values of the names.
#[derive(Clone, Debug)]
pub(crate) struct Region {
    /// The range of each variable, both ends included.
    bounds: Vec<(Option<i128>, Option<i128>)>,
    /// What is at least 0.
    pub(crate) at_least: Vec<Poly>,
    /// What is not 0.
    pub(crate) nonzero: Vec<Poly>,
    /// What is 0, and could not be solved for a name.
    zero: Vec<Poly>,
    /// Names that equal a polynomial in names that are not solved.
    solved: Vec<(Var, Poly)>,
    /// Conditions that are held against points only.
    others: Vec<Literal>,
    splits: Vec<Split>,
    samples: Vec<Point>,
    pub(crate) shared: Rc<Shared>,
    /// What the sign prover goes by, made when it is first asked.
    frame: OnceCell<Rc<Frame>>,
}

impl Region {
    /// All values that a scope allows, under further conditions; `None` where there are provably none.
    pub(crate) fn of(scope: &Scope, needs: &[Literal]) -> Option<Region> {
        // An end far past all numbers of views is none: sums of ends then stay within 128 bits.
        let is_end = |end: &i128| end.unsigned_abs() < 1 << 96;
        let quotients = scope.quotients().to_vec();
        let named = scope.names().len() - quotients.len();
        let mut region = Region {
            bounds: scope.names().iter().map(|name| (name.lo.filter(is_end), name.hi.filter(is_end))).collect(),
            at_least: Vec::new(),
            nonzero: Vec::new(),
            zero: Vec::new(),
            solved: Vec::new(),
            others: Vec::new(),
            splits: Vec::new(),
            samples: Vec::new(),
            shared: Rc::new(Shared { named, quotients: RefCell::new(quotients), work: Cell::new(0) }),
            frame: OnceCell::new(),
        };
        if region.bounds.iter().any(|range| matches!(range, (Some(lo), Some(hi)) if lo > hi)) {
            return None;
        }
        region.samples = region.first_samples();
        for (place, quotient) in scope.quotients().iter().enumerate() {
            let mut with = region.clone();
            match with.restore(Var((named + place) as u8), quotient) {
                Ok(()) => region = with,
                // What is too large to be computed with is not known, and no point is known to satisfy it.
                Err(_) => region.samples.clear(),
            }
        }
        for var in 0..region.bounds.len() {
            if let (Some(lo), Some(hi)) = region.bounds[var]
                && lo == hi
            {
                let mut with = region.clone();
                match with.solve(Var(var as u8), Poly::from(lo)) {
                    Ok(true) => region = with,
                    Ok(false) => return None,
                    // Its range says the same.
                    Err(_) => {}
                }
            }
        }
        scope.given().iter().chain(needs).try_fold(region, |region, literal| match region.assume(literal) {
            Ok(smaller) => smaller,
            // What is too large to be computed with is held against points only.
            Err(_) => {
                let mut region = region;
                region.others.push(literal.clone());
                region.keep_samples();
                Some(region)
            }
        })
    }

    /// What a quotient or a remainder of the scope is known to satisfy.
    fn restore(&mut self, var: Var, quotient: &Quotient) -> Ask<()> {
        let product = quotient.denominator.mul(&Poly::from(var))?;
        let rest = quotient.numerator.sub(&product)?;
        let remainder = if quotient.is_remainder { Poly::from(var) } else { rest };
        let below = quotient.denominator.plus_number(-1)?.sub(&remainder)?;
        self.add_at_least(remainder)?;
        self.add_at_least(below)?;
        Ok(())
    }

    /// How many variables there are.
    pub(crate) fn vars(&self) -> usize {
        self.bounds.len()
    }

    /// Whether a name was replaced by a polynomial in others.
    pub(crate) fn is_solved(&self, var: Var) -> bool {
        self.solved.iter().any(|solved| solved.0 == var)
    }

    /// What is 0, and could not be solved for a name.
    pub(crate) fn unsolved(&self) -> &[Poly] {
        &self.zero
    }

    /// The range of a variable, both ends included.
    pub(crate) fn bounds(&self, var: Var) -> (Option<i128>, Option<i128>) {
        self.bounds.get(usize::from(var.0)).copied().unwrap_or_default()
    }

    /// A new variable for the integers of a range that needs no name: an index.
    pub(crate) fn fresh(&mut self, lo: Option<i128>, hi: Option<i128>) -> Var {
        let var = Var(self.bounds.len() as u8);
        self.set_bounds(var, lo, hi);
        for point in &mut self.samples {
            *point = with_values(point, &[(var, lo.or(hi).unwrap_or(0))]);
        }
        var
    }

    /// A new variable for a number of which nothing is known but its values at the points.
    pub(crate) fn fresh_at(&mut self, value: impl Fn(&[i128]) -> Option<i128>) -> Var {
        let var = self.fresh(None, None);
        for point in &mut self.samples {
            let value = value(point).unwrap_or(0);
            *point = with_values(point, &[(var, value)]);
        }
        var
    }

    /// A new variable for the quotient, rounded down, of a polynomial by a positive one, with what is known of it.
    pub(crate) fn fresh_quotient(&mut self, dividend: &Poly, divisor: &Poly) -> Ask<Var> {
        let var = self.fresh_at(|point| {
            let divisor = divisor.eval(point).filter(|&divisor| divisor > 0)?;
            Some(floor(dividend.eval(point)?, divisor))
        });
        let remainder = dividend.sub(&divisor.mul(&Poly::from(var))?)?;
        let below = divisor.sub(&remainder)?.plus_number(-1)?;
        let end = self.quotient_end(dividend, divisor)?;
        if self.prove_ge(dividend) {
            self.set_bounds(var, Some(0), None);
            self.at_least.push(dividend.sub(&Poly::from(var))?);
        }
        self.at_least.extend([remainder, below]);
        match end.as_ref().map(|end| (end, end.number())) {
            Some((_, Some(end))) => self.set_bounds(var, self.bounds(var).0, Some(end)),
            Some((end, None)) => self.at_least.push(end.sub(&Poly::from(var))?),
            None => {}
        }
        self.frame = OnceCell::new();
        self.keep_samples();
        Ok(var)
    }

    /// The greatest value of a quotient by a positive polynomial, if that is known: from `64 q <= 767` follows `q <= 11`, and
    /// from `D q <= H D - 1` that `q <= H - 1`.
    ///
    /// One variable after the other, the last one first, is at the end at which the dividend is greatest, until its quotient is
    /// known.
    pub(crate) fn quotient_end(&self, dividend: &Poly, divisor: &Poly) -> Result<Option<Poly>, TooLarge> {
        let mut most = dividend.clone();
        for var in dividend.vars().into_iter().rev() {
            let Some((by, rest)) = most.linear_in(var) else { break };
            let (lo, hi) = self.bounds(var);
            let end = match self.prove_ge(&by) {
                true => hi.map(Poly::from).or_else(|| self.upper_end(var)),
                false if self.prove_ge(&by.neg()?) => lo.map(Poly::from),
                false => None,
            };
            let Some(end) = end else { continue };
            most = by.mul(&end)?.add(&rest)?;
            if let Some(division) = self.known_division(&most, divisor)? {
                return Ok(Some(division.quotient));
            }
        }
        Ok(None)
    }

    /// An upper end of a variable that is made of variables before it.
    fn upper_end(&self, var: Var) -> Option<Poly> {
        self.at_least.iter().find_map(|condition| {
            let (by, rest) = condition.linear_in(var)?;
            let is_before = rest.vars().last().is_none_or(|last| *last < var);
            (by.number() == Some(-1) && is_before).then_some(rest)
        })
    }

    /// Adds what a new variable is known to satisfy: that polynomials are at least 0.
    pub(crate) fn add_known(&mut self, at_least: impl IntoIterator<Item = Poly>) -> Ask<()> {
        for poly in at_least {
            // A range is one; anything else is new with the variable, so that there is no proof of it.
            match poly.terms() {
                [_] | [_, (Monomial::ONE, _)] => {
                    self.add_at_least(poly)?;
                }
                _ => self.at_least.push(poly),
            }
        }
        self.frame = OnceCell::new();
        self.keep_samples();
        Ok(())
    }

    /// Names that equal a polynomial in names that are not solved.
    pub(crate) fn solved(&self) -> &[(Var, Poly)] {
        &self.solved
    }

    fn set_bounds(&mut self, var: Var, lo: Option<i128>, hi: Option<i128>) {
        let place = usize::from(var.0);
        if self.bounds.len() <= place {
            self.bounds.resize(place + 1, (None, None));
            // Every point has a value for every variable.
            for point in self.samples.iter_mut().filter(|point| point.len() <= place) {
                *point = with_values(point, &[(var, 0)]);
            }
        }
        self.bounds[place] = (lo, hi);
        self.frame = OnceCell::new();
    }

    /// What the sign prover goes by.
    pub(crate) fn frame(&self) -> Rc<Frame> {
        self.frame.get_or_init(|| Rc::new(Frame::of(self))).clone()
    }

    /// The points that are known to lie in the region.
    pub(crate) fn samples(&self) -> &[Point] {
        &self.samples
    }

    /// A polynomial with solved names replaced.
    pub(crate) fn reduce(&self, poly: &Poly) -> Result<Poly, TooLarge> {
        if self.solved.is_empty() && self.zero.is_empty() {
            return Ok(poly.clone());
        }
        let mut reduced = poly.clone();
        for (var, by) in &self.solved {
            reduced = reduced.substitute(*var, by)?;
        }
        for zero in &self.zero {
            reduced = rewritten(reduced, zero)?;
        }
        Ok(reduced)
    }

    // ---- questions

    /// Whether `f >= 0`, if that is known without looking at cases.
    pub(crate) fn known_ge(&self, f: &Poly) -> Option<bool> {
        match self.try_ge(f) {
            Tried::Known(known) => Some(known),
            Tried::Both | Tried::Open => None,
        }
    }

    fn try_ge(&self, f: &Poly) -> Tried {
        if let Some(number) = f.number() {
            return Tried::Known(number >= 0);
        }
        let (mut yes, mut no) = (false, false);
        for point in &self.samples {
            match f.eval(point) {
                Some(value) if value >= 0 => yes = true,
                Some(_) => no = true,
                None => {}
            }
            if yes && no {
                return Tried::Both;
            }
        }
        if !no && self.prove_ge(f) {
            return Tried::Known(true);
        }
        if !yes && negative(f).is_ok_and(|below| self.prove_ge(&below)) {
            return Tried::Known(false);
        }
        Tried::Open
    }

    /// Whether `f >= 0`.
    pub(crate) fn ask_ge(&self, f: &Poly) -> Ask<bool> {
        match self.try_ge(f) {
            Tried::Known(known) => Ok(known),
            Tried::Both | Tried::Open => {
                self.check_work()?;
                let simpler = self.same_sign(f);
                match simpler.number() {
                    Some(number) => Ok(number >= 0),
                    None => Err(Stop::Fork(Literal::at_least(simpler))),
                }
            }
        }
    }

    /// Whether `f == 0`, if that is known without looking at cases.
    pub(crate) fn known_eq(&self, f: &Poly) -> Option<bool> {
        match self.try_eq(f) {
            Tried::Known(known) => Some(known),
            Tried::Both | Tried::Open => None,
        }
    }

    fn try_eq(&self, f: &Poly) -> Tried {
        if let Some(number) = f.number() {
            return Tried::Known(number == 0);
        }
        let (mut yes, mut no) = (false, false);
        for point in &self.samples {
            match f.eval(point) {
                Some(0) => yes = true,
                Some(_) => no = true,
                None => {}
            }
            if yes && no {
                return Tried::Both;
            }
        }
        if !no && self.prove_eq(f) {
            return Tried::Known(true);
        }
        if !yes && self.prove_ne(f) {
            return Tried::Known(false);
        }
        Tried::Open
    }

    /// Whether `f == 0`.
    pub(crate) fn ask_eq(&self, f: &Poly) -> Ask<bool> {
        match self.try_eq(f) {
            Tried::Known(known) => Ok(known),
            Tried::Both | Tried::Open => {
                self.check_work()?;
                // A product is 0 where a factor is: one at a time, and those that cannot be 0 not at all.
                let factors = self.factors(f);
                let factor = factors.into_iter().find(|factor| self.known_eq(factor).is_none());
                Err(Stop::Fork(Literal::equal(positive_lead(factor.unwrap_or_else(|| f.clone())))))
            }
        }
    }

    /// A question about a name with few values, one value at a time.
    pub(crate) fn few_values(&self) -> Option<Stop> {
        (0..self.bounds.len()).map(|var| Var(var as u8)).filter(|&var| !self.is_solved(var)).find_map(|var| {
            let (lo, hi) = self.bounds(var);
            let (lo, hi) = (lo?, hi?);
            let value = Poly::from(var).plus_number(-lo).ok()?;
            (hi > lo && hi - lo < 12).then(|| Stop::Fork(Literal::equal(value)))
        })
    }

    /// Stops where the limit of the work was reached.
    pub(crate) fn check_work(&self) -> Ask<()> {
        if self.shared.is_spent() { Err(Stop::Undecided(Reason::WorkLimit)) } else { Ok(()) }
    }

    /// Whether a condition holds for all values, for none, or for some that are known.
    pub(crate) fn truth(&self, literal: &Literal) -> Truth {
        let reduced = self.reduce(&literal.poly);
        let known = reduced.ok().and_then(|poly| match (literal.modulus, literal.relation) {
            (None, Relation::AtLeast) => self.known_ge(&poly),
            (None, Relation::Equal) => self.known_eq(&poly),
            (None, Relation::NotEqual) => self.known_eq(&poly).map(|equal| !equal),
            (Some(modulus), relation) => {
                let residue = residue_of(&poly, modulus)?;
                Some((residue == 0) == (relation == Relation::Equal))
            }
        });
        match known {
            Some(true) => Truth::Always,
            Some(false) => Truth::Never,
            None => {
                let at = |holds: bool| {
                    let found = self.samples.iter().find(|point| literal.holds(point) == Some(holds));
                    found.map(|point| point[..self.shared.named.min(point.len())].to_vec())
                };
                Truth::Depends { yes: at(true), no: at(false) }
            }
        }
    }

    // ---- smaller regions

    /// The part of the region where a condition holds; `None` where that is provably empty.
    pub(crate) fn assume(&self, literal: &Literal) -> Ask<Option<Region>> {
        let mut smaller = self.clone();
        let poly = self.reduce(&literal.poly)?;
        let possible = match (literal.modulus, literal.relation) {
            (None, Relation::AtLeast) => smaller.add_at_least(poly)?,
            (None, Relation::Equal) => smaller.add_zero(poly)?,
            (None, Relation::NotEqual) => smaller.add_nonzero(poly)?,
            (Some(modulus), Relation::Equal) => smaller.add_divisible(poly, modulus)?,
            (Some(2), Relation::NotEqual) => smaller.add_divisible(poly.plus_number(1)?, 2)?,
            (Some(modulus), _) => {
                smaller.others.push(literal.clone());
                residue_of(&poly, modulus) != Some(0)
            }
        };
        if !possible {
            return Ok(None);
        }
        smaller.keep_samples();
        smaller.refill(&self.samples, &literal.poly);
        Ok(Some(smaller))
    }

    /// The part of the region where `var % modulus == residue`.
    pub(crate) fn with_residue(&self, var: Var, modulus: i128, residue: i128) -> Ask<Option<Region>> {
        let poly = Poly::from(var).plus_number(-residue)?;
        self.assume(&Literal::divisible(poly, modulus))
    }

    /// The same region, with names for the quotient and the remainder of a name by a positive polynomial.
    pub(crate) fn with_quotient(&self, var: Var, by: &Poly) -> Ask<Option<Region>> {
        let mut named = self.clone();
        let [quotient, remainder] = [false, true].map(|is_remainder| {
            let (numerator, denominator) = (Poly::from(var), by.clone());
            self.shared.variable(Quotient { numerator, denominator, is_remainder })
        });
        let (quotient, remainder) = (quotient?, remainder?);
        named.set_bounds(quotient, None, None);
        named.set_bounds(remainder, Some(0), None);
        for point in &mut named.samples {
            let (value, divisor) = (point[usize::from(var.0)], by.eval(point).unwrap_or(0));
            if divisor > 0 {
                *point = with_values(point, &[(quotient, floor(value, divisor)), (remainder, modulo(value, divisor))]);
            }
        }
        // A number divided by a positive one keeps its sign.
        if self.bounds(var).0.is_some_and(|lo| lo >= 0) {
            named.set_bounds(quotient, Some(0), None);
        }
        let value = by.mul(&Poly::from(quotient))?.add(&Poly::from(remainder))?;
        let mut possible = named.add_at_least(by.plus_number(-1)?.sub(&Poly::from(remainder))?)?;
        possible &= named.solve(var, value)?;
        if !possible {
            return Ok(None);
        }
        named.keep_samples();
        Ok(Some(named))
    }

    /// Adds `poly >= 0`, reduced; `false` where that is impossible.
    fn add_at_least(&mut self, poly: Poly) -> Ask<bool> {
        if let Some(number) = poly.number() {
            return Ok(number >= 0);
        }
        let poly = self.same_sign(&poly);
        if self.prove_ge(&poly) {
            return Ok(true);
        }
        if self.prove_ge(&negative(&poly)?) {
            return Ok(false);
        }
        if self.prove_ge(&poly.neg()?) {
            return self.add_zero(poly);
        }
        if let [(monomial, coefficient), ..] = poly.terms()
            && monomial.degree() == 1
            && poly.terms().len() <= 2
            && poly.terms().get(1).is_none_or(|term| term.0.degree() == 0)
            && let Some(var) = monomial.factors().next()
        {
            let (mut lo, mut hi) = self.bounds(var);
            let end = poly.constant();
            if *coefficient > 0 {
                lo = Some(-floor(end, *coefficient)).max(lo);
            } else {
                let end = floor(end, -coefficient);
                hi = Some(hi.map_or(end, |hi| hi.min(end)));
            }
            self.set_bounds(var, lo, hi);
            return match (lo, hi) {
                (Some(lo), Some(hi)) if lo > hi => Ok(false),
                (Some(lo), Some(hi)) if lo == hi => self.solve(var, Poly::from(lo)),
                _ => self.review(),
            };
        }
        self.at_least.push(poly);
        self.frame = OnceCell::new();
        Ok(true)
    }

    /// Looks at the conditions again after a range has become smaller: some may now hold anyway, or say more.
    fn review(&mut self) -> Ask<bool> {
        self.frame = OnceCell::new();
        for poly in std::mem::take(&mut self.nonzero) {
            if !self.add_nonzero(poly)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Adds `poly == 0`, reduced; `false` where that is impossible.
    fn add_zero(&mut self, poly: Poly) -> Ask<bool> {
        if let Some(number) = poly.number() {
            return Ok(number == 0);
        }
        // Factors that cannot be 0 are of no consequence.
        let mut factors = self.factors(&poly);
        factors.retain(|factor| !self.prove_ne(factor));
        let poly = match &factors[..] {
            [] => return Ok(false),
            [factor] => factor.clone(),
            _ => poly,
        };
        // Free names (strides) first, then the last name: earlier ones are what people call the rest by.
        let mut vars = poly.vars();
        vars.sort_by_key(|&var| {
            let (lo, hi) = self.bounds(var);
            (lo.is_some() || hi.is_some(), usize::from(var.0) < self.shared.named, std::cmp::Reverse(var))
        });
        for &var in &vars {
            if let Some((by, rest)) = poly.linear_in(var)
                && let Some(by @ (1 | -1)) = by.number()
            {
                return self.solve(var, rest.scale(-by)?);
            }
        }
        // A sum of terms that are not negative is 0 term by term: a single name to a power is then at its end.
        for sum in [poly.clone(), poly.neg()?] {
            let frame = self.frame();
            if let Some(ends) = frame.ends_where_zero(&sum) {
                for (var, end) in ends {
                    if self.solved.iter().all(|solved| solved.0 != var) && !self.solve(var, Poly::from(end))? {
                        return Ok(false);
                    }
                }
                let rest = self.reduce(&poly)?;
                if rest.is_zero() {
                    return Ok(true);
                }
                self.zero.push(positive_lead(rest));
                self.frame = OnceCell::new();
                return Ok(true);
            }
        }
        self.zero.push(positive_lead(poly));
        self.frame = OnceCell::new();
        Ok(true)
    }

    /// Adds `poly != 0`, reduced; `false` where that is impossible.
    fn add_nonzero(&mut self, poly: Poly) -> Ask<bool> {
        if let Some(number) = poly.number() {
            return Ok(number != 0);
        }
        let mut factors = self.factors(&poly);
        factors.retain(|factor| !self.prove_ne(factor));
        for factor in factors {
            if self.prove_eq(&factor) {
                return Ok(false);
            }
            let (up, down) = (self.prove_ge(&factor), self.prove_ge(&factor.neg()?));
            let possible = match (up, down) {
                (true, _) => self.add_at_least(factor.plus_number(-1)?)?,
                (_, true) => self.add_at_least(negative(&factor)?)?,
                _ => {
                    self.nonzero.push(factor);
                    true
                }
            };
            if !possible {
                return Ok(false);
            }
        }
        self.frame = OnceCell::new();
        Ok(true)
    }

    /// Adds `poly % modulus == 0`, reduced; `false` where that is impossible.
    fn add_divisible(&mut self, poly: Poly, modulus: i128) -> Ask<bool> {
        if let Some(residue) = residue_of(&poly, modulus) {
            return Ok(residue == 0);
        }
        // A name with the factor 1 or -1 is a multiple and a rest.
        for var in poly.vars().into_iter().rev() {
            if let Some((by, rest)) = poly.linear_in(var)
                && let Some(by @ (1 | -1)) = by.number()
                && let Some(residue) = rest.scale(-by)?.number()
            {
                return self.split(var, modulus, modulo(residue, modulus));
            }
        }
        let quotient = self.shared.variable(Quotient {
            numerator: poly.clone(),
            denominator: Poly::from(modulus),
            is_remainder: false,
        })?;
        self.set_bounds(quotient, None, None);
        if self.prove_ge(&poly) {
            self.set_bounds(quotient, Some(0), None);
        }
        for point in &mut self.samples {
            let value = poly.eval(point).map_or(0, |value| floor(value, modulus));
            *point = with_values(point, &[(quotient, value)]);
        }
        self.keep_exactly(|point| poly.eval(point).is_some_and(|value| modulo(value, modulus) == 0));
        self.add_zero(poly.sub(&Poly::from(quotient).scale(modulus)?)?)
    }

    /// Makes a name a multiple of a new one and a residue.
    fn split(&mut self, var: Var, modulus: i128, residue: i128) -> Ask<bool> {
        let quotient = self.shared.variable(Quotient {
            numerator: Poly::from(var),
            denominator: Poly::from(modulus),
            is_remainder: false,
        })?;
        let (lo, hi) = self.bounds(var);
        // modulus q + residue lies in the range.
        let lo = lo.map(|lo| -floor(residue.saturating_sub(lo), modulus));
        let hi = hi.map(|hi| floor(hi.saturating_sub(residue), modulus));
        if matches!((lo, hi), (Some(lo), Some(hi)) if lo > hi) {
            return Ok(false);
        }
        self.set_bounds(quotient, lo, hi);
        // Points of other residues are moved to the next value that has this one: `keep_samples` asks if that is allowed.
        for point in &mut self.samples {
            let value = point[usize::from(var.0)];
            let value = value + modulo(residue - value, modulus);
            *point = with_values(point, &[(var, value), (quotient, floor(value, modulus))]);
        }
        self.splits.push(Split { var, quotient, modulus, residue });
        let value = Poly::from(quotient).scale(modulus)?.plus_number(residue)?;
        let possible = self.solve(var, value)?;
        match (lo, hi) {
            (Some(lo), Some(hi)) if lo == hi && possible => self.solve(quotient, Poly::from(lo)),
            _ => Ok(possible),
        }
    }

    /// Replaces a name by a polynomial in other names everywhere; `false` where that is impossible.
    fn solve(&mut self, var: Var, by: Poly) -> Ask<bool> {
        for (_, known) in &mut self.solved {
            *known = known.substitute(var, &by)?;
        }
        if self.bounds.len() <= usize::from(var.0) {
            self.set_bounds(var, None, None);
        }
        self.solved.push((var, by.clone()));
        self.frame = OnceCell::new();
        let (lo, hi) = self.bounds(var);
        let lists = [&mut self.at_least, &mut self.zero, &mut self.nonzero].map(std::mem::take);
        let [at_least, zero, nonzero] = lists;
        for poly in zero {
            if !self.add_zero(self.reduce(&poly)?)? {
                return Ok(false);
            }
        }
        let ends = [
            lo.map(|lo| by.plus_number(-lo)).transpose()?,
            hi.map(|hi| by.neg().and_then(|by| by.plus_number(hi))).transpose()?,
        ];
        for poly in at_least.into_iter().chain(ends.into_iter().flatten()) {
            if !self.add_at_least(self.reduce(&poly)?)? {
                return Ok(false);
            }
        }
        for poly in nonzero {
            if !self.add_nonzero(self.reduce(&poly)?)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// A condition of this region in the names of the scope, where names were split by their remainders.
    pub(crate) fn in_names(&self, literal: &Literal) -> Result<Literal, TooLarge> {
        let (mut poly, mut by) = (literal.poly.clone(), literal.modulus);
        for split in self.splits.iter().rev() {
            let degree = poly.degree_in(split.quotient);
            if degree == 0 {
                continue;
            }
            // modulus^degree f(q), in which modulus q is var - residue.
            let whole = Poly::from(split.var).plus_number(-split.residue)?;
            let powers = poly.powers_of(split.quotient);
            let mut sum = Poly::zero();
            for (power, coefficient) in powers.iter().enumerate() {
                let missing = degree - power as u32;
                let scale = Poly::from(split.modulus).pow(missing)?;
                sum = sum.add(&coefficient.mul(&whole.pow(power as u32)?)?.mul(&scale)?)?;
            }
            poly = sum;
            let scale = split.modulus.checked_pow(degree).ok_or(TooLarge::Number)?;
            by = by.map(|by| by.checked_mul(scale).ok_or(TooLarge::Number)).transpose()?;
        }
        let content = poly.content();
        let poly = match by {
            None if content > 1 => poly.over_number(content),
            None => poly,
            // The constant as the negation of a residue: `n - 3` modulo 4, and not `n - 7`.
            Some(by) => poly.plus_number(-poly.constant())?.plus_number(-modulo(-poly.constant(), by))?,
        };
        Ok(Literal { poly, relation: literal.relation, modulus: by })
    }
}

/// What is known of a question without looking at cases.
enum Tried {
    Known(bool),
    /// There are points of both answers.
    Both,
    Open,
}

/// `-f - 1`, which is at least 0 where `f` is negative.
pub(crate) fn negative(f: &Poly) -> Result<Poly, TooLarge> {
    f.neg()?.plus_number(-1)
}

/// The polynomial or its negation, whichever has a positive first coefficient.
pub(crate) fn positive_lead(poly: Poly) -> Poly {
    match poly.terms().first() {
        Some(term) if term.1 < 0 => poly.neg().unwrap_or(poly),
        _ => poly,
    }
}

/// The residue of a polynomial whose names all have multiples of the modulus as factors.
fn residue_of(poly: &Poly, modulus: i128) -> Option<i128> {
    let named = poly.terms().iter().filter(|term| term.0.degree() > 0);
    named.map(|term| term.1).all(|factor| factor % modulus == 0).then(|| modulo(poly.constant(), modulus))
}

/// A polynomial with the first monomial of another one, which is 0, replaced by what that equals.
fn rewritten(mut poly: Poly, zero: &Poly) -> Result<Poly, TooLarge> {
    let Some(&(lead, sign @ (1 | -1))) = zero.terms().first() else { return Ok(poly) };
    for _ in 0..16 {
        let found = poly.terms().iter().find_map(|&(monomial, factor)| Some((monomial.over(lead)?, factor)));
        let Some((by, factor)) = found else { break };
        poly = poly.sub(&zero.mul(&Poly::term(by, factor * sign))?)?;
    }
    Ok(poly)
}
