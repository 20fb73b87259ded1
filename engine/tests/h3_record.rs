//! HTTPS records (RFC 9460) of a resolver that gives them: HTTP/3 with the first request.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3;
use crate::support::http3::Origin;
use crate::support::origin::run;
use http::{Response, Version};
use http_body_util::BodyExt;
use std::future::{pending, ready};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use trunkline::client::{
    Client, ClientTls, HttpsRecord, Protocols, Resolver, Resolving, ResolvingRecord,
};
use trunkline::{Body, Limits};

/// Every name is this machine's; the record is as the test says.
#[derive(Clone)]
struct Names {
    record: Option<HttpsRecord>,
    /// The record never comes.
    silent: bool,
    asked: Arc<AtomicU64>,
}

impl Names {
    fn with(alpn: &[&str], port: Option<u16>) -> Self {
        let alpn = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
        let mut record = HttpsRecord::new(alpn, Duration::from_secs(60));
        record.port = port;
        Self {
            record: Some(record),
            silent: false,
            asked: Arc::default(),
        }
    }
}

impl Resolver for Names {
    fn resolve(&self, _host: &str, port: u16) -> Resolving {
        Box::pin(ready(Ok(vec![([127, 0, 0, 1], port).into()])))
    }
    fn https_record(&self, _host: &str, _port: u16) -> ResolvingRecord {
        self.asked.fetch_add(1, Ordering::SeqCst);
        if self.silent {
            return Box::pin(pending());
        }
        Box::pin(ready(Ok(self.record.clone())))
    }
}

fn origin() -> Origin {
    Origin::start(Limits::default(), |_| async {
        Response::new(Body::full("ok"))
    })
}

fn client(origin: &Origin, names: Names, protocols: Protocols) -> Client {
    let tls = ClientTls::new().root(origin.root()).only_given_roots();
    let client = Client::builder().resolver(names).protocols(protocols);
    client.tls(tls).build().unwrap()
}

async fn version(client: &Client, origin: &Origin) -> Version {
    let response = client.get(origin.url("/")).send().await.unwrap();
    let version = response.version();
    response.into_body().collect().await.unwrap();
    version
}

#[test]
fn a_record_that_names_h3_is_used_for_the_first_request() {
    run(async {
        let origin = origin();
        let names = Names::with(&["h2", "h3"], None);
        let client = client(&origin, names.clone(), Protocols::All);
        assert_eq!(version(&client, &origin).await, Version::HTTP_3);
        assert_eq!(version(&client, &origin).await, Version::HTTP_3);
        assert_eq!(names.asked.load(Ordering::SeqCst), 1);
        assert_eq!(origin.running.metrics().connections_accepted, 1);
    });
}

#[test]
fn a_record_may_name_another_port_and_a_wrong_one_only_costs_the_race() {
    run(async {
        let origin = origin();
        let (_nobody, port) = http3::nobody();
        let names = Names::with(&["h3"], Some(port));
        let client = client(&origin, names, Protocols::All);
        assert_eq!(version(&client, &origin).await, Version::HTTP_2);
    });
}

#[test]
fn a_record_without_h3_or_one_that_never_comes_changes_nothing() {
    run(async {
        let origin = origin();
        let plain = Names::with(&["h2"], None);
        let silent = Names {
            silent: true,
            ..Names::with(&["h3"], None)
        };
        for names in [plain, silent] {
            let client = client(&origin, names, Protocols::All);
            assert_eq!(version(&client, &origin).await, Version::HTTP_2);
        }
    });
}

/// A name with two addresses: the first one receives packets and never answers.
struct SilentFirst;

impl Resolver for SilentFirst {
    fn resolve(&self, _host: &str, port: u16) -> Resolving {
        let addresses = [[127, 0, 0, 2], [127, 0, 0, 1]].map(|ip| (ip, port).into());
        Box::pin(ready(Ok(addresses.to_vec())))
    }
}

#[test]
fn http_3_reaches_the_second_address_while_the_first_is_silent() {
    run(async {
        let origin = origin();
        let port = origin.running.local_addr().port();
        let _silent = std::net::UdpSocket::bind(("127.0.0.2", port)).unwrap();
        let tls = ClientTls::new().root(origin.root()).only_given_roots();
        let client = Client::builder().resolver(SilentFirst).tls(tls);
        let client = client.protocols(Protocols::H3Only).build().unwrap();
        assert_eq!(version(&client, &origin).await, Version::HTTP_3);
    });
}

#[test]
fn nobody_asks_for_a_record_where_http_3_is_not_allowed() {
    run(async {
        let origin = origin();
        let names = Names::with(&["h3"], None);
        let client = client(&origin, names.clone(), Protocols::H2AndH1);
        assert_eq!(version(&client, &origin).await, Version::HTTP_2);
        assert_eq!(names.asked.load(Ordering::SeqCst), 0);
    });
}
