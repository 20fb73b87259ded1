//! The callback API over HTTP/3.

use super::stage::{Recorded, TestServer, sends, whole};
use crate::support::peer::block_on;
use bytes::Bytes;
use http_body_util::BodyExt;
use rustls::pki_types::CertificateDer;
use std::time::Instant;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::core::error::H2Code;
use trunkline::core::http::Version;
use trunkline::server::{Ended, ResponseBody};
use trunkline::{ErrorKind, Server, Tls};

/// A client of HTTP/3 whose connections carry one request each.
pub(super) fn a_client(root: CertificateDer<'static>) -> Client {
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
fn http3_has_callbacks_too_and_early_requests_are_marked() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let server = TestServer::serving(server.early_data(true), |commands, handle, _| {
        commands.answer(Instant::now(), handle, sends(whole("hi")));
    });
    let client = a_client(root);
    let url = format!("https://localhost:{}/", server.address.port());
    block_on(async {
        for path in ["/", "/ early"] {
            let response = client.get(&url).send().await.unwrap();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            assert_eq!(body, "hi");
            server.receives_a_request(Version::Http3, path);
            assert_eq!(server.receives(), Recorded::Ended(Ended::Whole));
            assert_eq!(server.receives(), Recorded::Disconnected);
        }
    });
}

#[test]
fn an_answer_over_http3_that_breaks_off_by_order_is_a_reset_whatever_its_code() {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true);
    let server = TestServer::serving(server, |commands, handle, _| {
        commands.answer(Instant::now(), handle, sends(ResponseBody::Streaming));
        commands.send(handle, Bytes::from("half"), false);
    });
    let client = a_client(root);
    let url = format!("https://localhost:{}/", server.address.port());
    block_on(async {
        let codes = [H2Code::NO_ERROR, H2Code::CANCEL, H2Code::INTERNAL_ERROR];
        for (at, code) in codes.into_iter().enumerate() {
            let mut body = client.get(&url).send().await.unwrap().into_body();
            let first = body.frame().await.unwrap().unwrap();
            assert_eq!(first.data_ref().unwrap(), "half");
            server.receives_a_request(Version::Http3, "/");
            server.does(move |_, connections_open| {
                connections_open[at].0.reset(connections_open[at].1, code)
            });
            let error = body.frame().await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::StreamReset(code));
            let mut received = server.receives();
            while matches!(received, Recorded::Room(_)) {
                received = server.receives();
            }
            let by_peer = false;
            assert_eq!(received, Recorded::Ended(Ended::Reset { code, by_peer }));
            assert_eq!(server.receives(), Recorded::Disconnected);
        }
    });
}
