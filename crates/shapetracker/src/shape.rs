//! Sizes: checked products, row-major strides, unravelling; and the axes that numbers name.

use crate::error::{Error, Fault};
use crate::number::Number;
use crate::{Dims, PerAxis};

/// The most axes a view may have (the limit of NumPy and PyTorch).
///
/// ```
/// use shapetracker::{MAX_RANK, View};
///
/// assert!(View::contiguous([1; MAX_RANK]).is_ok());
/// assert!(View::contiguous([1; MAX_RANK + 1]).is_err());
/// ```
pub const MAX_RANK: usize = 64;

/// The number of elements of a shape, or an error for a negative size, too many axes or a product past `i64`.
pub(crate) fn checked_numel(op: &'static str, shape: &[i64]) -> Result<i64, Error> {
    if shape.len() > MAX_RANK {
        return Err(Error::new(op, Fault::TooManyAxes { given: shape.len() }));
    }
    let mut product = Some(1i64);
    let mut empty = false;
    for (axis, &size) in shape.iter().enumerate() {
        if size < 0 {
            return Err(Error::new(op, Fault::NegativeSize { axis, size }));
        }
        empty |= size == 0;
        product = product.and_then(|p| p.checked_mul(size));
    }
    match product {
        _ if empty => Ok(0),
        Some(numel) => Ok(numel),
        None => Err(Error::new(op, Fault::TooManyElements { shape: shape.into() })),
    }
}

/// The row-major strides of a shape whose number of elements is known to fit: the product of the later sizes.
pub(crate) fn row_major(shape: &[i64]) -> Dims {
    // Without elements the other sizes may multiply up to anything.
    if shape.contains(&0) {
        return Dims::from_elem(0, shape.len());
    }
    let mut strides = Dims::from_slice(shape);
    let mut product = 1;
    for stride in strides.iter_mut().rev() {
        product *= std::mem::replace(stride, product);
    }
    strides
}

/// The index of an element of a shape by its position in row-major order: the mixed-radix digits of the position.
/// `None` where the shape has no such element.
///
/// ```
/// use shapetracker::unravel_index;
///
/// assert_eq!(unravel_index(5, [2, 3, 4]).unwrap()[..], [0, 1, 1]);
/// assert_eq!(unravel_index(24, [2, 3, 4]), None);
/// assert_eq!(unravel_index(0, [0i64; 0]).unwrap()[..], [0i64; 0]);
/// ```
pub fn unravel_index(position: i64, shape: impl AsRef<[i64]>) -> Option<Dims> {
    let shape = shape.as_ref();
    let numel = checked_numel("unravel_index", shape).ok()?;
    (0..numel).contains(&position).then(|| unravel(position, shape))
}

/// The position of an element of a shape in row-major order, by its index: the inverse of [`unravel_index`]. `None` where
/// the shape has no such element, or the index has another number of entries.
///
/// ```
/// use shapetracker::ravel_index;
///
/// assert_eq!(ravel_index(&[0, 1, 1], [2, 3, 4]), Some(5));
/// assert_eq!(ravel_index(&[0, 3, 0], [2, 3, 4]), None);
/// assert_eq!(ravel_index(&[], [0i64; 0]), Some(0));
/// ```
pub fn ravel_index(index: &[i64], shape: impl AsRef<[i64]>) -> Option<i64> {
    let shape = shape.as_ref();
    let inside = index.iter().zip(shape).all(|(i, size)| (0..*size).contains(i));
    if index.len() != shape.len() || !inside || checked_numel("ravel_index", shape).is_err() {
        return None;
    }
    Some(index.iter().zip(shape).fold(0, |position, (i, size)| position * size + i))
}

/// Positions of a tensor of so many elements that look like chance and are the same every time: the first, the last, and
/// then others without end, each of which may come again. None for a tensor without elements.
///
/// A few of them nearly always refute what does not hold for all elements.
///
/// ```
/// use shapetracker::scattered;
///
/// let positions: Vec<i64> = scattered(1000).take(4).collect();
/// assert_eq!(positions[..2], [0, 999]);
/// assert!(positions.iter().all(|position| (0..1000).contains(position)));
/// assert_eq!(scattered(0).next(), None);
/// ```
pub fn scattered(numel: i64) -> impl Iterator<Item = i64> {
    // The output function of SplitMix64 (Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014) over a
    // Weyl sequence. The sequence alone would step through the axes of a shape in as regular a pattern as its sizes have.
    let count = u64::try_from(numel).unwrap_or(0);
    let hashed = (1..).map(move |k: u64| {
        let z = k.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(z ^ (z >> 31)) * u128::from(count)) >> 64) as u64
    });
    let all = [0, count.saturating_sub(1)].into_iter().chain(hashed).map(|position| position as i64);
    all.take(if count == 0 { 0 } else { usize::MAX })
}

/// [`unravel_index`] of a position that is known to be one of the shape's.
pub(crate) fn unravel(position: i64, shape: &[i64]) -> Dims {
    let mut index: Dims = shape.into();
    let mut rest = position;
    for digit in index.iter_mut().rev() {
        let size = *digit;
        *digit = rest.rem_euclid(size);
        rest = rest.div_euclid(size);
    }
    index
}

/// Resolves a shape with at most one size of -1 against a number of elements.
pub(crate) fn infer(op: &'static str, from: &[i64], have: i64, to: &[i64]) -> Result<Dims, Error> {
    let mut shape = Dims::from_slice(to);
    if let Some(axis) = inferred_axis(op, to)? {
        shape[axis] = 1;
        let known = checked_numel(op, &shape)?;
        if known == 0 {
            return Err(Error::new(op, Fault::InferZero { axis }));
        }
        if have % known != 0 {
            return Err(Error::new(op, Fault::InferUneven { axis, have, known }));
        }
        shape[axis] = have / known;
        return Ok(shape);
    }
    let need = checked_numel(op, &shape)?;
    if need != have {
        return Err(Error::new(op, Fault::SizeMismatch { from: from.into(), to: to.into(), have, need }));
    }
    Ok(shape)
}

/// The axis of a new shape whose size is to be inferred: the one that is -1, if there is one. For whoever writes an
/// operation `op` with sizes of another kind.
///
/// ```
/// use shapetracker::inferred_axis;
///
/// assert_eq!(inferred_axis("reshape", &[2, -1_i64]), Ok(Some(1)));
/// let err = inferred_axis("reshape", &[-1_i64, -1]).unwrap_err();
/// assert_eq!(err.to_string(), "reshape: axes 0 and 1 are both -1, but only one size can be inferred");
/// ```
///
/// # Errors
/// Two axes of -1, more than [`MAX_RANK`] axes.
pub fn inferred_axis<N: Number>(op: &'static str, shape: &[N]) -> Result<Option<usize>, Error> {
    if shape.len() > MAX_RANK {
        return Err(Error::new(op, Fault::TooManyAxes { given: shape.len() }));
    }
    let mut inferred = (0..shape.len()).filter(|&axis| shape[axis].integer() == Some(-1));
    match (inferred.next(), inferred.next()) {
        (Some(first), Some(second)) => Err(Error::new(op, Fault::InferTwice { first, second })),
        (axis, _) => Ok(axis),
    }
}

/// The axis of a tensor that a number names, which may count from the end: -1 is the last axis. For whoever writes an
/// operation `op` on tensors of another kind.
///
/// ```
/// use shapetracker::resolve_axis;
///
/// assert_eq!(resolve_axis("flip", -1, 3), Ok(2));
/// let err = resolve_axis("flip", 3, 3).unwrap_err();
/// assert_eq!(err.to_string(), "flip: axis 3 does not exist: the tensor has 3 axes");
/// ```
///
/// # Errors
/// An axis that does not exist.
pub fn resolve_axis(op: &'static str, axis: i64, rank: usize) -> Result<usize, Error> {
    let resolved = if axis < 0 { axis.checked_add(rank as i64).unwrap_or(-1) } else { axis };
    match usize::try_from(resolved) {
        Ok(resolved) if resolved < rank => Ok(resolved),
        _ => Err(Error::new(op, Fault::AxisOutOfRange { axis, rank })),
    }
}

/// The axis that a new axis of size 1 becomes in a tensor of `rank` axes: -1 is behind the last one.
///
/// ```
/// use shapetracker::resolve_new_axis;
///
/// assert_eq!(resolve_new_axis("unsqueeze", -1, 2), Ok(2));
/// let err = resolve_new_axis("unsqueeze", 4, 2).unwrap_err();
/// assert_eq!(err.reason(), "the new axis cannot be axis 4: the tensor has 2 axes, so that it can be any of -3 to 2");
/// ```
///
/// # Errors
/// A place that there is not.
pub fn resolve_new_axis(op: &'static str, axis: i64, rank: usize) -> Result<usize, Error> {
    resolve_axis(op, axis, rank + 1).map_err(|_| Error::new(op, Fault::NewAxisOutOfRange { axis, rank }))
}

/// The axes that numbers name, each as [`resolve_axis`] finds it, no two of which may be the same.
///
/// ```
/// use shapetracker::distinct_axes;
///
/// assert_eq!(distinct_axes("flip", &[-1, 0], 3)?[..], [2, 0]);
/// let err = distinct_axes("flip", &[2, -1], 3).unwrap_err();
/// assert_eq!(err.to_string(), "flip: axis 2 is named twice, at places 0 and 1");
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// An axis that does not exist or is named twice.
pub fn distinct_axes(op: &'static str, axes: &[i64], rank: usize) -> Result<PerAxis<usize>, Error> {
    let mut resolved = PerAxis::new();
    for (second, &axis) in axes.iter().enumerate() {
        let axis = resolve_axis(op, axis, rank)?;
        if let Some(first) = resolved.iter().position(|&earlier| earlier == axis) {
            return Err(Error::new(op, Fault::AxisRepeated { axis, first, second }));
        }
        resolved.push(axis);
    }
    Ok(resolved)
}

/// Refuses a list that does not have one entry per axis; `what` is what an entry is called.
///
/// ```
/// use shapetracker::check_count;
///
/// assert!(check_count("step", "step", 2, 2).is_ok());
/// let err = check_count("step", "step", 2, 1).unwrap_err();
/// assert_eq!(err.to_string(), "step: takes one step per axis: the tensor has 2 axes but 1 was given");
/// ```
///
/// # Errors
/// Another number of entries than there are axes, more than [`MAX_RANK`] entries.
pub fn check_count(op: &'static str, what: &'static str, rank: usize, given: usize) -> Result<(), Error> {
    if given > MAX_RANK {
        return Err(Error::new(op, Fault::TooManyAxes { given }));
    }
    if given != rank {
        return Err(Error::new(op, Fault::Rank { what, rank, given }));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn row_major_strides_are_products_of_later_sizes() {
        assert_eq!(row_major(&[2, 3, 4])[..], [12, 4, 1]);
        assert_eq!(row_major(&[])[..], [0i64; 0]);
        assert_eq!(row_major(&[1 << 40, 0, 1 << 40])[..], [0, 0, 0]);
    }

    #[test]
    fn unravel_is_the_mixed_radix_digits() {
        // The example of uit de Bos, section 5.
        assert_eq!(unravel(5, &[2, 3, 4])[..], [0, 1, 1]);
    }

    #[test]
    fn an_empty_shape_has_no_elements_whatever_its_other_sizes() {
        assert_eq!(checked_numel("shape", &[1 << 40, 1 << 40, 0]), Ok(0));
        assert!(checked_numel("shape", &[1 << 40, 1 << 40]).is_err());
        assert_eq!(row_major(&[0, 1 << 40, 1 << 40])[..], [0, 0, 0]);
    }
}
