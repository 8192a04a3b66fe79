//! How long nests take: five kernels of five accesses each, with sizes that are numbers and with names, and the same with
//! sizes a thousand times as large.
//!
//! `cargo bench -p shapetracker-symbolic --bench nests` prints, in microseconds, the medians of building a nest of indices that
//! trackers gave, of splitting and clipping its loops, and of writing C; a number is how often each is done, a name the only
//! kernel.

// Each benchmark uses a part of them.
#[allow(dead_code)]
#[path = "nests/programs.rs"]
mod programs;

use std::hint::black_box;
use std::time::{Duration, Instant};

use programs::{Program, Result};
use shapetracker_symbolic::Sym;

fn main() -> Result<()> {
    let times = std::env::args().filter_map(|arg| arg.parse().ok()).next().unwrap_or(300);
    let only = std::env::args().skip(1).find(|arg| !arg.starts_with("--") && arg.parse::<usize>().is_err());
    for more in [1, 1000] {
        let name = |name: &str| Sym::new(name, 1..(1024 * more + 1) as i128);
        let number = |size: i64| Sym::from(size * more);
        let numbers = [
            programs::matmul(number(50), more)?,
            programs::convolution(number(2), more)?,
            programs::attention(number(60), more)?,
            programs::projection(number(3), number(50), more)?,
            programs::im2col(number(2), more)?,
        ];
        let names = [
            programs::matmul(name("M"), more)?,
            programs::convolution(name("N"), more)?,
            programs::attention(name("T"), more)?,
            programs::projection(name("B"), name("T"), more)?,
            programs::im2col(name("N"), more)?,
        ];
        for (kind, programs) in [("numbers", numbers), ("names", names)] {
            println!("\n{kind}, sizes times {more}\n");
            println!("| kernel | indices of trackers | build | split and clip | code | nest |");
            println!("|---|---|---|---|---|---|");
            let mut sums = [0.0; 5];
            let asked: Vec<&Program> =
                programs.iter().filter(|program| only.as_ref().is_none_or(|only| program.name == only)).collect();
            for program in &asked {
                let row = row(program, times)?;
                println!("| {} |{}", program.name, shown(row));
                sums.iter_mut().zip(row).for_each(|(sum, of)| *sum += of / asked.len() as f64);
            }
            println!("| mean |{}", shown(sums));
        }
    }
    Ok(())
}

fn shown(row: [f64; 5]) -> String {
    row.iter().map(|time| format!(" {time:.0} |")).collect()
}

/// The medians for one kernel, in microseconds, and the sum of the last three.
fn row(program: &Program, times: usize) -> Result<[f64; 5]> {
    let start = Instant::now();
    let mut prepared = program.prepared()?;
    let once = start.elapsed();
    let mut trackers = vec![once];
    // They take longer, and are another crate's.
    for _ in 0..times / 10 {
        let start = Instant::now();
        prepared = program.prepared()?;
        trackers.push(start.elapsed());
    }
    let mut all: Vec<[Duration; 3]> = Vec::new();
    for _ in 0..times {
        let start = Instant::now();
        let mut nest = prepared.nest()?;
        let built = Instant::now();
        prepared.lowered(&mut nest)?;
        let lowered = Instant::now();
        black_box(prepared.code(&nest)?);
        let end = Instant::now();
        all.push([built - start, lowered - built, end - lowered]);
    }
    let median = |mut column: Vec<Duration>| {
        column.sort_unstable();
        column[column.len() / 2].as_secs_f64() * 1e6
    };
    let [build, split, code] = [0, 1, 2].map(|at| median(all.iter().map(|row| row[at]).collect()));
    Ok([median(trackers), build, split, code, build + split + code])
}
