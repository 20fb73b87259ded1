//! Header compression of HTTP/2 (RFC 7541): straight into and out of
//! [`Fields`](crate::http::Fields).
//!
//! One dynamic table (`compress/table.rs`) serves both directions; [`decode`] and [`encode`] are
//! the two machines over it. Fields are not validated here: names and values are bytes until the
//! validator of `http/head.rs` has checked them.

pub mod decode;
pub mod encode;
mod static_table;

pub use decode::{DecodedBlock, Decoder};
pub use encode::Encoder;

/// SETTINGS_HEADER_TABLE_SIZE before any SETTINGS frame, bytes (RFC 9113 section 6.5.2).
pub(crate) const TABLE_BYTES_INITIAL: usize = 4096;
