//! Header compression of HTTP/3 (RFC 9204): straight into and out of [`Fields`](crate::http::Fields).
//!
//! Sections may overtake the table, because they travel on streams of their own. So each names
//! the number of insertions it needs; a decoder holds one that came too early, and an encoder
//! refers to what is not yet acknowledged only as far as the peer lets its streams block.
//! [`decode`] and [`encode`] are the two machines, `instruction` is what their streams say to each
//! other. Nothing here judges a field: that is for the validator of `http/head.rs`.

pub mod decode;
pub mod encode;
mod instruction;
mod line;
mod references;
mod static_table;
mod table;

pub use decode::{Decoded, Decoder};
pub use encode::Encoder;
