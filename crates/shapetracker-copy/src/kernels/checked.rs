//! What kernels rely on in a mover, checked once when it is made.

use std::ops::Deref;

use super::shuffle::REGISTER;
use crate::mover::{Axis, Inner, Loop, Mover, Shuffled, Tiles};

/// A mover whose parts are exactly the indices of its axes, each in one part, in whole elements; and whose inner loops are
/// as contiguous as kernels take them to be.
///
/// [`Move::check`](super::Move::check) finds the bytes that are touched from counts and strides alone. This is what makes
/// that enough: a kernel that copies a run as one piece, or loads 16 bytes of a column, touches no more than the run's and
/// the column's elements.
#[derive(Clone, Debug)]
pub(crate) struct Checked(Mover);

impl Deref for Checked {
    type Target = Mover;

    #[inline]
    fn deref(&self) -> &Mover {
        &self.0
    }
}

impl Checked {
    /// # Panics
    /// If a mover for elements of `width` bytes contradicts itself.
    pub(crate) fn new(mover: Mover, width: usize) -> Checked {
        let unit = mover.unit;
        assert!(width > 0 && unit > 0 && unit.is_multiple_of(width), "a unit is no whole number of elements");
        let whole = |stride: isize| stride.unsigned_abs().is_multiple_of(width);
        assert!(mover.axes().all(|axis| whole(axis.from) && whole(axis.to)), "a stride is no whole number of elements");
        let times = |which: Loop| mover.loops.iter().filter(|around| **around == which).count();
        let (across, down) = (times(Loop::Across), times(Loop::Down));
        match &mover.inner {
            Inner::Rows(run, columns) => {
                let step = unit as isize;
                let contiguous = run.count == 1 && run.from != 0 || run.to == step && [0, step].contains(&run.from);
                assert!(contiguous, "a run is not contiguous");
                assert!(!mover.axes().any(|axis| axis.flipped), "rows go backwards");
                assert!(*columns > 0 && down == 0 && across <= 1, "rows are walked in another way");
                assert!(across == 1 || run.count <= *columns, "a run is cut off");
            }
            Inner::Tiles(tiles) => {
                assert!(across <= 1 && down <= 1, "tiles are walked twice");
                check_tiles(tiles, unit, (across == 1, down == 1));
            }
            Inner::Shuffled(shuffled) => {
                assert!(down == 0 && across <= 1, "runs are walked in another way");
                check_shuffled(shuffled, unit, across == 1);
            }
            Inner::Strided(_) => assert!(across == 0 && down == 0, "there are no tiles"),
        }
        Checked(mover)
    }
}

/// Panics unless a run is contiguous where it is written, all of it is taken, and what a register writes is read from one.
fn check_shuffled(shuffled: &Shuffled, unit: usize, across: bool) {
    let Shuffled { block, along, steps, columns } = shuffled;
    let (mut bytes, mut window) = (unit as isize, unit as isize);
    for axis in block {
        assert!(axis.span.is_none() && axis.to == bytes, "a block is not contiguous");
        bytes *= axis.count as isize;
        window += (axis.count as isize - 1) * axis.from.abs();
    }
    assert!(along.span.is_none() && along.to == bytes, "a run is not contiguous");
    assert!(*steps > 0 && *columns > 0 && (across || along.count <= *columns), "a run is cut off");
    window += (*steps as isize - 1) * along.from.abs();
    let fits = bytes * *steps as isize <= REGISTER as isize && window <= REGISTER as isize;
    assert!(fits && columns.is_multiple_of(*steps), "a register does not hold what it moves");
}

/// Panics unless rows are contiguous where they are written, columns equally spaced where they are read, and all of both is
/// taken: at once, or from tile to tile by a loop across or down.
fn check_tiles(tiles: &Tiles, unit: usize, (across, down): (bool, bool)) {
    let step = unit as isize;
    // The elements of a tile: whole axes but for the last, of which it takes some steps.
    let elements = |group: &[Axis], steps: usize, cut: bool| -> usize {
        let Some((last, inner)) = group.split_last() else { panic!("a tile has no axes") };
        assert!(group.len() == 1 || group.iter().all(|axis| axis.span.is_none()), "a range cuts a row inside");
        assert!(steps > 0 && (cut || last.count <= steps), "a row or column of tiles is cut off");
        inner.iter().map(|axis| axis.count).product::<usize>() * steps
    };
    let goes_on = |group: &[Axis], stride: fn(&Axis) -> isize| {
        group.windows(2).all(|pair| pair[0].count as isize * stride(&pair[0]) == stride(&pair[1]))
    };
    assert_eq!(elements(&tiles.across, tiles.steps.0, across), tiles.columns, "a row has other elements");
    assert_eq!(elements(&tiles.down, tiles.steps.1, down), tiles.rows, "a column has other elements");
    let (row, column) = (tiles.across[0], tiles.down[0]);
    assert!(row.to == step && goes_on(&tiles.across, |axis| axis.to), "a row is not contiguous");
    assert!(goes_on(&tiles.down, |axis| axis.from), "a column is not evenly spaced");
    assert!(!tiles.turned || column.from == step, "a column that is turned over is not contiguous");
    let packed = !across && tiles.down.len() == 1 && column.to == (tiles.columns * unit) as isize;
    let whole = tiles.across.iter().all(|axis| axis.span.is_none())
        && tiles.across.iter().map(|axis| axis.count).product::<usize>() == tiles.columns;
    assert!(!tiles.packed || packed && whole, "rows do not follow each other");
}
