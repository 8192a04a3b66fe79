//! Expressions as hash-consed nodes of a directed acyclic graph, each with what is known of its values.

use std::collections::{BinaryHeap, HashMap};
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, Hash, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU32, Ordering};

pub(crate) use crate::binary::{Binary, Sort};
use crate::error::{Error, Reason};
use crate::facts::Facts;
use crate::places::{Places, make_room};
use crate::syntax::why_no_name;

/// Integer expressions over variables with known ranges, hash-consed: each distinct expression is stored once.
///
/// An [`Expr`] is a handle into its graph, so that expressions are free to clone and equal exactly when their handles
/// are. An interval and a congruence are known of every expression from when it is made ([`Graph::range`],
/// [`Graph::congruence`]), and every value lies in `i64`: what could leave it is refused then and there. Operands come
/// before what is made of them, so that every pass is a loop over an array, nothing is recursive, and expressions may
/// be of any depth.
///
/// Making an expression costs one look-up in a hash table. Nothing is ever removed: a graph keeps what was tried in it.
///
/// ```
/// use indexpr::{Binary, Graph, Syntax};
///
/// let mut graph = Graph::new();
/// let x = graph.variable("x", 0..100)?;
/// let ten = graph.int(10);
/// let tens = graph.binary(Binary::Div, x, ten)?;
/// assert_eq!(graph.range(tens), (0, 9));
/// assert_eq!(graph.text(tens, Syntax::Python)?, "x // 10");
/// assert_eq!(graph.binary(Binary::Div, x, ten)?, tens);
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Debug)]
pub struct Graph {
    /// What this graph makes from now on.
    run: Run,
    /// The runs of the graphs that it is a clone of, in the order of their places.
    inherited: Vec<Run>,
    nodes: Vec<Small>,
    facts: Vec<Facts>,
    /// The ranges of the range tests, in the order of their nodes.
    ranges: Vec<(i64, i64)>,
    /// The expressions by their nodes.
    known: Places,
    variables: Vec<Variable>,
    /// The variables by their names.
    names: Places,
    /// Whether some expression may leave 32 bits: where none does, no part of one does.
    has_wide: bool,
}

/// The expressions from a place on that were made by one graph. Handles name their run: so a graph knows its own handles,
/// and those of the graph that it was cloned from, made before that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    begin: u32,
    id: u32,
}

impl Run {
    /// A run that no other graph of this process has, unless it makes more than 2^32 of them.
    fn new(begin: u32) -> Run {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Run { begin, id: NEXT.fetch_add(1, Ordering::Relaxed) }
    }
}

/// A node as the graph keeps it: in 16 bytes, with places in place of handles.
#[derive(Clone, Copy, Debug)]
enum Small {
    Int(i64),
    Bool(bool),
    Variable(u32),
    Binary(Binary, u32, u32),
    /// The range is at this place among those of the graph.
    Within(u32, u32),
    Not(u32),
    /// A choice between numbers, or between conditions.
    Select(Sort, [u32; 3]),
}

const _: () = assert!(size_of::<Small>() == 16);

/// An expression of a [`Graph`]: a handle, which means nothing without its graph.
///
/// A handle knows the graph that made it. Handed to another graph it is an error,
/// [`ErrorKind::ForeignExpression`](crate::ErrorKind::ForeignExpression), or, where a function returns no `Result`, a panic
/// that its documentation names. A clone of a graph knows the handles that were made before it was cloned; from then on
/// both are graphs of their own. (Graphs are told apart by a number of 32 bits, which begins anew after 2^32 of them.)
///
/// ```
/// use indexpr::{ErrorKind, Graph, Syntax};
///
/// let mut graph = Graph::new();
/// let x = graph.variable("x", 0..8)?;
/// let mut other = Graph::new();
/// let y = other.variable("y", 0..8)?;
/// assert_eq!(graph.text(y, Syntax::Python).unwrap_err().kind(), ErrorKind::ForeignExpression);
/// assert_eq!(graph.clone().text(x, Syntax::Python)?, "x");
/// # Ok::<(), indexpr::Error>(())
/// ```
///
/// Handles of one graph are ordered: an operand comes before every expression that uses it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Expr {
    place: u32,
    /// The run that it belongs to.
    run: u32,
}

/// Handles that are equal have equal places, and a graph has no other handles of a place.
impl Hash for Expr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u32(self.place);
    }
}

impl fmt::Debug for Expr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Expr({})", self.place)
    }
}

/// What an expression is: a leaf, or an operation on other expressions of the same graph.
///
/// ```
/// use indexpr::{Binary, Graph, Node};
///
/// let mut graph = Graph::new();
/// let (x, four) = (graph.variable("x", 0..32)?, graph.int(4));
/// let quotient = graph.binary(Binary::Div, x, four)?;
/// assert_eq!(graph.node(quotient), Node::Binary(Binary::Div, x, four));
/// assert_eq!(graph.node(four), Node::Int(4));
/// assert_eq!(graph.node(x), Node::Variable(0));
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Node {
    /// A number.
    Int(i64),
    /// True or false.
    Bool(bool),
    /// A variable, by its place among [`Graph::variables`].
    Variable(usize),
    /// An operation on two operands.
    Binary(Binary, Expr, Expr),
    /// Whether a number lies in a half-open range: `begin <= value < end`.
    Within(Expr, i64, i64),
    /// The opposite of a condition.
    Not(Expr),
    /// The second operand where the first, a condition, holds; the third elsewhere.
    Select(Expr, Expr, Expr),
}

/// A variable of a [`Graph`]: its name and the half-open range of its values, which is never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Variable {
    /// The name.
    pub name: String,
    /// The values: half-open.
    pub range: Range<i64>,
}

impl Node {
    /// The operands, in the order in which the node has them; a leaf has none.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// let (x, y) = (graph.variable("x", 0..4)?, graph.variable("y", 0..4)?);
    /// let inside = graph.within(x, 1, 3)?;
    /// let either = graph.select(inside, x, y)?;
    /// assert!(graph.node(either).operands().eq([inside, x, y]));
    /// assert_eq!(graph.node(x).operands().count(), 0);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = Expr> + use<> {
        let operands = match *self {
            Node::Int(_) | Node::Bool(_) | Node::Variable(_) => [None; 3],
            Node::Within(a, ..) | Node::Not(a) => [Some(a), None, None],
            Node::Binary(_, a, b) => [Some(a), Some(b), None],
            Node::Select(c, a, b) => [Some(c), Some(a), Some(b)],
        };
        operands.into_iter().flatten()
    }
}

impl Variable {
    /// A variable with a name and a half-open range of values.
    ///
    /// ```
    /// assert_eq!(indexpr::Variable::new("i", 0..8).name, "i");
    /// ```
    pub fn new(name: impl Into<String>, range: Range<i64>) -> Variable {
        Variable { name: name.into(), range }
    }
}

impl Default for Graph {
    fn default() -> Graph {
        Graph {
            run: Run::new(0),
            inherited: Vec::new(),
            nodes: Vec::new(),
            facts: Vec::new(),
            ranges: Vec::new(),
            known: Places::default(),
            variables: Vec::new(),
            names: Places::default(),
            has_wide: false,
        }
    }
}

/// A clone has the same expressions under the same handles; what either makes after that is unknown to the other.
impl Clone for Graph {
    fn clone(&self) -> Graph {
        let len = self.nodes.len() as u32;
        let mut inherited = self.inherited.clone();
        if self.run.begin < len {
            inherited.push(self.run);
        }
        Graph {
            run: Run::new(len),
            inherited,
            nodes: self.nodes.clone(),
            facts: self.facts.clone(),
            ranges: self.ranges.clone(),
            known: self.known.clone(),
            variables: self.variables.clone(),
            names: self.names.clone(),
            has_wide: self.has_wide,
        }
    }
}

impl Graph {
    /// A graph without expressions.
    ///
    /// ```
    /// assert!(indexpr::Graph::new().is_empty());
    /// ```
    pub fn new() -> Graph {
        let mut graph = Graph::default();
        graph.nodes.reserve(48);
        graph.facts.reserve(48);
        graph
    }

    /// A variable with a name and a half-open range of values. The same name is the same variable.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// let x = graph.variable("x", 0..8)?;
    /// assert_eq!(graph.variable("x", 0..8)?, x);
    /// assert_eq!(
    ///     graph.variable("y", 5..5).unwrap_err().to_string(),
    ///     "variable: the range 5..5 of `y` is empty",
    /// );
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// A name is one of Python and of C alike: letters, digits and underscores, no digit first, and no word that means
    /// something in an expression (`and`, `min`, `True`). So the text of an expression can always be read again.
    ///
    /// # Errors
    /// An empty range, a name that has another range already, or what cannot be a name.
    pub fn variable(&mut self, name: &str, range: Range<i64>) -> Result<Expr, Error> {
        const OP: &str = "variable";
        if range.is_empty() {
            let (begin, end) = (range.start, range.end);
            return Err(Reason::EmptyRange { name: name.into(), begin, end }.in_op(OP));
        }
        let place = match self.variable_named(name) {
            None if why_no_name(name).is_some() => {
                return Err(Reason::Name { name: name.into(), why: why_no_name(name).unwrap_or_default() }.in_op(OP));
            }
            Some(place) if self.variables[place].range == range => place,
            Some(place) => {
                let Range { start: begin, end } = self.variables[place].range;
                return Err(Reason::RangesDiffer { name: name.into(), begin, end }.in_op(OP));
            }
            None => {
                self.variables.push(Variable { name: name.into(), range });
                self.names.push(|place| hash_of(self.variables[place].name.as_str()));
                self.variables.len() - 1
            }
        };
        let Range { start, end } = self.variables[place].range;
        Ok(self.insert(Node::Variable(place), Facts::between(start, end - 1)))
    }

    /// The variable of a place.
    pub(crate) fn variable_at(&mut self, place: usize) -> Expr {
        let Range { start, end } = self.variables[place].range;
        self.insert(Node::Variable(place), Facts::between(start, end - 1))
    }

    /// The place of the variable of a name.
    pub(crate) fn variable_named(&self, name: &str) -> Option<usize> {
        self.names.find(hash_of(name), |place| self.variables[place].name == name)
    }

    /// The variables, in the order in which they were made; [`Node::Variable`] holds a place in this list.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// graph.variable("row", 0..3)?;
    /// graph.variable("column", 0..4)?;
    /// assert_eq!(graph.variables()[1].name, "column");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn variables(&self) -> &[Variable] {
        &self.variables
    }

    /// A constant number.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// let seven = graph.int(7);
    /// assert_eq!(graph.range(seven), (7, 7));
    /// assert_eq!(graph.int(7), seven);
    /// ```
    pub fn int(&mut self, value: i64) -> Expr {
        self.insert(Node::Int(value), Facts::constant(value))
    }

    /// A constant condition: true or false.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// let always = graph.bool(true);
    /// assert!(graph.is_condition(always));
    /// assert_eq!(graph.text(always, Syntax::Python)?, "True");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn bool(&mut self, value: bool) -> Expr {
        self.insert(Node::Bool(value), Facts::constant(value.into()))
    }

    /// An operation on two operands, as it is given: nothing is simplified or reordered, and equal nodes are one.
    ///
    /// ```
    /// use indexpr::{Binary, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let x = graph.variable("x", -3..4)?;
    /// let one = graph.int(1);
    /// let err = graph.binary(Binary::Div, one, x).unwrap_err();
    /// assert_eq!(err.to_string(), "//: the divisor can be zero: it ranges from -3 to 3; its variables need ranges that leave 0 out");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A condition where a number is needed or the other way round, a divisor that can be zero, a value that can leave
    /// `i64` (whether it can is judged by the ranges of the operands), an operand that is not of this graph.
    pub fn binary(&mut self, op: Binary, a: Expr, b: Expr) -> Result<Expr, Error> {
        let node = Node::Binary(op, a, b);
        if let Some(known) = self.find(node) {
            return Ok(known);
        }
        for operand in [a, b] {
            self.check(op.name(), operand)?;
            self.demand(op.name(), operand, op.takes())?;
        }
        let facts = Facts::of_binary(op, self.facts(a), self.facts(b))?;
        Ok(self.insert(node, facts))
    }

    /// The condition that a number lies in the half-open range `begin..end`. It is one node, so that no pass over
    /// expressions has to recognise a range test in two comparisons and an `and`.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// let x = graph.variable("x", 0..10)?;
    /// let inside = graph.within(x, 1, 9)?;
    /// assert_eq!(graph.text(inside, Syntax::Python)?, "1 <= x < 9");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A condition where a number is needed; an expression that is not of this graph.
    pub fn within(&mut self, value: Expr, begin: i64, end: i64) -> Result<Expr, Error> {
        self.check("<", value)?;
        self.demand("<", value, Sort::Number)?;
        let facts = Facts::of_within(self.facts(value), begin, end);
        Ok(self.insert(Node::Within(value, begin, end), facts))
    }

    /// The cheapest test of whether a number lies between two bounds, both included; either may be missing. A bound
    /// that the range of the value implies is not tested, and a bound at an end of the range is an equality.
    pub(crate) fn between(&mut self, value: Expr, low: Option<i128>, high: Option<i128>) -> Result<Expr, Error> {
        let (least, most) = self.range(value);
        let low = low.filter(|low| i128::from(least) < *low);
        let high = high.filter(|high| *high < i128::from(most));
        let never = low.is_some_and(|low| low > most.into()) || high.is_some_and(|high| high < least.into());
        if never || low.zip(high).is_some_and(|(low, high)| low > high) {
            return Ok(self.bool(false));
        }
        // Bounds that are left lie within the range of the value, and so fit into `i64`.
        match (low.map(|low| low as i64), high.map(|high| high as i64)) {
            (None, None) => Ok(self.bool(true)),
            (Some(low), None) if low == most => self.compare(Binary::Eq, value, low),
            (Some(low), None) => self.compare(Binary::Ge, value, low),
            (None, Some(high)) if high == least => self.compare(Binary::Eq, value, high),
            (None, Some(high)) => self.compare(Binary::Lt, value, high + 1),
            (Some(low), Some(high)) if low == high => self.compare(Binary::Eq, value, low),
            (Some(low), Some(high)) => self.within(value, low, high + 1),
        }
    }

    fn compare(&mut self, op: Binary, value: Expr, with: i64) -> Result<Expr, Error> {
        let with = self.int(with);
        self.binary(op, value, with)
    }

    /// Says of a number that its values lie in a half-open range wherever it matters, which whoever makes it knows from elsewhere. What
    /// is made of it afterwards goes by that; whatever was is as it was. A range that has nothing in common with what is known says
    /// nothing.
    ///
    /// It holds for this graph and its clones: an expression that is [imported](Graph::import) has the range of its operands.
    ///
    /// ```
    /// use indexpr::{Binary, Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// // At all values that matter i < 8 * n.
    /// let (i, n) = (graph.variable("i", 0..1 << 20)?, graph.variable("n", 1..1 << 17)?);
    /// let row = graph.binary(Binary::Div, i, n)?;
    /// graph.narrow(row, 0..8);
    /// let start = graph.parse("i // n * n", Syntax::Python)?;
    /// assert_eq!(graph.range(start).1, 7 * ((1 << 17) - 1));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn narrow(&mut self, expr: Expr, range: Range<i64>) {
        let place = self.own(expr);
        let known = self.facts[place];
        let (low, high) = (known.low.max(range.start), known.high.min(range.end.saturating_sub(1)));
        if low <= high {
            let one = low == high;
            self.facts[place] = if one { Facts::constant(low) } else { Facts { low, high, ..known } };
        }
    }

    /// The negation of a condition.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// let x = graph.variable("x", 0..10)?;
    /// let inside = graph.within(x, 1, 9)?;
    /// let outside = graph.not(inside)?;
    /// assert_eq!(graph.text(outside, Syntax::C)?, "!(1 <= x && x < 9)");
    /// assert!(graph.not(x).is_err());
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number where a condition is needed; an expression that is not of this graph.
    #[allow(clippy::should_implement_trait)]
    pub fn not(&mut self, a: Expr) -> Result<Expr, Error> {
        self.check("not", a)?;
        self.demand("not", a, Sort::Condition)?;
        let Facts { low, high, .. } = self.facts(a);
        Ok(self.insert(Node::Not(a), Facts::between(1 - high, 1 - low)))
    }

    /// `then` where a condition holds, `otherwise` elsewhere.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// let (x, zero) = (graph.variable("x", -4..5)?, graph.int(0));
    /// let positive = graph.within(x, 1, 5)?;
    /// let clipped = graph.select(positive, x, zero)?;
    /// assert_eq!(graph.text(clipped, Syntax::Python)?, "x if 1 <= x < 5 else 0");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A number as the condition, one branch that is a number while the other is a condition, an expression that is not
    /// of this graph.
    pub fn select(&mut self, condition: Expr, then: Expr, otherwise: Expr) -> Result<Expr, Error> {
        for operand in [condition, then, otherwise] {
            self.check("if", operand)?;
        }
        self.demand("if", condition, Sort::Condition)?;
        self.demand("else", otherwise, self.sort(then))?;
        let facts = Facts::of_select(self.facts(condition), self.facts(then), self.facts(otherwise));
        Ok(self.insert(Node::Select(condition, then, otherwise), facts))
    }

    /// What an expression is: for a pass of one's own over [`Graph::parts`].
    ///
    /// ```
    /// use indexpr::{Binary, Graph, Node, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..8)?;
    /// let expr = graph.parse("x * 5 + x % 3", Syntax::Python)?;
    /// let is_product = |node| matches!(node, Node::Binary(Binary::Mul, ..));
    /// let parts = graph.parts(&[expr]).into_iter();
    /// assert_eq!(parts.filter(|part| is_product(graph.node(*part))).count(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn node(&self, expr: Expr) -> Node {
        self.node_at(self.own(expr))
    }

    /// The run of a place.
    #[inline]
    fn run_of(&self, place: u32) -> u32 {
        if place >= self.run.begin {
            return self.run.id;
        }
        let later = self.inherited.partition_point(|run| run.begin <= place);
        self.inherited[later - 1].id
    }

    /// The handle of a place.
    #[inline]
    fn at(&self, place: u32) -> Expr {
        Expr { place, run: self.run_of(place) }
    }

    /// Whether a handle is one of this graph.
    #[inline]
    fn has(&self, expr: Expr) -> bool {
        expr.place() < self.nodes.len() && expr.run == self.run_of(expr.place)
    }

    /// The place of a handle, which must be one of this graph.
    #[inline]
    fn own(&self, expr: Expr) -> usize {
        assert!(self.has(expr), "the expression is not of this graph");
        expr.place()
    }

    fn node_at(&self, place: usize) -> Node {
        match self.nodes[place] {
            Small::Int(value) => Node::Int(value),
            Small::Bool(value) => Node::Bool(value),
            Small::Variable(place) => Node::Variable(place as usize),
            Small::Binary(op, a, b) => Node::Binary(op, self.at(a), self.at(b)),
            Small::Within(value, range) => {
                let (begin, end) = self.ranges[range as usize];
                Node::Within(self.at(value), begin, end)
            }
            Small::Not(a) => Node::Not(self.at(a)),
            Small::Select(_, [condition, a, b]) => Node::Select(self.at(condition), self.at(a), self.at(b)),
        }
    }

    /// An interval that holds every value of an expression, both ends included. A condition has values 0 and 1.
    ///
    /// It is computed from the intervals and congruences of the operands alone (an abstract domain), so it is right but
    /// need not be tight: operands that share variables are treated as independent.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..10)?;
    /// let even = graph.parse("x * 2 % 4", Syntax::Python)?;
    /// assert_eq!(graph.range(even), (0, 2)); // 3 is odd
    /// let zero = graph.parse("x - x", Syntax::Python)?;
    /// assert_eq!(graph.range(zero), (-9, 9));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn range(&self, expr: Expr) -> (i64, i64) {
        let facts = self.facts(expr);
        (facts.low, facts.high)
    }

    /// Whether an expression is a condition, as opposed to a number.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// let x = graph.variable("x", 0..9)?;
    /// let inside = graph.within(x, 2, 5)?;
    /// assert!(graph.is_condition(inside) && !graph.is_condition(x));
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn is_condition(&self, expr: Expr) -> bool {
        self.sort(expr) == Sort::Condition
    }

    /// A modulus and a residue: every value of an expression is congruent to the residue modulo the modulus. A modulus
    /// of 0 says that the residue is the only value; a modulus of 1 says nothing.
    ///
    /// Of use for alignment: an address whose congruence is `(8, 0)` is a multiple of 8.
    ///
    /// ```
    /// use indexpr::{Binary, Graph};
    ///
    /// let mut graph = Graph::new();
    /// let (x, six, two) = (graph.variable("x", 0..9)?, graph.int(6), graph.int(2));
    /// let sixfold = graph.binary(Binary::Mul, x, six)?;
    /// let sum = graph.binary(Binary::Add, sixfold, two)?;
    /// assert_eq!(graph.congruence(sum), (6, 2));
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn congruence(&self, expr: Expr) -> (i64, i64) {
        let facts = self.facts(expr);
        (facts.modulus, facts.residue)
    }

    /// How many distinct expressions the graph holds, those included that nothing uses any more.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..8)?;
    /// graph.parse("x // 3 + x // 3", Syntax::Python)?;
    /// assert_eq!(graph.len(), 4); // x, 3, x // 3 and the sum
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the graph holds no expressions.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// graph.int(1);
    /// assert!(!graph.is_empty());
    /// ```
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The distinct expressions that some are made of, themselves included, in an order in which operands come before
    /// what is made of them.
    ///
    /// Cost: linear in the number of expressions that the graph made before the latest of those given.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// let x = graph.variable("x", 0..8)?;
    /// let expr = graph.parse("x // 3 * (x // 3)", Syntax::Python)?;
    /// let parts = graph.parts(&[expr]);
    /// assert_eq!(parts.len(), 4); // x, 3, x // 3 and the product
    /// assert_eq!((parts[0], parts[3]), (x, expr));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn parts(&self, of: &[Expr]) -> Vec<Expr> {
        self.parts_where(of, |_| true)
    }

    /// The same, but without what is only an operand of expressions that are not `open`.
    // No rule: it compares how many expressions there are with the length of the graph.
    pub(crate) fn parts_where(&self, of: &[Expr], open: impl Fn(Expr) -> bool) -> Vec<Expr> {
        let length = of.iter().map(|expr| self.own(*expr) + 1).max().unwrap_or(0);
        // Few parts of a long graph are found one after the other, the last first.
        let (mut found, mut pending) = (Vec::new(), BinaryHeap::new());
        pending.extend(of.iter().map(|expr| expr.place()));
        while let Some(place) = pending.pop() {
            let expr = self.at(place as u32);
            if found.last() == Some(&expr) {
                continue;
            }
            found.push(expr);
            if open(expr) {
                pending.extend(self.node_at(place).operands().map(|operand| operand.place()));
            }
            if found.len() > length / 16 {
                break;
            }
        }
        if pending.is_empty() {
            found.reverse();
            return found;
        }
        let mut needed = vec![false; length];
        of.iter().for_each(|expr| needed[expr.place()] = true);
        for at in (0..needed.len()).rev() {
            if needed[at] && open(self.at(at as u32)) {
                self.node_at(at).operands().for_each(|operand| needed[operand.place()] = true);
            }
        }
        (0..).map(|place| self.at(place)).zip(needed).filter(|(_, needed)| *needed).map(|(expr, _)| expr).collect()
    }

    /// The expression that is this node, if there is one.
    pub(crate) fn find(&self, node: Node) -> Option<Expr> {
        self.known.find(hash_of(&node), |place| self.node_at(place) == node).map(|place| self.at(place as u32))
    }

    /// Whether some expression of the graph may leave 32 bits.
    pub(crate) fn has_wide(&self) -> bool {
        self.has_wide
    }

    /// What is known of the values of an expression.
    pub(crate) fn facts(&self, expr: Expr) -> Facts {
        self.facts[self.own(expr)]
    }

    /// Whether an expression is a number or a condition.
    pub(crate) fn sort(&self, expr: Expr) -> Sort {
        match self.nodes[self.own(expr)] {
            Small::Int(_) | Small::Variable(_) => Sort::Number,
            Small::Bool(_) | Small::Within(..) | Small::Not(_) => Sort::Condition,
            Small::Binary(op, ..) => op.gives(),
            Small::Select(sort, _) => sort,
        }
    }

    /// Refuses a handle of another graph.
    pub(crate) fn check(&self, op: &'static str, expr: Expr) -> Result<(), Error> {
        if self.has(expr) { Ok(()) } else { Err(Reason::Foreign.in_op(op)) }
    }

    /// Refuses a number where a condition is needed, and the other way round.
    fn demand(&self, op: &'static str, expr: Expr, needed: Sort) -> Result<(), Error> {
        match (self.sort(expr), needed) {
            (Sort::Number, Sort::Condition) => Err(Reason::NotACondition.in_op(op)),
            (Sort::Condition, Sort::Number) => Err(Reason::NotANumber.in_op(op)),
            _ => Ok(()),
        }
    }

    /// The expression that is this node: the one place where nodes are made. The facts must be those of the node, which
    /// determines them.
    pub(crate) fn insert(&mut self, node: Node, facts: Facts) -> Expr {
        if let Some(known) = self.find(node) {
            return known;
        }
        let small = match node {
            Node::Int(value) => Small::Int(value),
            Node::Bool(value) => Small::Bool(value),
            Node::Variable(place) => Small::Variable(place as u32),
            Node::Binary(op, a, b) => Small::Binary(op, a.place, b.place),
            Node::Within(value, begin, end) => {
                self.ranges.push((begin, end));
                Small::Within(value.place, self.ranges.len() as u32 - 1)
            }
            Node::Not(a) => Small::Not(a.place),
            // Both branches are of one sort.
            Node::Select(condition, a, b) => Small::Select(self.sort(a), [condition, a, b].map(|of| of.place)),
        };
        make_room(&mut self.nodes);
        self.nodes.push(small);
        make_room(&mut self.facts);
        self.has_wide |= i32::try_from(facts.low).is_err() || i32::try_from(facts.high).is_err();
        self.facts.push(facts);
        // The table hashes the nodes of this graph, and is no part of it meanwhile.
        let mut known = std::mem::take(&mut self.known);
        known.push(|place| hash_of(&self.node_at(place)));
        self.known = known;
        Expr { place: self.nodes.len() as u32 - 1, run: self.run.id }
    }
}

impl Expr {
    /// The place among the expressions of the graph: passes keep what they find in arrays indexed by it.
    #[inline]
    pub(crate) fn place(self) -> usize {
        self.place as usize
    }
}

/// The hash of a key of a [`Places`].
pub(crate) fn hash_of(key: &(impl Hash + ?Sized)) -> u64 {
    BuildHasherDefault::<WordHasher>::default().hash_one(key)
}

/// A hash table whose keys are a few words or a name.
pub(crate) type Map<K, V> = HashMap<K, V, BuildHasherDefault<WordHasher>>;

/// A hash of a few words by rotation and multiplication, in place of the standard library's, which is slower and
/// resists keys that were chosen to collide. This one does not: whoever sends such an expression makes the reading of
/// it quadratic in the length of its text, and nothing worse.
#[derive(Clone, Copy, Default)]
pub(crate) struct WordHasher(u64);

impl Hasher for WordHasher {
    fn finish(&self) -> u64 {
        // Tables take a bucket from the lowest bits. Those of a product depend on the lowest bits of its factors alone,
        // so the high half is mixed in.
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(byte.into()));
    }

    fn write_u32(&mut self, word: u32) {
        self.write_u64(word.into());
    }

    fn write_i64(&mut self, word: i64) {
        self.write_u64(word as u64);
    }

    fn write_usize(&mut self, word: usize) {
        self.write_u64(word as u64);
    }

    fn write_isize(&mut self, word: isize) {
        self.write_u64(word as u64);
    }

    fn write_u64(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(26) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
