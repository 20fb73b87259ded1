//! Fuzz bodies of HTTP/2.

pub(super) mod control;
pub(super) mod frames;
pub(super) mod heads;
