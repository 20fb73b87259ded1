//! Hands a request that breaks a rule to an owner that answers such requests itself, in bytes.

use super::{Conn, Receiving};
use crate::error::Violation;
use crate::h1::exchange::Sending;
use crate::http::{Event, Refused, Side};
use bytes::Bytes;

impl Conn {
    /// Keeps the bytes in which a rule was broken, for an owner that answers by itself. What came
    /// first counts: nothing is parsed behind it.
    pub(super) fn keep_broken(&mut self, packet: &[u8], parsed: usize) {
        if self.side == Side::Server && self.config.hands_over_refusals && self.broken.is_none() {
            self.broken = Some(Box::new((Bytes::copy_from_slice(packet), parsed)));
        }
    }

    /// Hands the connection over if the first exchange is a refused request and its owner answers
    /// those; true: it did.
    pub(super) fn hand_over_refused(&mut self) -> bool {
        if !self.config.hands_over_refusals {
            return false;
        }
        let Some(front) = self.exchanges.front() else {
            return false;
        };
        let Sending::Refused(violation) = front.sending else {
            return false;
        };
        let stream = front.id;
        let (packet, parsed) = self.broken.take().map(|broken| *broken).unwrap_or_default();
        let refused = Box::new(Refused {
            violation,
            packet,
            parsed,
        });
        self.events
            .push_back(Event::RequestRefused { stream, refused });
        // A refusal ended the connection for this machine; its receiver ends it now.
        self.last = None;
        self.switch(stream, Bytes::new());
        true
    }

    /// The peer's side ended in the middle of a message: a broken rule for an owner that answers
    /// those itself. True: it was.
    pub(super) fn refuse_rest(&mut self) -> bool {
        let in_head = matches!(self.receiving, Receiving::Head(_)) && !self.tail.is_empty();
        let hands_over = self.side == Side::Server && self.config.hands_over_refusals;
        if !hands_over || !(in_head || self.receiver().is_some()) {
            return false;
        }
        self.violate(Violation::BodyTruncated);
        true
    }
}
