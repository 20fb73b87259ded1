//! The annotated messages of llhttp as an oracle for strict reading: whether a message is taken or
//! refused, how many heads there are, and how long their bodies. Every case also runs byte by
//! byte. Where we differ, the case stands in [`DIFFERENCES`] with the reason.

#![allow(
    clippy::unwrap_used,
    reason = "a corpus that cannot be read fails its test"
)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::error::Closed;
use trunkline_core::h1::Conn;
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};
use trunkline_core::limits::Config;

/// A reader's result for a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Verdict {
    refused: bool,
    heads: usize,
    body_bytes: usize,
}

struct Case {
    /// File and heading.
    name: String,
    side: Side,
    /// The response is one to HEAD.
    skip_body: bool,
    input: Vec<u8>,
    theirs: Verdict,
}

/// Cases where our answer is another one, each with the reason.
const DIFFERENCES: &[(&str, &str)] = &[
    (
        "request/connection: No restart when keep-alive is off (1.0) #1",
        BEHIND_CLOSE,
    ),
    (
        "request/connection: CRLF between requests, explicit `close` #1",
        BEHIND_CLOSE,
    ),
    (
        "request/connection: CRLF between requests, explicit `close` followed by tab #1",
        BEHIND_CLOSE,
    ),
    (
        "request/content-length: Content-Length reset when no body is received #1",
        "the case tells its reader to skip a request body; the body is what content-length says",
    ),
    (
        "request/invalid: HTTP protocol and ANNOUNCE method #1",
        ANY_METHOD,
    ),
    ("request/invalid: Invalid method #1", ANY_METHOD),
    (
        "request/method: CONNECT with body #1",
        "a CONNECT with a body is refused: its bytes may be the tunnel's (RFC 9110 section 9.3.6)",
    ),
    (
        "request/method: M-SEARCH request #1",
        "the asterisk-form belongs to OPTIONS alone (RFC 9112 section 3.2.4)",
    ),
    ("request/method: SOURCE request with ICE #1", OTHER_PROTOCOL),
    (
        "request/method: OPTIONS request with RTSP #1",
        OTHER_PROTOCOL,
    ),
    (
        "request/method: ANNOUNCE request with RTSP #1",
        OTHER_PROTOCOL,
    ),
    (
        "request/method: PRI request HTTP2 #1",
        "the preface of HTTP/2 is told apart before this machine sees it",
    ),
    (
        "request/sample: No HTTP version #1",
        "HTTP/0.9 is not spoken",
    ),
    (
        "request/transfer-encoding: POST with `chunked` as last transfer-encoding #1",
        ONE_CODING,
    ),
    (
        "request/transfer-encoding: POST with `chunked` as last transfer-encoding (multiple headers) #1",
        ONE_CODING,
    ),
    (
        "request/uri: Fragment in URI #1",
        "a target has no fragment (RFC 9110 section 7.1)",
    ),
    (
        "request/uri: `host:port` and basic auth #1",
        "user information in an http URI is refused (RFC 9110 section 4.2.4)",
    ),
    (
        "response/connection: HTTP/1.1 with keep-alive disabled and 204 status #1",
        BEHIND_CLOSE,
    ),
    (
        "response/connection: HTTP/1.1 with keep-alive disabled, content-length #1",
        BEHIND_CLOSE,
    ),
    ("response/sample: RTSP response #1", OTHER_PROTOCOL),
    ("response/sample: ICE response #1", OTHER_PROTOCOL),
    ("response/sample: HTTP version 0.9 #1", TWO_VERSIONS),
    (
        "response/transfer-encoding: `chunked` before other transfer-encoding #1",
        CHUNKED_LAST,
    ),
    (
        "response/transfer-encoding: multiple transfer-encoding where chunked is not the last one #1",
        CHUNKED_LAST,
    ),
];

const BEHIND_CLOSE: &str = "what comes behind a message that closes the connection is ignored, not \
    an error: it is never read as a message";
const ANY_METHOD: &str = "every token is a method (RFC 9110 section 9.1); which exist is the \
    application's question";
const OTHER_PROTOCOL: &str = "RTSP and ICE are other protocols";
const ONE_CODING: &str = "no transfer coding but chunked is spoken (RFC 9112 section 6.1: 501), and \
    the target has a fragment";
const TWO_VERSIONS: &str = "versions other than 1.0 and 1.1 are refused";
const CHUNKED_LAST: &str = "chunked before another coding is refused rather than read until the \
    connection closes: other recipients take it for chunked";

#[test]
fn we_take_and_refuse_what_a_strict_reader_does() {
    let cases = cases();
    let mut found = Vec::new();
    for case in &cases {
        let mut ours = read(case, &case.input, case.input.len().max(1));
        let slowly = read(case, &case.input, 1);
        assert_eq!(slowly, ours, "{}: byte by byte", case.name);
        if case.theirs.refused && !ours.refused {
            // Many cases stop at the wrong byte; we judge a head when it is all there.
            let whole = [&case.input[..], b"\r\n\r\n"].concat();
            ours.refused = read(case, &whole, 1).refused;
        }
        // The events before a refusal depend on when it is noticed.
        let same = ours == case.theirs || (ours.refused && case.theirs.refused);
        if !same {
            println!("{}: ours {ours:?}, theirs {:?}", case.name, case.theirs);
            found.push(case.name.as_str());
        }
    }
    if !cases.is_empty() {
        println!("{} cases, {} differ", cases.len(), found.len());
        let listed: Vec<_> = DIFFERENCES.iter().map(|(name, _)| *name).collect();
        for (name, reason) in DIFFERENCES {
            println!("{name}: {reason}");
        }
        assert_eq!(
            found, listed,
            "the list is exact, and in the order of the cases"
        );
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "any instant will do as the start of virtual time"
)]
fn read(case: &Case, input: &[u8], piece: usize) -> Verdict {
    let now = Instant::now();
    let mut config = Config::default();
    config.limits.pipelining = 8;
    let mut conn = Conn::new(case.side, Arc::new(config), now);
    if case.side == Side::Client {
        for _ in 0..=case.theirs.heads {
            // Behind a request for a switch nothing is sent.
            if conn.capacity() > 0 {
                conn.open(now, &request(case), true).unwrap();
            }
        }
        let written = conn.poll_write(now).len();
        conn.poll_write(now).advance(written);
    }
    let mut ours = Verdict::default();
    for piece in input.chunks(piece) {
        conn.handle_bytes(now, piece);
        while let Some(event) = conn.poll_event() {
            note(&mut conn, now, event, &mut ours);
        }
    }
    ours
}

/// The request that a response of the corpus answers.
fn request(case: &Case) -> RequestHead {
    let method = if case.skip_body { "HEAD" } else { "GET" };
    let mut fields = Fields::new();
    fields.push(Token::METHOD, method.as_bytes());
    fields.push(Token::PATH, b"/");
    fields.push(Token::HOST, b"a.test");
    if case.input.starts_with(b"HTTP/1.1 101") {
        fields.push(Token::CONNECTION, b"upgrade");
        fields.push(Token::UPGRADE, b"any");
    }
    RequestHead::from_fields(fields, Version::Http11).unwrap()
}

fn note(conn: &mut Conn, now: Instant, event: Event, ours: &mut Verdict) {
    match event {
        Event::RequestReceived { stream, end, .. } => {
            ours.heads += 1;
            if end {
                answer(conn, now, stream);
            }
        }
        Event::BodyReceived { stream, data, end } => {
            ours.body_bytes += data.len();
            conn.consume(now, stream, data.len());
            if end {
                answer(conn, now, stream);
            }
        }
        Event::TrailersReceived { stream, .. } => answer(conn, now, stream),
        Event::ResponseReceived { .. } | Event::InterimReceived { .. } => ours.heads += 1,
        Event::Closed(Closed::ByUs(violation)) => {
            println!("    {violation}");
            ours.refused = true;
        }
        _ => {}
    }
}

fn answer(conn: &mut Conn, now: Instant, stream: StreamId) {
    let head = ResponseHead::new(200, Fields::new(), Version::Http11).unwrap();
    // On a client, and when the machine is done, there is nothing to answer.
    let _ = conn.respond(now, stream, &head, true);
}

#[expect(
    clippy::disallowed_methods,
    reason = "a test finds its data where the environment says"
)]
fn corpus() -> PathBuf {
    let project = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("..");
    let configured = std::env::var("TRUNKLINE_CORPORA").map(PathBuf::from);
    configured
        .unwrap_or_else(|_| project.join("../shared/corpora"))
        .join("llhttp/test")
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    for (folder, side) in [("request", Side::Server), ("response", Side::Client)] {
        let path = corpus().join(folder);
        if !path.is_dir() {
            eprintln!("skipped, data missing: {}", path.display());
            continue;
        }
        let mut files: Vec<PathBuf> = std::fs::read_dir(path)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let name = format!("{folder}/{}", file.file_stem().unwrap().to_string_lossy());
            cases.extend(cases_of(
                &name,
                side,
                &std::fs::read_to_string(&file).unwrap(),
            ));
        }
    }
    cases
}

/// The cases of one file: a heading, a comment with the kind of reader, the bytes, the log.
fn cases_of(file: &str, side: Side, text: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let (mut heading, mut meta, mut block) = (String::new(), String::new(), None);
    let mut kind = "";
    for line in text.lines() {
        if let Some(lines) = &mut block {
            if line != "```" {
                *lines = format!("{lines}{line}\n");
                continue;
            }
            let lines = block.take().unwrap();
            if kind == "log" {
                if let Some(case) = cases.last_mut().filter(|_| is_strict(&meta)) {
                    case.theirs = verdict(&lines);
                }
            } else if is_strict(&meta) {
                let count = seen.entry(heading.clone()).or_default();
                *count += 1;
                cases.push(Case {
                    name: format!("{file}: {heading} #{count}"),
                    side,
                    skip_body: meta.contains("skipBody"),
                    input: bytes(&lines, side),
                    theirs: Verdict::default(),
                });
            }
        } else if let Some(title) = line.strip_prefix('#') {
            heading = title.trim_start_matches('#').trim().to_owned();
        } else if line.starts_with("<!--") {
            meta = line.to_owned();
        } else if let Some(name) = line.strip_prefix("```") {
            kind = if name == "log" { "log" } else { "http" };
            block = Some(String::new());
        } else if !meta.contains("-->") {
            meta.push_str(line);
        }
    }
    cases
}

fn is_strict(meta: &str) -> bool {
    !meta.contains("lenient") && !meta.contains("-finish")
}

/// The notation of the corpus: the last line end does not count, a line end is CRLF, a backslash
/// before it joins lines, escapes stand for control characters. HTTP/1.1 requests there have no
/// host, which is not what the cases are about: they get one.
fn bytes(block: &str, side: Side) -> Vec<u8> {
    let joined = block
        .strip_suffix('\n')
        .unwrap_or(block)
        .replace("\\\n", "");
    let mut text = String::new();
    for line in joined.split_inclusive('\n') {
        let start = line.trim_end_matches(['\n', '\\', 'r', 'n']);
        let is_request_line = start.ends_with(" HTTP/1.1") && !sends_host(&joined);
        if side == Side::Server && is_request_line && line.ends_with('\n') {
            text.push_str(start);
            text.push_str("\nHost: a.test");
            text.push_str(&line[start.len()..]);
        } else {
            text.push_str(line);
        }
    }
    let text = text.replace('\n', "\r\n");
    let mut bytes = Vec::new();
    let mut rest = text.as_str();
    while let Some(at) = rest.find('\\') {
        bytes.extend_from_slice(&rest.as_bytes()[..at]);
        let (escaped, len) = match rest.as_bytes().get(at + 1) {
            Some(b'r') => (b'\r', 2),
            Some(b'n') => (b'\n', 2),
            Some(b't') => (b'\t', 2),
            Some(b'f') => (b'\x0c', 2),
            Some(b'x') => (u8::from_str_radix(&rest[at + 2..at + 4], 16).unwrap(), 4),
            _ => (b'\\', 1),
        };
        bytes.push(escaped);
        rest = &rest[at + len..];
    }
    bytes.extend_from_slice(rest.as_bytes());
    bytes
}

fn sends_host(text: &str) -> bool {
    text.to_ascii_lowercase().contains("\nhost:")
}

fn verdict(log: &str) -> Verdict {
    let mut theirs = Verdict::default();
    for line in log.lines() {
        if line.contains("headers complete") {
            theirs.heads += 1;
        }
        if let Some((before, _)) = line.split_once(" span[body]") {
            let len = before.rsplit("len=").next().unwrap();
            theirs.body_bytes += len.parse::<usize>().unwrap();
        }
        // 22 and 23 are pauses: the rest may belong to another protocol.
        let is_error = line.contains(" error code=");
        theirs.refused |= is_error && !line.contains("code=22 ") && !line.contains("code=23 ");
    }
    theirs
}
