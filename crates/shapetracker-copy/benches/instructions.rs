//! Instructions of copies of few elements, counted by callgrind: `cargo bench -p shapetracker-copy --bench instructions`.
//!
//! Times of some nanoseconds differ from run to run by as much as a careless change costs; instructions do not. It ends with
//! an error where a row takes more than a fifth above what is recorded here. valgrind shows a program no AVX-512, so the count is
//! the same on every machine with AVX2.

use std::hint::black_box;
use std::process::{Command, ExitCode};

use shapetracker::Chain;
use shapetracker_copy::{Plan, Threads};

/// A layout, and the instructions of one copy of it in elements of four bytes.
const ROWS: [(&str, u64); 5] = [
    ("(64)", 187),
    ("(8, 8).permute(1, 0)", 401),
    ("(4, 4, 4).permute(2, 1, 0)", 401),
    ("(6, 6).pad((1, 1), (1, 1))", 900),
    ("(7, 9).permute(1, 0).reshape(7, 9).permute(1, 0)", 428),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [layout, times] = &arguments[..] {
        copy(layout, times.parse().expect("a number of copies"));
        return ExitCode::SUCCESS;
    }
    println!("| layout | instructions a copy | recorded |");
    println!("|---|---|---|");
    let mut more = false;
    for (layout, recorded) in ROWS {
        let found = (counted(layout, 2_000) - counted(layout, 1_000)) / 1_000;
        println!("| {layout} | {found} | {recorded} |");
        more |= 5 * found > 6 * recorded;
    }
    if more {
        println!(
            "\nA copy takes over a fifth more than recorded. If that is meant, change the number in instructions.rs."
        );
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

fn copy(layout: &str, times: usize) {
    let tracker = layout.parse::<Chain>().expect("a layout").tracker().expect("a tracker");
    let plan = Plan::new(&tracker, 4).expect("a plan");
    let (buffer, mut tensor) = (vec![1f32; plan.buffer_len()], vec![0f32; tracker.numel() as usize]);
    for _ in 0..times {
        plan.read_into(&buffer, black_box(&mut tensor), 0.0, &Threads::one()).expect("a copy");
    }
}

/// The instructions of a process that copies so many times.
fn counted(layout: &str, times: usize) -> u64 {
    let program = std::env::current_exe().expect("this program has a path");
    let options = ["--tool=callgrind", "--callgrind-out-file=/dev/null"];
    let output = Command::new("valgrind").args(options).arg(program).args([layout, &times.to_string()]).output();
    let output = output.expect("valgrind runs");
    let text = String::from_utf8_lossy(&output.stderr);
    let count = text.lines().find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    count.unwrap_or_else(|| panic!("callgrind counted nothing: {text}"))
}
