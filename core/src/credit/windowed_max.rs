//! The maximum of the values noted in a time window.

use std::time::{Duration, Instant};

/// Turns that are remembered.
const TURNS: usize = 8;
/// How long one turn lasts: eight of them are the 64 s for which a path is taken to stay as it is.
const TURN: Duration = Duration::from_secs(8);

/// The largest value of the last 56 to 64 seconds. O(1) to note and to ask.
///
/// Invariant: `values[turn % TURNS]` is the largest of its turn, for the last `TURNS` turns.
#[derive(Clone, Copy, Debug)]
pub struct WindowedMax {
    values: [u32; TURNS],
    /// The turn of the last note.
    turn: u64,
    started_at: Instant,
}

impl WindowedMax {
    /// A maximum over nothing: 0.
    pub fn new(now: Instant) -> Self {
        Self {
            values: [0; TURNS],
            turn: 0,
            started_at: now,
        }
    }
    /// Notes one value.
    pub fn note(&mut self, now: Instant, value: u32) {
        let turn = self.turn_at(now);
        let passed = (turn - self.turn).min(TURNS as u64);
        for skipped in 0..passed {
            self.values[((turn - skipped) % TURNS as u64) as usize] = 0;
        }
        self.turn = turn;
        let largest = &mut self.values[(turn % TURNS as u64) as usize];
        *largest = value.max(*largest);
    }
    /// The largest recent value.
    pub fn get(&self, now: Instant) -> u32 {
        let passed = self.turn_at(now) - self.turn;
        let remembered = (TURNS as u64).saturating_sub(passed);
        (0..remembered)
            .filter_map(|back| self.turn.checked_sub(back))
            .map(|turn| self.values[(turn % TURNS as u64) as usize])
            .max()
            .unwrap_or(0)
    }
    /// Never before the turn of the last note, whatever the caller's clock does.
    fn turn_at(&self, now: Instant) -> u64 {
        let passed = now.saturating_duration_since(self.started_at);
        (passed.as_secs() / TURN.as_secs()).max(self.turn)
    }
}

#[cfg(test)]
#[path = "windowed_max_test.rs"]
mod windowed_max_test;
