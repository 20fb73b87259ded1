//! A seeded world in virtual time that drives `trunkline-core` alone: the pool and the machines of
//! a client, paths, and servers with their faults. No sockets, no clock, no threads; thousands of
//! its seconds pass in one of ours, and a seed replays exactly.
//!
//! The invariants of every world are asserted where they can break: credit in
//! [`ledger`](mod@ledger), in `client` that every request settles once, in `server` that none is
//! delivered twice.

mod client;
pub mod dice;
pub mod download;
pub mod ledger;
pub mod machine;
mod pair;
pub mod path;
mod server;
pub mod upload;
pub mod windows;
pub mod world;

pub use world::plan::Plan;
pub use world::{Ended, Outcome, Summary, World};

use dice::Dice;

/// Runs the world of `seed`; every third one is calm. A property that does not hold panics, and
/// the seed is printed.
pub fn run(seed: u64) -> Summary {
    let guard = Verbosity(seed);
    let mut dice = Dice::new(seed);
    let plan = match seed % 3 {
        0 => Plan::calm(&mut dice),
        _ => Plan::stormy(&mut dice),
    };
    let calm = seed.is_multiple_of(3);
    let summary = World::new(plan, dice, calm).run();
    std::mem::forget(guard);
    summary
}

/// The seeds to run: that of TRUNKLINE_SEED alone if it is set, else `count` from `start`.
pub fn seeds(start: u64, count: u64) -> std::ops::Range<u64> {
    let named = std::env::var("TRUNKLINE_SEED").ok();
    match named.and_then(|seed| seed.parse::<u64>().ok()) {
        Some(seed) => seed..seed.saturating_add(1),
        None => start..start.saturating_add(count),
    }
}

/// Says which seed it was when a property fails.
struct Verbosity(u64);

impl Drop for Verbosity {
    fn drop(&mut self) {
        eprintln!(
            "the world of seed {0} failed; replay it with TRUNKLINE_SEED={0}",
            self.0
        );
    }
}
