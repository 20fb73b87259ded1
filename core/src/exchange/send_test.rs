use super::{Sent, check_final, check_interim};
use crate::error::{Misuse, Violation};
use crate::exchange::MethodKind;
use crate::http::{Fields, RequestHead, ResponseHead, Token, Version};

fn request(length: Option<&[u8]>) -> RequestHead {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, b"POST");
    fields.push(Token::SCHEME, b"https");
    fields.push(Token::AUTHORITY, b"a.example");
    fields.push(Token::PATH, b"/");
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
fn content_is_as_long_as_the_head_said_or_nothing_changes() {
    assert!(Sent::request(&request(Some(b"5")), true).is_err());
    let mut sent = Sent::request(&request(Some(b"5")), false).expect("content follows");
    assert_eq!(sent.content(6, false), Err(Misuse::BodyLength));
    assert_eq!(sent.content(4, true), Err(Misuse::BodyLength));
    assert_eq!(sent.trailers(), Err(Misuse::BodyLength));
    assert_eq!(sent.content(4, false), Ok(true));
    assert_eq!(sent.content(1, true), Ok(true));
    assert!(sent.is_ended());
    assert_eq!(sent.content(0, true), Err(Misuse::StreamNotOpen));
    assert_eq!(sent.trailers(), Err(Misuse::StreamNotOpen));
}

#[test]
fn one_final_head_and_content_behind_it() {
    let mut sent = Sent::awaiting_response();
    assert_eq!(sent.content(1, false), Err(Misuse::StreamNotOpen));
    assert_eq!(sent.trailers(), Err(Misuse::StreamNotOpen));
    let short = response(200, Some(b"5"));
    let refused = sent.respond(MethodKind::Other, &short, true);
    assert_eq!(refused, Err(Misuse::BodyLength));
    assert!(sent.awaits_head(), "nothing was sent");
    assert_eq!(sent.respond(MethodKind::Head, &short, true), Ok(()));
    assert!(sent.is_ended(), "a response to HEAD has no content");
    let again = sent.respond(MethodKind::Head, &short, true);
    assert_eq!(again, Err(Misuse::StreamNotOpen));
}

#[test]
fn content_behind_a_stop_of_the_peer_is_discarded() {
    let mut sent = Sent::request(&request(None), false).expect("content follows");
    sent.stop();
    assert_eq!(sent.content(9, true), Ok(false));
    assert_eq!(sent.trailers(), Ok(false));
}

#[test]
fn an_interim_status_is_none_of_a_final_head_and_the_other_way_round() {
    let wrong = Err(Misuse::Invalid(Violation::StatusInvalid));
    for (status, is_interim) in [
        (100, true),
        (103, true),
        (199, true),
        (200, false),
        (999, false),
    ] {
        let head = response(status, None);
        assert_eq!(check_interim(&head).is_ok(), is_interim, "{status}");
        assert_eq!(check_final(&head).is_ok(), !is_interim, "{status}");
    }
    let switch = ResponseHead::new(101, Fields::new(), Version::Http11).expect("a valid head");
    assert_eq!(check_interim(&switch), wrong);
    assert_eq!(check_final(&switch), wrong);
}
