//! The observations of a download.

use std::collections::BTreeMap;
use std::time::Duration;

/// The observations.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// When a reader that takes everything at once had this many bytes: powers of two from 1 MiB
    /// on.
    pub marks: BTreeMap<u64, Duration>,
    /// Bytes that each reader took.
    pub read: Vec<u64>,
    /// How long it took.
    pub lasted: Duration,
    /// The first stream's window at the end.
    pub window: u32,
    /// The window that the connection has seen its path to need.
    pub bdp_bytes: u32,
    /// WINDOW_UPDATE frames of the client.
    pub window_updates: u64,
    /// PING frames of the client.
    pub pings: u64,
    /// DATA bytes of the server.
    pub data_bytes: u64,
    /// DATA frames of the server.
    pub data_frames: u64,
    /// The most that lay unread.
    pub unread_max: u64,
    /// The client's estimate of the path.
    pub round_trip: Option<Duration>,
}

impl Seen {
    /// Bytes per second between two marks, in bytes.
    pub fn speed_between(&self, from: u64, to: u64) -> f64 {
        let at = |mark| {
            self.marks
                .get(&mark)
                .map_or(f64::NAN, Duration::as_secs_f64)
        };
        (to - from) as f64 / (at(to) - at(from))
    }
}
