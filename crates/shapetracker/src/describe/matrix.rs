//! Whether the last two axes of a layout are a matrix for BLAS.

use super::{Nearest, once};
use crate::{Dims, ShapeTracker, View};

/// The last two axes as a matrix of BLAS, and the axes before them as a batch of such.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let weights = ShapeTracker::contiguous([8, 64, 16])?.shrink([(0, 8), (0, 64), (0, 12)])?;
/// let matrix = describe(&weights, None).matrix.unwrap();
/// assert_eq!((matrix.rows, matrix.columns), (64, 12));
/// // Row-major is transposed to BLAS, whose own order is column-major.
/// assert_eq!((matrix.forms[0].operation(), matrix.forms[0].leading), ("T", 16));
/// assert_eq!(matrix.batch, [(8, 1024)]);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Source
/// The reference BLAS, `dgemm`, and cuBLAS, `gemmStridedBatched`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Matrix {
    /// The size of the axis before the last one.
    pub rows: i64,
    /// The size of the last axis.
    pub columns: i64,
    /// How it can be passed; a matrix of one row or column may have both forms.
    pub forms: Vec<MatrixForm>,
    /// Size and stride of the axes before, outermost first, those of one element left out and those that advance as one
    /// joined: none for one matrix, one where a batch has one stride, and more where it takes several calls, or pointers.
    pub batch: Vec<(i64, i64)>,
}

/// One way of passing a matrix to BLAS.
///
/// ```
/// use shapetracker::describe::MatrixForm;
///
/// assert_eq!(MatrixForm { transposed: false, leading: 64 }.operation(), "N");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MatrixForm {
    /// Whether BLAS, which has matrices in column-major order, is told to transpose it.
    pub transposed: bool,
    /// The leading dimension, in elements: how far apart neighbouring columns lie, and where it is transposed, rows.
    pub leading: i64,
}

impl MatrixForm {
    /// What is passed as `trans`: `N` or `T`. Where CBLAS is told that matrices are row-major it is the other one.
    ///
    /// ```
    /// let form = shapetracker::describe::MatrixForm { transposed: true, leading: 64 };
    /// assert_eq!(form.operation(), "T");
    /// ```
    pub fn operation(self) -> &'static str {
        if self.transposed { "T" } else { "N" }
    }
}

/// Why the last two axes are no matrix for BLAS.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::describe};
///
/// let why = describe(&ShapeTracker::contiguous([4, 6])?.step([1, 2])?, None).matrix.unwrap_err();
/// assert_eq!(why.to_string(), "neither of the strides of axes 0 and 1 is 1: they are 6 and 2");
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoMatrix {
    /// There are fewer than two axes.
    #[error("a matrix has two axes, and this has {rank}")]
    Rank {
        /// How many axes there are.
        rank: usize,
    },
    /// It is several views.
    #[error("a matrix has one stride for each axis, and this is {views} views")]
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
    /// Neither of the axes has stride 1.
    #[error("neither of the strides of axes {} and {} is 1: they are {} and {}", axes[0], axes[1], strides[0], strides[1])]
    NoUnitStride {
        /// The last two axes.
        axes: [usize; 2],
        /// Their strides.
        strides: [i64; 2],
    },
    /// The leading dimension must reach past what is beside it.
    #[error(
        "the stride of axis {axis} would be the leading dimension, which must be at least {needed}, and it is {stride}"
    )]
    Leading {
        /// The axis.
        axis: usize,
        /// Its stride.
        stride: i64,
        /// What it must be at least.
        needed: i64,
    },
}

impl NoMatrix {
    /// Its name in JSON: `rank`, `several`, `masked`, `no_unit_stride` or `leading`.
    ///
    /// ```
    /// assert_eq!(shapetracker::describe::NoMatrix::Rank { rank: 1 }.kind(), "rank");
    /// ```
    pub fn kind(&self) -> &'static str {
        match self {
            NoMatrix::Rank { .. } => "rank",
            NoMatrix::Several { .. } => "several",
            NoMatrix::Masked { .. } => "masked",
            NoMatrix::NoUnitStride { .. } => "no_unit_stride",
            NoMatrix::Leading { .. } => "leading",
        }
    }
}

/// The matrix, or why there is none and what would be one.
pub(super) fn of(tracker: &ShapeTracker) -> (Result<Matrix, NoMatrix>, Option<Nearest>) {
    match found(tracker) {
        Ok(matrix) => (Ok(matrix), None),
        Err(why) => {
            let nearest = nearest(tracker, &why);
            (Err(why), nearest)
        }
    }
}

fn found(tracker: &ShapeTracker) -> Result<Matrix, NoMatrix> {
    let rank = tracker.rank();
    if rank < 2 {
        return Err(NoMatrix::Rank { rank });
    }
    let Some(view) = tracker.as_view() else { return Err(NoMatrix::Several { views: tracker.views().len() }) };
    if let Some(why) = masked(view) {
        let (axis, range, size) = why;
        return Err(NoMatrix::Masked { axis, range, size });
    }
    let axes = [rank - 2, rank - 1];
    let [(rows, down), (columns, across)] = axes.map(|axis| (view.shape()[axis], view.strides()[axis]));
    let form = |transposed: bool, (length, unit): (i64, i64), (count, leading): (i64, i64)| {
        let least = length.max(1);
        // Along an axis of one entry any stride will do.
        let is_unit = length < 2 || unit == 1;
        let leading = if count < 2 { least } else { leading };
        (is_unit && leading >= least).then_some(MatrixForm { transposed, leading })
    };
    let forms = [form(true, (columns, across), (rows, down)), form(false, (rows, down), (columns, across))];
    let forms: Vec<MatrixForm> = match view.is_empty() {
        true => vec![MatrixForm { transposed: true, leading: columns.max(1) }],
        false => forms.into_iter().flatten().collect(),
    };
    if forms.is_empty() {
        return Err(match () {
            () if columns > 1 && across == 1 => NoMatrix::Leading { axis: axes[0], stride: down, needed: columns },
            () if rows > 1 && down == 1 => NoMatrix::Leading { axis: axes[1], stride: across, needed: rows },
            // A vector may have any positive stride.
            () if rows < 2 => NoMatrix::Leading { axis: axes[1], stride: across, needed: 1 },
            () if columns < 2 => NoMatrix::Leading { axis: axes[0], stride: down, needed: 1 },
            () => NoMatrix::NoUnitStride { axes, strides: [down, across] },
        });
    }
    let mut batch: Vec<(i64, i64)> = Vec::new();
    for (&size, &stride) in view.shape().iter().zip(view.strides()).take(rank - 2).filter(|(size, _)| **size != 1) {
        match batch.last_mut() {
            Some((count, outer)) if i128::from(*outer) == i128::from(size) * i128::from(stride) => {
                (*count, *outer) = (*count * size, stride);
            }
            _ => batch.push((size, stride)),
        }
    }
    Ok(Matrix { rows, columns, forms, batch })
}

/// An axis that is masked, if there is one.
pub(super) fn masked(view: &View) -> Option<(usize, (i64, i64), i64)> {
    let whole = |axis: usize| view.range(axis) == (0, view.shape()[axis]);
    view.mask()?;
    let axis = (0..view.rank()).find(|&axis| !whole(axis))?;
    Some((axis, view.range(axis), view.shape()[axis]))
}

/// The matrices copied one after another in row-major order; those of a batch that are the same once.
fn nearest(tracker: &ShapeTracker, why: &NoMatrix) -> Option<Nearest> {
    let rank = tracker.rank();
    if rank < 2 {
        return None;
    }
    let mut view = View::contiguous(tracker.shape()).ok()?;
    let mut elements = tracker.numel();
    if let (Some(old), NoMatrix::NoUnitStride { .. } | NoMatrix::Leading { .. }) = (tracker.as_view(), why) {
        let repeats = |axis: usize| axis + 2 < rank && old.strides()[axis] == 0;
        let (mut strides, mut next) = (Dims::from_elem(0, rank), 1);
        for axis in (0..rank).rev().filter(|&axis| !repeats(axis)) {
            strides[axis] = next;
            next *= tracker.shape()[axis];
        }
        view = View::new(tracker.shape(), strides, 0, None).ok()?;
        elements = once(old, |axis| axis + 2 < rank);
    }
    Some(Nearest { view, elements })
}
