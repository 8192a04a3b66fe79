//! Splits of loops that leave no floor: which there are, the fewest, and why there are none.
//!
//! Let `g(x)` be what one loop adds to a function of the loops, `0 <= x < n`, with `g(0) = 0`. Its *run* is the least `r` with
//! `g(r) != r * g(1)`, or `n`. The function is affine in the digits of some split of the loop exactly if `r` divides `n`,
//! `g(r * y)`, `0 <= y < n / r`, is so again, and `g(r * y + x)` is `g(r * y) + g(x)` for all `x` below `r`: whatever split
//! serves the function can be joined until neighbouring digits do not continue each other, and then its innermost factor ends
//! where `g` stops being a multiple of `g(1)`. So that split is the coarsest, and every other one refines it. It is written as its
//! partial products from the innermost factor on, `1 | w | .. | n`.
//!
//! Over several loops a function has a split if it has runs that divide along each loop, and is the sum of what their digits add
//! (*separable*); several functions have one in common if, for each loop, the partial products of all of them together are a
//! chain under divisibility. That chain is the coarsest again. This is so for functions of all indices. Where a guard holds for some of them
//! only, an index counts as affine if it is so there, but its cuts are those of the function everywhere: fewer may do, and none may be
//! the coarsest (at 0, 2 and 3 of a loop of 6 the values 0, 2 and 5 are affine after either of 2 x 3 and 3 x 2). Runs are found first, loop by loop; whether the function is the
//! sum is asked of the difference of both, simplified, and then of its extremes.
//!
//! A run is found without walking along the loop where its floors tell: the first break of each floor of an affine form has
//! a closed form, and at the least of these the function is evaluated. Only where breaks cancel there it is walked on, for a
//! bounded number of steps. Where sizes are names, the candidates are the divisors in the expression, and what decides is whether
//! the expression has no floor after the split.

use std::fmt;

use super::bounds::{affine, written};
use super::{Access, Nest, conjuncts};
use crate::constants::{constant, parts};
use crate::error::Error;
use crate::graph::{Binary, Expr, Graph, Node};
use crate::quasi::{Linear, QuasiAffine, Term};

/// A work limit: how many values are tried for one run where the floors of a function cancel.
const MAX_STEPS: i128 = 1 << 14;

/// A work limit: of more functions than this with floors not every choice is tried.
const MAX_CHOICES: usize = 10;

/// How many points are tried to refute that a function is separable, where the search for its extremes ended early.
const SAMPLES: u64 = 256;

/// Splits of the loops of a [`Nest`] after which accesses and guards are affine: what [`Nest::splits_where_affine`] finds.
///
/// ```
/// use indexpr::{Graph, Nest};
///
/// let mut nest = Nest::new(Graph::new());
/// nest.each("i", 12)?;
/// let [a, b] = ["i // 2 + i % 2 * 9", "i // 3 + i % 3 * 9"].map(|text| nest.parse(text).unwrap());
/// nest.access("a", a, None)?;
/// let splits = nest.splits_where_affine()?;
/// assert_eq!(splits.text(nest.graph()), "i = 6 x 2");
/// assert!(splits.unserved.is_empty());
///
/// nest.access("b", b, None)?;
/// let splits = nest.splits_where_affine()?;
/// assert_eq!(splits.text(nest.graph()), "i = 4 x 3");
/// assert_eq!(
///     splits.unserved[0].to_string(),
///     "`a` needs `i` cut by 2, and `b` by 3: neither divides the other",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Splits {
    /// The loops that are to be split, and the factors of each, outermost first.
    pub factors: Vec<(String, Vec<Expr>)>,
    /// What is affine after the splits.
    pub served: Vec<LoopFunction>,
    /// What is not, and why.
    pub unserved: Vec<Unserved>,
}

/// A function of the loops of a [`Nest`]: the index of an access, or a condition of a guard.
///
/// ```
/// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
/// let i = nest.each("i", 12)?;
/// nest.access("a", i, None)?;
/// assert_eq!(nest.splits_where_affine()?.served[0].to_string(), "`a`");
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct LoopFunction {
    /// The name of the access.
    pub access: String,
    /// The text of the condition; `None` for the index.
    pub condition: Option<String>,
}

/// A function that splits do not make affine.
///
/// ```
/// use indexpr::{Graph, Nest, WhyUnserved};
///
/// let mut nest = Nest::new(Graph::new());
/// nest.each("i", 7)?;
/// let index = nest.parse("i // 2")?;
/// nest.access("a", index, None)?;
/// let splits = nest.splits_where_affine()?;
/// assert!(matches!(splits.unserved[0].why, WhyUnserved::NoRun { run: 2, size: 7, .. }));
/// assert_eq!(splits.unserved[0].to_string(), "`a` has runs of 2 along `i`, and 2 does not divide 7");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unserved {
    /// The function.
    pub function: LoopFunction,
    /// Why it is not affine.
    pub why: WhyUnserved,
}

/// Why splits do not make a function affine.
///
/// ```
/// use indexpr::{Graph, Nest, WhyUnserved};
///
/// let mut nest = Nest::new(Graph::new());
/// nest.each("i", 2)?;
/// nest.each("j", 2)?;
/// let index = nest.parse("(i + j) // 2")?;
/// nest.access("a", index, None)?;
/// let splits = nest.splits_where_affine()?;
/// assert_eq!(splits.unserved[0].why, WhyUnserved::NotSeparable { loops: vec!["i".into(), "j".into()] });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WhyUnserved {
    /// Along a loop it is a multiple of its first step for a run of indices that does not divide what is left of the loop.
    NoRun {
        /// The loop.
        of: String,
        /// How long the run is, in indices of the loop.
        run: i64,
        /// The size of the loop.
        size: i64,
    },
    /// It is no sum of functions of one digit each, however the loops are split: something carries from one of these loops into another,
    /// or within the one. Where sizes are names, so it is at some of their values.
    NotSeparable {
        /// The loops that its floors depend on.
        loops: Vec<String>,
    },
    /// It needs a loop cut at a place that does not fit to where another function, which saves more, needs it cut.
    Conflict {
        /// The loop.
        of: String,
        /// Where it needs the loop cut: a number of indices, as text.
        cut: String,
        /// The other function.
        with: Box<LoopFunction>,
        /// Where that one needs it.
        other: String,
    },
    /// It is open whether there is a split: the function is no linear form over floors that is known, or takes more than the
    /// counted steps to decide.
    Undecided,
}

impl fmt::Display for LoopFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.condition {
            None => write!(f, "`{}`", self.access),
            Some(condition) => write!(f, "the condition `{condition}` of `{}`", self.access),
        }
    }
}

impl fmt::Display for Unserved {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let function = &self.function;
        match &self.why {
            WhyUnserved::NoRun { of, run, size } => {
                write!(f, "{function} has runs of {run} along `{of}`, and {run} does not divide {size}")
            }
            WhyUnserved::NotSeparable { loops } if loops.len() < 2 => {
                let name = loops.first().map_or("", |name| &name[..]);
                write!(f, "{function} carries from one digit of `{name}` into another, however the loop is split")
            }
            WhyUnserved::NotSeparable { loops } => {
                let loops: Vec<String> = loops.iter().map(|name| format!("`{name}`")).collect();
                write!(f, "{function} carries from one of the loops {} into another", loops.join(", "))
            }
            WhyUnserved::Conflict { of, cut, with, other } => {
                write!(f, "{function} needs `{of}` cut by {cut}, and {with} by {other}: neither divides the other")
            }
            WhyUnserved::Undecided => write!(f, "it is open whether a split makes {function} affine"),
        }
    }
}

impl Splits {
    /// The splits as text, each loop as the product of its factors; empty where none is split.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// assert_eq!(nest.splits_where_affine()?.text(nest.graph()), "");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Panics
    /// The graph of another nest.
    pub fn text(&self, graph: &Graph) -> String {
        let of = |(name, factors): &(String, Vec<Expr>)| {
            let factors: Vec<String> = factors.iter().map(|factor| shown(graph, *factor)).collect();
            format!("{name} = {}", factors.join(" x "))
        };
        self.factors.iter().map(of).collect::<Vec<String>>().join(", ")
    }
}

fn shown(graph: &Graph, expr: Expr) -> String {
    graph.text(expr, crate::Syntax::Python).unwrap_or_default()
}

/// The partial products of the factors along each loop, but 1 and the size, the innermost first.
type Cuts = Vec<Vec<Expr>>;

/// A function while its splits are looked for.
#[derive(Clone)]
struct Candidate {
    function: LoopFunction,
    access: usize,
    /// The index, or the condition.
    expr: Expr,
    /// The forms that a condition is about; the index.
    forms: Vec<Expr>,
    cuts: Result<Cuts, WhyUnserved>,
    /// Whether the cuts are those of its runs, so that no others serve it where they do not.
    by_runs: bool,
    /// What its floors cost.
    weight: usize,
}

impl Nest {
    /// The coarsest splits of the loops after which all accesses and the conditions of their guards are affine in the loops; where
    /// there are none for all of them, those that serve the functions whose floors cost most. Nothing is split yet
    /// ([`Nest::split_where_affine`]).
    ///
    /// Where sizes are numbers the answer is exact for functions of all indices, but for what it calls undecided: a split is found if
    /// there is one, and any other one refines it. Of an index whose guard holds for some indices only, what is said to be served is, but
    /// the splits are those of the index everywhere: where the guard holds, fewer may do, and there may be no coarsest. Where sizes are
    /// names, cuts are looked for among the divisors in the expressions: what is said to be served is at all values of the names, fewer cuts
    /// may do, and where none are found it is open whether there are some, unless the function is no sum of functions of one loop each. It
    /// is open, too, where cuts that the index needs everywhere do not serve it where its guard holds.
    ///
    /// ```
    /// use indexpr::{Graph, Nest};
    ///
    /// // Merged heads: (8, 12, 64, 64).permute(0, 2, 1, 3).reshape(8, 64, 768)
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("b", 8)?;
    /// nest.each("t", 64)?;
    /// nest.each("c", 768)?;
    /// let index = nest.parse("b * 49152 + c // 64 * 4096 + t * 64 + c % 64")?;
    /// nest.access("x", index, None)?;
    /// assert_eq!(nest.splits_where_affine()?.text(nest.graph()), "c = 12 x 64");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An expression that leaves 64 bits.
    // Proved: `decide_splits_exact`, `common_splits`, `coarsest_splits_unique`, `named_splits_refine` in `proofs/Splits.v`.
    pub fn splits_where_affine(&mut self) -> Result<Splits, Error> {
        let mut candidates = self.candidates()?;
        for candidate in &mut candidates {
            if let Ok(cuts) = &candidate.cuts
                && let Err(why) = self.is_served(candidate, cuts)?
            {
                candidate.cuts = Err(why);
            }
        }
        let chosen = self.chosen(&candidates)?;
        let mut cuts: Cuts = vec![Vec::new(); self.loops.len()];
        let mut splits = Splits { factors: Vec::new(), served: Vec::new(), unserved: Vec::new() };
        for (candidate, _) in candidates.iter().zip(&chosen).filter(|(_, chosen)| **chosen) {
            if let Ok(own) = &candidate.cuts {
                self.joined(&mut cuts, own)?;
            }
        }
        for (at, candidate) in candidates.iter().enumerate() {
            let function = candidate.function.clone();
            match &candidate.cuts {
                Ok(_) if chosen[at] => splits.served.push(function),
                // Cuts that are not those of runs may not be needed.
                Ok(_) if !candidate.by_runs => {
                    splits.unserved.push(Unserved { function, why: WhyUnserved::Undecided });
                }
                Ok(own) => {
                    let why = self.conflict(own, &candidates, &chosen)?;
                    splits.unserved.push(Unserved { function, why });
                }
                Err(why) => splits.unserved.push(Unserved { function, why: why.clone() }),
            }
        }
        for (at, cuts) in cuts.into_iter().enumerate().filter(|(_, cuts)| !cuts.is_empty()) {
            let factors = self.factors(at, &cuts)?;
            splits.factors.push((self.loops[at].name.clone(), factors));
        }
        Ok(splits)
    }

    /// Splits the loops as [`Nest::splits_where_affine`] says, and tells what it said.
    ///
    /// ```
    /// use indexpr::{Graph, Nest, Syntax};
    ///
    /// // Merged heads with names: (B, H, T, D).permute(0, 2, 1, 3).reshape(B, T, H*D)
    /// let mut graph = Graph::new();
    /// let [b, h, t, d] = [("B", 65), ("H", 33), ("T", 2049), ("D", 129)]
    ///     .map(|(name, end)| graph.variable(name, 1..end).unwrap());
    /// let mut nest = Nest::new(graph);
    /// let hd = nest.parse("H * D")?;
    /// nest.each("b", b)?;
    /// nest.each("t", t)?;
    /// nest.each("c", hd)?;
    /// let index = nest.parse("((b * H + c // D) * T + t) * D + c % D")?;
    /// nest.access("x", index, None)?;
    /// assert_eq!(nest.split_where_affine()?.text(nest.graph()), "c = H x D");
    /// assert_eq!(nest.loops().len(), 4);
    /// assert_eq!(
    ///     nest.graph().text(nest.accesses()[0].index, Syntax::Python)?,
    ///     "((H * b + c0) * T + t) * D + c1",
    /// );
    /// # let _ = (h, d);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An expression that leaves 64 bits.
    pub fn split_where_affine(&mut self) -> Result<Splits, Error> {
        if let Some(splits) = self.split_all_affine()? {
            return Ok(splits);
        }
        let splits = self.splits_where_affine()?;
        let mut each = Vec::new();
        for (name, factors) in &splits.factors {
            each.push((self.loop_named("split", name)?, factors.clone()));
        }
        self.split_all(&each)?;
        // What is proved to be affine is written so, also where simplifying did not find it.
        for at in 0..self.accesses.len() {
            let (index, valid) = (self.accesses[at].index, self.accesses[at].valid);
            let is_served =
                |function: &LoopFunction| function.condition.is_none() && function.access == self.accesses[at].name;
            if splits.served.iter().any(is_served)
                && !self.is_affine(index)
                && let Some(affine) = self.as_affine(index)?
                && self.equals(index, affine, valid)? == Some(true)
            {
                self.accesses[at].index = affine;
            }
        }
        Ok(splits)
    }

    /// Splits the loops by the cuts of all functions together, if they fit and whatever comes of it is affine by its form: then
    /// each function is served, and none has to be asked by itself. `None`, and nothing is split, where that is not so.
    fn split_all_affine(&mut self) -> Result<Option<Splits>, Error> {
        let before = self.clone();
        let candidates = self.candidates()?;
        let mut cuts: Cuts = vec![Vec::new(); self.loops.len()];
        let mut splits = Splits { factors: Vec::new(), served: Vec::new(), unserved: Vec::new() };
        let mut fits = true;
        for candidate in &candidates {
            fits = fits && matches!(&candidate.cuts, Ok(own) if self.joined(&mut cuts, own)?);
            splits.served.push(candidate.function.clone());
        }
        if fits {
            let mut each = Vec::new();
            for (at, cuts) in cuts.iter().enumerate().filter(|(_, cuts)| !cuts.is_empty()) {
                each.push((at, self.factors(at, cuts)?));
            }
            splits.factors = each.iter().map(|(at, factors)| (self.loops[*at].name.clone(), factors.clone())).collect();
            fits = self.split_all(&each).is_ok();
        }
        for at in 0..self.accesses.len() {
            fits = fits && (self.accesses[at].is_guard || self.is_affine(self.accesses[at].index));
            for condition in conjuncts(&self.graph, self.accesses[at].valid) {
                fits = fits && (self.compares_affine(condition) || affine(&mut self.graph, condition)?.is_some());
            }
        }
        if !fits {
            *self = before;
        }
        Ok(fits.then_some(splits))
    }

    /// All functions, with the cuts that each needs.
    fn candidates(&mut self) -> Result<Vec<Candidate>, Error> {
        let mut candidates: Vec<Candidate> = Vec::new();
        for at in 0..self.accesses.len() {
            let access = self.accesses[at].clone();
            // What is read is often written, too: an index that was looked at is known.
            let is_it = |other: &Access| !other.is_guard && (other.index, other.valid) == (access.index, access.valid);
            let known = self.accesses[..at].iter().position(is_it).filter(|_| !access.is_guard);
            let own: Vec<Candidate> = candidates.iter().filter(|one| Some(one.access) == known).cloned().collect();
            if !own.is_empty() && own.iter().all(|one| one.cuts.is_ok()) {
                candidates.extend(own.into_iter().map(|mut one| {
                    (one.access, one.function.access) = (at, access.name.clone());
                    one
                }));
                continue;
            }
            if !access.is_guard {
                let forms = self.graph.quasi_affine(access.index, access.valid)?;
                let index = forms.as_ref().and_then(|forms| forms.value().map(|value| (forms, vec![value.clone()])));
                let function = LoopFunction { access: access.name.clone(), condition: None };
                candidates.push(self.candidate(function, at, access.index, index)?);
            }
            for condition in conjuncts(&self.graph, access.valid) {
                let zero = self.graph.int(0);
                let forms = self.graph.quasi_affine(zero, condition)?;
                let functions = forms.as_ref().map(|forms| {
                    (forms, forms.conditions().iter().map(|condition| condition.form.clone()).collect::<Vec<Linear>>())
                });
                let condition_text = Some(shown(&self.graph, condition));
                let function = LoopFunction { access: access.name.clone(), condition: condition_text };
                candidates.push(self.candidate(function, at, condition, functions)?);
            }
        }
        Ok(candidates)
    }

    fn candidate(
        &mut self,
        function: LoopFunction,
        access: usize,
        expr: Expr,
        forms: Option<(&QuasiAffine, Vec<Linear>)>,
    ) -> Result<Candidate, Error> {
        let mut cuts: Result<Cuts, WhyUnserved> = Ok(Vec::new());
        let mut by_runs = true;
        for at in 0..self.loops.len() {
            let own = match (&forms, constant(&self.graph, self.loops[at].size)) {
                (Some((floors, forms)), Some(size)) => self.cuts_by_runs(&function, floors, forms, at, size),
                _ => {
                    by_runs = false;
                    self.cuts_by_divisors(expr, at)?
                }
            };
            match own {
                Ok(own) => {
                    if let Ok(cuts) = &mut cuts {
                        cuts.push(own);
                    }
                }
                Err(why) => {
                    cuts = Err(why);
                    break;
                }
            }
        }
        let of_loops = |expr: Expr| self.depends(expr);
        let floors = self.graph.parts(&[expr]).into_iter().filter(|part| match self.graph.node(*part) {
            Node::Binary(Binary::Div | Binary::Mod, a, _) => of_loops(a),
            _ => false,
        });
        let weight = floors.map(|floor| match self.graph.node(floor) {
            Node::Binary(_, _, divisor) if self.graph.is_power_of_two(divisor) => 1,
            Node::Binary(_, _, divisor) if constant(&self.graph, divisor).is_some() => 8,
            _ => 25,
        });
        let weight = weight.sum();
        let is_condition = function.condition.is_some();
        let forms = match forms {
            Some((floors, forms)) if is_condition => {
                let variable = |graph: &mut Graph, place| Ok(graph.variable_at(place));
                let written = |form: &Linear| written(&mut self.graph, Some(floors), form, variable);
                forms.iter().map(written).collect::<Result<Vec<Expr>, Error>>()?
            }
            _ if is_condition => Vec::new(),
            _ => vec![expr],
        };
        Ok(Candidate { function, access, expr, forms, cuts, by_runs, weight })
    }

    /// The cuts of a loop of a numeric size that forms over floors need.
    fn cuts_by_runs(
        &mut self,
        function: &LoopFunction,
        floors: &QuasiAffine,
        forms: &[Linear],
        at: usize,
        size: i64,
    ) -> Result<Vec<Expr>, WhyUnserved> {
        let Node::Variable(place) = self.graph.node(self.loops[at].variable) else {
            return Err(WhyUnserved::Undecided);
        };
        let name = self.loops[at].name.clone();
        let mut cuts: Vec<i64> = Vec::new();
        for form in forms {
            let line = Line::new(floors, form, place, self.parameters).ok_or(WhyUnserved::Undecided)?;
            cuts.extend(line.cuts(size).ok_or(WhyUnserved::Undecided)?.map_err(|(run, size)| WhyUnserved::NoRun {
                of: name.clone(),
                run,
                size,
            })?);
        }
        cuts.sort_unstable();
        cuts.dedup();
        // The forms of one condition must agree as well.
        // No rule: it is asked whether one cut divides the next.
        if let Some(pair) = cuts.windows(2).find(|pair| pair[1] % pair[0] != 0) {
            let [cut, other] = [pair[0], pair[1]].map(|cut| cut.to_string());
            return Err(WhyUnserved::Conflict { of: name, cut, with: Box::new(function.clone()), other });
        }
        Ok(cuts.into_iter().map(|cut| self.graph.int(cut)).collect())
    }

    /// The cuts of a loop that the divisors in an expression ask for: where the numerator has grown by the divisor.
    // Proved: `flattened` in `proofs/Simplify.v`.
    fn cuts_by_divisors(&mut self, expr: Expr, at: usize) -> Result<Result<Vec<Expr>, WhyUnserved>, Error> {
        let variable = self.loops[at].variable;
        let mut cuts: Vec<Expr> = Vec::new();
        for part in self.graph.parts(&[expr]) {
            let Node::Binary(Binary::Div | Binary::Mod, mut numerator, mut divisor) = self.graph.node(part) else {
                continue;
            };
            if self.graph.parts(&[numerator]).binary_search(&variable).is_err() {
                continue;
            }
            if self.depends(divisor) {
                return Ok(Err(WhyUnserved::Undecided));
            }
            // A quotient grows by a divisor where what it is of grows by the product, and a remainder where that grows by it.
            loop {
                match self.graph.node(numerator) {
                    Node::Binary(Binary::Div, inner, by) if !self.depends(by) && self.graph.range(by).0 > 0 => {
                        let Ok(both) = self.graph.binary(Binary::Mul, by, divisor) else {
                            return Ok(Err(WhyUnserved::Undecided));
                        };
                        (numerator, divisor) = (inner, both);
                    }
                    Node::Binary(Binary::Mod, inner, by) if !self.depends(by) && self.exact(by, divisor)?.is_some() => {
                        numerator = inner;
                    }
                    _ => break,
                }
            }
            let Some(step) = self.step(numerator, variable)? else { return Ok(Err(WhyUnserved::Undecided)) };
            if self.exact(step, divisor)?.is_some() {
                continue;
            }
            let Some(cut) = self.exact(divisor, step)? else { return Ok(Err(WhyUnserved::Undecided)) };
            let size = self.loops[at].size;
            // A run as long as the loop cuts nothing; one that is longer, and known to be, neither.
            match self.exact(size, cut)? {
                Some(outer) if constant(&self.graph, outer) == Some(1) => continue,
                Some(_) => {}
                None if self.graph.range(size).1 <= self.graph.range(cut).0 => continue,
                None => return Ok(Err(WhyUnserved::Undecided)),
            }
            match self.inserted(&mut cuts, cut)? {
                None => {}
                Some(_) => return Ok(Err(WhyUnserved::Undecided)),
            }
        }
        Ok(Ok(cuts))
    }

    /// By how much a number grows with a step of a loop, from 0 on, where all other loops are at 0.
    fn step(&mut self, number: Expr, variable: Expr) -> Result<Option<Expr>, Error> {
        let zero = self.graph.int(0);
        let at_zero: Vec<(Expr, Expr)> = self.loops.iter().map(|one| (one.variable, zero)).collect();
        let mut at_one = at_zero.clone();
        let one = self.graph.int(1);
        for (loop_variable, value) in &mut at_one {
            if *loop_variable == variable {
                *value = one;
            }
        }
        let (Ok(first), Ok(next)) = (self.replaced(&[number], &at_zero), self.replaced(&[number], &at_one)) else {
            return Ok(None);
        };
        let step = self.graph.binary(Binary::Sub, next[0], first[0])?;
        let step = self.graph.simplify(step);
        Ok((self.graph.range(step).0 > 0).then_some(step))
    }

    /// The quotient of two numbers, where it is known to leave no rest.
    // Proved: `nothing_left` in `proofs/Simplify.v`.
    fn exact(&mut self, a: Expr, b: Expr) -> Result<Option<Expr>, Error> {
        if self.graph.range(b).0 <= 0 {
            return Ok(None);
        }
        if let (Some(a), Some(b)) = (constant(&self.graph, a), constant(&self.graph, b)) {
            return Ok((a % b == 0).then(|| self.graph.int(a / b)));
        }
        if a == b {
            return Ok(Some(self.graph.int(1)));
        }
        let quotient = self.graph.binary(Binary::Div, a, b)?;
        let quotient = self.graph.simplify(quotient);
        let Ok(product) = self.graph.binary(Binary::Mul, quotient, b) else { return Ok(None) };
        Ok(if self.is_same(product, a)? { Some(quotient) } else { None })
    }

    /// Whether an expression depends on a loop.
    fn depends(&self, expr: Expr) -> bool {
        let is_loop = |part: Expr| matches!(self.graph.node(part), Node::Variable(place) if place >= self.parameters);
        let known = constant(&self.graph, expr).is_some();
        !known
            && parts(&self.graph, &[expr])
                .into_iter()
                .any(|part| is_loop(part) && constant(&self.graph, part).is_none())
    }

    /// Adds a cut to a chain of cuts; the cut that it does not fit to, if there is one.
    // Proved: `cuts_chain`, `finer_serves` in `proofs/Splits.v`.
    fn inserted(&mut self, cuts: &mut Vec<Expr>, cut: Expr) -> Result<Option<Expr>, Error> {
        let mut at = 0;
        while at < cuts.len() {
            if self.exact(cuts[at], cut)?.is_some() {
                // It divides this one, and so all that follow.
                if self.exact(cut, cuts[at])?.is_some() {
                    return Ok(None);
                }
                break;
            }
            if self.exact(cut, cuts[at])?.is_none() {
                return Ok(Some(cuts[at]));
            }
            at += 1;
        }
        cuts.insert(at, cut);
        Ok(None)
    }

    /// Adds the cuts of a function; false where some do not fit.
    fn joined(&mut self, cuts: &mut Cuts, own: &Cuts) -> Result<bool, Error> {
        for (cuts, own) in cuts.iter_mut().zip(own) {
            for cut in own {
                if self.inserted(cuts, *cut)?.is_some() {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Which functions are served: those whose floors cost most, of all sets that have splits in common; of equal ones the
    /// later functions, of which the last is mostly what is written.
    fn chosen(&mut self, candidates: &[Candidate]) -> Result<Vec<bool>, Error> {
        let mut chosen: Vec<bool> = candidates.iter().map(|candidate| candidate.cuts.is_ok()).collect();
        let needs_cuts =
            |candidate: &Candidate| matches!(&candidate.cuts, Ok(cuts) if cuts.iter().any(|cuts| !cuts.is_empty()));
        let mut open: Vec<usize> = (0..candidates.len()).filter(|at| needs_cuts(&candidates[*at])).collect();
        let fit = |nest: &mut Nest, of: &mut dyn Iterator<Item = usize>| -> Result<bool, Error> {
            let mut cuts: Cuts = vec![Vec::new(); nest.loops.len()];
            for at in of {
                if let Ok(own) = &candidates[at].cuts
                    && !nest.joined(&mut cuts, own)?
                {
                    return Ok(false);
                }
            }
            Ok(true)
        };
        if fit(self, &mut open.iter().copied())? {
            return Ok(chosen);
        }
        // Equal cuts are served together.
        open.sort_by_key(|at| std::cmp::Reverse(candidates[*at].weight));
        let mut best: Option<(usize, Vec<usize>)> = None;
        if open.len() <= MAX_CHOICES {
            for set in 0..1_usize << open.len() {
                let of: Vec<usize> = (0..open.len()).filter(|at| set >> at & 1 == 1).map(|at| open[at]).collect();
                let weight = of.iter().map(|at| candidates[*at].weight).sum::<usize>();
                if best.as_ref().is_none_or(|(most, others)| (weight, of.len()) >= (*most, others.len()))
                    && fit(self, &mut of.iter().copied())?
                {
                    best = Some((weight, of));
                }
            }
        } else {
            let mut of: Vec<usize> = Vec::new();
            for &at in &open {
                if fit(self, &mut of.iter().copied().chain([at]))? {
                    of.push(at);
                }
            }
            best = Some((0, of));
        }
        let served = best.map_or(Vec::new(), |(_, of)| of);
        open.iter().for_each(|at| chosen[*at] = served.contains(at));
        Ok(chosen)
    }

    /// Why a function is left out: the first cut that does not fit to one of another function.
    fn conflict(&mut self, own: &Cuts, candidates: &[Candidate], chosen: &[bool]) -> Result<WhyUnserved, Error> {
        for (at, own) in own.iter().enumerate() {
            for (other, _) in candidates.iter().zip(chosen).filter(|(other, chosen)| other.by_runs && **chosen) {
                let Ok(others) = &other.cuts else { continue };
                let mut others = others[at].clone();
                for cut in own {
                    if let Some(other_cut) = self.inserted(&mut others, *cut)? {
                        return Ok(WhyUnserved::Conflict {
                            of: self.loops[at].name.clone(),
                            cut: shown(&self.graph, *cut),
                            with: Box::new(other.function.clone()),
                            other: shown(&self.graph, other_cut),
                        });
                    }
                }
            }
        }
        Ok(WhyUnserved::Undecided)
    }

    /// The factors of a loop for its cuts, outermost first.
    fn factors(&mut self, at: usize, cuts: &[Expr]) -> Result<Vec<Expr>, Error> {
        let mut factors = Vec::new();
        let mut before = self.graph.int(1);
        for &cut in cuts.iter().chain([&self.loops[at].size.clone()]) {
            // Each divides the next: that is how they were found.
            factors.push(self.exact(cut, before)?.unwrap_or(cut));
            before = cut;
        }
        factors.reverse();
        Ok(factors)
    }

    /// Whether a function is affine after its own splits; why not, if it is not.
    // Proved: `several_loops`, `candidate_exact` in `proofs/Splits.v`.
    fn is_served(&mut self, candidate: &Candidate, cuts: &Cuts) -> Result<Result<(), WhyUnserved>, Error> {
        let mut each = Vec::new();
        for (at, cuts) in cuts.iter().enumerate().filter(|(_, cuts)| !cuts.is_empty()) {
            each.push((at, self.factors(at, cuts)?));
        }
        // The forms of a condition must be right everywhere, an index where its guard holds.
        let is_condition = candidate.function.condition.is_some();
        let is_affine = each.is_empty()
            && match is_condition {
                true => self.compares_affine(candidate.expr) || affine(&mut self.graph, candidate.expr)?.is_some(),
                false => self.is_affine(candidate.expr),
            };
        if is_affine {
            return Ok(Ok(()));
        }
        let always = self.graph.bool(true);
        let valid = if is_condition { always } else { self.accesses[candidate.access].valid };
        let is_everywhere = self.graph.simplify(valid) == always;
        let mut split = self.clone();
        split.values.clear();
        let access = |index, valid| Access { name: String::new(), index, valid, is_guard: false };
        split.accesses = candidate.forms.iter().map(|form| access(*form, valid)).collect();
        if is_condition {
            let zero = split.graph.int(0);
            split.accesses.push(access(zero, candidate.expr));
        }
        if split.split_all(&each).is_err() {
            return Ok(Err(WhyUnserved::Undecided));
        }
        let mut forms = split.accesses.clone();
        if is_condition && let Some(Access { valid: condition, .. }) = forms.pop() {
            if split.compares_affine(condition) || affine(&mut split.graph, condition)?.is_some() {
                return Ok(Ok(()));
            }
            if forms.is_empty() {
                return Ok(Err(WhyUnserved::Undecided));
            }
        }
        for Access { index: form, valid, .. } in forms {
            if split.is_affine(form) {
                continue;
            }
            let why = split.carries(form, self);
            let Some(affine) = split.as_affine(form)? else { return Ok(Err(WhyUnserved::Undecided)) };
            match split.equals(form, affine, valid)? {
                Some(true) => {}
                Some(false) if candidate.by_runs && is_everywhere => return Ok(Err(why)),
                // Other cuts may serve it, unless it is no sum of functions of one loop each.
                Some(false) if is_everywhere && self.is_sum_of_loops(candidate)? == Some(false) => {
                    return Ok(Err(why));
                }
                Some(false) | None => return Ok(Err(WhyUnserved::Undecided)),
            }
        }
        Ok(Ok(()))
    }

    /// Whether the forms of a function are sums of functions of one loop each, which no split changes; `None` where that is open.
    // Proved: `several_loops` in `proofs/Splits.v`.
    fn is_sum_of_loops(&mut self, candidate: &Candidate) -> Result<Option<bool>, Error> {
        let (zero, always) = (self.graph.int(0), self.graph.bool(true));
        let at_zero: Vec<(Expr, Expr)> = self.loops.iter().map(|one| (one.variable, zero)).collect();
        for &form in &candidate.forms {
            let Ok(first) = self.replaced(&[form], &at_zero) else { return Ok(None) };
            let mut sum = first[0];
            for at in 0..at_zero.len() {
                let others: Vec<_> =
                    at_zero.iter().enumerate().filter(|(other, _)| *other != at).map(|one| *one.1).collect();
                let Ok(own) = self.replaced(&[form], &others) else { return Ok(None) };
                let more = self.graph.binary(Binary::Sub, own[0], first[0])?;
                let Ok(more) = self.graph.binary(Binary::Add, sum, more) else { return Ok(None) };
                sum = more;
            }
            match self.equals(form, sum, always)? {
                Some(true) => {}
                other => return Ok(other),
            }
        }
        Ok(Some(true))
    }

    /// That a function carries between the loops, as they were before they were split, that its floors depend on.
    fn carries(&self, expr: Expr, before: &Nest) -> WhyUnserved {
        let mut loops = Vec::new();
        for part in self.graph.parts(&[expr]) {
            let Node::Binary(Binary::Div | Binary::Mod, ..) = self.graph.node(part) else { continue };
            let of = self.graph.parts(&[part]);
            for one in &before.loops {
                let origin = self.origins.iter().find(|origin| origin.variable == one.variable);
                let is_in = origin.is_some_and(|origin| {
                    let digits = self.graph.parts(&[origin.expr]);
                    digits.iter().any(|digit| {
                        matches!(self.graph.node(*digit), Node::Variable(place) if place >= self.parameters)
                            && of.contains(digit)
                    })
                });
                if is_in && !loops.contains(&one.name) {
                    loops.push(one.name.clone());
                }
            }
        }
        WhyUnserved::NotSeparable { loops }
    }

    /// Whether an expression is written as an affine one: a sum of multiples of loops by what is none.
    pub(super) fn is_affine(&self, expr: Expr) -> bool {
        self.degree(expr).is_some_and(|degree| degree <= 1)
    }

    /// Whether a condition compares affine expressions.
    fn compares_affine(&self, condition: Expr) -> bool {
        match self.graph.node(condition) {
            _ if constant(&self.graph, condition).is_some() => true,
            Node::Within(a, ..) => self.is_affine(a),
            Node::Binary(Binary::And, a, b) => self.compares_affine(a) && self.compares_affine(b),
            Node::Binary(Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq, a, b) => {
                self.is_affine(a) && self.is_affine(b)
            }
            _ => false,
        }
    }

    /// The degree in the loops of an expression that is written as a polynomial in them.
    fn degree(&self, expr: Expr) -> Option<usize> {
        let parts = self.graph.parts(&[expr]);
        let mut degrees: Vec<Option<usize>> = Vec::with_capacity(parts.len());
        for &part in &parts {
            let of = |operand: Expr| parts.binary_search(&operand).ok().and_then(|at| degrees[at]);
            degrees.push(match self.graph.node(part) {
                _ if constant(&self.graph, part).is_some() => Some(0),
                Node::Variable(place) => Some(usize::from(place >= self.parameters)),
                Node::Binary(Binary::Add | Binary::Sub, a, b) => of(a).zip(of(b)).map(|(a, b)| a.max(b)),
                Node::Binary(Binary::Mul, a, b) => of(a).zip(of(b)).map(|(a, b)| a + b),
                node => node.operands().all(|operand| of(operand) == Some(0)).then_some(0),
            });
        }
        degrees.last().copied().flatten()
    }

    /// The affine expression that an expression would have to be: by its values at 0 and at the first step of each loop.
    fn as_affine(&mut self, expr: Expr) -> Result<Option<Expr>, Error> {
        let zero = self.graph.int(0);
        let at_zero: Vec<(Expr, Expr)> = self.loops.iter().map(|one| (one.variable, zero)).collect();
        let Ok(first) = self.replaced(&[expr], &at_zero) else { return Ok(None) };
        let mut sum = self.graph.simplify(first[0]);
        for at in 0..self.loops.len() {
            let one = self.loops[at].clone();
            if self.graph.range(one.variable).1 == 0 {
                continue;
            }
            let mut at_one = at_zero.clone();
            at_one[at].1 = self.graph.int(1);
            let Ok(next) = self.replaced(&[expr], &at_one) else { return Ok(None) };
            let step = self.graph.binary(Binary::Sub, next[0], first[0])?;
            let step = self.graph.simplify(step);
            // A loop over a name may run once only, so that its first step is none.
            if constant(&self.graph, step).is_none() {
                return Ok(None);
            }
            let Ok(term) = self.graph.binary(Binary::Mul, one.variable, step) else { return Ok(None) };
            let Ok(more) = self.graph.binary(Binary::Add, sum, term) else { return Ok(None) };
            sum = more;
        }
        Ok(Some(self.graph.simplify(sum)))
    }

    /// Whether two indices are equal wherever a guard holds; `None` where that is open.
    fn equals(&mut self, a: Expr, b: Expr, valid: Expr) -> Result<Option<bool>, Error> {
        let Ok(difference) = self.graph.binary(Binary::Sub, a, b) else { return Ok(None) };
        let inside = self.inside()?;
        let valid = match inside {
            Some(inside) => self.graph.binary(Binary::And, valid, inside)?,
            None => valid,
        };
        let (difference, valid) = self.graph.simplify_pair(difference, valid);
        let Some(found) = self.graph.extremes(difference, Some(valid)) else { return Ok(Some(true)) };
        if found.range() == (0, 0) {
            return Ok(Some(true));
        }
        if found.exact {
            return Ok(Some(false));
        }
        // A point where they differ refutes it.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        for _ in 0..SAMPLES {
            let point: Vec<i64> = (self.graph.variables().iter())
                .map(|variable| {
                    state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
                    // No rule: it takes some value of a range.
                    variable.range.start
                        + ((state >> 16) % variable.range.start.abs_diff(variable.range.end).max(1)) as i64
                })
                .collect();
            if self.graph.evaluate(valid, &point)? == 1 && self.graph.evaluate(difference, &point)? != 0 {
                return Ok(Some(false));
            }
        }
        Ok(None)
    }
}

/// A form over one loop and its floors, with all other loops at 0: what that loop adds, but for a constant.
struct Line {
    /// The numerators and divisors, each made of earlier ones.
    floors: Vec<(Ray, i128)>,
    value: Ray,
}

/// A multiple of the loop, multiples of floors, and a constant.
struct Ray {
    by: i128,
    floors: Vec<(usize, i128)>,
    constant: i128,
}

impl Line {
    /// `None` where a floor depends on the loop and on a parameter.
    fn new(forms: &QuasiAffine, form: &Linear, place: usize, parameters: usize) -> Option<Line> {
        let ray = |form: &Linear| Ray {
            by: form.coefficient(Term::Variable(place)).into(),
            floors: (form.terms().iter())
                .filter_map(|(term, by)| if let Term::Floor(at) = term { Some((*at, i128::from(*by))) } else { None })
                .collect(),
            constant: form.constant().into(),
        };
        for (at, floor) in forms.floors().iter().enumerate() {
            let alone = Linear::from(Term::Floor(at));
            let is_both = forms.floors_depend_on(&alone, place)
                && (0..parameters).any(|parameter| forms.floors_depend_on(&alone, parameter));
            if is_both {
                return None;
            }
            debug_assert!(floor.divisor >= 2);
        }
        let floors = forms.floors().iter().map(|floor| (ray(&floor.numerator), floor.divisor.into()));
        Some(Line { floors: floors.collect(), value: ray(form) })
    }

    /// The value at an index; `None` past `i128`.
    // No rule: this is what a floor is.
    fn at(&self, x: i128) -> Option<i128> {
        let mut floors: Vec<i128> = Vec::with_capacity(self.floors.len());
        for (numerator, divisor) in &self.floors {
            floors.push(numerator.at(x, &floors)?.div_euclid(*divisor));
        }
        self.value.at(x, &floors)
    }

    /// The least index below which the form is surely a multiple of its first step; at it some floor breaks. `None` past
    /// `i128`.
    ///
    /// A floor of what grows by `a` with each step has a quotient that grows by `s` as long as the remainder, which grows by
    /// `a - d * s`, stays within `0..d`.
    // Proved: `step_from_remainder`, `walk_is_exact` in `proofs/Simplify.v`.
    fn first_break(&self, size: i128) -> Option<i128> {
        let (mut breaks, mut values): (Vec<i128>, Vec<[i128; 2]>) = (Vec::new(), Vec::new());
        for (numerator, divisor) in &self.floors {
            let [first, next] = [0, 1].map(|x| {
                let at_x: Vec<i128> = values.iter().map(|values| values[x]).collect();
                numerator.at(x as i128, &at_x)
            });
            let (first, next) = (first?, next?);
            let quotients = [first.div_euclid(*divisor), next.div_euclid(*divisor)];
            let (rest, grows) = (first.rem_euclid(*divisor), next.rem_euclid(*divisor) - first.rem_euclid(*divisor));
            let own = match grows {
                1.. => (divisor - rest + grows - 1) / grows,
                0 => size,
                _ => rest / -grows + 1,
            };
            let inner = numerator.floors.iter().map(|(at, _)| breaks[*at]).min().unwrap_or(size);
            breaks.push(own.min(inner));
            values.push(quotients);
        }
        Some(self.value.floors.iter().map(|(at, _)| breaks[*at]).min().unwrap_or(size).min(size))
    }

    /// The cuts of a loop of a size, but 1 and the size; the run that does not divide, and what it does not divide. `None` where
    /// it takes too many steps, or numbers past `i128`.
    // Proved: `split_at_run`, `split_loop_exact` in `proofs/Splits.v`.
    fn cuts(mut self, size: i64) -> Option<Result<Vec<i64>, (i64, i64)>> {
        let (mut cuts, mut cut, mut left) = (Vec::new(), 1_i128, i128::from(size.max(1)));
        loop {
            let run = self.run(left)?;
            if run == left {
                return Some(Ok(cuts));
            }
            if left % run != 0 {
                return Some(Err(((cut * run) as i64, size)));
            }
            cut *= run;
            left /= run;
            cuts.push(cut as i64);
            for ray in self.floors.iter_mut().map(|(ray, _)| ray).chain([&mut self.value]) {
                ray.by = ray.by.checked_mul(run)?;
            }
        }
    }

    /// The run: the least index at which the form is no multiple of its first step, or the size.
    fn run(&self, size: i128) -> Option<i128> {
        if size == 1 {
            return Some(1);
        }
        let first = self.at(0)?;
        let step = self.at(1)?.checked_sub(first)?;
        let from = self.first_break(size)?;
        for x in from..size {
            if x - from > MAX_STEPS {
                return None;
            }
            if self.at(x)?.checked_sub(first)? != step.checked_mul(x)? {
                return Some(x);
            }
        }
        Some(size)
    }
}

impl Ray {
    fn at(&self, x: i128, floors: &[i128]) -> Option<i128> {
        let mut sum = self.by.checked_mul(x)?.checked_add(self.constant)?;
        for (at, by) in &self.floors {
            sum = sum.checked_add(floors[*at].checked_mul(*by)?)?;
        }
        Some(sum)
    }
}
