//! Basic indexing as in NumPy: integers, slices, `...` and None, with numbers or with names in them.

use pyo3::exceptions::{PyIndexError, PyOverflowError, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyEllipsis, PySlice, PyTuple};
use shapetracker::{Dims, ErrorKind, PerAxis, ShapeTracker};
use shapetracker_symbolic::Sym as Named;

use crate::arguments::{Size, described, number};
use crate::error::layout;
use crate::symbolic::{Sym, refused};

const OP: &str = "indexing";

/// What stands between brackets, read for a tensor of some axes: the slice of each axis; the axes of which one element is
/// taken, whose slice begins with its index; and what the axes of the result are, old ones or new ones.
pub(crate) struct Index<N> {
    slices: Vec<(Option<N>, Option<N>, i64)>,
    picked: PerAxis<usize>,
    axes: PerAxis<Option<usize>>,
}

impl<N: Size> Index<N> {
    pub(crate) fn read(rank: usize, index: &Bound<'_, PyAny>) -> PyResult<Index<N>> {
        let only;
        let entries = match index.cast::<PyTuple>() {
            Ok(entries) => entries,
            Err(_) => {
                only = PyTuple::new(index.py(), [index])?;
                &only
            }
        };
        let is_ellipsis = |entry: &Bound<'_, PyAny>| entry.is_instance_of::<PyEllipsis>();
        if entries.iter().filter(is_ellipsis).count() > 1 {
            return Err(PyIndexError::new_err(format!("{OP}: `...` may stand only once")));
        }
        let named = entries.iter().filter(|entry| !entry.is_none() && !is_ellipsis(entry)).count();
        if named > rank {
            return Err(PyIndexError::new_err(format!("{OP}: {named} indices are more than the tensor's {rank} axes")));
        }
        let mut read = Index { slices: Vec::with_capacity(rank), picked: PerAxis::new(), axes: PerAxis::new() };
        for entry in entries {
            let axis = read.slices.len();
            if entry.is_none() {
                read.axes.push(None);
            } else if is_ellipsis(&entry) {
                read.whole(rank - named);
            } else if let Ok(slice) = entry.cast::<PySlice>() {
                read.axes.push(Some(axis));
                read.slices.push(bounds(axis, slice)?);
            } else if entry.is_instance_of::<Sym>()
                || !entry.is_instance_of::<PyBool>() && entry.hasattr("__index__")?
            {
                read.picked.push(axis);
                read.slices.push((Some(N::read(OP, || format!("the index of axis {axis}"), &entry)?), None, 1));
            } else {
                let sentence = "takes integers, slices, `...` and None (which need no copy)";
                return Err(PyTypeError::new_err(format!("{OP}: {sentence}, not {}", described(&entry))));
            }
        }
        read.whole(rank - read.slices.len());
        Ok(read)
    }

    /// Some axes as they are.
    fn whole(&mut self, count: usize) {
        for _ in 0..count {
            self.axes.push(Some(self.slices.len()));
            self.slices.push((None, None, 1));
        }
    }

    /// Whether the axes of the result are those of the tensor.
    fn keeps_axes(&self) -> bool {
        self.axes.len() == self.slices.len() && self.axes.iter().enumerate().all(|(at, axis)| *axis == Some(at))
    }
}

/// The bounds and the step of a slice. Slices end where the tensor does, however far they reach.
fn bounds<N: Size>(axis: usize, slice: &Bound<'_, PySlice>) -> PyResult<(Option<N>, Option<N>, i64)> {
    let place = || format!("the slice of axis {axis}");
    let step = slice.getattr("step")?;
    let step = if step.is_none() { 1 } else { number(OP, place, &step)? };
    let bound = |name, is_first: bool| {
        let value = slice.getattr(name)?;
        if value.is_none() {
            return Ok(None);
        }
        match N::read(OP, place, &value) {
            Err(err) if err.is_instance_of::<PyOverflowError>(value.py()) && !value.is_instance_of::<Sym>() => {
                let is_negative = value.lt(0)?;
                // Past the end from which it starts, or at which it stops, a bound says nothing.
                if is_negative == ((step > 0) == is_first) {
                    Ok(None)
                } else {
                    N::past(is_negative).ok_or(err).map(Some)
                }
            }
            bound => bound.map(Some),
        }
    };
    Ok((bound("start", true)?, bound("stop", false)?, step))
}

impl Index<i64> {
    /// What the index leaves of a tensor: an axis of which one element is taken is a slice of it that is dropped.
    pub(crate) fn of(mut self, tracker: &ShapeTracker) -> PyResult<ShapeTracker> {
        for &axis in &self.picked[..] {
            let (at, size) = (self.slices[axis].0.unwrap_or_default(), tracker.shape()[axis]);
            if !(-size..size).contains(&at) {
                let sentence = format!("{OP}: axis {axis} has size {size}, which has no index {at}");
                return Err(PyIndexError::new_err(sentence));
            }
            let at = if at < 0 { at + size } else { at };
            self.slices[axis] = (Some(at), Some(at + 1), 1);
        }
        let after = tracker.slice(&self.slices).map_err(|err| layout(&err))?;
        if self.keeps_axes() {
            return Ok(after);
        }
        let shape: Dims = self.axes.iter().map(|axis| axis.map_or(1, |axis| after.shape()[axis])).collect();
        after.reshape(shape).map_err(|err| layout(&err))
    }
}

impl Index<Named> {
    /// What the index leaves of a tensor: the slices first, then the one element of each axis that has an index, then the axes
    /// that come and go.
    pub(crate) fn of(
        mut self,
        tracker: &shapetracker_symbolic::ShapeTracker,
    ) -> PyResult<shapetracker_symbolic::ShapeTracker> {
        let keeps_axes = self.keeps_axes();
        let picked: Vec<_> = self.picked.iter().map(|&axis| (axis, self.slices[axis].0.take())).collect();
        let mut after = tracker.clone();
        if self.slices.iter().any(|(begin, end, step)| begin.is_some() || end.is_some() || *step != 1) {
            after = after.slice(self.slices).map_err(|err| refused(&err))?;
        }
        if !picked.is_empty() {
            let mut ranges: Vec<(Named, Named)> = after.sizes().into_iter().map(|size| (0.into(), size)).collect();
            for (axis, at) in picked.into_iter().filter_map(|(axis, at)| Some((axis, at?))) {
                let is_negative = at.parts().is_ok_and(|(_, poly)| poly.number().is_some_and(|number| number < 0));
                let at = if is_negative { at + &ranges[axis].1 } else { at };
                ranges[axis] = (at.clone(), at + 1);
            }
            after = after.shrink(ranges).map_err(|err| match err.kind() {
                ErrorKind::RangeOutside => PyIndexError::new_err(format!("{OP}: {}", err.reason())),
                _ => refused(&err),
            })?;
        }
        if !keeps_axes {
            let sizes = after.sizes();
            let shape = self.axes.iter().map(|axis| axis.map_or_else(|| 1.into(), |axis| sizes[axis].clone()));
            after = after.reshape(shape.collect::<Vec<Named>>()).map_err(|err| refused(&err))?;
        }
        Ok(after)
    }
}
