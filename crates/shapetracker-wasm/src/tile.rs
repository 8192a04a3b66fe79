//! A tile: the addresses of a rectangle of elements. Its cost does not depend on the rest of the tensor.

use shapetracker::{AddressLines, AddressRun, Dims, ShapeTracker};

use crate::coverage::{self, Counts};
use crate::fault::Fault;
use crate::json::{Answer, Numbers, SAFE, Value, object};
use crate::layout::unravelled;
use crate::layout::{Free, Layout};
use crate::request::Fields as _;

/// The most cells of a tile.
const MOST: i64 = 1 << 22;

/// Stands for a masked element among addresses that are integers; among floating-point numbers NaN does.
const MASKED: i64 = i64::MIN;

/// Some axes joined, the last one running fastest.
pub(crate) struct Axes {
    pub(crate) axes: Vec<usize>,
    sizes: Dims,
    /// How many entries the joined axis has.
    pub(crate) size: i64,
}

impl Axes {
    /// The axes that a field of a request names; none where the tensor has no elements.
    pub(crate) fn of(request: &Value, name: &'static str, layout: &Layout) -> Result<Axes, Fault> {
        if layout.numel() == 0 {
            return Ok(Axes { axes: Vec::new(), sizes: Dims::new(), size: 0 });
        }
        let shape = layout.shape();
        let axes: Option<Vec<usize>> = request.numbers(name)?.iter().map(|axis| usize::try_from(*axis).ok()).collect();
        let axes = axes.filter(|axes| axes.iter().all(|axis| *axis < shape.len()));
        let axes = axes.ok_or_else(|| Fault::request("`rows` and `columns` are axes of the tensor"))?;
        let sizes: Dims = axes.iter().map(|axis| shape[*axis]).collect();
        let size = sizes.iter().fold(1i64, |product, size| product.saturating_mul(*size));
        Ok(Axes { axes, sizes, size })
    }

    /// Writes an entry of the joined axis where its axes are in the index of an element.
    pub(crate) fn place(&self, entry: i64, index: &mut [i64]) {
        for (axis, i) in self.axes.iter().zip(unravelled(entry, &self.sizes)) {
            index[*axis] = i;
        }
    }
}

/// The index that a request fixes: of the axes that are neither rows nor columns it lies inside the shape.
pub(crate) fn fixed(request: &Value, layout: &Layout, sides: [&Axes; 2]) -> Result<Dims, Fault> {
    let shape = layout.shape();
    let mut seen = vec![false; shape.len()];
    if sides.iter().flat_map(|side| &side.axes).any(|axis| std::mem::replace(&mut seen[*axis], true)) {
        return Err(Fault::request("an axis stands once among `rows` and `columns`"));
    }
    let index = request.numbers("fixed")?;
    if index.len() != shape.len() {
        return Err(Fault::request("`fixed` has an entry per axis"));
    }
    let inside = |axis: usize| seen[axis] || layout.numel() == 0 || (0..shape[axis]).contains(&index[axis]);
    if !(0..shape.len()).all(inside) {
        return Err(Fault::request("`fixed` lies inside the shape"));
    }
    Ok(index)
}

/// The lowest view that a request asks about.
pub(crate) fn lowest(request: &Value) -> Result<usize, Fault> {
    usize::try_from(request.number_or("view", 0)?).map_err(|_| Fault::request("`view` is a view"))
}

/// The rows or the columns of a tile: some axes joined, and of their joined index every `step`-th from `begin` on, `count` in
/// all.
struct Side {
    axes: Axes,
    begin: i64,
    step: i64,
    count: i64,
}

impl Side {
    fn of(request: &Value, axes: &'static str, range: &'static str, layout: &Layout) -> Result<Side, Fault> {
        let axes = Axes::of(request, axes, layout)?;
        let range = request.object(range)?;
        let (begin, end) = (range.number("begin")?.clamp(0, axes.size), range.number("end")?.clamp(0, axes.size));
        let step = range.number_or("step", 1)?.max(1);
        let count = if begin < end { (end - begin - 1) / step + 1 } else { 0 };
        Ok(Side { axes, begin, step, count })
    }

    /// Writes the entries of row or column `number` where its axes are in the index of an element.
    fn place(&self, number: i64, index: &mut [i64]) {
        self.axes.place(self.begin + number * self.step, index);
    }

    /// The side cut into stretches that stay on the last axis: the number of the first row or column, and how many.
    fn pieces(&self) -> Vec<(i64, i64)> {
        let size = self.axes.sizes.last().copied().unwrap_or(1);
        let (mut pieces, mut number) = (Vec::new(), 0);
        while number < self.count {
            let left = size - (self.begin + number * self.step) % size;
            let count = ((left - 1) / self.step + 1).min(self.count - number);
            pieces.push((number, count));
            number += count;
        }
        pieces
    }
}

pub(crate) fn tile(request: &Value) -> Result<Answer, Fault> {
    let layout = Layout::of(request, "source")?;
    let rows = Side::of(request, "rows", "row", &layout)?;
    let columns = Side::of(request, "columns", "column", &layout)?;
    let mut index = fixed(request, &layout, [&rows.axes, &columns.axes])?;
    let cells = rows.count.checked_mul(columns.count).filter(|cells| *cells <= MOST);
    let cells = cells.ok_or_else(|| Fault::limit(format!("a tile has at most {MOST} cells")))?;
    let lowest = lowest(request)?;
    if lowest == 0 && layout.bounds().is_some_and(|(low, _)| low == MASKED) {
        let message = format!("an element may read address {MASKED}, which stands for masked elements here");
        return Err(Fault::limit(message));
    }
    let mut addresses = vec![MASKED; cells as usize];
    match &layout {
        // One side may be long where the other is empty.
        _ if cells == 0 => {}
        Layout::Chain(tracker) => of_chain(tracker, lowest, [&rows, &columns], &mut index, &mut addresses),
        Layout::Free(free) => of_free(free, [&rows, &columns], &mut index, &mut addresses)?,
    }
    let (counts, counts_note) = if request.is_set("counts") {
        // The cells hold positions in a lower view, which the views above it read as all of them read memory.
        let above = match &layout {
            Layout::Chain(tracker) if lowest > 0 => {
                let lowest = lowest.min(tracker.views().len() - 1);
                Some(Layout::Chain(ShapeTracker::from_views(tracker.views()[lowest..].iter().cloned())?))
            }
            _ => None,
        };
        match coverage::counts(above.as_ref().unwrap_or(&layout))? {
            Ok(counts) => (Some(counted(&counts, &addresses)), None),
            Err(note) => (None, Some(note)),
        }
    } else {
        (None, None)
    };
    let small = addresses.iter().all(|address| *address == MASKED || (-SAFE..=SAFE).contains(address));
    let mut numbers = Numbers::default();
    let addresses = if small && fits(&layout) {
        let float = |address: i64| if address == MASKED { f64::NAN } else { address as f64 };
        numbers.floats(addresses.into_iter().map(float))
    } else {
        numbers.integers(addresses.into_iter())
    };
    let document = object! {
        "rows": rows.count,
        "columns": columns.count,
        "addresses": addresses,
        "counts": counts.map(|counts| numbers.floats(counts.into_iter())),
        "counts_note": counts_note,
    };
    Ok(Answer { document, numbers })
}

/// Whether every address of the tensor is exact as a floating-point number, so that all tiles of it are answered alike.
fn fits(layout: &Layout) -> bool {
    layout.bounds().is_none_or(|(low, high)| -SAFE <= low && high <= SAFE)
}

fn of_chain(tracker: &ShapeTracker, lowest: usize, [rows, columns]: [&Side; 2], index: &mut Dims, cells: &mut [i64]) {
    if tracker.rank() == 0 {
        // A scalar has no axis to go along.
        return cells.fill(tracker.address(&[]).unwrap_or(MASKED));
    }
    let lines = AddressLines::of(tracker, lowest);
    // Without columns the line is one element long, along any axis.
    let axis = columns.axes.axes.last().copied().unwrap_or(0) as i64;
    let pieces: Vec<(Dims, i64)> = columns
        .pieces()
        .into_iter()
        .map(|(number, count)| {
            let mut at = Dims::from_elem(0, index.len());
            columns.place(number, &mut at);
            (at, count)
        })
        .collect();
    let mut rest = cells.iter_mut();
    for row in 0..rows.count {
        rows.place(row, index);
        for (at, count) in &pieces {
            for axis in &columns.axes.axes {
                index[*axis] = at[*axis];
            }
            for run in lines.follow(index, axis, columns.step, *count) {
                let cells = rest.by_ref().take(run.count() as usize);
                match run {
                    AddressRun::Valid { first, step, .. } => {
                        let mut address = first;
                        cells.for_each(|cell| {
                            *cell = address;
                            address = address.wrapping_add(step);
                        });
                    }
                    AddressRun::Masked { .. } => cells.for_each(drop),
                }
            }
        }
    }
}

fn of_free(free: &Free, [rows, columns]: [&Side; 2], index: &mut Dims, cells: &mut [i64]) -> Result<(), Fault> {
    let (mut row, mut column) = (0, 0);
    let mut addresses = vec![None; cells.len()];
    let next = |values: &mut Vec<i64>| {
        if column == 0 {
            rows.place(row, index);
        }
        columns.place(column, index);
        values.extend(free.ranges.iter().zip(index.iter()).map(|(range, i)| range.start + i));
        column += 1;
        if column == columns.count {
            (row, column) = (row + 1, 0);
        }
    };
    free.addresses(next, &mut addresses)?;
    for (cell, address) in cells.iter_mut().zip(addresses) {
        *cell = address.unwrap_or(MASKED);
    }
    Ok(())
}

fn counted(counts: &Counts, addresses: &[i64]) -> Vec<f64> {
    addresses.iter().map(|address| if *address == MASKED { f64::NAN } else { counts.of(*address) as f64 }).collect()
}
