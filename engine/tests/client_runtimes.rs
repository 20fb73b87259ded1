//! One client in several runtimes, of which each ends on its own, as a static of a test program is used.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use std::future::Future;
use std::pin::Pin;
use std::sync::mpsc;
use std::task::{Context, Waker};
use std::thread;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use trunkline::client::{Protocols, ResponseExt};
use trunkline::{Client, ErrorKind, Method, Retry};

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Ends a runtime from within another.
async fn end(runtime: Runtime) {
    let ended = tokio::task::spawn_blocking(move || drop(runtime));
    ended.await.unwrap();
}

/// A future that was polled once, within the runtime of the caller.
fn polled<F: Future>(future: F) -> Pin<Box<F>> {
    let mut future = Box::pin(future);
    let first = future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()));
    assert!(first.is_pending());
    future
}

fn client() -> Client {
    let client = Client::builder()
        .protocols(Protocols::H1Only)
        .connections(1);
    client.build().unwrap()
}

/// The target of the next request, whose head is read.
async fn target(socket: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        head.push(socket.read_u8().await.unwrap());
    }
    let head = String::from_utf8(head).unwrap();
    head.split(' ').nth(1).unwrap().to_owned()
}

/// A server on a thread of its own: `/held` is not answered on its first connection, `/silent` on none, and
/// of the body of `/cut` a byte is missing. The receiver gets each target.
fn server() -> (String, mpsc::Receiver<String>) {
    let (found, address) = mpsc::channel();
    let (note, targets) = mpsc::channel();
    thread::spawn(move || {
        runtime().block_on(async move {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            found.send(listener.local_addr().unwrap()).unwrap();
            for number in 0.. {
                let (mut socket, _) = listener.accept().await.unwrap();
                let note = note.clone();
                tokio::spawn(async move {
                    loop {
                        let target = target(&mut socket).await;
                        let is_held = number == 0 && target == "/held" || target == "/silent";
                        let is_cut = target == "/cut";
                        let _ = note.send(target);
                        if is_held {
                            continue;
                        }
                        let length = if is_cut { 3 } else { 2 };
                        let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\n\r\nok");
                        socket.write_all(head.as_bytes()).await.unwrap();
                    }
                });
            }
        });
    });
    (format!("http://{}", address.recv().unwrap()), targets)
}

#[test]
fn an_attempt_whose_runtime_ends_is_made_again_where_a_request_waits() {
    let (url, _targets) = server();
    let (client, first) = (client(), runtime());
    // The attempt is spawned, and has not begun.
    let given_up = {
        let _entered = first.enter();
        polled(client.get(&url).send())
    };
    runtime().block_on(async {
        let waits = polled(client.get(&url).send());
        drop(given_up);
        end(first).await;
        assert_eq!(waits.await.unwrap().text().await.unwrap(), "ok");
    });
}

#[test]
fn a_runtime_that_ends_before_it_watched_a_deadline_leaves_it_to_another() {
    let (url, _targets) = server();
    let (client, first) = (client(), runtime());
    first.block_on(async { drop(polled(client.get(&url).send())) });
    drop(first);
    runtime().block_on(late(&client, &url));
}

#[test]
fn a_runtime_that_ends_while_it_watches_a_deadline_leaves_it_to_another() {
    let (url, _targets) = server();
    let (client, first) = (client(), runtime());
    first.block_on(async { client.get(&url).send().await.unwrap() });
    runtime().block_on(async {
        // The one connection is held by either: the first is sent again where its runtime ends, perhaps behind the other.
        let silent = || {
            let request = client.get(format!("{url}/silent"));
            let short = request.queue_timeout(Duration::from_millis(20));
            polled(short.send())
        };
        let (one, other) = (silent(), silent());
        end(first).await;
        let late = tokio::select! { late = one => late, late = other => late };
        assert_eq!(late.unwrap_err().kind(), ErrorKind::Timeout);
    });
}

/// A request behind one that is not answered waits as long as it may.
async fn late(client: &Client, url: &str) {
    let silent = polled(client.get(format!("{url}/silent")).send());
    let short = client.get(url).queue_timeout(Duration::from_millis(20));
    tokio::select! {
        _ = silent => panic!("an answer to a request that has none"),
        late = short.send() => assert_eq!(late.unwrap_err().kind(), ErrorKind::Timeout),
    }
}

#[test]
fn a_request_on_a_connection_whose_runtime_ends_is_sent_again_if_that_is_harmless() {
    for method in [Method::GET, Method::POST] {
        let (url, targets) = server();
        let (client, first) = (client(), runtime());
        first.block_on(async { client.get(&url).send().await.unwrap() });
        assert_eq!(targets.recv().unwrap(), "/");
        let (went, gone) = mpsc::channel();
        let driver = thread::spawn(move || {
            // Drives the connection until the request is with the server.
            first.block_on(async {
                while gone.try_recv().is_err() {
                    tokio::task::yield_now().await;
                }
            });
        });
        runtime().block_on(async {
            let held = client.request(method.clone(), format!("{url}/held"));
            let held = polled(held.send());
            assert_eq!(targets.recv().unwrap(), "/held");
            went.send(()).unwrap();
            let answer = held.await;
            if method == Method::GET {
                assert_eq!(answer.unwrap().text().await.unwrap(), "ok");
                assert_eq!(targets.recv().unwrap(), "/held");
            } else {
                let error = answer.unwrap_err();
                assert_eq!(
                    (error.kind(), error.retry()),
                    (ErrorKind::Cancelled, Retry::OnlyIfIdempotent)
                );
                assert!(targets.try_recv().is_err());
            }
        });
        driver.join().unwrap();
    }
}

#[test]
fn a_body_that_comes_on_a_connection_whose_runtime_ends_is_cut() {
    let (url, _targets) = server();
    let (client, first) = (client(), runtime());
    let answer = first.block_on(async { client.get(format!("{url}/cut")).send().await.unwrap() });
    drop(first);
    let error = runtime().block_on(answer.bytes()).unwrap_err();
    assert!(error.is_body() && !error.is_request(), "{error:?}");
    assert_eq!(error.retry(), Retry::OnlyIfIdempotent);
}
