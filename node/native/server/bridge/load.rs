//! Whether JavaScript's thread has more to do than it should get connections for: then connections of servers that begin are
//! left to a thread of their own.

use std::cell::Cell;
use std::time::{Duration, Instant};

/// How long the thread's use of its processor is measured for, at least: some hundred requests, and no longer than a burst of
/// clients waits for its effect.
const WINDOW: Duration = Duration::from_millis(100);
/// From this share of a processor on the thread is overloaded. One client with one request at a time takes up to 70 % of it, eight take
/// more, and are served better by this thread alone.
const HEAVY_PERCENT_MIN: u32 = 85;
/// It is overloaded no more below this share: what was left to the other thread has to be gone too, not to come back at once.
const LIGHT_PERCENT_MAX: u32 = 60;
/// Connections that may begin here within one window: their load is not measured yet. Fifty that have one request each at a time cost as much here as
/// on the other thread; where 16 of them stayed here, the two threads woke each other for less, and cost 10 % more than either.
const BEGUN_MAX: u32 = 64;

/// The load of this thread.
pub(crate) struct Load {
    began: Cell<Instant>,
    /// Processor time of the thread at the beginning of the window.
    used: Cell<Duration>,
    is_heavy: Cell<bool>,
    begun: Cell<u32>,
}

impl Load {
    pub(crate) fn new(now: Instant, used: Duration) -> Self {
        Self {
            began: Cell::new(now),
            used: Cell::new(used),
            is_heavy: Cell::new(false),
            begun: Cell::new(0),
        }
    }
    /// Ends the window, if it is over. `used`: reads the processor time of this thread.
    #[cfg(target_os = "linux")]
    pub(crate) fn look(&self, now: Instant, used: impl FnOnce() -> Duration) {
        let window = now.saturating_duration_since(self.began.get());
        if window < WINDOW {
            return;
        }
        let used = used();
        let busy = used.saturating_sub(self.used.replace(used));
        self.began.set(now);
        self.begun.set(0);
        let least = match self.is_heavy.get() {
            true => LIGHT_PERCENT_MAX,
            false => HEAVY_PERCENT_MIN,
        };
        self.is_heavy.set(busy * 100 >= window * least);
    }
    /// A connection begins. True: another thread is to serve it.
    pub(crate) fn leaves(&self) -> bool {
        if !self.is_heavy.get() {
            self.begun.set(self.begun.get() + 1);
            self.is_heavy.set(self.begun.get() > BEGUN_MAX);
        }
        self.is_heavy.get()
    }
}

#[cfg(test)]
#[path = "load_test.rs"]
mod load_test;
