//! Can a view take another shape? If not: what is in the way, and the smallest copy that clears it.

use std::fmt;
use std::ops::Range;

use crate::error::Error;
use crate::merge::{Unmerged, Witness, reshape};
use crate::shape::{infer, row_major};
use crate::tuple::tuple;
use crate::{Dims, Ranges, View};

/// The view of the same elements in row-major order under another shape, or what is in the way.
///
/// This is the question behind PyTorch's `view` and NumPy's no-copy `reshape`: can a tensor with this shape and these
/// strides be seen under that shape without moving data? One size of `to` may be -1 and is inferred. The answer is
/// exact: there is a view exactly when this function returns one.
///
/// ```
/// use shapetracker::{Misfit, View, fit};
///
/// // A transposed matrix: rows can be split, but not joined.
/// let transposed = View::new([4, 6], [1, 4], 0, None)?;
/// assert_eq!(fit(&transposed, [4, 2, 3]).unwrap(), View::new([4, 2, 3], [1, 12, 4], 0, None)?);
///
/// let Err(Misfit::Blocked(blocked)) = fit(&transposed, [24]) else { panic!() };
/// assert_eq!(
///     blocked.obstacles[0].to_string(),
///     "new axis 0 (size 24) would run over old axes 0 and 1 (sizes 4, 6); \
///      that needs stride[0] = size[1] * stride[1] = 24, but stride[0] is 1",
/// );
/// assert_eq!(blocked.copied.numel(), 24);
/// # Ok::<(), shapetracker::Error>(())
/// ```
///
/// # Errors
/// [`Misfit::Blocked`] when there is no such view, with the evidence and the copy that makes one possible;
/// [`Misfit::Error`] when the shapes have different numbers of elements.
///
/// # Cost
/// That of one [`merge`](crate::merge()) when there is a view, and of a few more when there is not; it does not
/// depend on the sizes.
pub fn fit(view: &View, to: impl AsRef<[i64]>) -> Result<View, Misfit> {
    let to = infer("reshape", view.shape(), view.numel(), to.as_ref())?;
    match reshape(view, &to) {
        Ok(fitting) => Ok(fitting),
        Err(Unmerged::Witness(witness)) => Err(Misfit::Blocked(Box::new(blocked(view, &to, witness)?))),
        Err(Unmerged::Undecided) => Err(Misfit::Undecided),
        Err(Unmerged::Error(err)) => Err(Misfit::Error(err)),
    }
}

/// Why a view does not take a shape.
///
/// ```
/// use shapetracker::{Misfit, View, fit};
///
/// assert!(matches!(fit(&View::contiguous([2, 3])?, [7]), Err(Misfit::Error(_))));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Misfit {
    /// No single view of that shape has the same elements.
    #[error("{}", .0.witness)]
    Blocked(Box<Blocked>),
    /// The decision was given up at its work limit, which only crafted input reaches.
    #[error("whether there is such a view was not decided within the work limit")]
    Undecided,
    /// The shapes do not fit each other, or a number is past `i64`.
    #[error(transparent)]
    Error(#[from] Error),
}

/// What stands between a view and a shape, and the copy that clears it.
///
/// The copy: write the elements of `copied`, in row-major order, into a fresh buffer; `view` of that buffer has the
/// new shape and the same elements as the old view.
///
/// What is minimal about it: when the old view is not masked, of all ways to give each new axis either stride 0 or a
/// row-major stride over the buffer, none has a smaller buffer. Both shapes are cut into the finest blocks of axes
/// that line up. In a block that fits as it is, broadcast axes stay broadcast, masked margins stay out of the buffer,
/// and windows that overlap share their elements, so that the buffer may be smaller still than any of those ways. A
/// block that does not fit is copied in full, masked elements included. Nothing is claimed against views whose new
/// axes would overlap in other ways, or stay constant only because of a mask.
///
/// ```
/// use shapetracker::{Misfit, View, fit};
///
/// // Eight broadcast copies of a transposed matrix: only one of them has to be copied.
/// let view = View::new([8, 3, 5], [0, 1, 3], 0, None)?;
/// let Err(Misfit::Blocked(blocked)) = fit(&view, [8, 15]) else { panic!() };
/// assert_eq!(blocked.copied, View::new([1, 3, 5], [0, 1, 3], 0, None)?);
/// assert_eq!(blocked.view, View::new([8, 15], [0, 1], 0, None)?);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blocked {
    /// Proof that there is no such view, in indices of the new shape.
    pub witness: Witness,
    /// What is in the way, from the outermost axes to the innermost. There is at least one.
    pub obstacles: Vec<Obstacle>,
    /// The elements to copy: a view of the old buffer. Where the old view is not masked and no windows overlap, it has
    /// the axes of the old view, with broadcast axes cut short.
    pub copied: View,
    /// The view of the fresh buffer that has the new shape.
    pub view: View,
}

impl Blocked {
    /// The copy and the view of it as a line of Python for a PyTorch tensor `x`, which has the layout `view`: the one
    /// that was asked about, with the tensor's storage offset.
    ///
    /// `None` where PyTorch has no such tensor: its strides are not negative, and it has no masks.
    ///
    /// ```
    /// use shapetracker::{Misfit, View, fit};
    ///
    /// let view = View::new([8, 3, 5], [0, 1, 3], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&view, [8, 15]) else { panic!() };
    /// assert_eq!(blocked.pytorch(&view).unwrap(), "x[:1].contiguous().view(1, 15).expand(8, 15)");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn pytorch(&self, view: &View) -> Option<String> {
        let (copied, result) = (&self.copied, &self.view);
        let is_strided = |view: &View| view.mask().is_none() && view.strides().iter().all(|&stride| stride >= 0);
        if ![view, copied, result].into_iter().all(is_strided) {
            return None;
        }
        let copy = match self.slices(view) {
            Some(slices) => format!("x{slices}.contiguous()"),
            None => {
                let offset = if copied.offset() == 0 { String::new() } else { format!(", {}", copied.offset()) };
                format!("x.as_strided({}, {}{offset}).contiguous()", tuple(copied.shape()), tuple(copied.strides()))
            }
        };
        Some(match self.short() {
            None => format!("{copy}.as_strided({}, {})", tuple(result.shape()), tuple(result.strides())),
            Some(short) if short[..] == *result.shape() => format!("{copy}.view({})", list(&short)),
            Some(short) => format!("{copy}.view({}).expand({})", list(&short), list(result.shape())),
        })
    }

    /// The copy and the view of it as a line of Python for a NumPy array `x`, which has the layout `view`: the one that
    /// was asked about.
    ///
    /// `None` where a mask is in the layout, which NumPy's arrays have not; and where windows overlap that walk
    /// backwards, so that the copy begins elsewhere than the array.
    ///
    /// ```
    /// use shapetracker::{Misfit, View, fit};
    ///
    /// let view = View::new([8, 3, 5], [0, 1, 3], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&view, [8, 15]) else { panic!() };
    /// assert_eq!(blocked.numpy(&view).unwrap(), "np.broadcast_to(x[:1].copy().reshape(1, 15), (8, 15))");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn numpy(&self, view: &View) -> Option<String> {
        let (copied, result) = (&self.copied, &self.view);
        if [view, copied, result].into_iter().any(|view| view.mask().is_some()) || copied.offset() != view.offset() {
            return None;
        }
        let strided = |array: &str, view: &View| {
            let strides: Vec<String> = view.strides().iter().map(|&stride| in_bytes(stride)).collect();
            let comma = if strides.len() == 1 { "," } else { "" };
            let strides = strides.join(", ");
            format!("np.lib.stride_tricks.as_strided({array}, {}, ({strides}{comma}))", tuple(view.shape()))
        };
        let copy = match self.slices(view) {
            Some(slices) => format!("x{slices}.copy()"),
            None => format!("{}.copy()", strided("x", copied)),
        };
        Some(match self.short() {
            None if result.offset() == 0 => strided(&copy, result),
            None => strided(&format!("{copy}.reshape(-1)[{}:]", result.offset()), result),
            Some(short) if short[..] == *result.shape() => format!("{copy}.reshape({})", list(&short)),
            Some(short) => format!("np.broadcast_to({copy}.reshape({}), {})", list(&short), tuple(result.shape())),
        })
    }

    /// What is copied as slices of the old view, `[:1]`, or as nothing where it is all of it; `None` where it is more
    /// than broadcast axes cut short.
    fn slices(&self, view: &View) -> Option<String> {
        let copied = &self.copied;
        if copied == view {
            return Some(String::new());
        }
        if copied.rank() != view.rank() || copied.strides() != view.strides() || copied.offset() != view.offset() {
            return None;
        }
        // Windows that overlap share their elements: what is copied may then reach further along an axis than the view.
        if copied.shape().iter().zip(view.shape()).any(|(to, from)| to > from) {
            return None;
        }
        let slices = copied.shape().iter().zip(view.shape());
        let mut slices: Vec<String> =
            slices.map(|(&to, &from)| if to == from { ":".into() } else { format!(":{to}") }).collect();
        while slices.last().is_some_and(|slice| slice == ":") {
            slices.pop();
        }
        Some(format!("[{}]", slices.join(", ")))
    }

    /// The row-major shape of the fresh buffer that broadcasts to the new one, with 1 for the axes that are broadcast;
    /// `None` where its elements do not lie in that order.
    fn short(&self) -> Option<Dims> {
        let result = &self.view;
        let sizes = result.shape().iter().zip(result.strides());
        let short: Dims = sizes.map(|(&size, &stride)| if stride == 0 { 1 } else { size }).collect();
        let row_major = View::contiguous(&short).ok()?;
        (row_major.strides() == result.strides() && result.offset() == 0).then_some(short)
    }
}

/// Numbers as the arguments of a call.
fn list(numbers: &[i64]) -> String {
    numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")
}

/// A stride in bytes, for an array `x`.
fn in_bytes(stride: i64) -> String {
    match stride {
        0 => "0".into(),
        1 => "x.itemsize".into(),
        _ => format!("{stride} * x.itemsize"),
    }
}

/// A reason why a shape cannot be taken, in terms of old and new axes. `Display` writes it as a sentence.
///
/// ```
/// use shapetracker::{Misfit, Obstacle, View, fit};
///
/// let padded = View::contiguous([4])?.pad([(1, 1)])?;
/// let Err(Misfit::Blocked(blocked)) = fit(&padded, [2, 3]) else { panic!() };
/// assert_eq!(
///     blocked.obstacles[0].to_string(),
///     "old axis 0 (size 6) is masked outside 1..5; \
///      under new axes 0 and 1 (sizes 2, 3) the elements that are left are not a box",
/// );
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Obstacle {
    /// A new axis would run over two neighbouring old axes whose strides do not continue each other.
    Strides {
        /// The new axis.
        new: Axis,
        /// The outer one of the two old axes.
        outer: Axis,
        /// The inner one of the two old axes.
        inner: Axis,
        /// The stride of the outer axis.
        stride: i64,
        /// The stride that the outer axis would need: the size of the inner axis times the inner stride.
        needed: i128,
        /// The stride of the inner axis.
        inner_stride: i64,
    },
    /// The valid elements of an old axis are not one range an axis under the new shape.
    Mask {
        /// The old axis.
        old: Axis,
        /// Its valid range, half-open.
        range: (i64, i64),
        /// The new axes that share its elements.
        new: Vec<Axis>,
    },
}

/// An axis by its number, with its size.
///
/// ```
/// use shapetracker::{Misfit, View, fit};
///
/// let transposed = View::new([4, 6], [1, 4], 0, None)?;
/// let Err(Misfit::Blocked(blocked)) = fit(&transposed, [24]) else { panic!() };
/// let outer = blocked.obstacles[0].old_axes()[0];
/// assert_eq!((outer.axis, outer.size), (0, 4));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis {
    /// The number of the axis, from 0 for the outermost.
    pub axis: usize,
    /// Its size.
    pub size: i64,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::Strides { new, outer, inner, stride, needed, .. } => write!(
                f,
                "new axis {} (size {}) would run over old axes {} and {} (sizes {}, {}); \
                 that needs stride[{2}] = size[{3}] * stride[{3}] = {needed}, but stride[{2}] is {stride}",
                new.axis, new.size, outer.axis, inner.axis, outer.size, inner.size,
            ),
            Obstacle::Mask { old, range, new } => {
                write!(
                    f,
                    "old axis {} (size {}) is masked outside {}..{}; under new ",
                    old.axis, old.size, range.0, range.1
                )?;
                f.write_str(if new.len() == 1 { "axis " } else { "axes " })?;
                for (i, new) in new.iter().enumerate() {
                    let separator = [", ", " and "][usize::from(i + 1 == self.new_axes().len())];
                    write!(f, "{}{}", if i == 0 { "" } else { separator }, new.axis)?;
                }
                f.write_str(if new.len() == 1 { " (size " } else { " (sizes " })?;
                for (i, new) in new.iter().enumerate() {
                    write!(f, "{}{}", if i == 0 { "" } else { ", " }, new.size)?;
                }
                f.write_str(") the elements that are left are not a box")
            }
        }
    }
}

impl Obstacle {
    /// The old axes that are in the way, outermost first.
    ///
    /// ```
    /// use shapetracker::{Misfit, View, fit};
    ///
    /// let view = View::new([5, 2, 3], [6, 1, 2], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&view, [5, 3, 2]) else { panic!() };
    /// let obstacle = &blocked.obstacles[0];
    /// assert_eq!(obstacle.old_axes().iter().map(|old| old.axis).collect::<Vec<_>>(), [1, 2]);
    /// assert_eq!(obstacle.new_axes().iter().map(|new| new.axis).collect::<Vec<_>>(), [1]);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn old_axes(&self) -> Vec<Axis> {
        match self {
            Obstacle::Strides { outer, inner, .. } => vec![*outer, *inner],
            Obstacle::Mask { old, .. } => vec![*old],
        }
    }

    /// The new axes that they are in the way of, outermost first.
    ///
    /// ```
    /// use shapetracker::{Misfit, View, fit};
    ///
    /// let transposed = View::new([4, 6], [1, 4], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&transposed, [24]) else { panic!() };
    /// assert_eq!(blocked.obstacles[0].new_axes()[0].size, 24);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn new_axes(&self) -> &[Axis] {
        match self {
            Obstacle::Strides { new, .. } => std::slice::from_ref(new),
            Obstacle::Mask { new, .. } => new,
        }
    }
}

fn blocked(view: &View, to: &[i64], witness: Witness) -> Result<Blocked, Misfit> {
    let mut obstacles = Vec::new();
    let mut buffer = Buffer { parts: Vec::new(), offset: view.offset().into(), shared: false };
    let mut mask: Ranges = to.iter().map(|&size| (0, size)).collect();
    let runs = runs(view);
    // How many elements of each run of old axes are copied.
    let mut copied_of: Vec<i64> = runs.iter().map(|run| if run.stride == 0 { 1 } else { run.size }).collect();
    for block in blocks(&runs, to) {
        let new = &to[block.new.clone()];
        match reshape(&block.view()?, new) {
            Ok(fitting) => {
                buffer.offset += i128::from(fitting.offset());
                for (i, &stride) in fitting.strides().iter().enumerate() {
                    let axis = block.new.start + i;
                    mask[axis] = fitting.range(i);
                    if stride != 0 {
                        buffer.keep(axis, stride, mask[axis]);
                    }
                }
            }
            Err(Unmerged::Witness(_)) => {
                obstacles.extend(obstacles_of(view, &runs, &block, to));
                for piece in block.pieces.iter().filter(|piece| runs[piece.run].stride == 0) {
                    copied_of[piece.run] *= piece.size;
                }
                buffer.copy(&block, new);
            }
            Err(Unmerged::Undecided) => return Err(Misfit::Undecided),
            Err(Unmerged::Error(err)) => return Err(Misfit::Error(err)),
        }
    }
    buffer.share_overlaps();
    let new_view = buffer.view(to, mask)?;
    let copied = if buffer.numel() == view.numel() {
        view.clone()
    } else if view.mask().is_none() && !buffer.shared {
        shortened(view, &runs, &copied_of)?
    } else {
        buffer.copied()?
    };
    Ok(Blocked { witness, obstacles, copied, view: new_view })
}

/// Neighbouring old axes that are one axis as far as addresses go; axes of size 1 are left out.
struct Run {
    /// The outermost and the innermost of the old axes.
    outer: usize,
    inner: usize,
    size: i64,
    stride: i64,
    range: (i64, i64),
}

/// The runs of a view, outermost first.
fn runs(view: &View) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for axis in (0..view.rank()).filter(|&axis| view.shape()[axis] != 1) {
        let (size, stride, range) = (view.shape()[axis], view.strides()[axis], view.range(axis));
        match runs.last_mut() {
            Some(run) if full(run.range, run.size) && full(range, size) && continues(run.stride, size, stride) => {
                *run = Run { outer: run.outer, inner: axis, size: run.size * size, stride, range: (0, run.size * size) }
            }
            _ => runs.push(Run { outer: axis, inner: axis, size, stride, range }),
        }
    }
    runs
}

fn full(range: (i64, i64), size: i64) -> bool {
    range == (0, size)
}

/// Whether an outer axis goes on where the inner axis ends.
fn continues(outer_stride: i64, inner_size: i64, inner_stride: i64) -> bool {
    i128::from(outer_stride) == i128::from(inner_size) * i128::from(inner_stride)
}

/// A part of a run: all of it, or one factor of its size.
#[derive(Clone, Copy)]
struct Piece {
    run: usize,
    size: i64,
    stride: i64,
    range: (i64, i64),
}

impl Piece {
    /// The outer and inner part of a piece, if a mask allows to cut it so that the inner part has the given size.
    fn cut(self, inner: i64) -> Option<(Piece, Piece)> {
        if inner <= 1 || inner >= self.size || self.size % inner != 0 {
            return None;
        }
        let (begin, end) = self.range;
        let (outer_range, inner_range) = if begin % inner == 0 && end % inner == 0 {
            ((begin / inner, end / inner), (0, inner))
        } else if begin / inner == (end - 1) / inner {
            ((begin / inner, begin / inner + 1), (begin % inner, (end - 1) % inner + 1))
        } else {
            return None;
        };
        let stride = self.stride.checked_mul(inner)?;
        Some((
            Piece { size: self.size / inner, stride, range: outer_range, ..self },
            Piece { size: inner, range: inner_range, ..self },
        ))
    }
}

/// Pieces of old axes and new axes with the same elements, and no finer such blocks inside.
struct Block {
    /// The pieces, outermost first.
    pieces: Vec<Piece>,
    /// The new axes.
    new: Range<usize>,
}

impl Block {
    fn view(&self) -> Result<View, Error> {
        view_of(&self.pieces, 0)
    }
}

/// The finest blocks of a view that is not empty, outermost first. Outer new axes of size 1 may be in none.
fn blocks(runs: &[Run], to: &[i64]) -> Vec<Block> {
    let whole =
        |(index, run): (usize, &Run)| Piece { run: index, size: run.size, stride: run.stride, range: run.range };
    let mut old: Vec<Piece> = runs.iter().enumerate().map(whole).collect();
    let mut blocks = Vec::new();
    let mut end = to.len();
    while let Some(piece) = old.pop() {
        // Both products grow, the smaller one first, until they are equal: at the latest when the axes are used up.
        let (mut begin, mut new_size) = (end, 1);
        let (mut pieces, mut below) = (vec![piece], 1);
        loop {
            let last = pieces[pieces.len() - 1];
            let old_size = below * last.size;
            if new_size == old_size {
                break;
            }
            if new_size > old_size {
                below = old_size;
                pieces.extend(old.pop());
                continue;
            }
            let cut = (new_size % below == 0).then(|| last.cut(new_size / below)).flatten();
            if let Some((outer, inner)) = cut {
                old.push(outer);
                pieces.pop();
                pieces.push(inner);
                break;
            }
            begin -= 1;
            new_size *= to[begin];
        }
        pieces.reverse();
        blocks.push(Block { pieces, new: begin..end });
        end = begin;
    }
    blocks.reverse();
    blocks
}

/// What keeps a block from being a view.
fn obstacles_of(view: &View, runs: &[Run], block: &Block, to: &[i64]) -> Vec<Obstacle> {
    let old_axis = |axis| Axis { axis, size: view.shape()[axis] };
    let new_axis = |axis| Axis { axis, size: to[axis] };
    let some_valid = |axis: usize| view.range(axis).1 - view.range(axis).0 > 1;
    let mut obstacles = Vec::new();
    // The product of the sizes inside each boundary between pieces, and the new axis that crosses it.
    let mut inside = 1;
    let mut crossing = (block.new.end, 1);
    for pair in block.pieces.windows(2).rev() {
        inside *= pair[1].size;
        while crossing.1 <= inside && crossing.0 > block.new.start {
            crossing = (crossing.0 - 1, crossing.1 * to[crossing.0 - 1]);
        }
        let (outer, inner) = (runs[pair[0].run].inner, runs[pair[1].run].outer);
        let (stride, inner_stride) = (view.strides()[outer], view.strides()[inner]);
        if !continues(stride, view.shape()[inner], inner_stride) && some_valid(outer) && some_valid(inner) {
            obstacles.push(Obstacle::Strides {
                new: new_axis(crossing.0),
                outer: old_axis(outer),
                inner: old_axis(inner),
                stride,
                needed: i128::from(inner_stride) * i128::from(view.shape()[inner]),
                inner_stride,
            });
        }
    }
    obstacles.reverse();
    let masks = block.pieces.iter().map(|piece| &runs[piece.run]).filter(|run| !full(run.range, run.size));
    obstacles.extend(masks.map(|run| Obstacle::Mask {
        old: old_axis(run.inner),
        range: run.range,
        new: block.new.clone().filter(|&axis| to[axis] != 1).map(new_axis).collect(),
    }));
    obstacles
}

/// The old view with its broadcast axes cut short, so that each run has the given number of elements.
fn shortened(view: &View, runs: &[Run], copied_of: &[i64]) -> Result<View, Error> {
    let mut shape: Dims = view.shape().into();
    for (run, &copied) in runs.iter().zip(copied_of) {
        // A number that divides a product of sizes is a product of divisors of the sizes.
        let mut rest = copied;
        for axis in (run.outer..=run.inner).rev() {
            shape[axis] = gcd(rest, shape[axis]);
            rest /= shape[axis];
        }
    }
    View::new(shape, view.strides(), view.offset(), None)
}

fn gcd(a: i64, b: i64) -> i64 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The fresh buffer as it is laid out: its parts, outermost first.
struct Buffer {
    parts: Vec<Part>,
    /// The address in the old buffer of the first element of the new one.
    offset: i128,
    /// Whether any parts became one because they overlap.
    shared: bool,
}

/// Neighbouring axes of the fresh buffer, and the new axes that move in them.
#[derive(Default)]
struct Part {
    /// Old axes or pieces of them.
    axes: Vec<Piece>,
    /// The new axes: index `i` adds `multiple * (i - first)` to the position in this part.
    movers: Vec<Mover>,
    /// The position in this part when every mover is at its first index.
    start: i64,
    /// Whether the part already was a view under the new shape. Only such parts, of one axis, can share elements.
    kept: bool,
}

struct Mover {
    axis: usize,
    multiple: i64,
    first: i64,
}

impl Buffer {
    /// Adds a new axis that already is a view: the elements of its valid range.
    fn keep(&mut self, axis: usize, stride: i64, (first, end): (i64, i64)) {
        self.offset += i128::from(first) * i128::from(stride);
        let size = end - first;
        let axes = vec![Piece { run: 0, size, stride, range: (0, size) }];
        self.parts.push(Part { axes, movers: vec![Mover { axis, multiple: 1, first }], start: 0, kept: true });
    }

    /// Adds all elements of a block that is not a view.
    fn copy(&mut self, block: &Block, sizes: &[i64]) {
        let movers = block.new.clone().zip(row_major(sizes));
        let movers = movers.map(|(axis, multiple)| Mover { axis, multiple, first: 0 }).collect();
        self.parts.push(Part { axes: block.pieces.clone(), movers, start: 0, kept: false });
    }

    /// Joins parts that are windows over the same elements: the stride of one is a multiple of the other's, and less
    /// than the other's whole length.
    fn share_overlaps(&mut self) {
        while let Some((fine, coarse, multiple)) = self.overlap() {
            let coarse = std::mem::take(&mut self.parts[coarse]);
            let fine = &mut self.parts[fine];
            let reach = multiple * (coarse.axes[0].size - 1);
            fine.start += multiple * coarse.start;
            if reach < 0 {
                // The windows walk backwards, so that the buffer starts earlier.
                fine.start -= reach;
                self.offset += i128::from(reach) * i128::from(fine.axes[0].stride);
            }
            fine.axes[0].size += reach.abs();
            fine.axes[0].range = (0, fine.axes[0].size);
            fine.movers.extend(coarse.movers.into_iter().map(|m| Mover { multiple: m.multiple * multiple, ..m }));
            self.shared = true;
        }
    }

    /// Two parts that overlap, and how many strides of the first make one of the second.
    fn overlap(&self) -> Option<(usize, usize, i64)> {
        let kept = || self.parts.iter().enumerate().filter(|(_, part)| part.kept).map(|(i, part)| (i, part.axes[0]));
        kept().find_map(|(i, fine)| {
            kept().filter(|&(j, _)| i != j).find_map(|(j, coarse)| {
                let multiple = coarse.stride.checked_div(fine.stride)?;
                let overlaps = coarse.stride % fine.stride == 0 && multiple.unsigned_abs() < fine.size.unsigned_abs();
                overlaps.then_some((i, j, multiple))
            })
        })
    }

    fn numel(&self) -> i64 {
        self.parts.iter().map(Part::numel).product()
    }

    /// The elements of the buffer, as a view of the old one.
    fn copied(&self) -> Result<View, Error> {
        let axes: Vec<Piece> = self.parts.iter().flat_map(|part| part.axes.iter().copied()).collect();
        view_of(&axes, self.offset)
    }

    /// The view of the buffer that has the new shape.
    fn view(&self, to: &[i64], mask: Ranges) -> Result<View, Error> {
        let (mut strides, mut offset, mut weight) = (Dims::from_elem(0, to.len()), 0, 1);
        for part in self.parts.iter().rev() {
            offset += i128::from(part.start * weight);
            for mover in &part.movers {
                strides[mover.axis] = mover.multiple * weight;
                offset -= i128::from(strides[mover.axis]) * i128::from(mover.first);
            }
            weight *= part.numel();
        }
        View::canonical("reshape", to.into(), strides, offset, Some(mask))
    }
}

impl Part {
    fn numel(&self) -> i64 {
        self.axes.iter().map(|axis| axis.size).product()
    }
}

fn view_of(axes: &[Piece], offset: i128) -> Result<View, Error> {
    let shape = axes.iter().map(|axis| axis.size).collect();
    let strides = axes.iter().map(|axis| axis.stride).collect();
    View::canonical("reshape", shape, strides, offset, Some(axes.iter().map(|axis| axis.range).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shape::unravel;
    use crate::tests::Rng;

    /// The address that the element at a row-major position reads.
    fn at(view: &View, position: i64) -> Option<i64> {
        view.address(&unravel(position, view.shape()))
    }

    /// The smallest row-major buffer that serves, when each new axis either has stride 0 or is copied.
    fn smallest_by_trial(view: &View, to: &[i64]) -> i64 {
        (0..1u32 << to.len())
            .filter(|choice| {
                (0..view.numel()).all(|position| {
                    let mut index = unravel(position, to);
                    for (axis, i) in index.iter_mut().enumerate() {
                        *i = if choice & (1 << axis) == 0 { *i } else { 0 };
                    }
                    let held: i64 = index.iter().zip(row_major(to)).map(|(i, stride)| i * stride).sum();
                    at(view, position) == at(view, held)
                })
            })
            .map(|choice| (0..to.len()).filter(|axis| choice & (1 << axis) == 0).map(|axis| to[axis]).product())
            .min()
            .unwrap()
    }

    /// A shape with the given number of elements.
    fn shape_of(rng: &mut Rng, mut numel: i64) -> Dims {
        let mut shape = Dims::new();
        while numel > 1 || rng.below(4) == 0 {
            let size = 1 + rng.below(numel as u64) as i64;
            if numel % size == 0 {
                shape.push(size);
                numel /= size;
            }
        }
        shape
    }

    #[test]
    fn the_copy_is_right_and_none_that_copies_whole_axes_is_smaller() {
        let mut rng = Rng(2);
        let (mut blocked, mut smaller) = (0, 0);
        for _ in 0..20_000 {
            let numel = [4, 6, 8, 12, 16, 18, 24, 30, 36, 48, 60][rng.below(11) as usize];
            let (shape, to) = (shape_of(&mut rng, numel), shape_of(&mut rng, numel));
            let mut strides = row_major(&shape);
            for _ in 0..rng.below(3) {
                if !shape.is_empty() {
                    let (a, b) = (rng.below(shape.len() as u64) as usize, rng.below(shape.len() as u64) as usize);
                    match rng.below(4) {
                        0 => strides.swap(a, b),
                        1 => strides[a] = 0,
                        2 => strides[a] = strides[b],
                        _ => strides[a] = rng.below(9) as i64 - 4,
                    }
                }
            }
            let mask: Option<Ranges> = (rng.below(3) == 0).then(|| {
                let range = |&size: &i64| {
                    let begin = rng.below(size as u64) as i64;
                    if rng.below(2) == 0 { (0, size) } else { (begin, size.min(begin + 1 + rng.below(3) as i64)) }
                };
                shape.iter().map(range).collect()
            });
            let view = View::new(&shape, &strides, 100, mask.as_deref()).unwrap();
            let result = fit(&view, &to);
            let Err(Misfit::Blocked(result)) = result else {
                let fitting = result.unwrap();
                assert!((0..numel).all(|position| at(&fitting, position) == at(&view, position)), "{view} to {to:?}");
                continue;
            };
            blocked += 1;
            let Blocked { copied, view: fitting, obstacles, .. } = *result;
            for position in 0..numel {
                let address = at(&fitting, position).and_then(|held| at(&copied, held));
                assert_eq!(address, at(&view, position), "{view} to {to:?}: {copied} seen as {fitting}");
            }
            let most = smallest_by_trial(&view, &to);
            assert!(
                copied.numel() <= most || view.mask().is_some(),
                "{view} to {to:?}: {copied} seen as {fitting}, {most} would do"
            );
            smaller += usize::from(copied.numel() < most);
            assert!(!obstacles.is_empty(), "{view} to {to:?}");
        }
        assert!(blocked > 4_000 && smaller > 50, "{blocked} blocked, {smaller} smaller than by whole axes");
    }

    #[test]
    fn only_one_copy_of_what_is_broadcast_is_needed() {
        let view = View::new([4, 3], [0, 1], 0, None).unwrap();
        let Err(Misfit::Blocked(blocked)) = fit(&view, [2, 6]) else { panic!() };
        assert_eq!(blocked.copied, View::new([2, 3], [0, 1], 0, None).unwrap());
        assert_eq!(blocked.view, View::new([2, 6], [0, 1], 0, None).unwrap());
    }

    #[test]
    fn windows_that_stay_as_they_are_share_their_elements() {
        // Five windows of three elements, beside a matrix that has to be transposed.
        let view = View::new([5, 3, 2, 3], [6, 6, 1, 2], 0, None).unwrap();
        let Err(Misfit::Blocked(blocked)) = fit(&view, [5, 3, 6]) else { panic!() };
        assert_eq!(blocked.copied, View::new([7, 2, 3], [6, 1, 2], 0, None).unwrap());
        assert_eq!(blocked.view, View::new([5, 3, 6], [6, 6, 1], 0, None).unwrap());
    }

    #[test]
    fn masked_margins_are_not_copied() {
        let view = View::new([2, 3, 6], [1, 2, 6], 0, Some(&[(0, 2), (0, 3), (1, 5)])).unwrap();
        let Err(Misfit::Blocked(blocked)) = fit(&view, [6, 6]) else { panic!() };
        assert_eq!(blocked.copied.numel(), 24);
        assert_eq!(blocked.view, View::new([6, 6], [4, 1], -1, Some(&[(0, 6), (1, 5)])).unwrap());
    }

    #[test]
    fn every_boundary_that_is_crossed_is_named() {
        let view = View::contiguous([2, 3, 4]).unwrap().permute([2, 1, 0]).unwrap();
        let Err(Misfit::Blocked(blocked)) = fit(&view, [-1]) else { panic!() };
        let sentences: Vec<String> = blocked.obstacles.iter().map(Obstacle::to_string).collect();
        assert_eq!(
            sentences,
            [
                "new axis 0 (size 24) would run over old axes 0 and 1 (sizes 4, 3); \
                 that needs stride[0] = size[1] * stride[1] = 12, but stride[0] is 1",
                "new axis 0 (size 24) would run over old axes 1 and 2 (sizes 3, 2); \
                 that needs stride[1] = size[2] * stride[2] = 24, but stride[1] is 4",
            ]
        );
    }
}
