//! An upgrade of hyper's: a connection of hyper's server in memory, whose client is the relay to the peer.

use http::{Request, Response, StatusCode};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::OnUpgrade as HyperUpgrade;
use hyper_util::rt::TokioIo;
use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf};
use tokio::sync::oneshot;

/// Bytes that wait in memory between the peer and the service, each way.
pub(super) const PIPE_BYTES: usize = 64 * 1024;
/// Bytes of the head that hyper's server answers with, at most.
const HEAD_BYTES_MAX: usize = 1024;

/// The request that hyper's server makes an upgrade of.
const ASK: &[u8] =
    b"GET / HTTP/1.1\r\nhost: upgrade\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n";

/// An upgrade of hyper's, and the end of its bytes that belongs to the peer.
pub(super) async fn open() -> io::Result<(HyperUpgrade, PeerEnd)> {
    let (near, mut pipe) = tokio::io::duplex(PIPE_BYTES);
    let failure = PeerFailure::default();
    let near = Near {
        pipe: near,
        failure: failure.clone(),
    };
    let (offer, offered) = oneshot::channel();
    let (switch, switched) = oneshot::channel();
    let once = Mutex::new(Some((offer, switched)));
    let answer = service_fn(move |mut request: Request<Incoming>| {
        let once = once.lock().unwrap_or_else(PoisonError::into_inner).take();
        async move {
            let (offer, switched) = once.ok_or(io::ErrorKind::ConnectionAborted)?;
            // A caller that is gone drops the other end too.
            let _ = offer.send(hyper::upgrade::on(&mut request));
            // An error ends the connection, and the upgrade with it.
            let switched: Result<(), _> = switched.await;
            switched.map_err(|_| io::ErrorKind::ConnectionAborted)?;
            let mut response = Response::new(String::new());
            *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
            Ok::<_, io::Error>(response)
        }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(near), answer);
    tokio::spawn(connection.with_upgrades());
    pipe.write_all(ASK).await?;
    let offered = offered.await.map_err(io::Error::other)?;
    let far = Far { pipe, failure };
    Ok((offered, PeerEnd { far, switch }))
}

/// The peer's end of an upgrade whose response is not there yet. The upgrade fails when it is dropped.
pub(super) struct PeerEnd {
    far: Far,
    switch: oneshot::Sender<()>,
}

impl PeerEnd {
    /// Lets the upgrade succeed.
    ///
    /// # Errors
    /// When the connection in memory has ended.
    pub(super) async fn opened(self) -> io::Result<Far> {
        let Self { mut far, switch } = self;
        // A connection that is gone has closed the pipe.
        let _ = switch.send(());
        let mut last = [0; 4];
        for _ in 0..HEAD_BYTES_MAX {
            last.rotate_left(1);
            last[3] = far.pipe.read_u8().await?;
            if last == *b"\r\n\r\n" {
                return Ok(far);
            }
        }
        Err(io::ErrorKind::InvalidData.into())
    }
}

/// The relay's end of an upgrade: what the service writes comes out of it, and what goes in the service reads.
pub(super) struct Far {
    pipe: DuplexStream,
    failure: PeerFailure,
}

impl Far {
    /// The bytes, and where to say how they failed before they end.
    pub(super) fn parted(self) -> (DuplexStream, PeerFailure) {
        (self.pipe, self.failure)
    }
}

/// The error in which the peer's bytes end, if they do not end in order.
#[derive(Clone, Default)]
pub(super) struct PeerFailure(Arc<Mutex<Option<io::Error>>>);

impl PeerFailure {
    /// Turns the end that the service reads next into this error.
    pub(super) fn set(&self, error: io::Error) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
    }
    /// The error, which stays.
    fn get(&self) -> Option<io::Error> {
        let mut failure = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let again = failure.as_ref()?.kind().into();
        failure.replace(again)
    }
}

/// The service's end.
struct Near {
    pipe: DuplexStream,
    failure: PeerFailure,
}

impl AsyncRead for Near {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let left = buffer.remaining();
        ready!(Pin::new(&mut self.pipe).poll_read(cx, buffer))?;
        let is_end = left > 0 && buffer.remaining() == left;
        let failure = is_end.then(|| self.failure.get()).flatten();
        Poll::Ready(failure.map_or(Ok(()), Err))
    }
}

impl AsyncWrite for Near {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.pipe).poll_write(cx, bytes)
    }
    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_flush(cx)
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.pipe).poll_shutdown(cx)
    }
}
