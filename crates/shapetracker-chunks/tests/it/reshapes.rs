//! All reshapes of small, unevenly chunked arrays: none is refused.

use shapetracker::ShapeTracker;
use shapetracker_chunks::choose_output;
use shapetracker_testing::is_held;

use crate::brute::{Sizes, boxes, check, follow, grid_of};
use crate::oracle::Array;

/// All ways to write a number as an ordered product of up to three factors of at least 2; itself among them.
fn factorings(number: i64) -> Vec<Vec<i64>> {
    let mut all = vec![vec![number]];
    for a in 2..number {
        if number % a == 0 {
            let rest = number / a;
            all.push(vec![a, rest]);
            all.extend((2..rest).filter(|b| rest % b == 0).map(|b| vec![a, b, rest / b]));
        }
    }
    all
}

/// Uneven chunks: 1, 2, 3 elements and so on, and what is left.
fn uneven(shape: &[i64]) -> Sizes {
    let cut = |size: &i64| {
        let (mut sizes, mut left, mut next) = (Vec::new(), *size, 1);
        while left > 0 {
            sizes.push(next.min(left));
            left -= next.min(left);
            next += 1;
        }
        sizes
    };
    shape.iter().map(cut).collect()
}

#[test]
fn no_reshape_of_uneven_chunks_is_refused() {
    let mut count = 0;
    for number in [24, 36, 48] {
        let shapes = factorings(number);
        for from in &shapes {
            for to in shapes.iter().filter(|to| *to != from) {
                count += 1;
                if !is_held(count) {
                    continue;
                }
                let st = ShapeTracker::contiguous(from).unwrap().reshape(to).unwrap();
                let array = Array::contiguous(from).reshape(to);
                let input = uneven(from);
                let plan = check(&array, &st, &input, &uneven(to)).unwrap();
                let schedule = plan.rounds(u64::MAX, 2, 1).unwrap();
                assert_eq!(schedule.reads(), boxes(&input).len());
                follow(&plan, &schedule, &input, 2, u64::MAX).unwrap();
                let chosen = choose_output(&st, &grid_of(&input), 6).unwrap();
                assert_eq!(chosen.shape(), to);
            }
        }
    }
    assert_eq!(count, 1_322);
}
