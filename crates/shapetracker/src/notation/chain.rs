//! A chain of movement operations as it was written.

use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use shapetracker_base::text::ParseError;

use super::arithmetic::{Integers, Known};
use super::call::Call;
use super::calls::ArrayLibrary;
use super::error::{Cause, ChainError};
use super::foreign::{Methods, library};
use super::methods::Method;
use super::parsed::{Need, Parsed};
use super::parser;

use crate::error::Error;
use crate::number::Number;
use crate::shape::checked_numel;
use crate::{Buffer, Movement, MovementOf, ShapeTracker, Stored, Unmerged, Verdict, View};

/// A chain as text: where it starts and the operations, with their places in the text.
///
/// ```
/// use shapetracker::Chain;
///
/// let chain: Chain = "(3, 2).permute(1, 0).reshape(3, 2)".parse()?;
/// assert_eq!(chain.ops().len(), 2);
/// assert_eq!(chain.tracker()?.views().len(), 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// A chain starts with
///
/// - a base shape: `(3, 2)`, one axis `(6)` or `(6,)`, a scalar `()`;
/// - views as they are pasted from elsewhere: `View(shape=(2, 3), strides=(1, 2), offset=0, mask=None)`, where offset
///   and mask may be missing and `contiguous` is ignored, or `ShapeTracker(views=(View(...), View(...)))`, the first
///   view next to memory;
/// - views as [`View`] and [`ShapeTracker`] print: `(3, 2):(2, 1) over (2, 3):(1, 2) offset 4`, the last view next to
///   memory;
/// - a name, or nothing, where the base shape is known from elsewhere: `x.permute(1, 0)`, `permute(1, 0)`;
/// - what others write, of which more below.
///
/// Operations follow, each after a dot. The table of [`MovementKind`](crate::MovementKind) has their names and what
/// each takes.
///
/// Arguments may stand in a tuple or a list, as in `reshape((3, 2))`, and that may have one of the names `shape`, `size`,
/// `dim`, `dims`, `axis` and `axes`, as in `flip(dims=(0, 1))`. `squeeze()` takes every axis of size 1 away, and
/// `squeeze(())` none. Spaces and line ends are free, a comma may trail, and numbers may have underscores. Reading takes
/// time proportional to the text and at most 200 bytes of memory for each of its bytes; a text of more than
/// [`LONGEST_TEXT`](crate::text::LONGEST_TEXT) bytes is refused.
///
/// # What others write
///
/// is read with the meaning that it has there, or is refused with what to write instead.
///
/// | text | meaning |
/// |---|---|
/// | `ShapeTracker(views=(View(...), ...))`, `View(...)` | tinygrad's views, the first next to memory |
/// | `((2, 3), (3, 1), 0)`, `(2, 3), (3, 1), 0` | a shape, strides in elements (NumPy's are in bytes) and perhaps an offset |
/// | `((2, 4), 8):((1, 16), 2)`, `8:1`, `(_2, _3):(_1, _2)` | a layout of CuTe: an axis for each outermost mode, along which the modes inside run colexicographically, the leftmost fastest |
/// | `np.arange(6)`, `torch.zeros(2, 3)`, `Tensor.ones(2, 3)` | a new array of NumPy, PyTorch or tinygrad; `arange`, `zeros`, `ones`, `empty`, `rand` and `randn` of a shape |
/// | `x` | an array in row-major order, all of its memory |
/// | `.T`, `.transpose()` | all axes reversed; in tinygrad the first two exchanged |
/// | `.transpose(0, 1)` | after `np.` all axes in their new order, elsewhere two axes exchanged; in a tuple, or where there are not two, always NumPy's |
/// | `.mT`, `.t()`, `.swapaxes(0, 1)`, `.swapdims(0, 1)`, `.moveaxis(0, 1)`, `.movedim((0, 1), (2, 0))`, `np.expand_dims(x, (0, 2))`, `np.rollaxis(x, 1)`, `.rot90(1, (0, 1))` | as in NumPy and PyTorch |
/// | `.flatten()`, `.flatten(1)`, `.flatten(0, 1)`, `.ravel()` | the axes joined from the first to the last one named |
/// | `.expand(5, -1, 3)` | of an array, new axes may come in front |
/// | `[0, ::-1, None, ..., 1:3]` | as in NumPy: indices, slices, `None` or `np.newaxis`, `...`; no arrays, no booleans |
/// | `.as_strided((3, 2), (1, 1), 2)` | after an array of others PyTorch's, which reads the memory of the tensor, whatever the tensor has of it; elsewhere what is described above |
/// | `.narrow(0, 1, 3)`, `.select(0, 1)`, `.unflatten(1, (2, -1))`, `.diagonal(1)`, `.unfold(1, 3, 2)` | as in PyTorch |
/// | `x.view_as(y)`, `.reshape_as(y)`, `.expand_as(torch.zeros(4, 3))` | as in PyTorch, where the text says the shape of the other array |
/// | `.chunk(3, -1)[1]`, `.split(2)[0]`, `np.hsplit(x, 2)[0]`, `.unbind(0)[1]`, `q, k, v = x.chunk(3, -1)` | one part of an array, or a name for each |
/// | `np.transpose(x, (1, 0))`, `torch.permute(x, (1, 0))`, `np.flip(x)`, `sliding_window_view(x, 3)` | a function around an array is the method of the same name |
/// | `np.pad(x, 1)`, `F.pad(x, (1, 2))` | elements that are masked, whatever their value; `F.pad` begins with the last axis, and cuts off where a number is less than 0 |
/// | `rearrange(x, 'b (h d) -> h b d', h=2)`, `repeat(x, 'h w -> h w c', c=3)` | the patterns of einops |
/// | `F.pixel_shuffle(x, 2)`, `.repeat(2, 1)`, `np.tile(x, 2)`, `np.repeat(x, 2, axis=0)`, `np.roll(x, 1, 0)` | as in their libraries; all but the first copy |
/// | `.reshape(3, 2, order="F")`, `.flatten("F")`, `.ravel("K")` | as in NumPy: the elements are read by columns, or in the order of memory |
/// | `.contiguous()`, `np.ascontiguousarray(x)`, `.copy()` | a copy in row-major order, where one is made: the same elements, which [`Chain::tracker`] goes on to read where they were copied from |
/// | `.clone()`, `np.copy(x)`, `np.array(x)`, `.astype(t)`, `.copy(order="K")` | a copy in the order of the original, as PyTorch and NumPy keep it |
/// | `.contiguous(memory_format=torch.channels_last)`, `.to(memory_format=..)` | a copy with the second axis innermost, where one is made |
/// | `.view(torch.int16)`, `.view("u1")` | the bytes of the elements read as another type, where the text says which type they have: `np.zeros((4, 6), np.int32)`, `torch.zeros(4, 6)`, `.astype(t)`. Where the size is another one, the chain is over the same memory in elements of the new type |
/// | `x = np.zeros((2, 3))`, next line `y = x.T` | statements; the last one is what the text is about. Names may be of arrays, of numbers and of shapes: `B, T, C = x.shape`, `x.view(B, T, C // 4, 4)` |
/// | `View.create((2, 3))`, `ShapeTracker.from_shape((2, 3))` | tinygrad's row-major views |
/// | `torch.Size([2, 3])`, `torch.Size([2, 3]) (1, 2)` | a shape as PyTorch prints it, and perhaps strides |
/// | `shape=(2, 3), strides=(24, 8), dtype=float64`, `x.size(): .., x.stride(): ..` | a shape and strides as they are printed, in elements; in bytes where a `dtype` or an `itemsize` stands beside them |
/// | `RuntimeError: shape '[2, 3]' is invalid for input of size 12`, `Cannot view a tensor with shape .. and strides .. as ..` | a message of PyTorch, NumPy or JAX that says its shapes: the array and what was to become of it |
/// | a traceback, also as IPython prints it, or code with a message below it | the code in front of it, the line that raised it, or else the message |
/// | `>>> x = torch.zeros(2, 3)`, next line `>>> x.t().stride()` | a session of Python, without what it printed |
/// | `np.zeros((2, 3), order="F")`, `torch.empty_strided((2, 3), (1, 2))`, `np.asfortranarray(x)`, `reinterpret_tensor(x, (3, 2), (1, 3), 0)`, `x.shape = (3, 2)` | as in NumPy, PyTorch and inductor |
/// | `memref<2x3xf32, strided<[1, 2], offset: 4>>` | a type of MLIR |
/// | `f32[2,3]{0,1}` | a shape of XLA; in braces the axes, the fastest first |
/// | `Layout<Shape<_2,_3>, Stride<_1,_2>>`, `make_layout(make_shape(2, 3))` | a layout of CuTe in C++; without strides the leftmost mode is the fastest |
///
/// Those that depend on the shape need it: `(2, 3).T`, or [`Chain::read_from`] with the shape of `x` for `x.T`. `view` is
/// read as `reshape`, and slices may walk backwards, where PyTorch would refuse. What has no layout of one array is
/// refused with the reason: values that are computed, swizzles, tiles.
/// [`Method::ALL`](crate::Method::ALL) lists all that may stand after a dot, and what is read prints in the operations of
/// [`MovementKind`](crate::MovementKind).
///
/// Two chains are equal when they start alike and have the same operations, however they are written.
pub type Chain = ChainOf<i64>;

/// A chain whose sizes, strides, offsets and bounds are numbers of some kind: [`Chain`] is that of whole numbers.
///
/// ```
/// use shapetracker::{ChainOf, Integers};
///
/// let (chain, error) = ChainOf::read_with("(3, 2).T", None, &mut Integers);
/// assert_eq!((chain.ops().len(), error), (1, None));
/// ```
#[derive(Clone, Debug)]
pub struct ChainOf<N: Number> {
    text: Arc<str>,
    parsed: Parsed<N>,
}

/// Where a [`Chain`] starts.
///
/// ```
/// use shapetracker::{Chain, Dims, ChainStart};
///
/// assert_eq!("(3, 2).flip(0)".parse::<Chain>()?.start(), &ChainStart::Shape(Dims::from_slice(&[3, 2])));
/// assert_eq!("flip(0)".parse::<Chain>()?.start(), &ChainStart::Nothing);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
pub type ChainStart = ChainStartOf<i64>;

/// Where a [`ChainOf`] numbers of some kind starts.
///
/// ```
/// use shapetracker::{ChainStart, ChainStartOf};
///
/// let start: ChainStartOf<i64> = ChainStart::Nothing;
/// assert_eq!(start.name(), "nothing");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ChainStartOf<N: Number> {
    /// No start is given: the base shape is known from elsewhere.
    Nothing,
    /// A base shape, contiguous in memory.
    Shape(N::Numbers),
    /// At least one view, the first next to memory.
    Views(Vec<N::View>),
}

impl<N: Number> ChainStartOf<N> {
    /// Its name in JSON: `nothing`, `shape` or `views`.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).flip(0)".parse()?;
    /// assert_eq!(chain.start().name(), "shape");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub const fn name(&self) -> &'static str {
        match self {
            ChainStartOf::Nothing => "nothing",
            ChainStartOf::Shape(_) => "shape",
            ChainStartOf::Views(_) => "views",
        }
    }
}

/// How far the operations of a [`Chain`] could be done, and what each of them did.
///
/// ```
/// use shapetracker::Chain;
///
/// let chain: Chain = "(3, 2).permute(1, 0).reshape(6).reshape(4)".parse()?;
/// let progress = chain.progress(None);
/// assert_eq!(progress.steps.len(), 3); // at the start, and after two operations
/// assert_eq!(progress.verdicts[1].name(), "new_view");
/// assert_eq!(progress.error.unwrap().op(), Some(2));
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ChainProgress {
    /// The tensor before any operation, and after each that could be done; empty where the start itself is at fault.
    pub steps: Vec<Stored>,
    /// What each operation that could be done did to the number of views.
    pub verdicts: Vec<Verdict>,
    /// Why the next operation cannot be done; `None` where all of them were.
    pub error: Option<ChainError>,
}

impl ChainProgress {
    /// Why the views over the newest buffer are not one: the answer of [`ShapeTracker::single_view`], taken from the last
    /// operation where that has just decided it. `None` where there is one view, or no tracker.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
    /// let progress = chain.progress(None);
    /// assert_eq!(progress.reason().as_ref(), progress.verdicts[1].reason());
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn reason(&self) -> Option<Unmerged> {
        Verdict::why_several_views(self.verdicts.last(), self.steps.last()?.over_newest())
    }
}

impl<N: Number> ChainOf<N> {
    /// Where the chain starts.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2):(1, 3).flip(0)".parse()?;
    /// assert!(matches!(chain.start(), shapetracker::ChainStart::Views(views) if views.len() == 1));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn start(&self) -> &ChainStartOf<N> {
        &self.parsed.start
    }

    /// The name of the array that the chain starts with, where nothing is known of it but that: its shape must be known
    /// from elsewhere.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "x.permute(1, 0)".parse()?;
    /// assert_eq!(chain.start_name(), Some("x"));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn start_name(&self) -> Option<&str> {
        self.parsed.name.as_deref()
    }

    /// Of a layout of CuTe the sizes of the modes inside each axis of the start, the one that runs fastest first.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "((2, 4), 8):((1, 16), 2)".parse()?;
    /// assert_eq!(chain.modes().unwrap()[0][..], [2, 4]);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn modes(&self) -> Option<&[N::Numbers]> {
        self.parsed.modes.as_deref()
    }

    /// The operations, in the order in which they are done.
    ///
    /// ```
    /// use shapetracker::{Chain, Dims, Movement};
    ///
    /// let chain: Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
    /// assert_eq!(chain.ops(), [Movement::Permute(Dims::from_slice(&[1, 0])), Movement::Reshape(Dims::from_slice(&[6]))]);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn ops(&self) -> &[MovementOf<N>] {
        &self.parsed.ops
    }

    /// The bytes of an operation in the text, without the dot; an empty range at the end for one that there is not.
    ///
    /// ```
    /// let text = "(3, 2).permute(1, 0).reshape(6)";
    /// let chain: shapetracker::Chain = text.parse()?;
    /// assert_eq!(&text[chain.span(0)], "permute(1, 0)");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn span(&self, op: usize) -> Range<usize> {
        self.parsed.span(op).unwrap_or(self.text.len()..self.text.len())
    }

    /// The bytes of the start in the text; empty for one that there is not.
    ///
    /// ```
    /// let chain: shapetracker::Chain = " (3, 2).flip(0)".parse()?;
    /// assert_eq!(chain.start_span(), 1..7);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn start_span(&self) -> Range<usize> {
        self.parsed.start_span.clone()
    }

    /// The call that an operation is of, as it is written: a method with its dot, and what a function has around it.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "np.transpose(np.zeros((2, 3))).copy()".parse()?;
    /// assert_eq!((&chain.written_call(0)[..12], &chain.written_call(1)[..]), ("np.transpose", ".copy()"));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn written_call(&self, op: usize) -> String {
        let span = self.span(op);
        let written = &self.text[span.clone()];
        let is_method = self.text[..span.start].trim_end().ends_with('.');
        let is_first = self.text[..span.start].trim().is_empty() && self.start() == &ChainStartOf::Nothing;
        let is_function = written.split('(').next().is_some_and(|name| name.contains('.') || name.contains('='));
        let is_index = written.starts_with('[');
        if is_method || (is_first && !is_function && !is_index) { format!(".{written}") } else { written.into() }
    }

    /// The type that addresses count elements of, where that is not the one of the array that the chain begins with: `view` of a
    /// type of another size.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "np.zeros((2, 3), np.int32).view(np.int8)".parse()?;
    /// assert_eq!(chain.unit().as_deref(), Some("int8"));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn unit(&self) -> Option<String> {
        self.parsed.unit.map(|unit| unit.to_string())
    }

    /// What operations need of names besides what they need by themselves, in the order of the operations.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "torch.zeros(5).unfold(0, 3, 1)".parse()?;
    /// assert!(chain.needs().is_empty()); // it is known of numbers
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn needs(&self) -> &[Need<N>] {
        &self.parsed.needs
    }

    /// The text as it was written.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "( 3, 2 )".parse()?;
    /// assert_eq!(chain.text(), "( 3, 2 )");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Reads as many operations of a text as can be read, over the numbers of an arithmetic; with the reason why the text does
    /// not end there. `base` is the shape of the array that the text has a name for, if it is known.
    ///
    /// ```
    /// use shapetracker::{ChainOf, Integers};
    ///
    /// let (chain, error) = ChainOf::read_with("x.T", Some(&[2, 3]), &mut Integers);
    /// assert_eq!((chain.to_string(), error), ("permute(1, 0)".into(), None));
    /// ```
    pub fn read_with<A: Known<Number = N>>(
        text: &str,
        base: Option<&[N]>,
        arithmetic: &mut A,
    ) -> (ChainOf<N>, Option<ParseError>) {
        let (parsed, error) = parser::chain(text, base, &[], arithmetic);
        (ChainOf { parsed, text: text.into() }, error)
    }

    /// The chain as a library reads it, on an array of which the text tells nothing but its name: NumPy and PyTorch mean
    /// different things by `transpose(0, 1)` and `repeat(2)`. `None` where that is the chain as it has been read, where the
    /// library has no such code, or where the text itself says whose it is.
    ///
    /// ```
    /// use shapetracker::{ArrayLibrary, Chain, Integers};
    ///
    /// let (chain, _) = Chain::read_from("x.transpose(1, 0, 2)", Some(&[2, 3, 4]));
    /// assert!(chain.read_by(ArrayLibrary::NumPy, Some(&[2, 3, 4]), &mut Integers).is_none());
    /// let (chain, _) = Chain::read_from("x.repeat(2)", Some(&[3]));
    /// let own = chain.read_by(ArrayLibrary::NumPy, Some(&[3]), &mut Integers).unwrap();
    /// assert_ne!(own, chain);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn read_by<A: Known<Number = N>>(
        &self,
        library: ArrayLibrary,
        base: Option<&[N]>,
        arithmetic: &mut A,
    ) -> Option<ChainOf<N>> {
        let methods = match library {
            ArrayLibrary::NumPy => Methods::NumPy,
            ArrayLibrary::PyTorch => Methods::PyTorch,
        };
        self.parsed.name.as_ref()?;
        let parsed = parser::chain_of(&self.text, base, methods, arithmetic)?;
        (!parsed.does_as(&self.parsed)).then(|| ChainOf { parsed, text: self.text.clone() })
    }

    /// The call that begins with an operation, and its operations.
    pub(crate) fn call(&self, first: usize) -> (Call, Range<usize>) {
        self.parsed.call(first)
    }

    /// Whether the elements are read as those of another type, which only code that names it can do.
    pub(crate) fn is_typed(&self) -> bool {
        self.parsed.unit.is_some() || self.parsed.retyped > 0
    }

    /// Whether some of that is no part of the operations: the array that the chain begins with has elements of another type.
    pub(crate) fn leaves_out_types(&self) -> bool {
        let typed = (0..self.ops().len()).filter(|&op| matches!(self.call(op).0, Call::Typed(_))).count();
        self.parsed.unit.is_some() || self.parsed.retyped != typed
    }

    /// Whether it is written in the notation of this crate, and not as code of a library.
    pub(crate) fn is_ours(&self) -> bool {
        self.parsed.name.is_none() && self.parsed.methods == Methods::Ours
    }

    /// The axes, from the outermost inwards, in whose order the call of a reshape reads the elements, where it gives another
    /// order than the row-major one.
    pub(crate) fn order_of_reading(&self, op: usize) -> Option<&[i64]> {
        let before = op.checked_sub(1).filter(|&before| self.span(before) == self.span(op))?;
        match (&self.ops()[before], self.call(op).0) {
            (MovementOf::Permute(axes), Call::Ordered | Call::Flatten | Call::Ravel) => Some(axes),
            _ => None,
        }
    }

    /// The library that the text is code of, as far as it says so: by the function that makes the array, or by a method that
    /// only one of them has.
    ///
    /// ```
    /// use shapetracker::{ArrayLibrary, Chain};
    ///
    /// let library = |text: &str| Chain::read(text).0.library();
    /// assert_eq!(library("np.zeros((2, 3)).T"), Some(ArrayLibrary::NumPy));
    /// assert_eq!(library("x.transpose(0, 1).view(6)"), Some(ArrayLibrary::PyTorch));
    /// assert_eq!(library("x.reshape(6)"), None);
    /// ```
    pub fn library(&self) -> Option<ArrayLibrary> {
        /// Operations of this crate that only PyTorch's arrays have as methods.
        const OF_PYTORCH: [&str; 6] = ["view", "permute", "expand", "unsqueeze", "contiguous", "broadcast_to"];
        match self.parsed.methods {
            Methods::NumPy => return Some(ArrayLibrary::NumPy),
            Methods::PyTorch => return Some(ArrayLibrary::PyTorch),
            Methods::Ours | Methods::Tinygrad => return None,
            Methods::Unknown => {}
        }
        (0..self.ops().len()).find_map(|op| {
            let written = self.written_call(op);
            let mut words = written.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = words.find(|word| !word.is_empty())?;
            let of = Method::ALL.iter().find(|method| method.name() == name).and_then(|method| method.library());
            match (library(name), of) {
                (Methods::NumPy, _) | (_, Some("NumPy")) => Some(ArrayLibrary::NumPy),
                (Methods::PyTorch, _) | (_, Some("PyTorch")) => Some(ArrayLibrary::PyTorch),
                _ => OF_PYTORCH.contains(&name).then_some(ArrayLibrary::PyTorch),
            }
        })
    }

    /// The start as it is written.
    pub(crate) fn written_start(&self) -> &str {
        &self.text[self.start_span()]
    }
}

impl Chain {
    /// How many elements the buffer has that the chain starts with, read or not; `None` where the chain starts with views and
    /// there is no base, so that nothing says how far the buffer reaches. An operation that copies starts a new buffer, of as
    /// many elements as [`Verdict::copies`] says.
    ///
    /// The base is that of [`Chain::tracker_from`], where one is given. [`ShapeTracker::buffer_len`] is how many elements the
    /// buffer must have for what is read.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(4, 8).shrink((1, 4), (1, 7)).step(1, 2)".parse()?;
    /// assert_eq!((chain.base_len(None), chain.tracker()?.buffer_len().unwrap()), (Some(32), 30));
    /// let chain: shapetracker::Chain = "(3, 6):(8, 1) offset 9".parse()?;
    /// assert_eq!(chain.base_len(None), None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn base_len(&self, base: Option<&[i64]>) -> Option<i64> {
        let shape = match self.start() {
            ChainStart::Shape(shape) => Some(&shape[..]),
            ChainStart::Nothing | ChainStart::Views(_) => base,
        };
        checked_numel("base", shape?).ok()
    }

    /// Reads as many operations of a text as can be read; with the reason why the text does not end there.
    ///
    /// ```
    /// let (chain, error) = shapetracker::Chain::read("(3, 2).flip(0).permut(1, 0)");
    /// assert_eq!(chain.ops().len(), 1);
    /// assert_eq!(error.unwrap().span(), 15..21);
    /// ```
    pub fn read(text: &str) -> (Chain, Option<ParseError>) {
        Chain::read_from(text, None)
    }

    /// The same where the shape of the base is known from elsewhere, so that operations which depend on the shape can be
    /// read without one in the text. A shape that the text itself gives goes before.
    ///
    /// ```
    /// use shapetracker::Chain;
    ///
    /// assert!(Chain::read("x.T").1.is_some());
    /// let (chain, error) = Chain::read_from("x.T", Some(&[2, 3]));
    /// assert_eq!((chain.to_string(), error), ("permute(1, 0)".into(), None));
    /// ```
    pub fn read_from(text: &str, base: Option<&[i64]>) -> (Chain, Option<ParseError>) {
        Chain::read_with(text, base, &mut Integers)
    }

    /// The same where numbers are known from elsewhere by names that the text uses.
    ///
    /// ```
    /// use shapetracker::Chain;
    ///
    /// let given = [("B", 2), ("T", 4), ("C", 8)];
    /// let (chain, error) = Chain::read_given("y.transpose(1, 2).view(B, T * C)", Some(&[2, 4, 8]), &given);
    /// assert_eq!((chain.to_string(), error), ("transpose(1, 2).reshape(2, 32)".into(), None));
    /// ```
    pub fn read_given(text: &str, base: Option<&[i64]>, given: &[(&str, i64)]) -> (Chain, Option<ParseError>) {
        let (parsed, error) = parser::chain(text, base, given, &mut Integers);
        (Chain { parsed, text: text.into() }, error)
    }

    /// The tracker after all operations. Its addresses are those of the base, whatever was copied in between: copies change
    /// where elements are, and not which they are. [`Chain::steps`] has a tracker over the last copy, too.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).contiguous()".parse()?;
    /// assert_eq!(chain.tracker()?.shape(), [2, 3]);
    /// assert!(chain.tracker()?.addresses().eq([0, 2, 4, 1, 3, 5].map(Some)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No base shape, views that do not fit each other, an operation that cannot be done.
    pub fn tracker(&self) -> Result<ShapeTracker, ChainError> {
        self.run(self.base()?, ShapeTracker::apply)
    }

    /// The tracker after all operations, over a base whose shape is known from elsewhere.
    ///
    /// Where the chain gives a shape too, the two must agree; where it gives views, they read the elements of the base
    /// in row-major order.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "permute(1, 0)".parse()?;
    /// assert_eq!(chain.tracker_from(&[3, 2])?.shape(), [2, 3]);
    ///
    /// let chain: shapetracker::Chain = "(6).reshape(2, 3)".parse()?;
    /// assert_eq!(
    ///     chain.tracker_from(&[3, 2]).unwrap_err().message(),
    ///     "the chain starts from shape (6,), but the base has shape (3, 2)",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Another base shape in the chain, a base shape that cannot be, views that do not fit each other or the base, an
    /// operation that cannot be done.
    pub fn tracker_from(&self, base: &[i64]) -> Result<ShapeTracker, ChainError> {
        self.run(self.over(base)?, ShapeTracker::apply)
    }

    /// The tensor before any operation and after each, one more than there are operations.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).reshape(3, 2)".parse()?;
    /// let views: Vec<usize> = chain.steps()?.iter().map(|step| step.over_newest().views().len()).collect();
    /// assert_eq!(views, [1, 1, 2]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`].
    pub fn steps(&self) -> Result<Vec<Stored>, ChainError> {
        let ChainProgress { steps, error, .. } = self.progress(None);
        error.map_or(Ok(steps), Err)
    }

    /// The tensor before any operation and after each, as far as they can be done, what each did to the views, and why
    /// the next one cannot be done.
    ///
    /// The base is that of [`Chain::tracker_from`], where one is given.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).reshape(4)".parse()?;
    /// let progress = chain.progress(None);
    /// assert_eq!((progress.steps.len(), progress.error.unwrap().op()), (2, Some(1)));
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn progress(&self, base: Option<&[i64]>) -> ChainProgress {
        let (mut steps, mut verdicts) = (Vec::new(), Vec::new());
        let done = self.follow(base, |step, verdict| {
            steps.push(step.clone());
            verdicts.extend(verdict);
        });
        ChainProgress { steps, verdicts, error: done.err() }
    }

    /// Does the operations one after the other. `each` is shown the tensor before any operation, and then the tensor after
    /// each and what the operation did to its views over the newest buffer; the answer is the last tensor.
    ///
    /// So that of a long chain no more need be kept than what is asked of each step. The base is that of
    /// [`Chain::tracker_from`], where one is given.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).reshape(6)".parse()?;
    /// let mut shapes = Vec::new();
    /// let last = chain.follow(None, |step, _| shapes.push(step.shape().to_vec()))?;
    /// assert_eq!(shapes, [vec![3, 2], vec![2, 3], vec![6]]);
    /// assert_eq!(last.over_newest().views().len(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Chain::tracker`] and [`Chain::tracker_from`]; by then `each` has been shown what could be done.
    pub fn follow(
        &self,
        base: Option<&[i64]>,
        mut each: impl FnMut(&Stored, Option<Verdict>),
    ) -> Result<Stored, ChainError> {
        let start = Stored::from(base.map_or_else(|| self.base(), |base| self.over(base))?);
        each(&start, None);
        self.run(start, |step, op| {
            let (after, verdict) = step.perform(op)?;
            each(&after, Some(verdict));
            Ok(after)
        })
    }

    /// A buffer that the chain copies into, in words, in which code stands between backticks. `None` for the base, unless its
    /// addresses count elements of another type than that of the array that the chain begins with.
    ///
    /// ```
    /// let chain: shapetracker::Chain = "(3, 2).permute(1, 0).contiguous()".parse()?;
    /// let last = chain.steps()?.pop().unwrap();
    /// assert_eq!(chain.copy_in_words(last.buffer()).unwrap(), "the buffer of 6 that `.contiguous()` makes");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn copy_in_words(&self, buffer: Buffer) -> Option<String> {
        match (buffer, self.parsed.unit, self.start()) {
            (Buffer::Copy { op, elements }, ..) => {
                Some(format!("the buffer of {elements} that `{}` makes", self.written_call(op)))
            }
            (Buffer::Base, Some(unit), ChainStart::Shape(shape)) => {
                Some(format!("the buffer read as {} of {unit}", shape.iter().product::<i64>()))
            }
            _ => None,
        }
    }

    /// The tracker before any operation.
    fn base(&self) -> Result<ShapeTracker, ChainError> {
        match self.start() {
            ChainStart::Nothing => Err(self.error_at_start(Cause::NoBase(self.parsed.name.clone()))),
            ChainStart::Shape(shape) => ShapeTracker::contiguous(shape).map_err(|err| self.start_error(err)),
            ChainStart::Views(views) => ShapeTracker::from_views(views.clone()).map_err(|err| self.start_error(err)),
        }
    }

    /// The tracker before any operation, over a base whose shape is known from elsewhere.
    fn over(&self, base: &[i64]) -> Result<ShapeTracker, ChainError> {
        let contiguous = ShapeTracker::contiguous(base).map_err(|err| self.start_error(err))?;
        match self.start() {
            ChainStart::Nothing => Ok(contiguous),
            ChainStart::Shape(shape) if shape[..] == *base => Ok(contiguous),
            ChainStart::Shape(shape) => {
                Err(self.error_at_start(Cause::OtherBase(Box::new([shape.clone(), base.into()]))))
            }
            ChainStart::Views(_) => contiguous.compose(&self.base()?).map_err(|err| self.start_error(err)),
        }
    }

    /// Does the operations one after the other.
    fn run<T>(&self, start: T, mut perform: impl FnMut(&T, &Movement) -> Result<T, Error>) -> Result<T, ChainError> {
        self.ops()
            .iter()
            .enumerate()
            .try_fold(start, |before, (i, op)| perform(&before, op).map_err(|err| self.op_error(i, err)))
    }

    /// What an error of an operation is to whoever wrote the chain.
    pub(crate) fn op_error(&self, op: usize, err: Error) -> ChainError {
        ChainError::new(self.text.clone(), self.span(op), Cause::Op(op, err))
    }

    pub(super) fn start_error(&self, err: Error) -> ChainError {
        self.error_at_start(Cause::Start(err))
    }

    fn error_at_start(&self, cause: Cause) -> ChainError {
        ChainError::new(self.text.clone(), self.parsed.start_span.clone(), cause)
    }
}

impl FromStr for Chain {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        let (chain, error) = Chain::read(text);
        error.map_or(Ok(chain), Err)
    }
}

impl<N: Number> PartialEq for ChainOf<N> {
    fn eq(&self, other: &Self) -> bool {
        self.start() == other.start() && self.ops() == other.ops()
    }
}

impl<N: Number> Eq for ChainOf<N> {}

/// One view in any of the forms that a [`Chain`] may start with.
///
/// ```
/// use shapetracker::View;
///
/// let pasted: View = "View(shape=(2, 3), strides=(1, 2), offset=0, mask=None, contiguous=False)".parse()?;
/// assert_eq!(pasted, "(2, 3):(1, 2)".parse()?);
/// assert_eq!(pasted, pasted.to_string().parse()?);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
impl FromStr for View {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        parser::view(text)
    }
}

/// Anything that a [`Chain`] may be, with the operations done: [`Chain::tracker`], which reads the base whatever was copied.
///
/// ```
/// use shapetracker::ShapeTracker;
///
/// let tracker: ShapeTracker = "(3, 2).permute(1, 0).reshape(3, 2)".parse()?;
/// assert_eq!(tracker, tracker.to_string().parse()?);
/// assert_eq!(tracker, format!("{tracker:?}").parse()?);
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
impl FromStr for ShapeTracker {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Ok(text.parse::<Chain>()?.tracker()?)
    }
}
