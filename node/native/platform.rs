//! The calls of Node-API and libuv that the addon needs.

pub(crate) mod callback;
pub(crate) mod napi;
pub(crate) mod uv;
