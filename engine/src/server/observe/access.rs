//! The access log: one record per finished exchange, passed to the user's function.

use super::timeline::{Changes, TimelineEnd, TimelineKeeper, since};
use crate::connection_info::ConnectionInfo;
use crate::driver::machine::inspection::listed_target;
use crate::error::Error;
use http::header::{HOST, REFERER, USER_AGENT};
use http::{HeaderName, HeaderValue, Method, StatusCode, Uri, Version};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};
use trunkline_core::http::{RequestHead, Token};
use trunkline_core::inspect::StreamWait;
use trunkline_core::proxy::ForwardedClient;

/// One exchange, when it is over: what an access log says about it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Access<'a> {
    /// The connection that it was on.
    pub connection: &'a ConnectionInfo,
    /// The client as a proxy has stated it ([`Server::forwarding`](crate::Server::forwarding)); `None`: the connection's peer is the client.
    pub forwarded: Option<&'a ForwardedClient>,
    /// The version of HTTP.
    pub version: Version,
    /// The method; `None`: what came is not a request.
    pub method: Option<&'a Method>,
    /// The target, with the authority where the version carries one; `None`: what came is not a
    /// request, or has a target that [`Uri`] cannot carry.
    pub target: Option<&'a Uri>,
    /// The field `host`, which HTTP/2 and HTTP/3 have seldom: the authority of [`target`](Self::target) stands in
    /// its place there.
    pub host: Option<&'a HeaderValue>,
    /// The field `referer`. Any byte but controls may stand in it, as in the next.
    pub referer: Option<&'a HeaderValue>,
    /// The field `user-agent`.
    pub user_agent: Option<&'a HeaderValue>,
    /// The final status; `None`: the exchange ended without an answer.
    pub status: Option<StatusCode>,
    /// Bytes of the response's body that were handed on to be sent.
    pub body_bytes: u64,
    /// From the request's head to the last byte of the answer that was handed on.
    pub time: Duration,
    /// Why the exchange ended before its response did; `None`: it did not. A client that was too
    /// slow, or broke another rule, is an [`ErrorKind::Violation`](crate::ErrorKind::Violation) that
    /// names the rule.
    pub error: Option<&'a Error>,
    /// The number by which [`Inspector::timelines`](crate::server::Inspector::timelines), an admin page and `trunkline explain` have the
    /// exchange's timeline; `None`: it has none, because none are kept ([`Server::keep_timelines`](crate::Server::keep_timelines)) or it
    /// neither failed nor was slow.
    pub timeline_id: Option<u64>,
}

/// The user's function, called with every finished exchange.
#[derive(Clone)]
pub(in crate::server) struct AccessLog(Arc<dyn Fn(&Access<'_>) + Send + Sync>);

impl AccessLog {
    pub(in crate::server) fn new(log: impl Fn(&Access<'_>) + Send + Sync + 'static) -> Self {
        Self(Arc::new(log))
    }
}

impl fmt::Debug for AccessLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AccessLog").finish_non_exhaustive()
    }
}

/// The fields of a request that its line in the log has.
#[derive(Debug, Default)]
pub(in crate::server) struct LoggedFields {
    host: Option<HeaderValue>,
    referer: Option<HeaderValue>,
    user_agent: Option<HeaderValue>,
}

impl LoggedFields {
    /// The fields that `get` finds; a copy of a value shares its bytes.
    fn of(get: impl Fn(HeaderName, Token) -> Option<HeaderValue>) -> Self {
        Self {
            host: get(HOST, Token::HOST),
            referer: get(REFERER, Token::REFERER),
            user_agent: get(USER_AGENT, Token::USER_AGENT),
        }
    }
    /// The fields of a request that no handler saw.
    pub(in crate::server) fn of_head(head: &RequestHead) -> Self {
        Self::of(|_, token| HeaderValue::from_bytes(head.get(token)?).ok())
    }
}

/// The part of an exchange that the access log reports.
#[derive(Debug)]
pub(in crate::server) struct Record {
    forwarded: Option<ForwardedClient>,
    version: Version,
    method: Option<Method>,
    target: Option<Uri>,
    fields: LoggedFields,
    began: Instant,
    /// For its timeline, where timelines are kept.
    changes: Option<Changes>,
    pub(in crate::server) status: Option<StatusCode>,
    pub(in crate::server) body_bytes: u64,
    pub(in crate::server) error: Option<Error>,
}

impl Record {
    pub(in crate::server) fn of<B>(
        request: &http::Request<B>,
        forwarded: Option<ForwardedClient>,
        began: Instant,
        has_timeline: bool,
    ) -> Box<Self> {
        Box::new(Self {
            forwarded,
            version: request.version(),
            method: Some(request.method().clone()),
            target: Some(request.uri().clone()),
            fields: LoggedFields::of(|name, _| request.headers().get(name).cloned()),
            began,
            changes: has_timeline.then(Changes::default),
            status: None,
            body_bytes: 0,
            error: None,
        })
    }
    /// The target, for a list of exchanges.
    pub(in crate::server) fn target(&self) -> Option<Box<str>> {
        let target = self.target.as_ref()?.path_and_query()?;
        Some(listed_target(target.as_str().as_bytes()))
    }
    /// The head of its response was given.
    pub(in crate::server) fn answered(&mut self, status: StatusCode) {
        self.status = Some(status);
        if let Some(changes) = &mut self.changes {
            changes.answered(self.began.elapsed(), status);
        }
    }
    /// Whether its timeline has the reasons of its waits.
    pub(in crate::server) fn has_timeline(&self) -> bool {
        self.changes.is_some()
    }
    /// Notes why the exchange does not go on now.
    pub(in crate::server) fn waits(&mut self, now: Instant, wait: StreamWait) {
        if let Some(changes) = &mut self.changes {
            changes.waits(since(self.began, now), wait);
        }
    }
    /// The exchange is over, and has a timeline if it failed or was slow; its number.
    pub(in crate::server) fn report_timeline(
        &self,
        timelines: &TimelineKeeper,
        connection: &ConnectionInfo,
        now: Instant,
    ) -> Option<u64> {
        let changes = self.changes.as_ref()?;
        let target = self.target();
        let end = TimelineEnd {
            method: self.method.as_ref().map_or("-", Method::as_str),
            target: target.as_deref().unwrap_or("-"),
            version: self.version,
            status: self.status,
            body_bytes: self.body_bytes,
            took: since(self.began, now),
            error: self.error.as_ref(),
        };
        timelines.note(changes, connection, &end)
    }
    /// A request that no handler saw, answered at once.
    pub(in crate::server) fn rejected(
        version: Version,
        (line, fields): ((Option<Method>, Option<Uri>), LoggedFields),
        status: Option<StatusCode>,
        began: Instant,
    ) -> Self {
        let (method, target) = line;
        Self {
            forwarded: None,
            version,
            method,
            target,
            fields,
            began,
            changes: None,
            status,
            body_bytes: 0,
            error: None,
        }
    }
    /// The exchange is over; `timeline_id`: it has a timeline.
    pub(in crate::server) fn report(
        &self,
        log: &AccessLog,
        connection: &ConnectionInfo,
        now: Instant,
        timeline_id: Option<u64>,
    ) {
        let access = Access {
            connection,
            forwarded: self.forwarded.as_ref(),
            version: self.version,
            method: self.method.as_ref(),
            target: self.target.as_ref(),
            host: self.fields.host.as_ref(),
            referer: self.fields.referer.as_ref(),
            user_agent: self.fields.user_agent.as_ref(),
            status: self.status,
            body_bytes: self.body_bytes,
            time: now.saturating_duration_since(self.began),
            error: self.error.as_ref(),
            timeline_id,
        };
        // The panic hook has reported it; the exchange is over in any case.
        let _ = catch_unwind(AssertUnwindSafe(|| (log.0)(&access)));
    }
}
