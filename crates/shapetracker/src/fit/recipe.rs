//! The smallest copy as a line of Python.

use shapetracker_base::text::tuple;

use super::Blocked;
use super::reported::filled;
use crate::notation::{ArrayLibrary, list};
use crate::{Dims, ShapeTracker, View};

/// How many views one line copies.
pub(super) const MOST_VIEWS: usize = 64;
/// Into how many rows several views are taken apart in one line.
const MOST_ROWS: i64 = 64;

/// One of several views that are copied, joined end to end.
struct Part {
    /// Sizes and strides, the outermost first; at least one axis.
    axes: Vec<(i64, i64)>,
    offset: i64,
    /// Whether it is taken apart into rows, which are joined without a copy of their own.
    is_apart: bool,
}

impl Part {
    fn numel(&self) -> i64 {
        self.axes.iter().fold(1, |numel, (size, _)| numel.saturating_mul(*size))
    }

    /// Whether it is copied to be flat, before it is joined with the others.
    fn is_copied(&self) -> bool {
        !self.is_apart && self.axes.len() > 1
    }

    fn shape_and_strides(&self) -> (Dims, Dims) {
        self.axes.iter().copied().unzip()
    }

    /// The part as one or several arrays of one axis; a method makes a flat copy of one that is not taken apart.
    fn joined(&self, array: &str, flat: &str) -> String {
        match self.axes.len() {
            1 => array.into(),
            2 if self.is_apart => format!("*{array}"),
            3 if self.is_apart => format!("*(row for block in {array} for row in block)"),
            _ => format!("{array}.{flat}()"),
        }
    }
}

/// A view of a tensor's storage.
fn torch_strided(shape: &[i64], strides: &[i64], offset: i64) -> String {
    match offset {
        0 => ArrayLibrary::PyTorch.as_strided("x", shape, strides),
        // The offset of PyTorch's `as_strided` counts from the start of the storage.
        _ => format!("x.as_strided({}, {}, {offset})", tuple(shape), tuple(strides)),
    }
}

impl Blocked {
    /// The copy and the view of it as a line of Python for an array `x` of a library, NumPy under the name `np`. The
    /// array has the layout that was asked about, its offset included.
    ///
    /// PyTorch has no negative strides: its recipe is that of [`Blocked::without_negative_strides`].
    ///
    /// `None` where the library has no such arrays: neither has masks, PyTorch has no negative strides, and no array reads
    /// below address 0 of its memory ([`View::fits_buffer`]); where more than 64 views would have to be copied one after
    /// another; and where that would write more elements than copying all.
    ///
    /// ```
    /// use shapetracker::fit::{Misfit, fit};
    /// use shapetracker::{ArrayLibrary, View};
    ///
    /// let view = View::new([8, 3, 5], [0, 1, 3], 0, None)?;
    /// let Err(Misfit::Blocked(blocked)) = fit(&view, [8, 15]) else { panic!() };
    /// let recipe = |library| blocked.recipe(library).unwrap();
    /// assert_eq!(recipe(ArrayLibrary::NumPy), "np.broadcast_to(x[:1].copy().reshape(1, 15), (8, 15))");
    /// assert_eq!(recipe(ArrayLibrary::PyTorch), "x[:1].contiguous().view(1, 15).expand(8, 15)");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn recipe(&self, library: ArrayLibrary) -> Option<String> {
        let (code, written) = self.least(library)?;
        (written <= self.view().numel()).then_some(code)
    }

    /// The recipe, and how many elements its copies write, arrays included that are made on the way.
    pub(crate) fn least(&self, library: ArrayLibrary) -> Option<(String, i64)> {
        self.old().fits_buffer(None).ok()?;
        let blocked = match library {
            ArrayLibrary::NumPy => self,
            ArrayLibrary::PyTorch => self.without_negative_strides()?,
        };
        let mut views = blocked.copied().iter().chain([blocked.old(), blocked.view()]);
        if blocked.copied().len() > MOST_VIEWS || !views.all(|view| library.has(view)) {
            return None;
        }
        let parts = blocked.parts();
        let between: i64 = if parts.len() < 2 { &[][..] } else { &parts[..] }
            .iter()
            .filter(|part| part.is_copied())
            .map(Part::numel)
            .sum();
        let code = match library {
            ArrayLibrary::NumPy => blocked.numpy(&parts)?,
            ArrayLibrary::PyTorch => blocked.pytorch(&parts),
        };
        Some((code, blocked.elements().saturating_add(between)))
    }

    /// What is copied, each view with the fewest axes that say the same: where there are several, they are joined end to end.
    fn parts(&self) -> Vec<Part> {
        let mut rows = 0;
        self.copied()
            .iter()
            .map(|view| {
                let mut axes: Vec<(i64, i64)> = Vec::new();
                for (&size, &stride) in view.shape().iter().zip(view.strides()).filter(|(size, _)| **size != 1) {
                    match axes.last_mut() {
                        Some((outer, along)) if size.checked_mul(stride) == Some(*along) => {
                            (*outer, *along) = (*outer * size, stride);
                        }
                        _ => axes.push((size, stride)),
                    }
                }
                if axes.is_empty() {
                    axes.push((1, 1));
                }
                let pieces =
                    axes[..axes.len() - 1].iter().fold(1_i64, |pieces, (size, _)| pieces.saturating_mul(*size));
                let is_apart = axes.len() <= 3 && pieces <= MOST_ROWS - rows;
                if is_apart {
                    rows += pieces;
                }
                Part { axes, offset: view.offset(), is_apart }
            })
            .collect()
    }

    fn pytorch(&self, parts: &[Part]) -> String {
        let result = self.view();
        let strided = |view: &View| torch_strided(view.shape(), &filled(view), view.offset());
        let copy = match (self.slices(), self.copied()) {
            (Some(slices), _) => format!("x{slices}.contiguous()"),
            (None, [copied]) => format!("{}.contiguous()", strided(copied)),
            (None, _) => {
                let flat: Vec<String> = parts
                    .iter()
                    .map(|part| {
                        let (shape, strides) = part.shape_and_strides();
                        part.joined(&torch_strided(&shape, &strides, part.offset), "flatten")
                    })
                    .collect();
                format!("torch.cat(({}))", flat.join(", "))
            }
        };
        match self.row_major_shape() {
            None => ArrayLibrary::PyTorch.as_strided(&copy, result.shape(), &filled(result)),
            Some(shape) if shape[..] == *result.shape() => format!("{copy}.view({})", list(&shape)),
            Some(shape) => format!("{copy}.view({}).expand({})", list(&shape), list(result.shape())),
        }
    }

    fn numpy(&self, parts: &[Part]) -> Option<String> {
        let result = self.view();
        let strided = |array: &str, view: &View| ArrayLibrary::NumPy.as_strided(array, view.shape(), &filled(view));
        let copy = match (self.slices(), self.copied()) {
            (Some(slices), _) => format!("x{slices}.copy()"),
            (None, [copied]) => format!("{}.copy()", strided(&self.from(copied.offset())?, copied)),
            (None, _) => {
                let flat = parts.iter().map(|part| {
                    let (shape, strides) = part.shape_and_strides();
                    let array = ArrayLibrary::NumPy.as_strided(&self.from(part.offset)?, &shape, &strides);
                    Some(part.joined(&array, "ravel"))
                });
                format!("np.concatenate(({}))", flat.collect::<Option<Vec<String>>>()?.join(", "))
            }
        };
        Some(match self.row_major_shape() {
            None if result.offset() == 0 => strided(&copy, result),
            None => strided(&format!("{copy}.reshape(-1)[{}:]", result.offset()), result),
            Some(shape) if shape[..] == *result.shape() => format!("{copy}.reshape({})", list(&shape)),
            Some(shape) => format!("np.broadcast_to({copy}.reshape({}), {})", list(&shape), tuple(result.shape())),
        })
    }

    /// The array from an element on that is read at an address: NumPy's `as_strided` begins at the first element.
    fn from(&self, address: i64) -> Option<String> {
        if address == self.old().offset() {
            return Some("x".into());
        }
        let tracker = ShapeTracker::from(self.old().clone());
        let index = tracker.readers(address).next()?.ok()?;
        let slices: Vec<String> = index.iter().map(|i| if *i == 0 { ":".into() } else { format!("{i}:") }).collect();
        Some(format!("x[{}]", slices.join(", ")))
    }

    /// What is copied as slices of the old view, `[:1]`, or as nothing where it is all of it; `None` where it is more
    /// than broadcast axes cut short.
    fn slices(&self) -> Option<String> {
        let (old, [copied]) = (self.old(), self.copied()) else { return None };
        if copied == old {
            return Some(String::new());
        }
        if copied.rank() != old.rank() || copied.strides() != old.strides() || copied.offset() != old.offset() {
            return None;
        }
        // Windows that overlap share their elements: what is copied may then reach further along an axis than the view.
        if copied.shape().iter().zip(old.shape()).any(|(to, from)| to > from) {
            return None;
        }
        let slices = copied.shape().iter().zip(old.shape());
        let mut slices: Vec<String> =
            slices.map(|(&to, &from)| if to == from { ":".into() } else { format!(":{to}") }).collect();
        while slices.last().is_some_and(|slice| slice == ":") {
            slices.pop();
        }
        Some(format!("[{}]", slices.join(", ")))
    }

    /// The row-major shape of the fresh buffer that broadcasts to the new one, with 1 for the axes that are broadcast;
    /// `None` where its elements do not lie in that order.
    fn row_major_shape(&self) -> Option<Dims> {
        let result = self.view();
        let sizes = result.shape().iter().zip(result.strides());
        let shape: Dims = sizes.map(|(&size, &stride)| if stride == 0 { 1 } else { size }).collect();
        let row_major = View::contiguous(&shape).ok()?;
        (row_major.strides() == result.strides() && result.offset() == 0).then_some(shape)
    }
}
