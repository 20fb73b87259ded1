//! Flags of `trunkline serve` about its responses.

use crate::served::{Folder, Served};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");

/// A response as it stands on the wire of HTTP/1.1.
fn asked(served: &Served, line: &str, fields: &[&str]) -> (String, Vec<u8>) {
    let address = served.url.trim_start_matches("http://");
    let mut socket = TcpStream::connect(address).expect("it listens");
    let fields: String = fields.iter().map(|field| format!("{field}\r\n")).collect();
    let request =
        format!("{line} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n{fields}\r\n");
    socket.write_all(request.as_bytes()).expect("it reads");
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).expect("it answers");
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    let body = answer.split_off(end.expect("a head") + 4);
    (String::from_utf8_lossy(&answer).into_owned(), body)
}

fn folder(name: &str) -> Folder {
    let folder = Folder::new(name);
    folder.file("index.html", b"<title>app</title>");
    folder.file("app.js", b"1");
    folder
}

#[test]
fn an_application_of_one_page_answers_its_routes_and_no_missing_file() {
    let folder = folder("spa");
    for (flags, status) in [(&["--spa"][..], "200"), (&[], "404")] {
        let path = folder.path();
        let served = Served::start(&[flags, &[path.as_str()]].concat());
        for route in ["GET /a/route", "GET /settings", "HEAD /a/route"] {
            let (head, body) = asked(&served, route, &[]);
            assert!(head.contains(status), "{route}: {head}");
            let is_page = body.starts_with(b"<title>");
            assert_eq!(
                is_page,
                status == "200" && route.starts_with("GET"),
                "{route}"
            );
        }
        for missing in ["GET /missing.js", "GET /../a.b", "GET /.env"] {
            let (head, _) = asked(&served, missing, &[]);
            assert!(head.contains("404"), "{missing}: {head}");
        }
        assert_eq!(asked(&served, "GET /app.js", &[]).1, b"1");
    }
}

#[test]
fn a_client_that_refuses_every_coding_gets_the_status_of_the_site() {
    let folder = folder("no-coding");
    let path = folder.path();
    for flags in [&["--compress", path.as_str()][..], &[path.as_str()]] {
        let served = Served::start(flags);
        for refused in ["*;q=0", "identity;q=0"] {
            let field = format!("accept-encoding: {refused}");
            let status = |line: &str, fields: &[&str]| {
                let (head, _) = asked(&served, line, &[&[field.as_str()], fields].concat());
                head[9..12].to_owned()
            };
            assert_eq!(status("GET /app.js", &[]), "200", "{flags:?} {refused}");
            assert_eq!(status("HEAD /app.js", &[]), "200", "{flags:?} {refused}");
            assert_eq!(status("GET /missing", &[]), "404", "{flags:?} {refused}");
            let range = ["range: bytes=0-2"];
            assert_eq!(status("GET /index.html", &range), "206", "{flags:?}");
        }
    }
}

#[test]
fn pages_of_other_origins_may_read_what_is_served_with_cors_alone() {
    let folder = folder("cors");
    let asks = [
        "origin: https://a.example",
        "access-control-request-method: GET",
    ];
    for (flag, origin) in [
        ("--cors", Some("*")),
        ("--cors=https://a.example", Some("https://a.example")),
        ("--no-listing", None),
    ] {
        let served = Served::start(&[flag, &folder.path()]);
        let allowed = origin.map(|origin| format!("access-control-allow-origin: {origin}"));
        for (line, status) in [("GET /app.js", "200"), ("OPTIONS /app.js", "204")] {
            let (head, _) = asked(&served, line, &asks);
            match &allowed {
                Some(field) => {
                    assert!(head.contains(field.as_str()), "{line}: {head}");
                    assert!(head.contains(status), "{line}: {head}");
                }
                None => assert!(!head.contains("access-control"), "{line}: {head}"),
            }
        }
    }
}

#[test]
fn fields_that_are_named_are_those_of_every_response() {
    let folder = folder("fields");
    let path = folder.path();
    let flags = ["-H", "x-a: 1", "--cache-control", "no-store", &path];
    let served = Served::start(&flags);
    for line in ["GET /", "GET /app.js", "GET /missing"] {
        let (head, _) = asked(&served, line, &[]);
        assert!(head.contains("x-a: 1\r\n"), "{line}: {head}");
        assert!(
            head.contains("cache-control: no-store\r\n"),
            "{line}: {head}"
        );
    }
}

#[test]
fn nothing_is_served_without_the_credentials_that_are_asked_for() {
    let folder = folder("auth");
    let served = Served::start(&["--auth", "me:secret", &folder.path()]);
    let (head, body) = asked(&served, "GET /app.js", &[]);
    assert!(head.contains("401"), "{head}");
    assert!(head.contains("www-authenticate: Basic"), "{head}");
    assert!(!body.starts_with(b"1"));
    let (head, body) = asked(
        &served,
        "GET /app.js",
        &["authorization: Basic bWU6c2VjcmV0"],
    );
    assert!(head.contains("200"), "{head}");
    assert_eq!(body, b"1");
    let output = Command::new(BINARY)
        .args(["serve", "--auth", "me"])
        .output();
    let output = output.expect("the binary starts");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn text_is_compressed_for_clients_that_accept_it_and_with_the_flag_alone() {
    let folder = folder("compressed");
    folder.file("long.txt", &b"many requests, few connections\n".repeat(100));
    let path = folder.path();
    for (flags, compressed) in [(&["--compress"][..], true), (&[], false)] {
        let served = Served::start(&[flags, &[path.as_str()]].concat());
        let (head, body) = asked(&served, "GET /long.txt", &["accept-encoding: gzip"]);
        assert_eq!(
            head.contains("content-encoding: gzip"),
            compressed,
            "{head}"
        );
        assert_eq!(body.len() < 1000, compressed, "{}", body.len());
        let (head, body) = asked(&served, "GET /long.txt", &[]);
        assert!(!head.contains("content-encoding"), "{head}");
        assert!(body.ends_with(b"connections\n"));
    }
}

#[test]
fn the_head_of_what_is_compressed_is_the_same_without_its_content() {
    let folder = folder("compressed-head");
    folder.file("app.css", "a { color: red }\n".repeat(100).as_bytes());
    let path = folder.path();
    let served = Served::start(&["--compress", &path]);
    let fields_of = |line: &str, coding: &str| {
        let (head, body) = asked(&served, line, &[&format!("accept-encoding: {coding}")]);
        // Without content there is no transfer coding either.
        let own = ["date:", "transfer-encoding:"];
        let fields = head
            .lines()
            .filter(|line| !own.iter().any(|name| line.starts_with(name)));
        (fields.map(str::to_owned).collect::<Vec<_>>(), body.len())
    };
    for coding in ["gzip", "identity"] {
        let (of_get, _) = fields_of("GET /app.css", coding);
        let (of_head, length) = fields_of("HEAD /app.css", coding);
        assert_eq!((of_head, length), (of_get, 0), "{coding}");
    }
}

#[test]
fn a_part_of_a_file_is_not_given_behind_a_part_of_what_it_is_compressed_to() {
    let folder = folder("compressed-part");
    folder.file("long.txt", &b"many requests, few connections\n".repeat(100));
    folder.file("made.txt", b"made");
    folder.file("made.txt.gz", b"as if compressed");
    let served = Served::start(&["--compress", &folder.path()]);
    let gzip = "accept-encoding: gzip";
    let tag_of = |line: &str, fields: &[&str]| {
        let (head, _) = asked(&served, line, fields);
        let tag = head.lines().find_map(|line| line.strip_prefix("etag: "));
        tag.map(str::to_owned).expect("a tag")
    };
    let (whole, compressed) = (
        tag_of("GET /long.txt", &[]),
        tag_of("GET /long.txt", &[gzip]),
    );
    assert_eq!(compressed, format!("W/{whole}"));
    let if_range = format!("if-range: {compressed}");
    let (head, _) = asked(
        &served,
        "GET /long.txt",
        &[gzip, "range: bytes=9-", &if_range],
    );
    assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
    let if_none_match = format!("if-none-match: {compressed}");
    let (head, _) = asked(&served, "GET /long.txt", &[gzip, &if_none_match]);
    assert!(head.starts_with("HTTP/1.1 304 "), "{head}");
    // A file that is there compressed has ranges and a tag of its own.
    let made = tag_of("GET /made.txt", &[gzip]);
    assert!(made.starts_with('"'), "{made}");
    let if_range = format!("if-range: {made}");
    let (head, body) = asked(
        &served,
        "GET /made.txt",
        &[gzip, "range: bytes=3-", &if_range],
    );
    assert!(head.starts_with("HTTP/1.1 206 "), "{head}");
    assert_eq!(body, b"if compressed");
}

#[cfg(target_os = "linux")]
#[test]
fn the_program_of_the_system_gets_the_url_to_open() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("open");
    let opened = folder.0.join("opened");
    let made = Command::new("mkfifo").arg(&opened).status();
    assert!(made.expect("mkfifo starts").success());
    let script = format!("#!/bin/sh\necho \"$1\" > {}\n", opened.display());
    let program = folder.file("xdg-open", script.as_bytes());
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(&program, executable).expect("it was made here");
    let served = Served::with_path(&folder.path(), &["--open", &folder.path()]);
    // A named pipe: its reader waits for the script.
    let url = std::fs::read_to_string(&opened).expect("the script writes");
    assert_eq!(url.trim_end(), served.url);
}

#[test]
fn requests_at_the_port_of_redirects_are_sent_to_the_same_url_under_https() {
    let listen = ["--redirect-from", "127.0.0.1:0", "--test-endpoints"];
    let mut served = Served::start(&[&listen[..], &["--tls-self-signed"]].concat());
    let redirects = served.redirects();
    let (_, port) = served.address().rsplit_once(':').expect("a port");
    let mut socket = TcpStream::connect(&redirects).expect("it listens");
    let request = b"POST /a?b=c HTTP/1.1\r\nhost: a.test:80\r\ncontent-length: 1\r\nconnection: close\r\n\r\nx";
    socket.write_all(request).expect("it reads");
    let mut answer = String::new();
    socket.read_to_string(&mut answer).expect("it answers");
    assert!(answer.starts_with("HTTP/1.1 308 "), "{answer}");
    let location = format!("location: https://a.test:{port}/a?b=c\r\n");
    assert!(answer.contains(&location), "{answer}");
    assert_eq!(served.terminate(), Some(0));
}

#[test]
fn redirects_to_https_need_https_on_a_port() {
    let folder = folder("redirects");
    let unix = format!("unix:{}/s.sock", folder.path());
    let file = format!(
        "listen = {unix:?}\nroot = \".\"\nredirect_from = \"127.0.0.1:0\"\n[tls]\nself_signed = true\n"
    );
    let file = folder.file("serve.toml", file.as_bytes());
    for (arguments, expected) in [
        (
            &["--redirect-from", "127.0.0.1:0"][..],
            "--redirect-from needs TLS",
        ),
        (&["--config", &file], "the site is on a Unix socket"),
    ] {
        let output = Command::new(BINARY).arg("serve").args(arguments).output();
        let output = output.expect("the binary starts");
        let printed = String::from_utf8_lossy(&output.stderr);
        assert!(printed.contains(expected), "{printed}");
        assert_eq!(output.status.code(), Some(2), "{printed}");
    }
}
