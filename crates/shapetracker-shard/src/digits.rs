//! Even shards: the coordinate along a mesh axis is a digit of the position.

use shapetracker::{ShapeTracker, View};

use crate::cut::Cut;
use crate::{Placement, Sharded};

/// The digit of a position that is the coordinate along one mesh axis: `position / step % size`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Digit {
    pub(crate) step: i64,
    pub(crate) size: i64,
}

/// One digit for each mesh axis, or nothing where every device has the same: it has one device, or does not shard.
///
/// `None` where some coordinate is no digit, as that of an uneven shard, or where there are no elements.
///
/// An axis begins as one segment of digits, from 0 to n - 1. A cut that divides what is left of the axis evenly, and whose
/// digit lies inside one segment, takes it out and leaves a segment on each side. So the digits are disjoint: of any two, the
/// end `step * size` of one divides the step of the other.
// Proved: `digits_of_axis` in `proofs/Shards.v`.
pub(crate) fn digits(tensor: &Sharded) -> Option<Vec<Option<Digit>>> {
    if tensor.numel() == 0 {
        return None;
    }
    let mut digits = vec![None; tensor.mesh().rank()];
    let mut weight = 1;
    for (axis, &size) in tensor.shape().iter().enumerate().rev() {
        // The segments of what is left, innermost first: the step and the number of values of each.
        let mut segments = vec![(weight, size)];
        let mut left = size;
        for (mesh_axis, cut) in tensor.cuts(axis) {
            if cut.parts > 1 {
                digits[mesh_axis] = Some(take(&mut segments, left, cut)?);
                left /= cut.parts;
            }
        }
        weight *= size;
    }
    Some(digits)
}

/// The digit of a cut, which is taken out of the segments of a list of `n`.
// Proved: `digits_found_exact` in `proofs/Shards.v`.
fn take(segments: &mut Vec<(i64, i64)>, n: i64, cut: Cut) -> Option<Digit> {
    let piece = cut.piece(n);
    if n % piece != 0 || piece % cut.parts != 0 {
        return None;
    }
    let part = piece / cut.parts;
    let mut below = 1;
    for (i, &(step, size)) in segments.iter().enumerate() {
        let end = below * size;
        if piece <= end {
            if part % below != 0 || end % piece != 0 {
                return None;
            }
            let digit = Digit { step: step * (part / below), size: cut.parts };
            segments.splice(i..=i, [(step, part / below), (digit.step * cut.parts, end / piece)]);
            return Some(digit);
        }
        below = end;
    }
    None
}

/// The placements of a shape that say the same as the digits.
///
/// The coordinate changes at every multiple of the step, so that an axis that it depends on has a weight that divides the
/// step; and it has all values within the first `step * size` positions, so that the axis has as many and, because the
/// positions of an axis repeat, a multiple. There is one such axis at most. In the list that the earlier digits leave of it
/// the digit is one again, because no two digits meet, and its pieces are its repetitions: no other number of pieces cuts at
/// the same places, and no cut that leaves parts of different lengths does.
// Proved: `placed_digit`, `axis_of_digit`, `digit_stays`, `digit_among_others`, `placed_among_others` in `proofs/Shards.v`.
pub(crate) fn place(digits: &[Option<Digit>], before: &Sharded, shape: &[i64]) -> Option<Vec<Placement>> {
    let mut placements: Vec<Placement> = Vec::with_capacity(digits.len());
    for (mesh_axis, digit) in digits.iter().enumerate() {
        let Some(digit) = *digit else {
            placements.push(trivial(before, mesh_axis, shape));
            continue;
        };
        let mut weight = 1;
        let (axis, weight) = shape.iter().enumerate().rev().find_map(|(axis, &size)| {
            let this = weight;
            weight *= size;
            (digit.step % this == 0 && weight % (digit.step * digit.size) == 0 && size > 1).then_some((axis, this))
        })?;
        let (mut step, mut left) = (digit.step / weight, shape[axis]);
        for (placement, other) in placements.iter().zip(digits) {
            if let (true, Some(other)) = (placement.axis() == Some(axis), other) {
                left /= other.size;
                step /= if other.step < digit.step { other.size } else { 1 };
            }
        }
        placements.push(Placement::of_pieces(axis, left / (step * digit.size)));
    }
    Some(placements)
}

/// A placement along a mesh axis that does not shard, or has one device: the latter shards what it did, and where that is
/// spread over several axes, the outermost.
pub(crate) fn trivial(before: &Sharded, mesh_axis: usize, shape: &[i64]) -> Placement {
    let placement = before.placements()[mesh_axis];
    let Some(old) = placement.axis() else { return placement };
    if shape.is_empty() {
        return Placement::Replicate;
    }
    if shape == before.shape() {
        return Placement::Shard(old);
    }
    let weight =
        |shape: &[i64], axis: usize| shape[axis..].iter().fold(1, |weight: i64, size| weight.saturating_mul(*size));
    let wanted = weight(before.shape(), old);
    let axis = (0..shape.len()).rev().find(|&axis| weight(shape, axis) >= wanted).unwrap_or(0);
    Placement::Shard(axis)
}

/// The parts that devices hold, as a tracker over the mesh axes and the axes of the local tensor, whose addresses are
/// positions of the new shape; `None` where they have no index set along each axis, or that is not known.
///
/// Where every weight of the new shape divides a digit, or what lies between two digits, into digits again, each of these
/// lies inside one axis. So what a device holds has, along each axis, all indices with the given digits of the axis.
pub(crate) fn parts(digits: &[Option<Digit>], tensor: &Sharded, shape: &[i64]) -> Option<ShapeTracker> {
    let mut taken: Vec<Digit> = digits.iter().flatten().copied().collect();
    taken.sort_by_key(|digit| digit.step);
    let mut sizes = Vec::new();
    let mut strides = Vec::new();
    let mut local = Vec::new();
    let mut weight = 1;
    for &size in shape.iter().rev() {
        let end = weight * size;
        let (mut at, mut free) = (weight, 1);
        // From `at` to `end`: each digit that meets the axis, and what is left between them.
        for digit in &taken {
            let (from, to) = (digit.step.max(weight), (digit.step * digit.size).min(end));
            if from >= to {
                continue;
            }
            let clean =
                from % at == 0 && from % digit.step == 0 && to % from == 0 && (digit.step * digit.size) % to == 0;
            if !clean {
                return None;
            }
            sizes.push(from / at);
            strides.push(at);
            free *= from / at;
            at = to;
        }
        if end % at != 0 {
            return None;
        }
        sizes.push(end / at);
        strides.push(at);
        free *= end / at;
        local.push(free);
        weight = end;
    }
    let mesh = tensor.mesh().sizes();
    let steps = digits.iter().map(|digit| digit.map_or(0, |digit| digit.step));
    let over = |inner: &[i64]| -> Vec<i64> { mesh.iter().chain(inner.iter().rev()).copied().collect() };
    let strides: Vec<i64> = steps.chain(strides.into_iter().rev()).collect();
    let view = View::new(over(&sizes), strides, 0, None).ok()?;
    ShapeTracker::from(view).reshape(over(&local)).ok()
}
