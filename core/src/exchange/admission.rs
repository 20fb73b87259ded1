//! Rules for the beginning of an exchange: whether a client may open one, whether a request becomes
//! one, and what a peer pays for those that end early.

use super::{Framing, Session, Timed};
use crate::error::{Misuse, Scope, Violation};
use crate::http::{Event, Fields, RequestHead, ResponseHead, Side, StreamId, Token, Version};
use crate::limits::Config;
use std::time::Instant;

impl Session {
    /// Server: checks whether a request becomes an exchange, beside `open` others. `open_max` and
    /// `handlers_max` are the bounds of this version.
    ///
    /// # Errors
    /// [`Violation::StreamsTooMany`], [`Violation::QueuedBytesTooMany`]: the client may send it again; [`Violation::PseudoFieldUnknown`]
    /// for an extended CONNECT that we have not offered (RFC 8441 section 4, RFC 9220 section 3).
    #[inline]
    pub(crate) fn admit_request(
        &self,
        head: &RequestHead,
        (open, open_max): (u32, u32),
        handlers_max: u32,
    ) -> Result<(), Violation> {
        // Handlers of reset streams count too (CVE-2023-44487).
        if open >= open_max || self.handlers() >= handlers_max {
            return Err(Violation::StreamsTooMany);
        }
        if self.queued() as u64 > self.config().limits.queued_bytes_max {
            return Err(Violation::QueuedBytesTooMany);
        }
        if head.protocol().is_some() && !self.config().extended_connect {
            return Err(Violation::PseudoFieldUnknown);
        }
        Ok(())
    }
}

/// Client: checks whether an exchange may begin with `head`.
///
/// # Errors
/// [`Misuse::WrongSide`] on a server; [`Misuse::ConnectionClosed`] when the connection takes no more
/// exchanges; [`Misuse::NoCapacity`] when it takes none now; [`Misuse::Invalid`] for an extended
/// CONNECT that the server has not allowed (RFC 8441 section 3, RFC 9220 section 3).
#[inline]
pub(crate) fn check_open<F: Framing>(framing: &F, head: &RequestHead) -> Result<(), Misuse> {
    if framing.session().is_server() {
        return Err(Misuse::WrongSide);
    }
    if !framing.takes_exchanges() {
        return Err(Misuse::ConnectionClosed);
    }
    if framing.capacity_now() == 0 {
        return Err(Misuse::NoCapacity);
    }
    if head.protocol().is_some() && !framing.offers_extended_connect() {
        return Err(Misuse::Invalid(Violation::ConnectMalformed));
    }
    Ok(())
}

/// Server: a request became the exchange of `stream`; the last one that the connection takes begins
/// its drain. `end`: no content follows.
#[inline]
pub(crate) fn begin_exchange<F: Framing>(
    framing: &mut F,
    now: Instant,
    stream: StreamId,
    head: RequestHead,
    end: bool,
) {
    framing.session_mut().abuse_mut().stream_accepted();
    let is_last = framing.session_mut().accepted();
    if !end {
        let look = framing.session().config().timeouts.body_look();
        framing.watch_streams(now, look);
    }
    framing
        .session_mut()
        .push_event(Event::RequestReceived { stream, head, end });
    if is_last {
        framing.drain(now);
    }
}

/// Charges the peer for a rule that it broke on a stream, which ends.
///
/// # Errors
/// The connection ends: the rule is one of the connection, or the peer's budget is used up.
pub(crate) fn charge_violation<F: Framing>(
    framing: &mut F,
    now: Instant,
    violation: Violation,
) -> Result<(), Violation> {
    if violation.scope() == Scope::Connection {
        return Err(violation);
    }
    let session = framing.session_mut();
    let verdict = match violation {
        Violation::StreamsTooMany | Violation::QueuedBytesTooMany => {
            session.totals_mut().refused += 1;
            session.abuse_mut().stream_refused(now)
        }
        _ => session.abuse_mut().reset_provoked(violation, now),
    };
    framing.judge(now, verdict)
}

/// Charges a client that resets an exchange which began at `opened_at` (CVE-2023-44487). A server's
/// reset, and one behind a complete answer, cost us nothing.
///
/// # Errors
/// The connection ends: the peer's budget is used up.
pub(crate) fn charge_reset<F: Framing>(
    framing: &mut F,
    now: Instant,
    (opened_at, is_answered): (Instant, bool),
) -> Result<(), Violation> {
    if framing.session().side() == Side::Client || is_answered {
        return Ok(());
    }
    let age = now.saturating_duration_since(opened_at);
    let verdict = framing.session_mut().abuse_mut().reset_received(age, now);
    framing.judge(now, verdict)
}

/// Whether our message on a stream is complete and out of its queue.
pub(crate) fn is_answered(stream: &impl Timed) -> bool {
    stream.sent().is_ended() && stream.queued() == 0
}

/// The response to a request head that is too large: 431 (RFC 6585 section 5). `None`: the violation
/// is another.
pub(crate) fn too_large_answer(
    config: &Config,
    now: Instant,
    violation: Violation,
    version: Version,
) -> Option<ResponseHead> {
    const STATUS: u16 = 431;
    if violation.h1_status() != STATUS {
        return None;
    }
    let mut fields = Fields::new();
    if let Some(write) = config.date {
        let mut date = Vec::new();
        write(now, &mut date);
        fields.push(Token::DATE, &date);
    }
    fields.push(Token::CONTENT_LENGTH, b"0");
    ResponseHead::new(STATUS, fields, version).ok()
}
