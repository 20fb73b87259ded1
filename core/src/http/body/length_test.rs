use super::*;
use crate::http::{Fields, Version};

fn fields(lines: &[(&str, &str)]) -> Fields {
    lines.iter().copied().collect()
}

fn request(method: &str, lines: &[(&str, &str)]) -> RequestHead {
    let target: &[_] = if method == "CONNECT" {
        &[(":authority", "a:1")]
    } else {
        &[(":path", "/")]
    };
    let lines = [&[(":method", method)], target, &[("host", "a")], lines].concat();
    RequestHead::from_fields(fields(&lines), Version::Http11).unwrap()
}

fn response(status: u16, lines: &[(&str, &str)]) -> ResponseHead {
    ResponseHead::new(status, fields(lines), Version::Http11).unwrap()
}

const CHUNKED: (&str, &str) = ("transfer-encoding", "chunked");
const FIVE: (&str, &str) = ("content-length", "5");

#[test]
fn a_request_has_a_body_only_if_it_says_so() {
    for method in ["GET", "POST", "HEAD", "DELETE", "OWN"] {
        assert_eq!(
            BodyLength::of_request(&request(method, &[])),
            Ok(BodyLength::None)
        );
        let known = BodyLength::of_request(&request(method, &[FIVE]));
        assert_eq!(known, Ok(BodyLength::Known(5)));
        let chunked = BodyLength::of_request(&request(method, &[CHUNKED]));
        assert_eq!(chunked, Ok(BodyLength::Chunked));
    }
}

#[test]
fn connect_has_no_body() {
    assert_eq!(
        BodyLength::of_request(&request("CONNECT", &[])),
        Ok(BodyLength::None)
    );
    for line in [FIVE, CHUNKED] {
        let length = BodyLength::of_request(&request("CONNECT", &[line]));
        assert_eq!(length, Err(Violation::ConnectMalformed));
    }
}

#[test]
fn chunked_stands_alone_in_a_request_and_last_in_a_response() {
    use BodyLength::{Chunked, UntilClose};
    use Violation::{TransferEncodingInvalid, TransferEncodingUnsupported};
    const INVALID: Result<BodyLength, Violation> = Err(TransferEncodingInvalid);
    const UNSUPPORTED: Result<BodyLength, Violation> = Err(TransferEncodingUnsupported);
    // The values, and the length in a request and in a response.
    let rows = [
        (&["chunked"][..], Ok(Chunked), Ok(Chunked)),
        (&["Chunked"], Ok(Chunked), Ok(Chunked)),
        (&["gzip, chunked"], UNSUPPORTED, Ok(Chunked)),
        (&["gzip", "chunked"], UNSUPPORTED, Ok(Chunked)),
        (&["identity, chunked"], UNSUPPORTED, Ok(Chunked)),
        (&["x;a=b, chunked"], UNSUPPORTED, Ok(Chunked)),
        (&["chunked, gzip"], INVALID, INVALID),
        (&["chunked, chunked"], INVALID, INVALID),
        (&["chunked", "chunked"], INVALID, INVALID),
        (&["gzip"], INVALID, Ok(UntilClose)),
        (&["identity"], INVALID, Ok(UntilClose)),
        (&["xchunked"], INVALID, Ok(UntilClose)),
        (&["chunked;a=b"], INVALID, INVALID),
        (&["chunked ;a=b, gzip"], INVALID, INVALID),
        (&["chunked,"], INVALID, Ok(Chunked)),
        (&[", chunked"], INVALID, Ok(Chunked)),
        (&["", "chunked"], INVALID, Ok(Chunked)),
        (&[""], INVALID, Ok(UntilClose)),
        (&["\"chunked\""], INVALID, INVALID),
        (&["gzip chunked"], INVALID, INVALID),
    ];
    for (values, of_request, of_response) in rows {
        let lines: Vec<_> = values
            .iter()
            .map(|&value| ("transfer-encoding", value))
            .collect();
        assert_eq!(
            BodyLength::of_request(&request("POST", &lines)),
            of_request,
            "{values:?}"
        );
        assert_eq!(
            BodyLength::of_response(b"GET", &response(200, &lines)),
            of_response,
            "{values:?} in a response"
        );
    }
}

#[test]
fn the_table_of_responses() {
    use BodyLength::*;
    // Method, status, without framing, with content-length, chunked.
    let rows = [
        ("GET", 200, UntilClose, Known(5), Chunked),
        ("GET", 404, UntilClose, Known(5), Chunked),
        ("GET", 205, UntilClose, Known(5), Chunked),
        ("HEAD", 200, None, None, None),
        ("HEAD", 404, None, None, None),
        ("GET", 100, None, None, None),
        ("GET", 103, None, None, None),
        ("GET", 204, None, None, None),
        ("GET", 304, None, None, None),
        ("GET", 101, Tunnel, Tunnel, Tunnel),
        ("CONNECT", 200, Tunnel, Tunnel, Tunnel),
        ("CONNECT", 299, Tunnel, Tunnel, Tunnel),
        ("CONNECT", 204, None, None, None),
        ("CONNECT", 407, UntilClose, Known(5), Chunked),
    ];
    for (method, status, plain, known, chunked) in rows {
        for (lines, expected) in [(&[][..], plain), (&[FIVE], known), (&[CHUNKED], chunked)] {
            let length = BodyLength::of_response(method.as_bytes(), &response(status, lines));
            assert_eq!(length, Ok(expected), "{method} {status} {lines:?}");
        }
    }
}

#[test]
fn a_body_is_as_long_as_content_length_says() {
    let mut expected = Expected::of_request(&request("POST", &[FIVE]));
    expected.receive(2).unwrap();
    assert_eq!(expected.end(), Err(Violation::ContentLengthMismatch));
    expected.receive(3).unwrap();
    expected.receive(0).unwrap();
    assert_eq!(expected.left(), Some(0));
    expected.end().unwrap();
    assert_eq!(expected.receive(1), Err(Violation::ContentLengthMismatch));
}

#[test]
fn without_content_length_any_body_will_do() {
    let mut expected = Expected::of_request(&request("POST", &[]));
    expected.receive(u64::MAX).unwrap();
    expected.receive(u64::MAX).unwrap();
    expected.end().unwrap();
}

#[test]
fn head_204_and_304_announce_a_length_and_send_nothing() {
    for (method, status) in [("HEAD", 200), ("GET", 204), ("GET", 304)] {
        let head = response(status, &[FIVE]);
        let mut expected = Expected::of_response(method.as_bytes(), &head);
        expected.end().unwrap();
        expected.receive(0).unwrap();
        assert_eq!(expected.receive(1), Err(Violation::ContentLengthMismatch));
    }
    let expected = Expected::of_response(b"GET", &response(200, &[FIVE]));
    assert_eq!(expected.end(), Err(Violation::ContentLengthMismatch));
}

#[test]
fn a_tunnel_has_no_length() {
    let mut expected = Expected::of_response(b"CONNECT", &response(200, &[FIVE]));
    expected.receive(100).unwrap();
    expected.end().unwrap();
}

/// The table of RFC 9112 section 6.3 and the count of content that HTTP/2 and HTTP/3 have agree for each
/// method and status.
#[test]
fn every_version_gives_a_response_the_same_content() {
    for method in [&b"GET"[..], b"HEAD", b"CONNECT", b"POST"] {
        for status in 101..=599 {
            let head = response(status, &[FIVE]);
            let expected = Expected::of_response(method, &head).left();
            let length = BodyLength::of_response(method, &head);
            let agreed = match ResponseContent::by_status(method, status) {
                ResponseContent::None => (Ok(BodyLength::None), Some(0)),
                ResponseContent::Tunnel => (Ok(BodyLength::Tunnel), None),
                ResponseContent::Any => (Ok(BodyLength::Known(5)), Some(5)),
            };
            assert_eq!((length, expected), agreed, "{method:?} {status}");
        }
    }
    let of = ResponseContent::by_status;
    assert_eq!(of(b"CONNECT", 200), ResponseContent::Tunnel);
    assert_eq!(of(b"CONNECT", 204), ResponseContent::None);
    assert_eq!(of(b"CONNECT", 404), ResponseContent::Any);
    assert_eq!(of(b"HEAD", 200), ResponseContent::None);
    assert_eq!(of(b"GET", 101), ResponseContent::Tunnel);
}
