//! Received header blocks: requests, responses and trailers. Every block goes through the decoder,
//! even for a closed stream, because the table belongs to the connection (RFC 9113 section 4.3).

use super::recv::HeaderBlock;
use super::{Conn, Timer};
use crate::error::Violation;
use crate::exchange::{Framing, MessageInput, Received, Sent, Takes, begin_exchange};
use crate::h2::frame::{Continuation, FrameHeader, Headers, WindowUpdate};
use crate::h2::stream_state::{StreamInput, step};
use crate::hpack::Decoder;
use crate::hpack::decode::DecodedBlock;
use crate::http::{Event, Fields, RequestHead, ResponseHead, Side, StreamId, Version};
use crate::limits::HEADER_BLOCK_READ_BYTES_MAX;
use crate::min_rate::MinRate;
use std::time::Instant;

/// Points of the glitch budget for an empty CONTINUATION that does not end its block.
const EMPTY_CONTINUATION_POINTS: u32 = 10;

impl Conn {
    pub(super) fn take_headers(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let headers = Headers::parse(header, payload)?;
        if headers.stream.is_multiple_of(2) {
            // RFC 9113 section 5.1.1: client streams are odd, and a server opens none (no push).
            return Err(Violation::StreamIdInvalid);
        }
        if self.session.side() == Side::Client && self.is_idle(headers.stream) {
            return Err(Violation::StreamIdle);
        }
        let Headers {
            stream,
            fragment,
            end_stream: end,
            flaw,
            ..
        } = headers;
        if headers.end_headers {
            return self.take_block(now, stream, end, flaw, fragment);
        }
        self.reader.begun += 1;
        self.reader.block = Some(Box::new(HeaderBlock {
            stream,
            end,
            flaw,
            bytes: fragment.to_vec(),
            continuations: 0,
            serial: self.reader.begun,
        }));
        Ok(())
    }

    pub(super) fn take_continuation(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let continuation = Continuation::parse(header, payload)?;
        let fragment = continuation.fragment;
        let Some(mut block) = self.reader.block.take() else {
            return Err(Violation::ContinuationUnexpected);
        };
        block.continuations += 1;
        if block.continuations > self.session.config().limits.continuations_max {
            return Err(Violation::ContinuationsTooMany);
        }
        let len = block.bytes.len() + fragment.len();
        let max = self.session.config().limits.header_block_bytes_max;
        if len > max.max(HEADER_BLOCK_READ_BYTES_MAX) {
            return Err(Violation::HeaderBlockTooLarge);
        }
        if len > max {
            // RFC 9113 section 10.5.1: the connection lives, if the block goes through the decoder.
            block.flaw.get_or_insert(Violation::FieldSectionTooLarge);
        }
        block.bytes.extend_from_slice(fragment);
        if !continuation.end_headers {
            self.reader.block = Some(block);
            return match fragment.is_empty() {
                true => self.glitch(now, EMPTY_CONTINUATION_POINTS),
                false => Ok(()),
            };
        }
        self.take_block(now, block.stream, block.end, block.flaw, &block.bytes)
    }

    /// A whole header block. `Err` ends the connection.
    fn take_block(
        &mut self,
        now: Instant,
        id: u32,
        end: bool,
        flaw: Option<Violation>,
        block: &[u8],
    ) -> Result<(), Violation> {
        let opens = self.session.side() == Side::Server && self.ids.is_new(id);
        let stamp = self.decoder.stamp();
        if let Some(stamp) = stamp
            && opens
            && flaw.is_none()
            && let Some(head) = self.session.find_head(block, stamp)
        {
            self.ids.accept(id);
            return self.take_request(now, id, end, Ok(head));
        }
        let mut fields = self.session.fields();
        let decoded = self
            .decoder
            .decode(block, &self.session.config().limits, &mut fields)?;
        let flaw = match decoded {
            DecodedBlock::Complete => flaw,
            // The status of a gRPC call is its own: it has none of HTTP, but one for this code of a
            // reset.
            DecodedBlock::Refused(_) if opens && self.decoder.has_refused_call() => {
                Some(Violation::CallMetadataTooLarge)
            }
            DecodedBlock::Refused(violation) => flaw.or(Some(violation)),
        };
        if self.streams.key(id).is_some() {
            match flaw {
                Some(violation) => self.break_stream(now, id, violation),
                None => self.take_section(now, id, end, fields),
            }
        } else if opens {
            self.ids.accept(id);
            let head = match flaw {
                None => self.session.request_head(fields, Version::Http2),
                Some(violation) => {
                    self.recycle(fields);
                    Err(violation)
                }
            };
            if let (Ok(head), Some(stamp)) = (&head, stamp)
                && self.session.is_head_due()
                && self.decoder.stamp() == Some(stamp)
                && !Decoder::resizes(block)
            {
                self.session.keep_head(block, stamp, head, Version::Http2);
            }
            self.take_request(now, id, end, head)
        } else {
            self.recycle(fields);
            self.frame_on_closed(now, id, StreamInput::RecvHeaders { end })
        }
    }

    /// Server: a block that opens a stream.
    fn take_request(
        &mut self,
        now: Instant,
        id: u32,
        end: bool,
        head: Result<RequestHead, Violation>,
    ) -> Result<(), Violation> {
        if self.session.drain().ignores(u64::from(id)) {
            // RFC 9113 section 6.8: above the last id of our GOAWAY; the client knows.
            return Ok(());
        }
        self.session.abuse_mut().stream_opened();
        let head = match head {
            Ok(head) => head,
            Err(violation) => return self.refuse(now, id, end, violation),
        };
        let mut received = Received::awaiting_request();
        let limits = &self.session.config().limits;
        let open = (self.streams.len(), limits.concurrent_streams_max);
        let admitted = self
            .session
            .admit_request(&head, open, limits.running_handlers_max);
        if let Err(violation) = admitted.and_then(|()| received.take_request(&head, end)) {
            self.recycle_head(head);
            return self.refuse(now, id, end, violation);
        }
        let mut stream = self.fresh_stream(received, Sent::awaiting_response(), now);
        let mut opened = None;
        if !end {
            let mut incoming = self.fresh_incoming(now);
            if let Some(bytes) = stream.received.content_left() {
                incoming.credit.expect(bytes, self.session.receive_budget());
            }
            opened = self.open_window(now, &mut incoming);
            stream.incoming = Some(incoming);
        }
        stream.priority = self.priority_of(id, head.priority());
        stream.advance(StreamInput::RecvHeaders { end });
        self.streams.insert(id, stream);
        if let Some(increment) = opened {
            let stream = id;
            self.send_window_update(WindowUpdate { stream, increment });
        }
        self.timers.stop(Timer::Idle);
        begin_exchange(self, now, StreamId(u64::from(id)), head, end);
        Ok(())
    }

    /// A block on an open stream: a response head, or trailers.
    fn take_section(
        &mut self,
        now: Instant,
        id: u32,
        end: bool,
        fields: Fields,
    ) -> Result<(), Violation> {
        let Some(stream) = self.streams.get(id) else {
            return Ok(());
        };
        let side = self.session.side();
        let takes = step(stream.state, StreamInput::RecvHeaders { end }).and_then(|_| {
            let received = &stream.received;
            received.takes(MessageInput::Headers, side, Self::OUT_OF_ORDER)
        });
        let taken = match takes {
            Err(violation) => Err(violation),
            Ok(Takes::Head) => self.take_response(now, id, end, fields),
            Ok(_) => self.take_trailers(now, id, end, fields),
        };
        match taken {
            Ok(()) => Ok(()),
            Err(violation) => self.break_stream(now, id, violation),
        }
    }

    /// `Err` is for the stream.
    fn take_trailers(
        &mut self,
        now: Instant,
        id: u32,
        end: bool,
        mut trailers: Fields,
    ) -> Result<(), Violation> {
        if !end {
            return Err(Violation::TrailersWithoutEnd);
        }
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        stream
            .received
            .take_trailers(&mut trailers, Version::Http2)?;
        self.session.push_event(Event::TrailersReceived {
            stream: StreamId(u64::from(id)),
            trailers,
        });
        self.peer_ended(now, id, StreamInput::RecvHeaders { end });
        Ok(())
    }

    /// `Err` is for the stream.
    fn take_response(
        &mut self,
        now: Instant,
        id: u32,
        end: bool,
        fields: Fields,
    ) -> Result<(), Violation> {
        let head = ResponseHead::received(fields, Version::Http2)?;
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        let stream_id = StreamId(u64::from(id));
        let interims_max = self.session.config().limits.interim_responses_max;
        if !stream.received.take_response(&head, end, interims_max)? {
            self.session.push_event(Event::InterimReceived {
                stream: stream_id,
                head,
            });
            return Ok(());
        }
        if !end && let Some(incoming) = &mut stream.incoming {
            incoming.min_rate = MinRate::new(now, self.session.totals().body_bytes_received);
            if let Some(bytes) = stream.received.content_left() {
                incoming.credit.expect(bytes, self.session.receive_budget());
                self.grant_stream(now, id);
            }
        }
        self.reset_slots.handle_progress();
        self.session.push_event(Event::ResponseReceived {
            stream: stream_id,
            head,
            end,
        });
        if end {
            self.peer_ended(now, id, StreamInput::RecvHeaders { end });
        }
        Ok(())
    }
}
