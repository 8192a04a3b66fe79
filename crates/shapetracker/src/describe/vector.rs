//! The widest vectors that the elements of a layout can be read by.

use shapetracker_base::list::sort_short_by_key;

use super::{Laid, Memory};
use crate::View;

/// The widest vectors that the elements of a layout can be read by: groups of neighbours in memory that each begin at a
/// multiple of their length, none of them masked.
///
/// ```
/// use shapetracker::{ShapeTracker, describe::{Memory, describe}};
///
/// let rows = ShapeTracker::contiguous([64, 24])?;
/// let width = |st: &ShapeTracker| describe(st, Some(Memory::of(4))).vector.unwrap().elements;
/// assert_eq!(width(&rows), 4); // 16 bytes
/// assert_eq!(width(&rows.shrink([(0, 64), (2, 24)])?), 2); // rows begin at a multiple of 2
/// assert_eq!(width(&rows.shrink([(0, 64), (1, 24)])?), 1);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Vector {
    /// How many elements, a power of two: at most 16 bytes, and at most 16 elements where their bytes are not known.
    pub elements: i64,
    /// How many elements lie one after the other in memory from the lowest address on, and so from wherever the axes outside of
    /// them begin anew; 0 where nothing is read.
    pub run: i64,
}

/// The longest vectors, in bytes.
const MOST_BYTES: i64 = 16;

/// The vectors of a view of the digits of some axes.
pub(super) fn of(laid: &Laid, memory: Option<Memory>) -> Vector {
    let bytes = memory.map_or(1, Memory::width);
    let is_aligned = |length: i64| memory.is_none_or(|memory| memory.alignment.is_multiple_of(length as u64));
    let Some(merged) = in_memory_order(&laid.view) else { return Vector { elements: 1, run: 0 } };
    let rank = merged.rank();
    let inner = (0..rank).rev().find(|&axis| merged.strides()[axis] == 1);
    let Some(inner) = inner else { return Vector { elements: 1, run: 1 } };
    let run = merged.shape()[inner];
    let fits = |width: i64| {
        let mut strides = (0..rank).filter(|&axis| axis != inner).map(|axis| merged.strides()[axis]);
        merged.offset() % width == 0 && run % width == 0 && strides.all(|stride| stride % width == 0)
    };
    let mut elements = 1;
    // Bytes that are no power of two begin at multiples of no vector.
    while bytes.count_ones() == 1 {
        let length = elements * 2 * bytes;
        if length > MOST_BYTES || !is_aligned(length) || !fits(elements * 2) {
            break;
        }
        elements *= 2;
    }
    Vector { elements, run }
}

/// What of the view is not masked, with its axes sorted by their strides, outermost first, and as few of them as can be; nothing
/// where nothing is read.
fn in_memory_order(view: &View) -> Option<View> {
    if view.is_empty() {
        return None;
    }
    let ranges: Vec<(i64, i64)> = (0..view.rank()).map(|axis| view.range(axis)).collect();
    let mut axes: Vec<i64> = (0..view.rank() as i64).collect();
    sort_short_by_key(&mut axes, |&axis| std::cmp::Reverse(view.strides()[axis as usize].unsigned_abs()));
    Some(view.shrink(ranges).ok()?.permute(axes).ok()?.max_merge())
}
