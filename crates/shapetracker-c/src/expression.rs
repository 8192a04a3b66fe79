//! Expressions: what reads an element of a tracker, and any other over variables with ranges.

use std::ffi::{CString, c_char};
use std::ptr;

use indexpr::{Binary, Expr, Graph, IndexExpr, Language, Node, Syntax};
use shapetracker_symbolic::{Question, bounded};

use crate::caller::{Caller, Handle, c_text, free, handed, handed_text};
use crate::error::{Error, Mistake};

/// Expressions over variables with ranges. One that is read or simplified is one expression, number 0, and where a condition was given,
/// number 1. The index of a tracker is two: the address, number 0, and whether there is one, number 1.
pub struct Expression {
    graph: Graph,
    roots: Vec<Expr>,
    /// All that the roots are made of, operands first.
    parts: Vec<Expr>,
    /// The names of the variables, for C.
    names: Vec<CString>,
    made: Made,
}

/// What simplifies and writes them.
enum Made {
    Index(Box<IndexExpr>),
    Read(Box<shapetracker_symbolic::Expression>),
}

impl Handle for Expression {
    const WHAT: &'static str = "expression";
}

impl Expression {
    fn new(graph: Graph, roots: Vec<Expr>, made: Made) -> Expression {
        let parts = graph.parts(&roots);
        let names = graph.variables().iter().map(|variable| c_text(&variable.name[..])).collect();
        Expression { graph, roots, parts, names, made }
    }

    pub(crate) fn of_index(index: IndexExpr) -> Expression {
        let roots = vec![index.index(), index.valid()];
        Expression::new(index.graph().clone(), roots, Made::Index(Box::new(index)))
    }

    fn of_read(read: shapetracker_symbolic::Expression) -> Expression {
        let roots = [read.value()].into_iter().chain(read.condition()).collect();
        Expression::new(read.graph().clone(), roots, Made::Read(Box::new(read)))
    }

    fn root(&self, operation: &str, number: usize) -> Result<Expr, Mistake> {
        self.roots.get(number).copied().ok_or_else(|| {
            let count = self.roots.len();
            let sentence = format!("there is no expression {number}: there are {count}, from 0 on");
            Mistake::new("expression", operation, sentence)
        })
    }

    fn place(&self, part: Expr) -> usize {
        self.parts.binary_search(&part).unwrap_or_default()
    }
}

/// What a node of an expression is. These numbers do not change.
#[repr(C)]
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Op {
    /// The number `value`.
    Int = 0,
    /// True or false: `value` is 1 or 0.
    Bool = 1,
    /// The variable whose number is `value`, and whose name is `name`.
    Variable = 2,
    /// The sum of two operands.
    Add = 3,
    /// The first operand less the second.
    Subtract = 4,
    /// The product of two operands.
    Multiply = 5,
    /// The quotient of two operands, rounded down.
    Divide = 6,
    /// The remainder of that quotient, which has the sign of the divisor.
    Remainder = 7,
    /// The smaller of two operands.
    Minimum = 8,
    /// The larger of two operands.
    Maximum = 9,
    /// The exclusive or of the bits of two operands.
    Xor = 10,
    /// Whether the first operand is less than the second.
    Less = 11,
    /// Whether the first operand is at most the second.
    LessOrEqual = 12,
    /// Whether the first operand is greater than the second.
    Greater = 13,
    /// Whether the first operand is at least the second.
    GreaterOrEqual = 14,
    /// Whether two operands are equal.
    Equal = 15,
    /// Whether two operands are different.
    NotEqual = 16,
    /// Whether both conditions hold.
    And = 17,
    /// Whether at least one of two conditions holds.
    Or = 18,
    /// Whether `value <= operand < end`.
    Within = 19,
    /// Whether a condition does not hold.
    Not = 20,
    /// The second operand where the first, a condition, holds, and the third elsewhere.
    Select = 21,
}

impl Op {
    fn of(binary: Binary) -> Option<Op> {
        Some(match binary {
            Binary::Add => Op::Add,
            Binary::Sub => Op::Subtract,
            Binary::Mul => Op::Multiply,
            Binary::Div => Op::Divide,
            Binary::Mod => Op::Remainder,
            Binary::Min => Op::Minimum,
            Binary::Max => Op::Maximum,
            Binary::Xor => Op::Xor,
            Binary::Lt => Op::Less,
            Binary::Le => Op::LessOrEqual,
            Binary::Gt => Op::Greater,
            Binary::Ge => Op::GreaterOrEqual,
            Binary::Eq => Op::Equal,
            Binary::Ne => Op::NotEqual,
            Binary::And => Op::And,
            Binary::Or => Op::Or,
            _ => return None,
        })
    }
}

/// A node of expressions, among those that `st_expression_nodes` counts: operands come before what is made of them.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Part {
    /// What it is.
    pub op: Op,
    /// How many operands it has.
    pub operand_count: usize,
    /// The numbers of the nodes of the operands.
    pub operands: [usize; 3],
    /// A number, the number of a variable, or where a range begins.
    pub value: i64,
    /// Where a range ends.
    pub end: i64,
    /// The least value that the node can have, as far as is known at once; 0 or 1 of a condition.
    pub least: i64,
    /// The greatest value that the node can have.
    pub greatest: i64,
    /// The name of a variable, else null. It lives as long as the expressions do.
    pub name: *const c_char,
}

/// A language of code by its name.
pub(crate) fn language(operation: &str, name: &str) -> Result<Language, Mistake> {
    name.parse().map_err(|err: indexpr::UnknownLanguage| Mistake::new("language", operation, err.to_string()))
}

/// Python or C.
fn syntax(operation: &str, name: &str) -> Result<Syntax, Mistake> {
    match language(operation, name)? {
        Language::Python => Ok(Syntax::Python),
        Language::C => Ok(Syntax::C),
        other => {
            let sentence = format!("expressions are read and written as text of `python` and of `c`, not of `{other}`");
            Err(Mistake::new("language", operation, sentence))
        }
    }
}

/// Reads an expression, in which divisions round as those of the language do: `python` or `c`. `known` has the half-open ranges of the
/// variables and what else is known of them, such as `"x=0..10, y=0..N, N=1.."`; where it says nothing but ranges of numbers, every
/// variable must have one. `given` is a condition, or null: where it does not hold, simplifying may make anything of the expression.
///
/// Errors: a text that cannot be read (`syntax`, with its place), a divisor that can be 0, values that leave an `int64_t`.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_read(
    text: *const c_char,
    known: *const c_char,
    given: *const c_char,
    language: *const c_char,
    out: *mut *mut Expression,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("read") };
    caller.answer(out, |caller| {
        let (text, known) = (caller.text("the text", text)?, caller.text_or_none("what is known", known)?);
        let given = caller.text_or_none("the condition", given)?;
        let syntax = syntax("read", caller.text("the language", language)?)?;
        let read = bounded(|| {
            let mut question = Question::new(known).map_err(|err| Mistake::text("where", &err))?;
            let read = question.expression(text, syntax).map_err(|err| Mistake::text("read", &err))?;
            let with = given.map(|given| read.given(given, syntax)).transpose();
            Ok::<_, Mistake>(with.map_err(|err| Mistake::text("given", &err))?.unwrap_or(read))
        });
        Ok(handed(Expression::of_read(read?)))
    })
}

/// The expression with the same values at no more cost, and the condition with it. The index of a tracker is as cheap as is found already.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_simplify(
    expression: *const Expression,
    out: *mut *mut Expression,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("simplify") };
    caller.answer(out, |caller| {
        let simple = match &caller.handle("the expression", expression)?.made {
            Made::Index(index) => Expression::of_index((**index).clone()),
            Made::Read(read) => Expression::of_read(bounded(|| read.simplify())),
        };
        Ok(handed(simple))
    })
}

/// One of the expressions as text of `python` or `c`, on one line.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_text(
    expression: *const Expression,
    number: usize,
    language: *const c_char,
    out: *mut *mut c_char,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("text") };
    caller.answer(out, |caller| {
        let found = caller.handle("the expression", expression)?;
        let syntax = syntax("text", caller.text("the language", language)?)?;
        Ok(handed_text(found.graph.text(found.root("text", number)?, syntax)?))
    })
}

/// Definitions in a language: `python`, `c`, `cuda`, `opencl`, `metal`, `wgsl`, `rust`, `mlir` or `latex`. What is used more than once is
/// computed once. The index of a tracker defines `index` and `valid`, another expression `value`, and `given` where there is a condition.
///
/// Errors: a language that there is not, and what it does not have (`language`).
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_code(
    expression: *const Expression,
    language: *const c_char,
    out: *mut *mut c_char,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("code") };
    caller.answer(out, |caller| {
        let found = caller.handle("the expression", expression)?;
        let language = self::language("code", caller.text("the language", language)?)?;
        let code = match &found.made {
            Made::Index(index) => index.code(language),
            Made::Read(_) => {
                let named: Vec<_> = ["value", "given"].into_iter().zip(found.roots.iter().copied()).collect();
                found.graph.code(language, &named)
            }
        };
        code.map(handed_text).map_err(|err| Mistake::new("language", "code", err.to_string()))
    })
}

/// How many operations computing the expressions takes, all together, and how many of them are divisions and remainders by what is no
/// power of two. Either may be null.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_cost(
    expression: *const Expression,
    operations: *mut usize,
    divisions: *mut usize,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("cost") };
    caller.done(|caller| {
        let found = caller.handle("the expression", expression)?;
        let cost = found.graph.cost(&found.roots);
        caller.also(operations, cost.ops);
        caller.also(divisions, cost.divmods);
        Ok(())
    })
}

/// How many nodes the expressions are made of; 0 for what is no expression.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_nodes(expression: *const Expression) -> usize {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("nodes") };
    caller.asked(0, |caller| Ok(caller.handle("the expression", expression)?.parts.len()))
}

/// A node by its number. The numbers of its operands are less than its own, so that one loop walks over all.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_node(
    expression: *const Expression,
    number: usize,
    out: *mut Part,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("node") };
    caller.answer(out, |caller| {
        let found = caller.handle("the expression", expression)?;
        let &part = found.parts.get(number).ok_or_else(|| {
            let sentence = format!("there is no node {number}: there are {}, from 0 on", found.parts.len());
            Mistake::new("expression", "node", sentence)
        })?;
        let (node, mut operands, mut name) = (found.graph.node(part), [0; 3], ptr::null());
        let mut operand_count = 0;
        for operand in node.operands() {
            operands[operand_count] = found.place(operand);
            operand_count += 1;
        }
        let unknown = || Mistake::new("expression", "node", format!("{node:?} has no number in this interface"));
        let (op, value, end) = match node {
            Node::Int(value) => (Op::Int, value, 0),
            Node::Bool(value) => (Op::Bool, value.into(), 0),
            Node::Variable(variable) => {
                name = found.names[variable].as_ptr();
                (Op::Variable, variable as i64, 0)
            }
            Node::Binary(op, ..) => (Op::of(op).ok_or_else(unknown)?, 0, 0),
            Node::Within(_, begin, end) => (Op::Within, begin, end),
            Node::Not(_) => (Op::Not, 0, 0),
            Node::Select(..) => (Op::Select, 0, 0),
            _ => return Err(unknown()),
        };
        let (least, greatest) = found.graph.range(part);
        Ok(Part { op, operand_count, operands, value, end, least, greatest, name })
    })
}

/// The number of the node that is one of the expressions.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_root(
    expression: *const Expression,
    number: usize,
    out: *mut usize,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("root") };
    caller.answer(out, |caller| {
        let found = caller.handle("the expression", expression)?;
        Ok(found.place(found.root("root", number)?))
    })
}

/// The name of a variable by its number, with the half-open range of its values, of which either end may be null; null where there is no
/// such variable. The name lives as long as the expressions do.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_variable(
    expression: *const Expression,
    number: usize,
    begin: *mut i64,
    end: *mut i64,
) -> *const c_char {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("variable") };
    caller.asked(ptr::null(), |caller| {
        let found = caller.handle("the expression", expression)?;
        let Some(variable) = found.graph.variables().get(number) else { return Ok(ptr::null()) };
        caller.also(begin, variable.range.start);
        caller.also(end, variable.range.end);
        Ok(found.names[number].as_ptr())
    })
}

/// The value of one of the expressions where the variables, in the order of their numbers, have values; a condition is 1 or 0.
///
/// Errors: too few or too many values, a value outside the range of its variable.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_evaluate(
    expression: *const Expression,
    number: usize,
    values: *const i64,
    count: usize,
    out: *mut i64,
) -> *mut Error {
    // SAFETY: the promises of the caller.
    let caller = unsafe { Caller::of("evaluate") };
    caller.answer(out, |caller| {
        let found = caller.handle("the expression", expression)?;
        let values = caller.list("the values", values, count)?;
        Ok(found.graph.evaluate(found.root("evaluate", number)?, values)?)
    })
}

/// Ends expressions; null is left alone.
#[allow(unsafe_code)]
#[unsafe(no_mangle)]
pub unsafe extern "C" fn st_expression_free(expression: *mut Expression) {
    // SAFETY: the promise of the caller.
    unsafe { free(expression) }
}
