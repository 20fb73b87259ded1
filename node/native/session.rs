//! Sessions of HTTP/2 clients for `http2.connect`: one machine each, driven on JavaScript's own thread.
//! The bytes are those of a socket or stream of JavaScript's, which keeps all that node:http2's users
//! set and see there; the machine decides what goes over it, and no engine, pool or thread is between.

mod events;
mod machines;
mod settings;

pub(crate) use machines::open;
