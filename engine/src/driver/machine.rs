//! An HTTP/1.1 or an HTTP/2 machine behind one set of verbs: the version is decided once per
//! connection, by ALPN or by its first bytes.

use bytes::Bytes;
use std::time::Instant;
use trunkline_core::error::{H2Code, Misuse};
use trunkline_core::http::{Event, Fields, RequestHead, ResponseHead, StreamId, Version};
use trunkline_core::wire::Outbox;
use trunkline_core::{h1, h2};

/// The machine of one connection.
///
/// Boxed: an idle HTTP/1.1 connection does not pay for the size of the other.
#[derive(Debug)]
pub(crate) enum Machine {
    /// HTTP/1.0 and HTTP/1.1.
    H1(Box<h1::Conn>),
    /// HTTP/2.
    H2(Box<h2::Conn>),
}

macro_rules! delegate {
    ($($(#[$attribute:meta])* $verb:ident(&mut self $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?;)*) => {
        $($(#[$attribute])*
        pub(crate) fn $verb(&mut self $(, $argument: $kind)*) $(-> $result)? {
            match self {
                Self::H1(conn) => conn.$verb($($argument),*),
                Self::H2(conn) => conn.$verb($($argument),*),
            }
        })*
    };
    ($($(#[$attribute:meta])* $verb:ident(&self $(, $argument:ident: $kind:ty)*) $(-> $result:ty)?;)*) => {
        $($(#[$attribute])*
        pub(crate) fn $verb(&self $(, $argument: $kind)*) $(-> $result)? {
            match self {
                Self::H1(conn) => conn.$verb($($argument),*),
                Self::H2(conn) => conn.$verb($($argument),*),
            }
        })*
    };
}

#[allow(dead_code, reason = "some verbs are one side's only")]
impl Machine {
    /// The version whose rules a head to send must meet.
    pub(crate) fn version(&self) -> Version {
        match self {
            Self::H1(_) => Version::Http11,
            Self::H2(_) => Version::Http2,
        }
    }

    /// Client: whether the peer has said how many exchanges it allows.
    pub(crate) fn is_settled(&self) -> bool {
        match self {
            Self::H1(_) => true,
            Self::H2(conn) => conn.is_settled(),
        }
    }

    delegate! {
        handle_bytes(&mut self, now: Instant, bytes: &[u8]);
        handle_timeout(&mut self, now: Instant);
        handle_close(&mut self, now: Instant);
        poll_write(&mut self, now: Instant) -> &mut Outbox;
        poll_event(&mut self) -> Option<Event>;
        open(&mut self, now: Instant, head: &RequestHead, end: bool) -> Result<StreamId, Misuse>;
        send_interim(&mut self, now: Instant, stream: StreamId, head: &ResponseHead) -> Result<(), Misuse>;
        respond(&mut self, now: Instant, stream: StreamId, head: &ResponseHead, end: bool) -> Result<(), Misuse>;
        send_body(&mut self, now: Instant, stream: StreamId, data: Bytes, end: bool) -> Result<(), Misuse>;
        send_trailers(&mut self, now: Instant, stream: StreamId, trailers: &Fields) -> Result<(), Misuse>;
        consume(&mut self, now: Instant, stream: StreamId, bytes: usize);
        reset(&mut self, now: Instant, stream: StreamId, code: H2Code);
        handler_done(&mut self, stream: StreamId);
        shut_down(&mut self, now: Instant);
        abort(&mut self, now: Instant, code: H2Code);
        recycle(&mut self, fields: Fields);
        release(&mut self);
    }
    delegate! {
        next_deadline(&self) -> Option<Instant>;
        wants_read(&self) -> bool;
        is_closed(&self) -> bool;
        capacity(&self) -> u32;
        active(&self) -> u32;
        send_room(&self, stream: StreamId) -> usize;
    }
}
