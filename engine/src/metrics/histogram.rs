//! Histograms of durations with fixed bounds: counted by tasks, summed when they are read.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The upper bounds of the buckets, nanoseconds: those that OpenTelemetry's semantic conventions advise for
/// `http.server.request.duration` (5 ms to 10 s), and five below them, because most exchanges on this engine end
/// there. Above the last bound there is one bucket without a bound.
const BOUNDS: [u64; 19] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    75_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    750_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    7_500_000_000,
    10_000_000_000,
];

/// A histogram as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Histogram {
    buckets: [u64; BOUNDS.len() + 1],
    sum_nanos: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self {
            buckets: [0; BOUNDS.len() + 1],
            sum_nanos: 0,
        }
    }
}

impl Histogram {
    /// How many durations were counted.
    pub fn count(&self) -> u64 {
        self.buckets.iter().sum()
    }
    /// The sum of all of them.
    pub fn sum(&self) -> Duration {
        Duration::from_nanos(self.sum_nanos)
    }
    /// The bound of each bucket and how many durations were at most as long, in ascending order. Durations
    /// above the last bound are in [`count`](Self::count) alone.
    pub fn cumulative(&self) -> impl Iterator<Item = (Duration, u64)> {
        let mut below = 0;
        BOUNDS.iter().zip(&self.buckets).map(move |(bound, count)| {
            below += count;
            (Duration::from_nanos(*bound), below)
        })
    }
}

/// A histogram that is counted.
#[derive(Debug, Default)]
pub(crate) struct Counting {
    buckets: [AtomicU64; BOUNDS.len() + 1],
    sum_nanos: AtomicU64,
}

/// The bucket of a duration, found once for several histograms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    at: usize,
    nanos: u64,
}

impl Bucket {
    pub(crate) fn of(duration: Duration) -> Self {
        let nanos = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX);
        let at = BOUNDS.iter().position(|bound| nanos <= *bound);
        let at = at.unwrap_or(BOUNDS.len());
        Self { at, nanos }
    }
}

impl Counting {
    /// Counts `times` durations of one bucket.
    pub(crate) fn count(&self, bucket: Bucket, times: u32, writers: Writers) {
        bump(&self.buckets[bucket.at], u64::from(times), writers);
        let nanos = bucket.nanos.saturating_mul(u64::from(times));
        bump(&self.sum_nanos, nanos, writers);
    }
    /// Adds the counts so far to `sum`.
    pub(crate) fn add_to(&self, sum: &mut Histogram) {
        for (bucket, count) in sum.buckets.iter_mut().zip(&self.buckets) {
            *bucket += count.load(Ordering::Relaxed);
        }
        let nanos = self.sum_nanos.load(Ordering::Relaxed);
        sum.sum_nanos = sum.sum_nanos.saturating_add(nanos);
    }
}

/// The threads that write a counter at one time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writers {
    One,
    Many,
}

/// Adds to a counter: where one thread writes it without a locked instruction, which would be the dearest part of
/// counting an exchange.
#[inline]
pub(crate) fn bump(counter: &AtomicU64, count: u64, writers: Writers) {
    if writers == Writers::Many {
        counter.fetch_add(count, Ordering::Relaxed);
        return;
    }
    let before = counter.load(Ordering::Relaxed);
    counter.store(before.wrapping_add(count), Ordering::Relaxed);
}

#[cfg(test)]
#[path = "histogram_test.rs"]
mod histogram_test;
