//! Stream credit over many requests and real sockets: it comes back for ever, and nothing is kept.
//! Too long for every run of the tests; `make ready` runs them.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;

use crate::support::http3::{Origin, generous};
use http::{Request, Response};
use http_body_util::BodyExt;
use std::alloc::{GlobalAlloc, Layout, System};
use std::future::Future;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trunkline::Body;
use trunkline::client::Client;

struct Counting;

/// Bytes that are allocated now.
static LIVE: AtomicI64 = AtomicI64::new(0);

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing and
// cannot unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LIVE.fetch_add(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        LIVE.fetch_add(size as i64 - layout.size() as i64, Ordering::Relaxed);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// One test at a time: the count is the process's.
static TURN: Mutex<()> = Mutex::new(());

/// The most that 90,000 requests may leave behind, bytes: buffers that a later packet grew once. A
/// kept stream of 32 bytes each would be 2.9 MB.
const GROWTH_BYTES_MAX: i64 = 256 * 1024;

/// As `origin::run`, with time for many requests.
fn run(test: impl Future<Output = ()>) {
    let _alone = TURN.lock().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(async {
        let done = tokio::time::timeout(Duration::from_secs(600), test);
        done.await.expect("the test ends in ten minutes");
    });
}

fn small(streams_max: u32) -> Origin {
    let limits = generous().with_request_streams_max(streams_max);
    Origin::start(limits, |_: Request<Body>| async {
        Response::new(Body::full("ok"))
    })
}

async fn get(client: &Client, url: &str) {
    let response = client.get(url).send().await.unwrap();
    let body = response.into_body().collect().await.unwrap();
    assert_eq!(body.to_bytes(), "ok");
}

#[test]
#[ignore = "takes a minute: make ready runs it"]
fn a_hundred_thousand_requests_in_a_row_use_one_connection_and_constant_memory() {
    run(async {
        let origin = small(100);
        let client = origin.client().connections(1).build().unwrap();
        let url = origin.url("/");
        for _ in 0..10_000 {
            get(&client, &url).await;
        }
        let warm = LIVE.load(Ordering::Relaxed);
        for _ in 10_000..100_000 {
            get(&client, &url).await;
        }
        let growth = LIVE.load(Ordering::Relaxed) - warm;
        eprintln!("{warm} bytes live when warm, {growth} more after 90,000 requests");
        assert!(growth < GROWTH_BYTES_MAX, "{growth} bytes are kept");
        let metrics = origin.running.metrics();
        assert_eq!(metrics.requests_h3, 100_000);
        assert_eq!(metrics.quic_connections, 1);
    });
}

#[test]
#[ignore = "takes a minute: make ready runs it"]
fn sixty_four_thousand_requests_on_64_connections_with_32_streams_each_complete() {
    const CONNECTIONS: u64 = 64;
    const EACH: u64 = 1000;
    run(async {
        let origin = small(100);
        let mut tasks = tokio::task::JoinSet::new();
        for _ in 0..CONNECTIONS {
            let client = origin.client().connections(1).build().unwrap();
            let left = Arc::new(AtomicI64::new(EACH as i64));
            for _ in 0..32 {
                let (client, url, left) = (client.clone(), origin.url("/"), Arc::clone(&left));
                tasks.spawn(async move {
                    while left.fetch_sub(1, Ordering::Relaxed) > 0 {
                        get(&client, &url).await;
                    }
                });
            }
        }
        while let Some(done) = tasks.join_next().await {
            done.unwrap();
        }
        let metrics = origin.running.metrics();
        assert_eq!(metrics.requests_h3, CONNECTIONS * EACH);
        assert_eq!(metrics.quic_connections, CONNECTIONS);
    });
}
