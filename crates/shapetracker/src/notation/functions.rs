//! Functions around arrays, such as `np.transpose(x, (1, 0))`, and the methods that stand for more than one operation.

use super::ChainStartOf;
use super::arithmetic::{Known, Operator, Role};
use super::call::{Call, Order};
use super::calls::ArrayLibrary;
use super::foreign::{MAKERS, Methods, NO_SHAPE, Ops, instead, library};
use super::help::Method;
use super::parsed::{Need, Parsed};
use super::parser::{Num, Nums, Pairs, Reader, method_names};
use super::program::{Cut, Pieces, cut};
use crate::advice::{Hand, channels_last};
use crate::number::{List as _, Number};
use crate::shape::resolve_axis;
use crate::{Dims, MovementKind, MovementOf, View};
use indexpr::text::{ParseError, Token, Tokens, quoted};

/// The most parts of an axis that are cut one by one.
const MOST_PARTS: i64 = 1 << 12;

impl<'a, A: Known> Reader<'a, '_, A> {
    /// Whether a function around an array begins here: of a library by its path, or by its name alone where that cannot
    /// be an operation without its array.
    pub(super) fn at_function(&self) -> bool {
        if self.token != Token::Name || (self.named_array().is_some() && self.second() == Token::Dot) {
            return false;
        }
        let (first, mut last) = (self.word(), self.word());
        let mut ahead = self.tokens.clone();
        ahead.advance();
        let alone = loop {
            match ahead.token {
                Token::Dot => {
                    ahead.advance();
                    if ahead.token != Token::Name {
                        return false;
                    }
                    last = ahead.word();
                    ahead.advance();
                }
                Token::Open(b'(') => break last == first,
                _ => return false,
            }
        };
        if MAKERS.contains(&last) || !(method_names().any(|name| name == last) || instead(last).is_some()) {
            return false;
        }
        ahead.advance();
        if !alone {
            let known = ["einops", "jax", "cp", "nn"].contains(&first) || library(first) != Methods::Unknown;
            return known && first != "Tensor";
        }
        let word = ahead.word();
        let is_array = self.names.iter().any(|(name, _)| *name == word);
        // Names in the place of sizes are no arrays, so that an operation of ours needs more than a name.
        ahead.token == Token::Name
            && match MovementKind::named(last) {
                Some(_) => is_array || (ahead.second() == Token::Dot && library(word) != Methods::Unknown),
                None => ahead.second() != Token::Equals,
            }
    }

    /// A function, its array, and the rest of its arguments, which are those of the method of the same name.
    pub(super) fn function(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        parts: bool,
    ) -> Result<Option<Pieces<Num<A>>>, ParseError> {
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
        parsed: &mut Parsed<Num<A>>,
        name: &str,
        begin: usize,
    ) -> Result<Option<Pieces<Num<A>>>, ParseError> {
        if !["chunk", "split", "tensor_split", "array_split", "unbind"].contains(&name) {
            return Ok(None);
        }
        const COUNT: &str = "chunks|split_size|split_size_or_sections|indices_or_sections|sections|indices";
        const AXIS: &str = "dim|axis";
        let (mut list, mut axis) = (None, 0);
        let fields: &[&str] = if name == "unbind" { &[AXIS] } else { &[COUNT, AXIS] };
        self.fields("`(`", fields, |reader, field| {
            if field + 1 == fields.len() {
                axis = reader.integer("an axis")?;
            } else {
                let is_list = reader.at_tuple();
                list = Some((reader.one_or_more("a number")?, is_list));
            }
            Ok(())
        })?;
        self.advance();
        let shape = self.shape(parsed, begin)?;
        let axis = resolve_axis("split", axis, shape.len()).map_err(|err| self.refused(begin, &err))?;
        let total = &shape[axis];
        if name == "unbind" {
            return Ok(Some(Pieces { axis, cut: Cut::Elements, count: total.integer() }));
        }
        let Some((list, is_list)) = list else { return Err(self.expected("a number of parts, or their sizes")) };
        // In NumPy, and in `tensor_split`, a number is that of the parts and a list is where they begin.
        let starts = parsed.methods == Methods::NumPy || name.contains('_');
        if !is_list {
            self.need(parsed, (&list[0], &Num::<A>::from(1)), false, begin, &|arithmetic| {
                format!("there are no {} parts", arithmetic.text(&list[0]))
            })?;
        }
        let pieces = if is_list {
            self.cut_at(&list, total, axis, starts)
        } else {
            self.cut_evenly(name, &list[0], total, axis, starts)
        };
        pieces.map(Some).map_err(|message| self.wrong(begin, message))
    }

    /// An axis cut into so many parts, or into parts of so many elements.
    fn cut_evenly(
        &mut self,
        name: &str,
        number: &Num<A>,
        total: &Num<A>,
        axis: usize,
        starts: bool,
    ) -> Result<Pieces<Num<A>>, String> {
        let one = Num::<A>::from(1);
        let [number_text, total_text] = [number, total].map(|number| self.shown(number));
        let quotient = self.arithmetic.operate(Operator::Div, total, number)?;
        let rest = self.arithmetic.operate(Operator::Modulo, total, number)?;
        let unknown = || undivided_axis(axis, &total_text, &number_text);
        let rest = match (&rest, number.integer(), starts) {
            // Parts of a size that is not a number are read one after the other, whatever their number is.
            (None, _, false) if name == "split" => None,
            (None, ..) => return Err(unknown()),
            (Some(rest), ..) => rest.integer(),
        };
        if !starts {
            // The last part may have fewer elements.
            let of_size = name == "split";
            let up = match (&quotient, rest) {
                (Some(quotient), Some(0)) => Some(quotient.clone()),
                (Some(quotient), Some(_)) => self.arithmetic.operate(Operator::Add, quotient, &one)?,
                _ => None,
            };
            let size = match &up {
                _ if of_size => number.clone(),
                Some(up) => up.clone(),
                None => return Err(unknown()),
            };
            let size = if of_size || self.arithmetic.at_least(&size, &one) != Some(false) { size } else { one.clone() };
            // An axis without elements is one part without elements.
            let count = match self.arithmetic.at_least(total, &one) {
                Some(true) if of_size => up.and_then(|up| up.integer()),
                Some(true) => self.count_of(total, &size)?,
                Some(false) => Some(1),
                None => None,
            };
            return Ok(Pieces { axis, cut: Cut::Even { size, total: total.clone() }, count });
        }
        let Some(count) = number.integer() else {
            return Err(format!("{number_text} parts: how many there are must be a number"));
        };
        if name == "split" && rest != Some(0) {
            return Err(format!("axis {axis} has size {total_text}, which is not cut into {count} equal parts"));
        }
        if count > MOST_PARTS {
            return Err(format!("{count} parts are more than are read"));
        }
        let (Some(size), Some(more)) = (quotient, rest) else { return Err(unknown()) };
        // The first parts have one element more than the others.
        let mut begin = |part: i64| {
            let times =
                self.arithmetic.operate(Operator::Mul, &size, &Num::<A>::from(part))?.unwrap_or_else(|| size.clone());
            let moved = self.arithmetic.operate(Operator::Add, &times, &Num::<A>::from(part.min(more)))?;
            Ok::<_, String>(moved.unwrap_or(times))
        };
        let bounds =
            (0..count).map(|part| Ok::<_, String>((begin(part)?, begin(part + 1)?))).collect::<Result<_, _>>()?;
        Ok(Pieces { axis, cut: Cut::Bounds(bounds), count: Some(count) })
    }

    /// How many parts of a size a total has, the last one perhaps smaller, where that is a number.
    fn count_of(&mut self, total: &Num<A>, size: &Num<A>) -> Result<Option<i64>, String> {
        let quotient = self.arithmetic.operate(Operator::Div, total, size)?.and_then(|quotient| quotient.integer());
        let rest = self.arithmetic.operate(Operator::Modulo, total, size)?;
        let more = rest.and_then(|rest| self.arithmetic.equal(&rest, &Num::<A>::from(0))).map(|even| i64::from(!even));
        Ok(quotient.zip(more).and_then(|(quotient, more)| quotient.checked_add(more)))
    }

    /// An axis cut into parts of these sizes, or where these indices are.
    fn cut_at(&mut self, list: &[Num<A>], total: &Num<A>, axis: usize, starts: bool) -> Result<Pieces<Num<A>>, String> {
        let zero = Num::<A>::from(0);
        let mut bounds = Vec::new();
        if starts {
            let mut ends = Vec::new();
            for bound in list {
                ends.push(self.clamped(bound, total)?);
            }
            ends.push(total.clone());
            let mut begin = zero;
            for end in ends {
                // A part that would end before it begins has no elements.
                let is_ordered = self.arithmetic.at_least(&end, &begin);
                let last = match is_ordered {
                    Some(false) => begin.clone(),
                    Some(true) => end.clone(),
                    None => {
                        let [begin, end] = [&begin, &end].map(|number| self.shown(number));
                        return Err(format!("whether {end} is at least {begin} is not known"));
                    }
                };
                bounds.push((begin, last));
                begin = end;
            }
        } else {
            let mut end = zero.clone();
            let mut negative = false;
            for size in list {
                negative |= self.arithmetic.at_least(size, &zero) == Some(false);
                let next = self.arithmetic.operate(Operator::Add, &end, size).ok().flatten();
                let begin = std::mem::replace(&mut end, next.unwrap_or_else(|| Num::<A>::from(-1)));
                bounds.push((begin, end.clone()));
            }
            if negative || self.arithmetic.equal(&end, total) != Some(true) {
                let total = self.shown(total);
                return Err(format!("axis {axis} has size {total}, which is not the sum of the sizes of the parts"));
            }
        }
        let count = Some(bounds.len() as i64);
        Ok(Pieces { axis, cut: Cut::Bounds(bounds), count })
    }

    /// A bound that may count from the end, cut off at the ends of an axis.
    fn clamped(&mut self, bound: &Num<A>, size: &Num<A>) -> Result<Num<A>, String> {
        let zero = Num::<A>::from(0);
        let mut bound = bound.clone();
        if self.arithmetic.at_least(&bound, &zero) == Some(false) {
            bound = self.arithmetic.operate(Operator::Add, &bound, size)?.unwrap_or(bound);
        }
        match (self.arithmetic.at_least(&bound, &zero), self.arithmetic.at_least(size, &bound)) {
            (Some(true), Some(true)) => Ok(bound),
            (Some(false), _) => Ok(zero),
            (_, Some(false)) => Ok(size.clone()),
            _ => {
                let [bound, size] = [&bound, size].map(|number| self.shown(number));
                Err(format!("whether {bound} lies inside 0..{size} is not known"))
            }
        }
    }

    /// The part that an index behind the parts chooses.
    pub(super) fn chosen(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        pieces: &Pieces<Num<A>>,
        begin: usize,
    ) -> Result<Ops<A>, ParseError> {
        let shape = self.shape(parsed, begin)?;
        // The arguments of a function may have been closed by now.
        if self.token != Token::Open(b'[') {
            return Err(
                self.expected("`[` and the number of a part, as in `x.chunk(3, -1)[0]`, or a name for each part")
            );
        }
        let close = self.open("`[`")?;
        let at = self.span.clone();
        let index = self.integer("the number of a part")?;
        self.close(close)?;
        self.part(&shape, pieces, index).map_err(|message| self.error_at(at, message))
    }

    /// A method that stands for other operations than one of the same name, after its name; nothing for any other.
    pub(super) fn moved(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        name: &str,
        begin: usize,
    ) -> Result<Option<Ops<A>>, ParseError> {
        let foreign = !matches!(parsed.methods, Methods::Ours | Methods::Tinygrad);
        let one = |op: MovementOf<Num<A>>| Ok(Some(vec![op]));
        match name {
            "pad" if parsed.methods == Methods::NumPy => self.pad_of_numpy(parsed, begin).map(Some),
            "pad" if parsed.methods == Methods::PyTorch => self.pad_of_torch(parsed, begin).map(Some),
            "flip" if parsed.methods == Methods::NumPy && self.first_argument() == Token::Close(b')') => {
                self.nothing()?;
                let rank = self.rank(parsed, begin)?;
                one(MovementOf::FlipEach(std::iter::repeat_n(true, rank).collect()))
            }
            "fliplr" | "flipud" => {
                self.nothing()?;
                one(MovementOf::Flip([i64::from(name == "fliplr")].into()))
            }
            "expand_dims" => {
                let [axis] = self.named_numbers(["axis"], [None])?;
                one(MovementOf::Unsqueeze(self.whole(&axis, "an axis", begin)?))
            }
            "permute_dims" => one(MovementOf::Permute(self.integer_arguments("an axis")?)),
            "matrix_transpose" => {
                self.nothing()?;
                one(MovementOf::Transpose(-2, -1))
            }
            "ascontiguousarray" => {
                let close = self.open("`(`")?;
                self.only_types(parsed, close)?;
                // What it answers has at least one axis.
                let is_scalar = self.rank(parsed, begin)? == 0;
                let axis = is_scalar.then(|| MovementOf::Reshape(vec![Num::<A>::from(1)].into()));
                Ok(Some(axis.into_iter().chain([MovementOf::Contiguous]).collect()))
            }
            // In column-major order the axes are in row-major order from the last one on.
            "asfortranarray" => {
                let close = self.open("`(`")?;
                self.only_types(parsed, close)?;
                let rank = self.rank(parsed, begin)? as i64;
                let back = || MovementOf::Permute((0..rank).rev().collect());
                Ok(Some(vec![back(), MovementOf::Contiguous, back()]))
            }
            // Inductor's name of it.
            "reinterpret_tensor" => self.strided_memory(parsed, begin).map(Some),
            "as_strided" if foreign => self.strided_memory(parsed, begin).map(Some),
            "narrow" => {
                let [axis, start, length] = self.named_numbers(["dim", "start", "length"], [None, None, None])?;
                let (shape, axis) = self.axis_of(parsed, name, &axis, begin)?;
                let start = self.counted(&start, &shape[axis], begin)?;
                let end = self.operate(Operator::Add, &start, &length, begin)?;
                one(cut(&shape, axis, (start, end)))
            }
            "select" => {
                let [axis, index] = self.named_numbers(["dim", "index"], [None, None])?;
                let (shape, axis) = self.axis_of(parsed, name, &axis, begin)?;
                let at = self.index(&index, &shape[axis], axis);
                let at = at.map_err(|message| self.wrong(begin, message))?;
                let next = self.operate(Operator::Add, &at, &Num::<A>::from(1), begin)?;
                let taken = cut(&shape, axis, (at, next));
                Ok(Some(vec![taken, MovementOf::Reshape([&shape[..axis], &shape[axis + 1..]].concat().into())]))
            }
            "unflatten" => self.unflattened(parsed, name, begin).map(|op| Some(vec![op])),
            "pixel_shuffle" | "pixel_unshuffle" => {
                let [factor] = self.named_numbers(["upscale_factor|downscale_factor"], [None])?;
                let shape = self.shape(parsed, begin)?;
                let ops = self.pixels(&shape, &factor, name == "pixel_shuffle");
                ops.map(Some).map_err(|message| self.wrong(begin, message))
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
                let mut times = self.number_arguments("how often an axis is repeated")?.to_vec();
                let mut shape = self.shape(parsed, begin)?.to_vec();
                if name == "repeat" && times.len() < shape.len() {
                    let message = format!("expected a number for each of the {} axes", shape.len());
                    return Err(self.wrong(begin, message));
                }
                let one = Num::<A>::from(1);
                while times.len() < shape.len() {
                    times.insert(0, one.clone());
                }
                while shape.len() < times.len() {
                    shape.insert(0, one.clone());
                }
                let pairs = times.iter().zip(&shape);
                let apart = pairs.clone().flat_map(|(_, size)| [one.clone(), size.clone()]).collect();
                let repeated = pairs.clone().flat_map(|(times, size)| [times.clone(), size.clone()]).collect();
                let joined = pairs.map(|(times, size)| self.operate(Operator::Mul, times, size, begin));
                let joined = joined.collect::<Result<Nums<A>, _>>()?;
                let mut ops =
                    vec![MovementOf::Reshape(apart), MovementOf::Expand(repeated), MovementOf::Reshape(joined)];
                // tinygrad makes no copy of its own accord.
                if foreign {
                    ops.push(MovementOf::Copy);
                }
                Ok(Some(ops))
            }
            _ => Ok(None),
        }
    }

    /// `unflatten(dim, sizes)`: an axis cut into several, one of whose sizes may be -1.
    fn unflattened(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        name: &str,
        begin: usize,
    ) -> Result<MovementOf<Num<A>>, ParseError> {
        let (mut axis, mut sizes) = (None, None);
        self.fields("`(`", &["dim", "sizes|unflattened_size"], |reader, field| {
            match field {
                0 => axis = Some(reader.number("an axis", Role::Other)?),
                _ => sizes = Some(reader.numbers("a size")?),
            }
            Ok(())
        })?;
        let (Some(axis), Some(mut sizes)) = (axis, sizes) else {
            return Err(self.expected("an axis and sizes, as in `unflatten(1, (2, 3))`"));
        };
        self.advance();
        let (shape, axis) = self.axis_of(parsed, name, &axis, begin)?;
        let size = &shape[axis];
        let size_text = self.shown(size);
        let wrong = |reader: &Self, message: String| Err(reader.error_at(begin..reader.last, message));
        if let Some(unknown) = sizes.iter().position(|size| size.integer() == Some(-1)) {
            let known: Nums<A> =
                sizes.iter().enumerate().filter(|(at, _)| *at != unknown).map(|(_, size)| size.clone()).collect();
            let known = self.numel("unflatten", &known, begin)?;
            let quotient = match self.arithmetic.at_least(&known, &Num::<A>::from(1)) {
                Some(true) => self.quotient(size, &known, begin)?,
                _ => None,
            };
            let Some(quotient) = quotient else {
                let known_text = self.shown(&known);
                return match (size.integer(), known.integer()) {
                    (Some(_), Some(_)) => {
                        wrong(self, format!("axis {axis} has size {size_text}, which {known_text} does not divide"))
                    }
                    _ => wrong(self, undivided_axis(axis, &size_text, &known_text)),
                };
            };
            sizes[unknown] = quotient;
        }
        let found = self.numel("unflatten", &sizes, begin)?;
        let size = size.clone();
        self.need(parsed, (&size, &found), true, begin, &|arithmetic| {
            let found = arithmetic.text(&found);
            format!("axis {axis} has size {size_text}, but the sizes make {found}")
        })?;
        Ok(MovementOf::Reshape([&shape[..axis], &sizes, &shape[axis + 1..]].concat().into()))
    }

    /// Demands that a number is at least another one, or equal to it, in what was read from `begin` to here; where that depends
    /// on names, of the operation that comes next.
    pub(super) fn need(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        (left, right): (&Num<A>, &Num<A>),
        is_equal: bool,
        begin: usize,
        why: &dyn Fn(&A) -> String,
    ) -> Result<(), ParseError> {
        let holds = match is_equal {
            true => self.arithmetic.equal(left, right),
            false => self.arithmetic.at_least(left, right),
        };
        if holds == Some(true) {
            return Ok(());
        }
        let why = why(self.arithmetic);
        if holds == Some(false) {
            return Err(self.wrong(begin, why));
        }
        let (op, left, right) = (parsed.ops.len(), left.clone(), right.clone());
        parsed.needs.push(Need { op, left, right, is_equal, why: why.into() });
        Ok(())
    }

    /// Numbers in a tuple or a list, or one number.
    pub(super) fn one_or_more(&mut self, what: &str) -> Result<Nums<A>, ParseError> {
        if self.at_tuple() {
            return self.numbers(what);
        }
        let mut one = Nums::<A>::default();
        one.push(self.number(what, Role::Other)?);
        Ok(one)
    }

    /// The quotient of two numbers where there is no rest; `None` where there is, or where that is not known.
    pub(super) fn quotient(&mut self, a: &Num<A>, b: &Num<A>, begin: usize) -> Result<Option<Num<A>>, ParseError> {
        let mut of = |operator| self.arithmetic.operate(operator, a, b);
        let parts = of(Operator::Modulo).and_then(|rest| Ok((rest, of(Operator::Div)?)));
        let (rest, quotient) = parts.map_err(|message| self.wrong(begin, message))?;
        Ok(quotient.filter(|_| rest.is_some_and(|rest| rest.integer() == Some(0))))
    }

    /// An index or a bound from the front, where it counts from the end.
    fn counted(&mut self, index: &Num<A>, size: &Num<A>, begin: usize) -> Result<Num<A>, ParseError> {
        match self.arithmetic.at_least(index, &Num::<A>::from(0)) {
            Some(false) => self.operate(Operator::Add, index, size, begin),
            _ => Ok(index.clone()),
        }
    }

    /// A method that is a call of its own, after its name; nothing for any other.
    pub(super) fn own_call(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        name: &str,
        begin: usize,
    ) -> Result<Option<(Ops<A>, Call)>, ParseError> {
        let foreign = !matches!(parsed.methods, Methods::Ours | Methods::Tinygrad);
        let of_numpy = match parsed.methods {
            Methods::NumPy => true,
            // Of an array of which nothing is known only NumPy's calls have such arguments.
            Methods::Unknown => self.has_argument("order") || (name == "repeat" && self.has_argument("axis")),
            _ => false,
        };
        if let Some((op, call)) = self.windowed(parsed, name, begin)? {
            return Ok(Some((op, call)));
        }
        Ok(match name {
            // The same elements in the same memory, in the hands of another library perhaps.
            "detach" | "requires_grad_" | "numpy" | "from_numpy" => {
                let close = self.open("`(`")?;
                if self.boolean().is_some() {
                    self.advance();
                }
                self.close(close)?;
                match name {
                    "numpy" => parsed.methods = Methods::NumPy,
                    "from_numpy" => parsed.methods = Methods::PyTorch,
                    _ => {}
                }
                Some((Ops::<A>::new(), Call::Plain))
            }
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
                ops.extend(foreign.then_some(MovementOf::Copy));
                Some((ops, if foreign { Call::Roll(axis) } else { Call::Plain }))
            }
            _ => self.copied_in_order(parsed, name, begin)?,
        })
    }

    /// Whether one of the arguments has this name; an order may stand without, as a text.
    fn has_argument(&self, name: &str) -> bool {
        let mut ahead = self.tokens.clone();
        let mut depth = i32::from(self.opened.is_some());
        loop {
            match ahead.token {
                Token::Open(_) => depth += 1,
                Token::Close(_) => depth -= 1,
                Token::Name if depth == 1 && ahead.word() == name && ahead.second() == Token::Equals => return true,
                Token::Text if depth == 1 && name == "order" && is_order(&ahead) => return true,
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
    fn ordered(&mut self, parsed: &mut Parsed<Num<A>>, name: &str, begin: usize) -> Result<(Ops<A>, Call), ParseError> {
        let (mut sizes, mut order) = (Nums::<A>::default(), Order::Row);
        let close = self.open("`(`")?;
        while self.token != close {
            let word = if self.at_argument_name() { self.word() } else { "" };
            if !word.is_empty() {
                self.advance();
                self.advance();
            }
            match word {
                "order" => order = self.order(Some(Order::Row))?.unwrap_or(order),
                "" if self.token == Token::Text => order = self.order(Some(Order::Row))?.unwrap_or(order),
                "" | "shape" | "newshape" if name == "reshape" => match self.at_tuple() {
                    true => sizes = self.numbers("a size")?,
                    false => self.sizes("a size", Role::Other, &mut sizes)?,
                },
                _ => return Err(self.expected("`order=` and one of the orders 'C', 'F', 'A' and 'K'")),
            }
            self.comma_or(close)?;
        }
        self.advance();
        let shape = self.shape(parsed, begin)?;
        if name != "reshape" {
            sizes = vec![self.numel("flatten", &shape, begin)?].into();
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
        let mut ops = Ops::<A>::from_iter(is_moved.then_some(MovementOf::Permute(axes)));
        // An array of one axis is read in one order, and may still become one of several axes in the order of columns.
        if name == "reshape" && (is_moved || order == Order::Column) && sizes.len() > 1 {
            let back = MovementOf::Permute((0..sizes.len() as i64).rev().collect());
            sizes.reverse();
            ops.extend([MovementOf::Reshape(sizes), back]);
        } else {
            ops.push(MovementOf::Reshape(sizes));
        }
        Ok((ops, Call::of(name, parsed.methods)))
    }

    /// `(shift, axis=None)`: the elements of an axis moved, and what leaves it at one end comes in at the other; without an
    /// axis those of the array in their order. They are part of the axis repeated once.
    fn rolled(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<(Ops<A>, Option<u8>), ParseError> {
        let (mut shift, mut axis) = (None, None);
        self.fields("`(`", &["shift|shifts", "axis|dims|dim"], |reader, field| {
            let given = reader.one_or_more("a number")?;
            let [number] = &given[..] else {
                return Err(reader.error_at(
                    begin..reader.last,
                    "`roll` is read along one axis: write a call for each, as in `x.roll(1, 0).roll(2, 1)`",
                ));
            };
            *[&mut shift, &mut axis][field] = Some(number.clone());
            Ok(())
        })?;
        let Some(shift) = shift else { return Err(self.expected("how far elements are moved")) };
        let axis = axis.map(|axis| self.whole(&axis, "an axis", begin)).transpose()?;
        self.advance();
        let shape = self.shape(parsed, begin)?;
        let (mut ops, mut flat) = (Ops::<A>::new(), shape.clone());
        if axis.is_none() {
            flat = vec![self.numel("roll", &shape, begin)?].into();
        }
        let at = resolve_axis("roll", axis.unwrap_or(0), flat.len()).map_err(|err| self.refused(begin, &err))?;
        let (before, size, after) = (&flat[..at], flat[at].clone(), &flat[at + 1..]);
        let (one, two) = (Num::<A>::from(1), Num::<A>::from(2));
        let first = self.first_of_roll(&shift, &size, begin)?;
        let end = self.operate(Operator::Add, &first, &size, begin)?;
        let twice = self.operate(Operator::Mul, &size, &two, begin)?;
        ops.push(MovementOf::Reshape([before, &[one, size.clone()], after].concat().into()));
        ops.push(MovementOf::Expand([before, &[two, size], after].concat().into()));
        ops.push(MovementOf::Reshape([before, &[twice], after].concat().into()));
        ops.push(cut(&flat, at, (first, end)));
        if flat != shape {
            ops.push(MovementOf::Reshape(shape));
        }
        Ok((ops, axis.map(|_| at as u8)))
    }

    /// Where in an axis that is repeated once the elements begin that are moved by so much.
    fn first_of_roll(&mut self, shift: &Num<A>, size: &Num<A>, begin: usize) -> Result<Num<A>, ParseError> {
        let zero = Num::<A>::from(0);
        if self.arithmetic.equal(size, &zero) == Some(true) {
            return Ok(zero);
        }
        let has_elements = self.arithmetic.at_least(size, &Num::<A>::from(1)) == Some(true);
        let rest = match has_elements {
            true => self.arithmetic.operate(Operator::Modulo, shift, size),
            false => Ok(None),
        };
        let rest = rest.map_err(|message| self.wrong(begin, message))?;
        // Where neither is a number the shift may still be known to be less than the size.
        let rest = match rest {
            Some(rest) => rest,
            None => {
                let is_back = self.arithmetic.at_least(shift, &zero) == Some(false);
                let near = if is_back { self.operate(Operator::Add, shift, size, begin)? } else { shift.clone() };
                let is_near = self.arithmetic.at_least(&near, &zero) == Some(true)
                    && self.arithmetic.at_least(size, &near) == Some(true);
                if !is_near {
                    let [shift, size] = [shift, size].map(|number| self.shown(number));
                    let message = format!("whether a shift of {shift} lies inside an axis of size {size} is not known");
                    return Err(self.wrong(begin, message));
                }
                near
            }
        };
        self.operate(Operator::Sub, size, &rest, begin)
    }

    /// Windows along axes and diagonals, after the name; nothing for any other method. They are strides over the elements in
    /// row-major order.
    pub(super) fn windowed(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        name: &str,
        begin: usize,
    ) -> Result<Option<(Ops<A>, Call)>, ParseError> {
        Ok(match name {
            "unfold" => {
                let [axis, size, step] = self.named_numbers(["dimension|dim", "size", "step"], [None, None, None])?;
                let step = self.whole(&step, "a step", begin)?;
                let (shape, axis) = self.axis_of(parsed, name, &axis, begin)?;
                let of = shape[axis].clone();
                let why = |arithmetic: &A| {
                    let [of, size] = [&of, &size].map(|number| arithmetic.text(number));
                    format!("axis {axis} has size {of}: no window of {size} at a step of {step}")
                };
                if step < 1 {
                    return Err(self.wrong(begin, why(self.arithmetic)));
                }
                self.need(parsed, (&size, &Num::<A>::from(0)), false, begin, &why)?;
                self.need(parsed, (&of, &size), false, begin, &why)?;
                let op = self.windows(&shape, &[(axis, size, step)], begin)?;
                Some((vec![op], Call::Unfold(axis as u8)))
            }
            "sliding_window_view" => Some(self.sliding_windows(parsed, begin)?),
            "diagonal" => {
                let zero = Num::<A>::from(0);
                let fields = ["offset", "dim1|axis1", "dim2|axis2"];
                let defaults = [0, 0, 1].map(|default| Some(Num::<A>::from(default)));
                let [offset, first, second] = self.named_numbers(fields, defaults)?;
                let (shape, first) = self.axis_of(parsed, name, &first, begin)?;
                let (_, second) = self.axis_of(parsed, name, &second, begin)?;
                if first == second {
                    return Err(self.error_at(begin..self.last, "a diagonal has two different axes"));
                }
                let strides = self.row_major(&shape, begin)?;
                let down = self.operate(Operator::Sub, &zero, &offset, begin)?;
                let [down, right] = [self.larger(&down, &zero, begin)?, self.larger(&offset, &zero, begin)?];
                let rows = self.operate(Operator::Sub, &shape[first], &down, begin)?;
                let columns = self.operate(Operator::Sub, &shape[second], &right, begin)?;
                let length = self.smaller(&rows, &columns, begin)?;
                let length = self.larger(&length, &zero, begin)?;
                let rest = (0..shape.len()).filter(|axis| *axis != first && *axis != second);
                let (mut to, mut by): (Vec<_>, Vec<_>) =
                    rest.map(|axis| (shape[axis].clone(), strides[axis].clone())).unzip();
                let is_empty = self.arithmetic.equal(&length, &zero) == Some(true);
                to.push(length);
                by.push(self.operate(Operator::Add, &strides[first], &strides[second], begin)?);
                let offset = if is_empty {
                    zero
                } else {
                    let down = self.operate(Operator::Mul, &down, &strides[first], begin)?;
                    let right = self.operate(Operator::Mul, &right, &strides[second], begin)?;
                    self.operate(Operator::Add, &down, &right, begin)?
                };
                let op = MovementOf::AsStrided(to.into(), by.into(), offset);
                Some((vec![op], Call::Diagonal([first as u8, second as u8])))
            }
            _ => None,
        })
    }

    /// The row-major strides of a shape, for what was read from `begin` to here.
    fn row_major(&mut self, shape: &[Num<A>], begin: usize) -> Result<Nums<A>, ParseError> {
        self.arithmetic.row_major(shape).map_err(|message| self.wrong(begin, message))
    }

    /// The larger of two numbers.
    fn larger(&mut self, a: &Num<A>, b: &Num<A>, begin: usize) -> Result<Num<A>, ParseError> {
        match (self.arithmetic.at_least(a, b), self.arithmetic.at_least(b, a)) {
            (Some(true), _) | (_, Some(false)) => Ok(a.clone()),
            (Some(false), _) | (_, Some(true)) => Ok(b.clone()),
            (None, None) => Err(self.not_known(a, b, begin)),
        }
    }

    /// The smaller of two numbers.
    fn smaller(&mut self, a: &Num<A>, b: &Num<A>, begin: usize) -> Result<Num<A>, ParseError> {
        Ok(if self.larger(a, b, begin)? == *a { b.clone() } else { a.clone() })
    }

    #[cold]
    fn not_known(&self, a: &Num<A>, b: &Num<A>, begin: usize) -> ParseError {
        let [a, b] = [a, b].map(|number| self.shown(number));
        self.error_at(
            begin..self.last,
            format!("whether {a} or {b} is larger is not known: say which, as in `{a} <= {b}`"),
        )
    }

    /// Numbers for fields, of which each that is missing has a default.
    fn named_numbers<const N: usize>(
        &mut self,
        fields: [&str; N],
        defaults: [Option<Num<A>>; N],
    ) -> Result<[Num<A>; N], ParseError> {
        let mut given = defaults;
        self.fields("`(`", &fields, |reader, field| {
            let first = fields[field].split('|').next().unwrap_or_default();
            given[field] = Some(reader.number(&format!("a number for `{first}`"), Role::Other)?);
            Ok(())
        })?;
        let missing = given.iter().position(Option::is_none);
        if let Some(missing) = missing {
            let first = fields[missing].split('|').next().unwrap_or_default();
            return Err(self.expected(&format!("a number for `{first}`")));
        }
        self.advance();
        Ok(given.map(|number| number.unwrap_or_else(|| Num::<A>::from(0))))
    }

    /// The shape, and one of its axes from the front.
    fn axis_of(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        name: &str,
        axis: &Num<A>,
        begin: usize,
    ) -> Result<(Nums<A>, usize), ParseError> {
        let axis = self.whole(axis, "an axis", begin)?;
        let shape = self.shape(parsed, begin)?;
        let resolved = resolve_axis("axis", axis, shape.len()).map_err(|err| {
            let message = err.to_string();
            self.error_at(begin..self.last, message.replacen("axis:", &format!("{name}:"), 1))
        })?;
        Ok((shape, resolved))
    }

    /// `(pad_width, mode="constant", constant_values=0)`: a number or a pair for all axes, or a pair for each.
    fn pad_of_numpy(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Ops<A>, ParseError> {
        let close = self.open("`(`")?;
        if self.at_word("pad_width") && self.at_argument_name() {
            self.advance();
            self.advance();
        }
        let mut pads = Pairs::<A>::default();
        if !self.at_tuple() {
            let pad = self.number("how much to pad", Role::Other)?;
            pads.push((pad.clone(), pad));
        } else if matches!(self.second(), Token::Open(_)) {
            self.list("pairs `(before, after)`", |reader| {
                pads.push(reader.pair("a pair `(before, after)`")?);
                Ok(())
            })?;
        } else {
            pads.push(self.pair("a pair `(before, after)`")?);
        }
        self.rest_of_pad(close)?;
        let rank = self.rank(parsed, begin)?;
        if let [for_all] = &pads[..] {
            // One pair is for all axes.
            pads = std::iter::repeat_n(for_all.clone(), rank).collect();
        }
        Ok(vec![MovementOf::Pad(pads)])
    }

    /// `((left, right, top, bottom, ..), mode="constant", value=0)`: the last axis first; less than 0 cuts off.
    fn pad_of_torch(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Ops<A>, ParseError> {
        let close = self.open("`(`")?;
        if self.at_word("pad") && self.at_argument_name() {
            self.advance();
            self.advance();
        }
        let given = self.numbers("how much to pad")?;
        self.rest_of_pad(close)?;
        let shape = self.shape(parsed, begin)?;
        if given.len() % 2 != 0 || given.len() > 2 * shape.len() {
            let message = format!("expected two numbers for each of at most {} axes, the last axis first", shape.len());
            return Err(self.wrong(begin, message));
        }
        let zero = Num::<A>::from(0);
        let mut pads: Pairs<A> = shape.iter().map(|_| (zero.clone(), zero.clone())).collect();
        for (pad, pair) in pads.iter_mut().rev().zip(given.chunks(2)) {
            *pad = (pair[0].clone(), pair[1].clone());
        }
        let mut ops = Ops::<A>::new();
        // What is cut off; a pad that may be either is one, whose condition is asked where it is done.
        let mut is_cut = |number: &Num<A>| self.arithmetic.at_least(number, &zero) == Some(false);
        let cuts: Vec<[bool; 2]> = pads.iter().map(|(before, after)| [is_cut(before), is_cut(after)]).collect();
        if cuts.iter().any(|cut| cut.contains(&true)) {
            let mut ranges = Pairs::<A>::default();
            for (((before, after), size), [cuts_before, cuts_after]) in pads.iter_mut().zip(&shape[..]).zip(&cuts) {
                let mut range = (zero.clone(), size.clone());
                if *cuts_before {
                    range.0 = self.operate(Operator::Sub, &zero, before, begin)?;
                    *before = zero.clone();
                }
                if *cuts_after {
                    range.1 = self.operate(Operator::Add, size, after, begin)?;
                    *after = zero.clone();
                }
                ranges.push(range);
            }
            ops.push(MovementOf::Shrink(ranges));
        }
        ops.push(MovementOf::Pad(pads));
        Ok(ops)
    }

    /// The mode and the value of a pad: what is padded is masked, whatever its value is.
    fn rest_of_pad(&mut self, close: Token) -> Result<(), ParseError> {
        self.comma_or(close)?;
        while self.token != close {
            if self.at_word("mode") && self.at_argument_name() {
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
                // A value that is not whole may have a sign, too.
                Token::Symbol if self.second() == Token::NotWhole => {
                    self.advance();
                    self.advance();
                }
                _ => drop(self.number("the value of a pad", Role::Other)?),
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
        parsed: &mut Parsed<Num<A>>,
        name: &str,
        begin: usize,
    ) -> Result<Option<(Ops<A>, Call)>, ParseError> {
        let is_function = self.opened.is_some();
        let foreign = !matches!(parsed.methods, Methods::Ours | Methods::Tinygrad);
        // Where elements lie is followed for numbers only.
        let is_followed = self.arithmetic.integers(&parsed.ops).is_some();
        let order = match name {
            "clone" => self.memory_format(parsed, Some(Order::Keep), begin)?,
            "contiguous" if self.first_argument() != Token::Close(b')') && foreign => {
                match self.memory_format(parsed, Some(Order::Row), begin)? {
                    Some(Order::Keep) => {
                        let message = "PyTorch's `contiguous` has no `preserve_format`, and raises a RuntimeError where \
                                       elements lie otherwise: write `clone` for a copy in the order of memory";
                        return Err(self.error_at(begin..self.last, message.to_owned()));
                    }
                    Some(Order::Row) => return Ok(Some((vec![MovementOf::Contiguous], Call::Plain))),
                    // What lies so already is not copied.
                    order => order.filter(|_| !self.lies(parsed, Hand::has_channels_last, begin)),
                }
            }
            "to" => {
                let order = self.memory_format(parsed, None, begin)?;
                let one = Num::<A>::from(1);
                if parsed.has_rough_axes() && self.shape(parsed, begin)?.contains(&one) {
                    let message = "whether `to` copies depends on strides of axes of size 1, which are not known after an index \
                                   with `None` or a number, `select`, `unbind` or an `expand` to more axes: write `contiguous` \
                                   in its place, with the same memory format";
                    return Err(self.error_at(begin..self.last, message.to_owned()));
                }
                if !is_followed
                    && matches!(order, Some(Order::Row | Order::Channels))
                    && channels_last(self.rank(parsed, begin)?).is_some()
                {
                    let message = "whether `to` copies depends on strides, which are not followed where sizes have names: \
                                   write `contiguous` in its place, with the same memory format";
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
        let Some(order) = order else { return Ok(Some((Ops::<A>::new(), Call::Plain))) };
        // What lies so already is not copied.
        let is_asked_for = name != "contiguous" || is_followed;
        let copy = if is_asked_for { MovementOf::Copy } else { MovementOf::Contiguous };
        let mut ops = Ops::<A>::from_iter([copy]);
        // A new array is in row-major order, whatever its shape is.
        let is_new = parsed.ops.is_empty() && !matches!(parsed.start, ChainStartOf::Views(_));
        let axes: Option<Dims> = match order {
            Order::Row => None,
            Order::Any | Order::Keep if is_new => None,
            _ if is_followed => {
                let is_torch = matches!(name, "clone" | "contiguous" | "to");
                let library = if is_torch { ArrayLibrary::PyTorch } else { ArrayLibrary::NumPy };
                Some(self.hand(parsed, library, begin)?.axes_of_copy(order))
            }
            Order::Column => Some((0..self.rank(parsed, begin)? as i64).rev().collect()),
            Order::Channels => {
                let axes = channels_last(self.rank(parsed, begin)?).unwrap_or_default();
                Some(axes.iter().rev().map(|&axis| axis as i64).collect())
            }
            // Where elements lie does not change which they are.
            Order::Any | Order::Keep => None,
        };
        if let Some(axes) = axes.filter(|axes| !axes.is_sorted()) {
            let mut back = Dims::from_elem(0, axes.len());
            for (at, axis) in axes.iter().enumerate() {
                back[*axis as usize] = at as i64;
            }
            ops.insert(0, MovementOf::Permute(axes));
            ops.push(MovementOf::Permute(back));
        }
        if !is_asked_for {
            return Ok(Some((ops, Call::Plain)));
        }
        let converts = matches!(name, "astype" | "array");
        Ok(Some((ops, if converts { Call::Convert(order) } else { Call::Copy(order) })))
    }

    /// `memory_format=` as the one argument of a call of PyTorch: an order. `usual` is that of the call without it.
    fn memory_format(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        usual: Option<Order>,
        begin: usize,
    ) -> Result<Option<Order>, ParseError> {
        let close = self.open("`(`")?;
        let mut order = usual;
        if self.at_word("memory_format") && self.at_argument_name() {
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
            let rank = if order == Some(Order::Channels) { self.rank(parsed, begin)? } else { axes };
            if rank != axes {
                let message = format!("`torch.{word}` is for tensors of {axes} axes, and this one has {rank}");
                return Err(self.wrong(begin, message));
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
    fn lies(&mut self, parsed: &mut Parsed<Num<A>>, is_so: fn(&Hand) -> bool, begin: usize) -> bool {
        self.hand(parsed, ArrayLibrary::PyTorch, begin).is_ok_and(is_so)
    }

    /// The arguments of a call of NumPy that may copy: types, which change no layout, an order, and whether it copies.
    fn copy_arguments(
        &mut self,
        parsed: &mut Parsed<Num<A>>,
        usual: Option<Order>,
        types: bool,
    ) -> Result<Option<Order>, ParseError> {
        let (mut order, mut position) = (usual, 0);
        let close = self.open("`(`")?;
        while self.token != close {
            let name = if self.at_argument_name() { self.word() } else { "" };
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
                "" if position == 0 && is_order(self) => order = self.order(usual)?,
                "" if position == 0 && types => parsed.of_type = self.type_argument()?,
                _ => return Err(self.expected("a type, or `order=`")),
            }
            position += 1;
            self.comma_or(close)?;
        }
        self.advance();
        Ok(order)
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
    fn only_types(&mut self, parsed: &mut Parsed<Num<A>>, close: Token) -> Result<(), ParseError> {
        while self.token != close {
            parsed.of_type = self.type_argument()?;
            self.comma_or(close)?;
        }
        self.advance();
        Ok(())
    }

    /// Whether the argument of `view` is a type, and no size; in NumPy it always is.
    fn at_type(&self, parsed: &Parsed<Num<A>>) -> bool {
        let mut ahead = self.tokens.clone();
        if self.opened.is_none() {
            ahead.advance();
        }
        parsed.methods == Methods::NumPy
            || (ahead.at_word("dtype") && ahead.second() == Token::Equals)
            || is_type(&ahead)
    }

    /// PyTorch's `as_strided`: strides over the memory that the tensor is a view of, whatever the tensor has of it. What
    /// stands between the operation that made this memory and here is no part of it.
    fn strided_memory(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Ops<A>, ParseError> {
        let (shape, strides, given) = self.strided_arguments()?;
        let strided = |offset: Option<Num<A>>| {
            let offset = offset.unwrap_or_else(|| Num::<A>::from(0));
            MovementOf::AsStrided(shape.clone(), strides.clone(), offset)
        };
        // The views are the memory of no tensor. Without a shape nothing is known of the memory but that it is what `x` has.
        let is_unknown = parsed.start == ChainStartOf::Nothing && self.base.is_none();
        if matches!(parsed.start, ChainStartOf::Views(_)) || (is_unknown && parsed.ops.is_empty()) {
            return Ok(vec![strided(given)]);
        }
        if self.arithmetic.integers(&parsed.ops).is_none() {
            // What leaves the elements of an array that has its memory for itself in their order there.
            let keeps = |op: &MovementOf<Num<A>>| {
                use MovementKind as Kind;
                matches!(op.kind(), Kind::Reshape | Kind::Squeeze | Kind::Unsqueeze | Kind::Contiguous | Kind::Copy)
            };
            if !parsed.ops.iter().all(keeps) {
                let message = "PyTorch's `as_strided` starts again from the memory of the first array: write it before \
                               what moves elements";
                return Err(self.wrong(begin, message));
            }
            return Ok(vec![strided(given)]);
        }
        let hand = self.hand(parsed, ArrayLibrary::PyTorch, begin)?;
        if hand.is_refused() {
            let message = "PyTorch raises a ValueError at the negative step before this: `as_strided` has no memory to read; \
                write `flip` in its place";
            return Err(self.wrong(begin, message));
        }
        let Some(offset) = given.or(hand.offset().map(Num::<A>::from)) else {
            let message =
                "where a tensor without elements begins in its memory is not known: give `as_strided` an offset";
            return Err(self.wrong(begin, message));
        };
        let mut ops = Ops::<A>::new();
        if let Some((since, axes)) = hand.memory() {
            parsed.truncate(since);
            parsed.forget();
            ops.extend((!axes.is_sorted()).then_some(MovementOf::Permute(axes)));
        }
        ops.push(strided(Some(offset)));
        Ok(ops)
    }

    /// The array that a library has after everything that was read so far; kept, so that each operation is done once.
    pub(super) fn hand<'p>(
        &self,
        parsed: &'p mut Parsed<Num<A>>,
        library: ArrayLibrary,
        begin: usize,
    ) -> Result<&'p Hand, ParseError> {
        let shape = match (&parsed.start, self.base) {
            (ChainStartOf::Shape(shape), _) => Some(&shape[..]),
            (ChainStartOf::Nothing, Some(base)) => Some(base),
            (ChainStartOf::Nothing, None) => return Err(self.error_at(begin..self.last, NO_SHAPE)),
            (ChainStartOf::Views(_), _) => None,
        };
        let Some(ops) = self.arithmetic.integers(&parsed.ops) else {
            let message = format!("how {library} lays out memory is not followed where sizes have names");
            return Err(self.wrong(begin, message));
        };
        let shape = shape.map(|shape| shape.iter().filter_map(Num::<A>::integer).collect::<Dims>());
        let start = match (shape, &parsed.start) {
            (Some(shape), _) => View::contiguous(shape).map_err(|err| self.refused(begin, &err))?,
            (None, ChainStartOf::Views(views)) => {
                let view =
                    views.first().filter(|_| views.len() == 1).and_then(|view| self.arithmetic.integer_view(view));
                view.filter(|view| library.has(view)).cloned().ok_or_else(|| {
                    let message = format!("{library} has no arrays that are several views or have masked elements");
                    self.wrong(begin, message)
                })?
            }
            (None, _) => return Err(self.error_at(begin..self.last, NO_SHAPE)),
        };
        let (done, mut hand) = match parsed.kept.take() {
            Some((done, hand)) if hand.library() == library => (done, hand),
            _ => (0, Box::new(Hand::new(library, &start))),
        };
        let mut at = done;
        while at < ops.len() {
            let (call, range) = parsed.call(at);
            hand.does(at, call, &ops[range.clone()]).map_err(|err| self.refused(begin, &err))?;
            at = range.end;
        }
        Ok(&parsed.kept.insert((at, hand)).1)
    }

    /// `(window_shape, axis=None)`: a window of each axis, or of those that are named.
    fn sliding_windows(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<(Ops<A>, Call), ParseError> {
        let (mut sizes, mut axes) = (Nums::<A>::default(), None);
        let close = self.open("`(`")?;
        let mut given = 0;
        while self.token != close {
            if self.at_argument_name() {
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
            let list = self.one_or_more("the size of a window")?;
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
        let axes = axes.unwrap_or_else(|| (0..shape.len() as i64).map(Num::<A>::from).collect());
        if sizes.len() != axes.len() {
            let message =
                format!("expected the size of a window for each of {} axes, found {}", axes.len(), sizes.len());
            return Err(self.wrong(begin, message));
        }
        let mut along = Vec::new();
        let mut left = shape.clone();
        let (zero, one) = (Num::<A>::from(0), Num::<A>::from(1));
        for (axis, size) in axes.iter().zip(&sizes[..]) {
            let (_, axis) = self.axis_of(parsed, "sliding_window_view", axis, begin)?;
            let of = left[axis].clone();
            let why = |arithmetic: &A| {
                let [of, size] = [&of, size].map(|number| arithmetic.text(number));
                format!("axis {axis} has size {of}: there is no window of {size}")
            };
            self.need(parsed, (size, &zero), false, begin, &why)?;
            self.need(parsed, (&of, size), false, begin, &why)?;
            let less = self.operate(Operator::Sub, size, &one, begin)?;
            let less = self.larger(&less, &zero, begin)?;
            left[axis] = self.operate(Operator::Sub, &left[axis], &less, begin)?;
            along.push((axis, size.clone(), 1));
        }
        let call = if let [(axis, ..)] = along[..] { Call::Unfold(axis as u8) } else { Call::Windows };
        Ok((vec![self.windows(&shape, &along, begin)?], call))
    }

    /// Windows of some axes, `(axis, size, step)` each: an axis becomes that of where they begin, and one of their elements
    /// comes behind all others.
    fn windows(
        &mut self,
        shape: &[Num<A>],
        along: &[(usize, Num<A>, i64)],
        begin: usize,
    ) -> Result<MovementOf<Num<A>>, ParseError> {
        let (mut to, mut by) = (shape.to_vec(), self.row_major(shape, begin)?.to_vec());
        let one = Num::<A>::from(1);
        for (axis, size, step) in along {
            let (stride, step) = (by[*axis].clone(), Num::<A>::from(*step));
            // There is a window wherever one fits; one of no elements fits behind the last, too.
            let starts = match self.arithmetic.at_least(size, &one) {
                Some(true) => self.operate(Operator::Sub, &to[*axis], size, begin)?,
                Some(false) => to[*axis].clone(),
                None => return Err(self.not_known(size, &one, begin)),
            };
            let steps = self.arithmetic.operate(Operator::Div, &starts, &step);
            let Some(steps) = steps.map_err(|message| self.wrong(begin, message))? else {
                let [starts, step] = [&starts, &step].map(|number| self.shown(number));
                let message = format!(
                    "how many windows there are, {starts} // {step} + 1, is not known: say a multiple of {step}"
                );
                return Err(self.wrong(begin, message));
            };
            to[*axis] = self.operate(Operator::Add, &steps, &one, begin)?;
            to.push(size.clone());
            by.push(stride);
        }
        for (axis, _, step) in along {
            // Where that is out of range there is one window, and its stride is of no consequence.
            let far = self.arithmetic.operate(Operator::Mul, &by[*axis], &Num::<A>::from(*step));
            if let Ok(Some(far)) = far {
                by[*axis] = far;
            }
        }
        Ok(MovementOf::AsStrided(to.into(), by.into(), Num::<A>::from(0)))
    }

    /// `(repeats, axis)`: each element of an axis so many times, copied; without an axis those of the array as one axis.
    fn interleaved(&mut self, parsed: &mut Parsed<Num<A>>, begin: usize) -> Result<Ops<A>, ParseError> {
        let (mut repeats, mut axis) = (None, None);
        self.fields("`(`", &["repeats", "axis|dim"], |reader, field| {
            let number = reader.number("a number", Role::Other)?;
            *[&mut repeats, &mut axis][field] = Some(number);
            Ok(())
        })?;
        let Some(repeats) = repeats else { return Err(self.expected("how often elements are repeated")) };
        self.advance();
        let mut shape = self.shape(parsed, begin)?;
        if axis.is_none() {
            shape = vec![self.numel("repeat", &shape, begin)?].into();
        }
        let axis = axis.map(|axis| self.whole(&axis, "an axis", begin)).transpose()?;
        let axis = resolve_axis("repeat", axis.unwrap_or(0), shape.len()).map_err(|err| self.refused(begin, &err))?;
        let (before, size, after) = (&shape[..axis], shape[axis].clone(), &shape[axis + 1..]);
        let joined = self.operate(Operator::Mul, &size, &repeats, begin)?;
        let apart = [size.clone(), Num::<A>::from(1)];
        Ok(vec![
            MovementOf::Reshape([before, &apart, after].concat().into()),
            MovementOf::Expand([before, &[size, repeats], after].concat().into()),
            MovementOf::Reshape([before, &[joined], after].concat().into()),
            MovementOf::Copy,
        ])
    }

    /// `(.., C r r, H, W)` as `(.., C, H r, W r)`, or back.
    fn pixels(&mut self, shape: &[Num<A>], factor: &Num<A>, shuffle: bool) -> Result<Ops<A>, String> {
        let [rest @ .., channels, height, width] = shape else {
            return Err("expected at least the three axes of channels, rows and columns".into());
        };
        let known = |number: Option<Num<A>>| number.ok_or_else(|| "the size is not known".to_owned());
        let square = known(self.arithmetic.operate(Operator::Mul, factor, factor)?)?;
        let is_positive = self.arithmetic.at_least(factor, &Num::<A>::from(1)) == Some(true);
        let mut parts = |size: &Num<A>, by: &Num<A>| -> Result<Option<Num<A>>, String> {
            if !is_positive {
                return Ok(None);
            }
            let rest = self.arithmetic.operate(Operator::Modulo, size, by)?;
            let quotient = self.arithmetic.operate(Operator::Div, size, by)?;
            Ok(quotient.filter(|_| rest.is_some_and(|rest| rest.integer() == Some(0))))
        };
        let before = 0..rest.len() as i64;
        let axis = |place: usize| (rest.len() + place) as i64;
        let (apart, order, joined) = if shuffle {
            let Some(channels) = parts(channels, &square)? else {
                let [channels, factor] = [channels, factor].map(|number| self.shown(number));
                return Err(format!("{channels} channels are not a multiple of {factor} * {factor}"));
            };
            let mut of = |a: &Num<A>| known(self.arithmetic.operate(Operator::Mul, a, factor)?);
            let to = [channels.clone(), of(height)?, of(width)?];
            ([channels, factor.clone(), factor.clone(), height.clone(), width.clone()], [0, 3, 1, 4, 2], to)
        } else {
            let (Some(rows), Some(columns)) = (parts(height, factor)?, parts(width, factor)?) else {
                let [height, width, factor] = [height, width, factor].map(|number| self.shown(number));
                return Err(format!("{height} rows and {width} columns are not multiples of {factor}"));
            };
            let joined = known(self.arithmetic.operate(Operator::Mul, channels, &square)?)?;
            let to = [joined, rows.clone(), columns.clone()];
            ([channels.clone(), rows, factor.clone(), columns, factor.clone()], [0, 2, 4, 1, 3], to)
        };
        Ok(vec![
            MovementOf::Reshape([rest, &apart].concat().into()),
            MovementOf::Permute(before.chain(order.map(axis)).collect()),
            MovementOf::Reshape([rest, &joined].concat().into()),
        ])
    }
}

/// That a size is not known to be a multiple of a number, and how to say that it is.
#[cold]
pub(super) fn undivided_axis(axis: usize, size: &str, by: &str) -> String {
    let is_name = |text: &str| text.chars().all(|c| c.is_alphanumeric() || c == '_') && !text.is_empty();
    let quotient = size.to_ascii_lowercase();
    let quotient = if quotient == size || !is_name(size) { "k".into() } else { quotient };
    let by = if is_name(by) { by.to_owned() } else { format!("({by})") };
    format!(
        "axis {axis} has size {size}, and whether {by} divides it is not known: say that `{size} = {by}*{quotient}`"
    )
}

/// Whether one of NumPy's orders stands here.
fn is_order(tokens: &Tokens<'_>) -> bool {
    tokens.token == Token::Text && matches!(tokens.word().trim_matches(['"', '\'']), "C" | "F" | "A" | "K")
}

/// Whether a type stands here.
pub(super) fn is_type(tokens: &Tokens<'_>) -> bool {
    let word = tokens.word();
    let is_path = library(word) != Methods::Unknown && tokens.second() == Token::Dot;
    tokens.token == Token::Text
        || (tokens.token == Token::Name && Method::takes_type(if is_path { tokens.third().1 } else { word }))
}
