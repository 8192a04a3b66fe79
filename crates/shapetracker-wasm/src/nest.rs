//! Statements over several tensors, at values of their names: their loops, what one step of these touches, and which steps touch an element.

use shapetracker::expr::{Expr, Loop, Nest, Syntax};
use shapetracker_symbolic::{Padding, Question, StepSet, Steps};

use crate::fault::Fault;
use crate::json::{Value, object};
use crate::named;
use crate::request::Fields as _;

pub(crate) fn nest(request: &Value) -> Result<Value, Fault> {
    let text = request.text("text").map_err(|fault| fault.in_field("chain"))?;
    let wrong = |err| Fault::syntax(&err, "chain", text);
    let given = request.text_or_none("where").map_err(|fault| fault.in_field("where"))?.unwrap_or_default();
    let of_names = |err| Fault::syntax(&err, "where", given);
    let mut question = Question::new([given]).map_err(of_names)?;
    let statement = question.statement(text).map_err(wrong)?;
    let scope = question.scope().map_err(of_names)?;
    let mut nest = statement.nest(&scope).map_err(wrong)?;

    // What is counted, and drawn, is so at values of the names.
    let fixed = named::fixed(request, scope.names());
    let chosen = nest.example(&fixed).unwrap_or_else(|| named::least(scope.names(), &fixed));
    let pairs = || scope.names().iter().zip(&chosen).map(|(name, &value)| (&*name.name, value));
    let no_values = |reason: String| {
        let values: Vec<String> = pairs().map(|(name, value)| format!("{name} = {value}")).collect();
        Fault::new("values", format!("{}: {reason}", values.join(", "))).in_field("chain")
    };
    // First in the ranges that are said, and then in those of the code.
    let steps = scope.point("steps", nest.needs(), pairs()).and_then(|_| nest.steps_at(pairs()));
    let steps = steps.map_err(|err| no_values(err.reason()))?;
    let point: Vec<i128> = chosen.iter().map(|&value| value.into()).collect();
    let Some(drawn) = statement.layouts_at(&point) else {
        return Err(no_values("a size, a stride or an offset leaves 64 bits".to_owned()));
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
        let drawn = drawn.iter().find(|(name, _)| *name == access.buffer).map(|(_, text)| text.clone());
        accesses.push(object! {
            "buffer": access.buffer,
            "element": access.element,
            "written": access.is_written,
            "read": access.is_read,
            "padding": padding,
            "layout": layout,
            "instance": drawn,
            "shape": Value::from(steps.shape(number).unwrap_or_default()),
        });
    }
    let condition = nest.condition().and_then(|name| nest.nest().accesses().iter().find(|each| each.name == name));
    if let Some(condition) = condition.map(|condition| condition.valid) {
        let holds = written(nest.nest(), condition)?;
        guards.push(guard("condition", None, &holds, steps.meeting_condition()));
    }

    let sized =
        |nest: &Nest| nest.loops().iter().map(|one| Sized::of(nest, one, &chosen)).collect::<Result<Vec<_>, _>>();
    let before = sized(nest.nest())?;
    let splits = nest.nest_mut().split_where_affine().map_err(refused)?;
    let mut after = sized(nest.nest())?.into_iter();
    // Of each loop of the statement the sizes of those that it is split into, outermost first: its own where it is not split.
    let (mut shown, mut splits_of) = (Vec::new(), Vec::<Vec<i64>>::new());
    for one in before {
        let factors =
            splits.factors.iter().find(|(split, _)| *split == one.name).map_or(1, |(_, factors)| factors.len());
        let parts: Vec<Sized> = after.by_ref().take(factors).collect();
        splits_of.push(parts.iter().map(|part| part.size).collect());
        let parts: Value = parts.into_iter().map(Sized::json).collect();
        let is_reduced = one.is_reduced;
        shown.push(one.json().with("reduced", is_reduced).with("parts", parts));
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
        "names": named::listed(scope.names(), &chosen),
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

/// A loop: its name, its size at values of the names and as it is written, and whether it is reduced.
struct Sized {
    name: String,
    size: i64,
    text: String,
    is_reduced: bool,
}

impl Sized {
    fn of(nest: &Nest, one: &Loop, chosen: &[i64]) -> Result<Sized, Fault> {
        // The names are the first variables.
        let mut values: Vec<i64> = nest.graph().variables().iter().map(|variable| variable.range.start).collect();
        values[..chosen.len()].copy_from_slice(chosen);
        let size = nest.graph().evaluate(one.size, &values)?.max(0);
        Ok(Sized { name: one.name.clone(), size, text: written(nest, one.size)?, is_reduced: one.is_reduced })
    }

    fn json(self) -> Value {
        object! { "name": self.name, "size": self.size, "written": self.text }
    }
}

fn written(nest: &Nest, expr: Expr) -> Result<String, Fault> {
    Ok(nest.graph().text(expr, Syntax::Python)?)
}
