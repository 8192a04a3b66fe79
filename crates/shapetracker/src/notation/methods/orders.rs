//! The orders in which elements are read or laid out: NumPy's letters and PyTorch's memory formats.

use shapetracker_base::text::{ParseError, Token, Tokens};

use super::axes::joining;
use super::{Called, Meant, Reading};
use crate::notation::arithmetic::{Known, Role};
use crate::notation::call::{Call, Order};
use crate::notation::foreign::{Methods, Ops};
use crate::notation::parsed::Parsed;
use crate::notation::parser::{Num, Nums, Reader};
use crate::notation::{ArrayLibrary, ChainStartOf};
use crate::number::Number;
use crate::operation::Arguments;
use crate::{Dims, MovementKind, MovementOf};

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
            Order::Any | Order::Keep => {
                let known = self.in_memory(parsed, ArrayLibrary::NumPy).and_then(|known| known.axes_of_reading(order));
                known.ok_or_else(|| {
                    let message =
                        "in which order the elements lie depends on sizes that are names: write order='C' or order='F'";
                    self.wrong(begin, message)
                })?
            }
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

    /// In which order the axes of an array lie in memory, as far as no size changes that; found out once for each operation.
    pub(super) fn in_memory<'p>(&self, parsed: &'p mut Parsed<Num<A>>, library: ArrayLibrary) -> Option<&'p InMemory> {
        let mut known = match parsed.order.take().filter(|known| known.library == library) {
            Some(known) => known,
            None => {
                let rank = match (&parsed.start, self.base) {
                    (ChainStartOf::Shape(shape), _) => shape.len(),
                    (ChainStartOf::Nothing, Some(base)) => base.len(),
                    _ => return None,
                };
                InMemory::new(library, 0, rank)
            }
        };
        while known.done < parsed.ops.len() {
            let (call, range) = parsed.call(known.done);
            parsed.ops[range.clone()].iter().for_each(|op| known.does(call, op));
            known.done = range.end;
        }
        Some(parsed.order.insert(known))
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

/// The axes of an array in the order in which they lie in memory, as far as that is one order whatever the sizes are: what depends on
/// strides is not followed.
///
/// That is the order of axes by the length of their strides, of which equal ones are those of axes of size 1, which may stand anywhere.
#[derive(Clone, Debug)]
pub(in crate::notation) struct InMemory {
    library: ArrayLibrary,
    /// After so many operations.
    done: usize,
    rank: usize,
    /// The outermost axis first.
    order: Option<Dims>,
    /// Whether nothing was done since it was new but axes permuted.
    is_permuted: bool,
    /// Whether no axis runs backwards.
    is_straight: bool,
    /// Whether elements were left out in between: the stride along an axis of size 1 may then be longer than that of a longer axis.
    is_stepped: bool,
    /// Whether elements repeat along an axis, which then has no stride of its own.
    is_repeated: bool,
    /// Whether how many axes there are depends on sizes.
    is_lost: bool,
}

fn row_major(rank: usize) -> Dims {
    (0..rank as i64).collect()
}

impl InMemory {
    /// A new array with so many axes, after so many operations.
    fn new(library: ArrayLibrary, done: usize, rank: usize) -> Self {
        let order = Some(row_major(rank));
        InMemory {
            library,
            done,
            rank,
            order,
            is_permuted: true,
            is_straight: true,
            is_stepped: false,
            is_repeated: false,
            is_lost: false,
        }
    }

    /// The axes of a copy in this order, K or A, the outermost first.
    pub(super) fn axes_of_copy(&self, order: Order) -> Option<Dims> {
        // Other permutations may be in the order of columns, too, where sizes are 1, and what has gaps where it has none.
        let is_known = |axes: &&Dims| {
            order == Order::Keep || axes.is_sorted() || self.is_permuted && axes.iter().rev().is_sorted()
        };
        self.order.as_ref().filter(|_| !self.is_lost).filter(is_known).cloned()
    }

    /// The axes in the order in which NumPy reads the elements, which goes along memory.
    fn axes_of_reading(&self, order: Order) -> Option<Dims> {
        self.axes_of_copy(order).filter(|_| self.is_straight)
    }

    fn does<N: Number>(&mut self, call: Call, op: &MovementOf<N>) {
        let (kind, arguments) = op.parts();
        let (mut axes, mut count) = (Dims::new(), 0);
        match arguments {
            Arguments::Integers(list) | Arguments::ListedAxes(list) => axes.extend(list.iter().copied()),
            Arguments::TwoAxes(a, b) => axes.extend([a, b]),
            Arguments::Axis(axis) => axes.push(axis),
            Arguments::Slices(slices) => axes.extend(slices.iter().map(|slice| slice.2)),
            Arguments::Numbers(list) | Arguments::Strided(list, ..) => count = list.len(),
            _ => {}
        }
        self.is_lost |= matches!(op, MovementOf::SqueezeAll);
        self.does_kind(call, kind, axes, count);
    }

    /// Does an operation with axes or steps, or a number of sizes.
    fn does_kind(&mut self, call: Call, kind: MovementKind, mut axes: Dims, count: usize) {
        use MovementKind as Kind;
        // Others put elements where they like.
        use Call::{Convert, Copy, Flatten, Index, Ordered, Plain, Ravel, Typed, View};
        let is_one_by_one =
            matches!(call, Plain | Ordered | View | Flatten | Ravel | Index | Copy(_) | Convert(_) | Typed(_));
        let is_torch = self.library == ArrayLibrary::PyTorch;
        self.is_permuted &= matches!(kind, Kind::Permute | Kind::Transpose);
        self.is_straight &= kind != Kind::Flip;
        if matches!(kind, Kind::Step | Kind::Slice) {
            self.is_straight &= axes.iter().all(|&step| step > 0);
            self.is_stepped |= axes.iter().any(|step| step.unsigned_abs() > 1);
        }
        self.is_repeated |= matches!(kind, Kind::Expand | Kind::BroadcastTo);
        // PyTorch compares neighbours only, past those along which elements repeat, and asks strides where it pads; NumPy has axes along
        // which elements repeat innermost.
        let is_open =
            if is_torch { self.is_stepped && (self.is_repeated || kind == Kind::Pad) } else { self.is_repeated };
        let before = self.order.take().filter(|_| is_one_by_one && !is_open);
        let is_kept = before.as_ref().is_some_and(|order| order.is_sorted());
        let before = before.unwrap_or_default();
        let rank = self.rank as i64;
        if matches!(kind, Kind::Permute | Kind::Transpose | Kind::Squeeze | Kind::Unsqueeze) {
            let rank = rank + i64::from(kind == Kind::Unsqueeze);
            axes.iter_mut().filter(|axis| **axis < 0).for_each(|axis| *axis += rank);
        }
        let is_known = !before.is_empty();
        // What is made of axes in row-major order lies so, be it a view or a copy.
        self.order = match kind {
            Kind::Contiguous | Kind::Copy => {
                *self = InMemory { is_lost: self.is_lost, ..InMemory::new(self.library, self.done, self.rank) };
                return;
            }
            Kind::Flip | Kind::Shrink | Kind::Slice | Kind::Step => is_known.then_some(before),
            Kind::Permute | Kind::Transpose => {
                if kind == Kind::Transpose {
                    let mut swapped = row_major(self.rank);
                    if let [a, b] = axes[..]
                        && a.max(b) < rank
                    {
                        swapped.swap(a as usize, b as usize);
                    }
                    axes = swapped;
                }
                let to = |old: &i64| axes.iter().position(|axis| axis == old).map(|axis| axis as i64);
                before.iter().map(to).collect::<Option<Dims>>().filter(|_| is_known)
            }
            _ => {
                self.rank = match kind {
                    Kind::Pad => self.rank,
                    Kind::Unsqueeze => self.rank + 1,
                    Kind::Squeeze => self.rank.saturating_sub(axes.len()),
                    _ => count,
                };
                (is_kept && kind != Kind::AsStrided).then(|| row_major(self.rank))
            }
        };
    }
}
