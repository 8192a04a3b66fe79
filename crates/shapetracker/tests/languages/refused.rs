//! What a language has not, and expressions of any size.

use shapetracker::ShapeTracker;
use shapetracker::expr::{Binary, Graph, Language, Syntax};
use shapetracker_testing::is_held;

fn refusal(text: &str, language: Language) -> String {
    let mut graph = Graph::new();
    graph.variable("x", 0..10).expect("the range is not empty");
    graph.variable("y", 1..10).expect("the range is not empty");
    let expr = graph.parse(text, Syntax::Python).expect("the text is an expression");
    graph.code(language, &[("f", expr)]).expect_err(text).to_string()
}

#[test]
fn what_is_not_affine_is_refused_with_the_reason() {
    for (text, what) in [
        ("x * y", "the product of two values that vary"),
        ("x // y", "division by anything but a positive constant"),
        ("x % -3", "division by anything but a positive constant"),
        ("min(x, y)", "a minimum or a maximum"),
        ("x ^ y", "an exclusive or"),
        ("x if y < 3 else 0", "a choice between two values"),
        ("x < 3 or y < 3", "a disjunction"),
        ("x != 3", "a disjunction"),
        ("not (2 <= x < 4)", "a disjunction"),
        ("not (x < 3 and y < 3)", "a disjunction"),
    ] {
        let message = refusal(text, Language::Mlir);
        assert!(message.starts_with(&format!("mlir: {what} is not affine; ")), "{text}: {message}");
    }
}

#[test]
fn affine_conditions_are_sets() {
    let mut graph = Graph::new();
    graph.variable("x", 0..10).expect("the range is not empty");
    graph.variable("y", 1..10).expect("the range is not empty");
    for (text, set) in [
        ("x < y", "y - x - 1 >= 0"),
        ("2 <= x + y < 7 and x * 3 == y", "x + y - 2 >= 0, 6 - (x + y) >= 0, x * 3 - y == 0"),
        ("not (x < 3 or y < 3)", "x - 3 >= 0, y - 3 >= 0"),
        ("not x != y", "x - y == 0"),
        ("x < 10", "0 == 0"),
        ("x < 0", "1 == 0"),
        ("x // 3 <= (y - 1) % 4", "(y - 1) mod 4 - x floordiv 3 >= 0"),
    ] {
        let expr = graph.parse(text, Syntax::Python).expect("the text is an expression");
        let code = graph.code(Language::Mlir, &[("f", expr)]).expect("the condition is affine");
        assert_eq!(code, format!("#f = affine_set<(x, y) : ({set})>\n"));
    }
}

#[test]
fn numbers_past_a_language_are_refused_with_the_numbers() {
    assert_eq!(
        refusal("x * 3000000000", Language::Wgsl),
        "wgsl: its integers have 32 bits, and a value ranges from 0 to 27000000000; \
         move the start of the buffer or split the tensor so that all values fit",
    );
    // Few addresses, but many elements.
    let many = ShapeTracker::contiguous([1, 1]).and_then(|st| st.expand([100_000, 100_000])).expect("a broadcast");
    let code = many.index_expr().expect("all values fit");
    assert_eq!(
        code.kernel(Language::Metal).unwrap_err().to_string(),
        "metal: 10000000000 elements are more than the 4294967295 that one grid can have; split the tensor",
    );
    assert!(code.kernel(Language::Wgsl).unwrap_err().to_string().contains("from 0 to 10000000000"));
    assert!(code.kernel(Language::Cuda).expect("CUDA has 64 bits").contains("const unsigned long long gid"));
    assert!(code.kernel(Language::Mlir).unwrap_err().to_string().starts_with("mlir: there are no kernels"));
}

#[test]
fn deep_expressions_are_written_in_no_time() {
    let mut graph = Graph::new();
    let x = graph.variable("x", 0..10).expect("the range is not empty");
    let (seven, ten) = (graph.int(7), graph.int(10));
    let mut expr = x;
    for _ in 0..50_000 {
        expr = graph.binary(Binary::Sub, ten, expr).expect("the value fits");
        expr = graph.binary(Binary::Mod, expr, seven).expect("the value fits");
    }
    let condition = graph.within(expr, 1, 3).expect("a number lies in a range");
    for (_, &language) in (0..).zip(Language::ALL).filter(|(number, _)| is_held(*number)) {
        let code = graph.code(language, &[("f", expr), ("g", condition)]);
        match language {
            Language::Mlir => assert!(code.unwrap_err().to_string().contains("more than 1000 operations")),
            _ => assert!(code.expect("there is nothing that the language has not").len() > 500_000),
        }
    }
}

#[test]
fn shared_expressions_are_written_once() {
    let mut graph = Graph::new();
    let x = graph.variable("x", 0..2).expect("the range is not empty");
    let mut expr = x;
    for _ in 0..60 {
        expr = graph.binary(Binary::Add, expr, expr).expect("the value fits");
    }
    let code = graph.code(Language::C, &[("f", expr)]).expect("C has 64 bits");
    assert_eq!(code.lines().count(), 60);
    let first = "const unsigned long long t0 = (unsigned long long)x + x;\nconst unsigned long long t1 = t0 + t0;\n";
    assert!(code.starts_with(first), "{code}");
    let refused = graph.code(Language::Mlir, &[("f", expr)]).unwrap_err().to_string();
    assert_eq!(
        refused,
        "mlir: affine expressions cannot share parts, and written out this one has more than 1000 operations; \
         simplify it, or choose a language with variables",
    );
}

#[test]
fn names_that_are_taken_are_not_given_again() {
    let mut graph = Graph::new();
    let x = graph.variable("t0", 0..5).expect("the range is not empty");
    let one = graph.int(1);
    let sum = graph.binary(Binary::Add, x, one).expect("the value fits");
    let square = graph.binary(Binary::Mul, sum, sum).expect("the value fits");
    let code = graph.code(Language::Python, &[("t1", square)]).expect("Python has all of it");
    assert_eq!(code, "t2 = t0 + 1\nt1 = t2 * t2\n");
}
