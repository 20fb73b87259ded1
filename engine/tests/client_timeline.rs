//! The timeline of a failed request.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::service;
use http::{Request, Response};
use std::future::pending;
use std::time::Duration;
use trunkline::client::{Client, ClientTimeouts, ClientTls, Protocols, WaitReason};
use trunkline::core::http::Version;
use trunkline::core::inspect::StreamWait;
use trunkline::{Body, ErrorKind, Progress, Server, Tls};

/// Bytes of an upload: more than any window lets out.
const UPLOAD: usize = 64 << 20;

/// Nothing, with the body held and not read.
async fn unread(request: Request<Body>) -> Response<Body> {
    let _held = request;
    pending().await
}

/// Nothing.
async fn answer(_: Request<Body>) -> Response<Body> {
    pending().await
}

#[test]
fn the_timeline_of_a_request_without_a_response_names_its_wait_its_connection_and_how_far_it_came()
{
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true).workers(1);
    let running = server.serve(service(answer)).unwrap();
    let address = running.local_addr();
    let versions = [
        (Protocols::H1Only, Version::Http11),
        (Protocols::H2Only, Version::Http2),
        (Protocols::H3Only, Version::Http3),
    ];
    for (protocols, version) in versions {
        let client = Client::builder()
            .protocols(protocols)
            .resolve("localhost", [address])
            .timeouts(ClientTimeouts::default().with_headers(Some(Duration::from_millis(50))))
            .tls(ClientTls::new().root(root.clone()).only_given_roots())
            .build()
            .unwrap();
        let url = format!("https://localhost:{}/secret?key=1", address.port());
        let error = peer::block_on(async { client.get(url).send().await });
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout, "{error:?}");
        let [attempt] = error.attempts() else {
            panic!("{error:?}");
        };
        assert_eq!(attempt.version, Some(version));
        assert_eq!(attempt.waited_for, Some(WaitReason::Attempt));
        assert_eq!(attempt.progress, Progress::AwaitingResponse);
        assert_eq!(attempt.held_by, Some(StreamWait::Response));
        assert_eq!(error.timeline_id(), None);
        assert!(attempt.started_after.unwrap() <= attempt.ended_after);
        assert!(attempt.moved_after <= attempt.ended_after);
        let timeline = error.timeline();
        let lines: Vec<&str> = timeline.lines().collect();
        let (first, last) = (lines[0], lines[lines.len() - 1]);
        let target = format!("GET https://localhost:{} failed after ", address.port());
        assert!(first.starts_with(&target), "{timeline}");
        assert!(
            first.contains(": no response came within the headers timeout of 50ms"),
            "{timeline}"
        );
        assert!(
            lines[1].ends_with("waits: a connection is being opened"),
            "{timeline}"
        );
        let started = format!(
            "starts on connection {}, {}",
            attempt.connection,
            version.text()
        );
        assert!(lines[2].ends_with(&started), "{timeline}");
        let waits = "still waits: the server has not sent its response or the rest of it";
        assert!(lines[4].ends_with(waits), "{timeline}");
        assert!(last.ends_with("At fault: the peer."), "{timeline}");
        assert!(!timeline.contains("secret"), "{timeline}");
    }
}

#[test]
fn the_timeline_of_an_upload_that_a_window_holds_up_names_the_window_and_is_found_by_its_number() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).workers(1);
    let running = server.serve(service(unread)).unwrap();
    let address = running.local_addr();
    let client = Client::builder()
        .protocols(Protocols::H2Only)
        .resolve("localhost", [address])
        .timeouts(ClientTimeouts::default().with_total(Some(Duration::from_secs(1))))
        .tls(ClientTls::new().root(root).only_given_roots())
        .build()
        .unwrap();
    let url = format!("https://localhost:{}/", address.port());
    let upload = || client.post(&url).body(Body::full(vec![0; UPLOAD])).send();
    let runtime = peer::runtime();
    let error = runtime.block_on(async { upload().await }).unwrap_err();
    let [attempt] = error.attempts() else {
        panic!("{error:?}");
    };
    assert_eq!(attempt.progress, Progress::Sending, "{error:?}");
    assert_eq!(attempt.held_by, Some(StreamWait::StreamWindow));
    assert!(client.timelines().is_empty());

    client.keep_timelines();
    let error = runtime.block_on(async { upload().await }).unwrap_err();
    let id = error.timeline_id().unwrap();
    assert!(error.to_string().ends_with(&format!(" (timeline {id})")));
    let [kept] = &client.timelines()[..] else {
        panic!("{:?}", client.timelines());
    };
    assert_eq!((kept.id, &kept.text), (id, &error.timeline()));
    assert!(
        kept.text
            .contains("still waits: the peer's window of the stream is used up"),
        "{}",
        kept.text
    );
}

#[test]
fn the_timeline_of_a_request_that_found_no_connection_names_the_cause_below() {
    let error = peer::block_on(async {
        // It has the port and does not listen.
        let taken = tokio::net::TcpSocket::new_v4().unwrap();
        taken.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("http://{}/", taken.local_addr().unwrap());
        Client::new().post(url).send().await.unwrap_err()
    });
    let timeline = error.timeline();
    assert!(timeline.starts_with("POST http://127.0.0.1:"), "{timeline}");
    assert!(timeline.contains("\n   because: "), "{timeline}");
    assert!(timeline.contains("it was on no connection"), "{timeline}");
    assert!(error.attempts().is_empty(), "{timeline}");
}
