//! Simplification: an expression is read as linear forms and conditions, and emitted again.
//!
//! There is no set of rewrite rules. A rule looks at how an expression is written, and whether it fires depends on the
//! order of terms and on what fired before. Here every number is read as a linear form over atoms, where equal sums are
//! equal data and terms cancel by themselves; divisions are decided by [`Algebra::quotient`], comparisons by the bounds
//! of a difference. What no theorem takes apart stays an opaque atom, so that any expression can be read. [`emit`] then
//! writes the forms as cheaply as it knows how, and the result is kept only if it is no dearer than what was given.

use smallvec::SmallVec;

use crate::algebra::{Algebra, Style};
use crate::atoms::{Condition, Kind};
use crate::conjunction::minimize;
use crate::context::{Context, Truth};
use crate::domain::export;
use crate::emit::{Products, Root, Width, emit};
use crate::error::{Error, Reason};
use crate::form::{Atom, Form};
use crate::graph::{Binary, Expr, Graph, Map, Node, Sort};
use crate::lattice::{Decided, MAX_DEPTH};
use crate::quasi::QuasiAffine;

impl Graph {
    /// An expression with the same value for all values of the variables, and no dearer: no figure of its [`Cost`]
    /// is larger. Simplifying twice changes nothing more, and expressions that differ only in the order of the operands of
    /// commutative operations become the same one (but where hashes of 64 bits collide).
    ///
    /// Every sum becomes a linear form; a quotient is taken apart where the ranges of the variables prove that it is
    /// affine, and conditions are decided where they prove that. What the new expression is made of is added to the
    /// graph, and so is what was tried in vain.
    ///
    /// Cost: about linear in the number of distinct expressions that it is made of, times the ways to write its
    /// divisions (at most six, one if it has none), times the rounds until nothing improves. Memory: at most 768 bytes
    /// for each part that is not linear, such as a floor or a product of variables; an expression with more than 2^18 of
    /// them is left as it is.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..8)?;
    /// graph.variable("j", 0..4)?;
    /// let expr = graph.parse("((i*4 + j)//4)*4 + (i*4 + j)%4", Syntax::Python)?;
    /// let simple = graph.simplify(expr);
    /// assert_eq!(graph.text(simple, Syntax::Python)?, "i * 4 + j");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    ///
    /// [`Cost`]: super::Cost
    pub fn simplify(&mut self, expr: Expr) -> Expr {
        self.cheaper([expr])[0]
    }

    /// An index and the condition that guards it, together no dearer by any figure of [`Cost`](crate::Cost): the
    /// condition keeps its value everywhere, the index wherever the condition holds.
    ///
    /// So the index may use what the guard says, and sums that both need are computed once. Where the guard fails, the
    /// new index may have another value than the old one: read nothing there. A number in place of the condition leaves
    /// both as they are. Cost: that of [`Graph::simplify`].
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..16)?;
    /// let index = graph.parse("(i - 8) % 8", Syntax::Python)?;
    /// let valid = graph.parse("i >= 8", Syntax::Python)?;
    /// let (index, valid) = graph.simplify_pair(index, valid);
    /// assert_eq!(graph.text(index, Syntax::Python)?, "i - 8");
    /// assert_eq!(graph.text(valid, Syntax::Python)?, "i >= 8");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn simplify_pair(&mut self, index: Expr, valid: Expr) -> (Expr, Expr) {
        let [index, valid] = self.cheaper([index, valid]);
        (index, valid)
    }

    /// An index and its guard for a compiler that multiplies sums out, `5*(i + j)` into `5*i + 5*j`: a pair without such
    /// products, the cheapest of those that were tried. The values are those of [`Graph::simplify_pair`].
    ///
    /// Cheap expressions share sums: `7*(i*4 + j)` beside `(i*4 + j)//3` is one product more. A compiler that distributes
    /// such products makes as many of it as the sum has terms. What counts as cheap is said at
    /// [`Divisions::MultipliedOut`](crate::Divisions::MultipliedOut). Cost: linear in the number of expressions, times the
    /// ways to write divisions (at most nine).
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("i", 0..8)?;
    /// graph.variable("j", 0..4)?;
    /// let (sum, always) = (graph.parse("5*(i + j) + (i + j)//3", Syntax::Python)?, graph.bool(true));
    /// let (index, _) = graph.multiplied_out(sum, always);
    /// assert_eq!(graph.text(index, Syntax::Python)?, "i * 5 + j * 5 + (i + j) // 3");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Panics
    /// A handle of another graph.
    pub fn multiplied_out(&mut self, index: Expr, valid: Expr) -> (Expr, Expr) {
        let from = [self.reading_order(index), self.reading_order(valid)];
        let (mut best, mut next) = (None, Some(Style::FIRST));
        while let Some(style) = next {
            let mut reader = Reader::new(style);
            let found = self.rewritten(&from, Products::OfAtoms, &mut reader);
            next = style.next_multiplied_out(&reader.algebra);
            for found in found {
                let rank = self.rank(&found, Products::OfAtoms);
                if best.is_none_or(|(_, least)| rank < least) {
                    best = Some((found, rank));
                }
            }
        }
        best.map_or((index, valid), |([index, valid], _)| (index, valid))
    }

    /// An index and the condition under which it matters, as linear forms over the variables and floors; `None` where
    /// one of them is not quasi-affine: a product of variables, `min` or `or`, for example, that simplifying cannot
    /// take apart.
    ///
    /// The condition is exact everywhere, the value wherever the condition holds.
    ///
    /// ```
    /// use indexpr::{Graph, Syntax};
    ///
    /// let mut graph = Graph::new();
    /// graph.variable("x", 0..100)?;
    /// let index = graph.parse("x % 10 + x // 10 * 12", Syntax::Python)?;
    /// let valid = graph.parse("x % 10 >= 3", Syntax::Python)?;
    /// let forms = graph.quasi_affine(index, valid)?.unwrap();
    /// assert_eq!(forms.value().unwrap().to_string(), "i0 + q0*2");
    /// assert_eq!(forms.conditions()[0].form.to_string(), "i0 - q0*10");
    ///
    /// let square = graph.parse("x * x", Syntax::Python)?;
    /// assert!(graph.quasi_affine(square, valid)?.is_none());
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// A condition as the index or a number as the condition; expressions that are not of the graph.
    pub fn quasi_affine(&self, index: Expr, valid: Expr) -> Result<Option<QuasiAffine>, Error> {
        const OP: &str = "quasi_affine";
        self.check(OP, index)?;
        self.check(OP, valid)?;
        match (self.sort(index), self.sort(valid)) {
            (Sort::Condition, _) => Err(Reason::NotANumber.in_op(OP)),
            (_, Sort::Number) => Err(Reason::NotACondition.in_op(OP)),
            _ => Ok(self.read_quasi_affine(index, valid)),
        }
    }

    /// The forms of an index and its guard, once it is known that they are a number and a condition.
    fn read_quasi_affine(&self, index: Expr, valid: Expr) -> Option<QuasiAffine> {
        let mut reader = Reader::new(Style::FIRST);
        reader.read(self, &self.reading_order(valid));
        let read = *reader.conditions.get(&valid)?;
        let guard = reader.assume(read);
        // What was read before the guard was assumed does not use it: read the index from the start.
        (reader.forms, reader.conditions) = Default::default();
        reader.read(self, &self.reading_order(index));
        let value = reader.context.with_known_values(reader.forms.get(&index)?)?;
        let (tests, others) = reader.conjuncts(guard);
        match (&others[..], reader.algebra.kind(guard)) {
            ([], _) => export(&reader.algebra, Some(&value), tests.iter()),
            (_, Kind::Bool(false)) => export(&reader.algebra, None, std::iter::empty()),
            _ => None,
        }
    }

    /// Expressions read and emitted again in every style that can make a difference, from the cheapest found so far,
    /// until no style finds a cheaper one. The last of two is the guard of the first.
    ///
    /// Each round lowers a figure of the cost and raises none, so the loop ends. Whether 64 bits are needed is such a
    /// figure: an expression that is computed in 32 bits stays one.
    ///
    /// Simplification is idempotent and does not depend on the order of the operands of commutative operations: these are
    /// put into canonical order before anything is decided, and all that is decided depends on the structure of the
    /// canonical expression alone, not on its handles ([`Graph::postorder`]). What is returned is canonical and was tried
    /// in vain in every style, which is all that would be done with it again.
    fn cheaper<const N: usize>(&mut self, roots: [Expr; N]) -> [Expr; N] {
        let mut best = self.canonical(roots);
        let (mut cost, mut is_wide) = (self.cost(&best), self.is_wide(&best));
        loop {
            let mut improved = false;
            let from = best.map(|root| self.reading_order(root));
            let mut next = Some(Style::FIRST);
            while let Some(style) = next {
                let mut reader = Reader::new(style);
                let found = self.rewritten(&from, Products::OfSums, &mut reader);
                next = style.next(&reader.algebra);
                for found in found {
                    if found == best {
                        continue;
                    }
                    let (new, wide) = (self.cost(&found), self.is_wide(&found));
                    let no_dearer = new.ops <= cost.ops && new.divmods <= cost.divmods && new.weight <= cost.weight;
                    if no_dearer && wide <= is_wide && (new != cost || wide != is_wide) {
                        best = self.canonical(found);
                        (cost, is_wide, improved) = (self.cost(&best), self.is_wide(&best), true);
                    }
                }
            }
            if !improved {
                return best;
            }
        }
    }

    /// What an expression is made of, itself last, in the order in which it is read. The order numbers the atoms, and so it
    /// decides how sums are written and what is tried first: it is that of the structure ([`Graph::postorder`]), but for
    /// the variables, which come first and in their own order, as they are to be in sums.
    fn reading_order(&self, root: Expr) -> Vec<Expr> {
        let mut roots = self.parts(&[root]);
        roots.retain(|part| matches!(self.node(*part), Node::Variable(_)));
        roots.push(root);
        self.postorder(&roots)
    }

    /// Expressions, given as what they are made of in reading order, emitted again in the style of the reader; `None` where
    /// a number leaves `i64`, which another style may avoid. Where what is found needs 64 bits, a way that does not
    /// comes before it, if there is one.
    fn rewritten<const N: usize>(
        &mut self,
        orders: &[Vec<Expr>; N],
        products: Products,
        reader: &mut Reader,
    ) -> SmallVec<[[Expr; N]; 4]> {
        let mut found = SmallVec::new();
        let Some((roots, variables)) = self.read_again(orders, reader) else { return found };
        let shorter = match products {
            Products::OfSums if reader.algebra.len() <= MAX_SHORTER => {
                reader.algebra.shorter_roots(&roots, &mut reader.context)
            }
            _ => None,
        };
        for roots in [Some(roots), shorter].into_iter().flatten() {
            let written = |graph: &mut Graph, width| -> Option<[Expr; N]> {
                let nodes = emit(&reader.algebra, roots.clone(), products, width, graph, &variables).ok()?;
                nodes[..].try_into().ok()
            };
            let cheapest = written(self, Width::Any);
            if cheapest.is_none_or(|cheapest| self.is_wide(&cheapest)) {
                let narrow = written(self, Width::Narrow);
                found.extend(narrow.filter(|narrow| !self.is_wide(narrow)));
            }
            found.extend(cheapest);
        }
        found
    }

    /// What expressions are, in the reader's forms, with the variables of the graph; `None` where a number leaves `i64`.
    fn read_again<const N: usize>(
        &mut self,
        orders: &[Vec<Expr>; N],
        reader: &mut Reader,
    ) -> Option<(Vec<Root>, Vec<Expr>)> {
        let mut found = Vec::new();
        // The guard is read first and then assumed, so that what it says can be used in the index.
        if let [_, order] = &orders[..] {
            reader.read(self, order);
            let atom = *reader.conditions.get(order.last()?)?;
            found.push(Root::Condition(reader.assume(atom)));
            (reader.forms, reader.conditions) = Default::default();
        }
        let order = orders.first()?;
        reader.read(self, order);
        let first = order.last()?;
        if self.sort(*first) == Sort::Number {
            let form = reader.forms.get(first)?;
            found.insert(0, Root::Number(reader.context.with_known_values(form)?));
        } else {
            let atom = *reader.conditions.get(first)?;
            found.insert(0, Root::Condition(if N == 1 { reader.conjunction(atom) } else { atom }));
        }
        let variables = (0..self.variables().len()).map(|place| self.variable_at(place)).collect();
        // Of a long expression these take as much memory as what writing it needs.
        (reader.forms, reader.conditions) = Default::default();
        if reader.algebra.len() > MAX_SHORTER {
            reader.context = Context::default();
        }
        Some((found, variables))
    }
}

/// The nodes of a graph, read as forms and conditions.
struct Reader {
    algebra: Algebra,
    context: Context,
    forms: Map<Expr, Form>,
    conditions: Map<Expr, Atom>,
}

/// A work limit: a form of more terms is made an opaque atom, and more tests than this are not judged by each other.
/// Otherwise a long sum that is used in many places would be multiplied out in all of them.
const MAX_TERMS: usize = 24;

/// A work limit: an expression with more atoms than this is left as it is. An atom takes up to 768 bytes, most of them
/// the two forms that it has room for, so that simplifying takes at most 192 MiB besides what reading took.
const MAX_ATOMS: usize = 1 << 18;

/// A work limit: what is done for extrema and choices is in proportion to the length of the expression, and enough for a short one.
/// Where it is used up they are taken as they are.
const WORK: usize = 1 << 16;
/// The same for each part of an expression.
const WORK_OF_PART: usize = 32;

/// A work limit: an expression with more atoms than this is written as it was read, and not also in shorter forms.
const MAX_SHORTER: usize = 256;

impl Reader {
    /// A reader that has read nothing, and assumes nothing.
    fn new(style: Style) -> Reader {
        let mut algebra = Algebra::new(style);
        algebra.of_operands = Some(Algebra::quotient_of_operands);
        Reader { algebra, context: Context::default(), forms: Map::default(), conditions: Map::default() }
    }

    /// Reads an expression and what it is made of, in reading order. What can be read neither as a form nor as an atom,
    /// because a number leaves `i64`, is left out, and so is everything above it.
    ///
    /// The form of an expression is let go once all that use it are read: of a long expression only a few are needed at
    /// a time.
    fn read(&mut self, graph: &Graph, order: &[Expr]) {
        self.algebra.work = WORK + WORK_OF_PART * order.len();
        let mut uses = vec![0u32; order.iter().map(|part| part.place() + 1).max().unwrap_or(0)];
        let operands = order.iter().flat_map(|part| graph.node(*part).operands());
        order.last().copied().into_iter().chain(operands).for_each(|used| uses[used.place()] += 1);
        for &expr in order {
            if self.algebra.len() > MAX_ATOMS {
                return;
            }
            if graph.sort(expr) == Sort::Number {
                let form = self.number(graph, expr).filter(|form| form.terms.len() <= MAX_TERMS);
                if let Some(form) = form.or_else(|| self.opaque(graph, expr)) {
                    self.forms.insert(expr, form);
                }
            } else if !self.conditions.contains_key(&expr)
                && let Some(condition) = self.condition(graph, expr)
            {
                self.conditions.insert(expr, condition);
            }
            for operand in graph.node(expr).operands() {
                uses[operand.place()] -= 1;
                if uses[operand.place()] == 0 {
                    self.forms.remove(&operand);
                }
            }
        }
    }

    /// A number as a form of its operands' atoms; `None` where it is not linear in them, or a number leaves `i64`.
    // Proved: `remainder_is_difference`, `xor_neutral` in `proofs/Simplify.v`.
    fn number(&mut self, graph: &Graph, expr: Expr) -> Option<Form> {
        let (low, high) = graph.range(expr);
        if low == high {
            return Form::constant(low);
        }
        match graph.node(expr) {
            Node::Variable(place) => {
                let atom = self.algebra.atom(Kind::Variable(place, low, high), &mut self.context)?;
                self.context.with_known_values(&Form::atom(atom))
            }
            Node::Binary(op, a, b) => {
                let share_no_bits = op == Binary::Xor && graph.facts(a).shares_no_bits(graph.facts(b));
                let (a, b) = (self.forms.get(&a)?.clone(), self.forms.get(&b)?.clone());
                match (op, a.as_constant(), b.as_constant()) {
                    (Binary::Add, ..) => self.algebra.folded(a.plus(1, &b)?, &mut self.context),
                    (Binary::Sub, ..) => self.algebra.folded(a.plus(-1, &b)?, &mut self.context),
                    (Binary::Mul, _, Some(factor)) => a.times(factor),
                    (Binary::Mul, Some(factor), _) => b.times(factor),
                    (Binary::Div | Binary::Mod, _, Some(divisor))
                        if self.algebra.is_own_remainder(&a, divisor, &mut self.context) =>
                    {
                        if op == Binary::Div {
                            Form::constant(0)
                        } else {
                            Some(a)
                        }
                    }
                    (Binary::Div, _, Some(divisor)) => {
                        let quotient = self.algebra.quotient(&a, divisor, &mut self.context)?;
                        self.algebra.with_remainders(quotient, &mut self.context)
                    }
                    (Binary::Mod, _, Some(divisor)) => {
                        // Beside its numerator an extremum of quotients is no remainder.
                        let quotient = self.algebra.quotient_within(&a, divisor, 0, &mut self.context)?;
                        let form = a.plus(divisor.checked_neg()?, &quotient)?;
                        self.algebra.with_remainders(form, &mut self.context)
                    }
                    (Binary::Mul, ..) => self.algebra.product(&a, &b, &mut self.context),
                    (Binary::Div | Binary::Mod, ..) => self.algebra.divided(op, &a, &b, (low, high), &mut self.context),
                    (Binary::Xor, ..) if a == b => Form::constant(0),
                    (Binary::Xor, ..) if b.as_constant() == Some(0) => Some(a),
                    (Binary::Xor, ..) if a.as_constant() == Some(0) => Some(b),
                    (Binary::Xor, ..) if share_no_bits => a.plus(1, &b),
                    (Binary::Xor, ..) => self.algebra.without_both(&a, &b),
                    (Binary::Min | Binary::Max, ..) => self.algebra.extremum(op, &[a, b], &mut self.context),
                    _ => None,
                }
            }
            Node::Select(condition, a, b) => {
                let (a, b) = (self.forms.get(&a)?.clone(), self.forms.get(&b)?.clone());
                let condition = *self.conditions.get(&condition)?;
                match *self.algebra.kind(condition) {
                    Kind::Bool(true) => Some(a),
                    Kind::Bool(false) => Some(b),
                    Kind::Not(opposite) => self.algebra.choice_of(opposite, b, a, &mut self.context),
                    _ => self.algebra.choice_of(condition, a, b, &mut self.context),
                }
            }
            _ => None,
        }
    }

    /// A number as an atom that computes what its node computes, of simplified operands. It is hash-consed like any
    /// atom, so that equal ones cancel.
    // Proved: `own_remainder` in `proofs/Simplify.v`.
    fn opaque(&mut self, graph: &Graph, expr: Expr) -> Option<Form> {
        let range = graph.range(expr);
        let kind = match graph.node(expr) {
            Node::Binary(op, a, b) => {
                let (mut a, mut b) = (self.forms.get(&a)?.clone(), self.forms.get(&b)?.clone());
                // The operands of commutative operations stand in one order, so that equal atoms are one.
                if op.is_commutative() && (&b.terms, b.constant) < (&a.terms, a.constant) {
                    std::mem::swap(&mut a, &mut b);
                }
                if op == Binary::Mod && a == b {
                    return Some(Form::default());
                }
                Kind::Operation(op, a, b, range)
            }
            Node::Select(condition, a, b) => {
                let (mut a, mut b) = (self.forms.get(&a)?.clone(), self.forms.get(&b)?.clone());
                let mut condition = *self.conditions.get(&condition)?;
                if let Kind::Not(opposite) = *self.algebra.kind(condition) {
                    condition = opposite;
                    std::mem::swap(&mut a, &mut b);
                }
                Kind::Select(condition, a, b)
            }
            _ => return None,
        };
        self.algebra.atom(kind, &mut self.context).map(Form::atom)
    }

    /// A condition as an atom. Comparisons become tests of a difference against bounds.
    // Proved: `difference_tested` in `proofs/Simplify.v`.
    fn condition(&mut self, graph: &Graph, expr: Expr) -> Option<Atom> {
        let (low, high) = graph.range(expr);
        if low == high {
            return Some(self.atom(Kind::Bool(low == 1)));
        }
        match graph.node(expr) {
            Node::Bool(value) => Some(self.atom(Kind::Bool(value))),
            Node::Within(value, begin, end) => {
                let form = self.forms.get(&value)?.clone();
                Some(self.test(form, Some(begin.into()), Some(i128::from(end) - 1)))
            }
            Node::Not(a) => {
                let a = *self.conditions.get(&a)?;
                Some(self.opposite(a))
            }
            Node::Binary(op @ (Binary::And | Binary::Or), a, b) => {
                let (a, b) = (*self.conditions.get(&a)?, *self.conditions.get(&b)?);
                Some(self.both(op, a, b))
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (self.forms.get(&a)?.clone(), self.forms.get(&b)?.clone());
                let Some(difference) = a.plus(-1, &b) else { return Some(self.atom(Kind::Compare(op, a, b))) };
                let (low, high) = match op {
                    Binary::Lt => (None, Some(-1)),
                    Binary::Le => (None, Some(0)),
                    Binary::Gt => (Some(1), None),
                    Binary::Ge => (Some(0), None),
                    _ => (Some(0), Some(0)),
                };
                let test = self.test(difference, low, high);
                Some(if op == Binary::Ne { self.opposite(test) } else { test })
            }
            Node::Select(condition, a, b) => {
                let [condition, a, b] = [condition, a, b].map(|part| self.conditions.get(&part).copied());
                Some(self.choice(condition?, a?, b?))
            }
            Node::Int(_) | Node::Variable(_) => None,
        }
    }

    /// The atom of a condition.
    fn atom(&mut self, kind: Kind) -> Atom {
        self.algebra.condition(kind, &mut self.context)
    }

    /// The condition that a form lies between two bounds, without the divisions and terms that it does not need.
    fn test(&mut self, form: Form, low: Option<i128>, high: Option<i128>) -> Atom {
        let condition = Condition { form, low, high }.normal();
        match condition.truth(self.algebra.bounds(&condition.form, &self.context)) {
            Truth::Always => return self.atom(Kind::Bool(true)),
            Truth::Never => return self.atom(Kind::Bool(false)),
            Truth::Depends => {}
        }
        // Cases of cases are told apart a few levels deep: expressions may be of any depth, and the stack is not.
        let atoms = self.algebra.len();
        if self.algebra.has_cases && self.algebra.depth < MAX_DEPTH && self.algebra.pays(16 + atoms) {
            self.algebra.depth += 1;
            let test = self.test_of_cases(&condition);
            self.algebra.depth -= 1;
            if let Some(test) = test {
                return test;
            }
        }
        let condition = self.algebra.unwrapped(&condition, &self.context).unwrap_or(condition);
        let whole = self.algebra.without_quotient(condition, &self.context).normal();
        let condition = self.context.without_tail(self.context.without_implied_bounds(whole)).normal();
        self.atom(Kind::Test(self.context.without_implied_bounds(condition)))
    }

    /// A test of a form with an extremum or a choice in it, where cases of it are decided.
    fn test_of_cases(&mut self, condition: &Condition) -> Option<Atom> {
        match self.algebra.decided(condition, &self.context) {
            Some(Decided::Known(truth)) => Some(self.atom(Kind::Bool(truth))),
            Some(Decided::Test(Condition { form, low, high })) => Some(self.test(form, low, high)),
            None => self.test_of_choice(condition),
        }
    }

    /// A test of a form with a choice in it, by the condition of the choice, where the test is decided for one of both at least.
    /// Each is judged where it is chosen.
    // Proved: `test_of_choice` in `proofs/Simplify.v`.
    fn test_of_choice(&mut self, test: &Condition) -> Option<Atom> {
        let Condition { form, low, high } = test;
        let (by, [a, b]) = self.algebra.cases_of_choice(form)?;
        let judged = |reader: &mut Reader, chosen: Atom, form: Form| {
            let mut there = reader.context.clone();
            if let Kind::Test(condition) = reader.algebra.kind(chosen) {
                there.assume(condition);
            }
            let case = Condition { form, low: *low, high: *high };
            (case.truth(reader.algebra.bounds(&case.form, &there)), case)
        };
        let unless = self.opposite(by);
        let (on, then) = judged(self, by, a);
        let (off, otherwise) = judged(self, unless, b);
        let remaining = |reader: &mut Reader, Condition { form, low, high }: Condition| reader.test(form, low, high);
        Some(match (on, off) {
            (Truth::Always, Truth::Never) => by,
            (Truth::Never, Truth::Always) => unless,
            (Truth::Always, Truth::Depends) => {
                let rest = remaining(self, otherwise);
                self.both(Binary::Or, by, rest)
            }
            (Truth::Never, Truth::Depends) => {
                let rest = remaining(self, otherwise);
                self.both(Binary::And, unless, rest)
            }
            (Truth::Depends, Truth::Always) => {
                let rest = remaining(self, then);
                self.both(Binary::Or, unless, rest)
            }
            (Truth::Depends, Truth::Never) => {
                let rest = remaining(self, then);
                self.both(Binary::And, by, rest)
            }
            _ => return None,
        })
    }

    /// The negation of a condition: of a one-sided test the test on the other side, and else a [`Kind::Not`].
    // Proved: `opposite_test` in `proofs/Simplify.v`.
    fn opposite(&mut self, a: Atom) -> Atom {
        let opposite = match self.algebra.kind(a) {
            Kind::Bool(value) => Kind::Bool(!value),
            Kind::Not(a) => return *a,
            Kind::Test(Condition { form, low: Some(low), high: None }) => {
                Kind::Test(Condition { form: form.clone(), low: None, high: Some(low - 1) })
            }
            Kind::Test(Condition { form, low: None, high: Some(high) }) => {
                Kind::Test(Condition { form: form.clone(), low: Some(high + 1), high: None })
            }
            _ => Kind::Not(a),
        };
        self.atom(opposite)
    }

    /// The conjunction or disjunction of two conditions.
    // Proved: `own_conditions`, `one_implies_other` in `proofs/Simplify.v`.
    fn both(&mut self, op: Binary, a: Atom, b: Atom) -> Atom {
        let (a, b) = (a.min(b), a.max(b));
        // `True or x` is True, and `False and x` is False: one truth absorbs, the other is neutral.
        let absorbing = op == Binary::Or;
        match (self.algebra.kind(a), self.algebra.kind(b)) {
            (Kind::Bool(value), _) => return if *value == absorbing { a } else { b },
            (_, Kind::Bool(value)) => return if *value == absorbing { b } else { a },
            _ if a == b => return a,
            _ => {}
        }
        if self.opposite(a) == b {
            return self.atom(Kind::Bool(absorbing));
        }
        if let Some(joined) = self.algebra.on_one_form(op, a, b) {
            return match joined {
                Some(condition) => self.test(condition.form, condition.low, condition.high),
                None => self.atom(Kind::Bool(false)),
            };
        }
        // Of two conditions of which one implies the other, `and` is the narrower one and `or` the wider one.
        match (self.algebra.implies(a, b), self.algebra.implies(b, a)) {
            (true, _) => return if absorbing { b } else { a },
            (_, true) => return if absorbing { a } else { b },
            _ => {}
        }
        self.atom(Kind::Both(op, a, b))
    }

    /// The condition that is one of two, chosen by a third.
    // Proved: `chosen_conditions` in `proofs/Simplify.v`.
    fn choice(&mut self, condition: Atom, a: Atom, b: Atom) -> Atom {
        match (self.algebra.kind(condition), self.algebra.kind(a), self.algebra.kind(b)) {
            (Kind::Bool(value), ..) => return if *value { a } else { b },
            _ if a == b => return a,
            (_, Kind::Bool(true), _) => return self.both(Binary::Or, condition, b),
            (_, Kind::Bool(false), Kind::Bool(true)) => return self.opposite(condition),
            (_, _, Kind::Bool(false)) => return self.both(Binary::And, condition, a),
            (Kind::Not(opposite), ..) => {
                let opposite = *opposite;
                return self.choice(opposite, b, a);
            }
            _ => {}
        }
        self.atom(Kind::Choice(condition, a, b))
    }

    /// The conjuncts of a condition: tests, up to the work limit, and everything else.
    fn conjuncts(&self, condition: Atom) -> (Vec<Condition>, Vec<Atom>) {
        let (mut tests, mut others) = (Vec::new(), Vec::new());
        let mut open = vec![condition];
        let mut seen = Map::<Atom, ()>::default();
        while let Some(atom) = open.pop() {
            if seen.insert(atom, ()).is_some() {
                continue;
            }
            match self.algebra.kind(atom) {
                Kind::Both(Binary::And, a, b) => open.extend([b, a]),
                Kind::Test(condition) if tests.len() < MAX_TERMS => tests.push(condition.clone()),
                Kind::Bool(true) => {}
                _ => others.push(atom),
            }
        }
        (tests, others)
    }

    /// A condition with its tests minimized: none that the others imply.
    fn conjunction(&mut self, condition: Atom) -> Atom {
        let (tests, others) = self.conjuncts(condition);
        self.joined(tests, others)
    }

    /// The conjunction of tests, minimized, and of other conditions.
    fn joined(&mut self, tests: Vec<Condition>, others: Vec<Atom>) -> Atom {
        let Some(tests) = minimize(&mut self.algebra, &mut self.context, tests, None) else {
            return self.atom(Kind::Bool(false));
        };
        let tests: Vec<Atom> = tests.into_iter().map(|test| self.atom(Kind::Test(test))).collect();
        let all = tests.into_iter().chain(others).reduce(|all, one| self.both(Binary::And, all, one));
        all.unwrap_or_else(|| self.atom(Kind::Bool(true)))
    }

    /// Assumes a condition for all that is read from now on, and gives it with its tests minimized.
    fn assume(&mut self, condition: Atom) -> Atom {
        let (tests, others) = self.conjuncts(condition);
        // The condition itself must not be simplified under the assumption that it holds, or it would become true.
        let mut assumed = self.context.clone();
        tests.iter().for_each(|test| assumed.assume(test));
        let joined = self.joined(tests, others);
        self.context = assumed;
        self.context.learn_new_atoms(&self.algebra);
        joined
    }
}
