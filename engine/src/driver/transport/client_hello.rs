//! A socket whose TLS ClientHello has been read and not answered, so that the TLS settings can
//! still be chosen.

use super::Transport;
use super::old_hello::{OldHello, PROTOCOL_VERSION_ALERT};
use super::refused_bytes::refused_by_tls;
use super::socket::poll_socket_read;
use crate::driver::read_buffer::with_read_buffer;
use rustls::ServerConfig;
use rustls::server::{Accepted, AcceptedAlert, Acceptor, ClientHello};
use std::future::poll_fn;
use std::io;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use trunkline_core::limits::HELLO_AHEAD_BYTES_MAX;

/// See the module.
pub(crate) struct PeekedHello<S> {
    socket: S,
    accepted: Accepted,
    /// Bytes received behind the ClientHello.
    behind: Vec<u8>,
}

/// A client with whom nothing is agreed on.
pub(crate) struct Refused<S> {
    pub(crate) error: io::Error,
    /// The transport that carried the alert; `None`: it is gone.
    pub(crate) alerted: Option<Transport<S>>,
}

impl<S> From<io::Error> for Refused<S> {
    fn from(error: io::Error) -> Self {
        Self {
            error,
            alerted: None,
        }
    }
}

/// Why there is no message.
enum HelloError {
    Broken(io::Error),
    /// The bytes are no ClientHello; the alert to send.
    Refused(io::Error, AcceptedAlert),
}

impl<S: AsyncRead + AsyncWrite + Unpin> PeekedHello<S> {
    /// Reads a client's first message. A client that sends anything else gets its alert.
    ///
    /// # Errors
    /// The client left, or what came is no such message.
    pub(crate) async fn read(mut socket: S) -> Result<Self, Refused<S>> {
        let mut acceptor = Acceptor::default();
        let received = poll_fn(|cx| poll_hello(&mut socket, &mut acceptor, cx)).await;
        match received {
            Ok((accepted, behind)) => Ok(Self {
                socket,
                accepted,
                behind,
            }),
            Err(HelloError::Broken(error)) => Err(error.into()),
            Err(HelloError::Refused(error, alert)) => Err(refuse(socket, error, alert).await),
        }
    }
    pub(crate) fn hello(&self) -> ClientHello<'_> {
        self.accepted.client_hello()
    }
    /// Waits for `work`, which is dropped when the client leaves meanwhile.
    ///
    /// # Errors
    /// The client left.
    pub(crate) async fn wait_for<R>(&mut self, work: impl Future<Output = R>) -> io::Result<R> {
        let mut work = pin!(work);
        let (socket, behind) = (&mut self.socket, &mut self.behind);
        poll_fn(|cx| {
            if let Poll::Ready(done) = work.as_mut().poll(cx) {
                return Poll::Ready(Ok(done));
            }
            while behind.len() < HELLO_AHEAD_BYTES_MAX {
                ready!(with_read_buffer(|buffer| {
                    let room = HELLO_AHEAD_BYTES_MAX - behind.len();
                    let room = room.min(buffer.len());
                    let bytes = ready!(poll_socket_read(socket, cx, &mut buffer[..room]))?;
                    behind.extend_from_slice(bytes);
                    Poll::Ready(unless_over(bytes))
                }))?;
            }
            Poll::Pending
        })
        .await
    }
    /// The handshake goes on with `config`.
    ///
    /// # Errors
    /// The negotiation failed; the client got an alert.
    pub(crate) async fn go_on(self, config: Arc<ServerConfig>) -> Result<Transport<S>, Refused<S>> {
        match self.accepted.into_connection(config) {
            Ok(connection) => {
                let transport = Transport::tls(self.socket, connection.into());
                Ok(transport.with_first(self.behind))
            }
            Err((error, alert)) => {
                let error = io::Error::new(io::ErrorKind::InvalidData, error);
                Err(refuse(self.socket, error, alert).await)
            }
        }
    }
    /// Ends the handshake with an alert. Nothing is encrypted yet (RFC 8446 section 6).
    pub(crate) async fn refuse(self, alert: u8, error: io::Error) -> Refused<S> {
        const ALERT: u8 = 21;
        const FATAL: u8 = 2;
        send_last(self.socket, &[ALERT, 3, 3, 0, 2, FATAL, alert], error).await
    }
}

type HelloResult = Result<(Accepted, Vec<u8>), HelloError>;

fn poll_hello<S: AsyncRead + Unpin>(
    socket: &mut S,
    acceptor: &mut Acceptor,
    cx: &mut Context<'_>,
) -> Poll<HelloResult> {
    loop {
        let received = with_read_buffer(|buffer| {
            let bytes = match ready!(poll_socket_read(socket, cx, buffer)) {
                Ok(bytes) => bytes,
                Err(error) => return Poll::Ready(Some(Err(HelloError::Broken(error)))),
            };
            Poll::Ready(match unless_over(bytes) {
                Ok(()) => read_hello_bytes(acceptor, bytes),
                Err(error) => Some(Err(HelloError::Broken(error))),
            })
        });
        if let Some(received) = ready!(received) {
            return Poll::Ready(received);
        }
    }
}

/// `None`: the message is not whole yet.
fn read_hello_bytes(acceptor: &mut Acceptor, mut bytes: &[u8]) -> Option<HelloResult> {
    while !bytes.is_empty() {
        let given = bytes;
        if let Err(error) = acceptor.read_tls(&mut bytes) {
            return Some(Err(HelloError::Broken(error)));
        }
        match acceptor.accept() {
            Ok(None) => {}
            Ok(Some(accepted)) => return Some(Ok((accepted, bytes.to_vec()))),
            Err((error, alert)) => {
                let error = refused_by_tls(given, error);
                return Some(Err(HelloError::Refused(error, alert)));
            }
        }
    }
    None
}

/// No bytes are the end.
fn unless_over(bytes: &[u8]) -> io::Result<()> {
    match bytes {
        [] => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

async fn refuse<S: AsyncRead + AsyncWrite + Unpin>(
    socket: S,
    error: io::Error,
    mut alert: AcceptedAlert,
) -> Refused<S> {
    if OldHello::is_in(&error) {
        return send_last(socket, &PROTOCOL_VERSION_ALERT, error).await;
    }
    let mut bytes = Vec::new();
    // Writing to a Vec does not fail.
    let _ = alert.write_all(&mut bytes);
    send_last(socket, &bytes, error).await
}

/// Says `bytes` and no more.
async fn send_last<S: AsyncRead + AsyncWrite + Unpin>(
    mut socket: S,
    bytes: &[u8],
    error: io::Error,
) -> Refused<S> {
    let sent = match socket.write_all(bytes).await {
        Ok(()) => socket.shutdown().await,
        broken => broken,
    };
    // A peer that has left needs no alert.
    let alerted = sent.ok().map(|()| Transport::plain(socket));
    Refused { error, alerted }
}

#[cfg(test)]
#[path = "client_hello_test.rs"]
mod client_hello_test;
