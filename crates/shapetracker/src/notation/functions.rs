//! Functions around arrays, such as `np.transpose(x, (1, 0))`, and the methods that stand for more than one operation.

use super::ChainStart;
use super::call::{Call, Order};
use super::calls::ArrayLibrary;
use super::foreign::{MAKERS, Methods, NO_SHAPE, Ops, instead, library};
use super::help::Method;
use super::lexer::Token;
use super::parser::{Parsed, Parser, method_names};
use super::program::Pieces;
use crate::advice::Hand;
use crate::shape::{checked_numel, resolve_axis, row_major};
use crate::{Dims, Movement, MovementKind, Ranges, View};
use indexpr::text::{ParseError, quoted};

impl<'a> Parser<'a> {
    /// Whether a function around an array begins here: of a library by its path, or by its name alone where that cannot
    /// be an operation without its array.
    pub(super) fn at_function(&self) -> bool {
        if self.token != Token::Name || (self.named_array().is_some() && self.second() == Token::Dot) {
            return false;
        }
        let (first, mut last) = (self.word(), self.word());
        let mut ahead = self.lexer;
        let alone = loop {
            match ahead.next().0 {
                Token::Dot => {
                    let (token, span) = ahead.next();
                    if token != Token::Name {
                        return false;
                    }
                    last = &self.text[span];
                }
                Token::Open(b'(') => break last == first,
                _ => return false,
            }
        };
        if MAKERS.contains(&last) || !(method_names().any(|name| name == last) || instead(last).is_some()) {
            return false;
        }
        let (argument, span) = ahead.next();
        if !alone {
            let known = ["einops", "jax", "cp", "nn"].contains(&first) || library(first) != Methods::Unknown;
            return known && first != "Tensor";
        }
        let is_array = self.names.iter().any(|(name, _)| *name == &self.text[span.clone()]);
        // Names in the place of sizes are no arrays, so that an operation of ours needs more than a name.
        let after = ahead.next().0;
        argument == Token::Name
            && match MovementKind::named(last) {
                Some(_) => is_array || (after == Token::Dot && library(&self.text[span]) != Methods::Unknown),
                None => after != Token::Equals,
            }
    }

    /// A function, its array, and the rest of its arguments, which are those of the method of the same name.
    pub(super) fn function(&mut self, parsed: &mut Parsed, parts: bool) -> Result<Option<Pieces>, ParseError> {
        let begin = self.span.start;
        let of = library(self.word());
        while self.second() == Token::Dot {
            self.advance();
            self.advance();
        }
        let (name, span) = (self.word(), self.span.clone());
        if let (None, Some(instead)) = (method_names().find(|known| *known == name), instead(name)) {
            return Err(self.error_at(span, format!("`{name}` is not read: {instead}")));
        }
        if ["T", "mT"].contains(&name) {
            let message = format!("`{name}` is no function: write it after the array, as in `x.{name}`");
            return Err(self.error_at(span, message));
        }
        let bytes = of == Methods::NumPy && name == "as_strided";
        if bytes {
            let message =
                "NumPy's `as_strided` has strides in bytes: write `torch.as_strided` with strides in elements";
            return Err(self.error_at(span, message.to_owned()));
        }
        self.advance();
        if self.is_deepest() {
            return Err(self.nests_too_deep());
        }
        let close = self.open("`(`")?;
        if matches!(name, "array" | "asarray" | "asanyarray") && matches!(self.token, Token::Open(_)) {
            let message =
                format!("the elements of an array are not read: write its shape, as in `np.{name}(np.zeros((2, 3)))`");
            return Err(self.error_at(self.span.clone(), message));
        }
        self.depth += 1;
        self.array(parsed, false)?;
        self.depth -= 1;
        if of != Methods::Unknown {
            parsed.methods = of;
        }
        self.comma_or(close)?;
        self.known_method(name, parsed).map_err(|err| self.error_at(span.clone(), err.message().to_owned()))?;
        self.opened = Some(close);
        let first = parsed.ops.len();
        let pieces = self.done(parsed, name, span, begin, parts)?;
        // What takes no arguments has not looked for any.
        if self.opened.take().is_some() {
            self.close(close)?;
            parsed.end(first, self.last);
        }
        Ok(pieces)
    }

    /// What `chunk`, `split` and `unbind` cut an array into, after the name; nothing for any other name.
    pub(super) fn pieces(
        &mut self,
        parsed: &mut Parsed,
        name: &str,
        begin: usize,
    ) -> Result<Option<Pieces>, ParseError> {
        if !["chunk", "split", "tensor_split", "array_split", "unbind"].contains(&name) {
            return Ok(None);
        }
        const COUNT: &str = "chunks|split_size|split_size_or_sections|indices_or_sections|sections|indices";
        const AXIS: &str = "dim|axis";
        let (mut list, mut axis) = (None, 0);
        let fields: &[&str] = if name == "unbind" { &[AXIS] } else { &[COUNT, AXIS] };
        self.fields("`(`", fields, |parser, field| {
            if field + 1 == fields.len() {
                axis = parser.number("an axis")?;
            } else if matches!(parser.token, Token::Open(_)) {
                list = Some((parser.numbers("a number")?, true));
            } else {
                list = Some(([parser.number("a number")?].into(), false));
            }
            Ok(())
        })?;
        self.advance();
        let shape = self.shape(parsed, begin)?;
        let of = |err: crate::Error| self.refused(begin, &err);
        let axis = resolve_axis("split", axis, shape.len()).map_err(of)?;
        let total = shape[axis];
        let wrong = |message: String| Err(self.error_at(begin..self.last, message));
        if name == "unbind" {
            return Ok(Some(Pieces::Elements { axis, total }));
        }
        let Some((list, is_list)) = list else { return Err(self.expected("a number of parts, or their sizes")) };
        // In NumPy, and in `tensor_split`, a number is that of the parts and a list is where they begin.
        let starts = parsed.methods == Methods::NumPy || name.contains('_');
        if !is_list && list[0] < 1 {
            return wrong(format!("there are no {} parts", list[0]));
        }
        let bounds = match (is_list, starts) {
            (false, false) => {
                let size = if name == "chunk" { (total.max(1) - 1) / list[0] + 1 } else { list[0] };
                return Ok(Some(Pieces::Even { axis, size, total }));
            }
            (false, true) => {
                let count = list[0];
                if name == "split" && total % count != 0 {
                    return wrong(format!("axis {axis} has size {total}, which is not cut into {count} equal parts"));
                }
                if count > 1 << 12 {
                    return wrong(format!("{count} parts are more than are read"));
                }
                // The first parts have one element more than the others.
                let (size, more) = (total / count, total % count);
                let begin = |part: i64| part * size + part.min(more);
                (0..count).map(|part| (begin(part), begin(part + 1))).collect()
            }
            (true, false) => {
                let mut end = 0i64;
                let mut bounds = Vec::new();
                for &size in &list {
                    let begin = end;
                    end = end.saturating_add(size.max(0));
                    bounds.push((begin, end));
                }
                if end != total || list.iter().any(|&size| size < 0) {
                    return wrong(format!(
                        "axis {axis} has size {total}, which is not the sum of the sizes of the parts"
                    ));
                }
                bounds
            }
            (true, true) => {
                let at = |bound: i64| (if bound < 0 { bound.saturating_add(total) } else { bound }).clamp(0, total);
                let ends = list.iter().map(|&bound| at(bound)).chain([total]);
                let begins = [0].into_iter().chain(list.iter().map(|&bound| at(bound)));
                begins.zip(ends).map(|(begin, end)| (begin, end.max(begin))).collect()
            }
        };
        Ok(Some(Pieces::Bounds { axis, bounds }))
    }

    /// The part that an index behind the parts chooses.
    pub(super) fn chosen(&mut self, parsed: &mut Parsed, pieces: &Pieces, begin: usize) -> Result<Ops, ParseError> {
        let shape = self.shape(parsed, begin)?;
        // The arguments of a function may have been closed by now.
        if self.token != Token::Open(b'[') {
            return Err(
                self.expected("`[` and the number of a part, as in `x.chunk(3, -1)[0]`, or a name for each part")
            );
        }
        let close = self.open("`[`")?;
        let at = self.span.clone();
        let index = self.number("the number of a part")?;
        self.close(close)?;
        pieces.taken(&shape, index).ok_or_else(|| self.error_at(at, format!("there is no part {index}")))
    }

    /// A method that stands for other operations than one of the same name, after its name; nothing for any other.
    pub(super) fn moved(&mut self, parsed: &mut Parsed, name: &str, begin: usize) -> Result<Option<Ops>, ParseError> {
        let foreign = !matches!(parsed.methods, Methods::Ours | Methods::Tinygrad);
        let one = |op: Movement| Ok(Some(Ops::from_iter([op])));
        match name {
            "pad" if parsed.methods == Methods::NumPy => self.pad_of_numpy(parsed, begin).map(Some),
            "pad" if parsed.methods == Methods::PyTorch => self.pad_of_torch(parsed, begin).map(Some),
            "flip" if parsed.methods == Methods::NumPy && self.first_argument() == Token::Close(b')') => {
                let close = self.open("`(`")?;
                self.close(close)?;
                let rank = self.shape(parsed, begin)?.len();
                one(Movement::FlipEach(std::iter::repeat_n(true, rank).collect()))
            }
            "fliplr" | "flipud" => {
                let close = self.open("`(`")?;
                self.close(close)?;
                one(Movement::Flip([i64::from(name == "fliplr")].into()))
            }
            "expand_dims" => {
                let [axis] = self.named_numbers(["axis"], [None])?;
                one(Movement::Unsqueeze(axis))
            }
            "permute_dims" => one(Movement::Permute(self.number_arguments("an axis")?)),
            "matrix_transpose" => {
                let close = self.open("`(`")?;
                self.close(close)?;
                one(Movement::Transpose(-2, -1))
            }
            "ascontiguousarray" => {
                let close = self.open("`(`")?;
                self.only_types(parsed, close)?;
                // What it answers has at least one axis.
                let is_scalar = self.shape(parsed, begin)?.is_empty();
                let axis = is_scalar.then(|| Movement::Reshape([1].into()));
                Ok(Some(axis.into_iter().chain([Movement::Contiguous]).collect()))
            }
            "as_strided" if foreign => self.strided_memory(parsed, begin).map(Some),
            "narrow" => {
                let [axis, start, length] = self.named_numbers(["dim", "start", "length"], [None; 3])?;
                let (shape, axis) = self.axis_of(parsed, name, axis, begin)?;
                let start = if start < 0 { start.saturating_add(shape[axis]) } else { start };
                one(cut(&shape, axis, (start, start.saturating_add(length))))
            }
            "select" => {
                let [axis, index] = self.named_numbers(["dim", "index"], [None; 2])?;
                let (mut shape, axis) = self.axis_of(parsed, name, axis, begin)?;
                let at = if index < 0 { index.saturating_add(shape[axis]) } else { index };
                if !(0..shape[axis]).contains(&at) {
                    let message = format!("axis {axis} has size {}, so that there is no index {index}", shape[axis]);
                    return Err(self.error_at(begin..self.last, message));
                }
                let taken = cut(&shape, axis, (at, at + 1));
                shape.remove(axis);
                Ok(Some(Ops::from_iter([taken, Movement::Reshape(shape)])))
            }
            "unflatten" => {
                let (mut axis, mut sizes) = (None, None);
                self.fields("`(`", &["dim", "sizes|unflattened_size"], |parser, field| {
                    match field {
                        0 => axis = Some(parser.number("an axis")?),
                        _ => sizes = Some(parser.numbers("a size")?),
                    }
                    Ok(())
                })?;
                let (Some(axis), Some(mut sizes)) = (axis, sizes) else {
                    return Err(self.expected("an axis and sizes, as in `unflatten(1, (2, 3))`"));
                };
                self.advance();
                let (shape, axis) = self.axis_of(parsed, name, axis, begin)?;
                if let Some(unknown) = sizes.iter().position(|&size| size == -1) {
                    let known = sizes.iter().enumerate().filter(|(at, _)| *at != unknown);
                    let known: Dims = known.map(|(_, &size)| size).collect();
                    let known = checked_numel("unflatten", &known).map_err(|err| self.refused(begin, &err))?;
                    if known < 1 || shape[axis] % known != 0 {
                        let message = format!("axis {axis} has size {}, which {known} does not divide", shape[axis]);
                        return Err(self.error_at(begin..self.last, message));
                    }
                    sizes[unknown] = shape[axis] / known;
                }
                let found = checked_numel("unflatten", &sizes).map_err(|err| self.refused(begin, &err))?;
                if found != shape[axis] {
                    let message = format!("axis {axis} has size {}, but the sizes make {found}", shape[axis]);
                    return Err(self.error_at(begin..self.last, message));
                }
                one(Movement::Reshape([&shape[..axis], &sizes, &shape[axis + 1..]].concat().into()))
            }
            "pixel_shuffle" | "pixel_unshuffle" => {
                let [factor] = self.named_numbers(["upscale_factor|downscale_factor"], [None])?;
                let shape = self.shape(parsed, begin)?;
                pixels(&shape, factor, name == "pixel_shuffle")
                    .map(Some)
                    .map_err(|message| self.error_at(begin..self.last, message))
            }
            "rearrange" | "repeat" if self.first_argument() == Token::Text => {
                let close = self.open("`(`")?;
                self.pattern(parsed, name == "repeat", close, begin).map(Some)
            }
            "rearrange" => {
                let close = self.open("`(`");
                close.and_then(|_| Err(self.expected("a pattern in quotes, such as `'b c h w -> b h w c'`")))
            }
            "repeat" | "tile" => {
                let mut times = self.number_arguments("how often an axis is repeated")?;
                let mut shape = self.shape(parsed, begin)?;
                if name == "repeat" && times.len() < shape.len() {
                    let message = format!("expected a number for each of the {} axes", shape.len());
                    return Err(self.error_at(begin..self.last, message));
                }
                while times.len() < shape.len() {
                    times.insert(0, 1);
                }
                while shape.len() < times.len() {
                    shape.insert(0, 1);
                }
                let pairs = times.iter().zip(&shape);
                let apart: Dims = pairs.clone().flat_map(|(_, &size)| [1, size]).collect();
                let repeated = pairs.clone().flat_map(|(&times, &size)| [times, size]).collect();
                let joined = pairs.map(|(&times, &size)| times.checked_mul(size).unwrap_or(-1)).collect();
                let mut ops =
                    Ops::from_iter([Movement::Reshape(apart), Movement::Expand(repeated), Movement::Reshape(joined)]);
                // tinygrad makes no copy of its own accord.
                if foreign {
                    ops.push(Movement::Copy);
                }
                Ok(Some(ops))
            }
            _ => Ok(None),
        }
    }

    /// A method that is a call of its own, after its name; nothing for any other.
    pub(super) fn own_call(
        &mut self,
        parsed: &mut Parsed,
        name: &str,
        begin: usize,
    ) -> Result<Option<(Ops, Call)>, ParseError> {
        let foreign = !matches!(parsed.methods, Methods::Ours | Methods::Tinygrad);
        let of_numpy = match parsed.methods {
            Methods::NumPy => true,
            // Of an array of which nothing is known only NumPy's calls have such arguments.
            Methods::Unknown => self.has_argument("order") || (name == "repeat" && self.has_argument("axis")),
            _ => false,
        };
        if let Some((op, call)) = self.windowed(parsed, name, begin)? {
            return Ok(Some((Ops::from_iter([op]), call)));
        }
        Ok(match name {
            "view" if self.at_type(parsed) => Some(self.viewed(parsed, begin)?),
            "reshape" | "flatten" | "ravel" if of_numpy && self.has_argument("order") => {
                Some(self.ordered(parsed, name, begin)?)
            }
            "repeat" if self.first_argument() == Token::Text => None,
            "repeat" if of_numpy => Some((self.interleaved(parsed, begin)?, Call::Interleave)),
            "repeat_interleave" => {
                let call = if foreign { Call::Interleave } else { Call::Plain };
                Some((self.interleaved(parsed, begin)?, call))
            }
            "roll" => {
                let (mut ops, axis) = self.rolled(parsed, begin)?;
                // tinygrad makes no copy of its own accord.
                ops.extend(foreign.then_some(Movement::Copy));
                Some((ops, if foreign { Call::Roll(axis) } else { Call::Plain }))
            }
            _ => self.copied_in_order(parsed, name, begin)?,
        })
    }

    /// Whether one of the arguments has this name; an order may stand without, as a text.
    fn has_argument(&self, name: &str) -> bool {
        let mut ahead = self.clone();
        let mut depth = i32::from(self.opened.is_some());
        loop {
            match ahead.token {
                Token::Open(_) => depth += 1,
                Token::Close(_) => depth -= 1,
                Token::Name if depth == 1 && ahead.word() == name && ahead.second() == Token::Equals => return true,
                Token::Text if depth == 1 && name == "order" && ahead.is_order() => return true,
                Token::End => return false,
                _ => {}
            }
            if depth <= 0 {
                return false;
            }
            ahead.advance();
        }
    }

    /// `reshape`, `flatten` and `ravel` of NumPy with an order: the elements are read with the axes in the order that it
    /// means, from the outermost to the innermost.
    fn ordered(&mut self, parsed: &mut Parsed, name: &str, begin: usize) -> Result<(Ops, Call), ParseError> {
        let (mut sizes, mut order) = (Dims::new(), Order::Row);
        let close = self.open("`(`")?;
        while self.token != close {
            let word = if self.second() == Token::Equals { self.word() } else { "" };
            if !word.is_empty() {
                self.advance();
                self.advance();
            }
            match word {
                "order" => order = self.order(Some(Order::Row))?.unwrap_or(order),
                "" if self.token == Token::Text => order = self.order(Some(Order::Row))?.unwrap_or(order),
                "" | "shape" | "newshape" if name == "reshape" => match self.token {
                    Token::Open(_) => sizes = self.numbers("a size")?,
                    _ => self.sizes("a size", &mut sizes)?,
                },
                _ => return Err(self.expected("`order=` and one of the orders 'C', 'F', 'A' and 'K'")),
            }
            self.comma_or(close)?;
        }
        self.advance();
        let shape = self.shape(parsed, begin)?;
        if name != "reshape" {
            sizes = [checked_numel("flatten", &shape).map_err(|err| self.refused(begin, &err))?].into();
        } else if order == Order::Keep {
            let message = "NumPy's `reshape` has the orders 'C', 'F' and 'A', and raises a ValueError for 'K'";
            return Err(self.error_at(begin..self.last, message.to_owned()));
        }
        let axes = match order {
            Order::Any | Order::Keep => self.hand(parsed, ArrayLibrary::NumPy, begin)?.axes_of_reading(order),
            Order::Column => (0..shape.len() as i64).rev().collect(),
            _ => Dims::new(),
        };
        let is_moved = !axes.is_sorted();
        let mut ops = Ops::from_iter(is_moved.then_some(Movement::Permute(axes)));
        // An array of one axis is read in one order, and may still become one of several axes in the order of columns.
        if name == "reshape" && (is_moved || order == Order::Column) && sizes.len() > 1 {
            let back = Movement::Permute((0..sizes.len() as i64).rev().collect());
            sizes.reverse();
            ops.extend([Movement::Reshape(sizes), back]);
        } else {
            ops.push(Movement::Reshape(sizes));
        }
        Ok((ops, Call::of(name, parsed.methods)))
    }

    /// `(shift, axis=None)`: the elements of an axis moved, and what leaves it at one end comes in at the other; without an
    /// axis those of the array in their order. They are part of the axis repeated once.
    fn rolled(&mut self, parsed: &mut Parsed, begin: usize) -> Result<(Ops, Option<u8>), ParseError> {
        let (mut shift, mut axis) = (None, None);
        self.fields("`(`", &["shift|shifts", "axis|dims|dim"], |parser, field| {
            let given = match parser.token {
                Token::Open(_) => parser.numbers("a number")?,
                _ => [parser.number("a number")?].into(),
            };
            let [number] = given[..] else {
                return Err(parser.error_at(
                    begin..parser.last,
                    "`roll` is read along one axis: write a call for each, as in `x.roll(1, 0).roll(2, 1)`".into(),
                ));
            };
            *[&mut shift, &mut axis][field] = Some(number);
            Ok(())
        })?;
        let Some(shift) = shift else { return Err(self.expected("how far elements are moved")) };
        self.advance();
        let shape = self.shape(parsed, begin)?;
        let (mut ops, mut flat) = (Ops::new(), shape.clone());
        if axis.is_none() {
            flat = [checked_numel("roll", &shape).map_err(|err| self.refused(begin, &err))?].into();
        }
        let at = resolve_axis("roll", axis.unwrap_or(0), flat.len()).map_err(|err| self.refused(begin, &err))?;
        let (before, size, after) = (&flat[..at], flat[at], &flat[at + 1..]);
        let first = size - shift.rem_euclid(size.max(1)).min(size);
        let range = (first, first.saturating_add(size));
        let twice = size.checked_mul(2).unwrap_or(-1);
        ops.push(Movement::Reshape([before, &[1, size], after].concat().into()));
        ops.push(Movement::Expand([before, &[2, size], after].concat().into()));
        ops.push(Movement::Reshape([before, &[twice], after].concat().into()));
        ops.push(cut(&flat, at, range));
        if flat != shape {
            ops.push(Movement::Reshape(shape));
        }
        Ok((ops, axis.map(|_| at as u8)))
    }

    /// Windows along axes and diagonals, after the name; nothing for any other method. They are strides over the elements in
    /// row-major order.
    pub(super) fn windowed(
        &mut self,
        parsed: &mut Parsed,
        name: &str,
        begin: usize,
    ) -> Result<Option<(Movement, Call)>, ParseError> {
        Ok(match name {
            "unfold" => {
                let [axis, size, step] = self.named_numbers(["dimension|dim", "size", "step"], [None; 3])?;
                let (shape, axis) = self.axis_of(parsed, name, axis, begin)?;
                if step < 1 || !(0..=shape[axis]).contains(&size) {
                    let message =
                        format!("axis {axis} has size {}: no window of {size} at a step of {step}", shape[axis]);
                    return Err(self.error_at(begin..self.last, message));
                }
                Some((windows(&shape, &[(axis, size, step)]), Call::Unfold(axis as u8)))
            }
            "sliding_window_view" => Some(self.sliding_windows(parsed, begin)?),
            "diagonal" => {
                let fields = ["offset", "dim1|axis1", "dim2|axis2"];
                let [offset, first, second] = self.named_numbers(fields, [Some(0), Some(0), Some(1)])?;
                let (shape, first) = self.axis_of(parsed, name, first, begin)?;
                let (_, second) = self.axis_of(parsed, name, second, begin)?;
                if first == second {
                    return Err(self.error_at(begin..self.last, "a diagonal has two different axes".to_owned()));
                }
                let strides = row_major(&shape);
                let (down, right) = (offset.saturating_neg().max(0), offset.max(0));
                let length = shape[first].saturating_sub(down).min(shape[second].saturating_sub(right)).max(0);
                let rest = (0..shape.len()).filter(|axis| *axis != first && *axis != second);
                let (mut to, mut by): (Dims, Dims) = rest.map(|axis| (shape[axis], strides[axis])).unzip();
                to.push(length);
                by.push(strides[first].saturating_add(strides[second]));
                let offset = if length == 0 { 0 } else { down * strides[first] + right * strides[second] };
                Some((Movement::AsStrided(to, by, offset), Call::Diagonal([first as u8, second as u8])))
            }
            _ => None,
        })
    }

    /// Numbers for fields, of which each that is missing has a default.
    fn named_numbers<const N: usize>(
        &mut self,
        fields: [&str; N],
        defaults: [Option<i64>; N],
    ) -> Result<[i64; N], ParseError> {
        let mut given = defaults;
        self.fields("`(`", &fields, |parser, field| {
            let first = fields[field].split('|').next().unwrap_or_default();
            given[field] = Some(parser.number(&format!("a number for `{first}`"))?);
            Ok(())
        })?;
        let missing = given.iter().position(Option::is_none);
        if let Some(missing) = missing {
            let first = fields[missing].split('|').next().unwrap_or_default();
            return Err(self.expected(&format!("a number for `{first}`")));
        }
        self.advance();
        Ok(given.map(Option::unwrap_or_default))
    }

    /// The shape, and one of its axes from the front.
    fn axis_of(
        &mut self,
        parsed: &mut Parsed,
        name: &str,
        axis: i64,
        begin: usize,
    ) -> Result<(Dims, usize), ParseError> {
        let shape = self.shape(parsed, begin)?;
        let resolved = resolve_axis("axis", axis, shape.len()).map_err(|err| {
            let message = err.to_string();
            self.error_at(begin..self.last, message.replacen("axis:", &format!("{name}:"), 1))
        })?;
        Ok((shape, resolved))
    }

    /// `(pad_width, mode="constant", constant_values=0)`: a number or a pair for all axes, or a pair for each.
    fn pad_of_numpy(&mut self, parsed: &mut Parsed, begin: usize) -> Result<Ops, ParseError> {
        let close = self.open("`(`")?;
        if self.at_word("pad_width") && self.second() == Token::Equals {
            self.advance();
            self.advance();
        }
        let mut pads = Ranges::new();
        if !matches!(self.token, Token::Open(_)) {
            let pad = self.number("how much to pad")?;
            pads.push((pad, pad));
        } else if matches!(self.second(), Token::Open(_)) {
            self.list("pairs `(before, after)`", |parser| {
                pads.push(parser.pair("a pair `(before, after)`")?);
                Ok(())
            })?;
        } else {
            pads.push(self.pair("a pair `(before, after)`")?);
        }
        self.rest_of_pad(close)?;
        let rank = self.shape(parsed, begin)?.len();
        if let &[for_all] = &pads[..] {
            // One pair is for all axes.
            pads = std::iter::repeat_n(for_all, rank).collect();
        }
        Ok(Ops::from_iter([Movement::Pad(pads)]))
    }

    /// `((left, right, top, bottom, ..), mode="constant", value=0)`: the last axis first; less than 0 cuts off.
    fn pad_of_torch(&mut self, parsed: &mut Parsed, begin: usize) -> Result<Ops, ParseError> {
        let close = self.open("`(`")?;
        if self.at_word("pad") && self.second() == Token::Equals {
            self.advance();
            self.advance();
        }
        let given = self.numbers("how much to pad")?;
        self.rest_of_pad(close)?;
        let shape = self.shape(parsed, begin)?;
        if given.len() % 2 != 0 || given.len() > 2 * shape.len() {
            let message = format!("expected two numbers for each of at most {} axes, the last axis first", shape.len());
            return Err(self.error_at(begin..self.last, message));
        }
        let mut pads: Ranges = shape.iter().map(|_| (0, 0)).collect();
        for (pad, pair) in pads.iter_mut().rev().zip(given.chunks(2)) {
            *pad = (pair[0], pair[1]);
        }
        let mut ops = Ops::new();
        if pads.iter().any(|&(before, after)| before < 0 || after < 0) {
            let left = |(&(before, after), &size): (&(i64, i64), &i64)| {
                (before.saturating_neg().max(0), size.saturating_add(after.min(0)))
            };
            ops.push(Movement::Shrink(pads.iter().zip(&shape).map(left).collect()));
        }
        ops.push(Movement::Pad(pads.iter().map(|&(before, after)| (before.max(0), after.max(0))).collect()));
        Ok(ops)
    }

    /// The mode and the value of a pad: what is padded is masked, whatever its value is.
    fn rest_of_pad(&mut self, close: Token) -> Result<(), ParseError> {
        self.comma_or(close)?;
        while self.token != close {
            if self.at_word("mode") && self.second() == Token::Equals {
                self.advance();
                self.advance();
            }
            match self.token {
                Token::Text if self.word().trim_matches(['"', '\'']) == "constant" => self.advance(),
                Token::Text => {
                    let message = format!(
                        "{} repeats elements of the array in another order, which is no mask and no stride: only \
                         'constant' is read",
                        quoted(self.word())
                    );
                    return Err(self.error_at(self.span.clone(), message));
                }
                Token::Name => self.other_argument()?,
                Token::NotWhole => self.advance(),
                _ => drop(self.number("the value of a pad")?),
            }
            self.comma_or(close)?;
        }
        self.advance();
        Ok(())
    }

    /// A copy whose elements lie in an order of their own, after its name; nothing for any other method.
    ///
    /// In another order than the row-major one it is a copy between two permutations: what is copied has the axes in the
    /// order in which they lie in memory.
    pub(super) fn copied_in_order(
        &mut self,
        parsed: &mut Parsed,
        name: &str,
        begin: usize,
    ) -> Result<Option<(Ops, Call)>, ParseError> {
        let is_function = self.opened.is_some();
        let foreign = !matches!(parsed.methods, Methods::Ours | Methods::Tinygrad);
        let order = match name {
            "clone" => self.memory_format(parsed, Some(Order::Keep), begin)?,
            "contiguous" if self.first_argument() != Token::Close(b')') && foreign => {
                match self.memory_format(parsed, Some(Order::Row), begin)? {
                    Some(Order::Keep) => {
                        let message = "PyTorch's `contiguous` has no `preserve_format`, and raises a RuntimeError where \
                                       elements lie otherwise: write `clone` for a copy in the order of memory";
                        return Err(self.error_at(begin..self.last, message.to_owned()));
                    }
                    Some(Order::Row) => return Ok(Some((Ops::from_iter([Movement::Contiguous]), Call::Plain))),
                    // What lies so already is not copied.
                    order => order.filter(|_| !self.lies(parsed, Hand::has_channels_last, begin)),
                }
            }
            "to" => {
                let order = self.memory_format(parsed, None, begin)?;
                if parsed.has_rough_axes() && self.shape(parsed, begin)?.contains(&1) {
                    let message = "whether `to` copies depends on strides of axes of size 1, which are not known after an index \
                                   with `None` or a number, `select`, `unbind` or an `expand` to more axes: write `contiguous` \
                                   in its place, with the same memory format";
                    return Err(self.error_at(begin..self.last, message.to_owned()));
                }
                let suggested = self.lies(parsed, Hand::suggests_channels_last, begin);
                order.filter(|order| *order != Order::Keep && (*order == Order::Channels) != suggested)
            }
            "copy" if foreign => {
                let usual = if is_function { Order::Keep } else { Order::Row };
                self.copy_arguments(parsed, Some(usual), false)?
            }
            "astype" => self.copy_arguments(parsed, Some(Order::Keep), true)?,
            "array" if is_function => self.copy_arguments(parsed, Some(Order::Keep), true)?,
            "asarray" | "asanyarray" if is_function => self.copy_arguments(parsed, None, false)?,
            _ => return Ok(None),
        };
        let Some(order) = order else { return Ok(Some((Ops::new(), Call::Plain))) };
        let mut ops = Ops::from_iter([Movement::Copy]);
        // A new array is in row-major order, whatever its shape is.
        let is_new = parsed.ops.is_empty() && !matches!(parsed.start, ChainStart::Views(_));
        if order != Order::Row && (!is_new || matches!(order, Order::Column | Order::Channels)) {
            let is_torch = matches!(name, "clone" | "contiguous" | "to");
            let library = if is_torch { ArrayLibrary::PyTorch } else { ArrayLibrary::NumPy };
            let axes = self.hand(parsed, library, begin)?.axes_of_copy(order);
            if !axes.is_sorted() {
                let mut back = Dims::from_elem(0, axes.len());
                for (at, axis) in axes.iter().enumerate() {
                    back[*axis as usize] = at as i64;
                }
                ops.insert(0, Movement::Permute(axes));
                ops.push(Movement::Permute(back));
            }
        }
        let converts = matches!(name, "astype" | "array");
        Ok(Some((ops, if converts { Call::Convert(order) } else { Call::Copy(order) })))
    }

    /// `memory_format=` as the one argument of a call of PyTorch: an order. `usual` is that of the call without it.
    fn memory_format(
        &mut self,
        parsed: &mut Parsed,
        usual: Option<Order>,
        begin: usize,
    ) -> Result<Option<Order>, ParseError> {
        let close = self.open("`(`")?;
        let mut order = usual;
        if self.at_word("memory_format") && self.second() == Token::Equals {
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
            let rank = if order == Some(Order::Channels) { self.shape(parsed, begin)?.len() } else { axes };
            if rank != axes {
                let message = format!("`torch.{word}` is for tensors of {axes} axes, and this one has {rank}");
                return Err(self.error_at(begin..self.last, message));
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

    /// Whether something is so of the tensor that PyTorch has; not where nothing is known of that.
    fn lies(&mut self, parsed: &mut Parsed, is_so: fn(&Hand) -> bool, begin: usize) -> bool {
        self.hand(parsed, ArrayLibrary::PyTorch, begin).is_ok_and(is_so)
    }

    /// The arguments of a call of NumPy that may copy: types, which change no layout, an order, and whether it copies.
    fn copy_arguments(
        &mut self,
        parsed: &mut Parsed,
        usual: Option<Order>,
        types: bool,
    ) -> Result<Option<Order>, ParseError> {
        let (mut order, mut position) = (usual, 0);
        let close = self.open("`(`")?;
        while self.token != close {
            let is_named = self.token == Token::Name && self.second() == Token::Equals;
            let name = if is_named { self.word() } else { "" };
            match name {
                "order" => {
                    self.advance();
                    self.advance();
                    order = self.order(usual)?;
                }
                "copy" => {
                    self.advance();
                    self.advance();
                    if self.boolean() != Some(true) {
                        return Err(
                            self.expected("`True`: whether another value copies depends on more than the layout")
                        );
                    }
                    self.advance();
                }
                "dtype" if !types => {
                    let message = "whether a copy is made depends on the type that the array has, which is not known: \
                                   write `astype` where one is";
                    return Err(self.error_at(self.span.clone(), message.to_owned()));
                }
                "dtype" => parsed.of_type = self.type_argument()?,
                "casting" | "subok" | "ndmin" | "like" | "device" => drop(self.type_argument()?),
                "" if position == 0 && self.token == Token::Text && self.is_order() => order = self.order(usual)?,
                "" if position == 0 && types => parsed.of_type = self.type_argument()?,
                _ => return Err(self.expected("a type, or `order=`")),
            }
            position += 1;
            self.comma_or(close)?;
        }
        self.advance();
        Ok(order)
    }

    fn is_order(&self) -> bool {
        matches!(self.word().trim_matches(['"', '\'']), "C" | "F" | "A" | "K")
    }

    fn order(&mut self, usual: Option<Order>) -> Result<Option<Order>, ParseError> {
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

    /// Types, which change no layout, as far as the parenthesis that closes them.
    fn only_types(&mut self, parsed: &mut Parsed, close: Token) -> Result<(), ParseError> {
        while self.token != close {
            parsed.of_type = self.type_argument()?;
            self.comma_or(close)?;
        }
        self.advance();
        Ok(())
    }

    /// Whether the argument of `view` is a type, and no size; in NumPy it always is.
    fn at_type(&self, parsed: &Parsed) -> bool {
        let mut ahead = self.clone();
        if self.opened.is_none() {
            ahead.advance();
        }
        parsed.methods == Methods::NumPy
            || (ahead.at_word("dtype") && ahead.second() == Token::Equals)
            || ahead.is_type()
    }

    /// Whether a type stands here.
    pub(super) fn is_type(&self) -> bool {
        let word = self.word();
        let is_path = library(word) != Methods::Unknown && self.second() == Token::Dot;
        self.token == Token::Text
            || (self.token == Token::Name && Method::takes_type(if is_path { self.third().1 } else { word }))
    }

    /// PyTorch's `as_strided`: strides over the memory that the tensor is a view of, whatever the tensor has of it. What
    /// stands between the operation that made this memory and here is no part of it.
    fn strided_memory(&mut self, parsed: &mut Parsed, begin: usize) -> Result<Ops, ParseError> {
        let (shape, strides, given) = self.strided_arguments()?;
        if matches!(parsed.start, ChainStart::Views(_)) {
            // The views are the memory of no tensor.
            return Ok(Ops::from_iter([Movement::AsStrided(shape, strides, given.unwrap_or(0))]));
        }
        // Without a shape nothing is known of the memory but that it is what `x` has.
        let is_unknown = parsed.start == ChainStart::Nothing && self.base.is_none();
        if is_unknown && parsed.ops.is_empty() {
            return Ok(Ops::from_iter([Movement::AsStrided(shape, strides, given.unwrap_or(0))]));
        }
        let hand = self.hand(parsed, ArrayLibrary::PyTorch, begin)?;
        if hand.is_refused() {
            let message = "PyTorch raises a ValueError at the negative step before this: `as_strided` has no memory to read; \
                write `flip` in its place";
            return Err(self.error_at(begin..self.last, message.to_owned()));
        }
        let Some(offset) = given.or(hand.offset()) else {
            let message =
                "where a tensor without elements begins in its memory is not known: give `as_strided` an offset";
            return Err(self.error_at(begin..self.last, message.to_owned()));
        };
        let mut ops = Ops::new();
        if let Some((since, axes)) = hand.memory() {
            parsed.truncate(since);
            parsed.known = (0, None);
            parsed.kept = None;
            ops.extend((!axes.is_sorted()).then_some(Movement::Permute(axes)));
        }
        ops.push(Movement::AsStrided(shape, strides, offset));
        Ok(ops)
    }

    /// The array that a library has after everything that was read so far; kept, so that each operation is done once.
    pub(super) fn hand<'p>(
        &self,
        parsed: &'p mut Parsed,
        library: ArrayLibrary,
        begin: usize,
    ) -> Result<&'p Hand, ParseError> {
        let shape = match (&parsed.start, self.base) {
            (ChainStart::Shape(shape), _) => Some(shape.clone()),
            (ChainStart::Nothing, Some(base)) => Some(base.into()),
            (ChainStart::Nothing, None) => return Err(self.error_at(begin..self.last, NO_SHAPE.to_owned())),
            (ChainStart::Views(_), _) => None,
        };
        let start = match (shape, &parsed.start) {
            (Some(shape), _) => View::contiguous(shape).map_err(|err| self.refused(begin, &err))?,
            (None, ChainStart::Views(views)) if views.len() == 1 && library.has(&views[0]) => views[0].clone(),
            _ => {
                let message = format!("{library} has no arrays that are several views or have masked elements");
                return Err(self.error_at(begin..self.last, message));
            }
        };
        let (done, mut hand) = match parsed.kept.take() {
            Some((done, hand)) if hand.library() == library => (done, hand),
            _ => (0, Box::new(Hand::new(library, &start))),
        };
        let mut at = done;
        while at < parsed.ops.len() {
            let (call, ops) = parsed.call(at);
            hand.does(at, call, &parsed.ops[ops.clone()]).map_err(|err| self.refused(begin, &err))?;
            at = ops.end;
        }
        Ok(&parsed.kept.insert((at, hand)).1)
    }

    /// `(window_shape, axis=None)`: a window of each axis, or of those that are named.
    fn sliding_windows(&mut self, parsed: &mut Parsed, begin: usize) -> Result<(Movement, Call), ParseError> {
        let (mut sizes, mut axes) = (Dims::new(), None);
        let close = self.open("`(`")?;
        let mut given = 0;
        while self.token != close {
            if self.token == Token::Name && self.second() == Token::Equals {
                match self.word() {
                    "window_shape" => given = 0,
                    "axis" => given = 1,
                    _ => {
                        self.other_argument()?;
                        self.comma_or(close)?;
                        continue;
                    }
                }
                self.advance();
                self.advance();
            }
            let list = match self.token {
                Token::Open(_) => self.numbers("the size of a window")?,
                _ => [self.number("the size of a window")?].into(),
            };
            if given == 0 {
                sizes = list
            } else {
                axes = Some(list)
            }
            given += 1;
            self.comma_or(close)?;
        }
        self.advance();
        let shape = self.shape(parsed, begin)?;
        let axes = axes.unwrap_or_else(|| (0..shape.len() as i64).collect());
        if sizes.len() != axes.len() {
            let message =
                format!("expected the size of a window for each of {} axes, found {}", axes.len(), sizes.len());
            return Err(self.error_at(begin..self.last, message));
        }
        let mut along = Vec::new();
        let mut left = shape.clone();
        for (&axis, &size) in axes.iter().zip(&sizes) {
            let (_, axis) = self.axis_of(parsed, "sliding_window_view", axis, begin)?;
            if size < 0 || size > left[axis] {
                let message = format!("axis {axis} has size {}: there is no window of {size}", left[axis]);
                return Err(self.error_at(begin..self.last, message));
            }
            left[axis] -= (size - 1).max(0);
            along.push((axis, size, 1));
        }
        let call = if let [(axis, ..)] = along[..] { Call::Unfold(axis as u8) } else { Call::Windows };
        Ok((windows(&shape, &along), call))
    }

    /// `(repeats, axis)`: each element of an axis so many times, copied; without an axis those of the array as one axis.
    fn interleaved(&mut self, parsed: &mut Parsed, begin: usize) -> Result<Ops, ParseError> {
        let (mut repeats, mut axis) = (None, None);
        self.fields("`(`", &["repeats", "axis|dim"], |parser, field| {
            let number = parser.number("a number")?;
            *[&mut repeats, &mut axis][field] = Some(number);
            Ok(())
        })?;
        let Some(repeats) = repeats else { return Err(self.expected("how often elements are repeated")) };
        self.advance();
        let mut shape = self.shape(parsed, begin)?;
        let mut ops = Ops::new();
        if axis.is_none() {
            let numel = checked_numel("repeat", &shape).map_err(|err| self.refused(begin, &err))?;
            shape = [numel].into();
        }
        let axis = resolve_axis("repeat", axis.unwrap_or(0), shape.len()).map_err(|err| self.refused(begin, &err))?;
        let (before, after) = (&shape[..axis], &shape[axis + 1..]);
        let size = shape[axis];
        ops.push(Movement::Reshape([before, &[size, 1], after].concat().into()));
        ops.push(Movement::Expand([before, &[size, repeats], after].concat().into()));
        let joined = size.checked_mul(repeats).unwrap_or(-1);
        ops.push(Movement::Reshape([before, &[joined], after].concat().into()));
        ops.push(Movement::Copy);
        Ok(ops)
    }
}

/// A range of one axis, and all of the others.
fn cut(shape: &[i64], axis: usize, range: (i64, i64)) -> Movement {
    Movement::Shrink(shape.iter().enumerate().map(|(at, &size)| if at == axis { range } else { (0, size) }).collect())
}

/// Windows of some axes, `(axis, size, step)` each: an axis becomes that of where they begin, and one of their elements
/// comes behind all others.
fn windows(shape: &[i64], along: &[(usize, i64, i64)]) -> Movement {
    let (mut to, mut by) = (Dims::from_slice(shape), row_major(shape));
    for &(axis, size, step) in along {
        let stride = by[axis];
        // There is a window wherever one fits; one of no elements fits behind the last, too.
        to[axis] = if size > 0 { (to[axis] - size) / step + 1 } else { to[axis] / step + 1 };
        to.push(size);
        by.push(stride);
    }
    for &(axis, _, step) in along {
        by[axis] = by[axis].saturating_mul(step);
    }
    Movement::AsStrided(to, by, 0)
}

/// `(.., C r r, H, W)` as `(.., C, H r, W r)`, or back.
fn pixels(shape: &[i64], factor: i64, shuffle: bool) -> Result<Ops, String> {
    let [rest @ .., channels, height, width] = shape else {
        return Err("expected at least the three axes of channels, rows and columns".into());
    };
    let square = factor.checked_mul(factor).filter(|_| factor > 0).unwrap_or(0);
    let divides = |size: i64, by: i64| by > 0 && size % by == 0;
    if shuffle && !divides(*channels, square) {
        return Err(format!("{channels} channels are not a multiple of {factor} * {factor}"));
    }
    let fits = divides(*height, factor) && divides(*width, factor);
    if !(shuffle || fits) {
        return Err(format!("{height} rows and {width} columns are not multiples of {factor}"));
    }
    let axis = |place: usize| (rest.len() + place) as i64;
    let before = 0..rest.len() as i64;
    let (apart, order, joined) = if shuffle {
        let channels = channels / square;
        // A size past 64 bits is refused where the operation is done.
        let (rows, columns) = (height.checked_mul(factor), width.checked_mul(factor));
        let to = [channels, rows.unwrap_or(-1), columns.unwrap_or(-1)];
        ([channels, factor, factor, *height, *width], [0, 3, 1, 4, 2], to)
    } else {
        let (rows, columns) = (height / factor, width / factor);
        let to = [channels.checked_mul(square).unwrap_or(-1), rows, columns];
        ([*channels, rows, factor, columns, factor], [0, 2, 4, 1, 3], to)
    };
    Ok(Ops::from_iter([
        Movement::Reshape([rest, &apart].concat().into()),
        Movement::Permute(before.chain(order.map(axis)).collect()),
        Movement::Reshape([rest, &joined].concat().into()),
    ]))
}
