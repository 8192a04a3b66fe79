//! Guards as bounds of loops.

use smallvec::SmallVec;

use crate::emit::sum;
use crate::error::Error;
use crate::graph::{Binary, Expr, Graph};
use crate::quasi::{Condition, Linear, QuasiAffine, Term};

/// The demand that an affine form lie between bounds.
pub(super) type Bound = Condition;

/// A condition as bounds of forms without floors; `None` where it is none.
pub(super) fn affine(graph: &mut Graph, condition: Expr) -> Result<Option<Vec<Bound>>, Error> {
    let zero = graph.int(0);
    let Some(forms) = graph.quasi_affine(zero, condition)? else { return Ok(None) };
    let is_affine = forms.value().is_some() && forms.conditions().iter().all(|one| one.form.is_affine());
    Ok(is_affine.then(|| forms.conditions().to_vec()))
}

/// The least and the greatest value of what stands beside a loop in a form: the same twice, where it is known there.
#[derive(Clone, Copy)]
pub(super) struct Beside {
    pub(super) least: Expr,
    pub(super) most: Expr,
}

/// The first value of a loop and the one after the last for which a bound holds whatever stands beside the loop; `None` for
/// an end that the bound does not give. The loop has the factor `by` in the form, which is not 0.
///
/// `least <= by * t + beside <= most` is a range of `t`, whose ends are rounded inwards.
// Proved: `normal_form` in `proofs/Simplify.v`.
pub(super) fn ends(
    graph: &mut Graph,
    bound: &Bound,
    by: i64,
    beside: Beside,
) -> Result<(Option<Expr>, Option<Expr>), Error> {
    // A bound of `by * t` from below, and one from above. With a negative factor they change places.
    let mut from = |bound: Option<i64>, beside: Expr, more: i64| -> Result<Option<Expr>, Error> {
        let Some(bound) = bound else { return Ok(None) };
        let step = by.saturating_abs();
        let (constant, beside) = (graph.int(bound), beside);
        // bound - beside for a positive factor, and beside - bound for a negative one; raised so that the floor rounds inwards,
        // and that the end is the one after the last.
        let distance = match by > 0 {
            true => graph.binary(Binary::Sub, constant, beside)?,
            false => graph.binary(Binary::Sub, beside, constant)?,
        };
        let more = graph.int(more);
        let raised = graph.binary(Binary::Add, distance, more)?;
        let step = graph.int(step);
        let end = graph.binary(Binary::Div, raised, step)?;
        Ok(Some(graph.simplify(end)))
    };
    let step = by.saturating_abs();
    let (first, last) = match by > 0 {
        true => ((bound.least, beside.least), (bound.most, beside.most)),
        false => ((bound.most, beside.most), (bound.least, beside.least)),
    };
    Ok((from(first.0, first.1, step - 1)?, from(last.0, last.1, step)?))
}

/// A form as an expression, over the variables that `variable` gives for their places, and over floors if it has some.
// No rule: it writes the floors that there are.
pub(super) fn written(
    graph: &mut Graph,
    floors: Option<&QuasiAffine>,
    form: &Linear,
    mut variable: impl FnMut(&mut Graph, usize) -> Result<Expr, Error>,
) -> Result<Expr, Error> {
    let mut divided: Vec<Expr> = Vec::new();
    for floor in floors.map_or(&[][..], QuasiAffine::floors) {
        let numerator = linear(graph, &floor.numerator, &divided, &mut variable)?;
        let divisor = graph.int(floor.divisor);
        divided.push(graph.binary(Binary::Div, numerator, divisor)?);
    }
    linear(graph, form, &divided, &mut variable)
}

fn linear(
    graph: &mut Graph,
    form: &Linear,
    floors: &[Expr],
    variable: &mut impl FnMut(&mut Graph, usize) -> Result<Expr, Error>,
) -> Result<Expr, Error> {
    let mut terms: SmallVec<[(Expr, i64); 8]> = SmallVec::new();
    for (term, by) in form.terms() {
        match term {
            Term::Variable(place) => terms.push((variable(graph, *place)?, *by)),
            Term::Floor(at) => terms.push((floors[*at], *by)),
        }
    }
    sum(graph, terms, form.constant())
}

/// The variable of a place.
pub(super) fn variable(graph: &mut Graph, place: usize) -> Result<Expr, Error> {
    Ok(graph.variable_at(place))
}
