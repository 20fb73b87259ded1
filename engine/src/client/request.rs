//! The request builder. It rejects invalid requests before they queue, with the wrong value and the
//! allowed ones.

#[cfg(feature = "blocking")]
pub mod blocking;
#[cfg(feature = "charset")]
mod charset;
mod events;
mod fields;
mod follow_up;
mod header_value;
#[cfg(feature = "multipart")]
pub mod multipart;
mod response_ext;
mod response_future;
#[cfg(feature = "tower")]
mod service;
mod trace;

pub use events::{EventStream, ServerEvent};
pub use follow_up::ResponseUrl;
pub use header_value::IntoHeaderValue;
pub use response_ext::ResponseExt;
pub use response_future::ResponseFuture;

use super::Client;
use super::dispatch::Dispatch;
use super::dispatch::exchange_future::ExchangeFuture;
use super::exchange::compose;
use super::exchange::{OnInterim, Outgoing, Patience};
use super::settings::origin::origin_of;
use super::settings::url;
use crate::body::Body;
use crate::body::window::Wanted;
use crate::config::within;
use crate::error::{Error, ErrorKind, Fault, Retry};
use follow_up::FollowUp;
use http::header::{AUTHORIZATION, EXPECT, HeaderName, PROXY_AUTHORIZATION};
use http::request::Parts;
use http::{Method, Request, Response};
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trace::RequestSpan;
use trunkline_core::pool::{Origin, PriorityClass, Rank};

/// A request being made; [`send`](Self::send) sends it.
#[must_use = "a request does nothing until it is sent"]
pub struct RequestBuilder {
    dispatch: Arc<Dispatch>,
    parts: Result<Parts, Error>,
    body: Body,
    on_interim: Option<OnInterim>,
    total: Option<Duration>,
    queue: Option<Duration>,
    rank: Rank,
    wanted: Wanted,
}

impl RequestBuilder {
    pub(super) fn new(dispatch: Arc<Dispatch>, method: Method, url: &str) -> Self {
        let known = dispatch.recent_origins.uri_of(url);
        let known = known.map(|uri| Ok((uri, None)));
        let parsed = known.unwrap_or_else(|| url::uri_and_credentials_of(url));
        let parts = parsed.map(|(uri, credentials)| {
            let (mut parts, ()) = Request::new(()).into_parts();
            parts.method = method;
            parts.uri = uri;
            parts
                .headers
                .extend(credentials.map(|value| (AUTHORIZATION, value)));
            parts
        });
        Self {
            dispatch,
            parts,
            body: Body::empty(),
            on_interim: None,
            total: None,
            queue: None,
            rank: Rank::default(),
            wanted: Wanted::default(),
        }
    }
    /// A request that was made elsewhere, to be sent by `client` with what only a builder can set. Its body is a [`Body`] or
    /// what becomes one: bytes or text.
    pub fn from_parts(client: &Client, request: Request<impl Into<Body>>) -> Self {
        let (parts, body) = request.into_parts();
        Self {
            rank: parts.extensions.get().copied().unwrap_or_default(),
            parts: Ok(parts),
            body: body.into(),
            ..Self::new(Arc::clone(&client.dispatch), Method::GET, "")
        }
    }
    /// Adds a field. What is not a field name or value is an error of `send`.
    pub fn header(mut self, name: impl AsRef<str>, value: impl IntoHeaderValue) -> Self {
        let name = name.as_ref();
        self.parts = self.parts.and_then(|mut parts| {
            let wrong = |what: &str| {
                Error::config(format!(
                    "the {what} of the field {name:?} has a character that is not allowed there"
                ))
            };
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| wrong("name"))?;
            let value = value.into_header_value().map_err(|_| wrong("value"))?;
            parts.headers.append(name, value);
            Ok(parts)
        });
        self
    }
    /// The body: bytes, text, or a [`Body`] that streams.
    pub fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }
    /// Called with every 1xx response, on the connection's task: it must not block.
    pub fn on_interim(mut self, call: impl Fn(Response<()>) + Send + Sync + 'static) -> Self {
        self.on_interim = Some(Arc::new(call));
        self
    }
    /// How long all of it may take, in place of the client's setting. Zero, as of a deadline that has passed, is a timeout
    /// at once, and nothing is sent.
    pub fn timeout(mut self, total: Duration) -> Self {
        self.total = Some(total);
        self
    }
    /// How long it may wait in line, in place of the client's setting. The total timeout counts
    /// the wait, too.
    pub fn queue_timeout(mut self, queue: Duration) -> Self {
        self.queue = Some(queue);
        self
    }
    /// How urgent it is in its origin's line. Default: [`PriorityClass::Normal`].
    pub fn priority_class(mut self, class: PriorityClass) -> Self {
        self.rank.class = class;
        self
    }
    /// The tenant's number: within a class, groups take turns in the queue. Default 0.
    pub fn group(mut self, group: u64) -> Self {
        self.rank.group = group;
        self
    }
    /// The response's receive window on HTTP/2, in bytes, from 1 to 2^31-1, announced with the
    /// request. A window that is larger already stays. The memory is beside the memory budget.
    pub fn receive_window(mut self, bytes: u32) -> Self {
        self.wanted.receive_window = Some(bytes);
        self
    }
    /// How large the response's body is thought to be, in bytes: its window is raised with the
    /// request, as far as the memory budget lends it. HTTP/2 only; a wrong guess breaks nothing.
    pub fn expected_size(mut self, bytes: u64) -> Self {
        self.wanted.expected_size = bytes;
        self
    }
    /// The request as `http` has it, with the client's settings left out: for
    /// [`Client::execute`](crate::Client::execute), a layer of tower or a log. Timeouts,
    /// [`on_interim`](Self::on_interim) and windows of this builder are not in it.
    ///
    /// # Errors
    /// The first part that cannot be used.
    pub fn build(self) -> Result<Request<Body>, Error> {
        let parts = self.parts?;
        // A URL that no request can be sent to.
        origin_of(&parts, &self.dispatch.settings)?;
        let mut request = Request::from_parts(parts, self.body);
        request.extensions_mut().insert(self.rank);
        Ok(request)
    }
    /// A copy to be sent beside this one; `None`: its body streams, or a part of it cannot be used.
    pub fn try_clone(&self) -> Option<Self> {
        Some(Self {
            dispatch: Arc::clone(&self.dispatch),
            parts: Ok(self.parts.as_ref().ok()?.clone()),
            body: Body::full(self.body.repeatable()?),
            on_interim: self.on_interim.clone(),
            total: self.total,
            queue: self.queue,
            rank: self.rank,
            wanted: self.wanted,
        })
    }
    /// The response to come. The request is sent when it is first polled, as other futures do nothing before; its total
    /// timeout begins here. The response's body streams: unread bytes hold the peer back.
    ///
    /// # Errors
    /// See [`Error`](crate::Error): `kind` says what, `fault` whose doing, `retry` whether the
    /// same request may be sent again.
    pub fn send(self) -> ResponseFuture {
        let wanted = self.wanted;
        match self.parts.and_then(|parts| wanted.check().map(|()| parts)) {
            Ok(parts) => {
                let extra = RequestExtensions {
                    on_interim: self.on_interim,
                    total: self.total,
                    total_until: None,
                    queue: self.queue,
                    rank: self.rank,
                    wanted,
                    is_grpc: false,
                };
                send(self.dispatch, parts, self.body, extra)
            }
            Err(error) => ResponseFuture::failed(self.dispatch, error),
        }
    }
}

impl fmt::Debug for RequestBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RequestBuilder")
            .field("parts", &self.parts)
            .field("body", &self.body)
            .finish_non_exhaustive()
    }
}

/// The shortest wait in line that can be asked for.
const QUEUE_TIMEOUT_MIN: Duration = Duration::from_millis(1);

/// Settings of a request that are not among its parts.
pub(super) struct RequestExtensions {
    on_interim: Option<OnInterim>,
    total: Option<Duration>,
    /// From `total`, and the client's setting, when it is first sent.
    total_until: Option<Instant>,
    queue: Option<Duration>,
    rank: Rank,
    wanted: Wanted,
    /// A call of gRPC: it needs HTTP/2 or HTTP/3.
    is_grpc: bool,
}

impl RequestExtensions {
    /// The extensions of a request that was made elsewhere, which says its rank by an extension.
    pub(super) fn of(parts: &Parts) -> Self {
        Self {
            on_interim: None,
            total: None,
            total_until: None,
            queue: None,
            rank: parts.extensions.get().copied().unwrap_or_default(),
            wanted: Wanted::default(),
            is_grpc: false,
        }
    }
    /// The extensions of a call of gRPC.
    #[cfg(feature = "tonic")]
    pub(super) fn of_grpc(parts: &Parts) -> Self {
        Self {
            is_grpc: true,
            ..Self::of(parts)
        }
    }
}

/// Sends a request, and what follows from its response by the client's policies.
pub(super) fn send(
    dispatch: Arc<Dispatch>,
    mut parts: Parts,
    mut body: Body,
    mut extra: RequestExtensions,
) -> ResponseFuture {
    let settings = &dispatch.settings;
    let failed = |error| ResponseFuture::failed(Arc::clone(&dispatch), error);
    if let Some(error) = &settings.unusable {
        return failed(error.again());
    }
    if let Some(queue) = extra.queue.filter(|queue| *queue < QUEUE_TIMEOUT_MIN) {
        return failed(Error::config(format!(
            "queue_timeout is {queue:?}; it must be at least {QUEUE_TIMEOUT_MIN:?}"
        )));
    }
    let total = extra.total.or(settings.timeouts.total);
    if total.is_some_and(|total| total.is_zero()) {
        let late = Error::new(ErrorKind::Timeout, Fault::Us, Retry::Safe);
        let late = late.with_text("the request's total time had passed before it was sent");
        return failed(late.with_url(&parts.uri));
    }
    extra.total_until = total.map(|total| Instant::now() + within(total));
    // RFC 9110 section 10.1.1: until the 100 has come its source is not asked.
    if !parts.headers.contains_key(EXPECT) {
        body.settle();
    }
    let policies = &settings.policies;
    let grpc = extra.is_grpc;
    policies.add_fields(&mut parts, grpc);
    let added = policies.add_cookies(&mut parts);
    let span = RequestSpan::of(&parts);
    let _entered = span.enter();
    if !policies.concern(&parts.method, grpc) {
        return match exchange_of(&dispatch, &parts, body, &extra) {
            Ok(exchange) => ResponseFuture::new(exchange, None, span.clone()),
            Err(error) => failed(error),
        };
    }
    let repeatable = body.repeatable();
    match exchange_of(&dispatch, &parts, body, &extra) {
        Ok(exchange) => {
            policies.note_sent();
            let follow_up = FollowUp::new(parts, repeatable, extra, added);
            ResponseFuture::new(exchange, Some(Box::new(follow_up)), span.clone())
        }
        Err(error) => failed(error),
    }
}

/// One exchange, which gets into its origin's line when its response is first asked for.
fn exchange_of(
    dispatch: &Arc<Dispatch>,
    parts: &Parts,
    body: Body,
    extra: &RequestExtensions,
) -> Result<ExchangeFuture, Error> {
    dispatch.settings.policies.check_scheme(&parts.uri)?;
    let (recent, settings) = (&dispatch.recent_origins, &dispatch.settings);
    let origin = recent.find(parts, extra.is_grpc, settings)?;
    refuse_proxy_credentials(&origin, parts)?;
    let head = compose::head_with(
        parts,
        &body,
        compose::Beside {
            is_forwarded: settings.route.forwards(&origin),
            codings: settings.policies.codings(parts, extra.is_grpc),
        },
    )?;
    let timeouts = &settings.timeouts;
    let now = Instant::now();
    let mut request = Outgoing::new(now, origin, head, body);
    request.ends_connection = compose::asks_for_close(&parts.headers);
    request.on_interim.clone_from(&extra.on_interim);
    request.patience = Patience {
        headers: timeouts.headers,
        body: timeouts.body,
    };
    request.rank = extra.rank;
    request.wanted = extra.wanted;
    let queue = extra.queue.or(timeouts.queue);
    request.wait_until = queue.map(|queue| now + within(queue));
    request.wait_stall = timeouts.queue_stall.filter(|_| queue.is_none());
    request.total_until = extra.total_until;
    Ok(ExchangeFuture::new(Arc::clone(dispatch), request))
}

/// Through a tunnel the origin would read them: they are the proxy's, and a setting.
fn refuse_proxy_credentials(origin: &Origin, parts: &Parts) -> Result<(), Error> {
    if origin.proxy.is_some() && parts.headers.contains_key(PROXY_AUTHORIZATION) {
        return Err(Error::config(
            "the request has the field proxy-authorization; set proxy_authorization on the \
             client, which gives it to the proxy alone",
        ));
    }
    Ok(())
}

/// The origin of a URL that nothing is requested from yet.
pub(super) fn origin_of_url(dispatch: &Dispatch, url: &str) -> Result<Origin, Error> {
    let (mut parts, ()) = Request::new(()).into_parts();
    parts.uri = url::uri_of(url)?;
    origin_of(&parts, &dispatch.settings)
}
