//! What comes of an operation, and the evidence.

use std::fmt;

use crate::{Parts, Sharded};

/// What comes of a movement operation on a tensor that is spread over devices.
///
/// ```
/// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
///
/// let tensor = Sharded::new([4, 4], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
/// let Outcome::Free { after } = tensor.reshape([2, 8])? else { panic!("device 0 holds the first row") };
/// assert_eq!(after.to_string(), "(2, 8) @ 2 : S(0)");
/// # Ok::<(), shapetracker_shard::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// No element moves between devices, and this is how the result is placed: each device's local tensor has the same
    /// elements after the operation is done on it. Where several placements say the same, [`Placement::Shard`] comes before
    /// [`Placement::StridedShard`], and fewer pieces before more.
    ///
    /// [`Placement::Shard`]: crate::Placement::Shard
    /// [`Placement::StridedShard`]: crate::Placement::StridedShard
    Free {
        /// The result.
        after: Sharded,
    },
    /// No element would have to move, but no placements say what the devices hold: each holds a part of the result that has
    /// an index set along each axis, and the parts do not follow from each other as those of placements do. A tensor of one
    /// axis always has such parts.
    Unsayable {
        /// What the devices hold.
        parts: Parts,
    },
    /// Elements must move: some device holds what is no part of the result, whatever the words.
    Moves {
        /// A device and elements that show it.
        why: Witness,
    },
    /// The work limit was reached before an answer.
    Undecided {
        /// What was too much.
        why: Undecided,
    },
}

impl Outcome {
    /// The result, where the operation is free.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([4, 4], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.reshape([16])?.free().unwrap().placements(), [Placement::Shard(0)]);
    /// assert_eq!(tensor.reshape([2, 8])?.free().unwrap().shape(), [2, 8]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn free(self) -> Option<Sharded> {
        match self {
            Outcome::Free { after } => Some(after),
            _ => None,
        }
    }
}

/// A sentence: what follows, and why.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Free { after } => write!(f, "free of communication: {after}"),
            Outcome::Unsayable { parts } => write!(f, "free of communication, but no placements say it: {parts}"),
            Outcome::Moves { why } => write!(f, "elements must move: {why}"),
            Outcome::Undecided { why } => write!(f, "undecided: {why}"),
        }
    }
}

/// Whether what somebody claims of a tensor is so.
///
/// ```
/// use shapetracker_shard::{Check, Mesh, Placement, Sharded};
///
/// let mesh = Mesh::of_sizes([2])?;
/// let before = Sharded::new([4, 4], mesh.clone(), [Placement::Shard(0)])?;
/// let claimed = Sharded::new([2, 8], mesh, [Placement::Shard(0)])?;
/// assert_eq!(before.check(&claimed)?, Check::Proved);
/// # Ok::<(), shapetracker_shard::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Check {
    /// Every device holds exactly what is claimed, in the same order.
    Proved,
    /// A device holds something else.
    Refuted(Witness),
    /// The work limit was reached before an answer.
    Undecided(Undecided),
}

/// Evidence that anyone can check: a device, and elements that it holds or should hold.
///
/// `Display` is the sentence. In [`Outcome::Moves`] the two elements are held by the device, and a third is not that has, along
/// each axis of the result, the index of one of them: what has an index set along each axis has it, too. In
/// [`Check::Refuted`] the two elements are what the device holds under one local number, before and as is claimed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// The coordinates of the device in the mesh.
    pub device: Vec<i64>,
    /// The numbers of the two elements in the device's local tensor.
    pub local: [i64; 2],
    /// The positions of the two elements in the global tensor; nothing where the device holds, or should hold, no more.
    pub global: [Option<i64>; 2],
    /// In [`Outcome::Moves`], the position of the element that the device would need as well, and does not hold.
    pub missing: Option<i64>,
    /// The sentence.
    pub sentence: String,
}

/// The sentence.
impl fmt::Display for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What took more steps than are done; the same question is undecided on every machine.
///
/// Placements are always found, or proved not to exist, where shards are even, and where no [`StridedShard`] is cut again, neither
/// before the operation nor after it; most others are decided, too. The steps are about half a million, of ten nanoseconds.
///
/// ```
/// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
///
/// let strided = Placement::StridedShard { axis: 1, pieces: 2 };
/// let tensor = Sharded::new([7680, 2400], Mesh::of_sizes([100, 8])?, [strided, Placement::Shard(1)])?;
/// let Outcome::Undecided { why } = tensor.reshape([18_432_000])? else { panic!("6 million runs, and no rule") };
/// assert_eq!(why.to_string(), "looking for placements takes more than the work limit of 524288 steps");
/// # Ok::<(), shapetracker_shard::Error>(())
/// ```
///
/// [`StridedShard`]: crate::Placement::StridedShard
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undecided {
    pub(crate) what: &'static str,
    pub(crate) limit: u64,
}

/// A sentence.
impl fmt::Display for Undecided {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} takes more than the work limit of {} steps", self.what, self.limit)
    }
}
