//! Answers that break off: over QUIC they end with a reset, which no client takes for their end.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3::Origin;
use crate::support::origin::run;
use bytes::Bytes;
use http::header::CONTENT_LENGTH;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::BodyExt;
use std::sync::Arc;
use tokio::sync::Notify;
use tokio::task::spawn_local;
use trunkline::core::error::H2Code;
use trunkline::{Body, BodySender, ErrorKind, Limits};

/// The outcome of a response whose first half is read.
async fn breaks_off(path: &str, mut sender: BodySender) {
    match path {
        "/fails" => sender.fail("the disk is gone"),
        "/too-short" => sender.finish(),
        "/too-long" | "/panics" => sender.send("and more").await.unwrap_or_default(),
        // Dropped without an end.
        _ => {}
    }
}

fn panics_behind_half(frame: Frame<Bytes>) -> Frame<Bytes> {
    assert_eq!(frame.data_ref().unwrap(), "half", "the body's own fault");
    frame
}

#[test]
fn an_answer_that_breaks_off_is_reset_whatever_the_cause_and_its_connection_goes_on() {
    run(async {
        let read = Arc::new(Notify::new());
        let is_read = Arc::clone(&read);
        let origin = Origin::start(Limits::default(), move |request: Request<Body>| {
            let is_read = Arc::clone(&is_read);
            async move {
                let path = request.uri().path().to_owned();
                let (mut sender, body) = Body::channel();
                let body = match path.as_str() {
                    "/whole" => return Response::new(Body::full("whole")),
                    "/panics" => Body::wrap(body.map_frame(panics_behind_half)),
                    _ => body,
                };
                let mut response = Response::new(body);
                if path.starts_with("/too-") {
                    response.headers_mut().insert(CONTENT_LENGTH, 8.into());
                }
                spawn_local(async move {
                    sender.send("half").await.unwrap();
                    is_read.notified().await;
                    breaks_off(&path, sender).await;
                });
                response
            }
        });
        let client = origin.client().connections(1).build().unwrap();
        for path in ["/dropped", "/fails", "/panics", "/too-short", "/too-long"] {
            let mut body = client
                .get(origin.url(path))
                .send()
                .await
                .unwrap()
                .into_body();
            let first = body.frame().await.unwrap().unwrap();
            assert_eq!(first.data_ref().unwrap(), "half", "{path}");
            // RFC 9000 section 3.2: a reset may overtake what was sent before it, so it waits.
            read.notify_one();
            let error = body.frame().await.unwrap().unwrap_err();
            let expected = ErrorKind::StreamReset(H2Code::INTERNAL_ERROR);
            assert_eq!(error.kind(), expected, "{path}");
            let whole = client.get(origin.url("/whole")).send().await.unwrap();
            let whole = whole.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(whole, "whole", "after {path}");
        }
        assert_eq!(origin.running.metrics().quic_connections, 1);
    });
}
