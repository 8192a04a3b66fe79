//! Random pairs of views in named sizes, the same on every machine.

use shapetracker_symbolic::{Literal, Poly, Scope, Var, View};
use shapetracker_testing::Rng;

fn number(value: i64) -> Poly {
    Poly::from(value)
}

fn product(polys: &[Poly]) -> Poly {
    polys.iter().fold(number(1), |product, poly| product.mul(poly).unwrap())
}

fn row_major(shape: &[Poly]) -> View {
    let strides = (0..shape.len()).map(|axis| product(&shape[axis + 1..])).collect();
    View { shape: shape.to_vec(), strides, offset: number(0), mask: None }
}

/// A case under construction: names, and what must hold.
pub(crate) struct Case {
    pub(crate) scope: Scope,
    pub(crate) needs: Vec<Literal>,
    sizes: Vec<Poly>,
    free: Vec<Var>,
}

impl Case {
    fn new(rng: &mut Rng) -> Case {
        let mut scope = Scope::new();
        let mut sizes = Vec::new();
        for name in &["a", "b", "c", "d"][..2 + rng.below(3) as usize] {
            let hi = if rng.one_in(5) { Some(2 + rng.below(5) as i128) } else { None };
            let lo = if rng.one_in(12) { 0 } else { 1 };
            sizes.push(Poly::from(scope.declare(name, Some(lo), hi).unwrap()));
        }
        Case { scope, needs: Vec::new(), sizes, free: Vec::new() }
    }

    /// Sizes of axes: names, numbers, products.
    fn atoms(&mut self, rng: &mut Rng) -> Vec<Poly> {
        let count = 1 + rng.below(4) as usize;
        (0..count)
            .map(|_| match rng.below(10) {
                0 | 1 => number(1 + rng.below(4) as i64),
                2 => number(2).mul(rng.pick(&self.sizes)).unwrap(),
                3 => rng.pick(&self.sizes).add(&number(1)).unwrap(),
                _ => rng.pick(&self.sizes).clone(),
            })
            .collect()
    }

    fn free_stride(&mut self) -> Poly {
        let name = format!("s{}", self.free.len());
        let var = self.scope.declare(&name, None, None).unwrap();
        self.free.push(var);
        Poly::from(var)
    }

    /// Views that others make of one by moving it.
    fn moved(&mut self, rng: &mut Rng, view: &mut View, pads: bool) {
        for _ in 0..rng.below(3) {
            let rank = view.shape.len();
            if rank == 0 {
                return;
            }
            let axis = rng.below(rank as u64) as usize;
            match rng.below(if pads { 6 } else { 5 }) {
                0 | 1 => {
                    let other = rng.below(rank as u64) as usize;
                    view.shape.swap(axis, other);
                    view.strides.swap(axis, other);
                    if let Some(mask) = &mut view.mask {
                        mask.swap(axis, other);
                    }
                }
                2 => {
                    // Flip.
                    let last = view.shape[axis].sub(&number(1)).unwrap();
                    view.offset = view.offset.add(&view.strides[axis].mul(&last).unwrap()).unwrap();
                    view.strides[axis] = view.strides[axis].mul(&number(-1)).unwrap();
                    if let Some(mask) = &mut view.mask {
                        let (begin, end) = mask[axis].clone();
                        mask[axis] = (view.shape[axis].sub(&end).unwrap(), view.shape[axis].sub(&begin).unwrap());
                    }
                }
                3 => {
                    // A new axis of which all entries are one.
                    let size = rng.pick(&self.sizes).clone();
                    if let Some(mask) = &mut view.mask {
                        mask.insert(axis, (number(0), size.clone()));
                    }
                    view.shape.insert(axis, size);
                    view.strides.insert(axis, number(0));
                }
                4 if view.mask.is_none() => {
                    // The elements from `begin` on, `size` of them.
                    let begin = if rng.one_in(2) { number(rng.below(3) as i64) } else { rng.pick(&self.sizes).clone() };
                    let size =
                        if rng.one_in(3) { number(1 + rng.below(3) as i64) } else { rng.pick(&self.sizes).clone() };
                    let left = view.shape[axis].sub(&begin).unwrap().sub(&size).unwrap();
                    self.needs.push(Literal::at_least(left));
                    view.offset = view.offset.add(&view.strides[axis].mul(&begin).unwrap()).unwrap();
                    view.shape[axis] = size;
                }
                5 => {
                    let before =
                        if rng.one_in(2) { number(rng.below(3) as i64) } else { rng.pick(&self.sizes).clone() };
                    let after = number(rng.below(3) as i64);
                    let mut mask = view
                        .mask
                        .clone()
                        .unwrap_or_else(|| view.shape.iter().map(|size| (number(0), size.clone())).collect());
                    for (_, range) in mask.iter_mut().enumerate().filter(|(place, _)| *place == axis) {
                        *range = (range.0.add(&before).unwrap(), range.1.add(&before).unwrap());
                    }
                    view.offset = view.offset.sub(&view.strides[axis].mul(&before).unwrap()).unwrap();
                    view.shape[axis] = view.shape[axis].add(&before).unwrap().add(&after).unwrap();
                    view.mask = Some(mask);
                }
                _ => {}
            }
        }
    }
}

/// Another shape of as many elements: atoms joined, and products split into what they were made of.
fn regrouped(rng: &mut Rng, case: &Case, shape: &[Poly]) -> Vec<Poly> {
    let mut atoms: Vec<Poly> = Vec::new();
    for size in shape {
        let split = case.sizes.iter().find_map(|name| {
            let rest = size.div_exact(name).unwrap()?;
            (rest.number() != Some(1)).then_some([name.clone(), rest])
        });
        match split {
            Some(parts) if rng.one_in(2) => atoms.extend(parts),
            _ => atoms.push(size.clone()),
        }
    }
    let mut joined: Vec<Poly> = Vec::new();
    for atom in atoms {
        match joined.last_mut() {
            Some(last) if rng.one_in(2) => *last = last.mul(&atom).unwrap(),
            _ => joined.push(atom),
        }
    }
    joined
}

pub(crate) fn pair(rng: &mut Rng, kind: u64) -> (Case, View, View) {
    let mut case = Case::new(rng);
    let shape = case.atoms(rng);
    let mut earlier = row_major(&shape);
    for axis in 0..earlier.strides.len() {
        if kind != 1 && rng.one_in(6) {
            earlier.strides[axis] = case.free_stride();
        }
    }
    case.moved(rng, &mut earlier, kind == 1);
    if kind == 2 {
        // Anything goes: numbers and names for strides, steps and sizes.
        for axis in 0..earlier.shape.len() {
            if rng.one_in(2) {
                earlier.strides[axis] = number(rng.below(12) as i64 - 3);
            }
        }
        let rank = 1 + rng.below(2) as usize;
        let shape: Vec<Poly> = (0..rank)
            .map(|_| if rng.one_in(2) { number(1 + rng.below(5) as i64) } else { rng.pick(&case.sizes).clone() })
            .collect();
        let strides = (0..rank)
            .map(|_| match rng.below(3) {
                0 => rng.pick(&case.sizes).clone(),
                _ => number(rng.below(8) as i64),
            })
            .collect();
        let later = View { shape, strides, offset: number(rng.below(3) as i64), mask: None };
        return (case, earlier, later);
    }
    let shape = regrouped(rng, &case, &earlier.shape);
    let mut later = row_major(&shape);
    if rng.one_in(3) {
        case.moved(rng, &mut later, kind == 1);
    }
    (case, earlier, later)
}
