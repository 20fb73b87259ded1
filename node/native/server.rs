//! The servers of an environment.

pub(crate) mod bound;
pub(crate) mod bridge;
mod broken;
mod callbacks;
pub(crate) mod calls;
pub(crate) mod choices;
mod control;
mod described;
mod files;
mod listen;
mod secured;
pub(crate) mod snapshot;
pub(crate) mod traffic;
