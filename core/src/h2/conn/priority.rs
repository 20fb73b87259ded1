//! Priorities: those of RFC 9218 feed the scheduler; those of RFC 7540 are checked and ignored.

use super::Conn;
use crate::error::Violation;
use crate::exchange::Framing;
use crate::h2::frame::{self, FrameHeader, PriorityUpdate};
use crate::http::Side;
use crate::http::priority::Priority;
use std::time::Instant;

/// Points of the glitch budget for a deprecated PRIORITY frame.
const PRIORITY_POINTS: u32 = 1;

impl Conn {
    /// The priority of a new request: a PRIORITY_UPDATE that came before it wins over its field
    /// (RFC 9218 section 7).
    pub(super) fn priority_of(&mut self, id: u32, field: Option<&[u8]>) -> Priority {
        match self.session.take_priority(u64::from(id)) {
            Some(priority) => priority,
            None => field.map_or_else(Priority::default, Priority::parse),
        }
    }

    pub(super) fn take_priority(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        match frame::StreamDependency::parse(header, payload) {
            Ok(_) => self.glitch(now, PRIORITY_POINTS),
            Err(violation) => self.break_stream(now, header.stream, violation),
        }
    }

    pub(super) fn take_priority_update(
        &mut self,
        now: Instant,
        header: FrameHeader,
        payload: &[u8],
    ) -> Result<(), Violation> {
        let PriorityUpdate { prioritized, value } = PriorityUpdate::parse(header, payload)?;
        // RFC 9218 section 7.1: only clients send it, and only about requests.
        if self.session.side() == Side::Client || prioritized.is_multiple_of(2) {
            return Err(Violation::PriorityUpdateInvalid);
        }
        let priority = Priority::parse(value);
        let is_idle = self.is_idle(prioritized);
        if is_idle {
            let next = u64::from(self.ids.last_peer()) + 1;
            self.session
                .keep_priority(u64::from(prioritized), next, priority);
        } else if let Some(key) = self.streams.key(prioritized) {
            if let Some(stream) = self.streams.get_mut(prioritized) {
                stream.priority = priority;
            }
            self.session.schedule_mut().reprioritise(key, priority);
        }
        let early = self.session.early_priorities();
        let verdict = self.session.abuse_mut().priority_update(early, now);
        self.judge(now, verdict)
    }
}
