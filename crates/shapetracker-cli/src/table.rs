//! Tables of views.

use comfy_table::{CellAlignment, ContentArrangement, ContentLineStyle, LineStyle, Table, TableStyle};
use shapetracker::View;
use shapetracker_symbolic::{Poly, Scope, View as Named};

use crate::answer::{tuple, width};

const STYLE: TableStyle = TableStyle::new()
    .top_border(LineStyle::new('╭', '─', '┬', '╮'))
    .header_lines(ContentLineStyle::new('│', '│', '│'))
    .header_separator(LineStyle::new('├', '─', '┼', '┤'))
    .content_lines(ContentLineStyle::new('│', '│', '│'))
    .bottom_border(LineStyle::new('╰', '─', '┴', '╯'));

/// A table with a heading, indented; numbers in the columns given stand to the right.
pub(crate) fn table(heading: &[&str], rows: &[Vec<String>], numbers: &[usize]) -> String {
    let mut table = Table::new();
    table.load_style(STYLE);
    table.set_content_arrangement(ContentArrangement::Dynamic).set_width(width().saturating_sub(2).min(400) as u16);
    table.set_header(heading.to_vec());
    for row in rows {
        table.add_row(row);
    }
    for &column in numbers {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.lines().map(|line| format!("  {}\n", line.trim_end())).collect()
}

/// The table of a stack of views, the first next to memory. The columns of offsets and masks appear when there are any.
pub(crate) fn views(views: &[View]) -> String {
    let masked = views.iter().any(|view| view.mask().is_some());
    of_views(views.iter().map(|view| {
        let mask = masked.then(|| mask(view));
        [Some(tuple(view.shape())), Some(tuple(view.strides())), Some(view.offset().to_string()), mask]
    }))
}

/// The same where sizes are names.
pub(crate) fn named(views: &[Named], scope: &Scope) -> String {
    let masked = views.iter().any(|view| view.mask.is_some());
    let polys = |polys: &[Poly]| tuple(&polys.iter().map(|poly| scope.text(poly)).collect::<Vec<_>>());
    let range = |(begin, end): &(Poly, Poly)| format!("{}..{}", scope.text(begin), scope.text(end));
    of_views(views.iter().map(|view| {
        let mask = view.mask.as_ref().map_or("all".into(), |mask| tuple(&mask.iter().map(range).collect::<Vec<_>>()));
        [Some(polys(&view.shape)), Some(polys(&view.strides)), Some(scope.text(&view.offset)), masked.then_some(mask)]
    }))
}

fn of_views(cells: impl Iterator<Item = [Option<String>; 4]>) -> String {
    let rows: Vec<Vec<String>> = (1..)
        .zip(cells)
        .map(|(number, cells): (usize, _)| {
            [number.to_string()].into_iter().chain(cells.into_iter().flatten()).collect()
        })
        .collect();
    let heading = ["view", "shape", "strides", "offset", "valid"];
    table(&heading[..rows[0].len()], &rows, &[0, 3])
}

/// The valid range of each axis, as `0..3`.
fn mask(view: &View) -> String {
    match view.mask() {
        None => "all".into(),
        Some(_) if view.is_empty() => "none".into(),
        Some(mask) => tuple(&mask.iter().map(|(begin, end)| format!("{begin}..{end}")).collect::<Vec<_>>()),
    }
}
