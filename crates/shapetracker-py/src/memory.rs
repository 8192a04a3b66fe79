//! Where other libraries' arrays lie: the only module with `unsafe`.
//!
//! What an array says of its memory is believed, as every extension of Python believes it: that from its first to its
//! last byte it stays where it is while its owner is kept. Everything else is checked: signs, products, null pointers,
//! and for PyTorch that the tensor lies inside its storage. As with NumPy's and PyTorch's own functions, threads that
//! write to an array while another one reads it get what they deserve.

#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_void};
use std::mem::MaybeUninit;

use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCapsule;
use shapetracker::Dims;

use crate::arguments::numbers_of;

/// How the elements of an array lie in memory, in bytes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Bytes an element.
    pub(crate) width: i64,
    pub(crate) shape: Dims,
    /// How many bytes a step moves, for each axis.
    pub(crate) strides: Dims,
    /// From the lowest byte of an element to the element at index zero.
    pub(crate) start: i64,
    /// From the lowest byte of an element past the highest one.
    pub(crate) extent: i64,
}

impl Layout {
    /// Checks that sizes are not negative, and that bytes can be counted.
    pub(crate) fn new(width: i64, shape: Dims, strides: Option<Dims>) -> PyResult<Layout> {
        let wrong = |what: &str| Err(PyValueError::new_err(format!("the array claims {what}")));
        if width < 0 || shape.iter().any(|&size| size < 0) {
            return wrong("a negative size");
        }
        let mut strides = match strides {
            Some(strides) if strides.len() != shape.len() => return wrong("other numbers of sizes and of strides"),
            Some(strides) => strides,
            None => row_major(width, &shape),
        };
        let (mut low, mut high) = (0i128, i128::from(width));
        if shape.contains(&0) {
            (high, strides) = (0, Dims::from_elem(0, shape.len()));
        }
        for (&size, stride) in shape.iter().zip(&mut strides) {
            if size == 1 {
                *stride = 0;
            }
            // Sizes and strides are below 2^63, and there are 64 axes.
            let reach = i128::from(size - 1).saturating_mul((*stride).into());
            if reach < 0 { low += reach.max(i64::MIN.into()) } else { high += reach.min(i64::MAX.into()) }
        }
        let extent = high - low;
        if extent > isize::MAX as i128 {
            return wrong("more bytes than a machine can count");
        }
        // Both are at most the extent.
        Ok(Layout { width, shape, strides, start: -low as i64, extent: extent as i64 })
    }

    /// What a tensor says of its elements, each of so many units.
    pub(crate) fn of_tensor(op: &str, tensor: &Bound<'_, PyAny>, width: i64) -> PyResult<Layout> {
        let py = tensor.py();
        let shape = numbers_of(op, &tensor.getattr(intern!(py, "shape"))?)?;
        let strides = numbers_of(op, &tensor.call_method0(intern!(py, "stride"))?)?;
        let strides = strides.iter().map(|stride| stride.saturating_mul(width)).collect();
        Layout::new(width, shape, Some(strides))
    }
}

/// What is said of a tensor whose elements its storage does not have.
pub(crate) const OUTSIDE_STORAGE: &str =
    "the tensor does not lie inside its storage, which was resized or has no memory";

/// The storage of a tensor.
pub(crate) fn storage<'py>(tensor: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = tensor.py();
    let untyped = intern!(py, "untyped_storage");
    // Before PyTorch 2 there were only typed ones.
    if tensor.hasattr(untyped)? { tensor.call_method0(untyped) } else { tensor.call_method0(intern!(py, "storage")) }
}

/// How many elements the storage of a tensor has, on whichever device.
pub(crate) fn storage_elements(tensor: &Bound<'_, PyAny>) -> PyResult<i64> {
    let py = tensor.py();
    let width: i64 = tensor.call_method0(intern!(py, "element_size"))?.extract()?;
    let bytes: i64 = storage(tensor)?.call_method0(intern!(py, "nbytes"))?.extract()?;
    Ok(bytes.checked_div(width).unwrap_or(0))
}

/// The strides of an array that is row-major; whatever fits, where its bytes cannot be counted.
pub(crate) fn row_major(width: i64, shape: &[i64]) -> Dims {
    let mut strides = Dims::from_elem(0, shape.len());
    let mut stride = width;
    for (axis, &size) in shape.iter().enumerate().rev() {
        strides[axis] = stride;
        stride = stride.saturating_mul(size.max(1));
    }
    strides
}

/// An array's memory, which stays for as long as this is kept.
pub(crate) struct Memory<'py> {
    pub(crate) layout: Layout,
    /// The lowest byte of an element.
    lowest: *const u8,
    pub(crate) readonly: bool,
    /// For a tensor, the elements of its storage before the one at index zero.
    pub(crate) before: i64,
    _buffer: Option<Buffer>,
    _owner: Bound<'py, PyAny>,
}

impl<'py> Memory<'py> {
    /// The memory of an object that exports a buffer; None where it does not.
    pub(crate) fn of_buffer(object: &Bound<'py, PyAny>) -> PyResult<Option<Memory<'py>>> {
        let py = object.py();
        let buffer = match Buffer::new(object, STRIDES) {
            Ok(buffer) => buffer,
            Err(err) if err.is_instance_of::<PyTypeError>(py) => return Ok(None),
            Err(err) if err.is_instance_of::<PyBufferError>(py) => {
                return Err(PyTypeError::new_err(format!("the array does not lend its memory: {}", err.value(py))));
            }
            Err(err) => return Err(err),
        };
        let layout = buffer.layout()?;
        let lowest = lowest(buffer.0.buf as usize, &layout)?;
        let readonly = buffer.0.readonly != 0;
        let (buffer, owner) = (Some(buffer), object.clone());
        Ok(Some(Memory { layout, lowest, readonly, before: 0, _buffer: buffer, _owner: owner }))
    }

    /// The memory of a strided PyTorch tensor on the CPU.
    pub(crate) fn of_tensor(tensor: &Bound<'py, PyAny>) -> PyResult<Memory<'py>> {
        let py = tensor.py();
        let call = |name| tensor.call_method0(name);
        let width: i64 = call(intern!(py, "element_size"))?.extract()?;
        let layout = Layout::of_tensor("apply", tensor, width)?;
        let pointer: usize = call(intern!(py, "data_ptr"))?.extract()?;
        let before: i64 = call(intern!(py, "storage_offset"))?.extract()?;
        let storage = storage(tensor)?;
        let first: usize = storage.call_method0(intern!(py, "data_ptr"))?.extract()?;
        let bytes: i64 = storage.call_method0(intern!(py, "nbytes"))?.extract()?;
        let at = before.saturating_mul(width);
        // A tensor without data may say that its memory begins at null.
        let inside = at >= 0 && first != 0 && first.checked_add(at as usize) == Some(pointer);
        let inside = inside && at >= layout.start && at.saturating_add(layout.extent - layout.start) <= bytes;
        if !inside && layout.extent > 0 {
            return Err(PyTypeError::new_err(OUTSIDE_STORAGE));
        }
        let lowest = lowest(pointer, &layout)?;
        Ok(Memory { layout, lowest, readonly: false, before, _buffer: None, _owner: tensor.clone() })
    }

    /// All bytes from the lowest element to the highest one, with those between elements.
    pub(crate) fn bytes(&self) -> &[u8] {
        let len = self.layout.extent as usize;
        if len == 0 {
            return &[];
        }
        // SAFETY: the owner, which lives as long as `self`, promises that the bytes of its elements are there and have
        // values; those between belong to the same allocation. `lowest` is not null and the range does not wrap.
        unsafe { std::slice::from_raw_parts(self.lowest, len) }
    }

    /// The address of the lowest byte of an element.
    pub(crate) fn address(&self) -> usize {
        self.lowest as usize
    }
}

/// The address of the lowest byte, for a pointer to the element at index zero.
fn lowest(pointer: usize, layout: &Layout) -> PyResult<*const u8> {
    let lowest = pointer.checked_sub(layout.start as usize);
    match lowest {
        Some(lowest) if layout.extent == 0 || lowest != 0 && lowest.checked_add(layout.extent as usize).is_some() => {
            Ok(lowest as *const u8)
        }
        _ => Err(PyValueError::new_err("the array claims memory that is not there")),
    }
}

/// Writes an array that was just made, that nobody else has yet, and whose bytes are one row-major block.
pub(crate) fn write_new<R>(
    array: &Bound<'_, PyAny>,
    write: impl FnOnce(&mut [MaybeUninit<u8>]) -> PyResult<R>,
) -> PyResult<R> {
    let buffer = Buffer::new(array, WRITABLE)?;
    // SAFETY: the buffer, which is kept here, has so many bytes in one block, and its array was just made.
    unsafe { write_to(buffer.0.buf as usize, usize::try_from(buffer.0.len).unwrap_or(0), write) }
}

/// [`write_new`] for an array whose bytes have values, which may be written once more.
pub(crate) fn write_again<R>(array: &Bound<'_, PyAny>, write: impl FnOnce(&mut [u8]) -> PyResult<R>) -> PyResult<R> {
    // SAFETY: bytes with values are a room for bytes, and the same room has values as long as only those are written.
    write_new(array, |room| write(unsafe { &mut *(std::ptr::from_mut(room) as *mut [u8]) }))
}

/// [`write_new`] for a tensor of PyTorch.
pub(crate) fn write_new_tensor<R>(
    tensor: &Bound<'_, PyAny>,
    write: impl FnOnce(&mut [MaybeUninit<u8>]) -> PyResult<R>,
) -> PyResult<R> {
    let py = tensor.py();
    let memory = Memory::of_tensor(tensor)?;
    if !tensor.call_method0(intern!(py, "is_contiguous"))?.extract::<bool>()? || memory.layout.start != 0 {
        return Err(PyRuntimeError::new_err("PyTorch made a tensor that is not contiguous"));
    }
    // SAFETY: the tensor, which was just made, keeps its storage, in which it has so many bytes in one block.
    unsafe { write_to(memory.address(), memory.layout.extent as usize, write) }
}

/// [`write_new`], where its memory is.
///
/// # Safety
/// While this runs, so many bytes can be written there, and nobody else has them.
unsafe fn write_to<R>(
    pointer: usize,
    len: usize,
    write: impl FnOnce(&mut [MaybeUninit<u8>]) -> PyResult<R>,
) -> PyResult<R> {
    if len == 0 {
        return write(&mut []);
    }
    if pointer == 0 {
        return Err(PyRuntimeError::new_err("the new array has no memory"));
    }
    // SAFETY: the pointer is not null, and the rest is the caller's promise.
    write(unsafe { std::slice::from_raw_parts_mut(pointer as *mut MaybeUninit<u8>, len) })
}

/// The layout that a capsule of DLPack describes, which is only looked at: its consumer would take it over.
pub(crate) fn layout_of_capsule(capsule: &Bound<'_, PyCapsule>) -> PyResult<Layout> {
    let tensor = if capsule.is_valid_checked(Some(c"dltensor")) {
        let managed = capsule.pointer_checked(Some(c"dltensor"))?.cast::<DlTensor>();
        // SAFETY: a capsule of this name points to a `DLManagedTensor`, which begins with its tensor; the capsule keeps
        // both until it is consumed, which cannot happen while this function runs.
        unsafe { managed.as_ref() }
    } else {
        let versioned = capsule.pointer_checked(Some(c"dltensor_versioned"));
        let used =
            |_| PyTypeError::new_err("the array's __dlpack__ gives no capsule of a tensor, or one that is used up");
        let versioned = versioned.map_err(used)?.cast::<DlVersioned>();
        // SAFETY: a capsule of this name points to a `DLManagedTensorVersioned`, whose first field has the same
        // meaning in all versions; the capsule keeps it.
        let major = unsafe { (*versioned.as_ptr()).major };
        if major != 1 {
            let sentence = format!("the array speaks version {major} of DLPack; only version 1 is understood");
            return Err(PyTypeError::new_err(sentence));
        }
        // SAFETY: as above, and in version 1 these are its fields.
        unsafe { &(*versioned.as_ptr()).tensor }
    };
    let bits = i64::from(tensor.bits) * i64::from(tensor.lanes);
    if bits % 8 != 0 {
        let sentence = format!("elements of {bits} bits are no whole number of bytes");
        return Err(PyTypeError::new_err(sentence));
    }
    let ndim = usize::try_from(tensor.ndim).map_err(|_| PyValueError::new_err("the array claims a negative rank"))?;
    // SAFETY: DLPack's tensors have `ndim` sizes and, unless the pointer is null, as many strides.
    let (shape, strides) = unsafe { (numbers(tensor.shape, ndim), numbers(tensor.strides, ndim)) };
    let shape = shape.ok_or_else(|| PyValueError::new_err("the array claims no shape"))?;
    let strides = strides.map(|strides| strides.iter().map(|stride| stride.saturating_mul(bits / 8)).collect());
    Layout::new(bits / 8, shape, strides)
}

/// A row of numbers; None where the pointer is null and there should be some.
///
/// # Safety
/// Unless it is null, the pointer points to as many numbers.
unsafe fn numbers<T: Copy + TryInto<i64>>(first: *const T, count: usize) -> Option<Dims> {
    if count == 0 {
        return Some(Dims::new());
    }
    if first.is_null() {
        return None;
    }
    // SAFETY: so many are there, by the caller's promise.
    let all = unsafe { std::slice::from_raw_parts(first, count) };
    all.iter().map(|&number| number.try_into().ok()).collect()
}

/// `DLTensor` of DLPack.
#[repr(C)]
struct DlTensor {
    data: *mut c_void,
    device: [i32; 2],
    ndim: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    shape: *const i64,
    strides: *const i64,
    byte_offset: u64,
}

/// `DLManagedTensorVersioned` of DLPack.
#[repr(C)]
struct DlVersioned {
    major: u32,
    minor: u32,
    context: *mut c_void,
    deleter: *mut c_void,
    flags: u64,
    tensor: DlTensor,
}

/// A buffer that an object exports, given back when this is dropped.
///
/// The description is boxed, for some exporters point into it.
struct Buffer(Box<PyBuffer>);

// With strides, and with a block of bytes that can be written to.
const STRIDES: c_int = 0x0018;
const WRITABLE: c_int = 0x0038 | 0x0001;

impl Buffer {
    fn new(object: &Bound<'_, PyAny>, flags: c_int) -> PyResult<Buffer> {
        let mut buffer = Box::new(MaybeUninit::<PyBuffer>::zeroed());
        // SAFETY: there is room for the description, and a thread that holds an object may call Python.
        if unsafe { PyObject_GetBuffer(object.as_ptr(), buffer.as_mut_ptr(), flags) } != 0 {
            return Err(PyErr::fetch(object.py()));
        }
        // SAFETY: it consists of numbers and raw pointers, which were zero before Python filled them.
        Ok(Buffer(unsafe { buffer.assume_init() }))
    }

    fn layout(&self) -> PyResult<Layout> {
        let buffer = &self.0;
        let ndim = usize::try_from(buffer.ndim).unwrap_or(0);
        // SAFETY: a buffer that was asked for with strides has `ndim` sizes and strides, or null for the strides of a
        // row-major block (and for the size of a block without axes' sizes).
        let (shape, strides) = unsafe { (numbers(buffer.shape, ndim), numbers(buffer.strides, ndim)) };
        let width = buffer.itemsize as i64;
        let shape = match shape {
            Some(shape) => shape,
            None => Dims::from_elem((buffer.len as i64).checked_div(width).unwrap_or(0), 1),
        };
        Layout::new(width, shape, strides)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the buffer was exported and is given back once. `Memory` and the functions here hold it
        // beside an object that is bound to an attached thread.
        unsafe { PyBuffer_Release(&mut *self.0) }
    }
}

/// `Py_buffer`, which has this layout since Python 3.3.
#[repr(C)]
struct PyBuffer {
    buf: *mut c_void,
    obj: *mut ffi::PyObject,
    len: ffi::Py_ssize_t,
    itemsize: ffi::Py_ssize_t,
    readonly: c_int,
    ndim: c_int,
    format: *mut c_char,
    shape: *mut ffi::Py_ssize_t,
    strides: *mut ffi::Py_ssize_t,
    suboffsets: *mut ffi::Py_ssize_t,
    internal: *mut c_void,
}

// In Python's stable interface since 3.11, and exported by 3.10, too.
#[cfg_attr(windows, link(name = "python3", kind = "raw-dylib"))]
unsafe extern "C" {
    fn PyObject_GetBuffer(object: *mut ffi::PyObject, buffer: *mut PyBuffer, flags: c_int) -> c_int;
    fn PyBuffer_Release(buffer: *mut PyBuffer);
}
