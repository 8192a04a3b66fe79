//! Which values a layout has, and how often.

use shapetracker::{Dims, ShapeTracker, View, ravel_index};

use crate::error::Fault;
use crate::layout::Mode;
use crate::{Error, Layout};

/// Why a layout is no bijection onto `0..size`.
///
/// ```
/// use shapetracker_cute::{Layout, NotBijective};
///
/// let layout: Layout = "(4,3):(1,5)".parse()?;
/// assert_eq!(layout.bijective(), Err(NotBijective::Gap { value: 4 }));
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotBijective {
    /// A value is negative.
    #[error("coordinate {coordinate} has value {value}, which is negative")]
    Negative {
        /// A number that the layout takes.
        coordinate: i64,
        /// Its value.
        value: i64,
    },
    /// Two numbers have the same value.
    #[error("coordinates {} and {} both have value {value}", .coordinates[0], .coordinates[1])]
    Collision {
        /// The two numbers.
        coordinates: [i64; 2],
        /// The value of both.
        value: i64,
    },
    /// No coordinate has a value that is less than the size.
    #[error("no coordinate has value {value}")]
    Gap {
        /// The least value that is missing.
        value: i64,
    },
}

impl Layout {
    /// The view whose row-major order is the colexicographic order of this layout: the leaves as axes, the last one
    /// first.
    pub(crate) fn reversed(&self) -> Result<View, Error> {
        let reversed = |values: &[i64]| values.iter().rev().copied().collect::<Dims>();
        View::new(reversed(&self.sizes), reversed(&self.strides), 0, None).map_err(Error::from)
    }

    /// Two numbers with the same value; nothing where no two have it, and the layout is injective.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(4,3):(2,3)".parse()?;
    /// let [a, b] = layout.collision()?.unwrap();
    /// assert!(a != b && layout.at(a) == layout.at(b));
    ///
    /// // Strides that interleave and never meet.
    /// assert_eq!("(2,3):(3,2)".parse::<Layout>()?.collision()?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_limit`] where it takes more work than is done.
    ///
    /// # Cost
    /// Microseconds for the layouts of programs, whatever the sizes: it is the question whether an equation in as many
    /// bounded integers as there are modes has a solution, for which work is counted and limited.
    pub fn collision(&self) -> Result<Option<[i64; 2]>, Error> {
        let view = self.reversed()?;
        let shape = Dims::from_slice(view.shape());
        let indices = ShapeTracker::from(view).collision().map_err(|_| Error::new("collision", Fault::Undecided))?;
        let number = |index: Dims| ravel_index(&index, &shape);
        Ok(indices.and_then(|[a, b]| Some([number(a)?, number(b)?])))
    }

    /// Whether no two numbers have the same value. [`Layout::collision`] has them where two do.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(3,4):(4,1)".parse()?;
    /// assert!(layout.is_injective()?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::is_limit`] where it takes more work than is done.
    ///
    /// # Cost
    /// As [`Layout::collision`].
    pub fn is_injective(&self) -> Result<bool, Error> {
        Ok(self.collision()?.is_none())
    }

    /// Whether the values are `0..size`, each once; or the reason why they are not.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "(3,(2,2)):(2,(1,6))".parse()?;
    /// assert_eq!(layout.bijective(), Ok(()));
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NotBijective`], with evidence.
    ///
    /// # Source
    /// Sums of multiples that are `0..n`, each once, are found by filling from 0: the least stride is 1, and each other
    /// one the product of the sizes of those below it.
    pub fn bijective(&self) -> Result<(), NotBijective> {
        if self.is_empty() {
            return Ok(());
        }
        let mut filled = 1;
        let sorted = self.weighted();
        for (k, &((size, stride), weight)) in sorted.iter().enumerate() {
            if stride < 0 {
                return Err(NotBijective::Negative { coordinate: weight, value: stride });
            }
            if stride > filled {
                return Err(NotBijective::Gap { value: filled });
            }
            if stride < filled {
                // The modes below have all values less than `filled`, and this one.
                let mut rest = stride;
                let below = sorted[..k].iter().map(|&((size, _), weight)| {
                    let entry = rest % size;
                    rest /= size;
                    entry * weight
                });
                return Err(NotBijective::Collision { coordinates: [below.sum(), weight], value: stride });
            }
            filled *= size;
        }
        Ok(())
    }

    /// The coalesced modes of a layout with coordinates by ascending stride, each with its weight: how many numbers
    /// further its next entry is.
    pub(crate) fn weighted(&self) -> Vec<(Mode, i64)> {
        let mut weight = 1;
        let weighted = self.coalesced().into_iter().map(|mode| {
            let here = weight;
            weight *= mode.0;
            (mode, here)
        });
        let mut sorted: Vec<_> = weighted.collect();
        sorted.sort_by_key(|&((_, stride), _)| stride);
        sorted
    }
}
