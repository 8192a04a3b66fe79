//! Which of the random cases a run holds.

/// The seeds of so many cases: all of them, or with `SHAPETRACKER_PART=1/2` every second one from the first on. The project's
/// test command runs the tests in two forms, which share the cases so.
pub(crate) fn seeds(count: u64) -> Vec<u64> {
    let part = std::env::var("SHAPETRACKER_PART").unwrap_or_else(|_| "1/1".to_owned());
    let (part, parts) = part.split_once('/').expect("a part is like 1/2");
    let (part, parts): (u64, usize) = (part.parse().expect("a number"), parts.parse().expect("a number"));
    (part - 1..count).step_by(parts).collect()
}
