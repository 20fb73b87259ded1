//! Proxies that state the clients of their requests in fields.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::peer;
use crate::support::peer::service;
use http::{Request, Response};
use http_body_util::BodyExt;
use std::sync::{Arc, Mutex};
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::server::{ForwardedClient, Forwarding};
use trunkline::{Body, Server, Tls, TrustedPeers};

/// Answers with what the extension says.
async fn answer(request: Request<Body>) -> Response<Body> {
    let client = request.extensions().get::<ForwardedClient>();
    Response::new(Body::from(client.map_or("none".to_owned(), shown)))
}

fn shown(client: &ForwardedClient) -> String {
    let address = client.address.map(|address| address.to_string());
    format!("{address:?} {:?} {:?}", client.is_secure, client.host)
}

/// The answer to a request with `fields` over each version, which are the same, and the client in the log.
fn asked(forwarding: &Forwarding, fields: &[(&str, &str)]) -> String {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let log = Arc::new(Mutex::new(Vec::new()));
    let logged = Arc::clone(&log);
    let server = Server::bind("127.0.0.1:0").tls(tls).http3(true).workers(1);
    let server = server.forwarding(forwarding.clone());
    let server = server.access_log(move |access| {
        let client = access.forwarded.map_or("none".to_owned(), shown);
        logged.lock().unwrap().push(client);
    });
    let running = server.serve(service(answer)).unwrap();
    let address = running.local_addr();
    let mut answers = Vec::new();
    for protocols in [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only] {
        let client = Client::builder()
            .protocols(protocols)
            .resolve("localhost", [address])
            .tls(ClientTls::new().root(root.clone()).only_given_roots())
            .build()
            .unwrap();
        let url = format!("https://localhost:{}/", address.port());
        answers.push(peer::block_on(async {
            let mut request = client.get(url);
            for (name, value) in fields {
                request = request.header(*name, *value);
            }
            let response = request.send().await.unwrap();
            let body = response.into_body().collect().await.unwrap().to_bytes();
            String::from_utf8(body.to_vec()).unwrap()
        }));
    }
    peer::block_on(running.drain(std::time::Duration::from_secs(60)));
    assert_eq!(*log.lock().unwrap(), answers);
    assert_eq!(answers, [answers[0].as_str(); 3]);
    answers.swap_remove(0)
}

fn peers(listed: &[&str]) -> TrustedPeers {
    TrustedPeers::parse(listed).unwrap()
}

const STANDARD: (&str, &str) = (
    "forwarded",
    "for=198.51.100.1, for=192.0.2.7;proto=http;host=a.test, for=10.0.0.1;proto=https",
);
const X_FOR: (&str, &str) = ("x-forwarded-for", "198.51.100.1, 192.0.2.7, 10.0.0.1");
const X_PROTO: (&str, &str) = ("x-forwarded-proto", "https");

#[test]
fn a_listed_proxy_names_the_client_and_what_the_client_has_put_in_front_is_not_believed() {
    let standard = Forwarding::standard(peers(&["127.0.0.0/8", "10.0.0.0/8"]));
    let expected = r#"Some("192.0.2.7") Some(false) Some("a.test")"#;
    assert_eq!(asked(&standard, &[STANDARD]), expected);
    let x_forwarded = Forwarding::x_forwarded(peers(&["127.0.0.1", "10.0.0.1"]));
    let expected = r#"Some("192.0.2.7") Some(true) None"#;
    assert_eq!(asked(&x_forwarded, &[X_FOR, X_PROTO]), expected);
}

#[test]
fn a_peer_that_is_not_listed_and_fields_of_the_other_kind_name_no_client() {
    let fields = [STANDARD, X_FOR, X_PROTO];
    for forwarding in [Forwarding::standard, Forwarding::x_forwarded] {
        assert_eq!(asked(&forwarding(peers(&["10.0.0.0/8"])), &fields), "none");
    }
    let listed = ["127.0.0.1"];
    assert_eq!(
        asked(&Forwarding::standard(peers(&listed)), &[X_FOR, X_PROTO]),
        "none"
    );
    assert_eq!(
        asked(&Forwarding::x_forwarded(peers(&listed)), &[STANDARD]),
        "none"
    );
}
