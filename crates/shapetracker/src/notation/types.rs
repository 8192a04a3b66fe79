//! The types of elements, as far as a text says them, and `view` of a type, which reads the bytes of the elements as others.

use std::fmt;

use shapetracker_base::text::{ParseError, Token, Tokens, quoted, tuple};

use super::ChainStartOf;
use super::arithmetic::{Arithmetic, Known, Operator};
use super::asked::undivided_axis;
use super::call::Call;
use super::calls::ArrayLibrary;
use super::foreign::{Methods, Ops, library};
use super::methods::{Meant, Method};
use super::parsed::Parsed;
use super::parser::{Num, Nums, Reader};
use crate::number::Number;
use crate::shape::checked_numel;
use crate::{Dims, MovementKind, MovementOf};

/// A type of elements: its kind, under NumPy's letters and `r` for bfloat16, and how many bytes one takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Type {
    kind: u8,
    bytes: u32,
}

impl Type {
    /// The type of a name, or of one of NumPy's texts such as `<f4`; nothing is known of any other.
    fn named(name: &str, is_torch: bool) -> Option<Type> {
        let of = |kind: u8, bytes: u32| Some(Type { kind, bytes });
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let digits: Option<u32> = name[stem.len()..].parse().ok();
        match (stem, digits) {
            ("int", Some(bits @ (8 | 16 | 32 | 64))) => of(b'i', bits / 8),
            ("uint", Some(bits @ (8 | 16 | 32 | 64))) => of(b'u', bits / 8),
            ("float", Some(bits @ (16 | 32 | 64))) => of(b'f', bits / 8),
            ("complex", Some(bits @ (32 | 64 | 128))) => of(b'c', bits / 8),
            ("bfloat", Some(16)) => of(b'r', 2),
            ("i" | "u" | "f" | "c", Some(bytes @ (1 | 2 | 4 | 8 | 16))) => of(stem.as_bytes()[0], bytes),
            ("S" | "V", Some(bytes @ 1..)) => of(stem.as_bytes()[0], bytes),
            ("b", Some(1)) | ("bool" | "bool_" | "?", None) => of(b'b', 1),
            // PyTorch's names are those of C, and the words of Python are NumPy's.
            ("int" | "intc" | "i", None) if is_torch || stem != "int" => of(b'i', 4),
            ("float", None) if is_torch => of(b'f', 4),
            ("int" | "int_" | "intp" | "long" | "longlong" | "q", None) => of(b'i', 8),
            ("uint" | "uintp" | "ulonglong" | "Q", None) => of(b'u', 8),
            ("short" | "h", None) => of(b'i', 2),
            ("byte" | "b", None) => of(b'i', 1),
            ("ubyte" | "B", None) => of(b'u', 1),
            ("half" | "e", None) => of(b'f', 2),
            ("single" | "f", None) => of(b'f', 4),
            ("float" | "double" | "d", None) => of(b'f', 8),
            ("csingle" | "cfloat" | "F", None) => of(b'c', 8),
            ("complex" | "cdouble" | "D", None) => of(b'c', 16),
            _ => None,
        }
    }

    /// The type of what a function makes that is not told one.
    pub(super) fn made_by(maker: &str, word: &str) -> Option<Type> {
        match (word, maker) {
            ("np" | "numpy" | "torch", "arange") => Some(Type { kind: b'i', bytes: 8 }),
            ("np" | "numpy", _) => Some(Type { kind: b'f', bytes: 8 }),
            ("torch", _) => Some(Type { kind: b'f', bytes: 4 }),
            _ => None,
        }
    }

    /// How many bytes an element has.
    pub(super) fn bytes(self) -> u32 {
        self.bytes
    }

    /// The type as a library writes it, where it has it.
    pub(crate) fn written(self, library: ArrayLibrary) -> Option<String> {
        Some(match (library, self.kind) {
            (ArrayLibrary::NumPy, b'r') | (ArrayLibrary::PyTorch, b'S' | b'V') => return None,
            (ArrayLibrary::NumPy, b'S' | b'V') => format!("'{self}'"),
            (ArrayLibrary::NumPy, _) => format!("np.{self}"),
            (ArrayLibrary::PyTorch, _) => format!("torch.{self}"),
        })
    }
}

/// Its name in both libraries.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bits = u64::from(self.bytes) * 8;
        match self.kind {
            b'b' => f.write_str("bool"),
            b'i' => write!(f, "int{bits}"),
            b'u' => write!(f, "uint{bits}"),
            b'f' => write!(f, "float{bits}"),
            b'c' => write!(f, "complex{bits}"),
            b'r' => f.write_str("bfloat16"),
            kind => write!(f, "{}{}", char::from(kind), self.bytes),
        }
    }
}

impl<A: Arithmetic> Reader<'_, '_, A> {
    /// A type such as `np.float32`, `float` or `'f4'`, perhaps with the name of its argument, or a number or a boolean; and
    /// which type that is, where it is known.
    pub(super) fn type_argument(&mut self) -> Result<Option<Type>, ParseError> {
        if self.at_argument_name() {
            self.advance();
            self.advance();
        }
        let is_torch = library(self.word()) == Methods::PyTorch;
        loop {
            if !matches!(self.token, Token::Name | Token::Text | Token::Number) {
                return Err(self.expected("a type, such as `np.float32`"));
            }
            // The order of the bytes in an element changes no layout.
            let name = self.word().trim_matches(['"', '\'']).trim_start_matches(['<', '>', '=', '|']);
            self.advance();
            if !self.take(Token::Dot) {
                return Ok(Type::named(name, is_torch));
            }
        }
    }
}

impl<A: Known> Reader<'_, '_, A> {
    /// Whether the argument of `view` is a type, and no size; in NumPy it always is.
    pub(super) fn at_type(&self, parsed: &Parsed<Num<A>>) -> bool {
        let mut ahead = self.tokens.clone();
        if self.opened.is_none() {
            ahead.advance();
        }
        parsed.methods == Methods::NumPy
            || (ahead.at_word("dtype") && ahead.second() == Token::Equals)
            || is_type(&ahead)
    }

    /// `view` of a type. Where elements have as many bytes as before they lie as before. Else it is another layout of the same
    /// memory, whose addresses count other elements: the chain begins anew with that memory.
    pub(super) fn viewed(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Meant<Num<A>>, ParseError> {
        let close = self.open("`(`")?;
        if self.take(close) {
            // The array itself.
            return Ok(Ops::<A>::new().into());
        }
        if self.at_argument_name() && !self.at_word("dtype") {
            return Err(self.expected("`dtype=` or a type, such as `np.float32`"));
        }
        let at = self.span.start;
        let Some(to) = self.type_argument()? else {
            let message = format!(
                "the size of the elements of {} is not known: write a type of numbers, such as `np.float32`; to change the \
                 shape write `reshape`",
                quoted(&self.text[at..self.last])
            );
            return Err(self.error_at(at..self.last, message));
        };
        self.comma_or(close)?;
        self.close(close)?;
        let library = if parsed.methods == Methods::PyTorch { ArrayLibrary::PyTorch } else { ArrayLibrary::NumPy };
        let Some(from) = parsed.of_type else {
            let array =
                if library == ArrayLibrary::PyTorch { "torch.zeros(4, 6)" } else { "np.zeros((4, 6), np.int32)" };
            let message = format!(
                "`view` reads the bytes of the elements as {to}, and nothing says which type they have: begin with an array \
                 that has one, as in `{array}`; where both types have one size, leave it out, and to change the shape write \
                 `reshape`"
            );
            return Err(self.wrong(begin, message));
        };
        parsed.of_type = Some(to);
        let shape = self.shape(parsed, begin)?;
        if from.bytes == to.bytes {
            parsed.retyped += 1;
            return Ok(Meant::Operations(vec![MovementOf::Reshape(shape)], Call::Typed(to)));
        }
        if self.arithmetic.integers(&parsed.ops).is_none() {
            return self.viewed_in_order(parsed, &shape, library, (from, to), begin);
        }
        let [sizes, length] =
            [shape, self.length(parsed)].map(|list| list.iter().filter_map(Num::<A>::integer).collect::<Dims>());
        let (to_shape, by, offset) =
            self.read_as(parsed, library, &sizes, (from, to), begin).map_err(|message| self.wrong(begin, message))?;
        let numbers = |list: Dims| list.iter().map(|&number| Num::<A>::from(number)).collect::<Nums<A>>();
        let op = MovementOf::AsStrided(numbers(to_shape), numbers(by), Num::<A>::from(offset));
        let is_read_only = self.hand(parsed, library, begin)?.is_read_only();
        let len = checked_numel("view", &length).map_err(|err| self.refused(begin, &err))?;
        let len = i128::from(len) * i128::from(from.bytes) / i128::from(to.bytes);
        let len = i64::try_from(len).map_err(|_| {
            self.error_at(begin..self.last, "view: the number of elements is past the range of 64-bit integers")
        })?;
        parsed.is_rough = parsed.has_rough_axes();
        parsed.truncate(0);
        parsed.forget();
        parsed.start = ChainStartOf::Shape(vec![Num::<A>::from(len)].into());
        parsed.unit = Some(to);
        Ok(Meant::Operations(vec![op], Call::Bytes { is_read_only }))
    }

    /// The same where sizes are names: of an array that is all of its memory in row-major order, the last axis alone changes.
    fn viewed_in_order(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        shape: &[Num<A>],
        library: ArrayLibrary,
        (from, to): (Type, Type),
        begin: usize,
    ) -> Result<Meant<Num<A>>, ParseError> {
        let raises = match library {
            ArrayLibrary::NumPy => "NumPy raises a ValueError",
            ArrayLibrary::PyTorch => "PyTorch raises a RuntimeError",
        };
        let keeps = |op: &MovementOf<Num<A>>| {
            use MovementKind as Kind;
            matches!(op.kind(), Kind::Reshape | Kind::Squeeze | Kind::Unsqueeze)
        };
        if matches!(parsed.start, ChainStartOf::Views(_)) || !parsed.ops.iter().all(keeps) {
            let message = format!(
                "`view` of {from} as {to}, of another size, depends on strides, which are followed where sizes are numbers: with \
                 names write it before what moves elements"
            );
            return Err(self.wrong(begin, message));
        }
        let length = self.length(parsed);
        let (more, fewer) = (from.bytes / to.bytes, to.bytes / from.bytes);
        if from.bytes != to.bytes * more.max(1) && to.bytes != from.bytes * fewer.max(1) {
            let message = format!("{raises}: the size of {from} and that of {to} are no multiples of each other");
            return Err(self.wrong(begin, message));
        }
        let Some((size, rest)) = shape.split_last() else {
            let message = format!("{raises}: to view {from} as {to}, of another size, an array needs an axis");
            return Err(self.wrong(begin, message));
        };
        let by = Num::<A>::from(i64::from(more.max(fewer)));
        let numel = self.numel("view", &length, begin)?;
        let (joined, len) = if more > 0 {
            (self.operate(Operator::Mul, size, &by, begin)?, self.operate(Operator::Mul, &numel, &by, begin)?)
        } else {
            // Without elements PyTorch has strides that are no multiples.
            let least = Num::<A>::from(1);
            if self.arithmetic.at_least(size, &least) != Some(true) {
                return Err(self.not_known(size, &least, begin));
            }
            let parts = (self.quotient(size, &by, begin)?, self.quotient(&numel, &by, begin)?);
            let (Some(joined), Some(len)) = parts else {
                let (axis, is_number) = (rest.len(), size.integer().is_some());
                let [size, by] = [size, &by].map(|number| self.shown(number));
                let message = match is_number {
                    true => format!(
                        "{raises}: to view {from} as {to}, the last axis must be a multiple of {by}, and axis {axis} has size {size}"
                    ),
                    false => undivided_axis(axis, &size, &by),
                };
                return Err(self.wrong(begin, message));
            };
            (joined, len)
        };
        let shape: Nums<A> = rest.iter().chain([&joined]).cloned().collect();
        parsed.is_rough = parsed.has_rough_axes();
        parsed.truncate(0);
        parsed.forget();
        parsed.start = ChainStartOf::Shape(vec![len].into());
        parsed.unit = Some(to);
        Ok(Meant::Operations(vec![MovementOf::Reshape(shape)], Call::Bytes { is_read_only: false }))
    }

    /// The shape of the memory that a chain begins with.
    fn length(&self, parsed: &Parsed<Num<A>>) -> Nums<A> {
        match &parsed.start {
            ChainStartOf::Shape(shape) => shape.clone(),
            _ => self.base.unwrap_or_default().to_vec().into(),
        }
    }

    /// The layout of an array whose elements are read as others of another size, over the same memory; or why a library
    /// refuses that.
    fn read_as(
        &self,
        parsed: &mut Parsed<Num<A>>,
        library: ArrayLibrary,
        shape: &[i64],
        (from, to): (Type, Type),
        begin: usize,
    ) -> Result<(Dims, Dims, i64), String> {
        let is_new = parsed.ops.is_empty();
        let is_rough = parsed.has_rough_axes();
        let raises = match library {
            ArrayLibrary::NumPy => "NumPy raises a ValueError",
            ArrayLibrary::PyTorch => "PyTorch raises a RuntimeError",
        };
        let of = format!("to view {from} as {to}, of another size,");
        let hand = self.hand(parsed, library, begin).map_err(|err| err.message().to_owned())?;
        if hand.is_refused() {
            return Err(
                "PyTorch raises a ValueError at the negative step before this: write `flip` in its place".into()
            );
        }
        let Some((&size, rest)) = shape.split_last() else {
            return Err(format!("{raises}: {of} an array needs an axis, and this one has none"));
        };
        let numel = checked_numel("view", shape).map_err(|err| err.to_string())?;
        let (strides, offset) = hand.strides_and_offset();
        let has_copied = hand.has_copied();
        let last = rest.len();
        if numel == 0 && !is_new && library == ArrayLibrary::PyTorch {
            return Err(format!(
                "{of} PyTorch looks at the strides, and those of this tensor without elements are not known"
            ));
        }
        // Along some axes of size 1 PyTorch has the strides of a tensor on the way.
        let is_vague =
            library == ArrayLibrary::PyTorch && is_rough && (size == 1 || (from.bytes < to.bytes && rest.contains(&1)));
        if is_vague {
            return Err(format!(
                "{of} PyTorch looks at the strides of axes of size 1, which are not known after an index with `None` or a number, \
                 `select`, `unbind` or an `expand` to more axes: write `narrow` and `squeeze`, or `unsqueeze`, in its place"
            ));
        }
        let is_free = library == ArrayLibrary::NumPy && (size == 1 || numel == 0);
        if strides[last] != 1 && !is_free {
            let stride = strides[last];
            let write = if library == ArrayLibrary::NumPy { "np.ascontiguousarray(x)" } else { "x.contiguous()" };
            return Err(format!(
                "{raises}: {of} the last axis must have stride 1, and axis {last} has stride {stride}; `{write}` has it"
            ));
        }
        // So many bytes are how many of the new elements?
        let exact = |elements: i64| {
            let bytes = i128::from(elements) * i128::from(from.bytes);
            (bytes % i128::from(to.bytes) == 0).then(|| i64::try_from(bytes / i128::from(to.bytes)).unwrap_or(i64::MAX))
        };
        let (old, new) = (from.bytes, to.bytes);
        if old > new && old % new != 0 {
            return Err(format!(
                "{raises}: {of} smaller elements must have a size that divides the old one, and {new} bytes do not divide {old}"
            ));
        }
        let Some(joined) = exact(size) else {
            return Err(format!(
                "{raises}: {of} the bytes of the last axis must be whole elements: axis {last} has {size} of {old} bytes, \
                 and one takes {new}"
            ));
        };
        let whole = |what: &str, elements: i64| {
            exact(elements).ok_or_else(|| match library {
                ArrayLibrary::PyTorch => {
                    format!("{raises}: {of} {what} must be a multiple of {}, and it is {elements}", new / old)
                }
                ArrayLibrary::NumPy => format!(
                    "{what} is {elements} elements of {from}, which are no whole number of {to}: NumPy makes that view, and \
                     no layout in elements has its addresses"
                ),
            })
        };
        let mut to_shape = Dims::from_slice(rest);
        to_shape.push(joined);
        let mut by = Dims::new();
        for (axis, &stride) in strides[..last].iter().enumerate() {
            let matters = library == ArrayLibrary::PyTorch || (shape[axis] != 1 && numel != 0);
            by.push(if matters {
                whole(&format!("the stride of axis {axis}"), stride)?
            } else {
                exact(stride).unwrap_or(0)
            });
        }
        by.push(1);
        let offset = if numel == 0 { 0 } else { whole("the place where the array begins", offset)? };
        if has_copied {
            return Err(format!(
                "`view` of {from} as {to}, of another size, is read over the memory that the chain begins with, and something \
                 is copied before: begin with the copy, as an array of shape {} and type {from}",
                tuple(shape)
            ));
        }
        Ok((to_shape, by, offset))
    }
}

/// Whether a type stands here.
pub(super) fn is_type(tokens: &Tokens<'_>) -> bool {
    let word = tokens.word();
    let is_path = library(word) != Methods::Unknown && tokens.second() == Token::Dot;
    tokens.token == Token::Text
        || (tokens.token == Token::Name && Method::takes_type(if is_path { tokens.third().1 } else { word }))
}
