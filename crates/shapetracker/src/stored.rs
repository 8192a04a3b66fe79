//! A tensor in the middle of a chain: the buffer that its elements are stored in, and where in it they are.

use std::sync::Arc;

use crate::number::Number;
use crate::{Error, Movement, MovementOf, ShapeTracker, Verdict};

/// The buffer that addresses are addresses of.
///
/// ```
/// use shapetracker::{Buffer, Chain};
///
/// let chain: Chain = "(3, 2).permute(1, 0).contiguous().flip(0)".parse()?;
/// let buffers: Vec<Buffer> = chain.steps()?.iter().map(|step| step.buffer()).collect();
/// let copy = Buffer::Copy { op: 1, elements: 6 };
/// assert_eq!(buffers, [Buffer::Base, Buffer::Base, copy, copy]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Buffer = BufferOf<i64>;

/// A buffer that addresses are addresses of, which has a number of elements of some kind: [`Buffer`] is that of whole numbers.
///
/// ```
/// use shapetracker::{Buffer, BufferOf};
/// assert_eq!(Buffer::Base, BufferOf::<i64>::Base);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum BufferOf<N> {
    /// The one that the tensor was started over.
    Base,
    /// The one that a copy made.
    Copy {
        /// Which operation copied, counted from 0.
        op: usize,
        /// How many elements it copied: all that the buffer has.
        elements: N,
    },
}

/// A tensor that is followed through operations, some of which copy: where its elements are in the base, and where in the
/// newest buffer.
///
/// A copy changes no element, so that a [`ShapeTracker`] leaves it out: its addresses are always those of the base, and
/// whatever moves data by them moves the right ones. What layouts cost is asked of the buffer that there is after a copy,
/// though, and a tracker over that has other addresses. Here nobody can mistake one for the other: either is asked for by
/// name. Until something is copied, they are the same tracker.
///
/// ```
/// use shapetracker::{Buffer, Chain};
///
/// let chain: Chain = "(3, 2).permute(1, 0).contiguous().reshape(6)".parse()?;
/// let last = chain.steps()?.pop().unwrap();
/// assert_eq!(last.buffer(), Buffer::Copy { op: 1, elements: 6 });
/// assert_eq!(last.over_newest().to_string(), "(6,):(1,)"); // one view of the copy
/// assert_eq!(last.over_base()?, chain.tracker()?);
/// assert!(last.over_base()?.addresses().eq([0, 2, 4, 1, 3, 5].map(Some)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub type Stored = StoredOf<ShapeTracker>;

/// What trackers over numbers of any kind can do: that of whole numbers here, and that of `shapetracker-symbolic`, whose sizes are
/// polynomials of names. Code that only moves axes is written once for both.
///
/// ```
/// use shapetracker::{Layout, MovementOf, ShapeTracker};
///
/// /// The last axis in front, and all in one.
/// fn turned<T: Layout>(tracker: &T) -> Result<T, T::Error> {
///     let last = tracker.shape().len() as i64 - 1;
///     let order = std::iter::once(last).chain(0..last).collect();
///     tracker.apply(&MovementOf::Permute(order))?.apply(&MovementOf::Reshape(vec![T::Number::from(-1)].into()))
/// }
///
/// let turned = turned(&ShapeTracker::contiguous([3, 2])?)?;
/// assert_eq!((turned.address(&[1]), turned.view_count()), (Some(2), 2));
/// # Ok::<(), shapetracker::Error>(())
/// ```
pub trait Layout: Clone + std::fmt::Debug {
    /// The kind of number.
    type Number: Number;
    /// What can be wrong.
    type Error: Clone + std::error::Error + 'static;

    /// The shape.
    ///
    /// ```
    /// use shapetracker::{Layout, ShapeTracker};
    /// assert_eq!(Layout::shape(&ShapeTracker::contiguous([3, 2])?), [3, 2]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    fn shape(&self) -> &[Self::Number];

    /// How many views it has; one where it is one strided view.
    ///
    /// ```
    /// use shapetracker::{Layout, ShapeTracker};
    /// assert_eq!(ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([6])?.view_count(), 2);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    fn view_count(&self) -> usize;

    /// The tracker after an operation.
    ///
    /// ```
    /// use shapetracker::{Layout, Movement, ShapeTracker};
    /// let tracker = ShapeTracker::contiguous([3, 2])?;
    /// assert_eq!(Layout::apply(&tracker, &Movement::Permute([1, 0].into()))?, tracker.permute([1, 0])?);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of the operation.
    fn apply(&self, op: &MovementOf<Self::Number>) -> Result<Self, Self::Error>;

    /// The row-major tracker of the same shape: over a buffer that the elements were copied into.
    ///
    /// ```
    /// use shapetracker::{Layout, ShapeTracker};
    /// assert_eq!(ShapeTracker::contiguous([3])?.flip([0])?.copied()?, ShapeTracker::contiguous([3])?);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number out of range.
    fn copied(&self) -> Result<Self, Self::Error>;

    /// The tracker that reads this one's elements in row-major order as another one says.
    ///
    /// ```
    /// use shapetracker::{Layout, ShapeTracker};
    /// let flipped = ShapeTracker::contiguous([3])?.flip([0])?;
    /// assert_eq!(Layout::read_through(&flipped, &flipped)?, ShapeTracker::contiguous([3])?);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// Too many views, a number out of range.
    fn read_through(&self, over: &Self) -> Result<Self, Self::Error>;
}

impl Layout for ShapeTracker {
    type Number = i64;
    type Error = Error;

    fn shape(&self) -> &[i64] {
        self.shape()
    }

    fn view_count(&self) -> usize {
        self.views().len()
    }

    fn apply(&self, op: &Movement) -> Result<Self, Error> {
        ShapeTracker::apply(self, op)
    }

    fn copied(&self) -> Result<Self, Error> {
        ShapeTracker::contiguous(self.shape())
    }

    fn read_through(&self, over: &Self) -> Result<Self, Error> {
        self.compose(over)
    }
}

/// A tensor that is followed through operations, some of which copy, over numbers of some kind: [`Stored`] is that of whole
/// numbers.
///
/// ```
/// use shapetracker::{ShapeTracker, StoredOf};
///
/// let start = StoredOf::from(ShapeTracker::contiguous([3, 2])?);
/// assert_eq!(start.over_base()?, *start.over_newest());
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct StoredOf<T: Layout> {
    /// Over the newest buffer.
    newest: T,
    /// How many operations were done.
    ops: usize,
    /// The last copy, where there was one.
    copied: Option<Copied<T>>,
}

/// A copy that was made.
#[derive(Clone, Debug)]
struct Copied<T: Layout> {
    op: usize,
    elements: T::Number,
    /// The elements that were copied, over the base: those of the new buffer in their order there. A base that cannot be read
    /// through so many views is of no consequence to what is asked of the copy.
    of: Arc<Result<T, T::Error>>,
}

impl<T: Layout> StoredOf<T> {
    /// The tracker over [`Stored::buffer`], the newest that there is.
    ///
    /// ```
    /// use shapetracker::{Movement, ShapeTracker, Stored};
    ///
    /// let transposed = Stored::from(ShapeTracker::contiguous([3, 2])?.permute([1, 0])?);
    /// let (copied, _) = transposed.perform(&Movement::Contiguous)?;
    /// assert_eq!(*copied.over_newest(), ShapeTracker::contiguous([2, 3])?);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn over_newest(&self) -> &T {
        &self.newest
    }

    /// The tracker over the base: what moves data from there asks this one.
    ///
    /// ```
    /// use shapetracker::{Movement, ShapeTracker, Stored};
    ///
    /// let transposed = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?;
    /// let (copied, _) = Stored::from(transposed.clone()).perform(&Movement::Contiguous)?;
    /// assert_eq!(copied.over_base()?, transposed);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// More views than [`MAX_VIEWS`](crate::MAX_VIEWS) down to the base, a number past `i64`. None where nothing was copied.
    ///
    /// # Cost
    /// After a copy that of [`ShapeTracker::compose`].
    pub fn over_base(&self) -> Result<T, T::Error> {
        match &self.copied {
            None => Ok(self.newest.clone()),
            Some(Copied { of, .. }) => Result::clone(of)?.read_through(&self.newest),
        }
    }

    /// Which buffer is the newest.
    ///
    /// ```
    /// use shapetracker::{Buffer, Movement, ShapeTracker, Stored};
    ///
    /// let start = Stored::from(ShapeTracker::contiguous([3, 2])?);
    /// assert_eq!(start.buffer(), Buffer::Base);
    /// // Its elements lie in order already, so that `contiguous` copies nothing, and `copy` does.
    /// assert_eq!(start.perform(&Movement::Contiguous)?.0.buffer(), Buffer::Base);
    /// assert_eq!(start.perform(&Movement::Copy)?.0.buffer(), Buffer::Copy { op: 0, elements: 6 });
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn buffer(&self) -> BufferOf<T::Number> {
        match &self.copied {
            None => BufferOf::Base,
            Some(Copied { op, elements, .. }) => BufferOf::Copy { op: *op, elements: elements.clone() },
        }
    }

    /// The shape.
    ///
    /// ```
    /// let start = shapetracker::Stored::from(shapetracker::ShapeTracker::contiguous([3, 2])?);
    /// assert_eq!(start.shape(), [3, 2]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn shape(&self) -> &[T::Number] {
        self.newest.shape()
    }

    /// What one operation makes of it that has been done in the newest buffer: the tracker there after it, and how many elements
    /// it copies into a new one, if it does.
    ///
    /// ```
    /// use shapetracker::{Buffer, ShapeTracker, Stored};
    ///
    /// let flipped = ShapeTracker::contiguous([3])?.flip([0])?;
    /// let copied = Stored::from(flipped.clone()).after(flipped, Some(3))?;
    /// assert_eq!(copied.buffer(), Buffer::Copy { op: 0, elements: 3 });
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number out of range.
    pub fn after(&self, newest: T, copies: Option<T::Number>) -> Result<Self, T::Error> {
        let (mut newest, mut copied) = (newest, self.copied.clone());
        if let Some(elements) = copies {
            newest = newest.copied()?;
            copied = Some(Copied { op: self.ops, elements, of: Arc::new(self.over_base()) });
        }
        Ok(StoredOf { newest, ops: self.ops + 1, copied })
    }
}

impl Stored {
    /// Performs one operation in the newest buffer, and says what it did there; where it copies, into a new one.
    ///
    /// ```
    /// use shapetracker::{Dims, Movement, ShapeTracker, Stored};
    ///
    /// let start = Stored::from(ShapeTracker::contiguous([3, 2])?);
    /// let (transposed, _) = start.perform(&Movement::Permute(Dims::from_slice(&[1, 0])))?;
    /// let (copied, verdict) = transposed.perform(&Movement::Contiguous)?;
    /// assert_eq!(verdict.copies(), Some(6));
    /// // The elements of the new buffer are in order: nothing is copied a second time.
    /// assert_eq!(copied.perform(&Movement::Contiguous)?.1.copies(), None);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::perform`].
    pub fn perform(&self, op: &Movement) -> Result<(Self, Verdict), Error> {
        let (newest, verdict) = self.newest.perform(op)?;
        let copies = verdict.copies();
        Ok((self.after(newest, copies)?, verdict))
    }
}

impl<T: Layout> From<T> for StoredOf<T> {
    fn from(tracker: T) -> Self {
        StoredOf { newest: tracker, ops: 0, copied: None }
    }
}
