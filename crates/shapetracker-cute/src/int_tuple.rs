//! Integers in nested tuples.

use std::fmt;

use shapetracker::Dims;

use crate::profile::Profile;

/// Integers in nested tuples, such as `((2,2),4)`: a shape, strides, or a coordinate.
///
/// Integers and Rust's tuples become one by `into`, a text by `parse`. The integers at the leaves are listed from left
/// to right.
///
/// ```
/// use shapetracker_cute::IntTuple;
///
/// let shape: IntTuple = ((2, 2), 4).into();
/// assert_eq!(shape.to_string(), "((2,2),4)");
/// assert_eq!(shape, "((2, 2), 4)".parse()?);
/// assert_eq!(shape.leaves(), [2, 2, 4]);
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct IntTuple {
    pub(crate) leaves: Dims,
    pub(crate) profile: Profile,
}

impl IntTuple {
    /// A tuple of items.
    ///
    /// ```
    /// use shapetracker_cute::IntTuple;
    ///
    /// let shape = IntTuple::tuple([IntTuple::from(3), IntTuple::tuple([2, 2])]);
    /// assert_eq!(shape, (3, (2, 2)).into());
    /// ```
    pub fn tuple<T: Into<IntTuple>>(items: impl IntoIterator<Item = T>) -> IntTuple {
        let items: Vec<IntTuple> = items.into_iter().map(Into::into).collect();
        IntTuple {
            leaves: items.iter().flat_map(|item| item.leaves.iter().copied()).collect(),
            profile: Profile::tuple(items.iter().map(|item| &item.profile)),
        }
    }

    /// The integers at the leaves, from left to right.
    ///
    /// ```
    /// let shape: shapetracker_cute::IntTuple = (3, (2, 4)).into();
    /// assert_eq!(shape.leaves(), [3, 2, 4]);
    /// ```
    pub fn leaves(&self) -> &[i64] {
        &self.leaves
    }

    /// The number of items of the outermost tuple; 1 for an integer by itself.
    ///
    /// ```
    /// let shape: shapetracker_cute::IntTuple = (3, (2, 4)).into();
    /// assert_eq!(shape.rank(), 2);
    /// ```
    pub fn rank(&self) -> usize {
        self.profile.rank()
    }

    /// How many tuples are inside each other; 0 for an integer by itself.
    ///
    /// ```
    /// let shape: shapetracker_cute::IntTuple = (3, (2, 4)).into();
    /// assert_eq!(shape.depth(), 2);
    /// ```
    pub fn depth(&self) -> usize {
        self.profile.depth()
    }

    /// Whether it is an integer by itself, and no tuple.
    ///
    /// ```
    /// use shapetracker_cute::IntTuple;
    ///
    /// assert!(IntTuple::from(3).is_integer() && !IntTuple::tuple([3]).is_integer());
    /// ```
    pub fn is_integer(&self) -> bool {
        self.profile.is_leaf()
    }

    /// The items of the outermost tuple; an integer is its own only item.
    ///
    /// ```
    /// use shapetracker_cute::IntTuple;
    ///
    /// let shape: IntTuple = (3, (2, 4)).into();
    /// assert_eq!(shape.items(), [3.into(), (2, 4).into()]);
    /// ```
    pub fn items(&self) -> Vec<IntTuple> {
        let item = |(profile, leaves): (Profile, std::ops::Range<usize>)| IntTuple {
            leaves: Dims::from_slice(&self.leaves[leaves]),
            profile,
        };
        self.profile.items().into_iter().map(item).collect()
    }

    /// Whether the two have the same parentheses.
    ///
    /// ```
    /// use shapetracker_cute::IntTuple;
    ///
    /// let shape: IntTuple = (3, (2, 4)).into();
    /// assert!(shape.is_congruent(&(1, (3, 6)).into()));
    /// assert!(!shape.is_congruent(&(1, 3, 6).into()));
    /// ```
    pub fn is_congruent(&self, other: &IntTuple) -> bool {
        self.profile == other.profile
    }
}

/// `((2,2),4)`, as CuTe prints tuples of integers that are not part of a type.
impl fmt::Display for IntTuple {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.profile.write(f, |f, leaf| write!(f, "{}", self.leaves[leaf]))
    }
}

impl From<i64> for IntTuple {
    fn from(value: i64) -> IntTuple {
        IntTuple { leaves: Dims::from_slice(&[value]), profile: Profile::leaf() }
    }
}

impl<T: Into<IntTuple>> From<Vec<T>> for IntTuple {
    fn from(items: Vec<T>) -> IntTuple {
        IntTuple::tuple(items)
    }
}

impl<T: Into<IntTuple>, const N: usize> From<[T; N]> for IntTuple {
    fn from(items: [T; N]) -> IntTuple {
        IntTuple::tuple(items)
    }
}

macro_rules! from_tuples {
    ($(($($name:ident)*))*) => {$(
        #[allow(non_snake_case, reason = "the items of a tuple are named like their types")]
        impl<$($name: Into<IntTuple>),*> From<($($name,)*)> for IntTuple {
            fn from(($($name,)*): ($($name,)*)) -> IntTuple {
                IntTuple::tuple::<IntTuple>([$($name.into()),*])
            }
        }
    )*};
}

from_tuples! { () (A) (A B) (A B C) (A B C D) (A B C D E) (A B C D E F) (A B C D E F G) (A B C D E F G H) }
