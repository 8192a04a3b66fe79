//! JAX's partition specs.

use crate::digits::{Digit, digits, place};
use crate::error::Fault;
use crate::{Error, Mesh, Placement, Sharded};

impl Sharded {
    /// A tensor with a partition as JAX's `PartitionSpec` writes it: for each axis of the tensor the mesh axes that cut it,
    /// the major one first. A mesh axis that is not named replicates.
    ///
    /// Where the mesh axes of one tensor axis are not in the order of the mesh, the placements have strided shards.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Sharded};
    ///
    /// let mesh = Mesh::new([("dp", 2), ("tp", 4)])?;
    /// let tensor = Sharded::from_spec([16, 3], mesh.clone(), &[&["dp", "tp"], &[]])?;
    /// assert_eq!(tensor.to_string(), "(16, 3) @ dp=2, tp=4 : S(0), S(0)");
    /// let tensor = Sharded::from_spec([16, 3], mesh, &[&["tp", "dp"], &[]])?;
    /// assert_eq!(tensor.to_string(), "(16, 3) @ dp=2, tp=4 : SS(0, 4), S(0)");
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Not one entry for each axis, a name that the mesh does not have or that is used twice, a size that does not divide by
    /// the devices of its mesh axes; and those of [`Sharded::new`].
    pub fn from_spec(shape: impl AsRef<[i64]>, mesh: Mesh, spec: &[&[&str]]) -> Result<Self, Error> {
        let shape = shape.as_ref();
        let wrong = |fault| Err(Error::new("partition", fault));
        let mut before = Sharded::new(shape, mesh.clone(), vec![Placement::Replicate; mesh.rank()])?;
        if spec.len() != shape.len() {
            return wrong(Fault::SpecRank { rank: shape.len(), given: spec.len() });
        }
        let mut placements = before.placements().to_vec();
        let mut taken: Vec<Option<Digit>> = vec![None; mesh.rank()];
        let mut weight = 1;
        for (axis, (&size, names)) in shape.iter().zip(spec).enumerate().rev() {
            let mut left = size;
            for &name in *names {
                let Some(k) = mesh.axis(name) else {
                    return wrong(Fault::NoMeshAxis { name: name.into(), mesh: mesh.to_string() });
                };
                if let Some(second) = placements[k].axis() {
                    return wrong(Fault::MeshAxisTwice { name: name.into(), first: axis, second });
                }
                let devices = mesh.sizes()[k];
                if left % devices != 0 {
                    let sizes = names.iter().filter_map(|name| mesh.axis(name)).map(|k| mesh.sizes()[k].to_string());
                    let devices = sizes.collect::<Vec<_>>().join(" * ");
                    return wrong(Fault::SpecUneven { axis, size, devices, names: names.join(", ") });
                }
                left /= devices;
                placements[k] = Placement::Shard(axis);
                if devices > 1 && size > 0 {
                    taken[k] = Some(Digit { step: left.saturating_mul(weight), size: devices });
                }
            }
            weight = size.saturating_mul(weight);
        }
        before = Sharded::from_parts(shape, &mesh, placements);
        // Without elements there are no digits, and any order says the same.
        let placements = if before.numel() == 0 { None } else { place(&taken, &before, shape) };
        Ok(match placements {
            Some(placements) => Sharded::from_parts(shape, &mesh, placements),
            None => before,
        })
    }

    /// The partition as JAX's `PartitionSpec` writes it, for each axis of the tensor the names of the mesh axes that cut it,
    /// the major one first; `None` where these placements are none, because a shard is uneven or strided, a mesh axis holds
    /// partial sums, or there are no elements.
    ///
    /// ```
    /// use shapetracker_shard::{Mesh, Placement, Sharded};
    ///
    /// let mesh = Mesh::new([("dp", 2), ("tp", 4)])?;
    /// let strided = Placement::StridedShard { axis: 0, pieces: 4 };
    /// let tensor = Sharded::new([16, 3], mesh, [strided, Placement::Shard(0)])?;
    /// assert_eq!(tensor.spec(), Some(vec![vec!["tp", "dp"], vec![]]));
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn spec(&self) -> Option<Vec<Vec<&str>>> {
        let digits = digits(self)?;
        if self.placements().contains(&Placement::Partial) {
            return None;
        }
        let mut weight = 1;
        let mut spec = Vec::new();
        for (axis, &size) in self.shape().iter().enumerate().rev() {
            weight *= size;
            let (mut of_axis, single): (Vec<usize>, Vec<usize>) =
                self.cuts(axis).map(|(k, _)| k).partition(|&k| digits[k].is_some());
            of_axis.sort_by_key(|&k| std::cmp::Reverse(digits[k].map(|digit| digit.step)));
            // The digits must follow each other from the first of the axis on.
            let mut end = weight;
            for digit in of_axis.iter().filter_map(|&k| digits[k]) {
                if digit.step * digit.size != end {
                    return None;
                }
                end = digit.step;
            }
            spec.push(of_axis.into_iter().chain(single).map(|k| self.mesh().names()[k].as_str()).collect());
        }
        spec.reverse();
        Some(spec)
    }
}
