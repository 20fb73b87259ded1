//! A body whose first frame was awaited, or was there already.

use super::{Body, Kind};
use crate::error::Error;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
#[cfg(feature = "client")]
use {std::task::Waker, tokio::runtime::Handle};

/// The frame that was read, and the rest.
pub(super) struct Begun {
    pub(super) first: Option<Result<Frame<Bytes>, Error>>,
    pub(super) rest: Body,
    /// The size of `first` and `rest` together.
    pub(super) hint: SizeHint,
}

impl Body {
    /// Waits for the first frame, and keeps it. A body that ends without one is empty from then on.
    pub(crate) fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if matches!(self.kind, Kind::Empty | Kind::Whole(_) | Kind::Begun(_)) {
            return Poll::Ready(());
        }
        let hint = self.size_hint();
        let Poll::Ready(first) = Pin::new(&mut *self).poll_frame(cx) else {
            return Poll::Pending;
        };
        let rest = mem::take(self);
        if first.is_some() {
            self.kind = Kind::Begun(Box::new(Begun { first, rest, hint }));
        }
        Poll::Ready(())
    }
    /// The body behind a piece of it that was taken.
    #[cfg(feature = "blocking")]
    pub(crate) fn behind(self, piece: Bytes) -> Self {
        if piece.is_empty() {
            return self;
        }
        let length = self.size_hint().exact();
        let length = length.map(|length| length + piece.len() as u64);
        let hint = length.map_or_else(SizeHint::default, SizeHint::with_exact);
        let (first, url) = (Some(Ok(Frame::data(piece))), self.url.clone());
        let rest = self;
        Self {
            kind: Kind::Begun(Box::new(Begun { first, rest, hint })),
            url,
        }
    }
    /// Makes a body of another crate whole that says its exact length and has all of it at hand in one frame (`Full`,
    /// axum's of bytes or a text): so can a client send it again. It is in memory, so it needs no bound.
    ///
    /// Bodies over files and timers can be polled within a runtime alone; outside of one nothing is.
    #[cfg(feature = "client")]
    pub(crate) fn settle(&mut self) {
        if !matches!(self.kind, Kind::Foreign(_)) || Handle::try_current().is_err() {
            return;
        }
        let hint = self.size_hint();
        let Some(length) = hint.exact() else {
            return;
        };
        let mut cx = Context::from_waker(Waker::noop());
        let Poll::Ready(first) = Pin::new(&mut *self).poll_frame(&mut cx) else {
            return;
        };
        let is_over = self.is_end_stream();
        let first = match first.map(|first| first.map(Frame::into_data)) {
            Some(Ok(Ok(bytes))) if is_over && bytes.len() as u64 == length => {
                *self = Self::full(bytes);
                return;
            }
            // A frame that contradicts the length is found where it is sent.
            Some(Ok(Ok(bytes))) => Some(Ok(Frame::data(bytes))),
            Some(Ok(Err(frame))) => Some(Ok(frame)),
            Some(Err(error)) => Some(Err(error)),
            None => None,
        };
        let rest = mem::take(self);
        self.kind = Kind::Begun(Box::new(Begun { first, rest, hint }));
    }
}
