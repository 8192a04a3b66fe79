//! What a caller did wrong, as a sentence.

/// Why an expression cannot be made, evaluated or printed: the operation, and the numbers that do not fit.
///
/// `Display` writes a sentence for the person who made the mistake. Branch on [`Error::kind`] where a program must
/// decide; the sentence may be improved at any time.
///
/// ```
/// use indexpr::{Binary, ErrorKind, Graph};
///
/// let mut graph = Graph::new();
/// let x = graph.variable("x", 0..9)?;
/// let far = graph.int(i64::MAX);
/// let err = graph.binary(Binary::Add, x, far).unwrap_err();
/// assert_eq!(err.kind(), ErrorKind::Overflow);
/// assert_eq!(
///     err.to_string(),
///     "+: the value ranges from 9223372036854775807 to 9223372036854775815, past the range of 64-bit integers",
/// );
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{op}: {reason}")]
pub struct Error {
    op: &'static str,
    // Not called `source`: the sentence has it already, and a chain of causes would print it twice.
    reason: Box<Reason>,
}

/// The sort of mistake behind an [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A handle that is not of this graph.
    ForeignExpression,
    /// A list of values with the wrong number of entries.
    Count,
    /// A variable without values.
    EmptyRange,
    /// A variable is declared twice with different ranges.
    RangesDiffer,
    /// A name that no variable can have.
    Name,
    /// A divisor that is or can be zero.
    DivisionByZero,
    /// A number leaves the range of a signed 64-bit integer.
    Overflow,
    /// A condition where a number is needed.
    NotANumber,
    /// A number where a condition is needed.
    NotACondition,
    /// A value that its variable cannot have.
    ValueOutside,
    /// A text, or a list of values, that would be too long.
    TooLong,
    /// A loop or an access that a nest has not, or factors that do not make a loop's size.
    Loop,
    /// Numbers that a given width does not hold.
    Width,
}

impl Error {
    /// The sort of mistake, for programs that branch on it.
    ///
    /// ```
    /// let err = indexpr::Graph::new().variable("x", 5..5).unwrap_err();
    /// assert_eq!(err.kind(), indexpr::ErrorKind::EmptyRange);
    /// ```
    pub fn kind(&self) -> ErrorKind {
        match &*self.reason {
            Reason::Foreign => ErrorKind::ForeignExpression,
            Reason::ValueCount { .. } | Reason::ColumnLength { .. } | Reason::Extents { .. } => ErrorKind::Count,
            Reason::EmptyRange { .. } => ErrorKind::EmptyRange,
            Reason::RangesDiffer { .. } | Reason::Extent { .. } | Reason::LoopInExtent { .. } => {
                ErrorKind::RangesDiffer
            }
            Reason::Name { .. } => ErrorKind::Name,
            Reason::DivisorRange { .. } | Reason::DivisorZero => ErrorKind::DivisionByZero,
            Reason::ValueOverflow { .. } | Reason::Overflow { .. } => ErrorKind::Overflow,
            Reason::NotANumber => ErrorKind::NotANumber,
            Reason::NotACondition => ErrorKind::NotACondition,
            Reason::ValueOutside { .. } => ErrorKind::ValueOutside,
            Reason::Nest(kind, _) => *kind,
            Reason::TooLong { .. } | Reason::TooManyValues { .. } => ErrorKind::TooLong,
        }
    }

    /// The operation that was asked for: `//`, `variable`, `evaluate`.
    ///
    /// ```
    /// let err = indexpr::Graph::new().variable("x", 5..5).unwrap_err();
    /// assert_eq!(err.operation(), "variable");
    /// ```
    pub fn operation(&self) -> &'static str {
        self.op
    }

    /// The sentence without the operation in front, for whoever names the operation in another way.
    ///
    /// ```
    /// let err = indexpr::Graph::new().variable("x", 5..5).unwrap_err();
    /// assert_eq!(err.reason(), "the range 5..5 of `x` is empty");
    /// ```
    pub fn reason(&self) -> String {
        self.reason.to_string()
    }
}

impl Reason {
    /// The error of an operation that failed for this reason.
    #[cold]
    pub(crate) fn in_op(self, op: &'static str) -> Error {
        Error { op, reason: Box::new(self) }
    }
}

/// A reason with everything that its sentence needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Reason {
    #[error("the expression is not of this graph, but of another one")]
    Foreign,
    #[error("the range {begin}..{end} of `{name}` is empty")]
    EmptyRange { name: Box<str>, begin: i64, end: i64 },
    #[error("`{name}` is a variable already, with range {begin}..{end}")]
    RangesDiffer { name: Box<str>, begin: i64, end: i64 },
    #[error("{} cannot be the name of a variable: {why}", shapetracker_base::text::quoted(.name))]
    Name { name: Box<str>, why: &'static str },
    #[error("the divisor can be zero: it ranges from {low} to {high}; its variables need ranges that leave 0 out")]
    DivisorRange { low: i64, high: i64 },
    #[error("the divisor is zero")]
    DivisorZero,
    #[error("the value ranges from {low} to {high}, past the range of 64-bit integers")]
    ValueOverflow { low: i128, high: i128 },
    #[error("{what} is past the range of 64-bit integers")]
    Overflow { what: &'static str },
    #[error("a number is needed here, not a condition")]
    NotANumber,
    #[error("a condition is needed here, not a number")]
    NotACondition,
    #[error("takes one value per variable: the graph has {variables} but {given} {} given", were(*.given))]
    ValueCount { variables: usize, given: usize },
    #[error("the columns must be of one length: the first has {len} values, another one {given}")]
    ColumnLength { len: usize, given: usize },
    #[error("takes one extent per variable: the graph has {variables} variables but {given} {} given", were(*.given))]
    Extents { variables: usize, given: usize },
    #[error("`{name}` ranges over {begin}..{end}, which is not 0..{extent}")]
    Extent { name: Box<str>, begin: i64, end: i64, extent: i64 },
    #[error("how often a loop runs depends on `{name}`, which is a loop itself, and not on parameters alone")]
    LoopInExtent { name: Box<str> },
    #[error("{value} is not a value of `{name}`, whose range is {begin}..{end}")]
    ValueOutside { name: Box<str>, value: i64, begin: i64, end: i64 },
    #[error("written out, the expression is longer than {longest} bytes: what it shares would be repeated")]
    TooLong { longest: usize },
    #[error("{count} values do not fit into memory")]
    TooManyValues { count: i64 },
    /// What was wrong with a nest: written where it is found, so that a program without nests is linked without the sentences.
    #[error("{1}")]
    Nest(ErrorKind, Box<str>),
}

pub(crate) fn were(given: usize) -> &'static str {
    if given == 1 { "was" } else { "were" }
}
