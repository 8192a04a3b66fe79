//! Elements and axes repeated, rolled, and gathered in blocks: new arrays, in the libraries that have these methods.

use shapetracker_base::text::{ParseError, Token};

use super::{Called, Meant, Reading};
use crate::MovementOf;
use crate::notation::arithmetic::{Known, Operator, Role};
use crate::notation::call::Call;
use crate::notation::foreign::{Methods, Ops};
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Nums, Reader};
use crate::notation::program::cut;
use crate::number::Number;
use crate::shape::resolve_axis;

impl<'a, A: Known> Reader<'a, '_, A> {
    /// The pattern of einops with axes that repeat, NumPy's repetition of elements, or the array repeated along its axes.
    pub(super) fn repeat(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if self.first_argument() == Token::Text {
            return self.arranged_by(parsed, called, true);
        }
        let of_numpy = match parsed.methods {
            Methods::NumPy => true,
            // Of an array of which nothing is known only NumPy's calls have such arguments.
            Methods::Unknown => self.has_argument("order") || self.has_argument("axis"),
            _ => false,
        };
        if of_numpy {
            return Ok(Meant::Operations(self.interleaved(parsed, called.begin)?, Call::Interleave));
        }
        let ops = self.repeated(parsed, called, true)?;
        Ok(Meant::Operations(ops, if parsed.is_foreign() { Call::New } else { Call::Plain }))
    }

    /// The array repeated along its axes.
    pub(super) fn tile(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let ops = self.repeated(parsed, called, false)?;
        Ok(Meant::Operations(ops, if parsed.is_foreign() { Call::Tile } else { Call::Plain }))
    }

    /// The axes repeated so many times each; with `is_repeat` there is a number for each axis.
    fn repeated(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        called: &Called<'a>,
        is_repeat: bool,
    ) -> Result<Ops<A>, ParseError> {
        let mut times = self.number_arguments("how often an axis is repeated")?.to_vec();
        let mut shape = self.shape(parsed, called.begin)?.to_vec();
        if is_repeat && times.len() < shape.len() {
            let message = format!("expected a number for each of the {} axes", shape.len());
            return Err(self.wrong(called.begin, message));
        }
        let one = Num::<A>::from(1);
        while times.len() < shape.len() {
            times.insert(0, one.clone());
        }
        while shape.len() < times.len() {
            shape.insert(0, one.clone());
        }
        let pairs = times.iter().zip(&shape);
        let apart = pairs.clone().flat_map(|(_, size)| [one.clone(), size.clone()]).collect();
        let repeated = pairs.clone().flat_map(|(times, size)| [times.clone(), size.clone()]).collect();
        let joined = pairs.map(|(times, size)| self.operate(Operator::Mul, times, size, called.begin));
        let joined = joined.collect::<Result<Nums<A>, _>>()?;
        let mut ops = vec![MovementOf::Reshape(apart), MovementOf::Expand(repeated), MovementOf::Reshape(joined)];
        // tinygrad makes no copy of its own accord.
        ops.extend(parsed.is_foreign().then_some(MovementOf::Copy));
        Ok(ops)
    }

    /// Each element of an axis so many times.
    pub(super) fn repeat_interleave(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let ops = self.interleaved(parsed, called.begin)?;
        Ok(Meant::Operations(ops, if parsed.is_foreign() { Call::Interleave } else { Call::Plain }))
    }

    /// `pixel_shuffle` and back.
    pub(super) fn pixel_shuffle(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let [factor] = self.named_numbers(called, [None])?;
        let shape = self.shape(parsed, called.begin)?;
        let ops = self.pixels(&shape, &factor, called.name == "pixel_shuffle");
        let ops = ops.map_err(|message| self.wrong(called.begin, message))?;
        Ok(Meant::Operations(ops, if parsed.is_foreign() { Call::New } else { Call::Plain }))
    }

    /// `(repeats, axis)`: each element of an axis so many times, copied; without an axis those of the array as one axis.
    fn interleaved(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Ops<A>, ParseError> {
        let (mut repeats, mut axis) = (None, None);
        self.fields("`(`", &["repeats", "axis|dim"], &mut |reader, field| {
            let number = reader.number("a number", Role::Other)?;
            *[&mut repeats, &mut axis][field] = Some(number);
            Ok(())
        })?;
        let Some(repeats) = repeats else { return Err(self.expected("how often elements are repeated")) };
        self.advance();
        let mut shape = self.shape(parsed, begin)?;
        if axis.is_none() {
            shape = vec![self.numel("repeat", &shape, begin)?].into();
        }
        let axis = axis.map(|axis| self.whole(&axis, "an axis", begin)).transpose()?;
        let axis = resolve_axis("repeat", axis.unwrap_or(0), shape.len()).map_err(|err| self.refused(begin, &err))?;
        let (before, size, after) = (&shape[..axis], shape[axis].clone(), &shape[axis + 1..]);
        let joined = self.operate(Operator::Mul, &size, &repeats, begin)?;
        let apart = [size.clone(), Num::<A>::from(1)];
        Ok(vec![
            MovementOf::Reshape([before, &apart, after].concat().into()),
            MovementOf::Expand([before, &[size, repeats], after].concat().into()),
            MovementOf::Reshape([before, &[joined], after].concat().into()),
            MovementOf::Copy,
        ])
    }

    /// `(shift, axis=None)`: the elements of an axis moved, and what leaves it at one end comes in at the other; without an
    /// axis those of the array in their order. They are part of the axis repeated once.
    pub(super) fn roll(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let begin = called.begin;
        let (mut shift, mut axis) = (None, None);
        self.fields("`(`", &called.arguments(), &mut |reader, field| {
            let given = reader.one_or_more("a number")?;
            let [number] = &given[..] else {
                return Err(reader.error_at(
                    begin..reader.last,
                    "`roll` is read along one axis: write a call for each, as in `x.roll(1, 0).roll(2, 1)`",
                ));
            };
            *[&mut shift, &mut axis][field] = Some(number.clone());
            Ok(())
        })?;
        let Some(shift) = shift else { return Err(self.expected("how far elements are moved")) };
        let axis = axis.map(|axis| self.whole(&axis, "an axis", begin)).transpose()?;
        self.advance();
        let shape = self.shape(parsed, begin)?;
        let (mut ops, mut flat) = (Ops::<A>::new(), shape.clone());
        if axis.is_none() {
            flat = vec![self.numel("roll", &shape, begin)?].into();
        }
        let at = resolve_axis("roll", axis.unwrap_or(0), flat.len()).map_err(|err| self.refused(begin, &err))?;
        let (before, size, after) = (&flat[..at], flat[at].clone(), &flat[at + 1..]);
        let (one, two) = (Num::<A>::from(1), Num::<A>::from(2));
        let first = self.first_of_roll(&shift, &size, begin)?;
        let end = self.operate(Operator::Add, &first, &size, begin)?;
        let twice = self.operate(Operator::Mul, &size, &two, begin)?;
        ops.push(MovementOf::Reshape([before, &[one, size.clone()], after].concat().into()));
        ops.push(MovementOf::Expand([before, &[two, size], after].concat().into()));
        ops.push(MovementOf::Reshape([before, &[twice], after].concat().into()));
        ops.push(cut(&flat, at, (first, end)));
        if flat != shape {
            ops.push(MovementOf::Reshape(shape));
        }
        // tinygrad makes no copy of its own accord.
        if !parsed.is_foreign() {
            return Ok(ops.into());
        }
        ops.push(MovementOf::Copy);
        Ok(Meant::Operations(ops, Call::Roll(axis.map(|_| at as u8))))
    }

    /// Where in an axis that is repeated once the elements begin that are moved by so much.
    fn first_of_roll(&mut self, shift: &Num<A>, size: &Num<A>, begin: usize) -> Result<Num<A>, ParseError> {
        let zero = Num::<A>::from(0);
        if self.arithmetic.equal(size, &zero) == Some(true) {
            return Ok(zero);
        }
        let has_elements = self.arithmetic.at_least(size, &Num::<A>::from(1)) == Some(true);
        let rest = match has_elements {
            true => self.arithmetic.operate(Operator::Modulo, shift, size),
            false => Ok(None),
        };
        let rest = rest.map_err(|message| self.wrong(begin, message))?;
        // Where neither is a number the shift may still be known to be less than the size.
        let rest = match rest {
            Some(rest) => rest,
            None => {
                let is_back = self.arithmetic.at_least(shift, &zero) == Some(false);
                let near = if is_back { self.operate(Operator::Add, shift, size, begin)? } else { shift.clone() };
                let is_near = self.arithmetic.at_least(&near, &zero) == Some(true)
                    && self.arithmetic.at_least(size, &near) == Some(true);
                if !is_near {
                    let [shift, size] = [shift, size].map(|number| self.shown(number));
                    let message = format!("whether a shift of {shift} lies inside an axis of size {size} is not known");
                    return Err(self.wrong(begin, message));
                }
                near
            }
        };
        self.operate(Operator::Sub, size, &rest, begin)
    }

    /// `(.., C r r, H, W)` as `(.., C, H r, W r)`, or back.
    fn pixels(&mut self, shape: &[Num<A>], factor: &Num<A>, shuffle: bool) -> Result<Ops<A>, String> {
        let [rest @ .., channels, height, width] = shape else {
            return Err("expected at least the three axes of channels, rows and columns".into());
        };
        let known = |number: Option<Num<A>>| number.ok_or_else(|| "the size is not known".to_owned());
        let square = known(self.arithmetic.operate(Operator::Mul, factor, factor)?)?;
        let is_positive = self.arithmetic.at_least(factor, &Num::<A>::from(1)) == Some(true);
        let mut parts = |size: &Num<A>, by: &Num<A>| -> Result<Option<Num<A>>, String> {
            if !is_positive {
                return Ok(None);
            }
            let rest = self.arithmetic.operate(Operator::Modulo, size, by)?;
            let quotient = self.arithmetic.operate(Operator::Div, size, by)?;
            Ok(quotient.filter(|_| rest.is_some_and(|rest| rest.integer() == Some(0))))
        };
        let before = 0..rest.len() as i64;
        let axis = |place: usize| (rest.len() + place) as i64;
        let (apart, order, joined) = if shuffle {
            let Some(channels) = parts(channels, &square)? else {
                let [channels, factor] = [channels, factor].map(|number| self.shown(number));
                return Err(format!("{channels} channels are not a multiple of {factor} * {factor}"));
            };
            let mut of = |a: &Num<A>| known(self.arithmetic.operate(Operator::Mul, a, factor)?);
            let to = [channels.clone(), of(height)?, of(width)?];
            ([channels, factor.clone(), factor.clone(), height.clone(), width.clone()], [0, 3, 1, 4, 2], to)
        } else {
            let (Some(rows), Some(columns)) = (parts(height, factor)?, parts(width, factor)?) else {
                let [height, width, factor] = [height, width, factor].map(|number| self.shown(number));
                return Err(format!("{height} rows and {width} columns are not multiples of {factor}"));
            };
            let joined = known(self.arithmetic.operate(Operator::Mul, channels, &square)?)?;
            let to = [joined, rows.clone(), columns.clone()];
            ([channels.clone(), rows, factor.clone(), columns, factor.clone()], [0, 2, 4, 1, 3], to)
        };
        Ok(vec![
            MovementOf::Reshape([rest, &apart].concat().into()),
            MovementOf::Permute(before.chain(order.map(axis)).collect()),
            MovementOf::Reshape([rest, &joined].concat().into()),
        ])
    }
}
