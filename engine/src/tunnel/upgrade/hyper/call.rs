//! One call of a service that may upgrade. It is `Send` where the service and its future are.

use super::pair::{self, PeerEnd};
use super::{Either, Target, WEBSOCKET};
use crate::body::Body;
use http::{Request, Response};
use hyper::upgrade::OnUpgrade as HyperUpgrade;
use pin_project_lite::pin_project;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower_service::Service;

type Agreement = Pin<Box<dyn Future<Output = io::Result<(HyperUpgrade, PeerEnd)>> + Send>>;

/// A request that may be upgraded, and what it waits for.
struct Preparing<S> {
    service: S,
    request: Request<Body>,
    target: Target,
    agreement: Agreement,
}

pin_project! {
    /// A call of a [`ForHyper`](super::ForHyper) under way.
    pub struct ForHyperCall<S, F> {
        #[pin]
        stage: Stage<S, F>,
    }
}

pin_project! {
    #[project = StageProjection]
    enum Stage<S, F> {
        /// Before the service is called.
        Preparing { preparing: Option<Box<Preparing<S>>> },
        /// `target`: where the bytes of an upgrade go, if the service takes it.
        Calling { #[pin] call: F, target: Option<(Target, PeerEnd)> },
    }
}

impl<S, F> ForHyperCall<S, F> {
    /// The call of a request that asks for no upgrade.
    pub(super) fn ordinary(call: F) -> Self {
        let target = None;
        Self {
            stage: Stage::Calling { call, target },
        }
    }
    pub(super) fn upgrading(service: S, request: Request<Body>, target: Target) -> Self {
        let preparing = Some(Box::new(Preparing {
            service,
            request,
            target,
            agreement: Box::pin(pair::open()),
        }));
        Self {
            stage: Stage::Preparing { preparing },
        }
    }
}

impl<S, B> Future for ForHyperCall<S, S::Future>
where
    S: Service<Request<Body>, Response = Response<B>>,
{
    type Output = Result<Response<Either<B>>, S::Error>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let mut stage = self.project().stage;
        loop {
            match stage.as_mut().project() {
                StageProjection::Preparing { preparing } => {
                    let Some(waiting) = preparing else {
                        return Poll::Pending;
                    };
                    let connected = ready!(waiting.agreement.as_mut().poll(cx));
                    let Some(ready) = preparing.take() else {
                        return Poll::Pending;
                    };
                    stage.set(ready.call(connected.ok()));
                }
                StageProjection::Calling { call, target } => {
                    let response = ready!(call.poll(cx))?;
                    return Poll::Ready(Ok(match target.take() {
                        Some((target, end)) => target.join(end, response),
                        None => response.map(Either::own),
                    }));
                }
            }
        }
    }
}

impl<S: Service<Request<Body>>> Preparing<S> {
    /// Calls the service; without an upgrade where there can be none.
    fn call(mut self, connected: Option<(HyperUpgrade, PeerEnd)>) -> Stage<S, S::Future> {
        let target = connected.map(|(upgrade, end)| {
            let extensions = self.request.extensions_mut();
            extensions.insert(upgrade);
            if self.target.is_websocket_stream() {
                extensions.insert(hyper::ext::Protocol::from_static(WEBSOCKET));
            }
            (self.target, end)
        });
        Stage::Calling {
            call: self.service.call(self.request),
            target,
        }
    }
}
