//! Reads request streams: frames are cut in place, DATA is passed on as it arrives, and a section
//! is copied only when it arrives in pieces (RFC 9114 section 4.1).

use super::Conn;
use crate::error::{H3Code, Violation};
use crate::exchange::{Framing, MessageInput, Takes};
use crate::h3::frame::{FrameKind, Piece};
use crate::h3::request_stream::{OUT_OF_ORDER, input_of};
use crate::http::StreamId;
use std::time::Instant;

/// Points of the glitch budget for an unknown frame.
const UNKNOWN_FRAME_POINTS: u32 = 1;
/// Body bytes that are read and thrown away behind a complete answer, before we stop the peer: a
/// request that is nearly sent ends in peace.
const DISCARD_BYTES_MAX: u64 = 64 * 1024;

impl Conn {
    /// Bytes of a request stream. `Err` ends the connection.
    pub(super) fn read_request(
        &mut self,
        now: Instant,
        id: StreamId,
        bytes: &[u8],
        fin: bool,
    ) -> Result<(), Violation> {
        let mut input = bytes;
        loop {
            let Some(stream) = self.streams.get_mut(id) else {
                return Ok(());
            };
            if stream.received.is_ended() {
                return Ok(());
            }
            if !stream.received.awaits_head() {
                // A head has its time from the start: more bytes do not move it.
                stream.min_rate.note(now);
            }
            if let Some(blocked_input) = &mut stream.blocked_input {
                blocked_input.behind.extend_from_slice(input);
                blocked_input.fin |= fin;
                return Ok(());
            }
            let Some(piece) = stream.reader.next(&mut input) else {
                break;
            };
            let ends_here = fin && input.is_empty();
            match piece {
                Piece::Header { kind, len } => {
                    let is_last = fin && input.len() as u64 == len;
                    self.begin_frame(now, id, kind, len, is_last)?;
                }
                Piece::Payload {
                    kind: FrameKind::Data,
                    bytes,
                    ..
                } => self.take_body(now, id, bytes)?,
                Piece::Payload {
                    kind: FrameKind::Headers,
                    bytes,
                    is_last,
                } => self.take_section(now, id, bytes, is_last, ends_here)?,
                Piece::Payload { .. } => {}
            }
        }
        match fin {
            true => self.take_fin(now, id),
            false => Ok(()),
        }
    }

    /// `is_last`: the stream ends with this frame.
    fn begin_frame(
        &mut self,
        now: Instant,
        id: StreamId,
        kind: FrameKind,
        len: u64,
        is_last: bool,
    ) -> Result<(), Violation> {
        let Some(input) = input_of(kind, self.session.side())? else {
            return self.glitch(now, UNKNOWN_FRAME_POINTS);
        };
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        let side = self.session.side();
        match stream.received.takes(input, side, OUT_OF_ORDER)? {
            Takes::Content => {
                let len = u32::try_from(len).unwrap_or(u32::MAX);
                let abuse = self.session.abuse_mut();
                let verdict = abuse.data_received(&mut stream.frames, len, is_last, now);
                self.judge(now, verdict)
            }
            Takes::Head | Takes::Trailers
                if len > self.session.config().limits.header_block_bytes_max as u64 =>
            {
                self.refuse_section(now, id, is_last, Violation::FieldSectionTooLarge)
            }
            Takes::Head | Takes::Trailers | Takes::End => Ok(()),
        }
    }

    fn take_body(&mut self, now: Instant, id: StreamId, bytes: &[u8]) -> Result<(), Violation> {
        let read_window = self.read_window();
        let len = bytes.len() as u64;
        let Some(stream) = self.streams.get_mut(id).filter(|_| len > 0) else {
            return Ok(());
        };
        if let Err(violation) = stream.received.take_content(len) {
            return self.break_stream(now, id, violation);
        }
        self.session.totals_mut().body_bytes_received += len;
        stream.min_rate.receive(now);
        if let Some(discarded) = &mut stream.discarding {
            *discarded += len;
            stream.min_rate.take(now);
            let is_long = *discarded > DISCARD_BYTES_MAX;
            let abuse = self.session.abuse_mut();
            abuse.data_discarded(&mut stream.frames);
            if is_long {
                self.stop_receiving(now, id, H3Code::NO_ERROR);
            }
            return Ok(());
        }
        stream.body_bytes += len;
        stream.unread += len;
        if !stream.is_full && stream.unread >= stream.ahead(read_window) {
            stream.is_full = true;
            self.slow.note_full();
            if !std::mem::replace(&mut stream.is_behind, true) {
                self.slow.note_behind(now);
            }
        }
        self.session.push_body(id, bytes);
        Ok(())
    }

    /// The peer finished its side.
    fn take_fin(&mut self, now: Instant, id: StreamId) -> Result<(), Violation> {
        let Some(stream) = self.streams.get_mut(id) else {
            return Ok(());
        };
        if !stream.reader.is_between_frames() {
            // RFC 9114 section 7.1.
            return Err(Violation::FrameTruncated);
        }
        let side = self.session.side();
        let received = &mut stream.received;
        let ended = received
            .takes(MessageInput::End, side, OUT_OF_ORDER)
            .and_then(|_| received.take_end());
        match ended {
            Ok(is_content) if is_content && stream.discarding.is_none() => {
                self.session.end_body(id);
            }
            Ok(_) => {}
            Err(violation) => return self.break_stream(now, id, violation),
        }
        self.peer_ended(now, id);
        Ok(())
    }
}
