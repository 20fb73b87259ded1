//! Our client over HTTP/3 with Caddy, alone and in front of our own server.

use crate::ours;
use crate::way::{Way, read, run, ten_mebibytes};
use bytes::Bytes;
use http::{StatusCode, Version};
use http_body_util::BodyExt;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use trunkline::client::{Client, Protocols};
use trunkline::{ErrorKind, Retry, ServerConfig};
use trunkline_interop::{Certificate, Cores, Peer, Workplace, caddy, is_installed, reload_caddy};

struct Stage {
    peer: Peer,
    certificate: Certificate,
    workplace: Workplace,
    /// The server behind it.
    ours: ours::Stage,
}

fn stage() -> Option<Stage> {
    is_installed("caddy", "caddy").then(|| {
        let ours = ours::stage_with(ServerConfig::default().with_interim_responses(true));
        let workplace = Workplace::new().unwrap();
        let certificate = Certificate::write(workplace.path()).unwrap();
        let behind = Some(ours.endpoints.h2c);
        let peer = caddy(&workplace, &certificate, &Cores::Any, behind).unwrap();
        Stage {
            peer,
            certificate,
            workplace,
            ours,
        }
    })
}

impl Stage {
    fn client(&self) -> Client {
        Way::H3.client(&self.certificate)
    }
    fn url(&self, path: &str) -> String {
        Way::H3.url(self.peer.endpoints, path)
    }
    async fn get(&self, client: &Client, path: &str) -> Bytes {
        let response = client.get(self.url(path)).send().await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{path}");
        assert_eq!(response.version(), Version::HTTP_3, "{path}");
        read(response.into_body()).await.0
    }
}

#[test]
fn caddy_answers_get_and_head_over_http3() {
    let Some(stage) = stage() else { return };
    run(async {
        let client = stage.client();
        assert_eq!(stage.get(&client, "/bytes/2").await, "ok");
        assert_eq!(stage.get(&client, "/bytes/1024").await, vec![b'x'; 1024]);
        let head = client.head(stage.url("/bytes/1024")).send().await.unwrap();
        assert_eq!(head.headers()["content-length"], "1024");
        assert!(read(head.into_body()).await.0.is_empty());
        let none = client.get(stage.url("/none")).send().await.unwrap();
        assert_eq!(none.status(), StatusCode::NOT_FOUND);
        assert_eq!(client.totals().connections, 1);
    });
}

#[test]
fn ten_mebibytes_go_through_caddy_to_our_server_and_back() {
    let Some(stage) = stage() else { return };
    run(async {
        let post = stage.client().post(stage.url("/behind/echo"));
        let echo = post.body(ten_mebibytes()).send().await.unwrap();
        assert_eq!(echo.version(), Version::HTTP_3);
        let same = read(echo.into_body()).await.0 == ten_mebibytes();
        assert!(same, "the bytes came back changed");
        assert_eq!(stage.ours.clear.metrics().requests_h2, 1);
    });
}

#[test]
fn an_early_hint_from_behind_caddy_arrives_before_the_response() {
    let Some(stage) = stage() else { return };
    run(async {
        let received = Arc::new(Mutex::new(Vec::new()));
        let note = Arc::clone(&received);
        let client = stage.client();
        let request = client.get(stage.url("/behind/early"));
        let request = request.on_interim(move |interim| {
            let link = interim.headers()["link"].clone();
            note.lock().unwrap().push((interim.status(), link));
        });
        let response = request.send().await.unwrap();
        assert_eq!(response.version(), Version::HTTP_3);
        assert_eq!(read(response.into_body()).await.0, "done");
        let hint = (
            StatusCode::EARLY_HINTS,
            "</style.css>; rel=preload".parse().unwrap(),
        );
        assert_eq!(*received.lock().unwrap(), [hint]);
    });
}

/// This Caddy ends such an answer as if it were whole: only its content-length tells.
#[test]
fn an_answer_that_breaks_off_behind_caddy_is_an_error_and_never_a_short_body() {
    let Some(stage) = stage() else { return };
    run(async {
        let client = stage.client();
        let cut = client.get(stage.url("/behind/cut")).send();
        let cut = tokio::spawn(async move { cut.await?.into_body().collect().await });
        while stage.ours.clear.metrics().requests_h2 == 0 {
            tokio::task::yield_now().await;
        }
        // The begun answer is on its way before the rest is cut off.
        stage.get(&client, "/behind/bytes/1024").await;
        stage.get(&client, "/behind/release").await;
        let error = cut.await.unwrap().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Violation(_)), "{error:?}");
        stage.get(&client, "/bytes/2").await;
        assert_eq!(client.totals().connections, 1, "only the stream ended");
    });
}

#[test]
fn caddy_learns_that_we_give_a_request_up() {
    let Some(stage) = stage() else { return };
    run(async {
        let client = stage.client();
        let response = client.get(stage.url("/behind/never")).send();
        drop(response.await.unwrap());
        assert_eq!(stage.get(&client, "/behind/gone").await, "gone");
        assert_eq!(client.totals().connections, 1);
    });
}

/// It does above this many requests under way, and has no setting for it.
const CADDY_BUSY: usize = 1000;

/// Passes the packets of one client on to `server`, and counts the server's Retry packets. It ends
/// with the process.
fn relay(server: u16) -> (u16, Arc<AtomicU64>) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let port = socket.local_addr().unwrap().port();
    let server: SocketAddr = ([127, 0, 0, 1], server).into();
    let retries = Arc::new(AtomicU64::new(0));
    let count = Arc::clone(&retries);
    std::thread::spawn(move || {
        let mut client = None;
        let mut packet = [0; 64 * 1024];
        while let Ok((len, from)) = socket.recv_from(&mut packet) {
            let packet = &packet[..len];
            let to = match from == server {
                true => client,
                false => {
                    client = Some(from);
                    Some(server)
                }
            };
            // RFC 9000 section 17.2.5: the type is not protected.
            if from == server && packet.first().is_some_and(|first| first & 0xf0 == 0xf0) {
                count.fetch_add(1, Ordering::SeqCst);
            }
            // Packets that cannot be passed on are lost, as anywhere.
            let _ = to.map(|to| socket.send_to(packet, to));
        }
    });
    (port, retries)
}

#[test]
fn a_caddy_under_load_asks_for_proof_of_our_address_and_gets_it() {
    let Some(stage) = stage() else { return };
    run(async {
        let (port, retries) = relay(stage.peer.endpoints.tls);
        let get = async || {
            let response = stage.client().get(Way::H3.url_at(port, "/bytes/2"));
            let response = response.send().await.unwrap();
            assert_eq!(response.version(), Version::HTTP_3);
            assert_eq!(read(response.into_body()).await.0, "ok");
        };
        get().await;
        assert_eq!(retries.load(Ordering::SeqCst), 0, "it is idle");
        let load = Way::H2Tls.client_builder(&stage.certificate);
        let load = load.connections(16).build().unwrap();
        let held: Vec<_> = (0..=CADDY_BUSY)
            .map(|_| tokio::spawn(load.get(stage.url("/behind/hold")).send()))
            .collect();
        let mut answers = Vec::new();
        for request in held {
            answers.push(request.await.unwrap().unwrap());
        }
        get().await;
        assert!(retries.load(Ordering::SeqCst) > 0, "it was not asked");
        stage.ours.held.add_permits(answers.len());
        for answer in answers {
            assert_eq!(read(answer.into_body()).await.0, "held and let go");
        }
    });
}

#[test]
fn a_hundred_requests_at_once_are_answered_by_caddy() {
    let Some(stage) = stage() else { return };
    run(async {
        let client = stage.client();
        let requests: Vec<_> = (0..100)
            .map(|_| tokio::spawn(client.get(stage.url("/bytes/1024")).send()))
            .collect();
        for request in requests {
            let response = request.await.unwrap().unwrap();
            assert_eq!(read(response.into_body()).await.0.len(), 1024);
        }
    });
}

#[test]
fn requests_go_on_while_caddy_takes_a_new_configuration() {
    let Some(stage) = stage() else { return };
    run(async {
        let client = stage.client();
        for _ in 0..3 {
            stage.get(&client, "/bytes/2").await;
            let requests: Vec<_> = (0..20)
                .map(|_| tokio::spawn(client.get(stage.url("/bytes/1024")).send()))
                .collect();
            reload_caddy(&stage.workplace).unwrap();
            for request in requests {
                let response = request.await.unwrap().unwrap();
                assert_eq!(read(response.into_body()).await.0.len(), 1024);
            }
        }
        stage.get(&client, "/bytes/2").await;
    });
}

/// It says no GOAWAY: its connections end at once.
#[test]
fn a_caddy_that_stops_ends_what_is_under_way_and_what_comes_behind() {
    let Some(mut stage) = stage() else { return };
    run(async {
        let client = stage.client();
        stage.get(&client, "/bytes/2").await;
        let held = client.get(stage.url("/behind/hold")).send();
        let held = tokio::spawn(async move { held.await?.into_body().collect().await });
        while stage.ours.clear.metrics().requests_h2 == 0 {
            tokio::task::yield_now().await;
        }
        let caddy = stage.peer.processes.last_mut().unwrap();
        caddy.stop().unwrap();
        held.await.unwrap().unwrap_err();
        let behind = client.get(stage.url("/bytes/2")).send().await;
        let error = behind.unwrap_err();
        assert_eq!(error.retry(), Retry::Safe, "{error:?}");
    });
}

#[test]
fn what_caddy_says_over_tcp_leads_to_http3() {
    let Some(stage) = stage() else { return };
    run(async {
        let client = Way::H3.client_builder(&stage.certificate);
        let client = client.protocols(Protocols::All).build().unwrap();
        let url = stage.url("/bytes/2");
        let first = client.get(&url).send().await.unwrap();
        assert_eq!(first.version(), Version::HTTP_2);
        assert!(first.headers().contains_key("alt-svc"));
        read(first.into_body()).await;
        let second = client.get(&url).send().await.unwrap();
        assert_eq!(second.version(), Version::HTTP_3);
    });
}
