//! Expressions read as polynomials over names and *atoms*, and conditions as comparisons of those with 0.
//!
//! An atom is what no polynomial says: a quotient that is rounded down, a minimum, a choice. Equal atoms are one variable of the
//! region, with what is known of it (`d q <= p <= d q + d - 1`), so that equal ones cancel and what follows is proved with
//! them. A remainder is no atom: `p % d` is `p - d (p // d)`. So what an expression is read as does not depend on how it is
//! written, as far as this goes, and two expressions that are read as the same have the same values: what is found is held
//! against what was given by reading it again.

use std::collections::HashMap;

use indexpr::{Binary, Expr, Graph, Node};
use shapetracker_base::int::gcd;

use crate::answer::Reason;
use crate::literal::{Literal, Relation};
use crate::poly::{Monomial, Poly, Var, floor};
use crate::region::divide::long_division;
use crate::region::{Ask, Region, Stop, negative, positive_lead};

/// A variable is a byte, and writing takes some more.
pub(crate) const MOST_VARIABLES: usize = 190;
/// Polynomials of so many terms are not looked into.
const MOST_TERMS: usize = 64;
/// So many operands of `min`, `max`, `and` or `or` are judged by each other.
const MOST_JUDGED: usize = 6;
/// So many ways to write quotients are kept.
const MOST_SPELLINGS: usize = 96;

/// What no polynomial says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Atom {
    /// The quotient by a polynomial that is positive, rounded down; or by one that is not 0, of which nothing is known.
    Quotient { dividend: Poly, divisor: Poly, is_positive: bool },
    /// The least of some polynomials.
    Least(Vec<Poly>),
    /// The greatest of some polynomials.
    Greatest(Vec<Poly>),
    /// The first where a condition holds, and the second elsewhere.
    Choice(Truth, Poly, Poly),
    /// The exclusive or of bits.
    Xor(Poly, Poly),
}

/// A condition, by its place among those that a reader knows. Equal ones have equal places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Truth(u32);

/// What a condition is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Fact {
    Known(bool),
    /// A polynomial compared with 0: at least, or equal.
    Literal(Relation, Poly),
    All(Vec<Truth>),
    Any(Vec<Truth>),
}

/// A way to write a quotient: `dividend // divisor` is `sign * atom + shift`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Spelling {
    pub(crate) dividend: Poly,
    pub(crate) divisor: Poly,
    pub(crate) atom: Var,
    pub(crate) sign: i128,
    pub(crate) shift: Poly,
}

/// What an expression is read as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Meaning {
    Number(Poly),
    Truth(Truth),
}

/// A quotient, and the atom in it, if there is one, with its sign.
type Floored = (Poly, Option<(Var, i128)>);

/// Reads expressions on a region.
#[derive(Clone)]
pub(crate) struct Reader {
    pub(crate) region: Region,
    /// The first variable that is an atom.
    pub(crate) first: usize,
    /// The atoms, in the order of their variables.
    pub(crate) atoms: Vec<Atom>,
    pub(crate) facts: Vec<Fact>,
    pub(crate) spellings: Vec<Spelling>,
}

impl Reader {
    pub(crate) fn new(region: Region) -> Reader {
        // Quotients that conditions have given names come after those of the scope, and have places of their own.
        Reader { first: region.vars(), region, atoms: Vec::new(), facts: Vec::new(), spellings: Vec::new() }
    }

    /// What an expression is, given what the variables of its graph are.
    pub(crate) fn read(&mut self, graph: &Graph, root: Expr, variables: &[Poly]) -> Ask<Meaning> {
        let mut known: HashMap<Expr, Meaning> = HashMap::new();
        for part in graph.parts(&[root]) {
            let meaning = self.meaning(graph.node(part), variables, |operand| known.get(&operand).cloned())?;
            known.insert(part, meaning);
        }
        known.remove(&root).ok_or(UNREAD)
    }

    fn meaning(&mut self, node: Node, variables: &[Poly], of: impl Fn(Expr) -> Option<Meaning>) -> Ask<Meaning> {
        let number = |operand| match of(operand) {
            Some(Meaning::Number(poly)) => Ok(poly),
            _ => Err(UNREAD),
        };
        let truth = |operand| match of(operand) {
            Some(Meaning::Truth(truth)) => Ok(truth),
            _ => Err(UNREAD),
        };
        let value = match node {
            Node::Int(value) => Poly::from(value),
            Node::Bool(value) => return Ok(Meaning::Truth(self.fact(Fact::Known(value)))),
            Node::Variable(place) => self.region.reduce(variables.get(place).ok_or(UNREAD)?)?,
            Node::Not(a) => return Ok(Meaning::Truth(self.negation(truth(a)?)?)),
            Node::Within(a, begin, end) => {
                let a = number(a)?;
                let low = self.at_least(&a.plus_number(-i128::from(begin))?)?;
                let high = self.at_least(&a.neg()?.plus_number(i128::from(end) - 1)?)?;
                return Ok(Meaning::Truth(self.all(vec![low, high])?));
            }
            Node::Select(condition, a, b) => match (of(a), of(b)) {
                (Some(Meaning::Number(a)), Some(Meaning::Number(b))) => self.choice(truth(condition)?, a, b)?,
                (Some(Meaning::Truth(a)), Some(Meaning::Truth(b))) => {
                    let condition = truth(condition)?;
                    let other = self.negation(condition)?;
                    let (then, otherwise) = (self.all(vec![condition, a])?, self.all(vec![other, b])?);
                    return Ok(Meaning::Truth(self.any(&[then, otherwise])?));
                }
                _ => return Err(UNREAD),
            },
            Node::Binary(op @ (Binary::And | Binary::Or), a, b) => {
                let both = vec![truth(a)?, truth(b)?];
                let truth = if op == Binary::And { self.all(both)? } else { self.any(&both)? };
                return Ok(Meaning::Truth(truth));
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (number(a)?, number(b)?);
                let truth = match op {
                    Binary::Lt => self.at_least(&b.sub(&a)?.plus_number(-1)?)?,
                    Binary::Le => self.at_least(&b.sub(&a)?)?,
                    Binary::Gt => self.at_least(&a.sub(&b)?.plus_number(-1)?)?,
                    Binary::Ge => self.at_least(&a.sub(&b)?)?,
                    Binary::Eq => self.equal(&a.sub(&b)?)?,
                    Binary::Ne => {
                        let equal = self.equal(&a.sub(&b)?)?;
                        self.negation(equal)?
                    }
                    _ => return Ok(Meaning::Number(self.number(op, &a, &b)?)),
                };
                return Ok(Meaning::Truth(truth));
            }
            _ => return Err(UNREAD),
        };
        Ok(Meaning::Number(value))
    }

    fn number(&mut self, op: Binary, a: &Poly, b: &Poly) -> Ask<Poly> {
        let value = match op {
            Binary::Add => a.add(b)?,
            Binary::Sub => a.sub(b)?,
            Binary::Mul => a.mul(b)?,
            Binary::Div => self.quotient(a, b)?,
            Binary::Mod => a.sub(&b.mul(&self.quotient(a, b)?)?)?,
            Binary::Min => self.extreme(true, a, b)?,
            Binary::Max => self.extreme(false, a, b)?,
            Binary::Xor if a == b => Poly::zero(),
            Binary::Xor if a.is_zero() => b.clone(),
            Binary::Xor if b.is_zero() => a.clone(),
            Binary::Xor => {
                let (a, b) = (a.min(b).clone(), a.max(b).clone());
                self.atom(Atom::Xor(a, b))?
            }
            _ => return Err(UNREAD),
        };
        if value.terms().len() > MOST_TERMS {
            return Err(Stop::Undecided(Reason::TooManyTerms(value.terms().len())));
        }
        Ok(self.region.reduce(&value)?)
    }

    // ---- atoms

    /// What an atom is.
    pub(crate) fn atom_of(&self, var: Var) -> Option<&Atom> {
        self.atoms.get(usize::from(var.0).checked_sub(self.first)?)
    }

    /// The variable of an atom, with what is known of it.
    fn atom(&mut self, atom: Atom) -> Ask<Poly> {
        if let Some(place) = self.atoms.iter().position(|known| *known == atom) {
            return Ok(Poly::from(Var((self.first + place) as u8)));
        }
        if self.first + self.atoms.len() >= MOST_VARIABLES {
            return Err(Stop::Undecided(Reason::TooManyCases));
        }
        let not_negative = |region: &Region, all: &[&Poly]| all.iter().all(|poly| known_ge(region, poly) == Some(true));
        let var = match &atom {
            Atom::Quotient { dividend, divisor, is_positive: true } => self.region.fresh_quotient(dividend, divisor)?,
            Atom::Quotient { dividend, divisor, .. } => {
                let value = |point: &[i128]| {
                    let divisor = divisor.eval(point).filter(|&divisor| divisor != 0)?;
                    Some(floor(dividend.eval(point)?, divisor))
                };
                self.region.fresh_at(value)
            }
            Atom::Least(list) => {
                let value = |point: &[i128]| list.iter().map(|poly| poly.eval(point)).min()?;
                let natural = not_negative(&self.region, &list.iter().collect::<Vec<_>>());
                let var = self.region.fresh_at(value);
                let least = Poly::from(var);
                let few = &list[..list.len().min(MOST_JUDGED)];
                let below = few.iter().map(|poly| poly.sub(&least)).collect::<Result<Vec<_>, _>>()?;
                self.region.add_known(natural.then(|| least.clone()).into_iter().chain(below))?;
                var
            }
            Atom::Greatest(list) => {
                let value = |point: &[i128]| list.iter().map(|poly| poly.eval(point)).max()?;
                let natural = list.iter().any(|poly| known_ge(&self.region, poly) == Some(true));
                let var = self.region.fresh_at(value);
                let greatest = Poly::from(var);
                let few = &list[..list.len().min(MOST_JUDGED)];
                let above = few.iter().map(|poly| greatest.sub(poly)).collect::<Result<Vec<_>, _>>()?;
                self.region.add_known(natural.then(|| greatest.clone()).into_iter().chain(above))?;
                var
            }
            Atom::Choice(condition, a, b) => {
                let natural = not_negative(&self.region, &[a, b]);
                let facts = &self.facts;
                let value = |point: &[i128]| {
                    let holds = holds(facts, *condition, point)?;
                    if holds { a.eval(point) } else { b.eval(point) }
                };
                let var = self.region.fresh_at(value);
                let mut known = Vec::new();
                if natural {
                    known.push(Poly::from(var));
                }
                if let (Some(a), Some(b)) = (a.number(), b.number()) {
                    known.push(Poly::from(var).plus_number(-a.min(b))?);
                    known.push(Poly::from(a.max(b)).sub(&Poly::from(var))?);
                }
                self.region.add_known(known)?;
                var
            }
            Atom::Xor(a, b) => {
                let natural = not_negative(&self.region, &[a, b]);
                let var = self.region.fresh_at(|point| Some(a.eval(point)? ^ b.eval(point)?));
                self.region.add_known(natural.then(|| Poly::from(var)))?;
                var
            }
        };
        if usize::from(var.0) != self.first + self.atoms.len() {
            return Err(UNREAD);
        }
        self.atoms.push(atom);
        Ok(Poly::from(var))
    }

    /// The last atom in a polynomial; 0 where there is none.
    fn rank(&self, poly: &Poly) -> usize {
        poly.vars().last().map_or(0, |var| usize::from(var.0))
    }

    // ---- quotients

    /// Whether a number is known not to be 0.
    pub(crate) fn is_nonzero(&self, poly: &Poly) -> bool {
        self.region.reduce(poly).is_ok_and(|poly| self.region.known_eq(&poly) == Some(false))
    }

    /// The quotient of two numbers, rounded down.
    fn quotient(&mut self, a: &Poly, b: &Poly) -> Ask<Poly> {
        if !self.is_nonzero(b) {
            return Err(UNREAD);
        }
        if let Some(quotient) = a.div_exact(b)? {
            return Ok(self.region.reduce(&quotient)?);
        }
        if known_ge(&self.region, &b.plus_number(-1)?) == Some(true) {
            return self.quotient_by_positive(a, b);
        }
        let (value, atom) = if known_ge(&self.region, &negative(b)?) == Some(true) {
            self.floored(&a.neg()?, &b.neg()?, true)?
        } else {
            // Multiples of the divisor may be taken out whatever its sign is.
            let multiples = long_division(a, b, None)?;
            let rest = a.sub(&multiples.mul(b)?)?;
            if rest.is_zero() {
                return Ok(multiples);
            }
            let quotient = self.atom(Atom::Quotient { dividend: rest, divisor: b.clone(), is_positive: false })?;
            (multiples.add(&quotient)?, quotient.as_var().map(|var| (var, 1)))
        };
        self.spelled(a, b, value, atom)
    }

    /// The quotient of two numbers, rounded down, of which the second is positive wherever this matters.
    pub(crate) fn quotient_by_positive(&mut self, a: &Poly, b: &Poly) -> Ask<Poly> {
        let (value, atom) = self.floored(a, b, true)?;
        self.spelled(a, b, value, atom)
    }

    /// Keeps how a quotient was written: that may be shorter than as it is known.
    fn spelled(&mut self, a: &Poly, b: &Poly, value: Poly, atom: Option<(Var, i128)>) -> Ask<Poly> {
        if let Some((atom, sign)) = atom
            && self.rank(a).max(self.rank(b)) < usize::from(atom.0)
            && self.spellings.len() < MOST_SPELLINGS
        {
            let shift = value.sub(&Poly::from(atom).scale(sign)?)?;
            let spelling = Spelling { dividend: a.clone(), divisor: b.clone(), atom, sign, shift };
            if !self.spellings.contains(&spelling) {
                self.spellings.push(spelling);
            }
        }
        Ok(value)
    }

    /// The quotient by a positive number, rounded down.
    ///
    /// Multiples of the divisor are taken out term by term. Where the divisor has a factor by which the quotient is known,
    /// `floor(x / (g h))` is `floor(floor(x / g) / h)`; and the floor of a floor is one. Of `floor(x / d)` and
    /// `-1 - floor((-1 - x) / d)`, which are equal, that with a positive first coefficient is taken, and that with the
    /// smaller coefficients where the divisor is a number. So what is left is the same however the dividend was written.
    fn floored(&mut self, a: &Poly, by: &Poly, may_turn: bool) -> Ask<Floored> {
        // What is asked of a region has no names in it that are solved there, as what atoms were made of may have.
        let (a, by) = (&self.region.reduce(a)?, &self.region.reduce(by)?);
        if let Some(division) = self.region.known_division(a, by)? {
            return Ok((self.region.reduce(&division.quotient)?, None));
        }
        let multiples = long_division(a, by, None)?;
        let rest = a.sub(&multiples.mul(by)?)?;
        if !multiples.is_zero()
            && let Some(division) = self.region.known_division(&rest, by)?
        {
            return Ok((self.region.reduce(&multiples.add(&division.quotient)?)?, None));
        }
        for factor in self.factors(&rest, by)? {
            if let Some(other) = by.div_exact(&factor)?
                && let Some(first) = self.region.known_division(&rest, &factor)?
            {
                let (quotient, atom) = self.floored(&first.quotient, &other, true)?;
                return Ok((multiples.add(&quotient)?, atom));
            }
        }
        if let Some((inner, dividend, divisor)) = self.only_quotient(&rest) {
            let others = rest.sub(&Poly::from(inner))?;
            let dividend = dividend.add(&divisor.mul(&others)?)?;
            let (quotient, atom) = self.floored(&dividend, &divisor.mul(by)?, true)?;
            return Ok((multiples.add(&quotient)?, atom));
        }
        if may_turn {
            let turned = negative(&rest)?;
            let inner = turned.sub(&long_division(&turned, by, None)?.mul(by)?)?;
            let turns = match by.number() {
                Some(_) => inner < rest,
                None => rest.terms().first().is_some_and(|first| first.1 < 0),
            };
            if turns {
                let (quotient, atom) = self.floored(&turned, by, false)?;
                let value = multiples.sub(&quotient)?.plus_number(-1)?;
                return Ok((value, atom.map(|(atom, sign)| (atom, -sign))));
            }
        }
        let atom = self.atom(Atom::Quotient { dividend: rest, divisor: by.clone(), is_positive: true })?;
        let var = atom.as_var().ok_or(UNREAD)?;
        Ok((multiples.add(&atom)?, Some((var, 1))))
    }

    /// Factors of a divisor by which it may be divided first, the largest first.
    fn factors(&self, dividend: &Poly, by: &Poly) -> Ask<Vec<Poly>> {
        const MOST: usize = 12;
        let content = by.content();
        let mut numbers: Vec<i128> = vec![1];
        for &(monomial, factor) in dividend.terms() {
            let common = gcd(content, factor);
            if monomial != Monomial::ONE && !numbers.contains(&common) {
                numbers.push(common);
            }
        }
        numbers.sort_unstable_by_key(|number| std::cmp::Reverse(*number));
        let mut products = vec![Poly::one()];
        for factor in self.region.factors(by) {
            if products.len() > MOST {
                break;
            }
            if known_ge(&self.region, &factor.plus_number(-1)?) == Some(true) {
                let with: Vec<Poly> = products.iter().map(|product| product.mul(&factor)).collect::<Result<_, _>>()?;
                products.extend(with);
            }
        }
        let mut factors: Vec<Poly> = Vec::new();
        for product in products.iter().rev() {
            for &number in &numbers {
                let factor = product.scale(number)?;
                if factor != *by && !factor.is_one() && !factors.contains(&factor) && factors.len() < MOST {
                    factors.push(factor);
                }
            }
        }
        Ok(factors)
    }

    /// The quotient that a polynomial is a sum with, if it is with one only: its variable, dividend and divisor.
    fn only_quotient(&self, poly: &Poly) -> Option<(Var, Poly, Poly)> {
        let mut found = None;
        for var in poly.vars() {
            match self.atom_of(var) {
                Some(Atom::Quotient { dividend, divisor, is_positive: true }) => {
                    if found.is_some() || !poly.linear_in(var)?.0.is_one() {
                        return None;
                    }
                    // Where a condition has solved a name, the dividend may be what the quotient is in.
                    let is_before = |poly: &Poly| poly.vars().last().is_none_or(|last| *last < var);
                    let (dividend, divisor) = (self.region.reduce(dividend).ok()?, self.region.reduce(divisor).ok()?);
                    if !is_before(&dividend) || !is_before(&divisor) {
                        return None;
                    }
                    found = Some((var, dividend, divisor));
                }
                Some(_) => return None,
                None => {}
            }
        }
        found
    }

    // ---- minima and choices

    fn extreme(&mut self, least: bool, a: &Poly, b: &Poly) -> Ask<Poly> {
        // Each with the operand that it is of: those of one are judged already.
        let mut list: Vec<(Poly, bool)> = Vec::new();
        for (operand, is_second) in [(a, false), (b, true)] {
            // Of the least of others plus a number the operands are taken.
            let inner = operand.vars().into_iter().find_map(|var| match self.atom_of(var) {
                Some(Atom::Least(list)) if least => Some((var, list)),
                Some(Atom::Greatest(list)) if !least => Some((var, list)),
                _ => None,
            });
            match inner {
                Some((var, inner)) if operand.linear_in(var).is_some_and(|(by, _)| by.is_one()) => {
                    let rest = operand.sub(&Poly::from(var))?;
                    for poly in inner {
                        list.push((self.region.reduce(&poly.add(&rest)?)?, is_second));
                    }
                }
                _ => list.push((operand.clone(), is_second)),
            }
        }
        // The first name first, and numbers last.
        list.sort_unstable_by(|a, b| b.cmp(a));
        list.dedup_by(|a, b| a.0 == b.0);
        let mut place = 0;
        while list.len() <= MOST_JUDGED && place < list.len() {
            let (poly, is_second) = &list[place];
            let mut is_dominated = false;
            for (other, _) in list.iter().filter(|other| other.1 != *is_second) {
                let difference = if least { poly.sub(other)? } else { other.sub(poly)? };
                is_dominated |= known_ge(&self.region, &difference) == Some(true);
            }
            if is_dominated {
                list.remove(place);
            } else {
                place += 1;
            }
        }
        let mut list: Vec<Poly> = list.into_iter().map(|(poly, _)| poly).collect();
        if let [only] = &list[..] {
            return Ok(only.clone());
        }
        let common = in_common(&list)?;
        if !common.is_zero() {
            for poly in &mut list {
                *poly = poly.sub(&common)?;
            }
        }
        list.sort_unstable_by(|a, b| b.cmp(a));
        let atom = self.atom(if least { Atom::Least(list) } else { Atom::Greatest(list) })?;
        Ok(common.add(&atom)?)
    }

    fn choice(&mut self, condition: Truth, a: Poly, b: Poly) -> Ask<Poly> {
        let opposite = self.negation(condition)?;
        let (a, b) = (self.refined(a, condition)?, self.refined(b, opposite)?);
        if a == b {
            return Ok(a);
        }
        match self.of(condition).clone() {
            Fact::Known(holds) => return Ok(if holds { a } else { b }),
            Fact::Literal(Relation::AtLeast, poly) => {
                // a where a >= b, or where a > b, is the greater one.
                let difference = a.sub(&b)?;
                if poly == difference || poly == difference.plus_number(-1)? {
                    return self.extreme(false, &a, &b);
                }
                let difference = difference.neg()?;
                if poly == difference || poly == difference.plus_number(-1)? {
                    return self.extreme(true, &a, &b);
                }
            }
            Fact::Literal(Relation::Equal, poly) => {
                // b where both are equal, too.
                let difference = positive_lead(a.sub(&b)?);
                if poly == difference {
                    return Ok(b);
                }
            }
            _ => {}
        }
        let (mut condition, mut a, mut b) = (condition, a, b);
        let common = in_common(&[a.clone(), b.clone()])?;
        (a, b) = (a.sub(&common)?, b.sub(&common)?);
        if self.of(opposite) < self.of(condition) {
            condition = opposite;
            std::mem::swap(&mut a, &mut b);
        }
        let atom = self.atom(Atom::Choice(condition, a, b))?;
        Ok(common.add(&atom)?)
    }

    /// A number with the atoms in it that are polynomials where a condition holds replaced by these: `x % N` is `x` where
    /// `0 <= x < N`.
    fn refined(&self, mut poly: Poly, condition: Truth) -> Ask<Poly> {
        const MOST: usize = 8;
        let literals = self.literals(condition);
        if literals.is_empty() || poly.vars().iter().all(|var| self.atom_of(*var).is_none()) {
            return Ok(poly);
        }
        let Some(region) = assumed(&self.region, &literals)? else { return Ok(poly) };
        for _ in 0..MOST {
            let mut found = None;
            for var in poly.vars().into_iter().rev() {
                if let Some(atom) = self.atom_of(var)
                    && let Some(value) = self.decided(&region, atom)?
                {
                    found = Some((var, value));
                    break;
                }
            }
            let Some((var, value)) = found else { break };
            poly = poly.substitute(var, &value)?;
        }
        Ok(poly)
    }

    /// The polynomial that an atom is on a region, if it is one.
    fn decided(&self, region: &Region, atom: &Atom) -> Ask<Option<Poly>> {
        let first = |list: &[Poly], least: bool| -> Ask<Option<Poly>> {
            for poly in list {
                let mut is_first = true;
                for other in list {
                    let difference = if least { other.sub(poly)? } else { poly.sub(other)? };
                    let difference = region.reduce(&difference)?;
                    is_first &= known_ge(region, &difference) == Some(true);
                }
                if is_first {
                    return Ok(Some(poly.clone()));
                }
            }
            Ok(None)
        };
        Ok(match atom {
            Atom::Quotient { dividend, divisor, is_positive: true } => {
                let (dividend, divisor) = (region.reduce(dividend)?, region.reduce(divisor)?);
                region.known_division(&dividend, &divisor)?.map(|division| division.quotient)
            }
            Atom::Least(list) if list.len() <= MOST_JUDGED => first(list, true)?,
            Atom::Greatest(list) if list.len() <= MOST_JUDGED => first(list, false)?,
            Atom::Choice(condition, a, b) => match self.literal(*condition).map(|literal| region.truth(&literal)) {
                Some(crate::region::Truth::Always) => Some(a.clone()),
                Some(crate::region::Truth::Never) => Some(b.clone()),
                _ => None,
            },
            _ => None,
        })
    }

    // ---- conditions

    /// What a condition is.
    pub(crate) fn of(&self, truth: Truth) -> &Fact {
        &self.facts[truth.0 as usize]
    }

    pub(crate) fn fact(&mut self, fact: Fact) -> Truth {
        let place = self.facts.iter().position(|known| *known == fact).unwrap_or_else(|| {
            self.facts.push(fact);
            self.facts.len() - 1
        });
        Truth(place as u32)
    }

    /// Whether a polynomial is at least 0.
    pub(crate) fn at_least(&mut self, poly: &Poly) -> Ask<Truth> {
        self.at_least_without(poly, 0)
    }

    /// The same, after so many quotients were taken out of it.
    fn at_least_without(&mut self, poly: &Poly, quotients: usize) -> Ask<Truth> {
        /// Each is of names and quotients before it, unless a condition has solved a name for it.
        const MOST: usize = 16;
        let reduced = self.region.reduce(poly)?;
        let poly = self.region.same_sign(&reduced);
        if let Some(known) = known_ge(&self.region, &poly) {
            return Ok(self.fact(Fact::Known(known)));
        }
        if quotients < MOST
            && let Some(without) = self.without_quotient(&poly)?
        {
            return self.at_least_without(&without, quotients + 1);
        }
        if known_ge(&self.region, &poly.neg()?) == Some(true) {
            return Ok(self.fact(Fact::Literal(Relation::Equal, positive_lead(poly))));
        }
        Ok(self.fact(Fact::Literal(Relation::AtLeast, poly)))
    }

    /// What is at least 0 where `q + r` or `r - q` is: a quotient `q` of `p` by `d` is at least `-r` where `p >= -r d`, and at
    /// most `r` where `p < (r + 1) d`.
    fn without_quotient(&self, poly: &Poly) -> Ask<Option<Poly>> {
        for var in poly.vars().into_iter().rev() {
            let Some(Atom::Quotient { dividend, divisor, is_positive: true }) = self.atom_of(var) else { continue };
            let Some((by, rest)) = poly.linear_in(var) else { continue };
            // What is multiplied by the divisor is short, on either side of the comparison.
            let named = rest.terms().iter().filter(|term| term.0 != Monomial::ONE).count();
            if named > 2 || rest.vars().iter().any(|var| self.atom_of(*var).is_some()) {
                continue;
            }
            match by.number() {
                Some(1) => return Ok(Some(dividend.add(&rest.mul(divisor)?)?)),
                Some(-1) => {
                    let end = rest.plus_number(1)?.mul(divisor)?;
                    return Ok(Some(end.sub(dividend)?.plus_number(-1)?));
                }
                _ => {}
            }
        }
        Ok(None)
    }

    /// Whether a polynomial is 0.
    fn equal(&mut self, poly: &Poly) -> Ask<Truth> {
        let mut poly = self.region.reduce(poly)?;
        if let Some(known) = self.region.known_eq(&poly) {
            return Ok(self.fact(Fact::Known(known)));
        }
        // Factors that are never 0 are of no consequence.
        let factors = self.region.factors(&poly);
        if factors.len() > 1 {
            let mut product = Poly::one();
            for factor in factors.iter().filter(|factor| self.region.known_eq(factor) != Some(false)) {
                product = product.mul(factor)?;
            }
            poly = product;
        }
        let content = poly.content();
        let poly = positive_lead(if content > 1 { poly.over_number(content) } else { poly });
        if let Some(number) = poly.number() {
            return Ok(self.fact(Fact::Known(number == 0)));
        }
        for side in [poly.clone(), poly.neg()?] {
            if known_ge(&self.region, &side) == Some(true)
                && let Some(without) = self.without_quotient(&side.neg()?)?
            {
                return self.at_least(&without);
            }
        }
        Ok(self.fact(Fact::Literal(Relation::Equal, poly)))
    }

    pub(crate) fn negation(&mut self, truth: Truth) -> Ask<Truth> {
        let fact = match self.of(truth).clone() {
            Fact::Known(known) => Fact::Known(!known),
            Fact::Literal(Relation::AtLeast, poly) => Fact::Literal(Relation::AtLeast, negative(&poly)?),
            Fact::Literal(Relation::Equal, poly) => Fact::Literal(Relation::NotEqual, poly),
            Fact::Literal(Relation::NotEqual, poly) => Fact::Literal(Relation::Equal, poly),
            Fact::All(list) => {
                let list = list.into_iter().map(|part| self.negation(part)).collect::<Ask<Vec<_>>>()?;
                Fact::Any(self.sorted(list))
            }
            Fact::Any(list) => {
                let list = list.into_iter().map(|part| self.negation(part)).collect::<Ask<Vec<_>>>()?;
                Fact::All(self.sorted(list))
            }
        };
        Ok(self.fact(fact))
    }

    fn sorted(&self, mut list: Vec<Truth>) -> Vec<Truth> {
        list.sort_by(|a, b| self.of(*a).cmp(self.of(*b)));
        list.dedup();
        list
    }

    fn any(&mut self, list: &[Truth]) -> Ask<Truth> {
        let list = list.iter().map(|part| self.negation(*part)).collect::<Ask<Vec<_>>>()?;
        let none = self.all(list)?;
        self.negation(none)
    }

    /// All of some conditions: none that the others imply, one after the other.
    fn all(&mut self, list: Vec<Truth>) -> Ask<Truth> {
        let mut parts: Vec<Truth> = Vec::new();
        for part in list {
            match self.of(part) {
                Fact::All(inner) => parts.extend(inner),
                Fact::Known(true) => {}
                Fact::Known(false) => return Ok(part),
                _ => parts.push(part),
            }
        }
        let mut parts = self.sorted(parts);
        for part in parts.clone() {
            if parts.contains(&self.negation(part)?) {
                return Ok(self.fact(Fact::Known(false)));
            }
        }
        let mut place = 0;
        while parts.len() > 1 && parts.len() <= MOST_JUDGED && place < parts.len() {
            let Some(literal) = self.literal(parts[place]) else {
                place += 1;
                continue;
            };
            let others = parts.iter().enumerate().filter(|other| other.0 != place);
            let others: Vec<Literal> = others.filter_map(|(_, part)| self.literal(*part)).collect();
            match assumed(&self.region, &others)?.map(|region| region.truth(&literal)) {
                None | Some(crate::region::Truth::Never) => return Ok(self.fact(Fact::Known(false))),
                Some(crate::region::Truth::Always) => {
                    parts.remove(place);
                }
                Some(_) => place += 1,
            }
        }
        Ok(match parts[..] {
            [] => self.fact(Fact::Known(true)),
            [only] => only,
            _ => self.fact(Fact::All(parts)),
        })
    }

    /// A condition that is one comparison.
    fn literal(&self, truth: Truth) -> Option<Literal> {
        match self.of(truth) {
            Fact::Literal(relation, poly) => Some(Literal { poly: poly.clone(), relation: *relation, modulus: None }),
            _ => None,
        }
    }

    /// The comparisons that hold where a condition does.
    pub(crate) fn literals(&self, truth: Truth) -> Vec<Literal> {
        match self.of(truth) {
            Fact::All(list) => list.iter().filter_map(|part| self.literal(*part)).collect(),
            _ => self.literal(truth).into_iter().collect(),
        }
    }

    /// The reader where a condition holds, as far as it is understood; `None` where that is nowhere.
    pub(crate) fn assuming(&self, truth: Truth) -> Ask<Option<Reader>> {
        let mut with = self.clone();
        if *self.of(truth) == Fact::Known(false) {
            return Ok(None);
        }
        let Some(region) = assumed(&self.region, &self.literals(truth))? else { return Ok(None) };
        // What was made beside the atoms would take their places.
        if region.vars() != self.region.vars() {
            return Err(UNREAD);
        }
        with.region = region;
        Ok(Some(with))
    }
}

/// Whether a polynomial is at least 0, if that is known. The region is asked of polynomials without names that are solved in it.
fn known_ge(region: &Region, poly: &Poly) -> Option<bool> {
    region.known_ge(&region.reduce(poly).ok()?)
}

/// The part of a region where conditions hold; what is too large to be used is not.
fn assumed(region: &Region, literals: &[Literal]) -> Ask<Option<Region>> {
    let mut smaller = region.clone();
    for literal in literals {
        match smaller.assume(literal) {
            Ok(Some(region)) => smaller = region,
            Ok(None) => return Ok(None),
            Err(_) => {}
        }
    }
    Ok(Some(smaller))
}

/// Why nothing is read: it is not understood, or too large.
const UNREAD: Stop = Stop::Undecided(Reason::TooLarge);

/// The terms that all polynomials have.
fn in_common(list: &[Poly]) -> Ask<Poly> {
    let Some((first, others)) = list.split_first() else { return Ok(Poly::zero()) };
    let terms = first.terms().iter().filter(|term| others.iter().all(|other| other.terms().contains(term)));
    let mut common = Poly::zero();
    for &(monomial, factor) in terms {
        common = common.add(&Poly::term(monomial, factor))?;
    }
    Ok(common)
}

/// Whether a condition holds at a point.
fn holds(facts: &[Fact], truth: Truth, point: &[i128]) -> Option<bool> {
    match &facts[truth.0 as usize] {
        Fact::Known(known) => Some(*known),
        Fact::Literal(relation, poly) => {
            let value = poly.eval(point)?;
            Some(match relation {
                Relation::AtLeast => value >= 0,
                Relation::Equal => value == 0,
                Relation::NotEqual => value != 0,
            })
        }
        Fact::All(list) => list.iter().try_fold(true, |all, part| Some(all & holds(facts, *part, point)?)),
        Fact::Any(list) => list.iter().try_fold(false, |any, part| Some(any | holds(facts, *part, point)?)),
    }
}
