//! What stands between a view and a shape, with the smallest copy that clears it.

use super::Misfit;
use super::blocks::{Joined, blocks, joined};
use super::buffer::Buffer;
use super::obstacle::{Obstacle, obstacles_of};
use crate::error::Error;
use crate::merge::equation::gcd;
use crate::merge::{Unmerged, Witness, reshape};
use crate::{Dims, Ranges, View};

/// What stands between a view and a shape, and the copy that clears it.
///
/// The copy: write the elements of [`Blocked::copied`], in row-major order, into a fresh buffer; [`Blocked::view`] of that
/// buffer has the new shape and the same elements as the old view.
///
/// What is minimal about it: when the old view is not masked, of all ways to give each new axis either stride 0 or a
/// row-major stride over the buffer, none has a smaller buffer. Both shapes are cut into the finest blocks of axes
/// that line up. In a block that fits as it is, broadcast axes stay broadcast, masked margins stay out of the buffer,
/// and windows that overlap share their elements, so that the buffer may be smaller still than any of those ways. A
/// block that does not fit is copied in full, masked elements included. Nothing is claimed against views whose new
/// axes would overlap in other ways, or stay constant only because of a mask.
///
/// ```
/// use shapetracker::View;
/// use shapetracker::fit::{Misfit, fit};
///
/// // Eight broadcast copies of a transposed matrix: only one of them has to be copied.
/// let view = View::new([8, 3, 5], [0, 1, 3], 0, None)?;
/// let Err(Misfit::Blocked(blocked)) = fit(&view, [8, 15]) else { panic!() };
/// assert_eq!(*blocked.copied(), View::new([1, 3, 5], [0, 1, 3], 0, None)?);
/// assert_eq!(*blocked.view(), View::new([8, 15], [0, 1], 0, None)?);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    old: View,
    witness: Witness,
    obstacles: Vec<Obstacle>,
    copied: View,
    view: View,
}

impl Blocked {
    /// The view that was asked about.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let transposed = View::new([4, 6], [1, 4], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&transposed, [24]) else { panic!() };
    /// assert_eq!(*blocked.old(), transposed);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn old(&self) -> &View {
        &self.old
    }

    /// Proof that there is no such view, in indices of the new shape.
    ///
    /// ```
    /// use shapetracker::fit::{Misfit, fit};
    /// use shapetracker::{View, Witness};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 6], [1, 4], 0, None)?, [24]) else { panic!() };
    /// assert!(matches!(blocked.witness(), Witness::UnevenStep { axis: 0, .. }));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// What is in the way, from the outermost axes to the innermost. There is at least one.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 6], [1, 4], 0, None)?, [24]) else { panic!() };
    /// assert_eq!(blocked.obstacles().len(), 1);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn obstacles(&self) -> &[Obstacle] {
        &self.obstacles
    }

    /// The elements to copy: a view of the old buffer. Where the old view is not masked and no windows overlap, it has
    /// the axes of the old view, with broadcast axes cut short.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 3], [0, 1], 0, None)?, [2, 6]) else { panic!() };
    /// assert_eq!(*blocked.copied(), View::new([2, 3], [0, 1], 0, None)?);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn copied(&self) -> &View {
        &self.copied
    }

    /// The view of the fresh buffer that has the new shape.
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker::fit::{Misfit, fit};
    ///
    /// let Err(Misfit::Blocked(blocked)) = fit(&View::new([4, 3], [0, 1], 0, None)?, [2, 6]) else { panic!() };
    /// assert_eq!(*blocked.view(), View::new([2, 6], [0, 1], 0, None)?);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn view(&self) -> &View {
        &self.view
    }

    /// The obstacles of a view that is not empty, and the smallest copy: each block of axes is kept where it is a view by
    /// itself, and else copied.
    pub(super) fn of(view: &View, to: &[i64], witness: Witness) -> Result<Blocked, Misfit> {
        let mut obstacles = Vec::new();
        let mut buffer = Buffer::at(view.offset());
        let mut mask: Ranges = to.iter().map(|&size| (0, size)).collect();
        let joined = joined(view);
        // How many elements of each group of joined old axes are copied: of a broadcast one, those that blocks need.
        let mut copied_of: Vec<i64> = joined.iter().map(|axes| if axes.stride == 0 { 1 } else { axes.size }).collect();
        for block in blocks(&joined, to) {
            let new = &to[block.new.clone()];
            match reshape(&block.view()?, new) {
                Ok(fitting) => {
                    buffer.offset += i128::from(fitting.offset());
                    for (i, &stride) in fitting.strides().iter().enumerate() {
                        let axis = block.new.start + i;
                        mask[axis] = fitting.range(i);
                        if stride != 0 {
                            buffer.keep(axis, stride, mask[axis]);
                        }
                    }
                }
                Err(Unmerged::Witness(_)) => {
                    obstacles.extend(obstacles_of(view, &joined, &block, to));
                    for piece in block.pieces.iter().filter(|piece| joined[piece.joined].stride == 0) {
                        copied_of[piece.joined] *= piece.size;
                    }
                    buffer.copy(&block, new);
                }
                Err(Unmerged::Undecided) => return Err(Misfit::Undecided),
                Err(Unmerged::Error(err)) => return Err(Misfit::Error(err)),
            }
        }
        buffer.share_overlaps();
        let new_view = buffer.view(to, mask)?;
        let copied = if buffer.numel() == view.numel() {
            view.clone()
        } else if view.mask().is_none() && !buffer.shared {
            shortened(view, &joined, &copied_of)?
        } else {
            buffer.copied()?
        };
        Ok(Blocked { old: view.clone(), witness, obstacles, copied, view: new_view })
    }
}

/// The old view with its broadcast axes cut short, so that the joined axes have the given numbers of elements.
fn shortened(view: &View, joined: &[Joined], copied_of: &[i64]) -> Result<View, Error> {
    let mut shape: Dims = view.shape().into();
    for (axes, &copied) in joined.iter().zip(copied_of) {
        // A number that divides a product of sizes is a product of divisors of the sizes, the innermost taken first.
        let mut rest = copied;
        for axis in (axes.outer..=axes.inner).rev() {
            shape[axis] = gcd(rest.into(), shape[axis].into()) as i64;
            rest /= shape[axis];
        }
    }
    View::new(shape, view.strides(), view.offset(), None)
}
