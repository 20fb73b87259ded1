//! The callback API over HTTP/3.

use super::stage::{Attended, Heard, says, whole};
use super::support::runtime;
use bytes::Bytes;
use http_body_util::BodyExt;
use rustls::pki_types::CertificateDer;
use std::time::Instant;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::core::error::H2Code;
use trunkline::core::http::Version;
use trunkline::server::{Ended, Given};
use trunkline::{ErrorKind, Server, Tls};

/// A client of HTTP/3 whose connections carry one request each.
fn a_client(root: CertificateDer<'static>) -> Client {
    Client::builder()
        .protocols(Protocols::H3Only)
        .resolve("localhost", [([127, 0, 0, 1], 0).into()])
        .tls(ClientTls::new().root(root).only_given_roots())
        .requests_per_connection(Some(1))
        .early_data(true)
        .build()
        .unwrap()
}

#[test]
fn http3_is_attended_too_and_early_requests_are_marked() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let server = Attended::serving(server.early_data(true), |line, place, _| {
        line.answer(Instant::now(), place, says(whole("hi")));
    });
    let client = a_client(root);
    let url = format!("https://localhost:{}/", server.address.port());
    runtime().block_on(async {
        for path in ["/", "/ early"] {
            let response = client.get(&url).send().await.unwrap();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, "hi");
            server.hears_a_request(Version::Http3, path);
            assert_eq!(server.hears(), Heard::Ended(Ended::Whole));
            assert_eq!(server.hears(), Heard::Disconnected);
        }
    });
}

#[test]
fn an_answer_over_http3_that_breaks_off_by_order_is_a_reset_whatever_its_code() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let server = Attended::serving(server, |line, place, _| {
        line.answer(Instant::now(), place, says(Given::Streaming));
        line.send(place, Bytes::from("half"), false);
    });
    let client = a_client(root);
    let url = format!("https://localhost:{}/", server.address.port());
    runtime().block_on(async {
        let codes = [H2Code::NO_ERROR, H2Code::CANCEL, H2Code::INTERNAL_ERROR];
        for (at, code) in codes.into_iter().enumerate() {
            let mut body = client.get(&url).send().await.unwrap().into_body();
            let first = body.frame().await.unwrap().unwrap();
            assert_eq!(first.data_ref().unwrap(), "half");
            server.hears_a_request(Version::Http3, "/");
            server.does(move |_, lines| lines[at].0.reset(lines[at].1, code));
            let error = body.frame().await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StreamReset(code));
            let mut heard = server.hears();
            while matches!(heard, Heard::Room(_)) {
                heard = server.hears();
            }
            let by_peer = false;
            assert_eq!(heard, Heard::Ended(Ended::Reset { code, by_peer }));
            assert_eq!(server.hears(), Heard::Disconnected);
        }
    });
}
