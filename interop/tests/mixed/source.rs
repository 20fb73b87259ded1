//! A body by its plan, of requests and answers.

use crate::content;
use crate::plan::{BodyPlan, End, Pace};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue};
use http_body::{Body, Frame, SizeHint};
use std::any::Any;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Sleep;

/// Pieces with a pause ahead of them, of a slow body.
const PAUSES_MAX: usize = 12;
pub(crate) const PAUSE: Duration = Duration::from_millis(2);
pub(crate) const TRAILER: &str = "x-sum";

/// A body under way.
pub(crate) struct Source {
    plan: BodyPlan,
    content: u64,
    at: usize,
    pieces: usize,
    is_paced: bool,
    sleep: Option<Pin<Box<Sleep>>>,
    is_over: bool,
    /// Its end waits for this.
    until: Option<oneshot::Receiver<()>>,
    /// Dropped with it.
    _held: Option<Box<dyn Any + Send>>,
}

impl Source {
    pub(crate) fn new(content: u64, plan: &BodyPlan) -> Self {
        Self {
            plan: plan.clone(),
            content,
            at: 0,
            pieces: 0,
            is_paced: false,
            sleep: None,
            is_over: false,
            until: None,
            _held: None,
        }
    }
    pub(crate) fn holding(mut self, held: impl Any + Send) -> Self {
        self._held = Some(Box::new((self._held.take(), held)));
        self
    }
    pub(crate) fn until(mut self, until: oneshot::Receiver<()>) -> Self {
        self.until = Some(until);
        self
    }
    /// Waits as the plan says, once for each piece.
    fn poll_pace(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(sleep) = &mut self.sleep {
            ready!(sleep.as_mut().poll(cx));
            self.sleep = None;
        }
        if self.is_paced {
            return Poll::Ready(());
        }
        self.is_paced = true;
        match self.plan.pace {
            Pace::Yields => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
            Pace::Slow if self.pieces < PAUSES_MAX => {
                let sleep = self.sleep.insert(Box::pin(tokio::time::sleep(PAUSE)));
                ready!(sleep.as_mut().poll(cx));
                self.sleep = None;
                Poll::Ready(())
            }
            _ => Poll::Ready(()),
        }
    }
    fn end(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if let Some(until) = &mut self.until {
            // Its sender may be dropped: that ends the wait too.
            let _ = ready!(Pin::new(until).poll(cx));
            self.until = None;
        }
        self.is_over = true;
        Poll::Ready(match self.plan.end {
            End::Trailers => Some(Ok(Frame::trailers(trailers(self.content)))),
            End::Fails(_) => Some(Err(io::Error::other("the plan says so"))),
            End::Whole => None,
        })
    }
}

/// The trailers of the body `content`.
pub(crate) fn trailers(content: u64) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert(TRAILER, HeaderValue::from(content));
    trailers
}

impl Body for Source {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        if self.is_over {
            return Poll::Ready(None);
        }
        ready!(self.poll_pace(cx));
        let until = match self.plan.end {
            End::Fails(at) => at,
            _ => self.plan.length,
        };
        let length = self.plan.piece.min(until - self.at);
        if length == 0 {
            return self.end(cx);
        }
        let piece = content::bytes_of(self.content, self.at, length);
        self.at += length;
        self.pieces += 1;
        self.is_paced = false;
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }
    fn is_end_stream(&self) -> bool {
        let is_at_end = self.at == self.plan.length && self.plan.end == End::Whole;
        self.is_over || self.plan.knows_end && is_at_end && self.until.is_none()
    }
    fn size_hint(&self) -> SizeHint {
        match self.plan.is_declared {
            true => SizeHint::with_exact((self.plan.length - self.at) as u64),
            false => SizeHint::default(),
        }
    }
}
