//! Text forms of chains and views whose sizes are names, and of what is said of the names.

mod chain;
mod document;
mod expression;
mod follow;
mod given;
mod reading;
pub(crate) mod statement;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use shapetracker_base::text::{ParseError, Token, Tokens, check_length, closing, nearest, quoted};

pub use chain::{Chain, ChainStart};
pub use follow::ChainError;
pub use statement::Statement;

use crate::literal::Literal;
use crate::poly::{MOST_STEPS, Poly, Var, within};
use crate::region::Region;
use crate::scope::{MAX_NAMES, Scope};
use given::{Given, What};
use reading::{MOST_WORK, Reading};
use shapetracker::{MAX_RANK, Reader, Role};

/// Texts about sizes that are names, which share their names, and what is said of those.
///
/// What is said comes first, then the texts; [`Question::scope`] is asked for last. A size, a stride, an offset or a bound is
/// a polynomial: names and whole numbers with `+`, `-`, `*`, `**` and parentheses. There is no division: that `H` is a
/// multiple of 8 is said by `H = 8*h`, and the quotient is `h`.
///
/// What is said of names are items with commas between them:
///
/// | item | meaning |
/// |---|---|
/// | `T=1..4097` | `T` is one of 1, 2, .., 4096: ranges are half-open, as those of Python |
/// | `T=0..`, `x=..` | there is no last one; any integer |
/// | `s=0..N`, `k=s..s + L` | an end may be a polynomial: `0 <= s < N` |
/// | `D=64`, `H=8*h` | the name stands for a number or a polynomial |
/// | `s + L <= N`, `a*b == c*d`, `0 <= s < N`, `W != 1` | holds |
/// | `p % 2 == 0`, `(a + b) % 4 != 3` | holds |
///
/// A name without a range is a size, that is, at least 1; a name that occurs as (a part of) strides only is any integer. Who
/// means to include 0 says `T=0..`.
///
/// ```
/// use shapetracker_symbolic::Question;
///
/// let mut question = Question::new(["H = 8*h, T=1..4097", "T % 2 == 0"])?;
/// let chain = question.chain("(T, H*D).reshape(T, H, D)")?;
/// let scope = question.scope()?;
/// let names: Vec<&str> = scope.names().iter().map(|name| &*name.name).collect();
/// assert_eq!(names, ["T", "h", "D"]);
/// assert_eq!(scope.names()[0].hi, Some(4096));
/// # Ok::<(), shapetracker::ParseError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Question {
    given: Given,
    scope: Scope,
    /// Whether a variable occurs elsewhere than in strides.
    is_size: Vec<bool>,
    /// Whether names are those of an expression, which may be called what no size may.
    has_variables: bool,
    /// How many names were there from the beginning, with what is known of them.
    known: usize,
}

impl Question {
    /// Reads what is said of names, from any number of texts.
    ///
    /// ```
    /// let err = shapetracker_symbolic::Question::new(["T=4..4"]).unwrap_err();
    /// assert_eq!(
    ///     err.to_string(),
    ///     "the range 4..4 is empty: a range is half-open, 4..5 is one value\n\
    ///      \u{20} T=4..4\n\
    ///      \u{20}   ^^^^",
    /// );
    /// ```
    ///
    /// # Errors
    /// What cannot be read, empty ranges, names that are given twice, definitions that lead back to themselves.
    pub fn new<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> Result<Question, ParseError> {
        let mut given = Given::default();
        for text in texts {
            given.read(text.as_ref())?;
        }
        Ok(Question { given, ..Question::default() })
    }

    /// Texts about a tracker, in which its names stand for what they are there; what is said is about new names.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::{Question, ShapeTracker, Sym};
    ///
    /// let base = ShapeTracker::contiguous([Sym::new("B", 1..65), 12.into()])?;
    /// let mut question = Question::about(&base, ["H=1..4"])?;
    /// let later = question.chain("(B, 12).reshape(B, 3, 4).expand(B, 3, 4).unsqueeze(0).expand(H, B, 3, 4)")?;
    /// let later = later.tracker(&Arc::new(question.scope()?))?;
    /// assert_eq!(base.compose(&later)?.to_string(), "(H, B, 3, 4):(0, 12, 4, 1)");
    /// assert_eq!(later.scope().names()[0].hi, Some(64));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Question::new`].
    pub fn about<T: AsRef<str>>(
        tracker: &crate::ShapeTracker,
        texts: impl IntoIterator<Item = T>,
    ) -> Result<Question, ParseError> {
        let scope = Scope::clone(tracker.scope());
        Ok(Question { known: scope.names().len(), scope, ..Question::new(texts)? })
    }

    /// Texts over names that are known already.
    pub(crate) fn over(scope: Scope) -> Question {
        Question { scope, ..Question::default() }
    }

    /// Reads a chain: a shape or views, and movement operations.
    ///
    /// ```
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let chain = question.chain("(N, D).shrink((s, s + L), (0, D)).T")?;
    /// assert_eq!(chain.len(), 2);
    ///
    /// let err = question.chain("(N, D//8)").unwrap_err();
    /// assert_eq!(err.message(), "the quotient is not known for all values: say that `D = 8*d`, and write `d` for the quotient");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, at its place.
    pub fn chain(&mut self, text: &str) -> Result<Chain, ParseError> {
        check_length(text)?;
        chain::read(text, None, self)
    }

    /// Reads a chain on an array that the text has a name for, and of which it does not say the shape.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::default();
    /// let base = question.sizes("B, T, C")?;
    /// let chain = question.chain_from("x.transpose(1, 2)", &base)?;
    /// let scope = Arc::new(question.scope()?);
    /// assert_eq!(chain.tracker(&scope)?.to_string(), "(B, C, T):(T*C, 1, C)");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, at its place.
    pub fn chain_from(&mut self, text: &str, base: &[Poly]) -> Result<Chain, ParseError> {
        check_length(text)?;
        chain::read(text, Some(base.to_vec()), self)
    }

    /// Reads sizes: `B, T`, `(B, T)` or `[B, T]`, and `()` or nothing for none.
    ///
    /// ```
    /// let mut question = shapetracker_symbolic::Question::default();
    /// assert_eq!(question.sizes("(2*T, 3)")?.len(), 2);
    /// assert_eq!(question.sizes("T, ")?.len(), 1);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, at its place.
    pub fn sizes(&mut self, text: &str) -> Result<Vec<Poly>, ParseError> {
        self.list(text, "a size", Role::Other)
    }

    /// Reads strides, as [`Question::sizes`] reads sizes: a name that is nothing else may be any integer.
    ///
    /// ```
    /// let mut question = shapetracker_symbolic::Question::default();
    /// question.strides("s1, 1")?;
    /// assert_eq!(question.scope()?.names()[0].lo, None);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, at its place.
    pub fn strides(&mut self, text: &str) -> Result<Vec<Poly>, ParseError> {
        self.list(text, "a stride", Role::Stride)
    }

    /// Reads one number: an offset, a bound.
    ///
    /// ```
    /// let mut question = shapetracker_symbolic::Question::default();
    /// let poly = question.number("(T + 1)**2 - 1")?;
    /// assert_eq!(question.scope()?.text(&poly), "T**2 + 2*T");
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, at its place.
    pub fn number(&mut self, text: &str) -> Result<Poly, ParseError> {
        self.one(text, "a number", Role::Other)
    }

    /// Reads one stride: a name that is nothing else may be any integer.
    ///
    /// ```
    /// let mut question = shapetracker_symbolic::Question::default();
    /// question.stride("2*s")?;
    /// assert_eq!(question.scope()?.names()[0].lo, None);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, at its place.
    pub fn stride(&mut self, text: &str) -> Result<Poly, ParseError> {
        self.one(text, "a stride", Role::Stride)
    }

    /// The names that occur in the texts so far, in the order in which they do; those that are defined are what they stand for.
    ///
    /// ```
    /// let mut question = shapetracker_symbolic::Question::new(["H=8*h"])?;
    /// question.sizes("T, H")?;
    /// assert_eq!(question.names().collect::<Vec<_>>(), ["T", "h"]);
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.scope.names().iter().map(|name| &*name.name)
    }

    /// The names of all texts so far, with their ranges and the conditions that were said to hold.
    ///
    /// ```
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::new(["T=1..9, K=1..3"])?;
    /// question.chain("(T, D)")?;
    /// assert_eq!(
    ///     question.scope().unwrap_err().to_string(),
    ///     "`K` does not occur in the question, whose names are `T`, `D`\n\
    ///      \u{20} T=1..9, K=1..3\n\
    ///      \u{20}         ^^^^^^",
    /// );
    /// # Ok::<(), shapetracker::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// A name of which something is said and that occurs nowhere, and conditions that no values meet.
    pub fn scope(&self) -> Result<Scope, ParseError> {
        within(MOST_STEPS, || self.scope_within())
    }

    /// The names so far, with what is known of them: whatever is said of names that may still come is left out.
    fn scope_so_far(&self) -> Scope {
        let mut scope = self.ranged();
        let meanings: Vec<Option<Poly>> = self.given.names.iter().map(|(name, ..)| scope.find(name)).collect();
        for item in &self.given.items {
            match &item.what {
                What::Definition(..) => {}
                What::Range(.., literals) | What::Conditions(literals) => {
                    if let What::Range(var, lo, hi, _) = item.what
                        && let Some(var) = meanings[usize::from(var.0)].as_ref().and_then(Poly::as_var)
                    {
                        scope.set_range(var, lo, hi);
                    }
                    for literal in literals {
                        if literal.poly.vars().iter().any(|var| meanings[usize::from(var.0)].is_none()) {
                            continue;
                        }
                        let meaning = |var: Var| meanings[usize::from(var.0)].clone().unwrap_or_default();
                        if let Ok(poly) = composed(&literal.poly, meaning)
                            && poly.number().is_none()
                        {
                            scope.require(Literal { poly, ..literal.clone() });
                        }
                    }
                }
            }
        }
        scope
    }

    /// The names so far, which are sizes or any integers.
    fn ranged(&self) -> Scope {
        let mut scope = self.scope.clone();
        for (place, &is_size) in self.is_size.iter().enumerate().skip(self.known) {
            scope.set_range(Var(place as u8), is_size.then_some(1), None);
        }
        scope
    }

    fn scope_within(&self) -> Result<Scope, ParseError> {
        let mut scope = self.ranged();
        let meanings = self.given.names.iter().map(|(name, ..)| scope.find(name)).collect::<Vec<_>>();
        let mut conditions = Vec::new();
        for item in &self.given.items {
            let known =
                |var: Var| meanings[usize::from(var.0)].as_ref().ok_or_else(|| self.unknown(&self.scope, var, item));
            match &item.what {
                What::Definition(var, _) => {
                    known(*var)?;
                }
                What::Range(.., literals) | What::Conditions(literals) => {
                    if let What::Range(var, lo, hi, _) = item.what
                        && let Some(var) = known(var)?.as_var()
                    {
                        scope.set_range(var, lo, hi);
                    }
                    for literal in literals {
                        literal.poly.vars().into_iter().try_for_each(|var| known(var).map(drop))?;
                        let meaning = |var: Var| meanings[usize::from(var.0)].clone().unwrap_or_default();
                        let poly = composed(&literal.poly, meaning);
                        let poly = poly.map_err(|message| self.given.error_at(item, message))?;
                        conditions.push((item, Literal { poly, ..literal.clone() }));
                    }
                }
            }
        }
        let contradiction = |item| {
            let message = if self.given.items.len() > 1 {
                "no values of the names satisfy this together with what else is given"
            } else {
                "no values of the names satisfy this"
            };
            Err(self.given.error_at(item, message))
        };
        let without = scope.clone();
        for (item, literal) in &conditions {
            match literal.poly.number() {
                None => scope.require(literal.clone()),
                Some(_) if literal.holds(&[]) == Some(false) => return contradiction(item),
                Some(_) => {}
            }
        }
        if Region::of(&scope, &[]).is_some() {
            return Ok(scope);
        }
        // The first condition at which nothing is left is to blame.
        let mut scope = without;
        for (item, literal) in &conditions {
            scope.require(literal.clone());
            if Region::of(&scope, &[]).is_none() {
                return contradiction(item);
            }
        }
        match self.given.items.last() {
            Some(item) => contradiction(item),
            None => Ok(scope),
        }
    }

    /// The complaint about a name of which something is said and that does not occur.
    fn unknown(&self, scope: &Scope, var: Var, item: &given::Item) -> ParseError {
        let (name, text, span) = &self.given.names[usize::from(var.0)];
        let known: Vec<&str> = scope.names().iter().map(|known| &*known.name).collect();
        let message = match nearest(name, known.iter().copied()) {
            Some(meant) => format!("{} does not occur in the question: did you mean `{meant}`?", quoted(name)),
            None if known.is_empty() => format!("{} does not occur in the question, which has no names", quoted(name)),
            None => {
                let known = known.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
                format!("{} does not occur in the question, whose names are {known}", quoted(name))
            }
        };
        match item.what {
            What::Conditions(_) => ParseError::new(message, self.given.texts[*text].clone(), span.clone()),
            _ => self.given.error_at(item, message),
        }
    }

    fn list(&mut self, text: &str, what: &str, role: Role) -> Result<Vec<Poly>, ParseError> {
        check_length(text)?;
        let mut reading = Reading::new(self);
        let mut reader = Reader::new(text, &mut reading);
        let mut close = Token::End;
        if closes_at_the_end(text) {
            close = Tokens::open(&mut reader, what)?;
        }
        let mut numbers = Vec::new();
        while reader.token != close {
            if numbers.len() == MAX_RANK {
                return Err(Tokens::expected(&reader, &format!("at most {MAX_RANK} axes")));
            }
            numbers.push(reader.number(what, role)?);
            Tokens::comma_or(&mut reader, close)?;
        }
        reader.advance();
        end(&reader)?;
        Ok(numbers)
    }

    fn one(&mut self, text: &str, what: &str, role: Role) -> Result<Poly, ParseError> {
        check_length(text)?;
        let mut reading = Reading::new(self);
        let mut reader = Reader::new(text, &mut reading);
        let number = reader.number(what, role)?;
        end(&reader)?;
        Ok(number)
    }

    /// Notes what the variables of a polynomial are.
    fn occurs(&mut self, poly: &Poly, role: Role) {
        self.is_size.resize(self.scope.names().len(), false);
        if role == Role::Other {
            for var in poly.vars() {
                self.is_size[usize::from(var.0)] = true;
            }
        }
    }

    /// The polynomial of a name that was not met before.
    fn new_name(&mut self, name: &str, role: Role) -> Result<Poly, String> {
        let Some(definition) = self.given.definition(name).cloned() else {
            if let Some(why) = if self.has_variables { why_no_variable(name) } else { why_no_name(name) } {
                return Err(format!("{} cannot be the name of a size: {why}", quoted(name)));
            }
            let var = self.scope.declare(name, None, None);
            return var.map(Poly::from).ok_or_else(|| format!("there are more than {MAX_NAMES} names"));
        };
        // Definitions do not lead back to themselves, so that this comes to an end.
        let mut meanings = Vec::new();
        for var in definition.vars() {
            let name: Arc<str> = self.given.names[usize::from(var.0)].0.clone();
            meanings.push((var, self.found(&name, role)?));
        }
        let meaning =
            |var| meanings.iter().find(|(known, _)| *known == var).map_or_else(Poly::zero, |(_, poly)| poly.clone());
        let poly = composed(&definition, meaning).map_err(|message| format!("{}: {message}", quoted(name)))?;
        self.scope.define(name, poly.clone());
        Ok(poly)
    }

    fn found(&mut self, name: &str, role: Role) -> Result<Poly, String> {
        let poly = match self.scope.find(name) {
            Some(poly) => poly,
            None => self.new_name(name, role)?,
        };
        self.occurs(&poly, role);
        Ok(poly)
    }
}

/// Refuses what stands behind the last number of a text.
fn end(tokens: &Tokens<'_>) -> Result<(), ParseError> {
    if tokens.token == Token::End { Ok(()) } else { Err(tokens.expected(closing(Token::End))) }
}

/// Whether what opens at the beginning of a text closes at its end.
fn closes_at_the_end(text: &str) -> bool {
    let (mut tokens, mut depth) = (Tokens::new(text), 0_usize);
    loop {
        match tokens.token {
            Token::Open(_) => depth += 1,
            Token::Close(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
        tokens.advance();
        if depth == 0 || tokens.token == Token::End {
            return depth == 0 && tokens.token == Token::End && text.trim_start().starts_with(['(', '[']);
        }
    }
}

/// The polynomial with polynomials in the place of its variables.
fn composed(poly: &Poly, meaning: impl Fn(Var) -> Poly) -> Result<Poly, String> {
    let mut sum = Poly::zero();
    let mut work = 0;
    for &(monomial, coefficient) in poly.terms() {
        let mut product = Poly::from(coefficient);
        for var in monomial.factors() {
            let factor = meaning(var);
            work += product.terms().len() * factor.terms().len();
            if work > MOST_WORK {
                return Err("the polynomial has more terms than are computed with".into());
            }
            product = product.mul(&factor).map_err(|err| err.to_string())?;
        }
        work += sum.terms().len();
        sum = sum.add(&product).map_err(|err| err.to_string())?;
    }
    Ok(sum)
}

/// Why a text cannot be the name of a size, if it cannot: as the second half of a sentence.
///
/// ```
/// use shapetracker_symbolic::why_no_name;
///
/// assert_eq!(why_no_name("T"), None);
/// assert_eq!(why_no_name("lambda"), Some("it is a keyword of Python"));
/// assert_eq!(why_no_name("idx0"), Some("it is the name of an index"));
/// assert_eq!(why_no_name("uint8"), Some("it is the name of a type of elements"));
/// ```
pub fn why_no_name(name: &str) -> Option<&'static str> {
    if let Some(why) = why_no_variable(name) {
        return Some(why);
    }
    if ["offset", "mask", "over", "View", "ShapeTracker", "Ellipsis", "newaxis"].contains(&name) {
        return Some("it means something in views and chains");
    }
    if ["torch", "np", "numpy", "jnp", "jax", "einops", "Tensor"].contains(&name) {
        return Some("it is the name of a library");
    }
    // Names such as `half` and `short` are words, too.
    let is_type =
        ["bool", "int", "float", "complex", "object"].contains(&name) || name.ends_with(|c: char| c.is_ascii_digit());
    if is_type && shapetracker::Method::takes_type(name) {
        return Some("it is the name of a type of elements");
    }
    let number = name.strip_prefix("idx").unwrap_or_default();
    let is_index = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_index.then_some("it is the name of an index")
}

/// Why a text cannot be the name of a variable of an expression, if it cannot.
fn why_no_variable(name: &str) -> Option<&'static str> {
    const KEYWORDS: [&str; 28] = [
        "None", "as", "assert", "async", "await", "break", "class", "continue", "def", "del", "elif", "except",
        "finally", "for", "from", "global", "import", "in", "is", "lambda", "nonlocal", "pass", "raise", "return",
        "try", "while", "with", "yield",
    ];
    if KEYWORDS.contains(&name) {
        return Some("it is a keyword of Python");
    }
    indexpr::why_no_name(name)
}
