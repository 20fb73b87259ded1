//! The gate: decides whether one more request may start on a connection now. One rule for every
//! version.
//!
//! Invariant: `taken <= dispatched`; their difference is on its way to the connection and holds
//! room that the connection's report does not include yet.

use crate::pool::connection::capacity::{Capacity, Standing};

/// Exchanges to start before the peer's limit is known and nothing is remembered of it. More would
/// be a guess that the peer may refuse (RFC 9113 section 5.1.2 lets it).
pub const UNSETTLED_EXCHANGES: u32 = 1;

/// The dispatch gate of one connection.
#[derive(Clone, Copy, Debug)]
pub struct Gate {
    report: Capacity,
    dispatched: u64,
    /// The limit remembered from earlier connections to the origin: the bound until `limit_known`.
    hint: Option<u32>,
    /// Requests that it carries in its whole life, where its peer is known to count them.
    lifetime: Option<u64>,
    /// It gave a request back as it goes away; its next report says so.
    is_shut: bool,
    /// One request at a time is on its way to it.
    is_one_by_one: bool,
}

impl Gate {
    /// The gate of a connection that has just reported for the first time.
    pub fn new(report: Capacity, hint: Option<u32>) -> Self {
        Self {
            report,
            dispatched: report.taken,
            hint,
            lifetime: None,
            is_shut: false,
            is_one_by_one: false,
        }
    }

    /// Lets a request through when the one before has started: none comes back because the one in front of it
    /// takes the connection for itself, where its requests are counted.
    pub(in crate::pool) fn pass_one_by_one(&mut self) {
        self.is_one_by_one = true;
    }

    /// Takes a newer report.
    pub fn handle_report(&mut self, report: Capacity) {
        debug_assert!(report.taken <= self.dispatched);
        self.report = report;
        self.is_shut = false;
    }

    /// Lets nothing through before the next report.
    pub(in crate::pool) fn shut(&mut self) {
        self.is_shut = true;
    }

    /// How many more requests may start now.
    pub fn room(&self) -> u32 {
        if self.report.standing != Standing::Open || self.is_shut {
            return 0;
        }
        let most = match (self.is_one_by_one, self.underway()) {
            (true, 0) => 1,
            (true, _) => return 0,
            (false, _) => u32::MAX,
        };
        let free = if self.report.limit_known {
            self.report.free
        } else {
            let bound = self.hint.unwrap_or(UNSETTLED_EXCHANGES);
            self.report
                .free
                .min(bound.saturating_sub(self.report.active))
        };
        let left = match self.lifetime {
            Some(most) => most.saturating_sub(self.dispatched),
            None => u64::MAX,
        };
        free.saturating_sub(self.underway())
            .min(left.try_into().unwrap_or(u32::MAX))
            .min(most)
    }

    /// One request goes through. Only when there is [`room`](Self::room).
    pub fn pass(&mut self) {
        debug_assert!(self.room() > 0);
        self.dispatched += 1;
    }

    /// Exchanges open or on their way.
    pub fn active(&self) -> u32 {
        self.report.active + self.underway()
    }

    /// The number of exchanges this connection carries at once, where that is known.
    pub fn limit(&self) -> Option<u32> {
        let open = self.report.limit_known && self.report.standing == Standing::Open;
        open.then(|| self.report.free + self.report.active)
    }

    /// Whether the peer's limit is known.
    pub fn is_limit_known(&self) -> bool {
        self.report.limit_known
    }

    /// Whether it may get new requests.
    pub fn standing(&self) -> Standing {
        self.report.standing
    }

    /// The last report, as if the connection had said that it drains.
    pub(in crate::pool) fn draining_report(&self) -> Capacity {
        Capacity {
            standing: Standing::Draining,
            ..self.report
        }
    }

    /// How full it is, from 0 to 1000 per mille; a connection without room is full.
    pub fn load_per_mille(&self) -> u32 {
        let active = u64::from(self.active());
        match active + u64::from(self.room()) {
            0 => 1000,
            limit => (active * 1000 / limit) as u32,
        }
    }

    /// Bounds the requests of its whole life; one that has had more already is not bounded.
    pub(in crate::pool) fn set_lifetime(&mut self, lifetime: Option<u64>) {
        self.lifetime = lifetime.filter(|most| self.dispatched <= *most);
    }

    /// Allows one request more than it has had, beyond the learned limit.
    pub(in crate::pool) fn allow_one_more(&mut self) {
        self.lifetime = Some(self.dispatched + 1);
    }

    /// How many requests went through.
    pub(in crate::pool) fn dispatched(&self) -> u64 {
        self.dispatched
    }

    /// Whether the connection has got all the requests of its learned limit.
    pub(in crate::pool) fn is_spent(&self) -> bool {
        self.lifetime.is_some_and(|most| self.dispatched >= most)
    }

    /// Whether all requests of the learned limit are answered, and the connection is still open.
    pub(in crate::pool) fn is_outlived(&self) -> bool {
        self.is_spent() && self.report.standing == Standing::Open && self.active() == 0
    }

    /// How many requests its last report says that it has taken.
    pub(in crate::pool) fn taken(&self) -> u64 {
        self.report.taken
    }

    fn underway(&self) -> u32 {
        (self.dispatched - self.report.taken) as u32
    }
}
