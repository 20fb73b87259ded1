//! Cost in the core of one small request over HTTP/3: a server machine takes encoded requests, answers
//! each with a head and 1 KiB, and its writes are taken at once. No socket, no QUIC, no TLS, no task.
//!
//! `cargo run --release -p trunkline-core --example h3_loop [batches] [requests per batch]`
#![expect(
    clippy::print_stdout,
    reason = "an example prints what it has measured"
)]

use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::h3::{Conn, TransportAction};
use trunkline_core::http::{
    Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version,
};
use trunkline_core::limits::{Config, Limits};
use trunkline_core::qpack::Encoder;

static BODY: [u8; 1024] = [b'x'; 1024];
/// Stream type and empty SETTINGS (RFC 9114 sections 6.2.1 and 7.2.4).
const CONTROL: [u8; 3] = [0x00, 0x04, 0x00];
/// The frame type of HEADERS (RFC 9114 section 7.2.2).
const HEADERS: u8 = 0x01;

fn main() {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|text| text.parse().ok());
    let batches = arguments.next().unwrap_or(20_000_u32).max(1);
    let per_batch = arguments.next().unwrap_or(100);
    #[expect(
        clippy::disallowed_methods,
        reason = "an example measures; the core it measures gets the time as an argument"
    )]
    let clock = Instant::now;
    for _ in 0..5 {
        let (median, best) = measure(&clock, batches, per_batch);
        println!("{median:.0} ns per request, at best {best:.0} ({per_batch} per turn)");
    }
}

/// Nanoseconds per request by `clock`: the median of all batches, and the best.
fn measure(clock: &dyn Fn() -> Instant, batches: u32, per_batch: u32) -> (f64, f64) {
    let config =
        Config::default().with_limits(Limits::default().with_requests_per_connection_max(u64::MAX));
    let start = clock();
    let mut conn = Conn::new(Side::Server, Arc::new(config), start);
    conn.handle_handshake_done(start);
    conn.handle_stream(start, StreamId(2), &CONTROL, false);
    let request = request();
    let answer = answer();
    let mut spent = Vec::with_capacity(batches as usize);
    let mut next_id = 0;
    let mut answered = 0_u64;
    for _ in 0..batches {
        let began = clock();
        for _ in 0..per_batch {
            conn.handle_stream(began, StreamId(next_id), &request, true);
            next_id += 4;
        }
        while let Some(event) = conn.poll_event() {
            if let Event::RequestReceived { stream, head, .. } = event {
                let body = Bytes::from_static(&BODY);
                assert_eq!(conn.answer(began, stream, &answer, body), Ok(()));
                conn.recycle_head(head);
                conn.handler_done(began, stream);
                answered += 1;
            }
        }
        while let Some(action) = conn.poll_transport(began) {
            if let TransportAction::Write {
                stream, fin: true, ..
            } = action
            {
                conn.handle_finished(began, stream);
            }
        }
        spent.push(clock().duration_since(began));
    }
    assert_eq!(answered, u64::from(batches) * u64::from(per_batch));
    spent.sort_unstable();
    let each = |time: Duration| time.as_nanos() as f64 / f64::from(per_batch);
    (each(spent[spent.len() / 2]), each(spent[0]))
}

/// One HEADERS frame of a client that knows nothing of our table.
fn request() -> Vec<u8> {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"GET");
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"127.0.0.1:8443");
    fields.push(Token::PATH, b"/index.html");
    fields.push(Token::USER_AGENT, b"h2load nghttp2/1.52.0");
    let head = RequestHead::from_fields(fields, Version::Http3).expect("it is valid");
    let mut section = Vec::new();
    Encoder::new().encode_request(StreamId(0), &head, &mut section);
    // A length below 64 is one byte (RFC 9000 section 16).
    assert!(section.len() < 64, "{} bytes", section.len());
    let mut frame = vec![HEADERS, section.len() as u8];
    frame.extend_from_slice(&section);
    frame
}

fn answer() -> ResponseHead {
    let mut fields = Fields::new();
    fields.push(Token::SERVER, b"trunkline");
    fields.push(Token::DATE, b"Fri, 20 Nov 2026 18:00:00 GMT");
    fields.push(Token::CONTENT_TYPE, b"application/octet-stream");
    fields.push(Token::CONTENT_LENGTH, b"1024");
    ResponseHead::new(200, fields, Version::Http3).expect("it is valid")
}
