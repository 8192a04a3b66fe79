//! Splits of random sets of functions, beside all splits that there are.

use std::collections::HashMap;

use indexpr::{Graph, Nest, WhyUnserved};
use shapetracker_testing::{Rng, held, numbers};

use crate::random::Tree;
use crate::walked::{self, walk};

/// All lists of partial products between 1 and a size, the innermost first: the splits of a loop.
fn chains(size: i64) -> Vec<Vec<i64>> {
    let (mut all, mut open) = (Vec::new(), vec![(1, Vec::new())]);
    while let Some((last, chain)) = open.pop() {
        for next in (last + 1..size).filter(|next| next % last == 0 && size % next == 0) {
            open.push((next, [&chain[..], &[next]].concat()));
        }
        all.push(chain);
    }
    all
}

/// All points of a box.
fn points(sizes: &[i64]) -> Vec<Vec<i64>> {
    sizes.iter().fold(vec![vec![]], |points, size| {
        points.iter().flat_map(|point| (0..*size).map(|at| [&point[..], &[at]].concat())).collect()
    })
}

/// The digits of an index for the partial products of a split, the innermost first.
fn digits(index: i64, cuts: &[i64]) -> Vec<i64> {
    let mut digits = Vec::new();
    let mut before = 1;
    for &cut in cuts {
        digits.push(index / before % (cut / before));
        before = cut;
    }
    digits.push(index / before);
    digits
}

/// Whether a function is affine in the digits of splits of all loops, at every point.
fn is_affine(function: &Tree, sizes: &[i64], cuts: &[&Vec<i64>]) -> bool {
    let loops = sizes.len();
    let origin = vec![0; loops];
    let first = function.value(&origin);
    // The step of each digit is what the function does at its first step.
    let mut steps: Vec<Vec<i64>> = Vec::new();
    for at in 0..loops {
        let mut own = Vec::new();
        for before in [1].iter().chain(cuts[at]) {
            let mut point = origin.clone();
            point[at] = *before;
            own.push(if *before < sizes[at] { function.value(&point) - first } else { 0 });
        }
        steps.push(own);
    }
    points(sizes).into_iter().all(|point| {
        let mut sum = first;
        for at in 0..loops {
            sum += digits(point[at], cuts[at]).iter().zip(&steps[at]).map(|(digit, step)| digit * step).sum::<i64>();
        }
        sum == function.value(&point)
    })
}

/// Every choice of one split for each loop.
fn combinations(sizes: &[i64]) -> Vec<Vec<Vec<i64>>> {
    sizes.iter().fold(vec![vec![]], |all, size| {
        let longer = |one: &Vec<Vec<i64>>| {
            chains(*size).into_iter().map(|chain| [&one[..], &[chain]].concat()).collect::<Vec<_>>()
        };
        all.iter().flat_map(longer).collect()
    })
}

fn boxed(tree: Tree) -> Box<Tree> {
    Box::new(tree)
}

/// A random function: digits of a position that some loops make together, with strides of any kind; rarely a floor of a sum.
fn function(rng: &mut Rng, sizes: &[i64]) -> Tree {
    let mut sum = Tree::Int(rng.int(9) - 4);
    let mut open: Vec<usize> = (0..sizes.len()).collect();
    while !open.is_empty() {
        // Loops that make one position, most often one by itself.
        let mut position = Tree::Int(0);
        let mut size = 1;
        for _ in 0..if rng.one_in(5) { 2 } else { 1 } {
            if open.is_empty() {
                break;
            }
            let at = open.swap_remove(rng.index(open.len()));
            let mut index = Tree::Var(at);
            if rng.one_in(4) {
                index =
                    Tree::Add(boxed(Tree::Int(sizes[at] - 1)), boxed(Tree::Mul(boxed(index), boxed(Tree::Int(-1)))));
            }
            position = Tree::Add(boxed(position), boxed(Tree::Mul(boxed(index), boxed(Tree::Int(size)))));
            size *= sizes[at];
        }
        if rng.one_in(12) {
            position = Tree::Add(boxed(position), boxed(Tree::Int(1 + rng.int(3))));
        }
        // Its digits, the innermost first.
        let mut before = 1;
        let mut stride = 1;
        while before < size {
            let divisors: Vec<i64> = (2..=size / before).filter(|by| size / before % by == 0).collect();
            let by = if divisors.is_empty() || rng.one_in(15) { 2 + rng.int(4) } else { *rng.pick(&divisors) };
            let mut digit = position.clone();
            if before > 1 {
                digit = Tree::Div(boxed(digit), before);
            }
            if before * by < size || rng.one_in(3) {
                digit = Tree::Mod(boxed(digit), by);
            }
            let factor = [stride, stride, 1 + rng.int(40), -1 - rng.int(5), 0][rng.index(5)];
            sum = Tree::Add(boxed(sum), boxed(Tree::Mul(boxed(digit), boxed(Tree::Int(factor)))));
            before *= by;
            stride = [stride * by, 1 + rng.int(9)][rng.index(2)];
        }
    }
    sum
}

#[test]
fn splits_are_the_coarsest_of_all_that_there_are() {
    let (mut some, mut none, mut conflicts, mut undecided, mut cut) = (0, 0, 0, 0, 0_u32);
    let mut known: HashMap<Vec<i64>, Vec<Vec<Vec<i64>>>> = HashMap::new();
    for case in numbers(800) {
        let mut rng = Rng(0x5_9117_0000 + case);
        let sizes: Vec<i64> = match rng.below(3) {
            0 => (0..3).map(|_| *rng.pick(&[1, 2, 3, 4, 6, 8, 9, 12])).collect(),
            1 => vec![*rng.pick(&[36, 48, 60, 59, 30, 40]), *rng.pick(&[2, 3, 4, 6])],
            _ => (0..2).map(|_| 1 + rng.int(24)).collect(),
        };
        let functions: Vec<Tree> = (0..1 + rng.index(3)).map(|_| function(&mut rng, &sizes)).collect();
        let all = known.entry(sizes.clone()).or_insert_with(|| combinations(&sizes));
        let serving = |function: &Tree| -> Vec<bool> {
            all.iter().map(|cuts| is_affine(function, &sizes, &cuts.iter().collect::<Vec<_>>())).collect()
        };
        let serving: Vec<Vec<bool>> = functions.iter().map(serving).collect();

        let names: Vec<String> = (0..sizes.len()).map(|at| format!("i{at}")).collect();
        let mut nest = Nest::new(Graph::new());
        for (name, size) in names.iter().zip(&sizes) {
            nest.each(name, *size).unwrap();
        }
        for (at, function) in functions.iter().enumerate() {
            let index = nest.parse(&function.text(&names)).unwrap();
            nest.access(&format!("a{at}"), index, None).unwrap();
        }
        let splits = nest.splits_where_affine().unwrap();
        let shown = || {
            let texts: Vec<String> = functions.iter().map(|function| function.text(&names)).collect();
            format!("{case} {sizes:?} {texts:?}: {}, {:?}", splits.text(nest.graph()), splits.unserved)
        };
        // The partial products of the splits that were found.
        let found: Vec<Vec<i64>> = (names.iter())
            .map(|name| {
                let Some((_, factors)) = splits.factors.iter().find(|(of, _)| of == name) else { return Vec::new() };
                let mut product = 1;
                let inner = factors[1..].iter().rev().map(|factor| nest.graph().range(*factor).0);
                inner
                    .map(|factor| {
                        product *= factor;
                        product
                    })
                    .collect()
            })
            .collect();
        let at = all.iter().position(|cuts| *cuts == found).unwrap_or_else(|| panic!("{}", shown()));
        let is_served = |number: usize| splits.served.iter().any(|one| one.access == format!("a{number}"));
        let served: Vec<usize> = (0..functions.len()).filter(|number| is_served(*number)).collect();
        // What is said to be affine is.
        assert!(served.iter().all(|number| serving[*number][at]), "{}", shown());
        // Every split that serves the same functions refines the one that was found.
        for (other, cuts) in all.iter().enumerate() {
            if served.iter().all(|number| serving[*number][other]) {
                let refines = |own: &Vec<i64>, other: &Vec<i64>| own.iter().all(|cut| other.contains(cut));
                assert!(found.iter().zip(cuts).all(|(own, other)| refines(own, other)), "{} {cuts:?}", shown());
            }
        }
        // Nothing more could be served, and each no has its reason.
        for number in (0..functions.len()).filter(|number| !is_served(*number)) {
            let why = &splits.unserved.iter().find(|one| one.function.access == format!("a{number}")).unwrap().why;
            let alone = serving[number].contains(&true);
            let together = (0..all.len()).any(|at| served.iter().chain([&number]).all(|number| serving[*number][at]));
            match why {
                WhyUnserved::Undecided => undecided += 1,
                WhyUnserved::Conflict { .. } => {
                    conflicts += 1;
                    assert!(alone && !together, "{}", shown());
                }
                _ => assert!(!alone, "{}", shown()),
            }
        }
        if splits.unserved.is_empty() {
            some += 1
        } else {
            none += 1
        }
        cut += u32::from(!splits.factors.is_empty());
        // After the splits, what is served has no division.
        let splits = nest.split_where_affine().unwrap();
        for access in nest.accesses() {
            if splits.served.iter().any(|one| one.access == access.name) {
                let cost = nest.graph().cost(&[access.index]);
                let divides = |part: &indexpr::Expr| {
                    use indexpr::Binary::{Div, Mod};
                    matches!(nest.graph().node(*part), indexpr::Node::Binary(Div | Mod, ..))
                };
                let divided = nest.graph().parts(&[access.index]).iter().any(divides);
                assert!(!divided && cost.divmods == 0, "{sizes:?} {access:?}");
            }
        }
    }
    // Of few draws any sort may be missing.
    let held = held(800);
    let is_enough = some > held * 3 / 8 && none > held / 4 && conflicts > held / 15 && cut > held * 2 / 5;
    assert!(held < 100 || is_enough, "{some} {none} {conflicts} {cut} of {held}");
    assert_eq!(undecided, 0);
}

/// Where a guard holds for some indices only, the splits of an index everywhere may be finer than they need be, or not there at
/// all; and there may be no coarsest.
#[test]
fn under_guards_fewer_splits_may_do() {
    // The sums of digits with given strides, the innermost first.
    let sum = |index: i64, cuts: &[i64], strides: &[i64]| -> i64 {
        digits(index, cuts).iter().zip(strides).map(|(digit, stride)| digit * stride).sum()
    };
    // At 0, 2 and 3 of 6 the values 0, 2 and 5 are affine for either of two splits, of which none refines the other; and not
    // without one, since 2 / 2 is not 5 / 3.
    for (cuts, strides) in [([2], [3, 2]), ([3], [1, 5])] {
        assert!([(0, 0), (2, 2), (3, 5)].iter().all(|&(index, value)| sum(index, &cuts, &strides) == value));
    }

    let found = |sizes: &[(&str, i64)], index: &str, guard: &str| {
        let mut nest = Nest::new(Graph::new());
        for (name, size) in sizes {
            nest.each(name, *size).unwrap();
        }
        let [index, guard] = [index, guard].map(|text| nest.parse(text).unwrap());
        nest.access("a", index, Some(guard)).unwrap();
        let splits = nest.splits_where_affine().unwrap();
        let unserved: Vec<String> = splits.unserved.iter().map(ToString::to_string).collect();
        (splits.text(nest.graph()), unserved)
    };
    // The guard needs 3 x 4, and with it the index is 6 times the outer digit wherever the guard holds.
    assert_eq!(found(&[("i", 12)], "i // 2 * 3", "1 <= i % 4 < 2"), ("i = 3 x 2 x 2".into(), vec![]));
    assert!((0..12).filter(|index| index % 4 == 1).all(|index| index / 2 * 3 == sum(index, &[4], &[0, 6])));
    // Where this guard holds, which is at (1, 2) and (4, 0), the index is `i + j - 2`, and needs no split.
    let (splits, unserved) = found(&[("i", 5), ("j", 5)], "(i + j) // 2", "8 <= 2 * i + 3 * j < 9");
    assert_eq!(splits, "");
    assert_eq!(unserved, ["`a` has runs of 2 along `i`, and 2 does not divide 5"]);
    for point in points(&[5, 5]).iter().filter(|point| 2 * point[0] + 3 * point[1] == 8) {
        assert_eq!((point[0] + point[1]) / 2, point[0] + point[1] - 2);
    }
}

/// Where cuts are guessed from divisors, or asked only where a guard holds, another split may serve where they do not: then it is open.
#[test]
fn no_split_is_ruled_out_that_was_not_looked_for() {
    let found = |sizes: &[(&str, &str)], index: &str, guard: Option<&str>| {
        let mut graph = Graph::new();
        graph.variable("M", 1..9).unwrap();
        let mut nest = Nest::new(graph);
        for (name, size) in sizes {
            let size = nest.parse(size).unwrap();
            nest.each(name, size).unwrap();
        }
        let index = nest.parse(index).unwrap();
        let guard = guard.map(|guard| nest.parse(guard).unwrap());
        nest.access("a", index, guard).unwrap();
        let mut splits = nest.splits_where_affine().unwrap();
        (splits.text(nest.graph()), splits.unserved.pop().map(|one| one.why))
    };
    // The divisor is 4, and 2 is where to cut.
    let index = "(i + 1) // 4 + (i + 3) // 4";
    assert!((0..400).all(|i| (i + 1) / 4 + (i + 3) / 4 == i / 2 + i % 2));
    assert_eq!(found(&[("i", "12")], index, None), ("i = 6 x 2".into(), None));
    assert_eq!(found(&[("i", "4 * M")], index, None), (String::new(), Some(WhyUnserved::Undecided)));
    // The run is 4, and where the guard holds cuts by 4 and 8 do.
    let index = "i // 4 + ((i + 3) // 8 - i // 8) * 9";
    let carries =
        |loops: &[&str]| Some(WhyUnserved::NotSeparable { loops: loops.iter().map(ToString::to_string).collect() });
    assert!((1..16).step_by(4).all(|i| i / 4 + ((i + 3) / 8 - i / 8) * 9 == i / 4 + i / 4 % 2 * 9));
    assert_eq!(found(&[("i", "16")], index, None), (String::new(), carries(&["i"])));
    assert_eq!(
        found(&[("i", "16")], index, Some("1 <= i % 4 < 2")),
        ("i = 4 x 4".into(), Some(WhyUnserved::Undecided))
    );
    assert_eq!(found(&[("i", "8"), ("j", "2")], "(i + j) // 2", Some("i < 8 or j < 1")).1, carries(&["i", "j"]));
    // A cut by 4 serves, and is not needed either: with 2 and 6 both functions are served.
    assert!((0..400).all(|i| (i + 1) / 4 + (i + 3) / 4 + i / 2 * 5 == i / 2 * 6 + i % 2));
    for (size, expected) in
        [("24", ("i = 4 x 3 x 2", vec![])), ("12 * M", ("i = M * 2 x 6", vec![WhyUnserved::Undecided]))]
    {
        let mut graph = Graph::new();
        graph.variable("M", 1..9).unwrap();
        let mut nest = Nest::new(graph);
        let size = nest.parse(size).unwrap();
        nest.each("i", size).unwrap();
        for (name, index) in [("a", "(i + 1) // 4 + (i + 3) // 4 + i // 2 * 5"), ("b", "i // 6 + i % 6 * 9")] {
            let index = nest.parse(index).unwrap();
            nest.access(name, index, None).unwrap();
        }
        let splits = nest.splits_where_affine().unwrap();
        let why: Vec<WhyUnserved> = splits.unserved.iter().map(|one| one.why.clone()).collect();
        assert_eq!((&splits.text(nest.graph())[..], why), expected);
    }
    // What is no sum over the loops is none after any split.
    let sizes = [("i", "2 * M"), ("j", "2 * M")];
    assert_eq!(found(&sizes, "(i + j) // 2", None), (String::new(), carries(&["i", "j"])));
}

/// Tensors of named sizes whose axes are put into another order and merged: the loops are split by the names, without a
/// floor.
#[test]
fn merged_axes_of_named_sizes_are_split() {
    let (mut cut, mut fused) = (0_u32, 0);
    for case in numbers(120) {
        let mut rng = Rng(0x5_9117_1000 + case);
        let axes = 2 + rng.index(3);
        let most: Vec<i64> = (0..axes).map(|_| 1 + rng.int(5)).collect();
        let mut graph = Graph::new();
        // Some sizes are numbers.
        let literals: Vec<Option<i64>> = most.iter().map(|most| rng.one_in(4).then_some(*most)).collect();
        let mut names = Vec::new();
        for (at, (most, literal)) in most.iter().zip(&literals).enumerate() {
            let name = literal.map_or_else(|| format!("N{at}"), |size| size.to_string());
            if literal.is_none() {
                graph.variable(&name, 1..most + 2).unwrap();
            }
            names.push(name);
        }
        let mut order: Vec<usize> = (0..axes).collect();
        for at in (1..axes).rev() {
            order.swap(at, rng.index(at + 1));
        }
        // Neighbours in the new order make loops.
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for axis in order {
            match groups.last_mut().filter(|_| rng.one_in(2)) {
                Some(group) => group.push(axis),
                None => groups.push(vec![axis]),
            }
        }
        let mut nest = Nest::new(graph);
        let product = |axes: &[usize]| {
            let names: Vec<&str> = axes.iter().map(|axis| &names[*axis][..]).collect();
            if names.is_empty() { "1".to_owned() } else { names.join(" * ") }
        };
        let mut terms = Vec::new();
        for (at, group) in groups.iter().enumerate() {
            let size = nest.parse(&product(group)).unwrap();
            nest.each(&format!("i{at}"), size).unwrap();
            for (place, &axis) in group.iter().enumerate() {
                let mut digit = format!("i{at}");
                if place + 1 < group.len() {
                    digit = format!("({digit} // ({}))", product(&group[place + 1..]));
                }
                if place > 0 {
                    digit = format!("({digit} % {})", names[axis]);
                }
                let later: Vec<usize> = (axis + 1..axes).collect();
                terms.push(format!("{digit} * ({})", product(&later)));
            }
        }
        let index = nest.parse(&terms.join(" + ")).unwrap();
        nest.access("x", index, None).unwrap();
        if groups.len() > 1 && rng.one_in(2) {
            let loops: Vec<String> = nest.loops().iter().map(|one| one.name.clone()).collect();
            nest.fuse(&loops.iter().map(|name| &name[..]).collect::<Vec<_>>(), "fused").unwrap();
            fused += 1;
        }
        let splits = nest.split_where_affine().unwrap();
        cut += u32::from(!splits.factors.is_empty());
        let text = nest.graph().text(nest.accesses()[0].index, indexpr::Syntax::Python).unwrap();
        let shown = format!("{groups:?} {terms:?}: {} {:?} {text}", splits.text(nest.graph()), splits.unserved);
        assert!(splits.unserved.is_empty() && !text.contains(['/', '%']), "{shown}");
        let levels = nest.levels().unwrap();
        let sizes = most.iter().zip(&literals);
        let values: Vec<i64> = sizes.map(|(most, literal)| literal.unwrap_or_else(|| 1 + rng.int(*most + 1))).collect();
        let named: Vec<i64> = (0..axes).filter(|at| literals[*at].is_none()).map(|at| values[at]).collect();
        let mut met = 0;
        walk(&levels, 0, &mut walked::values(&levels, &named), &mut |level, at| {
            let mut index = vec![0; axes];
            for (number, group) in groups.iter().enumerate() {
                let mut rest = walked::of_loop(&levels, level, &format!("i{number}"), at);
                for &axis in group.iter().rev() {
                    (index[axis], rest) = (rest % values[axis], rest / values[axis]);
                }
                assert_eq!(rest, 0, "{shown}");
            }
            let address = index.iter().zip(&values).fold(0, |address, (index, size)| address * size + index);
            assert_eq!(levels.graph().evaluate(level.accesses[0].index, at), Ok(address), "{shown}");
            met += 1;
        });
        assert_eq!(met, values.iter().product::<i64>(), "{shown}");
    }
    assert!(held(120) < 20 || (cut > held(120) / 3 && fused > held(120) / 8), "{cut} {fused}");
}
