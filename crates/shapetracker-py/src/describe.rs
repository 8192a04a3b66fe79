//! In which order the elements of an array or a tracker lie, what it leaves out and shares, and what takes it as it is.

use std::borrow::Cow;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyString, PyTuple};
use shapetracker::advice::Array;
use shapetracker::describe::{Claim, Line, Memory, Overlap, describe as described, describe_array};
use shapetracker::json::Value;
use shapetracker::{ArrayLibrary, Dims};

use crate::arguments::{number, tuple};
use crate::array::{address_of, itemsize_of, library_of, strides_of, view_of};
use crate::cute::of_document;
use crate::error::{layout, undecided};
use crate::picture;
use crate::symbolic::refused;
use crate::tracker::ShapeTracker;
use crate::view::View;

/// In which order the elements of an array lie, what it leaves out and shares, and what takes it as it is: BLAS, the tensor maps
/// of CUDA, cuDNN and oneDNN, vectors, PyTorch, NumPy and JAX. Every no has its reason, and the nearest layout that would do.
///
/// Takes what `of` takes, a ShapeTracker, a View, or the text of one. Nothing is moved, and no data are looked at. `itemsize`
/// is how many bytes an element has, which an array says itself. With `other`, of the same buffer, it also says whether the
/// two share an address; arrays of NumPy share one where they are views of one array.
#[pyfunction]
#[pyo3(signature = (array, other = None, *, itemsize = None))]
pub(crate) fn describe(
    array: &Bound<'_, PyAny>,
    other: Option<&Bound<'_, PyAny>>,
    itemsize: Option<&Bound<'_, PyAny>>,
) -> PyResult<Description> {
    const OP: &str = "describe";
    let bytes = match itemsize {
        Some(itemsize) => {
            let bytes = number(OP, || "`itemsize`".into(), itemsize)?;
            let bytes = u32::try_from(bytes).ok().filter(|&bytes| bytes > 0);
            Some(bytes.ok_or_else(|| {
                PyValueError::new_err(format!("{OP}: `itemsize` is to be a number of bytes, 1 or more"))
            })?)
        }
        None => None,
    };
    if let Some(tracker) = tracker_of(OP, array)? {
        if let Some(named) = tracker.named() {
            let meeting = |other| {
                let Some(other) = tracker_of(OP, other)? else {
                    let sentence = format!("{OP}: a layout with names is compared with layouts, and not with arrays");
                    return Err(PyValueError::new_err(sentence));
                };
                Meeting::of_names(named, other.names(OP)?.into_owned())
            };
            let meeting = other.map(meeting).transpose()?;
            return Ok(Description { kind: Kind::Names(Box::new(named.describe(bytes))), strides: None, meeting });
        }
        let found = described(tracker.numbers(OP)?, bytes.map(Memory::of));
        let meeting = |other| Meeting::of_numbers(Both::of(&found.tracker, &layout_of(OP, other)?));
        let meeting = other.map(meeting).transpose()?;
        return Ok(Description { kind: Kind::Numbers(Box::new(found)), strides: None, meeting });
    }
    let view = view_of(OP, array)?;
    let bytes = match bytes {
        Some(bytes) => Some(bytes),
        None => itemsize_of(array)?.and_then(|bytes| u32::try_from(bytes).ok()).filter(|&bytes| bytes > 0),
    };
    let memory = match bytes {
        Some(bytes) => Some(Memory { bytes, alignment: address_of(array)?.map_or(256, alignment) }),
        None => None,
    };
    let strides = library_of(array)?.map_or(Ok(None), |library: ArrayLibrary| strides_of(library, array))?;
    let found = of_array(&view.into(), strides.as_deref(), memory)?;
    let meeting = other.map(|other| both_in_memory(&found.tracker, array, other).and_then(Meeting::of_numbers));
    Ok(Description { kind: Kind::Numbers(Box::new(found)), strides, meeting: meeting.transpose()? })
}

/// The description of an array by its layout and the strides that its library reports.
fn of_array(
    tracker: &shapetracker::ShapeTracker,
    strides: Option<&[i64]>,
    memory: Option<Memory>,
) -> PyResult<shapetracker::describe::Description> {
    match (strides, tracker.as_view()) {
        (Some(strides), Some(view)) => {
            let kept = Array { shape: view.shape().into(), strides: strides.into(), offset: view.offset() };
            describe_array(&kept, memory).map_err(|err| layout(&err))
        }
        _ => Ok(described(tracker, memory)),
    }
}

/// The tracker of a tracker, a view or a text; None for arrays.
fn tracker_of<'a>(op: &'static str, object: &'a Bound<'_, PyAny>) -> PyResult<Option<Cow<'a, ShapeTracker>>> {
    if let Ok(text) = object.cast::<PyString>() {
        let (py, text) = (object.py(), text.to_str()?);
        let read = ShapeTracker::parse(py, text, None);
        // What is no chain of numbers may be one of names.
        return read.or_else(|err| ShapeTracker::parse(py, text, Some("")).map_err(|_| err)).map(Cow::Owned).map(Some);
    }
    let is_layout = object.is_instance_of::<ShapeTracker>() || object.is_instance_of::<View>();
    is_layout.then(|| ShapeTracker::any(op, object)).transpose()
}

/// The layout of a tracker, a view, a text or an array, of numbers.
fn layout_of(op: &'static str, object: &Bound<'_, PyAny>) -> PyResult<shapetracker::ShapeTracker> {
    match tracker_of(op, object)? {
        Some(tracker) => Ok(tracker.numbers(op)?.clone()),
        None => view_of(op, object).map(shapetracker::ShapeTracker::from),
    }
}

/// Two layouts of one buffer in units of which an element has some: what is shared is told of elements.
struct Both {
    layouts: [shapetracker::ShapeTracker; 2],
    /// How many axes of each are those of elements.
    ranks: [usize; 2],
    /// How many units an element has.
    units: i64,
}

impl Both {
    fn of(tracker: &shapetracker::ShapeTracker, other: &shapetracker::ShapeTracker) -> Both {
        Both { layouts: [tracker.clone(), other.clone()], ranks: [tracker.rank(), other.rank()], units: 1 }
    }
}

/// An array and another one, wherever both lie, or a layout of its memory.
fn both_in_memory(
    tracker: &shapetracker::ShapeTracker,
    array: &Bound<'_, PyAny>,
    other: &Bound<'_, PyAny>,
) -> PyResult<Both> {
    const OP: &str = "describe";
    let layout = layout_of(OP, other)?;
    let widths = [itemsize_of(array)?, itemsize_of(other)?];
    let addresses = [address_of(array)?, address_of(other)?];
    let ([Some(width), Some(wide)], [Some(here), Some(there)]) = (widths, addresses) else {
        return Ok(Both::of(tracker, &layout));
    };
    let apart = i128::from(there) - i128::from(here);
    // In elements where both have them at multiples of their bytes, and else in bytes.
    let unit = if width == wide && apart % i128::from(width.max(1)) == 0 { width.max(1) } else { 1 };
    let past = || PyValueError::new_err(format!("{OP}: the arrays lie further apart than 64-bit integers count"));
    let in_units = |tracker: &shapetracker::ShapeTracker, bytes: i64, shift: i128| {
        let view = tracker.as_view().ok_or_else(past)?;
        let by = i128::from(bytes / unit);
        let times = |stride: i64| i64::try_from(i128::from(stride) * by).map_err(|_| past());
        let mut shape = view.shape().to_vec();
        let mut strides = view.strides().iter().map(|&stride| times(stride)).collect::<PyResult<Vec<_>>>()?;
        if by > 1 {
            shape.push(by as i64);
            strides.push(1);
        }
        let offset = i64::try_from(i128::from(view.offset()) * by + shift / i128::from(unit)).map_err(|_| past())?;
        let made = shapetracker::View::new(shape, strides, offset, None);
        made.map(shapetracker::ShapeTracker::from).map_err(|err| crate::error::layout(&err))
    };
    let layouts = [in_units(tracker, width, 0)?, in_units(&layout, wide, apart)?];
    Ok(Both { layouts, ranks: [tracker.rank(), layout.rank()], units: width.max(1) / unit })
}

/// What an address is a multiple of, up to 256.
fn alignment(address: u64) -> u64 {
    1 << address.trailing_zeros().min(8)
}

enum Kind {
    Numbers(Box<shapetracker::describe::Description>),
    Names(Box<shapetracker_symbolic::Description>),
}

/// Whether two layouts share an address: an element of each that lie at one; with what was asked.
enum Meeting {
    Numbers(Overlap, Box<Both>),
    Names(Option<shapetracker_symbolic::Collision>, Box<shapetracker_symbolic::ShapeTracker>),
}

impl Meeting {
    fn of_numbers(both: Both) -> PyResult<Meeting> {
        let [a, b] = &both.layouts;
        let found = match a.overlap(b).map_err(undecided)? {
            Overlap::Shared { indices: [mut i, mut j], address } => {
                // Of a byte of an element the index is that of the element.
                i.truncate(both.ranks[0]);
                j.truncate(both.ranks[1]);
                Overlap::Shared { indices: [i, j], address: address.div_euclid(both.units) }
            }
            found => found,
        };
        Ok(Meeting::Numbers(found, Box::new(both)))
    }

    fn of_names(
        named: &shapetracker_symbolic::ShapeTracker,
        other: shapetracker_symbolic::ShapeTracker,
    ) -> PyResult<Meeting> {
        let found = named.overlap(&other).map_err(|err| refused(&err))?;
        Ok(Meeting::Names(found, Box::new(other)))
    }

    fn sentence(&self) -> String {
        match self {
            Meeting::Numbers(found, _) => found.to_string(),
            Meeting::Names(Some(found), _) => found.to_string(),
            Meeting::Names(None, _) => "they share no address, for all values".into(),
        }
    }

    fn document(&self) -> Value {
        match self {
            Meeting::Numbers(found, _) => Value::from(found),
            Meeting::Names(found, _) => {
                let kind = if found.is_some() { "shared" } else { "apart" };
                Value::Null.with("sentence", self.sentence()).with("kind", kind)
            }
        }
    }
}

/// Another layout as it is kept: both as they were compared, how many axes of each are those of elements, and the units of an element.
type Other = (ShapeTracker, ShapeTracker, [usize; 2], i64);
/// The same as Python hands it over.
type OtherOf<'py> = (Bound<'py, ShapeTracker>, Bound<'py, ShapeTracker>, [usize; 2], i64);

/// The answer of `describe`.
#[pyclass(frozen, module = "shapetracker")]
pub(crate) struct Description {
    kind: Kind,
    /// The strides that the library of an array reports.
    strides: Option<Dims>,
    /// What is known of it and another layout.
    meeting: Option<Meeting>,
}

#[pymethods]
impl Description {
    /// Whether every address from the lowest to the highest one is read by exactly one element and no element is masked; None
    /// where that was not decided, and where sizes have names: `orders` has it then.
    #[getter]
    fn dense(&self) -> Option<bool> {
        match &self.kind {
            Kind::Numbers(found) => found.is_dense(),
            Kind::Names(_) => None,
        }
    }

    /// What the order of the axes in memory is called: of "row-major", "column-major", "channels_last", "channels_last_3d" and
    /// "blocked" those that hold. With names those in which the layout is dense for all values.
    #[getter]
    fn orders<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.kind {
            Kind::Numbers(found) => PyTuple::new(py, found.order.as_ref().map_or(&[][..], |order| &order.names)),
            Kind::Names(found) => {
                let always = found.orders.iter().filter(|(_, when)| *when == shapetracker_symbolic::Equality::Always);
                PyTuple::new(py, always.map(|(name, _)| *name).collect::<Vec<_>>())
            }
        }
    }

    /// The lowest and the highest address that is read, in elements; None where nothing is, where that was not decided, and where
    /// sizes have names.
    #[getter]
    fn range(&self) -> Option<(i64, i64)> {
        match &self.kind {
            Kind::Numbers(found) => found.range.ok().flatten(),
            Kind::Names(_) => None,
        }
    }

    /// How many addresses between them no element reads; None where that was not decided, and where sizes have names.
    #[getter]
    fn holes(&self) -> Option<i128> {
        match &self.kind {
            Kind::Numbers(found) => found.holes(),
            Kind::Names(_) => None,
        }
    }

    /// The indices of two elements that read one address, and the address; None where there are none, and where sizes have names.
    #[getter]
    fn collision<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let Kind::Numbers(found) = &self.kind else { return Ok(None) };
        let Some(shared) = found.collision.as_ref().map_err(|err| undecided(*err))? else { return Ok(None) };
        let [a, b] = &shared.indices;
        (tuple(py, a)?, tuple(py, b)?, shared.address).into_pyobject(py).map(Some)
    }

    /// Of the layout and the other one: the indices of an element of each that lie at one address, and the address; None where
    /// they share none, and where no other layout was given; with names at values that `lines` has. `to_dict()["overlap"]` has the reason.
    #[getter]
    fn overlap<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let ([a, b], address) = match &self.meeting {
            Some(Meeting::Numbers(Overlap::Shared { indices, address }, _)) => (indices, *address),
            Some(Meeting::Names(Some(found), _)) => (&found.indices, found.address),
            _ => return Ok(None),
        };
        (tuple(py, a)?, tuple(py, b)?, address).into_pyobject(py).map(Some)
    }

    /// What cuDNN and oneDNN call the layout: pairs of library and name, such as ("cuDNN", "NHWC") and ("oneDNN", "acdb").
    #[getter]
    fn formats<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        match &self.kind {
            Kind::Numbers(found) => PyTuple::new(py, found.formats.iter().map(|format| (format.library, &format.name))),
            Kind::Names(found) => PyTuple::new(py, found.formats.iter().map(|format| (format.library, &format.name))),
        }
    }

    /// The widest vectors, in elements, that all elements can be read by; None where that is not known.
    #[getter]
    fn vector(&self) -> Option<i64> {
        match &self.kind {
            Kind::Numbers(found) => found.vector.map(|vector| vector.elements),
            Kind::Names(found) => found.vector,
        }
    }

    /// Whether a claim holds: "dense", "row-major" (or "contiguous"), "column-major", "channels_last", "channels_last_3d", "blocked", "injective",
    /// "matrix", "tma", "vector=4", or a format such as "NHWC" or "aBcd8b". None where that was not decided, with names where it is not known
    /// to hold for all values, and for "tma" where the bytes of an element are not known.
    ///
    /// >>> import shapetracker
    /// >>> shapetracker.describe("(8, 32, 32, 3).permute(0, 3, 1, 2)").holds("channels_last")
    /// True
    fn holds(&self, claim: &str) -> PyResult<Option<bool>> {
        let claim: Claim = claim.parse().map_err(PyValueError::new_err)?;
        Ok(match &self.kind {
            Kind::Numbers(found) => found.holds(&claim),
            Kind::Names(found) => found.holds(&claim),
        })
    }

    /// The description as pairs of a topic and a sentence.
    #[getter]
    fn lines<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.told().into_iter().map(|line| (line.topic, line.text)))
    }

    /// All of it as a dict, the library's document: what BLAS and tensor maps take and why not, what PyTorch, NumPy and JAX report.
    fn to_dict<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let document = match &self.kind {
            Kind::Numbers(found) => Value::from(&**found),
            Kind::Names(found) => Value::from(&**found),
        };
        of_document(py, &document.with("overlap", self.meeting.as_ref().map(Meeting::document)))
    }

    /// The answer of a question that is kept as its parts: the layout, the bytes of an element and what the address of the buffer is a
    /// multiple of, the strides that the library of an array reports, and the other layout, as it was compared. It is how `pickle` asks
    /// again.
    #[staticmethod]
    fn of_parts(
        layout: &ShapeTracker,
        memory: Option<(u32, u64)>,
        strides: Option<Vec<i64>>,
        other: Option<OtherOf<'_>>,
    ) -> PyResult<Self> {
        const OP: &str = "of_parts";
        let memory = memory.map(|(bytes, alignment)| Memory { bytes, alignment });
        if let Some(named) = layout.named() {
            let other = other.map(|(_, other, ..)| Meeting::of_names(named, other.get().names(OP)?.into_owned()));
            let found = named.describe(memory.map(|memory| memory.bytes));
            return Ok(Description { kind: Kind::Names(Box::new(found)), strides: None, meeting: other.transpose()? });
        }
        let strides = strides.map(Dims::from);
        let found = of_array(layout.numbers(OP)?, strides.as_deref(), memory)?;
        let meeting = other.map(|(one, two, ranks, units)| {
            let layouts = [one.get().numbers(OP)?.clone(), two.get().numbers(OP)?.clone()];
            Meeting::of_numbers(Both { layouts, ranks, units: units.max(1) })
        });
        Ok(Description { kind: Kind::Numbers(Box::new(found)), strides, meeting: meeting.transpose()? })
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        let named = |named: &shapetracker_symbolic::ShapeTracker| {
            ShapeTracker::from_names(Ok::<_, shapetracker_symbolic::Error>(named.clone()))
        };
        let (layout, memory) = match &self.kind {
            Kind::Numbers(found) => {
                (found.tracker.clone().into(), found.memory.map(|memory| (memory.bytes, memory.alignment)))
            }
            Kind::Names(found) => (named(&found.tracker)?, found.bytes.map(|bytes| (bytes, 1))),
        };
        let other: Option<Other> = match &self.meeting {
            None => None,
            Some(Meeting::Numbers(_, both)) => {
                let [one, two] = both.layouts.clone();
                Some((one.into(), two.into(), both.ranks, both.units))
            }
            Some(Meeting::Names(_, other)) => Some((layout.clone(), named(other)?, [0, 0], 1)),
        };
        let strides = self.strides.as_deref().map(|strides| tuple(py, strides)).transpose()?;
        let again = py.get_type::<Description>().getattr("of_parts")?;
        (again, (layout, memory, strides, other)).into_pyobject(py)
    }

    /// The lines as text.
    fn __str__(&self) -> String {
        let lines = self.told().into_iter().map(|Line { topic, text }| format!("{topic:<9}  {text}"));
        lines.collect::<Vec<_>>().join("\n")
    }

    fn __repr__(&self) -> String {
        format!("<Description: {}>", self.told().first().map_or("", |line| &line.text))
    }

    fn _repr_html_(&self) -> String {
        picture::pre(&self.__str__())
    }
}

impl Description {
    fn told(&self) -> Vec<Line> {
        let mut lines = match &self.kind {
            Kind::Numbers(found) => found.lines(),
            Kind::Names(found) => found.lines(),
        };
        lines.extend(self.meeting.as_ref().map(|found| Line { topic: "overlap", text: found.sentence() }));
        lines
    }
}
