//! From forms to the nodes of a graph: what several forms have in common is computed once.

use std::collections::HashMap;

use smallvec::SmallVec;

use super::algebra::{Algebra, Kind, Taken, reduce};
use super::context::Condition;
use super::facts::gcd;
use super::form::{Atom, Form, Terms};
use super::graph::{Binary, Expr, Graph};
use crate::error::Error;

/// Forms that are to be computed, together with all that they are made of.
pub(super) struct Emitter<'a> {
    algebra: &'a Algebra,
    /// Roots first, then what atoms are made of, then shared sums.
    sums: Vec<Sum>,
    /// For each atom that is needed the sums that it is made of, in the order of [`Kind::forms`].
    made_of: HashMap<Atom, Made>,
    nodes: HashMap<Symbol, Expr>,
}

/// Something that terms are multiples of: an atom, or above all atoms the place of a sum.
type Symbol = u32;

/// A sum to be computed.
#[derive(Clone, Debug)]
struct Sum {
    terms: Terms,
    constant: i64,
    /// Whether any constant will do, because a comparison can take it up.
    shiftable: bool,
    /// A sum that is what this quotient leaves of its numerator: by a power of two that is one operation.
    remainder: Option<Atom>,
}

/// How an atom is computed.
#[derive(Clone, Copy, Debug)]
struct Made {
    sums: [usize; 2],
    /// A quotient that is computed as what the division leaves: all its uses are multiples of the divisor.
    remainder: bool,
}

/// More sums than this are not searched for what they have in common.
const MANY: usize = 48;

impl<'a> Emitter<'a> {
    /// Takes up forms; of those that may be shifted the constant is not computed.
    pub(super) fn new(algebra: &'a Algebra, roots: impl IntoIterator<Item = (Form, bool)>) -> Self {
        let sum = |(Form { terms, constant }, shiftable): (Form, bool)| Sum {
            terms,
            constant: if shiftable { 0 } else { constant },
            shiftable,
            remainder: None,
        };
        let mut emitter =
            Emitter { algebra, sums: roots.into_iter().map(sum).collect(), made_of: HashMap::new(), nodes: HashMap::new() };
        emitter.take_up_atoms();
        emitter.use_remainders();
        if emitter.sums.len() <= MANY {
            emitter.share();
        }
        emitter
    }

    fn take_up_atoms(&mut self) {
        let mut next = 0;
        while next < self.sums.len() {
            for (atom, _) in self.sums[next].terms.clone() {
                if self.made_of.contains_key(&atom) {
                    continue;
                }
                let first = self.sums.len();
                for form in self.algebra.kind(atom).forms() {
                    let unnested = match self.algebra.kind(atom) {
                        Kind::Remainder(form, divisor) => unnested(self.algebra, form, *divisor),
                        _ => None,
                    };
                    let form = unnested.as_ref().unwrap_or(form);
                    self.sums.push(Sum { terms: form.terms.clone(), constant: form.constant, shiftable: false, remainder: None });
                }
                self.made_of.insert(atom, Made { sums: [first, first + 1], remainder: false });
            }
            next += 1;
        }
    }

    /// Computes `m % d` in place of `m // d` where that alone is needed.
    fn use_remainders(&mut self) {
        let mut atoms: SmallVec<[Atom; 8]> =
            self.made_of.keys().copied().filter(|atom| self.algebra.as_quotient(*atom).is_some()).collect();
        atoms.sort_unstable();
        for atom in atoms.into_iter().rev() {
            let Some((_, divisor)) = self.algebra.as_quotient(atom) else { continue };
            let made = self.made_of[&atom];
            let whole = self.sums[made.sums[0]].clone();
            let whole = Form { terms: whole.terms, constant: whole.constant };
            let mut changed: SmallVec<[(usize, Form); 4]> = SmallVec::new();
            let (mut before, mut after) = (0, 0);
            let fits = self.sums.iter().enumerate().all(|(place, sum)| {
                let form = Form { terms: sum.terms.clone(), constant: sum.constant };
                let coefficient = form.coefficient(atom);
                if coefficient == 0 {
                    return true;
                }
                // c * q is (c / d) * (m - r).
                let factor = coefficient / divisor;
                let replaced = (coefficient % divisor == 0)
                    .then(|| form.plus(1, &Form { terms: Terms::from_slice(&[(atom, -coefficient)]), constant: 0 })?
                        .plus(factor, &whole)?
                        .plus(1, &Form { terms: Terms::from_slice(&[(atom, -factor)]), constant: 0 }))
                    .flatten();
                let Some(replaced) = replaced else { return false };
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
                self.made_of.insert(atom, Made { remainder: true, ..made });
                // Multiples of the divisor do not matter any more, nor what they were taken from.
                let inner = &mut self.sums[made.sums[0]];
                let unnested = unnested(self.algebra, &whole, divisor);
                let reduced = reduce(unnested.as_ref().unwrap_or(&whole), divisor, Taken::Most);
                if let Some((_, Form { terms, constant })) = reduced {
                    let reduced = Sum { terms, constant, shiftable: false, remainder: None };
                    if unnested.is_some() || reduced.cost() <= inner.cost() {
                        *inner = reduced;
                    }
                }
            }
        }
    }

    /// Names sums that several forms have in common, and groups terms with one coefficient, for as long as it saves
    /// operations.
    fn share(&mut self) {
        loop {
            let mut best: Option<(isize, Sum)> = None;
            for pattern in self.patterns() {
                let saved: isize = self.sums.iter().map(|sum| best_use(sum, &pattern).map_or(0, |(saved, _)| saved)).sum();
                let saved = saved - pattern.cost() as isize;
                let (most, constant) = best.as_ref().map_or((0, 0), |(saved, best)| (*saved, best.constant));
                if saved > most || (saved == most && saved > 0 && constant != 0 && pattern.constant == 0) {
                    best = Some((saved, pattern));
                }
            }
            let Some((_, pattern)) = best else { return };
            let symbol = self.symbol(self.sums.len());
            for sum in &mut self.sums {
                if let Some((_, factor)) = best_use(sum, &pattern) {
                    *sum = sum.with(&pattern, factor, Some(symbol));
                }
            }
            // What a division leaves is computed from its numerator.
            self.sums.push(match pattern.remainder {
                Some(_) => Sum { terms: Terms::new(), constant: 0, ..pattern },
                None => pattern,
            });
        }
    }

    /// Sums that might be worth a name.
    fn patterns(&self) -> Vec<Sum> {
        let mut patterns: Vec<Sum> = Vec::new();
        for (&atom, made) in self.made_of.iter().filter(|(_, made)| !made.remainder) {
            if let Some((_, divisor)) = self.algebra.as_quotient(atom) {
                let Sum { terms, constant, .. } = &self.sums[made.sums[0]];
                let whole = Form { terms: terms.clone(), constant: *constant };
                if let Some(Form { terms, constant }) = whole.plus(-divisor, &Form::atom(atom)) {
                    patterns.push(Sum { terms, constant, shiftable: false, remainder: Some(atom) });
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
            // The whole of a sum, which is computed in any case.
            propose(sum.terms.clone(), 0);
            if !sum.shiftable && sum.constant != 0 {
                propose(sum.terms.clone(), sum.constant);
            }
            // Terms with one coefficient.
            for (at, (_, coefficient)) in sum.terms.iter().enumerate() {
                let same = |other: &i64| other.unsigned_abs() == coefficient.unsigned_abs();
                if coefficient.unsigned_abs() != 1 && !sum.terms[..at].iter().any(|(_, other)| same(other)) {
                    propose(sum.terms[at..].iter().filter(|(_, other)| same(other)).copied().collect(), 0);
                }
            }
            // What two sums have in common up to a factor.
            for other in &self.sums[place + 1..] {
                let mut classes: SmallVec<[((i64, i64), Terms); 4]> = SmallVec::new();
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
                for (class, terms) in classes {
                    // The constant belongs to the class if it is of the same ratio.
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
                    propose(terms.clone(), 0);
                    if let Some(constant) = constants.filter(|constant| *constant != 0) {
                        propose(terms, constant);
                    }
                }
            }
        }
        patterns
    }

    fn symbol(&self, sum: usize) -> Symbol {
        (self.algebra.len() + sum) as Symbol
    }

    /// The nodes that compute a root, and the constant that they add to it.
    pub(super) fn root(&mut self, graph: &mut Graph, root: usize, variables: &[Expr]) -> Result<(Expr, i64, i64), Error> {
        self.atoms(graph, variables)?;
        let Sum { terms, constant, shiftable, .. } = &self.sums[root];
        // A comparison takes up a sign and a constant.
        if let ([(symbol, factor @ (1 | -1))], true) = (&terms[..], *shiftable) {
            let (symbol, factor, constant) = (*symbol, *factor, *constant);
            return Ok((self.of_symbol(graph, symbol)?, factor, constant));
        }
        let (constant, shiftable) = (*constant, *shiftable);
        let node = self.of_sum(graph, root, !shiftable)?;
        Ok((node, 1, if shiftable { constant } else { 0 }))
    }

    /// The node that tests the condition on a root.
    pub(super) fn condition(
        &mut self,
        graph: &mut Graph,
        root: usize,
        condition: &Condition,
        variables: &[Expr],
    ) -> Result<Expr, Error> {
        let (value, sign, constant) = self.root(graph, root, variables)?;
        // sign * value + constant lies between the bounds.
        let constant = i128::from(constant);
        let (mut low, mut high) = (condition.low.map(|low| low - constant), condition.high.map(|high| high - constant));
        if sign < 0 {
            (low, high) = (high.map(|high| -high), low.map(|low| -low));
        }
        graph.between(value, low, high)
    }

    /// Computes the atoms, each after those that it is made of.
    fn atoms(&mut self, graph: &mut Graph, variables: &[Expr]) -> Result<(), Error> {
        if !self.nodes.is_empty() {
            return Ok(());
        }
        let mut atoms: Vec<Atom> = self.made_of.keys().copied().collect();
        atoms.sort_unstable();
        for atom in atoms {
            let Made { sums: [a, b], remainder } = self.made_of[&atom];
            let node = match *self.algebra.kind(atom) {
                Kind::Variable(place, ..) => variables[place],
                Kind::Quotient(_, divisor) => {
                    let (whole, divisor) = (self.of_sum(graph, a, true)?, graph.int(divisor));
                    graph.binary(if remainder { Binary::Mod } else { Binary::Div }, whole, divisor)?
                }
                Kind::Remainder(_, divisor) => {
                    let (whole, divisor) = (self.of_sum(graph, a, true)?, graph.int(divisor));
                    graph.binary(Binary::Mod, whole, divisor)?
                }
                Kind::Operation(op, ..) => {
                    let (a, b) = (self.of_sum(graph, a, true)?, self.of_sum(graph, b, true)?);
                    graph.binary(op, a, b)?
                }
                Kind::Select(..) => graph.int(0),
            };
            self.nodes.insert(atom, node);
        }
        Ok(())
    }

    fn of_symbol(&mut self, graph: &mut Graph, symbol: Symbol) -> Result<Expr, Error> {
        if let Some(&node) = self.nodes.get(&symbol) {
            return Ok(node);
        }
        // Atoms are computed already. Sums are made of ever fewer terms.
        let node = self.of_sum(graph, symbol as usize - self.algebra.len(), true)?;
        self.nodes.insert(symbol, node);
        Ok(node)
    }

    fn of_sum(&mut self, graph: &mut Graph, sum: usize, with_constant: bool) -> Result<Expr, Error> {
        let Sum { mut terms, constant, remainder, .. } = self.sums[sum].clone();
        if let Some((atom, (_, divisor))) = remainder.and_then(|atom| Some((atom, self.algebra.as_quotient(atom)?))) {
            let (whole, divisor) = (self.of_sum(graph, self.made_of[&atom].sums[0], true)?, graph.int(divisor));
            return graph.binary(Binary::Mod, whole, divisor);
        }
        let mut constant = if with_constant { constant } else { 0 };
        terms.sort_by_key(|(symbol, _)| self.rank(*symbol));
        let mut node = None;
        // A sum starts with something to add, if there is anything.
        if let Some(first) = terms.iter().position(|(_, factor)| *factor > 0) {
            let (symbol, factor) = terms.remove(first);
            node = Some(self.product(graph, symbol, factor)?);
        } else if constant > 0 {
            node = Some(graph.int(std::mem::take(&mut constant)));
        } else if let Some(first) = terms.iter().position(|(_, factor)| *factor != -1) {
            let (symbol, factor) = terms.remove(first);
            node = Some(self.product(graph, symbol, factor)?);
        }
        for (symbol, factor) in terms {
            let (op, factor) = if factor < 0 && factor != i64::MIN { (Binary::Sub, -factor) } else { (Binary::Add, factor) };
            let term = self.product(graph, symbol, factor)?;
            let sum = match node {
                Some(node) => node,
                None => graph.int(0),
            };
            node = Some(graph.binary(op, sum, term)?);
        }
        match (node, constant) {
            (Some(node), 0) => Ok(node),
            (Some(node), _) => {
                let subtracted = constant < 0 && constant != i64::MIN;
                let (op, constant) = if subtracted { (Binary::Sub, -constant) } else { (Binary::Add, constant) };
                let constant = graph.int(constant);
                graph.binary(op, node, constant)
            }
            (None, _) => Ok(graph.int(constant)),
        }
    }

    fn product(&mut self, graph: &mut Graph, symbol: Symbol, factor: i64) -> Result<Expr, Error> {
        let node = self.of_symbol(graph, symbol)?;
        if factor == 1 {
            return Ok(node);
        }
        let factor = graph.int(factor);
        graph.binary(Binary::Mul, node, factor)
    }

    /// Terms are written in the order of the first atoms in them.
    fn rank(&self, symbol: Symbol) -> (Atom, Symbol) {
        let mut first = symbol;
        while let Some(sum) = (first as usize).checked_sub(self.algebra.len()) {
            let Sum { terms, remainder, .. } = &self.sums[sum];
            first = remainder.or_else(|| terms.iter().map(|(symbol, _)| *symbol).min()).unwrap_or(0);
        }
        (first, symbol)
    }
}

/// `(m mod e) mod d` is `m mod d` when `d` divides `e`: such a form without the inner modulos, if it has any.
fn unnested(algebra: &Algebra, form: &Form, divisor: i64) -> Option<Form> {
    let mut unnested = None;
    for &(atom, coefficient) in &form.terms {
        if let Kind::Remainder(whole, by) = algebra.kind(atom)
            && by % divisor == 0
        {
            let rest = Form { terms: Terms::from_slice(&[(atom, coefficient.checked_neg()?)]), constant: 0 };
            unnested = Some(unnested.as_ref().unwrap_or(form).plus(coefficient, whole)?.plus(1, &rest)?);
        }
    }
    unnested
}

/// How best to use a pattern in a sum: the operations saved, and the factor.
fn best_use(sum: &Sum, pattern: &Sum) -> Option<(isize, i64)> {
    let mut factors = SmallVec::<[i64; 4]>::new();
    for &(symbol, unit) in &pattern.terms {
        // Nothing is brought in that is not there: it might be made of this very sum.
        let (_, coefficient) = sum.terms.iter().find(|(theirs, _)| *theirs == symbol)?;
        if coefficient % unit == 0 && !factors.contains(&(coefficient / unit)) {
            factors.push(coefficient / unit);
        }
    }
    let uses = factors.into_iter().map(|factor| {
        let used = sum.with(pattern, factor, None);
        // The new term costs an addition, and a product.
        let empty = used.terms.is_empty() && (used.constant == 0 || used.shiftable);
        let cost = used.cost() + usize::from(!empty) + usize::from(factor.unsigned_abs() != 1);
        (sum.cost() as isize - cost as isize, factor)
    });
    uses.filter(|(saved, _)| *saved > 0).max_by_key(|(saved, _)| *saved)
}

impl Sum {
    /// The operations that computing it takes, on top of its symbols.
    fn cost(&self) -> usize {
        if self.remainder.is_some() {
            return 1;
        }
        let summands = self.terms.len() + usize::from(self.constant != 0 && !self.shiftable);
        let products = self.terms.iter().filter(|(_, factor)| factor.unsigned_abs() != 1).count();
        summands.saturating_sub(1) + products
    }

    /// `self - factor * pattern`, plus `factor` of a symbol. Past `i64` it is left as it is.
    fn with(&self, pattern: &Sum, factor: i64, symbol: Option<Symbol>) -> Sum {
        let ours = Form { terms: self.terms.clone(), constant: self.constant };
        let theirs = Form { terms: pattern.terms.clone(), constant: pattern.constant };
        let left = factor.checked_neg().and_then(|minus| ours.plus(minus, &theirs));
        let left = left.and_then(|left| match symbol {
            Some(symbol) => left.plus(factor, &Form::atom(symbol)),
            None => Some(left),
        });
        match left {
            Some(Form { terms, constant }) => Sum { terms, constant, shiftable: self.shiftable, remainder: self.remainder },
            None => self.clone(),
        }
    }

    /// Divided by the greatest common divisor, with the first coefficient positive unless that leaves nothing to add.
    fn primitive(self) -> Sum {
        let common = self.terms.iter().map(|(_, factor)| i128::from(*factor)).fold(self.constant.into(), gcd);
        let negative = self.terms.iter().all(|(_, factor)| *factor < 0)
            || (self.terms[0].1 < 0 && self.constant == 0 && self.terms.iter().any(|(_, factor)| *factor > 0));
        let Ok(common) = i64::try_from(if negative { -common } else { common }) else { return self };
        if self.terms.iter().any(|(_, factor)| *factor == i64::MIN) || self.constant == i64::MIN {
            return self;
        }
        let terms = self.terms.iter().map(|(symbol, factor)| (*symbol, factor / common)).collect();
        Sum { terms, constant: self.constant / common, shiftable: self.shiftable, remainder: self.remainder }
    }
}
