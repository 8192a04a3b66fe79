//! Why a question about an index map has no answer, or a no with what shows it.

use shapetracker_base::text::tuple;

use crate::Error;

/// Why a question about an index map has no answer.
///
/// ```
/// use shapetracker::{IndexMap, Unproved};
///
/// let square = IndexMap::parse("lambda i: (i * i % 1000003,)", &[("i", 0..1 << 30)])?;
/// let Err(err) = square.missed(&[0..1000003]) else { panic!() };
/// assert_eq!(err, Unproved::NotQuasiAffine { result: 0 });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unproved {
    /// The equations that the question comes down to were not solved within the work limit.
    #[error(
        "the question was not decided: its equations take more than the work limit, and there are too many indices to try \
         them all"
    )]
    WorkLimit,
    /// A result is no sum of multiples of variables and floors, so that there are no equations.
    #[error(
        "the question was not decided: result {result} is not quasi-affine (a sum of multiples of variables, and of floors \
         of such sums), and there are too many indices to try them all"
    )]
    NotQuasiAffine {
        /// Which result, counted from 0.
        result: usize,
    },
    /// A list of another length than the map has results or loops.
    #[error("{operation}: needs one {what} for each {of} of the map: {needed} in all, and {given} {} given", if *.given == 1 { "is" } else { "are" })]
    Count {
        /// The question.
        operation: &'static str,
        /// What is listed.
        what: &'static str,
        /// Results or loops.
        of: &'static str,
        /// How many of them the map has.
        needed: usize,
        /// How many there are in the list.
        given: usize,
    },
    /// What was asked does not fit the map, or a number is past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}

impl From<indexpr::Error> for Unproved {
    fn from(err: indexpr::Error) -> Self {
        Error::from(err).into()
    }
}

/// Why a map has no inverse, or none that was found.
///
/// ```
/// use shapetracker::{IndexMap, NotInverted};
///
/// let map = IndexMap::parse("lambda i: (i // 2,)", &[("i", 0..8)])?;
/// let Err(NotInverted::Collision { indices, image }) = map.inverse() else { panic!() };
/// assert!(indices.iter().all(|index| map.evaluate(index).as_ref() == Ok(&image)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotInverted {
    /// Two indices have the same image: there is no inverse.
    #[error(
        "the indices {} and {} both become {}: an inverse could not tell them apart",
        tuple(&.indices[0]), tuple(&.indices[1]), tuple(.image)
    )]
    Collision {
        /// The two indices.
        indices: [Vec<i64>; 2],
        /// The image of both.
        image: Vec<i64>,
    },
    /// No two indices have the same image, but no expressions are known that lead back.
    #[error(
        "no two indices have the same image, but no expressions were found that lead back from an image to its index"
    )]
    NoForm,
    /// It is not known whether two indices have the same image.
    #[error(transparent)]
    Unproved(#[from] Unproved),
}

impl From<Error> for NotInverted {
    fn from(err: Error) -> Self {
        Unproved::from(err).into()
    }
}

/// Why two maps are not composed.
///
/// ```
/// use shapetracker::{IndexMap, NotComposed};
///
/// let double = IndexMap::parse("lambda i: (i * 2,)", &[("i", 0..8)])?;
/// let Err(err) = double.after(&double) else { panic!() };
/// assert!(matches!(&err, NotComposed::Outside { index, image, .. } if image[0] == 2 * index[0] && image[0] >= 8));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotComposed {
    /// The map that is done first leads out of the box of the other one.
    #[error("index {} becomes {}, of which entry {result} is not in the range of its loop", tuple(.index), tuple(.image))]
    Outside {
        /// An index of the map that is done first.
        index: Vec<i64>,
        /// Its image.
        image: Vec<i64>,
        /// The entry of the image that is outside.
        result: usize,
    },
    /// It is not known whether all images are in the box, or the maps do not fit.
    #[error(transparent)]
    Unproved(#[from] Unproved),
}

impl From<Error> for NotComposed {
    fn from(err: Error) -> Self {
        Unproved::from(err).into()
    }
}
