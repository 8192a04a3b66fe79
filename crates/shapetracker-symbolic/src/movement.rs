//! The movement operations on one view: the formulas of the integer library over polynomials.
//!
//! A formula that holds for some values only asks for the condition. What an operation cannot be done without is needed of
//! the values; where the formula has cases and which one holds is not known, the operation is done in a view of its own on
//! top, whose axes are not masked, so that it has no cases there.

use shapetracker::{MAX_RANK, check_count};

use crate::ask::Ask;
use crate::error::{Error, Fault, Mistake, PolyText};
use crate::literal::Literal;
use crate::poly::{Poly, TooLarge};
use crate::view::View;

/// What an operation makes of the last view of a stack.
pub(crate) enum Moved {
    /// A view in its place.
    Within(View),
    /// A view on top of it.
    Over(View),
}

/// A half-open range of each axis.
type Ranges = Vec<(Poly, Poly)>;

impl View {
    /// The row-major view of a shape.
    pub(crate) fn row_major(shape: &[Poly]) -> Result<View, TooLarge> {
        let strides = row_major(shape)?;
        Ok(View { shape: shape.to_vec(), strides, offset: Poly::zero(), mask: None })
    }

    /// The number of elements.
    pub(crate) fn numel(&self) -> Result<Poly, TooLarge> {
        product(&self.shape)
    }

    /// The valid indices of an axis.
    pub(crate) fn range(&self, axis: usize) -> (Poly, Poly) {
        match &self.mask {
            Some(mask) => mask[axis].clone(),
            None => (Poly::zero(), self.shape[axis].clone()),
        }
    }

    /// The view with a mask that is left out where it covers every axis, as polynomials.
    fn masked(mut self, mask: Option<Ranges>) -> View {
        let covers =
            |mask: &Ranges| mask.iter().zip(&self.shape).all(|((begin, end), size)| begin.is_zero() && end == size);
        self.mask = mask.filter(|mask| !covers(mask));
        self
    }

    pub(crate) fn permute(&self, order: &[usize]) -> View {
        let pick = |list: &[Poly]| order.iter().map(|&axis| list[axis].clone()).collect();
        View {
            shape: pick(&self.shape),
            strides: pick(&self.strides),
            offset: self.offset.clone(),
            mask: self.mask.as_ref().map(|mask| order.iter().map(|&axis| mask[axis].clone()).collect()),
        }
    }

    pub(crate) fn expand(&self, ask: &mut Ask<'_>, sizes: &[Poly]) -> Result<View, Error> {
        check_count(ask.op, "size", self.shape.len(), sizes.len())?;
        let mut view = self.clone();
        for (axis, (to, size)) in sizes.iter().zip(&self.shape).enumerate() {
            if to.number() == Some(-1) || to == size {
                continue;
            }
            need_size(ask, axis, to)?;
            if ask.equal(size, &Poly::one())? != Some(true) {
                match ask.equal(size, to)? {
                    Some(true) => continue,
                    Some(false) if ask.equal(size, &Poly::one())? == Some(false) => {
                        return Err(ask.err(Fault::Expand { axis, size: ask.text(size), to: ask.text(to) }));
                    }
                    _ => return Err(ask.err(Mistake::ExpandUnknown { axis, size: ask.text(size), to: ask.text(to) })),
                }
            }
            view.shape[axis] = to.clone();
            view.strides[axis] = Poly::zero();
            if let Some(mask) = &mut view.mask {
                // The one element is valid if the range is (0, 1), and else the range has no length: its copies are what
                // it is.
                let valid = ask.made(mask[axis].1.sub(&mask[axis].0))?;
                mask[axis] = (Poly::zero(), ask.made(valid.mul(to))?);
            }
        }
        let mask = view.mask.take();
        Ok(view.masked(mask))
    }

    pub(crate) fn pad(&self, ask: &mut Ask<'_>, pads: &[(Poly, Poly)]) -> Result<View, Error> {
        check_count(ask.op, "pair (before, after)", self.shape.len(), pads.len())?;
        let (mut view, mut mask) = (self.clone(), Ranges::new());
        for (axis, (before, after)) in pads.iter().enumerate() {
            for pad in [before, after] {
                ask.need_at_least(pad, &Poly::zero(), |ask| {
                    let (before, after) = (ask.text(before), ask.text(after));
                    Fault::NegativePad { axis, before, after }
                })?;
            }
            let (begin, end) = self.range(axis);
            view.shape[axis] = ask.made(self.shape[axis].add(before).and_then(|size| size.add(after)))?;
            view.offset = ask.made(before.mul(&self.strides[axis]).and_then(|moved| view.offset.sub(&moved)))?;
            mask.push(ask.made(begin.add(before).and_then(|begin| Ok((begin, end.add(before)?))))?);
        }
        Ok(view.masked((!mask.is_empty()).then_some(mask)))
    }

    pub(crate) fn shrink(&self, ask: &mut Ask<'_>, ranges: &[(Poly, Poly)]) -> Result<Moved, Error> {
        check_count(ask.op, "range (begin, end)", self.shape.len(), ranges.len())?;
        for (axis, ((begin, end), size)) in ranges.iter().zip(&self.shape).enumerate() {
            let reversed = |[begin, end, size]: [PolyText; 3]| Fault::RangeReversed { axis, begin, end, size };
            let outside = |[begin, end, size]: [PolyText; 3]| Fault::RangeOutside { axis, begin, end, size };
            need_range(ask, [begin, end, size], reversed, outside)?;
        }
        self.shrunk(ask, ranges)
    }

    /// [`View::shrink`] to ranges that are known to lie inside.
    fn shrunk(&self, ask: &mut Ask<'_>, ranges: &[(Poly, Poly)]) -> Result<Moved, Error> {
        let (mut view, mut mask) = (self.clone(), self.mask.clone());
        for (axis, (begin, end)) in ranges.iter().enumerate() {
            view.shape[axis] = ask.made(end.sub(begin))?;
            view.offset = ask.made(begin.mul(&self.strides[axis]).and_then(|moved| view.offset.add(&moved)))?;
            if let Some(mask) = &mut mask {
                let clamped = [&mask[axis].0, &mask[axis].1].map(|bound| clamp(ask, bound, begin, end));
                let [Some(first), Some(last)] = [clamped[0].clone()?, clamped[1].clone()?] else {
                    let rows = ask.made(View::row_major(&self.shape))?;
                    return Ok(Moved::Over(rows.shrunk(ask, ranges)?.view()));
                };
                mask[axis] = ask.made(first.sub(begin).and_then(|first| Ok((first, last.sub(begin)?))))?;
            }
        }
        Ok(Moved::Within(view.masked(mask)))
    }

    pub(crate) fn flip(&self, ask: &Ask<'_>, axes: &[usize]) -> Result<View, Error> {
        let mut view = self.clone();
        for &axis in axes {
            let size = &self.shape[axis];
            let last = size.plus_number(-1).and_then(|last| last.mul(&self.strides[axis]));
            view.offset = ask.made(last.and_then(|last| view.offset.add(&last)))?;
            view.strides[axis] = ask.made(self.strides[axis].neg())?;
            if let Some(mask) = &mut view.mask {
                let (begin, end) = &mask[axis];
                mask[axis] = ask.made(size.sub(end).and_then(|first| Ok((first, size.sub(begin)?))))?;
            }
        }
        Ok(view)
    }

    pub(crate) fn step(&self, ask: &mut Ask<'_>, steps: &[i64]) -> Result<Moved, Error> {
        check_count(ask.op, "step", self.shape.len(), steps.len())?;
        if let Some(axis) = steps.iter().position(|&step| step == 0) {
            return Err(ask.err(Fault::ZeroStep { axis }));
        }
        let backwards: Vec<usize> = (0..steps.len()).filter(|&axis| steps[axis] < 0).collect();
        let mut view = self.flip(ask, &backwards)?;
        let mut mask = view.mask.take();
        for (axis, &step) in steps.iter().enumerate() {
            let by = i128::from(step).abs();
            let size = view.shape[axis].clone();
            let Some(count) = div_ceil(ask, &size, by)? else {
                return Err(ask.err(Mistake::StepUneven { axis, size: ask.text(&size), step }));
            };
            view.shape[axis] = count;
            view.strides[axis] = ask.made(view.strides[axis].scale(by))?;
            if let Some(mask) = &mut mask {
                // New index `i` is old index `i * step`: it is valid from the first multiple at or after `begin`.
                let (begin, end) = &mask[axis];
                let [Some(first), Some(last)] = [div_ceil(ask, begin, by)?, div_ceil(ask, end, by)?] else {
                    let rows = ask.made(View::row_major(&self.shape))?;
                    return Ok(Moved::Over(rows.step(ask, steps)?.view()));
                };
                mask[axis] = (first, last);
            }
        }
        Ok(Moved::Within(view.masked(mask)))
    }
}

impl Moved {
    fn view(self) -> View {
        match self {
            Moved::Within(view) | Moved::Over(view) => view,
        }
    }
}

/// A bound of a mask cut off at the ends of a range; `None` where on which side it lies is not known.
fn clamp(ask: &mut Ask<'_>, bound: &Poly, begin: &Poly, end: &Poly) -> Result<Option<Poly>, Error> {
    // In this order nothing is asked of a range that is empty: what is below its begin is cut off there.
    Ok(match (ask.at_least(bound, begin)?, ask.at_least(end, bound)?) {
        (Some(true), Some(true)) => Some(bound.clone()),
        (Some(false), _) => Some(begin.clone()),
        (_, Some(false)) => Some(end.clone()),
        // A bound that is nowhere inside the range, but at its begin at most.
        _ if ask.at_least(begin, bound)? == Some(true) => Some(begin.clone()),
        _ if ask.at_least(bound, end)? == Some(true) => Some(end.clone()),
        _ => None,
    })
}

/// The quotient by a number, rounded up, of what is not negative; `None` where it is not known to be a polynomial.
fn div_ceil(ask: &mut Ask<'_>, dividend: &Poly, by: i128) -> Result<Option<Poly>, Error> {
    if by == 1 {
        return Ok(Some(dividend.clone()));
    }
    if let Some(number) = dividend.number() {
        return Ok(Some(Poly::from(shapetracker_base::int::div_ceil(number, by))));
    }
    // All terms but the constant one are multiples, so that what is left to the next multiple is a number.
    let up = (by - dividend.constant().rem_euclid(by)) % by;
    let raised = ask.made(dividend.plus_number(up))?;
    if let Some(quotient) = ask.made(raised.div_exact(&Poly::from(by)))? {
        return Ok(Some(quotient));
    }
    // From 1 to `by` the quotient is 1.
    let one =
        ask.at_least(dividend, &Poly::one())? == Some(true) && ask.at_least(&Poly::from(by), dividend)? == Some(true);
    Ok(one.then(Poly::one))
}

/// The product of sizes.
pub(crate) fn product(sizes: &[Poly]) -> Result<Poly, TooLarge> {
    sizes.iter().try_fold(Poly::one(), |product, size| product.mul(size))
}

/// The row-major strides of a shape: the products of the later sizes.
pub(crate) fn row_major(shape: &[Poly]) -> Result<Vec<Poly>, TooLarge> {
    let mut strides = shape.to_vec();
    let mut product = Poly::one();
    for stride in strides.iter_mut().rev() {
        let size = std::mem::replace(stride, product.clone());
        product = product.mul(&size)?;
    }
    Ok(strides)
}

/// Makes a size one that is not negative.
pub(crate) fn need_size(ask: &mut Ask<'_>, axis: usize, size: &Poly) -> Result<(), Error> {
    ask.need_at_least(size, &Poly::zero(), |ask| Fault::NegativeSize { axis, size: ask.text(size) })
}

/// A shape that may be one: not too many axes, and no negative size.
pub(crate) fn need_shape(ask: &mut Ask<'_>, shape: &[Poly]) -> Result<(), Error> {
    if shape.len() > MAX_RANK {
        return Err(ask.err(Fault::TooManyAxes { given: shape.len() }));
    }
    shape.iter().enumerate().try_for_each(|(axis, size)| need_size(ask, axis, size))
}

/// Makes a range from `begin` to `end` lie inside an axis of a size.
pub(crate) fn need_range(
    ask: &mut Ask<'_>,
    range: [&Poly; 3],
    reversed: impl Fn([PolyText; 3]) -> Fault,
    outside: impl Fn([PolyText; 3]) -> Fault,
) -> Result<(), Error> {
    let [begin, end, size] = range;
    ask.need_at_least(begin, &Poly::zero(), |ask| outside(range.map(|poly| ask.text(poly))))?;
    ask.need_at_least(end, begin, |ask| reversed(range.map(|poly| ask.text(poly))))?;
    ask.need_at_least(size, end, |ask| outside(range.map(|poly| ask.text(poly))))
}

/// Makes the addresses that a view reads lie in `0..len`, where it reads any.
pub(crate) fn need_inside(ask: &mut Ask<'_>, view: &View, len: &Poly) -> Result<(), Error> {
    // All of it in its order, whatever is known of the sizes but that they are none below 0.
    if View::row_major(&view.shape).is_ok_and(|rows| rows == *view) && view.numel().is_ok_and(|numel| numel == *len) {
        return Ok(());
    }
    let one = Poly::one();
    let (mut low, mut high) = (view.offset.clone(), view.offset.clone());
    // How many entries of each axis are valid, of the axes of which it may be none.
    let mut counts = Vec::new();
    for axis in 0..view.shape.len() {
        let (begin, end) = view.range(axis);
        let count = ask.made(end.sub(&begin))?;
        if ask.at_least(&count, &one)? != Some(true) {
            counts.push(count);
        }
    }
    let mut nonempty = Vec::new();
    for count in &counts {
        nonempty.push(Literal::at_least(ask.made(count.sub(&one))?));
    }
    for (axis, stride) in view.strides.iter().enumerate() {
        let (begin, end) = view.range(axis);
        let last = ask.made(end.sub(&one))?;
        if stride.is_zero() {
            continue;
        }
        let (first, last) = (ask.made(begin.mul(stride))?, ask.made(last.mul(stride))?);
        // Of one element it is the same from both ends. The sign of a stride says which end is the lower one.
        let (lower, upper) = if first == last || ask.at_least(stride, &Poly::zero())? == Some(true) {
            (first, last)
        } else if ask.at_least(&Poly::zero(), stride)? == Some(true) {
            (last, first)
        } else {
            // Where something is read more may be known of it.
            let mut read = ask.assuming(nonempty.iter().cloned());
            match [read.at_least(stride, &Poly::zero()), read.at_least(&Poly::zero(), stride)] {
                // Nothing is ever valid.
                _ if !nonempty.is_empty() && read.known(&nonempty[0]).is_err() => return Ok(()),
                [Ok(Some(true)), _] => (first, last),
                [_, Ok(Some(true))] => (last, first),
                _ => {
                    let says = ask.not_negative(stride);
                    return Err(ask.err(Mistake::SignUnknown { axis, stride: ask.text(stride), says }));
                }
            }
        };
        low = ask.made(low.add(&lower))?;
        high = ask.made(high.add(&upper))?;
    }
    let above = ask.made(len.sub(&one).and_then(|top| top.sub(&high)))?;
    for poly in [low.clone(), above] {
        let mut literal = Literal::at_least(poly);
        if ask.known(&literal)? == Some(true) {
            continue;
        }
        match ask.assuming(nonempty.iter().cloned()).known(&literal) {
            Ok(Some(true)) => continue,
            // Nothing is ever valid.
            Err(_) => return Ok(()),
            Ok(_) => {}
        }
        // A view without valid elements reads nothing, and needs nothing. How many entries of an axis are valid is never
        // negative, so that a product with it is not negative exactly where there are none or the other factor is not. It
        // is left away where the condition holds anyway if there are none.
        for count in &counts {
            let holds_without = ask.assuming([Literal::equal(count.clone())]).known(&literal);
            if !matches!(holds_without, Ok(Some(true)) | Err(_)) {
                literal = Literal::at_least(ask.made(literal.poly.mul(count))?);
            }
        }
        ask.need(literal, |ask| Fault::AddressOutside {
            low: ask.text(&low),
            high: ask.text(&high),
            len: ask.text(len),
        })?;
    }
    Ok(())
}
