//! The loops of a map as digits, of which the results are affine as far as that can be had, and the results as linear
//! forms.

use indexpr::{Binary, Expr, Floor, Graph, Linear, Term};
use shapetracker_base::int::gcd;

use super::{IndexMap, Unproved, xor};
use crate::error::Error;

/// The most digits that the loops are split into: more would cost more than the floors that they save.
const MOST_DIGITS: usize = 96;

/// The loops as digits, and expressions over them.
#[derive(Clone)]
pub(super) struct Digits {
    /// Its variables are the digits.
    pub(super) graph: Graph,
    /// What was asked for, over the digits.
    pub(super) exprs: Vec<Expr>,
    pub(super) loops: Vec<Loop>,
}

/// A loop variable: `begin + sum weight * digit`, from the highest digit down.
///
/// The digits may have more choices than the loop has values: the sum lies in `first..first + size`.
#[derive(Clone)]
pub(super) struct Loop {
    /// At most the first value of the loop: a multiple of the divisors, so that floors of the variable are digits.
    pub(super) begin: i64,
    pub(super) first: i64,
    /// How many values it has.
    pub(super) size: i64,
    pub(super) digits: Vec<Digit>,
}

/// A digit of a loop.
#[derive(Clone, Copy)]
pub(super) struct Digit {
    /// Its place among the variables of the graph.
    pub(super) place: usize,
    pub(super) weight: i64,
    pub(super) size: i64,
}

impl Loop {
    /// Whether every choice of the digits is a value of the loop.
    pub(super) fn is_full(&self) -> bool {
        self.first == 0
            && self.digits.iter().try_fold(1i64, |all, digit| all.checked_mul(digit.size)) == Some(self.size)
    }
}

/// Linear forms over variables and the floors that they share.
pub(super) struct Forms {
    pub(super) floors: Vec<Floor>,
    pub(super) values: Vec<Linear>,
}

impl Forms {
    /// Some expressions of a graph as linear forms; which of them is none where one is not.
    pub(super) fn of(graph: &mut Graph, exprs: &[Expr]) -> Result<Forms, usize> {
        let mut forms = Forms { floors: Vec::new(), values: Vec::with_capacity(exprs.len()) };
        let always = graph.bool(true);
        for (at, expr) in exprs.iter().enumerate() {
            let function = graph.quasi_affine(*expr, always).ok().flatten().ok_or(at)?;
            let value = function.value().ok_or(at)?;
            // Where each floor of the function is among those that all share.
            let mut places = Vec::with_capacity(function.floors().len());
            for floor in function.floors() {
                let floor = Floor::new(moved(&floor.numerator, &places).ok_or(at)?, floor.divisor);
                let known = forms.floors.iter().position(|known| *known == floor);
                places.push(known.unwrap_or_else(|| {
                    forms.floors.push(floor);
                    forms.floors.len() - 1
                }));
            }
            forms.values.push(moved(value, &places).ok_or(at)?);
        }
        Ok(forms)
    }

    /// How many terms all forms have.
    pub(super) fn terms(&self) -> usize {
        let numerators = self.floors.iter().map(|floor| &floor.numerator);
        numerators.chain(&self.values).map(|form| form.terms().len()).sum()
    }
}

/// A form with its floors at other places.
fn moved(form: &Linear, places: &[usize]) -> Option<Linear> {
    let term = |term: &Term| match term {
        Term::Floor(at) => Term::Floor(places[*at]),
        Term::Variable(_) => *term,
    };
    Linear::new(form.constant(), form.terms().iter().map(|(of, by)| (term(of), *by)))
}

impl Digits {
    /// The loops of a map as one digit each.
    fn whole(map: &IndexMap, exprs: &[Expr]) -> Result<Digits, Error> {
        let mut digits = Digits { graph: Graph::new(), exprs: Vec::new(), loops: Vec::new() };
        for (place, variable) in map.loops().iter().enumerate() {
            let begin = variable.range.start;
            let size = variable.range.end - begin;
            digits.loops.push(Loop { begin, first: 0, size, digits: vec![Digit { place, weight: 1, size }] });
        }
        digits.with_expressions(map, exprs)
    }

    /// The loops of a map split wherever a floor of some expressions divides them, and the expressions over the digits.
    ///
    /// What is made of more parts than that has more floors than any question about it is decided with.
    pub(super) fn of(map: &IndexMap, exprs: &[Expr]) -> Result<(Digits, Result<Forms, usize>), Unproved> {
        const MOST_PARTS: usize = 3000;
        if map.graph.parts(exprs).len() > MOST_PARTS {
            return Err(Unproved::WorkLimit);
        }
        let sums = xor::as_sums(&map.graph, exprs);
        let sums = sums.map(|(graph, exprs)| (IndexMap { graph, results: Vec::new() }, exprs));
        let (map, exprs) = sums.as_ref().map_or((map, exprs), |(map, exprs)| (map, exprs));
        let mut digits = Digits::whole(map, exprs)?;
        let mut forms = Forms::of(&mut digits.graph, &digits.exprs);
        // Floors of sums of floors become visible when what is inside of them is split.
        for _ in 0..6 {
            let Ok(found) = &forms else { break };
            let Some(split) = digits.split(&found.floors) else { break };
            // Digits may have more choices than the loop has values, where an expression may not exist.
            let Ok(mut split) = split.with_expressions(map, exprs) else { break };
            let Ok(new) = Forms::of(&mut split.graph, &split.exprs) else { break };
            (digits, forms) = (split, Ok(new));
        }
        Ok((digits, forms))
    }

    /// The same loops, with the expressions of the map over their digits.
    fn with_expressions(mut self, map: &IndexMap, exprs: &[Expr]) -> Result<Digits, Error> {
        let mut graph = Graph::new();
        let mut place = 0;
        let mut values = Vec::with_capacity(self.loops.len());
        for each in &mut self.loops {
            let mut value = graph.int(each.begin);
            for digit in &mut each.digits {
                digit.place = place;
                let variable = graph.variable(&format!("z{place}"), 0..digit.size)?;
                place += 1;
                let weight = graph.int(digit.weight);
                let term = graph.binary(Binary::Mul, variable, weight)?;
                value = graph.binary(Binary::Add, value, term)?;
            }
            values.push(value);
        }
        self.exprs = graph.import(&map.graph, exprs, |_, place| Ok(values[place]))?;
        self.graph = graph;
        Ok(self)
    }

    /// The digits split at the divisors of floors: a digit `P * a + b`, of which the floor of `c * (P * a + b) / d` takes `a`
    /// out, if `P` is `d / gcd(c, d)`. `None` where no digit is split.
    fn split(&self, floors: &[Floor]) -> Option<Digits> {
        let mut periods: Vec<Vec<i64>> = vec![Vec::new(); self.graph.variables().len()];
        for floor in floors {
            for (term, by) in floor.numerator.terms() {
                if let Term::Variable(place) = term {
                    let common = gcd((*by).into(), floor.divisor.into()) as i64;
                    periods[*place].push(floor.divisor / common);
                }
            }
        }
        let mut count = periods.len();
        let mut changed = false;
        let mut new = self.clone();
        for each in &mut new.loops {
            let mut digits = Vec::new();
            for (at, digit) in each.digits.clone().iter().enumerate() {
                let mut wanted = std::mem::take(&mut periods[digit.place]);
                wanted.sort_unstable();
                // Each a multiple of the one before; a digit that others follow above must be split evenly.
                let mut chain: Vec<i64> = vec![1];
                for period in wanted {
                    let last = chain[chain.len() - 1];
                    let common = gcd(last.into(), period.into()) as i64;
                    let Some(next) = (period / common).checked_mul(last) else { continue };
                    if next > last && next < digit.size && (at == 0 || digit.size % next == 0) && count < MOST_DIGITS {
                        chain.push(next);
                        count += 1;
                        changed = true;
                    }
                }
                let mut size = digit.size;
                if let (1, &[.., period]) = (each.digits.len(), &chain[..])
                    && let (shift, first) = (each.begin.rem_euclid(period), each.first)
                    && let (Some(begin), Some(more)) = (each.begin.checked_sub(shift), size.checked_add(shift))
                {
                    (each.begin, each.first, size) = (begin, first + shift, more);
                }
                for (level, &weight) in chain.iter().enumerate().rev() {
                    let size = match chain.get(level + 1) {
                        Some(above) => above / weight,
                        None => (size - 1) / weight + 1,
                    };
                    digits.push(Digit { place: 0, weight: digit.weight * weight, size });
                }
            }
            each.digits = digits;
        }
        changed.then_some(new)
    }

    /// The index of some values of the digits.
    pub(super) fn index(&self, values: &[i128]) -> Vec<i64> {
        let value = |each: &Loop| {
            let digits = each.digits.iter().map(|digit| i128::from(digit.weight) * values[digit.place]);
            i128::from(each.begin) + digits.sum::<i128>()
        };
        self.loops.iter().map(|each| value(each) as i64).collect()
    }
}
