//! The question that people come with: is this still one view, and if not, what is the least to copy?

use shapetracker::advice::{LibraryAdvice, described, one_view};
use shapetracker::{Chain, ChainStart, ShapeTracker, Unmerged, View};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::{Free, Layout, read};
use crate::request::Fields as _;

pub(crate) fn advice(request: &Value) -> Result<Value, Fault> {
    let source = request.object("source")?;
    if source.get("chain").is_none() {
        let Layout::Free(free) = Layout::of(request, "source")? else {
            return Err(Fault::request("`source` is a chain or expressions"));
        };
        return Ok(of_expressions(&free));
    }
    let text = source.text("chain").map_err(|fault| fault.in_field("chain"))?;
    let base = source.numbers_or_none("base")?;
    let chain = read(text, base.as_deref())?;
    let base = base.as_deref().filter(|_| chain.start() == &ChainStart::Nothing);
    let advice = chain.advice(base).map_err(|err| Fault::chain(&err, text))?;
    let copy = advice.copy.as_ref().map(Value::from);
    // A start that reads below address 0 is one that no array has; after it everything is checked.
    let outside = match chain.start() {
        ChainStart::Views(views) => ShapeTracker::from_views(views.clone())?.fits_buffer(None).err(),
        _ => None,
    };
    let outside = outside.map(|err| err.reason());
    Ok(answer(&advice.view, advice.sentence.clone(), advice.step, copy, &advice.libraries, outside))
}

/// Whether expressions over variables are one view, and the array that it is.
fn of_expressions(free: &Free) -> Value {
    let [index, valid] = free.simple;
    let view = one_view(&free.graph, index, valid);
    let sentence = match &view {
        Ok(view) => described(view),
        Err(Unmerged::Witness(_)) => "Not one view.".into(),
        Err(Unmerged::Error(err)) => format!("Whether this is one view is not known: {}.", err.reason()),
        Err(_) => "Whether this is one view is not known: there are too many elements to look at all of them.".into(),
    };
    // The same view as a chain that starts with it.
    let libraries = view.as_ref().ok().and_then(|view| view.to_string().parse::<Chain>().ok()?.advice(None).ok());
    let libraries = libraries.map(|advice| advice.libraries).unwrap_or_default();
    let outside = view.as_ref().ok().and_then(|view| view.fits_buffer(None).err()).map(|err| err.reason());
    answer(&view, sentence, None, None, &libraries, outside)
}

fn answer(
    view: &Result<View, Unmerged>,
    sentence: String,
    step: Option<usize>,
    copy: Option<Value>,
    libraries: &[LibraryAdvice],
    outside: Option<String>,
) -> Value {
    // What no array has, libraries can do nothing with.
    let libraries: &[LibraryAdvice] = if outside.is_some() { &[] } else { libraries };
    let one_view = match view {
        Ok(_) => Some(true),
        Err(Unmerged::Witness(_)) => Some(false),
        Err(_) => None,
    };
    let reason = view.as_ref().err().filter(|_| one_view == Some(false));
    let told = |found: &LibraryAdvice| {
        shapetracker::json::library(found.library, found.does, &found.sentence, found.code.as_deref())
    };
    object! {
        "one_view": one_view,
        "sentence": sentence,
        "view": view.as_ref().ok().map(|view| Value::from(view).with("text", view.to_string())),
        "reason": reason,
        "step": step,
        "copy": copy,
        "libraries": libraries.iter().map(told).collect::<Value>(),
        "note": outside.map(|reason| format!("{reason}: no array has it, and there is no code for it")),
    }
}
