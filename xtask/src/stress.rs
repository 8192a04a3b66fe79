//! The random comparisons with the oracles, with fresh seeds for as long as one likes.

use std::{
    process::{Command, ExitCode},
    time::{Duration, Instant, SystemTime},
};

use crate::workspace::Workspace;

/// Runs for about so many minutes: four fifths of them on questions about layouts and expressions, the rest on copies.
/// Every case that fails prints the seed that draws it again.
pub(crate) fn run(workspace: &Workspace, minutes: f64) -> Result<ExitCode, String> {
    let started = Instant::now();
    let end = started + Duration::try_from_secs_f64(60.0 * minutes).map_err(|e| e.to_string())?;
    // What takes as long as one asks for is not ended like a step of the tests.
    let succeeds = |command: &mut Command| command.status().map(|status| status.success()).map_err(|e| e.to_string());
    if !succeeds(&mut workspace.cargo("test --release --no-run -p shapetracker -p shapetracker-copy --test it"))? {
        return Ok(ExitCode::FAILURE);
    }
    let questions = "test --release -q -p shapetracker --test it -- --ignored --exact stress::stress --nocapture";
    let left = end.saturating_duration_since(Instant::now()).as_secs_f64() / 60.0;
    let mut all_right = succeeds(workspace.cargo(questions).env("SHAPETRACKER_MINUTES", (left * 0.8).to_string()))?;
    let first = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs());
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
