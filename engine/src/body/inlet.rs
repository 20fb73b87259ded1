//! The writing end of a body that a connection receives.

use super::Pipe;
use super::header_map::map_of;
use crate::error::Error;
use bytes::Bytes;
use std::sync::Arc;
use trunkline_core::error::Violation;
use trunkline_core::http::Fields;

/// The connection's end of a body it receives.
#[derive(Debug)]
pub(crate) struct Inlet {
    pub(super) pipe: Arc<Pipe>,
}

impl Inlet {
    /// Hands bytes to the reader. False: the reader is gone, so the caller consumes them at once.
    #[must_use]
    pub(crate) fn push(&self, data: Bytes, end: bool) -> bool {
        let mut state = self.pipe.lock();
        if state.reader_gone {
            return false;
        }
        if !data.is_empty() {
            state.chunks.push_back(data);
        }
        state.ended |= end;
        state.wake_reader();
        true
    }
    /// Whether bytes lie there that the reader has not taken.
    pub(crate) fn has_unread(&self) -> bool {
        !self.pipe.lock().chunks.is_empty()
    }
    /// The trailers came: the end. A body whose trailers are more than a map takes fails: without them it would be taken for
    /// a whole one.
    pub(crate) fn end(&self, trailers: &Fields) {
        match map_of(trailers) {
            Some(trailers) => self.pipe.finish(Some(trailers)),
            None => self.fail(Error::violation(Violation::FieldsTooMany)),
        }
    }
    /// The exchange ended early.
    pub(crate) fn fail(&self, error: Error) {
        self.pipe.fail(error);
    }
    /// Whether the end has not come, and a reader is there to read it.
    pub(crate) fn is_open(&self) -> bool {
        let state = self.pipe.lock();
        !state.ended && !state.reader_gone
    }
    /// Whether a reader waits for more.
    pub(crate) fn is_awaited(&self) -> bool {
        self.pipe.lock().reader.is_some()
    }
}

impl Drop for Inlet {
    fn drop(&mut self) {
        self.pipe
            .fail(Error::cancelled("the connection ended before the body"));
    }
}
