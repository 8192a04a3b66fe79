//! One strided view, always canonical.

use std::fmt;

use shapetracker_base::text::{tuple, tuple_of_pairs};

use crate::error::{Error, Fault};
use crate::shape::{check_count, checked_numel, row_major};
use crate::{Dims, Ranges};

/// A strided view in canonical form: a shape, one stride per axis, an offset, and the box of indices that are valid.
///
/// Index `i` reads address `offset + sum(strides[l] * i[l])` if every `i[l]` lies in the half-open range `mask[l]`;
/// otherwise it is *masked* and reads nothing (a zero, for those who pad). Strides may be negative or zero.
///
/// Two views of one shape are equal as maps exactly when they compare equal, because the form is canonical:
///
/// - an axis with only one valid element has stride 0, and the offset takes up the difference;
/// - a mask that allows every index is no mask;
/// - a view with nothing valid has strides 0, offset 0 and every range `(0, 0)` (no mask at all when it has no
///   elements in the first place; an empty list of ranges for a masked scalar).
///
/// The offset of a masked view is the address that index 0 would have by the formula, and may be negative.
///
/// ```
/// use shapetracker::View;
///
/// let view = View::new([4, 3], [1, 4], 0, Some(&[(0, 4), (1, 3)]))?;
/// assert_eq!(view.address(&[2, 1]), Some(6));
/// assert_eq!(view.address(&[2, 0]), None); // masked
/// assert_eq!(view.to_string(), "(4, 3):(1, 4) mask ((0, 4), (1, 3))");
///
/// // The stride of an axis of one element is of no consequence.
/// assert_eq!(View::new([1, 3], [77, 1], 0, None)?, View::new([1, 3], [3, 1], 0, None)?);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// Cost: everything here is linear in the number of axes; up to 8 axes nothing is allocated.
#[derive(PartialEq, Eq, Hash)]
pub struct View {
    shape: Dims,
    strides: Dims,
    offset: i64,
    mask: Option<Ranges>,
}

impl View {
    /// The row-major view of a shape: the last axis has stride 1, each other one the product of the later sizes.
    ///
    /// ```
    /// let view = shapetracker::View::contiguous([2, 3, 4])?;
    /// assert_eq!(view.strides(), [12, 4, 1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A negative size, more than [`MAX_RANK`](crate::MAX_RANK) axes, or more than `i64::MAX` elements.
    pub fn contiguous(shape: impl AsRef<[i64]>) -> Result<View, Error> {
        let shape = shape.as_ref();
        checked_numel("shape", shape)?;
        Ok(View::row_major(shape))
    }

    /// A view from its parts: one stride and one half-open range `(begin, end)` per axis; no mask means all valid.
    ///
    /// ```
    /// let windows = shapetracker::View::new([3, 2], [1, 1], 0, None)?;
    /// assert_eq!(windows.address(&[2, 1]), Some(3));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A wrong number of strides or ranges, a negative size, a range that is reversed or leaves its axis, more than
    /// [`MAX_RANK`](crate::MAX_RANK) axes, more than `i64::MAX` elements, or a valid index whose address is past `i64`.
    pub fn new(
        shape: impl AsRef<[i64]>,
        strides: impl AsRef<[i64]>,
        offset: i64,
        mask: Option<&[(i64, i64)]>,
    ) -> Result<View, Error> {
        let (shape, strides) = (shape.as_ref(), strides.as_ref());
        checked_numel("view", shape)?;
        check_count("view", "stride", shape.len(), strides.len())?;
        if let Some(mask) = mask {
            check_count("view", "range of the mask", shape.len(), mask.len())?;
            for (axis, (&(begin, end), &size)) in mask.iter().zip(shape).enumerate() {
                if begin > end {
                    return Err(Error::new("view", Fault::MaskReversed { axis, begin, end, size }));
                }
                if begin < 0 || end > size {
                    return Err(Error::new("view", Fault::MaskOutside { axis, begin, end, size }));
                }
            }
            if mask.is_empty() {
                return Ok(View::nothing(shape));
            }
        }
        let (shape, strides) = (Dims::from_slice(shape), Dims::from_slice(strides));
        View::canonical("view", shape, strides, offset.into(), mask.map(Ranges::from_slice))
    }

    /// The shape: one size per axis, outermost first.
    ///
    /// ```
    /// let view = shapetracker::View::new([4, 3], [1, 4], 2, None)?;
    /// assert_eq!(view.shape(), [4, 3]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The strides: how far the address moves when the index moves by one along the axis, in elements.
    ///
    /// ```
    /// let view = shapetracker::View::new([4, 3], [1, 4], 2, None)?;
    /// assert_eq!(view.strides(), [1, 4]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn strides(&self) -> &[i64] {
        &self.strides
    }

    /// The address of index 0 by the affine formula, in elements.
    ///
    /// ```
    /// let view = shapetracker::View::new([4, 3], [1, 4], 2, None)?;
    /// assert_eq!(view.offset(), 2);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn offset(&self) -> i64 {
        self.offset
    }

    /// The box of valid indices, one half-open range per axis; `None` when every index is valid.
    ///
    /// ```
    /// use shapetracker::View;
    ///
    /// let padded = View::contiguous([3])?.pad([(2, 1)])?;
    /// assert_eq!(padded.mask(), Some(&[(2, 5)][..]));
    /// assert_eq!(padded.offset(), -2);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn mask(&self) -> Option<&[(i64, i64)]> {
        self.mask.as_deref()
    }

    /// The number of axes.
    ///
    /// ```
    /// let view = shapetracker::View::new([4, 3], [1, 4], 2, None)?;
    /// assert_eq!(view.rank(), 2);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// The number of elements, masked ones included.
    ///
    /// ```
    /// let view = shapetracker::View::new([4, 3], [1, 4], 2, None)?;
    /// assert_eq!(view.numel(), 12);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn numel(&self) -> i64 {
        if self.shape.contains(&0) { 0 } else { self.shape.iter().product() }
    }

    /// Whether no index at all is valid: the shape has a size 0, or the mask leaves nothing.
    ///
    /// ```
    /// use shapetracker::View;
    ///
    /// assert!(View::contiguous([2, 0])?.is_empty());
    /// assert!(View::new([4], [1], 0, Some(&[(2, 2)]))?.is_empty());
    /// assert!(!View::contiguous([])?.is_empty()); // a scalar has one element
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_empty(&self) -> bool {
        match &self.mask {
            None => self.shape.contains(&0),
            Some(mask) => mask.iter().all(|&(_, end)| end == 0),
        }
    }

    /// The valid range of an axis.
    pub(crate) fn range(&self, axis: usize) -> (i64, i64) {
        self.mask.as_ref().map_or((0, self.shape[axis]), |mask| mask[axis])
    }

    /// The address that an index reads, or `None` where the index is masked or outside the shape.
    ///
    /// ```
    /// let view = shapetracker::View::contiguous([2, 3])?;
    /// assert_eq!(view.address(&[1, 2]), Some(5));
    /// assert_eq!(view.address(&[1, 3]), None);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Panics
    /// Never: an index with the wrong number of entries reads nothing.
    pub fn address(&self, index: &[i64]) -> Option<i64> {
        if index.len() != self.rank() || self.is_empty() {
            return None;
        }
        let mut address = i128::from(self.offset);
        for (axis, &i) in index.iter().enumerate() {
            let (begin, end) = self.range(axis);
            if i < begin || i >= end {
                return None;
            }
            address += i128::from(i) * i128::from(self.strides[axis]);
        }
        // A view that exists has an `i64` address at every valid index.
        Some(address as i64)
    }

    /// The lowest and the highest address that a valid index reads, or `None` when nothing is valid.
    ///
    /// ```
    /// use shapetracker::View;
    ///
    /// let view = View::new([3, 2], [-2, 5], 4, None)?;
    /// assert_eq!(view.address_range(), Some((0, 9)));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn address_range(&self) -> Option<(i64, i64)> {
        if self.is_empty() {
            return None;
        }
        let (mut low, mut high) = (i128::from(self.offset), i128::from(self.offset));
        let mask = self.mask();
        for (axis, (&stride, &size)) in self.strides.iter().zip(&self.shape).enumerate() {
            let (begin, end) = mask.map_or((0, size), |mask| mask[axis]);
            let (first, last) = (i128::from(stride) * i128::from(begin), i128::from(stride) * i128::from(end - 1));
            low += first.min(last);
            high += first.max(last);
        }
        // Both are addresses of valid indices, and those of a view that exists are `i64`.
        Some((low as i64, high as i64))
    }

    /// Refuses the view where it reads outside of an array: below address 0, or past the end where that is known.
    ///
    /// Layouts with such addresses are decided like any other. Code for them must not be handed out, whether it says
    /// `as_strided` or is a kernel: it would read memory that belongs to something else, and `x[-7:]` are the last seven
    /// elements. Whoever writes code asks this first, and says the reason instead.
    ///
    /// ```
    /// let view = shapetracker::View::new([3, 4], [5, 1], -7, None)?;
    /// assert_eq!(
    ///     view.fits_buffer(None).unwrap_err().reason(),
    ///     "the view reads from address -7 on, 7 before the beginning of the array",
    /// );
    /// let view = shapetracker::View::new([3, 4], [5, 1], 0, None)?;
    /// assert!(view.fits_buffer(None).is_ok() && view.fits_buffer(Some(14)).is_ok());
    /// assert_eq!(
    ///     view.fits_buffer(Some(12)).unwrap_err().reason(),
    ///     "the view reads addresses 0 to 13, but what it reads from has 12 elements",
    /// );
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::AddressOutside`](crate::ErrorKind::AddressOutside), where some valid index reads such an address.
    pub fn fits_buffer(&self, len: Option<i64>) -> Result<(), Error> {
        check_buffer("view", self.address_range(), len)
    }

    /// Whether this is the view that [`View::contiguous`] makes of its shape: the address of each element is its position in
    /// row-major order. It is [contiguous](View::is_contiguous) and begins at address 0, which is what tinygrad's views call
    /// `contiguous`.
    ///
    /// ```
    /// use shapetracker::View;
    ///
    /// assert!(View::contiguous([2, 3])?.is_identity());
    /// assert!(!View::new([3], [1], 1, None)?.is_identity());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_identity(&self) -> bool {
        self.offset == 0 && self.is_contiguous()
    }

    /// Whether the elements lie one after the other in row-major order, from whatever address on, nothing masked: what
    /// PyTorch, NumPy and candle call contiguous. [`View::is_identity`] asks for address 0, too.
    ///
    /// ```
    /// use shapetracker::View;
    ///
    /// assert!(View::new([3, 4], [4, 1], 8, None)?.is_contiguous()); // torch.zeros(5, 4)[2:]
    /// assert!(!View::new([3], [2], 0, None)?.is_contiguous());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_contiguous(&self) -> bool {
        let mut product = 1;
        self.mask.is_none()
            && (self.is_empty()
                || self.shape.iter().zip(&self.strides).rev().all(|(&size, &stride)| {
                    let fits = size == 1 || stride == product;
                    product *= size;
                    fits
                }))
    }

    /// The row-major view of a shape whose number of elements is known to fit.
    pub(crate) fn row_major(shape: &[i64]) -> View {
        let mut strides = row_major(shape);
        for (stride, &size) in strides.iter_mut().zip(shape) {
            if size == 1 {
                *stride = 0;
            }
        }
        View { shape: Dims::from_slice(shape), strides, offset: 0, mask: None }
    }

    /// The view of a shape in which nothing is valid.
    pub(crate) fn nothing(shape: &[i64]) -> View {
        let mask = (!shape.contains(&0)).then(|| Ranges::from_elem((0, 0), shape.len()));
        View { shape: Dims::from_slice(shape), strides: Dims::from_elem(0, shape.len()), offset: 0, mask }
    }

    /// The canonical view of checked sizes and ranges.
    ///
    /// It fails only where an address, or the offset, is past `i64`. The address is monotonic along each axis, so that the
    /// lowest and the highest one are found axis by axis. `i128` holds them: the largest indices of all axes sum to less
    /// than the number of elements, which is an `i64`, so that strides times indices sum to less than 2^126 in magnitude,
    /// and there are two such sums, that by which the operation moved the offset and that of the lowest or highest index.
    pub(crate) fn canonical(
        op: &'static str,
        shape: Dims,
        mut strides: Dims,
        offset: i128,
        mask: Option<Ranges>,
    ) -> Result<View, Error> {
        if shape.contains(&0) || mask.as_ref().is_some_and(|mask| mask.iter().any(|(begin, end)| begin == end)) {
            return Ok(View::nothing(&shape));
        }
        // A scalar that comes here is valid: an empty list of ranges excludes nothing.
        let (mut offset, mut low, mut high) = (offset, 0, 0);
        let mut full = true;
        let ranges = mask.as_deref();
        for (axis, (stride, &size)) in strides.iter_mut().zip(&shape).enumerate() {
            let (begin, end) = ranges.map_or((0, size), |ranges| ranges[axis]);
            full &= begin == 0 && end == size;
            let (first, last) = (i128::from(begin) * i128::from(*stride), i128::from(end - 1) * i128::from(*stride));
            if end - begin == 1 {
                offset += first;
                *stride = 0;
            } else if *stride > 0 {
                (low, high) = (low + first, high + last);
            } else {
                (low, high) = (low + last, high + first);
            }
        }
        let (low, high) = (offset + low, offset + high);
        let mask = mask.filter(|_| !full);
        let fits = |address: i128| i64::try_from(address).is_ok();
        if !fits(low) || !fits(high) {
            return Err(Error::new(op, Fault::Overflow { what: "an address" }));
        }
        let Ok(offset) = i64::try_from(offset) else {
            return Err(Error::new(op, Fault::Overflow { what: "the offset" }));
        };
        Ok(View { shape, strides, offset, mask })
    }

    /// A view from parts that are known to be canonical.
    pub(crate) fn trusted(shape: Dims, strides: Dims, offset: i64, mask: Option<Ranges>) -> View {
        View { shape, strides, offset, mask }
    }

    /// The parts, for building another view from them.
    pub(crate) fn parts(&self) -> (&Dims, &Dims, i64, Option<&Ranges>) {
        (&self.shape, &self.strides, self.offset, self.mask.as_ref())
    }
}

// Written out and not derived: with a derived one, cloning a tracker took a quarter longer.
impl Clone for View {
    fn clone(&self) -> View {
        View {
            shape: Dims::from_slice(&self.shape),
            strides: Dims::from_slice(&self.strides),
            offset: self.offset,
            mask: self.mask.as_deref().map(Ranges::from_slice),
        }
    }
}

/// Refuses a view that reads an address outside `0..len`.
pub(crate) fn check_inside(op: &'static str, view: &View, len: i64) -> Result<(), Error> {
    check_range(op, view.address_range(), len)
}

/// Refuses a range of addresses that begins below 0, or goes past the end of a buffer whose length is known.
pub(crate) fn check_buffer(op: &'static str, range: Option<(i64, i64)>, len: Option<i64>) -> Result<(), Error> {
    match (range, len) {
        (_, Some(len)) => check_range(op, range, len),
        (Some((low, _)), None) if low < 0 => Err(Error::new(op, Fault::NegativeAddress { low })),
        _ => Ok(()),
    }
}

/// Refuses a range of addresses that does not lie inside `0..len`.
pub(crate) fn check_range(op: &'static str, range: Option<(i64, i64)>, len: i64) -> Result<(), Error> {
    match range {
        Some((low, high)) if low < 0 || high >= len => Err(Error::new(op, Fault::AddressOutside { low, high, len })),
        _ => Ok(()),
    }
}

/// `(4, 3):(1, 4) offset 2 mask ((0, 4), (1, 3))`: shape and strides, and the rest where there is any.
impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", tuple(&self.shape), tuple(&self.strides))?;
        if self.offset != 0 {
            write!(f, " offset {}", self.offset)?;
        }
        if let Some(mask) = &self.mask {
            write!(f, " mask {}", tuple_of_pairs(mask))?;
        }
        Ok(())
    }
}

/// The text that the field pastes: `View(shape=(2, 3), strides=(3, 1), offset=0, mask=None, contiguous=True)`.
impl fmt::Debug for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "View(shape={}, strides={}, ", tuple(&self.shape), tuple(&self.strides))?;
        write!(f, "offset={}, mask=", self.offset)?;
        match &self.mask {
            None => f.write_str("None")?,
            Some(mask) => write!(f, "{}", tuple_of_pairs(mask))?,
        }
        // tinygrad's word for it.
        let contiguous = if self.is_identity() { "True" } else { "False" };
        write!(f, ", contiguous={contiguous})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorKind;

    #[test]
    fn an_axis_with_one_valid_element_has_stride_zero() {
        let view = View::new([4, 3], [5, 1], 2, Some(&[(2, 3), (0, 3)])).unwrap();
        assert_eq!((view.strides(), view.offset()), (&[0, 1][..], 12));
    }

    #[test]
    fn nothing_valid_has_one_form() {
        let empty = View::new([4, 3], [5, 1], 2, Some(&[(2, 2), (0, 3)])).unwrap();
        assert_eq!(empty, View::nothing(&[4, 3]));
        assert!(empty.is_empty());
        assert_eq!(empty.mask(), Some(&[(0, 0), (0, 0)][..]));
        let no_elements = View::new([4, 0], [5, 1], 2, Some(&[(2, 3), (0, 0)])).unwrap();
        assert_eq!((no_elements.mask(), no_elements.offset()), (None, 0));
        assert!(no_elements.is_empty());
    }

    #[test]
    fn a_masked_scalar_is_told_from_a_scalar() {
        let masked = View::new([], [], 7, Some(&[])).unwrap();
        assert!(masked.is_empty());
        assert_eq!(masked.address(&[]), None);
        assert_eq!(View::new([], [], 7, None).unwrap().address(&[]), Some(7));
    }

    #[test]
    fn addresses_past_i64_are_refused() {
        let kind = |view: Result<View, Error>| view.unwrap_err().kind();
        assert_eq!(kind(View::new([3], [i64::MAX], 0, None)), ErrorKind::Overflow);
        assert_eq!(kind(View::new([2], [1], i64::MAX, None)), ErrorKind::Overflow);
        assert_eq!(View::new([2], [i64::MAX], 0, None).unwrap().address(&[1]), Some(i64::MAX));
        // Masked indices have no address that could overflow.
        let offset = View::new([5], [i64::MAX], 0, Some(&[(1, 2)])).unwrap().offset();
        assert_eq!(offset, i64::MAX);
    }
}
