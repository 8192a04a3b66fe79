//! One instruction of a warp, lane by lane and word by word.

use std::collections::BTreeMap;

use crate::AccessPattern;
use crate::hardware::{BANKS, LANES, WORD};

/// One instruction of one warp, as shared memory serves it: what its lanes access in each phase.
///
/// ```
/// use shapetracker_cute::{AccessPattern, Layout};
///
/// // A column of a row-major matrix of 4 by 32 floats.
/// let column: Layout = "(4,32):(32,1)".parse()?;
/// let instruction = AccessPattern::new(column, 4)?.instruction(0, 1).unwrap();
/// let phase = &instruction.phases[0];
/// assert_eq!(phase.lanes, [(0, 4), (1, 132), (2, 260), (3, 388)]);
/// assert_eq!((phase.degree, &phase.words[1]), (4, &(33, vec![1]))); // words 1, 33, 65 and 97 of bank 1
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// What is served together: all lanes, or those of 8 or 16 bytes in groups of 16 or 8.
    pub phases: Vec<Phase>,
}

/// The lanes that are served together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Phase {
    /// The threads, and the byte at which each begins.
    pub lanes: Vec<(i64, i64)>,
    /// The words of 4 bytes that are accessed, in ascending order, and by which threads.
    pub words: Vec<(i64, Vec<i64>)>,
    /// The degree of the bank conflict: the largest number of these words in one bank. 1 is free of conflicts.
    pub degree: i64,
}

impl Phase {
    /// The bank that a word is in: word `w` is in bank `w mod 32`.
    ///
    /// ```
    /// assert_eq!(shapetracker_cute::Phase::bank(33), 1);
    /// ```
    pub fn bank(word: i64) -> i64 {
        word.rem_euclid(BANKS)
    }

    /// The lanes of a phase with the bytes that each moves.
    fn new(lanes: Vec<(i64, i64)>, bytes: i64) -> Phase {
        let mut accessed: BTreeMap<i64, Vec<i64>> = BTreeMap::new();
        for &(thread, at) in &lanes {
            for word in words_of(at, bytes) {
                accessed.entry(word).or_default().push(thread);
            }
        }
        let words: Vec<(i64, Vec<i64>)> = accessed.into_iter().collect();
        let degree = degree_of(words.iter().map(|(word, _)| *word));
        Phase { lanes, words, degree }
    }
}

/// The words that some bytes lie in.
pub(crate) fn words_of(at: i64, bytes: i64) -> std::ops::RangeInclusive<i64> {
    at.div_euclid(WORD)..=(at + bytes - 1).div_euclid(WORD)
}

/// The largest number of some different words that one bank has.
pub(crate) fn degree_of(words: impl Iterator<Item = i64>) -> i64 {
    let mut banks = [0; BANKS as usize];
    words.for_each(|word| banks[Phase::bank(word) as usize] += 1);
    banks.into_iter().max().unwrap_or(0)
}

impl AccessPattern {
    /// What the lanes of a warp access when they move their values from `value` on, as many as a vector has; nothing
    /// where there is no such warp or value, or `value` is no multiple of the vector.
    ///
    /// ```
    /// use shapetracker_cute::{AccessPattern, Layout};
    ///
    /// let rows: Layout = "(32,8):(8,1)".parse()?;
    /// let pattern = AccessPattern::new(rows, 2)?.with_vector(8)?;
    /// // 16 bytes each: four phases of eight lanes.
    /// assert_eq!(pattern.instruction(0, 0).unwrap().phases.len(), 4);
    /// assert_eq!((pattern.instruction(1, 0), pattern.instruction(0, 4)), (None, None));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn instruction(&self, warp: i64, value: i64) -> Option<Instruction> {
        let threads = self.threads();
        let begin = warp.checked_mul(LANES).filter(|begin| (0..threads).contains(begin))?;
        if value < 0 || value >= self.values() || value % self.vector() != 0 {
            return None;
        }
        let at = |thread: i64| self.address(thread, value).map(|at| (thread, at * self.element_bytes()));
        let lanes = (begin..threads.min(begin + LANES)).map(at).collect::<Option<Vec<_>>>()?;
        let phases = lanes.chunks(self.lanes_of_a_phase());
        let bytes = self.vector() * self.element_bytes();
        Some(Instruction { phases: phases.map(|phase| Phase::new(phase.to_vec(), bytes)).collect() })
    }

    /// How many lanes shared memory serves together.
    pub(crate) fn lanes_of_a_phase(&self) -> usize {
        (LANES * WORD / (self.vector() * self.element_bytes()).max(WORD)) as usize
    }
}
