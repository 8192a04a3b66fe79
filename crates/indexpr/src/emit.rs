//! From linear forms back to the nodes of a graph: strength reduction and common subexpression elimination.
//!
//! The graph is hash-consed, so equal nodes are shared without effort. But sums are associative: the sums `a + b + c` and
//! `a + c + d` have `a + c` in common only if both are written so that it becomes a node. The forms of a whole
//! expression are therefore collected first, then rewritten, and turned into nodes last:
//!
//! 1. [`Emitter::collect_atoms`] lists every form that has to be computed: the roots, and what their atoms are made of.
//! 2. [`Emitter::use_remainders`] computes `m % d` in place of `m // d` where that makes the forms shorter.
//! 3. [`Emitter::use_narrow_terms`], only where that is asked for, writes sums with terms of fewer bits.
//! 4. [`Emitter::extract_common_sums`] names sums that several forms share up to a factor, greedily.
//! 5. [`Emitter::compute_atom`] makes the nodes, operands first.

mod narrow;

use shapetracker_base::int::gcd;
use shapetracker_base::list::sort_short_by_key;
use smallvec::SmallVec;

use crate::algebra::{Algebra, Taken, reduce};
use crate::atoms::{Condition, Kind};
use crate::error::Error;
use crate::form::{Atom, Form, Terms};
use crate::graph::{Binary, Expr, Graph};
use crate::places::make_room;

/// An expression that is to be computed.
#[derive(Clone)]
pub(crate) enum Root {
    Number(Form),
    Condition(Atom),
}

/// What may be multiplied by a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Products {
    /// Sums, too: `5*(i + j)` is one product.
    OfSums,
    /// No sums, for whoever multiplies them out again and would have `5*i + 5*j` of it.
    OfAtoms,
}

/// How many bits what is computed on the way may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    /// As many as the cheapest way takes.
    Any,
    /// As few as can be had: `x % n` in place of `x - x // n * n`, and sums in an order in which no part is far larger
    /// than the whole. It may cost a few operations more.
    Narrow,
}

/// The nodes that compute some roots, in their order, made in a graph whose variables are given.
///
/// # Errors
/// Where an intermediate value could leave `i64`. The forms fit, but a part of a sum need not.
pub(crate) fn emit(
    algebra: &Algebra,
    roots: Vec<Root>,
    products: Products,
    width: Width,
    graph: &mut Graph,
    variables: &[Expr],
) -> Result<Vec<Expr>, Error> {
    let conditions: Vec<Atom> = roots.iter().filter_map(Root::as_condition).collect();
    let numbers = roots.iter().filter_map(|root| match root {
        Root::Number(form) => Some(Sum::of(form)),
        Root::Condition(_) => None,
    });
    let (sums, plans) = (numbers.collect(), vec![None; algebra.len()]);
    let nodes = Vec::new();
    let mut emitter = Emitter { algebra, products, width, variables, sums, plans, nodes };
    emitter.collect_atoms(conditions);
    if emitter.sums.len() <= MAX_SUMS {
        emitter.use_remainders();
        if width == Width::Narrow {
            emitter.use_narrow_terms();
        }
        emitter.extract_common_sums();
    }
    emitter.compute_atoms(graph)?;
    let mut numbers = 0..;
    let mut node = |root: &Root| match root {
        Root::Condition(atom) => emitter.of_symbol(graph, *atom),
        Root::Number(_) => emitter.of_sum(graph, numbers.next().unwrap_or(0)),
    };
    roots.iter().map(&mut node).collect()
}

impl Root {
    /// The atom of a root that is a condition.
    fn as_condition(&self) -> Option<Atom> {
        match self {
            Root::Number(_) => None,
            Root::Condition(atom) => Some(*atom),
        }
    }
}

/// The forms that are to be computed, together with all that they are made of.
struct Emitter<'a> {
    algebra: &'a Algebra,
    products: Products,
    width: Width,
    /// The variables in the graph.
    variables: &'a [Expr],
    /// Roots first, then what atoms are made of, then shared sums.
    sums: Vec<Sum>,
    /// How each atom is computed; `None` for one that is not needed.
    plans: Vec<Option<Plan>>,
    /// The nodes of symbols, as soon as they are computed.
    nodes: Vec<Option<Expr>>,
}

/// What the terms of a [`Sum`] are multiples of: an atom, or a shared sum. The number of an atom, or the place of a sum
/// plus the number of atoms, so that terms of both sorts fit into one form and its arithmetic works on them.
type Symbol = u32;

/// A sum to be computed.
#[derive(Debug)]
struct Sum {
    terms: Terms,
    constant: i64,
    /// Whether the constant costs nothing, because the sum is compared with bounds, which can be shifted instead.
    shiftable: bool,
    /// If set, the sum is `m - d * q` for a quotient `q`: it is emitted as `m % d`, one operation. Its terms serve only to
    /// find its uses.
    remainder: Option<Rest>,
}

/// What is left of a division: `m - d * q`, for `m % d`.
#[derive(Clone, Copy, Debug)]
struct Rest {
    /// The quotient.
    atom: Atom,
    /// The place of the sum that is divided.
    whole: usize,
    divisor: i64,
}

/// A superset of the symbols of a sum: their numbers modulo 64.
#[derive(Clone, Copy)]
struct SymbolSet(u64);

impl SymbolSet {
    // No rule: a set of numbers modulo 64 tells what surely is not contained.
    fn of(sum: &Sum) -> SymbolSet {
        SymbolSet(sum.terms.iter().fold(0, |set, (symbol, _)| set | 1 << (symbol % 64)))
    }

    /// Whether all symbols of another set may be in this one.
    fn may_hold(self, other: SymbolSet) -> bool {
        other.0 & !self.0 == 0
    }

    /// Whether some symbol may be in both.
    fn may_share(self, other: SymbolSet) -> bool {
        self.0 & other.0 != 0
    }
}

/// How an atom is computed.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// The place of the first of the sums that it is made of; the others follow it, in the order of [`Kind::forms`].
    sums: usize,
    /// Whether this quotient is emitted as `m % d` instead of `m // d`. Its symbol then stands for the remainder, and
    /// all sums that use it have been rewritten.
    remainder: bool,
    /// By what the first sum is divided, if it is.
    divisor: i64,
}

/// A work limit: more sums than this are not searched for common sums. The search compares all pairs of sums, and each
/// step of it takes quadratic time.
const MAX_SUMS: usize = 48;

impl<'a> Emitter<'a> {
    /// Lists the sums of every atom that the roots need, directly or through other atoms, and of those given.
    fn collect_atoms(&mut self, mut open: Vec<Atom>) {
        let mut next = 0;
        loop {
            while let Some(atom) = open.pop() {
                if self.plans[atom as usize].is_some() {
                    continue;
                }
                let kind = self.algebra.kind(atom);
                let divisor = match *kind {
                    Kind::Quotient(_, divisor) | Kind::Remainder(_, divisor) => divisor,
                    _ => 0,
                };
                self.plans[atom as usize] = Some(Plan { sums: self.sums.len(), remainder: false, divisor });
                open.extend(kind.conditions());
                let unnested = match kind {
                    Kind::Remainder(form, divisor) => {
                        unnested(self.algebra, form, *divisor, |_, whole| Some(whole.clone()))
                    }
                    _ => None,
                };
                let shiftable = matches!(kind, Kind::Test(_));
                let sums = kind.forms().map(|form| Sum { shiftable, ..Sum::of(unnested.as_ref().unwrap_or(form)) });
                make_room(&mut self.sums);
                self.sums.extend(sums);
            }
            let Some(sum) = self.sums.get(next) else { return };
            open.extend(sum.terms.iter().map(|(atom, _)| *atom));
            next += 1;
        }
    }

    /// Strength reduction: emits `m % d` in place of `q = m // d` where every use of `q` is a multiple of `d`, and that
    /// makes the sums shorter.
    ///
    /// With `r = m % d`, `c * q` is `(c / d) * (m - r)`. So `m - d * q`, the remainder as a form has it, becomes `r`:
    /// no product, no difference, and if `m` is needed nowhere else its large terms are not computed at all. All uses
    /// must be rewritten, or both a division and a modulo would be emitted.
    ///
    /// Later quotients come first: the numerators of later ones may use earlier ones, and rewriting them decides
    /// whether they still do.
    // Proved: `quotient_by_remainder`, `reduced_numerator` in `proofs/Simplify.v`.
    fn use_remainders(&mut self) {
        for atom in (0..self.algebra.len() as Atom).rev() {
            let (Some(plan), Some((_, divisor))) = (self.plans[atom as usize], self.algebra.as_quotient(atom)) else {
                continue;
            };
            let whole = self.sums[plan.sums].form();
            let mut changed: Vec<(usize, Form)> = Vec::new();
            let (mut before, mut after) = (0, 0);
            let fits = self.sums.iter().enumerate().all(|(place, sum)| {
                let form = sum.form();
                let coefficient = form.coefficient(atom);
                if coefficient == 0 {
                    return true;
                }
                // From here on the symbol of the atom stands for r: -(c / d) * r in place of c * q.
                let factor = coefficient / divisor;
                let whole = (coefficient % divisor == 0).then(|| form.plus(factor, &whole)).flatten();
                let minus = coefficient.checked_add(factor).and_then(i64::checked_neg);
                let Some(replaced) = whole.zip(minus).and_then(|(whole, minus)| whole.plus(minus, &Form::atom(atom)))
                else {
                    return false;
                };
                before += form.terms.len() + usize::from(form.constant != 0 && !sum.shiftable);
                after += replaced.terms.len() + usize::from(replaced.constant != 0 && !sum.shiftable);
                changed.push((place, replaced));
                true
            });
            if fits && after < before {
                for (place, Form { terms, constant }) in changed {
                    self.sums[place].terms = terms;
                    self.sums[place].constant = constant;
                }
                self.plans[atom as usize] = Some(Plan { remainder: true, ..plan });
                // A remainder is the same for any numerator that is congruent modulo d: terms lose multiples of d, and
                // inner remainders by multiples of d are replaced by their numerators. An inner numerator is taken from
                // its sum, and not from its atom, because the sum may have been rewritten by now.
                let computed = |atom: Atom, _: &Form| Some(self.sums[self.plans[atom as usize]?.sums].form());
                let unnested = unnested(self.algebra, &whole, divisor, computed);
                let reduced = reduce(unnested.as_ref().unwrap_or(&whole), divisor, Taken::Most);
                if let Some((_, Form { terms, constant })) = reduced {
                    let reduced = Sum { shiftable: false, remainder: None, terms, constant };
                    let inner = &mut self.sums[plan.sums];
                    if unnested.is_some() || reduced.cost() <= inner.cost() {
                        *inner = reduced;
                    }
                }
            }
        }
    }

    /// Common subexpression elimination over sums: gives a name to the candidate that saves the most operations,
    /// replaces all its uses, and repeats until none saves any.
    ///
    /// To find the fewest operations is hard (for sums without factors it is the NP-complete problem of ensemble
    /// computation), so this is greedy, and the result is not claimed to be the least. Every step lowers the number of
    /// operations by at least one, so the loop ends. Of candidates that save as much, one without a constant is better,
    /// since sums that differ in the constant alone can share it later.
    fn extract_common_sums(&mut self) {
        loop {
            let mut best: Option<(isize, Sum)> = None;
            // Most sums lack some symbol of a candidate, which a set of the symbols tells.
            let sets: SmallVec<[SymbolSet; 32]> = self.sums.iter().map(SymbolSet::of).collect();
            for pattern in self.candidates(&sets) {
                let set = SymbolSet::of(&pattern);
                let may_use = self.sums.iter().zip(&sets).filter(|(_, symbols)| symbols.may_hold(set));
                let saved: isize =
                    may_use.map(|(sum, _)| self.best_use(sum, &pattern).map_or(0, |(saved, _)| saved)).sum();
                let saved = saved - pattern.cost() as isize;
                let (most, constant) = best.as_ref().map_or((0, 0), |(saved, best)| (*saved, best.constant));
                if saved > most || (saved == most && saved > 0 && constant != 0 && pattern.constant == 0) {
                    best = Some((saved, pattern));
                }
            }
            let Some((_, pattern)) = best else { return };
            let symbol = self.symbol(self.sums.len());
            let mut used = false;
            for place in 0..self.sums.len() {
                if let Some((_, factor)) = self.best_use(&self.sums[place], &pattern) {
                    let sum = self.sums[place].with(&pattern, factor, Some(symbol));
                    used |= sum.terms.last().is_some_and(|(last, _)| *last == symbol);
                    self.sums[place] = sum;
                }
            }
            // Where replacing it would leave `i64`, the candidate was not used, and would be found again for ever.
            if !used {
                return;
            }
            // A remainder is computed from the numerator of its quotient, not from these terms.
            self.sums.push(match pattern.remainder {
                Some(_) => Sum { terms: Terms::new(), constant: 0, ..pattern },
                None => pattern,
            });
        }
    }

    /// The multiple of a pattern whose replacement by a symbol saves the most operations in a sum: the operations saved,
    /// and the factor. `None` if no multiple saves any.
    // No rule: whatever the factor, the multiple and what it leaves are the sum.
    fn best_use(&self, sum: &Sum, pattern: &Sum) -> Option<(isize, i64)> {
        let mut factors = SmallVec::<[i64; 8]>::new();
        for &(symbol, unit) in &pattern.terms {
            // All symbols of the pattern must be in the sum: one that is not would be added with the opposite sign, and
            // might itself be made of this very sum, in a circle.
            let (_, coefficient) = sum.terms.iter().find(|(theirs, _)| *theirs == symbol)?;
            if coefficient % unit == 0 && !factors.contains(&(coefficient / unit)) {
                factors.push(coefficient / unit);
            }
        }
        if self.products == Products::OfAtoms && pattern.remainder.is_none() {
            factors.retain(|factor| *factor == 1);
        }
        let uses = factors.into_iter().filter_map(|factor| Some((sum.saved_by(pattern, factor)?, factor)));
        uses.filter(|(saved, _)| *saved > 0).max_by_key(|(saved, _)| *saved)
    }

    /// Sums that might be worth a name: the remainder of each quotient, each sum as a whole, the terms of one sum that
    /// have the same coefficient up to sign (`5*i + 5*j` is `5*(i + j)`), and what two sums have in common up to a
    /// factor.
    // Proved: `remainder_is_difference` in `proofs/Simplify.v`.
    fn candidates(&self, sets: &[SymbolSet]) -> Vec<Sum> {
        let mut patterns: Vec<Sum> = Vec::new();
        let mut classes: Vec<((i64, i64), Terms)> = Vec::new();
        for (atom, plan) in (0..).zip(&self.plans) {
            if let Some(Plan { sums, remainder: false, divisor }) = *plan
                && self.algebra.as_quotient(atom).is_some()
            {
                let whole = self.sums[sums].form();
                if let Some(Form { terms, constant }) = whole.plus(-divisor, &Form::atom(atom)) {
                    let remainder = Some(Rest { atom, whole: sums, divisor });
                    patterns.push(Sum { terms, constant, shiftable: false, remainder });
                }
            }
        }
        let mut propose = |terms: Terms, constant: i64| {
            if terms.len() + usize::from(constant != 0) < 2 || terms.is_empty() {
                return;
            }
            let pattern = Sum { terms, constant, shiftable: false, remainder: None }.primitive();
            if !patterns.iter().any(|known| known.terms == pattern.terms && known.constant == pattern.constant) {
                patterns.push(pattern);
            }
        };
        for (place, sum) in self.sums.iter().enumerate() {
            // The whole of a sum is computed in any case, so that every other use of it is free.
            propose(Terms::from_slice(&sum.terms), 0);
            if !sum.shiftable && sum.constant != 0 {
                propose(Terms::from_slice(&sum.terms), sum.constant);
            }
            // Terms of one coefficient.
            for (at, (_, coefficient)) in sum.terms.iter().enumerate() {
                let same = |other: &i64| other.unsigned_abs() == coefficient.unsigned_abs();
                if coefficient.unsigned_abs() != 1 && !sum.terms[..at].iter().any(|(_, other)| same(other)) {
                    propose(sum.terms[at..].iter().filter(|(_, other)| same(other)).copied().collect(), 0);
                }
            }
            // The terms that two sums share, in classes of one ratio of coefficients: each class is a common sum up to
            // a factor.
            let later = place + 1..self.sums.len();
            for other in later.filter(|other| sets[*other].may_share(sets[place])).map(|other| &self.sums[other]) {
                let ratio = |a: i64, b: i64| {
                    let common = gcd(a.into(), b.into()) as i64 * b.signum();
                    (a / common, b / common)
                };
                for &(symbol, coefficient) in &sum.terms {
                    let Some((_, theirs)) = other.terms.iter().find(|(theirs, _)| *theirs == symbol) else { continue };
                    let ratio = ratio(coefficient, *theirs);
                    match classes.iter_mut().find(|(known, _)| *known == ratio) {
                        Some((_, class)) => class.push((symbol, coefficient)),
                        None => classes.push((ratio, SmallVec::from_slice(&[(symbol, coefficient)]))),
                    }
                }
                for (class, terms) in classes.drain(..) {
                    // The constants belong to the class if they have its ratio. One that is free to choose can be given
                    // that ratio, if the result is an integer.
                    let constants = match (sum.shiftable, other.shiftable) {
                        (false, false) if sum.constant != 0 && other.constant != 0 => {
                            (ratio(sum.constant, other.constant) == class).then_some(sum.constant)
                        }
                        (false, true) => Some(sum.constant),
                        (true, false) if other.constant != 0 => {
                            let scaled = i128::from(other.constant) * i128::from(class.0);
                            (scaled % i128::from(class.1) == 0)
                                .then(|| i64::try_from(scaled / i128::from(class.1)).ok())
                                .flatten()
                        }
                        _ => None,
                    };
                    propose(Terms::from_slice(&terms), 0);
                    if let Some(constant) = constants.filter(|constant| *constant != 0) {
                        propose(terms, constant);
                    }
                }
            }
        }
        patterns
    }

    /// The symbol of a shared sum.
    fn symbol(&self, sum: usize) -> Symbol {
        (self.algebra.len() + sum) as Symbol
    }

    /// Makes the nodes of all atoms that are needed. Atoms come after those that they are made of, so that one pass in
    /// their order finds every operand made; but for quotients that were given another numerator.
    fn compute_atoms(&mut self, graph: &mut Graph) -> Result<(), Error> {
        self.nodes = vec![None; self.algebra.len() + self.sums.len()];
        for atom in 0..self.algebra.len() as Atom {
            self.compute_atom(graph, atom)?;
        }
        Ok(())
    }

    /// Makes the node of an atom, if it is needed and has none.
    fn compute_atom(&mut self, graph: &mut Graph, atom: Atom) -> Result<(), Error> {
        let algebra = self.algebra;
        let Some(Plan { sums, remainder, divisor }) = self.plans[atom as usize] else { return Ok(()) };
        if self.nodes[atom as usize].is_some() {
            return Ok(());
        }
        let kind = algebra.kind(atom);
        let node = match *kind {
            Kind::Variable(place, ..) => self.variables[place],
            Kind::Quotient(..) | Kind::Remainder(..) => {
                let op = if remainder || matches!(kind, Kind::Remainder(..)) { Binary::Mod } else { Binary::Div };
                let (whole, divisor) = (self.of_sum(graph, sums)?, graph.int(divisor));
                graph.binary(op, whole, divisor)?
            }
            Kind::Product(..) => {
                let (a, b) = (self.of_sum(graph, sums)?, self.of_sum(graph, sums + 1)?);
                graph.binary(Binary::Mul, a, b)?
            }
            Kind::Operation(op, ..) | Kind::Compare(op, ..) => {
                let (a, b) = (self.of_sum(graph, sums)?, self.of_sum(graph, sums + 1)?);
                graph.binary(op, a, b)?
            }
            Kind::Extremum(op, ref operands) => {
                let mut node = self.of_sum(graph, sums)?;
                for place in 1..operands.len() {
                    let operand = self.of_sum(graph, sums + place)?;
                    node = graph.binary(op, node, operand)?;
                }
                node
            }
            Kind::Select(condition, ..) => {
                let (a, b) = (self.of_sum(graph, sums)?, self.of_sum(graph, sums + 1)?);
                let condition = self.of_symbol(graph, condition)?;
                graph.select(condition, a, b)?
            }
            Kind::Test(ref condition) => self.test(graph, sums, condition.low, condition.high, Binary::Eq)?,
            Kind::Bool(value) => graph.bool(value),
            Kind::Not(a) => match algebra.kind(a) {
                // The negation of an equality is one operation, `!=`.
                Kind::Test(Condition { low: Some(low), high: Some(high), .. }) if low == high => {
                    let Some(Plan { sums, .. }) = self.plans[a as usize] else { return Ok(()) };
                    self.test(graph, sums, Some(*low), Some(*high), Binary::Ne)?
                }
                _ => {
                    let a = self.of_symbol(graph, a)?;
                    graph.not(a)?
                }
            },
            Kind::Both(op, a, b) => {
                let (a, b) = (self.of_symbol(graph, a)?, self.of_symbol(graph, b)?);
                graph.binary(op, a, b)?
            }
            Kind::Choice(condition, a, b) => {
                let (a, b) = (self.of_symbol(graph, a)?, self.of_symbol(graph, b)?);
                let condition = self.of_symbol(graph, condition)?;
                graph.select(condition, a, b)?
            }
        };
        self.nodes[atom as usize] = Some(node);
        Ok(())
    }

    /// The test that a sum lies between bounds; with [`Binary::Ne`], that it is not the one number that both bounds
    /// are.
    // Proved: `turned_bounds` in `proofs/Simplify.v`.
    fn test(
        &mut self,
        graph: &mut Graph,
        sum: usize,
        low: Option<i128>,
        high: Option<i128>,
        equal: Binary,
    ) -> Result<Expr, Error> {
        // Bounds are shifted by the constant, and turned round by a single negative sign: neither costs an operation.
        let Sum { terms, constant, .. } = &self.sums[sum];
        let constant = i128::from(*constant);
        let (mut low, mut high) = (low.map(|low| low - constant), high.map(|high| high - constant));
        let value = match terms[..] {
            [(symbol, sign @ (1 | -1))] => {
                if sign < 0 {
                    (low, high) = (high.map(|high| -high), low.map(|low| -low));
                }
                self.of_symbol(graph, symbol)?
            }
            _ => match self.compare_sides(graph, sum, low, high, equal)? {
                Some(comparison) => return Ok(comparison),
                None => self.of_terms(graph, sum, 0)?,
            },
        };
        match (equal, low.map(i64::try_from)) {
            (Binary::Ne, Some(Ok(low))) => {
                let low = graph.int(low);
                graph.binary(Binary::Ne, value, low)
            }
            // A number past `i64` is no value of the sum.
            (Binary::Ne, _) => Ok(graph.bool(true)),
            _ => graph.between(value, low, high),
        }
    }

    /// The comparison of what a sum adds with what it subtracts, where the bound is 0 or next to it: `a - b >= 0` is
    /// `a >= b`, which saves the subtraction.
    // Proved: `difference_tested` in `proofs/Simplify.v`.
    fn compare_sides(
        &mut self,
        graph: &mut Graph,
        sum: usize,
        low: Option<i128>,
        high: Option<i128>,
        equal: Binary,
    ) -> Result<Option<Expr>, Error> {
        let op = match (low, high) {
            (Some(0), Some(0)) => equal,
            (Some(0), None) => Binary::Ge,
            (Some(1), None) => Binary::Gt,
            (None, Some(0)) => Binary::Le,
            (None, Some(-1)) => Binary::Lt,
            _ => return Ok(None),
        };
        let (added, subtracted): (Terms, Terms) =
            self.sums[sum].terms.iter().copied().partition(|(_, factor)| *factor > 0);
        if added.is_empty() || subtracted.is_empty() {
            return Ok(None);
        }
        let subtracted = subtracted.into_iter().map(|(symbol, factor)| (symbol, -factor)).collect();
        let (added, subtracted) = (self.of_summands(graph, added, 0)?, self.of_summands(graph, subtracted, 0)?);
        graph.binary(op, added, subtracted).map(Some)
    }

    /// The node of a symbol, made now if it is a shared sum that was not needed before.
    fn of_symbol(&mut self, graph: &mut Graph, symbol: Symbol) -> Result<Expr, Error> {
        if let Some(node) = self.nodes[symbol as usize] {
            return Ok(node);
        }
        if (symbol as usize) < self.algebra.len() {
            self.compute_atom(graph, symbol)?;
            if let Some(node) = self.nodes[symbol as usize] {
                return Ok(node);
            }
        }
        // Atoms have nodes now, so this is a shared sum. The recursion ends: a shared sum took the place of its terms only
        // in sums that had all of them, so it stands between those sums and its terms, and closes no circle.
        let node = self.of_sum(graph, symbol as usize - self.algebra.len())?;
        self.nodes[symbol as usize] = Some(node);
        Ok(node)
    }

    /// The node of a sum, with its constant.
    // Proved: `remainder_is_difference` in `proofs/Simplify.v`.
    fn of_sum(&mut self, graph: &mut Graph, sum: usize) -> Result<Expr, Error> {
        let Sum { constant, remainder, .. } = self.sums[sum];
        if let Some(Rest { whole, divisor, .. }) = remainder {
            let (whole, divisor) = (self.of_sum(graph, whole)?, graph.int(divisor));
            return graph.binary(Binary::Mod, whole, divisor);
        }
        self.of_terms(graph, sum, constant)
    }

    /// The node of a sum's terms with a constant of choice.
    fn of_terms(&mut self, graph: &mut Graph, sum: usize, constant: i64) -> Result<Expr, Error> {
        self.of_summands(graph, Terms::from_slice(&self.sums[sum].terms), constant)
    }

    /// The node of terms and a constant, in the order of [`Emitter::rank`].
    fn of_summands(&mut self, graph: &mut Graph, mut terms: Terms, constant: i64) -> Result<Expr, Error> {
        sort_short_by_key(&mut terms, |(symbol, _)| self.rank(*symbol));
        let mut nodes: SmallVec<[(Expr, i64); 8]> = SmallVec::new();
        for (symbol, factor) in terms {
            nodes.push((self.of_symbol(graph, symbol)?, factor));
        }
        if self.width == Width::Narrow
            && let Some(node) = narrow::sum(graph, &nodes, constant)?
        {
            return Ok(node);
        }
        sum(graph, nodes, constant)
    }

    /// The order of terms in a sum: by the first atom in them. Equal sets of terms are then equal nodes, and text reads
    /// in the order of the variables.
    fn rank(&self, symbol: Symbol) -> (Atom, Symbol) {
        let mut first = symbol;
        while let Some(sum) = (first as usize).checked_sub(self.algebra.len()) {
            let Sum { terms, remainder, .. } = &self.sums[sum];
            first =
                remainder.map(|rest| rest.atom).or_else(|| terms.iter().map(|(symbol, _)| *symbol).min()).unwrap_or(0);
        }
        (first, symbol)
    }
}

/// The node of a sum of multiples of nodes, and of a constant: additions and subtractions from left to right. No factor is
/// 0, and no number `i64::MIN`.
///
/// # Errors
/// Where a part of the sum could leave `i64`.
pub(crate) fn sum(graph: &mut Graph, mut terms: SmallVec<[(Expr, i64); 8]>, mut constant: i64) -> Result<Expr, Error> {
    let product = |graph: &mut Graph, node: Expr, factor: i64| {
        if factor == 1 {
            return Ok(node);
        }
        let factor = graph.int(factor);
        graph.binary(Binary::Mul, node, factor)
    };
    let mut node = None;
    // A sum starts with something that is added, if there is anything: `b - a` and not `0 - a + b`.
    if let Some(first) = terms.iter().position(|(_, factor)| *factor > 0) {
        let (term, factor) = terms.remove(first);
        node = Some(product(graph, term, factor)?);
    } else if constant > 0 || (constant < 0 && terms.iter().any(|(_, factor)| *factor == -1)) {
        node = Some(graph.int(std::mem::take(&mut constant)));
    } else if let Some(first) = terms.iter().position(|(_, factor)| *factor != -1) {
        let (term, factor) = terms.remove(first);
        node = Some(product(graph, term, factor)?);
    }
    for (term, factor) in terms {
        let (op, factor) = if factor < 0 { (Binary::Sub, -factor) } else { (Binary::Add, factor) };
        let term = product(graph, term, factor)?;
        let sum = match node {
            Some(node) => node,
            None => graph.int(0),
        };
        node = Some(graph.binary(op, sum, term)?);
    }
    match (node, constant) {
        (Some(node), 0) => Ok(node),
        (Some(node), _) => {
            let subtracted = constant < 0;
            let (op, constant) = if subtracted { (Binary::Sub, -constant) } else { (Binary::Add, constant) };
            let constant = graph.int(constant);
            graph.binary(op, node, constant)
        }
        (None, _) => Ok(graph.int(constant)),
    }
}

/// A form for `form mod divisor` without inner remainders that do not matter, if there are any: `(m mod e) mod d` is
/// `m mod d` if `d` divides `e`. `numerator` gives the `m` of an atom.
// Proved: `unnested_remainder` in `proofs/Simplify.v`.
fn unnested(
    algebra: &Algebra,
    form: &Form,
    divisor: i64,
    numerator: impl Fn(Atom, &Form) -> Option<Form>,
) -> Option<Form> {
    let mut unnested = None;
    for &(atom, coefficient) in &form.terms {
        if let Kind::Remainder(whole, by) = algebra.kind(atom)
            && by % divisor == 0
        {
            let rest = Form { terms: Terms::from_slice(&[(atom, coefficient.checked_neg()?)]), constant: 0 };
            let whole = numerator(atom, whole)?;
            unnested = Some(unnested.as_ref().unwrap_or(form).plus(coefficient, &whole)?.plus(1, &rest)?);
        }
    }
    unnested
}

impl Clone for Sum {
    fn clone(&self) -> Sum {
        Sum { terms: Terms::from_slice(&self.terms), ..*self }
    }
}

impl Sum {
    /// A sum with the terms and the constant of a form.
    fn of(form: &Form) -> Sum {
        Sum { terms: Terms::from_slice(&form.terms), constant: form.constant, shiftable: false, remainder: None }
    }

    /// The terms and the constant as a form, whose atoms are symbols.
    fn form(&self) -> Form {
        Form { terms: Terms::from_slice(&self.terms), constant: self.constant }
    }

    /// The operations that computing it takes once its symbols are computed: one addition less than there are summands,
    /// and a product for every coefficient but 1 and -1.
    fn cost(&self) -> usize {
        if self.remainder.is_some() {
            return 1;
        }
        let summands = self.terms.len() + usize::from(self.constant != 0 && !self.shiftable);
        let products = self.terms.iter().filter(|(_, factor)| factor.unsigned_abs() != 1).count();
        summands.saturating_sub(1) + products
    }

    /// The operations saved by replacing `factor` times a pattern by a symbol, for a pattern all of whose symbols are
    /// in the sum; may be negative. `None` past `i64`.
    fn saved_by(&self, pattern: &Sum, factor: i64) -> Option<isize> {
        let costs = |coefficient: i64| 1 + isize::from(coefficient.unsigned_abs() != 1);
        let fits = |number: i64| (number != i64::MIN).then_some(number);
        // The new term costs an addition, and a product.
        let mut saved = -costs(factor);
        for &(symbol, unit) in &pattern.terms {
            let (_, coefficient) = self.terms.iter().find(|(ours, _)| *ours == symbol)?;
            let new = fits(coefficient.checked_sub(fits(unit.checked_mul(factor)?)?)?)?;
            saved += costs(*coefficient);
            saved -= if new == 0 { 0 } else { costs(new) };
        }
        let new = fits(self.constant.checked_sub(fits(pattern.constant.checked_mul(factor)?)?)?)?;
        if !self.shiftable {
            saved += isize::from(self.constant != 0) - isize::from(new != 0);
            // If nothing is left but minus the symbol, the negation is an operation; a comparison would absorb it.
            saved -= isize::from(factor == -1 && new == 0 && pattern.terms.len() == self.terms.len());
        }
        Some(saved)
    }

    /// `self - factor * pattern + factor * symbol`; unchanged where that leaves `i64`.
    fn with(&self, pattern: &Sum, factor: i64, symbol: Option<Symbol>) -> Sum {
        let (ours, theirs) = (self.form(), pattern.form());
        let left = factor.checked_neg().and_then(|minus| ours.plus(minus, &theirs));
        let left = left.and_then(|left| match symbol {
            Some(symbol) => left.plus(factor, &Form::atom(symbol)),
            None => Some(left),
        });
        match left {
            Some(Form { terms, constant }) => {
                Sum { terms, constant, shiftable: self.shiftable, remainder: self.remainder }
            }
            None => self.clone(),
        }
    }

    /// The sum divided by the greatest common divisor of its coefficients and constant, and negated if nothing in it is
    /// positive: one representative of all sums that are equal up to a factor.
    // No rule: it is a candidate, of which any multiple may be taken.
    fn primitive(self) -> Sum {
        let common = self.terms.iter().map(|(_, factor)| i128::from(*factor)).fold(self.constant.into(), gcd);
        let negative = self.constant <= 0 && self.terms.iter().all(|(_, factor)| *factor < 0);
        let Ok(common) = i64::try_from(if negative { -common } else { common }) else { return self };
        let terms = self.terms.iter().map(|(symbol, factor)| (*symbol, factor / common)).collect();
        Sum { terms, constant: self.constant / common, shiftable: self.shiftable, remainder: self.remainder }
    }
}
