//! What keeps a view from taking a shape, in terms of old and new axes.

use std::fmt;

use super::blocks::{Block, Joined, continues, full};
use crate::View;

/// A reason why a shape cannot be taken, in terms of old and new axes. `Display` writes it as a sentence.
///
/// ```
/// use shapetracker::View;
/// use shapetracker::fit::{Misfit, fit};
///
/// let padded = View::contiguous([4])?.pad([(1, 1)])?;
/// let Err(Misfit::Blocked(blocked)) = fit(&padded, [2, 3]) else { panic!() };
/// assert_eq!(
///     blocked.obstacles()[0].to_string(),
///     "old axis 0 (size 6) is masked outside 1..5; \
///      under new axes 0 and 1 (sizes 2, 3) the elements that are left are not a box",
/// );
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Obstacle {
    /// A new axis would run over two neighbouring old axes whose strides do not continue each other.
    #[non_exhaustive]
    Strides {
        /// The new axis.
        new: Axis,
        /// The outer one of the two old axes.
        outer: Axis,
        /// The inner one of the two old axes.
        inner: Axis,
        /// The stride of the outer axis.
        stride: i64,
        /// The stride that the outer axis would need: the size of the inner axis times the inner stride.
        needed: i128,
        /// The stride of the inner axis.
        inner_stride: i64,
    },
    /// The valid elements of an old axis are not one range per axis under the new shape.
    #[non_exhaustive]
    Mask {
        /// The old axis.
        old: Axis,
        /// Its valid range, half-open.
        range: (i64, i64),
        /// The new axes that share its elements.
        new: Vec<Axis>,
    },
}

/// An axis by its number, with its size.
///
/// ```
/// use shapetracker::View;
/// use shapetracker::fit::{Misfit, fit};
///
/// let transposed = View::new([4, 6], [1, 4], 0, None)?;
/// let Err(Misfit::Blocked(blocked)) = fit(&transposed, [24]) else { panic!() };
/// let outer = blocked.obstacles()[0].old_axes()[0];
/// assert_eq!((outer.axis, outer.size), (0, 4));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Axis {
    /// The number of the axis, from 0 for the outermost.
    pub axis: usize,
    /// Its size.
    pub size: i64,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Strides { new, outer, inner, stride, needed, .. } => write!(
                f,
                "new axis {} (size {}) would run over old axes {} and {} (sizes {}, {}); \
                 that needs stride[{2}] = size[{3}] * stride[{3}] = {needed}, but stride[{2}] is {stride}",
                new.axis, new.size, outer.axis, inner.axis, outer.size, inner.size,
            ),
            Obstacle::Mask { old, range, new } => {
                write!(
                    f,
                    "old axis {} (size {}) is masked outside {}..{}; under new ",
                    old.axis, old.size, range.0, range.1
                )?;
                f.write_str(if new.len() == 1 { "axis " } else { "axes " })?;
                for (i, new) in new.iter().enumerate() {
                    let separator = [", ", " and "][usize::from(i + 1 == self.new_axes().len())];
                    write!(f, "{}{}", if i == 0 { "" } else { separator }, new.axis)?;
                }
                f.write_str(if new.len() == 1 { " (size " } else { " (sizes " })?;
                for (i, new) in new.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { ", " }, new.size)?;
                }
                f.write_str(") the elements that are left are not a box")
            }
        }
    }
}

impl Obstacle {
    /// Its kind in JSON: `strides` or `mask`.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 6], [1, 4], 0, None)?, [24]) else { panic!() };
    /// assert_eq!(blocked.obstacles()[0].kind(), "strides");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            Obstacle::Strides { .. } => "strides",
            Obstacle::Mask { .. } => "mask",
        }
    }

    /// The old axes that are in the way, outermost first.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let view = View::new([5, 2, 3], [6, 1, 2], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&view, [5, 3, 2]) else { panic!() };
    /// let obstacle = &blocked.obstacles()[0];
    /// assert_eq!(obstacle.old_axes().iter().map(|old| old.axis).collect::<Vec<_>>(), [1, 2]);
    /// assert_eq!(obstacle.new_axes().iter().map(|new| new.axis).collect::<Vec<_>>(), [1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn old_axes(&self) -> Vec<Axis> {
        match self {
            Obstacle::Strides { outer, inner, .. } => vec![*outer, *inner],
            Obstacle::Mask { old, .. } => vec![*old],
        }
    }

    /// The new axes that they are in the way of, outermost first.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let transposed = View::new([4, 6], [1, 4], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&transposed, [24]) else { panic!() };
    /// assert_eq!(blocked.obstacles()[0].new_axes()[0].size, 24);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn new_axes(&self) -> &[Axis] {
        match self {
            Obstacle::Strides { new, .. } => std::slice::from_ref(new),
            Obstacle::Mask { new, .. } => new,
        }
    }
}

/// What keeps a block from being a view: every boundary between two pieces that some new axis runs across although the
/// strides do not continue each other, and every mask.
pub(super) fn obstacles_of(view: &View, joined: &[Joined], block: &Block, to: &[i64]) -> Vec<Obstacle> {
    let old_axis = |axis| Axis { axis, size: view.shape()[axis] };
    let new_axis = |axis| Axis { axis, size: to[axis] };
    let some_valid = |axis: usize| view.range(axis).1 - view.range(axis).0 > 1;
    let mut obstacles = Vec::new();
    // From the innermost boundary between pieces outwards: how many elements are inside of it, and the new axis that
    // crosses it, which is the innermost one that reaches further.
    let mut inside = 1;
    let mut crossing = (block.new.end, 1);
    for pair in block.pieces.windows(2).rev() {
        inside *= pair[1].size;
        while crossing.1 <= inside && crossing.0 > block.new.start {
            crossing = (crossing.0 - 1, crossing.1 * to[crossing.0 - 1]);
        }
        let (outer, inner) = (joined[pair[0].joined].inner, joined[pair[1].joined].outer);
        let (stride, inner_stride) = (view.strides()[outer], view.strides()[inner]);
        if !continues(stride, view.shape()[inner], inner_stride) && some_valid(outer) && some_valid(inner) {
            obstacles.push(Obstacle::Strides {
                new: new_axis(crossing.0),
                outer: old_axis(outer),
                inner: old_axis(inner),
                stride,
                needed: i128::from(inner_stride) * i128::from(view.shape()[inner]),
                inner_stride,
            });
        }
    }
    obstacles.reverse();
    let masks = block.pieces.iter().map(|piece| &joined[piece.joined]).filter(|axes| !full(axes.range, axes.size));
    obstacles.extend(masks.map(|axes| Obstacle::Mask {
        // Axes are joined only where nothing of them is masked, so that this is one axis.
        old: old_axis(axes.inner),
        range: axes.range,
        new: block.new.clone().filter(|&axis| to[axis] != 1).map(new_axis).collect(),
    }));
    obstacles
}
