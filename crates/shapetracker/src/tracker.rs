//! A stack of views kept as short as can be: the layout of a tensor after any chain of movement operations.

use std::fmt;

use smallvec::SmallVec;

use crate::ease;
use crate::error::{Error, Fault};
use crate::fewest::{self, Stack};
use crate::merge::{Undecided, Unmerged};
use crate::shape::{check_count, distinct_axes, infer, resolve_axis, resolve_new_axis, unravel};
use crate::view::{check_inside, check_range};
use crate::{Dims, Movement, Ranges, Verdict, View};

/// The layout of a tensor over a buffer: a stack of views, the first next to memory, kept at the fewest views.
///
/// It is a rule from index to address in the one buffer that it was started over. No operation changes that buffer, not even
/// one that copies: [`Stored`](crate::Stored) follows a tensor into the buffers that copies make.
///
/// An index enters the last view; the address it yields is unravelled in the shape of the view before and enters that
/// one, and so on down to memory. Most trackers are one view. Every operation returns a new tracker and leaves this
/// one as it was.
///
/// ```
/// use shapetracker::ShapeTracker;
///
/// let st = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([3, 2])?;
/// assert_eq!(st.views().len(), 2);
/// let addresses: Vec<_> = st.addresses().collect();
/// assert_eq!(addresses, [Some(0), Some(2), Some(4), Some(1), Some(3), Some(5)]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// Every operation leaves the stack in a normal form, which is that of the elements in row-major order read in the shape of
/// the last view. So reshapes in between leave no trace, and views that are read again give the tracker that they are of:
///
/// ```
/// use shapetracker::ShapeTracker;
///
/// let st = ShapeTracker::contiguous([2, 3, 2])?.permute([0, 2, 1])?.reshape([2, 6])?.pad([(0, 0), (0, 2)])?;
/// let reshaped = st.reshape([2, 2, 4])?;
/// assert_eq!(reshaped.views().len(), 2);
/// assert_eq!(st.reshape([16])?.reshape([2, 2, 4])?, reshaped);
/// assert_eq!(ShapeTracker::from_views(reshaped.views().to_vec())?, reshaped);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// `==` compares the stacks. Trackers of one view are equal exactly when they are the same map. Stacks of several views that
/// are the same map are one stack where they differ in what the views under the last one do to nothing but shapes: axes of
/// size 1, how axes are split and joined, which view masks an element, which view turns or cuts an axis that the splits
/// of the last view follow. Others may be unequal and the same map, which [`ShapeTracker::difference`] decides.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct ShapeTracker {
    views: Stack,
}

/// The name of [`ShapeTracker::compose`] in messages.
const COMPOSE: &str = "compose";

impl ShapeTracker {
    /// A contiguous tensor of a shape, from address 0.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([2, 3])?;
    /// assert_eq!(st.views()[0].strides(), [3, 1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A negative size, too many axes, or more than `i64::MAX` elements.
    pub fn contiguous(shape: impl AsRef<[i64]>) -> Result<Self, Error> {
        Ok(View::contiguous(shape)?.into())
    }

    /// A stack of views, the first next to memory, reduced to the fewest.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, View};
    ///
    /// let memory = View::new([10, 9, 4], [140, 11, 13], 0, None)?;
    /// let st = ShapeTracker::from_views([memory, View::new([6], [9], 0, None)?])?;
    /// assert_eq!(st.as_view(), Some(&View::new([6], [35], 0, None)?));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// No views, or a view that reads an address which the view under it does not have.
    pub fn from_views(views: impl IntoIterator<Item = View>) -> Result<Self, Error> {
        let mut stack = Stack::new();
        let mut under = None;
        for view in views {
            if let Some(len) = under {
                check_inside("views", &view, len)?;
            }
            under = Some(view.numel());
            fewest::push("views", &mut stack, view, None)?;
        }
        if stack.is_empty() {
            return Err(Error::new("views", Fault::NoViews));
        }
        Ok(ShapeTracker { views: stack })
    }

    /// The views, the first next to memory.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([6])?;
    /// assert_eq!(st.views()[0].shape(), [2, 3]); // next to memory
    /// assert_eq!(st.views()[1].shape(), [6]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn views(&self) -> &[View] {
        &self.views
    }

    /// The only view, when there is only one.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 2])?.permute([1, 0])?;
    /// assert!(st.as_view().is_some());
    /// assert!(st.reshape([6])?.as_view().is_none());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn as_view(&self) -> Option<&View> {
        match &self.views[..] {
            [view] => Some(view),
            _ => None,
        }
    }

    /// The shape: one size per axis, outermost first.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 2])?.permute([1, 0])?;
    /// assert_eq!(st.shape(), [2, 3]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        self.last().shape()
    }

    /// The number of axes.
    ///
    /// ```
    /// assert_eq!(shapetracker::ShapeTracker::contiguous([3, 2])?.rank(), 2);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.last().rank()
    }

    /// The number of elements, masked ones included.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3])?.pad([(1, 1)])?;
    /// assert_eq!(st.numel(), 5);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn numel(&self) -> i64 {
        self.last().numel()
    }

    /// The address that an index reads, or `None` where the index is masked or outside the shape.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3])?.pad([(1, 0)])?;
    /// assert_eq!(st.address(&[0]), None);
    /// assert_eq!(st.address(&[3]), Some(2));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn address(&self, index: &[i64]) -> Option<i64> {
        self.views[..self.views.len() - 1]
            .iter()
            .rev()
            .try_fold(self.last().address(index)?, |address, view| view.address(&unravel(address, view.shape())))
    }

    /// The addresses of all elements in row-major order, `None` where one is masked.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([2, 2])?.permute([1, 0])?;
    /// assert!(st.addresses().eq([Some(0), Some(2), Some(1), Some(3)]));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn addresses(&self) -> impl Iterator<Item = Option<i64>> + '_ {
        (0..self.numel()).map(|position| self.address(&unravel(position, self.shape())))
    }

    /// Performs one movement operation. An operation that copies changes no element, so that the tracker stays as it is: its
    /// addresses are always those of the buffer that it was started over.
    ///
    /// ```
    /// use shapetracker::{Movement, Ranges, ShapeTracker};
    ///
    /// let st = ShapeTracker::contiguous([3])?.apply(&Movement::Pad(Ranges::from_slice(&[(1, 1)])))?;
    /// assert_eq!(st.shape(), [5]);
    /// assert_eq!(st.apply(&Movement::Contiguous)?, st);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the method of the same name.
    pub fn apply(&self, op: &Movement) -> Result<Self, Error> {
        self.moved(op, drop)
    }

    /// Performs one movement operation, and says what it did to the number of views: with the evidence, where the
    /// operation needs one more.
    ///
    /// The evidence is what the operation itself came across when it could not be done in the last view alone. Nothing
    /// is decided twice: this costs what [`ShapeTracker::apply`] does, which lets the evidence go.
    ///
    /// Of an operation that copies it says how many elements are copied, and the tracker stays as it is: it knows nothing of
    /// the new buffer. [`Stored`](crate::Stored) does, and tells the two buffers apart.
    ///
    /// ```
    /// use shapetracker::{Dims, Movement, ShapeTracker};
    ///
    /// let transposed = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?;
    /// let (joined, verdict) = transposed.perform(&Movement::Reshape(Dims::from_slice(&[6])))?;
    /// assert_eq!((joined.views().len(), verdict.name()), (2, "new_view"));
    /// assert!(verdict.reason().unwrap().to_string().ends_with("one stride cannot do both"));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the method of the same name.
    pub fn perform(&self, op: &Movement) -> Result<(Self, Verdict), Error> {
        let mut refusal = None;
        let after = self.moved(op, |why| refusal = Some(why))?;
        let verdict = match self.copies(op) {
            Some(elements) => Verdict::Copied(elements),
            None => Verdict::new(self.views.len(), after.views.len(), refusal),
        };
        Ok((after, verdict))
    }

    /// One movement operation. Where it puts a new view on the stack that does not merge with the last one, `refused`
    /// is told why.
    #[inline]
    fn moved(&self, op: &Movement, refused: impl FnOnce(Unmerged)) -> Result<Self, Error> {
        match op {
            Movement::Reshape(shape) => self.reshaped(shape, refused),
            Movement::Permute(axes) => self.permute(axes),
            Movement::Expand(sizes) => self.expand(sizes),
            Movement::Pad(pads) => self.pad(pads),
            Movement::Shrink(ranges) => self.shrink(ranges),
            Movement::Flip(axes) => self.flip(axes),
            Movement::Step(steps) => self.step(steps),
            Movement::AsStrided(shape, strides, offset) => self.strided(shape, strides, *offset, refused),
            Movement::FlipEach(reversed) => {
                check_count("flip", "boolean", self.rank(), reversed.len())?;
                self.flip(
                    (0..).zip(reversed).filter(|(_, reversed)| **reversed).map(|(axis, _)| axis).collect::<Dims>(),
                )
            }
            Movement::Transpose(a, b) => self.transpose(*a, *b),
            Movement::Squeeze(axes) => self.squeeze(axes),
            Movement::SqueezeAll => {
                self.reshape(self.shape().iter().copied().filter(|&size| size != 1).collect::<Dims>())
            }
            Movement::Unsqueeze(axis) => self.unsqueeze(*axis),
            Movement::BroadcastTo(shape) => self.broadcast_to(shape),
            Movement::Slice(slices) => self.slice(slices),
            Movement::Contiguous | Movement::Copy => Ok(self.clone()),
        }
    }

    /// How many elements an operation copies in the buffer that this tracker is over. `contiguous` leaves elements that are
    /// in row-major order already where they are, at whatever offset.
    fn copies(&self, op: &Movement) -> Option<i64> {
        let copies = match op {
            Movement::Contiguous => !self.is_contiguous(),
            Movement::Copy => true,
            _ => false,
        };
        copies.then(|| self.numel())
    }

    /// The same elements in row-major order under a new shape; one size may be -1 and is inferred.
    ///
    /// Appends a view only where no single view can say it.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([6, 4])?.reshape([-1, 8])?;
    /// assert_eq!(st.shape(), [3, 8]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A different number of elements, a size that cannot be inferred, too many axes.
    pub fn reshape(&self, shape: impl AsRef<[i64]>) -> Result<Self, Error> {
        self.reshaped(shape.as_ref(), drop)
    }

    /// [`ShapeTracker::reshape`], which tells why where no single view can say it.
    #[inline]
    fn reshaped(&self, shape: &[i64], refused: impl FnOnce(Unmerged)) -> Result<Self, Error> {
        const OP: &str = "reshape";
        let shape = infer(OP, self.shape(), self.numel(), shape)?;
        match crate::merge::reshape(self.last(), &shape) {
            Ok(view) => Ok(self.with_last(view)),
            // The view that comes on top makes with the last one the pair that was refused just now.
            Err(why) => self.with_pushed(OP, View::row_major(&shape), Some(why), refused),
        }
    }

    /// The axes in another order: new axis `l` is old axis `axes[l]`; a negative number counts from the last axis.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([2, 3, 5])?.permute([2, 0, 1])?;
    /// assert_eq!(st.shape(), [5, 2, 3]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis that is missing, repeated or does not exist.
    pub fn permute(&self, axes: impl AsRef<[i64]>) -> Result<Self, Error> {
        Ok(self.with_same_merges(self.last().permute(axes)?))
    }

    /// Two axes exchanged; a negative number counts from the last axis.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([2, 3, 5])?.transpose(0, -1)?;
    /// assert_eq!(st.shape(), [5, 3, 2]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis that does not exist.
    pub fn transpose(&self, a: i64, b: i64) -> Result<Self, Error> {
        let (a, b) = (resolve_axis("transpose", a, self.rank())?, resolve_axis("transpose", b, self.rank())?);
        let mut axes: Dims = (0..self.rank() as i64).collect();
        axes.swap(a, b);
        self.permute(axes)
    }

    /// Axes of size 1 repeated to the given sizes; -1 (or the size itself) leaves an axis as it is.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 1])?.expand([3, 4])?;
    /// assert_eq!(st.views()[0].strides(), [1, 0]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A size other than 1 that would change, a negative size, a wrong number of sizes, too many elements.
    pub fn expand(&self, sizes: impl AsRef<[i64]>) -> Result<Self, Error> {
        Ok(self.with_same_merges(self.last().expand(sizes)?))
    }

    /// Broadcast to a shape by the usual rule: new axes appear in front, axes of size 1 are repeated.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 1])?.broadcast_to([2, 3, 4])?;
    /// assert_eq!(st.views()[0].strides(), [0, 1, 0]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// Fewer axes than the tensor has, and those of [`ShapeTracker::expand`].
    pub fn broadcast_to(&self, shape: impl AsRef<[i64]>) -> Result<Self, Error> {
        let to = shape.as_ref();
        let Some(new) = to.len().checked_sub(self.rank()) else {
            return Err(Error::new("broadcast_to", Fault::BroadcastRank { rank: self.rank(), given: to.len() }));
        };
        if new == 0 {
            return self.expand(to);
        }
        let ones = std::iter::repeat_n(1, new).chain(self.shape().iter().copied());
        self.reshape(ones.collect::<Dims>())?.expand(to)
    }

    /// Masked elements around the tensor: `(before, after)` for each axis.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([2])?.pad([(1, 1)])?;
    /// assert!(st.addresses().eq([None, Some(0), Some(1), None]));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A negative pad, a wrong number of pads, too many elements, an offset past `i64`.
    pub fn pad(&self, pads: impl AsRef<[(i64, i64)]>) -> Result<Self, Error> {
        Ok(self.with_same_merges(self.last().pad(pads)?))
    }

    /// The half-open range `(begin, end)` of each axis.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([4, 4])?.shrink([(1, 3), (0, 4)])?;
    /// assert_eq!(st.shape(), [2, 4]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A range that is reversed or leaves its axis, a wrong number of ranges.
    pub fn shrink(&self, ranges: impl AsRef<[(i64, i64)]>) -> Result<Self, Error> {
        Ok(self.with_last(self.last().shrink(ranges)?))
    }

    /// The slice `begin:end:step` of each axis, with Python's meaning for missing ends; every step must not be 0.
    ///
    /// A missing or negative bound counts as Python counts it, and a bound past the axis is cut off at its end.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([10])?.slice([(Some(8), Some(1), -3)])?;
    /// assert!(st.addresses().eq([Some(8), Some(5), Some(2)]));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A step of 0, a wrong number of slices.
    pub fn slice(&self, slices: impl AsRef<[(Option<i64>, Option<i64>, i64)]>) -> Result<Self, Error> {
        const OP: &str = "slice";
        let slices = slices.as_ref();
        check_count(OP, "slice (begin, end, step)", self.rank(), slices.len())?;
        let mut ranges = Ranges::new();
        for (axis, (&(begin, end, step), &size)) in slices.iter().zip(self.shape()).enumerate() {
            if step == 0 {
                return Err(Error::new(OP, Fault::ZeroStep { axis }));
            }
            let from_end = |bound: i64| if bound < 0 { bound.saturating_add(size) } else { bound };
            ranges.push(if step > 0 {
                let begin = begin.map_or(0, from_end).clamp(0, size);
                (begin, end.map_or(size, from_end).clamp(begin, size))
            } else {
                // Backwards, `begin` is the last element taken and `end` the one before the first.
                let last = begin.map_or(size - 1, from_end).clamp(-1, size - 1);
                (end.map_or(-1, from_end).clamp(-1, last) + 1, last + 1)
            });
        }
        self.shrink(ranges)?.step(slices.iter().map(|slice| slice.2).collect::<Dims>())
    }

    /// The named axes reversed; a negative number counts from the last axis.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3])?.flip([0])?;
    /// assert!(st.addresses().eq([Some(2), Some(1), Some(0)]));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis that does not exist or is named twice.
    pub fn flip(&self, axes: impl AsRef<[i64]>) -> Result<Self, Error> {
        Ok(self.with_same_merges(self.last().flip(axes)?))
    }

    /// Every step-th element of each axis, as the slice `[::step]` does: a negative step walks back from the last.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([5])?.step([-2])?;
    /// assert!(st.addresses().eq([Some(4), Some(2), Some(0)]));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A step of 0, a wrong number of steps.
    pub fn step(&self, steps: impl AsRef<[i64]>) -> Result<Self, Error> {
        Ok(self.with_last(self.last().step(steps)?))
    }

    /// The named axes, which have size 1, taken away; a negative number counts from the last axis. Of no axes that is the
    /// tensor as it is: [`Movement::Squeeze`] of no axes, which takes all of size 1 away, is the text `squeeze()`.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([1, 3, 1])?.squeeze([0])?;
    /// assert_eq!(st.shape(), [3, 1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An axis whose size is not 1, does not exist or is named twice.
    pub fn squeeze(&self, axes: impl AsRef<[i64]>) -> Result<Self, Error> {
        const OP: &str = "squeeze";
        let axes = distinct_axes(OP, axes.as_ref(), self.rank())?;
        for &axis in &axes {
            let size = self.shape()[axis];
            if size != 1 {
                return Err(Error::new(OP, Fault::Squeeze { axis, size }));
            }
        }
        let kept = (0..).zip(self.shape()).filter(|(axis, _)| !axes.contains(axis)).map(|(_, &size)| size);
        self.reshape(kept.collect::<Dims>())
    }

    /// A new axis of size 1 before the given one; a negative number counts from behind the last axis.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3])?;
    /// assert_eq!(st.unsqueeze(0)?.shape(), [1, 3]);
    /// assert_eq!(st.unsqueeze(-1)?.shape(), [3, 1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A place past the last axis, too many axes.
    pub fn unsqueeze(&self, axis: i64) -> Result<Self, Error> {
        let axis = resolve_new_axis("unsqueeze", axis, self.rank())?;
        let mut shape: Dims = self.shape().into();
        shape.insert(axis, 1);
        self.reshape(shape)
    }

    /// The elements in row-major order read as memory, with a shape, strides and an offset of their own.
    ///
    /// On a contiguous tensor this is what NumPy and PyTorch call `as_strided`. On any other it reads the tensor's
    /// elements, not the buffer behind them.
    ///
    /// ```
    /// let windows = shapetracker::ShapeTracker::contiguous([5])?.as_strided([3, 3], [1, 1], 0)?;
    /// assert_eq!(windows.address(&[2, 2]), Some(4));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A wrong number of strides, a negative size, an address outside the tensor's elements.
    pub fn as_strided(&self, shape: impl AsRef<[i64]>, strides: impl AsRef<[i64]>, offset: i64) -> Result<Self, Error> {
        self.strided(shape.as_ref(), strides.as_ref(), offset, drop)
    }

    /// [`ShapeTracker::as_strided`], which tells why where the view does not merge with the last one.
    fn strided(
        &self,
        shape: &[i64],
        strides: &[i64],
        offset: i64,
        refused: impl FnOnce(Unmerged),
    ) -> Result<Self, Error> {
        const OP: &str = "as_strided";
        crate::shape::checked_numel(OP, shape)?;
        check_count(OP, "stride", shape.len(), strides.len())?;
        let view = View::canonical(OP, shape.into(), strides.into(), offset.into(), None)?;
        check_inside(OP, &view, self.numel())?;
        self.with_pushed(OP, view, None, refused)
    }

    /// The other tracker over this one: its addresses are positions of this tensor in row-major order.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// let transposed = ShapeTracker::contiguous([2, 3])?.permute([1, 0])?;
    /// let flipped = ShapeTracker::contiguous([6])?.flip([0])?;
    /// let both = transposed.compose(&flipped)?;
    /// assert_eq!(both.address(&[0]), Some(5));
    /// assert_eq!(both.address(&[1]), Some(2));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// An element of the other tracker that reads an address outside this tensor's elements. What its first view reads and
    /// no element of the tracker does is of no consequence, except at the work limit of [`ShapeTracker::address_range`].
    /// More views than [`MAX_VIEWS`](crate::MAX_VIEWS), a number past `i64`.
    pub fn compose(&self, over: &ShapeTracker) -> Result<Self, Error> {
        match check_inside(COMPOSE, &over.views[0], self.numel()) {
            Ok(()) => self.composed(over.views.iter().cloned()),
            Err(outside) => self.compose_widened(over, outside),
        }
    }

    /// This tracker under views, the first of which fits into it.
    fn composed(&self, over: impl Iterator<Item = View>) -> Result<Self, Error> {
        let mut views = self.views.clone();
        for view in over {
            fewest::push(COMPOSE, &mut views, view, None)?;
        }
        Ok(ShapeTracker { views })
    }

    /// [`ShapeTracker::compose`] where the first view of the other tracker reads addresses outside this tensor, perhaps at
    /// elements that no view over it reads.
    ///
    /// The outermost axis of this tensor is made longer at both ends until that view fits into it: views of a stack always
    /// fit into each other, whatever is read of them. No element reads what is new, so that it may be anything: of a view
    /// next to memory it goes on as the axis does, where `i64` holds that, so that views that merge without it merge
    /// with it; else it is masked.
    #[cold]
    fn compose_widened(&self, over: &ShapeTracker, outside: Error) -> Result<Self, Error> {
        let (Ok(range), Some((low, high))) = (over.address_range(), over.views[0].address_range()) else {
            return Err(outside);
        };
        check_range(COMPOSE, range, self.numel())?;
        if range.is_none() {
            return Ok(View::nothing(over.shape()).into());
        }
        // Some element lies inside this tensor, so that it has no size 0. One axis takes the least that is new.
        let flat = self.reshape([self.numel()])?;
        let base = if flat.views.len() > self.views.len() { self } else { &flat };
        let block: i64 = base.shape()[1..].iter().product();
        let blocks = |elements: i64| (elements.max(0) as u64).div_ceil(block as u64) as i64;
        let (before, after) = (blocks(low.saturating_neg()), blocks(high - high.min(base.numel() - 1)));
        let mut pads = Ranges::from_elem((0, 0), base.rank());
        pads[0] = (before, after);
        let padded = base.pad(pads)?;
        let wide = match base.as_view().filter(|view| view.mask().is_none()) {
            Some(_) => {
                let (shape, strides, offset, _) = padded.last().parts();
                View::canonical(COMPOSE, shape.clone(), strides.clone(), offset.into(), None).map_or(padded, Into::into)
            }
            None => padded,
        };
        let (shape, strides, offset, mask) = over.views[0].parts();
        let moved = i128::from(offset) + i128::from(before) * i128::from(block);
        let first = View::canonical(COMPOSE, shape.clone(), strides.clone(), moved, mask.cloned())?;
        wide.composed([first].into_iter().chain(over.views[1..].iter().cloned()))
    }

    /// The tracker with a view on top that fits into the last one. `known` is why the two do not merge, where that was
    /// decided already; `refused` is told it, or what pushing found out.
    fn with_pushed(
        &self,
        op: &'static str,
        view: View,
        known: Option<Unmerged>,
        refused: impl FnOnce(Unmerged),
    ) -> Result<Self, Error> {
        let mut views = self.views.clone();
        if let Some(why) = fewest::push(op, &mut views, view, known)? {
            refused(why);
        }
        Ok(ShapeTracker { views })
    }

    pub(crate) fn last(&self) -> &View {
        &self.views[self.views.len() - 1]
    }

    /// Replaces the last view by one that may merge where the old one did not.
    #[inline]
    fn with_last(&self, view: View) -> Self {
        if self.views.len() == 1 {
            return view.into();
        }
        let mut views = self.under(view);
        fewest::merge_top(&mut views, None);
        fewest::settle(&mut views);
        ShapeTracker { views }
    }

    /// Replaces the last view by one that merges exactly when the old one did: permuting, flipping, repeating and
    /// padding change neither whether differences are constant nor whether the valid set is a box.
    #[inline]
    fn with_same_merges(&self, view: View) -> Self {
        if self.views.len() == 1 {
            return view.into();
        }
        if view.is_empty() {
            return self.with_last(view);
        }
        let mut views = self.under(view);
        fewest::settle(&mut views);
        ShapeTracker { views }
    }

    /// A question about the map, asked of the views, and where that decides nothing of those that are easier to read through.
    pub(crate) fn asked<T>(&self, ask: impl Fn(&ShapeTracker) -> Result<T, Undecided>) -> Result<T, Undecided> {
        let mut eased: Option<ShapeTracker> = None;
        loop {
            // One place that asks, since each is a copy of what answers.
            let answer = ask(eased.as_ref().unwrap_or(self));
            if answer.is_ok() || eased.is_some() {
                return answer;
            }
            match ease::eased(&self.views, true) {
                Some(views) => eased = Some(ShapeTracker { views }),
                None => return answer,
            }
        }
    }

    /// The views with another one in the place of the last.
    fn under(&self, view: View) -> Stack {
        let below = &self.views[..self.views.len() - 1];
        let mut views: Stack = SmallVec::with_capacity(self.views.len());
        views.extend(below.iter().cloned());
        views.push(view);
        views
    }
}

impl From<View> for ShapeTracker {
    #[inline]
    fn from(view: View) -> Self {
        ShapeTracker { views: SmallVec::from_buf([view]) }
    }
}

/// The views from the last to the one next to memory, in the form of [`View`]'s `Display`, with `over` between them.
impl fmt::Display for ShapeTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, view) in self.views.iter().rev().enumerate() {
            if i > 0 {
                f.write_str(" over ")?;
            }
            write!(f, "{view}")?;
        }
        Ok(())
    }
}

/// The text that the field pastes: `ShapeTracker(views=(View(...), View(...)))`.
impl fmt::Debug for ShapeTracker {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ShapeTracker(views=(")?;
        for (i, view) in self.views.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{view:?}")?;
        }
        f.write_str(if self.views.len() == 1 { ",))" } else { "))" })
    }
}
