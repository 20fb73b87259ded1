//! Cuts the input into frames, in place (RFC 9113 section 4.1). Bytes are kept of an incomplete frame and of a
//! header block that goes on in CONTINUATION frames; the payload of DATA is passed on as it arrives.

use super::{Conn, Life, Timer};
use crate::error::Violation;
use crate::exchange::Framing;
use crate::h2::frame::{
    DataLayout, FRAME_BYTES_DEFAULT, FRAME_HEADER_BYTES, FrameHeader, flag, kind,
};
use std::time::Instant;

/// The client's connection preface (RFC 9113 section 3.4).
pub(super) const PREFACE: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
/// Our SETTINGS_MAX_FRAME_SIZE. We never raise it: a bigger frame only delays its siblings.
pub(in crate::h2) const FRAME_BYTES_MAX: u32 = FRAME_BYTES_DEFAULT;
/// Points of the glitch budget for an unknown frame.
pub(super) const UNKNOWN_FRAME_POINTS: u32 = 1;

/// Where in the byte stream the reader stands.
#[derive(Debug, Default)]
pub(in crate::h2) struct Reader {
    /// Bytes of the preface that matched.
    preface: u8,
    /// An incomplete frame, its header included; at most 9 + 16,384 bytes.
    partial: Vec<u8>,
    /// A DATA frame whose header was handled and whose payload is still coming.
    data: Option<DataFrame>,
    /// A header block without END_HEADERS so far.
    pub(in crate::h2) block: Option<Box<HeaderBlock>>,
    /// Incomplete frames and blocks so far: identifies the one that waits.
    pub(super) begun: u64,
    watched: Option<u64>,
}

/// A DATA frame in the middle of its payload.
#[derive(Clone, Copy, Debug)]
struct DataFrame {
    header: FrameHeader,
    /// Unknown until the pad length octet came.
    layout: Option<DataLayout>,
    taker: Taker,
}

/// Where the bytes of a DATA frame go. All of them were counted against the windows when it began.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Taker {
    /// To the user of the stream.
    Stream,
    /// Nowhere: each returns to the connection's window as it comes.
    Nobody,
    /// Nowhere: the stream ended within the frame, and with it all of the frame returned to that window.
    EndedStream,
}

/// HEADERS and the CONTINUATION frames so far.
#[derive(Debug)]
pub(in crate::h2) struct HeaderBlock {
    pub(in crate::h2) stream: u32,
    /// END_STREAM was on HEADERS.
    pub(in crate::h2) end: bool,
    /// The HEADERS frame broke a rule of its stream; the block is still due to the decoder.
    pub(in crate::h2) flaw: Option<Violation>,
    pub(in crate::h2) bytes: Vec<u8>,
    pub(in crate::h2) continuations: u32,
    /// Its number among the incomplete ones.
    pub(super) serial: u64,
}

impl Reader {
    /// Gives the memory of finished frames back.
    pub(in crate::h2) fn release(&mut self) {
        if self.partial.is_empty() {
            self.partial = Vec::new();
        }
    }
}

impl Conn {
    /// Handles all of `bytes`.
    pub(in crate::h2) fn read(&mut self, now: Instant, mut bytes: &[u8]) {
        if self.life == Life::Preface {
            bytes = self.read_preface(now, bytes);
        }
        while !bytes.is_empty() && self.life != Life::Closed {
            bytes = if self.reader.data.is_some() {
                self.read_data(now, bytes)
            } else if self.reader.partial.is_empty() {
                self.read_frame(now, bytes)
            } else {
                self.read_rest(now, bytes)
            };
        }
        self.watch_incomplete(now);
    }

    fn read_preface<'a>(&mut self, now: Instant, bytes: &'a [u8]) -> &'a [u8] {
        let due = &PREFACE[usize::from(self.reader.preface)..];
        let (head, rest) = bytes.split_at(due.len().min(bytes.len()));
        if head != &due[..head.len()] {
            self.fail(now, Violation::PrefaceInvalid);
            return &[];
        }
        self.reader.preface += head.len() as u8;
        if usize::from(self.reader.preface) == PREFACE.len() {
            self.life = Life::Settings;
        }
        rest
    }

    /// Handles the frame at the front of `bytes` in place, or keeps what there is of it.
    fn read_frame<'a>(&mut self, now: Instant, bytes: &'a [u8]) -> &'a [u8] {
        let Some((header, rest)) = bytes.split_first_chunk::<FRAME_HEADER_BYTES>() else {
            return self.keep(bytes);
        };
        let header = FrameHeader::parse(header);
        if let Err(violation) = self.admit_frame(header) {
            self.fail(now, violation);
            return &[];
        }
        if header.kind == kind::DATA {
            self.begin_data(now, header);
            return rest;
        }
        let Some((payload, rest)) = rest.split_at_checked(header.len as usize) else {
            return self.keep(bytes);
        };
        self.take_frame(now, header, payload);
        rest
    }

    fn keep(&mut self, bytes: &[u8]) -> &'static [u8] {
        self.reader.partial.extend_from_slice(bytes);
        self.reader.begun += 1;
        &[]
    }

    /// Goes on with the frame that was incomplete.
    fn read_rest<'a>(&mut self, now: Instant, bytes: &'a [u8]) -> &'a [u8] {
        let missing = FRAME_HEADER_BYTES.saturating_sub(self.reader.partial.len());
        let (more, bytes) = bytes.split_at(missing.min(bytes.len()));
        self.reader.partial.extend_from_slice(more);
        let Some((header, payload)) = self.reader.partial.split_first_chunk() else {
            return bytes;
        };
        let header = FrameHeader::parse(header);
        let have = payload.len();
        if missing > 0 {
            if let Err(violation) = self.admit_frame(header) {
                self.fail(now, violation);
                return &[];
            }
            if header.kind == kind::DATA {
                self.reader.partial.clear();
                self.begin_data(now, header);
                return bytes;
            }
        }
        let missing = header.len as usize - have;
        let (more, bytes) = bytes.split_at(missing.min(bytes.len()));
        self.reader.partial.extend_from_slice(more);
        if more.len() == missing {
            let mut frame = std::mem::take(&mut self.reader.partial);
            self.take_frame(now, header, &frame[FRAME_HEADER_BYTES..]);
            frame.clear();
            self.reader.partial = frame;
        }
        bytes
    }

    /// Checks a frame's header before its payload is read.
    fn admit_frame(&mut self, header: FrameHeader) -> Result<(), Violation> {
        // RFC 9113 section 3.4: the peer's preface is SETTINGS, not an acknowledgement of ours.
        if self.life == Life::Settings && (header.kind != kind::SETTINGS || header.has(flag::ACK)) {
            return Err(Violation::PrefaceInvalid);
        }
        if header.len > FRAME_BYTES_MAX {
            return Err(Violation::FrameTooLarge);
        }
        // RFC 9113 section 6.10: nothing comes between the frames of a header block.
        let is_continuation = header.kind == kind::CONTINUATION;
        match &self.reader.block {
            Some(block) if !is_continuation || header.stream != block.stream => {
                Err(Violation::ContinuationExpected)
            }
            None if is_continuation => Err(Violation::ContinuationUnexpected),
            _ => Ok(()),
        }
    }

    /// Passes a whole frame to the handler of its type.
    fn take_frame(&mut self, now: Instant, header: FrameHeader, payload: &[u8]) {
        let taken = match header.kind {
            kind::HEADERS => self.take_headers(now, header, payload),
            kind::CONTINUATION => self.take_continuation(now, header, payload),
            kind::SETTINGS => self.take_settings(now, header, payload),
            kind::WINDOW_UPDATE => self.take_window_update(now, header, payload),
            kind::PING => self.take_ping(now, header, payload),
            kind::RST_STREAM => self.take_reset(now, header, payload),
            kind::GOAWAY => self.take_goaway(now, header, payload),
            kind::PRIORITY => self.take_priority(now, header, payload),
            kind::PRIORITY_UPDATE => self.take_priority_update(now, header, payload),
            // RFC 9113 section 8.4: a client that sent ENABLE_PUSH=0, and every server.
            kind::PUSH_PROMISE => Err(Violation::PushForbidden),
            kind::ORIGIN | kind::ALTSVC if self.session.config().frame_events => {
                self.take_announcement(now, header, payload)
            }
            // RFC 9113 section 5.5: unknown kinds are ignored. DATA never comes here.
            _ => self.glitch(now, UNKNOWN_FRAME_POINTS),
        };
        if let Err(violation) = taken {
            self.fail(now, violation);
        }
    }

    // DATA.

    fn begin_data(&mut self, now: Instant, header: FrameHeader) {
        let layout = match DataLayout::needs_first_byte(header) {
            true => Ok(None),
            false => DataLayout::parse(header, None).map(Some),
        };
        let admitted = layout.and_then(|layout| {
            if let Some(layout) = layout {
                self.note_data(now, header, layout)?;
            }
            Ok((layout, self.admit_data(now, header)?))
        });
        match admitted {
            Ok((layout, wanted)) => {
                let taker = match wanted {
                    true => Taker::Stream,
                    false => Taker::Nobody,
                };
                self.reader.data = Some(DataFrame {
                    header,
                    layout,
                    taker,
                });
                if header.len == 0 {
                    self.read_data(now, &[]);
                }
            }
            Err(violation) => self.fail(now, violation),
        }
    }

    /// Takes what there is of the payload.
    fn read_data<'a>(&mut self, now: Instant, mut bytes: &'a [u8]) -> &'a [u8] {
        let Some(mut frame) = self.reader.data.take() else {
            return bytes;
        };
        let stream = frame.header.stream;
        if frame.taker == Taker::Stream && self.streams.key(stream).is_none() {
            frame.taker = Taker::EndedStream;
        }
        let mut layout = match frame.layout {
            Some(layout) => layout,
            None => {
                let first = bytes.split_first();
                let layout = DataLayout::parse(frame.header, first.map(|(&pad, _)| pad));
                let layout = layout.and_then(|layout| {
                    self.note_data(now, frame.header, layout)?;
                    Ok(layout)
                });
                match layout {
                    Ok(layout) => {
                        bytes = first.map_or(bytes, |(_, rest)| rest);
                        // Padding counts against both windows and has no reader.
                        if frame.taker != Taker::EndedStream {
                            self.discard(now, stream, 1 + layout.pad_len);
                        }
                        layout
                    }
                    Err(violation) => {
                        self.fail(now, violation);
                        return &[];
                    }
                }
            }
        };
        let (body, rest) = bytes.split_at(bytes.len().min(layout.body_len as usize));
        let (padding, rest) = rest.split_at(rest.len().min(layout.pad_len as usize));
        layout.body_len -= body.len() as u32;
        layout.pad_len -= padding.len() as u32;
        if !body.is_empty() {
            match frame.taker {
                Taker::Stream => {
                    let is_taken = (DataLayout::ends_stream(frame.header)
                        || !self.decline_body(now, stream))
                        && self.receive_body(now, stream, body);
                    if !is_taken {
                        frame.taker = Taker::EndedStream;
                    }
                }
                Taker::Nobody => self.discard(now, stream, body.len() as u32),
                Taker::EndedStream => {}
            }
        }
        if layout.body_len + layout.pad_len > 0 {
            frame.layout = Some(layout);
            self.reader.data = Some(frame);
        } else if frame.taker == Taker::Stream && DataLayout::ends_stream(frame.header) {
            self.receive_end(now, stream);
        }
        rest
    }

    /// A frame or block that began must end in time (slowloris; CVE-2024-27983 and others). The
    /// time runs from its first byte: more bytes of the same one do not restart it.
    fn watch_incomplete(&mut self, now: Instant) {
        let incomplete = match &self.reader.block {
            Some(block) => Some(block.serial),
            None if self.reader.partial.is_empty() => None,
            None => Some(self.reader.begun),
        };
        if incomplete == self.reader.watched {
            return;
        }
        self.reader.watched = incomplete;
        match (incomplete, self.session.config().timeouts.head) {
            (Some(_), Some(head)) => self.timers.set(Timer::Head, now + head),
            _ => self.timers.stop(Timer::Head),
        }
    }
}
