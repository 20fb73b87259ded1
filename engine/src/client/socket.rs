//! What a client's bytes go through below HTTP and the origin's TLS: TCP, a Unix socket, or TLS to
//! a proxy. One enum: the way that nearly all connections take costs a predictable branch.

use crate::connection_info::Addresses;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::client::TlsStream;

/// A connected socket.
pub(super) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    /// To a proxy whose URL is https.
    Tls(Box<ProxyTls>),
}

/// Calls one verb of whichever socket it is.
macro_rules! on {
    ($self:ident, $socket:ident => $call:expr) => {
        match $self.get_mut() {
            Socket::Tcp($socket) => $call,
            #[cfg(unix)]
            Socket::Unix($socket) => $call,
            Socket::Tls($socket) => $call,
        }
    };
}

impl Socket {
    /// The peer's address and ours: those of the way to a proxy, if there is one. A Unix socket has
    /// none.
    pub(super) fn addresses(&self) -> Option<Addresses> {
        let socket = match self {
            Self::Tcp(socket) => socket,
            #[cfg(unix)]
            Self::Unix(_) => return None,
            Self::Tls(tls) => tls.socket(),
        };
        // A socket without addresses is closed already.
        Some((socket.peer_addr().ok()?, socket.local_addr().ok()?))
    }
}

impl AsyncRead for Socket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        on!(self, socket => Pin::new(socket).poll_read(cx, buffer))
    }
}

impl AsyncWrite for Socket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        on!(self, socket => Pin::new(socket).poll_write(cx, bytes))
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        on!(self, socket => Pin::new(socket).poll_write_vectored(cx, slices))
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, socket => Pin::new(socket).poll_flush(cx))
    }
    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        on!(self, socket => Pin::new(socket).poll_shutdown(cx))
    }
}

/// TLS to a proxy. Whoever writes to a [`Socket`] never flushes, so a write here is over when its
/// records are with the kernel: until then it is pending, and the writer comes again with the same
/// bytes in front.
pub(super) struct ProxyTls {
    stream: TlsStream<TcpStream>,
    /// Bytes of the writer's that are sealed, and not yet all with the kernel.
    sealed: usize,
}

impl ProxyTls {
    pub(super) fn new(stream: TlsStream<TcpStream>) -> Self {
        Self { stream, sealed: 0 }
    }
    fn socket(&self) -> &TcpStream {
        self.stream.get_ref().0
    }
}

impl AsyncRead for ProxyTls {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl AsyncWrite for ProxyTls {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }
    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.sealed == 0 {
            this.sealed = ready!(Pin::new(&mut this.stream).poll_write_vectored(cx, slices))?;
        }
        ready!(Pin::new(&mut this.stream).poll_flush(cx))?;
        Poll::Ready(Ok(std::mem::take(&mut this.sealed)))
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
