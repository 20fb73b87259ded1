//! Sockets: listeners that workers share a port through.

pub(crate) mod listen;
