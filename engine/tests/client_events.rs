//! Server-sent events over connections that end.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::{Origin, Speaks, run};
use futures_util::StreamExt;
use http::{Request, Response};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::sync::Notify;
use trunkline::{Body, ErrorKind};

/// Answers one request after the other by `answers`, with the id that it was asked for in the event.
fn site(speaks: Speaks, answers: fn(usize, &str) -> Response<Body>) -> Origin {
    let asked = Arc::new(AtomicUsize::new(0));
    Origin::start(speaks, 100, move |request: Request<Body>| {
        let count = asked.fetch_add(1, Ordering::SeqCst);
        assert_eq!(request.headers()["accept"], "text/event-stream");
        let id = request.headers().get("last-event-id");
        let id = id.map_or("none", |id| id.to_str().unwrap()).to_owned();
        async move { answers(count, &id) }
    })
}

fn events(text: impl Into<Body>) -> Response<Body> {
    let response = Response::builder().header("content-type", "text/event-stream; charset=utf-8");
    response.body(text.into()).unwrap()
}

fn status(status: u16) -> Response<Body> {
    Response::builder()
        .status(status)
        .body(Body::empty())
        .unwrap()
}

#[test]
fn a_stream_that_ends_goes_on_behind_its_last_event() {
    for speaks in [Speaks::Plain, Speaks::Tls, Speaks::TlsH1] {
        run(async {
            let site = site(speaks, |count, id| match count {
                0 => events(format!("retry: 1\nid: a\ndata: {id}\n\ndata: unfinished")),
                1 => status(503),
                2 => events(format!("id: b\ndata: {id}\n\n")),
                3 => events(format!("data: {id}\n\n")),
                _ => status(204),
            });
            let client = site.client().build().unwrap();
            let stream = client.get(site.url("/")).events();
            let stream = stream.reconnect_pause(Duration::from_millis(1));
            let got: Vec<_> = stream.map(|event| event.unwrap()).collect().await;
            let got: Vec<_> = got.iter().map(|event| (&*event.data, &*event.id)).collect();
            assert_eq!(got, [("none", "a"), ("a", "b"), ("b", "b")]);
            assert_eq!(site.seen.requests(), 5);
        });
    }
}

#[test]
fn an_event_that_a_connection_cuts_off_is_asked_for_again() {
    run(async {
        let site = site(Speaks::Plain, |count, id| match count {
            0 => events("retry: 1\nid: a\ndata: 1\n\nid: b\ndata: 2"),
            1 => events(format!("id: b\ndata: 2 behind {id}\n\nid: c\n\nid: d\n")),
            2 => events(format!("data: 3 behind {id}\n\n")),
            _ => status(204),
        });
        let client = site.client().build().unwrap();
        let stream = client.get(site.url("/")).events();
        let got: Vec<_> = stream.map(|event| event.unwrap()).collect().await;
        let got: Vec<_> = got.iter().map(|event| (&*event.data, &*event.id)).collect();
        assert_eq!(got, [("1", "a"), ("2 behind a", "b"), ("3 behind c", "c")]);
    });
}

#[test]
fn what_is_no_stream_of_events_ends_with_one_error() {
    for answer in [
        |_, _: &str| status(404),
        |_, _: &str| status(500),
        |_, _: &str| Response::new(Body::from("data: x\n\n")),
    ] {
        run(async {
            let site = site(Speaks::Plain, answer);
            let client = site.client().build().unwrap();
            let mut stream = client.get(site.url("/")).events();
            let error = stream.next().await.unwrap().unwrap_err();
            let is_named = matches!(error.kind(), ErrorKind::Status(_) | ErrorKind::Body);
            assert!(is_named, "{error:?}");
            assert!(stream.next().await.is_none());
            assert_eq!(site.seen.requests(), 1);
        });
    }
}

#[test]
fn a_server_that_never_gives_an_event_is_asked_ten_times() {
    run(async {
        let site = site(Speaks::Plain, |_, _| events("retry: 1\n\n"));
        let client = site.client().build().unwrap();
        let stream = client.get(site.url("/")).events();
        let mut stream = stream.reconnect_pause(Duration::from_millis(1));
        assert!(stream.next().await.unwrap().is_err());
        assert!(stream.next().await.is_none());
        assert_eq!(site.seen.requests(), 10);
    });
}

#[test]
fn a_connection_that_breaks_is_made_again_behind_the_last_event() {
    for speaks in [Speaks::Plain, Speaks::Tls, Speaks::TlsH1] {
        run(async {
            let seen = Arc::new(Notify::new());
            let wait = Arc::clone(&seen);
            let site = Origin::start(speaks, 100, move |request: Request<Body>| {
                let wait = Arc::clone(&wait);
                async move {
                    if let Some(id) = request.headers().get("last-event-id") {
                        assert_eq!(id, "b");
                        return events("data: 2\n\n");
                    }
                    let (mut sender, body) = Body::channel();
                    tokio::spawn(async move {
                        sender.send("id: b\ndata: 1\n\n").await.unwrap();
                        wait.notified().await;
                        sender.fail("broken");
                    });
                    events(body)
                }
            });
            let client = site.client().build().unwrap();
            let stream = client.get(site.url("/")).events();
            let mut stream = stream.reconnect_pause(Duration::from_millis(1));
            assert_eq!(stream.next().await.unwrap().unwrap().data, "1");
            seen.notify_one();
            assert_eq!(stream.next().await.unwrap().unwrap().data, "2");
        });
    }
}
