//! Carries out the core's health decisions: pings a connection that gets a request after a rest,
//! whose streams time out, or whose network changed. The core decides what follows from silence.

use super::ConnectionTask;
use crate::driver::machine::Machine;
use crate::driver::signals::Stop;
use std::pin::pin;
use std::task::Context;
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite};
use trunkline_core::error::{H2Code, TransportEnd};
use trunkline_core::pool::HealthAction;

/// The slot number that stands for the connection's health among its deadlines.
pub(super) const HEALTH: u32 = u32::MAX;

impl<S: AsyncRead + AsyncWrite + Unpin> ConnectionTask<S> {
    /// A request is about to start.
    pub(super) fn check_health(&mut self, now: Instant) {
        if !matches!(self.io.machine, Machine::H1(_)) {
            let action = self.health.handle_start(now, &self.settings.health);
            self.carry_out(now, action);
        }
    }

    /// An exchange failed for want of an answer.
    pub(super) fn note_stream_timeout(&mut self, now: Instant) {
        if !matches!(self.io.machine, Machine::H1(_)) {
            let action = self.health.handle_stream_timeout(now);
            self.carry_out(now, action);
        }
    }

    /// The network changed. HTTP/1.1 cannot ask: what idles closes, what works has its timeouts.
    pub(super) fn handle_network_change(&mut self, now: Instant) {
        match self.io.machine {
            Machine::H2(_) => {
                let action = self.health.handle_network_change(now);
                self.carry_out(now, action);
            }
            Machine::H1(_) if self.slots.len() == 0 => self.end_idle(),
            Machine::H1(_) => {}
            // RFC 9000 section 9: the connection outlives its path.
            Machine::H3(_) => {
                let action = self.health.handle_network_change(now);
                self.io.change_path();
                self.carry_out(now, action);
            }
        }
    }

    /// Ends a connection on which nothing is open. A request that waits for its body to begin goes to another one,
    /// because this one may lead nowhere.
    fn end_idle(&mut self) {
        let stop = match self.held.is_empty() {
            true => Stop::Drain,
            false => Stop::Abort,
        };
        self.stop = self.stop.max(Some(stop));
    }

    /// The time for an answer has passed.
    pub(super) fn judge_silence(&mut self, now: Instant) {
        self.watched_until = None;
        // Where this thread was busy, or stood still, an answer may be there that it has not seen.
        if self.io.read_unnotified(now) {
            self.take_events(now);
            self.health.handle_bytes(now);
            self.health.note_unanswered(self.io.unanswered());
            return self.watch_silence();
        }
        self.ask_system(now);
        let (round_trip, waits) = (self.io.round_trip(), self.waits_on_a_path());
        let times = &self.settings.health;
        let action = self.health.handle_timeout(now, times, round_trip, waits);
        self.carry_out(now, action);
        if action != HealthAction::Close {
            self.watch_silence();
        }
    }

    pub(super) fn carry_out(&mut self, now: Instant, action: HealthAction) {
        match action {
            HealthAction::Nothing => {}
            HealthAction::Ping => {
                self.io.ask(now);
                self.watch_silence();
            }
            HealthAction::ChangePath => {
                self.io.change_path();
                // A connection without another path is asked for a sign of life, as one whose path changed.
                if !matches!(self.io.machine, Machine::H3(_)) {
                    self.io.ask(now);
                }
            }
            HealthAction::Replace => {
                // An idle connection is replaced when a request comes.
                if self.slots.len() > 0
                    && let Some(since) = self.health.silent_since()
                    && let Some(dispatch) = self.dispatch.upgrade()
                {
                    dispatch.replace(now, self.id, since);
                }
            }
            HealthAction::Close => {
                self.given_up = Some(match self.health.is_refused() {
                    true => "; its peer answered nothing and no process listens on its port",
                    false => "; its peer answered nothing, however often it was asked",
                });
                self.io.machine.handle_close(now, TransportEnd::Failed);
                self.io.abandon(now, H2Code::CANCEL);
                self.take_events(now);
            }
        }
    }

    /// Another connection to the origin is suspect. HTTP/1.1 cannot ask: what idles closes.
    pub(super) fn handle_other_suspect(&mut self, now: Instant, even_if_recent: bool) {
        match self.io.machine {
            Machine::H1(_) if self.slots.len() == 0 => self.end_idle(),
            Machine::H1(_) => {}
            Machine::H2(_) | Machine::H3(_) => {
                let action =
                    self.health
                        .handle_other_suspect(now, &self.settings.health, even_if_recent);
                self.carry_out(now, action);
            }
        }
    }

    /// Notes what the peer's transport has left unanswered in this turn, and when to look at it.
    pub(super) fn watch_answers(&mut self, now: Instant) {
        if self.io.is_early() || self.io.machine.is_closed() {
            return;
        }
        if let Some(unanswered) = self.io.unanswered() {
            self.health.note_unanswered(Some(unanswered));
        } else if self.io.take_wrote() && self.ask_system.is_some() {
            // No other sign was given: the kernel is queried when the time has passed.
            self.health.note_written(now);
        } else {
            return;
        }
        self.watch_silence();
    }

    /// Reads from the system what a byte stream's peer has acknowledged, which only the system knows.
    fn ask_system(&mut self, now: Instant) {
        if let (Some(ask), Some(socket)) = (self.ask_system, self.io.socket()) {
            let unanswered = ask(socket, now);
            if unanswered.is_none() && self.health.is_silent() {
                // Its system lives; what its program says is a question of other times.
                self.health.handle_bytes(now);
            }
            self.health.note_unanswered(unanswered);
        } else {
            self.health.note_unanswered(self.io.unanswered());
        }
    }

    /// Reports the peer's answer, which any byte from it is, with its delay to the listener.
    pub(super) fn note_answer(&mut self, now: Instant) {
        if let (Some(end_report), Some(probed_at)) = (&self.end_report, self.health.probed_at()) {
            let after = now.saturating_duration_since(probed_at);
            end_report
                .listener
                .answered(&end_report.origin, &end_report.used, after);
        }
    }

    /// Starts the health timer on the first turn of a connection that is pinged without requests.
    pub(super) fn watch_unasked(&mut self) {
        if self.settings.health.unasked.is_none() || self.watched_until.is_some() {
            return;
        }
        let machine = &self.io.machine;
        if !matches!(machine, Machine::H1(_)) && !machine.is_closed() {
            self.watch_silence();
        }
    }

    /// Sets the next deadline of the peer's silence, if it is nearer than the one that is set.
    pub(super) fn watch_silence(&mut self) {
        let (round_trip, waits) = (self.io.round_trip(), self.waits_on_a_path());
        let times = &self.settings.health;
        let due = self.health.next_deadline(times, round_trip, waits);
        if let Some(due) = due
            && self.watched_until.is_none_or(|until| due < until)
        {
            self.watched_until = Some(due);
            self.deadlines.push(due, HEALTH, 0);
        }
    }

    /// Whether exchanges wait for a peer whose path may die without it.
    fn waits_on_a_path(&self) -> bool {
        matches!(self.io.machine, Machine::H3(_)) && self.slots.len() > 0
    }

    /// Whether requests wait for one more read of an HTTP/1.1 connection that rested: the peer may
    /// have closed it unnoticed, and a request written to it would be lost. So do requests of other runtimes behind
    /// a response that may end this one, as the last of a test or of `block_on`.
    pub(super) fn looks_first(&mut self, cx: &mut Context<'_>, now: Instant) -> bool {
        let rested = match self.io.read_at() {
            Some(at) => now.saturating_duration_since(at) >= self.settings.health.rested,
            None => false,
        };
        let is_h1 = matches!(self.io.machine, Machine::H1(_));
        let may_end = std::mem::take(&mut self.has_completed) && self.runtime.is_some();
        if !(is_h1 && rested || may_end) || self.slots.len() > 0 || std::mem::take(&mut self.looked)
        {
            return false;
        }
        let waits = match is_h1 && rested {
            true => !self.handle.is_empty(),
            false => self.handle.has_of_others(self.runtime),
        };
        if !waits {
            return false;
        }
        self.looked = true;
        // The task is woken again after the runtime has asked the system for what is new.
        pin!(tokio::task::yield_now()).poll(cx).is_pending()
    }
}
