//! The places of an axis that cuts leave to devices.

use crate::cut::{Cut, ceil};
use crate::work::Work;
use crate::{Sharded, Undecided};

/// The lists that cuts of an axis leave to devices, one for each length.
pub(crate) fn lists(cuts: &[Cut], size: i64, work: &mut Work) -> Result<Vec<List>, Undecided> {
    let mut lists = vec![List::whole(size)];
    for &cut in cuts {
        let mut next: Vec<List> = Vec::new();
        for list in &lists {
            for j in cut.kinds(list.len) {
                work.step()?;
                let length = cut.len(list.len, j);
                if !next.iter().any(|known| known.len == length) {
                    next.push(list.cut(cut, j));
                }
            }
        }
        lists = next;
    }
    Ok(lists)
}

/// The places of an axis that cuts leave to a device, in their order.
pub(crate) struct List {
    /// What each cut is of, and the coordinate of the device, outermost first.
    cuts: Vec<(Cut, i64, i64)>,
    size: i64,
    pub(crate) len: i64,
}

impl List {
    pub(crate) fn whole(size: i64) -> Self {
        List { cuts: Vec::new(), size, len: size }
    }

    /// What a device has of an axis.
    pub(crate) fn of(tensor: &Sharded, axis: usize, device: &[i64]) -> Self {
        let whole = List::whole(tensor.shape()[axis]);
        tensor.cuts(axis).fold(whole, |list, (mesh_axis, cut)| list.cut(cut, device[mesh_axis]))
    }

    /// How many places next to each other all cuts treat alike, at most: as many as the narrowest part has. At least 1.
    pub(crate) fn longest_run(&self) -> i64 {
        let widths = self.cuts.iter().map(|&(cut, n, _)| ceil(cut.piece(n), cut.parts));
        widths.fold(self.size, i64::min).max(1)
    }

    pub(crate) fn cut(&self, cut: Cut, j: i64) -> Self {
        let cuts = self.cuts.iter().copied().chain([(cut, self.len, j)]).collect();
        List { cuts, len: cut.len(self.len, j), ..*self }
    }

    /// The place with this rank, which is below the length.
    pub(crate) fn place(&self, rank: i64) -> i64 {
        self.cuts.iter().rev().fold(rank, |place, &(cut, n, j)| cut.place(n, j, place))
    }

    /// How many places of the list are below this one.
    pub(crate) fn below(&self, place: i64) -> i64 {
        if place >= self.size {
            return self.len;
        }
        self.cuts.iter().fold(place, |place, &(cut, n, j)| cut.below(n, j, place))
    }
}
