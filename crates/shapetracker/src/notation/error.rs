//! What cannot be done of a chain that can be read, and where in the text it stands.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use shapetracker_base::text::{ParseError, Place, quoted, tuple};

use crate::Dims;
use crate::error::Error;

/// Why a chain that can be read cannot be done: the operation, its place in the text, and the reason.
///
/// `Display` writes the text with carets under the operation, then the reason.
///
/// ```
/// use shapetracker::{Chain, ErrorKind};
///
/// let chain: Chain = "(3, 2).permute(1, 0).reshape(4)".parse()?;
/// let err = chain.tracker().unwrap_err();
/// assert_eq!(err.op(), Some(1));
/// assert_eq!(err.error().map(|err| err.kind()), Some(ErrorKind::SizeMismatch));
/// assert_eq!(
///     err.to_string(),
///     "  (3, 2).permute(1, 0).reshape(4)\n\
///      \u{20}                      ^^^^^^^^^^\n\
///      reshape: shape (2, 3) has 6 elements, but shape (4,) needs 4",
/// );
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainError {
    place: Place,
    cause: Cause,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    /// The chain starts with an operation, or with an array of this name, and no base shape is known from elsewhere.
    NoBase(Option<Box<str>>),
    /// The base shape of the chain is not the one known from elsewhere.
    OtherBase(Box<[Dims; 2]>),
    /// The start of the chain cannot be.
    Start(Error),
    /// An operation of the chain cannot be done.
    Op(usize, Error),
}

impl ChainError {
    pub(super) fn new(text: Arc<str>, span: Range<usize>, cause: Cause) -> Self {
        ChainError { place: Place::new(text, span), cause }
    }

    /// Its name in JSON: that of the kind of the library's error, or `base` when the base shape is missing or another one.
    ///
    /// ```
    /// use shapetracker::Chain;
    ///
    /// let [there, elsewhere]: [Chain; 2] = ["(3, 2).flip(2)".parse()?, "flip(2)".parse()?];
    /// assert_eq!(there.tracker().unwrap_err().name(), "axis_out_of_range");
    /// assert_eq!(elsewhere.tracker().unwrap_err().name(), "base");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn name(&self) -> &'static str {
        self.error().map_or("base", |err| err.kind().name())
    }

    /// The place of the operation (or of the start) in the text, which shows itself with carets.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).flip(2)".parse()?;
    /// let err = chain.tracker().unwrap_err();
    /// assert_eq!(err.place().to_string(), "  (3, 2).flip(2)\n         ^^^^^^^");
    /// assert_eq!(err.to_string(), format!("{}\n{}", err.place(), err.message()));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn place(&self) -> &Place {
        &self.place
    }

    /// The reason, without the text and the carets.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "permute(1, 0)".parse()?;
    /// let err = chain.tracker().unwrap_err();
    /// assert_eq!(
    ///     err.message(),
    ///     "the chain starts with an operation, so that a base shape is missing: write it in front, as in `(2, 3).permute(1, 0)`",
    /// );
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn message(&self) -> String {
        match &self.cause {
            Cause::NoBase(Some(name)) => format!(
                "the shape of the array {} is not known: write it in place of the name, as in `(2, 3).permute(1, 0)`",
                quoted(name)
            ),
            Cause::NoBase(None) => "the chain starts with an operation, so that a base shape is missing: \
                              write it in front, as in `(2, 3).permute(1, 0)`"
                .into(),
            Cause::OtherBase(shapes) => {
                let [chain, base] = &**shapes;
                format!("the chain starts from shape {}, but the base has shape {}", tuple(chain), tuple(base))
            }
            Cause::Start(err) | Cause::Op(_, err) => err.to_string(),
        }
    }

    /// The bytes of the operation (or of the start) in the text of the chain.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2) . permute(1, 1)".parse()?;
    /// assert_eq!(chain.tracker().unwrap_err().span(), 9..22);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn span(&self) -> Range<usize> {
        self.place.span()
    }

    /// Which operation could not be done, counted from 0; `None` when it is the start of the chain.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, -2).permute(1, 0)".parse()?;
    /// assert_eq!(chain.tracker().unwrap_err().op(), None);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn op(&self) -> Option<usize> {
        match self.cause {
            Cause::Op(op, _) => Some(op),
            _ => None,
        }
    }

    /// The library's error behind this one; `None` when the base shape is missing or another one.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).flip(2)".parse()?;
    /// let kind = chain.tracker().unwrap_err().error().map(|err| err.kind());
    /// assert_eq!(kind, Some(shapetracker::ErrorKind::AxisOutOfRange));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn error(&self) -> Option<&Error> {
        match &self.cause {
            Cause::Start(err) | Cause::Op(_, err) => Some(err),
            _ => None,
        }
    }
}

impl fmt::Display for ChainError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}\n{}", self.place, self.message())
    }
}

impl std::error::Error for ChainError {}

impl From<ChainError> for ParseError {
    fn from(err: ChainError) -> Self {
        ParseError::placed(err.message(), err.place)
    }
}
