//! Forms written in fewer operations, once all that is known was used.
//!
//! While an expression is read, every quotient is as normal as can be, so that equal parts cancel. In the end some sums are
//! shorter in other terms: `y - 5 * ((y + z) // 5)` is `(y + z) % 5 - z`. Every form that is computed is looked at by
//! itself, from the innermost out. Whether the whole is cheaper then is seen by writing it, as it is and so.

use crate::algebra::Algebra;
use crate::atoms::{Condition, Kind};
use crate::context::Context;
use crate::emit::Root;
use crate::form::{Atom, Form};
use crate::graph::{Binary, Map};
use crate::lattice::opposite;

/// The work limit of [`Algebra::shorter`]: forms of more terms stay as they are.
const MAX_TERMS: usize = 16;

/// What atoms became.
#[derive(Default)]
pub(crate) struct Rewritten {
    forms: Map<Atom, Form>,
    changed: bool,
}

impl Algebra {
    /// The roots with all forms that they are made of written shorter; `None` where nothing is, or a number leaves `i64`.
    pub(crate) fn shorter_roots(&mut self, roots: &[Root], context: &mut Context) -> Option<Vec<Root>> {
        if !self.has_quotients() && !self.has_products {
            return None;
        }
        let mut done = Rewritten::default();
        // Operands come before what is made of them.
        let mut needed = vec![false; self.len()];
        for root in roots {
            match root {
                Root::Number(form) => form.terms.iter().for_each(|(atom, _)| needed[*atom as usize] = true),
                Root::Condition(atom) => needed[*atom as usize] = true,
            }
        }
        for atom in (0..needed.len()).rev() {
            if needed[atom] {
                let kind = self.kind(atom as Atom);
                let parts = kind.forms().flat_map(|form| &form.terms).map(|(part, _)| *part).chain(kind.conditions());
                parts.for_each(|part| needed[part as usize] = true);
            }
        }
        for atom in (0..needed.len() as Atom).filter(|atom| needed[*atom as usize]) {
            let form = self.remade(atom, &mut done, context)?;
            done.forms.insert(atom, form);
        }
        let mut written = Vec::with_capacity(roots.len());
        for root in roots {
            written.push(match root {
                Root::Number(form) => Root::Number(self.shorter(form, &mut done, context)?),
                Root::Condition(atom) => Root::Condition(self.renamed(*atom, &done)?),
            });
        }
        done.changed.then_some(written)
    }

    /// The atom that a condition became.
    fn renamed(&self, atom: Atom, done: &Rewritten) -> Option<Atom> {
        match done.forms.get(&atom)?.terms[..] {
            [(atom, 1)] => Some(atom),
            _ => None,
        }
    }

    /// An atom of forms that are written shorter.
    // Proved: `negated_divisor` in `proofs/Simplify.v`.
    fn remade(&mut self, atom: Atom, done: &mut Rewritten, context: &mut Context) -> Option<Form> {
        let before = done.changed;
        done.changed = false;
        let kind = match self.kind(atom).clone() {
            Kind::Quotient(form, by) => {
                let form = self.shorter(&form, done, context)?;
                match negated(&form) {
                    // `-m // d` is `m // -d`.
                    Some(minus) => {
                        let (low, high) = context.range(atom);
                        let range = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
                        Kind::Operation(Binary::Div, minus, Form::constant(-by)?, range)
                    }
                    None => {
                        let by = self.same_signs(&form, by).unwrap_or(by);
                        Kind::Quotient(form, by)
                    }
                }
            }
            Kind::Remainder(form, by) => Kind::Remainder(self.shorter(&form, done, context)?, by),
            Kind::Product(a, b) => Kind::Product(self.shorter(&a, done, context)?, self.shorter(&b, done, context)?),
            Kind::Operation(op, a, b, range) => {
                Kind::Operation(op, self.shorter(&a, done, context)?, self.shorter(&b, done, context)?, range)
            }
            Kind::Extremum(op, forms) => {
                let forms = forms.iter().map(|form| self.shorter(form, done, context)).collect::<Option<_>>()?;
                Kind::Extremum(op, forms)
            }
            Kind::Select(condition, a, b) => {
                let (a, b) = (self.shorter(&a, done, context)?, self.shorter(&b, done, context)?);
                Kind::Select(self.renamed(condition, done)?, a, b)
            }
            Kind::Test(Condition { form, low, high }) => {
                Kind::Test(Condition { form: self.shorter(&form, done, context)?, low, high })
            }
            Kind::Compare(op, a, b) => {
                Kind::Compare(op, self.shorter(&a, done, context)?, self.shorter(&b, done, context)?)
            }
            Kind::Not(a) => Kind::Not(self.renamed(a, done)?),
            Kind::Both(op, a, b) => Kind::Both(op, self.renamed(a, done)?, self.renamed(b, done)?),
            Kind::Choice(condition, a, b) => {
                Kind::Choice(self.renamed(condition, done)?, self.renamed(a, done)?, self.renamed(b, done)?)
            }
            kind @ (Kind::Variable(..) | Kind::Bool(_)) => kind,
        };
        done.changed |= before;
        if kind == *self.kind(atom) {
            return Some(Form::atom(atom));
        }
        done.changed = true;
        self.atom(kind, context).map(Form::atom)
    }

    /// The least power of two by which a quotient is the same as by a divisor that is none, where it is -1 or 0: it is the sign
    /// of the numerator then, by any divisor that the numerator does not reach. Nothing is assumed.
    fn same_signs(&self, form: &Form, divisor: i64) -> Option<i64> {
        if divisor.unsigned_abs().is_power_of_two() {
            return None;
        }
        // Proved: `any_large_divisor` in `proofs/Simplify.v`.
        let (low, high) = Context::of(self, std::iter::empty(), [form]).bounds(form)?;
        let reach = u64::try_from((-low).max(high + 1)).ok()?.checked_next_power_of_two()?;
        i64::try_from(reach).ok().filter(|reach| (2..=divisor).contains(reach))
    }

    /// A form of atoms that were rewritten, itself written shorter.
    // Proved: `scaled_remainder`, `negated_divisor`, `negative_remainder_range` in `proofs/Simplify.v`.
    fn shorter(&mut self, form: &Form, done: &mut Rewritten, context: &mut Context) -> Option<Form> {
        let mut sum = Form::constant(form.constant)?;
        for (atom, factor) in &form.terms {
            sum = sum.plus(*factor, done.forms.get(atom)?)?;
        }
        if sum.terms.len() > MAX_TERMS {
            return Some(sum);
        }
        while sum.terms.len() + usize::from(sum.constant != 0) > 1 {
            let size = self.size(&sum);
            let atoms: Vec<(Atom, i64)> = sum.terms.iter().copied().collect();
            let found = atoms.into_iter().find_map(|(atom, factor)| {
                let (whole, divisor) = self.as_quotient(atom)?;
                let (whole, divisor) = (whole.clone(), divisor);
                let quotient = Division { atom, factor, whole: &whole, divisor };
                [
                    Algebra::as_remainder,
                    Algebra::of_complete_residues,
                    Algebra::of_difference,
                    Algebra::rounded_up,
                    Algebra::rounded_down,
                    Algebra::with_constant,
                ]
                .into_iter()
                .find_map(|rule| rule(self, &sum, &quotient, context).filter(|shorter| self.size(shorter) < size))
            });
            match found {
                Some(shorter) => sum = shorter,
                None => break,
            }
            done.changed = true;
        }
        for (atom, factor) in sum.clone().terms {
            // `k * max(a, b)` is `max(k * a, k * b)`, where these are no more products.
            if let Kind::Extremum(op, operands) = self.kind(atom)
                && factor.abs() > 1
                && let Some(scaled) = operands.iter().map(|form| form.times(factor)).collect::<Option<Vec<_>>>()
            {
                let op = if factor > 0 { *op } else { opposite(*op) };
                let extremum = self.atom(Kind::Extremum(op, scaled), context)?;
                let form = sum.plus(-factor, &Form::atom(atom))?.plus(1, &Form::atom(extremum))?;
                if self.size(&form) < self.size(&sum) {
                    sum = form;
                    done.changed = true;
                }
                continue;
            }
            // `k * (m % d)` is `k * m % (k * d)`, where the product is not one more.
            if let Kind::Remainder(whole, by) = self.kind(atom)
                && factor > 1
                && let Some((scaled, divisor)) = whole.times(factor).zip(by.checked_mul(factor))
                && self.size(&scaled) <= self.size(whole)
            {
                let remainder = self.atom(Kind::Remainder(scaled, divisor), context)?;
                sum = sum.plus(-factor, &Form::atom(atom))?.plus(1, &Form::atom(remainder))?;
                done.changed = true;
                continue;
            }
            // `-(-m % d)` is `m % -d`.
            if let Kind::Remainder(whole, by) = self.kind(atom)
                && let Some(minus) = negated(whole)
                && factor < 0
            {
                let kind = Kind::Operation(Binary::Mod, minus, Form::constant(-by)?, (1 - by, 0));
                let remainder = self.atom(kind, context)?;
                sum = sum.plus(-factor, &Form::atom(atom))?.plus(-factor, &Form::atom(remainder))?;
                done.changed = true;
            }
        }
        if let Some(factored) = self.factored(&sum, context) {
            done.changed = true;
            sum = factored;
        }
        Some(sum)
    }

    /// `k * m - k * d * floor(m / d)` as `k * (m mod d)`, and what else is in the sum.
    // Proved: `multiple_by_remainder` in `proofs/Simplify.v`.
    fn as_remainder(&mut self, sum: &Form, quotient: &Division<'_>, context: &mut Context) -> Option<Form> {
        let Division { atom, factor, whole, divisor } = *quotient;
        if factor % divisor != 0 {
            return None;
        }
        let by = (factor / divisor).checked_neg()?;
        let left = sum.plus(-factor, &Form::atom(atom))?.plus(by.checked_neg()?, whole)?;
        let remainder = self.atom(Kind::Remainder(whole.clone(), divisor), context)?;
        left.plus(by, &Form::atom(remainder))
    }

    /// The quotients of `m`, `m + 1`, .., `m + d - 1` by `d` together are `m` (Hermite): one of the numbers is a multiple of `d`,
    /// and the remainders are 0, 1, .., `d - 1` in some order.
    // Proved: `hermite` in `proofs/Simplify.v`.
    fn of_complete_residues(&mut self, sum: &Form, quotient: &Division<'_>, _: &mut Context) -> Option<Form> {
        let Division { factor, whole, divisor, .. } = *quotient;
        if divisor > 8 {
            return None;
        }
        let base = whole.without_constant();
        let mut left = sum.clone();
        for step in 0..divisor {
            let numerator = base.plus(1, &Form::constant(step)?)?;
            let (atom, _) = self.quotients_of(&numerator).find(|(_, by)| *by == divisor)?;
            if sum.coefficient(atom) != factor {
                return None;
            }
            left = left.plus(-factor, &Form::atom(atom))?;
        }
        left.plus(factor, &base)
    }

    /// The difference of two quotients of numerators that differ by a constant, `floor((m + c) / d) - floor(m / d)`, as
    /// `floor((m mod d + c) / d)`: the second one taken into the numerator of the first.
    // Proved: `difference_of_quotients` in `proofs/Simplify.v`.
    fn of_difference(&mut self, sum: &Form, quotient: &Division<'_>, context: &mut Context) -> Option<Form> {
        let Division { atom, factor, whole, divisor } = *quotient;
        let (other, constant) = sum.terms.iter().find_map(|&(other, theirs)| {
            let (numerator, by) = self.as_quotient(other)?;
            let constant = whole.plus(-1, numerator)?.as_constant()?;
            (by == divisor && theirs == -factor && other != atom).then_some((other, constant))
        })?;
        let numerator = self.as_quotient(other)?.0.clone();
        let remainder = self.atom(Kind::Remainder(numerator, divisor), context)?;
        let numerator = Form::atom(remainder).plus(1, &Form::constant(constant)?)?;
        let digit = self.atom(Kind::Quotient(numerator, divisor), context)?;
        let left = sum.plus(-factor, &Form::atom(atom))?.plus(factor, &Form::atom(other))?;
        left.plus(factor, &Form::atom(digit))
    }

    /// `m - floor(m / 2)` as `floor((m + 1) / 2)`, since half of a number rounded down and half of it rounded up are all of it.
    // Proved: `other_half` in `proofs/Simplify.v`.
    fn rounded_up(&mut self, sum: &Form, quotient: &Division<'_>, context: &mut Context) -> Option<Form> {
        let Division { atom, factor, whole, divisor } = *quotient;
        if divisor != 2 {
            return None;
        }
        let raised = self.atom(Kind::Quotient(whole.plus(1, &Form::constant(1)?)?, 2), context)?;
        let left = sum.plus(-factor, &Form::atom(atom))?.plus(factor, whole)?;
        left.plus(factor.checked_neg()?, &Form::atom(raised))
    }

    /// `floor((m + 1) / 2)` as `m - floor(m / 2)`, where the sum has more of both.
    // Proved: `lower_half` in `proofs/Simplify.v`.
    fn rounded_down(&mut self, sum: &Form, quotient: &Division<'_>, context: &mut Context) -> Option<Form> {
        let Division { atom, factor, whole, divisor } = *quotient;
        if divisor != 2 {
            return None;
        }
        let lower = whole.plus(-1, &Form::constant(1)?)?;
        let quotient = self.atom(Kind::Quotient(lower.clone(), 2), context)?;
        sum.plus(-factor, &Form::atom(atom))?.plus(factor, &lower)?.plus(factor.checked_neg()?, &Form::atom(quotient))
    }

    /// The constant of a sum in the numerator of a quotient that has one: `floor((m + c) / d) + n` is
    /// `floor((m + c + d * n) / d)`.
    // Proved: `constant_taken_in` in `proofs/Simplify.v`.
    fn with_constant(&mut self, sum: &Form, quotient: &Division<'_>, context: &mut Context) -> Option<Form> {
        let Division { atom, factor, whole, divisor } = *quotient;
        if sum.constant == 0 || sum.constant % factor != 0 || whole.constant == 0 {
            return None;
        }
        let more = Form::constant((sum.constant / factor).checked_mul(divisor)?)?;
        let quotient = self.atom(Kind::Quotient(whole.plus(1, &more)?, divisor), context)?;
        let left = sum.plus(-factor, &Form::atom(atom))?.without_constant();
        left.plus(factor, &Form::atom(quotient))
    }
}

/// The negative of a form that only subtracts.
fn negated(form: &Form) -> Option<Form> {
    let subtracts = !form.terms.is_empty() && form.terms.iter().all(|(_, factor)| *factor < 0) && form.constant <= 0;
    subtracts.then(|| form.times(-1)).flatten()
}

/// A quotient in a sum, and by what it is multiplied there.
#[derive(Clone, Copy)]
struct Division<'a> {
    atom: Atom,
    factor: i64,
    whole: &'a Form,
    divisor: i64,
}
