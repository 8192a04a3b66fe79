//! All operations that can be written after a dot: their names, what they take, and whose they are.

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

    /// All of them, ours first.
    ///
    /// ```
    /// use shapetracker::{Method, MovementKind};
    ///
    /// let ours = Method::ALL.iter().filter(|method| method.library().is_none());
    /// assert!(ours.map(|method| method.name()).eq(MovementKind::ALL.iter().map(|kind| kind.name())));
    /// ```
    pub const ALL: &'static [Method] = &[
        ours(
            "reshape",
            "reshape(size, ..)",
            "The same elements in row-major order under a new shape; one size may be -1.",
        ),
        ours("permute", "permute(axis, ..)", "The axes in a new order."),
        ours("transpose", "transpose(axis, axis)", "Two axes exchanged."),
        ours("expand", "expand(size, ..)", "Axes of size 1 repeated; -1 for an axis that stays."),
        ours(
            "broadcast_to",
            "broadcast_to(size, ..)",
            "Broadcast to a shape: new axes in front, axes of size 1 repeated.",
        ),
        ours("pad", "pad((before, after), ..)", "Masked elements around the tensor."),
        ours("shrink", "shrink((begin, end), ..)", "A half-open range of each axis."),
        ours("flip", "flip(axis, ..)", "Axes reversed."),
        ours("step", "step(step, ..)", "Every step-th element of each axis; a negative step walks backwards."),
        ours("slice", "slice(begin:end:step, ..)", "A slice of each axis, as in Python."),
        ours("squeeze", "squeeze(axis, ..)", "Axes of size 1 taken away; without arguments all of them."),
        ours("unsqueeze", "unsqueeze(axis)", "A new axis of size 1 before the given one."),
        ours("as_strided", "as_strided(shape, strides, offset)", "The elements in row-major order read as memory."),
        ours("contiguous", "contiguous()", "The elements in row-major order, copied unless they lie so already."),
        ours("copy", "copy()", "The elements in row-major order, copied into a new buffer."),
        of("T", "T", "All axes reversed; in tinygrad the first two exchanged.", "NumPy, PyTorch"),
        of("mT", "mT", "The last two axes exchanged.", "NumPy, PyTorch"),
        of("t", "t()", "The two axes exchanged.", "PyTorch"),
        of("swapaxes", "swapaxes(axis, axis)", "Two axes exchanged.", "NumPy, PyTorch"),
        of("swapdims", "swapdims(dim0, dim1)", "Two axes exchanged.", "PyTorch"),
        of("moveaxis", "moveaxis(source, destination)", "An axis moved to another place.", "NumPy, PyTorch"),
        of("movedim", "movedim(source, destination)", "An axis moved to another place.", "PyTorch"),
        of("permute_dims", "permute_dims(axes)", "The axes in a new order.", "NumPy"),
        of("matrix_transpose", "matrix_transpose()", "The last two axes exchanged.", "NumPy"),
        of("flatten", "flatten(start_dim, end_dim)", "Axes joined, from the first to the last one named.", "PyTorch"),
        of("ravel", "ravel()", "All axes joined.", "NumPy, PyTorch"),
        of("unflatten", "unflatten(dim, sizes)", "An axis cut into several.", "PyTorch"),
        of("expand_dims", "expand_dims(axis)", "A new axis of size 1.", "NumPy"),
        of("narrow", "narrow(dim, start, length)", "A range of one axis.", "PyTorch"),
        of("select", "select(dim, index)", "One index of an axis, which is gone then.", "PyTorch"),
        of("chunk", "chunk(chunks, dim)[index]", "One of so many parts of an axis.", "PyTorch"),
        of(
            "split",
            "split(split_size, dim)[index]",
            "One part of an axis that is cut into parts of a size.",
            "NumPy, PyTorch",
        ),
        of(
            "tensor_split",
            "tensor_split(sections, dim)[index]",
            "One of so many parts of an axis, alike but for one element.",
            "PyTorch",
        ),
        of(
            "array_split",
            "array_split(sections, axis)[index]",
            "One of so many parts of an axis, alike but for one element.",
            "NumPy",
        ),
        of("unbind", "unbind(dim)[index]", "One index of an axis, which is gone then.", "PyTorch"),
        of(
            "unfold",
            "unfold(dimension, size, step)",
            "Windows along an axis, their elements on a new last axis.",
            "PyTorch",
        ),
        of(
            "sliding_window_view",
            "sliding_window_view(window_shape, axis)",
            "A window at every place, its elements on new last axes.",
            "NumPy",
        ),
        of(
            "diagonal",
            "diagonal(offset, dim1, dim2)",
            "The diagonal of two axes, as a new last axis.",
            "NumPy, PyTorch",
        ),
        of("fliplr", "fliplr()", "Axis 1 reversed.", "NumPy, PyTorch"),
        of("flipud", "flipud()", "Axis 0 reversed.", "NumPy, PyTorch"),
        of(
            "rearrange",
            "rearrange('b c h w -> b h w c')",
            "Axes cut, put in another order and joined, by a pattern.",
            "einops",
        ),
        of(
            "repeat",
            "repeat('h w -> h w c', c=3)",
            "The pattern of einops with axes that repeat; with numbers the array repeated and copied.",
            "einops, PyTorch",
        ),
        of("tile", "tile(times, ..)", "The array repeated along its axes, and copied.", "NumPy, PyTorch"),
        of(
            "repeat_interleave",
            "repeat_interleave(repeats, dim)",
            "Each element of an axis repeated, and copied.",
            "PyTorch",
        ),
        of(
            "pixel_shuffle",
            "pixel_shuffle(upscale_factor)",
            "Channels spread over blocks of rows and columns.",
            "PyTorch",
        ),
        of(
            "pixel_unshuffle",
            "pixel_unshuffle(downscale_factor)",
            "Blocks of rows and columns gathered in channels.",
            "PyTorch",
        ),
        of("roll", "roll(shift, axis)", "Elements moved along an axis, and round its end; copied.", "NumPy, PyTorch"),
        of(
            "to",
            "to(memory_format)",
            "The elements in another order of memory, copied where they lie otherwise.",
            "PyTorch",
        ),
        of("clone", "clone()", "The elements copied, in the order in which they lie in memory.", "PyTorch"),
        of("astype", "astype(type)", "The elements copied as another type, in the order of memory.", "NumPy"),
        of("array", "array(x)", "As a function, the elements copied, in the order of memory.", "NumPy"),
        of("asarray", "asarray(x)", "As a function, the array itself.", "NumPy"),
        of("asanyarray", "asanyarray(x)", "As a function, the array itself.", "NumPy"),
        of("detach", "detach()", "The tensor itself, without its history.", "PyTorch"),
        of("requires_grad_", "requires_grad_()", "The tensor itself.", "PyTorch"),
        of("numpy", "numpy()", "The tensor as an array of NumPy, over the same memory.", "PyTorch"),
        of(
            "from_numpy",
            "from_numpy(x)",
            "As a function, the array as a tensor of PyTorch, over the same memory.",
            "PyTorch",
        ),
        of(
            "asfortranarray",
            "asfortranarray()",
            "The elements in column-major order, copied unless they lie so already.",
            "NumPy",
        ),
        of(
            "reinterpret_tensor",
            "reinterpret_tensor(size, stride, offset)",
            "As a function, the memory of a tensor read with other strides: inductor's `as_strided`.",
            "PyTorch",
        ),
        of(
            "ascontiguousarray",
            "ascontiguousarray()",
            "The elements in row-major order, copied unless they lie so already.",
            "NumPy",
        ),
    ];
}

const fn ours(name: &'static str, signature: &'static str, says: &'static str) -> Method {
    Method { name, signature, says, library: None }
}

const fn of(name: &'static str, signature: &'static str, says: &'static str, library: &'static str) -> Method {
    Method { name, signature, says, library: Some(library) }
}
