//! What a caller did wrong, as a sentence.

use std::fmt;

use shapetracker::{ErrorKind, MAX_RANK, MAX_VIEWS};

use crate::poly::TooLarge;
use crate::scope::MAX_NAMES;

/// Why an operation on named sizes could not be done: the operation, the axis and the sizes that do not fit.
///
/// The `Display` text is a sentence for the person who made the mistake. Programs branch on [`Error::kind`], which is that
/// of the integer library's errors.
///
/// ```
/// use shapetracker_symbolic::{ShapeTracker, Sym};
///
/// let n = Sym::new("n", 1..4097);
/// let err = ShapeTracker::contiguous([n.clone(), n.clone()])?.shrink([(Sym::from(0), n.clone() + 1), (n.clone(), n)]);
/// let err = err.unwrap_err();
/// assert_eq!(err.kind(), shapetracker::ErrorKind::RangeOutside);
/// assert_eq!(
///     err.to_string(),
///     "shrink: axis 0 has size n, so that the range (0, n + 1) does not lie inside 0..n, whatever the values are",
/// );
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<(&'static str, Fault)>);

impl Error {
    /// The sort of mistake, for programs that branch on it.
    ///
    /// ```
    /// use shapetracker_symbolic::{ShapeTracker, Sym};
    /// let err = ShapeTracker::contiguous([Sym::new("n", 1..1)]).unwrap_err();
    /// assert_eq!(err.kind(), shapetracker::ErrorKind::EmptyRange);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        self.0.1.kind()
    }

    /// The operation that could not be done, by the name that stands in front of the sentence.
    ///
    /// ```
    /// let err = shapetracker_symbolic::ShapeTracker::contiguous([2, 3])?.flip([2]).unwrap_err();
    /// assert_eq!(err.operation(), "flip");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn operation(&self) -> &str {
        match &*self.0 {
            (_, Fault::Integer(err)) => err.operation(),
            (op, _) => op,
        }
    }

    /// The sentence without the operation in front of it.
    ///
    /// ```
    /// let err = shapetracker_symbolic::ShapeTracker::contiguous([2, 3])?.flip([2]).unwrap_err();
    /// assert_eq!(err.reason(), "axis 2 does not exist: the tensor has 2 axes");
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    pub fn reason(&self) -> String {
        self.0.1.to_string()
    }

    /// Whether it is that the sign of a stride is not known.
    pub(crate) fn is_of_unknown_sign(&self) -> bool {
        matches!(self.0.1, Fault::SignUnknown { .. })
    }
}

/// The operation and the reason.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.operation(), self.0.1)
    }
}

impl std::error::Error for Error {}

/// What is wrong, with everything that the sentence about it needs; polynomials are texts here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("takes one {what} per axis: the tensor has {} but {given} {} given", axes(*.rank), were(*.given))]
    Rank { what: &'static str, rank: usize, given: usize },
    #[error("broadcasting cannot drop axes: the tensor has {}, the new shape {}", axes(*.rank), axes(*.given))]
    BroadcastRank { rank: usize, given: usize },
    #[error("{given} axes are more than the {MAX_RANK} that a view may have")]
    TooManyAxes { given: usize },
    #[error("axis {axis} has size {size}, but a size cannot be negative{}", whatever(size))]
    NegativeSize { axis: usize, size: String },
    #[error("shape {from} has {have} elements, but shape {to} needs {need}{}", whatever(&format!("{have} {need}")))]
    SizeMismatch { from: String, to: String, have: String, need: String },
    #[error("the shapes {from} and {to} are not the same")]
    ShapesDiffer { from: String, to: String },
    #[error("axes {first} and {second} are both -1, but only one size can be inferred")]
    InferTwice { first: usize, second: usize },
    #[error(
        "the size of axis {axis} cannot be inferred: {have} elements do not divide by {known}, the product of the other \
         sizes, as polynomials; give the size, or define a name as a product (H = 8*h)"
    )]
    InferUneven { axis: usize, have: String, known: String },
    #[error("the size of axis {axis} cannot be inferred: the other sizes have product 0, so that any size would do")]
    InferZero { axis: usize },
    #[error("axis {axis} does not exist: the tensor has {}", axes(*.rank))]
    AxisOutOfRange { axis: i64, rank: usize },
    #[error("axis {axis} is named twice, at places {first} and {second}")]
    AxisRepeated { axis: usize, first: usize, second: usize },
    #[error("axis {axis} has size {size} and cannot become {to}: only an axis of size 1 can be broadcast")]
    Expand { axis: usize, size: String, to: String },
    #[error(
        "axis {axis} has size {size}, which is not known to be 1 or {to}, so that it cannot become {to}: only an axis of \
         size 1 can be broadcast"
    )]
    ExpandUnknown { axis: usize, size: String, to: String },
    #[error("axis {axis} has size {size}: only an axis of size 1 can be squeezed")]
    Squeeze { axis: usize, size: String },
    #[error("axis {axis} is padded by ({before}, {after}), but a pad cannot be negative (shrink takes elements away)")]
    NegativePad { axis: usize, before: String, after: String },
    #[error(
        "axis {axis} has size {size}, so that the range ({begin}, {end}) does not lie inside 0..{size}{}",
        whatever(&format!("{begin} {end} {size}"))
    )]
    RangeOutside { axis: usize, begin: String, end: String, size: String },
    #[error("axis {axis} has step 0; a step is 1 or more, or -1 or less to walk backwards")]
    ZeroStep { axis: usize },
    #[error(
        "a step of {step} along axis {axis}: what its size {size} leaves modulo {} is not known; write the size with a \
         multiple of it, such as {}*k",
        .step.unsigned_abs(), .step.unsigned_abs()
    )]
    StepUneven { axis: usize, size: String, step: i64 },
    #[error("axis {axis} has size {size}, so that the mask ({begin}, {end}) does not lie inside 0..{size}")]
    MaskOutside { axis: usize, begin: String, end: String, size: String },
    #[error("the view reads addresses {low} to {high}, but what it reads from has {len} elements")]
    AddressOutside { low: String, high: String, len: String },
    #[error(
        "the sign of stride {stride} of axis {axis} is not known, and with it which addresses are read; if it is never \
         negative, say {says} (--where {says:?} in the command, where={says:?} in Python{})",
        in_python(says)
    )]
    SignUnknown { axis: usize, stride: String, says: String },
    #[error("{}", too_large(*.0))]
    TooLarge(TooLarge),
    #[error("names, axes and quotients together are more than the {most} that code is made for")]
    TooManyVariables { most: usize },
    #[error("{given} views that cannot be merged are more than the {MAX_VIEWS} that a tracker may have")]
    TooManyViews { given: usize },
    #[error("a tracker needs at least one view")]
    NoViews,
    #[error("the name {name} has two ranges or two meanings")]
    NameTwice { name: String },
    #[error("there are more than the {MAX_NAMES} names that are possible")]
    TooManyNames,
    #[error("the range of {name} is empty")]
    EmptyRange { name: String },
    #[error("no values of the names satisfy all conditions")]
    NoValues,
    #[error("there is no name {name}; there {}", listed(.known))]
    UnknownName { name: String, known: Vec<String> },
    #[error("the name {name} has no value")]
    NoValue { name: String },
    #[error("{value} is not a value of {name}, which is {range}")]
    ValueOutside { name: String, value: i128, range: String },
    #[error("at these values {condition} does not hold")]
    NotHeld { condition: String },
    #[error("at these values a number is past the range of 64-bit integers")]
    Overflow,
    #[error("{whole} cannot be divided by 0")]
    ByZero { whole: String },
    #[error(
        "{whole} is no multiple of {by} as a polynomial, and what the division leaves is not known: say that a name \
         is a multiple (H = 8*h), and write h for the quotient"
    )]
    Uneven { whole: String, by: String },
    #[error("{name} cannot be a name: {why}")]
    Name { name: String, why: &'static str },
    #[error("code has numbers of 64 bits: {}; give the names smaller ranges", .0.reason())]
    Code(indexpr::Error),
    #[error("{}", .0.reason())]
    Expression(indexpr::Error),
    #[error("{0}")]
    Foreign(String),
    #[error("{0} is not known for all values")]
    NotKnown(&'static str),
    #[error("{0}")]
    NoInverse(String),
    /// What is no tracker, as plain data.
    #[error("{0}")]
    Parts(String),
    #[error("{}", .0.reason())]
    Integer(shapetracker::Error),
}

/// How Python says of a name, beside the text, that it is not negative: `, or Sym("B", 0)`.
fn in_python(says: &str) -> String {
    let names: Vec<&str> = says.split(", ").filter_map(|range| range.strip_suffix("=0..")).collect();
    let symbols: Vec<String> = names.iter().map(|name| format!("Sym({name:?}, 0)")).collect();
    if symbols.is_empty() { String::new() } else { format!(", or {}", symbols.join(" and ")) }
}

impl From<TooLarge> for Fault {
    fn from(err: TooLarge) -> Fault {
        Fault::TooLarge(err)
    }
}

impl Fault {
    /// The error of an operation that failed for this reason.
    #[cold]
    pub(crate) fn of(self, op: &'static str) -> Error {
        Error(Box::new((op, self)))
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
            Fault::Expand { .. } | Fault::ExpandUnknown { .. } | Fault::Squeeze { .. } => ErrorKind::NotOne,
            Fault::NegativePad { .. } => ErrorKind::NegativePad,
            Fault::RangeOutside { .. } => ErrorKind::RangeOutside,
            Fault::ZeroStep { .. } => ErrorKind::ZeroStep,
            Fault::StepUneven { .. } | Fault::SignUnknown { .. } => ErrorKind::Undecided,
            Fault::MaskOutside { .. } => ErrorKind::MaskOutside,
            Fault::AddressOutside { .. } => ErrorKind::AddressOutside,
            Fault::TooLarge(_) | Fault::TooManyVariables { .. } | Fault::Overflow | Fault::Code(_) => {
                ErrorKind::Overflow
            }
            Fault::TooManyViews { .. } => ErrorKind::TooManyViews,
            Fault::NoViews => ErrorKind::NoViews,
            Fault::NameTwice { .. } => ErrorKind::RangesDiffer,
            Fault::EmptyRange { .. } | Fault::NoValues => ErrorKind::EmptyRange,
            Fault::UnknownName { .. } | Fault::NoValue { .. } | Fault::ValueOutside { .. } | Fault::NotHeld { .. } => {
                ErrorKind::ValueOutside
            }
            Fault::TooManyNames
            | Fault::Name { .. }
            | Fault::Uneven { .. }
            | Fault::ByZero { .. }
            | Fault::Expression(_) => ErrorKind::Expression,
            Fault::Foreign(_) => ErrorKind::RangeOutside,
            Fault::NotKnown(_) | Fault::NoInverse(_) => ErrorKind::Undecided,
            Fault::Parts(_) => ErrorKind::Expression,
            Fault::Integer(err) => err.kind(),
        }
    }
}

fn too_large(err: TooLarge) -> String {
    match err {
        TooLarge::Number => "a polynomial has coefficients past 128 bits, or more than 16 factors in a product".into(),
        err => err.to_string(),
    }
}

fn axes(rank: usize) -> String {
    if rank == 1 { "1 axis".into() } else { format!("{rank} axes") }
}

fn were(given: usize) -> &'static str {
    if given == 1 { "was" } else { "were" }
}

/// What ends a sentence that says of names that something does not hold.
fn whatever(text: &str) -> &'static str {
    if text.contains(char::is_alphabetic) { ", whatever the values are" } else { "" }
}

fn listed(names: &[String]) -> String {
    match names {
        [] => "are none".into(),
        [one] => format!("is {one}"),
        many => format!("are {}", many.join(", ")),
    }
}
