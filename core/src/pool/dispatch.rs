//! The decision where a request goes (a connection, a new attempt, its queue), and that queue.

pub(super) mod decide;
#[cfg(test)]
mod decide_test;
pub(super) mod queue;
