//! The end of an HTTP/1.1 connection under a client: after any input, only an orderly end completes
//! a body without other delimiter (RFC 9112 sections 8 and 9.8), and each exchange ends once.
//!
//! The input is `[kind of end, method, response bytes]`.

use std::sync::Arc;
use std::time::Instant;
use trunkline_core::error::TransportEnd;
use trunkline_core::h1::Conn;
use trunkline_core::http::{Event, Fields, RequestHead, Side, Token, Version};
use trunkline_core::limits::Config;

const ENDS: [TransportEnd; 3] = [
    TransportEnd::InOrder,
    TransportEnd::Ragged,
    TransportEnd::Failed,
];
const METHODS: [&[u8]; 3] = [b"GET", b"HEAD", b"POST"];

/// A client with one request, its response, and the end of the connection.
pub fn h1_end(data: &[u8]) {
    let (Some(&end), Some(&method)) = (data.first(), data.get(1)) else {
        return;
    };
    let end = ENDS[usize::from(end) % ENDS.len()];
    let method = METHODS[usize::from(method) % METHODS.len()];
    let bytes = &data[2..];
    // How it is cut changes nothing.
    let whole = outcome(method, &[bytes], end);
    let pieces: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(whole, outcome(method, &pieces, end), "byte by byte");
    // A message that any other end completes is complete with an orderly end too.
    if whole.is_complete {
        let in_order = outcome(method, &[bytes], TransportEnd::InOrder);
        assert!(in_order.is_complete);
        assert_eq!(in_order.body, whole.body);
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct EndOutcome {
    heads: usize,
    body: Vec<u8>,
    is_complete: bool,
    is_reset: bool,
    is_closed: bool,
    left_http: bool,
}

fn outcome(method: &[u8], pieces: &[&[u8]], end: TransportEnd) -> EndOutcome {
    let now = Instant::now();
    let mut conn = Conn::new(Side::Client, Arc::new(Config::default()), now);
    let mut fields = Fields::new();
    fields.push(Token::METHOD, method);
    fields.push(Token::SCHEME, b"http");
    fields.push(Token::AUTHORITY, b"a");
    fields.push(Token::PATH, b"/");
    let Ok(head) = RequestHead::from_fields(fields, Version::Http2) else {
        return EndOutcome::default();
    };
    let mut outcome = EndOutcome::default();
    if conn.open(now, &head, true).is_err() {
        return outcome;
    }
    let sent = conn.poll_write(now);
    let length = sent.len();
    sent.advance(length);
    for piece in pieces {
        conn.handle_bytes(now, piece);
        note(&mut conn, now, &mut outcome);
    }
    let before = outcome.is_complete;
    if !outcome.left_http {
        conn.handle_close(now, end);
        note(&mut conn, now, &mut outcome);
        assert!(outcome.is_closed, "nobody was told of the end");
        if end != TransportEnd::InOrder {
            assert_eq!(outcome.is_complete, before, "{end:?} completed a response");
        }
        assert!(
            outcome.is_complete != outcome.is_reset,
            "an exchange ends once: {outcome:?}"
        );
    }
    outcome
}

fn note(conn: &mut Conn, now: Instant, outcome: &mut EndOutcome) {
    while let Some(event) = conn.poll_event() {
        assert!(!outcome.is_closed, "{event:?} behind the end {outcome:?}");
        let is_over = outcome.is_complete || outcome.is_reset;
        match event {
            Event::ResponseReceived { end, .. } => {
                assert!(!is_over && outcome.heads == 0);
                outcome.heads += 1;
                outcome.is_complete = end;
            }
            Event::BodyReceived { stream, data, end } => {
                assert!(!is_over, "a piece behind the end");
                outcome.body.extend_from_slice(&data);
                conn.consume(now, stream, data.len());
                outcome.is_complete = end;
            }
            Event::TrailersReceived { .. } => {
                assert!(!is_over);
                outcome.is_complete = true;
            }
            Event::StreamReset { .. } => {
                assert!(!is_over, "it ended twice");
                outcome.is_reset = true;
            }
            Event::Upgraded { .. } => outcome.left_http = true,
            Event::Closed(_) => outcome.is_closed = true,
            _ => {}
        }
    }
}
