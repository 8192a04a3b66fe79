//! Chains of movement operations.

use std::ops::Range;

use shapetracker::Movement;

use crate::movement::shape_after;
use crate::{Error, Outcome, Sharded};

/// How far a chain of operations got: the last question that was asked, and its answer.
///
/// ```
/// use shapetracker_shard::{Mesh, Placement, Sharded};
///
/// let tensor = Sharded::new([4, 4], Mesh::of_sizes([2])?, [Placement::Shard(1)])?;
/// let chain: shapetracker::Chain = "(4, 4).permute(1, 0).reshape(16).reshape(2, 8).permute(1, 0)".parse().unwrap();
/// let passage = tensor.through(chain.ops())?;
/// assert_eq!(passage.asked, 3..4);
/// assert_eq!(passage.outcome.free().unwrap().to_string(), "(8, 2) @ 2 : S(1)");
/// # Ok::<(), shapetracker_shard::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The tensor before the operations of `asked`.
    pub before: Sharded,
    /// The operations that the last question was about, by their places in the chain: one, or consecutive reshapes.
    pub asked: Range<usize>,
    /// The answer: the result of the whole chain where it is [`Outcome::Free`], else what stopped it.
    pub outcome: Outcome,
}

impl Sharded {
    /// Does a chain of operations, and stops at the first that is not free.
    ///
    /// Consecutive reshapes, squeezes and unsqueezes are one question, about the last shape: what is between them need not be
    /// said by placements. Between other operations it must be.
    ///
    /// ```
    /// use shapetracker::Movement;
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([4, 4], Mesh::of_sizes([2])?, [Placement::Shard(1)])?;
    /// // A chain for which PyTorch 2.15 returns wrong data: each device has half of every half row.
    /// let passage = tensor.through(&[Movement::Reshape([16].into()), Movement::Reshape([2, 8].into())])?;
    /// assert_eq!(passage.asked, 0..2);
    /// assert_eq!(passage.outcome.free().unwrap().placements(), [Placement::StridedShard { axis: 1, pieces: 2 }]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Sharded::apply`], of any operation of the chain, and wherever it stops.
    pub fn through(&self, ops: &[Movement]) -> Result<Passage, Error> {
        let mut shapes = vec![self.shape().to_vec()];
        for op in ops {
            shapes.push(shape_after(&shapes[shapes.len() - 1], op)?);
        }
        let mut passage = Passage { before: self.clone(), asked: 0..0, outcome: Outcome::Free { after: self.clone() } };
        while passage.asked.end < ops.len()
            && let Outcome::Free { after } = passage.outcome
        {
            let begin = passage.asked.end;
            let reshapes = ops[begin..].iter().take_while(|op| is_reshape(op)).count();
            let asked = begin..begin + reshapes.max(1);
            let outcome = if reshapes > 0 { after.viewed(&shapes[asked.end]) } else { after.apply(&ops[begin])? };
            passage = Passage { before: after, asked, outcome };
        }
        Ok(passage)
    }
}

fn is_reshape(op: &Movement) -> bool {
    matches!(op, Movement::Reshape(_) | Movement::Squeeze(_) | Movement::SqueezeAll | Movement::Unsqueeze(_))
}
