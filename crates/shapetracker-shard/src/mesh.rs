//! Devices in a grid.

use std::fmt;
use std::sync::Arc;

use shapetracker::MAX_RANK;

use crate::Error;
use crate::error::Fault;

/// A grid of devices whose axes have names: every device has one coordinate along each mesh axis.
///
/// Each axis has at least one device, the names differ, and the number of devices fits `i64`. A mesh without axes is one
/// device. A copy shares its names.
///
/// ```
/// use shapetracker_shard::Mesh;
///
/// let mesh = Mesh::new([("dp", 2), ("tp", 4)])?;
/// assert_eq!(mesh.devices(), 8);
/// assert_eq!(mesh.to_string(), "dp=2, tp=4");
/// # Ok::<(), shapetracker_shard::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Mesh(Arc<Axes>);

#[derive(Debug, PartialEq, Eq, Hash)]
struct Axes {
    names: Vec<String>,
    sizes: Vec<i64>,
    /// Whether the names are the numbers of the axes, as of a mesh that was made of sizes.
    unnamed: bool,
}

impl Mesh {
    /// A mesh from the name and the number of devices of each axis.
    ///
    /// ```
    /// use shapetracker_shard::Mesh;
    ///
    /// let err = Mesh::new([("tp", 2), ("tp", 4)]).unwrap_err();
    /// assert_eq!(err.to_string(), "mesh: two mesh axes are named tp");
    /// ```
    ///
    /// # Errors
    /// An axis without devices or without a name, a name that two axes have, more than
    /// [`MAX_RANK`](shapetracker::MAX_RANK) axes, more devices than `i64` counts.
    pub fn new<N: Into<String>>(axes: impl IntoIterator<Item = (N, i64)>) -> Result<Self, Error> {
        let (names, sizes): (Vec<String>, Vec<i64>) = axes.into_iter().map(|(name, size)| (name.into(), size)).unzip();
        let wrong = |fault| Err(Error::new("mesh", fault));
        if names.len() > MAX_RANK {
            return wrong(Fault::TooManyAxes { given: names.len() });
        }
        for (axis, name) in names.iter().enumerate() {
            if name.is_empty() {
                return wrong(Fault::NoName { axis });
            }
            if names[..axis].contains(name) {
                return wrong(Fault::NameTwice { name: name.clone() });
            }
        }
        if let Some(axis) = sizes.iter().position(|&size| size < 1) {
            return wrong(Fault::NoDevices { name: names[axis].clone(), size: sizes[axis] });
        }
        if sizes.iter().try_fold(1, |devices: i64, &size| devices.checked_mul(size)).is_none() {
            return wrong(Fault::TooManyDevices { sizes });
        }
        let unnamed = names.iter().enumerate().all(|(axis, name)| *name == axis.to_string());
        Ok(Mesh(Arc::new(Axes { names, sizes, unnamed })))
    }

    /// A mesh from the number of devices of each axis; the axes are named by their numbers.
    ///
    /// ```
    /// let mesh = shapetracker_shard::Mesh::of_sizes([2, 4])?;
    /// assert_eq!(mesh.names(), ["0", "1"]);
    /// assert_eq!(mesh.to_string(), "2, 4");
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Mesh::new`].
    pub fn of_sizes(sizes: impl AsRef<[i64]>) -> Result<Self, Error> {
        Mesh::new(sizes.as_ref().iter().enumerate().map(|(axis, &size)| (axis.to_string(), size)))
    }

    /// The names of the axes.
    ///
    /// ```
    /// assert_eq!(shapetracker_shard::Mesh::new([("dp", 2)])?.names(), ["dp"]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn names(&self) -> &[String] {
        &self.0.names
    }

    /// The number of devices along each axis.
    ///
    /// ```
    /// assert_eq!(shapetracker_shard::Mesh::new([("dp", 2), ("tp", 4)])?.sizes(), [2, 4]);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn sizes(&self) -> &[i64] {
        &self.0.sizes
    }

    /// The number of axes.
    ///
    /// ```
    /// assert_eq!(shapetracker_shard::Mesh::of_sizes([2, 4])?.rank(), 2);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn rank(&self) -> usize {
        self.0.sizes.len()
    }

    /// The number of devices.
    ///
    /// ```
    /// assert_eq!(shapetracker_shard::Mesh::of_sizes([2, 4])?.devices(), 8);
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn devices(&self) -> i64 {
        self.0.sizes.iter().product()
    }

    /// The number of the axis of a name.
    ///
    /// ```
    /// assert_eq!(shapetracker_shard::Mesh::new([("dp", 2), ("tp", 4)])?.axis("tp"), Some(1));
    /// # Ok::<(), shapetracker_shard::Error>(())
    /// ```
    pub fn axis(&self, name: &str) -> Option<usize> {
        self.0.names.iter().position(|known| known == name)
    }

    /// Whether these are the coordinates of a device.
    pub(crate) fn has(&self, device: &[i64]) -> bool {
        device.len() == self.rank() && device.iter().zip(self.sizes()).all(|(c, size)| (0..*size).contains(c))
    }

    /// A device as sentences name it: `(dp=1, tp=0)`, or `(1, 0)` where the axes have no names.
    pub(crate) fn device(&self, device: &[i64]) -> String {
        let named = |(name, c): (&String, &i64)| if self.0.unnamed { c.to_string() } else { format!("{name}={c}") };
        let coordinates: Vec<String> = self.names().iter().zip(device).map(named).collect();
        format!("({})", coordinates.join(", "))
    }
}

/// The axes with their numbers of devices, `dp=2, tp=4`; only the numbers where the mesh was made of sizes.
impl fmt::Display for Mesh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (axis, (name, size)) in self.names().iter().zip(self.sizes()).enumerate() {
            f.write_str(if axis > 0 { ", " } else { "" })?;
            if self.0.unnamed { write!(f, "{size}")? } else { write!(f, "{name}={size}")? }
        }
        Ok(())
    }
}
