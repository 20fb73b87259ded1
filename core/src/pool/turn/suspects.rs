//! Suspect connections, judged by the other connections of their origin. A silent one makes the
//! others due for a probe, because they lead to the same peer; one that works while another stays silent
//! proves the silent one dead.

use crate::pool::{Action, ConnectionId, Decision, Key, Pool, Standing, decide};
use std::time::Instant;

impl<R> Pool<R> {
    /// A connection is known to work: its peer answered after its handshake had begun, which was at
    /// `began` where the connection is younger than its handshake.
    pub fn handle_alive(&mut self, now: Instant, connection: ConnectionId, began: Option<Instant>) {
        if let Some(connection) = self.connections.get(connection.0) {
            let began = began.unwrap_or(connection.born);
            self.answer(now, connection.origin, began);
        }
    }

    /// The peer of an origin answers after a silence, or in a handshake.
    pub(in crate::pool) fn answer(&mut self, now: Instant, origin: Key, since: Instant) {
        if let Some(state) = self.origins.get_mut(origin) {
            state.note_answer(now, now.saturating_duration_since(since));
        }
        self.report_outlived(now, origin);
    }

    /// A connection stays silent: opens one in its place, unless one was opened since the silence
    /// began or is being opened. The bounds apply, and the pause after a failed attempt. Where they
    /// leave no room the others are probed: activity before the silence proves nothing about the
    /// path now.
    pub fn replace(&mut self, now: Instant, silent: ConnectionId, since: Instant) {
        let Some(origin) = self.connections.get(silent.0).map(|it| it.origin) else {
            return;
        };
        let is_fresh = self.connections.iter().any(|(_, other)| {
            other.origin == origin && other.born > since && other.gate.standing() == Standing::Open
        });
        let bounds = self.bounds(None, 0);
        let Some(state) = self.origins.get_mut(origin) else {
            return;
        };
        if !state.silent.contains(&silent.0) {
            state.silent.push(silent.0);
        }
        if is_fresh || self.shut_down {
            return self.report_outlived(now, origin);
        }
        let mut view = state.view(now, &self.connections, &bounds);
        // As for one request that waits: what was sent on the silent connection waits no less.
        view.waiting = view.waiting.max(1);
        view.kept_free = false;
        view.roomiest = None;
        match decide(&view) {
            Decision::Open(count) => drop(self.open(now, origin, count.min(1))),
            _ if view.attempts > 0 => {}
            _ => self.probe_others(origin, silent.0, true),
        }
    }

    /// A connection works at the origin: reports it to those that were to be replaced.
    fn report_outlived(&mut self, now: Instant, origin: Key) {
        let Some(state) = self.origins.get_mut(origin) else {
            return;
        };
        let answer_time = state.answer_time(now);
        let outlived = state.silent.drain(..).map(|key| Action::Outlived {
            connection: ConnectionId(key),
            answer_time,
        });
        self.actions.extend(outlived);
    }

    /// A connection has become suspect: the others that get requests are probed. `even_if_recent`: even
    /// those that were active lately.
    pub(in crate::pool) fn probe_others(
        &mut self,
        origin: Key,
        suspect: Key,
        even_if_recent: bool,
    ) {
        let others = self.connections.iter().filter(|&(key, connection)| {
            key != suspect
                && connection.origin == origin
                && connection.suspect_since.is_none()
                && !connection.is_draining
        });
        let probes = others.map(|(key, _)| Action::Probe {
            connection: ConnectionId(key),
            even_if_recent,
        });
        self.actions.extend(probes);
    }
}
