//! Encrypted ClientHellos (ECH, RFC 9849) of a client whose resolver gives keys: what goes over the wire, and
//! servers that have no keys or cannot prove their public name.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::client_hello::first_client_hello;
use crate::support::origin::run;
use crate::support::peer::service;
use http::{Response, Version};
use rustls::pki_types::CertificateDer;
use std::future::ready;
use std::time::Duration;
use trunkline::client::{
    Client, ClientTls, HttpsRecord, Protocols, Resolver, Resolving, ResolvingRecord,
};
use trunkline::{Body, ErrorKind, Retry, Running, Server, Tls};

/// The name to hide, and the one to show in its place.
const HIDDEN: &str = "hidden.test";
const COVER: &str = "cover.test";

/// An ECHConfigList (RFC 9849 section 4) with one key for DHKEM(X25519, HKDF-SHA256), HKDF-SHA256 and
/// AES-128-GCM; the key is X25519's base point, whose private key is unknown.
fn keys() -> Vec<u8> {
    let mut contents = vec![1, 0x00, 0x20, 0, 32, 9];
    contents.extend([0; 31]);
    contents.extend([0, 4, 0, 1, 0, 1, 0]);
    contents.push(u8::try_from(COVER.len()).unwrap());
    contents.extend(COVER.bytes());
    contents.extend([0, 0]);
    let length = |part: &[u8]| u16::try_from(part.len()).unwrap().to_be_bytes();
    let config = [&[0xfe, 0x0d][..], &length(&contents), &contents].concat();
    [&length(&config)[..], &config].concat()
}

/// Every name is this machine's, with these keys.
struct Names {
    alpn: &'static [&'static str],
    keys: Option<Vec<u8>>,
}

impl Resolver for Names {
    fn resolve(&self, _host: &str, port: u16) -> Resolving {
        Box::pin(ready(Ok(vec![([127, 0, 0, 1], port).into()])))
    }
    fn https_record(&self, _host: &str, _port: u16) -> ResolvingRecord {
        let alpn = self.alpn.iter().map(|name| name.as_bytes().to_vec());
        let mut record = HttpsRecord::new(alpn.collect(), Duration::from_secs(60));
        record.ech = self.keys.clone();
        Box::pin(ready(Ok(Some(record))))
    }
}

fn client(tls: ClientTls, keys: Vec<u8>) -> Client {
    let names = Names {
        alpn: &["h2", "h3"],
        keys: Some(keys),
    };
    let client = Client::builder().resolver(names).tls(tls);
    client.protocols(Protocols::All).build().unwrap()
}

fn trusting(root: &CertificateDer<'static>) -> ClientTls {
    ClientTls::new().root(root.clone()).only_given_roots()
}

/// A server without keys whose certificate is for `names`.
fn server(names: &[&str]) -> (Running, CertificateDer<'static>) {
    let (tls, root) = Tls::self_signed_with_root(names).unwrap();
    let server = Server::bind("127.0.0.1:0").workers(1).tls(tls).http3(true);
    let running = server.serve(service(|_| async { Response::new(Body::full("ok")) }));
    (running.unwrap(), root)
}

/// The first ClientHello that reaches a TCP port: the name in it, and its bytes.
fn first_hello(tls: ClientTls, keys: Vec<u8>) -> (String, Vec<u8>) {
    let (port, reading) = first_client_hello(|hello| hello.server_name().unwrap().to_owned());
    run(async move {
        let names = Names {
            alpn: &["h2"],
            keys: Some(keys),
        };
        let client = Client::builder().resolver(names).tls(tls).build().unwrap();
        let url = format!("https://{HIDDEN}:{port}/");
        client.get(url).send().await.unwrap_err();
    });
    reading.join().unwrap()
}

#[test]
fn the_name_is_nowhere_in_the_clienthello_and_the_public_name_stands_in_its_place() {
    let contains = |bytes: &[u8], name: &str| {
        let mut windows = bytes.windows(name.len());
        windows.any(|window| window == name.as_bytes())
    };
    let tls = || ClientTls::new().insecure();
    let (name, bytes) = first_hello(tls().encrypted_client_hello(), keys());
    assert_eq!(name, COVER);
    assert!(!contains(&bytes, HIDDEN));

    let (name, bytes) = first_hello(tls(), keys());
    assert_eq!(
        name, HIDDEN,
        "without the setting the record's keys are not used"
    );
    assert!(contains(&bytes, HIDDEN));

    for useless in [
        Vec::new(),
        vec![0, 0],
        vec![0, 9, 0xfe],
        keys()[2..].to_vec(),
    ] {
        let (name, _) = first_hello(tls().encrypted_client_hello(), useless.clone());
        assert_eq!(name, HIDDEN, "no key can be read in {useless:?}");
    }
    let (name, _) = first_hello(tls().only_tls12().encrypted_client_hello(), keys());
    assert_eq!(name, HIDDEN, "TLS 1.2 has none");
}

#[test]
fn a_server_that_proves_its_public_name_and_has_no_keys_is_connected_to_without() {
    run(async {
        let (server, root) = server(&[HIDDEN, COVER]);
        let client = client(trusting(&root).encrypted_client_hello(), keys());
        let url = format!("https://{HIDDEN}:{}/", server.local_addr().port());
        let response = client.get(url).send().await.unwrap();
        // QUIC's attempt ends with the refusal, and TCP's is made again.
        assert_eq!(response.version(), Version::HTTP_2);
    });
}

#[test]
fn a_server_that_cannot_prove_its_public_name_does_not_learn_the_hidden_one() {
    run(async {
        let (server, root) = server(&[HIDDEN]);
        let client = client(trusting(&root).encrypted_client_hello(), keys());
        let url = format!("https://{HIDDEN}:{}/", server.local_addr().port());
        let error = client.get(url).send().await.unwrap_err();
        assert_eq!(
            (error.kind(), error.retry()),
            (ErrorKind::Tls, Retry::Never),
            "{error}"
        );
    });
}
