//! A chain as far as it can be read and done: its operations, what each does to the views, and the layout that results.

use shapetracker::{Chain, ChainProgress, ChainStart, ShapeTracker, Unanswered, Unmerged, Verdict};

use crate::fault::{Fault, utf16};
use crate::json::{Value, object};
use crate::request::Fields as _;

/// A chain of more operations is refused: nobody writes one, and each operation is a part of the answer.
const MOST_STEPS: usize = 1000;

pub(crate) fn chain(request: &Value) -> Result<Value, Fault> {
    let text = request.text("text").map_err(|fault| fault.in_field("chain"))?;
    let base = request.numbers_or_none("base")?;
    let (chain, unread) = Chain::read_from(text, base.as_deref());
    if chain.ops().len() > MOST_STEPS {
        let message =
            format!("the chain has {} operations, more than the {MOST_STEPS} that are done", chain.ops().len());
        return Err(Fault::limit(message).at("chain", text, chain.span(MOST_STEPS)));
    }
    let from_outside = base.as_deref().filter(|_| chain.start() == &ChainStart::Nothing);
    // Where not even the start can be read, nothing is known that could be done.
    let named = chain.start_name().is_some() && base.is_some();
    let nothing = chain.start() == &ChainStart::Nothing && chain.ops().is_empty() && !named;
    let lost = unread.is_some() && nothing;
    let progress = (!lost).then(|| chain.progress(from_outside));
    let why = progress.as_ref().and_then(ChainProgress::reason);
    let copied = |progress: &ChainProgress| progress.verdicts.iter().rev().find_map(Verdict::copies);
    let buffer_len = progress.as_ref().and_then(copied).or_else(|| chain.base_len(from_outside));
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
        "result": trackers.last().map(|tracker| result(tracker, buffer_len, why.as_ref())),
    })
}

fn span(text: &str, bytes: std::ops::Range<usize>) -> Value {
    let span = utf16(text, bytes);
    Value::List(vec![span.start.into(), span.end.into()])
}

fn start(chain: &Chain, text: &str, base: Option<&[i64]>, trackers: &[ShapeTracker]) -> Value {
    let kind = match chain.start() {
        ChainStart::Nothing if base.is_some() => "base",
        start => start.name(),
    };
    let bytes = chain.start_span();
    object! {
        "kind": kind,
        "span": span(text, bytes.clone()),
        "shape": trackers.first().map(|tracker| Value::from(tracker.shape())),
        "text": text.get(bytes).unwrap_or_default(),
        "name": chain.start_name(),
        "modes": chain.modes().map(|modes| modes.iter().map(|sizes| Value::from(&sizes[..])).collect::<Value>()),
    }
}

/// An operation as it is written, and as it would be in our own notation.
fn operation(chain: &Chain, text: &str, number: usize) -> Value {
    let op = &chain.ops()[number];
    let bytes = chain.span(number);
    object! {
        "name": op.name(),
        "arguments": op.arguments().to_string(),
        "text": op.to_string(),
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
        .with("reason", verdict.reason())
        .with("copies", verdict.copies())
}

/// The layout that results; of its buffer the chain may know how many elements it has.
fn result(tracker: &ShapeTracker, known: Option<i64>, why: Option<&Unmerged>) -> Value {
    let buffer_len = known.map_or_else(|| tracker.buffer_len(), Ok);
    object! {
        "shape": tracker.shape(),
        "numel": tracker.numel(),
        "views": tracker.views().iter().map(|view| Value::from(view).with("text", view.to_string())).collect::<Value>(),
        "contiguous": tracker.is_contiguous(),
        "address_range": tracker.address_range().ok().flatten(),
        "buffer_len": buffer_len.as_ref().ok().copied(),
        "buffer_known": known.is_some(),
        "buffer_note": buffer_len.as_ref().err().map(Unanswered::reason),
        "reason": why,
        "tracker": tracker.to_string(),
    }
}
