//! The settings of a machine: its bounds, deadlines and windows, and the choices of its owner.

use super::{Limits, Timeouts, Windows};
use std::time::Instant;

/// Appends the value of the field `date` at an instant (RFC 9110 section 6.6.1).
pub type WriteDate = fn(Instant, &mut Vec<u8>);

crate::options! {
    /// Everything a machine needs to know, frozen into an `Arc` and shared by all connections.
    pub struct Config {
        /// Bounds.
        pub limits: Limits = Limits::default(), with_limits;
        /// Deadlines.
        pub timeouts: Timeouts = Timeouts::default(), with_timeouts;
        /// Flow control.
        pub windows: Windows = Windows::default(), with_windows;
        /// Server: extended CONNECT (RFC 8441, RFC 9220) is announced. Default: false.
        pub extended_connect: bool = false, with_extended_connect;
        /// HTTP/3 datagrams (RFC 9297) are announced; the transport must take them too. Default: false.
        pub datagrams: bool = false, with_datagrams;
        /// HTTP/2: SETTINGS, PING and GOAWAY frames of the peer are events. Default: false.
        pub frame_events: bool = false, with_frame_events;
        /// HTTP/2: identifier and value of settings that the first SETTINGS has beside ours, for extensions of the owner's (RFC 9113
        /// section 5.5), at most [`EXTENSION_SETTINGS_MAX`](super::EXTENSION_SETTINGS_MAX). Default: none.
        pub extension_settings: Vec<(u16, u32)> = Vec::new(), with_extension_settings;
        /// HTTP/1.1: the names of the fields of what comes are kept as they are spelled too
        /// ([`Fields::spellings`](crate::http::Fields::spellings)). Default: false.
        pub spelled_names: bool = false, with_spelled_names;
        /// HTTP/1.1: blanks behind the size of a chunk and in its extensions are passed over (RFC 9112 section 7.1.1), as old
        /// servers pad them. Default: false, they are an error.
        pub chunk_blanks: bool = false, with_chunk_blanks;
        /// HTTP/1.1 server: a request without a host field is refused with 400 (RFC 9112 section 3.2). Default: true.
        pub needs_host: bool = true, with_needs_host;
        /// HTTP/1.1 server: a request with another expectation than `100-continue` is the owner's to
        /// answer, and not refused with 417. Default: false.
        pub expectations: bool = false, with_expectations;
        /// HTTP/1.1 server: a request that breaks a rule is the owner's to answer, in bytes
        /// ([`Event::RequestRefused`](crate::http::Event::RequestRefused)), and not refused with a status.
        /// Default: false.
        pub hands_over_refusals: bool = false, with_hands_over_refusals;
        /// HTTP/1.1 server: a request whose body breaks a rule, or ends with the client's side before it is
        /// whole, is the owner's to answer ([`Event::BodyLost`](crate::http::Event::BodyLost)), and not
        /// refused with a status or reset. The connection closes behind the response. Default: false.
        pub answers_lost_bodies: bool = false, with_answers_lost_bodies;
        /// Server: the date of answers that are the machine's own (4xx and 5xx). Default: none, of an owner without a clock.
        pub date: Option<WriteDate> = None, with_date;
        /// HTTP/1.1 client: a request whose connection stays open says `connection: keep-alive`, which
        /// HTTP/1.1 implies (RFC 9112 section 9.3) and a peer of HTTP/1.0 needs. Default: false.
        pub sends_keep_alive: bool = false, with_sends_keep_alive;
    }
}
