//! What a layout leaves out.

use crate::error::Fault;
use crate::layout::Mode;
use crate::{Error, Layout};

/// Why a layout has no complement: together with no set of numbers it reaches `0..n`, each number once, whatever `n`.
///
/// ```
/// use shapetracker_cute::{Layout, NoComplement};
///
/// let layout: Layout = "(2,3):(1,3)".parse()?;
/// let why = layout.complement(24).unwrap_err();
/// assert_eq!(why, NoComplement::Overlap { block: 2, stride: 3 });
/// assert_eq!(
///     why.to_string(),
///     "the smaller or equal strides already fill 0..2 and its repeats; stride 3 begins inside such a block, so address 3 would \
///      be reached twice",
/// );
/// # Ok::<(), shapetracker_cute::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoComplement {
    /// A stride is negative, so that an address is.
    #[error("a stride is {stride}, so that an address is negative, and 0 would not be the first one")]
    Negative {
        /// The stride.
        stride: i64,
    },
    /// What the strides that are smaller or equal fill with their complement, blocks of `block` addresses, is not a
    /// whole number of times in a stride: the block in which it begins holds its address already.
    #[error(
        "the smaller or equal strides already fill 0..{block} and its repeats; stride {stride} begins inside such a block, so \
         address {stride} would be reached twice"
    )]
    Overlap {
        /// The length of the blocks.
        block: i64,
        /// The stride.
        stride: i64,
    },
    /// The layout has no coordinate, so that nothing is reached at all.
    #[error("the layout has no coordinate, so that no complement makes it reach an address")]
    Empty,
    /// A size is past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}

impl Layout {
    /// The layout whose values, added to those of this one, are `0..n`, each once, where `n` is the least multiple of
    /// what this one spans that is at least `cotarget`; or the reason why there is none.
    ///
    /// Modes of stride 0 repeat addresses and are left out, as in CuTe. The complement is unique as a set and ordered
    /// by its strides. CuTe's condition is weaker: for strides that do not divide each other its answers overlap or
    /// have gaps.
    ///
    /// ```
    /// use shapetracker_cute::Layout;
    ///
    /// let layout: Layout = "(2,2):(1,6)".parse()?;
    /// assert_eq!(layout.complement(24).unwrap().to_string(), "(3,2):(2,12)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// [`NoComplement`], with evidence. A `cotarget` that is not positive asks for as little as one of 1.
    ///
    /// # Cost
    /// That of sorting the modes, whatever the sizes.
    ///
    /// # Source
    /// Filling from 0 is forced: all of `0..s*d` must be tiled before a stride past it is used, where `s` and `d` are
    /// the size and the stride below. So a complement exists exactly if each such product divides the next stride.
    // Proved: `complement_tiles`, `complement_exact`, `complement_unique` in `proofs/Cute.v`.
    pub fn complement(&self, cotarget: i64) -> Result<Layout, NoComplement> {
        let (mut modes, filled) = self.gaps()?;
        let cotarget = i128::from(cotarget.max(1));
        modes.push(((cotarget + filled - 1) / filled, filled));
        modes.retain(|mode| mode.0 > 1);
        Ok(layout_of(&modes)?.coalesce())
    }

    /// The complement for every `cotarget` at once, as a layout whose last mode goes on for ever; for numbers up to `last`.
    pub(crate) fn endless_complement(&self, last: i64) -> Result<Layout, NoComplement> {
        let (mut modes, filled) = self.gaps()?;
        // What follows the gaps may be past `i64` where no number gets there.
        if i128::from(last) >= modes.iter().map(|mode| mode.0).product() {
            modes.push((1, filled));
        }
        Ok(layout_of(&modes)?)
    }

    /// The modes that fill the gaps of the layout, and how many addresses are filled then. It may be past `i64` by the
    /// gap that would follow.
    fn gaps(&self) -> Result<(Vec<(i128, i128)>, i128), NoComplement> {
        if self.is_empty() {
            return Err(NoComplement::Empty);
        }
        let (mut modes, mut filled) = (Vec::new(), 1);
        for ((size, stride), _) in self.weighted() {
            if stride < 0 {
                return Err(NoComplement::Negative { stride });
            }
            if stride == 0 {
                continue;
            }
            if i128::from(stride) % filled != 0 {
                // What is below a stride is filled up to a number of `i64`, as all values of the layout are.
                return Err(NoComplement::Overlap { block: i64::try_from(filled).unwrap_or(i64::MAX), stride });
            }
            modes.push((i128::from(stride) / filled, filled));
            filled = i128::from(stride) * i128::from(size);
        }
        Ok((modes, filled))
    }
}

fn layout_of(modes: &[(i128, i128)]) -> Result<Layout, Error> {
    let too_large = || Error::new("complement", Fault::Overflow { what: "what the layout spans" });
    let fits = |&(size, stride): &(i128, i128)| Some((i64::try_from(size).ok()?, i64::try_from(stride).ok()?));
    Layout::of_modes(modes.iter().map(|mode| fits(mode).ok_or_else(too_large)).collect::<Result<Vec<Mode>, _>>()?)
}
