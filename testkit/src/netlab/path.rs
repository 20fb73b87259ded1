//! One direction of the path: computes the arrival of each packet, if it arrives. Pure: the time is
//! an argument, and chance comes from a seed.
//!
//! A packet first waits for those before it to leave (rate and queue), then travels (delay). The
//! schedule is kept from the packets' own times, so that a relay that wakes late delays a packet
//! but never lowers the rate.

use std::time::{Duration, Instant};

/// The effect of a path on packets, in each direction.
#[derive(Clone, Debug, PartialEq)]
pub struct PathSettings {
    /// How long a packet travels one way; the round trip is twice this. Default 0, at most 60 s.
    pub delay: Duration,
    /// Bits per second, IP heads included. Default: as many as the machine carries.
    pub rate: Option<u64>,
    /// The share of packets that get lost, 0 to 1. Default 0.
    pub loss: f64,
    /// The share of packets that those behind overtake, 0 to 1. Default 0.
    pub reorder: f64,
    /// How much later than the others such a packet arrives. Default 5 ms.
    pub reorder_by: Duration,
    /// Bytes that may wait to leave; further packets are dropped. Default: what the rate carries
    /// in one round trip, and at least 256 KiB. Without a rate nothing waits.
    pub queue_bytes: Option<u64>,
    /// The seed of loss and reordering. Default 1.
    pub seed: u64,
}

impl Default for PathSettings {
    fn default() -> Self {
        Self {
            delay: Duration::ZERO,
            rate: None,
            loss: 0.0,
            reorder: 0.0,
            reorder_by: Duration::from_millis(5),
            queue_bytes: None,
            seed: 1,
        }
    }
}

impl PathSettings {
    /// Refuses what no path can be.
    pub(super) fn check(&self) -> Result<(), String> {
        for (name, share) in [("loss", self.loss), ("reorder", self.reorder)] {
            if !(0.0..=1.0).contains(&share) {
                return Err(format!("{name} is {share}; it must be from 0 to 1"));
            }
        }
        for (name, time) in [("delay", self.delay), ("reorder-by", self.reorder_by)] {
            if time > DELAY_MAX {
                return Err(format!(
                    "{name} is {time:?}; it must be at most {DELAY_MAX:?}"
                ));
            }
        }
        if self.rate.is_some_and(|rate| !RATE_RANGE.contains(&rate)) {
            return Err(format!(
                "rate is {} bit/s; it must be from {} to {}",
                self.rate.unwrap_or(0),
                RATE_RANGE.start(),
                RATE_RANGE.end()
            ));
        }
        Ok(())
    }

    /// Whether packets arrive, in the order in which they left.
    pub(super) fn is_orderly(&self) -> bool {
        self.loss == 0.0 && self.reorder == 0.0
    }

    fn queue(&self) -> u64 {
        let round_trip = self.rate.map_or(0, |rate| {
            (rate as f64 / 8.0 * 2.0 * self.delay.as_secs_f64()) as u64
        });
        self.queue_bytes
            .unwrap_or(round_trip.max(QUEUE_BYTES_LEAST))
    }
}

/// The counts of one direction's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Packets, as a wire would count them, that arrived or will.
    pub packets: u64,
    /// Their bytes, IP heads included.
    pub bytes: u64,
    /// Packets lost by chance.
    pub lost: u64,
    /// Packets dropped because the queue was full.
    pub dropped: u64,
    /// Packets sent out of their turn.
    pub reordered: u64,
}

/// One direction and its state.
#[derive(Debug)]
pub(super) struct Path {
    settings: PathSettings,
    queue_bytes: u64,
    /// When the last packet accepted has left.
    free_at: Option<Instant>,
    chance: u64,
    totals: Totals,
}

impl Path {
    pub(super) fn new(settings: PathSettings, seed: u64) -> Self {
        Self {
            queue_bytes: settings.queue(),
            settings,
            free_at: None,
            chance: seed,
            totals: Totals::default(),
        }
    }

    /// A packet enters at `now`: when it comes out, or `None` if it never does.
    pub(super) fn enter(&mut self, now: Instant, bytes: u64, packets: u32) -> Option<Instant> {
        let packets = u64::from(packets);
        if self.happens(self.settings.loss) {
            self.totals.lost += packets;
            return None;
        }
        let Some(left_at) = self.leave(now, bytes) else {
            self.totals.dropped += packets;
            return None;
        };
        self.totals.packets += packets;
        self.totals.bytes += bytes;
        let mut out = left_at + self.settings.delay;
        if self.happens(self.settings.reorder) {
            self.totals.reordered += packets;
            out += self.settings.reorder_by;
        }
        Some(out)
    }

    pub(super) fn totals(&self) -> Totals {
        self.totals
    }

    /// When the packet's last bit is on the wire; `None` if it finds the queue full.
    fn leave(&mut self, now: Instant, bytes: u64) -> Option<Instant> {
        let Some(rate) = self.settings.rate else {
            return Some(now);
        };
        let starts = self.free_at.map_or(now, |free_at| free_at.max(now));
        let waiting = (starts - now).as_secs_f64() * rate as f64 / 8.0;
        // A packet larger than the queue still passes an empty one.
        if waiting > 0.0 && waiting as u64 + bytes > self.queue_bytes {
            return None;
        }
        let left_at = starts + Duration::from_nanos(bytes * 8 * 1_000_000_000 / rate);
        self.free_at = Some(left_at);
        Some(left_at)
    }

    fn happens(&mut self, share: f64) -> bool {
        if share <= 0.0 {
            return false;
        }
        // 53 bits: what a double can tell apart.
        ((self.roll() >> 11) as f64 / (1_u64 << 53) as f64) < share
    }

    /// SplitMix64.
    fn roll(&mut self) -> u64 {
        self.chance = self.chance.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.chance;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }
}

/// The longest delay that makes sense on one planet and a few hops beyond.
const DELAY_MAX: Duration = Duration::from_secs(60);
/// A slow modem to more than the relay carries.
const RATE_RANGE: std::ops::RangeInclusive<u64> = 1_000..=100_000_000_000;
/// Room for a few of the kernel's 64 KiB bursts.
const QUEUE_BYTES_LEAST: u64 = 256 * 1024;

#[cfg(test)]
#[path = "path_test.rs"]
mod path_test;
