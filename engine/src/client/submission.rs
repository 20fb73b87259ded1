//! The callback API of the client: a request goes in with its head made, and a listener gets the events
//! of its exchange.

#[cfg(feature = "websocket")]
pub(super) mod websocket;

use super::Client;
use super::dispatch::Dispatch;
use super::exchange::{Exchange, Outgoing, Patience};
use super::listener::ExchangeListener;
use super::request;
use crate::body::Body;
use crate::config::within;
use crate::error::Error;
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::http::RequestHead;
use trunkline_core::pool::{Origin, Protocols, WaitReason};

/// A request whose head is made already.
#[derive(Debug)]
pub struct Submission {
    /// Where to; from [`Client::origin`].
    pub origin: Arc<Origin>,
    /// Its head, valid on every version that the origin may speak.
    pub head: RequestHead,
    /// Its body, whose length the head says where it is known.
    pub body: Body,
    /// It asks for the connection itself: an upgrade, or CONNECT, on an HTTP/1.1 origin. After a
    /// 101 or a 2xx the listener gets the connection's bytes, and the body is what goes out on it.
    pub leaves_http: bool,
    /// The connection that it goes on carries nothing after it, and says so to the peer. HTTP/1.1
    /// only: connections of other versions are shared.
    pub ends_connection: bool,
    /// Whether sending it twice intends the same as sending it once (RFC 9110 section 9.2.2).
    /// `None`: as its method says.
    pub idempotent: Option<bool>,
    /// It may be answered late: where requests are pipelined (HTTP/1.1), none goes out behind it
    /// before its response's head has come.
    pub blocks: bool,
    /// HTTP/1.1: its head goes out with the first piece of its body, or with the body's end, if one of them comes
    /// soon: a body that turns out to be empty is then no body.
    pub head_with_body: bool,
    /// As `ends_connection`, if its body is not empty.
    pub body_ends_connection: bool,
    /// HTTP/1.1: its target is written in absolute form (RFC 9112 section 3.2.2), for an origin that is a proxy.
    pub absolute_form: bool,
    /// Until the response's head, as `ClientTimeouts::headers`.
    pub headers_timeout: Option<Duration>,
    /// Between two pieces of the body, as `ClientTimeouts::body`.
    pub body_timeout: Option<Duration>,
    /// In line, in place of the client's setting.
    pub queue_timeout: Option<Duration>,
}

impl Client {
    /// The origin that a URL names. `server_name` is the name that its certificate must have,
    /// when it is not the URL's host; `protocols` stands in for the client's setting.
    ///
    /// # Errors
    /// A URL that cannot be used.
    pub fn origin(
        &self,
        url: &str,
        server_name: Option<&str>,
        protocols: Option<Protocols>,
    ) -> Result<Arc<Origin>, Error> {
        let mut origin = request::origin_of_url(&self.dispatch, url)?;
        origin.server_name = server_name
            .filter(|name| !name.eq_ignore_ascii_case(&origin.host))
            .map(Into::into);
        origin.protocols = protocols.unwrap_or(origin.protocols);
        Ok(Arc::new(origin))
    }
    /// Sends a request; `listener` gets its events, perhaps before this returns.
    pub fn submit(
        &self,
        submission: Submission,
        listener: Box<dyn ExchangeListener>,
    ) -> SubmittedExchange {
        let now = Instant::now();
        let timeouts = &self.dispatch.settings.timeouts;
        let queue = submission.queue_timeout.or(timeouts.queue);
        let mut request = Outgoing::new(now, submission.origin, submission.head, submission.body);
        request.listener = Some(listener);
        request.leaves_http = submission.leaves_http;
        request.ends_connection = submission.ends_connection;
        request.idempotent = submission.idempotent;
        request.blocks = submission.blocks;
        request.head_with_body = submission.head_with_body;
        request.body_ends_connection = submission.body_ends_connection;
        request.absolute_form = submission.absolute_form;
        request.patience = Patience {
            headers: submission.headers_timeout.map(within),
            body: submission.body_timeout.map(within),
        };
        request.wait_until = queue.map(|queue| now + within(queue));
        request.wait_stall = timeouts.queue_stall.filter(|_| queue.is_none());
        request.total_until = timeouts.total.map(|total| now + total);
        let exchange = Arc::clone(&request.exchange);
        self.dispatch.submit(now, request);
        SubmittedExchange {
            dispatch: Arc::clone(&self.dispatch),
            exchange,
        }
    }
}

/// Handle to a submitted request. Dropping it does not cancel the request.
#[derive(Clone, Debug)]
pub struct SubmittedExchange {
    dispatch: Arc<Dispatch>,
    exchange: Arc<Exchange>,
}

impl SubmittedExchange {
    /// Bytes of the response's body were taken: the peer may send as many more. Nothing is to be
    /// taken of a body that came whole.
    pub fn take(&self, bytes: usize) {
        self.exchange.take(bytes);
    }
    /// Takes the request out of its line, or resets the exchange. Its listener is dropped unheard.
    pub fn cancel(&self) {
        self.dispatch.abandon(&self.exchange);
    }
    /// As [`cancel`](Self::cancel), because the source of the request's body has failed: by a code that no server takes for
    /// the end of a body.
    pub fn fail_source(&self) {
        self.dispatch.fail_source(&self.exchange);
    }
    /// As [`cancel`](Self::cancel); but of a tunnel that is open, what was written to it is sent, then our side ends in
    /// order, and what the peer still sends is dropped. A peer that takes none of it has five minutes.
    pub fn leave(&self) {
        self.dispatch.leave(&self.exchange);
    }
    /// Why the request waits now; `None`: it is on a connection, or has ended.
    pub fn wait_reason(&self) -> Option<WaitReason> {
        self.dispatch.why_waits(&self.exchange)
    }
}
