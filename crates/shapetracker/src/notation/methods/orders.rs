//! The orders in which elements are read or laid out: NumPy's letters and PyTorch's memory formats.

use shapetracker_base::list::sort_short_by_key;
use shapetracker_base::text::{ParseError, Token, Tokens};

use super::axes::joining;
use super::{Called, Meant, Reading};
use crate::notation::arithmetic::{Known, Role};
use crate::notation::call::Order;
use crate::notation::foreign::{Methods, Ops};
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Nums, Reader};
use crate::notation::{ArrayLibrary, ChainStartOf};
use crate::shape::resolve_axis;
use crate::{Dims, MovementOf};

impl<'a, A: Known> Reader<'a, '_, A> {
    /// Whether the call says in which order NumPy reads elements; of an array of which nothing is known only NumPy's calls do.
    pub(super) fn has_order(&self, parsed: &Parsed<Num<A>>) -> bool {
        matches!(parsed.methods, Methods::NumPy | Methods::Unknown) && self.has_argument("order")
    }

    /// `reshape`, `flatten` and `ravel` of NumPy with an order: the elements are read with the axes in the order that it
    /// means, from the outermost to the innermost.
    pub(super) fn ordered(&mut self, parsed: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let (name, begin) = (called.name, called.begin);
        let (mut sizes, mut order) = (Nums::<A>::default(), Order::Row);
        let close = self.open("`(`")?;
        while self.token != close {
            let word = if self.at_argument_name() { self.word() } else { "" };
            if !word.is_empty() {
                self.advance();
                self.advance();
            }
            match word {
                "order" => order = self.order(Some(Order::Row))?.unwrap_or(order),
                "" if self.token == Token::Text => order = self.order(Some(Order::Row))?.unwrap_or(order),
                "" | "shape" | "newshape" if name == "reshape" => match self.at_tuple() {
                    true => sizes = self.numbers("a size")?,
                    false => self.sizes("a size", Role::Other, &mut sizes)?,
                },
                _ => return Err(self.expected("`order=` and one of the orders 'C', 'F', 'A' and 'K'")),
            }
            self.comma_or(close)?;
        }
        self.advance();
        let shape = self.shape(parsed, begin)?;
        if name != "reshape" {
            sizes = vec![self.numel("flatten", &shape, begin)?].into();
        } else if order == Order::Keep {
            let message = "NumPy's `reshape` has the orders 'C', 'F' and 'A', and raises a ValueError for 'K'";
            return Err(self.error_at(begin..self.last, message.to_owned()));
        }
        let axes = match order {
            Order::Any | Order::Keep if self.is_followed(parsed) => {
                self.hand(parsed, ArrayLibrary::NumPy, begin)?.axes_of_reading(order)
            }
            Order::Any | Order::Keep => self.axes_of_permuted(parsed, shape.len(), order, begin)?,
            Order::Column => (0..shape.len() as i64).rev().collect(),
            _ => Dims::new(),
        };
        let is_moved = !axes.is_sorted();
        let mut ops = Ops::<A>::from_iter(is_moved.then_some(MovementOf::Permute(axes)));
        // An array of one axis is read in one order, and may still become one of several axes in the order of columns.
        if name == "reshape" && (is_moved || order == Order::Column) && sizes.len() > 1 {
            let back = MovementOf::Permute((0..sizes.len() as i64).rev().collect());
            sizes.reverse();
            ops.extend([MovementOf::Reshape(sizes), back]);
        } else {
            ops.push(MovementOf::Reshape(sizes));
        }
        Ok(Meant::Operations(ops, joining(name)))
    }

    /// In which order the axes of an array are read whose elements lie as they did when it was new and whose axes are permuted:
    /// the one question about memory whose answer no size changes.
    fn axes_of_permuted(
        &self,
        parsed: &Parsed<Num<A>>,
        rank: usize,
        order: Order,
        begin: usize,
    ) -> Result<Dims, ParseError> {
        let unknown = || {
            let message =
                "in which order the elements lie depends on sizes that are names: write order='C' or order='F'";
            Err(self.wrong(begin, message))
        };
        // Which axis of the new array each axis is. The operations have been found to fit the shape.
        let mut of_new: Vec<usize> = (0..rank).collect();
        let resolved = |axis: i64| resolve_axis("permute", axis, rank).map_err(|err| self.refused(begin, &err));
        for op in &parsed.ops {
            match op {
                MovementOf::Permute(axes) => {
                    let axes = axes.iter().map(|&axis| Ok(of_new[resolved(axis)?]));
                    of_new = axes.collect::<Result<_, ParseError>>()?;
                }
                MovementOf::Transpose(a, b) => of_new.swap(resolved(*a)?, resolved(*b)?),
                _ => return unknown(),
            }
        }
        // Other permutations may be in the order of columns, too, where sizes are 1.
        let is_known = order == Order::Keep || of_new.is_sorted() || of_new.iter().rev().is_sorted();
        if !is_known || matches!(parsed.start, ChainStartOf::Views(_)) {
            return unknown();
        }
        let mut in_memory: Vec<usize> = (0..rank).collect();
        sort_short_by_key(&mut in_memory, |&axis| of_new[axis]);
        Ok(in_memory.into_iter().map(|axis| axis as i64).collect())
    }

    pub(super) fn order(&mut self, usual: Option<Order>) -> Result<Option<Order>, ParseError> {
        let order = match self.word().trim_matches(['"', '\'']) {
            "C" => Some(Order::Row),
            "F" => Some(Order::Column),
            "A" => Some(Order::Any),
            "K" => usual.map(|_| Order::Keep),
            _ => return Err(self.expected("one of the orders 'C', 'F', 'A' and 'K'")),
        };
        if usual.is_none() && order.is_some() {
            let message =
                "whether a copy in this order is made depends on the array: write `np.ascontiguousarray`, or `copy`";
            return Err(self.error_at(self.span.clone(), message.to_owned()));
        }
        self.advance();
        Ok(order)
    }

    /// `memory_format=` as the one argument of a call of PyTorch: an order. `usual` is that of the call without it.
    pub(super) fn memory_format(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        usual: Option<Order>,
        begin: usize,
    ) -> Result<Option<Order>, ParseError> {
        let close = self.open("`(`")?;
        let mut order = usual;
        if self.at_word("memory_format") && self.at_argument_name() {
            self.advance();
            self.advance();
            while self.token == Token::Name && self.second() == Token::Dot {
                self.advance();
                self.advance();
            }
            let word = self.word();
            order = Some(match word {
                "contiguous_format" => Order::Row,
                "preserve_format" => Order::Keep,
                "channels_last" | "channels_last_3d" => Order::Channels,
                _ => return Err(self.expected("a memory format, such as `torch.channels_last`")),
            });
            self.advance();
            let axes = if word == "channels_last" { 4 } else { 5 };
            let rank = if order == Some(Order::Channels) { self.rank(parsed, begin)? } else { axes };
            if rank != axes {
                let message = format!("`torch.{word}` is for tensors of {axes} axes, and this one has {rank}");
                return Err(self.wrong(begin, message));
            }
        }
        if order.is_none() {
            return Err(
                self.expected("`memory_format=`; a copy of another type lies as that of `.clone()` does: write that")
            );
        }
        self.close(close)?;
        Ok(order)
    }

    /// Whether one of the arguments has this name; an order may stand without, as a text.
    pub(super) fn has_argument(&self, name: &str) -> bool {
        let mut ahead = self.tokens.clone();
        let mut depth = i32::from(self.opened.is_some());
        loop {
            match ahead.token {
                Token::Open(_) => depth += 1,
                Token::Close(_) => depth -= 1,
                Token::Name if depth == 1 && ahead.word() == name && ahead.second() == Token::Equals => return true,
                Token::Text if depth == 1 && name == "order" && is_order(&ahead) => return true,
                Token::End => return false,
                _ => {}
            }
            if depth <= 0 {
                return false;
            }
            ahead.advance();
        }
    }
}

/// Whether one of NumPy's orders stands here.
pub(super) fn is_order(tokens: &Tokens<'_>) -> bool {
    tokens.token == Token::Text && matches!(tokens.word().trim_matches(['"', '\'']), "C" | "F" | "A" | "K")
}
