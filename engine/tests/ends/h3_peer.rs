//! Scripted peers on HTTP/3, for the tests of the engine and, as a program (`quic_peer.rs`), for
//! those of the package: the rows of the tables with the ends that each stands for, and a server.

use super::h3::{self, End, SOME_CODES, Script, Seen, TRANSPORT_CODES, codes, play};
use super::quic::Quic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// The body of an answer to a request that was sent again.
pub(crate) const AGAIN: &str = "again";
/// `:status: 200`, of the static table (RFC 9204 appendix A).
pub(crate) const OK: &[u8] = &[0xd9];

/// `POST https://localhost/`, of the static table (RFC 9204 appendix A).
pub(crate) const POST: &[u8] = b"\xd4\xd7\xc1\x50\x09localhost";
/// `GET https://localhost/`.
pub(crate) const GET: &[u8] = b"\xd1\xd7\xc1\x50\x09localhost";

/// Answers the first request as scripted, calls `played`, and answers every other one with "again"; how many
/// came.
pub(crate) fn serve(
    mut quic: Quic,
    script: &Script,
    end: End,
    is_together: bool,
    stop: &AtomicBool,
    played: impl FnOnce(),
) -> usize {
    let mut played = Some(played);
    let mut seen = Seen::default();
    while !stop.load(Ordering::SeqCst) {
        for request in seen.turn(&mut quic) {
            seen.requests.push(request);
            let (connection, stream) = request;
            if seen.requests.len() == 1 {
                let streams = (stream, seen.controls[&connection]);
                play(&mut quic, connection, streams, script, end, is_together);
                if let Some(played) = played.take() {
                    played();
                }
                if end == End::StatelessReset {
                    seen.controls.clear();
                    seen.requests.resize(1, request);
                }
                continue;
            }
            let head = h3::frame(h3::HEADERS, &h3::section(&[OK]));
            let body = h3::frame(h3::DATA, AGAIN.as_bytes());
            quic.write(connection, stream, &[head, body].concat(), true);
        }
    }
    seen.requests.len()
}

/// The first part of an upload that goes on.
pub(crate) const BEGUN: &[u8] = b"pay=1";

/// Plays the script `quiet` after the first part of an upload came, calling the first of `calls`
/// before it, and the second one when the upload ended in order, with its bytes.
pub(crate) fn serve_upload(
    mut quic: Quic,
    script: &Script,
    end: End,
    quiet: Duration,
    stop: &AtomicBool,
    calls: (impl FnOnce(), impl FnOnce(&[u8])),
) {
    let (mut plays, mut over) = (Some(calls.0), Some(calls.1));
    let (mut begun, mut control) = (None, None);
    while !stop.load(Ordering::SeqCst) {
        quic.turn();
        if let Some(&connection) = quic.connections().first() {
            control.get_or_insert_with(|| h3::open_control(&mut quic, connection));
        }
        if let (None, Some(&request)) = (begun, quic.requests_up_to(BEGUN).first()) {
            begun = Some((request, Instant::now()));
        }
        let (Some((request, at)), Some(control)) = (begun, control) else {
            continue;
        };
        if at.elapsed() < quiet {
            continue;
        }
        let (connection, stream) = request;
        if let Some(plays) = plays.take() {
            plays();
            play(&mut quic, connection, (stream, control), script, end, false);
        } else if quic.requests().contains(&request)
            && let Some(over) = over.take()
        {
            over(&quic.received(connection, stream).unwrap().bytes);
        }
    }
}

/// The rows of an upload that is stopped and never answered.
pub(crate) fn unanswered_rows() -> Vec<(&'static str, Vec<End>)> {
    vec![(
        "STOP_SENDING of any code",
        SOME_CODES.map(End::StopAlone).to_vec(),
    )]
}

/// The rows of a client's table: the ends that each stands for.
pub(crate) fn client_rows() -> Vec<(&'static str, Vec<End>)> {
    let others = codes().filter(|&code| code != h3::REQUEST_REJECTED);
    vec![
        ("FIN", vec![End::Fin]),
        (
            "RESET_STREAM H3_REQUEST_REJECTED",
            vec![End::Reset(h3::REQUEST_REJECTED)],
        ),
        (
            "RESET_STREAM of any other code",
            others.map(End::Reset).collect(),
        ),
        (
            "STOP_SENDING of any code, then FIN",
            SOME_CODES.map(End::Stop).to_vec(),
        ),
        (
            "CONNECTION_CLOSE of HTTP/3, any code",
            SOME_CODES.map(End::Close).to_vec(),
        ),
        (
            "CONNECTION_CLOSE of QUIC, any code",
            TRANSPORT_CODES.map(End::TransportClose).to_vec(),
        ),
        ("GOAWAY 4, then CONNECTION_CLOSE", vec![End::Goaway(4)]),
        ("GOAWAY 0, then CONNECTION_CLOSE", vec![End::Goaway(0)]),
        ("GOAWAY 4, then FIN", vec![End::GoawayAlone(4)]),
        ("GOAWAY 0", vec![End::GoawayAlone(0)]),
        ("a malformed frame", vec![End::Malformed]),
        ("stateless reset", vec![End::StatelessReset]),
    ]
}

/// The rows of a server's table.
pub(crate) fn server_rows() -> Vec<(&'static str, Vec<End>)> {
    vec![
        ("FIN", vec![End::Fin]),
        (
            "RESET_STREAM of any code",
            codes().map(End::Reset).collect(),
        ),
        (
            "STOP_SENDING of any code, then FIN",
            SOME_CODES.map(End::Stop).to_vec(),
        ),
        (
            "CONNECTION_CLOSE of HTTP/3, any code",
            SOME_CODES.map(End::Close).to_vec(),
        ),
        (
            "CONNECTION_CLOSE of QUIC, any code",
            TRANSPORT_CODES.map(End::TransportClose).to_vec(),
        ),
        (
            "STOP_SENDING of any code",
            SOME_CODES.map(End::StopAlone).to_vec(),
        ),
        ("GOAWAY, then CONNECTION_CLOSE", vec![End::Goaway(0)]),
        ("GOAWAY, then FIN", vec![End::GoawayAlone(0)]),
        ("a malformed frame", vec![End::Malformed]),
    ]
}
