//! What index expressions over names cost, beside those of the integers at values of the names.

use std::sync::Arc;
use std::time::{Duration, Instant};

use indexpr::{Binary, Expr, Graph, IndexExpr, Node, Syntax};
use shapetracker_symbolic::{Name, Question, Scope, ShapeTracker};
use shapetracker_testing::{Rng, held, is_entry_held, judges_sums, numbers};

use crate::random::{Names, names, tracker};

/// Distinct operations that depend on a loop, and the divisions among them that are not by a power of two.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cost {
    ops: usize,
    divmods: usize,
}

impl std::ops::AddAssign for Cost {
    fn add_assign(&mut self, other: Cost) {
        (self.ops, self.divmods) = (self.ops + other.ops, self.divmods + other.divmods);
    }
}

fn operands(node: Node) -> Vec<Expr> {
    match node {
        Node::Not(a) | Node::Within(a, ..) => vec![a],
        Node::Select(condition, a, b) => vec![condition, a, b],
        Node::Binary(_, a, b) => vec![a, b],
        _ => Vec::new(),
    }
}

/// What an index costs in its loops: all that is the same for every element is computed before them.
fn cost(code: &IndexExpr) -> Cost {
    let graph = code.graph();
    let loops = code.extents().len();
    let (mut cost, mut in_loops) = (Cost::default(), Vec::new());
    // Operands come before what is made of them.
    for part in graph.parts(&[code.index(), code.valid()]) {
        let node = graph.node(part);
        let is_loop = matches!(node, Node::Variable(place) if place < loops);
        let operands = operands(node);
        if is_loop || operands.iter().any(|operand| in_loops.contains(operand)) {
            in_loops.push(part);
            cost.ops += match node {
                Node::Variable(_) => 0,
                Node::Within(..) => 2,
                _ => 1,
            };
            if let Node::Binary(Binary::Div | Binary::Mod, _, divisor) = node {
                cost.divmods += usize::from(!is_shift(graph, divisor));
            }
        }
    }
    cost
}

fn is_shift(graph: &Graph, divisor: Expr) -> bool {
    matches!(graph.node(divisor), Node::Int(number) if number.count_ones() == 1)
}

fn text(code: &IndexExpr) -> String {
    let text = |expr| code.graph().text(expr, Syntax::Python).expect("short");
    format!("{} if {}", text(code.index()), text(code.valid()))
}

/// Holds the values of an expression against the addresses at values of the names of its tracker's scope, and all values on the
/// way against the ranges that the graph tells of them, whether there is an address or not.
fn check(tracker: &ShapeTracker, code: &IndexExpr, point: &[i128]) -> usize {
    let at = tracker.at_point(point).expect("values that the tracker allows");
    let names = tracker.scope().names();
    let place = |name: &str| names.iter().position(|known| &*known.name == name).expect("a name of the scope");
    let value = |name: &str| i64::try_from(point[place(name)]).expect("small");
    let said = || format!("{tracker:?} at {point:?}: {}", text(code));
    let count = at.numel() as usize;
    let mut columns: Vec<Vec<i64>> = vec![Vec::with_capacity(count); at.rank()];
    for position in 0..count {
        let index = shapetracker::unravel_index(position as i64, at.shape()).expect("an index");
        columns.iter_mut().zip(index).for_each(|(column, index)| column.push(index));
    }
    columns.extend(code.parameters().iter().map(|parameter| vec![value(&parameter.name); count]));
    let graph = code.graph();
    let mut parts = graph.parts(&[code.index(), code.valid()]);
    parts.extend([code.index(), code.valid()]);
    let mut values = match &columns[..] {
        // A scalar of no name.
        [] => parts.iter().map(|part| vec![graph.evaluate(*part, &[]).expect("a value")]).collect(),
        columns => {
            let columns: Vec<&[i64]> = columns.iter().map(|column| &column[..]).collect();
            graph.evaluate_columns(&parts, &columns).unwrap_or_else(|err| panic!("{err}: {}", said()))
        }
    };
    for (part, values) in parts.iter().zip(&values) {
        let range = graph.range(*part);
        assert!(values.iter().all(|value| (range.0..=range.1).contains(value)), "{range:?}: {}", said());
    }
    let (valid, address) = (values.pop().expect("a condition"), values.pop().expect("an address"));
    for (position, expected) in at.addresses().enumerate() {
        let found = (valid[position] != 0).then(|| address[position]);
        assert_eq!(found, expected, "element {position} of {}", said());
    }
    count
}

/// A chain of the corpus, with further ends of its names.
fn of_chain(chain: &str, known: &str) -> ShapeTracker {
    let mut question = Question::new([known]).expect("ends that are read");
    let chain = question.chain(chain).expect("a chain that is read");
    let scope = Arc::new(question.scope().expect("conditions that hold"));
    chain.tracker(&scope).expect("operations that fit")
}

/// The chains, each with its document.
fn chains() -> impl Iterator<Item = (String, serde_json::Value)> {
    include_str!("../corpus/symbolic-index.jsonl").lines().map(|line| {
        let line: serde_json::Value = serde_json::from_str(line).expect("a document");
        (line["chain"].as_str().expect("a chain").to_owned(), line)
    })
}

/// The values of names at which a chain is checked.
fn values_of(line: &serde_json::Value, names: &[Name]) -> Vec<Vec<i128>> {
    let point = |values: &serde_json::Value| {
        let value = |name: &Name| i128::from(values[&*name.name].as_i64().expect("a value"));
        names.iter().map(value).collect()
    };
    line["values"].as_array().expect("a list").iter().map(point).collect()
}

#[test]
fn chains_whose_elements_are_counted_in_32_bits_need_no_more() {
    for (_, (chain, line)) in chains().enumerate().filter(|(number, _)| is_entry_held(*number)) {
        let names = of_chain(&chain, "").scope().names().to_vec();
        // The greatest ends with which elements and addresses are so many.
        let with = |end: i64| {
            let known: Vec<String> = names.iter().map(|name| format!("{}=1..{}", name.name, end + 1)).collect();
            let tracker = of_chain(&chain, &known.join(", "));
            let most = tracker.at_point(&vec![end.into(); names.len()]).ok()?;
            let addresses = most.address_range().ok()?.map_or(0, |range| range.1);
            (most.numel().max(addresses) < 1 << 31).then(|| {
                let code = tracker.index_expr().expect("it fits");
                (tracker, code)
            })
        };
        let (mut end, mut step) = (1, 1 << 20);
        while step > 0 {
            end += if with(end + step).is_some() { step } else { 0 };
            step /= 2;
        }
        let (tracker, code) = with(end).expect("it was found");
        for point in values_of(&line, &names).iter().filter(|point| point.iter().all(|value| *value <= end.into())) {
            check(&tracker, &code, point);
        }
        let range = code.graph().value_range(&[code.index(), code.valid()]);
        println!("{chain}: {end} {range:?}");
        let is_narrow = i32::try_from(range.0).is_ok() && i32::try_from(range.1).is_ok();
        assert!(is_narrow, "{chain} with names to {end}: {range:?}\n{}", text(&code));
    }
}

#[test]
fn chains_of_real_models_are_as_cheap_as_with_numbers() {
    let (mut of_names, mut of_integers, mut recorded) = (Cost::default(), Cost::default(), Cost::default());
    let (mut time, mut count, mut elements) = (Duration::ZERO, 0, 0);
    let mut dearer = Vec::new();
    let held = |number: &usize| judges_sums() || is_entry_held(*number);
    for (_, (chain, line)) in chains().enumerate().filter(|(number, _)| held(number)) {
        let (name, tracker) = (line["name"].as_str().expect("a name"), of_chain(&chain, ""));
        let code = tracker.index_expr().expect("it fits");
        time += (0..5).map(|_| timed(&tracker)).min().expect("some");
        let points = values_of(&line, tracker.scope().names());
        elements += points.iter().map(|point| check(&tracker, &code, point)).sum::<usize>();
        let integers = tracker.at_point(&points[0]).expect("values that are allowed").index_expr().expect("it fits");
        let (here, there) = (cost(&code), cost(&integers));
        let number = |key: &str| line["integer_cost"][key].as_u64().expect("a number") as usize;
        let known = Cost { ops: number("ops"), divmods: number("divmods") };
        println!("{name}: {here:?}, integers {there:?} of {known:?}\n    {}\n    {}", text(&code), text(&integers));
        assert!(there.ops <= known.ops && there.divmods <= known.divmods, "{name}: {there:?} was {known:?}");
        if here.divmods > there.divmods {
            dearer.push(name.to_owned());
        }
        of_names += here;
        of_integers += there;
        recorded += known;
        count += 1;
    }
    println!(
        "{of_names:?}, integers {of_integers:?} of {recorded:?}; {elements} elements; {:.1?} each",
        time / count.max(1)
    );
    assert!(dearer.is_empty(), "more divisions than with numbers: {dearer:?}");
    let is_cheap = 10 * of_names.ops <= 11 * recorded.ops && of_names.divmods <= recorded.divmods;
    assert!(is_cheap || !judges_sums(), "{of_names:?}");
}

fn timed(tracker: &ShapeTracker) -> Duration {
    let start = Instant::now();
    std::hint::black_box(tracker.index_expr()).expect("it fits");
    start.elapsed()
}

/// The same names, of which those without an end have one.
fn with_ends(names: &Names, end: i128) -> Names {
    let mut scope = Scope::new();
    for Name { name, lo, hi } in names.scope.names() {
        scope.declare(name, *lo, hi.or(Some(end))).expect("a new name");
    }
    Names { scope: Arc::new(scope), values: names.values.clone() }
}

/// Values of the names at which nothing is equal by chance: of some that a tracker allows those at which the integers cost most,
/// with that cost.
fn generic(rng: &mut Rng, names: &Names, tracker: &ShapeTracker) -> Option<(Cost, Vec<i128>)> {
    const PRIMES: [i128; 8] = [5, 7, 11, 13, 17, 19, 23, 29];
    const TRIES: usize = 64;
    const ENOUGH: usize = 8;
    let mut found: Vec<(Cost, Vec<i128>)> = Vec::new();
    for _ in 0..TRIES {
        let value = |name: &Name| match (name.lo, name.hi) {
            (Some(lo), Some(hi)) => lo + rng.index((hi - lo + 1) as usize) as i128,
            _ => *rng.pick(&PRIMES),
        };
        let point: Vec<i128> = names.scope.names().iter().map(value).collect();
        if let Ok(at) = tracker.at_point(&point)
            && (1..4000).contains(&at.numel())
        {
            found.push((cost(&at.index_expr().expect("it fits")), point));
        }
        if found.len() == ENOUGH {
            break;
        }
    }
    found.into_iter().max_by_key(|(cost, _)| (cost.divmods, cost.ops))
}

#[test]
fn random_trackers_are_as_cheap_as_with_numbers() {
    let (mut of_names, mut of_integers) = (Cost::default(), Cost::default());
    let (mut count, mut elements, mut time, mut bounded, mut narrow, mut refused) = (0_u32, 0, Duration::ZERO, 0, 0, 0);
    let mut worst: Vec<(isize, String)> = Vec::new();
    for seed in numbers(2_000) {
        let rng = &mut Rng(7 << 40 | seed);
        let names = names(rng);
        let before = rng.0;
        let tracker = tracker(rng, &names);
        let Some((there, point)) = generic(rng, &names, &tracker) else { continue };
        let code = tracker.index_expr().unwrap_or_else(|err| panic!("{tracker:?}: {err}"));
        time += timed(&tracker);
        // Where all names have ends it is written in other ways.
        for end in [30, 2000] {
            let tracker = crate::random::tracker(&mut Rng(before), &with_ends(&names, end));
            let Ok(at) = tracker.at_point(&point) else { continue };
            let code = match tracker.index_expr() {
                Err(err) if err.kind() == shapetracker::ErrorKind::Overflow => {
                    refused += 1;
                    continue;
                }
                code => code.unwrap_or_else(|err| panic!("{tracker:?}: {err}")),
            };
            let range = code.graph().value_range(&[code.index(), code.valid()]);
            narrow += usize::from(i32::try_from(range.0).is_ok() && i32::try_from(range.1).is_ok());
            bounded += 1;
            if at.numel() < 4000 {
                check(&tracker, &code, &point);
            }
        }
        let integers = tracker.at_point(&point).expect("it was allowed").index_expr().expect("it fits");
        elements += check(&tracker, &code, &point);
        let here = cost(&code);
        of_names += here;
        of_integers += there;
        count += 1;
        let more = (here.ops + 5 * here.divmods) as isize - (there.ops + 5 * there.divmods) as isize;
        worst.push((
            more,
            format!("{here:?} {there:?} {tracker:?} at {point:?}\n    {}\n    {}", text(&code), text(&integers)),
        ));
    }
    worst.sort_by_key(|worst| -worst.0);
    for (more, text) in worst.iter().take(std::env::var("WORST").map_or(0, |n| n.parse().unwrap_or(0))) {
        println!("{more}: {text}");
    }
    println!(
        "{count} trackers, {elements} elements: {of_names:?}, integers {of_integers:?}; {:.1?} each",
        time / count
    );
    println!("{narrow} of {bounded} with ends need 32 bits, and {refused} more than 64");
    assert!(refused <= bounded / 1000 + 1, "{refused} are refused");
    // A few trackers may be dearer than many of them are together.
    if held(2_000) >= 1_000 {
        assert!(100 * of_names.ops <= 115 * of_integers.ops, "{of_names:?}, integers {of_integers:?}");
        assert!(100 * of_names.divmods <= 105 * of_integers.divmods, "{of_names:?}, integers {of_integers:?}");
    }
}
