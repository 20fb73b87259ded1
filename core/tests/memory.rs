//! The memory of an idle machine, and the allocations of a working one, counted at the allocator on
//! the thread of the test.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "h2/rig.rs"]
mod rig;

use bytes::Bytes;
use rig::{PREFACE, frame, headers, response, settings_ack, settings_frame};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::h2::frame::{flag, kind};
use trunkline_core::http::{Event, ResponseHead, Side};
use trunkline_core::limits::Config;
use trunkline_core::{h1, h2};

/// Bytes of the machines themselves: they stand beside each other in memory, one per connection.
const H2_BYTES_MAX: usize = 1352;
const H1_BYTES_MAX: usize = 512;
/// Beside the machine: the few entries of the compression tables, how the last streams ended, and
/// where a body came the connection's window.
const H2_HEAP_BYTES_MAX: isize = 416;

struct Counting;

thread_local! {
    static CALLS: Cell<u64> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
}

fn note(calls: u64, bytes: isize) {
    CALLS.set(CALLS.get() + calls);
    LIVE.set(LIVE.get() + bytes);
}

// SAFETY: every call goes to the system's allocator unchanged; counting in plain cells of the
// thread allocates nothing and cannot unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(1, layout.size() as isize);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        note(0, -(layout.size() as isize));
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(1, size as isize - layout.size() as isize);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn start() -> Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "virtual time needs one real instant to count from"
    )]
    Instant::now()
}

fn wrote_all(outbox: &mut trunkline_core::wire::Outbox) -> bool {
    let len = outbox.len();
    outbox.advance(len);
    len == 0
}

/// Answers every request, takes every body, writes everything.
fn serve(conn: &mut h2::Conn, now: Instant, head: &ResponseHead) -> u32 {
    let mut served = 0;
    while let Some(event) = conn.poll_event() {
        if let Event::RequestReceived {
            stream,
            head: asked,
            ..
        } = event
        {
            conn.recycle_head(asked);
            conn.respond(now, stream, head, false).unwrap();
            let body = Bytes::from_static(&[b'x'; 16]);
            conn.send_body(now, stream, body, true).unwrap();
            conn.handler_done(now, stream);
            served += 1;
        }
    }
    while !wrote_all(conn.poll_write(now)) {}
    served
}

const REQUEST: &[(&str, &str)] = &[
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "example.com"),
    (":path", "/one"),
    ("user-agent", "a test"),
];

fn answer() -> ResponseHead {
    response(
        200,
        &[
            ("content-type", "text/plain"),
            ("content-length", "16"),
            ("date", "Fri, 20 Nov 2026 20:00:00 GMT"),
        ],
    )
}

/// A server that has heard the client's first words.
fn server(now: Instant) -> h2::Conn {
    let mut conn = h2::Conn::new(Side::Server, Arc::new(Config::default()), now);
    conn.handle_bytes(now, PREFACE);
    conn.handle_bytes(now, &settings_frame(&[]));
    conn.handle_bytes(now, &settings_ack());
    while !wrote_all(conn.poll_write(now)) {}
    conn
}

#[test]
fn a_machine_is_no_larger_than_its_bound() {
    let sizes = (size_of::<h2::Conn>(), size_of::<h1::Conn>());
    assert!(sizes.0 <= H2_BYTES_MAX, "h2::Conn has {} bytes", sizes.0);
    assert!(sizes.1 <= H1_BYTES_MAX, "h1::Conn has {} bytes", sizes.1);
}

#[test]
fn an_idle_h2_server_holds_its_tables_and_no_buffer() {
    let now = start();
    let request = headers(1, REQUEST, true);
    let upload = [
        headers(3, REQUEST, false),
        frame(kind::DATA, flag::END_STREAM, 3, &[1; 5000]),
    ];
    let head = answer();
    let config = Arc::new(Config::default());
    let before = LIVE.get();
    let mut conn = h2::Conn::new(Side::Server, config, now);
    for sent in [PREFACE, &settings_frame(&[]), &settings_ack(), &request] {
        conn.handle_bytes(now, sent);
    }
    for sent in &upload {
        conn.handle_bytes(now, sent);
    }
    assert_eq!(serve(&mut conn, now, &head), 2);
    let busy = LIVE.get() - before;
    conn.release();
    let idle = LIVE.get() - before;
    assert!(busy > idle, "buffers of {busy} bytes were given back");
    assert!(idle <= H2_HEAP_BYTES_MAX, "{idle} bytes are held");
    conn.handle_bytes(now, &headers(5, REQUEST, true));
    assert_eq!(serve(&mut conn, now, &head), 1, "it goes on after that");
}

#[test]
fn an_idle_h1_server_holds_nothing() {
    let now = start();
    let config = Arc::new(Config::default());
    let before = LIVE.get();
    let mut conn = h1::Conn::new(Side::Server, config, now);
    conn.handle_bytes(now, b"GET / HTTP/1.1\r\nhost: example.com\r\n\r\n");
    let head = ResponseHead::new(
        200,
        rig::fields(&[("content-length", "2")]),
        trunkline_core::http::Version::Http11,
    )
    .unwrap();
    while let Some(event) = conn.poll_event() {
        if let Event::RequestReceived {
            stream,
            head: asked,
            ..
        } = event
        {
            conn.recycle_head(asked);
            conn.respond(now, stream, &head, false).unwrap();
            conn.send_body(now, stream, Bytes::from_static(b"hi"), true)
                .unwrap();
            conn.handler_done(stream);
        }
    }
    drop(head);
    while !wrote_all(conn.poll_write(now)) {}
    conn.release();
    assert_eq!(LIVE.get() - before, 0);
    assert_eq!(conn.active(), 0);
}

#[test]
fn a_warm_h2_server_allocates_nothing_per_small_response() {
    const BATCH: u32 = 100;
    let now = start();
    let mut conn = server(now);
    let head = answer();
    let batches: Vec<Vec<u8>> = (0..40)
        .map(|batch| {
            (0..BATCH)
                .flat_map(|n| headers(batch * BATCH * 2 + n * 2 + 1, REQUEST, true))
                .collect()
        })
        .collect();
    let mut turn = |batch: usize| {
        let now = now + Duration::from_millis(batch as u64);
        conn.handle_bytes(now, &batches[batch]);
        assert_eq!(serve(&mut conn, now, &head), BATCH);
    };
    (0..20).for_each(&mut turn);
    let before = CALLS.get();
    (20..40).for_each(&mut turn);
    assert_eq!(CALLS.get() - before, 0, "allocations for 2,000 responses");
}
