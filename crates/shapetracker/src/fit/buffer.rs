//! The fresh buffer of the smallest copy, and the view of it that has the new shape.

use super::blocks::{Block, Piece, view_of};
use crate::error::Error;
use crate::shape::row_major;
use crate::{Dims, Ranges, View};

/// The fresh buffer as it is laid out: its parts, outermost first.
pub(super) struct Buffer {
    parts: Vec<Part>,
    /// The address in the old buffer of the first element of the new one.
    pub(super) offset: i128,
    /// Whether any parts became one because they overlap.
    pub(super) shared: bool,
}

/// Neighbouring axes of the fresh buffer, and the new axes along which an index moves in them.
#[derive(Default)]
struct Part {
    /// Old axes or pieces of them.
    axes: Vec<Piece>,
    movers: Vec<Mover>,
    /// The position in this part where every new axis is at its first valid index.
    start: i64,
    /// Whether the part already was a view under the new shape. Only such parts, of one axis, can share elements.
    kept: bool,
}

/// A new axis: index `i` adds `multiple * (i - first)` to the position in a part.
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
        let axes = vec![Piece { joined: 0, size, stride, range: (0, size) }];
        self.parts.push(Part { axes, movers: vec![Mover { axis, multiple: 1, first }], start: 0, kept: true });
    }

    /// Adds all elements of a block that is not a view.
    pub(super) fn copy(&mut self, block: &Block, sizes: &[i64]) {
        let movers = block.new.clone().zip(row_major(sizes));
        let movers = movers.map(|(axis, multiple)| Mover { axis, multiple, first: 0 }).collect();
        self.parts.push(Part { axes: block.pieces.clone(), movers, start: 0, kept: false });
    }

    /// Joins parts that are windows over the same elements: the stride of one is a multiple of the other's, and less
    /// than the other's whole length. The two then read one range of addresses at the finer stride, of
    /// `fine + multiple * (coarse - 1)` elements instead of `fine * coarse`. That does not exceed the elements of the
    /// view, so that nothing overflows.
    pub(super) fn share_overlaps(&mut self) {
        while let Some((fine, coarse, multiple)) = self.overlap() {
            let coarse = std::mem::take(&mut self.parts[coarse]);
            let fine = &mut self.parts[fine];
            let reach = multiple * (coarse.axes[0].size - 1);
            fine.start += multiple * coarse.start;
            if reach < 0 {
                // The windows walk backwards, so that the buffer starts earlier.
                fine.start -= reach;
                self.offset += i128::from(reach) * i128::from(fine.axes[0].stride);
            }
            fine.axes[0].size += reach.abs();
            fine.axes[0].range = (0, fine.axes[0].size);
            fine.movers.extend(coarse.movers.into_iter().map(|m| Mover { multiple: m.multiple * multiple, ..m }));
            self.shared = true;
        }
    }

    /// Two parts that overlap, and how many strides of the first make one of the second.
    fn overlap(&self) -> Option<(usize, usize, i64)> {
        let kept = || self.parts.iter().enumerate().filter(|(_, part)| part.kept).map(|(i, part)| (i, part.axes[0]));
        kept().find_map(|(i, fine)| {
            kept().filter(|&(j, _)| i != j).find_map(|(j, coarse)| {
                let multiple = coarse.stride.checked_div(fine.stride)?;
                let overlaps = coarse.stride % fine.stride == 0 && multiple.unsigned_abs() < fine.size.unsigned_abs();
                overlaps.then_some((i, j, multiple))
            })
        })
    }

    pub(super) fn numel(&self) -> i64 {
        self.parts.iter().map(Part::numel).product()
    }

    /// The elements of the buffer, as a view of the old one.
    pub(super) fn copied(&self) -> Result<View, Error> {
        let axes: Vec<Piece> = self.parts.iter().flat_map(|part| part.axes.iter().copied()).collect();
        view_of(&axes, self.offset)
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
            weight *= part.numel();
        }
        View::canonical("reshape", to.into(), strides, offset, Some(mask))
    }
}

impl Part {
    fn numel(&self) -> i64 {
        self.axes.iter().map(|axis| axis.size).product()
    }
}
