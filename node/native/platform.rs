//! The calls of Node-API and libuv that the addon needs.

pub(crate) mod callback;
pub(crate) mod napi;
mod symbols;
pub(crate) mod uv;

pub(crate) use symbols::prepare;
