//! Random expressions: what is written reads back, and what is computed at once is what is computed one by one.

use shapetracker_base::text::LONGEST_TEXT;
pub(crate) use shapetracker_testing::Rng;

use crate::{Binary, Error, ErrorKind, Expr, Graph, IndexExpr, Linear, Node, Syntax, Term};

const NUMERIC: [Binary; 8] =
    [Binary::Add, Binary::Sub, Binary::Mul, Binary::Div, Binary::Mod, Binary::Min, Binary::Max, Binary::Xor];
const COMPARISONS: [Binary; 6] = [Binary::Lt, Binary::Le, Binary::Gt, Binary::Ge, Binary::Eq, Binary::Ne];

fn pick<T: Copy>(rng: &mut Rng, of: &[T]) -> T {
    of[rng.below(of.len() as u64) as usize]
}

/// Expressions that are made of each other: numbers, and conditions.
pub(crate) fn random(rng: &mut Rng, graph: &mut Graph, steps: usize) -> (Vec<Expr>, Vec<Expr>) {
    let variables = graph.variables().to_vec();
    let mut numbers: Vec<Expr> =
        variables.iter().map(|variable| graph.variable(&variable.name, variable.range.clone()).unwrap()).collect();
    let mut conditions = vec![graph.bool(rng.below(2) == 0)];
    for _ in 0..4 {
        let constant = match rng.below(8) {
            0 => 1 << rng.below(40),
            1 => rng.below(1 << 40) as i64 - (1 << 39),
            _ => rng.below(25) as i64 - 8,
        };
        numbers.push(graph.int(constant));
    }
    for _ in 0..steps {
        let (a, b) = (pick(rng, &numbers), pick(rng, &numbers));
        let (p, q) = (pick(rng, &conditions), pick(rng, &conditions));
        // What the graph refuses is left out.
        match rng.below(20) {
            0..12 => {
                let op = pick(rng, &NUMERIC);
                numbers.extend(graph.binary(op, a, b));
            }
            12..14 => {
                let op = pick(rng, &COMPARISONS);
                conditions.extend(graph.binary(op, a, b));
            }
            14 => {
                let begin = rng.below(20) as i64 - 10;
                conditions.extend(graph.within(a, begin, begin + rng.below(9) as i64));
            }
            15 => conditions.extend(graph.not(p)),
            16 => conditions.extend(graph.binary(Binary::And, p, q)),
            17 => conditions.extend(graph.binary(Binary::Or, p, q)),
            18 => conditions.extend(graph.select(p, q, pick(rng, &conditions))),
            _ => numbers.extend(graph.select(p, a, b)),
        }
    }
    (numbers, conditions)
}

/// The exclusive or of two numbers, bit by bit.
fn by_bits(a: i64, b: i64) -> i64 {
    let bit = |bit: u32| u64::from((a as u64 >> bit) % 2 != (b as u64 >> bit) % 2);
    (0..64).map(|at| bit(at) << at).sum::<u64>() as i64
}

/// The value of an expression by the definition.
pub(crate) fn value(graph: &Graph, expr: Expr, at: &[i64]) -> i64 {
    let of = |expr| value(graph, expr, at);
    match graph.node(expr) {
        Node::Int(value) => value,
        Node::Bool(value) => value.into(),
        Node::Variable(variable) => at[variable],
        Node::Within(a, begin, end) => (begin..end).contains(&of(a)).into(),
        Node::Not(a) => 1 - of(a),
        Node::Select(condition, a, b) => of(if of(condition) == 1 { a } else { b }),
        Node::Binary(op, a, b) => {
            let (a, b) = (of(a), of(b));
            let floor = || {
                let (a, b) = (i128::from(a), i128::from(b));
                let quotient = a / b;
                (if a - quotient * b != 0 && (a < 0) != (b < 0) { quotient - 1 } else { quotient }) as i64
            };
            match op {
                Binary::Add => a + b,
                Binary::Sub => a - b,
                Binary::Mul => a * b,
                Binary::Div => floor(),
                Binary::Mod => (i128::from(a) - i128::from(b) * i128::from(floor())) as i64,
                Binary::Min => a.min(b),
                Binary::Max => a.max(b),
                Binary::Xor => by_bits(a, b),
                Binary::Lt => (a < b).into(),
                Binary::Le => (a <= b).into(),
                Binary::Gt => (a > b).into(),
                Binary::Ge => (a >= b).into(),
                Binary::Eq => (a == b).into(),
                Binary::Ne => (a != b).into(),
                Binary::And => a & b,
                Binary::Or => a | b,
            }
        }
    }
}

/// All values of all variables, in row-major order.
fn choices(graph: &Graph) -> Vec<Vec<i64>> {
    graph.variables().iter().fold(vec![vec![]], |prefixes, variable| {
        let longer = |prefix: &Vec<i64>, value| prefix.iter().copied().chain([value]).collect();
        prefixes.iter().flat_map(|prefix| variable.range.clone().map(move |value| longer(prefix, value))).collect()
    })
}

/// A graph with variables of these ranges, and their names.
fn variables(ranges: &[(i64, i64)]) -> Graph {
    let mut graph = Graph::new();
    for (at, &(begin, end)) in ranges.iter().enumerate() {
        graph.variable(&format!("idx{at}"), begin..end).unwrap();
    }
    graph
}

#[test]
fn text_reads_back() {
    let mut rng = Rng(1);
    let (mut read, mut refused) = (0, 0);
    for _ in 0..2000 {
        let mut graph = variables(&[(0, 5), (-3, 4), (1, 4)]);
        let (numbers, conditions) = random(&mut rng, &mut graph, 40);
        for expr in [numbers[numbers.len() - 1], conditions[conditions.len() - 1], pick(&mut rng, &numbers)] {
            let Ok(text) = graph.text(expr, Syntax::Python) else { continue };
            assert_eq!(graph.parse(&text, Syntax::Python).map_err(|err| err.to_string()), Ok(expr), "{text}");
            // A pair of parentheses less says something else.
            let text_of_c = graph.text(expr, Syntax::C).unwrap();
            match graph.parse(&text_of_c, Syntax::C) {
                Ok(same) => {
                    read += 1;
                    assert_eq!(graph.values(same), graph.values(expr), "{text} is not {text_of_c}");
                }
                // Ranges do not see that a part of the correction is only computed where it is needed.
                Err(err) => {
                    refused += 1;
                    let loose = ["past the range of 64-bit integers", "the divisor can be zero"];
                    assert!(loose.iter().any(|loose| err.message().contains(loose)), "{text}: {err}");
                }
            }
        }
    }
    assert!(read > 50 * refused, "{read} expressions could be read, {refused} could not");
}

#[test]
fn no_parentheses_can_be_left_out() {
    let mut rng = Rng(2);
    for _ in 0..1000 {
        let mut graph = variables(&[(0, 5), (-3, 4), (1, 4)]);
        let (numbers, conditions) = random(&mut rng, &mut graph, 12);
        for expr in [numbers[numbers.len() - 1], conditions[conditions.len() - 1]] {
            let text = graph.text(expr, Syntax::Python).unwrap();
            let mut open = Vec::new();
            for (at, c) in text.char_indices() {
                match c {
                    '(' => open.push(at),
                    ')' => {
                        let begin = open.pop().unwrap();
                        if !text[..begin].ends_with(['n', 'x']) {
                            let less = format!("{} {} {}", &text[..begin], &text[begin + 1..at], &text[at + 1..]);
                            assert_ne!(graph.parse(&less, Syntax::Python).ok(), Some(expr), "{text} is also {less}");
                        }
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn blocks_have_the_values_of_the_definition() {
    const ENDS: (i64, i64) = (i64::MIN, i64::MAX);
    let domains: [&[(i64, i64)]; 10] = [
        &[],
        &[(3, 4)],
        &[(-1, 2), (0, 1500), (5, 7)],
        &[(0, 2), (-1200, 1200)],
        &[(0, 6), (0, 5), (-4, 4), (0, 7), (1, 3)],
        &[(0, 3), (0, 1), (0, 700), (2, 3)],
        &[(-2, 1), (0, 1024), (0, 1)],
        &[(ENDS.1 - 1030, ENDS.1), (-2, 3)],
        &[(ENDS.0, ENDS.0 + 40), (ENDS.1 - 30, ENDS.1)],
        &[(1 << 31, (1 << 31) + 1500)],
    ];
    let mut rng = Rng(3);
    for round in 0..300 {
        let mut graph = variables(domains[round % domains.len()]);
        let (numbers, conditions) = random(&mut rng, &mut graph, if round % 7 == 0 { 300 } else { 15 });
        let exprs =
            [numbers[numbers.len() - 1], pick(&mut rng, &numbers), conditions[conditions.len() - 1], numbers[0]];
        // The definition computes what is shared again and again.
        if exprs.iter().any(|expr| graph.text(*expr, Syntax::Python).map_or(true, |text| text.len() > 2000)) {
            continue;
        }
        let mut columns = vec![Vec::new(); exprs.len()];
        let append =
            |block: &[&[i64]]| columns.iter_mut().zip(block).for_each(|(all, block)| all.extend_from_slice(block));
        graph.evaluate_all(&exprs, append).unwrap();
        let choices = choices(&graph);
        // The same choices as columns, backwards so that they come in another order.
        let values: Vec<Vec<i64>> = (0..graph.variables().len())
            .map(|variable| choices.iter().rev().map(|choice| choice[variable]).collect())
            .collect();
        let mut backwards =
            graph.evaluate_columns(&exprs, &values.iter().map(|column| &column[..]).collect::<Vec<_>>()).unwrap();
        backwards.iter_mut().for_each(|column| column.reverse());
        assert_eq!(backwards, columns);
        for (expr, column) in exprs.into_iter().zip(&columns) {
            let shown = || graph.text(expr, Syntax::Python).unwrap();
            assert_eq!(column.len(), choices.len());
            for (choice, found) in choices.iter().zip(column) {
                assert_eq!(*found, value(&graph, expr, choice), "{} at {choice:?}", shown());
            }
            let choice = &choices[rng.below(choices.len() as u64) as usize];
            assert_eq!(graph.evaluate(expr, choice), Ok(value(&graph, expr, choice)), "{}", shown());
        }
    }
}

#[test]
fn divisions_by_constants_are_exact() {
    let mut rng = Rng(4);
    let mut number = |bits: u64| (rng.below(1 << 32) << 32 | rng.below(1 << 32)) as i64 >> bits;
    for round in 0..3000 {
        let mut divisor = number(round % 64);
        divisor = if round % 4 == 0 { divisor.wrapping_abs() } else { divisor };
        let first = match round % 5 {
            0 => number(round % 61),
            1 => number(0).wrapping_div(divisor | 1).wrapping_mul(divisor).saturating_sub(3),
            2 => (1 << 31) - 8 + number(60),
            3 => i64::MIN,
            _ => i64::MAX - 16,
        };
        let mut graph = variables(&[(first, first.saturating_add(16))]);
        for op in ["//", "%"] {
            let text = format!("idx0 {op} {divisor}");
            let Ok(expr) = graph.parse(&text, Syntax::Python) else { continue };
            for (choice, found) in choices(&graph).iter().zip(graph.values(expr).unwrap()) {
                assert_eq!(found, value(&graph, expr, choice), "{text} at {choice:?}");
            }
        }
    }
}

#[test]
fn operators_have_the_usual_precedence() {
    let mut graph = variables(&[(0, 9), (-5, 5)]);
    let cases = [
        ("1 + idx0 * 2 - idx1", "(1 + (idx0 * 2)) - idx1"),
        ("-idx0 * 3 // 2 % 5", "(((-idx0) * 3) // 2) % 5"),
        ("- - 3", "0 - -3"),
        ("-(3)", "0 - 3"),
        ("+idx0 + +2", "idx0 + 2"),
        ("not idx0 < 3 and idx1 == 2 or True", "((not (idx0 < 3)) and (idx1 == 2)) or True"),
        ("idx0 if idx0 < 2 else 1 if idx1 > 0 else 2", "idx0 if (idx0 < 2) else (1 if (idx1 > 0) else 2)"),
        ("idx0 + 1 if idx0 < 2 or False else idx1 * 2", "(idx0 + 1) if ((idx0 < 2) or False) else (idx1 * 2)"),
        ("idx0 << 2 + 1", "idx0 * 8"),
        ("idx0 ^ idx1 + 1 ^ 3", "(idx0 ^ (idx1 + 1)) ^ 3"),
        ("idx0 ^ idx1 & 3", "idx0 ^ idx1 % 4"),
        ("idx0 ^ idx1 < 3", "(idx0 ^ idx1) < 3"),
        ("idx0 + 8 >> 2 & 3", "((idx0 + 8) // 4) % 4"),
        ("idx0 & 7 == 3", "(idx0 % 8) == 3"),
        ("0 < idx0 <= 4", "1 <= idx0 < 5"),
        ("-3 <= idx0 + idx1 < 0x1_0", "-3 <= (idx0 + idx1) < 16"),
        ("9 > idx0 >= 2", "9 > idx0 and idx0 >= 2"),
        ("idx1 < idx0 < 4 == idx0", "idx1 < idx0 and idx0 < 4 and 4 == idx0"),
        ("1 <= idx0 <= 9223372036854775807", "1 <= idx0 and idx0 <= 9223372036854775807"),
        ("min(idx0, idx1, max(3, 4))", "min(min(idx0, idx1), max(3, 4))"),
        ("(min)(3, 4)", ""),
        ("-9223372036854775808 < idx0", "-0x8000000000000000 < idx0"),
        ("1_000 + 0b101 + 0o17", "1000 + 5 + 15"),
    ];
    for (text, meant) in cases {
        let found = graph.parse(text, Syntax::Python);
        if meant.is_empty() {
            assert!(found.is_err(), "{text}");
        } else {
            assert_eq!(found, graph.parse(meant, Syntax::Python), "{text}");
            assert!(found.is_ok(), "{text}");
        }
    }
    let cases = [
        ("1 + idx0 * 2 - -idx1", "1 + idx0 * 2 - -idx1"),
        ("idx0 / 3 % 2", "idx0 // 3 % 2"),
        ("!(idx0 < 3) && idx1 == 2 || true", "not idx0 < 3 and idx1 == 2 or True"),
        ("!!(idx0 == 3)", "not not idx0 == 3"),
        ("idx0 < 2 ? idx0 : idx1 > 0 ? 1 : 2", "idx0 if idx0 < 2 else 1 if idx1 > 0 else 2"),
        ("idx0 < 2 ? idx1 > 0 ? 1 : 2 : 3", "(1 if idx1 > 0 else 2) if idx0 < 2 else 3"),
        ("idx0 < 2 ? 1 : 2 ", "1 if idx0 < 2 else 2"),
        ("idx0 << 2 >> 1", "idx0 * 4 // 2"),
        ("(idx0 & 7) == 3", "idx0 % 8 == 3"),
        ("idx0 & 3 ^ idx0 << 1 ^ 1", "(idx0 % 4 ^ idx0 * 2) ^ 1"),
        ("idx0 ^ idx1 == 3", ""),
        ("idx0 < 3 == false", ""),
        ("(int)idx0 * (long long) 3ull - (unsigned int)(idx0 + 2u)", "idx0 * 3 - (idx0 + 2)"),
        ("(size_t)idx0 + (idx1) - (int32_t)-3", "idx0 + idx1 - -3"),
        ("max(idx0, 2L)", "max(idx0, 2)"),
    ];
    for (text, meant) in cases {
        let found = graph.parse(text, Syntax::C);
        if meant.is_empty() {
            assert!(found.is_err(), "{text}");
        } else {
            assert_eq!(found.map_err(|err| err.to_string()).ok(), graph.parse(meant, Syntax::Python).ok(), "{text}");
        }
    }
}

#[test]
fn divisions_of_c_round_towards_zero() {
    for range in [(-9, 10), (-9, 1), (0, 10)] {
        let mut graph = variables(&[range, (1, 5), (-4, 0)]);
        for (divisor, of) in [("3", 3), ("-3", -3), ("1", 1), ("-1", -1), ("idx1", 0), ("idx2", 0)] {
            let quotient = graph.parse(&format!("idx0 / {divisor}"), Syntax::C).unwrap();
            let rest = graph.parse(&format!("idx0 % {divisor}"), Syntax::C).unwrap();
            for choice in choices(&graph) {
                let of = match divisor {
                    "idx1" => choice[1],
                    "idx2" => choice[2],
                    _ => of,
                };
                assert_eq!(graph.evaluate(quotient, &choice), Ok(choice[0] / of));
                assert_eq!(graph.evaluate(rest, &choice), Ok(choice[0] % of));
            }
        }
    }
}

/// What compilers print has the values of what it is in Python.
#[test]
fn texts_of_compilers_are_read() {
    let mut graph = Graph::new();
    graph.variable("x", -9..10).unwrap();
    graph.variable("y", 0..13).unwrap();
    for (syntax, text, python) in [
        // Inductor and sympy.
        (Syntax::Python, "FloorDiv(x, 4)", "x // 4"),
        (Syntax::Python, "ModularIndexing(x, 2, 3)", "x // 2 % 3"),
        (Syntax::Python, "ModularIndexing(y + 4*FloorDiv(y, 3), 1, 8)", "(y + 4 * (y // 3)) % 8"),
        (Syntax::Python, "Mod(x, 5) + PythonMod(y, 4)", "x % 5 + y % 4"),
        (Syntax::Python, "CleanDiv(4*x, 4)", "x"),
        (Syntax::Python, "CeilDiv(x, 4)", "-(-x // 4)"),
        (Syntax::Python, "Identity(x) + 1", "x + 1"),
        (Syntax::Python, "Min(x, y) + Max(1, Min(x, 3), y)", "min(x, y) + max(1, min(x, 3), y)"),
        (Syntax::Python, "(x < 3) & (y > 2)", "x < 3 and y > 2"),
        (Syntax::Python, "(x < 3) | (y > 2) & (x >= 0)", "x < 3 or y > 2 and x >= 0"),
        (Syntax::Python, "x < 3 and 1", "x < 3"),
        (Syntax::Python, "x if 1 else y", "x"),
        (Syntax::Python, "triton.cdiv(y, 4)", "-(-y // 4)"),
        // MLIR.
        (Syntax::Python, "x floordiv 4 + y mod 3", "x // 4 + y % 3"),
        (Syntax::Python, "(x + 1) ceildiv 4 * 2", "-(-(x + 1) // 4) * 2"),
        (Syntax::Python, "affine_map<(d0, d1)[s0] -> (x * 4 + y floordiv 2)>", "x * 4 + y // 2"),
        (Syntax::Python, "  affine_map<(x) -> (x mod 8)>  ", "x % 8"),
        // TVM.
        (Syntax::Python, "floordiv(x, 4) * 4 + floormod(x, 4)", "x"),
        (Syntax::Python, "T.floordiv(x, 4) + T.floormod(y, 3)", "x // 4 + y % 3"),
        (Syntax::Python, "x + T.int64(3) * T.int32(y)", "x + 3 * y"),
        (Syntax::Python, "tvm.tir.truncdiv(x, 4)", "x // 4 + 1 if x < 0 and x % 4 != 0 else x // 4"),
        (Syntax::Python, "truncmod(x, 4)", "x % 4 - 4 if x < 0 and x % 4 != 0 else x % 4"),
        // CUDA.
        (Syntax::C, "ceilDiv(y, 4)", "-(-y // 4)"),
        (Syntax::C, "x > 2 | y < 3", "x > 2 or y < 3"),
        (Syntax::C, "x > 2 & y < 3", "x > 2 and y < 3"),
        (Syntax::C, "y & 7", "y % 8"),
    ] {
        let read = graph.parse(text, syntax).unwrap_or_else(|err| panic!("{err}"));
        let expected = graph.parse(python, Syntax::Python).unwrap_or_else(|err| panic!("{err}"));
        for point in choices(&graph) {
            let values = [read, expected].map(|expr| graph.evaluate(expr, &point).unwrap());
            assert_eq!(values[0], values[1], "{text} at {point:?}");
        }
    }
    for (text, message) in [
        ("FloorDiv(x)", "`FloorDiv` takes 2 numbers"),
        ("ModularIndexing(x, 2)", "`ModularIndexing` takes 3 numbers"),
        ("Identity(x, 2)", "`Identity` takes one number"),
        ("x | y", "`|` combines conditions: the bits of numbers that can be set in both are no sum"),
        (
            "threadIdx.x + 1",
            "expected a variable, found `threadIdx.x`: it is read as the variable `threadIdx_x`, and there is none of that name",
        ),
        ("FloorDiv(x, 2", "`FloorDiv(` is never closed"),
    ] {
        assert_eq!(graph.parse(text, Syntax::Python).unwrap_err().message(), message, "{text}");
    }
    graph.variable("threadIdx_x", 0..32).unwrap();
    let thread = graph.parse("threadIdx.x / 4 * 2", Syntax::C).unwrap();
    assert_eq!(graph.text(thread, Syntax::Python).unwrap(), "threadIdx_x // 4 * 2");
}

#[test]
fn mistakes_say_what_was_meant_and_what_is_missing() {
    let mut graph = Graph::new();
    graph.variable("row", 0..8).unwrap();
    let mut err = |text| graph.parse(text, Syntax::Python).unwrap_err();
    let misspelt = err("rwo * 4");
    assert_eq!(misspelt.to_string(), "expected a variable, found `rwo`: did you mean `row`?\n  rwo * 4\n  ^^^");
    assert_eq!((misspelt.suggestion(), misspelt.is_unknown_name()), (Some((0..3, "row")), false));
    assert!(err("row + column").is_unknown_name());
    assert!(err("1 +").is_unfinished() && !err("1 + )").is_unfinished());

    let long = err(&("-".repeat(LONGEST_TEXT) + "1"));
    assert_eq!(long.message(), "the text has 1048577 bytes, more than the 1048576 that are read");
    assert_eq!(long.span(), LONGEST_TEXT..LONGEST_TEXT);
}

#[test]
fn complaints_point_at_their_cause() {
    let mut graph = variables(&[(0, 9), (-5, 5)]);
    graph.variable("length", i64::MAX - 5..i64::MAX).unwrap();
    let python = [
        ("", 0..0, "expected an expression, found the end of the text"),
        ("  \n", 0..0, "expected an expression, found the end of the text"),
        ("idx0 + ", 6..6, "expected an expression, found the end of the text"),
        ("idx0 idx1", 5..9, "expected an operator, found `idx1`"),
        ("idx0 (3)", 0..4, "expected `min` or `max`, found `idx0`"),
        ("3 (idx0)", 2..3, "expected an operator, found `(`"),
        ("(idx0 + (1 * 2)", 0..1, "`(` is never closed"),
        ("1 + min(2, (3)", 4..7, "`min(` is never closed"),
        ("(idx0 + 1)) * 2", 10..11, "expected an operator or the end of the text, found `)`"),
        ("(idx0, 1)", 5..6, "expected an operator or `)`, found `,`"),
        ("()", 1..2, "expected an expression, found `)`"),
        ("min(3)", 5..6, "expected `,` and another number for `min`, found `)`"),
        ("min()", 4..5, "expected an expression, found `)`"),
        ("abs(idx0)", 0..3, "expected `min` or `max`, found `abs`"),
        ("idx2 + 1", 0..4, "expected a variable, found `idx2`: did you mean `idx0`?"),
        ("lenght + 1", 0..6, "expected a variable, found `lenght`: did you mean `length`?"),
        ("true", 0..4, "expected a variable, found `true`: did you mean `True`?"),
        ("foo", 0..3, "expected a variable, found `foo`; there are idx0, idx1, length"),
        ("idx0 / 2", 5..6, "expected an operator, found `/`: did you mean `//`?"),
        ("idx0 ** 2", 5..7, "expected an operator, found `**`"),
        ("idx0 < 2 && True", 9..11, "expected an operator, found `&&`: did you mean `and`?"),
        ("!(idx0 < 2)", 0..1, "expected an expression, found `!`: did you mean `not`?"),
        ("idx0 = 2", 5..6, "expected an operator, found `=`: did you mean `==`?"),
        ("idx0 < 2 ? 1 : 2", 9..10, "expected an operator, found `?`: did you mean `if`?"),
        ("1 if idx0 < 2", 13..13, "expected `else`, found the end of the text"),
        ("(1 if idx0 < 2) else 3", 14..15, "expected `else`, found `)`"),
        ("1 if idx0 < 2 if True else 3", 14..16, "expected `else`, found `if`"),
        ("1 else 2", 2..6, "expected an operator or the end of the text, found `else`"),
        ("1 + if 2", 4..6, "expected an expression, found `if`"),
        ("9223372036854775808", 0..19, "`9223372036854775808` is past the range of 64-bit integers"),
        ("2 * -9223372036854775809", 5..24, "`9223372036854775809` is past the range of 64-bit integers"),
        ("1.5 * idx0", 0..3, "expected a whole number, found `1.5`"),
        ("12u", 0..3, "expected a whole number, found `12u`"),
        ("0x", 0..2, "expected a whole number, found `0x`"),
        ("3 + 010", 4..7, "expected a number without leading zeros, found `010`"),
        (
            "idx0 // idx1",
            5..7,
            "//: the divisor can be zero: it ranges from -5 to 4; its variables need ranges that leave 0 out",
        ),
        ("2 * (idx0 % 0)", 10..11, "%: the divisor is zero"),
        (
            "1 + length * 2",
            11..12,
            "*: the value ranges from 18446744073709551604 to 18446744073709551612, past the range of 64-bit integers",
        ),
        ("1 + (idx0 < 3)", 2..3, "+: a number is needed here, not a condition"),
        ("not idx0", 0..3, "not: a condition is needed here, not a number"),
        ("+True", 0..1, "+: a number is needed here, not a condition"),
        ("1 if idx0 else 2", 2..4, "if: a condition is needed here, not a number"),
        ("min(1, True)", 0..3, "min: a number is needed here, not a condition"),
        ("idx0 & 6", 5..6, "`&` needs a mask of low bits on its right: 1, 3, 7, 15 and so on"),
        ("3 & idx0", 2..3, "`&` needs a mask of low bits on its right: 1, 3, 7, 15 and so on"),
        ("idx0 >> 63", 5..7, "`>>` needs a constant on its right, from 0 to 62"),
        ("idx0 << idx1", 5..7, "`<<` needs a constant on its right, from 0 to 62"),
        ("idx0 | 3", 5..6, "`|` combines conditions: the bits of numbers that can be set in both are no sum"),
        ("idx0[3]", 4..5, "expected an operator, found `[`"),
        ("1 <= idx0 < True", 10..11, "<: a number is needed here, not a condition"),
    ];
    let c = [
        ("idx0 // 2", 5..7, "expected an operator, found `//`: did you mean `/`?"),
        ("0 <= idx0 < 3", 10..11, "C does not chain comparisons: write `a < b && b < c` for `a < b < c`"),
        ("idx0 == 1 == 2", 10..12, "C does not chain comparisons: write `a < b && b < c` for `a < b < c`"),
        ("idx0 < 3 == idx1", 9..11, "==: a number is needed here, not a condition"),
        ("idx0 < 3 and true", 9..12, "expected an operator, found `and`: did you mean `&&`?"),
        ("not true", 0..3, "expected a variable, found `not`: did you mean `!`?"),
        ("idx0 & 7 == 3", 5..6, "`&` needs a mask of low bits on its right: 1, 3, 7, 15 and so on"),
        ("--idx0", 0..2, "expected an expression, found `--`"),
        (
            "idx0 / idx1",
            5..6,
            "/: the divisor can be zero: it ranges from -5 to 4; its variables need ranges that leave 0 out",
        ),
        ("idx0 < 3 ? 1", 12..12, "expected `:`, found the end of the text"),
        ("(idx0 < 3 ? 1) : 2", 13..14, "expected `:`, found `)`"),
        ("idx0 ? 1 : 2", 5..6, "?: a condition is needed here, not a number"),
        (
            "(int)(length)",
            0..5,
            "`(int)` can change the value, which ranges from 9223372036854775802 to 9223372036854775806",
        ),
        ("2 + (unsigned long)idx1", 4..19, "`(unsigned long)` can change the value, which ranges from -5 to 4"),
        ("(short)idx1", 1..6, "expected a variable, found `short`; there are idx0, idx1, length"),
        ("(int)(idx0 < 2)", 0..5, "(int): a number is needed here, not a condition"),
    ];
    for (syntax, cases) in [(Syntax::Python, &python[..]), (Syntax::C, &c[..])] {
        for (text, span, message) in cases {
            let err = graph.parse(text, syntax).expect_err(text);
            assert_eq!((err.message(), err.span()), (*message, span.clone()), "{text}");
        }
    }
    let err = Graph::new().parse("a", Syntax::C).unwrap_err();
    assert_eq!(err.message(), "expected a variable, found `a`; there are none");
}

#[test]
fn text_nests_as_deep_as_it_likes() {
    // The longest of these texts is nearly as long as a text may be.
    const DEEP: usize = 20_000;
    for (syntax, open, middle, close) in [
        (Syntax::Python, "(", "idx0", ")"),
        (Syntax::Python, "-", "idx0", ""),
        (Syntax::Python, "not ", "idx0 < 3", ""),
        (Syntax::Python, "not (", "idx0 < 3", ")"),
        (Syntax::Python, "(1 + ", "idx0", ")"),
        (Syntax::Python, "1 + ", "idx0", ""),
        (Syntax::Python, "", "idx0", " + 1"),
        (Syntax::Python, "", "idx0", " // 2"),
        (Syntax::Python, "1 if idx0 < 3 else ", "idx0", ""),
        (Syntax::Python, "(", "idx0", " if idx0 < 3 else 3)"),
        (Syntax::Python, "(1 if ", "True", " else 2) < 3 and True"),
        (Syntax::Python, "True if ", "True", " else True"),
        (Syntax::Python, "min(", "idx0", ", 3)"),
        (Syntax::Python, "max(3, ", "idx0", ")"),
        (Syntax::Python, "", "idx0", " < idx0"),
        (Syntax::C, "!", "true", ""),
        (Syntax::C, "(int)-(", "idx0", ")"),
        (Syntax::C, "idx0 < 3 ? ", "idx0", " : 2"),
        (Syntax::C, "idx0 < 3 ? 1 : ", "idx0", ""),
        (Syntax::C, "", "idx0", " / 2"),
    ] {
        let mut graph = variables(&[(0, 9)]);
        let text = format!("{}{middle}{}", open.repeat(DEEP), close.repeat(DEEP));
        match graph.parse(&text, syntax) {
            Ok(expr) => {
                let printed = graph.text(expr, Syntax::Python).unwrap();
                assert_eq!(graph.parse(&printed, Syntax::Python), Ok(expr));
                let printed = graph.text(expr, Syntax::C).unwrap();
                assert!(graph.parse(&printed, Syntax::C).is_ok());
                assert!(graph.evaluate(expr, &[5]).is_ok());
                assert_eq!(graph.values(expr).unwrap().len(), 9);
            }
            Err(err) => {
                assert!(open.contains("if") && err.message().starts_with("expected `else`"), "{open}: {err}");
            }
        }
        let cut = &text[..text.len() / 2 - 1];
        assert!(graph.parse(cut, syntax).is_err() || open.is_empty() || close.is_empty(), "{open}");
    }
    let mut graph = variables(&[]);
    assert_eq!(graph.parse(&")".repeat(DEEP), Syntax::Python).unwrap_err().span(), 0..1);
    assert_eq!(graph.parse(&"(".repeat(DEEP), Syntax::Python).unwrap_err().span(), DEEP..DEEP);
}

#[test]
fn text_of_what_is_shared_has_an_end() {
    let mut graph = variables(&[(0, 9)]);
    let mut expr = graph.parse("idx0 % 2", Syntax::Python).unwrap();
    let two = graph.int(2);
    for _ in 0..60 {
        let sum = graph.binary(Binary::Add, expr, expr).unwrap();
        expr = graph.binary(Binary::Mod, sum, two).unwrap();
    }
    assert_eq!(
        graph.text(expr, Syntax::Python).unwrap_err().to_string(),
        "text: written out, the expression is longer than 16777216 bytes: what it shares would be repeated",
    );
    assert_eq!(graph.evaluate(expr, &[1]), Ok(0));
}

#[test]
fn values_are_refused_where_there_are_too_many() {
    let mut graph = variables(&[(0, 1 << 40), (0, 1 << 40)]);
    let x = graph.parse("idx0", Syntax::C).unwrap();
    assert_eq!(
        graph.values(x).unwrap_err().to_string(),
        "evaluate: the number of choices of the variables is past the range of 64-bit integers",
    );
    assert_eq!(
        graph.evaluate(x, &[1]).unwrap_err().to_string(),
        "evaluate: takes one value per variable: the graph has 2 but 1 was given",
    );
    assert_eq!(
        graph.evaluate_columns(&[x], &[&[1], &[1, 2]]).unwrap_err().to_string(),
        "evaluate: the columns must be of one length: the first has 1 values, another one 2",
    );
    assert!(graph.evaluate_columns(&[x], &[&[i64::MIN], &[i64::MIN]]).is_err());
    let mut graph = variables(&[(i64::MIN, i64::MAX)]);
    let x = graph.parse("idx0", Syntax::C).unwrap();
    assert!(graph.values(x).is_err());
    let mut graph = variables(&[(0, i64::MAX)]);
    let x = graph.parse("idx0", Syntax::C).unwrap();
    assert_eq!(graph.values(x).unwrap_err().to_string(), "evaluate: 9223372036854775807 values do not fit into memory",);
}

/// What the evaluator below divides with: the definition of the floor, and not the crate's own division.
fn floor(n: i128, d: i128) -> i128 {
    n / d - i128::from(n % d != 0 && (n < 0) != (d < 0))
}

/// The value of a linear form, from its terms.
fn of_form(form: &Linear, at: &[i64], floors: &[i128]) -> i128 {
    let value = |term: &Term| match term {
        Term::Variable(place) => i128::from(at[*place]),
        Term::Floor(place) => floors[*place],
    };
    form.terms().iter().map(|(term, by)| value(term) * i128::from(*by)).sum::<i128>() + i128::from(form.constant())
}

#[test]
fn quasi_affine_forms_have_the_values_of_their_expressions() {
    let mut rng = Rng(0x51);
    let (mut found, mut guarded, mut none) = (0, 0, 0);
    for _ in 0..1500 {
        let mut graph = Graph::new();
        for name in ["x", "y", "z"] {
            let begin = rng.below(9) as i64 - 5;
            graph.variable(name, begin..begin + 1 + rng.below(6) as i64).unwrap();
        }
        let (numbers, conditions) = random(&mut rng, &mut graph, 20);
        let (index, mut valid) = (pick(&mut rng, &numbers), pick(&mut rng, &conditions));
        if rng.below(2) == 0 {
            // Random conditions hold nearly always or nearly never; this one cuts through the values of a number.
            let number = pick(&mut rng, &numbers);
            let middle = graph.range(number).0.midpoint(graph.range(number).1);
            valid = graph.within(number, middle, middle.saturating_add(3)).unwrap();
        }
        let Some(forms) = graph.quasi_affine(index, valid).unwrap() else {
            none += 1;
            continue;
        };
        found += 1;
        guarded += usize::from(!forms.conditions().is_empty());
        let ranges: Vec<_> = graph.variables().iter().map(|variable| variable.range.clone()).collect();
        for x in ranges[0].clone() {
            for y in ranges[1].clone() {
                for z in ranges[2].clone() {
                    let at = [x, y, z];
                    let mut floors = Vec::new();
                    for floor_ in forms.floors() {
                        let numerator = of_form(&floor_.numerator, &at, &floors);
                        floors.push(floor(numerator, floor_.divisor.into()));
                    }
                    let holds = forms.conditions().iter().all(|condition| {
                        let value = of_form(&condition.form, &at, &floors);
                        condition.least.is_none_or(|least| value >= least.into())
                            && condition.most.is_none_or(|most| value <= most.into())
                    });
                    let found = forms.value().filter(|_| holds).map(|form| of_form(form, &at, &floors));
                    let expected = (value(&graph, valid, &at) == 1).then(|| value(&graph, index, &at).into());
                    assert_eq!(found, expected, "{forms:?} at {at:?}");
                    assert_eq!(forms.evaluate(&at), expected);
                }
            }
        }
    }
    assert!(found > 500 && guarded > 100 && none > 50, "{found} {guarded} {none}");
}

#[test]
fn imported_expressions_have_the_values_of_what_is_put_in() {
    let mut rng = Rng(0x1f);
    let mut moved = 0;
    for _ in 0..300 {
        let mut inner = Graph::new();
        inner.variable("a", -4..5).unwrap();
        inner.variable("b", 0..7).unwrap();
        let (numbers, _) = random(&mut rng, &mut inner, 12);
        let root = pick(&mut rng, &numbers);
        // a is x - 4, and b is x % 7: both inside of their ranges.
        let mut graph = Graph::new();
        graph.variable("x", 0..9).unwrap();
        let put_in = ["x - 4", "x % 7"].map(|text| graph.parse(text, Syntax::Python).unwrap());
        let new = graph.import(&inner, &[root, root], |_, place| Ok(put_in[place])).unwrap();
        assert_eq!(new[0], new[1]);
        for x in 0..9i64 {
            assert_eq!(value(&graph, new[0], &[x]), value(&inner, root, &[x - 4, x % 7]));
        }
        let same = inner.clone().import_all(&inner, &[root]).unwrap();
        assert_eq!(same, [root]);
        moved += 1;
    }
    assert_eq!(moved, 300);
}

#[test]
fn handles_of_another_graph_are_refused() {
    let mut large = Graph::new();
    let x = large.variable("x", 0..9).unwrap();
    let far = large.parse("x * 3 + 1 < 5 and x > 2", Syntax::Python).unwrap();
    let mut small = Graph::new();
    let (one, yes) = (small.int(1), small.bool(true));
    refuse(&mut small, (one, yes), &large, x, far);
    // A graph in which all of those places are taken, too, and by the very same expressions.
    let mut equal = Graph::new();
    let (one, yes) = (equal.int(1), equal.bool(true));
    equal.variable("x", 0..9).unwrap();
    equal.parse("x * 3 + 1 < 5 and x > 2", Syntax::Python).unwrap();
    equal.parse("x * 7 + 5 < 8 and x // 3 > 2", Syntax::Python).unwrap();
    refuse(&mut equal, (one, yes), &large, x, far);
}

/// Whatever a graph is asked about a handle of another one is an error, or a panic where there is no `Result`.
fn refuse(small: &mut Graph, (one, yes): (Expr, Expr), large: &Graph, x: Expr, far: Expr) {
    let foreign = |err: Error| assert_eq!(err.kind(), ErrorKind::ForeignExpression, "{err}");
    foreign(small.binary(Binary::And, yes, far).unwrap_err());
    foreign(small.within(far, 0, 1).unwrap_err());
    foreign(small.not(far).unwrap_err());
    foreign(small.select(far, one, one).unwrap_err());
    foreign(small.select(yes, one, far).unwrap_err());
    foreign(small.text(far, Syntax::C).unwrap_err());
    foreign(small.text_pieces(far, Syntax::C, |_| false).unwrap_err());
    foreign(small.lines(&[("far", far)], Syntax::C).unwrap_err());
    foreign(small.evaluate(far, &[]).unwrap_err());
    foreign(small.evaluate_columns(&[far], &[]).unwrap_err());
    foreign(small.values(far).unwrap_err());
    foreign(small.quasi_affine(one, far).unwrap_err());
    foreign(large.clone().import(small, &[far], |_, _| Ok(x)).unwrap_err());
    foreign(IndexExpr::new(small.clone(), one, far, []).unwrap_err());
    let asked: [fn(&mut Graph, Expr); 8] = [
        |graph, expr| _ = graph.node(expr),
        |graph, expr| _ = graph.range(expr),
        |graph, expr| _ = graph.is_condition(expr),
        |graph, expr| _ = graph.parts(&[expr]),
        |graph, expr| _ = graph.cost(&[expr]),
        |graph, expr| _ = graph.simplify(expr),
        |graph, expr| _ = graph.extremes(expr, None),
        |graph, expr| _ = graph.code(crate::Language::C, &[("far", expr)]),
    ];
    for ask in asked {
        let mut graph = small.clone();
        assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| ask(&mut graph, far))).is_err());
    }
}

/// A clone knows the handles that were made before it, and no others; nor does the first graph know those of the clone.
#[test]
fn clones_share_what_was_made_before_them() {
    let mut first = Graph::new();
    let x = first.variable("x", 0..9).unwrap();
    let mut second = first.clone();
    let square = first.parse("x * x", Syntax::Python).unwrap();
    let double = second.parse("x * 2", Syntax::Python).unwrap();
    let two = second.int(2);
    let third = second.clone();
    let text = |graph: &Graph, expr| graph.text(expr, Syntax::Python).map_err(|err| err.kind());
    for graph in [&first, &second, &third] {
        assert_eq!(text(graph, x).unwrap(), "x");
    }
    assert_eq!((text(&first, square).unwrap(), text(&second, double).unwrap()), ("x * x".into(), "x * 2".into()));
    assert_eq!((text(&third, double).unwrap(), text(&third, two).unwrap()), ("x * 2".into(), "2".into()));
    assert_eq!(text(&first, double).unwrap_err(), ErrorKind::ForeignExpression);
    assert_eq!(text(&second, square).unwrap_err(), ErrorKind::ForeignExpression);
    assert_eq!(text(&third, square).unwrap_err(), ErrorKind::ForeignExpression);
    // What the operands of a clone's expressions are told as are the handles that were there before.
    assert_eq!(third.node(double), Node::Binary(Binary::Mul, x, two));
    let mut fourth = third.clone();
    assert_eq!(fourth.parse("x * 2", Syntax::Python).unwrap(), double);
    assert_eq!(fourth.variable("x", 0..9).unwrap(), x);
}

#[test]
fn names_are_those_that_can_be_read_again() {
    let mut graph = Graph::new();
    for name in ["and", "min", "True", "true", "", "2x", "a b", "x-y", "x.y", "x\n"] {
        let err = graph.variable(name, 0..2).unwrap_err();
        assert_eq!(err.kind(), ErrorKind::Name, "{name}");
    }
    for name in ["x", "_", "idx0", "größe", "T1_"] {
        let variable = graph.variable(name, 0..2).unwrap();
        for syntax in [Syntax::Python, Syntax::C] {
            let text = graph.text(variable, syntax).unwrap();
            assert_eq!(graph.parse(&text, syntax).unwrap(), variable);
        }
    }
}

/// More elements than there are numbers make no kernel fail.
#[test]
fn kernels_of_too_many_elements() {
    let mut graph = Graph::new();
    let all: Vec<_> = ["a", "b", "c"].map(|name| graph.variable(name, 0..1 << 30).unwrap()).into();
    let always = graph.bool(true);
    for index in all {
        let code = crate::IndexExpr::new(graph.clone(), index, always, [1 << 30; 3]).unwrap();
        for language in [crate::Language::Cuda, crate::Language::OpenCl] {
            assert!(code.kernel(language).unwrap().contains("gather"));
        }
    }
}
