//! The engine's timers are those of `engine/src/driver/timer.rs`: an event loop that drives the engine
//! sleeps until the earliest of them, and a timer of tokio's own would be missed.

use crate::tidy::Finding;
use crate::tidy::rust::Source;

/// The module that has tokio's timers.
const OWNER: &str = "engine/src/driver/timer.rs";

/// Names in tokio's `time`: the clock's type alone is free.
const TIMERS: &[&str] = &[
    "sleep", "Sleep", "timeout", "Timeout", "interval", "Interval",
];

pub(in crate::tidy) fn check(sources: &[Source]) -> Vec<Finding> {
    let mut found = Vec::new();
    for source in sources {
        if !source.path.starts_with("engine/src/") || source.path == OWNER || source.is_test() {
            continue;
        }
        for (index, line) in source.text.lines().enumerate() {
            let Some((_, named)) = line.split_once("tokio::time::") else {
                continue;
            };
            if TIMERS.iter().any(|timer| named.contains(timer)) {
                let text = "a timer of tokio's: take that of crate::driver::timer";
                found.push(Finding::new(&source.path, index + 1, text));
            }
        }
    }
    found
}

#[cfg(test)]
#[path = "timers_test.rs"]
mod timers_test;
