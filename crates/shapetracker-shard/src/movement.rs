//! Movement operations on a tensor that is spread over devices.

use shapetracker::{Movement, ShapeTracker};

use crate::{Check, Error, Outcome, Sharded, Undecided};

impl Sharded {
    /// Does one movement operation.
    pub fn apply(&self, op: &Movement) -> Result<Outcome, Error> {
        let _after = ShapeTracker::contiguous(self.shape())?.apply(op)?;
        Ok(Outcome::Undecided { why: Undecided { what: "not decided yet", limit: 0 } })
    }

    /// The same elements in row-major order under a new shape.
    pub fn reshape(&self, shape: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Reshape(shape.as_ref().into()))
    }

    /// The axes in a new order.
    pub fn permute(&self, axes: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Permute(axes.as_ref().into()))
    }

    /// Axes of size 1 repeated.
    pub fn expand(&self, sizes: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Expand(sizes.as_ref().into()))
    }

    /// Axes of size 1 taken away.
    pub fn squeeze(&self, axes: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Squeeze(axes.as_ref().into()))
    }

    /// A new axis of size 1.
    pub fn unsqueeze(&self, axis: i64) -> Result<Outcome, Error> {
        self.apply(&Movement::Unsqueeze(axis))
    }

    /// A half-open range of each axis.
    pub fn shrink(&self, ranges: impl AsRef<[(i64, i64)]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Shrink(ranges.as_ref().into()))
    }

    /// The named axes reversed.
    pub fn flip(&self, axes: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Flip(axes.as_ref().into()))
    }

    /// Masked elements around the tensor.
    pub fn pad(&self, pads: impl AsRef<[(i64, i64)]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Pad(pads.as_ref().into()))
    }

    /// Is this how the devices hold the elements under the claimed shape?
    pub fn check(&self, claimed: &Sharded) -> Result<Check, Error> {
        let _ = claimed;
        Ok(Check::Undecided(Undecided { what: "not decided yet", limit: 0 }))
    }

    /// A chain of operations.
    pub fn through(&self, ops: &[Movement]) -> Result<Passage, Error> {
        let _ = ops;
        Ok(Passage {
            before: self.clone(),
            asked: 0..0,
            outcome: Outcome::Undecided { why: Undecided { what: "not decided yet", limit: 0 } },
        })
    }

    /// How many elements must move.
    pub fn moved(&self, target: &Sharded) -> Result<Moved, Error> {
        let _ = target;
        Ok(Moved { elements: 0, most: 0, device: vec![0; self.mesh().rank()] })
    }

    /// The cheapest placement of the tensor under another shape that shards along the same mesh axes.
    pub fn cheapest(&self, shape: impl AsRef<[i64]>) -> Result<Option<(Sharded, Moved)>, Error> {
        let _ = shape;
        Ok(None)
    }

    /// A tensor with JAX's `PartitionSpec`: for each tensor axis the mesh axes that cut it, the major one first.
    pub fn from_spec(shape: impl AsRef<[i64]>, mesh: crate::Mesh, spec: &[&[&str]]) -> Result<Sharded, Error> {
        let _ = spec;
        let placements = vec![crate::Placement::Replicate; mesh.rank()];
        Sharded::new(shape, mesh, placements)
    }

    /// The `PartitionSpec`, where these placements are one.
    pub fn spec(&self) -> Option<Vec<Vec<String>>> {
        None
    }
}

/// How far a chain got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Passage {
    /// The tensor before the operations of `asked`.
    pub before: Sharded,
    /// The operations that the last question was about, as a range of places in the chain: one, or consecutive reshapes.
    pub asked: std::ops::Range<usize>,
    /// The answer to the last question: the result of the whole chain where it is free.
    pub outcome: Outcome,
}

/// How many elements must move.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// In all.
    pub elements: i128,
    /// The most that one device receives.
    pub most: i128,
    /// A device that receives the most.
    pub device: Vec<i64>,
}

impl Moved {
    /// The same in bytes of elements this wide.
    pub fn bytes(&self, width: u32) -> i128 {
        self.elements.saturating_mul(width.into())
    }
}
