//! Gives bytes to a body from a poll function.

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
    /// Waits until the connection has taken all bytes.
    ///
    /// # Errors
    /// It is gone, and has not taken all of them.
    pub(crate) fn poll_taken(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let mut state = self.pipe.lock();
        if state.held == 0 {
            return Poll::Ready(Ok(()));
        }
        if state.reader_gone {
            let lost = Error::cancelled("the connection ended before it had taken all bytes");
            return Poll::Ready(Err(lost));
        }
        state.writer = Some(cx.waker().clone());
        Poll::Pending
    }
}
