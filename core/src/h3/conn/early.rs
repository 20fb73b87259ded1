//! A client's early data (RFC 8446 section 2.3): requests sent with the handshake under remembered
//! SETTINGS, and sent again when the server rejects early data.

use super::Conn;
use crate::exchange::Framing;
use crate::h3::settings::Settings;
use crate::http::Side;
use crate::http::event::ResetBy;
use std::time::Instant;

impl Conn {
    /// The peer's SETTINGS, to be stored with its session ticket.
    pub fn peer_settings(&self) -> Option<Settings> {
        self.peer.known()
    }

    /// Begins with early data under `settings`, which the peer said on the connection that its
    /// session ticket came from. If it takes the early data and says less now, that is an error
    /// (RFC 9114 section 7.2.4.2). Call it before the first request.
    pub fn remember_settings(&mut self, settings: Settings) {
        debug_assert!(self.session.side() == Side::Client && self.peer.known().is_none());
        self.peer.remember(settings);
    }

    /// The peer took no early data (RFC 9001 section 4.6.2): everything that was sent is forgotten,
    /// streams begin from 0 again, and open exchanges end as unprocessed.
    pub fn handle_early_data_rejected(&mut self, now: Instant) {
        if self.closed {
            return;
        }
        self.close_slab(false);
        for id in self.streams.ids() {
            self.end_early(now, id, ResetBy::EarlyDataRejected, true);
        }
        if self.closed {
            // It was draining, and these were the last.
            return;
        }
        self.session.close_body();
        let fresh = Self::new(self.session.side(), self.session.shared_config(), now);
        let before = std::mem::replace(self, fresh);
        // State that is not of streams goes on: facts not yet told, memory, what was learned and counted.
        self.session.resume(before.session);
        self.actions.resume(before.actions);
        self.credit = before.credit;
        self.reported_window = before.reported_window;
        self.send_window = before.send_window;
        self.stream_window = before.stream_window;
        self.datagrams.resume(&before.datagrams);
        self.note_capacity();
    }
}
