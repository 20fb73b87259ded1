//! The future of one exchange's response.

use super::Dispatch;
use crate::body::Body;
use crate::client::exchange::{Exchange, Outgoing};
use crate::error::Error;
use http::Response;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Instant;
use trunkline_core::pool::WaitReason;

/// The response to come. The request is sent at the first poll. Dropping it takes the request out of its line, or resets the exchange.
#[must_use = "the response comes by awaiting this; dropping it cancels the request"]
#[derive(Debug)]
pub(in crate::client) struct ExchangeFuture {
    dispatch: Arc<Dispatch>,
    exchange: Arc<Exchange>,
    /// A request before the first poll, behind a lock that is never contended: so the future is `Sync`.
    unsent: Mutex<Option<Box<Outgoing>>>,
    done: bool,
}

impl ExchangeFuture {
    /// Holds `request` until the first poll, which is within a runtime: `runtime.block_on(client.get(url).send())`.
    pub(in crate::client) fn new(dispatch: Arc<Dispatch>, request: Box<Outgoing>) -> Self {
        Self {
            dispatch,
            exchange: Arc::clone(&request.exchange),
            unsent: Mutex::new(Some(request)),
            done: false,
        }
    }
    /// One that has failed before it began.
    pub(in crate::client) fn failed(dispatch: Arc<Dispatch>, error: Error) -> Self {
        let exchange = Arc::new(Exchange::default());
        exchange.complete(Err(error));
        Self {
            dispatch,
            exchange,
            unsent: Mutex::default(),
            done: false,
        }
    }
    /// The client's pool and settings.
    pub(in crate::client) fn dispatch(&self) -> &Arc<Dispatch> {
        &self.dispatch
    }
    /// Why the request waits now; `None`: it is on a connection, or has ended.
    pub(in crate::client) fn wait_reason(&self) -> Option<WaitReason> {
        self.dispatch.why_waits(&self.exchange)
    }
}

impl Future for ExchangeFuture {
    type Output = Result<Response<Body>, Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let unsent = self.unsent.get_mut();
        if let Some(mut request) = unsent.unwrap_or_else(PoisonError::into_inner).take() {
            let now = Instant::now();
            request.begin(now);
            self.dispatch.submit(now, request);
        }
        let outcome = self.exchange.poll_outcome(cx);
        self.done |= outcome.is_ready();
        outcome
    }
}

impl Drop for ExchangeFuture {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        self.dispatch.abandon(&self.exchange);
    }
}
