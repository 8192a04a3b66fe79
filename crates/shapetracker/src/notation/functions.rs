//! Functions around arrays, such as `np.transpose(x, (1, 0))`: the methods of the same names, with the array in front.

use shapetracker_base::text::{ParseError, Token};

use super::arithmetic::Known;
use super::foreign::{MAKERS, Methods, library};
use super::methods::{Called, instead, method_names};
use super::parsed::Parsed;
use super::parser::{Num, Reader};
use super::program::Pieces;
use crate::MovementKind;

impl<'a, A: Known> Reader<'a, '_, A> {
    /// Whether a function around an array begins here: of a library by its path, or by its name alone where that cannot
    /// be an operation without its array.
    pub(super) fn at_function(&self) -> bool {
        if self.token != Token::Name || (self.named_array().is_some() && self.second() == Token::Dot) {
            return false;
        }
        let (first, mut last) = (self.word(), self.word());
        let mut ahead = self.tokens.clone();
        ahead.advance();
        let alone = loop {
            match ahead.token {
                Token::Dot => {
                    ahead.advance();
                    if ahead.token != Token::Name {
                        return false;
                    }
                    last = ahead.word();
                    ahead.advance();
                }
                Token::Open(b'(') => break last == first,
                _ => return false,
            }
        };
        if MAKERS.contains(&last) || !(method_names().any(|name| name == last) || instead(last).is_some()) {
            return false;
        }
        ahead.advance();
        if !alone {
            let known = ["einops", "jax", "cp", "nn"].contains(&first) || library(first) != Methods::Unknown;
            return known && first != "Tensor";
        }
        let word = ahead.word();
        let is_array = self.names.iter().any(|(name, _)| *name == word);
        // Names in the place of sizes are no arrays, so that an operation of ours needs more than a name.
        ahead.token == Token::Name
            && match MovementKind::named(last) {
                Some(_) => is_array || (ahead.second() == Token::Dot && library(word) != Methods::Unknown),
                None => ahead.second() != Token::Equals,
            }
    }

    /// A function, its array, and the rest of its arguments, which are those of the method of the same name.
    pub(super) fn function(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        parts: bool,
    ) -> Result<Option<Pieces<Num<A>>>, ParseError> {
        let begin = self.span.start;
        let of = library(self.word());
        while self.second() == Token::Dot {
            self.advance();
            self.advance();
        }
        let (name, span) = (self.word(), self.span.clone());
        if let (None, Some(instead)) = (method_names().find(|known| *known == name), instead(name)) {
            return Err(self.error_at(span, format!("`{name}` is not read: {instead}")));
        }
        if ["T", "mT"].contains(&name) {
            let message = format!("`{name}` is no function: write it after the array, as in `x.{name}`");
            return Err(self.error_at(span, message));
        }
        let bytes = of == Methods::NumPy && name == "as_strided";
        if bytes {
            let message =
                "NumPy's `as_strided` has strides in bytes: write `torch.as_strided` with strides in elements";
            return Err(self.error_at(span, message.to_owned()));
        }
        self.advance();
        if self.is_deepest() {
            return Err(self.nests_too_deep());
        }
        let close = self.open("`(`")?;
        if matches!(name, "array" | "asarray" | "asanyarray") && matches!(self.token, Token::Open(_)) {
            let message =
                format!("the elements of an array are not read: write its shape, as in `np.{name}(np.zeros((2, 3)))`");
            return Err(self.error_at(self.span.clone(), message));
        }
        self.depth += 1;
        self.array(parsed, false)?;
        self.depth -= 1;
        if of != Methods::Unknown {
            parsed.methods = of;
        }
        self.comma_or(close)?;
        self.known_method(name, parsed).map_err(|err| self.error_at(span.clone(), err.message().to_owned()))?;
        self.opened = Some(close);
        let first = parsed.ops.len();
        let pieces = self.done(parsed, &Called { name, begin, span }, parts)?;
        // What takes no arguments has not looked for any.
        if self.opened.take().is_some() {
            self.close(close)?;
            parsed.end(first, self.last);
        }
        Ok(pieces)
    }
}
