//! The receiver of a response's body: a reader or a listener.

use crate::body::Inlet;
use crate::client::listener::ExchangeListener;
use crate::error::Error;
use bytes::Bytes;
use trunkline_core::http::Fields;

/// The receiver of a response's body.
pub(super) enum Receiver {
    /// To the reader of a [`Body`].
    Pipe(Inlet),
    /// To a listener.
    Listener {
        listener: Box<dyn ExchangeListener>,
        /// Bytes that it has not taken.
        unread: usize,
    },
}

impl Receiver {
    pub(super) fn listener(listener: Box<dyn ExchangeListener>) -> Self {
        Self::Listener {
            listener,
            unread: 0,
        }
    }
    /// Hands bytes to the listener. False: it takes no more, so the caller consumes them at once.
    #[must_use]
    pub(super) fn push(&mut self, data: Bytes, end: bool) -> bool {
        match self {
            Self::Pipe(inlet) => inlet.push(data, end),
            Self::Listener { listener, unread } => {
                if !data.is_empty() {
                    *unread += data.len();
                    listener.data(data);
                }
                if end {
                    listener.end(None);
                }
                true
            }
        }
    }
    /// As [`ExchangeListener::await_unsent`].
    pub(super) fn await_unsent(&mut self) -> Option<Box<dyn Send>> {
        match self {
            Self::Pipe(_) => None,
            Self::Listener { listener, .. } => listener.await_unsent(),
        }
    }
    /// The trailers came: the end.
    pub(super) fn end(self, trailers: &Fields) {
        match self {
            Self::Pipe(inlet) => inlet.end(trailers),
            Self::Listener { mut listener, .. } => listener.end(Some(trailers)),
        }
    }
    /// The exchange ended early.
    pub(super) fn fail(self, error: Error) {
        match self {
            Self::Pipe(inlet) => inlet.fail(error),
            Self::Listener { mut listener, .. } => listener.fail(error),
        }
    }
    /// Whether bytes lie there that the reader has not taken.
    pub(super) fn has_unread(&self) -> bool {
        match self {
            Self::Pipe(inlet) => inlet.has_unread(),
            Self::Listener { unread, .. } => *unread > 0,
        }
    }
}
