//! Commands that the tests run. None is waited for without a limit: one that hangs fails its test, and does not stop it.

#![allow(dead_code, unused_imports, reason = "every file of tests takes what it needs")]

use std::process::{Child, Command, ExitStatus, Output};
use std::sync::LazyLock;

use shapetracker_testing::limited;
pub(crate) use shapetracker_testing::limited::LONGEST;

/// The command: the one that was built with the tests, or another one that SHAPETRACKER_COMMAND names, which needs no tests of its
/// own to be compiled.
pub(crate) fn command() -> &'static str {
    static COMMAND: LazyLock<String> = LazyLock::new(|| {
        std::env::var("SHAPETRACKER_COMMAND").unwrap_or_else(|_| env!("CARGO_BIN_EXE_shapetracker").to_owned())
    });
    &COMMAND
}

/// Runs a command to its end, with nothing on its standard input.
pub(crate) fn output(command: &mut Command) -> Output {
    fed(command, b"")
}

/// Runs a command to its end on a text for its standard input, which it need not read to the end.
pub(crate) fn fed(command: &mut Command, input: &[u8]) -> Output {
    try_fed(command, input).unwrap_or_else(|error| panic!("{command:?}: {error}"))
}

/// The same for a command that may not be there.
pub(crate) fn try_fed(command: &mut Command, input: &[u8]) -> std::io::Result<Output> {
    limited::output(command, input)
}

/// The end of a command, and what it wrote to the pipes that it was given.
pub(crate) fn finished(child: Child) -> Output {
    limited::finished(child).unwrap()
}

/// How a command ends, which it must do by itself.
pub(crate) fn ended(child: &mut Child) -> ExitStatus {
    limited::ended(child).unwrap()
}

/// Sets what a command does about signals when it starts. A shell that is not interactive starts what runs in the background
/// with interrupts ignored, and `nohup` hangups, the tests and the commands that they start too.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(crate) fn with_signals<'a>(command: &'a mut Command, signals: &'static [i32], ignored: bool) -> &'a mut Command {
    use std::os::unix::process::CommandExt;

    let action = if ignored { libc::SIG_IGN } else { libc::SIG_DFL };
    // SAFETY: between fork and exec only `signal` and `setrlimit` are called, which are async-signal-safe.
    unsafe {
        command.pre_exec(move || {
            for signal in signals {
                libc::signal(*signal, action);
            }
            // SIGQUIT would leave a picture of the memory.
            libc::setrlimit(libc::RLIMIT_CORE, &libc::rlimit { rlim_cur: 0, rlim_max: 0 });
            Ok(())
        })
    }
}

/// Sends a signal to a command.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(crate) fn send(child: &Child, signal: i32) {
    // SAFETY: no memory is touched. The command was not waited for yet, so that the number is still its own.
    let sent = unsafe { libc::kill(child.id() as i32, signal) };
    assert_eq!(sent, 0, "{}", std::io::Error::last_os_error());
}
