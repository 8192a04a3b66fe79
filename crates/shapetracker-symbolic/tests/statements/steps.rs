//! Which steps touch an element and at how many the statement runs, beside all steps one by one.

use std::ops::Range;

use shapetracker_symbolic::{Question, StepSet};
use shapetracker_testing::Rng;

/// Sums over two loops each, of which the second may be divided, or padded, and a condition.
#[test]
fn sets_of_steps_are_those_that_are_found_one_by_one() {
    let mut rng = Rng(20_261_129);
    let mut pick = |end: i64| rng.below(end as u64) as i64;
    for _ in 0..600 {
        let sizes = [2 + pick(5), 1 + pick(4), 2 + pick(6)];
        let (factor, divisor, pad, kind) = (1 + pick(3), 1 + pick(3), pick(2), pick(9));
        // The index along the only axis of `x`, which has padding on both sides of it.
        let index = |at: &[i64]| at[0] * factor + at[2].div_euclid(divisor);
        let length = (sizes[0] - 1) * factor + (sizes[2] - 1).div_euclid(divisor) + 1;
        let inner = (length - 2 * pad).max(1);
        let after = (length - inner - pad).max(0);
        let length = inner + pad + after;
        let condition = |at: &[i64]| match kind {
            0 => true,
            1 => at[0] <= at[2],
            2 => (at[0] + at[1]) % 2 == 0,
            3 => at[1] == 0 || at[2] > 1,
            4 => 1 <= at[0] + at[2] && at[0] + at[2] < 5 && at[2] != 2,
            5 => (3 * at[0] + at[2]).rem_euclid(4) >= 2,
            6 => (at[0] - 2 * at[2]).div_euclid(3) >= -1,
            7 => at[0].div_euclid(2) + at[1] <= at[2].rem_euclid(3),
            _ => (at[1] - at[2]).rem_euclid(3) == 1 && at[0] > at[1],
        };
        let text = [
            "",
            "i <= k",
            "(i + j) % 2 == 0",
            "j == 0 or k > 1",
            "1 <= i + k and i + k < 5 and k != 2",
            "(3*i + k) % 4 >= 2",
            "(i - 2*k) // 3 >= -1",
            "i // 2 + j <= k % 3",
            "(j - k) % 3 == 1 and i > j",
        ];
        let condition_text = if kind == 0 { String::new() } else { format!(" if {}", text[kind as usize]) };
        let text = format!(
            "y[i, j] += x[i*{factor} + k // {divisor}] * w[k]{condition_text}; i = 0..{}; j = 0..{}; k = 0..{}; \
             y = ({}, {}); w = ({},); x = ({inner},).pad(({pad}, {after}))",
            sizes[0], sizes[1], sizes[2], sizes[0], sizes[1], sizes[2],
        );
        let mut question = Question::default();
        let statement = question.statement(&text).unwrap_or_else(|err| panic!("{text}: {err}"));
        let nest = statement.nest(&question.scope().unwrap()).unwrap_or_else(|err| panic!("{text}: {err}"));
        let steps = nest.steps().unwrap();
        assert_eq!(steps.shape(1), Some(&[length][..]));

        let mut all = Vec::new();
        for i in 0..sizes[0] {
            for j in 0..sizes[1] {
                all.extend((0..sizes[2]).map(|k| [i, j, k]));
            }
        }
        assert_eq!(steps.total(), Some(all.len() as i128));
        let is_inside = |at: &[i64]| (pad..pad + inner).contains(&index(at));
        let runs: Vec<[i64; 3]> = all.iter().copied().filter(|at| condition(at) && is_inside(at)).collect();
        same(&text, &sizes, &steps.run(), &runs);
        let meeting: Vec<[i64; 3]> = all.iter().copied().filter(|at| condition(at)).collect();
        assert_eq!(steps.meeting_condition().is_some(), kind != 0);
        if let Some(set) = steps.meeting_condition() {
            same(&text, &sizes, &set, &meeting);
        }
        let with_element: Vec<[i64; 3]> = all.iter().copied().filter(|at| is_inside(at)).collect();
        same(&text, &sizes, &steps.with_element(1).unwrap(), &with_element);
        // Only two conditions are about `j`.
        assert!(runs.is_empty() || matches!(kind, 2 | 3 | 7 | 8) || steps.run().free[1], "{text}");
        for at in &all {
            let touched = steps.touched(at).unwrap();
            assert_eq!(touched.runs, runs.contains(at), "{text} {at:?}");
            assert_eq!(touched.elements[0].0[..], at[..2]);
            assert_eq!(touched.elements[1].0[..], [index(at)]);
            assert_eq!(touched.elements[1].1, is_inside(at).then(|| index(at) - pad));
        }
        for element in 0..length {
            let touching: Vec<[i64; 3]> = runs.iter().copied().filter(|at| index(at) == element).collect();
            same(&text, &sizes, &steps.touching(1, &[element]).unwrap(), &touching);
        }
        assert_eq!(steps.touching(1, &[length]), None);
        assert_eq!(steps.touching(3, &[0]), None);
    }
}

fn same(text: &str, sizes: &[i64; 3], set: &StepSet, steps: &[[i64; 3]]) {
    assert_eq!(set.count, Some(steps.len() as i128), "{text}");
    for (number, range) in set.loops.iter().enumerate() {
        let values = || steps.iter().map(|at| at[number]);
        let expected: Option<Range<i64>> = values().min().zip(values().max()).map(|(low, high)| low..high + 1);
        assert_eq!(*range, expected, "{text} loop {number}");
        let size = sizes[number];
        let with = |at: &[i64; 3], value: i64| std::array::from_fn(|k| if k == number { value } else { at[k] });
        let is_free = steps.iter().all(|at| (0..size).all(|value| steps.contains(&with(at, value))));
        assert!(!set.free[number] || is_free, "{text} loop {number}");
    }
    match &set.example {
        Some(example) => assert!(steps.iter().any(|at| at[..] == example[..]), "{text} {example:?}"),
        None => assert!(steps.is_empty(), "{text}"),
    }
}

/// What would take long to go through is counted at once, and what is not counted says so.
#[test]
fn large_nests_are_counted_by_their_bounds() {
    let run = |text: &str| {
        let mut question = Question::default();
        let statement = question.statement(text).unwrap();
        statement.nest(&question.scope().unwrap()).unwrap().steps().unwrap().run().count
    };
    let n = 1_i128 << 20;
    assert_eq!(run("S[t, s] += 1 if s <= t; S = (1048576, 1048576)"), Some(n * (n + 1) / 2));
    assert_eq!(
        run("C[i, j] += A[i, k] * B[k, j]; A = (1048576, 1048576); B = (1048576, 1048576); C = (1048576, 1048576)"),
        Some(n * n * n)
    );
    // Three loops of which the condition joins all: too many values of two.
    assert_eq!(run("T[i, j, k] += 1 if i + j <= k; T = (4096, 4096, 4096)"), None);
}
