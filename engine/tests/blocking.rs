//! The client whose calls wait.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use http::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::io::{Read, copy};
use std::sync::Mutex;
use std::thread;
use std::time::Duration;
use trunkline::{Body, ErrorKind, Running, Server, blocking, service_fn};

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
