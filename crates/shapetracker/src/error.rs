//! What a caller did wrong, as a sentence.

use std::fmt;

use shapetracker_base::text::tuple;

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
pub struct Error(Box<(&'static str, Fault)>);

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
    #[cold]
    pub(crate) fn new(operation: &'static str, fault: Fault) -> Self {
        Error(Box::new((operation, fault)))
    }

    /// The sort of mistake, for programs that branch on it.
    ///
    /// ```
    /// let err = shapetracker::View::contiguous([-1]).unwrap_err();
    /// assert_eq!(err.kind(), shapetracker::ErrorKind::NegativeSize);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.1.kind()
    }

    /// The operation that could not be done, by the name that stands in front of the sentence.
    ///
    /// ```
    /// let err = shapetracker::ShapeTracker::contiguous([2, 3])?.flip([2]).unwrap_err();
    /// assert_eq!(err.operation(), "flip");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn operation(&self) -> &'static str {
        self.0.0
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
        self.0.1.to_string()
    }
}

/// The operation and the reason: `reshape: shape (2, 3) has 6 elements, but shape (4, 2) needs 8`.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.0, self.0.1)
    }
}

impl std::error::Error for Error {}

impl From<indexpr::Error> for Error {
    #[cold]
    fn from(err: indexpr::Error) -> Self {
        Error::new(err.operation(), Fault::Expression(err))
    }
}

/// A number as the sentence about a mistake writes it: a whole number, or what has names in it.
///
/// ```
/// assert!(!shapetracker::Written::has_names(&3_i64));
/// ```
pub trait Written: fmt::Display {
    /// Whether it has names, so that a sentence about it is one about all values that they may have.
    ///
    /// ```
    /// assert!(!shapetracker::Written::has_names(&3_i64));
    /// ```
    fn has_names(&self) -> bool;
}

impl Written for i64 {
    fn has_names(&self) -> bool {
        false
    }
}

/// What is wrong, in numbers of some kind, with everything that the sentence about it needs.
///
/// An [`Error`] is one of whole numbers. A crate whose sizes are other numbers makes its errors of the same sentences:
/// `Display` writes the reason alone, without the operation that could not be done.
///
/// ```
/// use shapetracker::{ErrorKind, Fault};
///
/// let fault = Fault::Expand { axis: 1, size: 3, to: 4 };
/// assert_eq!(fault.kind(), ErrorKind::NotOne);
/// assert_eq!(fault.to_string(), "axis 1 has size 3 and cannot become 4: only an axis of size 1 can be broadcast");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the sentence about a variant names its fields")]
pub enum Fault<N: Written = i64> {
    /// A list of `what` with `given` entries, where one for each of `rank` axes is needed.
    #[error("takes one {what} per axis: the tensor has {} but {given} {} given", axes(*.rank), were(*.given))]
    Rank { what: &'static str, rank: usize, given: usize },
    /// `rank` axes broadcast to `given`, which are fewer.
    #[error("broadcasting cannot drop axes: the tensor has {}, the new shape {}", axes(*.rank), axes(*.given))]
    BroadcastRank { rank: usize, given: usize },
    /// `given` axes, more than [`MAX_RANK`](crate::MAX_RANK).
    #[error("{given} axes are more than the {} that a view may have", crate::MAX_RANK)]
    TooManyAxes { given: usize },
    /// A `size` below 0.
    #[error("axis {axis} has size {size}, but a size cannot be negative{}", whatever([size]))]
    NegativeSize { axis: usize, size: N },
    /// A shape `from` that has `have` elements, and one `to` that needs `need`, another number.
    #[error(
        "shape {} has {have} elements, but shape {} needs {need}{}",
        tuple(.from), tuple(.to), whatever([have, need])
    )]
    SizeMismatch { from: Vec<N>, to: Vec<N>, have: N, need: N },
    /// Shapes `from` and `to` that are not the same, where they must be.
    #[error("the shapes {} and {} are not the same, but elements are compared index by index", tuple(.from), tuple(.to))]
    ShapesDiffer { from: Vec<N>, to: Vec<N> },
    /// Two sizes of -1, of axes `first` and `second`.
    #[error("axes {first} and {second} are both -1, but only one size can be inferred")]
    InferTwice { first: usize, second: usize },
    /// A size of -1, where `have` elements are not divisible by `known`, the product of the other sizes.
    #[error(
        "the size of axis {axis} cannot be inferred: {have} elements are not divisible by {known}, the product of the other sizes{}",
        if have.has_names() || known.has_names() {
            ", as polynomials; give the size, or define a name as a product (H = 8*h)"
        } else {
            ""
        }
    )]
    InferUneven { axis: usize, have: N, known: N },
    /// A size of -1 beside others that are not all above 0.
    #[error(
        "the size of axis {axis} cannot be inferred where the other sizes are not all above 0: give the size in place of -1"
    )]
    InferZero { axis: usize },
    /// An `axis` that a tensor of `rank` axes has not.
    #[error("axis {axis} does not exist: the tensor has {}", axes(*.rank))]
    AxisOutOfRange { axis: i64, rank: usize },
    /// An `axis` before which a new axis cannot stand, in a tensor of `rank` axes.
    #[error(
        "the new axis cannot be axis {axis}: the tensor has {}, so that it can be any of {} to {rank}",
        axes(*.rank), -1 - *.rank as i64
    )]
    NewAxisOutOfRange { axis: i64, rank: usize },
    /// An `axis` that is named twice, as entries `first` and `second` of a list.
    #[error("axis {axis} is named twice, at places {first} and {second}")]
    AxisRepeated { axis: usize, first: usize, second: usize },
    /// An axis of a `size` other than 1, which should become `to`.
    #[error("axis {axis} has size {size} and cannot become {to}: only an axis of size 1 can be broadcast")]
    Expand { axis: usize, size: N, to: N },
    /// An axis of a `size` other than 1, which should be taken away.
    #[error("axis {axis} has size {size}: only an axis of size 1 can be squeezed")]
    Squeeze { axis: usize, size: N },
    /// A pad `before` or `after` an axis that is below 0.
    #[error("axis {axis} is padded by ({before}, {after}), but a pad cannot be negative (shrink takes elements away)")]
    NegativePad { axis: usize, before: N, after: N },
    /// A range from `begin` to `end` that does not lie inside its axis of a `size`.
    #[error(
        "axis {axis} has size {size}, so that the range ({begin}, {end}) does not lie inside 0..{size}{}",
        whatever([begin, end, size])
    )]
    RangeOutside { axis: usize, begin: N, end: N, size: N },
    /// A range whose `end` lies below its `begin`, of an axis of a `size`.
    #[error(
        "axis {axis} has size {size}, but the range ({begin}, {end}) ends before it begins{}; a range (begin, end) needs \
         0 <= begin <= end <= {size}",
        whatever([begin, end])
    )]
    RangeReversed { axis: usize, begin: N, end: N, size: N },
    /// A step of 0.
    #[error("axis {axis} has step 0; a step is 1 or more, or -1 or less to walk backwards")]
    ZeroStep { axis: usize },
    /// A mask from `begin` to `end` that does not lie inside its axis of a `size`.
    #[error(
        "axis {axis} has size {size}, so that the mask ({begin}, {end}) does not lie inside 0..{size}{}",
        whatever([begin, end, size])
    )]
    MaskOutside { axis: usize, begin: N, end: N, size: N },
    /// A mask whose `end` lies below its `begin`, of an axis of a `size`.
    #[error(
        "axis {axis} has size {size}, but the mask ({begin}, {end}) ends before it begins{}; a mask (begin, end) needs \
         0 <= begin <= end <= {size}",
        whatever([begin, end])
    )]
    MaskReversed { axis: usize, begin: N, end: N, size: N },
    /// A view that reads from `low` to `high`, where the view or the buffer under it has `len` elements.
    #[error(
        "the view reads addresses {low} to {high}, but what it reads from has {}{}",
        elements(.len), whatever([low, high, len])
    )]
    AddressOutside { low: N, high: N, len: N },
    /// A view that reads from the address `low` of an array on, which is below 0.
    #[error("the view reads from address {low} on, {} before the beginning of the array", .low.unsigned_abs())]
    NegativeAddress { low: i64 },
    /// A `shape` with more elements than 64 bits count.
    #[error("the number of elements of shape {} is past the range of 64-bit integers", tuple(.shape))]
    TooManyElements { shape: Vec<N> },
    /// A number of an axis, as `what` says, that leaves 64 bits.
    #[error("{what} of axis {axis} is past the range of 64-bit integers")]
    AxisOverflow { what: &'static str, axis: usize },
    /// Another number, as `what` says, that leaves 64 bits.
    #[error("{what} is past the range of 64-bit integers")]
    Overflow { what: &'static str },
    /// `given` views that cannot be merged, more than [`MAX_VIEWS`](crate::MAX_VIEWS).
    #[error("{given} views that cannot be merged are more than the {} that a tracker may have", crate::MAX_VIEWS)]
    TooManyViews { given: usize },
    /// A tracker of no views.
    #[error("a tracker needs at least one view")]
    NoViews,
    /// What is wrong with an expression.
    #[error("{}", .0.reason())]
    Expression(indexpr::Error),
}

impl<N: Written> Fault<N> {
    /// The sort of mistake, for programs that branch on it.
    ///
    /// ```
    /// use shapetracker::{ErrorKind, Fault};
    /// assert_eq!(Fault::<i64>::ZeroStep { axis: 0 }.kind(), ErrorKind::ZeroStep);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match self {
            Fault::Rank { .. } | Fault::BroadcastRank { .. } => ErrorKind::Rank,
            Fault::TooManyAxes { .. } => ErrorKind::TooManyAxes,
            Fault::NegativeSize { .. } => ErrorKind::NegativeSize,
            Fault::SizeMismatch { .. } | Fault::ShapesDiffer { .. } => ErrorKind::SizeMismatch,
            Fault::InferTwice { .. } | Fault::InferUneven { .. } | Fault::InferZero { .. } => ErrorKind::Infer,
            Fault::AxisOutOfRange { .. } | Fault::NewAxisOutOfRange { .. } => ErrorKind::AxisOutOfRange,
            Fault::AxisRepeated { .. } => ErrorKind::AxisRepeated,
            Fault::Expand { .. } | Fault::Squeeze { .. } => ErrorKind::NotOne,
            Fault::NegativePad { .. } => ErrorKind::NegativePad,
            Fault::RangeOutside { .. } | Fault::RangeReversed { .. } => ErrorKind::RangeOutside,
            Fault::ZeroStep { .. } => ErrorKind::ZeroStep,
            Fault::MaskOutside { .. } | Fault::MaskReversed { .. } => ErrorKind::MaskOutside,
            Fault::AddressOutside { .. } | Fault::NegativeAddress { .. } => ErrorKind::AddressOutside,
            Fault::TooManyElements { .. } | Fault::AxisOverflow { .. } | Fault::Overflow { .. } => ErrorKind::Overflow,
            Fault::NoViews => ErrorKind::NoViews,
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

fn elements(len: &impl Written) -> String {
    let len = len.to_string();
    if len == "1" { "1 element".into() } else { format!("{len} elements") }
}

/// What ends a sentence that says of names that something never holds.
fn whatever<const COUNT: usize>(numbers: [&impl Written; COUNT]) -> &'static str {
    if numbers.iter().any(|number| number.has_names()) { ", whatever values the names have" } else { "" }
}

fn were(given: usize) -> &'static str {
    if given == 1 { "was" } else { "were" }
}
