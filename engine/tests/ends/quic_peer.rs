//! A scripted end of HTTP/3 connections, for tests in other languages: it plays the ends of `docs/ends.md` by
//! the scripts beside it, with every frame and code that they name.
//!
//! `cargo run --example quic_peer -- client PORT CERTIFICATE.pem` connects to a server of this machine,
//! `quic_peer server` is one itself, `quic_peer uploads` one that stops uploads and answers none. It prints its root certificate (a server; in hexadecimal), then a line
//! per case: `case NUMBER ROW PLACE BODY`, parted by tabs, then `ready`. Each line of its standard input is
//! an order, `RUN` a number that the test chooses: `play RUN CASE` begins one, `probe RUN` (a client) asks
//! for `/probe` on a connection of its own, `end RUN` ends one. It answers `played RUN`,
//! `answered RUN` (a client) where the response came to its end, `port RUN PORT` and, behind its end, `requests RUN
//! COUNT` (a server). It ends with its standard input.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]
#![allow(dead_code, reason = "the tests of the engine use the rest")]

mod h3;
mod h3_peer;
mod quic;
mod wire;

use h3::{End, Script, scripts};
use h3_peer::{OK, POST, client_rows, serve, serve_upload, server_rows, unanswered_rows};
use quic::{PATIENCE, Quic};
use quinn_proto::{Dir, StreamId};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use std::collections::BTreeMap;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::thread::JoinHandle;
use std::time::Duration;

/// `GET https://localhost/probe`, of the static table (RFC 9204 appendix A).
const PROBE: &[u8] = b"\xd1\xd7\x51\x06/probe\x50\x09localhost";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["client", port, certificate] => {
            let root = CertificateDer::from_pem_file(certificate).unwrap();
            let to = ([127, 0, 0, 1], port.parse().unwrap()).into();
            Clients::new(root, to).run(&orders());
        }
        ["server"] => Servers::new(client_rows(), false).run(&orders()),
        ["uploads"] => Servers::new(unanswered_rows(), true).run(&orders()),
        _ => {
            eprintln!("quic_peer client PORT CERTIFICATE.pem | server | uploads");
            std::process::exit(2);
        }
    }
}

/// The lines of the standard input, in words.
fn orders() -> Receiver<Vec<String>> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            let words = line.split(' ').map(str::to_owned).collect();
            if sender.send(words).is_err() {
                return;
            }
        }
    });
    receiver
}

fn print_line(words: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{words}").unwrap();
    out.flush().unwrap();
}

/// One end at one place.
#[derive(Clone, Copy)]
struct Case {
    row: &'static str,
    end: End,
    place: usize,
}

impl Case {
    fn script(self, lines: &[u8]) -> Script {
        scripts(lines).into_iter().nth(self.place).unwrap()
    }
}

/// Every case of these rows and of silence, printed.
fn cases(lines: &[u8], rows: Vec<(&'static str, Vec<End>)>) -> Vec<Case> {
    let silence = [("silence", vec![End::Silence])];
    let mut cases = Vec::new();
    for (row, ends) in rows.into_iter().chain(silence) {
        for end in ends {
            for (place, script) in scripts(lines).iter().enumerate() {
                let number = cases.len();
                let Script {
                    place: at, body, ..
                } = script;
                print_line(&format!("case\t{number}\t{row}\t{at}\t{body}"));
                cases.push(Case { row, end, place });
            }
        }
    }
    print_line("ready");
    cases
}

/// A client's connection and its request.
struct OpenRequest {
    quic: Quic,
    connection: usize,
    stream: StreamId,
    is_answered: bool,
}

struct Clients {
    tls: Arc<rustls::ClientConfig>,
    to: SocketAddr,
    cases: Vec<Case>,
    open: BTreeMap<String, OpenRequest>,
}

impl Clients {
    fn new(root: CertificateDer<'static>, to: SocketAddr) -> Self {
        Self {
            tls: wire::trusting(root, vec![b"h3".into()]),
            to,
            cases: cases(POST, server_rows()),
            open: BTreeMap::new(),
        }
    }
    fn run(&mut self, orders: &Receiver<Vec<String>>) {
        loop {
            let order = match self.open.is_empty() {
                true => orders.recv().map_err(|_| TryRecvError::Disconnected),
                false => orders.try_recv(),
            };
            match order {
                Ok(order) => self.carry_out(&order),
                Err(TryRecvError::Disconnected) => return,
                Err(TryRecvError::Empty) => {}
            }
            for (run, asked) in &mut self.open {
                asked.quic.turn();
                let OpenRequest {
                    connection, stream, ..
                } = *asked;
                let received = asked.quic.received(connection, stream);
                if !asked.is_answered && received.is_some_and(|received| received.is_over) {
                    asked.is_answered = true;
                    print_line(&format!("answered {run}"));
                }
            }
        }
    }
    fn carry_out(&mut self, order: &[String]) {
        let words: Vec<&str> = order.iter().map(String::as_str).collect();
        match words[..] {
            ["play", run, case] => self.play(run, self.cases[case.parse::<usize>().unwrap()]),
            ["probe", run] => {
                let (mut asked, _) = self.ask(PATIENCE);
                let head = h3::frame(h3::HEADERS, &h3::section(&[PROBE]));
                asked
                    .quic
                    .write(asked.connection, asked.stream, &head, true);
                self.open.insert(run.to_owned(), asked);
            }
            ["end", run] => {
                self.open.remove(run);
            }
            _ => panic!("{words:?}"),
        }
    }
    fn ask(&self, idle: Duration) -> (OpenRequest, StreamId) {
        let (mut quic, connection) = Quic::connected(&self.tls, self.to, idle);
        let control = h3::open_control(&mut quic, connection);
        let stream = quic.open(connection, Dir::Bi);
        let asked = OpenRequest {
            quic,
            connection,
            stream,
            is_answered: false,
        };
        (asked, control)
    }
    fn play(&mut self, run: &str, case: Case) {
        let (mut asked, control) = self.ask(case.end.idle());
        let streams = (asked.stream, control);
        let script = case.script(POST);
        h3::play(
            &mut asked.quic,
            asked.connection,
            streams,
            &script,
            case.end,
            false,
        );
        self.open.insert(run.to_owned(), asked);
        print_line(&format!("played {run}"));
    }
}

/// Servers, each in a thread.
struct Servers {
    identity: wire::Identity,
    cases: Vec<Case>,
    /// Each case is played behind the first part of an upload.
    is_of_uploads: bool,
    open: BTreeMap<String, (Arc<AtomicBool>, JoinHandle<usize>)>,
}

impl Servers {
    fn new(rows: Vec<(&'static str, Vec<End>)>, is_of_uploads: bool) -> Self {
        let identity = wire::Identity::new(&["h3"]);
        let root: String = identity
            .root
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect();
        print_line(&format!("root {root}"));
        Self {
            identity,
            cases: cases(OK, rows),
            is_of_uploads,
            open: BTreeMap::new(),
        }
    }
    fn run(&mut self, orders: &Receiver<Vec<String>>) {
        while let Ok(order) = orders.recv() {
            let words: Vec<&str> = order.iter().map(String::as_str).collect();
            match words[..] {
                ["play", run, case] => self.play(run, self.cases[case.parse::<usize>().unwrap()]),
                ["end", run] => {
                    let (stop, server) = self.open.remove(run).unwrap();
                    stop.store(true, Ordering::SeqCst);
                    print_line(&format!("requests {run} {}", server.join().unwrap()));
                }
                _ => panic!("{words:?}"),
            }
        }
    }
    fn play(&mut self, run: &str, case: Case) {
        let quic = Quic::server(&self.identity, case.end.idle());
        let port = quic.port();
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let name = run.to_owned();
        let is_of_uploads = self.is_of_uploads;
        let server = std::thread::spawn(move || {
            let script = case.script(OK);
            if is_of_uploads {
                let calls = (|| {}, |_: &[u8]| {});
                serve_upload(quic, &script, case.end, Duration::ZERO, &stopped, calls);
                return 1;
            }
            serve(quic, &script, case.end, false, &stopped, || {
                print_line(&format!("played {name}"));
            })
        });
        self.open.insert(run.to_owned(), (stop, server));
        print_line(&format!("port {run} {port}"));
    }
}
