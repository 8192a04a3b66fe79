//! What somebody claims of a layout, so that a program or a test of theirs may rest on it.

use std::fmt;
use std::str::FromStr;

use super::Description;
use super::order::NAMES;

/// A claim about a layout, as a word: `dense`, the name of an order (`row-major`, `column-major`, `channels_last`,
/// `channels_last_3d` or `blocked`, and `contiguous` for the first), `injective` (no two elements share an address), `matrix` (BLAS takes
/// its last two axes), `tma` (a tensor map of CUDA describes it), `vector=4` (all elements can be read by vectors of so many), or a
/// format of cuDNN or oneDNN, such as `NHWC` or `aBcd8b`.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::{Claim, describe}};
///
/// let images = describe(&ShapeTracker::contiguous([8, 32, 32, 3])?.permute([0, 3, 1, 2])?, None);
/// assert_eq!(images.holds(&"channels_last".parse()?), Some(true));
/// assert_eq!(images.holds(&"row-major".parse()?), Some(false));
/// assert!("channels_first".parse::<Claim>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// Every address of a range is read by exactly one element.
    Dense,
    /// The elements are dense in the order of a name.
    Order(&'static str),
    /// No two elements share an address.
    Injective,
    /// The last two axes are a matrix for BLAS.
    Matrix,
    /// A tensor map of CUDA describes it.
    TensorMap,
    /// cuDNN or oneDNN call it so.
    Format(String),
    /// All elements can be read by vectors of so many, a power of two.
    Vector(i64),
}

const OF_CUDNN: [&str; 4] = ["NCHW", "NHWC", "NCDHW", "NDHWC"];

impl Claim {
    /// The topic of the [line](super::Line) that says why the claim holds or does not.
    ///
    /// ```
    /// assert_eq!(shapetracker::describe::Claim::Matrix.topic(), "BLAS");
    /// ```
    pub fn topic(&self) -> &'static str {
        match self {
            Claim::Dense | Claim::Order(_) => "order",
            Claim::Injective => "writing",
            Claim::Matrix => "BLAS",
            Claim::TensorMap => "TMA",
            Claim::Format(_) => "formats",
            Claim::Vector(_) => "vectors",
        }
    }
}

impl FromStr for Claim {
    type Err = String;

    fn from_str(text: &str) -> Result<Claim, String> {
        let wrong = || {
            let orders = NAMES.join(", ");
            format!(
                "`{text}` is no claim about a layout: those are dense, {orders}, injective, matrix, tma, vector=1, 2, 4, 8 or 16, and \
                 formats such as NHWC or aBcd8b"
            )
        };
        Ok(match text {
            "dense" => Claim::Dense,
            "contiguous" => Claim::Order(NAMES[0]),
            "injective" => Claim::Injective,
            "matrix" => Claim::Matrix,
            "tma" => Claim::TensorMap,
            _ => match (NAMES.iter().find(|order| **order == text), text.strip_prefix("vector=")) {
                (Some(order), _) => Claim::Order(order),
                (None, Some(length)) => {
                    let is_length = |length: &i64| length.count_ones() == 1 && (1..=16).contains(length);
                    Claim::Vector(length.parse().ok().filter(is_length).ok_or_else(wrong)?)
                }
                (None, None) if OF_CUDNN.contains(&text) || is_tag(text) => Claim::Format(text.into()),
                (None, None) => return Err(wrong()),
            },
        })
    }
}

impl fmt::Display for Claim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Claim::Dense => f.write_str("dense"),
            Claim::Order(order) => f.write_str(order),
            Claim::Injective => f.write_str("injective"),
            Claim::Matrix => f.write_str("matrix"),
            Claim::TensorMap => f.write_str("tma"),
            Claim::Format(name) => f.write_str(name),
            Claim::Vector(length) => write!(f, "vector={length}"),
        }
    }
}

/// Whether a text is a tag of oneDNN: a letter for each axis, the first letters of the alphabet, and then blocks.
fn is_tag(text: &str) -> bool {
    let outer: &str = text.split(|c: char| c.is_ascii_digit()).next().unwrap_or_default();
    let outer = if outer.len() < text.len() { outer } else { text };
    let mut letters: Vec<u8> = outer.bytes().map(|letter| letter.to_ascii_lowercase()).collect();
    letters.sort_unstable();
    !letters.is_empty()
        && letters.iter().zip(b'a'..=b'l').all(|(letter, expected)| *letter == expected)
        && letters.len() <= 12
        && text[outer.len()..].bytes().all(|letter| letter.is_ascii_digit() || letters.contains(&letter))
}

impl Description {
    /// Whether a claim holds; `None` where that was not decided, and for tensor maps where no bytes were given. The line of the claim's
    /// [topic](Claim::topic) has the reason.
    ///
    /// ```
    /// use shapetracker::{ShapeTracker, describe::{Claim, Memory, describe}};
    ///
    /// let rows = describe(&ShapeTracker::contiguous([64, 25])?, Some(Memory::of(2)));
    /// assert_eq!(rows.holds(&Claim::Matrix), Some(true));
    /// assert_eq!(rows.holds(&Claim::TensorMap), Some(false));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn holds(&self, claim: &Claim) -> Option<bool> {
        // Of a stack without an order it is not known whether its axes are blocks of some.
        let is_open = self.order.is_none() && self.tracker.views().len() > 1;
        match claim {
            Claim::Dense => self.is_dense(),
            Claim::Order("blocked") | Claim::Format(_) if is_open && self.is_dense() == Some(true) => None,
            Claim::Order(order) => self.is_dense().map(|is_dense| is_dense && self.is_named(order)),
            Claim::Injective => self.collision.as_ref().ok().map(Option::is_none),
            Claim::Matrix => Some(self.matrix.is_ok()),
            Claim::TensorMap => self.tensor_map.as_ref().map(Result::is_ok),
            Claim::Format(name) => self.is_dense().map(|_| self.formats.iter().any(|format| format.name == *name)),
            Claim::Vector(length) => self.vector.map(|vector| vector.elements >= *length),
        }
    }
}
