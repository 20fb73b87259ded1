//! A client of ours on HTTP/3 against a scripted server.

use super::client::{Seen, send};
use super::h3::{self, End, PLACES, Script, scripts};
use super::h3_peer::{AGAIN, OK, client_rows, serve};
use super::quic::{PATIENCE, Quic};
use super::table::Table;
use super::wire::Identity;
use http::Method;
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use trunkline::client::{Client, ClientTls, HealthTimes, Protocols};

fn exchange(identity: &Identity, method: Method, script: Script, end: End, together: bool) -> Seen {
    let quic = Quic::server(identity, end.idle());
    let port = quic.port();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let server = std::thread::spawn(move || serve(quic, &script, end, together, &stopped, || {}));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let (outcome, body) = runtime.block_on(async {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        let tls = ClientTls::new().root(identity.root.clone());
        // A server that a busy machine keeps waiting is not dead. A peer that is gone need not be
        // waited for until the idle timeout: an ACK alone earns no stateless reset.
        let mut health = HealthTimes::default();
        if !matches!(end, End::Silence | End::StatelessReset) {
            health.unanswered = None;
        }
        let client = Client::builder()
            .health(health)
            .resolve("localhost", [address])
            .connections(1)
            .protocols(Protocols::H3Only)
            .tls(tls.only_given_roots())
            .build()
            .unwrap();
        send(&client, method, &format!("https://localhost:{port}/")).await
    });
    drop(runtime);
    stop.store(true, Ordering::SeqCst);
    Seen {
        outcome,
        body,
        requests: server.join().unwrap(),
    }
}

fn script_at(place: usize) -> Script {
    scripts(OK).into_iter().nth(place).unwrap()
}

fn assert_seen(expected: &str, case: &str, body: &str, seen: &Seen) {
    let case = format!("{case}: {seen:?}");
    assert_eq!(seen.outcome, expected, "{case}");
    let requests = 1 + usize::from(expected == "again");
    assert_eq!(seen.requests, requests, "{case}");
    if expected == "whole" || expected.starts_with("cut") {
        assert_eq!(seen.body, body, "what came is delivered: {case}");
    }
}

#[test]
fn a_client_on_http_3_sees_what_the_table_says() {
    let table = Table::under("A client on HTTP/3");
    let identity = Identity::new(&["h3"]);
    for (name, ends) in client_rows() {
        for place in 0..PLACES {
            let Script {
                place: at, body, ..
            } = script_at(place);
            let expected = table.cell(name, at);
            for &end in &ends {
                // A reset discards what comes in its own packet: it has a test of its own.
                let packets: &[bool] = match end {
                    End::Close(_) | End::TransportClose(_) => &[false, true],
                    _ => &[false],
                };
                for &is_together in packets {
                    let script = script_at(place);
                    let seen = exchange(&identity, Method::POST, script, end, is_together);
                    let case = format!("{end:?}, {at}, in one packet: {is_together}");
                    assert_seen(expected, &case, body, &seen);
                }
            }
        }
    }
    // All at once, for each lasts as long as the idle timeout.
    let identity = Arc::new(identity);
    let silent = (0..PLACES).map(|place| {
        let identity = Arc::clone(&identity);
        std::thread::spawn(move || {
            let end = End::Silence;
            exchange(&identity, Method::POST, script_at(place), end, false)
        })
    });
    let silent: Vec<_> = silent.collect();
    for (place, seen) in silent.into_iter().enumerate() {
        let Script {
            place: at, body, ..
        } = script_at(place);
        let seen = seen.join().unwrap();
        assert_seen(table.cell("silence", at), at, body, &seen);
    }
    table.assert_all_read();
}

#[test]
fn a_reset_in_the_packet_of_the_response_leaves_nothing_of_it_to_believe() {
    let identity = Identity::new(&["h3"]);
    for place in 0..PLACES {
        for (code, expected) in [(0x100, "failed: reset"), (h3::REQUEST_REJECTED, "again")] {
            let script = script_at(place);
            let case = format!("{code}, {}", script.place);
            let seen = exchange(&identity, Method::POST, script, End::Reset(code), true);
            assert_seen(expected, &case, "", &seen);
        }
    }
}

/// Answers what comes on the first connection below stream 4 with "first", once a request is above it,
/// and says so by a GOAWAY that nothing follows; elsewhere with "again".
fn serve_half(mut quic: Quic, stop: &AtomicBool) -> Vec<(usize, u64)> {
    let mut controls = BTreeMap::new();
    let mut answered = Vec::new();
    while !stop.load(Ordering::SeqCst) {
        quic.turn();
        for connection in quic.connections() {
            controls
                .entry(connection)
                .or_insert_with(|| h3::open_control(&mut quic, connection));
        }
        let requests = quic.requests();
        if answered.is_empty() && requests.len() < 2 {
            continue;
        }
        for (connection, stream) in requests {
            let id = u64::from(quinn_proto::VarInt::from(stream));
            let first = answered.first().map_or(connection, |&(first, _)| first);
            let is_first = connection == first;
            if answered.contains(&(connection, id)) || (is_first && id >= 4) {
                continue;
            }
            if answered.is_empty() {
                let goaway = h3::frame(h3::GOAWAY, &h3::varint(4));
                quic.write(connection, controls[&connection], &goaway, false);
            }
            answered.push((connection, id));
            let head = h3::frame(h3::HEADERS, &h3::section(&[OK]));
            let text = if is_first { "first" } else { AGAIN };
            let body = h3::frame(h3::DATA, text.as_bytes());
            quic.write(connection, stream, &[head, body].concat(), true);
        }
    }
    answered
}

#[test]
fn behind_a_goaway_that_nothing_follows_requests_below_its_id_go_on_and_those_above_are_sent_elsewhere()
 {
    let identity = Identity::new(&["h3"]);
    let quic = Quic::server(&identity, PATIENCE);
    let port = quic.port();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let server = std::thread::spawn(move || serve_half(quic, &stopped));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    let mut seen = runtime.block_on(async {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        let tls = ClientTls::new().root(identity.root.clone());
        let health = HealthTimes::default().with_unanswered(None);
        let client = Client::builder()
            .health(health)
            .resolve("localhost", [address])
            .connections(1)
            .protocols(Protocols::H3Only)
            .tls(tls.only_given_roots())
            .build()
            .unwrap();
        let url = format!("https://localhost:{port}/");
        let (first, second) = tokio::join!(
            send(&client, Method::POST, &url),
            send(&client, Method::POST, &url)
        );
        vec![first, second, send(&client, Method::POST, &url).await]
    });
    drop(runtime);
    stop.store(true, Ordering::SeqCst);
    let answered = server.join().unwrap();
    seen.sort();
    let again = ("again".to_owned(), AGAIN.to_owned());
    let first = ("whole".to_owned(), "first".to_owned());
    assert_eq!(seen, [again.clone(), again, first]);
    assert_eq!(answered.len(), 3, "{answered:?}");
}
