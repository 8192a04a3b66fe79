//! Several accesses over common loops: what a kernel consists of, before it is text.

mod axes;
mod bounds;
mod facts;
mod levels;
mod mistake;
mod splits;

pub use facts::{Clash, InPlace, Overlap};
pub use levels::{Definition, Header, Level, Levels, Reference};
pub use splits::{LoopFunction, Splits, Unserved, WhyUnserved};

use shapetracker_base::int::bits;

use crate::constants::constant;
use crate::error::{Error, Reason};
use crate::graph::{Binary, Expr, Graph, Map, Node, Variable};
use crate::index::IndexExpr;
pub(crate) use mistake::Mistake;

/// Accesses to buffers over common loops: one graph, named loops around them, and what is computed at each of their levels.
///
/// The variables that the graph has at the beginning are *parameters*; their ranges are given there, in one place. Loops are
/// added outermost first, each with its size, which is a number or an expression over parameters. An access is an index over
/// the loops with a guard; all of them are simplified, and what they have in common is computed once. Handles of expressions
/// stay what they are whatever is done to the loops.
///
/// ```
/// use indexpr::{Body, Graph, Language, Nest};
///
/// let mut nest = Nest::new(Graph::new());
/// let (i, j, k) = (nest.each("i", 64)?, nest.each("j", 32)?, nest.reduce("k", 16)?);
/// let [a, b, c] = ["i * 16 + k", "k * 32 + j", "i * 32 + j"].map(|text| nest.parse(text).unwrap());
/// nest.access("a", a, None)?;
/// nest.access("b", b, None)?;
/// nest.access("c", c, None)?;
/// assert_eq!(
///     nest.code(Language::C, &Body::new("out[{c}] += a[{a}] * b[{b}];"))?,
///     "\
/// for (int i = 0; i < 64; ++i) {
///     const int t0 = i * 16;
///     const int t1 = i * 32;
///     for (int j = 0; j < 32; ++j) {
///         const int index_c = t1 + j;
///         for (int k = 0; k < 16; ++k) {
///             const int index_a = t0 + k;
///             const int index_b = j + k * 32;
///             out[index_c] += a[index_a] * b[index_b];
///         }
///     }
/// }
/// ",
/// );
/// # let _ = (i, j, k);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Nest {
    pub(crate) graph: Graph,
    /// How many of the variables of the graph are parameters: they come first.
    pub(crate) parameters: usize,
    pub(crate) loops: Vec<Loop>,
    pub(crate) accesses: Vec<Access>,
    pub(crate) values: Vec<Value>,
    /// Each loop that ever was, over the loops that there are now.
    pub(crate) origins: Vec<Origin>,
    /// The guards that loops and conditions take the place of: of which accesses, and in which loops.
    pub(crate) clips: Vec<(usize, Clip)>,
    /// The loops that are run in parts, and the accesses whose guards decide which.
    pub(crate) partitions: Vec<(usize, Vec<usize>)>,
    pub(crate) given: Option<Width>,
    pub(crate) signedness: Signedness,
    /// What pairs of an index and a guard, with what the loops say, were simplified to: what is read is often written, too.
    simplified: Map<(Expr, Expr, Option<Expr>), (Expr, Expr)>,
}

/// A loop of a [`Nest`]: it counts from 0 to its size.
///
/// ```
/// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
/// nest.reduce("k", 16)?;
/// assert!(nest.loops()[0].is_reduced && nest.loops()[0].name == "k");
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Loop {
    /// The name.
    pub name: String,
    /// The variable that counts.
    pub variable: Expr,
    /// How often it runs: a number, or an expression over parameters.
    pub size: Expr,
    /// Whether what the body computes is summed over it, or otherwise joined.
    pub is_reduced: bool,
}

/// An access of a [`Nest`]: where a buffer is read or written.
///
/// ```
/// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
/// let i = nest.each("i", 16)?;
/// nest.access("a", i, None)?;
/// assert_eq!(nest.accesses()[0].index, i);
/// # Ok::<(), indexpr::Error>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Access {
    /// The name.
    pub name: String,
    /// The address wherever the guard holds; elsewhere it may be anything within its range.
    pub index: Expr,
    /// The condition under which there is an element.
    pub valid: Expr,
    /// Whether it is a [guard](Nest::guard) by itself: it has no address, and `index` is 0.
    pub is_guard: bool,
}

/// A named expression.
#[derive(Clone, Debug)]
pub(crate) struct Value {
    pub(crate) name: String,
    pub(crate) expr: Expr,
}

/// A loop that was added or came of a split, over the loops that there are now.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) name: String,
    pub(crate) variable: Expr,
    pub(crate) expr: Expr,
}

/// How often a loop runs: a number, or an expression over parameters.
///
/// ```
/// assert_eq!(indexpr::Size::from(64), indexpr::Size::Number(64));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// A number.
    Number(i64),
    /// An expression over parameters.
    Expr(Expr),
}

impl From<i64> for Size {
    fn from(number: i64) -> Size {
        Size::Number(number)
    }
}

impl From<Expr> for Size {
    fn from(expr: Expr) -> Size {
        Size::Expr(expr)
    }
}

/// How many bits all numbers of a [`Nest`] have.
///
/// ```
/// assert!(indexpr::Width::Bits32 < indexpr::Width::Bits64);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Width {
    /// 32 bits.
    Bits32,
    /// 64 bits.
    Bits64,
}

/// Which type all numbers of a [`Nest`] have that are never negative; the others are signed.
///
/// ```
/// assert_eq!(indexpr::Signedness::default(), indexpr::Signedness::Signed);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Signedness {
    /// All numbers are signed: what compilers vectorize loops over.
    #[default]
    Signed,
    /// Numbers that are never negative are unsigned where a language has such types. Divisions are cheaper then. What a body
    /// is given by name stays signed.
    Unsigned,
}

/// Which loops a guard may shorten, once the body runs only where it holds ([`Nest::clip`]).
///
/// ```
/// assert_ne!(indexpr::Clip::All, indexpr::Clip::Reduced);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Clip {
    /// All loops: elements for which the body never runs are not come by.
    All,
    /// Reduced loops alone: what stands before and after them is run for every element. A guard that no reduced loop decides
    /// is a condition around the outermost of them.
    Reduced,
}

impl Nest {
    /// A nest without loops, whose parameters are the variables of a graph.
    ///
    /// ```
    /// let mut graph = indexpr::Graph::new();
    /// let n = graph.variable("n", 1..1025)?;
    /// let mut nest = indexpr::Nest::new(graph);
    /// nest.each("i", n)?;
    /// assert_eq!(nest.parameters()[0].name, "n");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn new(graph: Graph) -> Nest {
        Nest {
            parameters: graph.variables().len(),
            graph,
            loops: Vec::new(),
            accesses: Vec::new(),
            values: Vec::new(),
            origins: Vec::new(),
            clips: Vec::new(),
            partitions: Vec::new(),
            given: None,
            signedness: Signedness::Signed,
            simplified: Map::default(),
        }
    }

    /// Adds a loop inside of those that there are, and gives its variable.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// nest.each("i", 4)?;
    /// assert_eq!(nest.each("i", 5).unwrap_err().to_string(), "loop: there is a loop or a parameter `i` already");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A name that a loop or a parameter has, or that no variable can have; a size that is an expression of another graph, a
    /// condition, or depends on a loop.
    pub fn each(&mut self, name: &str, size: impl Into<Size>) -> Result<Expr, Error> {
        self.add(name, size.into(), false)
    }

    /// Adds a loop over which the body sums, or joins in another way: inside of those that there are.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// let k = nest.reduce("k", 4)?;
    /// assert_eq!(nest.graph().range(k), (0, 3));
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Nest::each`].
    pub fn reduce(&mut self, name: &str, size: impl Into<Size>) -> Result<Expr, Error> {
        self.add(name, size.into(), true)
    }

    fn add(&mut self, name: &str, size: Size, is_reduced: bool) -> Result<Expr, Error> {
        const OP: &str = "loop";
        let size = self.size(OP, size)?;
        if let Some(variable) = self.first_loop_in(size) {
            return Err(Reason::LoopInExtent { name: variable.into() }.in_op(OP));
        }
        if self.graph.variable_named(name).is_some() || self.origins.iter().any(|origin| origin.name == name) {
            return Err(Mistake::LoopTwice { name: name.into() }.in_op(OP));
        }
        let most = self.graph.range(size).1.max(1);
        let variable = self.graph.variable(name, 0..most)?;
        self.loops.push(Loop { name: name.into(), variable, size, is_reduced });
        self.origins.push(Origin { name: name.into(), variable, expr: variable });
        Ok(variable)
    }

    /// A size as an expression of the graph.
    fn size(&mut self, op: &'static str, size: Size) -> Result<Expr, Error> {
        let size = match size {
            Size::Number(number) => self.graph.int(number),
            Size::Expr(expr) => {
                self.graph.check(op, expr)?;
                expr
            }
        };
        if self.graph.is_condition(size) { Err(Reason::NotANumber.in_op(op)) } else { Ok(size) }
    }

    /// The name of the first loop variable in an expression.
    fn first_loop_in(&self, expr: Expr) -> Option<&str> {
        let place = self.graph.parts(&[expr]).into_iter().find_map(|part| match self.graph.node(part) {
            Node::Variable(place) if place >= self.parameters => Some(place),
            _ => None,
        })?;
        Some(&self.graph.variables()[place].name)
    }

    /// The graph that all expressions belong to. Its first variables are the parameters.
    ///
    /// ```
    /// assert!(indexpr::Nest::new(indexpr::Graph::new()).graph().is_empty());
    /// ```
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The same graph, for making expressions in it. A variable that is made there is neither a loop nor a parameter: what has
    /// it is refused.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// let four = nest.graph_mut().int(4);
    /// assert_eq!(nest.graph().range(four), (4, 4));
    /// ```
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }

    /// Reads an expression over the loops and parameters in the syntax of Python: [`Graph::parse`].
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// nest.each("i", 4)?;
    /// assert!(nest.parse("i * 4 + 1").is_ok() && nest.parse("k").is_err());
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A text that is no expression, or a name that neither a loop nor a parameter has.
    pub fn parse(&mut self, text: &str) -> Result<Expr, crate::ParseError> {
        self.graph.parse(text, crate::Syntax::Python)
    }

    /// The loops, outermost first.
    ///
    /// ```
    /// assert!(indexpr::Nest::new(indexpr::Graph::new()).loops().is_empty());
    /// ```
    pub fn loops(&self) -> &[Loop] {
        &self.loops
    }

    /// The accesses, in the order in which they were added.
    ///
    /// ```
    /// assert!(indexpr::Nest::new(indexpr::Graph::new()).accesses().is_empty());
    /// ```
    pub fn accesses(&self) -> &[Access] {
        &self.accesses
    }

    /// The variables that are no loops: what a kernel takes as arguments beside its buffers.
    ///
    /// ```
    /// assert!(indexpr::Nest::new(indexpr::Graph::new()).parameters().is_empty());
    /// ```
    pub fn parameters(&self) -> &[Variable] {
        &self.graph.variables()[..self.parameters]
    }

    /// The expressions that were added by [`Nest::value`], with their names, in that order.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// let i = nest.each("i", 16)?;
    /// nest.value("row", i)?;
    /// assert_eq!(nest.values().collect::<Vec<_>>(), [("row", i)]);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    pub fn values(&self) -> impl Iterator<Item = (&str, Expr)> {
        self.values.iter().map(|value| (&value.name[..], value.expr))
    }

    /// Adds an access to a buffer: an index over the loops, and the guard under which there is an element, if there is one.
    ///
    /// The pair is simplified as [`Graph::simplify_pair`] does it, inside of the loops: a loop over `n` is below `n` there.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// nest.each("i", 64)?;
    /// let index = nest.parse("i // 8 * 8 + i % 8")?;
    /// nest.access("a", index, None)?;
    /// assert_eq!(nest.graph().text(nest.accesses()[0].index, indexpr::Syntax::Python)?, "i");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An expression of another graph, or with a variable that is neither a loop nor a parameter; a condition as the index or
    /// a number as the guard; a name that is taken or no name; numbers that a given width does not hold.
    pub fn access(&mut self, name: &str, index: Expr, valid: Option<Expr>) -> Result<(), Error> {
        let valid = valid.unwrap_or_else(|| self.graph.bool(true));
        self.add_access("access", name, index, valid, false)
    }

    fn add_access(
        &mut self,
        op: &'static str,
        name: &str,
        index: Expr,
        valid: Expr,
        is_guard: bool,
    ) -> Result<(), Error> {
        self.name(op, name)?;
        let [index, valid] = [self.own(op, index)?, self.own(op, valid)?];
        if self.graph.is_condition(index) {
            return Err(Reason::NotANumber.in_op(op));
        }
        if !self.graph.is_condition(valid) {
            return Err(Reason::NotACondition.in_op(op));
        }
        let (index, valid) = self.simplified(index, valid)?;
        self.fits(op, name, &[index, valid])?;
        self.accesses.push(Access { name: name.into(), index, valid, is_guard });
        Ok(())
    }

    /// Adds a guard that belongs to no access, such as a causal mask: [`Nest::clip`] and [`Nest::partition`] take its name as
    /// that of an access, and so does `{name?}` of a body. It has no address, which `{name}` would be.
    ///
    /// ```
    /// use indexpr::{Body, Clip, Graph, Language, Nest};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 8)?;
    /// nest.each("j", 8)?;
    /// let causal = nest.parse("j <= i")?;
    /// nest.guard("causal", causal)?;
    /// nest.clip(&["causal"], Clip::All)?;
    /// assert_eq!(
    ///     nest.code(Language::Python, &Body::new("f({i}, {j})"))?,
    ///     "for i in range(8):\n    t0 = i + 1\n    for j in range(t0):\n        f(i, j)\n",
    /// );
    /// assert_eq!(
    ///     nest.code(Language::Python, &Body::new("f({causal})")).unwrap_err().to_string(),
    ///     "body: `causal` is a guard, which has no address",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An expression of another graph, or with a variable that is neither a loop nor a parameter; a number; a name that is
    /// taken or no name; numbers that a given width does not hold.
    pub fn guard(&mut self, name: &str, condition: Expr) -> Result<(), Error> {
        let nowhere = self.graph.int(0);
        self.add_access("guard", name, nowhere, condition, true)
    }

    /// Adds an access by an index of its own loops, with an expression of this nest in the place of each of them. Its
    /// parameters are those of the nest that have their names.
    ///
    /// An expression must be known to stay within the loop in whose place it stands, for all values of the loops and parameters of
    /// the nest: the index says nothing of what lies beyond ([`Nest::read_unchecked`] believes it). This is found by pushing each loop in turn to its end where the
    /// expression grows or falls along it, and by a search with counted work ([`Graph::extremes`]).
    ///
    /// ```
    /// use indexpr::{Graph, IndexExpr, Nest, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// let (row, always) = (graph.variable("row", 0..8)?, graph.bool(true));
    /// let code = IndexExpr::new(graph, row, always, [8])?;
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// let (i, k) = (nest.each("i", 6)?, nest.reduce("k", 3)?);
    /// let window = nest.parse("i + k")?;
    /// nest.read("x", &code, &[window])?;
    /// assert_eq!(nest.graph().text(nest.accesses()[0].index, Syntax::Python)?, "i + k");
    ///
    /// let beyond = nest.parse("i + k + 1")?;
    /// assert_eq!(
    ///     nest.read("y", &code, &[beyond]).unwrap_err().to_string(),
    ///     "access: axis 0 of `y` has size 8, but `i + k + 1`, which is taken there, ranges from 1 to 8",
    /// );
    /// # let _ = (i, k);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Nest::access`], another number of expressions than there are loops in the index, an expression that may leave
    /// its loop, and a parameter that this nest has not, or with values that it has not in the index.
    pub fn read(&mut self, name: &str, code: &IndexExpr, axes: &[Expr]) -> Result<(), Error> {
        self.add_read(name, code, axes, true)
    }

    /// The same for expressions that stay within their loops wherever the access is used, as the caller knows from elsewhere: from a
    /// condition under which the body runs, or between parameters. Where they do not, the address and the guard are anything.
    ///
    /// ```
    /// use indexpr::{Graph, IndexExpr, Nest};
    ///
    /// let mut graph = Graph::new();
    /// let (row, always) = (graph.variable("row", 0..5)?, graph.bool(true));
    /// let code = IndexExpr::new(graph, row, always, [5])?;
    ///
    /// // Only the first five of eight are read.
    /// let mut nest = Nest::new(Graph::new());
    /// let i = nest.each("i", 8)?;
    /// assert!(nest.read("x", &code, &[i]).is_err());
    /// nest.read_unchecked("x", &code, &[i])?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Nest::read`], but for expressions that leave their loops.
    pub fn read_unchecked(&mut self, name: &str, code: &IndexExpr, axes: &[Expr]) -> Result<(), Error> {
        self.add_read(name, code, axes, false)
    }

    fn add_read(&mut self, name: &str, code: &IndexExpr, axes: &[Expr], is_checked: bool) -> Result<(), Error> {
        const OP: &str = "access";
        let loops = code.extents().len();
        if loops != axes.len() {
            return Err(Mistake::Axes { name: name.into(), loops, given: axes.len() }.in_op(OP));
        }
        let own = axes.iter().map(|axis| self.own(OP, *axis)).collect::<Result<Vec<Expr>, Error>>()?;
        if own.iter().any(|axis| self.graph.is_condition(*axis)) {
            return Err(Reason::NotANumber.in_op(OP));
        }
        if is_checked {
            let sizes = match code.sizes() {
                [] => code.extents().iter().map(|extent| self.graph.int(*extent)).collect(),
                sizes => self.imported(OP, code, sizes, &own)?,
            };
            for (axis, size) in sizes.into_iter().enumerate() {
                self.stays_within(OP, name, axis, size, [axes[axis], own[axis]])?;
            }
        }
        let moved = self.imported(OP, code, &[code.index(), code.valid()], &own)?;
        self.access(name, moved[0], Some(moved[1]))
    }

    /// Expressions of an index over expressions of this nest in the place of its loops, and over the parameters.
    fn imported(
        &mut self,
        op: &'static str,
        code: &IndexExpr,
        exprs: &[Expr],
        axes: &[Expr],
    ) -> Result<Vec<Expr>, Error> {
        let variables = code.graph().variables();
        let parameters = self.parameters;
        self.graph.import(code.graph(), exprs, |graph, place| {
            if let Some(axis) = axes.get(place) {
                return Ok(*axis);
            }
            let Variable { name, range } = &variables[place];
            let Some(own) = graph.variable_named(name).filter(|own| *own < parameters) else {
                return Err(Mistake::NeitherLoopNorParameter { name: name[..].into() }.in_op(op));
            };
            // What is right for all values is so for some of them.
            let given = graph.variables()[own].range.clone();
            if given.start < range.start || given.end > range.end {
                let (name, given, known) = (name[..].into(), given, range.clone());
                return Err(Mistake::Values { name, given, known }.in_op(op));
            }
            graph.variable(name, given)
        })
    }

    /// Adds an expression of the caller's that the body may use by its name.
    ///
    /// ```
    /// use indexpr::{Body, Graph, Language, Nest};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 8)?;
    /// let last = nest.parse("7 - i")?;
    /// nest.value("last", last)?;
    /// assert!(nest.code(Language::C, &Body::new("f({last});"))?.contains("const int last = 7 - i;"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Nest::access`].
    pub fn value(&mut self, name: &str, expr: Expr) -> Result<(), Error> {
        const OP: &str = "value";
        self.name(OP, name)?;
        let expr = self.own(OP, expr)?;
        let expr = self.simplified_value(expr)?;
        self.fits(OP, name, &[expr])?;
        self.values.push(Value { name: name.into(), expr });
        Ok(())
    }

    /// Refuses a name that something of the nest has, or nothing can have.
    fn name(&self, op: &'static str, name: &str) -> Result<(), Error> {
        if let Some(why) = crate::syntax::why_no_name(name) {
            return Err(Reason::Name { name: name.into(), why }.in_op(op));
        }
        let values = self.values.iter().map(|value| &value.name[..]);
        let values = values.chain(self.origins.iter().map(|origin| &origin.name[..]));
        let parameters = self.parameters().iter().map(|parameter| &parameter.name[..]);
        let mut taken = values.chain(parameters).chain(self.accesses.iter().map(|access| &access.name[..]));
        if taken.any(|other| other == name) { Err(Mistake::Taken { name: name.into() }.in_op(op)) } else { Ok(()) }
    }

    /// An expression over the loops that there are now, for one over any that there were.
    fn own(&mut self, op: &'static str, expr: Expr) -> Result<Expr, Error> {
        self.graph.check(op, expr)?;
        let mut changed = false;
        for part in self.graph.parts(&[expr]) {
            if let Node::Variable(place) = self.graph.node(part)
                && place >= self.parameters
            {
                let Some(origin) = self.origins.iter().find(|origin| origin.variable == part) else {
                    let name = self.graph.variables()[place].name[..].into();
                    return Err(Mistake::NeitherLoopNorParameter { name }.in_op(op));
                };
                changed |= origin.expr != part;
            }
        }
        if !changed {
            return Ok(expr);
        }
        let with: Vec<(Expr, Expr)> = self.origins.iter().map(|origin| (origin.variable, origin.expr)).collect();
        Ok(self.replaced(&[expr], &with)?[0])
    }

    /// The place of the loop of a name.
    pub(crate) fn loop_named(&self, op: &'static str, name: &str) -> Result<usize, Error> {
        self.loops.iter().position(|one| one.name == name).ok_or_else(|| {
            let loops: Vec<&str> = self.loops.iter().map(|one| &one.name[..]).collect();
            Mistake::NoLoop { name: name.into(), loops: listed(&loops) }.in_op(op)
        })
    }

    /// The place of the access of a name.
    pub(crate) fn access_named(&self, op: &'static str, name: &str) -> Result<usize, Error> {
        self.accesses.iter().position(|access| access.name == name).ok_or_else(|| {
            let accesses: Vec<&str> = self.accesses.iter().map(|access| &access.name[..]).collect();
            Mistake::NoAccess { name: name.into(), accesses: listed(&accesses) }.in_op(op)
        })
    }

    /// The place of the access of a name, which must have an address.
    fn address_named(&self, op: &'static str, name: &str) -> Result<usize, Error> {
        let at = self.access_named(op, name)?;
        if self.accesses[at].is_guard { Err(Mistake::NoAddress { name: name.into() }.in_op(op)) } else { Ok(at) }
    }

    /// That every loop is below its size, where its variable's range does not say so.
    fn inside(&mut self) -> Result<Option<Expr>, Error> {
        let mut all = None;
        for at in 0..self.loops.len() {
            let Loop { variable, size, .. } = self.loops[at];
            if constant(&self.graph, size).is_none() {
                let one = self.graph.binary(Binary::Lt, variable, size)?;
                all = Some(match all {
                    Some(all) => self.graph.binary(Binary::And, all, one)?,
                    None => one,
                });
            }
        }
        Ok(all)
    }

    /// Whether a number is made of sums and products alone, which are what they are whatever the loops say.
    fn is_polynomial(&self, number: Expr) -> bool {
        self.graph.parts(&[number]).into_iter().all(|part| {
            let op = match self.graph.node(part) {
                Node::Int(_) | Node::Variable(_) => return true,
                Node::Binary(op, ..) => op,
                _ => return false,
            };
            matches!(op, Binary::Add | Binary::Sub | Binary::Mul)
        })
    }

    /// An index and its guard, simplified inside of the loops.
    fn simplified(&mut self, index: Expr, valid: Expr) -> Result<(Expr, Expr), Error> {
        let is_plain = self.graph.range(valid) == (1, 1) && self.is_polynomial(index);
        let inside = if is_plain { None } else { self.inside()? };
        if let Some(known) = self.simplified.get(&(index, valid, inside)) {
            return Ok(*known);
        }
        let found = match inside {
            Some(inside) => self.simplified_inside(index, valid, inside)?,
            None => self.graph.simplify_pair(index, valid),
        };
        self.simplified.insert((index, valid, inside), found);
        Ok(found)
    }

    /// The same where the loops say something.
    ///
    /// What is simplified is the guard together with what the loops say. Of the result each condition goes that the loops say
    /// by themselves: inside of them the others hold exactly where the guard does.
    // Proved: `implied_by_others` in `proofs/Simplify.v`.
    fn simplified_inside(&mut self, index: Expr, valid: Expr, inside: Expr) -> Result<(Expr, Expr), Error> {
        let all = self.graph.binary(Binary::And, valid, inside)?;
        let (index, all) = self.graph.simplify_pair(index, all);
        if self.graph.range(valid) == (1, 1) {
            return Ok((index, self.graph.bool(true)));
        }
        let [zero, one] = [0, 1].map(|number| self.graph.int(number));
        let (mut left, said) = (Vec::new(), self.conjuncts(inside));
        for condition in self.conjuncts(all).into_iter().filter(|condition| !said.contains(condition)) {
            let holds = self.graph.select(condition, one, zero)?;
            let (holds, _) = self.graph.simplify_pair(holds, inside);
            if constant(&self.graph, holds) != Some(1) {
                left.push(condition);
            }
        }
        let valid = self.conjunction(&left)?;
        Ok((index, valid))
    }

    /// The conditions that a condition is the conjunction of, in the order in which they are written; none for `True`.
    pub(crate) fn conjuncts(&self, condition: Expr) -> Vec<Expr> {
        conjuncts(&self.graph, condition)
    }

    fn conjunction(&mut self, conditions: &[Expr]) -> Result<Expr, Error> {
        conjunction(&mut self.graph, conditions)
    }

    /// The expressions with others in the place of some variables.
    pub(crate) fn replaced(&mut self, exprs: &[Expr], with: &[(Expr, Expr)]) -> Result<Vec<Expr>, Error> {
        replaced(&mut self.graph, exprs, with)
    }

    /// Splits a loop into several, outermost first: `i` of 6 into 2 and 3 makes `i0` and `i1` in its place, and
    /// `i0 * 3 + i1` of `i`.
    ///
    /// A body may still use the name of the loop. [Partitions](Nest::partition) are undone.
    ///
    /// ```
    /// use indexpr::{Graph, Nest, Syntax};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 6)?;
    /// let index = nest.parse("i // 3 + i % 3 * 2")?;
    /// nest.access("a", index, None)?;
    /// nest.split("i", &[2.into(), 3.into()])?;
    /// assert_eq!(nest.graph().text(nest.accesses()[0].index, Syntax::Python)?, "i0 + i1 * 2");
    /// assert_eq!(
    ///     nest.split("i1", &[2.into(), 2.into()]).unwrap_err().to_string(),
    ///     "split: the factors 2, 2 do not make the size of `i1`, which is 3",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A loop that there is not, factors that are not known to make its size, an expression of another graph.
    pub fn split(&mut self, name: &str, factors: &[Size]) -> Result<(), Error> {
        const OP: &str = "split";
        let at = self.loop_named(OP, name)?;
        let factors = factors.iter().map(|factor| self.size(OP, *factor)).collect::<Result<Vec<Expr>, Error>>()?;
        let mut product = self.graph.int(1);
        for factor in &factors {
            if let Some(variable) = self.first_loop_in(*factor) {
                return Err(Reason::LoopInExtent { name: variable.into() }.in_op(OP));
            }
            product = self.graph.binary(Binary::Mul, product, *factor)?;
        }
        if !self.is_same(product, self.loops[at].size)? {
            let text = |expr: &Expr| self.graph.text(*expr, crate::Syntax::Python);
            let factors = factors.iter().map(text).collect::<Result<Vec<String>, Error>>()?.join(", ");
            let size = text(&self.loops[at].size)?.into();
            return Err(Mistake::Factors { name: name.into(), factors: factors.into(), size }.in_op(OP));
        }
        self.split_all(&[(at, factors)])
    }

    /// Whether two expressions are known to have one value.
    pub(crate) fn is_same(&mut self, a: Expr, b: Expr) -> Result<bool, Error> {
        if a == b {
            return Ok(true);
        }
        let difference = self.graph.binary(Binary::Sub, a, b)?;
        let difference = self.graph.simplify(difference);
        Ok(constant(&self.graph, difference) == Some(0))
    }

    /// Splits loops, given by their places, by factors that make their sizes.
    pub(crate) fn split_all(&mut self, splits: &[(usize, Vec<Expr>)]) -> Result<(), Error> {
        let before = self.clone();
        let result = self.split_each(splits);
        if result.is_err() {
            *self = before;
        }
        result
    }

    fn split_each(&mut self, splits: &[(usize, Vec<Expr>)]) -> Result<(), Error> {
        let mut at_once = Vec::new();
        let mut in_steps = Vec::new();
        for (at, factors) in splits.iter().filter(|(_, factors)| factors.len() > 1) {
            let mut digits: Vec<(String, Expr)> = Vec::new();
            for (digit, factor) in factors.iter().enumerate() {
                digits.push((self.fresh(&format!("{}{digit}", self.loops[*at].name)), *factor));
            }
            let are_numbers = factors.iter().all(|factor| constant(&self.graph, *factor).is_some());
            if are_numbers || digits.len() == 2 {
                at_once.push((*at, digits));
            } else {
                in_steps.push((self.loops[*at].variable, digits));
            }
        }
        if !at_once.is_empty() {
            self.cut(&at_once)?;
        }
        // Between the steps the rest of a loop is below the product of its factors, which divides as one: what has been divided
        // off is gone before the next digit is.
        for (mut variable, mut digits) in in_steps {
            while digits.len() > 1 {
                let at = self.loops.iter().position(|one| one.variable == variable).unwrap_or_default();
                let first = digits.remove(0);
                let rest = match &digits[..] {
                    [last] => last.clone(),
                    inner => {
                        let mut product = inner[0].1;
                        for (_, factor) in &inner[1..] {
                            product = self.graph.binary(Binary::Mul, product, *factor)?;
                        }
                        (self.fresh("rest"), product)
                    }
                };
                let is_last = digits.len() == 1;
                self.cut(&[(at, vec![first, rest])])?;
                variable = self.loops[at + 1].variable;
                if !is_last {
                    // It is no loop that anyone knows.
                    self.origins.retain(|origin| origin.variable != variable);
                }
            }
        }
        Ok(())
    }

    /// Puts the digits of loops, with their names, in their place.
    fn cut(&mut self, splits: &[(usize, Vec<(String, Expr)>)]) -> Result<(), Error> {
        let mut with = Vec::new();
        let mut loops = Vec::new();
        for (at, one) in self.loops.clone().into_iter().enumerate() {
            let Some((_, digits)) = splits.iter().find(|(place, _)| *place == at) else {
                loops.push(one);
                continue;
            };
            // The innermost counts single indices.
            let mut whole: Option<Expr> = None;
            for (name, size) in digits {
                let (name, size) = (name.clone(), *size);
                let most = self.graph.range(size).1.max(1);
                let variable = self.graph.variable(&name, 0..most)?;
                whole = Some(match whole {
                    None => variable,
                    Some(outer) => {
                        let outer = self.graph.binary(Binary::Mul, outer, size)?;
                        self.graph.binary(Binary::Add, outer, variable)?
                    }
                });
                self.origins.push(Origin { name: name.clone(), variable, expr: variable });
                loops.push(Loop { name, variable, size, is_reduced: one.is_reduced });
            }
            with.extend(whole.map(|whole| (one.variable, whole)));
        }
        self.loops = loops;
        self.partitions.clear();
        self.rewrite(&with)
    }

    /// Puts expressions in the place of variables, everywhere, and simplifies what comes of it.
    fn rewrite(&mut self, with: &[(Expr, Expr)]) -> Result<(), Error> {
        for at in 0..self.accesses.len() {
            let Access { index, valid, .. } = self.accesses[at];
            let moved = self.replaced(&[index, valid], with)?;
            if moved == [index, valid] {
                continue;
            }
            let (index, valid) = self.simplified(moved[0], moved[1])?;
            (self.accesses[at].index, self.accesses[at].valid) = (index, valid);
        }
        for at in 0..self.origins.len() {
            self.origins[at].expr = self.rewritten(self.origins[at].expr, with)?;
        }
        for at in 0..self.values.len() {
            self.values[at].expr = self.rewritten(self.values[at].expr, with)?;
        }
        Ok(())
    }

    fn rewritten(&mut self, expr: Expr, with: &[(Expr, Expr)]) -> Result<Expr, Error> {
        let moved = self.replaced(&[expr], with)?[0];
        if moved == expr { Ok(expr) } else { self.simplified_value(moved) }
    }

    /// An expression by itself, simplified inside of the loops.
    fn simplified_value(&mut self, expr: Expr) -> Result<Expr, Error> {
        let always = self.graph.bool(true);
        Ok(match self.graph.is_condition(expr) {
            true => {
                let zero = self.graph.int(0);
                self.simplified(zero, expr)?.1
            }
            false => self.simplified(expr, always)?.0,
        })
    }

    /// A name that nothing has yet.
    pub(crate) fn fresh(&self, name: &str) -> String {
        let mut name = name.to_owned();
        while self.graph.variable_named(&name).is_some() || self.name("name", &name).is_err() {
            name.push('_');
        }
        name
    }

    /// Fuses loops into one that counts their indices in row-major order, outermost first, and stands where the first of them stood:
    /// the inverse of [`Nest::split`]. [Partitions](Nest::partition) are undone.
    ///
    /// Loops may then run over another shape than that of the output: where an axis of the output has no split that serves an input,
    /// all axes together may have one, and the [splits](Nest::split_where_affine) of the fused loop find it. A body may still use
    /// the names of the loops.
    ///
    /// ```
    /// use indexpr::{Graph, Nest, Syntax};
    ///
    /// // (6, 4).permute(1, 0).reshape(3, 8), written in row-major order
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 3)?;
    /// nest.each("j", 8)?;
    /// let [x, out] = ["(i * 8 + j) % 6 * 4 + (i * 8 + j) // 6", "i * 8 + j"].map(|text| nest.parse(text).unwrap());
    /// nest.access("x", x, None)?;
    /// nest.access("out", out, None)?;
    /// assert!(!nest.splits_where_affine()?.unserved.is_empty());
    ///
    /// nest.fuse(&["i", "j"], "f")?;
    /// assert_eq!(nest.split_where_affine()?.text(nest.graph()), "f = 4 x 6");
    /// let text = |at: usize| nest.graph().text(nest.accesses()[at].index, Syntax::Python);
    /// assert_eq!([text(0)?, text(1)?], ["f0 + f1 * 4", "f0 * 6 + f1"]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// No loop, one that there is not, or that is named twice; loops of which some are reduced and some are not; a name that something
    /// has; a size that may be 0 where it is not the outermost of them; a product of sizes that leaves 64 bits.
    // No rule: the digits of a row-major number (`unravel_ravel` in `proofs/View.v`).
    pub fn fuse(&mut self, names: &[&str], fused: &str) -> Result<(), Error> {
        const OP: &str = "fuse";
        let places = names.iter().map(|name| self.loop_named(OP, name)).collect::<Result<Vec<usize>, Error>>()?;
        if let Some(at) = (0..places.len()).find(|at| places[..*at].contains(&places[*at])) {
            return Err(Mistake::FusedTwice { name: names[at].into() }.in_op(OP));
        }
        let Some(&first) = places.first() else { return Err(Mistake::FusesNothing.in_op(OP)) };
        let is_reduced = self.loops[first].is_reduced;
        if let Some(other) = places.iter().find(|place| self.loops[**place].is_reduced != is_reduced) {
            let [one, other] = [first, *other].map(|place| self.loops[place].name[..].into());
            let (reduced, each) = if is_reduced { (one, other) } else { (other, one) };
            return Err(Mistake::FusedKinds { reduced, each }.in_op(OP));
        }
        if let Some(inner) = places[1..].iter().find(|place| self.graph.range(self.loops[**place].size).0 < 1) {
            return Err(Mistake::FusedEmpty { name: self.loops[*inner].name[..].into() }.in_op(OP));
        }
        self.name(OP, fused)?;
        let before = self.clone();
        let result = self.fuse_each(&places, fused);
        if result.is_err() {
            *self = before;
        }
        result
    }

    // No rule: the digits of a row-major number (`unravel_ravel` in `proofs/View.v`).
    fn fuse_each(&mut self, places: &[usize], fused: &str) -> Result<(), Error> {
        let loops: Vec<Loop> = places.iter().map(|place| self.loops[*place].clone()).collect();
        let mut size = self.graph.int(1);
        for one in &loops {
            size = self.graph.binary(Binary::Mul, size, one.size)?;
        }
        let size = self.graph.simplify(size);
        let variable = self.graph.variable(fused, 0..self.graph.range(size).1.max(1))?;
        // Innermost first, as digits are divided off.
        let (mut with, mut stride) = (Vec::new(), self.graph.int(1));
        for (at, one) in loops.iter().enumerate().rev() {
            let mut digit = self.graph.binary(Binary::Div, variable, stride)?;
            if at > 0 {
                digit = self.graph.binary(Binary::Mod, digit, one.size)?;
            }
            stride = self.graph.binary(Binary::Mul, stride, one.size)?;
            with.push((one.variable, digit));
        }
        self.loops[places[0]] = Loop { name: fused.into(), variable, size, is_reduced: loops[0].is_reduced };
        let mut place = 0;
        self.loops.retain(|_| {
            place += 1;
            !places[1..].contains(&(place - 1))
        });
        self.origins.push(Origin { name: fused.into(), variable, expr: variable });
        self.partitions.clear();
        self.rewrite(&with)
    }

    /// Exchanges two loops. [Partitions](Nest::partition) are undone.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// nest.each("i", 6)?;
    /// nest.each("j", 4)?;
    /// nest.swap("i", "j")?;
    /// assert_eq!(nest.loops()[0].name, "j");
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A loop that there is not.
    pub fn swap(&mut self, one: &str, other: &str) -> Result<(), Error> {
        let (one, other) = (self.loop_named("swap", one)?, self.loop_named("swap", other)?);
        self.loops.swap(one, other);
        self.partitions.clear();
        Ok(())
    }

    /// Puts all loops into another order, outermost first. [Partitions](Nest::partition) are undone.
    ///
    /// ```
    /// let mut nest = indexpr::Nest::new(indexpr::Graph::new());
    /// nest.each("i", 6)?;
    /// nest.each("j", 4)?;
    /// nest.reorder(&["j", "i"])?;
    /// assert_eq!(nest.loops()[0].name, "j");
    /// assert_eq!(
    ///     nest.reorder(&["i"]).unwrap_err().to_string(),
    ///     "reorder: takes each loop once: there are `j`, `i`",
    /// );
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A loop that there is not, that is named twice, or that is not named.
    pub fn reorder(&mut self, names: &[&str]) -> Result<(), Error> {
        const OP: &str = "reorder";
        let places = names.iter().map(|name| self.loop_named(OP, name)).collect::<Result<Vec<usize>, Error>>()?;
        let mut each = places.clone();
        each.sort_unstable();
        if !each.iter().copied().eq(0..self.loops.len()) {
            let loops: Vec<&str> = self.loops.iter().map(|one| &one.name[..]).collect();
            return Err(Mistake::EachLoopOnce { loops: listed(&loops) }.in_op(OP));
        }
        self.loops = places.into_iter().map(|place| self.loops[place].clone()).collect();
        self.partitions.clear();
        Ok(())
    }

    /// Has the body run only where the guards of some accesses hold: where they are affine as bounds of loops, and else as
    /// conditions, each as far out as it is known.
    ///
    /// In the body these guards are true. Right for what adds to a sum, or writes nothing where there is no element.
    ///
    /// ```
    /// use indexpr::{Body, Clip, Graph, Language, Nest};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 56)?;
    /// nest.reduce("k", 3)?;
    /// let (index, inside) = (nest.parse("i + k - 1")?, nest.parse("1 <= i + k < 57")?);
    /// nest.access("x", index, Some(inside))?;
    /// nest.clip(&["x"], Clip::All)?;
    /// assert_eq!(
    ///     nest.code(Language::Rust, &Body::new("sum += x[{x} as usize];"))?,
    ///     "\
    /// for i in 0..56_i32 {
    ///     let t0: i32 = i - 1;
    ///     let t1: i32 = (1 - i).max(0);
    ///     let t2: i32 = (57 - i).min(3);
    ///     for k in t1..t2 {
    ///         let index_x: i32 = t0 + k;
    ///         sum += x[index_x as usize];
    ///     }
    /// }
    /// ",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// An access that there is not.
    pub fn clip(&mut self, accesses: &[&str], clip: Clip) -> Result<(), Error> {
        for name in accesses {
            let at = self.access_named("clip", name)?;
            self.clips.retain(|(other, _)| *other != at);
            self.clips.push((at, clip));
        }
        Ok(())
    }

    /// Runs a loop in three parts, edge, interior and edge: in the interior the affine guards of some accesses that depend on
    /// the loop hold for all values of the loops inside of it. Parts that never run are left out. Several loops may be run so,
    /// each part of the outer one with its own parts of the inner.
    ///
    /// ```
    /// use indexpr::{Body, Graph, Language, Nest};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 56)?;
    /// nest.reduce("k", 3)?;
    /// let (index, inside) = (nest.parse("i + k - 1")?, nest.parse("1 <= i + k < 57")?);
    /// nest.access("x", index, Some(inside))?;
    /// nest.partition("i", &["x"])?;
    /// let code = nest.code(Language::C, &Body::new("if ({x?}) sum += x[{x}];"))?;
    /// assert!(code.contains("for (int i = 1; i < 55; ++i) {"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A loop or an access that there is not.
    pub fn partition(&mut self, name: &str, accesses: &[&str]) -> Result<(), Error> {
        const OP: &str = "partition";
        let at = self.loop_named(OP, name)?;
        let accesses = accesses.iter().map(|name| self.access_named(OP, name)).collect::<Result<_, Error>>()?;
        self.partitions.retain(|(other, _)| *other != at);
        self.partitions.push((at, accesses));
        Ok(())
    }

    /// Sets the width of all numbers.
    ///
    /// ```
    /// use indexpr::{Graph, Nest, Width};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 3_000_000_000)?;
    /// assert_eq!(
    ///     nest.set_width(Width::Bits32).unwrap_err().to_string(),
    ///     "width: 32 bits do not hold the size of `i`, which ranges from 3000000000 to 3000000000",
    /// );
    /// assert_eq!(nest.width()?, Width::Bits64);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A width that does not hold all numbers that are computed.
    pub fn set_width(&mut self, width: Width) -> Result<(), Error> {
        let before = self.given.replace(width);
        let all: Vec<(String, Vec<Expr>)> = (self.loops.iter())
            .map(|one| (format!("the size of `{}`", one.name), vec![one.size]))
            .chain(self.accesses.iter().map(|one| (one.name.clone(), vec![one.index, one.valid])))
            .chain(self.values.iter().map(|one| (one.name.clone(), vec![one.expr])))
            .collect();
        let result = all.iter().try_for_each(|(name, exprs)| self.fits("width", name, exprs));
        if result.is_err() {
            self.given = before;
        }
        result
    }

    /// The width of all numbers: the one that was given, or the least that holds whatever is computed.
    ///
    /// ```
    /// use indexpr::{Graph, Nest, Width};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 30)?;
    /// assert_eq!(nest.width()?, Width::Bits32);
    /// # Ok::<(), indexpr::Error>(())
    /// ```
    ///
    /// # Errors
    /// A bound of a loop that leaves 64 bits.
    pub fn width(&self) -> Result<Width, Error> {
        match self.given {
            Some(width) => Ok(width),
            None => Ok(self.expanded()?.width()),
        }
    }

    /// Sets of which type numbers are that are never negative.
    ///
    /// ```
    /// use indexpr::{Body, Graph, Language, Nest, Signedness};
    ///
    /// let mut nest = Nest::new(Graph::new());
    /// nest.each("i", 30)?;
    /// nest.set_signedness(Signedness::Unsigned);
    /// assert_eq!(
    ///     nest.code(Language::C, &Body::new("f({i});"))?,
    ///     "for (unsigned i = 0; i < 30; ++i) {\n    f(i);\n}\n",
    /// );
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn set_signedness(&mut self, signedness: Signedness) {
        self.signedness = signedness;
    }

    /// Refuses what a given width does not hold.
    fn fits(&self, op: &'static str, name: &str, exprs: &[Expr]) -> Result<(), Error> {
        let (low, high) = self.graph.value_range(exprs);
        if self.given != Some(Width::Bits32) || bits((low, high)) <= 32 {
            return Ok(());
        }
        let what = if name.contains(' ') { name.into() } else { format!("what `{name}` computes") };
        let mut far: Vec<&str> = Vec::new();
        for part in self.graph.parts(exprs) {
            if let Node::Variable(place) = self.graph.node(part)
                && place < self.parameters
                && bits(self.graph.range(part)) > 24
            {
                far.push(&self.graph.variables()[place].name);
            }
        }
        let hint = if far.is_empty() { String::new() } else { format!("; give {} a smaller end", listed(&far)) };
        Err(Mistake::TooNarrow { what: what.into(), low, high, hint: hint.into() }.in_op(op))
    }
}

/// Names in a sentence.
fn listed(names: &[&str]) -> Box<str> {
    match names {
        [] => "none".into(),
        _ => names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ").into(),
    }
}

/// The conditions that a condition is the conjunction of, in the order in which they are written; none for `True`.
pub(crate) fn conjuncts(graph: &Graph, condition: Expr) -> Vec<Expr> {
    let (mut found, mut pending) = (Vec::new(), vec![condition]);
    while let Some(one) = pending.pop() {
        match graph.node(one) {
            _ if graph.range(one) == (1, 1) => {}
            Node::Binary(Binary::And, a, b) => pending.extend([b, a]),
            _ if found.contains(&one) => {}
            _ => found.push(one),
        }
    }
    found
}

/// That all conditions of a list hold.
pub(crate) fn conjunction(graph: &mut Graph, conditions: &[Expr]) -> Result<Expr, Error> {
    let mut all = None;
    for &one in conditions {
        all = Some(match all {
            Some(all) => graph.binary(Binary::And, all, one)?,
            None => one,
        });
    }
    Ok(all.unwrap_or_else(|| graph.bool(true)))
}

/// Expressions with others in the place of some variables and products.
pub(crate) fn replaced(graph: &mut Graph, exprs: &[Expr], with: &[(Expr, Expr)]) -> Result<Vec<Expr>, Error> {
    let Some(&last) = exprs.iter().max() else { return Ok(Vec::new()) };
    // What each became, once it was visited: operands before what is made of them.
    let mut made = vec![last; last.place() + 1];
    for expr in graph.postorder(exprs) {
        made[expr.place()] = match graph.node(expr) {
            Node::Int(_) | Node::Bool(_) => expr,
            node => {
                let is_replaceable = matches!(node, Node::Variable(_) | Node::Binary(Binary::Mul, ..));
                match with.iter().find(|(old, _)| is_replaceable && *old == expr) {
                    Some((_, new)) => *new,
                    // What is made of nothing new is there already, and found.
                    None => graph.remade(node, |operand| made[operand.place()])?,
                }
            }
        };
    }
    Ok(exprs.iter().map(|expr| made[expr.place()]).collect())
}
