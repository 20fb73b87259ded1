//! Origins that wait for a socket while others hold all that the client may have. The longest
//! waiting origin gets the next free one, and an idle connection is closed for it.

use crate::pool::connection::Connection;
use crate::pool::{Key, Pool};
use std::time::Instant;

impl<R> Pool<R> {
    /// The line of `key` waits for a socket from here on.
    pub(in crate::pool) fn wait_for_socket(&mut self, now: Instant, key: Key) {
        if let Some(state) = self.origins.get_mut(key)
            && !state.waits_for_socket
        {
            state.waits_for_socket = true;
            self.socket_waiters.push_back(key);
        }
        self.make_room(now);
    }

    /// A socket is free: the longest waiting origin gets it.
    pub(in crate::pool) fn wake_socket_waiters(&mut self, now: Instant) {
        for _ in 0..self.socket_waiters.len() {
            if self.sockets() >= self.config.sockets_max {
                return;
            }
            let Some(key) = self.socket_waiters.pop_front() else {
                return;
            };
            if let Some(state) = self.origins.get_mut(key) {
                state.waits_for_socket = false;
            }
            self.pump(now, key);
        }
    }

    /// Where more origins wait for a socket than connections are closing, closes the connection
    /// that has been idle longest and has no waiting request of its own origin.
    pub(in crate::pool) fn make_room(&mut self, now: Instant) {
        let origins = &mut self.origins;
        self.socket_waiters.retain(|&key| {
            let Some(state) = origins.get_mut(key) else {
                return false;
            };
            state.waits_for_socket = state.origin_queue.front().is_some();
            state.waits_for_socket
        });
        if self.socket_waiters.is_empty() {
            return;
        }
        let connections = self.connections.iter();
        let is_leaving = |gone: &Connection| gone.is_draining && gone.gate.active() == 0;
        let leaving = connections.filter(|(_, c)| is_leaving(c)).count();
        if leaving >= self.socket_waiters.len() {
            return;
        }
        let is_awaited = |key| {
            let state = self.origins.get(key);
            state.is_some_and(|state| state.origin_queue.front().is_some())
        };
        let resting = self.connections.iter().filter_map(|(key, connection)| {
            let since = connection.idle_since.filter(|_| !connection.is_draining)?;
            (!is_awaited(connection.origin)).then_some((since, key))
        });
        if let Some((_, key)) = resting.min_by_key(|&(since, _)| since) {
            self.retire(now, key);
        }
    }
}
