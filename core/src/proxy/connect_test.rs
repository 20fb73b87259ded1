use super::*;

#[expect(
    clippy::disallowed_methods,
    reason = "virtual time needs a first instant"
)]
fn start() -> Instant {
    Instant::now()
}

fn fresh() -> Connect {
    Connect::new(start(), "a.test:443", None, &[]).unwrap()
}

/// The outcome of a response that ends with the connection, equal at every split.
#[track_caller]
fn outcome(answer: &[u8]) -> Result<Bytes, ConnectRefusal> {
    let run = |pieces: &mut dyn Iterator<Item = &[u8]>| {
        let mut connect = fresh();
        let now = start();
        connect.poll_write(now);
        let mut rest: Option<Result<Vec<u8>, ConnectRefusal>> = None;
        for piece in pieces {
            match &mut rest {
                // The tunnel stands: what follows is the origin's.
                Some(Ok(rest)) => rest.extend_from_slice(piece),
                Some(Err(_)) => break,
                none => {
                    *none = connect
                        .handle_bytes(now, piece)
                        .map(|outcome| outcome.map(|rest| rest.to_vec()));
                }
            }
        }
        rest.unwrap_or_else(|| connect.handle_close(now).map(|rest| rest.to_vec()))
    };
    let whole = run(&mut [answer].into_iter());
    for cut in 1..answer.len() {
        let (front, back) = answer.split_at(cut);
        assert_eq!(run(&mut [front, back].into_iter()), whole, "cut at {cut}");
    }
    assert_eq!(run(&mut answer.chunks(1)), whole, "byte by byte");
    whole.map(Bytes::from)
}

#[test]
fn it_asks_for_host_and_port_with_its_credentials() {
    let now = start();
    let written = |authorization| {
        let mut connect = Connect::new(now, "a.test:443", authorization, &[]).unwrap();
        let written = String::from_utf8(connect.poll_write(now)).unwrap();
        assert!(connect.poll_write(now).is_empty(), "it asks once");
        written
    };
    assert_eq!(
        written(None),
        "CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\n\r\n"
    );
    assert_eq!(
        written(Some(b"Basic eDp5")),
        "CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\nproxy-authorization: Basic eDp5\r\n\r\n"
    );
}

#[test]
fn it_carries_the_fields_that_are_meant_for_the_proxy() {
    let now = start();
    let fields = [
        (b"X-For"[..].into(), b"the proxy"[..].into()),
        (b"User-Agent"[..].into(), b"a"[..].into()),
    ];
    let mut connect = Connect::new(now, "a.test:443", Some(b"Basic eDp5"), &fields).unwrap();
    assert_eq!(
        String::from_utf8(connect.poll_write(now)).unwrap(),
        "CONNECT a.test:443 HTTP/1.1\r\nhost: a.test:443\r\nproxy-authorization: Basic eDp5\r\n\
         X-For: the proxy\r\nUser-Agent: a\r\n\r\n",
        "as they are spelled"
    );
}

#[test]
fn a_2xx_is_the_tunnel() {
    for status in ["200 Connection established", "201", "299 x"] {
        let answer = format!("HTTP/1.1 {status}\r\nserver: p\r\n\r\n");
        assert_eq!(outcome(answer.as_bytes()), Ok(Bytes::new()), "{status}");
    }
}

#[test]
fn http_1_0_and_framing_fields_make_no_difference_to_a_tunnel() {
    // RFC 9110 section 9.3.6: a client ignores both fields in a 2xx to CONNECT.
    let answer = b"HTTP/1.0 200 OK\r\ncontent-length: 5\r\n\r\n";
    assert_eq!(outcome(answer), Ok(Bytes::new()));
}

#[test]
fn bytes_behind_the_answer_are_the_origins() {
    let answer = b"HTTP/1.1 200 OK\r\n\r\n\x00\x00\x00\x04";
    assert_eq!(outcome(answer), Ok(Bytes::from_static(b"\x00\x00\x00\x04")));
}

#[test]
fn an_interim_answer_comes_before_the_answer() {
    let answer = b"HTTP/1.1 103 Early\r\n\r\nHTTP/1.1 200 OK\r\n\r\n";
    assert_eq!(outcome(answer), Ok(Bytes::new()));
}

#[test]
fn another_status_is_a_refusal_with_its_challenge() {
    let answer =
        b"HTTP/1.1 407 Auth\r\nproxy-authenticate: Basic realm=\"x\"\r\ncontent-length: 0\r\n\r\n";
    let refusal = ConnectRefusal::Status {
        status: 407,
        challenge: Some("Basic realm=\"x\"".to_owned()),
    };
    assert_eq!(outcome(answer), Err(refusal));
    let refusal = ConnectRefusal::Status {
        status: 204,
        challenge: None,
    };
    assert_eq!(outcome(b"HTTP/1.1 204\r\n\r\n"), Err(refusal));
    let answer = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 9\r\n\r\nno route";
    let refusal = ConnectRefusal::Status {
        status: 502,
        challenge: None,
    };
    assert_eq!(outcome(answer), Err(refusal));
}

#[test]
fn an_answer_that_never_ends_is_refused() {
    let mut answer = b"HTTP/1.1 200 OK\r\nx: ".to_vec();
    answer.resize(64 * 1024, b'y');
    let mut connect = fresh();
    let now = start();
    connect.poll_write(now);
    let outcome = connect.handle_bytes(now, &answer);
    assert!(
        matches!(outcome, Some(Err(ConnectRefusal::Garbled(_)))),
        "{outcome:?}"
    );
}

#[test]
fn interim_answers_without_end_are_refused() {
    let answer = b"HTTP/1.1 102 Processing\r\n\r\n".repeat(50);
    let outcome = outcome(&answer);
    assert!(
        matches!(outcome, Err(ConnectRefusal::Garbled(_))),
        "{outcome:?}"
    );
}

#[test]
fn what_is_not_http_is_refused() {
    for answer in [
        &b"SSH-2.0-OpenSSH_9\r\n\r\n"[..],
        b"\x05\xff\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
    ] {
        let outcome = outcome(answer);
        assert!(
            matches!(outcome, Err(ConnectRefusal::Garbled(_))),
            "{outcome:?}"
        );
    }
}

#[test]
fn tls_in_place_of_an_answer_is_named_alike_at_every_split() {
    // An empty line behind it made it an invalid head where all of it came at once.
    let outcome = outcome(b"\x15\x03\x01\x01\0H 204\r\nTTP4\r\n\r\n");
    assert_eq!(
        outcome,
        Err(ConnectRefusal::Garbled(Violation::TlsInCleartext))
    );
}

#[test]
fn an_end_before_the_answer_is_no_tunnel() {
    for answer in [&b""[..], b"HTTP/1.1 200 OK\r\nserver: p\r\n"] {
        let outcome = outcome(answer);
        assert!(outcome.is_err(), "{outcome:?}");
    }
}

#[test]
fn an_authority_that_cannot_stand_in_a_request_is_not_asked_for() {
    for authority in ["", "a.test", "a b:443", "a.test:443\r\nx: y"] {
        assert!(
            Connect::new(start(), authority, None, &[]).is_none(),
            "{authority:?}"
        );
    }
}
