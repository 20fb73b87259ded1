//! The timelines of a connection's exchanges: the reasons of their waits, and their ends.

use super::CallbackExchanges;
use crate::driver::machine::Machine;
use crate::server::callbacks::exchange::CallbackExchange;
use crate::server::callbacks::{Callbacks, Ended};
use crate::server::exchange::serve::Exchanging as _;
use std::time::Instant;

/// Streams of a connection that are looked at for the reasons of their waits: timelines of those behind them have none.
const TIMELINE_STREAMS_MAX: usize = 256;

impl<A: Callbacks> CallbackExchanges<A> {
    /// The connection sleeps: its exchanges wait, each for a reason.
    pub(super) fn note_reasons(&mut self, machine: &Machine, now: Instant) {
        let are_kept = self
            .timelines
            .as_ref()
            .is_some_and(|timelines| timelines.are_kept());
        if !are_kept || self.len() == 0 {
            return;
        }
        let snapshot = machine.inspect(now, TIMELINE_STREAMS_MAX);
        for entry in self.entries.iter_mut().flatten() {
            if let Some(timeline) = &mut entry.timeline {
                timeline.waits((entry.began, now), entry.handle, &snapshot);
            }
        }
    }
    /// An exchange is over: its timeline is kept, if it is worth one.
    pub(super) fn note_timeline(&self, entry: &CallbackExchange<A>, now: Instant, how: &Ended) {
        if let (Some(timelines), Some(timeline)) = (&self.timelines, &entry.timeline)
            && let Some(id) = timelines.end(timeline, (entry.began, now), how)
        {
            self.callbacks.timeline(&entry.exchange, id);
        }
    }
}
