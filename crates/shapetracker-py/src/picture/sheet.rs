//! What is drawn: which elements, what they read, and what is left out.

use std::collections::BTreeSet;

use shapetracker::{Dims, ShapeTracker};

use super::layout;
use super::strip::Strip;
use super::text::tuple;

/// At most so many rows and columns are drawn, and so many blocks of them.
const SIDE: usize = 16;
const BLOCKS: usize = 12;
/// A tensor of one axis is drawn in lines, and may be longer.
const LINE: usize = 128;
/// An element to point at, or a step from one to another.
pub(super) struct Mark {
    pub(super) from: Dims,
    pub(super) to: Option<Dims>,
}

/// One drawn element.
pub(super) struct Cell {
    pub(super) index: Dims,
    pub(super) address: Option<i64>,
}

/// What is drawn of a tracker.
pub(super) struct Sheet {
    pub(super) shape: Dims,
    /// The entries that are drawn of the last two axes. A tensor of fewer axes has one row, or one row and one column.
    pub(super) rows: Vec<i64>,
    pub(super) columns: Vec<i64>,
    /// The entries that are drawn of all other axes.
    pub(super) blocks: Vec<Dims>,
    /// The elements, block by block and row by row.
    pub(super) cells: Vec<Cell>,
    /// Pairs of a mark's ends, as places in `cells`.
    pub(super) marks: Vec<(usize, Option<usize>)>,
    pub(super) strip: Strip,
    /// Whether every element is drawn.
    pub(super) whole: bool,
}

impl Sheet {
    /// Chooses up to so many cells; what marks need comes on top of it, which is at most 27 cells.
    pub(super) fn new(tracker: &ShapeTracker, most_cells: usize, marks: &[Mark]) -> Sheet {
        let sheet = Sheet::with_columns(tracker, most_cells, marks, SIDE);
        // Fewer columns where addresses are so long that they would make the picture too wide.
        let columns = layout::columns_that_fit(&sheet);
        if sheet.columns.len() <= columns { sheet } else { Sheet::with_columns(tracker, most_cells, marks, columns) }
    }

    fn with_columns(tracker: &ShapeTracker, most_cells: usize, marks: &[Mark], side: usize) -> Sheet {
        let shape = Dims::from(tracker.shape());
        let rank = shape.len();
        let (outer, inner) = shape.split_at(rank.saturating_sub(2));
        let (height, width, most_columns) = match *inner {
            [rows, columns] => (rows, columns, side),
            [columns] => (1, columns, LINE),
            _ => (1, 1, 1),
        };
        let most = [within(count(outer), BLOCKS), within(height, SIDE), within(width, most_columns)];
        let [most_blocks, most_rows, most_columns] = reduced(most, most_cells);

        let points: Vec<&Dims> = marks.iter().flat_map(|mark| [Some(&mark.from), mark.to.as_ref()]).flatten().collect();
        let entry = |from_last: usize| points.iter().filter_map(move |index| Some(index[rank.checked_sub(from_last)?]));
        let rows = chosen(height, most_rows, entry(2));
        let columns = chosen(width, most_columns, entry(1));
        let blocks = if tracker.numel() == 0 { Vec::new() } else { chosen_blocks(outer, most_blocks, &points) };

        let mut cells = Vec::new();
        for block in &blocks {
            for &row in &rows {
                for &column in &columns {
                    let mut index = block.clone();
                    index.extend([row, column].into_iter().skip(2 - inner.len()));
                    cells.push(Cell { address: tracker.address(&index), index });
                }
            }
        }
        let place = |index: &Dims| cells.iter().position(|cell| cell.index == *index);
        let ends = |mark: &Mark| Some((place(&mark.from)?, mark.to.as_ref().and_then(place)));
        let marks = marks.iter().filter_map(ends).collect();
        let strip = Strip::new(cells.iter().filter_map(|cell| cell.address));
        let whole = i128::from(tracker.numel()) == cells.len() as i128;
        Sheet { shape, rows, columns, blocks, cells, marks, strip, whole }
    }

    /// What the grid shows.
    pub(super) fn grid_title(&self) -> String {
        if let Some(axis) = self.shape.iter().position(|&size| size == 0) {
            return format!("tensor without elements: axis {axis} has size 0");
        }
        let mut shape = tuple(&self.shape);
        if shape.len() > 60 {
            shape = format!("of {} axes", self.shape.len());
        }
        let masked = if self.cells.iter().any(|cell| cell.address.is_none()) { "; hatched: masked" } else { "" };
        format!("tensor {shape}: the address that each element reads{masked}")
    }

    /// A sentence about the elements that are not drawn; None when all are.
    pub(super) fn left_out(&self) -> Option<String> {
        let rank = self.shape.len();
        let mut missing = Vec::new();
        if !self.cells.is_empty() {
            let blocks = count(&self.shape[..rank.saturating_sub(2)]);
            let missing_blocks = blocks.saturating_sub(self.blocks.len() as i64);
            if missing_blocks > 0 {
                missing.push(format!("{missing_blocks} of {blocks} blocks"));
            }
            if rank >= 2 {
                missing_ranges(&mut missing, &self.rows, self.shape[rank - 2], ["row", "rows"]);
            }
            if rank >= 1 {
                let names = if rank == 1 { ["element", "elements"] } else { ["column", "columns"] };
                missing_ranges(&mut missing, &self.columns, self.shape[rank - 1], names);
            }
        }
        let (last, others) = missing.split_last()?;
        let what = if others.is_empty() { last.clone() } else { format!("{} and {last}", others.join(", ")) };
        let one = others.is_empty() && ["row ", "column ", "element "].iter().any(|name| last.starts_with(name));
        let (first, rest) = what.split_at_checked(1)?;
        Some(format!("{}{rest} {} not drawn.", first.to_uppercase(), if one { "is" } else { "are" }))
    }
}

/// Numbers of blocks, rows and columns that make so many cells at most.
fn reduced([mut blocks, mut rows, mut columns]: [usize; 3], most_cells: usize) -> [usize; 3] {
    while blocks * rows * columns > most_cells.max(1) {
        // What has most gives up one; a block weighs as much as two rows or columns.
        if blocks * 2 > rows.max(columns) {
            blocks -= 1;
        } else if rows > columns {
            rows -= 1;
        } else {
            columns -= 1;
        }
    }
    [blocks, rows, columns]
}

/// The product of sizes, or the largest number there is.
fn count(sizes: &[i64]) -> i64 {
    sizes.iter().fold(1, |product: i64, &size| product.saturating_mul(size))
}

/// A size, but at most so much.
pub(super) fn within(size: i64, most: usize) -> usize {
    usize::try_from(size).map_or(most, |size| size.min(most))
}

/// The entries of an axis to draw: those that are needed, and as many of the first as there is room for.
fn chosen(size: i64, most: usize, needed: impl Iterator<Item = i64>) -> Vec<i64> {
    let mut entries: BTreeSet<i64> = needed.collect();
    for entry in 0..within(size, most) as i64 {
        if entries.len() >= most {
            break;
        }
        entries.insert(entry);
    }
    entries.into_iter().collect()
}

/// The entries of all axes but the last two to draw, in the same way.
fn chosen_blocks(sizes: &[i64], most: usize, points: &[&Dims]) -> Vec<Dims> {
    let mut blocks: BTreeSet<Dims> = points.iter().map(|index| Dims::from(&index[..sizes.len()])).collect();
    for position in 0..within(count(sizes), most) as i64 {
        if blocks.len() >= most {
            break;
        }
        let (mut rest, mut block) = (position, Dims::from(sizes));
        for entry in block.iter_mut().rev() {
            (rest, *entry) = (rest / *entry, rest % *entry);
        }
        blocks.insert(block);
    }
    blocks.into_iter().collect()
}

/// Adds the ranges of an axis that are not drawn: `rows 16 to 1023`.
fn missing_ranges(missing: &mut Vec<String>, entries: &[i64], size: i64, [one, several]: [&str; 2]) {
    let mut next = 0;
    for end in entries.iter().copied().chain([size]) {
        match end - next {
            ..=0 => {}
            1 => missing.push(format!("{one} {next}")),
            _ => missing.push(format!("{several} {next} to {}", end - 1)),
        }
        next = end.saturating_add(1);
    }
}
