//! Default bounds on connections, which grow while requests wait at them. They keep a burst from opening a
//! connection for each request; but requests may wait on each other, as at a server that answers none before all
//! are there, or behind responses that are not read. A fixed bound would hold those until their time is up.

use crate::pool::dispatch::decide::OriginView;
use crate::pool::origin::growth::Growth;
use crate::pool::{CONNECTIONS_MAX, Due, Key, Pool, Ticket};
use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// A second in which no request of a line could start doubles its bound: longer than servers that answer take for one
/// request, and a delay that users of streams that stay open bear.
const STANDSTILL: Duration = Duration::from_secs(1);

impl<R> Pool<R> {
    /// The first request in line found no room: whether the bound has grown for it. Otherwise the next look is
    /// planned.
    pub(in crate::pool) fn grow(
        &mut self,
        now: Instant,
        key: Key,
        ticket: Ticket,
        view: &OriginView,
    ) -> bool {
        let open = view.connections + view.attempts;
        // A bound that was set stays, and behind that of all sockets there is nothing to grow to.
        let is_held = open >= view.connections_max && view.sockets_left > 0;
        if self.config.connections_max.is_some() || !is_held {
            return false;
        }
        let (Some(state), Some(entry)) = (self.origins.get_mut(key), self.queue.get(ticket)) else {
            return false;
        };
        let growth = &mut state.growth;
        let moved = [growth.grown_at, growth.started_at].into_iter().flatten();
        let due = moved.fold(entry.entrance.since, Instant::max) + STANDSTILL;
        if due <= now {
            growth.connections_max = open.saturating_mul(2);
            growth.grown_at = Some(now);
            return true;
        }
        if growth.planned_at.is_none_or(|at| at <= now || at > due) {
            growth.planned_at = Some(due);
            self.deadlines.push(Reverse((due, Due::Growth(key))));
        }
        false
    }

    /// Nothing waits: what grew is for the next burst to ask for again, once what it opened is closed.
    pub(in crate::pool) fn settle_growth(&mut self, key: Key) {
        if let Some(state) = self.origins.get_mut(key)
            && state.connections + state.attempts <= CONNECTIONS_MAX
        {
            // A look that is planned still comes: one at a time, however often the line empties.
            let planned_at = state.growth.planned_at;
            state.growth = Growth {
                planned_at,
                ..Growth::default()
            };
        }
    }
}
