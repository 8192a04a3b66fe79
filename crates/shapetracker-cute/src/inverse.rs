//! Layouts that undo a layout.

use std::collections::HashMap;

use shapetracker::ShapeTracker;

use crate::layout::Mode;
use crate::{Error, Layout};

/// A right inverse: a layout that tells for each of the first values at which number it is.
///
/// ```
/// let layout: shapetracker_cute::Layout = "(3,4):(4,1)".parse()?;
/// let inverse = layout.right_inverse()?;
/// assert_eq!(inverse.layout.to_string(), "(4,3):(3,1)");
/// assert!(inverse.is_longest);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RightInverse {
    /// The inverse `R`: with the layout as `A`, `A(R(i)) = i` for all of its numbers `i`.
    pub layout: Layout,
    /// Whether it is proved that no right inverse has more numbers, because the layout does not have the next value.
    /// Otherwise that is open: which is the longest is not known for layouts that have a value twice or a negative stride.
    pub is_longest: bool,
}

/// Why no left inverse was found.
///
/// ```
/// use shapetracker_cute::{Layout, NoLeftInverse};
///
/// let layout: Layout = "(2,2):(1,0)".parse()?;
/// assert_eq!(layout.left_inverse(), Err(NoLeftInverse::Collision { coordinates: [0, 2], value: 0 }));
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoLeftInverse {
    /// Two numbers have the same value, of which a left inverse could return one alone.
    #[error("coordinates {} and {} both have value {value}: an inverse could not tell them apart", .coordinates[0], .coordinates[1])]
    Collision {
        /// The two numbers.
        coordinates: [i64; 2],
        /// The value of both.
        value: i64,
    },
    /// A value is negative, which no layout takes.
    #[error("coordinate {coordinate} has value {value}, and a layout takes no negative number")]
    Negative {
        /// A number that the layout takes.
        coordinate: i64,
        /// Its value.
        value: i64,
    },
    /// No two numbers have the same value, but the strides do not divide each other. Some of these layouts have a left inverse, as
    /// (2,2):(2,3) has (2,3):(1,1), and some have none, as (3,3):(2,3); for which it is so is not known.
    #[error(
        "no two coordinates have the same value, but whether a layout undoes strides that do not divide each other is open"
    )]
    Open,
    /// A number is past `i64`, or the question whether values are equal was not decided within the work limit.
    #[error(transparent)]
    Error(#[from] Error),
}

impl Layout {
    /// A layout `R` with `self(R(i)) = i` for the values `0, 1, ..`, as many as are found.
    ///
    /// Where no two numbers have the same value, and no stride is negative, it is the longest, and the answer says so. A
    /// longer one may exist otherwise: `(2,2):(-1,2)` has the values 0, -1, 2, 1, so that `2:3` takes 0 and 1 to their
    /// numbers, and the answer is `1:0`.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(2,3,2):(3,8,1)".parse()?;
    /// let inverse = layout.right_inverse()?;
    /// assert_eq!((inverse.layout.to_string(), inverse.is_longest), ("2:6".into(), true));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A number past `i64`.
    ///
    /// # Cost
    /// That of sorting the modes, whatever the sizes, and of the question whether the layout has the next value, which takes
    /// counted work.
    ///
    /// # Source
    /// Modes whose strides are 1, the size of the mode with stride 1, and so on are counted up by `R` one after the
    /// other. The strides of a layout that is injective, and has no negative ones, are filled from 0 like those of a
    /// complement, so that nothing longer is possible; and a value that the layout has not ends any right inverse.
    // Proved: `right_inverse_undoes`, `right_inverse_longest`, `right_inverse_answers` in `proofs/Cute.v`.
    pub fn right_inverse(&self) -> Result<RightInverse, Error> {
        if self.is_empty() {
            return Ok(RightInverse { layout: self.coalesce(), is_longest: true });
        }
        // From the largest stride down: the longest chain that begins with a mode, and the mode that it goes on with.
        let sorted = self.weighted();
        let mut longest: HashMap<i64, (i64, usize)> = HashMap::new();
        for (k, &((size, stride), _)) in sorted.iter().enumerate().rev().filter(|(_, mode)| mode.0.1 > 0) {
            let Some(next) = size.checked_mul(stride) else { continue };
            let end = longest.get(&next).map_or(next, |&(end, _)| end);
            let best = longest.entry(stride).or_insert((end, k));
            if end > best.0 {
                *best = (end, k);
            }
        }
        let (mut modes, mut reached): (Vec<Mode>, i64) = (Vec::new(), 1);
        while let Some(&(_, k)) = longest.get(&reached) {
            let ((size, stride), weight) = sorted[k];
            modes.push((size, weight));
            reached = size * stride;
        }
        let layout = Layout::of_modes(modes)?.coalesce();
        let tracker = ShapeTracker::from(self.reversed()?);
        let is_longest = tracker.readers(reached).next().is_none();
        Ok(RightInverse { layout, is_longest })
    }

    /// A layout `L` with `L(self(x)) = x` for all numbers `x` of this one, or the reason why none was found. The last
    /// mode of `L` goes on for ever.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(2,3):(8,1)".parse()?;
    /// assert_eq!(layout.left_inverse().unwrap().to_string(), "(8,2):(2,1)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NoLeftInverse::Collision`] and [`NoLeftInverse::Negative`] are proof that there is none;
    /// [`NoLeftInverse::Open`] where the strides do not divide each other.
    ///
    /// # Cost
    /// That of sorting the modes, whatever the sizes; where the strides do not divide each other, that of
    /// [`Layout::collision`].
    ///
    /// # Source
    /// With strides that divide each other and leave room for the sizes below, the entry of each mode is a digit of the
    /// value.
    // Proved: `left_inverse_undoes`, `left_inverse_answers`, `not_undone` in `proofs/Cute.v`.
    pub fn left_inverse(&self) -> Result<Layout, NoLeftInverse> {
        if self.is_empty() {
            return Ok(self.coalesce());
        }
        let sorted = self.weighted();
        if let Some(&((_, value), coordinate)) = sorted.first().filter(|(mode, _)| mode.1 < 0) {
            return Err(NoLeftInverse::Negative { coordinate, value });
        }
        let nests = |pair: &[(Mode, i64)]| {
            let ((size, stride), (_, next)) = (pair[0].0, pair[1].0);
            stride > 0 && next % stride == 0 && size <= next / stride
        };
        if !sorted.windows(2).all(nests) || sorted.first().is_some_and(|(mode, _)| mode.1 == 0) {
            if let Some(coordinates) = self.collision()? {
                let value = self.at(coordinates[0]).unwrap_or_default();
                return Err(NoLeftInverse::Collision { coordinates, value });
            }
            return Err(NoLeftInverse::Open);
        }
        let Some(&((last, end), last_weight)) = sorted.last() else { return Ok(self.coalesce()) };
        // Below the first stride no value lies; above each the next stride ends its digit, and above the last one
        // nothing. So there are as many numbers below the last digit as the last stride says, and where it would take
        // their number past `i64` it has fewer entries: the last mode goes on for ever.
        let below = sorted.first().map(|&((_, stride), _)| (stride, 0));
        let digits = sorted.windows(2).map(|pair| (pair[1].0.1 / pair[0].0.1, pair[0].1));
        let mut modes = Layout::of_modes(below.into_iter().chain(digits))?.coalesced();
        let last = last.min(i64::MAX / end);
        match modes.last_mut() {
            Some(before) if before.0.checked_mul(before.1) == Some(last_weight) => before.0 *= last,
            _ => modes.push((last, last_weight)),
        }
        Ok(Layout::of_modes(modes)?)
    }
}
