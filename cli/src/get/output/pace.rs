//! --limit-rate: the rate at which a body is read.

use std::num::NonZeroU64;
use std::time::{Duration, Instant};

/// Bytes per second, as curl has them: with K, M or G for 1,024, its square and its cube; 0 is no limit.
pub(in crate::get) fn rate(text: &str) -> Result<u64, String> {
    let bad = || format!("{text:?} is no number of bytes per second such as 1000, 100K or 2M");
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let factor: u64 = match text[digits.len()..].to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "k" => 1 << 10,
        "m" => 1 << 20,
        "g" => 1 << 30,
        _ => return Err(bad()),
    };
    let number: u64 = digits.parse().map_err(|_| bad())?;
    number.checked_mul(factor).ok_or_else(bad)
}

/// Holds a transfer back to its rate.
pub(in crate::get) struct Pace {
    rate: Option<NonZeroU64>,
    began: Instant,
    bytes: u64,
}

impl Pace {
    pub(in crate::get) fn new(rate: Option<u64>) -> Self {
        Self {
            rate: rate.and_then(NonZeroU64::new),
            began: Instant::now(),
            bytes: 0,
        }
    }
    /// Waits until these bytes more were due.
    pub(in crate::get) async fn spend(&mut self, bytes: usize) {
        let Some(rate) = self.rate else {
            return;
        };
        self.bytes += bytes as u64;
        tokio::time::sleep(self.due(rate).saturating_sub(self.began.elapsed())).await;
    }
    fn due(&self, rate: NonZeroU64) -> Duration {
        Duration::try_from_secs_f64(self.bytes as f64 / rate.get() as f64).unwrap_or(Duration::MAX)
    }
}

#[cfg(test)]
#[path = "pace_test.rs"]
mod pace_test;
