//! Splits a text into tokens.

use std::ops::Range;

/// A token. What cannot be one is a token of its own, so that only the parser complains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// `(` or `[`.
    Open(u8),
    /// `)` or `]`.
    Close(u8),
    /// A whole number without a sign, and its value if that fits.
    Number(Option<i128>),
    /// A number that is not whole, such as `1.5` or `2e3`.
    NotWhole,
    Name,
    /// One of [`SYMBOLS`].
    Symbol(&'static str),
    /// A character that no text form has.
    Unknown,
    End,
}

/// The symbols, those first of which others are the beginning.
const SYMBOLS: [&str; 21] =
    ["...", "..", "**", "//", "<=", ">=", "==", "!=", ".", ",", ":", "=", "+", "-", "*", "/", "%", "<", ">", "&", "|"];

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
        let rest = self.text[self.position..].trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.position = start;
            return (Token::End, start..start);
        };
        let symbol = || SYMBOLS.into_iter().find(|symbol| rest.starts_with(symbol));
        let (token, len) = match first {
            '(' | '[' => (Token::Open(first as u8), 1),
            ')' | ']' => (Token::Close(first as u8), 1),
            '0'..='9' => number(rest),
            // CuTe writes the numbers so that it knows when it compiles.
            '_' if is_digits(&rest[1..word(rest)]) => {
                let (number, len) = number(&rest[1..]);
                (number, 1 + len)
            }
            _ if first.is_alphabetic() || first == '_' => (Token::Name, word(rest)),
            _ => symbol().map_or((Token::Unknown, first.len_utf8()), |symbol| (Token::Symbol(symbol), symbol.len())),
        };
        self.position = start + len;
        (token, start..start + len)
    }
}

/// The number at the front of a text that starts with a digit.
fn number(text: &str) -> (Token, usize) {
    let len = word(text);
    if text[..len].contains(|c: char| !c.is_ascii_digit() && c != '_') {
        return (Token::NotWhole, len);
    }
    // A point belongs to the number only when digits follow: `1..4` is a range.
    if let Some(fraction) = text[len..].strip_prefix('.')
        && fraction.starts_with(|c: char| c.is_ascii_digit())
    {
        return (Token::NotWhole, len + 1 + word(fraction));
    }
    (Token::Number(text[..len].replace('_', "").parse().ok()), len)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// The length of the letters, digits and underscores at the front of a text.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        let mut lexer = Lexer::new(text);
        let tokens = std::iter::from_fn(|| Some(lexer.next())).take_while(|(token, _)| *token != Token::End);
        tokens.map(|(_, span)| &text[span]).collect()
    }

    #[test]
    fn ranges_are_no_fractions() {
        assert_eq!(words("1..4097"), ["1", "..", "4097"]);
        assert_eq!(words("x=.., T=1.."), ["x", "=", "..", ",", "T", "=", "1", ".."]);
        assert_eq!(words("1.5 2e3 3.flip 8h"), ["1.5", "2e3", "3", ".", "flip", "8h"]);
        assert_eq!(words("a<=b**2//3"), ["a", "<=", "b", "**", "2", "//", "3"]);
    }

    #[test]
    fn every_character_is_in_some_token() {
        assert_eq!(words("a\u{0}é😀\u{feff}_b _12 \n$"), ["a", "\u{0}", "é", "😀", "_b", "_12", "$"]);
        assert_eq!(Lexer::new("340282366920938463463374607431768211455").next().0, Token::Number(None));
    }
}
