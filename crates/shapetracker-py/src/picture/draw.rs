//! Writes SVG. There are no identifiers in it, and nothing from outside: any number of pictures can share a page.

use super::colours::{self, BLANK, DARK_COLOURS, DIM, INK, LINE, MARK, PAPER, RAMP};
use super::layout::{ADDRESS, BASE, DOTS, HEIGHT, Kind, Layout, Point};
use super::sheet::Sheet;
use super::strip::Item;
use super::text::{escaped, short};

/// The picture of a sheet, with the name and the description for those who cannot see it.
pub(super) fn svg([name, description]: &[String; 2], sheet: &Sheet, layout: &Layout) -> String {
    let (width, height) = (layout.width, layout.height);
    let mut inside = Inside::default();
    inside.grid(sheet, layout);
    inside.strip(sheet, layout);
    inside.marks(sheet, layout);
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"shapetracker\" role=\"img\" \
         viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" style=\"max-width:100%;height:auto\">\
         <title>{}</title><desc>{}</desc>{}\
         <rect class=\"paper\" fill=\"{PAPER}\" width=\"{width}\" height=\"{height}\" rx=\"6\"/>{}{}</svg>",
        escaped(name),
        escaped(description),
        colours::style(),
        inside.written(),
        labels(layout),
    )
}

/// What is drawn, sorted by how it is drawn.
#[derive(Default)]
struct Inside {
    /// Cells, by their place on the ramp. A cell is a thick line, which takes the fewest characters.
    coloured: [String; RAMP.len()],
    /// The same, without titles: these are one line with interruptions.
    untitled: [String; RAMP.len()],
    /// Addresses on dark colours, and on light ones.
    on_dark: String,
    on_light: String,
    /// Masked cells, and the outlines of their hatching.
    blank: String,
    hatching: String,
    /// Outlines of addresses that nobody reads.
    holes: String,
    dots: String,
    /// Lines, and the numbers in discs.
    marks: String,
    badges: String,
}

impl Inside {
    fn grid(&mut self, sheet: &Sheet, layout: &Layout) {
        for (cell, &at) in sheet.cells.iter().zip(&layout.cells) {
            let index = &cell.index[..];
            match cell.address {
                Some(address) => {
                    let title = format!("{index:?}: {address}");
                    let middle = Point { x: at.x + layout.cell / 2, y: at.y + BASE };
                    self.cell(sheet.strip.place(address), at, layout.cell, Some(&title));
                    self.text(sheet.strip.place(address), middle, &short(address, ADDRESS));
                }
                None => {
                    let Point { x, y } = at;
                    self.blank += &titled(at, layout.cell, &format!("{index:?}: masked"));
                    // Three parallel lines from edge to edge, which go on in the next cell.
                    let (w, h) = (layout.cell - 2, HEIGHT - 2);
                    let (half_w, half_h) = (w / 2, h / 2);
                    self.hatching += &format!(
                        "M{} {}l{half_w}-{half_h}m{half_w} 0l-{w} {h}m{half_w} 0l{half_w}-{half_h}",
                        x + 1,
                        y + 1 + half_h
                    );
                }
            }
        }
    }

    fn strip(&mut self, sheet: &Sheet, layout: &Layout) {
        let width = layout.strip_cell;
        for (item, &at) in sheet.strip.items.iter().zip(&layout.strip) {
            let Point { x, y } = at;
            let middle = Point { x: x + width / 2, y: y + BASE };
            match *item {
                Item::Gap(first, last) => {
                    let (x, y) = (x + DOTS / 2, middle.y);
                    self.dots += &format!("<text x=\"{x}\" y=\"{y}\"><title>{first} to {last}</title>⋯</text>");
                }
                Item::Number(address) => {
                    let place = sheet.strip.place(address);
                    match sheet.strip.readers.get(&address) {
                        None => {
                            let (right, bottom) = (x + width - 2, y + HEIGHT - 2);
                            self.holes += &format!("M{} {}H{right}V{bottom}H{}z", x + 2, y + 2, x + 2);
                        }
                        Some(1) => {
                            let whole = address.to_string();
                            let title = (whole.len() > ADDRESS).then_some(&whole[..]);
                            self.cell(place, at, width, title);
                            self.text(place, middle, &short(address, ADDRESS));
                        }
                        Some(count) => {
                            self.cell(place, at, width, Some(&format!("{address}, read {count} times")));
                            self.text(place, Point { x: middle.x, y: y + 12 }, &short(address, ADDRESS));
                            self.text(place, Point { x: middle.x, y: y + 24 }, &format!("×{count}"));
                        }
                    }
                }
            }
        }
    }

    fn cell(&mut self, place: f64, at: Point, width: i64, title: Option<&str>) {
        match title {
            Some(title) => self.coloured[colour(place)] += &titled(at, width, title),
            None => self.untitled[colour(place)] += &line(at, width),
        }
    }

    fn text(&mut self, place: f64, Point { x, y }: Point, text: &str) {
        let ink = if colour(place) < DARK_COLOURS { &mut self.on_dark } else { &mut self.on_light };
        *ink += &format!("<text x=\"{x}\" y=\"{y}\">{text}</text>");
    }

    /// What a witness points at: outlines, numbers, and for a step to a neighbour the head of an arrow.
    fn marks(&mut self, sheet: &Sheet, layout: &Layout) {
        for (at, &(from, to)) in sheet.marks.iter().enumerate() {
            let Some(&start) = layout.cells.get(from) else { continue };
            let end = to.and_then(|to| layout.cells.get(to).copied()).unwrap_or(start);
            // The second outline lies inside of the first, which may have a cell in common with it.
            let inset = if at == 1 { 3 } else { 0 };
            let number = at + 1;
            self.badge(start.x, start.y, &number.to_string());
            if (start.x - end.x).abs() <= layout.cell && (start.y - end.y).abs() <= HEIGHT {
                self.marks += &outline(start, end, layout.cell, inset);
                if start != end {
                    let head = arrow_head(start, end, layout.cell);
                    self.badges += &format!("<path {} d=\"{head}\"/>", solid());
                }
            } else {
                self.marks += &outline(start, start, layout.cell, inset);
                self.marks += &outline(end, end, layout.cell, inset);
                self.badge(end.x + layout.cell, end.y, &format!("→{number}"));
            }
        }
    }

    fn badge(&mut self, x: i64, y: i64, text: &str) {
        let half = if text.len() == 1 { 7 } else { 10 };
        let (left, top, width, below) = (x - half, y - 7, 2 * half, y + 4);
        self.badges += &format!(
            "<rect {} x=\"{left}\" y=\"{top}\" width=\"{width}\" height=\"14\" rx=\"7\"/>\
             <text class=\"paper\" fill=\"{PAPER}\" x=\"{x}\" y=\"{below}\">{text}</text>",
            solid()
        );
    }

    fn written(&self) -> String {
        let mut text = format!("<g fill=\"none\" stroke-width=\"{}\">", HEIGHT - 2);
        for ((cells, line), colour) in self.coloured.iter().zip(&self.untitled).zip(RAMP) {
            let line = if line.is_empty() { String::new() } else { format!("<path d=\"{line}\"/>") };
            text += &group(&format!("stroke=\"{colour}\""), &(cells.clone() + &line));
        }
        text += &group(&format!("class=\"blank\" stroke=\"{BLANK}\""), &self.blank);
        text += "</g>";
        text += &path(&format!("class=\"hatch\" stroke=\"{DIM}\""), &self.hatching);
        text += &path(&format!("class=\"hole\" stroke=\"{LINE}\""), &self.holes);
        text += &format!("<g font-family=\"{MONOSPACE}\" font-size=\"11\" text-anchor=\"middle\">");
        text += &group("fill=\"#ffffff\" pointer-events=\"none\"", &self.on_dark);
        text += &group("fill=\"#000000\" pointer-events=\"none\"", &self.on_light);
        text += &group(&format!("class=\"dim\" fill=\"{DIM}\""), &self.dots);
        text += &path(&format!("class=\"halo\" stroke=\"{PAPER}\" stroke-width=\"4\""), &self.marks);
        text += &path(&format!("class=\"mark\" stroke=\"{MARK}\" stroke-width=\"2\""), &self.marks);
        text += &group("font-weight=\"bold\" pointer-events=\"none\"", &self.badges);
        text + "</g>"
    }
}

const MONOSPACE: &str = "ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace";

/// Elements with something in common; nothing when there are none.
fn group(attributes: &str, inside: &str) -> String {
    if inside.is_empty() { String::new() } else { format!("<g {attributes}>{inside}</g>") }
}

/// Lines with something in common; nothing when there are none.
fn path(attributes: &str, data: &str) -> String {
    if data.is_empty() {
        return String::new();
    }
    format!("<path fill=\"none\" pointer-events=\"none\" {attributes} d=\"{data}\"/>")
}

/// The place on the ramp.
fn colour(place: f64) -> usize {
    ((place * (RAMP.len() - 1) as f64).round() as usize).min(RAMP.len() - 1)
}

/// A cell as a thick line.
fn line(Point { x, y }: Point, width: i64) -> String {
    format!("M{} {}h{}", x + 1, y + HEIGHT / 2, width - 2)
}

/// A cell with a text that is shown when the mouse points at it.
fn titled(at: Point, width: i64, title: &str) -> String {
    format!("<path d=\"{}\"><title>{}</title></path>", line(at, width), escaped(title))
}

/// A frame around two cells that are neighbours, or the same.
fn outline(first: Point, second: Point, width: i64, inset: i64) -> String {
    let (left, top) = (first.x.min(second.x) + inset, first.y.min(second.y) + inset);
    let right = first.x.max(second.x) + width - inset;
    let bottom = first.y.max(second.y) + HEIGHT - inset;
    format!("M{left} {top}H{right}V{bottom}H{left}z")
}

/// What is filled with the colour of marks has a thin edge.
fn solid() -> String {
    format!("class=\"badge halo\" fill=\"{MARK}\" stroke=\"{PAPER}\"")
}

/// The head of an arrow, on the edge between two neighbours.
fn arrow_head(from: Point, to: Point, width: i64) -> String {
    // Along the step, and to its side.
    let (dx, dy) = ((to.x - from.x).signum(), (to.y - from.y).signum());
    let (x, y) = ((from.x + to.x + width) / 2, (from.y + to.y + HEIGHT) / 2);
    let point = |ahead: i64, aside: i64| format!("{} {}", x + ahead * dx - aside * dy, y + ahead * dy + aside * dx);
    format!("M{}L{}L{}z", point(5, 0), point(-4, 6), point(-4, -6))
}

/// All text outside of cells.
fn labels(layout: &Layout) -> String {
    let kinds = [
        (Kind::Title, "class=\"ink\"", INK, "start", 12),
        (Kind::Caption, "class=\"ink\"", INK, "start", 12),
        (Kind::Above, "class=\"dim\"", DIM, "middle", 10),
        (Kind::Left, "class=\"dim\"", DIM, "end", 10),
    ];
    let mut text = String::new();
    for (kind, class, fill, anchor, size) in kinds {
        let family = if matches!(kind, Kind::Caption | Kind::Title) { "system-ui,sans-serif" } else { MONOSPACE };
        let inside: String = layout.labels.iter().filter(|label| label.kind == kind).map(written).collect();
        let style = format!("fill=\"{fill}\" font-family=\"{family}\" font-size=\"{size}\" text-anchor=\"{anchor}\"");
        text += &group(&format!("{class} {style}"), &inside);
    }
    text
}

fn written(label: &super::layout::Label) -> String {
    let Point { x, y } = label.at;
    let title = label.whole.as_ref().map_or(String::new(), |whole| format!("<title>{}</title>", escaped(whole)));
    format!("<text x=\"{x}\" y=\"{y}\">{title}{}</text>", escaped(&label.text))
}
