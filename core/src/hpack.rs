//! Header compression of HTTP/2 (RFC 7541): straight into and out of [`Fields`](crate::http::Fields).

pub mod decode;
pub mod encode;

pub use decode::Decoder;
pub use encode::Encoder;
