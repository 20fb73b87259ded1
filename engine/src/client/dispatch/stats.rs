//! Statistics of a client's pool.

use super::*;

impl Dispatch {
    pub(in super::super) fn stats(&self) -> Vec<OriginStats> {
        self.lock().pool.stats(Instant::now())
    }

    pub(in super::super) fn waits(&self) -> Vec<Wait> {
        self.lock().pool.waits(Instant::now())
    }

    pub(in super::super) fn wait_reason(&self, ticket: Ticket) -> Option<WaitReason> {
        self.lock().pool.wait_reason(Instant::now(), ticket)
    }

    pub(in super::super) fn totals(&self) -> Totals {
        self.lock().pool.totals()
    }
}
