//! The two syntaxes in which expressions are read and written, and the words that are no names in them.

/// How expressions are written: the operators, how tightly they bind, and how division rounds.
///
/// ```
/// use indexpr::{Graph, Syntax};
///
/// let mut graph = Graph::new();
/// graph.variable("x", 0..8)?;
/// let python = graph.parse("x // 3 if x >= 2 else 0", Syntax::Python)?;
/// let c = graph.parse("x >= 2 ? x / 3 : 0", Syntax::C)?;
/// assert_eq!(python, c);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Syntax {
    /// As in Python: `x // 4 % 3 if 2 <= x < 9 and not y == 1 else min(x, -1)`.
    Python,
    /// As in C: `2 <= x && x < 9 && !(y == 1) ? x / 4 % 3 : min(x, -1)`. Division rounds towards zero in C; where that
    /// differs from a floor, reading adds the correction to the expression.
    C,
}

/// The words that mean something in an expression, in one syntax or the other.
const WORDS: [&str; 11] = ["and", "or", "not", "if", "else", "min", "max", "True", "False", "true", "false"];

/// Why a text cannot be the name of a variable, if it cannot: as the second half of a sentence.
///
/// ```
/// use indexpr::why_no_name;
///
/// assert_eq!(why_no_name("row"), None);
/// assert_eq!(why_no_name("min"), Some("it means something in an expression"));
/// assert!(why_no_name("2x").is_some());
/// ```
pub fn why_no_name(name: &str) -> Option<&'static str> {
    if WORDS.contains(&name) {
        return Some("it means something in an expression");
    }
    let is_letter = |c: char| c.is_alphanumeric() || c == '_';
    let begins = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_');
    let is_name = begins && name.chars().all(is_letter);
    (!is_name).then_some("a name is made of letters, digits and underscores, and does not begin with a digit")
}
