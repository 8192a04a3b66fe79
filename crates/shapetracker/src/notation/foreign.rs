//! What others write: arrays of NumPy and PyTorch with methods and indices, `as_strided` triples, layouts of CuTe.

use smallvec::SmallVec;

use super::Start;
use super::error::ParseError;
use super::lexer::Token;
use super::parser::{OPERATIONS, Parsed, Parser};
use crate::{Dims, MAX_RANK, Movement, ShapeTracker, View};

/// What NumPy is called, and what PyTorch is called.
const NUMPY: [&str; 3] = ["np", "numpy", "jnp"];
const TORCH: [&str; 2] = ["torch", "Tensor"];

/// What makes an array of a shape.
const MAKERS: [&str; 6] = ["arange", "zeros", "ones", "empty", "rand", "randn"];

/// The names that only others have for operations.
pub(super) const FOREIGN: [&str; 10] =
    ["T", "mT", "t", "swapaxes", "swapdims", "moveaxis", "movedim", "flatten", "ravel", "contiguous"];

/// Numbers in tuples in tuples.
struct Nested {
    /// The numbers of each item of the outermost tuple.
    items: Vec<Dims>,
    /// The parentheses, and a dot for every number.
    form: String,
}

impl Parser<'_> {
    /// A name in front of a dot that is no operation: an array, or a call that makes one.
    pub(super) fn array(&mut self) -> Result<Option<Start>, ParseError> {
        let name = self.word();
        if self.token != Token::Name || self.second() != Token::Dot || OPERATIONS.contains(&name) {
            return Ok(None);
        }
        (self.foreign, self.numpy) = (true, NUMPY.contains(&name));
        self.advance();
        if !self.numpy && !TORCH.contains(&name) {
            return Ok(Some(Start::Nothing));
        }
        self.advance();
        let maker = self.word();
        if self.token != Token::Name || !MAKERS.contains(&maker) {
            return Err(self.expected(&format!("one of {}", MAKERS.join(", "))));
        }
        self.advance();
        let begin = self.span.start;
        let shape = self.number_arguments("a size")?;
        if maker == "arange" && shape.len() != 1 {
            return Err(self.error_at(begin..self.last, "expected one size, as in `arange(6)`".into()));
        }
        Ok(Some(Start::Shape(shape)))
    }

    /// `((2, 3), (3, 1), 0)`, a shape, strides and perhaps an offset, or `((2, 4), 8):((1, 16), 2)`, a layout of CuTe:
    /// every item of the outermost tuple is an axis, along which the innermost numbers run from left to right.
    pub(super) fn nested_start(&mut self, begin: usize) -> Result<Start, ParseError> {
        let mut ahead = self.clone();
        ahead.advance();
        let shape = self.nested("a size")?;
        if !self.take(Token::Colon) {
            let dots = |item: &Dims| ".".repeat(item.len());
            let is_triple =
                |sizes, strides, offset| shape.form == format!("(({})({}){offset})", dots(sizes), dots(strides));
            let (sizes, strides, offset) = match &shape.items[..] {
                [sizes, strides] if is_triple(sizes, strides, "") => (sizes, strides, 0),
                [sizes, strides, offset] if is_triple(sizes, strides, ".") => (sizes, strides, offset[0]),
                _ => return Err(ahead.expected("a size")),
            };
            let view = self.checked_view(begin, sizes, strides, offset, None)?;
            return Ok(Start::Views(vec![view]));
        }
        let begin_strides = self.span.start;
        let strides = self.nested("a stride")?;
        if strides.form != shape.form {
            let message = "the strides must have the same parentheses as the shape".to_owned();
            return Err(self.error_at(begin_strides..self.last, message));
        }
        let leaves =
            |nested: &Nested| nested.items.iter().flat_map(|item| item.iter().rev().copied()).collect::<Dims>();
        let memory = self.checked_view(begin, &leaves(&shape), &leaves(&strides), 0, None)?;
        let axes: Option<Dims> = shape
            .items
            .iter()
            .map(|item| item.iter().try_fold(1i64, |product, size| product.checked_mul(*size)))
            .collect();
        let joined = axes.filter(|_| !memory.is_empty()).unwrap_or_else(|| memory.shape().into());
        let joined = View::contiguous(joined).map_err(|err| self.error_at(begin..self.last, err.to_string()))?;
        Ok(Start::Views(vec![memory, joined]))
    }

    fn nested(&mut self, what: &str) -> Result<Nested, ParseError> {
        let mut nested = Nested { items: Vec::new(), form: String::new() };
        let (mut closing, mut numbers) = (Vec::new(), 0);
        loop {
            if let Token::Open(_) = self.token {
                if closing.len() == 1 {
                    nested.items.push(Dims::new());
                }
                nested.form.push('(');
                closing.push(self.open(what)?);
                continue;
            }
            if closing.last() == Some(&self.token) {
                nested.form.push(')');
                closing.pop();
                self.advance();
            } else {
                // Sizes that are known when the program is compiled have an underscore in front.
                let number = match self.word().strip_prefix('_').map(str::parse) {
                    Some(Ok(number)) if self.token == Token::Name => {
                        self.advance();
                        number
                    }
                    _ => self.number(what)?,
                };
                nested.form.push('.');
                numbers += 1;
                if numbers > 2 * MAX_RANK + 1 {
                    return Err(self.expected(&format!("at most {MAX_RANK} axes")));
                }
                match nested.items.last_mut() {
                    Some(item) if closing.len() > 1 => item.push(number),
                    _ => nested.items.push(Dims::from_slice(&[number])),
                }
            }
            match closing.last() {
                None => return Ok(nested),
                Some(&close) => self.comma_or(close)?,
            }
        }
    }

    /// An operation that only others have, or one that NumPy means otherwise; nothing if it is ours.
    pub(super) fn foreign_operation(&mut self, parsed: &Parsed) -> Result<Option<Movement>, ParseError> {
        let (name, span) = (self.word(), self.span.clone());
        let transpose = name == "transpose" && self.foreign;
        if self.token != Token::Name || !(transpose || FOREIGN.contains(&name)) {
            return Ok(None);
        }
        let arguments = |parser: &mut Self| parser.number_arguments("an axis");
        if transpose {
            let mut ahead = self.clone();
            ahead.advance();
            let count = ahead.number_arguments("an axis").map_or(2, |axes| axes.len());
            if count == 2 && !self.numpy {
                return Ok(None);
            }
        }
        self.advance();
        let wrong = |parser: &Self, message: &str| Err(parser.error_at(span.start..parser.last, message.to_owned()));
        Ok(Some(match name {
            "T" => Movement::Permute((0..self.shape(parsed)?.len() as i64).rev().collect()),
            "mT" => Movement::Transpose(-2, -1),
            "contiguous" => {
                return wrong(
                    self,
                    "`contiguous` copies: what comes after it reads a new buffer, and is a chain of its own",
                );
            }
            "transpose" => {
                let axes = arguments(self)?;
                if axes.is_empty() {
                    Movement::Permute((0..self.shape(parsed)?.len() as i64).rev().collect())
                } else {
                    Movement::Permute(axes)
                }
            }
            "t" => {
                arguments(self)?;
                let rank = self.shape(parsed)?.len() as i64;
                if rank > 2 {
                    return wrong(self, "`t` is for at most two axes");
                }
                Movement::Permute((0..rank).rev().collect())
            }
            "swapaxes" | "swapdims" => match arguments(self)?[..] {
                [a, b] => Movement::Transpose(a, b),
                _ => return wrong(self, "expected two axes"),
            },
            "moveaxis" | "movedim" => {
                let [from, to] = arguments(self)?[..] else {
                    return wrong(self, "expected two axes: from where, and to where");
                };
                let rank = self.shape(parsed)?.len() as i64;
                let place =
                    |axis: i64| Some(if axis < 0 { axis + rank } else { axis }).filter(|axis| (0..rank).contains(axis));
                let Some((from, to)) = place(from).zip(place(to)) else { return wrong(self, "there is no such axis") };
                let mut order: Dims = (0..rank).filter(|axis| *axis != from).collect();
                order.insert(to as usize, from);
                Movement::Permute(order)
            }
            // `flatten` and `ravel`.
            _ => {
                let ends = arguments(self)?;
                let shape = self.shape(parsed)?;
                let rank = shape.len() as i64;
                let place = |axis: i64| if axis < 0 { axis + rank } else { axis };
                let (first, last) = match ends[..] {
                    [] => (0, rank - 1),
                    [first] => (place(first), rank - 1),
                    [first, last] => (place(first), place(last)),
                    _ => return wrong(self, "expected at most two axes"),
                };
                if first < 0 || last >= rank.max(1) || (first > last && rank > 0) {
                    return wrong(self, "there is no such range of axes");
                }
                let (first, past) = (first as usize, (last + 1) as usize);
                let joined = shape[first..past].iter().try_fold(1i64, |product, size| product.checked_mul(*size));
                let Some(joined) = joined else { return wrong(self, "the axis is past the range of 64-bit integers") };
                Movement::Reshape(
                    shape[..first].iter().copied().chain([joined]).chain(shape[past..].iter().copied()).collect(),
                )
            }
        }))
    }

    /// `[1, :, ::-1, None, ...]` after an array: a slice, and a reshape where axes come or go.
    pub(super) fn subscript(&mut self, parsed: &Parsed) -> Result<SmallVec<[Movement; 2]>, ParseError> {
        /// What an entry does to an axis.
        enum Entry {
            Slice,
            Drop,
        }
        let begin = self.span.start;
        let shape = self.shape(parsed)?;
        let close = self.open("`[`")?;
        // Slices before and after the dots; new axes are numbered by the axis that they come before.
        let (mut slices, mut kinds, mut new) = (Vec::new(), Vec::new(), Vec::new());
        let mut dots = None;
        while self.token != close {
            let entry = self.span.start;
            let axes_left = |slices: &Vec<_>| slices.len() < shape.len();
            if self.token == Token::Dot || self.at_word("Ellipsis") {
                let words = if self.token == Token::Dot { 3 } else { 1 };
                for _ in 0..words {
                    if words == 3 && self.token != Token::Dot {
                        return Err(self.expected("`...`"));
                    }
                    self.advance();
                }
                if dots.replace((slices.len(), new.len())).is_some() {
                    return Err(self.error_at(entry..self.last, "`...` stands once".into()));
                }
            } else if self.at_word("None") || self.at_word("newaxis") {
                self.advance();
                if new.len() >= MAX_RANK {
                    return Err(self.expected(&format!("at most {MAX_RANK} axes")));
                }
                new.push(slices.len());
            } else if !axes_left(&slices) {
                return Err(self.expected(&format!("at most {} entries, one an axis", shape.len())));
            } else {
                let first = self.bound()?;
                if self.token == Token::Colon {
                    self.advance();
                    let end = self.bound()?;
                    let step = if self.take(Token::Colon) { self.bound()? } else { None };
                    slices.push((first, end, step.unwrap_or(1)));
                    kinds.push(Entry::Slice);
                } else {
                    let Some(index) = first else { return Err(self.expected("an index, a slice, `None` or `...`")) };
                    slices.push((Some(index), None, 1));
                    kinds.push(Entry::Drop);
                    // The index is checked once its axis is known.
                }
            }
            self.comma_or(close)?;
        }
        self.advance();
        let span = begin..self.last;
        // The axes that no entry is about stand where the dots are, or at the end.
        let (at, new_before) = dots.unwrap_or((slices.len(), new.len()));
        let missing = shape.len() - slices.len();
        slices.splice(at..at, std::iter::repeat_n((None, None, 1), missing));
        kinds.splice(at..at, std::iter::repeat_with(|| Entry::Slice).take(missing));
        new[new_before..].iter_mut().for_each(|axis| *axis += missing);
        for (axis, slice) in slices.iter_mut().enumerate().filter(|(axis, _)| matches!(kinds[*axis], Entry::Drop)) {
            let (index, size) = (slice.0.unwrap_or(0), shape[axis]);
            let index = if index < 0 { index.saturating_add(size) } else { index };
            if !(0..size).contains(&index) {
                let given = slice.0.unwrap_or(0);
                return Err(
                    self.error_at(span, format!("axis {axis} has size {size}, so that there is no index {given}"))
                );
            }
            *slice = (Some(index), Some(index + 1), 1);
        }
        let sliced = Movement::Slice(slices);
        let from = ShapeTracker::contiguous(&shape).and_then(|array| array.apply(&sliced));
        let from = from.map_err(|err| self.error_at(span, err.to_string()))?;
        let mut to = Dims::new();
        for axis in 0..=shape.len() {
            to.extend(new.iter().filter(|place| **place == axis).map(|_| 1));
            if kinds.get(axis).is_some_and(|kind| matches!(kind, Entry::Slice)) {
                to.push(from.shape()[axis]);
            }
        }
        let mut ops = SmallVec::from_iter([sliced]);
        if to[..] != *from.shape() {
            ops.push(Movement::Reshape(to));
        }
        Ok(ops)
    }

    /// The shape of what was read so far.
    fn shape(&mut self, parsed: &Parsed) -> Result<Dims, ParseError> {
        let span = self.span.clone();
        let unknown = |message: &str| self.error_at(span.clone(), message.to_owned());
        let mut shape = match (&self.known, &parsed.start) {
            ((_, Some(shape)), _) => shape.clone(),
            (_, Start::Shape(shape)) => shape.clone(),
            (_, Start::Views(views)) => views.last().map_or_else(Dims::new, |view| view.shape().into()),
            (_, Start::Nothing) => {
                let message = "what stands here depends on the shape: write the shape in front, as in `(2, 3).T`";
                return Err(unknown(message));
            }
        };
        for op in &parsed.ops[self.known.0..] {
            let after = ShapeTracker::contiguous(&shape).and_then(|array| array.apply(op));
            let after = after.map_err(|_| unknown("what stands here depends on an operation that cannot be done"))?;
            shape = after.shape().into();
        }
        self.known = (parsed.ops.len(), Some(shape.clone()));
        Ok(shape)
    }
}
