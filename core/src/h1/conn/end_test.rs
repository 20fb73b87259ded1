//! Every way in which a peer's bytes can end, against every framing and every position: only an
//! orderly end completes a body, and only one that no length or chunk delimits.

use super::tests::script::*;
use crate::error::TransportEnd;

const ENDS: [TransportEnd; 3] = [
    TransportEnd::InOrder,
    TransportEnd::Ragged,
    TransportEnd::Failed,
];

/// Responses with the end of their head and, where something delimits the body, the end of that.
const RESPONSES: [(&str, usize, Option<usize>); 6] = [
    (
        "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello",
        38,
        Some(43),
    ),
    (
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
        47,
        Some(62),
    ),
    (
        "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nh\r\n0\r\nx: 1\r\n\r\n",
        47,
        Some(64),
    ),
    ("HTTP/1.1 204 No Content\r\n\r\n", 27, Some(27)),
    ("HTTP/1.1 200 OK\r\n\r\nhello", 19, None),
    (
        "HTTP/1.0 200 OK\r\nconnection: close\r\n\r\nhello",
        38,
        None,
    ),
];

#[test]
fn only_an_end_in_order_completes_a_response_that_nothing_else_delimits() {
    for (text, head_end, delimited_at) in RESPONSES {
        assert!(text[..head_end].ends_with("\r\n\r\n"), "{text}");
        for end in ENDS {
            for at in 0..=text.len() {
                let mut script = Script::client();
                script.open(&request("GET", "/", &[]), true);
                script.connection_lists(&text[..at]);
                script.ends_as(end);
                let facts = script.received();
                let case = format!("{:?} {end:?} {facts:?}", &text[..at]);
                let whole = match delimited_at {
                    Some(whole) => at >= whole,
                    None => at >= head_end && end == TransportEnd::InOrder,
                };
                let reset = facts.iter().find(|fact| fact.starts_with("1 reset "));
                assert_eq!(whole, reset.is_none(), "{case}");
                let begun = facts.iter().any(|fact| fact.starts_with("1 status "));
                assert_eq!(begun, at >= head_end, "a head that came is a fact: {case}");
                let expected = match end {
                    _ if at < head_end => format!("1 reset Transport({end:?})"),
                    TransportEnd::Failed => "1 reset Transport(Failed)".to_owned(),
                    _ => "1 reset BodyTruncated".to_owned(),
                };
                assert!(whole || reset == Some(&expected), "{case}");
                let closed = facts.iter().filter(|fact| fact.starts_with("closed "));
                assert_eq!(closed.count(), 1, "{case}");
            }
        }
    }
}

/// Requests with the end of their head and of their body.
const REQUESTS: [(&str, usize, usize); 3] = [
    ("GET / HTTP/1.1\r\nhost: a\r\n\r\n", 27, 27),
    (
        "POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\nab",
        47,
        49,
    ),
    (
        "POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n",
        56,
        68,
    ),
];

#[test]
fn a_request_is_whole_or_reset_however_its_client_ends() {
    for (text, head_end, whole_at) in REQUESTS {
        assert!(text[..head_end].ends_with("\r\n\r\n"), "{text}");
        for end in ENDS {
            for at in 0..=text.len() {
                let mut script = Script::server();
                script.connection_lists(&text[..at]);
                script.ends_as(end);
                let facts = script.received();
                let case = format!("{:?} {end:?} {facts:?}", &text[..at]);
                let begun = facts.iter().any(|fact| fact.contains(" /"));
                assert_eq!(begun, at >= head_end, "a head that came is a fact: {case}");
                let ended = facts.iter().any(|fact| fact.ends_with(" end"));
                assert_eq!(ended, at >= whole_at, "{case}");
                let is_reset = facts.iter().any(|fact| fact.starts_with("1 reset "));
                // A whole request is still answered, unless the client can no longer read the
                // answer.
                let lost = at < whole_at || end == TransportEnd::Failed;
                assert_eq!(is_reset, begun && lost, "{case}");
                if at >= whole_at && !lost {
                    script.respond(1, &response(204, &[]), true);
                    assert!(script.wrote().starts_with("HTTP/1.1 204 "), "{case}");
                }
            }
        }
    }
}
