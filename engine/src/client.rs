//! The client: many requests over few connections.
//!
//! A [`Client`] keeps one pool. A request goes through its gate onto a connection that has room, or
//! waits in its origin's queue. Each connection is a task on the runtime of the request that opened
//! it. `pipelining` (HTTP/1.1) and `max_concurrent_streams` (HTTP/2 and HTTP/3) are two settings, and
//! neither moves the other.
//!
//! ```no_run
//! # async fn example() -> Result<(), trunkline::Error> {
//! let client = trunkline::Client::new();
//! let response = client.get("https://example.org/").send().await?;
//! println!("{}", response.status());
//! println!("{}", response.into_body().text().await?);
//! # Ok(())
//! # }
//! ```

mod attempt;
mod builder;
mod connect;
mod connection;
#[cfg(feature = "load-generator")]
mod direct;
mod dispatch;
mod exchange;
mod listener;
mod request;
mod settings;
mod submission;

pub use crate::driver::machine::inspection::InspectLimits;
pub use crate::error::timelines::{KeptTimeline, TIMELINE_BYTES_MAX, TIMELINES_MAX};
pub use crate::metrics::client::{ClientMetrics, ClientVersionMetrics, PoolMetrics};
pub use crate::metrics::exposition::OPENMETRICS_TYPE;
pub use crate::metrics::histogram::Histogram;
pub use crate::tls::{ClientTls, KeyRefusal};
pub use builder::ClientBuilder;
pub use connect::addresses::IntoAddresses;
pub use connect::connector::{Connecting, Connector};
#[cfg(feature = "dns")]
pub use connect::resolve::dns::DnsResolver;
pub use connect::resolve::{HttpsRecord, Resolver, Resolving, ResolvingRecord, SystemResolver};
#[cfg(feature = "load-generator")]
#[doc(hidden)]
pub use direct::{Direct, DirectTurn, Next};
pub use dispatch::early_counts::EarlyDataCounts;
pub use dispatch::inspect::{ClientConnection, ClientSnapshot};
pub use exchange::reason_phrase::{ReasonPhrase, ReceivedFields};
pub use listener::connection::{ConnectionListener, Hold};
pub use listener::connection_use::ConnectionUse;
pub use listener::{BodyArrival, ExchangeListener};
#[cfg(feature = "blocking")]
pub use request::blocking;
#[cfg(feature = "multipart")]
pub use request::multipart;
pub use request::{
    EventStream, IntoHeaderValue, RequestBuilder, ResponseExt, ResponseFuture, ResponseUrl,
    ServerEvent,
};
pub use settings::ClientTimeouts;
#[cfg(feature = "cookies")]
pub use settings::policy::cookies::{CookieStore, Jar};
pub use settings::policy::redirect::{RedirectAction, RedirectAttempt, RedirectPolicy};
pub use settings::policy::retry::RetryPolicy;
#[cfg(feature = "websocket")]
pub use submission::websocket::{WebSocketBytes, WebSocketRequest};
pub use submission::{Submission, SubmittedExchange};
pub use trunkline_core::pool::{
    FailureScope, HealthTimes, Origin, OriginStats, PriorityClass, Protocols, Rank, Scheme, Totals,
    Wait, WaitReason,
};
pub use trunkline_core::proxy::ProxyHeaderVersion;

use crate::body::Body;
use crate::error::Error;
use dispatch::Dispatch;
#[cfg(feature = "tonic")]
use http::request::Parts;
use http::{Method, Request};
use request::RequestExtensions;
use std::error;
use std::sync::Arc;

/// A pool of connections and the settings they share. Cheap to clone; clones share the pool.
#[derive(Clone, Debug)]
pub struct Client {
    dispatch: Arc<Dispatch>,
}

impl Client {
    /// A client with the default settings.
    pub fn new() -> Self {
        Self::builder().build_checked()
    }
    /// Settings to change before the client is made.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }
    /// A GET request. A URL that cannot be used is an error of `send`.
    pub fn get(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::GET, url)
    }
    /// A HEAD request.
    pub fn head(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::HEAD, url)
    }
    /// A POST request.
    pub fn post(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::POST, url)
    }
    /// A PUT request.
    pub fn put(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::PUT, url)
    }
    /// A DELETE request.
    pub fn delete(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::DELETE, url)
    }
    /// A PATCH request.
    pub fn patch(&self, url: impl AsRef<str>) -> RequestBuilder {
        self.request(Method::PATCH, url)
    }
    /// A request with any method but CONNECT.
    pub fn request(&self, method: Method, url: impl AsRef<str>) -> RequestBuilder {
        RequestBuilder::new(Arc::clone(&self.dispatch), method, url.as_ref())
    }
    /// Sends a request made elsewhere, when the future is first polled. Its URI must be absolute; a [`Rank`] among its extensions
    /// is its place in line. Concurrency never depends on the
    /// method or on the kind of body. One with bytes or text for a body is sent by
    /// [`RequestBuilder::from_parts`], or here by `request.map(Body::from)`.
    ///
    /// The response's body streams: unread bytes hold the peer back. Dropping the future or the
    /// body resets the exchange.
    pub fn execute<B>(&self, request: Request<B>) -> ResponseFuture
    where
        B: http_body::Body + Send + 'static,
        B::Error: Into<Box<dyn error::Error + Send + Sync>>,
    {
        let (parts, body) = request.into_parts();
        let body = match body.is_end_stream() {
            true => Body::empty(),
            false => Body::wrap(body),
        };
        let extra = RequestExtensions::of(&parts);
        request::send(Arc::clone(&self.dispatch), parts, body, extra)
    }
    /// Sends a call of gRPC, over HTTP/2 or HTTP/3.
    #[cfg(feature = "tonic")]
    pub(crate) fn execute_grpc(&self, parts: Parts, body: Body) -> ResponseFuture {
        let extra = RequestExtensions::of_grpc(&parts);
        request::send(Arc::clone(&self.dispatch), parts, body, extra)
    }

    /// Opens a connection that is not the pool's, for a caller that drives it by itself.
    ///
    /// # Errors
    /// As for a request that finds no connection.
    #[cfg(feature = "load-generator")]
    #[doc(hidden)]
    pub async fn connect(&self, url: impl AsRef<str>) -> Result<Direct, Error> {
        Direct::connect(&self.dispatch, url.as_ref()).await
    }

    /// HTTP/1.1's requests in flight on one connection. Default 1.
    pub fn pipelining(&self) -> u32 {
        self.dispatch.pipelining()
    }
    /// Sets it for connections opened from now on; 0 counts as 1. HTTP/2 is not concerned.
    pub fn set_pipelining(&self, pipelining: u32) {
        self.dispatch.set_pipelining(pipelining);
    }
    /// The ceiling of HTTP/2's requests in flight on one connection, below the peer's own limit.
    /// Default 100. HTTP/1.1 is not concerned; HTTP/3 has the same ceiling where one was set.
    pub fn max_concurrent_streams(&self) -> u32 {
        self.dispatch.max_concurrent_streams()
    }
    /// Every origin now: what is open, what waits and why.
    pub fn stats(&self) -> Vec<OriginStats> {
        self.dispatch.stats()
    }
    /// Every request that waits now, with the reason. Takes time for each of them.
    pub fn waits(&self) -> Vec<Wait> {
        self.dispatch.waits()
    }
    /// Opens connections to the origin of `url` until it has `count`, those under way included,
    /// and waits for them. Returns how many it has, which may be fewer: the bounds on connections
    /// and sockets hold.
    ///
    /// That many are kept for [`warm_time`](ClientBuilder::warm_time), ten minutes by default,
    /// after this call or the origin's last request: they do not end for idleness, and one that
    /// dies or gets too old is replaced at once, or after a pause that grows to a minute while no
    /// request comes.
    ///
    /// # Errors
    /// A URL that cannot be used, a count of 0, or why no connection could be opened.
    pub async fn warm_up(&self, url: impl AsRef<str>, count: u32) -> Result<u32, Error> {
        if count == 0 {
            return Err(Error::config("count is 0; it must be at least 1"));
        }
        let origin = request::origin_of_url(&self.dispatch, url.as_ref())?;
        self.dispatch.warm_up(&origin, count).await
    }
    /// Reports a change of the machine's network: connections are probed before they get new
    /// requests, and origins whose attempts failed are tried again at once.
    pub fn network_changed(&self) {
        self.dispatch.network_changed();
    }
    /// The client's counts over its life and the pool now, of all origins together:
    /// [`ClientMetrics::to_openmetrics`] is the text for a scraper. Takes time for each origin and connection.
    pub fn metrics(&self) -> ClientMetrics {
        self.dispatch.metrics()
    }
    /// Makes an instrument of `meter` for each metric of [`ClientMetrics::to_openmetrics`], as
    /// [`MetricsReader::export_to`](crate::server::MetricsReader::export_to) does for a server, with names that begin with `http.client.` and
    /// `trunkline.client.`. They do not keep the client alive, and observe nothing once it is gone. Call it once for a client.
    #[cfg(feature = "opentelemetry")]
    pub fn export_metrics_to(&self, meter: &opentelemetry::metrics::Meter) {
        let dispatch = Arc::downgrade(&self.dispatch);
        let read = move || Some(dispatch.upgrade()?.metrics().to_openmetrics());
        crate::metrics::instruments::register(meter, read);
    }
    /// The client's connections now, their exchanges with the reason why each waits, and the requests in line. Each
    /// connection that is listed answers in a turn of its own, and what has not answered within 250 ms is left out; nothing
    /// is kept for that between two calls.
    pub async fn inspect(&self, limits: InspectLimits) -> ClientSnapshot {
        self.dispatch.inspect(limits).await
    }
    /// Keeps the timelines of requests that fail from now on, the last [`TIMELINES_MAX`], and numbers their errors
    /// ([`Error::timeline_id`]); requests that succeed cost nothing for it. A page that shows the client does so by itself.
    pub fn keep_timelines(&self) {
        self.dispatch.settings.counts.timelines.keep();
    }
    /// The timelines that are kept, the latest last; none before [`keep_timelines`](Self::keep_timelines).
    pub fn timelines(&self) -> Vec<KeptTimeline> {
        self.dispatch.settings.counts.timelines.list()
    }
    /// Totals over the client's life.
    pub fn totals(&self) -> Totals {
        self.dispatch.totals()
    }
    /// Counts of the requests sent with a handshake ([`ClientBuilder::early_data`]), by their
    /// outcome.
    pub fn early_data(&self) -> EarlyDataCounts {
        let memory = self.dispatch.settings.early_data.as_ref();
        memory.map_or_else(EarlyDataCounts::default, |memory| {
            EarlyDataCounts::of(memory.counts())
        })
    }
    /// Takes no more requests, fails those that wait, lets those on connections finish.
    pub fn shut_down(&self) {
        self.dispatch.shut_down(false);
    }
    /// As [`shut_down`](Self::shut_down), and what has not gone of bodies whose responses have ended, and of tunnels that
    /// were left, is not sent any more. A connection would wait for a peer that does not read a body as long as
    /// [`ClientTimeouts::headers`] lets a response take, and a tunnel for five minutes.
    pub fn shut_down_leaving_bodies(&self) {
        self.dispatch.shut_down(true);
    }
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}
