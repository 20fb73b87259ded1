//! The servers of an environment.

pub(crate) mod bridge;
pub(crate) mod broken;
mod callbacks;
pub(crate) mod calls;
pub(crate) mod control;
mod described;
mod files;
pub(crate) mod listen;
pub(crate) mod secured;
pub(crate) mod snapshot;
pub(crate) mod traffic;
