use super::{MessageInput, MessagePart, OutOfOrder, Received, Takes, step};
use crate::error::Violation;
use crate::http::{Fields, RequestHead, ResponseHead, Side, Token, Version};

/// Two violations that differ, so that a mix-up of data and sections shows.
const OUT_OF_ORDER: OutOfOrder = OutOfOrder {
    data: Violation::DataBeforeHead,
    headers: Violation::HeadersOnTunnel,
};

#[test]
fn every_part_answers_every_input() {
    use MessageInput::{Data, End, Headers};
    use MessagePart::{Content, Ended, Head, Trailers, Tunnel};
    let no_data = Err(OUT_OF_ORDER.data);
    let no_headers = Err(OUT_OF_ORDER.headers);
    let table = [
        (Head, Headers, Ok(Takes::Head)),
        (Head, Data, no_data),
        (Head, End, Err(Violation::RequestIncomplete)),
        (Content, Headers, Ok(Takes::Trailers)),
        (Content, Data, Ok(Takes::Content)),
        (Content, End, Ok(Takes::End)),
        (Tunnel, Headers, no_headers),
        (Tunnel, Data, Ok(Takes::Content)),
        (Tunnel, End, Ok(Takes::End)),
        (Trailers, Headers, no_headers),
        (Trailers, Data, no_data),
        (Trailers, End, Ok(Takes::End)),
        (Ended, Headers, no_headers),
        (Ended, Data, no_data),
        (Ended, End, no_data),
    ];
    for (part, input, expected) in table {
        assert_eq!(
            step(part, input, Side::Server, OUT_OF_ORDER),
            expected,
            "{part:?} {input:?}"
        );
    }
    assert_eq!(
        step(Head, End, Side::Client, OUT_OF_ORDER),
        Err(Violation::ResponseIncomplete)
    );
}

fn request(method: &[u8], length: Option<&[u8]>) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, method);
    if method != b"CONNECT" {
        fields.push(Token::SCHEME, b"https");
        fields.push(Token::PATH, b"/");
    }
    fields.push(Token::AUTHORITY, b"a.example:443");
    if let Some(length) = length {
        fields.push(Token::CONTENT_LENGTH, length);
    }
    RequestHead::from_fields(fields, Version::Http2).expect("a valid head")
}

fn response(status: u16, length: Option<&[u8]>) -> ResponseHead {
    let mut fields = Fields::new();
    if let Some(length) = length {
        fields.push(Token::CONTENT_LENGTH, length);
    }
    ResponseHead::new(status, fields, Version::Http2).expect("a valid head")
}

#[test]
fn a_request_that_ends_short_of_its_length_is_no_message() {
    let mut received = Received::awaiting_request();
    assert_eq!(
        received.take_request(&request(b"POST", Some(b"5")), true),
        Err(Violation::ContentLengthMismatch)
    );
    assert!(!received.has_request() && received.awaits_head());
    let length = Some(&b"5"[..]);
    assert_eq!(
        received.take_request(&request(b"POST", length), false),
        Ok(())
    );
    assert_eq!(received.take_content(3), Ok(()));
    assert_eq!(received.content_left(), Some(2));
    assert_eq!(received.take_end(), Err(Violation::ContentLengthMismatch));
    assert!(!received.is_ended(), "a wrong end is none");
    assert_eq!(
        received.take_content(3),
        Err(Violation::ContentLengthMismatch)
    );
    assert_eq!(received.take_content(2), Ok(()));
    assert_eq!(received.take_end(), Ok(true));
    assert!(received.is_ended());
}

#[test]
fn trailers_end_the_content_and_only_their_end_follows() {
    let mut received = Received::awaiting_request();
    received
        .take_request(&request(b"POST", None), false)
        .expect("content follows");
    let mut routing = Fields::new();
    routing.push(Token::CONNECTION, b"close");
    assert_eq!(
        received.take_trailers(&mut routing, Version::Http2),
        Err(Violation::ConnectionFieldForbidden)
    );
    assert_eq!(
        received.take_trailers(&mut Fields::new(), Version::Http2),
        Ok(())
    );
    assert_eq!(
        received.takes(MessageInput::Headers, Side::Server, OUT_OF_ORDER),
        Err(OUT_OF_ORDER.headers)
    );
    assert_eq!(received.take_end(), Ok(false), "the trailers ended it");
}

#[test]
fn interim_heads_are_bounded_and_never_end_a_response() {
    let mut received = Received::awaiting_response(&request(b"GET", None));
    let interim = response(103, None);
    assert_eq!(
        received.take_response(&interim, true, 2),
        Err(Violation::InterimWithEnd)
    );
    assert_eq!(received.take_response(&interim, false, 2), Ok(false));
    assert_eq!(received.take_response(&interim, false, 2), Ok(false));
    assert_eq!(
        received.take_response(&interim, false, 2),
        Err(Violation::InterimTooMany)
    );
    assert!(received.awaits_head());
    assert_eq!(
        received.take_response(&response(200, None), true, 2),
        Ok(true)
    );
    assert!(received.is_ended());
}

/// Method, status, content-length and bytes of content: whether they agree.
#[test]
fn the_content_of_a_response_is_that_of_its_method_and_status() {
    type Row = (&'static [u8], u16, Option<&'static [u8]>, u64, bool);
    let table: [Row; 9] = [
        (b"GET", 200, Some(b"5"), 5, true),
        (b"GET", 200, Some(b"5"), 6, false),
        (b"GET", 200, None, 6, true),
        (b"HEAD", 200, Some(b"5"), 0, true),
        (b"HEAD", 200, Some(b"5"), 1, false),
        (b"GET", 204, None, 1, false),
        (b"GET", 304, Some(b"5"), 0, true),
        (b"CONNECT", 200, None, 7, true),
        (b"CONNECT", 404, Some(b"5"), 6, false),
    ];
    for (method, status, length, bytes, agrees) in table {
        let mut received = Received::awaiting_response(&request(method, None));
        let head = response(status, length);
        assert_eq!(received.take_response(&head, false, 0), Ok(true));
        let taken = received
            .take_content(bytes)
            .and_then(|()| received.take_end());
        assert_eq!(
            taken.is_ok(),
            agrees,
            "{method:?} {status} {length:?} {bytes}"
        );
    }
}

#[test]
fn a_tunnel_begins_with_connect_and_takes_no_sections() {
    let asked = |request: &RequestHead| {
        let mut received = Received::awaiting_request();
        received.take_request(request, false).expect("a request");
        received.takes(MessageInput::Headers, Side::Server, OUT_OF_ORDER)
    };
    assert_eq!(asked(&request(b"CONNECT", None)), Err(OUT_OF_ORDER.headers));
    assert_eq!(asked(&request(b"POST", None)), Ok(Takes::Trailers));
    let answered = |status: u16| {
        let mut received = Received::awaiting_response(&request(b"CONNECT", None));
        received
            .take_response(&response(status, None), false, 0)
            .expect("a response");
        received.takes(MessageInput::Headers, Side::Client, OUT_OF_ORDER)
    };
    assert_eq!(answered(200), Err(OUT_OF_ORDER.headers));
    assert_eq!(answered(403), Ok(Takes::Trailers), "a refusal is a message");
    assert_eq!(answered(204), Ok(Takes::Trailers), "no content, no tunnel");
}
