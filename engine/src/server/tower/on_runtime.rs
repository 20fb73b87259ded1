//! A service whose handlers run on a tokio runtime of the caller's: what they spawn outlives the
//! server, blocking calls stall no connection, and `block_in_place` works.

use super::handler_runtime::HandlerRuntime;
use super::service::TaskService;
use crate::body::Body;
use http::{Request, Response, StatusCode, Version};
use http_body::{Body as _, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::fmt;
use std::future::poll_fn;
use std::panic::resume_unwind;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, ready};
use tokio::runtime::Handle;
use tokio::sync::oneshot;
use tokio::task::{JoinError, JoinHandle};
use tower_service::Service;

/// Runs each call of `service` as a task of `runtime`. Without it handlers run on the thread of
/// their connection, a `current_thread` runtime that ends with the server: the fastest way, for
/// handlers that neither block nor spawn.
///
/// The future of a call and the error are `Send`. A call whose exchange ends is aborted, behind one more run where its request
/// has a body, whose error says why. A panic is answered
/// with 500, a call whose runtime has ended with 503; a body whose end comes behind that of the runtime is cut,
/// since what fed it may have ended early. The response's body is polled on the connection's thread, within the context of
/// `runtime`: what it spawns runs there too.
pub fn on_runtime<S>(runtime: Handle, service: S) -> OnRuntime<S> {
    OnRuntime {
        runtime: HandlerRuntime::new(runtime),
        place: CallPlace::Task,
        service,
    }
}

/// See [`on_runtime`].
#[derive(Clone, Debug)]
pub struct OnRuntime<S> {
    runtime: HandlerRuntime,
    place: CallPlace,
    service: S,
}

impl<S> OnRuntime<S> {
    /// For connections that are tasks of `runtime` themselves, those of HTTP/3 parts of one.
    pub(super) fn in_connections(runtime: Handle, service: S) -> Self {
        Self {
            runtime: HandlerRuntime::new(runtime),
            place: CallPlace::Connection,
            service,
        }
    }
}

/// Where calls run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CallPlace {
    /// Each in a task of the runtime.
    Task,
    /// In the task of their connection, which is one of the runtime, where no other request can wait for them: over
    /// HTTP/1.1. Over HTTP/2 and HTTP/3 each has a task, so that one that blocks does not delay the others.
    Connection,
}

impl<S> Service<Request<Body>> for OnRuntime<S>
where
    S: TaskService,
    S::Error: Send + 'static,
{
    type Response = Response<RuntimeBody<S::ResponseBody>>;
    type Error = S::Error;
    type Future = RuntimeCall<S::ResponseBody, S::Error>;

    /// Always: the task of the call waits for the service.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let mut service = self.service.clone();
        let at = (self.place, request.version());
        let reads = !request.body().is_end_stream();
        RuntimeCall::begin(&self.runtime, at, reads, async move {
            poll_fn(|cx| service.poll_ready(cx)).await?;
            service.call(request).await
        })
    }
}

/// A call under way. Dropping it aborts the call; one whose request has a body is run once more, to learn from the body why.
pub struct RuntimeCall<B, E> {
    run: Run<B, E>,
    runtime: HandlerRuntime,
    /// The connection runs within the context of the runtime, and polls the response's body there.
    is_within: bool,
}

enum Run<B, E> {
    /// Dropping the sender ends the task.
    Task(
        JoinHandle<Option<Result<Response<B>, E>>>,
        Option<oneshot::Sender<()>>,
    ),
    Here(Pin<Box<dyn Future<Output = Result<Response<B>, E>> + Send>>),
}

impl<B: Send + 'static, E: Send + 'static> RuntimeCall<B, E> {
    /// Runs `call`: as a task of `runtime`, or where it is polled. `reads`: its request has a body.
    pub(super) fn begin(
        runtime: &HandlerRuntime,
        (place, version): (CallPlace, Version),
        reads: bool,
        call: impl Future<Output = Result<Response<B>, E>> + Send + 'static,
    ) -> Self {
        let is_within = place == CallPlace::Connection;
        Self {
            run: if is_within && version < Version::HTTP_2 {
                Run::Here(Box::pin(call))
            } else if reads {
                let (kept, gone) = oneshot::channel();
                let task = runtime.handle().spawn(until_gone(call, gone));
                Run::Task(task, Some(kept))
            } else {
                let call = async move { Some(call.await) };
                Run::Task(runtime.handle().spawn(call), None)
            },
            runtime: runtime.clone(),
            is_within,
        }
    }
}

impl<B, E> fmt::Debug for RuntimeCall<B, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeCall").finish_non_exhaustive()
    }
}

impl<B, E> Future for RuntimeCall<B, E> {
    type Output = Result<Response<RuntimeBody<B>>, E>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let ended = match &mut self.run {
            Run::Task(task, _) => ready!(Pin::new(task).poll(cx)),
            Run::Here(call) => Ok(Some(ready!(call.as_mut().poll(cx)))),
        };
        let (runtime, is_within) = (self.runtime.clone(), self.is_within);
        let with_runtime = |body| RuntimeBody::new(Some(body), runtime.clone(), is_within);
        match ended.map_err(JoinError::try_into_panic) {
            Ok(Some(answer)) => Poll::Ready(answer.map(|response| response.map(with_runtime))),
            // The server answers a panic of a handler with 500, wherever it ran.
            Err(Ok(panic)) => resume_unwind(panic),
            // Nothing but the end of its runtime cancels the task of a call that is still awaited.
            Ok(None) | Err(Err(_)) => {
                let mut response = Response::new(RuntimeBody::new(None, runtime, is_within));
                *response.status_mut() = StatusCode::SERVICE_UNAVAILABLE;
                Poll::Ready(Ok(response))
            }
        }
    }
}

impl<B, E> Drop for RuntimeCall<B, E> {
    fn drop(&mut self) {
        if let Run::Task(task, None) = &self.run {
            task.abort();
        }
    }
}

/// The outcome of a call; `None`: `gone` came first. An abort would come before the call has seen how its request's body ended.
async fn until_gone<T>(
    call: impl Future<Output = T>,
    mut gone: oneshot::Receiver<()>,
) -> Option<T> {
    let mut call = pin!(call);
    poll_fn(|cx| match call.as_mut().poll(cx) {
        Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
        Poll::Pending => Pin::new(&mut gone).poll(cx).map(|_| None),
    })
    .await
}

pin_project! {
    /// A response's body that is polled within the context of a runtime.
    #[derive(Debug)]
    pub struct RuntimeBody<B> {
        // `None`: it is empty.
        #[pin]
        body: Option<B>,
        runtime: HandlerRuntime,
        is_within: bool,
        has_waited: bool,
    }
}

impl<B> RuntimeBody<B> {
    fn new(body: Option<B>, runtime: HandlerRuntime, is_within: bool) -> Self {
        Self {
            body,
            runtime,
            is_within,
            has_waited: false,
        }
    }
}

impl<B: http_body::Body> http_body::Body for RuntimeBody<B> {
    type Data = B::Data;
    type Error = B::Error;

    /// # Panics
    /// The runtime has ended, and behind that the body: a task that fed it may have been dropped within its message.
    /// The server takes a panic for a failure of the body.
    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        let this = self.project();
        let Some(body) = this.body.as_pin_mut() else {
            return Poll::Ready(None);
        };
        let polled = {
            let _within = (!*this.is_within).then(|| this.runtime.handle().enter());
            body.poll_frame(cx)
        };
        let is_end = match &polled {
            Poll::Pending => {
                *this.has_waited = true;
                false
            }
            Poll::Ready(None) => true,
            Poll::Ready(Some(Ok(frame))) => frame.is_trailers(),
            Poll::Ready(Some(Err(_))) => false,
        };
        // The body of a stream is worth a question. One that had everything ready is hardly fed by a task.
        if is_end && this.runtime.has_ended(*this.has_waited) {
            resume_unwind(Box::new("the runtime of the handlers has ended"));
        }
        polled
    }
    fn is_end_stream(&self) -> bool {
        self.body
            .as_ref()
            .is_none_or(http_body::Body::is_end_stream)
    }
    fn size_hint(&self) -> SizeHint {
        match &self.body {
            Some(body) => body.size_hint(),
            None => SizeHint::with_exact(0),
        }
    }
}
