//! The client whose calls wait.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer::service_fn;
use futures_util::TryStreamExt as _;
use http::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::io::{self, BufRead, BufReader, Read, Write, copy};
use std::net::TcpListener;
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use trunkline::{Body, ErrorKind, ResponseExt as _, Running, Server, blocking};

/// Answers with the request's body, `/large` with a million bytes, `/never` not at all.
fn site() -> Running {
    let service = service_fn(async |request: Request<Body>| {
        let response = match request.uri().path() {
            "/large" => Response::new(Body::from(vec![b'x'; 1_000_000])),
            "/missing" => Response::builder().status(404).body(Body::empty()).unwrap(),
            "/never" => std::future::pending().await,
            _ => Response::new(request.into_body()),
        };
        Ok::<_, Infallible>(response)
    });
    Server::bind("127.0.0.1:0")
        .workers(1)
        .serve(service)
        .unwrap()
}

fn url(site: &Running, path: &str) -> String {
    format!("http://{}{path}", site.local_addr())
}

#[test]
fn requests_are_sent_and_bodies_read_by_calls_that_wait() {
    let site = site();
    let client = blocking::Client::new().unwrap();
    let request = client.post(url(&site, "/")).json(&[1, 2]);
    assert_eq!(request.send().unwrap().json::<Vec<u8>>().unwrap(), [1, 2]);
    let response = client.get(url(&site, "/large")).send().unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    assert_eq!(response.bytes().unwrap().len(), 1_000_000);
    let mut response = client.get(url(&site, "/large")).send().unwrap();
    let mut first = [0; 10];
    response.read_exact(&mut first).unwrap();
    let mut rest = Vec::new();
    assert_eq!(copy(&mut response, &mut rest).unwrap(), 999_990);
    let missing = client.get(url(&site, "/missing")).send().unwrap();
    let error = missing.error_for_status().unwrap_err();
    assert_eq!(error.status(), Some(StatusCode::NOT_FOUND));
    let timeout = client
        .get(url(&site, "/never"))
        .timeout(Duration::from_millis(50));
    assert!(timeout.send().unwrap_err().is_timeout());
}

/// Answers each request with these bytes and closes the connection.
fn cutting(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    thread::spawn(move || {
        while let Ok((socket, _)) = listener.accept() {
            let mut head = BufReader::new(&socket).lines();
            while head.next().is_some_and(|line| !line.unwrap().is_empty()) {}
            (&socket).write_all(answer).unwrap();
        }
    });
    url
}

#[test]
fn a_body_that_is_cut_short_is_an_unexpected_end_for_every_reader() {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    for (answer, kind) in [
        (
            &b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\npart"[..],
            io::ErrorKind::UnexpectedEof,
        ),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n9\r\npart",
            io::ErrorKind::UnexpectedEof,
        ),
        (
            b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\npart\r\nxyz\r\n",
            io::ErrorKind::InvalidData,
        ),
    ] {
        let url = cutting(answer);
        let mut response = blocking::get(&url).unwrap();
        let mut read = Vec::new();
        let error = response.read_to_end(&mut read).unwrap_err();
        assert_eq!((error.kind(), &read[..]), (kind, &b"part"[..]));
        let streamed = async {
            let response = trunkline::get(&url).await.unwrap();
            let pieces = response.bytes_stream().map_err(io::Error::from);
            pieces.try_for_each(async |_| Ok(())).await.unwrap_err()
        };
        assert_eq!(runtime.block_on(streamed).kind(), kind);
    }
}

#[test]
fn what_was_received_and_not_read_is_in_what_is_read_at_once() {
    let site = site();
    let client = blocking::Client::new().unwrap();
    let begun = || {
        let request = client.post(url(&site, "/")).body(" [1,2]");
        let mut response = request.send().unwrap();
        response.read_exact(&mut [0]).unwrap();
        response
    };
    assert_eq!(begun().content_length(), Some(5));
    assert_eq!(begun().bytes().unwrap(), "[1,2]");
    assert_eq!(begun().text().unwrap(), "[1,2]");
    assert_eq!(begun().json::<Vec<u8>>().unwrap(), [1, 2]);
    let mut large = client.get(url(&site, "/large")).send().unwrap();
    large.read_exact(&mut [0; 10]).unwrap();
    assert_eq!(large.bytes().unwrap().len(), 999_990);
}

#[test]
fn one_client_serves_many_threads_and_a_response_outlives_it() {
    let site = site();
    let client = blocking::Client::new().unwrap();
    let kept = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let response = client.get(url(&site, "/large")).send().unwrap();
                kept.lock().unwrap().push(response);
            });
        }
    });
    drop(client);
    for response in kept.into_inner().unwrap() {
        assert_eq!(response.bytes().unwrap().len(), 1_000_000);
    }
    let text = blocking::get(url(&site, "/")).unwrap().text().unwrap();
    assert_eq!(text, "");
}

#[test]
fn a_call_inside_a_runtime_is_an_error_that_says_so() {
    let site = site();
    let client = blocking::Client::new().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let error = runtime.block_on(async { client.get(url(&site, "/")).send().unwrap_err() });
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("inside a tokio runtime"));
    assert!(client.get(url(&site, "/")).send().is_ok());
}

#[test]
fn a_call_is_made_where_a_runtime_lets_a_thread_wait() {
    let site = site();
    let client = blocking::Client::new().unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread().build().unwrap();
    let address = url(&site, "/");
    let asks = move || client.get(&address).send().is_ok();
    let (second, third) = (asks.clone(), asks.clone());
    let waits = async move { tokio::task::block_in_place(second) };
    assert!(runtime.block_on(runtime.spawn_blocking(asks)).unwrap());
    assert!(runtime.block_on(runtime.spawn(waits)).unwrap());
    let _entered = runtime.enter();
    assert!(third());
}
