//! `shapetracker explore`: serves the explorer's page, which is part of the command, to this machine alone.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::json;
use shapetracker::Chain;

use crate::answer::{BOLD, DIM, Failure};
use crate::input::text_of;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker explore
  shapetracker explore '(3, 2).permute(1, 0).reshape(3, 2)' --open

The page runs in the browser; the command only hands out its files, to this machine alone (127.0.0.1). Ctrl-C ends it.

With --json: url.")]
pub(crate) struct Args {
    /// The chain to begin with, such as "(3, 2).permute(1, 0)"; - reads it from standard input.
    #[arg(allow_hyphen_values = true)]
    chain: Option<String>,
    /// Open the page in the browser.
    #[arg(long)]
    open: bool,
    /// The port to listen at; 0 for any that is free.
    #[arg(long, value_name = "N", default_value_t = 0)]
    port: u16,
}

/// A file of the page: its name and what is in it.
type File = (&'static str, &'static [u8]);

/// The built page; nothing where the command was built without it.
const PAGE: &[File] = include!(concat!(env!("OUT_DIR"), "/page.rs"));

/// What the page may do: run its own scripts and the engine, and nothing else.
const POLICY: &str = "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; \
                      img-src 'self' data: blob:; connect-src 'self'; base-uri 'none'; form-action 'none'; \
                      frame-ancestors 'none'";

/// The longest head of a request. A browser's are far shorter.
const LONGEST_HEAD: u64 = 1 << 14;
/// A connection that sends or takes nothing for so long is closed.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) fn explore(args: &Args, as_json: bool) -> Result<(), Failure> {
    let chain = args.chain.as_ref().map(|chain| text_of(chain)).transpose()?;
    if let Some(chain) = &chain {
        chain.parse::<Chain>()?;
    }
    if PAGE.is_empty() {
        let message = "this command was built without the page: `cargo xtask web` builds it (with Node.js), and the \
                       next build of the command then has it";
        return Err(Failure::new("no_page", message));
    }
    let cannot = |err: io::Error| Failure::new("io", format!("cannot listen at 127.0.0.1:{}: {err}", args.port));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let fragment = chain.map_or(String::new(), |chain| format!("#chain={}", encoded(&chain)));
    let url = format!("http://{address}/{fragment}");
    let text = if as_json {
        format!("{}\n", json!({ "url": url }))
    } else {
        format!("{BOLD}{url}{BOLD:#}\n{DIM}Ctrl-C ends it.{DIM:#}\n")
    };
    let mut out = anstream::stdout();
    // Without a reader the page can still be served.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if args.open && !opened(&url) {
        let _ = writeln!(anstream::stderr(), "No browser could be started: open the page by its address.");
    }
    serve(&listener, address);
    Ok(())
}

/// Starts the browser; returns whether that could be done.
fn opened(url: &str) -> bool {
    let mut command = if cfg!(target_os = "macos") {
        Command::new("open")
    } else if cfg!(windows) {
        // The first argument in quotes would be a title to `start`.
        let mut command = Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        Command::new("xdg-open")
    };
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}

/// A text as a part of the fragment of an address, with what may stand there left readable.
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => encoded.push('+'),
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' => encoded.push(byte.into()),
            b'-' | b'_' | b'.' | b'!' | b'~' | b'*' | b'(' | b')' | b',' | b':' | b'=' | b'/' => {
                encoded.push(byte.into());
            }
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

/// Answers requests until the command is ended.
fn serve(listener: &TcpListener, address: SocketAddr) {
    for connection in listener.incoming().flatten() {
        // A connection that fails is the browser's affair, which asks again.
        thread::spawn(move || {
            let _ = connection.set_read_timeout(Some(PATIENCE));
            let _ = connection.set_write_timeout(Some(PATIENCE));
            let _ = answer(&connection, address);
        });
    }
}

/// Reads the head of one request, answers it, and closes the connection.
fn answer(mut connection: &TcpStream, address: SocketAddr) -> io::Result<()> {
    let mut head = Vec::new();
    let mut lines = BufReader::new(connection.take(LONGEST_HEAD));
    loop {
        let before = head.len();
        lines.read_until(b'\n', &mut head)?;
        match &head[before..] {
            b"\r\n" | b"\n" => break,
            line if line.ends_with(b"\n") => {}
            // The connection has ended, or the head does not.
            _ => return write(&mut connection, "400 Bad Request", "text/plain", b"", true),
        }
    }
    let head = String::from_utf8_lossy(&head);
    let (status, file) = response(&head, address);
    let (kind, content) =
        file.map_or(("text/plain; charset=utf-8", status.as_bytes()), |(name, content)| (kind(name), content));
    write(&mut connection, status, kind, content, !head.starts_with("HEAD "))
}

/// The status of the answer to a request, and the file that it asks for.
fn response(head: &str, address: SocketAddr) -> (&'static str, Option<File>) {
    let mut lines = head.lines();
    let mut request = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (request.next().unwrap_or_default(), request.next().unwrap_or_default());
    let fields: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
    let mut hosts = fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.trim());
    // Under any other name the page of a stranger might have been led here, and could read the answer.
    let port = address.port();
    let ours = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
    if !matches!((hosts.next(), hosts.next()), (Some(host), None) if ours.iter().any(|name| name == host)) {
        return ("403 Forbidden", None);
    }
    if !matches!(method, "GET" | "HEAD") {
        return ("405 Method Not Allowed", None);
    }
    let path = path.split('?').next().unwrap_or_default();
    let name = match path.strip_prefix('/') {
        Some("") => "index.html",
        Some(name) => name,
        None => return ("400 Bad Request", None),
    };
    // Nothing is looked up but the names of the files in the command: there is no path to leave.
    match PAGE.iter().find(|(file, _)| *file == name) {
        Some(file) => ("200 OK", Some(*file)),
        None => ("404 Not Found", None),
    }
}

/// The type of a file by its name.
fn kind(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("html") => "text/html; charset=utf-8",
        Some("js") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json" | "map") => "application/json",
        Some("txt") => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

fn write(to: &mut impl Write, status: &str, kind: &str, content: &[u8], with_content: bool) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status}\r\n\
         Content-Type: {kind}\r\n\
         Content-Length: {}\r\n\
         Content-Security-Policy: {POLICY}\r\n\
         X-Content-Type-Options: nosniff\r\n\
         Referrer-Policy: no-referrer\r\n\
         Cross-Origin-Opener-Policy: same-origin\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\n\
         Cache-Control: no-store\r\n\
         Connection: close\r\n\r\n",
        content.len(),
    );
    to.write_all(head.as_bytes())?;
    if with_content {
        to.write_all(content)?;
    }
    to.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is sent back for some bytes of a request, by a server of its own.
    fn sent(request: impl Fn(u16) -> String) -> String {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let server = thread::spawn(move || {
            let (connection, _) = listener.accept().unwrap();
            answer(&connection, address).unwrap();
        });
        let mut connection = TcpStream::connect(address).unwrap();
        connection.write_all(request(address.port()).as_bytes()).unwrap();
        connection.shutdown(std::net::Shutdown::Write).unwrap();
        let mut bytes = Vec::new();
        connection.read_to_end(&mut bytes).unwrap();
        server.join().unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    fn status(request: &str) -> String {
        let answer = sent(|port| request.replace("PORT", &port.to_string()));
        answer.lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn every_answer_has_the_policy_and_says_what_it_is() {
        for path in ["/", "/nothing"] {
            let answer = sent(|port| format!("GET {path} HTTP/1.1\r\nHost: localhost:{port}\r\n\r\n"));
            assert!(answer.contains("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'"), "{answer}");
            assert!(answer.contains("\r\nX-Content-Type-Options: nosniff\r\n"), "{answer}");
        }
    }

    #[test]
    fn the_files_of_the_page_and_nothing_else_are_served() {
        let found = if PAGE.is_empty() { "HTTP/1.1 404 Not Found" } else { "HTTP/1.1 200 OK" };
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"), found);
        assert_eq!(status("HEAD /index.html?x=1 HTTP/1.1\r\nhost: localhost:PORT\r\n\r\n"), found);
        for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "//index.html", "/./index.html", "/etc/passwd", "/page.rs"]
        {
            let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n");
            assert_eq!(status(&request), "HTTP/1.1 404 Not Found", "{path}");
        }
        assert_eq!(status("GET http://x/ HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"), "HTTP/1.1 400 Bad Request");
        assert_eq!(status("POST / HTTP/1.1\r\nHost: 127.0.0.1:PORT\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
    }

    #[test]
    fn other_names_of_this_machine_are_refused() {
        for host in
            ["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "localhost:PORT\r\nHost: localhost:PORT"]
        {
            let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(status(&request), "HTTP/1.1 403 Forbidden", "{host}");
        }
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 Forbidden");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert_eq!(status("GET / HTTP/1.1"), "HTTP/1.1 400 Bad Request");
        assert_eq!(status("\r\n"), "HTTP/1.1 403 Forbidden");
        let endless = format!("GET / HTTP/1.1\r\nX: {}\r\n", "a".repeat(1 << 13));
        assert_eq!(status(&endless), "HTTP/1.1 400 Bad Request");
    }

    #[test]
    fn files_have_types() {
        assert_eq!(kind("index.html"), "text/html; charset=utf-8");
        assert_eq!(kind("shapetracker.wasm"), "application/wasm");
        assert_eq!(kind("x"), "application/octet-stream");
    }

    #[test]
    fn a_chain_stays_readable_in_the_address() {
        assert_eq!(encoded("(3, 2).pad((0, 1), None)"), "(3,+2).pad((0,+1),+None)");
        assert_eq!(encoded("[1]&é%"), "%5B1%5D%26%C3%A9%25");
    }
}
