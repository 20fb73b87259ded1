//! The configuration file of `trunkline serve`: checked, served from, and read again.

use crate::lines::Lines;
use crate::port::free_port;
use crate::served::{Folder, PAUSE, Served};
use nix::sys::signal::Signal;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");
/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(120);

fn run(arguments: &[&str]) -> Output {
    Command::new(BINARY)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .expect("the binary starts")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A server of this file, and its standard error.
fn serve(file: &str) -> (Served, Lines) {
    let mut command = Command::new(BINARY);
    command.args(["serve", "--config", file]);
    command.stderr(Stdio::piped());
    let mut served = Served::run(command);
    let stderr = served.child.stderr.take().expect("it is piped");
    (served, Lines::of(stderr))
}

/// Files of a fresh certificate for `name`: the chain and its key.
fn certificate(folder: &Folder, file: &str, name: &str) -> (String, String) {
    let signed = rcgen::generate_simple_self_signed([name.to_owned()]).expect("a name");
    let key = signed.signing_key.serialize_pem();
    let key = folder.file(&format!("{file}.key"), key.as_bytes());
    let chain = folder.file(&format!("{file}.pem"), signed.cert.pem().as_bytes());
    (chain, key)
}

/// The answer to a request on an open connection, whose body has five bytes.
fn ask(socket: &mut TcpStream, fields: &str) -> String {
    let request = format!("GET /bytes/5 HTTP/1.1\r\nhost: a.test\r\n{fields}\r\n");
    socket.write_all(request.as_bytes()).expect("it reads");
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        socket.read_exact(&mut byte).expect("it answers");
        head.extend(byte);
    }
    let head = text(&head);
    if head.starts_with("HTTP/1.1 200 ") {
        socket.read_exact(&mut [0; 5]).expect("the body");
    }
    head
}

#[test]
fn check_exits_with_0_for_a_file_that_can_be_used_and_with_1_and_every_place_for_others() {
    let folder = Folder::new("config-check");
    let (chain, key) = certificate(&folder, "a", "a.test");
    let (_, other) = certificate(&folder, "b", "b.test");
    let tickets = folder.file("tickets", "01".repeat(32).as_bytes());
    let mode = |mode| fs::set_permissions(&tickets, Permissions::from_mode(mode)).expect("ours");
    let log = format!("{}/access.log", folder.path());
    let with = |key: &str, rest: &str| {
        let text = format!(
            "root = \".\"\nlisten = \"127.0.0.1:0\"\n[[certificate]]\nchain = \"{chain}\"\nkey = \"{key}\"\n\
             names = [\"a.test\"]\n[tls]\ntickets = \"tickets\"\n[log]\naccess = \"{log}\"\n{rest}"
        );
        folder.file("serve.toml", text.as_bytes())
    };
    let check = |file: &str, code: i32| {
        let output = run(&["serve", "--check", "--config", file]);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{printed}");
        assert!(output.stdout.is_empty());
        printed
    };
    mode(0o600);
    assert_eq!(check(&with(&key, ""), 0), "");
    assert!(!fs::exists(&log).expect("a folder"), "a check opens no log");
    for (key, rest, expected) in [
        (
            other.as_str(),
            "",
            &[
                "serve.toml:4:1: ",
                "a.pem with ",
                "b.key: ",
                "cannot be used together",
            ][..],
        ),
        (
            "/missing.key",
            "",
            &["serve.toml:4:1: ", "/missing.key cannot be read"],
        ),
        (
            &key,
            "[limits]\nbacklog = 0\n[admni]\n",
            &[
                ":12:11: limits.backlog is 0",
                ":13:2: unknown key admni; the nearest known one is [admin]",
            ],
        ),
        (
            &key,
            "[admin]\naddress = \"0.0.0.0:1\"\n",
            &[
                "serve.toml:12:1: admin.address 0.0.0.0:1 is not a loopback address",
                "add admin.token_file",
            ],
        ),
        (
            &key,
            "fields = [\"time\"]\n",
            &["serve.toml:11:1: log.fields is for JSON lines: add log.format json"],
        ),
        (
            &key,
            "[http3]\nquic_secret = \"tickets\"\nearly_data = true\n",
            &["serve.toml:13:1: http3.early_data is true"],
        ),
    ] {
        let printed = check(&with(key, rest), 1);
        for expected in expected {
            assert!(printed.contains(expected), "{expected}: {printed}");
        }
    }
    let printed = check(&format!("{}/missing.toml", folder.path()), 1);
    assert!(printed.contains("missing.toml cannot be read"), "{printed}");
    mode(0o644);
    let file = with(&key, "");
    let printed = check(&file, 1);
    let expected = "serve.toml:8:1: tls.tickets: ";
    assert!(
        printed.contains(expected) && printed.contains("open to every user (mode 644); chmod 600"),
        "{printed}"
    );
    // A server does not start with it either.
    let started = run(&["serve", "--config", &file]);
    assert_eq!(started.status.code(), Some(2), "{}", text(&started.stderr));
    let beside = run(&["serve", "--config", &file, "--workers", "2"]);
    assert_eq!(beside.status.code(), Some(2));
    assert!(
        text(&beside.stderr).contains("--workers"),
        "{}",
        text(&beside.stderr)
    );
    let example = run(&["serve", "--example-config"]);
    assert!(example.status.success());
    assert!(text(&example.stdout).contains("# head_bytes_max = 65536"));
}

#[test]
fn sighup_changes_limits_without_losing_a_connection_names_what_waits_and_keeps_all_for_a_wrong_file()
 {
    let folder = Folder::new("config-reload");
    let write = |rest: &str| {
        let text = format!("listen = \"127.0.0.1:0\"\ntest_endpoints = true\n{rest}");
        folder.file("serve.toml", text.as_bytes())
    };
    let file = write("workers = 1\n");
    let (served, mut stderr) = serve(&file);
    let connect = || {
        let socket = TcpStream::connect(served.address()).expect("it listens");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        socket
    };
    let long = format!("x-long: {}\r\n", "x".repeat(2000));
    let mut first = connect();
    assert!(ask(&mut first, &long).starts_with("HTTP/1.1 200 "));

    write("workers = 2\n[limits]\nhead_bytes_max = 12\n");
    served.signal(Signal::SIGHUP);
    stderr.line_with("the settings stay as they were");
    stderr.line_with("serve.toml:5:18: limits.head_bytes_max is 12; it must be bytes from 1024");
    assert!(ask(&mut connect(), &long).starts_with("HTTP/1.1 200 "));

    write("workers = 2\n[limits]\nhead_bytes_max = 1024\n[drain]\ntime = 5\n");
    served.signal(Signal::SIGHUP);
    stderr.line_with("serve.toml was read again");
    let line = stderr.line_with("count after a restart");
    assert!(line.ends_with(": drain.time, workers\n"), "{line}");
    assert!(ask(&mut connect(), &long).starts_with("HTTP/1.1 431 "));
    // An open connection goes on, with the limits that it had.
    assert!(ask(&mut first, &long).starts_with("HTTP/1.1 200 "));
    drop(first);
    assert_eq!(served.terminate(), Some(0));
}

#[test]
fn a_file_that_wants_it_is_read_again_without_a_signal_and_a_wrong_one_changes_nothing() {
    let folder = Folder::new("config-change");
    // The length tells one text from the next: a file system may keep times by the second.
    let begin = "listen = \"127.0.0.1:0\"\ntest_endpoints = true\nreload_on_change = true\n";
    let write = |rest: &str| {
        let file = folder.file("serve.new", format!("{begin}{rest}").as_bytes());
        let place = file.replace("serve.new", "serve.toml");
        fs::rename(file, &place).expect("ours");
        place
    };
    let (served, mut stderr) = serve(&write(""));
    let connect = || connect(served.address());
    let long = format!("x: {}\r\n", "x".repeat(2000));
    let mut first = connect();
    assert!(ask(&mut first, &long).starts_with("HTTP/1.1 200 "));
    write("[limits]\nhead_bytes_max = 12\n");
    stderr.line_with("the settings stay as they were");
    stderr.line_with("limits.head_bytes_max is 12");
    write("[limits]\nhead_bytes_max = 1024\n");
    stderr.line_with("serve.toml was read again");
    assert!(ask(&mut connect(), &long).starts_with("HTTP/1.1 431 "));
    // An open connection goes on, with the limits that it had.
    assert!(ask(&mut first, &long).starts_with("HTTP/1.1 200 "));
    drop(first);
    assert_eq!(served.terminate(), Some(0));
}

#[test]
fn certificates_change_with_their_files_and_a_pair_that_does_not_fit_keeps_those_before() {
    let folder = Folder::new("config-certificates");
    let (chain, key) = certificate(&folder, "a", "localhost");
    let (other, _) = certificate(&folder, "b", "other.test");
    let copy = |from: &str, to: &str| folder.file(to, &fs::read(from).expect("written"));
    let old = copy(&chain, "old.pem");
    let text = format!(
        "listen = \"127.0.0.1:0\"\ntest_endpoints = true\n[[certificate]]\nchain = \"{other}\"\nkey = \"b.key\"\n\
         [[certificate]]\nchain = \"{chain}\"\nkey = \"{key}\"\nnames = [\"localhost\"]\n[http3]\nenabled = false\n"
    );
    let file = folder.file("serve.toml", text.as_bytes());
    let (served, mut stderr) = serve(&file);
    let url = served.url("/bytes/5").replace("127.0.0.1", "localhost");
    let believes = |root: &str| run(&["get", "--cacert", root, &url]).status.success();
    assert!(believes(&old), "the one for the name is shown");

    fs::write(&key, fs::read(folder.0.join("b.key")).expect("written")).expect("ours");
    served.signal(Signal::SIGHUP);
    stderr.line_with("the certificate stays as it was: ");
    assert!(believes(&old));
    // Without a signal.
    certificate(&folder, "a", "localhost");
    let until = Instant::now() + PATIENCE;
    while !believes(&chain) {
        assert!(Instant::now() < until, "the change was not found");
        thread::sleep(PAUSE);
    }
    assert!(!believes(&old));
    assert_eq!(served.terminate(), Some(0));
}

#[test]
fn a_listed_load_balancer_names_the_client_in_the_access_log_and_others_cannot() {
    let folder = Folder::new("config-proxies");
    for (listed, expected) in [("127.0.0.0/8", Some("198.51.100.7 ")), ("10.0.0.0/8", None)] {
        let log = format!("{}/log-{}", folder.path(), expected.is_some());
        let text = format!(
            "listen = \"127.0.0.1:0\"\ntest_endpoints = true\nproxy_protocol = [\"{listed}\"]\n[log]\naccess = \"{log}\"\n"
        );
        let file = folder.file("serve.toml", text.as_bytes());
        let (served, _stderr) = serve(&file);
        let mut socket = TcpStream::connect(served.address()).expect("it listens");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let header = b"PROXY TCP4 198.51.100.7 192.0.2.1 4711 80\r\n";
        socket.write_all(header).expect("it reads");
        let answer = ask(&mut socket, "");
        drop(socket);
        assert_eq!(served.terminate(), Some(0));
        let logged = fs::read_to_string(&log).expect("it was written");
        match expected {
            Some(client) => {
                assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
                assert!(logged.starts_with(client), "{logged}");
            }
            None => {
                assert!(answer.starts_with("HTTP/1.1 400 "), "{answer}");
                assert!(!logged.contains("198.51.100.7"), "{logged}");
            }
        }
    }
}

#[test]
fn a_listed_proxy_states_the_client_of_a_request_in_the_access_log_and_others_cannot() {
    let folder = Folder::new("config-forwarded");
    let spoofed = "forwarded: for=198.51.100.9, for=198.51.100.7\r\nx-forwarded-for: 198.51.100.9, 198.51.100.8\r\n";
    for (key, listed, expected) in [
        ("forwarded", "127.0.0.0/8", "198.51.100.7 "),
        ("x_forwarded", "127.0.0.0/8", "198.51.100.8 "),
        ("forwarded", "10.0.0.0/8", "127.0.0.1 "),
        ("x_forwarded", "10.0.0.0/8", "127.0.0.1 "),
    ] {
        let log = format!("{}/log", folder.path());
        let text = format!(
            "listen = \"127.0.0.1:0\"\ntest_endpoints = true\n{key} = [\"{listed}\"]\n[log]\naccess = \"{log}\"\n"
        );
        let file = folder.file("serve.toml", text.as_bytes());
        let (served, _stderr) = serve(&file);
        let mut socket = TcpStream::connect(served.address()).expect("it listens");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
        let answer = ask(&mut socket, spoofed);
        assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
        drop(socket);
        assert_eq!(served.terminate(), Some(0));
        let logged = fs::read_to_string(&log).expect("it was written");
        assert!(logged.starts_with(expected), "{key} {listed}: {logged}");
        fs::remove_file(&log).expect("it is there");
    }
}

#[test]
fn both_kinds_of_forwarded_fields_together_are_refused_at_their_line() {
    let folder = Folder::new("config-both-forwarded");
    let written = "test_endpoints = true\nforwarded = [\"::1\"]\nx_forwarded = [\"::1\"]\n";
    let file = folder.file("serve.toml", written.as_bytes());
    let output = run(&["serve", "--check", "--config", &file]);
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{printed}");
    assert!(
        printed.contains(":3:") && printed.contains("without forwarded beside it"),
        "{printed}"
    );
}

/// The answer to a request in the clear.
fn answered(socket: impl Read + Write, path: &str) -> String {
    answered_as(socket, "a.test", path)
}

fn answered_as(mut socket: impl Read + Write, host: &str, path: &str) -> String {
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    socket.write_all(request.as_bytes()).expect("it reads");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("it answers");
    answer
}

fn connect(address: &str) -> TcpStream {
    let socket = TcpStream::connect(address).expect("it listens");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    socket
}

/// An address on which nothing listens, and that no other test gets.
fn free_address(ip: &str) -> String {
    format!("{ip}:{}", free_port().expect("a port"))
}

#[test]
fn several_addresses_serve_one_site_under_tls_in_the_clear_and_on_a_unix_socket_and_redirect() {
    let folder = Folder::new("config-listeners");
    let unix = format!("{}/site", folder.path());
    let text = format!(
        "test_endpoints = true\n[tls]\nself_signed = true\n[[listen]]\naddress = \"127.0.0.1:0\"\n\
         [[listen]]\naddress = \"127.0.0.2:0\"\ntls = false\n[[listen]]\naddress = \"unix:{unix}\"\ntls = false\n\
         [[listen]]\naddress = \"127.0.0.3:0\"\nredirect = true\n[admin]\naddress = \"127.0.0.1:0\"\n"
    );
    let file = folder.file("serve.toml", text.as_bytes());
    let (mut served, mut stderr) = serve(&file);
    let (clear, shown, redirects) = (served.also(), served.also(), served.redirects());
    assert_eq!(shown, format!("unix:{unix}"));
    let admin = served.admin();
    let url = served.url("/bytes/5");
    assert!(url.starts_with("https://127.0.0.1:"), "{url}");
    for version in ["--http1.1", "--http2", "--http3-only"] {
        let got = run(&["get", "--insecure", version, &url]);
        assert!(got.status.success(), "{version}: {}", text_of(&got));
    }
    let answer = answered(connect(clear.trim_start_matches("http://")), "/bytes/5");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let answer = answered(UnixStream::connect(&unix).expect("it is there"), "/bytes/5");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    let port = served
        .address()
        .rsplit(':')
        .next()
        .expect("a port")
        .to_owned();
    let answer = answered(connect(&redirects), "/x");
    assert!(answer.starts_with("HTTP/1.1 308 "), "{answer}");
    assert!(
        answer.contains(&format!("location: https://a.test:{port}/x\r\n")),
        "{answer}"
    );
    // The page counts all but redirects.
    let metrics = answered_as(connect(&admin), "localhost", "/metrics");
    for (version, requests) in [("1.1", 3), ("2", 1), ("3", 1)] {
        let line = format!(
            "trunkline_server_requests_total{{network_protocol_version=\"{version}\"}} {requests}\n"
        );
        assert!(metrics.contains(&line), "{metrics}");
    }
    // All addresses borrow from one budget.
    let budget = format!(
        "trunkline_server_budget_bytes{{budget=\"receive\"}} {}\n",
        64 << 20
    );
    assert!(metrics.contains(&budget), "{metrics}");

    // Another first address is where requests are redirected from now on.
    let moved = free_address("127.0.0.4");
    let text = text.replacen("127.0.0.1:0", &moved, 1);
    folder.file("serve.toml", text.as_bytes());
    served.signal(Signal::SIGHUP);
    stderr.line_with(&format!("{moved} is listened on"));
    stderr.line_with("127.0.0.1:0 is listened on no more");
    let answer = answered(connect(&redirects), "/x");
    let port = moved.rsplit(':').next().expect("a port");
    assert!(
        answer.contains(&format!("location: https://a.test:{port}/x\r\n")),
        "{answer}"
    );
    let url = format!("https://{moved}/bytes/5");
    let got = run(&["get", "--insecure", "--http3-only", &url]);
    assert!(got.status.success(), "{}", text_of(&got));
    let metrics = answered_as(connect(&admin), "localhost", "/metrics");
    let line = "trunkline_server_requests_total{network_protocol_version=\"3\"} 2\n";
    assert!(metrics.contains(line), "{metrics}");
    let ready = answered_as(connect(&admin), "localhost", "/readyz");
    assert!(ready.starts_with("HTTP/1.1 200 "), "{ready}");
    assert_eq!(served.terminate(), Some(0));
    assert!(!fs::exists(&unix).expect("a folder"));
}

fn text_of(output: &Output) -> String {
    text(&output.stderr)
}

#[test]
fn addresses_come_and_go_with_their_tables_and_open_connections_stay() {
    let folder = Folder::new("config-listeners-change");
    let unix = format!("{}/site", folder.path());
    let first = "[[listen]]\naddress = \"127.0.0.1:0\"\n";
    let write = |rest: &str| {
        folder.file(
            "serve.toml",
            format!("test_endpoints = true\n{rest}").as_bytes(),
        )
    };
    let (served, mut stderr) = serve(&write(first));
    let mut open = connect(served.address());
    assert!(ask(&mut open, "").starts_with("HTTP/1.1 200 "));

    let second = format!("[[listen]]\naddress = \"unix:{unix}\"\n");
    write(&format!("{first}{second}"));
    served.signal(Signal::SIGHUP);
    stderr.line_with("site is listened on");
    let answer = answered(UnixStream::connect(&unix).expect("it is there"), "/bytes/5");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert!(ask(&mut open, "").starts_with("HTTP/1.1 200 "));

    // One whose table has changed except for the address stays.
    write(&format!("{first}{second}tls = false\n"));
    served.signal(Signal::SIGHUP);
    stderr.line_with("site stays as it was: ");
    let answer = answered(UnixStream::connect(&unix).expect("it is there"), "/bytes/5");
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");

    // One that cannot be listened on changes nothing else.
    let taken = format!("[[listen]]\naddress = \"{}\"\n", served.address());
    write(&format!("{first}{second}{taken}"));
    served.signal(Signal::SIGHUP);
    stderr.line_with("is not listened on: ");
    assert!(ask(&mut open, "").starts_with("HTTP/1.1 200 "));

    // A first address that cannot be listened on leaves the one before it.
    write("[[listen]]\naddress = \"192.0.2.1:8\"\n");
    served.signal(Signal::SIGHUP);
    stderr.line_with("192.0.2.1:8 is not listened on: ");
    stderr.line_with("site is listened on no more");
    assert!(ask(&mut open, "").starts_with("HTTP/1.1 200 "));

    // Another one takes its place, and a request that has begun is answered.
    open.write_all(b"POST /echo HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\n")
        .expect("it reads");
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        open.read_exact(&mut byte).expect("the answer has begun");
        head.push(byte[0]);
    }
    assert!(head.starts_with(b"HTTP/1.1 200 "));
    let moved = free_address("127.0.0.2");
    write(&format!("[[listen]]\naddress = \"{moved}\"\n"));
    served.signal(Signal::SIGHUP);
    stderr.line_with(&format!("{moved} is listened on"));
    stderr.line_with("127.0.0.1:0 is listened on no more");
    assert!(answered(connect(&moved), "/bytes/5").starts_with("HTTP/1.1 200 "));
    let until = Instant::now() + PATIENCE;
    while fs::exists(&unix).expect("a folder") {
        assert!(Instant::now() < until, "the socket stays");
    }
    open.write_all(b"12345").expect("it reads");
    let mut answer = String::new();
    open.read_to_string(&mut answer)
        .expect("it answers and closes");
    assert!(answer.contains("12345"), "{answer}");
    assert_eq!(served.terminate(), Some(0));
}

#[test]
fn an_address_that_needs_a_certificate_is_refused_without_one() {
    let folder = Folder::new("config-listeners-tls");
    for (rest, expected) in [
        (
            "tls = true\n",
            "127.0.0.1:8 is to be under TLS, and there is no [[certificate]]",
        ),
        (
            "redirect = true\n",
            "127.0.0.1:8 redirects to https, and the first [[listen]] is no port under TLS",
        ),
    ] {
        let written = format!(
            "test_endpoints = true\n[[listen]]\naddress = \"127.0.0.1:0\"\n[[listen]]\naddress = \"127.0.0.1:8\"\n{rest}"
        );
        let file = folder.file("serve.toml", written.as_bytes());
        let output = run(&["serve", "--check", "--config", &file]);
        let printed = text(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{printed}");
        assert!(printed.contains(expected), "{printed}");
    }
}
