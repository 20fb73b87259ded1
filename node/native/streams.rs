//! JavaScript streams as transports: bytes from a `Duplex` are submissions, bytes for it are
//! completions. `node/src/channel/streams.ts` is the other end, and `channel/shared/stream_table.rs` holds the bytes on
//! their way.

use crate::channel::codes::{BY_REFERENCE_BYTES_MIN, completion};
use crate::channel::lock;
use crate::channel::ring::Entry;
use crate::channel::shared::Shared;
use crate::channel::shared::stream_table::{End, StreamState};
use crate::failure::OwnFailure;
use bytes::Bytes;
use serde::Deserialize;
use std::io::{self, IoSlice};
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use trunkline::ByteStream;

/// The engine's end of a stream.
pub(crate) struct ScriptStream {
    number: u32,
    state: Arc<Mutex<StreamState>>,
    shared: Weak<Shared>,
    finished: bool,
}

impl ScriptStream {
    /// Makes the end of the stream that JavaScript has given this number.
    fn new(shared: &Arc<Shared>, number: u32) -> Self {
        Self {
            number,
            state: shared.streams.open(number),
            shared: Arc::downgrade(shared),
            finished: false,
        }
    }
    fn complete(&self, entry: Entry) {
        if let Some(shared) = self.shared.upgrade() {
            shared.complete(entry, &[], &[]);
        }
    }
    fn failure(&self) -> io::Error {
        io::Error::other(OwnFailure::Stream(self.number))
    }
}

impl AsyncRead for ScriptStream {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let mut state = lock(&self.state);
        if !state.read(buffer) {
            return match state.end {
                Some(End::InOrder) => Poll::Ready(Ok(())),
                Some(End::Failed) => Poll::Ready(Err(self.failure())),
                None => {
                    state.reader = Some(cx.waker().clone());
                    Poll::Pending
                }
            };
        }
        let taken = state.due();
        drop(state);
        if let Some(taken) = taken {
            self.complete(completion::stream_taken(self.number, taken as u32));
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for ScriptStream {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(bytes)])
    }
    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let room = {
            let mut state = lock(&self.state);
            if state.refuses {
                return Poll::Ready(Err(self.failure()));
            }
            let wanted = slices.iter().map(|slice| slice.len()).sum();
            let Some(room) = state.reserve(wanted) else {
                state.writer = Some(cx.waker().clone());
                return Poll::Pending;
            };
            room
        };
        let gathered;
        let bytes: &[u8] = match slices {
            [whole] => &whole[..room],
            _ => {
                gathered = gather(slices, room);
                &gathered
            }
        };
        let Some(shared) = self.shared.upgrade() else {
            return Poll::Ready(Err(io::ErrorKind::NotConnected.into()));
        };
        let entry = |body| completion::stream_write(self.number, body);
        if bytes.len() < BY_REFERENCE_BYTES_MIN {
            shared.complete(entry(0), bytes, &[]);
        } else {
            shared.complete_body(entry, Bytes::copy_from_slice(bytes));
        }
        Poll::Ready(Ok(room))
    }
    fn is_write_vectored(&self) -> bool {
        true
    }
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
    fn poll_shutdown(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        if !mem::replace(&mut self.finished, true) {
            self.complete(completion::stream_finish(self.number));
        }
        Poll::Ready(Ok(()))
    }
}

impl Drop for ScriptStream {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.streams.remove(self.number);
        }
        self.complete(completion::stream_dropped(self.number));
    }
}

/// The first `length` bytes of all slices, in one piece.
fn gather(slices: &[IoSlice<'_>], length: usize) -> Vec<u8> {
    let mut gathered = Vec::with_capacity(length);
    for slice in slices {
        let room = length - gathered.len();
        gathered.extend_from_slice(&slice[..slice.len().min(room)]);
    }
    gathered
}

/// A stream as JavaScript describes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct StreamAsk {
    /// JavaScript's number, which it never gives again while the stream is open.
    number: u32,
    /// The remote address, if it has addresses.
    remote: Option<SocketAddress>,
    local: Option<SocketAddress>,
    /// HTTP/2 by prior knowledge.
    #[serde(default)]
    http2: bool,
    /// The parameters of its TLS, if it is under TLS.
    tls: Option<StreamTlsAsk>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SocketAddress {
    address: String,
    port: u16,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct StreamTlsAsk {
    is_tls12: bool,
    server_name: Option<String>,
    alpn: Option<String>,
}

impl SocketAddress {
    /// `None`: a name, or an address with a zone, which no address of the engine's has.
    fn address(&self) -> Option<SocketAddr> {
        let ip: IpAddr = self.address.parse().ok()?;
        Some(SocketAddr::new(ip, self.port))
    }
}

impl StreamAsk {
    /// The transport over it, from here on.
    pub(crate) fn attach(&self, shared: &Arc<Shared>) -> ByteStream {
        let stream = ScriptStream::new(shared, self.number);
        let mut stream = ByteStream::new(stream)
            .http2(self.http2)
            .tag(self.number.into());
        let ends = self.remote.as_ref().zip(self.local.as_ref());
        if let Some((remote, local)) = ends
            && let Some((remote, local)) = remote.address().zip(local.address())
        {
            stream = stream.between(remote, local);
        }
        if let Some(tls) = &self.tls {
            let alpn = tls.alpn.as_deref().map(str::as_bytes);
            stream = stream.secured(tls.is_tls12, tls.server_name.as_deref(), alpn);
        }
        stream
    }
}
