//! The steps of a nest: what one of them touches, and which of them touch an element, counted without going through all.

use std::ops::Range;

use indexpr::{Binary, Condition, Expr, Graph, Linear, Node, QuasiAffine, Term};
use shapetracker::Dims;

use crate::error::{Error, Fault};
use crate::nest::{Padding, StatementNest};
use crate::poly::Poly;

/// The most entries that a search tries, and the most steps that are gone through one by one where there is no search.
const MOST_ENTRIES: u32 = 1 << 22;
const MOST_STEPS: i128 = 1 << 18;

/// The steps of a [`StatementNest`] at values of its names: one for each choice of the values of its loops, which are those
/// of the statement, whatever they are split into.
///
/// ```
/// use shapetracker_symbolic::Question;
///
/// let mut question = Question::default();
/// let statement = question.statement(
///     "C[i, j] += A[i, k] * B[k, j]; A = (4096, 4096); B = (4096, 4096).T; C = (4096, 4096)",
/// )?;
/// let steps = statement.nest(&question.scope()?)?.steps().unwrap();
/// assert_eq!(steps.total(), Some(1 << 36));
///
/// // One step touches an element of each; in `B`, which is transposed, the address goes down the columns.
/// let touched = steps.touched(&[2, 3, 5]).unwrap();
/// assert!(touched.runs);
/// assert_eq!(touched.elements[2], (shapetracker::Dims::from([5, 3]), Some(3 * 4096 + 5)));
///
/// // An element of `A` is touched for each `j`.
/// let touching = steps.touching(1, &[2, 5]).unwrap();
/// assert_eq!(touching.count, Some(4096));
/// assert_eq!(touching.loops, [Some(2..3), Some(0..4096), Some(5..6)]);
/// assert_eq!(touching.free, [false, true, false]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Steps {
    graph: Graph,
    loops: Vec<Counter>,
    accesses: Vec<Element>,
    condition: Option<Expr>,
    /// Whether the statement runs.
    runs: Expr,
}

/// A loop: its variable, by its place in the graph, and its size.
#[derive(Clone, Debug)]
struct Counter {
    variable: Expr,
    place: usize,
    size: i64,
}

#[derive(Clone, Debug)]
struct Element {
    shape: Dims,
    axes: Vec<Expr>,
    address: Expr,
    valid: Expr,
}

/// What a step touches, by [`Steps::touched`].
///
/// ```
/// # use shapetracker_symbolic::Question;
/// let mut question = Question::default();
/// let statement = question.statement("y[i] = x[i]; x = (7,).pad((1, 0)); y = (8,)")?;
/// let steps = statement.nest(&question.scope()?)?.steps().unwrap();
/// assert_eq!(steps.touched(&[0]).unwrap().elements[1].1, None); // padding
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Touched {
    /// Whether the statement runs at this step.
    pub runs: bool,
    /// Of each access the index of its element, and the address; `None` where the element is padding.
    pub elements: Vec<(Dims, Option<i64>)>,
}

/// Some of the steps, such as those that touch an element.
///
/// ```
/// # use shapetracker_symbolic::Question;
/// let mut question = Question::default();
/// let statement = question.statement("y[i] += x[i + k]; i = 0..6; k = 0..3; x = (8,); y = (6,)")?;
/// let steps = statement.nest(&question.scope()?)?.steps().unwrap();
/// let touching = steps.touching(1, &[1]).unwrap();
/// assert_eq!((touching.count, touching.example), (Some(2), Some([1, 0].into())));
/// assert_eq!(touching.loops, [Some(0..2), Some(0..2)]);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StepSet {
    /// How many there are; `None` where that was not found within the work limit.
    pub count: Option<i128>,
    /// From which value to which each loop goes in them; `None` where there are none, or this was not found.
    pub loops: Vec<Option<Range<i64>>>,
    /// Whether each loop runs freely, as no guard and no index is about it: with each step there are those with all other values of
    /// this loop.
    pub free: Vec<bool>,
    /// One of them: where loops do not depend on each other, the first.
    pub example: Option<Dims>,
}

impl Steps {
    /// The steps at values of the names, which the ranges and conditions allow.
    pub(crate) fn of(nest: &StatementNest, point: &[i128]) -> Result<Steps, Error> {
        const OP: &str = "steps";
        let refused = |err: indexpr::Error| Error::new(OP, err);
        let large = || Error::new(OP, Fault::Overflow { what: "at these values a number" });
        let (from, lowered) = (nest.nest().graph(), &nest.lowered);
        let scope = nest.scope();
        // The variables of the nest: the names, then, among others, the loops.
        let mut known: Vec<i64> = from.variables().iter().map(|variable| variable.range.start).collect();
        for (name, &value) in scope.own_names().iter().zip(point) {
            if let Some(place) = from.variables().iter().position(|variable| *variable.name == *name.name) {
                known[place] = i64::try_from(value).map_err(|_| large())?;
            }
        }
        let mut graph = Graph::new();
        let mut loops = Vec::new();
        for one in &lowered.loops {
            let size = from.evaluate(one.size, &known).map_err(refused)?.max(0);
            let variable = graph.variable(&one.name, 0..size.max(1)).map_err(refused)?;
            loops.push(Counter { variable, place: loops.len(), size });
        }
        let mut exprs = Vec::new();
        for one in &lowered.accesses {
            exprs.extend(one.axes.iter().copied().chain([one.address, one.valid]));
        }
        exprs.extend(lowered.condition);
        let moved = graph.import(from, &exprs, |to, place| {
            let variable = Node::Variable(place);
            match lowered.loops.iter().position(|one| from.node(one.variable) == variable) {
                Some(number) => Ok(loops[number].variable),
                None => Ok(to.int(known[place])),
            }
        });
        let moved = moved.map_err(refused)?;
        // In the order in which they were put there.
        let (mut rest, mut accesses) = (&moved[..], Vec::new());
        let condition = lowered.condition.and_then(|_| rest.split_off_last().copied());
        let mut runs = condition.unwrap_or_else(|| graph.bool(true));
        for (one, about) in lowered.accesses.iter().zip(nest.accesses()) {
            let size = |size: &Poly| size.eval(point).and_then(|size| i64::try_from(size).ok());
            let shape = one.shape.iter().map(size).collect::<Option<Dims>>().ok_or_else(large)?;
            let (axes, after) = rest.split_at(one.axes.len());
            let [address, valid, after @ ..] = after else { break };
            rest = after;
            if about.padding == Padding::Skipped {
                runs = graph.binary(Binary::And, runs, *valid).map_err(refused)?;
            }
            accesses.push(Element { shape, axes: axes.to_vec(), address: *address, valid: *valid });
        }
        Ok(Steps { graph, loops, accesses, condition, runs })
    }

    /// How many steps there are, be the statement run or not; `None` past 128 bits.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("C[i, j] = 1 if j <= i; C = (8, 8)")?;
    /// assert_eq!(statement.nest(&question.scope()?)?.steps().unwrap().total(), Some(64));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn total(&self) -> Option<i128> {
        self.loops.iter().try_fold(1_i128, |all, one| all.checked_mul(one.size.into()))
    }

    /// The sizes of the loops of the statement, outermost first.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("C[i, j] = 1; C = (n, 2*n)")?;
    /// let steps = statement.nest(&question.scope()?)?.steps_at([("n", 4)])?;
    /// assert!(steps.sizes().eq([4, 8]));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn sizes(&self) -> impl Iterator<Item = i64> {
        self.loops.iter().map(|one| one.size)
    }

    /// The shape of the layout of an access.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("y[i] = x[i]; x = (7,).pad((1, 0)); y = (8,)")?;
    /// assert_eq!(statement.nest(&question.scope()?)?.steps().unwrap().shape(1), Some(&[8][..]));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn shape(&self, access: usize) -> Option<&[i64]> {
        self.accesses.get(access).map(|access| &access.shape[..])
    }

    /// The steps at which the statement runs.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("C[i, j] = 1 if j <= i; C = (65536, 65536)")?;
    /// let run = statement.nest(&question.scope()?)?.steps().unwrap().run();
    /// assert_eq!(run.count, Some(65536 * 65537 / 2));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Cost
    /// Loops that no guard joins are counted by themselves. Of those that one does, the values of all but one are gone
    /// through, as far as bounds let them; the work limit is 2^22 values.
    pub fn run(&self) -> StepSet {
        self.set(&self.graph, self.runs)
    }

    /// The steps at which the condition after `if` holds; `None` without one.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("C[i] = 1 if i % 3 == 1; C = (10,)")?;
    /// let steps = statement.nest(&question.scope()?)?.steps().unwrap();
    /// assert_eq!(steps.meeting_condition().unwrap().count, Some(3));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn meeting_condition(&self) -> Option<StepSet> {
        self.condition.map(|condition| self.set(&self.graph, condition))
    }

    /// The steps at which the element of an access is none of the padding; `None` where there is no such access.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("y[i] = x[i]; x = (7,).pad((1, 0)); y = (8,)")?;
    /// let steps = statement.nest(&question.scope()?)?.steps().unwrap();
    /// assert_eq!(steps.with_element(1).unwrap().count, Some(7));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn with_element(&self, access: usize) -> Option<StepSet> {
        Some(self.set(&self.graph, self.accesses.get(access)?.valid))
    }

    /// What the step with these values of the loops touches; `None` where they are no values of the loops.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("C[i, j] = 1 if j <= i; C = (8, 8)")?;
    /// let steps = statement.nest(&question.scope()?)?.steps().unwrap();
    /// assert!(!steps.touched(&[2, 3]).unwrap().runs);
    /// assert_eq!(steps.touched(&[8, 0]), None);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn touched(&self, at: &[i64]) -> Option<Touched> {
        let inside = at.iter().zip(&self.loops).all(|(at, one)| (0..one.size).contains(at));
        if at.len() != self.loops.len() || !inside {
            return None;
        }
        let values = self.values(at);
        let value = |expr: Expr| self.graph.evaluate(expr, &values).ok();
        let mut elements = Vec::new();
        for access in &self.accesses {
            let index = access.axes.iter().map(|axis| value(*axis)).collect::<Option<Dims>>()?;
            let address = if value(access.valid)? == 1 { Some(value(access.address)?) } else { None };
            elements.push((index, address));
        }
        Some(Touched { runs: value(self.runs)? == 1, elements })
    }

    /// The steps at which the statement runs and the element of an access has this index; `None` where there is no such
    /// access, or no such element.
    ///
    /// ```
    /// # use shapetracker_symbolic::Question;
    /// # let mut question = Question::default();
    /// let statement = question.statement("s[] += A[i, j]; A = (4, 5); s = ()")?;
    /// let steps = statement.nest(&question.scope()?)?.steps().unwrap();
    /// assert_eq!(steps.touching(0, &[]).unwrap().count, Some(20));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Cost
    /// That of [`Steps::run`].
    pub fn touching(&self, access: usize, index: &[i64]) -> Option<StepSet> {
        let access = self.accesses.get(access)?;
        let inside = index.iter().zip(&access.shape).all(|(at, size)| (0..*size).contains(at));
        if index.len() != access.shape.len() || !inside {
            return None;
        }
        let (mut graph, mut condition) = (self.graph.clone(), self.runs);
        for (axis, at) in access.axes.iter().zip(index) {
            let at = graph.int(*at);
            let equal = graph.binary(Binary::Eq, *axis, at).ok()?;
            condition = graph.binary(Binary::And, condition, equal).ok()?;
        }
        Some(self.set(&graph, condition))
    }

    /// The values of all variables of the graph at a step.
    fn values(&self, at: &[i64]) -> Vec<i64> {
        let mut values: Vec<i64> = self.graph.variables().iter().map(|variable| variable.range.start).collect();
        for (one, at) in self.loops.iter().zip(at) {
            values[one.place] = *at;
        }
        values
    }

    /// The steps at which a condition holds.
    fn set(&self, graph: &Graph, condition: Expr) -> StepSet {
        let mut graph = graph.clone();
        let zero = graph.int(0);
        match graph.quasi_affine(zero, condition) {
            Ok(Some(forms)) => self.searched(&forms),
            _ => self.tried(&graph, condition),
        }
    }

    /// Nothing is known of them.
    fn unknown(&self) -> StepSet {
        StepSet { count: None, loops: vec![None; self.loops.len()], free: vec![false; self.loops.len()], example: None }
    }

    /// The steps at which all conditions hold.
    fn searched(&self, forms: &QuasiAffine) -> StepSet {
        let mut set = self.unknown();
        if forms.value().is_none() || self.loops.iter().any(|one| one.size == 0) {
            return StepSet { count: Some(0), ..set };
        }
        set.count = Some(1);
        let joins = |condition: &Condition, one: &Counter| forms.depends_on(&condition.form, one.place);
        let mut example = vec![0; self.loops.len()];
        let mut pending: Vec<usize> = (0..self.loops.len()).collect();
        while let Some(&first) = pending.first() {
            // The loops that conditions join with the first one, and these conditions.
            let (mut group, mut conditions) = (vec![first], Vec::<&Condition>::new());
            let mut at = 0;
            while let Some(&member) = group.get(at) {
                for condition in forms.conditions().iter().filter(|condition| joins(condition, &self.loops[member])) {
                    if !conditions.contains(&condition) {
                        conditions.push(condition);
                        let others = pending.iter().filter(|other| joins(condition, &self.loops[**other]));
                        let others: Vec<usize> = others.copied().filter(|other| !group.contains(other)).collect();
                        group.extend(others);
                    }
                }
                at += 1;
            }
            pending.retain(|other| !group.contains(other));
            group.sort_unstable();
            let found = Search::of(self, forms, group, conditions);
            set.count = set.count.zip(found.count).and_then(|(all, count)| all.checked_mul(count));
            for (&member, found) in found.group.iter().zip(&found.found) {
                let Some((low, high, first)) = *found else { continue };
                set.loops[member] = Some(low..high + 1);
                set.free[member] = !forms.conditions().iter().any(|condition| joins(condition, &self.loops[member]));
                example[member] = first;
            }
            if set.count == Some(0) {
                return StepSet { count: Some(0), ..self.unknown() };
            }
        }
        // A condition without loops is one that always holds: `value` would be none otherwise.
        if set.loops.iter().all(Option::is_some) {
            set.example = Some(example.into_iter().collect());
        }
        if set.count.is_none() {
            set.loops = self.unknown().loops;
        }
        set
    }

    /// The steps at which a condition holds that is no conjunction of forms: each is tried, where they are few.
    fn tried(&self, graph: &Graph, condition: Expr) -> StepSet {
        let mut set = self.unknown();
        let Some(total) = self.total().filter(|total| *total <= MOST_STEPS) else { return set };
        let mut count = 0;
        for number in 0..total {
            let (mut at, mut rest) = (vec![0; self.loops.len()], number);
            for (at, one) in at.iter_mut().zip(&self.loops).rev() {
                *at = rest.rem_euclid(one.size.into()) as i64;
                rest = rest.div_euclid(one.size.into());
            }
            if graph.evaluate(condition, &self.values(&at)) != Ok(1) {
                continue;
            }
            count += 1;
            for (range, at) in set.loops.iter_mut().zip(&at) {
                let known = range.take().unwrap_or(*at..*at + 1);
                *range = Some(known.start.min(*at)..known.end.max(*at + 1));
            }
            if set.example.is_none() {
                set.example = Some(at.into_iter().collect());
            }
        }
        let parts = graph.parts(&[condition]);
        set.free = self.loops.iter().map(|one| count > 0 && !parts.contains(&one.variable)).collect();
        StepSet { count: Some(count), ..set }
    }
}

/// A search in depth for the values of some loops at which conditions hold.
struct Search<'s> {
    forms: &'s QuasiAffine,
    conditions: Vec<&'s Condition>,
    /// The numbers of the loops, and their variables and sizes, in the order of the search.
    group: Vec<usize>,
    counters: Vec<(usize, i64)>,
    /// Whether all conditions are linear in the last loop.
    ends_linear: bool,
    /// The values that each variable of the graph may have, both ends included.
    ranges: Vec<(i64, i64)>,
    count: Option<i128>,
    left: u32,
    /// Of each loop the least and the greatest value that was found, and the first.
    found: Vec<Option<(i64, i64, i64)>>,
}

impl<'s> Search<'s> {
    fn of(steps: &Steps, forms: &'s QuasiAffine, mut group: Vec<usize>, conditions: Vec<&'s Condition>) -> Search<'s> {
        let is_linear = |member: usize| {
            let place = steps.loops[member].place;
            conditions.iter().all(|condition| !forms.floors_depend_on(&condition.form, place))
        };
        // The last one costs nothing where it is linear: it is the longest such, and the innermost of these.
        let last = (0..group.len()).filter(|at| is_linear(group[*at])).max_by_key(|at| steps.loops[group[*at]].size);
        if let Some(last) = last {
            let member = group.remove(last);
            group.push(member);
        }
        let counters: Vec<(usize, i64)> =
            group.iter().map(|member| (steps.loops[*member].place, steps.loops[*member].size)).collect();
        let mut ranges: Vec<(i64, i64)> =
            steps.graph.variables().iter().map(|variable| (variable.range.start, variable.range.end - 1)).collect();
        for (place, size) in &counters {
            ranges[*place] = (0, size - 1);
        }
        let mut search = Search {
            forms,
            conditions,
            found: vec![None; group.len()],
            group,
            counters,
            ends_linear: last.is_some(),
            ranges,
            count: Some(0),
            left: MOST_ENTRIES,
        };
        if search.fits().is_some() {
            search.descend(0);
        } else {
            search.count = None;
        }
        search
    }

    /// `None` unless no bound of a form leaves `i128`, whatever values variables have.
    fn fits(&self) -> Option<()> {
        let mut floors = Vec::<i128>::with_capacity(self.forms.floors().len());
        let largest = |form: &Linear, floors: &[i128]| {
            form.terms().iter().try_fold(i128::from(form.constant()).abs(), |sum, &(term, factor)| {
                let most = match term {
                    Term::Variable(at) => i128::from(self.ranges[at].0).abs().max(i128::from(self.ranges[at].1).abs()),
                    Term::Floor(at) => floors[at],
                };
                sum.checked_add(i128::from(factor).abs().checked_mul(most)?)
            })
        };
        for floor in self.forms.floors() {
            // A floor of what is a little below 0 is -1.
            floors.push(largest(&floor.numerator, &floors)? / i128::from(floor.divisor) + 1);
        }
        // Bounds of conditions are subtracted from these.
        let fits = |condition: &&Condition| largest(&condition.form, &floors).filter(|most| *most <= i128::MAX / 2);
        self.conditions.iter().try_for_each(|condition| fits(condition).map(|_| ()))
    }

    /// Tries the values of the loop at a depth.
    fn descend(&mut self, depth: usize) {
        let (place, size) = self.counters[depth];
        self.ranges[place] = (0, size - 1);
        let Some((low, high)) = self.narrowed(place) else { return };
        let is_last = depth + 1 == self.counters.len();
        if is_last && self.ends_linear {
            self.take(depth, low, high);
            return;
        }
        for value in low..=high {
            if self.left == 0 {
                self.count = None;
                return;
            }
            self.left -= 1;
            self.ranges[place] = (value, value);
            if !self.can_hold() {
                continue;
            }
            if is_last {
                self.take(depth, value, value);
            } else {
                self.descend(depth + 1);
            }
        }
        self.ranges[place] = (0, size - 1);
    }

    /// Counts what was found: the loops before this depth have one value, this one several.
    fn take(&mut self, depth: usize, low: i64, high: i64) {
        self.count = self.count.map(|count| count + i128::from(high) - i128::from(low) + 1);
        for at in 0..=depth {
            let (low, high) = if at == depth { (low, high) } else { self.ranges[self.counters[at].0] };
            let (least, most, first) = self.found[at].unwrap_or((low, high, low));
            self.found[at] = Some((least.min(low), most.max(high), first));
        }
    }

    /// The values of a variable at which each condition that is linear in it may hold.
    fn narrowed(&self, place: usize) -> Option<(i64, i64)> {
        let (mut low, mut high) = self.ranges[place];
        let floors = self.floors();
        for condition in &self.conditions {
            let factor = i128::from(condition.form.coefficient(Term::Variable(place)));
            if factor == 0 || self.forms.floors_depend_on(&condition.form, place) {
                continue;
            }
            let rest = condition.form.clone().without(Term::Variable(place));
            let (least, most) = self.range(&rest, &floors);
            // least bound - most <= factor * value <= most bound - least
            let under = condition.least.map(|bound| i128::from(bound) - most);
            let over = condition.most.map(|bound| i128::from(bound) - least);
            let (under, over) = if factor > 0 { (under, over) } else { (over.map(|x| -x), under.map(|x| -x)) };
            let factor = factor.abs();
            if let Some(under) = under {
                low = i64::try_from(-(-under).div_euclid(factor))
                    .map_or(if under > 0 { i64::MAX } else { low }, |it| it.max(low));
            }
            if let Some(over) = over {
                high = i64::try_from(over.div_euclid(factor))
                    .map_or(if over < 0 { i64::MIN } else { high }, |it| it.min(high));
            }
        }
        (low <= high).then_some((low, high))
    }

    /// Whether each condition may hold, by the ranges of its variables.
    fn can_hold(&self) -> bool {
        let floors = self.floors();
        self.conditions.iter().all(|condition| {
            let (least, most) = self.range(&condition.form, &floors);
            condition.least.is_none_or(|bound| i128::from(bound) <= most)
                && condition.most.is_none_or(|bound| least <= i128::from(bound))
        })
    }

    /// The least and the greatest value of each floor.
    fn floors(&self) -> Vec<(i128, i128)> {
        let mut floors = Vec::with_capacity(self.forms.floors().len());
        for floor in self.forms.floors() {
            let (least, most) = self.range(&floor.numerator, &floors);
            let divisor = i128::from(floor.divisor);
            floors.push((least.div_euclid(divisor), most.div_euclid(divisor)));
        }
        floors
    }

    /// Bounds of a form; where each variable has one value, its value.
    fn range(&self, form: &Linear, floors: &[(i128, i128)]) -> (i128, i128) {
        let mut range = (i128::from(form.constant()), i128::from(form.constant()));
        for &(term, factor) in form.terms() {
            let (low, high) = match term {
                Term::Variable(at) => (self.ranges[at].0.into(), self.ranges[at].1.into()),
                Term::Floor(at) => floors[at],
            };
            let factor = i128::from(factor);
            let (low, high) = if factor > 0 { (factor * low, factor * high) } else { (factor * high, factor * low) };
            range = (range.0 + low, range.1 + high);
        }
        range
    }
}
