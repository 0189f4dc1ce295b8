//! The page of a run while it goes on, served to a browser on the same machine.
//!
//! It answers on the loopback address only, and only requests that name this address and port as
//! their host: a page from elsewhere whose name is made to point here (DNS rebinding) names its
//! own. There is nothing to change, so only GET is answered. The page asks every second for its
//! body and replaces it where it differs.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::{Report, draw, page};
use crate::hash::stable_hash;
use crate::terminal::escaped;
use crate::tune::run::RunFolder;

/// A request's head is no longer than this.
const MOST_BYTES: usize = 8 * 1024;
/// A request is read, and its answer written, within this time.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Requests that are answered at the same time; a browser opens about six connections.
const MOST_REQUESTS: usize = 16;
/// How long the end of a run waits for an open page to fetch the last state.
const LAST_LOOK: Duration = Duration::from_secs(4);

/// A server of the page of one folder, for as long as the program runs.
pub struct Watch {
    port: u16,
    shared: Arc<Shared>,
}

struct Shared {
    port: u16,
    folder: Mutex<Option<PathBuf>>,
    /// When a page last asked for its body.
    asked: Mutex<Option<Instant>>,
    active: AtomicUsize,
}

impl Watch {
    /// Starts to serve on a free port of the loopback address.
    pub fn start() -> io::Result<Watch> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let port = listener.local_addr()?.port();
        let shared = Arc::new(Shared {
            port,
            folder: Mutex::new(None),
            asked: Mutex::new(None),
            active: AtomicUsize::new(0),
        });
        let server = Arc::clone(&shared);
        thread::Builder::new()
            .name("watch".to_owned())
            .spawn(move || server.accept(&listener))?;
        Ok(Watch { port, shared })
    }

    /// The address to open in a browser.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/", self.port)
    }

    /// Shows this folder from now on.
    pub fn show(&self, folder: &Path) {
        *self.shared.folder.lock() = Some(folder.to_owned());
    }

    /// Lets a page that is open fetch the last state before the program ends.
    pub fn finish(&self) {
        let ended = Instant::now();
        let is_open = |asked: &Instant| ended.duration_since(*asked) < LAST_LOOK;
        if !self.shared.asked.lock().as_ref().is_some_and(is_open) {
            return;
        }
        while ended.elapsed() < LAST_LOOK {
            if self.shared.asked.lock().is_some_and(|asked| asked > ended) {
                // The answer is on its way.
                thread::sleep(Duration::from_millis(200));
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Shared {
    fn accept(self: Arc<Shared>, listener: &TcpListener) {
        for stream in listener.incoming() {
            let Ok(stream) = stream else {
                // Out of file handles, perhaps: better in a moment.
                thread::sleep(Duration::from_millis(50));
                continue;
            };
            if self.active.fetch_add(1, Ordering::Relaxed) >= MOST_REQUESTS {
                self.active.fetch_sub(1, Ordering::Relaxed);
                continue;
            }
            let shared = Arc::clone(&self);
            let spawned = thread::Builder::new().spawn(move || {
                // A browser that went away is no failure of the run.
                let _ = shared.serve(stream);
                shared.active.fetch_sub(1, Ordering::Relaxed);
            });
            if spawned.is_err() {
                self.active.fetch_sub(1, Ordering::Relaxed);
            }
        }
    }

    fn serve(&self, mut stream: TcpStream) -> io::Result<()> {
        stream.set_write_timeout(Some(TIMEOUT))?;
        let answer = match read_head(&mut stream)? {
            Some(head) => self.answer(&head),
            None => Answer::refusal("431 Request Header Fields Too Large"),
        };
        stream.write_all(answer.text().as_bytes())?;
        stream.flush()
    }

    fn answer(&self, head: &str) -> Answer {
        let Some(request) = Request::parse(head) else {
            return Answer::refusal("400 Bad Request");
        };
        let port = self.port;
        let own = [format!("127.0.0.1:{port}"), format!("localhost:{port}")];
        if !own.iter().any(|host| host == request.host) {
            return Answer::refusal("421 Misdirected Request");
        }
        if request.method != "GET" {
            return Answer::refusal("405 Method Not Allowed");
        }
        match request.path {
            "/" => Answer::page(self.report().live_page()),
            "/body" => {
                *self.asked.lock() = Some(Instant::now());
                let body = self.report().body;
                let tag = format!("\"{:016x}\"", stable_hash(body.as_bytes()));
                match request.known_tag == Some(&tag) {
                    true => Answer::unchanged(),
                    false => Answer::body(body, tag),
                }
            }
            _ => Answer::refusal("404 Not Found"),
        }
    }

    /// The folder's page, or why there is none yet.
    fn report(&self) -> Report {
        let folder = self.folder.lock().clone();
        let drawn = folder.map(|path| RunFolder::open(&path).and_then(|folder| draw(&folder)));
        let words = match drawn {
            Some(Ok(report)) => return report,
            Some(Err(error)) => error.to_string(),
            None => "reading the data".to_owned(),
        };
        Report {
            title: "Finch".to_owned(),
            body: format!(
                "<h1>Finch</h1><p class=\"verdict\">No generation to show yet ({}).</p>",
                escaped(&words)
            ),
        }
    }
}

impl Report {
    /// The page with the script that keeps it up to date.
    fn live_page(&self) -> String {
        let scripts = concat!(include_str!("page.js"), include_str!("live.js"));
        page(&self.title, &self.body, scripts)
    }
}

/// Reads to the empty line after the headers; none if that is too far.
fn read_head(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let deadline = Instant::now() + TIMEOUT;
    let mut head = Vec::new();
    let mut buffer = [0; 1024];
    while !head.windows(4).any(|four| four == b"\r\n\r\n") {
        if head.len() >= MOST_BYTES {
            return Ok(None);
        }
        // A peer that sends a byte now and then does not hold the thread for longer.
        let left = deadline.saturating_duration_since(Instant::now());
        stream.set_read_timeout(Some(left.max(Duration::from_millis(1))))?;
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count if left.is_zero() => return Err(timed_out(count)),
            count => head.extend_from_slice(&buffer[..count]),
        }
    }
    Ok(Some(String::from_utf8_lossy(&head).into_owned()))
}

fn timed_out(count: usize) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, format!("{count} bytes too late"))
}

/// What matters of a request.
#[derive(Debug, PartialEq)]
struct Request<'a> {
    method: &'a str,
    path: &'a str,
    host: &'a str,
    known_tag: Option<&'a str>,
}

impl Request<'_> {
    fn parse(head: &str) -> Option<Request<'_>> {
        let mut lines = head.split("\r\n");
        let mut first = lines.next()?.split(' ');
        let (method, path, version) = (first.next()?, first.next()?, first.next()?);
        if first.next().is_some() || !version.starts_with("HTTP/1.") {
            return None;
        }
        let headers: Vec<(&str, &str)> = lines.filter_map(|line| line.split_once(':')).collect();
        let header = |name: &str| {
            let mut found = headers
                .iter()
                .filter(|(key, _)| key.eq_ignore_ascii_case(name));
            let value = found.next().map(|(_, value)| value.trim());
            // One of two hosts would be a lie.
            value.filter(|_| found.next().is_none())
        };
        Some(Request {
            method,
            path,
            host: header("host")?,
            known_tag: header("if-none-match"),
        })
    }
}

struct Answer {
    status: &'static str,
    tag: Option<String>,
    body: String,
}

impl Answer {
    fn page(body: String) -> Answer {
        Answer {
            status: "200 OK",
            tag: None,
            body,
        }
    }

    fn body(body: String, tag: String) -> Answer {
        Answer {
            tag: Some(tag),
            ..Answer::page(body)
        }
    }

    fn unchanged() -> Answer {
        Answer {
            status: "304 Not Modified",
            tag: None,
            body: String::new(),
        }
    }

    fn refusal(status: &'static str) -> Answer {
        Answer {
            status,
            tag: None,
            body: format!("{status}\n"),
        }
    }

    fn text(&self) -> String {
        let tag = self.tag.as_ref();
        let tag = tag.map_or(String::new(), |tag| format!("ETag: {tag}\r\n"));
        format!(
            "HTTP/1.1 {}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {}\r\n{tag}\
             Cache-Control: no-cache\r\nX-Content-Type-Options: nosniff\r\n\
             X-Frame-Options: DENY\r\nConnection: close\r\n\r\n{}",
            self.status,
            self.body.len(),
            self.body
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(port: u16, request: &str) -> String {
        let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).unwrap();
        // The server may answer and close before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = Vec::new();
        let _ = stream.read_to_end(&mut answer);
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(port: u16, path: &str, host: &str) -> String {
        ask(
            port,
            &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"),
        )
    }

    #[test]
    fn only_its_own_host_and_only_get_are_answered() {
        let watch = Watch::start().unwrap();
        let port = watch.port;
        for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
            let answer = get(port, "/", &host);
            assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
            assert!(answer.contains("No generation to show yet"), "{answer}");
        }
        let own = format!("127.0.0.1:{port}");
        for host in [
            "evil.example",
            "127.0.0.1",
            "localhost:1",
            &format!("evil.example:{port}"),
        ] {
            let answer = get(port, "/", host);
            assert!(answer.starts_with("HTTP/1.1 421 "), "{host}: {answer}");
        }
        assert!(get(port, "/../config.toml", &own).starts_with("HTTP/1.1 404 "));
        let twice = format!("GET / HTTP/1.1\r\nHost: {own}\r\nHost: evil.example\r\n\r\n");
        assert!(ask(port, &twice).starts_with("HTTP/1.1 400 "));
        let post = format!("POST / HTTP/1.1\r\nHost: {own}\r\n\r\n");
        assert!(ask(port, &post).starts_with("HTTP/1.1 405 "));
        assert!(ask(port, "nonsense\r\n\r\n").starts_with("HTTP/1.1 400 "));
        let long = "x".repeat(2 * MOST_BYTES);
        let answer = ask(port, &format!("GET /{long} HTTP/1.1\r\n"));
        // The rest of the request is not read: the connection may be reset before the answer.
        assert!(
            answer.is_empty() || answer.starts_with("HTTP/1.1 431 "),
            "{answer}"
        );
    }

    #[test]
    fn an_unchanged_body_is_not_sent_again() {
        let watch = Watch::start().unwrap();
        let host = format!("localhost:{}", watch.port);
        let first = get(watch.port, "/body", &host);
        let (_, tag) = first.split_once("ETag: ").unwrap();
        let (tag, _) = tag.split_once("\r\n").unwrap();
        let again = |tag: &str| {
            let known = format!("If-None-Match: {tag}");
            ask(
                watch.port,
                &format!("GET /body HTTP/1.1\r\nHost: {host}\r\n{known}\r\n\r\n"),
            )
        };
        assert!(again(tag).starts_with("HTTP/1.1 304 "), "{}", again(tag));
        // Another folder, another body: there the reason is that the folder is missing.
        watch.show(Path::new("no/such/folder"));
        let changed = again(tag);
        assert!(changed.starts_with("HTTP/1.1 200 "), "{changed}");
        assert!(changed.contains("no/such/folder"), "{changed}");
    }
}
