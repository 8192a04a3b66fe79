//! What texts of layouts are read with: whole numbers here, polynomials of names elsewhere.

use std::ops::Range;

use crate::number::Number;
use crate::shape::{checked_numel, row_major};
use crate::{Dims, Movement, MovementOf, ShapeTracker, View};

/// What a number in a text stands for, which decides what a name in it may be where nobody says so.
///
/// ```
/// // A name that occurs in strides alone may be any integer, and every other one is a size.
/// assert_ne!(shapetracker::Role::Stride, shapetracker::Role::Other);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A stride.
    Stride,
    /// Anything else.
    Other,
}

/// An operation on two numbers in a text.
///
/// ```
/// use shapetracker::{Arithmetic, Integers, Operator};
///
/// assert_eq!(Integers.operate(Operator::Modulo, &-7, &4), Ok(Some(1)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    /// `+`
    Add,
    /// `-`
    Sub,
    /// `*`
    Mul,
    /// `//`, rounded down.
    Div,
    /// `%`, with the sign of the divisor.
    Modulo,
}

/// The numbers that a text is read with: how they are made and computed.
///
/// ```
/// use shapetracker::{Arithmetic, Integers, Operator, Role};
///
/// assert_eq!(Integers.operate(Operator::Mul, &6, &7), Ok(Some(42)));
/// assert_eq!(Integers.name("T", 0..1, Role::Other), Ok(None)); // no name is a number by itself
/// ```
pub trait Arithmetic {
    /// The kind of number.
    type Number: Number;

    /// The range of numbers that are written, in words.
    ///
    /// ```
    /// use shapetracker::{Arithmetic, Integers};
    /// assert_eq!(Integers::RANGE, "64-bit integers");
    /// ```
    const RANGE: &'static str;

    /// The number that a name at these bytes of the text is; `None` where no name is one by itself.
    ///
    /// ```
    /// use shapetracker::{Arithmetic, Integers, Role};
    /// assert_eq!(Integers.name("T", 0..1, Role::Other), Ok(None));
    /// ```
    ///
    /// # Errors
    /// Why this name cannot be a number, as a sentence.
    fn name(&mut self, name: &str, span: Range<usize>, role: Role) -> Result<Option<Self::Number>, String>;

    /// Whether a name was a number before, or is known to be one.
    ///
    /// ```
    /// use shapetracker::{Arithmetic, Integers};
    /// assert!(!Integers.knows("T"));
    /// ```
    fn knows(&self, name: &str) -> bool;

    /// Whether a name that is not known may be a number.
    ///
    /// ```
    /// use shapetracker::{Arithmetic, Integers};
    /// assert!(!Integers.has_names());
    /// ```
    fn has_names(&self) -> bool;

    /// A whole number; `None` where it is out of range.
    ///
    /// ```
    /// use shapetracker::{Arithmetic, Integers};
    /// assert_eq!((Integers.literal(3), Integers.literal(1 << 64)), (Some(3), None));
    /// ```
    fn literal(&mut self, value: i128) -> Option<Self::Number>;

    /// An operation on two numbers; `None` where the quotient or the remainder is not known. Nothing is divided by 0.
    ///
    /// ```
    /// use shapetracker::{Arithmetic, Integers, Operator};
    /// assert_eq!(Integers.operate(Operator::Div, &-7, &2), Ok(Some(-4)));
    /// ```
    ///
    /// # Errors
    /// That the result is out of range, as a sentence.
    fn operate(
        &mut self,
        operator: Operator,
        a: &Self::Number,
        b: &Self::Number,
    ) -> Result<Option<Self::Number>, String>;

    /// Notes that a number was read from these bytes of the text.
    ///
    /// ```
    /// use shapetracker::{Arithmetic, Integers};
    /// Integers.note(&3, 0..1);
    /// ```
    fn note(&mut self, _number: &Self::Number, _span: Range<usize>) {}
}

/// The numbers that chains are read with: what is known of them, and what tensors of such sizes do.
///
/// ```
/// use shapetracker::{Integers, Known as _, Movement};
///
/// assert_eq!(Integers.at_least(&3, &4), Some(false));
/// assert_eq!(Integers.moved(&[2, 3], &Movement::Transpose(0, 1)).unwrap()[..], [3, 2]);
/// ```
pub trait Known: Arithmetic {
    /// Whether one number is at least another one; `None` where that depends on names, or is not known.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// assert_eq!(Integers.at_least(&4, &4), Some(true));
    /// ```
    fn at_least(&mut self, a: &Self::Number, b: &Self::Number) -> Option<bool>;

    /// Whether two numbers are equal; `None` where that depends on names, or is not known.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// assert_eq!(Integers.equal(&4, &3), Some(false));
    /// ```
    fn equal(&mut self, a: &Self::Number, b: &Self::Number) -> Option<bool>;

    /// The number as it is written.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// assert_eq!(Integers.text(&4), "4");
    /// ```
    fn text(&self, number: &Self::Number) -> String;

    /// The number of elements of a shape.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// assert_eq!(Integers.numel("flatten", &[2, 3]), Ok(6));
    /// ```
    ///
    /// # Errors
    /// That it is out of range, as a sentence about the operation.
    fn numel(&mut self, op: &'static str, shape: &[Self::Number]) -> Result<Self::Number, String>;

    /// The row-major strides of a shape.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// assert_eq!(Integers.row_major(&[2, 3]).unwrap()[..], [3, 1]);
    /// ```
    ///
    /// # Errors
    /// That one is out of range, as a sentence.
    fn row_major(&mut self, shape: &[Self::Number]) -> Result<<Self::Number as Number>::Numbers, String>;

    /// One view, made of what a text says.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// assert_eq!(Integers.view(&[2, 3], &[1, 2], 0, None).unwrap().to_string(), "(2, 3):(1, 2)");
    /// ```
    ///
    /// # Errors
    /// What does not fit, as a sentence.
    fn view(
        &mut self,
        shape: &[Self::Number],
        strides: &[Self::Number],
        offset: Self::Number,
        mask: Option<&[(Self::Number, Self::Number)]>,
    ) -> Result<<Self::Number as Number>::View, String>;

    /// The shape of a view.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// assert_eq!(Integers.shape(&"(2, 3):(1, 2)".parse()?)[..], [2, 3]);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    fn shape(&self, view: &<Self::Number as Number>::View) -> <Self::Number as Number>::Numbers;

    /// The shape of a tensor of a shape after an operation, whatever its elements are.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _, Movement};
    /// assert_eq!(Integers.moved(&[2, 3], &Movement::Unsqueeze(0)).unwrap()[..], [1, 2, 3]);
    /// ```
    ///
    /// # Errors
    /// Why the operation cannot be done, as a sentence.
    fn moved(
        &mut self,
        shape: &[Self::Number],
        op: &MovementOf<Self::Number>,
    ) -> Result<<Self::Number as Number>::Numbers, String>;

    /// The views of a view under another shape, next to memory first.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// let views = Integers.reshaped("(2, 3):(1, 2)".parse()?, &[6]).unwrap();
    /// assert_eq!(views.len(), 2);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// That the shape has another number of elements, as a sentence.
    fn reshaped(
        &mut self,
        view: <Self::Number as Number>::View,
        shape: &[Self::Number],
    ) -> Result<Vec<<Self::Number as Number>::View>, String>;

    /// The operations as those of whole numbers, where they are: a library at work is simulated on those alone.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _, Movement};
    /// assert!(Integers.integers(&[Movement::Copy]).is_some());
    /// ```
    #[inline(always)]
    fn integers<'o>(&self, _ops: &'o [MovementOf<Self::Number>]) -> Option<&'o [Movement]> {
        None
    }

    /// A view as one of whole numbers, where it is.
    ///
    /// ```
    /// use shapetracker::{Integers, Known as _};
    /// assert!(Integers.integer_view(&"(2, 3):(1, 2)".parse()?).is_some());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    #[inline(always)]
    fn integer_view<'v>(&self, _view: &'v <Self::Number as Number>::View) -> Option<&'v View> {
        None
    }
}

/// Whole numbers of 64 bits, which are known.
///
/// ```
/// use shapetracker::{Arithmetic, Integers, Operator};
/// assert!(Integers.operate(Operator::Add, &i64::MAX, &1).is_err());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Integers;

impl Arithmetic for Integers {
    type Number = i64;

    const RANGE: &'static str = "64-bit integers";

    #[inline(always)]
    fn name(&mut self, _: &str, _: Range<usize>, _: Role) -> Result<Option<i64>, String> {
        Ok(None)
    }

    #[inline(always)]
    fn knows(&self, _: &str) -> bool {
        false
    }

    #[inline(always)]
    fn has_names(&self) -> bool {
        false
    }

    #[inline]
    fn literal(&mut self, value: i128) -> Option<i64> {
        i64::try_from(value).ok()
    }

    fn operate(&mut self, operator: Operator, a: &i64, b: &i64) -> Result<Option<i64>, String> {
        // Both round as in Python: downwards.
        let floor = || a.checked_div_euclid(*b).map(|quotient| quotient - i64::from(*b < 0 && quotient * b != *a));
        let value = match operator {
            Operator::Add => a.checked_add(*b),
            Operator::Sub => a.checked_sub(*b),
            Operator::Mul => a.checked_mul(*b),
            Operator::Div => floor(),
            Operator::Modulo => floor().map(|quotient| a - quotient * b),
        };
        match value {
            Some(value) => Ok(Some(value)),
            None => Err("the number is past the range of 64-bit integers".to_owned()),
        }
    }
}

impl Known for Integers {
    #[inline(always)]
    fn at_least(&mut self, a: &i64, b: &i64) -> Option<bool> {
        Some(a >= b)
    }

    #[inline(always)]
    fn equal(&mut self, a: &i64, b: &i64) -> Option<bool> {
        Some(a == b)
    }

    fn text(&self, number: &i64) -> String {
        number.to_string()
    }

    fn numel(&mut self, op: &'static str, shape: &[i64]) -> Result<i64, String> {
        checked_numel(op, shape).map_err(|err| err.to_string())
    }

    fn row_major(&mut self, shape: &[i64]) -> Result<Dims, String> {
        Ok(row_major(shape))
    }

    fn view(
        &mut self,
        shape: &[i64],
        strides: &[i64],
        offset: i64,
        mask: Option<&[(i64, i64)]>,
    ) -> Result<View, String> {
        View::new(shape, strides, offset, mask).map_err(|err| err.to_string())
    }

    fn shape(&self, view: &View) -> Dims {
        view.shape().into()
    }

    fn moved(&mut self, shape: &[i64], op: &Movement) -> Result<Dims, String> {
        let after = ShapeTracker::contiguous(shape).and_then(|array| array.apply(op));
        after.map(|after| after.shape().into()).map_err(|err| err.to_string())
    }

    fn reshaped(&mut self, view: View, shape: &[i64]) -> Result<Vec<View>, String> {
        let reshaped = ShapeTracker::from_views([view]).and_then(|tracker| tracker.reshape(shape));
        reshaped.map(|tracker| tracker.views().to_vec()).map_err(|err| err.to_string())
    }

    #[inline(always)]
    fn integers<'o>(&self, ops: &'o [Movement]) -> Option<&'o [Movement]> {
        Some(ops)
    }

    #[inline(always)]
    fn integer_view<'v>(&self, view: &'v View) -> Option<&'v View> {
        Some(view)
    }
}
