//! Capsules (RFC 9297 section 3) in the bytes of extended CONNECTs, over HTTP/3 and HTTP/2.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3::Origin;
use crate::support::origin::run;
use bytes::Bytes;
use http::{Method, Request, Response, Version};
use tokio::sync::mpsc;
use trunkline::client::Client;
use trunkline::core::error::Violation;
use trunkline::upgrade::Protocol;
use trunkline::{Body, BodySender, Capsule, Capsules, ErrorKind};

/// A type of the tests' protocol, and an unknown one.
const KNOWN: u64 = 0x2843;
const UNKNOWN: u64 = 0x17;

/// The tunnel's bytes from the peer, and to it.
async fn tunnel(client: &Client, origin: &Origin) -> (Response<Body>, BodySender) {
    let (sender, body) = Body::channel();
    let mut request = Request::new(body);
    *request.method_mut() = Method::CONNECT;
    *request.uri_mut() = origin.url("/tunnel").parse().unwrap();
    request
        .headers_mut()
        .insert("capsule-protocol", "?1".parse().unwrap());
    request
        .extensions_mut()
        .insert(Protocol::new("connect-udp"));
    (client.execute(request).await.unwrap(), sender)
}

/// Both versions that have extended CONNECT.
fn clients(origin: &Origin) -> [(Version, Client); 2] {
    [
        (Version::HTTP_3, origin.client().build().unwrap()),
        (Version::HTTP_2, origin.any_client().build().unwrap()),
    ]
}

fn capsule(kind: u64, value: &'static [u8]) -> Capsule {
    Capsule::new(kind, value).unwrap()
}

/// Sends back what it knows, and one before each that the other side does not.
async fn answer(mut capsules: Capsules, mut sender: BodySender) {
    while let Some(capsule_) = capsules.receive().await {
        sender.send(capsule(UNKNOWN, b"what?")).await.unwrap();
        sender.send(capsule_.unwrap()).await.unwrap();
    }
    sender.finish();
}

#[test]
fn capsules_go_both_ways_however_they_are_cut_and_unknown_ones_are_skipped() {
    run(async {
        let origin = Origin::with_extended_connect(|request: Request<Body>| async {
            let capsules = Capsules::of(request.into_body()).taking(KNOWN);
            let (sender, body) = Body::channel();
            tokio::spawn(answer(capsules, sender));
            Response::new(body)
        });
        for (version, client) in clients(&origin) {
            let (response, mut up) = tunnel(&client, &origin).await;
            assert_eq!(response.version(), version);
            let mut capsules = Capsules::of(response.into_body()).taking(KNOWN);
            let long = capsule(KNOWN, &[7; 40_000]);
            let sent = [Capsule::datagram("ping"), capsule(KNOWN, b""), long];
            for capsule_ in &sent {
                up.send(capsule(UNKNOWN, b"skip this")).await.unwrap();
                up.send(capsule_.clone()).await.unwrap();
                assert_eq!(capsules.receive().await.unwrap().unwrap(), *capsule_);
            }
            let bytes = Bytes::from(Capsule::datagram("byte by byte"));
            for at in 0..bytes.len() {
                up.send(bytes.slice(at..=at)).await.unwrap();
            }
            up.finish();
            let last = capsules.receive().await.unwrap().unwrap();
            assert_eq!(last.value(), "byte by byte");
            assert!(capsules.receive().await.is_none());
            assert!(capsules.receive().await.is_none(), "and for good");
        }
    });
}

#[test]
fn a_tunnel_that_ends_within_a_capsule_is_an_error_on_either_side() {
    run(async {
        let (reported, mut reports) = mpsc::unbounded_channel();
        let origin = Origin::with_extended_connect(move |request: Request<Body>| {
            let reported = reported.clone();
            async move {
                let mut capsules = Capsules::of(request.into_body());
                let (mut sender, body) = Body::channel();
                tokio::spawn(async move {
                    let first = capsules.receive().await.unwrap();
                    let after = capsules.receive().await.is_none();
                    reported.send((first.unwrap_err().kind(), after)).unwrap();
                    // Two of the four bytes that it says.
                    sender.send(&b"\x00\x04pi"[..]).await.unwrap();
                    sender.finish();
                });
                Response::new(body)
            }
        });
        let broken = ErrorKind::Violation(Violation::CapsuleTruncated);
        for (version, client) in clients(&origin) {
            let (response, mut up) = tunnel(&client, &origin).await;
            let mut capsules = Capsules::of(response.into_body());
            up.send(&b"\x00\x04pin"[..]).await.unwrap();
            up.finish();
            assert_eq!(reports.recv().await.unwrap(), (broken, true), "{version:?}");
            let error = capsules.receive().await.unwrap().unwrap_err();
            assert_eq!(error.kind(), broken, "{version:?}");
            assert!(capsules.receive().await.is_none());
        }
    });
}

#[test]
fn a_capsule_that_is_too_large_ends_the_tunnel_and_a_datagram_is_dropped() {
    run(async {
        let origin = Origin::with_extended_connect(|request: Request<Body>| async {
            Response::new(request.into_body())
        });
        for (version, client) in clients(&origin) {
            let (response, mut up) = tunnel(&client, &origin).await;
            let capsules = Capsules::of(response.into_body()).taking(KNOWN);
            let mut capsules = capsules.bytes_max(8);
            up.send(Capsule::datagram("far too large")).await.unwrap();
            up.send(Capsule::datagram("fits")).await.unwrap();
            let fits = capsules.receive().await.unwrap().unwrap();
            assert_eq!(
                (fits.value().as_ref(), capsules.dropped()),
                (&b"fits"[..], 1)
            );
            up.send(capsule(KNOWN, b"far too large")).await.unwrap();
            let error = capsules.receive().await.unwrap().unwrap_err();
            let expected = ErrorKind::Violation(Violation::CapsuleTooLarge);
            assert_eq!(error.kind(), expected, "{version:?}");
            // The tunnel was dropped: its other side gets an error.
            while up.send("more").await.is_ok() {}
        }
    });
}
