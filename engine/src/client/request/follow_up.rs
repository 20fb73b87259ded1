//! Exchanges that follow from a response: the target of a redirect, or the same request once more.

use super::{RequestExtensions, exchange_of};
use crate::body::Body;
use crate::client::dispatch::exchange_future::ExchangeFuture;
use crate::client::dispatch::{Dispatch, random};
use crate::client::settings::policy::redirect::{RedirectPolicy, Redirected};
use crate::client::settings::policy::{Added, Policies};
use crate::config::within;
use crate::driver::timer::{Sleep, sleep, sleep_until};
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::Bytes;
use http::header::COOKIE;
use http::request::Parts;
use http::{Response, Uri};
use http_body::Body as _;
use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

/// The URL that a response came from, among its extensions where redirects were followed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResponseUrl(pub Uri);

/// A request that may be followed by others, and how far it is.
pub(super) struct FollowUp {
    parts: Parts,
    /// `None`: it streams, and cannot be sent again.
    body: Option<Bytes>,
    extra: RequestExtensions,
    added: Added,
    /// The URLs that were requested; empty before the first redirect.
    previous: Vec<Uri>,
    repeated: u32,
    stage: Stage,
}

enum Stage {
    /// For the response of the exchange that is on its way.
    Waiting,
    /// For the end of a response that nothing reads, so that its connection can be used again.
    Discarding(Discarding),
    /// For the time to send the request again.
    Pausing(Pin<Box<Sleep>>),
}

struct Discarding {
    body: Body,
    left: usize,
    until: Pin<Box<Sleep>>,
    pause: Duration,
}

/// Bytes of an unread body that are taken to keep its connection; a longer one is reset.
const DISCARDED_BYTES_MAX: usize = 64 * 1024;
/// How long that may take.
const DISCARDING_TIME_MAX: Duration = Duration::from_secs(1);

impl FollowUp {
    /// For a request that has just been sent.
    pub(super) fn new(
        parts: Parts,
        body: Option<Bytes>,
        extra: RequestExtensions,
        added: Added,
    ) -> Self {
        Self {
            parts,
            body,
            extra,
            added,
            previous: Vec::new(),
            repeated: 0,
            stage: Stage::Waiting,
        }
    }
    /// Whether an exchange is on its way.
    pub(super) fn is_waiting(&self) -> bool {
        matches!(self.stage, Stage::Waiting)
    }
    /// Takes the outcome of an exchange. `Some`: it is the request's. `None`: another one follows
    /// ([`poll_next`](Self::poll_next)).
    pub(super) fn decide(
        &mut self,
        policies: &Policies,
        outcome: Result<Response<Body>, Error>,
    ) -> Option<Result<Response<Body>, Error>> {
        if let Ok(response) = &outcome {
            policies.keep_cookies(&self.parts.uri, response);
        }
        if let Some(pause) = self.pause_before_repetition(policies, &outcome) {
            self.repeated += 1;
            self.leave(outcome.ok(), pause);
            return None;
        }
        let mut response = match outcome {
            Ok(response) => response,
            Err(error) => return Some(Err(error.with_url(&self.parts.uri))),
        };
        match self.redirected(&policies.redirects, &response) {
            Err(error) => return Some(Err(error.with_url(&self.parts.uri))),
            Ok(Some(redirected)) => {
                if self.added.cookie {
                    self.parts.headers.remove(COOKIE);
                }
                if !redirected.apply(&mut self.parts) {
                    self.body = Some(Bytes::new());
                }
                self.repeated = 0;
                self.leave(Some(response), Duration::ZERO);
                return None;
            }
            Ok(None) => {}
        }
        if !self.previous.is_empty() {
            let url = ResponseUrl(self.parts.uri.clone());
            response.extensions_mut().insert(url);
        }
        let mut response = policies.decompress(&self.parts.method, response);
        // Nothing follows: the request is not needed any more.
        response.body_mut().set_url(mem::take(&mut self.parts.uri));
        Some(Ok(response))
    }
    /// The exchange that follows.
    pub(super) fn poll_next(
        &mut self,
        dispatch: &Arc<Dispatch>,
        cx: &mut Context<'_>,
    ) -> Poll<Result<ExchangeFuture, Error>> {
        if let Some(until) = self.extra.total_until
            && until <= Instant::now()
        {
            return Poll::Ready(Err(past_deadline().with_url(&self.parts.uri)));
        }
        if let Stage::Discarding(discarding) = &mut self.stage {
            ready!(discarding.poll(cx));
            let pause = discarding.pause;
            self.stage = Stage::Pausing(self.sleep(pause));
        }
        if let Stage::Pausing(sleep) = &mut self.stage {
            ready!(sleep.as_mut().poll(cx));
            self.stage = Stage::Waiting;
        }
        if let Some(until) = self.extra.total_until
            && until <= Instant::now()
        {
            return Poll::Ready(Err(past_deadline().with_url(&self.parts.uri)));
        }
        let policies = &dispatch.settings.policies;
        if self.added.cookie {
            self.parts.headers.remove(COOKIE);
        }
        self.added = policies.add_cookies(&mut self.parts);
        let body = Body::full(self.body.clone().unwrap_or_default());
        let next = exchange_of(dispatch, &self.parts, body, &self.extra);
        Poll::Ready(next.map_err(|error| error.with_url(&self.parts.uri)))
    }

    fn pause_before_repetition(
        &self,
        policies: &Policies,
        outcome: &Result<Response<Body>, Error>,
    ) -> Option<Duration> {
        let retries = policies.retries.as_ref()?;
        self.body.as_ref()?;
        let now = Instant::now();
        retries.pause(&self.parts.method, outcome, self.repeated, random(), now)
    }
    fn redirected(
        &mut self,
        policy: &RedirectPolicy,
        response: &Response<Body>,
    ) -> Result<Option<Redirected>, Error> {
        if !response.status().is_redirection() || !policy.follows() {
            return Ok(None);
        }
        self.previous.push(self.parts.uri.clone());
        let answer = (response.status(), response.headers());
        let found = Redirected::of(
            policy,
            &self.parts,
            &self.previous,
            answer,
            self.body.is_some(),
        );
        if !matches!(found, Ok(Some(_))) {
            self.previous.pop();
        }
        found
    }
    /// Goes on from a response that nothing reads.
    fn leave(&mut self, response: Option<Response<Body>>, pause: Duration) {
        let body = response.map(Response::into_body);
        self.stage = match body.filter(|body| !body.is_end_stream()) {
            None => Stage::Pausing(self.sleep(pause)),
            Some(body) => Stage::Discarding(Discarding {
                body,
                left: DISCARDED_BYTES_MAX,
                until: Box::pin(sleep(DISCARDING_TIME_MAX)),
                pause,
            }),
        };
    }
    /// A pause that ends with the request's time at the latest.
    fn sleep(&self, pause: Duration) -> Pin<Box<Sleep>> {
        let wanted = Instant::now() + within(pause);
        let until = self.extra.total_until.map_or(wanted, |end| end.min(wanted));
        Box::pin(sleep_until(until.into()))
    }
}

fn past_deadline() -> Error {
    Error::new(ErrorKind::Timeout, Fault::Peer, Retry::OnlyIfIdempotent)
        .with_text("the request's total time has passed, between two exchanges")
}

impl Discarding {
    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        while self.until.as_mut().poll(cx).is_pending() {
            match ready!(Pin::new(&mut self.body).poll_frame(cx)) {
                Some(Ok(frame)) => {
                    let bytes = frame.data_ref().map_or(0, Bytes::len);
                    match self.left.checked_sub(bytes) {
                        Some(left) => self.left = left,
                        None => break,
                    }
                }
                Some(Err(_)) | None => break,
            }
        }
        self.body = Body::empty();
        Poll::Ready(())
    }
}

impl fmt::Debug for FollowUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FollowUp")
            .field("method", &self.parts.method)
            .field("uri", &self.parts.uri)
            .finish_non_exhaustive()
    }
}
