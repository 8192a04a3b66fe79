//! What one mesh axis does to a tensor.

use std::fmt;

/// What one mesh axis does to a tensor: which of its elements a device gets by its coordinate along that axis.
///
/// The placements of a tensor apply in the order of the mesh axes, each to what the earlier ones left of its tensor axis.
/// The text form is that of PyTorch's DTensor, shortened: `R`, `S(0)`, `SS(0, 4)`, `P`.
///
/// ```
/// use shapetracker_shard::Placement;
///
/// assert_eq!(Placement::StridedShard { axis: 0, pieces: 4 }.to_string(), "SS(0, 4)");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// Every device has everything.
    Replicate,
    /// The axis is cut into parts of `ceil(n / m)`, where `n` is what is left of it and `m` the number of devices: device
    /// `j` has part `j`. The last part may be shorter, and further devices then have nothing.
    Shard(usize),
    /// The axis is cut into so many pieces, of `ceil(n / pieces)`, and each piece as [`Placement::Shard`] does: device `j`
    /// has part `j` of every piece, in their order. With one piece it is [`Placement::Shard`].
    ///
    /// Several of them on one axis are read in the order of the mesh axes, each cutting the list of places that the earlier
    /// ones left. PyTorch's `_StridedShard(axis, split_factor=pieces)` on one mesh axis is this.
    StridedShard {
        /// The tensor axis.
        axis: usize,
        /// Into how many pieces it is cut before each is spread over the devices.
        pieces: i64,
    },
    /// Every device has a summand of everything: the values are to be added up. No view touches it.
    Partial,
}

impl Placement {
    /// The tensor axis that is spread over the devices, if one is.
    ///
    /// ```
    /// use shapetracker_shard::Placement;
    ///
    /// assert_eq!(Placement::Shard(1).axis(), Some(1));
    /// assert_eq!(Placement::Replicate.axis(), None);
    /// ```
    pub fn axis(self) -> Option<usize> {
        match self {
            Placement::Shard(axis) | Placement::StridedShard { axis, .. } => Some(axis),
            Placement::Replicate | Placement::Partial => None,
        }
    }

    /// [`Placement::Shard`] where there is one piece, else [`Placement::StridedShard`].
    ///
    /// ```
    /// use shapetracker_shard::Placement;
    ///
    /// assert_eq!(Placement::of_pieces(2, 1), Placement::Shard(2));
    /// assert_eq!(Placement::of_pieces(2, 3), Placement::StridedShard { axis: 2, pieces: 3 });
    /// ```
    pub fn of_pieces(axis: usize, pieces: i64) -> Self {
        if pieces == 1 { Placement::Shard(axis) } else { Placement::StridedShard { axis, pieces } }
    }

    /// The axis, and the number of pieces into which it is cut before each is spread over the devices.
    pub(crate) fn cut(self) -> Option<(usize, i64)> {
        match self {
            Placement::Shard(axis) => Some((axis, 1)),
            Placement::StridedShard { axis, pieces } => Some((axis, pieces)),
            Placement::Replicate | Placement::Partial => None,
        }
    }

    /// The same of another axis.
    pub(crate) fn on(self, axis: usize) -> Self {
        match self {
            Placement::Shard(_) => Placement::Shard(axis),
            Placement::StridedShard { pieces, .. } => Placement::StridedShard { axis, pieces },
            other => other,
        }
    }
}

/// `R`, `S(0)`, `SS(0, 4)` or `P`.
impl fmt::Display for Placement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Placement::Replicate => f.write_str("R"),
            Placement::Shard(axis) => write!(f, "S({axis})"),
            Placement::StridedShard { axis, pieces } => write!(f, "SS({axis}, {pieces})"),
            Placement::Partial => f.write_str("P"),
        }
    }
}
