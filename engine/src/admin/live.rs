//! The state as server-sent events, one a second, each made when its reader has taken the one before.

use super::LIVE_READERS_MAX;
use crate::driver::timer;
use bytes::Bytes;
use http_body::Frame;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Between two events.
const INTERVAL: Duration = Duration::from_secs(1);

/// A permit for each reader that there may be.
#[derive(Debug)]
pub(super) struct Readers(Arc<Semaphore>);

impl Default for Readers {
    fn default() -> Self {
        Self(Arc::new(Semaphore::new(LIVE_READERS_MAX)))
    }
}

/// A state to come.
pub(super) type StateFuture = Pin<Box<dyn Future<Output = Bytes> + Send>>;
type MakeState = Box<dyn Fn() -> StateFuture + Send>;

/// A body without an end.
pub(super) struct Live {
    state: MakeState,
    next: StateFuture,
    _permit: OwnedSemaphorePermit,
}

impl Live {
    /// `None`: there are as many readers as may be.
    pub(super) fn new(readers: &Readers, state: MakeState) -> Option<Self> {
        Some(Self {
            _permit: Arc::clone(&readers.0).try_acquire_owned().ok()?,
            next: event(state(), Duration::ZERO),
            state,
        })
    }
}

fn event(state: StateFuture, after: Duration) -> StateFuture {
    Box::pin(async move {
        timer::sleep(after).await;
        // JSON has no line end outside of its texts, where it is escaped.
        let mut event = b"data: ".to_vec();
        event.extend_from_slice(&state.await);
        event.extend_from_slice(b"\n\n");
        Bytes::from(event)
    })
}

impl http_body::Body for Live {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let bytes = ready!(self.next.as_mut().poll(cx));
        self.next = event((self.state)(), INTERVAL);
        Poll::Ready(Some(Ok(Frame::data(bytes))))
    }
}
