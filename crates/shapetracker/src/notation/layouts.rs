//! Types that say a layout: `memref<2x3xf32, strided<[1, 2], offset: 4>>` of MLIR, `f32[2,3]{0,1}` of XLA, and
//! `Layout<Shape<_2,_3>, Stride<_1,_2>>` of CuTe in C++.

use shapetracker_base::text::{ParseError, Token, quoted};

use super::ChainStartOf;
use super::arithmetic::{Known, Operator, Role};
use super::foreign::Nested;
use super::parsed::Parsed;
use super::parser::{Num, Nums, Reader};
use crate::MAX_RANK;
use crate::number::List as _;

/// What CuTe calls nested tuples, and what makes them.
const TUPLES: [&str; 6] = ["Shape", "Stride", "make_shape", "make_stride", "make_tuple", "tuple"];

impl<A: Known> Reader<'_, '_, A> {
    /// Whether a type or a call begins here that says a layout.
    pub(super) fn at_layout_type(&self) -> bool {
        if self.token != Token::Name || self.named_array().is_some() {
            return false;
        }
        let opens = |reader: &Self| {
            let mut ahead = reader.tokens.clone();
            ahead.advance();
            ahead.token == Token::Open(b'(') || ahead.is_symbol("<")
        };
        match self.word() {
            "memref"
            | "tensor"
            | "vector"
            | "Layout"
            | "make_layout"
            | "Swizzle"
            | "Sw"
            | "ComposedLayout"
            | "make_composed_layout"
            | "composition" => opens(self),
            "cute" => self.second() == Token::Colon,
            word => self.second() == Token::Open(b'[') && is_element_type(word),
        }
    }

    pub(super) fn layout_type(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<ChainStartOf<Num<A>>, ParseError> {
        self.past_namespace();
        match self.word() {
            "memref" | "tensor" | "vector" => self.memref(),
            "Layout" => self.cute_layout(parsed),
            "make_layout" => self.cute_layout(parsed),
            "Swizzle" | "Sw" | "ComposedLayout" | "make_composed_layout" | "composition" => {
                let message = "a swizzle combines bits of the address by exclusive or, which no strides say: write its \
                               index as an expression over variables";
                Err(self.error_at(self.span.clone(), message.to_owned()))
            }
            _ if self.second() == Token::Open(b'[') => self.xla(),
            _ => Err(self.expected("`Layout<...>` or `make_layout(...)`")),
        }
    }

    /// Goes past `cute::`.
    fn past_namespace(&mut self) {
        if self.at_word("cute") && self.second() == Token::Colon {
            for _ in 0..3 {
                self.advance();
            }
        }
    }

    fn symbol(&mut self, symbol: &str) -> Result<(), ParseError> {
        if !self.is_symbol(symbol) {
            return Err(self.expected(&format!("`{symbol}`")));
        }
        self.advance();
        Ok(())
    }

    /// Complains of a size that is known only when a program runs.
    fn not_dynamic(&self) -> Result<(), ParseError> {
        if self.is_symbol("?") {
            let message = "`?` is known only when the program runs: write a number in its place";
            return Err(self.error_at(self.span.clone(), message.to_owned()));
        }
        Ok(())
    }

    /// Goes on behind so many bytes of what begins at a place. MLIR has signs that no other text form has, and `#` does not
    /// begin a comment there.
    fn go_on_at(&mut self, position: usize) {
        self.tokens.go_on_at(position);
    }

    /// Goes past what stands between `<` and `>`, at the first of which the parser is.
    fn past_angles(&mut self) -> Result<(), ParseError> {
        let inside = self.span.end;
        let close = inside + mlir_part(&self.text[inside..], false);
        if !self.text[close..].starts_with('>') {
            self.go_on_at(close);
            return Err(self.expected("`>`"));
        }
        self.go_on_at(close + 1);
        Ok(())
    }

    /// The attribute of a `memref` or `tensor` that begins at `#` behind a comma: the space of a memory says nothing of the
    /// layout, and is passed over. `is_later` says that it follows the layout.
    fn attribute(&mut self, at: usize, is_tensor: bool, is_later: bool) -> Result<(), ParseError> {
        let len = mlir_part(&self.text[at..], true);
        let attribute = self.text[at..at + len].trim_end();
        let name = attribute.split('<').next().unwrap_or_default();
        let message = if is_tensor {
            format!(
                "the encoding {} of a tensor is not read, and what it says of the layout is not known",
                quoted(name)
            )
        } else if !name.contains('.') && !is_later {
            // An alias stands for a layout as well as for a space.
            format!(
                "{} stands for an attribute that is defined elsewhere: write a layout as strides, as in \
                 `strided<[1, 2], offset: 4>`, and the space of a memory as a number, or leave it away",
                quoted(name)
            )
        } else if ["layout", "affine", "map", "tile", "swizzle"].iter().any(|word| name.contains(word)) {
            let message = "is not read as a layout: write the strides, as in `strided<[1, 2], offset: 4>`";
            format!("{} {message}", quoted(name))
        } else {
            self.go_on_at(at + len);
            return Ok(());
        };
        Err(self.error_at(at..at + attribute.len(), message))
    }

    /// `memref<2x3xf32>`, `memref<2x3xf32, strided<[1, 2], offset: 4>, 1>`.
    fn memref(&mut self) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let begin = self.span.start;
        let is_tensor = !self.at_word("memref");
        self.advance();
        self.symbol("<")?;
        let mut shape = Nums::<A>::default();
        let mut word = self.word();
        self.not_dynamic()?;
        // Sizes and the type of the elements are one word: `2x3xf32`.
        if let Token::NotWhole = self.token {
            while let Some((size, rest)) = word.split_once('x') {
                if !size.bytes().all(|byte| byte.is_ascii_digit()) || size.is_empty() {
                    break;
                }
                let Ok(size) = size.parse::<i64>() else {
                    return Err(self.expected("sizes within the range of 64-bit integers"));
                };
                if shape.len() == MAX_RANK {
                    return Err(self.expected(&format!("at most {MAX_RANK} axes")));
                }
                shape.push(Num::<A>::from(size));
                word = rest;
            }
        }
        if !self.is_symbol("!") {
            if !matches!(self.token, Token::NotWhole | Token::Name) || word.starts_with(|c: char| c.is_ascii_digit()) {
                return Err(self.expected("sizes and the type of the elements, such as `2x3xf32`"));
            }
            self.advance();
        }
        // The type of the elements: `f32`, `complex<f32>`, `vector<4xf32>`, and a dialect's, `!llvm.ptr<3>`.
        if word.is_empty() || word == "!" {
            self.not_dynamic()?;
            if !self.is_symbol("!") {
                return Err(self.expected("the type of the elements"));
            }
            self.advance();
            while self.take(Token::Name) && self.take(Token::Dot) {}
        }
        if self.is_symbol("<") {
            self.past_angles()?;
        }
        let (mut strided, mut attributes) = (None, 0);
        while self.token == Token::Comma {
            let behind = &self.text[self.span.end..];
            let at = self.text.len() - behind.trim_start().len();
            attributes += 1;
            if self.text[at..].starts_with('#') {
                self.attribute(at, is_tensor, attributes > 1)?;
                continue;
            }
            self.advance();
            if self.at_word("strided") {
                self.advance();
                self.symbol("<")?;
                let close = self.open("`[`")?;
                let (mut strides, mut offset) = (Nums::<A>::default(), Num::<A>::from(0));
                while self.token != close {
                    self.not_dynamic()?;
                    if strides.len() == MAX_RANK {
                        return Err(self.expected(&format!("at most {MAX_RANK} axes")));
                    }
                    strides.push(self.number("a stride", Role::Stride)?);
                    self.comma_or(close)?;
                }
                self.advance();
                if self.take(Token::Comma) {
                    if !self.at_word("offset") {
                        return Err(self.expected("`offset`"));
                    }
                    self.advance();
                    if !self.take(Token::Colon) {
                        return Err(self.expected("`:`"));
                    }
                    self.not_dynamic()?;
                    offset = self.number("an offset", Role::Other)?;
                }
                self.symbol(">")?;
                strided = Some((strides, offset));
            } else if self.at_word("affine_map") {
                let message = "an affine map is not read: write the strides, as in `strided<[1, 2], offset: 4>`";
                return Err(self.error_at(self.span.clone(), message.to_owned()));
            } else if !self.take(Token::Text) {
                // The space of the memory is a text, or a number, perhaps of a type: `1 : i32`.
                self.number("`strided<[...]>` or the number of a memory space", Role::Other)?;
                if self.take(Token::Colon) && !self.take(Token::Name) {
                    return Err(self.expected("the type of the number"));
                }
            }
        }
        self.symbol(">")?;
        match strided {
            None => Ok(ChainStartOf::Shape(shape)),
            Some((strides, offset)) => {
                Ok(ChainStartOf::Views(vec![self.checked_view(begin, &shape, &strides, offset, None)?]))
            }
        }
    }

    /// `f32[2,3]{0,1}`: in braces the axes, the one that runs fastest first.
    fn xla(&mut self) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let begin = self.span.start;
        self.advance();
        let shape = self.numbers("a size")?;
        if !self.is_symbol("{") {
            return Ok(ChainStartOf::Shape(shape));
        }
        self.advance();
        let one = Num::<A>::from(1);
        let mut strides = vec![None; shape.len()];
        let mut product = one.clone();
        let mut given = 0;
        while !self.is_symbol("}") {
            if self.token == Token::Colon {
                let message =
                    "tiles are not strides: write `{..}` with the order of the axes alone, or the tiles as axes";
                return Err(self.error_at(self.span.clone(), message.to_owned()));
            }
            let span = self.span.clone();
            let axis = self.integer("an axis")?;
            let at = usize::try_from(axis).ok().filter(|&at| strides.get(at) == Some(&None));
            let Some(at) = at else {
                let message = format!("expected each of the {} axes once", shape.len());
                return Err(self.error_at(span, message));
            };
            strides[at] = Some(product.clone());
            product = self.times(&product, &shape[at]);
            given += 1;
            if !self.take(Token::Comma) && !self.is_symbol("}") && self.token != Token::Colon {
                return Err(self.expected("`,` or `}`"));
            }
        }
        if given != shape.len() {
            return Err(self.expected(&format!("each of the {} axes once", shape.len())));
        }
        self.advance();
        let strides: Nums<A> = strides.into_iter().flatten().collect();
        Ok(ChainStartOf::Views(vec![self.checked_view(begin, &shape, &strides, Num::<A>::from(0), None)?]))
    }

    /// `Layout<Shape<_2,_3>, Stride<_1,_2>>`, `make_layout(make_shape(2, 3), LayoutRight{})`. Without strides the modes lie
    /// one after the other, the leftmost fastest.
    fn cute_layout(&mut self, parsed: &mut Parsed<Num<A>>) -> Result<ChainStartOf<Num<A>>, ParseError> {
        let begin = self.span.start;
        self.advance();
        let close = if self.is_symbol("<") { ">" } else { ")" };
        self.advance();
        let shape = self.cute_tuple("a size")?;
        let mut begin_strides = self.span.start;
        let mut strides = None;
        let mut right = false;
        if self.take(Token::Comma) {
            begin_strides = self.span.start;
            self.past_namespace();
            match self.word() {
                "LayoutLeft" | "GenColMajor" | "LayoutRight" | "GenRowMajor" => {
                    right = self.word().contains("R");
                    self.advance();
                    self.past_braces()?;
                }
                _ => strides = Some(self.cute_tuple("a stride")?),
            }
        }
        if self.word() != close {
            return Err(self.expected(&format!("`{close}`")));
        }
        self.advance();
        self.past_braces()?;
        let strides = strides.unwrap_or_else(|| {
            let mut items = shape.items.clone();
            let mut product = Num::<A>::from(1);
            let mut each = |stride: &mut Num<A>| {
                let size = std::mem::replace(stride, product.clone());
                product = self.times(&product, &size);
            };
            if right {
                items.iter_mut().rev().for_each(|item| item.iter_mut().rev().for_each(&mut each));
            } else {
                items.iter_mut().for_each(|item| item.iter_mut().for_each(&mut each));
            }
            Nested { items, form: shape.form.clone() }
        });
        self.layout(begin, begin_strides, shape, strides, parsed)
    }

    /// The stride of the next axis outwards of one of a size. Where it is out of range the shape is refused for its number of
    /// elements, or there are none.
    fn times(&mut self, stride: &Num<A>, size: &Num<A>) -> Num<A> {
        if self.arithmetic.equal(size, &Num::<A>::from(0)) == Some(true) {
            return stride.clone();
        }
        let product = self.arithmetic.operate(Operator::Mul, stride, size);
        product.ok().flatten().unwrap_or_else(|| stride.clone())
    }

    /// `{}`, which makes a value of a type.
    fn past_braces(&mut self) -> Result<(), ParseError> {
        if self.is_symbol("{") {
            self.advance();
            self.symbol("}")?;
        }
        Ok(())
    }

    /// Numbers in nested tuples: `Shape<Shape<_2,_4>,_8>`, `make_shape(Int<2>{}, 3)`, `_8`.
    fn cute_tuple(&mut self, what: &str) -> Result<Nested<Num<A>>, ParseError> {
        let mut nested = Nested::<Num<A>> { items: Vec::new(), form: String::new() };
        let (mut closing, mut numbers) = (Vec::new(), 0);
        loop {
            self.past_namespace();
            if TUPLES.contains(&self.word()) {
                self.advance();
                let close = if self.is_symbol("<") { ">" } else { ")" };
                if close == ")" && self.token != Token::Open(b'(') {
                    return Err(self.expected("`<` or `(`"));
                }
                self.advance();
                if closing.len() == 1 {
                    nested.items.push(Nums::<A>::default());
                }
                nested.form.push('(');
                closing.push(close);
                continue;
            }
            if numbers > 2 * MAX_RANK {
                return Err(self.expected(&format!("at most {MAX_RANK} axes")));
            }
            let number = self.cute_number(what)?;
            nested.form.push('.');
            numbers += 1;
            match nested.items.last_mut() {
                Some(item) if closing.len() > 1 => item.push(number),
                _ => nested.items.push(vec![number].into()),
            }
            // What closes here, as far as another item or the end.
            loop {
                let Some(&close) = closing.last() else { return Ok(nested) };
                if self.word() == close {
                    self.advance();
                    self.past_braces()?;
                    nested.form.push(')');
                    closing.pop();
                } else if self.take(Token::Comma) {
                    break;
                } else {
                    return Err(self.expected(&format!("`,` or `{close}`")));
                }
            }
        }
    }

    /// `2`, `_2`, `_2{}`, `Int<2>{}` or `C<2>`.
    fn cute_number(&mut self, what: &str) -> Result<Num<A>, ParseError> {
        let fixed = matches!(self.word(), "Int" | "C");
        if fixed {
            self.advance();
            self.symbol("<")?;
        }
        let number = match self.token {
            Token::Symbol => self.number(what, Role::Other)?,
            _ => self.plain_number(what)?,
        };
        if fixed {
            self.symbol(">")?;
        }
        self.past_braces()?;
        Ok(number)
    }
}

/// The length of an attribute or of the inside of brackets in MLIR: up to the bracket that is closed and not opened in it, or,
/// of an attribute, to a comma outside of brackets. `->` closes nothing.
fn mlir_part(text: &str, to_comma: bool) -> usize {
    let (mut depth, mut quoted, mut before) = (0, false, ' ');
    for (at, letter) in text.char_indices() {
        match letter {
            '"' => quoted = !quoted,
            _ if quoted => {}
            '<' | '(' | '[' | '{' => depth += 1,
            '>' if before == '-' => {}
            '>' | ')' | ']' | '}' if depth == 0 => return at,
            '>' | ')' | ']' | '}' => depth -= 1,
            ',' if to_comma && depth == 0 => return at,
            _ => {}
        }
        before = letter;
    }
    text.len()
}

/// Whether a word is the type of the elements of an array of XLA: `f32`, `bf16`, `s8`, `pred`.
fn is_element_type(word: &str) -> bool {
    let rest = word.strip_prefix("bf").or_else(|| word.strip_prefix(['f', 's', 'u', 'c'])).unwrap_or_default();
    word == "pred" || rest.starts_with(|c: char| c.is_ascii_digit())
}
