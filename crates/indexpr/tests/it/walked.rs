//! The levels of random nests, walked: each element is met exactly once, with the address and the guard that it has.

use indexpr::{Expr, Levels, Node};
use shapetracker_testing::{Rng, numbers};

use crate::random::{self, Plain};

/// Walks the levels of a nest for some values of the parameters.
struct Walk<'a> {
    levels: &'a Levels,
    plain: &'a Plain,
    /// A value of each variable of the graph.
    values: Vec<i64>,
    met: Vec<Vec<i64>>,
}

impl Walk<'_> {
    fn value(&self, expr: Expr) -> i64 {
        self.levels.graph().evaluate(expr, &self.values).unwrap()
    }

    fn level(&mut self, at: usize) {
        let level = &self.levels.all()[at];
        let Some(header) = &level.header else { return self.inside(at) };
        let Node::Variable(variable) = self.levels.graph().node(header.variable) else { panic!() };
        let (begin, end) = (self.value(header.begin), self.value(header.end));
        for at_loop in begin..end {
            let before = std::mem::replace(&mut self.values[variable], at_loop);
            self.inside(at);
            self.values[variable] = before;
        }
    }

    fn inside(&mut self, at: usize) {
        let level = &self.levels.all()[at];
        // What is computed here is known here: it is what it is whatever the loops inside do.
        for definition in &level.definitions {
            self.value(definition.expr);
        }
        if level.condition.is_some_and(|condition| self.value(condition) == 0) {
            return;
        }
        if level.is_innermost {
            self.element(at);
        }
        let inner = (0..self.levels.all().len()).filter(|inner| self.levels.all()[*inner].parent == Some(at));
        inner.collect::<Vec<usize>>().into_iter().for_each(|inner| self.level(inner));
    }

    fn element(&mut self, at: usize) {
        let level = &self.levels.all()[at];
        let loops = self.plain.sizes.len();
        let mut point = Vec::new();
        for name in &self.plain.names[..loops] {
            let known = level.loops.iter().find(|known| known.name == *name).unwrap();
            point.push(self.value(known.expr));
        }
        point.extend(&self.values[..self.plain.parameters.len()]);
        for (access, plain) in level.accesses.iter().zip(&self.plain.accesses) {
            let holds = plain.holds(&point);
            if holds {
                assert_eq!(self.value(access.index), plain.index.value(&point), "{point:?} {:?}", self.plain);
            }
            let expected = holds || plain.clipped;
            assert_eq!(self.value(access.valid), i64::from(expected), "{point:?} {:?}", self.plain);
        }
        self.met.push(point);
    }
}

/// A nest and its code, for messages.
fn shown(plain: &Plain, nest: &indexpr::Nest) -> String {
    let body: String = (0..plain.accesses.len()).map(|at| format!("a({{a{at}}}, {{a{at}?}}); ")).collect();
    let code = nest.code(indexpr::Language::C, &indexpr::Body::new(body));
    let clips = (plain.accesses.iter().enumerate()).map(|(at, access)| (at, access.clipped, &access.guard));
    format!("{:?} {:?}\n{}", plain.sizes, clips.collect::<Vec<_>>(), code.unwrap_or_else(|error| error.to_string()))
}

#[test]
fn each_element_is_met_exactly_once() {
    let (mut parts, mut conditions, mut shortened, mut elements) = (0, 0, 0, 0);
    for case in numbers(2_400) {
        let mut rng = Rng(0x7e57_0000 + case);
        let (plain, nest) = random::nest(&mut rng);
        let levels = nest.levels().unwrap();
        let headers = levels.all().iter().filter_map(|level| level.header.as_ref());
        parts += usize::from(headers.clone().count() > nest.loops().len());
        conditions += levels.all().iter().filter(|level| level.condition.is_some()).count();
        let is_shortened = |header: &&indexpr::Header| {
            let of = |expr| levels.graph().range(expr);
            of(header.begin) != (0, 0) || of(header.end) != of(nest.loops()[header.place].size)
        };
        shortened += headers.clone().filter(is_shortened).count();
        for parameters in random::parameters(&mut rng, &plain) {
            let ranges = levels.graph().variables().iter().map(|variable| variable.range.start);
            let mut values: Vec<i64> = ranges.collect();
            values[..parameters.len()].copy_from_slice(&parameters);
            let mut walk = Walk { levels: &levels, plain: &plain, values, met: Vec::new() };
            walk.level(0);
            let mut met = walk.met;
            met.sort_unstable();
            assert_eq!(met, plain.points(&parameters), "{case} {}", shown(&plain, &nest));
            elements += met.len();
        }
    }
    if shapetracker_testing::are_all_held() {
        let found = (parts > 200, conditions > 800, shortened > 900);
        assert_eq!(found, (true, true, true), "{parts} {conditions} {shortened}");
    }
    assert!(elements > 0 || parts == 0);
}
