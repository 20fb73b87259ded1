//! The client's side: requests out, responses in.

use super::script::*;
use crate::error::{H2Code, Misuse, TransportEnd, Violation};
use crate::h1::{CloseReason, OpenOptions, Proxy, keep_alive_seconds, parse};
use crate::http::{Fields, RequestHead, Side, StreamId, Token, Version};
use crate::limits::{Config, Limits};
use bytes::Bytes;
use std::time::Duration;

const BY_PEER: &str = "closed ByPeer(H2Code(0))";

fn get() -> RequestHead {
    request("GET", "/x", &[])
}

fn pipelining(limit: u32) -> Script {
    let mut config = Config::default();
    config.limits.pipelining = limit;
    Script::new(Side::Client, config)
}

/// The events of a client that sent `head`, equal at every split.
#[track_caller]
fn receives_after(head: &RequestHead, input: &str, hang_up: bool) -> Vec<String> {
    let (received, _) = at_every_split(Script::client, input.len(), |script| {
        script.open(head, true);
        script.connection_lists(input);
        if hang_up {
            script.ends();
        }
    });
    received
}

#[test]
fn a_response_with_content_length_leaves_the_connection_open() {
    let input = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";
    let (received, wrote) = at_every_split(Script::client, input.len(), |script| {
        assert_eq!(script.open(&get(), true), 1);
        assert_eq!(script.conn.capacity(), 0, "one exchange at a time");
        script.connection_lists(input);
        assert_eq!(script.conn.capacity(), 1, "the exchange is over");
    });
    assert_eq!(received, ["1 status 200", "1 body hello end"]);
    assert_eq!(wrote, "GET /x HTTP/1.1\r\nhost: a.test\r\n\r\n");
}

#[test]
fn a_reason_phrase_is_kept_where_it_is_not_the_usual_one() {
    for (line, received) in [
        ("200 OK", "1 status 200 end"),
        ("200 Fine", "1 status 200 (Fine) end"),
        ("404 Gone Fishing", "1 status 404 (Gone Fishing) end"),
        ("200 ", "1 status 200 () end"),
        ("200", "1 status 200 () end"),
        ("299 ", "1 status 299 end"),
        ("299 A word", "1 status 299 (A word) end"),
        ("404 Näh, ſo nicht", "1 status 404 (Näh, ſo nicht) end"),
    ] {
        let input = format!("HTTP/1.1 {line}\r\ncontent-length: 0\r\n\r\n");
        assert_eq!(receives_after(&get(), &input, false), [received], "{line}");
    }
    // RFC 9112 section 4: the words are the peer's to choose, except for what would end the line.
    let received = receives_after(&get(), "HTTP/1.1 200 a\0b\r\n\r\n", false);
    assert!(received[0].contains("HeadInvalid"), "{received:?}");
}

#[test]
fn a_chunked_response_comes_whole() {
    let input = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\
                 5\r\nhello\r\n6;x\r\n world\r\n0\r\nx-sum: 1\r\n\r\n";
    assert_eq!(
        receives_after(&get(), input, false),
        [
            "1 status 200",
            "1 body hello world",
            "1 trailers {\"x-sum\": \"1\"}"
        ]
    );
}

#[test]
fn a_response_without_length_ends_with_the_connection() {
    let input = "HTTP/1.1 200 OK\r\n\r\nhello";
    assert_eq!(
        receives_after(&get(), input, true),
        ["1 status 200", "1 body hello end", BY_PEER]
    );
}

#[test]
fn a_body_that_the_connection_cuts_off_is_a_reset() {
    for input in [
        "HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n",
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    ] {
        assert_eq!(
            receives_after(&get(), input, true),
            [
                "1 status 200",
                "1 body hello",
                "1 reset BodyTruncated",
                "closed Transport(InOrder)"
            ],
            "{input}"
        );
    }
}

#[test]
fn a_head_that_the_connection_cuts_off_is_a_reset_that_may_have_been_processed() {
    assert_eq!(
        receives_after(&get(), "HTTP/1.1 200 O", true),
        ["1 reset Transport(InOrder)", "closed Transport(InOrder)"]
    );
}

#[test]
fn only_a_request_that_was_never_written_is_unprocessed() {
    let mut script = pipelining(2);
    script.open(&get(), true);
    script.conn.open(script.now, &get(), true).unwrap();
    script.conn.handle_close(script.now, TransportEnd::Failed);
    script.receives();
    let received = script.received();
    assert!(
        received.ends_with(&[
            "1 reset Transport(Failed)".to_owned(),
            "2 reset Transport(Failed) unprocessed".to_owned(),
            "closed Transport(Failed)".to_owned(),
        ]),
        "{received:?}"
    );
    script.wrote();
    script.listen();
    assert_eq!(
        script.wrote(),
        "",
        "what is called unprocessed does not go out any more"
    );
}

#[test]
fn a_request_of_which_one_byte_was_written_may_have_been_processed() {
    let mut script = Script::client();
    script.conn.open(script.now, &get(), true).unwrap();
    script.write(1);
    script.hangs_up();
    assert!(
        script
            .received()
            .contains(&"1 reset Transport(Failed)".to_owned())
    );
}

#[test]
fn responses_without_a_body_end_with_their_head() {
    let next = "HTTP/1.1 204 No Content\r\n\r\n";
    for (method, head) in [
        ("HEAD", "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\n"),
        (
            "HEAD",
            "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n",
        ),
        ("HEAD", "HTTP/1.1 200 OK\r\n\r\n"),
        (
            "GET",
            "HTTP/1.1 304 Not Modified\r\ncontent-length: 5\r\n\r\n",
        ),
        ("GET", "HTTP/1.1 204 \r\n\r\n"),
    ] {
        let (received, _) = at_every_split(
            || pipelining(2),
            head.len(),
            |script| {
                script.open(&request(method, "/", &[]), true);
                script.open(&get(), true);
                script.connection_lists(format!("{head}{next}"));
            },
        );
        assert!(
            received.contains(&"2 status 204 end".to_owned()),
            "{head} {received:?}"
        );
    }
}

#[test]
fn interim_responses_come_before_the_final_one_and_are_bounded() {
    let input = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nlink: a\r\n\r\n\
                 HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    assert_eq!(
        receives_after(&get(), input, false),
        ["1 interim 100", "1 interim 103", "1 status 200 end"]
    );
    let few = || {
        let limits = Limits {
            interim_responses_max: 3,
            ..Limits::default()
        };
        Script::new(Side::Client, Config::default().with_limits(limits))
    };
    let flood = "HTTP/1.1 102 Processing\r\n\r\n".repeat(4);
    let (received, _) = at_every_split(few, flood.len(), |script| {
        script.open(&get(), true);
        script.connection_lists(&flood);
    });
    assert_eq!(received.last().unwrap(), "closed ByUs(InterimTooMany)");
}

#[test]
fn a_response_comes_behind_a_thousand_interim_ones() {
    let progress = "HTTP/1.1 102 Processing\r\n\r\n".repeat(1000);
    let mut script = Script::client();
    script.open(&get(), true);
    script.connection_lists(format!(
        "{progress}HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"
    ));
    assert!(script.facts.contains(&"1 status 200 end".to_owned()));
}

#[test]
fn a_request_body_without_length_goes_out_chunked() {
    let mut script = Script::client();
    script.open(&request("POST", "/", &[]), false);
    script.send(1, "hello", false);
    script.send(1, "", true);
    assert_eq!(
        script.wrote(),
        "POST / HTTP/1.1\r\nhost: a.test\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n"
    );
}

#[test]
fn a_request_body_with_length_goes_out_plain() {
    let mut script = Script::client();
    script.open(&request("POST", "/", &[("content-length", "5")]), false);
    script.send(1, "hello", true);
    assert_eq!(
        script.wrote(),
        "POST / HTTP/1.1\r\nhost: a.test\r\ncontent-length: 5\r\n\r\nhello"
    );
}

#[test]
fn te_is_an_option_of_the_connection() {
    let mut script = Script::client();
    script.open(&request("GET", "/", &[("te", "trailers")]), true);
    let wrote = script.wrote();
    assert!(
        wrote.contains("te: trailers\r\nconnection: te\r\n"),
        "{wrote}"
    );
    let mut script = Script::client();
    script.open(&request("GET", "/", &[]), true);
    let wrote = script.wrote();
    assert!(!wrote.contains("connection"), "{wrote}");
}

#[test]
fn a_post_without_a_body_says_so_and_a_get_does_not() {
    for (method, length) in [("POST", "content-length: 0\r\n"), ("GET", "")] {
        let mut script = Script::client();
        script.open(&request(method, "/", &[]), true);
        let head = format!("{method} / HTTP/1.1\r\nhost: a.test\r\n{length}\r\n");
        assert_eq!(script.wrote(), head);
    }
}

#[test]
fn what_a_request_says_of_its_connection_stands_in_front_of_its_fields() {
    let config = Config {
        sends_keep_alive: true,
        ..Config::default()
    };
    let mut script = Script::new(Side::Client, config);
    script.open(
        &request(
            "GET",
            "/x",
            &[("x-one", "1"), ("cookie", "a=1"), ("x-two", "2")],
        ),
        true,
    );
    assert_eq!(
        script.wrote(),
        "GET /x HTTP/1.1\r\nhost: a.test\r\nconnection: keep-alive\r\nx-one: 1\r\ncookie: a=1\r\nx-two: 2\r\n\r\n"
    );
    let mut script = Script::client();
    script.conn.set_open_options(OpenOptions {
        closes: true,
        ..OpenOptions::default()
    });
    script.open(&request("GET", "/x", &[("x-one", "1")]), true);
    assert_eq!(
        script.wrote(),
        "GET /x HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\nx-one: 1\r\n\r\n"
    );
}

#[test]
fn cookie_crumbs_become_one_line() {
    let mut script = Script::client();
    let crumbs = [("cookie", "a=1"), ("x", "y"), ("cookie", "b=2")];
    script.open(&request("GET", "/", &crumbs), true);
    assert_eq!(
        script.wrote(),
        "GET / HTTP/1.1\r\nhost: a.test\r\nx: y\r\ncookie: a=1; b=2\r\n\r\n"
    );
}

#[test]
fn requests_are_pipelined_only_as_far_as_allowed() {
    let mut script = pipelining(3);
    assert_eq!(script.conn.capacity(), 3);
    script.open(&get(), true);
    script.open(&get(), true);
    assert_eq!(script.conn.capacity(), 1);
    script.open(&request("POST", "/", &[]), true);
    assert_eq!(
        script.conn.open(script.now, &get(), true),
        Err(Misuse::NoCapacity)
    );
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na".repeat(2));
    assert_eq!(script.conn.capacity(), 0, "nothing goes behind a POST");
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\na");
    assert_eq!(script.conn.capacity(), 3);
    script.received();
    script.open(&request("PUT", "/", &[]), false);
    assert_eq!(script.conn.capacity(), 0, "a request is being sent");
    script.send(4, "", true);
    assert_eq!(script.conn.capacity(), 2);
    assert_eq!(script.received(), ["capacity", "capacity"]);
}

#[test]
fn nothing_goes_behind_a_request_that_asked_for_patience_before_it_is_answered() {
    let mut script = pipelining(3);
    script.conn.set_open_options(OpenOptions {
        ends_pipeline: true,
        ..OpenOptions::default()
    });
    script.open(&get(), true);
    assert_eq!(script.conn.capacity(), 0);
    script.connection_lists("HTTP/1.1 103 Early Hints\r\n\r\n");
    assert_eq!(script.conn.capacity(), 0, "that was no answer");
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\na");
    assert_eq!(script.conn.capacity(), 2, "its body may still come");
    script.open(&get(), true);
    assert_eq!(script.conn.capacity(), 1, "the next one asked for nothing");
}

#[test]
fn connection_close_in_a_response_ends_the_connection_and_resets_what_is_behind() {
    let input = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nConnection: close\r\n\r\nok";
    let (received, _) = at_every_split(
        || pipelining(2),
        input.len(),
        |script| {
            script.open(&get(), true);
            script.open(&get(), true);
            script.received();
            script.connection_lists(input);
            assert_eq!(
                script.conn.close_reason(),
                Some(CloseReason::PeerAskedClose)
            );
            assert_eq!(
                script.conn.open(script.now, &get(), true),
                Err(Misuse::ConnectionClosed)
            );
        },
    );
    assert_eq!(
        received,
        [
            "1 status 200",
            "1 body ok end",
            "2 reset ByPeer(H2Code(0)) unprocessed",
            BY_PEER
        ]
    );
}

#[test]
fn what_is_behind_a_response_that_was_cut_is_known_to_be_behind_it() {
    for input in [
        "",
        "HTTP/1.1 2",
        "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nok",
    ] {
        let mut script = pipelining(3);
        for _ in 0..3 {
            script.open(&get(), true);
        }
        script.received();
        script.connection_lists(input);
        script.ends();
        let received = script.received();
        let ends: Vec<_> = received
            .iter()
            .filter(|line| line.contains("reset"))
            .collect();
        assert!(!ends[0].ends_with("behind"), "{ends:?}");
        assert_eq!(
            ends[1..],
            [
                "2 reset Transport(InOrder) behind",
                "3 reset Transport(InOrder) behind"
            ],
            "{input}"
        );
    }
}

#[test]
fn an_answered_post_lets_others_go_behind_it() {
    let mut script = pipelining(2);
    script.open(&request("POST", "/", &[]), true);
    assert_eq!(script.conn.capacity(), 0);
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\no");
    assert_eq!(script.conn.capacity(), 1, "its body may still come");
}

#[test]
fn what_is_behind_a_response_of_http_1_0_or_one_that_is_cut_with_its_close_is_unprocessed() {
    for (input, ends) in [
        ("HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok", false),
        (
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 9\r\n\r\nok",
            true,
        ),
    ] {
        let mut script = pipelining(2);
        script.open(&get(), true);
        script.open(&get(), true);
        script.received();
        script.connection_lists(input);
        if ends {
            script.ends();
        }
        let received = script.received();
        let behind: Vec<_> = received
            .iter()
            .filter(|line| line.starts_with("2 "))
            .collect();
        assert_eq!(behind.len(), 1, "{received:?}");
        assert!(behind[0].ends_with(" unprocessed"), "{received:?}");
    }
}

#[test]
fn what_speaks_another_protocol_is_given_up_at_once_and_not_when_its_head_ends() {
    let ended = ["1 reset HeadInvalid", "closed ByUs(HeadInvalid)"];
    for handshake in [
        "SSH-2.0-x\r\n",
        "220 mail\r\n",
        "\x15\x02\x01",
        "\x15\x03\x05",
        "http/1.1",
        "HTTPS",
        "H ",
    ] {
        assert_eq!(
            receives_after(&get(), handshake, false),
            ended,
            "{handshake:?}"
        );
    }
    let silence: [&str; 0] = [];
    for start in [
        "H",
        "\x15",
        "\x16\x03",
        "HTTP/",
        "HTTP/1.1 200 OK\r\nx: y\r\n",
    ] {
        assert_eq!(receives_after(&get(), start, false), silence, "{start:?}");
    }
}

#[test]
fn names_of_an_answer_and_its_trailers_are_kept_as_they_are_spelled_where_that_is_asked_for() {
    let limits = Limits::default();
    let spelled = |section: &Fields| -> Vec<String> {
        let names = section.spellings();
        names
            .map(|name| String::from_utf8(name.to_vec()).unwrap())
            .collect()
    };
    let head = "HTTP/1.1 200 OK\r\nX-One: a\r\n b\r\nx-two: c\r\n\r\n".as_bytes();
    let section = b"X-Three: d\r\n\r\n";
    for (asked, of_head, of_trailers) in [
        (true, &["X-One", "x-two"][..], &["X-Three"][..]),
        (false, &[], &[]),
    ] {
        let (head, _) = parse::response(head, Fields::new(), &limits, asked).unwrap();
        assert_eq!(spelled(head.section()), of_head);
        assert_eq!(head.fields().next().unwrap().name, b"x-one");
        let trailers = parse::trailers(section, Fields::new(), &limits, Side::Client, asked);
        assert_eq!(spelled(&trailers.unwrap()), of_trailers);
    }
    let lower = b"HTTP/1.1 200 OK\r\nx-one: a\r\n\r\n";
    let (head, _) = parse::response(lower, Fields::new(), &limits, true).unwrap();
    assert_eq!(spelled(head.section()), Vec::<String>::new());
}

#[test]
fn a_folded_line_of_a_response_is_one_line_with_spaces_in_place_of_the_fold() {
    let limits = Limits::default();
    let head = "HTTP/1.1 200 OK\r\nx: a\r\n b\r\n\tc\r\ncontent-length:\r\n 2\r\n\r\n";
    let received = receives_after(&get(), &format!("{head}ok"), false);
    assert_eq!(received, ["1 status 200", "1 body ok end"]);
    let (head, _) = parse::response(head.as_bytes(), Fields::new(), &limits, false).unwrap();
    let folded = head.fields().next().unwrap();
    assert_eq!(folded.value, b"a   b  \tc");

    let section = b"x: a\r\n b\r\n\r\n";
    let trailers = |side| parse::trailers(section, Fields::new(), &limits, side, false);
    let reported = trailers(Side::Client).unwrap();
    assert_eq!(reported.iter().next().unwrap().value, b"a   b");
    assert!(trailers(Side::Server).is_err());
}

#[test]
fn an_http_1_0_response_without_keep_alive_ends_the_connection() {
    let input = "HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\nok";
    assert_eq!(
        receives_after(&get(), input, false),
        ["1 status 200", "1 body ok end", BY_PEER]
    );
    let input = "HTTP/1.0 200 OK\r\ncontent-length: 2\r\nconnection: Keep-Alive\r\n\r\nok";
    assert_eq!(
        receives_after(&get(), input, false),
        ["1 status 200", "1 body ok end"]
    );
}

#[test]
fn bytes_that_nobody_asked_for_close_the_connection() {
    let response = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";
    let mut script = Script::client();
    script.connection_lists("HTTP/1.1 408 Request Timeout\r\n\r\n");
    assert_eq!(script.received(), ["closed ByUs(ResponseUnexpected)"]);
    let received = receives_after(&get(), &response.repeat(2), false);
    assert_eq!(
        received,
        ["1 status 200 end", "closed ByUs(ResponseUnexpected)"]
    );
}

/// `http://` where the port speaks TLS: the alert that it answers with.
#[test]
fn a_server_that_answers_with_tls_is_distinguished_from_one_that_speaks_something_else() {
    let ended = ["1 reset TlsInCleartext", "closed ByUs(TlsInCleartext)"];
    for alert in [
        "\x15\x03\x03\0\x02\x02\x46",
        "\x16\x03\x01",
        "\x15\x03\0",
        "\x15\x03\x01\r\n\r\n",
    ] {
        assert_eq!(receives_after(&get(), alert, false), ended, "{alert:?}");
    }
}

#[test]
fn a_response_that_cannot_be_parsed_resets_its_exchange_by_the_rule() {
    for (input, rule) in [
        ("HTTP/1.1 200 OK\nx: y\n\n", "HeadInvalid"),
        ("HTTP/1.1 200 OK\r\nx : y\r\n\r\n", "FieldNameInvalid"),
        ("HTTP/1.1 200 OK\r\n x: y\r\n\r\n", "FieldNameInvalid"),
        ("HTTP/1.1 200 OK\r\nx: y\0\r\n\r\n", "FieldValueInvalid"),
        ("HTTP/1.1 99 OK\r\n\r\n", "HeadInvalid"),
        ("HTTP/1.1 099 OK\r\n\r\n", "StatusInvalid"),
        ("HTTP/2.0 200 OK\r\n\r\n", "VersionUnsupported"),
        ("ICY 200 OK\r\n\r\n", "HeadInvalid"),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
            "ContentLengthConflict",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: +1\r\n\r\n",
            "ContentLengthInvalid",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ntransfer-encoding: chunked\r\n\r\n",
            "ContentLengthConflict",
        ),
        (
            "HTTP/1.1 101 Switching Protocols\r\n\r\n",
            "SwitchUnexpected",
        ),
    ] {
        let received = receives_after(&get(), input, false);
        let reset = [format!("1 reset {rule}"), format!("closed ByUs({rule})")];
        assert_eq!(received, reset, "{input:?}");
    }
}

#[test]
fn a_response_and_its_trailers_have_as_many_fields_as_the_limits_say() {
    for (field_count_max, came, fits) in [
        (5, 5, true),
        (5, 6, false),
        (300, 256, true),
        (300, 257, true),
        (300, 300, true),
        (300, 301, false),
        (2048, 1900, true),
    ] {
        let limits = Limits {
            field_count_max,
            ..Limits::default()
        };
        let head = format!("HTTP/1.1 200 OK\r\n{}\r\n", "x: y\r\n".repeat(came));
        let parsed = parse::response(head.as_bytes(), Fields::new(), &limits, false);
        let counted = parsed.map(|(head, _)| head.fields().count());
        let section = format!("{}\r\n", "x: y\r\n".repeat(came));
        let parsed = parse::trailers(
            section.as_bytes(),
            Fields::new(),
            &limits,
            Side::Client,
            false,
        );
        let trailers = parsed.map(|fields| fields.len());
        for counted in [counted, trailers] {
            match fits {
                true => assert_eq!(counted, Ok(came)),
                false => assert_eq!(counted, Err(Violation::FieldsTooMany)),
            }
        }
    }
}

#[test]
fn a_switch_hands_the_rest_over() {
    let asking = request(
        "GET",
        "/",
        &[("upgrade", "echo"), ("connection", "upgrade")],
    );
    let input = "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n";
    assert_eq!(
        receives_after(&asking, input, false),
        ["1 status 101", "1 upgraded "]
    );
    let mut script = Script::client();
    script.open(&asking, true);
    script.connection_lists(format!("{input}raw"));
    assert_eq!(script.received().last().unwrap(), "1 upgraded raw");
    assert_eq!(script.conn.capacity(), 0);
    script.connection_lists("more");
    assert!(script.received().is_empty(), "the machine is done");
    script.hangs_up();
    assert_eq!(
        script.received(),
        ["closed Transport(Failed)"],
        "for an owner that did not take it"
    );
}

#[test]
fn a_switch_without_its_fields_is_none() {
    let asking = request(
        "GET",
        "/",
        &[("upgrade", "echo"), ("connection", "upgrade")],
    );
    for fields in ["", "upgrade: echo\r\n", "connection: upgrade\r\n"] {
        let input = format!("HTTP/1.1 101 Switching Protocols\r\n{fields}\r\n");
        assert_eq!(
            receives_after(&asking, &input, false),
            ["1 reset SwitchUnexpected", "closed ByUs(SwitchUnexpected)"],
            "{fields:?}"
        );
    }
}

#[test]
fn what_follows_a_switch_in_further_pieces_of_one_read_is_handed_over_too() {
    let asking = request(
        "GET",
        "/",
        &[("upgrade", "echo"), ("connection", "upgrade")],
    );
    let mut script = Script::client();
    script.open(&asking, true);
    let now = script.now;
    // As TLS records of one segment come: all of them before an event is polled.
    for piece in [
        "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\nfirst ",
        "second ",
        "third",
    ] {
        script.conn.handle_bytes(now, piece.as_bytes());
    }
    script.connection_lists("");
    assert_eq!(
        script.received().last().unwrap(),
        "1 upgraded first second third"
    );
    script.connection_lists("more");
    assert!(script.received().is_empty(), "the machine is done");
}

#[test]
fn connect_becomes_a_tunnel_with_2xx_only() {
    let pseudo = [(Token::METHOD, "CONNECT"), (Token::AUTHORITY, "x.test:443")];
    let connect = RequestHead::from_fields(section(&pseudo, &[]), Version::Http2).unwrap();
    let mut script = Script::client();
    script.open(&connect, true);
    assert_eq!(
        script.wrote(),
        "CONNECT x.test:443 HTTP/1.1\r\nhost: x.test:443\r\n\r\n"
    );
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nraw");
    assert!(script.received().ends_with(&["1 upgraded raw".to_owned()]));

    let received = receives_after(
        &connect,
        "HTTP/1.1 407 No\r\ncontent-length: 3\r\n\r\nraw",
        false,
    );
    let end = ["1 status 407 (No)", "1 body raw end", "closed Drained"];
    assert_eq!(received, end);
}

#[test]
fn a_connection_behind_a_refused_upgrade_takes_no_other_request() {
    let asking = request(
        "GET",
        "/",
        &[("upgrade", "echo"), ("connection", "upgrade")],
    );
    for (answer, status) in [("200 OK", "200"), ("401 Unauthorized", "401")] {
        let input = format!("HTTP/1.1 {answer}\r\ncontent-length: 2\r\n\r\nno");
        let (received, _) = at_every_split(Script::client, input.len(), |script| {
            script.open(&asking, true);
            script.connection_lists(&input);
            assert_eq!(script.conn.capacity(), 0);
        });
        let status = format!("1 status {status}");
        assert_eq!(received, [&*status, "1 body no end", "closed Drained"]);
    }
}

#[test]
fn an_answer_before_the_request_is_complete_leaves_the_rest_to_the_owner() {
    let answer = "HTTP/1.1 413 Payload Too Large\r\ncontent-length: 0\r\n\r\n";
    let mut script = Script::client();
    script.open(&request("POST", "/", &[]), false);
    script.connection_lists(answer);
    assert_eq!(script.conn.active(), 1);
    script.send(1, "", true);
    assert_eq!(
        script.received(),
        ["capacity", "1 status 413 end", "capacity"]
    );
    assert_eq!(script.conn.capacity(), 1);
}

#[test]
fn an_answer_with_close_stops_the_upload() {
    let answer = "HTTP/1.1 413 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    let mut script = Script::client();
    script.open(&request("POST", "/", &[]), false);
    script.received();
    script.connection_lists(answer);
    assert_eq!(
        script.received(),
        ["1 status 413 (No) end", "1 reset peer 0", BY_PEER]
    );
    let data = Bytes::from_static(b"x");
    assert_eq!(
        script.conn.send_body(script.now, StreamId(1), data, false),
        Err(Misuse::ConnectionClosed)
    );
}

#[test]
fn a_reset_closes_the_connection_and_a_complete_exchange_cannot_be_reset() {
    let mut script = Script::client();
    script.open(&get(), true);
    script.received();
    script.conn.reset(script.now, StreamId(1), H2Code::CANCEL);
    script.listen();
    assert_eq!(
        script.received(),
        ["closed Drained"],
        "the owner knows about 1"
    );

    let mut script = Script::client();
    script.open(&get(), true);
    script.connection_lists("HTTP/1.1 204 No Content\r\n\r\n");
    script.conn.reset(script.now, StreamId(1), H2Code::CANCEL);
    script.listen();
    assert_eq!(script.conn.capacity(), 1);
}

#[test]
fn a_reset_behind_another_exchange_lets_that_one_finish() {
    let mut script = pipelining(2);
    script.open(&get(), true);
    script.open(&get(), true);
    script.received();
    script.conn.reset(script.now, StreamId(2), H2Code::CANCEL);
    script.listen();
    assert!(script.received().is_empty());
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    assert_eq!(
        script.received(),
        ["1 status 200", "1 body ok end", "closed Drained"]
    );
}

#[test]
fn a_shut_down_lets_what_is_open_finish() {
    let mut script = Script::client();
    script.open(&get(), true);
    script.conn.shut_down(script.now);
    assert_eq!(
        script.conn.open(script.now, &get(), true),
        Err(Misuse::ConnectionClosed)
    );
    script.received();
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
    assert_eq!(
        script.received(),
        ["1 status 200", "1 body ok end", "closed Drained"]
    );
}

#[test]
fn a_silent_response_is_not_timed_out_and_an_idle_connection_is() {
    let mut script = Script::client();
    script.open(&get(), true);
    script.connection_lists("HTTP/1.1 200 OK\r\n\r\n");
    script.waits(Duration::from_secs(3500));
    assert!(!script.conn.is_closed(), "an event stream may be silent");

    let mut script = Script::client();
    script.waits(Duration::from_secs(76));
    assert_eq!(script.received(), ["closed Idle"]);
}

#[test]
fn a_server_and_an_extended_connect_cannot_open() {
    let mut script = Script::server();
    assert_eq!(
        script.conn.open(script.now, &get(), true),
        Err(Misuse::WrongSide)
    );
    let pseudo = [
        (Token::METHOD, "CONNECT"),
        (Token::PROTOCOL, "websocket"),
        (Token::SCHEME, "https"),
        (Token::AUTHORITY, "a"),
        (Token::PATH, "/"),
    ];
    let connect = RequestHead::from_fields(section(&pseudo, &[]), Version::Http2).unwrap();
    let mut script = Script::client();
    assert_eq!(
        script.conn.open(script.now, &connect, true),
        Err(Misuse::WrongSide)
    );
}

#[test]
fn a_request_without_an_authority_cannot_be_sent() {
    let pseudo = [(Token::METHOD, "GET"), (Token::PATH, "/")];
    let head = RequestHead::from_fields(section(&pseudo, &[]), Version::Http10).unwrap();
    let mut script = Script::client();
    let refused = script.conn.open(script.now, &head, true);
    assert_eq!(refused, Err(Misuse::Invalid(Violation::HostMissing)));
    assert_eq!(script.wrote(), "");
}

/// The bytes of a request to a proxy that wants `authorization`.
fn written_to_a_proxy(head: &RequestHead, authorization: Option<&str>) -> String {
    let mut script = Script::client();
    script.conn = script.conn.through(Proxy {
        authorization: authorization.map(|value| value.as_bytes().into()),
        ..Proxy::default()
    });
    script.open(head, true);
    script.wrote()
}

#[test]
fn a_request_can_ask_for_the_end_of_the_connection_behind_it() {
    let mut script = Script::client();
    script.open(&get(), true);
    script.wrote();
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    assert_eq!(script.conn.capacity(), 1);
    script.conn.set_open_options(OpenOptions {
        closes: true,
        ..OpenOptions::default()
    });
    script.open(&get(), true);
    assert_eq!(
        script.wrote(),
        "GET /x HTTP/1.1\r\nhost: a.test\r\nconnection: close\r\n\r\n"
    );
    assert_eq!(script.conn.capacity(), 0);
    assert_eq!(script.conn.close_reason(), Some(CloseReason::WeAskedClose));
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    script.wrote();
    assert!(script.conn.is_closed());
}

/// RFC 9110 section 7.8: without the option `upgrade` a server passes over the field of that name.
#[test]
fn a_request_that_may_leave_http_keeps_its_connection_field_where_the_connection_ends_behind_it() {
    let asks = [("connection", "upgrade"), ("upgrade", "x")];
    let upgrade = "GET /x HTTP/1.1\r\nhost: a.test\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n";
    let connect = "CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\n";
    let pseudo = [(Token::METHOD, "CONNECT"), (Token::AUTHORITY, "a.test:443")];
    for (head, written) in [
        (request("GET", "/x", &asks), upgrade),
        (
            RequestHead::from_fields(section(&pseudo, &[]), Version::Http2).unwrap(),
            connect,
        ),
    ] {
        let mut script = Script::client();
        script.conn.set_open_options(OpenOptions {
            closes: true,
            ..OpenOptions::default()
        });
        script.open(&head, true);
        assert_eq!(script.wrote(), written);
        script.connection_lists("HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n");
        script.wrote();
        assert!(script.conn.is_closed());
    }
}

#[test]
fn a_target_in_absolute_form_is_written_for_the_exchange_that_asks_for_it_alone() {
    let mut script = Script::client();
    script.conn.set_open_options(OpenOptions {
        absolute_form: true,
        ..OpenOptions::default()
    });
    script.open(&get(), true);
    assert_eq!(
        script.wrote(),
        "GET http://a.test/x HTTP/1.1\r\nhost: a.test\r\n\r\n"
    );
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    script.open(&get(), true);
    assert_eq!(script.wrote(), "GET /x HTTP/1.1\r\nhost: a.test\r\n\r\n");
}

#[test]
fn a_request_that_is_refused_leaves_no_close_to_the_next() {
    let mut script = Script::client();
    script.open(&get(), true);
    script.wrote();
    script.conn.set_open_options(OpenOptions {
        closes: true,
        ..OpenOptions::default()
    });
    let refused = script.conn.open(script.now, &get(), true);
    assert_eq!(refused, Err(Misuse::NoCapacity));
    script.connection_lists("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    script.open(&get(), true);
    assert_eq!(script.wrote(), "GET /x HTTP/1.1\r\nhost: a.test\r\n\r\n");
    assert_eq!(script.conn.close_reason(), None);
}

#[test]
fn a_peers_patience_is_read_from_its_keep_alive_field() {
    let cases = [
        ("timeout=5", Some(5)),
        ("timeout=5, max=100", Some(5)),
        ("timeout=2s", Some(2)),
        ("timeout=s", None),
        ("max=100 , Timeout = 20", Some(20)),
        ("timeout=0", Some(0)),
        ("timeout", None),
        ("timeout=", None),
        ("timeout=-1", None),
        ("timeout=+1", None),
        ("timeout=1.5", None),
        ("timeout=99999999999", None),
        ("max=5", None),
        ("", None),
    ];
    for (text, seconds) in cases {
        assert_eq!(patience_of(&[text]), seconds, "{text:?}");
    }
}

#[test]
fn a_peers_patience_is_read_from_all_its_keep_alive_fields() {
    let cases: [(&[&str], Option<u32>); 7] = [
        (&["max=2", "timeout=30"], Some(30)),
        (&["max=2", "TIMEOUT=3"], Some(3)),
        (&["", "timeout=3"], Some(3)),
        (&["x-timeout=30", "timeout=3"], Some(3)),
        (&["timeout=1", "timeout=9"], Some(1)),
        // A parameter does not span fields.
        (&["timeout=1", "0=max"], Some(1)),
        (&["time", "out=30"], None),
    ];
    for (values, seconds) in cases {
        assert_eq!(patience_of(values), seconds, "{values:?}");
    }
}

fn patience_of(values: &[&str]) -> Option<u32> {
    let mut fields = Fields::new();
    for value in values {
        fields.push(Token::KEEP_ALIVE, value.as_bytes());
    }
    keep_alive_seconds(fields.iter())
}

#[test]
fn to_a_proxy_the_target_is_in_absolute_form() {
    assert_eq!(
        written_to_a_proxy(&request("GET", "/x?y=1", &[]), None),
        "GET http://a.test/x?y=1 HTTP/1.1\r\nhost: a.test\r\n\r\n"
    );
}

#[test]
fn options_for_a_whole_server_has_no_path_on_its_way_to_a_proxy() {
    assert_eq!(
        written_to_a_proxy(&request("OPTIONS", "*", &[]), None),
        "OPTIONS http://a.test HTTP/1.1\r\nhost: a.test\r\n\r\n"
    );
}

#[test]
fn a_proxy_gets_its_credentials_unless_the_request_brings_its_own() {
    assert_eq!(
        written_to_a_proxy(&get(), Some("Basic eDp5")),
        "GET http://a.test/x HTTP/1.1\r\nhost: a.test\r\nproxy-authorization: Basic eDp5\r\n\r\n"
    );
    let own = request("GET", "/x", &[("proxy-authorization", "Bearer z")]);
    assert_eq!(
        written_to_a_proxy(&own, Some("Basic eDp5")),
        "GET http://a.test/x HTTP/1.1\r\nhost: a.test\r\nproxy-authorization: Bearer z\r\n\r\n"
    );
}

#[test]
fn a_proxy_gets_its_own_fields_unless_the_request_brings_them() {
    let written = |head: &RequestHead| {
        let mut script = Script::client();
        let field = |name: &str, value: &str| (name.as_bytes().into(), value.as_bytes().into());
        script.conn = script.conn.through(Proxy {
            fields: [field("x-for", "the proxy"), field("x-other", "too")].into(),
            ..Proxy::default()
        });
        script.open(head, true);
        script.wrote()
    };
    assert_eq!(
        written(&get()),
        "GET http://a.test/x HTTP/1.1\r\nhost: a.test\r\nx-for: the proxy\r\nx-other: too\r\n\r\n"
    );
    assert_eq!(
        written(&request("GET", "/x", &[("x-for", "the origin")])),
        "GET http://a.test/x HTTP/1.1\r\nhost: a.test\r\nx-other: too\r\nx-for: the origin\r\n\r\n"
    );
}

#[test]
fn the_answer_through_a_proxy_is_an_ordinary_answer() {
    let input = "HTTP/1.1 407 no\r\ncontent-length: 0\r\n\r\n";
    let mut script = Script::client();
    script.conn = script.conn.through(Proxy::default());
    script.open(&get(), true);
    script.connection_lists(input);
    let received = script.received();
    assert!(
        received.contains(&"1 status 407 (no) end".to_owned()),
        "{received:?}"
    );
    assert_eq!(script.conn.capacity(), 1, "the connection goes on");
}
