//! Layouts as views and trackers, and back.

use shapetracker::{Dims, ShapeTracker, Unanswered, Unmerged, View};

use crate::compose::length;
use crate::layout::Mode;
use crate::profile::Profile;
use crate::{Error, Layout};

/// Which order of a tensor's elements is that of a layout's numbers.
///
/// A layout counts its coordinates in colexicographic order, the leftmost mode fastest, and a tensor its elements in
/// row-major order, the last axis fastest.
///
/// ```
/// use shapetracker::View;
/// use shapetracker_cute::{Layout, Order};
///
/// let view = View::contiguous([2, 3])?;
/// let (same_numbers, _) = Layout::from_view(&view, Order::RowMajor)?;
/// let (same_indices, _) = Layout::from_view(&view, Order::ColumnMajor)?;
/// assert_eq!((same_numbers.to_string(), same_indices.to_string()), ("(3,2):(1,3)".into(), "(2,3):(3,1)".into()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Order {
    /// Number `x` of the layout is element `x` in row-major order: the first mode is the last axis.
    RowMajor,
    /// Number `x` of the layout is element `x` in column-major order: mode `k` is axis `k`, and coordinates are
    /// indices.
    ColumnMajor,
}

/// Why a tensor's layout is no layout of modes.
///
/// ```
/// use shapetracker::View;
/// use shapetracker_cute::{Layout, NoLayout, Order};
///
/// let padded = View::contiguous([3])?.pad([(1, 0)])?;
/// let why = Layout::from_view(&padded, Order::RowMajor).unwrap_err();
/// assert_eq!(why.to_string(), "element (0) is masked, and a layout has an address for every coordinate");
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NoLayout {
    /// An element is masked.
    #[error("element {} is masked, and a layout has an address for every coordinate", crate::notation::index(.index))]
    Masked {
        /// Its index.
        index: Dims,
    },
    /// Along an axis, at the multiples of `unit`, addresses are affine for `run` elements and not for one more, so that
    /// a mode must have that size; but it does not divide the `left` elements that there are.
    #[error(
        "along axis {axis}, {}",
        length([*.unit, *.run, *.left], ["addresses", "element"], [i128::from(*.address), *.expected])
    )]
    Length {
        /// The axis.
        axis: usize,
        /// The product of the modes that are found on the axis before.
        unit: i64,
        /// The size that the next mode must have.
        run: i64,
        /// How many multiples of `unit` the axis has.
        left: i64,
        /// The index at which addresses are affine no longer: `run` times `unit` on the axis, and 0 elsewhere.
        index: Dims,
        /// The address there.
        address: i64,
        /// What it would be if addresses were affine as before.
        expected: i128,
    },
    /// With each axis split into the modes that it must have, the addresses are no sum over modes.
    #[error("with the axes split to {}, {why}", crate::notation::index(.shape))]
    NotAView {
        /// The shape under which it should be one view.
        shape: Dims,
        /// Why it is none.
        why: Unmerged,
    },
    /// The question was not decided within the work limit.
    #[error("whether it is a layout was not decided within the work limit")]
    Undecided,
    /// A number is past `i64`, or there are too many leaves.
    #[error(transparent)]
    Error(#[from] Error),
}

impl From<shapetracker::Error> for NoLayout {
    fn from(err: shapetracker::Error) -> Self {
        NoLayout::Error(err.into())
    }
}

impl Layout {
    /// The layout of a view and its offset, which layouts do not have. The way back is [`Layout::to_view`].
    ///
    /// ```
    /// use shapetracker::View;
    /// use shapetracker_cute::{Layout, Order};
    ///
    /// let view = View::new([4, 3], [-3, 1], 9, None)?;
    /// let (layout, offset) = Layout::from_view(&view, Order::ColumnMajor)?;
    /// assert_eq!((layout.to_string(), offset), ("(4,3):(-3,1)".into(), 9));
    /// assert_eq!(layout.to_view(Order::ColumnMajor, offset)?, view);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NoLayout::Masked`], with an element that is.
    pub fn from_view(view: &View, order: Order) -> Result<(Layout, i64), NoLayout> {
        if let Some(mask) = view.mask() {
            // Some range is shorter than its axis; of a masked scalar there is none.
            let mut index = Dims::from_elem(0, view.rank());
            for (axis, (&(begin, end), &size)) in mask.iter().zip(view.shape()).enumerate() {
                if begin > 0 || end < size {
                    index[axis] = if begin > 0 { 0 } else { end };
                    break;
                }
            }
            return Err(NoLayout::Masked { index });
        }
        let modes = view.shape().iter().copied().zip(view.strides().iter().copied()).collect();
        Ok((ordered(modes, order, Profile::flat(view.rank()))?, view.offset()))
    }

    /// The view with an axis for each leaf of the layout, in the order that makes it what [`Layout::from_view`] reads.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Order};
    ///
    /// let layout: Layout = "((2,2),4):((1,8),2)".parse()?;
    /// assert_eq!(layout.to_view(Order::RowMajor, 0)?.to_string(), "(4, 2, 2):(2, 8, 1)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An address past `i64`.
    pub fn to_view(&self, order: Order, offset: i64) -> Result<View, Error> {
        let (mut sizes, mut strides) = (self.sizes.clone(), self.strides.clone());
        if order == Order::RowMajor {
            sizes.reverse();
            strides.reverse();
        }
        Ok(View::new(sizes, strides, offset, None)?)
    }

    /// The layout of a tracker and its offset, or the reason why there is none: a mode for each axis, with as many
    /// leaves as the axis needs. So trackers of several views may be layouts, too. The way back is
    /// [`Layout::to_tracker`].
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker_cute::{Layout, NoLayout, Order};
    ///
    /// // Two views, and yet a layout: both leaves are inside one mode.
    /// let st = ShapeTracker::contiguous([4, 6])?.permute([1, 0])?.reshape([24])?;
    /// let (layout, _) = Layout::from_tracker(&st, Order::RowMajor)?;
    /// assert_eq!(layout.to_string(), "((4,6)):((6,1))");
    /// assert_eq!(layout.to_tracker(Order::RowMajor, 0)?.difference(&st)?, None);
    ///
    /// let st = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([3, 2])?;
    /// let why = Layout::from_tracker(&st, Order::RowMajor).unwrap_err();
    /// assert!(matches!(why, NoLayout::Length { axis: 0, unit: 1, run: 2, left: 3, address: 3, expected: 8, .. }));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`NoLayout`], with evidence.
    ///
    /// # Cost
    /// For one view that of reading it off; for more, up to 64 questions whether a part of an axis is one view for each
    /// of the modes found.
    ///
    /// # Source
    /// Each axis is split at its longest affine runs, which is a layout if any split is
    /// ([`shapetracker::affine_runs`]).
    pub fn from_tracker(tracker: &ShapeTracker, order: Order) -> Result<(Layout, i64), NoLayout> {
        if let Some(view) = tracker.as_view() {
            return Layout::from_view(view, order);
        }
        match tracker.single_view() {
            Ok(view) => return Layout::from_view(&view, order),
            Err(Unmerged::Error(err)) => return Err(err.into()),
            Err(_) => {}
        }
        if let Some(index) = masked_element(tracker)? {
            return Err(NoLayout::Masked { index });
        }
        // The sizes of the modes of each axis, innermost first.
        let mut runs: Vec<Vec<i64>> = Vec::new();
        for (axis, &size) in tracker.shape().iter().enumerate() {
            let alone: Vec<(i64, i64)> =
                tracker.shape().iter().enumerate().map(|(k, &size)| (0, if k == axis { size } else { 1 })).collect();
            let mut rest = tracker.shrink(alone)?.reshape([size])?;
            let (mut found, mut unit, mut left) = (Vec::new(), 1, size);
            while left > 1 {
                let run = affine_run(&rest, left)?;
                if left % run != 0 {
                    // No element is masked.
                    let address = |x: i64| rest.address(&[x]).unwrap_or_default();
                    let [first, second, address] = [0, 1, run].map(address);
                    let expected = i128::from(first) + (i128::from(second) - i128::from(first)) * i128::from(run);
                    let mut index = Dims::from_elem(0, tracker.rank());
                    index[axis] = unit * run;
                    return Err(NoLayout::Length { axis, unit, run, left, index, address, expected });
                }
                found.push(run);
                rest = rest.step([run])?;
                (unit, left) = (unit * run, left / run);
            }
            if found.is_empty() {
                found.push(1);
            }
            runs.push(found);
        }
        let shape: Dims = runs.iter().flat_map(|found| found.iter().rev().copied()).collect();
        let view = match tracker.reshape(&shape)?.single_view() {
            Ok(view) => view,
            Err(Unmerged::Error(err)) => return Err(err.into()),
            Err(Unmerged::Undecided) => return Err(NoLayout::Undecided),
            Err(why) => return Err(NoLayout::NotAView { shape, why }),
        };
        // In each axis the innermost mode comes first.
        let (mut modes, mut begin): (Vec<Mode>, usize) = (Vec::new(), 0);
        for found in &runs {
            let end = begin + found.len();
            modes.extend((begin..end).rev().map(|axis| (view.shape()[axis], view.strides()[axis])));
            begin = end;
        }
        if order == Order::RowMajor {
            // The axes change places, and each of them keeps its modes.
            let (mut turned, mut end) = (Vec::new(), modes.len());
            for found in runs.iter().rev() {
                turned.extend_from_slice(&modes[end - found.len()..end]);
                end -= found.len();
            }
            modes = turned;
            runs.reverse();
        }
        let profile = Profile::flat(runs.len()).with_leaves_split(runs.iter().map(Vec::len));
        let layout = Layout::checked(
            modes.iter().map(|mode| mode.0).collect(),
            modes.iter().map(|mode| mode.1).collect(),
            profile,
        )?;
        Ok((layout, view.offset()))
    }

    /// The tracker with an axis for each mode.
    ///
    /// ```
    /// use shapetracker_cute::{Layout, Order};
    ///
    /// let layout: Layout = "((2,2),4):((1,8),2)".parse()?;
    /// let tracker = layout.to_tracker(Order::ColumnMajor, 0)?;
    /// assert_eq!(tracker.shape(), [4, 4]);
    /// assert_eq!(tracker.address(&[2, 3]), layout.at_coordinate(&(2, 3).into()));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An address past `i64`.
    pub fn to_tracker(&self, order: Order, offset: i64) -> Result<ShapeTracker, Error> {
        // Leaves inside a mode run leftmost first, and axes that become one rightmost first.
        let (mut shape, mut sizes, mut strides) = (Dims::new(), Dims::new(), Dims::new());
        let mut items = self.profile.items();
        if order == Order::RowMajor {
            items.reverse();
        }
        for (_, leaves) in items {
            shape.push(self.sizes[leaves.clone()].iter().product::<i64>());
            sizes.extend(self.sizes[leaves.clone()].iter().rev().copied());
            strides.extend(self.strides[leaves].iter().rev().copied());
        }
        Ok(ShapeTracker::from(View::new(sizes, strides, offset, None)?).reshape(shape)?)
    }
}

/// A layout of modes in the order of a view's axes.
fn ordered(mut modes: Vec<Mode>, order: Order, profile: Profile) -> Result<Layout, Error> {
    if order == Order::RowMajor {
        modes.reverse();
    }
    Layout::checked(modes.iter().map(|mode| mode.0).collect(), modes.iter().map(|mode| mode.1).collect(), profile)
}

/// An element of a tracker that is masked.
fn masked_element(tracker: &ShapeTracker) -> Result<Option<Dims>, NoLayout> {
    if tracker.views().iter().all(|view| view.mask().is_none()) {
        return Ok(None);
    }
    // With all strides of the view next to memory 0, the tracker reads address 0 wherever it reads at all: it differs
    // from a view of stride 0 that has no mask at exactly the elements that are masked.
    let mut views = tracker.views().to_vec();
    views[0] = View::new(views[0].shape(), Dims::from_elem(0, views[0].rank()), 0, views[0].mask())?;
    let zero = View::new(tracker.shape(), Dims::from_elem(0, tracker.rank()), 0, None)?;
    match ShapeTracker::from_views(views)?.difference(&zero.into()) {
        Ok(index) => Ok(index),
        Err(Unanswered::Error(err)) => Err(err.into()),
        Err(_) => Err(NoLayout::Undecided),
    }
}

/// The longest affine run from the start of a tracker of one axis of at least 2 elements.
fn affine_run(line: &ShapeTracker, size: i64) -> Result<i64, NoLayout> {
    let is_affine = |run: i64| match line.shrink([(0, run)])?.single_view() {
        Ok(_) => Ok(true),
        Err(Unmerged::Witness(_)) => Ok(false),
        Err(Unmerged::Error(err)) => Err(err.into()),
        Err(_) => Err(NoLayout::Undecided),
    };
    if is_affine(size)? {
        return Ok(size);
    }
    // What begins an affine run is one, too; two elements always are.
    let (mut run, mut past) = (2, size);
    while past - run > 1 {
        let middle = run + (past - run) / 2;
        *if is_affine(middle)? { &mut run } else { &mut past } = middle;
    }
    Ok(run)
}
