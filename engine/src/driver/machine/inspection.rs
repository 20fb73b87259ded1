//! Requests for snapshots of connections, left among their notes and answered in their next turn.

use crate::driver::machine::Machine;
use crate::driver::timer;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use trunkline_core::http::StreamId;
use trunkline_core::inspect::ConnectionSnapshot;

/// How long connections have for their answer: a thread that is blocked for longer is named by what is missing.
const INSPECTION_WAIT: Duration = Duration::from_millis(250);
/// Requests that wait at one connection; a further one takes the place of the oldest. Several readers may look at the
/// same time, and a connection whose thread is blocked answers none of them.
pub(crate) const INSPECTIONS_MAX: usize = 8;

trunkline_core::options! {
    /// The bounds of one inspection.
    #[derive(Copy, PartialEq, Eq)]
    pub struct InspectLimits {
        /// Connections that are listed, those with exchanges first, then the oldest. Range: any. Default 200.
        pub connections_max: usize = 200, with_connections_max;
        /// Exchanges that are listed of each, the oldest first. Range: any. Default 100: what a connection may have at
        /// once by default.
        pub streams_max: usize = 100, with_streams_max;
    }
}

/// Bytes of a target that are listed: enough to tell requests apart, little for a page with all of them.
const TARGET_BYTES_MAX: usize = 256;

/// The beginning of a target, with a mark where the rest is left out.
pub(crate) fn listed_target(target: &[u8]) -> Box<str> {
    let shown = &target[..target.len().min(TARGET_BYTES_MAX)];
    let mut text = String::from_utf8_lossy(shown).into_owned();
    if shown.len() < target.len() {
        text.push_str("..");
    }
    text.into_boxed_str()
}

/// A snapshot with the number of its connection.
pub(crate) type Numbered = (u64, ConnectionSnapshot);

/// A request for a snapshot.
#[derive(Clone, Debug)]
pub(crate) struct Inspection {
    /// The connection, as its reader numbers them.
    pub(crate) number: u64,
    pub(crate) streams_max: usize,
    pub(crate) reply: mpsc::UnboundedSender<Numbered>,
}

impl Inspection {
    /// Answers; the reader may be gone. `target`: that of a stream's request.
    pub(crate) fn answer(
        self,
        machine: &Machine,
        now: Instant,
        target: impl Fn(StreamId) -> Option<Box<str>>,
    ) {
        let mut snapshot = machine.inspect(now, self.streams_max);
        for stream in &mut snapshot.streams {
            stream.target = target(stream.id);
        }
        let _ = self.reply.send((self.number, snapshot));
    }
}

/// When an inspection that begins now ends.
pub(crate) fn inspection_end() -> tokio::time::Instant {
    tokio::time::Instant::now() + INSPECTION_WAIT
}

/// The outcome of `work`, if there is one before `end`.
pub(crate) async fn until<F: Future>(end: tokio::time::Instant, work: F) -> Option<F::Output> {
    timer::timeout_at(end, work).await.ok()
}

/// The snapshots that come before `end`; at most one for each connection that was asked.
pub(crate) async fn collect(
    end: tokio::time::Instant,
    mut replies: mpsc::UnboundedReceiver<Numbered>,
) -> Vec<Numbered> {
    let mut snapshots = Vec::new();
    // Without a sender all of them have answered.
    while let Some(Some(snapshot)) = until(end, replies.recv()).await {
        snapshots.push(snapshot);
    }
    snapshots
}

#[cfg(test)]
#[path = "inspection_test.rs"]
mod inspection_test;
