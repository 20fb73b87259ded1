//! JavaScript streams as transports: bytes from a `Duplex` are submissions, bytes for it are
//! completions. `node/src/channel/streams.ts` is the other end.
//!
//! Each direction has a window of bytes that the other side has not taken, so that a stream holds bounded
//! memory: JavaScript stops reading its `Duplex` at [`STREAM_UNREAD_BYTES_MAX`], and the engine writes nothing
//! more at [`OUTBOUND_BYTES_MAX`] until the `Duplex` has called back.

use crate::channel::codes::{BY_REFERENCE_BYTES_MIN, STREAM_UNREAD_BYTES_MAX, completion};
use crate::channel::ring::Entry;
use crate::environment::{Shared, lock};
use crate::failure::OwnFailure;
use bytes::{Buf, Bytes};
use serde::Deserialize;
use std::collections::{HashMap, VecDeque};
use std::io::{self, IoSlice};
use std::mem;
use std::net::{IpAddr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::task::{Context, Poll, Waker};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use trunkline::ByteStream;

/// Bytes for a `Duplex` that it has not taken. The connection's own outbox holds what is more, which has
/// this bound too.
pub(crate) const OUTBOUND_BYTES_MAX: usize = 256 * 1024;
/// Bytes taken of which JavaScript learns in one completion: a quarter of the window, so that it never
/// waits for an engine that reads.
const TAKEN_BYTES_MIN: usize = STREAM_UNREAD_BYTES_MAX / 4;

/// The streams of one environment, by their numbers.
#[derive(Default)]
pub(crate) struct Streams {
    open: Mutex<HashMap<u32, Arc<Mutex<State>>>>,
    /// A `mark` was read, and the engine has not rested since.
    marked: AtomicBool,
}

impl Streams {
    fn get(&self, number: u32) -> Option<Arc<Mutex<State>>> {
        lock(&self.open).get(&number).cloned()
    }
    /// A `mark` was read.
    pub(crate) fn mark(&self) {
        self.marked.store(true, Ordering::Relaxed);
    }
    /// The completion that is due when the engine comes to rest.
    pub(crate) fn rested(&self) -> Option<Entry> {
        let marked = self.marked.swap(false, Ordering::Relaxed);
        marked.then(|| completion::rested(0))
    }
    /// Bytes of the stream have come.
    pub(crate) fn push(&self, number: u32, bytes: Bytes) {
        self.change(number, |state| {
            state.inbound.push_back(bytes);
            state.reader.take()
        });
    }
    /// No more come.
    pub(crate) fn end(&self, number: u32, end: End) {
        self.change(number, |state| {
            // Bytes that came before a failure are read first, and an end in order stays one.
            state.end.get_or_insert(end);
            if end == End::Failed {
                state.refuses = true;
                wake(state.writer.take());
            }
            state.reader.take()
        });
    }
    /// The stream has taken bytes.
    pub(crate) fn take(&self, number: u32, bytes: usize) {
        self.change(number, |state| {
            state.outbound = state.outbound.saturating_sub(bytes);
            state.writer.take()
        });
    }
    fn change(&self, number: u32, change: impl FnOnce(&mut State) -> Option<Waker>) {
        // A stream that the engine has dropped needs no wait.
        if let Some(state) = self.get(number) {
            let waker = change(&mut lock(&state));
            wake(waker);
        }
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// How the bytes of a stream ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum End {
    InOrder,
    Failed,
}

#[derive(Default)]
struct State {
    inbound: VecDeque<Bytes>,
    end: Option<End>,
    /// It takes no bytes any more.
    refuses: bool,
    /// Bytes read since JavaScript learned of some.
    taken: usize,
    /// Bytes that the stream has not taken.
    outbound: usize,
    reader: Option<Waker>,
    writer: Option<Waker>,
}

impl State {
    /// Moves bytes that have come into `buffer`; false: there are none.
    fn read(&mut self, buffer: &mut ReadBuf<'_>) -> bool {
        let before = buffer.remaining();
        while buffer.remaining() > 0
            && let Some(first) = self.inbound.front_mut()
        {
            let length = first.len().min(buffer.remaining());
            buffer.put_slice(&first[..length]);
            first.advance(length);
            if first.is_empty() {
                self.inbound.pop_front();
            }
        }
        let read = before - buffer.remaining();
        self.taken += read;
        read > 0
    }
    /// The bytes read that JavaScript is to learn of now.
    fn due(&mut self) -> Option<usize> {
        (self.taken >= TAKEN_BYTES_MIN).then(|| mem::take(&mut self.taken))
    }
    /// How many of `wanted` bytes may be written now, and are taken for written; `None`: none.
    fn reserve(&mut self, wanted: usize) -> Option<usize> {
        let room = OUTBOUND_BYTES_MAX.saturating_sub(self.outbound).min(wanted);
        self.outbound += room;
        (room > 0).then_some(room)
    }
}

/// The engine's end of a stream.
pub(crate) struct ScriptStream {
    number: u32,
    state: Arc<Mutex<State>>,
    shared: Weak<Shared>,
    finished: bool,
}

impl ScriptStream {
    /// Makes the end of the stream that JavaScript has given this number.
    fn new(shared: &Arc<Shared>, number: u32) -> Self {
        let state = Arc::<Mutex<State>>::default();
        lock(&shared.streams.open).insert(number, Arc::clone(&state));
        Self {
            number,
            state,
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
            lock(&shared.streams.open).remove(&self.number);
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

#[cfg(test)]
#[path = "streams_test.rs"]
mod streams_test;
