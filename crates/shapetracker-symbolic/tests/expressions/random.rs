//! Random expressions with names, evaluated before and after: the values are computed here, by a recursion over the tree and
//! one over the nodes.

use std::collections::HashMap;

use indexpr::{Binary, Expr, Graph, Node, Syntax};
use shapetracker_symbolic::{Expression, Question};
use shapetracker_testing::{Rng, numbers};

/// The values of the names.
type Point = HashMap<&'static str, i128>;

/// What is said of some names, and how values are drawn that meet it.
struct Item {
    known: &'static str,
    names: &'static [&'static str],
    draw: fn(&mut Rng, &mut Point),
}

/// Those of names that may be divided by.
const DIVISORS: &[&str] = &["d", "e", "T", "Z", "H", "K", "N", "m"];

fn put(point: &mut Point, name: &'static str, value: i128) {
    point.insert(name, value);
}

fn between(rng: &mut Rng, low: i128, high: i128) -> i128 {
    low + i128::from(rng.below((high - low + 1) as u64))
}

const ITEMS: &[Item] = &[
    Item { known: "d=1..", names: &["d"], draw: |rng, at| put(at, "d", between(rng, 1, 9)) },
    Item { known: "e=2..9", names: &["e"], draw: |rng, at| put(at, "e", between(rng, 2, 8)) },
    Item { known: "m=..-1", names: &["m"], draw: |rng, at| put(at, "m", between(rng, -9, -2)) },
    Item { known: "x=..", names: &["x"], draw: |rng, at| put(at, "x", between(rng, -60, 60)) },
    Item { known: "y=0..", names: &["y"], draw: |rng, at| put(at, "y", between(rng, 0, 90)) },
    Item { known: "c=-5..9", names: &["c"], draw: |rng, at| put(at, "c", between(rng, -5, 8)) },
    Item {
        known: "T=1.., t=0..T",
        names: &["T", "t"],
        draw: |rng, at| {
            let size = between(rng, 1, 9);
            put(at, "T", size);
            put(at, "t", between(rng, 0, size - 1));
        },
    },
    Item {
        known: "z=0..Z",
        names: &["Z", "z"],
        draw: |rng, at| {
            let size = between(rng, 1, 12);
            put(at, "Z", size);
            put(at, "z", between(rng, 0, size - 1));
        },
    },
    Item {
        known: "H=8*h, h=1..",
        names: &["H", "h"],
        draw: |rng, at| {
            let h = between(rng, 1, 4);
            put(at, "h", h);
            put(at, "H", 8 * h);
        },
    },
    Item {
        known: "K=k*g, k=1.., g=1..5, j=0..g",
        names: &["K", "k", "g", "j"],
        draw: |rng, at| {
            let (k, g) = (between(rng, 1, 5), between(rng, 1, 4));
            put(at, "k", k);
            put(at, "g", g);
            put(at, "K", k * g);
            put(at, "j", between(rng, 0, g - 1));
        },
    },
    Item { known: "p=0.., p % 2 == 0", names: &["p"], draw: |rng, at| put(at, "p", 2 * between(rng, 0, 20)) },
    Item { known: "r=.., r % 3 == 1", names: &["r"], draw: |rng, at| put(at, "r", 3 * between(rng, -9, 9) + 1) },
    Item {
        known: "s=0.., L=1.., N=1.., s + L <= N, i=0..L",
        names: &["s", "L", "N", "i"],
        draw: |rng, at| {
            let (s, l) = (between(rng, 0, 6), between(rng, 1, 6));
            put(at, "s", s);
            put(at, "L", l);
            put(at, "N", s + l + between(rng, 0, 5));
            put(at, "i", between(rng, 0, l - 1));
        },
    },
    Item {
        known: "u=.., v=.., u - v == 3",
        names: &["u", "v"],
        draw: |rng, at| {
            let v = between(rng, -20, 20);
            put(at, "v", v);
            put(at, "u", v + 3);
        },
    },
];

/// An expression as a tree.
#[derive(Clone, Debug)]
enum Tree {
    Number(i128),
    Name(&'static str),
    Binary(&'static str, Box<Tree>, Box<Tree>),
    Not(Box<Tree>),
    /// The second where the first holds.
    Choice(Box<Tree>, Box<Tree>, Box<Tree>),
}

fn binary(op: &'static str, a: Tree, b: Tree) -> Tree {
    Tree::Binary(op, Box::new(a), Box::new(b))
}

fn text(tree: &Tree) -> String {
    match tree {
        Tree::Number(value) => value.to_string(),
        Tree::Name(name) => (*name).into(),
        Tree::Binary(op @ ("min" | "max"), a, b) => format!("{op}({}, {})", text(a), text(b)),
        Tree::Binary(op, a, b) => format!("({} {op} {})", text(a), text(b)),
        Tree::Not(a) => format!("(not {})", text(a)),
        Tree::Choice(c, a, b) => format!("({} if {} else {})", text(a), text(c), text(b)),
    }
}

/// The text in C, whose `/` and `%` round towards zero.
fn text_of_c(tree: &Tree) -> String {
    match tree {
        Tree::Binary(op @ ("min" | "max"), a, b) => format!("{op}({}, {})", text_of_c(a), text_of_c(b)),
        Tree::Binary(op, a, b) => {
            let op = match *op {
                "//" => "/",
                "and" => "&&",
                "or" => "||",
                op => op,
            };
            format!("({} {op} {})", text_of_c(a), text_of_c(b))
        }
        Tree::Not(a) => format!("(!{})", text_of_c(a)),
        Tree::Choice(c, a, b) => format!("({} ? {} : {})", text_of_c(c), text_of_c(a), text_of_c(b)),
        leaf => text(leaf),
    }
}

/// The value in C.
fn value_in_c(tree: &Tree, at: &Point) -> i128 {
    match tree {
        Tree::Binary("//", a, b) => value_in_c(a, at) / value_in_c(b, at),
        Tree::Binary("%", a, b) => value_in_c(a, at) % value_in_c(b, at),
        Tree::Binary(op, a, b) => operate(op, value_in_c(a, at), value_in_c(b, at)),
        Tree::Not(a) => 1 - value_in_c(a, at),
        Tree::Choice(c, a, b) => value_in_c(if value_in_c(c, at) == 1 { a } else { b }, at),
        leaf => value(leaf, at),
    }
}

fn floor(a: i128, b: i128) -> i128 {
    let quotient = a / b;
    if a % b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }
}

fn operate(op: &str, a: i128, b: i128) -> i128 {
    match op {
        "+" => a + b,
        "-" => a - b,
        "*" => a * b,
        "//" => floor(a, b),
        "%" => a - b * floor(a, b),
        "min" => a.min(b),
        "max" => a.max(b),
        "^" => a ^ b,
        "<" => (a < b).into(),
        "<=" => (a <= b).into(),
        ">" => (a > b).into(),
        ">=" => (a >= b).into(),
        "==" => (a == b).into(),
        "!=" => (a != b).into(),
        "and" => a & b,
        "or" => a | b,
        _ => unreachable!("{op}"),
    }
}

fn value(tree: &Tree, at: &Point) -> i128 {
    match tree {
        Tree::Number(value) => *value,
        Tree::Name(name) => at[name],
        Tree::Binary(op, a, b) => operate(op, value(a, at), value(b, at)),
        Tree::Not(a) => 1 - value(a, at),
        Tree::Choice(c, a, b) => value(if value(c, at) == 1 { a } else { b }, at),
    }
}

/// The value of what was found, node by node.
fn value_of(graph: &Graph, root: Expr, at: &Point) -> i128 {
    let mut known: HashMap<Expr, i128> = HashMap::new();
    for part in graph.parts(&[root]) {
        let of = |operand: Expr| known[&operand];
        let value = match graph.node(part) {
            Node::Int(value) => value.into(),
            Node::Bool(value) => value.into(),
            Node::Variable(place) => at[&*graph.variables()[place].name],
            Node::Binary(Binary::Div | Binary::Mod, _, b) if of(b) == 0 => panic!("a division by 0"),
            Node::Binary(op, a, b) => operate(op.name(), of(a), of(b)),
            Node::Within(a, begin, end) => (i128::from(begin) <= of(a) && of(a) < i128::from(end)).into(),
            Node::Not(a) => 1 - of(a),
            Node::Select(c, a, b) => of(if of(c) == 1 { a } else { b }),
            other => unreachable!("{other:?}"),
        };
        known.insert(part, value);
    }
    known[&root]
}

struct Maker<'r> {
    rng: &'r mut Rng,
    names: Vec<&'static str>,
    divisors: Vec<&'static str>,
}

impl Maker<'_> {
    fn leaf(&mut self) -> Tree {
        if self.rng.one_in(5) {
            Tree::Number(between(self.rng, -9, 17))
        } else {
            Tree::Name(self.rng.pick::<&'static str>(&self.names))
        }
    }

    /// What is never 0.
    fn divisor(&mut self) -> Tree {
        if self.divisors.is_empty() || self.rng.one_in(3) {
            let number = [2, 3, 4, 5, 6, 8, 12, 32, -3, -4][self.rng.index(10)];
            return Tree::Number(number);
        }
        let name = Tree::Name(self.rng.pick::<&'static str>(&self.divisors));
        match self.rng.below(5) {
            0 => binary("*", name, Tree::Name(self.rng.pick::<&'static str>(&self.divisors))),
            1 => binary("*", Tree::Number(between(self.rng, 2, 8)), name),
            _ => name,
        }
    }

    fn number(&mut self, depth: u32) -> Tree {
        if depth == 0 {
            return self.leaf();
        }
        match self.rng.below(16) {
            0..=3 => binary(["+", "-"][self.rng.index(2)], self.number(depth - 1), self.number(depth - 1)),
            4 => binary("*", self.number(depth - 1), self.leaf()),
            // What is divided is a multiple and a rest, as addresses are.
            5..=8 => {
                let divisor = self.divisor();
                let factor = if self.rng.one_in(3) { self.divisor() } else { divisor.clone() };
                let multiple = binary("*", self.number(depth - 1), factor);
                let rest = self.number(depth - 1);
                let whole = binary(["+", "-"][usize::from(self.rng.one_in(4))], multiple, rest);
                binary(["//", "%"][self.rng.index(2)], whole, divisor)
            }
            9..=11 => {
                let divisor = self.divisor();
                binary(["//", "%"][self.rng.index(2)], self.number(depth - 1), divisor)
            }
            12 | 13 => binary(["min", "max"][self.rng.index(2)], self.number(depth - 1), self.number(depth - 1)),
            14 => {
                let condition = self.condition(depth - 1);
                Tree::Choice(Box::new(condition), Box::new(self.number(depth - 1)), Box::new(self.number(depth - 1)))
            }
            _ => self.leaf(),
        }
    }

    fn condition(&mut self, depth: u32) -> Tree {
        match self.rng.below(8) {
            0 if depth > 0 => binary("and", self.condition(depth - 1), self.condition(depth - 1)),
            1 if depth > 0 => binary("or", self.condition(depth - 1), self.condition(depth - 1)),
            2 if depth > 0 => Tree::Not(Box::new(self.condition(depth - 1))),
            _ => {
                let op = *self.rng.pick(&["<", "<=", ">", ">=", "==", "!="]);
                binary(op, self.number(depth), self.number(depth))
            }
        }
    }
}

/// What is said of names, an expression, and points.
fn case(rng: &mut Rng) -> (String, Tree, Vec<Point>) {
    let mut items: Vec<&Item> = Vec::new();
    for _ in 0..2 + rng.below(4) {
        let item = rng.pick(ITEMS);
        if !items.iter().any(|known| known.known == item.known) {
            items.push(item);
        }
    }
    let known = items.iter().map(|item| item.known).collect::<Vec<_>>().join(", ");
    let names: Vec<&'static str> = items.iter().flat_map(|item| item.names).copied().collect();
    let divisors = names.iter().filter(|name| DIVISORS.contains(name)).copied().collect();
    let depth = 1 + rng.below(3) as u32;
    let is_condition = rng.one_in(4);
    let mut maker = Maker { rng, names, divisors };
    let tree = if is_condition { maker.condition(depth) } else { maker.number(depth) };
    let points = (0..24).map(|_| {
        let mut point = Point::new();
        items.iter().for_each(|item| (item.draw)(rng, &mut point));
        point
    });
    let points = points.collect();
    (known, tree, points)
}

fn read(known: &str, text: &str, syntax: Syntax) -> Option<Expression> {
    Question::new([known]).ok()?.expression(text, syntax).ok()
}

#[test]
fn values_stay_and_nothing_becomes_dearer() {
    let (mut cases, mut points_tried, mut cheaper, mut unread) = (0, 0, 0, 0);
    let (mut before_all, mut after_all) = ([0; 3], [0; 3]);
    for seed in numbers(4_000) {
        let rng = &mut Rng(1 << 41 | seed);
        let (known, tree, points) = case(rng);
        let written = text(&tree);
        let Some(expression) = read(&known, &written, Syntax::Python) else {
            // Products that leave 64 bits, however small the names are.
            unread += 1;
            continue;
        };
        cases += 1;
        let simple = expression.simplify();
        let found = simple.text(Syntax::Python).expect("short");
        let (before, after) = (expression.cost(), simple.cost());
        let context = || format!("seed {seed}: {written} where {known} became {found}");
        assert!(
            after.ops <= before.ops && after.divmods <= before.divmods && after.weight <= before.weight,
            "{}",
            context()
        );
        cheaper += usize::from(after != before);
        for (sum, cost) in [(&mut before_all, before), (&mut after_all, after)] {
            sum[0] += cost.ops;
            sum[1] += cost.divmods;
            sum[2] += cost.weight;
        }
        for point in &points {
            let expected = value(&tree, point);
            assert_eq!(value_of(simple.graph(), simple.value(), point), expected, "{} at {point:?}", context());
            points_tried += 1;
        }
        assert_eq!(simple.simplify().text(Syntax::Python).expect("short"), found, "again: {}", context());
        let again = read(&known, &found, Syntax::Python).unwrap_or_else(|| panic!("{} cannot be read", context()));
        assert_eq!(again.simplify().text(Syntax::Python).expect("short"), found, "as a text: {}", context());
    }
    println!("{cases} expressions, {unread} not read, {cheaper} cheaper; {points_tried} points");
    println!("operations, divisions and weight: {before_all:?} before, {after_all:?} after");
}

#[test]
fn expressions_of_c_round_towards_zero_before_and_after() {
    let (mut cases, mut points_tried, mut cheaper) = (0, 0, 0);
    for seed in numbers(1_000) {
        let rng = &mut Rng(1 << 43 | seed);
        let (known, tree, points) = case(rng);
        let written = text_of_c(&tree);
        let Some(expression) = read(&known, &written, Syntax::C) else { continue };
        cases += 1;
        let simple = expression.simplify();
        cheaper += usize::from(simple.cost() != expression.cost());
        for point in &points {
            let found = value_of(simple.graph(), simple.value(), point);
            assert_eq!(found, value_in_c(&tree, point), "seed {seed}: {written} where {known} at {point:?}");
            points_tried += 1;
        }
        let again = simple.simplify();
        assert_eq!(again.text(Syntax::Python), simple.text(Syntax::Python), "seed {seed}: {written} where {known}");
    }
    println!("{cases} expressions of C, {cheaper} cheaper; {points_tried} points");
}

#[test]
fn where_a_condition_is_given_values_stay_where_it_holds() {
    let (mut cases, mut points_tried, mut cheaper) = (0, 0, 0);
    for seed in numbers(1_500) {
        let rng = &mut Rng(1 << 44 | seed);
        let (known, tree, points) = case(rng);
        let (_, names) = (&known, points[0].keys().copied().collect::<Vec<_>>());
        let mut names = names;
        names.sort_unstable();
        let divisors = names.iter().filter(|name| DIVISORS.contains(name)).copied().collect();
        let condition = Maker { rng, names, divisors }.condition(1);
        let Some(expression) = read(&known, &text(&tree), Syntax::Python) else { continue };
        let Ok(expression) = expression.given(&text(&condition), Syntax::Python) else { continue };
        cases += 1;
        let simple = expression.simplify();
        let (before, after) = (expression.cost(), simple.cost());
        let context = || format!("seed {seed}: {} given {} where {known}", text(&tree), text(&condition));
        assert!(
            after.ops <= before.ops && after.divmods <= before.divmods && after.weight <= before.weight,
            "{}",
            context()
        );
        cheaper += usize::from(after != before);
        for point in &points {
            let holds = value(&condition, point);
            let given = simple.condition().expect("a condition");
            assert_eq!(value_of(simple.graph(), given, point), holds, "{} at {point:?}", context());
            if holds == 1 {
                let found = value_of(simple.graph(), simple.value(), point);
                assert_eq!(found, value(&tree, point), "{} at {point:?}", context());
                points_tried += 1;
            }
        }
        let again = simple.simplify();
        assert_eq!(again.text(Syntax::Python), simple.text(Syntax::Python), "{}", context());
    }
    println!("{cases} expressions with a condition, {cheaper} cheaper; {points_tried} points");
}

/// Texts of 200 characters that ask for as much as texts of that length can.
fn heavy(rng: &mut Rng) -> String {
    const NAMES: [&str; 12] = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    let mut text = String::from("a");
    let kind = rng.below(7);
    loop {
        let name = *rng.pick(&NAMES);
        let other = *rng.pick(&NAMES);
        let number = 2 + rng.below(40);
        let longer = match if kind == 6 { rng.below(6) } else { kind } {
            0 => format!("({text}+{name})//{other}"),
            1 => format!("({text}+{name})*({other}+{number})"),
            2 => format!("min({text},{name}*{other}+{number})"),
            3 => format!("({text}*{name}+{other})%({name}*{number})"),
            4 => format!("({text}+{name}//{number})//{other}+{name}%{number}"),
            _ => format!("({text} if {name}<{other}*{number} else {name})"),
        };
        if longer.len() > 200 {
            return text;
        }
        text = longer;
    }
}

#[test]
fn no_text_of_200_characters_takes_long() {
    let mut slowest = (std::time::Duration::ZERO, String::new());
    for seed in numbers(200) {
        let rng = &mut Rng(1 << 42 | seed);
        let text = heavy(rng);
        let known = [
            "a=0..b, c=0..d, e=0..f, g % 7 == 3, h=..",
            "a + b <= c, d*e == f*g, h != 3",
            "a=0..10, b=0..a, c=0..b, d=0..c",
            "",
        ];
        let start = std::time::Instant::now();
        let known = *rng.pick(&known);
        if let Some(expression) = read(known, &text, Syntax::Python) {
            let simple = expression.simplify();
            let found = simple.text(Syntax::Python).expect("short");
            let took = start.elapsed();
            assert_eq!(simple.simplify().text(Syntax::Python).expect("short"), found, "{text} where {known}");
            // A fifth of a second on a machine that does nothing else.
            assert!(took.as_secs() < 3, "{text} where {known}: {took:?}");
            if took > slowest.0 {
                slowest = (took, format!("{text} where {known}"));
            }
        }
    }
    println!("{:?}: {}", slowest.0, slowest.1);
}
