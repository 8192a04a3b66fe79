//! From forms to the nodes of a graph: what several forms have in common is computed once.

use smallvec::SmallVec;

use crate::algebra::{Algebra, Kind, Taken, reduce};
use crate::context::Condition;
use crate::error::Error;
use crate::form::{Atom, Form, Terms};
use crate::graph::{Binary, Expr, Graph};
use crate::int::gcd;
use crate::list::sort_short_by_key;

/// What is to be computed.
pub(crate) enum Root {
    Number(Form),
    Condition(Atom),
}

/// The nodes that compute some roots, made in a graph whose variables are given.
pub(crate) fn emit(
    algebra: &Algebra,
    roots: Vec<Root>,
    graph: &mut Graph,
    variables: &[Expr],
) -> Result<SmallVec<[Expr; 2]>, Error> {
    let conditions: SmallVec<[Atom; 2]> = roots.iter().filter_map(Root::as_condition).collect();
    let numbers = roots.iter().filter_map(|root| match root {
        Root::Number(form) => Some(Sum::of(form)),
        Root::Condition(_) => None,
    });
    let mut emitter = Emitter { algebra, sums: numbers.collect(), plans: vec![None; algebra.len()], nodes: Vec::new() };
    emitter.collect_atoms(conditions);
    if emitter.sums.len() <= MAX_SUMS {
        emitter.use_remainders();
        emitter.extract_common_sums();
    }
    emitter.compute_atoms(graph, variables)?;
    let mut numbers = 0..;
    let mut node = |root: &Root| match root {
        Root::Condition(atom) => emitter.of_symbol(graph, *atom),
        Root::Number(_) => emitter.of_sum(graph, numbers.next().unwrap_or(0)),
    };
    roots.iter().map(&mut node).collect()
}

impl Root {
    fn as_condition(&self) -> Option<Atom> {
        match self {
            Root::Number(_) => None,
            Root::Condition(atom) => Some(*atom),
        }
    }
}

/// Forms that are to be computed, together with all that they are made of.
struct Emitter<'a> {
    algebra: &'a Algebra,
    /// Roots first, then what atoms are made of, then shared sums.
    sums: Vec<Sum>,
    /// For each atom that is needed how it is computed.
    plans: Vec<Option<Plan>>,
    /// The nodes of symbols that are computed.
    nodes: Vec<Option<Expr>>,
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
    /// A sum that is what this quotient leaves of its numerator, which is one operation.
    remainder: Option<Atom>,
}

/// How an atom is computed.
#[derive(Clone, Copy, Debug)]
struct Plan {
    /// The sums that it is made of, in the order of [`Kind::forms`], follow each other from here.
    sums: usize,
    /// A quotient that is computed as what the division leaves: all its uses are multiples of the divisor.
    remainder: bool,
}

/// More sums than this are not searched for what they have in common.
const MAX_SUMS: usize = 48;

impl<'a> Emitter<'a> {
    /// Takes up the atoms that sums and conditions are made of.
    fn collect_atoms(&mut self, conditions: SmallVec<[Atom; 2]>) {
        let mut open: Vec<Atom> = conditions.into_vec();
        let mut next = 0;
        loop {
            while let Some(atom) = open.pop() {
                if self.plans[atom as usize].is_some() {
                    continue;
                }
                self.plans[atom as usize] = Some(Plan { sums: self.sums.len(), remainder: false });
                let kind = self.algebra.kind(atom);
                open.extend(kind.conditions());
                let unnested = match kind {
                    Kind::Remainder(form, divisor) => {
                        unnested(self.algebra, form, *divisor, |_, whole| Some(whole.clone()))
                    }
                    _ => None,
                };
                let shiftable = matches!(kind, Kind::Test(_));
                let sums = kind.forms().map(|form| Sum { shiftable, ..Sum::of(unnested.as_ref().unwrap_or(form)) });
                self.sums.extend(sums);
            }
            let Some(sum) = self.sums.get(next) else { return };
            open.extend(sum.terms.iter().map(|(atom, _)| *atom));
            next += 1;
        }
    }

    /// Computes `m % d` in place of `m // d` where that alone is needed.
    fn use_remainders(&mut self) {
        for atom in (0..self.algebra.len() as Atom).rev() {
            let (Some(plan), Some((_, divisor))) = (self.plans[atom as usize], self.algebra.as_quotient(atom)) else {
                continue;
            };
            let whole = self.sums[plan.sums].form();
            let mut changed: SmallVec<[(usize, Form); 4]> = SmallVec::new();
            let (mut before, mut after) = (0, 0);
            let fits = self.sums.iter().enumerate().all(|(place, sum)| {
                let form = sum.form();
                let coefficient = form.coefficient(atom);
                if coefficient == 0 {
                    return true;
                }
                // c * q is (c / d) * (m - r).
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
                // Multiples of the divisor do not matter any more, nor what they were taken from.
                // What a modulo is of is what is computed for it by now.
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

    /// Names sums that several forms have in common, and groups terms with one coefficient, for as long as it saves
    /// operations.
    fn extract_common_sums(&mut self) {
        loop {
            let mut best: Option<(isize, Sum)> = None;
            for pattern in self.candidates() {
                let saved: isize =
                    self.sums.iter().map(|sum| best_use(sum, &pattern).map_or(0, |(saved, _)| saved)).sum();
                let saved = saved - pattern.cost() as isize;
                let (most, constant) = best.as_ref().map_or((0, 0), |(saved, best)| (*saved, best.constant));
                if saved > most || (saved == most && saved > 0 && constant != 0 && pattern.constant == 0) {
                    best = Some((saved, pattern));
                }
            }
            let Some((_, pattern)) = best else { return };
            let symbol = self.symbol(self.sums.len());
            let mut used = false;
            for sum in &mut self.sums {
                if let Some((_, factor)) = best_use(sum, &pattern) {
                    *sum = sum.with(&pattern, factor, Some(symbol));
                    used |= sum.terms.last().is_some_and(|(last, _)| *last == symbol);
                }
            }
            // What cannot be used after all would be found again for ever.
            if !used {
                return;
            }
            // What a division leaves is computed from its numerator.
            self.sums.push(match pattern.remainder {
                Some(_) => Sum { terms: Terms::new(), constant: 0, ..pattern },
                None => pattern,
            });
        }
    }

    /// Sums that might be worth a name.
    fn candidates(&self) -> Vec<Sum> {
        let mut patterns: Vec<Sum> = Vec::new();
        for (atom, plan) in (0..).zip(&self.plans) {
            if let (Some(Plan { sums, remainder: false }), Some((_, divisor))) = (plan, self.algebra.as_quotient(atom))
            {
                let whole = self.sums[*sums].form();
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

    /// Computes the atoms, each after those that it is made of.
    fn compute_atoms(&mut self, graph: &mut Graph, variables: &[Expr]) -> Result<(), Error> {
        self.nodes = vec![None; self.algebra.len() + self.sums.len()];
        for (atom, kind) in self.algebra.atoms() {
            let Some(Plan { sums, remainder }) = self.plans[atom as usize] else { continue };
            let node = match *kind {
                Kind::Variable(place, ..) => variables[place],
                Kind::Quotient(_, divisor) | Kind::Remainder(_, divisor) => {
                    let op = if remainder || matches!(kind, Kind::Remainder(..)) { Binary::Mod } else { Binary::Div };
                    let (whole, divisor) = (self.of_sum(graph, sums)?, graph.int(divisor));
                    graph.binary(op, whole, divisor)?
                }
                Kind::Operation(op, ..) | Kind::Compare(op, ..) => {
                    let (a, b) = (self.of_sum(graph, sums)?, self.of_sum(graph, sums + 1)?);
                    graph.binary(op, a, b)?
                }
                Kind::Select(condition, ..) => {
                    let (a, b) = (self.of_sum(graph, sums)?, self.of_sum(graph, sums + 1)?);
                    let condition = self.of_symbol(graph, condition)?;
                    graph.select(condition, a, b)?
                }
                Kind::Test(ref condition) => self.test(graph, sums, condition.low, condition.high, Binary::Eq)?,
                Kind::Bool(value) => graph.bool(value),
                Kind::Not(a) => match self.algebra.kind(a) {
                    // The opposite of an equality is one operation.
                    Kind::Test(Condition { low: Some(low), high: Some(high), .. }) if low == high => {
                        let Some(Plan { sums, .. }) = self.plans[a as usize] else { continue };
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
        }
        Ok(())
    }

    /// The test of a sum against bounds, or the opposite of one against a number.
    fn test(
        &mut self,
        graph: &mut Graph,
        sum: usize,
        low: Option<i128>,
        high: Option<i128>,
        equal: Binary,
    ) -> Result<Expr, Error> {
        // A comparison takes up a constant, and a sign.
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
            // What is past `i64` is not the value.
            (Binary::Ne, _) => Ok(graph.bool(true)),
            _ => graph.between(value, low, high),
        }
    }

    /// The comparison of what a sum adds with what it subtracts, where that takes no difference: `a - b >= 0` is
    /// `a >= b`.
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

    fn of_symbol(&mut self, graph: &mut Graph, symbol: Symbol) -> Result<Expr, Error> {
        if let Some(node) = self.nodes[symbol as usize] {
            return Ok(node);
        }
        // Atoms are computed already. Sums are made of ever fewer terms.
        let node = self.of_sum(graph, symbol as usize - self.algebra.len())?;
        self.nodes[symbol as usize] = Some(node);
        Ok(node)
    }

    fn of_sum(&mut self, graph: &mut Graph, sum: usize) -> Result<Expr, Error> {
        let Sum { constant, remainder, .. } = self.sums[sum];
        if let Some(atom) = remainder
            && let (Some(plan), Some((_, divisor))) = (self.plans[atom as usize], self.algebra.as_quotient(atom))
        {
            let (whole, divisor) = (self.of_sum(graph, plan.sums)?, graph.int(divisor));
            return graph.binary(Binary::Mod, whole, divisor);
        }
        self.of_terms(graph, sum, constant)
    }

    fn of_terms(&mut self, graph: &mut Graph, sum: usize, constant: i64) -> Result<Expr, Error> {
        self.of_summands(graph, self.sums[sum].terms.clone(), constant)
    }

    fn of_summands(&mut self, graph: &mut Graph, mut terms: Terms, mut constant: i64) -> Result<Expr, Error> {
        sort_short_by_key(&mut terms, |(symbol, _)| self.rank(*symbol));
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
            let (op, factor) = if factor < 0 { (Binary::Sub, -factor) } else { (Binary::Add, factor) };
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
                let subtracted = constant < 0;
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
    let uses = factors.into_iter().filter_map(|factor| Some((sum.saved_by(pattern, factor)?, factor)));
    uses.filter(|(saved, _)| *saved > 0).max_by_key(|(saved, _)| *saved)
}

impl Sum {
    fn of(form: &Form) -> Sum {
        Sum { terms: form.terms.clone(), constant: form.constant, shiftable: false, remainder: None }
    }

    fn form(&self) -> Form {
        Form { terms: self.terms.clone(), constant: self.constant }
    }

    /// The operations that computing it takes, on top of its symbols.
    fn cost(&self) -> usize {
        if self.remainder.is_some() {
            return 1;
        }
        let summands = self.terms.len() + usize::from(self.constant != 0 && !self.shiftable);
        let products = self.terms.iter().filter(|(_, factor)| factor.unsigned_abs() != 1).count();
        summands.saturating_sub(1) + products
    }

    /// The operations saved by `factor` times a pattern, all of whose symbols are in the sum; `None` past `i64`.
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
            // Nothing but the opposite of the pattern: that takes an operation.
            saved -= isize::from(factor == -1 && new == 0 && pattern.terms.len() == self.terms.len());
        }
        Some(saved)
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
            Some(Form { terms, constant }) => {
                Sum { terms, constant, shiftable: self.shiftable, remainder: self.remainder }
            }
            None => self.clone(),
        }
    }

    /// Divided by the greatest common divisor, and turned round if there is nothing to add.
    fn primitive(self) -> Sum {
        let common = self.terms.iter().map(|(_, factor)| i128::from(*factor)).fold(self.constant.into(), gcd);
        let negative = self.constant <= 0 && self.terms.iter().all(|(_, factor)| *factor < 0);
        let Ok(common) = i64::try_from(if negative { -common } else { common }) else { return self };
        let terms = self.terms.iter().map(|(symbol, factor)| (*symbol, factor / common)).collect();
        Sum { terms, constant: self.constant / common, shiftable: self.shiftable, remainder: self.remainder }
    }
}
