//! Flags of `trunkline bench`.

use crate::served::{Folder, Served};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

const BINARY: &str = env!("CARGO_BIN_EXE_trunkline");

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(BINARY);
    command.arg("bench").args(arguments).stdin(Stdio::null());
    command.output().expect("the binary starts")
}

#[track_caller]
fn json(arguments: &[&str]) -> Value {
    let output = bench(&[arguments, &["--json"]].concat());
    let printed = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {printed}");
    serde_json::from_slice(&output.stdout).expect("JSON and nothing else")
}

#[test]
fn a_run_of_a_duration_counts_what_it_has_sent_and_fails_nothing() {
    let served = Served::start(&["--test-endpoints"]);
    let url = served.url("/bytes/1");
    for version in ["--http1.1", "--http2"] {
        let flags = ["-z", "100ms", "-c", "2", "-m", "3", version, url.as_str()];
        let result = json(&flags);
        let answered = result["answered"].as_u64().expect("a number");
        assert!(answered > 0, "{result}");
        assert_eq!(result["body_bytes"], answered, "{result}");
        assert_eq!(result["failed"], serde_json::json!({}), "{result}");
        assert_eq!(result["requests"], Value::Null);
        assert_eq!(result["duration_s"], 0.1);
    }
    let result = json(&["-z", "1s", "--rate", "10", &url]);
    assert_eq!(result["duration_s"], 1.0);
    for time in ["0s", "0ms", "1x", "s", "ms", "25h"] {
        assert_eq!(bench(&["-z", time, &url]).status.code(), Some(2), "{time}");
    }
    let both = bench(&["-z", "1", "-n", "5", &url]);
    assert_eq!(both.status.code(), Some(2));
}

#[test]
fn the_requests_of_the_warm_up_are_not_counted() {
    let served = Served::start(&["--test-endpoints"]);
    let url = served.url("/bytes/1");
    let result = json(&[
        "--warm-up",
        "100ms",
        "-n",
        "200",
        "-m",
        "7",
        "--http2",
        &url,
    ]);
    assert_eq!(result["answered"], 200, "{result}");
    assert_eq!(result["failed"], serde_json::json!({}), "{result}");
}

/// A server of HTTP/1.1 that answers the requests of its first connection, which come two at a time, once its second has
/// ended: behind a warm-up. Those of the others are answered at once, with one byte. Gives its URL.
fn late(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        let (ended, end) = std::sync::mpsc::channel();
        let mut end = Some(end);
        for socket in listener.incoming().flatten() {
            let (ended, end) = (ended.clone(), end.take());
            thread::spawn(move || {
                let mut reader = BufReader::new(&socket);
                while head(&mut reader).is_some() {
                    let Some(end) = &end else {
                        let _ =
                            (&socket).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx");
                        continue;
                    };
                    let _ = (head(&mut reader), end.recv());
                    let _ = (&socket).write_all(answer);
                    return;
                }
                let _ = ended.send(());
            });
        }
    });
    url
}

/// They end behind it: in a failure, with a body, or as ones that the server has not processed.
#[test]
fn what_the_warm_up_leaves_under_way_is_not_counted() {
    for answer in [
        &b""[..],
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n123456789",
        b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\nconnection: close\r\n\r\n123456789",
    ] {
        let url = late(answer);
        let flags = ["--warm-up", "100ms", "-n", "30", "-c", "2", "-m", "2"];
        let result = json(&[&flags[..], &["--http1.1", &url]].concat());
        assert_eq!(result["answered"], 30, "{result}");
        assert_eq!(result["failed"], serde_json::json!({}), "{result}");
        assert_eq!(result["body_bytes"], 30, "{result}");
    }
}

#[test]
fn a_status_beyond_the_classes_of_http_counts_as_another() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let mut reader = BufReader::new(&socket);
            while head(&mut reader).is_some() {
                let _ = (&socket).write_all(b"HTTP/1.1 799 X\r\ncontent-length: 0\r\n\r\n");
            }
        }
    });
    let result = json(&["-n", "3", "--http1.1", &url]);
    assert_eq!(result["statuses"]["other"], 3, "{result}");
    assert_eq!(result["statuses"]["5xx"], 0, "{result}");
    let table = bench(&["-n", "3", "--http1.1", &url]);
    let printed = String::from_utf8_lossy(&table.stdout).into_owned();
    assert!(printed.contains("7xx"), "{printed}");
}

/// Reads a request up to its blank line; `None`: the connection ended.
fn head(reader: &mut BufReader<&TcpStream>) -> Option<String> {
    let mut head = String::new();
    while reader.read_line(&mut head).ok()? > 0 {
        if head.ends_with("\r\n\r\n") {
            return Some(head);
        }
    }
    None
}

/// A server of HTTP/1.1 that ends its connections, on a thread: `answers` requests of each are answered, by the number of the
/// connection. Gives its URL and the heads that it gets, of each connection.
fn ending(answers: fn(usize) -> usize) -> (String, Arc<Mutex<Vec<Vec<String>>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/", listener.local_addr().expect("bound"));
    let heads = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&heads);
    thread::spawn(move || {
        for (number, socket) in listener.incoming().flatten().enumerate() {
            let mut reader = BufReader::new(&socket);
            seen.lock().expect("not poisoned").push(Vec::new());
            while let Some(head) = head(&mut reader) {
                let mut seen = seen.lock().expect("not poisoned");
                let heads = seen.last_mut().expect("pushed");
                // The next one gets no answer.
                if heads.len() == answers(number) {
                    break;
                }
                heads.push(head);
                let _ = (&socket).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
            }
        }
    });
    (url, heads)
}

#[test]
fn a_connection_that_fails_is_followed_by_another_and_its_request_counts_as_failed() {
    let (url, _) = ending(|number| if number % 3 == 1 { 0 } else { 4 });
    let output = bench(&["-n", "20", "--http1.1", "--json", "-", &url]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    let failed = result["failed"].as_object().expect("reasons");
    let failed: u64 = failed.values().filter_map(Value::as_u64).sum();
    let answered = result["answered"].as_u64().expect("a number");
    assert_eq!(answered + failed, 20, "{result}");
    // Four or five of the 20 came to a connection behind its last answer.
    assert!((15..=16).contains(&answered), "{result}");
    // A server that answers none gets a few connections.
    let (url, heads) = ending(|_| 0);
    let output = bench(&["-n", "20", "--http1.1", "--json", "-", &url]);
    let result: Value = serde_json::from_slice(&output.stdout).expect("JSON and nothing else");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(result["answered"], 0, "{result}");
    assert!(heads.lock().expect("not poisoned").len() < 10);
}

#[test]
fn a_host_and_fields_of_the_connection_are_sent_as_they_are_given() {
    let (url, heads) = ending(|_| 9);
    let flags = ["-H", "Host: site.test:81", "-H", "connection: close"];
    let flags = [&flags[..], &["-n", "2", "--http1.1", "--json", "-", &url]].concat();
    let output = bench(&flags);
    assert!(output.status.success(), "{output:?}");
    let heads = heads.lock().expect("not poisoned").concat();
    assert_eq!(heads.len(), 2);
    for head in heads {
        assert!(head.contains("\r\nhost: site.test:81\r\n"), "{head}");
        assert!(head.contains("\r\nconnection: close\r\n"), "{head}");
        assert_eq!(head.to_lowercase().matches("host:").count(), 1, "{head}");
    }
    let refused = bench(&["-H", "connection: close", "--http2", &url]);
    let printed = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(2));
    assert!(printed.contains("--http1.1"), "{printed}");
}

#[cfg(unix)]
#[test]
fn a_server_behind_a_unix_socket_is_measured() {
    let folder = Folder::new("bench-unix");
    let path = format!("{}/socket", folder.path());
    let listener = std::os::unix::net::UnixListener::bind(&path).expect("a socket");
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let mut lines = BufReader::new(&socket).lines();
            while let Some(Ok(line)) = lines.next() {
                if line.is_empty() {
                    let _ = (&socket).write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx");
                }
            }
        }
    });
    let url = "http://site.test/";
    let result = json(&[
        "--unix-socket",
        &path,
        "-n",
        "9",
        "-c",
        "3",
        "--http1.1",
        url,
    ]);
    assert_eq!(result["answered"], 9, "{result}");
    assert_eq!(result["body_bytes"], 9, "{result}");
}

#[test]
fn a_method_and_a_body_out_of_a_file_are_sent() {
    let served = Served::start(&["--test-endpoints"]);
    let folder = Folder::new("bench-body");
    let file = folder.file("body", &[b'x'; 321]);
    let data = format!("@{file}");
    for (flags, bytes) in [
        (&["-d", data.as_str()][..], 3210),
        (&["-X", "PUT", "-d", &data], 3210),
        (&["-X", "HEAD"], 0),
    ] {
        let url = served.url("/echo");
        let result = json(&[flags, &["-n", "10", &url]].concat());
        assert_eq!(result["answered"], 10, "{flags:?} {result}");
        assert_eq!(result["body_bytes"], bytes, "{flags:?} {result}");
    }
    for (flags, word) in [
        (&["-d", "@/nowhere/body"][..], "/nowhere/body"),
        (&["-X", "NO METHOD"], "NO METHOD"),
        (&["--cacert", "/nowhere/ca.pem"], "/nowhere/ca.pem"),
        (&["--cert", "/nowhere/me.pem"], "/nowhere/me.pem"),
        (&["--compare", "/nowhere/run.json"], "/nowhere/run.json"),
    ] {
        let output = bench(&[flags, &["http://127.0.0.1:9/"]].concat());
        let printed = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{flags:?}: {printed}");
        assert!(printed.contains(word), "{flags:?}: {printed}");
    }
}

#[test]
fn a_server_is_believed_by_the_certificates_of_a_file_alone() {
    let folder = Folder::new("bench-ca");
    let signed = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).expect("a key");
    let certificate = folder.file("ca.pem", signed.cert.pem().as_bytes());
    let key = folder.file("key.pem", signed.signing_key.serialize_pem().as_bytes());
    let flags = [
        "--test-endpoints",
        "--tls-cert",
        &certificate,
        "--tls-key",
        &key,
    ];
    let served = Served::start(&flags);
    let url = served.url("/bytes/1").replace("127.0.0.1", "localhost");
    let result = json(&["--cacert", &certificate, "-n", "10", &url]);
    assert_eq!(result["answered"], 10, "{result}");
    let refused = bench(&["-n", "10", &url]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn two_runs_stand_beside_each_other_in_the_table_and_in_the_page() {
    let served = Served::start(&["--test-endpoints"]);
    let folder = Folder::new("bench-compare");
    let (before, page) = (
        folder.file("before.json", b""),
        folder.file("page.html", b""),
    );
    let url = served.url("/bytes/1");
    let flags = ["-n", "100", "--json", &before, &url];
    assert!(bench(&flags).status.success());
    let output = bench(&["-n", "100", "--compare", &before, "--html", &page, &url]);
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{printed}");
    for line in [
        "compared",
        "before",
        "mean",
        "deviation",
        "first byte",
        "connecting",
    ] {
        assert!(printed.contains(line), "{line} is missing in {printed}");
    }
    assert!(printed.contains('#'), "no bar in {printed}");
    let page = std::fs::read_to_string(page).expect("it was written");
    assert_eq!(page.matches("<polyline").count(), 2, "{page}");
    assert!(page.contains("compared"), "{page}");
    let other = folder.file("other.json", b"{}");
    let refused = bench(&["--compare", &other, &url]);
    assert_eq!(refused.status.code(), Some(2));
}
