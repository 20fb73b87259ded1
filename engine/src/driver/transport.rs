//! A socket with or without TLS: bytes of HTTP in and out. Five verbs (handshake, read, write,
//! is_flushed, shutdown), so that another record layer can replace rustls.
//!
//! rustls is driven by hand: a socket read goes into the thread's shared buffer, from there
//! through `read_tls` in slices, and plaintext is handed on in place. Outgoing bytes are sealed
//! into full records across streams, then go out in one `write_tls` (a writev). rustls's own
//! buffer limit is off; the bound is that a batch is sealed only when the last one is written.

pub(crate) mod cleartext;
pub(crate) mod client_hello;
pub(crate) mod drain;
mod last_alert;
pub(crate) mod old_hello;
mod pieces;
mod refused_bytes;
mod socket;
mod tls;
#[cfg(not(feature = "http3"))]
pub(crate) mod without_quic;

use super::read_buffer::with_read_buffer;
use crate::connection_info::TlsInfo;
use crate::connection_info::traffic::Traffic;
use last_alert::last_alert;
use rustls::pki_types::CertificateDer;
use rustls::{AlertDescription, Connection, ProtocolVersion};
use socket::poll_socket_read;
use std::future::poll_fn;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tls::{COLD_BYTES, TlsState};
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt};
use trunkline_core::error::TransportEnd;
use trunkline_core::wire::Outbox;

/// Plaintext sealed for one write: a hundred small answers and then some. More would only wait
/// in the socket's buffer, behind which a fresh decision on priorities comes too late.
pub(super) const BATCH_BYTES_MAX: usize = 128 * 1024;
/// Bytes of one write that has large bodies in it: with its records it fits one packet of segmentation
/// offload (64 KiB with headers). A little more costs the kernel a second one for the rest, and twice the
/// time; much more is no longer near when the peer reads it.
const BODY_BATCH_BYTES_MAX: usize = 60 * 1024;
/// Plaintext of a full record (RFC 8446 section 5.1).
pub(crate) const RECORD_BYTES: usize = 16 * 1024;
/// Slices per write: a batch with large bodies has a few of them at most.
pub(super) const SLICES_MAX: usize = 32;

/// A socket, perhaps under TLS.
pub(crate) struct Transport<S> {
    socket: S,
    tls: Option<Box<TlsState>>,
    /// Cleartext of the peer that was read in front of this layer, and is given by the next read.
    #[allow(
        clippy::box_collection,
        reason = "one connection in many has any, and every idle one would hold the room"
    )]
    first: Option<Box<Vec<u8>>>,
    /// Where bytes of HTTP are counted.
    traffic: Option<Traffic>,
    /// The socket took bytes since someone asked.
    progress: bool,
    /// Without TLS: the socket may hold what was written until it is flushed.
    is_unflushed: bool,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Transport<S> {
    /// Cleartext.
    pub(crate) fn plain(socket: S) -> Self {
        Self {
            socket,
            tls: None,
            first: None,
            traffic: None,
            progress: false,
            is_unflushed: false,
        }
    }
    /// TLS over `socket`, either side; the handshake is still to be driven.
    pub(crate) fn tls(socket: S, mut connection: Connection) -> Self {
        connection.set_buffer_limit(None);
        let tls = TlsState {
            connection,
            early: Vec::new(),
            has_early: true,
            failed: false,
            ended: false,
            cold_left: COLD_BYTES,
            wrote_at: None,
            sealed: 0,
            is_unflushed: false,
            close_sent: false,
        };
        Self {
            socket,
            tls: Some(Box::new(tls)),
            first: None,
            traffic: None,
            progress: false,
            is_unflushed: false,
        }
    }
    /// Counts the bytes of HTTP from here on.
    pub(crate) fn count(&mut self, traffic: Option<Traffic>) {
        self.traffic = traffic;
    }
    /// The bytes counted so far, where they are.
    pub(crate) fn traffic(&self) -> Option<&Traffic> {
        self.traffic.as_ref()
    }
    /// As [`new`](Self::new), where the peer has already sent `bytes`.
    pub(crate) fn with_first(mut self, bytes: Vec<u8>) -> Self {
        match &mut self.tls {
            Some(tls) => tls.early = bytes,
            None if bytes.is_empty() => {}
            None => self.first = Some(Box::new(bytes)),
        }
        self
    }
    /// The protocol that ALPN chose.
    pub(crate) fn alpn(&self) -> Option<&[u8]> {
        self.tls.as_ref()?.connection.alpn_protocol()
    }
    /// The parameters of the handshake. `asked`: the host that our side requested, if it is a
    /// client.
    pub(crate) fn tls_info(&self, asked: Option<&str>) -> Option<TlsInfo> {
        let connection = &self.tls.as_ref()?.connection;
        let name = match connection {
            Connection::Server(connection) => connection.server_name(),
            Connection::Client(_) => asked,
        };
        let alpn = connection.alpn_protocol();
        let suite = connection.negotiated_cipher_suite();
        let info = TlsInfo::new(connection.protocol_version()?, name, alpn);
        let info = info.with_cipher_suite(suite.map(|suite| suite.suite()));
        Some(info.with_handshake_kind(connection.handshake_kind()))
    }
    /// The peer's certificate chain, its own certificate first.
    pub(crate) fn peer_certificates(&self) -> &[CertificateDer<'static>] {
        let displayed = self
            .tls
            .as_ref()
            .map(|tls| tls.connection.peer_certificates());
        displayed.flatten().unwrap_or_default()
    }
    /// Whether there is no TLS: bytes go to the socket as they are.
    pub(crate) fn is_cleartext(&self) -> bool {
        self.tls.is_none()
    }
    /// Whether its handshake agreed on TLS 1.2.
    pub(crate) fn is_tls12(&self) -> bool {
        let version = |tls: &TlsState| tls.connection.protocol_version();
        self.tls.as_deref().and_then(version) == Some(ProtocolVersion::TLSv1_2)
    }
    /// The socket.
    pub(crate) fn socket(&self) -> &S {
        &self.socket
    }
    /// Drives the handshake; at once ready without TLS. On an error the alert was offered to
    /// the socket.
    pub(crate) fn poll_handshake(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, tls, .. } = self;
        let Some(tls) = tls else {
            return Poll::Ready(Ok(()));
        };
        loop {
            if !tls.connection.is_handshaking() {
                // Messages that rustls still has to send (tickets) go out with our first bytes.
                return Poll::Ready(Ok(()));
            }
            // Reading goes on while the socket takes nothing: the peer may be in the middle of its
            // own flight, and would wait for us to read as we for it (TLS 1.3 has the client say
            // change_cipher_spec there, RFC 8446 appendix D.4).
            if let Poll::Ready(Err(error)) = tls.poll_flush(socket, cx, &mut false) {
                return Poll::Ready(Err(error));
            }
            let read = if tls.early.is_empty() {
                with_read_buffer(|buffer| {
                    let bytes = ready!(poll_socket_read(socket, cx, buffer))?;
                    Poll::Ready(tls.handshake_bytes(bytes).map(|()| !bytes.is_empty()))
                })
            } else {
                let first = std::mem::take(&mut tls.early);
                Poll::Ready(tls.handshake_bytes(&first).map(|()| true))
            };
            match ready!(read) {
                Ok(true) => {}
                Ok(false) => return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into())),
                Err(error) => {
                    let _ = tls.poll_flush(socket, cx, &mut false);
                    return Poll::Ready(Err(error));
                }
            }
        }
    }
    /// A server: whether the client's ClientHello has come; always without TLS.
    #[cfg(feature = "server")]
    pub(crate) fn has_hello(&self) -> bool {
        let tls = self.tls.as_ref();
        tls.is_none_or(|tls| tls.connection.negotiated_cipher_suite().is_some())
    }
    /// Reads the socket once into `buffer` and gives what comes out to `sink`. `Ok(Some(end))`: the
    /// peer's bytes ended, in order or ragged. `Ok(None)` may have given nothing (half a record). An
    /// error comes behind what was whole before it.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
        sink: &mut impl FnMut(&[u8]),
    ) -> Poll<io::Result<Option<TransportEnd>>> {
        let Self {
            socket,
            tls,
            first,
            traffic,
            ..
        } = self;
        let sink = &mut |bytes: &[u8]| {
            if let Some(traffic) = traffic {
                traffic.add_read(bytes.len());
            }
            sink(bytes);
        };
        let Some(tls) = tls else {
            if let Some(bytes) = first.take() {
                sink(&bytes);
                return Poll::Ready(Ok(None));
            }
            let bytes = ready!(poll_socket_read(socket, cx, buffer))?;
            if bytes.is_empty() {
                return Poll::Ready(Ok(Some(TransportEnd::InOrder)));
            }
            sink(bytes);
            return Poll::Ready(Ok(None));
        };
        if tls.ended {
            // The next owner of the connection reads it too.
            return Poll::Ready(Ok(Some(TransportEnd::InOrder)));
        }
        if tls.has_early {
            tls.has_early = false;
            let early = std::mem::take(&mut tls.early);
            return Poll::Ready(tls.open(&early, sink));
        }
        let bytes = ready!(poll_socket_read(socket, cx, buffer))?;
        if bytes.is_empty() {
            return Poll::Ready(Ok(Some(TransportEnd::Ragged)));
        }
        Poll::Ready(tls.open(bytes, sink))
    }
    /// Seals `outbox` ahead of a write, so that what the machine gives next goes into the same
    /// system call. False: without TLS, or enough is sealed; [`poll_write`](Self::poll_write) is
    /// due.
    pub(crate) fn gather(&mut self, outbox: &mut Outbox, now: Instant) -> io::Result<bool> {
        let Self { tls, traffic, .. } = self;
        match tls {
            Some(tls) if tls.sealed < batch_bytes_max(outbox) => {
                tls.seal(outbox, now, traffic.as_ref()).map(|()| true)
            }
            _ => Ok(false),
        }
    }
    /// Seals as much of `outbox` as fills whole records; nothing without TLS, nor on a cold
    /// connection, whose records are small.
    pub(crate) fn seal_records(&mut self, outbox: &mut Outbox, now: Instant) {
        if let Some(tls) = &mut self.tls
            && outbox.len() >= RECORD_BYTES
        {
            // A failure here comes again when the rest is sealed.
            let _ = tls.seal_records(outbox, now, self.traffic.as_ref());
        }
    }
    /// Writes `outbox` and what TLS has to say; advances the outbox by what it took. `Ready(Ok)`:
    /// all of it is with the socket.
    pub(crate) fn poll_write(
        &mut self,
        cx: &mut Context<'_>,
        outbox: &mut Outbox,
        now: Instant,
    ) -> Poll<io::Result<()>> {
        let Self {
            socket,
            tls,
            traffic,
            progress,
            is_unflushed,
            ..
        } = self;
        let Some(tls) = tls else {
            while !outbox.is_empty() {
                let socket = Pin::new(&mut *socket);
                let written = match outbox.whole() {
                    // Cheaper than one slice, in the kernel too.
                    Some(bytes) => ready!(socket.poll_write(cx, bytes))?,
                    None => {
                        let mut slices = [IoSlice::new(&[]); SLICES_MAX];
                        let filled = outbox.slices(&mut slices, BODY_BATCH_BYTES_MAX);
                        ready!(socket.poll_write_vectored(cx, &slices[..filled]))?
                    }
                };
                if written == 0 {
                    return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
                }
                *progress = true;
                *is_unflushed = true;
                count_written(traffic.as_ref(), written);
                outbox.advance(written);
            }
            return poll_flush_socket(socket, cx, is_unflushed);
        };
        loop {
            ready!(tls.poll_flush(socket, cx, progress))?;
            if outbox.is_empty() {
                return Poll::Ready(Ok(()));
            }
            tls.seal(outbox, now, traffic.as_ref())?;
        }
    }
    /// Whether the layer holds nothing that waits for the socket.
    pub(crate) fn is_flushed(&self) -> bool {
        match &self.tls {
            Some(tls) => !tls.connection.wants_write() && !tls.is_unflushed,
            None => !self.is_unflushed,
        }
    }
    /// Whether the socket took bytes since the last call.
    pub(crate) fn take_progress(&mut self) -> bool {
        std::mem::take(&mut self.progress)
    }
    /// Whether an alert waits that gives the peer the reason of the refusal.
    pub(crate) fn has_alert(&self) -> bool {
        self.tls
            .as_ref()
            .is_some_and(|tls| tls.failed && tls.connection.wants_write())
    }
    /// Whether the peer said close_notify.
    pub(crate) fn has_close_notify(&self) -> bool {
        self.tls.as_ref().is_some_and(|tls| tls.ended)
    }
    /// Says close_notify, then closes the socket's write side.
    pub(crate) fn poll_shutdown(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Self { socket, tls, .. } = self;
        if let Some(tls) = tls {
            if !tls.close_sent {
                tls.close_sent = true;
                tls.connection.send_close_notify();
            }
            ready!(tls.poll_flush(socket, cx, &mut false))?;
        }
        Pin::new(socket).poll_shutdown(cx)
    }
    /// Ends a session whose handshake was fine by TLS, before its first byte, with `alert`, and closes
    /// the socket's write side. The configuration must let keys be extracted.
    pub(crate) async fn refuse(&mut self, alert: AlertDescription) -> io::Result<()> {
        if let Some(mut tls) = self.tls.take() {
            let socket = &mut self.socket;
            poll_fn(|cx| tls.poll_flush(socket, cx, &mut false)).await?;
            if let Some(record) = last_alert(tls.connection, alert) {
                self.socket.write_all(&record).await?;
            }
        }
        self.socket.shutdown().await
    }
    /// Ends a handshake of which nothing is encrypted yet with `bytes`, and closes the socket's write side.
    #[cfg(feature = "server")]
    pub(crate) async fn refuse_in_cleartext(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.tls = None;
        self.socket.write_all(bytes).await?;
        self.socket.shutdown().await
    }
    /// Reads and drops what still comes, until the peer ends: a socket closed with unread bytes
    /// resets the connection and may take our last words with it. `came` is set where bytes came.
    pub(crate) fn poll_discard(&mut self, cx: &mut Context<'_>, came: &mut bool) -> Poll<()> {
        loop {
            let read = with_read_buffer(|buffer| {
                poll_socket_read(&mut self.socket, cx, buffer)
                    .map(|read| read.map(|bytes| bytes.len()))
            });
            match ready!(read) {
                Ok(0) | Err(_) => return Poll::Ready(()),
                Ok(_) => *came = true,
            }
        }
    }
}

/// Makes a stream that buffers hand on what was written; a socket has it already.
fn poll_flush_socket<S: AsyncWrite + Unpin>(
    socket: &mut S,
    cx: &mut Context<'_>,
    is_unflushed: &mut bool,
) -> Poll<io::Result<()>> {
    if *is_unflushed {
        ready!(Pin::new(socket).poll_flush(cx))?;
        *is_unflushed = false;
    }
    Poll::Ready(Ok(()))
}

pub(super) fn count_written(traffic: Option<&Traffic>, bytes: usize) {
    if let Some(traffic) = traffic {
        traffic.add_written(bytes);
    }
}

/// Large bodies are what does not lie in one piece.
pub(super) fn batch_bytes_max(outbox: &Outbox) -> usize {
    match outbox.whole() {
        Some(_) => BATCH_BYTES_MAX,
        None => BODY_BATCH_BYTES_MAX,
    }
}

#[cfg(test)]
#[path = "transport_test.rs"]
mod transport_test;
