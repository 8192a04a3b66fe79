//! Strides and masked axes of a stack, answered in no time: tinygrad asks for them all the time.
//!
//! The exact questions can take long for stacks with masks. The index expression, which is exact wherever there is an
//! element, shows most strides and proves others; its condition shows which axes cannot be masked, and a look at some
//! elements shows which are.

use pyo3::prelude::*;
use shapetracker::expr::{Binary, Expr, Graph, IndexExpr, Node};
use shapetracker::{Dims, Error, ShapeTracker};

use crate::error::{unanswered, undecided};

/// How many elements are looked at.
const LOOKS: u64 = 1024;
const LOOKS_FOR_STRIDES: usize = 64;

pub(super) struct Answers {
    tracker: ShapeTracker,
    /// Nothing for one view, which shows everything itself.
    code: Option<IndexExpr>,
}

impl Answers {
    pub(super) fn of(tracker: &ShapeTracker) -> Result<Answers, Error> {
        let code = if tracker.as_view().is_some() { None } else { Some(tracker.index_expr()?) };
        Ok(Answers { tracker: tracker.clone(), code })
    }

    /// For each axis its stride, where the address is known to have one on the elements that are there.
    pub(super) fn strides(&self) -> PyResult<Vec<Option<i64>>> {
        let Some(code) = &self.code else { return self.tracker.real_strides().map_err(undecided) };
        let mut strides = coefficients(code);
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
        let Some(code) = &self.code else { return exact().map_err(unanswered) };
        if !variables(code.graph(), code.valid()).any(|variable| variable == axis) {
            return Ok(false);
        }
        let masked = |index: Dims| self.near(&index, axis).any(|index| self.tracker.address(&index).is_none());
        // What cannot be decided is masked as far as anyone can see.
        Ok(self.some().any(masked) || exact().unwrap_or(true))
    }

    /// Some elements that are there, without any order.
    fn some(&self) -> impl Iterator<Item = Dims> + '_ {
        let numel = self.tracker.numel().max(1) as u64;
        let positions = (0..LOOKS).map(move |k| match k {
            0 => 0,
            1 => numel - 1,
            _ => k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % numel,
        });
        positions.filter_map(|mut position| {
            let mut index: Dims = self.tracker.shape().into();
            for entry in index.iter_mut().rev() {
                let size = entry.unsigned_abs().max(1);
                (position, *entry) = (position / size, (position % size) as i64);
            }
            self.tracker.address(&index).map(|_| index)
        })
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

/// For each axis what the address is multiplied by where it is linear in its variable; None where it is not.
fn coefficients(code: &IndexExpr) -> Vec<Option<i64>> {
    let graph = code.graph();
    let parts = graph.parts(&[code.index()]);
    let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
    let mut strides = vec![Some(0); code.shape().len()];
    // By what each part is multiplied in all; None under anything but sums and multiples.
    let mut times: Vec<Option<i128>> = vec![Some(0); parts.len()];
    times[place(code.index())] = Some(1);
    for (at, &part) in parts.iter().enumerate().rev() {
        let factor = times[at];
        let mut pass = |to: Expr, by: Option<i128>| {
            let sum = &mut times[place(to)];
            let more = factor.zip(by).and_then(|(factor, by)| factor.checked_mul(by));
            *sum = sum.zip(more).and_then(|(sum, more)| sum.checked_add(more));
        };
        match graph.node(part) {
            _ if factor == Some(0) => {}
            Node::Variable(variable) => {
                if let Some(stride) = axis_of(graph, variable).and_then(|axis| strides.get_mut(axis)) {
                    *stride = factor.and_then(|factor| i64::try_from(factor).ok());
                }
            }
            Node::Binary(Binary::Add, a, b) => [a, b].into_iter().for_each(|operand| pass(operand, Some(1))),
            Node::Binary(Binary::Sub, a, b) => [(a, 1), (b, -1)].into_iter().for_each(|(to, by)| pass(to, Some(by))),
            Node::Binary(Binary::Mul, a, b) => match (graph.node(a), graph.node(b)) {
                (_, Node::Int(by)) => pass(a, Some(by.into())),
                (Node::Int(by), _) => pass(b, Some(by.into())),
                _ => [a, b].into_iter().for_each(|operand| pass(operand, None)),
            },
            node => node.operands().for_each(|operand| pass(operand, None)),
        }
    }
    strides
}

/// Whether any number of steps along an axis provably moves the address by as many strides, between elements that are
/// there.
fn advances_by(code: &IndexExpr, axis: usize, stride: i64) -> Result<bool, Error> {
    let mut graph = Graph::new();
    let size = code.shape()[axis];
    let here = graph.variable(&format!("idx{axis}"), 0..size)?;
    let steps = graph.variable("steps", 1..size.max(2))?;
    let there = graph.binary(Binary::Add, here, steps)?;
    let [mut indices, mut valids] = [[here; 2]; 2];
    for (k, at) in [here, there].into_iter().enumerate() {
        [indices[k], valids[k]] = copied(&mut graph, code, axis, at)?;
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

/// An index and its condition in another graph, with something in place of the variable of an axis.
fn copied(graph: &mut Graph, code: &IndexExpr, axis: usize, at: Expr) -> Result<[Expr; 2], Error> {
    let from = code.graph();
    let parts = from.parts(&[code.index(), code.valid()]);
    let mut copies: Vec<Expr> = Vec::with_capacity(parts.len());
    for &part in &parts {
        // Operands come before what is made of them.
        let copy = |expr: Expr| copies[parts.binary_search(&expr).unwrap_or_default()];
        let made = match from.node(part) {
            Node::Int(value) => graph.int(value),
            Node::Bool(value) => graph.bool(value),
            Node::Variable(variable) if axis_of(from, variable) == Some(axis) => at,
            Node::Variable(variable) => {
                let variable = &from.variables()[variable];
                graph.variable(&variable.name, variable.range.clone())?
            }
            Node::Binary(op, a, b) => graph.binary(op, copy(a), copy(b))?,
            Node::Within(a, begin, end) => graph.within(copy(a), begin, end)?,
            Node::Not(a) => graph.not(copy(a))?,
            Node::Select(condition, a, b) => graph.select(copy(condition), copy(a), copy(b))?,
        };
        copies.push(made);
    }
    Ok([code.index(), code.valid()].map(|expr| copies[parts.binary_search(&expr).unwrap_or_default()]))
}

/// The axes whose variables an expression has.
fn variables(graph: &Graph, expr: Expr) -> impl Iterator<Item = usize> + '_ {
    graph.parts(&[expr]).into_iter().filter_map(|part| match graph.node(part) {
        Node::Variable(variable) => axis_of(graph, variable),
        _ => None,
    })
}

/// The axis of a variable: that of `idx3` is 3.
fn axis_of(graph: &Graph, variable: usize) -> Option<usize> {
    graph.variables().get(variable)?.name.strip_prefix("idx")?.parse().ok()
}
