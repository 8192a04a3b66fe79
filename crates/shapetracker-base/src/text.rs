//! Texts: their tokens, mistakes in them, and tuples as Python writes them.

use std::fmt;

pub use crate::mistake::{LONGEST_TEXT, ParseError, Place, check_length, nearest, quoted};
pub use crate::tokens::{Token, Tokens, closing};

/// Writes items the way Python writes a tuple: `()`, `(3,)`, `(2, 3)`.
///
/// ```
/// use shapetracker_base::text::tuple;
///
/// assert_eq!(tuple(&[2, 3]).to_string(), "(2, 3)");
/// assert_eq!(format!("shape {}", tuple(&[3])), "shape (3,)");
/// assert_eq!(tuple(&["0..2", "1..3"]).to_string(), "(0..2, 1..3)");
/// ```
pub fn tuple<T: fmt::Display>(items: &[T]) -> Tuple<'_, T> {
    Tuple { items, write: |item, f| write!(f, "{item}") }
}

/// Writes ranges the way Python writes a tuple of pairs: `((0, 2), (1, 3))`.
///
/// ```
/// assert_eq!(shapetracker_base::text::tuple_of_pairs(&[(0, 2), (1, 3)]).to_string(), "((0, 2), (1, 3))");
/// ```
pub fn tuple_of_pairs(pairs: &[(i64, i64)]) -> Tuple<'_, (i64, i64)> {
    Tuple { items: pairs, write: |(first, second), f| write!(f, "({first}, {second})") }
}

/// Items that `Display` writes as a tuple; made by [`tuple()`] and [`tuple_of_pairs`].
///
/// ```
/// use shapetracker_base::text::{Tuple, tuple};
///
/// let shape: Tuple<'_, i64> = tuple(&[2, 3]);
/// assert_eq!(shape.to_string(), "(2, 3)");
/// ```
#[derive(Clone, Copy)]
pub struct Tuple<'a, T> {
    items: &'a [T],
    write: fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result,
}

impl<T> fmt::Display for Tuple<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        separated(f, self.items, |f, item| (self.write)(item, f))?;
        f.write_str(if self.items.len() == 1 { ",)" } else { ")" })
    }
}

impl<T> fmt::Debug for Tuple<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Writes items with a comma between every two.
///
/// ```
/// use std::fmt;
///
/// struct List(Vec<i64>);
///
/// impl fmt::Display for List {
///     fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
///         shapetracker_base::text::separated(f, &self.0, |f, item| write!(f, "{item}"))
///     }
/// }
/// assert_eq!(List(vec![2, 3]).to_string(), "2, 3");
/// ```
pub fn separated<W: fmt::Write, T>(f: &mut W, items: &[T], write: impl Fn(&mut W, &T) -> fmt::Result) -> fmt::Result {
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write(f, item)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_print_as_python_does() {
        assert_eq!(tuple::<i64>(&[]).to_string(), "()");
        assert_eq!(tuple(&[3]).to_string(), "(3,)");
        assert_eq!(tuple_of_pairs(&[(0, 2)]).to_string(), "((0, 2),)");
    }
}
