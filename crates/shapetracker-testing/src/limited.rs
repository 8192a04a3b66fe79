//! Programs that tests run. None is waited for without a limit: one that hangs fails its test, and does not stop it.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

/// How long a program may take before it counts as hanging: long, for a machine that does much else.
pub const LONGEST: Duration = Duration::from_secs(600);

/// Runs a program to its end on a text for its standard input, which it need not read to the end.
pub fn output(command: &mut Command, input: &[u8]) -> io::Result<Output> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        // A program that has seen enough closes its end.
        thread::spawn(move || drop(stdin.write_all(&input)));
    }
    finished(child)
}

/// The end of a program, and what it wrote to the pipes that it was given.
pub fn finished(mut child: Child) -> io::Result<Output> {
    let [stdout, stderr] = [child.stdout.take().map(read), child.stderr.take().map(read)];
    let status = ended(&mut child)?;
    let text = |receiver: Option<Receiver<Vec<u8>>>| match receiver {
        None => Ok(Vec::new()),
        // What it started and left behind may still hold its end.
        Some(text) => text.recv_timeout(LONGEST).map_err(|_| io::Error::other("its output has no end")),
    };
    Ok(Output { status, stdout: text(stdout)?, stderr: text(stderr)? })
}

/// How a program ends, which it must do by itself.
pub fn ended(child: &mut Child) -> io::Result<ExitStatus> {
    let begin = Instant::now();
    while begin.elapsed() < LONGEST {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        thread::sleep(Duration::from_millis(2));
    }
    child.kill()?;
    Err(io::Error::other(format!("it ran for {LONGEST:?} and was ended")))
}

/// Reads to the end, elsewhere.
fn read(mut from: impl Read + Send + 'static) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = from.read_to_end(&mut bytes);
        let _ = sender.send(bytes);
    });
    receiver
}
