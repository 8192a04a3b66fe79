//! `shapetracker explore` as browsers and people meet it, whether the command was built with the page or without.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn explore(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_shapetracker"));
    command.arg("explore").args(args);
    command
}

/// How long anything may take before it counts as never.
const LONGEST: Duration = Duration::from_secs(60);

/// A running command, which ends with the test.
struct Served {
    command: Child,
    /// The address that it printed.
    url: String,
}

impl Served {
    /// Starts the command; nothing where it was built without the page.
    fn start(args: &[&str]) -> Option<Served> {
        Served::start_as(explore(args))
    }

    fn start_as(mut command: Command) -> Option<Served> {
        if !has_page() {
            eprintln!("skipped: the command was built without the page (cargo xtask web)");
            return None;
        }
        let mut command = command.arg("--json").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(command.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let url = answer["url"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned();
        Some(Served { command, url })
    }

    fn connect(&self) -> TcpStream {
        let host = self.url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let connection = TcpStream::connect(host).unwrap();
        // A command that does not answer fails the test and does not stop it.
        connection.set_read_timeout(Some(LONGEST)).unwrap();
        connection
    }

    /// How the command ends, which it must do by itself.
    #[cfg(unix)]
    fn ended(&mut self) -> std::process::ExitStatus {
        let begin = Instant::now();
        while begin.elapsed() < LONGEST {
            if let Some(status) = self.command.try_wait().unwrap() {
                return status;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the command still runs");
    }

    /// The head and the content of a file.
    fn file(&self, name: &str) -> (String, Vec<u8>) {
        let mut connection = self.connect();
        write!(connection, "GET /{name} HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
        let mut bytes = Vec::new();
        connection.read_to_end(&mut bytes).unwrap();
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        (String::from_utf8(bytes[..end].to_vec()).unwrap(), bytes[end + 4..].to_vec())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.command.kill();
        let _ = self.command.wait();
    }
}

fn page() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/page"))
}

/// Whether the page was there for the command to be built with.
fn has_page() -> bool {
    page().join("index.html").is_file()
}

fn error(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).unwrap().trim_end()
}

#[test]
fn the_page_is_served_file_by_file() {
    let Some(served) = Served::start(&[]) else { return };
    let mut names = 0;
    for entry in fs::read_dir(page()).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        if !name.starts_with('.') {
            names += 1;
            let (head, content) = served.file(&name);
            assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{name}: {head}");
            assert!(!head.contains("octet-stream"), "{name}: {head}");
            assert_eq!(content, fs::read(entry.path()).unwrap(), "{name}");
        }
    }
    assert!(names > 3);
    assert!(served.file(".gitignore").0.starts_with("HTTP/1.1 404"));
}

#[test]
fn without_the_page_it_is_said_how_to_get_it() {
    if has_page() {
        return;
    }
    let output = explore(&["(3, 2)", "--open"]).output().unwrap();
    assert_eq!((output.status.code(), output.stdout.len()), (Some(2), 0));
    assert_eq!(
        error(&output),
        "error: this command was built without the page: `cargo xtask web` builds it (with Node.js), and the next \
         build of the command then has it"
    );
}

#[test]
fn a_chain_is_given_to_the_page_as_the_page_would_write_it() {
    let long = format!("(3){}", ".flip(0)".repeat(1499));
    for (chain, fragment) in [
        ("(3, 2).permute(1, 0)", "#chain=(3,+2).permute(1,+0)"),
        ("(2, 3).transpose(0, 1)[::-1]", "#chain=(2,+3).transpose(0,+1)[::-1]"),
        ("((3, 2), 4):((1, 3), 6)", "#chain=((3,+2),+4):((1,+3),+6)"),
        (&long, &format!("#chain={long}")),
    ] {
        let Some(served) = Served::start(&[chain]) else { return };
        assert_eq!(served.url.split_once('#').unwrap().1, &fragment[1..]);
        assert!(served.url.starts_with("http://127.0.0.1:"), "{}", served.url);
    }
}

#[test]
fn what_the_page_would_not_read_is_refused() {
    let output = explore(&[&format!("(3){}", ".flip(0)".repeat(1500))]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let expected = if has_page() {
        "error: the chain takes 12003 bytes in the address of the page, which reads chains of at most 12000"
    } else {
        "error: this command was built without the page"
    };
    assert!(error(&output).starts_with(expected), "{}", error(&output));
    let output = explore(&[""]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = explore(&["--port", &port.to_string()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    if has_page() {
        let begin = format!("error: cannot listen at 127.0.0.1:{port}: ");
        assert!(error(&output).starts_with(&begin), "{}", error(&output));
        assert!(error(&output).ends_with("; without --port any free port is taken"), "{}", error(&output));
    }
}

#[test]
fn idle_connections_keep_nobody_waiting() {
    let Some(served) = Served::start(&[]) else { return };
    let begin = Instant::now();
    let idle: Vec<TcpStream> = (0..20).map(|_| served.connect()).collect();
    assert!(served.file("").0.starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(begin.elapsed().as_secs() < 8, "{:?}", begin.elapsed());
    // More than are answered at a time: those that ask nothing are given up.
    let more: Vec<TcpStream> = (0..100).map(|_| served.connect()).collect();
    drop(idle);
    drop(more);
    assert!(served.file("").0.starts_with("HTTP/1.1 200 OK\r\n"));
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_as_it_ends_anything() {
    use std::os::unix::process::ExitStatusExt;

    // A shell that is not interactive starts what runs in the background with interrupts ignored, the tests and the
    // commands that they start too. `env` undoes that, where it can.
    let undo = "--default-signal=INT";
    let can_undo = Command::new("env").args([undo, "true"]).output().is_ok_and(|output| output.status.success());
    let mut command = Command::new("env");
    command.args([undo, env!("CARGO_BIN_EXE_shapetracker"), "explore"]);
    let Some(mut served) = Served::start_as(if can_undo { command } else { explore(&[]) }) else { return };
    let pid = served.command.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    assert_eq!(served.ended().signal(), Some(2));
}
