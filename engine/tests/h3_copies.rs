//! Copies of a body between its datagrams and its reader, counted by what they allocate: each copy of
//! bytes on the receive path goes into memory of its own. A program of its own, so that no other test
//! allocates meanwhile.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;

use crate::support::http3::Origin;
use bytes::Bytes;
use http::Response;
use http_body_util::BodyExt;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use trunkline::{Body, Limits};

/// A copy counts where it needs as many bytes at once.
const COUNTED_BYTES: usize = 2 * 1024;
const BODY_BYTES: usize = 1 << 20;
/// Bodies of each direction: what windows and tables need is paid before.
const BODIES: u32 = 16;

struct Counting;

/// Bytes allocated in blocks of [`COUNTED_BYTES`] and more: by the client, whose runtime is the test's
/// thread, and by all other threads, the server's.
static CLIENT: AtomicU64 = AtomicU64::new(0);
static SERVER: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static IS_CLIENT: Cell<bool> = const { Cell::new(false) };
}

fn note(bytes: usize) {
    if bytes >= COUNTED_BYTES {
        let side = match IS_CLIENT.get() {
            true => &CLIENT,
            false => &SERVER,
        };
        side.fetch_add(bytes as u64, Ordering::Relaxed);
    }
}

// SAFETY: every call goes to the system's allocator unchanged; counting allocates nothing and
// cannot unwind.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note(layout.size());
        // SAFETY: the caller's promise, passed on.
        unsafe { System.alloc(layout) }
    }
    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise, passed on.
        unsafe { System.dealloc(at, layout) }
    }
    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        note(size);
        // SAFETY: the caller's promise, passed on.
        unsafe { System.realloc(at, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// The length of a body, all of which is held until its end: memory that is free again would be used again, and its
/// copies not counted.
async fn held(body: &mut Body) -> usize {
    let mut pieces = Vec::new();
    while let Some(frame) = body.frame().await {
        pieces.extend(frame.unwrap().into_data());
    }
    pieces.iter().map(Bytes::len).sum()
}

#[test]
fn a_body_over_http_3_is_copied_twice_at_most_between_its_datagrams_and_its_reader() {
    IS_CLIENT.set(true);
    let body = Bytes::from(vec![7; BODY_BYTES]);
    let down = body.clone();
    let origin = Origin::start(Limits::default(), move |request| {
        let down = down.clone();
        async move {
            let mut upload = request.into_body();
            let bytes = held(&mut upload).await;
            match bytes {
                0 => Response::new(Body::full(down)),
                _ => Response::new(Body::full(bytes.to_string())),
            }
        }
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.unwrap().block_on(async {
        let client = origin.client().build().unwrap();
        let download = async || {
            let response = client.get(origin.url("/")).send().await.unwrap();
            let mut read = response.into_body();
            assert_eq!(held(&mut read).await, BODY_BYTES);
        };
        let upload = async || {
            let post = client.post(origin.url("/")).body(Body::full(body.clone()));
            let response = post.send().await.unwrap();
            let answer = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(answer, BODY_BYTES.to_string());
        };
        for _ in 0..4 {
            download().await;
            upload().await;
        }
        let per_body = |bytes: u64| bytes as f64 / f64::from(BODIES) / BODY_BYTES as f64;
        let before = CLIENT.load(Ordering::Relaxed);
        for _ in 0..BODIES {
            download().await;
        }
        let down = per_body(CLIENT.load(Ordering::Relaxed) - before);
        let before = SERVER.load(Ordering::Relaxed);
        for _ in 0..BODIES {
            upload().await;
        }
        let up = per_body(SERVER.load(Ordering::Relaxed) - before);
        println!("copies of a body: {down:.2} at a client, {up:.2} at a server");
        assert!(down <= 2.5, "{down} at a client");
        assert!(up <= 2.5, "{up} at a server");
    });
}
