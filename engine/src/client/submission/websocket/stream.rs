//! The bytes of a WebSocket in both directions.

use super::opening::Piece;
use crate::body::BodySender;
use crate::client::SubmittedExchange;
use bytes::{Buf, Bytes};
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::mpsc;

/// Bytes of one write.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// The bytes of a WebSocket that is open: give it to a crate that speaks the frames. Dropped, it ends our side behind what
/// was written before, as a socket of TCP does, and what the server still sends is dropped: a server that does not read
/// has five minutes to take the bytes.
pub struct WebSocketBytes {
    exchange: SubmittedExchange,
    /// `None`: our side has ended.
    sender: Option<BodySender>,
    received: mpsc::UnboundedReceiver<Piece>,
    /// Received, and not read.
    unread: Bytes,
}

impl WebSocketBytes {
    pub(super) fn new(
        exchange: SubmittedExchange,
        sender: BodySender,
        received: mpsc::UnboundedReceiver<Piece>,
    ) -> Self {
        Self {
            exchange,
            sender: Some(sender),
            received,
            unread: Bytes::new(),
        }
    }
}

impl fmt::Debug for WebSocketBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebSocketBytes").finish_non_exhaustive()
    }
}

impl Drop for WebSocketBytes {
    fn drop(&mut self) {
        self.exchange.leave();
        if let Some(sender) = self.sender.take() {
            sender.finish();
        }
    }
}

impl AsyncRead for WebSocketBytes {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while self.unread.is_empty() {
            let Some(piece) = ready!(self.received.poll_recv(cx)) else {
                return Poll::Ready(Ok(()));
            };
            let (data, counts) = piece?;
            if counts {
                self.exchange.take(data.len());
            }
            self.unread = data;
        }
        let length = self.unread.len().min(space.remaining());
        space.put_slice(&self.unread[..length]);
        self.unread.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for WebSocketBytes {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let Some(sender) = &mut self.sender else {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        };
        // A piece that is taken is with the pipe, and leaves although the handle is dropped next.
        ready!(sender.poll_send(cx, &mut Bytes::new()))?;
        let length = bytes.len().min(PIECE_BYTES_MAX);
        let mut piece = Bytes::copy_from_slice(&bytes[..length]);
        ready!(sender.poll_send(cx, &mut piece))?;
        Poll::Ready(Ok(length))
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.sender {
            Some(sender) => sender.poll_taken(cx).map_err(io::Error::from),
            None => Poll::Ready(Ok(())),
        }
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        if let Some(sender) = self.sender.take() {
            sender.finish();
        }
        Poll::Ready(Ok(()))
    }
}
