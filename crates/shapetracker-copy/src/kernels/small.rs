//! Boxes of few elements, precomputed: for a tensor of 64 elements, working out where they lie takes longer than moving them.

use std::ops::Range;

use super::blocks::Turn;
use super::{Checked, Move, sink};
use crate::mover::{Axis, Inner};

/// A box without loops around it.
#[derive(Clone, Debug)]
pub(crate) struct Small {
    what: What,
    /// The bytes that it touches on both sides, relative to its first index.
    from: Range<isize>,
    to: Range<isize>,
}

#[derive(Clone, Debug)]
enum What {
    /// So many bytes, contiguous on both sides.
    Run(usize),
    /// One tile that is transposed: the offsets at which its columns begin, and its rows.
    Tile(Turn, Vec<isize>, Vec<isize>),
}

/// The most elements of such a tile: its offsets are kept for as long as the plan.
const MOST: usize = 1 << 12;

impl Small {
    /// `None` if a mover has loops, fills something, walks backwards, or is too large.
    pub(crate) fn new(mover: &Checked) -> Option<Small> {
        let plain = |axis: &Axis| axis.span.is_none() && !axis.flipped;
        if !mover.loops.is_empty() || !mover.axes().all(plain) || mover.moves_nothing() {
            return None;
        }
        match &mover.inner {
            Inner::Rows(run, _) => {
                let bytes = run.count * mover.unit;
                let all = 0..isize::try_from(bytes).ok()?;
                Some(Small { what: What::Run(bytes), from: all.clone(), to: all })
            }
            Inner::Tiles(tiles) if tiles.down[0].from == mover.unit as isize && tiles.columns * tiles.rows <= MOST => {
                let places = |axes: &[Axis], stride: fn(&Axis) -> isize| {
                    let mut places = vec![0];
                    for axis in axes {
                        let (inner, count) = (places.len(), axis.count as isize);
                        places.extend((1..count).flat_map(|step| vec![step * stride(axis); inner]));
                        for place in inner..places.len() {
                            places[place] += places[place % inner];
                        }
                    }
                    places
                };
                let columns = places(&tiles.across, |axis| axis.from);
                let rows = places(&tiles.down, |axis| axis.to);
                let touched = |places: &[isize], more: usize| {
                    Some(*places.iter().min()?..places.iter().max()? + (more * mover.unit) as isize)
                };
                let (from, to) = (touched(&columns, rows.len())?, touched(&rows, columns.len())?);
                Some(Small { what: What::Tile(Turn::new(mover.unit)?, columns, rows), from, to })
            }
            _ => None,
        }
    }

    /// Moves it.
    ///
    /// # Safety
    /// No other thread touches what is written.
    ///
    /// # Panics
    /// If it does not lie inside the slices.
    pub(crate) unsafe fn run(&self, moved: &Move) {
        let inside = |start: isize, touched: &Range<isize>, len: usize| {
            let (first, end) = (start.checked_add(touched.start), start.checked_add(touched.end));
            first.is_some_and(|first| first >= 0) && end.is_some_and(|end| end as usize <= len)
        };
        assert!(inside(moved.from, &self.from, moved.source.len()), "a box reads outside its buffer");
        assert!(inside(moved.to, &self.to, moved.output.len), "a box writes outside its buffer");
        moved.check_whole(moved.from, moved.to);
        let from = moved.source.as_ptr().wrapping_offset(moved.from);
        let to = moved.output.start.wrapping_offset(moved.to);
        // SAFETY: all that is touched lies inside the slices.
        unsafe {
            match &self.what {
                What::Run(bytes) => sink::copy(to, from, *bytes),
                What::Tile(turn, columns, rows) => turn.any(from, columns, to, rows),
            }
        }
    }
}
