//! Index expressions over names.

use std::sync::Arc;

use indexpr::{Expr, Graph, Node, Syntax};
use shapetracker::Role;
use shapetracker_base::text::{ParseError, Token, Tokens, check_length, nearest, quoted};

use super::Question;
use super::given::What;
use crate::expression::{Expression, always, divisors, says};
use crate::literal::{Literal, Relation};
use crate::poly::Poly;

/// What CUDA numbers threads with, by an axis behind a dot.
const THREADS: [&str; 4] = ["threadIdx", "blockIdx", "blockDim", "gridDim"];

impl Question {
    /// Reads an index expression, as [`Graph::parse`] does: what is said of names are ranges, whose ends may be names,
    /// definitions and conditions.
    ///
    /// Names of which nothing is said are any integers, and those that are divided by are at least 1, which is
    /// [needed](Expression::needs). Where nothing but ranges of numbers is said and all divisors are numbers, every name must
    /// have one: an unknown name is then most likely a mistake.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// use shapetracker_symbolic::Question;
    ///
    /// let expression = Question::new(["H=8*h, x=0.."])?.expression("(x*H + 3) // 8", Syntax::Python)?;
    /// assert_eq!(expression.simplify().text(Syntax::Python)?, "x * h");
    ///
    /// let err = Question::new(["d=0.."])?.expression("x // d", Syntax::Python).unwrap_err();
    /// assert_eq!(err.message(), "//: the divisor can be zero: say `d=1..`, or `d != 0`");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, a divisor that can be zero, values that leave 64 bits however small the names without an end are,
    /// and conditions that no values meet.
    ///
    /// # Cost
    /// Linear in the text, some five times over, and that of what is asked of the divisors.
    pub fn expression(&mut self, text: &str, syntax: Syntax) -> Result<Expression, ParseError> {
        check_length(text)?;
        self.has_variables = true;
        let (names, divided) = structure(text, syntax).map_err(|err| self.not_zero(err, text, &[]))?;
        let unknown: Vec<&Arc<str>> = names.iter().filter(|name| !self.given.is_about(name)).collect();
        let is_numeric = |name: &&Arc<str>| !unknown.contains(name);
        if self.is_about_numbers() && divided.iter().all(|name| is_numeric(&name)) && !unknown.is_empty() {
            return Err(self.undeclared(unknown[0], text));
        }
        for name in &unknown {
            let known = self
                .given
                .names
                .iter()
                .map(|known| &*known.0)
                .filter(|known| !names.iter().any(|name| **name == **known));
            if nearest(name, known).is_some() {
                return Err(self.undeclared(name, text));
            }
        }
        let whole = |message: String| ParseError::new(message, text, 0..text.trim_end().len());
        let mut assumed = Vec::new();
        for (name, ..) in self.given.names.clone() {
            // Where nothing but an end of a range is said of it, a divisor is as good as one of which nothing is said.
            let is_assumed = divided.contains(&name) && self.says_no_sign(&name);
            let role = if is_assumed { Role::Other } else { Role::Stride };
            let poly = self.found(&name, role).map_err(whole)?;
            if is_assumed {
                assumed.push(poly);
            }
        }
        let mut unknown: Vec<Arc<str>> = unknown.into_iter().cloned().collect();
        unknown.sort_by_cached_key(|name| {
            let digits = name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
            (name[..digits].to_owned(), name.len(), name.clone())
        });
        for name in &unknown {
            let role = if divided.contains(name) { Role::Other } else { Role::Stride };
            let poly = self.found(name, role).map_err(whole)?;
            if role == Role::Other {
                assumed.push(poly);
            }
        }
        let scope = self.scope()?;
        let needs = assumed.iter().filter_map(|poly| poly.plus_number(-1).ok()).map(Literal::at_least);
        let needs: Vec<Literal> = needs.collect();
        Expression::of_text(scope, needs, &divided, text, syntax).map_err(|err| self.not_zero(err, text, &divided))
    }

    /// The mistake, and where that is a divisor that can be zero, what to say about it.
    fn not_zero(&self, err: ParseError, text: &str, divided: &[Arc<str>]) -> ParseError {
        if !err.message().contains("the divisor can be zero") {
            return err;
        }
        let op = err.message().split(':').next().unwrap_or("//");
        let is_open = |name: &&Arc<str>| {
            let literal = self.scope.find(name).and_then(|poly| poly.plus_number(-1).ok()).map(Literal::at_least);
            self.scope().is_ok_and(|scope| literal.is_some_and(|literal| !always(&scope, &literal)))
        };
        let help = match divided.iter().find(is_open) {
            Some(name) => format!("{}, or `{name} != 0`", says(name)),
            None => "write it with names that are at least 1, as `n` for `N - s` where `N = n + s`".into(),
        };
        ParseError::new(format!("{op}: the divisor can be zero: {help}"), text, err.span())
    }

    /// An expression of a graph whose variables are names: what is said of them holds beside their ranges.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("z", 0..1 << 31)?;
    /// graph.variable("Z", 1..1 << 31)?;
    /// let inside = graph.parse("z < Z", Syntax::Python)?;
    /// let expression = Question::new(["z + 1 <= Z"])?.expression_of(&graph, inside)?;
    /// assert_eq!(expression.simplify().text(Syntax::Python)?, "True");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Names that cannot be names of sizes, conditions that no values meet, and what the graph refuses with the ranges that
    /// were said.
    pub fn expression_of(&mut self, graph: &Graph, value: Expr) -> Result<Expression, ParseError> {
        self.has_variables = true;
        let text = self.given.texts.first().cloned().unwrap_or_default();
        let whole = |message: String| ParseError::new(message, text.clone(), 0..text.trim_end().len());
        let mut names: Vec<Arc<str>> = graph.variables().iter().map(|variable| variable.name.as_str().into()).collect();
        let own = names.len();
        names.extend(self.given.names.iter().map(|known| known.0.clone()));
        for name in &names {
            self.found(name, Role::Stride).map_err(whole)?;
        }
        let mut scope = self.scope()?;
        for (name, variable) in names[..own].iter().zip(graph.variables()) {
            let (lo, hi) = (i128::from(variable.range.start), i128::from(variable.range.end) - 1);
            let Some(value) = scope.find(name) else { continue };
            match value.as_var() {
                Some(var) => {
                    let known = &scope.names()[usize::from(var.0)];
                    let ends = (known.lo.map_or(lo, |known| known.max(lo)), known.hi.map_or(hi, |known| known.min(hi)));
                    if ends.0 > ends.1 {
                        return Err(whole(format!(
                            "the range of {} and what is said of it exclude each other",
                            quoted(name)
                        )));
                    }
                    scope.set_range(var, Some(ends.0), Some(ends.1));
                }
                None => {
                    let ends = [value.plus_number(-lo), Poly::from(hi).sub(&value)];
                    for end in ends.into_iter().flatten().filter(|end| end.number().is_none()) {
                        scope.require(Literal::at_least(end));
                    }
                }
            }
        }
        Expression::of_graph(scope, graph, value).map_err(|err| whole(err.to_string()))
    }

    /// Whether a name has no range and no definition, and is not said to differ from anything.
    fn says_no_sign(&self, name: &str) -> bool {
        let Some(place) = self.given.names.iter().position(|known| *known.0 == *name) else { return true };
        self.given.items.iter().all(|item| match &item.what {
            What::Range(var, ..) | What::Definition(var, _) => usize::from(var.0) != place,
            What::Conditions(literals) => !literals.iter().any(|literal| {
                literal.relation == Relation::NotEqual
                    && literal.poly.vars().iter().any(|var| usize::from(var.0) == place)
            }),
        })
    }

    /// Whether nothing but ranges of numbers is said.
    fn is_about_numbers(&self) -> bool {
        self.given.items.iter().all(|item| match &item.what {
            What::Range(_, lo, hi, ends) => lo.is_some() && hi.is_some() && ends.is_empty(),
            _ => false,
        })
    }

    /// The complaint about a name of which nothing is said.
    fn undeclared(&self, name: &str, text: &str) -> ParseError {
        let mut tokens = Tokens::of_expression(text);
        while tokens.token != Token::End && !tokens.at_word(name) {
            tokens.advance();
        }
        let span = if tokens.token == Token::End { 0..text.trim_end().len() } else { tokens.span.clone() };
        let known = self.given.names.iter().map(|known| &*known.0);
        match nearest(name, known) {
            Some(meant) => {
                let message = format!("nothing is said of {}: did you mean `{meant}`?", quoted(name));
                ParseError::new(message, text, span.clone()).with_suggestion(span, meant)
            }
            None => {
                let message = format!(
                    "nothing is said of {}: say its range, such as `{name}=0..8`, or `{name}=..`",
                    quoted(name)
                );
                ParseError::new(message, text, span).of_unknown_name()
            }
        }
    }
}

/// Some names.
type Names = Vec<Arc<str>>;

/// The names that an expression uses, and those of them that are divided by.
fn structure(text: &str, syntax: Syntax) -> Result<(Names, Names), ParseError> {
    let words = words(text);
    // What is made of numbers and names of few bits fits, whatever it is; with all names from 1 on, less is refused.
    let mut failure = None;
    for bits in [31, 20, 15, 10, 6, 3] {
        let mut graph = Graph::new();
        for word in &words {
            // What cannot be a variable is a word of the language.
            let _ = graph.variable(word, 1..1 << bits);
        }
        match graph.parse(text, syntax) {
            Ok(root) => {
                let used = graph.parts(&[root]).into_iter().filter_map(|part| match graph.node(part) {
                    Node::Variable(place) => Some(graph.variables()[place].name.as_str().into()),
                    _ => None,
                });
                return Ok((used.collect(), divisors(&graph, root)));
            }
            Err(err) => failure = failure.or(Some(err)),
        }
    }
    match failure {
        Some(err) => Err(err),
        None => Err(ParseError::new("nothing can be read", text, 0..text.len())),
    }
}

/// The words of a text that may be names, each once.
fn words(text: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut known = std::collections::HashSet::new();
    let mut tokens = Tokens::of_expression(text);
    while tokens.token != Token::End {
        if tokens.token == Token::Name {
            let mut word = tokens.word().to_owned();
            if THREADS.contains(&&*word) && tokens.second() == Token::Dot {
                tokens.advance();
                tokens.advance();
                word = format!("{word}_{}", tokens.word());
            }
            if known.insert(word.clone()) {
                words.push(word);
            }
        }
        let before = tokens.span.end;
        tokens.advance();
        if tokens.span.end <= before && tokens.token != Token::End {
            break;
        }
    }
    words
}
