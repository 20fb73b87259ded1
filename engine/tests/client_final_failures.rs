//! Failures that come again however often a request is repeated say so.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::peer;
use crate::support::peer::service;
use http::Response;
use std::io;
use std::net::SocketAddr;
use trunkline::client::{Client, ClientTls, Protocols, Resolver, Resolving};
use trunkline::core::error::Violation;
use trunkline::{Body, Error, ErrorKind, Fault, Retry, Running, Server, Tls};

fn secured() -> Running {
    let server = Server::bind("127.0.0.1:0").tls(Tls::self_signed(["localhost"]).unwrap());
    let server = server.http3(true);
    server
        .serve(service(async |_| Response::new(Body::empty())))
        .unwrap()
}

fn fails(client: &Client, url: &str) -> Error {
    peer::block_on(async { client.get(url).send().await.unwrap_err() })
}

#[test]
fn a_certificate_of_an_unknown_issuer_is_not_to_be_tried_again_over_tcp_and_quic() {
    let running = secured();
    let port = running.local_addr().port();
    for protocols in [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only] {
        let client = Client::builder()
            .protocols(protocols)
            .resolve("localhost", [running.local_addr()])
            .tls(ClientTls::new())
            .build()
            .unwrap();
        let error = fails(&client, &format!("https://localhost:{port}/"));
        assert_eq!(error.kind(), ErrorKind::Tls, "{protocols:?} {error}");
        assert_eq!(error.retry(), Retry::Never, "{protocols:?} {error}");
    }
}

#[test]
fn an_http_url_to_a_port_under_tls_says_that_https_is_meant() {
    let running = secured();
    let client = Client::builder().build().unwrap();
    let error = fails(&client, &format!("http://{}/", running.local_addr()));
    let expected = ErrorKind::Violation(Violation::TlsInCleartext);
    assert_eq!(error.kind(), expected, "{error}");
    assert_eq!(
        (error.fault(), error.retry()),
        (Fault::Config, Retry::Never)
    );
    assert!(error.to_string().contains("https://"), "{error}");
}

/// Answers with an error of this kind, or with no address.
struct Answering(Option<io::ErrorKind>);

impl Resolver for Answering {
    fn resolve(&self, _: &str, _: u16) -> Resolving {
        let answer: io::Result<Vec<SocketAddr>> = match self.0 {
            Some(kind) => Err(kind.into()),
            None => Ok(Vec::new()),
        };
        Box::pin(std::future::ready(answer))
    }
}

#[test]
fn a_host_that_is_not_there_is_not_to_be_tried_again_and_a_silent_resolver_is() {
    for (answer, retry) in [
        (Some(io::ErrorKind::NotFound), Retry::Never),
        (None, Retry::Never),
        (Some(io::ErrorKind::TimedOut), Retry::Safe),
        (Some(io::ErrorKind::Other), Retry::Safe),
    ] {
        let resolver = Answering(answer);
        let client = Client::builder().resolver(resolver).build().unwrap();
        let error = fails(&client, "http://nowhere.test/");
        assert_eq!(error.kind(), ErrorKind::Resolve, "{error}");
        assert_eq!(error.retry(), retry, "{answer:?}: {error}");
    }
}
