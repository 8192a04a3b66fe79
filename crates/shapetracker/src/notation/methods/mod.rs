//! All that may stand after a dot: one row a method, with its name, its arguments, whose it is, what it does in a sentence, and
//! what it means. Help, completion and suggestions are made of the rows, and reading is done by them.
//!
//! To add a method, add a row. Its meaning is a function over numbers of any kind, and reads the arguments: [`Reader::fields`]
//! knows their names from the row. What a library does other than the operations that the method stands for, such as one copy
//! where they say two, is a [`Call`]. `shapetracker-symbolic/tests/methods.rs` then asks how the method is called in a random
//! chain, and compares it with names and with numbers.

mod axes;
mod copies;
mod memory;
mod orders;
mod pads;
mod parts;
mod patterns;
mod repeats;
mod windows;

use std::ops::Range;

use shapetracker_base::text::{ParseError, Token};

pub(super) use orders::InMemory;

use super::arithmetic::{Known, Role};
use super::call::Call;
use super::parsed::Parsed;
use super::parser::{Num, Reader};
use super::program::Pieces;
use crate::number::Number;
use crate::{MovementKind, MovementOf};

/// An operation that can be written after a dot in a [`Chain`](crate::Chain): one of [`MovementKind`](crate::MovementKind),
/// or one that others have and that is read with the meaning that it has there.
///
/// ```
/// use shapetracker::Method;
///
/// let method = Method::ALL.iter().find(|method| method.name() == "unfold").unwrap();
/// assert_eq!(method.signature(), "unfold(dimension, size, step)");
/// assert_eq!(method.library(), Some("PyTorch"));
/// assert!(Method::ALL.iter().all(|method| method.signature().starts_with(method.name())));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Method {
    name: &'static str,
    signature: &'static str,
    says: &'static str,
    library: Option<&'static str>,
}

impl Method {
    /// Its name.
    ///
    /// ```
    /// assert_eq!(shapetracker::Method::ALL[0].name(), "reshape");
    /// ```
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The name and what stands between the parentheses.
    ///
    /// ```
    /// assert_eq!(shapetracker::Method::ALL[0].signature(), "reshape(size, ..)");
    /// ```
    pub const fn signature(&self) -> &'static str {
        self.signature
    }

    /// What it does, in a sentence.
    ///
    /// ```
    /// assert_eq!(shapetracker::Method::ALL[1].says(), "The axes in a new order.");
    /// ```
    pub const fn says(&self) -> &'static str {
        self.says
    }

    /// Whose it is; `None` for an operation of this crate.
    ///
    /// ```
    /// assert_eq!(shapetracker::Method::ALL[0].library(), None);
    /// ```
    pub const fn library(&self) -> Option<&'static str> {
        self.library
    }

    /// Whether a name is that of a type of elements, such as `float32` or `complex`: what `view` takes in NumPy, and may take
    /// in PyTorch, in the place of sizes.
    ///
    /// ```
    /// use shapetracker::Method;
    ///
    /// assert!(Method::takes_type("int16") && Method::takes_type("complex") && !Method::takes_type("B"));
    /// ```
    pub fn takes_type(name: &str) -> bool {
        const TYPES: [&str; 26] = [
            "bool", "int", "float", "complex", "object", "half", "double", "short", "long", "single", "byte", "ubyte",
            "intp", "uintp", "longlong", "str_", "bytes_", "void", "cfloat", "cdouble", "bfloat", "uint", "bool_",
            "int_", "intc", "csingle",
        ];
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        TYPES.contains(&name) || TYPES.contains(&stem) || ["datetime", "timedelta"].contains(&stem)
    }

    /// What stands between the parentheses: the names of the arguments, of each all that libraries give to it.
    fn arguments(&self) -> Vec<&'static str> {
        const NAMES: [&str; 11] = [
            "dim|axis|dims",
            "axis|dim|dims",
            "axes|dims",
            "dimension|dim",
            "dim1|axis1",
            "dim2|axis2",
            "sizes|unflattened_size",
            "shift|shifts",
            "split_size|split_size_or_sections|indices_or_sections",
            "sections|indices_or_sections|indices",
            "upscale_factor|downscale_factor",
        ];
        let inside = |signature: &'static str| signature.split_once('(')?.1.split_once(')').map(|(inside, _)| inside);
        let all = |name| NAMES.iter().copied().find(|names| names.split('|').next() == Some(name)).unwrap_or(name);
        let names = inside(self.signature).unwrap_or_default().split(", ").filter(|name| !name.is_empty());
        names.map(all).collect()
    }
}

/// A method that is being read, after its name.
pub(super) struct Called<'a> {
    /// The name as it is written.
    pub(super) name: &'a str,
    /// Where the call begins: at the name of the method, or of a function at its path.
    pub(super) begin: usize,
    /// Where the name stands.
    pub(super) span: Range<usize>,
}

impl Called<'_> {
    /// The names of its arguments, those of the row.
    fn arguments(&self) -> Vec<&'static str> {
        Method::ALL.iter().find(|method| method.name == self.name).map(Method::arguments).unwrap_or_default()
    }
}

/// What a method means on the array before it.
pub(super) enum Meant<N: Number> {
    /// Operations, and what a library does for them.
    Operations(Vec<MovementOf<N>>, Call),
    /// Parts, of which an index or names choose.
    Parts(Pieces<N>),
}

/// What reading a method comes to.
type Reading<A> = Result<Meant<Num<A>>, ParseError>;

/// Reads the arguments of a method, and says what it means.
type Meaning<'a, 'n, A> = fn(&mut Reader<'a, 'n, A>, &mut Parsed<Num<A>>, &Called<'a>) -> Reading<A>;

/// An operation that a library does as it is.
impl<N: Number> From<MovementOf<N>> for Meant<N> {
    fn from(op: MovementOf<N>) -> Self {
        Meant::Operations(vec![op], Call::Plain)
    }
}

/// Operations, which a library does one by one.
impl<N: Number> From<Vec<MovementOf<N>>> for Meant<N> {
    fn from(ops: Vec<MovementOf<N>>) -> Self {
        Meant::Operations(ops, Call::Plain)
    }
}

const NUMPY: Option<&str> = Some("NumPy");
const PYTORCH: Option<&str> = Some("PyTorch");
const BOTH: Option<&str> = Some("NumPy, PyTorch");
const EINOPS: Option<&str> = Some("einops");
const EINOPS_AND_PYTORCH: Option<&str> = Some("einops, PyTorch");

macro_rules! methods {
    ($($name:literal $(| $alias:literal)* $arguments:literal, $library:expr, $says:literal => $meaning:expr;)+) => {
        impl Method {
            /// All of them, ours first.
            ///
            /// ```
            /// use shapetracker::{Method, MovementKind};
            ///
            /// let ours = Method::ALL.iter().filter(|method| method.library().is_none());
            /// assert!(ours.map(|method| method.name()).eq(MovementKind::ALL.iter().map(|kind| kind.name())));
            /// ```
            pub const ALL: &'static [Method] = &[$(Method {
                name: $name,
                signature: concat!($name, $arguments),
                says: $says,
                library: $library,
            }),+];
        }

        impl<'a, 'n, A: Known> Reader<'a, 'n, A> {
            /// What a method of this name means.
            fn meaning(name: &str) -> Option<Meaning<'a, 'n, A>> {
                Some(match name {
                    $($name $(| $alias)* => $meaning,)+
                    _ => return None,
                })
            }
        }
    };
}

methods! {
    "reshape" | "view" "(size, ..)", None,
        "The same elements in row-major order under a new shape; one size may be -1." => Self::reshape;
    "permute" "(axis, ..)", None,
        "The axes in a new order." => Self::ours;
    "transpose" "(axis, axis)", None,
        "Two axes exchanged." => Self::transpose;
    "expand" "(size, ..)", None,
        "Axes of size 1 repeated; -1 for an axis that stays." => Self::expand;
    "broadcast_to" "(size, ..)", None,
        "Broadcast to a shape: new axes in front, axes of size 1 repeated." => Self::ours;
    "pad" "((before, after), ..)", None,
        "Masked elements around the tensor." => Self::pad;
    "shrink" "((begin, end), ..)", None,
        "A half-open range of each axis." => Self::ours;
    "flip" "(axis, ..)", None,
        "Axes reversed." => Self::flip;
    "step" "(step, ..)", None,
        "Every step-th element of each axis; a negative step walks backwards." => Self::ours;
    "slice" "(begin:end:step, ..)", None,
        "A slice of each axis, as in Python." => Self::ours;
    "squeeze" "(axis, ..)", None,
        "Axes of size 1 taken away; without arguments all of them." => Self::squeeze;
    "unsqueeze" "(axis)", None,
        "A new axis of size 1 before the given one." => Self::ours;
    "as_strided" "(shape, strides, offset)", None,
        "The elements in row-major order read as memory." => Self::as_strided;
    "contiguous" "()", None,
        "The elements in row-major order, copied unless they lie so already." => Self::contiguous;
    "copy" "()", None,
        "The elements in row-major order, copied into a new buffer." => Self::copy;
    "T" "", BOTH,
        "All axes reversed; in tinygrad the first two exchanged." => Self::reversed;
    "mT" "", BOTH,
        "The last two axes exchanged." => Self::matrix_reversed;
    "t" "()", PYTORCH,
        "The two axes exchanged." => Self::reversed_matrix;
    "swapaxes" "(axis1, axis2)", BOTH,
        "Two axes exchanged." => Self::swapaxes;
    "swapdims" "(dim0, dim1)", PYTORCH,
        "Two axes exchanged." => Self::swapaxes;
    "moveaxis" "(source, destination)", BOTH,
        "An axis, or several, moved to other places." => Self::moveaxis;
    "movedim" "(source, destination)", PYTORCH,
        "An axis, or several, moved to other places." => Self::moveaxis;
    "rollaxis" "(axis, start)", NUMPY,
        "An axis moved backwards, in front of another one." => Self::rollaxis;
    "permute_dims" "(axes)", NUMPY,
        "The axes in a new order." => Self::permute_dims;
    "matrix_transpose" "()", NUMPY,
        "The last two axes exchanged." => Self::matrix_transpose;
    "flatten" "(start_dim, end_dim)", PYTORCH,
        "Axes joined, from the first to the last one named." => Self::flatten;
    "ravel" "()", BOTH,
        "All axes joined." => Self::flatten;
    "view_as" "(other)", PYTORCH,
        "A view under the shape of another tensor." => Self::view_as;
    "reshape_as" "(other)", PYTORCH,
        "The same elements under the shape of another tensor." => Self::view_as;
    "expand_as" "(other)", PYTORCH,
        "Axes of size 1 repeated to the shape of another tensor." => Self::expand_as;
    "unflatten" "(dim, sizes)", PYTORCH,
        "An axis cut into several." => Self::unflatten;
    "expand_dims" "(axis)", NUMPY,
        "A new axis of size 1, or several." => Self::expand_dims;
    "narrow" "(dim, start, length)", PYTORCH,
        "A range of one axis." => Self::narrow;
    "select" "(dim, index)", PYTORCH,
        "One index of an axis, which is gone then." => Self::select;
    "chunk" "(chunks, dim)[index]", PYTORCH,
        "One of so many parts of an axis." => Self::parts;
    "split" "(split_size, dim)[index]", BOTH,
        "One part of an axis that is cut into parts of a size." => Self::parts;
    "tensor_split" "(sections, dim)[index]", PYTORCH,
        "One of so many parts of an axis, alike but for one element." => Self::parts;
    "array_split" "(sections, axis)[index]", NUMPY,
        "One of so many parts of an axis, alike but for one element." => Self::parts;
    "hsplit" "(sections)[index]", BOTH,
        "One part of the second axis, or of the only one." => |reader, parsed, called| reader.parts_along(parsed, called, 1);
    "vsplit" "(sections)[index]", BOTH,
        "One part of the first axis." => |reader, parsed, called| reader.parts_along(parsed, called, 0);
    "dsplit" "(sections)[index]", BOTH,
        "One part of the third axis." => |reader, parsed, called| reader.parts_along(parsed, called, 2);
    "unbind" "(dim)[index]", PYTORCH,
        "One index of an axis, which is gone then." => Self::unbind;
    "unfold" "(dimension, size, step)", PYTORCH,
        "Windows along an axis, their elements on a new last axis." => Self::unfold;
    "sliding_window_view" "(window_shape, axis, subok, writeable)", NUMPY,
        "A window at every place, its elements on new last axes." => Self::sliding_windows;
    "diagonal" "(offset, dim1, dim2)", BOTH,
        "The diagonal of two axes, as a new last axis." => Self::diagonal;
    "fliplr" "()", BOTH,
        "Axis 1 reversed." => |reader, _, _| reader.flipped(1);
    "flipud" "()", BOTH,
        "Axis 0 reversed." => |reader, _, _| reader.flipped(0);
    "rot90" "(k, axes)", BOTH,
        "The plane of two axes turned by quarters, from the first axis to the second." => Self::rot90;
    "rearrange" "('b c h w -> b h w c')", EINOPS,
        "Axes cut, put in another order and joined, by a pattern." => Self::rearrange;
    "repeat" "('h w -> h w c', c=3)", EINOPS_AND_PYTORCH,
        "The pattern of einops with axes that repeat; with numbers the array repeated and copied." => Self::repeat;
    "tile" "(times, ..)", BOTH,
        "The array repeated along its axes, and copied." => Self::tile;
    "repeat_interleave" "(repeats, dim)", PYTORCH,
        "Each element of an axis repeated, and copied." => Self::repeat_interleave;
    "pixel_shuffle" "(upscale_factor)", PYTORCH,
        "Channels spread over blocks of rows and columns." => Self::pixel_shuffle;
    "pixel_unshuffle" "(downscale_factor)", PYTORCH,
        "Blocks of rows and columns gathered in channels." => Self::pixel_shuffle;
    "roll" "(shift, axis)", BOTH,
        "Elements moved along an axis, and round its end; copied." => Self::roll;
    "to" "(memory_format)", PYTORCH,
        "The elements in another order of memory, copied where they lie otherwise." => Self::to;
    "clone" "()", PYTORCH,
        "The elements copied, in the order in which they lie in memory." => Self::clone_of_torch;
    "astype" "(type)", NUMPY,
        "The elements copied as another type, in the order of memory." => Self::astype;
    "array" "(x)", NUMPY,
        "As a function, the elements copied, in the order of memory." => Self::array_of_numpy;
    "asarray" "(x)", NUMPY,
        "As a function, the array itself." => Self::asarray;
    "asanyarray" "(x)", NUMPY,
        "As a function, the array itself." => Self::asarray;
    "detach" "()", PYTORCH,
        "The tensor itself, without its history." => Self::itself;
    "requires_grad_" "()", PYTORCH,
        "The tensor itself." => Self::itself;
    "numpy" "()", PYTORCH,
        "The tensor as an array of NumPy, over the same memory." => Self::itself;
    "from_numpy" "(x)", PYTORCH,
        "As a function, the array as a tensor of PyTorch, over the same memory." => Self::itself;
    "asfortranarray" "()", NUMPY,
        "The elements in column-major order, copied unless they lie so already." => Self::ascontiguousarray;
    "reinterpret_tensor" "(size, stride, offset)", PYTORCH,
        "As a function, the memory of a tensor read with other strides: inductor's `as_strided`." => Self::reinterpret_tensor;
    "ascontiguousarray" "()", NUMPY,
        "The elements in row-major order, copied unless they lie so already." => Self::ascontiguousarray;
}

/// The names of all operations, ours and others'.
pub(super) fn method_names() -> impl Iterator<Item = &'static str> {
    MovementKind::names().chain(Method::ALL.iter().filter(|method| method.library().is_some()).map(Method::name))
}

/// What to write instead of a method that is not read.
pub(super) fn instead(method: &str) -> Option<&'static str> {
    Some(match method {
        "reduce" | "einsum" | "matmul" | "sum" | "mean" | "softmax" | "conv2d" | "linear" => {
            "it computes new values, and an array of them has a layout of its own"
        }
        "where" | "gather" | "take" | "index_select" | "masked_select" | "scatter" => {
            "which elements it reads depends on values, not on their places"
        }
        "cat" | "concatenate" | "stack" => "it reads several arrays, and a layout is that of one",
        "float" | "half" | "double" | "bfloat16" | "int" | "long" | "cuda" | "cpu" | "type" => {
            "it copies where the type or the device is another one, and its elements lie as those of `.clone()` do: write that, \
             or leave it out"
        }
        _ => return None,
    })
}

impl<'a, 'n, A: Known> Reader<'a, 'n, A> {
    /// Complains of a name that no method has, before anything behind it is read.
    pub(super) fn known_method(&self, name: &str, parsed: &Parsed<Num<A>>) -> Result<(), ParseError> {
        let message = if Self::meaning(name).is_some() {
            return Ok(());
        } else if let Some(instead) = instead(name) {
            format!("`{name}` is not read: {instead}")
        } else {
            let err = self.unknown_method(name);
            // The only word so far may be the name of an array, too.
            let alone = !parsed.is_begun() && self.second() == Token::End;
            return Err(if alone { err.and_unfinished() } else { err });
        };
        Err(self.error_at(self.span.clone(), message))
    }

    /// A method after its name. With `parts`, the answer is what it cuts the array into, of which no part is chosen yet.
    pub(super) fn done(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        called: &Called<'a>,
        parts: bool,
    ) -> Result<Option<Pieces<Num<A>>>, ParseError> {
        let meaning = Self::meaning(called.name).ok_or_else(|| self.unknown_method(called.name))?;
        let (ops, call) = match meaning(self, parsed, called)? {
            Meant::Operations(ops, call) => (ops, call),
            Meant::Parts(pieces) if parts && self.token != Token::Open(b'[') => return Ok(Some(pieces)),
            Meant::Parts(pieces) => (self.chosen(parsed, &pieces, called.begin)?, Call::Plain),
        };
        let first = parsed.ops.len();
        for op in ops {
            parsed.push(op, called.begin..self.last);
        }
        parsed.called(first, call);
        Ok(None)
    }

    /// One of our operations, which all libraries that have it mean alike.
    fn ours(&mut self, _: &mut Parsed<Num<A>>, called: &Called<'a>) -> Reading<A> {
        let kind = MovementKind::named(called.name).ok_or_else(|| self.unknown_method(called.name))?;
        self.operation(called.name, kind).map(Meant::from)
    }

    /// Numbers for the arguments of a method, of which each that is missing has a default.
    fn named_numbers<const N: usize>(
        &mut self,
        called: &Called<'a>,
        defaults: [Option<Num<A>>; N],
    ) -> Result<[Num<A>; N], ParseError> {
        let mut given = defaults;
        self.numbers_for_arguments(called, &mut given)?;
        Ok(given.map(|number| number.unwrap_or_else(|| Num::<A>::from(0))))
    }

    fn numbers_for_arguments(&mut self, called: &Called<'a>, given: &mut [Option<Num<A>>]) -> Result<(), ParseError> {
        let fields = called.arguments();
        let what = |field: usize| format!("a number for `{}`", fields[field].split('|').next().unwrap_or_default());
        self.fields("`(`", &fields, &mut |reader, field| {
            given[field] = Some(reader.number(&what(field), Role::Other)?);
            Ok(())
        })?;
        if let Some(missing) = given.iter().position(Option::is_none) {
            return Err(self.expected(&what(missing)));
        }
        self.advance();
        Ok(())
    }
}
