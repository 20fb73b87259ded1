//! Heads and field sections as texts of the channel.

pub(crate) mod fields;
pub(crate) mod head;
