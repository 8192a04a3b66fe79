//! Common subexpressions get names: which ones, and what they are called, for code and for text alike.

use crate::error::Error;
use crate::graph::{Expr, Graph, Node};
use crate::syntax::Syntax;

/// How an operation is used by those that are computed after it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Use {
    /// The use count: in how many places its text would stand.
    pub(crate) count: usize,
    /// Whether one of these places is in a loop in which it is invariant.
    pub(crate) hoisted: bool,
}

/// The operations that get a name of their own, each by its place; operands come before what is made of them.
///
/// They are those that are used more than once (common subexpressions, computed once), those that are hoisted out of a
/// loop, and those at a depth at which compilers have limits, and so have readers. Leaves never get one, and `has_title`
/// says which operations have a name already, so that depth is no reason.
pub(crate) fn named<I: Iterator<Item = usize>>(
    uses: &[Use],
    deepest: usize,
    operands: impl Fn(usize) -> I,
    has_title: impl Fn(usize) -> bool,
) -> Vec<usize> {
    let (mut named, mut depths) = (Vec::new(), vec![0; uses.len()]);
    for (place, Use { count, hoisted }) in uses.iter().enumerate() {
        let Some(depth) = operands(place).map(|operand| depths[operand] + 1).max() else { continue };
        let deep = depth >= deepest && !has_title(place);
        if *count > 1 || *hoisted || (deep && *count > 0) {
            named.push(place);
        } else {
            depths[place] = depth;
        }
    }
    named
}

/// Names that nothing has yet, as `numbered` writes them.
pub(crate) fn fresh<'a>(
    taken: &'a [&'a str],
    numbered: impl Fn(usize) -> String + 'a,
) -> impl Iterator<Item = String> + 'a {
    (0..).map(numbered).filter(|name| !taken.contains(&&name[..]))
}

/// A line of a program: a name, and what it is a name for.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Line {
    /// The name that the line defines.
    pub name: String,
    /// The expression that it names.
    pub expr: Expr,
    /// The text of the expression, with the variables and the expressions named before it set apart.
    pub pieces: Vec<TextPiece>,
}

/// A piece of the text of an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPiece {
    /// Text as it is.
    Text(String),
    /// An expression that stands there by its name.
    Part(Expr),
}

/// An expression that is deeper than this is cut into several lines.
const DEEPEST: usize = 41;

impl Graph {
    /// Named expressions as lines of text, each of which may use the names of those before it: common subexpressions are
    /// computed once, under the names `t0`, `t1` and so on (those that no variable has).
    ///
    /// [`Graph::code`] is the same in a language; here the pieces of the text are kept apart, for whoever shows them.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax, TextPiece};
    ///
    /// let mut graph = Graph::new();
    /// let x = graph.variable("x", 0..8)?;
    /// let index = graph.parse("(x + 1) // 3 * ((x + 1) // 3)", Syntax::Python)?;
    /// let [shared, line] = &graph.lines(&[("index", index)], Syntax::Python)?[..] else { panic!() };
    /// assert_eq!(shared.name, "t0");
    /// assert_eq!(shared.pieces[1..], [TextPiece::Part(x), TextPiece::Text(" + 1) // 3".into())]);
    /// assert_eq!((&line.name[..], &line.pieces[0]), ("index", &TextPiece::Part(shared.expr)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Graph::text`], and an expression that is not of the graph.
    pub fn lines(&self, named_exprs: &[(&str, Expr)], syntax: Syntax) -> Result<Vec<Line>, Error> {
        let roots: Vec<Expr> = named_exprs.iter().map(|(_, expr)| *expr).collect();
        for root in &roots {
            self.check("lines", *root)?;
        }
        let parts = self.parts(&roots);
        let place = |expr: Expr| parts.binary_search(&expr).unwrap_or_default();
        let mut uses = vec![Use::default(); parts.len()];
        roots.iter().for_each(|root| uses[place(*root)].count += 1);
        for &part in &parts {
            self.node(part).operands().for_each(|operand| uses[place(operand)].count += 1);
        }
        let operands = |at: usize| self.node(parts[at]).operands().map(place);
        let shared = named(&uses, DEEPEST, operands, |_| false);

        let stands =
            |part: Expr| matches!(self.node(part), Node::Variable(_)) || shared.binary_search(&place(part)).is_ok();
        let taken: Vec<&str> = self.variables().iter().map(|variable| &variable.name[..]).collect();
        let names = fresh(&taken, |number| format!("t{number}"));
        let mut lines = Vec::with_capacity(shared.len() + roots.len());
        for (&at, name) in shared.iter().zip(names) {
            lines.push(Line { name, expr: parts[at], pieces: self.text_pieces(parts[at], syntax, stands)? });
        }
        for (name, expr) in named_exprs {
            let pieces = match stands(*expr) {
                true => vec![TextPiece::Part(*expr)],
                false => self.text_pieces(*expr, syntax, stands)?,
            };
            lines.push(Line { name: (*name).to_owned(), expr: *expr, pieces });
        }
        Ok(lines)
    }

    /// The text of an expression with some of the parts that it is made of set apart. The expression itself is written
    /// out.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax, TextPiece};
    ///
    /// let mut graph = Graph::new();
    /// let x = graph.variable("x", 0..8)?;
    /// let expr = graph.parse("x + 3", Syntax::Python)?;
    /// let pieces = graph.text_pieces(expr, Syntax::Python, |part| part == x)?;
    /// assert_eq!(pieces, [TextPiece::Part(x), TextPiece::Text(" + 3".into())]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Graph::text`], and an expression that is not of the graph.
    pub fn text_pieces(
        &self,
        expr: Expr,
        syntax: Syntax,
        is_part: impl Fn(Expr) -> bool,
    ) -> Result<Vec<TextPiece>, Error> {
        self.check("text", expr)?;
        let mut pieces: Vec<TextPiece> = Vec::new();
        let write = |piece: Result<&str, Expr>| match (piece, pieces.last_mut()) {
            (Err(part), _) => pieces.push(TextPiece::Part(part)),
            (Ok(text), Some(TextPiece::Text(before))) => before.push_str(text),
            (Ok(text), _) => pieces.push(TextPiece::Text(text.to_owned())),
        };
        self.write_text(expr, syntax, |part| is_part(part).then_some(part), write)?;
        Ok(pieces)
    }

    /// The smallest and the largest number that code for these expressions computes, intermediate values included; (0, 0)
    /// where it computes none. What only constants are made of is no part of the code. Its
    /// [`bits`](shapetracker_base::int::bits) are those of the code of [`Graph::code`] and
    /// [`IndexExpr::code`](crate::IndexExpr::code).
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..8)?;
    /// let expr = graph.parse("(x * 100 - 50) // 25", Syntax::Python)?;
    /// assert_eq!(graph.value_range(&[expr]), (-50, 700));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// An expression that is not of the graph.
    pub fn value_range(&self, of: &[Expr]) -> (i64, i64) {
        let numbers = crate::constants::parts(self, of).into_iter().filter(|part| !self.is_condition(*part));
        let ranges = numbers.map(|part| self.range(part));
        ranges.reduce(|(low, high), range| (low.min(range.0), high.max(range.1))).unwrap_or((0, 0))
    }
}
