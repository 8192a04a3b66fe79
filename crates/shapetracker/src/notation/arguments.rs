//! What stands between the parentheses of a call: numbers, axes, pairs, slices, and arguments with names.

use shapetracker_base::text::{ParseError, Token, Tokens, closing};

use super::arithmetic::{Arithmetic, Role};
use super::methods::method_names;
use super::numbers::DEEPEST;
use super::parser::{Num, Nums, Pairs, Reader, unknown_operation};
use crate::number::List as _;
use crate::operation::{Slice, Takes};
use crate::{Dims, MAX_RANK, MovementKind, MovementOf, PerAxis};

/// The names that others give to all sizes or all axes of an operation, as in `flip(dims=(0, 1))`.
pub(super) const ARGUMENTS: [&str; 6] = ["shape", "size", "dim", "dims", "axis", "axes"];

/// A shape, strides and perhaps an offset.
pub(super) type Strided<A> = (Nums<A>, Nums<A>, Option<Num<A>>);

impl<'a, A: Arithmetic> Reader<'a, '_, A> {
    /// The complaint about a name that no operation has.
    pub(super) fn unknown_method(&self, name: &str) -> ParseError {
        self.unknown(unknown_operation(name), method_names())
    }

    /// One of our own operations, after its name.
    pub(super) fn operation(&mut self, name: &str, kind: MovementKind) -> Result<MovementOf<Num<A>>, ParseError> {
        if self.opened.is_none() && self.token != Token::Open(b'(') {
            return Err(self.expected(&format!("`(` after `{name}`")));
        }
        self.taken(kind.takes())
    }

    /// What stands between the parentheses of an operation, made into the operation.
    fn taken(&mut self, takes: Takes<Num<A>>) -> Result<MovementOf<Num<A>>, ParseError> {
        match takes {
            Takes::Sizes(make) => self.number_arguments("a size").map(make),
            Takes::Integers(what, make) => self.integer_arguments(what).map(make),
            Takes::Pads(make) => self.pads().map(make),
            Takes::Ranges(make) => self.ranges().map(make),
            Takes::AxesOrBooleans(axes, booleans) => self.axes_or_booleans(axes, booleans),
            Takes::AxesOrAll(_, all) if self.first_argument() == Token::Close(b')') => self.nothing().map(|()| all),
            Takes::AxesOrAll(axes, _) => self.integer_arguments("an axis").map(axes),
            Takes::Axis(make) => self.some_axes("one axis").map(|[axis]| make(axis)),
            Takes::TwoAxes(make) => self.some_axes("two axes").map(|[a, b]| make(a, b)),
            Takes::Slices(make) => self.slices().map(make),
            Takes::Nothing(op) => self.nothing().map(|()| op),
            Takes::Strided(make) => {
                let (shape, strides, offset) = self.strided_arguments()?;
                Ok(make(shape, strides, offset.unwrap_or_else(|| A::Number::from(0))))
            }
        }
    }

    /// Parentheses with nothing between them.
    pub(super) fn nothing(&mut self) -> Result<(), ParseError> {
        let close = self.open("`(`")?;
        self.close(close)
    }

    /// As many axes as there must be.
    fn some_axes<const N: usize>(&mut self, what: &str) -> Result<[i64; N], ParseError> {
        let begin = self.span.start;
        let axes = self.integer_arguments("an axis")?;
        <[i64; N]>::try_from(&axes[..])
            .map_err(|_| self.error_at(begin..self.last, format!("expected {what}, found {}", axes.len())))
    }

    fn pads(&mut self) -> Result<Pairs<A>, ParseError> {
        let mut pads = Pairs::<A>::default();
        self.pair_arguments(&mut |reader| {
            pads.push(if reader.at_word("None") {
                reader.advance();
                (A::Number::from(0), A::Number::from(0))
            } else {
                reader.pair("a pair `(before, after)`")?
            });
            Ok(())
        })?;
        Ok(pads)
    }

    fn ranges(&mut self) -> Result<Pairs<A>, ParseError> {
        let mut ranges = Pairs::<A>::default();
        self.pair_arguments(&mut |reader| {
            ranges.push(reader.pair("a range `(begin, end)`")?);
            Ok(())
        })?;
        Ok(ranges)
    }

    fn axes_or_booleans(
        &mut self,
        of_axes: fn(Dims) -> MovementOf<Num<A>>,
        of_booleans: fn(PerAxis<bool>) -> MovementOf<Num<A>>,
    ) -> Result<MovementOf<Num<A>>, ParseError> {
        let (mut axes, mut each) = (Dims::new(), PerAxis::new());
        self.arguments(&mut |reader| {
            match reader.boolean() {
                Some(reversed) if axes.is_empty() => {
                    reader.advance();
                    each.push(reversed);
                }
                None if !each.is_empty() => return Err(reader.expected("`True` or `False`")),
                _ => axes.push(reader.integer("an axis")?),
            }
            Ok(())
        })?;
        Ok(if each.is_empty() { of_axes(axes) } else { of_booleans(each) })
    }

    fn slices(&mut self) -> Result<Vec<Slice<Num<A>>>, ParseError> {
        let mut slices = Vec::new();
        self.arguments(&mut |reader| {
            let begin = reader.bound()?;
            slices.push(reader.slice_from(begin)?);
            Ok(())
        })?;
        Ok(slices)
    }

    /// `:3` or `:3:2`: the rest of a slice after its begin.
    pub(super) fn slice_from(&mut self, begin: Option<Num<A>>) -> Result<Slice<Num<A>>, ParseError> {
        if !self.take(Token::Colon) {
            let what = if begin.is_none() { "a slice such as `1:3`, `::-1` or `:`" } else { "`:`" };
            return Err(self.expected(what));
        }
        let end = self.bound()?;
        let mut step = 1;
        if self.take(Token::Colon) && self.at_bound() {
            step = self.integer("a step")?;
        }
        Ok((begin, end, step))
    }

    /// A bound of a slice, which may be missing.
    pub(super) fn bound(&mut self) -> Result<Option<Num<A>>, ParseError> {
        if self.at_bound() { self.number("a bound", Role::Other).map(Some) } else { Ok(None) }
    }

    /// Whether a number stands here, and not what follows one that is missing.
    fn at_bound(&self) -> bool {
        self.at_number()
            || match self.token {
                Token::Name => self.is_size_name(self.word()),
                Token::Open(b'(') => true,
                _ => false,
            }
    }

    /// A shape, strides and perhaps an offset.
    pub(super) fn strided_arguments(&mut self) -> Result<Strided<A>, ParseError> {
        const FIELDS: [&str; 3] = ["shape|size", "strides|stride", "offset|storage_offset"];
        let (mut shape, mut strides, mut offset) = (None, None, None);
        self.fields("`(`", &FIELDS, &mut |reader, field| {
            match field {
                0 => shape = Some(reader.numbers("a size")?),
                1 => strides = Some(reader.strides()?),
                _ => offset = Some(reader.number("an offset", Role::Other)?),
            }
            Ok(())
        })?;
        let shape = shape.ok_or_else(|| self.expected("a shape such as `(2, 3)`"))?;
        let strides = strides.ok_or_else(|| self.expected("strides such as `(3, 1)`"))?;
        self.advance();
        Ok((shape, strides, offset))
    }

    /// Arguments with or without names, as far as the parenthesis that closes them; `read` gets the number of the field
    /// that its argument is for. A field may have several names.
    pub(super) fn fields(
        &mut self,
        what: &str,
        fields: &[&'static str],
        read: &mut dyn FnMut(&mut Self, usize) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let close = self.open(what)?;
        let mut given = 0;
        while self.token != close {
            let field = self.field(fields, &mut given)?;
            read(self, field)?;
            self.comma_or(close)?;
        }
        Ok(())
    }

    /// Which field the next argument is for: the one that is named, or else the first one not given. `given` has a bit
    /// a field.
    fn field(&mut self, fields: &[&'static str], given: &mut u32) -> Result<usize, ParseError> {
        let name_of = |field: &'static str| field.split('|').next().unwrap_or_default();
        let first_name = |field: &'static str| format!("`{}`", name_of(field));
        let field = if self.at_argument_name() {
            let word = self.word();
            let Some(field) = fields.iter().position(|field| field.split('|').any(|name| name == word)) else {
                let names: Vec<String> = fields.iter().map(|field| first_name(field)).collect();
                return Err(self.expected(&match &names[..] {
                    [] => "`)`".into(),
                    [one] => format!("a value for {one}"),
                    _ => format!("one of {}", names.join(", ")),
                }));
            };
            if *given & (1 << field) != 0 {
                return Err(self.error_at(self.span.clone(), format!("`{word}` is given twice")));
            }
            self.advance();
            self.advance();
            field
        } else {
            let field = given.trailing_ones() as usize;
            if field == fields.len() {
                return Err(self.expected("`)`"));
            }
            if *given >> field != 0 {
                return Err(self.expected(&format!("the name of an argument, such as `{}=`", name_of(fields[field]))));
            }
            field
        };
        *given |= 1 << field;
        Ok(field)
    }

    /// The numbers between the parentheses of an operation.
    pub(super) fn number_arguments(&mut self, what: &str) -> Result<Nums<A>, ParseError> {
        let mut numbers = Nums::<A>::default();
        self.arguments(&mut |reader| reader.sizes(what, Role::Other, &mut numbers))?;
        Ok(numbers)
    }

    /// The whole numbers between the parentheses of an operation, such as axes.
    pub(super) fn integer_arguments(&mut self, what: &str) -> Result<Dims, ParseError> {
        let (mut integers, mut numbers) = (Dims::new(), Nums::<A>::default());
        self.arguments(&mut |reader| {
            let begin = reader.span.start;
            reader.sizes(what, Role::Other, &mut numbers)?;
            for number in &numbers[integers.len()..] {
                integers.push(reader.whole(number, what, begin)?);
            }
            Ok(())
        })?;
        Ok(integers)
    }

    /// What stands between the parentheses of an operation, perhaps in a tuple or a list of its own, which may have the
    /// name that others give it.
    fn arguments(&mut self, item: &mut dyn FnMut(&mut Self) -> Result<(), ParseError>) -> Result<(), ParseError> {
        let close = self.open("`(`")?;
        if ARGUMENTS.contains(&self.word()) && self.at_argument_name() {
            self.advance();
            self.advance();
        }
        let in_a_tuple = self.at_tuple() || self.is_alone();
        self.items(close, in_a_tuple, item)
    }

    /// The same where the items are pairs: a pair alone is not a list of its own.
    pub(super) fn pair_arguments(
        &mut self,
        item: &mut dyn FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let close = self.open("`(`")?;
        if ["pad_width", "padding", "arg"].contains(&self.word()) && self.at_argument_name() {
            self.advance();
            self.advance();
        }
        let in_a_tuple = matches!(self.token, Token::Open(_)) && self.holds_a_tuple();
        self.items(close, in_a_tuple, item)
    }

    /// Whether what opens here is a tuple or a list rather than a number in parentheses: whether it is in brackets, empty, or
    /// has a comma or a colon of its own.
    pub(super) fn at_tuple(&self) -> bool {
        let Token::Open(open) = self.token else { return false };
        let mut ahead = self.tokens.clone();
        ahead.advance();
        open == b'[' || matches!(ahead.token, Token::Close(_)) || has_comma(&mut ahead)
    }

    /// Whether what opens here is all that there is, but for arguments with names.
    fn is_alone(&self) -> bool {
        let Token::Open(_) = self.token else { return false };
        let mut behind = behind(&self.tokens);
        let ends = behind.token == Token::Comma && {
            behind.advance();
            matches!(behind.token, Token::Close(_)) || behind.at_argument_name()
        };
        ends || matches!(behind.token, Token::Close(_))
    }

    /// Whether what opens here has a tuple for its first item, or nothing.
    fn holds_a_tuple(&self) -> bool {
        let mut ahead = self.tokens.clone();
        ahead.advance();
        match ahead.token {
            Token::Open(b'[') | Token::Close(_) => true,
            Token::Open(_) => {
                ahead.advance();
                has_comma(&mut ahead)
            }
            _ => ahead.at_word("None"),
        }
    }

    /// The first item of what opens here that is a tuple, or a number in parentheses by itself.
    pub(super) fn tuple_inside(&self) -> Option<Tokens<'a>> {
        let mut ahead = self.tokens.clone();
        ahead.advance();
        loop {
            match ahead.token {
                Token::Open(_) if is_item(&ahead) => return Some(ahead),
                Token::Close(_) | Token::End => return None,
                _ => {}
            }
            // As far as the next item.
            loop {
                match ahead.token {
                    Token::Open(_) => ahead = behind(&ahead),
                    Token::Comma => {
                        ahead.advance();
                        break;
                    }
                    Token::Close(_) | Token::End => return None,
                    _ => ahead.advance(),
                }
            }
        }
    }

    /// `(2, 3)` or `[2, 3]`: the numbers in it.
    pub(super) fn numbers(&mut self, what: &str) -> Result<Nums<A>, ParseError> {
        self.numbers_as(what, Role::Other)
    }

    /// The same for strides.
    pub(super) fn strides(&mut self) -> Result<Nums<A>, ParseError> {
        self.numbers_as("a stride", Role::Stride)
    }

    fn numbers_as(&mut self, what: &str, role: Role) -> Result<Nums<A>, ParseError> {
        let mut numbers = Nums::<A>::default();
        if self.at_sizes() {
            self.sizes(what, role, &mut numbers)?;
            return Ok(numbers);
        }
        self.list("a tuple such as `(2, 3)`", &mut |reader| reader.sizes(what, role, &mut numbers))?;
        Ok(numbers)
    }

    /// `((0, 2), (1, 3))`: the ranges in it.
    pub(super) fn mask(&mut self) -> Result<Pairs<A>, ParseError> {
        let mut ranges = Pairs::<A>::default();
        self.list("a tuple of ranges such as `((0, 2), (1, 3))`", &mut |reader| {
            ranges.push(reader.pair("a range `(begin, end)`")?);
            Ok(())
        })?;
        Ok(ranges)
    }

    /// `(1, 2)` or `[1, 2]`.
    pub(super) fn pair(&mut self, what: &str) -> Result<(Num<A>, Num<A>), ParseError> {
        let close = self.open(what)?;
        let first = self.number("a number", Role::Other)?;
        if !self.take(Token::Comma) {
            return Err(self.expected(&format!("`,` and the second number of {what}")));
        }
        let second = self.number("a number", Role::Other)?;
        self.take(Token::Comma);
        self.close(close)?;
        Ok((first, second))
    }

    /// A parenthesis or a bracket, items with commas between them, and the closing one.
    pub(super) fn list(
        &mut self,
        what: &str,
        item: &mut dyn FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let close = self.open(what)?;
        self.items(close, false, item)
    }

    /// Items with commas between them and what closes them, perhaps in a tuple or a list of their own.
    fn items(
        &mut self,
        close: Token,
        in_a_tuple: bool,
        item: &mut dyn FnMut(&mut Self) -> Result<(), ParseError>,
    ) -> Result<(), ParseError> {
        let inner = if in_a_tuple { self.open("`(`")? } else { close };
        let mut count = 0;
        while self.token != inner {
            if count == MAX_RANK {
                return Err(self.expected(&format!("at most {MAX_RANK} axes")));
            }
            item(self)?;
            count += 1;
            self.comma_or(inner)?;
        }
        self.advance();
        if in_a_tuple {
            self.take(Token::Comma);
            self.close(close)?;
        }
        Ok(())
    }

    /// The boolean that the next token is.
    pub(super) fn boolean(&self) -> Option<bool> {
        match self.word() {
            "True" | "true" => Some(true),
            "False" | "false" => Some(false),
            _ => None,
        }
    }

    /// The token after the parenthesis that opens the arguments.
    pub(super) fn first_argument(&self) -> Token {
        if self.opened.is_some() { self.token } else { self.second() }
    }

    /// Goes past an opening parenthesis or bracket and says how it closes.
    pub(super) fn open(&mut self, what: &str) -> Result<Token, ParseError> {
        if let Some(close) = self.opened.take() {
            return Ok(close);
        }
        let Token::Open(_) = self.token else {
            return Err(self.expected(what));
        };
        self.tokens.open(what)
    }

    pub(super) fn close(&mut self, close: Token) -> Result<(), ParseError> {
        if self.take(close) {
            Ok(())
        } else if self.at_argument_name() {
            Err(self.expected(&format!("{} and no argument with a name", closing(close))))
        } else {
            Err(self.not_closed(closing(close), close))
        }
    }

    /// Goes past a comma, and demands one unless the list closes.
    pub(super) fn comma_or(&mut self, close: Token) -> Result<(), ParseError> {
        if self.take(Token::Comma) || self.token == close {
            return Ok(());
        }
        Err(self.not_closed(&format!("`,` or {}", closing(close)), close))
    }
}

/// Whether a comma or a colon stands between here and what closes here.
fn has_comma(tokens: &mut Tokens<'_>) -> bool {
    let mut depth = 0_usize;
    loop {
        match tokens.token {
            Token::Close(_) if depth == 0 => return false,
            Token::End => return false,
            Token::Close(_) => depth -= 1,
            Token::Open(_) => depth += 1,
            Token::Comma | Token::Colon if depth == 0 => return true,
            _ => {}
        }
        tokens.advance();
    }
}

/// What stands behind that which opens here, once it is closed.
fn behind<'a>(tokens: &Tokens<'a>) -> Tokens<'a> {
    let (mut ahead, mut depth) = (tokens.clone(), 0_usize);
    loop {
        match ahead.token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth -= 1,
            Token::End => return ahead,
            _ => {}
        }
        ahead.advance();
        if depth == 0 {
            return ahead;
        }
    }
}

/// Whether what opens here is a tuple, or a number in parentheses: an item by itself, and no sum or a part of one. What nests deeper
/// than tuples of sums may is refused whatever it is, and is not looked through at each of its levels for that.
pub(super) fn is_item(tokens: &Tokens<'_>) -> bool {
    let (mut ahead, mut depth, mut has_comma, mut operates) = (tokens.clone(), 0_usize, false, false);
    loop {
        match ahead.token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth -= 1,
            Token::Comma => has_comma = true,
            Token::Symbol => operates |= !opens(ahead.text, ahead.last),
            Token::End => break,
            _ => {}
        }
        ahead.advance();
        if depth == 0 {
            break;
        }
        if depth > MAX_RANK + DEEPEST {
            return true;
        }
    }
    (has_comma || !operates) && ahead.token != Token::Symbol
}

/// Whether something opens right before a byte of a text.
fn opens(text: &str, end: usize) -> bool {
    text[..end].ends_with(['(', '['])
}
