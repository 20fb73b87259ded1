//! Decides where each request goes: its queue, the gate of a connection, or a new attempt.

pub(super) mod decide;
#[cfg(test)]
mod decide_test;
pub(super) mod gate;
#[cfg(test)]
mod gate_test;
pub(super) mod queue;
mod socket_waiters;
#[cfg(test)]
mod socket_waiters_test;
mod turn;
