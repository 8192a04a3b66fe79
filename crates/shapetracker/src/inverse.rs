//! The tracker that undoes a tracker.

use crate::error::{Error, Fault};
use crate::merge::Undecided;
use crate::view::check_inside;
use crate::{Dims, Ranges, ShapeTracker, View};
use indexpr::list::sort_short_by_key;

/// Why a tracker was not inverted.
///
/// ```
/// use shapetracker::{NotInvertible, ShapeTracker};
///
/// let windows = ShapeTracker::contiguous([3])?.as_strided([2, 2], [1, 1], 0)?;
/// let Err(NotInvertible::Collision { indices, address }) = windows.invert([3]) else { panic!() };
/// assert!(indices.iter().all(|index| windows.address(index) == Some(address)));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotInvertible {
    /// Two valid indices read the same address: there is no inverse.
    #[error("elements {:?} and {:?} both read address {address}: an inverse could not tell them apart", .indices[0], .indices[1])]
    Collision {
        /// The two indices.
        indices: [Dims; 2],
        /// The address that both of them read.
        address: i64,
    },
    /// The inverse exists, but its strides interleave: no stack of views is known that writes it.
    #[error(
        "no two elements read the same address, but their strides interleave, and no stack of views is known for that"
    )]
    Interleaved,
    /// The work limit was reached.
    #[error(transparent)]
    Undecided(#[from] Undecided),
    /// The tracker reads outside the buffer that was named, or a number is past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}

impl ShapeTracker {
    /// The tracker over this tensor's elements that finds, for each place of a buffer of a shape, the element that reads
    /// it: masked where none does.
    ///
    /// If this tracker reads address `x` at an index, the inverse reads that index (as a position in row-major order)
    /// at `x`. It exists exactly if no two valid indices read the same address.
    ///
    /// ```
    /// use shapetracker::{NotInvertible, ShapeTracker};
    ///
    /// let st = ShapeTracker::contiguous([2, 3])?.permute([1, 0])?;
    /// assert_eq!(st.invert([6]).unwrap().views().len(), 2);
    ///
    /// let every_other = ShapeTracker::contiguous([6])?.step([2])?;
    /// let inverse = every_other.invert([6]).unwrap();
    /// assert!(inverse.addresses().eq([Some(0), None, Some(1), None, Some(2), None]));
    ///
    /// let repeated = ShapeTracker::contiguous([1])?.expand([3])?;
    /// assert!(matches!(repeated.invert([1]), Err(NotInvertible::Collision { .. })));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`NotInvertible`] says why: a collision with its two indices, strides that interleave (such as 3 and 2), an
    /// address outside the buffer.
    pub fn invert(&self, buffer: impl AsRef<[i64]>) -> Result<ShapeTracker, NotInvertible> {
        const OP: &str = "invert";
        let buffer = buffer.as_ref();
        let len = crate::shape::checked_numel(OP, buffer)?;
        check_inside(OP, &self.views()[0], len)?;
        // Undo the last view first: its inverse reads the elements, and the inverse of the view below reads through it.
        let mut inverse: Option<ShapeTracker> = None;
        for (k, view) in self.views().iter().enumerate().rev() {
            let len = if k == 0 { len } else { self.views()[k - 1].numel() };
            let Some(undone) = undo(view, len)? else {
                return Err(match self.collision()? {
                    Some(indices) => {
                        let address = self.address(&indices[0]).unwrap_or_default();
                        NotInvertible::Collision { indices, address }
                    }
                    None => NotInvertible::Interleaved,
                });
            };
            inverse = Some(match inverse {
                None => undone,
                Some(inverse) => inverse.compose(&undone)?,
            });
        }
        let inverse = inverse.ok_or(Error::from(Fault::NoViews { op: OP }))?;
        Ok(inverse.reshape(buffer)?)
    }
}

/// The inverse of one view over a buffer of `len` elements, if its strides nest: each one is at least as large as what
/// those below it span.
fn undo(view: &View, len: i64) -> Result<Option<ShapeTracker>, Error> {
    let Some((low, high)) = view.address_range() else { return Ok(Some(View::nothing(&[len]).into())) };
    let ranges: Ranges = (0..view.rank()).map(|axis| view.range(axis)).collect();
    let mut axes: Dims = (0..view.rank() as i64).collect();
    let backwards = axes.iter().copied().filter(|&axis| view.strides()[axis as usize] < 0).collect::<Dims>();
    let stride = |axis: i64| view.strides()[axis as usize].saturating_abs();
    sort_short_by_key(&mut axes, |&axis| std::cmp::Reverse(stride(axis)));
    let ordered = ShapeTracker::contiguous(view.shape())?.shrink(&ranges)?.flip(backwards)?.permute(&axes)?;
    axes.retain(|axis| ranges[*axis as usize].1 - ranges[*axis as usize].0 > 1);
    let mut outer: Dims = ordered.shape().iter().copied().filter(|&size| size > 1).collect();
    // From the innermost axis on: each element of an axis becomes a block as long as its stride, padded behind, and the
    // axis a row of blocks without the last padding. The tracker has the axes that are left, and that row.
    let mut row = 1;
    let mut inverse = ordered.reshape([&outer[..], &[row]].concat())?;
    while let (Some(size), Some(axis)) = (outer.pop(), axes.pop()) {
        let block = stride(axis);
        if block < row {
            return Ok(None);
        }
        let mut pads = Ranges::from_elem((0, 0), outer.len() + 1);
        pads.push((0, block - row));
        inverse = inverse.pad(pads)?;
        let blocks = size.checked_mul(block).ok_or(Fault::Overflow { op: "invert", what: "the length" })?;
        inverse = inverse.reshape([&outer[..], &[blocks]].concat())?;
        row += blocks - block;
        let kept: Ranges = outer.iter().chain([&row]).map(|&size| (0, size)).collect();
        inverse = inverse.shrink(kept)?;
    }
    Ok(Some(inverse.pad([(low, len - 1 - high)])?))
}
