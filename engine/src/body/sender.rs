//! Feeding a body from a poll function.

use super::BodySender;
use crate::error::Error;
use bytes::Bytes;
use std::task::{Context, Poll};

impl BodySender {
    /// As [`send`](Self::send); what the connection has room for is taken out of `bytes`.
    pub(crate) fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        bytes: &mut Bytes,
    ) -> Poll<Result<(), Error>> {
        self.pipe.poll_put(cx, bytes)
    }
    /// Waits until the connection has taken all bytes, or is gone.
    pub(crate) fn poll_taken(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.pipe.lock();
        if state.held == 0 || state.reader_gone {
            return Poll::Ready(());
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }
}
