//! Mutual TLS: whom a server admits by the certificate that a client shows, and what handlers learn
//! of it, over TCP and QUIC.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support::origin;
use crate::support::peer;
use crate::support::peer::service;
use crate::support::udp_relay::UdpRelay;
use http::{Request, Response};
use http_body_util::BodyExt;
use rcgen::{
    BasicConstraints, CertificateParams, CertificateRevocationListParams, DnType,
    ExtendedKeyUsagePurpose, IsCa, Issuer, KeyIdMethod, KeyPair, RevokedCertParams, SerialNumber,
    date_time_ymd,
};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{
    ALL_VERSIONS, AlertDescription, ClientConfig, ClientConnection, HandshakeKind, ProtocolVersion,
    RootCertStore, StreamOwned,
};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::{
    Body, ClientCertificates, ConnectionInfo, ErrorKind, Running, Server, ServerConfig, Tls,
};

const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];

/// A certificate authority.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A client's certificate.
struct ClientIdentity {
    certificate: CertificateDer<'static>,
    key: KeyPair,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self {
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        }
    }
    fn issues(&self, change: impl FnOnce(&mut CertificateParams)) -> ClientIdentity {
        let mut params = CertificateParams::new(vec!["client".to_owned()]).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        let signed = params.signed_by(&key, &self.issuer).unwrap();
        let certificate = signed.der().clone();
        ClientIdentity { certificate, key }
    }
    fn revokes(&self, serial: u64) -> String {
        let revoked = RevokedCertParams {
            serial_number: SerialNumber::from(serial),
            revocation_time: date_time_ymd(2024, 1, 1),
            reason_code: None,
            invalidity_date: None,
        };
        let list = CertificateRevocationListParams {
            this_update: date_time_ymd(2024, 1, 1),
            next_update: date_time_ymd(2500, 1, 1),
            crl_number: SerialNumber::from(1),
            issuing_distribution_point: None,
            revoked_certs: vec![revoked],
            key_identifier_method: KeyIdMethod::Sha256,
        };
        list.signed_by(&self.issuer).unwrap().pem().unwrap()
    }
}

/// A server that says who its client is.
struct Serving {
    running: Running,
    root: CertificateDer<'static>,
}

fn serving(clients: ClientCertificates) -> Serving {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let tls = tls.client_certificates(clients).unwrap();
    let running = running(tls, true);
    Serving { running, root }
}

fn running(tls: Tls, connection_info: bool) -> Running {
    let config = ServerConfig::default().with_connection_info(connection_info);
    Server::bind("127.0.0.1:0")
        .tls(tls)
        .http3(true)
        .early_data(true)
        .config(config)
        .serve(service(async |request: Request<Body>| {
            let info = request.extensions().get::<ConnectionInfo>();
            let sent = match info.and_then(|info| info.tls().unwrap().client()) {
                None => "nobody".to_owned(),
                Some(client) => {
                    let count = client.certificates().len();
                    let fault = client.fault().map(ToString::to_string);
                    format!("{count} {}", fault.as_deref().unwrap_or("believed"))
                }
            };
            Response::new(Body::full(sent))
        }))
        .unwrap()
}

impl Serving {
    /// The server's answer to a client with this certificate; `None`: it admits none.
    fn sends(&self, protocols: Protocols, displayed: Option<&ClientIdentity>) -> Option<String> {
        let mut tls = ClientTls::new().root(self.root.clone()).only_given_roots();
        if let Some(displayed) = displayed {
            let key = displayed.key.serialize_der().try_into().unwrap();
            tls = tls.identity(vec![displayed.certificate.clone()], key);
        }
        let local = self.running.local_addr();
        let builder = Client::builder().protocols(protocols).tls(tls);
        let client = builder.resolve("localhost", [local]).build().unwrap();
        peer::block_on(async {
            let url = format!("https://localhost:{}/", local.port());
            match client.get(url).send().await {
                Ok(response) => {
                    let body = response.into_body().collect().await.unwrap();
                    Some(String::from_utf8(body.to_bytes().to_vec()).unwrap())
                }
                Err(error) => {
                    assert_ne!(error.kind(), ErrorKind::Config, "{error}");
                    None
                }
            }
        })
    }
}

fn believing(authority: &Authority) -> ClientCertificates {
    ClientCertificates::issued_by(authority.pem.as_bytes()).unwrap()
}

#[test]
fn only_clients_with_a_certificate_of_a_known_issuer_are_admitted() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let believed = ours.issues(|_| {});
    let unnegotiated = others.issues(|_| {});
    let serving = serving(believing(&ours));
    for version in VERSIONS {
        assert_eq!(
            serving.sends(version, Some(&believed)).as_deref(),
            Some("1 believed")
        );
        assert_eq!(
            serving.sends(version, Some(&unnegotiated)),
            None,
            "{version:?}"
        );
        assert_eq!(serving.sends(version, None), None, "{version:?}");
    }
    assert_eq!(serving.running.metrics().requests_h1, 1);
}

#[test]
fn where_they_are_optional_whoever_shows_none_is_admitted_and_whoever_shows_a_false_one_is_not() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let unnegotiated = others.issues(|_| {});
    let serving = serving(believing(&ours).optional());
    for version in VERSIONS {
        assert_eq!(serving.sends(version, None).as_deref(), Some("nobody"));
        assert_eq!(
            serving.sends(version, Some(&unnegotiated)),
            None,
            "{version:?}"
        );
    }
}

#[test]
fn handlers_that_judge_learn_what_is_wrong() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let unknown = "1 nobody who is believed has issued the certificate";
    let cases = [
        (ours.issues(|_| {}), "1 believed"),
        (others.issues(|_| {}), unknown),
        (
            ours.issues(|params| {
                params.not_before = date_time_ymd(2000, 1, 1);
                params.not_after = date_time_ymd(2001, 1, 1);
            }),
            "1 the certificate has expired",
        ),
        (
            ours.issues(|params| {
                params.not_before = date_time_ymd(2400, 1, 1);
                params.not_after = date_time_ymd(2500, 1, 1);
            }),
            "1 the certificate is not valid yet",
        ),
        (
            ours.issues(|params| {
                params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
            }),
            "1 the certificate is for something else",
        ),
    ];
    let serving = serving(believing(&ours).judged_by_handlers());
    for version in VERSIONS {
        assert_eq!(serving.sends(version, None).as_deref(), Some("nobody"));
        for (displayed, sends) in &cases {
            assert_eq!(
                serving.sends(version, Some(displayed)).as_deref(),
                Some(*sends)
            );
        }
    }
}

#[test]
fn a_revoked_certificate_is_not_believed() {
    let ours = Authority::new("ours");
    let revoked = ours.issues(|params| {
        params.serial_number = Some(SerialNumber::from(7));
    });
    let other = ours.issues(|params| {
        params.serial_number = Some(SerialNumber::from(8));
    });
    let clients = believing(&ours).not_revoked_by(ours.revokes(7).as_bytes());
    let clients = clients.unwrap();
    let strict = serving(clients.clone());
    let telling = serving(clients.judged_by_handlers());
    for version in VERSIONS {
        assert_eq!(strict.sends(version, Some(&revoked)), None);
        assert_eq!(
            strict.sends(version, Some(&other)).as_deref(),
            Some("1 believed")
        );
        let sends = telling.sends(version, Some(&revoked));
        assert_eq!(sends.as_deref(), Some("1 the certificate is revoked"));
    }
}

/// A server that admits every client, and one that resumes its sessions and believes one authority:
/// between the two, what a client had shown is believed no more.
fn before_and_after(authority: &Authority) -> (Running, Running, CertificateDer<'static>) {
    let (tls, root) = Tls::self_signed_with_root(&["localhost"]).unwrap();
    let lenient = believing(authority).judged_by_handlers();
    let lenient = tls.clone().client_certificates(lenient).unwrap();
    let strict = tls.client_certificates(believing(authority)).unwrap();
    let strict = strict.resuming_those_of(&lenient);
    (running(lenient, true), running(strict, false), root)
}

/// The alert with which the server has refused a client.
fn alert(error: &std::io::Error) -> Option<AlertDescription> {
    match error.get_ref()?.downcast_ref()? {
        rustls::Error::AlertReceived(alert) => Some(*alert),
        _ => None,
    }
}

#[test]
fn who_resumes_a_session_is_admitted_only_if_its_certificate_is_still_believed() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let (believed, unnegotiated) = (ours.issues(|_| {}), others.issues(|_| {}));
    let (before, after, root) = before_and_after(&ours);
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    for version in ALL_VERSIONS {
        for (displayed, is_admitted) in [
            (Some(&believed), true),
            (Some(&unnegotiated), false),
            (None, false),
        ] {
            let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
            let builder = ClientConfig::builder_with_provider(provider);
            let builder = builder.with_protocol_versions(&[version]).unwrap();
            let builder = builder.with_root_certificates(roots.clone());
            let config = match displayed {
                Some(displayed) => {
                    let key = displayed.key.serialize_der().try_into().unwrap();
                    let chain = vec![displayed.certificate.clone()];
                    builder.with_client_auth_cert(chain, key).unwrap()
                }
                None => builder.with_no_client_auth(),
            };
            let config = Arc::new(config);
            for (running, is_resumed) in [(&before, false), (&after, true)] {
                let name = ServerName::try_from("localhost").unwrap();
                let connection = ClientConnection::new(Arc::clone(&config), name).unwrap();
                let socket = TcpStream::connect(running.local_addr()).unwrap();
                let mut peer = StreamOwned::new(connection, socket);
                let request = b"GET / HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
                let asked = peer.write_all(request);
                let mut answer = String::new();
                let received = asked.and_then(|()| peer.read_to_string(&mut answer));
                let is_received = received.is_err();
                if let Err(error) = received {
                    let reported = match (displayed, version.version) {
                        (Some(_), _) => AlertDescription::UnknownCA,
                        (None, ProtocolVersion::TLSv1_2) => AlertDescription::HandshakeFailure,
                        (None, _) => AlertDescription::CertificateRequired,
                    };
                    assert_eq!(alert(&error), Some(reported), "{version:?} {error}");
                }
                let kind = peer.conn.handshake_kind();
                assert_eq!(kind == Some(HandshakeKind::Resumed), is_resumed, "{kind:?}");
                let is_answered = answer.starts_with("HTTP/1.1 200 OK");
                let is_served = is_admitted || !is_resumed;
                assert_eq!(is_answered, is_served, "{version:?} {answer}");
                assert!(is_received || is_served, "the end comes with an alert");
            }
        }
    }
    assert_eq!(
        after.metrics().requests_h1,
        2,
        "nobody else reached a handler"
    );
}

#[test]
fn who_is_not_admitted_learns_why_also_when_it_has_sent_more_than_anybody_reads() {
    let ours = Authority::new("ours");
    let Serving { running, root } = serving(believing(&ours));
    let mut roots = RootCertStore::empty();
    roots.add(root).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider);
    let config = config.with_safe_default_protocol_versions().unwrap();
    let config = config.with_root_certificates(roots).with_no_client_auth();
    let config = Arc::new(config);
    for _ in 0..20 {
        let name = ServerName::try_from("localhost").unwrap();
        let connection = ClientConnection::new(Arc::clone(&config), name).unwrap();
        let socket = TcpStream::connect(running.local_addr()).unwrap();
        let mut peer = StreamOwned::new(connection, socket);
        // Behind the end of the handshake, as its side sees it.
        let asked = peer.write_all(&[b'a'; 256 * 1024]);
        let error = asked.and_then(|()| peer.read_to_end(&mut Vec::new()).map(drop));
        let reported = alert(&error.unwrap_err());
        assert_eq!(reported, Some(AlertDescription::CertificateRequired));
    }
}

#[test]
fn early_data_of_who_is_not_believed_any_more_reaches_no_handler() {
    origin::run(async {
        let (ours, others) = (Authority::new("ours"), Authority::new("others"));
        let (believed, unnegotiated) = (ours.issues(|_| {}), others.issues(|_| {}));
        for (displayed, is_admitted) in [
            (Some(&believed), true),
            (Some(&unnegotiated), false),
            (None, false),
        ] {
            let (before, after, root) = before_and_after(&ours);
            let mut tls = ClientTls::new().root(root).only_given_roots();
            if let Some(displayed) = displayed {
                let key = displayed.key.serialize_der().try_into().unwrap();
                tls = tls.identity(vec![displayed.certificate.clone()], key);
            }
            let client = Client::builder().protocols(Protocols::H3Only).tls(tls);
            let client = client.resolve("localhost", [([127, 0, 0, 1], 0).into()]);
            let client = client.requests_per_connection(Some(1)).early_data(true);
            let client = client.build().unwrap();
            let relay = UdpRelay::to(before.local_addr()).await;
            let url = relay.url("/");
            client.get(url.clone()).send().await.unwrap();
            relay.turn_to(after.local_addr());
            let answer = client.get(url).send().await;
            assert_eq!(answer.is_ok(), is_admitted);
            let counts = client.early_data();
            assert_eq!((counts.sent, counts.rejected), (1, 0));
            let metrics = after.metrics();
            assert_eq!(metrics.requests_h3, u64::from(is_admitted));
            assert_eq!(metrics.requests_early, u64::from(is_admitted));
        }
    });
}

#[test]
fn a_configuration_of_rustls_keeps_its_verifier() {
    let provider = rustls::crypto::aws_lc_rs::default_provider();
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let own = params.self_signed(&key).unwrap().der().clone();
    let config = rustls::ServerConfig::builder_with_provider(provider.into())
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![own], key.serialize_der().try_into().unwrap())
        .unwrap();
    let tls = Tls::from_rustls(config.into());
    let refused = tls.client_certificates(believing(&Authority::new("ours")));
    assert!(
        refused
            .unwrap_err()
            .to_string()
            .contains("verifier of clients")
    );
}
