//! A chain as far as it can be read and done: its operations, what each does to the views, and what is left.

use std::fmt::Display;

use shapetracker::{Chain, ChainProgress, ShapeTracker, Start, Unmerged, Verdict, View, Witness};

use crate::expression;
use crate::fault::{Fault, utf16};
use crate::json::{Value, object};

/// A chain of more operations is noise.
const MOST_STEPS: usize = 1000;

pub(crate) fn chain(request: &Value) -> Result<Value, Fault> {
    let text = request.text("text").map_err(|fault| fault.in_field("chain"))?;
    let base = request.numbers_or_none("base")?;
    let (chain, unread) = Chain::read(text);
    if chain.ops().len() > MOST_STEPS {
        let message =
            format!("the chain has {} operations, more than the {MOST_STEPS} that are done", chain.ops().len());
        return Err(Fault::limit(message).at("chain", text, chain.span(MOST_STEPS)));
    }
    let from_outside = base.as_deref().filter(|_| chain.start() == &Start::Nothing);
    // Where not even the start can be read, nothing is known that could be done.
    let lost = unread.as_ref().is_some_and(|_| chain.start() == &Start::Nothing && chain.ops().is_empty());
    let progress = (!lost).then(|| chain.progress(from_outside));
    let why = progress.as_ref().and_then(ChainProgress::reason);
    let (trackers, verdicts, undone) = progress
        .map_or_else(Default::default, |ChainProgress { trackers, verdicts, error, .. }| (trackers, verdicts, error));
    let step_unread = || (!lost).then_some(chain.ops().len());
    let error = undone
        .map(|err| Fault::chain(&err, text))
        .or_else(|| unread.map(|err| Fault::syntax(&err, "chain", text).in_step(step_unread())));
    let done = trackers.iter().skip(1).zip(&verdicts).enumerate();
    let steps: Value = done.map(|(number, (after, verdict))| step(&chain, text, number, after, verdict)).collect();
    let rest = trackers.len().saturating_sub(1)..chain.ops().len();
    let rest: Value = rest.map(|number| operation(&chain, text, number)).collect();
    Ok(object! {
        "canonical": chain.to_string(),
        "start": start(&chain, text, from_outside, &trackers),
        "steps": steps,
        "rest": rest,
        "error": error.map(|error| error.json()),
        "result": trackers.last().map(|tracker| result(tracker, why.as_ref())),
    })
}

fn span(text: &str, bytes: std::ops::Range<usize>) -> Value {
    let span = utf16(text, bytes);
    Value::List(vec![span.start.into(), span.end.into()])
}

fn start(chain: &Chain, text: &str, base: Option<&[i64]>, trackers: &[ShapeTracker]) -> Value {
    let kind = match chain.start() {
        Start::Nothing if base.is_some() => "base",
        Start::Nothing => "nothing",
        Start::Shape(_) => "shape",
        Start::Views(_) => "views",
    };
    let bytes = chain.start_span();
    object! {
        "kind": kind,
        "span": span(text, bytes.clone()),
        "shape": trackers.first().map(|tracker| Value::from(tracker.shape())),
        "text": text.get(bytes).unwrap_or_default(),
    }
}

/// An operation as it is written, and as it would be in our own notation.
fn operation(chain: &Chain, text: &str, number: usize) -> Value {
    let op = &chain.ops()[number];
    let own = op.to_string();
    let arguments = own.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')')).unwrap_or_default();
    let bytes = chain.span(number);
    object! {
        "name": op.name(),
        "arguments": arguments,
        "text": own.as_str(),
        "written": text.get(bytes.clone()).unwrap_or_default(),
        "span": span(text, bytes),
    }
}

/// An operation that was done, and what became of the views.
fn step(chain: &Chain, text: &str, number: usize, after: &ShapeTracker, verdict: &Verdict) -> Value {
    operation(chain, text, number)
        .with("shape", after.shape())
        .with("views", after.views().len())
        .with("verdict", verdict.name())
        .with("reason", verdict.reason().map(reason))
}

fn reason(unmerged: &Unmerged) -> Value {
    let witness = if let Unmerged::Witness(witness) = unmerged { Some(witness_json(witness)) } else { None };
    object! { "sentence": unmerged.to_string(), "witness": witness }
}

fn witness_json(witness: &Witness) -> Value {
    match witness {
        Witness::UnevenStep { axis, steps } => {
            let steps = steps.iter().map(|step| {
                let mut next = step.index.clone();
                next[*axis] += 1;
                let moved = i128::from(step.to) - i128::from(step.from);
                let moved = i64::try_from(moved).map_or_else(|_| Value::from(moved.to_string()), Value::from);
                object! { "index": &step.index[..], "next": &next[..], "from": step.from, "to": step.to, "moved": moved }
            });
            object! { "kind": "uneven_step", "axis": *axis, "steps": steps.collect::<Value>() }
        }
        Witness::NotABox { valid: [a, b], invalid } => object! {
            "kind": "not_a_box",
            "valid": Value::List(vec![a[..].into(), b[..].into()]),
            "invalid": &invalid[..],
        },
        other => object! { "kind": "other", "sentence": other.to_string() },
    }
}

/// A view as an object.
pub(crate) fn view_json(view: &View) -> Value {
    object! {
        "shape": view.shape(),
        "strides": view.strides(),
        "offset": view.offset(),
        "mask": view.mask().map(|mask| mask.iter().map(|range| Value::from(*range)).collect::<Value>()),
        "text": view.to_string(),
    }
}

/// An answer, or none with the sentence that says why.
fn or_note<T, E: Display>(answer: Result<T, E>) -> (Option<T>, Option<String>) {
    match answer {
        Ok(answer) => (Some(answer), None),
        // The name of the function that could not answer means nothing to whoever reads the page.
        Err(err) => (None, Some(err.to_string().trim_start_matches("index_expr: ").to_owned())),
    }
}

fn result(tracker: &ShapeTracker, why: Option<&Unmerged>) -> Value {
    let (buffer_len, buffer_note) = or_note(tracker.buffer_len());
    let (expression, expression_note) = or_note(tracker.index_expr());
    object! {
        "shape": tracker.shape(),
        "numel": tracker.numel(),
        "views": tracker.views().iter().map(view_json).collect::<Value>(),
        "contiguous": tracker.is_contiguous(),
        "consecutive": tracker.is_consecutive(),
        "address_range": tracker.address_range().ok().flatten(),
        "buffer_len": buffer_len,
        "buffer_note": buffer_note,
        "reason": why.map(reason),
        "expression": expression.map(|code| expression::json(code.graph(), [code.index(), code.valid()])),
        "expression_note": expression_note,
        "tracker": tracker.to_string(),
    }
}
