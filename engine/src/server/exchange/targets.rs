//! The requests that a server's connections carry, by scheme and host; all others are answered with
//! 421.

use crate::config::ServerConfig;
use crate::connection_info::{ConnectionInfo, TlsInfo};
use crate::tls::Tls;
use trunkline_core::http::{HostRule, SchemeRule, TargetRule};

/// The server's settings for the targets of requests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::server) struct Targets {
    scheme_from_gateway: bool,
    sni: Sni,
}

/// How SNI restricts the requests of its connection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Sni {
    /// Nothing.
    #[default]
    Ignored,
    /// Requests are for the host that SNI names, if it names one.
    Binds,
    /// As `Binds`; and without SNI requests must name an address.
    BindsStrictly,
}

impl Targets {
    /// Where names are given settings of their own, what a client had to show for one says nothing of
    /// another (CVE-2025-23419, CVE-2025-23048); a client that names none may be asked for less still.
    pub(in crate::server) fn new(config: &ServerConfig, tls: Option<&Tls>) -> Self {
        let chooses = tls.is_some_and(|tls| tls.chooser().is_some());
        let judges = tls.is_some_and(|tls| tls.judge().is_some());
        let binds = config.sni_is_binding.unwrap_or(chooses || judges);
        Self {
            scheme_from_gateway: config.scheme_from_gateway,
            sni: match (binds, chooses) {
                (false, _) => Sni::Ignored,
                (true, false) => Sni::Binds,
                (true, true) => Sni::BindsStrictly,
            },
        }
    }
    /// Whether SNI has to be known.
    pub(super) fn needs_sni(self) -> bool {
        self.sni != Sni::Ignored
    }
    /// The rule of a connection; `secure`: it is under TLS, `info`: what that agreed on, if it has to
    /// be known.
    pub(in crate::server) fn rule_of(
        self,
        secure: bool,
        info: Option<&ConnectionInfo>,
    ) -> TargetRule {
        let scheme = match (self.scheme_from_gateway, secure) {
            (true, _) => SchemeRule::FromGateway,
            (false, true) => SchemeRule::Https,
            (false, false) => SchemeRule::Http,
        };
        let named = info
            .and_then(ConnectionInfo::tls)
            .and_then(TlsInfo::server_name);
        let host = match (self.sni, named) {
            _ if !secure => HostRule::Any,
            (Sni::Ignored, _) | (Sni::Binds, None) => HostRule::Any,
            (Sni::Binds | Sni::BindsStrictly, Some(name)) => HostRule::Named(name.into()),
            (Sni::BindsStrictly, None) => HostRule::Addresses,
        };
        TargetRule::new(scheme, host)
    }
}
