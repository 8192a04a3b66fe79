//! The text of random nests, compiled and run beside loops that are walked here.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use indexpr::{Body, Language, Width};
use shapetracker_testing::{Rng, limited, numbers};

use crate::functions::{self, Function, expected, typed};
use crate::random::{self, Plain};

/// What the program that runs OpenCL ends with where there is no device.
const NO_DEVICE: i32 = 77;

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

/// For each of some random nests the names of its parameters, the text in a language around a body, and what it is to
/// print for some values of the parameters.
struct Case {
    plain: Plain,
    width: Width,
    code: String,
    calls: Vec<(Vec<i64>, u64)>,
}

fn cases(count: u32, language: Language, body: impl Fn(&Plain) -> Body) -> Vec<Case> {
    let mut cases = Vec::new();
    for case in numbers(count) {
        let mut rng = Rng(0xc0de_0000 + case);
        let (plain, mut nest) = random::nest(&mut rng);
        let (width, _) = typed(&mut rng, &mut nest);
        let code = nest.code(language, &body(&plain)).unwrap();
        let parameters = random::parameters(&mut rng, &plain);
        let calls = parameters.into_iter().map(|values| {
            let sum = expected(&plain, &values);
            (values, sum)
        });
        cases.push(Case { calls: calls.collect(), plain, width, code });
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

/// Runs functions in C, each with the values of its calls.
fn run_c(name: &str, functions: &[Function]) {
    if !runs("cc") {
        return;
    }
    let mut program = format!("#include <stdio.h>\n{}", functions::head(Language::C));
    functions.iter().for_each(|function| program += &function.text);
    program += "int main(void) {\n";
    for function in functions {
        for (values, _) in &function.calls {
            program += &format!("    printf(\"%llu\\n\", {});\n", function.call(values));
        }
    }
    program += "    return 0;\n}\n";
    let folder = folder(name);
    let (source, binary) = (folder.join("nests.c"), folder.join("nests"));
    fs::write(&source, &program).unwrap();
    let flags = ["-std=c11", "-Wall", "-Werror", "-O1", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o"];
    lines(Command::new("cc").args(flags).arg(&binary).arg(&source), "");
    functions::compare(functions, &lines(&mut Command::new(&binary), ""), name);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn c_computes_what_the_loops_say() {
    run_c("c", &functions::plain(400, Language::C));
}

/// Reductions: what stands before and after the reduced loops is run for each element, once, whatever the guards are.
#[test]
fn c_reduces_for_each_element() {
    run_c("reduced", &functions::reductions(200, Language::C));
}

/// Each call is a work-item. What has no OpenCL at all, or no device for it, says so.
#[test]
fn opencl_computes_what_the_loops_say() {
    if !runs("cc") {
        return;
    }
    let folder = folder("opencl");
    let (host, binary) = (folder.join("host.c"), folder.join("host"));
    fs::write(&host, include_str!("host.c")).unwrap();
    let mut compile = Command::new("cc");
    compile.args(["-std=c11", "-Wall", "-Werror", "-O1", "-o"]).arg(&binary).arg(&host).arg("-lOpenCL");
    let compiled = limited::output(&mut compile, b"").unwrap();
    if !compiled.status.success() {
        let why = String::from_utf8_lossy(&compiled.stderr).into_owned();
        let is_missing = ["CL/cl.h", "-lOpenCL", "'OpenCL'", "library OpenCL"].iter().any(|what| why.contains(what));
        assert!(is_missing, "{why}");
        println!("skipped: there is no OpenCL to compile with (apt-get install ocl-icd-opencl-dev opencl-headers)");
        return;
    }
    let mut functions = functions::plain(60, Language::OpenCl);
    functions.append(&mut functions::reductions(20, Language::OpenCl));
    if functions.is_empty() {
        return;
    }
    let mut program = functions::head(Language::OpenCl);
    functions.iter().for_each(|function| program += &function.text);
    program += "__kernel void run(__global ulong *sums) {\n    switch (get_global_id(0)) {\n";
    let mut calls = 0;
    for function in &functions {
        for (values, _) in &function.calls {
            program += &format!("    case {calls}: sums[{calls}] = {}; break;\n", function.call(values));
            calls += 1;
        }
    }
    program += "    }\n}\n";
    let source = folder.join("nests.cl");
    fs::write(&source, &program).unwrap();
    let mut run = Command::new(&binary);
    // PoCL keeps what it compiled; here it does so in a folder that goes away.
    run.arg(&source).arg(calls.to_string()).env("POCL_CACHE_DIR", &folder);
    let output = limited::output(&mut run, b"").unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.code() == Some(NO_DEVICE) {
        println!("skipped: {} (apt-get install pocl-opencl-icd)", stderr.trim_end());
        return;
    }
    assert!(output.status.success(), "{}: {stderr}", source.display());
    let printed: Vec<String> = stdout.lines().map(str::to_owned).collect();
    functions::compare(&functions, &printed, "opencl");
    println!("{}: {calls} calls of {} nests", stderr.trim_end(), functions.len());
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
