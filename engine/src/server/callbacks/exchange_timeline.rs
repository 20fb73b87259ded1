//! The timeline of an exchange that callbacks answer.

use super::{Ended, StreamHandle};
use crate::connection_info::ConnectionInfo;
use crate::driver::machine::inspection::listed_target;
use crate::error::{Error, ErrorKind, Fault, Retry};
use crate::server::exchange::request::version_of;
use crate::server::observe::timeline::{Changes, TimelineEnd, TimelineKeeper, since};
use http::StatusCode;
use std::time::Instant;
use trunkline_core::http::{RequestHead, Version};
use trunkline_core::inspect::{ConnectionSnapshot, StreamWait};

/// The timelines of a connection's exchanges.
pub(super) struct ConnectionTimelines {
    keeper: TimelineKeeper,
    info: ConnectionInfo,
    version: Version,
}

/// The facts of one exchange so far.
pub(in crate::server) struct ExchangeTimeline {
    method: Box<str>,
    target: Box<str>,
    changes: Changes,
    status: Option<StatusCode>,
    body_bytes: u64,
}

impl ConnectionTimelines {
    pub(super) fn new(keeper: TimelineKeeper, info: ConnectionInfo, version: Version) -> Self {
        Self {
            keeper,
            info,
            version,
        }
    }
    /// Whether exchanges that begin now have timelines.
    pub(super) fn are_kept(&self) -> bool {
        self.keeper.is_on()
    }
    /// An exchange begins; `None`: no timelines are kept now.
    pub(super) fn begin(&self, head: &RequestHead) -> Option<Box<ExchangeTimeline>> {
        self.keeper.is_on().then(|| {
            let target = head.path().or_else(|| head.authority());
            Box::new(ExchangeTimeline {
                method: String::from_utf8_lossy(head.method()).into(),
                target: listed_target(target.unwrap_or(b"-")),
                changes: Changes::default(),
                status: None,
                body_bytes: 0,
            })
        })
    }
    /// An exchange is over; the number of its timeline, if it has one.
    pub(super) fn end(
        &self,
        timeline: &ExchangeTimeline,
        (began, now): (Instant, Instant),
        how: &Ended,
    ) -> Option<u64> {
        let error = match how {
            Ended::Whole | Ended::Quiet => None,
            Ended::Reset { code, by_peer } => {
                let fault = if *by_peer { Fault::Peer } else { Fault::Us };
                Some(Error::new(
                    ErrorKind::StreamReset(*code),
                    fault,
                    Retry::Never,
                ))
            }
        };
        let end = TimelineEnd {
            method: &timeline.method,
            target: &timeline.target,
            version: version_of(self.version),
            status: timeline.status,
            body_bytes: timeline.body_bytes,
            took: since(began, now),
            error: error.as_ref(),
        };
        self.keeper.note(&timeline.changes, &self.info, &end)
    }
}

impl ExchangeTimeline {
    /// The head of its response was given.
    pub(super) fn answered(&mut self, began: Instant, status: StatusCode) {
        self.status = Some(status);
        self.changes.answered(began.elapsed(), status);
    }
    /// Bytes of the response's body were handed on.
    pub(super) fn sent(&mut self, bytes: usize) {
        self.body_bytes += bytes as u64;
    }
    /// Notes why the exchange does not go on now: for its handler, or for what the connection says.
    pub(super) fn waits(
        &mut self,
        (began, now): (Instant, Instant),
        handle: StreamHandle,
        snapshot: &ConnectionSnapshot,
    ) {
        let stream = snapshot.streams.iter().find(|it| it.id == handle.stream());
        let wait = match self.status {
            None => StreamWait::Handler,
            Some(_) => stream.and_then(|it| it.sends).unwrap_or(StreamWait::Source),
        };
        self.changes.waits(since(began, now), wait);
    }
}
