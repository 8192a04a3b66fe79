//! Random chains of movement operations with named sizes, beside the integer tracker at values of the names.
//!
//! The integer library is the oracle: the same chain with numbers in the place of the names. It shares neither the formulas
//! nor the proofs with the symbolic tracker.

use std::collections::BTreeMap;
use std::sync::Arc;

use shapetracker::ErrorKind;
use shapetracker_symbolic::{Answer, Movement, Poly, Scope, ShapeTracker, Var};

/// A small generator of test cases (splitmix64), the same on every machine.
struct Rng(u64);

impl Rng {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

/// Names for sizes, and what the random chains say of them.
struct Names {
    scope: Arc<Scope>,
    /// Values that are tried of each name.
    values: Vec<Vec<i128>>,
}

const SIZES: [&str; 3] = ["n", "m", "k"];

/// Three sizes, a pad, a start and a length; `bounded` gives the first ones an end.
fn names(rng: &mut Rng) -> Names {
    let mut scope = Scope::new();
    let mut values = Vec::new();
    for (place, name) in SIZES.iter().enumerate() {
        let (lo, hi) = match rng.below(5) {
            0 => (1, Some(4)),
            1 => (2, None),
            2 if place == 0 => (0, Some(3)),
            _ => (1, None),
        };
        scope.declare(name, Some(lo), hi).expect("a new name");
        values.push((lo..=hi.unwrap_or(lo + 3)).collect());
    }
    for (name, lo, hi) in [("p", 0, Some(2)), ("s", 0, None), ("L", 1, None)] {
        scope.declare(name, Some(lo), hi).expect("a new name");
        values.push((lo..=hi.unwrap_or(lo + 3)).collect());
    }
    Names { scope: Arc::new(scope), values }
}

fn var(place: u8) -> Poly {
    Poly::from(Var(place))
}

fn plus(a: &Poly, b: &Poly) -> Poly {
    a.add(b).expect("small")
}

fn times(a: &Poly, b: &Poly) -> Poly {
    a.mul(b).expect("small")
}

fn size(rng: &mut Rng) -> Poly {
    let name = var(rng.below(3) as u8);
    match rng.below(8) {
        0..4 => name,
        4 => times(&name, &Poly::from(2)),
        5 => plus(&name, &Poly::from(1)),
        _ => Poly::from(1 + rng.below(4) as i64),
    }
}

/// An operation that may fit a shape.
fn operation(rng: &mut Rng, shape: &[Poly]) -> Movement {
    let rank = shape.len();
    let (zero, one) = (Poly::from(0), Poly::from(1));
    let axis = rng.below(rank.max(1));
    match rng.below(14) {
        0 | 1 if rank > 1 => {
            let mut axes: Vec<i64> = (0..rank as i64).collect();
            for place in (1..rank).rev() {
                axes.swap(place, rng.below(place + 1));
            }
            Movement::Permute(axes)
        }
        2 if rank > 1 => Movement::Transpose(axis as i64, -1),
        // Neighbours joined.
        3..6 if rank > 1 => {
            let mut shape = shape.to_vec();
            let place = rng.below(rank - 1);
            let inner = shape.remove(place + 1);
            shape[place] = if rng.one_in(4) { Poly::from(-1) } else { times(&shape[place], &inner) };
            Movement::Reshape(shape)
        }
        // An axis split, or the shape in another order.
        6 | 7 if rank > 0 => {
            let mut shape = shape.to_vec();
            let factors: Vec<Poly> = (0..3).map(var).chain([Poly::from(2)]).collect();
            let factor = rng.pick(&factors).clone();
            match shape[axis].div_exact(&factor) {
                Ok(Some(rest)) if rest.number() != Some(1) => {
                    shape[axis] = rest;
                    shape.insert(axis + rng.below(2), factor);
                }
                _ => shape.rotate_left(1),
            }
            Movement::Reshape(shape)
        }
        8 if rank > 0 => Movement::Flip(vec![axis as i64]),
        9 if rank > 0 => {
            let pads = [zero.clone(), zero.clone(), one, var(3), Poly::from(2)];
            Movement::Pad(shape.iter().map(|_| (rng.pick(&pads).clone(), rng.pick(&pads).clone())).collect())
        }
        10 | 11 if rank > 0 => {
            let ranges = shape.iter().enumerate().map(|(place, size)| match rng.below(6) {
                _ if place != axis => (zero.clone(), size.clone()),
                0 => (one.clone(), size.clone()),
                1 => (zero.clone(), size.sub(&one).expect("small")),
                2 => (var(3), size.clone()),
                3 => (var(4), plus(&var(4), &var(5))),
                4 => (zero.clone(), var(5)),
                _ => (zero.clone(), size.sub(&var(3)).expect("small")),
            });
            Movement::Shrink(ranges.collect())
        }
        12 if rank > 0 => {
            let steps = (0..rank).map(|place| if place == axis { *rng.pick(&[2, -1, -2, 3]) } else { 1 });
            Movement::Step(steps.collect())
        }
        13 if rank > 0 && rng.one_in(2) => {
            let bounds = [None, None, Some(one), Some(Poly::from(-1)), Some(var(3)), Some(var(4))];
            let slices = (0..rank).map(|place| match place == axis {
                true => (rng.pick(&bounds).clone(), rng.pick(&bounds).clone(), *rng.pick(&[1, 1, -1])),
                false => (None, None, 1),
            });
            Movement::Slice(slices.collect())
        }
        // Windows over a line.
        13 if rank == 1 => {
            let window = var(5);
            let count = plus(&shape[0].sub(&window).expect("small"), &one);
            Movement::AsStrided(vec![count, window], vec![one.clone(), one], zero)
        }
        _ => match shape.iter().position(|size| size.number() == Some(1)) {
            Some(place) if rng.one_in(4) => Movement::Squeeze(vec![place as i64]),
            Some(place) => {
                let mut to = vec![Poly::from(-1); rank];
                to[place] = size(rng);
                Movement::Expand(to)
            }
            None => Movement::Unsqueeze(rng.below(rank + 1) as i64),
        },
    }
}

/// Values of the names: all corners of what is tried of each, and some between.
fn points(rng: &mut Rng, names: &Names) -> Vec<Vec<i128>> {
    let mut points = Vec::new();
    for corner in 0..1 << names.values.len() {
        let pick =
            |(place, values): (usize, &Vec<i128>)| values[if corner >> place & 1 == 0 { 0 } else { values.len() - 1 }];
        points.push(names.values.iter().enumerate().map(pick).collect());
    }
    for _ in 0..32 {
        points.push(names.values.iter().map(|values| *rng.pick(values)).collect());
    }
    points
}

/// Whether what an operation needs is exactly what the integer operation does not refuse. A slice with a bound of which
/// nothing is known needs that it lies inside, and Python cuts it off there.
fn is_exact(op: &Movement) -> bool {
    !matches!(op, Movement::Slice(_) | Movement::AsStrided(..))
}

#[derive(Default)]
struct Counts {
    chains: usize,
    points: usize,
    held: usize,
    operations: usize,
    refused: BTreeMap<String, usize>,
    one_view: usize,
    more_than_integers: usize,
    kinds: BTreeMap<&'static str, usize>,
}

fn chain(rng: &mut Rng, counts: &mut Counts) {
    let names = names(rng);
    let start: Vec<Poly> = (0..1 + rng.below(3)).map(|_| size(rng)).collect();
    let mut tracker = ShapeTracker::in_scope(names.scope.clone(), start.clone()).expect("sizes from 0");
    let (mut ops, mut refuted) = (Vec::new(), Vec::new());
    let length = 2 + rng.below(5);
    for _ in 0..4 * length {
        if ops.len() == length {
            break;
        }
        let op = operation(rng, tracker.shape());
        match tracker.apply(&op) {
            Ok(moved) if moved.rank() <= 6 => {
                tracker = moved;
                ops.push(op);
            }
            Ok(_) => {}
            Err(err) => {
                *counts.refused.entry(err.kind().name().into()).or_default() += 1;
                // What is not known to be right is refused without a claim; the others say that no values do.
                let claims = !matches!(err.kind(), ErrorKind::Undecided | ErrorKind::NotOne | ErrorKind::Infer);
                if claims && is_exact(&op) && ops.iter().all(is_exact) {
                    refuted.push((ops.len(), op));
                }
            }
        }
    }
    counts.chains += 1;
    counts.operations += ops.len();
    let exact = ops.iter().all(is_exact);
    let texts = || {
        let ops: Vec<String> = ops.iter().map(|op| op.text(&names.scope)).collect();
        let start: Vec<String> = start.iter().map(|size| names.scope.text(size)).collect();
        format!("({}).{}", start.join(", "), ops.join("."))
    };
    let answer = tracker.single_view();
    *counts.kinds.entry(answer.kind()).or_default() += 1;
    let mut most = 0;
    for point in points(rng, &names) {
        let number = |poly: &Poly| i64::try_from(poly.eval(&point).expect("small")).expect("small");
        let shape: Vec<i64> = start.iter().map(number).collect();
        if shape.iter().product::<i64>() > 600 {
            continue;
        }
        counts.points += 1;
        // The chain with numbers, and after each operation how far it came.
        let mut integers = vec![shapetracker::ShapeTracker::contiguous(&shape)];
        for op in &ops {
            let before = integers[integers.len() - 1].clone();
            integers.push(before.and_then(|before| before.apply(&op.at(&point).expect("small"))));
        }
        for (place, op) in &refuted {
            if let Ok(before) = &integers[*place] {
                let op_at = op.at(&point).expect("small");
                let text = op.text(&names.scope);
                assert!(before.apply(&op_at).is_err(), "{} then {text} at {point:?} is refused", texts());
            }
        }
        let holds = tracker.needs().iter().all(|need| need.holds(&point).expect("small"));
        let expected = integers.last().expect("a start");
        let Ok(expected) = expected else {
            assert!(!holds, "{} at {point:?}: {tracker:?}", texts());
            continue;
        };
        if !holds {
            assert!(!exact, "{} at {point:?} is right, but not {tracker:?}", texts());
            continue;
        }
        counts.held += 1;
        let at = tracker.at_point(&point).unwrap_or_else(|err| panic!("{} at {point:?}: {err}: {tracker:?}", texts()));
        assert_eq!(at.shape(), expected.shape(), "{} at {point:?}", texts());
        assert!(at.addresses().eq(expected.addresses()), "{} at {point:?}: {tracker:?}\n{at}\n{expected}", texts());
        most = most.max(expected.views().len());
        let complete = answer.scope(&names.scope).complete(&point).expect("small");
        check_answer(&answer, &complete, expected, || format!("{} at {point:?}: {tracker:?}", texts()));
    }
    if tracker.views().len() == 1 {
        counts.one_view += 1;
    } else if tracker.views().len() > most {
        counts.more_than_integers += 1;
    }
}

/// What is said of one view, at values of the names.
fn check_answer(answer: &Answer, point: &[i128], expected: &shapetracker::ShapeTracker, what: impl Fn() -> String) {
    let one = expected.single_view();
    let holds = |formula: &Vec<Vec<_>>| {
        formula
            .iter()
            .any(|all| all.iter().all(|literal: &shapetracker_symbolic::Literal| literal.holds(point) == Some(true)))
    };
    let (says, view) = match answer {
        Answer::Always { view, .. } => (Some(true), view.as_ref()),
        Answer::When { formula, view, .. } => (Some(holds(formula)), view.as_ref()),
        Answer::Never { .. } => (Some(false), None),
        Answer::Undecided { formula, .. } => (holds(formula).then_some(true), None),
    };
    if let Some(says) = says {
        assert_eq!(says, one.is_ok(), "{}\n{answer:?}", what());
    }
    if let (Some(true), Some(view), Ok(one)) = (says, view, &one) {
        assert_eq!(view.at(point).as_ref(), Some(one), "{}", what());
    }
}

#[test]
fn chains_are_what_the_integers_say_they_are() {
    let count = std::env::var("SYMBOLIC_CHAINS").ok().and_then(|count| count.parse().ok()).unwrap_or(20_000);
    let mut counts = Counts::default();
    for seed in 0..count {
        chain(&mut Rng(seed), &mut counts);
    }
    println!(
        "{} chains of {} operations at {} points, {} of which their needs allow; refused operations: {:?}",
        counts.chains, counts.operations, counts.points, counts.held, counts.refused
    );
    println!(
        "{} end as one view, {} have more views than the integers have at all points; {:?}",
        counts.one_view, counts.more_than_integers, counts.kinds
    );
    assert!(counts.held > count as usize);
}
