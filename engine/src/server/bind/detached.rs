//! Servers without a listening socket: the program passes them their connections.

use super::target::{IntoListener, ListenTarget};
use crate::connection_info::ConnectionInfo;
use crate::error::Error;
use crate::net::byte_stream::ByteStream;
use crate::net::listener::Listener;
use crate::net::stream_source::StreamSource;
use crate::server::{BoundServer, Server};
use futures_core::Stream;
use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// A server that listens nowhere.
#[derive(Clone, Copy, Debug)]
pub struct Detached;

/// Servers that listen nowhere.
impl Server<Detached> {
    /// A server for the streams that [`ServerHandle::serve_stream`](crate::server::ServerHandle::serve_stream) gives it.
    /// Cleartext, default settings.
    pub fn detached() -> Self {
        Self::at(Detached)
    }
    /// Prepares the server for [`BoundServer::serve_callbacks`].
    ///
    /// # Errors
    /// When a setting is out of its range.
    pub fn listen(self) -> Result<BoundServer<Detached>, Error> {
        let (place, server) = self.parted();
        server.ready(place, vec![Listener::None], None)
    }
}

/// Connections that a program opens itself, for [`serve`](crate::serve): pipes in memory, sockets with a TLS that is not ours, the
/// streams of another protocol. They come as the items of a stream, as tonic's `serve_with_incoming` takes them.
///
/// An item is anything that is read and written, or a [`ByteStream`], which also says what is known about the connection. HTTP/2 is
/// found out by the first bytes of each, and under [`ServeBuilder::tls`](crate::ServeBuilder::tls) by its handshake. A failed item is passed over. Behind
/// the last item the server serves the connections that it has until it is stopped.
///
/// For handlers the peer is the [`ConnectionInfo`] of the connection: a type of the program's own takes it as axum's
/// `Connected<ConnectionInfo>`.
///
/// ```
/// use axum::{Router, routing::get};
/// use futures_util::stream;
/// use tokio::io::{AsyncReadExt, AsyncWriteExt};
/// use trunkline::server::Streams;
///
/// # #[tokio::main]
/// # async fn main() -> std::io::Result<()> {
/// let router = Router::new().route("/", get(async || "hello"));
/// let (mut client, server) = tokio::io::duplex(1024);
/// let connections = Streams::new(stream::iter([std::io::Result::Ok(server)]));
/// tokio::spawn(trunkline::serve(connections, router).into_future());
///
/// client.write_all(b"GET / HTTP/1.1\r\nhost: memory\r\nconnection: close\r\n\r\n").await?;
/// let mut answer = String::new();
/// client.read_to_string(&mut answer).await?;
/// assert!(answer.ends_with("hello"));
/// # Ok(())
/// # }
/// ```
pub struct Streams(StreamSource);

impl Streams {
    /// The connections that `source` gives; the errors of items are for the program to note.
    pub fn new<S, T, E>(source: S) -> Self
    where
        S: Stream<Item = Result<T, E>> + Send + 'static,
        T: Into<ByteStream>,
        E: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        let source = Box::pin(source);
        Self(StreamSource::new(Box::pin(Connections { source })))
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Streams").finish_non_exhaustive()
    }
}

/// The items as the server has them.
struct Connections<S> {
    source: Pin<Box<S>>,
}

impl<S, T, E> Stream for Connections<S>
where
    S: Stream<Item = Result<T, E>>,
    T: Into<ByteStream>,
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Item = io::Result<ByteStream>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let next = ready!(self.source.as_mut().poll_next(cx));
        Poll::Ready(next.map(|item| item.map(Into::into).map_err(|error| failure(error.into()))))
    }
}

/// An error of the system, behind which a server pauses, or one of a single connection.
fn failure(error: Box<dyn std::error::Error + Send + Sync>) -> io::Error {
    match error.downcast::<io::Error>() {
        Ok(error) if error.raw_os_error().is_some() => *error,
        Ok(error) => io::Error::new(io::ErrorKind::ConnectionAborted, error),
        Err(error) => io::Error::new(io::ErrorKind::ConnectionAborted, error),
    }
}

impl IntoListener for Streams {
    type Target = Self;

    fn into_target(self) -> Self {
        self
    }
}

impl ListenTarget for Streams {
    type Address = ();
    type Peer = ConnectionInfo;

    /// One worker takes them, whatever `workers` says.
    fn open(server: Server<Self>, _: usize) -> Result<BoundServer<()>, Error> {
        let (Self(source), server) = server.parted();
        server.ready((), vec![Listener::Streams(source)], None)
    }
    fn local_addr(&self) -> io::Result<()> {
        Ok(())
    }
}
