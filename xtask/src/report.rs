//! Goes through the steps and tells the person how each one ended.

use std::{
    io::Write,
    process::ExitCode,
    time::{Duration, Instant},
};

use anstream::{print, println};
use anstyle::{AnsiColor, Style};

use crate::{
    steps::{Step, When},
    workspace::{Stop, Workspace, processor_time},
};

const BOLD: Style = Style::new().bold();
const GREEN: Style = AnsiColor::Green.on_default();
const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default();

/// Prints the table of steps.
pub(crate) fn list(steps: &[Step]) {
    for Step { name, about, when, .. } in steps {
        let note = match when {
            When::Quick => " (quick)",
            When::Always => "",
            When::Named => " (only when named)",
        };
        println!("{BOLD}{name:<width$}{BOLD:#}  {about}{note}", width = widest(steps.iter()));
    }
}

/// Runs the steps one after the other, failures or not; the last line counts them.
pub(crate) fn run_all(workspace: &Workspace, steps: &[&Step]) -> ExitCode {
    let width = widest(steps.iter().copied());
    let (mut failed, mut skipped, mut table, mut reasons) = (Vec::new(), 0, String::new(), String::new());
    let whole = Clock::start();
    for step in steps {
        if workspace.verbose {
            println!("\n{BOLD}== {}: {}{BOLD:#}", step.name, step.about);
        } else {
            print!("{BOLD}{:<width$}{BOLD:#}  ", step.name);
            _ = anstream::stdout().flush();
        }
        let clock = Clock::start();
        let outcome = (step.run)(workspace);
        let time = clock.taken();
        let (line, details) = match outcome {
            Ok(()) => (format!("{GREEN}passed{GREEN:#} in {time}"), String::new()),
            Err(Stop::Skipped(reason)) => {
                skipped += 1;
                (format!("{YELLOW}skipped{YELLOW:#}: {reason}"), String::new())
            }
            Err(Stop::Failed(reason)) => {
                failed.push(step.name);
                reasons += &format!("\n{BOLD}{}{BOLD:#}\n{}\n", step.name, reason.trim_end());
                (format!("{RED}failed{RED:#} in {time}"), format!("{}\n\n", reason.trim_end()))
            }
        };
        println!("{line}");
        if !(workspace.verbose && steps.len() > 1) {
            print!("{details}");
        }
        table += &format!("{BOLD}{:<width$}{BOLD:#}  {line}\n", step.name);
    }

    // Between the steps there was what their commands printed.
    if workspace.verbose && steps.len() > 1 {
        print!("\n{table}{reasons}");
    }
    println!("\n{} in all", whole.taken());
    for name in &failed {
        println!("{RED}failed{RED:#}: {name} (again: cargo xtask test {name})");
    }
    println!("{}", closing_line(steps.len() - failed.len() - skipped, failed.len(), skipped));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// When something began, and what the commands had computed by then.
struct Clock {
    begin: Instant,
    processor: Option<Duration>,
}

impl Clock {
    fn start() -> Clock {
        Clock { begin: Instant::now(), processor: processor_time() }
    }

    /// The time since then, and that of the processors, which other programs on the machine do not add to.
    fn taken(&self) -> String {
        let time = seconds(self.begin.elapsed());
        match self.processor.zip(processor_time()) {
            Some((before, now)) => format!("{time} ({} of processors)", seconds(now.saturating_sub(before))),
            None => time,
        }
    }
}

fn closing_line(passed: usize, failed: usize, skipped: usize) -> String {
    let line = format!("{passed} passed, {failed} failed");
    if skipped == 0 { line } else { format!("{line}, {skipped} skipped") }
}

fn widest<'a>(steps: impl Iterator<Item = &'a Step>) -> usize {
    steps.map(|step| step.name.len()).max().unwrap_or(0)
}

fn seconds(time: Duration) -> String {
    if time < Duration::from_secs(120) {
        format!("{:.1} s", time.as_secs_f64())
    } else {
        format!("{} min {} s", time.as_secs() / 60, time.as_secs() % 60)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn closing_lines() {
        assert_eq!(closing_line(12, 0, 0), "12 passed, 0 failed");
        assert_eq!(closing_line(9, 1, 2), "9 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn times() {
        assert_eq!(seconds(Duration::from_millis(12_345)), "12.3 s");
        assert_eq!(seconds(Duration::from_secs(125)), "2 min 5 s");
    }
}
