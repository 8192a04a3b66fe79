//! From a tracker to what a compiler writes: the address of an element, and whether it has one.

use smallvec::SmallVec;

use super::algebra::{Algebra, Digits, Kind, Style};
use super::conjunction::settle;
use super::context::{Condition, Context, Truth};
use super::cost::Cost;
use super::emit::{Root, emit};
use super::form::{Atom, Form};
use super::graph::{Binary, Expr, Graph, Node};
use crate::error::{Error, Fault};
use crate::merge::equation::Work;
use crate::merge::level::{Affine, Level};
use crate::merge::stack::Stacked;
use crate::shape::unravel;
use crate::{Dims, ShapeTracker, View};

/// What a compiler writes to read an element of a tracker: `buffer[index]`, guarded by `valid`.
///
/// Both are expressions over the variables `idx0`, `idx1`, .., one an axis, outermost first. Where `valid` holds,
/// `index` is the address; elsewhere it may be anything (within the range that [`Graph::range`] tells of it).
///
/// ```
/// use shapetracker::ShapeTracker;
///
/// let st = ShapeTracker::contiguous([3, 2])?.permute([1, 0])?.reshape([3, 2])?;
/// let code = st.index_expr()?;
/// assert_eq!(code.cost().divmods, 1);
/// # Ok::<(), shapetracker::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct IndexExpr {
    pub(super) graph: Graph,
    pub(super) index: Expr,
    pub(super) valid: Expr,
    pub(super) shape: Dims,
}

impl IndexExpr {
    /// The graph that both expressions belong to.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// The address that is read, wherever [`IndexExpr::valid`] holds.
    pub fn index(&self) -> Expr {
        self.index
    }

    /// Whether the element has an address; the constant true when nothing is masked.
    pub fn valid(&self) -> Expr {
        self.valid
    }

    /// The shape of the tracker: the variable `idx{l}` ranges over `0..shape[l]` (where no size is 0).
    pub fn shape(&self) -> &[i64] {
        &self.shape
    }

    fn divides_index(&self) -> bool {
        self.graph.parts(&[self.index]).into_iter().any(|expr| self.dividend(expr).is_some())
    }

    fn dividend(&self, expr: Expr) -> Option<Expr> {
        match self.graph.node(expr) {
            Node::Binary(Binary::Div | Binary::Mod, dividend, _) => Some(dividend),
            _ => None,
        }
    }

    /// What is smaller is cheaper. Of equal costs that with fewer negative dividends is: many languages round those
    /// the other way, and correcting that costs.
    fn rank(&self) -> (usize, usize, usize) {
        let parts = self.graph.parts(&[self.index, self.valid]).into_iter();
        let negative = parts.filter_map(|expr| self.dividend(expr)).filter(|expr| self.graph.range(*expr).0 < 0);
        (self.cost().weight, self.cost().ops, negative.count())
    }

    /// What computing both costs.
    pub fn cost(&self) -> Cost {
        self.graph.cost(&[self.index, self.valid])
    }
}

/// Stacks of more views than this are written digit by digit: what is taken out of divisions would pile up.
const HIGH: usize = 6;

impl ShapeTracker {
    /// The cheapest expressions that we know how to find for the address of an element and for whether it has one.
    ///
    /// Exact at every index: the condition everywhere, the address wherever it holds. A floor goes where the boundary
    /// test (of merging) or an equation proves it affine on the valid indices. One view takes a few microseconds, two
    /// some tens; no cost depends on a size.
    ///
    /// ```
    /// use shapetracker::ShapeTracker;
    /// use shapetracker::expr::Syntax;
    ///
    /// let st = ShapeTracker::contiguous([4, 4])?.pad([(1, 1), (0, 0)])?.flip([0])?;
    /// let code = st.index_expr()?;
    /// let text = |expr| code.graph().text(expr, Syntax::Python);
    /// assert_eq!(text(code.index())?, "idx1 - idx0 * 4 + 16");
    /// assert_eq!(text(code.valid())?, "1 <= idx0 < 5");
    /// # Ok::<(), shapetracker::Error>(())
    /// ```
    ///
    /// # Errors
    /// A value on the way that can leave `i64`.
    pub fn index_expr(&self) -> Result<IndexExpr, Error> {
        let cheapest = |plane: Option<&Affine>| {
            let mut best: Option<IndexExpr> = None;
            let mut next = Some(if self.views().len() > HIGH { Style::EVERY_DIGIT } else { Style::FIRST });
            while let Some(style) = next {
                let access = Access::of(self.views(), style, plane);
                next = style.next(&access.algebra);
                // Some ways of writing it leave `i64` where others do not.
                let Ok(code) = access.code(self.shape()) else { continue };
                if best.as_ref().is_none_or(|best| code.rank() < best.rank()) {
                    best = Some(code);
                }
            }
            best
        };
        let mut best = cheapest(None);
        // Divisions may cancel out of the address even though none of them can be done without.
        if best.as_ref().is_none_or(IndexExpr::divides_index) {
            let plane = Stacked::of(self.views())
                .and_then(|stack| stack.affine_where_valid(&mut Work::a_little()).ok().flatten());
            best = plane.and_then(|plane| cheapest(Some(&plane))).or(best);
        }
        let mut code = match best {
            Some(best) => best,
            None => {
                let every_digit = Access::of(self.views(), Style::EVERY_DIGIT, None).code(self.shape());
                let what = "a value on the way to the address, however it is computed,";
                let past = |_| Fault::Overflow { op: "index_expr", what };
                every_digit.or_else(|_| self.plain_expr()).map_err(past)?
            }
        };
        if let Some(valid) = self.validity(&code) {
            code.valid = code.graph.bool(valid);
            if !valid {
                code.index = code.graph.int(0);
            }
        }
        Ok(code)
    }

    /// The expressions as the views define them, with nothing put into anything: what is left where all else leaves
    /// `i64` on the way.
    fn plain_expr(&self) -> Result<IndexExpr, Error> {
        let mut graph = Graph::new();
        let mut valid = graph.bool(true);
        let mut sum = |graph: &mut Graph, terms: &[(Expr, i64, (i64, i64), i64)], offset: i64| {
            let mut sum = graph.int(offset);
            for &(value, stride, (begin, end), size) in terms {
                if (begin, end) != (0, size) {
                    let within = graph.within(value, begin, end)?;
                    valid = graph.binary(Binary::And, valid, within)?;
                }
                let stride = graph.int(stride);
                let term = graph.binary(Binary::Mul, value, stride)?;
                sum = graph.binary(Binary::Add, sum, term)?;
            }
            Ok::<Expr, Error>(sum)
        };
        let (last, earlier) = self.views().split_last().ok_or(Fault::NoViews { op: "index_expr" })?;
        let mut terms = Vec::new();
        for (axis, (&size, &stride)) in last.shape().iter().zip(last.strides()).enumerate() {
            terms.push((graph.variable(&format!("idx{axis}"), 0..size)?, stride, last.range(axis), size));
        }
        let mut position = sum(&mut graph, &terms, last.offset())?;
        for view in earlier.iter().rev() {
            let level = Level::of(view);
            terms.clear();
            for (j, digit) in level.digits.iter().enumerate() {
                let weight = graph.int(digit.weight);
                let mut value = graph.binary(Binary::Div, position, weight)?;
                if j + 1 < level.digits.len() {
                    let size = graph.int(digit.size);
                    value = graph.binary(Binary::Mod, value, size)?;
                }
                terms.push((value, digit.stride, (digit.begin, digit.end), digit.size));
            }
            let fault = Fault::Overflow { op: "index_expr", what: "the offset" };
            position = sum(&mut graph, &terms, i64::try_from(level.offset).map_err(|_| fault)?)?;
        }
        let (index, valid) = graph.simplify_pair(position, valid);
        Ok(IndexExpr { graph, index, valid, shape: self.shape().into() })
    }

    /// Whether a condition holds for all indices or for none although it does not look like it.
    fn validity(&self, code: &IndexExpr) -> Option<bool> {
        if self.views().len() == 1 || code.graph.range(code.valid) != (0, 1) {
            return None;
        }
        // A few indices nearly always tell: the first, the last, and some in between without any order.
        let last = self.numel().max(1) as u64 - 1;
        let scattered = (1..32u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % (last + 1));
        let mut some = [0, last].into_iter().chain(scattered);
        let is_valid = |position: u64| self.address(&unravel(position as i64, self.shape())).is_some();
        let first = is_valid(some.next()?);
        if some.any(|position| is_valid(position) != first) {
            return None;
        }
        Stacked::of(self.views())?.validity(&mut Work::a_little()).ok()?
    }
}

/// The access to an element as forms of its index: an address, and the conditions under which it has one.
struct Access {
    algebra: Algebra,
    context: Context,
    conditions: Vec<Condition>,
    /// The quotients of the position at hand: divisor, how many conditions there were, and quotient.
    quotients: SmallVec<[(i64, usize, Form); 8]>,
    /// `Some(None)` when no index is valid; `None` when something leaves `i64`.
    address: Option<Option<Form>>,
}

impl Access {
    /// The access through some views; the address is known already if it is affine.
    fn of(views: &[View], style: Style, plane: Option<&Affine>) -> Access {
        let algebra = Algebra::new(style);
        let mut access = Access {
            algebra,
            context: Context::default(),
            conditions: Vec::new(),
            quotients: SmallVec::new(),
            address: Some(None),
        };
        if !views.iter().any(View::is_empty) {
            access.address = access.through(views).and_then(|address| match (address, plane) {
                (Some(_), Some(plane)) => Some(Some(access.affine(plane)?)),
                (address, _) => Some(address),
            });
        }
        access
    }

    fn affine(&self, plane: &Affine) -> Option<Form> {
        let mut form = Form::constant(plane.constant)?;
        for (atom, kind) in self.algebra.atoms() {
            if let Kind::Variable(axis, ..) = kind {
                form = form.plus(plane.steps[*axis], &Form::atom(atom))?;
            }
        }
        self.context.settled(&form)
    }

    /// The address through all views, `Some(None)` when no index is valid, `None` past `i64`.
    fn through(&mut self, views: &[View]) -> Option<Option<Form>> {
        let (last, earlier) = views.split_last()?;
        let mut position = Form::constant(last.offset())?;
        for (axis, (&size, &stride)) in last.shape().iter().zip(last.strides()).enumerate() {
            let (begin, end) = last.range(axis);
            if size == 1 {
                continue;
            }
            let atom = self.algebra.atom(Kind::Variable(axis, 0, size - 1), &mut self.context)?;
            position = position.plus(stride, &Form::atom(atom))?;
            self.demand(Form::atom(atom), begin, end);
        }
        for view in earlier.iter().rev() {
            match self.below(&Level::of(view), &position)? {
                Some(address) => position = address,
                None => return Some(None),
            }
        }
        // Conditions may fix what they are about.
        Some(Some(self.context.settled(&position)?))
    }

    /// A quotient of a position; those of one position are kept until more is assumed.
    fn quotient(&mut self, position: &Form, divisor: i64) -> Option<Form> {
        let now = self.conditions.len();
        let known = self.quotients.iter().find(|(by, when, _)| *by == divisor && *when == now);
        if let Some((_, _, quotient)) = known {
            return Some(quotient.clone());
        }
        let quotient = self.algebra.quotient(position, divisor, &mut self.context)?;
        self.quotients.push((divisor, now, quotient.clone()));
        Some(quotient)
    }

    /// The address of a position of a view.
    fn below(&mut self, level: &Level, position: &Form) -> Option<Option<Form>> {
        let masked = || level.digits.iter().enumerate().filter(|(_, digit)| digit.is_masked());
        self.quotients.clear();
        // What is still open when all affine digits are known gains by what they say.
        let mut open = SmallVec::<[usize; 8]>::new();
        for (j, digit) in masked() {
            let before = self.algebra.len();
            let under = self.quotient(position, digit.weight)?;
            let value = if self.algebra.len() == before && j + 1 < level.digits.len() {
                match self.context.unwrapped(&under, digit.size, digit.begin, digit.end) {
                    Some(value) => value,
                    None => self.digit(level, position, j)?,
                }
            } else {
                self.digit(level, position, j)?
            };
            if self.algebra.len() > before {
                open.push(j);
            } else if !self.demand(value, digit.begin, digit.end) {
                return Some(None);
            }
        }
        for j in open {
            let (value, digit) = (self.digit(level, position, j)?, level.digits[j]);
            if !self.demand(value, digit.begin, digit.end) {
                return Some(None);
            }
        }
        if self.algebra.style.digits == Digits::Always {
            return Some(Some(self.sum_of_digits(level, position)?));
        }
        let mut address = Form::constant(level.offset)?;
        for (j, digit) in level.digits.iter().enumerate() {
            // Digit j is q(j) - size * q(j + 1), so that q(j) moves the address by this.
            let under = j.checked_sub(1).map(|under| level.digits[under]);
            let wrap = under.map_or(0, |under| i128::from(under.size) * i128::from(under.stride));
            let step = i128::from(digit.stride) - wrap;
            if step != 0 {
                let quotient = self.quotient(position, digit.weight)?;
                address = address.plus(i64::try_from(step).ok()?, &quotient)?;
            }
        }
        Some(Some(self.algebra.in_digits(address, &mut self.context)?))
    }

    /// The address as the sum of all digits, each an atom of its own unless it is affine: coefficients stay small
    /// however many views there are.
    fn sum_of_digits(&mut self, level: &Level, position: &Form) -> Option<Form> {
        let mut address = Form::constant(level.offset)?;
        for (j, digit) in level.digits.iter().enumerate() {
            let value = self.digit(level, position, j)?;
            address = address.plus(digit.stride, &value)?;
        }
        Some(address)
    }

    /// A digit of a position.
    fn digit(&mut self, level: &Level, position: &Form, j: usize) -> Option<Form> {
        let digit = level.digits[j];
        let value = self.quotient(position, digit.weight)?;
        if self.algebra.style.digits == Digits::Always && j + 1 < level.digits.len() {
            return match self.context.affine_quotient(&value, digit.size) {
                Some(above) => value.plus(-digit.size, &above),
                None => Some(Form::atom(self.algebra.atom(Kind::Remainder(value, digit.size), &mut self.context)?)),
            };
        }
        match level.digits.get(j + 1) {
            Some(above) => {
                let above = self.quotient(position, above.weight)?;
                self.algebra.in_digits(value.plus(-digit.size, &above)?, &mut self.context)
            }
            None => Some(value),
        }
    }

    /// Takes up the condition that a form lie in a half-open range; false when it never does.
    fn demand(&mut self, form: Form, begin: i64, end: i64) -> bool {
        let condition = Condition { form, low: Some(begin.into()), high: Some(i128::from(end) - 1) }.normal();
        match self.context.truth(&condition) {
            Truth::Always => return true,
            Truth::Never => return false,
            Truth::Depends => {}
        }
        let condition = self.context.needed(condition);
        let whole = self.algebra.without_quotient(condition.clone(), &self.context).normal();
        let whole = self.context.without_tail(self.context.needed(whole)).normal();
        self.context.assume(&condition);
        self.context.assume(&whole);
        self.conditions.push(whole);
        true
    }

    fn code(mut self, shape: &[i64]) -> Result<IndexExpr, Error> {
        let mut graph = Graph::new();
        let variables =
            shape.iter().enumerate().map(|(axis, &size)| graph.variable(&format!("idx{axis}"), 0..size.max(1)));
        let variables = variables.collect::<Result<Vec<_>, _>>()?;
        let conditions = std::mem::take(&mut self.conditions);
        let fault = Fault::Overflow { op: "index_expr", what: "a value on the way" };
        let address = self.address.take().ok_or(fault)?;
        let conditions = settle(&mut self.algebra, &mut self.context, conditions, address.as_ref());
        let settled = address.zip(conditions);
        let Some((address, conditions)) = settled else {
            let (index, valid) = (graph.int(0), graph.bool(false));
            return Ok(IndexExpr { graph, index, valid, shape: shape.into() });
        };
        let valid = self.conjunction(conditions);
        let roots = vec![Root::Number(address), Root::Condition(valid)];
        let nodes = emit(&self.algebra, roots, &mut graph, &variables)?;
        Ok(IndexExpr { index: nodes[0], valid: nodes[1], graph, shape: shape.into() })
    }

    /// The conditions as one.
    fn conjunction(&mut self, conditions: Vec<Condition>) -> Atom {
        let mut all = None;
        for condition in conditions {
            let test = self.algebra.condition(Kind::Test(condition), &mut self.context);
            all = Some(match all {
                Some(all) => self.algebra.condition(Kind::Both(Binary::And, all, test), &mut self.context),
                None => test,
            });
        }
        all.unwrap_or_else(|| self.algebra.condition(Kind::Bool(true), &mut self.context))
    }
}
