//! Random nests, with a description of them that knows nothing of expressions: trees that are evaluated by themselves.

use indexpr::{Clip, Graph, Nest, Size};
use shapetracker_testing::Rng;

/// A number over the values of loops and parameters.
#[derive(Clone, Debug)]
pub(crate) enum Tree {
    Int(i64),
    Var(usize),
    Add(Box<Tree>, Box<Tree>),
    Mul(Box<Tree>, Box<Tree>),
    Div(Box<Tree>, i64),
    Mod(Box<Tree>, i64),
}

/// A condition over them.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    Within(i64, Tree, i64),
    AtMost(Tree, Tree),
    Not(Tree, i64),
    Either(Box<Test>, Box<Test>),
}

impl Tree {
    pub(crate) fn value(&self, at: &[i64]) -> i64 {
        match self {
            Tree::Int(value) => *value,
            Tree::Var(place) => at[*place],
            Tree::Add(a, b) => a.value(at) + b.value(at),
            Tree::Mul(a, b) => a.value(at) * b.value(at),
            Tree::Div(a, by) => a.value(at).div_euclid(*by),
            Tree::Mod(a, by) => a.value(at).rem_euclid(*by),
        }
    }

    pub(crate) fn text(&self, names: &[String]) -> String {
        match self {
            Tree::Int(value) => format!("({value})"),
            Tree::Var(place) => names[*place].clone(),
            Tree::Add(a, b) => format!("({} + {})", a.text(names), b.text(names)),
            Tree::Mul(a, b) => format!("({} * {})", a.text(names), b.text(names)),
            Tree::Div(a, by) => format!("({} // {by})", a.text(names)),
            Tree::Mod(a, by) => format!("({} % {by})", a.text(names)),
        }
    }
}

impl Test {
    pub(crate) fn holds(&self, at: &[i64]) -> bool {
        match self {
            Test::Within(low, tree, high) => (*low..*high).contains(&tree.value(at)),
            Test::AtMost(a, b) => a.value(at) <= b.value(at),
            Test::Not(tree, value) => tree.value(at) != *value,
            Test::Either(a, b) => a.holds(at) || b.holds(at),
        }
    }

    fn text(&self, names: &[String]) -> String {
        match self {
            Test::Within(low, tree, high) => format!("({low} <= {} < {high})", tree.text(names)),
            Test::AtMost(a, b) => format!("({} <= {})", a.text(names), b.text(names)),
            Test::Not(tree, value) => format!("({} != {value})", tree.text(names)),
            Test::Either(a, b) => format!("({} or {})", a.text(names), b.text(names)),
        }
    }
}

/// An access, and whether the body runs only where its guard holds.
#[derive(Clone, Debug)]
pub(crate) struct Access {
    pub(crate) index: Tree,
    pub(crate) guard: Vec<Test>,
    pub(crate) clipped: bool,
}

impl Access {
    pub(crate) fn holds(&self, at: &[i64]) -> bool {
        self.guard.iter().all(|test| test.holds(at))
    }
}

/// A nest by itself: the loops first, then the parameters.
#[derive(Clone, Debug)]
pub(crate) struct Plain {
    /// The name of each loop and parameter.
    pub(crate) names: Vec<String>,
    pub(crate) sizes: Vec<Tree>,
    /// The greatest value of each parameter; the least is 1.
    pub(crate) parameters: Vec<i64>,
    pub(crate) accesses: Vec<Access>,
}

impl Plain {
    /// All values of the loops for some values of the parameters, for which the body runs.
    pub(crate) fn points(&self, parameters: &[i64]) -> Vec<Vec<i64>> {
        let mut points = self.all_points(parameters);
        points.retain(|at| self.accesses.iter().all(|access| !access.clipped || access.holds(at)));
        points
    }

    /// All values of the loops, whatever the guards say.
    pub(crate) fn all_points(&self, parameters: &[i64]) -> Vec<Vec<i64>> {
        self.points_of(self.sizes.len(), parameters)
    }

    /// All values of the first loops.
    pub(crate) fn points_of(&self, outer: usize, parameters: &[i64]) -> Vec<Vec<i64>> {
        let loops = self.sizes.len();
        let mut points: Vec<Vec<i64>> = vec![vec![]];
        let whole: Vec<i64> = vec![0; loops].into_iter().chain(parameters.iter().copied()).collect();
        for size in &self.sizes[..outer] {
            let size = size.value(&whole);
            points = points.iter().flat_map(|point| (0..size).map(|at| [&point[..], &[at]].concat())).collect();
        }
        points.into_iter().map(|point| [&point[..], parameters].concat()).collect()
    }
}

pub(crate) fn form(rng: &mut Rng, loops: &[usize], strides: &[i64]) -> Tree {
    let mut sum = Tree::Int(rng.int(7) - 3);
    for &at in loops {
        let mut part = Tree::Var(at);
        match rng.below(6) {
            0 => part = Tree::Div(Box::new(part), 2 + rng.int(3)),
            1 => part = Tree::Mod(Box::new(part), 2 + rng.int(3)),
            2 => {
                let other = Tree::Var(*rng.pick(loops));
                let both = Tree::Add(Box::new(part), Box::new(Tree::Mul(Box::new(other), Box::new(Tree::Int(3)))));
                part = Tree::Mod(Box::new(both), 2 + rng.int(4));
            }
            _ => {}
        }
        sum = Tree::Add(Box::new(sum), Box::new(Tree::Mul(Box::new(part), Box::new(Tree::Int(*rng.pick(strides))))));
    }
    sum
}

pub(crate) fn linear(rng: &mut Rng, variables: &[usize]) -> Tree {
    let mut sum = Tree::Int(rng.int(7) - 3);
    for &at in variables {
        if !rng.one_in(3) {
            let by = [1, 1, 1, -1, 2, -3][rng.index(6)];
            sum = Tree::Add(Box::new(sum), Box::new(Tree::Mul(Box::new(Tree::Var(at)), Box::new(Tree::Int(by)))));
        }
    }
    sum
}

fn test(rng: &mut Rng, loops: &[usize], all: &[usize]) -> Test {
    match rng.below(8) {
        0 => Test::AtMost(Tree::Var(*rng.pick(loops)), Tree::Var(*rng.pick(all))),
        1 => Test::AtMost(linear(rng, loops), with_product(rng, all)),
        2 => Test::Not(form(rng, loops, &[1, 2]), rng.int(4)),
        3 => Test::Within(rng.int(5) - 2, form(rng, loops, &[1, 2, -1]), 2 + rng.int(5)),
        4 => Test::Either(Box::new(test(rng, loops, all)), Box::new(test(rng, loops, all))),
        5 => Test::Within(rng.int(6) - 3, with_product(rng, all), 2 + rng.int(12)),
        _ => Test::Within(rng.int(6) - 3, linear(rng, all), 2 + rng.int(7)),
    }
}

/// A linear form, in which a product of two variables may stand, be they loops or parameters.
fn with_product(rng: &mut Rng, variables: &[usize]) -> Tree {
    let sum = linear(rng, variables);
    if rng.one_in(4) {
        return sum;
    }
    let [a, b] = [(); 2].map(|()| Box::new(Tree::Var(*rng.pick(variables))));
    let product = Box::new(Tree::Mul(a, b));
    let by = Box::new(Tree::Int([1, 1, -1, 2][rng.index(4)]));
    Tree::Add(Box::new(sum), Box::new(Tree::Mul(product, by)))
}

/// A random nest, plainly and as one, with loops that were split, put into another order, shortened and run in parts.
pub(crate) fn nest(rng: &mut Rng) -> (Plain, Nest) {
    let loops = 1 + rng.index(3);
    let parameters: Vec<i64> = (0..rng.index(3)).map(|_| 1 + rng.int(5)).collect();
    let parameter_names = (0..parameters.len()).map(|at| format!("n{at}"));
    let names: Vec<String> = (0..loops).map(|at| format!("i{}", "x".repeat(at))).chain(parameter_names).collect();
    let all: Vec<usize> = (0..names.len()).collect();
    let mut sizes = Vec::new();
    for _ in 0..loops {
        sizes.push(match parameters.is_empty() || !rng.one_in(3) {
            true => Tree::Int([1, 2, 3, 4, 5, 6, 8, 12][rng.index(8)]),
            false => {
                let parameter = Tree::Var(loops + rng.index(parameters.len()));
                match rng.below(3) {
                    0 => Tree::Mul(Box::new(parameter), Box::new(Tree::Int(2))),
                    _ => parameter,
                }
            }
        });
    }
    let accesses: Vec<Access> = (0..1 + rng.index(4))
        .map(|_| {
            let index = form(rng, &all[..loops], &[1, 3, 7, -2, 16, 40]);
            let guard = (0..rng.index(3)).map(|_| test(rng, &all[..loops], &all)).collect();
            Access { index, guard, clipped: rng.one_in(2) }
        })
        .collect();
    let plain = Plain { names, sizes, parameters, accesses };
    let nest = made(rng, &plain);
    (plain, nest)
}

/// The nest as it is described, and nothing done to its loops.
pub(crate) fn plainly(plain: &Plain) -> Nest {
    started(plain, plain.sizes.len())
}

fn made(rng: &mut Rng, plain: &Plain) -> Nest {
    let loops = plain.sizes.len();
    let first_reduced = rng.index(loops + 1);
    let mut nest = started(plain, first_reduced);
    changed(rng, plain, &mut nest);
    nest
}

/// A random nest whose innermost loops are reduced, and its guards shorten these alone; how many loops are not reduced.
pub(crate) fn reduction(rng: &mut Rng) -> (Plain, Nest, usize) {
    let (mut plain, _) = nest(rng);
    plain.accesses.iter_mut().for_each(|access| access.clipped = true);
    let first_reduced = rng.index(plain.sizes.len() + 1);
    let mut nest = started(&plain, first_reduced);
    if rng.one_in(2) {
        nest.split_where_affine().unwrap();
    }
    for at in 0..plain.accesses.len() {
        nest.clip(&[&format!("a{at}")], Clip::Reduced).unwrap();
    }
    if rng.one_in(2) {
        let name = nest.loops()[rng.index(nest.loops().len())].name.clone();
        nest.partition(&name, &["a0"]).unwrap();
    }
    (plain, nest, first_reduced)
}

/// A random nest with an output `a0` and an input `a1` that lie near each other, often enough at the same addresses. Half of
/// the time the output does not depend on the loops that were made as reduced ones.
pub(crate) fn in_place(rng: &mut Rng) -> (Plain, Nest) {
    let (mut plain, _) = nest(rng);
    let loops = plain.sizes.len();
    let first_reduced = [loops, rng.index(loops + 1), 1 + rng.index(loops)][rng.index(3)];
    let plus = |a: Tree, b: Tree| Tree::Add(Box::new(a), Box::new(b));
    let times = |a: Tree, by: i64| Tree::Mul(Box::new(a), Box::new(Tree::Int(by)));
    // Row-major, as if each loop had its greatest size, or not quite; some loops backwards, some with a floor.
    let most: Vec<i64> = vec![0; loops].into_iter().chain(plain.parameters.iter().copied()).collect();
    let mut strides = vec![1; loops];
    for at in (1..loops).rev() {
        strides[at - 1] = strides[at] * plain.sizes[at].value(&most) - i64::from(rng.one_in(5));
    }
    let backwards: Vec<bool> = (0..loops).map(|_| rng.one_in(6)).collect();
    let address = |rng: &mut Rng, last: usize| {
        let mut sum = Tree::Int([0, 0, 0, 0, 1, -1, 2, 5][rng.index(8)]);
        for at in 0..last {
            let by = if backwards[at] != rng.one_in(12) { -strides[at] } else { strides[at] };
            let mut digit = Tree::Var(at);
            if rng.one_in(10) {
                digit = Tree::Div(Box::new(digit), 2);
            }
            sum = plus(sum, times(digit, by));
        }
        sum
    };
    let out = if rng.one_in(4) { loops } else { first_reduced };
    let all: Vec<usize> = (0..loops).collect();
    let two: Vec<Tree> = match rng.below(7) {
        // Sums that lie side by side, from the one end or from the other.
        2 if out > 0 => {
            let (from, by) = (rng.int(40), if rng.one_in(2) { 1 } else { -1 });
            let sides = Tree::Mul(Box::new(Tree::Var(out - 1)), Box::new(Tree::Int(by)));
            vec![plus(sides, Tree::Int(from)), address(rng, loops)]
        }
        // Anything.
        0 => (0..2).map(|_| form(rng, &all, &[1, 3, 7, -2])).collect(),
        1 if out > 0 => {
            let index = form(rng, &all[..out], &[1, 3, 7, -2, 16]);
            vec![index.clone(), plus(index, Tree::Int(rng.int(3) - 1))]
        }
        _ => vec![address(rng, out), address(rng, loops)],
    };
    let mut two = two.into_iter();
    plain.accesses.truncate(1 + rng.index(2));
    for clipped in [rng.one_in(4), rng.one_in(3)].into_iter().rev() {
        let guard = if rng.one_in(3) { vec![test(rng, &all, &all)] } else { Vec::new() };
        let index = two.next_back().unwrap();
        plain.accesses.insert(0, Access { index, guard, clipped });
    }
    let mut nest = started(&plain, first_reduced);
    if rng.one_in(2) {
        changed(rng, &plain, &mut nest);
    } else {
        for at in (0..plain.accesses.len()).filter(|at| plain.accesses[*at].clipped) {
            let clip = if rng.one_in(3) { Clip::All } else { Clip::Reduced };
            nest.clip(&[&format!("a{at}")], clip).unwrap();
        }
    }
    (plain, nest)
}

fn started(plain: &Plain, first_reduced: usize) -> Nest {
    let loops = plain.sizes.len();
    let mut graph = Graph::new();
    for (name, most) in plain.names[loops..].iter().zip(&plain.parameters) {
        graph.variable(name, 1..most + 1).unwrap();
    }
    let mut nest = Nest::new(graph);
    for at in 0..loops {
        let size = nest.parse(&plain.sizes[at].text(&plain.names)).unwrap();
        let name = &plain.names[at];
        if at >= first_reduced { nest.reduce(name, size) } else { nest.each(name, size) }.unwrap();
    }
    for (at, access) in plain.accesses.iter().enumerate() {
        let index = nest.parse(&access.index.text(&plain.names)).unwrap();
        let guards: Vec<String> = access.guard.iter().map(|test| test.text(&plain.names)).collect();
        let guard = (!guards.is_empty()).then(|| nest.parse(&guards.join(" and ")).unwrap());
        nest.access(&format!("a{at}"), index, guard).unwrap();
    }
    nest
}

fn changed(rng: &mut Rng, plain: &Plain, nest: &mut Nest) {
    let loops = plain.sizes.len();
    // Splits that leave no floor, or any, by numbers and by names; a size of `n0 * 2` is made of both.
    let by_itself = rng.one_in(3);
    if by_itself {
        nest.split_where_affine().unwrap();
    }
    for at in 0..loops {
        if rng.one_in(2) || by_itself {
            continue;
        }
        let factors: Vec<Size> = match &plain.sizes[at] {
            Tree::Int(size) => {
                let divisors: Vec<i64> = (1..=*size).filter(|by| size % by == 0).collect();
                let by = *rng.pick(&divisors);
                vec![by.into(), (size / by).into()]
            }
            Tree::Mul(name, _) => {
                let name = nest.parse(&name.text(&plain.names)).unwrap();
                if rng.one_in(2) { vec![name.into(), 2.into()] } else { vec![2.into(), name.into()] }
            }
            _ => continue,
        };
        nest.split(&plain.names[at], &factors).unwrap();
    }
    fused(rng, nest);
    if rng.one_in(2) {
        let mut order: Vec<String> = nest.loops().iter().map(|one| one.name.clone()).collect();
        for at in (1..order.len()).rev() {
            order.swap(at, rng.index(at + 1));
        }
        let order: Vec<&str> = order.iter().map(|name| &name[..]).collect();
        nest.reorder(&order).unwrap();
    }
    for (at, access) in plain.accesses.iter().enumerate() {
        if access.clipped {
            let clip = if rng.one_in(3) { Clip::Reduced } else { Clip::All };
            nest.clip(&[&format!("a{at}")], clip).unwrap();
        }
    }
    for _ in 0..[0, 0, 1, 1, 2][rng.index(5)] {
        let name = nest.loops()[rng.index(nest.loops().len())].name.clone();
        let accesses: Vec<String> =
            (0..plain.accesses.len()).filter(|_| !rng.one_in(3)).map(|at| format!("a{at}")).collect();
        let accesses: Vec<&str> = accesses.iter().map(|name| &name[..]).collect();
        nest.partition(&name, &accesses).unwrap();
    }
}

/// Loops of one kind become one, which is split again, or not.
fn fused(rng: &mut Rng, nest: &mut Nest) {
    let is_reduced = rng.one_in(2);
    let alike = nest.loops().iter().filter(|one| one.is_reduced == is_reduced && !rng.one_in(4));
    let names: Vec<String> = alike.map(|one| one.name.clone()).collect();
    if names.len() < 2 || !rng.one_in(3) {
        return;
    }
    nest.fuse(&names.iter().map(|name| &name[..]).collect::<Vec<_>>(), "fused").unwrap();
    if rng.one_in(2) {
        nest.split_where_affine().unwrap();
    }
}

/// Some values of the parameters of a nest: the least, the greatest, and others.
pub(crate) fn parameters(rng: &mut Rng, plain: &Plain) -> Vec<Vec<i64>> {
    let mut all = vec![vec![1; plain.parameters.len()], plain.parameters.clone()];
    all.push(plain.parameters.iter().map(|most| 1 + rng.int(*most)).collect());
    all.dedup();
    all
}
