//! Pictures for notebooks: the tensor as a grid of addresses, and the memory that it reads as a strip.
//!
//! `sheet` chooses the elements that are drawn, `strip` the addresses, `layout` where they go, and `draw` writes SVG.
//! How many cells are drawn shrinks until the text is small enough. Addresses are evaluated for drawn cells only, so
//! that no cost depends on sizes.

mod colours;
mod draw;
mod layout;
mod sheet;
mod strip;
mod text;

use std::borrow::Cow;

use pyo3::PyErr;
use pyo3::exceptions::PyValueError;
use shapetracker::{ShapeTracker, Unmerged, View, Witness};

use self::colours::NOTEBOOK;
use self::layout::Layout;
use self::sheet::{Mark, Sheet};
use self::text::{clipped, escaped, tuple, tuple_of_pairs};

/// No picture is larger, in bytes, whatever it shows.
const MOST_BYTES: usize = 39_999;
/// How many cells the grid is allowed, from what is best to what always fits.
const CELLS: [usize; 13] = [256, 225, 196, 160, 128, 96, 64, 48, 32, 16, 8, 4, 1];
/// How many views are listed.
const VIEWS: usize = 8;
/// How many characters of one property of a view are shown.
const PROPERTY: usize = 300;
/// How many characters of one note are written into a picture that stands alone.
const NOTE: usize = 600;

/// What a picture is of.
pub(crate) struct Drawn<'a> {
    /// What it is called, for whoever has it read out.
    pub(crate) name: &'a str,
    /// What is drawn.
    pub(crate) tracker: Cow<'a, ShapeTracker>,
    /// What it is an example of, where sizes have names, as sentences.
    pub(crate) example_of: Vec<String>,
}

impl<'a> Drawn<'a> {
    pub(crate) fn of_numbers(name: &'a str, tracker: Cow<'a, ShapeTracker>) -> Self {
        Drawn { name, tracker, example_of: Vec::new() }
    }

    /// An example of a tracker whose sizes have names, or nothing where no values were found that its names may have.
    pub(crate) fn of_names(name: &'a str, named: &shapetracker_symbolic::ShapeTracker) -> Option<Self> {
        let (scope, answer) = (named.scope(), named.single_view());
        let values = named.example(&answer, &[])?;
        let at = || scope.names().iter().zip(&values).map(|(name, &value)| (&*name.name, value));
        let tracker = named.at(at()).ok()?;
        let sentence = answer.sentence(scope);
        let at: Vec<String> = at().map(|(name, value)| format!("{name} = {value}")).collect();
        let example_of = vec![
            format!("{}, drawn at {}.", clipped(&named.to_string(), PROPERTY), clipped(&at.join(", "), PROPERTY)),
            clipped(&format!("{}{}.", sentence[..1].to_uppercase(), &sentence[1..]), NOTE),
        ];
        Some(Drawn { name, tracker: Cow::Owned(tracker), example_of })
    }
}

/// The exception that no values of the names were found at which something could be drawn.
pub(crate) fn undrawn(op: &str) -> PyErr {
    PyValueError::new_err(format!(
        "{op}: no values of the names were found for an example: say some, as `.at(n=4)` does"
    ))
}

/// An SVG picture that stands alone: the views and what there is to say about them are lines of text in it.
pub(crate) fn svg(drawn: &Drawn<'_>) -> String {
    let tracker = &*drawn.tracker;
    let why = Why::of(tracker);
    fitting(|cells| {
        let sheet = Sheet::new(tracker, cells, &why.marks);
        let views = tracker.views().iter().enumerate();
        let views =
            views.take(VIEWS).map(|(at, view)| format!("{}: {}", view_name(at), clipped(&view.to_string(), PROPERTY)));
        let mut lines: Vec<_> = drawn.example_of.iter().cloned().chain(views).collect();
        lines.extend(notes(tracker, &sheet, &why));
        let captions: Vec<_> = lines.iter().map(|line| clipped(line, NOTE)).collect();
        draw::svg(&described(drawn.name, tracker), &sheet, &Layout::new(&sheet, &captions))
    })
}

/// The picture, the views as a table, and why they are not one.
pub(crate) fn html(drawn: &Drawn<'_>) -> String {
    let tracker = &*drawn.tracker;
    let why = Why::of(tracker);
    fitting(|cells| {
        let sheet = Sheet::new(tracker, cells, &why.marks);
        let picture = draw::svg(&described(drawn.name, tracker), &sheet, &Layout::new(&sheet, &[]));
        let notes = notes(tracker, &sheet, &why);
        let paragraphs =
            |notes: &[String]| -> String { notes.iter().map(|note| format!("<p>{}</p>", escaped(note))).collect() };
        let (above, below) = (paragraphs(&drawn.example_of), paragraphs(&notes));
        format!("<div class=\"shapetracker\">{NOTEBOOK}{above}{picture}{}{below}</div>", table(tracker.views()))
    })
}

/// A text as it stands.
pub(crate) fn pre(text: &str) -> String {
    format!("<pre>{}</pre>", escaped(text))
}

/// The first drawing that is small enough.
fn fitting(drawn: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    for cells in CELLS {
        text = drawn(cells);
        if text.len() <= MOST_BYTES {
            break;
        }
    }
    text
}

/// Why several views are not one, with the elements that show it.
#[derive(Default)]
struct Why {
    sentence: Option<String>,
    marks: Vec<Mark>,
}

impl Why {
    fn of(tracker: &ShapeTracker) -> Why {
        if tracker.as_view().is_some() {
            return Why::default();
        }
        match tracker.single_view() {
            Ok(view) => Why { sentence: Some(format!("One view does the same: {view}.")), marks: Vec::new() },
            Err(Unmerged::Witness(witness)) => {
                let (marks, key) = match &witness {
                    Witness::UnevenStep { axis, steps } => {
                        let mark = |step: &shapetracker::UnitStep| {
                            let mut next = step.index.clone();
                            next[*axis] += 1;
                            Mark { from: step.index.clone(), to: Some(next) }
                        };
                        (steps.iter().map(mark).collect(), "1 and 2 in the picture are these two steps")
                    }
                    Witness::NotABox { valid: [first, second], invalid } => {
                        let points = [first, second, invalid];
                        let marks = points.map(|index| Mark { from: index.clone(), to: None }).into();
                        (marks, "1 and 2 in the picture are the valid elements, 3 is the masked one")
                    }
                    _ => (Vec::new(), "are indices"),
                };
                Why { sentence: Some(format!("Not one view: {witness}. The numbers {key}.")), marks }
            }
            Err(other) => Why { sentence: Some(format!("Not known to be one view: {other}.")), marks: Vec::new() },
        }
    }
}

/// The sentences below a picture.
fn notes(tracker: &ShapeTracker, sheet: &Sheet, why: &Why) -> Vec<String> {
    let views = tracker.views().len();
    let more = (views > VIEWS).then(|| format!("Views {VIEWS} to {} are not listed.", views - 1));
    let outside = tracker.fits_buffer(None).err().map(|err| format!("Mind that {}.", err.reason()));
    sheet.left_out().into_iter().chain(more).chain(why.sentence.clone()).chain(outside).collect()
}

fn view_name(at: usize) -> String {
    if at == 0 { "view 0, next to memory".into() } else { format!("view {at}") }
}

/// The name and the description that are read out instead of a picture.
fn described(name: &str, tracker: &ShapeTracker) -> [String; 2] {
    let views = match tracker.views().len() {
        1 => "one view".to_owned(),
        count => format!("{count} views"),
    };
    let shape = clipped(&tuple(tracker.shape()), PROPERTY);
    [format!("{name} of shape {shape}, {views}"), clipped(&tracker.to_string(), NOTE)]
}

/// The views as a table, the first next to memory.
fn table(views: &[View]) -> String {
    let row = |tag: &str, cells: [String; 5]| {
        let cells = cells.map(|cell| format!("<{tag}>{}</{tag}>", escaped(&clipped(&cell, PROPERTY))));
        format!("<tr>{}</tr>", cells.concat())
    };
    let head = row("th", ["view", "shape", "strides", "offset", "mask"].map(str::to_owned));
    let shown = views.iter().take(VIEWS).enumerate().map(|(at, view)| {
        let mask = view.mask().map_or("none".into(), tuple_of_pairs);
        row("td", [view_name(at), tuple(view.shape()), tuple(view.strides()), view.offset().to_string(), mask])
    });
    format!("<table>{head}{}</table>", shown.collect::<String>())
}
