//! What a caller did wrong, as a sentence.

use std::fmt;

use shapetracker::MAX_RANK;

use crate::IntTuple;

/// Why a layout cannot be, or a question about it has no answer: the operation, and the numbers that do not fit.
///
/// The `Display` text is a sentence for the person who made the mistake; its two parts are [`Error::operation`] and
/// [`Error::reason`]. That something does not exist is no mistake: such answers have types of their own, with evidence.
///
/// ```
/// use shapetracker_cute::Layout;
///
/// let err = Layout::new((2, 3), (1, (2, 6))).unwrap_err();
/// assert_eq!(err.to_string(), "layout: the shape (2,3) and the strides (1,(2,6)) have different parentheses");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<(&'static str, Fault)>);

impl Error {
    pub(crate) fn new(operation: &'static str, fault: Fault) -> Self {
        Error(Box::new((operation, fault)))
    }

    /// What could not be done, by the name that stands in front of the sentence.
    ///
    /// ```
    /// let err = shapetracker_cute::Swizzle::new(3, 3, 2).unwrap_err();
    /// assert_eq!(err.operation(), "swizzle");
    /// ```
    pub fn operation(&self) -> &'static str {
        self.0.0
    }

    /// The sentence without the operation in front of it.
    ///
    /// ```
    /// let err = shapetracker_cute::Layout::new(-1, 1).unwrap_err();
    /// assert_eq!(err.reason(), "a size is -1, but a size cannot be negative");
    /// ```
    pub fn reason(&self) -> String {
        self.0.1.to_string()
    }

    /// Whether nothing is wrong with the question, but answering it takes more work than is done.
    ///
    /// ```
    /// let err = shapetracker_cute::Layout::new(-1, 1).unwrap_err();
    /// assert!(!err.is_limit());
    /// ```
    pub fn is_limit(&self) -> bool {
        matches!(self.0.1, Fault::TooMuchWork { .. } | Fault::Undecided)
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
    fn from(err: shapetracker::Error) -> Self {
        Error::new(err.operation(), Fault::View(err))
    }
}

/// What is wrong, with everything that the sentence about it needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{}", .0.reason())]
    View(shapetracker::Error),
    #[error("the shape {shape} and the strides {stride} have different parentheses")]
    NotCongruent { shape: IntTuple, stride: IntTuple },
    #[error("a size is {size}, but a size cannot be negative")]
    NegativeSize { size: i64 },
    #[error("{given} leaves are more than the {MAX_RANK} that a layout may have")]
    TooManyLeaves { given: usize },
    #[error("{given} tuples and numbers are more than the {most} that a layout may nest")]
    TooNested { given: usize, most: usize },
    #[error("{what} is past the range of 64-bit integers")]
    Overflow { what: &'static str },
    #[error("the {what} has {}, but the layout has {have}", counted(*.need, "mode"))]
    Rank { what: &'static str, have: usize, need: usize },
    #[error(
        "the swizzle <{bits},{base},{shift}> moves bits onto themselves: the shift must be at least the number of bits"
    )]
    ShiftTooShort { bits: u32, base: u32, shift: i32 },
    #[error("the swizzle <{bits},{base},{shift}> has bits past the 62 that an address may have")]
    SwizzleTooWide { bits: u32, base: u32, shift: i32 },
    #[error("coordinate {coordinate} has address {address}, and a swizzle acts on addresses that are not negative")]
    NegativeAddress { coordinate: i64, address: i64 },
    #[error("{} for {}", match .given { 1 => "1 name is given".into(), given => format!("{given} names are given") }, counted(*.need, "mode"))]
    Names { given: usize, need: usize },
    #[error("the name {name:?} is given twice")]
    NameTwice { name: String },
    #[error("output {name} has size {size}, which is no power of two")]
    OutputSize { name: String, size: i64 },
    #[error("basis {basis:?} of {input} is not inside the outputs {outputs}")]
    BasisOutside { input: String, basis: Vec<i64>, outputs: String },
    #[error("the outputs {from} have {have} bits in all, and {to} {need}")]
    OutputBits { from: String, to: String, have: u32, need: u32 },
    #[error("{given} bits are more than the 62 that an address may have")]
    TooManyBits { given: usize },
    #[error("an element has {bytes} bytes, but accesses are analysed for elements of 1, 2, 4, 8 or 16 bytes")]
    ElementBytes { bytes: i64 },
    #[error("a vector cannot have {given} elements: their number must be a power of two")]
    VectorSize { given: i64 },
    #[error(
        "a thread cannot move {given} elements of {} at once: at most {most} {} contiguous, aligned and within 16 bytes",
        counted(*.bytes as usize, "byte"), if *.most == 1 { "is" } else { "are" }
    )]
    Vector { given: i64, bytes: i64, most: i64 },
    #[error(
        "the pattern is swizzled already, but the search is for the swizzle of a plain layout: leave the swizzle out"
    )]
    Swizzled,
    #[error("{what} takes more than the work limit of {limit} steps")]
    TooMuchWork { what: &'static str, limit: u64 },
    #[error("whether two coordinates have one address was not decided within the work limit")]
    Undecided,
}

/// `1 mode`, `2 modes`.
fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
