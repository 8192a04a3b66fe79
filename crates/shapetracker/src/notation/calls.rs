//! Chains as calls on the arrays of NumPy and PyTorch: the writing side of what `foreign` reads.

use std::fmt::{self, Write};

use shapetracker_base::text::tuple;

use super::{Chain, ChainError, ChainStart};
use crate::advice::{Array, ArrayNumber};
use crate::operation::Slice;
use crate::{Dims, MovementOf, ShapeTracker, View};

/// A Python library whose arrays are strided views, in whose calls a [`Chain`] or the recipe for a copy can be written.
///
/// `Display` writes its name as its authors do.
///
/// ```
/// use shapetracker::{ArrayLibrary, Chain};
///
/// let chain: Chain = "(2, 3).permute(1, 0)".parse()?;
/// assert_eq!(
///     chain.calls(ArrayLibrary::NumPy, None)?,
///     "import numpy as np\n\nx = np.arange(6).reshape((2, 3))  # (2, 3)\nx = x.transpose(1, 0)  # (3, 2)\n",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayLibrary {
    /// NumPy, under the name `np`.
    NumPy,
    /// PyTorch, under the name `torch`.
    PyTorch,
}

impl ArrayLibrary {
    /// All of them.
    ///
    /// ```
    /// let names: Vec<String> = shapetracker::ArrayLibrary::ALL.iter().map(|library| library.to_string()).collect();
    /// assert_eq!(names, ["NumPy", "PyTorch"]);
    /// ```
    pub const ALL: &'static [ArrayLibrary] = &[ArrayLibrary::NumPy, ArrayLibrary::PyTorch];

    /// Its name in requests and options: `numpy` or `pytorch`.
    ///
    /// ```
    /// assert_eq!(shapetracker::ArrayLibrary::PyTorch.name(), "pytorch");
    /// ```
    pub fn name(self) -> &'static str {
        match self {
            ArrayLibrary::NumPy => "numpy",
            ArrayLibrary::PyTorch => "pytorch",
        }
    }

    /// Whether an array of the library can have this layout: neither has masks, and PyTorch has no negative strides.
    pub(crate) fn has(self, view: &View) -> bool {
        view.mask().is_none() && (self == ArrayLibrary::NumPy || view.strides().iter().all(|&stride| stride >= 0))
    }

    /// The call that views the memory of an array, from its first element on, by a shape and strides in elements.
    pub(crate) fn as_strided<N: fmt::Display>(self, array: &str, shape: &[N], strides: &[N]) -> String {
        match self {
            ArrayLibrary::NumPy => {
                // NumPy counts strides in bytes.
                let strides: Vec<String> = strides.iter().map(in_bytes).collect();
                let comma = if strides.len() == 1 { "," } else { "" };
                let strides = strides.join(", ");
                format!("np.lib.stride_tricks.as_strided({array}, {}, ({strides}{comma}))", tuple(shape))
            }
            ArrayLibrary::PyTorch => format!("{array}.as_strided({}, {})", tuple(shape), tuple(strides)),
        }
    }

    /// The call that does an operation to an array `x`, which has shape `from` before and `to` after it.
    pub(crate) fn call<N: ArrayNumber>(self, op: &MovementOf<N>, from: &[N], to: &[N]) -> String {
        use ArrayLibrary::{NumPy, PyTorch};
        match op {
            MovementOf::Reshape(_) | MovementOf::Squeeze(_) | MovementOf::SqueezeAll | MovementOf::Unsqueeze(_) => {
                format!("x.reshape({})", tuple(to))
            }
            MovementOf::Permute(order) => {
                let order = from_the_front(order, from.len());
                match self {
                    NumPy => format!("x.transpose({})", list(&order)),
                    PyTorch => format!("x.permute({})", tuple(&order)),
                }
            }
            MovementOf::Transpose(a, b) => {
                let name = if self == NumPy { "swapaxes" } else { "transpose" };
                format!("x.{name}({a}, {b})")
            }
            MovementOf::Expand(_) | MovementOf::BroadcastTo(_) => match self {
                NumPy => format!("np.broadcast_to(x, {})", tuple(to)),
                PyTorch => format!("x.expand({})", tuple(to)),
            },
            MovementOf::Pad(pads) => self.pad(pads),
            MovementOf::Shrink(ranges) => {
                let slices = ranges.iter().map(|(begin, end)| slice(Some(begin), Some(end), 1));
                format!("x{}", subscript(&slices.collect::<Vec<_>>()))
            }
            MovementOf::Flip(axes) => self.flip("x", &from_the_front(axes, from.len())),
            MovementOf::FlipEach(each) => {
                let axes: Vec<i64> = (0..).zip(each).filter(|(_, reversed)| **reversed).map(|(axis, _)| axis).collect();
                self.flip("x", &axes)
            }
            MovementOf::Step(steps) => {
                self.sliced(&steps.iter().map(|&step| (None, None, step)).collect::<Vec<Slice<N>>>(), from)
            }
            MovementOf::Slice(slices) => self.sliced(slices, from),
            MovementOf::Contiguous if self == NumPy => "np.ascontiguousarray(x)".into(),
            MovementOf::Contiguous => "x.contiguous()".into(),
            MovementOf::Copy if self == NumPy => "x.copy()".into(),
            MovementOf::Copy => "x.clone(memory_format=torch.contiguous_format)".into(),
            MovementOf::AsStrided(shape, strides, offset) => {
                Strided { shape: shape.to_vec(), strides: strides.to_vec(), offset: offset.clone() }.call(self)
            }
        }
    }

    fn pad<N: fmt::Display>(self, pads: &[(N, N)]) -> String {
        if pads.is_empty() {
            return "x".into();
        }
        match self {
            ArrayLibrary::NumPy => {
                let pads: Vec<String> = pads.iter().map(|(before, after)| format!("({before}, {after})")).collect();
                format!("np.pad(x, [{}])", pads.join(", "))
            }
            ArrayLibrary::PyTorch => {
                // PyTorch lists the pads of the last axis first.
                let pads: Vec<&N> = pads.iter().rev().flat_map(|(before, after)| [before, after]).collect();
                format!("torch.nn.functional.pad(x, {})", tuple(&pads))
            }
        }
    }

    fn flip(self, array: &str, axes: &[i64]) -> String {
        match self {
            ArrayLibrary::NumPy => format!("np.flip({array}, {})", tuple(axes)),
            ArrayLibrary::PyTorch => format!("{array}.flip({})", tuple(axes)),
        }
    }

    fn sliced<N: ArrayNumber>(self, slices: &[Slice<N>], from: &[N]) -> String {
        match self {
            ArrayLibrary::NumPy => {
                let parts = slices.iter().map(|(begin, end, step)| slice(begin.as_ref(), end.as_ref(), *step));
                format!("x{}", subscript(&parts.collect::<Vec<_>>()))
            }
            ArrayLibrary::PyTorch => forward(slices, from),
        }
    }
}

impl fmt::Display for ArrayLibrary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ArrayLibrary::NumPy => "NumPy",
            ArrayLibrary::PyTorch => "PyTorch",
        })
    }
}

impl Chain {
    /// The chain as Python statements for a library, each of which makes an array `x` from the one before; the first
    /// one makes an array whose elements are their own addresses.
    ///
    /// The base is that of [`Chain::tracker_from`]; without one the chain itself must give a shape or views. Masked
    /// elements become the zeros of a pad. The statements are text to read and to run on arrays that fit into memory;
    /// PyTorch has no negative strides, so that there an axis that is walked backwards is flipped, which copies.
    ///
    /// ```
    /// use shapetracker::{ArrayLibrary, Chain};
    ///
    /// let chain: Chain = "pad((0, 1), (2, 0)).slice(::-2, 1:3)".parse()?;
    /// let code = chain.calls(ArrayLibrary::PyTorch, Some(&[3, 4]))?;
    /// assert_eq!(
    ///     code.lines().skip(2).collect::<Vec<_>>(),
    ///     [
    ///         "x = torch.arange(12).reshape((3, 4))  # (3, 4)",
    ///         "x = torch.nn.functional.pad(x, (2, 0, 0, 1))  # (4, 6)",
    ///         "x = x.flip((0,))[0:3:2, 1:3]  # (2, 2)",
    ///     ],
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker_from`] and, without a base, of [`Chain::tracker`]; a start whose first view reads below
    /// address 0, or past the base, where no array could show it ([`View::fits_buffer`]).
    ///
    /// # Cost
    /// That of doing the operations, and time proportional to the text.
    pub fn calls(&self, library: ArrayLibrary, base: Option<&[i64]>) -> Result<String, ChainError> {
        let (mut code, arange) = match library {
            ArrayLibrary::NumPy => ("import numpy as np\n\n".to_owned(), "np.arange"),
            ArrayLibrary::PyTorch => ("import torch\n\n".to_owned(), "torch.arange"),
        };
        let numel = |shape: &[i64]| ShapeTracker::contiguous(shape).map_or(0, |tracker| tracker.numel());
        let mut counted = |shape: &[i64]| {
            statement(&mut code, &format!("{arange}({}).reshape({})", numel(shape), tuple(shape)), Some(shape));
        };
        match (self.start(), base) {
            (_, Some(base)) => counted(base),
            (ChainStart::Shape(shape), None) => counted(shape),
            (_, None) => {}
        }
        if let ChainStart::Views(views) = self.start() {
            views[0].fits_buffer(base.map(numel)).map_err(|err| self.start_error(err))?;
            if base.is_none() {
                let (_, high) = views[0].address_range().unwrap_or((0, -1));
                statement(&mut code, &format!("{arange}({})", high.saturating_add(1)), None);
            }
            for view in views {
                let (valid, pads) = Strided::of(view);
                statement(&mut code, &valid.call(library), Some(&valid.shape));
                if view.mask().is_some() {
                    statement(&mut code, &library.pad(&pads), Some(view.shape()));
                }
            }
        }
        let mut ops = self.ops().iter();
        let mut from = Dims::new();
        self.follow(base, |step, verdict| {
            let to = step.shape();
            if let Some(op) = verdict.and_then(|_| ops.next()) {
                statement(&mut code, &library.call(op, &from, to), Some(to));
            }
            from = to.into();
        })?;
        Ok(code)
    }
}

/// Appends `x = value`, and the shape that `x` then has.
fn statement(code: &mut String, value: &str, shape: Option<&[i64]>) {
    // Writing to a string cannot fail.
    let _ = match shape {
        Some(shape) => writeln!(code, "x = {value}  # {}", tuple(shape)),
        None => writeln!(code, "x = {value}"),
    };
}

/// Elements of an array `x`, counted in row-major order, at every index of a shape.
struct Strided<N> {
    shape: Vec<N>,
    strides: Vec<N>,
    offset: N,
}

impl Strided<i64> {
    /// The valid elements of a view, and how many masked ones there are before and after them on each axis.
    fn of(view: &View) -> (Strided<i64>, Vec<(i64, i64)>) {
        let (mut shape, mut offset, mut pads) = (view.shape().to_vec(), i128::from(view.offset()), Vec::new());
        for (axis, &(begin, end)) in view.mask().unwrap_or_default().iter().enumerate() {
            offset += i128::from(begin) * i128::from(view.strides()[axis]);
            pads.push((begin, shape[axis] - end));
            shape[axis] = end - begin;
        }
        // Of a crafted view the offset of the valid elements lies outside `i64`: one without any.
        let offset = i64::try_from(offset).unwrap_or_default();
        (Strided { shape, strides: view.strides().to_vec(), offset }, pads)
    }
}

impl<N: ArrayNumber> Strided<N> {
    fn call(&self, library: ArrayLibrary) -> String {
        let none = N::from(0);
        // Without elements the offset and the strides may be anything, and so may the stride of an axis of size 1.
        let empty = self.shape.iter().any(|size| size.is(0));
        let mut offset = if empty { none.clone() } else { self.offset.clone() };
        let (mut strides, mut flipped) = (self.strides.clone(), Vec::new());
        for (axis, stride) in strides.iter_mut().enumerate() {
            if empty || self.shape[axis].is(1) {
                *stride = none.clone();
            }
            if library == ArrayLibrary::PyTorch && *stride < none {
                // PyTorch has no negative strides: the axis is laid out forwards, and flipped.
                offset = offset.plus(&self.shape[axis].plus(&N::from(-1)).times(stride));
                *stride = stride.negative();
                flipped.push(axis as i64);
            }
        }
        let from = if offset.is(0) { String::new() } else { format!("[{offset}:]") };
        let array = match library {
            ArrayLibrary::NumPy => format!("x.ravel(){from}"),
            // `as_strided` begins at the first element of a tensor, so that only a slice needs the flat one.
            ArrayLibrary::PyTorch if from.is_empty() => "x.contiguous()".into(),
            ArrayLibrary::PyTorch => format!("x.contiguous().view(-1){from}"),
        };
        let strided = library.as_strided(&array, &self.shape, &strides);
        if flipped.is_empty() { strided } else { library.flip(&strided, &flipped) }
    }
}

/// Slices of a tensor of PyTorch, which refuses negative steps: such axes are flipped first.
fn forward<N: ArrayNumber>(slices: &[Slice<N>], from: &[N]) -> String {
    let (mut flipped, mut parts) = (Vec::new(), Vec::new());
    for (axis, ((begin, end, step), size)) in slices.iter().zip(from).enumerate() {
        // A step past the end of the axis takes the first element only; PyTorch overflows at far longer ones.
        let no_longer = |step: i64| size.integer().map_or(step, |size| step.min(size.max(1)));
        // The elements that the slice takes; the chain has been done, so that there is such a slice.
        let line = Array::contiguous(std::slice::from_ref(size));
        let of_line = MovementOf::Slice(vec![(begin.clone(), end.clone(), *step)]);
        let taken = if *step < 0 { N::moved(&line, &of_line).ok().flatten() } else { None };
        let Some(taken) = taken else {
            parts.push(slice(begin.as_ref(), end.as_ref(), no_longer(*step)));
            continue;
        };
        // Counted from the other end, they are taken forwards.
        let step = no_longer(step.saturating_neg());
        let last = |count: &N| count.plus(&N::from(-1));
        let is_empty = taken.shape[0].is(0);
        let begin = if is_empty { size.clone() } else { last(size).plus(&taken.offset.negative()) };
        let end = begin.plus(&last(&taken.shape[0]).times(&N::from(step))).plus(&N::from(1));
        let end = end.min(size.clone()).max(begin.clone());
        flipped.push(axis as i64);
        parts.push(slice(Some(&begin), Some(&end), step));
    }
    let array = if flipped.is_empty() { "x".into() } else { ArrayLibrary::PyTorch.flip("x", &flipped) };
    format!("{array}{}", subscript(&parts))
}

/// A slice as Python writes it: `1:3`, `::-2`.
fn slice<N: fmt::Display>(begin: Option<&N>, end: Option<&N>, step: i64) -> String {
    let bound = |bound: Option<&N>| bound.map_or(String::new(), N::to_string);
    let step = if step == 1 { String::new() } else { format!(":{step}") };
    format!("{}:{}{step}", bound(begin), bound(end))
}

/// Slices in brackets; of a scalar, which has none, nothing.
fn subscript(slices: &[String]) -> String {
    if slices.is_empty() { String::new() } else { format!("[{}]", slices.join(", ")) }
}

/// Numbers as the arguments of a call.
pub(crate) fn list<N: fmt::Display>(numbers: &[N]) -> String {
    numbers.iter().map(N::to_string).collect::<Vec<_>>().join(", ")
}

/// A stride in bytes, for an array `x`.
fn in_bytes<N: fmt::Display>(stride: &N) -> String {
    match &stride.to_string()[..] {
        "0" => "0".into(),
        "1" => "x.itemsize".into(),
        sum if sum.contains(' ') => format!("({sum}) * x.itemsize"),
        stride => format!("{stride} * x.itemsize"),
    }
}

/// Axes of which none counts from the last one.
fn from_the_front(axes: &[i64], rank: usize) -> Vec<i64> {
    axes.iter().map(|&axis| if axis < 0 { axis + rank as i64 } else { axis }).collect()
}
