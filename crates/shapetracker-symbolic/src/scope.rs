//! Names of sizes: their ranges, and what is known to hold between them.

use std::fmt::Write;
use std::ops::Range;
use std::sync::Arc;

use indexpr::{Expr, Graph};

use crate::error::{Error, Mistake};
use crate::expression::horner::Writer;
use crate::expression::names::with_ends;
use crate::literal::Literal;
use crate::poly::{Monomial, Poly, Var, floor, modulo};

/// A name and the integers that it may stand for, both ends included; `None` where there is no end.
///
/// ```
/// use shapetracker_symbolic::{Literal, Poly, Scope};
/// let mut scope = Scope::new();
/// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
/// assert_eq!((&*scope.names()[0].name, scope.names()[0].hi), ("n", Some(4096)));
/// # Ok::<(), shapetracker_symbolic::TooLarge>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Name {
    /// As it is written.
    pub name: Arc<str>,
    /// The least value.
    pub lo: Option<i128>,
    /// The greatest value.
    pub hi: Option<i128>,
}

impl Name {
    /// The values as a half-open range of 64-bit integers.
    fn range(&self) -> Result<Range<i64>, Mistake> {
        let Some((lo, hi)) = self.lo.zip(self.hi) else {
            return Err(Mistake::NoEnd { name: self.name.to_string(), first: self.lo.is_none() });
        };
        match (i64::try_from(lo), i64::try_from(hi.saturating_add(1))) {
            (Ok(lo), Ok(end)) => Ok(lo..end),
            _ => Err(Mistake::FarEnd { name: self.name.to_string() }),
        }
    }
}

/// The quotient or the remainder of a polynomial by a positive one, where an answer needs a name for it: `(n//2)`.
///
/// ```
/// use shapetracker_symbolic::{Literal, Poly, Scope};
/// let mut scope = Scope::new();
/// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
/// assert!(scope.quotients().is_empty()); // answers have them
/// # Ok::<(), shapetracker_symbolic::TooLarge>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Quotient {
    /// What is divided.
    pub numerator: Poly,
    /// By what.
    pub denominator: Poly,
    /// Whether the remainder is meant, and not the quotient.
    pub is_remainder: bool,
}

/// The names that sizes, strides and offsets are made of: their ranges, definitions such as `H = 8*h`, and conditions such
/// as `s + L <= N` that are known to hold.
///
/// ```
/// use shapetracker_symbolic::{Literal, Poly, Scope};
/// let mut scope = Scope::new();
/// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
/// scope.define("m", n.mul(&Poly::from(8))?);
/// assert_eq!(scope.text(&scope.find("m").unwrap()), "8*n");
/// # Ok::<(), shapetracker_symbolic::TooLarge>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scope {
    names: Vec<Name>,
    definitions: Vec<(Arc<str>, Poly)>,
    given: Vec<Literal>,
    /// What the last names stand for, where an answer has named quotients.
    quotients: Vec<Quotient>,
}

/// The most names that a scope has: a monomial has a byte for each.
///
/// ```
/// let mut scope = shapetracker_symbolic::Scope::new();
/// let names = (0..).map_while(|name| scope.declare(&format!("s{name}"), None, None));
/// assert_eq!(names.count(), shapetracker_symbolic::MAX_NAMES);
/// ```
pub const MAX_NAMES: usize = 128;

impl Scope {
    /// No names.
    ///
    /// ```
    /// assert!(shapetracker_symbolic::Scope::new().names().is_empty());
    /// ```
    pub fn new() -> Scope {
        Scope::default()
    }

    /// A new name for the integers of a range, both ends included; `None` if there are [`MAX_NAMES`] already, or one of
    /// that name.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// assert!(scope.declare("n", None, None).is_none()); // there is one
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn declare(&mut self, name: &str, lo: Option<i128>, hi: Option<i128>) -> Option<Var> {
        if self.names.len() == MAX_NAMES || self.find(name).is_some() {
            return None;
        }
        self.names.push(Name { name: name.into(), lo, hi });
        Some(Var(self.names.len() as u8 - 1))
    }

    /// Makes a name stand for a polynomial; `false` if there is one of that name.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// assert!(!scope.define("n", Poly::from(3))); // there is one
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn define(&mut self, name: &str, poly: Poly) -> bool {
        let new = self.find(name).is_none();
        if new {
            self.definitions.push((name.into(), poly));
        }
        new
    }

    /// Adds a condition that is known to hold.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// scope.require(Literal::divisible(n, 4));
    /// assert_eq!(scope.given().len(), 1);
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn require(&mut self, literal: Literal) {
        self.given.push(literal);
    }

    /// Changes the range of a name.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// scope.set_range(n.vars()[0], Some(0), None);
    /// assert_eq!(scope.names()[0].lo, Some(0));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn set_range(&mut self, var: Var, lo: Option<i128>, hi: Option<i128>) {
        if let Some(name) = self.names.get_mut(usize::from(var.0)) {
            (name.lo, name.hi) = (lo, hi);
        }
    }

    /// What a name stands for.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// assert_eq!(scope.find("n"), Some(n));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn find(&self, name: &str) -> Option<Poly> {
        let var = self.names.iter().position(|known| &*known.name == name);
        var.map(|var| Poly::from(Var(var as u8))).or_else(|| {
            let found = self.definitions.iter().find(|(known, _)| &**known == name);
            found.map(|(_, poly)| poly.clone())
        })
    }

    /// The names, in the order of their variables.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// assert_eq!(scope.names().len(), 1);
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn names(&self) -> &[Name] {
        &self.names
    }

    /// The names that stand for polynomials.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// scope.define("m", n);
    /// assert_eq!(&*scope.definitions()[0].0, "m");
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn definitions(&self) -> &[(Arc<str>, Poly)] {
        &self.definitions
    }

    /// The conditions that are known to hold.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// assert!(scope.given().is_empty());
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn given(&self) -> &[Literal] {
        &self.given
    }

    /// The quotients that an answer has named; they are the last of the names.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// assert!(scope.quotients().is_empty());
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn quotients(&self) -> &[Quotient] {
        &self.quotients
    }

    /// The scope with names for quotients after its own.
    pub(crate) fn with_quotients(&self, quotients: &[Quotient]) -> Scope {
        self.with_texts(quotients, false)
    }

    /// The scope with quotients whose texts are right in Python for all values, as [`Scope::complete`] has them: 0 where the
    /// divisor is not positive, and no exception.
    pub(crate) fn total(&self) -> Scope {
        let mut scope = self.clone();
        scope.names.truncate(self.names.len() - self.quotients.len());
        scope.quotients.clear();
        scope.with_texts(&self.quotients, true)
    }

    fn with_texts(&self, quotients: &[Quotient], total: bool) -> Scope {
        let mut scope = self.clone();
        for quotient in &quotients[self.quotients.len()..] {
            let part = |poly: &Poly| match poly.terms() {
                [_] => scope.text(poly),
                _ => format!("({})", scope.text(poly)),
            };
            let sign = if quotient.is_remainder { "%" } else { "//" };
            let denominator = match quotient.denominator.terms() {
                [(monomial, factor)] if *factor != 1 && monomial.degree() > 0 || monomial.degree() > 1 => {
                    format!("({})", scope.text(&quotient.denominator))
                }
                _ => part(&quotient.denominator),
            };
            let mut name = format!("({}{sign}{denominator})", part(&quotient.numerator));
            if total && !scope.is_plainly_positive(&quotient.denominator) {
                name.pop();
                name += &format!(" if {} > 0 else 0)", scope.text(&quotient.denominator));
            }
            scope.names.push(Name { name: name.into(), lo: None, hi: None });
            scope.quotients.push(quotient.clone());
        }
        scope
    }

    /// Whether a polynomial is positive for the plain reason that none of its terms can be less than 1.
    fn is_plainly_positive(&self, poly: &Poly) -> bool {
        let from_one = |var: &Var| self.names[usize::from(var.0)].lo.is_some_and(|lo| lo >= 1);
        !poly.is_zero() && poly.terms().iter().all(|term| term.1 > 0) && poly.vars().iter().all(from_one)
    }

    /// The values of all names, given those that are not quotients; `None` where one leaves 128 bits.
    ///
    /// A quotient by a number that is not positive is 0: no part of an answer that uses it has such values.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// assert_eq!(scope.complete(&[7]), Some(vec![7]));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn complete(&self, values: &[i128]) -> Option<Vec<i128>> {
        let named = self.names.len() - self.quotients.len();
        let mut point = values.get(..named)?.to_vec();
        for quotient in &self.quotients {
            let (a, b) = (quotient.numerator.eval(&point)?, quotient.denominator.eval(&point)?);
            point.push(if b <= 0 {
                0
            } else if quotient.is_remainder {
                modulo(a, b)
            } else {
                floor(a, b)
            });
        }
        Some(point)
    }

    /// The text of a polynomial in the syntax of Python: `2*s2 + 3*s3 - s1`, `T**2`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// assert_eq!(scope.text(&n.mul(&n)?.sub(&Poly::from(1))?), "n**2 - 1");
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn text(&self, poly: &Poly) -> String {
        poly_text(poly, |var| self.names.get(usize::from(var.0)).map_or("?", |name| &name.name))
    }

    /// What is known of the names, in the notation of [`Question`](crate::Question): `T=1..4097, H=8*h, s + L <= N`.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    ///
    /// let mut scope = Scope::new();
    /// let t = Poly::from(scope.declare("T", Some(1), Some(4096)).unwrap());
    /// scope.declare("s", None, None);
    /// scope.require(Literal::divisible(t, 2));
    /// assert_eq!(scope.known(), "T=1..4097, s=.., T % 2 == 0");
    /// ```
    pub fn known(&self) -> String {
        let end = |end: Option<i128>| end.map_or(String::new(), |end| end.to_string());
        let names = &self.names[..self.names.len() - self.quotients.len()];
        let names = names.iter().map(|name| match name.hi {
            // Half-open, but for an end that is past 128 bits.
            Some(i128::MAX) | None => format!("{}={}..", name.name, end(name.lo)),
            Some(hi) => format!("{}={}..{}", name.name, end(name.lo), hi + 1),
        });
        let definitions = self.definitions.iter().map(|(name, poly)| format!("{name}={}", self.text(poly)));
        let given = self.given.iter().map(|literal| literal.text(self));
        names.chain(definitions).chain(given).collect::<Vec<_>>().join(", ")
    }

    /// A graph whose variables are the names, in their order: the parameters of code, and of an [`indexpr::Nest`] with its loops.
    ///
    /// The expressions of sizes there are those of [`Sym::expr`](crate::Sym::expr).
    ///
    /// ```
    /// use shapetracker_symbolic::{Scope, Sym};
    ///
    /// let (scope, _) = Sym::united("kernel", [Sym::new("B", 1..65), Sym::new("T", 1..4097)])?;
    /// let graph = scope.graph()?;
    /// assert_eq!((&graph.variables()[1].name[..], graph.variables()[1].range.clone()), ("T", 1..4097));
    ///
    /// let mut open = Scope::new();
    /// open.declare("n", Some(1), None);
    /// assert_eq!(
    ///     open.graph().unwrap_err().to_string(),
    ///     "graph: code has numbers of 64 bits, and n has no greatest value: say a range with two ends, such as n=1..4097",
    /// );
    /// # Ok::<(), shapetracker_symbolic::Error>(())
    /// ```
    ///
    /// # Errors
    /// A name without a least or a greatest value, and one whose ends are no 64-bit integers.
    pub fn graph(&self) -> Result<Graph, Error> {
        const OP: &str = "graph";
        let mut graph = Graph::new();
        for name in self.own_names() {
            let range = name.range().map_err(|mistake| Error::new(OP, mistake))?;
            graph.variable(&name.name, range).map_err(|err| Error::new(OP, err))?;
        }
        Ok(graph)
    }

    /// The names but for those of quotients.
    pub(crate) fn own_names(&self) -> &[Name] {
        &self.names[..self.names.len() - self.quotients.len()]
    }

    /// A polynomial as an expression of a graph, which gets those of its names that it has not.
    pub(crate) fn written(&self, op: &'static str, graph: &mut Graph, poly: &Poly) -> Result<Expr, Error> {
        let mut known = Vec::new();
        for var in poly.vars() {
            let name = &self.names[usize::from(var.0)];
            let range = name.range().map_err(|mistake| Error::new(op, mistake))?;
            known.push((var, graph.variable(&name.name, range).map_err(|err| Error::new(op, err))?));
        }
        let mut writer = Writer { graph: std::mem::take(graph), loops: 0, leading: Vec::new(), known };
        let written = writer.poly(poly);
        *graph = writer.graph;
        written.map_err(|err| Error::new(op, err))
    }

    /// The scope where names without an end have so many bits: right for code, and no knowledge.
    pub(crate) fn with_ends(&self, bits: u32) -> Scope {
        let mut scope = self.clone();
        let own = self.own_names().len();
        for name in scope.names[..own].iter_mut().filter(|name| name.lo.is_none() || name.hi.is_none()) {
            let nearest = |end: i128| end.clamp(i64::MIN.into(), (i64::MAX - 1).into()) as i64;
            let range = with_ends(name.lo.map(nearest), name.hi.map(nearest), bits);
            (name.lo, name.hi) = (Some(range.start.into()), Some(i128::from(range.end) - 1));
        }
        scope
    }

    /// This scope with the names of another one; and for each variable of that one, its variable here.
    ///
    /// `None` where a name has two ranges or two definitions, or there are too many.
    ///
    /// ```
    /// use shapetracker_symbolic::{Literal, Poly, Scope};
    /// let mut scope = Scope::new();
    /// let n = Poly::from(scope.declare("n", Some(1), Some(4096)).unwrap());
    /// let mut other = Scope::new();
    /// other.declare("m", Some(1), None);
    /// let (union, renamed) = scope.union(&other).unwrap();
    /// assert_eq!((union.names().len(), renamed[0].0), (2, 1));
    /// # Ok::<(), shapetracker_symbolic::TooLarge>(())
    /// ```
    pub fn union(&self, other: &Scope) -> Option<(Scope, Vec<Var>)> {
        let mut union = self.clone();
        let mut renamed = Vec::with_capacity(other.names.len());
        for name in &other.names {
            let here = union.names.iter().position(|known| known.name == name.name);
            renamed.push(match here {
                Some(here) if union.names[here] == *name => Var(here as u8),
                Some(_) => return None,
                None => union.declare(&name.name, name.lo, name.hi)?,
            });
        }
        for (name, poly) in &other.definitions {
            let poly = poly.renamed(|var| renamed[usize::from(var.0)]);
            match union.find(name) {
                Some(known) if known == poly => {}
                Some(_) => return None,
                None => union.definitions.push((name.clone(), poly)),
            }
        }
        for literal in &other.given {
            let literal = literal.renamed(|var| renamed[usize::from(var.0)]);
            if !union.given.contains(&literal) {
                union.given.push(literal);
            }
        }
        Some((union, renamed))
    }
}

/// The text of a polynomial, given its variables' names.
pub(crate) fn poly_text<'a>(poly: &Poly, name: impl Fn(Var) -> &'a str) -> String {
    if poly.is_zero() {
        return "0".into();
    }
    let mut text = String::new();
    // Positive terms first: `2*s2 + 3*s3 - s1`, and not `-s1 + 2*s2 + 3*s3`.
    let (positive, negative): (Vec<_>, Vec<_>) = poly.terms().iter().partition(|term| term.1 > 0);
    for (place, &(monomial, coefficient)) in positive.into_iter().chain(negative).enumerate() {
        text += match (place, coefficient < 0) {
            (0, false) => "",
            (0, true) => "-",
            (_, false) => " + ",
            (_, true) => " - ",
        };
        term_text(&mut text, monomial, coefficient.unsigned_abs(), &name);
    }
    text
}

fn term_text<'a>(text: &mut String, monomial: Monomial, coefficient: u128, name: &impl Fn(Var) -> &'a str) {
    let mut factors: Vec<(Var, u32)> = Vec::new();
    for var in monomial.factors() {
        match factors.last_mut() {
            Some((last, exponent)) if *last == var => *exponent += 1,
            _ => factors.push((var, 1)),
        }
    }
    let mut separator = "";
    if coefficient != 1 || factors.is_empty() {
        let _ = write!(text, "{coefficient}");
        separator = "*";
    }
    for (var, exponent) in factors {
        let _ = write!(text, "{separator}{}", name(var));
        if exponent > 1 {
            let _ = write!(text, "**{exponent}");
        }
        separator = "*";
    }
}
