//! A socket with polled readiness and non-blocking reads and writes.

use std::io::{self, IoSlice, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// `io::Write` over a socket to be polled: `WouldBlock` means that the task is registered.
pub(in crate::driver) struct PollWriter<'a, 'b, S> {
    pub(in crate::driver) socket: &'a mut S,
    pub(in crate::driver) cx: &'a mut Context<'b>,
}

impl<S: AsyncWrite + Unpin> Write for PollWriter<'_, '_, S> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match Pin::new(&mut *self.socket).poll_write(self.cx, bytes) {
            Poll::Ready(written) => written,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
    fn write_vectored(&mut self, slices: &[IoSlice<'_>]) -> io::Result<usize> {
        let socket = Pin::new(&mut *self.socket);
        let written = match slices {
            // Cheaper than one slice, in the kernel too.
            [whole] => socket.poll_write(self.cx, whole),
            _ => socket.poll_write_vectored(self.cx, slices),
        };
        match written {
            Poll::Ready(written) => written,
            Poll::Pending => Err(io::ErrorKind::WouldBlock.into()),
        }
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Reads once into `buffer`; no bytes are the end.
pub(super) fn poll_socket_read<'a, S: AsyncRead + Unpin>(
    socket: &mut S,
    cx: &mut Context<'_>,
    buffer: &'a mut [u8],
) -> Poll<io::Result<&'a [u8]>> {
    let mut read = ReadBuf::new(buffer);
    ready!(Pin::new(socket).poll_read(cx, &mut read))?;
    let filled = read.filled().len();
    Poll::Ready(Ok(&buffer[..filled]))
}
