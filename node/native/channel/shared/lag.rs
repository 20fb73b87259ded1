//! The time from the wake-up of JavaScript's loop to the call that drains the ring. It grows while the loop does something else; while
//! the loop drains, or the engine runs on its thread, nothing waits.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// The upper bounds of the buckets, microseconds: those of the engine's histograms that matter for an event loop.
const BOUNDS: [u64; 14] = [
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000,
    1_000_000, 10_000_000,
];
const NAME: &str = "trunkline_ring_lag_seconds";

/// The histogram of one channel.
pub(crate) struct RingLag {
    base: Instant,
    /// When JavaScript was woken that has not come yet, nanoseconds since `base`; 0: it has.
    woken: AtomicU64,
    /// Waits by the bounds; the last bucket has those above the last bound.
    buckets: [AtomicU64; BOUNDS.len() + 1],
    sum_nanos: AtomicU64,
}

impl RingLag {
    pub(crate) fn new() -> Self {
        Self {
            base: Instant::now(),
            woken: AtomicU64::new(0),
            buckets: Default::default(),
            sum_nanos: AtomicU64::new(0),
        }
    }
    /// JavaScript is woken, from any thread; one that was woken already is as late as by the first time.
    pub(crate) fn woken(&self) {
        if self.woken.load(Ordering::Relaxed) == 0 {
            let now = nanos(self.base.elapsed()).max(1);
            let _ = self
                .woken
                .compare_exchange(0, now, Ordering::Relaxed, Ordering::Relaxed);
        }
    }
    /// JavaScript comes.
    pub(crate) fn drained(&self) {
        let woken = self.woken.swap(0, Ordering::Relaxed);
        if woken > 0 {
            self.count(nanos(self.base.elapsed()).saturating_sub(woken));
        }
    }
    fn count(&self, nanos: u64) {
        let bucket = BOUNDS.iter().position(|bound| nanos <= bound * 1000);
        self.buckets[bucket.unwrap_or(BOUNDS.len())].fetch_add(1, Ordering::Relaxed);
        self.sum_nanos.fetch_add(nanos, Ordering::Relaxed);
    }
    /// As a family of OpenMetrics.
    pub(crate) fn to_openmetrics(&self) -> String {
        let mut text = format!(
            "# TYPE {NAME} histogram\n# UNIT {NAME} seconds\n# HELP {NAME} From the wake-up of the event loop to its coming for what the \
             engine has for it.\n"
        );
        let mut count = 0;
        // Writing to a text does not fail.
        for (bucket, bound) in self.buckets.iter().zip(BOUNDS) {
            count += bucket.load(Ordering::Relaxed);
            let bound = bound as f64 / 1e6;
            let _ = writeln!(text, "{NAME}_bucket{{le=\"{bound:?}\"}} {count}");
        }
        count += self.buckets[BOUNDS.len()].load(Ordering::Relaxed);
        let sum = Duration::from_nanos(self.sum_nanos.load(Ordering::Relaxed));
        let _ = writeln!(text, "{NAME}_bucket{{le=\"+Inf\"}} {count}");
        let _ = writeln!(text, "{NAME}_count {count}");
        let _ = writeln!(text, "{NAME}_sum {:.9}", sum.as_secs_f64());
        text
    }
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
#[path = "lag_test.rs"]
mod lag_test;
