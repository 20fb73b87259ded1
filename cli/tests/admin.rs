//! The admin page of `trunkline serve`: its state, its buttons, who may press them, and `trunkline top`.

use crate::served::{Folder, Served};
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");
/// Generous: the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);

fn asked(admin: &str, method: &str, path: &str, fields: &[&str]) -> String {
    let mut socket = TcpStream::connect(admin).expect("it listens");
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    let request =
        format!("{method} {path} HTTP/1.1\r\nhost: {admin}\r\nconnection: close\r\n{fields}\r\n");
    socket.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("it answers");
    String::from_utf8_lossy(&answer).into_owned()
}

fn status(answer: &str) -> &str {
    answer.split(' ').nth(1).expect("a status line")
}

fn state(admin: &str) -> serde_json::Value {
    let answer = asked(admin, "GET", "/state.json", &[]);
    let (_, body) = answer.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("it is JSON")
}

/// Reads the state until `expected` holds.
fn until(admin: &str, expected: impl Fn(&serde_json::Value) -> bool) -> serde_json::Value {
    let end = Instant::now() + PATIENCE;
    loop {
        let state = state(admin);
        if expected(&state) {
            return state;
        }
        assert!(Instant::now() < end, "{state:#}");
    }
}

fn top(arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    let output = command.arg("top").args(arguments).output();
    output.expect("the binary starts")
}

#[test]
fn the_page_loads_nothing_from_elsewhere_and_runs_no_text_as_a_script() {
    let mut served = Served::start(&["--test-endpoints", "--admin", "127.0.0.1:0"]);
    let admin = served.admin();
    for (path, kind) in [
        ("/", "text/html; charset=utf-8"),
        ("/page.css", "text/css; charset=utf-8"),
        ("/page.js", "text/javascript; charset=utf-8"),
        ("/state.json", "application/json"),
    ] {
        let answer = asked(&admin, "GET", path, &[]);
        assert_eq!(status(&answer), "200", "{path}");
        for field in [
            &format!("content-type: {kind}\r\n"),
            "cache-control: no-store\r\n",
            "x-content-type-options: nosniff\r\n",
            "cross-origin-resource-policy: same-origin\r\n",
            "content-security-policy: default-src 'none'; ",
            "frame-ancestors 'none'",
        ] {
            assert!(answer.contains(field), "{path} without {field}: {answer}");
        }
    }
    let page = asked(&admin, "GET", "/", &[]);
    assert!(!page.contains("://") && !page.contains("style="), "{page}");
    let script = asked(&admin, "GET", "/page.js", &[]);
    for markup in [
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
    ] {
        assert!(!script.contains(markup), "{markup}");
    }
}

#[test]
fn the_state_names_what_each_exchange_waits_for() {
    let mut served = Served::start(&["--test-endpoints", "--admin", "127.0.0.1:0"]);
    let admin = served.admin();
    let mut socket = TcpStream::connect(served.address()).expect("it listens");
    let request = "GET /delay/60000?a=b HTTP/1.1\r\nhost: a\r\n\r\n";
    socket.write_all(request.as_bytes()).expect("it reads");
    let state = until(&admin, |state| state["waits"]["handler"] == 1);
    assert_eq!(state["kind"], "server");
    let connection = &state["connections"][0];
    let local = socket.local_addr().expect("it is open").to_string();
    assert_eq!(connection["peer"], local.as_str());
    assert_eq!(connection["version"], "1.1");
    let stream = &connection["streams"][0];
    assert_eq!(
        (&stream["method"], &stream["wait"]),
        (&"GET".into(), &"handler".into())
    );
    assert_eq!(stream["target"], "/delay/60000?a=b");
    let url = format!("http://{admin}");
    let output = top(&["--once", &url]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert!(text.contains("waits: handler 1"), "{text}");
    assert!(text.contains("GET /delay/60000?a=b"), "{text}");
}

#[test]
fn explain_prints_the_timeline_of_a_failed_request_by_its_number() {
    let runtime = tokio::runtime::Runtime::new().expect("it starts");
    let _entered = runtime.enter();
    let client = trunkline::Client::new();
    let page = trunkline::admin::Admin::of_client(&client);
    let page = page.listen("127.0.0.1:0").expect("it listens");
    let url = format!("http://{}", page.local_addr());
    let explain = |arguments: &[&str]| {
        let output = Command::new(BINARY)
            .arg("explain")
            .arg(&url)
            .args(arguments)
            .output();
        let output = output.expect("the binary starts");
        let text = [output.stdout, output.stderr].concat();
        (
            output.status.code(),
            String::from_utf8_lossy(&text).into_owned(),
        )
    };
    let (code, text) = explain(&[]);
    assert_eq!(
        (code, text.contains("no request has failed")),
        (Some(0), true),
        "{text}"
    );

    // It has the port and does not listen.
    let taken = tokio::net::TcpSocket::new_v4().expect("a socket");
    taken
        .bind("127.0.0.1:0".parse().expect("an address"))
        .expect("a port");
    let origin = format!("http://{}", taken.local_addr().expect("it is bound"));
    let error = runtime.block_on(async { client.get(&origin).send().await });
    let error = error.expect_err("nothing listens");
    let id = error
        .timeline_id()
        .expect("a page shows the client")
        .to_string();
    assert!(error.to_string().ends_with(&format!("(timeline {id})")));

    assert_eq!(explain(&[&id]), (Some(0), error.timeline()));
    let (code, text) = explain(&[]);
    assert_eq!(code, Some(0), "{text}");
    assert!(
        text.trim_start().starts_with(&id) && text.contains(&origin),
        "{text}"
    );
    let (code, text) = explain(&["18446744073709551615"]);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("has no timeline 18446744073709551615"),
        "{text}"
    );

    let handler = trunkline::service_fn(|_: http::Request<trunkline::Body>| async {
        Ok::<_, std::convert::Infallible>(http::Response::new(trunkline::Body::empty()))
    });
    let running = trunkline::Server::bind("127.0.0.1:0").serve(handler);
    let running = running.expect("it listens");
    let page = trunkline::admin::Admin::of_server(running.inspector());
    let page = page.listen("127.0.0.1:0").expect("it listens");
    let server = format!("http://{}", page.local_addr());
    let output = Command::new(BINARY).args(["explain", &server]).output();
    let output = output.expect("the binary starts");
    let text = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1));
    assert!(text.contains("is the page of a server"), "{text}");
}

#[test]
fn a_page_at_a_unix_socket_is_read_by_its_path() {
    let folder = Folder::new("admin-page-unix");
    let socket = format!(
        "unix:{}",
        folder.path().trim_end_matches('/').to_owned() + "/admin"
    );
    let _served = Served::start(&["--test-endpoints", "--admin", &socket]);
    let output = top(&["--once", &socket]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    assert!(text.starts_with("trunkline server "), "{text}");
}

#[test]
fn live_events_come_again_and_again_for_a_bounded_number_of_readers() {
    let mut served = Served::start(&["--test-endpoints", "--admin", "127.0.0.1:0"]);
    let admin = served.admin();
    let reader = || {
        let mut socket = TcpStream::connect(&admin).expect("it listens");
        let request = format!("GET /events HTTP/1.1\r\nhost: {admin}\r\n\r\n");
        socket.write_all(request.as_bytes()).expect("it reads");
        let mut lines = BufReader::new(socket);
        let mut head = String::new();
        lines.read_line(&mut head).expect("a status line");
        (lines, head)
    };
    let (mut first, head) = reader();
    assert!(head.contains(" 200 "), "{head}");
    let mut events = 0;
    let mut line = Vec::new();
    while events < 2 {
        line.clear();
        assert!(first.read_until(b'\n', &mut line).expect("it goes on") > 0);
        events += usize::from(line.starts_with(b"data: {"));
    }
    let others: Vec<_> = (1..trunkline::admin::LIVE_READERS_MAX)
        .map(|_| reader())
        .collect();
    assert!(others.iter().all(|(_, head)| head.contains(" 200 ")));
    let (_, head) = reader();
    assert!(head.contains(" 503 "), "{head}");
    drop((first, others));
    let end = Instant::now() + PATIENCE;
    while !reader().1.contains(" 200 ") {
        assert!(Instant::now() < end, "places do not come back");
    }
}

#[test]
fn a_button_is_pressed_by_the_page_itself_alone_and_drains_the_server() {
    let mut served = Served::start(&["--test-endpoints", "--admin", "127.0.0.1:0"]);
    let admin = served.admin();
    let state = state(&admin);
    // Without a certificate or a file SIGHUP ends a process: there is no button for it.
    let actions: Vec<_> = state["actions"]
        .as_array()
        .expect("a list")
        .iter()
        .collect();
    assert_eq!(actions.len(), 1, "{actions:?}");
    assert_eq!(actions[0]["name"], "drain");
    let secret = format!(
        "trunkline-page: {}",
        state["page_secret"].as_str().expect("a text")
    );
    for (method, fields, expected) in [
        ("GET", &[secret.as_str()][..], "405"),
        ("POST", &[], "403"),
        ("POST", &["trunkline-page: 0"], "403"),
        ("POST", &[&secret, "origin: http://evil.example"], "403"),
        ("POST", &[&secret, "sec-fetch-site: cross-site"], "403"),
        ("OPTIONS", &["origin: http://evil.example"], "405"),
    ] {
        let answer = asked(&admin, method, "/actions/drain", fields);
        assert_eq!(status(&answer), expected, "{method} {fields:?}");
        assert!(!answer.contains("access-control-allow"), "{answer}");
    }
    assert_eq!(
        status(&asked(&admin, "POST", "/actions/other", &[&secret])),
        "404"
    );
    assert_eq!(
        status(&asked(&admin, "POST", "/state.json", &[&secret])),
        "405"
    );
    let origin = format!("origin: http://{admin}");
    let own = [
        secret.as_str(),
        origin.as_str(),
        "sec-fetch-site: same-origin",
    ];
    assert_eq!(
        status(&asked(&admin, "POST", "/actions/drain", &own)),
        "200"
    );
    assert_eq!(served.ended(), Some(0));
}

#[test]
fn a_token_guards_the_state_and_not_the_empty_page() {
    let folder = Folder::new("admin-page-token");
    let token = folder.file("token", b"0123456789abcdef\n");
    let mode = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&token, mode).expect("it is ours");
    let flags = [
        "--test-endpoints",
        "--admin",
        "127.0.0.1:0",
        "--admin-token-file",
        &token,
    ];
    let mut served = Served::start(&flags);
    let admin = served.admin();
    for (path, expected) in [
        ("/", "200"),
        ("/page.js", "200"),
        ("/state.json", "401"),
        ("/events", "401"),
        ("/metrics", "401"),
    ] {
        assert_eq!(status(&asked(&admin, "GET", path, &[])), expected, "{path}");
    }
    assert_eq!(status(&asked(&admin, "POST", "/actions/drain", &[])), "401");
    let url = format!("http://{admin}");
    let output = top(&["--once", &url]);
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(text.contains("--token-file"), "{text}");
    let output = top(&["--once", "--token-file", &token, &url]);
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn the_level_of_the_log_is_a_choice_of_the_page_and_of_its_addresses() {
    let folder = Folder::new("admin-log-level");
    let log = format!("{}/access.log", folder.path());
    let rest = ["--access-log", &log, "--admin", "127.0.0.1:0"];
    let mut served = Served::start(&[&["--test-endpoints"], &rest[..]].concat());
    let admin = served.admin();
    let chosen = || {
        let state = state(&admin);
        let actions = state["actions"].as_array().expect("a list");
        let chosen = actions.iter().filter(|it| it["chosen"] == true);
        let chosen: Vec<_> = chosen.map(|it| it["name"].to_string()).collect();
        chosen.join(" ")
    };
    let secret = state(&admin)["page_secret"]
        .as_str()
        .expect("a text")
        .to_owned();
    let secret = format!("trunkline-page: {secret}");
    let press = |name: &str, fields: &[&str]| {
        status(&asked(&admin, "POST", &format!("/actions/{name}"), fields)).to_owned()
    };
    assert_eq!(chosen(), "\"log-all\"");
    assert_eq!(press("log-off", &[]), "403");
    assert_eq!(
        press("log-off", &[&secret, "origin: http://evil.example"]),
        "403"
    );
    assert_eq!(chosen(), "\"log-all\"");
    let site = served.address().to_owned();
    for (level, path) in [
        ("log-all", "/status/200"),
        ("log-errors", "/status/404"),
        ("log-errors", "/status/503"),
        ("log-off", "/status/500"),
        ("log-all", "/status/201"),
    ] {
        assert_eq!(press(level, &[&secret]), "200");
        assert_eq!(chosen(), format!("\"{level}\""));
        asked(&site, "GET", path, &[]);
    }
    assert_eq!(served.terminate(), Some(0));
    let lines = std::fs::read_to_string(&log).expect("it was written");
    let statuses: Vec<_> = lines
        .lines()
        .filter_map(|line| line.split("/status/").nth(1)?.get(..3))
        .collect();
    assert_eq!(statuses, ["200", "503", "201"], "{lines}");
}

#[test]
fn explain_prints_the_timeline_of_a_request_as_the_server_saw_it() {
    let folder = Folder::new("admin-server-timelines");
    let log = folder.path() + "/access.log";
    let text = format!(
        "test_endpoints = true\nlisten = \"127.0.0.1:0\"\n[admin]\naddress = \"127.0.0.1:0\"\nslow = \"1ms\"\n\
         [log]\naccess = \"{log}\"\nformat = \"json\"\nfields = [\"target\", \"timeline\"]\n"
    );
    let file = folder.file("serve.toml", text.as_bytes());
    let mut command = Command::new(BINARY);
    command.args(["serve", "--config", &file]);
    let mut served = Served::run(command);
    let url = format!("http://{}", served.admin());
    let explain = |rest: &[&str]| {
        let mut command = Command::new(BINARY);
        let output = command
            .args(["explain", &url])
            .args(rest)
            .output()
            .expect("the binary starts");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
        )
    };
    let none = "no request has failed or was slow since the page is there\n";
    assert_eq!(explain(&[]), (Some(0), none.to_owned()));
    asked(served.address(), "GET", "/status/200", &[]);
    asked(served.address(), "GET", "/delay/30", &[]);
    asked(served.address(), "GET", "/status/503", &[]);
    let (code, lines) = explain(&[]);
    let lines: Vec<_> = lines
        .lines()
        .filter(|line| !line.contains("/status/200"))
        .collect();
    assert_eq!((code, lines.len()), (Some(0), 2), "{lines:?}");
    // The latest first.
    assert!(
        lines[0].contains("GET /status/503 over HTTP/1.1 from 127.0.0.1:"),
        "{lines:?}"
    );
    assert!(
        lines[0].contains(": it was answered with 503 (timeline "),
        "{lines:?}"
    );
    assert!(
        lines[1].contains("GET /delay/30 over HTTP/1.1 from 127.0.0.1:"),
        "{lines:?}"
    );
    let id = lines[1].split_whitespace().next().expect("a number");
    let (code, timeline) = explain(&[id]);
    assert_eq!(code, Some(0), "{timeline}");
    for part in [
        "waits: the handler has not answered\n",
        "answered with 200\n",
        "ends: ",
    ] {
        assert!(timeline.contains(part), "{part}: {timeline}");
    }
    assert_eq!(explain(&["999999"]).0, Some(1));
    assert_eq!(served.terminate(), Some(0));
    let logged = std::fs::read_to_string(log).expect("written");
    let line = format!("{{\"target\":\"/delay/30\",\"timeline\":{id}}}\n");
    assert!(logged.contains(&line), "{line}: {logged}");
}
