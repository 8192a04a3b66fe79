//! Random chains of operations with named sizes, and values of the names.

use std::sync::Arc;

use shapetracker_symbolic::{Movement, Poly, Scope, ShapeTracker, Var};
use shapetracker_testing::Rng;

/// Names for sizes, and what the random chains say of them.
pub(crate) struct Names {
    pub(crate) scope: Arc<Scope>,
    /// Values that are tried of each name.
    pub(crate) values: Vec<Vec<i128>>,
}

pub(crate) const SIZES: [&str; 3] = ["n", "m", "k"];

/// Three sizes, a pad, a start and a length; `bounded` gives the first ones an end.
pub(crate) fn names(rng: &mut Rng) -> Names {
    let mut scope = Scope::new();
    let mut values = Vec::new();
    for (place, name) in SIZES.iter().enumerate() {
        let (lo, hi) = match rng.index(5) {
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

pub(crate) fn var(place: u8) -> Poly {
    Poly::from(Var(place))
}

pub(crate) fn plus(a: &Poly, b: &Poly) -> Poly {
    a.add(b).expect("small")
}

pub(crate) fn times(a: &Poly, b: &Poly) -> Poly {
    a.mul(b).expect("small")
}

pub(crate) fn size(rng: &mut Rng) -> Poly {
    let name = var(rng.index(3) as u8);
    match rng.index(8) {
        0..4 => name,
        4 => times(&name, &Poly::from(2)),
        5 => plus(&name, &Poly::from(1)),
        _ => Poly::from(1 + rng.index(4) as i64),
    }
}

/// An operation that may fit a shape.
pub(crate) fn operation(rng: &mut Rng, shape: &[Poly]) -> Movement {
    let rank = shape.len();
    let (zero, one) = (Poly::from(0), Poly::from(1));
    let axis = rng.index(rank.max(1));
    match rng.index(14) {
        0 | 1 if rank > 1 => {
            let mut axes: Vec<i64> = (0..rank as i64).collect();
            for place in (1..rank).rev() {
                axes.swap(place, rng.index(place + 1));
            }
            Movement::Permute(axes.into())
        }
        2 if rank > 1 => Movement::Transpose(axis as i64, -1),
        // Neighbours joined.
        3..6 if rank > 1 => {
            let mut shape = shape.to_vec();
            let place = rng.index(rank - 1);
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
                    shape.insert(axis + rng.index(2), factor);
                }
                _ => shape.rotate_left(1),
            }
            Movement::Reshape(shape)
        }
        8 if rank > 0 => Movement::Flip([axis as i64].into()),
        9 if rank > 0 => {
            let pads = [zero.clone(), zero.clone(), one, var(3), Poly::from(2)];
            Movement::Pad(shape.iter().map(|_| (rng.pick(&pads).clone(), rng.pick(&pads).clone())).collect())
        }
        10 | 11 if rank > 0 => {
            let ranges = shape.iter().enumerate().map(|(place, size)| match rng.index(6) {
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
            Some(place) if rng.one_in(4) => Movement::Squeeze([place as i64].into()),
            Some(place) => {
                let mut to = vec![Poly::from(-1); rank];
                to[place] = size(rng);
                Movement::Expand(to)
            }
            None => Movement::Unsqueeze(rng.index(rank + 1) as i64),
        },
    }
}

/// Values of the names: all corners of what is tried of each, and some between.
pub(crate) fn points(rng: &mut Rng, names: &Names) -> Vec<Vec<i128>> {
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
pub(crate) fn is_exact(op: &Movement) -> bool {
    !matches!(op, Movement::Slice(_) | Movement::AsStrided(..))
}

/// A tracker that a random chain of operations ends in.
pub(crate) fn tracker(rng: &mut Rng, names: &Names) -> ShapeTracker {
    let start: Vec<Poly> = (0..1 + rng.index(3)).map(|_| size(rng)).collect();
    let mut tracker = ShapeTracker::in_scope(names.scope.clone(), start).expect("sizes from 0");
    for _ in 0..2 + rng.index(5) {
        let op = operation(rng, tracker.shape());
        tracker = tracker.apply(&op).ok().filter(|moved| moved.rank() <= 6).unwrap_or(tracker);
    }
    tracker
}
