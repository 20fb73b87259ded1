//! The share of the machine that idles: programs of tests that wait leave cores to others. On a machine that
//! does other work besides nothing idles, and as few run at once as can be.

use std::path::Path;

/// Linux counts what all cores did since they started.
const COUNTS: &str = "/proc/stat";

/// Ticks of all cores up to a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ticks {
    idle: u64,
    all: u64,
}

impl Ticks {
    /// Up to now. `None` where the system has no such counts.
    pub(super) fn now() -> Option<Self> {
        parse(&std::fs::read_to_string(Path::new(COUNTS)).ok()?)
    }
    /// The percentage that idled since `before`; 0 where no tick passed.
    pub(super) fn idle_percent_since(self, before: Self) -> u64 {
        let all = self.all.saturating_sub(before.all);
        let idle = self.idle.saturating_sub(before.idle);
        (idle * 100).checked_div(all).unwrap_or(0)
    }
}

/// The first line counts all cores: user, nice, system, idle, iowait, irq, softirq, steal (proc_stat(5));
/// the time of guests behind them is part of the user's.
fn parse(stat: &str) -> Option<Ticks> {
    let counts = stat.lines().next()?.strip_prefix("cpu ")?;
    let counts = counts.split_ascii_whitespace().take(8);
    let counts: Vec<u64> = counts
        .map(|count| count.parse().ok())
        .collect::<Option<_>>()?;
    let [_, _, _, idle, waits, ..] = counts[..] else {
        return None;
    };
    Some(Ticks {
        idle: idle + waits,
        all: counts.iter().sum(),
    })
}

#[cfg(test)]
#[path = "idle_test.rs"]
mod idle_test;
