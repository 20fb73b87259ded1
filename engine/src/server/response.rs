//! Writes an [`http::Response`] to the machine: the head through a reused block, the body as far as
//! the machine has room.

mod date;

use super::exchange::turn::Turn;
use crate::driver::machine::Machine;
use bytes::{Buf, Bytes};
use date::with_date;
use http::header::HeaderMap;
use http::response::Parts;
use http::{Response, StatusCode};
use http_body::{Body as _, Frame};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;
use trunkline_core::error::{H2Code, Misuse};
use trunkline_core::http::{FieldName, Fields, ResponseHead, StreamId, Token, Version};

/// Writes the heads of the responses of a thread's connections.
#[derive(Debug, Default)]
pub(super) struct Responses {
    /// Used again for every head.
    fields: Fields,
}

/// Fields that the server adds where the handler did not set them.
#[derive(Clone, Debug, Default)]
pub(super) struct AnswerOptions {
    /// The time (RFC 9110 section 6.6.1).
    pub(super) date: bool,
    /// Handlers may answer with interim responses first.
    pub(super) interim: bool,
    /// Handlers of extended CONNECTs may have datagrams.
    pub(super) datagrams: bool,
    /// Where else the origin is served (RFC 7838 section 3).
    pub(super) alt_svc: Option<Arc<str>>,
}

/// The facts of the request that its response depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RequestFacts {
    /// The stream to answer on.
    pub(super) stream: StreamId,
    /// HEAD: the answer has no body (RFC 9110 section 9.3.2).
    pub(super) head: bool,
    /// CONNECT: a 2xx has no content-length (RFC 9110 section 9.3.6).
    pub(super) connect: bool,
}

/// The body's length and end before any byte of it was taken.
#[derive(Clone, Copy, Debug)]
pub(super) struct BodyPlan {
    /// There is none, or none is sent.
    pub(super) nothing: bool,
    /// The result of [`length_of`].
    length: Option<u64>,
}

/// A frame of a body.
pub(super) type Polled<B> =
    Option<Result<Frame<<B as http_body::Body>::Data>, <B as http_body::Body>::Error>>;

/// Where an answer stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sending {
    /// More is to be sent.
    Open,
    /// All of it is with the machine, or never will be.
    Done,
}

impl AnswerOptions {
    /// Where else the origin is served, for who is not there already.
    pub(super) fn elsewhere(&self, version: Version) -> Option<&str> {
        let alt_svc = self.alt_svc.as_deref();
        alt_svc.filter(|_| version != Version::Http3)
    }
}

impl BodyPlan {
    /// Of `response`.
    pub(super) fn of<B: http_body::Body>(response: &Response<B>, facts: RequestFacts) -> Self {
        let (status, body) = (response.status(), response.body());
        Self {
            nothing: is_bodiless(status, facts) || body.is_end_stream(),
            length: length_of(status.as_u16(), facts, body.size_hint().exact()),
        }
    }
}

impl Turn<'_> {
    /// Sends the head with the server's own fields; the outcome says whether a body is to follow.
    /// `whole`: all of it.
    pub(super) fn answer_head(
        &mut self,
        facts: RequestFacts,
        parts: &Parts,
        body_plan: BodyPlan,
        whole: Option<Bytes>,
    ) -> Sending {
        let (stream, version) = (facts.stream, self.machine.version());
        let server_fields = ServerFields {
            date: self.extra.date,
            alt_svc: self.extra.elsewhere(version),
            length: body_plan.length,
        };
        let responses = &mut self.scratch.responses;
        let set = responses.copy(&parts.headers, parts.status, version);
        server_fields.add_to(&mut responses.fields, set, self.now);
        let end = body_plan.nothing || whole.is_some();
        let sent = self.send_head(parts.status, version, |machine, now, head| match whole {
            Some(body) => machine.answer(now, stream, head, body),
            None => machine.respond(now, stream, head, end),
        });
        match sent {
            Ok(()) if end => Sending::Done,
            Ok(()) => Sending::Open,
            Err(Misuse::Invalid(_) | Misuse::BodyLength) => {
                self.answer_status(stream, StatusCode::INTERNAL_SERVER_ERROR);
                Sending::Done
            }
            // The exchange ended meanwhile.
            Err(_) => Sending::Done,
        }
    }
    /// Sends an interim response of the handler's.
    pub(super) fn answer_interim(&mut self, stream: StreamId, response: &Response<()>) {
        let version = self.machine.version();
        let responses = &mut self.scratch.responses;
        // Nothing is added: what the server says by itself is for the final response.
        responses.copy(response.headers(), response.status(), version);
        // What cannot be sent belongs to an exchange that ended meanwhile.
        let _ = self.send_head(response.status(), version, |machine, now, head| {
            machine.send_interim(now, stream, head)
        });
    }
    /// Answers with a status and nothing else.
    pub(super) fn answer_status(&mut self, stream: StreamId, status: StatusCode) {
        let server_fields = ServerFields {
            date: self.extra.date,
            alt_svc: None,
            length: Some(0),
        };
        let fields = &mut self.scratch.responses.fields;
        fields.clear();
        server_fields.add_to(fields, HandlerFields::default(), self.now);
        let version = self.machine.version();
        let sent = self.send_head(status, version, |machine, now, head| {
            machine.respond(now, stream, head, true)
        });
        if let Err(Misuse::Invalid(_)) = sent {
            // The client takes no section as large as even this (RFC 9114 section 4.2.2); it
            // must not wait for an answer.
            self.machine.reset(self.now, stream, H2Code::INTERNAL_ERROR);
        }
        // Else the exchange ended meanwhile.
    }
    /// Makes a head of the fields, and gives it to `send`; its memory serves the next one.
    fn send_head(
        &mut self,
        status: StatusCode,
        version: Version,
        send: impl FnOnce(&mut Machine, Instant, &ResponseHead) -> Result<(), Misuse>,
    ) -> Result<(), Misuse> {
        let responses = &mut self.scratch.responses;
        let fields = std::mem::take(&mut responses.fields);
        let head = ResponseHead::new(status.as_u16(), fields, version).map_err(Misuse::Invalid)?;
        let sent = send(self.machine, self.now, &head);
        responses.fields = head.into_fields();
        sent
    }
}

impl Responses {
    /// Makes the fields those of the handler.
    fn copy(&mut self, headers: &HeaderMap, status: StatusCode, version: Version) -> HandlerFields {
        self.fields.clear();
        let mut printed = HandlerFields::default();
        for (name, value) in headers {
            let name = FieldName::of(name.as_str().as_bytes());
            if printed.note(name, value.as_bytes(), status.as_u16(), version) {
                self.fields.push_with(name, value.is_sensitive(), |bytes| {
                    bytes.extend_from_slice(value.as_bytes());
                });
            }
        }
        printed
    }
}

/// Which of the server's own fields the handler has set.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HandlerFields {
    length: bool,
    date: bool,
    alt_svc: bool,
}

impl HandlerFields {
    /// Notes a field of the handler's. False: it is left out, because it belongs to the connection and
    /// not to the message (framing is the machine's, and HTTP/2 and HTTP/3 have none of the others:
    /// RFC 9113 section 8.2.2), or because an answer of that status has none (RFC 9110 section 8.6).
    pub(super) fn note(
        &mut self,
        name: FieldName<'_>,
        value: &[u8],
        status: u16,
        version: Version,
    ) -> bool {
        let FieldName::Token(token) = name else {
            return true;
        };
        let is_http1 = matches!(version, Version::Http10 | Version::Http11);
        match token {
            Token::CONTENT_LENGTH if matches!(status, 100..=199 | 204) => return false,
            Token::CONTENT_LENGTH => self.length = true,
            Token::DATE => self.date = true,
            Token::ALT_SVC => self.alt_svc = true,
            Token::TRANSFER_ENCODING => return false,
            Token::CONNECTION | Token::KEEP_ALIVE | Token::PROXY_CONNECTION | Token::UPGRADE => {
                return is_http1;
            }
            Token::TE if !value.eq_ignore_ascii_case(b"trailers") => return is_http1,
            _ => {}
        }
        true
    }
}

/// The fields that a server adds to a response head where the handler has not set them.
pub(super) struct ServerFields<'a> {
    /// The time of now.
    pub(super) date: bool,
    /// Where else the origin is served.
    pub(super) alt_svc: Option<&'a str>,
    /// The result of [`length_of`].
    pub(super) length: Option<u64>,
}

impl ServerFields<'_> {
    /// Adds it to `fields`, where the handler has not `set` it.
    pub(super) fn add_to(self, fields: &mut Fields, set: HandlerFields, now: Instant) {
        if self.date && !set.date {
            with_date(now, |date| fields.push(Token::DATE, date));
        }
        if let Some(alt_svc) = self.alt_svc.filter(|_| !set.alt_svc) {
            fields.push(Token::ALT_SVC, alt_svc.as_bytes());
        }
        if let Some(length) = self.length.filter(|_| !set.length) {
            let name = FieldName::Token(Token::CONTENT_LENGTH);
            fields.push_with(name, false, |bytes| push_decimal(bytes, length));
        }
    }
}

/// Appends `number` in decimal, without the formatter's detours.
fn push_decimal(bytes: &mut Vec<u8>, mut number: u64) {
    // u64::MAX has 20 digits.
    let mut digits = [0; 20];
    let mut from = digits.len();
    loop {
        from -= 1;
        digits[from] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    bytes.extend_from_slice(&digits[from..]);
}

/// Sends as much of `body` as the machine has room for and the body has ready, behind `first`, which
/// it gave already; adds its bytes to `bytes`.
pub(super) fn pump<B: http_body::Body>(
    turn: &mut Turn<'_>,
    stream: StreamId,
    mut body: Pin<&mut B>,
    mut first: Option<Polled<B>>,
    cx: &mut Context<'_>,
    bytes: &mut u64,
) -> Sending {
    loop {
        let frame = match first.take() {
            Some(frame) => frame,
            // `SendReady` says when it goes on.
            None if turn.machine.send_room(stream) == 0 => return Sending::Open,
            None => match body.as_mut().poll_frame(cx) {
                Poll::Ready(frame) => frame,
                Poll::Pending => return Sending::Open,
            },
        };
        let sent = match frame {
            None => turn.machine.send_body(turn.now, stream, Bytes::new(), true),
            Some(Ok(frame)) => match frame.into_data() {
                Ok(mut data) => {
                    let end = body.is_end_stream();
                    let data = data.copy_to_bytes(data.remaining());
                    if data.is_empty() && !end {
                        continue;
                    }
                    *bytes += data.len() as u64;
                    let sent = turn.machine.send_body(turn.now, stream, data, end);
                    if !end && sent.is_ok() {
                        continue;
                    }
                    sent
                }
                Err(frame) => match frame.into_trailers() {
                    Ok(trailers) => send_trailers(turn, stream, &trailers),
                    // A kind of frame that HTTP does not have.
                    Err(_) => continue,
                },
            },
            Some(Err(_)) => Err(Misuse::BodyLength),
        };
        if sent.is_err() {
            // A failed body must not look like a whole one.
            turn.machine.reset(turn.now, stream, H2Code::INTERNAL_ERROR);
        }
        return Sending::Done;
    }
}

/// Sends `100 (Continue)`: the handler waits for the body (RFC 9110 section 10.1.1).
pub(super) fn invite_body(turn: &mut Turn<'_>, stream: StreamId) {
    if let Ok(head) = ResponseHead::new(100, Fields::new(), turn.machine.version()) {
        // What cannot be sent belongs to an exchange that ended meanwhile.
        let _ = turn.machine.send_interim(turn.now, stream, &head);
    }
}

fn send_trailers(
    turn: &mut Turn<'_>,
    stream: StreamId,
    trailers: &HeaderMap,
) -> Result<(), Misuse> {
    let mut fields = Fields::new();
    for (name, value) in trailers {
        fields.push_named(name.as_str().as_bytes(), value.as_bytes());
    }
    turn.machine.send_trailers(turn.now, stream, &fields)
}

/// RFC 9110 sections 9.3.2, 15.2, 15.3.5, 15.4.5.
pub(super) fn is_bodiless(status: StatusCode, facts: RequestFacts) -> bool {
    facts.head || status == StatusCode::NO_CONTENT || status == StatusCode::NOT_MODIFIED
}

/// The content-length to say of a body of `length` bytes (RFC 9110 section 8.6): none with 1xx, 204
/// or a 2xx to CONNECT; of a 304 we do not know it, nor of an answer to HEAD from a handler that gave
/// no body.
pub(super) fn length_of(status: u16, facts: RequestFacts, length: Option<u64>) -> Option<u64> {
    let has_none = matches!(status, 100..=199 | 204 | 304)
        || facts.connect && matches!(status, 200..=299)
        || facts.head && length == Some(0);
    length.filter(|_| !has_none)
}
