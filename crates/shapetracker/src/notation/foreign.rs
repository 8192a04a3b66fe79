//! What others write: arrays of NumPy, PyTorch and tinygrad with methods and indices, `as_strided` triples, layouts of
//! CuTe. It has the meaning that it has there, or is refused with what to write instead.

use shapetracker_base::text::{ParseError, Token, quoted};

use super::ChainStartOf;
use super::arguments::is_item;
use super::arithmetic::{Known, Operator, Role};
use super::parsed::Parsed;
use super::parser::{Num, Nums, Reader};
use super::types::{Type, is_type};

use crate::number::{List as _, Number};
use crate::operation::Slice;
use crate::{MAX_RANK, MovementKind, MovementOf};

/// Whose methods an array has: NumPy, PyTorch and tinygrad mean different things by one name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Methods {
    /// Those of this crate's chains.
    Ours,
    /// Those of an array of which nothing is known but its name.
    Unknown,
    NumPy,
    PyTorch,
    Tinygrad,
}

/// The functions that make an array of a shape.
pub(super) const MAKERS: [&str; 6] = ["arange", "zeros", "ones", "empty", "rand", "randn"];

/// Operations that one method stands for: most often one, and two where axes come or go.
pub(super) type Ops<A> = Vec<MovementOf<Num<A>>>;

/// The complaint that a shape is missing.
pub(super) const NO_SHAPE: &str = "what stands here depends on the shape: write the shape in front, as in `(2, 3).T`";

/// The library that a name is usually given to, or that it is the class of.
pub(super) fn library(name: &str) -> Methods {
    match name {
        "np" | "numpy" | "jnp" => Methods::NumPy,
        "torch" | "F" | "nn" => Methods::PyTorch,
        "Tensor" => Methods::Tinygrad,
        _ => Methods::Unknown,
    }
}

/// Numbers in nested tuples, as shapes and strides of CuTe's layouts are.
pub(super) struct Nested<N: Number> {
    /// The numbers of each item of the outermost tuple.
    pub(super) items: Vec<N::Numbers>,
    /// The parentheses, and a dot for every number.
    pub(super) form: String,
}

/// What a function that makes an array is told.
struct Made<A: Known> {
    shape: Nums<A>,
    /// The type, if it is told one; nothing is known of one that is not read.
    of_type: Option<Option<Type>>,
    /// Whether the first axis is the innermost one.
    is_column: bool,
}

/// One entry of an index: what stands between two commas.
enum Entry<N> {
    Slice(Slice<N>),
    Index(N),
    NewAxis,
    Ellipsis,
}

impl<A: Known> Reader<'_, '_, A> {
    /// A name that is no operation, and what follows if that makes an array; nothing if the chain starts without one.
    pub(super) fn made_array(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let name = self.word();
        let word = name;
        match self.second() {
            _ if MovementKind::named(name).is_some() => return Ok(ChainStartOf::Nothing),
            Token::Dot | Token::Open(b'[') | Token::Comma | Token::Close(_) => self.advance(),
            Token::Open(b'(') if library(self.third().1) != Methods::Unknown => return Err(self.around_an_array()),
            _ => return Ok(ChainStartOf::Nothing),
        }
        parsed.methods = library(name);
        if parsed.methods == Methods::Unknown || !self.take(Token::Dot) {
            return Ok(ChainStartOf::Nothing);
        }
        if self.at_word("random") && self.second() == Token::Dot {
            self.advance();
            self.advance();
        }
        let maker = self.word();
        if maker == "empty_strided" {
            self.advance();
            let begin = self.span.start;
            let fields = ["size|shape", "stride|strides", "dtype", "device", "layout", "requires_grad", "pin_memory"];
            let (mut shape, mut strides) = (Nums::<A>::default(), Nums::<A>::default());
            self.fields("`(`", &fields, &mut |reader, field| {
                match field {
                    0 => shape = reader.numbers("a size")?,
                    1 => strides = reader.strides()?,
                    _ => drop(reader.type_argument()?),
                }
                Ok(())
            })?;
            self.advance();
            let view = self.checked_view(begin, &shape, &strides, Num::<A>::from(0), None)?;
            return Ok(ChainStartOf::Views(vec![view]));
        }
        if !MAKERS.contains(&maker) && self.second() == Token::Open(b'(') && self.third().0 == Token::Name {
            return Err(self.around_an_array());
        }
        if !MAKERS.contains(&maker) {
            return Err(self.expected(&format!(
                "one of {}, or in place of a function a shape and methods, as in `(2, 3).permute(1, 0)`",
                MAKERS.join(", ")
            )));
        }
        self.advance();
        let begin = self.span.start;
        let made = self.maker_arguments(parsed.methods)?;
        let shape = made.shape;
        parsed.of_type = made.of_type.unwrap_or_else(|| Type::made_by(maker, word));
        if made.is_column && maker != "arange" {
            let back = |list: Nums<A>| list.iter().rev().cloned().collect::<Nums<A>>();
            let strides = self.arithmetic.row_major(&back(shape.clone()));
            let strides = strides.map_err(|message| self.wrong(begin, message))?;
            let view = self.checked_view(begin, &shape, &back(strides), Num::<A>::from(0), None)?;
            return Ok(ChainStartOf::Views(vec![view]));
        }
        if maker == "arange" {
            let length = self.length_of_range(&shape, begin)?;
            return Ok(ChainStartOf::Shape(vec![length].into()));
        }
        Ok(ChainStartOf::Shape(shape))
    }

    /// The complaint about a function that is called with an array.
    fn around_an_array(&self) -> ParseError {
        let message = format!(
            "{} is no function that moves elements, or it is not read: write the array and then its operations, as in \
             `(6,).flip(0)`, or an index, as in `(6,)[::-1]`",
            quoted(self.word())
        );
        self.error_at(self.span.clone(), message)
    }

    /// The sizes between the parentheses of a function that makes an array, and arguments that say nothing of its layout.
    /// The type is that of an argument which says it; nothing is known of a type that is not read.
    fn maker_arguments(&mut self, methods: Methods) -> Result<Made<A>, ParseError> {
        let close = self.open("`(`")?;
        let (mut shape, mut of_type, mut is_whole) = (Nums::<A>::default(), None, false);
        let mut is_column = false;
        if matches!(self.word(), "shape" | "size") && self.at_argument_name() {
            self.advance();
            self.advance();
        }
        if self.at_tuple() {
            shape = self.numbers("a size")?;
            is_whole = true;
            self.comma_or(close)?;
        }
        while self.token != close {
            let is_type = methods == Methods::NumPy && (is_whole || !shape.is_empty()) && is_type(self);
            if is_type || (self.at_word("dtype") && self.at_argument_name()) {
                of_type = Some(self.type_argument()?);
            } else if self.at_word("order") && self.at_argument_name() {
                self.advance();
                self.advance();
                is_column = match self.word().trim_matches(['"', '\'']) {
                    "C" => false,
                    "F" => true,
                    _ => return Err(self.expected("one of the orders 'C' and 'F'")),
                };
                self.advance();
            } else if self.at_argument_name() {
                self.other_argument()?;
            } else if shape.len() < MAX_RANK {
                self.sizes("a size", Role::Other, &mut shape)?;
            } else {
                return Err(self.expected(&format!("at most {MAX_RANK} axes")));
            }
            self.comma_or(close)?;
        }
        self.advance();
        Ok(Made { shape, of_type, is_column })
    }

    /// An argument with a name that says nothing of the layout, such as `dtype=torch.float32`.
    pub(super) fn other_argument(&mut self) -> Result<(), ParseError> {
        const OTHERS: [&str; 9] = [
            "dtype",
            "device",
            "requires_grad",
            "pin_memory",
            "writeable",
            "subok",
            "mode",
            "value",
            "constant_values",
        ];
        if !OTHERS.contains(&self.word()) {
            let names = OTHERS.join("`, `");
            return Err(self.expected(&format!("a size, or one of the names `{names}`")));
        }
        self.advance();
        self.advance();
        // A name such as `torch.float32`, a text or a number.
        if self.is_symbol("-") || self.is_symbol("+") {
            self.advance();
        }
        loop {
            if !matches!(self.token, Token::Name | Token::Text | Token::Number | Token::NotWhole) {
                return Err(self.expected("a name, a text or a number"));
            }
            self.advance();
            if !self.take(Token::Dot) {
                return Ok(());
            }
        }
    }

    /// `((2, 3), (3, 1), 0)`, a shape, strides and perhaps an offset, or `((2, 4), 8):((1, 16), 2)`, a layout of CuTe:
    /// every item of the outermost tuple is an axis, along which the innermost numbers run from left to right.
    /// If it is neither, the complaint is `otherwise`.
    pub(super) fn nested_start(
        &mut self,
        otherwise: ParseError,
        parsed: &mut Parsed<Num<A>>,
    ) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let begin = self.span.start;
        let shape = self.nested("a size", Role::Other)?;
        if !self.take(Token::Colon) {
            let dots = |item: &Nums<A>| ".".repeat(item.len());
            let is_triple =
                |sizes, strides, offset| shape.form == format!("(({})({}){offset})", dots(sizes), dots(strides));
            let (sizes, strides, offset) = match &shape.items[..] {
                [sizes, strides] if is_triple(sizes, strides, "") => (sizes, strides, Num::<A>::from(0)),
                [sizes, strides, offset] if is_triple(sizes, strides, ".") => (sizes, strides, offset[0].clone()),
                // Sizes may stand in parentheses.
                items if !items.is_empty() && items.iter().all(|item| item.len() == 1) && self.token != Token::End => {
                    return Ok(ChainStartOf::Shape(items.iter().map(|item| item[0].clone()).collect()));
                }
                // The strides of a layout may follow.
                _ if self.token == Token::End => return Err(otherwise.and_unfinished()),
                _ => return Err(otherwise),
            };
            let view = self.checked_view(begin, sizes, strides, offset, None)?;
            return Ok(ChainStartOf::Views(vec![view]));
        }
        let begin_strides = self.span.start;
        let strides = self.nested("a stride", Role::Stride)?;
        self.layout(begin, begin_strides, shape, strides, parsed)
    }

    /// The layout of CuTe with a shape and strides.
    pub(super) fn layout(
        &mut self,
        begin: usize,
        begin_strides: usize,
        shape: Nested<Num<A>>,
        strides: Nested<Num<A>>,
        parsed: &mut Parsed<Num<A>>,
    ) -> Result<ChainStartOf<Num<A>>, ParseError> {
        if strides.form != shape.form {
            let message = "the strides must have the same parentheses as the shape".to_owned();
            return Err(self.error_at(begin_strides..self.last, message));
        }
        // The last number runs fastest in a view, and the first in a layout.
        let numbers = |nested: &Nested<Num<A>>| {
            nested.items.iter().flat_map(|item| item.iter().rev().cloned()).collect::<Nums<A>>()
        };
        let memory = self.checked_view(begin, &numbers(&shape), &numbers(&strides), Num::<A>::from(0), None)?;
        let axes = shape.items.iter().map(|item| self.arithmetic.numel("layout", item)).collect::<Result<Nums<A>, _>>();
        let joined = axes.and_then(|axes| self.arithmetic.reshaped(memory, &axes));
        let joined = joined.map_err(|message| self.wrong(begin, message))?;
        parsed.modes = Some(shape.items);
        Ok(ChainStartOf::Views(joined))
    }

    fn nested(&mut self, what: &str, role: Role) -> Result<Nested<Num<A>>, ParseError> {
        let mut nested = Nested::<Num<A>> { items: Vec::new(), form: String::new() };
        let (mut closing, mut numbers) = (Vec::new(), 0);
        loop {
            if matches!(self.token, Token::Open(_)) && (closing.is_empty() || is_item(self)) {
                if closing.len() > MAX_RANK {
                    return Err(self.expected(&format!("at most {MAX_RANK} tuples in one another")));
                }
                if closing.len() == 1 {
                    nested.items.push(Nums::<A>::default());
                }
                nested.form.push('(');
                closing.push(self.open(what)?);
                continue;
            }
            if closing.last() == Some(&self.token) {
                nested.form.push(')');
                closing.pop();
                self.advance();
            } else if numbers > 2 * MAX_RANK {
                return Err(self.expected(&format!("at most {MAX_RANK} axes")));
            } else {
                let number = self.number(what, role)?;
                nested.form.push('.');
                numbers += 1;
                match nested.items.last_mut() {
                    Some(item) if closing.len() > 1 => item.push(number),
                    _ => nested.items.push(vec![number].into()),
                }
            }
            match closing.last() {
                None => return Ok(nested),
                Some(&close) => self.comma_or(close)?,
            }
        }
    }

    /// `[1, :, ::-1, None, ...]` after an array: a slice, and a reshape where axes come or go.
    pub(super) fn subscript(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<Ops<A>, ParseError> {
        let begin = self.span.start;
        let close = self.open("`[`")?;
        let mut entries = Vec::new();
        while self.token != close {
            if entries.len() > 2 * MAX_RANK {
                return Err(self.expected(&format!("at most {MAX_RANK} axes")));
            }
            let begin = self.span.start;
            let entry = self.entry()?;
            entries.push((entry, begin..self.last));
            self.comma_or(close)?;
        }
        self.advance();
        let shape = self.shape(parsed, begin)?;

        // The axes that no entry is about stand where the ellipsis is, or at the end.
        let is_about_an_axis = |entry: &Entry<_>| matches!(entry, Entry::Slice(_) | Entry::Index(_));
        let given = entries.iter().filter(|(entry, _)| is_about_an_axis(entry)).count();
        if !entries.iter().any(|(entry, _)| matches!(entry, Entry::Ellipsis)) {
            entries.push((Entry::Ellipsis, self.last..self.last));
        }
        // What is taken of each axis; and of the axes that there are then, which one it was, or nothing for a new one.
        let (mut slices, mut axes) = (Vec::new(), Vec::new());
        let mut dots = false;
        for (entry, span) in entries {
            let axis = slices.len();
            match (entry, shape.get(axis)) {
                (Entry::NewAxis, _) => axes.push(None),
                (Entry::Ellipsis, _) if dots => {
                    return Err(self.error_at(
                        span,
                        "`...` stands for all axes that are not named, so that it can stand only once",
                    ));
                }
                (Entry::Ellipsis, _) => {
                    dots = true;
                    for axis in axis..axis + shape.len().saturating_sub(given) {
                        slices.push((None, None, 1));
                        axes.push(Some(axis));
                    }
                }
                (Entry::Slice(slice), Some(_)) => {
                    slices.push(slice);
                    axes.push(Some(axis));
                }
                (Entry::Index(index), Some(size)) => {
                    let at = self.index(&index, size, axis).map_err(|message| self.error_at(span.clone(), message))?;
                    let next = self.operate(Operator::Add, &at, &Num::<A>::from(1), span.start)?;
                    slices.push((Some(at), Some(next), 1));
                }
                (_, None) => {
                    let message = format!("expected at most {} entries, one per axis", shape.len());
                    return Err(self.error_at(span, message));
                }
            }
        }
        let sliced = MovementOf::Slice(slices);
        let after = self.arithmetic.moved(&shape, &sliced);
        let after = after.map_err(|message| self.wrong(begin, message))?;
        let to: Nums<A> = axes
            .into_iter()
            .map(|axis| axis.map_or_else(|| Num::<A>::from(1), |axis: usize| after[axis].clone()))
            .collect();
        let mut ops = Ops::<A>::from_iter([sliced]);
        if to[..] != after[..] {
            ops.push(MovementOf::Reshape(to));
        }
        Ok(ops)
    }

    /// An index of an axis from the front, or that there is none such.
    pub(super) fn index(&mut self, index: &Num<A>, size: &Num<A>, axis: usize) -> Result<Num<A>, String> {
        let zero = Num::<A>::from(0);
        let at = match self.arithmetic.at_least(index, &zero) {
            // What may be either is an index from the front, of which that is asked where it is done.
            Some(true) | None => index.clone(),
            Some(false) => self.arithmetic.operate(Operator::Add, index, size)?.unwrap_or_else(|| index.clone()),
        };
        let is_inside =
            self.arithmetic.at_least(&at, &zero) != Some(false) && self.arithmetic.at_least(&at, size) != Some(true);
        if is_inside {
            return Ok(at);
        }
        let [index, size] = [index, size].map(|number| self.shown(number));
        Err(format!("axis {axis} has size {size}, so that there is no index {index}"))
    }

    fn entry(&mut self) -> Result<Entry<Num<A>>, ParseError> {
        const WHAT: &str = "an index, a slice, `None` or `...`";
        match self.word() {
            "..." => {
                self.advance();
                return Ok(Entry::Ellipsis);
            }
            "Ellipsis" | "None" | "newaxis" => {
                let ellipsis = self.word() == "Ellipsis";
                self.advance();
                return Ok(if ellipsis { Entry::Ellipsis } else { Entry::NewAxis });
            }
            "np" | "numpy" | "jnp" | "torch" if self.second() == Token::Dot => {
                self.advance();
                self.advance();
                if !self.at_word("newaxis") {
                    return Err(self.expected("`newaxis`"));
                }
                self.advance();
                return Ok(Entry::NewAxis);
            }
            _ => {}
        }
        let first = self.bound()?;
        if self.token == Token::Colon {
            return Ok(Entry::Slice(self.slice_from(first)?));
        }
        match first {
            Some(index) => Ok(Entry::Index(index)),
            None if self.token == Token::Name && self.is_unknown_name() => Err(self.nameless(WHAT)),
            None => Err(self.expected(WHAT)),
        }
    }
}
