//! What devices hold of a tensor where no placements say it.

use std::fmt;

use indexpr::text::tuple;
use shapetracker::ShapeTracker;

use crate::Sharded;

/// What the devices hold of the result of an operation that moves nothing and that no placements say: each has an index set
/// along each axis.
///
/// An element of the result is one of the tensor before the operation, which [`Parts::before`] places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    pub(crate) before: Sharded,
    pub(crate) shape: Vec<i64>,
    pub(crate) view: Option<ShapeTracker>,
}

impl Parts {
    /// The tensor before the operation: its placements say who holds what.
    pub fn before(&self) -> &Sharded {
        &self.before
    }

    /// The global shape of the result.
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    /// Where the parts of all devices have one shape and follow from each other by strides: a tracker over the mesh axes and
    /// the axes of the local tensor, whose addresses are the positions in the result.
    pub fn view(&self) -> Option<&ShapeTracker> {
        self.view.as_ref()
    }
}

/// What the devices hold, in words.
impl fmt::Display for Parts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "each device holds a part of {}", tuple(&self.shape))
    }
}
