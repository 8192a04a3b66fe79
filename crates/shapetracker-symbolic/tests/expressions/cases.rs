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
    ("H=8*h, h=1..", "(x*H + 3) // 8", "h * x"),
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
