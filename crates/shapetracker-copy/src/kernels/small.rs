//! Few elements, precomputed: for a tensor of 64 elements, working out where they lie takes longer than moving them.

use std::ops::Range;

use shapetracker::AddressRun;

use super::blocks::Turn;
use super::lines::{self, Listed};
use super::{Checked, Move, Output, sink};
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
        unsafe { self.go(from, to) }
    }

    /// Moves it from the place of its first index to that on the other side.
    ///
    /// # Safety
    /// What it touches may be read and written.
    #[inline]
    unsafe fn go(&self, from: *const u8, to: *mut u8) {
        // SAFETY: as the caller says.
        unsafe {
            match &self.what {
                What::Run(bytes) => sink::copy(to, from, *bytes),
                What::Tile(turn, columns, rows) => turn.any(from, columns, to, rows),
            }
        }
    }
}

/// A whole tensor of few elements, precomputed.
#[derive(Clone, Debug)]
pub(crate) struct Few {
    how: How,
    /// How many bytes of the source it needs, and how many it writes: all of the tensor's.
    needs: usize,
    writes: usize,
}

#[derive(Clone, Debug)]
enum How {
    /// One box, from a byte of the source to a byte of the tensor.
    Box(Small, usize, usize),
    /// Pieces of the tensor, one after another.
    Pieces { pieces: Vec<Piece>, offsets: Vec<u32>, listed: Listed },
}

/// The next bytes of a tensor.
#[derive(Clone, Copy, Debug)]
enum Piece {
    /// So many, from a byte of the source.
    Copy { from: usize, bytes: usize },
    /// Elements at the next so many of the offsets.
    Gather { elements: usize, bytes: usize },
    /// Without data.
    Fill { bytes: usize },
}

impl Few {
    /// The most elements of a tensor that is listed, and its most bytes.
    pub(crate) const MOST: (i64, usize) = if cfg!(miri) { (12, 1 << 8) } else { (128, 1 << 12) };

    /// A box that is all of a tensor of so many bytes, with its first index at bytes of the source and of the tensor; `None`
    /// also where that is inside of an element.
    pub(crate) fn whole(small: &Small, (from, to): (isize, isize), bytes: usize, width: usize) -> Option<Few> {
        let place = |first: isize, touched: &Range<isize>| {
            let (start, end) = (first.checked_add(touched.start)?, first.checked_add(touched.end)?);
            Some((usize::try_from(start).ok()?, usize::try_from(end).ok()?))
        };
        let ((_, needs), written) = (place(from, &small.from)?, place(to, &small.to)?);
        let (from, to) = (usize::try_from(from).ok()?, usize::try_from(to).ok()?);
        let whole = from.is_multiple_of(width) && to.is_multiple_of(width);
        (whole && written == (0, bytes)).then(|| Few { how: How::Box(small.clone(), from, to), needs, writes: bytes })
    }

    /// The elements of a tensor in row-major order, as a tracker lists them; `None` where those are not so many, or lie too
    /// far away.
    pub(crate) fn listed(runs: impl Iterator<Item = AddressRun>, numel: i64, width: usize) -> Option<Few> {
        let (mut pieces, mut offsets, mut needs) = (Vec::<Piece>::new(), Vec::new(), 0);
        let mut rest = numel;
        for run in runs {
            rest -= run.count();
            let bytes = usize::try_from(run.count()).ok()?.checked_mul(width)?;
            match (run, pieces.last_mut()) {
                (AddressRun::Masked { .. }, Some(Piece::Fill { bytes: before })) => *before += bytes,
                (AddressRun::Masked { .. }, _) => pieces.push(Piece::Fill { bytes }),
                (AddressRun::Valid { first, step, count }, last) => {
                    let offset = |at: i64| {
                        u32::try_from(first.checked_add(step.checked_mul(at)?)?.checked_mul(width as i64)?).ok()
                    };
                    for at in [0, count - 1] {
                        needs = needs.max(usize::try_from(offset(at)?).ok()?.checked_add(width)?);
                    }
                    if step == 1 && count > 1 {
                        pieces.push(Piece::Copy { from: offset(0)? as usize, bytes });
                        continue;
                    }
                    for at in 0..count {
                        offsets.push(offset(at)?);
                    }
                    match last {
                        Some(Piece::Gather { elements, bytes: before }) => {
                            (*elements, *before) = (*elements + count as usize, *before + bytes);
                        }
                        _ => pieces.push(Piece::Gather { elements: count as usize, bytes }),
                    }
                }
            }
        }
        let listed = lines::listed(width)?;
        let writes = usize::try_from(numel).ok()?.checked_mul(width)?;
        (rest == 0).then_some(Few { how: How::Pieces { pieces, offsets, listed }, needs, writes })
    }

    /// Whether it is one contiguous run.
    pub(crate) fn is_run(&self) -> bool {
        matches!(&self.how, How::Box(Small { what: What::Run(_), .. }, ..))
    }

    /// Writes the whole tensor.
    ///
    /// # Safety
    /// Nobody else uses the output meanwhile. If it is of pieces, the fill value has the width of an element.
    ///
    /// # Panics
    /// If the source ends before what is read, or the tensor has another length.
    #[inline]
    pub(crate) unsafe fn run(&self, source: &[u8], output: Output, fill: &[u8]) {
        assert!(source.len() >= self.needs, "a tensor of few elements reads outside its buffer");
        assert!(output.len == self.writes, "a tensor of few elements has another length");
        let (source, mut to) = (source.as_ptr(), output.start);
        // SAFETY: what the box touches and where the offsets end was compared with the slices. The pieces are as long as the
        // tensor together.
        unsafe {
            let (pieces, mut offsets, listed) = match &self.how {
                How::Box(small, from, at) => return small.go(source.add(*from), to.add(*at)),
                How::Pieces { pieces, offsets, listed } => (pieces, &offsets[..], listed),
            };
            for piece in pieces {
                match *piece {
                    Piece::Copy { from, bytes } => {
                        sink::copy(to, source.add(from), bytes);
                        to = to.add(bytes);
                    }
                    Piece::Gather { elements, bytes } => {
                        let (now, later) = offsets.split_at(elements);
                        listed(source, now, to);
                        (offsets, to) = (later, to.add(bytes));
                    }
                    Piece::Fill { bytes } => {
                        lines::repeat(fill, to, bytes);
                        to = to.add(bytes);
                    }
                }
            }
        }
    }
}
