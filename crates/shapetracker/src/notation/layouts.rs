//! Types that say a layout: `memref<2x3xf32, strided<[1, 2], offset: 4>>` of MLIR, `f32[2,3]{0,1}` of XLA, and
//! `Layout<Shape<_2,_3>, Stride<_1,_2>>` of CuTe in C++.

use super::ChainStart;
use super::foreign::Nested;
use super::lexer::Token;
use super::parser::{Parsed, Parser};
use crate::{Dims, MAX_RANK};
use indexpr::text::ParseError;

/// What CuTe calls nested tuples, and what makes them.
const TUPLES: [&str; 6] = ["Shape", "Stride", "make_shape", "make_stride", "make_tuple", "tuple"];

impl Parser<'_> {
    /// Whether a type or a call begins here that says a layout.
    pub(super) fn at_layout_type(&self) -> bool {
        if self.token != Token::Name || self.named_array().is_some() {
            return false;
        }
        let opens = |parser: &Self| {
            let mut ahead = parser.lexer;
            let (token, span) = ahead.next();
            token == Token::Open(b'(') || &parser.text[span] == "<"
        };
        match self.word() {
            "memref"
            | "tensor"
            | "vector"
            | "Layout"
            | "make_layout"
            | "Swizzle"
            | "ComposedLayout"
            | "make_composed_layout"
            | "composition" => opens(self),
            "cute" => self.second() == Token::Colon,
            word => self.second() == Token::Open(b'[') && is_element_type(word),
        }
    }

    pub(super) fn layout_type(&mut self, parsed: &mut Parsed) -> Result<ChainStart, ParseError> {
        self.past_namespace();
        match self.word() {
            "memref" | "tensor" | "vector" => self.memref(),
            "Layout" => self.cute_layout(parsed),
            "make_layout" => self.cute_layout(parsed),
            "Swizzle" | "ComposedLayout" | "make_composed_layout" | "composition" => {
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

    /// `memref<2x3xf32>`, `memref<2x3xf32, strided<[1, 2], offset: 4>, 1>`.
    fn memref(&mut self) -> Result<ChainStart, ParseError> {
        let begin = self.span.start;
        self.advance();
        self.symbol("<")?;
        let mut shape = Dims::new();
        let mut word = self.word();
        self.not_dynamic()?;
        // Sizes and the type of the elements are one word: `2x3xf32`.
        if let Token::NotWhole = self.token {
            while let Some((size, rest)) = word.split_once('x') {
                if !size.bytes().all(|byte| byte.is_ascii_digit()) || size.is_empty() {
                    break;
                }
                let Ok(size) = size.parse() else {
                    return Err(self.expected("sizes within the range of 64-bit integers"));
                };
                if shape.len() == MAX_RANK {
                    return Err(self.expected(&format!("at most {MAX_RANK} axes")));
                }
                shape.push(size);
                word = rest;
            }
        }
        if !matches!(self.token, Token::NotWhole | Token::Name) || word.starts_with(|c: char| c.is_ascii_digit()) {
            return Err(self.expected("sizes and the type of the elements, such as `2x3xf32`"));
        }
        self.advance();
        if word.is_empty() {
            self.not_dynamic()?;
            return Err(self.expected("the type of the elements"));
        }
        let mut strided = None;
        while self.take(Token::Comma) {
            if self.at_word("strided") {
                self.advance();
                self.symbol("<")?;
                let close = self.open("`[`")?;
                let (mut strides, mut offset) = (Dims::new(), 0);
                while self.token != close {
                    self.not_dynamic()?;
                    if strides.len() == MAX_RANK {
                        return Err(self.expected(&format!("at most {MAX_RANK} axes")));
                    }
                    strides.push(self.number("a stride")?);
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
                    offset = self.number("an offset")?;
                }
                self.symbol(">")?;
                strided = Some((strides, offset));
            } else if self.at_word("affine_map") {
                let message = "an affine map is not read: write the strides, as in `strided<[1, 2], offset: 4>`";
                return Err(self.error_at(self.span.clone(), message.to_owned()));
            } else {
                // The space of the memory is a number.
                self.number("`strided<[...]>` or the number of a memory space")?;
            }
        }
        self.symbol(">")?;
        match strided {
            None => Ok(ChainStart::Shape(shape)),
            Some((strides, offset)) => {
                Ok(ChainStart::Views(vec![self.checked_view(begin, &shape, &strides, offset, None)?]))
            }
        }
    }

    /// `f32[2,3]{0,1}`: in braces the axes, the one that runs fastest first.
    fn xla(&mut self) -> Result<ChainStart, ParseError> {
        let begin = self.span.start;
        self.advance();
        let shape = self.numbers("a size")?;
        if !self.is_symbol("{") {
            return Ok(ChainStart::Shape(shape));
        }
        self.advance();
        let mut strides = Dims::from_elem(-1, shape.len());
        let mut product = 1i64;
        let mut given = 0;
        while !self.is_symbol("}") {
            if self.token == Token::Colon {
                let message =
                    "tiles are not strides: write `{..}` with the order of the axes alone, or the tiles as axes";
                return Err(self.error_at(self.span.clone(), message.to_owned()));
            }
            let span = self.span.clone();
            let axis = self.number("an axis")?;
            let at = usize::try_from(axis).ok().filter(|&at| strides.get(at) == Some(&-1));
            let Some(at) = at else {
                let message = format!("expected each of the {} axes once", shape.len());
                return Err(self.error_at(span, message));
            };
            strides[at] = product;
            product = product.checked_mul(shape[at].max(1)).unwrap_or(i64::MAX);
            given += 1;
            if !self.take(Token::Comma) && !self.is_symbol("}") && self.token != Token::Colon {
                return Err(self.expected("`,` or `}`"));
            }
        }
        if given != shape.len() {
            return Err(self.expected(&format!("each of the {} axes once", shape.len())));
        }
        self.advance();
        Ok(ChainStart::Views(vec![self.checked_view(begin, &shape, &strides, 0, None)?]))
    }

    /// `Layout<Shape<_2,_3>, Stride<_1,_2>>`, `make_layout(make_shape(2, 3), LayoutRight{})`. Without strides the modes lie
    /// one after the other, the leftmost fastest.
    fn cute_layout(&mut self, parsed: &mut Parsed) -> Result<ChainStart, ParseError> {
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
            let mut product = 1i64;
            let mut each = |stride: &mut i64| {
                product = product.saturating_mul(std::mem::replace(stride, product).max(1));
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

    /// `{}`, which makes a value of a type.
    fn past_braces(&mut self) -> Result<(), ParseError> {
        if self.is_symbol("{") {
            self.advance();
            self.symbol("}")?;
        }
        Ok(())
    }

    /// Numbers in nested tuples: `Shape<Shape<_2,_4>,_8>`, `make_shape(Int<2>{}, 3)`, `_8`.
    fn cute_tuple(&mut self, what: &str) -> Result<Nested, ParseError> {
        let mut nested = Nested { items: Vec::new(), form: String::new() };
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
                    nested.items.push(Dims::new());
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
                _ => nested.items.push(Dims::from_slice(&[number])),
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
    fn cute_number(&mut self, what: &str) -> Result<i64, ParseError> {
        let fixed = matches!(self.word(), "Int" | "C");
        if fixed {
            self.advance();
            self.symbol("<")?;
        }
        let number = self.plain_number(what)?;
        if fixed {
            self.symbol(">")?;
        }
        self.past_braces()?;
        Ok(number)
    }
}

/// Whether a word is the type of the elements of an array of XLA: `f32`, `bf16`, `s8`, `pred`.
fn is_element_type(word: &str) -> bool {
    let rest = word.strip_prefix("bf").or_else(|| word.strip_prefix(['f', 's', 'u', 'c'])).unwrap_or_default();
    word == "pred" || rest.starts_with(|c: char| c.is_ascii_digit())
}
