//! The text of random nests, compiled and run beside loops that are walked here.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use indexpr::{Body, Language, Nest, Signedness, Width};
use shapetracker_testing::{Rng, limited, numbers};

use crate::random::{self, Plain};

/// A number that tells apart what an element has; the sum over all elements does not depend on their order.
fn mixed(numbers: impl IntoIterator<Item = i64>) -> u64 {
    mixed_from(0x9e37_79b9_7f4a_7c15, numbers)
}

fn mixed_from(start: u64, numbers: impl IntoIterator<Item = i64>) -> u64 {
    numbers
        .into_iter()
        .fold(start, |hash: u64, number| (hash ^ number as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(23))
}

/// What the body of a nest adds up over all elements, by definition.
fn expected(plain: &Plain, parameters: &[i64]) -> u64 {
    let loops = plain.sizes.len();
    let of = |point: Vec<i64>| {
        let accesses = plain.accesses.iter().map(|access| match access.holds(&point) {
            true => access.index.value(&point),
            false => -99,
        });
        mixed(point[..loops].iter().copied().chain(accesses))
    };
    plain.points(parameters).into_iter().map(of).fold(0, u64::wrapping_add)
}

/// A folder for the programs of a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("nests-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// Whether a program runs at all.
fn runs(program: &str) -> bool {
    let found = limited::output(Command::new(program).arg("--version"), b"");
    let found = found.is_ok_and(|output| output.status.success());
    if !found {
        println!("skipped: there is no `{program}`");
    }
    found
}

/// The lines that a program prints.
fn lines(command: &mut Command, text: &str) -> Vec<String> {
    let output = limited::output(command, b"").unwrap();
    assert!(output.status.success(), "{}\n{text}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// A nest with one width and signedness of those that hold its numbers.
fn typed(rng: &mut Rng, nest: &mut Nest) -> (Width, bool) {
    if rng.one_in(2) {
        nest.set_width(Width::Bits64).unwrap();
    } else {
        nest.set_width(Width::Bits32).unwrap();
    }
    let is_unsigned = rng.one_in(3);
    nest.set_signedness(if is_unsigned { Signedness::Unsigned } else { Signedness::Signed });
    (nest.width().unwrap(), is_unsigned)
}

/// For each of some random nests the names of its parameters, the text in a language around a body, and what it is to
/// print for some values of the parameters.
struct Case {
    plain: Plain,
    width: Width,
    is_unsigned: bool,
    code: String,
    calls: Vec<(Vec<i64>, u64)>,
}

fn cases(count: u32, language: Language, body: impl Fn(&Plain) -> Body) -> Vec<Case> {
    let mut cases = Vec::new();
    for case in numbers(count) {
        let mut rng = Rng(0xc0de_0000 + case);
        let (plain, mut nest) = random::nest(&mut rng);
        let (width, is_unsigned) = typed(&mut rng, &mut nest);
        let code = nest.code(language, &body(&plain)).unwrap();
        let parameters = random::parameters(&mut rng, &plain);
        let calls = parameters.into_iter().map(|values| {
            let sum = expected(&plain, &values);
            (values, sum)
        });
        cases.push(Case { calls: calls.collect(), plain, width, is_unsigned, code });
    }
    cases
}

fn compare(cases: &[Case], printed: &[String], program: &str) {
    let calls: Vec<(&Case, &(Vec<i64>, u64))> =
        cases.iter().flat_map(|case| case.calls.iter().map(move |call| (case, call))).collect();
    assert_eq!(printed.len(), calls.len(), "{program}");
    for (line, (case, (values, sum))) in printed.iter().zip(calls) {
        assert_eq!(line, &sum.to_string(), "{values:?} {:?}\n{}", case.plain, case.code);
    }
}

#[test]
fn c_computes_what_the_loops_say() {
    if !runs("cc") {
        return;
    }
    let body = |plain: &Plain| {
        let mut text = String::from("hash = 0x9e3779b97f4a7c15ull;\n");
        for name in &plain.names[..plain.sizes.len()] {
            text += &format!("mix(&hash, {{{name}}});\n");
        }
        for at in 0..plain.accesses.len() {
            text += &format!("mix(&hash, {{a{at}?}} ? {{a{at}}} : -99);\n");
        }
        Body::new(text + "sum += hash;")
    };
    let cases = cases(400, Language::C, body);
    let mut program = String::from(
        "#include <stdio.h>\n\
         static void mix(unsigned long long *hash, long long number) {\n\
         *hash = (*hash ^ (unsigned long long)number) * 0xbf58476d1ce4e5b9ull;\n\
         *hash = *hash << 23 | *hash >> 41;\n}\n",
    );
    let mut calls = String::new();
    for (number, case) in cases.iter().enumerate() {
        let kind = match (case.width, case.is_unsigned) {
            (Width::Bits32, false) => "int",
            (Width::Bits32, true) => "unsigned",
            (Width::Bits64, false) => "long long",
            (Width::Bits64, true) => "unsigned long long",
        };
        let names = &case.plain.names[case.plain.sizes.len()..];
        let mut arguments: Vec<String> = names.iter().map(|name| format!("{kind} {name}")).collect();
        let unused: String = names.iter().map(|name| format!("(void){name};\n")).collect();
        if arguments.is_empty() {
            arguments.push("void".into());
        }
        let arguments = arguments.join(", ");
        program += &format!(
            "static unsigned long long f{number}({arguments}) {{\nunsigned long long sum = 0, hash;\n(void)hash;\n{unused}{}\
             return sum;\n}}\n",
            case.code
        );
        for (values, _) in &case.calls {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            calls += &format!("printf(\"%llu\\n\", f{number}({}));\n", values.join(", "));
        }
    }
    program += &format!("int main(void) {{\n{calls}return 0;\n}}\n");
    let folder = folder("c");
    let (source, binary) = (folder.join("nests.c"), folder.join("nests"));
    fs::write(&source, &program).unwrap();
    let flags = ["-std=c11", "-Wall", "-Werror", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o"];
    lines(Command::new("cc").args(flags).arg(&binary).arg(&source), "");
    let printed = lines(&mut Command::new(&binary), "");
    compare(&cases, &printed, "c");
    fs::remove_dir_all(folder).unwrap();
}

/// Reductions: what stands before and after the reduced loops is run for each element, once, whatever the guards are.
#[test]
fn c_reduces_for_each_element() {
    if !runs("cc") {
        return;
    }
    let mut program = String::from(
        "#include <stdio.h>\n\
         static void mix(unsigned long long *hash, long long number) {\n\
         *hash = (*hash ^ (unsigned long long)number) * 0xbf58476d1ce4e5b9ull;\n\
         *hash = *hash << 23 | *hash >> 41;\n}\n",
    );
    let (mut calls, mut sums) = (String::new(), Vec::new());
    let (mut asked, mut held) = (0, 0);
    for case in numbers(200) {
        let mut rng = Rng(0xc0de_1000 + case);
        let (plain, nest, outer) = random::reduction(&mut rng);
        let names = &plain.names[..plain.sizes.len()];
        let mixes = |of: &str, names: &[String]| -> String {
            names.iter().map(|name| format!("mix(&{of}, {{{name}}});\n")).collect()
        };
        let inner = format!("hash = 1;\n{}", mixes("hash", names));
        let indices: String = (0..plain.accesses.len()).map(|at| format!("mix(&hash, {{a{at}}});\n")).collect();
        // A guard that the reduced loops decide is not known after them.
        let with = |guards: &[usize]| {
            let guards: String = guards.iter().map(|at| format!("mix(&part, {{a{at}?}});\n")).collect();
            let after = format!("{}{guards}sum += part;", mixes("part", &names[..outer]));
            let inner = inner.clone() + &indices + "part += hash;";
            nest.code(Language::C, &Body::new(inner).before("part = 0;").after(after))
        };
        let accesses = 0..plain.accesses.len();
        let known: Vec<usize> = accesses.filter(|at| with(&[*at]).is_ok()).collect();
        (asked, held) = (asked + plain.accesses.len(), held + known.len());
        let code = with(&known).unwrap();
        let kind = if nest.width().unwrap() == Width::Bits32 { "int" } else { "long long" };
        let parameters = &plain.names[plain.sizes.len()..];
        let mut arguments: Vec<String> = parameters.iter().map(|name| format!("{kind} {name}")).collect();
        let unused: String = parameters.iter().map(|name| format!("(void){name};\n")).collect();
        if arguments.is_empty() {
            arguments.push("void".into());
        }
        program += &format!(
            "static unsigned long long f{case}({}) {{\nunsigned long long sum = 0, part, hash;\n(void)hash;\n(void)part;\n\
             {unused}{code}return sum;\n}}\n",
            arguments.join(", ")
        );
        for values in random::parameters(&mut rng, &plain) {
            let texts: Vec<String> = values.iter().map(i64::to_string).collect();
            calls += &format!("printf(\"%llu\\n\", f{case}({}));\n", texts.join(", "));
            // Each element of the loops that are not reduced, with what its reduced loops add up to.
            let mut parts = std::collections::BTreeMap::<Vec<i64>, u64>::new();
            for point in plain.all_points(&values) {
                let part = parts.entry(point[..outer].to_vec()).or_default();
                if plain.accesses.iter().all(|access| access.holds(&point)) {
                    let indices = plain.accesses.iter().map(|access| access.index.value(&point));
                    let numbers = point[..plain.sizes.len()].iter().copied().chain(indices);
                    *part = part.wrapping_add(mixed_from(1, numbers));
                }
            }
            // Elements whose reduced loops never run are there as well.
            for point in plain.points_of(outer, &values) {
                parts.entry(point[..outer].to_vec()).or_default();
            }
            let of = |(point, part): (Vec<i64>, u64)| {
                let at = [&point[..], &vec![0; plain.sizes.len() - outer], &values].concat();
                let guards = known.iter().map(|access| i64::from(plain.accesses[*access].holds(&at)));
                mixed_from(part, point.iter().copied().chain(guards))
            };
            sums.push((parts.into_iter().map(of).fold(0, u64::wrapping_add), code.clone(), plain.clone()));
        }
    }
    assert!(held * 3 > asked, "{held} of {asked} guards are known after the reduced loops"); // 373 of 504
    program += &format!("int main(void) {{\n{calls}return 0;\n}}\n");
    let folder = folder("reduced");
    let (source, binary) = (folder.join("nests.c"), folder.join("nests"));
    fs::write(&source, &program).unwrap();
    let flags = ["-std=c11", "-Wall", "-Werror", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o"];
    lines(Command::new("cc").args(flags).arg(&binary).arg(&source), "");
    let printed = lines(&mut Command::new(&binary), "");
    assert_eq!(printed.len(), sums.len());
    for (line, (sum, code, plain)) in printed.iter().zip(sums) {
        assert_eq!(line, &sum.to_string(), "{plain:?}\n{code}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn rust_computes_what_the_loops_say() {
    if !runs("rustc") {
        return;
    }
    let body = |plain: &Plain| {
        let mut text = String::from("let mut hash = 0x9e37_79b9_7f4a_7c15u64;\n");
        for name in &plain.names[..plain.sizes.len()] {
            text += &format!("mix(&mut hash, i64::from({{{name}}}));\n");
        }
        for at in 0..plain.accesses.len() {
            text += &format!("mix(&mut hash, if {{a{at}?}} {{ i64::from({{a{at}}}) }} else {{ -99 }});\n");
        }
        Body::new(text + "sum = sum.wrapping_add(hash);")
    };
    let cases = cases(120, Language::Rust, body);
    let mut program = String::from(
        "#![allow(unused)]\n\
         fn mix(hash: &mut u64, number: i64) {\n\
         *hash = (*hash ^ number as u64).wrapping_mul(0xbf58_476d_1ce4_e5b9).rotate_left(23);\n}\n",
    );
    let mut calls = String::new();
    for (number, case) in cases.iter().enumerate() {
        let kind = if case.width == Width::Bits32 { "i32" } else { "i64" };
        let names = &case.plain.names[case.plain.sizes.len()..];
        let arguments: Vec<String> = names.iter().map(|name| format!("{name}: {kind}")).collect();
        program +=
            &format!("fn f{number}({}) -> u64 {{\nlet mut sum = 0u64;\n{}sum\n}}\n", arguments.join(", "), case.code);
        for (values, _) in &case.calls {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            calls += &format!("println!(\"{{}}\", f{number}({}));\n", values.join(", "));
        }
    }
    program += &format!("fn main() {{\n{calls}}}\n");
    let folder = folder("rust");
    let (source, binary) = (folder.join("nests.rs"), folder.join("nests"));
    fs::write(&source, &program).unwrap();
    let flags = ["--edition=2021", "-Coverflow-checks=on", "-Copt-level=0", "-o"];
    lines(Command::new("rustc").args(flags).arg(&binary).arg(&source), "");
    compare(&cases, &lines(&mut Command::new(&binary), ""), "rust");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn python_computes_what_the_loops_say() {
    if !runs("python3") {
        return;
    }
    let body = |plain: &Plain| {
        let mut text = String::from("hash = 0x9e3779b97f4a7c15\n");
        for name in &plain.names[..plain.sizes.len()] {
            text += &format!("hash = mix(hash, {{{name}}})\n");
        }
        for at in 0..plain.accesses.len() {
            text += &format!("hash = mix(hash, {{a{at}}} if {{a{at}?}} else -99)\n");
        }
        Body::new(text + "sum = (sum + hash) % 2**64")
    };
    let cases = cases(120, Language::Python, body);
    let mut program = String::from(
        "def mix(hash, number):\n    \
             hash = (hash ^ number % 2**64) * 0xbf58476d1ce4e5b9 % 2**64\n    \
             return hash << 23 & 2**64 - 1 | hash >> 41\n",
    );
    let mut calls = String::new();
    for (number, case) in cases.iter().enumerate() {
        let names = &case.plain.names[case.plain.sizes.len()..];
        let code: String = case.code.lines().map(|line| format!("    {line}\n")).collect();
        program += &format!("def f{number}({}):\n    sum = 0\n{code}    return sum\n", names.join(", "));
        for (values, _) in &case.calls {
            let values: Vec<String> = values.iter().map(i64::to_string).collect();
            calls += &format!("print(f{number}({}))\n", values.join(", "));
        }
    }
    program += &calls;
    let folder = folder("python");
    let source = folder.join("nests.py");
    fs::write(&source, &program).unwrap();
    compare(&cases, &lines(Command::new("python3").arg(&source), ""), "python");
    fs::remove_dir_all(folder).unwrap();
}
