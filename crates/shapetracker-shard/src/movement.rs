//! Movement operations on a tensor that is spread over devices.

use shapetracker::{Movement, ShapeTracker};

use crate::along::{self, Along};
use crate::error::Fault;
use crate::{Error, Outcome, Parts, Sharded, reshape, rows};

impl Sharded {
    /// Does one movement operation: is it free of communication, and how is the result placed then?
    ///
    /// A device does the same operation on its local tensor. An element that a pad makes is made where it is needed, so that
    /// it never moves. [`Placement::Partial`](crate::Placement::Partial) stays as it is.
    ///
    /// ```
    /// use shapetracker::Movement;
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([8, 4], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// let op = Movement::Transpose(0, 1);
    /// assert_eq!(tensor.apply(&op)?.free().unwrap().placements(), [Placement::Shard(1)]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Whatever [`ShapeTracker::apply`] refuses of the global tensor; [`Movement::AsStrided`], which is about one memory.
    pub fn apply(&self, op: &Movement) -> Result<Outcome, Error> {
        let shape = shape_after(self.shape(), op)?;
        Ok(match along::of(op, self.shape(), &shape)? {
            Some(alongs) => self.along(&alongs, &shape),
            None => self.viewed(&shape),
        })
    }

    /// The same elements in row-major order under a new shape; one size may be -1 and is inferred.
    ///
    /// The answer is complete: where some placements by [`Placement`](crate::Placement) say what the devices hold, they are
    /// found. Even shards take less than a microsecond, and nothing depends on the sizes or the number of devices, except
    /// under a [`Placement::StridedShard`](crate::Placement::StridedShard) that is cut again and does not fit.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([4, 6], Mesh::new([("tp", 2)])?, [Placement::Shard(1)])?;
    /// // A piece for each row, whose first half is on device 0.
    /// let flat = tensor.reshape([24])?.free().unwrap();
    /// assert_eq!(flat.placements(), [Placement::StridedShard { axis: 0, pieces: 4 }]);
    ///
    /// let Outcome::Moves { why } = tensor.reshape([6, 4])? else { panic!("3 places of a row, and 2 of the next") };
    /// assert_eq!(
    ///     why.to_string(),
    ///     "device (tp=1) holds the elements (0, 3) and (5, 1) of shape (6, 4), but not (0, 1), which device (tp=0) holds: \
    ///      whatever part of that shape has the first two has the third as well",
    /// );
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// A shape with another number of elements, and whatever else [`ShapeTracker::reshape`] refuses.
    pub fn reshape(&self, shape: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Reshape(shape.as_ref().into()))
    }

    /// The axes in a new order, which is always free.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([8, 4], Mesh::of_sizes([3])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.permute([1, 0])?.free().unwrap().to_string(), "(4, 8) @ 3 : S(1)");
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::permute`].
    pub fn permute(&self, axes: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Permute(axes.as_ref().into()))
    }

    /// Axes of size 1 repeated to the given sizes, which is always free.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([8, 1], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.expand([8, 4])?.free().unwrap().to_string(), "(8, 4) @ 2 : S(0)");
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::expand`].
    pub fn expand(&self, sizes: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Expand(sizes.as_ref().into()))
    }

    /// The named axes of size 1 taken away: a reshape.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([1, 8], Mesh::of_sizes([2])?, [Placement::Shard(1)])?;
    /// assert_eq!(tensor.squeeze([0])?.free().unwrap().to_string(), "(8,) @ 2 : S(0)");
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::squeeze`].
    pub fn squeeze(&self, axes: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Squeeze(axes.as_ref().into()))
    }

    /// A new axis of size 1 before the given one: a reshape.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([8], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.unsqueeze(0)?.free().unwrap().to_string(), "(1, 8) @ 2 : S(1)");
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::unsqueeze`].
    pub fn unsqueeze(&self, axis: i64) -> Result<Outcome, Error> {
        self.apply(&Movement::Unsqueeze(axis))
    }

    /// The half-open range `(begin, end)` of each axis. It never moves anything, but placements may not say what is left.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([8], Mesh::of_sizes([4])?, [Placement::Shard(0)])?;
    /// // Parts of 2, 2 and 1.
    /// assert_eq!(tensor.shrink([(0, 5)])?.free().unwrap().to_string(), "(5,) @ 4 : S(0)");
    /// // Parts of 1 and 2.
    /// assert!(matches!(tensor.shrink([(1, 4)])?, Outcome::Unsayable { .. }));
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::shrink`].
    pub fn shrink(&self, ranges: impl AsRef<[(i64, i64)]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Shrink(ranges.as_ref().into()))
    }

    /// The named axes reversed. It never moves anything, but of a sharded axis the devices then have the parts in the other
    /// order, which placements can hardly ever say.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
    ///
    /// let tensor = Sharded::new([8, 4], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.flip([1])?.free().unwrap(), tensor);
    /// assert!(matches!(tensor.flip([0])?, Outcome::Unsayable { .. }));
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::flip`].
    pub fn flip(&self, axes: impl AsRef<[i64]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Flip(axes.as_ref().into()))
    }

    /// New elements around the tensor, `(before, after)` per axis, each of which is made on whichever device is to hold it.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Outcome, Placement, Sharded};
    ///
    /// // Parts of 4 and 3.
    /// let tensor = Sharded::new([7], Mesh::of_sizes([2])?, [Placement::Shard(0)])?;
    /// assert_eq!(tensor.pad([(0, 1)])?.free().unwrap().to_string(), "(8,) @ 2 : S(0)");
    /// // Halves of 10 elements are cut elsewhere, whatever is new at the end.
    /// assert!(matches!(tensor.pad([(0, 3)])?, Outcome::Unsayable { .. }));
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`ShapeTracker::pad`].
    pub fn pad(&self, pads: impl AsRef<[(i64, i64)]>) -> Result<Outcome, Error> {
        self.apply(&Movement::Pad(pads.as_ref().into()))
    }

    /// The answer for a new shape of the same elements.
    pub(crate) fn viewed(&self, shape: &[i64]) -> Outcome {
        match reshape::placements(self, shape) {
            Err(why) => return Outcome::Undecided { why },
            Ok(Some(placements)) => {
                return Outcome::Free { after: Sharded::from_parts(shape, self.mesh(), placements) };
            }
            Ok(None) => {}
        }
        match rows::crossing(self, shape) {
            Err(why) => Outcome::Undecided { why },
            Ok(Some(why)) => Outcome::Moves { why },
            Ok(None) => Outcome::Unsayable { parts: Parts::of_view(self, shape) },
        }
    }

    /// The answer for axes that are cut, reversed, repeated or lengthened, each by itself.
    fn along(&self, alongs: &[Along], shape: &[i64]) -> Outcome {
        match along::placements(self, alongs, shape) {
            Err(why) => Outcome::Undecided { why },
            Ok(Some(placements)) => Outcome::Free { after: Sharded::from_parts(shape, self.mesh(), placements) },
            Ok(None) => Outcome::Unsayable { parts: Parts::of_axes(self, alongs, shape) },
        }
    }
}

/// The global shape after an operation.
pub(crate) fn shape_after(shape: &[i64], op: &Movement) -> Result<Vec<i64>, Error> {
    if let Movement::AsStrided(..) = op {
        return Err(Error::new("as_strided", Fault::Strided));
    }
    Ok(ShapeTracker::contiguous(shape)?.apply(op)?.shape().to_vec())
}
