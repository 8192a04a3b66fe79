//! What a chain says, call by call, with the places in its text.

use std::ops::Range;

use super::ChainStartOf;
use super::call::Call;
use super::foreign::Methods;
use super::methods::InMemory;
use super::types::Type;
use crate::MovementOf;
use crate::advice::Hand;
use crate::number::Number;

/// What a chain says, and where.
#[derive(Clone, Debug)]
pub(super) struct Parsed<N: Number> {
    pub(super) start: ChainStartOf<N>,
    pub(super) start_span: Range<usize>,
    /// The name of an array of which no shape is known.
    pub(super) name: Option<Box<str>>,
    /// Of a layout of CuTe the sizes of the modes inside each axis, the fastest first.
    pub(super) modes: Option<Vec<N::Numbers>>,
    pub(super) ops: Vec<MovementOf<N>>,
    /// Where each operation begins and ends: the longest text has places for 32 bits.
    spans: Vec<[u32; 2]>,
    /// The call that each operation was read from. Operations of one call are neighbours and have the same place.
    calls: Vec<Call>,
    /// Whose methods the array has.
    pub(super) methods: Methods,
    /// The type of the elements, where the text says it.
    pub(super) of_type: Option<Type>,
    /// The type that addresses count elements of, where that is not the one that the chain begins with.
    pub(super) unit: Option<Type>,
    /// Whether the strides along axes of size 1 were not known when the chain began anew.
    pub(super) is_rough: bool,
    /// How often elements were read as those of another type of the same size.
    pub(super) retyped: usize,
    /// What an operation needs besides what it needs by itself, in the order of the operations.
    pub(super) needs: Vec<Need<N>>,
    /// The shape after this many operations, once it was asked for.
    pub(super) known: (usize, Option<N::Numbers>),
    /// The number of axes after this many operations, once it was asked for.
    pub(super) rank: Option<(usize, usize)>,
    /// The array that the library has after this many operations, once it was asked for.
    pub(super) kept: Option<(usize, Box<Hand>)>,
    /// In which order its axes lie in memory, once it was asked for.
    pub(super) order: Option<InMemory>,
}

/// What an operation of a chain needs of its numbers, besides what it needs by itself: a method refuses what the operations
/// that it stands for would do. What whole numbers need is known when they are read.
///
/// ```
/// use shapetracker::Need;
///
/// // `x.unfold(0, 3, 1)` needs an axis of at least 3 elements.
/// let need = Need { op: 0, left: 5, right: 3, is_equal: false, why: "there is no window of 3".into() };
/// assert!(need.left >= need.right);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Need<N> {
    /// The number of the operation, before which it must hold.
    pub op: usize,
    /// A number that is at least, or equal to, the other one.
    pub left: N,
    /// The other one.
    pub right: N,
    /// Whether they must be equal.
    pub is_equal: bool,
    /// What is wrong where it does not hold, as a sentence.
    pub why: Box<str>,
}

impl<N: Number> Parsed<N> {
    /// The shape after all operations, if it was found out.
    pub(super) fn known_shape(&self) -> Option<N::Numbers> {
        self.known.1.clone().filter(|_| self.known.0 == self.ops.len())
    }

    /// Nothing yet, which begins at a byte of the text.
    pub(super) fn new(begin: usize) -> Self {
        Parsed {
            start: ChainStartOf::Nothing,
            start_span: begin..begin,
            name: None,
            modes: None,
            ops: Vec::new(),
            spans: Vec::new(),
            calls: Vec::new(),
            methods: Methods::Ours,
            of_type: None,
            unit: None,
            is_rough: false,
            retyped: 0,
            needs: Vec::new(),
            known: (0, None),
            rank: None,
            kept: None,
            order: None,
        }
    }

    /// Whether it is an array of NumPy or PyTorch, or of a library that nothing says: ours and tinygrad's make no copies of
    /// their own accord.
    pub(super) fn is_foreign(&self) -> bool {
        !matches!(self.methods, Methods::Ours | Methods::Tinygrad)
    }

    /// Whether anything has been read of it.
    pub(super) fn is_begun(&self) -> bool {
        self.start != ChainStartOf::Nothing || self.name.is_some() || !self.ops.is_empty()
    }

    /// Where an operation stands.
    pub(super) fn span(&self, op: usize) -> Option<Range<usize>> {
        self.spans.get(op).map(|&[begin, end]| begin as usize..end as usize)
    }

    pub(super) fn push(&mut self, op: MovementOf<N>, span: Range<usize>) {
        if self.ops.len() == self.ops.capacity() {
            // Operations are large, and a vector that doubles would hold twice the memory that they need.
            self.ops.reserve_exact(self.ops.len() / 4 + 4);
        }
        self.ops.push(op);
        self.spans.push([span.start as u32, span.end as u32]);
        self.calls.push(Call::Plain);
    }

    /// Says of which call the operations from this one on are.
    pub(super) fn called(&mut self, first: usize, call: Call) {
        self.calls[first..].fill(call);
    }

    /// The operations of the call that begins with this one, and what call that is.
    pub(super) fn call(&self, first: usize) -> (Call, Range<usize>) {
        let is_the_same = |op: &usize| (self.spans[*op], self.calls[*op]) == (self.spans[first], self.calls[first]);
        let call = self.calls[first];
        let more = match call {
            Call::Plain | Call::Ordered => 1,
            _ => (first..self.ops.len()).take_while(is_the_same).count(),
        };
        (call, first..first + more)
    }

    /// Whether axes were made or taken away by operations that do not have all of what PyTorch does in between: an index with
    /// `None` or a number, `select`, an `expand` to more axes.
    pub(super) fn has_rough_axes(&self) -> bool {
        let mut ops = self.ops.iter().enumerate();
        self.is_rough
            || ops.any(|(number, op)| match op {
                MovementOf::Reshape(_) => number > 0 && self.spans[number] == self.spans[number - 1],
                // Where a number takes an axis away and `None` makes one there may be no reshape.
                MovementOf::Slice(slices) => slices.iter().any(|(begin, end, _)| {
                    let bounds = begin.as_ref().and_then(N::integer).zip(end.as_ref().and_then(N::integer));
                    bounds.is_some_and(|(begin, end)| end.checked_sub(begin) == Some(1))
                }),
                MovementOf::BroadcastTo(_) => true,
                _ => false,
            })
    }

    /// Whether both are the same operations by the same calls.
    pub(super) fn does_as(&self, other: &Parsed<N>) -> bool {
        (&self.ops, &self.calls) == (&other.ops, &other.calls)
    }

    /// Takes away all operations from this one on.
    pub(super) fn truncate(&mut self, ops: usize) {
        self.ops.truncate(ops);
        self.spans.truncate(ops);
        self.calls.truncate(ops);
        self.needs.retain(|need| need.op < ops);
    }

    /// Forgets what was found out, where the chain begins anew.
    pub(super) fn forget(&mut self) {
        (self.known, self.rank, self.kept, self.order) = ((0, None), None, None, None);
    }

    /// Says where the operations from this one on end.
    pub(super) fn end(&mut self, first: usize, end: usize) {
        let first = first.min(self.spans.len());
        self.spans[first..].iter_mut().for_each(|[_, last]| *last = end as u32);
    }
}
