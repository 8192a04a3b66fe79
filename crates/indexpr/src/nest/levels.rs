//! What is computed at each level of a nest: the loops with their bounds, the parts of one that is run in parts, and the
//! values that each level is the outermost one to know.

use shapetracker_base::int::bits;

use super::bounds::{Beside, Bound, bounds, ends};
use super::{Clip, Nest, Width, conjunction, conjuncts, replaced};
use crate::constants::{constant, parts};
use crate::error::Error;
use crate::graph::{Binary, Expr, Graph, Node};
use crate::lines::{self, Use};

/// The levels of a [`Nest`]: the loops with their bounds, and what is computed in each of them outside of the others.
///
/// ```
/// use indexpr::{Graph, Nest, Syntax};
///
/// let mut nest = Nest::new(Graph::new());
/// nest.each("i", 56)?;
/// nest.each("k", 3)?;
/// let (index, inside) = (nest.parse("i * 4 + k")?, nest.parse("k <= i")?);
/// nest.access("x", index, Some(inside))?;
/// nest.clip(&["x"], indexpr::Clip::All)?;
/// let levels = nest.levels()?;
/// let [_, outer, inner] = levels.all() else { panic!() };
/// let text = |expr| levels.graph().text(expr, Syntax::Python).unwrap();
/// assert_eq!(text(inner.header.as_ref().unwrap().end), "min(i + 1, 3)");
/// assert_eq!(outer.definitions[0].name, "t0");
/// assert_eq!(text(outer.definitions[0].expr), "i * 4");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Levels {
    pub(crate) graph: Graph,
    pub(crate) all: Vec<Level>,
    /// What each variable of the graph is called.
    pub(crate) names: Vec<String>,
    /// The level of the loop of each variable; 0 for what is known outside of all loops, `usize::MAX` for a loop that has none.
    pub(crate) depths: Vec<usize>,
}

/// A level of a [`Nest`]: what stands in one loop, or outside of all.
///
/// ```
/// let nest = indexpr::Nest::new(indexpr::Graph::new());
/// assert!(nest.levels()?.all()[0].header.is_none());
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Level {
    /// The place of the level that this one stands in; `None` outside of all loops.
    pub parent: Option<usize>,
    /// The loop; `None` outside of all loops.
    pub header: Option<Header>,
    /// What is computed here because this is the outermost level that knows it, each before it is used.
    pub definitions: Vec<Definition>,
    /// What must hold for anything inside to run; what is defined here is defined before it is asked.
    pub condition: Option<Expr>,
    /// In an innermost level the accesses, as they are there, and in one that is innermost but for reduced loops as they are before
    /// and after these; none elsewhere.
    pub accesses: Vec<Reference>,
    /// In such a level the [values](Nest::value) of the caller's.
    pub values: Vec<Definition>,
    /// In such a level each loop that the nest has, or had before it was split.
    pub loops: Vec<Definition>,
    /// In a level that is innermost but for reduced loops, or for none, what is left of the guard of each access before and
    /// after these.
    pub(crate) around_reduced: Option<Vec<Expr>>,
    /// Whether it is innermost, so that the body stands in it.
    pub is_innermost: bool,
}

impl Level {
    /// A level in which nothing is yet.
    pub(crate) fn new(parent: Option<usize>, header: Option<Header>) -> Level {
        Level {
            parent,
            header,
            definitions: Vec::new(),
            condition: None,
            accesses: Vec::new(),
            values: Vec::new(),
            loops: Vec::new(),
            around_reduced: None,
            is_innermost: false,
        }
    }
}

/// The loop of a [`Level`]: its variable counts from one expression up to another, which it does not reach.
///
/// ```
/// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
/// nest.each("i", 4)?;
/// assert_eq!(nest.levels()?.all()[1].header.as_ref().unwrap().name, "i");
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Header {
    /// The name of the loop.
    pub name: String,
    /// Its variable in [`Levels::graph`]. The parts of a loop that is run in parts have one each.
    pub variable: Expr,
    /// The first value, where it is less than the end.
    pub begin: Expr,
    /// The value that ends the loop.
    pub end: Expr,
    /// Whether it is [reduced](Nest::reduce).
    pub is_reduced: bool,
    /// Its place among [`Nest::loops`].
    pub place: usize,
}

/// A name, and what it is a name for.
///
/// ```
/// # let nest = indexpr::Nest::new(indexpr::Graph::new());
/// assert!(nest.levels()?.all()[0].definitions.is_empty());
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Definition {
    /// The name.
    pub name: String,
    /// What it is a name for.
    pub expr: Expr,
}

/// An access in the body.
///
/// ```
/// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
/// let i = nest.each("i", 4)?;
/// nest.access("a", i, None)?;
/// assert_eq!(nest.levels()?.all()[1].accesses[0].name, "a");
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Reference {
    /// The name.
    pub name: String,
    /// The address.
    pub index: Expr,
    /// What is left of its guard: true where loops and conditions took its place.
    pub valid: Expr,
}

/// A condition of a guard.
#[derive(Clone)]
struct Guard {
    /// Of which access.
    access: usize,
    expr: Expr,
    /// The condition as bounds of forms, where it is one.
    bounds: Option<Vec<Bound>>,
    /// How many loops stand around the part of the nest that it was read for: it is no bound of those.
    around: usize,
    /// Whether it is the condition of a level outside already.
    is_asked: bool,
}

/// The nest as it is in one part of it.
#[derive(Clone)]
struct State {
    /// The loops' variables.
    variables: Vec<Expr>,
    /// The loops' first values, and where they end.
    ranges: Vec<(Expr, Expr)>,
    indices: Vec<Expr>,
    guards: Vec<Guard>,
    values: Vec<Expr>,
    origins: Vec<Expr>,
}

impl Nest {
    /// The loops with their bounds and conditions, and what is computed in each. Loops that never run are left out, and so is what stands
    /// in a condition that never holds; what is innermost but for reduced loops stays, for the lines around these.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// nest.each("i", 4)?;
    /// assert_eq!(nest.levels()?.all().len(), 2);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A bound that leaves 64 bits.
    pub fn levels(&self) -> Result<Levels, Error> {
        let mut levels = self.expanded()?;
        levels.define();
        Ok(levels)
    }

    /// The same without names for what is computed.
    pub(crate) fn expanded(&self) -> Result<Levels, Error> {
        let mut levels = Expansion {
            nest: self,
            graph: self.graph.clone(),
            all: Vec::new(),
            names: self.graph.variables().iter().map(|variable| variable.name.clone()).collect(),
            // A loop that is run in parts has no level: each part has a variable of its own.
            depths: (0..self.graph.variables().len())
                .map(|place| if place < self.parameters { 0 } else { usize::MAX })
                .collect(),
        };
        let (mut indices, mut guards) = (Vec::new(), Vec::new());
        for (at, access) in self.accesses.iter().enumerate() {
            indices.push(access.index);
            guards.extend(levels.guards(at, access.valid, 0)?);
        }
        let zero = levels.graph.int(0);
        let mut ranges = Vec::new();
        for one in &self.loops {
            let is_leaf = matches!(levels.graph.node(one.size), Node::Int(_) | Node::Variable(_));
            ranges.push((zero, if is_leaf { one.size } else { levels.graph.simplify(one.size) }));
        }
        let mut state = State {
            variables: self.loops.iter().map(|one| one.variable).collect(),
            ranges,
            indices,
            guards,
            values: self.values.iter().map(|value| value.expr).collect(),
            origins: self.origins.iter().map(|origin| origin.expr).collect(),
        };
        levels.level(None, None);
        levels.enter(0, 0, &mut state)?;
        let Expansion { graph, all, names, depths, .. } = levels;
        Ok(Levels { graph, all, names, depths })
    }
}

struct Expansion<'a> {
    nest: &'a Nest,
    graph: Graph,
    all: Vec<Level>,
    names: Vec<String>,
    depths: Vec<usize>,
}

impl Expansion<'_> {
    fn level(&mut self, parent: Option<usize>, header: Option<Header>) -> usize {
        self.all.push(Level::new(parent, header));
        self.all.len() - 1
    }

    fn guards(&mut self, access: usize, valid: Expr, around: usize) -> Result<Vec<Guard>, Error> {
        let mut guards = Vec::new();
        for expr in conjuncts(&self.graph, valid) {
            let known = self.graph.variables().len();
            let bounds = bounds(&mut self.graph, expr)?;
            // Products have no level: nothing that is computed has one of these variables in it.
            for variable in &self.graph.variables()[known..] {
                self.names.push(variable.name.clone());
                self.depths.push(usize::MAX);
            }
            // As a bound, or a condition of its own, a guard is about the loops that decide it. As part of a value it stays what it
            // is: it may share sums with the index.
            if let (Some(bounds), Some(_)) = (&bounds, self.clip_of(access)) {
                for bound in bounds {
                    let form = bound.written(&mut self.graph, &bound.form)?;
                    let (least, most) = (bound.least.map(i128::from), bound.most.map(i128::from));
                    let expr = self.graph.between(form, least, most)?;
                    let bounds = Some(vec![bound.clone()]);
                    guards.push(Guard { access, expr, bounds, around, is_asked: false });
                }
                continue;
            }
            guards.push(Guard { access, expr, bounds, around, is_asked: false });
        }
        Ok(guards)
    }

    fn clip_of(&self, access: usize) -> Option<Clip> {
        self.nest.clips.iter().find(|(at, _)| *at == access).map(|(_, clip)| *clip)
    }

    /// The place of a variable in the graph.
    fn place(&self, variable: Expr) -> usize {
        match self.graph.node(variable) {
            Node::Variable(place) => place,
            _ => usize::MAX,
        }
    }

    /// How many loops must be entered before an expression is known.
    fn known_in(&self, expr: Expr, state: &State) -> usize {
        let parts = self.graph.parts(&[expr]);
        (0..state.variables.len()).rev().find(|at| parts.contains(&state.variables[*at])).map_or(0, |at| at + 1)
    }

    /// The number of loops outside of the outermost one that guards of an access may shorten.
    fn first_shortened(&self, clip: Clip) -> usize {
        match clip {
            Clip::All => 0,
            Clip::Reduced => {
                let is_reduced = self.nest.loops.iter().map(|one| one.is_reduced);
                // The loops at the end that are reduced.
                self.nest.loops.len() - is_reduced.rev().take_while(|reduced| *reduced).count()
            }
        }
    }

    /// Whether a guard is to be a bound of the loop of a place: this is the innermost loop of its forms.
    fn bounds_of(&self, guard: &Guard, at: usize, state: &State) -> bool {
        let Some(clip) = self.clip_of(guard.access) else { return false };
        let Some(bounds) = &guard.bounds else { return false };
        bounds.iter().all(|bound| !bound.hides(&self.graph, state.variables[at]))
            && at >= guard.around
            && at >= self.first_shortened(clip)
            && self.known_in(guard.expr, state) == at + 1
    }

    /// What stands in a level, which is inside of so many loops; whether there is anything that may run.
    fn enter(&mut self, level: usize, depth: usize, state: &mut State) -> Result<bool, Error> {
        let holds = self.condition(level, depth, state)?;
        // Lines before and after the reduced loops stand outside of the condition of their level.
        let is_around = depth == self.first_shortened(Clip::Reduced);
        if is_around {
            let guards = self.around_reduced(depth, state)?;
            self.describe(level, state, &guards);
            self.all[level].around_reduced = Some(guards);
        }
        let runs = match holds {
            true => self.fill(level, depth, state)?,
            false => false,
        };
        if !runs {
            self.all[level].condition = None;
        }
        Ok(runs || is_around)
    }

    /// The conditions at a level inside of so many loops: guards that are known there, are no bounds, and were not asked before.
    /// Whether they may hold.
    fn condition(&mut self, level: usize, depth: usize, state: &mut State) -> Result<bool, Error> {
        let mut held = Vec::new();
        for at in 0..state.guards.len() {
            let guard = &state.guards[at];
            let Some(clip) = self.clip_of(guard.access) else { continue };
            let known = self.known_in(guard.expr, state);
            let is_bound = known > 0 && self.bounds_of(guard, known - 1, state);
            if !is_bound && !guard.is_asked && known.max(self.first_shortened(clip)) <= depth {
                if !held.contains(&guard.expr) {
                    held.push(guard.expr);
                }
                state.guards[at].is_asked = true;
            }
        }
        if held.is_empty() {
            return Ok(true);
        }
        let condition = conjunction(&mut self.graph, &held)?;
        let condition = self.graph.simplify(condition);
        self.all[level].condition = Some(condition);
        Ok(self.graph.range(condition).1 == 1)
    }

    /// What stands in a level inside of its condition; whether there is anything.
    fn fill(&mut self, level: usize, depth: usize, state: &State) -> Result<bool, Error> {
        if depth == self.nest.loops.len() {
            self.body(level, state)?;
            return Ok(true);
        }
        match self.nest.partitions.iter().find(|(at, _)| *at == depth) {
            Some((_, accesses)) => self.in_parts(level, depth, state, accesses),
            None => self.inside(level, depth, state.clone()),
        }
    }

    /// What is left of the guard of each access before and after the reduced loops, which are those inside of so many.
    ///
    /// All of it, but for what is a bound of a loop outside or a condition of a level further out: the condition of the level itself
    /// stands inside of these lines.
    fn around_reduced(&mut self, depth: usize, state: &State) -> Result<Vec<Expr>, Error> {
        let is_left = |guard: &&Guard| {
            let known = self.known_in(guard.expr, state);
            let is_bound = known > 0 && known <= depth && self.bounds_of(guard, known - 1, state);
            let is_asked = self
                .clip_of(guard.access)
                .is_some_and(|clip| known.max(guard.around + 1).max(self.first_shortened(clip)) < depth);
            !is_bound && !is_asked
        };
        let left: Vec<(usize, Expr)> =
            state.guards.iter().filter(is_left).map(|guard| (guard.access, guard.expr)).collect();
        let mut all = Vec::new();
        for at in 0..self.nest.accesses.len() {
            let own: Vec<Expr> = left.iter().filter(|(access, _)| *access == at).map(|(_, expr)| *expr).collect();
            let guard = conjunction(&mut self.graph, &own)?;
            // A guard that is no condition of a level is written as it is in the body.
            all.push(if self.clip_of(at).is_some() { self.graph.simplify(guard) } else { guard });
        }
        Ok(all)
    }

    fn body(&mut self, level: usize, state: &State) -> Result<(), Error> {
        let mut guards = Vec::new();
        for at in 0..self.nest.accesses.len() {
            let left: Vec<Expr> = match self.clip_of(at) {
                Some(_) => Vec::new(),
                None => state.guards.iter().filter(|guard| guard.access == at).map(|guard| guard.expr).collect(),
            };
            guards.push(conjunction(&mut self.graph, &left)?);
        }
        self.describe(level, state, &guards);
        self.all[level].is_innermost = true;
        Ok(())
    }

    /// The accesses, values and loops as they are in a level, with what is left of the guards.
    fn describe(&mut self, level: usize, state: &State, guards: &[Expr]) {
        let named = |names: Vec<&String>, exprs: &[Expr]| {
            names.into_iter().zip(exprs).map(|(name, expr)| Definition { name: name.clone(), expr: *expr }).collect()
        };
        // Where there is never an element any address will do, and that one is nothing to be computed.
        let nowhere = self.graph.int(0);
        let of = |index: Expr, valid: Expr| if constant(&self.graph, valid) == Some(0) { nowhere } else { index };
        let accesses = self.nest.accesses.iter().zip(state.indices.iter().zip(guards));
        let accesses = accesses.map(|(access, (index, valid))| Reference {
            name: access.name.clone(),
            index: of(*index, *valid),
            valid: *valid,
        });
        let accesses = accesses.collect();
        let level = &mut self.all[level];
        level.accesses = accesses;
        level.values = named(self.nest.values.iter().map(|value| &value.name).collect(), &state.values);
        level.loops = named(self.nest.origins.iter().map(|origin| &origin.name).collect(), &state.origins);
    }

    /// A loop in a level, and all that stands in it; whether it may run.
    fn inside(&mut self, parent: usize, depth: usize, mut state: State) -> Result<bool, Error> {
        let one = &self.nest.loops[depth];
        let (name, is_reduced, variable) = (one.name.clone(), one.is_reduced, state.variables[depth]);
        let (mut begin, mut end) = state.ranges[depth];
        for guard in state.guards.clone() {
            if !self.bounds_of(&guard, depth, &state) {
                continue;
            }
            for bound in guard.bounds.iter().flatten() {
                let (first, last) = self.ends(bound, depth, &state, false)?;
                if let Some(first) = first {
                    begin = self.graph.binary(Binary::Max, begin, first)?;
                }
                if let Some(last) = last {
                    end = self.graph.binary(Binary::Min, end, last)?;
                }
            }
        }
        if (begin, end) != state.ranges[depth] {
            (begin, end) = (self.graph.simplify(begin), self.graph.simplify(end));
        }
        if self.is_empty(begin, end)? {
            return Ok(false);
        }
        let header = Header { name, variable, begin, end, is_reduced, place: depth };
        let level = self.level(Some(parent), Some(header));
        let place = self.place(variable);
        self.depths[place] = level;
        let runs = self.enter(level, depth + 1, &mut state)?;
        if !runs {
            // Whatever was in it is gone by now.
            self.all.truncate(level);
            self.depths[place] = usize::MAX;
        }
        Ok(runs)
    }

    /// Whether a loop never runs.
    fn is_empty(&mut self, begin: Expr, end: Expr) -> Result<bool, Error> {
        let ((least, most), (low, high)) = (self.graph.range(begin), self.graph.range(end));
        if most < low || high <= least {
            return Ok(high <= least);
        }
        let runs = self.graph.binary(Binary::Lt, begin, end)?;
        let runs = self.graph.simplify(runs);
        Ok(self.graph.range(runs).1 == 0)
    }

    /// The first value of a loop and the one after the last for which a bound holds; for all values of the loops inside, or for
    /// those that there are.
    fn ends(
        &mut self,
        bound: &Bound,
        depth: usize,
        state: &State,
        for_all: bool,
    ) -> Result<(Option<Expr>, Option<Expr>), Error> {
        use crate::quasi::Term;
        let own = Term::Variable(self.place(state.variables[depth]));
        let by = bound.form.coefficient(own);
        if by == 0 {
            return Ok((None, None));
        }
        let (mut outer, mut inner) = (bound.form.clone().without(own), Vec::new());
        for at in depth + 1..state.variables.len() {
            let term = Term::Variable(self.place(state.variables[at]));
            let by = outer.coefficient(term);
            if for_all && by != 0 {
                inner.push((at, by));
                outer = outer.without(term);
            }
        }
        let outer = bound.written(&mut self.graph, &outer)?;
        let (mut least, mut most) = (outer, outer);
        for (at, by) in inner {
            // The farthest that the loop inside moves the form.
            let (one, by_expr) = (self.graph.int(1), self.graph.int(by));
            let last = self.graph.binary(Binary::Sub, self.nest.loops[at].size, one)?;
            let reach = self.graph.binary(Binary::Mul, last, by_expr)?;
            let end = if by > 0 { &mut most } else { &mut least };
            *end = self.graph.binary(Binary::Add, *end, reach)?;
        }
        ends(&mut self.graph, bound, by, Beside { least, most })
    }

    /// A loop in three parts; whether any of them may run.
    fn in_parts(&mut self, level: usize, depth: usize, state: &State, accesses: &[usize]) -> Result<bool, Error> {
        let place = crate::quasi::Term::Variable(self.place(state.variables[depth]));
        // What a product hides is known of neither this loop nor those inside of it.
        let inner = &state.variables[depth..];
        let decides = |guard: &Guard| {
            let mut bounds = guard.bounds.iter().flatten();
            accesses.contains(&guard.access)
                && bounds.clone().any(|bound| bound.form.coefficient(place) != 0)
                && bounds.all(|bound| !inner.iter().any(|one| bound.hides(&self.graph, *one)))
        };
        let is_deciding: Vec<bool> = state.guards.iter().map(decides).collect();
        let deciding = state.guards.iter().zip(&is_deciding).filter(|(_, decides)| **decides);
        let deciding: Vec<&Guard> = deciding.map(|(guard, _)| guard).collect();
        let (first, last) = state.ranges[depth];
        let (mut begin, mut end) = (first, last);
        for guard in &deciding {
            for bound in guard.bounds.iter().flatten() {
                let (from, to) = self.ends(bound, depth, state, true)?;
                if let Some(from) = from {
                    begin = self.graph.binary(Binary::Max, begin, from)?;
                }
                if let Some(to) = to {
                    end = self.graph.binary(Binary::Min, end, to)?;
                }
            }
        }
        // Where no loop inside decides, and all is about one access, its guard is false outside of the interior.
        let access = deciding.first().map(|guard| guard.access);
        let is_of_outer = |guard: &Guard| self.known_in(guard.expr, state) <= depth + 1;
        let is_exact = deciding.iter().all(|guard| Some(guard.access) == access && is_of_outer(guard));
        // In order: 0 <= begin <= end <= size, whatever the bounds are.
        begin = self.graph.binary(Binary::Min, begin, last)?;
        begin = self.graph.simplify(begin);
        end = self.graph.binary(Binary::Max, end, begin)?;
        end = self.graph.simplify(end);
        let mut runs = false;
        for (from, to, is_interior) in [(first, begin, false), (begin, end, true), (end, last, false)] {
            let length = self.graph.binary(Binary::Sub, to, from)?;
            let length = self.graph.simplify(length);
            if self.graph.range(length).1 <= 0 && constant(&self.graph, length).is_some() {
                continue;
            }
            let mut part = state.clone();
            if is_interior {
                let mut decides = is_deciding.iter();
                part.guards.retain(|guard| {
                    // A guard of several bounds is known where all of them depend on the loop.
                    let all = guard.bounds.iter().flatten().all(|bound| bound.form.coefficient(place) != 0);
                    !(decides.next() == Some(&true) && all)
                });
            }
            part.ranges[depth] = (from, to);
            let mut part = self.part(depth, &part)?;
            if let (Some(access), true, false) = (access, is_exact, is_interior) {
                part.guards.retain(|guard| guard.access != access);
                let expr = self.graph.bool(false);
                part.guards.push(Guard { access, expr, bounds: None, around: depth, is_asked: false });
            }
            let never =
                |guard: &Guard| self.graph.range(guard.expr) == (0, 0) && self.clip_of(guard.access) == Some(Clip::All);
            if part.guards.iter().any(never) {
                continue;
            }
            runs |= self.inside(level, depth, part)?;
        }
        Ok(runs)
    }

    /// The nest in a part of a loop: with variables of its own from that loop on, whose ranges say which part it is.
    fn part(&mut self, depth: usize, state: &State) -> Result<State, Error> {
        let mut part = state.clone();
        let mut with = Vec::new();
        for at in depth..state.variables.len() {
            let (from, to) = state.ranges[at];
            let (low, high) = match at == depth {
                true => (self.graph.range(from).0.max(0), self.graph.range(to).1),
                false => (0, self.graph.range(to).1),
            };
            let mut name = format!("{}_{}", self.nest.loops[at].name, self.all.len());
            while self.graph.variable_named(&name).is_some() {
                name.push('_');
            }
            let variable = self.graph.variable(&name, low..high.max(low + 1))?;
            self.names.push(self.nest.loops[at].name.clone());
            self.depths.push(usize::MAX);
            with.push((state.variables[at], variable));
            part.variables[at] = variable;
        }
        part.guards.clear();
        let mut known: Vec<(Vec<Expr>, (Expr, Expr))> = Vec::new();
        for at in 0..self.nest.accesses.len() {
            let own: Vec<Expr> =
                state.guards.iter().filter(|guard| guard.access == at).map(|guard| guard.expr).collect();
            let valid = conjunction(&mut self.graph, &own)?;
            let moved = replaced(&mut self.graph, &[state.indices[at], valid], &with)?;
            let (index, valid) = match known.iter().find(|(of, _)| *of == moved) {
                Some((_, found)) => *found,
                None => self.graph.simplify_pair(moved[0], moved[1]),
            };
            known.push((moved, (index, valid)));
            part.indices[at] = index;
            part.guards.extend(self.guards(at, valid, depth)?);
        }
        for guard in &mut part.guards {
            let asked = |other: &Guard| other.is_asked && (other.access, other.expr) == (guard.access, guard.expr);
            guard.is_asked = state.guards.iter().any(asked);
        }
        for list in [&mut part.values, &mut part.origins] {
            *list = replaced(&mut self.graph, list, &with)?;
            for expr in list.iter_mut() {
                *expr = self.graph.simplify(*expr);
            }
        }
        Ok(part)
    }
}

impl Levels {
    /// The graph of all expressions of the levels. It knows the expressions of the nest, too.
    ///
    /// ```
    /// assert!(indexpr::Nest::new(indexpr::Graph::new()).levels()?.graph().variables().is_empty());
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The levels, each after the one that it stands in; the first is outside of all loops. Those that stand in one level run
    /// one after the other.
    ///
    /// ```
    /// assert_eq!(indexpr::Nest::new(indexpr::Graph::new()).levels()?.all().len(), 1);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn all(&self) -> &[Level] {
        &self.all
    }

    /// The least width that holds all that is computed.
    ///
    /// ```
    /// use indexpr::{Graph, Nest, Width};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 30)?;
    /// assert_eq!(nest.levels()?.width(), Width::Bits32);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn width(&self) -> Width {
        let computed = (0..self.all.len()).flat_map(|at| self.computed_in(at)).map(|(expr, _)| expr);
        // A body may ask for loops as they were before they were split, and for guards outside of the loops that they bound.
        let loops = self.all.iter().flat_map(|level| &level.loops).map(|known| known.expr);
        let guards = self.all.iter().filter_map(|level| level.around_reduced.as_ref()).flatten().copied();
        let all: Vec<Expr> = computed.chain(loops).chain(guards).collect();
        if bits(self.graph.value_range(&all)) > 32 { Width::Bits64 } else { Width::Bits32 }
    }

    /// What is asked of a level: expressions, and in which level their values are used.
    pub(crate) fn computed_in(&self, at: usize) -> Vec<(Expr, usize)> {
        let level = &self.all[at];
        let outside = level.parent.unwrap_or(0);
        let bounds = level.header.iter().flat_map(|header| [(header.begin, outside), (header.end, outside)]);
        let accesses = level.accesses.iter().flat_map(|one| [one.index, one.valid]);
        let values = level.values.iter().map(|value| value.expr);
        // What stands around reduced loops is computed for the lines in them. Where these never run, what depends on them is nothing.
        let is_last = !self.all.iter().any(|other| other.parent == Some(at));
        let asked = accesses.chain(values).filter(|expr| is_last && (level.is_innermost || self.is_known(*expr)));
        let inside = level.condition.into_iter().chain(asked);
        bounds.chain(inside.map(|expr| (expr, at))).collect()
    }

    /// Whether all loops that an expression depends on have levels.
    fn is_known(&self, expr: Expr) -> bool {
        let is_missing = |part: &Expr| match self.graph.node(*part) {
            Node::Variable(place) => constant(&self.graph, *part).is_none() && self.depths[place] == usize::MAX,
            _ => false,
        };
        !parts(&self.graph, &[expr]).iter().any(is_missing)
    }

    /// The same levels but for those in which no innermost one stands: of a body without lines around its reduced loops nothing is
    /// left there.
    pub(crate) fn with_bodies(mut self) -> Levels {
        let mut is_kept = vec![false; self.all.len()];
        is_kept[0] = true;
        for at in (0..self.all.len()).filter(|at| self.all[*at].is_innermost) {
            let mut level = Some(at);
            while let Some(at) = level {
                is_kept[at] = true;
                level = self.all[at].parent;
            }
        }
        let mut left = 0;
        let moved: Vec<usize> = is_kept
            .iter()
            .map(|kept| {
                left += usize::from(*kept);
                if *kept { left - 1 } else { usize::MAX }
            })
            .collect();
        let mut kept = is_kept.iter();
        self.all.retain(|_| kept.next() == Some(&true));
        for level in &mut self.all {
            level.parent = level.parent.map(|parent| moved[parent]);
        }
        for depth in &mut self.depths {
            *depth = moved.get(*depth).copied().unwrap_or(usize::MAX);
        }
        self
    }

    /// The level that knows each expression of the graph: that of the innermost loop that it depends on.
    fn depths_of(&self, parts: &[Expr]) -> Vec<usize> {
        let mut depths: Vec<usize> = Vec::with_capacity(parts.len());
        for &part in parts {
            depths.push(match self.graph.node(part) {
                _ if constant(&self.graph, part).is_some() => 0,
                Node::Variable(place) => self.depths[place],
                node => {
                    let operands = node.operands().filter_map(|operand| parts.binary_search(&operand).ok());
                    operands.map(|at| depths[at]).max().unwrap_or(0)
                }
            });
        }
        depths
    }

    /// The level that knows each of some expressions.
    pub(crate) fn levels_of(&self, exprs: &[Expr]) -> Vec<usize> {
        let parts = parts(&self.graph, exprs);
        let depths = self.depths_of(&parts);
        exprs.iter().map(|expr| parts.binary_search(expr).map_or(0, |at| depths[at])).collect()
    }

    /// Names what is used more than once, or further inside than where it is known.
    fn define(&mut self) {
        let roots: Vec<(Expr, usize)> = (0..self.all.len()).flat_map(|at| self.computed_in(at)).collect();
        let exprs: Vec<Expr> = roots.iter().map(|(expr, _)| *expr).collect();
        let parts = parts(&self.graph, &exprs);
        let depths = self.depths_of(&parts);
        let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
        let mut uses = vec![Use::default(); parts.len()];
        for (expr, level) in roots {
            let at = place(expr);
            uses[at].count += 1;
            uses[at].hoisted |= depths[at] < level;
        }
        let operands = |at: usize| {
            let is_constant = constant(&self.graph, parts[at]).is_some();
            self.graph.node(parts[at]).operands().filter(move |_| !is_constant).map(place)
        };
        for at in (0..parts.len()).rev().filter(|at| uses[*at].count > 0).collect::<Vec<usize>>() {
            for operand in operands(at).collect::<Vec<usize>>() {
                uses[operand].count += 1;
                uses[operand].hoisted |= depths[operand] < depths[at];
            }
        }
        let mut named = lines::named(&uses, usize::MAX, operands, |_| false);
        named.sort_by_key(|at| depths[*at]);
        let taken: Vec<&str> = self.names.iter().map(|name| &name[..]).collect();
        let names: Vec<String> = lines::fresh(&taken, |n| format!("t{n}")).take(named.len()).collect();
        for (at, name) in named.into_iter().zip(names) {
            self.all[depths[at]].definitions.push(Definition { name, expr: parts[at] });
        }
    }
}
