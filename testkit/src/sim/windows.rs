//! The table of windows: the throughput that a receive window costs on a path, by the simulator.

pub mod plot;

use super::download::Download;
use super::download::seen::Seen;
use super::path::PathPlan;
use std::fmt::Write as _;
use std::time::Duration;
use trunkline_core::limits::Windows;

/// Round trips of the table, in milliseconds.
pub const ROUND_TRIPS_MS: [u64; 6] = [1, 20, 70, 100, 130, 230];
/// Rates of the table, in Mbit/s.
pub const RATES_MBIT: [u64; 3] = [50, 200, 1000];

const KIB: u32 = 1024;
const MIB: u32 = 1024 * KIB;
/// The body of the table's measurements.
const BODY_BYTES: u64 = 512 << 20;
/// From here on the speed is steady: slow start is over.
const STEADY_FROM_BYTES: u64 = 256 << 20;
/// Times are reported for these numbers of bytes.
const TIMED_BYTES: [u64; 3] = [4 << 20, 64 << 20, 512 << 20];
/// The most that one update of a large window grants (`core/src/credit.rs`).
const QUANTUM_MAX: u32 = MIB;
/// The largest window that auto may reach.
const AUTO_MAX: u32 = 16 * MIB;

/// A rule for receive windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Never changes, and is filled up by eighths.
    Fixed(u32),
    /// Never changes, and is filled up when so little is left.
    Threshold(u32, u32),
    /// The default: grows with what is consumed.
    Auto,
}

/// The policies of the table.
pub const POLICIES: [Policy; 5] = [
    Policy::Fixed(64 * KIB),
    Policy::Fixed(256 * KIB),
    Policy::Threshold(4 * MIB, 160_000),
    Policy::Fixed(16 * MIB),
    Policy::Auto,
];

/// One cell of the table.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The path's round trip.
    pub round_trip_ms: u64,
    /// The line's rate.
    pub mbit: u64,
    /// The rule.
    pub policy: Policy,
    /// The observations.
    pub seen: Seen,
}

impl Policy {
    /// As it stands in the table.
    pub fn name(self) -> String {
        let size = |bytes: u32| match bytes {
            MIB.. => format!("{} MiB", bytes / MIB),
            _ => format!("{} KiB", bytes / KIB),
        };
        match self {
            Self::Fixed(window) => size(window),
            Self::Threshold(window, left) => format!("{} at {left}", size(window)),
            Self::Auto => "auto".to_owned(),
        }
    }
    /// The settings that make it. The connection's window never is what limits a fixed one.
    pub fn windows(self) -> Windows {
        let fixed = |window: u32, threshold| {
            Windows::default()
                .with_stream_initial(window)
                .with_connection((2 * window).max(16 * MIB))
                .with_auto(false)
                .with_threshold(threshold)
        };
        match self {
            Self::Fixed(window) => fixed(window, None),
            Self::Threshold(window, left) => fixed(window, Some(left)),
            Self::Auto => Windows::default(),
        }
    }
    /// The most it can give, in bytes per second: a grant of `Q` bytes comes back after a round
    /// trip and the time that `Q` bytes take, and as many grants are under way as fit the window.
    pub fn bound(self, round_trip: Duration, bytes_per_second: u64) -> f64 {
        let (window, quantum) = match self {
            Self::Fixed(window) => (window, (window / 8).clamp(16 * KIB, QUANTUM_MAX)),
            Self::Threshold(window, left) => (window, window - left),
            Self::Auto => (AUTO_MAX, QUANTUM_MAX),
        };
        let rate = bytes_per_second as f64;
        let granted = f64::from(window / quantum * quantum);
        (granted / (round_trip.as_secs_f64() + f64::from(quantum) / rate)).min(rate)
    }
}

impl Cell {
    /// Measures one cell.
    pub fn measure(round_trip_ms: u64, mbit: u64, policy: Policy) -> Self {
        let path = PathPlan::clean(Duration::from_millis(round_trip_ms), mbit * 125_000);
        let seen = Download::of(path, policy.windows(), BODY_BYTES).run();
        Self {
            round_trip_ms,
            mbit,
            policy,
            seen,
        }
    }
    /// The share of the line, what frames leave of it included.
    pub fn share(&self) -> f64 {
        self.seen.speed_between(STEADY_FROM_BYTES, BODY_BYTES) / (self.mbit * 125_000) as f64
    }
    /// The share of the path that the policy can reach.
    pub fn bound(&self) -> f64 {
        let round_trip = Duration::from_millis(self.round_trip_ms);
        self.policy.bound(round_trip, self.mbit * 125_000) / (self.mbit * 125_000) as f64
    }
    fn seconds_for(&self, bytes: u64) -> f64 {
        let mark = self.seen.marks.get(&bytes);
        mark.map_or(f64::NAN, Duration::as_secs_f64)
    }
}

/// All cells; `progress` is called with each.
pub fn measure(mut progress: impl FnMut(&Cell)) -> Vec<Cell> {
    let mut cells = Vec::new();
    for mbit in RATES_MBIT {
        for round_trip_ms in ROUND_TRIPS_MS {
            for policy in POLICIES {
                let cell = Cell::measure(round_trip_ms, mbit, policy);
                progress(&cell);
                cells.push(cell);
            }
        }
    }
    cells
}

/// The head of the printed table.
pub const HEAD: &str = "   rate     RTT  policy             share  bound    4 MiB   64 MiB  512 MiB     window  updates";

/// One line of the printed table.
pub fn line(cell: &Cell) -> String {
    let [small, middle, large] = TIMED_BYTES.map(|bytes| cell.seconds_for(bytes));
    format!(
        "{:>4} Mb/s {:>4} ms  {:<17} {:>5.1}% {:>5.1}% {small:>7.3}s {middle:>7.2}s {large:>7.1}s {:>10} {:>8}",
        cell.mbit,
        cell.round_trip_ms,
        cell.policy.name(),
        cell.share() * 100.0,
        cell.bound() * 100.0,
        cell.seen.window,
        cell.seen.window_updates,
    )
}

/// The sentences of what is not as it should be; none: all is well.
pub fn findings(cells: &[Cell]) -> Vec<String> {
    let mut found = Vec::new();
    for cell in cells {
        let (share, bound) = (cell.share(), cell.bound());
        let what = format!(
            "{} over {} ms at {} Mb/s: {:.1} % of the line, bound {:.1} %",
            cell.policy.name(),
            cell.round_trip_ms,
            cell.mbit,
            share * 100.0,
            bound * 100.0
        );
        // The bound is one from above: a grant waits for the burst that makes its quantum full, so
        // that of a window of few quanta the last is not always under way.
        let slack = match cell.policy {
            Policy::Auto => 0.95,
            _ => 0.80,
        };
        if share < slack * bound {
            found.push(format!("too slow: {what}"));
        }
        if share > 1.10 * bound {
            found.push(format!("faster than can be: {what}"));
        }
        if cell.seen.pings > 0 {
            found.push(format!("{} PINGs: {what}", cell.seen.pings));
        }
    }
    found
}

/// Every number, one per row: scenario, subject, metric, unit, median, min, max. The simulator is
/// exact, so the last three are the same.
pub fn csv(cells: &[Cell]) -> String {
    let mut out = String::from("scenario,subject,metric,unit,median,min,max\n");
    for cell in cells {
        let [small, middle, large] = TIMED_BYTES.map(|bytes| cell.seconds_for(bytes));
        let metrics = [
            ("share", "of line", cell.share()),
            ("bound", "of line", cell.bound()),
            ("time_4_mib", "s", small),
            ("time_64_mib", "s", middle),
            ("time_512_mib", "s", large),
            ("window", "bytes", f64::from(cell.seen.window)),
            ("window_updates", "frames", cell.seen.window_updates as f64),
        ];
        for (metric, unit, value) in metrics {
            let (round_trip, mbit) = (cell.round_trip_ms, cell.mbit);
            let policy = cell.policy.name();
            let _ = writeln!(
                out,
                "{round_trip} ms {mbit} Mb/s,{policy},{metric},{unit},{value:.6},{value:.6},{value:.6}"
            );
        }
    }
    out
}
