//! A service that is an async function.

use crate::body::Body;
use http::{Request, Response};
use std::task::{Context, Poll};
use tower_service::Service;

/// Serves every request with `function`.
///
/// ```
/// use http::{Request, Response};
/// use std::convert::Infallible;
/// use trunkline::{Body, Server, service_fn};
///
/// let service = service_fn(async |request: Request<Body>| {
///     Ok::<_, Infallible>(Response::new(Body::from(request.uri().path().to_owned())))
/// });
/// let running = Server::bind("127.0.0.1:0").serve(service)?;
/// # running.shutdown();
/// # Ok::<(), trunkline::Error>(())
/// ```
pub fn service_fn<F>(function: F) -> ServiceFn<F> {
    ServiceFn { function }
}

/// See [`service_fn`].
#[derive(Clone, Copy, Debug)]
pub struct ServiceFn<F> {
    function: F,
}

impl<F, A, B, E> Service<Request<Body>> for ServiceFn<F>
where
    F: FnMut(Request<Body>) -> A,
    A: Future<Output = Result<Response<B>, E>>,
{
    type Response = Response<B>;
    type Error = E;
    type Future = A;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), E>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> A {
        (self.function)(request)
    }
}
