//! Bodies of requests and responses: empty, whole, streamed through a pipe with back-pressure, or
//! any `http_body::Body`.
//!
//! The reader's end of a connection's pipe reports the bytes it has taken; the connection grants
//! the peer that much again. An unread body stalls its own stream and no other.

mod begun;
mod convert;
#[cfg(feature = "fs")]
mod file;
pub(crate) mod header_map;
mod inlet;
mod read;
#[cfg(feature = "client")]
mod rewindable;
#[cfg(feature = "websocket")]
mod sender;
mod stream;
pub(crate) mod window;

pub(crate) use inlet::Inlet;
pub use stream::BodyStream;

use crate::body::begun::Begun;
use crate::body::convert::Foreign;
#[cfg(feature = "client")]
use crate::body::rewindable::Rewindable;
use crate::body::window::WindowHandle;
use crate::driver::signals::Signals;
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::Bytes;
use http::{HeaderMap, Uri};
use http_body::{Frame, SizeHint};
use std::collections::VecDeque;
use std::error;
use std::fmt;
use std::future::poll_fn;
use std::mem;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use trunkline_core::http::StreamId;

/// Bytes that a [`BodySender`] may be ahead of the connection before `send` waits.
const CHANNEL_BYTES_MAX: usize = 64 * 1024;

/// A request's or a response's body. Empty and whole bodies allocate nothing.
#[derive(Default)]
pub struct Body {
    kind: Kind,
    /// Client: where the body of a response came from.
    url: Option<Arc<Uri>>,
}

#[derive(Default)]
enum Kind {
    #[default]
    Empty,
    Whole(Bytes),
    Pipe(Reader),
    /// Behind a lock that is never contended, so that a body is `Sync`.
    Foreign(Mutex<ForeignBody>),
    /// Its first frame was read ahead.
    Begun(Box<Begun>),
    /// Its first bytes are kept.
    #[cfg(feature = "client")]
    Rewindable(Box<Rewindable>),
}

type ForeignBody = Pin<Box<dyn http_body::Body<Data = Bytes, Error = Error> + Send>>;

impl Body {
    fn of(kind: Kind) -> Self {
        Self { kind, url: None }
    }
    /// No bytes, no trailers.
    pub fn empty() -> Self {
        Self::of(Kind::Empty)
    }
    /// A body that is all there.
    pub fn full(bytes: impl Into<Bytes>) -> Self {
        let bytes = bytes.into();
        if bytes.is_empty() {
            return Self::empty();
        }
        Self::of(Kind::Whole(bytes))
    }
    /// A body that is sent piece by piece. Dropping the sender without
    /// [`finish`](BodySender::finish) is an error on the reader's side, never a short body.
    pub fn channel() -> (BodySender, Self) {
        let pipe = Arc::new(Pipe::default());
        let reader = Reader {
            pipe: Arc::clone(&pipe),
            source: None,
            left: None,
            is_withheld: false,
        };
        (BodySender { pipe }, Self::of(Kind::Pipe(reader)))
    }
    /// Any other body. Bytes of a `Body` and of a `String` that are all there stay so, and those of a body that says its
    /// exact length and gives them in one frame (`http_body_util::Full`, axum's bodies of bytes): a client can send them again.
    pub fn wrap<B>(body: B) -> Self
    where
        B: http_body::Body + Send + 'static,
        B::Error: Into<Box<dyn error::Error + Send + Sync>>,
    {
        if let Some(bytes) = convert::all_there(&body) {
            return Self::full(bytes);
        }
        Self::of(Kind::Foreign(Mutex::new(Box::pin(Foreign(Box::pin(body))))))
    }
    /// The receive windows of a body that comes over a connection; `None` for any other body, and
    /// for a small one that came whole with its head.
    pub fn window(&self) -> Option<WindowHandle> {
        match &self.kind {
            Kind::Pipe(reader) => {
                let (signals, stream) = reader.source.as_ref()?;
                Some(WindowHandle::new(signals, *stream))
            }
            _ => None,
        }
    }
    /// Client: the URL that the body came from, as [`ResponseExt::url`](crate::client::ResponseExt::url) has it.
    pub(crate) fn url(&self) -> Option<&Uri> {
        self.url.as_deref()
    }
    /// Names the URL that the body came from; its errors have it.
    #[cfg(feature = "client")]
    pub(crate) fn set_url(&mut self, url: Uri) {
        self.url = Some(Arc::new(url));
    }
    /// The bytes of a body that is all there.
    pub(crate) fn whole(&self) -> Option<Bytes> {
        match &self.kind {
            Kind::Whole(bytes) => Some(bytes.clone()),
            _ => None,
        }
    }
    /// Whether all of its bytes are there.
    pub(crate) fn is_whole(&self) -> bool {
        matches!(self.kind, Kind::Whole(_))
    }
    /// A body of ours, whose errors are given out as they are.
    #[cfg(any(feature = "decompression", feature = "tonic"))]
    pub(crate) fn of_ours<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes, Error = Error> + Send + 'static,
    {
        Self::of(Kind::Foreign(Mutex::new(Box::pin(body))))
    }
    /// The bytes of a body that can be sent again; `None`: it streams.
    pub(crate) fn repeatable(&self) -> Option<Bytes> {
        match &self.kind {
            Kind::Empty => Some(Bytes::new()),
            _ => self.whole(),
        }
    }
    /// A body that a connection receives.
    pub(crate) fn incoming(
        signals: &Arc<Signals>,
        stream: StreamId,
        length: Option<u64>,
    ) -> (Inlet, Self) {
        let pipe = Arc::new(Pipe::default());
        let reader = Reader {
            pipe: Arc::clone(&pipe),
            source: Some((Arc::clone(signals), stream)),
            left: length,
            is_withheld: false,
        };
        (Inlet { pipe }, Self::of(Kind::Pipe(reader)))
    }
    /// The peer sends it once it is asked: the connection gets a note when a reader waits.
    #[cfg(feature = "server")]
    pub(crate) fn withheld(mut self) -> Self {
        if let Kind::Pipe(reader) = &mut self.kind {
            reader.is_withheld = true;
        }
        self
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = match &mut self.kind {
            Kind::Empty => Poll::Ready(None),
            Kind::Whole(bytes) => {
                let bytes = mem::take(bytes);
                self.kind = Kind::Empty;
                Poll::Ready(Some(Ok(Frame::data(bytes))))
            }
            Kind::Pipe(reader) => reader.poll_frame(cx),
            Kind::Foreign(body) => {
                let body = body.get_mut().unwrap_or_else(PoisonError::into_inner);
                body.as_mut().poll_frame(cx)
            }
            Kind::Begun(begun) => {
                let first = begun.first.take();
                *self = mem::take(&mut begun.rest);
                Poll::Ready(first)
            }
            #[cfg(feature = "client")]
            Kind::Rewindable(kept) => kept.poll_frame(cx),
        };
        match (frame, self.url.as_deref()) {
            (Poll::Ready(Some(Err(error))), Some(url)) => {
                Poll::Ready(Some(Err(error.with_url(url))))
            }
            (frame, _) => frame,
        }
    }
    fn is_end_stream(&self) -> bool {
        match &self.kind {
            Kind::Empty => true,
            Kind::Whole(_) => false,
            Kind::Pipe(reader) => reader.is_at_end(),
            Kind::Foreign(body) => lock(body).is_end_stream(),
            Kind::Begun(_) => false,
            #[cfg(feature = "client")]
            Kind::Rewindable(kept) => kept.is_end_stream(),
        }
    }
    fn size_hint(&self) -> SizeHint {
        match &self.kind {
            Kind::Empty => SizeHint::with_exact(0),
            Kind::Whole(bytes) => SizeHint::with_exact(bytes.len() as u64),
            Kind::Pipe(reader) => reader
                .left
                .map_or_else(SizeHint::default, SizeHint::with_exact),
            Kind::Foreign(body) => lock(body).size_hint(),
            Kind::Begun(begun) => begun.hint,
            #[cfg(feature = "client")]
            Kind::Rewindable(kept) => kept.size_hint(),
        }
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match &self.kind {
            Kind::Empty => "empty",
            Kind::Whole(_) => "whole",
            Kind::Pipe(_) => "pipe",
            Kind::Foreign(_) => "foreign",
            Kind::Begun(_) => "begun",
            #[cfg(feature = "client")]
            Kind::Rewindable(_) => "rewindable",
        };
        f.debug_tuple("Body").field(&kind).finish()
    }
}

/// Feeds a body made with [`Body::channel`].
#[derive(Debug)]
pub struct BodySender {
    pipe: Arc<Pipe>,
}

impl BodySender {
    /// Adds bytes; waits while the connection is more than 64 KiB behind.
    ///
    /// # Errors
    /// When the other end is gone: the exchange ended or the body was dropped.
    pub async fn send(&mut self, bytes: impl Into<Bytes>) -> Result<(), Error> {
        let mut bytes = bytes.into();
        poll_fn(|cx| self.pipe.poll_put(cx, &mut bytes)).await
    }
    /// Ends the body.
    pub fn finish(self) {
        self.pipe.finish(None);
    }
    /// Ends the body with trailers.
    pub fn finish_with(self, trailers: HeaderMap) {
        self.pipe.finish(Some(trailers));
    }
    /// Ends the body as failed: the exchange is reset.
    pub fn fail(self, source: impl Into<Box<dyn error::Error + Send + Sync>>) {
        self.pipe.fail(
            Error::new(ErrorKind::Body, Fault::Us, Retry::OnlyIfIdempotent).with_source(source),
        );
    }
}

impl Drop for BodySender {
    fn drop(&mut self) {
        self.pipe.fail(Error::cancelled(
            "the body's sender was dropped before its end",
        ));
    }
}

/// Chunks on their way from one task to another.
#[derive(Debug, Default)]
struct Pipe {
    state: Mutex<PipeState>,
}

#[derive(Debug, Default)]
struct PipeState {
    chunks: VecDeque<Bytes>,
    /// Bytes in `chunks`; counted only for a [`BodySender`].
    held: usize,
    trailers: Option<HeaderMap>,
    ended: bool,
    error: Option<Error>,
    reader: Option<Waker>,
    writer: Option<Waker>,
    reader_gone: bool,
}

impl PipeState {
    fn wake_reader(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

impl Pipe {
    fn poll_put(&self, cx: &mut Context<'_>, bytes: &mut Bytes) -> Poll<Result<(), Error>> {
        let mut state = self.lock();
        if state.reader_gone {
            return Poll::Ready(Err(Error::cancelled("the body is not read any more")));
        }
        if state.held >= CHANNEL_BYTES_MAX {
            state.writer = Some(cx.waker().clone());
            return Poll::Pending;
        }
        if !bytes.is_empty() {
            state.held += bytes.len();
            state.chunks.push_back(mem::take(bytes));
            state.wake_reader();
        }
        Poll::Ready(Ok(()))
    }
    fn finish(&self, trailers: Option<HeaderMap>) {
        let mut state = self.lock();
        if !state.ended && state.error.is_none() {
            state.ended = true;
            state.trailers = trailers;
            state.wake_reader();
        }
    }
    fn fail(&self, error: Error) {
        let mut state = self.lock();
        if !state.ended && state.error.is_none() {
            state.error = Some(error);
            state.ended = true;
            state.wake_reader();
        }
    }
    fn lock(&self) -> MutexGuard<'_, PipeState> {
        lock(&self.state)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A foreign body that panics under its lock is broken for its reader alone.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The reading end of a pipe.
struct Reader {
    pipe: Arc<Pipe>,
    /// The connection to report taken bytes to.
    source: Option<(Arc<Signals>, StreamId)>,
    /// Bytes still to come, where the length is known.
    left: Option<u64>,
    /// The peer waits to be asked for it.
    is_withheld: bool,
}

impl Reader {
    fn poll_frame(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let mut state = self.pipe.lock();
        if let Some(chunk) = state.chunks.pop_front() {
            state.held = state.held.saturating_sub(chunk.len());
            if let Some(writer) = state.writer.take() {
                writer.wake();
            }
            drop(state);
            if let Some(left) = &mut self.left {
                *left = left.saturating_sub(chunk.len() as u64);
            }
            if let Some((signals, stream)) = &self.source {
                signals.taken(*stream, chunk.len());
            }
            return Poll::Ready(Some(Ok(Frame::data(chunk))));
        }
        if let Some(error) = state.error.take() {
            return Poll::Ready(Some(Err(error)));
        }
        if let Some(trailers) = state.trailers.take() {
            return Poll::Ready(Some(Ok(Frame::trailers(trailers))));
        }
        if state.ended {
            return Poll::Ready(None);
        }
        match &mut state.reader {
            Some(reader) => reader.clone_from(cx.waker()),
            none => *none = Some(cx.waker().clone()),
        }
        drop(state);
        if mem::take(&mut self.is_withheld)
            && let Some((signals, stream)) = &self.source
        {
            signals.wanted(*stream);
        }
        Poll::Pending
    }
    fn is_at_end(&self) -> bool {
        let state = self.pipe.lock();
        state.ended && state.chunks.is_empty() && state.trailers.is_none() && state.error.is_none()
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        let mut state = self.pipe.lock();
        state.reader_gone = true;
        if let Some(writer) = state.writer.take() {
            writer.wake();
        }
        let unread: usize = state.chunks.drain(..).map(|chunk| chunk.len()).sum();
        let ended = state.ended;
        drop(state);
        if let Some((signals, stream)) = &self.source {
            signals.taken(*stream, unread);
            if !ended {
                signals.dropped(*stream);
            }
        }
    }
}

#[cfg(test)]
#[path = "body_test.rs"]
mod body_test;
