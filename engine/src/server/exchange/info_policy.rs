//! The facts of a connection that its readers need: handlers, logs and callbacks.

use super::forwarding::Forwarding;
use super::targets::Targets;
use crate::driver::machine::qlog::Qlog;
use crate::net::address_list::TrustedPeers;
use crate::server::observe::timeline::TimelineKeeper;
use crate::server::observe::{AccessLog, HandshakeLog};
use crate::tls::Judge;
use std::net::SocketAddr;

/// Which facts of a connection handlers, logs and listeners need.
#[derive(Clone, Debug, Default)]
pub(in crate::server) struct InfoPolicy {
    /// Requests carry it.
    pub(in crate::server) info: bool,
    /// Callbacks get cleartext connections before their version is known.
    pub(in crate::server) accepts: bool,
    pub(in crate::server) targets: Targets,
    pub(in crate::server) log: Option<AccessLog>,
    pub(in crate::server) handshake_log: Option<HandshakeLog>,
    /// Peers that name their clients' addresses.
    pub(in crate::server) proxies: Option<TrustedPeers>,
    /// Peers that state the clients of their requests.
    pub(in crate::server) forwarding: Option<Forwarding>,
    /// Requests keep their target for lists of exchanges.
    pub(in crate::server) keeps_targets: bool,
    /// Requests that fail or are slow have timelines.
    pub(in crate::server) timelines: Option<TimelineKeeper>,
    /// Where packets and frames are written about, if anywhere.
    pub(in crate::server) qlog: Option<Qlog>,
    /// Where HTTP/3 is served.
    pub(in crate::server) quic_addr: Option<SocketAddr>,
    /// TLS callbacks need the addresses of their handshakes.
    pub(in crate::server) tls_reports_addresses: bool,
    /// Verifies client certificates, if they are requested.
    pub(in crate::server) judge: Option<Judge>,
}

impl InfoPolicy {
    /// No reader of connection info exists, so it is not collected.
    pub(in crate::server) fn is_nothing(&self) -> bool {
        let has_reader = self.info || self.targets.needs_sni() || self.log.is_some();
        !has_reader && !self.keeps_targets && self.timelines.is_none() && self.forwarding.is_none()
    }
    /// No reader of connection addresses exists.
    pub(in crate::server) fn is_placeless(&self) -> bool {
        self.is_nothing() && !self.tls_reports_addresses && self.handshake_log.is_none()
    }
}
