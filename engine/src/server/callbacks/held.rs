//! Bodies of answered requests that the callbacks' owner has not taken.

use super::exchanges::CallbackExchanges;
use super::{Callbacks, Pause};
use std::rc::Rc;
use trunkline_core::http::Version;
use trunkline_core::limits::UNREAD_BODY_BYTES_MAX;

impl<A: Callbacks> CallbackExchanges<A> {
    /// The bodies of HTTP/1.1 requests that are answered and not read: the machine has forgotten
    /// them, and counts the next request alone. Over the bound nothing is read until some are taken.
    pub(super) fn held_back(&self) -> Option<Pause> {
        let is_text = matches!(self.commands.version(), Version::Http10 | Version::Http11);
        if !is_text || self.unread() < UNREAD_BODY_BYTES_MAX {
            return None;
        }
        let taken = Rc::clone(&self.taken);
        Some(Box::pin(async move { taken.notified().await }))
    }
    /// Bytes that readers of whole exchanges have not taken.
    fn unread(&self) -> usize {
        let whole = self
            .entries
            .iter()
            .flatten()
            .filter(|entry| entry.is_whole());
        whole.map(|entry| entry.unread).sum()
    }
}
