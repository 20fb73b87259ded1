//! The end of a sent body: the sender's half of RFC 9112 section 6. The receiver's half is the
//! table in `http/body/length.rs`.

use super::encode::Announce;
use super::exchange::{SendLength, Sending};
use crate::error::{Misuse, Violation};
use crate::exchange::{MethodKind, count_content};
use crate::http::body::length::{Expected, ResponseContent};
use crate::http::{RequestHead, ResponseHead, Version};

/// The framing that the head announces, and our sending state behind it.
pub(super) type Plan = (Announce, Sending);

/// A request: content-length if the owner knows it, else chunked.
pub(super) fn of_request(head: &RequestHead, end: bool) -> Result<Plan, Misuse> {
    let method = head.method();
    if method == b"CONNECT" {
        // RFC 9110 section 9.3.6: nothing goes out before the answer.
        return if end || head.content_length().is_none() {
            Ok((Announce::Nothing, Sending::Done))
        } else {
            Err(Misuse::Invalid(Violation::ConnectMalformed))
        };
    }
    match (head.content_length(), end) {
        (Some(_), _) => known(Expected::of_request(head), end),
        // RFC 9110 section 8.6: methods that expect content say that there is none.
        (None, true) if matches!(method, b"POST" | b"PUT" | b"PATCH") => {
            Ok((Announce::Empty, Sending::Done))
        }
        (None, true) => Ok((Announce::Nothing, Sending::Done)),
        (None, false) => Ok((Announce::Chunked, Sending::Body(SendLength::Chunked))),
    }
}

/// A final response to `method`, for a client that speaks `version`.
pub(super) fn of_response(
    method: MethodKind,
    version: Version,
    head: &ResponseHead,
    end: bool,
) -> Result<Plan, Misuse> {
    let discard = if end {
        Sending::Done
    } else {
        Sending::Body(SendLength::Discard)
    };
    match ResponseContent::by_status(method.as_bytes(), head.status) {
        ResponseContent::Tunnel => Ok((Announce::Nothing, Sending::Switch)),
        // RFC 9112 section 6.1, RFC 9110 section 8.6.
        ResponseContent::None if head.status == 204 => Ok((Announce::Nothing, discard)),
        // Here content-length is that of the body that is not sent.
        ResponseContent::None => Ok((Announce::AsGiven, discard)),
        ResponseContent::Any => match (head.content_length(), end) {
            (Some(_), _) => known(Expected::of_response(method.as_bytes(), head), end),
            (None, true) => Ok((Announce::Empty, Sending::Done)),
            (None, false) if version == Version::Http10 => {
                Ok((Announce::Nothing, Sending::Body(SendLength::UntilClose)))
            }
            (None, false) => Ok((Announce::Chunked, Sending::Body(SendLength::Chunked))),
        },
    }
}

fn known(mut length: Expected, end: bool) -> Result<Plan, Misuse> {
    count_content(&mut length, 0, end)?;
    let sending = match end {
        true => Sending::Done,
        false => Sending::Body(SendLength::Known(length)),
    };
    Ok((Announce::AsGiven, sending))
}
