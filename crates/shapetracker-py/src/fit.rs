//! Can an array take another shape without a copy, and if not, what is in the way?

use std::fmt::Write;

use pyo3::prelude::*;
use pyo3::types::PyTuple;
use shapetracker::{Blocked, Misfit, Unmerged, Witness, fit};

use crate::arguments::numbers;
use crate::array::{Maker, maker, view_of};
use crate::error::{layout, tuple, unmerged};
use crate::merge::witness;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// Can an array be a view under a new shape, of which one size may be -1? If not: which axes are in the way, and what
/// is the smallest copy that helps?
///
/// Takes what `of` takes, a ShapeTracker or a View, and the shape as numbers or as one sequence. Nothing is moved.
#[pyfunction]
#[pyo3(signature = (array, *new_shape))]
pub(crate) fn explain_view(array: &Bound<'_, PyAny>, new_shape: &Bound<'_, PyTuple>) -> PyResult<Explanation> {
    const OP: &str = "explain_view";
    let to = numbers(OP, new_shape)?;
    let (tracker, maker) = if let Ok(tracker) = array.cast::<ShapeTracker>() {
        (tracker.get().0.clone(), None)
    } else if let Ok(view) = array.cast::<View>() {
        (view.get().0.clone().into(), None)
    } else {
        (view_of(OP, array)?.into(), maker(array)?)
    };
    let py = array.py();
    let answer = match tracker.single_view() {
        Ok(view) => match fit(&view, &to) {
            Ok(fitting) => Answer::Fits(fitting),
            Err(Misfit::Blocked(blocked)) => Answer::Blocked(blocked),
            Err(Misfit::Undecided) => return Err(unmerged(py, Unmerged::Undecided)),
            Err(Misfit::Error(err)) => return Err(layout(&err)),
        },
        Err(Unmerged::Witness(_)) => {
            // Several views, which may yet be one under the new shape.
            let reshaped = tracker.reshape(&to).map_err(|err| layout(&err))?;
            match reshaped.single_view() {
                Ok(fitting) => Answer::Fits(fitting),
                Err(Unmerged::Witness(witness)) => Answer::Stacked { shape: reshaped.shape().to_vec(), witness },
                Err(err) => return Err(unmerged(py, err)),
            }
        }
        Err(err) => return Err(unmerged(py, err)),
    };
    Ok(Explanation { tracker, maker, answer })
}

/// The answer of `explain_view`: true where there is a view, and else what is in the way and what helps.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Explanation {
    tracker: shapetracker::ShapeTracker,
    /// The library that the array is from.
    maker: Option<Maker>,
    answer: Answer,
}

enum Answer {
    Fits(shapetracker::View),
    Blocked(Box<Blocked>),
    /// Of a tracker that is no single view to begin with, all elements are to be copied.
    Stacked {
        shape: Vec<i64>,
        witness: Witness,
    },
}

#[pymethods]
impl Explanation {
    /// Whether the array can be a view under the new shape.
    #[getter]
    fn possible(&self) -> bool {
        matches!(self.answer, Answer::Fits(_))
    }

    fn __bool__(&self) -> bool {
        self.possible()
    }

    /// The tracker of the array.
    #[getter]
    fn tracker(&self) -> ShapeTracker {
        ShapeTracker(self.tracker.clone())
    }

    /// The new shape.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        tuple(py, self.new_shape())
    }

    /// The view under the new shape, in elements; None where there is none.
    #[getter]
    fn view(&self) -> Option<View> {
        match &self.answer {
            Answer::Fits(view) => Some(View(view.clone())),
            _ => None,
        }
    }

    /// The strides of that view.
    #[getter]
    fn strides<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        match &self.answer {
            Answer::Fits(view) => tuple(py, view.strides()).map(Some),
            _ => Ok(None),
        }
    }

    /// What is in the way, outermost axes first.
    #[getter]
    fn obstacles<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let obstacles = self.blocked().map_or(&[][..], |blocked| &blocked.obstacles);
        PyTuple::new(py, obstacles.iter().cloned().map(Obstacle))
    }

    /// Proof that there is no such view, in indices of the new shape: an UnevenStep or a NotABox.
    #[getter]
    fn witness(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.evidence().map(|evidence| witness(py, evidence)).transpose()
    }

    /// The elements to copy into a fresh row-major buffer, as a view of the old one; None where nothing is copied, and
    /// where a tracker of several views is to be copied.
    #[getter]
    fn copied(&self) -> Option<View> {
        self.blocked().map(|blocked| View(blocked.copied.clone()))
    }

    /// The view of that buffer that has the new shape.
    #[getter]
    fn copied_view(&self) -> PyResult<Option<View>> {
        match &self.answer {
            Answer::Fits(_) => Ok(None),
            Answer::Blocked(blocked) => Ok(Some(View(blocked.view.clone()))),
            Answer::Stacked { shape, .. } => {
                shapetracker::View::contiguous(shape).map(|view| Some(View(view))).map_err(|err| layout(&err))
            }
        }
    }

    /// How many elements are to be copied: 0 where there is a view.
    #[getter]
    fn elements(&self) -> i64 {
        match &self.answer {
            Answer::Fits(_) => 0,
            Answer::Blocked(blocked) => blocked.copied.numel(),
            Answer::Stacked { .. } => self.tracker.numel(),
        }
    }

    /// What makes the array of the new shape, copying no more than that: a line of Python for an array `x` of the
    /// library that the array came from, NumPy (as `np`) or PyTorch; None where there is none.
    #[getter]
    fn recipe(&self) -> Option<String> {
        let call = |method: &str, shape: &[i64]| {
            let sizes: Vec<String> = shape.iter().map(i64::to_string).collect();
            format!("x.{method}({})", if sizes.is_empty() { "()".to_owned() } else { sizes.join(", ") })
        };
        let view = self.tracker.as_view()?;
        match (self.maker?, &self.answer) {
            (Maker::NumPy, Answer::Fits(to)) => Some(call("reshape", to.shape())),
            (Maker::Torch, Answer::Fits(to)) => Some(call("view", to.shape())),
            (Maker::NumPy, Answer::Blocked(blocked)) => blocked.numpy(view),
            (Maker::Torch, Answer::Blocked(blocked)) => blocked.pytorch(view),
            (_, Answer::Stacked { .. }) => None,
        }
    }

    /// The whole answer as text.
    fn __str__(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn __repr__(&self) -> String {
        let shape = shown(self.new_shape());
        match &self.answer {
            Answer::Fits(_) => format!("<Explanation: yes, a view of shape {shape}>"),
            _ => format!("<Explanation: no view of shape {shape}; {} to copy>", count(self.elements())),
        }
    }

    fn _repr_html_(&self) -> String {
        let text = self.__str__().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
        format!("<pre>{text}</pre>")
    }
}

impl Explanation {
    fn new_shape(&self) -> &[i64] {
        match &self.answer {
            Answer::Fits(view) => view.shape(),
            Answer::Blocked(blocked) => blocked.view.shape(),
            Answer::Stacked { shape, .. } => shape,
        }
    }

    fn blocked(&self) -> Option<&Blocked> {
        match &self.answer {
            Answer::Blocked(blocked) => Some(blocked),
            _ => None,
        }
    }

    fn evidence(&self) -> Option<&Witness> {
        match &self.answer {
            Answer::Fits(_) => None,
            Answer::Blocked(blocked) => Some(&blocked.witness),
            Answer::Stacked { witness, .. } => Some(witness),
        }
    }

    fn write(&self, f: &mut String) -> std::fmt::Result {
        let from = match self.tracker.as_view() {
            Some(view) => described(view),
            None => format!("shape {} through {} views", shown(self.tracker.shape()), self.tracker.views().len()),
        };
        let to = shown(self.new_shape());
        if let Answer::Fits(view) = &self.answer {
            writeln!(f, "Yes, {from} can be viewed as {to}\n")?;
            writeln!(f, "  strides  {}\n  offset   {}", shown(view.strides()), view.offset())?;
            if let Some(mask) = view.mask() {
                writeln!(f, "  mask     {}", ranges(mask))?;
            }
        } else {
            writeln!(f, "No, {from} cannot be viewed as {to}")?;
        }
        if let Some(blocked) = self.blocked() {
            writeln!(f, "\nWhat is in the way")?;
            for obstacle in &blocked.obstacles {
                writeln!(f, "  {obstacle}.")?;
            }
        }
        if let Some(evidence) = self.evidence() {
            writeln!(f, "\nProof\n  {evidence}.")?;
            let (some, all) = (self.elements(), self.tracker.numel());
            let how_many =
                if some == all { format!("all {}", count(all)) } else { format!("{some} of {}", count(all)) };
            let which = if self.blocked().is_some() { "The smallest copy" } else { "A copy" };
            writeln!(f, "\n{which} that helps ({how_many})")?;
        }
        match &self.answer {
            Answer::Fits(_) => {}
            Answer::Blocked(blocked) => {
                let (copied, view) = (&blocked.copied, &blocked.view);
                write!(f, "  copy     into a fresh row-major buffer of shape {}", shown(copied.shape()))?;
                if self.tracker.as_view() != Some(copied) {
                    write!(f, " of the elements at strides {} from {}", shown(copied.strides()), copied.offset())?;
                }
                write!(f, "\n  view     that buffer as {to} with strides {}", shown(view.strides()))?;
                writeln!(
                    f,
                    "{}",
                    if view.offset() == 0 { String::new() } else { format!(" and offset {}", view.offset()) }
                )?;
            }
            Answer::Stacked { .. } => writeln!(f, "  copy     into a fresh row-major buffer of shape {to}")?,
        }
        if let (Some(maker), Some(recipe)) = (self.maker, self.recipe()) {
            let name = if maker == Maker::NumPy { "NumPy  " } else { "PyTorch" };
            writeln!(f, "  {name}  {recipe}")?;
        }
        Ok(())
    }
}

/// One reason why an array cannot take a shape; `str` writes it as a sentence.
#[pyclass(frozen, eq, hash, module = "shapetracker")]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct Obstacle(shapetracker::Obstacle);

#[pymethods]
impl Obstacle {
    /// "strides", where two old axes do not continue each other, or "mask", where what is valid would be no box.
    #[getter]
    fn kind(&self) -> &'static str {
        match self.0 {
            shapetracker::Obstacle::Strides { .. } => "strides",
            shapetracker::Obstacle::Mask { .. } => "mask",
        }
    }

    /// The old axes that are in the way.
    #[getter]
    fn old_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.old_axes().iter().map(|old| old.axis))
    }

    /// The new axes that they are in the way of.
    #[getter]
    fn new_axes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.0.new_axes().iter().map(|new| new.axis))
    }

    /// The stride of the outer one of two old axes; None for a mask.
    #[getter]
    fn stride(&self) -> Option<i64> {
        match self.0 {
            shapetracker::Obstacle::Strides { stride, .. } => Some(stride),
            shapetracker::Obstacle::Mask { .. } => None,
        }
    }

    /// The stride that it would need; None for a mask.
    #[getter]
    fn needed(&self) -> Option<i128> {
        match self.0 {
            shapetracker::Obstacle::Strides { needed, .. } => Some(needed),
            shapetracker::Obstacle::Mask { .. } => None,
        }
    }

    fn __str__(&self) -> String {
        self.0.to_string()
    }

    fn __repr__(&self) -> String {
        format!("<Obstacle: {}>", self.0)
    }
}

fn described(view: &shapetracker::View) -> String {
    let mut text = format!("shape {} with strides {}", shown(view.shape()), shown(view.strides()));
    if view.offset() != 0 {
        let _ = write!(text, " and offset {}", view.offset());
    }
    if let Some(mask) = view.mask() {
        let _ = write!(text, " and mask {}", ranges(mask));
    }
    text
}

/// Ranges as Python writes a tuple of pairs.
fn ranges(mask: &[(i64, i64)]) -> String {
    let inside = mask.iter().map(|(begin, end)| format!("({begin}, {end})")).collect::<Vec<_>>().join(", ");
    format!("({inside}{})", if mask.len() == 1 { "," } else { "" })
}

/// Numbers as Python writes a tuple.
fn shown(numbers: &[i64]) -> String {
    let inside = numbers.iter().map(i64::to_string).collect::<Vec<_>>().join(", ");
    format!("({inside}{})", if numbers.len() == 1 { "," } else { "" })
}

/// `1 element`, `2 elements`.
fn count(elements: i64) -> String {
    format!("{elements} element{}", if elements == 1 { "" } else { "s" })
}
