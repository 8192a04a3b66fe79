//! Splits a text into tokens, and goes through them.

use std::ops::Range;

use crate::mistake::{ParseError, quoted};

/// A token of a text of numbers, names and calls.
///
/// ```
/// use shapetracker_base::text::{Token, Tokens};
///
/// let mut tokens = Tokens::new("x[1:]");
/// let mut found = Vec::new();
/// while tokens.token != Token::End {
///     found.push(tokens.token);
///     tokens.advance();
/// }
/// assert_eq!(found, [Token::Name, Token::Open(b'['), Token::Number, Token::Colon, Token::Close(b']')]);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    /// `(` or `[`.
    Open(u8),
    /// `)` or `]`.
    Close(u8),
    /// `,`
    Comma,
    /// `:`
    Colon,
    /// `.`
    Dot,
    /// `=`
    Equals,
    /// A whole number without a sign. CuTe writes numbers that it knows when it compiles with an underscore, `_12`, and there a
    /// sign belongs to the number.
    Number,
    /// A name, such as that of an operation.
    Name,
    /// A number that is not whole, such as `1.5` or `2e-3`, and what else starts with a digit.
    NotWhole,
    /// A text between quotes, such as a pattern of einops; the quotes are of the token.
    Text,
    /// An operator, of one character or more, or any other character: its text says which.
    Symbol,
    /// The end of the text.
    End,
}

/// A text and a place in it: the next token, and what has been read before. A clone looks ahead.
///
/// Spaces, line ends and Python's comments stand between tokens; [`Tokens::without_comments`] has no comments.
///
/// ```
/// use shapetracker_base::text::{Token, Tokens};
///
/// let mut tokens = Tokens::new("(2, T)  # a shape");
/// let close = tokens.open("a shape").unwrap();
/// assert_eq!((tokens.token, tokens.second()), (Token::Number, Token::Comma));
/// tokens.advance();
/// tokens.comma_or(close).unwrap();
/// assert_eq!(tokens.word(), "T");
/// assert_eq!(tokens.close(close).unwrap_err().message(), "expected `)`, found `T`");
/// ```
#[derive(Clone, Debug)]
pub struct Tokens<'a> {
    /// The whole text.
    pub text: &'a str,
    /// The next token; at the end of the text again and again the end.
    pub token: Token,
    /// The bytes of the next token.
    pub span: Range<usize>,
    /// The end of the token before.
    pub last: usize,
    writing: Writing,
}

/// What the texts that are read differ in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Writing {
    /// Python's comments stand between tokens.
    Commented,
    /// `#` is a character like any other.
    Plain,
    /// The same, and `_12` is a name.
    Expression,
}

impl<'a> Tokens<'a> {
    /// The beginning of a text.
    ///
    /// ```
    /// assert_eq!(shapetracker_base::text::Tokens::new(" x").span, 1..2);
    /// ```
    pub fn new(text: &'a str) -> Self {
        Tokens::written(text, Writing::Commented)
    }

    /// The beginning of a text in which `#` begins no comment, such as an attribute of MLIR.
    ///
    /// ```
    /// assert_eq!(shapetracker_base::text::Tokens::without_comments("#ttg.linear").word(), "#");
    /// ```
    pub fn without_comments(text: &'a str) -> Self {
        Tokens::written(text, Writing::Plain)
    }

    /// The beginning of an expression: `#` begins no comment, and `_12` is a name.
    ///
    /// ```
    /// use shapetracker_base::text::{Token, Tokens};
    ///
    /// assert_eq!((Tokens::of_expression("_12").token, Tokens::new("_12").token), (Token::Name, Token::Number));
    /// ```
    pub fn of_expression(text: &'a str) -> Self {
        Tokens::written(text, Writing::Expression)
    }

    fn written(text: &'a str, writing: Writing) -> Self {
        let (token, span) = token_at(text, 0, writing);
        Tokens { text, token, span, last: 0, writing }
    }

    /// The first token at or behind a byte of the text, and its bytes.
    #[inline]
    fn token_from(&self, position: usize) -> (Token, Range<usize>) {
        token_at(self.text, position, self.writing)
    }

    /// The text of the next token.
    ///
    /// ```
    /// assert_eq!(shapetracker_base::text::Tokens::new("..").word(), "..");
    /// ```
    #[inline]
    pub fn word(&self) -> &'a str {
        &self.text[self.span.clone()]
    }

    /// The value of the number that is the next token; `None` where it does not fit, or where that is no number.
    ///
    /// ```
    /// use shapetracker_base::text::Tokens;
    ///
    /// assert_eq!((Tokens::new("1_000").value(), Tokens::new("_-3").value()), (Some(1000), Some(-3)));
    /// ```
    pub fn value(&self) -> Option<i128> {
        if self.token != Token::Number {
            return None;
        }
        let word = self.word();
        let digits = word.bytes().filter(u8::is_ascii_digit).map(|digit| i64::from(digit - b'0'));
        let value = if word.len() < 19 {
            // So many digits fit.
            i128::from(digits.fold(0, |value, digit| value * 10 + digit))
        } else {
            digits.map(i128::from).try_fold(0_i128, |value, digit| value.checked_mul(10)?.checked_add(digit))?
        };
        // A sign belongs to a number behind an underscore.
        Some(if word.as_bytes().get(1) == Some(&b'-') { -value } else { value })
    }

    /// Goes past the next token.
    ///
    /// ```
    /// let mut tokens = shapetracker_base::text::Tokens::new("a b");
    /// tokens.advance();
    /// assert_eq!((tokens.word(), tokens.last), ("b", 1));
    /// ```
    #[inline]
    pub fn advance(&mut self) {
        self.last = self.span.end;
        (self.token, self.span) = self.token_from(self.last);
    }

    /// Goes on with the first token at or behind a byte of the text.
    ///
    /// ```
    /// let mut tokens = shapetracker_base::text::Tokens::new("a b c");
    /// tokens.go_on_at(3);
    /// assert_eq!(tokens.word(), "c");
    /// ```
    pub fn go_on_at(&mut self, position: usize) {
        self.last = position;
        (self.token, self.span) = self.token_from(position);
    }

    /// Goes past the next token if it is the given one.
    ///
    /// ```
    /// use shapetracker_base::text::{Token, Tokens};
    /// assert!(Tokens::new(", 2").take(Token::Comma) && !Tokens::new("2").take(Token::Comma));
    /// ```
    pub fn take(&mut self, token: Token) -> bool {
        let found = self.token == token;
        if found {
            self.advance();
        }
        found
    }

    /// Whether the next token is this name.
    ///
    /// ```
    /// assert!(shapetracker_base::text::Tokens::new("over (2, 3)").at_word("over"));
    /// ```
    pub fn at_word(&self, word: &str) -> bool {
        self.token == Token::Name && self.word() == word
    }

    /// Whether the next token is a name, in a text that has no numbers such as `_12`: there that is a name, too.
    ///
    /// ```
    /// use shapetracker_base::text::Tokens;
    /// assert!(Tokens::new("_12").at_name() && !Tokens::new("_-12").at_name());
    /// ```
    pub fn at_name(&self) -> bool {
        match self.token {
            Token::Name => true,
            Token::Number => self.word().starts_with('_') && !self.word().contains('-'),
            _ => false,
        }
    }

    /// Whether the next token is this operator, or this character that is of no other kind.
    ///
    /// ```
    /// assert!(shapetracker_base::text::Tokens::new("// 2").is_symbol("//"));
    /// ```
    pub fn is_symbol(&self, symbol: &str) -> bool {
        self.token == Token::Symbol && self.word() == symbol
    }

    /// Goes past the next token if it is this operator.
    ///
    /// ```
    /// assert!(!shapetracker_base::text::Tokens::new("// 2").take_symbol("/"));
    /// ```
    pub fn take_symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    /// The token after the next.
    ///
    /// ```
    /// use shapetracker_base::text::{Token, Tokens};
    /// assert_eq!(Tokens::new("x.T").second(), Token::Dot);
    /// ```
    pub fn second(&self) -> Token {
        self.token_from(self.span.end).0
    }

    /// The token after the next two, and its text.
    ///
    /// ```
    /// use shapetracker_base::text::{Token, Tokens};
    /// assert_eq!(Tokens::new("x.T").third(), (Token::Name, "T"));
    /// ```
    pub fn third(&self) -> (Token, &'a str) {
        let second = self.token_from(self.span.end).1;
        let (token, span) = self.token_from(second.end);
        (token, &self.text[span])
    }

    /// Whether a name stands here with `=` after it: that of an argument.
    ///
    /// ```
    /// use shapetracker_base::text::Tokens;
    /// assert!(Tokens::new("dim=1").at_argument_name() && !Tokens::new("dim == 1").at_argument_name());
    /// ```
    pub fn at_argument_name(&self) -> bool {
        self.token == Token::Name && self.second() == Token::Equals
    }

    /// A mistake at some bytes of the text.
    ///
    /// ```
    /// let err = shapetracker_base::text::Tokens::new("(2, 3)").error_at(1..2, "too small");
    /// assert_eq!(err.span(), 1..2);
    /// ```
    #[cold]
    pub fn error_at(&self, span: Range<usize>, message: impl Into<String>) -> ParseError {
        ParseError::new(message, self.text, span)
    }

    /// The mistake that the next token is not what should stand there. At its end the text is
    /// [unfinished](ParseError::is_unfinished).
    ///
    /// ```
    /// let err = shapetracker_base::text::Tokens::new("-3").expected("a size");
    /// assert_eq!(err.message(), "expected a size, found `-3`");
    /// ```
    #[cold]
    pub fn expected(&self, what: &str) -> ParseError {
        let is_end = self.token == Token::End;
        let (span, found) = if is_end {
            (self.last..self.last, "the end of the text".to_owned())
        } else {
            let span = self.shown();
            (span.clone(), quoted(&self.text[span]))
        };
        let err = self.error_at(span, format!("expected {what}, found {found}"));
        if is_end { err.and_unfinished() } else { err }
    }

    /// The bytes that a message shows of what stands here: a sign together with what it is the sign of.
    fn shown(&self) -> Range<usize> {
        let (next, span) = self.token_from(self.span.end);
        let has_sign = matches!(self.word(), "-" | "+")
            && matches!(next, Token::Number | Token::NotWhole | Token::Name)
            && span.start == self.span.end;
        self.span.start..if has_sign { span.end } else { self.span.end }
    }

    /// Goes past an opening parenthesis or bracket and says how it closes.
    ///
    /// ```
    /// use shapetracker_base::text::{Token, Tokens};
    /// assert_eq!(Tokens::new("[2]").open("a list").unwrap(), Token::Close(b']'));
    /// ```
    ///
    /// # Errors
    /// That something else stands there; `what` is what should.
    pub fn open(&mut self, what: &str) -> Result<Token, ParseError> {
        let Token::Open(open) = self.token else {
            return Err(self.expected(what));
        };
        self.advance();
        Ok(Token::Close(if open == b'(' { b')' } else { b']' }))
    }

    /// Goes past what closes.
    ///
    /// ```
    /// use shapetracker_base::text::{Token, Tokens};
    /// assert!(Tokens::new(")").close(Token::Close(b')')).is_ok());
    /// ```
    ///
    /// # Errors
    /// That something else stands there.
    pub fn close(&mut self, close: Token) -> Result<(), ParseError> {
        if self.take(close) { Ok(()) } else { Err(self.expected(closing(close))) }
    }

    /// Goes past a comma, and demands one unless the list closes.
    ///
    /// ```
    /// use shapetracker_base::text::{Token, Tokens};
    /// let err = Tokens::new("3").comma_or(Token::Close(b')')).unwrap_err();
    /// assert_eq!(err.message(), "expected `,` or `)`, found `3`");
    /// ```
    ///
    /// # Errors
    /// That something else stands there.
    pub fn comma_or(&mut self, close: Token) -> Result<(), ParseError> {
        if self.take(Token::Comma) || self.token == close {
            return Ok(());
        }
        Err(self.expected(&format!("`,` or {}", closing(close))))
    }
}

/// What closes a list, for a message.
///
/// ```
/// use shapetracker_base::text::{Token, closing};
/// assert_eq!(closing(Token::Close(b']')), "`]`");
/// ```
pub fn closing(close: Token) -> &'static str {
    match close {
        Token::Close(b']') => "`]`",
        Token::End => "the end of the text",
        _ => "`)`",
    }
}

/// The length of the blanks at the front of a text.
fn blank(text: &str) -> usize {
    match text.as_bytes() {
        [first, ..] if first.is_ascii_graphic() => 0,
        [b' ', second, ..] if second.is_ascii_graphic() => 1,
        _ => text.find(|c: char| !c.is_whitespace() && c != '\u{feff}').unwrap_or(text.len()),
    }
}

/// The first token at or behind a byte of a text, and its bytes.
fn token_at(text: &str, position: usize, writing: Writing) -> (Token, Range<usize>) {
    let mut start = position + blank(&text[position..]);
    let (rest, first) = loop {
        let rest = &text[start..];
        let Some(&first) = rest.as_bytes().first() else { return (Token::End, start..start) };
        if first != b'#' || writing != Writing::Commented {
            break (rest, first);
        }
        // A comment of Python, up to the end of its line.
        let end = rest.find('\n').map_or(text.len(), |end| start + end);
        start = end + blank(&text[end..]);
    };
    let (token, len) = match first {
        b'(' | b'[' => (Token::Open(first), 1),
        b')' | b']' => (Token::Close(first), 1),
        b',' => (Token::Comma, 1),
        b':' => (Token::Colon, 1),
        b'0'..=b'9' => number(rest),
        b'a'..=b'z' | b'A'..=b'Z' => (Token::Name, word(rest)),
        b'_' => match fixed(&rest[1..]) {
            Some(len) if writing != Writing::Expression => (Token::Number, 1 + len),
            _ => (Token::Name, word(rest)),
        },
        // A text that does not end goes on to the end of its line, and is no text.
        b'"' | b'\'' => match rest[1..].find([char::from(first), '\n']) {
            Some(end) if !rest[1 + end..].starts_with('\n') => (Token::Text, end + 2),
            Some(end) => (Token::Symbol, end + 1),
            None => (Token::Symbol, rest.len()),
        },
        // Operators of one character, of two, and `...`.
        b'.' | b'*' | b'/' | b'<' | b'>' | b'=' | b'!' | b'-' => match (first, rest.as_bytes().get(1)) {
            (b'.', Some(b'.')) => (Token::Symbol, if rest.as_bytes().get(2) == Some(&b'.') { 3 } else { 2 }),
            (b'*', Some(b'*')) | (b'/', Some(b'/')) | (b'-', Some(b'>')) => (Token::Symbol, 2),
            (b'<' | b'>' | b'=' | b'!', Some(b'=')) => (Token::Symbol, 2),
            (b'.', _) => (Token::Dot, 1),
            (b'=', _) => (Token::Equals, 1),
            _ => (Token::Symbol, 1),
        },
        _ => match rest.chars().next() {
            Some(letter) if letter.is_alphabetic() => (Token::Name, word(rest)),
            other => (Token::Symbol, other.map_or(1, char::len_utf8)),
        },
    };
    (token, start..start + len)
}

/// The number at the front of a text that starts with a digit.
fn number(text: &str) -> (Token, usize) {
    let mut len = word(text);
    let digits = &text[..len];
    if digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'_') {
        // A point belongs to the number only when digits follow: `1..4` is a range, and `offset 3.flip(0)` goes on with an
        // operation.
        if let Some(fraction) = text[len..].strip_prefix('.')
            && fraction.starts_with(|c: char| c.is_ascii_digit())
        {
            len += 1 + word(fraction);
        } else {
            return (Token::Number, len);
        }
    }
    // The sign of an exponent belongs to the number.
    if text[..len].ends_with(['e', 'E'])
        && let Some(exponent) = text[len..].strip_prefix(['+', '-'])
        && exponent.starts_with(|c: char| c.is_ascii_digit())
        && text[..len - 1].bytes().all(|byte| byte.is_ascii_digit() || byte == b'.')
    {
        len += 1 + word(exponent);
    }
    (Token::NotWhole, len)
}

/// The length of the digits behind an underscore, which may have a sign, where there is nothing else in their word.
fn fixed(text: &str) -> Option<usize> {
    let sign = usize::from(text.starts_with('-'));
    let len = word(&text[sign..]);
    let digits = &text.as_bytes()[sign..sign + len];
    (len > 0 && digits.iter().all(u8::is_ascii_digit)).then_some(sign + len)
}

/// The length of the letters, digits and underscores at the front of a text.
fn word(text: &str) -> usize {
    let end = text.bytes().position(|byte| !byte.is_ascii_alphanumeric() && byte != b'_').unwrap_or(text.len());
    if text.as_bytes().get(end).is_none_or(u8::is_ascii) {
        return end;
    }
    // Letters of other scripts are letters, too.
    let rest = &text[end..];
    end + rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<(Token, &str)> {
        let (mut tokens, mut found) = (Tokens::new(text), Vec::new());
        while tokens.token != Token::End {
            found.push((tokens.token, tokens.word()));
            tokens.advance();
        }
        found
    }

    fn words(text: &str) -> Vec<&str> {
        tokens(text).into_iter().map(|(_, word)| word).collect()
    }

    fn kinds(text: &str) -> Vec<Token> {
        tokens(text).into_iter().map(|(token, _)| token).collect()
    }

    #[test]
    fn numbers_have_underscores() {
        let values = |text: &str| {
            let (mut tokens, mut values) = (Tokens::new(text), Vec::new());
            while tokens.token != Token::End {
                values.push(tokens.value());
                tokens.advance();
            }
            values
        };
        assert_eq!(values("12 -3 1_000"), [Some(12), None, Some(3), Some(1000)]);
        assert_eq!(values("_12 _-3 _0"), [Some(12), Some(-3), Some(0)]);
        assert_eq!(kinds("_ _x _1x _1_"), [Token::Name; 4]);
        assert_eq!(values("9223372036854775808"), [Some(1 << 63)]);
        assert_eq!(values("340282366920938463463374607431768211455"), [None]);
        assert_eq!(kinds("340282366920938463463374607431768211455"), [Token::Number]);
    }

    #[test]
    fn numbers_that_are_not_whole_are_one_token() {
        assert_eq!(kinds("1.5 2e3 0x10 8h 2x3xf32 1e-5 2.5e+3"), [Token::NotWhole; 7]);
        assert_eq!(words("1e-x 0x1e-5"), ["1e", "-", "x", "0x1e", "-", "5"]);
        assert_eq!(kinds("3.flip"), [Token::Number, Token::Dot, Token::Name]);
    }

    #[test]
    fn ranges_are_no_fractions() {
        assert_eq!(words("1..4097"), ["1", "..", "4097"]);
        assert_eq!(words("x=.., T=1.."), ["x", "=", "..", ",", "T", "=", "1", ".."]);
        assert_eq!(words("a<=b**2//3==d"), ["a", "<=", "b", "**", "2", "//", "3", "==", "d"]);
        assert_eq!(words("Shape<_2,Stride<_3>>"), ["Shape", "<", "_2", ",", "Stride", "<", "_3", ">", ">"]);
    }

    #[test]
    fn expressions_have_no_comments_and_names_that_are_numbers_elsewhere() {
        let mut tokens = Tokens::of_expression("_12 _-3 # x");
        let kinds: Vec<Token> = std::iter::from_fn(|| {
            let token = tokens.token;
            tokens.advance();
            (token != Token::End).then_some(token)
        })
        .collect();
        assert_eq!(kinds, [Token::Name, Token::Name, Token::Symbol, Token::Number, Token::Symbol, Token::Name]);
    }

    #[test]
    fn texts_end_where_their_line_does() {
        assert_eq!(tokens("'b c' \"d\n"), [(Token::Text, "'b c'"), (Token::Symbol, "\"d")]);
    }

    #[test]
    fn every_character_is_in_some_token() {
        assert_eq!(words("a\u{0}é😀\u{feff}_b # c\n $ # d"), ["a", "\u{0}", "é", "😀", "_b", "$"]);
        assert_eq!(words(" \n\t\u{a0}"), Vec::<&str>::new());
    }
}
