//! Bodies of a server's calls.

use crate::body::Body;
use crate::error::Error;
use bytes::Bytes;
use http::Request;
use http_body::{Frame, SizeHint};
use std::any::Any;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll};
use tonic::{Code, Status};

/// A body whose errors have their statuses as cause. tonic looks for one there, and takes an error without for UNKNOWN:
/// a method that reads messages would not see that its client has cancelled the call.
struct StatusBody(Body);

impl http_body::Body for StatusBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let polled = Pin::new(&mut self.0).poll_frame(cx);
        polled.map_err(|mut error| {
            let mut status = Status::new(Code::from(error.grpc_code()), error.to_string());
            if let Some(source) = error.take_source() {
                status.set_source(source);
            }
            error.with_source(status)
        })
    }
    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

/// The request, with the errors of a body that a connection receives as statuses. Other bodies stay: one that came whole
/// has no errors, and those of layers have their own.
pub(super) fn with_statuses<R: 'static>(mut request: Request<R>) -> Request<R> {
    let body: &mut dyn Any = request.body_mut();
    if let Some(body) = body.downcast_mut::<Body>()
        && body.repeatable().is_none()
    {
        *body = Body::of_ours(StatusBody(mem::take(body)));
    }
    request
}
