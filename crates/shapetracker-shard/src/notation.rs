//! The text of a tensor spread over a mesh.

use std::iter;
use std::ops::Range;
use std::str::FromStr;

use shapetracker_base::text::{ParseError, Token, Tokens, check_length, nearest, quoted};

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
/// Comments are written as in Python.
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
/// # Ok::<(), shapetracker_base::text::ParseError>(())
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
    /// # Ok::<(), shapetracker_base::text::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, or fits neither the shape nor the mesh, with its place in the text.
    pub fn parse_beside(&self, text: &str) -> Result<Sharded, ParseError> {
        Parser::new(text)?.sharded(Some(self.mesh()))
    }
}

/// A text and how far it is read.
#[derive(Clone)]
struct Parser<'a> {
    tokens: Tokens<'a>,
}

/// The placements of a tensor as they are written.
enum Written {
    /// One for each mesh axis.
    Placements(Vec<Placement>),
    /// The mesh axes of each tensor axis.
    Spec(Vec<Vec<String>>),
}

const OPEN: Token = Token::Open(b'(');
const CLOSE: Token = Token::Close(b')');

/// The words for placements.
const WORDS: [&str; 11] =
    ["R", "S", "SS", "P", "Replicate", "Shard", "StridedShard", "_StridedShard", "_S", "Partial", "PartitionSpec"];

/// What the summands of a partial tensor may be put together with, as PyTorch writes it.
const REDUCTIONS: [&str; 9] = ["sum", "avg", "product", "min", "max", "band", "bor", "bxor", "premulsum"];

impl<'a> Parser<'a> {
    fn new(text: &'a str) -> Result<Self, ParseError> {
        check_length(text)?;
        Ok(Parser { tokens: Tokens::new(text) })
    }

    /// All of the text; the mesh may be missing where there is one to take its place.
    fn sharded(mut self, known: Option<&Mesh>) -> Result<Sharded, ParseError> {
        let (shape, _) = self.part(Parser::sizes)?;
        let mesh = match known {
            Some(known) if self.tokens.token == Token::Colon => known.clone(),
            _ => {
                if !self.tokens.take_symbol("@") {
                    return Err(self.tokens.expected("`@` after the shape"));
                }
                let (axes, place) = self.part(Parser::axes)?;
                mesh(axes).map_err(|err| self.mistake(err, place))?
            }
        };
        self.need(Token::Colon, "`:` after the mesh")?;
        let (written, place) = self.part(|parser, end| parser.placements(&mesh, end))?;
        self.need(Token::End, "the end of the text")?;
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
        read: impl FnOnce(&mut Self, Option<Token>) -> Result<T, ParseError>,
    ) -> Result<(T, Range<usize>), ParseError> {
        let start = self.tokens.span.start;
        let close = if let Token::Open(_) = self.tokens.token { Some(self.tokens.open("")?) } else { None };
        let value = read(self, close)?;
        if let Some(close) = close {
            self.tokens.close(close)?;
        }
        Ok((value, start..self.tokens.last))
    }

    /// `8, 512, 1024`; nothing at all only in parentheses.
    fn sizes(&mut self, close: Option<Token>) -> Result<Vec<i64>, ParseError> {
        self.list(close, |parser| parser.number("a size"))
    }

    /// `dp=2, tp=4` or `2, 4`.
    fn axes(&mut self, close: Option<Token>) -> Result<Vec<(Option<String>, i64)>, ParseError> {
        self.list(close, |parser| {
            if parser.is_number() {
                return Ok((None, parser.number("a number of devices")?));
            }
            let name = parser.name("a mesh axis such as `dp=2`")?;
            if !parser.tokens.take(Token::Equals) {
                parser.need(Token::Colon, "`=` and a number of devices")?;
            }
            Ok((Some(name), parser.number("a number of devices")?))
        })
    }

    /// One placement for each mesh axis, or one partition.
    fn placements(&mut self, mesh: &Mesh, close: Option<Token>) -> Result<Written, ParseError> {
        if self.is_spec(mesh) {
            self.tokens.advance();
            return self.spec().map(Written::Spec);
        }
        self.list(close, Parser::placement).map(Written::Placements)
    }

    /// Whether a partition begins here: `PartitionSpec(`, or `P(` and not the name of a reduction.
    fn is_spec(&self, mesh: &Mesh) -> bool {
        if !self.tokens.at_word("P") && !self.tokens.at_word("PartitionSpec") {
            return false;
        }
        if self.tokens.second() != Token::Open(b'(') {
            return self.tokens.word() == "PartitionSpec";
        }
        let (token, entry) = self.tokens.third();
        !(token == Token::Name && REDUCTIONS.contains(&entry) && mesh.axis(entry).is_none())
    }

    /// `('dp', None, ('x', 'y'))`: an entry for each tensor axis.
    fn spec(&mut self) -> Result<Vec<Vec<String>>, ParseError> {
        self.need(OPEN, "`(`")?;
        let entries = self.list(Some(CLOSE), |parser| {
            if parser.tokens.take(OPEN) {
                let names = parser.list(Some(CLOSE), |parser| parser.name("a mesh axis"))?;
                parser.tokens.close(CLOSE)?;
                Ok(names)
            } else if parser.tokens.at_word("None") {
                parser.tokens.advance();
                Ok(Vec::new())
            } else {
                Ok(vec![parser.name("a mesh axis, a tuple of them or None")?])
            }
        })?;
        self.tokens.close(CLOSE)?;
        Ok(entries)
    }

    fn placement(&mut self) -> Result<Placement, ParseError> {
        const WHAT: &str = "a placement such as R, S(0), SS(0, 4) or P";
        let (word, span) = (self.tokens.word(), self.tokens.span.clone());
        if !self.tokens.at_name() {
            return Err(self.tokens.expected(WHAT));
        }
        self.tokens.advance();
        let placement = match word {
            "R" | "Replicate" => {
                if self.tokens.take(OPEN) {
                    self.tokens.close(CLOSE)?;
                }
                return Ok(Placement::Replicate);
            }
            "P" | "Partial" => {
                if self.tokens.take(OPEN) {
                    if self.tokens.token != CLOSE {
                        self.reduction()?;
                    }
                    self.tokens.close(CLOSE)?;
                }
                return Ok(Placement::Partial);
            }
            "S" | "Shard" => {
                self.need(OPEN, &format!("`(` after {word}"))?;
                Placement::Shard(self.axis()?)
            }
            "SS" | "_S" | "StridedShard" | "_StridedShard" => {
                self.need(OPEN, &format!("`(` after {word}"))?;
                self.strided()?
            }
            _ => {
                // Letters are compared as small ones, and the words have capitals.
                let small = WORDS.map(str::to_ascii_lowercase);
                let meant = nearest(word, small.iter().map(String::as_str));
                let meant = meant.and_then(|meant| WORDS.into_iter().find(|word| word.eq_ignore_ascii_case(meant)));
                let meant = meant.map(|word| format!(": did you mean `{word}`?")).unwrap_or_default();
                return Err(self.tokens.error_at(span, format!("expected {WHAT}, found {}{meant}", quoted(word))));
            }
        };
        self.tokens.close(CLOSE)?;
        Ok(placement)
    }

    /// `0` or `dim=0`.
    fn axis(&mut self) -> Result<usize, ParseError> {
        self.keyword(&["dim", "axis"])?;
        let (start, number) = (self.tokens.span.start, self.number("an axis")?);
        usize::try_from(number).map_err(|_| {
            let message = format!("axis {number} does not exist: axes are counted from 0, and from the front");
            self.tokens.error_at(start..self.tokens.last, message)
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
                let message = "an axis and a number of pieces are given once each";
                return Err(self.tokens.error_at(self.tokens.span.clone(), message));
            }
            if is_axis {
                axis = Some(self.axis()?);
            } else {
                pieces = Some(self.number("a number of pieces")?);
            }
            if axis.is_none() || pieces.is_none() {
                self.need(Token::Comma, "`,`")?;
            }
        }
        let (Some(axis), Some(pieces)) = (axis, pieces) else {
            return Err(self.tokens.expected("an axis and a number of pieces"));
        };
        Ok(Placement::StridedShard { axis, pieces })
    }

    /// `sum`, `'sum'` or `reduce_op='sum'`.
    fn reduction(&mut self) -> Result<(), ParseError> {
        self.keyword(&["reduce_op"])?;
        let (start, name) = (self.tokens.span.start, self.name("a reduction such as sum")?);
        if REDUCTIONS.contains(&&name[..]) {
            return Ok(());
        }
        let message = format!("expected a reduction such as sum, found {}", quoted(&name));
        Err(self.tokens.error_at(start..self.tokens.last, message))
    }

    /// A word with `=` after it, if there is one here, which must be one of some.
    fn keyword(&mut self, words: &[&str]) -> Result<Option<&'a str>, ParseError> {
        if !self.tokens.at_argument_name() {
            return Ok(None);
        }
        let word = self.tokens.word();
        if !words.contains(&word) {
            let message = format!("expected {}, found {}", words.join(" or "), quoted(word));
            return Err(self.tokens.error_at(self.tokens.span.clone(), message));
        }
        self.tokens.advance();
        self.tokens.advance();
        Ok(Some(word))
    }

    /// Items with commas between them, and perhaps one after the last. Without a closing parenthesis there is at least one.
    fn list<T>(
        &mut self,
        close: Option<Token>,
        item: impl Fn(&mut Self) -> Result<T, ParseError>,
    ) -> Result<Vec<T>, ParseError> {
        let mut items = Vec::new();
        let is_end = |parser: &Self| match close {
            Some(close) => parser.tokens.token == close,
            None => matches!(parser.tokens.token, Token::End | Token::Colon) || parser.tokens.is_symbol("@"),
        };
        if close.is_some() && is_end(self) {
            return Ok(items);
        }
        loop {
            items.push(item(self)?);
            if !self.tokens.take(Token::Comma) || is_end(self) {
                return Ok(items);
            }
        }
    }

    /// Whether a number is next, perhaps with a sign right before it. `_2` is none here, but a name as in Python.
    fn is_number(&self) -> bool {
        match self.tokens.token {
            Token::Number => self.tokens.word().starts_with(|c: char| c.is_ascii_digit()),
            _ => self.is_signed(),
        }
    }

    /// Whether a sign is next, and a number right behind it.
    fn is_signed(&self) -> bool {
        let behind = self.tokens.text.as_bytes().get(self.tokens.span.end);
        matches!(self.tokens.word(), "-" | "+")
            && self.tokens.second() == Token::Number
            && behind.is_some_and(u8::is_ascii_digit)
    }

    fn number(&mut self, what: &str) -> Result<i64, ParseError> {
        if !self.is_number() {
            return Err(self.tokens.expected(what));
        }
        let (start, is_negative) = (self.tokens.span.start, self.tokens.is_symbol("-"));
        if self.is_signed() {
            self.tokens.advance();
        }
        let value = self.tokens.value().map(|value| if is_negative { -value } else { value });
        self.tokens.advance();
        value.and_then(|value| i64::try_from(value).ok()).ok_or_else(|| {
            let span = start..self.tokens.last;
            let message = format!("{} is more than 64 bits can count", quoted(&self.tokens.text[span.clone()]));
            self.tokens.error_at(span, message)
        })
    }

    /// A name, with or without quotation marks.
    fn name(&mut self, what: &str) -> Result<String, ParseError> {
        let word = self.tokens.word();
        let name = match self.tokens.token {
            Token::Text => &word[1..word.len() - 1],
            _ if self.tokens.at_name() => word,
            _ => return Err(self.tokens.expected(what)),
        };
        self.tokens.advance();
        Ok(name.to_owned())
    }

    fn need(&mut self, token: Token, what: &str) -> Result<(), ParseError> {
        if self.tokens.take(token) { Ok(()) } else { Err(self.tokens.expected(what)) }
    }

    /// What cannot be of what can be read, at its place.
    fn mistake(&self, err: Error, place: Range<usize>) -> ParseError {
        self.tokens.error_at(place, err.to_string())
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
            ("(+8) @ _1=2, 'a b'=2 : P('_1')", "(8,) @ _1=2, a b=2 : S(0), R"),
            ("(8) # sizes\n @ 2 # devices\n : R # placements", "(8,) @ 2 : R"),
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
            ("(8) @ 2 : 1.5", "expected a placement such as R, S(0), SS(0, 4) or P, found `1.5`", 10..13),
            ("(8) @ 2 : 'S", "expected a placement such as R, S(0), SS(0, 4) or P, found `'S`", 10..12),
            ("(8, - 1) @ 2 : R", "expected a size, found `-`", 4..5),
            ("(_8) @ 2 : R", "expected a size, found `_8`", 1..3),
            ("(8) @ _-1=2 : R", "expected a mesh axis such as `dp=2`, found `_-1`", 6..9),
            ("(8) @ dp==2 : R", "expected `=` and a number of devices, found `==`", 8..10),
            ("(8) @ 2 : é", "expected a placement such as R, S(0), SS(0, 4) or P, found `é`", 10..12),
        ] {
            let err = text.parse::<Sharded>().unwrap_err();
            assert_eq!((err.message(), err.span()), (message, span), "{text}");
            assert_eq!(err.is_unfinished(), message.ends_with("the end of the text"), "{text}");
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
