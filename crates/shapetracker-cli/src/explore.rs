//! `shapetracker explore`: serves the explorer's page, which is part of the command, on the loopback interface only.

use std::collections::VecDeque;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use shapetracker::Chain;

use crate::answer::{BOLD, DIM, Failure};
use crate::input::text_of;

#[derive(clap::Args)]
#[command(after_help = "Examples:
  shapetracker explore
  shapetracker explore '(3, 2).permute(1, 0).reshape(3, 2)' --open

The page runs in the browser; the command only hands out its files, to this machine only (127.0.0.1). Ctrl-C ends it.

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

/// The longest chain that the page reads, in bytes as they stand in the address.
const LONGEST_CHAIN: usize = 12_000;

/// How many connections are open at a time. A browser has six.
const AT_ONCE: usize = 256;
/// How long a connection may ask nothing when another one needs its place: a browser that asks does so right away.
const GRACE: Duration = Duration::from_millis(5);
/// The longest head of a request. A browser's is far shorter.
const LONGEST_HEAD: u64 = 1 << 16;
/// How long a request may take to come in where there is room: browsers open connections that they may never use.
const TIME_TO_ASK: Duration = Duration::from_secs(10);
/// How long the answer may take to go out, which is long only through a tunnel.
const TIME_TO_TAKE: Duration = Duration::from_secs(60);

pub(crate) fn explore(args: &Args, as_json: bool) -> Result<(), Failure> {
    let chain = args.chain.as_ref().map(|chain| text_of(chain)).transpose()?;
    if let Some(chain) = &chain {
        chain.parse::<Chain>()?;
    }
    check_built(PAGE)?;
    let length = chain.as_ref().map_or(0, |chain| encoded(chain).len());
    if length > LONGEST_CHAIN {
        let message = format!(
            "the chain takes {length} bytes in the address of the page, which reads chains of at most {LONGEST_CHAIN}"
        );
        return Err(Failure::new("too_long", message));
    }
    let cannot = |err: io::Error| {
        let advice = if args.port == 0 { "" } else { "; without --port any free port is taken" };
        Failure::new("io", format!("cannot listen at 127.0.0.1:{}: {err}{advice}", args.port))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    let url = format!("http://{address}/{}", chain.as_deref().map_or(String::new(), fragment));
    let text = if as_json {
        format!("{}\n", json!({ "url": url }))
    } else {
        format!("{BOLD}{url}{BOLD:#}\n{DIM}Ctrl-C ends it.{DIM:#}\n")
    };
    let mut out = anstream::stdout();
    // Without a reader the page can still be served.
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    if args.open {
        thread::spawn(move || {
            if !opened(&url) {
                let _ = writeln!(anstream::stderr(), "No browser could be started: open the page by its address.");
            }
        });
    }
    serve(&listener)
}

/// Fails with advice where the command was built without the page.
fn check_built(page: &[File]) -> Result<(), Failure> {
    if page.is_empty() {
        let message = "this command was built without the page: `cargo xtask web` builds it (with Node.js), and the \
                       next build of the command then has it";
        return Err(Failure::new("no_page", message));
    }
    Ok(())
}

/// Starts the browser; returns whether that could be done, which may be known only when it ends.
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
    // Ctrl-C is for the command, not for a browser that was started by it.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The fragment of an address that says a chain: `#(3,2).flip(0)` stands for a chain with a space after each comma, and
/// `#c=` comes before any other, and before what would be read as a key or as the name of a place on the page.
fn fragment(chain: &str) -> String {
    let short = chain.replace(", ", ",");
    let bare = encoded(&short);
    let word = bare.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if short.replace(',', ", ") == chain && !word.is_empty() && !word.starts_with('=') {
        return format!("#{bare}");
    }
    format!("#c={}", encoded(chain))
}

/// A text as a part of the fragment of an address, as the page itself writes it: with what may stand there left readable.
fn encoded(text: &str) -> String {
    const READABLE: &[u8] = b"-_.!~*'(),:=/;@$?[]|";
    let mut encoded = String::new();
    for byte in text.bytes() {
        match byte {
            b' ' => encoded.push('+'),
            _ if byte.is_ascii_alphanumeric() || READABLE.contains(&byte) => encoded.push(byte.into()),
            _ => encoded += &format!("%{byte:02X}"),
        }
    }
    encoded
}

/// A connection that is open.
struct Connection {
    stream: TcpStream,
    since: Instant,
    /// Whether its request is still to come.
    asks: AtomicBool,
}

/// The connections that are open, the oldest first: never more than a number of them, whoever connects and asks nothing,
/// or asks as slowly as possible.
struct Connections {
    open: Mutex<VecDeque<Arc<Connection>>>,
    most: usize,
}

/// Answers requests until the command is ended.
fn serve(listener: &TcpListener) -> ! {
    let connections = Connections { open: Mutex::default(), most: AT_ONCE };
    thread::scope(|scope| {
        loop {
            let Ok((stream, _)) = listener.accept() else {
                // Such as too many open files, of which some are connections.
                connections.give_up_one();
                thread::sleep(GRACE / 5);
                continue;
            };
            let connection = connections.admit(stream);
            let for_thread = Arc::clone(&connection);
            let thread = thread::Builder::new().spawn_scoped(scope, || {
                // A connection that fails is the browser's affair, which asks again.
                let _ = answer(&for_thread);
                connections.leave(for_thread);
            });
            if thread.is_err() {
                connections.leave(connection);
            }
        }
    })
}

impl Connections {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Arc<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a connection, and gives up another one where there are too many.
    fn admit(&self, stream: TcpStream) -> Arc<Connection> {
        while self.lock().len() >= self.most && !self.give_up_one() {
            // All have come just now. Others wait, and are not lost: the system keeps them.
            thread::sleep(GRACE / 5);
        }
        let connection = Arc::new(Connection { stream, since: Instant::now(), asks: AtomicBool::new(true) });
        self.lock().push_back(Arc::clone(&connection));
        connection
    }

    /// Gives up the oldest connection that still asks, or else the oldest one; none that has come just now.
    fn give_up_one(&self) -> bool {
        let mut open = self.lock();
        let oldest = open.iter().position(|connection| connection.asks.load(Ordering::Relaxed)).unwrap_or(0);
        if open.get(oldest).is_none_or(|connection| connection.since.elapsed() < GRACE) {
            return false;
        }
        let Some(connection) = open.remove(oldest) else { return false };
        // Whoever waits for it now no longer does.
        let _ = connection.stream.shutdown(Shutdown::Both);
        true
    }

    fn leave(&self, connection: Arc<Connection>) {
        self.lock().retain(|other| !Arc::ptr_eq(other, &connection));
    }
}

/// A connection up to a moment: whoever dawdles is not waited for, however little they send or take at a time.
struct Until<'a>(&'a TcpStream, Instant);

impl Until<'_> {
    fn left(&self) -> io::Result<Option<Duration>> {
        let left = self.1.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Until<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.set_read_timeout(self.left()?)?;
        self.0.read(buffer)
    }
}

impl Write for Until<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.set_write_timeout(self.left()?)?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Reads the head of one request, and answers it. Then the connection is closed: on one machine another costs nothing.
fn answer(connection: &Connection) -> io::Result<()> {
    let Connection { stream, since, asks } = connection;
    let head = head(Until(stream, *since + TIME_TO_ASK))?;
    asks.store(false, Ordering::Relaxed);
    let (status, file) = head.as_deref().map_or_else(|status| (status, None), response);
    let (kind, content) =
        file.map_or(("text/plain; charset=utf-8", status.as_bytes()), |(name, content)| (kind(name), content));
    let with_content = !head.is_ok_and(|head| head.starts_with("HEAD "));
    write(&mut Until(stream, Instant::now() + TIME_TO_TAKE), status, kind, content, with_content)
}

/// The head of a request, with the empty line at its end; or the status of the answer to what has none.
fn head(connection: impl Read) -> io::Result<Result<String, &'static str>> {
    let mut head = Vec::new();
    let mut lines = BufReader::new(connection.take(LONGEST_HEAD));
    loop {
        let before = head.len();
        lines.read_until(b'\n', &mut head)?;
        match &head[before..] {
            b"\r\n" | b"\n" => return Ok(Ok(String::from_utf8_lossy(&head).into_owned())),
            line if line.ends_with(b"\n") => {}
            _ if head.len() as u64 == LONGEST_HEAD => return Ok(Err("431 Request Header Fields Too Large")),
            _ => return Ok(Err("400 Bad Request")),
        }
    }
}

/// The status of the answer to a request, and the file that it asks for.
fn response(head: &str) -> (&'static str, Option<File>) {
    let mut lines = head.lines();
    let mut request = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (request.next().unwrap_or_default(), request.next().unwrap_or_default());
    let fields = lines.filter_map(|line| line.split_once(':'));
    let mut hosts = fields.filter(|(name, _)| name.eq_ignore_ascii_case("host")).map(|(_, value)| value.trim());
    if !matches!((hosts.next(), hosts.next()), (Some(host), None) if is_this_machine(host)) {
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

/// Whether a host is this machine by a name that nobody else can have: under another one a stranger's page might have
/// been led here, and could read the answer. The port is another where there is a tunnel.
fn is_this_machine(host: &str) -> bool {
    let (name, port) = host.split_once(':').unwrap_or((host, ""));
    matches!(name, "127.0.0.1" | "localhost") && port.bytes().all(|byte| byte.is_ascii_digit())
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

    /// What is sent back for some bytes of a request.
    fn sent(request: &str) -> String {
        let (mut client, connection) = connected();
        let server = thread::spawn(move || answer(&newly(connection)).unwrap());
        client.write_all(request.as_bytes()).unwrap();
        client.shutdown(Shutdown::Write).unwrap();
        let mut bytes = Vec::new();
        client.read_to_end(&mut bytes).unwrap();
        server.join().unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The two ends of a connection.
    fn connected() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        // Nothing is waited for without a limit.
        client.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        client.set_write_timeout(Some(Duration::from_secs(60))).unwrap();
        (client, listener.accept().unwrap().0)
    }

    fn newly(stream: TcpStream) -> Connection {
        Connection { stream, since: Instant::now(), asks: AtomicBool::new(true) }
    }

    fn status(request: &str) -> String {
        sent(request).lines().next().unwrap_or_default().to_owned()
    }

    #[test]
    fn every_answer_has_the_policy_and_says_what_it_is() {
        for path in ["/", "/nothing"] {
            let answer = sent(&format!("GET {path} HTTP/1.1\r\nHost: localhost:8000\r\n\r\n"));
            assert!(answer.contains("\r\nContent-Security-Policy: default-src 'none'; script-src 'self'"), "{answer}");
            assert!(answer.contains("\r\nX-Content-Type-Options: nosniff\r\n"), "{answer}");
        }
    }

    #[test]
    fn the_files_of_the_page_and_nothing_else_are_served() {
        let found = if PAGE.is_empty() { "HTTP/1.1 404 Not Found" } else { "HTTP/1.1 200 OK" };
        assert_eq!(status("GET / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n"), found);
        assert_eq!(status("HEAD /index.html?x=1 HTTP/1.1\r\nhost: localhost:8000\r\n\r\n"), found);
        for path in ["/../Cargo.toml", "/%2e%2e/Cargo.toml", "//index.html", "/./index.html", "/etc/passwd", "/page.rs"]
        {
            let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n");
            assert_eq!(status(&request), "HTTP/1.1 404 Not Found", "{path}");
        }
        assert_eq!(status("GET http://x/ HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n"), "HTTP/1.1 400 Bad Request");
        assert_eq!(status("POST / HTTP/1.1\r\nHost: 127.0.0.1:8000\r\n\r\n"), "HTTP/1.1 405 Method Not Allowed");
    }

    #[test]
    fn the_content_is_sent_when_it_is_asked_for() {
        let of = |method: &str| sent(&format!("{method} /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n"));
        assert_eq!(of("GET"), of("HEAD") + "404 Not Found");
        assert!(of("HEAD").contains("\r\nContent-Length: 13\r\n"));
    }

    #[test]
    fn this_machine_is_known_by_its_own_names_alone() {
        for host in ["127.0.0.1:8000", "localhost:8000", "localhost:1", "127.0.0.1"] {
            let request = format!("GET /nothing HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(status(&request), "HTTP/1.1 404 Not Found", "{host}");
        }
        for host in [
            "evil.example",
            "evil.example:8000",
            "localhost.evil.example:8000",
            "127.0.0.1.evil.example:8000",
            "evil.example#localhost:8000",
            "localhost:8000.evil.example",
            "localhost:8000@evil.example",
            "0.0.0.0:8000",
            "",
            "localhost:8000\r\nHost: localhost:8000",
            "localhost:8000\r\nHost: evil.example",
        ] {
            let request = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            assert_eq!(status(&request), "HTTP/1.1 403 Forbidden", "{host}");
        }
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n"), "HTTP/1.1 403 Forbidden");
    }

    #[test]
    fn what_is_no_request_is_refused() {
        assert_eq!(status("GET / HTTP/1.1"), "HTTP/1.1 400 Bad Request");
        assert_eq!(status("\r\n"), "HTTP/1.1 403 Forbidden");
        assert_eq!(status(&format!("GET / HTTP/1.1\r\nX: {}\r\n", "a".repeat(1 << 13))), "HTTP/1.1 400 Bad Request");
        let endless = "a".repeat(LONGEST_HEAD as usize);
        assert_eq!(status(&endless), "HTTP/1.1 431 Request Header Fields Too Large");
    }

    #[test]
    fn who_dawdles_is_not_waited_for() {
        let (mut client, connection) = connected();
        let begin = Instant::now();
        let drips = thread::spawn(move || {
            while client.write_all(b"a").is_ok() && begin.elapsed().as_secs() < 20 {
                thread::sleep(Duration::from_millis(10));
            }
        });
        let err = head(Until(&connection, begin + Duration::from_millis(300))).unwrap_err();
        assert!(matches!(err.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{err}");
        assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
        drop(connection);
        drips.join().unwrap();

        // A client that takes nothing fills what the system keeps for it.
        let (_client, connection) = connected();
        let begin = Instant::now();
        let content = vec![0; 1 << 26];
        let until = &mut Until(&connection, begin + Duration::from_millis(300));
        let err = write(until, "200 OK", "text/plain", &content, true).unwrap_err();
        assert!(matches!(err.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock), "{err}");
        assert!(begin.elapsed().as_secs() < 10, "{:?}", begin.elapsed());
    }

    #[test]
    fn who_asks_nothing_makes_room_before_who_is_answered() {
        let connections = Connections { open: Mutex::default(), most: 3 };
        let (clients, servers): (Vec<_>, Vec<_>) = (0..5).map(|_| connected()).unzip();
        let mut admitted = Vec::new();
        for (number, stream) in servers.into_iter().enumerate() {
            admitted.push(connections.admit(stream));
            assert_eq!(connections.lock().len(), (number + 1).min(3));
            if number == 0 {
                admitted[0].asks.store(false, Ordering::Relaxed);
            }
        }
        // The second and the third were given up for the last two; the first is being answered.
        let is_open = |number: usize| connections.lock().iter().any(|open| Arc::ptr_eq(open, &admitted[number]));
        assert_eq!([0, 1, 2, 3, 4].map(is_open), [true, false, false, true, true]);
        assert_eq!((&clients[1]).read(&mut [0]).unwrap(), 0, "it is closed");
        admitted[3].asks.store(false, Ordering::Relaxed);
        admitted[4].asks.store(false, Ordering::Relaxed);
        drop(connections.admit(connected().1));
        assert!(!connections.lock().iter().any(|open| Arc::ptr_eq(open, &admitted[0])));
        assert_eq!(connections.lock().len(), 3);
    }

    #[test]
    fn without_the_page_it_is_said_how_to_get_it() {
        let failure = check_built(&[]).unwrap_err();
        assert!(failure.text().contains("`cargo xtask web` builds it"), "{}", failure.text());
        assert!(check_built(&[("index.html", b"")]).is_ok());
    }

    #[test]
    fn files_have_types() {
        assert_eq!(kind("index.html"), "text/html; charset=utf-8");
        assert_eq!(kind("shapetracker.wasm"), "application/wasm");
        assert_eq!(kind("x"), "application/octet-stream");
    }

    #[test]
    fn a_chain_stays_readable_in_the_address() {
        assert_eq!(fragment("(3, 2).pad((0, 1), None)"), "#(3,2).pad((0,1),None)");
        assert_eq!(fragment("(3,2).permute(1, 0)"), "#c=(3,2).permute(1,+0)");
        assert_eq!(fragment("x"), "#c=x");
        assert_eq!(fragment("x=f(2)"), "#c=x=f(2)");
        assert_eq!(encoded("(3, 2).pad((0, 1), None)"), "(3,+2).pad((0,+1),+None)");
        assert_eq!(encoded("x[::-1, 1]"), "x[::-1,+1]");
        assert_eq!(encoded("+&é%#\n\"<"), "%2B%26%C3%A9%25%23%0A%22%3C");
    }
}
