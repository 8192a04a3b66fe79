//! Where the project is, what it contains, and how commands are run in it.

use std::{
    env,
    ffi::OsString,
    io::{IsTerminal, Read, Write},
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
    sync::mpsc::{self, Receiver},
    thread,
    time::{Duration, Instant},
};

use anstream::{AutoStream, ColorChoice};
use cargo_metadata::{Metadata, MetadataCommand, Package, Target};

use crate::clock::Clock;

/// Why a step did not pass.
pub(crate) enum Stop {
    /// Something is wrong; the text says what.
    Failed(String),
    /// The machine lacks what the step needs; the text says what, and how to get it.
    Skipped(String),
}

/// The outcome of a step.
pub(crate) type Outcome = Result<(), Stop>;

/// A step that fails for the reason given.
pub(crate) fn failed(reason: impl Into<String>) -> Stop {
    Stop::Failed(reason.into())
}

/// A step that is skipped for the reason given.
pub(crate) fn skipped(reason: impl Into<String>) -> Stop {
    Stop::Skipped(reason.into())
}

/// The checkout with what cargo knows of it.
pub(crate) struct Workspace {
    /// Whether commands show their output as it comes; otherwise only that of a failing one is shown.
    pub(crate) verbose: bool,
    /// Whether the tests run in both of their forms, and share the random cases between them.
    pub(crate) halves: bool,
    /// How many times as many random cases there are, where not all of them are held.
    pub(crate) cases: Option<&'static str>,
    /// Whether the step `web` has built the page of this checkout just now.
    pub(crate) has_page: bool,
    metadata: Metadata,
}

impl Workspace {
    pub(crate) fn find(verbose: bool) -> Result<Self, String> {
        let metadata = MetadataCommand::new().no_deps().exec().map_err(|e| e.to_string())?;
        let ci = env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
        Ok(Self {
            verbose: verbose || ci || !std::io::stdout().is_terminal(),
            halves: false,
            cases: None,
            has_page: false,
            metadata,
        })
    }

    /// A path in the checkout.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.metadata.workspace_root.as_std_path().join(relative)
    }

    /// A path in the folder of build outputs.
    pub(crate) fn target(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.metadata.target_directory.as_std_path().join(relative)
    }

    /// The packages of the workspace.
    pub(crate) fn packages(&self) -> Vec<&Package> {
        self.metadata.workspace_packages()
    }

    /// The targets of one kind, each with its package.
    pub(crate) fn targets<'a>(
        &'a self,
        is_kind: impl Fn(&Target) -> bool + Copy + 'a,
    ) -> impl Iterator<Item = (&'a Package, &'a Target)> {
        let packages = self.packages().into_iter();
        packages.flat_map(move |p| p.targets.iter().filter(move |t| is_kind(t)).map(move |t| (p, t)))
    }

    /// The names of the fuzz targets, which are in a workspace of their own.
    pub(crate) fn fuzz_targets(&self) -> Result<Vec<String>, Stop> {
        let manifest = self.path("fuzz/Cargo.toml");
        let metadata = MetadataCommand::new().manifest_path(manifest).no_deps().exec();
        let metadata = metadata.map_err(|error| failed(error.to_string()))?;
        let targets = metadata.workspace_packages().into_iter().flat_map(|package| &package.targets);
        Ok(targets.filter(|target| target.is_bin()).map(|target| target.name.clone()).collect())
    }

    /// `cargo` with arguments as they would be typed, to be run in the root of the checkout.
    pub(crate) fn cargo(&self, arguments: &str) -> Command {
        // Not the path in $CARGO: the proxy of rustup alone understands `+toolchain`.
        self.command("cargo", arguments)
    }

    /// `cargo` for what is compiled in the form of a release. See [`Workspace::sharing`].
    pub(crate) fn cargo_release(&self, arguments: &str) -> Command {
        let mut command = self.cargo(arguments);
        self.sharing(&mut command);
        command
    }

    /// Tells cargo, however a command comes to call it, to give every dependency the features that any package of the workspace asks
    /// for. In a whole run the command, the Python package and the tests in the form of a release are then compiled once: cargo
    /// would compile each library for each of them, because macros' and tests' dependencies ask for different features of `syn`.
    /// That is unstable; a cargo that knows none of it compiles more. What is compiled for these tests alone is optimised once and not
    /// a second time across the parts of a crate, which takes a quarter of the time.
    pub(crate) fn sharing<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        if self.halves {
            allow(command, "FEATURE_UNIFICATION")
                .env("CARGO_RESOLVER_FEATURE_UNIFICATION", "workspace")
                .env("CARGO_PROFILE_RELEASE_LTO", "off");
        }
        command
    }

    /// A program with arguments as they would be typed, to be run in the root of the checkout.
    pub(crate) fn command(&self, program: impl Into<OsString>, arguments: &str) -> Command {
        let mut command = Command::new(program.into());
        command.args(arguments.split_whitespace()).current_dir(self.path(""));
        command
    }

    /// The variable by which the tests know their share of the random cases; none where they have all of them.
    pub(crate) fn share_of_cases(&self, part: &'static str) -> Option<(&'static str, &'static str)> {
        self.halves.then_some(("SHAPETRACKER_PART", part))
    }

    /// Runs a command that must succeed. The reason of a failure has what it printed, or the last lines of that where all of
    /// it has been shown.
    pub(crate) fn run(&self, command: &mut Command) -> Outcome {
        command.stdin(Stdio::null());
        if AutoStream::choice(&std::io::stdout()) != ColorChoice::Never {
            command.env("CARGO_TERM_COLOR", "always");
        }
        let clock = Clock::start();
        let ended = captured_and_shown(command, self.verbose);
        if self.verbose && clock.is_worth_telling() {
            anstream::println!("took {}: {}", clock.taken(), typed(command));
        }
        match ended {
            Ok((status, _)) if status.success() => Ok(()),
            Ok((status, output)) => {
                let output = if self.verbose { &told(&output, 80) } else { &output };
                Err(failed(format!("{output}`{}` ended with {status}", typed(command))))
            }
            Err(e) => Err(failed(format!("`{}` could not be run: {e}", typed(command)))),
        }
    }

    /// Runs a command that must succeed, and returns what it printed on standard output.
    pub(crate) fn read(&self, command: &mut Command) -> Result<String, Stop> {
        match output_and_errors(command) {
            Ok((status, output, _)) if status.success() => Ok(output),
            Ok((status, _, errors)) => Err(failed(format!("{errors}`{}` ended with {status}", typed(command)))),
            Err(e) => Err(failed(format!("`{}` could not be run: {e}", typed(command)))),
        }
    }

    /// The major and the minor version that a program of Rust's says it has: `cargo 1.95.0 (..)`.
    pub(crate) fn version(&self, program: &str) -> Option<(u64, u64)> {
        let text = self.read(&mut self.command(program, "--version")).ok()?;
        let mut numbers = text.split_whitespace().nth(1)?.split('.').map_while(|number| number.parse().ok());
        Some((numbers.next()?, numbers.next()?))
    }

    /// Whether a command can be run and succeeds, its output unseen.
    pub(crate) fn succeeds(&self, command: &mut Command) -> bool {
        let child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        child.and_then(|mut child| ended(&mut child)).is_ok_and(|status| status.success())
    }
}

/// Allows what is unstable to the stable cargo, however a command comes to call it.
pub(crate) fn allow<'c>(command: &'c mut Command, unstable: &str) -> &'c mut Command {
    let allowed = format!("CARGO_UNSTABLE_{unstable}");
    command.env("__CARGO_TEST_CHANNEL_OVERRIDE_DO_NOT_USE_THIS", "nightly").env(allowed, "true")
}

/// Runs a command to its end and returns its standard output and standard error in the order they came.
pub(crate) fn captured(command: &mut Command) -> std::io::Result<(ExitStatus, String)> {
    captured_and_shown(command, false)
}

/// The same, and shows it as it comes, or not.
fn captured_and_shown(command: &mut Command, is_shown: bool) -> std::io::Result<(ExitStatus, String)> {
    let (reader, writer) = std::io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    let mut child = command.spawn()?;
    // The command holds the writing ends; the pipe is at its end once they are closed here too.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let output = if is_shown { read(Shown(reader)) } else { read(reader) };
    let status = ended(&mut child)?;
    Ok((status, arrived(&output)?))
}

/// Runs a command to its end and returns its standard output and its standard error.
fn output_and_errors(command: &mut Command) -> std::io::Result<(ExitStatus, String, String)> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let (output, errors) = (child.stdout.take().map(read), child.stderr.take().map(read));
    let status = ended(&mut child)?;
    let text = |from: Option<Reading>| from.map_or(Ok(String::new()), |reading| arrived(&reading));
    Ok((status, text(output)?, text(errors)?))
}

/// What is read is printed on standard output, too.
struct Shown<R>(R);

impl<R: Read> Read for Shown<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(buffer)?;
        let mut output = std::io::stdout().lock();
        // Nobody may be there to see it.
        _ = output.write_all(&buffer[..count]).and_then(|()| output.flush());
        Ok(count)
    }
}

/// What of an output is told again at the end of a run: its last lines, and before them those in which tests of Rust say why they
/// failed, which stand far above where other tests went on.
fn told(output: &str, count: usize) -> String {
    let last = last_lines(output, count);
    let before = &output[..output.len() - last.len()];
    let mut is_told = false;
    let failures = before.lines().filter(|line| {
        is_told = line.trim_end() == "failures:" || is_told && !line.starts_with("test result: ");
        is_told
    });
    failures.take(80).chain([last]).collect::<Vec<_>>().join("\n")
}

/// The last lines of a text.
fn last_lines(text: &str, count: usize) -> &str {
    let mut ends = text.trim_end().rmatch_indices('\n');
    ends.nth(count - 1).map_or(text, |(end, _)| &text[end + 1..])
}

/// What a thread reads.
type Reading = Receiver<std::io::Result<Vec<u8>>>;

/// Reads to the end while something else is waited for.
fn read(mut from: impl Read + Send + 'static) -> Reading {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        sender.send(from.read_to_end(&mut bytes).map(|_| bytes))
    });
    receiver
}

/// All that a command wrote, which has ended: what it started and left running may hold the other end of the pipe.
fn arrived(reading: &Reading) -> std::io::Result<String> {
    let bytes = reading.recv_timeout(Duration::from_secs(60)).map_err(|_| {
        std::io::Error::other("it has ended, but its output has not: something that it started still runs")
    })??;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Waits for a command, but no longer than `COMMAND_MINUTES`: one that hangs is ended with all that it started, so that
/// nothing waits for it in vain.
fn ended(child: &mut Child) -> std::io::Result<ExitStatus> {
    let minutes = env::var("COMMAND_MINUTES").ok().and_then(|text| text.parse().ok()).unwrap_or(60);
    let end = Instant::now() + Duration::from_secs(60 * minutes);
    let mut pause = Duration::from_millis(1);
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if Instant::now() > end {
            end_with_descendants(child.id());
            child.wait()?;
            return Err(std::io::Error::other(format!("it took more than {minutes} minutes (COMMAND_MINUTES)")));
        }
        thread::sleep(pause);
        pause = (2 * pause).min(Duration::from_millis(50));
    }
}

/// Ends a process, and those that it started.
fn end_with_descendants(process: u32) {
    if cfg!(windows) {
        _ = Command::new("taskkill").args(["/T", "/F", "/PID", &process.to_string()]).output();
        return;
    }
    let table = Command::new("ps").args(["-A", "-o", "pid=,ppid="]).output().map(|output| output.stdout);
    let table = String::from_utf8_lossy(&table.unwrap_or_default()).into_owned();
    let numbers = |line: &str| {
        let mut words = line.split_whitespace().map_while(|word| word.parse::<u32>().ok());
        Some((words.next()?, words.next()?))
    };
    let pairs: Vec<(u32, u32)> = table.lines().filter_map(numbers).collect();
    let mut ending = vec![process];
    let mut at = 0;
    while at < ending.len() {
        let parent = ending[at];
        ending.extend(pairs.iter().filter(|pair| pair.1 == parent).map(|pair| pair.0));
        at += 1;
    }
    _ = Command::new("kill").arg("-KILL").args(ending.iter().map(u32::to_string)).output();
}

/// `PATH` with one more folder, searched first.
pub(crate) fn path_with(folder: &Path) -> OsString {
    let usual = env::var_os("PATH").unwrap_or_default();
    env::join_paths([folder.to_owned()].into_iter().chain(env::split_paths(&usual))).unwrap_or(usual)
}

/// A command as a person would type it.
fn typed(command: &Command) -> String {
    let shown = ["RUSTDOCFLAGS", "RUSTFLAGS"];
    let variables = command.get_envs().filter(|(name, _)| shown.iter().any(|shown| name == shown));
    let variables = variables.filter_map(|(name, value)| Some(format!("{}='{}'", name.display(), value?.display())));
    let words = [command.get_program()].into_iter().chain(command.get_args()).map(|word| word.display().to_string());
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_told_with_the_last_lines() {
        let failures = "failures:\n\n---- a stdout ----\n3 is not 4\n\nfailures:\n    a\n\n";
        let output = format!("test a ... FAILED\n\n{failures}test result: FAILED\ntest b ... ok\ntest c ... ok\n");
        assert_eq!(told(&output, 1), format!("{failures}test c ... ok\n"));
        assert_eq!(told(&output, 100), output);
    }

    #[test]
    fn commands_as_typed() {
        let mut command = Command::new("cargo");
        command.args(["doc", "--no-deps"]).env("RUSTDOCFLAGS", "-D warnings").env("CARGO_TERM_COLOR", "always");
        assert_eq!(typed(&command), "RUSTDOCFLAGS='-D warnings' cargo doc --no-deps");
    }
}
