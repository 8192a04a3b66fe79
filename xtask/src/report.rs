//! Goes through the steps and tells the person how each one ended.

use std::{
    io::Write,
    path::Path,
    process::{ExitCode, Stdio},
    sync::{Condvar, Mutex, PoisonError},
    thread,
};

use anstream::{AutoStream, ColorChoice, print, println};
use anstyle::{AnsiColor, Style};

use crate::{
    clock::Clock,
    compiler,
    steps::{After, Step, When},
    workspace::{Stop, Workspace, captured},
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
            When::Long => " (in `all`)",
            When::Named => " (only when named)",
        };
        println!("{BOLD}{name:<width$}{BOLD:#}  {about}{note}", width = widest(steps.iter()));
    }
}

/// Runs the steps, failures or not; the last line counts them.
pub(crate) fn run_all(workspace: &Workspace, steps: &[&Step]) -> ExitCode {
    let whole = Clock::start();
    let results = match steps {
        [step] => vec![(*step, run(workspace, step))],
        _ => run_side_by_side(workspace, steps),
    };
    let (mut failed, mut skipped, mut table, mut reasons) = (Vec::new(), 0, String::new(), String::new());
    let width = widest(steps.iter().copied());
    for step in steps {
        let Some((_, Ended { line, stop })) = results.iter().find(|(ended, _)| ended.name == step.name) else {
            failed.push(step.name);
            continue;
        };
        table += &format!("{BOLD}{:<width$}{BOLD:#}  {line}\n", step.name);
        match stop {
            None => {}
            Some(Stop::Skipped(_)) => skipped += 1,
            Some(Stop::Failed(reason)) => {
                failed.push(step.name);
                reasons += &format!("\n{BOLD}{}{BOLD:#}\n{}\n", step.name, reason.trim_end());
            }
        }
    }
    // Between the steps there was what their commands printed.
    if steps.len() > 1 {
        print!("\n{table}{reasons}");
    }
    println!("\n{} in all", whole.taken());
    for name in &failed {
        println!("{RED}failed{RED:#}: {name} (again: cargo xtask test {name})");
    }
    println!("{}", closing_line(steps.len() - failed.len() - skipped, failed.len(), skipped));
    if failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// How a step ended.
struct Ended {
    /// What the table says of it.
    line: String,
    stop: Option<Stop>,
}

/// Runs a step, whose commands print as they go.
fn run(workspace: &Workspace, step: &Step) -> Ended {
    println!("\n{BOLD}== {}: {}{BOLD:#}", step.name, step.about);
    let clock = Clock::start();
    let outcome = (step.run)(workspace);
    let time = clock.taken();
    let (line, stop) = match outcome {
        Ok(()) => (format!("{GREEN}passed{GREEN:#} in {time}"), None),
        Err(stop @ Stop::Skipped(_)) => {
            let (Stop::Skipped(reason) | Stop::Failed(reason)) = &stop;
            (format!("{YELLOW}skipped{YELLOW:#}: {reason}"), Some(stop))
        }
        Err(Stop::Failed(reason)) => {
            // The output of a command has been shown, unless nobody was to see it.
            let shown = if workspace.verbose { reason.trim_end().lines().last().unwrap_or_default() } else { &reason };
            println!("{}", shown.trim_end());
            (format!("{RED}failed{RED:#} in {time}"), Some(Stop::Failed(reason)))
        }
    };
    println!("{line}");
    Ended { line, stop }
}

/// A step that this program was started for by [`run_side_by_side`]: how it ended is told in a file.
pub(crate) fn run_for_another(workspace: &Workspace, step: &Step, file: &Path) -> ExitCode {
    let Ended { line, stop } = run(workspace, step);
    let (word, reason) = match &stop {
        None => ("passed", ""),
        Some(Stop::Skipped(reason)) => ("skipped", &reason[..]),
        Some(Stop::Failed(reason)) => ("failed", &reason[..]),
    };
    match std::fs::write(file, format!("{word}\n{line}\n{reason}")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Runs the steps, two at a time, each in a process of its own: that counts its time of the processors, and its output is shown
/// when it has ended.
fn run_side_by_side<'a>(workspace: &Workspace, steps: &[&'a Step]) -> Vec<(&'a Step, Ended)> {
    let state = Mutex::new(State { waiting: steps.to_vec(), running: Vec::new(), ended: Vec::<(_, Ended)>::new() });
    let (state, changed) = (|| state.lock().unwrap_or_else(PoisonError::into_inner), Condvar::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let mut now = state();
                    let step = loop {
                        if now.waiting.is_empty() {
                            return;
                        }
                        match now.next() {
                            Some(step) => break step,
                            None => now = changed.wait(now).unwrap_or_else(PoisonError::into_inner),
                        }
                    };
                    let has_page = now.ended.iter().any(|(step, ended)| step.name == PAGE && ended.stop.is_none());
                    drop(now);
                    let ended = run_in_a_process(workspace, step, has_page);
                    let mut now = state();
                    now.running.retain(|running| running.name != step.name);
                    now.ended.push((step, ended));
                    changed.notify_all();
                }
            });
        }
    });
    std::mem::take(&mut state().ended)
}

/// The step that builds the page.
const PAGE: &str = "web";

/// Which steps are to begin, which run and which have ended.
struct State<'a, E> {
    waiting: Vec<&'a Step>,
    running: Vec<&'a Step>,
    ended: Vec<(&'a Step, E)>,
}

impl<'a, E> State<'a, E> {
    /// The first step that may begin now, which then runs.
    fn next(&mut self) -> Option<&'a Step> {
        let is_coming = |name: &str| self.waiting.iter().chain(&self.running).any(|step| step.name == name);
        let waits = self.waiting.iter().any(|step| step.after != After::Everything) || !self.running.is_empty();
        let place = self.waiting.iter().position(|step| match step.after {
            After::Nothing => true,
            After::Page => !is_coming(PAGE),
            After::Everything => !waits,
        })?;
        let step = self.waiting.remove(place);
        self.running.push(step);
        Some(step)
    }
}

fn run_in_a_process(workspace: &Workspace, step: &Step, has_page: bool) -> Ended {
    println!("{BOLD}{}{BOLD:#} begins", step.name);
    let file = workspace.target(format!("xtask-{}-{}", std::process::id(), step.name));
    let failed = |reason: String| Ended { line: format!("{RED}failed{RED:#}"), stop: Some(Stop::Failed(reason)) };
    let program = match std::env::current_exe() {
        Ok(program) => program,
        Err(e) => return failed(e.to_string()),
    };
    let mut command = workspace.command(program, &format!("step {}", step.name));
    command.arg(&file).stdin(Stdio::null());
    if workspace.halves {
        command.env(HALVES, "1");
    }
    if has_page {
        command.env(HAS_PAGE, "1");
    }
    // Nobody goes on from what a whole run has compiled.
    if workspace.halves && std::env::var_os(INCREMENTAL).is_none() {
        command.env(INCREMENTAL, "0");
    }
    if workspace.halves {
        command.env(compiler::TEST_LTO, "false");
    }
    // Whoever says how many cases there are shall have them.
    if let (Some(cases), None) = (workspace.cases, std::env::var_os(CASES)) {
        command.env(CASES, cases);
    }
    if AutoStream::choice(&std::io::stdout()) != ColorChoice::Never {
        command.env("CLICOLOR_FORCE", "1");
    }
    let output = match captured(&mut command) {
        Ok((_, output)) => output,
        Err(e) => return failed(e.to_string()),
    };
    let text = std::fs::read_to_string(&file);
    _ = std::fs::remove_file(&file);
    let Ok(text) = text else { return failed(format!("{output}\nthe step did not come to its end")) };
    let mut lines = text.splitn(3, '\n');
    let mut next = || lines.next().unwrap_or_default().to_owned();
    let (word, line, reason) = (next(), next(), next());
    // One write, so that nothing comes in between.
    let shown = if workspace.verbose || word == "failed" { output } else { format!("{}  {line}\n", step.name) };
    print!("{shown}");
    _ = anstream::stdout().flush();
    let stop = match &word[..] {
        "passed" => None,
        "skipped" => Some(Stop::Skipped(reason)),
        _ => Some(Stop::Failed(reason)),
    };
    Ended { line, stop }
}

/// The variable by which cargo knows whether to keep what the next build of the same crate may use.
const INCREMENTAL: &str = "CARGO_INCREMENTAL";
/// The variable by which the tests know how many times as many random cases there are.
const CASES: &str = "SHAPETRACKER_CASES";
/// The variable by which a step in a process of its own knows that tests share their cases between their two forms.
pub(crate) const HALVES: &str = "SHAPETRACKER_HALVES";
/// The one by which it knows that the page has been built.
pub(crate) const HAS_PAGE: &str = "SHAPETRACKER_HAS_PAGE";

fn closing_line(passed: usize, failed: usize, skipped: usize) -> String {
    let line = format!("{passed} passed, {failed} failed");
    if skipped == 0 { line } else { format!("{line}, {skipped} skipped") }
}

fn widest<'a>(steps: impl Iterator<Item = &'a Step>) -> usize {
    steps.map(|step| step.name.len()).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::steps::STEPS;

    #[test]
    fn closing_lines() {
        assert_eq!(closing_line(12, 0, 0), "12 passed, 0 failed");
        assert_eq!(closing_line(9, 1, 2), "9 passed, 1 failed, 2 skipped");
    }

    #[test]
    fn steps_wait_for_what_they_need() {
        let mut state = State { waiting: STEPS.iter().collect(), running: Vec::new(), ended: Vec::<(_, ())>::new() };
        let end = |state: &mut State<()>, name: &str| {
            let place = state.running.iter().position(|step| step.name == name).expect("it runs");
            let step = state.running.remove(place);
            state.ended.push((step, ()));
        };
        // One after the other, but that the page takes long.
        while let Some(step) = state.next() {
            assert!(step.after != After::Everything && (step.after == After::Nothing), "{}", step.name);
            if step.name != PAGE {
                end(&mut state, step.name);
            }
        }
        assert!(state.waiting.iter().any(|step| step.after == After::Page));
        end(&mut state, PAGE);
        while let Some(step) = state.next() {
            assert!(step.after != After::Everything || state.running.len() == 1, "{}", step.name);
            end(&mut state, step.name);
        }
        assert!(state.waiting.is_empty() && state.ended.len() == STEPS.len());
        assert_eq!(state.ended.last().map(|(step, ())| step.after == After::Everything), Some(true));
    }
}
