//! What the tests of all crates share: random numbers that are the same on every machine, which of the random cases a run holds to
//! their properties, and programs that are run with a limit.
//!
//! `SHAPETRACKER_CASES=10` draws ten times as many cases, and 0.05 a twentieth of them. `SHAPETRACKER_PART=1/4` holds every fourth
//! of them, from the first on, and `2-4/4` all others: the project's test command runs the tests in two forms of the program, which
//! share the cases so.

pub mod limited;

use std::env;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::LazyLock;

/// Runs the examples of the guide, which belongs to no published package.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/your-compiler.md")]
struct YourCompiler;

/// A small generator of random numbers (splitmix64). Its state is the seed.
#[derive(Clone, Copy, Debug)]
pub struct Rng(pub u64);

impl Rng {
    /// A number below `bound`, or 0 where the bound is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound.max(1)
    }

    /// The same for places in lists.
    pub fn index(&mut self, bound: usize) -> usize {
        self.below(bound as u64) as usize
    }

    /// The same for sizes and strides; 0 for a bound of at most 1.
    pub fn int(&mut self, bound: i64) -> i64 {
        self.below(bound.max(1) as u64) as i64
    }

    /// One of some values.
    pub fn pick<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.index(list.len())]
    }

    /// True in one of so many cases.
    pub fn one_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}

/// The value of a variable of the environment, where it is set. Panics where it is not of its type.
pub fn environment<T: FromStr>(name: &str) -> Option<T> {
    let text = env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} must be a number, and is {text:?}")))
}

/// How many random cases there are in this run for a number of the default run.
pub fn drawn(cases: u32) -> u32 {
    (f64::from(cases) * environment("SHAPETRACKER_CASES").unwrap_or(1.0)) as u32
}

/// About how many of them are held to their property in this run: what tests that count sorts of cases compare with.
pub fn held(cases: u32) -> u32 {
    let (part, parts) = &*PART;
    (u64::from(drawn(cases)) * part.clone().count() as u64 / parts) as u32
}

/// Whether the case of a number, counted from 0, is held to its property in this run.
pub fn is_held(number: u64) -> bool {
    let (part, parts) = &*PART;
    part.contains(&(number % parts + 1))
}

/// The numbers, counted from 0, of the cases that are held in this run, of so many in the default run.
pub fn numbers(cases: u32) -> impl Iterator<Item = u64> {
    (0..u64::from(drawn(cases))).filter(|&number| is_held(number))
}

/// Whether the entry of a number in a recorded list is held in this run. No entry repeats another, so a quarter of the random cases goes
/// with all of them; with a tenth of the cases one entry of ten is held.
pub fn is_entry_held(number: usize) -> bool {
    let cases: f64 = environment("SHAPETRACKER_CASES").unwrap_or(1.0);
    let one_of = if cases < 0.25 { (1.0 / cases).clamp(1.0, 1000.0) as usize } else { 1 };
    number.is_multiple_of(one_of) && is_held((number / one_of) as u64)
}

/// Whether a case that a test has in a list is held in this run: where two forms of the program share the cases, one of them holds it.
/// `number` counts the variants of a text, which both forms share; where that begins depends on the text. Other than random cases
/// these do not become fewer by `SHAPETRACKER_CASES`.
pub fn is_text_held(text: &str, number: usize) -> bool {
    let hash =
        text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
    is_held((hash >> 32) + number as u64)
}

/// Whether this run judges what takes all cases together, such as how many of a list are dense. Of two forms that share the cases it is
/// the one with the larger part, which goes through all of them for it.
pub fn judges_sums() -> bool {
    let (part, parts) = &*PART;
    2 * part.clone().count() as u64 > *parts
}

/// Whether this run holds all cases and entries.
pub fn are_all_held() -> bool {
    environment("SHAPETRACKER_CASES").unwrap_or(1.0) >= 1.0 && PART.0.clone().count() as u64 == PART.1
}

/// Which cases of how many are held: all, unless the environment says otherwise.
static PART: LazyLock<(RangeInclusive<u64>, u64)> = LazyLock::new(|| match env::var("SHAPETRACKER_PART") {
    Ok(text) => part(&text).unwrap_or_else(|| panic!("SHAPETRACKER_PART must be like 1/4 or 2-4/4, and is {text:?}")),
    Err(_) => (1..=1, 1),
});

fn part(text: &str) -> Option<(RangeInclusive<u64>, u64)> {
    let (part, parts) = text.split_once('/')?;
    let (first, last) = part.split_once('-').unwrap_or((part, part));
    let (first, last, parts) = (first.parse().ok()?, last.parse().ok()?, parts.parse().ok()?);
    (1 <= first && first <= last && last <= parts).then_some((first..=last, parts))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_read() {
        assert_eq!(part("1/4"), Some((1..=1, 4)));
        assert_eq!(part("2-4/4"), Some((2..=4, 4)));
        for text in ["", "1", "0/4", "5/4", "3-2/4", "1-5/4", "a/4", "1/b"] {
            assert_eq!(part(text), None, "{text}");
        }
    }

    #[test]
    fn cases_of_a_text_are_shared() {
        // Whatever this run's part is, it holds as many of as many cases in a row, and for some texts it begins with another one.
        let (part, parts) = &*PART;
        let texts = || (0..40).map(|size| format!("({size}, 2).permute(1, 0)"));
        for text in texts() {
            let held = (0..*parts as usize).filter(|&number| is_text_held(&text, number));
            assert_eq!(held.count(), part.clone().count(), "{text}");
        }
        let first = texts().filter(|text| is_text_held(text, 0)).count();
        let is_whole = part.clone().count() as u64 == *parts;
        assert!(first > 0 && (first < 40 || is_whole), "{first} of 40");
    }

    #[test]
    fn the_numbers_are_those_of_splitmix64() {
        // The first outputs for the seed 1234567, as Sebastiano Vigna's program prints them.
        let mut rng = Rng(1_234_567);
        let outputs = [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423];
        assert!(outputs.iter().all(|&output| rng.below(u64::MAX) == output));
    }
}
