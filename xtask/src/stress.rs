//! The random comparisons with the oracles, with fresh seeds for as long as one likes.

use std::{
    process::{Command, ExitCode},
    time::{Duration, Instant, SystemTime},
};

use crate::{
    steps,
    workspace::{Stop, Workspace},
};

/// Runs for about so many minutes: three fifths of them on questions about layouts and expressions, a fifth on advice, the
/// rest on copies. Every case that fails prints the seed that draws it again.
pub(crate) fn run(workspace: &Workspace, minutes: f64) -> Result<ExitCode, String> {
    let started = Instant::now();
    let end = started + Duration::try_from_secs_f64(60.0 * minutes).map_err(|e| e.to_string())?;
    // What takes as long as one asks for is not ended like a step of the tests.
    let succeeds = |command: &mut Command| command.status().map(|status| status.success()).map_err(|e| e.to_string());
    if !succeeds(&mut workspace.cargo("test --release --no-run -p shapetracker -p shapetracker-copy --test it"))? {
        return Ok(ExitCode::FAILURE);
    }
    let judge = match steps::judge_of_advice(workspace) {
        Ok(python) => Some(python),
        Err(Stop::Skipped(reason)) => {
            println!("advice     skipped: {reason}");
            None
        }
        Err(Stop::Failed(reason)) => return Err(reason),
    };
    let questions = "test --release -q -p shapetracker --test it -- --ignored --exact stress::stress --nocapture";
    let left = end.saturating_duration_since(Instant::now()).as_secs_f64() / 60.0;
    let mut all_right = succeeds(workspace.cargo(questions).env("SHAPETRACKER_MINUTES", (left * 0.6).to_string()))?;
    if let Some(mut judge) = judge {
        let left = end.saturating_duration_since(Instant::now()).as_secs_f64() / 60.0;
        judge.args(format!("--minutes {} --seed {}", left * 0.5, fresh_seed()).split_whitespace());
        println!();
        all_right &= succeeds(&mut judge)?;
    }
    let first = fresh_seed();
    let (mut rounds, mut wrong) = (0, 0);
    while Instant::now() < end || rounds == 0 {
        let seed = (first + rounds).to_string();
        let mut copies = workspace.cargo("test --release -q -p shapetracker-copy --test it");
        let output = copies.env("SHAPETRACKER_SEED", &seed).output().map_err(|e| e.to_string())?;
        rounds += 1;
        if !output.status.success() {
            wrong += 1;
            println!("{}", String::from_utf8_lossy(&output.stdout));
            println!("wrong: SHAPETRACKER_SEED={seed} cargo test --release -p shapetracker-copy --test it");
        }
    }
    println!(
        "\n{:<88} {:>7} {:>6}\n{:<88} {rounds:>7} {wrong:>6}",
        "copies", "rounds", "wrong", "every plan against a loop over elements"
    );
    all_right &= wrong == 0;
    println!(
        "\n{:.1} minutes, {}",
        started.elapsed().as_secs_f64() / 60.0,
        if all_right { "nothing wrong" } else { "something is wrong" }
    );
    Ok(if all_right { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs so many lines of NumPy, and of PyTorch where it is installed, and holds the advice against what they did.
pub(crate) fn advice(workspace: &Workspace, lines: u64) -> Result<ExitCode, String> {
    let mut judge = match steps::judge_of_advice(workspace) {
        Ok(python) => python,
        Err(Stop::Skipped(reason) | Stop::Failed(reason)) => return Err(reason),
    };
    judge.args(format!("--lines {lines} --seed {} --refusals", fresh_seed()).split_whitespace());
    let status = judge.status().map_err(|e| e.to_string())?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A seed that no run before had.
fn fresh_seed() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}
