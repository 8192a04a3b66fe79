//! Which reshapes need no communication: every placement of every factoring, against all placements that there are.

use std::collections::HashMap;

use shapetracker_shard::Outcome;

use crate::oracle::{Word, by_contents, factorings, held, sentences, words};
use crate::{sharded, words_of};

/// How often an answer was what.
#[derive(Debug, Default)]
struct Count {
    asked: u64,
    free: u64,
    found: u64,
    missed: u64,
    wrong: u64,
}

impl Count {
    /// Asks for one reshape; `said` has what can be said of the new shape.
    fn ask(
        &mut self,
        (from, to): (&[i64], &[i64]),
        mesh: &[i64],
        words: &[Word],
        said: &HashMap<Vec<Vec<i64>>, Vec<Vec<Word>>>,
    ) {
        let contents = held(from, mesh, words);
        let tensor = sharded(from, mesh, words);
        self.asked += 1;
        self.free += u64::from(said.contains_key(&contents));
        match tensor.reshape(to).unwrap() {
            Outcome::Free { after } => {
                assert_eq!((after.shape(), after.mesh()), (to, tensor.mesh()));
                if held(to, mesh, &words_of(&after)) == contents {
                    self.found += 1;
                } else {
                    self.wrong += 1;
                    println!("wrong: {tensor} as {to:?} is not {after}");
                }
            }
            other => {
                if let Some(words) = said.get(&contents) {
                    self.missed += 1;
                    println!("missed: {tensor} as {to:?} is {words:?}, not {other:?}");
                }
            }
        }
    }

    /// Asks for every reshape of every placement that is wanted, of all factorings of some numbers.
    fn ask_all(
        &mut self,
        numbers: impl IntoIterator<Item = i64>,
        mesh: &[i64],
        wanted: impl Fn(&[i64], &[Word]) -> bool,
        strided: bool,
    ) {
        for number in numbers {
            let shapes = factorings(number, 3);
            let said: Vec<_> = shapes.iter().map(|shape| by_contents(shape, mesh)).collect();
            for from in &shapes {
                for words in sentences(from, mesh, strided).iter().filter(|words| wanted(from, words)) {
                    for (to, said) in shapes.iter().zip(&said) {
                        self.ask((from, to), mesh, words, said);
                    }
                }
            }
        }
    }

    fn is_complete(&self, free: u64) {
        println!("{self:?}");
        assert_eq!((self.missed, self.wrong), (0, 0), "{self:?}");
        assert_eq!((self.found, self.free), (free, free), "{self:?}");
    }
}
