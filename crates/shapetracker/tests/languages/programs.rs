//! Programs of many cases, compiled and run.

use std::fmt::Write;

use shapetracker::expr::Language;

use crate::cases::{self, Case};
use crate::gpu;
use crate::tools::{START, Tool, hash};

/// A line that each case should print, and says which ones do not.
pub(crate) fn compare(what: &str, printed: &[String], expected: &[(String, u64)]) {
    let lines: Vec<String> = expected.iter().map(|(_, hash)| format!("{hash:016x}")).collect();
    let pairs = expected.iter().zip(&lines).zip(printed);
    let wrong: Vec<&str> =
        pairs.filter(|((_, line), printed)| line != printed).map(|(((name, _), _), _)| &name[..]).collect();
    assert!(wrong.is_empty(), "{what}: {} cases of {} are wrong: {}", wrong.len(), lines.len(), wrong.join(", "));
    assert_eq!(lines.len(), printed.len(), "{what}: every case prints a line");
    println!("{what}: {} programs read what they should", lines.len());
}

/// What the code of a case should read: the address of each element, and -1 where it has none.
fn read(case: &Case) -> (String, u64) {
    (format!("{} (code)", case.name), hash(case.addresses.iter().map(|address| address.unwrap_or(-1))))
}

/// What its kernel should write.
fn written(case: &Case) -> (String, u64) {
    (format!("{} (kernel)", case.name), hash(case.gathered()))
}

pub(crate) fn indented(code: &str) -> String {
    code.lines().map(|line| format!("    {line}\n")).collect()
}

/// The type of the signed or the unsigned numbers of a snippet.
pub(crate) fn number_type(language: Language, code: &str, is_unsigned: bool) -> &'static str {
    let wide = ["const long long ", ": i64", "const long "].into_iter().any(|declaration| code.contains(declaration));
    match (language, wide, is_unsigned) {
        (Language::Rust, false, _) => "i32",
        (Language::Rust, true, _) => "i64",
        (_, false, false) => "int",
        (_, false, true) => "unsigned",
        (Language::C | Language::Cuda, true, false) => "long long",
        (Language::C | Language::Cuda, true, true) => "unsigned long long",
        (_, true, false) => "long",
        (_, true, true) => "unsigned long",
    }
}

/// A variable that is never negative is expected to be unsigned in C and its relatives, and may be signed as well; the
/// programs have both sorts, in turns. Compilers warn of comparisons between the types then.
pub(crate) fn has_unsigned_variables(number: usize) -> bool {
    number.is_multiple_of(2)
}

/// A function in which a comparison between signed and unsigned numbers is no mistake.
pub(crate) fn mixed(number: usize, function: &str) -> String {
    if has_unsigned_variables(number) {
        return function.into();
    }
    format!(
        "#pragma GCC diagnostic push\n#pragma GCC diagnostic ignored \"-Wsign-compare\"\n{function}\
         #pragma GCC diagnostic pop\n\n"
    )
}

fn code(case: &Case, language: Language) -> String {
    case.code.code(language).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

fn kernel(case: &Case, language: Language) -> String {
    case.code.kernel(language).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

/// The beginning of a program in C or C++.
pub(crate) fn c_head() -> String {
    format!(
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n\
         #define uint unsigned\n#define ulong unsigned long\n\
         static uint64_t hash = {START:#x}u;\n\
         static void mix(int64_t number) {{ hash = (hash ^ (uint64_t)number) * 0x100000001b3u; }}\n\
         static void show(void) {{ printf(\"%016llx\\n\", (unsigned long long)hash); hash = {START:#x}u; }}\n\n"
    )
}

/// A function that walks all indices of a case and mixes what its code reads.
fn c_walk(case: &Case, number: usize, language: Language) -> String {
    let code = code(case, language);
    // Compilers warn of a natural number that is to be less than 0.
    let kind = number_type(language, &code, has_unsigned_variables(number) && !case.shape.contains(&0));
    let mut text = format!("static void walk_{number}(void) {{\n");
    for (axis, size) in case.shape.iter().enumerate() {
        let _ = writeln!(text, "for ({kind} idx{axis} = 0; idx{axis} < {size}; ++idx{axis}) {{ (void)idx{axis};");
    }
    text += &indented(&code);
    mixed(number, &(text + "    mix(valid ? index : -1);\n" + &"}".repeat(case.shape.len()) + "\nshow();\n}\n\n"))
}

/// A function that runs a kernel on a buffer of just the right length and mixes what it writes. `call` runs it.
fn c_run(case: &Case, number: usize, kernel: &str, call: &str) -> String {
    let (input, elements) = (case.buffer_len(), case.addresses.len());
    let call = call.replace("INPUTS", &input.to_string());
    format!(
        "#define gather gather_{number}\n{kernel}\n\
         static void run_{number}(void) {{\n\
         const long elements = {elements};\n\
         float *in = (float *)malloc({input} * sizeof(float)), *out = (float *)malloc({elements} * sizeof(float));\n\
         for (long i = 0; i < {input}; ++i) in[i] = (float)(i + 1);\n\
         for (long i = 0; i < elements; ++i) out[i] = -1;\n\
         {call}\n\
         for (long i = 0; i < elements; ++i) mix((int64_t)out[i]);\n\
         free(in);\nfree(out);\nshow();\n}}\n#undef gather\n\n"
    )
}

/// A program in C or C++ of the code of all cases and the kernels of the small ones, and what it should print.
fn c_program(head: &str, language: Language, call: &str) -> (String, Vec<(String, u64)>) {
    let (mut text, mut main, mut expected) = (c_head() + head, String::new(), Vec::new());
    for (number, case) in cases::held().iter().enumerate() {
        text += &c_walk(case, number, language);
        let _ = writeln!(main, "    walk_{number}();");
        expected.push(read(case));
        if case.is_small() {
            let kernel = kernel(case, language);
            let kernel = if language == Language::Cuda { gpu::counted(&kernel) } else { kernel };
            text += &c_run(case, number, &kernel, call);
            let _ = writeln!(main, "    run_{number}();");
            expected.push(written(case));
        }
    }
    (format!("{text}int main(void) {{\n{main}    return 0;\n}}\n"), expected)
}

#[test]
fn c() {
    let Some(tool) = Tool::c() else { return };
    let (program, expected) = c_program("", Language::C, "gather(in, out);");
    compare("C", &tool.lines("cases", &program), &expected);
}

/// OpenCL C is C with names for address spaces.
#[test]
fn opencl() {
    let Some(tool) = Tool::c() else { return };
    let head = "#define __kernel static\n#define __global\n\
                static size_t thread;\nstatic size_t get_global_id(unsigned axis) { return axis == 0 ? thread : 0; }\n\n";
    let call = "for (thread = 0; thread < (size_t)elements + 100; ++thread) gather(in, out);";
    let (program, expected) = c_program(head, Language::OpenCl, call);
    compare("OpenCL", &tool.lines("opencl", &program), &expected);
}

#[test]
fn cuda() {
    let Some(tool) = Tool::cpp() else { return };
    let call = "run(gather, in, INPUTS, out, elements);";
    let (program, expected) = c_program(gpu::CUDA, Language::Cuda, call);
    compare("CUDA", &tool.lines("cuda", &program), &expected);
}

#[test]
fn metal() {
    let Some(tool) = Tool::cpp() else { return };
    // In place of the header of Metal there are the few words that it would define.
    let head = "namespace metal {}\n#define kernel static\n#define device\n\n";
    let call = "for (uint thread = 0; thread < (uint)elements + 100; ++thread) gather(in, out, thread);";
    let (program, expected) = c_program(head, Language::Metal, call);
    let program = program.replace("#include <metal_stdlib>\n", "");
    compare("Metal", &tool.lines("metal", &program), &expected);
}

#[test]
fn rust() {
    let Some(tool) = Tool::rust() else { return };
    let (mut text, mut main, mut expected) = (rust_head(), String::new(), Vec::new());
    for (number, case) in cases::held().iter().enumerate() {
        let code = code(case, Language::Rust);
        let kind = number_type(Language::Rust, &code, false);
        let _ = writeln!(text, "fn walk_{number}() {{\nlet mut hash = START;");
        for (axis, size) in case.shape.iter().enumerate() {
            let _ = writeln!(text, "for idx{axis} in 0..{size}_{kind} {{ let _ = idx{axis};");
        }
        text += &indented(&code);
        text += "    mix(&mut hash, if valid { i64::from(index) } else { -1 });\n";
        text += &"}".repeat(case.shape.len());
        text += "\nprintln!(\"{hash:016x}\");\n}\n\n";
        let _ = writeln!(main, "    walk_{number}();");
        expected.push(read(case));
        if case.is_small() {
            let (input, elements) = (case.buffer_len(), case.addresses.len());
            let _ = writeln!(text, "mod case_{number} {{\n{}}}\n", indented(&kernel(case, Language::Rust)));
            let _ = writeln!(main, "    run({input}, {elements}, case_{number}::gather);");
            expected.push(written(case));
        }
    }
    let program = format!("{text}fn main() {{\n{main}}}\n");
    compare("Rust", &tool.lines("cases", &program), &expected);
}

/// The beginning of a program in Rust.
pub(crate) fn rust_head() -> String {
    format!(
        "const START: u64 = {START:#x};\n\
         fn mix(hash: &mut u64, number: i64) {{ *hash = (*hash ^ number as u64).wrapping_mul(0x100000001b3); }}\n\
         #[allow(dead_code)]\n\
         fn run(input: usize, elements: usize, gather: fn(&[f32], &mut [f32])) {{\n\
         let input: Vec<f32> = (0..input).map(|i| (i + 1) as f32).collect();\n\
         let mut out = vec![-1.0; elements];\n\
         gather(&input, &mut out);\n\
         let mut hash = START;\n\
         out.iter().for_each(|value| mix(&mut hash, *value as i64));\n\
         println!(\"{{hash:016x}}\");\n}}\n\n"
    )
}

/// The beginning of a program in Python.
pub(crate) fn python_head() -> String {
    format!(
        "def show(numbers):\n    value = {START:#x}\n    for number in numbers:\n        \
         value = ((value ^ (number & 0xffffffffffffffff)) * 0x100000001b3) & 0xffffffffffffffff\n    \
         print(f\"{{value:016x}}\")\n\n\n"
    )
}

#[test]
fn python() {
    let Some(tool) = Tool::python() else { return };
    let (mut text, mut expected) = (python_head(), Vec::new());
    for (number, case) in cases::held().iter().enumerate() {
        let _ = writeln!(text, "def walk_{number}():");
        let mut indent = String::from("    ");
        for (axis, size) in case.shape.iter().enumerate() {
            let _ = writeln!(text, "{indent}for idx{axis} in range({size}):");
            indent += "    ";
        }
        code(case, Language::Python).lines().for_each(|line| text += &format!("{indent}{line}\n"));
        let _ = writeln!(text, "{indent}yield index if valid else -1\n\n\nshow(walk_{number}())\n\n");
        expected.push(read(case));
    }
    compare("Python", &tool.lines("cases", &text), &expected);
}

#[test]
fn numpy() {
    let Some(tool) = Tool::python() else { return };
    if !tool.runs("import", "import numpy") {
        println!("skipped: there is no NumPy");
        return;
    }
    let (mut text, mut expected) = (python_head(), Vec::new());
    for case in cases::held().iter().filter(|case| case.is_small()) {
        let input = case.buffer_len();
        let shape: Vec<String> = case.shape.iter().map(|size| format!("{size},")).collect();
        let _ = writeln!(text, "{}\n\nout = gather(np.arange(1, {input} + 1))", kernel(case, Language::Python));
        let _ = writeln!(text, "assert out.shape == ({}), out.shape", shape.concat());
        let _ = writeln!(text, "show(out.ravel().tolist())\n\n");
        expected.push(written(case));
    }
    compare("NumPy", &tool.lines("numpy", &text), &expected);
}
