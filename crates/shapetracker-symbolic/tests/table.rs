//! Known answers as people write them: each is read from text, its formula is the one expected, and at every point of a grid the
//! integer decision, which knows nothing of names, agrees with both.

use std::sync::Arc;

use shapetracker_symbolic::{Answer, Pair, Question, Verdict};

/// What is tried for a name without ends.
const STRIDES: [i128; 13] = [-9, -4, -1, 0, 1, 2, 3, 5, 6, 9, 12, 13, 27];

/// Values of the names in the order of `names`, at which the condition is expected to hold or not.
type Expected<'a> = (&'a [&'a str], &'a dyn Fn(&[i128]) -> bool);

fn holds(list: &[shapetracker_symbolic::Literal], point: &[i128]) -> bool {
    list.iter().all(|literal| literal.holds(point) == Some(true))
}

/// Asks about two chains, and compares the answer with what is expected and with the integer decision.
fn check(given: &str, earlier: &str, later: &str, largest: i128, (names, expected): Expected) {
    let mut question = Question::new([given]).unwrap_or_else(|err| panic!("{err}"));
    let earlier = question.chain(earlier).unwrap_or_else(|err| panic!("{err}"));
    let later = question.chain(later).unwrap_or_else(|err| panic!("{err}"));
    let scope = Arc::new(question.scope().unwrap_or_else(|err| panic!("{err}")));
    let pair = Pair::of_chains(&scope, &earlier, &later).unwrap_or_else(|err| panic!("{err}"));
    let answer = pair.answer();
    assert!(!matches!(answer, Answer::Undecided { .. }), "{}", pair.sentence());
    let formula = answer.formula();
    let complete = answer.scope(&scope);
    let places: Vec<usize> = (names.iter())
        .map(|name| scope.names().iter().position(|known| &*known.name == *name).unwrap_or_else(|| panic!("no {name}")))
        .collect();
    let values: Vec<Vec<i128>> = (scope.names().iter())
        .map(|name| match (name.lo, name.hi) {
            (None, None) => STRIDES.to_vec(),
            (lo, hi) => {
                let lo = lo.unwrap_or(-largest);
                (lo..=hi.unwrap_or(largest).min(lo + largest - 1)).collect()
            }
        })
        .collect();
    let (mut tried, mut point) = (0, vec![0; values.len()]);
    let mut places_of_values = vec![0; values.len()];
    loop {
        for (axis, &place) in places_of_values.iter().enumerate() {
            point[axis] = values[axis][place];
        }
        if holds(scope.given(), &point) && holds(pair.needs(), &point) {
            tried += 1;
            let [a, b] = pair.views().map(|view| view.at(&point).unwrap());
            let truth = shapetracker::merge(&a, &b);
            let full = complete.complete(&point).unwrap();
            let said = formula.iter().any(|conjunction| holds(conjunction, &full));
            let picked: Vec<i128> = places.iter().map(|&place| point[place]).collect();
            assert_eq!(said, truth.is_ok(), "{} at {point:?}: {a} and {b}", pair.sentence());
            assert_eq!(said, expected(&picked), "expected otherwise than {} at {point:?}", pair.sentence());
            let leaves: Vec<_> = answer.leaves().iter().filter(|leaf| holds(&leaf.literals, &full)).collect();
            assert_eq!(leaves.len(), 1, "one part of the values has {point:?}");
            match (&leaves[0].verdict, truth) {
                (Verdict::View(view), Ok(one)) => assert_eq!(view.at(&full), Some(one), "at {point:?}"),
                (Verdict::NotOne, Err(_)) => {}
                (verdict, truth) => panic!("{verdict:?}, but {truth:?} at {point:?}"),
            }
        }
        let Some(axis) = (0..values.len()).find(|&axis| places_of_values[axis] + 1 < values[axis].len()) else { break };
        places_of_values[axis] += 1;
        places_of_values[..axis].fill(0);
    }
    assert!(tried > 0, "no values were tried");
    if let Some(found) = answer.counterexample() {
        let [a, b] = pair.views().map(|view| view.at(&found.values).unwrap());
        assert_eq!(shapetracker::merge(&a, &b).unwrap_err().witness(), Some(&found.witness));
    }
}

macro_rules! table {
    ($($name:ident: $earlier:literal, $later:literal $(, given $given:literal)?, up to $largest:literal,
       |$($value:ident),*| $expected:expr;)+) => { $(
        #[test]
        fn $name() {
            let given = concat!("", $($given)?);
            let expected = |values: &[i128]| {
                let [$($value),*] = values[..] else { unreachable!() };
                $expected
            };
            check(given, $earlier, $later, $largest, (&[$(stringify!($value)),*], &expected));
        }
    )+ };
}

// The names are those of the sizes.
#[allow(non_snake_case, unused_variables)]
mod rows {
    use super::check;

    table! {
        heads_beside_the_sequence: "(B, T, H, D).permute(0, 2, 1, 3)", "(B, H*T, D)", up to 4, |T, H| T == 1 || H == 1;
        heads_beside_the_batch: "(B, T, H, D).permute(0, 2, 1, 3)", "(B*H, T, D)", up to 4,
            |B, T, H| T == 1 || H == 1 || B == 1;
        heads_flat: "(B, T, H, D).permute(0, 2, 1, 3)", "(B*H*T*D)", up to 4, |T, H| T == 1 || H == 1;
        heads_back_beside_the_depth: "(B, H, T, D).permute(0, 2, 1, 3)", "(B, T, H*D)", up to 4,
            |H, T, D| H == 1 || T == 1 || D == 1;
        queries_keys_values_split: "(B, T, 3*H*D)", "(B, T, 3, H, D)", up to 4, |B| true;
        one_of_three_beside_the_batch: "(B, T, 3*H*D).as_strided((B, H, T, D), (3*D*H*T, D, 3*D*H, 1), q*H*D)",
            "(B*H, T, D)", given "q=0..3", up to 4, |B, H| H == 1 || B == 1;
        cache_beside_the_batch: "(B, H, N, D).shrink((0, B), (0, H), (s, s + L), (0, D))", "(B*H, L, D)",
            given "s=0.., s + L <= N", up to 3, |B| true;
        cache_beside_the_depth: "(B, H, N, D).shrink((0, B), (0, H), (s, s + L), (0, D))", "(B, H, L*D)",
            given "s=0.., s + L <= N", up to 3, |B| true;
        cache_flat: "(B, H, N, D).shrink((0, B), (0, H), (s, s + L), (0, D))", "(B*H*L*D)",
            given "s=0.., s + L <= N", up to 3, |B, H, N, D, L| D*L == 1 || B*H == 1 || L == N;
        groups_of_heads: "(B, H, 1, T, D).expand(B, H, G, T, D)", "(B, H*G, T, D)", up to 4, |H, G| G == 1 || H == 1;
        broadcast_flat: "(1, T).expand(B, T)", "(B*T)", up to 6, |B, T| T == 1 || B == 1;
        one_axis_flipped: "(B, T).flip(1)", "(B*T)", up to 6, |B, T| T == 1 || B == 1;
        both_axes_flipped: "(B, T).flip(0, 1)", "(B*T)", up to 6, |B| true;
        patches: "(C, h*p, w*p).reshape(C, h, p, w, p).permute(1, 3, 0, 2, 4)", "(h*w, C*p*p)", up to 4,
            |C, h, p, w| p == 1 || w == 1 && C == 1 || w == 1 && h == 1;
        pixel_shuffle: "(C, r, r, h, w).permute(0, 3, 1, 4, 2)", "(C, h*r, w*r)", up to 4,
            |r, h, w| r == 1 || w == 1 && h == 1;
        windows: "(B, h*M, w*M, C).reshape(B, h, M, w, M, C).permute(0, 1, 3, 2, 4, 5)", "(B*h*w, M*M, C)", up to 3,
            |M, w| M == 1 || w == 1;
        windows_of_eight: "(B, h*M, w*M, C).reshape(B, h, M, w, M, C).permute(0, 1, 3, 2, 4, 5)", "(B*h*w, M*M, C)",
            given "M=8", up to 3, |w| w == 1;
        rows_padded_flat: "(B, T).pad((0, 0), (p, p))", "(B*(T + 2*p))", given "p=0..", up to 5, |B, p| p == 0 || B == 1;
        outer_axis_padded_flat: "(B, T).pad((p, q), (0, 0))", "((B + p + q)*T)", given "p=0.., q=0..", up to 4, |B| true;
        padded_in_pairs: "(4*k).pad((p, p))", "(2*k + p, 2)", given "p=0..", up to 6, |p| p % 2 == 0;
        windows_of_a_padded_row: "(N).pad((p, p))", "(N + 2*p - K + 1, K):(1, 1)", given "p=0..", up to 7,
            |N, p, K| p == 0 || K == 1 || K >= N + 2*p;
        windows_of_a_padded_image: "(B, C, H, D).pad((0, 0), (0, 0), (1, 1), (1, 1))",
            "(B, C, H, D, 3, 3):(C*(H + 2)*(D + 2), (H + 2)*(D + 2), D + 2, 1, D + 2, 1)", up to 3,
            |H, D| D == 1 && H == 1;
        windows_of_an_image: "(B, C, H, D)", "(B, C, H - K + 1, D - K + 1, K, K):(C*H*D, H*D, D, 1, D, 1)", up to 4,
            |B| true;
        windows_of_an_image_whose_channels_are_last: "(B, H, D, C)",
            "(B, H - K + 1, D - K + 1, K, K, C):(H*D*C, D*C, C, D*C, C, 1)", up to 4, |B| true;
        zeros_between: "(N, 1).pad((0, 0), (0, 1))", "(2*N)", up to 8, |N| N == 1;
        skewed: "(N, N).pad((0, 0), (0, N))", "(N, 2*N - 1)", up to 6, |N| N == 1;
        transposed_under_sizes_of_one_product: "(g*h, k*m):(1, g*h)", "(g*k, h*m)", up to 5,
            |g, h, k, m| g*h == 1 || k*m == 1 || h == k;
        transposed_rows_under_sizes_of_one_product: "(e, k*m, g*h):(g*h*k*m, 1, k*m)", "(e*g*k, h*m)", up to 4,
            |e, g, h, k, m| g*h == 1 || k*m == 1 || g*h == h*m && e == 1;
        a_band: "(n, 2*n - 1).as_strided((n, n), (2*n, 1))", "(n*n)", given "n=1..", up to 6, |n| n == 1;
        column_major_flat: "(H, T):(1, H)", "(H*T)", up to 6, |H, T| T == 1 || H == 1;
        column_major_flat_from_nothing_on: "(H, T):(1, H)", "(H*T)", given "H=0.., T=0..", up to 6,
            |H, T| H == 0 || T == 0 || T == 1 || H == 1;
        every_fourth: "(10, 3, 3):(s1, s2, s3)", "(s):(4)", up to 24,
            |s1, s2, s3, s| s <= 3 || s <= 5 && s1 == 2*s2 + 3*s3 || s2 == 3*s3 && s1 == 9*s3;
        every_fifth: "(10, 3, 3):(s1, s2, s3)", "(s):(5)", up to 19,
            |s1, s2, s3, s| s <= 2 || s <= 3 && s1 == 2*s2 + 3*s3 || s2 == 3*s3 && s1 == 9*s3;
        every_ninth: "(10, 9, 4):(s1, s2, s3)", "(s):(9)", up to 41, |s1, s2, s3, s| s <= 4 || s1 == 8*s2 + 4*s3;
        neighbours: "(n, m):(s1, s2)", "(s):(1)", up to 5, |n, m, s1, s2, s| m == 1 || m >= s || s1 == m*s2;
        every_second: "(n, m):(s1, s2)", "(s):(2)", up to 5, |n, m, s1, s2, s| m <= 2 || m + 1 >= 2*s || s1 == m*s2;
        rows_of_a_wider_table: "(a, b):(e, 1)", "(a*b)", given "e=1.., e >= b", up to 6, |a, b, e| b == 1 || a == 1 || e == b;
    }
}

/// The same as chains: there and back is always one view.
#[test]
fn there_and_back() {
    for (chain, given, expected) in [
        (
            "(B, H, T, D).permute(0, 2, 1, 3).reshape(B, T, H*D).reshape(B, T, H, D).permute(0, 2, 1, 3)",
            "",
            "(B, H, T, D):(H*T*D, T*D, D, 1)",
        ),
        (
            "(B, T, 3*H*D).reshape(B, T, 3, H, D).permute(2, 0, 3, 1, 4)[2]",
            "",
            "(B, H, T, D):(3*T*H*D, D, 3*H*D, 1) offset 2*H*D",
        ),
        ("(N).flip(0)[::-1]", "", "(N,):(1,)"),
        ("(N, D)[s:s+L].pad((s, N - s - L), (0, 0))", "s + L <= N", "(N, D):(D, 1) mask ((s, s + L), (0, D))"),
        ("torch.zeros(B, T, D).transpose(1, 2).flatten(1).view(B, D, T).mT", "", "(B, T, D):(T*D, D, 1)"),
        ("(C, N).moveaxis(0, -1).T.swapaxes(0, 1)", "", "(N, C):(1, N)"),
        ("(B, T)[..., None, 0, :].squeeze(0)", "", "(T,):(1,)"),
    ] {
        let mut question = Question::new([given]).unwrap();
        let chain = question.chain(chain).unwrap();
        let scope = Arc::new(question.scope().unwrap());
        let tracker = chain.tracker(&scope).unwrap_or_else(|err| panic!("{err}"));
        assert_eq!(tracker.to_string(), expected);
    }
}
