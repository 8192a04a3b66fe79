//! What a caller did wrong, as a sentence.

use std::fmt;

use crate::Dims;
use indexpr::text::tuple;

/// Why an operation could not be done: the operation, the axis and the numbers that do not fit.
///
/// The `Display` text is a sentence for the person who made the mistake. Branch on [`Error::kind`] where a program
/// must decide; the sentence may be improved at any time. Its two parts are [`Error::operation`] and [`Error::reason`].
///
/// ```
/// let err = shapetracker::ShapeTracker::contiguous([2, 3])?.reshape([4, 2]).unwrap_err();
/// assert_eq!(err.kind(), shapetracker::ErrorKind::SizeMismatch);
/// assert_eq!(
///     err.to_string(),
///     "reshape: shape (2, 3) has 6 elements, but shape (4, 2) needs 8",
/// );
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<Fault>);

/// The sort of mistake behind an [`Error`].
///
/// ```
/// use shapetracker::{ErrorKind, View};
///
/// let err = View::contiguous([1 << 40, 1 << 40]).unwrap_err();
/// assert_eq!(err.kind(), ErrorKind::Overflow);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A shape, a list of strides or a list of axes has the wrong number of entries.
    Rank,
    /// More axes than [`MAX_RANK`](crate::MAX_RANK).
    TooManyAxes,
    /// A size is negative.
    NegativeSize,
    /// Two shapes should have the same number of elements and have not.
    SizeMismatch,
    /// A size to be inferred (`-1`) cannot be.
    Infer,
    /// An axis does not exist.
    AxisOutOfRange,
    /// An axis is named twice.
    AxisRepeated,
    /// An axis cannot be broadcast or squeezed because its size is not 1.
    NotOne,
    /// A pad is negative.
    NegativePad,
    /// A range does not lie inside its axis.
    RangeOutside,
    /// A step of zero.
    ZeroStep,
    /// A mask does not lie inside its axis.
    MaskOutside,
    /// A view reads addresses that the view (or buffer) under it does not have.
    AddressOutside,
    /// A number leaves the range of a signed 64-bit integer.
    Overflow,
    /// A tracker without any view.
    NoViews,
    /// More views than [`MAX_VIEWS`](crate::MAX_VIEWS) that cannot be merged.
    TooManyViews,
    /// Whether a condition on named sizes holds is not known, and what is asked for depends on it.
    Undecided,
    /// A variable without values.
    EmptyRange,
    /// A variable is declared twice with different ranges.
    RangesDiffer,
    /// A divisor that is or can be zero.
    DivisionByZero,
    /// A condition where a number is needed.
    NotANumber,
    /// A number where a condition is needed.
    NotACondition,
    /// A value that its variable cannot have.
    ValueOutside,
    /// A text, or a list of values, that would be too long.
    TooLong,
    /// Something else that is wrong with an expression, such as the name of a variable.
    Expression,
}

impl ErrorKind {
    /// Its name in JSON. These names are stable: programs that read the answers of the command branch on them.
    ///
    /// ```
    /// assert_eq!(shapetracker::ErrorKind::SizeMismatch.name(), "size_mismatch");
    /// ```
    pub const fn name(self) -> &'static str {
        match self {
            ErrorKind::Rank => "rank",
            ErrorKind::TooManyAxes => "too_many_axes",
            ErrorKind::NegativeSize => "negative_size",
            ErrorKind::SizeMismatch => "size_mismatch",
            ErrorKind::Infer => "infer",
            ErrorKind::AxisOutOfRange => "axis_out_of_range",
            ErrorKind::AxisRepeated => "axis_repeated",
            ErrorKind::NotOne => "not_one",
            ErrorKind::NegativePad => "negative_pad",
            ErrorKind::RangeOutside => "range_outside",
            ErrorKind::ZeroStep => "zero_step",
            ErrorKind::MaskOutside => "mask_outside",
            ErrorKind::AddressOutside => "address_outside",
            ErrorKind::Overflow => "overflow",
            ErrorKind::NoViews => "no_views",
            ErrorKind::TooManyViews => "too_many_views",
            ErrorKind::Undecided => "undecided",
            ErrorKind::EmptyRange => "empty_range",
            ErrorKind::RangesDiffer => "ranges_differ",
            ErrorKind::DivisionByZero => "division_by_zero",
            ErrorKind::NotANumber => "not_a_number",
            ErrorKind::NotACondition => "not_a_condition",
            ErrorKind::ValueOutside => "value_outside",
            ErrorKind::TooLong => "too_long",
            ErrorKind::Expression => "expression",
        }
    }
}

impl Error {
    /// The sort of mistake, for programs that branch on it.
    ///
    /// ```
    /// let err = shapetracker::View::contiguous([-1]).unwrap_err();
    /// assert_eq!(err.kind(), shapetracker::ErrorKind::NegativeSize);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.kind()
    }

    /// The operation that could not be done, by the name that stands in front of the sentence.
    ///
    /// ```
    /// let err = shapetracker::ShapeTracker::contiguous([2, 3])?.flip([2]).unwrap_err();
    /// assert_eq!(err.operation(), "flip");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn operation(&self) -> &str {
        self.0.op()
    }

    /// The sentence without the operation in front of it.
    ///
    /// ```
    /// let err = shapetracker::ShapeTracker::contiguous([2, 3])?.flip([2]).unwrap_err();
    /// assert_eq!(err.reason(), "axis 2 does not exist: the tensor has 2 axes");
    /// assert_eq!(err.to_string(), format!("{}: {}", err.operation(), err.reason()));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn reason(&self) -> String {
        self.0.to_string()
    }
}

/// The operation and the reason: `reshape: shape (2, 3) has 6 elements, but shape (4, 2) needs 8`.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.op(), self.0)
    }
}

impl std::error::Error for Error {}

impl From<indexpr::Error> for Error {
    #[cold]
    fn from(err: indexpr::Error) -> Self {
        Fault::Expression(err).into()
    }
}

impl From<Fault> for Error {
    #[cold]
    fn from(fault: Fault) -> Self {
        Error(Box::new(fault))
    }
}

/// What is wrong, with everything that the sentence about it needs. `Display` writes the reason alone: the operation stands
/// in front of it only in an [`Error`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("takes one {what} per axis: the tensor has {} but {given} {} given", axes(*.rank), were(*.given))]
    Rank { op: &'static str, what: &'static str, rank: usize, given: usize },
    #[error("broadcasting cannot drop axes: the tensor has {}, the new shape {}", axes(*.rank), axes(*.given))]
    BroadcastRank { op: &'static str, rank: usize, given: usize },
    #[error("{given} axes are more than the {} that a view may have", crate::MAX_RANK)]
    TooManyAxes { op: &'static str, given: usize },
    #[error("axis {axis} has size {size}, but a size cannot be negative")]
    NegativeSize { op: &'static str, axis: usize, size: i64 },
    #[error("shape {} has {have} elements, but shape {} needs {need}", tuple(.from), tuple(.to))]
    SizeMismatch { op: &'static str, from: Dims, to: Dims, have: i64, need: i64 },
    #[error("the shapes {} and {} are not the same", tuple(.from), tuple(.to))]
    ShapesDiffer { op: &'static str, from: Dims, to: Dims },
    #[error("axes {first} and {second} are both -1, but only one size can be inferred")]
    InferTwice { op: &'static str, first: usize, second: usize },
    #[error(
        "the size of axis {axis} cannot be inferred: {have} elements do not divide by {known}, the product of the other sizes"
    )]
    InferUneven { op: &'static str, axis: usize, have: i64, known: i64 },
    #[error("the size of axis {axis} cannot be inferred: the other sizes have product 0, so that any size would do")]
    InferZero { op: &'static str, axis: usize },
    #[error("axis {axis} does not exist: the tensor has {}", axes(*.rank))]
    AxisOutOfRange { op: &'static str, axis: i64, rank: usize },
    #[error("axis {axis} is named twice, at places {first} and {second}")]
    AxisRepeated { op: &'static str, axis: usize, first: usize, second: usize },
    #[error("axis {axis} has size {size} and cannot become {to}: only an axis of size 1 can be broadcast")]
    Expand { op: &'static str, axis: usize, size: i64, to: i64 },
    #[error("axis {axis} has size {size}: only an axis of size 1 can be squeezed")]
    Squeeze { op: &'static str, axis: usize, size: i64 },
    #[error("axis {axis} is padded by ({before}, {after}), but a pad cannot be negative (shrink takes elements away)")]
    NegativePad { op: &'static str, axis: usize, before: i64, after: i64 },
    #[error("axis {axis} has size {size}, so that the range ({begin}, {end}) does not lie inside 0..{size}")]
    RangeOutside { op: &'static str, axis: usize, begin: i64, end: i64, size: i64 },
    #[error("axis {axis} has step 0; a step is 1 or more, or -1 or less to walk backwards")]
    ZeroStep { op: &'static str, axis: usize },
    #[error("axis {axis} has size {size}, so that the mask ({begin}, {end}) does not lie inside 0..{size}")]
    MaskOutside { op: &'static str, axis: usize, begin: i64, end: i64, size: i64 },
    #[error("the view reads addresses {low} to {high}, but what it reads from has {}", elements(*.len))]
    AddressOutside { op: &'static str, low: i64, high: i64, len: i64 },
    #[error("the view reads from address {low} on, {} before the beginning of the array", .low.unsigned_abs())]
    NegativeAddress { op: &'static str, low: i64 },
    #[error("the number of elements of shape {} is past the range of 64-bit integers", tuple(.shape))]
    TooManyElements { op: &'static str, shape: Dims },
    #[error("{what} of axis {axis} is past the range of 64-bit integers")]
    AxisOverflow { op: &'static str, what: &'static str, axis: usize },
    #[error("{what} is past the range of 64-bit integers")]
    Overflow { op: &'static str, what: &'static str },
    #[error("{given} views that cannot be merged are more than the {} that a tracker may have", crate::MAX_VIEWS)]
    TooManyViews { op: &'static str, given: usize },
    #[error("a tracker needs at least one view")]
    NoViews { op: &'static str },
    #[error("{}", .0.reason())]
    Expression(indexpr::Error),
}

impl Fault {
    /// The operation that could not be done.
    fn op(&self) -> &str {
        match self {
            Fault::Rank { op, .. }
            | Fault::BroadcastRank { op, .. }
            | Fault::TooManyAxes { op, .. }
            | Fault::NegativeSize { op, .. }
            | Fault::SizeMismatch { op, .. }
            | Fault::ShapesDiffer { op, .. }
            | Fault::InferTwice { op, .. }
            | Fault::InferUneven { op, .. }
            | Fault::InferZero { op, .. }
            | Fault::AxisOutOfRange { op, .. }
            | Fault::AxisRepeated { op, .. }
            | Fault::Expand { op, .. }
            | Fault::Squeeze { op, .. }
            | Fault::NegativePad { op, .. }
            | Fault::RangeOutside { op, .. }
            | Fault::ZeroStep { op, .. }
            | Fault::MaskOutside { op, .. }
            | Fault::AddressOutside { op, .. }
            | Fault::NegativeAddress { op, .. }
            | Fault::TooManyElements { op, .. }
            | Fault::AxisOverflow { op, .. }
            | Fault::Overflow { op, .. }
            | Fault::TooManyViews { op, .. }
            | Fault::NoViews { op, .. } => op,
            Fault::Expression(err) => err.operation(),
        }
    }

    fn kind(&self) -> ErrorKind {
        match self {
            Fault::Rank { .. } | Fault::BroadcastRank { .. } => ErrorKind::Rank,
            Fault::TooManyAxes { .. } => ErrorKind::TooManyAxes,
            Fault::NegativeSize { .. } => ErrorKind::NegativeSize,
            Fault::SizeMismatch { .. } | Fault::ShapesDiffer { .. } => ErrorKind::SizeMismatch,
            Fault::InferTwice { .. } | Fault::InferUneven { .. } | Fault::InferZero { .. } => ErrorKind::Infer,
            Fault::AxisOutOfRange { .. } => ErrorKind::AxisOutOfRange,
            Fault::AxisRepeated { .. } => ErrorKind::AxisRepeated,
            Fault::Expand { .. } | Fault::Squeeze { .. } => ErrorKind::NotOne,
            Fault::NegativePad { .. } => ErrorKind::NegativePad,
            Fault::RangeOutside { .. } => ErrorKind::RangeOutside,
            Fault::ZeroStep { .. } => ErrorKind::ZeroStep,
            Fault::MaskOutside { .. } => ErrorKind::MaskOutside,
            Fault::AddressOutside { .. } | Fault::NegativeAddress { .. } => ErrorKind::AddressOutside,
            Fault::TooManyElements { .. } | Fault::AxisOverflow { .. } | Fault::Overflow { .. } => ErrorKind::Overflow,
            Fault::NoViews { .. } => ErrorKind::NoViews,
            Fault::TooManyViews { .. } => ErrorKind::TooManyViews,
            Fault::Expression(err) => match err.kind() {
                indexpr::ErrorKind::Count => ErrorKind::Rank,
                indexpr::ErrorKind::EmptyRange => ErrorKind::EmptyRange,
                indexpr::ErrorKind::RangesDiffer => ErrorKind::RangesDiffer,
                indexpr::ErrorKind::DivisionByZero => ErrorKind::DivisionByZero,
                indexpr::ErrorKind::Overflow => ErrorKind::Overflow,
                indexpr::ErrorKind::NotANumber => ErrorKind::NotANumber,
                indexpr::ErrorKind::NotACondition => ErrorKind::NotACondition,
                indexpr::ErrorKind::ValueOutside => ErrorKind::ValueOutside,
                indexpr::ErrorKind::TooLong => ErrorKind::TooLong,
                _ => ErrorKind::Expression,
            },
        }
    }
}

fn axes(rank: usize) -> String {
    if rank == 1 { "1 axis".into() } else { format!("{rank} axes") }
}

fn elements(len: i64) -> String {
    if len == 1 { "1 element".into() } else { format!("{len} elements") }
}

fn were(given: usize) -> &'static str {
    if given == 1 { "was" } else { "were" }
}
