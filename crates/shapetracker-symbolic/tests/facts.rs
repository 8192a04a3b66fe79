//! Layouts of real programs, and for which sizes they are one view: each row by its name.
//!
//! What is said is held against the integer tracker at all small values of the names.

use std::sync::Arc;

use shapetracker_symbolic::{Answer, Question};

/// Whether a chain or a stack of views is said to be one view for what is expected, and rightly so.
fn fact(text: &str, conditions: &str, expected: &str) {
    let mut question = Question::new([conditions]).unwrap_or_else(|err| panic!("{text}: {err}"));
    let chain = question.chain(text).unwrap_or_else(|err| panic!("{text}: {err}"));
    let scope = Arc::new(question.scope().unwrap_or_else(|err| panic!("{text}: {err}")));
    let tracker = chain.tracker(&scope).unwrap_or_else(|err| panic!("{text}: {err}"));
    let answer = tracker.single_view();
    let view = match &answer {
        Answer::Always { view: Some(view), .. } => format!(": {}", view.text(&scope)),
        _ => String::new(),
    };
    assert_eq!(format!("{}{view}", answer.sentence(&scope)), expected, "{text}");

    let names = answer.scope(&scope);
    let mut points: Vec<Vec<i128>> = vec![Vec::new()];
    for name in scope.names() {
        let values: Vec<i128> = match (name.lo, name.hi) {
            (Some(lo), hi) => (lo..=hi.unwrap_or(lo + 3).min(lo + 3)).collect(),
            _ => vec![-2, 0, 1, 3, 5],
        };
        let longer = points.iter().flat_map(|point| values.iter().map(|value| [&point[..], &[*value]].concat()));
        points = longer.collect();
        // A handful of names have too many values: every third point, which still has all values of each name.
        if points.len() > 3000 {
            points = points.into_iter().step_by(3).collect();
        }
    }
    let mut looked_at = 0;
    for point in points {
        let holds = |literals: &[shapetracker_symbolic::Literal], point: &[i128]| {
            literals.iter().all(|literal| literal.holds(point) == Some(true))
        };
        if !holds(scope.given(), &point) || !holds(tracker.needs(), &point) {
            continue;
        }
        let integers = tracker.at_point(&point).unwrap_or_else(|err| panic!("{text} at {point:?}: {err}"));
        let all = names.complete(&point).unwrap();
        let says = answer.formula().iter().any(|literals| holds(literals, &all));
        assert_eq!(says, integers.single_view().is_ok(), "{text} at {point:?}");
        looked_at += 1;
    }
    assert!(looked_at > 3, "{text}: {looked_at} values");
}

macro_rules! facts {
    ($($name:ident: $text:literal $(where $conditions:literal)?, $expected:literal;)+) => {
        $(#[test]
        fn $name() {
            fact($text, concat!($($conditions)?), $expected);
        })+
    };
}

facts! {
    heads_before_time_join_time:
        "(B, T, H, D).permute(0, 2, 1, 3).reshape(B, H*T, D)",
        "one view if and only if T == 1 or H == 1";
    heads_before_time_join_batch:
        "(B, T, H, D).permute(0, 2, 1, 3).reshape(B*H, T, D)",
        "one view if and only if H == 1 or B == 1 or T == 1";
    heads_before_time_flat:
        "(B, T, H, D).permute(0, 2, 1, 3).reshape(-1)",
        "one view if and only if T == 1 or H == 1";
    merged_heads:
        "(B, H, T, D).permute(0, 2, 1, 3).reshape(B, T, H*D)",
        "one view if and only if D == 1 or H == 1 or T == 1";
    merged_heads_and_back:
        "(B, H, T, D).permute(0, 2, 1, 3).reshape(B, T, H*D).reshape(B, T, H, D).permute(0, 2, 1, 3)",
        "one view for all values: (B, H, T, D):(H*T*D, T*D, D, 1)";
    queries_of_a_fused_projection:
        "(B, T, 3*H*D).reshape(B, T, 3, H, D).permute(2, 0, 3, 1, 4).shrink((0, 1), (0, B), (0, H), (0, T), (0, D)).reshape(B, H, T, D)",
        "one view for all values: (B, H, T, D):(3*T*H*D, D, 3*H*D, 1)";
    keys_of_a_fused_projection_join_batch:
        "(B, T, 3*H*D).reshape(B, T, 3, H, D).permute(2, 0, 3, 1, 4).shrink((1, 2), (0, B), (0, H), (0, T), (0, D)).reshape(B*H, T, D)",
        "one view if and only if H == 1 or B == 1";
    cache_slice_joins_batch:
        "(B, H, N, D).shrink((0, B), (0, H), (s, s + L), (0, D)).reshape(B*H, L, D)" where "s=0..",
        "one view for all values: (B*H, L, D):(N*D, D, 1) offset D*s";
    cache_slice_joins_rows:
        "(B, H, N, D).shrink((0, B), (0, H), (s, s + L), (0, D)).reshape(B, H, L*D)" where "s=0..",
        "one view for all values: (B, H, D*L):(H*N*D, N*D, 1) offset D*s";
    cache_slice_flat:
        "(B, H, N, D).shrink((0, B), (0, H), (s, s + L), (0, D)).reshape(-1)" where "s=0..",
        "one view if and only if N == L, or D == 1 and L == 1, or B == 1 and H == 1";
    grouped_queries:
        "(B, H, 1, T, D).expand(B, H, G, T, D).reshape(B, H*G, T, D)",
        "one view if and only if G == 1 or H == 1";
    a_row_for_all_flat:
        "(1, T).expand(B, T).reshape(B*T)",
        "one view if and only if T == 1 or B == 1";
    one_axis_reversed_flat:
        "(B, T).flip(1).reshape(B*T)",
        "one view if and only if T == 1 or B == 1";
    both_axes_reversed_flat:
        "(B, T).flip(0, 1).reshape(B*T)",
        "one view for all values: (B*T,):(-1,) offset B*T - 1";
    patches_as_rows:
        "(B, C, h*p, w*p).reshape(B, C, h, p, w, p).permute(0, 2, 4, 1, 3, 5).reshape(B, h*w, C*p*p)",
        "one view if and only if p == 1, or w == 1 and C == 1, or w == 1 and h == 1";
    pixel_shuffle:
        "(B, C*r*r, h, w).reshape(B, C, r, r, h, w).permute(0, 1, 4, 2, 5, 3).reshape(B, C, h*r, w*r)",
        "one view if and only if r == 1, or w == 1 and h == 1";
    windows:
        "(B, h*M, w*M, C).reshape(B, h, M, w, M, C).permute(0, 1, 3, 2, 4, 5).reshape(B*h*w, M*M, C)",
        "one view if and only if M == 1 or w == 1";
    windows_of_eight:
        "(B, h*8, w*8, C).reshape(B, h, 8, w, 8, C).permute(0, 1, 3, 2, 4, 5).reshape(B*h*w, 64, C)",
        "one view if and only if w == 1";
    windows_and_back:
        "(B, h*M, w*M, C).reshape(B, h, M, w, M, C).permute(0, 1, 3, 2, 4, 5).reshape(B*h*w, M*M, C).reshape(B, h, w, M, M, C).permute(0, 1, 3, 2, 4, 5).reshape(B, h*M, w*M, C)",
        "one view for all values: (B, h*M, M*w, C):(h*M**2*w*C, M*w*C, C, 1)";
    unfolded_padding:
        "(N + 2*p - K + 1, K):(1, 1) over (N + 2*p):(1) offset -p mask ((p, N + p))" where "p=0.., N + 2*p >= K",
        "one view if and only if p == 0 or K == 1 or N + 2*p == K";
    unfolded:
        "(N - K + 1, K):(1, 1) over (N):(1)" where "N >= K",
        "one view for all values: (N + 1 - K, K):(1, 1)";
    taps_of_a_padded_convolution:
        "(B, C, H, D, 3, 3):(C*(H + 2)*(D + 2), (H + 2)*(D + 2), D + 2, 1, D + 2, 1) over (B, C, H + 2, D + 2):(C*H*D, H*D, D, 1) offset -D - 1 mask ((0, B), (0, C), (1, H + 1), (1, D + 1))",
        "one view if and only if H == 1 and D == 1";
    taps_of_a_convolution:
        "(B, C, H - K + 1, D - K + 1, K, K):(C*H*D, H*D, D, 1, D, 1) over (B, C, H, D):(C*H*D, H*D, D, 1)" where "H >= K, D >= K",
        "one view for all values: (B, C, H + 1 - K, D + 1 - K, K, K):(C*H*D, H*D, D, 1, D, 1)";
    taps_of_a_convolution_with_channels_last:
        "(B, C, H - K + 1, D - K + 1, K, K):(C*H*D, H*D, D, 1, D, 1) over (B, C, H, D):(C*H*D, 1, D*C, C)" where "H >= K, D >= K",
        "one view for all values: (B, C, H + 1 - K, D + 1 - K, K, K):(C*H*D, 1, C*D, C, C*D, C)";
    padded_rows_flat:
        "(B, T).pad((0, 0), (0, p)).reshape(B*(T + p))" where "p=0..",
        "one view if and only if p == 0 or B == 1";
    padded_outer_axis_flat:
        "(B, T).pad((0, p), (0, 0)).reshape((B + p)*T)" where "p=0..",
        "one view for all values: (B*T + T*p,):(1,) mask ((0, B*T),)";
    padding_on_both_sides_split_in_two:
        "(B, 4*k).pad((0, 0), (p, p)).reshape(B, 2*k + p, 2)" where "p=0..",
        "one view if and only if p % 2 == 0";
    a_band_of_a_matrix:
        "(n*n):(1) over (n, n):(2*n, 1)",
        "one view if and only if n == 1";
    interleaved_with_zeros:
        "(2*N):(1) over (N, 2):(1, 0) mask ((0, N), (0, 1))",
        "one view if and only if N == 1";
    four_steps_over_three_strides:
        "(s):(4) over (10, 3, 3):(s1, s2, s3)",
        "one view if and only if s <= 3, or s <= 5 and s1 == 2*s2 + 3*s3, or s1 == 2*s2 + 3*s3 and s2 == 3*s3";
    five_steps_over_three_strides:
        "(s):(5) over (10, 3, 3):(s1, s2, s3)",
        "one view if and only if s <= 2, or s <= 3 and s1 == 2*s2 + 3*s3, or s1 == 2*s2 + 3*s3 and s2 == 3*s3";
    nine_steps_over_three_strides:
        "(s):(9) over (10, 9, 4):(s1, s2, s3)",
        "one view if and only if s <= 4 or s1 == 8*s2 + 4*s3";
    nine_steps_over_a_long_axis:
        "(s):(9) over (1000, 9, 4):(s1, s2, s3)",
        "one view if and only if s <= 4 or s1 == 8*s2 + 4*s3";
    the_first_elements_of_a_matrix:
        "(s):(1) over (n, m):(s1, s2)",
        "one view if and only if m >= s or m*s2 == s1 or m == 1";
    every_second_element_of_a_matrix:
        "(s):(2) over (n, m):(s1, s2)",
        "one view if and only if m <= 2 or m + 1 >= 2*s or m*s2 == s1";
    rows_with_a_pitch_flat:
        "(a*b):(1) over (a, b):(e, 1)" where "e >= b",
        "one view if and only if b == 1 or a == 1 or b == e";
    sizes_from_zero:
        "(H*T):(1) over (H, T):(1, H)" where "H=0.., T=0..",
        "one view if and only if T <= 1 or H <= 1";
    equal_products_of_unrelated_sizes:
        "(c, d):(d, 1) over (a, b):(1, a)" where "a*b == c*d",
        "one view if and only if b == 1 or d == b or a == 1";
    equal_products_under_an_outer_axis:
        "(e*c, d):(d, 1) over (e, b, a):(a*b, 1, b)" where "a*b == c*d",
        "one view if and only if a == 1, or b == 1, or d == a and e == 1";
    a_size_that_is_divided_without_a_condition:
        "(s0, 32).reshape(4, -1)",
        "one view for all values: (4, 8*s0):(8*s0, 1)";
    a_size_in_a_residue:
        "(n, 32).permute(1, 0).reshape(32, 4, m)" where "n = 4*m",
        "one view for all values: (32, 4, m):(1, 32*m, 32)";
}
