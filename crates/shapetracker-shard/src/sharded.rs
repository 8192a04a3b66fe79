//! A tensor spread over a mesh.

use std::fmt;
use std::ops::Range;

use shapetracker::{Dims, View};
use shapetracker_base::text::tuple;

use crate::cut::Cut;
use crate::error::Fault;
use crate::{Error, Mesh, Placement};

/// A tensor spread over a mesh: its global shape, the mesh, and one placement for each mesh axis.
///
/// Every device holds some of the elements, as a local tensor with the axes of the global one. Elements are named by their
/// positions in the row-major order of the global tensor.
///
/// ```
/// use shapetracker_shard::{Mesh, Placement, Sharded};
///
/// let mesh = Mesh::new([("dp", 2)])?;
/// let tensor = Sharded::new([4, 4], mesh, [Placement::Shard(1)])?;
/// assert_eq!(tensor.local_shape(&[1]).as_deref(), Some(&[4, 2][..]));
/// let held: Vec<i64> = (0..8).filter_map(|local| tensor.holds(&[1], local)).collect();
/// assert_eq!(held, [2, 3, 6, 7, 10, 11, 14, 15]);
/// # Ok::<(), shapetracker_shard::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sharded {
    shape: Dims,
    mesh: Mesh,
    placements: Vec<Placement>,
}

impl Sharded {
    /// A tensor of this shape on a mesh, with one placement for each mesh axis.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// // Parts of 3, and nothing for the last: what `torch.chunk` and PyTorch's DTensor make of 9 elements on 4 devices.
    /// let uneven = Sharded::new([9], Mesh::of_sizes([4])?, [Placement::Shard(0)])?;
    /// let lengths: Vec<i64> = (0..4).map(|device| uneven.local_shape(&[device]).unwrap()[0]).collect();
    /// assert_eq!(lengths, [3, 3, 3, 0]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape that is none, or has more elements than `i64` counts; not one placement for each mesh axis; an axis that does
    /// not exist; a strided shard of no pieces.
    pub fn new(
        shape: impl AsRef<[i64]>,
        mesh: Mesh,
        placements: impl IntoIterator<Item = Placement>,
    ) -> Result<Self, Error> {
        let shape = shape.as_ref();
        View::contiguous(shape)?;
        let placements: Vec<Placement> = placements.into_iter().collect();
        let wrong = |fault| Err(Error::new("placement", fault));
        if placements.len() != mesh.rank() {
            return wrong(Fault::Placements { mesh: mesh.rank(), given: placements.len() });
        }
        for (placement, name) in placements.iter().zip(mesh.names()) {
            let Some((axis, pieces)) = placement.cut() else { continue };
            if axis >= shape.len() {
                return wrong(Fault::NoAxis { mesh: name.clone(), axis, rank: shape.len() });
            }
            if pieces < 1 {
                return wrong(Fault::NoPieces { mesh: name.clone(), axis, pieces });
            }
        }
        Ok(Sharded { shape: shape.into(), mesh, placements })
    }

    /// A tensor whose parts are known to fit.
    pub(crate) fn from_parts(shape: &[i64], mesh: &Mesh, placements: Vec<Placement>) -> Self {
        debug_assert_eq!(Sharded::new(shape, mesh.clone(), placements.iter().copied()).err(), None);
        Sharded { shape: shape.into(), mesh: mesh.clone(), placements }
    }

    /// The global shape.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    /// let tensor = Sharded::new([8, 4], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.shape(), [8, 4]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// The devices.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    /// let tensor = Sharded::new([8, 4], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.mesh().devices(), 2);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn mesh(&self) -> &Mesh {
        &self.mesh
    }

    /// The placements, one for each mesh axis.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    /// let tensor = Sharded::new([8, 4], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.placements(), [Placement::Shard(0)]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn placements(&self) -> &[Placement] {
        &self.placements
    }

    /// The number of elements of the global tensor.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    /// assert_eq!(Sharded::new([8, 4], Mesh::of_sizes([2])?, [Placement::Shard(0)])?.numel(), 32);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn numel(&self) -> i64 {
        if self.shape.contains(&0) { 0 } else { self.shape.iter().product() }
    }

    /// The shape of what a device holds; `None` where the mesh has no such device. The cost does not depend on any size.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let mesh = Mesh::new([("dp", 2), ("tp", 3)])?;
    /// let tensor = Sharded::new([8, 7], mesh, [Placement::Shard(0), Placement::Shard(1)])?;
    /// assert_eq!(tensor.local_shape(&[0, 2]).as_deref(), Some(&[4, 1][..]));
    /// assert_eq!(tensor.local_shape(&[2, 0]), None);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn local_shape(&self, device: &[i64]) -> Option<Vec<i64>> {
        self.mesh.has(device).then(|| (0..self.shape.len()).map(|axis| self.length(axis, device)).collect())
    }

    /// The position in the global tensor of an element that a device holds, by its number in the row-major order of the local
    /// tensor; `None` where the device holds no so many, or does not exist. The positions increase with the number. The cost
    /// does not depend on any size.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let strided = Placement::StridedShard { axis: 0, pieces: 2 };
    /// let tensor = Sharded::new([8], Mesh::of_sizes([2])?, [strided])?;
    /// let held: Vec<i64> = (0..).map_while(|local| tensor.holds(&[1], local)).collect();
    /// assert_eq!(held, [2, 3, 6, 7]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn holds(&self, device: &[i64], local: i64) -> Option<i64> {
        if !self.mesh.has(device) || local < 0 || self.numel() == 0 {
            return None;
        }
        let (mut rest, mut weight, mut position) = (local, 1, 0);
        for (axis, &size) in self.shape.iter().enumerate().rev() {
            let length = self.length(axis, device);
            if length == 0 {
                return None;
            }
            position += self.place(axis, device, rest % length) * weight;
            rest /= length;
            weight *= size;
        }
        (rest == 0).then_some(position)
    }

    /// The number that an element of the global tensor has in the local tensor of a device; `None` where the device does not
    /// hold it. The cost does not depend on any size.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([4, 4], Mesh::of_sizes([2])?, [Placement::Shard(1)])?;
    /// assert_eq!(tensor.local(&[1], 6), Some(2));
    /// assert_eq!(tensor.local(&[0], 6), None);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn local(&self, device: &[i64], position: i64) -> Option<i64> {
        if !self.mesh.has(device) || !(0..self.numel()).contains(&position) {
            return None;
        }
        let (mut rest, mut weight, mut local) = (position, 1, 0);
        for (axis, &size) in self.shape.iter().enumerate().rev() {
            local += self.rank_of(axis, device, rest % size)? * weight;
            rest /= size;
            weight *= self.length(axis, device);
        }
        Some(local)
    }

    /// Which devices hold an element: a coordinate for each mesh axis that shards, and nothing for one along which every
    /// device has it. `None` where there is no such element. The cost does not depend on any size.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let mesh = Mesh::new([("dp", 2), ("tp", 2)])?;
    /// let tensor = Sharded::new([4, 4], mesh, [Placement::Replicate, Placement::Shard(1)])?;
    /// assert_eq!(tensor.holders(6).as_deref(), Some(&[None, Some(1)][..]));
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn holders(&self, position: i64) -> Option<Vec<Option<i64>>> {
        if !(0..self.numel()).contains(&position) {
            return None;
        }
        // How long what is left of each axis is for the devices that have the element, and where in it the element is.
        let mut left: Vec<(i64, i64)> = vec![(0, 0); self.shape.len()];
        let mut rest = position;
        for (left, &size) in left.iter_mut().zip(&self.shape).rev() {
            *left = (size, rest % size);
            rest /= size;
        }
        let owner = |(mesh_axis, placement): (usize, &Placement)| {
            let (axis, pieces) = placement.cut()?;
            let cut = Cut { pieces, parts: self.mesh.sizes()[mesh_axis] };
            let (length, place) = left[axis];
            let owner = cut.owner(length, place);
            left[axis] = (cut.len(length, owner), cut.below(length, owner, place));
            Some(owner)
        };
        Some(self.placements.iter().enumerate().map(owner).collect())
    }

    /// How many elements at positions below this one a device holds.
    ///
    /// They are those with a smaller index along the first axis, then those with the same one, if the device has it, and a
    /// smaller index along the second, and so on; they are added up from the last axis on.
    pub(crate) fn below(&self, device: &[i64], position: i64) -> i64 {
        if position >= self.numel() {
            return self.held(device);
        }
        let (mut rest, mut inner, mut below) = (position, 1, 0);
        for (axis, &size) in self.shape.iter().enumerate().rev() {
            let (rank, held, length) = self.rank_from(axis, device, rest % size);
            below = rank * inner + if held { below } else { 0 };
            (rest, inner) = (rest / size, inner * length);
        }
        below
    }

    /// How many elements a device holds.
    pub(crate) fn held(&self, device: &[i64]) -> i64 {
        if self.numel() == 0 { 0 } else { (0..self.shape.len()).map(|axis| self.length(axis, device)).product() }
    }

    /// The same devices, with some neighbouring axes alone.
    pub(crate) fn block(&self, axes: Range<usize>) -> Sharded {
        let inside = |placement: &Placement| match placement.axis() {
            Some(axis) if axes.contains(&axis) => placement.on(axis - axes.start),
            _ => Placement::Replicate,
        };
        let placements = self.placements.iter().map(inside).collect();
        Sharded::from_parts(&self.shape[axes.clone()], &self.mesh, placements)
    }

    /// The placements that cut an axis, with their mesh axes.
    pub(crate) fn cuts(&self, axis: usize) -> impl DoubleEndedIterator<Item = (usize, Cut)> + '_ {
        self.placements.iter().enumerate().filter_map(move |(mesh_axis, placement)| {
            let (cut_axis, pieces) = placement.cut()?;
            (cut_axis == axis).then(|| (mesh_axis, Cut { pieces, parts: self.mesh.sizes()[mesh_axis] }))
        })
    }

    /// How much of an axis a device has.
    pub(crate) fn length(&self, axis: usize, device: &[i64]) -> i64 {
        self.cuts(axis).fold(self.shape[axis], |n, (mesh_axis, cut)| cut.len(n, device[mesh_axis]))
    }

    /// The index along an axis of what has this rank among a device's; the rank is below [`Sharded::length`].
    fn place(&self, axis: usize, device: &[i64], rank: i64) -> i64 {
        let mut n = self.shape[axis];
        let lists: Vec<(i64, i64, Cut)> = self
            .cuts(axis)
            .map(|(mesh_axis, cut)| {
                let j = device[mesh_axis];
                let list = (n, j, cut);
                n = cut.len(n, j);
                list
            })
            .collect();
        lists.into_iter().rev().fold(rank, |place, (n, j, cut)| cut.place(n, j, place))
    }

    /// How many smaller indices along an axis a device has, whether it has this one, and how many it has in all.
    pub(crate) fn rank_from(&self, axis: usize, device: &[i64], index: i64) -> (i64, bool, i64) {
        let (mut n, mut place, mut held) = (self.shape[axis], index, true);
        for (mesh_axis, cut) in self.cuts(axis) {
            let j = device[mesh_axis];
            held = held && cut.owner(n, place) == j;
            (n, place) = (cut.len(n, j), cut.below(n, j, place));
        }
        (place, held, n)
    }

    /// The rank that an index along an axis has among those of a device, if the device has it.
    fn rank_of(&self, axis: usize, device: &[i64], index: i64) -> Option<i64> {
        let (rank, held, _) = self.rank_from(axis, device, index);
        held.then_some(rank)
    }
}

/// The index of a position.
pub(crate) fn unravel(position: i64, shape: &[i64]) -> Dims {
    let mut index: Dims = shape.into();
    let mut rest = position;
    for i in index.iter_mut().rev() {
        (rest, *i) = (rest / *i, rest % *i);
    }
    index
}

/// Axes of two shapes with as many elements, one at least, between two weights that both shapes have; innermost first, and
/// with the smaller of the weights. All axes are in one of these blocks.
pub(crate) fn blocks(old: &[i64], new: &[i64]) -> Vec<(Range<usize>, Range<usize>, i64)> {
    let (mut blocks, mut weight) = (Vec::new(), 1);
    let (mut i, mut j) = (old.len(), new.len());
    while i > 0 || j > 0 {
        let (ends, mut sizes) = ((i, j), (1, 1));
        // The shorter of both goes on until they meet. Axes of size 1 belong to what is inside of them.
        while sizes.0 != sizes.1 || sizes == (1, 1) || (i > 0 && old[i - 1] == 1) || (j > 0 && new[j - 1] == 1) {
            if i > 0 && (sizes.0 < sizes.1 || j == 0 || old[i - 1] == 1 || (sizes.0 == sizes.1 && new[j - 1] != 1)) {
                i -= 1;
                sizes.0 *= old[i];
            } else if j > 0 {
                j -= 1;
                sizes.1 *= new[j];
            } else {
                break;
            }
        }
        blocks.push((i..ends.0, j..ends.1, weight));
        weight *= sizes.0;
    }
    blocks
}

/// `(8, 512) @ dp=2, tp=4 : S(0), S(1)`.
impl fmt::Display for Sharded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} @ {} : ", tuple(&self.shape), self.mesh)?;
        for (i, placement) in self.placements.iter().enumerate() {
            write!(f, "{}{placement}", if i > 0 { ", " } else { "" })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_between_common_weights() {
        let blocks = |old: &[i64], new: &[i64]| blocks(old, new);
        assert_eq!(blocks(&[4, 6, 5], &[24, 5]), [(2..3, 1..2, 1), (0..2, 0..1, 5)]);
        assert_eq!(blocks(&[1, 4, 1], &[2, 2, 1]), [(0..3, 0..3, 1)]);
        assert_eq!(blocks(&[1, 1], &[]), [(0..2, 0..0, 1)]);
        assert_eq!(blocks(&[6], &[1, 2, 3, 1]), [(0..1, 0..4, 1)]);
        assert_eq!(blocks(&[2, 1, 3], &[2, 3, 1, 1]), [(1..3, 1..4, 1), (0..1, 0..1, 3)]);
    }
}
