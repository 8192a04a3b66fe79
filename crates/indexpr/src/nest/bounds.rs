//! Guards as bounds of loops.

use smallvec::SmallVec;

use super::replaced;
use crate::constants::constant;
use crate::emit::sum;
use crate::error::Error;
use crate::graph::{Binary, Expr, Graph, Node};
use crate::quasi::{Condition, Linear, QuasiAffine, Term};

/// The demand that an affine form lie between bounds. Products of what is no number, such as that of a name and a loop, are variables of
/// their own in it.
#[derive(Clone)]
pub(super) struct Bound {
    pub(super) form: Linear,
    pub(super) least: Option<i64>,
    pub(super) most: Option<i64>,
    /// The places of those variables, and the products.
    products: Vec<(usize, Expr)>,
}

impl Bound {
    /// Whether a variable is a factor of a product, so that its coefficient says nothing.
    pub(super) fn hides(&self, graph: &Graph, variable: Expr) -> bool {
        self.products.iter().any(|(_, product)| graph.parts(&[*product]).contains(&variable))
    }

    /// A form over the same variables as an expression.
    pub(super) fn written(&self, graph: &mut Graph, form: &Linear) -> Result<Expr, Error> {
        written(graph, None, form, |graph, place| {
            let product = self.products.iter().find(|(own, _)| *own == place);
            Ok(product.map_or_else(|| graph.variable_at(place), |(_, product)| *product))
        })
    }
}

/// A condition as demands on forms without floors; `None` where it is none.
pub(super) fn affine(graph: &mut Graph, condition: Expr) -> Result<Option<Vec<Condition>>, Error> {
    let zero = graph.int(0);
    let Some(forms) = graph.quasi_affine(zero, condition)? else { return Ok(None) };
    let is_affine = forms.value().is_some() && forms.conditions().iter().all(|one| one.form.is_affine());
    Ok(is_affine.then(|| forms.conditions().to_vec()))
}

/// A condition as bounds of forms without floors, in which products stand for themselves; `None` where it is none.
pub(super) fn bounds(graph: &mut Graph, condition: Expr) -> Result<Option<Vec<Bound>>, Error> {
    let (mut products, mut with) = (Vec::new(), Vec::new());
    for product in outermost_products(graph, condition) {
        let (low, high) = graph.range(product);
        let Some(end) = high.checked_add(1) else { return Ok(None) };
        let mut name = format!("product_{}", graph.variables().len());
        while graph.variable_named(&name).is_some() {
            name.push('_');
        }
        let place = graph.variables().len();
        with.push((product, graph.variable(&name, low..end)?));
        products.push((place, product));
    }
    let condition = if with.is_empty() { condition } else { replaced(graph, &[condition], &with)?[0] };
    let Some(conditions) = affine(graph, condition)? else { return Ok(None) };
    let bound = |Condition { form, least, most }| Bound { form, least, most, products: products.clone() };
    Ok(Some(conditions.into_iter().map(bound).collect()))
}

/// The products of what is no number in an expression, but for those within such products.
fn outermost_products(graph: &Graph, expr: Expr) -> Vec<Expr> {
    // Operands come before what is made of them.
    let parts = graph.parts(&[expr]);
    let mut is_reached = vec![false; parts.len()];
    let is_number = |expr: Expr| constant(graph, expr).is_some();
    let mut found = Vec::new();
    for (at, &one) in parts.iter().enumerate().rev() {
        if is_number(one) || !(one == expr || is_reached[at]) {
            continue;
        }
        match graph.node(one) {
            Node::Binary(Binary::Mul, a, b) if !is_number(a) && !is_number(b) => found.push(one),
            node => node
                .operands()
                .filter_map(|operand| parts.binary_search(&operand).ok())
                .for_each(|at| is_reached[at] = true),
        }
    }
    found
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
