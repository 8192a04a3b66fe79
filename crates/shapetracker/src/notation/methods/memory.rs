//! The memory of an array: strides over it, and what depends on how a library has laid out the elements there.

use shapetracker_base::text::ParseError;

use super::{Called, Meant, Reading};
use crate::advice::Hand;
use crate::notation::arithmetic::Known;
use crate::notation::call::Call;
use crate::notation::foreign::{Methods, NO_SHAPE, Ops};
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Reader};
use crate::notation::{ArrayLibrary, ChainStartOf};
use crate::number::Number;
use crate::{Dims, MovementKind, MovementOf, View};

impl<'a, A: Known> Reader<'a, '_, A> {
    /// Strides over memory: in PyTorch over that which the tensor is a view of, else over the elements in row-major order.
    pub(super) fn as_strided(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if parsed.is_foreign() { self.reinterpret_tensor(parsed, called) } else { self.ours(parsed, called) }
    }

    /// Inductor's name of it.
    pub(super) fn reinterpret_tensor(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        Ok(Meant::Operations(self.strided_memory(parsed, called.begin)?, Call::Storage))
    }

    /// The same elements in the same memory, in the hands of another library perhaps.
    pub(super) fn itself(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let close = self.open("`(`")?;
        if self.boolean().is_some() {
            self.advance();
        }
        self.close(close)?;
        match called.name {
            "numpy" => parsed.methods = Methods::NumPy,
            "from_numpy" => parsed.methods = Methods::PyTorch,
            _ => {}
        }
        Ok(Ops::<A>::new().into())
    }

    /// PyTorch's `as_strided`: strides over the memory that the tensor is a view of, whatever the tensor has of it. What
    /// stands between the operation that made this memory and here is no part of it.
    fn strided_memory(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Ops<A>, ParseError> {
        let (shape, strides, given) = self.strided_arguments()?;
        let strided = |offset: Option<Num<A>>| {
            let offset = offset.unwrap_or_else(|| Num::<A>::from(0));
            MovementOf::AsStrided(shape.clone(), strides.clone(), offset)
        };
        // The views are the memory of no tensor. Without a shape nothing is known of the memory but that it is what `x` has.
        let is_unknown = parsed.start == ChainStartOf::Nothing && self.base.is_none();
        if matches!(parsed.start, ChainStartOf::Views(_)) || (is_unknown && parsed.ops.is_empty()) {
            return Ok(vec![strided(given)]);
        }
        if self.arithmetic.integers(&parsed.ops).is_none() {
            // What leaves the elements of an array that has its memory for itself in their order there.
            let keeps = |op: &MovementOf<Num<A>>| {
                use MovementKind as Kind;
                matches!(op.kind(), Kind::Reshape | Kind::Squeeze | Kind::Unsqueeze | Kind::Contiguous | Kind::Copy)
            };
            if !parsed.ops.iter().all(keeps) {
                let message = "PyTorch's `as_strided` starts again from the memory of the first array: write it before \
                               what moves elements";
                return Err(self.wrong(begin, message));
            }
            return Ok(vec![strided(given)]);
        }
        let hand = self.hand(parsed, ArrayLibrary::PyTorch, begin)?;
        if hand.is_refused() {
            let message = "PyTorch raises a ValueError at the negative step before this: `as_strided` has no memory to read; \
                write `flip` in its place";
            return Err(self.wrong(begin, message));
        }
        let Some(offset) = given.or(hand.offset().map(Num::<A>::from)) else {
            let message =
                "where a tensor without elements begins in its memory is not known: give `as_strided` an offset";
            return Err(self.wrong(begin, message));
        };
        let mut ops = Ops::<A>::new();
        if let Some((since, axes)) = hand.memory() {
            parsed.truncate(since);
            parsed.forget();
            ops.extend((!axes.is_sorted()).then_some(MovementOf::Permute(axes)));
        }
        ops.push(strided(Some(offset)));
        Ok(ops)
    }

    /// The array that a library has after everything that was read so far; kept, so that each operation is done once.
    pub(in crate::notation) fn hand<'p>(
        &self,
        parsed: &'p mut Parsed<Num<A>>,
        library: ArrayLibrary,
        begin: usize,
    ) -> Result<&'p Hand, ParseError> {
        let shape = match (&parsed.start, self.base) {
            (ChainStartOf::Shape(shape), _) => Some(&shape[..]),
            (ChainStartOf::Nothing, Some(base)) => Some(base),
            (ChainStartOf::Nothing, None) => return Err(self.error_at(begin..self.last, NO_SHAPE)),
            (ChainStartOf::Views(_), _) => None,
        };
        let Some(ops) = self.arithmetic.integers(&parsed.ops) else {
            let message = format!("how {library} lays out memory is not followed where sizes have names");
            return Err(self.wrong(begin, message));
        };
        let shape = shape.map(|shape| shape.iter().filter_map(Num::<A>::integer).collect::<Dims>());
        let start = match (shape, &parsed.start) {
            (Some(shape), _) => View::contiguous(shape).map_err(|err| self.refused(begin, &err))?,
            (None, ChainStartOf::Views(views)) => {
                let view =
                    views.first().filter(|_| views.len() == 1).and_then(|view| self.arithmetic.integer_view(view));
                view.filter(|view| library.has(view)).cloned().ok_or_else(|| {
                    let message = format!("{library} has no arrays that are several views or have masked elements");
                    self.wrong(begin, message)
                })?
            }
            (None, _) => return Err(self.error_at(begin..self.last, NO_SHAPE)),
        };
        let (done, mut hand) = match parsed.kept.take() {
            Some((done, hand)) if hand.library() == library => (done, hand),
            _ => (0, Box::new(Hand::new(library, &start))),
        };
        let mut at = done;
        while at < ops.len() {
            let (call, range) = parsed.call(at);
            hand.does(at, call, &ops[range.clone()]).map_err(|err| self.refused(begin, &err))?;
            at = range.end;
        }
        Ok(&parsed.kept.insert((at, hand)).1)
    }

    /// Whether something is so of the tensor that PyTorch has; not where nothing is known of that.
    pub(super) fn lies(&mut self, parsed: &mut Parsed<Num<A>>, is_so: fn(&Hand) -> bool, begin: usize) -> bool {
        self.hand(parsed, ArrayLibrary::PyTorch, begin).is_ok_and(is_so)
    }
}
