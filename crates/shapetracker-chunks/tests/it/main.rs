//! The tests that decide whether chunks are planned right.
//!
//! [`oracle`] says which address every index reads, element by element and without anything of the library's; which chunk has
//! an address, and everything that follows from it, is counted here the same way. `SHAPETRACKER_CASES=10` runs ten times as
//! many random cases, and `SHAPETRACKER_SEED=7` draws others than every default run.

#[allow(dead_code, reason = "shared with the library's own tests")]
#[path = "../../../shapetracker/tests/it/oracle.rs"]
mod oracle;
#[allow(dead_code, reason = "shared with the library's own tests")]
#[path = "../../../shapetracker/tests/it/random.rs"]
mod random;

mod brute;

mod bad_input;
mod chains;
mod large;
mod reshapes;
