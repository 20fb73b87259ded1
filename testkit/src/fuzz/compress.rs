//! Fuzz bodies of both header compressions.

pub(super) mod hpack;
pub(super) mod qpack;
