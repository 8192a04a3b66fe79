//! Instructions of nests beside loops that are written by hand, counted by callgrind: `cargo bench -p shapetracker-symbolic --bench
//! instructions`.
//!
//! Six kernels are written as C, compiled with those of `nests/by_hand.c` by `cc -O2`, and run: both must give the same numbers. It
//! ends with an error where a nest executes more than 1.1 times as many instructions as the loops by hand, or has an instruction
//! that divides integers. The ratio of the times is printed beside that, and decides nothing.

// Each benchmark uses a part of them.
#[allow(dead_code)]
#[path = "nests/programs.rs"]
mod programs;

use std::path::Path;
use std::process::{Command, ExitCode, Output};
use std::{env, fs, process};

use programs::{Program, Result};
use shapetracker_symbolic::Sym;

const BY_HAND: &str = include_str!("nests/by_hand.c");

/// So many elements are enough for each buffer.
const LENGTH: usize = 1 << 14;

/// What stands before the kernels, and calls them: `sums` prints what each has written, `times` the nanoseconds of each pair, the
/// least of some runs in turn, and a number runs the kernel of that place once.
const MAIN: &str = "
static float *filled(int seed) {
    float *all = malloc(LENGTH * sizeof *all);
    for (long at = 0; at < LENGTH; ++at) all[at] = (float)((at * 7 + seed * 5) % 11) - 5;
    return all;
}
static double now(void) {
    struct timespec time;
    timespec_get(&time, TIME_UTC);
    return time.tv_sec * 1e9 + time.tv_nsec;
}
int main(int argc, char **argv) {
    float *in[4] = {filled(0), filled(1), filled(2), filled(3)};
    float *out = filled(4);
    if (argc == 2 && !strcmp(argv[1], \"sums\")) {
        for (int at = 0; at < KERNELS; ++at) {
            unsigned long long sum = 0;
            memset(out, 0, LENGTH * sizeof *out);
            kernels[at](in, out);
            for (long place = 0; place < LENGTH; ++place) {
                unsigned bits;
                memcpy(&bits, out + place, sizeof bits);
                sum = (sum ^ bits) * 0xbf58476d1ce4e5b9ull + place;
            }
            printf(\"%llu\\n\", sum);
        }
    } else if (argc == 2 && !strcmp(argv[1], \"times\")) {
        for (int at = 0; at < KERNELS; at += 2) {
            double least[2] = {1e30, 1e30};
            for (int turn = 0; turn < 400; ++turn) {
                double start = now();
                for (int again = 0; again < 5; ++again) kernels[at + turn % 2](in, out);
                double time = (now() - start) / 5;
                if (time < least[turn % 2]) least[turn % 2] = time;
            }
            printf(\"%.0f %.0f\\n\", least[0], least[1]);
        }
    } else {
        kernels[atoi(argv[1])](in, out);
    }
    return 0;
}
";

fn main() -> ExitCode {
    for program in ["cc", "valgrind", "objdump"] {
        if !Command::new(program).arg("--version").output().is_ok_and(|output| output.status.success()) {
            println!("skipped: there is no `{program}`");
            return ExitCode::SUCCESS;
        }
    }
    let folder = env::temp_dir().join(format!("nest-instructions-{}", process::id()));
    fs::create_dir_all(&folder).expect("a folder");
    let found = compared(&folder);
    fs::remove_dir_all(folder).expect("the folder is there");
    match found {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            println!("\n{why}");
            ExitCode::FAILURE
        }
    }
}

/// The kernels: what each is called, and with which arguments beside the buffers.
fn kernels() -> Result<Vec<(&'static str, Program, &'static str)>> {
    Ok(vec![
        ("matmul", programs::matmul(50.into(), 1)?, ""),
        ("convolution", programs::convolution(2.into(), 1)?, ""),
        ("attention", programs::attention(60.into(), 1)?, ""),
        ("im2col", programs::im2col(2.into(), 1)?, ""),
        ("im2col_named", programs::im2col(Sym::new("N", 1..1025), 1)?, ", 2"),
        ("transposed", programs::transposed()?, ""),
    ])
}

fn compared(folder: &Path) -> Result<()> {
    let kernels = kernels()?;
    let mut source = String::from(
        "#include <math.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <time.h>\n",
    );
    source += BY_HAND;
    let (mut calls, mut names) = (String::new(), Vec::new());
    for (name, program, more) in &kernels {
        source += &program.prepared()?.function(&format!("{name}_nest"))?;
        let inputs = if *name == "transposed" { "in[0]" } else { "in[0], in[1], in[2], in[3]" };
        for kind in ["nest", "by_hand"] {
            names.push(format!("{name}_{kind}"));
            calls += &format!(
                "static void run_{name}_{kind}(float *const *in, float *out) {{ {name}_{kind}({inputs}, out{more}); }}\n"
            );
        }
    }
    let table: Vec<String> = names.iter().map(|name| format!("run_{name}")).collect();
    let kernels_in_c = format!(
        "{calls}#define LENGTH {LENGTH}\n#define KERNELS {}\n\
         static void (*const kernels[])(float *const *, float *) = {{{}}};\n",
        names.len(),
        table.join(", ")
    );
    source += &(kernels_in_c + MAIN);
    if env::args().any(|argument| argument == "--show") {
        println!("{source}");
    }
    let (file, program) = (folder.join("kernels.c"), folder.join("kernels"));
    fs::write(&file, &source)?;
    let flags = ["-std=c11", "-O2", "-fno-inline", "-Wall", "-Werror", "-o"];
    run(Command::new("cc").args(flags).arg(&program).arg(&file).arg("-lm"))?;
    let lines = |what: &str| -> Result<Vec<String>> {
        let output = run(Command::new(&program).arg(what))?;
        Ok(String::from_utf8(output.stdout)?.lines().map(str::to_owned).collect())
    };
    let sums = lines("sums")?;
    let times = lines("times")?;
    let code =
        String::from_utf8(run(Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(&program))?.stdout)?;

    println!("| kernel | instructions | by hand | ratio | divisions | ratio of the times |");
    println!("|---|---|---|---|---|---|");
    let mut wrong = Vec::new();
    for (at, (name, ..)) in kernels.iter().enumerate() {
        let (nest, by_hand) = (&names[2 * at], &names[2 * at + 1]);
        let [own, other] = [counted(&program, 2 * at, nest)?, counted(&program, 2 * at + 1, by_hand)?];
        let divided = divisions(&code, nest).ok_or("no code")?;
        let time: Vec<f64> = times[at].split(' ').map(str::parse).collect::<Result<_, _>>()?;
        let ratio = own as f64 / other as f64;
        println!("| {name} | {own} | {other} | {ratio:.3} | {divided} | {:.2} |", time[0] / time[1]);
        if sums[2 * at] != sums[2 * at + 1] {
            wrong.push(format!("{name}: the nest and the loops by hand compute different numbers"));
        }
        if ratio > 1.1 {
            wrong.push(format!("{name}: the nest executes {ratio:.3} times as many instructions as the loops by hand"));
        }
        if divided > 0 {
            wrong.push(format!("{name}: the nest divides"));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

fn run(command: &mut Command) -> Result<Output> {
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{command:?}: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(output)
}

/// The instructions of one call of a function, which the program makes for a number.
fn counted(program: &Path, number: usize, function: &str) -> Result<u64> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(format!("--toggle-collect={function}"));
    let output = run(command.arg(program).arg(number.to_string()))?;
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    let count = text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    count.filter(|count| *count > 0).ok_or_else(|| format!("callgrind counted nothing: {text}").into())
}

/// How many instructions of a function divide integers.
fn divisions(code: &str, function: &str) -> Option<usize> {
    let (_, rest) = code.split_once(&format!("<{function}>:\n"))?;
    let own = rest.split("\n\n").next()?;
    let names = ["div", "divb", "divw", "divl", "divq", "idiv", "idivb", "idivw", "idivl", "idivq"];
    Some(own.lines().filter(|line| line.split_whitespace().nth(1).is_some_and(|name| names.contains(&name))).count())
}
