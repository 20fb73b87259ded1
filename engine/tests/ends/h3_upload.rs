//! A client of ours on HTTP/3 whose upload is unfinished when the scripted server ends the exchange.

use super::client::{Seen, outcome};
use super::h3::{self, End, PLACES, SOME_CODES, Script, scripts};
use super::h3_peer::{BEGUN, OK, serve_upload, unanswered_rows};
use super::quic::{PATIENCE, Quic};
use super::table::Table;
use super::wire::Identity;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use trunkline::client::{Client, ClientTimeouts, ClientTls, HealthTimes, Protocols};
use trunkline::{Body, BodySender};

const NO_ERROR: u64 = 0x100;
const REQUEST_CANCELLED: u64 = 0x10c;
/// The last part of the upload.
const REST: &[u8] = b"&to=2";

/// Whether the upload goes on to its end, or its writer gets an error.
async fn goes_on(mut sender: BodySender, done: oneshot::Receiver<()>, is_wanted: bool) -> bool {
    if !is_wanted {
        // An upload that is whole before its end is known could not be dropped any more: it has no end.
        while sender.send(vec![b'.'; 64 * 1024]).await.is_ok() {}
        return false;
    }
    // A few bytes: the peer pads each of its packets, acknowledgements too, and padded packets count against
    // its congestion window (RFC 9002 section 2), so that it cannot acknowledge much.
    sender.send(REST).await.unwrap();
    sender.finish();
    done.await.is_ok()
}

/// Times of an exchange.
#[derive(Clone, Copy)]
struct Times {
    /// Between the first part of the upload and the end, without a byte.
    quiet: Duration,
    /// The client's, for the head and for the body.
    timeout: Duration,
}

/// Far longer than any exchange of the table takes.
const UNTIMED: Times = Times {
    quiet: Duration::ZERO,
    timeout: Duration::from_secs(300),
};

/// The outcome for both, whether the upload went on, and the time from the end until the client saw it.
fn exchange(
    identity: &Identity,
    script: Script,
    end: End,
    is_wanted: bool,
    times: Times,
) -> (Seen, bool, Duration) {
    let quic = Quic::server(identity, end.idle());
    let port = quic.port();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let (done, is_done) = oneshot::channel();
    let (plays, played) = std::sync::mpsc::channel();
    let server = std::thread::spawn(move || {
        let over = |upload: &[u8]| {
            assert!(upload.ends_with(REST), "{upload:?}");
            let _ = done.send(());
        };
        let playing = || {
            let _ = plays.send(Instant::now());
        };
        serve_upload(quic, &script, end, times.quiet, &stopped, (playing, over));
    });
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    let (outcome, body, goes_on, took) = runtime.block_on(async {
        let address: SocketAddr = ([127, 0, 0, 1], 0).into();
        let tls = ClientTls::new().root(identity.root.clone());
        let health = HealthTimes::default()
            .with_unanswered(None)
            // Before the scripted server's idle time is over; a busy machine is no dead server.
            .with_quiet(Duration::from_secs(2))
            .with_suspect(PATIENCE)
            .with_dead(PATIENCE);
        let timeouts = ClientTimeouts::default()
            .with_headers(Some(times.timeout))
            .with_body(Some(times.timeout));
        let client = Client::builder()
            .health(health)
            .timeouts(timeouts)
            .resolve("localhost", [address])
            .connections(1)
            .protocols(Protocols::H3Only)
            .tls(tls.only_given_roots())
            .build()
            .unwrap();
        let (mut sender, body) = Body::channel();
        sender.send(BEGUN).await.unwrap();
        let post = client.post(format!("https://localhost:{port}/")).body(body);
        let (outcome, body) = outcome(post.send()).await;
        let took = played.recv().unwrap().elapsed();
        let goes_on = tokio::time::timeout(PATIENCE, goes_on(sender, is_done, is_wanted)).await;
        (
            outcome,
            body,
            goes_on.expect("an upload that is not wanted ends"),
            took,
        )
    });
    drop(runtime);
    stop.store(true, Ordering::SeqCst);
    server.join().unwrap();
    let requests = 1;
    let seen = Seen {
        outcome,
        body,
        requests,
    };
    (seen, goes_on, took)
}

/// The rows of the table: the ends that each stands for.
fn rows() -> Vec<(&'static str, Vec<End>)> {
    let others = |known: &[u64]| {
        let known = known.to_vec();
        SOME_CODES
            .into_iter()
            .filter(move |code| !known.contains(code))
    };
    vec![
        ("FIN", vec![End::Fin]),
        (
            "STOP_SENDING H3_NO_ERROR, then FIN",
            vec![End::Stop(NO_ERROR), End::StopBehind(NO_ERROR)],
        ),
        (
            "STOP_SENDING H3_REQUEST_CANCELLED, then FIN",
            vec![
                End::Stop(REQUEST_CANCELLED),
                End::StopBehind(REQUEST_CANCELLED),
            ],
        ),
        (
            "STOP_SENDING of any other code, then FIN",
            others(&[NO_ERROR, REQUEST_CANCELLED])
                .flat_map(|code| [End::Stop(code), End::StopBehind(code)])
                .collect(),
        ),
        (
            "STOP_SENDING and RESET_STREAM H3_REQUEST_REJECTED",
            vec![End::Abort(h3::REQUEST_REJECTED)],
        ),
        (
            "STOP_SENDING and RESET_STREAM of any other code",
            others(&[h3::REQUEST_REJECTED]).map(End::Abort).collect(),
        ),
        ("GOAWAY 4, then FIN", vec![End::GoawayAlone(4)]),
        ("GOAWAY 0", vec![End::GoawayAlone(0)]),
    ]
}

#[test]
fn an_unfinished_upload_on_http_3_ends_as_the_table_says() {
    let table = Table::under("An unfinished upload of a client on HTTP/3");
    let identity = Identity::new(&["h3"]);
    for (name, ends) in rows() {
        for place in 0..PLACES {
            for &end in &ends {
                let script = scripts(OK).into_iter().nth(place).unwrap();
                let (at, body) = (script.place, script.body);
                // Only a server that wants the rest gets it.
                let is_wanted = matches!(end, End::Fin | End::GoawayAlone(4))
                    && table.cell(name, at) == "whole";
                let (seen, goes_on, _) = exchange(&identity, script, end, is_wanted, UNTIMED);
                let case = format!("{end:?}, {at}: {seen:?}, goes on: {goes_on}");
                assert_eq!(seen.outcome, table.cell(name, at), "{case}");
                if !seen.outcome.starts_with("failed") {
                    assert_eq!(seen.body, body, "what came is delivered: {case}");
                }
                assert_eq!(goes_on, is_wanted, "{case}");
            }
        }
    }
    table.assert_all_read();
}

/// Exchanges at once, each with a server and a client in threads of their own.
const AT_ONCE: usize = 33;

#[test]
fn an_upload_that_a_server_on_http_3_stops_and_never_answers_ends_when_the_timeouts_say_so() {
    let table = Table::under("An upload on HTTP/3 that is stopped and never answered");
    let identity = Identity::new(&["h3"]);
    let times = Times {
        quiet: Duration::from_secs(1),
        timeout: Duration::from_secs(8),
    };
    let mut cases = Vec::new();
    for (name, ends) in unanswered_rows() {
        for place in 0..PLACES {
            cases.extend(ends.iter().map(|&end| (name, place, end)));
        }
    }
    for cases in cases.chunks(AT_ONCE) {
        let seen: Vec<_> = std::thread::scope(|scope| {
            let exchanges = cases.iter().map(|&(_, place, end)| {
                let script = scripts(OK).into_iter().nth(place).unwrap();
                let identity = &identity;
                scope.spawn(move || exchange(identity, script, end, false, times))
            });
            let exchanges: Vec<_> = exchanges.collect();
            let seen = exchanges.into_iter().map(|it| it.join().unwrap());
            seen.collect()
        });
        for (&(name, place, end), (seen, goes_on, took)) in cases.iter().zip(seen) {
            let script = scripts(OK).into_iter().nth(place).unwrap();
            let case = format!("{end:?}, {}: {seen:?}, {took:?}", script.place);
            let expected = table.cell(name, script.place);
            assert_eq!(seen.outcome, expected, "{case}");
            if !expected.starts_with("failed") {
                assert_eq!(seen.body, script.body, "what came is delivered: {case}");
            }
            if expected != "whole" {
                // The quiet time before does not count.
                assert!(took >= times.timeout, "{case}");
            }
            assert!(!goes_on, "{case}");
        }
    }
    table.assert_all_read();
}
