//! The context of a connection for the handlers and logs of its exchanges.

use super::forwarding::Forwarding;
use super::info_policy::InfoPolicy;
use super::request::{Requests, version_of};
use crate::body::Body;
use crate::connection_info::ConnectionInfo;
use crate::error::Error;
use crate::server::observe::access::{AccessLog, LoggedFields, Record};
use crate::server::observe::timeline::TimelineKeeper;
use http::{Request, StatusCode};
use std::time::Instant;
use trunkline_core::error::{Closed, Violation};
use trunkline_core::http::{RequestHead, Reset, ResetBy, Version};

/// Connection facts for handlers and the access log.
pub(in crate::server) struct ConnectionContext {
    info: ConnectionInfo,
    /// Requests carry it.
    attach: bool,
    log: Option<AccessLog>,
    keeps_targets: bool,
    timelines: Option<TimelineKeeper>,
    /// `None`: the peer is no trusted proxy.
    forwarding: Option<Forwarding>,
    version: Version,
    /// An exchange ended because the peer broke a rule, and has reported it.
    broken_reported: bool,
}

impl ConnectionContext {
    pub(in crate::server) fn new(
        info: ConnectionInfo,
        version: Version,
        info_policy: &InfoPolicy,
    ) -> Self {
        let forwarding = info_policy.forwarding.as_ref();
        let forwarding = forwarding.filter(|it| it.trusts(info.peer_addr()));
        Self {
            forwarding: forwarding.cloned(),
            info,
            attach: info_policy.info,
            log: info_policy.log.clone(),
            keeps_targets: info_policy.keeps_targets,
            timelines: info_policy.timelines.clone(),
            version,
            broken_reported: false,
        }
    }
    /// Adds the connection's facts to the request, and begins its line in the access log.
    pub(in crate::server) fn add_facts(
        &self,
        request: &mut Request<Body>,
        now: Instant,
    ) -> Option<Box<Record>> {
        if self.attach {
            request.extensions_mut().insert(self.info.clone());
        }
        let forwarding = self.forwarding.as_ref();
        let client = forwarding.and_then(|it| it.client(request.headers()));
        if let Some(client) = &client {
            request.extensions_mut().insert(client.clone());
        }
        let has_timeline = self.timelines.as_ref().is_some_and(TimelineKeeper::is_on);
        let keeps = self.log.is_some() || self.keeps_targets || has_timeline;
        keeps.then(|| Record::of(request, client, now, has_timeline))
    }
    /// A request was answered with `status`, and no handler saw it.
    pub(super) fn report_rejected(
        &self,
        requests: &mut Requests,
        head: &RequestHead,
        status: StatusCode,
        now: Instant,
    ) {
        if self.log.is_some() {
            let secure = self.info.tls().is_some();
            let line = requests.line(head, self.version, secure);
            let version = version_of(self.version);
            let fields = LoggedFields::of_head(head);
            let record = Record::rejected(version, (line, fields), Some(status), now);
            self.report(&record, now);
        }
    }
    /// The exchange of `record` ended early.
    pub(in crate::server) fn note_reset(&mut self, record: &mut Record, reset: Reset) {
        record.error = Some(Error::reset(reset));
        match reset.by {
            ResetBy::Us(violation) => {
                self.broken_reported = true;
                // The machine answers for the handler, if that has not.
                record.status = record.status.or(self.refusal(violation));
            }
            ResetBy::Connection(Closed::ByUs(_)) => self.broken_reported = true,
            _ => {}
        }
    }
    /// The body of a request was lost, whose handler answers it: the end of the connection is no refusal of the machine's.
    pub(in crate::server) fn note_lost_body(&mut self, record: Option<&mut Record>, reset: Reset) {
        self.broken_reported = true;
        if let Some(record) = record {
            record.error = Some(Error::reset(reset));
        }
    }
    /// The connection is over. What the machine refused to take for a request has its line too.
    pub(in crate::server) fn report_closed(&self, closed: Closed, now: Instant) {
        if let Closed::ByUs(violation) = closed
            && !self.broken_reported
            && let Some(status) = self.refusal(violation)
        {
            let version = version_of(self.version);
            let nothing = ((None, None), LoggedFields::default());
            let mut record = Record::rejected(version, nothing, Some(status), now);
            record.error = Some(Error::violation(violation));
            self.report(&record, now);
        }
    }
    /// The status that an HTTP/1.1 machine answers a broken rule with by itself.
    fn refusal(&self, violation: Violation) -> Option<StatusCode> {
        let status = match self.version {
            Version::Http10 | Version::Http11 => violation.h1_status(),
            Version::Http2 | Version::Http3 => 0,
        };
        StatusCode::from_u16(status).ok()
    }
    /// The exchange is over.
    pub(in crate::server) fn report(&self, record: &Record, now: Instant) {
        let timelines = self.timelines.as_ref();
        let timeline_id =
            timelines.and_then(|timelines| record.report_timeline(timelines, &self.info, now));
        if let Some(log) = &self.log {
            record.report(log, &self.info, now, timeline_id);
        }
    }
}
