//! How many elements must move, counted one by one.

use std::collections::HashSet;

use shapetracker_shard::Outcome;

use crate::oracle::{Word, devices, factorings, held, sentences};
use crate::{sharded, words_of};

/// How many elements each device needs and does not hold.
fn needed(before: &[Vec<i64>], after: &[Vec<i64>]) -> Vec<i128> {
    let missing = |(held, wanted): (&Vec<i64>, &Vec<i64>)| {
        let held: HashSet<i64> = held.iter().copied().collect();
        wanted.iter().filter(|position| !held.contains(position)).count() as i128
    };
    before.iter().zip(after).map(missing).collect()
}

/// A shape, placements, and what the devices hold.
type Tensor = (Vec<i64>, Vec<Word>, Vec<Vec<i64>>);

/// All tensors of a number of elements on a mesh.
fn tensors(number: i64, mesh: &[i64], strided: bool) -> Vec<Tensor> {
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

/// Plain shards are tried, and what the tensor is already: no strided shards, of which one may be cheaper. What leaves the
/// first device with more than it has comes after everything else.
#[test]
fn the_cheapest_target_is_no_dearer_than_any_of_plain_shards() {
    for (mesh, numbers) in
        [(&[2][..], &[12, 18, 24, 30][..]), (&[3], &[12, 20]), (&[4], &[16, 18]), (&[2, 2], &[8, 12])]
    {
        for &number in numbers {
            let (all, plain) = (tensors(number, mesh, true), tensors(number, mesh, false));
            for (shape, words, contents) in all.iter().step_by(1 + all.len() / 300) {
                for to in factorings(number, 3) {
                    let shard_alike = |other: &[Word]| {
                        words.iter().zip(other).all(|(a, b)| (*a == Word::Replicate) == (*b == Word::Replicate))
                    };
                    let targets = plain.iter().filter(|target| target.0 == to && shard_alike(&target.1));
                    let price = |after: &[Vec<i64>]| {
                        (after[0].len() > contents[0].len(), needed(contents, after).iter().sum::<i128>())
                    };
                    let best = targets.map(|target| price(&target.2)).min().unwrap();
                    let from = sharded(shape, mesh, words);
                    let (after, moved) = from.cheapest(&to).unwrap().unwrap();
                    assert_eq!(after.shape(), to);
                    let target = held(&to, mesh, &words_of(&after));
                    let exact = needed(contents, &target);
                    let exact = (exact.iter().sum::<i128>(), exact.iter().copied().max().unwrap());
                    assert_eq!((moved.elements, moved.most), exact, "{from} to {after}");
                    assert!(price(&target) <= best, "{from} as {to:?}: {after}");
                    let free = matches!(from.reshape(&to).unwrap(), Outcome::Free { .. });
                    assert!(!free || moved.elements == 0, "{from} as {to:?}: {after}");
                    assert!(free || mesh.len() > 1 || price(&target) == best, "{from} as {to:?}: {after}");
                }
            }
        }
    }
}
