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

/// At values of its names a statement has the steps that it has with these numbers in their place.
#[test]
fn steps_at_values_are_those_of_numbers() {
    let texts = [
        ("", "C[i, j] += A[i, k] * B[k, j]; A = (M, K); B = (N, K).T; C = (M, N)"),
        ("M=3..", "y[i] += x[i + k] * w[k]; x = (M + K - 1 - 2,).pad((1, 1)); w = (K,); y = (M,)"),
        ("", "Y[r, c] = X[r, c]; X = (M, 2, K, N).permute(0, 2, 1, 3).reshape(M*K, 2*N); Y = (M*K, 2*N)"),
        ("M >= N + K", "S[t, s] += Q[t, d] if s <= t + N; Q = (M, 2*K)[K:K + N]; S = (N, M)"),
        ("M=2*n, N=1.., K=1..", "z[j, i] = max(a[i // 2, j], b[i % K]); a = (n, N); b = (K,).flip(0); z = (N, M)"),
    ];
    for (known, text) in texts {
        let mut seen = 0;
        let mut question = Question::new([known]).unwrap();
        let statement = question.statement(text).unwrap_or_else(|err| panic!("{err}"));
        let scope = question.scope().unwrap();
        let nest = statement.nest(&scope).unwrap_or_else(|err| panic!("{err}"));
        assert!(nest.steps().is_none());
        let chosen = nest.example(&[]).unwrap();
        assert!(nest.steps_at(scope.names().iter().zip(&chosen).map(|(name, &at)| (&*name.name, at))).is_ok());
        for number in 0..64 {
            let digits = [number % 4 + 1, number / 4 % 4 + 1, number / 16 + 1];
            let values = || scope.names().iter().map(|name| &*name.name).zip(digits);
            let point: Vec<i128> = digits.iter().take(scope.names().len()).map(|&value| value.into()).collect();
            let Ok(steps) = nest.steps_at(values()) else {
                assert!(scope.point("at", nest.needs(), values()).is_err(), "{text} {digits:?}");
                assert_eq!(nest.example(&digits.map(Some)), None);
                continue;
            };
            assert_eq!(nest.example(&digits.map(Some)), Some(digits[..point.len()].to_vec()));
            seen += 1;
            let with_numbers = text.split("; ").map(|part| match part.split_once(" = (") {
                Some((name, _)) if statement.layouts().any(|(layout, _)| layout == name) => {
                    let layouts = statement.layouts_at(&point).unwrap();
                    let layout = layouts.into_iter().find(|(layout, _)| *layout == name).unwrap().1;
                    format!("{name} = {layout}")
                }
                _ => part.to_owned(),
            });
            let with_numbers: Vec<String> = with_numbers.collect();
            let known: Vec<String> = values().map(|(name, value)| format!("{name}={value}")).collect();
            let is_used = |known: &&String| with_numbers.iter().any(|part| part.contains(&known[..1]));
            let mut question = Question::new(known.iter().filter(is_used)).unwrap();
            let numbers = question.statement(&with_numbers.join("; ")).unwrap_or_else(|err| panic!("{err}"));
            let numbers = numbers.nest(&question.scope().unwrap()).unwrap_or_else(|err| panic!("{err}"));
            let numbers = numbers.steps().unwrap();
            let total = steps.total().unwrap();
            assert_eq!((steps.total(), steps.run().count), (numbers.total(), numbers.run().count), "{text} {digits:?}");
            assert_eq!(
                steps.meeting_condition().map(|set| set.count),
                numbers.meeting_condition().map(|set| set.count)
            );
            let sizes: Vec<i64> = steps.sizes().collect();
            assert!(sizes.iter().copied().eq(numbers.sizes()));
            for access in 0..2 {
                assert_eq!(steps.shape(access), numbers.shape(access));
            }
            for step in 0..total as i64 {
                let mut rest = step;
                let mut at: Vec<i64> = Vec::new();
                for size in sizes.iter().rev() {
                    at.insert(0, rest % size);
                    rest /= size;
                }
                let touched = steps.touched(&at).unwrap();
                assert_eq!(Some(&touched), numbers.touched(&at).as_ref(), "{text} {digits:?} {at:?}");
                for (access, (index, _)) in touched.elements.iter().enumerate() {
                    assert_eq!(steps.touching(access, index), numbers.touching(access, index));
                }
            }
        }
        assert!(seen > 5, "{text}: {seen}");
    }
}
