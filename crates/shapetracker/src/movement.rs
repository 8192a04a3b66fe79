//! The movement operations on one view.

use shapetracker_base::int::div_ceil_64;

use crate::error::{Error, Fault};
use crate::merge::{Unmerged, reshape};
use crate::shape::{check_count, checked_numel, distinct_axes, infer};
use crate::{Dims, Ranges, View};

impl View {
    /// The same elements in row-major order under a new shape, if one view can say so; one size may be -1.
    ///
    /// ```
    /// use shapetracker::{Unmerged, View};
    ///
    /// let view = View::contiguous([6, 4])?.reshape([2, 3, -1]).unwrap();
    /// assert_eq!(view.shape(), [2, 3, 4]);
    ///
    /// let transposed = View::contiguous([3, 2])?.permute([1, 0])?;
    /// assert!(matches!(transposed.reshape([6]), Err(Unmerged::Witness(_))));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Unmerged::Witness`] when no single view does it; [`Unmerged::Error`] when the shapes do not fit each other.
    ///
    /// Cost: that of [`merge`](crate::merge()) with a row-major view, of which this is the special case.
    pub fn reshape(&self, shape: impl AsRef<[i64]>) -> Result<View, Unmerged> {
        let shape = infer("reshape", self.shape(), self.numel(), shape.as_ref())?;
        reshape(self, &shape)
    }

    /// The axes in another order: new axis `l` is old axis `axes[l]`; a negative number counts from the last axis.
    ///
    /// ```
    /// let view = shapetracker::View::contiguous([2, 3])?.permute([1, 0])?;
    /// assert_eq!((view.shape(), view.strides()), (&[3, 2][..], &[1, 3][..]));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis that is missing, repeated or does not exist.
    pub fn permute(&self, axes: impl AsRef<[i64]>) -> Result<View, Error> {
        check_count("permute", "axis number", self.rank(), axes.as_ref().len())?;
        let order = distinct_axes("permute", axes.as_ref(), self.rank())?;
        let (shape, strides, offset, mask) = self.parts();
        let (mut new_shape, mut new_strides) = (Dims::from_slice(shape), Dims::from_slice(strides));
        let mut new_mask = mask.map(|mask| Ranges::from_slice(mask));
        for (new, &axis) in order.iter().enumerate() {
            new_shape[new] = shape[axis];
            new_strides[new] = strides[axis];
            if let (Some(new_mask), Some(mask)) = (&mut new_mask, mask) {
                new_mask[new] = mask[axis];
            }
        }
        Ok(View::trusted(new_shape, new_strides, offset, new_mask))
    }

    /// Axes of size 1 repeated to the given sizes, with stride 0; -1 (or the size itself) leaves an axis as it is.
    ///
    /// ```
    /// let view = shapetracker::View::contiguous([3, 1])?.expand([3, 4])?;
    /// assert_eq!(view.strides(), [1, 0]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A size other than 1 that would change, a negative size, a wrong number of sizes, too many elements.
    pub fn expand(&self, sizes: impl AsRef<[i64]>) -> Result<View, Error> {
        const OP: &str = "expand";
        let sizes = sizes.as_ref();
        check_count(OP, "size", self.rank(), sizes.len())?;
        let mut expanded = Dims::from_slice(sizes);
        for (axis, (to, &size)) in expanded.iter_mut().zip(self.shape()).enumerate() {
            if *to == -1 {
                *to = size;
            } else if *to < 0 {
                return Err(Error::new(OP, Fault::NegativeSize { axis, size: *to }));
            } else if size != 1 && size != *to {
                return Err(Error::new(OP, Fault::Expand { axis, size, to: *to }));
            }
        }
        checked_numel(OP, &expanded)?;
        let (shape, strides, offset, mask) = self.parts();
        // Of an axis of size 1 either the one element is valid or none is, and its copies are what it is: the mask grows to
        // all of the axis, or stays empty.
        let mask = mask.map(|mask| {
            let grown = mask.iter().zip(shape.iter().zip(&expanded));
            grown.map(|(&range, (from, to))| if from == to { range } else { (0, range.1 * to) }).collect()
        });
        if self.is_empty() || expanded.contains(&0) {
            return Ok(View::nothing(&expanded));
        }
        Ok(View::trusted(expanded, Dims::from_slice(strides), offset, mask))
    }

    /// Masked elements around the view: `(before, after)` per axis.
    ///
    /// ```
    /// let view = shapetracker::View::contiguous([3])?.pad([(1, 2)])?;
    /// assert_eq!(view.shape(), [6]);
    /// assert_eq!(view.address(&[0]), None);
    /// assert_eq!(view.address(&[1]), Some(0));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A negative pad, a wrong number of pads, too many elements, an offset past `i64`.
    pub fn pad(&self, pads: impl AsRef<[(i64, i64)]>) -> Result<View, Error> {
        const OP: &str = "pad";
        let pads = pads.as_ref();
        check_count(OP, "pair (before, after)", self.rank(), pads.len())?;
        let (shape, strides, offset, _) = self.parts();
        let mut padded = Dims::from_slice(shape);
        let mut mask = Ranges::with_capacity(pads.len());
        let mut offset = i128::from(offset);
        for (axis, &(before, after)) in pads.iter().enumerate() {
            if before < 0 || after < 0 {
                return Err(Error::new(OP, Fault::NegativePad { axis, before, after }));
            }
            let size = shape[axis].checked_add(before).and_then(|size| size.checked_add(after));
            padded[axis] = size.ok_or_else(|| Error::new(OP, Fault::AxisOverflow { what: "the size", axis }))?;
            offset -= i128::from(before) * i128::from(strides[axis]);
            let (begin, end) = self.range(axis);
            mask.push((begin + before, end + before));
        }
        checked_numel(OP, &padded)?;
        if self.is_empty() {
            return Ok(View::nothing(&padded));
        }
        let mask = (!mask.is_empty()).then_some(mask);
        View::canonical(OP, padded, Dims::from_slice(strides), offset, mask)
    }

    /// The half-open range `(begin, end)` of each axis.
    ///
    /// ```
    /// let view = shapetracker::View::contiguous([4, 4])?.shrink([(1, 3), (0, 4)])?;
    /// assert_eq!((view.shape(), view.offset()), (&[2, 4][..], 4));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A range that is reversed or leaves its axis, a wrong number of ranges.
    pub fn shrink(&self, ranges: impl AsRef<[(i64, i64)]>) -> Result<View, Error> {
        const OP: &str = "shrink";
        let ranges = ranges.as_ref();
        check_count(OP, "range (begin, end)", self.rank(), ranges.len())?;
        let (shape, strides, offset, mask) = self.parts();
        let mut shrunk = Dims::from_slice(shape);
        let mut offset = i128::from(offset);
        for (axis, &(begin, end)) in ranges.iter().enumerate() {
            let size = shape[axis];
            if begin > end {
                return Err(Error::new(OP, Fault::RangeReversed { axis, begin, end, size }));
            }
            if begin < 0 || end > size {
                return Err(Error::new(OP, Fault::RangeOutside { axis, begin, end, size }));
            }
            shrunk[axis] = end - begin;
            offset += i128::from(begin) * i128::from(strides[axis]);
        }
        if self.is_empty() {
            return Ok(View::nothing(&shrunk));
        }
        let mask = mask.map(|mask| {
            let clipped = mask.iter().zip(ranges);
            clipped
                .map(|(&(b, e), &(begin, end))| {
                    let (b, e) = (b.max(begin) - begin, e.min(end) - begin);
                    if b < e { (b, e) } else { (0, 0) }
                })
                .collect()
        });
        View::canonical(OP, shrunk, Dims::from_slice(strides), offset, mask)
    }

    /// The named axes reversed; a negative number counts from the last axis.
    ///
    /// ```
    /// let view = shapetracker::View::contiguous([4])?.flip([0])?;
    /// assert_eq!((view.strides(), view.offset()), (&[-1][..], 3));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis that does not exist or is named twice, an offset past `i64`.
    pub fn flip(&self, axes: impl AsRef<[i64]>) -> Result<View, Error> {
        const OP: &str = "flip";
        let axes = distinct_axes(OP, axes.as_ref(), self.rank())?;
        let (shape, strides, offset, mask) = self.parts();
        if self.is_empty() {
            return Ok(self.clone());
        }
        let (mut strides, mut mask) = (Dims::from_slice(strides), mask.map(|mask| Ranges::from_slice(mask)));
        let mut offset = i128::from(offset);
        for &axis in &axes {
            offset += i128::from(strides[axis]) * i128::from(shape[axis] - 1);
            strides[axis] = strides[axis]
                .checked_neg()
                .ok_or_else(|| Error::new(OP, Fault::AxisOverflow { what: "the stride", axis }))?;
            if let Some(mask) = &mut mask {
                let (begin, end) = mask[axis];
                mask[axis] = (shape[axis] - end, shape[axis] - begin);
            }
        }
        View::canonical(OP, Dims::from_slice(shape), strides, offset, mask)
    }

    /// Every step-th element of each axis, as the slice `[::step]` does: a negative step walks back from the last.
    ///
    /// ```
    /// let view = shapetracker::View::contiguous([5])?.step([-2])?;
    /// assert_eq!((view.shape(), view.strides(), view.offset()), (&[3][..], &[-2][..], 4));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A step of 0, a wrong number of steps, a stride past `i64`.
    pub fn step(&self, steps: impl AsRef<[i64]>) -> Result<View, Error> {
        const OP: &str = "step";
        let steps = steps.as_ref();
        check_count(OP, "step", self.rank(), steps.len())?;
        if let Some(axis) = steps.iter().position(|&step| step == 0) {
            return Err(Error::new(OP, Fault::ZeroStep { axis }));
        }
        let (shape, strides, offset, mask) = self.parts();
        let (mut shape, mut strides) = (Dims::from_slice(shape), Dims::from_slice(strides));
        let mut mask = mask.map(|mask| Ranges::from_slice(mask));
        let mut offset = i128::from(offset);
        for (axis, &step) in steps.iter().enumerate() {
            let (size, mut stride) = (shape[axis], i128::from(strides[axis]));
            let (mut begin, mut end) = mask.as_ref().map_or((0, size), |mask| mask[axis]);
            if step < 0 {
                offset += stride * i128::from(size - 1);
                stride = -stride;
                (begin, end) = (size - end, size - begin);
            }
            // A step past the end of the axis takes only its first element, whatever the step is, so that cutting the step
            // off at `i64::MAX` (for `i64::MIN`, whose magnitude is past `i64`) changes nothing.
            let step = i64::try_from(step.unsigned_abs()).unwrap_or(i64::MAX);
            // New index `i` is old index `i * step`: it is valid from the first multiple of the step at or after `begin`.
            (begin, end) = (div_ceil_64(begin, step), div_ceil_64(end, step));
            shape[axis] = div_ceil_64(size, step);
            if let Some(mask) = &mut mask {
                mask[axis] = if begin < end { (begin, end) } else { (0, 0) };
            }
            strides[axis] = if end <= 1 || begin >= end {
                // Only the element at 0 is left, or none. The stride is never used, and could be past `i64`.
                0
            } else {
                let stride = i64::try_from(stride * i128::from(step));
                stride.map_err(|_| Error::new(OP, Fault::AxisOverflow { what: "the stride", axis }))?
            };
        }
        if self.is_empty() {
            return Ok(View::nothing(&shape));
        }
        View::canonical(OP, shape, strides, offset, mask)
    }
}
