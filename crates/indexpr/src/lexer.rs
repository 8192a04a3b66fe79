//! Splits the text of an expression into tokens.

use std::ops::Range;

use crate::syntax::Syntax;

/// The sort of a token. Which name or symbol it is, the parser reads from its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// What starts with a digit, whether or not it is a whole number: `1.5` and `0x` are one token each, so that an
    /// error can quote them in full.
    Number,
    /// A name or a keyword.
    Name,
    /// An operator or any other character, so that every text can be split.
    Symbol,
    /// The end of the text.
    End,
}

/// A position in a text between two tokens. To look ahead, copy it.
#[derive(Clone, Copy)]
pub(crate) struct Lexer<'a> {
    text: &'a str,
    syntax: Syntax,
    position: usize,
}

/// The symbols of two characters.
const PAIRS: [&str; 10] = ["//", "**", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||"];
/// Those that C has besides. Neither means anything here, but `--x` in C is a decrement and must not be read as
/// `-(-x)`.
const PAIRS_OF_C: [&str; 2] = ["--", "++"];

impl<'a> Lexer<'a> {
    /// The position before the first token.
    pub(crate) fn new(text: &'a str, syntax: Syntax) -> Self {
        Lexer { text, syntax, position: 0 }
    }

    /// The position at a byte of the text.
    pub(crate) fn at(self, position: usize) -> Self {
        Lexer { position, ..self }
    }

    /// The next token and its range of bytes. Past the last token it returns [`Token::End`], however often it is
    /// called.
    pub(crate) fn next(&mut self) -> (Token, Range<usize>) {
        let rest = self.text[self.position..].trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        let start = self.text.len() - rest.len();
        let Some(first) = rest.chars().next() else {
            self.position = start;
            return (Token::End, start..start);
        };
        let (token, len) = match first {
            '0'..='9' => (Token::Number, number(rest)),
            _ if first.is_alphabetic() || first == '_' => (Token::Name, word(rest)),
            _ if PAIRS.iter().any(|pair| rest.starts_with(pair)) => (Token::Symbol, 2),
            _ if self.syntax == Syntax::C && PAIRS_OF_C.iter().any(|pair| rest.starts_with(pair)) => (Token::Symbol, 2),
            _ => (Token::Symbol, first.len_utf8()),
        };
        self.position = start + len;
        (token, start..start + len)
    }
}

/// The length of the number at the front of a text, with a fraction and an exponent if it has them.
fn number(text: &str) -> usize {
    let whole = word(text);
    match text[whole..].strip_prefix('.') {
        Some(fraction) => whole + 1 + word(fraction),
        None => whole,
    }
}

/// The length of the letters, digits and underscores at the front of a text.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str, syntax: Syntax) -> Vec<&str> {
        let mut lexer = Lexer::new(text, syntax);
        let tokens = std::iter::from_fn(|| Some(lexer.next())).take_while(|(token, _)| *token != Token::End);
        tokens.map(|(_, span)| &text[span]).collect()
    }

    #[test]
    fn symbols_are_as_long_as_they_can_be() {
        assert_eq!(words("a<=b<<=c", Syntax::Python), ["a", "<=", "b", "<<", "=", "c"]);
        assert_eq!(words("--x//-3", Syntax::Python), ["-", "-", "x", "//", "-", "3"]);
        assert_eq!(words("--x&&!y", Syntax::C), ["--", "x", "&&", "!", "y"]);
    }

    #[test]
    fn numbers_that_are_not_whole_are_one_token() {
        assert_eq!(words("1.5 2e3 0x1F 3. 7ull", Syntax::C), ["1.5", "2e3", "0x1F", "3.", "7ull"]);
    }

    #[test]
    fn every_character_is_in_some_token() {
        assert_eq!(words("a\u{0}é😀\u{feff}_b \n", Syntax::Python), ["a", "\u{0}", "é", "😀", "_b"]);
    }
}
