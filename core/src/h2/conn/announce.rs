//! A server's announcements beside its responses: alternative services of an origin (ALTSVC, RFC
//! 7838 section 4), and further origins that it serves (ORIGIN, RFC 8336).

use super::{Conn, Life};
use crate::error::Misuse;
use crate::h2::frame::{AltSvcFrame, FRAME_BYTES_DEFAULT, origin};
use crate::http::Side;

/// The largest announcement, bytes: one that fits a frame of the default size, which every peer
/// accepts.
const ANNOUNCED_BYTES_MAX: usize = FRAME_BYTES_DEFAULT as usize;

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

    fn may_announce(&self, bytes: usize) -> Result<(), Misuse> {
        match (self.session.side(), self.life) {
            (Side::Client, _) => Err(Misuse::WrongSide),
            (Side::Server, Life::Closed) => Err(Misuse::ConnectionClosed),
            (Side::Server, _) if bytes > ANNOUNCED_BYTES_MAX => Err(Misuse::BodyLength),
            (Side::Server, _) => Ok(()),
        }
    }
}
