//! The memory of an idle QUIC connection, on both sides, counted at the allocator. A file of its
//! own, so that no other test runs meanwhile.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use crate::support::http3::Origin;
use crate::support::origin::run;
use bytes::Bytes;
use http::{Request, Response};
use http_body_util::BodyExt;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;
use tokio::task::JoinSet;
use trunkline::client::Client;
use trunkline::{Body, Limits};

/// Connections, so that what is not theirs weighs little.
const CONNECTIONS: usize = 32;
/// Requests at once on each.
const STREAMS: usize = 64;
const BODY_BYTES: usize = 32 * 1024;
/// The most that an idle connection may hold, both sides together: mostly quinn-proto's state of
/// the streams that were open, which it keeps for the next ones, and of those that a client opens
/// ahead.
const IDLE_BYTES_MAX: i64 = 384 * 1024;

struct Counting;

static LIVE: AtomicI64 = AtomicI64::new(0);
/// The most that was live at once.
static PEAK: AtomicI64 = AtomicI64::new(0);

fn note(bytes: usize, sign: i64) {
    let change = sign * bytes as i64;
    let live = LIVE.fetch_add(change, Ordering::Relaxed) + change;
    PEAK.fetch_max(live, Ordering::Relaxed);
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing and
// cannot unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size(), 1);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        note(layout.size(), -1);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(layout.size(), -1);
        note(size, 1);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Clients of one connection each, so that every connection gets its share.
async fn all_ask(clients: &[Client], url: &str, streams: usize, bytes: usize) {
    let mut asking = JoinSet::new();
    for client in clients {
        for _ in 0..streams {
            let request = client.post(url).body(Bytes::from(vec![0; bytes]));
            asking.spawn(async move {
                let answer = request.send().await.unwrap().into_body();
                assert_eq!(answer.collect().await.unwrap().to_bytes().len(), bytes);
            });
        }
    }
    while let Some(asked) = asking.join_next().await {
        asked.unwrap();
    }
}

/// Waits until no more than `bytes` are held; the test's time bounds it.
async fn rests_with(bytes: i64) {
    while LIVE.load(Ordering::Relaxed) > bytes {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[test]
fn a_connection_that_idles_gives_back_what_it_held_at_work() {
    run(async {
        let origin = Origin::start(Limits::default(), |request: Request<Body>| async {
            Response::new(request.into_body())
        });
        let url = origin.url("/");
        let client = || origin.client().connections(1).build().unwrap();
        // Memory that all connections share is allocated before the first of them counts.
        all_ask(&[client()], &url, STREAMS, BODY_BYTES).await;
        let clients: Vec<Client> = (0..CONNECTIONS).map(|_| client()).collect();
        let before = LIVE.load(Ordering::Relaxed);
        all_ask(&clients, &url, STREAMS, BODY_BYTES).await;
        let each = |bytes: i64| (bytes - before) / CONNECTIONS as i64;
        let at_work = each(PEAK.load(Ordering::Relaxed));
        rests_with(before + IDLE_BYTES_MAX * CONNECTIONS as i64).await;
        let at_rest = each(LIVE.load(Ordering::Relaxed));
        eprintln!("bytes per connection: {at_work} at work, {at_rest} at rest");
        assert!(at_work > 2 * IDLE_BYTES_MAX, "or nothing is given back");
        let opened = origin.running.metrics().quic_connections;
        assert_eq!(opened, CONNECTIONS as u64 + 1);
    });
}
