//! Products of what is not constant, and divisions by it.
//!
//! A product of several atoms is an atom, whatever the order in which they were multiplied, and one of an atom and a sum is
//! multiplied out: then terms cancel, and a divisor is found in a numerator as a factor of its terms. What has a factor in
//! common is put together again when the forms are written ([`Algebra::factored`]).

use shapetracker_base::int::{div_ceil, div_floor, gcd};
use shapetracker_base::list::sort_short_by_key;

use crate::algebra::Algebra;
use crate::atoms::Kind;
use crate::context::{Context, Span};
use crate::form::{Atom, Form};
use crate::graph::Binary;

/// The atoms that a product is made of, in order, with repetition.
type Factors = Vec<Atom>;

/// A work limit: a sum of more terms than this is not multiplied out.
const MAX_TERMS: usize = 6;

/// A work limit: a product of more atoms than this is not taken apart.
const MAX_FACTORS: usize = 8;

/// A work limit: of more atoms than this the corners are not tried.
const MAX_CORNERS: usize = 5;

impl Algebra {
    /// The product of two forms that are not constant; `None` past `i64`.
    // Proved: `product_of_primitives` in `proofs/Simplify.v`.
    pub(crate) fn product(&mut self, a: &Form, b: &Form, context: &mut Context) -> Option<Form> {
        if let Some(form) = self.product_of_both(a, b, context) {
            return Some(form);
        }
        self.has_products = true;
        let ((left, a), (right, b)) = (primitive(a), primitive(b));
        let product = match (single(&a), single(&b)) {
            (Some(one), Some(other)) => {
                let factors = self.factors(one).into_iter().chain(self.factors(other)).collect();
                Form::atom(self.of_factors(factors, context)?)
            }
            (Some(atom), None) if b.terms.len() <= MAX_TERMS => self.distributed(atom, &b, context)?,
            (None, Some(atom)) if a.terms.len() <= MAX_TERMS => self.distributed(atom, &a, context)?,
            _ => {
                let (a, b) = if (&a.terms, a.constant) <= (&b.terms, b.constant) { (a, b) } else { (b, a) };
                Form::atom(self.atom(Kind::Product(a, b), context)?)
            }
        };
        product.times(left.checked_mul(right)?)
    }

    /// An atom times a sum.
    // Proved: `distributed` in `proofs/Simplify.v`.
    fn distributed(&mut self, atom: Atom, sum: &Form, context: &mut Context) -> Option<Form> {
        let mut product = Form::atom(atom).times(sum.constant)?;
        for (other, factor) in &sum.terms {
            let factors = self.factors(atom).into_iter().chain(self.factors(*other)).collect();
            product = product.plus(*factor, &Form::atom(self.of_factors(factors, context)?))?;
        }
        Some(product)
    }

    /// The atoms that an atom is the product of; itself, if it is none.
    fn factors(&self, atom: Atom) -> Factors {
        let (mut factors, mut open) = (Factors::new(), vec![atom]);
        while let Some(atom) = open.pop() {
            match self.kind(atom) {
                Kind::Product(a, b) if factors.len() + open.len() < MAX_FACTORS => match (single(a), single(b)) {
                    (Some(a), Some(b)) => open.extend([a, b]),
                    _ => factors.push(atom),
                },
                _ => factors.push(atom),
            }
        }
        sort_short_by_key(&mut factors, |atom| *atom);
        factors
    }

    /// The atom that is the product of atoms, at least one.
    fn of_factors(&mut self, mut factors: Factors, context: &mut Context) -> Option<Atom> {
        sort_short_by_key(&mut factors, |atom| *atom);
        let (first, others) = factors.split_first()?;
        let mut product = *first;
        for factor in others {
            product = self.atom(Kind::Product(Form::atom(product), Form::atom(*factor)), context)?;
        }
        Some(product)
    }

    /// What is left of an atom without some factors; `None` if it has not all of them, and 1 is no factors.
    fn without_factors(&self, atom: Atom, factors: &[Atom]) -> Option<Factors> {
        let mut left = self.factors(atom);
        for factor in factors {
            let at = left.iter().position(|other| other == factor)?;
            left.remove(at);
        }
        Some(left)
    }

    /// A form as `divisor * quotient + rest`, for a divisor that is a product of atoms and a number: every term of the form that
    /// the divisor divides is in the quotient.
    // Proved: `term_divided` in `proofs/Simplify.v`.
    fn divided_by(&mut self, form: &Form, divisor: &Form, context: &mut Context) -> Option<(Form, Form)> {
        let [(atom, unit)] = divisor.terms[..] else { return None };
        if divisor.constant != 0 {
            return None;
        }
        let factors = self.factors(atom);
        let (mut quotient, mut rest) = (Form::default(), Form::constant(form.constant)?);
        for &(atom, factor) in &form.terms {
            match self.without_factors(atom, &factors) {
                Some(left) if factor % unit == 0 => {
                    let part = match left.is_empty() {
                        true => Form::constant(1)?,
                        false => Form::atom(self.of_factors(left, context)?),
                    };
                    quotient = quotient.plus(factor / unit, &part)?;
                }
                _ => rest.terms.push((atom, factor)),
            }
        }
        Some((quotient, rest))
    }

    /// The products in a form of which a sum is a factor, each divided by it, and the rest.
    // Proved: `factor_in_common` in `proofs/Simplify.v`.
    fn divided_by_sum(&self, form: &Form, divisor: &Form) -> Option<(Form, Form)> {
        let (mut quotient, mut rest) = (Form::default(), form.clone());
        for &(atom, factor) in &form.terms {
            let other = match self.kind(atom) {
                Kind::Product(a, b) if a == divisor => b,
                Kind::Product(a, b) if b == divisor => a,
                _ => continue,
            };
            (quotient, rest) = (quotient.plus(factor, other)?, rest.without(atom));
        }
        Some((quotient, rest))
    }

    /// The interval of a form with products of atoms, none of them twice in one: it is linear in each atom, so that it is least
    /// and greatest at corners of the box of their ranges. `None` where it is no such form, or has more atoms than are tried.
    // Proved: `bounds_by_corners` in `proofs/Simplify.v`.
    pub(crate) fn bounds_by_corners(&self, form: &Form, context: &Context) -> Option<Span> {
        if !self.has_products {
            return None;
        }
        let mut atoms = Factors::new();
        let mut terms: Vec<(Factors, i128)> = Vec::new();
        for (atom, factor) in &form.terms {
            let factors = self.factors(*atom);
            if factors.windows(2).any(|pair| pair[0] == pair[1]) {
                return None;
            }
            atoms.extend(factors.iter().copied());
            terms.push((factors, i128::from(*factor)));
        }
        sort_short_by_key(&mut atoms, |atom| *atom);
        atoms.dedup();
        if atoms.len() > MAX_CORNERS || terms.iter().all(|(factors, _)| factors.len() < 2) {
            return None;
        }
        let mut span: Option<Span> = None;
        for corner in 0..1_u32 << atoms.len() {
            let mut value = i128::from(form.constant);
            for (factors, factor) in &terms {
                let mut product = *factor;
                for atom in factors {
                    let place = atoms.binary_search(atom).ok()?;
                    let (low, high) = context.range(*atom);
                    product = product.checked_mul(if corner >> place & 1 == 0 { low } else { high })?;
                }
                value = value.checked_add(product)?;
            }
            span = Some(span.map_or((value, value), |(low, high)| (low.min(value), high.max(value))));
        }
        span
    }

    /// `floor(form / divisor)` or `form mod divisor`, for a divisor that is not constant and never 0.
    ///
    /// With `form = divisor * quotient + rest` the floor is `quotient + floor(rest / divisor)`, and the remainder that of the
    /// rest. Where the rest lies between 0 and the divisor it is the remainder.
    // Proved: `negative_divisor`, `common_divisor`, `multiples_leave`, `reduced_numerator` in `proofs/Simplify.v`.
    // Proved: `known_remainder`, `nothing_left` in `proofs/Simplify.v`.
    // Proved: `quotient_corners`, `remainder_interval` in `proofs/Rounding.v`.
    pub(crate) fn divided(
        &mut self,
        op: Binary,
        form: &Form,
        divisor: &Form,
        (low, high): (i64, i64),
        context: &mut Context,
    ) -> Option<Form> {
        let (mut form, mut divisor, mut range) = (form.clone(), divisor.clone(), self.bounds(divisor, context)?);
        // A negative divisor divides what has the other sign.
        let is_negative = range.1 < 0 && op == Binary::Div;
        if is_negative {
            (form, divisor, range) = (form.times(-1)?, divisor.times(-1)?, (-range.1, -range.0));
        }
        // With g dividing the divisor and every coefficient, floor((g * m + c) / (g * d)) is floor((m + floor(c / g)) / d) for
        // a positive d.
        let common = gcd(form.content().into(), divisor.content().into()) as i64;
        if op == Binary::Div && range.0 > 0 && common > 1 && divisor.constant % common == 0 {
            form = form.divided(common, form.constant.div_euclid(common));
            divisor = divisor.divided(common, divisor.constant / common);
            let by = i128::from(common);
            range = (div_ceil(range.0, by), div_floor(range.1, by));
        }
        if let Some(by) = divisor.as_constant() {
            return self.quotient(&form, by, context);
        }
        let (quotient, rest) = self.divided_by(&form, &divisor, context).unwrap_or((Form::default(), form.clone()));
        let is_remainder = range.0 > 0
            && self.bounds(&rest, context).is_some_and(|(low, _)| low >= 0)
            && (self.bounds(&divisor.plus(-1, &rest)?, context).is_some_and(|(low, _)| low > 0)
                || self.is_quotient_below(&rest, &divisor, context));
        match op {
            Binary::Div if is_remainder || rest == Form::default() => return Some(quotient),
            Binary::Mod if is_remainder || rest == Form::default() => return Some(rest),
            _ => {}
        }
        let (mut rest, mut span) = (rest, (low, high));
        if quotient == Form::default() {
            // The negative of a sum costs more than it.
            (rest, divisor) = if is_negative { (form.times(-1)?, divisor.times(-1)?) } else { (form, divisor) };
        } else {
            // What is left is not what the range is of.
            let ((low, high), (least, most)) = (self.bounds(&rest, context)?, range);
            if least.min(most) <= 0 {
                return None;
            }
            let ends = [div_floor(low, least), div_floor(low, most), div_floor(high, least), div_floor(high, most)];
            span = match op {
                Binary::Div => (i64::try_from(*ends.iter().min()?).ok()?, i64::try_from(*ends.iter().max()?).ok()?),
                _ => (0, i64::try_from(most - 1).ok()?),
            };
        }
        let atom = self.atom(Kind::Operation(op, rest, divisor, span), context)?;
        quotient.times(i64::from(op == Binary::Div))?.plus(1, &Form::atom(atom))
    }

    /// Whether a form that is not negative and has a quotient in it is below a limit because of what it is the quotient of:
    /// `x // b + t < d` where `x + b * t < b * d`.
    // Proved: `quotient_below` in `proofs/Simplify.v`.
    fn is_quotient_below(&mut self, form: &Form, limit: &Form, context: &mut Context) -> bool {
        let quotients = form.terms.iter().filter(|(_, factor)| *factor == 1).filter_map(|(atom, _)| {
            Some(match self.kind(*atom) {
                Kind::Operation(Binary::Div, numerator, divisor, _) => (*atom, numerator.clone(), divisor.clone()),
                Kind::Quotient(numerator, divisor) => (*atom, numerator.clone(), Form::constant(*divisor)?),
                _ => return None,
            })
        });
        let quotients: Vec<(Atom, Form, Form)> = quotients.collect();
        let mut room = |atom: Atom, numerator: &Form, divisor: &Form| {
            let left = limit.plus(-1, &form.without(atom))?;
            let scaled = match (divisor.as_constant(), left.as_constant()) {
                (Some(divisor), _) => left.times(divisor)?,
                (_, Some(left)) => divisor.times(left)?,
                _ => self.product(divisor, &left, context)?,
            };
            let is_positive = self.bounds(divisor, context)?.0 > 0;
            is_positive.then_some(self.bounds(&scaled.plus(-1, numerator)?, context)?.0)
        };
        quotients.iter().any(|(atom, numerator, divisor)| room(*atom, numerator, divisor).is_some_and(|room| room > 0))
    }

    /// Whether a form is its own remainder by a constant, because of a quotient in it by what is not constant.
    // Proved: `known_remainder`, `quotient_below` in `proofs/Simplify.v`.
    pub(crate) fn is_own_remainder(&mut self, form: &Form, divisor: i64, context: &mut Context) -> bool {
        let is_quotient = |(atom, _): &(Atom, i64)| matches!(self.kind(*atom), Kind::Operation(Binary::Div, ..));
        form.terms.iter().any(is_quotient)
            && self.bounds(form, context).is_some_and(|(low, _)| low >= 0)
            && Form::constant(divisor).is_some_and(|limit| self.is_quotient_below(form, &limit, context))
    }

    /// A sum of products with a factor in common as one product: `x * y + 10 * x` is `x * (y + 10)`. `None` where none is shorter.
    // Proved: `factor_in_common` in `proofs/Simplify.v`.
    pub(crate) fn factored(&mut self, sum: &Form, context: &mut Context) -> Option<Form> {
        let is_product = |(atom, _): &&(Atom, i64)| matches!(self.kind(*atom), Kind::Product(..));
        let mut candidates: Factors =
            sum.terms.iter().filter(is_product).flat_map(|(atom, _)| self.factors(*atom)).collect();
        sort_short_by_key(&mut candidates, |atom| *atom);
        candidates.dedup();
        let size = self.size(sum);
        // Sums that are factors, too.
        let operands = sum.terms.iter().filter(is_product).flat_map(|(atom, _)| self.kind(*atom).forms());
        let sums: Vec<Form> = operands.filter(|form| single(form).is_none()).cloned().collect();
        let factors = candidates.into_iter().map(Form::atom).chain(sums);
        let mut best: Option<(usize, Form)> = None;
        for factor in factors.collect::<Vec<Form>>() {
            let (inner, rest) = match single(&factor) {
                Some(_) => self.divided_by(sum, &factor, context)?,
                None => self.divided_by_sum(sum, &factor)?,
            };
            if inner.terms.len() + usize::from(inner.constant != 0) < 2 {
                continue;
            }
            let inner = self.factored(&inner, context).unwrap_or(inner);
            let (common, inner) = primitive(&inner);
            let product = self.atom(Kind::Product(factor, inner), context)?;
            let form = rest.plus(common, &Form::atom(product))?;
            let new = self.size(&form);
            if new < size && best.as_ref().is_none_or(|(least, _)| new < *least) {
                best = Some((new, form));
            }
        }
        let (_, form) = best?;
        Some(self.factored(&form, context).unwrap_or(form))
    }
}

/// What all numbers of a form have in common, with the sign of the first, and the form without it.
// Proved: `primitive_form` in `proofs/Simplify.v`.
fn primitive(form: &Form) -> (i64, Form) {
    let common = gcd(form.content().into(), form.constant.into()) as i64;
    let sign = if form.terms.first().is_some_and(|(_, factor)| *factor < 0) { -1 } else { 1 };
    let common = common.max(1) * sign;
    (common, form.divided(common, form.constant / common))
}

/// The atom that a form is.
fn single(form: &Form) -> Option<Atom> {
    match (&form.terms[..], form.constant) {
        ([(atom, 1)], 0) => Some(*atom),
        _ => None,
    }
}
