//! Windows along axes, and diagonals: strides over the elements in row-major order.

use shapetracker_base::text::ParseError;

use super::{Called, Meant, Reading};
use crate::MovementOf;
use crate::notation::arithmetic::{Known, Operator};
use crate::notation::call::Call;
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Nums, Reader};

impl<'a, A: Known> Reader<'a, '_, A> {
    /// `unfold`: windows of an axis, their elements on a new last axis.
    pub(super) fn unfold(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let begin = called.begin;
        let [axis, size, step] = self.named_numbers(called, [None, None, None])?;
        let step = self.whole(&step, "a step", begin)?;
        let (shape, axis) = self.axis_of(parsed, called.name, &axis, begin)?;
        let of = shape[axis].clone();
        let why = |arithmetic: &A| {
            let [of, size] = [&of, &size].map(|number| arithmetic.text(number));
            format!("axis {axis} has size {of}: no window of {size} at a step of {step}")
        };
        if step < 1 {
            return Err(self.wrong(begin, why(self.arithmetic)));
        }
        self.need(parsed, (&size, &Num::<A>::from(0)), false, begin, &why)?;
        self.need(parsed, (&of, &size), false, begin, &why)?;
        let op = self.windows(&shape, &[(axis, size, step)], begin)?;
        Ok(Meant::Operations(vec![op], Call::Unfold(axis as u8)))
    }

    /// The diagonal of two axes, as a new last axis.
    pub(super) fn diagonal(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let begin = called.begin;
        let zero = Num::<A>::from(0);
        let defaults = [0, 0, 1].map(|default| Some(Num::<A>::from(default)));
        let [offset, first, second] = self.named_numbers(called, defaults)?;
        let (shape, first) = self.axis_of(parsed, called.name, &first, begin)?;
        let (_, second) = self.axis_of(parsed, called.name, &second, begin)?;
        if first == second {
            return Err(self.error_at(begin..self.last, "a diagonal has two different axes"));
        }
        let strides = self.row_major(&shape, begin)?;
        let down = self.operate(Operator::Sub, &zero, &offset, begin)?;
        let [down, right] = [self.larger(&down, &zero, begin)?, self.larger(&offset, &zero, begin)?];
        let rows = self.operate(Operator::Sub, &shape[first], &down, begin)?;
        let columns = self.operate(Operator::Sub, &shape[second], &right, begin)?;
        let length = self.smaller(&rows, &columns, begin)?;
        let length = self.larger(&length, &zero, begin)?;
        let rest = (0..shape.len()).filter(|axis| *axis != first && *axis != second);
        let (mut to, mut by): (Vec<_>, Vec<_>) = rest.map(|axis| (shape[axis].clone(), strides[axis].clone())).unzip();
        let is_empty = self.arithmetic.equal(&length, &zero) == Some(true);
        to.push(length);
        by.push(self.operate(Operator::Add, &strides[first], &strides[second], begin)?);
        let offset = if is_empty {
            zero
        } else {
            let down = self.operate(Operator::Mul, &down, &strides[first], begin)?;
            let right = self.operate(Operator::Mul, &right, &strides[second], begin)?;
            self.operate(Operator::Add, &down, &right, begin)?
        };
        let op = MovementOf::AsStrided(to.into(), by.into(), offset);
        Ok(Meant::Operations(vec![op], Call::Diagonal([first as u8, second as u8])))
    }

    /// `(window_shape, axis=None)`: a window of each axis, or of those that are named.
    pub(super) fn sliding_windows(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let begin = called.begin;
        let (mut sizes, mut axes) = (Nums::<A>::default(), None);
        self.fields("`(`", &called.arguments(), &mut |reader, field| {
            match field {
                0 => sizes = reader.one_or_more("the size of a window")?,
                1 => axes = Some(reader.one_or_more("an axis")?),
                // Neither changes the layout.
                _ => drop(reader.type_argument()?),
            }
            Ok(())
        })?;
        self.advance();
        let shape = self.shape(parsed, begin)?;
        let axes = axes.unwrap_or_else(|| (0..shape.len() as i64).map(Num::<A>::from).collect());
        if sizes.len() != axes.len() {
            let message =
                format!("expected the size of a window for each of {} axes, found {}", axes.len(), sizes.len());
            return Err(self.wrong(begin, message));
        }
        let mut along = Vec::new();
        let mut left = shape.clone();
        let (zero, one) = (Num::<A>::from(0), Num::<A>::from(1));
        for (axis, size) in axes.iter().zip(&sizes[..]) {
            let (_, axis) = self.axis_of(parsed, "sliding_window_view", axis, begin)?;
            let of = left[axis].clone();
            let why = |arithmetic: &A| {
                let [of, size] = [&of, size].map(|number| arithmetic.text(number));
                format!("axis {axis} has size {of}: there is no window of {size}")
            };
            self.need(parsed, (size, &zero), false, begin, &why)?;
            self.need(parsed, (&of, size), false, begin, &why)?;
            let less = self.operate(Operator::Sub, size, &one, begin)?;
            let less = self.larger(&less, &zero, begin)?;
            left[axis] = self.operate(Operator::Sub, &left[axis], &less, begin)?;
            along.push((axis, size.clone(), 1));
        }
        let call = if let [(axis, ..)] = along[..] { Call::Unfold(axis as u8) } else { Call::Windows };
        Ok(Meant::Operations(vec![self.windows(&shape, &along, begin)?], call))
    }

    /// Windows of some axes, `(axis, size, step)` each: an axis becomes that of where they begin, and one of their elements
    /// comes behind all others.
    fn windows(
        &mut self,
        shape: &[Num<A>],
        along: &[(usize, Num<A>, i64)],
        begin: usize,
    ) -> Result<MovementOf<Num<A>>, ParseError> {
        let (mut to, mut by) = (shape.to_vec(), self.row_major(shape, begin)?.to_vec());
        let one = Num::<A>::from(1);
        for (axis, size, step) in along {
            let (stride, step) = (by[*axis].clone(), Num::<A>::from(*step));
            // There is a window wherever one fits; one of no elements fits behind the last, too.
            let starts = match self.arithmetic.at_least(size, &one) {
                Some(true) => self.operate(Operator::Sub, &to[*axis], size, begin)?,
                Some(false) => to[*axis].clone(),
                None => return Err(self.not_known(size, &one, begin)),
            };
            let steps = self.arithmetic.operate(Operator::Div, &starts, &step);
            let Some(steps) = steps.map_err(|message| self.wrong(begin, message))? else {
                let [starts, step] = [&starts, &step].map(|number| self.shown(number));
                let message = format!(
                    "how many windows there are, {starts} // {step} + 1, is not known: say a multiple of {step}"
                );
                return Err(self.wrong(begin, message));
            };
            to[*axis] = self.operate(Operator::Add, &steps, &one, begin)?;
            to.push(size.clone());
            by.push(stride);
        }
        for (axis, _, step) in along {
            // Where that is out of range there is one window, and its stride is of no consequence.
            let far = self.arithmetic.operate(Operator::Mul, &by[*axis], &Num::<A>::from(*step));
            if let Ok(Some(far)) = far {
                by[*axis] = far;
            }
        }
        Ok(MovementOf::AsStrided(to.into(), by.into(), Num::<A>::from(0)))
    }
}
