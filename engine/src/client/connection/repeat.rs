//! Responses that concern how a request was sent, not what it asks for (417, 421, 425). The request
//! is sent once more and the response is not delivered.

use super::ConnectionTask;
use super::entry::ExchangeEntry;
use crate::client::exchange::{Early, compose};
use crate::error::{Error, ErrorKind, Fault, Retry};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::H2Code;
use trunkline_core::http::{RequestHead, Version};
use trunkline_core::pool::Cause;

/// No server on the path supports the request's expectation (RFC 9110 section 15.5.18).
const EXPECTATION_FAILED: u16 = 417;
/// The connection is not one for its origin (RFC 9110 section 15.5.20).
pub(super) const MISDIRECTED: u16 = 421;
/// The server refuses early data because it can be replayed (RFC 8470 section 5.2).
const TOO_EARLY: u16 = 425;

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// True: the request goes out once more, and the response with this status is not the user's.
    pub(super) fn repeat(&mut self, now: Instant, slot: u32, status: u16) -> bool {
        let entry = self.slots.get(slot);
        let repeated = entry.and_then(|entry| Some((entry, Repetition::of(entry, status)?)));
        let Some((entry, repetition)) = repeated else {
            return false;
        };
        let loss = self.loss(entry, repetition.cause);
        let origin = &entry.request.origin;
        if status == MISDIRECTED && self.io.machine.version() == Version::Http3 {
            // RFC 7838 section 6: this alternative does not serve the origin. Its own connections do.
            self.settings.alternatives().handle_failed(now, origin);
        }
        let dispatch = self.dispatch.upgrade();
        if !dispatch.is_some_and(|dispatch| dispatch.would_retry(origin, &loss)) {
            return false;
        }
        if repetition.cause == Cause::TooEarly {
            self.count(|counts| &counts.too_early);
        }
        if let Some(mut entry) = self.slots.remove(slot) {
            if let Some(head) = repetition.head {
                entry.request.head = head;
            }
            // On HTTP/1.1, too, a body that its head announced does not come any more.
            self.io.machine.reset(now, entry.stream, H2Code::CANCEL);
            let error = Error::new(ErrorKind::Refused, Fault::Peer, Retry::Safe);
            self.give_back(now, entry, loss, error.with_text(repetition.text));
        }
        true
    }
}

/// How a request goes out once more.
struct Repetition {
    cause: Cause,
    /// The cause in words.
    text: &'static str,
    /// With this head in place of its own.
    head: Option<RequestHead>,
}

impl Repetition {
    /// How to repeat the request after this response, if at all.
    fn of(entry: &ExchangeEntry, status: u16) -> Option<Self> {
        let request = &entry.request;
        match status {
            EXPECTATION_FAILED => Some(Self {
                cause: Cause::ExpectationFailed,
                text: "the peer says that it cannot do what the request expects (417)",
                head: Some(compose::without_expectation(&request.head)?),
            }),
            MISDIRECTED => Some(Self {
                cause: Cause::Misdirected,
                text: "the peer says that the connection is not one for this origin (421)",
                head: None,
            }),
            TOO_EARLY if request.early == Early::Sent => Some(Self {
                cause: Cause::TooEarly,
                text: "the peer says that the request came too early (425)",
                head: None,
            }),
            _ => None,
        }
    }
}
