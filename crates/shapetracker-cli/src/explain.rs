//! `shapetracker explain`: what each operation of a chain does to the stack of views, and how to read an element of the
//! result.

use serde_json::{Value, json};
use shapetracker::expr::{IndexExpr, Language, Syntax};
use shapetracker::json::Value as Document;
use shapetracker::{AffineMap, Chain, ChainProgress, ChainStart, Error, MovementKind, ShapeTracker, Unmerged, Verdict};

use crate::answer::{Answer, BAD, BOLD, DIM, Failure, GOOD, count, paragraph, tuple, width, witness_json};
use crate::code::cost_text;
use crate::input::text_of;
use crate::{grid, table};

#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The chain, such as "(3, 2).permute(1, 0)"; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    chain: String,
}

/// The end of the help text. The operations are those of the library's table.
fn after_help() -> String {
    let operations: Vec<&str> = MovementKind::ALL.iter().map(|kind| kind.name()).collect();
    format!(
        "Examples:
  shapetracker explain '(3, 2).permute(1, 0).reshape(3, 2)'
  shapetracker explain '(1, 4).expand(3, 4).step(1, -2)'
  shapetracker explain 'ShapeTracker(views=(View(shape=(2, 3), strides=(1, 2)),)).reshape(6)'
  echo '(8).reshape(2, 4).flip(0)' | shapetracker explain -

Operations: {}. A chain may also begin with views, the first next to memory.

With --json: chain, steps (op, text, shape, views, verdict: no_new_view, merged or new_view, reason, witness), shape, \
views, reason and witness (when they are several), affine (strides and offset of the one affine map that gives \
every address, or null), contiguous, buffer_len, index and valid (Python), \
cost (ops, divmods: those not by a power of two, weight), addresses (row-major, \
null where masked; null when there are more than 256).",
        operations.join(", ")
    )
}

/// An index expression with more definitions than this is only counted: it would bury the rest of the answer.
const MOST_DEFINITIONS: usize = 24;

/// What is known of a chain, from which both forms of the answer are written.
struct Explained {
    chain: Chain,
    /// The tracker before any operation, and after each.
    trackers: Vec<ShapeTracker>,
    /// What each operation did.
    verdicts: Vec<Verdict>,
    /// Why the views of the result are not one view; `None` if there is only one.
    reason: Option<Unmerged>,
    /// The one affine map that gives the address of every element that has one, where it was found.
    affine: Option<AffineMap>,
    /// The index expression of the result.
    code: Result<IndexExpr, Error>,
}

pub(crate) fn explain(args: &Args) -> Result<Answer, Failure> {
    let chain: Chain = text_of(&args.chain)?.parse()?;
    let mut progress = chain.progress(None);
    if let Some(error) = progress.error.take() {
        return Err(error.into());
    }
    let reason = progress.reason();
    let ChainProgress { trackers, verdicts, .. } = progress;
    let result = &trackers[trackers.len() - 1];
    let (affine, code) = (result.access().ok().and_then(|access| access.affine()), result.index_expr());
    let explained = Explained { chain, trackers, verdicts, reason, affine, code };
    Ok(Answer { text: explained.text(), json: explained.json(), positive: true })
}

impl Explained {
    fn result(&self) -> &ShapeTracker {
        &self.trackers[self.trackers.len() - 1]
    }

    /// The condition under which an element has an address, as text.
    fn valid(&self) -> Option<String> {
        let code = self.code.as_ref().ok()?;
        code.graph().text(code.valid(), Syntax::Python).ok()
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
            let sentence = reason.to_string();
            // The last operation that appended a view may have printed the same sentence.
            let printed = |verdict: &Verdict| verdict.reason().is_some_and(|reason| reason.to_string() == sentence);
            let printed = self.verdicts.iter().any(printed);
            let why = if printed { ", for the reason above" } else { &format!(": {sentence}") };
            text += &paragraph(&format!("They cannot be one{why}."), 2);
            if let Some((map, valid)) = self.affine.as_ref().zip(self.valid()) {
                let valid = if valid == "True" { "everywhere".to_owned() } else { format!("where {valid}") };
                text += &paragraph(&format!("Yet they are one affine map, {map}, valid {valid}."), 2);
            }
        }
        let contiguous = if result.is_contiguous() { "contiguous" } else { "not contiguous" };
        let elements = count(result.numel(), "element");
        let buffer = match result.buffer_len() {
            Ok(len) => format!("over a buffer of {len}"),
            Err(err) => err.to_string(),
        };
        text += &paragraph(&format!("{elements}, {contiguous}, {buffer}"), 2);
        text += &format!("\n{BOLD}Index expression{BOLD:#}\n{}", self.expression());
        let grid = grid::grid(result);
        if !grid.is_empty() {
            text += &format!("\n{grid}");
        }
        text
    }

    /// A line for the start of the chain and one for each operation: the text, the shape that comes of it, the verdict.
    fn operations(&self) -> String {
        let start = match self.chain.start() {
            ChainStart::Views(views) => format!("a stack of {}", count(views.len() as i64, "view")),
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
                _ => ("new view", BAD),
            };
            let colon = if verdict.reason().is_some() { ":" } else { "" };
            text += &format!("  {op:op_width$}  {DIM}{shape:shape_width$}{DIM:#}  {style}{name}{style:#}{colon}\n");
            if let Some(reason) = verdict.reason() {
                text += &paragraph(&format!("because {reason}"), 6);
            }
        }
        text
    }

    /// The index expression, a line for each name that it defines, and what it costs.
    fn expression(&self) -> String {
        let written = self.code.as_ref().map_err(Error::to_string).and_then(|code| {
            let lines = code.code(Language::Python).map_err(|err| err.to_string())?;
            Ok((lines, cost_text(code.graph(), &[code.index(), code.valid()])))
        });
        let (lines, cost) = match &written {
            Ok((lines, cost)) => (lines, cost),
            Err(message) => return paragraph(&format!("there is none: {message}"), 2),
        };
        let definitions: Vec<(&str, &str)> = lines.lines().filter_map(|line| line.split_once(" = ")).collect();
        if definitions.len() > MOST_DEFINITIONS {
            let more = format!("{} lines, which `shapetracker index` prints: {cost}", definitions.len());
            return paragraph(&more, 2);
        }
        let indent = " ".repeat(9);
        let rows = definitions.into_iter().chain([("cost", &cost[..])]).map(|(name, text)| {
            let first = format!("  {name:5}  ");
            let options = textwrap::Options::new(width()).initial_indent(&first).subsequent_indent(&indent);
            // A product is not broken.
            textwrap::fill(&text.replace(" * ", "\u{a0}*\u{a0}"), options).replace('\u{a0}', " ") + "\n"
        });
        rows.collect()
    }

    fn json(&self) -> Value {
        let result = self.result();
        let code = self.code.as_ref().ok();
        let index = code.and_then(|code| code.graph().text(code.index(), Syntax::Python).ok());
        let ops = self.chain.ops().iter().zip(&self.trackers[1..]).zip(&self.verdicts);
        let steps = ops.map(|((op, tracker), verdict)| {
            json!({
                "op": op,
                "text": op.to_string(),
                "shape": tracker.shape(),
                "views": tracker.views().len(),
                "verdict": verdict.name(),
                "reason": verdict.reason().map(ToString::to_string),
                "witness": verdict.reason().and_then(Unmerged::witness).map(witness_json),
            })
        });
        json!({
            "chain": self.chain.to_string(),
            "steps": steps.collect::<Vec<_>>(),
            "shape": result.shape(),
            "views": result.views(),
            "reason": self.reason.as_ref().map(ToString::to_string),
            "witness": self.reason.as_ref().and_then(Unmerged::witness).map(witness_json),
            "affine": self.affine.as_ref().map(|map| json!({ "strides": map.strides(), "offset": map.offset() })),
            "contiguous": result.is_contiguous(),
            "buffer_len": result.buffer_len().ok(),
            "index": index,
            "valid": self.valid(),
            "cost": code.map(|code| Document::from(code.cost())),
            "addresses": grid::addresses(result),
        })
    }
}
