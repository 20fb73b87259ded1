//! Validated heads: a [`RequestHead`] or [`ResponseHead`] that exists is valid. One validator for
//! all versions; it rejects and never repairs, except for fields that it leaves out of a received
//! section. A valid head can be written in any other version
//! without moving the bounds of its message.
//!
//! It is on the hot path: one pass over the fields, no allocation.

mod left_out;
mod marks;
pub(crate) mod reason;
mod request;
mod response;
mod rules;
mod trailers;

pub(crate) use marks::is_sound;
pub use request::RequestHead;
pub(crate) use request::{free_list, last_head};
pub use response::ResponseHead;
pub(crate) use trailers::receive_trailers;
pub use trailers::{may_be_trailer, validate_trailers};

/// The version whose rules a head must meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    /// HTTP/1.0: as 1.1, but no keep-alive unless asked for and no chunked.
    Http10,
    /// HTTP/1.1.
    Http11,
    /// HTTP/2.
    Http2,
    /// HTTP/3.
    Http3,
}

impl Version {
    /// Its name for people: `HTTP/1.1`, `HTTP/2`.
    pub fn text(self) -> &'static str {
        match self {
            Self::Http10 => "HTTP/1.0",
            Self::Http11 => "HTTP/1.1",
            Self::Http2 => "HTTP/2",
            Self::Http3 => "HTTP/3",
        }
    }
    /// Whether messages come in frames (HTTP/2, HTTP/3), and not as text.
    fn is_framed(self) -> bool {
        matches!(self, Self::Http2 | Self::Http3)
    }
}

#[cfg(test)]
#[path = "head_test.rs"]
mod head_test;
