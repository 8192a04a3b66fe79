//! Kernels compiled and run at values of their arguments.

use std::fmt::Write;

use indexpr::Language;

use crate::cases::{self, Case, Run};
use crate::tools::{START, Tool, hash};
use shapetracker_testing::judges_sums;

/// Each run of each case should print a line: its name, and the hash of what the kernel writes.
fn expected(cases: &[Case]) -> Vec<(String, u64)> {
    let runs = cases.iter().flat_map(|case| case.runs.iter().map(move |run| (case, run)));
    runs.map(|(case, run)| (format!("{} {:?}", case.name, run.arguments), hash(run.gathered()))).collect()
}

fn compare(what: &str, printed: &[String], expected: &[(String, u64)]) {
    let lines: Vec<String> = expected.iter().map(|(_, hash)| format!("{hash:016x}")).collect();
    let pairs = expected.iter().zip(&lines).zip(printed);
    let wrong: Vec<&str> =
        pairs.filter(|((_, line), printed)| line != printed).map(|(((name, _), _), _)| &name[..]).collect();
    assert!(wrong.is_empty(), "{what}: {} of {} are wrong: {}", wrong.len(), lines.len(), wrong.join("; "));
    assert_eq!(lines.len(), printed.len(), "{what}: every run prints a line");
    println!("{what}: {} runs read what they should", lines.len());
}

fn kernel(case: &Case, language: Language) -> String {
    case.code.kernel(language).unwrap_or_else(|error| panic!("{}: {error}", case.name))
}

fn list(run: &Run, before: &str) -> String {
    run.arguments.iter().fold(before.to_owned(), |list, argument| list + &format!(", {argument}"))
}

/// A program in C or C++; `call` runs a kernel, given its arguments.
fn c_program(cases: &[Case], head: &str, language: Language, call: impl Fn(&Run) -> String) -> String {
    let mut text = format!(
        "#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n\
         #define uint unsigned\n#define ulong unsigned long\n\
         static uint64_t hash = {START:#x}u;\n\
         static void mix(int64_t number) {{ hash = (hash ^ (uint64_t)number) * 0x100000001b3u; }}\n\
         static void show(void) {{ printf(\"%016llx\\n\", (unsigned long long)hash); hash = {START:#x}u; }}\n\n{head}"
    );
    let mut main = String::new();
    for (number, case) in cases.iter().enumerate() {
        let _ = writeln!(text, "#define gather gather_{number}\n{}#undef gather\n", kernel(case, language));
        for (place, run) in case.runs.iter().enumerate() {
            let (input, elements) = (run.buffer_len(), run.addresses.len());
            let _ = writeln!(
                text,
                "static void run_{number}_{place}(void) {{\n\
                 const long elements = {elements};\n\
                 float *in = (float *)calloc({input}, sizeof(float)), *out = (float *)calloc({elements}, sizeof(float));\n\
                 for (long i = 0; i < {input}; ++i) in[i] = (float)(i + 1);\n\
                 for (long i = 0; i < elements; ++i) out[i] = -1;\n\
                 {}\n\
                 for (long i = 0; i < elements; ++i) mix((int64_t)out[i]);\n\
                 free(in);\nfree(out);\nshow();\n}}\n",
                call(run).replace("gather(", &format!("gather_{number}("))
            );
            let _ = writeln!(main, "    run_{number}_{place}();");
        }
    }
    format!("{text}int main(void) {{\n{main}    return 0;\n}}\n")
}

#[test]
fn c() {
    let Some(tool) = Tool::c() else { return };
    let cases = cases::all();
    let program = c_program(&cases, "", Language::C, |run| format!("gather({});", list(run, "in, out")));
    compare("C", &tool.lines("symbolic", &program), &expected(&cases));
}

/// OpenCL C is C with names for address spaces.
#[test]
fn opencl() {
    let Some(tool) = Tool::c() else { return };
    let cases = cases::all();
    let head = "#define __kernel static\n#define __global\n\
                static size_t thread;\nstatic size_t get_global_id(unsigned axis) { return axis == 0 ? thread : 0; }\n\n";
    let call = |run: &Run| {
        let list = list(run, "in, out");
        format!("for (thread = 0; thread < (size_t)elements + 100; ++thread) gather({list});")
    };
    let program = c_program(&cases, head, Language::OpenCl, call);
    compare("OpenCL", &tool.lines("symbolic_opencl", &program), &expected(&cases));
}

#[test]
fn cuda() {
    let Some(tool) = Tool::cpp() else { return };
    let cases = cases::all();
    let head = "#define __global__\n\
                struct Place { unsigned x, y, z; };\n\
                static Place threadIdx, blockIdx, blockDim = {32, 1, 1};\n\n";
    let call = |run: &Run| {
        format!(
            "for (blockIdx.x = 0; (long)blockIdx.x * 32 < elements + 100; ++blockIdx.x)\n\
             for (threadIdx.x = 0; threadIdx.x < 32; ++threadIdx.x) gather({});",
            list(run, "in, out")
        )
    };
    let program = c_program(&cases, head, Language::Cuda, call);
    compare("CUDA", &tool.lines("symbolic_cuda", &program), &expected(&cases));
}

#[test]
fn metal() {
    let Some(tool) = Tool::cpp() else { return };
    let mut cases = cases::all();
    cases.retain(|case| case.code.kernel(Language::Metal).is_ok());
    // In place of the header of Metal there are the few words that it would define.
    let head = "namespace metal {}\n#define kernel static\n#define device\n#define constant const\n\n";
    let call = |run: &Run| {
        let list = list(run, "in, out");
        format!("for (uint thread = 0; thread < (uint)elements + 100; ++thread) gather({list}, thread);")
    };
    let program = c_program(&cases, head, Language::Metal, call).replace("#include <metal_stdlib>\n", "");
    compare("Metal", &tool.lines("symbolic_metal", &program), &expected(&cases));
    assert!(!judges_sums() || cases.len() > 5);
}

#[test]
fn rust() {
    let Some(tool) = Tool::rust() else { return };
    let cases = cases::all();
    let mut text = format!(
        "fn run(input: usize, elements: usize, gather: &dyn Fn(&[f32], &mut [f32])) {{\n\
         let input: Vec<f32> = (0..input).map(|i| (i + 1) as f32).collect();\n\
         let mut out = vec![-1.0; elements];\n\
         gather(&input, &mut out);\n\
         let mut hash: u64 = {START:#x};\n\
         out.iter().for_each(|value| hash = (hash ^ *value as i64 as u64).wrapping_mul(0x100000001b3));\n\
         println!(\"{{hash:016x}}\");\n}}\n\n"
    );
    let mut main = String::new();
    for (number, case) in cases.iter().enumerate() {
        // Names of sizes are in capitals where mathematics has them so.
        let _ = writeln!(text, "#[allow(non_snake_case)]\nmod case_{number} {{\n{}}}\n", kernel(case, Language::Rust));
        for run in &case.runs {
            let (input, elements) = (run.buffer_len(), run.addresses.len());
            let call = format!("case_{number}::gather({})", list(run, "input, out"));
            let _ = writeln!(main, "    run({input}, {elements}, &|input, out| {call});");
        }
    }
    let program = format!("{text}fn main() {{\n{main}}}\n");
    compare("Rust", &tool.lines("symbolic", &program), &expected(&cases));
}

#[test]
fn numpy() {
    let Some(tool) = Tool::python() else { return };
    if !tool.runs("import", "import numpy") {
        println!("skipped: there is no NumPy");
        return;
    }
    let cases = cases::all();
    let mut text = format!(
        "def show(numbers):\n    value = {START:#x}\n    for number in numbers:\n        \
         value = ((value ^ (number & 0xffffffffffffffff)) * 0x100000001b3) & 0xffffffffffffffff\n    \
         print(f\"{{value:016x}}\")\n\n\n"
    );
    for case in &cases {
        let _ = writeln!(text, "{}\n", kernel(case, Language::Python));
        for run in &case.runs {
            let call = list(run, &format!("np.arange(1, {} + 1)", run.buffer_len()));
            let shape: Vec<String> = run.shape.iter().map(|size| format!("{size},")).collect();
            let _ = writeln!(text, "out = gather({call})\nassert out.shape == ({}), out.shape", shape.concat());
            let _ = writeln!(text, "show(out.ravel().tolist())\n");
        }
    }
    compare("NumPy", &tool.lines("symbolic_numpy", &text), &expected(&cases));
}
