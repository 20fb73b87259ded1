//! Liveness of a connection's peer. No probe is sent while bytes arrive. A connection that was
//! quiet gets a PING with its next request, or after a time of its own; silence after it makes the
//! connection suspect (no new requests) and then dead. Any byte of the peer clears it. Where a path
//! can die without the peer (QUIC), a connection with waiting exchanges is probed too, because the
//! peer may be sending to an old address. Such a connection migrates when it becomes suspect and is
//! then probed closely: the first packets of a path may get lost too, and a peer that has not
//! validated the path may send no more than three times what it received (RFC 9000 section 8.2),
//! and nothing unprompted. So it is probed repeatedly until it answers, and sooner after the next
//! silence.
//!
//! A transport's unanswered retransmissions show the same sooner, without a probe: QUIC's probe
//! timeouts (RFC 9002 section 6.2), TCP's retransmission timeouts (RFC 6298 section 5). Two of them
//! in [`HealthTimes::unanswered`] make the connection suspect, and a replacement is opened. QUIC's
//! timeouts double, are late on a long path, and begin anew with each packet that is sent: two PINGs
//! count as much. The suspect ends when another connection to its origin works while it stays silent, or when the
//! network reports that no process listens there. Silence alone does not end it before `dead`: a
//! path that comes back within that time goes on (RFC 9000 section 9).
//!
//! ```text
//! Heard --(request after a quiet time, exchanges wait in a quiet time over QUIC, silence for so
//!          long that it is asked unasked, a stream timed out, the network changed)--> Asked
//! Asked --(no byte for max(2 s, 6 x rtt), a second stream timed out)--> Suspect (asked again)
//! Heard --(exchanges wait for 0.3 s over QUIC)--> Asked
//! Heard, Asked --(unanswered for max(0.3 s, 2.5 x rtt + 0.1 s), and sent again twice)--> Silent,
//!          which is Suspect
//! Silent --(0.15 s, less 2 x rtt)--> replaced
//! Silent --(0.11 s since another connection worked, or as long as that one's answer took; or the port
//!          is refused)--> dead
//! Asked, Suspect --(no byte for 15 s)--> dead;   --(a byte)--> Heard
//! ```

mod times;

pub use times::HealthTimes;

use std::time::{Duration, Instant};
use times::{Patience, REPEATS_SUSPECT, ask_again_after, dead_after, suspect_after};

/// Questions at the first pause; what has waited for longer is worth fewer of them.
const QUESTIONS_AT_FIRST: u32 = 16;
/// How often timeouts are counted anew in the time that makes a suspect.
const JUDGED_PER_SUSPECT: u32 = 4;
/// Streams that time out in one silence before the connection is the suspect.
const TIMED_OUT_SUSPECT: u32 = 2;

/// Sent data of which the peer has acknowledged nothing, with no other sign of it since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// When the first of it was sent.
    pub since: Instant,
    /// How often something was sent again since: at a timeout of the transport, or a PING.
    pub repeats: u32,
    /// The network reports that no process listens at the peer's port. Any attacker on the path can
    /// forge it (RFC 9000 section 14.2.1): it counts beside the repeats only.
    pub refused: bool,
}

/// The action to take now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HealthAction {
    /// Nothing.
    Nothing,
    /// Send a PING.
    Ping,
    /// It has just become suspect: where another path can be had, take it.
    ChangePath,
    /// It stays silent: open a connection in its place.
    Replace,
    /// It is dead: close it.
    Close,
}

/// The liveness of one connection's peer.
#[derive(Clone, Copy, Debug)]
pub struct Health {
    received_at: Instant,
    probed_at: Option<Instant>,
    /// When it was asked last in this silence.
    probed_again_at: Instant,
    suspect: bool,
    /// When it was to take another path last.
    moved_at: Option<Instant>,
    /// Streams that timed out since the peer last answered.
    timed_out: u32,
    /// As the transport last said.
    unanswered: Option<Unanswered>,
    /// PINGs that were due because of it. A full congestion window may hold them back.
    repeats_due: u32,
    /// When `unanswered` was last judged.
    judged_at: Instant,
    /// Since when it is suspect for what is unanswered.
    silent_since: Option<Instant>,
    /// A connection was asked for in its place.
    replaced: bool,
    /// Questions in a row that exchanges waited for, without news of any exchange.
    questions: u32,
    /// When another connection to its origin was first known to work in this silence, and how long
    /// the peer takes for an answer.
    outlived: Option<(Instant, Duration)>,
}

impl Health {
    /// A peer that has just answered.
    pub fn new(now: Instant) -> Self {
        Self {
            received_at: now,
            probed_at: None,
            probed_again_at: now,
            suspect: false,
            moved_at: None,
            timed_out: 0,
            unanswered: None,
            repeats_due: 0,
            judged_at: now,
            silent_since: None,
            replaced: false,
            questions: 0,
            outlived: None,
        }
    }

    /// A byte came, or an acknowledgement.
    pub fn handle_bytes(&mut self, now: Instant) {
        *self = Self {
            moved_at: self.moved_at,
            questions: self.questions,
            ..Self::new(now)
        };
    }

    /// Something of an exchange came, and not just an answer to a question.
    pub fn handle_news(&mut self) {
        self.questions = 0;
    }

    /// A request is about to start.
    pub fn handle_start(&mut self, now: Instant, times: &HealthTimes) -> HealthAction {
        self.questions = 0;
        match now >= self.quiet_until(times) {
            true => self.ask(now),
            false => HealthAction::Nothing,
        }
    }

    /// A stream timed out. One may have been slow by itself; several in a silence are a sign.
    pub fn handle_stream_timeout(&mut self, now: Instant) -> HealthAction {
        self.timed_out += 1;
        self.suspect |= self.timed_out >= TIMED_OUT_SUSPECT;
        self.ask(now)
    }

    /// The network changed: the path is unproved before a byte has arrived over it.
    pub fn handle_network_change(&mut self, now: Instant) -> HealthAction {
        self.suspect = true;
        self.moved_at = Some(now);
        self.ask(now)
    }

    /// Another connection to the origin is suspect. One that was active recently is not probed,
    /// unless `even_if_recent`.
    pub fn handle_other_suspect(
        &mut self,
        now: Instant,
        times: &HealthTimes,
        even_if_recent: bool,
    ) -> HealthAction {
        let lately = times.unanswered.unwrap_or(times.suspect);
        let is_sure = !even_if_recent && now.saturating_duration_since(self.received_at) < lately;
        if self.suspect || is_sure {
            return HealthAction::Nothing;
        }
        self.suspect = true;
        self.ask(now)
    }

    /// Another connection to the origin works, whose peer took `answer_time` recently for an answer. The
    /// answer to the question that this asks is the last chance of one that is silent. A peer that is
    /// slow on all its connections, because it stood still or has much to do, has as long for it.
    pub fn handle_outlived(&mut self, now: Instant, answer_time: Duration) -> HealthAction {
        if self.silent_since.is_none() || self.outlived.is_some() {
            return HealthAction::Nothing;
        }
        self.outlived = Some((now, answer_time));
        self.probed_again_at = now;
        HealthAction::Ping
    }

    /// Sets the transport's unacknowledged data, before each
    /// [`handle_timeout`](Self::handle_timeout) and [`next_deadline`](Self::next_deadline). `None`:
    /// all is acknowledged, or it is unknown.
    pub fn note_unanswered(&mut self, unanswered: Option<Unanswered>) {
        let since = |it: Option<Unanswered>| it.map(|it| it.since);
        if since(self.unanswered) != since(unanswered) {
            self.repeats_due = 0;
        }
        self.unanswered = unanswered;
    }

    /// Something was sent over a transport that says later only what is unanswered.
    pub fn note_written(&mut self, now: Instant) {
        self.unanswered.get_or_insert(Unanswered {
            since: now,
            repeats: 0,
            refused: false,
        });
    }

    /// Carries out what is due. `waits`: exchanges wait for a peer whose path may die alone.
    pub fn handle_timeout(
        &mut self,
        now: Instant,
        times: &HealthTimes,
        round_trip: Option<Duration>,
        waits: bool,
    ) -> HealthAction {
        if let Some(checkup) = self.judge_unanswered(now, times, round_trip, waits) {
            return checkup;
        }
        let Some(probed_at) = self.probed_at else {
            return match self.unasked_at(times, waits) {
                Some(at) if now >= at => {
                    self.questions = self.questions.saturating_add(1);
                    self.ask(now)
                }
                _ => HealthAction::Nothing,
            };
        };
        let silence = now.saturating_duration_since(probed_at);
        if silence >= dead_after(times, round_trip) {
            return HealthAction::Close;
        }
        if !self.suspect && silence >= suspect_after(times, round_trip) {
            self.suspect = true;
            self.moved_at = Some(now);
            self.probed_again_at = now;
            return HealthAction::ChangePath;
        }
        if self.suspect && waits && now >= self.probed_again_at + ask_again_after(times) {
            self.probed_again_at = now;
            return HealthAction::Ping;
        }
        HealthAction::Nothing
    }

    /// When [`handle_timeout`](Self::handle_timeout) is due.
    pub fn next_deadline(
        &self,
        times: &HealthTimes,
        round_trip: Option<Duration>,
        waits: bool,
    ) -> Option<Instant> {
        let of_questions = match (self.probed_at, self.suspect) {
            (None, _) => self.unasked_at(times, waits),
            (Some(probed_at), false) => Some(probed_at + suspect_after(times, round_trip)),
            (Some(probed_at), true) => {
                let dead = probed_at + dead_after(times, round_trip);
                let again = self.probed_again_at + ask_again_after(times);
                Some(if waits { dead.min(again) } else { dead })
            }
        };
        let of_timeouts = self.unanswered_due(times, round_trip, waits);
        of_questions.into_iter().chain(of_timeouts).min()
    }

    /// The consequence of unanswered data, if it is due now.
    fn judge_unanswered(
        &mut self,
        now: Instant,
        times: &HealthTimes,
        round_trip: Option<Duration>,
        waits: bool,
    ) -> Option<HealthAction> {
        let Unanswered {
            since,
            repeats,
            refused,
        } = self.unanswered?;
        let patience = Patience::of(times, round_trip)?;
        self.judged_at = now;
        if waits && self.repeats_at(&patience).is_some_and(|at| now >= at) {
            self.repeats_due += 1;
            return Some(HealthAction::Ping);
        }
        if now < since + patience.suspect || !self.is_repeated(repeats) {
            return None;
        }
        if refused {
            return Some(HealthAction::Close);
        }
        let Some(silent_since) = self.silent_since else {
            self.suspect = true;
            self.silent_since = Some(now);
            self.moved_at = Some(now);
            self.probed_at.get_or_insert(now);
            self.probed_again_at = now;
            return Some(HealthAction::ChangePath);
        };
        if self.outlived_until(&patience).is_some_and(|at| now >= at) {
            return Some(HealthAction::Close);
        }
        let is_due = !self.replaced && now >= silent_since + patience.replace;
        is_due.then(|| {
            self.replaced = true;
            HealthAction::Replace
        })
    }

    /// When [`judge_unanswered`](Self::judge_unanswered) may find something new.
    fn unanswered_due(
        &self,
        times: &HealthTimes,
        round_trip: Option<Duration>,
        waits: bool,
    ) -> Option<Instant> {
        let unanswered = self.unanswered?;
        let patience = Patience::of(times, round_trip)?;
        if waits && let Some(at) = self.repeats_at(&patience) {
            return Some(at);
        }
        let suspect_at = unanswered.since + patience.suspect;
        // Timeouts come when they come: once the time is over they are looked at every so often.
        let next = self.judged_at + patience.suspect / JUDGED_PER_SUSPECT;
        Some(match (self.silent_since, self.outlived_until(&patience)) {
            _ if unanswered.refused => suspect_at.max(next),
            (None, _) if self.judged_at < suspect_at => suspect_at,
            (None, _) => next,
            (Some(_), Some(at)) => at.max(next),
            // It may be due at once, unless it was judged since.
            (Some(at), None) if !self.replaced && self.judged_at == at => at + patience.replace,
            (Some(at), None) if !self.replaced => (at + patience.replace).max(next),
            (Some(_), None) => self.judged_at + patience.suspect,
        })
    }

    /// When it ends because another connection works.
    fn outlived_until(&self, patience: &Patience) -> Option<Instant> {
        let (at, answer_time) = self.outlived?;
        // A handshake takes two round trips, an answer one.
        let answer_time = answer_time.saturating_sub(patience.round_trip);
        Some(at + patience.outlived.max(answer_time))
    }

    /// Whether what is unanswered was sent again often enough. A congestion window that holds both PINGs
    /// back is full of it: there the two packets of one timeout suffice.
    fn is_repeated(&self, repeats: u32) -> bool {
        repeats >= REPEATS_SUSPECT || repeats > 0 && self.repeats_due >= REPEATS_SUSPECT
    }

    /// When the next PING because of what is unanswered is due; `None`: all were, or it was sent
    /// again as often.
    fn repeats_at(&self, patience: &Patience) -> Option<Instant> {
        let unanswered = self.unanswered?;
        if unanswered.repeats >= REPEATS_SUSPECT {
            return None;
        }
        let after = patience.repeats.get(self.repeats_due as usize)?;
        Some(unanswered.since + *after)
    }

    /// Since when the peer owes an answer.
    pub fn probed_at(&self) -> Option<Instant> {
        self.probed_at
    }

    /// Whether the connection is suspect for its transport's unanswered retransmissions.
    pub fn is_silent(&self) -> bool {
        self.silent_since.is_some()
    }

    /// Since when it is.
    pub fn silent_since(&self) -> Option<Instant> {
        self.silent_since
    }

    /// The network says that no process listens at the peer's port.
    pub fn is_refused(&self) -> bool {
        self.unanswered.is_some_and(|unanswered| unanswered.refused)
    }

    /// Since when the peer has owed an answer: to what was sent, or to a question.
    pub fn unanswered_since(&self) -> Instant {
        let of_transport = self.unanswered.map(|it| it.since);
        let owed = of_transport.into_iter().chain(self.probed_at).min();
        owed.unwrap_or(self.received_at)
    }

    /// Whether the connection must not get new requests.
    pub fn is_suspect(&self) -> bool {
        self.suspect
    }

    /// When it is probed without a request.
    fn unasked_at(&self, times: &HealthTimes, waits: bool) -> Option<Instant> {
        // Unanswered bytes are a question already, and the transport repeats them.
        let waits = waits && (self.unanswered.is_none() || times.unanswered.is_none());
        let of_wait = waits.then(|| {
            let pause = times.unanswered.map(|base| self.pause(base));
            let quiet = self.quiet_until(times);
            pause.map_or(quiet, |pause| quiet.min(self.received_at + pause))
        });
        let of_silence = times.unasked.map(|time| self.received_at + time);
        of_wait.into_iter().chain(of_silence).min()
    }
    /// Before the next question that exchanges wait for.
    fn pause(&self, base: Duration) -> Duration {
        base.max(base / QUESTIONS_AT_FIRST * self.questions)
    }
    /// When its silence is long enough for a probe.
    fn quiet_until(&self, times: &HealthTimes) -> Instant {
        let moved_lately = |at: Instant| self.received_at < at + times.dead;
        match self.moved_at.is_some_and(moved_lately) {
            true => self.received_at + times.suspect.min(times.quiet),
            false => self.received_at + times.quiet,
        }
    }
    fn ask(&mut self, now: Instant) -> HealthAction {
        if self.probed_at.is_some() {
            return HealthAction::Nothing;
        }
        self.probed_at = Some(now);
        self.probed_again_at = now;
        HealthAction::Ping
    }
}
