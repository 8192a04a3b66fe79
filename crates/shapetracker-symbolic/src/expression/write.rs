//! Polynomials over names and atoms, and conditions, written as expressions.
//!
//! Identities say how the same number may be written with fewer operations: a remainder is `p - d q`, a quotient as it was
//! given is one that is known plus a number, and a name that was defined is a polynomial. Wherever one of these makes a
//! polynomial shorter, it is used.

use indexpr::{Binary, Expr};
use shapetracker_base::int::gcd;
use smallvec::smallvec;

use crate::expression::horner::Writer;
use crate::expression::read::{Atom, Fact, Reader, Spelling, Truth};
use crate::literal::Relation;
use crate::poly::{Monomial, Poly, Terms, TooLarge, Var};
use crate::region::divide::long_division;
use crate::region::positive_lead;

/// Why nothing is written.
pub(crate) enum Unwritable {
    /// A value leaves 64 bits.
    Code(indexpr::Error),
    /// What is to be written is too large.
    TooLarge(TooLarge),
}

impl From<indexpr::Error> for Unwritable {
    fn from(err: indexpr::Error) -> Unwritable {
        Unwritable::Code(err)
    }
}

impl From<TooLarge> for Unwritable {
    fn from(err: TooLarge) -> Unwritable {
        Unwritable::TooLarge(err)
    }
}

/// What is not written although it is not large: it would be made of itself.
const UNWRITABLE: Unwritable = Unwritable::TooLarge(TooLarge::Number);

/// How sums are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Style {
    /// By Horner's rule.
    Horner,
    /// With one factor for each variable that differs from element to element, made of all that is the same for them.
    Linear,
    /// The same, where what is divided counts as if it were there anyway.
    Shared,
    /// The same, where a remainder takes the place of what is divided wherever it can: that is dearer, and smaller on the way.
    Digits,
}

/// A variable for what has none yet, which counts as an operation.
const STAND_IN: Var = Var(254);

type Written<T> = Result<T, Unwritable>;

/// Another number that a polynomial may be written with: it equals `factor * of + rest`.
#[derive(Clone, Debug)]
struct Identity {
    kind: Kind,
    of: Var,
    factor: Poly,
    rest: Poly,
    /// The operations that the number takes.
    weight: usize,
}

#[derive(Clone, Debug, PartialEq)]
enum Kind {
    /// What is known by a name: the expression.
    Name(Expr),
    Quotient(usize),
    Remainder(usize),
}

/// Writes what a reader has read.
pub(crate) struct Pen<'r> {
    reader: &'r Reader,
    pub(crate) writer: Writer,
    /// The ways to write quotients: those that were given, and how each is known.
    spellings: Vec<Spelling>,
    identities: Vec<Identity>,
    /// The numbers beside names and atoms that are written with, and their variables.
    others: Vec<Kind>,
    /// About how many operations each atom takes.
    weights: Vec<usize>,
    /// Whether each atom differs from element to element.
    varying: Vec<bool>,
    style: Style,
    /// What is being written, which nothing is written with that it is made of.
    open: Vec<Var>,
}

/// A polynomial as a sum of products of what is the same for all elements and what is not.
struct Grouped {
    /// Factors with positive first coefficients, each with the sum of what it is the factor of.
    groups: Vec<(Poly, Poly)>,
    /// What is the same for all elements, and has no such factor.
    same: Poly,
}

impl Grouped {
    /// How many operations it takes, where all that is the same for all elements is there.
    fn weight(&self) -> usize {
        let terms = || self.groups.iter().flat_map(|group| group.1.terms());
        let sums = (terms().count() + usize::from(!self.same.is_zero())).saturating_sub(1);
        let products: usize = terms().map(|term| term.0.degree() as usize - 1).sum();
        let factors = self.groups.iter().filter(|group| !group.0.is_one()).count();
        let is_negated =
            is_negative(&self.same) && self.groups.iter().all(|group| group.0.is_one() && is_negative(&group.1));
        match self.groups.is_empty() {
            true => 0,
            false => sums + products + factors + usize::from(is_negated),
        }
    }
}

/// Whether a polynomial has no positive term.
fn is_negative(poly: &Poly) -> bool {
    poly.terms().iter().all(|term| term.1 < 0)
}

/// Quotients by products as quotients of quotients: `floor(x / (c k))` is `floor(floor(x / c) / k)`.
fn nested(spellings: &[Spelling]) -> Written<Vec<Spelling>> {
    /// Comparing all with all is not for more.
    const MOST: usize = 24;
    let mut found = Vec::new();
    if spellings.len() > MOST {
        return Ok(found);
    }
    let known = |spelling: &&Spelling| spelling.sign == 1 && spelling.shift.is_zero();
    for outer in spellings.iter().filter(known) {
        for inner in spellings.iter().filter(known).filter(|inner| inner.atom != outer.atom) {
            let Some(divisor) = outer.divisor.div_exact(&inner.divisor)? else { continue };
            if divisor.number().is_some_and(|number| number < 2) {
                continue;
            }
            let multiples = long_division(&outer.dividend, &inner.divisor, None)?;
            if outer.dividend.sub(&multiples.mul(&inner.divisor)?)? == inner.dividend {
                let dividend = Poly::from(inner.atom).add(&multiples)?;
                found.push(Spelling { dividend, divisor, ..outer.clone() });
            }
        }
    }
    Ok(found)
}

impl<'r> Pen<'r> {
    /// A pen that knows the expressions of names.
    pub(crate) fn new(reader: &'r Reader, writer: Writer, defined: &[(Expr, Poly)], style: Style) -> Written<Pen<'r>> {
        let mut spellings = Vec::new();
        for (place, atom) in reader.atoms.iter().enumerate() {
            if let Atom::Quotient { dividend, divisor, .. } = atom {
                let atom = Var((reader.first + place) as u8);
                let (dividend, divisor) = (dividend.clone(), divisor.clone());
                spellings.push(Spelling { dividend, divisor, atom, sign: 1, shift: Poly::zero() });
            }
        }
        // A name that is in none of what is to be written is not there to be written with.
        let is_there = |var: &Var| {
            let is_name = usize::from(var.0) < reader.region.shared.named;
            !is_name || writer.known.iter().any(|known| known.0 == *var)
        };
        for spelling in &reader.spellings {
            let mut vars = spelling.dividend.vars().into_iter().chain(spelling.divisor.vars());
            if !spellings.contains(spelling) && vars.all(|var| is_there(&var)) {
                spellings.push(spelling.clone());
            }
        }
        spellings.extend(nested(&spellings)?);
        let (identities, others, weights, open) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let varying = Vec::new();
        let mut pen = Pen { reader, writer, spellings, identities, others, weights, varying, style, open };
        for (place, atom) in reader.atoms.iter().enumerate() {
            // What an atom is made of comes before it.
            let varies = match atom {
                Atom::Quotient { dividend, divisor, .. } => pen.differs(dividend) || pen.differs(divisor),
                _ => true,
            };
            pen.varying.push(varies);
            let weight = if varies { pen.weight_of_atom(Var((reader.first + place) as u8)) } else { 0 };
            pen.weights.push(weight);
        }
        for (expr, value) in defined {
            pen.known_by_name(*expr, value)?;
        }
        for place in 0..pen.spellings.len() {
            let Spelling { dividend, divisor, atom, sign, shift } = pen.spellings[place].clone();
            let weight = 1 + pen.weight_of_division(&dividend, &divisor);
            // Beside its quotient, which is there for the others that share it, a remainder is a product and a difference.
            let beside = usize::from(style == Style::Shared);
            pen.identities.push(Identity {
                kind: Kind::Remainder(place),
                of: atom,
                factor: divisor.scale(-sign)?,
                rest: dividend.sub(&divisor.mul(&shift)?)?,
                weight: weight + beside,
            });
            if sign != 1 || !shift.is_zero() {
                let factor = Poly::from(sign);
                pen.identities.push(Identity { kind: Kind::Quotient(place), of: atom, factor, rest: shift, weight });
            }
        }
        Ok(pen)
    }

    /// Adds that a polynomial has a name of its own.
    fn known_by_name(&mut self, expr: Expr, value: &Poly) -> Written<()> {
        for of in value.vars() {
            if let Some((factor, rest)) = value.linear_in(of) {
                self.identities.push(Identity { kind: Kind::Name(expr), of, factor, rest, weight: 0 });
            }
        }
        Ok(())
    }

    /// Whether a number differs from element to element. Where there are no loops there are none for which anything is the same.
    fn varies(&self, var: Var) -> bool {
        if self.writer.loops == 0 || var == STAND_IN {
            return true;
        }
        if self.reader.atom_of(var).is_some() {
            return self.varying.get(usize::from(var.0) - self.reader.first).copied().unwrap_or(true);
        }
        match self.other(var) {
            Some(Kind::Quotient(place) | Kind::Remainder(place)) => self.varies(self.spellings[*place].atom),
            _ => self.writer.known.iter().any(|known| known.0 == var && self.writer.is_index(known.1)),
        }
    }

    fn differs(&self, poly: &Poly) -> bool {
        poly.vars().into_iter().any(|var| self.varies(var))
    }

    /// A polynomial by its factors.
    fn grouped(&self, poly: &Poly) -> Result<Grouped, TooLarge> {
        let mut parts: Vec<(Monomial, Terms)> = Vec::new();
        for &(monomial, factor) in poly.terms() {
            let same = monomial.factors().filter(|var| !self.varies(*var));
            let part = same.fold(monomial, |part, var| part.without(var));
            let rest = (monomial.over(part).unwrap_or(Monomial::ONE), factor);
            match parts.iter_mut().find(|known| known.0 == part) {
                Some(known) => known.1.push(rest),
                None => parts.push((part, smallvec![rest])),
            }
        }
        let mut grouped = Grouped { groups: Vec::new(), same: Poly::zero() };
        for (part, factor) in parts {
            let factor = Poly::from_terms(factor)?;
            if part == Monomial::ONE {
                grouped.same = factor;
                continue;
            }
            let positive = positive_lead(factor.clone());
            let term = Poly::term(part, if positive == factor { 1 } else { -1 });
            match grouped.groups.iter_mut().find(|known| known.0 == positive) {
                Some(known) => known.1 = known.1.add(&term)?,
                None => grouped.groups.push((positive, term)),
            }
        }
        Ok(grouped)
    }

    /// About how many operations a polynomial takes.
    fn weight(&self, poly: &Poly) -> usize {
        if self.writer.loops > 0 {
            let Ok(grouped) = self.grouped(poly) else { return 1 << 20 };
            let inner = poly.vars().into_iter().filter(|var| self.varies(*var)).map(|var| self.weight_of(var));
            return (grouped.weight() + inner.sum::<usize>()).min(1 << 20);
        }
        let terms = poly.terms();
        let sum = terms.len().saturating_sub(1);
        let products = terms.iter().map(|&(monomial, factor)| match monomial.degree() as usize {
            0 => 0,
            degree => degree - 1 + usize::from(!matches!(factor, 1 | -1)),
        });
        let negated = usize::from(!terms.is_empty() && terms.iter().all(|term| term.1 < 0));
        let inner: usize = poly.vars().into_iter().map(|var| self.weight_of(var)).sum();
        (sum + negated + products.sum::<usize>() + inner).min(1 << 20)
    }

    /// About how many operations the operands of a division take.
    fn weight_of_division(&self, dividend: &Poly, divisor: &Poly) -> usize {
        let dividend = if self.style == Style::Shared { 0 } else { self.weight(dividend) };
        dividend + self.weight(divisor)
    }

    /// The quotients that were written: each is an atom plus a polynomial.
    pub(crate) fn quotients(&self) -> Vec<(Expr, Var, Poly)> {
        let quotient = |&(var, expr): &(Var, Expr)| match (self.reader.atom_of(var), self.other(var)) {
            (Some(Atom::Quotient { .. }), _) => Some((expr, var, Poly::zero())),
            (_, Some(Kind::Quotient(place))) => {
                let Spelling { atom, shift, .. } = self.spellings.get(*place).filter(|spelling| spelling.sign == 1)?;
                Some((expr, *atom, shift.clone()))
            }
            _ => None,
        };
        self.writer.known.iter().filter_map(quotient).collect()
    }

    /// About how many operations a variable takes.
    fn weight_of(&self, var: Var) -> usize {
        if self.reader.atom_of(var).is_some() {
            return self.weights.get(usize::from(var.0) - self.reader.first).copied().unwrap_or(1 << 16);
        }
        match self.other(var) {
            Some(kind) => {
                let found = self.identities.iter().find(|identity| identity.kind == *kind);
                found.map_or(0, |identity| identity.weight)
            }
            None => usize::from(!self.writer.known.iter().any(|known| known.0 == var)),
        }
    }

    fn weight_of_atom(&self, var: Var) -> usize {
        let all = |list: &[Poly]| list.len() + list.iter().map(|poly| self.weight(poly)).sum::<usize>();
        let weight = match self.reader.atom_of(var) {
            None => 0,
            Some(Atom::Quotient { .. }) => {
                // Of the ways to write it as it is the shortest.
                let ways = self.spellings.iter().filter(|way| way.atom == var && way.sign == 1 && way.shift.is_zero());
                let weights = ways.map(|way| 1 + self.weight_of_division(&way.dividend, &way.divisor));
                weights.min().unwrap_or(1)
            }
            Some(Atom::Least(list) | Atom::Greatest(list)) => all(list),
            Some(Atom::Choice(_, a, b) | Atom::Xor(a, b)) => all(&[a.clone(), b.clone()]),
        };
        weight.min(1 << 16)
    }

    fn other(&self, var: Var) -> Option<&Kind> {
        self.others.get(usize::from(var.0).checked_sub(self.reader.region.vars())?)
    }

    /// The variable of another number.
    fn var_of(&mut self, kind: &Kind) -> Option<Var> {
        let place = self.others.iter().position(|known| known == kind).unwrap_or_else(|| {
            self.others.push(kind.clone());
            self.others.len() - 1
        });
        let var = self.reader.region.vars() + place;
        (var < 250).then_some(Var(var as u8))
    }

    /// A polynomial with the other numbers in it that make it shorter.
    fn shortened(&mut self, poly: &Poly) -> Written<Poly> {
        let mut poly = poly.clone();
        for _ in 0..16 {
            let mut best: Option<(usize, Poly, Kind, Poly)> = None;
            let least = self.weight(&poly);
            // The number itself takes the place of a name, which is no part of anything else.
            let stand_in = Poly::from(STAND_IN);
            for identity in &self.identities {
                let Some((by, _)) = poly.linear_in(identity.of) else { continue };
                if by.is_zero() {
                    continue;
                }
                let times = long_division(&by, &identity.factor, None)?;
                let number = identity.factor.mul(&Poly::from(identity.of))?.add(&identity.rest)?;
                let mut all = vec![times];
                // In a linear sum it may be taken as often as another part of it is there.
                for var in
                    identity.rest.vars().into_iter().filter(|var| self.style != Style::Horner && self.varies(*var))
                {
                    if let (Some((there, _)), Some((here, _))) = (poly.linear_in(var), identity.rest.linear_in(var))
                        && let Some(times) = there.div_exact(&here)?
                        && !all.contains(&times)
                    {
                        all.push(times);
                    }
                }
                for times in all.into_iter().filter(|times| !times.is_zero()) {
                    let rest = poly.sub(&times.mul(&number)?)?;
                    let weight = match &identity.kind {
                        // Of what is divided something is gone, and nothing has come.
                        Kind::Remainder(_) if self.style == Style::Digits => {
                            let gone = identity.rest.vars().iter().any(|var| poly.has(*var) && !rest.has(*var));
                            let has_come = rest.vars().iter().any(|var| *var != identity.of && !poly.has(*var));
                            if gone && !has_come { 0 } else { continue }
                        }
                        _ => self.weight(&rest.add(&times.mul(&stand_in)?)?) + identity.weight - 1,
                    };
                    if weight < best.as_ref().map_or(least, |best| best.0) {
                        best = Some((weight, rest, identity.kind.clone(), times));
                    }
                }
            }
            let Some((_, rest, kind, times)) = best else { break };
            let Some(var) = self.var_of(&kind) else { break };
            poly = rest.add(&times.mul(&Poly::from(var))?)?;
        }
        Ok(poly)
    }

    /// A polynomial as an expression.
    pub(crate) fn number(&mut self, poly: &Poly) -> Written<Expr> {
        if let Some(choice) = self.choice_of_sums(poly)? {
            return Ok(choice);
        }
        let poly = self.prepared(poly)?;
        self.sum(&poly)
    }

    /// A sum with a choice as a choice of sums, where that is shorter: `x if c else x - N` for `x + (0 if c else -N)`.
    fn choice_of_sums(&mut self, poly: &Poly) -> Written<Option<Expr>> {
        for var in poly.vars() {
            let Some(Atom::Choice(condition, a, b)) = self.reader.atom_of(var) else { continue };
            let Some((by, rest)) = poly.linear_in(var) else { continue };
            if !by.is_one() || rest.is_zero() || self.open.contains(&var) {
                continue;
            }
            let (condition, a, b) = (*condition, a.add(&rest)?, b.add(&rest)?);
            if 2 + self.weight(&a) + self.weight(&b) >= self.weight(poly) {
                continue;
            }
            let condition = self.condition(condition)?;
            let (a, b) = (self.number(&a)?, self.number(&b)?);
            return Ok(Some(self.writer.graph.select(condition, a, b)?));
        }
        Ok(None)
    }

    /// A polynomial over variables that are written, with a sign in front if there is no positive term.
    fn sum(&mut self, poly: &Poly) -> Written<Expr> {
        if let Some(number) = poly.number() {
            return Ok(self.writer.number(number)?);
        }
        if self.style != Style::Horner {
            return self.linear(poly);
        }
        if poly.terms().iter().any(|term| term.1 > 0) {
            return Ok(self.writer.poly(poly)?);
        }
        let content = poly.content();
        let positive = self.writer.poly(&poly.over_number(-content))?;
        if content > 1 {
            let factor = self.writer.graph.int(i64::try_from(-content).map_err(|_| UNWRITABLE)?);
            return Ok(self.writer.graph.binary(Binary::Mul, positive, factor)?);
        }
        let zero = self.writer.graph.int(0);
        Ok(self.writer.graph.binary(Binary::Sub, zero, positive)?)
    }

    /// A sum with one factor for each group of what differs from element to element.
    fn linear(&mut self, poly: &Poly) -> Written<Expr> {
        let Grouped { groups, mut same } = self.grouped(poly)?;
        let mut terms: Vec<(bool, Expr)> = Vec::new();
        let is_negated = is_negative(&same) && groups.iter().all(|group| is_negative(&group.1));
        for (place, (mut factor, mut sum)) in groups.into_iter().enumerate() {
            let mut is_subtracted = is_negative(&sum);
            if is_subtracted {
                sum = sum.neg()?;
            }
            // Where nothing is added the first factor is negative.
            if is_negated && place == 0 && !factor.is_one() {
                (factor, is_subtracted) = (factor.neg()?, false);
            }
            let mut term = self.writer.poly(&sum)?;
            // What is the same for all elements may have the factor, too: `(i + (s - p)) * D`.
            if same.number().is_none()
                && !factor.is_one()
                && let Some(inner) = same.div_exact(&factor)?
            {
                let inner = if is_subtracted { inner.neg()? } else { inner };
                let op = if is_negative(&inner) { Binary::Sub } else { Binary::Add };
                let inner = self.same(&if op == Binary::Sub { inner.neg()? } else { inner })?;
                term = self.writer.graph.binary(op, term, inner)?;
                same = Poly::zero();
            }
            if !factor.is_one() {
                let factor = self.same(&factor)?;
                term = self.writer.graph.binary(Binary::Mul, term, factor)?;
            }
            terms.push((is_subtracted, term));
        }
        if !same.is_zero() {
            let is_subtracted = is_negative(&same);
            let term = self.same(&if is_subtracted { same.neg()? } else { same })?;
            terms.push((is_subtracted, term));
        }
        // What is added comes first.
        terms.sort_by_key(|term| term.0);
        let mut sum: Option<Expr> = None;
        for (is_subtracted, term) in terms {
            let op = if is_subtracted { Binary::Sub } else { Binary::Add };
            sum = Some(match sum {
                None if is_subtracted => {
                    let zero = self.writer.graph.int(0);
                    self.writer.graph.binary(op, zero, term)?
                }
                None => term,
                Some(others) => self.writer.graph.binary(op, others, term)?,
            });
        }
        sum.ok_or(UNWRITABLE)
    }

    /// What is the same for all elements.
    fn same(&mut self, poly: &Poly) -> Written<Expr> {
        Ok(match poly.number() {
            Some(number) => self.writer.number(number)?,
            None => self.writer.poly(poly)?,
        })
    }

    /// A polynomial over variables that are all written.
    fn prepared(&mut self, poly: &Poly) -> Written<Poly> {
        let poly = self.shortened(poly)?;
        for var in poly.vars() {
            if !self.writer.known.iter().any(|known| known.0 == var) {
                if self.open.contains(&var) {
                    return Err(UNWRITABLE);
                }
                self.open.push(var);
                let expr = self.variable(var)?;
                self.open.pop();
                self.writer.known.push((var, expr));
            }
        }
        Ok(poly)
    }

    fn variable(&mut self, var: Var) -> Written<Expr> {
        let Some(atom) = self.reader.atom_of(var).cloned() else {
            return match self.other(var).cloned() {
                Some(Kind::Name(expr)) => Ok(expr),
                Some(Kind::Quotient(place)) => self.division(Binary::Div, place),
                Some(Kind::Remainder(place)) => self.division(Binary::Mod, place),
                None => self.named_quotient(var),
            };
        };
        match atom {
            Atom::Quotient { .. } => {
                let ways = (0..self.spellings.len()).filter(|&place| {
                    let way = &self.spellings[place];
                    way.atom == var && way.sign == 1 && way.shift.is_zero()
                });
                let weight = |place: &usize| {
                    let way = &self.spellings[*place];
                    self.weight(&way.dividend) + self.weight(&way.divisor)
                };
                let place = ways.min_by_key(weight).ok_or(UNWRITABLE)?;
                self.division(Binary::Div, place)
            }
            Atom::Least(list) => self.folded(Binary::Min, &list),
            Atom::Greatest(list) => self.folded(Binary::Max, &list),
            Atom::Choice(condition, a, b) => {
                let condition = self.condition(condition)?;
                let (a, b) = (self.number(&a)?, self.number(&b)?);
                Ok(self.writer.graph.select(condition, a, b)?)
            }
            Atom::Xor(a, b) => self.folded(Binary::Xor, &[a, b]),
        }
    }

    fn division(&mut self, op: Binary, place: usize) -> Written<Expr> {
        let Spelling { dividend, divisor, .. } = self.spellings[place].clone();
        // What is subtracted may have no end.
        let is_difference = divisor.terms().iter().any(|term| term.1 < 0 && term.0 != Monomial::ONE);
        let (dividend, mut divisor) = (self.number(&dividend)?, self.number(&divisor)?);
        // A size of 0 has no elements: then this is never computed, and need not be anything.
        if self.writer.loops > 0 && (is_difference || self.writer.graph.range(divisor).0 <= 0) {
            let one = self.writer.graph.int(1);
            divisor = self.writer.graph.binary(Binary::Max, divisor, one)?;
        }
        Ok(self.writer.graph.binary(op, dividend, divisor)?)
    }

    /// A quotient that a condition has given a name, such as `(p//2)` where `p % 2 == 0`.
    fn named_quotient(&mut self, var: Var) -> Written<Expr> {
        let shared = &self.reader.region.shared;
        let place = usize::from(var.0).checked_sub(shared.named).ok_or(UNWRITABLE)?;
        let quotient = shared.quotients.borrow().get(place).cloned().ok_or(UNWRITABLE)?;
        // Both are of names, as they stand.
        let names = |poly: &Poly| poly.vars().iter().all(|var| usize::from(var.0) < shared.named);
        if !names(&quotient.numerator) || !names(&quotient.denominator) {
            return Err(UNWRITABLE);
        }
        let (a, b) = (self.writer.poly(&quotient.numerator)?, self.writer.poly(&quotient.denominator)?);
        let op = if quotient.is_remainder { Binary::Mod } else { Binary::Div };
        Ok(self.writer.graph.binary(op, a, b)?)
    }

    fn folded(&mut self, op: Binary, list: &[Poly]) -> Written<Expr> {
        let mut all: Option<Expr> = None;
        for poly in list {
            let value = self.number(poly)?;
            all = Some(match all {
                None => value,
                Some(others) => self.writer.graph.binary(op, others, value)?,
            });
        }
        all.ok_or(UNWRITABLE)
    }

    /// A condition as an expression.
    pub(crate) fn condition(&mut self, truth: Truth) -> Written<Expr> {
        match self.reader.of(truth).clone() {
            Fact::Known(known) => Ok(self.writer.graph.bool(known)),
            Fact::Literal(Relation::AtLeast, poly) => self.at_least(&poly),
            Fact::Literal(relation, poly) => self.equal(relation, &poly),
            Fact::All(list) => self.both(Binary::And, &list),
            Fact::Any(list) => self.both(Binary::Or, &list),
        }
    }

    fn both(&mut self, op: Binary, list: &[Truth]) -> Written<Expr> {
        let mut all: Option<Expr> = None;
        let mut skipped: Vec<Truth> = Vec::new();
        for (place, part) in list.iter().enumerate() {
            if skipped.contains(part) {
                continue;
            }
            // A number between two others is one comparison.
            let mut value = None;
            for other in list[place + 1..].iter().filter(|_| op == Binary::And) {
                if let Some(range) = self.range(*part, *other)? {
                    skipped.push(*other);
                    value = Some(range);
                    break;
                }
            }
            let value = match value {
                Some(value) => value,
                None => self.condition(*part)?,
            };
            all = Some(match all {
                None => value,
                Some(others) => self.writer.graph.binary(op, others, value)?,
            });
        }
        all.ok_or(UNWRITABLE)
    }

    /// The condition `begin <= f < end`, where two conditions say that.
    fn range(&mut self, a: Truth, b: Truth) -> Written<Option<Expr>> {
        let (Fact::Literal(Relation::AtLeast, a), Fact::Literal(Relation::AtLeast, b)) =
            (self.reader.of(a).clone(), self.reader.of(b).clone())
        else {
            return Ok(None);
        };
        if a.add(&b)?.number().is_none() {
            return Ok(None);
        }
        // The one with more positive terms is f - begin.
        let positive = |poly: &Poly| poly.terms().iter().filter(|term| term.0 != Monomial::ONE && term.1 > 0).count();
        let (low, high) = if positive(&a) >= positive(&b) { (a, b) } else { (b, a) };
        let value = low.plus_number(-low.constant())?;
        let (Ok(begin), Ok(end)) = (i64::try_from(-low.constant()), i64::try_from(high.constant() + 1)) else {
            return Ok(None);
        };
        let value = self.number(&value)?;
        Ok(Some(self.writer.graph.within(value, begin, end)?))
    }

    /// The sides of a comparison: positive terms on both.
    fn sides(&mut self, poly: &Poly) -> Written<(Poly, Poly)> {
        let poly = self.prepared(poly)?;
        if self.writer.loops > 0 {
            // What is the same for all elements is on a side of its own, if there is one.
            let Grouped { groups, same } = self.grouped(&poly)?;
            let (mut high, mut low) = (Poly::zero(), Poly::zero());
            for (factor, sum) in groups {
                let (more, less) = sum.sides();
                (high, low) = (high.add(&factor.mul(&more)?)?, low.add(&factor.mul(&less)?)?);
            }
            return Ok(match (high.is_zero(), low.is_zero()) {
                (_, true) => (high, same.neg()?),
                (true, _) => (same, low),
                _ => {
                    let (more, less) = same.sides();
                    (high.add(&more)?, low.add(&less)?)
                }
            });
        }
        Ok(poly.sides())
    }

    fn at_least(&mut self, poly: &Poly) -> Written<Expr> {
        let (high, mut low) = self.sides(poly)?;
        if high.number().is_some() || !self.differs(&high) {
            // low <= high is low < high + 1.
            let (low, end) = (self.sum(&low)?, self.sum(&high.plus_number(1)?)?);
            return Ok(self.writer.graph.binary(Binary::Lt, low, end)?);
        }
        // high >= low + 1 is low < high.
        let strict = low.constant() == 1 && low.terms().len() > 1;
        if strict {
            low = low.plus_number(-1)?;
        }
        let (high, low) = (self.sum(&high)?, self.sum(&low)?);
        Ok(match strict {
            true => self.writer.graph.binary(Binary::Lt, low, high)?,
            false => self.writer.graph.binary(Binary::Ge, high, low)?,
        })
    }

    fn equal(&mut self, relation: Relation, poly: &Poly) -> Written<Expr> {
        let (mut left, mut right) = self.sides(poly)?;
        let content = gcd(left.content(), right.content());
        if content > 1 {
            (left, right) = (left.over_number(content), right.over_number(content));
        }
        if left.number().is_some() {
            std::mem::swap(&mut left, &mut right);
        }
        let (left, right) = (self.sum(&left)?, self.sum(&right)?);
        let op = if relation == Relation::Equal { Binary::Eq } else { Binary::Ne };
        Ok(self.writer.graph.binary(op, left, right)?)
    }
}
