//! A server's announcements beside its responses: alternative services of an origin (ALTSVC, RFC
//! 7838 section 4), and further origins that it serves (ORIGIN, RFC 8336).

use super::recv::UNKNOWN_FRAME_POINTS;
use super::{Conn, Life};
use crate::error::{Misuse, Violation};
use crate::exchange::Framing;
use crate::h2::frame::{AltSvcFrame, FRAME_BYTES_DEFAULT, FrameHeader, kind, origin};
use crate::http::{Event, Side, StreamId};
use bytes::Bytes;
use std::time::Instant;

/// The largest announcement, bytes: one that fits a frame of the default size, which every peer
/// accepts.
const ANNOUNCED_BYTES_MAX: usize = FRAME_BYTES_DEFAULT as usize;

/// RFC 8336 section 2.1: an ORIGIN frame with one of them is of a later version, to be ignored.
const RESERVED_FLAGS: u8 = 0x0f;

impl Conn {
    /// Server: sends ALTSVC. One that a receiver must ignore is not sent.
    ///
    /// # Errors
    /// [`Misuse::WrongSide`] on a client; [`Misuse::ConnectionClosed`]; [`Misuse::BodyLength`] when
    /// it does not fit a frame of 16 KiB.
    pub fn announce_alt_svc(&mut self, sent: AltSvcFrame<'_>) -> Result<(), Misuse> {
        self.may_announce(sent.payload_len())?;
        if !sent.is_void() {
            sent.write(self.outbox.buffer());
        }
        Ok(())
    }

    /// Server: sends ORIGIN.
    ///
    /// # Errors
    /// As [`announce_alt_svc`](Self::announce_alt_svc).
    pub fn announce_origins<O: AsRef<[u8]>>(&mut self, origins: &[O]) -> Result<(), Misuse> {
        self.may_announce(origin::len(origins))?;
        origin::write(origins, self.outbox.buffer());
        Ok(())
    }

    /// ORIGIN or ALTSVC: an event of a client's, once for each frame. One that a receiver must ignore
    /// (RFC 8336 section 2.1, RFC 7838 section 4) costs as much as one of an unknown kind.
    pub(super) fn take_announcement(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        self.glitch(now, UNKNOWN_FRAME_POINTS)?;
        if self.session.side() == Side::Server {
            return Ok(());
        }
        let event = match header.kind {
            kind::ORIGIN if header.stream == 0 && header.flags & RESERVED_FLAGS == 0 => {
                origin::parse(payload).map(|origins| Event::OriginsReceived {
                    origins: origins.into_iter().map(Bytes::copy_from_slice).collect(),
                })
            }
            kind::ORIGIN => None,
            _ => AltSvcFrame::parse(header, payload)
                .filter(|sent| !sent.is_void())
                .map(|sent| Event::AltSvcReceived {
                    stream: StreamId(u64::from(sent.stream)),
                    origin: Bytes::copy_from_slice(sent.origin),
                    value: Bytes::copy_from_slice(sent.value),
                }),
        };
        if let Some(event) = event {
            self.session.push_event(event);
        }
        Ok(())
    }

    fn may_announce(&self, bytes: usize) -> Result<(), Misuse> {
        match (self.session.side(), self.life) {
            (Side::Client, _) => Err(Misuse::WrongSide),
            (Side::Server, Life::Closed) => Err(Misuse::ConnectionClosed),
            (Side::Server, _) if bytes > ANNOUNCED_BYTES_MAX => Err(Misuse::BodyLength),
            (Side::Server, _) => Ok(()),
        }
    }
}
