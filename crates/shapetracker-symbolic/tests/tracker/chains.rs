//! Random chains of movement operations with named sizes, beside the integer tracker at values of the names.
//!
//! The integer library is the oracle: the same chain with numbers in the place of the names. It shares neither the formulas
//! nor the proofs with the symbolic tracker.

use std::collections::BTreeMap;

use shapetracker::ErrorKind;
use shapetracker_symbolic::{Answer, Poly, ShapeTracker, movement_at};
use shapetracker_testing::{Rng, numbers};

use crate::random::{is_exact, names, operation, points, size};

#[derive(Default)]
struct Counts {
    chains: usize,
    points: usize,
    held: usize,
    operations: usize,
    refused: BTreeMap<String, usize>,
    one_view: usize,
    /// More views than the integers have at any point, by what is known of them as one view.
    more_than_integers: BTreeMap<&'static str, usize>,
    kinds: BTreeMap<&'static str, usize>,
}

fn chain(rng: &mut Rng, counts: &mut Counts) {
    let names = names(rng);
    let start: Vec<Poly> = (0..1 + rng.index(3)).map(|_| size(rng)).collect();
    let mut tracker = ShapeTracker::in_scope(names.scope.clone(), start.clone()).expect("sizes from 0");
    let (mut ops, mut refuted) = (Vec::new(), Vec::new());
    let length = 2 + rng.index(5);
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
        let ops: Vec<String> = ops.iter().map(|op| names.scope.movement(op)).collect();
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
            integers.push(before.and_then(|before| before.apply(&movement_at(op, &point).expect("small"))));
        }
        for (place, op) in &refuted {
            if let Ok(before) = &integers[*place] {
                let op_at = movement_at(op, &point).expect("small");
                let text = names.scope.movement(op);
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
        *counts.more_than_integers.entry(answer.kind()).or_default() += 1;
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
    let seeds: Vec<u64> = numbers(20_000).collect();
    let mut counts = Counts::default();
    for &seed in &seeds {
        chain(&mut Rng(seed), &mut counts);
    }
    println!(
        "{} chains of {} operations at {} points, {} of which their needs allow; refused operations: {:?}",
        counts.chains, counts.operations, counts.points, counts.held, counts.refused
    );
    println!(
        "{} end as one view; more views than the integers have at any point, by what is known of them: {:?}; answers: {:?}",
        counts.one_view, counts.more_than_integers, counts.kinds
    );
    assert!(counts.held > seeds.len());
}
