//! A library at work: the array that it has after each call, what the call copied, and perhaps code that does the same.

use shapetracker_base::text::tuple;

use super::ArrayNumber;
use super::array::{Array, at_least_one, channels_last, is_empty, numbers, product};
use super::code::{Code, Notes};
use crate::error::{Error, Fault};
use crate::notation::{ArrayLibrary, Call, Order, list};
use crate::{Dims, MovementOf, View};

/// A library with the array that it has, done call by call as the library does it.
///
/// The parser asks it where a call depends on the memory of an array, and takes nothing down: what writes code, and what finds
/// the smallest copy, is no part of the modules that only read chains.
#[derive(Clone, Debug)]
pub(crate) struct Hand<W = (), N: ArrayNumber = i64> {
    library: ArrayLibrary,
    array: Array<N>,
    /// The memory of the array, as it was when it was new.
    memory: Memory<N>,
    /// The expression that makes the array, where one is asked for.
    notes: W,
    /// The operations that copied, each with how many elements were written.
    copied: Vec<(usize, N)>,
    thrift: Thrift,
    /// Whether NumPy lets nobody write to the array: what needs one that can be written to copies it first.
    is_read_only: bool,
    /// Whether PyTorch has refused an index with a negative step: what is done after that, it never did.
    is_refused: bool,
    /// For how many reshapes, so far, no view was found.
    blocked: u32,
}

/// How a [`Hand`] saves copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thrift {
    /// Not at all: it does the calls as they are written.
    None,
    /// It copies only where a call has no view, and there the least that helps, or for each of the numbered reshapes all
    /// of it: a smaller copy that repeats elements may have to be copied whole by the next reshape.
    Least { whole: u32 },
}

/// Memory that was new after so many operations, and the array of that time, which was all of it.
#[derive(Clone, Debug)]
struct Memory<N: ArrayNumber> {
    since: usize,
    array: Array<N>,
}

/// Why a call copies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// No view of the array has that shape.
    Shape,
    /// The same, and what is written is PyTorch's `view`, which raises an error.
    Raises,
    /// PyTorch has no negative strides.
    Backwards,
    /// The same, and what is written is an index with a negative step, which raises an error.
    NegativeStep,
    /// A copy is what is written.
    Asked,
    /// The call copies where another one makes a view.
    Flat,
    /// The call makes a new array of so many elements, whatever the old one is.
    New,
    /// Strides over memory are asked for, and the elements do not lie in order there.
    Memory,
}

impl Why {
    /// Whether the call that is written raises an error.
    pub(super) fn raises(self) -> bool {
        matches!(self, Why::Raises | Why::NegativeStep)
    }
}

impl Hand {
    /// The array of a view that the library has.
    pub(crate) fn new(library: ArrayLibrary, start: &View) -> Hand {
        Hand::noting(library, &Array::from(start), Thrift::None, ())
    }
}

impl<N: ArrayNumber> Hand<Option<Code>, N> {
    /// An array that the library has, which writes down how an array of some name becomes each array.
    pub(super) fn writing(library: ArrayLibrary, start: &Array<N>, name: &str, thrift: Thrift) -> Self {
        Hand::noting(library, start, thrift, Some(Code::of(name)))
    }

    /// An array that the library has, which counts what is copied.
    pub(super) fn counting(library: ArrayLibrary, start: &Array<N>) -> Self {
        Hand::noting(library, start, Thrift::None, None)
    }

    /// Whether there is code for the array.
    pub(super) fn writes(&self) -> bool {
        self.notes.is_some()
    }

    pub(super) fn code(self) -> Option<String> {
        self.notes.map(Code::text)
    }
}

impl<W: Notes, N: ArrayNumber> Hand<W, N> {
    fn noting(library: ArrayLibrary, start: &Array<N>, thrift: Thrift, notes: W) -> Self {
        let array = start.kept();
        let memory = Memory { since: 0, array: array.clone() };
        Hand {
            library,
            array,
            memory,
            notes,
            copied: Vec::new(),
            thrift,
            is_read_only: false,
            is_refused: false,
            blocked: 0,
        }
    }

    pub(crate) fn library(&self) -> ArrayLibrary {
        self.library
    }

    /// Where the array begins in its memory; nothing is known of that where it has no elements.
    pub(crate) fn offset(&self) -> Option<N> {
        (!self.is_empty()).then(|| self.array.offset.clone())
    }

    fn is_empty(&self) -> bool {
        is_empty(&self.array.shape)
    }

    /// Where the array is not all of its memory in row-major order: after how many operations this memory was new, and the
    /// axes that the array had then, in the order in which they lie in it.
    pub(crate) fn memory(&self) -> Option<(usize, Dims)> {
        let Memory { since, array } = &self.memory;
        let is_all = self.array.is_contiguous() && self.array.offset.is(0) && self.array.numel() == array.numel();
        (!is_all).then(|| (*since, array.axes()))
    }

    /// The strides of the array, those of axes of size 1 included, and where it begins; without elements those of a new one.
    pub(crate) fn strides_and_offset(&self) -> (N::Numbers, N) {
        // Of an array without elements the view does not have them.
        let strides =
            if self.is_empty() { Array::contiguous(&self.array.shape).strides } else { self.array.strides.clone() };
        (strides, self.array.offset.clone())
    }

    /// Whether NumPy lets nobody write to the array.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_read_only
    }

    /// Whether anything was copied.
    pub(crate) fn has_copied(&self) -> bool {
        !self.copied.is_empty()
    }

    /// Whether an index with a negative step was asked of PyTorch: no array has what is left of its memory then.
    pub(crate) fn is_refused(&self) -> bool {
        self.is_refused
    }

    /// The axes of a copy in an order, the outermost first.
    pub(crate) fn axes_of_copy(&self, order: Order) -> Dims {
        self.ordered(order).axes()
    }

    /// The axes in the order in which NumPy reads the elements where it is asked for one, the outermost first.
    pub(crate) fn axes_of_reading(&self, order: Order) -> Dims {
        let rank = self.array.shape.len() as i64;
        match order {
            Order::Any if self.array.is_contiguous() || !self.array.is_column_major() => (0..rank).collect(),
            Order::Keep => self.array.axes_in_memory(),
            _ => (0..rank).rev().collect(),
        }
    }

    /// Whether the elements lie one after another, those of the second axis innermost.
    pub(crate) fn has_channels_last(&self) -> bool {
        channels_last(self.array.shape.len()).is_some_and(|axes| self.array.follow(axes.iter().copied()))
    }

    /// Whether PyTorch suggests that order for what is made of the tensor.
    pub(crate) fn suggests_channels_last(&self) -> bool {
        self.array.suggests_channels_last()
    }

    pub(super) fn copied(&self) -> &[(usize, N)] {
        &self.copied
    }

    /// How many elements were written in all.
    pub(super) fn written(&self) -> N::Total {
        N::total(self.copied.iter().map(|(_, elements)| elements))
    }

    /// For how many reshapes no view was found.
    pub(super) fn blocked(&self) -> u32 {
        self.blocked
    }

    /// Does a call, whose operations begin with one of some number. Answers why it copies, where it does, and the number of
    /// the operation.
    pub(crate) fn does(
        &mut self,
        first: usize,
        call: Call,
        ops: &[MovementOf<N>],
    ) -> Result<Option<(usize, Why)>, Error> {
        let last = first + ops.len().saturating_sub(1);
        let (copies, mut raises) = (self.copied.len(), false);
        let mut shape = self.array.shape.clone();
        let mut after = |op: &MovementOf<N>| -> Result<N::Numbers, Error> {
            shape = N::shape_after(&shape, op)?;
            Ok(shape.clone())
        };
        let why = match call {
            Call::Copy(order) | Call::Convert(order) => {
                self.copied_in(last, order);
                if let Call::Convert(_) = call {
                    // The type is not written down, so that the code would have other elements.
                    self.notes.give_up();
                }
                Some(Why::Asked)
            }
            Call::New | Call::Tile | Call::Interleave | Call::Roll(_) if self.thrift == Thrift::None => {
                // Who takes nothing down counts nothing, either.
                let before = if W::WRITES { self.before_new(call, ops)? } else { N::from(0) };
                let from = self.array.clone();
                let mut to = from.shape.clone();
                for op in ops {
                    to = after(op)?;
                }
                let is_numpy = self.library == ArrayLibrary::NumPy;
                let keeps = call == Call::Tile && is_numpy && product(&to) == from.numel();
                let new = match (call, ops) {
                    _ if keeps => from.seen_as(&to).kept_by_numpy(),
                    // PyTorch's `pixel_shuffle` keeps channels last.
                    (Call::New, [_, MovementOf::Permute(_), ..]) => from.suggested(&to),
                    (Call::Roll(Some(_)), _) if is_numpy => from.kept_by_numpy(),
                    (Call::Roll(Some(axis)), [_, _, _, MovementOf::Shrink(ranges), ..]) => {
                        let axis = usize::from(axis);
                        from.rolled(axis, &ranges[axis].0)
                    }
                    _ => Array::contiguous(&to),
                };
                self.new_array(last, new);
                if let Some((_, elements)) = self.copied.last_mut().filter(|(number, _)| *number == last) {
                    *elements = elements.plus(&before);
                }
                Some(Why::New)
            }
            Call::Typed(to) => {
                let library = self.library;
                match to.written(library) {
                    Some(to) => self.then(|| format!("x.view({to})")),
                    None => self.notes.give_up(),
                }
                None
            }
            Call::Bytes { is_read_only } => {
                self.is_read_only = is_read_only;
                // What the array was before is not written down.
                self.notes.give_up();
                let to = after(&ops[0])?;
                match &ops[0] {
                    MovementOf::AsStrided(_, strides, _) if !is_empty(&to) => {
                        self.as_strided(first, &ops[0], strides, &to)?
                    }
                    _ => {
                        self.array = Array::contiguous(&to);
                        None
                    }
                }
            }
            Call::Windows | Call::Unfold(_) | Call::Diagonal(_) => {
                let why = self.windows(first, call, &ops[0], &after(&ops[0])?)?;
                self.is_read_only |= self.library == ArrayLibrary::NumPy;
                why
            }
            Call::Index => {
                // Also where there are no elements, PyTorch refuses the step itself.
                raises = self.library == ArrayLibrary::PyTorch && !backwards(&ops[0]).is_empty();
                self.is_refused |= raises;
                let why = self.step(first, &ops[0], &after(&ops[0])?)?;
                for op in &ops[1..] {
                    // Axes of size 1 that come or go.
                    self.step(last, op, &after(op)?)?;
                }
                if raises { Some(Why::NegativeStep) } else { why }
            }
            Call::Storage if self.library == ArrayLibrary::PyTorch && self.thrift == Thrift::None => {
                let mut why = None;
                for op in ops {
                    let to = after(op)?;
                    why = match op {
                        MovementOf::AsStrided(_, strides, offset) => self.over_memory(last, strides, offset, &to)?,
                        _ => self.step(first, op, &to)?,
                    };
                }
                why
            }
            // One axis alone is joined to nothing.
            Call::Flatten
                if self.library == ArrayLibrary::PyTorch
                    && matches!(ops, [MovementOf::Reshape(to)] if *to == self.array.shape) =>
            {
                None
            }
            Call::Flatten | Call::Ravel => {
                // An order is that of the axes, in front of the reshape.
                let mut is_view = true;
                let mut why = None;
                for (number, op) in (first..).zip(ops) {
                    is_view = self.array.is_contiguous();
                    why = self.step(number, op, &after(op)?)?;
                }
                let copies = match call {
                    Call::Flatten => self.library == ArrayLibrary::NumPy,
                    _ => !is_view,
                };
                if why.is_none() && copies && !self.is_empty() && self.thrift == Thrift::None {
                    self.new_array(last, Array::contiguous(&self.array.shape));
                    Some(Why::Flat)
                } else {
                    why
                }
            }
            Call::View => {
                let why = self.step(first, &ops[0], &after(&ops[0])?)?;
                let raises = self.library == ArrayLibrary::PyTorch && why == Some(Why::Shape);
                if raises { Some(Why::Raises) } else { why }
            }
            // What such a call asks for are elements, so that views of them do.
            Call::Plain | Call::Ordered | Call::Storage | Call::New | Call::Tile | Call::Interleave | Call::Roll(_) => {
                let mut found = None;
                let asks = matches!(call, Call::Plain | Call::Ordered | Call::Storage);
                for (number, op) in ops.iter().enumerate().filter(|(_, op)| asks || !op.may_copy()) {
                    let why = self.step(first + number, op, &after(op)?)?;
                    found = found.or(why.map(|why| (first + number, why)));
                }
                return Ok(found.filter(|_| self.copied.len() > copies));
            }
        };
        // What has no elements is not copied.
        Ok(why.filter(|_| raises || self.copied.len() > copies).map(|why| (last, why)))
    }

    /// How many elements are written by a call that makes a new array, before those of this array.
    ///
    /// NumPy's `repeat` takes an array in row-major order that can be written to, and its `tile` is a reshape and a `repeat`
    /// for each axis that is repeated, from the front; PyTorch's `repeat_interleave` without an axis flattens first.
    fn before_new(&self, call: Call, ops: &[MovementOf<N>]) -> Result<N, Error> {
        let (array, none) = (&self.array, N::from(0));
        let is_numpy = self.library == ArrayLibrary::NumPy;
        if self.is_empty() {
            return Ok(none);
        }
        let all_unless = |is_ready: bool| if is_ready { none.clone() } else { array.numel() };
        let is_ready = array.is_contiguous() && !self.is_read_only;
        let views = |array: &Array<N>, to: &[N]| Ok::<bool, Error>(N::reshaped(array, to)?.is_some());
        match (call, ops) {
            (Call::Interleave, _) if is_numpy => Ok(all_unless(is_ready)),
            // Without an axis they take the elements in their order.
            (Call::Roll(axis), _) => Ok(all_unless(axis.is_some() || array.is_contiguous())),
            // PyTorch's `pixel_shuffle` takes a tensor in such an order, too.
            (Call::New, [_, MovementOf::Permute(_), ..]) => Ok(all_unless(array.is_as_suggested())),
            (Call::Interleave, [MovementOf::Reshape(to), ..]) => {
                let flattens = to.len() == 2 && array.shape.len() != 1;
                Ok(all_unless(!flattens || views(array, &[array.numel()])?))
            }
            (Call::Tile, [MovementOf::Reshape(_), MovementOf::Expand(repeated), ..]) if is_numpy => {
                let (mut array, mut is_ready, mut written) = (array.clone(), is_ready, none.clone());
                let (mut inner, mut news) = (array.numel(), none.clone());
                for pair in repeated.chunks(2) {
                    let (times, size) = (&pair[0], &pair[1]);
                    if times.is(0) {
                        return Ok(written);
                    }
                    if !times.is(1) {
                        let rows = array.numel().over(&at_least_one(&inner));
                        if !views(&array, &[rows.clone(), inner.clone()])? || !is_ready {
                            written = written.plus(&array.numel());
                        }
                        array = Array::contiguous(&[rows.times(times), inner.clone()]);
                        is_ready = true;
                        news = array.numel();
                        written = written.plus(&news);
                    }
                    inner = inner.over(&at_least_one(size));
                }
                // The last of them is the array that is made.
                Ok(written.plus(&news.negative()))
            }
            _ => Ok(none),
        }
    }

    /// Does one operation.
    fn step(&mut self, number: usize, op: &MovementOf<N>, to: &[N]) -> Result<Option<Why>, Error> {
        if op.may_copy() {
            return Ok(self.copied_as(number, op));
        }
        let (library, from) = (self.library, self.array.shape.clone());
        if self.is_empty() || is_empty(to) {
            if self.thrift != Thrift::None && matches!(op, MovementOf::AsStrided(..)) {
                // The call would copy the elements that nothing is read of.
                return Err(overflow("as_strided"));
            }
            // Without elements there is nothing to copy, and every shape will do.
            let is_flipped = library == ArrayLibrary::PyTorch && !backwards(op).is_empty();
            self.then(|| match op {
                op if is_reshape(op) => reshaped(library, to),
                // Of nothing there is nothing to flip, which would write all that is read of here.
                _ if is_flipped => {
                    let nothing = to.iter().map(|size| (N::from(0), size.clone()));
                    library.call(&MovementOf::Shrink(nothing.collect()), &from, to)
                }
                op => library.call(op, &from, to),
            });
            let new = matches!(op, MovementOf::Pad(_)) && !is_empty(to);
            if new {
                self.new_array(number, Array::contiguous(to));
                return Ok(Some(Why::New));
            }
            self.array = Array::contiguous(to);
            return Ok(None);
        }
        match op {
            // What has no axes has nothing that could be added.
            MovementOf::Pad(pads) if pads.is_empty() && self.thrift != Thrift::None => return Ok(None),
            MovementOf::Pad(pads) => {
                self.then(|| library.call(op, &from, to));
                let new = match library {
                    // Where nothing is added PyTorch clones.
                    ArrayLibrary::PyTorch if pads.iter().all(|(before, after)| before.is(0) && after.is(0)) => {
                        self.array.like()
                    }
                    ArrayLibrary::PyTorch => self.array.suggested(to),
                    ArrayLibrary::NumPy => self.array.padded(to),
                };
                self.new_array(number, new);
                return Ok(Some(Why::New));
            }
            MovementOf::AsStrided(_, strides, _) => return self.as_strided(number, op, strides, to),
            _ if is_reshape(op) => return self.reshape(number, op, to),
            _ => {}
        }
        let mut why = None;
        let backwards = backwards(op);
        let next = match library {
            ArrayLibrary::PyTorch if !backwards.is_empty() => {
                let copy = self.array.like();
                self.new_array(number, copy.clone());
                why = Some(Why::Backwards);
                // The copy runs backwards in memory, so that reading it as the array was is reading it backwards.
                let original = N::moved(&copy, &MovementOf::Flip(backwards.into()))?;
                N::moved(&original.ok_or_else(|| overflow("flip"))?, op)?
            }
            _ => N::moved(&self.array, op)?,
        };
        let Some(next) = next else { return Err(overflow("view")) };
        self.then(|| library.call(op, &from, to));
        self.array = self.array.moved(op, &next);
        self.is_read_only |=
            library == ArrayLibrary::NumPy && matches!(op, MovementOf::Expand(_) | MovementOf::BroadcastTo(_));
        Ok(why)
    }

    fn reshape(&mut self, number: usize, op: &MovementOf<N>, to: &[N]) -> Result<Option<Why>, Error> {
        let library = self.library;
        if let Some(next) = N::reshaped(&self.array, to)? {
            if self.array.shape[..] != *to {
                self.then(|| reshaped(library, to));
            }
            self.array = self.array.moved(op, &next);
            return Ok(None);
        }
        let is_whole = match self.thrift {
            Thrift::None => true,
            Thrift::Least { whole } => whole.checked_shr(self.blocked).is_some_and(|bits| bits & 1 == 1),
        };
        self.blocked += 1;
        // The smallest copy is only looked for where it can be written down.
        let least = if W::WRITES && !is_whole { N::least(library, &self.array, to)? } else { None };
        match least {
            Some((copied, recipe, written)) => {
                self.then(|| recipe);
                self.new_array(number, copied.kept());
                if let Some((_, elements)) = self.copied.last_mut().filter(|(copied, _)| *copied == number) {
                    *elements = written;
                }
            }
            None => {
                self.then(|| if library == ArrayLibrary::NumPy { "x.copy()" } else { "x.contiguous()" }.into());
                self.then(|| reshaped(library, to));
                self.new_array(number, Array::contiguous(to));
            }
        }
        Ok(Some(Why::Shape))
    }

    /// A copy of ours, in row-major order, or none where `contiguous` finds that the elements lie so.
    fn copied_as(&mut self, number: usize, op: &MovementOf<N>) -> Option<Why> {
        // That the elements lie in order is not asked for its own sake.
        if *op == MovementOf::Contiguous && (self.thrift != Thrift::None || self.array.is_contiguous()) {
            return None;
        }
        let (library, shape) = (self.library, self.array.shape.clone());
        self.then(|| library.call(op, &shape, &shape));
        self.new_array(number, Array::contiguous(&self.array.shape));
        Some(Why::Asked)
    }

    /// A copy that is written, in an order.
    fn copied_in(&mut self, number: usize, order: Order) {
        let code = match (self.library, order) {
            (ArrayLibrary::NumPy, Order::Row) => "x.copy()",
            (ArrayLibrary::NumPy, Order::Column) => "x.copy(order='F')",
            (ArrayLibrary::NumPy, Order::Any) => "x.copy(order='A')",
            (ArrayLibrary::NumPy, Order::Keep) => "x.copy(order='K')",
            (ArrayLibrary::NumPy, Order::Channels) => match self.array.shape.len() {
                4 => "x.transpose((0, 2, 3, 1)).copy().transpose((0, 3, 1, 2))",
                _ => "x.transpose((0, 2, 3, 4, 1)).copy().transpose((0, 4, 1, 2, 3))",
            },
            (ArrayLibrary::PyTorch, Order::Keep) => "x.clone()",
            (ArrayLibrary::PyTorch, Order::Channels) if self.array.shape.len() == 4 => {
                "x.clone(memory_format=torch.channels_last)"
            }
            (ArrayLibrary::PyTorch, Order::Channels) => "x.clone(memory_format=torch.channels_last_3d)",
            (ArrayLibrary::PyTorch, _) => "x.clone(memory_format=torch.contiguous_format)",
        };
        self.then(|| code.into());
        self.new_array(number, self.ordered(order));
    }

    /// A new array with the same elements, in an order.
    fn ordered(&self, order: Order) -> Array<N> {
        let shape = &self.array.shape;
        let columns = || Array::in_order(shape, 0..shape.len());
        match (order, self.library) {
            (Order::Row, _) => Array::contiguous(shape),
            (Order::Keep, ArrayLibrary::PyTorch) => self.array.like(),
            (Order::Keep, ArrayLibrary::NumPy) => self.array.kept_by_numpy(),
            (Order::Channels, _) => match channels_last(shape.len()) {
                Some(axes) => Array::in_order(shape, axes.iter().copied()),
                None => Array::contiguous(shape),
            },
            (Order::Column, _) => columns(),
            (Order::Any, _) if !self.array.is_contiguous() && self.array.is_column_major() => columns(),
            (Order::Any, _) => Array::contiguous(shape),
        }
    }

    /// `as_strided` of the elements in row-major order: of an array that does not lie so, a copy is made first.
    fn as_strided(&mut self, number: usize, op: &MovementOf<N>, strides: &[N], to: &[N]) -> Result<Option<Why>, Error> {
        let library = self.library;
        let from = self.array.shape.clone();
        let mut why = None;
        if !self.array.is_contiguous() {
            self.new_array(number, Array::contiguous(&from));
            why = Some(Why::Memory);
        }
        let Some(next) = N::moved(&Array::contiguous(&from), op)? else { return Err(overflow("as_strided")) };
        self.then(|| library.call(op, &from, to));
        let none = N::from(0);
        if library == ArrayLibrary::PyTorch
            && strides.iter().zip(to).any(|(stride, size)| *stride < none && *size > N::from(1))
        {
            // It is laid out forwards, and flipped, which copies.
            self.new_array(number, Array::contiguous(to));
            why = Some(Why::Backwards);
        } else {
            let offset = self.array.offset.plus(&next.offset);
            self.array = Array { shape: numbers(to), strides: numbers(strides), offset };
        }
        Ok(why)
    }

    /// PyTorch's `as_strided`, which copies nothing and has no negative strides.
    fn over_memory(&mut self, number: usize, strides: &[N], offset: &N, to: &[N]) -> Result<Option<Why>, Error> {
        if strides.iter().any(|stride| *stride < N::from(0)) {
            let op = MovementOf::AsStrided(numbers(to), numbers(strides), offset.clone());
            return self.as_strided(number, &op, strides, to);
        }
        self.then(|| format!("x.as_strided({}, {}, {offset})", tuple(to), tuple(strides)));
        self.array = Array { shape: numbers(to), strides: numbers(strides), offset: offset.clone() };
        Ok(None)
    }

    /// `unfold`, `sliding_window_view` and `diagonal`, which are read as `as_strided` of the elements in row-major order: the
    /// libraries make views of any array, whose strides are those of its own axes.
    fn windows(&mut self, number: usize, call: Call, op: &MovementOf<N>, to: &[N]) -> Result<Option<Why>, Error> {
        let MovementOf::AsStrided(_, steps, begin) = op else { return Err(overflow("as_strided")) };
        let Some(next) = N::moved(&self.array, op)? else { return self.as_strided(number, op, steps, to) };
        let (old, from) = (&self.array.strides, &self.array.shape);
        // Along an axis of size 1 it steps along the axes that the call is about, too. The strides in row-major order do not
        // tell those of them apart that have only axes of size 1 between them.
        let row_major = Array::contiguous(from).strides;
        let times = |axis: usize, step: &N| step.over(&at_least_one(&row_major[axis]));
        let none = || N::from(0);
        let along = |axis: usize| match (call, axis.checked_sub(from.len())) {
            (Call::Diagonal(axes), _) => {
                let mut rest = (0..from.len()).filter(|axis| !axes.contains(&(*axis as u8)));
                match rest.nth(axis) {
                    Some(same) => old[same].clone(),
                    None => axes.iter().fold(none(), |sum, &axis| sum.plus(&old[usize::from(axis)])),
                }
            }
            (_, None) => times(axis, &steps[axis]).times(&old[axis]),
            (Call::Unfold(axis), _) => old[usize::from(axis)].clone(),
            (_, Some(window)) if next.shape.len() == 2 * from.len() => old[window].clone(),
            _ => {
                let is_along = |old: &usize| times(*old, &steps[axis]).is(1);
                (0..from.len()).find(is_along).map_or_else(none, |axis| old[axis].clone())
            }
        };
        let is_one = |axis: usize| next.shape[axis].is(1);
        let strides: N::Numbers = (0..next.shape.len())
            .map(|axis| if is_one(axis) { along(axis) } else { next.strides[axis].clone() })
            .collect();
        let library = self.library;
        let from = from.clone();
        self.then(|| match library {
            // What PyTorch strides is the memory, whatever the array is.
            ArrayLibrary::PyTorch => strided_by(library, "x", to, &strides, &next.offset),
            // NumPy begins where the array begins.
            ArrayLibrary::NumPy if begin.is(0) => library.as_strided("x", to, &strides),
            ArrayLibrary::NumPy => {
                let (mut rest, mut places) = (begin.clone(), Vec::new());
                for size in from.iter().rev().map(at_least_one) {
                    places.push(format!("{}:", rest.rest(&size)));
                    rest = rest.over(&size);
                }
                places.reverse();
                library.as_strided(&format!("x[{}]", places.join(", ")), to, &strides)
            }
        });
        self.array = Array { shape: numbers(to), strides, offset: next.offset };
        Ok(None)
    }

    /// Takes up a new array, all of whose elements are written.
    fn new_array(&mut self, number: usize, array: Array<N>) {
        let elements = array.numel();
        self.memory = Memory { since: number + 1, array: array.clone() };
        if !is_empty(&array.shape) {
            self.copied.push((number, elements));
        }
        self.array = array;
        self.is_read_only = false;
    }

    /// Goes on with the code of a library, where any is taken down.
    fn then(&mut self, code: impl FnOnce() -> String) {
        if W::WRITES {
            self.notes.then(&code());
        }
    }
}

/// An address that leaves 64 bits.
fn overflow(op: &'static str) -> Error {
    Error::new(op, Fault::Overflow { what: "an address" })
}

/// The axes along which an operation walks backwards.
fn backwards<N: ArrayNumber>(op: &MovementOf<N>) -> Vec<i64> {
    let negative = |steps: &mut dyn Iterator<Item = i64>| {
        (0..).zip(steps).filter(|(_, step)| *step < 0).map(|(axis, _)| axis).collect()
    };
    match op {
        MovementOf::Flip(axes) => axes.to_vec(),
        MovementOf::FlipEach(each) => {
            (0..).zip(each).filter(|(_, reversed)| **reversed).map(|(axis, _)| axis).collect()
        }
        MovementOf::Step(steps) => negative(&mut steps.iter().copied()),
        MovementOf::Slice(slices) => negative(&mut slices.iter().map(|slice| slice.2)),
        _ => Vec::new(),
    }
}

pub(super) fn is_reshape<N: ArrayNumber>(op: &MovementOf<N>) -> bool {
    matches!(op, MovementOf::Reshape(_) | MovementOf::Squeeze(_) | MovementOf::SqueezeAll | MovementOf::Unsqueeze(_))
}

/// The array `x` seen under a shape.
pub(super) fn reshaped<N: ArrayNumber>(library: ArrayLibrary, to: &[N]) -> String {
    let method = if library == ArrayLibrary::PyTorch { "view" } else { "reshape" };
    format!("x.{method}({})", if to.is_empty() { "()".into() } else { list(to) })
}

/// A view of a flat array that begins at address 0.
pub(super) fn strided<N: ArrayNumber>(library: ArrayLibrary, array: &str, view: &Array<N>) -> String {
    // Along an axis of one element there is no step, and without elements there is none at all, as views have it.
    let is_empty = is_empty(&view.shape);
    let none = |size: &N| is_empty || size.is(1);
    let stride = |(size, stride): (&N, &N)| if none(size) { N::from(0) } else { stride.clone() };
    let strides: Vec<N> = view.shape.iter().zip(view.strides.iter()).map(stride).collect();
    let offset = if is_empty { N::from(0) } else { view.offset.clone() };
    strided_by(library, array, &view.shape, &strides, &offset)
}

fn strided_by<N: ArrayNumber>(library: ArrayLibrary, array: &str, shape: &[N], strides: &[N], offset: &N) -> String {
    match library {
        _ if offset.is(0) => library.as_strided(array, shape, strides),
        ArrayLibrary::PyTorch => format!("{array}.as_strided({}, {}, {offset})", tuple(shape), tuple(strides)),
        ArrayLibrary::NumPy => library.as_strided(&format!("{array}[{offset}:]"), shape, strides),
    }
}
