//! What expressions are worth: an evaluator and a printer that share no code with the library but the nodes they read.

use std::collections::HashMap;

use shapetracker::expr::{Binary, Expr, Graph, Node};

/// Assignments of numbers to the variables of a graph, one column a variable.
pub(crate) struct Block {
    columns: Vec<Vec<i64>>,
    len: usize,
}

impl Block {
    const LEN: usize = 512;

    /// All assignments from half-open ranges, the last variable the fastest, in blocks that caches hold.
    pub(crate) fn all(ranges: Vec<(i64, i64)>) -> impl Iterator<Item = Block> {
        let mut left: i64 = ranges.iter().map(|(begin, end)| end - begin).product();
        let mut next: Vec<i64> = ranges.iter().map(|range| range.0).collect();
        std::iter::from_fn(move || {
            let len = left.min(Block::LEN as i64) as usize;
            left -= len as i64;
            let mut columns = vec![Vec::with_capacity(len); ranges.len()];
            for _ in 0..len {
                columns.iter_mut().zip(&next).for_each(|(column, value)| column.push(*value));
                for (value, (begin, end)) in next.iter_mut().zip(&ranges).rev() {
                    *value += 1;
                    if *value < *end {
                        break;
                    }
                    *value = *begin;
                }
            }
            (len > 0).then_some(Block { columns, len })
        })
    }

    /// All assignments to the variables of a graph.
    pub(crate) fn of(graph: &Graph) -> impl Iterator<Item = Block> + use<> {
        Block::all(graph.variables().iter().map(|variable| (variable.range.start, variable.range.end)).collect())
    }

    /// A few assignments.
    pub(crate) fn some(assignments: &[Vec<i64>]) -> Block {
        let variables = assignments.first().map_or(0, Vec::len);
        let column = |variable: usize| assignments.iter().map(|values| values[variable]).collect();
        Block { columns: (0..variables).map(column).collect(), len: assignments.len() }
    }

    pub(crate) fn assignment(&self, at: usize) -> Vec<i64> {
        self.columns.iter().map(|column| column[at]).collect()
    }
}

/// One expression, with its operands by their place among the parts.
#[derive(Clone, Copy)]
enum Step {
    Constant(i64),
    Variable(usize),
    Binary(Binary, usize, usize),
    Within(usize, i64, i64),
    Not(usize),
    Select(usize, usize, usize),
}

/// Evaluates expressions, and holds every value on the way against what the graph claims of it.
pub(crate) struct Evaluator<'a> {
    graph: &'a Graph,
    parts: Vec<Expr>,
    steps: Vec<Step>,
    values: Vec<i64>,
    /// Which steps have one value throughout the last block: outer axes move slowly, and what depends on them alone
    /// is computed once a block.
    uniform: Vec<bool>,
    len: usize,
    /// Whether residues are checked too, which takes a division a value.
    pub(crate) residues: bool,
}

impl<'a> Evaluator<'a> {
    pub(crate) fn new(graph: &'a Graph, roots: &[Expr]) -> Evaluator<'a> {
        let parts = graph.parts(roots);
        let place = |expr: Expr| parts.binary_search(&expr).expect("operands are parts");
        let step = |expr: &Expr| match graph.node(*expr) {
            Node::Int(value) => Step::Constant(value),
            Node::Bool(value) => Step::Constant(value.into()),
            Node::Variable(variable) => Step::Variable(variable),
            Node::Binary(op, a, b) => Step::Binary(op, place(a), place(b)),
            Node::Within(a, begin, end) => Step::Within(place(a), begin, end),
            Node::Not(a) => Step::Not(place(a)),
            Node::Select(condition, a, b) => Step::Select(place(condition), place(a), place(b)),
            other => panic!("{other:?} has no definition here"),
        };
        let steps = parts.iter().map(step).collect();
        Evaluator { graph, parts, steps, values: Vec::new(), uniform: Vec::new(), len: 0, residues: true }
    }

    /// Evaluates everything; says what contradicts the graph's ranges and residues, or divides by zero.
    pub(crate) fn run(&mut self, block: &Block) -> Result<(), String> {
        self.len = block.len;
        self.values.resize(self.steps.len() * block.len, 0);
        self.uniform.clear();
        for at in 0..self.steps.len() {
            let same = |place: usize| self.uniform[place];
            let uniform = match self.steps[at] {
                Step::Constant(_) => true,
                Step::Variable(variable) => block.columns[variable].iter().all(|v| *v == block.columns[variable][0]),
                Step::Binary(_, a, b) => same(a) && same(b),
                Step::Within(a, ..) | Step::Not(a) => same(a),
                Step::Select(condition, a, b) => same(condition) && same(a) && same(b),
            };
            self.uniform.push(uniform);
            let len = if uniform { 1 } else { block.len };
            let (before, out) = self.values.split_at_mut(at * block.len);
            let (out, copies) = out[..block.len].split_at_mut(len);
            let operand = |place: usize| &before[place * block.len..][..len];
            // A value past `i64` is past the graph's range, whatever that is.
            let mut past = None;
            match self.steps[at] {
                Step::Constant(value) => out.fill(value),
                Step::Variable(variable) => out.copy_from_slice(&block.columns[variable][..len]),
                Step::Binary(op, a, b) => {
                    let (a, b) = (operand(a), operand(b));
                    match op {
                        Binary::Add => each(out, a, b, |a, b| a.checked_add(b), &mut past),
                        Binary::Sub => each(out, a, b, |a, b| a.checked_sub(b), &mut past),
                        Binary::Mul => each(out, a, b, |a, b| a.checked_mul(b), &mut past),
                        Binary::Div => each(out, a, b, |a, b| Some(floor(a, b)?.0), &mut past),
                        Binary::Mod => each(out, a, b, |a, b| Some(floor(a, b)?.1), &mut past),
                        Binary::Min => each(out, a, b, |a, b| Some(a.min(b)), &mut past),
                        Binary::Max => each(out, a, b, |a, b| Some(a.max(b)), &mut past),
                        // What either has, and not both.
                        Binary::Xor => each(out, a, b, |a, b| Some((a | b) - (a & b)), &mut past),
                        Binary::Lt => each(out, a, b, |a, b| Some((a < b).into()), &mut past),
                        Binary::Le => each(out, a, b, |a, b| Some((a <= b).into()), &mut past),
                        Binary::Gt => each(out, a, b, |a, b| Some((a > b).into()), &mut past),
                        Binary::Ge => each(out, a, b, |a, b| Some((a >= b).into()), &mut past),
                        Binary::Eq => each(out, a, b, |a, b| Some((a == b).into()), &mut past),
                        Binary::Ne => each(out, a, b, |a, b| Some((a != b).into()), &mut past),
                        Binary::And => each(out, a, b, |a, b| Some(a & b), &mut past),
                        Binary::Or => each(out, a, b, |a, b| Some(a | b), &mut past),
                        other => panic!("{other:?} has no definition here"),
                    }
                }
                Step::Within(a, begin, end) => {
                    out.iter_mut().zip(operand(a)).for_each(|(out, a)| *out = (begin <= *a && *a < end).into());
                }
                Step::Not(a) => out.iter_mut().zip(operand(a)).for_each(|(out, a)| *out = 1 - a),
                Step::Select(condition, a, b) => {
                    let branches = operand(a).iter().zip(operand(b)).zip(operand(condition));
                    out.iter_mut().zip(branches).for_each(|(out, ((a, b), c))| *out = if *c == 1 { *a } else { *b });
                }
            }
            copies.fill(out[0]);
            let expr = self.parts[at];
            let (low, high) = self.graph.range(expr);
            let found = out.iter().fold((i64::MAX, i64::MIN), |(low, high), v| (low.min(*v), high.max(*v)));
            if past.is_none() && (found.0 < low || found.1 > high) {
                past = out.iter().position(|value| *value < low || *value > high);
            }
            let (modulus, residue) = self.graph.congruence(expr);
            if past.is_none() && modulus == 0 {
                past = out.iter().position(|value| *value != residue);
            }
            if past.is_none() && modulus > 1 && self.residues {
                past = out.iter().position(|value| value.rem_euclid(modulus) != residue.rem_euclid(modulus));
            }
            if let Some(place) = past {
                return Err(format!(
                    "{} is {} (or past i64, or divides by zero) at {:?}, outside {low}..={high} or not {residue} modulo {modulus}",
                    python(self.graph, expr),
                    out[place],
                    block.assignment(place),
                ));
            }
        }
        Ok(())
    }

    /// The values of a part at the last block; conditions are 0 and 1.
    pub(crate) fn column(&self, expr: Expr) -> &[i64] {
        let place = self.parts.binary_search(&expr).expect("only parts are evaluated");
        &self.values[place * self.len..][..self.len]
    }
}

fn each(out: &mut [i64], a: &[i64], b: &[i64], f: impl Fn(i64, i64) -> Option<i64>, past: &mut Option<usize>) {
    for (at, (out, (a, b))) in out.iter_mut().zip(a.iter().zip(b)).enumerate() {
        match f(*a, *b) {
            Some(value) => *out = value,
            None => *past = Some(at),
        }
    }
}

/// Quotient rounded down, and what is left, which has the sign of the divisor; `None` for a divisor of zero.
fn floor(a: i64, b: i64) -> Option<(i64, i64)> {
    let (quotient, rest) = (a.checked_div(b)?, a.checked_rem(b)?);
    Some(if rest != 0 && (rest < 0) != (b < 0) { (quotient - 1, rest + b) } else { (quotient, rest) })
}

/// An expression as Python text with every parenthesis; what is used more than once, or is long, gets a name first.
pub(crate) fn python(graph: &Graph, root: Expr) -> String {
    let parts = graph.parts(&[root]);
    let mut uses: HashMap<Expr, usize> = HashMap::new();
    for part in &parts {
        graph.node(*part).operands().for_each(|operand| *uses.entry(operand).or_default() += 1);
    }
    let (mut texts, mut lines): (HashMap<Expr, String>, String) = Default::default();
    for part in parts {
        let mut text = match graph.node(part) {
            Node::Int(value) => value.to_string(),
            Node::Bool(value) => (if value { "True" } else { "False" }).into(),
            Node::Variable(place) => graph.variables()[place].name.clone(),
            Node::Within(a, begin, end) => format!("({begin} <= {} < {end})", texts[&a]),
            Node::Not(a) => format!("(not {})", texts[&a]),
            Node::Select(condition, a, b) => format!("({} if {} else {})", texts[&a], texts[&condition], texts[&b]),
            Node::Binary(op, a, b) => {
                let (a, b) = (&texts[&a], &texts[&b]);
                match sign(op) {
                    name @ ("min" | "max") => format!("{name}({a}, {b})"),
                    sign => format!("({a} {sign} {b})"),
                }
            }
            other => panic!("{other:?} has no text here"),
        };
        if part != root && (uses[&part] > 1 && text.len() > 6 || text.len() > 300) {
            let name = format!("t{}", lines.lines().count());
            lines += &format!("{name} = {text}\n");
            text = name;
        }
        texts.insert(part, text);
    }
    lines + &texts[&root]
}

fn sign(op: Binary) -> &'static str {
    match op {
        Binary::Add => "+",
        Binary::Sub => "-",
        Binary::Mul => "*",
        Binary::Div => "//",
        Binary::Mod => "%",
        Binary::Min => "min",
        Binary::Max => "max",
        Binary::Xor => "^",
        Binary::Lt => "<",
        Binary::Le => "<=",
        Binary::Gt => ">",
        Binary::Ge => ">=",
        Binary::Eq => "==",
        Binary::Ne => "!=",
        Binary::And => "and",
        Binary::Or => "or",
        other => panic!("{other:?} has no sign here"),
    }
}
