//! Strides and masked axes of a stack, answered in microseconds: tinygrad asks for them at every step.
//!
//! The exact questions can take long for stacks with masks. The access to an element, as linear forms, shows most strides,
//! and its expression proves others; its conditions show which axes cannot be masked, and a look at some elements shows
//! which are.

use pyo3::prelude::*;
use shapetracker::expr::{self, Binary, Graph, IndexExpr, Node, Variable};
use shapetracker::{Access, Dims, Error, ShapeTracker, scattered, unravel_index};

use crate::error::{unanswered, undecided};

/// How many elements are looked at.
const LOOKS: usize = 1024;
const LOOKS_FOR_STRIDES: usize = 64;

pub(super) struct Answers {
    tracker: ShapeTracker,
    /// Nothing for one view, which shows everything itself.
    several: Option<(Access, IndexExpr)>,
}

impl Answers {
    pub(super) fn of(tracker: &ShapeTracker) -> Result<Answers, Error> {
        let several = match tracker.as_view() {
            Some(_) => None,
            None => Some((tracker.access()?, tracker.index_expr()?)),
        };
        Ok(Answers { tracker: tracker.clone(), several })
    }

    /// For each axis its stride, where the address is known to have one on the elements that are there.
    pub(super) fn strides(&self) -> PyResult<Vec<Option<i64>>> {
        let Some((access, code)) = &self.several else { return self.tracker.real_strides().map_err(undecided) };
        let mut strides: Vec<Option<i64>> = (0..access.shape().len()).map(|axis| access.stride(axis)).collect();
        for (axis, stride) in strides.iter_mut().enumerate().filter(|(_, stride)| stride.is_none()) {
            // The expression may have put into a division what is known to come out of it again.
            *stride = self.seen(axis).filter(|&seen| advances_by(code, axis, seen).is_ok_and(|always| always));
        }
        Ok(strides)
    }

    /// The stride along an axis if some elements that were looked at all have the same one.
    fn seen(&self, axis: usize) -> Option<i64> {
        let mut seen = None;
        for index in self.some().take(LOOKS_FOR_STRIDES) {
            let here = i128::from(self.tracker.address(&index)?);
            for other in self.near(&index, axis) {
                let Some(there) = self.tracker.address(&other) else { continue };
                let (moved, apart) = (i128::from(there) - here, i128::from(other[axis] - index[axis]));
                if moved % apart != 0 || seen.is_some_and(|stride| stride != moved / apart) {
                    return None;
                }
                seen = Some(moved / apart);
            }
        }
        seen.and_then(|stride| i64::try_from(stride).ok())
    }

    /// Whether some element that is there turns into one that is not when its index changes along an axis.
    pub(super) fn is_masked(&self, axis: usize) -> PyResult<bool> {
        let exact = || self.tracker.axis_is_masked(axis as i64);
        let Some((access, _)) = &self.several else { return exact().map_err(unanswered) };
        if !access.is_guarded(axis) {
            return Ok(false);
        }
        let masked = |index: Dims| self.near(&index, axis).any(|index| self.tracker.address(&index).is_none());
        // What cannot be decided is masked as far as anyone can see.
        Ok(self.some().any(masked) || exact().unwrap_or(true))
    }

    /// Some elements that are there, without any order.
    fn some(&self) -> impl Iterator<Item = Dims> + '_ {
        let shape = self.tracker.shape();
        let indices = scattered(self.tracker.numel()).take(LOOKS).filter_map(move |at| unravel_index(at, shape));
        indices.filter(|index| self.tracker.address(index).is_some())
    }

    /// The neighbours of an element along an axis, and the ends of the axis.
    fn near<'a>(&'a self, index: &'a Dims, axis: usize) -> impl Iterator<Item = Dims> + 'a {
        let (size, entry) = (self.tracker.shape()[axis], index[axis]);
        let others = [entry + 1, entry - 1, 0, size - 1, (entry + size / 2) % size.max(1)];
        others.into_iter().filter(move |&other| other != entry && (0..size).contains(&other)).map(move |other| {
            let mut index = index.clone();
            index[axis] = other;
            index
        })
    }
}

/// Whether any number of steps along an axis provably moves the address by as many strides, between elements that are
/// there.
fn advances_by(code: &IndexExpr, axis: usize, stride: i64) -> Result<bool, expr::Error> {
    let mut graph = Graph::new();
    let size = code.extents()[axis];
    let here = graph.variable(&code.graph().variables()[axis].name, 0..size)?;
    let steps = graph.variable("steps", 1..size.max(2))?;
    let there = graph.binary(Binary::Add, here, steps)?;
    let [mut indices, mut valids] = [[here; 2]; 2];
    for (k, at) in [here, there].into_iter().enumerate() {
        let moved = graph.import(code.graph(), &[code.index(), code.valid()], |graph, variable| {
            let Variable { name, range, .. } = &code.graph().variables()[variable];
            if variable == axis { Ok(at) } else { graph.variable(name, range.clone()) }
        })?;
        (indices[k], valids[k]) = (moved[0], moved[1]);
    }
    let moved = graph.binary(Binary::Sub, indices[1], indices[0])?;
    let stride = graph.int(stride);
    let wanted = graph.binary(Binary::Mul, steps, stride)?;
    let excess = graph.binary(Binary::Sub, moved, wanted)?;
    let inside = graph.within(there, 0, size)?;
    let both = graph.binary(Binary::And, valids[0], valids[1])?;
    let valid = graph.binary(Binary::And, both, inside)?;
    let (excess, _) = graph.simplify_pair(excess, valid);
    Ok(graph.node(excess) == Node::Int(0))
}
