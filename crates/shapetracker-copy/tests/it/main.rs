//! The tests that decide whether this crate moves the right bytes.
//!
//! [`oracle`] says which address every index reads, element by element and without anything of the library's; [`naive`]
//! moves one element at a time by that. Both are held against plans on layouts recorded from models, on random ones and
//! on shapes chosen to be awkward, under guarded, unaligned memory of the exact length. `SHAPETRACKER_CASES=10` runs ten
//! times as many random cases (0.1 a tenth of them), and `SHAPETRACKER_SEED=7` draws others than every default run.

#[allow(dead_code, reason = "shared with the library's own tests")]
#[path = "../../../shapetracker/tests/it/oracle.rs"]
mod oracle;
#[allow(dead_code, reason = "shared with the library's own tests")]
#[path = "../../../shapetracker/tests/it/random.rs"]
mod random;

mod memory;
mod naive;

mod awkward;
mod bad_input;
mod corpus;
mod drawn;
mod miri;
mod planning;
mod shapes;
mod typed;
