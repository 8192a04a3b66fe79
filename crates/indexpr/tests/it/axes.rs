//! Whether what is read at an axis stays within it, beside all values that it has.

use indexpr::{Graph, IndexExpr, Nest, Syntax};
use shapetracker_testing::{Rng, held, numbers};

use crate::random::{self, Plain, Tree};

/// All values of the parameters of a nest.
fn all_parameters(plain: &Plain) -> Vec<Vec<i64>> {
    let mut all = vec![vec![]];
    for &most in &plain.parameters {
        all = all.iter().flat_map(|point| (1..=most).map(|value| [&point[..], &[value]].concat())).collect();
    }
    all
}

/// An index over one axis, which is its own index, of a size over the parameters of a nest. It is right for more values of them
/// than the nest has.
fn line(plain: &Plain, size: &str) -> IndexExpr {
    let loops = plain.sizes.len();
    let declared = |graph: &mut Graph| {
        for (name, most) in plain.names[loops..].iter().zip(&plain.parameters) {
            graph.variable(name, 0..most + 3).unwrap();
        }
        graph.parse(size, Syntax::Python).unwrap()
    };
    let mut names = Graph::new();
    let most = declared(&mut names);
    let most = names.range(most).1;
    let mut graph = Graph::new();
    let (x, always) = (graph.variable("x", 0..most.max(1)).unwrap(), graph.bool(true));
    let size = declared(&mut graph);
    IndexExpr::with_sizes(graph, x, always, [size]).unwrap()
}

/// An expression over the loops, which are sometimes those that were joined to one axis.
fn given(rng: &mut Rng, plain: &Plain) -> Tree {
    let loops: Vec<usize> = (0..plain.sizes.len()).collect();
    let variable = |at: usize| Box::new(Tree::Var(at));
    match rng.below(5) {
        0 => *variable(*rng.pick(&loops)),
        1 if loops.len() > 1 => {
            let joined = Tree::Mul(variable(0), Box::new(plain.sizes[1].clone()));
            Tree::Add(Box::new(joined), variable(1))
        }
        2 => {
            // The last one first.
            let at = *rng.pick(&loops);
            let last = Tree::Add(Box::new(plain.sizes[at].clone()), Box::new(Tree::Int(-1)));
            Tree::Add(Box::new(last), Box::new(Tree::Mul(variable(at), Box::new(Tree::Int(-1)))))
        }
        3 => random::form(rng, &loops, &[1, 2, 5]),
        _ => random::linear(rng, &loops),
    }
}

#[test]
fn what_is_read_stays_within_its_axis() {
    let (mut accepted, mut refused, mut named, mut missed) = (0_u32, 0, 0, 0);
    for case in numbers(1_500) {
        let mut rng = Rng(0xa4e5_0000 + case);
        let (mut plain, changed) = random::nest(&mut rng);
        let tree = given(&mut rng, &plain);
        plain.accesses.clear();
        let everywhere: Vec<Vec<i64>> =
            all_parameters(&plain).iter().flat_map(|parameters| plain.all_points(parameters)).collect();
        let values: Vec<i64> = everywhere.iter().map(|at| tree.value(at)).collect();
        let most = values.iter().copied().max().unwrap_or(0);
        // A size that just holds it, or one less; the size of a loop, or of two that are joined.
        let size = match rng.below(4) {
            0 => Tree::Int((most + 1).max(1)),
            1 => Tree::Int(most.max(1)),
            2 => plain.sizes[rng.index(plain.sizes.len())].clone(),
            _ => plain.sizes.iter().take(2).cloned().reduce(|a, b| Tree::Mul(Box::new(a), Box::new(b))).unwrap(),
        };
        let stays = everywhere.iter().zip(&values).all(|(at, value)| (0..size.value(at)).contains(value));
        let code = line(&plain, &size.text(&plain.names));
        // Loops that were split and put into another order have the same values.
        let mut nest: Nest = if rng.one_in(2) { random::plainly(&plain) } else { changed };
        let axis = nest.parse(&tree.text(&plain.names)).unwrap();
        let read = nest.read("x", &code, &[axis]);
        let has_names = !plain.parameters.is_empty();
        match (&read, stays) {
            (Ok(()), true) => (accepted, named) = (accepted + 1, named + u32::from(has_names)),
            (Err(err), false) => {
                assert!(err.to_string().contains("axis 0 of `x` has size "), "{case}: {err}");
                refused += 1;
            }
            (Err(err), true) => {
                assert!(has_names, "{case}: {err}");
                missed += 1;
            }
            (Ok(()), false) => panic!("{case}: {tree:?} leaves {size:?} in {plain:?}"),
        }
    }
    println!("accepted {accepted}, of these with names {named}; refused {refused}; not seen {missed}");
    assert!(accepted > held(300) && named > held(100) && refused > held(500) && missed < held(60));
}
