//! `shapetracker explore` as browsers and people meet it, whether the command was built with the page or without.

mod common;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

fn explore(args: &[&str]) -> Command {
    let mut command = Command::new(common::command());
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
        let stdout = command.stdout.take().unwrap();
        let (sender, receiver) = mpsc::channel();
        thread::spawn(move || {
            let mut line = String::new();
            sender.send(BufReader::new(stdout).read_line(&mut line).map(|_| line))
        });
        let line = receiver.recv_timeout(LONGEST).inspect_err(|_| drop(command.kill())).unwrap().unwrap();
        let answer: Value = serde_json::from_str(&line).unwrap();
        let url = answer["url"].as_str().unwrap_or_else(|| panic!("{line}")).to_owned();
        Some(Served { command, url })
    }

    fn connect(&self) -> TcpStream {
        let host = self.url.strip_prefix("http://").unwrap().split('/').next().unwrap();
        let connection = TcpStream::connect(host).unwrap();
        // A command that does not answer fails the test and does not stop it.
        connection.set_read_timeout(Some(LONGEST)).unwrap();
        connection.set_write_timeout(Some(LONGEST)).unwrap();
        connection
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
    let output = common::output(&mut explore(&["(3, 2)", "--open"]));
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
        ("(3, 2).permute(1, 0)", "#(3,2).permute(1,0)"),
        ("(2, 3).transpose(0, 1)[::-1]", "#(2,3).transpose(0,1)[::-1]"),
        ("((3, 2), 4):((1, 3), 6)", "#((3,2),4):((1,3),6)"),
        (&long, &format!("#{long}")),
    ] {
        let Some(served) = Served::start(&[chain]) else { return };
        assert_eq!(served.url.split_once('#').unwrap().1, &fragment[1..]);
        assert!(served.url.starts_with("http://127.0.0.1:"), "{}", served.url);
    }
}

#[test]
fn what_the_page_would_not_read_is_refused() {
    let output = common::output(&mut explore(&[&format!("(3){}", ".flip(0)".repeat(1500))]));
    assert_eq!(output.status.code(), Some(2));
    let expected = if has_page() {
        "error: the chain takes 12003 bytes in the address of the page, which reads chains of at most 12000"
    } else {
        "error: this command was built without the page"
    };
    assert!(error(&output).starts_with(expected), "{}", error(&output));
    let output = common::output(&mut explore(&[""]));
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_port_that_is_taken_is_named() {
    let taken = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let port = taken.local_addr().unwrap().port();
    let output = common::output(&mut explore(&["--port", &port.to_string()]));
    assert_eq!(output.status.code(), Some(2));
    if has_page() {
        let begin = format!("error: cannot listen at 127.0.0.1:{port}: ");
        assert!(error(&output).starts_with(&begin), "{}", error(&output));
        assert!(error(&output).ends_with("; without --port any free port is taken"), "{}", error(&output));
    }
}

/// How many connections a test may hold at a time: as many as it wants of those that all want, where the limit for open
/// files can be raised so far, with some files left for other tests.
fn raised(wanted: usize) -> usize {
    #[cfg(unix)]
    #[allow(unsafe_code)]
    {
        const ALL: usize = 1600;
        const OTHERS: usize = 400;
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        // SAFETY: both functions are passed a limit that is there.
        unsafe {
            libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
            limit.rlim_cur = limit.rlim_max.min(limit.rlim_cur.max((ALL + OTHERS) as libc::rlim_t));
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
            libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        }
        let may =
            usize::try_from(limit.rlim_cur).unwrap_or(usize::MAX).saturating_sub(OTHERS).clamp(50, ALL) * wanted / ALL;
        eprintln!("{may} connections at a time (the limit for open files is {})", limit.rlim_cur);
        may
    }
    #[cfg(not(unix))]
    wanted
}

/// Asks for the whole page, which must be there soon; returns after how long.
fn page_is_served(served: &Served) -> Duration {
    let begin = Instant::now();
    for name in ["", "index.html", "shapetracker.wasm"] {
        assert!(served.file(name).0.starts_with("HTTP/1.1 200 OK\r\n"), "{name}");
    }
    assert!(begin.elapsed().as_secs() < 8, "{:?}", begin.elapsed());
    begin.elapsed()
}

#[test]
fn found_by_an_audit_idle_connections_keep_nobody_waiting() {
    let Some(served) = Served::start(&[]) else { return };
    let alone = page_is_served(&served);
    let mut idle: Vec<TcpStream> = (0..20).map(|_| served.connect()).collect();
    page_is_served(&served);
    // Many times more than are open at a time: those that ask nothing are given up.
    let many = raised(1000);
    idle.extend((20..many).map(|_| served.connect()));
    let with_many = page_is_served(&served);
    eprintln!("the page took {alone:?} alone and {with_many:?} beside {} idle connections", idle.len());
}

#[test]
fn found_by_an_audit_slow_requests_keep_nobody_waiting() {
    let Some(served) = Served::start(&[]) else { return };
    let connections = raised(600);
    let enough = AtomicBool::new(false);
    thread::scope(|scope| {
        let mut slow: Vec<TcpStream> = (0..connections).map(|_| served.connect()).collect();
        let (served, enough) = (&served, &enough);
        let drip = scope.spawn(move || {
            let mut replaced = 0;
            while !enough.load(Ordering::Relaxed) {
                for connection in &mut slow {
                    // Whoever is given up comes again.
                    if connection.write_all(b"a").is_err() {
                        *connection = served.connect();
                        replaced += 1;
                    }
                }
                thread::sleep(Duration::from_millis(10));
            }
            replaced
        });
        for _ in 0..5 {
            // A failure must end the other thread too.
            let time = std::panic::catch_unwind(|| page_is_served(served));
            enough.store(time.is_err(), Ordering::Relaxed);
            eprintln!("the page took {:?} beside {connections} slow requests", time.unwrap());
            thread::sleep(Duration::from_millis(300));
        }
        enough.store(true, Ordering::Relaxed);
        eprintln!("{} connections were replaced", drip.join().unwrap());
    });
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_as_it_ends_anything() {
    use std::os::unix::process::ExitStatusExt;

    let mut command = explore(&[]);
    common::with_signals(&mut command, &[libc::SIGINT], false);
    let Some(mut served) = Served::start_as(command) else { return };
    common::send(&served.command, libc::SIGINT);
    assert_eq!(common::ended(&mut served.command).signal(), Some(libc::SIGINT));
}
