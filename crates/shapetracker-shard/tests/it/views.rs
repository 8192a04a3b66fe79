//! Which reshapes need no communication: every placement of every factoring, against all placements that there are.

use std::collections::HashMap;

use shapetracker_shard::{Check, Outcome, Sharded, Witness};

use crate::oracle::{Word, by_contents, devices, factorings, held, index, is_product, sentences};
use crate::{sharded, words_of};
use shapetracker_testing::{is_held, judges_sums};

/// The placements by what they say.
type Said = HashMap<Vec<Vec<i64>>, Vec<Vec<Word>>>;

/// How often an answer was what.
#[derive(Debug, Default)]
struct Count {
    asked: u64,
    free: u64,
    found: u64,
    unsayable: u64,
    moves: u64,
    wrong: u64,
}

impl Count {
    /// Asks for one reshape; `said` has what can be said of the new shape.
    fn ask(&mut self, (from, to): (&[i64], &[i64]), mesh: &[i64], words: &[Word], said: &Said) {
        let contents = held(from, mesh, words);
        let tensor = sharded(from, mesh, words);
        let outcome = tensor.reshape(to).unwrap();
        self.asked += 1;
        let right = if let Some(words) = said.get(&contents) {
            self.free += 1;
            match &outcome {
                Outcome::Free { after } => {
                    self.found += 1;
                    (after.shape(), after.mesh()) == (to, tensor.mesh()) && words.contains(&words_of(after))
                }
                _ => false,
            }
        } else if contents.iter().all(|held| is_product(to, held)) {
            self.unsayable += 1;
            matches!(outcome, Outcome::Unsayable { .. })
        } else {
            self.moves += 1;
            matches!(&outcome, Outcome::Moves { why, .. } if is_evidence(why, to, mesh, &contents))
        };
        if !right {
            self.wrong += 1;
            if self.wrong <= 50 {
                let words = said.get(&contents).map(|words| &words[0]);
                println!("{tensor} as {to:?}: {outcome:?}, but the lists say {words:?}");
            }
        }
    }

    /// Asks for every reshape of every placement that is wanted, of all factorings of some numbers.
    fn ask_all(
        &mut self,
        numbers: impl IntoIterator<Item = i64>,
        mesh: &[i64],
        strided: bool,
        wanted: impl Fn(&[i64], &[Word]) -> bool,
    ) {
        for number in numbers.into_iter().filter(|&number| judges_sums() || is_held(number as u64)) {
            let shapes = factorings(number, 3);
            let said: Vec<Said> = shapes.iter().map(|shape| by_contents(shape, mesh)).collect();
            for from in &shapes {
                for words in sentences(from, mesh, strided).iter().filter(|words| wanted(from, words)) {
                    for (to, said) in shapes.iter().zip(&said) {
                        self.ask((from, to), mesh, words, said);
                    }
                }
            }
        }
    }

    fn is_exact(&self, asked: u64, free: u64) {
        println!("{self:?}");
        assert_eq!((self.wrong, self.found), (0, self.free), "{self:?}");
        assert!(!judges_sums() || (self.asked, self.free) == (asked, free), "{self:?}, of {asked} and {free}");
    }
}

/// Whether a witness shows that a device holds no product of indices: two of its elements, and one that it does not have,
/// whose index along each axis is that of one of the two.
fn is_evidence(why: &Witness, shape: &[i64], mesh: &[i64], contents: &[Vec<i64>]) -> bool {
    let Some(device) = devices(mesh).iter().position(|device| *device == why.device) else { return false };
    let held = &contents[device];
    let given = why.local.map(|local| usize::try_from(local).ok().and_then(|local| held.get(local)).copied());
    let (Some(first), Some(second), Some(missing)) = (given[0], given[1], why.missing) else { return false };
    let between = || {
        let (first, second) = (index(shape, first), index(shape, second));
        index(shape, missing).iter().zip(first.iter().zip(&second)).all(|(at, (a, b))| at == a || at == b)
    };
    let numel: i64 = shape.iter().product();
    given == why.global && (0..numel).contains(&missing) && !held.contains(&missing) && between()
}

fn is_strided(word: &Word) -> bool {
    matches!(word, Word::Strided(..))
}

fn is_even(shape: &[i64], mesh: &[i64], words: &[Word]) -> bool {
    let mut left = shape.to_vec();
    words.iter().zip(mesh).all(|(word, size)| {
        let (axis, pieces) = match *word {
            Word::Replicate => return true,
            Word::Shard(axis) => (axis, 1),
            Word::Strided(axis, pieces) => (axis, pieces),
        };
        let even = left[axis] % (pieces * size) == 0;
        left[axis] /= size;
        even
    })
}

#[test]
fn the_silent_case_of_torch_is_strided_by_two_pieces() {
    let tensor = sharded(&[4, 4], &[2], &[Word::Shard(1)]);
    let flat = tensor.reshape([16]).unwrap().free().unwrap();
    assert_eq!(flat.to_string(), "(16,) @ 2 : SS(0, 4)");
    let after = flat.reshape([2, 8]).unwrap().free().unwrap();
    assert_eq!(after.to_string(), "(2, 8) @ 2 : SS(1, 2)");
    // What torch 2.15 says.
    let claimed = sharded(&[2, 8], &[2], &[Word::Strided(1, 4)]);
    assert!(matches!(flat.check(&claimed).unwrap(), Check::Refuted(_)));
}

#[test]
fn even_shards_on_one_mesh_axis() {
    let mut count = Count::default();
    for size in [2, 3, 4] {
        let wanted = |from: &[i64], words: &[Word]| words[0] != Word::Replicate && is_even(from, &[size], words);
        count.ask_all(8..=48, &[size], false, wanted);
    }
    count.is_exact(8_695, 5_000);
}

#[test]
fn uneven_shards_on_one_mesh_axis() {
    let mut count = Count::default();
    for size in [2, 3, 4] {
        count.ask_all(8..=48, &[size], false, |from, words| !is_even(from, &[size], words));
    }
    count.is_exact(10_994, 4_576);
}

#[test]
fn strided_shards_on_one_mesh_axis() {
    let mut count = Count::default();
    for size in [2, 3, 4] {
        count.ask_all(8..=48, &[size], true, |_, words| is_strided(&words[0]));
    }
    count.is_exact(98_178, 54_467);
}

#[test]
fn five_to_seven_devices() {
    let mut count = Count::default();
    for size in [5, 6, 7] {
        count.ask_all([12, 20, 24, 30, 35, 36, 42, 48], &[size], true, |_, _| true);
    }
    count.is_exact(85_080, 43_318);
}

#[test]
fn two_mesh_axes() {
    let mut count = Count::default();
    for mesh in [[2, 2], [2, 3], [3, 2], [2, 4], [4, 2], [3, 3]] {
        count.ask_all(8..=48, &mesh, false, |_, _| true);
    }
    count.is_exact(197_646, 96_666);
}

#[test]
fn two_mesh_axes_strided() {
    let mut count = Count::default();
    for mesh in [[2, 2], [2, 3], [3, 2], [2, 4]] {
        count.ask_all(8..=24, &mesh, true, |_, words| words.iter().any(is_strided));
    }
    count.is_exact(303_564, 165_450);
}

#[test]
fn three_mesh_axes() {
    let mut count = Count::default();
    for (mesh, numbers) in [([2, 2, 2], [8, 12]), ([2, 3, 2], [10, 12]), ([3, 1, 2], [8, 9])] {
        count.ask_all(numbers, &mesh, false, |_, _| true);
    }
    for mesh in [[2, 2, 2], [2, 1, 3]] {
        count.ask_all([6, 8], &mesh, true, |_, words| words.iter().any(is_strided));
    }
    count.is_exact(23_526, 18_585);
}

/// What is claimed of a tensor under the same or another shape: proved exactly where the lists are equal, and else refuted by
/// one local number under which the two have different elements.
fn check(before: &Sharded, contents: &[Vec<i64>], claimed: &Sharded, claims: &[Vec<i64>], mesh: &[i64]) {
    match before.check(claimed).unwrap() {
        Check::Proved => assert_eq!(contents, claims, "{before} is not {claimed}"),
        Check::Refuted(why) => {
            let device = devices(mesh).iter().position(|device| *device == why.device).expect("a device of the mesh");
            assert_eq!(why.local[0], why.local[1], "{why:?}");
            let at = |held: &[i64]| usize::try_from(why.local[0]).ok().and_then(|local| held.get(local)).copied();
            assert_eq!(why.global, [at(&contents[device]), at(&claims[device])], "{before} as {claimed}: {why:?}");
            assert_ne!(why.global[0], why.global[1], "{before} as {claimed}: {why:?}");
        }
        other => panic!("{before} as {claimed}: {other:?}"),
    }
}

#[test]
fn claims_are_proved_or_refuted_with_an_element() {
    for number in [8, 12, 18] {
        for mesh in [&[2][..], &[3], &[4], &[2, 2]] {
            let strided = mesh.len() == 1 || number == 8;
            let shapes = factorings(number, 3);
            let all: Vec<_> = (shapes.iter())
                .flat_map(|shape| sentences(shape, mesh, strided).into_iter().map(move |words| (shape, words)))
                .map(|(shape, words)| (sharded(shape, mesh, &words), held(shape, mesh, &words)))
                .collect();
            // Every fifth pair of tensors: which they are does not matter, and all of them would take minutes.
            let pairs = all.iter().flat_map(|before| all.iter().map(move |claimed| (before, claimed)));
            for (before, claimed) in pairs.step_by(if all.len() > 100 { 5 } else { 1 }) {
                check(&before.0, &before.1, &claimed.0, &claimed.1, mesh);
            }
        }
    }
}
