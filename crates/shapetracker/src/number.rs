//! What sizes, strides, offsets and bounds may be: whole numbers here, polynomials of names elsewhere.

use std::fmt;
use std::hash::Hash;
use std::ops::{Deref, DerefMut};

use crate::{Dims, PerAxis, Ranges, View};

/// A kind of number that sizes, strides, offsets and bounds may be.
///
/// ```
/// use shapetracker::Number;
///
/// assert_eq!(i64::from(3).integer(), Some(3));
/// ```
pub trait Number: Clone + fmt::Debug + Eq + Hash + From<i64> {
    /// One number per axis.
    type Numbers: List<Self>;
    /// A pair of numbers per axis.
    type Pairs: List<(Self, Self)>;
    /// One strided view of such numbers.
    type View: Clone + fmt::Debug + Eq + Hash;

    /// Its value, where that is known whatever values names have, and fits.
    ///
    /// ```
    /// assert_eq!(shapetracker::Number::integer(&3_i64), Some(3));
    /// ```
    fn integer(&self) -> Option<i64>;
}

impl Number for i64 {
    type Numbers = Dims;
    type Pairs = Ranges;
    type View = View;

    #[inline]
    fn integer(&self) -> Option<i64> {
        Some(*self)
    }
}

/// One value per axis.
///
/// ```
/// use shapetracker::{Dims, List};
///
/// let mut sizes = Dims::default();
/// List::push(&mut sizes, 3);
/// assert_eq!(sizes[..], [3]);
/// ```
pub trait List<T>:
    Clone + fmt::Debug + Default + Eq + Hash + Deref<Target = [T]> + DerefMut + FromIterator<T> + From<Vec<T>>
{
    /// Adds a value at the end.
    ///
    /// ```
    /// let mut sizes = vec![2];
    /// shapetracker::List::push(&mut sizes, 3);
    /// assert_eq!(sizes, [2, 3]);
    /// ```
    fn push(&mut self, value: T);
}

impl<T: Copy + fmt::Debug + Eq + Hash> List<T> for PerAxis<T> {
    #[inline]
    fn push(&mut self, value: T) {
        PerAxis::push(self, value);
    }
}

impl<T: Clone + fmt::Debug + Eq + Hash> List<T> for Vec<T> {
    fn push(&mut self, value: T) {
        Vec::push(self, value);
    }
}
