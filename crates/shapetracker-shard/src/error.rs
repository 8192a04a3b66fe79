//! What a caller did wrong, as a sentence.

use std::fmt;

use shapetracker::MAX_RANK;
use shapetracker_base::text::tuple;

/// Why a mesh, a placement or an operation cannot be: the operation, the axis and the numbers that do not fit.
///
/// The `Display` text is a sentence for the person who made the mistake; its two parts are [`Error::operation`] and
/// [`Error::reason`].
///
/// ```
/// use shapetracker_shard::{Mesh, Placement, Sharded};
///
/// let err = Sharded::new([8, 4], Mesh::new([("dp", 2)])?, [Placement::Shard(2)]).unwrap_err();
/// assert_eq!(err.operation(), "placement");
/// assert_eq!(err.to_string(), "placement: mesh axis dp shards axis 2, which does not exist: the tensor has 2 axes");
/// # Ok::<(), shapetracker_shard::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error(Box<(&'static str, Fault)>);

impl Error {
    pub(crate) fn new(operation: &'static str, fault: Fault) -> Self {
        Error(Box::new((operation, fault)))
    }

    /// What could not be done, by the name that stands in front of the sentence.
    ///
    /// ```
    /// let err = shapetracker_shard::Mesh::of_sizes([2, 0]).unwrap_err();
    /// assert_eq!(err.operation(), "mesh");
    /// ```
    pub fn operation(&self) -> &'static str {
        self.0.0
    }

    /// The sentence without the operation in front of it.
    ///
    /// ```
    /// let err = shapetracker_shard::Mesh::of_sizes([2, 0]).unwrap_err();
    /// assert_eq!(err.reason(), "mesh axis 1 has 0 devices, but a mesh axis needs at least 1");
    /// ```
    pub fn reason(&self) -> String {
        self.0.1.to_string()
    }

    /// Whether nothing is wrong with the question, but answering it takes more work than is done, or cannot be done in
    /// these numbers.
    ///
    /// ```
    /// let err = shapetracker_shard::Mesh::of_sizes([2, 0]).unwrap_err();
    /// assert!(!err.is_limit());
    /// ```
    pub fn is_limit(&self) -> bool {
        matches!(self.0.1, Fault::TooMuchWork { .. })
    }
}

/// The operation and the reason.
impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.0.0, self.0.1)
    }
}

impl std::error::Error for Error {}

impl From<shapetracker::Error> for Error {
    fn from(err: shapetracker::Error) -> Self {
        Error::new(err.operation(), Fault::Integer(err))
    }
}

/// What is wrong, with everything that the sentence about it needs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Fault {
    #[error("{}", .0.reason())]
    Integer(shapetracker::Error),
    #[error("mesh axis {name} has {size} devices, but a mesh axis needs at least 1")]
    NoDevices { name: String, size: i64 },
    #[error("two mesh axes are named {name}")]
    NameTwice { name: String },
    #[error("a mesh axis needs a name, and axis {axis} has an empty one")]
    NoName { axis: usize },
    #[error("a mesh of {given} axes has more than the {MAX_RANK} that are possible")]
    TooManyAxes { given: usize },
    #[error("a mesh of {} devices along its axes has more than 64 bits can count", tuple(.sizes))]
    TooManyDevices { sizes: Vec<i64> },
    #[error("there is one placement for each mesh axis: the mesh has {}, and {given} {} given", axes(*.mesh), were(*.given))]
    Placements { mesh: usize, given: usize },
    #[error("mesh axis {mesh} shards axis {axis}, which does not exist: the tensor has {}", axes(*.rank))]
    NoAxis { mesh: String, axis: usize, rank: usize },
    #[error("mesh axis {mesh} shards axis {axis} in {pieces} pieces, but a strided shard needs at least 1")]
    NoPieces { mesh: String, axis: usize, pieces: i64 },
    #[error("a partition has one entry for each axis: the tensor has {}, and {given} {} given", axes(*.rank), were(*.given))]
    SpecRank { rank: usize, given: usize },
    #[error("there is no mesh axis {name}; the mesh is {mesh}")]
    NoMeshAxis { name: String, mesh: String },
    #[error("mesh axis {name} is used twice, for axes {first} and {second}")]
    MeshAxisTwice { name: String, first: usize, second: usize },
    #[error("axis {axis} has size {size}, which does not divide by the {devices} devices of {names}")]
    SpecUneven { axis: usize, size: i64, devices: String, names: String },
    #[error("the meshes {from} and {to} are not the same, but both tensors must lie on one mesh")]
    MeshesDiffer { from: String, to: String },
    #[error("shape {} has {have} elements, but shape {} has {need}", tuple(.from), tuple(.to))]
    SizesDiffer { from: Vec<i64>, to: Vec<i64>, have: i64, need: i64 },
    #[error(
        "mesh axis {mesh} holds partial sums in only one of the two tensors: a move adds them up, and how much that sends \
         does not follow from how many elements move"
    )]
    PartialMoves { mesh: String },
    #[error(
        "as_strided reads memory as it lies, and a tensor on several devices has no one memory: write it as other movement \
         operations"
    )]
    Strided,
    #[error("{what} takes more than the work limit of {limit} steps")]
    TooMuchWork { what: &'static str, limit: u64 },
}

fn axes(rank: usize) -> String {
    if rank == 1 { "1 axis".into() } else { format!("{rank} axes") }
}

fn were(given: usize) -> &'static str {
    if given == 1 { "was" } else { "were" }
}
