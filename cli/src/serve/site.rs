//! The service of `trunkline serve`: test endpoints first, if they are on, then files.

mod endpoints;

use self::endpoints::Endpoint;
use super::answer::policy::AnswerPolicy;
use super::answer::{Answer, SiteBody, plain};
use super::files::Files;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use std::convert::Infallible;
use std::sync::Arc;
use std::task::{Context, Poll};
use tower_service::Service;

/// The service: cheap to clone, one per worker.
#[derive(Clone)]
pub(crate) struct Site {
    files: Option<Arc<Files>>,
    endpoints: bool,
    /// `None`: responses stay as they are.
    policy: Option<Arc<AnswerPolicy>>,
}

impl Site {
    pub(crate) fn new(files: Option<Files>, endpoints: bool, policy: AnswerPolicy) -> Self {
        Self {
            files: files.map(Arc::new),
            endpoints,
            policy: (!policy.is_nothing()).then(|| Arc::new(policy)),
        }
    }
}

impl<B> Service<Request<B>> for Site
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    type Response = Response<SiteBody<B>>;
    type Error = Infallible;
    type Future = Answer<B>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Answer<B> {
        let Some(policy) = self.policy.clone() else {
            return self.answer(request);
        };
        let answer = match policy.answer(&request) {
            Some(response) => Answer::ready(response),
            None => self.answer(request),
        };
        Answer::waiting(async move {
            let Ok(mut response) = answer.await;
            policy.finish(response.headers_mut());
            response
        })
    }
}

impl Site {
    fn answer<B>(&self, request: Request<B>) -> Answer<B>
    where
        B: Body<Data = Bytes> + Send + Unpin + 'static,
    {
        if self.endpoints
            && let Some(endpoint) = Endpoint::of(request.uri().path())
        {
            return endpoint.answer(request);
        }
        match &self.files {
            Some(files) => {
                let files = Arc::clone(files);
                Answer::waiting(async move { files.answer(request).await })
            }
            None => Answer::ready(plain(http::StatusCode::NOT_FOUND, "not found\n")),
        }
    }
}
