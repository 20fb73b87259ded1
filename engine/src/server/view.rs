//! What is told of a connection to the handlers and logs of its exchanges.

use super::accept::Shown;
use super::access::{AccessLog, Record};
use super::metrics::Counters;
use crate::body::Body;
use crate::connection_info::{ConnectionInfo, TlsInfo};
use http::Request;
use std::sync::Arc;
use std::time::Instant;
use trunkline_core::http::RequestHead;

/// What handlers and the access log learn of the connection.
pub(super) struct View {
    info: ConnectionInfo,
    /// Requests carry it.
    attach: bool,
    sni_is_binding: bool,
    log: Option<AccessLog>,
    pub(super) counters: Arc<Counters>,
}

impl View {
    pub(super) fn new(info: ConnectionInfo, shown: &Shown, counters: &Arc<Counters>) -> Self {
        Self {
            info,
            attach: shown.info,
            sni_is_binding: shown.sni_is_binding,
            log: shown.log.clone(),
            counters: Arc::clone(counters),
        }
    }
    /// Whether the request is for another host than the connection.
    pub(super) fn is_misdirected(&self, head: &RequestHead) -> bool {
        let name = self.info.tls().and_then(TlsInfo::server_name);
        self.sni_is_binding && name.is_some_and(|name| !head.is_for(name))
    }
    /// Tells the request what it came on, and begins its line in the access log.
    pub(super) fn introduce(
        &self,
        request: &mut Request<Body>,
        now: Instant,
    ) -> Option<Box<Record>> {
        if self.attach {
            request.extensions_mut().insert(self.info.clone());
        }
        self.log.as_ref().map(|_| Record::of(request, now))
    }
    /// The exchange is over.
    pub(super) fn tell(&self, record: &Record, now: Instant) {
        if let Some(log) = &self.log {
            record.tell(log, &self.info, now);
        }
    }
}
