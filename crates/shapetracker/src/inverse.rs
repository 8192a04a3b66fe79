//! The tracker that undoes a tracker.

use shapetracker_base::list::sort_short_by_key;

use crate::error::{Error, Fault};
use crate::merge::Undecided;
use crate::view::{check_inside, check_range};
use crate::{Dims, Ranges, ShapeTracker, View};
use smallvec::SmallVec;

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
    /// The inverse exists, but the strides of a view interleave: no stack of views is known that writes it.
    #[error(
        "no two elements read the same address, but their strides interleave, and no stack of views is known for that"
    )]
    Interleaved,
    /// The inverse exists, but a view of the stack reads an address twice, at elements that the views over it leave out:
    /// no stack of views is known that writes the inverse.
    #[error(
        "no two elements read the same address, but one of the views does at elements that the views over it leave out, \
         and no stack of views is known for that"
    )]
    LeftOut,
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
    /// Where a view cannot be undone without the views over it, which leave out some of what it reads, the axes are split
    /// at their longest affine runs: in row-major order the elements stay where they are, and the views may merge then.
    ///
    /// # Errors
    /// [`NotInvertible`] says why: a collision with its two indices, strides that interleave (such as 3 and 2), an
    /// address outside the buffer. Only what an element of this tensor reads counts, not what its first view could read.
    pub fn invert(&self, buffer: impl AsRef<[i64]>) -> Result<ShapeTracker, NotInvertible> {
        const OP: &str = "invert";
        let buffer = buffer.as_ref();
        let len = crate::shape::checked_numel(OP, buffer)?;
        if check_inside(OP, &self.views()[0], len).is_err() {
            check_range(OP, self.address_range()?, len)?;
        }
        let inverse = match undo(self.views(), len)? {
            Ok(inverse) => inverse,
            Err(k) => {
                if let Some(indices) = self.collision()? {
                    let address = self.address(&indices[0]).unwrap_or_default();
                    return Err(NotInvertible::Collision { indices, address });
                }
                match self.split().map(|split| undo(split.views(), len)) {
                    Some(Ok(Ok(inverse))) => inverse,
                    _ if ShapeTracker::from(self.views()[k].clone()).collision()?.is_none() => {
                        return Err(NotInvertible::Interleaved);
                    }
                    _ => return Err(NotInvertible::LeftOut),
                }
            }
        };
        Ok(inverse.reshape(buffer)?)
    }

    /// The same elements with each axis split at its longest affine run, what is left of it likewise; `None` where a run
    /// does not divide its axis, or there is nothing to split.
    fn split(&self) -> Option<ShapeTracker> {
        let last = self.last();
        let mut shape = Dims::new();
        for axis in 0..self.rank() {
            // The axis alone; the others stay at an index that the last view has.
            let others = (0..self.rank()).map(|other| match last.range(other) {
                _ if other == axis => (0, self.shape()[axis]),
                (first, _) => (first, first + 1),
            });
            let mut rest = self.shrink(others.collect::<Ranges>()).ok()?.reshape([self.shape()[axis]]).ok()?;
            let mut runs = Dims::new();
            loop {
                let size = rest.numel();
                let is_affine = |run: i64| rest.shrink([(0, run)]).is_ok_and(|part| part.single_view().is_ok());
                // What begins an affine run is one, too.
                let (mut run, mut past) = (1, size);
                if is_affine(size) {
                    run = size;
                }
                while past - run > 1 {
                    let middle = run + (past - run) / 2;
                    *if is_affine(middle) { &mut run } else { &mut past } = middle;
                }
                runs.push(run);
                if run == size {
                    break;
                }
                if run == 1 || size % run != 0 {
                    return None;
                }
                rest = rest.step([run]).ok()?;
            }
            shape.extend(runs.into_iter().rev());
        }
        if shape.len() == self.rank() { None } else { self.reshape(shape).ok() }
    }
}

/// The inverse of a stack over a buffer of `len` elements, view by view; or which view cannot be undone without
/// the others.
fn undo(views: &[View], len: i64) -> Result<Result<ShapeTracker, usize>, Error> {
    // Seen before anything is built: most stacks that have no inverse have a view that has none.
    if let Some(k) = views.iter().rposition(|view| !strides_nest(view)) {
        return Ok(Err(k));
    }
    // Undo the last view first: its inverse reads the elements, and the inverse of the view below reads through it.
    let mut inverse: Option<ShapeTracker> = None;
    for (k, view) in views.iter().enumerate().rev() {
        let len = if k == 0 { len } else { views[k - 1].numel() };
        let Some(undone) = undo_one(view, len)? else { return Ok(Err(k)) };
        inverse = Some(match inverse {
            None => undone,
            Some(inverse) => inverse.compose(&undone)?,
        });
    }
    inverse.map(Ok).ok_or_else(|| Error::new("invert", Fault::NoViews))
}

/// Whether each stride of a view is at least as large as what the smaller ones span.
fn strides_nest(view: &View) -> bool {
    let axes = (0..view.rank()).map(|axis| (view.strides()[axis].saturating_abs(), view.range(axis)));
    let mut axes: SmallVec<[(i64, i64); 8]> =
        axes.map(|(stride, (begin, end))| (stride, end - begin)).filter(|(_, size)| *size > 1).collect();
    sort_short_by_key(&mut axes, |axis| *axis);
    let mut row = 1i64;
    axes.into_iter().all(|(stride, size)| {
        let nests = stride >= row;
        row = row.saturating_add(stride.saturating_mul(size - 1));
        nests
    })
}

/// The inverse of one view over a buffer of `len` elements, if its strides nest: each one is at least as large as what
/// those below it span. What the view reads outside the buffer is left out.
fn undo_one(view: &View, len: i64) -> Result<Option<ShapeTracker>, Error> {
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
        let blocks =
            size.checked_mul(block).ok_or_else(|| Error::new("invert", Fault::Overflow { what: "the length" }))?;
        inverse = inverse.reshape([&outer[..], &[blocks]].concat())?;
        row += blocks - block;
        let kept: Ranges = outer.iter().chain([&row]).map(|&size| (0, size)).collect();
        inverse = inverse.shrink(kept)?;
    }
    // Now the element at 0 is for the lowest address.
    let (begin, end) = (low.max(0), high.min(len - 1));
    if begin > end {
        return Ok(Some(View::nothing(&[len]).into()));
    }
    let inside = inverse.shrink([(begin.saturating_sub(low), end.saturating_sub(low) + 1)])?;
    Ok(Some(inside.pad([(begin, len - 1 - end)])?))
}
