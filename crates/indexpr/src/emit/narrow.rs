//! Sums whose parts have few bits: for indices that fit 32 bits while the cheapest way to write them does not.
//!
//! The transpose of 1500 rows of 1500 elements reads `x % 1500 * 1500 + x // 1500`, which never leaves 0..2250000. The
//! cheapest form of it is `x * 1500 - x // 1500 * 2249999`, whose parts have 33 bits. A form has its remainders in this
//! way: `m - d * floor(m / d)`. Writing one as `m % d` costs an operation next to the division, and shrinks what is summed.

use shapetracker_base::int::{bits, div_floor};
use smallvec::SmallVec;

use super::{Emitter, Plan, Rest, Sum, Symbol};
use crate::atoms::Kind;
use crate::error::Error;
use crate::form::{Atom, Form, Terms};
use crate::graph::{Binary, Expr, Graph};

/// A remainder that sums may be written with.
struct Pattern {
    /// `m - d * q`.
    form: Form,
    atom: Atom,
    divisor: i64,
    /// What is divided: the sum of the quotient, or a shorter one.
    whole: Whole,
    /// The symbol of the remainder, once one is used.
    symbol: Option<Symbol>,
}

enum Whole {
    /// The sum at this place.
    At(usize),
    /// This one, of which the quotient can be made, too.
    New(Form),
}

impl Emitter<'_> {
    /// Writes sums with remainders, where that lowers how far their terms reach: the sum over all terms of how much they
    /// can vary. Each step lowers that of one sum, and so the loop ends.
    pub(super) fn use_narrow_terms(&mut self) {
        let mut patterns = self.remainders();
        let mut spreads = self.spreads();
        for place in 0..self.sums.len() {
            loop {
                let sum = &self.sums[place];
                let mut best: Option<(i128, usize, i64)> = None;
                let least = spread(&sum.form(), &spreads);
                for (at, pattern) in patterns.iter().enumerate() {
                    for factor in factors(sum, &pattern.form) {
                        let left = factor.checked_neg().and_then(|minus| sum.form().plus(minus, &pattern.form));
                        let Some(left) = left else { continue };
                        let rest = i128::from(factor).abs().saturating_mul(i128::from(pattern.divisor) - 1);
                        let reach = spread(&left, &spreads).saturating_add(rest);
                        if reach < best.map_or(least, |(reach, ..)| reach) {
                            best = Some((reach, at, factor));
                        }
                    }
                }
                let Some((_, at, factor)) = best else { break };
                // Other quotients may have been given new numerators meanwhile.
                if let (Whole::New(whole), None) = (&patterns[at].whole, patterns[at].symbol)
                    && self.is_made_of(whole, patterns[at].atom)
                {
                    patterns.remove(at);
                    continue;
                }
                let symbol = patterns[at].symbol.unwrap_or_else(|| self.remainder(&patterns[at]));
                patterns[at].symbol = Some(symbol);
                spreads.resize(symbol as usize + 1, 0);
                spreads[symbol as usize] = i128::from(patterns[at].divisor) - 1;
                let pattern = Sum::of(&patterns[at].form);
                self.sums[place] = self.sums[place].with(&pattern, factor, Some(symbol));
            }
        }
    }

    /// The remainders of all quotients. For `q = floor(m / d)` that is `m % d`. Beside another quotient `p = floor(n / c)`
    /// where `d = c * e` and `m = n + c * rest`, it is also `(p + rest) % e`: for `q` is `floor((p + rest) / e)`, since
    /// the floor of a floor is one floor.
    // Proved: `remainder_is_difference`, `remainder_of_quotient` in `proofs/Simplify.v`.
    fn remainders(&self) -> Vec<Pattern> {
        let quotients: Vec<(Atom, usize, i64)> = (0..)
            .zip(&self.plans)
            .filter(|(atom, _)| self.algebra.as_quotient(*atom).is_some())
            .filter_map(|(atom, plan)| match plan {
                Some(Plan { sums, remainder: false, divisor }) => Some((atom, *sums, *divisor)),
                _ => None,
            })
            .collect();
        let mut patterns = Vec::new();
        for &(atom, sums, divisor) in &quotients {
            let whole = self.sums[sums].form();
            if let Some(form) = whole.plus(-divisor, &Form::atom(atom)) {
                patterns.push(Pattern { form, atom, divisor, whole: Whole::At(sums), symbol: None });
            }
            for &(other, others, by) in &quotients {
                // What both are made of comes before either, so that the new numerator closes no circle.
                let is_before = |(symbol, _): &(Symbol, i64)| *symbol < atom.min(other);
                let shorter = by < divisor && divisor % by == 0;
                if !shorter || !self.sums[others].terms.iter().chain(&whole.terms).all(is_before) {
                    continue;
                }
                let Some(more) = whole.plus(-1, &self.sums[others].form()) else { continue };
                if more.constant % by != 0 || more.content() % by != 0 {
                    continue;
                }
                let Some(whole) = more.divided(by, more.constant / by).plus(1, &Form::atom(other)) else { continue };
                let divisor = divisor / by;
                if let Some(form) = whole.plus(-divisor, &Form::atom(atom)) {
                    patterns.push(Pattern { form, atom, divisor, whole: Whole::New(whole), symbol: None });
                }
            }
        }
        patterns
    }

    /// Whether an atom is needed to compute a form, as things stand: its quotient must not be computed from that.
    fn is_made_of(&self, form: &Form, atom: Atom) -> bool {
        let mut open: Vec<Symbol> = form.terms.iter().map(|(symbol, _)| *symbol).collect();
        let mut seen = vec![false; self.algebra.len() + self.sums.len()];
        while let Some(symbol) = open.pop() {
            if symbol == atom {
                return true;
            }
            if std::mem::replace(&mut seen[symbol as usize], true) {
                continue;
            }
            let places = match (symbol as usize).checked_sub(self.algebra.len()) {
                Some(place) => place..place + 1,
                None => {
                    let kind = self.algebra.kind(symbol);
                    open.extend(kind.conditions());
                    match self.plans[symbol as usize] {
                        Some(Plan { sums, .. }) => sums..sums + kind.forms().count(),
                        None => continue,
                    }
                }
            };
            for place in places {
                let place = self.sums[place].remainder.map_or(place, |rest| rest.whole);
                open.extend(self.sums[place].terms.iter().map(|(symbol, _)| *symbol));
            }
        }
        false
    }

    /// The symbol of a remainder that is used now. A quotient of a new numerator is computed from that, too, so that it
    /// costs one division together with its remainder.
    fn remainder(&mut self, pattern: &Pattern) -> Symbol {
        let &Pattern { atom, divisor, .. } = pattern;
        let whole = match &pattern.whole {
            Whole::At(place) => *place,
            Whole::New(form) => {
                self.sums.push(Sum::of(form));
                let sums = self.sums.len() - 1;
                self.plans[atom as usize] = Some(Plan { sums, remainder: false, divisor });
                sums
            }
        };
        let remainder = Some(Rest { atom, whole, divisor });
        self.sums.push(Sum { terms: Terms::new(), constant: 0, shiftable: false, remainder });
        self.symbol(self.sums.len() - 1)
    }

    /// How much each atom can vary: its greatest value less its least.
    // No rule: it chooses among sums that are equal.
    fn spreads(&self) -> Vec<i128> {
        let mut ranges: Vec<(i128, i128)> = Vec::with_capacity(self.algebra.len());
        for (atom, kind) in self.algebra.atoms() {
            let is_remainder = matches!(self.plans[atom as usize], Some(Plan { remainder: true, .. }));
            ranges.push(match *kind {
                Kind::Variable(_, low, high) => (low.into(), high.into()),
                Kind::Quotient(_, divisor) | Kind::Remainder(_, divisor)
                    if is_remainder || matches!(kind, Kind::Remainder(..)) =>
                {
                    (0, i128::from(divisor) - 1)
                }
                Kind::Quotient(ref form, divisor) => {
                    let (low, high) = range(form, &ranges);
                    (div_floor(low, divisor.into()), div_floor(high, divisor.into()))
                }
                Kind::Operation(.., (low, high)) => (low.into(), high.into()),
                Kind::Product(..) | Kind::Extremum(..) | Kind::Select(..) => {
                    let spans = kind.forms().map(|form| range(form, &ranges));
                    spans.reduce(|all, one| kind.joined(all, one)).unwrap_or_default()
                }
                _ => (0, 1),
            });
        }
        ranges.into_iter().map(|(low, high)| high - low).collect()
    }
}

/// The least and the greatest value of a form of atoms that vary independently. Forms have few terms of 64 bits each, so
/// that only atoms of atoms could leave `i128`.
fn range(form: &Form, ranges: &[(i128, i128)]) -> (i128, i128) {
    form.terms.iter().fold((form.constant.into(), form.constant.into()), |(low, high), (atom, factor)| {
        let ends = ranges[*atom as usize];
        let [a, b] = [ends.0, ends.1].map(|end| end.saturating_mul((*factor).into()));
        (low.saturating_add(a.min(b)), high.saturating_add(a.max(b)))
    })
}

/// How far the terms of a form reach.
fn spread(form: &Form, spreads: &[i128]) -> i128 {
    let reach = |(symbol, factor): &(Symbol, i64)| {
        spreads.get(*symbol as usize).map_or(i128::MAX, |spread| spread.saturating_mul(i128::from(*factor).abs()))
    };
    form.terms.iter().map(reach).fold(0, i128::saturating_add)
}

/// The multiples of a form that make one of its terms vanish from a sum that has all of them.
// No rule: whatever the factor, the multiple and what it leaves are the sum.
fn factors(sum: &Sum, form: &Form) -> SmallVec<[i64; 8]> {
    let mut factors = SmallVec::new();
    for (symbol, unit) in &form.terms {
        let Some((_, coefficient)) = sum.terms.iter().find(|(ours, _)| ours == symbol) else { return SmallVec::new() };
        if coefficient % unit == 0 && !factors.contains(&(coefficient / unit)) {
            factors.push(coefficient / unit);
        }
    }
    factors
}

/// The sum of multiples of nodes and of a constant in an order in which every part fits 32 bits; `None` where the usual
/// order does, or no order is found. The next summand is the first one with which the part still fits.
pub(super) fn sum(graph: &mut Graph, terms: &[(Expr, i64)], constant: i64) -> Result<Option<Expr>, Error> {
    let range = |graph: &Graph, term: &Summand| {
        let (low, high) = term.node.map_or((1, 1), |node| graph.range(node));
        let [a, b] = [low, high].map(|end| i128::from(end) * i128::from(term.factor));
        (a.min(b), a.max(b))
    };
    let mut left: SmallVec<[Summand; 8]> =
        terms.iter().map(|(node, factor)| Summand { node: Some(*node), factor: *factor }).collect();
    if constant != 0 {
        left.push(Summand { node: None, factor: constant });
    }
    let fits = |(low, high): (i128, i128)| {
        i64::try_from(low).is_ok_and(|low| i64::try_from(high).is_ok_and(|high| bits((low, high)) == 32))
    };
    // The usual order starts with something that is added.
    let first = left.iter().position(|term| term.factor > 0).unwrap_or(0);
    let (mut so_far, mut usual) = ((0, 0), true);
    for at in [first].into_iter().chain((0..left.len()).filter(|at| *at != first)) {
        let Some(term) = left.get(at) else { break };
        let (low, high) = range(graph, term);
        so_far = (so_far.0 + low, so_far.1 + high);
        usual &= fits(so_far);
    }
    if usual || !fits(so_far) {
        return Ok(None);
    }
    let mut order: SmallVec<[Summand; 8]> = SmallVec::new();
    let mut so_far = (0, 0);
    while !left.is_empty() {
        let sum = |term: &Summand| {
            let (low, high) = range(graph, term);
            (so_far.0 + low, so_far.1 + high)
        };
        let next = left.iter().position(|term| (!order.is_empty() || term.factor > 0) && fits(sum(term)));
        let Some(next) = next else { return Ok(None) };
        so_far = sum(&left[next]);
        order.push(left.remove(next));
    }
    let mut node: Option<Expr> = None;
    for Summand { node: of, factor } in order {
        let (op, by) = if node.is_some() && factor < 0 { (Binary::Sub, -factor) } else { (Binary::Add, factor) };
        let number = graph.int(by);
        let term = match of {
            None => number,
            Some(of) if by == 1 => of,
            Some(of) => graph.binary(Binary::Mul, of, number)?,
        };
        node = Some(match node {
            Some(node) => graph.binary(op, node, term)?,
            None => term,
        });
    }
    Ok(node)
}

/// A multiple of a node, or a constant, in a sum.
struct Summand {
    node: Option<Expr>,
    factor: i64,
}

#[cfg(test)]
mod tests {
    use crate::tests::{Rng, value};
    use crate::{Divisions, Form, Graph, Index, Syntax, Variable, cheapest};
    use shapetracker_base::int::bits;

    /// The elements of a row-major tensor in the order of permuted axes: `index[x]` is what is read for the `x`-th.
    fn transposed(shape: &[i64], axes: &[usize], x: i64) -> i64 {
        let (mut rest, mut index) = (x, 0);
        for &axis in axes.iter().rev() {
            index += rest % shape[axis] * shape[axis + 1..].iter().product::<i64>();
            rest /= shape[axis];
        }
        index
    }

    /// Transposes of up to four axes, flattened, of sizes for which the index fits 32 bits: so does whatever is computed.
    #[test]
    fn flattened_transposes_stay_in_32_bits() {
        let mut rng = Rng(0xa8);
        let (mut asked, mut narrower) = (0, 0);
        while asked < 400 {
            let rank = 2 + rng.below(3) as usize;
            let most = [46_000, 1_200, 210][rank - 2];
            let shape: Vec<i64> = (0..rank).map(|_| 2 + rng.below(most) as i64).collect();
            let size: i64 = shape.iter().product();
            let mut axes: Vec<usize> = (0..rank).collect();
            (1..rank).for_each(|at| axes.swap(at, rng.below(at as u64 + 1) as usize));
            if bits((0, size)) > 32 {
                continue;
            }
            asked += 1;
            let built = cheapest(&[Variable::new("x", 0..size)], &[size], Divisions::Cheapest, |domain| {
                let (mut rest, mut index) = (domain.variable(0)?, Form::default());
                for &axis in axes.iter().rev() {
                    let above = domain.quotient(&rest, shape[axis])?;
                    let digit = rest.plus(-shape[axis], &above)?;
                    let digit = domain.with_remainders(digit)?;
                    index = index.plus(shape[axis + 1..].iter().product(), &digit)?;
                    rest = above;
                }
                Some(Index::At(index))
            });
            let code = built.unwrap().into_code();
            let text = code.graph().text(code.index(), Syntax::Python).unwrap();
            assert!(!code.is_wide(), "{shape:?} {axes:?}: {text}");
            narrower += usize::from(text.contains('%'));
            for x in [0, size - 1].into_iter().chain((0..40).map(|_| rng.below(size as u64) as i64)) {
                let expected = transposed(&shape, &axes, x);
                assert_eq!(value(code.graph(), code.index(), &[x]), expected, "{shape:?} {axes:?}: {text} at {x}");
            }
        }
        assert!(narrower > 200, "{narrower}");
    }

    /// An expression that is computed in 32 bits stays one, and one that is not becomes one where that costs no more.
    #[test]
    fn simplifying_keeps_32_bits() {
        let mut graph = Graph::new();
        graph.variable("i", 0..2_250_000).unwrap();
        let narrow = graph.parse("i % 1500 * 1500 + i // 1500", Syntax::Python).unwrap();
        let simple = graph.simplify(narrow);
        assert_eq!(graph.text(simple, Syntax::Python).unwrap(), "i // 1500 + i % 1500 * 1500");
        let wide =
            graph.parse("(i - i // 1500 * 1500) * 1500 + i // 1500 + i % 1500 - i % 1500", Syntax::Python).unwrap();
        let simple = graph.simplify(wide);
        assert_eq!(graph.text(simple, Syntax::Python).unwrap(), "i // 1500 + i % 1500 * 1500");
    }

    /// The parts of a sum are taken in an order in which none needs more bits than the whole.
    #[test]
    fn parts_of_sums_stay_in_32_bits() {
        let mut graph = Graph::new();
        graph.variable("x", 2_000_000_000..2_000_000_100).unwrap();
        graph.variable("y", 1_000_000_000..1_000_000_100).unwrap();
        let sum = graph.parse("x + y - 2000000000 - 0 * x", Syntax::Python).unwrap();
        let simple = graph.simplify(sum);
        assert_eq!(graph.text(simple, Syntax::Python).unwrap(), "x - 2000000000 + y");
    }
}
