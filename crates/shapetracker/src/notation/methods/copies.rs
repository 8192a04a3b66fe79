//! Methods that copy, or may copy, in an order of memory.

use shapetracker_base::text::{ParseError, Token};

use super::orders::is_order;
use super::{Called, Meant, Reading};
use crate::advice::{Hand, channels_last};
use crate::notation::arithmetic::Known;
use crate::notation::call::{Call, Order};
use crate::notation::foreign::Ops;
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Reader};
use crate::notation::{ArrayLibrary, ChainStartOf};
use crate::{Dims, MovementOf};

impl<'a, A: Known> Reader<'a, '_, A> {
    /// Whether it is known where the elements lie: for numbers only.
    pub(super) fn is_followed(&self, parsed: &Parsed<Num<A>>) -> bool {
        self.arithmetic.integers(&parsed.ops).is_some()
    }

    /// PyTorch's `clone`.
    pub(super) fn clone_of_torch(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let order = self.memory_format(parsed, Some(Order::Keep), called.begin)?;
        self.copied(parsed, called, ArrayLibrary::PyTorch, order, Call::Copy)
    }

    /// `contiguous`, which may be told a memory format.
    pub(super) fn contiguous(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if self.first_argument() == Token::Close(b')') || !parsed.is_foreign() {
            return self.ours(parsed, called);
        }
        let order = match self.memory_format(parsed, Some(Order::Row), called.begin)? {
            Some(Order::Keep) => {
                let message = "PyTorch's `contiguous` has no `preserve_format`, and raises a RuntimeError where \
                               elements lie otherwise: write `clone` for a copy in the order of memory";
                return Err(self.wrong(called.begin, message));
            }
            Some(Order::Row) => return Ok(MovementOf::Contiguous.into()),
            // What lies so already is not copied.
            order => order.filter(|_| !self.lies(parsed, Hand::has_channels_last, called.begin)),
        };
        self.copied(parsed, called, ArrayLibrary::PyTorch, order, Call::Copy)
    }

    /// `to` with a memory format.
    pub(super) fn to(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let order = self.memory_format(parsed, None, called.begin)?;
        let one = Num::<A>::from(1);
        if parsed.has_rough_axes() && self.shape(parsed, called.begin)?.contains(&one) {
            let message = "whether `to` copies depends on strides of axes of size 1, which are not known after an index \
                           with `None` or a number, `select`, `unbind` or an `expand` to more axes: write `contiguous` \
                           in its place, with the same memory format";
            return Err(self.error_at(called.begin..self.last, message.to_owned()));
        }
        if !self.is_followed(parsed)
            && matches!(order, Some(Order::Row | Order::Channels))
            && channels_last(self.rank(parsed, called.begin)?).is_some()
        {
            let message = "whether `to` copies depends on strides, which are not followed where sizes have names: \
                           write `contiguous` in its place, with the same memory format";
            return Err(self.error_at(called.begin..self.last, message.to_owned()));
        }
        let suggested = self.lies(parsed, Hand::suggests_channels_last, called.begin);
        let order = order.filter(|order| *order != Order::Keep && (*order == Order::Channels) != suggested);
        self.copied(parsed, called, ArrayLibrary::PyTorch, order, Call::Copy)
    }

    /// `copy`: ours is in row-major order, NumPy's as its argument says.
    pub(super) fn copy(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if !parsed.is_foreign() {
            return self.ours(parsed, called);
        }
        let usual = if self.opened.is_some() { Order::Keep } else { Order::Row };
        let order = self.copy_arguments(parsed, Some(usual), false)?;
        self.copied(parsed, called, ArrayLibrary::NumPy, order, Call::Copy)
    }

    pub(super) fn astype(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let order = self.copy_arguments(parsed, Some(Order::Keep), true)?;
        self.copied(parsed, called, ArrayLibrary::NumPy, order, Call::Convert)
    }

    /// `np.array`, which is no method.
    pub(super) fn array_of_numpy(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if self.opened.is_none() {
            return Err(self.unknown_method(called.name));
        }
        self.astype(parsed, called)
    }

    /// `np.asarray`, which is no method.
    pub(super) fn asarray(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        if self.opened.is_none() {
            return Err(self.unknown_method(called.name));
        }
        let order = self.copy_arguments(parsed, None, false)?;
        self.copied(parsed, called, ArrayLibrary::NumPy, order, Call::Copy)
    }

    /// `np.ascontiguousarray`, and `np.asfortranarray`, which has the axes in row-major order from the last one on: what they
    /// answer has at least one axis.
    pub(super) fn ascontiguousarray(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let close = self.open("`(`")?;
        self.only_types(parsed, close)?;
        let rank = self.rank(parsed, called.begin)? as i64;
        let back = || MovementOf::Permute((0..rank).rev().collect());
        Ok(match (rank, called.name) {
            (0, _) => vec![MovementOf::Reshape(vec![Num::<A>::from(1)].into()), MovementOf::Contiguous].into(),
            (_, "asfortranarray") => vec![back(), MovementOf::Contiguous, back()].into(),
            _ => MovementOf::Contiguous.into(),
        })
    }

    /// A copy whose elements lie in an order of their own; without one the array itself.
    ///
    /// In another order than the row-major one it is a copy between two permutations: what is copied has the axes in the
    /// order in which they lie in memory.
    fn copied(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        called: &Called<'a>,
        library: ArrayLibrary,
        order: Option<Order>,
        call: fn(Order) -> Call,
    ) -> Reading<A> {
        let Some(order) = order else { return Ok(Ops::<A>::new().into()) };
        let (begin, is_followed) = (called.begin, self.is_followed(parsed));
        // What lies so already is not copied by `contiguous`, and with names that is not known yet.
        let is_asked_for = called.name != "contiguous" || is_followed;
        let copy = if is_asked_for { MovementOf::Copy } else { MovementOf::Contiguous };
        let mut ops = Ops::<A>::from_iter([copy]);
        // A new array is in row-major order, whatever its shape is.
        let is_new = parsed.ops.is_empty() && !matches!(parsed.start, ChainStartOf::Views(_));
        let axes: Option<Dims> = match order {
            Order::Row => None,
            Order::Any | Order::Keep if is_new => None,
            _ if is_followed => Some(self.hand(parsed, library, begin)?.axes_of_copy(order)),
            Order::Column => Some((0..self.rank(parsed, begin)? as i64).rev().collect()),
            Order::Channels => {
                let axes = channels_last(self.rank(parsed, begin)?).unwrap_or_default();
                Some(axes.iter().rev().map(|&axis| axis as i64).collect())
            }
            // There is one order of one axis.
            Order::Any | Order::Keep if self.rank(parsed, begin)? < 2 => None,
            Order::Any | Order::Keep => {
                let known = self.in_memory(parsed, library).and_then(|known| known.axes_of_copy(order));
                Some(known.ok_or_else(|| {
                    let row_major = match library {
                        ArrayLibrary::PyTorch => "`contiguous()`",
                        ArrayLibrary::NumPy => "`copy(order='C')`",
                    };
                    let message = format!(
                        "where the copy lies depends on strides, which are not followed this far with names: write {row_major} for \
                         row-major order"
                    );
                    self.error_at(begin..self.last, message)
                })?)
            }
        };
        if let Some(axes) = axes.filter(|axes| !axes.is_sorted()) {
            let mut back = Dims::from_elem(0, axes.len());
            for (at, axis) in axes.iter().enumerate() {
                back[*axis as usize] = at as i64;
            }
            ops.insert(0, MovementOf::Permute(axes));
            ops.push(MovementOf::Permute(back));
        }
        Ok(Meant::Operations(ops, if is_asked_for { call(order) } else { Call::Plain }))
    }

    /// The arguments of a call of NumPy that may copy: types, which change no layout, an order, and whether it copies.
    fn copy_arguments(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        usual: Option<Order>,
        types: bool,
    ) -> Result<Option<Order>, ParseError> {
        let (mut order, mut position) = (usual, 0);
        let close = self.open("`(`")?;
        while self.token != close {
            let name = if self.at_argument_name() { self.word() } else { "" };
            match name {
                "order" => {
                    self.advance();
                    self.advance();
                    order = self.order(usual)?;
                }
                "copy" => {
                    self.advance();
                    self.advance();
                    if self.boolean() != Some(true) {
                        return Err(
                            self.expected("`True`: whether another value copies depends on more than the layout")
                        );
                    }
                    self.advance();
                }
                "dtype" if !types => {
                    let message = "whether a copy is made depends on the type that the array has, which is not known: \
                                   write `astype` where one is";
                    return Err(self.error_at(self.span.clone(), message.to_owned()));
                }
                "dtype" => parsed.of_type = self.type_argument()?,
                "casting" | "subok" | "ndmin" | "like" | "device" => drop(self.type_argument()?),
                "" if position == 0 && is_order(self) => order = self.order(usual)?,
                "" if position == 0 && types => parsed.of_type = self.type_argument()?,
                _ => return Err(self.expected("a type, or `order=`")),
            }
            position += 1;
            self.comma_or(close)?;
        }
        self.advance();
        Ok(order)
    }

    /// Types, which change no layout, as far as the parenthesis that closes them.
    fn only_types(&mut self, parsed: &mut Parsed<Num<A>>, close: Token) -> Result<(), ParseError> {
        while self.token != close {
            parsed.of_type = self.type_argument()?;
            self.comma_or(close)?;
        }
        self.advance();
        Ok(())
    }
}
