//! How many elements must move?

use std::ops::Range;

use crate::error::Fault;
use crate::reshape::{coordinates, find, placements};
use crate::rows::runs;
use crate::sharded::blocks;
use crate::work::Work;
use crate::{Error, Placement, Sharded, Undecided};

/// How many elements devices must receive: those that they need and do not hold, each counted for each device that needs it.
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
    /// The elements in all as bytes, where an element has so many.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let mesh = Mesh::of_sizes([2])?;
    /// let before = Sharded::new([4, 4], mesh.clone(), [Placement::Shard(1)])?;
    /// let target = Sharded::new([4, 4], mesh, [Placement::Shard(0)])?;
    /// assert_eq!(before.moved(&target)?.bytes(4), 32);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn bytes(&self, width: u32) -> i128 {
        self.elements.saturating_mul(width.into())
    }
}

impl Sharded {
    /// How many elements the devices must receive to hold them as `target` says, under another shape or the same one.
    ///
    /// No way of moving them takes less: each device gets what it needs and does not hold. The count is exact; it takes time
    /// in proportion to the devices, and to the runs of neighbouring positions that each holds between common weights of both
    /// shapes.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let mesh = Mesh::of_sizes([4])?;
    /// let before = Sharded::new([8, 8], mesh.clone(), [Placement::Shard(1)])?;
    /// let target = Sharded::new([8, 8], mesh, [Placement::Shard(0)])?;
    /// // Each device has a quarter of the 16 elements that it needs.
    /// let moved = before.moved(&target)?;
    /// assert_eq!((moved.elements, moved.most), (48, 12));
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Other meshes, another number of elements, partial sums that are added up on the way; and more work than is done, for
    /// which [`Error::is_limit`] answers.
    pub fn moved(&self, target: &Sharded) -> Result<Moved, Error> {
        const OP: &str = "moved";
        self.same_elements(OP, target)?;
        let partial = |tensor: &Sharded, k: usize| tensor.placements()[k] == Placement::Partial;
        if let Some(k) = (0..self.mesh().rank()).find(|&k| partial(self, k) != partial(target, k)) {
            return Err(Error::new(OP, Fault::PartialMoves { mesh: self.mesh().names()[k].clone() }));
        }
        let limit = |why: Undecided| Error::new(OP, Fault::TooMuchWork { what: why.what, limit: why.limit });
        self.count(target, &mut Work::of_runs("counting the elements")).map_err(limit)
    }

    /// A placement of the elements under another shape that shards along the same mesh axes, and to which the fewest of them
    /// move, with that number; `None` where the shape has no axes, or looking takes more work than is done.
    ///
    /// Where the reshape is free ([`Sharded::reshape`]) that is what it makes, and nothing moves. Else each mesh axis that shards is tried with a [`Placement::Shard`] of each axis, and with the placement that says what it
    /// did, where there is one. A target that gives the first device no more than it has now comes before one that
    /// gives it more: what leaves devices idle may be cheap, and is hardly wanted. Of several with the same number the first is
    /// taken, in the order of the axes.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([4, 6], Mesh::of_sizes([2])?, [Placement::Shard(1)])?;
    /// let (target, moved) = tensor.cheapest([6, 4])?.unwrap();
    /// assert_eq!(target.to_string(), "(6, 4) @ 2 : S(0)");
    /// assert_eq!(moved.elements, 12);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape with another number of elements.
    pub fn cheapest(&self, shape: impl AsRef<[i64]>) -> Result<Option<(Sharded, Moved)>, Error> {
        let op = shapetracker::Movement::Reshape(shape.as_ref().into());
        let shape = crate::movement::shape_after(self.shape(), &op)?;
        let mut work = Work::of_runs("counting the elements");
        Ok(self.cheapest_of(&shape, &mut work).unwrap_or_default())
    }

    fn cheapest_of(&self, shape: &[i64], work: &mut Work) -> Result<Option<(Sharded, Moved)>, Undecided> {
        let mesh = self.mesh().sizes();
        if let Some(placements) = placements(self, shape)? {
            let nothing = Moved { elements: 0, most: 0, device: vec![0; mesh.len()] };
            return Ok(Some((Sharded::from_parts(shape, self.mesh(), placements), nothing)));
        }
        let mut choices: Vec<Vec<Placement>> = Vec::new();
        for (k, &placement) in self.placements().iter().enumerate() {
            let mut choice = vec![placement];
            if placement.axis().is_some() {
                choice = (0..shape.len()).map(Placement::Shard).collect();
                if mesh[k] > 1 && self.numel() > 0 {
                    let word = coordinates(self.shape(), mesh, &self.placements()[..=k], work)?;
                    let same = find(&word, mesh, shape, &vec![Placement::Replicate; k], work)?;
                    choice.extend(same.filter(|same| !choice.contains(same)));
                }
            }
            choices.push(choice);
        }
        if choices.iter().any(Vec::is_empty) {
            return Ok(None);
        }
        let first = vec![0; mesh.len()];
        let now = self.held(&first);
        let mut best: Option<((bool, i128), (Sharded, Moved))> = None;
        let mut at = vec![0; choices.len()];
        loop {
            work.step()?;
            let placements = at.iter().zip(&choices).map(|(&i, choice)| choice[i]).collect();
            let target = Sharded::from_parts(shape, self.mesh(), placements);
            let moved = self.count(&target, work)?;
            let order = (target.held(&first) > now, moved.elements);
            if best.as_ref().is_none_or(|(known, _)| order < *known) {
                best = Some((order, (target, moved)));
            }
            let Some(k) = (0..at.len()).rev().find(|&k| at[k] + 1 < choices[k].len()) else {
                return Ok(best.map(|(_, best)| best));
            };
            at[k] += 1;
            at[k + 1..].fill(0);
        }
    }

    /// What a device holds in both is a product over the blocks between common weights. Along mesh axes that shard in neither,
    /// all devices are alike.
    fn count(&self, target: &Sharded, work: &mut Work) -> Result<Moved, Undecided> {
        let mesh = self.mesh().sizes();
        let shards = |k: usize| [self, target].iter().any(|tensor| tensor.placements()[k].axis().is_some());
        let alike: i128 = (0..mesh.len()).filter(|&k| !shards(k)).map(|k| i128::from(mesh[k])).product();
        let mut device = vec![0; mesh.len()];
        let mut moved = Moved { elements: 0, most: -1, device: device.clone() };
        if self.numel() == 0 {
            return Ok(Moved { most: 0, ..moved });
        }
        let mut blocks: Vec<Block> = blocks(self.shape(), target.shape())
            .into_iter()
            .map(|(old, new, _)| Block::new(self, target, old, new))
            .collect();
        loop {
            work.step()?;
            let mut both = 1;
            for block in &mut blocks {
                both *= block.both(&device, work)?;
            }
            let received = i128::from(target.held(&device) - both);
            moved.elements += received * alike;
            if received > moved.most {
                moved = Moved { most: received, device: device.clone(), ..moved };
            }
            let Some(k) = (0..mesh.len()).rev().find(|&k| shards(k) && device[k] + 1 < mesh[k]) else {
                return Ok(moved);
            };
            device[k] += 1;
            device[k + 1..].fill(0);
        }
    }
}

/// The axes of both shapes between two common weights.
struct Block {
    old: Sharded,
    new: Sharded,
    /// The mesh axes on which what a device has of the block depends, and what was counted for the last device.
    about: Vec<usize>,
    last: Option<(Vec<i64>, i64)>,
}

impl Block {
    fn new(before: &Sharded, target: &Sharded, old: Range<usize>, new: Range<usize>) -> Self {
        let (old, new) = (before.block(old), target.block(new));
        let shards = |k: &usize| [&old, &new].iter().any(|tensor| tensor.placements()[*k].axis().is_some());
        let about = (0..before.mesh().rank()).filter(shards).collect();
        Block { old, new, about, last: None }
    }

    /// How many elements of the block a device holds in both.
    fn both(&mut self, device: &[i64], work: &mut Work) -> Result<i64, Undecided> {
        let about: Vec<i64> = self.about.iter().map(|&k| device[k]).collect();
        if let Some((_, both)) = self.last.as_ref().filter(|(known, _)| *known == about) {
            return Ok(*both);
        }
        let both = self.count(device, work)?;
        self.last = Some((about, both));
        Ok(both)
    }

    /// The runs of one of both, and how many of their positions the other has: those of the one that has fewer.
    fn count(&self, device: &[i64], work: &mut Work) -> Result<i64, Undecided> {
        let (old, new) = (&self.old, &self.new);
        if old.held(device) == 0 || new.held(device) == 0 {
            return Ok(0);
        }
        let few = |tensor: &Sharded| tensor.held(device) / first_run(tensor, device);
        let (of, other) = if few(old) < few(new) { (old, new) } else { (new, old) };
        let runs = runs(of, device, work)?;
        Ok(runs.iter().map(|&(begin, end)| other.below(device, end) - other.below(device, begin)).sum())
    }
}

/// How long the first run of a device is; it holds something.
fn first_run(tensor: &Sharded, device: &[i64]) -> i64 {
    let shape = tensor.shape();
    match (0..shape.len()).rev().find(|&axis| tensor.length(axis, device) < shape[axis]) {
        None => tensor.numel(),
        Some(axis) => {
            let inner: i64 = shape[axis + 1..].iter().product();
            let begin = tensor.holds(device, 0).unwrap_or(0) / inner % shape[axis];
            let cuts: Vec<_> = tensor.cuts(axis).map(|(_, cut)| cut).collect();
            crate::word::run(&cuts, shape[axis], begin).1 * inner
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tensors with more runs than are counted, each with another placement of another shape.
    const HUGE: [[&str; 2]; 3] = [
        [
            "(8, 5, 32, 194843831107584) @ 1000000, 8, 4, 4 : R, SS(2, 3), S(1), SS(3, 1000)",
            "(2, 3, 259791774810112, 32, 5) @ 1000000, 8, 4, 4 : S(0), S(4), S(2), S(0)",
        ],
        ["(7, 3, 8, 999983) @ 1000000, 8, 5 : R, SS(3, 2), S(3)", "(5999898, 28) @ 1000000, 8, 5 : S(0), S(0), R"],
        [
            "(1048576, 1048576, 1000000, 1, 1) @ 2, 2, 5, 3, 1000 : SS(2, 1000), S(0), SS(3, 7), SS(3, 1000), R",
            "(5242880, 209715200000) @ 2, 2, 5, 3, 1000 : SS(1, 3), S(0), S(0), R, S(0)",
        ],
    ];

    #[test]
    fn very_many_runs_are_counted_before_they_are_made() {
        for [before, target] in HUGE.map(|pair| pair.map(|text| text.parse::<Sharded>().unwrap())) {
            let mut work = Work::of_runs("counting the elements");
            assert!(before.count(&target, &mut work).is_err(), "{before} to {target}");
            assert!(work.done() <= Work::LIMIT_OF_RUNS, "{before} to {target}: {}", work.done());
            let err = before.moved(&target).unwrap_err();
            assert!(err.is_limit(), "{err}");
        }
    }
}
