//! WGSL by the validator and constant evaluator of `naga`.

use naga::valid::{Capabilities, ValidationFlags, Validator};
use shapetracker::expr::Language;

use crate::cases;
use crate::random::{evaluate, inputs, samples};
use shapetracker_testing::judges_sums;

fn validate(text: &str) -> Result<(), String> {
    let module = naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?;
    let mut validator = Validator::new(ValidationFlags::all(), Capabilities::empty());
    validator.validate(&module).map(drop).map_err(|error| error.emit_to_string(text))
}

#[test]
fn kernels_are_valid() {
    let (mut valid, mut refused) = (0, 0);
    for case in cases::held() {
        match case.code.kernel(Language::Wgsl) {
            Ok(kernel) => {
                validate(&kernel).unwrap_or_else(|error| panic!("{}:\n{kernel}\n{error}", case.name));
                valid += 1;
            }
            Err(error) => {
                assert!(error.to_string().starts_with("wgsl: its integers have 32 bits"), "{}: {error}", case.name);
                refused += 1;
            }
        }
    }
    println!("{valid} kernels are valid, {refused} need more than 32 bits");
    assert!(!judges_sums() || valid > 40 && refused > 0);
}

/// The code of expressions, with constants for all that is not: the validator computes it.
fn assertion(code: &str, values: &[(&str, i64)], results: &[(&str, String)]) -> String {
    let mut text: String = values.iter().map(|(name, value)| format!("    const {name}: i32 = {value};\n")).collect();
    text += &code.lines().map(|line| format!("    {}\n", line.replacen("let ", "const ", 1))).collect::<String>();
    text += &results.iter().map(|(name, value)| format!("    const_assert {name} == {value};\n")).collect::<String>();
    format!("fn f() {{\n{text}}}\n")
}

#[test]
fn code_has_the_right_values() {
    let mut checked = 0;
    for case in cases::held() {
        let Ok(code) = case.code.code(Language::Wgsl) else { continue };
        let names: Vec<String> = (0..case.shape.len()).map(|axis| format!("idx{axis}")).collect();
        let step = (case.addresses.len() / 20).max(1);
        for (place, address) in case.addresses.iter().enumerate().step_by(step) {
            let mut rest = place as i64;
            let mut values = Vec::new();
            for (name, size) in names.iter().zip(&case.shape).rev() {
                values.push((&name[..], rest % size));
                rest /= size;
            }
            let mut results = vec![("valid", address.is_some().to_string())];
            results.extend(address.map(|address| ("index", address.to_string())));
            let text = assertion(&code, &values, &results);
            validate(&text).unwrap_or_else(|error| panic!("{}:\n{text}\n{error}", case.name));
            checked += 1;
        }
    }
    println!("{checked} elements read what they should");
    assert!(!judges_sums() || checked > 500);
}

#[test]
fn random_expressions_have_the_right_values() {
    let mut checked = 0;
    for sample in samples(false) {
        let graph = &sample.graph;
        let Ok(code) = graph.code(Language::Wgsl, &[("number", sample.number), ("condition", sample.condition)]) else {
            continue;
        };
        let inputs = inputs(graph);
        for input in inputs.iter().step_by((inputs.len() / 20).max(1)) {
            let values: Vec<(&str, i64)> =
                graph.variables().iter().map(|variable| &variable.name[..]).zip(input.iter().copied()).collect();
            let condition = evaluate(graph, sample.condition, input) == 1;
            let number = evaluate(graph, sample.number, input);
            let text =
                assertion(&code, &values, &[("number", number.to_string()), ("condition", condition.to_string())]);
            validate(&text).unwrap_or_else(|error| panic!("{text}\n{error}"));
            checked += 1;
        }
    }
    println!("{checked} values are what they should be");
    assert!(!judges_sums() || checked > 500);
}
