//! An explanation in sentences, for the command and for Python alike: sections with headings, which each shows its way.

use std::fmt;

use shapetracker_base::text::{tuple, tuple_of_pairs};

use super::reported::filled;
use super::{Blocked, Explanation, Outcome};
use crate::notation::ArrayLibrary;
use crate::{Dims, View};

/// How many of the views that are copied one after another are shown.
const MOST_PARTS: usize = 4;

/// An [`Explanation`] in sentences. `Display` writes them as plain text; the parts are there for whoever colours, wraps
/// or translates them.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker::fit::explain;
///
/// let report = explain(&ShapeTracker::contiguous([6, 4])?.permute([1, 0])?, [24])?.report(None);
/// assert_eq!(report.answer(), "No");
/// assert_eq!(report.rest(), ", shape (4, 6) with strides (1, 4) cannot be viewed as (24,)");
/// let headings: Vec<_> = report.sections().iter().filter_map(|section| section.heading()).collect();
/// assert_eq!(headings, ["What is in the way", "Proof", "The smallest copy that helps"]);
/// assert_eq!(report.sections()[2].remark(), Some("all 24 elements"));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    answer: &'static str,
    rest: String,
    sections: Vec<Section>,
}

/// A part of a [`Report`]: lines under a heading, or under none.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker::fit::{Line, explain};
///
/// let report = explain(&ShapeTracker::contiguous([6, 4])?, [24])?.report(None);
/// assert_eq!(report.sections()[0].heading(), None);
/// assert_eq!(report.sections()[0].lines()[0].to_string(), "strides  (1,)");
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    heading: Option<&'static str>,
    remark: Option<String>,
    lines: Vec<Line>,
}

/// A line of a [`Section`]. `Display` writes it without indentation.
///
/// ```
/// use shapetracker::ShapeTracker;
/// use shapetracker::fit::{Line, explain};
///
/// let report = explain(&ShapeTracker::contiguous([6, 4])?.permute([1, 0])?, [24])?.report(None);
/// assert!(matches!(&report.sections()[0].lines()[0], Line::Sentence(sentence) if sentence.ends_with(".")));
/// assert!(matches!(&report.sections()[2].lines()[0], Line::Entry { label: "copy", .. }));
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Line {
    /// A whole sentence, which may be broken into lines.
    Sentence(String),
    /// Something with a label in front, which is to stay on one line so that it can be copied.
    #[non_exhaustive]
    Entry {
        /// Up to seven letters.
        label: &'static str,
        /// What stands after the label.
        text: String,
    },
}

impl Report {
    /// The answer in a word: `Yes`, `No` or `Undecided`.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([6, 4])?;
    /// assert_eq!(shapetracker::fit::explain(&tracker, [24])?.report(None).answer(), "Yes");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn answer(&self) -> &str {
        self.answer
    }

    /// What comes after that word in the first line.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([6, 4])?;
    /// let report = shapetracker::fit::explain(&tracker, [24])?.report(None);
    /// assert_eq!(report.rest(), ", shape (6, 4) with strides (4, 1) can be viewed as (24,)");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn rest(&self) -> &str {
        &self.rest
    }

    /// The sections in order, each after an empty line.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([6, 4])?;
    /// assert_eq!(shapetracker::fit::explain(&tracker, [24])?.report(None).sections().len(), 1);
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    pub(super) fn of(explanation: &Explanation, library: Option<ArrayLibrary>) -> Report {
        let tracker = explanation.tracker();
        let from = match tracker.as_view() {
            Some(view) => described(view, explanation.old_strides().unwrap_or(view.strides())),
            None => format!("shape {} through {} views", tuple(tracker.shape()), tracker.views().len()),
        };
        let to = tuple(explanation.shape());
        let recipe = library.and_then(|library| Some((library, explanation.recipe(library)?)));
        let forward = explanation.blocked().map(|blocked| (blocked, blocked.without_negative_strides()));
        let recipe = recipe.map(|(library, recipe)| match (library, forward) {
            (ArrayLibrary::NumPy, _) => vec![Line::entry("NumPy", recipe)],
            (ArrayLibrary::PyTorch, Some((blocked, Some(forward)))) if forward.view() != blocked.view() => {
                let fewest = if forward.is_smallest() { "it needs" } else { "this copies" };
                let why = format!("PyTorch has no negative strides: {fewest} {} elements.", forward.elements());
                vec![Line::Sentence(why), Line::entry("PyTorch", recipe)]
            }
            (ArrayLibrary::PyTorch, _) => vec![Line::entry("PyTorch", recipe)],
        });
        let (answer, rest, mut sections) = match explanation.outcome() {
            Outcome::Fits(view) => (
                "Yes",
                format!(", {from} can be viewed as {to}"),
                vec![Section::result(view, library.and_then(|library| explanation.strides(library)))],
            ),
            Outcome::Blocked(blocked) => {
                let obstacles = blocked.obstacles().iter().map(|obstacle| Line::Sentence(format!("{obstacle}.")));
                let obstacles = Section::new("What is in the way", obstacles.collect());
                let sections = vec![obstacles, Section::proof(blocked.witness()), Section::smallest_copy(blocked)];
                ("No", format!(", {from} cannot be viewed as {to}"), sections)
            }
            Outcome::Stacked { witness, .. } => {
                let copy = Line::entry("copy", format!("into a fresh row-major buffer of shape {to}"));
                let mut copy = Section::new("A copy that helps", vec![copy]);
                copy.remark = Some(how_many(tracker.numel(), tracker.numel()));
                ("No", format!(", {from} cannot be viewed as {to}"), vec![Section::proof(witness), copy])
            }
            Outcome::Undecided => ("Undecided", format!(": {}", super::Misfit::Undecided), Vec::new()),
        };
        if let Err(outside) = tracker.fits_buffer(None) {
            let sentence = format!("Mind that {}: there is no such array, and no code for it.", outside.reason());
            sections.push(Section { heading: None, remark: None, lines: vec![Line::Sentence(sentence)] });
        } else if let Some(last) = sections.last_mut() {
            last.lines.extend(recipe.into_iter().flatten());
        }
        Report { answer, rest, sections }
    }
}

impl Section {
    /// The heading.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([6, 4])?.permute([1, 0])?;
    /// let report = shapetracker::fit::explain(&tracker, [24])?.report(None);
    /// assert_eq!(report.sections()[1].heading(), Some("Proof"));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn heading(&self) -> Option<&str> {
        self.heading
    }

    /// A remark on the heading, to stand in parentheses after it.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([1, 3])?.expand([4, 3])?;
    /// let report = shapetracker::fit::explain(&tracker, [2, 6])?.report(None);
    /// assert_eq!(report.sections()[2].remark(), Some("6 of 12 elements"));
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn remark(&self) -> Option<&str> {
        self.remark.as_deref()
    }

    /// The lines, each to be indented by two columns.
    ///
    /// ```
    /// let tracker = shapetracker::ShapeTracker::contiguous([6, 4])?.permute([1, 0])?;
    /// let report = shapetracker::fit::explain(&tracker, [24])?.report(None);
    /// assert_eq!(report.sections()[2].lines()[1].to_string(), "view     that buffer as (24,) with strides (1,)");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    fn new(heading: &'static str, lines: Vec<Line>) -> Section {
        Section { heading: Some(heading), remark: None, lines }
    }

    fn result(view: &View, reported: Option<Dims>) -> Section {
        let mut lines = vec![
            Line::entry("strides", tuple(reported.as_deref().unwrap_or(view.strides())).to_string()),
            Line::entry("offset", view.offset().to_string()),
        ];
        lines.extend(view.mask().map(|mask| Line::entry("mask", tuple_of_pairs(mask).to_string())));
        Section { heading: None, remark: None, lines }
    }

    fn proof(witness: &crate::Witness) -> Section {
        Section::new("Proof", vec![Line::Sentence(format!("{witness}."))])
    }

    fn smallest_copy(blocked: &Blocked) -> Section {
        let view = blocked.view();
        let strided = |copied: &View| format!("at strides {} from {}", tuple(copied.strides()), copied.offset());
        let copy = match blocked.copied() {
            [copied] => {
                let of = if copied == blocked.old() {
                    String::new()
                } else {
                    format!(" of the elements {}", strided(copied))
                };
                format!("into a fresh row-major buffer of shape {}{of}", tuple(copied.shape()))
            }
            copied => {
                let part = |copied: &View| format!("shape {} {}", tuple(copied.shape()), strided(copied));
                let mut parts: Vec<String> = copied.iter().take(MOST_PARTS).map(part).collect();
                if copied.len() > MOST_PARTS {
                    parts.push(format!("{} more", copied.len() - MOST_PARTS));
                }
                format!("into a fresh buffer one after another: {}", parts.join(", then "))
            }
        };
        let mut seen = format!("that buffer as {} with strides {}", tuple(view.shape()), tuple(&filled(view)));
        if view.offset() != 0 {
            seen += &format!(" and offset {}", view.offset());
        }
        let mut lines = vec![Line::entry("copy", copy), Line::entry("view", seen)];
        let remark = Some(how_many(blocked.elements(), blocked.old().numel()));
        if blocked.is_smallest() {
            return Section { heading: Some("The smallest copy that helps"), remark, lines };
        }
        lines.push(Line::Sentence("Whether a smaller one helps was not decided.".into()));
        Section { heading: Some("A copy that helps"), remark, lines }
    }
}

impl Line {
    fn entry(label: &'static str, text: String) -> Line {
        Line::Entry { label, text }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}{}", self.answer, self.rest)?;
        for section in &self.sections {
            writeln!(f)?;
            match (section.heading, &section.remark) {
                (Some(heading), Some(remark)) => writeln!(f, "{heading} ({remark})")?,
                (Some(heading), None) => writeln!(f, "{heading}")?,
                (None, _) => {}
            }
            for line in &section.lines {
                writeln!(f, "  {line}")?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Line::Sentence(sentence) => f.write_str(sentence),
            Line::Entry { label, text } => write!(f, "{label:<7}  {text}"),
        }
    }
}

/// A view in words, with strides as they were given.
fn described(view: &View, strides: &[i64]) -> String {
    let mut text = format!("shape {} with strides {}", tuple(view.shape()), tuple(strides));
    if view.offset() != 0 {
        text += &format!(" and offset {}", view.offset());
    }
    if let Some(mask) = view.mask() {
        text += &format!(" and mask {}", tuple_of_pairs(mask));
    }
    text
}

fn how_many(some: i64, all: i64) -> String {
    let plural = if all == 1 { "" } else { "s" };
    if some == all { format!("all {all} element{plural}") } else { format!("{some} of {all} element{plural}") }
}
