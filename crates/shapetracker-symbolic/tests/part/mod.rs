//! Which of the random cases a run holds.

use std::env;

/// The seeds of so many cases: `SHAPETRACKER_CASES=10` is ten times as many, and `SHAPETRACKER_PART=1/2` every second one from the
/// first on. The project's test command runs the tests in two forms, which share the cases so.
pub(crate) fn seeds(count: u64) -> Vec<u64> {
    let factor: f64 = match env::var("SHAPETRACKER_CASES") {
        Ok(text) => text.parse().unwrap_or_else(|_| panic!("SHAPETRACKER_CASES is `{text}`, which is no number")),
        Err(_) => 1.0,
    };
    let part = env::var("SHAPETRACKER_PART").unwrap_or_else(|_| "1/1".to_owned());
    let (part, parts) = part.split_once('/').expect("a part is like 1/2");
    let (part, parts): (u64, usize) = (part.parse().expect("a number"), parts.parse().expect("a number"));
    (part - 1..(count as f64 * factor) as u64).step_by(parts).collect()
}
