//! gRPC by tonic: a client for tonic's generated clients, and deadlines of a server's calls.
//!
//! tonic's own channel and server apply the field `grpc-timeout`, and give a status of each error. These
//! do so above a [`Client`](crate::Client) and in front of a tonic service. The deadline is one of the whole call,
//! streams of messages included (the specification of gRPC over HTTP/2), and not of its beginning alone.

mod client;
mod framing;
mod request_body;
mod timeout;
mod web;

pub use client::GrpcClient;

use crate::driver::timer::{Sleep, sleep};
use crate::error::Error;
use crate::error::classify::grpc_code_of;
use bytes::{Buf, Bytes};
use framing::Framing;
use http::header::{CONTENT_TYPE, HeaderName};
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body::{Frame, SizeHint};
use pin_project_lite::pin_project;
use request_body::with_statuses;
use std::error::Error as StdError;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;
use tonic::metadata::MetadataMap;
use tonic::{Code, Status};
use tower_service::Service;
use web::WebCoding;

/// As names, which a lookup need not parse.
static TIMEOUT: HeaderName = HeaderName::from_static("grpc-timeout");
static STATUS: HeaderName = HeaderName::from_static("grpc-status");
static ENCODING: HeaderName = HeaderName::from_static("grpc-encoding");

type BoxError = Box<dyn StdError + Send + Sync>;

/// The code is that of [`Error::grpc_code`], the error the source.
impl From<Error> for Status {
    fn from(error: Error) -> Self {
        let mut status = Status::new(Code::from(error.grpc_code()), error.to_string());
        status.set_source(std::sync::Arc::new(error));
        status
    }
}

/// A tonic service that applies `grpc-timeout`: the call is dropped when its time has passed, and the client
/// gets DEADLINE_EXCEEDED. `tonic::service::Routes` and generated servers do not do it by themselves;
/// requests without the field have no deadline.
///
/// An error of the service that is a [`Status`], or has one as its cause, is the status of the call, as under tonic's own
/// server: that of an authorizing layer, say. A time that tower's `TimeoutLayer` has ended is DEADLINE_EXCEEDED. Other errors are UNKNOWN, the code of gRPC for an exception of a server's
/// application ("Status codes and their use in gRPC"), and their text stays at the server. So are panics of the service or
/// of its body; the messages before one arrive.
///
/// An error of the request's body has its status as its cause, where tonic looks for it: a method that reads messages sees
/// CANCELLED when its client has cancelled the call.
///
/// Requests without a content-type of gRPC, to routes beside those of gRPC, pass as they are.
///
/// ```no_run
/// # async fn example(listener: tokio::net::TcpListener, routes: tonic::service::Routes)
/// # -> Result<(), trunkline::Error> {
/// trunkline::serve(listener, trunkline::grpc::with_deadlines(routes)).await
/// # }
/// ```
pub fn with_deadlines<S>(service: S) -> WithDeadlines<S> {
    WithDeadlines { service }
}

/// See [`with_deadlines`].
#[derive(Clone, Debug)]
pub struct WithDeadlines<S> {
    service: S,
}

impl<S, R, B> Service<Request<R>> for WithDeadlines<S>
where
    S: Service<Request<R>, Response = Response<B>>,
    S::Error: Into<BoxError>,
    R: 'static,
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    type Response = Response<GrpcBody<B>>;
    type Error = Status;
    type Future = GrpcCall<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Status>> {
        self.service.poll_ready(cx).map_err(status_of)
    }
    fn call(&mut self, request: Request<R>) -> Self::Future {
        let (deadline, side, request) = match is_grpc(request.headers()) {
            true => {
                let deadline = deadline_of(request.headers());
                let side = Side::Server(WebCoding::accepted(request.headers()));
                (deadline, side, with_statuses(request))
            }
            false => (None, Side::Plain, request),
        };
        GrpcCall {
            call: self.service.call(request),
            deadline,
            side,
        }
    }
}

type Deadline = Option<Pin<Box<Sleep>>>;

/// Which end of a call its deadline is for.
#[derive(Clone, Copy, Debug)]
enum Side {
    /// The call fails.
    Client,
    /// The response has the status: in its trailers, or in the body of one of gRPC-Web.
    Server(Option<WebCoding>),
    /// A server's exchange that is no call: it has no deadline, and its response no status. Trailers behind a body that is
    /// cut would make it look whole.
    Plain,
}

pin_project! {
    /// A call under way, with its deadline.
    #[derive(Debug)]
    pub struct GrpcCall<F> {
        #[pin]
        call: F,
        deadline: Deadline,
        side: Side,
    }
}

impl<F, B, E> Future for GrpcCall<F>
where
    F: Future<Output = Result<Response<B>, E>>,
    E: Into<BoxError>,
{
    type Output = Result<Response<GrpcBody<B>>, Status>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let Some(polled) = polled(*this.side, || this.call.poll(cx)) else {
            return Poll::Ready(Ok(status_response(panicked_fields(), *this.side)));
        };
        if let Poll::Ready(outcome) = polled {
            let (deadline, side) = (this.deadline.take(), *this.side);
            let response = match outcome {
                Ok(response) => response,
                Err(error) if matches!(side, Side::Server(_)) => {
                    let mut response = recovered(error.into()).into_http();
                    set_type(response.headers_mut(), side);
                    return Poll::Ready(Ok(response));
                }
                Err(error) => return Poll::Ready(Err(failure(error, &deadline, side))),
            };
            if let Side::Client = side
                && let Some(status) =
                    foreign_status(&response).or_else(|| coding_status(response.headers()))
            {
                return Poll::Ready(Err(status));
            }
            // Inside of a layer for gRPC-Web a call is as any other.
            let side = match side {
                Side::Server(Some(_)) => Side::Server(WebCoding::used(response.headers())),
                side => side,
            };
            return Poll::Ready(Ok(response.map(|body| GrpcBody {
                body: Some(body),
                deadline,
                side,
                framing: Framing::default(),
            })));
        }
        ready!(poll_deadline(this.deadline, cx));
        Poll::Ready(match this.side {
            Side::Client | Side::Plain => Err(exceeded()),
            side @ Side::Server(_) => Ok(status_response(late_fields(), *side)),
        })
    }
}

pin_project! {
    /// The body of a response, with the deadline of its call.
    #[derive(Debug)]
    pub struct GrpcBody<B> {
        // `None`: it is over.
        #[pin]
        body: Option<B>,
        deadline: Deadline,
        side: Side,
        framing: Framing,
    }
}

/// An empty one: interceptors of tonic answer with it where they refuse a call.
impl<B> Default for GrpcBody<B> {
    fn default() -> Self {
        Self {
            body: None,
            deadline: None,
            side: Side::Client,
            framing: Framing::default(),
        }
    }
}

impl<B> http_body::Body for GrpcBody<B>
where
    B: http_body::Body,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let mut this = self.project();
        let Some(body) = this.body.as_mut().as_pin_mut() else {
            return Poll::Ready(None);
        };
        let Some(polled) = polled(*this.side, || body.poll_frame(cx)) else {
            this.body.set(None);
            return Poll::Ready(Some(Ok(last_frame(panicked_fields(), *this.side))));
        };
        if let Poll::Ready(frame) = polled {
            let Some(frame) = frame else {
                this.body.set(None);
                return Poll::Ready(None);
            };
            let failure = |error| failure(error, this.deadline, *this.side);
            let frame = frame.map_err(failure)?;
            if matches!(this.side, Side::Client) {
                if let Some(data) = frame.data_ref() {
                    // The bodies of a client have one chunk in a frame.
                    this.framing.advance(data.chunk());
                }
                // tonic takes such an end for one in order, and drops the part of a message.
                let is_cut = this.framing.is_within_message()
                    && frame.trailers_ref().is_some_and(is_success);
                if is_cut {
                    this.body.set(None);
                    return Poll::Ready(Some(Err(Status::internal(CUT))));
                }
            }
            // `Bytes`, which tonic's data are, are not copied.
            let frame = frame.map_data(|mut data| data.copy_to_bytes(data.remaining()));
            return Poll::Ready(Some(Ok(frame)));
        }
        ready!(poll_deadline(this.deadline, cx));
        // Dropped: the exchange is reset, the handler ends.
        this.body.set(None);
        Poll::Ready(Some(match this.side {
            Side::Client | Side::Plain => Err(exceeded()),
            Side::Server(_) => Ok(last_frame(late_fields(), *this.side)),
        }))
    }
    fn is_end_stream(&self) -> bool {
        self.body
            .as_ref()
            .is_none_or(http_body::Body::is_end_stream)
    }
    fn size_hint(&self) -> SizeHint {
        match (&self.body, &self.deadline) {
            (None, _) => SizeHint::with_exact(0),
            (Some(body), None) => body.size_hint(),
            // It may be cut short.
            (Some(_), Some(_)) => SizeHint::default(),
        }
    }
}

/// The outcome of a poll; `None`: code of a server panicked, which the panic hook has reported. What panicked is dropped and
/// never polled again, so the state that it left is not observed.
fn polled<T>(side: Side, poll: impl FnOnce() -> T) -> Option<T> {
    match side {
        Side::Client | Side::Plain => Some(poll()),
        Side::Server(_) => catch_unwind(AssertUnwindSafe(poll)).ok(),
    }
}

/// Pending for ever without one.
fn poll_deadline(deadline: &mut Deadline, cx: &mut Context<'_>) -> Poll<()> {
    match deadline {
        Some(sleep) => sleep.as_mut().poll(cx),
        None => Poll::Pending,
    }
}

fn deadline_of(fields: &HeaderMap) -> Deadline {
    let time = timeout::of(fields.get(&TIMEOUT)?)?;
    Some(Box::pin(sleep(time)))
}

/// The status of an error: one of ours, a status itself, or what tonic makes of it.
fn status_of(error: impl Into<BoxError>) -> Status {
    match error.into().downcast::<Error>() {
        Ok(error) => Status::from(*error),
        Err(error) => Status::from_error(error),
    }
}

/// The status that a client gets of a service's error.
fn recovered(error: BoxError) -> Status {
    match Status::try_from_error(error) {
        Ok(status) => status,
        Err(error) if is_elapsed(&*error) => exceeded(),
        Err(_) => Status::unknown("the service failed"),
    }
}

/// Whether a layer of tower has ended the call by its time. tonic knows no error of that kind but its own.
fn is_elapsed(error: &(dyn StdError + 'static)) -> bool {
    let chain = std::iter::successors(Some(error), |&error| error.source());
    let mut layers = chain.filter(|error| error.is::<tower::timeout::error::Elapsed>());
    layers.next().is_some()
}

/// The status of a call that failed. The server counts the same deadline and may cancel the call first, with a
/// reset that does not say why: behind the deadline that was it, as gRPC's own clients have it.
fn failure(error: impl Into<BoxError>, deadline: &Deadline, side: Side) -> Status {
    let status = status_of(error);
    let now = Instant::now().into();
    let is_late = deadline.as_ref().is_some_and(|it| it.deadline() <= now);
    match (side, status.code()) {
        (Side::Client, Code::Cancelled) if is_late => exceeded(),
        _ => status,
    }
}

/// The status of a response that is not gRPC's, by its HTTP status: a proxy's page, say, whose bytes are no
/// messages. A `grpc-status` decides where there is one ("HTTP to gRPC Status Code Mapping"). Its metadata are the fields of
/// the response, as those of every unary call that fails behind its head.
fn foreign_status<B>(response: &Response<B>) -> Option<Status> {
    let fields = response.headers();
    let http = response.status();
    if (http == StatusCode::OK && is_grpc(fields)) || fields.contains_key(&STATUS) {
        return None;
    }
    let media_type = fields.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    let media_type = String::from_utf8_lossy(media_type.unwrap_or(b"none"));
    let text = format!("the response is not gRPC's: HTTP status {http}, content-type {media_type}");
    let metadata = MetadataMap::from_headers(fields.clone());
    Some(Status::with_metadata(
        Code::from(grpc_code_of(http)),
        text,
        metadata,
    ))
}

/// The codings of messages that tonic has; which of them a call allows is tonic's to say.
const CODINGS: [&str; 4] = ["identity", "gzip", "deflate", "zstd"];

/// The status of a response in a coding that was not asked for and that tonic does not have: INTERNAL (gRPC's
/// compression.md), where tonic says UNIMPLEMENTED, which is the server's word for a request.
fn coding_status(fields: &HeaderMap) -> Option<Status> {
    let coding = fields.get(&ENCODING)?;
    let is_known = CODINGS.iter().any(|known| coding == known);
    (!is_known).then(|| {
        let text = format!("the response has the unknown grpc-encoding {coding:?}");
        Status::with_metadata(
            Code::Internal,
            text,
            MetadataMap::from_headers(fields.clone()),
        )
    })
}

/// Whether the content-type is one of gRPC (`application/grpc+proto`, ..).
fn is_grpc(fields: &HeaderMap) -> bool {
    let media_type = fields.get(CONTENT_TYPE).map(HeaderValue::as_bytes);
    media_type.is_some_and(|media_type| media_type.starts_with(b"application/grpc"))
}

/// Whether these trailers say that the call has succeeded.
fn is_success(trailers: &HeaderMap) -> bool {
    trailers.get(&STATUS).is_some_and(|code| code == "0")
}

const CUT: &str = "the response ends within a message";
const EXCEEDED: &str = "the deadline of the call has passed";

fn exceeded() -> Status {
    Status::deadline_exceeded(EXCEEDED)
}

fn late_fields() -> HeaderMap {
    status_fields(Code::DeadlineExceeded, EXCEEDED)
}

/// Those of an exception of a server's application. The panic's own words may hold what a client must not see.
fn panicked_fields() -> HeaderMap {
    status_fields(Code::Unknown, "the handler panicked")
}

fn status_fields(code: Code, message: &'static str) -> HeaderMap {
    let mut fields = HeaderMap::new();
    fields.insert(&STATUS, HeaderValue::from(code as i32));
    fields.insert("grpc-message", HeaderValue::from_static(message));
    fields
}

/// The frame that ends the body of a call.
fn last_frame(fields: HeaderMap, side: Side) -> Frame<Bytes> {
    match side {
        Side::Server(Some(coding)) => Frame::data(coding.trailers(&fields)),
        _ => Frame::trailers(fields),
    }
}

/// A response of headers alone ("Trailers-Only" in the specification of gRPC over HTTP/2; those of gRPC-Web may be in
/// the head too).
fn status_response<B>(fields: HeaderMap, side: Side) -> Response<GrpcBody<B>> {
    let mut response = Response::new(GrpcBody {
        body: None,
        deadline: None,
        side,
        framing: Framing::default(),
    });
    *response.headers_mut() = fields;
    set_type(response.headers_mut(), side);
    response
}

fn set_type(fields: &mut HeaderMap, side: Side) {
    let media_type = match side {
        Side::Server(Some(coding)) => coding.media_type(),
        _ => HeaderValue::from_static("application/grpc"),
    };
    fields.insert(CONTENT_TYPE, media_type);
}

#[cfg(test)]
mod deadline_test;
