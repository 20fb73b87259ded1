//! Answers about errors.

use super::super::{Error, ErrorKind, Fault, Retry};
use http::StatusCode;
use std::io;
use trunkline_core::error::{H2Code, Misuse, Violation};
use trunkline_core::http::{Reset, ResetBy};

fn of(kind: ErrorKind) -> Error {
    Error::new(kind, Fault::Peer, Retry::Never)
}

#[test]
fn each_kind_has_the_code_that_grpc_gives_it() {
    let status = |code| ErrorKind::Status(StatusCode::from_u16(code).unwrap());
    for (kind, code) in [
        (ErrorKind::Timeout, 4),
        (ErrorKind::Cancelled, 1),
        (ErrorKind::Resolve, 14),
        (ErrorKind::Connect, 14),
        (ErrorKind::Proxy, 14),
        (ErrorKind::Tls, 14),
        (ErrorKind::Refused, 14),
        (ErrorKind::TransportClosed, 14),
        (ErrorKind::ConnectionClosed(H2Code::NO_ERROR), 14),
        (ErrorKind::StreamReset(H2Code::NO_ERROR), 13),
        (ErrorKind::StreamReset(H2Code::PROTOCOL_ERROR), 13),
        (ErrorKind::StreamReset(H2Code::REFUSED_STREAM), 14),
        (ErrorKind::StreamReset(H2Code::CANCEL), 1),
        (ErrorKind::StreamReset(H2Code::ENHANCE_YOUR_CALM), 8),
        (ErrorKind::StreamReset(H2Code::INADEQUATE_SECURITY), 7),
        (status(400), 13),
        (status(401), 16),
        (status(403), 7),
        (status(404), 12),
        (status(429), 14),
        (status(503), 14),
        (status(418), 2),
        (ErrorKind::Config, 13),
        (ErrorKind::Body, 13),
        (ErrorKind::Redirect, 13),
    ] {
        assert_eq!(of(kind).grpc_code(), code, "{kind:?}");
    }
}

#[test]
fn a_request_that_a_goaway_left_unprocessed_is_unavailable_whatever_the_code() {
    for code in (0..=13).map(H2Code) {
        let error = Error::reset(Reset {
            by: ResetBy::Peer(code),
            unprocessed: true,
            behind: false,
        });
        assert_eq!(error.grpc_code(), 14, "{code:?}");
        let words = match code {
            H2Code::REFUSED_STREAM => "the peer reset the stream",
            _ => "the peer left the request unprocessed (GOAWAY",
        };
        assert!(error.to_string().starts_with(words), "{error}");
    }
}

#[test]
fn a_connection_error_is_one_before_anything_was_sent() {
    assert!(of(ErrorKind::Resolve).is_connect());
    assert!(!of(ErrorKind::Tls).with_was_sent(true).is_connect());
    assert!(!of(ErrorKind::Timeout).is_connect());
    assert!(of(ErrorKind::Timeout).is_timeout());
    let hasty = of(ErrorKind::Connect).with_timed_out();
    assert!(hasty.is_timeout() && hasty.is_connect() && hasty.again().is_timeout());
    let system = io::Error::from(io::ErrorKind::TimedOut);
    let system = of(ErrorKind::Connect).with_source(system);
    assert!(system.is_timeout() && system.is_connect());
    assert!(!of(ErrorKind::Connect).is_timeout());
    assert!(of(ErrorKind::Redirect).is_redirect() && !of(ErrorKind::Redirect).is_request());
    assert!(of(ErrorKind::Body).is_body());
    assert!(of(ErrorKind::Config).is_config());
    let status = of(ErrorKind::Status(StatusCode::NOT_FOUND));
    assert_eq!(status.status(), Some(StatusCode::NOT_FOUND));
    assert_eq!(
        status.to_string(),
        "the response has the status 404 Not Found"
    );
    assert_eq!(of(ErrorKind::Timeout).status(), None);
}

/// `tidy` compares the page with the list of names, and this the list with the kinds.
#[test]
fn each_kind_has_a_name_of_its_own_and_a_section_of_the_guide() {
    let all = [
        ErrorKind::Config,
        ErrorKind::Resolve,
        ErrorKind::Connect,
        ErrorKind::Proxy,
        ErrorKind::Tls,
        ErrorKind::Message(Misuse::NoCapacity),
        ErrorKind::Violation(Violation::TlsInCleartext),
        ErrorKind::StreamReset(H2Code::NO_ERROR),
        ErrorKind::ConnectionClosed(H2Code::NO_ERROR),
        ErrorKind::TransportClosed,
        ErrorKind::Timeout,
        ErrorKind::Refused,
        ErrorKind::Cancelled,
        ErrorKind::Body,
        ErrorKind::Redirect,
        ErrorKind::Status(StatusCode::NOT_FOUND),
    ];
    assert_eq!(all.map(ErrorKind::name), ErrorKind::NAMES);
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../");
    for kind in all {
        let help = of(kind).help();
        let error = of(kind).with_source(io::Error::other("the cause"));
        assert!(!error.to_string().contains("see docs"), "{error}");
        let whole = format!("{error:#}");
        assert!(whole.ends_with(&format!(": the cause (see {help})")));
        let passed_on = of(kind).with_source(io::Error::other(whole.clone()));
        assert!(format!("{passed_on:#}").ends_with(&whole), "not twice");
        assert!(format!("{error:?}").ends_with(&format!("help: \"{help}\" }}")));
        let (page, anchor) = help.split_once('#').expect("a page and an anchor");
        let text = std::fs::read_to_string(format!("{root}{page}")).expect("a page of the guide");
        let is_there = text.contains(&format!("<a id=\"{anchor}\"></a>"));
        assert!(is_there, "{help}");
    }
}
