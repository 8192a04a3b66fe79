//! How many elements must move, counted one by one.

use std::collections::HashSet;

use crate::oracle::{Word, devices, factorings, held, sentences};
use crate::sharded;

/// How many elements each device needs and does not hold.
fn needed(before: &[Vec<i64>], after: &[Vec<i64>]) -> Vec<i128> {
    let missing = |(held, wanted): (&Vec<i64>, &Vec<i64>)| {
        let held: HashSet<i64> = held.iter().copied().collect();
        wanted.iter().filter(|position| !held.contains(position)).count() as i128
    };
    before.iter().zip(after).map(missing).collect()
}

/// All tensors of a number of elements on a mesh, with what the devices hold.
fn tensors(number: i64, mesh: &[i64], strided: bool) -> Vec<(Vec<i64>, Vec<Word>, Vec<Vec<i64>>)> {
    (factorings(number, 3).into_iter())
        .flat_map(|shape| sentences(&shape, mesh, strided).into_iter().map(move |words| (shape.clone(), words)))
        .map(|(shape, words)| {
            let contents = held(&shape, mesh, &words);
            (shape, words, contents)
        })
        .collect()
}

#[test]
fn what_a_target_needs_is_counted_exactly() {
    for (mesh, numbers, strided) in [
        (&[2][..], &[8, 12, 18, 30][..], true),
        (&[3], &[8, 12, 20], true),
        (&[4], &[12, 16], true),
        (&[2, 2], &[8, 12, 36], false),
        (&[2, 3], &[12, 20], false),
        (&[2, 2], &[8], true),
    ] {
        for &number in numbers {
            let all = tensors(number, mesh, strided);
            let pairs = all.iter().flat_map(|before| all.iter().map(move |after| (before, after)));
            for (before, after) in pairs.step_by(1 + all.len() / 60) {
                let expected = needed(&before.2, &after.2);
                let (from, to) = (sharded(&before.0, mesh, &before.1), sharded(&after.0, mesh, &after.1));
                let moved = from.moved(&to).unwrap();
                let device = devices(mesh).iter().position(|device| *device == moved.device).expect("a device");
                let most = expected.iter().copied().max().unwrap();
                assert_eq!((moved.elements, moved.most), (expected.iter().sum(), most), "{from} to {to}");
                assert_eq!(expected[device], most, "{from} to {to}");
            }
        }
    }
}

#[test]
fn the_cheapest_target_is_the_cheapest() {
    for (mesh, numbers) in
        [(&[2][..], &[12, 18, 24, 30][..]), (&[3], &[12, 20]), (&[4], &[16, 18]), (&[2, 2], &[8, 12])]
    {
        for &number in numbers {
            let all = tensors(number, mesh, false);
            let targets = tensors(number, mesh, true);
            for (shape, words, contents) in &all {
                for to in factorings(number, 3) {
                    let sharded_alike = |other: &[Word]| {
                        words.iter().zip(other).all(|(a, b)| (*a == Word::Replicate) == (*b == Word::Replicate))
                    };
                    let best = (targets.iter())
                        .filter(|target| target.0 == to && sharded_alike(&target.1))
                        .map(|target| needed(contents, &target.2).iter().sum::<i128>())
                        .min();
                    let from = sharded(shape, mesh, words);
                    let got = from.cheapest(&to).unwrap().map(|(after, moved)| {
                        assert_eq!(after.shape(), to);
                        let exact = needed(contents, &held(&to, mesh, &crate::words_of(&after)));
                        assert_eq!(moved.elements, exact.iter().sum::<i128>(), "{from} to {after}");
                        moved.elements
                    });
                    assert_eq!(got, best, "{from} as {to:?}");
                }
            }
        }
    }
}
