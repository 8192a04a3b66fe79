//! The operations on two operands, and what they take and give.

/// An operation on two operands: the operator of a [`Node::Binary`](crate::Node::Binary).
///
/// Operands and results are numbers, except that comparisons give conditions, and `And` and `Or` take and give them.
///
/// ```
/// use indexpr::{Binary, Graph};
///
/// let mut graph = Graph::new();
/// let (x, three) = (graph.variable("x", -4..5)?, graph.int(3));
/// let quotient = graph.binary(Binary::Div, x, three)?;
/// let remainder = graph.binary(Binary::Mod, x, three)?;
/// // At x = -4: division rounds down, and the remainder has the sign of the divisor.
/// assert_eq!((graph.evaluate(quotient, &[-4])?, graph.evaluate(remainder, &[-4])?), (-2, 2));
///
/// let least = graph.binary(Binary::Min, x, three)?;
/// assert_eq!(graph.range(least), (-4, 3));
///
/// let (below, zero) = (graph.binary(Binary::Lt, x, three)?, graph.int(0));
/// let not_zero = graph.binary(Binary::Ne, x, zero)?;
/// let both = graph.binary(Binary::And, below, not_zero)?;
/// assert!(graph.is_condition(both));
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Binary {
    /// The sum of two numbers: `a + b`.
    Add,
    /// The difference of two numbers: `a - b`.
    Sub,
    /// The product of two numbers: `a * b`.
    Mul,
    /// The quotient of two numbers rounded down: Python's `a // b`. Refused if the range of the divisor contains 0.
    Div,
    /// The remainder of floor division, `a - b * (a // b)`, which has the sign of the divisor: Python's `a % b`. Refused
    /// if the range of the divisor contains 0.
    Mod,
    /// The smaller of two numbers.
    Min,
    /// The larger of two numbers.
    Max,
    /// The exclusive or of the bits of two numbers, in two's complement: `a ^ b`.
    Xor,
    /// Whether the first number is less than the second.
    Lt,
    /// Whether the first number is at most the second.
    Le,
    /// Whether the first number is greater than the second.
    Gt,
    /// Whether the first number is at least the second.
    Ge,
    /// Whether two numbers are equal.
    Eq,
    /// Whether two numbers are different.
    Ne,
    /// Whether both conditions hold.
    And,
    /// Whether at least one of two conditions holds.
    Or,
}

/// What sort of value an expression has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sort {
    Number,
    Condition,
}

impl Binary {
    /// Whether the operands may be exchanged.
    pub(crate) fn is_commutative(self) -> bool {
        use Binary::*;
        matches!(self, Add | Mul | Min | Max | Xor | Eq | Ne | And | Or)
    }

    /// What the operands are.
    pub(crate) fn takes(self) -> Sort {
        if matches!(self, Binary::And | Binary::Or) { Sort::Condition } else { Sort::Number }
    }

    /// Whether the result is a condition.
    pub(crate) fn compares(self) -> bool {
        matches!(self, Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge | Binary::Eq | Binary::Ne)
    }

    /// What the result is.
    pub(crate) fn gives(self) -> Sort {
        if self.compares() { Sort::Condition } else { self.takes() }
    }

    /// The operator or function in Python: `+`, `//`, `min`, `and`.
    ///
    /// ```
    /// use indexpr::Binary;
    /// assert_eq!([Binary::Div, Binary::Max, Binary::Or].map(Binary::name), ["//", "max", "or"]);
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            Binary::Add => "+",
            Binary::Sub => "-",
            Binary::Mul => "*",
            Binary::Div => "//",
            Binary::Mod => "%",
            Binary::Min => "min",
            Binary::Max => "max",
            Binary::Xor => "^",
            Binary::Lt => "<",
            Binary::Le => "<=",
            Binary::Gt => ">",
            Binary::Ge => ">=",
            Binary::Eq => "==",
            Binary::Ne => "!=",
            Binary::And => "and",
            Binary::Or => "or",
        }
    }
}
