//! `shapetracker explain`: what each operation of a chain does to the stack of views, and how to read an element of the
//! result.

use std::io::{self, Write};

use serde_json::{Value, json};
use shapetracker::advice::{Advice, LibraryAdvice};
use shapetracker::describe::describe;
use shapetracker::expr::{IndexExpr, Syntax};
use shapetracker::json::{self, Value as Document};
use shapetracker::{AffineMap, Buffer, Chain, ChainStart, Error, MovementKind, ShapeTracker, Unmerged, Verdict};

use crate::answer::{Answer, BAD, BOLD, DIM, Failure, GOOD, count, paragraph, sentence, tuple, width, witness_json};
use crate::input::text_of;
use crate::symbolic::{self, HELP, Where};
use crate::{grid, shown, table};

#[derive(clap::Args)]
#[command(after_help = after_help())]
pub(crate) struct Args {
    /// The chain, such as "(3, 2).permute(1, 0)"; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    chain: String,
    #[command(flatten)]
    names: Where,
}

/// What is explained: a chain of numbers, or one whose sizes are names.
pub(crate) enum Told {
    Numbers(Explained),
    Names(Answer),
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
  shapetracker explain '(B, T, H*D).reshape(B, T, H, D).permute(0, 2, 1, 3).reshape(B*H, T, D)' --where T=1..4097

Operations: {}. A chain may also begin with views, the first next to memory. {HELP}

With --json: chain, steps (op, text, shape, views, verdict: no_new_view, merged, new_view or copied, copies: how many \
elements with copied, reason, witness), shape, \
views, reason and witness (when they are several), affine (strides and offset of the one affine map that gives \
every address, or null), contiguous (row-major without gaps, from whatever address on), buffer (of which all addresses \
are: null for the base, or op, the number of the step that copied last, and elements, how many it copied), buffer_len, \
outside (only where addresses are below 0, of which there is no code: a sentence), index and valid (Python), \
cost (ops, divmods: those not by a power of two, weight), addresses (row-major, \
null where masked; null when there are more than 256), copy (elements, of, smallest, sentence: the least that must be copied, \
or null), libraries (library, name, does: view, copies, raises, refuses or undecided, sentence, code, copied: pairs of the \
number of an operation and of elements; null of a chain of more than {MOST_ADVISED} operations). With names: chain, steps (text, \
shape, views, needs), scope, shape, views, needs, the fields of `merge` from kind on, index, valid, cost, libraries (and in it unless).",
        operations.join(", ")
    )
}

/// Of a chain of more operations nothing is advised.
const MOST_ADVISED: usize = 1000;

/// What is known of a chain, from which both forms of the answer are written.
pub(crate) struct Explained {
    chain: Chain,
    steps: Steps,
    /// The tracker after all operations, over the newest buffer.
    result: ShapeTracker,
    /// Which buffer that is.
    buffer: Buffer,
    /// Why the views of the result are not one view; `None` if there is only one.
    reason: Option<Unmerged>,
    /// The one affine map that gives the address of every element that has one, where it was found.
    affine: Option<AffineMap>,
    /// The index expression of the result.
    code: Result<IndexExpr, Error>,
}

/// What is said of each operation: a chain may have very many, so that the trackers themselves are not kept.
#[derive(Default)]
struct Steps {
    /// The shape before any operation.
    start: Vec<i64>,
    rows: Vec<Row>,
    /// The sizes of the shapes after the operations, one after the other.
    sizes: Vec<i64>,
    /// Why there is a new view, for each operation that needed one.
    reasons: Vec<Unmerged>,
}

/// What one operation did, and how many sizes and reasons there are up to it.
struct Row {
    /// The place of the verdict's name among [`NAMES`].
    verdict: u8,
    views: u16,
    sizes: u32,
    reasons: u32,
}

/// The names of the verdicts.
const NAMES: [&str; 4] = ["no_new_view", "merged", "new_view", "copied"];

impl Steps {
    fn push(&mut self, tracker: &ShapeTracker, verdict: Option<&Verdict>) {
        let Some(verdict) = verdict else { return self.start = tracker.shape().to_vec() };
        self.sizes.extend(tracker.shape());
        self.reasons.extend(verdict.reason().cloned());
        self.rows.push(Row {
            verdict: NAMES.iter().position(|name| *name == verdict.name()).unwrap_or_default() as u8,
            views: tracker.views().len() as u16,
            sizes: self.sizes.len() as u32,
            reasons: self.reasons.len() as u32,
        });
    }

    /// For each operation the name of the verdict, the number of views, the shape, and the reason for a new view.
    fn iter(&self) -> impl Iterator<Item = (&'static str, u16, &[i64], Option<&Unmerged>)> {
        let (mut sizes, mut reasons) = (0, 0);
        self.rows.iter().map(move |row| {
            let shape = &self.sizes[sizes..row.sizes as usize];
            let reason = self.reasons[reasons..row.reasons as usize].first();
            (sizes, reasons) = (row.sizes as usize, row.reasons as usize);
            (NAMES[usize::from(row.verdict)], row.views, shape, reason)
        })
    }
}

pub(crate) fn explain(args: &Args) -> Result<Told, Failure> {
    let text = text_of(&args.chain)?;
    args.names.answer(
        || Ok(Told::Numbers(of_numbers(&text)?)),
        |question| {
            let chain = question.chain(&text)?;
            Ok(Told::Names(symbolic::explain(&chain, &symbolic::scope(question)?)?))
        },
    )
}

fn of_numbers(text: &str) -> Result<Explained, Failure> {
    let chain: Chain = text.parse()?;
    let (mut steps, mut last) = (Steps::default(), None::<Verdict>);
    let end = chain.follow(None, |step, verdict| {
        steps.push(step.over_newest(), verdict.as_ref());
        last = verdict;
    })?;
    let (result, buffer) = (end.over_newest().clone(), end.buffer());
    let reason = Verdict::why_several_views(last.as_ref(), &result);
    let (affine, code) = (result.access().ok().and_then(|access| access.affine()), result.index_expr());
    Ok(Explained { chain, steps, result, buffer, reason, affine, code })
}

impl Explained {
    /// The condition under which an element has an address, as text.
    fn valid(&self) -> Option<String> {
        let code = self.code.as_ref().ok()?;
        code.graph().text(code.valid(), Syntax::Python).ok()
    }

    /// Writes the answer, as text or as a line of JSON; the operations one by one, of which there may be very many.
    pub(crate) fn write(&self, json: bool, to: &mut impl Write) -> io::Result<()> {
        if json {
            return self.write_json(to);
        }
        self.write_operations(to)?;
        to.write_all(self.text().as_bytes())
    }

    /// What is said of the result.
    fn text(&self) -> String {
        let result = &self.result;
        let mut text = match result.views().len() {
            1 => format!("\n{GOOD}One view{GOOD:#}\n"),
            views => format!("\n{BAD}{views} views{BAD:#}, the first next to memory\n"),
        };
        text += &table::views(result.views());
        if let Some(reason) = &self.reason {
            let sentence = reason.to_string();
            // The last operation that appended a view may have printed the same sentence.
            let printed = self.steps.reasons.iter().any(|reason| reason.to_string() == sentence);
            let why = if printed { ", for the reason above" } else { &format!(": {sentence}") };
            text += &paragraph(&format!("They cannot be one{why}."), 2);
            if let Some((map, valid)) = self.affine.as_ref().zip(self.valid()) {
                let valid = if valid == "True" { "everywhere".to_owned() } else { format!("where {valid}") };
                text += &paragraph(&format!("Yet they are one affine map, {map}, valid {valid}."), 2);
            }
        }
        let contiguous = if result.is_contiguous() { "contiguous" } else { "not contiguous" };
        let elements = count(result.numel(), "element");
        let copy = self.chain.copy_in_words(self.buffer);
        let len = match self.buffer {
            Buffer::Copy { elements, .. } => Some(elements),
            _ => self.chain.base_len(None),
        };
        let named = |len: i64| copy.clone().unwrap_or_else(|| format!("a buffer of {len}"));
        let buffer = match (len, result.buffer_len()) {
            (Some(len), Ok(read)) if read == 0 && len > 0 => {
                format!("over {}, of which nothing is read", named(len))
            }
            (Some(len), Ok(read)) if read < len => {
                format!("over {}, of which nothing is read from address {read} on", named(len))
            }
            (Some(len), _) => format!("over {}", named(len)),
            (None, Ok(len)) => format!("over a buffer of at least {len}"),
            (None, Err(err)) => err.reason(),
        };
        text += &paragraph(&format!("{elements}, {contiguous}, {buffer}"), 2);
        let description = describe(result, None);
        let lies = description.lines().into_iter().filter(|line| match line.topic {
            "order" => !result.is_contiguous(),
            "writing" => matches!(description.collision, Ok(Some(_))),
            _ => false,
        });
        text += &lies.map(|line| paragraph(&sentence(&line.text), 2)).collect::<String>();
        text += &self.advice_text();
        let into = copy.map_or_else(String::new, |copy| format!(" into {copy}"));
        text += &format!(
            "\n{BOLD}Index expression{into}{BOLD:#}\n{}",
            shown::expression(self.code.as_ref().map_err(Error::to_string))
        );
        let grid = grid::grid(result);
        if !grid.is_empty() {
            text += &format!("\n{grid}");
        }
        text
    }

    /// What PyTorch and NumPy do, and the least copy; nothing of a very long chain: it keeps the tracker after every operation.
    fn advice(&self) -> Option<Advice> {
        let chain = Some(&self.chain).filter(|chain| chain.ops().len() <= MOST_ADVISED)?;
        chain.advice_knowing(None, self.reason.clone()).ok()
    }

    /// What PyTorch and NumPy copy, the least that must be copied, and what to write; nothing where there is nothing to
    /// write instead.
    fn advice_text(&self) -> String {
        let Some(advice) = self.advice() else { return String::new() };
        if advice.libraries.iter().all(|found| found.copied.is_empty() || found.code.is_none()) {
            return String::new();
        }
        let told = |found: &LibraryAdvice| (found.library, found.sentence.clone(), found.code.clone());
        shown::with_arrays(advice.copy.map(|copy| copy.to_string()), advice.libraries.iter().map(told))
    }

    /// A line for the start of the chain and one for each operation: the text, the shape that comes of it, the verdict.
    fn write_operations(&self, to: &mut impl Write) -> io::Result<()> {
        let start = match self.chain.start() {
            ChainStart::Views(views) => format!("a stack of {}", count(views.len() as i64, "view")),
            _ => tuple(&self.steps.start),
        };
        let ops = || self.chain.ops().iter().map(|op| format!(".{op}"));
        let longest = |texts: &mut dyn Iterator<Item = String>| texts.map(|text| text.len()).max().unwrap_or(0);
        // The columns line up where there is room; a long operation pushes its own verdict to the right.
        let shape_width = longest(&mut self.steps.iter().map(|(_, _, shape, _)| tuple(shape))).min(30);
        let op_width = longest(&mut ops()).min(width().saturating_sub(20 + shape_width));
        writeln!(to, "{BOLD}{start}{BOLD:#}")?;
        for (op, (verdict, _, shape, reason)) in ops().zip(self.steps.iter()) {
            let copies = copies(verdict, shape).map(|elements| format!("copies {}", count(elements, "element")));
            let (name, style) = match verdict {
                "no_new_view" => ("no new view", DIM),
                "merged" => ("merged", GOOD),
                _ => (copies.as_deref().unwrap_or("new view"), BAD),
            };
            let (shape, colon) = (tuple(shape), if reason.is_some() { ":" } else { "" });
            writeln!(to, "  {op:op_width$}  {DIM}{shape:shape_width$}{DIM:#}  {style}{name}{style:#}{colon}")?;
            if let Some(reason) = reason {
                to.write_all(paragraph(&format!("because {reason}"), 6).as_bytes())?;
            }
        }
        Ok(())
    }

    fn write_json(&self, to: &mut impl Write) -> io::Result<()> {
        let result = &self.result;
        let code = self.code.as_ref().ok();
        let index = code.and_then(|code| code.graph().text(code.index(), Syntax::Python).ok());
        let advice = self.advice();
        let library = |found: &LibraryAdvice| {
            let copied =
                found.copied.iter().map(|(op, elements)| Document::from((*op as i64, *elements))).collect::<Document>();
            json::library(found.library, found.does, &found.sentence, found.code.as_deref()).with("copied", copied)
        };
        let mut rest = json!({
            "shape": result.shape(),
            "views": result.views(),
            "reason": self.reason.as_ref().map(ToString::to_string),
            "witness": self.reason.as_ref().and_then(Unmerged::witness).map(witness_json),
            "affine": self.affine.as_ref().map(|map| json!({ "strides": map.strides(), "offset": map.offset() })),
            "contiguous": result.is_contiguous(),
            "buffer": match self.buffer {
                Buffer::Copy { op, elements } => json!({ "op": op, "elements": elements }),
                _ => Value::Null,
            },
            "buffer_len": result.buffer_len().ok(),
            "index": index,
            "valid": self.valid(),
            "cost": code.map(|code| Document::from(code.cost())),
            "addresses": grid::addresses(result),
            "copy": advice.as_ref().and_then(|advice| advice.copy.as_ref()).map(Document::from),
            "libraries": advice.as_ref().map(|advice| advice.libraries.iter().map(library).collect::<Document>()),
        });
        if let Err(err) = result.fits_buffer(None) {
            rest["outside"] = json!(err.reason());
        }
        // A document of all steps would take a hundred times the memory that the steps do.
        write!(to, "{{\"chain\":{},\"steps\":[", json!(self.chain.to_string()))?;
        for (number, (op, (verdict, views, shape, reason))) in
            self.chain.ops().iter().zip(self.steps.iter()).enumerate()
        {
            let step = json!({
                "op": op,
                "text": op.to_string(),
                "shape": shape,
                "views": views,
                "verdict": verdict,
                "copies": copies(verdict, shape),
                "reason": reason.map(ToString::to_string),
                "witness": reason.and_then(Unmerged::witness).map(witness_json),
            });
            let comma = if number > 0 { "," } else { "" };
            write!(to, "{comma}{step}")?;
        }
        // The other fields go on in the same object.
        writeln!(to, "],{}", &rest.to_string()[1..])
    }
}

/// How many elements an operation with such a verdict copied, if it copied any: all of its result.
fn copies(verdict: &str, shape: &[i64]) -> Option<i64> {
    (verdict == "copied").then(|| shape.iter().product())
}
