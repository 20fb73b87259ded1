//! Connections that a program opens itself, as a server accepts them.

use crate::net::byte_stream::ByteStream;
use futures_core::Stream;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::sync::{Mutex, PoisonError};
use std::task::{Context, Poll, ready};

type Source = Pin<Box<dyn Stream<Item = io::Result<ByteStream>> + Send>>;

/// A stream of connections.
pub(crate) struct StreamSource(Mutex<Option<Source>>);

impl StreamSource {
    pub(crate) fn new(source: Source) -> Self {
        Self(Mutex::new(Some(source)))
    }
    /// The next connection, or why it is none. Pending for ever behind the last one.
    pub(crate) fn poll_next(&self, cx: &mut Context<'_>) -> Poll<io::Result<ByteStream>> {
        let mut source = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &mut *source else {
            return Poll::Pending;
        };
        match ready!(open.as_mut().poll_next(cx)) {
            Some(next) => Poll::Ready(next),
            None => {
                *source = None;
                Poll::Pending
            }
        }
    }
}

impl fmt::Debug for StreamSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StreamSource").finish_non_exhaustive()
    }
}
