//! What methods ask about the array so far and about numbers: its shape, what is known of sizes, what must hold.

use std::ops::Range;

use shapetracker_base::text::ParseError;

use super::ChainStartOf;
use super::arithmetic::{Known, Operator, Role};
use super::foreign::NO_SHAPE;
use super::parsed::{Need, Parsed};
use super::parser::{Num, Nums, Reader};
use crate::MovementOf;
use crate::number::{List as _, Number};
use crate::shape::resolve_axis;

impl<'a, A: Known> Reader<'a, '_, A> {
    /// Demands that a number is at least another one, or equal to it, in what was read from `begin` to here; where that depends
    /// on names, of the operation that comes next.
    pub(super) fn need(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        (left, right): (&Num<A>, &Num<A>),
        is_equal: bool,
        begin: usize,
        why: &dyn Fn(&A) -> String,
    ) -> Result<(), ParseError> {
        let holds = match is_equal {
            true => self.arithmetic.equal(left, right),
            false => self.arithmetic.at_least(left, right),
        };
        if holds == Some(true) {
            return Ok(());
        }
        let why = why(self.arithmetic);
        if holds == Some(false) {
            return Err(self.wrong(begin, why));
        }
        let (op, left, right) = (parsed.ops.len(), left.clone(), right.clone());
        parsed.needs.push(Need { op, left, right, is_equal, why: why.into() });
        Ok(())
    }

    /// Numbers in a tuple or a list, or one number.
    pub(super) fn one_or_more(&mut self, what: &str) -> Result<Nums<A>, ParseError> {
        if self.at_tuple() {
            return self.numbers(what);
        }
        let mut one = Nums::<A>::default();
        one.push(self.number(what, Role::Other)?);
        Ok(one)
    }

    /// The quotient of two numbers where there is no rest; `None` where there is, or where that is not known.
    pub(super) fn quotient(&mut self, a: &Num<A>, b: &Num<A>, begin: usize) -> Result<Option<Num<A>>, ParseError> {
        let mut of = |operator| self.arithmetic.operate(operator, a, b);
        let parts = of(Operator::Modulo).and_then(|rest| Ok((rest, of(Operator::Div)?)));
        let (rest, quotient) = parts.map_err(|message| self.wrong(begin, message))?;
        Ok(quotient.filter(|_| rest.is_some_and(|rest| rest.integer() == Some(0))))
    }

    /// An index or a bound from the front, where it counts from the end.
    pub(super) fn counted(&mut self, index: &Num<A>, size: &Num<A>, begin: usize) -> Result<Num<A>, ParseError> {
        match self.arithmetic.at_least(index, &Num::<A>::from(0)) {
            Some(false) => self.operate(Operator::Add, index, size, begin),
            _ => Ok(index.clone()),
        }
    }

    /// The row-major strides of a shape, for what was read from `begin` to here.
    pub(super) fn row_major(&mut self, shape: &[Num<A>], begin: usize) -> Result<Nums<A>, ParseError> {
        self.arithmetic.row_major(shape).map_err(|message| self.wrong(begin, message))
    }

    /// The larger of two numbers.
    pub(super) fn larger(&mut self, a: &Num<A>, b: &Num<A>, begin: usize) -> Result<Num<A>, ParseError> {
        match (self.arithmetic.at_least(a, b), self.arithmetic.at_least(b, a)) {
            (Some(true), _) | (_, Some(false)) => Ok(a.clone()),
            (Some(false), _) | (_, Some(true)) => Ok(b.clone()),
            (None, None) => Err(self.not_known(a, b, begin)),
        }
    }

    /// The smaller of two numbers.
    pub(super) fn smaller(&mut self, a: &Num<A>, b: &Num<A>, begin: usize) -> Result<Num<A>, ParseError> {
        Ok(if self.larger(a, b, begin)? == *a { b.clone() } else { a.clone() })
    }

    #[cold]
    pub(super) fn not_known(&self, a: &Num<A>, b: &Num<A>, begin: usize) -> ParseError {
        let [a, b] = [a, b].map(|number| self.shown(number));
        self.error_at(
            begin..self.last,
            format!("whether {a} or {b} is larger is not known: say which, as in `{a} <= {b}`"),
        )
    }

    /// The shape, and one of its axes from the front.
    pub(super) fn axis_of(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        name: &str,
        axis: &Num<A>,
        begin: usize,
    ) -> Result<(Nums<A>, usize), ParseError> {
        let axis = self.whole(axis, "an axis", begin)?;
        let shape = self.shape(parsed, begin)?;
        let resolved = resolve_axis("axis", axis, shape.len())
            .map_err(|err| self.wrong(begin, format!("{name}: {}", err.reason())))?;
        Ok((shape, resolved))
    }

    /// A number as it is written.
    #[cold]
    #[inline(never)]
    pub(super) fn shown(&self, number: &Num<A>) -> String {
        self.arithmetic.text(number)
    }

    /// The number of elements of a shape, in what was read from `begin` to here.
    pub(super) fn numel(&mut self, op: &'static str, shape: &[Num<A>], begin: usize) -> Result<Num<A>, ParseError> {
        self.arithmetic.numel(op, shape).map_err(|message| self.wrong(begin, message))
    }

    /// The number of axes after everything that was read so far: most operations say it, whatever the sizes are.
    pub(super) fn rank(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<usize, ParseError> {
        let (done, known) = match (parsed.rank, &parsed.known) {
            (Some((ops, rank)), (done, _)) if ops >= *done => (ops, rank),
            (_, (done, Some(shape))) => (*done, shape.len()),
            _ => match (&parsed.start, self.base) {
                (ChainStartOf::Shape(shape), _) => (0, shape.len()),
                (ChainStartOf::Nothing, Some(base)) => (0, base.len()),
                _ => (0, self.shape(parsed, begin)?.len()),
            },
        };
        let after = parsed.ops.iter().skip(done).try_fold(known, |rank, op| {
            Some(match op {
                MovementOf::Reshape(sizes) | MovementOf::BroadcastTo(sizes) | MovementOf::AsStrided(sizes, ..) => {
                    sizes.len()
                }
                MovementOf::Squeeze(axes) => rank.checked_sub(axes.len())?,
                MovementOf::SqueezeAll => return None,
                MovementOf::Unsqueeze(_) => rank + 1,
                _ => rank,
            })
        });
        let rank = match after {
            Some(rank) => rank,
            None => self.shape(parsed, begin)?.len(),
        };
        parsed.rank = Some((parsed.ops.len(), rank));
        Ok(rank)
    }

    /// The shape after everything that was read so far, which what was read from `begin` to here depends on.
    ///
    /// The shape is kept with the number of operations that it is of, so that a chain of `n` such operations applies each
    /// one once, not `n` times.
    pub(super) fn shape(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Nums<A>, ParseError> {
        let (done, known) = &parsed.known;
        let start = match (&parsed.start, self.base) {
            _ if known.is_some() => None,
            (ChainStartOf::Shape(shape), _) => Some(shape.clone()),
            (ChainStartOf::Views(views), _) => {
                Some(views.last().map_or_else(Nums::<A>::default, |view| self.arithmetic.shape(view)))
            }
            (ChainStartOf::Nothing, Some(base)) => Some(base.to_vec().into()),
            (ChainStartOf::Nothing, None) => return Err(self.error_at(begin..self.last, NO_SHAPE)),
        };
        let refused = |span: &Range<usize>, message: String| self.tokens.error_at(span.clone(), message);
        let mut shape = match (start, known) {
            (Some(shape), _) => {
                let numel = self.arithmetic.numel("shape", &shape);
                numel.map_err(|message| refused(&parsed.start_span, message))?;
                shape
            }
            (None, known) => known.clone().unwrap_or_default(),
        };
        for (number, op) in parsed.ops.iter().enumerate().skip(*done) {
            let after = self.arithmetic.moved(&shape, op);
            shape = after.map_err(|message| refused(&parsed.span(number).unwrap_or_default(), message))?;
        }
        parsed.known = (parsed.ops.len(), Some(shape.clone()));
        Ok(shape)
    }
}

/// That a size is not known to be a multiple of a number, and how to say that it is.
#[cold]
pub(super) fn undivided_axis(axis: usize, size: &str, by: &str) -> String {
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_') && !text.is_empty();
    let quotient = size.to_ascii_lowercase();
    let quotient = if quotient == size || !is_name(size) { "k".into() } else { quotient };
    let by = if is_name(by) { by.to_owned() } else { format!("({by})") };
    format!(
        "axis {axis} has size {size}, and whether {by} divides it is not known: say that `{size} = {by}*{quotient}`"
    )
}
