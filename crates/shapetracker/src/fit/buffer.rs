//! The fresh buffer of the smallest copy, and the view of it that has the new shape.

use std::collections::BTreeSet;

use super::blocks::{Block, Piece, full, view_of};
use super::smallest::walk;
use crate::error::Error;
use crate::shape::row_major;
use crate::{Dims, Ranges, View};

/// Sizes and strides.
type Axes = Vec<(i64, i64)>;

/// How many addresses are cut into as few views as can be; those before them are cut greedily.
const MOST_COMPARED: usize = 1 << 10;

/// The fresh buffer as it is laid out: its parts, outermost first.
#[derive(Clone)]
pub(super) struct Buffer {
    parts: Vec<Part>,
    /// The address in the old buffer of the first element of the new one.
    pub(super) offset: i128,
    /// Whether any parts became one because they overlap.
    pub(super) shared: bool,
}

/// Neighbouring axes of the fresh buffer, and the new axes along which an index moves in them.
#[derive(Clone)]
struct Part {
    /// What is copied into the part, one after another: addresses, and from each old axes or pieces of them. Only the
    /// outermost part has more than one.
    copied: Vec<(i128, Vec<Piece>)>,
    size: i64,
    movers: Vec<Mover>,
    /// The position in this part where every new axis is at its first valid index.
    start: i64,
    /// Whether the part is a single new axis, which already was a view. Only the elements of such parts can be among those
    /// of another.
    kept: bool,
}

/// A part of the buffer in which new axes have any strides.
pub(super) struct Interleaved {
    axes: Vec<usize>,
    strides: Vec<i64>,
    /// The position of the index 0.
    start: i64,
    len: i64,
    /// What the part holds where all other axes are at 0, as strided views one after another: the address of the first
    /// element, sizes and strides.
    copied: Vec<(i64, Axes)>,
}

impl Interleaved {
    /// How many views are copied one after another.
    pub(super) fn pieces(&self) -> usize {
        self.copied.len()
    }

    /// The part for these axes of a shape, strides that serve, the length, and the address that each index of the axes
    /// reads, in row-major order.
    ///
    /// Views with negative strides are copied only where the caller says that there are any besides.
    pub(super) fn new(
        axes: &[usize],
        to: &[i64],
        (strides, len): (Vec<i64>, i64),
        reads: &[i64],
        negative: bool,
    ) -> Interleaved {
        let negative = negative || strides.iter().any(|&stride| stride < 0);
        let sizes: Dims = axes.iter().map(|&axis| to[axis]).collect();
        let start = sizes.iter().zip(&strides).map(|(size, stride)| (-stride).max(0) * (size - 1)).sum();
        let mut held = vec![None; len as usize];
        for (position, &address) in walk(&sizes, &strides, start).zip(reads) {
            held[position as usize] = Some(address);
        }
        // What no index reads may be anything that can be read: what continues the elements before, or the one before.
        let known: BTreeSet<i64> = reads.iter().copied().collect();
        let mut filled: Vec<i64> = Vec::with_capacity(held.len());
        for address in held {
            let last = filled.last().copied().unwrap_or(reads[0]);
            let next = filled.iter().rev().nth(1).and_then(|earlier| last.checked_add(last.checked_sub(*earlier)?));
            filled.push(address.unwrap_or(next.filter(|next| known.contains(next)).unwrap_or(last)));
        }
        let copied = pieces(&filled, negative);
        Interleaved { axes: axes.into(), strides, start, len, copied }
    }
}

/// Strided views that read some addresses one after another: the first address of each, sizes and strides. They are as few
/// as can be when each is the longest from its start on, or the first evenly spaced elements, or one element.
fn pieces(addresses: &[i64], negative: bool) -> Vec<(i64, Axes)> {
    let (mut copied, mut start) = (Vec::new(), 0);
    while addresses.len() - start > MOST_COMPARED {
        let (axes, count) = strided(&addresses[start..], negative);
        copied.push((addresses[start], axes));
        start += count;
    }
    let addresses = &addresses[start..];
    // From the last start to the first: how many views are needed from there on, and the first of them with its length.
    let mut best: Vec<(usize, Axes, usize)> = vec![(0, Vec::new(), 0)];
    for start in (0..addresses.len()).rev() {
        let (axes, count) = strided(&addresses[start..], negative);
        let run = axes.last().copied();
        let shorter = run.map(|run| (vec![run], run.0 as usize)).into_iter().chain([(Vec::new(), 1)]);
        let after = |count: usize| best[best.len() - count].0 + 1;
        let (axes, count) = shorter
            .fold((axes, count), |longest, other| if after(other.1) < after(longest.1) { other } else { longest });
        best.push((after(count), axes, count));
    }
    start = 0;
    while start < addresses.len() {
        let (_, axes, count) = &best[addresses.len() - start];
        copied.push((addresses[start], axes.clone()));
        start += count;
    }
    copied
}

/// A strided view, as sizes and strides, that reads the first so many of some addresses, in row-major order: all of
/// them if there is one. The elements up to the first uneven step are its innermost axis, since an axis that went on
/// evenly beyond its size would be one with the next.
fn strided(addresses: &[i64], negative: bool) -> (Axes, usize) {
    let [first, second, ..] = addresses else { return (Vec::new(), addresses.len()) };
    let apart = |from: i64, to: i64| i128::from(to) - i128::from(from);
    let stride = match second.checked_sub(*first) {
        Some(stride) if stride >= 0 || negative => stride,
        _ => return (Vec::new(), 1),
    };
    let is_even = |pair: &&[i64]| apart(pair[0], pair[1]) == stride.into();
    let size = 1 + addresses.windows(2).take_while(is_even).count();
    let is_like_the_first =
        |run: &&[i64]| run.iter().zip(addresses).all(|(a, b)| apart(run[0], *a) == apart(*first, *b));
    let starts: Vec<i64> = addresses.chunks_exact(size).take_while(is_like_the_first).map(|run| run[0]).collect();
    let (mut axes, count) = strided(&starts, negative);
    axes.push((size as i64, stride));
    (axes, count * size)
}

/// A new axis: index `i` adds `multiple * (i - first)` to the position in a part.
#[derive(Clone)]
struct Mover {
    axis: usize,
    multiple: i64,
    first: i64,
}

impl Buffer {
    /// A buffer without axes, whose one element is at an address of the old one.
    pub(super) fn at(offset: i64) -> Buffer {
        Buffer { parts: Vec::new(), offset: offset.into(), shared: false }
    }

    /// Adds a new axis that already is a view: the elements of its valid range.
    pub(super) fn keep(&mut self, axis: usize, stride: i64, (first, end): (i64, i64)) {
        self.offset += i128::from(first) * i128::from(stride);
        let size = end - first;
        let copied = vec![(0, vec![Piece { joined: 0, size, stride, range: (0, size) }])];
        self.parts.push(Part { copied, size, movers: vec![Mover { axis, multiple: 1, first }], start: 0, kept: true });
    }

    /// Adds all elements of a block that is not a view.
    pub(super) fn copy(&mut self, block: &Block, sizes: &[i64]) {
        let movers = block.new.clone().zip(row_major(sizes));
        let movers = movers.map(|(axis, multiple)| Mover { axis, multiple, first: 0 }).collect();
        let size = sizes.iter().product();
        self.parts.push(Part { copied: vec![(0, block.pieces.clone())], size, movers, start: 0, kept: false });
    }

    /// Joins parts that are windows over the same elements: the stride of one, a single axis, is a multiple of that of
    /// the other's outermost axis, and less than the other's whole length. Both then read one range of the outermost
    /// axis, of `size + multiple * (coarse - 1)` elements instead of `size * coarse`; what is inside of it, `inner`
    /// elements for each, follows it. That does not exceed the elements of the view, so that nothing overflows.
    pub(super) fn share_overlaps(&mut self) {
        while let Some((fine, coarse, multiple)) = self.overlap() {
            let part = self.parts.remove(coarse);
            let fine = &mut self.parts[fine - usize::from(coarse < fine)];
            let axis = &mut fine.copied[0].1[0];
            let (reach, inner) = (multiple * (part.size - 1), fine.size / axis.size);
            fine.start += multiple * inner * part.start;
            if reach < 0 {
                // The windows walk backwards, so that the buffer starts earlier.
                fine.start -= reach * inner;
                self.offset += i128::from(reach) * i128::from(axis.stride);
            }
            axis.size += reach.abs();
            axis.range = (0, axis.size);
            fine.size = axis.size * inner;
            let movers = part.movers.into_iter();
            fine.movers.extend(movers.map(|mover| Mover { multiple: mover.multiple * multiple * inner, ..mover }));
            self.shared = true;
        }
    }

    /// Two parts that overlap, and how many strides of the first make one of the second.
    fn overlap(&self) -> Option<(usize, usize, i64)> {
        let outermost = |(i, part): (usize, &Part)| (i, part.copied[0].1[0]);
        let parts = || self.parts.iter().enumerate();
        parts().map(outermost).filter(|(_, fine)| full(fine.range, fine.size)).find_map(|(i, fine)| {
            parts().filter(|&(j, part)| i != j && part.kept).map(outermost).find_map(|(j, coarse)| {
                let multiple = coarse.stride.checked_div(fine.stride)?;
                let overlaps = coarse.stride % fine.stride == 0 && multiple.unsigned_abs() < fine.size.unsigned_abs();
                overlaps.then_some((i, j, multiple))
            })
        })
    }

    /// Lays out the axes of whole parts in another way. Those parts and no others may share elements.
    pub(super) fn interleave(&mut self, new: &Interleaved) {
        let moves = |part: &Part| part.movers.iter().any(|mover| new.axes.contains(&mover.axis));
        // What is copied as one view stays where it was; of several, each is to go around all that is inside of it.
        let at = if new.copied.len() == 1 { self.parts.iter().position(moves).unwrap_or(0) } else { 0 };
        self.parts.retain(|part| !moves(part));
        let piece = |&(size, stride): &(i64, i64)| Piece { joined: 0, size, stride, range: (0, size) };
        let copied = new.copied.iter().map(|(from, axes)| (i128::from(*from), axes.iter().map(piece).collect()));
        let movers = new.axes.iter().zip(&new.strides).map(|(&axis, &multiple)| Mover { axis, multiple, first: 0 });
        let part =
            Part { copied: copied.collect(), size: new.len, movers: movers.collect(), start: new.start, kept: false };
        self.parts.insert(at, part);
        self.offset = 0;
        self.shared = true;
    }

    pub(super) fn numel(&self) -> i64 {
        self.parts.iter().map(|part| part.size).product()
    }

    /// The elements of the buffer, as views of the old one.
    pub(super) fn copied(&self) -> Result<Vec<View>, Error> {
        let Some((outermost, inside)) = self.parts.split_first() else { return Ok(vec![view_of(&[], self.offset)?]) };
        let (mut offset, mut axes) = (self.offset, Vec::new());
        for part in inside {
            offset += part.copied[0].0;
            axes.extend(&part.copied[0].1);
        }
        let of = |(from, outer): &(i128, Vec<Piece>)| view_of(&[&outer[..], &axes].concat(), offset + from);
        outermost.copied.iter().map(of).collect()
    }

    /// The view of the buffer that has the new shape.
    pub(super) fn view(&self, to: &[i64], mask: Ranges) -> Result<View, Error> {
        let (mut strides, mut offset, mut weight) = (Dims::from_elem(0, to.len()), 0, 1);
        for part in self.parts.iter().rev() {
            offset += i128::from(part.start * weight);
            for mover in &part.movers {
                strides[mover.axis] = mover.multiple * weight;
                offset -= i128::from(strides[mover.axis]) * i128::from(mover.first);
            }
            weight *= part.size;
        }
        View::canonical("reshape", to.into(), strides, offset, Some(mask))
    }
}
