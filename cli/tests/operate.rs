//! The operation of `trunkline serve`: the admin address, the access log's forms, signals and the service manager.

use crate::lines::Lines;
use crate::served::{Folder, PAUSE, Served};
use nix::sys::signal::Signal;
use std::fs::{self, Permissions};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");
/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn exchange(mut socket: impl Read + Write, path: &str, fields: &[&str]) -> String {
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    let request = format!("GET {path} HTTP/1.1\r\nconnection: close\r\n{fields}\r\n");
    socket.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

fn asked(address: &str, path: &str, fields: &[&str]) -> String {
    let host = format!("host: {address}");
    let socket = TcpStream::connect(address).expect("it listens");
    exchange(socket, path, &[&[host.as_str()], fields].concat())
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).expect("a status line")
}

fn refused(arguments: &[&str]) -> String {
    let output: Output = Command::new(BINARY)
        .arg("serve")
        .args(arguments)
        .output()
        .expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{text}");
    text
}

#[test]
fn the_admin_address_gives_metrics_and_says_whether_requests_are_welcome() {
    let flags = [
        "--test-endpoints",
        "--admin",
        "127.0.0.1:0",
        "--drain-delay",
        "3600",
    ];
    let mut served = Served::start(&flags);
    let (site, admin) = (served.address().to_owned(), served.admin());
    for (path, expected) in [
        ("/bytes/10", "200"),
        ("/status/404", "404"),
        ("/status/503", "503"),
    ] {
        assert_eq!(status(&asked(&site, path, &[])), expected, "{path}");
    }
    let metrics = asked(&admin, "/metrics", &[]);
    assert_eq!(status(&metrics), "200");
    assert!(metrics.contains("content-type: application/openmetrics-text; version=1.0.0;"));
    for line in [
        "trunkline_server_requests_total{network_protocol_version=\"1.1\"} 3",
        "trunkline_server_responses_total{network_protocol_version=\"1.1\",status_class=\"2xx\"} 1",
        "trunkline_server_responses_total{network_protocol_version=\"1.1\",status_class=\"5xx\"} 1",
        "http_server_request_duration_seconds_count{network_protocol_version=\"1.1\"} 3",
        "http_server_active_requests{network_protocol_version=\"1.1\"} 0",
        "# EOF",
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    }
    assert_eq!(status(&asked(&admin, "/healthz", &[])), "200");
    assert_eq!(status(&asked(&admin, "/readyz", &[])), "200");
    assert_eq!(status(&asked(&admin, "/other", &[])), "404");
    // A name that a page of another site has resolved to loopback.
    let socket = TcpStream::connect(&admin).expect("it listens");
    let answer = exchange(socket, "/metrics", &["host: evil.example"]);
    assert_eq!(status(&answer), "421");

    served.signal(Signal::SIGTERM);
    let until = Instant::now() + PATIENCE;
    while status(&asked(&admin, "/readyz", &[])) != "503" {
        assert!(Instant::now() < until, "/readyz never says 503");
        std::thread::sleep(PAUSE);
    }
    // The delay before the drain: the site still answers, and the process is healthy.
    assert_eq!(status(&asked(&site, "/bytes/10", &[])), "200");
    assert_eq!(status(&asked(&admin, "/healthz", &[])), "200");
    // A second signal does not wait.
    assert_eq!(served.terminate(), Some(1));
}

#[test]
fn an_admin_address_beyond_this_machine_is_refused_without_a_token_that_is_secret() {
    let folder = Folder::new("admin-token");
    let path = folder.path();
    let token = folder.file("token", b"0123456789abcdef\n");
    let short = folder.file("short", b"0123456789");
    let everywhere = ["--admin", "0.0.0.0:0", &path];
    let text = refused(&everywhere);
    assert!(
        text.contains("--admin 0.0.0.0:0") && text.contains("--admin-token-file"),
        "{text}"
    );
    for (file, mode, expected) in [
        (&token, 0o644, "chmod 600"),
        (&short, 0o600, "16 or more"),
        (&format!("{path}/missing"), 0, "cannot be read"),
    ] {
        if mode != 0 {
            fs::set_permissions(file, Permissions::from_mode(mode)).expect("it is ours");
        }
        let text = refused(&[&everywhere[..], &["--admin-token-file", file]].concat());
        assert!(text.contains(expected), "{text}");
    }
    fs::set_permissions(&token, Permissions::from_mode(0o600)).expect("it is ours");
    let mut served = Served::start(&[&everywhere[..], &["--admin-token-file", &token]].concat());
    let admin = served.admin().replace("0.0.0.0", "127.0.0.1");
    let bearer = |token: &str| format!("authorization: Bearer {token}");
    let answer = asked(&admin, "/metrics", &[]);
    assert_eq!(status(&answer), "401");
    assert!(answer.contains("www-authenticate: Bearer"), "{answer}");
    for (token, expected) in [("0123456789abcdeg", "401"), ("0123456789abcdef", "200")] {
        let answer = asked(&admin, "/metrics", &[&bearer(token)]);
        assert_eq!(status(&answer), expected);
    }
    // Those who probe have no token.
    assert_eq!(status(&asked(&admin, "/readyz", &[])), "200");
}

#[test]
fn the_admin_address_may_be_a_unix_socket_for_its_owner_alone() {
    let folder = Folder::new("admin-unix");
    let (path, socket) = (folder.path(), folder.path() + ".admin");
    let place = format!("unix:{socket}");
    let served = Served::start(&["--admin", &place, &path]);
    let until = Instant::now() + PATIENCE;
    let stream = loop {
        match UnixStream::connect(&socket) {
            Ok(stream) => break stream,
            Err(error) => assert!(Instant::now() < until, "{error}"),
        }
    };
    let mode = fs::metadata(&socket)
        .expect("it is there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let answer = exchange(stream, "/metrics", &["host: admin"]);
    assert_eq!(status(&answer), "200");
    assert_eq!(served.terminate(), Some(0));
    assert!(!fs::exists(&socket).expect("a folder"));
}

#[test]
fn the_access_log_is_opened_again_upon_sigusr1_and_loses_no_line() {
    let folder = Folder::new("reopen");
    let path = folder.path();
    let (log, moved) = (path.clone() + ".log", path.clone() + ".log.1");
    let served = Served::start(&[
        "--access-log",
        &log,
        "--access-log-format",
        "combined",
        &path,
    ]);
    let site = served.address();
    let before = asked(site, "/a", &["user-agent: one", "referer: http://r.test/"]);
    assert_eq!(status(&before), "404");
    fs::rename(&log, &moved).expect("it was opened");
    served.signal(Signal::SIGUSR1);
    let until = Instant::now() + PATIENCE;
    let mut requests = 1;
    while !fs::metadata(&log).is_ok_and(|it| it.len() > 0) {
        assert!(Instant::now() < until, "it is never opened again");
        asked(site, "/b", &[]);
        requests += 1;
    }
    asked(site, "/c", &["user-agent: last"]);
    assert_eq!(served.terminate(), Some(0));
    let first = fs::read_to_string(&moved).expect("it was written");
    let second = fs::read_to_string(&log).expect("it was written");
    for file in [&log, &moved] {
        fs::remove_file(file).expect("it is there");
    }
    assert_eq!(first.lines().count() + second.lines().count(), requests + 1);
    let line = first.lines().next().expect("a line");
    assert!(line.ends_with(" \"http://r.test/\" \"one\""), "{line}");
    let line = second.lines().last().expect("a line");
    assert!(line.contains("\"GET /c HTTP/1.1\" 404 "), "{line}");
    assert!(line.ends_with(" \"-\" \"last\""), "{line}");
}

#[test]
fn the_access_log_is_renamed_before_it_is_larger_than_its_bound_and_loses_no_line() {
    let folder = Folder::new("rotate");
    let root = folder.path();
    let logs = Folder::new("rotate-logs");
    let log = format!("{}/log", logs.path());
    let rotated = [
        "--access-log-bytes-max",
        "4096",
        "--access-log-files-kept",
        "9",
    ];
    let served = Served::start(&[&["--access-log", &log][..], &rotated, &[&root]].concat());
    let requests = 200;
    for number in 0..requests {
        asked(served.address(), &format!("/{number:04}"), &[]);
    }
    assert_eq!(served.terminate(), Some(0));
    // The newest lines first, from file to file.
    let mut files = 0;
    let mut lines = Vec::new();
    loop {
        let name = if files == 0 {
            log.clone()
        } else {
            format!("{log}.{files}")
        };
        let Ok(text) = fs::read_to_string(name) else {
            break;
        };
        assert!(text.len() <= 4096, "{}", text.len());
        lines.extend(text.lines().rev().map(str::to_owned));
        files += 1;
    }
    assert!(files > 2, "{files}");
    assert_eq!(lines.len(), requests);
    for (line, number) in lines.iter().rev().zip(0..) {
        assert!(line.contains(&format!("GET /{number:04} ")), "{line}");
    }

    let small = refused(&[
        "--access-log",
        &log,
        "--access-log-bytes-max",
        "4095",
        &root,
    ]);
    assert!(small.contains("4096.."), "{small}");
    let stdout = refused(&["--access-log", "-", "--access-log-bytes-max", "4096", &root]);
    assert!(stdout.contains("is for a file"), "{stdout}");
}

fn make_pipe(path: &str) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.expect("POSIX has it").success());
}

#[test]
fn a_pipe_that_is_not_read_costs_lines_of_the_log_and_no_request() {
    let folder = Folder::new("stuck-pipe");
    let path = folder.path();
    let pipe = path.clone() + ".pipe";
    make_pipe(&pipe);
    let mut command = Command::new(BINARY);
    command.args(["serve", "--listen", "127.0.0.1:0", "--access-log", &pipe]);
    command.arg(&path).stderr(Stdio::piped());
    let mut served = Served::run(command);
    // Their lines fill the pipe and the queue in front of it.
    let long = "/absent".repeat(1000);
    for _ in 0..200 {
        assert_eq!(status(&asked(served.address(), &long, &[])), "404");
    }
    let mut stderr = served.child.stderr.take().expect("it is piped");
    assert_eq!(served.terminate(), Some(0));
    fs::remove_file(&pipe).expect("it is there");
    let mut reported = String::new();
    stderr.read_to_string(&mut reported).expect("it ended");
    assert_eq!(
        reported.matches("takes no more lines").count(),
        1,
        "{reported}"
    );
    assert!(
        reported.contains("lines, which its reader did not take"),
        "{reported}"
    );
}

#[test]
fn the_log_waits_in_a_pipe_for_its_reader() {
    let folder = Folder::new("late-reader");
    let path = folder.path();
    let pipe = path.clone() + ".pipe";
    make_pipe(&pipe);
    let served = Served::start(&["--access-log", &pipe, &path]);
    asked(served.address(), "/early", &[]);
    let mut lines = Lines::of(fs::File::open(&pipe).expect("it is there"));
    assert!(lines.next().contains("GET /early "));
    asked(served.address(), "/late", &[]);
    assert!(lines.next().contains("GET /late "));
    assert_eq!(served.terminate(), Some(0));
    fs::remove_file(&pipe).expect("it is there");
}

#[test]
fn no_request_can_forge_a_line_of_the_log() {
    let folder = Folder::new("forge");
    let path = folder.path();
    let hostile: Vec<u8> = (0x20..=0xff).filter(|byte| *byte != 0x7f).collect();
    for format in ["common", "combined", "json"] {
        let log = format!("{path}.{format}");
        let served = Served::start(&["--access-log", &log, "--access-log-format", format, &path]);
        let mut socket = TcpStream::connect(served.address()).expect("it listens");
        let mut request = b"GET /%0a%22?a=b HTTP/1.1\r\nhost: h\r\nconnection: close\r\n".to_vec();
        for name in ["user-agent: ", "referer: "] {
            request.extend(
                [
                    name.as_bytes(),
                    &b"\t\xc2\x85\xe2\x80\xa8\" 200 1\\"[..],
                    &hostile,
                    b"\r\n",
                ]
                .concat(),
            );
        }
        request.extend(b"\r\n");
        socket.write_all(&request).expect("it reads");
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).expect("it answers");
        assert_eq!(served.terminate(), Some(0));
        let text = fs::read(&log).expect("it was written");
        fs::remove_file(&log).expect("it is there");
        assert_eq!(
            text.iter().filter(|byte| **byte == b'\n').count(),
            1,
            "{format}"
        );
        assert_eq!(text.last(), Some(&b'\n'), "{format}");
        let line = String::from_utf8(text).expect("it is UTF-8");
        let harmless = |c: char| c == '\n' || !c.is_control() && c != '\u{2028}';
        assert!(line.chars().all(harmless), "{format}: {line:?}");
        let quotes = line.replace("\\\"", "").matches('"').count();
        match format {
            "common" => assert_eq!(quotes, 2, "{line}"),
            "combined" => assert_eq!(quotes, 6, "{line}"),
            _ => {
                let object: serde_json::Value = serde_json::from_str(&line).expect("it is JSON");
                assert_eq!(object["method"], "GET", "{line}");
                assert_eq!(object["target"], "/%0a%22?a=b", "{line}");
            }
        }
    }
}

#[test]
fn json_lines_have_the_members_that_were_asked_for_in_their_order() {
    let folder = Folder::new("json-fields");
    let (path, log) = (folder.path(), folder.path() + ".log");
    let fields = "status,target,version,host,client,tls,error,bytes";
    let flags = [
        "--access-log",
        &log,
        "--access-log-format",
        "json",
        "--access-log-fields",
        fields,
        &path,
    ];
    let served = Served::start(&flags);
    let address = served.address().to_owned();
    asked(&address, "/a?b", &[]);
    assert_eq!(served.terminate(), Some(0));
    let line = fs::read_to_string(&log).expect("it was written");
    fs::remove_file(&log).expect("it is there");
    let expected = format!(
        "{{\"status\":404,\"target\":\"/a?b\",\"version\":\"1.1\",\"host\":\"{address}\",\
         \"client\":\"127.0.0.1\",\"tls\":null,\"error\":null,\"bytes\":"
    );
    assert!(line.starts_with(&expected), "{line}");
    let text = refused(&["--access-log", &log, "--access-log-fields", "status", &path]);
    assert!(text.contains("--access-log-format json"), "{text}");
    let text = refused(&["--access-log", &log, "--access-log-fields", "statu", &path]);
    assert!(text.contains("status"), "{text}");
}

#[test]
fn the_service_manager_learns_of_the_start_a_reload_the_watchdog_and_the_end() {
    let folder = Folder::new("notify");
    let (path, place) = (folder.path(), folder.path() + ".notify");
    let manager = UnixDatagram::bind(&place).expect("a free path");
    manager.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let signed = rcgen::generate_simple_self_signed(["localhost".to_owned()]).expect("a key");
    let certificate = folder.file("cert.pem", signed.cert.pem().as_bytes());
    let key = folder.file("key.pem", signed.signing_key.serialize_pem().as_bytes());
    let variables = [
        ("NOTIFY_SOCKET", place.as_str()),
        ("WATCHDOG_USEC", "50000"),
    ];
    let flags = [
        "--tls-cert",
        &certificate,
        "--tls-key",
        &key,
        "--no-http3",
        &path,
    ];
    let mut served = Served::with_environment(&variables, &flags);
    let mut watchdog = 0;
    let mut next = || loop {
        let mut bytes = [0; 256];
        let length = manager.recv(&mut bytes).expect("a message");
        let message = String::from_utf8_lossy(&bytes[..length]).into_owned();
        match message.as_str() {
            "WATCHDOG=1" => watchdog += 1,
            _ => break message,
        }
    };
    assert!(next().starts_with("READY=1\n"));
    served.signal(Signal::SIGHUP);
    let reloading = next();
    assert!(
        reloading.starts_with("RELOADING=1\nMONOTONIC_USEC="),
        "{reloading}"
    );
    assert!(next().starts_with("READY=1\n"));
    served.signal(Signal::SIGTERM);
    assert!(next().starts_with("STOPPING=1\n"));
    assert!(watchdog > 0);
    let ended = served.child.wait().expect("it ends");
    assert_eq!(ended.code(), Some(0));
    fs::remove_file(&place).expect("it is there");
}
