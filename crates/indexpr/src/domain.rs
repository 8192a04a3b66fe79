//! Building a guarded index from loop variables, one floor at a time.

use std::ops::Range;

use crate::algebra::{Algebra, Remainders, Style};
use crate::atoms::{Condition, Kind};
use crate::conjunction::{minimize, widened};
use crate::context::{Context, Truth};
use crate::emit::{Products, Root, Width, emit};
use crate::form::{Atom, Form};
use crate::graph::{Binary, Graph, Variable};
use crate::index::IndexExpr;
use crate::quasi::{self, Linear, QuasiAffine, Term};

/// The region over which an index is built: variables with ranges, the conditions required so far, and every floor that
/// had to be made.
///
/// A function that lowers a layout asks it for variables, adds and scales [`Form`]s, divides them
/// ([`Domain::quotient`]) and requires conditions ([`Domain::require`]). What was required is assumed for all that comes
/// after it, since the index is read only where all conditions hold; so masks make divisions affine that would not be
/// without them. Numbers that leave `i64` are reported as `None` and end the attempt.
///
/// [`cheapest`] runs such a function once for each way of writing divisions that can make a difference.
#[derive(Clone, Debug)]
pub struct Domain {
    algebra: Algebra,
    products: Products,
    context: Context,
    conditions: Vec<Condition>,
    ranges: Vec<Range<i64>>,
}

/// How the divisions of an index are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Divisions {
    /// In every way that can make a difference, of which the cheapest is kept.
    #[default]
    Cheapest,
    /// In one way, with every remainder a term of its own: coefficients stay small however many divisions are nested.
    EveryRemainder,
    /// In every way that can make a difference to a compiler that multiplies sums out, `5*(i + j)` into `5*i + 5*j`, and
    /// whose division rounds towards zero: without such products, and with two sums more for each numerator that may be
    /// negative. tinygrad is one.
    MultipliedOut,
}

/// What a function that builds an index found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Index {
    /// The index, wherever the conditions hold.
    At(Form),
    /// No choice of the variables fulfils the conditions.
    Nowhere,
}

/// The cheapest of several ways to write an index: as an expression, and as the forms that it was written from.
#[derive(Clone, Debug)]
pub struct Built {
    algebra: Algebra,
    /// The index and the conditions (tests among the atoms), with known values put in; `None` when the conditions never
    /// hold.
    guarded: Option<(Form, Vec<Atom>)>,
    code: IndexExpr,
}

/// Builds an index in every way of writing its divisions that can make a difference, and keeps the cheapest.
///
/// There is no one best way to write a division that must stay. `(16*i + 5*j) // 15` is `i + (i + 5*j) // 15`: the product
/// is gone, but another division of the same numerator can no longer share it. Which is the cheapest depends on what else
/// is computed, so that the whole is written in up to six ways and counted ([`Cost`](crate::Cost)). Where no division
/// stays there is one way. A way that takes no more than 32 bits for whatever it computes comes before one that takes more.
///
/// The variables are the loops around the index; `extents` says how often each runs, which is also the end of its range
/// unless it is 0. `build` may be called several times and must do the same each time.
///
/// `None` when `build` found numbers past `i64` each time, or every expression would have some.
///
/// ```
/// use indexpr::{Divisions, Index, Syntax, Variable, cheapest};
///
/// // A row of 6 pixels cut into 3 pairs, of which the middle one is wanted: x = 2*i + j, x // 2 must be 1.
/// let variables = [Variable::new("i", 0..3), Variable::new("j", 0..2)];
/// let built = cheapest(&variables, &[3, 2], Divisions::Cheapest, |domain| {
///     let x = domain.variable(0)?.times(2)?.plus(1, &domain.variable(1)?)?;
///     let pair = domain.quotient(&x, 2)?;
///     if !domain.require(pair.clone(), 1..2) {
///         return Some(Index::Nowhere);
///     }
///     Some(Index::At(x.plus(10, &pair)?))
/// });
/// let built = built.unwrap();
/// let (code, text) = (built.code(), |expr| built.code().graph().text(expr, Syntax::Python));
/// assert_eq!(text(code.index())?, "j + 12"); // with i = 1 put in
/// assert_eq!(text(code.valid())?, "i == 1");
/// # Ok::<(), indexpr::Error>(())
/// ```
pub fn cheapest(
    variables: &[Variable],
    extents: &[i64],
    divisions: Divisions,
    mut build: impl FnMut(&mut Domain) -> Option<Index>,
) -> Option<Built> {
    let mut best: Option<Built> = None;
    let products = if divisions == Divisions::MultipliedOut { Products::OfAtoms } else { Products::OfSums };
    let mut next = Some(match divisions {
        Divisions::Cheapest | Divisions::MultipliedOut => Style::FIRST,
        Divisions::EveryRemainder => Style::EVERY_REMAINDER,
    });
    while let Some(style) = next {
        let mut domain = Domain::new(variables, style, products);
        let index = build(&mut domain);
        next = match divisions {
            Divisions::MultipliedOut => style.next_multiplied_out(&domain.algebra),
            _ => style.next(&domain.algebra),
        };
        // Some ways of writing it leave `i64` where others do not.
        let Some(built) = index.and_then(|index| domain.finish(index, variables, extents)) else { continue };
        if best.as_ref().is_none_or(|best| built.code.rank(products) < best.code.rank(products)) {
            best = Some(built);
        }
    }
    best
}

/// Builds an index in one way of writing its divisions, and gives its forms alone: for whoever asks what an index depends on, and
/// has no use for the expression. In a fraction of the time of [`cheapest`]; there may be other floors in the forms.
///
/// `None` when `build` found numbers past `i64`.
///
/// ```
/// use indexpr::{Divisions, Index, Variable, forms};
///
/// let variables = [Variable::new("i", 0..3), Variable::new("j", 0..2)];
/// let found = forms(&variables, Divisions::Cheapest, |domain| {
///     let position = domain.variable(0)?.times(2)?.plus(1, &domain.variable(1)?)?;
///     Some(Index::At(domain.quotient(&position, 2)?))
/// });
/// assert_eq!(found.unwrap().value().unwrap().to_string(), "i0");
/// ```
pub fn forms(
    variables: &[Variable],
    divisions: Divisions,
    mut build: impl FnMut(&mut Domain) -> Option<Index>,
) -> Option<QuasiAffine> {
    let mut in_style = |style| {
        let mut domain = Domain::new(variables, style, Products::OfSums);
        let index = build(&mut domain)?;
        let guarded = domain.guarded(index)?;
        let conditions = guarded.iter().flat_map(|(_, conditions)| conditions.iter().rev());
        export(&domain.algebra, guarded.as_ref().map(|(index, _)| index), conditions)
    };
    let first = (divisions != Divisions::EveryRemainder).then(|| in_style(Style::FIRST)).flatten();
    first.or_else(|| in_style(Style::EVERY_REMAINDER))
}

impl Domain {
    fn new(variables: &[Variable], style: Style, products: Products) -> Domain {
        Domain {
            algebra: Algebra::new(style),
            products,
            context: Context::default(),
            conditions: Vec::new(),
            ranges: variables.iter().map(|variable| variable.range.clone()).collect(),
        }
    }

    /// A variable by its place; its only value, where it has but one. `None` for a place that no variable has.
    ///
    /// ```
    /// use indexpr::{Divisions, Form, Index, Variable, cheapest};
    ///
    /// # let variables = [Variable::new("i", 0..12), Variable::new("j", 0..5)];
    /// # let built = cheapest(&variables, &[12, 5], Divisions::Cheapest, |domain| {
    /// let index = domain.variable(1)?;
    /// # Some(Index::At(index))
    /// # }).unwrap();
    /// assert_eq!(built.quasi_affine().unwrap().value().unwrap().to_string(), "i1");
    /// ```
    pub fn variable(&mut self, place: usize) -> Option<Form> {
        let Range { start, end } = self.ranges.get(place)?.clone();
        if end.checked_sub(1)? == start {
            return Form::constant(start);
        }
        let atom = self.algebra.atom(Kind::Variable(place, start, end - 1), &mut self.context)?;
        Some(Form::atom(atom))
    }

    /// `floor(form / divisor)` wherever the conditions hold, for a divisor that is not 0: without a floor where the
    /// boundary test shows that it is affine, and else with as small a floor as can be.
    ///
    /// ```
    /// use indexpr::{Divisions, Form, Index, Variable, cheapest};
    ///
    /// # let variables = [Variable::new("i", 0..12), Variable::new("j", 0..5)];
    /// # let built = cheapest(&variables, &[12, 5], Divisions::Cheapest, |domain| {
    /// // (5*i + j) // 5, with j in 0..5
    /// let position = domain.variable(0)?.times(5)?.plus(1, &domain.variable(1)?)?;
    /// let index = domain.quotient(&position, 5)?;
    /// # Some(Index::At(index))
    /// # }).unwrap();
    /// assert_eq!(built.quasi_affine().unwrap().value().unwrap().to_string(), "i0");
    /// ```
    pub fn quotient(&mut self, form: &Form, divisor: i64) -> Option<Form> {
        if divisor == 0 {
            return None;
        }
        self.algebra.quotient(form, divisor, &mut self.context)
    }

    /// `form mod divisor`, as a term of its own unless it is affine; `None` for a divisor below 2.
    ///
    /// ```
    /// use indexpr::{Divisions, Form, Index, Variable, cheapest};
    ///
    /// # let variables = [Variable::new("i", 0..12), Variable::new("j", 0..5)];
    /// # let built = cheapest(&variables, &[12, 5], Divisions::EveryRemainder, |domain| {
    /// let i = domain.variable(0)?;
    /// let index = domain.remainder(&i, 5)?;
    /// # Some(Index::At(index))
    /// # }).unwrap();
    /// assert_eq!(built.quasi_affine().unwrap().value().unwrap().to_string(), "i0 - q0*5");
    /// ```
    // Proved: `remainder_is_difference` in `proofs/Simplify.v`.
    pub fn remainder(&mut self, form: &Form, divisor: i64) -> Option<Form> {
        if divisor < 2 {
            return None;
        }
        match self.context.affine_quotient(form, divisor) {
            Some(above) => form.plus(-divisor, &above),
            None => Some(Form::atom(self.algebra.atom(Kind::Remainder(form.clone(), divisor), &mut self.context)?)),
        }
    }

    /// A form that lies in `values` exactly where `form mod modulus` does, and has no division, if there is one: it
    /// differs from the remainder by multiples of the modulus and never comes into `values` shifted by such a multiple.
    ///
    /// So a remainder that must lie in a range needs no division although it wraps, as long as it wraps into what is
    /// excluded. `None` also for values that are no remainders by the modulus.
    ///
    /// ```
    /// use indexpr::{Divisions, Index, Variable, cheapest};
    ///
    /// // x in -2..4, modulo 7: where x is 1, 2 or 3, it is the remainder, and where it is negative the remainder is 5 or 6.
    /// let built = cheapest(&[Variable::new("x", -2..4)], &[6], Divisions::Cheapest, |domain| {
    ///     let x = domain.variable(0)?;
    ///     assert_eq!(domain.unwrapped(&x, 7, 1..4), Some(x.clone()));
    ///     assert_eq!(domain.unwrapped(&x, 7, -3..2), None); // -2 is no remainder
    ///     Some(Index::At(x))
    /// });
    /// assert!(built.is_some());
    /// ```
    pub fn unwrapped(&self, form: &Form, modulus: i64, values: Range<i64>) -> Option<Form> {
        if values.start < 0 || values.end > modulus || modulus < 1 {
            return None;
        }
        self.context.unwrapped(form, modulus, values.start, values.end)
    }

    /// The same form with remainders in place of quotients, where that makes it shorter. Call it once for each sum that is
    /// written as a whole.
    pub fn with_remainders(&mut self, form: Form) -> Option<Form> {
        self.algebra.with_remainders(form, &mut self.context)
    }

    /// Requires that a form lie in a half-open range; false when it never does. What follows may assume it.
    ///
    /// ```
    /// use indexpr::{Divisions, Form, Index, Variable, cheapest};
    ///
    /// # let variables = [Variable::new("i", 0..12), Variable::new("j", 0..5)];
    /// # let built = cheapest(&variables, &[12, 5], Divisions::Cheapest, |domain| {
    /// let i = domain.variable(0)?;
    /// if !domain.require(i.clone(), 0..4) {
    ///     return Some(Index::Nowhere);
    /// }
    /// let index = domain.quotient(&i, 4)?; // 0, where i is below 4
    /// # Some(Index::At(index))
    /// # }).unwrap();
    /// assert_eq!(built.quasi_affine().unwrap().value().unwrap().to_string(), "0");
    /// ```
    pub fn require(&mut self, form: Form, values: Range<i64>) -> bool {
        let (low, high) = (i128::from(values.start), i128::from(values.end) - 1);
        let condition = Condition { form, low: Some(low), high: Some(high) }.normal();
        match self.context.truth(&condition) {
            Truth::Always => return true,
            Truth::Never => return false,
            Truth::Depends => {}
        }
        let condition = self.context.without_implied_bounds(condition);
        let whole = self.algebra.without_quotient(condition.clone(), &self.context).normal();
        let whole = self.context.without_tail(self.context.without_implied_bounds(whole)).normal();
        self.context.assume(&condition);
        self.context.assume(&whole);
        self.conditions.push(whole);
        true
    }

    /// How many conditions had to be required; while it stays, equal divisions have equal quotients.
    pub fn requirements(&self) -> usize {
        self.conditions.len()
    }

    /// How many terms forms are made of: variables, floors and remainders. A division that made none was affine.
    pub fn terms(&self) -> usize {
        self.algebra.len()
    }

    /// Whether remainders are to be terms of their own ([`Divisions::EveryRemainder`]).
    pub fn keeps_remainders(&self) -> bool {
        self.algebra.style.remainders == Remainders::Always
    }

    /// The index with the fewest and shortest conditions that say the same; `Some(None)` when they never hold, and `None` past
    /// `i64`.
    fn guarded(&mut self, index: Index) -> Option<Option<(Form, Vec<Condition>)>> {
        let index = match index {
            // Conditions may fix what they are about: a term that can have but one value is put in.
            Index::At(form) => Some(self.context.with_known_values(&form)?),
            Index::Nowhere => None,
        };
        let conditions = std::mem::take(&mut self.conditions);
        let conditions = minimize(&mut self.algebra, &mut self.context, conditions, index.as_ref());
        let Some((index, conditions)) = index.zip(conditions) else { return Some(None) };
        Some(Some((with_known_sums(index, &conditions, &self.context), conditions)))
    }

    /// Writes the index and the conditions as expressions.
    fn finish(mut self, index: Index, variables: &[Variable], extents: &[i64]) -> Option<Built> {
        let Some((index, mut conditions)) = self.guarded(index)? else {
            let never = self.algebra.condition(Kind::Bool(false), &mut self.context);
            let code = self.write(Form::default(), never, variables, extents)?;
            return Some(Built { algebra: self.algebra, guarded: None, code });
        };
        let (tests, all) = self.conjunction(&conditions);
        let mut code = self.write(index.clone(), all, variables, extents)?;
        // The forms that are kept are the shortest, of which most can be seen; what is written is the cheapest.
        for at in 0..conditions.len() {
            let Some(wider) = widened(&self.algebra, &conditions[at], &index) else { continue };
            let shorter = std::mem::replace(&mut conditions[at], wider);
            let (_, all) = self.conjunction(&conditions);
            match self.write(index.clone(), all, variables, extents) {
                Some(cheaper) if cheaper.rank(self.products) < code.rank(self.products) => code = cheaper,
                _ => conditions[at] = shorter,
            }
        }
        Some(Built { algebra: self.algebra, guarded: Some((index, tests)), code })
    }

    /// Conditions as atoms, and the atom that says that all of them hold.
    fn conjunction(&mut self, conditions: &[Condition]) -> (Vec<Atom>, Atom) {
        let (mut tests, mut all) = (Vec::with_capacity(conditions.len()), None);
        for condition in conditions {
            let test = self.algebra.condition(Kind::Test(condition.clone()), &mut self.context);
            tests.push(test);
            all = Some(match all {
                Some(all) => self.algebra.condition(Kind::Both(Binary::And, all, test), &mut self.context),
                None => test,
            });
        }
        let all = all.unwrap_or_else(|| self.algebra.condition(Kind::Bool(true), &mut self.context));
        (tests, all)
    }

    /// An index and the condition that guards it, as expressions.
    fn write(&self, index: Form, valid: Atom, variables: &[Variable], extents: &[i64]) -> Option<IndexExpr> {
        let written = |width| {
            let mut graph = Graph::new();
            let known = variables.iter().map(|variable| graph.variable(&variable.name, variable.range.clone()).ok());
            let known = known.collect::<Option<Vec<_>>>()?;
            let roots = vec![Root::Number(index.clone()), Root::Condition(valid)];
            let nodes = emit(&self.algebra, roots, self.products, width, &mut graph, &known).ok()?;
            Some(IndexExpr::plain(graph, nodes[0], nodes[1], extents))
        };
        let cheapest = written(Width::Any)?;
        if !cheapest.is_wide() {
            return Some(cheapest);
        }
        written(Width::Narrow).filter(|narrow| !narrow.is_wide()).or(Some(cheapest))
    }
}

/// An index with the value of a sum in its place, where a condition demands one value and that leaves fewer terms.
// Proved: `known_value` in `proofs/Simplify.v`.
fn with_known_sums(index: Form, conditions: &[Condition], context: &Context) -> Form {
    let mut index = index;
    for Condition { form, low, high } in conditions {
        // A bound that the form has of itself is not among its conditions.
        let Some((least, most)) = context.bounds(form) else { continue };
        let (low, high) = (low.unwrap_or(least), high.unwrap_or(most));
        let Some(value) = i64::try_from(low).ok().filter(|_| low == high) else { continue };
        let replaced = form.terms.iter().filter_map(|&(atom, unit)| {
            let coefficient = index.coefficient(atom);
            let factor = (coefficient != 0 && coefficient % unit == 0).then_some(coefficient / unit)?;
            let known = Form::constant(value.checked_mul(factor)?)?;
            index.plus(factor.checked_neg()?, form)?.plus(1, &known)
        });
        if let Some(shorter) =
            replaced.min_by_key(|form| form.terms.len()).filter(|form| form.terms.len() < index.terms.len())
        {
            index = shorter;
        }
    }
    index
}

impl Built {
    /// The index and its guard as expressions; see the example of [`cheapest`].
    pub fn code(&self) -> &IndexExpr {
        &self.code
    }

    /// The index and its guard as expressions, without the forms.
    pub fn into_code(self) -> IndexExpr {
        self.code
    }

    /// The index as a linear form, for whoever knows from elsewhere that the conditions always hold; `None` when a number
    /// leaves `i64`.
    pub fn quasi_affine_everywhere(&self) -> Option<QuasiAffine> {
        export(&self.algebra, self.guarded.as_ref().map(|(index, _)| index), std::iter::empty())
    }

    /// The index and its guard as linear forms over variables and floors; `None` when a number leaves `i64`.
    pub fn quasi_affine(&self) -> Option<QuasiAffine> {
        let Some((index, tests)) = &self.guarded else {
            return Some(QuasiAffine::new(Vec::new(), Vec::new(), None));
        };
        // What was required last comes first: for a stack of layouts, the outer axes before the inner ones.
        let conditions = tests.iter().rev().filter_map(|test| match self.algebra.kind(*test) {
            Kind::Test(condition) => Some(condition),
            _ => None,
        });
        export(&self.algebra, Some(index), conditions)
    }
}

/// Forms of an algebra as plain data. `None` when one of their atoms is neither a variable nor a division, or a number
/// leaves `i64`.
pub(crate) fn export<'a>(
    algebra: &Algebra,
    value: Option<&Form>,
    conditions: impl Iterator<Item = &'a Condition>,
) -> Option<QuasiAffine> {
    let mut exporter = Exporter { algebra, floors: Vec::new(), known: vec![None; algebra.len()] };
    let mut exported = Vec::new();
    for condition in conditions {
        let form = exporter.form(&condition.form)?;
        // A bound past `i64` is one that no value of the form, which lies in it, can be beyond.
        let bound = |bound: Option<i128>| bound.map(i64::try_from).transpose().ok();
        exported.push(quasi::Condition::new(form, bound(condition.low)?, bound(condition.high)?));
    }
    let value = value.map(|form| exporter.form(form).ok_or(())).transpose().ok()?;
    Some(QuasiAffine::new(exporter.floors, exported, value))
}

struct Exporter<'a> {
    algebra: &'a Algebra,
    floors: Vec<quasi::Floor>,
    /// What is known of each atom.
    known: Vec<Option<Linear>>,
}

impl Exporter<'_> {
    fn form(&mut self, form: &Form) -> Option<Linear> {
        // Atoms come after what they are made of: the largest that is needed is enough to walk up to.
        let mut needed = vec![false; form.terms.last().map_or(0, |(atom, _)| *atom as usize + 1)];
        form.terms.iter().for_each(|(atom, _)| needed[*atom as usize] = true);
        for atom in (0..needed.len()).rev().filter(|atom| self.known[*atom].is_none()).collect::<Vec<_>>() {
            if needed[atom] {
                let parts = self.algebra.kind(atom as Atom).forms();
                parts.flat_map(|form| &form.terms).for_each(|(atom, _)| needed[*atom as usize] = true);
            }
        }
        for atom in (0..needed.len()).filter(|atom| needed[*atom]) {
            if self.known[atom].is_none() {
                self.known[atom] = Some(self.atom(atom as Atom)?);
            }
        }
        self.sum(form)
    }

    /// A form all of whose atoms are known.
    fn sum(&self, form: &Form) -> Option<Linear> {
        let mut sum = Linear::constant_form(form.constant);
        for (atom, coefficient) in &form.terms {
            sum = sum.plus(*coefficient, self.known[*atom as usize].as_ref()?)?;
        }
        Some(sum)
    }

    fn atom(&mut self, atom: Atom) -> Option<Linear> {
        match self.algebra.kind(atom) {
            Kind::Variable(place, ..) => Some(Term::Variable(*place).into()),
            Kind::Quotient(form, divisor) => {
                let numerator = self.sum(form)?;
                Some(self.floor(numerator, *divisor))
            }
            Kind::Remainder(form, divisor) => {
                let numerator = self.sum(form)?;
                let quotient = self.floor(numerator.clone(), *divisor);
                numerator.plus(-divisor, &quotient)
            }
            _ => None,
        }
    }

    /// A floor, which is listed once.
    fn floor(&mut self, numerator: Linear, divisor: i64) -> Linear {
        let floor = quasi::Floor::new(numerator, divisor);
        let at = self.floors.iter().position(|known| *known == floor).unwrap_or_else(|| {
            self.floors.push(floor);
            self.floors.len() - 1
        });
        Term::Floor(at).into()
    }
}
