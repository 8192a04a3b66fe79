//! Where everything goes: points and labels, in the units of the picture.

use super::sheet::{Sheet, within};
use super::strip::{Item, with_gaps};
use super::text::{short, wrapped};

/// Pictures are at most about this wide, and captions have at least this room.
const MOST_WIDTH: i64 = 720;
const LEAST_WIDTH: i64 = 500;
const MARGIN: i64 = 12;
/// The height of a cell.
pub(super) const HEIGHT: i64 = 28;
/// The base line of text in the middle of a cell.
pub(super) const BASE: i64 = HEIGHT / 2 + 4;
/// The width of a cell at least.
const LEAST_CELL: i64 = 30;
/// Addresses have at most so many characters; longer ones lose their middle.
pub(super) const ADDRESS: usize = 9;
/// The height of a line of captions.
const LINE: i64 = 17;
/// What is left free where entries of an axis are not drawn, and between blocks.
const GAP: i64 = 14;
/// The width of the dots for numbers that are left out.
pub(super) const DOTS: i64 = 20;

#[derive(Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) x: i64,
    pub(super) y: i64,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// Sentences, from the left.
    Caption,
    /// What a picture's part shows, and a block's index, from the left.
    Title,
    /// An index of a column, centred.
    Above,
    /// An index of a row or the first address of a line, up to its right end.
    Left,
}

/// A piece of text whose base line begins, has its middle or ends at a point; `whole` is what it is short for.
pub(super) struct Label {
    pub(super) at: Point,
    pub(super) kind: Kind,
    pub(super) text: String,
    pub(super) whole: Option<String>,
}

/// Where everything goes.
pub(super) struct Layout {
    pub(super) width: i64,
    pub(super) height: i64,
    pub(super) labels: Vec<Label>,
    /// The width of the grid's cells, and of the strip's.
    pub(super) cell: i64,
    pub(super) strip_cell: i64,
    /// The upper left corners of the sheet's cells, and of the items of its strip.
    pub(super) cells: Vec<Point>,
    pub(super) strip: Vec<Point>,
}

impl Layout {
    pub(super) fn new(sheet: &Sheet, captions: &[String]) -> Layout {
        let mut layout = Layout {
            width: LEAST_WIDTH,
            height: MARGIN,
            labels: Vec::new(),
            cell: cell_width(sheet),
            strip_cell: strip_cell_width(sheet),
            cells: Vec::new(),
            strip: Vec::new(),
        };
        layout.lines(Kind::Title, &sheet.grid_title());
        if sheet.shape.len() == 1 {
            layout.vector(sheet);
        } else {
            layout.blocks(sheet);
        }
        if !sheet.cells.is_empty() {
            layout.height += GAP;
            layout.lines(Kind::Title, &sheet.strip.title(sheet.whole));
            layout.height += 6;
            layout.strip = layout.flow(&sheet.strip.items, layout.strip_cell);
        }
        layout.width += 2 * MARGIN;
        if !captions.is_empty() {
            layout.height += GAP;
        }
        for caption in captions {
            layout.lines(Kind::Caption, caption);
            layout.height += 3;
        }
        layout.height += MARGIN;
        layout
    }

    /// Text at the left, in as many lines as it needs.
    fn lines(&mut self, kind: Kind, text: &str) {
        for line in wrapped(text, self.width) {
            self.height += LINE;
            self.label(kind, Point { x: MARGIN, y: self.height - 5 }, line, None);
        }
    }

    fn label(&mut self, kind: Kind, at: Point, text: String, whole: Option<String>) {
        self.labels.push(Label { at, kind, text, whole });
    }

    /// A number, with the whole of it where it is not shown in full.
    fn number(&mut self, kind: Kind, at: Point, number: i64, most: usize) {
        let text = short(number, most);
        let whole = (text != number.to_string()).then(|| number.to_string());
        self.label(kind, at, text, whole);
    }

    /// Items in lines, with the first number of each line before it, if there are several.
    fn flow(&mut self, items: &[Item], cell: i64) -> Vec<Point> {
        let side = labels_width(items.iter().filter_map(Item::number));
        let room = if items.len() <= 64 { self.width } else { MOST_WIDTH };
        let mut fit = ((room - side) / cell).max(1);
        let inner = &items[..items.len().saturating_sub(1)];
        if fit > 4 && inner.iter().all(|item| item.number().is_some()) {
            // Round numbers of numbers where there are no gaps between them.
            fit -= fit % 4;
        }
        let places = flowed(items, cell, fit * cell);
        let side = if places.last().is_some_and(|&(line, _)| line > 0) { side } else { 0 };

        let top = self.height;
        let point = |&(line, x): &(i64, i64)| Point { x: MARGIN + side + x, y: top + line * (HEIGHT + 2) };
        let points: Vec<Point> = places.iter().map(point).collect();
        for ((item, point), (_, x)) in items.iter().zip(&points).zip(&places) {
            if let (Some(number), 0, true) = (item.number(), x, side > 0) {
                self.number(Kind::Left, Point { x: point.x - 6, y: point.y + BASE }, number, ADDRESS);
            }
        }
        self.height = points.last().map_or(top, |point| point.y + HEIGHT);
        self.width = points.iter().map(|point| point.x + cell - MARGIN).fold(self.width, i64::max);
        points
    }

    /// A tensor of one axis, in lines.
    fn vector(&mut self, sheet: &Sheet) {
        self.height += 6;
        let mut items = with_gaps(sheet.columns.iter().copied(), 0);
        if let Some(&last) = sheet.columns.last().filter(|_| last_is_missing(&sheet.columns, sheet.shape[0])) {
            items.push(Item::Gap(last + 1, sheet.shape[0] - 1));
        }
        let points = self.flow(&items, self.cell);
        for (item, point) in items.iter().zip(points) {
            match *item {
                Item::Number(_) => self.cells.push(point),
                Item::Gap(..) => self.dots("⋯", Point { x: point.x + DOTS / 2, y: point.y + BASE }),
            }
        }
    }

    fn dots(&mut self, dots: &str, at: Point) {
        self.label(Kind::Above, at, dots.to_owned(), None);
    }

    /// Blocks of rows and columns, side by side as long as there is room.
    fn blocks(&mut self, sheet: &Sheet) {
        let rank = sheet.shape.len();
        let (columns, grid_width) = offsets(&sheet.columns, self.cell);
        let (rows, grid_height) = offsets(&sheet.rows, HEIGHT);
        // Before the rows stand their indices, and the numbers of marks; above the columns theirs, and the name.
        let marks = if sheet.marks.is_empty() { 0 } else { 8 };
        let (side, above) = if rank == 0 { (0, 6) } else { (labels_width(sheet.rows.iter().copied()) + marks, 20) };
        let names = if rank > 2 { block_names(sheet) } else { Vec::new() };
        let name_height = if rank > 2 { LINE } else { 0 };
        let name_width = 7 * names.iter().map(|name| name.chars().count()).max().unwrap_or(0) as i64;

        let block_width = grid_width.max(name_width) + GAP + 4;
        let block_height = name_height + above + grid_height + GAP;
        let fit = ((MOST_WIDTH - side) / block_width).max(1) as usize;
        // Blocks of two axes are rows and columns themselves.
        let group = if rank == 4 { within(sheet.shape[1], sheet.blocks.len()).max(1) } else { fit };
        let per_line = if group <= fit && sheet.blocks.len().is_multiple_of(group) { group } else { fit };

        let (start, mut names) = (self.height, names.into_iter());
        for (at, block) in sheet.blocks.iter().enumerate() {
            let (line, place) = ((at / per_line) as i64, (at % per_line) as i64);
            let (left, top) = (MARGIN + side + place * block_width, start + line * block_height + name_height + above);
            if let Some(name) = names.next() {
                let whole = format!("[{}:, :]", block.iter().map(|entry| format!("{entry}, ")).collect::<String>());
                let whole = (whole != name).then_some(whole);
                self.label(Kind::Title, Point { x: left, y: top - above }, name, whole);
            }
            if let [.., height, width] = sheet.shape[..] {
                for (&column, &at) in sheet.columns.iter().zip(&columns) {
                    let most = (self.cell / 7) as usize;
                    self.number(Kind::Above, Point { x: left + at + self.cell / 2, y: top - 4 }, column, most);
                }
                if last_is_missing(&sheet.columns, width) {
                    self.dots("⋯", Point { x: left + grid_width + 8, y: top - 4 });
                }
                // Blocks of one line have the same rows.
                let x = MARGIN + side - marks - 5;
                for (&row, &at) in sheet.rows.iter().zip(&rows).filter(|_| place == 0) {
                    self.number(Kind::Left, Point { x, y: top + at + BASE }, row, ADDRESS);
                }
                if place == 0 && last_is_missing(&sheet.rows, height) {
                    self.dots("⋮", Point { x: x - 3, y: top + grid_height + 12 });
                }
            }
            for &row in &rows {
                self.cells.extend(columns.iter().map(|&column| Point { x: left + column, y: top + row }));
            }
            self.width = self.width.max(left + grid_width.max(name_width) - MARGIN);
            self.height = top + grid_height;
        }
    }
}

/// The room that numbers before lines or rows take.
fn labels_width(numbers: impl Iterator<Item = i64>) -> i64 {
    7 * numbers.map(|number| short(number, ADDRESS).chars().count()).max().unwrap_or(0) as i64 + 6
}

fn last_is_missing(entries: &[i64], size: i64) -> bool {
    entries.last().is_some_and(|&entry| entry < size - 1)
}

/// How many columns there is room for.
pub(super) fn columns_that_fit(sheet: &Sheet) -> usize {
    if sheet.shape.len() < 2 {
        return sheet.columns.len();
    }
    (MOST_WIDTH / cell_width(sheet)) as usize
}

/// The place of each entry of an axis, with free space where entries are missing, and the length of all.
fn offsets(entries: &[i64], each: i64) -> (Vec<i64>, i64) {
    let (mut at, mut next, mut offsets) = (0, 0, Vec::new());
    for &entry in entries {
        if entry > next {
            at += GAP;
        }
        offsets.push(at);
        at += each;
        next = entry + 1;
    }
    (offsets, at)
}

/// The line of each item and where in the line it begins. Numbers begin a new line where those up to the next gap
/// do not fit, and no line begins with a gap.
fn flowed(items: &[Item], cell: i64, room: i64) -> Vec<(i64, i64)> {
    let mut places = Vec::new();
    let (mut line, mut x) = (0, 0);
    for run in items.split_inclusive(|item| matches!(item, Item::Gap(..))) {
        let numbers = run.iter().filter_map(Item::number).count() as i64;
        if x > 0 && x + numbers * cell > room {
            (line, x) = (line + 1, 0);
        }
        for item in run {
            let is_number = item.number().is_some();
            if is_number && x + cell > room {
                (line, x) = (line + 1, 0);
            }
            places.push((line, x));
            x += if is_number { cell } else { DOTS };
        }
    }
    places
}

/// The index of each block, `[0, 1, :, :]`; entries that are the same in all are left out where there are many axes.
fn block_names(sheet: &Sheet) -> Vec<String> {
    let axes = sheet.shape.len() - 2;
    let varies = |axis: &usize| sheet.blocks.iter().any(|block| block[*axis] != sheet.blocks[0][*axis]);
    let shown: Vec<bool> = (0..axes).map(|axis| axes <= 4 || varies(&axis)).collect();
    let name = |block: &shapetracker::Dims| {
        let mut name = "[".to_owned();
        for (axis, &entry) in block.iter().enumerate() {
            if shown[axis] {
                name += &format!("{}, ", short(entry, ADDRESS));
            } else if axis == 0 || shown[axis - 1] {
                name += "…, ";
            }
        }
        name + ":, :]"
    };
    sheet.blocks.iter().map(name).collect()
}

/// The width of a cell that has room for so many characters.
fn wide_enough(characters: usize) -> i64 {
    // An even number, so that half of it is whole.
    ((characters as i64 * 7 + 12) / 2 * 2).max(LEAST_CELL)
}

fn address_length(address: &i64) -> usize {
    short(*address, ADDRESS).chars().count()
}

fn cell_width(sheet: &Sheet) -> i64 {
    wide_enough(sheet.strip.readers.keys().map(address_length).max().unwrap_or(0))
}

fn strip_cell_width(sheet: &Sheet) -> i64 {
    let count_length = |count: &usize| count.to_string().len() + 1;
    let counts = sheet.strip.readers.values().map(count_length).max().unwrap_or(0);
    wide_enough(sheet.strip.readers.keys().map(address_length).max().unwrap_or(0).max(counts))
}
