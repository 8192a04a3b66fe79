//! The commands of the project: `cargo xtask test` runs everything that must hold, `cargo xtask list` names the steps.

mod c;
mod clock;
mod compiler;
mod npm;
mod package;
mod readme;
mod release;
mod report;
mod rules;
mod site;
mod standing_alone;
mod steps;
mod stress;
mod toolchains;
mod web;
mod workspace;

use std::{path::PathBuf, process::ExitCode};

use crate::{
    steps::{STEPS, Step},
    workspace::{Outcome, Stop, Workspace},
};

const HELP: &str = "\
The commands of the project.

Usage: cargo xtask COMMAND

Commands:
  test [-v] [NAME...]  Run every step of the tests, or those whose name contains one of the words. Without a word a
                       quarter of the random cases are held. `quick` stands for the steps to run while writing, with a
                       twentieth of the random cases, and `all` for every step with all of them, those too that repeat in
                       another form what the others judge
  list                 List the steps with a sentence each
  readme [--bless]     Run the commands of the READMEs; with --bless rewrite the outputs they show
  web                  Build the explorer's page, so that the next build of the command has it
  release [FOLDER]     Make the files of a release, and try each in an empty environment (in target/distribution unless
                       said otherwise)
  site [FOLDER]        Make the site of static files: guides, APIs, manual, explorer (in target/site unless said otherwise)
  stress [MINUTES]     Run the random comparisons with the oracles on fresh seeds, and print a table (1 minute
                       unless said otherwise; not part of `test`)
  stress advice LINES  Run so many random lines of NumPy, and of PyTorch where `python3` has it, and hold the advice
                       against what they really did
  judge                Compare the merger with an outside solver (installs it from PyPI; not part of `test`)
  help                 Print this text

Options:
  -v, --verbose        Show the output of passing steps too (so it is where CI is set or nobody watches a terminal)

Environment:
  CI=true              Show the output of passing steps
  NO_COLOR=1           No colours
  FUZZ_SECONDS=10      How long each fuzz target runs
  CLIENT_LONG=1        The step `client` runs larger programs too, and measures times
  SITE_URL=https://..  Where the site will lie: it then has a list of its pages for search engines
  CARGO_BUILD_JOBS=2   How many compilers run at a time
  COMMAND_MINUTES=60   How long one command may take before it is ended and its step has failed; where several steps
                       run, also how long one step may take
";

fn main() -> ExitCode {
    if let Some(code) = compiler::stands_in() {
        return code;
    }
    match command_line().and_then(carry_out) {
        Ok(code) => code,
        Err(message) => {
            anstream::eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

/// What the command line asks for.
enum Task {
    Help,
    List,
    Test {
        steps: Vec<&'static Step>,
        verbose: bool,
        /// How many times as many random cases there are, where not all of them are held.
        cases: Option<&'static str>,
    },
    /// A step of the tests, for a run of several; the file tells how it ended.
    Step(&'static Step, PathBuf),
    Bless,
    Release(Option<String>),
    Site(Option<String>),
    Stress(f64),
    StressAdvice(u64),
    Web,
}

fn command_line() -> Result<Task, String> {
    let (mut words, mut verbose, mut bless) = (Vec::new(), false, false);
    let mut arguments = lexopt::Parser::from_env();
    while let Some(argument) = arguments.next().map_err(|e| e.to_string())? {
        match argument {
            lexopt::Arg::Short('h') | lexopt::Arg::Long("help") => return Ok(Task::Help),
            lexopt::Arg::Short('v') | lexopt::Arg::Long("verbose") => verbose = true,
            lexopt::Arg::Long("bless") => bless = true,
            lexopt::Arg::Value(word) => words.push(word.to_string_lossy().into_owned()),
            other => return Err(other.unexpected().to_string()),
        }
    }
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    if bless && words != ["readme"] {
        return Err("--bless belongs to `cargo xtask readme`".to_owned());
    }
    match words.as_slice() {
        [] | ["help"] => Ok(Task::Help),
        ["list"] => Ok(Task::List),
        ["readme"] if bless => Ok(Task::Bless),
        ["web"] => Ok(Task::Web),
        ["release"] => Ok(Task::Release(None)),
        ["release", folder] => Ok(Task::Release(Some((*folder).to_owned()))),
        ["site"] => Ok(Task::Site(None)),
        ["site", folder] => Ok(Task::Site(Some((*folder).to_owned()))),
        ["stress"] => Ok(Task::Stress(1.0)),
        ["stress", "advice", lines] => match lines.replace(['_', ','], "").parse() {
            Ok(lines) if lines > 0 => Ok(Task::StressAdvice(lines)),
            _ => Err(format!("`cargo xtask stress advice` takes a number of lines, and `{lines}` is none")),
        },
        ["stress", minutes] => match minutes.parse() {
            Ok(minutes) if minutes > 0.0 => Ok(Task::Stress(minutes)),
            _ => Err(format!("`cargo xtask stress` takes a number of minutes, and `{minutes}` is none")),
        },
        ["step", name, file] => match steps::chosen(&[name])?.into_iter().find(|step| step.name == *name) {
            Some(step) => Ok(Task::Step(step, PathBuf::from(file))),
            None => Err(format!("no step is called `{name}`")),
        },
        ["test", names @ ..] => Ok(Task::Test { steps: steps::chosen(names)?, verbose, cases: steps::cases(names) }),
        [name @ ("readme" | "judge")] => Ok(Task::Test { steps: steps::chosen(&[name])?, verbose: true, cases: None }),
        other => Err(format!("no command `{}`; `cargo xtask help` lists them", other.join(" "))),
    }
}

fn carry_out(task: Task) -> Result<ExitCode, String> {
    match task {
        Task::Help => anstream::print!("{HELP}"),
        Task::List => report::list(STEPS),
        Task::Test { steps, verbose, cases } => {
            let mut workspace = Workspace::find(verbose)?;
            workspace.cases = cases;
            workspace.halves = ["tests", "release"].iter().all(|name| steps.iter().any(|step| step.name == *name));
            return Ok(report::run_all(&workspace, &steps));
        }
        Task::Step(step, file) => {
            let mut workspace = Workspace::find(true)?;
            workspace.halves = std::env::var_os(report::HALVES).is_some();
            workspace.has_page = std::env::var_os(report::HAS_PAGE).is_some();
            return Ok(report::run_for_another(&workspace, step, &file));
        }
        Task::Stress(minutes) => return stress::run(&Workspace::find(true)?, minutes),
        Task::StressAdvice(lines) => return stress::advice(&Workspace::find(true)?, lines),
        Task::Release(folder) => return done(release::build(&Workspace::find(false)?, folder.as_deref())),
        Task::Site(folder) => return done(site::build(&Workspace::find(false)?, folder.as_deref())),
        Task::Bless => return done(readme::bless(&Workspace::find(true)?)),
        Task::Web => return done(web::build(&Workspace::find(true)?)),
    }
    Ok(ExitCode::SUCCESS)
}

/// How a task ends that is one step.
fn done(outcome: Outcome) -> Result<ExitCode, String> {
    match outcome {
        Ok(()) => Ok(ExitCode::SUCCESS),
        Err(Stop::Failed(reason) | Stop::Skipped(reason)) => Err(reason),
    }
}
