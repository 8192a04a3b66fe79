//! The levels of random nests, walked: each element is met exactly once, with the address and the guard that it has.

use indexpr::{Expr, Level, Levels, Node};
use shapetracker_testing::{Rng, numbers};

use crate::random::{self, Plain};

/// Runs the levels of a nest: what is in an innermost one is told the values of all variables, each time.
pub(crate) fn walk(levels: &Levels, at: usize, values: &mut Vec<i64>, element: &mut impl FnMut(&Level, &[i64])) {
    walk_through(levels, at, values, &mut |level, is_after, values| {
        if level.is_innermost && !is_after {
            element(level, values);
        }
    });
}

/// The same for every level, each time before what stands in it, if its condition holds, and after that, whether it holds or not.
pub(crate) fn walk_through(
    levels: &Levels,
    at: usize,
    values: &mut Vec<i64>,
    lines: &mut impl FnMut(&Level, bool, &[i64]),
) {
    let value = |expr: Expr, values: &[i64]| levels.graph().evaluate(expr, values).unwrap();
    let level = &levels.all()[at];
    let (mut variable, mut range) = (None, 0..1);
    if let Some(header) = &level.header {
        let Node::Variable(place) = levels.graph().node(header.variable) else { panic!() };
        (variable, range) = (Some(place), value(header.begin, values)..value(header.end, values));
    }
    for index in range {
        let before = variable.map(|place| std::mem::replace(&mut values[place], index));
        // What is computed here is known here: it is what it is whatever the loops inside do.
        for definition in &level.definitions {
            value(definition.expr, values);
        }
        if level.condition.is_none_or(|condition| value(condition, values) == 1) {
            lines(level, false, values);
            for inner in (at + 1..levels.all().len()).filter(|inner| levels.all()[*inner].parent == Some(at)) {
                walk_through(levels, inner, values, lines);
            }
        }
        lines(level, true, values);
        if let Some((place, before)) = variable.zip(before) {
            values[place] = before;
        }
    }
}

/// The values of all variables at the beginning: those of the parameters, and any of the others.
pub(crate) fn values(levels: &Levels, parameters: &[i64]) -> Vec<i64> {
    let others = levels.graph().variables()[parameters.len()..].iter().map(|variable| variable.range.start);
    parameters.iter().copied().chain(others).collect()
}

/// The value of a loop of the nest, whether it was split or not.
pub(crate) fn of_loop(levels: &Levels, level: &Level, name: &str, values: &[i64]) -> i64 {
    let known = level.loops.iter().find(|known| known.name == *name).unwrap();
    levels.graph().evaluate(known.expr, values).unwrap()
}

/// Checks the accesses at an element, and gives its place.
fn element(levels: &Levels, plain: &Plain, level: &Level, values: &[i64]) -> Vec<i64> {
    let value = |expr: Expr| levels.graph().evaluate(expr, values).unwrap();
    let loops = plain.sizes.len();
    let mut point: Vec<i64> = plain.names[..loops].iter().map(|name| of_loop(levels, level, name, values)).collect();
    point.extend(&values[..plain.parameters.len()]);
    for (access, plain) in level.accesses.iter().zip(&plain.accesses) {
        let holds = plain.holds(&point);
        if holds {
            assert_eq!(value(access.index), plain.index.value(&point), "{point:?} {plain:?}");
        }
        let expected = holds || plain.clipped;
        assert_eq!(value(access.valid), i64::from(expected), "{point:?} {plain:?}");
    }
    point
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
    let (mut parts, mut conditions, mut left_out, mut shortened, mut elements) = (0, 0, 0, 0, 0);
    for case in numbers(1_600) {
        let mut rng = Rng(0x7e57_0000 + case);
        let (plain, nest) = random::nest(&mut rng);
        let levels = nest.levels().unwrap();
        let headers = levels.all().iter().filter_map(|level| level.header.as_ref());
        parts += usize::from(headers.clone().count() > nest.loops().len());
        conditions += levels.all().iter().filter(|level| level.condition.is_some()).count();
        // Of conditions that never hold nothing is left.
        left_out += usize::from(!levels.all().iter().any(|level| level.is_innermost));
        let is_shortened = |header: &&indexpr::Header| {
            let of = |expr| levels.graph().range(expr);
            of(header.begin) != (0, 0) || of(header.end) != of(nest.loops()[header.place].size)
        };
        shortened += headers.clone().filter(is_shortened).count();
        for parameters in random::parameters(&mut rng, &plain) {
            let mut met = Vec::new();
            walk(&levels, 0, &mut values(&levels, &parameters), &mut |level, values| {
                met.push(element(&levels, &plain, level, values));
            });
            met.sort_unstable();
            assert_eq!(met, plain.points(&parameters), "{case} {}", shown(&plain, &nest));
            elements += met.len();
        }
    }
    let held = shapetracker_testing::held(1_600) as usize;
    // Parts that never run are no levels.
    let found = (parts > held / 25, conditions + left_out > held / 4, shortened > held / 4);
    assert!(held < 80 || found == (true, true, true), "{parts} {conditions} {left_out} {shortened}");
    assert!(elements > 0 || parts == 0);
}
