//! Splits a text into tokens.

use std::ops::Range;

/// A token. What cannot be one is a token of its own, so that only the parser complains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `(` or `[`.
    Open(u8),
    /// `)` or `]`.
    Close(u8),
    Comma,
    Colon,
    Dot,
    Equals,
    /// A whole number, and its value if that fits.
    Number(Option<i64>),
    /// A name, such as that of an operation.
    Name,
    /// A number that is not whole, such as `1.5` or `2e3`.
    NotWhole,
    /// A text between quotes, such as a pattern of einops; the quotes are of the token.
    Text,
    /// A character that no text form has.
    Unknown,
    End,
}

/// A place between two tokens. Copying one is how to look ahead.
#[derive(Clone, Copy)]
pub(super) struct Lexer<'a> {
    text: &'a str,
    position: usize,
}

impl<'a> Lexer<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Lexer { text, position: 0 }
    }

    /// The next token and its bytes; at the end of the text again and again the end.
    pub(super) fn next(&mut self) -> (Token, Range<usize>) {
        let blank = |text: &'a str| text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let mut rest = blank(&self.text[self.position..]);
        while rest.starts_with('#') {
            // A comment of Python, up to the end of its line.
            rest = blank(rest.find('\n').map_or("", |end| &rest[end..]));
        }
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.position = start;
            return (Token::End, start..start);
        };
        let (token, len) = match first {
            '(' | '[' => (Token::Open(first as u8), 1),
            ')' | ']' => (Token::Close(first as u8), 1),
            ',' => (Token::Comma, 1),
            ':' => (Token::Colon, 1),
            '.' => (Token::Dot, 1),
            '=' => (Token::Equals, 1),
            '+' | '-' | '0'..='9' => number(rest),
            // A text that does not end goes on to the end of its line, and is no text.
            '"' | '\'' => match rest[1..].find([first, '\n']) {
                Some(end) if !rest[1 + end..].starts_with('\n') => (Token::Text, end + 2),
                Some(end) => (Token::Unknown, end + 1),
                None => (Token::Unknown, rest.len()),
            },
            '_' if is_fixed(&rest[1..]) => {
                let (number, len) = number(&rest[1..]);
                (number, 1 + len)
            }
            _ if first.is_alphabetic() || first == '_' => (Token::Name, word(rest)),
            _ => (Token::Unknown, first.len_utf8()),
        };
        self.position = start + len;
        (token, start..start + len)
    }
}

/// The number at the front of a text that starts with a sign or a digit.
fn number(text: &str) -> (Token, usize) {
    let sign = usize::from(text.starts_with(['+', '-']));
    let len = sign + word(&text[sign..]);
    let digits = &text[sign..len];
    if digits.is_empty() {
        return (Token::Unknown, sign);
    }
    if !digits.starts_with(|c: char| c.is_ascii_digit()) || digits.contains(|c: char| !c.is_ascii_digit() && c != '_') {
        return (Token::NotWhole, len);
    }
    // A point belongs to the number only when digits follow: `offset 3.flip(0)` goes on with an operation.
    if let Some(fraction) = text[len..].strip_prefix('.')
        && fraction.starts_with(|c: char| c.is_ascii_digit())
    {
        return (Token::NotWhole, len + 1 + word(fraction));
    }
    let number = &text[..len];
    let value = if number.contains('_') { number.replace('_', "").parse() } else { number.parse() };
    (Token::Number(value.ok()), len)
}

/// Whether digits alone follow an underscore: so CuTe writes the numbers that it knows when it compiles.
fn is_fixed(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let digits = &digits[..word(digits)];
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// The length of the letters, digits and underscores at the front of a text.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(text: &str) -> Vec<Token> {
        let mut lexer = Lexer::new(text);
        std::iter::from_fn(|| Some(lexer.next().0)).take_while(|&token| token != Token::End).collect()
    }

    #[test]
    fn numbers_have_signs_and_underscores() {
        let number = |value| Token::Number(Some(value));
        assert_eq!(tokens("12 -3 +4 1_000"), [number(12), number(-3), number(4), number(1000)]);
        assert_eq!(tokens("_12 _-3 _0"), [number(12), number(-3), number(0)]);
        assert_eq!(tokens("_ _x _1x _1_"), [Token::Name; 4]);
        assert_eq!(tokens("-9223372036854775808 9223372036854775808"), [number(i64::MIN), Token::Number(None)]);
    }

    #[test]
    fn numbers_that_are_not_whole_are_one_token() {
        assert_eq!(tokens("1.5 2e3 0x10 -x"), [Token::NotWhole; 4]);
        assert_eq!(tokens("3.flip"), [Token::Number(Some(3)), Token::Dot, Token::Name]);
        assert_eq!(tokens("- 3"), [Token::Unknown, Token::Number(Some(3))]);
    }

    #[test]
    fn every_character_is_in_some_token() {
        assert_eq!(
            tokens("a\u{0}é😀\u{feff}_b"),
            [Token::Name, Token::Unknown, Token::Name, Token::Unknown, Token::Name]
        );
        assert_eq!(tokens(" \n\t\u{a0}"), []);
    }
}
