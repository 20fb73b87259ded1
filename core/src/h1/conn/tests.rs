//! Scripts of bytes and commands against a whole connection, by subject.

mod client;
mod half_closed;
mod hostile;
mod lost_bodies;
mod pair;
pub(super) mod script;
mod server;
mod server_answer;
mod server_end;
mod server_patience;
mod server_switch;
