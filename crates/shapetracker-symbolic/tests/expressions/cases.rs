//! Cases with names, as people ask them.

use indexpr::Syntax;
use shapetracker_symbolic::Question;

/// What is said of names, an expression, and what it becomes.
const CASES: &[(&str, &str, &str)] = &[
    ("d=1.., y=..", "y*d // d", "y"),
    ("", "y*d // d", "y"),
    ("", "FloorDiv(y*d, d)", "y"),
    ("d=1.., x=..", "(x % d) % d", "x % d"),
    ("d=1.., x=..", "x // d * d + x % d", "x"),
    ("d=1.., x=..", "x - x // d * d", "x % d"),
    ("t=0..32, B=1..", "(a*32 + t) // (256*B)", "a // (8 * B)"),
    ("t=0..T", "(b*T + t) // T", "b"),
    ("t=0..T", "(b*T + t) % T", "t"),
    ("Z=1.., z=0..Z", "z < Z", "True"),
    ("z=0..Z", "z >= Z", "False"),
    ("z=0..Z", "min(z, Z)", "z"),
    ("z=0..Z", "max(z, Z)", "Z"),
    ("z=0..Z", "min(z, Z - 1) % Z", "z"),
    ("H=8*h, h=1..", "H // 8", "h"),
    ("H=8*h, h=1..", "H % 8", "0"),
    ("H=8*h, h=1..", "(x*H + 3) // 8", "x * h"),
    ("H=8*h, h=1..", "h*8*x + h*8", "(x + 1) * H"),
    ("p % 2 == 0, p=0..", "p % 2", "0"),
    ("p % 2 == 0, p=0..", "p // 2 * 2", "p"),
    ("p % 2 == 0, p=0..", "(p + 1) // 2 * 2 + x", "x + p"),
    ("st % 8 == 0, st=..", "st % 8", "0"),
    ("st % 8 == 0, st=..", "(st + 3) % 8", "3"),
    ("s + L <= N, s=0.., L=1.., i=0..L", "(s + i) % N", "s + i"),
    ("s + L <= N, s=0.., L=1.., i=0..L, b=0..", "(b*N + s + i) // N", "b"),
    ("x=..", "x % 6 // 3", "x // 3 % 2"),
    ("b=0..", "b // 4 % 64 // 8", "b // 32 % 8"),
    ("x=..", "x % 2 + (x + 1) % 2", "1"),
    ("x=..", "(x+1)//2 + x//2", "x"),
    ("x=.., s=.., y=..", "(x + s*2*y) % 2", "x % 2"),
    ("x=.., y=..", "min(x, y, x)", "min(x, y)"),
    ("x=.., y=..", "min(x, max(x, y))", "x"),
    ("x=..", "x + x // -7 * 7", "x % -7"),
    ("N=1.., i=..", "0 <= min(max(i, 0), N - 1) < N", "True"),
    ("N=1..", "i if i < N else N", "min(N, i)"),
    ("B=1.., T=1.., b=0..B, t=0..T", "b*T + t < B*T", "True"),
    ("B=1.., T=1.., H=1.., b=0..B, t=0..T, h=0..H", "((b*T + t)*H + h) // (T*H)", "b"),
    ("B=1.., T=1.., H=1.., b=0..B, t=0..T, h=0..H", "((b*T + t)*H + h) // H % T", "t"),
    ("d=1.., e=1.., x=..", "x // d // e", "x // (d * e)"),
    ("d=1.., e=1.., x=..", "x // d % e", "x // d % e"),
    ("d=1.., x=..", "x // d >= 3", "x >= 3 * d"),
    ("d=1.., x=..", "(x + d) // d", "(x + d) // d"),
    ("d=1.., x=0..", "x // d <= x", "True"),
    ("d=1.., x=..", "x % d < d", "True"),
    ("d != 0", "y*d // d", "y"),
    ("d != 0", "(y*d + d) // d * 2", "(y + 1) * 2"),
    ("d != 0", "x - x // d * d", "x % d"),
    ("d != 0", "(x % d) % d", "x % d"),
    ("x=0..2*N", "x % N if x < N else x - N", "x if x < N else x - N"),
    ("x0=0..s0*s1", "ModularIndexing(x0, s0, s1)", "x0 // s0"),
    ("x=0..n*m", "x // n % m * n + x % n", "x"),
    ("N=1.., x=..", "(x + N - 1) // N * N >= x", "True"),
];

#[test]
fn named_cases_become_what_is_expected() {
    let mut wrong = Vec::new();
    for (known, text, expected) in CASES {
        let expression = Question::new([known]).and_then(|mut question| question.expression(text, Syntax::Python));
        let expression = expression.unwrap_or_else(|err| panic!("{known}: {text}: {err}"));
        let simple = expression.simplify();
        let found = simple.text(Syntax::Python).unwrap();
        if found != *expected {
            wrong.push(format!("{known}: {text}: {found}, not {expected}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn where_all_is_numbers_the_answer_is_that_of_numbers() {
    let cases = [
        ("x=0..100, y=0..4", "(x*4 + y) // 4 + x % 6 // 3"),
        ("x=0..102", "x // 7 + x % 7"),
        ("x=-9..102, y=3..9", "min(x, y, x) * 3 - max(x, y) * 3"),
        ("a=0..16, b=0..3", "(8*a + b + 255) // 256 if a + b >= 1 else 0"),
    ];
    for (known, text) in cases {
        let expression = Question::new([known]).unwrap().expression(text, Syntax::Python).unwrap();
        let mut graph = expression.graph().clone();
        let simple = graph.simplify(expression.value());
        assert_eq!(expression.simplify().text(Syntax::Python), graph.text(simple, Syntax::Python), "{text}");
        assert!(expression.is_bounded());
    }
}

#[test]
fn a_condition_that_is_given_is_used_and_made_cheaper_itself() {
    let simple = |known: &str, text, given| {
        let mut question = Question::new([known]).unwrap();
        let expression = question.expression(text, Syntax::Python).unwrap().given(given, Syntax::Python).unwrap();
        let simple = expression.simplify();
        let condition = simple.graph().text(simple.condition().unwrap(), Syntax::Python).unwrap();
        (simple.text(Syntax::Python).unwrap(), condition)
    };
    let pair = |value: &str, condition: &str| (value.to_owned(), condition.to_owned());
    assert_eq!(simple("N=1.., i=..", "i % N", "0 <= i < N and i < N + 1"), pair("i", "i >= 0 and i < N"));
    assert_eq!(simple("T=1.., x=..", "x // T", "x // T == 3 and x >= 0"), simple("T=1.., x=..", "3", "x // T == 3"));
    assert_eq!(simple("z=0..Z", "min(z, Z)", "z < Z"), pair("z", "True"));
}

#[test]
fn what_is_wrong_is_said_at_its_place() {
    let message = |known: &[&str], text| {
        let read = Question::new(known).and_then(|mut question| question.expression(text, Syntax::Python));
        read.expect_err("a mistake").to_string()
    };
    assert_eq!(
        message(&["x=0..4"], "x + z"),
        "nothing is said of `z`: say its range, such as `z=0..8`, or `z=..`\n  x + z\n      ^"
    );
    assert_eq!(
        message(&["index=0.., d=1.."], "indx // d"),
        "nothing is said of `indx`: did you mean `index`?\n  indx // d\n  ^^^^"
    );
    assert_eq!(
        message(&["d=-3.."], "1 + x % d"),
        "%: the divisor can be zero: say `d=1..`, or `d != 0`\n  1 + x % d\n        ^"
    );
    // What a graph takes for ranges that are made smaller is no proof: x + 5 is 0 for x = -5.
    assert!(message(&["x=.."], "1 // (x*x*x*x*x*x*x*x*x*x*x*x*x*x*x*x + 5*x)").contains("can be zero"));
    assert!(message(&["d != 0"], "CeilDiv(x, d)").contains("depends on the sign of d"));
    assert!(message(&["x=1.., x < 1"], "x").contains("no values of the names satisfy this"));
}

#[test]
fn found_by_random_cases_what_a_condition_says_of_a_name_is_put_into_quotients_of_it() {
    // Where `u < 0 and u % 2 != 0` holds, `u` is solved: `2*(u // 2) + 1`.
    let expression = Question::new(["u=.."]).unwrap().expression("(u*5 + u) / 4", Syntax::C).unwrap();
    let simple = expression.simplify();
    for u in -20..20 {
        assert_eq!(simple.graph().evaluate(simple.value(), &[u]), Ok(u * 6 / 4), "{u}");
    }
}
