//! A server of ours on HTTP/3 against a scripted client.

use super::h3::{self, End, PLACES, Script, play, scripts};
use super::h3_peer::{GET, POST, server_rows};
use super::quic::{PATIENCE, Quic};
use super::server::{Came, Stage};
use super::table::Table;
use super::wire::Identity;
use quinn_proto::Dir;
use std::sync::Arc;
use std::time::Instant;
use trunkline::{Server, Tls};

pub(super) fn start(identity: &Identity) -> Stage {
    let server = Server::bind("127.0.0.1:0").workers(1).http3(true);
    Stage::over(server.tls(Tls::from_rustls(Arc::clone(&identity.server))))
}

/// A request on another connection, whose handler runs once the server is past what came before.
pub(super) fn probe(stage: &Stage, identity: &Identity) -> Quic {
    let (mut quic, connection) =
        Quic::connected(&identity.client, stage.running.local_addr(), PATIENCE);
    h3::open_control(&mut quic, connection);
    let stream = quic.open(connection, Dir::Bi);
    let head = h3::frame(h3::HEADERS, &h3::section(&[GET]));
    quic.write(connection, stream, &head, true);
    quic
}

/// Sends a script and its end; what the handler saw, and whether the client can read the answer.
fn exchange(
    stage: &Stage,
    identity: &Identity,
    script: &Script,
    end: End,
    is_together: bool,
    is_seen: bool,
) -> Came {
    let (mut quic, connection) =
        Quic::connected(&identity.client, stage.running.local_addr(), end.idle());
    let control = h3::open_control(&mut quic, connection);
    let stream = quic.open(connection, Dir::Bi);
    play(
        &mut quic,
        connection,
        (stream, control),
        script,
        end,
        is_together,
    );
    let probed = ("whole".into(), String::new());
    let mut probing = probe(stage, identity);
    let mut seen = Vec::new();
    let until = Instant::now() + PATIENCE;
    while seen.len() < 1 + usize::from(is_seen) {
        assert!(Instant::now() < until, "seen in vain: {seen:?}");
        quic.turn();
        probing.turn();
        seen.extend(stage.try_next());
    }
    let at = seen.iter().position(|seen| *seen == probed);
    seen.remove(at.expect("the probe is seen"));
    let Some(mut seen) = seen.pop() else {
        return ("none".into(), String::new());
    };
    if seen.0 == "whole" && matches!(end, End::Fin | End::GoawayAlone(_)) {
        while !quic.received(connection, stream).unwrap().is_over {
            assert!(Instant::now() < until, "no answer");
            quic.turn();
        }
        let answer = &quic.received(connection, stream).unwrap().bytes;
        assert!(answer.ends_with(b"answer"), "{answer:?}");
        seen.0 = "answered".into();
    }
    seen
}

fn assert_seen(expected: &str, case: &str, script: &Script, seen: &Came) {
    let case = format!("{case}, {}: {seen:?}", script.place);
    assert_eq!(seen.0, expected, "{case}");
    if expected != "none" {
        assert_eq!(seen.1, script.body, "what came is delivered: {case}");
    }
}

#[test]
fn a_handler_on_http_3_sees_what_the_table_says() {
    let table = Table::under("A server on HTTP/3");
    let identity = Identity::new(&["h3"]);
    let stage = start(&identity);
    for (name, ends) in server_rows() {
        for script in scripts(POST) {
            let expected = table.cell(name, script.place);
            let is_seen = expected != "none";
            for &end in &ends {
                // A reset discards what comes in its own packet: it has a test of its own.
                let packets: &[bool] = match end {
                    End::Close(_) | End::TransportClose(_) => &[false, true],
                    _ => &[false],
                };
                for &together in packets {
                    let seen = exchange(&stage, &identity, &script, end, together, is_seen);
                    let case = format!("{end:?}, in one packet: {together}");
                    assert_seen(expected, &case, &script, &seen);
                }
            }
        }
    }
    stage.end();
    // All at once, for each lasts as long as the idle timeout.
    let identity = Arc::new(identity);
    let silent = (0..PLACES).map(|place| {
        let identity = Arc::clone(&identity);
        let script = scripts(POST).into_iter().nth(place).unwrap();
        let expected = table.cell("silence", script.place).to_owned();
        std::thread::spawn(move || {
            let stage = start(&identity);
            let is_seen = expected != "none";
            let seen = exchange(&stage, &identity, &script, End::Silence, false, is_seen);
            assert_seen(&expected, "silence", &script, &seen);
            stage.end();
        })
    });
    let silent: Vec<_> = silent.collect();
    for thread in silent {
        thread.join().unwrap();
    }
    table.assert_all_read();
}

#[test]
fn a_reset_in_the_packet_of_the_request_leaves_nothing_of_it_to_believe() {
    let identity = Identity::new(&["h3"]);
    let stage = start(&identity);
    for script in scripts(POST) {
        let end = End::Reset(0x100);
        let seen = exchange(&stage, &identity, &script, end, true, false);
        assert_seen("none", "reset", &script, &seen);
    }
    stage.end();
}
