//! The send side of a server's exchange, the same under a tower service and under the callback API:
//! the part of the response that comes next, and the outcome where the machine refuses one.

use super::turn::Turn;
use crate::server::response::{BodyPlan, HandlerFields, RequestFacts, ServerFields, copy_fields};
use bytes::Bytes;
use http::response::Parts;
use http::{Extensions, Response, StatusCode};
use std::time::Instant;
use trunkline_core::error::{H2Code, Misuse};
use trunkline_core::http::{Fields, ResponseHead, StreamId, Token, Version};

/// The part of a response that the machine takes next. Only a part that it took moves it on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::server) enum SendSide {
    /// The final head.
    Head,
    /// Content or trailers.
    Body,
    /// None: the connection leaves HTTP with the head that was sent.
    Leaving,
    /// None: the response is complete, or was reset.
    Done,
}

/// The part of a body that goes out with its head.
#[derive(Debug)]
pub(in crate::server) enum FirstBody {
    /// There is no body.
    Nothing,
    /// All of it.
    Whole(Bytes),
    /// It follows.
    Later,
    /// The connection leaves HTTP.
    Leaving,
}

impl SendSide {
    /// Sends the final head; `began`: when the request's came.
    ///
    /// # Errors
    /// Those of the machine: nothing was sent.
    pub(in crate::server) fn head(
        &mut self,
        turn: &mut Turn<'_>,
        stream: StreamId,
        (head, began): (&ResponseHead, Instant),
        body: FirstBody,
    ) -> Result<(), Misuse> {
        if *self != Self::Head {
            return Err(Misuse::StreamNotOpen);
        }
        let (machine, now) = (&mut *turn.machine, turn.now);
        let (sent, next) = match body {
            FirstBody::Nothing => (machine.respond(now, stream, head, true), Self::Done),
            FirstBody::Whole(body) => (machine.answer(now, stream, head, body), Self::Done),
            FirstBody::Later => (machine.respond(now, stream, head, false), Self::Body),
            FirstBody::Leaving => (machine.respond(now, stream, head, false), Self::Leaving),
        };
        sent?;
        *self = next;
        turn.count_head(began, head.status);
        Ok(())
    }
    /// Whether the machine has room for content now. The event `SendReady` follows where it has none.
    pub(in crate::server) fn has_room(self, turn: &Turn<'_>, stream: StreamId) -> bool {
        self == Self::Body && turn.machine.send_room(stream) > 0
    }
    /// Sends content; `end`: the last.
    ///
    /// # Errors
    /// Those of the machine: nothing was sent.
    pub(in crate::server) fn body(
        &mut self,
        turn: &mut Turn<'_>,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) -> Result<(), Misuse> {
        turn.machine.send_body(turn.now, stream, data, end)?;
        if end {
            *self = Self::Done;
        }
        Ok(())
    }
    /// Sends trailers, which end the response.
    ///
    /// # Errors
    /// Those of the machine: nothing was sent.
    pub(in crate::server) fn trailers(
        &mut self,
        turn: &mut Turn<'_>,
        stream: StreamId,
        trailers: &Fields,
    ) -> Result<(), Misuse> {
        turn.machine.send_trailers(turn.now, stream, trailers)?;
        *self = Self::Done;
        Ok(())
    }
    /// Ends a response of which the machine refused a part. One that has begun must not look complete
    /// and is reset; one that has not becomes a 500. False: the exchange ended meanwhile, which the
    /// machine reports itself. `began`: when the request's head came.
    pub(in crate::server) fn fail(
        &mut self,
        turn: &mut Turn<'_>,
        (stream, began): (StreamId, Instant),
        misuse: Misuse,
    ) -> bool {
        if !matches!(misuse, Misuse::Invalid(_) | Misuse::BodyLength) {
            return false;
        }
        match self {
            Self::Head => {
                turn.answer_status(stream, StatusCode::INTERNAL_SERVER_ERROR, began);
            }
            Self::Body | Self::Leaving | Self::Done => {
                turn.machine.reset(turn.now, stream, H2Code::INTERNAL_ERROR);
            }
        }
        *self = Self::Done;
        true
    }
}

impl Turn<'_> {
    /// Sends the head of a handler with the server's own fields.
    ///
    /// # Errors
    /// Those of the machine: nothing was sent.
    pub(in crate::server) fn answer_head(
        &mut self,
        send: &mut SendSide,
        (facts, began): (RequestFacts, Instant),
        parts: &Parts,
        (plan, body): (BodyPlan, FirstBody),
    ) -> Result<(), Misuse> {
        let version = self.machine.version();
        let is_http1 = matches!(version, Version::Http10 | Version::Http11);
        let server_fields = ServerFields {
            date: self.extra.date,
            alt_svc: self.extra.elsewhere(version),
            // Over HTTP/2 and HTTP/3 the end of the stream says that there is no body; gRPC's clients take each
            // field of a response without one for metadata.
            length: plan.length.filter(|length| *length > 0 || is_http1),
        };
        let fields = &mut self.scratch.fields;
        let set = copy_fields(&parts.headers, parts.status, version, fields);
        server_fields.add_to(fields, set, self.now);
        let reason = reason_of(&parts.extensions);
        self.with_head((parts.status, reason), version, |turn, head| {
            send.head(turn, facts.stream, (head, began), body)
        })
    }
    /// Sends an interim response of the handler's.
    pub(in crate::server) fn answer_interim(&mut self, stream: StreamId, response: &Response<()>) {
        let (status, version) = (response.status(), self.machine.version());
        // Nothing is added: what the server says by itself is for the final response.
        copy_fields(
            response.headers(),
            status,
            version,
            &mut self.scratch.fields,
        );
        // A response that cannot be sent belongs to an exchange that ended meanwhile.
        let _ = self.with_head((status, None), version, |turn, head| {
            turn.machine.send_interim(turn.now, stream, head)
        });
    }
    /// Sends `100 (Continue)`: the handler waits for the body (RFC 9110 section 10.1.1).
    pub(in crate::server) fn invite_body(&mut self, stream: StreamId) {
        self.scratch.fields.clear();
        let version = self.machine.version();
        // A response that cannot be sent belongs to an exchange that ended meanwhile.
        let _ = self.with_head((StatusCode::CONTINUE, None), version, |turn, head| {
            turn.machine.send_interim(turn.now, stream, head)
        });
    }
    /// Answers a request whose head came at `began` with a status and nothing else.
    pub(in crate::server) fn answer_status(
        &mut self,
        stream: StreamId,
        status: StatusCode,
        began: Instant,
    ) {
        let server_fields = ServerFields {
            date: self.extra.date,
            alt_svc: None,
            length: Some(0),
        };
        let fields = &mut self.scratch.fields;
        fields.clear();
        server_fields.add_to(fields, HandlerFields::default(), self.now);
        if [
            StatusCode::TOO_MANY_REQUESTS,
            StatusCode::SERVICE_UNAVAILABLE,
        ]
        .contains(&status)
        {
            let seconds = self.retry_after.to_string();
            fields.push(Token::RETRY_AFTER, seconds.as_bytes());
        }
        let sent = self.with_head((status, None), self.machine.version(), |turn, head| {
            turn.machine.respond(turn.now, stream, head, true)
        });
        match sent {
            Ok(()) => self.count_head(began, status.as_u16()),
            // The client takes no section as large as even this (RFC 9114 section 4.2.2); it
            // must not wait for an answer.
            Err(Misuse::Invalid(_)) => {
                self.machine.reset(self.now, stream, H2Code::INTERNAL_ERROR);
            }
            // The exchange ended meanwhile.
            Err(_) => {}
        }
    }
    /// Makes a head of the thread's fields and gives it to `send`; its memory serves the next one. `reason`: in place of the
    /// usual one.
    fn with_head(
        &mut self,
        (status, reason): (StatusCode, Option<&[u8]>),
        version: Version,
        send: impl FnOnce(&mut Self, &ResponseHead) -> Result<(), Misuse>,
    ) -> Result<(), Misuse> {
        let (status, fields) = (status.as_u16(), std::mem::take(&mut self.scratch.fields));
        let head = match self.scratch.head.take() {
            Some(spare) => spare.renew(status, fields, version),
            None => ResponseHead::new(status, fields, version),
        };
        let mut head = head.map_err(Misuse::Invalid)?;
        if let Some(reason) = reason {
            head.set_reason(reason).map_err(Misuse::Invalid)?;
        }
        let sent = send(self, &head);
        self.scratch.fields = head.take_fields();
        self.scratch.head = Some(head);
        sent
    }
}

/// The reason phrase that a handler gives its response as hyper has it (RFC 9112 section 4).
#[cfg(feature = "hyper-upgrade")]
fn reason_of(extensions: &Extensions) -> Option<&[u8]> {
    extensions
        .get::<hyper::ext::ReasonPhrase>()
        .map(hyper::ext::ReasonPhrase::as_bytes)
}
#[cfg(not(feature = "hyper-upgrade"))]
fn reason_of(_: &Extensions) -> Option<&[u8]> {
    None
}
