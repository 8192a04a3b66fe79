//! May two elements lie at one address? And the tracker that undoes a tracker, where they may not.

use std::fmt;

use shapetracker::Dims;

use crate::ask::Ask;
use crate::error::{Error, Mistake};
use crate::literal::Literal;
use crate::movement::need_inside;
use crate::operation::Movement;
use crate::poly::{MOST_STEPS, Poly, within};
use crate::region::Region;
use crate::sym::Sym;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// Two elements that lie at one address, at values of the names.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let (n, k) = (Sym::new("N", 1..), Sym::new("K", 1..));
/// let windows = ShapeTracker::contiguous([n.clone()])?.as_strided([n - &k + 1, k], [1, 1], 0)?;
/// let collision = windows.collision()?.unwrap();
/// let at = windows.at(collision.values.iter().map(|(name, value)| (&name[..], *value)))?;
/// assert_eq!(at.address(&collision.indices[0]), Some(collision.address));
/// assert_eq!(at.address(&collision.indices[1]), Some(collision.address));
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Collision {
    /// The values of the names.
    pub values: Vec<(String, i64)>,
    /// The indices of the elements.
    pub indices: [Dims; 2],
    /// The address.
    pub address: i64,
}

impl fmt::Display for Collision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Collision { values, indices: [a, b], address } = self;
        write!(f, "elements {a:?} and {b:?} both read address {address}")?;
        for (place, (name, value)) in values.iter().enumerate() {
            write!(f, "{} {name} = {value}", if place == 0 { " where" } else { "," })?;
        }
        Ok(())
    }
}

impl ShapeTracker {
    /// Two elements that some values of the names put at one address; `None` where there are none for any values, so that
    /// whatever is written through the tracker is written once.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let (h, w) = (Sym::new("H", 1..), Sym::new("W", 1..));
    /// let st = ShapeTracker::contiguous([h, w.clone()])?.permute([1, 0])?.flip([0])?;
    /// assert_eq!(st.collision()?, None);
    /// let repeated = ShapeTracker::contiguous([1])?.expand([w])?;
    /// assert_eq!(
    ///     repeated.collision()?.unwrap().to_string(),
    ///     "elements [0] and [1] both read address 0 where W = 4",
    /// );
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// It is none where the strides nest for all values: each is as long as what those below it span. Else the integers are
    /// asked at some values.
    ///
    /// # Errors
    /// That it is not known: the strides are not known to nest, and no two elements were found.
    pub fn collision(&self) -> Result<Option<Collision>, Error> {
        const OP: &str = "collision";
        within(MOST_STEPS, || {
            let mut nest = true;
            for view in self.views() {
                nest = nest && self.nested(OP, view)?.is_some();
            }
            if nest {
                return Ok(None);
            }
            match self.found_collision() {
                Some(found) => Ok(Some(found)),
                None => Err(Error::new(OP, Mistake::NotKnown("whether two elements lie at one address"))),
            }
        })
    }

    /// The tracker that undoes this one over a buffer of some shape: at each address it reads the element that this tracker
    /// has there, as a position in row-major order, and nothing where it has none. That the tracker has an element at all is
    /// needed where it is not known.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    ///
    /// let (h, w) = (Sym::new("H", 1..), Sym::new("W", 1..));
    /// let st = ShapeTracker::contiguous([h.clone(), w.clone()])?.permute([1, 0])?;
    /// // The element at an address of (H, W) is at this position of (W, H).
    /// assert_eq!(st.invert([h, w])?.to_string(), "(H, W):(1, H)");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// Two elements at one address for some values, strides that are not known to nest for all of them, addresses that are not
    /// in the buffer.
    pub fn invert(&self, buffer: impl IntoIterator<Item: Into<Sym>>) -> Result<Self, Error> {
        const OP: &str = "invert";
        let (base, buffer) = self.with_polys(OP, buffer)?;
        within(MOST_STEPS, || {
            let mut inverse: Option<ShapeTracker> = None;
            for (place, view) in base.views().iter().enumerate().rev() {
                let under = match place.checked_sub(1) {
                    None => crate::movement::product(&buffer),
                    Some(under) => base.views()[under].numel(),
                };
                let under = under.map_err(|err| Error::new(OP, err))?;
                let Some(axes) = base.nested(OP, view)? else {
                    let mistake = match base.found_collision() {
                        Some(found) => Mistake::NoInverse(format!("{found}: an inverse could not tell them apart")),
                        None => Mistake::NotKnown(
                            "whether each stride is at least what the smaller ones span, as an inverse needs it,",
                        ),
                    };
                    return Err(Error::new(OP, mistake));
                };
                let undone = base.undone(OP, view, axes, &under)?;
                inverse = Some(match inverse {
                    None => undone,
                    Some(inverse) => inverse.compose(&undone)?,
                });
            }
            inverse.unwrap_or(base).apply(&Movement::Reshape(buffer))
        })
    }

    /// The axes of a view from the longest stride on, where each stride is for all values as long as what those after it span;
    /// without those that have one element.
    fn nested(&self, op: &'static str, view: &View) -> Result<Option<Vec<usize>>, Error> {
        let ask = Ask::new(op, self.scope(), self.needs().to_vec());
        let mut axes: Vec<(usize, Poly, Poly)> = Vec::new();
        let mut some = Vec::new();
        for (axis, stride) in view.strides.iter().enumerate() {
            let (begin, end) = view.range(axis);
            let last = ask.made(end.sub(&begin).and_then(|count| count.plus_number(-1)))?;
            some.push(Literal::at_least(last.clone()));
            axes.push((axis, stride.clone(), last));
        }
        // Without elements there is nothing to tell apart.
        let mut ask = ask.assuming(some);
        if ask.is_impossible() {
            return Ok(Some(Vec::new()));
        }
        let mut sorted: Vec<(usize, Poly, Poly)> = Vec::new();
        for (axis, stride, last) in axes {
            if ask.known(&Literal::equal(last.clone()))? == Some(true) {
                continue;
            }
            let length = if ask.at_least(&stride, &Poly::zero())? == Some(true) {
                stride
            } else if ask.at_least(&Poly::zero(), &stride)? == Some(true) {
                ask.made(stride.neg())?
            } else {
                return Ok(None);
            };
            // Behind all that are known to be at least as long.
            let mut place = sorted.len();
            while place > 0 && ask.at_least(&sorted[place - 1].1, &length)? != Some(true) {
                place -= 1;
            }
            sorted.insert(place, (axis, length, last));
        }
        let mut row = Poly::one();
        for (_, length, last) in sorted.iter().rev() {
            if ask.at_least(length, &row)? != Some(true) {
                return Ok(None);
            }
            row = ask.made(length.mul(last).and_then(|span| row.add(&span)))?;
        }
        Ok(Some(sorted.into_iter().map(|(axis, ..)| axis).collect()))
    }

    /// The inverse of one view whose strides nest along these axes, over a buffer of so many elements.
    fn undone(&self, op: &'static str, view: &View, axes: Vec<usize>, len: &Poly) -> Result<Self, Error> {
        let too_large = |err| Error::new(op, err);
        let rank = view.shape.len();
        let mut ask = Ask::new(op, self.scope(), self.needs().to_vec());
        need_inside(&mut ask, view, len)?;
        let base = self.with_needs(ask.into_needs());
        let none = (0..rank).any(|axis| {
            let (begin, end) = view.range(axis);
            let count = end.sub(&begin).and_then(|count| count.plus_number(-1)).map(Literal::at_least);
            count.is_ok_and(|count| {
                matches!(Ask::new(op, base.scope(), base.needs().to_vec()).known(&count), Ok(Some(false)))
            })
        });
        if none {
            let view = View { shape: vec![len.clone()], strides: vec![Poly::zero()], offset: Poly::zero(), mask: None };
            let mask = Some(vec![(Poly::zero(), Poly::zero())]);
            return Ok(base.with_view(View { mask, ..view }));
        }
        let one_view = base.with_view(view.clone());
        let mut ask = one_view.where_elements_are()?;
        let Some((low, high)) = one_view.ends(&mut ask)? else {
            return Err(Error::new(op, Mistake::NotKnown("where the elements lie")));
        };
        let mut is_negative =
            |axis: &usize| !matches!(ask.at_least(&view.strides[*axis], &Poly::zero()), Ok(Some(true)));
        let backwards: Dims = axes.iter().filter(|axis| is_negative(axis)).map(|&axis| axis as i64).collect();
        // The axes of one element stand in front.
        let rest = (0..rank).filter(|axis| !axes.contains(axis));
        let order: Dims = rest.chain(axes.iter().copied()).map(|axis| axis as i64).collect();
        let ranges = (0..rank).map(|axis| view.range(axis)).collect();
        let rows = View::row_major(&view.shape).map_err(too_large)?;
        let ordered = base.with_view(rows).apply(&Movement::Shrink(ranges))?;
        let ordered = ordered.apply(&Movement::Flip(backwards))?.apply(&Movement::Permute(order))?;
        let mut outer: Vec<Poly> = ordered.shape()[rank - axes.len()..].to_vec();
        // As the integers do it: from the innermost axis on, each element of an axis becomes a block as long as its stride, padded
        // behind, and the axis a row of blocks without the last padding.
        let mut row = Poly::one();
        let with = |outer: &[Poly], last: &Poly| [outer, std::slice::from_ref(last)].concat();
        let mut inverse = ordered.apply(&Movement::Reshape(with(&outer, &row)))?;
        for &axis in axes.iter().rev() {
            let Some(size) = outer.pop() else { break };
            let stride = &view.strides[axis];
            let block = if is_negative(&axis) { stride.neg().map_err(too_large)? } else { stride.clone() };
            let gap = block.sub(&row).map_err(too_large)?;
            let mut pads = vec![(Poly::zero(), Poly::zero()); outer.len() + 1];
            pads.push((Poly::zero(), gap.clone()));
            inverse = inverse.apply(&Movement::Pad(pads))?;
            let blocks = size.mul(&block).map_err(too_large)?;
            inverse = inverse.apply(&Movement::Reshape(with(&outer, &blocks)))?;
            row = blocks.sub(&gap).map_err(too_large)?;
            let kept = outer.iter().chain([&row]).map(|size| (Poly::zero(), size.clone())).collect();
            inverse = inverse.apply(&Movement::Shrink(kept))?;
        }
        let inverse = inverse.apply(&Movement::Reshape(vec![row]))?;
        let behind = len.sub(&high).and_then(|rest| rest.plus_number(-1)).map_err(too_large)?;
        inverse.apply(&Movement::Pad(vec![(low, behind)]))
    }

    /// Two elements at one address, at values that are tried.
    fn found_collision(&self) -> Option<Collision> {
        let scope = self.scope();
        let mut region = Region::of(scope, self.needs())?;
        if region.samples().is_empty() {
            region.search();
        }
        let named = &scope.names()[..scope.names().len() - scope.quotients().len()];
        region.samples().iter().find_map(|point| {
            let at = self.at_point(&point[..named.len()]).ok()?;
            let indices = at.collision().ok()??;
            let value =
                |(name, value): (&crate::Name, &i128)| Some((name.name.to_string(), i64::try_from(*value).ok()?));
            let values = named.iter().zip(&point[..named.len()]).map(value).collect::<Option<_>>()?;
            Some(Collision { values, address: at.address(&indices[0])?, indices })
        })
    }
}
