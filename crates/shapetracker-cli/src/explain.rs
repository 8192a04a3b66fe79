//! `shapetracker explain`: what each operation of a chain does to the views.

use std::cmp::Ordering;
use std::io::Read;

use serde_json::{Value, json};
use shapetracker::{Chain, Movement, ShapeTracker, Start, Unmerged, View, merge};

use crate::answer::{Answer, BAD, BOLD, DIM, Failure, GOOD, count, paragraph, tuple, views_json, width, witness_json};
use crate::{grid, table};

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker explain '(3, 2).permute(1, 0).reshape(3, 2)'
  shapetracker explain '(1, 4).expand(3, 4).step(1, -2)'
  shapetracker explain 'ShapeTracker(views=(View(shape=(2, 3), strides=(1, 2)),)).reshape(6)'
  echo '(8).reshape(2, 4).flip(0)' | shapetracker explain -

Operations: reshape, permute, transpose, expand, broadcast_to, pad, shrink, slice, step, flip, squeeze, unsqueeze, \
as_strided. A chain may also begin with views, the first next to memory.

With --json: chain, steps (op, text, shape, views, verdict: no_new_view, merged or new_view, reason, witness), shape, \
views, reason and witness (when they are several), contiguous, buffer_len, addresses (row-major, \
null where masked; null when there are more than 256).")]
pub(crate) struct Args {
    /// The chain, such as "(3, 2).permute(1, 0)"; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    chain: String,
}

/// All that there is to say about a chain.
struct Explained {
    chain: Chain,
    /// The tracker before any operation, and after each.
    trackers: Vec<ShapeTracker>,
    /// What each operation did.
    verdicts: Vec<Verdict>,
    /// Why the views that are left are not one; nothing if there is only one.
    reason: Option<Reason>,
}

/// What an operation did to the number of views.
enum Verdict {
    NoNewView,
    Merged,
    NewView(Option<Reason>),
}

/// Why two views are not one.
struct Reason {
    sentence: String,
    witness: Value,
}

pub(crate) fn explain(args: &Args) -> Result<Answer, Failure> {
    let text = if args.chain == "-" { from_stdin()? } else { args.chain.clone() };
    let chain: Chain = text.trim_end().parse()?;
    let trackers = chain.steps()?;
    let verdicts = chain.ops().iter().zip(trackers.windows(2)).map(|(op, step)| Verdict::of(op, &step[0], &step[1]));
    let verdicts = verdicts.collect();
    let reason = trackers.last().and_then(|result| Reason::of(result.single_view()));
    let explained = Explained { chain, trackers, verdicts, reason };
    Ok(Answer { text: explained.text(), json: explained.json(), positive: true })
}

fn from_stdin() -> Result<String, Failure> {
    // A longer text is noise, which must not fill the memory.
    const LONGEST: u64 = 1 << 26;
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LONGEST + 1)
        .read_to_end(&mut bytes)
        .map_err(|err| Failure::new("io", format!("cannot read standard input: {err}")))?;
    if bytes.len() as u64 > LONGEST {
        return Err(Failure::new("too_long", format!("standard input is longer than {LONGEST} bytes")));
    }
    String::from_utf8(bytes).map_err(|err| {
        let at = err.utf8_error().valid_up_to();
        Failure::new("utf8", format!("standard input is not text: byte {at} is not UTF-8"))
    })
}

impl Verdict {
    fn of(op: &Movement, before: &ShapeTracker, after: &ShapeTracker) -> Verdict {
        match after.views().len().cmp(&before.views().len()) {
            Ordering::Less => Verdict::Merged,
            Ordering::Equal => Verdict::NoNewView,
            Ordering::Greater => {
                let last = &before.views()[before.views().len() - 1];
                let merged = match op {
                    Movement::AsStrided(shape, strides, offset) => View::new(shape, strides, *offset, None)
                        .map_err(Unmerged::Error)
                        .and_then(|view| merge(last, &view)),
                    _ => last.reshape(after.shape()),
                };
                Verdict::NewView(Reason::of(merged))
            }
        }
    }

    fn name(&self) -> &'static str {
        match self {
            Verdict::NoNewView => "no_new_view",
            Verdict::Merged => "merged",
            Verdict::NewView(_) => "new_view",
        }
    }

    fn reason(&self) -> Option<&Reason> {
        match self {
            Verdict::NewView(reason) => reason.as_ref(),
            _ => None,
        }
    }
}

impl Reason {
    fn of(merged: Result<View, Unmerged>) -> Option<Reason> {
        let unmerged = merged.err()?;
        let witness = if let Unmerged::Witness(witness) = &unmerged { witness_json(witness) } else { Value::Null };
        Some(Reason { sentence: unmerged.to_string(), witness })
    }
}

impl Explained {
    fn result(&self) -> &ShapeTracker {
        &self.trackers[self.trackers.len() - 1]
    }

    fn text(&self) -> String {
        let result = self.result();
        let mut text = self.operations();
        text += &match result.views().len() {
            1 => format!("\n{GOOD}One view{GOOD:#}\n"),
            views => format!("\n{BAD}{views} views{BAD:#}, the first next to memory\n"),
        };
        text += &table::views(result.views());
        if let Some(reason) = &self.reason {
            let said = |verdict: &Verdict| verdict.reason().is_some_and(|said| said.sentence == reason.sentence);
            let why = if self.verdicts.iter().any(said) {
                ", for the reason above"
            } else {
                &format!(": {}", reason.sentence)
            };
            text += &paragraph(&format!("They cannot be one{why}."), 2);
        }
        let contiguous = if result.is_contiguous() { "contiguous" } else { "not contiguous" };
        let elements = count(result.numel(), "element");
        let buffer = match result.buffer_len() {
            Ok(len) => format!("over a buffer of {len}"),
            Err(err) => err.to_string(),
        };
        text += &paragraph(&format!("{elements}, {contiguous}, {buffer}"), 2);
        let grid = grid::grid(result);
        if !grid.is_empty() {
            text += &format!("\n{grid}");
        }
        text
    }

    /// A line for the start of the chain and one for each operation: the text, the shape that comes of it, the verdict.
    fn operations(&self) -> String {
        let start = match self.chain.start() {
            Start::Views(views) => format!("a stack of {}", count(views.len() as i64, "view")),
            _ => tuple(self.trackers[0].shape()),
        };
        let ops: Vec<String> = self.chain.ops().iter().map(|op| format!(".{op}")).collect();
        let shapes: Vec<String> = self.trackers[1..].iter().map(|tracker| tuple(tracker.shape())).collect();
        let longest = |texts: &[String]| texts.iter().map(String::len).max().unwrap_or(0);
        // The columns line up where there is room; a long operation pushes its own verdict to the right.
        let op_width = longest(&ops).min(width().saturating_sub(20 + longest(&shapes).min(30)));
        let shape_width = longest(&shapes).min(30);
        let mut text = format!("{BOLD}{start}{BOLD:#}\n");
        for ((op, shape), verdict) in ops.iter().zip(&shapes).zip(&self.verdicts) {
            let (name, style) = match verdict {
                Verdict::NoNewView => ("no new view", DIM),
                Verdict::Merged => ("merged", GOOD),
                Verdict::NewView(_) => ("new view", BAD),
            };
            let colon = if verdict.reason().is_some() { ":" } else { "" };
            text += &format!("  {op:op_width$}  {DIM}{shape:shape_width$}{DIM:#}  {style}{name}{style:#}{colon}\n");
            if let Some(reason) = verdict.reason() {
                text += &paragraph(&format!("because {}", reason.sentence), 6);
            }
        }
        text
    }

    fn json(&self) -> Value {
        let result = self.result();
        let ops = self.chain.ops().iter().zip(&self.trackers[1..]).zip(&self.verdicts);
        let steps = ops.map(|((op, tracker), verdict)| {
            json!({
                "op": op,
                "text": op.to_string(),
                "shape": tracker.shape(),
                "views": tracker.views().len(),
                "verdict": verdict.name(),
                "reason": verdict.reason().map(|reason| &reason.sentence),
                "witness": verdict.reason().map(|reason| &reason.witness),
            })
        });
        json!({
            "chain": self.chain.to_string(),
            "steps": steps.collect::<Vec<_>>(),
            "shape": result.shape(),
            "views": views_json(result.views()),
            "reason": self.reason.as_ref().map(|reason| &reason.sentence),
            "witness": self.reason.as_ref().map(|reason| &reason.witness),
            "contiguous": result.is_contiguous(),
            "buffer_len": result.buffer_len().ok(),
            "addresses": grid::addresses(result),
        })
    }
}
