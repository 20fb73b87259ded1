//! SETTINGS, both ways (RFC 9113 section 6.5). Our initial settings bind us from the first byte. A
//! later change binds us once the peer has acknowledged it, because the peer sent all earlier
//! frames under the old values.

use super::{Conn, Life, Timer};
use crate::error::Violation;
use crate::exchange::Framing;
use crate::h2::connection_window::WINDOW_INITIAL;
use crate::h2::frame::{FrameHeader, Setting, SettingsFrame, WindowUpdate, settings};
use crate::h2::settings::{Settings, initial_window, write_ours};
use crate::http::{Event, Side};
use crate::limits::{EXTENSION_SETTINGS_MAX, HPACK_TABLE_BYTES_MAX};
use std::collections::VecDeque;
use std::time::Instant;

/// Frames of ours whose acknowledgement is due, and SETTINGS of the peer's whose events wait for the owner.
///
/// Invariant: SETTINGS are acknowledged in the order in which they went out (RFC 9113 section 6.5.3),
/// the preface's first.
#[derive(Debug)]
pub(in crate::h2) struct Unacknowledged {
    started_at: Instant,
    /// The SETTINGS of our preface are acknowledged.
    has_preface_settings: bool,
    /// Nothing while there are none.
    later: Option<Box<LaterFrames>>,
}

/// Each oldest first.
#[derive(Debug, Default)]
struct LaterFrames {
    /// The user's that are unanswered.
    pings: VecDeque<([u8; 8], Instant)>,
    settings: VecDeque<(Vec<Setting>, Instant)>,
    /// The peer's settings behind each SETTINGS whose event the owner has not handled.
    reported: VecDeque<Settings>,
}

impl Unacknowledged {
    pub(super) fn new(now: Instant) -> Self {
        Self {
            started_at: now,
            has_preface_settings: false,
            later: None,
        }
    }
    /// When our preface went out.
    pub(super) fn started_at(&self) -> Instant {
        self.started_at
    }
    /// Whether the peer has acknowledged the SETTINGS of our preface.
    pub(super) fn has_preface_settings(&self) -> bool {
        self.has_preface_settings
    }
    pub(super) fn push_ping(&mut self, opaque: [u8; 8], now: Instant) {
        let later = self.later.get_or_insert_default();
        later.pings.push_back((opaque, now));
    }
    pub(super) fn awaits_pong(&self) -> bool {
        let later = self.later.as_ref();
        later.is_some_and(|later| !later.pings.is_empty())
    }
    /// When the oldest PING with these bytes went out, which is answered now.
    pub(super) fn take_pong(&mut self, opaque: [u8; 8]) -> Option<Instant> {
        let later = self.later.as_mut()?;
        let position = later.pings.iter().position(|&(sent, _)| sent == opaque)?;
        let (_, sent_at) = later.pings.remove(position)?;
        self.forget_answered();
        Some(sent_at)
    }
    fn push_settings(&mut self, changes: Vec<Setting>, now: Instant) {
        let later = self.later.get_or_insert_default();
        later.settings.push_back((changes, now));
    }
    /// The oldest SETTINGS are acknowledged: what they changed (`None`: they are the preface's), and
    /// when they went out.
    fn take_settings(&mut self) -> Result<(Option<Vec<Setting>>, Instant), Violation> {
        if !std::mem::replace(&mut self.has_preface_settings, true) {
            return Ok((None, self.started_at));
        }
        let later = self.later.as_mut();
        let (changes, sent_at) = later
            .and_then(|later| later.settings.pop_front())
            .ok_or(Violation::SettingsAckUnexpected)?;
        self.forget_answered();
        Ok((Some(changes), sent_at))
    }
    /// When the oldest SETTINGS went out that are not acknowledged.
    fn oldest_settings(&self) -> Option<Instant> {
        if !self.has_preface_settings {
            return Some(self.started_at);
        }
        let (_, sent_at) = self.later.as_ref()?.settings.front()?;
        Some(*sent_at)
    }
    fn push_reported(&mut self, settings: Settings) {
        let later = self.later.get_or_insert_default();
        later.reported.push_back(settings);
    }
    fn take_reported(&mut self) -> Option<Settings> {
        let reported = self.later.as_mut()?.reported.pop_front();
        self.forget_answered();
        reported
    }
    /// Once all is answered and handled the memory goes.
    fn forget_answered(&mut self) {
        let is_over = |later: &LaterFrames| {
            later.pings.is_empty() && later.settings.is_empty() && later.reported.is_empty()
        };
        if self.later.as_deref().is_some_and(is_over) {
            self.later = None;
        }
    }
}

impl Conn {
    /// Our SETTINGS, and the connection window that SETTINGS cannot raise (RFC 9113
    /// section 6.9.2).
    pub(super) fn send_settings(&mut self) {
        write_ours(
            self.session.side(),
            self.session.config(),
            self.outbox.buffer(),
        );
        let window = self.session.config().windows.connection;
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
        if frame.count() > self.session.config().limits.settings_per_frame_max as usize {
            return Err(Violation::SettingsTooMany);
        }
        if self.life != Life::Settings {
            let verdict = self.session.abuse_mut().settings(now);
            self.judge(now, verdict)?;
        }
        let changes = self.peer.apply(self.session.side(), frame)?;
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
            self.timers.stop(Timer::Preface);
        }
        if self.session.config().frame_events {
            let extensions = frame.extensions().take(EXTENSION_SETTINGS_MAX).collect();
            self.unacknowledged.push_reported(self.peer);
            self.session
                .push_event(Event::SettingsReceived { extensions });
        }
        Ok(())
    }

    /// The peer's settings; before its first SETTINGS the defaults.
    pub fn peer_settings(&self) -> Settings {
        self.peer
    }

    /// The peer's settings as the frame of the oldest [`SettingsReceived`](Event::SettingsReceived) left them for which this was not
    /// called: frames behind it may have come already. Call it for each of these events; without one they are those of now.
    pub fn reported_settings(&mut self) -> Settings {
        self.unacknowledged.take_reported().unwrap_or(self.peer)
    }

    /// Sends changed settings, perhaps none; they bind the peer once it has acknowledged them. The
    /// caller bounds how many wait for that. Settings that are fixed for a connection's life are
    /// left out: push, the frame size, priorities, and extended CONNECT once it was announced (RFC
    /// 8441 section 3). False: the connection is closed.
    pub fn change_settings(&mut self, now: Instant, changes: &[Setting]) -> bool {
        if self.life == Life::Closed {
            return false;
        }
        let side = self.session.side();
        let may_change = |change: &Setting| match change {
            Setting::HeaderTableSize(_)
            | Setting::InitialWindowSize(_)
            | Setting::MaxHeaderListSize(_)
            | Setting::Extension(..) => true,
            Setting::MaxConcurrentStreams(_) => side == Side::Server,
            Setting::EnableConnectProtocol(on) => side == Side::Server && *on,
            Setting::EnablePush(_) | Setting::MaxFrameSize(_) | Setting::NoRfc7540Priorities(_) => {
                false
            }
        };
        let changes: Vec<Setting> = changes.iter().copied().filter(may_change).collect();
        settings::write(&changes, self.outbox.buffer());
        self.unacknowledged.push_settings(changes, now);
        self.watch_settings(now);
        true
    }

    /// RFC 9113 section 6.5.3: a peer that does not acknowledge in time is left.
    fn watch_settings(&mut self, now: Instant) {
        let oldest = self.unacknowledged.oldest_settings();
        match (oldest, self.session.config().timeouts.settings) {
            (Some(sent_at), Some(after)) => {
                let at = (sent_at + after).max(now);
                self.timers.set(Timer::SettingsAck, at);
            }
            _ => self.timers.stop(Timer::SettingsAck),
        }
    }

    fn take_settings_ack(&mut self, now: Instant) -> Result<(), Violation> {
        let (changes, sent_at) = self.unacknowledged.take_settings()?;
        match changes {
            Some(changes) => self.apply(&changes),
            None => {
                let table_max = self.session.config().limits.header_table_bytes_max;
                if table_max != HPACK_TABLE_BYTES_MAX {
                    self.decoder.set_table_max(table_max);
                }
            }
        }
        self.watch_settings(now);
        let round_trip = now.saturating_duration_since(sent_at);
        self.note_round_trip(Some(round_trip));
        if self.session.config().frame_events {
            self.session
                .push_event(Event::SettingsAcknowledged { round_trip });
        }
        Ok(())
    }

    /// The peer has applied what we changed.
    fn apply(&mut self, changes: &[Setting]) {
        let before = initial_window(self.session.config());
        let config = self.session.config_mut();
        for &change in changes {
            match change {
                Setting::HeaderTableSize(bytes) => self.decoder.set_table_max(bytes as usize),
                Setting::MaxConcurrentStreams(streams) => {
                    let limits = &mut config.limits;
                    limits.concurrent_streams_max = streams;
                    // A handler may outlive its stream for a while.
                    let handlers = streams.saturating_mul(2);
                    limits.running_handlers_max = limits.running_handlers_max.max(handlers);
                }
                Setting::InitialWindowSize(bytes) => config.windows.stream_initial = bytes,
                Setting::MaxHeaderListSize(bytes) => {
                    config.limits.field_section_bytes_max = bytes as usize;
                }
                Setting::EnableConnectProtocol(on) => config.extended_connect = on,
                Setting::EnablePush(_)
                | Setting::MaxFrameSize(_)
                | Setting::NoRfc7540Priorities(_)
                | Setting::Extension(..) => {}
            }
        }
        let moved = i64::from(initial_window(self.session.config())) - i64::from(before);
        if moved != 0 {
            for (_, stream) in self.streams.iter_mut() {
                if let Some(incoming) = stream.incoming() {
                    incoming.credit.adjust(moved);
                }
            }
        }
    }

    /// RFC 9113 section 6.9.2: a new initial window moves those of all open streams, below zero
    /// if need be; never the connection's.
    fn move_quotas(&mut self, delta: i64) -> Result<(), Violation> {
        for id in self.streams.ids() {
            let (Some(key), Some(stream)) = (self.streams.key(id), self.streams.get_mut(id)) else {
                continue;
            };
            stream
                .quota
                .adjust(delta)
                .map_err(|_| Violation::InitialWindowInvalid)?;
            if stream.quota.available() == 0 {
                self.session.schedule_mut().remove(key);
            } else {
                self.schedule_stream(id);
                self.note_stream_room(id);
            }
        }
        Ok(())
    }
}
