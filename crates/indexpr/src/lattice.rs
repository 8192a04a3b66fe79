//! Minima and maxima of forms: kept small by what is known of differences.
//!
//! An extremum is an atom of several forms, its operands. Minima in a minimum are taken apart, an operand goes where another
//! one is always the smaller, and what all operands have in common stands outside: a summand, a factor. So equal extrema
//! are mostly equal data, as equal sums are. Between a sum and an extremum in it there are two ways to write the
//! same, `min(a, b) + c` and `min(a + c, b + c)`; the shorter one is kept.

use crate::algebra::Algebra;
use crate::atoms::{Condition, Kind};
use crate::context::{Context, Span, Truth};
use crate::form::{Atom, Form, Terms};
use crate::graph::Binary;
use shapetracker_base::int::{div_floor, gcd};
use shapetracker_base::list::sort_short_by_key;

/// The operands of an extremum.
type Operands = Vec<Form>;

/// Conditions that hold together.
type Conditions = Vec<Condition>;

/// A work limit: an extremum of more operands than this is taken as it is. All pairs are compared.
const MAX_OPERANDS: usize = 8;

/// A work limit: extrema in extrema are looked at so deep.
pub(crate) const MAX_DEPTH: u32 = 8;

/// A work limit: how many choices of operands are tried for one bound.
const MAX_CASES: u32 = 24;

/// The other extremum.
pub(crate) fn opposite(op: Binary) -> Binary {
    if op == Binary::Min { Binary::Max } else { Binary::Min }
}

impl Algebra {
    /// An interval that holds every value of a form: [`Context::bounds_of_difference`], with each operand in the place of an
    /// extremum or of a choice. A sum with `min(a, b)` in it is the smaller of the sums with `a` and with `b`, so that both
    /// ends of it are the smaller ones of theirs.
    pub(crate) fn bounds(&self, form: &Form, context: &Context) -> Option<Span> {
        match self.has_cases {
            true => self.bounds_by_cases(form, context, &mut { MAX_CASES }),
            false => self.bounds_of_products(form, context),
        }
    }

    // Proved: `spans_met` in `proofs/Simplify.v`.
    fn bounds_of_products(&self, form: &Form, context: &Context) -> Option<Span> {
        let (low, high) = context.bounds_of_difference(form)?;
        match self.bounds_by_corners(form, context) {
            Some((least, most)) => Some((low.max(least), high.min(most))),
            None => Some((low, high)),
        }
    }

    // Proved: `bounds_of_cases`, `bounds_of_choice`, `choice_in_sum` in `proofs/Simplify.v`.
    fn bounds_by_cases(&self, form: &Form, context: &Context, left: &mut u32) -> Option<Span> {
        let span = self.bounds_of_products(form, context)?;
        // The last one first: operands are made of earlier atoms.
        let Some((atom, factor)) = form.terms.iter().rev().find(|(atom, _)| self.is_case(*atom)) else {
            return Some(span);
        };
        let mut all: Option<Span> = None;
        for operand in self.kind(*atom).forms() {
            *left = left.saturating_sub(1);
            let Some(case) = form.plus(-factor, &Form::atom(*atom)).and_then(|rest| rest.plus(*factor, operand)) else {
                return Some(span);
            };
            if *left == 0 {
                return Some(span);
            }
            let (low, high) = self.bounds_by_cases(&case, context, left)?;
            all = Some(match (all, self.is_least(*atom, *factor)) {
                (None, _) => (low, high),
                (Some((least, most)), Some(true)) => (least.min(low), most.min(high)),
                (Some((least, most)), Some(false)) => (least.max(low), most.max(high)),
                (Some((least, most)), None) => (least.min(low), most.max(high)),
            });
        }
        Some(all.map_or(span, |(low, high)| (low.max(span.0), high.min(span.1))))
    }

    /// Whether an atom is one of its operands.
    fn is_case(&self, atom: Atom) -> bool {
        matches!(self.kind(atom), Kind::Extremum(..) | Kind::Select(..))
    }

    /// Whether a multiple of an extremum is the smallest of the multiples of its operands, or the largest; `None` for a choice.
    fn is_least(&self, atom: Atom, factor: i64) -> Option<bool> {
        match self.kind(atom) {
            Kind::Extremum(op, ..) => Some((*op == Binary::Min) == (factor > 0)),
            _ => None,
        }
    }

    /// A form that is a multiple of an extremum of an operation, or a negative multiple of the other one, and a rest: the
    /// operands, each multiplied and with the rest, and the rest. `None` if it is no such form.
    // Proved: `extremum_in_sum` in `proofs/Simplify.v`.
    fn as_extremum(&self, op: Binary, form: &Form) -> Option<(Operands, Form)> {
        form.terms.iter().rev().find_map(|&(atom, factor)| {
            let Kind::Extremum(of, operands) = self.kind(atom) else { return None };
            if (*of == op) != (factor > 0) {
                return None;
            }
            let rest = form.plus(-factor, &Form::atom(atom))?;
            let operands = operands.iter().map(|operand| rest.plus(factor, operand)).collect::<Option<Operands>>()?;
            Some((operands, rest))
        })
    }

    /// The minimum or maximum of some forms, at least one; `None` past `i64`, or where there are too many.
    pub(crate) fn extremum(&mut self, op: Binary, operands: &[Form], context: &mut Context) -> Option<Form> {
        self.within_depth(|algebra| algebra.extremum_of(op, operands, context))
    }

    /// What is made a few levels deep, and nothing deeper: expressions may be of any depth, and the stack is not.
    fn within_depth<T>(&mut self, make: impl FnOnce(&mut Algebra) -> Option<T>) -> Option<T> {
        if self.depth >= MAX_DEPTH {
            return None;
        }
        self.depth += 1;
        let made = make(self);
        self.depth -= 1;
        made
    }

    // Proved: `common_part_outside`, `operands_are_a_set`, `divided` in `proofs/Simplify.v`.
    fn extremum_of(&mut self, op: Binary, operands: &[Form], context: &mut Context) -> Option<Form> {
        let Some(mut list) = self.joined(op, operands, context) else {
            return self.larger_or_smaller(op, operands, context);
        };
        self.share(op, &mut list, context)?;
        self.cap(op, &mut list, context)?;
        self.keep_what_decides(op, &mut list, context)?;
        self.divide_once(op, &mut list, context)?;
        self.choose_once(op, &mut list, context)?;
        if let [only] = &list[..] {
            return Some(only.clone());
        }
        // What all have in common: terms, and parts of terms where that is shorter.
        let common = |part: &dyn Fn(Atom) -> Option<i64>| {
            let terms = list[0].terms.iter().filter_map(|(atom, _)| Some((*atom, part(*atom)?)));
            Form { terms: terms.collect(), constant: 0 }
        };
        let factors = |atom: Atom| list.iter().map(move |operand| operand.coefficient(atom));
        let whole = common(&|atom| {
            factors(atom).all(|factor| factor == list[0].coefficient(atom)).then(|| list[0].coefficient(atom))
        });
        let least = common(&|atom| {
            let least = factors(atom).min_by_key(|factor| factor.unsigned_abs())?;
            (least != 0 && factors(atom).all(|factor| (factor > 0) == (least > 0))).then_some(least)
        });
        let without = |common: &Form| list.iter().map(|operand| operand.plus(-1, common)).collect::<Option<Operands>>();
        let (shorter, mut left) = (without(&whole)?, without(&least)?);
        if least != whole {
            self.cap(op, &mut left, context)?;
        }
        let size = |common: &Form, list: &Operands| {
            let operands: usize = list.iter().map(|form| self.size(form)).sum();
            self.size(common) + usize::from(!common.terms.is_empty()) + operands
        };
        let (common, mut list) =
            if size(&least, &left) < size(&whole, &shorter) { (least, left) } else { (whole, shorter) };
        // A shift that leaves the fewest constants to be added, and a common factor.
        let moving = || list.iter().filter(|operand| !operand.terms.is_empty());
        let added = |shift: i64| moving().filter(|operand| operand.constant != shift).count() + usize::from(shift != 0);
        let shifts = moving().map(|operand| operand.constant).chain([0]);
        let shift = shifts.min_by_key(|shift| (added(*shift), *shift == 0, *shift))?;
        let mut factor = moving().fold(0_i128, |content, operand| gcd(content, operand.content().into())).max(1) as i64;
        let mut differences = list.iter().map(|operand| i128::from(operand.constant) - i128::from(shift));
        if differences.any(|difference| difference % i128::from(factor) != 0) {
            factor = 1;
        }
        // One that only subtracts is the negative of the other extremum.
        let mut op = op;
        if moving().all(|operand| operand.terms.iter().all(|(_, factor)| *factor < 0)) {
            (op, factor) = (opposite(op), -factor);
        }
        let shift = Form::constant(shift)?;
        for operand in &mut list {
            let shifted = operand.plus(-1, &shift)?;
            *operand = shifted.divided(factor, shifted.constant / factor);
        }
        // Constants last.
        let key = |form: &Form| (form.terms.is_empty(), Terms::from_slice(&form.terms), form.constant);
        sort_short_by_key(&mut list, key);
        self.has_cases = true;
        let atom = self.atom(Kind::Extremum(op, list), context)?;
        common.plus(1, &shift)?.plus(factor, &Form::atom(atom))
    }

    /// Takes steps from the work that is left, if there are so many.
    pub(crate) fn pays(&mut self, steps: usize) -> bool {
        let left = self.work.checked_sub(steps);
        self.work = left.unwrap_or(0);
        left.is_some()
    }

    /// The one of two forms that is the extremum, if the sign of their difference is known.
    // Proved: `beaten_by_difference` in `proofs/Simplify.v`.
    fn larger_or_smaller(&self, op: Binary, operands: &[Form], context: &Context) -> Option<Form> {
        let [a, b] = operands else { return None };
        let (low, high) = context.bounds_of_difference(&a.plus(-1, b)?)?;
        match (low >= 0, high <= 0) {
            (true, _) => Some(if op == Binary::Min { b } else { a }.clone()),
            (_, true) => Some(if op == Binary::Min { a } else { b }.clone()),
            _ => None,
        }
    }

    /// Operands without those that others make superfluous, extrema of the same operation taken apart.
    // Proved: `extrema_taken_apart` in `proofs/Simplify.v`.
    fn joined(&mut self, op: Binary, operands: &[Form], context: &Context) -> Option<Operands> {
        let mut open: Operands = operands.iter().rev().cloned().collect();
        let mut list = Operands::new();
        while let Some(operand) = open.pop() {
            if !self.pays(8 + 8 * list.len()) {
                return None;
            }
            match self.as_extremum(op, &operand) {
                Some((operands, rest)) if rest.terms.is_empty() => open.extend(operands.into_iter().rev()),
                _ => self.join(op, &mut list, operand, context)?,
            }
        }
        // An extremum in a sum is taken apart only where no more operands are left than there were.
        if let Some(at) = (0..list.len()).find(|at| self.as_extremum(op, &list[*at]).is_some()) {
            let mut apart = list.clone();
            apart.remove(at);
            for operand in self.as_extremum(op, &list[at])?.0 {
                self.join(op, &mut apart, operand, context)?;
            }
            self.keep_what_decides(op, &mut apart, context);
            if apart.len() <= list.len() {
                return Some(apart);
            }
        }
        Some(list)
    }

    /// Adds an operand, unless another one is always as good; those that it makes superfluous go.
    // Proved: `beaten_operand_goes`, `beaten_by_difference` in `proofs/Simplify.v`.
    fn join(&self, op: Binary, list: &mut Operands, operand: Form, context: &Context) -> Option<()> {
        let mut at = 0;
        while at < list.len() {
            if let Some((low, high)) = operand.plus(-1, &list[at]).and_then(|more| self.bounds(&more, context)) {
                let (worse, better) = if op == Binary::Min { (low >= 0, high <= 0) } else { (high <= 0, low >= 0) };
                if worse {
                    return Some(());
                }
                if better {
                    list.remove(at);
                    continue;
                }
            }
            at += 1;
        }
        list.push(operand);
        (list.len() <= MAX_OPERANDS).then_some(())
    }

    /// Joins operands that are extrema of the other operation with an operand in common:
    /// `min(max(a, b), max(a, c))` is `max(a, min(b, c))`.
    // Proved: `shared_operands`, `operands_are_a_set` in `proofs/Simplify.v`.
    fn share(&mut self, op: Binary, list: &mut Operands, context: &mut Context) -> Option<()> {
        let mut one = 0;
        while one < list.len() {
            let Some((ours, _)) = self.as_extremum(opposite(op), &list[one]) else {
                one += 1;
                continue;
            };
            let found = (one + 1..list.len()).find_map(|other| {
                let (theirs, _) = self.as_extremum(opposite(op), &list[other])?;
                let (both, left): (Operands, Operands) = ours.iter().cloned().partition(|form| theirs.contains(form));
                let right: Operands = theirs.into_iter().filter(|form| !both.contains(form)).collect();
                (!both.is_empty() && !left.is_empty() && !right.is_empty()).then_some((other, both, left, right))
            });
            let Some((other, mut both, left, right)) = found else {
                one += 1;
                continue;
            };
            let (left, right) =
                (self.extremum(opposite(op), &left, context)?, self.extremum(opposite(op), &right, context)?);
            both.push(self.extremum(op, &[left, right], context)?);
            list[one] = self.extremum(opposite(op), &both, context)?;
            list.remove(other);
        }
        Some(())
    }

    /// Makes each operand simpler where another one decides: coefficients that reach past a constant operand at the first step,
    /// and operands of extrema within it that never matter.
    // Proved: `beaten_within` in `proofs/Simplify.v`.
    fn cap(&mut self, op: Binary, list: &mut Operands, context: &mut Context) -> Option<()> {
        for at in 0..list.len() {
            for other in 0..list.len() {
                if at == other {
                    continue;
                }
                // The other one is never past its own end.
                if let Some((low, high)) = context.bounds(&list[other])
                    && let Ok(end) = i64::try_from(if op == Binary::Min { high } else { low })
                    && let Some(capped) = saturated(op, &list[at], end, context)
                {
                    list[at] = capped;
                }
                let Some((inner, _)) = self.as_extremum(opposite(op), &list[at]) else { continue };
                let mut changed = false;
                let mut kept = Operands::new();
                for form in inner {
                    let Some((parts, _)) = self.as_extremum(op, &form) else {
                        kept.push(form);
                        continue;
                    };
                    let matters = |part: &Form| {
                        let difference = part.plus(-1, &list[other]).and_then(|more| self.bounds(&more, context));
                        difference.is_none_or(|(low, high)| if op == Binary::Min { low < 0 } else { high > 0 })
                    };
                    let left: Operands = parts.iter().filter(|part| matters(part)).cloned().collect();
                    if left.is_empty() || left.len() == parts.len() {
                        kept.push(form);
                    } else {
                        changed = true;
                        kept.push(self.extremum(op, &left, context)?);
                    }
                }
                if changed {
                    list[at] = self.extremum(opposite(op), &kept, context)?;
                }
            }
        }
        Some(())
    }

    /// Divides the extremum of the numerators where several operands are quotients by one number: rounding down keeps the order
    /// of numbers.
    // Proved: `quotient_of_extremum`, `constant_in_numerator` in `proofs/Simplify.v`.
    fn divide_once(&mut self, op: Binary, list: &mut Operands, context: &mut Context) -> Option<()> {
        let quotient = |algebra: &Algebra, form: &Form| {
            let [(atom, 1)] = form.terms[..] else { return None };
            let (whole, divisor) = algebra.as_quotient(atom)?;
            // A constant beside the quotient is a multiple of the divisor in its numerator.
            let more = Form::constant(form.constant.checked_mul(divisor)?)?;
            Some((whole.plus(1, &more)?, divisor))
        };
        for at in 0..list.len() {
            let Some((_, divisor)) = quotient(self, &list[at]) else { continue };
            let (mut wholes, mut others) = (Operands::new(), Operands::new());
            for form in list.iter() {
                match quotient(self, form) {
                    Some((whole, by)) if by == divisor => wholes.push(whole),
                    _ => others.push(form.clone()),
                }
            }
            if wholes.len() > 1 {
                let whole = self.extremum(op, &wholes, context)?;
                others.push(self.quotient_within(&whole, divisor, 0, context)?);
                *list = others;
                break;
            }
        }
        Some(())
    }

    /// The extremum of two choices by one condition is one choice.
    // Proved: `choices_by_one_condition`, `choice_in_sum` in `proofs/Simplify.v`.
    fn choose_once(&mut self, op: Binary, list: &mut Operands, context: &mut Context) -> Option<()> {
        let choice = |algebra: &Algebra, form: &Form| {
            let [(atom, factor)] = form.terms[..] else { return None };
            let Kind::Select(condition, a, b) = algebra.kind(atom) else { return None };
            let constant = form.without(atom);
            Some((*condition, constant.plus(factor, a)?, constant.plus(factor, b)?))
        };
        for one in 0..list.len() {
            let Some((condition, a, b)) = choice(self, &list[one]) else { continue };
            let other = (one + 1..list.len()).find_map(|at| {
                let (by, c, d) = choice(self, &list[at])?;
                (by == condition).then_some((at, c, d))
            });
            if let Some((at, c, d)) = other {
                let (a, b) = (self.extremum(op, &[a, c], context)?, self.extremum(op, &[b, d], context)?);
                list[one] = self.choice_of(condition, a, b, context)?;
                list.remove(at);
                return self.choose_once(op, list, context);
            }
        }
        Some(())
    }

    /// The product of the minimum and the maximum of two forms as that of both forms.
    // Proved: `product_of_extrema` in `proofs/Simplify.v`.
    pub(crate) fn product_of_both(&mut self, a: &Form, b: &Form, context: &mut Context) -> Option<Form> {
        let ([(one, 1)], [(other, 1)], 0, 0) = (&a.terms[..], &b.terms[..], a.constant, b.constant) else {
            return None;
        };
        let (Kind::Extremum(op, ours), Kind::Extremum(of, theirs)) = (self.kind(*one), self.kind(*other)) else {
            return None;
        };
        let [a, b] = &ours[..] else { return None };
        if op == of || ours != theirs || a.as_constant().is_some() || b.as_constant().is_some() {
            return None;
        }
        let (a, b) = (a.clone(), b.clone());
        self.product(&a, &b, context)
    }

    /// The exclusive or of a number with a number that is one itself, in part of the same: `(a ^ b) ^ b` is `a`.
    // Proved: `xor_twice` in `proofs/Simplify.v`.
    pub(crate) fn without_both(&self, a: &Form, b: &Form) -> Option<Form> {
        [(a, b), (b, a)].into_iter().find_map(|(whole, part)| {
            let ([(atom, 1)], 0) = (&whole.terms[..], whole.constant) else { return None };
            let Kind::Operation(Binary::Xor, a, b, _) = self.kind(*atom) else { return None };
            match (a == part, b == part) {
                (true, _) => Some(b.clone()),
                (_, true) => Some(a.clone()),
                _ => None,
            }
        })
    }

    /// Looks at each operand where it decides, which is where all others are beaten: if it nowhere is, it goes, and if it has
    /// fewer atoms there it may be what it is there. Most of what is compared is linear, and the conditions narrow the
    /// ranges of single atoms.
    // Proved: `never_decides`, `replaced_where_it_decides` in `proofs/Simplify.v`.
    fn keep_what_decides(&mut self, op: Binary, list: &mut Operands, context: &Context) -> Option<()> {
        let mut at = 0;
        while at < list.len() && list.len() > 1 {
            // Contexts learn all atoms up to the last one.
            let last =
                list.iter().filter_map(|form| form.terms.last()).map(|(atom, _)| *atom as usize).max().unwrap_or(0);
            if !self.pays(32 + 2 * last) {
                break;
            }
            let beats = |form: &Form, other: &Form, by: i128| {
                let form = if op == Binary::Min { other.plus(-1, form)? } else { form.plus(-1, other)? };
                Some(Condition { form, low: Some(by), high: None })
            };
            let others = || list.iter().enumerate().filter(|(other, _)| *other != at).map(|(_, form)| form);
            let decides = others().map(|other| beats(&list[at], other, 1)).collect::<Option<Conditions>>()?;
            let Ok(there) = self.context_of(&decides, &list[at], context) else {
                list.remove(at);
                continue;
            };
            if let Some(form) = self.known_there(&list[at], &there)
                && self.size(&form) < self.size(&list[at])
            {
                // Where another one decides, the new form must not beat them all.
                let is_no_better = |other: &Form| {
                    let mut conditions: Conditions =
                        others().map(|other| beats(&form, other, 1)).collect::<Option<_>>()?;
                    conditions.push(beats(other, &list[at], 0)?);
                    self.context_of(&conditions, &form, context).is_err().then_some(())
                };
                if others().all(|other| is_no_better(other).is_some()) {
                    list[at] = form;
                }
            }
            at += 1;
        }
        Some(())
    }

    /// A form where conditions hold that a context knows: with known values, and with the operands of extrema that decide there.
    // Proved: `known_value`, `beaten_operand_goes` in `proofs/Simplify.v`.
    fn known_there(&self, form: &Form, there: &Context) -> Option<Form> {
        let mut form = there.with_known_values(form)?;
        for (atom, factor) in form.terms.clone() {
            let Kind::Extremum(op, operands) = self.kind(atom) else { continue };
            let mut left = Operands::new();
            for operand in operands {
                self.join(*op, &mut left, operand.clone(), there)?;
            }
            if let [only] = &left[..] {
                form = form.plus(-factor, &Form::atom(atom))?.plus(factor, only)?;
            }
        }
        Some(form)
    }

    /// The conditions that a condition on a form with an extremum comes to: it holds for the smallest of several forms that it is
    /// at least a number where it holds for all of them, and if for all but one it never holds, it does for that one.
    // Proved: `bound_of_extremum` in `proofs/Simplify.v`.
    fn conditions_of_cases(&self, condition: &Condition, context: &Context, all: &mut Conditions) -> Option<()> {
        let Condition { form, low, high } = condition;
        let (atom, factor) = *form.terms.iter().rev().find(|(atom, _)| self.is_case(*atom))?;
        let is_least = self.is_least(atom, factor)?;
        match (low.is_some() && high.is_none() && is_least) || (low.is_none() && high.is_some() && !is_least) {
            true => {
                let rest = form.plus(-factor, &Form::atom(atom))?;
                for operand in self.kind(atom).forms() {
                    all.push(Condition { form: rest.plus(factor, operand)?, low: *low, high: *high }.normal());
                }
            }
            false => match self.decided(condition, context)? {
                Decided::Test(test) => all.push(test.normal()),
                Decided::Known(_) => {}
            },
        }
        Some(())
    }

    /// What is known where conditions hold; an error where they are shown never to hold together.
    // Proved: `bounds_of_sum_contradict`, `empty_span`, `truth_by_bounds` in `proofs/Simplify.v`.
    fn context_of(&self, conditions: &Conditions, form: &Form, context: &Context) -> Result<Context, Contradiction> {
        let (mut all, mut plain_ones) = (Conditions::new(), Conditions::new());
        for condition in conditions {
            let condition = condition.clone().normal();
            if self.has_cases {
                let _ = self.conditions_of_cases(&condition, context, &mut plain_ones);
            }
            plain_ones.push(condition);
        }
        for condition in plain_ones {
            let plain = self.without_quotient(condition.clone(), context).normal();
            all.extend(context.eliminated(&condition).map(Condition::normal));
            if plain != condition {
                all.push(plain);
            }
            all.push(condition);
        }
        // Some contradict each other in their sum.
        for (at, one) in conditions.iter().enumerate() {
            for other in &conditions[..at] {
                if let Some(form) = one.form.plus(1, &other.form) {
                    let sum = Condition { form, low: one.low.zip(other.low).map(|(a, b)| a + b), high: None };
                    if sum.truth(context.bounds_of_difference(&sum.form)) == Truth::Never {
                        return Err(Contradiction);
                    }
                }
            }
        }
        let there = Context::of(self, all.iter(), [form]);
        let never = |condition: &Condition| condition.truth(self.bounds(&condition.form, &there)) == Truth::Never;
        if there.is_empty() || all.iter().any(never) { Err(Contradiction) } else { Ok(there) }
    }

    /// A sum with an extremum or a choice in it, written the shorter way: what is added to it is added to its operands where
    /// terms go away then, the minimum and the maximum of the same two forms are their sum, and two choices by one condition
    /// are one.
    pub(crate) fn folded(&mut self, form: Form, context: &mut Context) -> Option<Form> {
        let mut form = form;
        if !self.has_cases {
            return Some(form);
        }
        loop {
            let cases: Vec<(Atom, i64)> =
                form.terms.iter().rev().copied().filter(|(atom, _)| self.is_case(*atom)).collect();
            let size = self.size(&form);
            let shorter = cases.iter().find_map(|(atom, factor)| {
                let shorter = self.with_the_other(&form, *atom, *factor);
                let shorter = shorter.or_else(|| self.added_within(&form, *atom, *factor, context));
                shorter.filter(|shorter| self.size(shorter) < size)
            });
            match shorter {
                Some(shorter) => form = shorter,
                None => return Some(form),
            }
        }
    }

    /// A form with the sum of two forms in the place of their minimum and their maximum.
    // Proved: `both_extrema` in `proofs/Simplify.v`.
    fn with_the_other(&self, form: &Form, atom: Atom, factor: i64) -> Option<Form> {
        let Kind::Extremum(op, operands) = self.kind(atom) else { return None };
        let [a, b] = &operands[..] else { return None };
        let is_other = |other: &Atom| match self.kind(*other) {
            Kind::Extremum(of, theirs) => of != op && theirs == operands,
            _ => false,
        };
        let (other, theirs) = *form.terms.iter().find(|(other, _)| is_other(other))?;
        let common = match (factor > 0) == (theirs > 0) {
            true if factor.abs() < theirs.abs() => factor,
            true => theirs,
            false => return None,
        };
        let pair = Form::atom(atom).plus(1, &Form::atom(other))?;
        form.plus(-common, &pair)?.plus(common, &a.plus(1, b)?)
    }

    /// A form as an extremum, or a choice, of sums; `None` where no term of the form goes away in any of them.
    // Proved: `extremum_in_sum`, `choice_in_sum` in `proofs/Simplify.v`.
    fn added_within(&mut self, form: &Form, atom: Atom, factor: i64, context: &mut Context) -> Option<Form> {
        let rest = form.plus(-factor, &Form::atom(atom))?;
        let goes = |operand: &Form| {
            let meets = |(atom, by): &(Atom, i64)| rest.coefficient(*atom).signum() == -by.signum() * factor.signum();
            operand.terms.iter().any(|term| meets(term) && rest.coefficient(term.0) != 0)
        };
        match self.kind(atom) {
            Kind::Extremum(op, operands) => {
                let moving = operands.iter().filter(|operand| !operand.terms.is_empty()).count();
                if !(operands.iter().any(goes) || (rest.terms.is_empty() && moving > 1)) {
                    return None;
                }
                let op = if factor > 0 { *op } else { opposite(*op) };
                let sums = operands.iter().map(|operand| rest.plus(factor, operand)).collect::<Option<Operands>>()?;
                self.extremum(op, &sums, context)
            }
            Kind::Select(condition, a, b) => {
                let condition = *condition;
                let of_same = |(other, theirs): &(Atom, i64)| match self.kind(*other) {
                    Kind::Select(by, c, d) if *by == condition && *other != atom => {
                        Some((*other, *theirs, [c.clone(), d.clone()]))
                    }
                    _ => None,
                };
                let same = form.terms.iter().find_map(of_same);
                let (kept, a, b) = match same {
                    Some((other, theirs, [c, d])) => {
                        let kept = rest.plus(-theirs, &Form::atom(other))?;
                        (kept, c.times(theirs)?.plus(factor, a)?, d.times(theirs)?.plus(factor, b)?)
                    }
                    None if goes(a) || goes(b) => (Form::default(), rest.plus(factor, a)?, rest.plus(factor, b)?),
                    None => return None,
                };
                kept.plus(1, &self.choice_of(condition, a, b, context)?)
            }
            _ => None,
        }
    }

    /// One form or another, by a condition.
    // Proved: `common_part_of_choice` in `proofs/Simplify.v`.
    pub(crate) fn choice_of(&mut self, condition: Atom, a: Form, b: Form, context: &mut Context) -> Option<Form> {
        let (a, b) = self.where_chosen(condition, a, b, context);
        if a == b {
            return Some(a);
        }
        // Terms and a constant that both have are added outside.
        let common: Terms = (a.terms.iter().copied()).filter(|(atom, by)| b.coefficient(*atom) == *by).collect();
        let constant = if a.constant == b.constant { a.constant } else { 0 };
        let common = Form { terms: common, constant };
        let (a, b) = (a.plus(-1, &common)?, b.plus(-1, &common)?);
        if let Some(op) = self.as_comparison(condition, &a, &b) {
            return common.plus(1, &self.extremum(op, &[a, b], context)?);
        }
        self.has_cases = true;
        common.plus(1, &Form::atom(self.atom(Kind::Select(condition, a, b), context)?))
    }

    /// Both forms of a choice as they are where they are chosen: the first where the condition holds, the other where it does not.
    // Proved: `equal_where_chosen` in `proofs/Simplify.v`.
    fn where_chosen(&mut self, condition: Atom, a: Form, b: Form, context: &Context) -> (Form, Form) {
        let Kind::Test(test) = self.kind(condition) else { return (a, b) };
        let test = test.clone();
        if !self.pays(32 + 2 * self.len()) {
            return (a, b);
        }
        let opposite = match (test.low, test.high) {
            (Some(low), None) => Some(Condition { form: test.form.clone(), low: None, high: Some(low - 1) }),
            (None, Some(high)) => Some(Condition { form: test.form.clone(), low: Some(high + 1), high: None }),
            _ => None,
        };
        let there = |form: Form, condition: Option<Condition>| {
            let Some(condition) = condition else { return form };
            let known = self.context_of(&Conditions::from([condition]), &form, context).ok();
            known.and_then(|there| self.known_there(&form, &there)).unwrap_or(form)
        };
        (there(a, Some(test)), there(b, opposite))
    }

    /// Whether a choice is the smaller or the larger of both, because the condition compares them:
    /// `a if a <= b else b` is `min(a, b)`.
    ///
    /// Where `b - a = factor * form + constant` with a positive factor, the condition `form >= low` chooses `a` where `b - a` is at
    /// least 0, and `b` where it is at most 0, if `factor * low + constant >= 0` and `factor * (low - 1) + constant <= 0`.
    // Proved: `choice_is_extremum` in `proofs/Simplify.v`.
    fn as_comparison(&self, condition: Atom, a: &Form, b: &Form) -> Option<Binary> {
        let Kind::Test(Condition { form, low, high }) = self.kind(condition) else { return None };
        let difference = b.plus(-1, a)?;
        let (first, unit) = *form.terms.first()?;
        let factor = difference.coefficient(first) / unit;
        let constant = difference.plus(factor.checked_neg()?, form)?.as_constant()?;
        let at = |value: i128| Some(i128::from(factor).checked_mul(value)? + i128::from(constant));
        // The differences next to the bound, where the condition holds and where it does not.
        let (holds, fails) = match (low, high) {
            (Some(low), None) => (at(*low)?, at(low - 1)?),
            (None, Some(high)) => (at(*high)?, at(high + 1)?),
            _ => return None,
        };
        // Whether it grows with the form where the condition holds.
        let grows = (factor > 0) == low.is_some();
        match grows {
            true if holds >= 0 && fails <= 0 => Some(Binary::Min),
            false if holds <= 0 && fails >= 0 => Some(Binary::Max),
            _ => None,
        }
    }

    /// A form with a choice in it: the condition of the choice, and the form where it holds and where it does not.
    // Proved: `choice_in_sum` in `proofs/Simplify.v`.
    pub(crate) fn cases_of_choice(&self, form: &Form) -> Option<(Atom, [Form; 2])> {
        let (atom, factor) = *form.terms.iter().rev().find(|(atom, _)| matches!(self.kind(*atom), Kind::Select(..)))?;
        let Kind::Select(by, a, b) = self.kind(atom) else { return None };
        let rest = form.plus(-factor, &Form::atom(atom))?;
        Some((*by, [rest.plus(factor, a)?, rest.plus(factor, b)?]))
    }

    /// Whether a condition holds wherever another one does, as far as tests of one form tell.
    // Proved: `implied_on_one_form` in `proofs/Simplify.v`.
    pub(crate) fn implies(&self, a: Atom, b: Atom) -> bool {
        let test = |atom: Atom| match self.kind(atom) {
            Kind::Test(condition) => Some((condition, true)),
            Kind::Not(atom) => match self.kind(*atom) {
                Kind::Test(condition) => Some((condition, false)),
                _ => None,
            },
            _ => None,
        };
        let (Some((a, ours)), Some((b, theirs))) = (test(a), test(b)) else { return false };
        if a.form != b.form {
            return false;
        }
        let ends = |condition: &Condition| (condition.low.unwrap_or(i128::MIN), condition.high.unwrap_or(i128::MAX));
        let ((low, high), (least, most)) = (ends(a), ends(b));
        match (ours, theirs) {
            (true, true) => least <= low && high <= most,
            (true, false) => high < least || most < low,
            (false, false) => low <= least && most <= high,
            (false, true) => false,
        }
    }

    /// Two tests of one form as one: where both hold, or where one does, if that is a range again. `None` within where they never
    /// hold together.
    // Proved: `on_one_form`, `either_on_one_form` in `proofs/Simplify.v`.
    pub(crate) fn on_one_form(&self, op: Binary, a: Atom, b: Atom) -> Option<Option<Condition>> {
        let (Kind::Test(a), Kind::Test(b)) = (self.kind(a), self.kind(b)) else { return None };
        if a.form != b.form {
            return None;
        }
        let ends = |condition: &Condition| (condition.low.unwrap_or(i128::MIN), condition.high.unwrap_or(i128::MAX));
        let ((low, high), (least, most)) = (ends(a), ends(b));
        let (low, high) = match op {
            Binary::And => (low.max(least), high.min(most)),
            _ if high.saturating_add(1) < least || most.saturating_add(1) < low => return None,
            _ => (low.min(least), high.max(most)),
        };
        let bound = |bound: i128| (bound != i128::MIN && bound != i128::MAX).then_some(bound);
        Some((low <= high).then(|| Condition { form: a.form.clone(), low: bound(low), high: bound(high) }))
    }

    /// About how many operations a form takes, those of extrema and choices in it included.
    pub(crate) fn size(&self, form: &Form) -> usize {
        self.size_within(form, 3)
    }

    fn size_within(&self, form: &Form, depth: u32) -> usize {
        let summands = form.terms.len() + usize::from(form.constant != 0);
        // Terms of one coefficient are multiplied together.
        let is_first = |at: usize, factor: i64| !form.terms[..at].iter().any(|(_, other)| other.abs() == factor.abs());
        let products = (form.terms.iter().enumerate())
            .filter(|(at, (_, factor))| factor.abs() != 1 && is_first(*at, *factor))
            .count();
        let negated =
            form.constant <= 0 && !form.terms.is_empty() && form.terms.iter().all(|(_, factor)| *factor == -1);
        let inner = form.terms.iter().map(|(atom, _)| match self.kind(*atom) {
            Kind::Variable(..) => 0,
            kind @ (Kind::Extremum(..) | Kind::Select(..) | Kind::Product(..)) if depth > 0 => {
                kind.forms().map(|operand| 1 + self.size_within(operand, depth - 1)).sum::<usize>() - 1
            }
            _ => 1,
        });
        summands.saturating_sub(1) + products + usize::from(negated) + inner.sum::<usize>()
    }

    /// `floor(form / divisor)` as an extremum of quotients, where that leaves at most so many divisions: rounding down keeps the
    /// order of numbers, so that the quotient of the smaller one is the smaller quotient.
    // Proved: `quotient_of_extremum`, `extremum_in_sum` in `proofs/Simplify.v`.
    pub(crate) fn quotient_of_operands(
        &mut self,
        form: &Form,
        divisor: i64,
        most: usize,
        context: &mut Context,
    ) -> Option<Form> {
        if !self.has_cases {
            return None;
        }
        let mut cases = form.terms.iter().filter(|(atom, _)| self.is_case(*atom));
        let (&(atom, factor), None) = (cases.next()?, cases.next()) else { return None };
        let Kind::Extremum(op, operands) = self.kind(atom) else { return None };
        let op = if factor > 0 { *op } else { opposite(*op) };
        let rest = form.plus(-factor, &Form::atom(atom))?;
        let sums = operands.iter().map(|operand| rest.plus(factor, operand)).collect::<Option<Operands>>()?;
        // Of an operand whose quotient another one always beats nothing is left.
        let spans: Vec<_> = sums.iter().map(|sum| context.bounds(sum)).collect();
        let floor = |end: i128| div_floor(end, divisor.into());
        let is_beaten = |at: usize| {
            let Some((low, high)) = spans[at] else { return false };
            let beats = |(other, span): (usize, &Option<Span>)| match span {
                Some((least, most)) if other != at => match op {
                    Binary::Min => floor(*most) <= floor(low) && (floor(*most) < floor(low) || other < at),
                    _ => floor(*least) >= floor(high) && (floor(*least) > floor(high) || other < at),
                },
                _ => false,
            };
            spans.iter().enumerate().any(beats)
        };
        let left: Operands = (0..sums.len()).filter(|at| !is_beaten(*at)).map(|at| sums[at].clone()).collect();
        // Beside its numerator a quotient is part of a remainder, which keeps the numerator as it is.
        if left.len() < sums.len() && most > 0 {
            return self.within_depth(|algebra| {
                let form = algebra.extremum(op, &left, context)?;
                algebra.quotient_within(&form, divisor, most, context)
            });
        }
        let divides = |sum: &&Form| {
            let common = gcd(sum.content().into(), divisor.into()) as i64;
            common != divisor && context.affine_quotient(sum, divisor).is_none()
        };
        if sums.iter().filter(divides).count() > most {
            return None;
        }
        self.within_depth(|algebra| {
            let quotients = sums.iter().map(|sum| algebra.quotient_within(sum, divisor, most, context));
            let quotients = quotients.collect::<Option<Operands>>()?;
            algebra.extremum(op, &quotients, context)
        })
    }

    /// A test of a form with an extremum in it, where it is decided for all operands but one.
    // Proved: `bound_of_extremum`, `decided_but_for_one` in `proofs/Simplify.v`.
    pub(crate) fn decided(&self, condition: &Condition, context: &Context) -> Option<Decided> {
        if !self.has_cases {
            return None;
        }
        let Condition { form, low, high } = condition;
        let (atom, factor) = *form.terms.iter().rev().find(|(atom, _)| self.is_case(*atom))?;
        let rest = form.plus(-factor, &Form::atom(atom))?;
        let tests = self.kind(atom).forms().map(|operand| {
            let form = rest.plus(factor, operand)?;
            let test = Condition { form, low: *low, high: *high };
            Some((test.truth(self.bounds(&test.form, context)), test))
        });
        let mut tests = tests.collect::<Option<Vec<_>>>()?;
        let is_least = self.is_least(atom, factor)?;
        // The smallest is at least a number where all are, and at most that where one is.
        let all = match (low, high) {
            (Some(_), None) => is_least,
            (None, Some(_)) => !is_least,
            _ => return None,
        };
        let (ends, goes) = if all { (Truth::Never, Truth::Always) } else { (Truth::Always, Truth::Never) };
        if tests.iter().any(|(truth, _)| *truth == ends) {
            return Some(Decided::Known(!all));
        }
        tests.retain(|(truth, _)| *truth != goes);
        match tests.len() {
            0 => Some(Decided::Known(all)),
            1 => tests.pop().map(|(_, test)| Decided::Test(test)),
            _ => None,
        }
    }
}

/// Says that conditions never hold together.
struct Contradiction;

/// What a test of a form with an extremum comes to.
pub(crate) enum Decided {
    Known(bool),
    Test(Condition),
}

/// A form with the same minimum, or maximum, with a constant: no coefficient is larger than what is missing to the constant. If
/// one is, its atom reaches the constant with its first step, and so it does with a smaller coefficient
/// ([`Context::saturated`]). `None` where nothing changes.
// Proved: `saturated_operand`, `maximum_is_minimum`, `ends_are_least` in `proofs/Simplify.v`.
fn saturated(op: Binary, form: &Form, constant: i64, context: &Context) -> Option<Form> {
    let sign = if op == Binary::Min { 1 } else { -1 };
    let ends = form.terms.iter().map(|(atom, factor)| {
        let (low, high) = context.range(*atom);
        (*atom, i128::from(sign * factor), if sign * factor > 0 { low } else { high })
    });
    // The least of sign * form.
    let mut least = i128::from(sign) * i128::from(form.constant);
    for (_, factor, end) in ends.clone() {
        least = least.checked_add(factor.checked_mul(end)?)?;
    }
    let missing = (i128::from(sign) * i128::from(constant)).checked_sub(least).filter(|missing| *missing > 0)?;
    let mut capped = Form::constant(least)?;
    let mut changed = false;
    for (atom, factor, end) in ends {
        let kept = factor.clamp(-missing, missing);
        changed |= kept != factor;
        let term = Form { terms: Terms::from_slice(&[(atom, i64::try_from(kept).ok()?)]), constant: 0 };
        capped = capped.plus(1, &term)?.plus(1, &Form::constant(kept.checked_mul(end)?.checked_neg()?)?)?;
    }
    changed.then(|| capped.times(sign)).flatten()
}
