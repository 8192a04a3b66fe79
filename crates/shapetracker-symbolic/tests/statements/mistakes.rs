//! What is said of statements that cannot be.

use shapetracker_symbolic::Question;
use shapetracker_testing::{Rng, held, numbers};

/// What is known of the names, the text, the sentence, and what the carets are under.
const MISTAKES: &[(&str, &str, &str, &str)] = &[
    // Reading.
    ("", "", "there is no statement: say one, such as `C[i, j] += A[i, k] * B[k, j]`", ""),
    ("", "A = (8,)", "there is no statement: say one, such as `C[i, j] += A[i, k] * B[k, j]`", "A = (8,)"),
    (
        "",
        "A = (8,); A[i] = 1; A[j] = 2",
        "there are two statements: each has loops of its own, and one nest has one of them",
        " A[j] = 2",
    ),
    (
        "",
        "A + 1",
        "expected a layout such as `A = (64, 16)`, a size such as `i = 0..64`, or a statement such as \
         `C[i, j] += A[i, k] * B[k, j]`, found `A`",
        "A",
    ),
    ("", "A = ; A[i] = 1", "expected a layout such as `(64, 16)`, found the end of the text", ""),
    ("", "A = (8,); A = (9,); A[i] = 1", "`A` is given twice", "A"),
    ("", "A = (8,); i = 1..8; A[i] = 1", "a loop counts from 0: say `0..` and its size", "1"),
    ("", "A = (8,); A[i] /= 2", "expected one of `=`, `+=`, `-=`, `*=`, `|=`, `&=`, `^=`, found `/`", "/"),
    ("", "A = (8,); A[i] =", "expected what is written, such as `A[i, k] * B[k, j]`, found the end of the text", ""),
    ("", "A = (8,); A[i] = Q[i]", "`Q` has no layout: say one, such as `Q = (64,)`", "Q"),
    ("", "input = (8,); C = (8,); C[i] = inptu[i]", "`inptu` has no layout: did you mean `input`?", "inptu"),
    ("", "A = (8,); A[i, , j] = 1", "expected an index, found `,`", ","),
    ("", "A = (8,); A[i = 1", "expected `]`, found the end of the text", ""),
    ("", "A = (8,).prmute(0); A[i] = 1", "expected an operation, found `prmute`: did you mean `permute`?", "prmute"),
    // Layouts.
    (
        "",
        "A = (8, 4).permute(0, 2); A[i, j] = 1",
        "permute: axis 2 does not exist: the tensor has 2 axes",
        "permute(0, 2)",
    ),
    ("", "A = (8, 4); A[i] = 1", "`A` has 2 axes, (8, 4), and 1 index is given", "A[i]"),
    ("", "A = (8,); A[i, j] = 1", "`A` has 1 axis, (8,), and 2 indices are given", "A[i, j]"),
    // Loops.
    (
        "",
        "C[i, j] += A[i, k] * B[k, j]; A = (64, 16); B = (17, 32); C = (64, 32)",
        "`k` runs along axis 1 of `A`, which has size 16, and along axis 0 of `B`, which has size 17: a loop has one size",
        "k",
    ),
    (
        "",
        "C[i] = A[i]; A = (n,); C = (m,)",
        "`i` runs along axis 0 of `C`, which has size m, and along axis 0 of `A`, which has size n: a loop has one \
         size, and these are not known to be equal; say `m == n`",
        "i",
    ),
    (
        "",
        "C[i] += A[i + k]; A = (8,); C = (8,)",
        "no axis says how often `k` runs, as it is nowhere an index by itself: say `k = 0..` and its size",
        "k",
    ),
    (
        "",
        "C[i] = A[i, k]; A = (8, 4); C = (8,)",
        "`k` is not on the left, so that `=` writes each element once for each of its values: write `+=` for the sum",
        "k",
    ),
    ("", "C[i] = 1; C = (8,); k = 0..4", "`k` is no loop of the statement: no index has it", "k"),
    (
        "",
        "C[i] = 1 if i < w; C = (8,)",
        "`w` is in no index, and nothing is said of it: a loop needs its size, `w = 0..8`, and a name of a size its range",
        "w",
    ),
    (
        "",
        "C[A] = 1; C = (8,); A = (8,)",
        "`A` is a layout; an index and a condition are made of loops and names of sizes",
        "A",
    ),
    // Indices.
    (
        "",
        "y[i] += x[i + k] * w[k]; x = (8,); w = (3,); y = (8,)",
        "the index `i + k` goes from 0 to 9, and axis 0 of `x` has size 8",
        "i + k",
    ),
    (
        "",
        "y[i] = x[i - 1]; x = (8,); y = (8,)",
        "the index `i - 1` goes from -1 to 6, and axis 0 of `x` has size 8",
        "i - 1",
    ),
    (
        "n=1..65",
        "y[i] = x[i + 1]; x = (n,); y = (n,)",
        "the index `i + 1` goes from 1 to 64, and axis 0 of `x` has size n",
        "i + 1",
    ),
    (
        "s + L <= N",
        "y[i] = x[i + s + 1]; x = (N,); y = (L,)",
        "the index `i + s + 1` is not known to be within 0..N, the size of axis 0 of `x`: a range of a name, or `if`, can \
         say so",
        "i + s + 1",
    ),
    ("", "y[i < 2] = 1; y = (8,); i = 0..8", "an index is a number, and this is a condition", "i < 2"),
    ("", "y[i] = 1 if i; y = (8,)", "a condition is needed after `if`, such as `k <= i`, and not a number", " i"),
    ("", "y[i] = 1 if i <; y = (8,)", "expected an expression, found the end of the text", ""),
];

#[test]
fn mistakes_are_sentences_at_their_places() {
    for &(known, text, sentence, place) in MISTAKES {
        let read = || {
            let mut question = Question::new([known])?;
            let statement = question.statement(text)?;
            statement.nest(&question.scope()?)
        };
        let err = read().map(|_| ()).expect_err(text);
        assert_eq!((err.message(), &text[err.span()]), (sentence, place), "{text}\n{err}");
    }
}

/// Whatever is read, a mistake is a sentence with a place in the text.
#[test]
fn noise_is_a_statement_or_a_mistake() {
    const PIECES: &[&str] = &[
        "A",
        "B",
        "C",
        "i",
        "j",
        "k",
        "n",
        "[",
        "]",
        "(",
        ")",
        ", ",
        " = ",
        " += ",
        " * ",
        " - ",
        "+",
        "0..",
        "0..4",
        "8",
        "2",
        "3",
        "; ",
        "\n",
        "#",
        " if ",
        " else ",
        "<",
        " == ",
        "//",
        "%",
        ".T",
        ".pad((1, 1))",
        "'",
        "\"",
        "é",
        "C[i]",
        "A[i, j]",
        "A = (4, 8)",
        "B = (8, n).T",
        "C = (4,)",
        "C = (n,)",
        "C[i] += A[i, j] * B[j, 0]",
        "C[i] = ",
        "**",
        "_1",
        "1.5",
        "{i}",
    ];
    let (mut read, mut made) = (0, 0);
    for case in numbers(20_000) {
        let mut rng = Rng(0xbad_0000 + case);
        let text: String = (0..1 + rng.index(9)).map(|_| *rng.pick(PIECES)).collect();
        let text = if rng.one_in(2) { format!("A = (4, 8); B = (8, n).T; C = (4,)\n{text}") } else { text };
        let mut question = Question::default();
        let result = question.statement(&text).and_then(|statement| {
            read += 1;
            statement.nest(&question.scope()?)
        });
        made += u32::from(result.is_ok());
        if let Err(err) = result {
            assert!(text.get(err.span()).is_some(), "{text:?}: {err}");
            assert!(!err.message().is_empty() && err.to_string().len() < 2000, "{text:?}: {err}");
        }
    }
    println!("{read} read, {made} made");
    assert!(read >= held(20_000) / 400 && made >= held(20_000) / 4000, "{read} read, {made} made");
}

/// What may seem to be one of them.
#[test]
fn these_are_none() {
    for (known, text) in [
        ("", "# a copy\nC[i] = A[i]  # from A\nA = (\n  8,)\nC = (8,)\n"),
        ("", "C[i] = A[i] if i >= 1; A = (8,); C = (8,);"),
        ("", "C[i] = A[i - 1] if i >= 1; A = (8,); C = (8,)"),
        ("", "C[i,] = (A[i] if x else 7); A = (8,); C = (8,)"),
        ("", "C[i] = A[i // 2, i % 2]; A = (4, 2); C = (8,)"),
        ("", "C[i] = A[7 - i] + f(i, x.A[0], '; [#'); A = (8,); C = (8,)"),
        ("", "s[] += x[i] * y[i]; x = (8,); y = (8,); s = ()"),
        ("n == m", "C[i] = A[i]; A = (n,); C = (m,)"),
        ("D=64, H=8*h", "C[i] = A[i] if i < H; A = (H*D,); C = (H*D,)"),
        ("w=0..8", "C[i, j] = 1 if i <= j + w; C = (n, n)"),
        ("", "y[i] += x[i + k] * w[k]; x = (n + 2,); w = (3,); y = (n,)"),
        ("", "y[i] = x[s*i]; x = (s*n,); y = (n,)"),
        ("w=0..9", "y[i] = x[i - w] if i >= w; x = (n,); y = (n,)"),
        ("s + L <= N", "y[i] = x[i + s]; x = (N,); y = (L,)"),
        ("", "y[i] = x[i]; x = (a, b, c).reshape(a*b*c); y = (a*b*c,)"),
        ("", "y[i] = x[i + 1]; x = (9,); y = (9,); i = 0..8"),
    ] {
        let read = || {
            let mut question = Question::new([known])?;
            let statement = question.statement(text)?;
            statement.nest(&question.scope()?)
        };
        read().unwrap_or_else(|err: shapetracker::ParseError| panic!("{err}\n{text}"));
    }
}
