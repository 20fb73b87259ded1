//! The server's allocations per small response in the steady state, counted at the allocator on all
//! threads but the client's. A file of its own, so that no other test runs meanwhile.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use crate::support::frame_client::{Frame, FramePeer, GET, kind};
use crate::support::peer::service;
use bytes::Bytes;
use http::Response;
use http_body_util::Full;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use trunkline::Server;

/// One is the handler's: the tests' service boxes its future. The rest is amortised growth.
const PER_RESPONSE_MAX: f64 = 1.05;

struct Counting;

static CALLS: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_CLIENT: Cell<bool> = const { Cell::new(false) };
}

fn note() {
    if !IS_CLIENT.get() {
        CALLS.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing and
// cannot unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note();
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[test]
fn a_warm_server_allocates_no_more_than_the_handlers_future_per_small_response() {
    const BATCH: u32 = 50;
    let running = Server::bind("127.0.0.1:0")
        .serve(service(async |_| {
            Response::new(Full::new(Bytes::from_static(b"hi")))
        }))
        .unwrap();
    IS_CLIENT.set(true);
    let mut peer = FramePeer::connect(running.local_addr());
    let mut turn = |batch: u32| {
        let first = batch * BATCH * 2 + 1;
        let asked = (first..first + BATCH * 2).step_by(2);
        let asked: Vec<u8> = asked
            .flat_map(|id| Frame::new(kind::HEADERS, 0x5, id, GET).bytes())
            .collect();
        peer.sends_bytes(&asked);
        (0..BATCH).for_each(|_| assert_eq!(peer.receives(kind::DATA).payload, b"hi"));
    };
    (0..20).for_each(&mut turn);
    let before = CALLS.load(Ordering::Relaxed);
    (20..60).for_each(&mut turn);
    let calls = CALLS.load(Ordering::Relaxed) - before;
    eprintln!("{calls} allocations for {} responses", 40 * BATCH);
    let per_response = calls as f64 / f64::from(40 * BATCH);
    assert!(
        per_response <= PER_RESPONSE_MAX,
        "{per_response} allocations per response"
    );
}
