//! Name servers: HTTPS records (RFC 9460) and addresses, asked over UDP of a server on loopback.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::name_server::{NameServer, Row};
use crate::support::origin::run;
use crate::support::peer::service;
use http::{Response, Version};
use rustls::pki_types::CertificateDer;
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;
use trunkline::client::{Client, ClientTls, DnsResolver, Protocols, Resolver};
use trunkline::{Body, Running, Server, Tls};

/// A server of all versions whose certificate is for `origin.test`.
fn origin() -> (Running, CertificateDer<'static>) {
    let (tls, root) = Tls::self_signed_with_root(&["origin.test"]).unwrap();
    let server = Server::bind("127.0.0.1:0").workers(1).tls(tls).http3(true);
    let running = server.serve(service(|_| async { Response::new(Body::full("ok")) }));
    (running.unwrap(), root)
}

fn client(names: &NameServer, root: &CertificateDer<'static>) -> Client {
    let tls = ClientTls::new().root(root.clone()).only_given_roots();
    Client::builder()
        .resolver(DnsResolver::with_name_servers(names.address))
        .protocols(Protocols::All)
        // The version that the record names wins also where the machine is slow.
        .attempt_delay(Duration::from_secs(2))
        .tls(tls)
        .build()
        .unwrap()
}

async fn version(client: &Client, url: &str) -> Version {
    let response = client.get(url).send().await.unwrap();
    response.version()
}

/// A name server with these rows of a zone.
async fn names(table: &[(&str, u32, &str)]) -> NameServer {
    let row = |&(key, ttl, data): &(_, _, &str)| -> Row<'_> { (key, ttl, data.to_owned()) };
    NameServer::start(&table.iter().map(row).collect::<Vec<_>>()).await
}

/// The version of a response of an origin whose port has this HTTPS record, beside `others`.
async fn version_by(record: &str, others: &[(&str, u32, &str)]) -> Version {
    let (server, root) = origin();
    let port = server.local_addr().port();
    let key = format!("_{port}._https.origin.test. HTTPS");
    let names = names(&[&[(&key[..], 60, record)], others].concat()).await;
    let client = client(&names, &root);
    version(&client, &format!("https://origin.test:{port}/")).await
}

#[test]
fn the_first_request_goes_over_http_3_where_the_record_of_a_name_server_names_it() {
    run(async {
        let (server, root) = origin();
        let port = server.local_addr().port();
        let names = names(&[
            ("origin.test. A", 60, "127.0.0.1"),
            (
                &format!("_{port}._https.origin.test. HTTPS"),
                60,
                "1 . alpn=h2,h3",
            ),
        ])
        .await;
        let client = client(&names, &root);
        let url = format!("https://origin.test:{port}/");
        assert_eq!(version(&client, &url).await, Version::HTTP_3);
        assert_eq!(server.metrics().connections_accepted, 1);
    });
}

#[test]
fn a_record_may_lead_from_port_443_to_another_host_and_port_under_the_certificate_of_the_url() {
    run(async {
        for (alpn, spoken) in [("h3", Version::HTTP_3), ("h2", Version::HTTP_2)] {
            let (server, root) = origin();
            let port = server.local_addr().port();
            let names = names(&[
                // No server listens there.
                ("origin.test. A", 60, "127.0.0.2"),
                (
                    "origin.test. HTTPS",
                    60,
                    &format!("1 service.test. alpn={alpn} port={port}"),
                ),
                ("service.test. A", 60, "127.0.0.1"),
            ])
            .await;
            let client = client(&names, &root);
            assert_eq!(
                version(&client, "https://origin.test/").await,
                spoken,
                "{alpn}"
            );
        }
    });
}

#[test]
fn an_alias_leads_to_the_addresses_of_its_target() {
    run(async {
        let others = [
            ("origin.test. A", 60, "127.0.0.2"),
            ("first.test. HTTPS", 60, "0 second.test."),
            ("second.test. A", 60, "127.0.0.1"),
        ];
        assert_eq!(version_by("0 first.test.", &others).await, Version::HTTP_2);
    });
}

#[test]
fn aliases_in_a_circle_end() {
    run(async {
        let others = [
            ("origin.test. A", 60, "127.0.0.1"),
            ("first.test. HTTPS", 60, "0 second.test."),
            ("second.test. HTTPS", 60, "0 first.test."),
        ];
        assert_eq!(version_by("0 first.test.", &others).await, Version::HTTP_2);
    });
}

#[test]
fn address_hints_stand_in_for_addresses_that_cannot_be_had() {
    run(async {
        let record = "1 . alpn=h3 ipv4hint=127.0.0.1";
        assert_eq!(version_by(record, &[]).await, Version::HTTP_3);
    });
}

#[test]
fn a_question_for_a_record_that_is_never_answered_changes_nothing() {
    run(async {
        let others = [("origin.test. A", 60, "127.0.0.1")];
        assert_eq!(version_by("-", &others).await, Version::HTTP_2);
    });
}

#[test]
fn a_record_and_an_address_are_kept_for_their_time_to_live() {
    run(async {
        let names = names(&[
            ("kept.test. HTTPS", 300, "1 . alpn=h3"),
            ("kept.test. A", 300, "127.0.0.1"),
            ("gone.test. HTTPS", 0, "1 . alpn=h3"),
            ("gone.test. A", 0, "127.0.0.1"),
        ])
        .await;
        let resolver = DnsResolver::with_name_servers(names.address);
        for host in ["kept.test", "gone.test"] {
            for _ in 0..3 {
                let record = resolver.https_record(host, 443).await.unwrap().unwrap();
                assert_eq!(record.alpn, [b"h3".to_vec(), b"http/1.1".to_vec()]);
                assert!(record.ttl <= Duration::from_secs(300), "{record:?}");
                let addresses = resolver.resolve(host, 8443).await.unwrap();
                assert_eq!(addresses, [(Ipv4Addr::LOCALHOST, 8443).into()]);
            }
        }
        let asked = names.asked();
        let count = |key: &str| asked.iter().filter(|asked| *asked == key).count();
        assert_eq!(count("kept.test. HTTPS"), 1, "{asked:?}");
        assert_eq!(count("kept.test. A"), 1, "{asked:?}");
        assert_eq!(count("gone.test. HTTPS"), 3, "{asked:?}");
        assert_eq!(count("gone.test. A"), 3, "{asked:?}");
    });
}

#[test]
fn a_name_that_does_not_exist_is_an_error_of_the_kind_not_found_and_has_no_record() {
    run(async {
        let names = names(&[]).await;
        let resolver = DnsResolver::with_name_servers(names.address);
        let error = resolver.resolve("missing.test", 443).await.unwrap_err();
        assert_eq!(error.kind(), std::io::ErrorKind::NotFound, "{error}");
        assert_eq!(
            resolver.https_record("missing.test", 443).await.unwrap(),
            None
        );
    });
}

#[test]
fn names_that_are_the_users_own_are_not_sent_to_name_servers() {
    run(async {
        let names = names(&[]).await;
        let resolver = DnsResolver::with_name_servers(names.address);
        for host in [
            "printer",
            "localhost",
            "app.localhost",
            "nas.local",
            "nas.local.",
        ] {
            let record = resolver.https_record(host, 443).await.unwrap();
            assert_eq!(record, None, "{host}");
        }
        assert_eq!(names.asked(), [""; 0]);
    });
}

#[test]
fn an_origin_behind_a_proxy_is_not_sent_to_name_servers() {
    run(async {
        let names = names(&[]).await;
        for proxy in ["http://127.0.0.1:9", "socks5h://127.0.0.1:9"] {
            let client = Client::builder()
                .resolver(DnsResolver::with_name_servers(names.address))
                .protocols(Protocols::All)
                .proxy(proxy)
                .build()
                .unwrap();
            client.get("https://origin.test/").send().await.unwrap_err();
        }
        assert_eq!(names.asked(), [""; 0]);
    });
}

#[test]
fn no_name_server_is_an_error_of_each_lookup() {
    run(async {
        let resolver = DnsResolver::with_name_servers(Vec::new());
        let error = resolver.resolve("origin.test", 443).await.unwrap_err();
        assert!(error.to_string().contains("no name server"), "{error}");
        let error = resolver.https_record("origin.test", 443).await.unwrap_err();
        assert!(error.to_string().contains("no name server"), "{error}");
    });
}

#[test]
fn the_operating_system_resolves_addresses_beside_the_systems_name_servers() {
    run(async {
        let found = DnsResolver::new().resolve("localhost", 80).await.unwrap();
        let ours = |ip: IpAddr| ip.is_loopback();
        assert!(found.iter().all(|address| ours(address.ip())), "{found:?}");
    });
}
