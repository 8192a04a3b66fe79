//! Nests and kernels in CUDA as one program, which a GPU runs where there is one, and the processor everywhere.
//!
//! The program needs nothing but itself. The test leaves it in `target/tmp/languages/device.cu`, so that it can be taken to a machine
//! with a GPU; `SHAPETRACKER_CASES` says how many nests it has. `benches/gpu/README.md` says how it is run there.

use std::fmt::Write;
use std::fs;

use shapetracker::expr::Language;

use crate::cases::{self, Case};
use crate::gpu;
use crate::nests::functions::{self, Function};
use crate::tools::{START, Tool, directory, hash};
use shapetracker_testing::{Rng, numbers};

/// A nest, a kernel in which each thread runs it for the values of a call, and the line of `main` that starts this.
fn nest(function: &Function, text: &mut String, main: &mut String) {
    let (name, calls) = (&function.name, function.calls.len());
    let parameters = function.plain.parameters.len();
    let row: Vec<String> =
        (0..parameters).map(|at| format!("({})values[call * {parameters} + {at}]", function.kind)).collect();
    *text += &function.text;
    let _ = writeln!(
        text,
        "__global__ void run_{name}(const long long *values, unsigned long long *sums, int calls) {{\n    \
             (void)values;\n    \
             const int call = (int)(blockIdx.x * blockDim.x + threadIdx.x);\n    \
             if (call < calls) sums[call] = {name}({});\n}}\n",
        row.join(", ")
    );
    let list = |numbers: Vec<String>| numbers.join(", ");
    let values = list(function.calls.iter().flat_map(|(values, _)| values.iter().map(i64::to_string)).collect());
    let sums = list(function.calls.iter().map(|(_, sum)| format!("{sum}ull")).collect());
    let _ = writeln!(
        text,
        "static const long long values_{name}[] = {{{}}};\nstatic const unsigned long long sums_{name}[] = {{{sums}}};\n",
        if values.is_empty() { "0" } else { &values }
    );
    let _ = writeln!(main, "    nest(\"{name}\", run_{name}, values_{name}, {parameters}, sums_{name}, {calls});");
}

/// The kernel of a case under a name of its own, and the line of `main` that starts it. On the processor its floats are counted.
fn kernel(number: usize, case: &Case, text: &mut String, main: &mut String) {
    let kernel = case.code.kernel(Language::Cuda).expect("there is a kernel");
    let _ = writeln!(
        text,
        "#ifndef __CUDACC__\n#define float Float\n#endif\n#define gather gather_{number}\n{kernel}#undef gather\n#undef float\n"
    );
    let (inputs, elements) = (case.buffer_len(), case.addresses.len());
    let name = case.name.replace(['"', '\\', '\n'], " ");
    let _ =
        writeln!(main, "    gather(\"{name}\", gather_{number}, {inputs}, {elements}, {}ull);", hash(case.gathered()));
}

/// The program, and how many comparisons it makes.
fn program(functions: &[Function], cases: &[Case]) -> (String, usize) {
    let head = include_str!("device.cuh").replace("PROCESSOR\n", gpu::CUDA).replace("START", &format!("{START:#x}u"));
    let (mut text, mut main) = (head + &functions::head(Language::Cuda), String::new());
    functions.iter().for_each(|function| nest(function, &mut text, &mut main));
    cases.iter().enumerate().for_each(|(number, case)| kernel(number, case, &mut text, &mut main));
    let _ = writeln!(
        text,
        "int main() {{\n{main}    printf(\"%d right, %d wrong\\n\", right, wrong);\n    return wrong > 0;\n}}"
    );
    let calls: usize = functions.iter().map(|function| function.calls.len()).sum();
    (text, calls + cases.len())
}

#[test]
fn nests_and_kernels_in_cuda() {
    let mut functions = functions::plain(70, Language::Cuda);
    functions.append(&mut functions::reductions(30, Language::Cuda));
    let mut cases = gpu::moved();
    cases.extend(cases::golden().into_iter().filter(Case::is_small));
    cases.extend(cases::all().into_iter().skip(cases::golden().len()).filter(Case::is_small).step_by(4));
    cases.extend(
        numbers(15)
            .map(|number| gpu::random(&mut Rng(0x9d0 + number)))
            .map(|tracker| gpu::case(&tracker.to_string(), &tracker)),
    );
    let (program, comparisons) = program(&functions, &cases);
    fs::write(directory().join("device.cu"), &program).expect("the directory can be written");
    for tool in [Tool::cpp(), Tool::nvcc()].into_iter().flatten() {
        let lines = tool.lines("device", &program);
        assert_eq!(lines.last(), Some(&format!("{comparisons} right, 0 wrong")), "{}", lines.join("\n"));
    }
}
