//! Clients of Rust programs beside those of others.

pub(crate) mod bulk;
pub(crate) mod calls;
