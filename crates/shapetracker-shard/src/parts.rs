//! What devices hold of a result where no placements say it.

use std::fmt;

use shapetracker::ShapeTracker;
use shapetracker_base::text::tuple;

use crate::Sharded;
use crate::along::Along;
use crate::digits;
use crate::work::Work;

/// What the devices hold of the result of an operation that moves nothing and that no placements say: each has an index set
/// along each axis, so that it has a local tensor with the axes of the result.
///
/// ```
/// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
///
/// // 12 elements in 4 parts of 3, seen as 2 rows of 6: two halves of each row.
/// let tensor = Sharded::new([12], Mesh::of_sizes([4])?, [Placement::Shard(0)])?;
/// let Outcome::Unsayable { parts } = tensor.reshape([2, 6])? else { panic!("a device is one half of a row") };
/// assert_eq!(parts.local_shape(&[3]).as_deref(), Some(&[1, 3][..]));
///
/// // The axes of the view are the mesh axis, then those of the local tensor.
/// let view = parts.view().unwrap();
/// assert_eq!(view.shape(), [4, 1, 3]);
/// assert_eq!(view.address(&[3, 0, 2]), Some(11));
/// # Ok::<(), shapetracker_shard::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    before: Sharded,
    shape: Vec<i64>,
    /// Where the axes of the result come from, one by one; nothing where they are a view of all elements.
    alongs: Option<Vec<Along>>,
    view: Option<ShapeTracker>,
}

impl Parts {
    pub(crate) fn of_view(before: &Sharded, shape: &[i64]) -> Self {
        let view = digits::digits(before).and_then(|digits| digits::parts(&digits, before, shape));
        Parts { before: before.clone(), shape: shape.to_vec(), alongs: None, view }
    }

    pub(crate) fn of_axes(before: &Sharded, alongs: &[Along], shape: &[i64]) -> Self {
        Parts { before: before.clone(), shape: shape.to_vec(), alongs: Some(alongs.to_vec()), view: None }
    }

    /// The tensor before the operation, whose placements say which device has which elements.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([12], Mesh::of_sizes([4])?, [Placement::Shard(0)])?;
    /// let Outcome::Unsayable { parts } = tensor.reshape([2, 6])? else { panic!() };
    /// assert_eq!(parts.before(), &tensor);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn before(&self) -> &Sharded {
        &self.before
    }

    /// The global shape of the result.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([12], Mesh::of_sizes([4])?, [Placement::Shard(0)])?;
    /// let Outcome::Unsayable { parts } = tensor.reshape([2, 6])? else { panic!() };
    /// assert_eq!(parts.shape(), [2, 6]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// A tracker over the mesh axes and the axes of the local tensor, whose addresses are positions in the result; where the
    /// shards are even and the operation is a reshape.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([12], Mesh::of_sizes([4])?, [Placement::Shard(0)])?;
    /// let Outcome::Unsayable { parts } = tensor.reshape([2, 6])? else { panic!() };
    /// assert_eq!(parts.view().unwrap().to_string(), "(4, 1, 3):(3, 0, 1)");
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn view(&self) -> Option<&ShapeTracker> {
        self.view.as_ref()
    }

    /// How many of the old elements a device holds along each axis of the result; zeros where it holds none. What a pad makes
    /// is held by nobody yet. `None` where the mesh has no such device, or counting takes more steps than are done, which
    /// only steps along a sharded axis do.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([8], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// let Outcome::Unsayable { parts } = tensor.shrink([(0, 6)])? else { panic!("4 elements and 2") };
    /// assert_eq!(parts.local_shape(&[1]), Some(vec![2]));
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn local_shape(&self, device: &[i64]) -> Option<Vec<i64>> {
        self.before.local_shape(device)?;
        let mut work = Work::new("counting");
        let lengths = match &self.alongs {
            Some(alongs) => {
                alongs.iter().map(|along| self.length(along, device, &mut work)).collect::<Option<Vec<i64>>>()?
            }
            None => self.row_lengths(device)?,
        };
        Some(if lengths.contains(&0) { vec![0; lengths.len()] } else { lengths })
    }

    /// How many valid indices along an axis come from those that a device has.
    fn length(&self, along: &Along, device: &[i64], work: &mut Work) -> Option<i64> {
        let (begin, end) = along.valid;
        let Some(axis) = along.axis else { return Some(end - begin) };
        if begin >= end {
            return Some(0);
        }
        let [first, last] = [begin, end - 1].map(|i| along.begin + along.step * i);
        let (low, high) = (first.min(last), first.max(last));
        let below = |index: i64| {
            let (rank, held, _) = self.before.rank_from(axis, device, index);
            (rank, held)
        };
        match along.step {
            0 => Some(if below(low).1 { end - begin } else { 0 }),
            1 | -1 => Some(below(high).0 + i64::from(below(high).1) - below(low).0),
            step => {
                let mut length = 0;
                for k in 0..end - begin {
                    work.step().ok()?;
                    length += i64::from(below(low + step.abs() * k).1);
                }
                Some(length)
            }
        }
    }

    /// A device's elements in its first row of a weight are the product of its lengths along the axes inside.
    fn row_lengths(&self, device: &[i64]) -> Option<Vec<i64>> {
        let Some(first) = self.before.holds(device, 0) else { return Some(vec![0; self.shape.len()]) };
        let (mut weight, mut inner) = (1, 1);
        let mut lengths = Vec::new();
        for &size in self.shape.iter().rev() {
            weight *= size;
            let row = first / weight * weight;
            let held = self.before.below(device, row + weight) - self.before.below(device, row);
            lengths.push(held / inner);
            inner = held;
        }
        lengths.reverse();
        Some(lengths)
    }
}

/// What the devices hold, in words.
impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = vec![0; self.before.mesh().rank()];
        write!(f, "each device holds a part of shape {}", tuple(&self.shape))?;
        if let Some(local) = self.local_shape(&first) {
            write!(f, ", the first one of shape {}", tuple(&local))?;
        }
        match &self.view {
            Some(view) => write!(f, ": over the mesh axes and the local ones, the positions are {view}"),
            None => Ok(()),
        }
    }
}
