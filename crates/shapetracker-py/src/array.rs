//! Arrays of other libraries: their trackers, and their data moved through trackers.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use pyo3::exceptions::{PyBufferError, PyMemoryError, PyOverflowError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{IntoPyDict, PyByteArray, PyBytes, PyCapsule, PyDict, PyInt, PyMemoryView, PySlice};
use shapetracker::{ArrayLibrary, Dims};

use crate::arguments::{described, number, tuple};
use crate::error::layout;
use crate::import::{Imported, module};
use crate::memory::{
    Layout, Memory, OUTSIDE_STORAGE, layout_of_capsule, row_major, storage, storage_elements, write_new,
    write_new_tensor,
};
use crate::numpy::{NumPy, no_value};
use crate::route::{APPLY, How, Route, Shared};
use crate::tracker::ShapeTracker;
use crate::view::View;

/// The tracker of an array: one view, in elements, without a mask.
///
/// Takes any NumPy array, PyTorch tensor, array of JAX, or object with the buffer protocol, `__array_interface__`,
/// `__cuda_array_interface__` or `__dlpack__`, on whichever device: no data are looked at. Addresses count from the start of a tensor's storage, and otherwise from the lowest element that is
/// read: the tracker of a reversed array of n elements has the offset n - 1. `memory` gives what they count in.
#[pyfunction]
pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<ShapeTracker> {
    view_of("of", array).map(|view| shapetracker::ShapeTracker::from(view).into())
}

/// The array of one axis, of the same library and without a copy, that the addresses of `of(array)` count in.
///
/// `apply(of(x), memory(x))` has the elements of x.
#[pyfunction]
pub(crate) fn memory<'py>(array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    const OP: &str = "memory";
    if torch_of(array)?.is_some() {
        // What is needed of a tensor it says on any device.
        tensor_view(OP, array)?;
        let numel = storage_elements(array)?;
        return array.call_method1(intern!(array.py(), "as_strided"), ((numel,), (1,), 0));
    }
    let array = Array::new(OP, array)?;
    let layout = &array.memory.layout;
    view_in_elements(OP, layout)?;
    match &array.library {
        Library::NumPy(numpy) => {
            NumPy::refuse_beside_objects(OP, &array.object)?;
            let (shape, strides) = ([layout.extent / layout.width], Dims::from_elem(layout.width, 1));
            let all = Shared { offset: 0, strides, collides: false };
            numpy.view(&array.object, &array.memory, &shape, &all)
        }
        Library::Torch(_) | Library::Plain => plain_elements(OP, &array.object),
    }
}

/// `shapetracker.apply` of a tracker or a view, which says what it does.
#[pyfunction]
#[pyo3(signature = (tracker, array, fill=Fill(None), *, copy=None, threads=None, progress=None, tuned=false))]
#[pyo3(text_signature = "(tracker, array, fill=0, *, copy=None, threads=1, progress=None, tuned=False)")]
pub(crate) fn apply<'py>(
    tracker: &Bound<'py, PyAny>,
    array: &Bound<'py, PyAny>,
    fill: Fill<'py>,
    copy: Option<bool>,
    threads: Option<&Bound<'py, PyAny>>,
    progress: Option<&Bound<'py, PyAny>>,
    tuned: bool,
) -> PyResult<Bound<'py, PyAny>> {
    if tuned && progress.is_some() {
        let sentence = "tuned=True measures whole copies, and `progress` follows one in parts: they do not go together";
        return Err(PyValueError::new_err(format!("{APPLY}: {sentence}")));
    }
    let given;
    let tracker = if let Ok(tracker) = tracker.cast::<ShapeTracker>() {
        tracker.get().numbers(APPLY)?
    } else if let Ok(view) = tracker.cast::<View>() {
        given = shapetracker::ShapeTracker::from(view.get().numbers(APPLY)?.clone());
        &given
    } else {
        let sentence = format!("{APPLY}: takes a ShapeTracker and an array, not {}", described(tracker));
        return Err(PyTypeError::new_err(sentence));
    };
    let array = Array::new(APPLY, array)?;
    let threads = threads.map_or(Ok(1), |threads| number(APPLY, || "`threads`".into(), threads))?;
    let how = How { threads, tuned, progress };
    let fill = fill.0.map(|fill| array.fill(&fill)).transpose()?;
    let route = Route::find(tracker, &array.memory.layout)?;
    if copy != Some(true)
        && let Some(shared) = route.shared()
        && let Some(shared) = array.share(tracker.shape(), shared, copy.is_some())?
    {
        return Ok(shared);
    }
    if copy == Some(false) && tracker.numel() > 0 {
        return Err(route.must_move(array.object.py()));
    }
    match array.resolved()? {
        None => array.moved(&route, fill.as_deref(), &how),
        Some(array) => array.moved(&*Route::find(tracker, &array.memory.layout)?, fill.as_deref(), &how),
    }
}

/// What stands where nothing is; nothing for the integer 0, which means zero bytes of any type.
pub(crate) struct Fill<'py>(Option<Bound<'py, PyAny>>);

impl<'py> FromPyObject<'_, 'py> for Fill<'py> {
    type Error = PyErr;

    fn extract(value: Borrowed<'_, 'py, PyAny>) -> PyResult<Fill<'py>> {
        let is_zero = value.is_exact_instance_of::<PyInt>() && !value.is_truthy()?;
        Ok(Fill((!is_zero).then(|| value.to_owned())))
    }
}

/// The view of an array in elements: from its metadata, wherever its data are.
pub(crate) fn view_of(op: &str, array: &Bound<'_, PyAny>) -> PyResult<shapetracker::View> {
    let py = array.py();
    refuse_masked(op, array)?;
    let of_numpy = imported(array, "numpy", "ndarray")?.is_some();
    if !of_numpy {
        refuse_distributed(op, array)?;
        if is_tensor(array)? {
            return tensor_view(op, array);
        }
        if let Some(view) = placed_view(array)? {
            return Ok(view);
        }
    }
    if let Some(memory) = Memory::of_buffer(array)? {
        return view_in_elements(op, &memory.layout);
    }
    for name in [intern!(py, "__array_interface__"), intern!(py, "__cuda_array_interface__")] {
        if let Some(interface) = array.getattr_opt(name)? {
            return view_in_elements(op, &layout_of_interface(op, name.to_str()?, &interface)?);
        }
    }
    match capsule(op, array)? {
        Some(capsule) => view_in_elements(op, &layout_of_capsule(&capsule)?),
        None => Err(no_array(op, array)),
    }
}

/// Whether an object is a tensor of PyTorch, or says in PyTorch's way how it lies.
fn is_tensor(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = object.py();
    let says = |name| object.hasattr(name).unwrap_or(false);
    let in_its_way =
        || says(intern!(py, "storage_offset")) && says(intern!(py, "stride")) && says(intern!(py, "shape"));
    Ok(torch_of(object)?.is_some() || in_its_way())
}

/// The view of a strided tensor in the elements of its storage, on whichever device that is, and whether or not it has
/// memory there.
fn tensor_view(op: &str, tensor: &Bound<'_, PyAny>) -> PyResult<shapetracker::View> {
    refuse_without_strides(op, tensor)?;
    let elements = Layout::of_tensor(op, tensor, 1)?;
    let before =
        number(op, || "the storage offset".into(), &tensor.call_method0(intern!(tensor.py(), "storage_offset"))?)?;
    // Where a tensor knows of no storage, it is believed.
    if let Ok(numel) = storage_elements(tensor)
        && elements.extent > 0
        && (before < elements.start || before.saturating_add(elements.extent - elements.start) > numel)
    {
        return Err(PyTypeError::new_err(OUTSIDE_STORAGE));
    }
    shapetracker::View::new(&elements.shape, elements.strides, before, None).map_err(|err| layout(&err))
}

/// The view of an array of JAX that lies elsewhere than on one device of the CPU: a whole one on each of its devices,
/// row-major unless it says otherwise. None for others.
fn placed_view(array: &Bound<'_, PyAny>) -> PyResult<Option<shapetracker::View>> {
    if placed_elsewhere(array)?.is_none() {
        return Ok(None);
    }
    let shape: Vec<i64> = array.getattr("shape")?.extract()?;
    // The axes, the slowest first.
    let order = || array.getattr("format")?.getattr("layout")?.getattr("major_to_minor")?.extract::<Vec<usize>>();
    let order = order().ok().filter(|order| {
        let mut axes = order.clone();
        axes.sort_unstable();
        axes.iter().copied().eq(0..shape.len())
    });
    let order = order.unwrap_or_else(|| (0..shape.len()).collect());
    let strides = row_major(1, &order.iter().map(|&axis| shape[axis]).collect::<Vec<i64>>());
    let mut by_axis = Dims::from_elem(0, shape.len());
    for (&axis, &stride) in order.iter().zip(&strides) {
        by_axis[axis] = stride;
    }
    let made = Layout::new(1, Dims::from_slice(&shape), Some(by_axis))?;
    shapetracker::View::new(&made.shape, made.strides, 0, None).map(Some).map_err(|err| layout(&err))
}

/// The devices of an array of JAX, as text, unless it is on one device of the CPU; None for what is none.
fn placed_elsewhere(array: &Bound<'_, PyAny>) -> PyResult<Option<String>> {
    let Some(devices) = devices_of(array)? else { return Ok(None) };
    let on_the_cpu =
        |device: &Bound<'_, PyAny>| device.getattr("platform").is_ok_and(|name| name.eq("cpu").unwrap_or(false));
    Ok(match &devices[..] {
        [] => None,
        [device] if on_the_cpu(device) => None,
        [device] => Some(device.str()?.to_string()),
        all => Some(format!("{} devices", all.len())),
    })
}

/// The devices that an array of JAX is placed on; None for what has no such placement.
fn devices_of<'py>(array: &Bound<'py, PyAny>) -> PyResult<Option<Vec<Bound<'py, PyAny>>>> {
    let py = array.py();
    // Asking an array that JAX traces with is an error of another kind.
    let Ok(Some(sharding)) = array.getattr_opt(intern!(py, "sharding")) else { return Ok(None) };
    let Ok(Some(devices)) = sharding.getattr_opt(intern!(py, "device_set")) else { return Ok(None) };
    devices.try_iter()?.collect::<PyResult<Vec<_>>>().map(Some)
}

/// Complains about tensors whose elements are spread over devices: what one device has is not the view of them.
fn refuse_distributed(op: &str, array: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    let has = |name| array.hasattr(name).unwrap_or(false);
    let (devices, part) = if has(intern!(py, "device_mesh")) && has(intern!(py, "placements")) {
        ("the devices of a mesh".to_owned(), "x.to_local()")
    } else {
        let Some(devices) = devices_of(array)? else { return Ok(()) };
        let sharding = array.getattr(intern!(py, "sharding"))?;
        let whole = sharding.getattr_opt(intern!(py, "is_fully_replicated"))?;
        if devices.len() < 2 || whole.is_some_and(|whole| whole.is_truthy().unwrap_or(false)) {
            return Ok(());
        }
        (format!("{} devices", devices.len()), "x.addressable_shards[0].data")
    };
    Err(PyTypeError::new_err(format!(
        "{op}: the elements are spread over {devices}, and no view of one memory has them all; \
         shapetracker.sharding.explain_view(x, ..) answers for such tensors, and {part} is the part of one device"
    )))
}

pub(crate) fn view_in_elements(op: &str, memory: &Layout) -> PyResult<shapetracker::View> {
    let width = memory.width;
    if width == 0 {
        return Err(PyValueError::new_err(format!("{op}: elements of no bytes have no addresses")));
    }
    for (axis, stride) in memory.strides.iter().enumerate() {
        if stride % width != 0 {
            let sentence = format!(
                "{op}: a step along axis {axis} moves {stride} bytes, which is no whole number of elements of {width} \
                 bytes; a contiguous copy has such strides"
            );
            return Err(PyValueError::new_err(sentence));
        }
    }
    let strides: Dims = memory.strides.iter().map(|stride| stride / width).collect();
    shapetracker::View::new(&memory.shape, strides, memory.start / width, None).map_err(|err| layout(&err))
}

fn no_array(op: &str, object: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "{op}: takes a NumPy array, a PyTorch tensor, or an object with the buffer protocol, __array_interface__ or \
         __dlpack__, not {}; numpy.asarray makes an array of most things",
        described(object)
    ))
}

/// The layout that `__array_interface__` describes, or the one of the same form for a GPU.
fn layout_of_interface(op: &str, name: &str, interface: &Bound<'_, PyAny>) -> PyResult<Layout> {
    let wrong = || PyValueError::new_err(format!("{op}: the array's {name} is not as NumPy describes it"));
    let interface = interface.cast::<PyDict>().map_err(|_| wrong())?;
    let given = |name: &str| Ok::<_, PyErr>(interface.get_item(name)?.filter(|value| !value.is_none()));
    if given("mask")?.is_some() {
        return Err(PyTypeError::new_err(format!("{op}: the array's mask is an array of its own, which is not read")));
    }
    let code: String = given("typestr")?.ok_or_else(wrong)?.extract().map_err(|_| wrong())?;
    // Byte order, kind and size, such as `<f8`; what follows are units of time.
    let digits: String = code.chars().skip(2).take_while(char::is_ascii_digit).collect();
    let size: i64 = digits.parse().map_err(|_| wrong())?;
    let width = match code.chars().nth(1) {
        // Characters of four bytes.
        Some('U') => size.checked_mul(4).ok_or_else(wrong)?,
        // Bits.
        Some('t') => return Err(wrong()),
        _ => size,
    };
    let numbers = |value: Bound<'_, PyAny>| value.extract::<Vec<i64>>().map(Dims::from_vec).map_err(|_| wrong());
    let shape = numbers(given("shape")?.ok_or_else(wrong)?)?;
    Layout::new(width, shape, given("strides")?.map(numbers).transpose()?)
}

/// The capsule that an object's `__dlpack__` gives, for memory of the CPU; None where it has no such method. One of another
/// device is not asked for: to make it, the device may have to wait.
fn capsule<'py>(op: &str, object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyCapsule>>> {
    let py = object.py();
    let Some(export) = object.getattr_opt(intern!(py, "__dlpack__"))? else { return Ok(None) };
    let device = object.call_method0(intern!(py, "__dlpack_device__"))?;
    let (kind, _): (i64, i64) = device.extract()?;
    // kDLCPU
    if kind != 1 {
        let sentence =
            format!("{op}: the array is on a device (kind {kind} in DLPack), and only memory of the CPU is read");
        return Err(PyTypeError::new_err(sentence));
    }
    let version = [("max_version", (1, 0))].into_pyobject(py)?;
    let versioned = export.call((), Some(&PyDict::from_sequence(&version)?));
    let capsule = match versioned {
        // Older ones know of no versions.
        Err(err) if err.is_instance_of::<PyTypeError>(py) => export.call0(),
        other => other,
    };
    let capsule = capsule.map_err(|err| match err.is_instance_of::<PyBufferError>(py) {
        true => PyTypeError::new_err(format!("{op}: the array does not lend its memory: {}", err.value(py))),
        false => err,
    })?;
    let mismatch = |_| PyTypeError::new_err(format!("{op}: the array's __dlpack__ gives no capsule"));
    Ok(Some(capsule.cast_into().map_err(mismatch)?))
}

/// An element of zero bytes; few have more.
const ZEROS: [u8; 16] = [0; 16];

/// An array that is read, and the library that the result is made with.
struct Array<'py> {
    library: Library<'py>,
    /// For NumPy an ndarray that is, or has the memory of, what was given.
    object: Bound<'py, PyAny>,
    memory: Memory<'py>,
}

enum Library<'py> {
    NumPy(&'static NumPy),
    /// The module.
    Torch(Bound<'py, PyAny>),
    /// Python alone.
    Plain,
}

impl<'py> Array<'py> {
    fn new(op: &str, object: &Bound<'py, PyAny>) -> PyResult<Array<'py>> {
        let py = object.py();
        let of_numpy = |numpy, object: Bound<'py, PyAny>| {
            let memory = Memory::of_buffer(&object)?.ok_or_else(|| no_array(op, &object))?;
            Ok(Array { library: Library::NumPy(numpy), object, memory })
        };
        let known = NumPy::imported(py);
        // Most arrays are of no class that must be looked for.
        if let Some(numpy) = known
            && numpy.made_plainly(object)
        {
            return of_numpy(numpy, object.clone());
        }
        refuse_masked(op, object)?;
        if let Some(numpy) = known
            && numpy.made(object)?
        {
            return of_numpy(numpy, object.clone());
        }
        refuse_distributed(op, object)?;
        if let Some(torch) = torch_of(object)? {
            let memory = tensor_memory(op, object)?;
            return Ok(Array { library: Library::Torch(torch), object: object.clone(), memory });
        }
        refuse_elsewhere(op, object)?;
        let Some(numpy) = NumPy::import(py) else {
            let hint = "without NumPy, only objects with the buffer protocol are read";
            let no_array = || PyTypeError::new_err(format!("{op}: {hint}, not {}", described(object)));
            let memory = Memory::of_buffer(object)?.ok_or_else(no_array)?;
            return Ok(Array { library: Library::Plain, object: object.clone(), memory });
        };
        if numpy.made(object)? {
            return of_numpy(numpy, object.clone());
        }
        // A memoryview, for NumPy makes a single string of bytes.
        let exported = Memory::of_buffer(object)?.map(|_| PyMemoryView::from(object)).transpose()?;
        let array = match exported {
            Some(view) => numpy.asarray(&view)?,
            None if object.hasattr(intern!(py, "__array_interface__"))? => numpy.asarray(object)?,
            None => {
                // NumPy believes what a capsule says of its sizes.
                layout_of_capsule(&capsule(op, object)?.ok_or_else(|| no_array(op, object))?)?;
                numpy.dlpack(object)?
            }
        };
        of_numpy(numpy, array)
    }

    /// The bytes of a value as an element of the array's type.
    fn fill(&self, value: &Bound<'py, PyAny>) -> PyResult<Vec<u8>> {
        let py = value.py();
        match &self.library {
            Library::NumPy(numpy) => numpy.bytes_of(&self.object.getattr(intern!(py, "dtype"))?, value),
            Library::Torch(torch) => {
                let kwargs = [("dtype", self.object.getattr(intern!(py, "dtype"))?)].into_py_dict(py)?;
                kwargs.set_item("device", "cpu")?;
                let cell = torch.call_method("full", ((1,), value), Some(&kwargs)).map_err(|err| {
                    // What PyTorch says when a number does not fit.
                    let overflow = err.is_instance_of::<PyRuntimeError>(py);
                    if overflow { PyOverflowError::new_err(format!("{APPLY}: fill: {}", err.value(py))) } else { err }
                })?;
                let floating = cell.call_method0("is_floating_point")?.is_truthy()?;
                if !floating
                    && !cell.call_method0("is_complex")?.is_truthy()?
                    && !cell.call_method0("item")?.eq(value)?
                {
                    return Err(no_value(value, &self.object.getattr("dtype")?));
                }
                Ok(Memory::of_tensor(&cell)?.bytes().to_vec())
            }
            Library::Plain => {
                let format = PyMemoryView::from(&self.object)?.getattr("format")?;
                let packed = module(py, "struct")?.call_method1("pack", (&format, value));
                let packed = packed.map_err(|_| no_value(value, &format))?;
                Ok(packed.cast_into::<PyBytes>()?.as_bytes().to_vec())
            }
        }
    }

    /// The view of the array's memory that a view in units is; None where the library has no such arrays.
    fn share(&self, shape: &[i64], shared: &Shared, must: bool) -> PyResult<Option<Bound<'py, PyAny>>> {
        let py = self.object.py();
        let Shared { offset, strides, .. } = shared;
        let width = self.memory.layout.width;
        match &self.library {
            Library::NumPy(numpy) => numpy.view(&self.object, &self.memory, shape, shared).map(Some),
            Library::Torch(_) if strides.iter().any(|&stride| stride < 0) => {
                if must {
                    let sentence = "copy=False, but PyTorch has no negative strides, which the result would need";
                    return Err(PyValueError::new_err(format!("{APPLY}: {sentence}")));
                }
                Ok(None)
            }
            Library::Torch(_) => {
                let before = self.memory.before;
                let strides: Dims = strides.iter().map(|stride| stride / width).collect();
                // Strides are not negative: the lowest element is the one at index zero.
                let arguments = (tuple(py, shape)?, tuple(py, &strides)?, before + offset / width);
                self.object.call_method1(intern!(py, "as_strided"), arguments).map(Some)
            }
            Library::Plain => {
                let contiguous = |shape: &[i64], strides: &[i64]| {
                    let wanted = row_major(width, shape);
                    shape.iter().zip(strides.iter().zip(&wanted)).all(|(&size, (a, b))| size == 1 || a == b)
                };
                let from = &self.memory.layout;
                if !contiguous(&from.shape, &from.strides) || !contiguous(shape, strides) {
                    if must {
                        let sentence = "copy=False, but without NumPy only contiguous results are views";
                        return Err(PyValueError::new_err(format!("{APPLY}: {sentence}")));
                    }
                    return Ok(None);
                }
                let bytes = PyMemoryView::from(&self.object)?.call_method1("cast", ("B",))?;
                let numel: i64 = shape.iter().product();
                let part = PySlice::new(py, *offset as isize, (offset + numel * width) as isize, 1);
                plain_cast(APPLY, &bytes.get_item(part)?, &self.object, shape).map(Some)
            }
        }
    }

    /// The result with data of its own.
    fn moved(&self, route: &Route, fill: Option<&[u8]>, how: &How<'_, 'py>) -> PyResult<Bound<'py, PyAny>> {
        let py = self.object.py();
        let tracker = &route.tracker;
        let shape = tuple(py, tracker.shape())?;
        let width = self.memory.layout.width as usize;
        let zeros = || ZEROS.get(..width).map_or_else(|| Cow::Owned(vec![0; width]), Cow::Borrowed);
        let fill = fill.map_or_else(zeros, Cow::Borrowed);
        let run = |room: &mut [MaybeUninit<u8>]| route.carry_out(py, self.memory.bytes(), room, &fill, how);
        match &self.library {
            Library::NumPy(numpy) => {
                let dtype = self.object.getattr(intern!(py, "dtype"))?;
                if dtype.getattr(intern!(py, "hasobject"))?.is_truthy()? {
                    let sentence =
                        "Python objects cannot be moved as bytes, and this tracker needs a copy of the array's";
                    return Err(PyTypeError::new_err(format!("{APPLY}: {sentence}")));
                }
                let new = numpy.empty(shape, &dtype)?;
                write_new(&new, run)?;
                Ok(new)
            }
            Library::Torch(torch) => {
                if self.object.getattr("requires_grad")?.is_truthy()?
                    && torch.call_method0("is_grad_enabled")?.is_truthy()?
                {
                    let sentence = "the tensor requires grad, and a copy made here would have none; pass x.detach()";
                    return Err(PyTypeError::new_err(format!("{APPLY}: {sentence}")));
                }
                let kwargs = [("dtype", self.object.getattr(intern!(py, "dtype"))?)].into_py_dict(py)?;
                kwargs.set_item("device", "cpu")?;
                let new = torch.call_method(intern!(py, "empty"), (shape,), Some(&kwargs));
                let new = new.map_err(|err| match err.is_instance_of::<PyRuntimeError>(py) {
                    true => PyMemoryError::new_err(format!("{APPLY}: {}", err.value(py))),
                    false => err,
                })?;
                write_new_tensor(&new, run)?;
                Ok(new)
            }
            Library::Plain => {
                let bytes = tracker.numel().saturating_mul(self.memory.layout.width);
                let new = py.get_type::<PyByteArray>().call1((bytes,))?;
                write_new(&new, run)?;
                plain_cast(APPLY, PyMemoryView::from(&new)?.as_any(), &self.object, tracker.shape())
            }
        }
    }

    /// The same array with its elements as they are, where PyTorch keeps them as their conjugates or negatives.
    fn resolved(&self) -> PyResult<Option<Array<'py>>> {
        let Library::Torch(_) = self.library else { return Ok(None) };
        let is = |name| self.object.call_method0(name)?.is_truthy();
        if !is("is_conj")? && !is("is_neg")? {
            return Ok(None);
        }
        Array::new(APPLY, &self.object.call_method0("resolve_conj")?.call_method0("resolve_neg")?).map(Some)
    }
}

/// The library that an array is from; None for arrays without methods.
pub(crate) fn library_of(object: &Bound<'_, PyAny>) -> PyResult<Option<ArrayLibrary>> {
    if imported(object, "numpy", "ndarray")?.is_some() {
        return Ok(Some(ArrayLibrary::NumPy));
    }
    Ok(is_tensor(object)?.then_some(ArrayLibrary::PyTorch))
}

/// The strides of an array in elements as its library reports them, those of axes of size 1, too; None where one of these is no
/// whole number of elements.
pub(crate) fn strides_of(library: ArrayLibrary, array: &Bound<'_, PyAny>) -> PyResult<Option<Dims>> {
    let py = array.py();
    let (strides, width) = match library {
        ArrayLibrary::PyTorch => (array.call_method0(intern!(py, "stride"))?, 1_i64),
        _ => (array.getattr(intern!(py, "strides"))?, array.getattr(intern!(py, "itemsize"))?.extract::<i64>()?),
    };
    let strides: Vec<i64> = strides.extract()?;
    Ok(strides.into_iter().map(|stride| (stride % width == 0).then(|| stride / width)).collect())
}

/// How many bytes an element of an array has, where it says so.
pub(crate) fn itemsize_of(array: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
    let py = array.py();
    if is_tensor(array)? {
        return Ok(array.call_method0(intern!(py, "element_size")).and_then(|bytes| bytes.extract()).ok());
    }
    if let Ok(Some(itemsize)) = array.getattr_opt(intern!(py, "itemsize")) {
        return Ok(itemsize.extract().ok());
    }
    if let Ok(Some(memory)) = Memory::of_buffer(array) {
        return Ok(Some(memory.layout.width));
    }
    for name in [intern!(py, "__array_interface__"), intern!(py, "__cuda_array_interface__")] {
        if let Some(interface) = array.getattr_opt(name)? {
            return layout_of_interface("describe", name.to_str()?, &interface).map(|layout| Some(layout.width));
        }
    }
    Ok(None)
}

/// Where the element at address 0 of an array's view lies in the machine's memory; None where that is not known.
pub(crate) fn address_of(array: &Bound<'_, PyAny>) -> PyResult<Option<u64>> {
    let py = array.py();
    let known = |address: u64| Some(address).filter(|&address| address > 0);
    if is_tensor(array)? {
        let first = storage(array).and_then(|storage| storage.call_method0(intern!(py, "data_ptr"))?.extract::<u64>());
        // Tensors that PyTorch traces with have no data.
        return Ok(first.ok().and_then(known));
    }
    if let Ok(Some(memory)) = Memory::of_buffer(array) {
        return Ok(known(memory.address() as u64));
    }
    for name in [intern!(py, "__array_interface__"), intern!(py, "__cuda_array_interface__")] {
        if let Some(interface) = array.getattr_opt(name)? {
            let layout = layout_of_interface("describe", name.to_str()?, &interface)?;
            let data = interface.get_item("data").and_then(|data| data.get_item(0)?.extract::<u64>());
            return Ok(data.ok().and_then(|data| data.checked_sub(layout.start as u64)).and_then(known));
        }
    }
    Ok(None)
}

/// Complains about NumPy's masked arrays: what they mask is known to them alone.
fn refuse_masked(op: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
    if imported(object, "numpy.ma", "MaskedArray")?.is_some() {
        let sentence =
            format!("{op}: the array's mask is an array of its own, which is not read; x.data is without it");
        return Err(PyTypeError::new_err(sentence));
    }
    Ok(())
}

/// The module of PyTorch, where it is imported and the object is a tensor.
fn torch_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    imported(object, "torch", "Tensor")
}

/// A module that is imported already, where the object is of one of its classes.
fn imported<'py>(object: &Bound<'py, PyAny>, module: &str, class: &str) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = object.py();
    // The dictionary that imports go by.
    static MODULES: Imported = Imported::new("sys", "modules");
    let Some(module) = MODULES.get(py)?.cast::<PyDict>()?.get_item(module)? else { return Ok(None) };
    // While a module is being imported it has no classes yet, and None stands for one that is not to be imported.
    let Some(class) = module.getattr_opt(class)? else { return Ok(None) };
    Ok(if object.is_instance(&class)? { Some(module) } else { None })
}

/// Complains about a tensor that has no strides, such as a sparse one.
fn refuse_without_strides(op: &str, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(storage) = tensor.getattr_opt(intern!(tensor.py(), "layout"))? else { return Ok(()) };
    let storage = storage.str()?.to_string();
    if storage == "torch.strided" {
        return Ok(());
    }
    let sentence = format!("{op}: a tensor of layout {storage} has no strides; x.to_dense() makes one that has");
    Err(PyTypeError::new_err(sentence))
}

/// The complaint that data are on a device, and not in memory of the CPU.
fn elsewhere(op: &str, device: &str, instead: &str) -> PyErr {
    PyTypeError::new_err(format!(
        "{op}: the array is on {device}, and only data in memory of the CPU are read; {instead}, and of(x) and \
         explain_view(x, ..) take it where it is"
    ))
}

/// Complains about an array that says that its data are on another device than the CPU.
fn refuse_elsewhere(op: &str, object: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = object.py();
    if let Some(devices) = placed_elsewhere(object)? {
        return Err(elsewhere(op, &devices, "jax.device_get(x) copies it there"));
    }
    if is_tensor(object)? {
        return refuse_tensor_elsewhere(op, object);
    }
    match object.getattr_opt(intern!(py, "__cuda_array_interface__"))? {
        Some(_) => Err(elsewhere(op, "a GPU", "x.get() of CuPy and x.copy_to_host() of Numba copy it there")),
        None => Ok(()),
    }
}

/// The same for a tensor of PyTorch, or one that says in PyTorch's way where it is.
fn refuse_tensor_elsewhere(op: &str, tensor: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = tensor.py();
    let Some(device) = tensor.getattr_opt(intern!(py, "device"))? else { return Ok(()) };
    let device = device.str()?.to_string();
    match device.split(':').next() {
        Some("cpu") => Ok(()),
        Some("meta") => Err(PyTypeError::new_err(format!(
            "{op}: the tensor is on meta, and has no data there that x.cpu() could copy; of(x) and explain_view(x, ..) \
             need none"
        ))),
        _ => Err(elsewhere(op, &device, "x.cpu() copies it there")),
    }
}

/// The memory of a tensor, which must be strided and on the CPU.
fn tensor_memory<'py>(op: &str, tensor: &Bound<'py, PyAny>) -> PyResult<Memory<'py>> {
    let py = tensor.py();
    refuse_tensor_elsewhere(op, tensor)?;
    refuse_without_strides(op, tensor)?;
    // PyTorch traces with tensors that say that they are on some device, and whose storage is on none.
    let device = storage(tensor).and_then(|storage| storage.getattr(intern!(py, "device"))?.str());
    if device.is_ok_and(|device| device.to_string_lossy() == "meta") {
        return Err(PyTypeError::new_err(format!(
            "{op}: the tensor has no data, as those that PyTorch traces with; of(x) and explain_view(x, ..) need none"
        )));
    }
    Memory::of_tensor(tensor).map_err(|err| {
        // Tensors without data, such as those that PyTorch traces with.
        let none = err.is_instance_of::<PyRuntimeError>(py);
        if none { PyTypeError::new_err(format!("{op}: the tensor has no memory: {}", err.value(py))) } else { err }
    })
}

/// Bytes of elements of an array as a memoryview of its format.
fn plain_cast<'py>(
    op: &str,
    bytes: &Bound<'py, PyAny>,
    array: &Bound<'py, PyAny>,
    shape: &[i64],
) -> PyResult<Bound<'py, PyAny>> {
    let py = bytes.py();
    let given = PyMemoryView::from(array)?;
    let format: String = given.getattr("format")?.extract()?;
    // `cast` takes only a machine's own formats, which have no byte order.
    let native = if cfg!(target_endian = "little") { ['<', '=', '@'] } else { ['>', '=', '@'] };
    let format = format.trim_start_matches(native);
    let wrong = |err: PyErr| {
        let sentence = format!("{op}: without NumPy there is no array of shape {shape:?} and format");
        PyTypeError::new_err(format!("{sentence} {format}: {}", err.value(py)))
    };
    let cast = if shape.len() == 1 {
        bytes.call_method1("cast", (format,))
    } else {
        bytes.call_method1("cast", (format, tuple(py, shape)?))
    };
    let cast = cast.map_err(wrong)?;
    if cast.getattr("itemsize")?.ne(given.getattr("itemsize")?)? {
        return Err(wrong(PyTypeError::new_err("its elements have another size than the machine's")));
    }
    Ok(cast)
}

/// All elements of a contiguous array on one axis.
fn plain_elements<'py>(op: &str, array: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let bytes = PyMemoryView::from(array)?.call_method1("cast", ("B",)).map_err(|_| {
        PyTypeError::new_err(format!("{op}: without NumPy only the memory of contiguous arrays can be had"))
    })?;
    plain_cast(op, &bytes, array, &[0])
}
