//! Whether a tensor map of CUDA, by which a kernel's tensor memory accelerator (TMA) copies tiles, describes a layout.

use shapetracker_base::int::gcd;
use shapetracker_base::list::sort_short_by_key;

use super::matrix::masked;
use super::{Laid, Memory, Nearest};
use crate::{Dims, ShapeTracker, View};

/// What `cuTensorMapEncodeTiled` takes of a layout, without interleaving.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::{Memory, describe}};
///
/// let found = describe(&ShapeTracker::contiguous([64, 24])?.permute([1, 0])?, Some(Memory::of(2)));
/// let map = found.tensor_map.unwrap().unwrap();
/// let dims: Vec<_> = map.dims.iter().map(|dim| (&dim.axes[..], dim.size, dim.stride)).collect();
/// assert_eq!(dims, [(&[0][..], 24, 2), (&[1][..], 64, 48)]);
/// assert_eq!(map.box_multiple, 8);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Source
/// The documentation of `cuTensorMapEncodeTiled` in the CUDA driver API: ranks from 1 to 5, an address and strides that are
/// multiples of 16 bytes, strides below 2^40 bytes, sizes up to 2^32, boxes of up to 256 elements a side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMap {
    /// The dimensions, innermost first, as the function takes them. Axes of one element are left out.
    pub dims: Vec<TensorMapDim>,
    /// How many bytes the address of index 0 lies behind the beginning of the buffer.
    pub address: i128,
    /// What the innermost side of a box must be a multiple of, in elements, for it to be a multiple of 16 bytes.
    pub box_multiple: i64,
}

/// A dimension of a [`TensorMap`].
///
/// ```
/// let dim = shapetracker::describe::TensorMapDim { axes: vec![1], size: 64, stride: 48 };
/// assert_eq!(dim.stride % 16, 0);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TensorMapDim {
    /// The axes of the layout that are joined in it, outermost first; only where there are more than five.
    pub axes: Vec<usize>,
    /// Its size.
    pub size: i64,
    /// Its stride in bytes; of the innermost dimension, of which the function takes none, the bytes of an element.
    pub stride: i128,
}

/// Why no tensor map describes a layout: the rule that it breaks.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::{Memory, describe}};
///
/// let found = describe(&ShapeTracker::contiguous([64, 25])?, Some(Memory::of(4)));
/// let why = found.tensor_map.unwrap().unwrap_err();
/// assert_eq!(why.to_string(), "the stride of axis 0 is 100 bytes, which is no multiple of 16");
/// assert_eq!(found.nearest_tensor_map.unwrap().view.strides(), [28, 1]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoTensorMap {
    /// No data type of a tensor map has elements of so many bytes.
    #[error("its elements have 1, 2, 4 or 8 bytes, and these have {bytes}")]
    Bytes {
        /// How many bytes an element has.
        bytes: i64,
    },
    /// It is several views, and no split of its axes is strided.
    #[error("a dimension has one stride, and this is {views} views")]
    Several {
        /// How many.
        views: usize,
    },
    /// Some of it is masked.
    #[error("axis {axis} (size {size}) is masked outside {}..{}", range.0, range.1)]
    Masked {
        /// The axis.
        axis: usize,
        /// The entries that are not masked, half-open.
        range: (i64, i64),
        /// All of them.
        size: i64,
    },
    /// There are no elements.
    #[error("a size is at least 1, and that of axis {axis} is 0")]
    Empty {
        /// The axis.
        axis: usize,
    },
    /// There are no axes.
    #[error("there are 1 to 5 dimensions, and this has no axis")]
    NoAxis,
    /// There are more than five dimensions, even with axes joined.
    #[error("there are 1 to 5 dimensions, and this has {dims} axes that do not join")]
    Rank {
        /// How many dimensions there are, those that advance as one joined.
        dims: usize,
    },
    /// No axis has stride 1.
    #[error("the innermost dimension has stride 1, and the smallest stride is {stride}, of axis {axis}")]
    NoUnitStride {
        /// The axis with the smallest stride.
        axis: usize,
        /// That stride, in elements.
        stride: i64,
    },
    /// Strides are positive.
    #[error("strides are positive, and that of axis {axis} is {stride}")]
    NotPositive {
        /// The axis.
        axis: usize,
        /// Its stride, in elements.
        stride: i64,
    },
    /// A stride is no multiple of 16 bytes.
    #[error("the stride of axis {axis} is {stride} bytes, which is no multiple of 16")]
    Stride {
        /// The axis.
        axis: usize,
        /// Its stride, in bytes.
        stride: i128,
    },
    /// A stride is too long.
    #[error("the stride of axis {axis} is {stride} bytes, and must be less than 2^40 = 1099511627776")]
    LongStride {
        /// The axis.
        axis: usize,
        /// Its stride, in bytes.
        stride: i128,
    },
    /// A size is too large.
    #[error("the size of axis {axis} is {size}, and must be at most 2^32 = 4294967296")]
    Size {
        /// The axis.
        axis: usize,
        /// Its size.
        size: i64,
    },
    /// The first element does not lie at a multiple of 16 bytes.
    #[error("element 0 lies {address} bytes into the buffer, which is no multiple of 16")]
    Address {
        /// Where the element at index 0 lies, in bytes.
        address: i128,
    },
    /// The buffer itself does not begin at a multiple of 16 bytes.
    #[error("the address is a multiple of 16, and the buffer begins at a multiple of {alignment}")]
    Alignment {
        /// What the address of the buffer is a multiple of.
        alignment: u64,
    },
}

impl NoTensorMap {
    /// Its name in JSON, such as `stride` or `no_unit_stride`.
    ///
    /// ```
    /// use shapetracker::describe::NoTensorMap;
    ///
    /// assert_eq!(NoTensorMap::Stride { axis: 0, stride: 6 }.kind(), "stride");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            NoTensorMap::Bytes { .. } => "bytes",
            NoTensorMap::Several { .. } => "several",
            NoTensorMap::Masked { .. } => "masked",
            NoTensorMap::Empty { .. } => "empty",
            NoTensorMap::NoAxis => "no_axis",
            NoTensorMap::Rank { .. } => "rank",
            NoTensorMap::NoUnitStride { .. } => "no_unit_stride",
            NoTensorMap::NotPositive { .. } => "not_positive",
            NoTensorMap::Stride { .. } => "stride",
            NoTensorMap::LongStride { .. } => "long_stride",
            NoTensorMap::Size { .. } => "size",
            NoTensorMap::Address { .. } => "address",
            NoTensorMap::Alignment { .. } => "alignment",
        }
    }
}

/// What addresses and strides are multiples of, in bytes.
const UNIT: i128 = 16;
const MOST_DIMS: usize = 5;
const MOST_SIZE: i64 = 1 << 32;
const END_OF_STRIDES: i128 = 1 << 40;

/// The tensor map, or the first rule that is broken.
pub(super) fn of(tracker: &ShapeTracker, laid: Option<&Laid>, memory: Memory) -> Result<TensorMap, NoTensorMap> {
    let bytes = memory.width();
    if ![1, 2, 4, 8].contains(&bytes) {
        return Err(NoTensorMap::Bytes { bytes });
    }
    if let Some(axis) = tracker.shape().iter().position(|&size| size == 0) {
        return Err(NoTensorMap::Empty { axis });
    }
    if tracker.rank() == 0 {
        return Err(NoTensorMap::NoAxis);
    }
    let Some(Laid { view, axes }) = laid else { return Err(NoTensorMap::Several { views: tracker.views().len() }) };
    if let Some((axis, range, size)) = masked(view) {
        return Err(NoTensorMap::Masked { axis: axes[axis], range, size });
    }
    struct Dim {
        axes: Vec<usize>,
        size: i64,
        stride: i64,
    }
    let long = view.shape().iter().zip(view.strides()).enumerate().filter(|(_, (size, _))| **size > 1);
    let mut dims: Vec<Dim> =
        long.map(|(place, (&size, &stride))| Dim { axes: vec![axes[place]], size, stride }).collect();
    if let Some(dim) = dims.iter().find(|dim| dim.stride <= 0) {
        return Err(NoTensorMap::NotPositive { axis: dim.axes[0], stride: dim.stride });
    }
    // Outermost first; of axes with one stride the last one is the innermost.
    sort_short_by_key(&mut dims, |dim: &Dim| std::cmp::Reverse(dim.stride));
    if dims.len() > MOST_DIMS {
        let mut joined: Vec<Dim> = Vec::new();
        for dim in dims {
            match joined.last_mut() {
                Some(outer) if i128::from(outer.stride) == i128::from(dim.size) * i128::from(dim.stride) => {
                    outer.axes.extend(dim.axes);
                    (outer.size, outer.stride) = (outer.size * dim.size, dim.stride);
                }
                _ => joined.push(dim),
            }
        }
        dims = joined;
    }
    // Along an axis of one element any stride will do, 1 as well.
    let needs_unit = dims.last().is_none_or(|dim| dim.stride != 1);
    if needs_unit {
        match (tracker.shape().iter().rposition(|&size| size == 1), dims.last()) {
            (Some(axis), _) => dims.push(Dim { axes: vec![axis], size: 1, stride: 1 }),
            (None, Some(dim)) => {
                let axis = dim.axes.last().copied().unwrap_or_default();
                return Err(NoTensorMap::NoUnitStride { axis, stride: dim.stride });
            }
            (None, None) => return Err(NoTensorMap::NoAxis),
        }
    }
    if dims.len() > MOST_DIMS {
        return Err(NoTensorMap::Rank { dims: dims.len() });
    }
    let mut found = Vec::with_capacity(dims.len());
    for (place, Dim { axes, size, stride }) in dims.into_iter().rev().enumerate() {
        let (axis, stride) = (axes[0], i128::from(stride) * i128::from(bytes));
        match () {
            () if size > MOST_SIZE => return Err(NoTensorMap::Size { axis, size }),
            () if place > 0 && stride % UNIT != 0 => return Err(NoTensorMap::Stride { axis, stride }),
            () if place > 0 && stride >= END_OF_STRIDES => return Err(NoTensorMap::LongStride { axis, stride }),
            () => found.push(TensorMapDim { axes, size, stride }),
        }
    }
    let address = i128::from(view.offset()) * i128::from(bytes);
    match () {
        () if !u128::from(memory.alignment).is_multiple_of(UNIT as u128) || memory.alignment == 0 => {
            Err(NoTensorMap::Alignment { alignment: memory.alignment })
        }
        () if address % UNIT != 0 => Err(NoTensorMap::Address { address }),
        () => Ok(TensorMap { dims: found, address, box_multiple: multiple(bytes) }),
    }
}

/// How many elements are a multiple of 16 bytes.
fn multiple(bytes: i64) -> i64 {
    (UNIT / gcd(UNIT, bytes.into())) as i64
}

/// The elements copied so that a tensor map describes them: the innermost axis stays where it is, or is the last one, and its
/// rows begin at multiples of 16 bytes. Nothing where no copy helps.
pub(super) fn nearest(tracker: &ShapeTracker, why: &NoTensorMap, memory: Memory) -> Option<Nearest> {
    match why {
        NoTensorMap::Bytes { .. } | NoTensorMap::Empty { .. } | NoTensorMap::NoAxis | NoTensorMap::Size { .. } => {
            return None;
        }
        _ => {}
    }
    let mut order: Vec<usize> = (0..tracker.rank()).filter(|&axis| tracker.shape()[axis] > 1).collect();
    let unit = tracker.as_view().and_then(|view| order.iter().rposition(|&axis| view.strides()[axis] == 1));
    if let Some(place) = unit {
        let inner = order.remove(place);
        order.push(inner);
    }
    let unit = multiple(memory.width());
    let (mut strides, mut next) = (Dims::from_elem(0, tracker.rank()), 1_i64);
    for (place, &axis) in order.iter().rev().enumerate() {
        strides[axis] = next;
        next = next.checked_mul(tracker.shape()[axis])?;
        // What is outside begins at multiples, which only one axis needs no room for.
        if place == 0 && order.len() > 1 {
            next = next.checked_add(unit - 1)? / unit * unit;
        }
    }
    let view = View::new(tracker.shape(), strides, 0, None).ok()?;
    let does =
        of(&view.clone().into(), Laid::of(&view.clone().into()).as_ref(), Memory { alignment: 256, ..memory }).is_ok();
    does.then(|| Nearest { view, elements: tracker.numel() })
}
