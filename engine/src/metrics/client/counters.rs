//! The counters of a client: those of a connection, which its task alone writes, and those of failures.

use super::ClientVersionMetrics;
use crate::error::ErrorKind;
use crate::error::timelines::Timelines;
use crate::metrics::histogram::{Bucket, Counting, Writers, bump};
use crate::metrics::{CLASSES, class_of, place_of};
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;
use trunkline_core::http::Version;

/// The counts of one connection. The connection's task writes them without a locked instruction; they are added to
/// those of the client when the connection is gone.
#[derive(Debug, Default)]
pub(crate) struct ConnectionCounts {
    /// One more than the place of its version; 0: it has none yet.
    version: AtomicU8,
    /// Indexed as [`CLASSES`].
    responses: [AtomicU64; CLASSES.len()],
    queue: Counting,
    first_byte: Counting,
    duration: Counting,
}

impl ConnectionCounts {
    /// The connection is open and speaks this version.
    pub(crate) fn speaks(&self, version: Version) {
        self.version
            .store(place_of(version) as u8 + 1, Ordering::Relaxed);
    }
    /// A request starts this long after its submission.
    pub(crate) fn started(&self, after: Duration) {
        self.queue.count(Bucket::of(after), 1, Writers::One);
    }
    /// The head of a final response came.
    pub(crate) fn answered(&self, status: u16, after: Duration) {
        bump(&self.responses[class_of(status)], 1, Writers::One);
        self.first_byte.count(Bucket::of(after), 1, Writers::One);
    }
    /// An exchange ended in order.
    pub(crate) fn ended(&self, after: Duration) {
        self.duration.count(Bucket::of(after), 1, Writers::One);
    }
    /// Adds the counts so far to those of its version. `open`: the connection is.
    pub(crate) fn add_to(&self, versions: &mut [ClientVersionMetrics; 3], open: bool) {
        let place = usize::from(self.version.load(Ordering::Relaxed));
        let version = place.checked_sub(1).and_then(|at| versions.get_mut(at));
        let Some(version) = version else {
            return;
        };
        version.connections += 1;
        version.connections_open += u64::from(open);
        for (response, count) in version.responses.iter_mut().zip(&self.responses) {
            *response += count.load(Ordering::Relaxed);
        }
        self.queue.add_to(&mut version.queue);
        self.first_byte.add_to(&mut version.first_byte);
        self.duration.add_to(&mut version.duration);
    }
}

/// Errors by their kind. Any thread writes them.
#[derive(Debug, Default)]
pub(crate) struct FailureCounts([AtomicU64; ErrorKind::NAMES.len()]);

impl FailureCounts {
    pub(crate) fn count(&self, kind: ErrorKind) {
        let name = kind.name();
        if let Some(at) = ErrorKind::NAMES.iter().position(|other| *other == name) {
            self.0[at].fetch_add(1, Ordering::Relaxed);
        }
    }
    /// The counts that are not zero, with their names.
    pub(crate) fn read(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.iter().map(|count| count.load(Ordering::Relaxed));
        let named = ErrorKind::NAMES.into_iter().zip(counts);
        named.filter(|(_, count)| *count > 0).collect()
    }
}

/// Counts of a client besides those of its connections, and the timelines of what failed.
#[derive(Debug, Default)]
pub(crate) struct ClientCounts {
    /// Requests that failed.
    pub(crate) failures: FailureCounts,
    /// Connections that could not be opened.
    pub(crate) connect_failures: FailureCounts,
    /// Timelines of requests.
    pub(crate) timelines: Timelines,
}
