//! Has what a device holds an index set along each axis of a shape?

use crate::cut::{Cut, ceil};
use crate::digits;
use crate::lists::List;
use crate::sharded::{blocks, unravel};
use crate::word::run;
use crate::work::Work;
use crate::{Sharded, Undecided, Witness};

/// A device that holds two elements and not a third, which has the indices of one of them along the first axes of a shape and
/// of the other one along the rest. `None` where what every device holds is the product of one index set for each axis.
///
/// A set of indices is a product if and only if for each place between two axes it is one of what stands before and what
/// stands after. Positions are cut there by a weight of the shape into rows, `position / weight`, and places in a row,
/// `position % weight`: so all rows that a device has elements of must have the same places.
///
/// Where both shapes have a common weight, what devices hold is a product of what they hold of each block between two of
/// these, and each block is asked by itself. First a few rows are compared that are likely to differ, then all of them, under
/// the work limit.
pub(crate) fn crossing(before: &Sharded, shape: &[i64]) -> Result<Option<Witness>, Undecided> {
    if before.numel() == 0 {
        return Ok(None);
    }
    if let Some(digits) = digits::digits(before)
        && digits::parts(&digits, before, shape).is_some()
    {
        return Ok(None);
    }
    let mut work = Work::new("comparing what devices hold");
    let blocks = sharded_blocks(before, shape);
    for probe in [true, false] {
        for block in &blocks {
            let crossing = if probe { block.probe() } else { block.all(&mut work)? };
            if let Some(crossing) = crossing {
                return Ok(Some(crossing.witness(before, shape, block.weight)));
            }
        }
    }
    Ok(None)
}

/// Axes between two weights that both shapes have.
struct Block {
    /// The axes of the old shape, with the placements that are about them.
    old: Sharded,
    /// The weights of the new shape inside the block, which divide its elements.
    weights: Vec<i64>,
    /// The weight of the block's last axis.
    weight: i64,
}

/// Two positions that a device holds, and one that it does not.
struct Crossing {
    device: Vec<i64>,
    held: [i64; 2],
    missing: i64,
}

impl Crossing {
    /// The elements of the whole tensor whose index is 0 along the axes of other blocks: whoever has the coordinate 0 along
    /// each mesh axis has that index.
    fn witness(self, before: &Sharded, shape: &[i64], weight: i64) -> Witness {
        let device = self.device;
        let [a, b] = self.held.map(|position| position * weight);
        let global = [a.min(b), a.max(b)];
        let missing = self.missing * weight;
        let [first, second, third] = [global[0], global[1], missing]
            .map(|position| shapetracker_base::text::tuple(&unravel(position, shape)).to_string());
        let other = holder(before, missing, &device);
        let mesh = before.mesh();
        let sentence = format!(
            "device {} holds the elements {first} and {second} of shape {}, but not {third}, which device {} holds: whatever part \
             of that shape has the first two has the third as well",
            mesh.device(&device),
            shapetracker_base::text::tuple(shape),
            mesh.device(&other),
        );
        let local = global.map(|position| before.local(&device, position).unwrap_or_default());
        Witness { device, local, global: global.map(Some), missing: Some(missing), sentence }
    }
}

/// A device that holds an element, near to another device where there are several.
pub(crate) fn holder(tensor: &Sharded, position: i64, near: &[i64]) -> Vec<i64> {
    let holders = tensor.holders(position).unwrap_or_default();
    holders.iter().zip(near).map(|(holder, &near)| holder.unwrap_or(near)).collect()
}

/// The blocks in which something is to be asked.
fn sharded_blocks(before: &Sharded, shape: &[i64]) -> Vec<Block> {
    let mut asked = Vec::new();
    for (old, new, weight) in blocks(before.shape(), shape) {
        let old = before.block(old);
        let sizes = &shape[new];
        let mut weights: Vec<i64> = (1..sizes.len()).rev().map(|axis| sizes[axis..].iter().product()).collect();
        weights.retain(|&weight| 1 < weight && weight < old.numel());
        weights.dedup();
        let mut any = Vec::new();
        for row in weights {
            match Rows::of(&old, row) {
                Rows::Same => {}
                Rows::Axis(axis, length) => {
                    let weight = weight * (row / length);
                    asked.push(Block { old: old.block(axis..axis + 1), weights: vec![length], weight });
                }
                Rows::Any => any.push(row),
            }
        }
        if !any.is_empty() {
            asked.push(Block { old, weights: any, weight });
        }
    }
    asked
}

/// What is to be asked about rows of one weight.
enum Rows {
    /// Nothing: they have the same places on every device.
    Same,
    /// Whether each device's list of one axis is the product of rows and places in a row: the axis, and the length of a row.
    Axis(usize, i64),
    /// All of it.
    Any,
}

impl Rows {
    /// An axis whose weight is a multiple of the row's says only which rows a device has, and one that repeats within a row
    /// only which places. An axis between them that is cut by whole rows can be asked by itself.
    fn of(tensor: &Sharded, weight: i64) -> Rows {
        let (mut rows, mut inner) = (Rows::Same, 1);
        for (axis, &size) in tensor.shape().iter().enumerate().rev() {
            let (this, end) = (inner, inner * size);
            inner = end;
            let cuts: Vec<Cut> = tensor.cuts(axis).map(|(_, cut)| cut).filter(|cut| cut.parts > 1).collect();
            // What pieces of one length hold repeats with each, if nothing cuts it again.
            let repeats = match &cuts[..] {
                [cut] if size % cut.piece(size) == 0 => cut.piece(size) * this,
                _ => end,
            };
            if cuts.is_empty() || this % weight == 0 || weight % repeats == 0 {
                continue;
            }
            if end % weight == 0 && are_products(&cuts, size, this, weight) {
                continue;
            }
            if weight % this != 0 || end % weight != 0 {
                return Rows::Any;
            }
            rows = Rows::Axis(axis, weight / this);
        }
        rows
    }
}

/// Whether the rows of a weight, which divides `n * step`, have the same positions on every device, where cuts of `n` places of
/// `step` positions each say which it has: as far as widths tell.
fn are_products(cuts: &[Cut], n: i64, step: i64, weight: i64) -> bool {
    let Some((cut, inner)) = cuts.split_first().filter(|_| n > 1) else { return true };
    let piece = cut.piece(n);
    let part = ceil(piece, cut.parts);
    let are_rows = |places: i64| places * step % weight == 0;
    let are_in_row = |places: i64| weight % (places * step) == 0;
    if piece >= n {
        // Parts are made of whole rows, and so is the last one; or each is inside a row, whatever is cut out of it.
        let of_parts = |n: i64| are_products(inner, n, step, weight);
        return are_in_row(part) || (are_rows(part) && of_parts(part) && of_parts(n % part));
    }
    let last = ceil(n % piece, cut.parts);
    // A row has whole pieces, and all of them; or parts are made of whole rows.
    inner.is_empty() && (are_in_row(piece) || (are_rows(piece) && are_rows(part) && are_rows(last)))
}

impl Block {
    /// Compares rows that are likely to differ: those next to each other at a few places, with the first that the device has.
    fn probe(&self) -> Option<Crossing> {
        let near = vec![0; self.old.mesh().rank()];
        let numel = self.old.numel();
        for &weight in &self.weights {
            let rows = numel / weight;
            for row in [1, 2, rows / 2, rows - 1] {
                for position in [row * weight, row * weight - 1] {
                    if position >= numel {
                        continue;
                    }
                    let device = holder(&self.old, position, &near);
                    let Some(first) = self.old.holds(&device, 0) else { continue };
                    let last = self.old.holds(&device, self.old.held(&device) - 1).unwrap_or(first);
                    for other in [last / weight, row - 1, row, row + 1] {
                        if let Some(crossing) = self.compare(&device, weight, first / weight, other) {
                            return Some(crossing);
                        }
                    }
                }
            }
        }
        None
    }

    /// A place that one of two rows has on a device and the other has not, if both have any: where the counts of what lies
    /// before it begin to differ.
    fn compare(&self, device: &[i64], weight: i64, first: i64, second: i64) -> Option<Crossing> {
        let numel = self.old.numel();
        if first == second || !(0..numel / weight).contains(&second) {
            return None;
        }
        let before =
            |row: i64, place: i64| self.old.below(device, row * weight + place) - self.old.below(device, row * weight);
        if before(first, weight) == 0 || before(second, weight) == 0 {
            return None;
        }
        // The first places differ, or the numbers of places do, or the last places, or what is in between.
        let head =
            |row: i64| self.old.holds(device, self.old.below(device, row * weight)).map(|position| position % weight);
        let heads = [head(first)?, head(second)?];
        let samples = [heads[0].min(heads[1]) + 1, weight / 4, weight / 2, weight / 4 * 3, weight - 1, weight];
        let mut low = 0;
        let mut high = samples.into_iter().find(|&place| before(first, place) != before(second, place))?;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if before(first, middle) == before(second, middle) { low = middle } else { high = middle }
        }
        let has = |row: i64| self.old.local(device, row * weight + low).is_some();
        let (with, without) = if has(first) { (first, second) } else { (second, first) };
        let in_other = self.old.holds(device, self.old.below(device, without * weight))?;
        Some(Crossing {
            device: device.to_vec(),
            held: [with * weight + low, in_other],
            missing: without * weight + low,
        })
    }

    /// Compares all rows of all devices.
    fn all(&self, work: &mut Work) -> Result<Option<Crossing>, Undecided> {
        let mut device = vec![0; self.old.mesh().rank()];
        loop {
            work.step()?;
            if self.old.held(&device) > 0 {
                let runs = runs(&self.old, &device, work)?;
                for &weight in &self.weights {
                    if let Some(crossing) = rows_differ(&runs, weight, &device, work)? {
                        return Ok(Some(crossing));
                    }
                }
            }
            // The next device that differs along a mesh axis that shards.
            let next = self
                .old
                .placements()
                .iter()
                .zip(self.old.mesh().sizes())
                .enumerate()
                .rev()
                .find(|(k, (placement, size))| placement.axis().is_some() && device[*k] + 1 < **size);
            let Some((k, _)) = next else { return Ok(None) };
            device[k] += 1;
            device[k + 1..].fill(0);
        }
    }
}

/// What a device holds as runs of neighbouring positions `(begin, end)`, none of which ends where the next one begins.
pub(crate) fn runs(tensor: &Sharded, device: &[i64], work: &mut Work) -> Result<Vec<(i64, i64)>, Undecided> {
    let shape = tensor.shape();
    let lists: Vec<List> = (0..shape.len()).map(|axis| List::of(tensor, axis, device)).collect();
    let held = tensor.held(device);
    if held == 0 {
        return Ok(Vec::new());
    }
    // Along the axes within the innermost one of which the device has not everything, runs are whole.
    let Some(cut) = (0..shape.len()).rev().find(|&axis| lists[axis].len < shape[axis]) else {
        work.step()?;
        return Ok(vec![(0, held)]);
    };
    let inner: i64 = shape[cut + 1..].iter().product();
    let cuts: Vec<Cut> = tensor.cuts(cut).map(|(_, cut)| cut).collect();
    // Very many runs are counted before they are made.
    work.has(ceil(held / inner, lists[cut].longest_run()))?;
    let mut runs: Vec<(i64, i64)> = Vec::new();
    // Ranks among the places of the axes up to that one, innermost first in the number.
    let mut local = 0;
    while local < held / inner {
        work.step()?;
        let (mut rest, mut weight, mut begin, mut place) = (local, inner, 0, 0);
        for axis in (0..=cut).rev() {
            let at = lists[axis].place(rest % lists[axis].len);
            if axis == cut {
                place = at;
            }
            begin += at * weight;
            (rest, weight) = (rest / lists[axis].len, weight * shape[axis]);
        }
        let length = run(&cuts, shape[cut], place).1;
        match runs.last_mut() {
            Some((_, end)) if *end == begin => *end += length * inner,
            _ => runs.push((begin, begin + length * inner)),
        }
        local += length;
    }
    Ok(runs)
}

/// Compares the rows of a weight, each with the first one.
fn rows_differ(
    runs: &[(i64, i64)],
    weight: i64,
    device: &[i64],
    work: &mut Work,
) -> Result<Option<Crossing>, Undecided> {
    let mut first: Option<(i64, Vec<(i64, i64)>)> = None;
    let mut row: Option<(i64, Vec<(i64, i64)>)> = None;
    let mut differs = |row: &mut Option<(i64, Vec<(i64, i64)>)>| {
        let (number, places) = row.take()?;
        let Some((first, known)) = &first else {
            first = Some((number, places));
            return None;
        };
        let at = (0..).find(|&i| known.get(i) != places.get(i) || i >= known.len())?;
        let (a, b) = (known.get(at), places.get(at));
        let (place, in_first) = match (a, b) {
            (None, None) => return None,
            (Some(a), None) => (a.0, true),
            (None, Some(b)) => (b.0, false),
            (Some(a), Some(b)) if a.0 != b.0 => (a.0.min(b.0), a.0 < b.0),
            (Some(a), Some(b)) => (a.1.min(b.1), a.1 > b.1),
        };
        let ((with, _), (without, other)) =
            if in_first { ((*first, known), (number, &places)) } else { ((number, &places), (*first, known)) };
        Some(Crossing {
            device: device.to_vec(),
            held: [with * weight + place, without * weight + other[0].0],
            missing: without * weight + place,
        })
    };
    for &(begin, end) in runs {
        let mut begin = begin;
        while begin < end {
            work.step()?;
            let number = begin / weight;
            if row.as_ref().is_some_and(|(known, _)| *known != number)
                && let Some(crossing) = differs(&mut row)
            {
                return Ok(Some(crossing));
            }
            let place = begin % weight;
            let until = end.min(number * weight + weight);
            row.get_or_insert_with(|| (number, Vec::new())).1.push((place, place + until - begin));
            // Of whole rows one stands for all.
            begin = if place == 0 && end / weight > number + 1 { end / weight * weight } else { until };
        }
    }
    Ok(differs(&mut row))
}
