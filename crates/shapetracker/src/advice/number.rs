//! What an array of a library is computed with: whole numbers, or sizes that have names.

use std::fmt;

use super::array::Array;
use crate::error::Error;
use crate::fit::{Misfit, fit};
use crate::notation::ArrayLibrary;
use crate::number::Number;
use crate::{Movement, MovementOf, ShapeTracker, View, merge};

/// A kind of number that the arrays of a library have for sizes and strides: what [`Number`] says, in an order, and what a
/// layout of such numbers becomes.
///
/// There are two: whole numbers, and sizes that have names. The crate for these computes them at one choice of values, and notes every
/// comparison, since what comes out holds wherever these come out alike.
///
/// ```
/// use shapetracker::advice::ArrayNumber;
///
/// assert!(ArrayNumber::is(&7_i64, 7));
/// assert_eq!((7_i64.over(&2), 7_i64.rest(&2)), (3, 1));
/// ```
pub trait ArrayNumber: Number + Ord + fmt::Display {
    /// A sum of numbers of elements, which may be larger than any of them.
    type Total: Clone + Ord + fmt::Display + From<Self>;

    /// Whether it is this number.
    ///
    /// ```
    /// assert!(!shapetracker::advice::ArrayNumber::is(&7_i64, 8));
    /// ```
    fn is(&self, number: i64) -> bool {
        *self == Self::from(number)
    }

    /// The sum, or the nearest number that there is.
    ///
    /// ```
    /// assert_eq!(shapetracker::advice::ArrayNumber::plus(&7_i64, &i64::MAX), i64::MAX);
    /// ```
    fn plus(&self, other: &Self) -> Self;

    /// The product, or the nearest number that there is.
    ///
    /// ```
    /// assert_eq!(shapetracker::advice::ArrayNumber::times(&7_i64, &6), 42);
    /// ```
    fn times(&self, other: &Self) -> Self;

    /// The quotient, rounded down, of a number that is not negative by a positive one.
    ///
    /// ```
    /// assert_eq!(shapetracker::advice::ArrayNumber::over(&7_i64, &2), 3);
    /// ```
    fn over(&self, other: &Self) -> Self;

    /// What is left of that.
    ///
    /// ```
    /// assert_eq!(shapetracker::advice::ArrayNumber::rest(&7_i64, &2), 1);
    /// ```
    fn rest(&self, other: &Self) -> Self {
        self.plus(&self.over(other).times(other).negative())
    }

    /// The number with the other sign.
    ///
    /// ```
    /// assert_eq!(shapetracker::advice::ArrayNumber::negative(&7_i64), -7);
    /// ```
    fn negative(&self) -> Self;

    /// The sum of several numbers.
    ///
    /// ```
    /// use shapetracker::advice::ArrayNumber;
    /// assert_eq!(i64::total([i64::MAX, i64::MAX].iter()), 2 * i128::from(i64::MAX));
    /// ```
    fn total<'a>(numbers: impl Iterator<Item = &'a Self>) -> Self::Total
    where
        Self: 'a;

    /// The shape after an operation.
    ///
    /// ```
    /// use shapetracker::{Movement, advice::ArrayNumber};
    /// assert_eq!(i64::shape_after(&[2, 3], &Movement::Permute([1, 0].into()))?[..], [3, 2]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// What the operation finds wrong.
    fn shape_after(shape: &[Self], op: &MovementOf<Self>) -> Result<Self::Numbers, Error>;

    /// The layout after an operation; `None` where it is more than a shape, strides and an offset.
    ///
    /// ```
    /// use shapetracker::{Movement, advice::{Array, ArrayNumber}};
    /// let array = Array::contiguous(&[2, 3]);
    /// let after = i64::moved(&array, &Movement::Permute([1, 0].into()))?.unwrap();
    /// assert_eq!(after.strides[..], [1, 3]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// What the operation finds wrong.
    fn moved(from: &Array<Self>, op: &MovementOf<Self>) -> Result<Option<Array<Self>>, Error>;

    /// The same elements in row-major order under another shape; `None` where no strides do that.
    ///
    /// ```
    /// use shapetracker::advice::{Array, ArrayNumber};
    /// let array = Array { shape: [3, 2].into(), strides: [1, 3].into(), offset: 0 };
    /// assert!(i64::reshaped(&array, &[6])?.is_none());
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number out of range.
    fn reshaped(from: &Array<Self>, to: &[Self]) -> Result<Option<Array<Self>>, Error>;

    /// The smallest copy after which an array has a shape: its layout, the code, and how many elements that writes; `None`
    /// where none is known that is smaller than all of the array.
    ///
    /// ```
    /// use shapetracker::{ArrayLibrary, advice::{Array, ArrayNumber}};
    /// let array = Array { shape: [8, 3, 5].into(), strides: [0, 1, 3].into(), offset: 0 };
    /// let (_, code, written) = i64::least(ArrayLibrary::PyTorch, &array, &[8, 15])?.unwrap();
    /// assert_eq!((&code[..], written), ("x[:1].contiguous().view(1, 15).expand(8, 15)", 15));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number out of range.
    fn least(
        library: ArrayLibrary,
        from: &Array<Self>,
        to: &[Self],
    ) -> Result<Option<(Array<Self>, String, Self)>, Error>;
}

impl ArrayNumber for i64 {
    type Total = i128;

    fn plus(&self, other: &i64) -> i64 {
        self.saturating_add(*other)
    }

    fn times(&self, other: &i64) -> i64 {
        self.saturating_mul(*other)
    }

    fn over(&self, other: &i64) -> i64 {
        self / other
    }

    fn rest(&self, other: &i64) -> i64 {
        self % other
    }

    fn negative(&self) -> i64 {
        self.saturating_neg()
    }

    fn total<'a>(numbers: impl Iterator<Item = &'a i64>) -> i128 {
        numbers.map(|&number| i128::from(number)).sum()
    }

    fn shape_after(shape: &[i64], op: &Movement) -> Result<crate::Dims, Error> {
        Ok(ShapeTracker::contiguous(shape)?.apply(op)?.shape().into())
    }

    fn moved(from: &Array<i64>, op: &Movement) -> Result<Option<Array<i64>>, Error> {
        Ok(ShapeTracker::from(from.view()?).apply(op)?.as_view().map(Array::from))
    }

    fn reshaped(from: &Array<i64>, to: &[i64]) -> Result<Option<Array<i64>>, Error> {
        // For an array without a mask this is the libraries' own rule.
        Ok(merge::reshape(&from.view()?, to).ok().as_ref().map(Array::from))
    }

    fn least(library: ArrayLibrary, from: &Array<i64>, to: &[i64]) -> Result<Option<(Array<i64>, String, i64)>, Error> {
        let blocked = match fit(&from.view()?, to) {
            Err(Misfit::Blocked(blocked)) => blocked,
            Err(Misfit::Error(err)) => return Err(err),
            _ => return Ok(None),
        };
        let blocked = match library {
            ArrayLibrary::NumPy => Some(&*blocked),
            ArrayLibrary::PyTorch => blocked.without_negative_strides(),
        };
        let found = blocked.and_then(|blocked| Some((blocked, blocked.least(library)?)));
        Ok(found.map(|(blocked, (recipe, written))| (Array::from(blocked.view()), recipe, written)))
    }
}

impl Array<i64> {
    fn view(&self) -> Result<View, Error> {
        View::new(&self.shape, &self.strides, self.offset, None)
    }
}

/// The layout of a view, without its mask.
///
/// ```
/// use shapetracker::{View, advice::Array};
/// assert_eq!(Array::from(&View::contiguous([2, 3])?), Array::contiguous(&[2, 3]));
/// # Ok::<(), shapetracker::Error>(())
/// ```
impl From<&View> for Array {
    fn from(view: &View) -> Array {
        Array { shape: view.shape().into(), strides: view.strides().into(), offset: view.offset() }
    }
}
