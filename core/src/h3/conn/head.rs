//! Received field sections: requests, responses and trailers.

use super::Conn;
use crate::error::Violation;
use crate::exchange::{Framing, UNWANTED_WAIT, begin_exchange};
use crate::h3::TransportAction;
use crate::h3::stream::BlockedInput;
use crate::http::priority::Priority;
use crate::http::{Event, Fields, RequestHead, ResponseHead, Side, StreamId, Version};
use crate::min_rate::MinRate;
use crate::qpack::DecodedSection;
use std::time::Instant;

impl Conn {
    /// A piece of a HEADERS frame; `ends`: the stream ends with it. `Err` ends the connection.
    pub(super) fn take_section(
        &mut self,
        now: Instant,
        id: StreamId,
        bytes: &[u8],
        is_last: bool,
        ends: bool,
    ) -> Result<(), Violation> {
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        if is_last && stream.section.is_empty() {
            return self.decode(now, id, bytes, ends);
        }
        stream.section.extend_from_slice(bytes);
        if !is_last {
            return Ok(());
        }
        let section = std::mem::take(&mut stream.section);
        self.decode(now, id, &section, ends)
    }

    fn decode(
        &mut self,
        now: Instant,
        id: StreamId,
        section: &[u8],
        ends: bool,
    ) -> Result<(), Violation> {
        if self.awaits_head(id) {
            let stamp = self.decoder.stamp();
            if let Some(head) = self.session.find_head(section, stamp) {
                self.decoder.handle_again(id, section);
                let taken = self.take_request(now, id, ends, head);
                return self.refuse_if_wrong(now, id, ends, taken);
            }
        }
        let mut fields = self.session.fields();
        let limits = &self.session.config().limits;
        let decoded = self.decoder.decode(id, section, limits, &mut fields)?;
        self.take_decoded(now, id, decoded, fields, ends, Some(section))
    }

    /// Whether the next section is a head. Behind a body it is trailers.
    fn awaits_head(&self, id: StreamId) -> bool {
        let stream = self.streams.get(id);
        stream.is_some_and(|stream| stream.received.awaits_head())
    }

    /// A section that waited for the QPACK table, and what came behind it.
    pub(super) fn unblock(
        &mut self,
        now: Instant,
        id: StreamId,
        decoded: DecodedSection,
        fields: Fields,
    ) -> Result<(), Violation> {
        let Some(stream) = self.streams.get_mut(id) else {
            self.recycle(fields);
            return Ok(());
        };
        let blocked_input = stream.blocked_input.take().unwrap_or_default();
        let ends = blocked_input.fin && blocked_input.behind.is_empty();
        self.actions.push(TransportAction::Read { stream: id });
        self.take_decoded(now, id, decoded, fields, ends, None)?;
        self.read_request(now, id, &blocked_input.behind, blocked_input.fin)
    }

    /// `section`: what was decoded, if it was just now.
    fn take_decoded(
        &mut self,
        now: Instant,
        id: StreamId,
        decoded: DecodedSection,
        fields: Fields,
        ends: bool,
        section: Option<&[u8]>,
    ) -> Result<(), Violation> {
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        let taken = match decoded {
            DecodedSection::Refused(violation) => {
                self.recycle(fields);
                Err(violation)
            }
            DecodedSection::Blocked => {
                stream.blocked_input = Some(Box::<BlockedInput>::default());
                self.watch_streams(now, self.session.config().timeouts.head);
                self.recycle(fields);
                Ok(())
            }
            DecodedSection::Complete => {
                match (stream.received.awaits_head(), self.session.side()) {
                    (true, Side::Server) => self
                        .read_head(fields, section)
                        .and_then(|head| self.take_request(now, id, ends, head)),
                    (true, Side::Client) => ResponseHead::received(fields, Version::Http3)
                        .and_then(|head| self.take_response(now, id, ends, head)),
                    _ => self.take_trailers(now, id, ends, fields),
                }
            }
        };
        self.refuse_if_wrong(now, id, ends, taken)
    }

    fn refuse_if_wrong(
        &mut self,
        now: Instant,
        id: StreamId,
        ends: bool,
        taken: Result<(), Violation>,
    ) -> Result<(), Violation> {
        match taken {
            Ok(()) => Ok(()),
            Err(violation) => self.refuse_section(now, id, ends, violation),
        }
    }

    /// Server: the head that these fields are. `section`: they were just decoded from it.
    fn read_head(
        &mut self,
        fields: Fields,
        section: Option<&[u8]>,
    ) -> Result<RequestHead, Violation> {
        let head = self.session.request_head(fields, Version::Http3)?;
        if let Some(section) = section
            && self.session.is_head_due()
        {
            let stamp = self.decoder.stamp();
            self.session
                .keep_head(section, stamp, &head, Version::Http3);
        }
        Ok(head)
    }

    /// `Err` is for the stream.
    fn take_request(
        &mut self,
        now: Instant,
        id: StreamId,
        end: bool,
        head: RequestHead,
    ) -> Result<(), Violation> {
        // The transport bounds how many are open.
        let handlers_max = self.session.config().limits.request_handlers_max;
        let admitted = self.session.admit_request(&head, (0, 1), handlers_max);
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        if let Err(violation) = admitted.and_then(|()| stream.received.take_request(&head, end)) {
            self.recycle_head(head);
            return Err(violation);
        }
        stream.min_rate = MinRate::new(now, self.session.totals().body_bytes_received);
        // RFC 9218 section 7: a PRIORITY_UPDATE that came before wins over the field.
        if stream.priority.is_none() {
            stream.priority = head.priority().map(Priority::parse);
        }
        begin_exchange(self, now, id, head, end);
        Ok(())
    }

    /// `Err` is for the stream.
    fn take_response(
        &mut self,
        now: Instant,
        id: StreamId,
        end: bool,
        head: ResponseHead,
    ) -> Result<(), Violation> {
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        let interims_max = self.session.config().limits.interim_responses_max;
        if !stream.received.take_response(&head, end, interims_max)? {
            self.session
                .push_event(Event::InterimReceived { stream: id, head });
            return Ok(());
        }
        self.session.push_event(Event::ResponseReceived {
            stream: id,
            head,
            end,
        });
        if end {
            self.peer_ended(now, id);
        }
        Ok(())
    }

    /// `Err` is for the stream.
    fn take_trailers(
        &mut self,
        now: Instant,
        id: StreamId,
        end: bool,
        mut trailers: Fields,
    ) -> Result<(), Violation> {
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        stream
            .received
            .take_trailers(&mut trailers, Version::Http3)?;
        if stream.discarding.is_some() {
            self.recycle(trailers);
        } else {
            self.session.push_event(Event::TrailersReceived {
                stream: id,
                trailers,
            });
        }
        if end {
            self.peer_ended(now, id);
        }
        Ok(())
    }

    /// Server: our message is complete. From now on the rest of the request is due, or is not for the
    /// handler any more if that is gone.
    pub(super) fn answer_ended(&mut self, now: Instant, id: StreamId) {
        let carried = self.session.totals().body_bytes_received;
        if self.session.side() == Side::Server
            && let Some(stream) = self.streams.get_mut(id)
            && !stream.received.is_ended()
        {
            // While it was sent the peer owed nothing.
            stream.min_rate.restart(now, carried);
            self.watch_streams(now, self.session.config().timeouts.body_look());
        }
        self.abandon_request(now, id);
    }

    /// Our side of the user's exchange is complete: what is left of the peer's message is not for the
    /// user any more, if that is gone. The peer of a tunnel that was left has time until our bytes have gone.
    pub(super) fn abandon_request(&mut self, now: Instant, id: StreamId) {
        let Some(stream) = self.streams.get_mut(id) else {
            return;
        };
        if !stream.released
            || stream.left_until.is_some() && !stream.is_sent
            || !stream.sent.is_ended()
            || stream.received.is_ended()
            || stream.discarding.is_some()
        {
            return;
        }
        stream.discarding = Some(0);
        stream.unread = 0;
        let abuse = self.session.abuse_mut();
        abuse.data_discarded(&mut stream.frames);
        stream.min_rate.take(now);
        stream.min_rate.note(now);
        let was_full = std::mem::replace(&mut stream.is_full, false);
        if std::mem::take(&mut stream.is_behind) {
            self.slow.note_caught_up();
        }
        if was_full {
            self.slow.note_left(true);
            self.actions.push(TransportAction::Read { stream: id });
        }
        self.watch_streams(now, Some(UNWANTED_WAIT));
    }
}
