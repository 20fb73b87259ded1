//! --speed-limit and --speed-time: the end of a response that comes too slowly.

use crate::failure::Failure;
use crate::get::exit;
use crate::get::output::pace;
use std::pin::pin;
use std::time::Duration;
use tokio::time::{Instant, timeout_at};

/// Seconds without --speed-time (curl's).
const SECONDS: u32 = 30;
/// The time over which a rate is taken.
const SECOND: Duration = Duration::from_secs(1);

/// The flags.
#[derive(clap::Args)]
pub(in crate::get) struct SlowOptions {
    /// Give up where fewer bytes come in a second than this rate, for --speed-time in a row.
    #[arg(short = 'Y', long, value_name = "RATE", value_parser = pace::rate)]
    speed_limit: Option<u64>,
    /// The seconds of --speed-limit, in place of 30; without that flag one byte has to come in each.
    #[arg(short = 'y', long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(0..=86_400))]
    speed_time: Option<u32>,
}

impl SlowOptions {
    /// `None`: a response may be as slow as it is. 0 is no bound.
    pub(in crate::get) fn watch(&self) -> Option<SlowWatch> {
        let rate = self.speed_limit.or(self.speed_time.map(|_| 1));
        let seconds = self.speed_time.unwrap_or(SECONDS);
        let rate = rate.filter(|rate| *rate > 0 && seconds > 0)?;
        Some(SlowWatch {
            rate,
            seconds,
            slow: 0,
            bytes: 0,
            from: Instant::now(),
        })
    }
}

/// The rate of one response.
pub(in crate::get) struct SlowWatch {
    rate: u64,
    seconds: u32,
    /// Seconds in a row that were too slow.
    slow: u32,
    /// Bytes since `from`.
    bytes: u64,
    from: Instant,
}

impl SlowWatch {
    /// Waits for what comes next.
    ///
    /// # Errors
    /// It comes too slowly.
    pub(in crate::get) async fn next<F: Future>(&mut self, next: F) -> Result<F::Output, Failure> {
        let mut next = pin!(next);
        loop {
            match timeout_at(self.from + SECOND, next.as_mut()).await {
                Ok(next) => return Ok(next),
                Err(_) => self.end_second()?,
            }
        }
    }
    pub(in crate::get) fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
    }
    fn end_second(&mut self) -> Result<(), Failure> {
        // More than a second where something else was waited for meanwhile, as for standard output.
        let due = self.rate as f64 * self.from.elapsed().as_secs_f64();
        self.slow = match (self.bytes as f64) < due {
            true => self.slow + 1,
            false => 0,
        };
        (self.bytes, self.from) = (0, Instant::now());
        if self.slow < self.seconds {
            return Ok(());
        }
        let (rate, seconds) = (self.rate, self.seconds);
        let text =
            format!("fewer than {rate} bytes per second came, for {seconds} seconds in a row");
        Err(Failure::new(exit::TIME, text))
    }
}
