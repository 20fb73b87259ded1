//! A body whose first frame was awaited.

use super::{Body, Kind};
use crate::error::Error;
use bytes::Bytes;
use http_body::Frame;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};

/// The frame that was read, and the rest.
pub(super) struct Begun {
    pub(super) first: Option<Result<Frame<Bytes>, Error>>,
    pub(super) rest: Body,
}

impl Body {
    /// Waits for the first frame, and keeps it. A body that ends without one is empty from then on.
    pub(crate) fn poll_begin(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if matches!(self.kind, Kind::Empty | Kind::Whole(_) | Kind::Begun(_)) {
            return Poll::Ready(());
        }
        let Poll::Ready(first) = http_body::Body::poll_frame(Pin::new(&mut *self), cx) else {
            return Poll::Pending;
        };
        let rest = mem::take(self);
        if first.is_some() {
            self.kind = Kind::Begun(Box::new(Begun { first, rest }));
        }
        Poll::Ready(())
    }
}
