//! Arrays cut into parts along an axis: `chunk`, `split`, `unbind` and their like.

use shapetracker_base::text::{ParseError, Token};

use super::{Called, Meant, Reading};
use crate::notation::arithmetic::{Known, Operator};
use crate::notation::asked::undivided_axis;
use crate::notation::foreign::{Methods, Ops};
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Reader};
use crate::notation::program::{Cut, Pieces};
use crate::number::Number;
use crate::shape::resolve_axis;

/// The most parts of an axis that are cut one by one.
const MOST_PARTS: i64 = 1 << 12;

impl<'a, A: Known> Reader<'a, '_, A> {
    /// `chunk`, `split` and their like: an axis cut into so many parts, or into parts of a size.
    pub(super) fn parts(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        self.parts_of(parsed, called, called.name, 0)
    }

    /// `hsplit`, `vsplit` and `dsplit`: a certain axis cut as NumPy's `split` cuts it, into equal parts.
    pub(super) fn parts_along(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>, axis: usize) -> Reading<A> {
        let rank = self.rank(parsed, called.begin)?;
        // Of an array of one axis `hsplit` cuts that one; `vsplit` does not.
        let least = [2, 1, 3][axis];
        if rank < least {
            let message = format!("`{}` is for arrays of at least {least} axes, and this one has {rank}", called.name);
            return Err(self.error_at(called.span.clone(), message));
        }
        self.parts_of(parsed, called, "equal", axis.min(rank - 1) as i64)
    }

    fn parts_of(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>, name: &str, mut axis: i64) -> Reading<A> {
        let begin = called.begin;
        let mut list = None;
        self.fields("`(`", &called.arguments(), &mut |reader, field| {
            if field == 1 {
                axis = reader.integer("an axis")?;
            } else {
                let is_list = reader.at_tuple();
                list = Some((reader.one_or_more("a number")?, is_list));
            }
            Ok(())
        })?;
        self.advance();
        let shape = self.shape(parsed, begin)?;
        let axis = resolve_axis("split", axis, shape.len()).map_err(|err| self.refused(begin, &err))?;
        let total = &shape[axis];
        let Some((list, is_list)) = list else { return Err(self.expected("a number of parts, or their sizes")) };
        // In NumPy, and in `tensor_split`, a number is that of the parts and a list is where they begin.
        let starts = parsed.methods == Methods::NumPy || name.contains('_') || name == "equal";
        if !is_list {
            self.need(parsed, (&list[0], &Num::<A>::from(1)), false, begin, &|arithmetic| {
                format!("an axis is cut into 1 part or more, not into {}", arithmetic.text(&list[0]))
            })?;
        }
        let pieces = if is_list {
            self.cut_at(&list, total, axis, starts)
        } else {
            self.cut_evenly(name, &list[0], total, axis, starts)
        };
        pieces.map(Meant::Parts).map_err(|message| self.wrong(begin, message))
    }

    /// `unbind`: every index of an axis by itself, without the axis.
    pub(super) fn unbind(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let mut axis = 0;
        self.fields("`(`", &called.arguments(), &mut |reader, _| {
            axis = reader.integer("an axis")?;
            Ok(())
        })?;
        self.advance();
        let shape = self.shape(parsed, called.begin)?;
        let axis = resolve_axis("split", axis, shape.len()).map_err(|err| self.refused(called.begin, &err))?;
        Ok(Meant::Parts(Pieces { axis, cut: Cut::Elements, count: shape[axis].integer() }))
    }

    /// An axis cut into so many parts, or into parts of so many elements.
    fn cut_evenly(
        &mut self,
        name: &str,
        number: &Num<A>,
        total: &Num<A>,
        axis: usize,
        starts: bool,
    ) -> Result<Pieces<Num<A>>, String> {
        let one = Num::<A>::from(1);
        let [number_text, total_text] = [number, total].map(|number| self.shown(number));
        let quotient = self.arithmetic.operate(Operator::Div, total, number)?;
        let rest = self.arithmetic.operate(Operator::Modulo, total, number)?;
        let unknown = || undivided_axis(axis, &total_text, &number_text);
        let rest = match (&rest, number.integer(), starts) {
            // Parts of a size that is not a number are read one after the other, whatever their number is.
            (None, _, false) if name == "split" => None,
            (None, ..) => return Err(unknown()),
            (Some(rest), ..) => rest.integer(),
        };
        if !starts {
            // The last part may have fewer elements.
            let of_size = name == "split";
            let up = match (&quotient, rest) {
                (Some(quotient), Some(0)) => Some(quotient.clone()),
                (Some(quotient), Some(_)) => self.arithmetic.operate(Operator::Add, quotient, &one)?,
                _ => None,
            };
            let size = match &up {
                _ if of_size => number.clone(),
                Some(up) => up.clone(),
                None => return Err(unknown()),
            };
            let size = if of_size || self.arithmetic.at_least(&size, &one) != Some(false) { size } else { one.clone() };
            // An axis without elements is one part without elements.
            let count = match self.arithmetic.at_least(total, &one) {
                Some(true) if of_size => up.and_then(|up| up.integer()),
                Some(true) => self.count_of(total, &size)?,
                Some(false) => Some(1),
                None => None,
            };
            return Ok(Pieces { axis, cut: Cut::Even { size, total: total.clone() }, count });
        }
        let Some(count) = number.integer() else {
            return Err(format!("{number_text} parts: how many there are must be a number"));
        };
        if matches!(name, "split" | "equal") && rest != Some(0) {
            return Err(format!("axis {axis} has size {total_text}, which is not cut into {count} equal parts"));
        }
        if count > MOST_PARTS {
            return Err(format!("{count} parts are more than the {MOST_PARTS} that are read"));
        }
        let (Some(size), Some(more)) = (quotient, rest) else { return Err(unknown()) };
        // The first parts have one element more than the others.
        let mut begin = |part: i64| {
            let times =
                self.arithmetic.operate(Operator::Mul, &size, &Num::<A>::from(part))?.unwrap_or_else(|| size.clone());
            let moved = self.arithmetic.operate(Operator::Add, &times, &Num::<A>::from(part.min(more)))?;
            Ok::<_, String>(moved.unwrap_or(times))
        };
        let bounds =
            (0..count).map(|part| Ok::<_, String>((begin(part)?, begin(part + 1)?))).collect::<Result<_, _>>()?;
        Ok(Pieces { axis, cut: Cut::Bounds(bounds), count: Some(count) })
    }

    /// How many parts of a size a total has, the last one perhaps smaller, where that is a number.
    fn count_of(&mut self, total: &Num<A>, size: &Num<A>) -> Result<Option<i64>, String> {
        let quotient = self.arithmetic.operate(Operator::Div, total, size)?.and_then(|quotient| quotient.integer());
        let rest = self.arithmetic.operate(Operator::Modulo, total, size)?;
        let more = rest.and_then(|rest| self.arithmetic.equal(&rest, &Num::<A>::from(0))).map(|even| i64::from(!even));
        Ok(quotient.zip(more).and_then(|(quotient, more)| quotient.checked_add(more)))
    }

    /// An axis cut into parts of these sizes, or where these indices are.
    fn cut_at(&mut self, list: &[Num<A>], total: &Num<A>, axis: usize, starts: bool) -> Result<Pieces<Num<A>>, String> {
        let zero = Num::<A>::from(0);
        let mut bounds = Vec::new();
        if starts {
            let mut ends = Vec::new();
            for bound in list {
                ends.push(self.clamped(bound, total)?);
            }
            ends.push(total.clone());
            let mut begin = zero;
            for end in ends {
                // A part that would end before it begins has no elements.
                let is_ordered = self.arithmetic.at_least(&end, &begin);
                let last = match is_ordered {
                    Some(false) => begin.clone(),
                    Some(true) => end.clone(),
                    None => {
                        let [begin, end] = [&begin, &end].map(|number| self.shown(number));
                        return Err(format!("whether {end} is at least {begin} is not known"));
                    }
                };
                bounds.push((begin, last));
                begin = end;
            }
        } else {
            let mut end = zero.clone();
            let mut negative = false;
            for size in list {
                negative |= self.arithmetic.at_least(size, &zero) == Some(false);
                let next = self.arithmetic.operate(Operator::Add, &end, size).ok().flatten();
                let begin = std::mem::replace(&mut end, next.unwrap_or_else(|| Num::<A>::from(-1)));
                bounds.push((begin, end.clone()));
            }
            if negative || self.arithmetic.equal(&end, total) != Some(true) {
                let total = self.shown(total);
                return Err(format!("axis {axis} has size {total}, which is not the sum of the sizes of the parts"));
            }
        }
        let count = Some(bounds.len() as i64);
        Ok(Pieces { axis, cut: Cut::Bounds(bounds), count })
    }

    /// A bound that may count from the end, cut off at the ends of an axis.
    fn clamped(&mut self, bound: &Num<A>, size: &Num<A>) -> Result<Num<A>, String> {
        let zero = Num::<A>::from(0);
        let mut bound = bound.clone();
        if self.arithmetic.at_least(&bound, &zero) == Some(false) {
            bound = self.arithmetic.operate(Operator::Add, &bound, size)?.unwrap_or(bound);
        }
        match (self.arithmetic.at_least(&bound, &zero), self.arithmetic.at_least(size, &bound)) {
            (Some(true), Some(true)) => Ok(bound),
            (Some(false), _) => Ok(zero),
            (_, Some(false)) => Ok(size.clone()),
            _ => {
                let [bound, size] = [&bound, size].map(|number| self.shown(number));
                Err(format!("whether {bound} lies inside 0..{size} is not known"))
            }
        }
    }

    /// The part that an index behind the parts chooses.
    pub(super) fn chosen(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        pieces: &Pieces<Num<A>>,
        begin: usize,
    ) -> Result<Ops<A>, ParseError> {
        let shape = self.shape(parsed, begin)?;
        // The arguments of a function may have been closed by now.
        if self.token != Token::Open(b'[') {
            return Err(
                self.expected("`[` and the number of a part, as in `x.chunk(3, -1)[0]`, or a name for each part")
            );
        }
        let close = self.open("`[`")?;
        let at = self.span.clone();
        let index = self.integer("the number of a part")?;
        self.close(close)?;
        self.part(&shape, pieces, index).map_err(|message| self.error_at(at, message))
    }
}
