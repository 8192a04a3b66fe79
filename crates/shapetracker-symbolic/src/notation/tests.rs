use shapetracker::{Chain as Integers, ShapeTracker};

use super::*;
use crate::operation::{Movement, movement_at};

/// The start and the operations of a chain, as text.
fn read(text: &str) -> String {
    let mut question = Question::default();
    let chain = question.chain(text).unwrap_or_else(|err| panic!("{err}"));
    let scope = question.scope().unwrap_or_else(|err| panic!("{err}"));
    let polys = |list: &[Poly]| list.iter().map(|poly| scope.text(poly)).collect::<Vec<_>>().join(", ");
    let mut shown = match chain.start() {
        ChainStart::Nothing => "_".into(),
        ChainStart::Shape(shape) => format!("({})", polys(shape)),
        ChainStart::Views(views) => views.iter().rev().map(|view| view.text(&scope)).collect::<Vec<_>>().join(" over "),
        _ => panic!("{text}"),
    };
    for (number, op) in chain.ops().iter().enumerate() {
        assert!(text.get(chain.span(number)).is_some());
        shown += &format!(".{}", scope.movement(op));
    }
    shown
}

fn error(text: &str) -> String {
    Question::default().chain(text).unwrap_err().to_string()
}

fn given(text: &str, chain: &str) -> Result<String, String> {
    let mut question = Question::new([text]).map_err(|err| err.to_string())?;
    question.chain(chain).map_err(|err| err.to_string())?;
    let scope = question.scope().map_err(|err| err.to_string())?;
    let end = |end: Option<i128>| end.map_or(String::new(), |end| end.to_string());
    let names = scope.names().iter().map(|name| format!("{}={}..{}", name.name, end(name.lo), end(name.hi)));
    let defined = scope.definitions().iter().map(|(name, poly)| format!("{name}={}", scope.text(poly)));
    let conditions = scope.given().iter().map(|literal| literal.text(&scope));
    Ok(names.chain(defined).chain(conditions).collect::<Vec<_>>().join(", "))
}

#[test]
fn chains_are_read() {
    for (text, expected) in [
        ("(B, T, 3*H*D).reshape(B, T, 3, H, D)", "(B, T, 3*H*D).reshape(B, T, 3, H, D)"),
        ("(H, T):(1, H) offset 2*s mask ((0, H), (1, T))", "(H, T):(1, H) offset 2*s mask ((0, H), (1, T))"),
        ("(N, D).shrink((s, s + L), (0, D))", "(N, D).shrink((s, s + L), (0, D))"),
        ("((B+1)*T, 2*(H - 1)**2)", "(B*T + T, 2*H**2 + 2 - 4*H)"),
        ("(B*T).reshape(((B), T))", "(B*T).reshape(B, T)"),
        ("(T,).reshape((T - 1 + 1))", "(T).reshape(T)"),
        ("(B, T) . reshape([-1, T],)", "(B, T).reshape(-1, T)"),
        (
            "(B, T).reshape(shape=(T, B)).flip(dims=[0]).flip(True, False)",
            "(B, T).reshape(T, B).flip(0).flip(True, False)",
        ),
        ("(N).pad((p, p))", "(N).pad((p, p))"),
        ("(N).pad(((p + 1)*2, q))", "(N).pad((2*p + 2, q))"),
        ("(N, M).pad(((p, p), None))", "(N, M).pad((p, p), (0, 0))"),
        ("(N, M).pad([p, 0], [0, q])", "(N, M).pad((p, 0), (0, q))"),
        (
            "(N, M).slice(s:s+L, :).slice(::-1, -2:).slice((:, 1:))",
            "(N, M).slice(s:s + L, :).slice(::-1, -2:).slice(:, 1:)",
        ),
        (
            "(N, 1).expand(-1, K).squeeze(1).unsqueeze(0).squeeze().squeeze(())",
            "(N, 1).expand(-1, K).squeeze(1).unsqueeze(0).squeeze().squeeze(())",
        ),
        ("(N).as_strided((N - K + 1, K), (1, 1))", "(N).as_strided((N + 1 - K, K), (1, 1))"),
        ("(N).as_strided(size=(N,), stride=[2], storage_offset=s)", "(N).as_strided((N,), (2,), s)"),
        ("View(shape=(2, T), strides=(T, 1), offset=0, mask=None, contiguous=True)", "(2, T):(T, 1)"),
        (
            "ShapeTracker(views=(View(shape=(T, 2), strides=(2, 1)), View(shape=(2, T), strides=(1, 2), offset=s),)).flip(0)",
            "(2, T):(1, 2) offset s over (T, 2):(2, 1).flip(0)",
        ),
        ("(2, T):(1, 2) over (T, 2):(2, 1)", "(2, T):(1, 2) over (T, 2):(2, 1)"),
        ("View((T,), (1,)), View((T,), (1,))", "(T,):(1,) over (T,):(1,)"),
        ("((T, 2), (1, T), s)", "(T, 2):(1, T) offset s"),
        ("((2, 4), T):((1, 16), 2)", "(8, T):(T, 1) over (4, 2, T):(16, 1, 2)"),
        ("T:1", "_"),
        ("torch.zeros(B, T).view(B, T//1)", "(B, T).reshape(B, T)"),
        ("y = (B, T); y.T", "(B, T).permute(1, 0)"),
        ("x = torch.zeros(B, T)\nB, T = x.shape\nx.view(T * B)", "(B, T).reshape(B*T)"),
        ("torch.zeros(B, T).transpose(0, 1).expand(2, T, B)", "(B, T).transpose(0, 1).broadcast_to(2, T, B)"),
        ("np.arange(N).reshape(2, -1).transpose(1, 0).T", "(N).reshape(2, -1).permute(1, 0).permute(1, 0)"),
        ("x.permute(1, 0)", "_.permute(1, 0)"),
        ("reshape(B*T)", "_.reshape(B*T)"),
        (
            "(B, T).mT.t().moveaxis(0, -1)[s, 1:T, None, ...].flatten(0, 1)",
            "(B, T).transpose(-2, -1).permute(1, 0).permute(1, 0).slice(s:s + 1, 1:T).reshape(T - 1, 1).reshape(T - 1)",
        ),
        ("(_2, _3):(_1, T)", "(2, 3):(1, T)"),
        ("()", "()"),
    ] {
        if text != "T:1" {
            assert_eq!(read(text), expected, "{text}");
        }
    }
}

/// What is read without names means what the integer library means by it.
#[test]
fn numbers_are_read_as_the_integer_library_reads_them() {
    for text in [
        "(3, 2).permute(1, 0).reshape(3, 2)",
        "(8, 4, 6, 6).pad((0, 0), (0, 0), (1, 1), (1, 1)).shrink((0, 8), (0, 4), (0, 7), (1, 8)).flip(2, 3)",
        "(1, 4).expand(3, 4).step(1, -2)",
        "(4, 6).slice(1:, ::-2).unsqueeze(-1)",
        "(4, 6).slice(1:2, ::-2).squeeze()",
        "(3, 2):(1, 3) offset 4 mask ((0, 2), (0, 2)).transpose(0, -1)",
        "(1, 12).squeeze(0).as_strided((3, 2), (1, 1), 2).broadcast_to(5, 3, 2).flip(True, False, True)",
        "View(shape=(2, 3), strides=(1, 2), offset=0, mask=None).reshape(-1)",
    ] {
        let integers: Integers = text.parse().unwrap();
        let chain = Question::default().chain(text).unwrap();
        let start = match chain.start() {
            ChainStart::Shape(shape) => {
                let sizes: Vec<i64> = shape.iter().map(|size| size.number().unwrap() as i64).collect();
                ShapeTracker::contiguous(sizes).unwrap()
            }
            ChainStart::Views(views) => {
                ShapeTracker::from_views(views.iter().map(|view| view.at(&[]).unwrap()).collect::<Vec<_>>()).unwrap()
            }
            _ => panic!("{text}"),
        };
        let tracker =
            (chain.ops().iter()).fold(start, |tracker, op| tracker.apply(&movement_at(op, &[]).unwrap()).unwrap());
        assert_eq!(tracker, integers.tracker().unwrap(), "{text}");
    }
}

#[test]
fn mistakes_have_their_place() {
    for (text, expected) in [
        (
            "(N, H//8)",
            "the quotient is not known for all values: say that `H = 8*h`, and write `h` for the quotient\n  (N, H//8)\n       ^^",
        ),
        (
            "(n / 2)",
            "the quotient is not known for all values: say that `n = 2*n_2`, and write `n_2` for the quotient\n  (n / 2)\n     ^",
        ),
        (
            "(b, c // n_head)",
            "the quotient is not known for all values: say that `c = n_head*c_n_head`, and write `c_n_head` for the quotient\n  (b, c // n_head)\n        ^^",
        ),
        (
            "(B, T).reshape(B*T % 4)",
            "the remainder is not known for all values: say that `T = 4*t`, and write `t` for the quotient\n  (B, T).reshape(B*T % 4)\n                     ^",
        ),
        (
            "(B, T).premute(1, 0)",
            "expected an operation, found `premute`: did you mean `permute`?\n  (B, T).premute(1, 0)\n         ^^^^^^^",
        ),
        (
            "(B, T).narrow(1, 0)",
            "expected a number for `length`, found `)`\n  (B, T).narrow(1, 0)\n                    ^",
        ),
        ("(B, T", "expected `,` or `)`, found the end of the text\n  (B, T\n       ^"),
        ("(B, 2T)", "expected a size, which is a whole number or has names, found `2T`\n  (B, 2T)\n      ^^"),
        (
            "(B, lambda)",
            "`lambda` cannot be the name of a size: it is a keyword of Python\n  (B, lambda)\n      ^^^^^^",
        ),
        ("(B, idx0)", "`idx0` cannot be the name of a size: it is the name of an index\n  (B, idx0)\n      ^^^^"),
        ("(B, True)", "expected a size, found `True`\n  (B, True)\n      ^^^^"),
        (
            "(B, min(T, 3))",
            "expected a size, found `min`: sizes are made of names and numbers with + - * and **\n  (B, min(T, 3))\n      ^^^",
        ),
        (
            "(B, T).permute(B, 0)",
            "expected an axis, which is a whole number without names\n  (B, T).permute(B, 0)\n                 ^",
        ),
        ("(B, T**n)", "expected an exponent, which is a number from 0 to 16, found `n`\n  (B, T**n)\n         ^"),
        (
            "(B, T**9*T**8)",
            "a coefficient leaves 128 bits, or a product has more than 16 factors\n  (B, T**9*T**8)\n      ^^^^^^^^^",
        ),
        (
            "(170141183460469231731687303715884105728)",
            "expected a size within the range of 128-bit integers, found `170141183460469231731687303715884105728`\n  (170141183460469231731687303715884105728)\n   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        ),
        (
            "(2, T):(1)",
            "view: takes one stride per axis: the tensor has 2 axes but 1 was given\n  (2, T):(1)\n  ^^^^^^^^^^",
        ),
        (
            "(B, T)[..., ...]",
            "`...` stands for all axes that are not named, so that it can stand only once\n  (B, T)[..., ...]\n              ^^^",
        ),
        (
            "(B, T).reshape(size=B, shape=T)",
            "expected a size, or one of the names `shape`, `size`, `dim`, `dims`, `axis`, `axes` in front of all of them, found `shape`\n  (B, T).reshape(size=B, shape=T)\n                         ^^^^^",
        ),
    ] {
        assert_eq!(error(text), expected, "{text}");
    }
}

#[test]
fn nothing_takes_long() {
    let deep = format!("(2*{}T{})", "(".repeat(90), ")".repeat(90));
    assert!(error(&deep).starts_with("this nests deeper than the 32 levels"));
    let many: Vec<String> = (0..129).map(|name| format!("n{name}")).collect();
    assert!(error(&format!("({})", many.join("*"))).starts_with("a coefficient leaves"));
    assert!(error(&format!("({})", many.join("+"))).starts_with("there are more than 128 names"));
    let sum = many[..128].join("+");
    assert!(error(&format!("(({sum})**16)")).starts_with("a polynomial of "));
    assert!(error(&format!("({})", "a*b+".repeat(1 << 17))).starts_with("expected a number"));
    let long = format!("(a**16*{}{sum})", format!("({sum})+").repeat(2000));
    assert!(Question::default().chain(&long).is_err());
    assert!(error(&"(".repeat(1 << 19)).starts_with("expected"));
    assert!(error(&"[".repeat(1 << 19)).starts_with("expected"));
    assert!(error(&format!("(T){}", "[".repeat(1 << 19))).starts_with("expected"));
    assert!(error(&format!("(T).pad({}", "(".repeat(1 << 19))).starts_with("this nests deeper than the 32 levels"));
    // Definitions that multiply what they stand for come to their end, too.
    let doubled: Vec<String> = (1..60).map(|n| format!("d{n} = d{}+d{}*x{n}", n - 1, n - 1)).collect();
    let mut question = Question::new([doubled.join(", ")]).unwrap();
    assert!(question.chain("(d59)").is_err());
}

#[test]
fn what_is_said_of_names() {
    let chain = "(B, T, H*D).shrink((0, B), (s, s+L), (0, x)).as_strided((p), (q))";
    for (text, expected) in [
        ("", "B=1.., T=1.., H=1.., D=1.., s=1.., L=1.., x=1.., p=1.., q=.."),
        (
            "B=1.., T=1..4097, D=64, H=8*h, x=.., s+L <= T, p % 2 == 0",
            "B=1.., T=1..4096, h=1.., s=1.., L=1.., x=.., p=1.., q=.., H=8*h, D=64, T >= s + L, p % 2 == 0",
        ),
        (
            "T=0..,s in 0..4, q=1.., 0 <= x < L, B*D == H*L, B != 1, (B + T) % 4 != 3, 2*p % 3 == 1",
            "B=1.., T=0.., H=1.., D=1.., s=0..3, L=1.., x=1.., p=1.., q=1.., x >= 0, L >= x + 1, B*D == H*L, B != 1, \
             (B + T) % 4 != 3, (2*p) % 3 == 1",
        ),
        ("H = 2*k + 1, k = -1*m*-1", "B=1.., T=1.., m=1.., D=1.., s=1.., L=1.., x=1.., p=1.., q=.., k=m, H=2*m + 1"),
        ("x=-3..-1", "B=1.., T=1.., H=1.., D=1.., s=1.., L=1.., x=-3..-2, p=1.., q=.."),
    ] {
        assert_eq!(given(text, chain).unwrap(), expected, "{text}");
    }
}

#[test]
fn what_cannot_be_said_of_names() {
    for (text, expected) in [
        ("T=4..4", "the range 4..4 is empty: a range is half-open, 4..5 is one value\n  T=4..4\n    ^^^^"),
        ("T=1..9, T=2..3", "`T` is given twice\n  T=1..9, T=2..3\n          ^^^^^^"),
        ("T=1..9, T=2*k", "`T` is given twice\n  T=1..9, T=2*k\n          ^^^^^"),
        ("T=2*T", "the definition of `T` leads back to itself\n  T=2*T\n  ^^^^^"),
        ("T=2*k, k=T", "the definition of `T` leads back to itself\n  T=2*k, k=T\n  ^^^^^"),
        ("C=1..3", "`C` does not occur in the question, whose names are `B`, `T`\n  C=1..3\n  ^^^^^^"),
        ("width=1..3", "`width` does not occur in the question, whose names are `B`, `T`\n  width=1..3\n  ^^^^^^^^^^"),
        ("T <= width", "`width` does not occur in the question, whose names are `B`, `T`\n  T <= width\n       ^^^^^"),
        ("while=1..3", "`while` cannot be the name of a size: it is a keyword of Python\n  while=1..3\n  ^^^^^"),
        ("T", "expected `=` and a range, or a comparison such as `<=`, found the end of the text\n  T\n   ^"),
        ("T=", "expected a range such as `1..`, or a polynomial, found the end of the text\n  T=\n    ^"),
        ("T=1..4 5", "expected `,` or the end of the text, found `5`\n  T=1..4 5\n         ^"),
        ("T % 4 < 3", "a remainder is compared by `==` or `!=`\n  T % 4 < 3\n        ^"),
        ("T % 4 == 4", "expected a remainder of 4, which is a number from 0 to 3\n  T % 4 == 4\n           ^"),
        (
            "B + T % 4 == 0",
            "expected parentheses around what is divided, as in `(a + b) % 4 == 0`, found `%`\n  B + T % 4 == 0\n        ^",
        ),
        ("T % 0 == 0", "expected a number, of which it is the remainder, found `0`\n  T % 0 == 0\n      ^"),
        (
            "T=B//2",
            "the quotient is not known for all values: say that `B = 2*b`, and write `b` for the quotient\n  T=B//2\n     ^^",
        ),
        ("2 <= 1", "no values of the names satisfy this\n  2 <= 1\n  ^^^^^^"),
        (
            "T=8, T > 9",
            "no values of the names satisfy this together with what else is given\n  T=8, T > 9\n       ^^^^^",
        ),
        (
            "T=1..99999999999999999999999999999999999999999",
            "expected the end of a range within the range of 128-bit integers, found `9999999999999999999999999999999999999999...`\n  T=1..99999999999999999999999999999999999999999\n       ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^",
        ),
    ] {
        assert_eq!(given(text, "(B, T)").unwrap_err(), expected, "{text}");
    }
}

#[test]
fn lists_and_numbers_are_read() {
    let mut question = Question::default();
    let mut shown = |text: &str| {
        let sizes = question.sizes(text).map_err(|err| err.to_string())?;
        let scope = question.scope().map_err(|err| err.to_string())?;
        Ok::<_, String>(sizes.iter().map(|size| scope.text(size)).collect::<Vec<_>>())
    };
    assert_eq!(shown("B,T"), Ok(vec!["B".into(), "T".into()]));
    assert_eq!(shown("(B + 1)*T, 2"), Ok(vec!["B*T + T".into(), "2".into()]));
    assert_eq!(shown("(B, T)"), Ok(vec!["B".into(), "T".into()]));
    assert_eq!(shown("(B)"), Ok(vec!["B".into()]));
    assert_eq!(shown("()"), Ok(vec![]));
    assert_eq!(shown(""), Ok(vec![]));
    assert_eq!(shown("B T"), Err("expected `,` or the end of the text, found `T`\n  B T\n    ^".into()));
    assert_eq!(question.number("T 2").unwrap_err().message(), "expected the end of the text, found `2`");
    let squeeze = Movement::SqueezeAll;
    assert_eq!(question.scope().unwrap().movement(&squeeze), "squeeze()");
}
