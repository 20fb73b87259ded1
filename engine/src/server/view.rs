//! What is told of a connection to the handlers and logs of its exchanges.

use super::accept::Shown;
use super::access::{AccessLog, Record};
use super::metrics::{Counters, add};
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
    binding: Option<Binding>,
    log: Option<AccessLog>,
}

/// The one host that a connection is for.
pub(super) struct Binding {
    host: Box<str>,
    counters: Arc<Counters>,
}

impl Binding {
    /// The host that SNI named, where that binds.
    pub(super) fn of(
        info: &ConnectionInfo,
        shown: &Shown,
        counters: &Arc<Counters>,
    ) -> Option<Self> {
        let named = info.tls().and_then(TlsInfo::server_name);
        named.filter(|_| shown.sni_is_binding).map(|host| Self {
            host: host.into(),
            counters: Arc::clone(counters),
        })
    }
    /// Whether the request is for another host, to be answered with 421 (RFC 9110 section 15.5.20);
    /// counts it then.
    pub(super) fn refuses(&self, head: &RequestHead) -> bool {
        let refuses = !head.is_for(&self.host);
        if refuses {
            add(&self.counters.misdirected, 1);
        }
        refuses
    }
}

impl View {
    pub(super) fn new(info: ConnectionInfo, shown: &Shown, counters: &Arc<Counters>) -> Self {
        Self {
            binding: Binding::of(&info, shown, counters),
            info,
            attach: shown.info,
            log: shown.log.clone(),
        }
    }
    /// Whether the request is for another host than the connection.
    pub(super) fn is_misdirected(&self, head: &RequestHead) -> bool {
        let binding = self.binding.as_ref();
        binding.is_some_and(|binding| binding.refuses(head))
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
