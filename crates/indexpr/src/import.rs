//! Expressions moved from graph to graph.

use crate::error::{Error, Reason};
use crate::graph::{Expr, Graph, Node};

impl Graph {
    /// Expressions of another graph, as expressions of this one: the same structure, with what `variable` gives in place
    /// of each variable. It is told this graph and the variable's place among [`Graph::variables`] of the other one, once
    /// for every variable that the expressions use, in the order in which they use them.
    ///
    /// Cost: linear in the number of distinct expressions. What the two graphs have in common is stored once.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut inner = Graph::new();
    /// inner.variable("k", 0..32)?;
    /// let double = inner.parse("k * 2 + 1", Syntax::Python)?;
    ///
    /// // The same with `row // 4` for k.
    /// let mut graph = Graph::new();
    /// graph.variable("row", 0..128)?;
    /// let quotient = graph.parse("row // 4", Syntax::Python)?;
    /// let moved = graph.import(&inner, &[double], |_, _| Ok(quotient))?;
    /// assert_eq!(graph.text(moved[0], Syntax::Python)?, "row // 4 * 2 + 1");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// What `variable` refuses; a value that leaves `i64`, or a divisor that can be zero, with the ranges that the
    /// replaced variables have here; a condition in place of a variable; an expression that is not of the other graph.
    pub fn import(
        &mut self,
        from: &Graph,
        exprs: &[Expr],
        mut variable: impl FnMut(&mut Graph, usize) -> Result<Expr, Error>,
    ) -> Result<Vec<Expr>, Error> {
        const OP: &str = "import";
        for expr in exprs {
            from.check(OP, *expr)?;
        }
        // Operands are visited before what is made of them, in an order that the structure alone determines.
        let order = from.postorder(exprs);
        let Some(&last) = exprs.iter().max() else { return Ok(Vec::new()) };
        // What each became, once it was visited.
        let mut made = vec![last; last.place() + 1];
        for expr in order {
            let new = match from.node(expr) {
                Node::Variable(place) => {
                    let new = variable(self, place)?;
                    self.check(OP, new)?;
                    if self.is_condition(new) {
                        return Err(Reason::NotANumber.in_op(OP));
                    }
                    new
                }
                node => self.remade(node, |operand| made[operand.place()])?,
            };
            made[expr.place()] = new;
        }
        Ok(exprs.iter().map(|expr| made[expr.place()]).collect())
    }

    /// The expressions of another graph over the same variables: each keeps its name and its range.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut from = Graph::new();
    /// from.variable("k", 0..32)?;
    /// let double = from.parse("k * 2", Syntax::Python)?;
    /// let mut graph = Graph::new();
    /// let moved = graph.import_all(&from, &[double])?[0];
    /// assert_eq!(graph.range(moved), (0, 62));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A variable that this graph has with another range; an expression that is not of the other graph.
    pub fn import_all(&mut self, from: &Graph, exprs: &[Expr]) -> Result<Vec<Expr>, Error> {
        self.import(from, exprs, |graph, place| {
            let variable = &from.variables()[place];
            graph.variable(&variable.name, variable.range.clone())
        })
    }

    /// An operation on other operands; variables stay those of the same place.
    pub(crate) fn remade(&mut self, node: Node, made: impl Fn(Expr) -> Expr) -> Result<Expr, Error> {
        match node {
            Node::Int(value) => Ok(self.int(value)),
            Node::Bool(value) => Ok(self.bool(value)),
            Node::Variable(place) => Ok(self.variable_at(place)),
            Node::Binary(op, a, b) => self.binary(op, made(a), made(b)),
            Node::Within(a, begin, end) => self.within(made(a), begin, end),
            Node::Not(a) => self.not(made(a)),
            Node::Select(condition, a, b) => self.select(made(condition), made(a), made(b)),
        }
    }
}
