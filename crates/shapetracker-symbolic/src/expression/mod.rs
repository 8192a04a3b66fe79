//! Index expressions over names: made cheaper by what is known of the names.
//!
//! An expression is read as polynomials over names and atoms ([`read`]) and written again ([`write`]). What is written, and what
//! [`Graph::simplify`] makes of that and of what was given, are candidates. `indexpr` knows ranges of numbers only, and here
//! the ends of ranges may be names or missing; so each candidate is read again, and kept only if it is read as the same as
//! what was given, which is a proof for all values, and if no figure of its cost is larger.

pub(crate) mod horner;
pub(crate) mod names;
pub(crate) mod read;
pub(crate) mod write;

use std::sync::Arc;

use indexpr::{Cost, Expr, Graph, Node, Syntax};
use shapetracker_base::int::bits;
use shapetracker_base::text::{ParseError, check_length};

use crate::answer::Reason;
use crate::expression::horner::Writer;
use crate::expression::names::{Names, fitted, import, parsed};
use crate::expression::read::{Meaning, Reader};
use crate::expression::write::{Pen, Style};
use crate::literal::Literal;
use crate::poly::{MOST_STEPS, Poly, Var, within};
use crate::region::{Ask, Region, Stop, Truth};
use crate::scope::Scope;

/// An expression of more parts than this is not read as polynomials.
const MOST_PARTS: usize = 400;

/// The arithmetic of one round.
const STEPS: u64 = MOST_STEPS / 4;

/// An index expression over names, and perhaps a condition under which it matters.
///
/// [`Question::expression`](crate::Question::expression) reads one. The names are those of a [`Scope`], loop variables among
/// them: their ranges may end at names or have no end.
///
/// ```
/// use indexpr::Syntax;
/// use shapetracker_symbolic::Question;
///
/// let mut question = Question::new(["T=1.., b=0.., t=0..T"])?;
/// let expression = question.expression("(b*T + t) // T * T + (b*T + t) % T", Syntax::Python)?;
/// assert_eq!(expression.simplify().text(Syntax::Python)?, "b * T + t");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Expression {
    names: Arc<Names>,
    graph: Graph,
    value: Expr,
    given: Option<Expr>,
}

impl Expression {
    /// An expression of a text over the names of a scope, of which some are divided by.
    pub(crate) fn of_text(
        scope: Scope,
        needs: Vec<Literal>,
        divisors: &[Arc<str>],
        text: &str,
        syntax: Syntax,
    ) -> Result<Expression, ParseError> {
        let names = Names::new(scope, needs, divisors);
        let (graph, (), value) = parsed(&names, text, syntax, |_| Ok(()))?;
        names.check_signs(&graph, value, text, syntax)?;
        let expression = Expression { names: Arc::new(names), graph, value, given: None };
        expression.check_divisors(value, text)?;
        Ok(expression)
    }

    /// An expression of a graph over the names of a scope, of which each variable is one.
    pub(crate) fn of_graph(scope: Scope, graph: &Graph, value: Expr) -> Result<Expression, indexpr::Error> {
        let divisors = divisors(graph, value);
        let names = Names::new(scope, Vec::new(), &divisors);
        let (graph, values) = fitted(&names, graph, &[value])?;
        Ok(Expression { names: Arc::new(names), graph, value: values[0], given: None })
    }

    /// The same expression where a condition holds: elsewhere it may become anything.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// use shapetracker_symbolic::Question;
    ///
    /// let mut question = Question::new(["N=1.., i=.."])?;
    /// let wrapped = question.expression("i % N", Syntax::Python)?.given("0 <= i and i < N", Syntax::Python)?;
    /// assert_eq!(wrapped.simplify().text(Syntax::Python)?, "i");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What cannot be read, names that the expression and what is known of them do not have, and a number in place of a
    /// condition.
    pub fn given(&self, text: &str, syntax: Syntax) -> Result<Expression, ParseError> {
        check_length(text)?;
        let (mut graph, value, given) =
            parsed(&self.names, text, syntax, |graph| import(graph, &self.graph, &[self.value]))?;
        let given = graph.condition(given);
        if !graph.is_condition(given) {
            let message = "a condition is needed here, such as `x < 4`, not a number";
            return Err(ParseError::new(message, text, 0..text.len()));
        }
        let value = value.first().copied().unwrap_or(given);
        let expression = Expression { names: self.names.clone(), graph, value, given: Some(given) };
        expression.check_divisors(given, text)?;
        Ok(expression)
    }

    /// Refuses what is divided by a number that may be 0.
    fn check_divisors(&self, root: Expr, text: &str) -> Result<(), ParseError> {
        within(STEPS, || {
            let mut reader: Option<Reader> = None;
            let values = self.names.values(&self.graph);
            for part in self.graph.parts(&[root]) {
                let Node::Binary(indexpr::Binary::Div | indexpr::Binary::Mod, _, divisor) = self.graph.node(part)
                else {
                    continue;
                };
                if matches!(self.graph.node(divisor), Node::Int(_)) || self.is_true(&[divisor]) {
                    continue;
                }
                if reader.is_none() {
                    reader = self.names.reader();
                }
                let known = reader.as_mut().is_none_or(|reader| {
                    matches!(reader.read(&self.graph, divisor, &values),
                        Ok(Meaning::Number(poly)) if reader.is_nonzero(&poly))
                });
                if !known {
                    let divisor = self.graph.text(divisor, Syntax::Python).unwrap_or_else(|_| "a divisor".into());
                    let message = format!("{divisor} can be zero, and it is divided by: {}", says(&divisor));
                    return Err(ParseError::new(message, text, 0..text.trim_end().len()));
                }
            }
            Ok(())
        })
    }

    /// Whether the ranges of the variables of some expressions are those of their names.
    fn is_true(&self, of: &[Expr]) -> bool {
        self.graph.parts(of).into_iter().all(|part| match self.graph.node(part) {
            Node::Variable(place) => self.names.carriers[place].is_true,
            _ => true,
        })
    }

    /// The names, and what is known of them.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// use shapetracker_symbolic::Question;
    ///
    /// let expression = Question::new(["Z=1.., z=0..Z"])?.expression("z < Z", Syntax::Python)?;
    /// assert_eq!(expression.scope().known(), "Z=1.., z=0.., Z >= z + 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn scope(&self) -> &Scope {
        &self.names.scope
    }

    /// What is taken to hold of names of which nothing was said: that what is divided by is at least 1.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// use shapetracker_symbolic::Question;
    ///
    /// let expression = Question::default().expression("y*d // d", Syntax::Python)?;
    /// let needs: Vec<String> = expression.needs().iter().map(|need| need.text(expression.scope())).collect();
    /// assert_eq!(needs, ["d >= 1"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn needs(&self) -> &[Literal] {
        &self.names.needs
    }

    /// The graph of the expression: its variables are the names. A name without an end has one there, the greatest with which
    /// everything fits 64 bits.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// let expression = shapetracker_symbolic::Question::new(["x=0.."])?.expression("x * x", Syntax::Python)?;
    /// assert_eq!(expression.graph().variables()[0].range, 0..1 << 31);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The expression itself.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// let expression = shapetracker_symbolic::Question::new(["x=0.."])?.expression("x", Syntax::Python)?;
    /// assert_eq!(expression.graph().range(expression.value()).0, 0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn value(&self) -> Expr {
        self.value
    }

    /// The condition under which it matters, if one was given.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// let expression = shapetracker_symbolic::Question::new(["x=0.."])?.expression("x", Syntax::Python)?;
    /// assert!(expression.condition().is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn condition(&self) -> Option<Expr> {
        self.given
    }

    /// The text of the expression.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// let expression = shapetracker_symbolic::Question::new(["x=0.."])?.expression("x//4", Syntax::Python)?;
    /// assert_eq!(expression.text(Syntax::C)?, "x / 4");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A text that would be longer than texts may be.
    pub fn text(&self, syntax: Syntax) -> Result<String, indexpr::Error> {
        self.graph.text(self.value, syntax)
    }

    /// What computing it costs, with its condition.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// let expression = shapetracker_symbolic::Question::new(["d=1.."])?.expression("d*y // d", Syntax::Python)?;
    /// assert_eq!((expression.cost().ops, expression.simplify().cost().ops), (2, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn cost(&self) -> Cost {
        self.graph.cost(&self.roots())
    }

    /// Whether all values of the names, and no others, are those that the variables of the graph have: then ranges are those of
    /// the expression.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// use shapetracker_symbolic::Question;
    /// let is_bounded = |known| -> Result<bool, Box<dyn std::error::Error>> {
    ///     Ok(Question::new([known])?.expression("x", Syntax::Python)?.is_bounded())
    /// };
    /// assert!(is_bounded("x=0..8")? && !is_bounded("x=0..")?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn is_bounded(&self) -> bool {
        self.is_true(&self.roots())
    }

    /// The names that it divides by and that may be negative, although they are positive in the graph: of them it is known only
    /// that they are not 0. Code in languages that round towards zero is wrong for them.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// use shapetracker_symbolic::Question;
    /// let expression = Question::new(["d != 0"])?.expression("(x*d + y % d) // d", Syntax::Python)?;
    /// assert_eq!(expression.of_either_sign(), ["d"]);
    /// let expression = Question::new(["d != 0"])?.expression("x*d // d", Syntax::Python)?;
    /// assert!(expression.simplify().of_either_sign().is_empty());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn of_either_sign(&self) -> Vec<&str> {
        let of = self.roots().into_iter().flat_map(|root| divisors(&self.graph, root)).collect::<Vec<_>>();
        let signs = self.names.carriers.iter().filter(|carrier| carrier.has_either_sign);
        signs.filter(|carrier| of.contains(&carrier.name)).map(|carrier| &*carrier.name).collect()
    }

    fn roots(&self) -> Vec<Expr> {
        [self.value].into_iter().chain(self.given).collect()
    }

    /// An expression with the same value for all values of the names that meet what is known of them (and, where a condition is
    /// given, that meet that), and no dearer: no figure of its [`Cost`] is larger. Simplifying twice changes nothing more.
    ///
    /// ```
    /// use indexpr::Syntax;
    /// use shapetracker_symbolic::Question;
    ///
    /// let simple = |known: &str, text| -> Result<String, Box<dyn std::error::Error>> {
    ///     Ok(Question::new([known])?.expression(text, Syntax::Python)?.simplify().text(Syntax::Python)?)
    /// };
    /// assert_eq!(simple("t=0..32, B=1..", "(a*32 + t) // (256*B)")?, "a // (8 * B)");
    /// assert_eq!(simple("Z=1.., z=0..Z", "z if z < Z else 0")?, "z");
    /// assert_eq!(simple("N=1.., i=..", "0 <= min(max(i, 0), N - 1) < N")?, "True");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Cost
    /// Some tenths of a millisecond for a line, and at most some 30 ms of arithmetic with names for each round, of which there
    /// are two or three. Beyond that, and where there are more than 400 parts, numbers alone are simplified.
    pub fn simplify(&self) -> Expression {
        if !self.is_bounded() && self.graph.parts(&self.roots()).len() > MOST_PARTS {
            return self.clone();
        }
        let mut best = self.refitted(&self.graph, &self.roots()).unwrap_or_else(|| self.clone());
        // Every round lowers a figure of the cost and raises none. What is done in a round depends on the expression alone.
        loop {
            if best.is_of_numbers() {
                let mut graph = best.graph.clone();
                let simple = simplified(&mut graph, &best.roots());
                return best.refitted(&graph, &simple).unwrap_or(best);
            }
            match best.round() {
                Some(better) => best = better,
                None => return best,
            }
        }
    }

    /// Expressions of a graph with the widest ranges with which they fit.
    fn refitted(&self, graph: &Graph, roots: &[Expr]) -> Option<Expression> {
        let (graph, roots) = fitted(&self.names, graph, roots).ok()?;
        let (&value, given) = (roots.first()?, roots.get(1).copied());
        Some(Expression { names: self.names.clone(), graph, value, given })
    }

    /// Whether ranges and divisors are numbers and nothing else is known: that is the business of `indexpr`.
    fn is_of_numbers(&self) -> bool {
        let scope = &self.names.scope;
        let nothing_else = scope.given().is_empty() && scope.definitions().is_empty();
        nothing_else && self.is_bounded() && self.roots().iter().all(|root| divisors(&self.graph, *root).is_empty())
    }

    /// A cheaper expression, if one is found.
    fn round(&self) -> Option<Expression> {
        let is_true = self.is_true(&self.roots());
        let mut trial = Trial {
            graph: self.graph.clone(),
            best: self.roots(),
            cost: self.cost(),
            improved: false,
            is_narrow: is_true && bits(self.graph.value_range(&self.roots())) <= 32,
        };
        within(STEPS, || self.candidates(&mut trial, is_true));
        if trial.improved { self.refitted(&trial.graph, &trial.best) } else { None }
    }

    fn candidates(&self, trial: &mut Trial, is_true: bool) {
        let roots = trial.best.clone();
        let values = self.names.values(&trial.graph);
        let mut read = Read::of(&self.names, &trial.graph, &roots, &values);
        if read.is_none() && !is_true {
            return;
        }
        let written = read.as_ref().and_then(|read| read.written(&self.names, &mut trial.graph));
        let mut is_same =
            |graph: &Graph, found: &[Expr]| read.as_mut().is_some_and(|read| read.is_read_as(graph, found, &values));
        let mut sources = vec![roots];
        if let Some(written) = written {
            trial.offer(written.clone(), &mut is_same);
            sources.push(written);
        }
        for (place, source) in sources.iter().enumerate() {
            let simple = simplified(&mut trial.graph, source);
            // Where the ranges of the graph are those of the names, what `indexpr` makes of what was given is right.
            let is_known = is_true && place == 0;
            trial.offer(simple, |graph, found| is_known || is_same(graph, found));
        }
    }
}

/// What is tried in one round.
struct Trial {
    graph: Graph,
    best: Vec<Expr>,
    cost: Cost,
    improved: bool,
    /// Whether 32 bits suffice, as they must do in the end, too.
    is_narrow: bool,
}

impl Trial {
    /// Takes expressions if they are cheaper and right.
    fn offer(&mut self, found: Vec<Expr>, is_right: impl FnOnce(&Graph, &[Expr]) -> bool) {
        let new = self.graph.cost(&found);
        let no_dearer = new.ops <= self.cost.ops && new.divmods <= self.cost.divmods && new.weight <= self.cost.weight;
        let is_too_wide = self.is_narrow && bits(self.graph.value_range(&found)) > 32;
        if no_dearer && new != self.cost && !is_too_wide && is_right(&self.graph, &found) {
            (self.best, self.cost, self.improved) = (found, new, true);
        }
    }
}

/// What numbers alone make of expressions.
fn simplified(graph: &mut Graph, roots: &[Expr]) -> Vec<Expr> {
    match roots[..] {
        [value, given] => {
            let (value, given) = graph.simplify_pair(value, given);
            vec![value, given]
        }
        [value] => vec![graph.simplify(value)],
        _ => roots.to_vec(),
    }
}

/// Expressions as they are read: the value where its condition holds, and the condition everywhere.
struct Read {
    value: (Reader, Meaning),
    given: Option<(Reader, Meaning)>,
}

impl Read {
    fn of(names: &Names, graph: &Graph, roots: &[Expr], values: &[Poly]) -> Option<Read> {
        if graph.parts(roots).len() > MOST_PARTS {
            return None;
        }
        let read = || -> Ask<Read> {
            let mut reader = names.reader().ok_or(Stop::Undecided(Reason::Existence))?;
            let given = match roots.get(1) {
                Some(&given) => Some(reader.read(graph, given, values)?),
                None => None,
            };
            let mut for_value = match &given {
                Some(Meaning::Truth(truth)) => reader.assuming(*truth)?.ok_or(Stop::Undecided(Reason::Existence))?,
                _ => reader.clone(),
            };
            let value = for_value.read(graph, roots[0], values)?;
            Ok(Read { value: (for_value, value), given: given.map(|given| (reader, given)) })
        };
        read().ok()
    }

    /// Whether other expressions are read as the same.
    fn is_read_as(&mut self, graph: &Graph, found: &[Expr], values: &[Poly]) -> bool {
        if graph.parts(found).len() > MOST_PARTS {
            return false;
        }
        let same = |known: &mut (Reader, Meaning), found: Option<&Expr>| {
            let again = found.map(|found| known.0.read(graph, *found, values));
            matches!(again, Some(Ok(again)) if again == known.1)
        };
        same(&mut self.value, found.first()) && self.given.as_mut().is_none_or(|given| same(given, found.get(1)))
    }

    /// What was read as expressions.
    fn written(&self, names: &Names, graph: &mut Graph) -> Option<Vec<Expr>> {
        let mut all = Vec::new();
        for (reader, meaning) in [Some(&self.value), self.given.as_ref()].into_iter().flatten() {
            let (leading, known) = (Vec::new(), Vec::new());
            let mut writer = Writer { graph: std::mem::take(graph), loops: 0, leading, known };
            let mut defined = Vec::new();
            for (place, carrier) in names.carriers.iter().enumerate() {
                let range = writer.graph.variables()[place].range.clone();
                let Ok(expr) = writer.graph.variable(&carrier.name, range) else { continue };
                if !carrier.is_size {
                    writer.leading.push(expr);
                }
                match place < names.scope.names().len() {
                    true => writer.known.push((Var(place as u8), expr)),
                    false => defined.push((expr, carrier.value.clone())),
                }
            }
            defined.extend(writer.solved(reader.region.solved()));
            let mut backup = writer.graph.clone();
            let written = Pen::new(reader, writer, &defined, Style::Horner).and_then(|mut pen| {
                let written = match meaning {
                    Meaning::Number(poly) => pen.number(poly),
                    Meaning::Truth(truth) => pen.condition(*truth),
                };
                backup = std::mem::take(&mut pen.writer.graph);
                written
            });
            *graph = backup;
            all.push(written.ok()?);
        }
        Some(all)
    }
}

/// The names of what is divided by.
pub(crate) fn divisors(graph: &Graph, root: Expr) -> Vec<Arc<str>> {
    let mut names: Vec<Arc<str>> = Vec::new();
    let divisors = graph.parts(&[root]).into_iter().filter_map(|part| match graph.node(part) {
        Node::Binary(indexpr::Binary::Div | indexpr::Binary::Mod, _, divisor) => Some(divisor),
        _ => None,
    });
    for part in graph.parts(&divisors.collect::<Vec<_>>()) {
        if let Node::Variable(place) = graph.node(part) {
            let name: Arc<str> = graph.variables()[place].name.as_str().into();
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

/// What to say of a divisor.
pub(crate) fn says(divisor: &str) -> String {
    let is_name = divisor.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_name { format!("say `{divisor}=1..`") } else { format!("say `{divisor} >= 1`") }
}

/// Whether a condition is known to hold for all values of the names.
pub(crate) fn always(scope: &Scope, literal: &Literal) -> bool {
    within(STEPS, || Region::of(scope, &[]).is_some_and(|region| region.truth(literal) == Truth::Always))
}
