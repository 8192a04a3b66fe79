//! The two sides of a pair: the earlier view as mixed-radix digits, the later one as a box of indices.
//!
//! This is the one place where positions are split into digits and where neighbouring axes are joined.

use indexpr::boundary::is_affine;
use smallvec::SmallVec;

use crate::{Dims, Ranges, View};

/// An index of a [`IndexBox`]: one entry for each of its axes.
pub(crate) type Point = SmallVec<[i64; 8]>;

/// The earlier view as a function of a linear position `x`: `x` is split into mixed-radix digits, each with a stride.
///
/// Axes of one element are left out, and neighbours that advance as one are joined (the max merge view of Schillinger,
/// section 1, through masks as well).
#[derive(Debug)]
pub(crate) struct Level {
    /// The digits, innermost first; the outermost needs no modulus because positions lie inside the view.
    pub(crate) digits: SmallVec<[Digit; 8]>,
    /// The address at position 0 by the affine formula.
    pub(crate) offset: i128,
    /// Whether some digit has a range of valid values smaller than its size.
    pub(crate) masked: bool,
}

/// A digit `floor(x / weight) mod size` of a position, valid in `begin..end`, that moves the address by `stride`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Digit {
    pub(crate) weight: i64,
    pub(crate) size: i64,
    pub(crate) stride: i64,
    pub(crate) begin: i64,
    pub(crate) end: i64,
}

/// Whether an axis goes on where the axis inside it ends, so that the two are one axis as far as addresses go.
#[inline]
pub(crate) fn continues(outer_stride: i64, inner_size: i64, inner_stride: i64) -> bool {
    // A product past `i64` is no stride of a view.
    inner_stride.checked_mul(inner_size) == Some(outer_stride)
}

impl Digit {
    /// A digit that is always 0.
    pub(crate) const ZERO: Digit = Digit { weight: 1, size: 1, stride: 0, begin: 0, end: 1 };

    pub(crate) fn is_masked(&self) -> bool {
        self.begin > 0 || self.end < self.size
    }
}

impl Level {
    /// The digits of a view that has something valid.
    #[inline]
    pub(crate) fn of(view: &View) -> Level {
        Level::joined(view, true)
    }

    /// The digits as they are the cheapest to compute: one with a single valid value is not joined to what is inside of it,
    /// and its stride, which is of no consequence, is such that the digit above goes on where it ends.
    pub(crate) fn apart(view: &View) -> Level {
        let mut level = Level::joined(view, false);
        for j in (1..level.digits.len()).rev() {
            let above = level.digits[j].stride;
            let digit = &mut level.digits[j - 1];
            if digit.end - digit.begin == 1 && above % digit.size == 0 {
                digit.stride = above / digit.size; // It was 0, as the view is canonical.
                level.offset -= i128::from(digit.stride) * i128::from(digit.begin);
            }
        }
        level
    }

    /// The digits, those of a single valid value joined to the digit inside of them or not.
    fn joined(view: &View, singles: bool) -> Level {
        let mask = view.mask();
        let mut level = Level { digits: SmallVec::new(), offset: view.offset().into(), masked: false };
        let mut inner = Digit::ZERO;
        for (axis, (&size, &stride)) in view.shape().iter().zip(view.strides()).enumerate().rev() {
            if size == 1 {
                continue;
            }
            let (begin, end) = mask.map_or((0, size), |mask| mask[axis]);
            if !inner.is_masked() && continues(stride, inner.size, inner.stride) {
                inner.begin = begin * inner.size;
                inner.end = end * inner.size;
                inner.size *= size;
            } else if singles && end - begin == 1 {
                // With one valid value (and so stride 0, in a canonical view) the axis only says in which copy of the
                // inner one the valid range lies. Values count from the first copy, so that the offset goes back by
                // as much as the range goes up.
                let shift = begin * inner.size;
                level.offset -= i128::from(inner.stride) * i128::from(shift);
                inner.begin += shift;
                inner.end += shift;
                inner.size *= size;
            } else {
                level.push(inner);
                inner = Digit { weight: inner.weight * inner.size, size, stride, begin, end };
            }
        }
        level.push(inner);
        level
    }

    fn push(&mut self, digit: Digit) {
        if digit.size > 1 {
            self.digits.push(digit);
            self.masked |= digit.is_masked();
        }
    }

    /// The view under another shape with the same number of elements, if each new axis is a part of one digit.
    ///
    /// Nearly every reshape that is one view is so in this way. `None` says nothing: [`merge`](super::merge()) decides
    /// the others.
    #[inline]
    pub(crate) fn reshaped(&self, shape: &[i64]) -> Option<View> {
        let mut strides = Dims::from_elem(0, shape.len());
        let mut mask = self.masked.then(|| shape.iter().map(|&size| (0, size)).collect::<Ranges>());
        let mut digits = self.digits.iter();
        // What is left of the digit that is being shared out.
        let mut rest = Digit::ZERO;
        for (axis, &size) in shape.iter().enumerate().rev().filter(|(_, size)| **size > 1) {
            if rest.size == 1 {
                rest = *digits.next()?;
            }
            strides[axis] = rest.stride;
            if let Some(mask) = &mut mask {
                if size == rest.size {
                    mask[axis] = (rest.begin, rest.end);
                } else if rest.begin % size == 0 && rest.end % size == 0 && rest.end - rest.begin > size {
                    // The range is whole copies of the new axis, and more than one: one copy alone would need the
                    // stride 0 of a canonical view, which is left to merging.
                    (rest.begin, rest.end) = (rest.begin / size, rest.end / size);
                } else {
                    return None;
                }
            }
            if rest.size % size != 0 {
                return None;
            }
            rest.size /= size;
            rest.stride = rest.stride.wrapping_mul(size); // It wraps only if nothing is left to use it.
        }
        Some(View::trusted(Dims::from_slice(shape), strides, i64::try_from(self.offset).ok()?, mask))
    }

    /// The address at a position, valid or not.
    pub(crate) fn address(&self, position: i64) -> i128 {
        let mut address = self.offset;
        self.each_digit(position, |digit, value| {
            address += i128::from(digit.stride) * i128::from(value);
            true
        });
        address
    }

    /// The address at a position; `None` where it is masked.
    pub(crate) fn valid_address(&self, position: i64) -> Option<i64> {
        // The address of what is valid fits, though parts of the sum may not.
        let mut address = self.offset as i64;
        let valid = self.each_digit(position, |digit, value| {
            address = address.wrapping_add(digit.stride.wrapping_mul(value));
            digit.begin <= value && value < digit.end
        });
        valid.then_some(address)
    }

    /// Shows each digit with its value at a position, innermost first, for as long as the visitor returns true. Returns
    /// whether it always did.
    pub(crate) fn each_digit(&self, position: i64, mut visit: impl FnMut(&Digit, i64) -> bool) -> bool {
        let mut rest = position;
        let outermost = self.digits.len().saturating_sub(1);
        self.digits.iter().enumerate().all(|(j, digit)| {
            if j == outermost {
                return visit(digit, rest);
            }
            let value = rest % digit.size;
            rest /= digit.size;
            visit(digit, value)
        })
    }
}

/// A box of indices of the later view, and the position that each of them reads: affine, and never negative.
///
/// Axes with one index and axes of stride 0 are left out: they do not move the position.
#[derive(Clone, Debug)]
pub(crate) struct IndexBox {
    pub(crate) axes: SmallVec<[Axis; 8]>,
    /// The position at the first corner.
    pub(crate) origin: i64,
}

/// An axis of a box: the indices `first .. first + size` of an axis of the view, `stride` positions apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) axis: usize,
    pub(crate) stride: i64,
    pub(crate) first: i64,
    pub(crate) size: i64,
}

impl IndexBox {
    /// The valid indices of a view that has some.
    #[inline]
    pub(crate) fn of(view: &View) -> IndexBox {
        let mask = view.mask();
        let mut space = IndexBox { axes: SmallVec::new(), origin: 0 };
        let mut origin = i128::from(view.offset());
        for (axis, (&size, &stride)) in view.shape().iter().zip(view.strides()).enumerate() {
            if stride != 0 {
                let (first, end) = mask.map_or((0, size), |mask| mask[axis]);
                origin += i128::from(stride) * i128::from(first);
                space.axes.push(Axis { axis, stride, first, size: end - first });
            }
        }
        space.origin = origin as i64;
        space
    }

    /// The position at a point of the box.
    pub(crate) fn position(&self, point: &[i64]) -> i64 {
        // The sum is in range though its parts may not be: for a stack of one view the positions are addresses, which
        // may span all of `i64`.
        let moved = |position: i64, (axis, &i): (&Axis, &i64)| position.wrapping_add(axis.stride.wrapping_mul(i));
        self.axes.iter().zip(point).fold(self.origin, moved)
    }

    /// The largest position.
    pub(crate) fn last(&self) -> i128 {
        let reach = |axis: &Axis| i128::from(axis.stride.max(0)) * i128::from(axis.size - 1);
        i128::from(self.origin) + self.axes.iter().map(reach).sum::<i128>()
    }

    /// Restricts an axis to the indices `from..to` of the box.
    pub(crate) fn restrict(&mut self, l: usize, from: i64, to: i64) {
        let axis = &mut self.axes[l];
        self.origin = self.origin.wrapping_add(axis.stride.wrapping_mul(from));
        axis.first += from;
        axis.size = to - from;
    }

    /// A point as an index of the view.
    pub(crate) fn index(&self, point: &[i64], view: &View) -> Dims {
        let mut index: Dims = (0..view.rank()).map(|axis| view.range(axis).0).collect();
        for (axis, &i) in self.axes.iter().zip(point) {
            index[axis.axis] = axis.first + i;
        }
        index
    }

    /// The quotient `floor(position / divisor)` as an affine function of the point, if it is one on this box.
    ///
    /// That is the boundary test ([`is_affine`]), which is exact on a box: an affine quotient must have the steps that the
    /// first step of each axis shows, and is the quotient exactly if what they leave never leaves `0..divisor`. Hands out
    /// the steps that are not 0, and returns the value at the first corner.
    pub(crate) fn quotient(&self, divisor: i64, step: impl FnMut(usize, i64)) -> Option<i64> {
        let (constant, remainder) = (self.origin / divisor, self.origin % divisor);
        let axes = self.axes.iter().map(|axis| (axis.stride, axis.size - 1));
        is_affine(remainder, divisor, axes, step).then_some(constant)
    }
}

/// An affine function on a box.
#[derive(Debug)]
pub(crate) struct Affine {
    pub(crate) constant: i128,
    pub(crate) steps: Point,
}
