//! Statements over several tensors: their loops, what one step of these touches, and which steps touch an element.

use shapetracker::expr::{Expr, Nest, Syntax};
use shapetracker_symbolic::{Padding, Question, StepSet, Steps};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::request::Fields as _;

pub(crate) fn nest(request: &Value) -> Result<Value, Fault> {
    let text = request.text("text").map_err(|fault| fault.in_field("chain"))?;
    let wrong = |err| Fault::syntax(&err, "chain", text);
    let mut question = Question::default();
    let statement = question.statement(text).map_err(wrong)?;
    let mut nest = statement.nest(&question.scope().map_err(wrong)?).map_err(wrong)?;
    let Some(steps) = nest.steps() else {
        let names: Vec<String> = nest.nest().parameters().iter().map(|name| format!("`{}`", name.name)).collect();
        let (verb, noun) = if names.len() == 1 { ("is", "a name of a size") } else { ("are", "names of sizes") };
        let message = format!(
            "The picture of a kernel needs numbers, and {} {verb} {noun}: write a number in place of each.",
            names.join(", ")
        );
        return Err(Fault::new("names", message).in_field("chain"));
    };
    let refused = |err: shapetracker::expr::Error| Fault::new("nest", err.reason()).in_field("chain");

    let run = steps.run();
    let mut guards = Vec::new();
    let mut accesses = Vec::new();
    for (number, access) in nest.accesses().to_vec().into_iter().enumerate() {
        let own = nest.nest();
        let valid = own.accesses().iter().find(|each| each.name == access.name).map(|each| each.valid);
        let padding = match access.padding {
            Padding::None => None,
            Padding::Skipped => Some("skipped"),
            Padding::Zero => Some("zero"),
        };
        if let (Some(padding), Some(valid)) = (padding, valid) {
            let holds = written(own, valid)?;
            guards.push(guard(padding, Some(number), &holds, steps.with_element(number)));
        }
        let layout = statement.layouts().find(|(name, _)| *name == access.buffer).map(|(_, text)| text.to_owned());
        accesses.push(object! {
            "buffer": access.buffer,
            "element": access.element,
            "written": access.is_written,
            "read": access.is_read,
            "padding": padding,
            "layout": layout,
            "shape": Value::from(steps.shape(number).unwrap_or_default()),
        });
    }
    let condition = nest.condition().and_then(|name| nest.nest().accesses().iter().find(|each| each.name == name));
    if let Some(condition) = condition.map(|condition| condition.valid) {
        let holds = written(nest.nest(), condition)?;
        guards.push(guard("condition", None, &holds, steps.meeting_condition()));
    }

    let before: Vec<(String, i64, bool)> = nest.nest().loops().iter().map(|one| sized(nest.nest(), one)).collect();
    let splits = nest.nest_mut().split_where_affine().map_err(refused)?;
    let mut after = nest.nest().loops().iter().map(|one| sized(nest.nest(), one));
    // Of each loop of the statement the sizes of those that it is split into, outermost first: its own where it is not split.
    let (mut shown, mut splits_of) = (Vec::new(), Vec::<Vec<i64>>::new());
    for (name, size, is_reduced) in before {
        let factors = splits.factors.iter().find(|(split, _)| *split == name).map_or(1, |(_, factors)| factors.len());
        let parts: Vec<(String, i64, bool)> = after.by_ref().take(factors).collect();
        let named = parts.iter().map(|(name, size, _)| object! { "name": name.clone(), "size": *size });
        shown.push(object! {
            "name": name, "size": size, "reduced": is_reduced, "parts": named.collect::<Value>(),
        });
        splits_of.push(parts.iter().map(|(_, size, _)| *size).collect());
    }

    // Along the loops that there are now.
    let loops: Vec<String> = nest.nest().loops().iter().map(|one| one.name.clone()).collect();
    let names: Vec<String> = nest.accesses().iter().map(|access| access.name.clone()).collect();
    for (access, name) in accesses.iter_mut().zip(&names) {
        let (mut strides, mut reused) = (Vec::new(), Vec::new());
        for one in &loops {
            let stride = nest.nest_mut().stride(name, one).map_err(refused)?;
            strides.push(stride.map(|stride| written(nest.nest(), stride)).transpose()?);
            reused.push(nest.nest().is_reused(name, one).map_err(refused)?);
        }
        *access = access.clone().with("strides", strides).with("reused", reused);
    }

    // What the loops that there are are at; one that is absent or too far is at its last value, or at 0.
    let at = request.numbers_or_none("at")?.unwrap_or_default();
    let sizes = splits_of.iter().flatten();
    let at: Vec<i64> =
        sizes.enumerate().map(|(k, size)| at.get(k).copied().unwrap_or(0).clamp(0, (size - 1).max(0))).collect();
    let mut parts = at.iter();
    let values: Vec<i64> = splits_of
        .iter()
        .map(|sizes| sizes.iter().zip(parts.by_ref()).fold(0, |value, (size, part)| value * size + part))
        .collect();
    let step = steps.touched(&values).map(|touched| {
        let elements = touched.elements.iter().map(|(index, address)| {
            object! { "index": Value::from(&index[..]), "address": *address }
        });
        object! {
            "at": Value::from(&at[..]),
            "values": Value::from(&values[..]),
            "runs": touched.runs,
            "elements": elements.collect::<Value>(),
        }
    });
    let touching = match request.numbers_or_none("index")? {
        None => None,
        Some(index) => {
            let access = usize::try_from(request.number("access")?).unwrap_or(usize::MAX);
            let Some(set) = steps.touching(access, &index) else {
                return Err(Fault::request("`access` is one of the accesses, and `index` lies inside its shape"));
            };
            Some(set_of(&steps, &splits_of, &set))
        }
    };
    Ok(object! {
        "statement": statement.assignment(),
        "loops": shown,
        "steps": steps.total(),
        "runs": run.count,
        "guards": guards,
        "unsplit": splits.unserved.iter().map(|one| one.to_string()).collect::<Value>(),
        "accesses": accesses,
        "step": step,
        "touching": touching,
    })
}

/// The steps that touch an element: how many of how many, and where the loops are in them.
fn set_of(steps: &Steps, splits_of: &[Vec<i64>], set: &StepSet) -> Value {
    let ranges = set.loops.iter().map(|range| range.as_ref().map(|range| vec![range.start, range.end]));
    // In the loops that there are: the digits of each loop.
    let example = set.example.as_ref().map(|example| {
        let mut digits = Vec::new();
        for (value, sizes) in example.iter().zip(splits_of) {
            let (mut rest, begin) = (*value, digits.len());
            for size in sizes.iter().rev() {
                digits.insert(begin, rest.rem_euclid(*size));
                rest = rest.div_euclid(*size);
            }
        }
        digits
    });
    object! {
        "count": set.count,
        "of": steps.total(),
        "loops": ranges.collect::<Value>(),
        "free": set.free.iter().copied().collect::<Value>(),
        "example": example,
    }
}

/// A guard: what must hold, of which access, and at how many steps it does.
fn guard(why: &str, access: Option<usize>, holds: &str, set: Option<StepSet>) -> Value {
    object! {
        "why": why,
        "access": access,
        "holds": holds,
        "count": set.and_then(|set| set.count),
    }
}

/// The name of a loop, its size, which is a number, and whether it is reduced.
fn sized(nest: &Nest, one: &shapetracker::expr::Loop) -> (String, i64, bool) {
    (one.name.clone(), nest.graph().range(one.size).1, one.is_reduced)
}

fn written(nest: &Nest, expr: Expr) -> Result<String, Fault> {
    Ok(nest.graph().text(expr, Syntax::Python)?)
}
