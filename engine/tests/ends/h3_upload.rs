//! A client of ours on HTTP/3 whose upload is unfinished when the scripted server ends the exchange.

use super::client::{Seen, outcome};
use super::h3::{self, End, PLACES, SOME_CODES, Script, play, scripts};
use super::h3_peer::OK;
use super::quic::{PATIENCE, Quic};
use super::table::Table;
use super::wire::Identity;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;
use trunkline::client::{Client, ClientTls, HealthTimes, Protocols};
use trunkline::{Body, BodySender};

const NO_ERROR: u64 = 0x100;
const REQUEST_CANCELLED: u64 = 0x10c;
/// The first and the last part of the upload.
const BEGUN: &[u8] = b"pay=1";
const REST: &[u8] = b"&to=2";

/// Plays the script once the first part came, and reports the end of the upload.
fn serve(mut quic: Quic, script: &Script, end: End, done: oneshot::Sender<()>, stop: &AtomicBool) {
    let mut played = None;
    let mut done = Some(done);
    let mut control = None;
    while !stop.load(Ordering::SeqCst) {
        quic.turn();
        if let Some(&connection) = quic.connections().first() {
            control.get_or_insert_with(|| h3::open_control(&mut quic, connection));
        }
        let (None, Some(&(connection, stream)), Some(control)) =
            (played, quic.requests_up_to(BEGUN).first(), control)
        else {
            let over = played.filter(|request| quic.requests().contains(request));
            if let Some((connection, stream)) = over
                && let Some(done) = done.take()
            {
                let received = &quic.received(connection, stream).unwrap().bytes;
                assert!(received.ends_with(REST), "{received:?}");
                let _ = done.send(());
            }
            continue;
        };
        play(&mut quic, connection, (stream, control), script, end, false);
        played = Some((connection, stream));
    }
}

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

fn exchange(identity: &Identity, script: Script, end: End, is_wanted: bool) -> (Seen, bool) {
    let quic = Quic::server(identity);
    let port = quic.port();
    let stop = Arc::new(AtomicBool::new(false));
    let stopped = Arc::clone(&stop);
    let (done, is_done) = oneshot::channel();
    let server = std::thread::spawn(move || serve(quic, &script, end, done, &stopped));
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = runtime.unwrap();
    let (outcome, body, goes_on) = runtime.block_on(async {
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
        let (mut sender, body) = Body::channel();
        sender.send(BEGUN).await.unwrap();
        let post = client.post(format!("https://localhost:{port}/")).body(body);
        let (outcome, body) = outcome(post.send()).await;
        let goes_on = tokio::time::timeout(PATIENCE, goes_on(sender, is_done, is_wanted)).await;
        (
            outcome,
            body,
            goes_on.expect("an upload that is not wanted ends"),
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
    (seen, goes_on)
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
                let (seen, goes_on) = exchange(&identity, script, end, is_wanted);
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
