//! Two shapes of the same elements, cut into the finest blocks of axes that line up.
//!
//! A block is a range of new axes, and the old axes or factors of their sizes that hold the same elements. A view is the
//! sum of its blocks (addresses add up, and an index is valid where all its parts are), and axes that are reshaped apart
//! can be decided apart: `reshape_in_context` in proofs/Product.v. So the whole fits exactly when every block does.

use std::ops::Range;

use crate::View;
use crate::error::Error;

/// Neighbouring old axes that are one axis as far as addresses go; axes of size 1 are left out.
pub(super) struct Joined {
    /// The outermost of the old axes.
    pub(super) outer: usize,
    /// The innermost of the old axes. Only a single axis can be masked: `range` is then its valid range.
    pub(super) inner: usize,
    pub(super) size: i64,
    pub(super) stride: i64,
    pub(super) range: (i64, i64),
}

/// The axes of a view joined as far as they go, outermost first.
pub(super) fn joined(view: &View) -> Vec<Joined> {
    let mut all: Vec<Joined> = Vec::new();
    for axis in (0..view.rank()).filter(|&axis| view.shape()[axis] != 1) {
        let (size, stride, range) = (view.shape()[axis], view.strides()[axis], view.range(axis));
        match all.last_mut() {
            Some(last) if full(last.range, last.size) && full(range, size) && continues(last.stride, size, stride) => {
                *last = Joined {
                    outer: last.outer,
                    inner: axis,
                    size: last.size * size,
                    stride,
                    range: (0, last.size * size),
                }
            }
            _ => all.push(Joined { outer: axis, inner: axis, size, stride, range }),
        }
    }
    all
}

/// Whether a valid range is the whole axis.
pub(super) fn full(range: (i64, i64), size: i64) -> bool {
    range == (0, size)
}

/// Whether an outer axis continues an inner one: its stride is what the inner axis moves by in all.
pub(super) fn continues(outer_stride: i64, inner_size: i64, inner_stride: i64) -> bool {
    i128::from(outer_stride) == i128::from(inner_size) * i128::from(inner_stride)
}

/// A part of joined axes: all of them, or one factor of their size.
#[derive(Clone, Copy)]
pub(super) struct Piece {
    /// Which of the joined axes.
    pub(super) joined: usize,
    pub(super) size: i64,
    pub(super) stride: i64,
    pub(super) range: (i64, i64),
}

impl Piece {
    /// The outer and the inner part of a piece, where its valid range allows it to be cut so that the inner part has the
    /// given size: a range of whole inner parts, or one inside a single inner part, is a box of the two; any other is not.
    fn cut(self, inner: i64) -> Option<(Piece, Piece)> {
        if inner <= 1 || inner >= self.size || self.size % inner != 0 {
            return None;
        }
        let (begin, end) = self.range;
        let (outer_range, inner_range) = if begin % inner == 0 && end % inner == 0 {
            ((begin / inner, end / inner), (0, inner))
        } else if begin / inner == (end - 1) / inner {
            ((begin / inner, begin / inner + 1), (begin % inner, (end - 1) % inner + 1))
        } else {
            return None;
        };
        let stride = self.stride.checked_mul(inner)?;
        Some((
            Piece { size: self.size / inner, stride, range: outer_range, ..self },
            Piece { size: inner, range: inner_range, ..self },
        ))
    }
}

/// Pieces of old axes and the new axes with the same elements; no finer blocks are inside.
pub(super) struct Block {
    /// The pieces, outermost first.
    pub(super) pieces: Vec<Piece>,
    /// The new axes.
    pub(super) new: Range<usize>,
}

impl Block {
    /// The pieces as a view, from address 0.
    pub(super) fn view(&self) -> Result<View, Error> {
        view_of(&self.pieces, 0)
    }
}

/// The finest blocks of a view that is not empty, outermost first. Outer new axes of size 1 may be in none.
pub(super) fn blocks(joined: &[Joined], to: &[i64]) -> Vec<Block> {
    let whole =
        |(joined, axes): (usize, &Joined)| Piece { joined, size: axes.size, stride: axes.stride, range: axes.range };
    let mut old: Vec<Piece> = joined.iter().enumerate().map(whole).collect();
    let mut blocks = Vec::new();
    let mut end = to.len();
    while let Some(piece) = old.pop() {
        // Both products of sizes grow, the smaller one first, until they are equal: at the latest when the axes are used
        // up, since the shapes have equally many elements. A piece that reaches past the new axes is cut there, if it can
        // be; its outer part then begins the next block.
        let (mut begin, mut new_size) = (end, 1);
        let (mut pieces, mut below) = (vec![piece], 1);
        loop {
            let last = pieces[pieces.len() - 1];
            let old_size = below * last.size;
            if new_size == old_size {
                break;
            }
            if new_size > old_size {
                below = old_size;
                pieces.extend(old.pop());
                continue;
            }
            let cut = (new_size % below == 0).then(|| last.cut(new_size / below)).flatten();
            if let Some((outer, inner)) = cut {
                old.push(outer);
                pieces.pop();
                pieces.push(inner);
                break;
            }
            begin -= 1;
            new_size *= to[begin];
        }
        pieces.reverse();
        blocks.push(Block { pieces, new: begin..end });
        end = begin;
    }
    blocks.reverse();
    blocks
}

/// Pieces as the axes of a view.
pub(super) fn view_of(axes: &[Piece], offset: i128) -> Result<View, Error> {
    let shape = axes.iter().map(|axis| axis.size).collect();
    let strides = axes.iter().map(|axis| axis.stride).collect();
    View::canonical("reshape", shape, strides, offset, Some(axes.iter().map(|axis| axis.range).collect()))
}
