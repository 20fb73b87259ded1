//! Measurements of single connections over long paths and paths that lose packets.

pub(crate) mod h3;
pub(crate) mod windows;
