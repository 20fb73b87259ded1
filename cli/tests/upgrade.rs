//! `trunkline serve --upgrade`: one server process takes the place of another, and no client notices.

use crate::served::{Folder, PAUSE, Served};
use http_body_util::BodyExt as _;
use nix::sys::signal::Signal;
use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::os::unix::net::UnixStream;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use trunkline::client::{ClientTls, Protocols};
use trunkline::{Body, BodySender, Client};

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");
/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);
const RESTARTS: usize = 10;
const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];

/// Clients of one kind, which send requests until they are stopped.
struct Load {
    answered: Arc<AtomicU64>,
    stop: Arc<AtomicBool>,
    /// Ends with the failures.
    thread: JoinHandle<Vec<String>>,
    /// When each request was sent, and how long it took.
    times: Arc<Mutex<Vec<(Instant, Duration)>>>,
}

impl Load {
    /// With one client, whose connections stay open, or with a client and a connection for each request; with a pause behind
    /// each request.
    fn new(version: Protocols, url: String, keeps: bool, pause: Duration) -> Self {
        let (answered, stop) = (Arc::<AtomicU64>::default(), Arc::<AtomicBool>::default());
        let times = Arc::<Mutex<Vec<_>>>::default();
        let noted = Arc::clone(&times);
        let (count, is_over) = (Arc::clone(&answered), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            let runtime = runtime();
            let mut kept = client(version);
            let mut failed = Vec::new();
            while !is_over.load(Ordering::Relaxed) {
                if !keeps {
                    kept = client(version);
                }
                let began = Instant::now();
                if let Err(why) = runtime.block_on(asked(&kept, &url)) {
                    failed.push(format!("{version:?} {keeps}: {why}"));
                }
                noted
                    .lock()
                    .expect("no panic")
                    .push((began, began.elapsed()));
                thread::sleep(pause);
                count.fetch_add(1, Ordering::Relaxed);
            }
            failed
        });
        Self {
            answered,
            stop,
            thread,
            times,
        }
    }
    /// Waits until as many more were answered.
    fn goes_on(&self, more: u64) {
        let until = Instant::now() + PATIENCE;
        let enough = self.answered.load(Ordering::Relaxed) + more;
        while self.answered.load(Ordering::Relaxed) < enough {
            assert!(Instant::now() < until, "the load does not go on");
            thread::sleep(Duration::from_millis(1));
        }
    }
    fn end(self) -> (u64, Vec<String>) {
        self.stop.store(true, Ordering::Relaxed);
        let failed = self.thread.join().expect("it ends");
        (self.answered.load(Ordering::Relaxed), failed)
    }
}

fn runtime() -> Runtime {
    let mut runtime = tokio::runtime::Builder::new_current_thread();
    runtime.enable_all().build().expect("a runtime")
}

fn client(version: Protocols) -> Client {
    // An idle connection may be closed while a request is on its way to it.
    let client = Client::builder().protocols(version).retry_lost(true);
    let client = client.tls(ClientTls::default().insecure()).build();
    client.expect("the settings fit")
}

async fn asked(client: &Client, url: &str) -> Result<(), String> {
    let asked = async {
        let response = client.get(url).send().await?;
        let status = response.status();
        let body = response.into_body().bytes().await?;
        Ok::<_, trunkline::Error>((status, body))
    };
    match asked.await {
        Ok((status, body)) if status == 200 && body == "hello" => Ok(()),
        Ok(other) => Err(format!("{other:?}")),
        Err(error) => Err(in_full(&error)),
    }
}

fn in_full(error: &dyn std::error::Error) -> String {
    let cause = error.source().map(in_full).unwrap_or_default();
    format!("{error:?} {cause}")
}

/// An exchange that lasts as long as a test wants.
struct LongExchange {
    runtime: Runtime,
    client: Client,
    sender: BodySender,
    response: Body,
}

impl LongExchange {
    /// Its first bytes have gone to the server and come back.
    fn begin(version: Protocols, url: &str) -> Self {
        let runtime = runtime();
        let client = client(version);
        let (mut sender, body) = Body::channel();
        let response = runtime.block_on(async {
            sender.send("hel").await.expect("the body is read");
            let sent = client.post(format!("{url}/echo")).body(body).send();
            let mut response = sent.await.expect("an answer").into_body();
            assert_eq!(piece(&mut response).await.as_deref(), Some(&b"hel"[..]));
            response
        });
        Self {
            runtime,
            client,
            sender,
            response,
        }
    }
    /// Sends and receives the rest; then the client sends a request to the next process.
    fn end(self, url: &str) {
        self.send_rest(url, true);
    }
    fn send_rest(mut self, url: &str, again: bool) {
        let rest: Vec<u8> = (0..1_000_000_u32).map(|at| at as u8).collect();
        self.runtime.block_on(async {
            let sends = async {
                for piece in rest.chunks(10_000) {
                    let piece = piece.to_vec();
                    self.sender.send(piece).await.expect("the body is read");
                }
                self.sender.finish();
            };
            let receives = async {
                let mut all = Vec::new();
                while let Some(piece) = piece(&mut self.response).await {
                    all.extend_from_slice(&piece);
                }
                all
            };
            let ((), all) = tokio::join!(sends, receives);
            assert!(all == rest, "{} bytes of {}", all.len(), rest.len());
            if again {
                let asked = asked(&self.client, &format!("{url}/a.txt")).await;
                asked.expect("the next process answers");
            }
        });
    }
}

/// The next bytes; `None`: the end.
async fn piece(body: &mut Body) -> Option<Vec<u8>> {
    let frame = body.frame().await?.expect("no error");
    Some(frame.into_data().expect("no trailers").to_vec())
}

fn ask_once(address: &str) -> std::io::Result<String> {
    let mut socket = TcpStream::connect(address)?;
    socket.set_read_timeout(Some(PATIENCE))?;
    let request = format!("GET /a.txt HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes())?;
    let mut answer = String::new();
    socket.read_to_string(&mut answer)?;
    Ok(answer)
}

fn folder(name: &str) -> (Folder, String) {
    let folder = Folder::new(name);
    folder.file("a.txt", b"hello");
    let upgrade = folder.path() + ".upgrade";
    (folder, upgrade)
}

/// Waits for the end of a process whose place was taken.
fn ends(mut served: Served) {
    let until = Instant::now() + PATIENCE;
    let code = loop {
        match served.child.try_wait().expect("it is ours") {
            Some(status) => break status.code(),
            None => assert!(Instant::now() < until, "it does not end"),
        }
        thread::sleep(Duration::from_millis(1));
    };
    assert_eq!(code, Some(0));
}

#[test]
fn ten_restarts_under_load_fail_no_request() {
    let (folder, upgrade) = folder("upgrade-load");
    let path = folder.path();
    let flags = [
        "--upgrade",
        &upgrade,
        "--tls-self-signed",
        "--workers",
        "2",
        "--admin",
        "127.0.0.1:0",
        &path,
    ];
    let mut served = Served::start(&flags);
    let (address, admin) = (served.address().to_owned(), served.admin());
    let url = served.url("/a.txt");
    let kinds = VERSIONS.map(|version| [(version, true), (version, false)]);
    let loads: Vec<_> = kinds
        .as_flattened()
        .iter()
        .map(|&(version, keeps)| Load::new(version, url.clone(), keeps, PAUSE))
        .collect();
    for _ in 0..RESTARTS {
        for load in &loads {
            load.goes_on(5);
        }
        let mut next = Served::at(&["--listen", &address], &flags);
        assert_eq!(next.address(), address);
        assert_eq!(next.admin(), admin);
        ends(std::mem::replace(&mut served, next));
    }
    for load in loads {
        load.goes_on(5);
        let (asked, failed) = load.end();
        assert!(failed.is_empty(), "{} of {asked}: {failed:?}", failed.len());
    }
    assert_eq!(served.terminate(), Some(0));
    assert!(!fs::exists(&upgrade).expect("a folder"));
}

/// Requests that must not be repeated, each with a target of its own, until `stop`: the targets that were answered, and those that were not with the
/// reason.
fn posted(
    version: Protocols,
    keeps: bool,
    url: &str,
    stop: &AtomicBool,
) -> (Vec<String>, Vec<(String, String)>) {
    let runtime = runtime();
    let new = || {
        let client = Client::builder().protocols(version);
        let client = client.tls(ClientTls::default().insecure()).build();
        client.expect("the settings fit")
    };
    let (mut client, mut answered, mut failed) = (new(), Vec::new(), Vec::new());
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        if !keeps {
            client = new();
        }
        let target = format!("/echo?{version:?}-{keeps}-{number}");
        let asked = runtime.block_on(async {
            let request = client.post(format!("{url}{target}")).body("hello");
            request.send().await?.into_body().bytes().await
        });
        match asked {
            Ok(body) if body == "hello" => answered.push(target),
            Ok(body) => failed.push((target, format!("{body:?}"))),
            Err(error) => failed.push((target, in_full(&error))),
        }
        thread::sleep(PAUSE);
    }
    (answered, failed)
}

/// A kept connection of HTTP/1.1 that is idle is closed while a request is on its way to it: that one is not read.
#[test]
fn restarts_under_load_answer_each_request_once_or_do_not_read_it() {
    let (folder, upgrade) = folder("upgrade-once");
    let (path, log) = (folder.path(), folder.path() + ".log");
    let flags = [
        "--upgrade",
        &upgrade,
        "--tls-self-signed",
        "--test-endpoints",
        "--workers",
        "2",
        "--access-log",
        &log,
        "--access-log-format",
        "json",
        "--access-log-fields",
        "target,status,version",
        &path,
    ];
    let mut served = Served::start(&flags);
    let (address, url) = (served.address().to_owned(), served.url.clone());
    let stop = AtomicBool::new(false);
    let results = thread::scope(|scope| {
        let kinds = VERSIONS.map(|version| [(version, true), (version, false)]);
        let (url, stop) = (&url, &stop);
        let start = |&(version, keeps)| scope.spawn(move || posted(version, keeps, url, stop));
        let loads: Vec<_> = kinds.as_flattened().iter().map(start).collect();
        for _ in 0..RESTARTS {
            let next = Served::at(&["--listen", &address], &flags);
            ends(std::mem::replace(&mut served, next));
        }
        stop.store(true, Ordering::Relaxed);
        let ended = loads.into_iter().map(|load| load.join().expect("it ends"));
        ended.collect::<Vec<_>>()
    });
    assert_eq!(served.terminate(), Some(0));
    let text = fs::read_to_string(&log).expect("it was written");
    fs::remove_file(&log).expect("it is there");
    let mut times = std::collections::HashMap::<String, usize>::new();
    for line in text.lines() {
        let line: serde_json::Value = serde_json::from_str(line).expect("JSON");
        let target = line["target"].as_str().unwrap_or_default().to_owned();
        *times.entry(target).or_default() += 1;
    }
    for (answered, failed) in results {
        assert!(!answered.is_empty());
        for target in answered {
            assert_eq!(times.get(&target), Some(&1), "{target}");
        }
        for (target, why) in failed {
            assert!(target.contains("H1Only-true"), "{target}: {why}");
            assert_eq!(times.get(&target), None, "{target}: {why}");
        }
    }
}

#[test]
fn exchanges_of_every_version_live_through_two_restarts() {
    let (folder, upgrade) = folder("upgrade-long");
    let path = folder.path();
    let flags = [
        "--upgrade",
        &upgrade,
        "--tls-self-signed",
        "--test-endpoints",
        "--admin",
        "127.0.0.1:0",
        "--drain",
        "3600",
        &path,
    ];
    let first = Served::start(&flags);
    let (address, url) = (first.address().to_owned(), first.url.clone());
    let next = || Served::at(&["--listen", &address], &flags);
    let begin = || VERSIONS.map(|version| LongExchange::begin(version, &url));
    let of_first = begin();
    let second = next();
    let of_second = begin();
    let mut third = next();
    // The process between ends before the first one.
    for exchange in of_second {
        exchange.end(&url);
    }
    ends(second);
    for exchange in of_first {
        exchange.end(&url);
    }
    ends(first);
    let admin = third.admin();
    let mut socket = TcpStream::connect(&admin).expect("it listens");
    let request = format!("GET /metrics HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).expect("it reads");
    let mut metrics = String::new();
    socket.read_to_string(&mut metrics).expect("it answers");
    let name = "trunkline_server_quic_packets_forwarded_total ";
    let forwarded = metrics.lines().find_map(|line| line.strip_prefix(name));
    let forwarded: u64 = forwarded.expect(&metrics).parse().expect("a number");
    assert!(forwarded > 100, "{forwarded} packets had 2 MB");
    assert_eq!(third.terminate(), Some(0));
}

#[test]
fn a_new_process_without_http3_leaves_its_connections_to_the_one_before() {
    let (folder, upgrade) = folder("upgrade-tcp");
    let path = folder.path();
    let flags = |flag| ["--upgrade", &upgrade, "--tls-self-signed", flag, &path];
    let first = Served::start(&flags("--test-endpoints"));
    let (address, url) = (first.address().to_owned(), first.url.clone());
    let exchange = LongExchange::begin(Protocols::H3Only, &url);
    let next = Served::at(&["--listen", &address], &flags("--no-http3"));
    exchange.send_rest(&url, false);
    ends(first);
    let of_tcp = runtime().block_on(asked(&client(Protocols::H2Only), &next.url("/a.txt")));
    of_tcp.expect("it serves");
    assert_eq!(next.terminate(), Some(0));
}

#[test]
fn a_new_process_that_does_not_come_up_leaves_the_old_one_serving_and_says_why() {
    let (folder, upgrade) = folder("upgrade-fails");
    let path = folder.path();
    let mut command = Command::new(BINARY);
    command.args([
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--upgrade",
        &upgrade,
        &path,
    ]);
    command.stderr(Stdio::piped());
    let mut served = Served::run(command);
    let address = served.address().to_owned();
    // One that fails with a reason behind its sockets, and one that ends without a word.
    let output = Command::new(BINARY)
        .args([
            "serve",
            "--listen",
            "127.0.0.1:1",
            "--upgrade",
            &upgrade,
            &path,
        ])
        .output()
        .expect("the binary starts");
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("--listen is 127.0.0.1:1"), "{text}");
    assert!(ask_once(&address).expect("it serves").ends_with("hello"));
    drop(UnixStream::connect(&upgrade).expect("it listens for the next"));
    assert!(ask_once(&address).expect("it serves").ends_with("hello"));
    // A third one finds it serving.
    let next = Served::at(&["--listen", &address], &["--upgrade", &upgrade, &path]);
    let mut stderr = served.child.stderr.take().expect("it is piped");
    ends(served);
    let mut text = String::new();
    stderr.read_to_string(&mut text).expect("it ended");
    let reason = "this one goes on: --listen is 127.0.0.1:1";
    assert!(text.contains(reason), "{text}");
    assert!(ask_once(&address).expect("it serves").ends_with("hello"));
    assert_eq!(next.terminate(), Some(0));
}

#[test]
fn redirects_and_the_admin_page_go_on_in_the_next_process_each_at_its_address() {
    let (folder, upgrade) = folder("upgrade-redirects");
    let path = folder.path();
    let start = |site: &str, redirects: &str, admin: &str| {
        let rest = ["--tls-self-signed", "--upgrade", &upgrade, &path];
        let others = ["--redirect-from", redirects, "--admin", admin];
        let mut served = Served::at(&["--listen", site], &[&others[..], &rest].concat());
        let (redirects, admin) = (served.redirects(), served.admin());
        (served, redirects, admin)
    };
    let any = "127.0.0.1:0";
    let (first, redirects, admin) = start(any, any, any);
    let site = first.address().to_owned();
    let (next, redirects_again, admin_again) = start(&site, &redirects, &admin);
    assert_eq!((&redirects_again, &admin_again), (&redirects, &admin));
    ends(first);
    let answer = ask_once(&redirects).expect("it serves");
    assert!(answer.starts_with("HTTP/1.1 308 "), "{answer}");
    // Another address of either is bound anew, whatever the process before has passed.
    let (last, redirects_elsewhere, admin_elsewhere) = start(&site, any, &redirects);
    assert_ne!(redirects_elsewhere, redirects);
    assert_eq!(admin_elsewhere, redirects);
    ends(next);
    assert_eq!(last.terminate(), Some(0));
}

#[test]
fn a_unix_socket_keeps_its_file_from_one_process_to_the_next() {
    let (folder, upgrade) = folder("upgrade-unix");
    let (path, socket) = (folder.path(), folder.path() + ".sock");
    let start = || Served::at(&["--unix", &socket], &["--upgrade", &upgrade, &path]);
    let first = start();
    // One that fails behind its sockets leaves the file to the one that serves.
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let admin = taken.local_addr().expect("bound").to_string();
    let mut fails = Command::new(BINARY);
    fails.args(["serve", "--unix", &socket, "--upgrade", &upgrade]);
    let output = fails.args(["--admin", &admin, &path]).output();
    let output = output.expect("the binary starts");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let next = start();
    ends(first);
    let mut stream = UnixStream::connect(&socket).expect("the file is there");
    let request = b"GET /a.txt HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    stream.write_all(request).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.ends_with("hello"), "{answer}");
    next.signal(Signal::SIGTERM);
    ends(next);
    assert!(!fs::exists(&socket).expect("a folder"));
    assert!(!fs::exists(&upgrade).expect("a folder"));
}

#[test]
fn every_address_of_a_file_goes_to_the_next_process() {
    let (folder, upgrade) = folder("upgrade-listeners");
    let unix = folder.path() + "/site";
    let start = |site: &str, clear: &str| {
        let text = format!(
            "root = \".\"\n[tls]\nself_signed = true\n[[listen]]\naddress = \"{site}\"\n\
             [[listen]]\naddress = \"{clear}\"\ntls = false\n[[listen]]\naddress = \"unix:{unix}\"\ntls = false\n"
        );
        let file = folder.file("serve.toml", text.as_bytes());
        let mut command = Command::new(BINARY);
        command.args(["serve", "--config", &file, "--upgrade", &upgrade]);
        let mut served = Served::run(command);
        let clear = served.also();
        served.also();
        (served, clear.trim_start_matches("http://").to_owned())
    };
    let (first, clear) = start("127.0.0.1:0", "127.0.0.2:0");
    let (next, clear_again) = start(first.address(), &clear);
    assert_eq!(clear_again, clear);
    ends(first);
    assert!(ask_once(&clear).expect("it serves").ends_with("hello"));
    let mut stream = UnixStream::connect(&unix).expect("the file is there");
    let request = b"GET /a.txt HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n";
    stream.write_all(request).expect("it reads");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("it answers");
    assert!(answer.ends_with("hello"), "{answer}");
    assert_eq!(next.terminate(), Some(0));
    assert!(!fs::exists(&unix).expect("a folder"));
}

/// Percentiles of the requests within these spans of time: their number, and the median and the 99th percentile of their times.
fn percentiles(
    times: &[(Instant, Duration)],
    spans: &[(Instant, Instant)],
) -> (usize, Duration, Duration) {
    let is_in = |at: &Instant| spans.iter().any(|(from, to)| from <= at && at < to);
    let within = times.iter().filter(|(at, _)| is_in(at));
    let mut sorted: Vec<_> = within.map(|(_, took)| *took).collect();
    sorted.sort_unstable();
    let at = |percent: usize| {
        sorted
            .get(sorted.len() * percent / 100)
            .copied()
            .unwrap_or_default()
    };
    (sorted.len(), at(50), at(99))
}

/// Prints the latencies of steady loads before and during ten restarts; `MEASURED` names another build of the command.
#[test]
#[ignore = "it measures, for two minutes: cargo test -p trunkline-cli --test all -- --ignored --nocapture latencies"]
fn latencies_before_and_during_restarts() {
    const PAUSE: Duration = Duration::from_millis(10);
    const SPAN: Duration = Duration::from_secs(5);
    let (folder, upgrade) = folder("upgrade-latencies");
    let path = folder.path();
    let (chain, key) = (folder.path() + "/c.pem", folder.path() + "/k.pem");
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a name");
    fs::write(&chain, signed.cert.pem()).expect("ours");
    fs::write(&key, signed.signing_key.serialize_pem()).expect("ours");
    let program = std::env::var("MEASURED").unwrap_or_else(|_| BINARY.to_owned());
    let start = |place: &str| {
        let mut command = Command::new(&program);
        command.args([
            "serve",
            &path,
            "--test-endpoints",
            "--listen",
            place,
            "--upgrade",
            &upgrade,
        ]);
        command.args(["--tls-cert", &chain, "--tls-key", &key]);
        Served::run(command)
    };
    let mut served = start("127.0.0.1:0");
    let (place, url) = (served.address().to_owned(), served.url.clone());
    let loads = VERSIONS.map(|version| {
        [true, false].map(|keeps| Load::new(version, format!("{url}/a.txt"), keeps, PAUSE))
    });
    let (mut quiet, mut restarts) = (Vec::new(), Vec::new());
    for _ in 0..RESTARTS {
        // The rest of long exchanges is load, too, which both spans have.
        let others = VERSIONS.map(|version| LongExchange::begin(version, &url));
        let long = VERSIONS.map(|version| LongExchange::begin(version, &url));
        let began = Instant::now();
        thread::sleep(SPAN);
        for exchange in others {
            exchange.end(&url);
        }
        quiet.push((began, Instant::now()));
        let began = Instant::now();
        let next = start(&place);
        let ended = std::mem::replace(&mut served, next);
        for exchange in long {
            exchange.end(&url);
        }
        ends(ended);
        restarts.push((began, Instant::now()));
    }
    println!(
        "| load | requests | median ms | 99th of 100 ms | during restarts: requests | median ms | 99th of 100 ms | ratio | failed |"
    );
    for (version, loads) in VERSIONS.into_iter().zip(loads) {
        for (load, name) in loads
            .into_iter()
            .zip(["connections kept", "a connection each"])
        {
            let times = Arc::clone(&load.times);
            let (_, failed) = load.end();
            let times = times.lock().expect("no panic");
            let (calm, hit) = (percentiles(&times, &quiet), percentiles(&times, &restarts));
            let ms = |time: Duration| time.as_secs_f64() * 1e3;
            println!(
                "| {version:?}, {name} | {} | {:.2} | {:.2} | {} | {:.2} | {:.2} | {:.2} | {} |",
                calm.0,
                ms(calm.1),
                ms(calm.2),
                hit.0,
                ms(hit.1),
                ms(hit.2),
                ms(hit.2) / ms(calm.2),
                failed.len()
            );
            assert_eq!(failed, [""; 0]);
        }
    }
    assert_eq!(served.terminate(), Some(0));
}
