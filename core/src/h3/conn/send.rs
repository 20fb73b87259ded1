//! The commands that send. A head and a small body go into one slab, so that a whole response
//! leaves as one contiguous write; when the transport is busy, or much waits, bodies queue on their
//! stream and go out in the order of RFC 9218.

use super::{Conn, Timer};
use crate::error::{Misuse, Violation};
use crate::exchange::{
    Framing, Received, Sent, check_final, check_interim, check_open, check_trailers,
};
use crate::h3::TransportAction;
use crate::h3::stream::Stream;
use crate::http::{Fields, RequestHead, ResponseHead, StreamId, Token, Version};
use bytes::Bytes;
use std::time::Instant;

impl Conn {
    /// Client: starts an exchange. `end`: no body follows.
    ///
    /// # Errors
    /// `WrongSide` on a server; `ConnectionClosed` when the connection takes no more exchanges;
    /// `NoCapacity` when [`capacity`](Self::capacity) is 0; `Invalid(ConnectMalformed)` for an
    /// extended CONNECT that the server has not allowed; `Invalid(FieldSectionTooLarge)` for a head
    /// above the peer's limit; `BodyLength` when `end` contradicts content-length.
    pub fn open(
        &mut self,
        now: Instant,
        head: &RequestHead,
        end: bool,
    ) -> Result<StreamId, Misuse> {
        check_open(self, head)?;
        self.check_size(head.section())?;
        let sent = Sent::request(head, end)?;
        let stream = Stream::new(Received::awaiting_response(head), sent, now);
        self.raise_rested(now);
        self.stream_quota.spend();
        let id = self.streams.next_id();
        self.streams.insert(id, stream);
        self.retry_blocked(now);
        self.timers.stop(Timer::Idle);
        self.actions.push(TransportAction::OpenBidi { stream: id });
        self.section.clear();
        self.encoder.encode_request(id, head, &mut self.section);
        self.put_section(now, id, end);
        let capacity = self.capacity();
        self.session.opened(capacity);
        Ok(id)
    }

    /// Server: a 1xx before the final head.
    ///
    /// # Errors
    /// `Invalid(StatusInvalid)` for 101 and for a final status; `WrongSide` on a client;
    /// `ConnectionClosed` when it is; `StreamNotOpen` when the exchange is over or answered.
    pub fn send_interim(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
    ) -> Result<(), Misuse> {
        check_interim(head)?;
        let carried = self.session.totals().body_bytes_received;
        let open = self.answerable(stream)?;
        if head.status == 100 {
            open.received.ask_for_content();
            open.min_rate.restart(now, carried);
        }
        self.write_response(now, stream, head, false);
        Ok(())
    }

    /// Server: the final head. `end`: no body follows. A `priority` field overrides, member by
    /// member, what the request asked for (RFC 9218 section 8).
    ///
    /// # Errors
    /// As [`send_interim`](Self::send_interim), but `Invalid(StatusInvalid)` for an interim status;
    /// `Invalid(FieldSectionTooLarge)` for a head above the peer's limit; `BodyLength` when `end`
    /// contradicts content-length.
    pub fn respond(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        end: bool,
    ) -> Result<(), Misuse> {
        check_final(head)?;
        self.check_size(head.section())?;
        let open = self.answerable(stream)?;
        open.sent.respond(open.received.method(), head, end)?;
        if let Some(value) = head.get(Token::PRIORITY) {
            // RFC 9218 section 8. A PRIORITY_UPDATE that comes later wins over both.
            let asked = open.priority.unwrap_or_default();
            open.priority = Some(asked.overridden_by(value));
        }
        if open.priority.is_some() {
            self.set_priority(stream);
        }
        self.write_response(now, stream, head, end);
        Ok(())
    }

    /// Server: the final head and all of the body.
    ///
    /// # Errors
    /// As those of [`respond`](Self::respond); `BodyLength`, with nothing sent, when content-length
    /// is another.
    pub fn answer(
        &mut self,
        now: Instant,
        stream: StreamId,
        head: &ResponseHead,
        body: Bytes,
    ) -> Result<(), Misuse> {
        let is_free = self.takes_whole(body.len());
        let open = self.answerable(stream)?;
        Sent::check_answer(open.received.method(), head, body.len())?;
        let is_ranked = open.priority.is_some() || head.get(Token::PRIORITY).is_some();
        if !is_free || !open.is_direct() || is_ranked || head.is_interim() {
            self.respond(now, stream, head, body.is_empty())?;
            return match body.is_empty() {
                true => Ok(()),
                false => self.send_body(now, stream, body, true),
            };
        }
        self.check_size(head.section())?;
        self.section.clear();
        self.encoder
            .encode_response(stream, head, &mut self.section);
        self.put_answer(now, stream, &body);
        Ok(())
    }

    /// Body bytes; `end` may come with empty `data`.
    ///
    /// # Errors
    /// `ConnectionClosed` when it is; `StreamNotOpen` when our side is not in its body;
    /// `BodyLength` when the body would differ from the content-length that was sent (nothing is
    /// queued then).
    pub fn send_body(
        &mut self,
        now: Instant,
        stream: StreamId,
        data: Bytes,
        end: bool,
    ) -> Result<(), Misuse> {
        let open = self.live(stream)?;
        let is_wanted = open.sent.content(data.len(), end)?;
        if !is_wanted || data.is_empty() && !end {
            return Ok(());
        }
        self.put_body(now, stream, data, end);
        if end {
            self.answer_ended(now, stream);
        }
        Ok(())
    }

    /// Trailers, which end our side.
    ///
    /// # Errors
    /// As [`send_body`](Self::send_body), and `Invalid` for trailers that the validator refuses or
    /// that exceed the peer's limit.
    pub fn send_trailers(
        &mut self,
        now: Instant,
        stream: StreamId,
        trailers: &Fields,
    ) -> Result<(), Misuse> {
        check_trailers(trailers, Version::Http3)?;
        self.check_size(trailers)?;
        if !self.live(stream)?.sent.trailers()? {
            return Ok(());
        }
        self.section.clear();
        self.encoder
            .encode_trailers(stream, trailers, &mut self.section);
        self.put_section(now, stream, true);
        Ok(())
    }

    /// Server: the handler of this stream is gone (finished or cancelled). Exactly once per
    /// `RequestReceived`. What is left of a request whose answer is complete is then read to its
    /// end, or stopped with H3_NO_ERROR if it is long (RFC 9114 section 4.1): without that its
    /// stream credit would never come back.
    pub fn handler_done(&mut self, now: Instant, stream: StreamId) {
        self.session.handler_done();
        if let Some(open) = self.streams.get_mut(stream) {
            open.released = true;
            self.abandon_request(now, stream);
        }
    }

    // Checks before a call.

    fn live(&mut self, stream: StreamId) -> Result<&mut Stream, Misuse> {
        let key = self.live_key(stream)?;
        let open = self.streams.by_key_mut(key);
        open.map(|(_, open)| open).ok_or(Misuse::StreamNotOpen)
    }

    /// A request that has no final head yet.
    fn answerable(&mut self, stream: StreamId) -> Result<&mut Stream, Misuse> {
        let key = self.answerable_key(stream)?;
        let open = self.streams.by_key_mut(key);
        open.map(|(_, open)| open).ok_or(Misuse::StreamNotOpen)
    }

    /// RFC 9114 section 4.2.2: a section larger than the peer takes would be for nothing.
    pub(super) fn check_size(&self, section: &Fields) -> Result<(), Misuse> {
        match section.size() as u64 > self.peer.get().field_section_bytes_max {
            true => Err(Misuse::Invalid(Violation::FieldSectionTooLarge)),
            false => Ok(()),
        }
    }
}
