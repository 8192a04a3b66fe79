//! One value per axis: short lists that allocate nothing up to eight axes.

use std::borrow::Borrow;
use std::ops::{Deref, DerefMut};
use std::{fmt, iter, slice};

use smallvec::SmallVec;

/// One number per axis: sizes, strides, an index, the numbers of axes.
///
/// ```
/// let sizes = shapetracker::Dims::from_slice(&[2, 3]);
/// assert_eq!(sizes, [2, 3]);
/// ```
pub type Dims = PerAxis<i64>;

/// One pair per axis: half-open ranges `(begin, end)`, or what a pad puts `(before, after)`.
///
/// ```
/// let pads = shapetracker::Ranges::from_slice(&[(1, 1), (0, 2)]);
/// assert_eq!(pads[1], (0, 2));
/// ```
pub type Ranges = PerAxis<(i64, i64)>;

/// A list with one value per axis, the outermost axis first; up to 8 values are held inline, without an allocation.
///
/// It is used like a vector, and everything that a slice can do it can do too. How it holds its values is private, so
/// that the number of values held inline may change.
///
/// ```
/// use shapetracker::{Dims, PerAxis, View};
///
/// let mut shape: Dims = [2, 3].into();
/// shape.push(4);
/// assert_eq!(shape.iter().product::<i64>(), 24);
/// assert_eq!(View::contiguous(&shape)?.shape(), [2, 3, 4]);
///
/// let reversed: PerAxis<bool> = shape.iter().map(|&size| size > 2).collect();
/// assert_eq!(reversed, [false, true, true]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
pub struct PerAxis<T>(SmallVec<[T; 8]>);

impl<T> PerAxis<T> {
    /// An empty list.
    ///
    /// ```
    /// assert!(shapetracker::Dims::new().is_empty());
    /// ```
    #[inline]
    pub fn new() -> Self {
        PerAxis(SmallVec::new())
    }

    /// An empty list that holds so many values without allocating again.
    ///
    /// ```
    /// assert!(shapetracker::Dims::with_capacity(64).is_empty());
    /// ```
    #[inline]
    pub fn with_capacity(capacity: usize) -> Self {
        PerAxis(SmallVec::with_capacity(capacity))
    }

    /// The values of a vector, which is taken over as it is: nothing is copied.
    ///
    /// ```
    /// assert_eq!(shapetracker::Dims::from_vec(vec![2, 3]), [2, 3]);
    /// ```
    #[inline]
    pub fn from_vec(values: Vec<T>) -> Self {
        PerAxis(SmallVec::from_vec(values))
    }

    /// The values as a vector.
    ///
    /// ```
    /// assert_eq!(shapetracker::Dims::from([2, 3]).into_vec(), vec![2, 3]);
    /// ```
    #[inline]
    pub fn into_vec(self) -> Vec<T> {
        self.0.into_vec()
    }

    /// The values as a slice.
    ///
    /// ```
    /// assert_eq!(shapetracker::Dims::from([2, 3]).as_slice(), &[2, 3]);
    /// ```
    #[inline]
    pub fn as_slice(&self) -> &[T] {
        &self.0
    }

    /// Appends a value.
    ///
    /// ```
    /// let mut shape = shapetracker::Dims::from([2]);
    /// shape.push(3);
    /// assert_eq!(shape, [2, 3]);
    /// ```
    #[inline]
    pub fn push(&mut self, value: T) {
        self.0.push(value);
    }

    /// Takes the last value away.
    ///
    /// ```
    /// let mut shape = shapetracker::Dims::from([2, 3]);
    /// assert_eq!((shape.pop(), shape.as_slice()), (Some(3), &[2][..]));
    /// ```
    #[inline]
    pub fn pop(&mut self) -> Option<T> {
        self.0.pop()
    }

    /// Puts a value before the one at a place.
    ///
    /// ```
    /// let mut shape = shapetracker::Dims::from([2, 3]);
    /// shape.insert(1, 1);
    /// assert_eq!(shape, [2, 1, 3]);
    /// ```
    ///
    /// # Panics
    /// When the place is past the end, as a vector does.
    #[inline]
    pub fn insert(&mut self, place: usize, value: T) {
        self.0.insert(place, value);
    }

    /// Takes the value at a place away.
    ///
    /// ```
    /// let mut shape = shapetracker::Dims::from([2, 1, 3]);
    /// assert_eq!((shape.remove(1), shape.as_slice()), (1, &[2, 3][..]));
    /// ```
    ///
    /// # Panics
    /// When there is no value at the place, as a vector does.
    #[inline]
    pub fn remove(&mut self, place: usize) -> T {
        self.0.remove(place)
    }

    /// Keeps the values of which this holds.
    ///
    /// ```
    /// let mut shape = shapetracker::Dims::from([2, 1, 3]);
    /// shape.retain(|&size| size != 1);
    /// assert_eq!(shape, [2, 3]);
    /// ```
    #[inline]
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        self.0.retain(|value| keep(value));
    }

    /// Keeps so many values from the front; all of them where there are no more.
    ///
    /// ```
    /// let mut shape = shapetracker::Dims::from([2, 3, 4]);
    /// shape.truncate(2);
    /// assert_eq!(shape, [2, 3]);
    /// ```
    #[inline]
    pub fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }
}

impl<T: Copy> PerAxis<T> {
    /// The values of a slice.
    ///
    /// ```
    /// assert_eq!(shapetracker::Dims::from_slice(&[2, 3]).len(), 2);
    /// ```
    #[inline]
    pub fn from_slice(values: &[T]) -> Self {
        PerAxis(SmallVec::from_slice(values))
    }

    /// One value so many times.
    ///
    /// ```
    /// assert_eq!(shapetracker::Dims::from_elem(0, 3), [0, 0, 0]);
    /// ```
    #[inline]
    pub fn from_elem(value: T, len: usize) -> Self {
        PerAxis(SmallVec::from_elem(value, len))
    }
}

// The values are copied as a whole: the clone of a `SmallVec` copies them one by one.
impl<T: Copy> Clone for PerAxis<T> {
    #[inline]
    fn clone(&self) -> Self {
        PerAxis::from_slice(self)
    }
}

impl<T> Default for PerAxis<T> {
    #[inline]
    fn default() -> Self {
        PerAxis::new()
    }
}

impl<T> Deref for PerAxis<T> {
    type Target = [T];

    #[inline]
    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for PerAxis<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T> AsRef<[T]> for PerAxis<T> {
    #[inline]
    fn as_ref(&self) -> &[T] {
        self
    }
}

impl<T> AsMut<[T]> for PerAxis<T> {
    #[inline]
    fn as_mut(&mut self) -> &mut [T] {
        self
    }
}

impl<T> Borrow<[T]> for PerAxis<T> {
    #[inline]
    fn borrow(&self) -> &[T] {
        self
    }
}

impl<T: Copy> From<&[T]> for PerAxis<T> {
    #[inline]
    fn from(values: &[T]) -> Self {
        PerAxis::from_slice(values)
    }
}

impl<T: Copy, const N: usize> From<[T; N]> for PerAxis<T> {
    #[inline]
    fn from(values: [T; N]) -> Self {
        PerAxis::from_slice(&values)
    }
}

impl<T> From<Vec<T>> for PerAxis<T> {
    #[inline]
    fn from(values: Vec<T>) -> Self {
        PerAxis::from_vec(values)
    }
}

impl<T> FromIterator<T> for PerAxis<T> {
    #[inline]
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        PerAxis(values.into_iter().collect())
    }
}

impl<T> Extend<T> for PerAxis<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        self.0.extend(values);
    }
}

impl<'a, T: Copy + 'a> Extend<&'a T> for PerAxis<T> {
    #[inline]
    fn extend<I: IntoIterator<Item = &'a T>>(&mut self, values: I) {
        self.0.extend(values.into_iter().copied());
    }
}

impl<T> IntoIterator for PerAxis<T> {
    type Item = T;
    type IntoIter = IntoIter<T>;

    #[inline]
    fn into_iter(self) -> IntoIter<T> {
        IntoIter(self.0.into_iter())
    }
}

impl<'a, T> IntoIterator for &'a PerAxis<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    #[inline]
    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut PerAxis<T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    #[inline]
    fn into_iter(self) -> slice::IterMut<'a, T> {
        self.iter_mut()
    }
}

/// The values of a [`PerAxis`], one after the other.
///
/// ```
/// let mut sizes = shapetracker::Dims::from([2, 3]).into_iter();
/// assert_eq!((sizes.next(), sizes.next_back(), sizes.next()), (Some(2), Some(3), None));
/// ```
pub struct IntoIter<T>(smallvec::IntoIter<[T; 8]>);

impl<T> Iterator for IntoIter<T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        self.0.next()
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<T> DoubleEndedIterator for IntoIter<T> {
    #[inline]
    fn next_back(&mut self) -> Option<T> {
        self.0.next_back()
    }
}

impl<T> ExactSizeIterator for IntoIter<T> {}

impl<T> iter::FusedIterator for IntoIter<T> {}

impl<T: fmt::Debug> fmt::Debug for IntoIter<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<T: fmt::Debug> fmt::Debug for PerAxis<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_slice().fmt(f)
    }
}

impl<T: PartialEq> PartialEq for PerAxis<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.as_slice() == other.as_slice()
    }
}

impl<T: Eq> Eq for PerAxis<T> {}

impl<T: PartialOrd> PartialOrd for PerAxis<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        self.as_slice().partial_cmp(other.as_slice())
    }
}

impl<T: Ord> Ord for PerAxis<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.as_slice().cmp(other.as_slice())
    }
}

// As the hash of the slice, which `Borrow` promises.
impl<T: std::hash::Hash> std::hash::Hash for PerAxis<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.as_slice().hash(state);
    }
}

impl<T: PartialEq> PartialEq<[T]> for PerAxis<T> {
    fn eq(&self, other: &[T]) -> bool {
        self.as_slice() == other
    }
}

impl<T: PartialEq> PartialEq<&[T]> for PerAxis<T> {
    fn eq(&self, other: &&[T]) -> bool {
        self.as_slice() == *other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<[T; N]> for PerAxis<T> {
    fn eq(&self, other: &[T; N]) -> bool {
        self.as_slice() == other
    }
}

impl<T: PartialEq, const N: usize> PartialEq<&[T; N]> for PerAxis<T> {
    fn eq(&self, other: &&[T; N]) -> bool {
        self.as_slice() == *other
    }
}

impl<T: PartialEq> PartialEq<Vec<T>> for PerAxis<T> {
    fn eq(&self, other: &Vec<T>) -> bool {
        self.as_slice() == other.as_slice()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_apart_from_a_slice_by_nothing() {
        let hash = |value: &dyn Fn(&mut std::hash::DefaultHasher)| {
            let mut hasher = std::hash::DefaultHasher::new();
            value(&mut hasher);
            std::hash::Hasher::finish(&hasher)
        };
        for values in [&[][..], &[3], &[3, 1, 2], &[9, 8, 7, 6, 5, 4, 3, 2, 1]] {
            let dims = Dims::from_slice(values);
            assert_eq!(dims, values);
            assert_eq!(format!("{dims:?}"), format!("{values:?}"));
            assert_eq!(dims.clone().into_iter().collect::<Vec<i64>>(), values);
            assert_eq!(dims.clone().into_vec(), values);
            use std::hash::Hash;
            assert_eq!(hash(&|hasher| dims.hash(hasher)), hash(&|hasher| values.hash(hasher)));
        }
        let mut sorted = [Dims::from([2]), Dims::from([1, 2, 0]), Dims::from([1, 2])];
        sorted.sort();
        assert_eq!(sorted, [&[1, 2][..], &[1, 2, 0], &[2]]);
    }

    #[test]
    fn eight_values_lie_inline() {
        assert!(!Dims::from_elem(0, 8).0.spilled() && !Ranges::from_elem((0, 0), 8).0.spilled());
    }
}
