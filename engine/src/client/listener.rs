//! The callbacks of exchanges and connections, for embedders that drive many exchanges from one place.
//! Events arrive on the connection's task with parsed heads: no future, waker or `HeaderMap` per request.

pub(super) mod connection;
pub(super) mod connection_use;
#[cfg(feature = "tracing")]
pub(super) mod trace;

use crate::error::Error;
use bytes::Bytes;
use std::fmt;
use trunkline_core::http::{Fields, ResponseHead, Version};

/// Receives the events of one exchange: `started`, any number of `interim`, then `response` and the
/// events behind it, or `fail`. Called on the connection's task: it must not block. It is dropped
/// after the last call, and without one when the exchange was cancelled.
pub trait ExchangeListener: Send + 'static {
    /// It starts on the connection of this number, perhaps not for the first time.
    fn started(&mut self, connection: u64) {
        let _ = connection;
    }
    /// A 1xx response.
    fn interim(&mut self, head: &ResponseHead, version: Version);
    /// The final response. After [`BodyArrival::Streaming`] come `data` and then `end` or `fail`.
    fn response(&mut self, head: &ResponseHead, version: Version, body: BodyArrival);
    /// Bytes of the body. They count as unread until [`SubmittedExchange::take`](super::SubmittedExchange::take) says otherwise, and
    /// unread bytes hold the peer back.
    fn data(&mut self, data: Bytes);
    /// The response ends with the next call, and the request's body goes on: its source has not ended, or bytes of it wait for
    /// the peer. What this returns is dropped when they have left, or the peer has taken none for the time that a response may
    /// take: an embedder that could end the process waits for that. Default: nothing waits.
    fn await_unsent(&mut self) -> Option<Box<dyn Send>> {
        None
    }
    /// The end, perhaps with trailers.
    fn end(&mut self, trailers: Option<&Fields>);
    /// The exchange failed, before its response or in the middle of it.
    fn fail(&mut self, error: Error);
}

/// How a response's body comes.
#[derive(Clone, Debug)]
pub enum BodyArrival {
    /// All of it is here: nothing follows.
    Whole(Bytes),
    /// In pieces.
    Streaming,
}

impl fmt::Debug for dyn ExchangeListener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Listener")
    }
}
