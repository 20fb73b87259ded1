//! SETTINGS, both ways (RFC 9113 section 6.5). What we advertise binds us from the first byte:
//! it is never changed later, so there is nothing to wait for an acknowledgement with.

use super::conn::{Conn, Life, Timer, WINDOW_INITIAL};
use super::frame::{FrameHeader, SettingsFrame, WindowUpdate, settings};
use super::settings::write_ours;
use crate::error::Violation;
use std::time::Instant;

impl Conn {
    /// Our SETTINGS, and the connection window that SETTINGS cannot raise (RFC 9113
    /// section 6.9.2).
    pub(super) fn send_settings(&mut self) {
        write_ours(self.side, &self.config, self.outbox.buffer());
        let window = self.config.windows.connection;
        if let Some(increment) = window.checked_sub(WINDOW_INITIAL).filter(|&by| by > 0) {
            let stream = 0;
            self.send_window_update(WindowUpdate { stream, increment });
        }
    }

    pub(super) fn take_settings(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let frame = SettingsFrame::parse(header, payload)?;
        if frame.ack {
            return self.take_settings_ack(now);
        }
        if self.life != Life::Settings {
            let verdict = self.abuse.settings(now);
            self.judge(now, verdict)?;
        }
        let changes = self.peer.apply(self.side, frame)?;
        if let Some(table) = changes.header_table {
            // RFC 7541 section 4.2: the smallest size between two blocks counts too.
            self.encoder.set_peer_table_max(table.smallest);
            self.encoder.set_peer_table_max(table.last);
        }
        if changes.window_delta != 0 {
            self.move_quotas(changes.window_delta)?;
        }
        settings::write_ack(self.outbox.buffer());
        if self.life == Life::Settings {
            self.life = Life::Open;
            self.timers.stop(Timer::Preface as usize);
        }
        Ok(())
    }

    fn take_settings_ack(&mut self, now: Instant) -> Result<(), Violation> {
        if self.settings_acked {
            return Err(Violation::SettingsAckUnexpected);
        }
        self.settings_acked = true;
        self.timers.stop(Timer::SettingsAck as usize);
        self.note_round_trip(Some(now.saturating_duration_since(self.started_at)));
        Ok(())
    }

    /// RFC 9113 section 6.9.2: a new initial window moves those of all open streams, below zero
    /// if need be; never the connection's.
    fn move_quotas(&mut self, delta: i64) -> Result<(), Violation> {
        let ids: Vec<u32> = self.streams.ids().collect();
        for id in ids {
            let (Some(key), Some(stream)) = (self.streams.key(id), self.streams.get_mut(id)) else {
                continue;
            };
            stream
                .quota
                .adjust(delta)
                .map_err(|_| Violation::InitialWindowInvalid)?;
            if stream.quota.available() == 0 {
                self.schedule.remove(key);
            } else {
                self.schedule_stream(id);
            }
        }
        Ok(())
    }
}
