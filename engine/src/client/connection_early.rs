//! Requests that went out with the handshake, which whoever records it can send again, and that the
//! server finds too early.

use super::*;
use trunkline_core::pool::Cause;

impl<S: AsyncRead + AsyncWrite + Unpin> Connection<S> {
    /// 425: the server takes this request after the handshake only (RFC 8470 section 5.2). True: it
    /// goes out once more, and the response is not the user's.
    pub(super) fn repeat_later(&mut self, now: Instant, slot: u32) -> bool {
        let entry = self.slots.get(slot);
        if !entry.is_some_and(|entry| entry.request.early == Early::Sent && entry.is_replayable()) {
            return false;
        }
        if let Some(entry) = self.slots.remove(slot) {
            self.link.machine.reset(now, entry.stream, H2Code::CANCEL);
            let loss = self.loss(&entry, Cause::TooEarly);
            let error = Error::new(ErrorKind::Refused, Fault::Peer, Retry::Safe)
                .with_text("the peer says that the request came too early (425)");
            self.give_back(now, entry, loss, error);
        }
        true
    }
}
