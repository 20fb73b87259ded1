//! The content of a message: its length and its bytes.

pub mod length;
pub(crate) mod slab;
