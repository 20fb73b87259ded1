//! The wait of servers for JavaScript that does not keep up.

use super::super::lock;
use super::super::outbound::Outbound;
use std::sync::Mutex;
use tokio::sync::Notify;

/// Resolves when nothing waits outside of the ring. The thread for connections under load may spill at any time: one that does
/// behind the look notifies what was made before it, and one before it is seen, because both hold the lock.
pub(super) async fn is_caught_up(outbound: &Mutex<Outbound>, caught_up: &Notify) {
    let notified = caught_up.notified();
    let is_behind = lock(outbound).is_behind();
    if is_behind {
        notified.await;
    }
}

#[cfg(test)]
#[path = "pause_test.rs"]
mod pause_test;
