//! `trunkline get` against scripted servers: what it sends, what it writes, and how it ends.

use crate::scripted::{BINARY, Scripted, answer, get, text};
use std::io::{Read, Write};
use std::process::{Command, Stdio};

fn zipped(text: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    writer.write_all(text).expect("to memory");
    writer.finish().expect("to memory")
}

/// The head of the request that `get` sends with these flags.
fn asked(flags: &[&str]) -> String {
    let server = Scripted::new(vec![answer("200 OK\r\ncontent-length: 0", b"")]);
    let url = server.url();
    let output = get(&[flags, &[url.as_str()]].concat());
    assert!(
        output.status.success(),
        "{flags:?}: {}",
        text(&output.stderr)
    );
    server.heads().remove(0)
}

#[test]
fn flags_of_curl_set_what_they_set_there() {
    const FORM: &str = "content-type: application/x-www-form-urlencoded";
    for (flags, expected) in [
        (&["-I"][..], &["HEAD / HTTP/1.1"][..]),
        (&["-u", "me:secret"], &["authorization: Basic bWU6c2VjcmV0"]),
        (&["-A", "me/1"], &["user-agent: me/1"]),
        (&["-b", "a=1; b=2"], &["cookie: a=1; b=2"]),
        (&["-d", "a=1"], &["POST /", "content-length: 3", FORM]),
        (&["-d", "a=1", "-d", "b=2"], &["content-length: 7", FORM]),
        (
            &["-d", "x", "-H", "content-type: text/plain"],
            &["content-type: text/plain"],
        ),
        (
            &["--json", "{}"],
            &[
                "POST /",
                "content-type: application/json",
                "accept: application/json",
            ],
        ),
        (&["-X", "PUT", "--json", "{}"], &["PUT /"]),
    ] {
        let head = asked(flags);
        for line in expected {
            assert!(
                head.contains(line),
                "{flags:?}: {line} is missing in {head}"
            );
        }
        let types = head.matches("content-type").count();
        assert!(types <= 1, "{flags:?}: {head}");
    }
}

#[test]
fn the_head_alone_is_written_for_a_head_request() {
    let server = Scripted::new(vec![answer("200 OK\r\ncontent-length: 5", b"")]);
    let output = get(&["-I", &server.url()]);
    assert_eq!(output.status.code(), Some(0));
    let written = text(&output.stdout);
    assert!(written.starts_with("HTTP/1.1 200 OK"), "{written}");
    assert!(written.contains("content-length: 5"), "{written}");
}

#[test]
fn a_file_is_named_as_the_url_and_a_url_without_a_name_is_refused() {
    let folder = std::env::temp_dir().join(format!("trunkline-get-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let server = Scripted::new(vec![answer("200 OK\r\ncontent-length: 5", b"hello")]);
    let url = format!("{}a/b.txt?c=d/e", server.url());
    let mut command = Command::new(BINARY);
    command.args(["get", "--noproxy", "*", "-O", &url]);
    let output = command.current_dir(&folder).output().expect("it starts");
    assert!(output.status.success(), "{}", text(&output.stderr));
    let written = std::fs::read(folder.join("b.txt")).expect("the file is there");
    assert_eq!(written, b"hello");
    std::fs::remove_dir_all(&folder).expect("it was made here");
    let refused = get(&["-O", "http://127.0.0.1:9/folder/"]);
    assert_eq!(refused.status.code(), Some(23));
    assert!(text(&refused.stderr).contains("use -o FILE"));
}

#[test]
fn a_certificate_of_ours_that_cannot_be_read_is_refused_by_its_name() {
    let refused = get(&["--cert", "/nowhere.pem", "https://127.0.0.1:9/"]);
    assert_eq!(refused.status.code(), Some(58));
    let printed = text(&refused.stderr);
    assert!(printed.contains("/nowhere.pem"), "{printed}");
}

#[test]
fn a_failure_says_why_and_which_section_of_the_guide_is_about_it() {
    let output = get(&["http://127.0.0.1:9/"]);
    let printed = text(&output.stderr);
    let section = "(see docs/guide/how-to/troubleshooting.md#rust-connect)\n";
    assert!(printed.ends_with(section), "{printed}");
    assert_eq!(printed.lines().count(), 1, "{printed}");
}

#[test]
fn with_silent_a_failure_says_nothing_and_has_its_code() {
    let output = get(&["-s", "http://127.0.0.1:9/"]);
    assert_eq!(output.status.code(), Some(7));
    assert_eq!(text(&output.stderr), "");
}

/// CVE-2024-30260, CVE-2018-1000007.
#[test]
fn credentials_stay_at_their_origin_when_a_redirect_leads_to_another() {
    let secrets = [
        "-H",
        "authorization: a-secret",
        "-H",
        "proxy-authorization: a-secret",
        "-H",
        "cookie: a-secret",
        "-H",
        "x-api-key: a-secret",
        "-H",
        "x-plain: no-secret",
    ];
    for stays in [true, false] {
        let other = Scripted::new(vec![answer("200 OK\r\ncontent-length: 2", b"ok")]);
        let lead = |to: &str| {
            answer(
                &format!("302 Found\r\nlocation: {to}\r\ncontent-length: 0"),
                b"",
            )
        };
        let (from, expected) = match stays {
            true => {
                let second = answer("200 OK\r\ncontent-length: 2", b"ok");
                (Scripted::new(vec![lead("/elsewhere"), second]), 2)
            }
            false => (Scripted::new(vec![lead(&other.url())]), 1),
        };
        let url = from.url();
        let output = get(&[&["-L", &url], &secrets[..]].concat());
        assert_eq!(text(&output.stdout), "ok", "{}", text(&output.stderr));
        let heads = from.heads();
        assert_eq!(heads.len(), expected);
        assert!(
            heads
                .iter()
                .all(|head| head.matches("a-secret").count() == 4)
        );
        if !stays {
            let head = other.heads().remove(0);
            assert!(!head.contains("a-secret"), "{head}");
            assert!(head.contains("x-plain: no-secret"), "{head}");
        }
    }
}

/// RFC 9110 section 8.4: the coding is of the representation, which such an answer does not carry.
#[test]
fn a_compressed_answer_without_a_body_is_whole() {
    for (arguments, fields) in [
        (
            &["-X", "HEAD"][..],
            "200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 70",
        ),
        (&[], "204 No Content\r\ncontent-encoding: gzip"),
        (&[], "304 Not Modified\r\ncontent-encoding: gzip"),
        (&[], "200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 0"),
    ] {
        let server = Scripted::new(vec![answer(fields, b"")]);
        let url = server.url();
        let output = get(&[arguments, &["--compressed", &url]].concat());
        assert_eq!(
            output.status.code(),
            Some(0),
            "{fields} {}",
            text(&output.stderr)
        );
        assert!(output.stdout.is_empty());
        server.heads();
    }
}

#[test]
fn a_range_is_asked_for_without_compression_and_a_compressed_part_is_refused_with_what_helps() {
    let part = "206 Partial Content\r\ncontent-range: bytes 0-3/9\r\ncontent-length: 4";
    let server = Scripted::new(vec![answer(part, b"part")]);
    let output = get(&["--compressed", "-H", "range: bytes=0-3", &server.url()]);
    assert_eq!(text(&output.stdout), "part", "{}", text(&output.stderr));
    let head = server.heads().remove(0);
    assert!(!head.contains("accept-encoding"), "{head}");
    let compressed = format!("{part}\r\ncontent-encoding: gzip");
    let server = Scripted::new(vec![answer(&compressed, b"part")]);
    let output = get(&["--compressed", "-H", "range: bytes=0-3", &server.url()]);
    assert_eq!(output.status.code(), Some(61));
    assert!(
        text(&output.stderr).contains("--raw"),
        "{}",
        text(&output.stderr)
    );
    server.heads();
}

/// As curl has them: what compression saves is seen by these.
#[test]
fn the_size_of_a_compressed_body_is_that_of_its_bytes_as_they_came() {
    let body = zipped(&"a".repeat(1000).into_bytes());
    let fields = format!(
        "200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {}",
        body.len()
    );
    for (flags, written) in [(&["--compressed"][..], 1000), (&[], body.len())] {
        let server = Scripted::new(vec![answer(&fields, &body)]);
        let url = server.url();
        let format = ["-w", "%{stderr}%{size_download}"];
        let output = get(&[flags, &format, &[url.as_str()]].concat());
        assert_eq!(text(&output.stderr), body.len().to_string(), "{flags:?}");
        assert_eq!(output.stdout.len(), written, "{flags:?}");
    }
}

#[test]
fn a_body_of_the_coding_none_has_no_coding() {
    let server = Scripted::new(vec![answer(
        "200 OK\r\ncontent-encoding: none\r\ncontent-length: 2",
        b"hi",
    )]);
    let output = get(&["--compressed", &server.url()]);
    assert_eq!(
        (text(&output.stdout).as_str(), output.status.code()),
        ("hi", Some(0))
    );
}

#[test]
fn a_compressed_body_that_is_cut_off_fails() {
    let whole = zipped(b"many requests, few connections");
    let cut = &whole[..whole.len() - 9];
    let length = cut.len();
    let fields = format!("200 OK\r\ncontent-encoding: gzip\r\ncontent-length: {length}");
    let server = Scripted::new(vec![answer(&fields, cut)]);
    let output = get(&["--compressed", &server.url()]);
    assert_eq!(output.status.code(), Some(61), "{}", text(&output.stderr));
    server.heads();
}

/// As `cat FILE | head`: nothing is said, and the shell sees 128 and the number of SIGPIPE.
#[test]
fn a_reader_that_has_enough_ends_it_without_a_word() {
    let body = vec![b'x'; 4 * 1024 * 1024];
    let fields = format!("200 OK\r\ncontent-length: {}", body.len());
    let server = Scripted::new(vec![answer(&fields, &body)]);
    let mut command = Command::new(BINARY);
    command.args(["get", "--noproxy", "*", &server.url()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    let mut stdout = child.stdout.take().expect("it is piped");
    stdout.read_exact(&mut [0; 10]).expect("it writes");
    drop(stdout);
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(141));
    assert_eq!(text(&output.stderr), "");
    server.heads();
}

#[test]
fn what_is_said_beside_the_work_is_no_reason_to_end_it() {
    let server = Scripted::new(vec![answer("200 OK\r\ncontent-length: 2", b"ok")]);
    let mut command = Command::new(BINARY);
    command.args(["get", "--noproxy", "*", "-v", &server.url()]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the binary starts");
    drop(child.stderr.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(text(&output.stdout), "ok");
    server.heads();
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said_and_is_no_fault_of_the_command_line() {
    let server = Scripted::new(vec![answer("200 OK\r\ncontent-length: 2", b"ok")]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let full = full.expect("Linux has it");
    let mut command = Command::new(BINARY);
    command.args(["get", "--noproxy", "*", &server.url()]);
    let output = command.stdout(full).stderr(Stdio::piped()).spawn();
    let output = output.expect("the binary starts").wait_with_output();
    let output = output.expect("it ends");
    let printed = text(&output.stderr);
    assert_eq!(output.status.code(), Some(23), "{printed}");
    assert!(
        printed.contains("standard output cannot be written"),
        "{printed}"
    );
    server.heads();
}
