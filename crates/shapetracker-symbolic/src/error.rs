//! What a caller did wrong, as a sentence.

use std::fmt;

use shapetracker::{ErrorKind, Written};

use crate::answer::Reason;
use crate::expression::read::MOST_VARIABLES;
use crate::poly::{MOST_STEPS, Poly, TooLarge};
use crate::region::Stop;
use crate::scope::{MAX_NAMES, Scope};

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
///     "shrink: axis 0 has size n, so that the range (0, n + 1) does not lie inside 0..n, whatever values the names have",
/// );
/// # Ok::<(), shapetracker_symbolic::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<(&'static str, Mistake)>);

impl Error {
    #[cold]
    pub(crate) fn new(operation: &'static str, mistake: impl Into<Mistake>) -> Self {
        Error(Box::new((operation, mistake.into())))
    }

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
    pub fn operation(&self) -> &'static str {
        self.0.0
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
        matches!(self.0.1, Mistake::SignUnknown { .. })
    }
}

/// The operation and the reason.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.0, self.0.1)
    }
}

impl std::error::Error for Error {}

impl From<shapetracker::Error> for Error {
    #[cold]
    fn from(err: shapetracker::Error) -> Self {
        Error::new(err.operation(), Mistake::Integer(err))
    }
}

/// What is wrong that numbers can have, too.
pub(crate) type Fault = shapetracker::Fault<PolyText>;

/// A polynomial as a sentence writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PolyText {
    text: String,
    has_names: bool,
}

impl PolyText {
    pub(crate) fn of(scope: &Scope, poly: &Poly) -> PolyText {
        PolyText { text: scope.text(poly), has_names: poly.number().is_none() }
    }
}

impl fmt::Display for PolyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Written for PolyText {
    fn has_names(&self) -> bool {
        self.has_names
    }
}

/// What is wrong, with everything that the sentence about it needs: what only names have, and the sentences of numbers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Mistake {
    #[error("{0}")]
    Fault(Fault),
    /// What the integer library has found, which does not depend on sizes or is about values.
    #[error("{}", .0.reason())]
    Integer(shapetracker::Error),
    #[error(
        "axis {axis} has size {size}, which is not known to be 1 or {to}, so that it cannot become {to}: only an axis of \
         size 1 can be broadcast"
    )]
    ExpandUnknown { axis: usize, size: PolyText, to: PolyText },
    #[error(
        "axis {axis} has size {size}, whose remainder modulo {by} is not known, so that it is open how many elements a step \
         of {step} takes: write the size with a multiple of {by}, such as {by}*k",
        by = .step.unsigned_abs()
    )]
    StepUneven { axis: usize, size: PolyText, step: i64 },
    #[error(
        "the sign of stride {stride} of axis {axis} is not known, and with it which addresses are read; if it is never \
         negative, say {says} (--where {says:?} in the command, where={says:?} in Python{})",
        in_python(says)
    )]
    SignUnknown { axis: usize, stride: PolyText, says: String },
    #[error("{}", too_large(*.0))]
    TooLarge(TooLarge),
    #[error("code is made for at most {most} names, axes and quotients together, and these are more")]
    TooManyVariables { most: usize },
    #[error("the name {name} has two ranges or two definitions, but one name is one number: rename one of them")]
    NameTwice { name: String },
    #[error("there are more than the {MAX_NAMES} names that are possible")]
    TooManyNames,
    #[error("the range of {name} is empty: its least value would be {least}, and its greatest {greatest}")]
    EmptyRange { name: String, least: i128, greatest: i128 },
    #[error("no values of the names satisfy all conditions")]
    NoValues,
    #[error("{}", no_name(name, known))]
    UnknownName { name: String, known: Vec<String> },
    #[error("the name {name} has no value")]
    NoValue { name: String },
    #[error("{value} is not a value of {name}, which is {range}")]
    ValueOutside { name: String, value: i128, range: String },
    #[error("at these values {condition} does not hold")]
    NotHeld { condition: String },
    #[error("{whole} cannot be divided by 0")]
    ByZero { whole: String },
    #[error(
        "{whole} is no multiple of {by} as a polynomial, and what the division leaves is not known: say that a name \
         is a multiple (H = 8*h), and write h for the quotient"
    )]
    Uneven { whole: String, by: String },
    #[error("{name} cannot be a name: {why}")]
    Name { name: String, why: &'static str },
    #[error(
        "code has numbers of 64 bits, and {name} has no {}: say a range with two ends, such as {name}=1..4097",
        if *.first { "least value" } else { "greatest value" }
    )]
    NoEnd { name: String, first: bool },
    #[error("code has numbers of 64 bits, and an end of the range of {name} leaves them")]
    FarEnd { name: String },
    #[error("code has numbers of 64 bits: {}; give the names smaller ranges", .0.reason())]
    Code(indexpr::Error),
    #[error("{0}")]
    Foreign(String),
    #[error("{0} is not known for all values")]
    NotKnown(&'static str),
    #[error("{0}")]
    NoInverse(String),
    /// What is no tracker, as plain data.
    #[error("{0}")]
    Parts(String),
}

impl From<Fault> for Mistake {
    fn from(fault: Fault) -> Mistake {
        Mistake::Fault(fault)
    }
}

impl From<Stop> for Mistake {
    fn from(stop: Stop) -> Mistake {
        match stop {
            Stop::Undecided(Reason::WorkLimit) => Mistake::TooLarge(TooLarge::Work(MOST_STEPS)),
            Stop::Undecided(Reason::TooManyTerms(terms)) => Mistake::TooLarge(TooLarge::Terms(terms)),
            Stop::Undecided(Reason::TooManyCases) => Mistake::TooManyVariables { most: MOST_VARIABLES },
            _ => Mistake::TooLarge(TooLarge::Number),
        }
    }
}

impl From<indexpr::Error> for Mistake {
    fn from(err: indexpr::Error) -> Mistake {
        match err.kind() {
            indexpr::ErrorKind::Overflow => Mistake::Code(err),
            _ => Mistake::Fault(Fault::Expression(err)),
        }
    }
}

impl From<TooLarge> for Mistake {
    fn from(err: TooLarge) -> Mistake {
        Mistake::TooLarge(err)
    }
}

/// How Python says of a name, beside the text, that it is not negative: `, or Sym("B", 0)`.
fn in_python(says: &str) -> String {
    let names: Vec<&str> = says.split(", ").filter_map(|range| range.strip_suffix("=0..")).collect();
    let symbols: Vec<String> = names.iter().map(|name| format!("Sym({name:?}, 0)")).collect();
    if symbols.is_empty() { String::new() } else { format!(", or {}", symbols.join(" and ")) }
}

impl Mistake {
    fn kind(&self) -> ErrorKind {
        match self {
            Mistake::Fault(fault) => fault.kind(),
            Mistake::Integer(err) => err.kind(),
            Mistake::ExpandUnknown { .. } => ErrorKind::NotOne,
            Mistake::StepUneven { .. } | Mistake::SignUnknown { .. } | Mistake::NotKnown(_) | Mistake::NoInverse(_) => {
                ErrorKind::Undecided
            }
            Mistake::TooLarge(_)
            | Mistake::TooManyVariables { .. }
            | Mistake::Code(_)
            | Mistake::NoEnd { .. }
            | Mistake::FarEnd { .. } => ErrorKind::Overflow,
            Mistake::NameTwice { .. } => ErrorKind::RangesDiffer,
            Mistake::EmptyRange { .. } | Mistake::NoValues => ErrorKind::EmptyRange,
            Mistake::UnknownName { .. }
            | Mistake::NoValue { .. }
            | Mistake::ValueOutside { .. }
            | Mistake::NotHeld { .. } => ErrorKind::ValueOutside,
            Mistake::TooManyNames
            | Mistake::Name { .. }
            | Mistake::Uneven { .. }
            | Mistake::ByZero { .. }
            | Mistake::Parts(_) => ErrorKind::Expression,
            Mistake::Foreign(_) => ErrorKind::RangeOutside,
        }
    }
}

fn too_large(err: TooLarge) -> String {
    match err {
        TooLarge::Number => "a polynomial has coefficients past 128 bits, or more than 16 factors in a product".into(),
        err => err.to_string(),
    }
}

/// That there is no such name, and which there are.
pub(crate) fn no_name(name: &str, known: &[String]) -> String {
    match known {
        [] => format!("there is no name {name}, as there are no names"),
        [one] => format!("there is no name {name}: the only one is {one}"),
        many => format!("there is no name {name}: the names are {}", many.join(", ")),
    }
}
