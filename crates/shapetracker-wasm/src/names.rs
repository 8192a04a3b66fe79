//! Chains whose sizes are names: for which values they are one view, and the chain with values in their place.

use std::sync::Arc;

use shapetracker_symbolic::{LibraryAdvice, Question, Scope, ShapeTracker};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::named;
use crate::request::Fields as _;

pub(crate) fn names(request: &Value) -> Result<Value, Fault> {
    let text = request.text("text").map_err(|fault| fault.in_field("chain"))?;
    let given = request.text("where").map_err(|fault| fault.in_field("where"))?;
    let of_names = |err| Fault::syntax(&err, "where", given);
    let mut question = Question::new([given]).map_err(of_names)?;
    let chain = question.chain(text).map_err(|err| Fault::syntax(&err, "chain", text))?;
    let scope = Arc::new(question.scope().map_err(of_names)?);
    let advice = chain
        .advice(&scope)
        .map_err(|err| Fault::new(err.name(), err.message()).at("chain", text, err.place().span()).in_step(err.op()))?;
    let (tracker, answer) = (&advice.tracker, &advice.answer);

    let named = &scope.names()[..scope.names().len() - scope.quotients().len()];
    let fixed = named::fixed(request, named);
    let (values, note) = match tracker.example(answer, &fixed) {
        Some(values) => (values, None),
        None => {
            let values = named::least(named, &fixed);
            let why = point(tracker, &values).err();
            (values, why.or_else(|| Some("no values were found that meet what is said of the names".into())))
        }
    };
    let instance = match note {
        Some(_) => None,
        None => chain.at(&values.iter().map(|&value| value.into()).collect::<Vec<i128>>()),
    };
    let views = tracker.views().iter().map(|view| Value::from(view.text(&scope)));
    let witness = answer.counterexample().map(|found| {
        let values = named.iter().zip(&found.values);
        let values =
            values.map(|(name, &value)| (name.name.to_string(), named::bound(Some(value)).unwrap_or(Value::Null)));
        object! { "values": Value::Object(values.collect()), "sentence": found.witness.to_string() }
    });
    let told = |found: &LibraryAdvice| {
        shapetracker::json::library(found.library, found.does, &found.sentence, found.code.as_deref())
    };
    let shape: Vec<String> = tracker.shape().iter().map(|size| scope.text(size)).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    Ok(object! {
        "library": chain.library().map(|library| library.name()),
        "names": named::listed(named, &values),
        "kind": answer.kind(),
        "sentence": answer.sentence(&scope),
        "shape": format!("({}{comma})", shape.join(", ")),
        "views": views.collect::<Value>(),
        "witness": witness,
        "libraries": advice.libraries.iter().map(told).collect::<Value>(),
        "instance": instance,
        "instance_note": note,
    })
}

/// The tracker at values, one for each name; or why there is none.
fn point(tracker: &ShapeTracker, values: &[i64]) -> Result<shapetracker::ShapeTracker, String> {
    let scope: &Scope = tracker.scope();
    let named = scope.names().iter().zip(values).map(|(name, &value)| (&*name.name, value));
    tracker.at(named).map_err(|err| err.reason())
}
