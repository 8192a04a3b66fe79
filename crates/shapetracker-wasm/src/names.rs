//! Chains whose sizes are names: for which values they are one view, and the chain with values in their place.

use std::sync::Arc;

use shapetracker_symbolic::{Answer, LibraryAdvice, Name, Question, Scope, ShapeTracker};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::request::Fields as _;

/// How many choices of values are looked at for one that the question allows.
const MOST_CHOICES: usize = 1 << 9;
/// A tensor to look at has no more elements, where the question allows it.
const MOST_ELEMENTS: i64 = 1 << 12;

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
    let given = |name: &Name| request.get("values").and_then(|values| values.get(&name.name)?.as_integer());
    let fixed: Vec<Option<i64>> = named.iter().map(given).collect();
    let (values, note) = match fitting(tracker, answer, &fixed) {
        Some(values) => (values, None),
        None => {
            let least = |name: &Name| name.lo.and_then(|lo| i64::try_from(lo).ok()).unwrap_or(1);
            let values = named.iter().zip(&fixed).map(|(name, fixed)| fixed.unwrap_or_else(|| least(name)));
            let values: Vec<i64> = values.collect();
            let why = point(tracker, &values).err();
            (values, why.or_else(|| Some("no values were found that meet what is said of the names".into())))
        }
    };
    let instance = match note {
        Some(_) => None,
        None => chain.at(&values.iter().map(|&value| value.into()).collect::<Vec<i128>>()),
    };
    let bound = |bound: Option<i128>| {
        bound.map(|bound| i64::try_from(bound).map_or_else(|_| bound.to_string().into(), Value::from))
    };
    let names = named.iter().zip(&values).map(|(name, &value)| {
        let end = name.hi.and_then(|hi| hi.checked_add(1));
        object! { "name": &*name.name, "begin": bound(name.lo), "end": bound(end), "value": value }
    });
    let views = tracker.views().iter().map(|view| Value::from(view.text(&scope)));
    let witness = answer.counterexample().map(|found| {
        let values = named.iter().zip(&found.values);
        let values = values.map(|(name, &value)| (name.name.to_string(), bound(Some(value)).unwrap_or(Value::Null)));
        object! { "values": Value::Object(values.collect()), "sentence": found.witness.to_string() }
    });
    let told = |found: &LibraryAdvice| {
        shapetracker::json::library(found.library, found.does, &found.sentence, found.code.as_deref())
    };
    let shape: Vec<String> = tracker.shape().iter().map(|size| scope.text(size)).collect();
    let comma = if shape.len() == 1 { "," } else { "" };
    Ok(object! {
        "names": names.collect::<Value>(),
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

/// Values that the question allows, small and different from each other where they are not fixed; and where it is one view for
/// some values only, such for which it is not, if they can be chosen.
fn fitting(tracker: &ShapeTracker, answer: &Answer, fixed: &[Option<i64>]) -> Option<Vec<i64>> {
    let scope: &Scope = tracker.scope();
    let named = &scope.names()[..scope.names().len() - scope.quotients().len()];
    const OFFSETS: [[i128; 6]; 6] = [
        [2, 1, 3, 0, 4, 5],
        [1, 2, 0, 3, 5, 4],
        [3, 1, 2, 5, 0, 4],
        [1, 3, 5, 2, 0, 4],
        [2, 3, 1, 0, 4, 5],
        [3, 2, 4, 1, 0, 5],
    ];
    let candidates = |(place, name): (usize, &Name)| {
        if let Some(value) = fixed[place] {
            return vec![value];
        }
        let offsets = OFFSETS[place % OFFSETS.len()].into_iter().chain(6..12);
        let values = offsets.filter_map(|by| match (name.lo, name.hi) {
            (Some(lo), hi) => Some(lo + by).filter(|value| hi.is_none_or(|hi| *value <= hi)),
            (None, Some(hi)) => Some(hi - by),
            (None, None) => Some(by),
        });
        values.filter_map(|value| i64::try_from(value).ok()).collect::<Vec<i64>>()
    };
    let candidates: Vec<Vec<i64>> = named.iter().enumerate().map(candidates).collect();
    // Choices in the order of how far they are from the first one: the sum of the places among the candidates.
    let mut fallback = answer.counterexample().and_then(|found| {
        let values = found.values.iter().take(named.len()).map(|&value| i64::try_from(value).ok());
        let agree =
            |values: &Vec<i64>| values.iter().zip(fixed).all(|(value, fixed)| fixed.is_none_or(|at| at == *value));
        values.collect::<Option<Vec<i64>>>().filter(|values| agree(values) && point(tracker, values).is_ok())
    });
    let (mut looked, mut first) = (0, None);
    for sum in 0..=candidates.iter().map(|list| list.len().saturating_sub(1)).sum::<usize>() {
        let mut places = vec![0; candidates.len()];
        let mut found = None;
        spread(&candidates, 0, sum, &mut places, &mut |places| {
            looked += 1;
            let values: Vec<i64> = places.iter().zip(&candidates).map(|(&place, list)| list[place]).collect();
            if let Ok(tracker) = point(tracker, &values) {
                if tracker.numel() <= MOST_ELEMENTS && tracker.numel() > 0 {
                    let shows = answer.kind() != "formula" || tracker.single_view().is_err();
                    first.get_or_insert_with(|| values.clone());
                    if shows {
                        found = Some(values);
                        return true;
                    }
                } else {
                    fallback.get_or_insert(values);
                }
            }
            looked >= MOST_CHOICES
        });
        if found.is_some() {
            return found;
        }
        if looked >= MOST_CHOICES {
            break;
        }
    }
    first.or(fallback)
}

/// Calls `each` with all places whose sum is given, until it answers true.
fn spread(
    candidates: &[Vec<i64>],
    at: usize,
    left: usize,
    places: &mut Vec<usize>,
    each: &mut impl FnMut(&[usize]) -> bool,
) -> bool {
    if at == candidates.len() {
        return left == 0 && each(places);
    }
    (0..=left.min(candidates[at].len().saturating_sub(1))).any(|place| {
        places[at] = place;
        spread(candidates, at + 1, left - place, places, each)
    })
}
