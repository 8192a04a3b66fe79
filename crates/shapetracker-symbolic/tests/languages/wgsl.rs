//! WGSL by the validator of `naga`.

use indexpr::Language;
use naga::valid::{Capabilities, ValidationFlags, Validator};

use crate::cases;
use shapetracker_testing::judges_sums;

#[test]
fn kernels_are_valid() {
    let (mut valid, mut refused) = (0, 0);
    for case in cases::all() {
        match case.code.kernel(Language::Wgsl) {
            Ok(kernel) => {
                let module = naga::front::wgsl::parse_str(&kernel).map_err(|error| error.emit_to_string(&kernel));
                let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
                let valid_module = module.and_then(|module| {
                    validator.validate(&module).map(drop).map_err(|error| error.emit_to_string(&kernel))
                });
                valid_module.unwrap_or_else(|error| panic!("{}:\n{kernel}\n{error}", case.name));
                valid += 1;
            }
            Err(error) => {
                assert!(error.to_string().starts_with("wgsl: "), "{}: {error}", case.name);
                refused += 1;
            }
        }
    }
    println!("{valid} kernels are valid, {refused} need more than 32 bits");
    assert!(!judges_sums() || valid > 3);
}
