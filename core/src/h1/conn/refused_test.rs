//! A server whose owner answers malformed requests itself.

use super::tests::script::*;
use crate::error::Violation;
use crate::http::{Event, Side, StreamId};
use crate::limits::{Config, DRAIN_FIRST_REQUEST_WAIT, Timeouts};
use std::time::Duration;

const GET: &str = "GET / HTTP/1.1\r\nhost: a\r\n\r\n";
const UPLOAD: &str = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";

fn script() -> Script {
    let config = Config {
        hands_over_refusals: true,
        ..Config::default()
    };
    Script::new(Side::Server, config).reacting(answer_when_complete)
}

/// Shorter than the default of `Timeouts::idle`.
const FIRST_REQUEST: Duration = Duration::from_secs(20);

fn waiting_for_a_first_request() -> Script {
    let timeouts = Timeouts::default().with_first_request(Some(FIRST_REQUEST));
    let config = Config::default()
        .with_hands_over_refusals(true)
        .with_timeouts(timeouts);
    let mut script = Script::new(Side::Server, config).reacting(answer_when_complete);
    script.connection_lists("");
    script
}

fn plays(input: &str) -> (Vec<String>, String) {
    at_every_split(script, input.len(), |script| script.connection_lists(input))
}

#[test]
fn a_request_that_breaks_a_rule_goes_to_its_owner_unanswered() {
    let (received, wrote) = plays("GET / HTTP/1.1\r\nhost: a\r\nb c: d\r\n\r\n");
    assert_eq!(received, ["1 refused FieldNameInvalid", "1 upgraded "]);
    assert_eq!(wrote, "");
}

#[test]
fn what_is_due_before_a_refused_request_goes_out_first() {
    let (received, wrote) = plays(&format!("{GET}GET / HTTP/9.9\r\nhost: a\r\n\r\n"));
    let refused = ["2 refused VersionUnsupported", "2 upgraded "];
    assert_eq!(received, ["1 GET / end", refused[0], refused[1]]);
    assert!(wrote.starts_with("HTTP/1.1 200 OK\r\n"), "{wrote}");
    assert!(!wrote.contains("505"), "{wrote}");
}

#[test]
fn a_body_that_breaks_a_rule_ends_its_request_and_is_handed_over() {
    let (received, wrote) = plays(&format!("{UPLOAD}xyz\r\n"));
    let reset = "1 reset ChunkInvalid";
    let refused = "1 refused ChunkInvalid";
    assert_eq!(received, ["1 POST /", reset, refused, "1 upgraded "]);
    assert_eq!(wrote, "");
}

#[test]
fn an_end_in_the_middle_of_a_head_is_handed_over() {
    let mut script = script();
    script.connection_lists("GET / HT");
    script.ends();
    assert_eq!(
        script.received(),
        ["1 refused BodyTruncated", "1 upgraded "]
    );
    assert_eq!(script.wrote(), "");
}

#[test]
fn an_end_between_requests_is_none() {
    let mut script = script();
    script.connection_lists(GET);
    script.ends();
    let received = script.received();
    assert!(
        received.iter().all(|fact| !fact.contains("refused")),
        "{received:?}"
    );
}

#[test]
fn a_head_that_comes_too_late_is_handed_over() {
    let mut script = script();
    script.connection_lists("GET / HT");
    script.waits(Duration::from_secs(600));
    assert_eq!(script.received(), ["1 refused HeadTimeout", "1 upgraded "]);
}

#[test]
fn the_packet_says_how_much_of_it_was_whole() {
    let mut script = script();
    let packet = format!("{GET}bad\r\n\r\n");
    script.conn.handle_bytes(script.now, packet.as_bytes());
    while let Some(event) = script.conn.poll_event() {
        match event {
            Event::RequestReceived { stream, .. } => {
                script
                    .conn
                    .respond(script.now, stream, &response(200, &[]), true)
                    .unwrap();
            }
            Event::RequestRefused { stream, refused } => {
                assert_eq!(stream, StreamId(2));
                assert_eq!(refused.violation, Violation::HeadInvalid);
                assert_eq!(refused.packet, packet.as_bytes());
                assert_eq!(refused.parsed, GET.len());
                return;
            }
            _ => {}
        }
    }
    panic!("the request was not refused");
}

#[test]
fn a_client_that_says_nothing_is_handed_over_when_its_first_request_is_late() {
    let mut script = waiting_for_a_first_request();
    script.waits(FIRST_REQUEST / 2);
    assert!(script.received().is_empty());
    script.waits(FIRST_REQUEST / 2);
    assert_eq!(script.received(), ["1 refused HeadTimeout", "1 upgraded "]);
    assert_eq!(script.wrote(), "");
}

#[test]
fn the_time_of_a_first_request_counts_from_the_connection_and_not_from_its_first_byte() {
    let mut script = waiting_for_a_first_request();
    script.waits(FIRST_REQUEST / 2);
    script.connection_lists("GET / HT");
    script.waits(FIRST_REQUEST / 2);
    assert_eq!(script.received(), ["1 refused HeadTimeout", "1 upgraded "]);
}

#[test]
fn behind_the_first_request_a_silent_client_is_idle() {
    let mut script = waiting_for_a_first_request();
    script.connection_lists(GET);
    script.waits(2 * FIRST_REQUEST);
    assert_eq!(script.received(), ["1 GET / end"]);
    script.waits(Duration::from_secs(600));
    assert_eq!(script.received(), ["closed Idle"]);
}

#[test]
fn a_server_that_drains_waits_for_a_first_request_for_its_own_time() {
    let mut script = waiting_for_a_first_request();
    script.conn.shut_down(script.now);
    script.waits(DRAIN_FIRST_REQUEST_WAIT);
    assert_eq!(script.received(), ["closed Drained"]);
}
