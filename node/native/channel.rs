//! The channel between JavaScript and the engine: its rings, codes and queues.

pub(crate) mod area;
pub(crate) mod bodies;
pub(crate) mod calls;
pub(crate) mod codes;
#[cfg(test)]
mod fuzz;
pub(crate) mod heads;
pub(crate) mod outbound;
pub(crate) mod records;
pub(crate) mod ring;
mod sync;
