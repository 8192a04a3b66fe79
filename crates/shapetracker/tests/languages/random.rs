//! Expressions that trackers never need, with divisors of either sign, choices and numbers near the ends of their type.

use std::fmt::Write;

use shapetracker::expr::{Binary, Expr, Graph, Language, Node};
use shapetracker_testing::{Rng, is_held};

use crate::programs::{c_head, compare, has_unsigned_variables, indented, mixed, number_type, python_head, rust_head};
use crate::tools::{Tool, hash};

/// A graph, a number and a condition.
pub(crate) struct Sample {
    pub(crate) graph: Graph,
    pub(crate) number: Expr,
    pub(crate) condition: Expr,
}

/// Random expressions over three variables; `far` ones have values past 32 bits.
fn sample(seed: u64, far: bool) -> Sample {
    let mut rng = Rng(seed);
    let mut graph = Graph::new();
    let near = i64::from(i32::MAX);
    let mut ranges = vec![(-9, 10), (0, 7), (-4, 0), (1, 5), (near - 3, near + 1), (-near - 1, 2 - near)];
    if far {
        ranges.extend([(i64::MAX - 3, i64::MAX), (i64::MIN, i64::MIN + 3), (near - 1, near + 4)]);
    }
    let mut numbers = Vec::new();
    for name in ["x", "y", "z"] {
        let (low, high) = *rng.pick(&ranges);
        numbers.push(graph.variable(name, low..high).expect("the range is not empty"));
    }
    for value in [1, 2, 3, 4, 5, 7, 8, -1, -2, -3, -8] {
        numbers.push(graph.int(value));
    }
    let mut conditions = vec![graph.bool(true)];
    use Binary::*;
    let arithmetic = [Add, Sub, Mul, Div, Mod, Div, Mod, Div, Mod, Min, Max, Xor];
    let comparisons = [Lt, Le, Gt, Ge, Eq, Ne];
    for _ in 0..40 {
        // Recent numbers more often than constants, so that expressions become deep.
        let recent = numbers.len().saturating_sub(8);
        let a = numbers
            [if rng.index(2) == 0 { recent + rng.index(numbers.len() - recent) } else { rng.index(numbers.len()) }];
        let b = *rng.pick(&numbers);
        let condition = *rng.pick(&conditions);
        match rng.index(12) {
            0..8 => numbers.extend(graph.binary(*rng.pick(&arithmetic), a, b)),
            // Compilers warn of comparisons with oneself.
            8 if a != b => conditions.extend(graph.binary(*rng.pick(&comparisons), a, b)),
            8 | 9 => {
                let (low, high) = graph.range(a);
                let width = high.saturating_sub(low).clamp(1, 100);
                let begin = low.saturating_add(rng.index(width as usize) as i64);
                conditions.extend(graph.within(a, begin, begin.saturating_add(width / 2 + 1)));
            }
            10 => {
                let other = *rng.pick(&conditions);
                conditions.extend(graph.binary(*rng.pick(&[And, Or]), condition, other));
                conditions.extend(graph.not(condition));
            }
            _ => numbers.extend(graph.select(condition, a, b)),
        }
    }
    let number = *numbers.last().expect("there are numbers");
    let condition = *conditions.last().expect("there are conditions");
    Sample { graph, number, condition }
}

/// Samples of which every value fits into 32 bits where it must.
pub(crate) fn samples(far: bool) -> Vec<Sample> {
    (0..100).filter(|seed| is_held(*seed)).map(|seed| sample(seed, far)).collect()
}

/// The value of an expression, by the definition of each operation.
pub(crate) fn evaluate(graph: &Graph, expr: Expr, variables: &[i64]) -> i64 {
    let parts = graph.parts(&[expr]);
    let mut values = std::collections::HashMap::new();
    for part in parts {
        let of = |operand: &Expr| -> i128 { values[operand] };
        let value = match graph.node(part) {
            Node::Int(value) => value.into(),
            Node::Bool(value) => value.into(),
            Node::Variable(variable) => variables[variable].into(),
            Node::Not(a) => 1 - of(&a),
            Node::Within(a, begin, end) => (i128::from(begin) <= of(&a) && of(&a) < i128::from(end)).into(),
            Node::Select(condition, a, b) => {
                if of(&condition) == 1 {
                    of(&a)
                } else {
                    of(&b)
                }
            }
            Node::Binary(op, a, b) => {
                let (a, b) = (of(&a), of(&b));
                let floor = |a: i128, b: i128| if b < 0 { (-a).div_euclid(-b) } else { a.div_euclid(b) };
                match op {
                    Binary::Add => a + b,
                    Binary::Sub => a - b,
                    Binary::Mul => a * b,
                    Binary::Div => floor(a, b),
                    Binary::Mod => a - floor(a, b) * b,
                    Binary::Min => a.min(b),
                    Binary::Max => a.max(b),
                    Binary::Xor => (a | b) - (a & b),
                    Binary::Lt => (a < b).into(),
                    Binary::Le => (a <= b).into(),
                    Binary::Gt => (a > b).into(),
                    Binary::Ge => (a >= b).into(),
                    Binary::Eq => (a == b).into(),
                    Binary::Ne => (a != b).into(),
                    Binary::And => a & b,
                    Binary::Or => a | b,
                    other => panic!("{other:?} has no definition here"),
                }
            }
            other => panic!("{other:?} has no definition here"),
        };
        values.insert(part, value);
    }
    values[&expr].try_into().expect("every value fits")
}

/// All values of the variables, the last one changing fastest.
pub(crate) fn inputs(graph: &Graph) -> Vec<Vec<i64>> {
    let mut inputs = vec![Vec::new()];
    for variable in graph.variables() {
        inputs = inputs
            .iter()
            .flat_map(|input| variable.range.clone().map(move |value| [&input[..], &[value]].concat()))
            .collect();
    }
    inputs
}

fn expected(name: &str, sample: &Sample) -> (String, u64) {
    let Sample { graph, number, condition } = sample;
    let values =
        inputs(graph).into_iter().flat_map(|input| [*number, *condition].map(|expr| evaluate(graph, expr, &input)));
    (name.into(), hash(values))
}

/// The program for all samples: `walk` writes a function, `call` its call.
fn check(
    tool: &Tool,
    language: Language,
    head: String,
    walk: impl Fn(&Graph, &str, usize) -> String,
    main: impl Fn(&str) -> String,
) {
    let (mut text, mut calls, mut hashes) = (head, String::new(), Vec::new());
    for (number, sample) in samples(false).into_iter().chain(samples(true)).enumerate() {
        let named = [("number", sample.number), ("condition", sample.condition)];
        let code = sample.graph.code(language, &named).expect("the language has all of it");
        text += &walk(&sample.graph, &code, number);
        let end = if language == Language::Python { "" } else { ";" };
        let _ = writeln!(calls, "    walk_{number}(){end}");
        hashes.push(expected(&format!("sample {number}\n{code}"), &sample));
    }
    let what = format!("random_{language}");
    compare(&what, &tool.lines(&what, &(text + &main(&calls))), &hashes);
}

fn check_c(tool: Option<Tool>, language: Language) {
    let Some(tool) = tool else { return };
    let literal = |value: i64| match value {
        i64::MIN => String::from("(-9223372036854775807 - 1)"),
        _ => value.to_string(),
    };
    let walk = |graph: &Graph, code: &str, number: usize| {
        let mut text = format!("static void walk_{number}(void) {{\n");
        for variable in graph.variables() {
            let is_unsigned = variable.range.start >= 0 && has_unsigned_variables(number);
            let kind = number_type(language, code, is_unsigned);
            let (name, begin, end) = (&variable.name, literal(variable.range.start), variable.range.end);
            let _ = writeln!(text, "for (long long i_{name} = {begin}; i_{name} < {end}; ++i_{name}) {{");
            let _ = writeln!(text, "const {kind} {name} = ({kind})i_{name}; (void){name};");
        }
        mixed(number, &(text + &indented(code) + "    mix(number);\n    mix(condition);\n}}}\nshow();\n}\n\n"))
    };
    check(&tool, language, c_head(), walk, |calls| format!("int main(void) {{\n{calls}    return 0;\n}}\n"));
}

#[test]
fn c() {
    check_c(Tool::c(), Language::C);
}

#[test]
fn opencl() {
    check_c(Tool::c(), Language::OpenCl);
}

#[test]
fn cuda() {
    check_c(Tool::cpp(), Language::Cuda);
}

#[test]
fn metal() {
    check_c(Tool::cpp(), Language::Metal);
}

#[test]
fn rust() {
    let Some(tool) = Tool::rust() else { return };
    let walk = |graph: &Graph, code: &str, number: usize| {
        let kind = number_type(Language::Rust, code, false);
        let mut text = format!("fn walk_{number}() {{\nlet mut hash = START;\n");
        for variable in graph.variables() {
            let (name, begin, end) = (&variable.name, variable.range.start, variable.range.end);
            let _ = writeln!(
                text,
                "for i_{name} in {begin}_i64..{end} {{ let {name} = i_{name} as {kind}; let _ = {name};"
            );
        }
        text += &indented(code);
        text + "    mix(&mut hash, i64::from(number));\n    mix(&mut hash, condition.into());\n}}}\n\
                println!(\"{hash:016x}\");\n}\n\n"
    };
    check(&tool, Language::Rust, rust_head(), walk, |calls| format!("fn main() {{\n{calls}}}\n"));
}

#[test]
fn python() {
    let Some(tool) = Tool::python() else { return };
    let walk = |graph: &Graph, code: &str, number: usize| {
        let mut text = format!("def values_{number}():\n");
        let mut indent = String::from("    ");
        for variable in graph.variables() {
            let (name, begin, end) = (&variable.name, variable.range.start, variable.range.end);
            let _ = writeln!(text, "{indent}for {name} in range({begin}, {end}):");
            indent += "    ";
        }
        code.lines().for_each(|line| text += &format!("{indent}{line}\n"));
        text + &format!(
            "{indent}yield number\n{indent}yield int(condition)\n\n\n\
                         def walk_{number}():\n    show(values_{number}())\n\n\n"
        )
    };
    check(&tool, Language::Python, python_head(), walk, |calls| {
        calls.lines().map(|call| format!("{}\n", call.trim())).collect()
    });
}
