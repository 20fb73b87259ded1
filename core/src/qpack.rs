//! Header compression of HTTP/3 (RFC 9204): straight into and out of [`Fields`](crate::http::Fields).
//!
//! Sections travel on other streams than table insertions and may overtake them. So each section
//! states its required insert count; a decoder blocks a section that arrives early, and an encoder
//! references unacknowledged entries only as far as the peer lets streams block. [`decode`] and
//! [`encode`] are the two machines, `instruction` is the format of their streams. The validator of
//! `http/head.rs` checks the fields.

pub mod decode;
pub mod encode;
mod field_line;
mod instruction;
mod references;
mod static_table;
mod table;

pub use decode::{DecodedSection, Decoder};
pub use encode::Encoder;
