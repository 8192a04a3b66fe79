//! Numbers the way Python writes tuples, which is how the field writes shapes.

use std::fmt;

/// Writes numbers the way Python writes a tuple: `()`, `(3,)`, `(2, 3)`.
pub(crate) fn tuple(items: &[i64]) -> Tuple<'_, i64> {
    Tuple(items, |item, f| write!(f, "{item}"))
}

/// Writes ranges the way Python writes a tuple of pairs: `((0, 2), (1, 3))`.
pub(crate) fn tuple_of_pairs(items: &[(i64, i64)]) -> Tuple<'_, (i64, i64)> {
    Tuple(items, |(begin, end), f| write!(f, "({begin}, {end})"))
}

pub(crate) struct Tuple<'a, T>(&'a [T], fn(&T, &mut fmt::Formatter<'_>) -> fmt::Result);

impl<T> fmt::Display for Tuple<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, item) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            (self.1)(item, f)?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tuples_print_as_python_does() {
        assert_eq!(tuple(&[]).to_string(), "()");
        assert_eq!(tuple(&[3]).to_string(), "(3,)");
        assert_eq!(tuple_of_pairs(&[(0, 2), (1, 3)]).to_string(), "((0, 2), (1, 3))");
    }
}
