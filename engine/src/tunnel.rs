//! Exchanges that carry other protocols: a connection taken out of HTTP, capsules and HTTP datagrams.

pub(crate) mod capsules;
pub(crate) mod datagrams;
pub mod upgrade;
