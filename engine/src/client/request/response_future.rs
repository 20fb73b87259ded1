//! The future of a response: one exchange, or several where redirects are followed and requests are sent
//! again.

use super::follow_up::FollowUp;
use super::trace::RequestSpan;
use crate::body::Body;
use crate::client::dispatch::Dispatch;
use crate::client::dispatch::exchange_future::ExchangeFuture;
use crate::error::Error;
use http::Response;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use trunkline_core::pool::WaitReason;

/// The response to come. Its first poll sends the request, and has to be within a tokio runtime. Dropping it takes the request
/// out of its line, or resets the exchange.
#[must_use = "the response comes by awaiting this; dropping it cancels the request"]
#[derive(Debug)]
pub struct ResponseFuture {
    current: ExchangeFuture,
    follow_up: Option<Box<FollowUp>>,
    span: RequestSpan,
}

impl ResponseFuture {
    pub(super) fn new(
        current: ExchangeFuture,
        follow_up: Option<Box<FollowUp>>,
        span: RequestSpan,
    ) -> Self {
        Self {
            current,
            follow_up,
            span,
        }
    }
    /// One that has failed before it began.
    pub(super) fn failed(dispatch: Arc<Dispatch>, error: Error) -> Self {
        let current = ExchangeFuture::failed(dispatch, error);
        Self::new(current, None, RequestSpan::none())
    }
    /// Why the request waits now; `None`: it is on a connection, or has ended, or nothing has polled it yet, or it pauses
    /// before it is sent again.
    pub fn wait_reason(&self) -> Option<WaitReason> {
        self.current.wait_reason()
    }
}

impl Future for ResponseFuture {
    type Output = Result<Response<Body>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let _entered = this.span.enter();
        let outcome = ready!(poll_outcome(
            &mut this.current,
            this.follow_up.as_deref_mut(),
            cx
        ));
        this.span.record(&outcome);
        Poll::Ready(outcome)
    }
}

/// The outcome of the last exchange.
fn poll_outcome(
    current: &mut ExchangeFuture,
    follow_up: Option<&mut FollowUp>,
    cx: &mut Context<'_>,
) -> Poll<Result<Response<Body>, Error>> {
    let Some(follow_up) = follow_up else {
        return Pin::new(current).poll(cx);
    };
    loop {
        if follow_up.is_waiting() {
            let outcome = ready!(Pin::new(&mut *current).poll(cx));
            let policies = &current.dispatch().settings.policies;
            if let Some(outcome) = follow_up.decide(policies, outcome) {
                return Poll::Ready(outcome);
            }
        }
        match ready!(follow_up.poll_next(current.dispatch(), cx)) {
            Ok(next) => *current = next,
            Err(error) => return Poll::Ready(Err(error)),
        }
    }
}
