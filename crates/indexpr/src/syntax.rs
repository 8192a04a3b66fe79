//! The two syntaxes in which expressions are read and written, and the words that are no names in them.

/// How expressions are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Syntax {
    /// As in Python: `x // 4 % 3 if 2 <= x < 9 and not y == 1 else min(x, -1)`.
    Python,
    /// As in C: `2 <= x && x < 9 && !(y == 1) ? x / 4 % 3 : min(x, -1)`. Divisions round towards zero there, and an
    /// expression read from it says so.
    C,
}

/// The words that mean something in an expression, in one syntax or the other.
const WORDS: [&str; 11] = ["and", "or", "not", "if", "else", "min", "max", "True", "False", "true", "false"];

/// Why a text cannot be the name of a variable, if it cannot.
pub(crate) fn why_no_name(name: &str) -> Option<&'static str> {
    if WORDS.contains(&name) {
        return Some("it means something in an expression");
    }
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let begins = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let is_name = begins && name.chars().all(is_letter);
    (!is_name).then_some("a name is made of letters, digits and underscores, and does not begin with a digit")
}
