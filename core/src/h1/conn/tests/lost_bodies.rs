//! A server whose owner answers requests whose bodies are malformed or not whole.

use super::script::*;
use crate::error::H2Code;
use crate::http::{Side, StreamId};
use crate::limits::Config;
use std::time::Duration;

const CHUNKED: &str = "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n";
const CLOSING_422: &str =
    "HTTP/1.1 422 Unprocessable Entity\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
const MALFORMED: &str = "closed ByUs(ChunkInvalid)";

fn server() -> Script {
    let config = Config::default().with_answers_lost_bodies(true);
    Script::new(Side::Server, config)
}

#[test]
fn a_request_with_a_malformed_chunk_gets_its_owners_answer_and_the_connection_closes() {
    let input = format!("{CHUNKED}2\r\nab\r\nxyz\r\nGET / HTTP/1.1\r\nhost: a\r\n\r\n");
    let (received, wrote) = at_every_split(server, input.len(), |script| {
        script.connection_lists(&input);
        script.waits(Duration::from_secs(5));
        script.respond(1, &response(422, &[]), true);
    });
    let lost = "1 lost Us(ChunkInvalid)";
    assert_eq!(received, ["1 POST /", "1 body ab", lost, MALFORMED]);
    assert_eq!(wrote, CLOSING_422);
}

#[test]
fn a_request_that_ends_with_its_clients_side_gets_its_owners_answer() {
    let input = "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 9\r\n\r\nhalf";
    let mut script = server();
    script.connection_lists(input);
    script.ends();
    let lost = "1 lost Connection(Transport(InOrder))";
    assert_eq!(
        script.received(),
        ["1 POST /", "1 body half", lost, "input ended"]
    );
    script.respond(1, &response(422, &[]), true);
    assert_eq!(script.received(), ["closed Transport(InOrder)"]);
    assert_eq!(script.wrote(), CLOSING_422);
}

#[test]
fn a_response_that_has_begun_goes_on_behind_a_malformed_chunk() {
    let mut script = server();
    script.connection_lists(CHUNKED);
    script.respond(1, &response(200, &[("content-length", "4")]), false);
    script.send(1, "ab", false);
    script.connection_lists("xyz\r\n");
    script.send(1, "cd", true);
    let lost = "1 lost Us(ChunkInvalid)";
    assert_eq!(script.received(), ["1 POST /", lost, MALFORMED]);
    assert!(script.wrote().ends_with("\r\n\r\nabcd"));
}

#[test]
fn a_response_that_was_complete_before_a_malformed_chunk_closes_the_connection() {
    let mut script = server();
    script.connection_lists(CHUNKED);
    script.respond(1, &response(200, &[]), true);
    script.connection_lists("xyz\r\n");
    let lost = "1 lost Us(ChunkInvalid)";
    assert_eq!(script.received(), ["1 POST /", lost, MALFORMED]);
}

#[test]
fn requests_before_one_with_a_malformed_chunk_are_answered_first() {
    let mut script = server();
    script.connection_lists(format!("GET / HTTP/1.1\r\nhost: a\r\n\r\n{CHUNKED}xyz\r\n"));
    script.respond(2, &response(422, &[]), true);
    assert_eq!(script.wrote(), "");
    script.respond(1, &response(200, &[]), true);
    let first = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(script.wrote(), format!("{first}{CLOSING_422}"));
    assert_eq!(
        script.received().last().map(String::as_str),
        Some(MALFORMED)
    );
}

#[test]
fn an_owner_that_gives_such_a_request_up_closes_the_connection() {
    let mut script = server();
    script.connection_lists(format!("{CHUNKED}xyz\r\n"));
    let now = script.now;
    script.conn.reset(now, StreamId(1), H2Code::CANCEL);
    script.listen();
    let received = script.received();
    assert_eq!(received[..2], ["1 POST /", "1 lost Us(ChunkInvalid)"]);
    assert!(received[2].starts_with("closed "), "{received:?}");
    assert_eq!(script.wrote(), "");
}
