//! Servers that die without a word: processes of their own that are killed (SIGKILL), with and
//! without another in their place, and paths that drop every packet from one moment on.
//!
//! Every other bound of the client is set to hours: a test that ends has ended by what it is about.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

mod support;
use crate::support::child;

use crate::support::child::{Child, Identity, Key};
use crate::support::dead_path::TcpPath;
use crate::support::origin::run;
use http_body_util::BodyExt;
use std::time::Duration;
use tokio::net::UdpSocket;
use tokio::task::JoinSet;
use trunkline::client::{Client, ClientBuilder, HealthTimes, Protocols};
use trunkline::{ErrorKind, Retry};

const HOURS: Duration = Duration::from_secs(4 * 3600);

/// Nothing but what transports leave unanswered makes a suspect or ends a connection.
fn patient() -> HealthTimes {
    HealthTimes::default()
        .with_quiet(HOURS)
        .with_suspect(HOURS)
        .with_dead(HOURS)
}

fn client(identity: &Identity, protocols: Protocols) -> ClientBuilder {
    identity.client().protocols(protocols).health(patient())
}

async fn get(client: &Client, url: String) -> String {
    let response = client.get(url).send().await.unwrap();
    let body = response.into_body().collect().await.unwrap();
    String::from_utf8(body.to_bytes().to_vec()).unwrap()
}

/// Waits until the server has begun to work on a request that it never answers.
async fn until_stuck(server: &mut Child) {
    server.wait_for("stuck").await;
}

/// The child of the other tests; on its own it does nothing.
#[test]
fn a_server_in_a_process_of_its_own() {
    child::serve_if_asked();
}

/// Restarts that may take longer than the client probes its server: on a busy machine some do.
const LATE_RESTARTS_MAX: usize = 20;

#[test]
fn a_killed_server_that_starts_again_says_so_to_its_http3_clients_in_one_round_trip() {
    run(async {
        let identity = Identity::new();
        for _ in 0..LATE_RESTARTS_MAX {
            let mut server = Child::start(&identity, Key::Default, 0).await;
            let client = client(&identity, Protocols::H3Only).build().unwrap();
            assert_eq!(get(&client, server.url("/")).await, "first");
            let stuck = tokio::spawn(client.post(server.url("/stuck")).send());
            until_stuck(&mut server).await;
            let server = server.kill_and_start_again(Key::Default).await;
            let error = stuck.await.unwrap().unwrap_err();
            // The reset says nothing of what was processed.
            assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
            assert_eq!(error.retry(), Retry::OnlyIfIdempotent);
            assert_eq!(get(&client, server.url("/")).await, "second");
            if !error.to_string().contains("answered nothing") {
                return;
            }
        }
        panic!("no server that started again sent a reset");
    });
}

#[test]
fn a_killed_server_whose_successor_knows_nothing_of_it_costs_an_http3_client_no_more_than_a_new_connection()
 {
    run(async {
        let identity = Identity::new();
        let mut server = Child::start(&identity, Key::OfItsOwn, 0).await;
        let client = client(&identity, Protocols::H3Only).build().unwrap();
        assert_eq!(get(&client, server.url("/")).await, "first");
        let stuck = tokio::spawn(client.post(server.url("/stuck")).send());
        until_stuck(&mut server).await;
        let server = server.kill_and_start_again(Key::OfItsOwn).await;
        // On a busy machine it may have been suspected and given up between two looks.
        while client.stats()[0].suspect == 0 && !stuck.is_finished() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        assert_eq!(get(&client, server.url("/")).await, "second");
        let error = stuck.await.unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
        assert!(error.to_string().contains("answered nothing"), "{error}");
        assert_eq!(client.totals().connections, 2);
    });
}

#[test]
fn what_waits_for_a_killed_server_is_sent_to_its_successor_where_that_is_harmless_and_wanted() {
    run(async {
        let identity = Identity::new();
        let mut server = Child::start(&identity, Key::OfItsOwn, 0).await;
        let client = client(&identity, Protocols::H3Only).retry_lost(true);
        let client = client.build().unwrap();
        assert_eq!(get(&client, server.url("/")).await, "first");
        let once = server.url("/stuck-at-first");
        let idempotent = tokio::spawn(client.get(once.clone()).send());
        until_stuck(&mut server).await;
        let post = tokio::spawn(client.post(once).send());
        until_stuck(&mut server).await;
        // No request comes meanwhile: what waits makes the replacement.
        let _server = server.kill_and_start_again(Key::OfItsOwn).await;
        assert_eq!(idempotent.await.unwrap().unwrap().status(), 200);
        let error = post.await.unwrap().unwrap_err();
        assert_eq!(error.retry(), Retry::OnlyIfIdempotent, "{error:?}");
        assert_eq!(client.totals().retries_lost, 1);
    });
}

#[test]
fn a_killed_server_without_a_successor_fails_what_waits_on_every_version() {
    run(async {
        for protocols in [Protocols::H3Only, Protocols::H2Only, Protocols::H1Only] {
            let identity = Identity::new();
            let mut server = Child::start(&identity, Key::Default, 0).await;
            let client = client(&identity, protocols).build().unwrap();
            assert_eq!(get(&client, server.url("/")).await, "first");
            let stuck = tokio::spawn(client.get(server.url("/stuck")).send());
            until_stuck(&mut server).await;
            let url = server.url("/");
            server.kill();
            let error = stuck.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
            let error = client.get(url).send().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Connect, "{protocols:?}: {error:?}");
        }
    });
}

#[test]
fn a_server_that_stands_still_answers_what_waited_on_each_of_its_connections() {
    run(async {
        let identity = Identity::new();
        let server = Child::start(&identity, Key::Default, 0).await;
        let client = client(&identity, Protocols::H3Only).build().unwrap();
        assert_eq!(get(&client, server.url("/")).await, "first");
        // More than a connection carries at once.
        let burst = |answers: &mut JoinSet<String>| {
            for _ in 0..300 {
                let (client, url) = (client.clone(), server.url("/late"));
                answers.spawn(async move { get(&client, url).await });
            }
        };
        let mut answers = JoinSet::new();
        burst(&mut answers);
        while client.totals().connections < 2 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.stand_still();
        burst(&mut answers);
        while client.stats()[0].suspect == 0 {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        server.go_on();
        while let Some(answer) = answers.join_next().await {
            assert_eq!(answer.unwrap(), "late");
        }
        assert_eq!(client.totals().retries_lost, 0);
    });
}

#[test]
fn where_a_servers_udp_dies_without_a_word_requests_go_over_tcp() {
    // A firewall is silent. Another server on the port may reset what it does not know with a key of its
    // own (RFC 9000 section 10.3), which is no sign of life.
    for resets in [false, true] {
        run(async {
            let identity = Identity::new();
            let mut server = Child::start(&identity, Key::Default, 0).await;
            let client = client(&identity, Protocols::All).build().unwrap();
            // Over TCP, and with the answer the word that HTTP/3 is served.
            assert_eq!(get(&client, server.url("/")).await, "first");
            assert_eq!(get(&client, server.url("/version")).await, "HTTP/3.0");
            let stuck = tokio::spawn(client.post(server.url("/stuck")).send());
            until_stuck(&mut server).await;
            let port = server.port();
            server.kill();
            let other = UdpSocket::bind(("127.0.0.1", port)).await.unwrap();
            let answers = tokio::spawn(async move {
                let mut packet = [0; 2048];
                loop {
                    let (_, from) = other.recv_from(&mut packet).await.unwrap();
                    if resets {
                        other.send_to(&[0x5a; 43], from).await.unwrap();
                    }
                }
            });
            let server = Child::start_without_http3(&identity, port).await;
            let error = stuck.await.unwrap().unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
            assert!(error.to_string().contains("answered nothing"), "{error}");
            assert_eq!(get(&client, server.url("/version")).await, "HTTP/2.0");
            answers.abort();
        });
    }
}

#[test]
fn a_path_over_tcp_that_drops_everything_is_left_for_a_new_connection() {
    run(async {
        for protocols in [Protocols::H2Only, Protocols::H1Only] {
            let identity = Identity::new();
            let server = Child::start(&identity, Key::Default, 0).await;
            let path = TcpPath::to(server.port());
            let client = client(&identity, protocols).retry_lost(true);
            let client = client.build().unwrap();
            assert_eq!(get(&client, path.url("/")).await, "first");
            path.kill_all();
            // The first goes out over the dead path, and again over its replacement.
            assert_eq!(get(&client, path.url("/")).await, "first", "{protocols:?}");
            path.kill_all();
            let error = client.post(path.url("/")).send().await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TransportClosed, "{error:?}");
            assert!(error.to_string().contains("answered nothing"), "{error}");
            assert_eq!(get(&client, path.url("/")).await, "first");
        }
    });
}

#[test]
fn a_server_that_takes_its_time_is_no_suspect_on_any_version() {
    run(async {
        for protocols in [Protocols::H3Only, Protocols::H2Only, Protocols::H1Only] {
            let identity = Identity::new();
            let server = Child::start(&identity, Key::Default, 0).await;
            let hasty = patient().with_unanswered(Some(Duration::from_millis(20)));
            let client = client(&identity, protocols).health(hasty);
            let client = client.build().unwrap();
            assert_eq!(get(&client, server.url("/late")).await, "late");
            assert_eq!(client.totals().connections, 1, "{protocols:?}");
        }
    });
}
