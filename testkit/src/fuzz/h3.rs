//! Fuzz bodies of HTTP/3.

pub(super) mod conn;
pub(super) mod control;
pub(super) mod frames;
pub(super) mod heads;
mod sent;
mod streams;
