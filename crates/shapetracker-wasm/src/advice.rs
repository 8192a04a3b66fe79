//! The question that people come with: is this still one view, and if not, what is the least to copy?

use shapetracker::advice::{Advice, LibraryAdvice};
use shapetracker::{ArrayLibrary, ChainStart, View, text::tuple};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::layout::read;
use crate::request::Fields as _;

pub(crate) fn advice(request: &Value) -> Result<Value, Fault> {
    let source = request.object("source")?;
    if source.get("chain").is_none() {
        return Ok(object! {
            "one_view": Value::Null, "sentence": "Whether this is one view was not decided", "view": Value::Null,
            "reason": Value::Null, "step": Value::Null, "copy": Value::Null, "libraries": Value::List(Vec::new()),
            "note": "expressions are not yet decided",
        });
    }
    let text = source.text("chain").map_err(|fault| fault.in_field("chain"))?;
    let base = source.numbers_or_none("base")?;
    let chain = read(text, base.as_deref())?;
    let base = base.as_deref().filter(|_| chain.start() == &ChainStart::Nothing);
    let advice = chain.advice(base).map_err(|err| Fault::chain(&err, text))?;
    let view = advice.view.as_ref().ok();
    let one_view = match (&advice.view, advice.witness()) {
        (Ok(_), _) => Some(true),
        (_, Some(_)) => Some(false),
        _ => None,
    };
    let sentence = match (view, one_view) {
        (Some(view), _) => described(view),
        (None, Some(_)) => match advice.step {
            Some(step) => format!("Not one view from `{}` on", chain.ops()[step]),
            None => "Not one view".into(),
        },
        (None, None) => "Whether this is one view was not decided".into(),
    };
    let copy = advice.copy.as_ref().map(|copy| {
        let how_many = if copy.elements == copy.of {
            format!("all {}", copy.of)
        } else {
            format!("{} of {}", copy.elements, copy.of)
        };
        let sentence = if copy.is_smallest {
            format!("The least copy: {how_many} elements")
        } else {
            format!("A copy of {how_many} elements is enough")
        };
        object! { "elements": copy.elements, "of": copy.of, "smallest": copy.is_smallest, "sentence": sentence }
    });
    let written = |step: usize| text.get(chain.span(step)).unwrap_or_default().to_owned();
    Ok(object! {
        "one_view": one_view,
        "sentence": sentence,
        "view": view.map(|view| Value::from(view).with("text", view.to_string())),
        "reason": advice.view.as_ref().err(),
        "step": advice.step,
        "copy": copy,
        "libraries": advice.libraries.iter().map(|found| library(found, &advice, &written)).collect::<Value>(),
        "note": Value::Null,
    })
}

/// A view as a sentence.
fn described(view: &View) -> String {
    let mut text = format!("One view: shape {}, strides {}", tuple(view.shape()), tuple(view.strides()));
    if view.offset() != 0 {
        text += &format!(", offset {}", view.offset());
    }
    if let Some(mask) = view.mask() {
        text += &format!(", mask {}", shapetracker::text::tuple_of_pairs(mask));
    }
    text
}

fn library(found: &LibraryAdvice, advice: &Advice, written: &dyn Fn(usize) -> String) -> Value {
    let name = found.library.to_string();
    let (does, sentence) = match (&found.missing, &found.copied[..]) {
        (Some(why), _) => ("cannot", why.clone()),
        (None, []) => ("view", format!("{name} needs no copy")),
        (None, [(step, elements), ..]) => {
            let op = written(*step);
            let raises = found.library == ArrayLibrary::PyTorch && op.starts_with("view");
            if raises {
                ("raises", format!("`.{op}` raises an error; as `.reshape` it copies {elements} elements"))
            } else {
                ("copies", format!("`.{op}` copies {elements} elements"))
            }
        }
    };
    let _ = advice;
    let code = found.code.as_deref().filter(|_| !found.copied.is_empty());
    object! { "library": found.library.name(), "name": name, "does": does, "sentence": sentence, "code": code }
}
