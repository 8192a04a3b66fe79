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
///     "blocks of 2 are filled by the strides below 3, which begins inside the one at 2: address 3 would be reached twice",
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
    /// What the strides below one fill with their complement, blocks of `block` addresses, is not a whole number of
    /// times in that stride: the block in which it begins holds its address already.
    #[error(
        "blocks of {block} are filled by the strides below {stride}, which begins inside the one at {}: address {stride} would \
         be reached twice", .stride - .stride % .block
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
    /// # Source
    /// Filling from 0 is forced: all of `0..s*d` must be tiled before a stride past it is used, where `s` and `d` are
    /// the size and the stride below. So a complement exists exactly if each such product divides the next stride.
    pub fn complement(&self, cotarget: i64) -> Result<Layout, NoComplement> {
        if self.is_empty() {
            return Err(NoComplement::Empty);
        }
        let (mut modes, mut filled): (Vec<Mode>, i64) = (Vec::new(), 1);
        for ((size, stride), _) in self.weighted() {
            if stride < 0 {
                return Err(NoComplement::Negative { stride });
            }
            if stride == 0 {
                continue;
            }
            if stride % filled != 0 {
                return Err(NoComplement::Overlap { block: filled, stride });
            }
            modes.push((stride / filled, filled));
            filled = stride.checked_mul(size).ok_or_else(too_large)?;
        }
        let times = cotarget.max(1) / filled + i64::from(cotarget.max(1) % filled > 0);
        modes.push((times, filled));
        Ok(Layout::of_modes(modes)?.coalesce())
    }
}

fn too_large() -> Error {
    Error::new("complement", Fault::Overflow { what: "what the layout spans" })
}
