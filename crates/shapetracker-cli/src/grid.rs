//! The addresses of a small tensor, laid out as the tensor is.

use shapetracker::ShapeTracker;

use crate::answer::{BOLD, DIM, width};

/// The most elements that are drawn, and listed in JSON.
const MOST: i64 = 256;
/// What is drawn in place of the address of a masked element.
const MASKED: &str = "·";

/// The addresses of all elements in row-major order; nothing when there are too many to show.
pub(crate) fn addresses(tracker: &ShapeTracker) -> Option<Vec<Option<i64>>> {
    (tracker.numel() <= MOST).then(|| tracker.addresses().collect())
}

/// The grid: a row for one axis, rows and columns for two, labelled slices for more.
pub(crate) fn grid(tracker: &ShapeTracker) -> String {
    let Some(cells) = addresses(tracker).filter(|cells| !cells.is_empty()) else { return String::new() };
    let shown = |cell: &Option<i64>| cell.map_or(MASKED.to_owned(), |address| address.to_string());
    let columns = cells.iter().map(|cell| shown(cell).chars().count()).max().unwrap_or(1);
    let (outer, inner) = tracker.shape().split_at(tracker.rank().saturating_sub(2));
    let row = inner.last().map_or(1, |&size| size as usize);
    if 2 + row * (columns + 2) > width() {
        return String::new();
    }
    let note = if cells.contains(&None) { format!(" {DIM}({MASKED} is masked){DIM:#}") } else { String::new() };
    let mut text = format!("{BOLD}Addresses{BOLD:#}{note}\n");
    for (number, slice) in cells.chunks(inner.iter().product::<i64>() as usize).enumerate() {
        if !outer.is_empty() {
            text += &format!("\n  {}\n", label(number as i64, outer));
        }
        for cells in slice.chunks(row) {
            let line = cells.iter().map(|cell| match cell {
                Some(address) => format!("  {address:>columns$}"),
                None => format!("  {DIM}{MASKED:>columns$}{DIM:#}"),
            });
            text += &line.collect::<String>();
            text += "\n";
        }
    }
    text
}

/// The slice of the two last axes, as `[1, 0, :, :]`.
fn label(number: i64, outer: &[i64]) -> String {
    let mut rest = number;
    let mut index: Vec<String> = outer
        .iter()
        .rev()
        .map(|&size| {
            let digit = rest % size;
            rest /= size;
            digit.to_string()
        })
        .collect();
    index.reverse();
    format!("{DIM}[{}, :, :]{DIM:#}", index.join(", "))
}
