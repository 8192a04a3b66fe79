//! The questions that compilers ask of a tracker, each answered exactly.

use shapetracker_base::list::sort_short_by_key;

use crate::coverage::has_nested_strides;
use crate::error::{Error, Fault};
use crate::merge::stack::Stacked;
use crate::merge::{Unanswered, Undecided, Unmerged, work::Work};
use crate::shape::{ravel_index, resolve_axis, unravel};
use crate::view::check_buffer;
use crate::{Dims, ShapeTracker, View, fewest, questions};

/// # Queries
///
/// For a tracker of one view the answers are read off the view. For more views they are questions about bounded linear equations;
/// those that can be hard return [`Undecided`] at the work limit.
impl ShapeTracker {
    /// Whether the address of each element is its position in row-major order: one view that is contiguous from address 0.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// let st = ShapeTracker::contiguous([2, 3])?;
    /// assert!(st.is_identity());
    /// assert!(!st.permute([1, 0])?.is_identity());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_identity(&self) -> bool {
        self.as_view().is_some_and(View::is_identity)
    }

    /// Whether the elements lie one after the other in row-major order, from whatever address on, nothing masked: what
    /// PyTorch, NumPy and candle call contiguous.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([4, 3])?.shrink([(1, 3), (0, 3)])?;
    /// assert!(st.is_contiguous() && !st.is_identity());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn is_contiguous(&self) -> bool {
        self.as_view().is_some_and(View::is_contiguous)
    }

    /// The single view that does what this tracker does, or the reason why there is none.
    ///
    /// Every tracker was reduced when it was made, so that the answer for more than one view is nearly always no: ask
    /// for the witness.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, Unmerged};
    ///
    /// let st = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([3, 2])?;
    /// let Err(Unmerged::Witness(why)) = st.single_view() else { panic!() };
    /// assert!(why.to_string().contains("one stride cannot do both"));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Unmerged::Witness`] with the reason; [`Unmerged::Undecided`] at the work limit; [`Unmerged::Error`] when the
    /// view would have a number past `i64`.
    pub fn single_view(&self) -> Result<View, Unmerged> {
        match self.as_view() {
            Some(view) => Ok(view.clone()),
            None => crate::merge::single_view(self.views()),
        }
    }

    /// The lowest and the highest address that a valid index reads, or `None` when nothing is valid.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([10])?.shrink([(2, 7)])?;
    /// assert_eq!(st.address_range(), Ok(Some((2, 6))));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecided`] at the work limit, for trackers of several views.
    pub fn address_range(&self) -> Result<Option<(i64, i64)>, Undecided> {
        match self.as_view() {
            Some(view) => Ok(view.address_range()),
            None => self.asked(questions::address_range),
        }
    }

    /// How many elements the buffer must have: one more than the highest address that a valid index reads.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([10])?.shrink([(2, 7)])?;
    /// assert_eq!(st.buffer_len().unwrap(), 7);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Unanswered::Error`] when a valid index reads a negative address, or the length is past `i64`;
    /// [`Unanswered::Undecided`] at the work limit.
    pub fn buffer_len(&self) -> Result<i64, Unanswered> {
        const OP: &str = "buffer_len";
        match self.address_range()? {
            None => Ok(0),
            Some((low, _)) if low < 0 => Err(Error::new(OP, Fault::NegativeAddress { low }).into()),
            Some((_, high)) => {
                let past = || Error::new(OP, Fault::Overflow { what: "the length" }).into();
                high.checked_add(1).ok_or_else(past)
            }
        }
    }

    /// Refuses the tracker where it reads outside of an array: below address 0, or past the end where that is known. What
    /// [`View::fits_buffer`] says of one view holds here, too: code is written only of what this lets through.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, View};
    ///
    /// let st = ShapeTracker::from(View::new([3, 4], [-5, 1], 0, None)?);
    /// assert_eq!(
    ///     st.fits_buffer(None).unwrap_err().to_string(),
    ///     "tracker: the view reads from address -10 on, 10 before the beginning of the array",
    /// );
    /// assert!(st.flip([0])?.shrink([(2, 3), (0, 4)])?.fits_buffer(Some(4)).is_ok());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Unanswered::Error`] where some valid index reads such an address; [`Unanswered::Undecided`] at the work limit, which
    /// only trackers of several views reach whose first view reads there.
    pub fn fits_buffer(&self, len: Option<i64>) -> Result<(), Unanswered> {
        const OP: &str = "tracker";
        // What the view next to memory reads contains what all of them read.
        match check_buffer(OP, self.views()[0].address_range(), len) {
            Err(_) if self.views().len() > 1 => Ok(check_buffer(OP, self.address_range()?, len)?),
            checked => Ok(checked?),
        }
    }

    /// For each axis its stride, where the address is affine along it on the valid indices; `None` where it is not.
    ///
    /// An axis along which no two indices are valid has stride 0.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// // Heads of a transposed tensor: only the axis that the last reshape joined has no stride.
    /// let st = ShapeTracker::contiguous([2, 3, 4])?.permute([0, 2, 1])?.reshape([2, 12])?;
    /// assert_eq!(st.real_strides()?[..], [Some(12), None]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecided`] at the work limit, for trackers of several views.
    pub fn real_strides(&self) -> Result<Vec<Option<i64>>, Undecided> {
        match self.as_view() {
            Some(view) => Ok(view.strides().iter().map(|&stride| Some(stride)).collect()),
            None => self.asked(questions::real_strides),
        }
    }

    /// The axes along which neighbours lie next to each other in memory: those with stride 1.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 4])?.permute([1, 0])?;
    /// assert_eq!(st.unit_stride_axes()?, [0]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecided`] at the work limit, for trackers of several views.
    pub fn unit_stride_axes(&self) -> Result<Vec<usize>, Undecided> {
        let strides = self.real_strides()?;
        Ok((0..self.rank()).filter(|&axis| strides[axis] == Some(1)).collect())
    }

    /// Whether validity depends on an axis: some valid index turns invalid when its entry there changes.
    ///
    /// A negative number counts from the last axis.
    ///
    /// ```
    /// let st = shapetracker::ShapeTracker::contiguous([3, 4])?.pad([(0, 0), (1, 0)])?;
    /// assert!(!st.axis_is_masked(0).unwrap());
    /// assert!(st.axis_is_masked(1).unwrap());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Unanswered::Error`] for an axis that does not exist; [`Unanswered::Undecided`] at the work limit.
    pub fn axis_is_masked(&self, axis: i64) -> Result<bool, Unanswered> {
        let axis = resolve_axis("axis_is_masked", axis, self.rank())?;
        match self.as_view() {
            Some(view) => Ok(!view.is_empty() && view.range(axis) != (0, view.shape()[axis])),
            None => Ok(self.asked(|st| questions::axis_is_masked(st, axis))?),
        }
    }

    /// Two valid indices that read the same address, or `None` when no two do (the tracker is injective).
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    ///
    /// let windows = ShapeTracker::contiguous([4])?.as_strided([3, 2], [1, 1], 0)?;
    /// let [a, b] = windows.collision()?.unwrap();
    /// assert_eq!(windows.address(&a), windows.address(&b));
    ///
    /// // Strides 3 and 2 interleave without ever meeting.
    /// let interleaved = ShapeTracker::contiguous([8])?.as_strided([2, 3], [3, 2], 0)?;
    /// assert_eq!(interleaved.collision()?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Undecided`] at the work limit.
    pub fn collision(&self) -> Result<Option<[Dims; 2]>, Undecided> {
        // Nested strides never meet: no equation has to be solved.
        if self.views().iter().all(has_nested_strides) {
            return Ok(None);
        }
        // A stack of injective views is injective, which is easier to see than that no two of its addresses are equal.
        let is_injective = |view: &View| ShapeTracker::from(view.clone()).collision() == Ok(None);
        if self.views().len() > 1 && self.views().iter().all(is_injective) {
            return Ok(None);
        }
        if self.views().len() > 1 {
            return self
                .asked(questions::collision)
                .or_else(|undecided| self.collision_of_joined_axes().ok_or(undecided)?);
        }
        let Some(stack) = Stacked::of(self.views()) else { return Ok(None) };
        Ok(stack.collision(&mut Work::new())?)
    }

    /// [`ShapeTracker::collision`] of the elements in another order and shape, in which the last view has fewer axes; `None` where
    /// there is none.
    fn collision_of_joined_axes(&self) -> Option<Result<Option<[Dims; 2]>, Undecided>> {
        let last = self.last();
        let mut axes: Vec<usize> = (0..self.rank()).collect();
        sort_short_by_key(&mut axes, |&axis| std::cmp::Reverse(last.strides()[axis].unsigned_abs()));
        let order: Dims = axes.iter().map(|&axis| axis as i64).collect();
        let turned = self.permute(&order).ok()?;
        let joined = turned.reshape(fewest::joined(turned.last()).shape()).ok()?;
        let index_of = |place: &Dims| {
            let turned = unravel(ravel_index(place, joined.shape())?, turned.shape());
            let mut index = Dims::from_elem(0, self.rank());
            axes.iter().zip(&turned).for_each(|(&axis, &entry)| index[axis] = entry);
            Some(index)
        };
        let pair = |found: Option<[Dims; 2]>| match found {
            Some([a, b]) => Some(Some([index_of(&a)?, index_of(&b)?])),
            None => Some(None),
        };
        (joined.rank() < self.rank()).then(|| joined.asked(questions::collision).map(pair).transpose()).flatten()
    }

    /// An index at which two trackers of one shape differ: only one is valid there, or they read different addresses.
    /// `None` when they are the same map.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, View};
    ///
    /// let st = ShapeTracker::contiguous([4, 4])?;
    /// assert_eq!(st.flip([0])?.flip([1])?.difference(&st.flip([0, 1])?).unwrap(), None);
    /// let index = st.difference(&st.permute([1, 0])?).unwrap().unwrap();
    /// assert_ne!(index[0], index[1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Unanswered::Error`] when the shapes are not the same; [`Unanswered::Undecided`] at the work limit.
    pub fn difference(&self, other: &ShapeTracker) -> Result<Option<Dims>, Unanswered> {
        if self.shape() != other.shape() {
            let fault = Fault::ShapesDiffer { from: self.shape().into(), to: other.shape().into() };
            return Err(Error::new("difference", fault).into());
        }
        if self == other {
            return Ok(None);
        }
        Ok(self.asked(|st| other.asked(|other| questions::difference(st, other)))?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn found_by_the_oracle_views_that_differ_at_one_of_two_hundred_elements_are_told_apart() {
        let a: ShapeTracker = View::new([200], [1], 0, Some(&[(3, 5)])).unwrap().into();
        let b: ShapeTracker = View::new([200], [2], -3, Some(&[(3, 5)])).unwrap().into();
        assert_eq!(a.difference(&b).unwrap().as_deref(), Some(&[4][..]));
    }

    #[test]
    fn trackers_are_shared_between_threads() {
        fn shared<T: Send + Sync>() {}
        shared::<ShapeTracker>();
        shared::<View>();
        shared::<Unmerged>();
        shared::<Error>();
    }
}
