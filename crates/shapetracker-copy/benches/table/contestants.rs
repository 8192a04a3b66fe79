//! Who copies: this crate and its peers. NumPy has its own process.

use std::fmt::Debug;

use bytemuck::Pod;
use ndarray::{ArrayView, ArrayViewMut, Dimension, IntoDimension, Ix1, Ix2, Ix3, Ix4, Ix5, Ix6, IxDyn, ShapeBuilder};
use shapetracker::{ShapeTracker, View};
use shapetracker_copy::{Plan, Threads};
use strided_view::{StridedView, StridedViewMut};

use crate::contest::{Contestant, Write};

/// A type of elements.
pub(crate) trait Element: Pod + PartialEq + Debug + Send + Sync {
    /// The name of the type, here and in NumPy.
    const NAMES: [&'static str; 2];

    /// The value of the element at an address, as in_python.py makes it too.
    fn at(address: usize) -> Self;
}

/// A multiplicative hash: no two lines of the cache alike.
fn hash(address: usize) -> u32 {
    (address as u32).wrapping_mul(2_654_435_761)
}

impl Element for f32 {
    const NAMES: [&'static str; 2] = ["f32", "float32"];

    fn at(address: usize) -> f32 {
        (hash(address) >> 8) as f32
    }
}

/// The bytes of a bf16, which NumPy does not have; what they mean is no matter here.
impl Element for u16 {
    const NAMES: [&'static str; 2] = ["bf16", "uint16"];

    fn at(address: usize) -> u16 {
        (hash(address) >> 16) as u16
    }
}

/// The two parts of a complex number.
impl Element for [f32; 2] {
    const NAMES: [&'static str; 2] = ["c64", "complex64"];

    fn at(address: usize) -> [f32; 2] {
        [f32::at(address), 0.0]
    }
}

impl Element for [f64; 2] {
    const NAMES: [&'static str; 2] = ["c128", "complex128"];

    fn at(address: usize) -> [f64; 2] {
        [f32::at(address).into(), 0.0]
    }
}

impl Element for u8 {
    const NAMES: [&'static str; 2] = ["u8", "uint8"];

    fn at(address: usize) -> u8 {
        (hash(address) >> 24) as u8
    }
}

/// This crate, on some threads.
pub(crate) fn ours<'a, T: Element>(
    name: &'static str,
    plan: &'a Plan,
    input: &'a [T],
    threads: &'a Threads,
) -> Contestant<'a, T> {
    let copy = move |out: &mut [T]| {
        plan.read_into(input, out, T::zeroed(), threads).expect("the plan fits its own layout");
    };
    Contestant { name, copy: Box::new(copy) }
}

/// A loop over addresses that were listed before, as far as they have data: what a stack of views costs at most.
pub(crate) fn gather<'a, T: Element>(
    name: &'static str,
    addresses: impl Iterator<Item = Option<i64>>,
    input: &'a [T],
) -> Contestant<'a, T> {
    let addresses: Vec<u32> = addresses.map(|address| address.map_or(u32::MAX, |at| at as u32)).collect();
    let copy = move |out: &mut [T]| {
        for (element, at) in out.iter_mut().zip(&addresses) {
            *element = input.get(*at as usize).copied().unwrap_or_else(T::zeroed);
        }
    };
    Contestant { name, copy: Box::new(copy) }
}

/// The crates that copy one strided view, where the layout is one.
pub(crate) fn peers<'a, T: Element>(tracker: &ShapeTracker, input: &'a [T]) -> Vec<Contestant<'a, T>> {
    let view = match tracker.views() {
        [view] if view.mask().is_none() => view,
        _ => return Vec::new(),
    };
    [strided_perm(view, input), ndarray(view, input)].into_iter().flatten().collect()
}

fn strided_perm<'a, T: Element>(view: &View, input: &'a [T]) -> Option<Contestant<'a, T>> {
    let shape: Vec<usize> = view.shape().iter().map(|&size| size as usize).collect();
    let strides: Vec<isize> = view.strides().iter().map(|&stride| stride as isize).collect();
    let from: StridedView<T> = StridedView::new(input, &shape, &strides, view.offset() as isize).ok()?;
    let row_major = row_major(&shape);
    let copy = move |out: &mut [T]| {
        let mut to = StridedViewMut::new(out, &shape, &row_major, 0).expect("the buffer has the layout's length");
        strided_perm::copy_into(&mut to, &from, threadteam::Exec::serial()).expect("both have the layout's shape");
    };
    Some(Contestant { name: "strided-perm", copy: Box::new(copy) })
}

fn row_major(shape: &[usize]) -> Vec<isize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis] as isize;
    }
    strides
}

fn ndarray<'a, T: Element>(view: &View, input: &'a [T]) -> Option<Contestant<'a, T>> {
    // A rank that the compiler knows makes better loops than one that it does not.
    let copy = match view.shape().len() {
        1 => assign::<T, Ix1>(view, input),
        2 => assign::<T, Ix2>(view, input),
        3 => assign::<T, Ix3>(view, input),
        4 => assign::<T, Ix4>(view, input),
        5 => assign::<T, Ix5>(view, input),
        6 => assign::<T, Ix6>(view, input),
        _ => assign::<T, IxDyn>(view, input),
    }?;
    Some(Contestant { name: "ndarray", copy })
}

fn assign<'a, T: Element, D: Dimension + 'a>(view: &View, input: &'a [T]) -> Option<Write<'a, T>> {
    let dynamic = |numbers: &[i64]| -> Option<IxDyn> {
        let numbers: Option<Vec<usize>> = numbers.iter().map(|&number| usize::try_from(number).ok()).collect();
        Some(numbers?.into_dimension())
    };
    let strided = dynamic(view.shape())?.strides(dynamic(view.strides())?);
    let from = ArrayView::from_shape(strided, input.get(usize::try_from(view.offset()).ok()?..)?).ok()?;
    let from = from.into_dimensionality::<D>().ok()?;
    Some(Box::new(move |out| {
        let mut to = ArrayViewMut::from_shape(from.raw_dim(), out).expect("the buffer has the layout's length");
        to.assign(&from);
    }))
}
