//! The text of index maps: Python's `lambda`, which is TVM's too, MLIR's `affine_map`, and an arrow between tuples.

use std::fmt;
use std::ops::Range;

use indexpr::{Binary, Expr, Graph, Node, Syntax, Unsupported};
use shapetracker_base::text::{ParseError, Token, Tokens, check_length, nearest, quoted};

use super::{IndexMap, MAX_RESULTS};
use crate::error::Error;

impl IndexMap {
    /// Reads a map, whose loops have the ranges that are given for their names.
    ///
    /// The text is one of `lambda i, j: (i // 4, j)`, `T.index_map(lambda i, j: (i // 4, j))` as TVM prints it,
    /// `affine_map<(d0, d1)[s0] -> (d0 floordiv 4, d1 + s0)>` of MLIR, whose symbols are further loops, `(i, j) -> (i // 4, j)`, and
    /// the results without a list of loops, `(i // 4, j)`: then the loops are those of the ranges, in their order. The
    /// expressions are those of [`Graph::parse`] in the syntax of Python.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    ///
    /// let map = IndexMap::parse("affine_map<(d0) -> (d0 floordiv 4, d0 mod 4)>", &[("d0", 0..16)])?;
    /// assert_eq!(map.to_string(), "lambda d0: (d0 // 4, d0 % 4)");
    ///
    /// let err = IndexMap::parse("lambda i, j: (i // 4, j)", &[("i", 0..16)]).unwrap_err();
    /// assert_eq!(
    ///     err.to_string(),
    ///     "the loop `j` has no range: it needs one such as `j=0..8`\n\
    ///      \u{20} lambda i, j: (i // 4, j)\n\
    ///      \u{20}           ^",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What is no map, at its place in the text; a loop without a range, a range without a loop; what [`Graph::parse`] and
    /// [`IndexMap::new`] refuse.
    pub fn parse(text: &str, ranges: &[(&str, Range<i64>)]) -> Result<IndexMap, ParseError> {
        check_length(text)?;
        let parts = Parts::of(text)?;
        let whole =
            text.len() - text.trim_start().len()..text.trim_end().len().max(text.len() - text.trim_start().len());
        let mut graph = Graph::new();
        let refused = |span: &Range<usize>, err: &indexpr::Error| ParseError::new(err.reason(), text, span.clone());
        match &parts.loops {
            Some(loops) => {
                for (at, span) in loops.iter().enumerate() {
                    let name = &text[span.clone()];
                    if loops[..at].iter().any(|earlier| &text[earlier.clone()] == name) {
                        return Err(ParseError::new(format!("the loop `{name}` is named twice"), text, span.clone()));
                    }
                    let Some((_, range)) = ranges.iter().find(|(known, _)| *known == name) else {
                        let message = format!("the loop `{name}` has no range: it needs one such as `{name}=0..8`");
                        return Err(ParseError::new(message, text, span.clone()));
                    };
                    graph.variable(name, range.clone()).map_err(|err| refused(span, &err))?;
                }
                let names = || loops.iter().map(|span| &text[span.clone()]);
                if let Some((extra, _)) = ranges.iter().find(|(name, _)| !names().any(|known| known == *name)) {
                    let meant = nearest(extra, names());
                    let meant = meant.map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default();
                    let message = format!("{} has a range and is no loop of the map{meant}", quoted(extra));
                    return Err(ParseError::new(message, text, parts.header));
                }
            }
            None => {
                for (name, range) in ranges {
                    graph.variable(name, range.clone()).map_err(|err| refused(&whole, &err))?;
                }
            }
        }
        let mut results = Vec::with_capacity(parts.results.len());
        for span in &parts.results {
            let result = graph.parse_part(text, span.clone(), Syntax::Python)?;
            if graph.is_condition(result) {
                let span = trimmed(text, span);
                return Err(ParseError::new("a result of a map is a number, and this is a condition", text, span));
            }
            results.push(result);
        }
        IndexMap::new(graph, results).map_err(|err| ParseError::new(err.reason(), text, whole))
    }

    /// The names of the loops that a text gives, for whoever has ranges for more names than those; `None` where it has no list
    /// of loops.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// assert_eq!(IndexMap::loop_names("lambda i, j: (j, i)")?, Some(vec!["i", "j"]));
    /// assert_eq!(IndexMap::loop_names("(j, i)")?, None);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What is no map, as far as that is seen without reading its expressions.
    pub fn loop_names(text: &str) -> Result<Option<Vec<&str>>, ParseError> {
        check_length(text)?;
        let loops = Parts::of(text)?.loops;
        Ok(loops.map(|loops| loops.into_iter().map(|span| &text[span]).collect()))
    }

    /// The text of Python: `lambda i, j: (i // 4, j)`. What `transform_layout` of TVM takes is [`IndexMap::to_tvm`], which differs
    /// in results that are numbers.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::parse("(i,) -> (min(i, 3),)", &[("i", 0..9)])?;
    /// assert_eq!(map.text()?, "lambda i: (min(i, 3),)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A result whose shared parts would make the text too long.
    pub fn text(&self) -> Result<String, Error> {
        let results = self.results.iter().map(|result| self.result_text(*result, Syntax::Python));
        Ok(self.lambda(&results.collect::<Result<Vec<_>, _>>()?))
    }

    fn lambda(&self, results: &[String]) -> String {
        let names: Vec<&str> = self.loops().iter().map(|variable| &variable.name[..]).collect();
        let space = if names.is_empty() { "" } else { " " };
        format!("lambda{space}{}: {}", names.join(", "), shapetracker_base::text::tuple(results))
    }

    /// The map as TVM reads it: `T.index_map(lambda i, j: (i // 4, j))`. A result that is a number is `T.int32(0)` there: TVM prints
    /// `0`, and refuses to read it.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::parse("(i, j) -> (i // 4, j)", &[("i", 0..16), ("j", 0..8)])?;
    /// assert_eq!(map.to_tvm().as_deref(), Ok("T.index_map(lambda i, j: (i // 4, j))"));
    /// let first = IndexMap::parse("T.index_map(lambda i: (i, T.int64(0)))", &[("i", 0..16)])?; // as TVM prints it
    /// assert_eq!(first.to_tvm().as_deref(), Ok("T.index_map(lambda i: (i, T.int32(0)))"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A sentence about a minimum, a maximum or a choice, which Python's words do not make of TVM's expressions, or about a text
    /// that would be too long.
    pub fn to_tvm(&self) -> Result<String, String> {
        let is_word = |node: Node| {
            !matches!(node, Node::Int(_) | Node::Variable(_) | Node::Binary(..))
                || matches!(node, Node::Binary(Binary::Min | Binary::Max, ..))
        };
        if self.graph.parts(&self.results).iter().any(|part| is_word(self.graph.node(*part))) {
            return Err(
                "a minimum, a maximum or a choice has no text that is both Python's and TVM's: write it with `T.min`, \
                        `T.max` or `T.if_then_else`"
                    .into(),
            );
        }
        let result = |&result: &Expr| match self.graph.range(result) {
            (value, other) if value == other && i32::try_from(value).is_ok() => Ok(format!("T.int32({value})")),
            (value, other) if value == other => Ok(format!("T.int64({value})")),
            _ => self.result_text(result, Syntax::Python),
        };
        let results = self.results.iter().map(result).collect::<Result<Vec<_>, _>>().map_err(|err| err.to_string())?;
        Ok(format!("T.index_map({})", self.lambda(&results)))
    }

    /// The map as MLIR writes it: `affine_map<(i, j) -> (i floordiv 4, j)>`.
    ///
    /// ```
    /// use shapetracker::IndexMap;
    /// let map = IndexMap::parse("lambda i, j: (i // 4, j)", &[("i", 0..16), ("j", 0..8)])?;
    /// assert_eq!(map.to_mlir()?, "affine_map<(i, j) -> (i floordiv 4, j)>");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What is not affine in MLIR: a product of loops, a minimum, a choice.
    pub fn to_mlir(&self) -> Result<String, Unsupported> {
        self.graph.affine_map(&self.results)
    }
}

/// The text of Python, with `..` for a result that would be too long.
impl fmt::Display for IndexMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |result| self.result_text(result, Syntax::Python).unwrap_or_else(|_| "..".into());
        f.write_str(&self.lambda(&self.results.iter().map(|result| text(*result)).collect::<Vec<_>>()))
    }
}

/// Where the parts of a map stand in its text.
struct Parts {
    /// The names of the loops; `None` where the text has no list of them.
    loops: Option<Vec<Range<usize>>>,
    /// All that is in front of the results.
    header: Range<usize>,
    results: Vec<Range<usize>>,
}

impl Parts {
    fn of(text: &str) -> Result<Parts, ParseError> {
        let mut tokens = Tokens::of_expression(text);
        let begin = tokens.span.start;
        // MLIR names its attributes: `#map = affine_map<..>`.
        if tokens.word() == "#" {
            let mut ahead = tokens.clone();
            ahead.advance();
            if ahead.take(Token::Name) && ahead.take(Token::Equals) {
                tokens = ahead;
            }
        }
        if tokens.word() == "affine_map" {
            tokens.advance();
            expect(&mut tokens, "<")?;
            let mut loops = names(&mut tokens, Token::Open(b'('))?;
            if tokens.token == Token::Open(b'[') {
                loops.extend(names(&mut tokens, Token::Open(b'['))?);
            }
            expect(&mut tokens, "->")?;
            let header = begin..tokens.last;
            let results = listed(&mut tokens)?;
            expect(&mut tokens, ">")?;
            end(&tokens)?;
            return Ok(Parts { loops: Some(loops), header, results });
        }
        // TVM prints `T.index_map(lambda ..)`.
        let mut ahead = tokens.clone();
        while ahead.token == Token::Name && ahead.second() == Token::Dot {
            ahead.advance();
            ahead.advance();
        }
        let is_call = ahead.token == Token::Name && ahead.word() != "lambda" && ahead.second() == Token::Open(b'(');
        if is_call {
            ahead.advance();
            ahead.advance();
            if ahead.word() == "lambda" {
                let loops = Some(lambda(&mut ahead)?);
                let header = begin..ahead.last;
                let results = listed(&mut ahead)?;
                // Arguments by name, such as the type of indices, say nothing of the map.
                while ahead.take(Token::Comma) && ahead.token == Token::Name && ahead.second() == Token::Equals {
                    for _ in 0..3 {
                        ahead.advance();
                    }
                }
                ahead.close(Token::Close(b')'))?;
                end(&ahead)?;
                return Ok(Parts { loops, header, results });
            }
        }
        let loops = if tokens.word() == "lambda" { Some(lambda(&mut tokens)?) } else { arrow(&mut tokens)? };
        let header = begin..tokens.last.max(begin);
        Ok(Parts { loops, header, results: results(&tokens)? })
    }
}

/// The names of a list in parentheses or brackets.
fn names(tokens: &mut Tokens<'_>, open: Token) -> Result<Vec<Range<usize>>, ParseError> {
    let mut names = Vec::new();
    if tokens.token != open {
        return Err(tokens.expected("`(` and the names of the loops"));
    }
    let close = tokens.open("`(`")?;
    while tokens.token != close {
        names.push(name(tokens)?);
        tokens.comma_or(close)?;
    }
    tokens.close(close)?;
    Ok(names)
}

fn name(tokens: &mut Tokens<'_>) -> Result<Range<usize>, ParseError> {
    if tokens.token != Token::Name {
        return Err(tokens.expected("the name of a loop"));
    }
    let span = tokens.span.clone();
    tokens.advance();
    Ok(span)
}

/// `lambda i, j:`.
fn lambda(tokens: &mut Tokens<'_>) -> Result<Vec<Range<usize>>, ParseError> {
    tokens.advance();
    let mut names = Vec::new();
    while tokens.token != Token::Colon {
        names.push(name(tokens)?);
        if !tokens.take(Token::Comma) && tokens.token != Token::Colon {
            return Err(tokens.expected("`,` or `:`"));
        }
    }
    tokens.advance();
    Ok(names)
}

/// `(i, j) ->`, or nothing where that is not how the text begins.
fn arrow(tokens: &mut Tokens<'_>) -> Result<Option<Vec<Range<usize>>>, ParseError> {
    let mut ahead = tokens.clone();
    let mut depth = 0u32;
    loop {
        match ahead.token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            Token::End => return Ok(None),
            _ => {}
        }
        ahead.advance();
        if depth == 0 {
            break;
        }
    }
    if ahead.word() != "->" {
        return Ok(None);
    }
    let loops = match tokens.token {
        Token::Open(_) => names(tokens, Token::Open(b'('))?,
        _ => vec![name(tokens)?],
    };
    expect(tokens, "->")?;
    Ok(Some(loops))
}

/// The results up to the end of the text: a tuple, a list, one expression, or several with commas.
fn results(tokens: &Tokens<'_>) -> Result<Vec<Range<usize>>, ParseError> {
    let mut whole = tokens.clone();
    if let Token::Open(_) = whole.token
        && let Ok(results) = listed(&mut whole)
        && whole.token == Token::End
    {
        return Ok(results);
    }
    let mut rest = tokens.clone();
    while let Token::Open(_) = rest.token {
        let (open, mut depth) = (rest.span.clone(), 0u32);
        loop {
            match rest.token {
                Token::Open(_) => depth += 1,
                Token::Close(_) => depth -= 1,
                Token::End => {
                    let message = format!("`{}` is never closed", &rest.text[open.clone()]);
                    return Err(rest.error_at(open, message).and_unfinished());
                }
                _ => {}
            }
            rest.advance();
            if depth == 0 {
                break;
            }
        }
    }
    let mut rest = tokens.clone();
    let results = separated(&mut rest, Token::End)?;
    if results.is_empty() { Err(tokens.expected("the results of the map")) } else { Ok(results) }
}

/// The results in parentheses or brackets.
fn listed(tokens: &mut Tokens<'_>) -> Result<Vec<Range<usize>>, ParseError> {
    let close = tokens.open("`(` and the results of the map")?;
    let results = separated(tokens, close)?;
    tokens.close(close)?;
    Ok(results)
}

/// Expressions with commas between them, up to what closes them.
fn separated(tokens: &mut Tokens<'_>, close: Token) -> Result<Vec<Range<usize>>, ParseError> {
    let mut results = Vec::new();
    while tokens.token != close {
        let (start, mut depth) = (tokens.span.start, 0u32);
        while depth > 0 || (tokens.token != Token::Comma && tokens.token != close) {
            match tokens.token {
                Token::Open(_) => depth += 1,
                Token::Close(_) if depth == 0 => break,
                Token::Close(_) => depth -= 1,
                Token::End => break,
                _ => {}
            }
            tokens.advance();
        }
        // What is empty or never closed is refused where the expression is read.
        results.push(start..tokens.last.max(start));
        if results.len() > MAX_RESULTS {
            let message = format!("the map has more than {MAX_RESULTS} results, which are too many");
            return Err(tokens.error_at(start..tokens.last.max(start), message));
        }
        if !tokens.take(Token::Comma) {
            break;
        }
    }
    if tokens.token != close && results.is_empty() {
        return Err(tokens.expected("the results of the map"));
    }
    Ok(results)
}

/// Goes past a symbol, which must stand there.
fn expect(tokens: &mut Tokens<'_>, symbol: &str) -> Result<(), ParseError> {
    if tokens.word() != symbol {
        return Err(tokens.expected(&format!("`{symbol}`")));
    }
    tokens.advance();
    Ok(())
}

fn end(tokens: &Tokens<'_>) -> Result<(), ParseError> {
    if tokens.token == Token::End { Ok(()) } else { Err(tokens.expected("the end of the map")) }
}

/// Some bytes of a text without the white space at their ends.
fn trimmed(text: &str, span: &Range<usize>) -> Range<usize> {
    let part = &text[span.clone()];
    let end = span.start + part.trim_end().len();
    end - part.trim_end().trim_start().len()..end
}
