//! A chain as far as it can be read and done: its operations, what each does to the views, and the layout that results.

use shapetracker::{Buffer, Chain, ChainProgress, ChainStart, Stored, Unanswered, Unmerged, Verdict};

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
    let (tensors, verdicts, undone) =
        progress.map_or_else(Default::default, |ChainProgress { steps, verdicts, error, .. }| (steps, verdicts, error));
    let step_unread = || (!lost).then_some(chain.ops().len());
    let error = undone
        .map(|err| Fault::chain(&err, text))
        .or_else(|| unread.map(|err| Fault::syntax(&err, "chain", text).in_step(step_unread())));
    let done = tensors.iter().skip(1).zip(&verdicts).enumerate();
    let steps: Value = done.map(|(number, (after, verdict))| step(&chain, text, number, after, verdict)).collect();
    let rest = tensors.len().saturating_sub(1)..chain.ops().len();
    let rest: Value = rest.map(|number| operation(&chain, text, number)).collect();
    Ok(object! {
        "canonical": chain.to_string(),
        "start": start(&chain, text, from_outside, &tensors),
        "steps": steps,
        "rest": rest,
        "error": error.map(|error| error.json()),
        "result": tensors.last().map(|last| result(last, chain.base_len(from_outside), why.as_ref())),
    })
}

fn span(text: &str, bytes: std::ops::Range<usize>) -> Value {
    let span = utf16(text, bytes);
    Value::List(vec![span.start.into(), span.end.into()])
}

fn start(chain: &Chain, text: &str, base: Option<&[i64]>, tensors: &[Stored]) -> Value {
    let kind = match chain.start() {
        ChainStart::Nothing if base.is_some() => "base",
        start => start.name(),
    };
    let bytes = chain.start_span();
    object! {
        "kind": kind,
        "span": span(text, bytes.clone()),
        "shape": tensors.first().map(|tensor| Value::from(tensor.shape())),
        "strides": tensors.first().map(strides),
        "text": text.get(bytes).unwrap_or_default(),
        "name": chain.start_name(),
        "library": chain.library().map(|library| library.name()),
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
fn step(chain: &Chain, text: &str, number: usize, after: &Stored, verdict: &Verdict) -> Value {
    operation(chain, text, number)
        .with("shape", after.shape())
        .with("strides", strides(after))
        .with("views", after.over_newest().views().len())
        .with("verdict", verdict.name())
        .with("reason", verdict.reason())
        .with("copies", verdict.copies())
}

/// How far a step along each axis goes in the newest buffer; nothing where several views say it.
fn strides(tensor: &Stored) -> Value {
    tensor.over_newest().as_view().map(|view| Value::from(view.strides())).into()
}

/// The layout that results, in the newest buffer; of the base the chain may know how many elements it has.
fn result(last: &Stored, base: Option<i64>, why: Option<&Unmerged>) -> Value {
    let (tracker, copy) = (last.over_newest(), copy(last));
    let known = copy.map_or(base, |(_, elements)| Some(elements));
    let buffer_len = known.map_or_else(|| tracker.buffer_len(), Ok);
    object! {
        "shape": tracker.shape(),
        "numel": tracker.numel(),
        "views": tracker.views().iter().map(|view| Value::from(view).with("text", view.to_string())).collect::<Value>(),
        "contiguous": tracker.is_contiguous(),
        "address_range": tracker.address_range().ok().flatten(),
        "buffer": copy.map(|(op, _)| Value::from(op)),
        "buffer_len": buffer_len.as_ref().ok().copied(),
        "buffer_known": known.is_some(),
        "buffer_note": buffer_len.as_ref().err().map(Unanswered::reason),
        "reason": why,
        "tracker": tracker.to_string(),
    }
}

/// The operation that made the buffer of a tensor, and how many elements it copied; nothing where that is the base.
fn copy(tensor: &Stored) -> Option<(usize, i64)> {
    match tensor.buffer() {
        Buffer::Copy { op, elements } => Some((op, elements)),
        _ => None,
    }
}
