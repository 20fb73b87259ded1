//! Measures the core's cost per small request: a server machine gets encoded requests, answers each
//! with a head and 1 KiB, and its outbox is emptied. No socket, no TLS, no task.
//!
//! `cargo run --release -p trunkline-core --example h2_loop [batches] [requests per batch]`
#![expect(
    clippy::print_stdout,
    reason = "an example prints what it has measured"
)]

use bytes::Bytes;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::h2::Conn;
use trunkline_core::h2::frame::headers;
use trunkline_core::hpack::Encoder;
use trunkline_core::http::{Event, Fields, RequestHead, ResponseHead, Side, Token, Version};
use trunkline_core::limits::{Config, Limits};

static BODY: [u8; 1024] = [b'x'; 1024];

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
        println!("{median:.0} ns per request, at best {best:.0} ({per_batch} per read)");
    }
}

/// Nanoseconds per request by `clock`: the median of all batches, which other work on the machine
/// hardly moves, and the best.
fn measure(clock: &dyn Fn() -> Instant, batches: u32, per_batch: u32) -> (f64, f64) {
    let config =
        Config::default().with_limits(Limits::default().with_requests_per_connection_max(u64::MAX));
    let start = clock();
    let mut conn = Conn::new(Side::Server, Arc::new(config), start);
    let mut client = Client::new();
    conn.handle_bytes(start, &client.preface());
    let answer = answer();
    let mut spent = Vec::with_capacity(batches as usize);
    let mut answered = 0_u64;
    let mut written = 0;
    for _ in 0..batches {
        let input = client.batch(per_batch);
        let began = clock();
        conn.handle_bytes(began, input);
        while let Some(event) = conn.poll_event() {
            if let Event::RequestReceived { stream, head, .. } = event {
                let body = Bytes::from_static(&BODY);
                let sent = conn
                    .respond(began, stream, &answer, false)
                    .and_then(|()| conn.send_body(began, stream, body, true));
                assert_eq!(sent, Ok(()));
                conn.recycle_head(head);
                conn.handler_done(began, stream);
                answered += 1;
            }
        }
        loop {
            let outbox = conn.poll_write(began);
            let len = outbox.len();
            if len == 0 {
                break;
            }
            outbox.advance(len);
            written += len;
        }
        spent.push(clock().duration_since(began));
        conn.handle_bytes(began, &client.window(per_batch));
    }
    assert_eq!(answered, u64::from(batches) * u64::from(per_batch));
    assert!(written > answered as usize * BODY.len());
    spent.sort_unstable();
    let each = |time: Duration| time.as_nanos() as f64 / f64::from(per_batch);
    (each(spent[spent.len() / 2]), each(spent[0]))
}

/// A client that says the same request again and again.
struct Client {
    next_id: u32,
    encoder: Encoder,
    request: RequestHead,
    bytes: Vec<u8>,
    block: Vec<u8>,
}

impl Client {
    fn new() -> Self {
        let mut fields = Fields::new();
        fields.push(Token::METHOD, b"GET");
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::AUTHORITY, b"127.0.0.1:8443");
        fields.push(Token::PATH, b"/index.html");
        fields.push(Token::USER_AGENT, b"h2load nghttp2/1.52.0");
        Self {
            next_id: 1,
            encoder: Encoder::new(),
            request: RequestHead::from_fields(fields, Version::Http2).expect("it is valid"),
            bytes: Vec::new(),
            block: Vec::new(),
        }
    }
    fn preface(&self) -> Vec<u8> {
        let mut bytes = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec();
        trunkline_core::h2::frame::settings::write(&[], &mut bytes);
        trunkline_core::h2::frame::settings::write_ack(&mut bytes);
        bytes.extend_from_slice(&self.window(1 << 20));
        bytes
    }
    /// The connection window for as many answers.
    fn window(&self, answers: u32) -> Vec<u8> {
        let mut bytes = Vec::new();
        let increment = answers * BODY.len() as u32;
        trunkline_core::h2::frame::WindowUpdate {
            stream: 0,
            increment,
        }
        .write(&mut bytes);
        bytes
    }
    fn batch(&mut self, count: u32) -> &[u8] {
        self.bytes.clear();
        for _ in 0..count {
            self.block.clear();
            self.encoder.encode_request(&self.request, &mut self.block);
            headers::write(self.next_id, &self.block, true, 16_384, &mut self.bytes);
            self.next_id += 2;
        }
        &self.bytes
    }
}

fn answer() -> ResponseHead {
    let mut fields = Fields::new();
    fields.push(Token::SERVER, b"trunkline");
    fields.push(Token::DATE, b"Fri, 20 Nov 2026 18:00:00 GMT");
    fields.push(Token::CONTENT_TYPE, b"application/octet-stream");
    fields.push(Token::CONTENT_LENGTH, b"1024");
    ResponseHead::new(200, fields, Version::Http2).expect("it is valid")
}
