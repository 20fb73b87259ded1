//! The byte stream of a client connection below HTTP and the origin's TLS: TCP, a Unix socket, TLS
//! to a proxy, or a stream of the user's connector. An enum, because the branch of the usual case
//! is predictable.

use crate::connection_info::Addresses;
use crate::error::{Error, ErrorKind, Fault, Retry};
use crate::net::byte_stream::ByteStream;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _, ReadBuf};
use tokio::net::TcpStream;
#[cfg(unix)]
use tokio::net::UnixStream;
use tokio_rustls::client::TlsStream;
use trunkline_core::pool::Unanswered;
use trunkline_core::proxy::{ProxyHeader, ProxyHeaderVersion};

/// A connected socket.
pub(in crate::client) enum Socket {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
    /// To a proxy whose URL is https.
    Tls(Box<ProxyTls>),
    /// Made by the user's connector.
    Custom(Box<ByteStream>),
}

/// Calls one verb of whichever socket it is.
macro_rules! on {
    ($self:ident, $socket:ident => $call:expr) => {
        match $self.get_mut() {
            Socket::Tcp($socket) => $call,
            #[cfg(unix)]
            Socket::Unix($socket) => $call,
            Socket::Tls($socket) => $call,
            Socket::Custom(stream) => {
                let $socket = stream.io();
                $call
            }
        }
    };
}

impl Socket {
    /// The peer's address and ours: those of the way to a proxy, if there is one. A Unix socket has
    /// none.
    pub(in crate::client) fn addresses(&self) -> Option<Addresses> {
        let socket = match self {
            Self::Tcp(socket) => socket,
            #[cfg(unix)]
            Self::Unix(_) => return None,
            Self::Tls(tls) => tls.socket(),
            Self::Custom(stream) => return stream.addresses(),
        };
        // A socket without addresses is closed already.
        Some((socket.peer_addr().ok()?, socket.local_addr().ok()?))
    }
    /// Writes a header of the PROXY protocol with its own addresses, if one is wanted.
    pub(in crate::client) async fn announce(
        &mut self,
        version: Option<ProxyHeaderVersion>,
    ) -> Result<(), Error> {
        let Some(version) = version else {
            return Ok(());
        };
        let addresses = self.addresses().map(|(peer, own)| (own, peer));
        let header = ProxyHeader { addresses }.encode(version);
        self.write_all(&header).await.map_err(|error| {
            Error::new(ErrorKind::Connect, Fault::Network, Retry::Safe)
                .with_text(format!("the PROXY header cannot be written: {error}"))
                .with_source(error)
        })
    }
}

/// Reads the kernel's acknowledgement state of a socket; `None`: not available, or all sent data is
/// acknowledged.
pub(in crate::client) type AskSystem<S> = fn(&S, Instant) -> Option<Unanswered>;

impl Socket {
    /// Sent data that the peer's kernel has not acknowledged (Linux only). A peer that does not
    /// read is not reported: its kernel acknowledges what it has room for, and window probes.
    pub(in crate::client) fn unanswered(&self, now: Instant) -> Option<Unanswered> {
        let socket = match self {
            Self::Tcp(socket) => socket,
            #[cfg(unix)]
            Self::Unix(_) => return None,
            Self::Tls(tls) => tls.socket(),
            Self::Custom(_) => return None,
        };
        retransmissions(socket, now)
    }
}

#[cfg(not(target_os = "linux"))]
fn retransmissions(_: &TcpStream, _: Instant) -> Option<Unanswered> {
    None
}

/// From TCP_INFO: the segments that are not acknowledged, how often the retransmission timer has
/// fired for the first of them, and when the last acknowledgement came.
#[cfg(target_os = "linux")]
fn retransmissions(socket: &TcpStream, now: Instant) -> Option<Unanswered> {
    use std::os::fd::AsRawFd;
    // SAFETY: integers alone, for which zero is a value.
    let mut info: libc::tcp_info = unsafe { std::mem::zeroed() };
    let mut length = size_of::<libc::tcp_info>() as libc::socklen_t;
    // SAFETY: the system writes at most `length` bytes to `info`; an older one writes fewer, and the
    // rest stays zero.
    let done = unsafe {
        libc::getsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_INFO,
            (&raw mut info).cast(),
            &raw mut length,
        )
    };
    if done != 0 || info.tcpi_unacked == 0 {
        return None;
    }
    // Before the first repetition the timer says nothing: time counts from now.
    let silence = match info.tcpi_retransmits {
        0 => std::time::Duration::ZERO,
        _ => std::time::Duration::from_millis(info.tcpi_last_ack_recv.into()),
    };
    Some(Unanswered {
        since: now.checked_sub(silence).unwrap_or(now),
        repeats: info.tcpi_retransmits.into(),
        refused: false,
    })
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

/// TLS to a proxy. A write completes when its records are with the kernel; until then it is pending, and the
/// caller must retry with the same bytes in front.
pub(in crate::client) struct ProxyTls {
    stream: TlsStream<TcpStream>,
    /// Bytes of the writer's that are sealed, and not yet all with the kernel.
    sealed: usize,
}

impl ProxyTls {
    pub(in crate::client) fn new(stream: TlsStream<TcpStream>) -> Self {
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
