//! `pad`, which each library writes in its own way.

use shapetracker_base::text::{ParseError, Token, quoted};

use super::{Called, Reading};
use crate::MovementOf;
use crate::notation::arithmetic::{Known, Operator, Role};
use crate::notation::foreign::{Methods, Ops};
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Pairs, Reader};
use crate::number::List as _;

impl<'a, A: Known> Reader<'a, '_, A> {
    /// Masked elements around the array, which NumPy and PyTorch write otherwise.
    pub(super) fn pad(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        Ok(match parsed.methods {
            Methods::NumPy => self.pad_of_numpy(parsed, called.begin)?.into(),
            Methods::PyTorch => self.pad_of_torch(parsed, called.begin)?.into(),
            _ => return self.ours(parsed, called),
        })
    }

    /// `(pad_width, mode="constant", constant_values=0)`: a number or a pair for all axes, or a pair for each.
    fn pad_of_numpy(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Ops<A>, ParseError> {
        let close = self.open("`(`")?;
        if self.at_word("pad_width") && self.at_argument_name() {
            self.advance();
            self.advance();
        }
        let mut pads = Pairs::<A>::default();
        if !self.at_tuple() {
            let pad = self.number("how much to pad", Role::Other)?;
            pads.push((pad.clone(), pad));
        } else if matches!(self.second(), Token::Open(_)) {
            self.list("pairs `(before, after)`", &mut |reader| {
                pads.push(reader.pair("a pair `(before, after)`")?);
                Ok(())
            })?;
        } else {
            pads.push(self.pair("a pair `(before, after)`")?);
        }
        self.rest_of_pad(close)?;
        let rank = self.rank(parsed, begin)?;
        if let [for_all] = &pads[..] {
            // One pair is for all axes.
            pads = std::iter::repeat_n(for_all.clone(), rank).collect();
        }
        Ok(vec![MovementOf::Pad(pads)])
    }

    /// `((left, right, top, bottom, ..), mode="constant", value=0)`: the last axis first; less than 0 cuts off.
    fn pad_of_torch(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Ops<A>, ParseError> {
        let close = self.open("`(`")?;
        if self.at_word("pad") && self.at_argument_name() {
            self.advance();
            self.advance();
        }
        let given = self.numbers("how much to pad")?;
        self.rest_of_pad(close)?;
        let shape = self.shape(parsed, begin)?;
        if given.len() % 2 != 0 || given.len() > 2 * shape.len() {
            let message = format!("expected two numbers for each of at most {} axes, the last axis first", shape.len());
            return Err(self.wrong(begin, message));
        }
        let zero = Num::<A>::from(0);
        let mut pads: Pairs<A> = shape.iter().map(|_| (zero.clone(), zero.clone())).collect();
        for (pad, pair) in pads.iter_mut().rev().zip(given.chunks(2)) {
            *pad = (pair[0].clone(), pair[1].clone());
        }
        let mut ops = Ops::<A>::new();
        // What is cut off; a pad that may be either is one, whose condition is asked where it is done.
        let mut is_cut = |number: &Num<A>| self.arithmetic.at_least(number, &zero) == Some(false);
        let cuts: Vec<[bool; 2]> = pads.iter().map(|(before, after)| [is_cut(before), is_cut(after)]).collect();
        if cuts.iter().any(|cut| cut.contains(&true)) {
            let mut ranges = Pairs::<A>::default();
            for (((before, after), size), [cuts_before, cuts_after]) in pads.iter_mut().zip(&shape[..]).zip(&cuts) {
                let mut range = (zero.clone(), size.clone());
                if *cuts_before {
                    range.0 = self.operate(Operator::Sub, &zero, before, begin)?;
                    *before = zero.clone();
                }
                if *cuts_after {
                    range.1 = self.operate(Operator::Add, size, after, begin)?;
                    *after = zero.clone();
                }
                ranges.push(range);
            }
            ops.push(MovementOf::Shrink(ranges));
        }
        ops.push(MovementOf::Pad(pads));
        Ok(ops)
    }

    /// The mode and the value of a pad: what is padded is masked, whatever its value is.
    fn rest_of_pad(&mut self, close: Token) -> Result<(), ParseError> {
        self.comma_or(close)?;
        while self.token != close {
            if self.at_word("mode") && self.at_argument_name() {
                self.advance();
                self.advance();
            }
            match self.token {
                Token::Text if self.word().trim_matches(['"', '\'']) == "constant" => self.advance(),
                Token::Text => {
                    let message = format!(
                        "{} repeats elements of the array in another order, which is no mask and no stride: only \
                         'constant' is read",
                        quoted(self.word())
                    );
                    return Err(self.error_at(self.span.clone(), message));
                }
                Token::Name => self.other_argument()?,
                Token::NotWhole => self.advance(),
                // A value that is not whole may have a sign, too.
                Token::Symbol if self.second() == Token::NotWhole => {
                    self.advance();
                    self.advance();
                }
                _ => drop(self.number("the value of a pad", Role::Other)?),
            }
            self.comma_or(close)?;
        }
        self.advance();
        Ok(())
    }
}
