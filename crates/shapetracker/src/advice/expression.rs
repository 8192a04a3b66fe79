//! Is an index expression over variables one strided view?

use indexpr::{Binary, Expr, Graph, Node};

use crate::error::{Error, Fault};
use crate::merge::{UnitStep, Unmerged, Witness};
use crate::{Dims, Ranges, View};

/// All elements are looked at where there are no more.
const MOST_ELEMENTS: i64 = 1 << 22;
/// The most parts of expressions that this evaluates, counted for each element.
const MOST_PARTS: i64 = 1 << 27;
/// How many points of a larger space are looked at.
const SAMPLES: usize = 2048;
/// The coefficients that are computed while expressions are read as affine ones.
const MOST_COEFFICIENTS: usize = 1 << 20;

/// The view that an index is where a condition holds, or evidence that it is none. Each variable of the graph is an axis; the
/// index 0 of an axis is the first value of its variable.
///
/// What is affine as it is written, under conditions on single variables, is decided at any size. Of everything else all
/// elements are looked at, up to some millions of them; beyond, points at random find evidence against a view where it is not
/// rare, and else it stays undecided. An expression is best simplified first
/// ([`Graph::simplify_pair`](indexpr::Graph::simplify_pair)).
///
/// A view that reads below address 0, as `i - 3` does, is answered like any other; no array has it, and code for it is refused
/// ([`View::fits_buffer`]).
///
/// ```
/// use shapetracker::advice::one_view;
/// use shapetracker::expr::{Graph, Syntax};
///
/// let mut graph = Graph::new();
/// graph.variable("y", 0..3)?;
/// graph.variable("x", 0..4)?;
/// let valid = graph.parse("x < 3", Syntax::Python)?;
/// let index = graph.parse("4*y + x - x // 4", Syntax::Python)?;
/// assert_eq!(one_view(&graph, index, valid).unwrap().to_string(), "(3, 4):(4, 1) mask ((0, 3), (0, 3))");
///
/// let index = graph.parse("4*y + x // 2", Syntax::Python)?;
/// assert_eq!(
///     one_view(&graph, index, valid).unwrap_err().to_string(),
///     "along axis 1 the address moves by 0 from [0, 0] to [0, 1] (0 to 0), \
///      but by 1 from [0, 1] to [0, 2] (0 to 1): one stride cannot do both",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`Unmerged::Witness`] with evidence, in indices that begin at 0; [`Unmerged::Undecided`]; a number past `i64`, and what
/// evaluating reports.
///
/// # Cost
/// That of reading the expressions where they are affine, else that of evaluating them for the elements that are looked at.
pub fn one_view(graph: &Graph, index: Expr, valid: Expr) -> Result<View, Unmerged> {
    let begins: Dims = graph.variables().iter().map(|variable| variable.range.start).collect();
    let size = |axis: usize| {
        let range = &graph.variables()[axis].range;
        range.end.checked_sub(range.start).ok_or_else(|| overflow("a size"))
    };
    let shape: Dims = (0..begins.len()).map(size).collect::<Result<_, _>>()?;
    let space = Space { graph, index, valid, begins, shape };
    if space.shape.is_empty() {
        // The empty mask is that of a masked scalar, which no ranges can say.
        return Ok(match space.address(&[])? {
            Some(address) => View::new([], [], address, None)?,
            None => View::new([], [], 0, Some(&[]))?,
        });
    }
    if let Some(view) = space.affine()? {
        return Ok(view);
    }
    let is_empty = space.shape.contains(&0);
    let numel =
        if is_empty { Some(0) } else { space.shape.iter().try_fold(1_i64, |numel, size| numel.checked_mul(*size)) };
    let parts = graph.parts(&[index, valid]).len() as i64;
    match numel {
        Some(numel) if numel <= MOST_ELEMENTS && numel <= MOST_PARTS / parts.max(1) => space.walked(),
        _ => space.sampled(),
    }
}

/// Expressions over a box of indices.
struct Space<'a> {
    graph: &'a Graph,
    index: Expr,
    valid: Expr,
    begins: Dims,
    shape: Dims,
}

/// A constant, and a coefficient for each variable.
type Affine = (i128, Vec<i128>);

/// What a part of an expression is, as far as it is known.
enum Known {
    Number(Affine),
    /// The indices for which a condition holds.
    Box(Ranges),
    Nothing,
}

impl Space<'_> {
    /// The view, where both expressions can be read as one.
    fn affine(&self) -> Result<Option<View>, Unmerged> {
        let parts = self.graph.parts(&[self.index, self.valid]);
        if parts.len().saturating_mul(self.shape.len() + 1) > MOST_COEFFICIENTS {
            return Ok(None);
        }
        // Operands come before what is made of them.
        let mut known: Vec<Known> = Vec::with_capacity(parts.len());
        for &part in &parts {
            let of = |operand: Expr| parts.binary_search(&operand).ok().and_then(|at| known.get(at));
            known.push(self.known(part, &of).unwrap_or(Known::Nothing));
        }
        let of = |expr: Expr| parts.binary_search(&expr).ok().map(|at| &known[at]);
        let (Some(Known::Number((constant, factors))), Some(Known::Box(ranges))) = (of(self.index), of(self.valid))
        else {
            return Ok(None);
        };
        let mut offset = *constant;
        for (factor, &begin) in factors.iter().zip(&self.begins) {
            let product = factor.checked_mul(begin.into()).and_then(|product| offset.checked_add(product));
            offset = product.ok_or_else(|| overflow("an address"))?;
        }
        let strides: Option<Dims> = factors.iter().map(|&factor| i64::try_from(factor).ok()).collect();
        let strides = strides.ok_or_else(|| overflow("a stride"))?;
        let offset = i64::try_from(offset).map_err(|_| overflow("an address"))?;
        self.view(&strides, offset, ranges).map(Some)
    }

    fn view(&self, strides: &[i64], offset: i64, ranges: &Ranges) -> Result<View, Unmerged> {
        let is_full = ranges.iter().zip(&self.shape).all(|(range, size)| *range == (0, *size));
        let mask = (!is_full).then(|| ranges.to_vec());
        Ok(View::new(&self.shape, strides, offset, mask.as_deref())?)
    }

    fn known<'k>(&self, part: Expr, of: &dyn Fn(Expr) -> Option<&'k Known>) -> Option<Known> {
        let number = |expr: Expr| match of(expr)? {
            Known::Number(number) => Some(number),
            _ => None,
        };
        let ranges = |expr: Expr| match of(expr)? {
            Known::Box(ranges) => Some(ranges),
            _ => None,
        };
        let none = || vec![0; self.shape.len()];
        let sum = |a: &Affine, times: i128, b: &Affine| -> Option<Affine> {
            let add = |a: i128, b: i128| times.checked_mul(b)?.checked_add(a);
            let factors = a.1.iter().zip(&b.1).map(|(&a, &b)| add(a, b)).collect::<Option<Vec<i128>>>()?;
            Some((add(a.0, b.0)?, factors))
        };
        let full = || self.shape.iter().map(|&size| (0, size)).collect::<Ranges>();
        Some(match self.graph.node(part) {
            Node::Int(value) => Known::Number((value.into(), none())),
            Node::Bool(true) => Known::Box(full()),
            Node::Bool(false) => Known::Box(self.shape.iter().map(|_| (0, 0)).collect()),
            Node::Variable(variable) => {
                let mut factors = none();
                factors[variable] = 1;
                Known::Number((0, factors))
            }
            Node::Within(value, begin, end) => {
                let value = number(value)?;
                let below = self.range(value, Some(begin.into()), Some(i128::from(end) - 1))?;
                Known::Box(below)
            }
            Node::Binary(Binary::And, a, b) => {
                let both = ranges(a)?.iter().zip(ranges(b)?).map(|(a, b)| (a.0.max(b.0), a.1.min(b.1)));
                let both: Ranges = both.collect();
                let is_empty = both.iter().any(|(begin, end)| begin >= end);
                Known::Box(if is_empty { both.iter().map(|_| (0, 0)).collect() } else { both })
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (number(a)?, number(b)?);
                let difference = || sum(a, -1, b);
                match op {
                    Binary::Add => Known::Number(sum(a, 1, b)?),
                    Binary::Sub => Known::Number(difference()?),
                    Binary::Mul if a.1.iter().all(|factor| *factor == 0) => Known::Number(sum(&(0, none()), a.0, b)?),
                    Binary::Mul if b.1.iter().all(|factor| *factor == 0) => Known::Number(sum(&(0, none()), b.0, a)?),
                    Binary::Lt => Known::Box(self.range(&difference()?, None, Some(-1))?),
                    Binary::Le => Known::Box(self.range(&difference()?, None, Some(0))?),
                    Binary::Gt => Known::Box(self.range(&difference()?, Some(1), None)?),
                    Binary::Ge => Known::Box(self.range(&difference()?, Some(0), None)?),
                    Binary::Eq => Known::Box(self.range(&difference()?, Some(0), Some(0))?),
                    _ => return None,
                }
            }
            _ => return None,
        })
    }

    /// The indices for which an affine expression of at most one variable lies between two numbers.
    fn range(&self, value: &Affine, least: Option<i128>, most: Option<i128>) -> Option<Ranges> {
        let mut ranges: Ranges = self.shape.iter().map(|&size| (0, size)).collect();
        let empty = || self.shape.iter().map(|_| (0, 0)).collect::<Ranges>();
        let mut axes = value.1.iter().enumerate().filter(|(_, factor)| **factor != 0);
        let (axis, &factor) = match (axes.next(), axes.next()) {
            (None, _) => {
                let holds = least.is_none_or(|least| least <= value.0) && most.is_none_or(|most| value.0 <= most);
                return Some(if holds { ranges } else { empty() });
            }
            (Some(one), None) => one,
            _ => return None,
        };
        // `least <= constant + factor * (begin + i) <= most`, with a positive factor.
        let constant = value.0.checked_add(factor.checked_mul(self.begins[axis].into())?)?;
        let minus = |bound: Option<i128>| match bound {
            Some(bound) => bound.checked_sub(constant).map(Some),
            None => Some(None),
        };
        let (mut least, mut most) = (minus(least)?, minus(most)?);
        if factor < 0 {
            (least, most) = (most.map(|most| -most), least.map(|least| -least));
        }
        let factor = factor.checked_abs()?;
        let first = least.map_or(0, |least| -(-least).div_euclid(factor)).max(0);
        let end = most.map_or(i128::from(self.shape[axis]), |most| most.div_euclid(factor) + 1);
        let end = end.min(self.shape[axis].into());
        if first >= end {
            return Some(empty());
        }
        ranges[axis] = (first as i64, end as i64);
        Some(ranges)
    }

    /// The address of an index; nothing where it is masked.
    fn address(&self, index: &[i64]) -> Result<Option<i64>, Unmerged> {
        let values: Dims = index.iter().zip(&self.begins).map(|(i, begin)| i + begin).collect();
        if self.graph.evaluate(self.valid, &values).map_err(Error::from)? == 0 {
            return Ok(None);
        }
        Ok(Some(self.graph.evaluate(self.index, &values).map_err(Error::from)?))
    }

    /// The answer by all elements.
    fn walked(&self) -> Result<View, Unmerged> {
        let mut walk = Walk::new(self);
        let (mut place, mut count, mut found) = (Dims::from_elem(0, self.shape.len()), 0_i64, Ok(()));
        let next = |place: &mut Dims| {
            for axis in (0..place.len()).rev() {
                place[axis] += 1;
                if place[axis] < self.shape[axis] {
                    return;
                }
                place[axis] = 0;
            }
        };
        let done = self.graph.evaluate_all(&[self.index, self.valid], |columns| {
            for (&address, &valid) in columns[0].iter().zip(columns[1]) {
                if valid == 1 && found.is_ok() {
                    count += 1;
                    found = walk.meet(&place, address);
                }
                next(&mut place);
            }
        });
        done.map_err(Error::from)?;
        found?;
        let Some(corners) = &walk.corners else {
            return self.view(&Dims::from_elem(0, self.shape.len()), 0, &self.shape.iter().map(|_| (0, 0)).collect());
        };
        let ranges: Ranges = corners[0].iter().zip(&corners[1]).map(|(low, high)| (*low, high + 1)).collect();
        if ranges.iter().map(|(begin, end)| end - begin).product::<i64>() != count {
            // Both corners are valid, and something between them is not.
            let mut at: Dims = corners[0].clone();
            loop {
                if self.address(&at)?.is_none() {
                    return Err(Unmerged::Witness(Witness::NotABox { valid: corners.clone(), invalid: at }));
                }
                let Some(axis) = (0..at.len()).rev().find(|&axis| at[axis] + 1 < ranges[axis].1) else {
                    return Err(Unmerged::Undecided);
                };
                at[axis] += 1;
                at[axis + 1..].copy_from_slice(&corners[0][axis + 1..]);
            }
        }
        let Some((start, address)) = &walk.start else { return Err(Unmerged::Undecided) };
        let strides: Dims =
            walk.steps.iter().map(|step| step.as_ref().map_or(Ok(0), stride)).collect::<Result<_, _>>()?;
        let mut offset = i128::from(*address);
        for (stride, at) in strides.iter().zip(start) {
            offset -= i128::from(*stride) * i128::from(*at);
        }
        let offset = i64::try_from(offset).map_err(|_| overflow("the offset"))?;
        self.view(&strides, offset, &ranges)
    }

    /// Evidence against a view at points at random; where there is none, it stays undecided.
    fn sampled(&self) -> Result<View, Unmerged> {
        let mut walk = Walk::new(self);
        let mut state = 1_u64;
        let mut below = |bound: i64| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            ((i128::from(state >> 1) * i128::from(bound)) >> 63) as i64
        };
        for round in 0..SAMPLES {
            let place: Dims = self
                .shape
                .iter()
                .map(|&size| match round {
                    0 => 0,
                    1 => size - 1,
                    // Near the beginning of an axis there is something to see as often as anywhere.
                    _ if below(4) == 0 => below(size.min(64)),
                    _ => below(size),
                })
                .collect();
            if let Some(address) = self.address(&place)? {
                walk.meet(&place, address)?;
            }
        }
        Err(Unmerged::Undecided)
    }
}

/// The elements that have been met, which so far are those of one view.
struct Walk<'a> {
    space: &'a Space<'a>,
    /// The first element, and its address.
    start: Option<(Dims, i64)>,
    /// The least and the greatest index along every axis: both are valid.
    corners: Option<[Dims; 2]>,
    /// One unit step along each axis.
    steps: Vec<Option<UnitStep>>,
}

impl Walk<'_> {
    fn new<'a>(space: &'a Space<'a>) -> Walk<'a> {
        Walk { space, start: None, corners: None, steps: vec![None; space.shape.len()] }
    }

    /// Takes up a valid element, or finds that it belongs to no view with those before.
    ///
    /// The valid elements of a view are a box, so that with two of them all are valid that lie between them. And its
    /// addresses are affine: where the address of an element is not what the unit steps that are known say, one of the steps
    /// on a path to it is different, which bisection finds.
    fn meet(&mut self, place: &Dims, address: i64) -> Result<(), Unmerged> {
        let Some((start, first)) = self.start.clone() else {
            self.start = Some((place.clone(), address));
            self.corners = Some([place.clone(), place.clone()]);
            return Ok(());
        };
        if let Some(corners) = &mut self.corners {
            for (corner, pick) in corners.iter_mut().zip([i64::min, i64::max]) {
                let moved: Dims = corner.iter().zip(place).map(|(&a, &b)| pick(a, b)).collect();
                if moved != *corner {
                    if self.space.address(&moved)?.is_none() {
                        let valid = [corner.clone(), place.clone()];
                        return Err(Unmerged::Witness(Witness::NotABox { valid, invalid: moved }));
                    }
                    *corner = moved;
                }
            }
        }
        let between = |point: &[i64]| match self.space.address(point)? {
            Some(address) => Ok(address),
            None => {
                let valid = [start.clone(), place.clone()];
                Err(Unmerged::Witness(Witness::NotABox { valid, invalid: point.into() }))
            }
        };
        for axis in (0..start.len()).filter(|&axis| start[axis] != place[axis]) {
            if self.steps[axis].is_none() {
                let mut near = place.clone();
                near[axis] -= (place[axis] - start[axis]).signum();
                let other = between(&near)?;
                self.steps[axis] = Some(match near[axis] < place[axis] {
                    true => UnitStep::new(&near, other, address),
                    false => UnitStep::new(place, address, other),
                });
            }
        }
        let said = |point: &[i64]| -> i128 {
            let moves = self.steps.iter().zip(point.iter().zip(&start));
            let moved = moves.map(|(step, (to, from))| {
                step.as_ref().map_or(0, |step| step.moved().saturating_mul(i128::from(to - from)))
            });
            moved.fold(first.into(), i128::saturating_add)
        };
        if said(place) == i128::from(address) {
            return Ok(());
        }
        // The path goes along one axis after the other.
        let lengths = start.iter().zip(place).map(|(from, to)| i128::from(to - from).abs());
        let point = |mut steps: i128| -> Dims {
            let towards = |(&from, &to): (&i64, &i64)| {
                let here = steps.min(i128::from(to - from).abs());
                steps -= here;
                from + (to - from).signum() * here as i64
            };
            start.iter().zip(place).map(towards).collect()
        };
        let (mut low, mut high) = (0, lengths.sum::<i128>());
        while high - low > 1 {
            let middle = (low + high) / 2;
            let at = point(middle);
            if said(&at) == i128::from(between(&at)?) { low = middle } else { high = middle }
        }
        let (mut a, mut b) = (point(low), point(high));
        let Some(axis) = (0..a.len()).find(|&axis| a[axis] != b[axis]) else { return Err(Unmerged::Undecided) };
        if a[axis] > b[axis] {
            std::mem::swap(&mut a, &mut b);
        }
        let Some(known) = self.steps[axis].clone() else { return Err(Unmerged::Undecided) };
        let other = UnitStep::new(&a, between(&a)?, between(&b)?);
        Err(Unmerged::Witness(Witness::UnevenStep { axis, steps: [known, other] }))
    }
}

fn stride(step: &UnitStep) -> Result<i64, Unmerged> {
    i64::try_from(step.moved()).map_err(|_| overflow("a stride"))
}

fn overflow(what: &'static str) -> Unmerged {
    Unmerged::Error(Error::new("view", Fault::Overflow { what }))
}
