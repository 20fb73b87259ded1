//! Takes a connection out of HTTP: a handler answers 101 (or 2xx to CONNECT) on HTTP/1.1 and gets
//! the connection's bytes. On HTTP/2 and HTTP/3 a tunnel is one stream, whose request and response
//! bodies carry it.

#[cfg(feature = "hyper-upgrade")]
mod hyper;

#[cfg(feature = "hyper-upgrade")]
pub use self::hyper::{Either, EitherData, EitherError, ForHyper, ForHyperCall, for_hyper};

use crate::driver::transport::Transport;
use crate::driver::transport::drain::{self, SocketCall};
use crate::error::Error;
use bytes::{Buf, Bytes, BytesMut};
use http::Request;
use std::fmt;
use std::io;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::sync::oneshot;
use trunkline_core::error::TransportEnd;
use trunkline_core::wire::Outbox;

/// Asks for the connection behind `request`. Await the result after the handler has returned its
/// 101 or 2xx: in a task of its own.
pub fn on<B>(request: &mut Request<B>) -> OnUpgrade {
    let offer = request.extensions_mut().remove::<Offer>();
    let receiver = offer.and_then(|offer| {
        offer
            .0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    });
    OnUpgrade(receiver)
}

/// The connection to come.
#[derive(Debug)]
pub struct OnUpgrade(Option<oneshot::Receiver<Upgraded>>);

impl Future for OnUpgrade {
    type Output = Result<Upgraded, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Some(receiver) = &mut self.0 else {
            return Poll::Ready(Err(Error::cancelled(
                "this request offers no upgrade, or it was asked for already",
            )));
        };
        Pin::new(receiver)
            .poll(cx)
            .map_err(|_| Error::cancelled("the exchange ended without an upgrade"))
    }
}

/// The extension of a request that may be upgraded.
#[derive(Clone)]
pub(crate) struct Offer(Arc<Mutex<Option<oneshot::Receiver<Upgraded>>>>);

impl Offer {
    /// An offer and where to fulfil it.
    pub(crate) fn new() -> (oneshot::Sender<Upgraded>, Self) {
        let (sender, receiver) = oneshot::channel();
        (sender, Self(Arc::new(Mutex::new(Some(receiver)))))
    }
}

/// The bytes of a connection that has left HTTP, with TLS removed.
pub struct Upgraded(Pin<Box<dyn Stream + Send>>);

impl Upgraded {
    /// `rest` came behind the last HTTP message.
    pub(crate) fn new<S>(transport: Transport<S>, rest: &Bytes) -> Self
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        Self(Box::pin(Tunnel {
            transport,
            unread: BytesMut::from(&rest[..]),
            end: None,
            outbox: Outbox::new(),
        }))
    }
}

impl Upgraded {
    /// Calls the system about the socket below, if it is one of TCP.
    pub(crate) fn call_socket(&self, call: SocketCall) -> Option<u64> {
        self.0.call_socket(call)
    }
}

impl fmt::Debug for Upgraded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Upgraded").finish_non_exhaustive()
    }
}

impl AsyncRead for Upgraded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_read(cx, buffer)
    }
}

impl AsyncWrite for Upgraded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.as_mut().poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.0.as_mut().poll_shutdown(cx)
    }
}

/// Both directions.
trait Stream: AsyncRead + AsyncWrite {
    fn call_socket(&self, call: SocketCall) -> Option<u64>;
}

impl<S: AsyncRead + AsyncWrite + Unpin + 'static> Stream for Tunnel<S> {
    fn call_socket(&self, call: SocketCall) -> Option<u64> {
        drain::call_socket(self.transport.socket(), call)
    }
}

/// A transport read and written as a stream.
struct Tunnel<S> {
    transport: Transport<S>,
    /// Read, but not yet taken.
    unread: BytesMut,
    /// The peer's end, behind the bytes that are unread.
    end: Option<io::Result<()>>,
    outbox: Outbox,
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncRead for Tunnel<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = &mut *self;
        while this.unread.is_empty() {
            match &mut this.end {
                None => {}
                Some(Ok(())) => return Poll::Ready(Ok(())),
                Some(Err(error)) => {
                    let again = error.kind().into();
                    return Poll::Ready(Err(mem::replace(error, again)));
                }
            }
            let Self {
                transport, unread, ..
            } = this;
            // Bytes may come with the end: a bad record behind good ones.
            this.end = match ready!(crate::driver::read_buffer::with_read_buffer(|scratch| {
                transport.poll_read(cx, scratch, &mut |bytes| unread.extend_from_slice(bytes))
            })) {
                Ok(None) => None,
                Ok(Some(TransportEnd::InOrder)) => Some(Ok(())),
                // A protocol whose end is that of its connection must not take this for one.
                Ok(Some(TransportEnd::Ragged | TransportEnd::Failed)) => {
                    Some(Err(io::ErrorKind::UnexpectedEof.into()))
                }
                Err(error) => Some(Err(error)),
            };
        }
        let length = this.unread.len().min(buffer.remaining());
        buffer.put_slice(&this.unread[..length]);
        this.unread.advance(length);
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for Tunnel<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        // A piece taken before goes first: at most one waits.
        ready!(
            this.transport
                .poll_write(cx, &mut this.outbox, Instant::now())
        )?;
        let length = bytes.len().min(PIECE_BYTES_MAX);
        this.outbox.buffer().extend_from_slice(&bytes[..length]);
        match this
            .transport
            .poll_write(cx, &mut this.outbox, Instant::now())
        {
            Poll::Ready(Err(error)) => Poll::Ready(Err(error)),
            // As a write of a socket of TCP: what it says it took is with the system, and leaves although the tunnel is
            // dropped next.
            Poll::Pending if this.transport.is_cleartext() => {
                let refused = mem::take(&mut this.outbox).len();
                match length - refused {
                    0 => Poll::Pending,
                    taken => Poll::Ready(Ok(taken)),
                }
            }
            // Taken, and written when the socket is ready: as under any TLS, what was not flushed is lost with the tunnel.
            Poll::Ready(Ok(())) | Poll::Pending => Poll::Ready(Ok(length)),
        }
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = &mut *self;
        this.transport
            .poll_write(cx, &mut this.outbox, Instant::now())
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        ready!(self.as_mut().poll_flush(cx))?;
        self.transport.poll_shutdown(cx)
    }
}

/// Bytes of one write.
const PIECE_BYTES_MAX: usize = 64 * 1024;

/// The protocol of an extended CONNECT (`:protocol`, RFC 8441 section 4 and RFC 9220): an extension
/// of its request. The bodies of request and response are the tunnel.
///
/// A client that gives a request of the method CONNECT this extension sends an extended CONNECT for
/// the request's URL, over HTTP/2 or HTTP/3, once the server has said that it takes them. A request
/// body that streams ([`Body::channel`](crate::Body::channel)) keeps our side of the tunnel open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protocol(Box<str>);

impl Protocol {
    /// The protocol of this name, `connect-udp` for example. A name that cannot be sent is an error
    /// of the request that carries it.
    pub fn new(name: &str) -> Self {
        Self(name.into())
    }
    /// Its name, for example `websocket`.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
