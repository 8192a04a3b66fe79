//! The text of a tensor spread over a mesh.

use std::iter;
use std::ops::Range;
use std::str::FromStr;

use indexpr::text::{ParseError, check_length, nearest, quoted};

use crate::{Error, Mesh, Placement, Sharded};

/// Reads `(8, 512, 1024) @ dp=2, tp=4 : S(0), S(1)`: the shape, the mesh, and a placement for each mesh axis.
///
/// Mesh axes may be sizes without names, `@ 2, 4`. Each part may stand in parentheses or brackets. A placement is
///
/// | text | placement |
/// |---|---|
/// | `R`, `Replicate()` | [`Placement::Replicate`] |
/// | `S(0)`, `Shard(0)`, `Shard(dim=0)` | [`Placement::Shard`] |
/// | `SS(0, 4)`, `_S(0, 4)`, `_StridedShard(dim=0, split_factor=4)` | [`Placement::StridedShard`] |
/// | `P`, `Partial()`, `Partial(sum)`, `P(sum)` | [`Placement::Partial`] |
///
/// In their place one partition of JAX may stand, with an entry for each tensor axis: `P('dp', None, ('x', 'y'))`,
/// `PartitionSpec(...)`. Axes that it does not reach are not sharded, so that `P()` shards nothing.
///
/// ```
/// use shapetracker_shard::{Placement, Sharded};
///
/// let tensor: Sharded = "(8, 512, 1024) @ dp=2, tp=4 : S(0), S(1)".parse()?;
/// assert_eq!(tensor.placements(), [Placement::Shard(0), Placement::Shard(1)]);
/// assert_eq!("(8, 512, 1024) @ dp=2, tp=4 : P('dp', 'tp')".parse(), Ok(tensor));
///
/// let err = "(8, 512) @ dp=2 : Shard(1".parse::<Sharded>().unwrap_err();
/// assert_eq!(
///     err.to_string(),
///     "expected `)`, found the end of the text\n\
///      \u{20} (8, 512) @ dp=2 : Shard(1\n\
///      \u{20}                          ^",
/// );
/// # Ok::<(), indexpr::text::ParseError>(())
/// ```
impl FromStr for Sharded {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Self, ParseError> {
        Parser::new(text)?.sharded(None)
    }
}

impl Sharded {
    /// Reads a tensor on the mesh of this one, as a claim about what becomes of it: the mesh may be left away, and if it
    /// stands there, it may be another one.
    ///
    /// ```
    /// use shapetracker_shard::Sharded;
    ///
    /// let tensor: Sharded = "(8, 512, 1024) @ dp=2, tp=4 : S(0), S(1)".parse()?;
    /// let claimed = tensor.parse_beside("(4096, 1024) : S(0), R")?;
    /// assert_eq!(claimed.to_string(), "(4096, 1024) @ dp=2, tp=4 : S(0), R");
    /// # Ok::<(), indexpr::text::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, or fits neither the shape nor the mesh, with its place in the text.
    pub fn parse_beside(&self, text: &str) -> Result<Sharded, ParseError> {
        Parser::new(text)?.sharded(Some(self.mesh()))
    }
}

/// A text and how far it is read.
struct Parser<'a> {
    text: &'a str,
    position: usize,
}

/// A token. What cannot be one is a token of its own, so that only the parser complains.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Token {
    /// A character that means something, or any other that belongs to nothing else.
    Symbol(char),
    /// A whole number, and its value if that fits.
    Number(Option<i64>),
    Name,
    /// A name in quotation marks, without them.
    Quoted(String),
    End,
}

/// The placements of a tensor as they are written.
enum Written {
    /// One for each mesh axis.
    Placements(Vec<Placement>),
    /// The mesh axes of each tensor axis.
    Spec(Vec<Vec<String>>),
}

/// The words for placements.
const WORDS: [&str; 11] =
    ["R", "S", "SS", "P", "Replicate", "Shard", "StridedShard", "_StridedShard", "_S", "Partial", "PartitionSpec"];

/// What the summands of a partial tensor may be put together with, as PyTorch writes it.
const REDUCTIONS: [&str; 9] = ["sum", "avg", "product", "min", "max", "band", "bor", "bxor", "premulsum"];

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, ParseError> {
        check_length(text)?;
        Ok(Parser { text, position: 0 })
    }

    /// All of the text; the mesh may be missing where there is one to take its place.
    fn sharded(mut self, known: Option<&Mesh>) -> Result<Sharded, ParseError> {
        let (shape, _) = self.part(Parser::sizes)?;
        let mesh = match (self.peek(), known) {
            ((Token::Symbol(':'), _), Some(known)) => known.clone(),
            _ => {
                self.symbol('@', "the shape")?;
                let (axes, place) = self.part(Parser::axes)?;
                mesh(axes).map_err(|err| self.mistake(err, place))?
            }
        };
        self.symbol(':', "the mesh")?;
        let (written, place) = self.part(|parser, end| parser.placements(&mesh, end))?;
        let (token, span) = self.next();
        if token != Token::End {
            return Err(self.expected("the end of the text", &token, span));
        }
        let sharded = match written {
            Written::Placements(placements) => Sharded::new(&shape, mesh, placements),
            Written::Spec(mut spec) => {
                // What a partition does not reach is not sharded; what it has too much is a mistake.
                spec.resize(spec.len().max(shape.len()), Vec::new());
                let spec: Vec<Vec<&str>> = spec.iter().map(|axes| axes.iter().map(String::as_str).collect()).collect();
                let spec: Vec<&[&str]> = spec.iter().map(Vec::as_slice).collect();
                Sharded::from_spec(&shape, mesh, &spec)
            }
        };
        sharded.map_err(|err| self.mistake(err, place))
    }

    /// A part of the text, perhaps in parentheses or brackets, and where it stands. What reads it is told where it ends:
    /// at a closing parenthesis, or at what follows the part.
    fn part<T>(
        &mut self,
        read: impl FnOnce(&mut Self, Option<char>) -> Result<T, ParseError>,
    ) -> Result<(T, Range<usize>), ParseError> {
        let (token, span) = self.peek();
        let close = match token {
            Token::Symbol('(') => Some(')'),
            Token::Symbol('[') => Some(']'),
            _ => None,
        };
        if close.is_some() {
            self.next();
        }
        let value = read(self, close)?;
        if let Some(close) = close {
            self.symbol(close, "")?;
        }
        Ok((value, span.start..self.position))
    }

    /// `8, 512, 1024`; nothing at all only in parentheses.
    fn sizes(&mut self, close: Option<char>) -> Result<Vec<i64>, ParseError> {
        self.list(close, |parser| parser.number("a size"))
    }

    /// `dp=2, tp=4` or `2, 4`.
    fn axes(&mut self, close: Option<char>) -> Result<Vec<(Option<String>, i64)>, ParseError> {
        self.list(close, |parser| match parser.peek() {
            (Token::Number(_), _) => Ok((None, parser.number("a number of devices")?)),
            (Token::Name | Token::Quoted(_), _) => {
                let name = parser.name("a mesh axis")?;
                let (token, span) = parser.next();
                if !matches!(token, Token::Symbol('=' | ':')) {
                    return Err(parser.expected("`=` and a number of devices", &token, span));
                }
                Ok((Some(name), parser.number("a number of devices")?))
            }
            (token, span) => Err(parser.expected("a mesh axis such as `dp=2`", &token, span)),
        })
    }

    /// One placement for each mesh axis, or one partition.
    fn placements(&mut self, mesh: &Mesh, close: Option<char>) -> Result<Written, ParseError> {
        if self.is_spec(mesh) {
            self.next();
            return self.spec().map(Written::Spec);
        }
        self.list(close, Parser::placement).map(Written::Placements)
    }

    /// Whether a partition begins here: `PartitionSpec(`, or `P(` and not the name of a reduction.
    fn is_spec(&self, mesh: &Mesh) -> bool {
        let mut ahead = Parser { ..*self };
        let (token, word) = ahead.next();
        if token != Token::Name || !matches!(&self.text[word.clone()], "P" | "PartitionSpec") {
            return false;
        }
        if ahead.next().0 != Token::Symbol('(') {
            return &self.text[word] == "PartitionSpec";
        }
        let (token, entry) = ahead.next();
        let entry = &self.text[entry];
        !(token == Token::Name && REDUCTIONS.contains(&entry) && mesh.axis(entry).is_none())
    }

    /// `('dp', None, ('x', 'y'))`: an entry for each tensor axis.
    fn spec(&mut self) -> Result<Vec<Vec<String>>, ParseError> {
        self.symbol('(', "")?;
        let entries = self.list(Some(')'), |parser| match parser.peek().0 {
            Token::Symbol('(') => {
                parser.next();
                let names = parser.list(Some(')'), |parser| parser.name("a mesh axis"))?;
                parser.symbol(')', "")?;
                Ok(names)
            }
            _ => {
                let (token, span) = parser.peek();
                if token == Token::Name && &parser.text[span] == "None" {
                    parser.next();
                    return Ok(Vec::new());
                }
                Ok(vec![parser.name("a mesh axis, a tuple of them or None")?])
            }
        })?;
        self.symbol(')', "")?;
        Ok(entries)
    }

    fn placement(&mut self) -> Result<Placement, ParseError> {
        let (token, span) = self.next();
        let word = &self.text[span.clone()];
        if token != Token::Name {
            return Err(self.expected("a placement such as R, S(0), SS(0, 4) or P", &token, span));
        }
        let opened = self.peek().0 == Token::Symbol('(');
        let placement = match word {
            "R" | "Replicate" => {
                if opened {
                    self.next();
                    self.symbol(')', "")?;
                }
                return Ok(Placement::Replicate);
            }
            "P" | "Partial" => {
                if opened {
                    self.next();
                    if self.peek().0 != Token::Symbol(')') {
                        self.reduction()?;
                    }
                    self.symbol(')', "")?;
                }
                return Ok(Placement::Partial);
            }
            "S" | "Shard" => {
                self.symbol('(', word)?;
                Placement::Shard(self.axis()?)
            }
            "SS" | "_S" | "StridedShard" | "_StridedShard" => {
                self.symbol('(', word)?;
                self.strided()?
            }
            _ => {
                // Letters are compared as small ones, and the words have capitals.
                let small = WORDS.map(str::to_ascii_lowercase);
                let meant = nearest(word, small.iter().map(String::as_str));
                let meant = meant.and_then(|meant| WORDS.into_iter().find(|word| word.eq_ignore_ascii_case(meant)));
                let meant = meant.map(|word| format!(": did you mean `{word}`?")).unwrap_or_default();
                let message =
                    format!("expected a placement such as R, S(0), SS(0, 4) or P, found {}{meant}", quoted(word));
                return Err(ParseError::new(message, self.text, span));
            }
        };
        self.symbol(')', "")?;
        Ok(placement)
    }

    /// `0` or `dim=0`.
    fn axis(&mut self) -> Result<usize, ParseError> {
        self.keyword(&["dim", "axis"])?;
        let (start, number) = (self.peek().1.start, self.number("an axis")?);
        let place = start..self.position;
        usize::try_from(number).map_err(|_| {
            let message = format!("axis {number} does not exist: axes are counted from 0, and from the front");
            ParseError::new(message, self.text, place)
        })
    }

    /// `0, 4` or `dim=0, split_factor=4`, the words in any order.
    fn strided(&mut self) -> Result<Placement, ParseError> {
        let (mut axis, mut pieces) = (None, None);
        for _ in 0..2 {
            let word = self.keyword(&["dim", "axis", "split_factor", "sf", "pieces"])?;
            let is_axis = word.map_or(axis.is_none(), |word| matches!(word, "dim" | "axis"));
            let is_again = if is_axis { axis.is_some() } else { pieces.is_some() };
            if is_again {
                let (_, span) = self.peek();
                return Err(ParseError::new("an axis and a number of pieces are given once each", self.text, span));
            }
            if is_axis {
                axis = Some(self.axis()?);
            } else {
                pieces = Some(self.number("a number of pieces")?);
            }
            if axis.is_none() || pieces.is_none() {
                self.symbol(',', "")?;
            }
        }
        let (Some(axis), Some(pieces)) = (axis, pieces) else {
            let (token, span) = self.peek();
            return Err(self.expected("an axis and a number of pieces", &token, span));
        };
        Ok(Placement::StridedShard { axis, pieces })
    }

    /// `sum`, `'sum'` or `reduce_op='sum'`.
    fn reduction(&mut self) -> Result<(), ParseError> {
        self.keyword(&["reduce_op"])?;
        let (start, name) = (self.peek().1.start, self.name("a reduction such as sum")?);
        if REDUCTIONS.contains(&&name[..]) {
            return Ok(());
        }
        let message = format!("expected a reduction such as sum, found {}", quoted(&name));
        Err(ParseError::new(message, self.text, start..self.position))
    }

    /// A word with `=` after it, if there is one here, which must be one of some.
    fn keyword(&mut self, words: &[&str]) -> Result<Option<&'a str>, ParseError> {
        let text = self.text;
        let mut ahead = Parser { ..*self };
        let (token, span) = ahead.next();
        if token != Token::Name || ahead.next().0 != Token::Symbol('=') {
            return Ok(None);
        }
        let word = &text[span.clone()];
        if !words.contains(&word) {
            let message = format!("expected {}, found {}", words.join(" or "), quoted(word));
            return Err(ParseError::new(message, text, span));
        }
        self.position = ahead.position;
        Ok(Some(word))
    }

    /// Items with commas between them, and perhaps one after the last. Without a closing parenthesis there is at least one.
    fn list<T>(
        &mut self,
        close: Option<char>,
        item: impl Fn(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        let is_end = |token: &Token| match close {
            Some(close) => *token == Token::Symbol(close),
            None => matches!(token, Token::End | Token::Symbol('@' | ':')),
        };
        if close.is_some() && is_end(&self.peek().0) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if self.peek().0 != Token::Symbol(',') {
                return Ok(items);
            }
            self.next();
            if is_end(&self.peek().0) {
                return Ok(items);
            }
        }
    }

    fn number(&mut self, what: &str) -> Result<i64, ParseError> {
        match self.next() {
            (Token::Number(Some(number)), _) => Ok(number),
            (Token::Number(None), span) => {
                let message = format!("{} is more than 64 bits can count", quoted(&self.text[span.clone()]));
                Err(ParseError::new(message, self.text, span))
            }
            (token, span) => Err(self.expected(what, &token, span)),
        }
    }

    /// A name, with or without quotation marks.
    fn name(&mut self, what: &str) -> Result<String, ParseError> {
        match self.next() {
            (Token::Name, span) => Ok(self.text[span].to_owned()),
            (Token::Quoted(name), _) => Ok(name),
            (token, span) => Err(self.expected(what, &token, span)),
        }
    }

    fn symbol(&mut self, symbol: char, after: &str) -> Result<(), ParseError> {
        let (token, span) = self.next();
        if token == Token::Symbol(symbol) {
            return Ok(());
        }
        let what = if after.is_empty() { format!("`{symbol}`") } else { format!("`{symbol}` after {after}") };
        Err(self.expected(&what, &token, span))
    }

    fn expected(&self, what: &str, token: &Token, span: Range<usize>) -> ParseError {
        let found = match token {
            Token::End => "the end of the text".to_owned(),
            _ => quoted(&self.text[span.clone()]),
        };
        ParseError::new(format!("expected {what}, found {found}"), self.text, span)
    }

    /// What cannot be of what can be read, at its place.
    fn mistake(&self, err: Error, place: Range<usize>) -> ParseError {
        ParseError::new(err.to_string(), self.text, place)
    }

    fn peek(&self) -> (Token, Range<usize>) {
        Parser { ..*self }.next()
    }

    fn next(&mut self) -> (Token, Range<usize>) {
        let rest = self.text[self.position..].trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.position = start;
            return (Token::End, start..start);
        };
        let word = |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
        let (token, length) = match first {
            '-' | '+' | '0'..='9' => {
                let sign = usize::from(!first.is_ascii_digit());
                let length = sign + word(&rest[sign..]);
                let is_whole =
                    length > sign && rest[sign..length].bytes().all(|byte| byte.is_ascii_digit() || byte == b'_');
                let digits: String = rest[..length].chars().filter(|&c| c != '_').collect();
                if is_whole {
                    (Token::Number(digits.parse().ok()), length)
                } else {
                    (Token::Symbol(first), length.max(1))
                }
            }
            '\'' | '"' => match rest[1..].find(first) {
                Some(end) => (Token::Quoted(rest[1..1 + end].to_owned()), end + 2),
                None => (Token::Symbol(first), 1),
            },
            _ if first.is_alphabetic() || first == '_' => (Token::Name, word(rest)),
            _ => (Token::Symbol(first), first.len_utf8()),
        };
        self.position = start + length;
        (token, start..start + length)
    }
}

/// A mesh from its axes; those without names have their numbers for names.
fn mesh(axes: Vec<(Option<String>, i64)>) -> Result<Mesh, Error> {
    let names = iter::successors(Some(0usize), |number| Some(number + 1));
    Mesh::new(names.zip(axes).map(|(number, (name, size))| (name.unwrap_or_else(|| number.to_string()), size)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        text.parse::<Sharded>().map_or_else(|err| err.message().to_owned(), |sharded| sharded.to_string())
    }

    #[test]
    fn every_spelling_is_read() {
        for (text, same) in [
            ("8,4@2:S(0)", "(8, 4) @ 2 : S(0)"),
            ("[8, 4] @ (dp=2, tp=2,) : [Shard(dim=1), Replicate()]", "(8, 4) @ dp=2, tp=2 : S(1), R"),
            ("(8,) @ tp=2 : _StridedShard(dim=0, split_factor=4)", "(8,) @ tp=2 : SS(0, 4)"),
            ("(8) @ tp=2 : _StridedShard(sf=4, dim=0)", "(8,) @ tp=2 : SS(0, 4)"),
            ("(8) @ tp=2 : _S(0, 4)", "(8,) @ tp=2 : SS(0, 4)"),
            ("(8) @ tp=2 : StridedShard(0, pieces=4)", "(8,) @ tp=2 : SS(0, 4)"),
            ("(8) @ a=2, b=2, c=2 : P, Partial(), Partial('sum')", "(8,) @ a=2, b=2, c=2 : P, P, P"),
            ("(8) @ tp=2 : P(sum)", "(8,) @ tp=2 : P"),
            ("(8) @ tp=2 : Partial(reduce_op='avg')", "(8,) @ tp=2 : P"),
            ("() @ 1 : R", "() @ 1 : R"),
            ("(8) @ () : ()", "(8,) @  : "),
            ("(1_000) @ 2 : (S(0),)", "(1000,) @ 2 : S(0)"),
        ] {
            assert_eq!(read(text), same, "{text}");
        }
    }

    #[test]
    fn a_text_is_read_as_it_is_written() {
        for text in [
            "(8, 512, 1024) @ dp=2, tp=4 : S(0), S(1)",
            "(4, 4) @ 2 : S(1)",
            "() @ x=3 : P",
            "(6, 6) @ 2, 3 : SS(0, 3), R",
        ] {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn mistakes_have_a_sentence_and_a_place() {
        for (text, message, span) in [
            ("", "expected a size, found the end of the text", 0..0),
            ("(8, 4)", "expected `@` after the shape, found the end of the text", 6..6),
            ("(8, 4) @ dp=2", "expected `:` after the mesh, found the end of the text", 13..13),
            ("(8, 4) @ dp : R", "expected a number of devices, found `R`", 14..15),
            ("(8, 4) @ dp=x : R", "expected a number of devices, found `x`", 12..13),
            ("(8, x) @ 2 : R", "expected a size, found `x`", 4..5),
            (
                "(8) @ 2 : Shad(0)",
                "expected a placement such as R, S(0), SS(0, 4) or P, found `Shad`: did you mean `Shard`?",
                10..14,
            ),
            ("(8) @ 2 : S(-1)", "axis -1 does not exist: axes are counted from 0, and from the front", 12..14),
            ("(8) @ 2 : S(0) R", "expected the end of the text, found `R`", 15..16),
            ("(8) @ 2 : S(0", "expected `)`, found the end of the text", 13..13),
            ("(8) @ 2 : S", "expected `(` after S, found the end of the text", 11..11),
            ("(8) @ 2 : SS(0)", "expected `,`, found `)`", 14..15),
            ("(8) @ 2 : SS(dim=0, dim=0)", "an axis and a number of pieces are given once each", 24..25),
            ("(8) @ 2 : S(size=0)", "expected dim or axis, found `size`", 12..16),
            ("(8) @ 2 : Partial(mode)", "expected a reduction such as sum, found `mode`", 18..22),
            ("(99999999999999999999) @ 2 : R", "`99999999999999999999` is more than 64 bits can count", 1..21),
            ("(8) @ dp=0 : R", "mesh: mesh axis dp has 0 devices, but a mesh axis needs at least 1", 6..10),
            (
                "(8) @ 2 : R, R",
                "placement: there is one placement for each mesh axis: the mesh has 1 axis, and 2 were given",
                10..14,
            ),
            (
                "(8) @ 2 : (S(1))",
                "placement: mesh axis 0 shards axis 1, which does not exist: the tensor has 1 axis",
                10..16,
            ),
            ("(8) @ 2 : 1.5", "expected a placement such as R, S(0), SS(0, 4) or P, found `1`", 10..11),
            ("(8) @ 2 : 'S", "expected a placement such as R, S(0), SS(0, 4) or P, found `'`", 10..11),
            ("(8) @ 2 : é", "expected a placement such as R, S(0), SS(0, 4) or P, found `é`", 10..12),
        ] {
            let err = text.parse::<Sharded>().unwrap_err();
            assert_eq!((err.message(), err.span()), (message, span), "{text}");
        }
    }

    #[test]
    fn nothing_panics_on_parts_of_texts() {
        let texts = ["(8, 5) @ dp=2, tp=2 : _StridedShard(dim=0, split_factor=4), P(sum)", "[8]@é=2:P('é', (None))"];
        for text in texts {
            let ends = (0..=text.len()).filter(|&end| text.is_char_boundary(end));
            for (begin, end) in
                ends.clone().flat_map(|end| ends.clone().take_while(move |&b| b <= end).map(move |b| (b, end)))
            {
                let _ = text[begin..end].parse::<Sharded>();
            }
        }
    }
}
