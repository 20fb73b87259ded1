//! Our client with Go's net/http (`interop/peers/go`).

use crate::way::{Way, read, run, ten_mebibytes};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt;
use std::future::ready;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use trunkline::client::{Client, ClientTls, HttpsRecord, Resolver, Resolving, ResolvingRecord};
use trunkline::{Body, ErrorKind};
use trunkline_interop::{Certificate, Cores, Peer, Workplace, go_program, is_go_installed};

struct Stage {
    peer: Peer,
    certificate: Certificate,
    _workplace: Workplace,
}

fn with_go() -> Option<Stage> {
    is_go_installed().then(|| {
        let workplace = Workplace::new().unwrap();
        let certificate = Certificate::write(workplace.path()).unwrap();
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("peers/go");
        let peer = go_program(&workplace, &certificate, &Cores::Any, &source).unwrap();
        Stage {
            peer,
            certificate,
            _workplace: workplace,
        }
    })
}

#[test]
fn go_receives_the_version_of_each_way_and_answers_get_and_head() {
    let Some(stage) = with_go() else { return };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            let url = |path: &str| way.url(stage.peer.endpoints, path);
            let version = client.get(url("/version")).send().await.unwrap();
            let expected = if way.is_h2() { "HTTP/2.0" } else { "HTTP/1.1" };
            assert_eq!(read(version.into_body()).await.0, expected, "{way:?}");
            let got = client.get(url("/bytes/1024")).send().await.unwrap();
            assert_eq!(read(got.into_body()).await.0.len(), 1024, "{way:?}");
            let head = client.head(url("/bytes/1024")).send().await.unwrap();
            assert_eq!(head.headers()["content-length"], "1024", "{way:?}");
            assert!(
                read(head.into_body()).await.0.is_empty(),
                "{way:?}: HEAD has no body"
            );
        }
    });
}

#[test]
fn go_echoes_ten_mebibytes_every_way() {
    let Some(stage) = with_go() else { return };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, "/echo");
            let echo = client
                .post(&url)
                .body(ten_mebibytes())
                .send()
                .await
                .unwrap();
            let same = read(echo.into_body()).await.0 == ten_mebibytes();
            assert!(same, "{way:?}: the bytes came back changed");
        }
    });
}

#[test]
fn trailers_go_both_ways_with_go() {
    let Some(stage) = with_go() else { return };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, "/trailers");
            let (mut sender, body) = Body::channel();
            let sending = tokio::spawn(async move {
                sender.send(Bytes::from_static(b"body")).await.unwrap();
                let mut trailers = HeaderMap::new();
                trailers.insert("x-sent", HeaderValue::from_static("ours"));
                sender.finish_with(trailers);
            });
            // RFC 9110 section 6.6.2: Go keeps only trailers that were announced.
            let request = client.post(&url).header("trailer", "x-sent").body(body);
            let (body, trailers) = read(request.send().await.unwrap().into_body()).await;
            sending.await.unwrap();
            assert_eq!(body, "body", "{way:?}");
            assert_eq!(trailers["x-heard"], "ours", "{way:?}");
            assert_eq!(trailers["x-sum"], "42", "{way:?}");
        }
    });
}

#[test]
fn an_early_hint_of_go_arrives_before_the_response() {
    let Some(stage) = with_go() else { return };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, "/early");
            let received = Arc::new(Mutex::new(Vec::new()));
            let note = Arc::clone(&received);
            let request = client.get(&url).on_interim(move |interim| {
                let link = interim.headers()["link"].clone();
                note.lock().unwrap().push((interim.status(), link));
            });
            let response = request.send().await.unwrap();
            assert_eq!(response.status(), StatusCode::OK, "{way:?}");
            assert!(
                !response.headers().contains_key("link"),
                "{way:?}: not the hint's fields"
            );
            assert_eq!(read(response.into_body()).await.0, "done", "{way:?}");
            let link = HeaderValue::from_static("</style.css>; rel=preload");
            let hints = received.lock().unwrap().clone();
            assert_eq!(hints, [(StatusCode::EARLY_HINTS, link)], "{way:?}");
        }
    });
}

#[test]
fn a_response_that_go_cuts_off_is_an_error_and_never_a_short_body() {
    let Some(stage) = with_go() else { return };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            let url = way.url(stage.peer.endpoints, "/reset");
            let response = client.get(&url).send().await.unwrap();
            let error = response.into_body().collect().await.unwrap_err();
            if way.is_h2() {
                assert!(
                    matches!(error.kind(), ErrorKind::StreamReset(_)),
                    "{way:?}: {error:?}"
                );
                let totals = client.stats();
                let connections: u32 = totals.iter().map(|origin| origin.connections).sum();
                assert_eq!(
                    connections, 1,
                    "{way:?}: the stream ended, not the connection"
                );
            }
            let next = client
                .get(way.url(stage.peer.endpoints, "/version"))
                .send()
                .await;
            assert_eq!(next.unwrap().status(), StatusCode::OK, "{way:?}");
        }
    });
}

#[test]
fn requests_move_on_when_go_ends_the_connection_in_the_middle() {
    let Some(stage) = with_go() else { return };
    run(async {
        for way in Way::ALL {
            let client = way.client(&stage.certificate);
            // Every twentieth request is the last of its connection: GOAWAY, or `connection: close`.
            // Three of them hand a request back three times at most, and that is how often it is
            // sent again.
            let path = |number: u32| {
                if number % 20 == 3 {
                    "/last"
                } else {
                    "/bytes/1024"
                }
            };
            let requests: Vec<_> = (0..60)
                .map(|number| way.url(stage.peer.endpoints, path(number)))
                .map(|url| tokio::spawn(client.get(url).send()))
                .collect();
            for (number, request) in requests.into_iter().enumerate() {
                let response = request.await.unwrap();
                let response = response.unwrap_or_else(|why| panic!("{way:?} {number}: {why:?}"));
                assert_eq!(response.status(), StatusCode::OK, "{way:?} {number}");
                read(response.into_body()).await;
            }
        }
    });
}

/// Go's server, with these keys as if from its HTTPS record.
struct Recorded(Vec<u8>);

impl Resolver for Recorded {
    fn resolve(&self, _host: &str, port: u16) -> Resolving {
        Box::pin(ready(Ok(vec![([127, 0, 0, 1], port).into()])))
    }
    fn https_record(&self, _host: &str, _port: u16) -> ResolvingRecord {
        let mut record = HttpsRecord::new(vec![b"h2".to_vec()], Duration::from_secs(60));
        record.ech = Some(self.0.clone());
        Box::pin(ready(Ok(Some(record))))
    }
}

#[test]
fn go_accepts_a_clienthello_that_is_encrypted_by_its_keys() {
    let Some(stage) = with_go() else { return };
    run(async {
        let plain = Way::H1.client(&stage.certificate);
        let url = |way: Way, path: &str| way.url(stage.peer.endpoints, path);
        let keys = plain.get(url(Way::H1, "/ech/keys")).send().await.unwrap();
        let keys = read(keys.into_body()).await.0;
        let client = |keys: Vec<u8>| {
            let root = stage.certificate.der.clone().into();
            let tls = ClientTls::new().root(root).only_given_roots();
            let client = Client::builder().resolver(Recorded(keys));
            client.tls(tls.encrypted_client_hello()).build().unwrap()
        };
        let answer = client(keys.to_vec()).get(url(Way::H2Tls, "/ech")).send();
        let answer = read(answer.await.unwrap().into_body()).await.0;
        assert_eq!(answer, "localhost true");

        // The key's first byte changed: it is another key, and Go sends the right ones.
        let mut others = keys.to_vec();
        others[11] ^= 1;
        let error = client(others).get(url(Way::H2Tls, "/ech")).send().await;
        let error = error.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Tls);
        assert!(error.to_string().contains("has other keys"), "{error}");
    });
}
