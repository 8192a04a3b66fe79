//! Joining the axes of a view.

use crate::merge::level::{Level, continues};
use crate::{Dims, Ranges, View};

/// Neighbouring axes of a view that advance through memory as one.
///
/// ```
/// let dims = shapetracker::View::contiguous([4, 1, 3])?.merge_dims();
/// assert_eq!((dims[0].size, dims[0].stride, dims[0].real), (12, 1, 12));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct MergedDim {
    /// The product of the sizes.
    pub size: i64,
    /// The stride of the innermost of them.
    pub stride: i64,
    /// The product of the sizes without broadcast: 0 when the stride is 0.
    pub real: i64,
}

impl View {
    /// The axes joined as far as their strides allow: of each group the size, the stride and the size without
    /// broadcast.
    ///
    /// Axes of size 1 join any group. Neighbours join when the outer stride is the inner size times the inner stride,
    /// or when the outer axis is broadcast and has only one valid index.
    ///
    /// ```
    /// use shapetracker::View;
    ///
    /// let cube = View::contiguous([2, 2, 2])?.merge_dims();
    /// assert_eq!((cube.len(), cube[0].size, cube[0].stride, cube[0].real), (1, 8, 1, 8));
    ///
    /// let broadcast = View::new([2, 2, 2], [0, 0, 1], 0, None)?;
    /// let dims: Vec<_> = broadcast.merge_dims().iter().map(|d| (d.size, d.stride, d.real)).collect();
    /// assert_eq!(dims, [(4, 0, 0), (2, 1, 2)]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Source
    /// "How dimension merging works"; "View.reshape without symbolic", conditions for mergeability. Groups are those of
    /// the source, and its `real` too where an axis with one valid index is joined: it then counts the inner axes only.
    pub fn merge_dims(&self) -> Vec<MergedDim> {
        if self.numel() == 0 {
            return vec![MergedDim { size: 0, stride: 0, real: 0 }]; // All strides are 0, and all axes join.
        }
        let mut groups: Vec<MergedDim> = Vec::new();
        // Whether the axis before is broadcast with one valid index, so that it joins whatever follows.
        let mut single = false;
        for (axis, (&size, &stride)) in self.shape().iter().zip(self.strides()).enumerate() {
            let real = if stride == 0 { 0 } else { size };
            match groups.last_mut() {
                Some(_) if size == 1 => continue,
                Some(outer) if single || continues(outer.stride, size, stride) => {
                    let inner = if single { size } else { outer.real * size };
                    *outer = MergedDim { size: outer.size * size, stride, real: if stride == 0 { 0 } else { inner } };
                }
                _ => groups.push(MergedDim { size, stride, real }),
            }
            let (begin, end) = self.range(axis);
            single = stride == 0 && end - begin == 1;
        }
        groups
    }

    /// The max merge view: the same elements in row-major order with as few axes as a view of theirs can have.
    ///
    /// Axes of one element are left out, and neighbours that advance as one are joined, masked ones as well where the
    /// mask stays a range. Two views of the same elements in the same order have the same max merge view unless
    /// masks keep axes apart.
    ///
    /// ```
    /// use shapetracker::View;
    ///
    /// let view = View::contiguous([2, 3, 4])?.permute([2, 0, 1])?;
    /// assert_eq!(view.max_merge(), View::new([4, 6], [1, 4], 0, None)?);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Source
    /// Schillinger, Criteria and proof for when a new view must be appended, section 1.
    pub fn max_merge(&self) -> View {
        if self.is_empty() {
            return View::nothing(&[self.numel()]);
        }
        let level = Level::of(self);
        let outermost_first = || level.digits.iter().rev();
        let shape: Dims = outermost_first().map(|digit| digit.size).collect();
        let strides: Dims = outermost_first().map(|digit| digit.stride).collect();
        let mask: Ranges = outermost_first().map(|digit| (digit.begin, digit.end)).collect();
        // The offset of joined masked axes can leave i64 although no address does; the view itself stands in then.
        View::canonical("max_merge", shape, strides, level.offset, (!mask.is_empty()).then_some(mask))
            .unwrap_or_else(|_| self.clone())
    }
}
