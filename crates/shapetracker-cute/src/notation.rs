//! Text: layouts, tuples, swizzles and linear layouts as CuTe and Triton print them, and as C++ and Python write them.

use std::fmt;
use std::str::FromStr;

use shapetracker::Dims;
use shapetracker_base::text::{ParseError, Token, Tokens, check_length, tuple};
use smallvec::SmallVec;

use crate::profile::Profile;
use crate::{ComposedLayout, IntTuple, Layout, LinearLayout, Swizzle, Tiler};

/// What makes a tuple in C++ and Python; `<` or `(` follows.
const TUPLES: [&str; 10] =
    ["Shape", "Stride", "Step", "Coord", "Tile", "tuple", "make_shape", "make_stride", "make_coord", "make_tuple"];
/// How deep the items of a tiler may have tilers of their own.
const DEEPEST_TILER: usize = 32;
/// What a pointer is called where CuTe prints a tensor; `[`, the bits of an element and an address follow.
const POINTERS: [&str; 5] = ["ptr", "gmem_ptr", "smem_ptr", "rmem_ptr", "tmem_ptr"];
/// What a swizzle is called: in C++, as it is printed there, and as it is printed in Python.
const SWIZZLES: [&str; 3] = ["Swizzle", "Sw", "S"];

/// `(0, 1)`, an index of a tensor.
pub(crate) fn index(index: &[i64]) -> String {
    if index.len() == 1 { format!("({})", index[0]) } else { tuple(index).to_string() }
}

/// `((2,2),4):((1,8),2)`, as CuTe prints layouts: in Python, and in C++ where the numbers are no part of the type.
/// [`Layout::static_text`] is the other spelling.
impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.profile.write(f, |f, leaf| write!(f, "{}", self.sizes[leaf]))?;
        f.write_str(":")?;
        self.profile.write(f, |f, leaf| write!(f, "{}", self.strides[leaf]))
    }
}

impl Layout {
    /// `((_2,_2),_4):((_1,_8),_2)`, as CuTe's C++ prints layouts whose numbers are part of the type.
    ///
    /// ```
    /// let layout: shapetracker_cute::Layout = "((2,2),4):((1,8),2)".parse()?;
    /// assert_eq!(layout.static_text().to_string(), "((_2,_2),_4):((_1,_8),_2)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn static_text(&self) -> impl fmt::Display + '_ {
        struct Static<'a>(&'a Layout);
        impl fmt::Display for Static<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let Layout { sizes, strides, profile } = self.0;
                profile.write(f, |f, leaf| write!(f, "_{}", sizes[leaf]))?;
                f.write_str(":")?;
                profile.write(f, |f, leaf| write!(f, "_{}", strides[leaf]))
            }
        }
        Static(self)
    }
}

impl ComposedLayout {
    /// `Sw<3,3,3> o _0 o (_8,_8):(_8,_1)`, as CuTe's C++ prints composed layouts whose numbers are part of the type.
    ///
    /// ```
    /// let tile: shapetracker_cute::ComposedLayout = "Sw<3,3,3> o 0 o (8,64):(64,1)".parse()?;
    /// assert_eq!(tile.static_text().to_string(), "Sw<3,3,3> o _0 o (_8,_64):(_64,_1)");
    /// # Ok::<(), shapetracker_cute::ParseError>(())
    /// ```
    pub fn static_text(&self) -> impl fmt::Display + '_ {
        struct Static<'a>(&'a ComposedLayout);
        impl fmt::Display for Static<'_> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                if let Some(layout) = self.0.as_layout() {
                    return layout.static_text().fmt(f);
                }
                write!(f, "{} o _{} o {}", self.0.swizzle(), self.0.offset(), self.0.layout().static_text())
            }
        }
        Static(self)
    }
}

/// `Sw<3,3,3>`, as CuTe prints swizzles.
impl fmt::Display for Swizzle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sw<{},{},{}>", self.bits(), self.base(), self.shift())
    }
}

/// `Sw<3,3,3> o 0 o (8,8):(8,1)`, as CuTe prints composed layouts; the layout alone where neither swizzle nor offset
/// does anything.
impl fmt::Display for ComposedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(layout) = self.as_layout() {
            return layout.fmt(f);
        }
        write!(f, "{} o {} o {}", self.swizzle(), self.offset(), self.layout())
    }
}

/// `((2,2),4)`, `(_2,_4)`, `Shape<_2,Int<4>>`, `make_shape(2, 4)`, `(4,)`.
impl FromStr for IntTuple {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::whole(text, |parser| parser.int_tuple("an integer"))
    }
}

/// `((2,2),4):((1,8),2)`, `(_4,_8):(_1,_4)`, `Layout<Shape<_4,_8>,Stride<_1,_4>>`, `make_layout(make_shape(4, 8),
/// LayoutRight{})`; without strides the leftmost mode is the fastest.
impl FromStr for Layout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::whole(text, Parser::layout)
    }
}

/// `Sw<3,3,3>`, `S<3,3,3>`, `Swizzle<3,3,3>{}`.
impl FromStr for Swizzle {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::whole(text, Parser::swizzle)
    }
}

/// `Sw<3,3,3> o 0 o (8,8):(8,1)`, `composition(Swizzle<3,3,3>{}, Layout<..>{})`, or a layout by itself.
///
/// Of a tensor as CuTe prints it, `ptr[32b](0x7f00) o (4,8):(1,4)`, the layout is read. A swizzle in front of the pointer,
/// `Sw<3,4,3> o smem_ptr[16b](unset) o (_8,_64):(_64,_1)`, acts on the addresses of bytes: with elements of `2^k` bytes,
/// from a base that is aligned to all of its bits, `Sw<B,M,S>` is `Sw<B,M-k,S>` on the numbers of elements. Where `M` is
/// less than `k` it would change bytes inside of an element, and is refused.
impl FromStr for ComposedLayout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::whole(text, Parser::composed)
    }
}

/// `4`, `4:2`, `(4,8)`, `(3:3,(2,4):(1,8))`, with angle brackets as well: a layout, or one for each item.
impl FromStr for Tiler {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::whole(text, |parser| parser.tiler(DEEPEST_TILER))
    }
}

/// `(3:3,(2,4):(1,8))`, `(4,8)`.
impl fmt::Display for Tiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tiler::Whole(layout) => layout.fmt(f),
            Tiler::Size(size) => write!(f, "{size}"),
            Tiler::ByItem(items) => {
                f.write_str("(")?;
                for (k, item) in items.iter().enumerate() {
                    f.write_str(if k > 0 { "," } else { "" })?;
                    item.fmt(f)?;
                }
                f.write_str(")")
            }
        }
    }
}

/// What Triton prints, or the attribute `#ttg.linear<{lane = [[0, 1], [1, 0]], warp = []}>`, whose outputs are called
/// `dim0`, `dim1`, .. and are as large as its vectors need.
impl FromStr for LinearLayout {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::whole(text, Parser::linear)
    }
}

/// A text and how far it was read. Nothing is recursive: a text may nest as deep as it likes.
struct Parser<'a> {
    tokens: Tokens<'a>,
}

impl<'a> Parser<'a> {
    fn whole<T>(text: &'a str, read: impl FnOnce(&mut Self) -> Result<T, ParseError>) -> Result<T, ParseError> {
        check_length(text)?;
        let mut parser = Parser { tokens: Tokens::without_comments(text) };
        let read = read(&mut parser)?;
        if parser.tokens.token == Token::End { Ok(read) } else { Err(parser.expected("the end of the text")) }
    }

    /// The next token; nothing at the end of the text.
    fn token(&self) -> &'a str {
        self.tokens.word()
    }

    fn advance(&mut self) {
        self.tokens.advance();
    }

    fn take(&mut self, token: &str) -> bool {
        let taken = self.token() == token;
        if taken {
            self.advance();
        }
        taken
    }

    fn need(&mut self, token: &str) -> Result<(), ParseError> {
        if self.take(token) { Ok(()) } else { Err(self.expected(&format!("`{token}`"))) }
    }

    fn expected(&self, what: &str) -> ParseError {
        self.tokens.expected(what)
    }

    /// Where the next token begins.
    fn begin(&self) -> usize {
        self.tokens.span.start
    }

    /// A mistake in what was read from a byte on.
    fn error(&self, begin: usize, message: impl Into<String>) -> ParseError {
        self.tokens.error_at(begin..self.tokens.last.max(begin), message)
    }

    /// A mistake at the next token.
    fn error_here(&self, message: impl Into<String>) -> ParseError {
        self.tokens.error_at(self.tokens.span.clone(), message)
    }

    /// What is wrong with something that was read from a byte on.
    fn refused(&self, begin: usize, err: &crate::Error) -> ParseError {
        self.error(begin, err.reason())
    }

    /// Goes past `cute::` or `cute.`.
    fn past_namespace(&mut self) {
        if self.token() == "cute" {
            self.advance();
            while self.token().starts_with([':', '.']) {
                self.advance();
            }
        }
    }

    /// `{}`, which makes a value of a type.
    fn past_braces(&mut self) -> Result<(), ParseError> {
        if self.take("{") { self.need("}") } else { Ok(()) }
    }

    /// `4`, `-4`, `_4`, `_4{}`, `Int<4>{}`, `C<4>`.
    fn integer(&mut self, what: &str) -> Result<i64, ParseError> {
        self.past_namespace();
        let typed = matches!(self.token(), "Int" | "C" | "int_c");
        if typed {
            self.advance();
            self.need("<")?;
        }
        let begin = self.begin();
        let mut is_negative = self.take("-");
        if !is_negative && self.take("_") {
            is_negative = self.take("-");
        }
        let word = self.token();
        let digits = match word.strip_prefix('_') {
            Some(fixed) if self.tokens.token == Token::Number => fixed,
            // A word may follow digits without a space, as in the pointer `ptr[32b]`.
            _ => &word[..word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len())],
        };
        if digits.is_empty() || is_negative && digits.starts_with('-') {
            if self.token() == "?" {
                return Err(self.error_here("`?` is known only when the program runs: write a number in its place"));
            }
            return Err(self.expected(what));
        }
        self.tokens.go_on_at(self.begin() + usize::from(word.starts_with('_')) + digits.len());
        let text = format!("{}{digits}", if is_negative { "-" } else { "" });
        let Ok(number) = text.parse() else {
            return Err(self.error(begin, format!("expected {what} within the range of 64-bit integers")));
        };
        if typed {
            self.need(">")?;
        }
        self.past_braces()?;
        if self.token() == "@" {
            let message = "`@` makes a stride along one of several axes: a layout here has integers as strides, an item of a \
                           tensor of coordinates each";
            return Err(self.error_here(message));
        }
        Ok(number)
    }

    /// What ends a tuple that begins here, after going past what begins it.
    fn opening(&mut self) -> Result<Option<&'static str>, ParseError> {
        self.past_namespace();
        if self.take("(") {
            return Ok(Some(")"));
        }
        if !TUPLES.contains(&self.token()) {
            return Ok(None);
        }
        self.advance();
        if self.take("<") {
            Ok(Some(">"))
        } else if self.take("(") {
            Ok(Some(")"))
        } else {
            Err(self.expected("`<` or `(`"))
        }
    }

    fn int_tuple(&mut self, what: &str) -> Result<IntTuple, ParseError> {
        let (mut leaves, mut nodes) = (Dims::new(), SmallVec::<[u32; 12]>::new());
        // The tuples that are not complete: their nodes, and what ends them.
        let mut open: Vec<(usize, &'static str)> = Vec::new();
        loop {
            let opening = self.opening()?;
            if let Some(close) = opening {
                open.push((nodes.len(), close));
                nodes.push(1);
                if self.token() != close {
                    continue;
                }
            } else {
                leaves.push(self.integer(what)?);
                nodes.push(0);
            }
            // What is complete now: a number, or an empty tuple, whose end is next. The end of a tuple completes it,
            // too.
            let mut is_item = opening.is_none();
            loop {
                let Some(&(node, close)) = open.last() else {
                    return Ok(IntTuple { leaves, profile: Profile::from_nodes(nodes) });
                };
                nodes[node] += u32::from(is_item);
                if is_item && self.take(",") && self.token() != close {
                    break;
                }
                if !self.take(close) {
                    return Err(self.expected(&format!("`,` or `{close}`")));
                }
                self.past_braces()?;
                open.pop();
                is_item = true;
            }
        }
    }

    fn layout(&mut self) -> Result<Layout, ParseError> {
        self.past_namespace();
        let begin = self.begin();
        if matches!(self.token(), "Layout" | "make_layout") {
            self.advance();
            let close = match () {
                () if self.take("<") => ">",
                () if self.take("(") => ")",
                () => return Err(self.expected("`<` or `(`")),
            };
            let shape = self.int_tuple("a size")?;
            let mut layout = None;
            if self.take(",") {
                if self.take("stride") {
                    self.need("=")?;
                }
                self.past_namespace();
                layout = Some(match self.token() {
                    "LayoutLeft" | "GenColMajor" => Layout::column_major(shape.clone()),
                    "LayoutRight" | "GenRowMajor" => Layout::row_major(shape.clone()),
                    _ => Layout::new(shape.clone(), self.int_tuple("a stride")?),
                });
                if matches!(self.token(), "LayoutLeft" | "GenColMajor" | "LayoutRight" | "GenRowMajor") {
                    self.advance();
                    self.past_braces()?;
                }
            }
            self.need(close)?;
            self.past_braces()?;
            return layout.unwrap_or_else(|| Layout::column_major(shape)).map_err(|err| self.refused(begin, &err));
        }
        let shape = self.int_tuple("a size")?;
        self.layout_of(shape, begin)
    }

    /// The strides of a shape that was read.
    fn layout_of(&mut self, shape: IntTuple, begin: usize) -> Result<Layout, ParseError> {
        self.need(":")?;
        let stride = self.int_tuple("a stride")?;
        Layout::new(shape, stride).map_err(|err| self.refused(begin, &err))
    }

    /// A tiler whose items nest so deep at most.
    fn tiler(&mut self, depth: usize) -> Result<Tiler, ParseError> {
        self.past_namespace();
        let (begin, start) = (self.begin(), self.tokens.clone());
        if matches!(self.token(), "Layout" | "make_layout") {
            return Ok(self.layout()?.into());
        }
        // A tuple of numbers may be the shape of a layout, or by itself; where layouts are in it, it is neither.
        if self.token() != "<"
            && let Ok(sizes) = self.int_tuple("a size")
        {
            return match self.token() {
                ":" => Ok(self.layout_of(sizes, begin)?.into()),
                _ if sizes.profile.depth() > depth => Err(self.too_deep(begin)),
                _ => Ok(sizes.into()),
            };
        }
        self.tokens = start;
        let close = match self.take("<") {
            true => ">",
            false => match self.opening()? {
                Some(close) => close,
                None => {
                    return Err(self.integer("a tile, such as `4:2`").err().unwrap_or_else(|| self.expected("`(`")));
                }
            },
        };
        if depth == 0 {
            return Err(self.too_deep(begin));
        }
        let mut items = Vec::new();
        while !self.take(close) {
            items.push(self.tiler(depth - 1)?);
            if !self.take(",") && self.token() != close {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        self.past_braces()?;
        Ok(Tiler::ByItem(items))
    }

    fn too_deep(&self, begin: usize) -> ParseError {
        self.error(begin, format!("the modes of a tiler nest deeper than {DEEPEST_TILER} times"))
    }

    fn swizzle(&mut self) -> Result<Swizzle, ParseError> {
        self.past_namespace();
        let begin = self.begin();
        if !SWIZZLES.contains(&self.token()) {
            return Err(self.expected("a swizzle, such as `Sw<3,3,3>`"));
        }
        self.advance();
        self.need("<")?;
        let mut parts = [0; 3];
        for (k, part) in parts.iter_mut().enumerate() {
            if k > 0 {
                self.need(",")?;
            }
            *part = self.integer("an integer")?;
        }
        self.need(">")?;
        self.past_braces()?;
        let [bits, base, shift] = parts;
        let (Ok(bits), Ok(base), Ok(shift)) = (u32::try_from(bits), u32::try_from(base), i32::try_from(shift)) else {
            let message = "a swizzle is `<bits,base,shift>`, where bits and base are not negative and no bit is past the 62 of \
                           an address";
            return Err(self.error(begin, message));
        };
        Swizzle::new(bits, base, shift).map_err(|err| self.refused(begin, &err))
    }

    /// `ptr[32b](0x7f00)`, `smem_ptr[16b](unset)`: the bits of an element, if a pointer is next.
    fn pointer(&mut self) -> Result<Option<i64>, ParseError> {
        // Behind a swizzle C++ writes `_smem_ptr`.
        if !POINTERS.contains(&self.token().trim_start_matches('_')) {
            return Ok(None);
        }
        self.advance();
        self.need("[")?;
        let bits = self.integer("the bits of an element")?;
        self.words(&["b", "]", "("])?;
        let address = self.begin();
        let end = self.tokens.text[address..].find(')').unwrap_or(self.tokens.text.len() - address);
        self.tokens.go_on_at(address + end);
        self.need(")")?;
        Ok(Some(bits))
    }

    /// What a swizzle of the addresses of bytes, read from a byte of the text on, is for elements of so many bits.
    fn of_elements(&self, swizzle: Swizzle, bits: i64, begin: usize) -> Result<Swizzle, ParseError> {
        let refuse = |why: String| Err(self.error(begin, format!("a swizzle of a pointer acts on bytes, {why}")));
        if bits < 8 || bits.count_ones() != 1 {
            return refuse(format!("and elements of {bits} bits are no power of two of bytes"));
        }
        let bytes = bits.trailing_zeros() - 3;
        match swizzle.base().checked_sub(bytes) {
            Some(base) => Swizzle::new(swizzle.bits(), base, swizzle.shift()).map_err(|err| self.refused(begin, &err)),
            None if swizzle.bits() == 0 => Ok(swizzle),
            None => refuse(format!("and {swizzle} would change bytes inside of an element of {bits} bits")),
        }
    }

    fn composed(&mut self) -> Result<ComposedLayout, ParseError> {
        if self.pointer()?.is_some() {
            self.need("o")?;
        }
        self.past_namespace();
        let begin = self.begin();
        let called = match self.token() {
            "composition" | "make_composed_layout" => Some(("(", ")")),
            "ComposedLayout" => Some(("<", ">")),
            token if SWIZZLES.contains(&token) => None,
            _ => return Ok(self.layout()?.into()),
        };
        if let Some((open, _)) = called {
            self.advance();
            self.need(open)?;
        }
        let mut swizzle = self.swizzle()?;
        let separate = |parser: &mut Self| match called {
            Some(_) => parser.need(","),
            None if parser.take("o") || parser.take("∘") => Ok(()),
            None => Err(parser.expected("`o` and a layout")),
        };
        let is_joined = called.is_none() && self.token().strip_prefix('_').is_some_and(|name| POINTERS.contains(&name));
        if !is_joined {
            separate(self)?;
        }
        if called.is_none()
            && let Some(bits) = self.pointer()?
        {
            swizzle = self.of_elements(swizzle, bits, begin)?;
            separate(self)?;
        }
        // An offset or a layout: which of them a number is, what follows tells.
        let start = self.begin();
        let (mut offset, layout);
        self.past_namespace();
        if matches!(self.token(), "Layout" | "make_layout") {
            (offset, layout) = (0, self.layout()?);
        } else {
            let first = self.int_tuple("an offset or a layout")?;
            if self.token() == ":" {
                (offset, layout) = (0, self.layout_of(first, start)?);
            } else if first.is_integer() {
                offset = first.leaves()[0];
                separate(self)?;
                layout = self.layout()?;
            } else {
                return Err(self.expected("`:`"));
            }
        }
        if let Some((_, close)) = called {
            self.need(close)?;
            self.past_braces()?;
        }
        if layout.is_empty() {
            offset = offset.max(0);
        }
        ComposedLayout::new(swizzle, offset, layout).map_err(|err| self.refused(begin, &err))
    }

    /// A name.
    fn name(&mut self, what: &str) -> Result<String, ParseError> {
        let token = self.token();
        if !self.tokens.at_name() {
            return Err(self.expected(what));
        }
        self.advance();
        Ok(token.to_owned())
    }

    fn linear(&mut self) -> Result<LinearLayout, ParseError> {
        let begin = self.begin();
        let read = if matches!(self.token(), "-" | "where" | "(") { self.printed_linear() } else { self.attribute() };
        let (inputs, outputs) = read?;
        LinearLayout::new(inputs, outputs).map_err(|err| self.refused(begin, &err))
    }

    /// ` - lane=1 -> (0, 1)`, `   lane=2 -> (1, 0)`, ` - warp is a size 1 dimension`, `where out dims are: [dim0 (size
    /// 2), ..]`.
    fn printed_linear(&mut self) -> Result<(Inputs, Outputs), ParseError> {
        let mut inputs = Inputs::new();
        if self.take("(") {
            self.words(&["empty", "layout"])?;
            let outputs = if self.take("with") {
                self.words(&["out", "-", "dims"])?;
                self.output_dims()?
            } else {
                Outputs::new()
            };
            self.need(")")?;
            return Ok((inputs, outputs));
        }
        while self.take("-") {
            let name = self.name("the name of an input")?;
            let mut bases = Vec::new();
            if self.take("is") {
                self.words(&["a", "size", "1", "dimension"])?;
            } else {
                loop {
                    self.need("=")?;
                    let begin = self.begin();
                    if Some(self.integer("a power of two")?) != 1i64.checked_shl(bases.len() as u32) {
                        let message = format!("expected {}, the next power of two", 1i128 << bases.len().min(100));
                        return Err(self.error(begin, message));
                    }
                    if !self.take("->") {
                        self.words(&["-", ">"])?;
                    }
                    let begin = self.begin();
                    let basis = self.int_tuple("an integer")?;
                    if basis.profile != Profile::flat(basis.leaves.len()) {
                        return Err(self.error(begin, "expected a tuple of integers"));
                    }
                    bases.push(basis.leaves.to_vec());
                    if !self.take(&name) {
                        break;
                    }
                }
            }
            inputs.push((name, bases));
        }
        self.words(&["where", "out", "dims", "are", ":"])?;
        let outputs = self.output_dims()?;
        Ok((inputs, outputs))
    }

    fn words(&mut self, words: &[&str]) -> Result<(), ParseError> {
        words.iter().try_for_each(|word| self.need(word))
    }

    /// `[dim0 (size 2), dim1 (size 4)]`.
    fn output_dims(&mut self) -> Result<Outputs, ParseError> {
        let mut outputs = Outputs::new();
        self.need("[")?;
        while !self.take("]") {
            let name = self.name("the name of an output")?;
            self.words(&["(", "size"])?;
            outputs.push((name, self.integer("a size")?));
            self.need(")")?;
            if !self.take(",") && self.token() != "]" {
                return Err(self.expected("`,` or `]`"));
            }
        }
        Ok(outputs)
    }

    /// `#ttg.linear<{lane = [[0, 1], [1, 0]], warp = []}>`.
    fn attribute(&mut self) -> Result<(Inputs, Outputs), ParseError> {
        let typed = self.take("#");
        if typed {
            self.name("`ttg`")?;
            self.words(&[".", "linear", "<"])?;
        }
        if !self.take("{") {
            return Err(self.expected("`#ttg.linear<{lane = [[1], [2]]}>`, or what Triton prints of a linear layout"));
        }
        let (mut inputs, mut sizes) = (Inputs::new(), Vec::<i64>::new());
        while !self.take("}") {
            let name = self.name("the name of an input")?;
            self.words(&["=", "["])?;
            let mut bases = Vec::new();
            while !self.take("]") {
                let begin = self.begin();
                self.need("[")?;
                let mut basis = Vec::new();
                while !self.take("]") {
                    basis.push(self.integer("an integer")?);
                    if !self.take(",") && self.token() != "]" {
                        return Err(self.expected("`,` or `]`"));
                    }
                }
                if sizes.is_empty() {
                    sizes.resize(basis.len(), 1);
                }
                if basis.len() != sizes.len() {
                    let message =
                        format!("expected a number for each of {} outputs, found {}", sizes.len(), basis.len());
                    return Err(self.error(begin, message));
                }
                for (size, &entry) in sizes.iter_mut().zip(&basis) {
                    // Numbers past all bits are refused with the layout.
                    let bits = 64 - entry.leading_zeros();
                    *size = (*size).max(1i64.checked_shl(bits).filter(|size| *size > 0).unwrap_or(1));
                }
                bases.push(basis);
                if !self.take(",") && self.token() != "]" {
                    return Err(self.expected("`,` or `]`"));
                }
            }
            inputs.push((name, bases));
            if !self.take(",") && self.token() != "}" {
                return Err(self.expected("`,` or `}`"));
            }
        }
        if typed {
            self.need(">")?;
        }
        let outputs = sizes.into_iter().enumerate().map(|(k, size)| (format!("dim{k}"), size)).collect();
        Ok((inputs, outputs))
    }
}

type Inputs = Vec<(String, Vec<Vec<i64>>)>;
type Outputs = Vec<(String, i64)>;
