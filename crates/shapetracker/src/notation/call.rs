//! The calls of libraries that do something else than the operations that they are read as.

use super::types::Type;

/// Which call operations were read from, as far as a library does something else for it than for the operations one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Call {
    /// What the operations say, each by itself.
    Plain,
    /// The same, read from NumPy's `reshape` with an order of its own: the axes are permuted first, and perhaps back.
    Ordered,
    /// PyTorch's `view`, which raises an error where `reshape` copies.
    View,
    /// `flatten`, which in NumPy always copies.
    Flatten,
    /// `ravel`, which copies what does not lie in row-major order, also where there is a view.
    Ravel,
    /// A copy whose elements lie in some order, as a copy between two permutations.
    Copy(Order),
    /// Such a copy whose elements are of another type.
    Convert(Order),
    /// One new array, whatever operations say which elements it has: PyTorch's `repeat`, `pixel_shuffle`.
    New,
    /// `tile`, which is such a call in PyTorch, and one for each axis that is repeated in NumPy.
    Tile,
    /// `repeat` of NumPy and `repeat_interleave`, which are such calls on an array that lies in order.
    Interleave,
    /// `roll` along this axis, which is such a call, too; or of all elements in their order.
    Roll(Option<u8>),
    /// An index in brackets, in which PyTorch has no negative steps.
    Index,
    /// PyTorch's `as_strided`, which reads the memory of the array, whatever the array has of it.
    Storage,
    /// `view` of a type whose elements have as many bytes as those of the array.
    Typed(Type),
    /// `view` of a type of another size, read as strides over the memory in elements of that type; perhaps of an array that
    /// nobody may write to.
    Bytes { is_read_only: bool },
    /// Windows along several axes, read as strides over the elements in row-major order: views of any array.
    Windows,
    /// Windows along this axis, read in the same way.
    Unfold(u8),
    /// The diagonal of these two axes, read in the same way.
    Diagonal([u8; 2]),
}

/// In which order the elements of a copy lie in memory, under NumPy's letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// C: in row-major order.
    Row,
    /// F: in column-major order.
    Column,
    /// A: in column-major order where the original lies so and not in row-major order, too; else in row-major order.
    Any,
    /// K: in that of the original, as nearly as there are no gaps; PyTorch's `preserve_format`.
    Keep,
    /// PyTorch's `channels_last` and `channels_last_3d`: the second axis innermost.
    Channels,
}
