//! The rule for requests that an origin server's connection may carry (RFC 9110 sections 7.4 and 15.5.20).

use super::head::RequestHead;

/// The schemes that the requests of a connection may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SchemeRule {
    /// `https` alone: the transport is secured.
    Https,
    /// `http` alone: the transport is not secured.
    Http,
    /// Both: a gateway has ended TLS, and passes on what its client said.
    FromGateway,
}

/// The hosts that the requests of a connection may be for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostRule {
    /// Every host.
    Any,
    /// The host that the client named by SNI, without a port.
    Named(Box<str>),
    /// IP addresses: the client named no host, and SNI carries names only (RFC 6066 section 3).
    Addresses,
}

/// Decides whether a request belongs on its connection. What it refuses is answered with 421.
#[derive(Clone, Debug)]
pub struct TargetRule {
    scheme: SchemeRule,
    host: HostRule,
}

impl TargetRule {
    /// A rule of both parts.
    pub fn new(scheme: SchemeRule, host: HostRule) -> Self {
        Self { scheme, host }
    }
    /// Whether the request may be handled. An ordinary CONNECT always may: its authority is the far
    /// end of a tunnel, and it has no scheme (RFC 9110 section 9.3.6). An extended one names a URI
    /// as others do (RFC 8441 section 4).
    #[inline]
    pub fn admits(&self, head: &RequestHead) -> bool {
        self.admits_scheme(head.scheme()) && self.admits_host(head)
    }
    /// A request in origin-form has no scheme: it has that of its connection (RFC 9112 section
    /// 3.3).
    #[inline]
    fn admits_scheme(&self, scheme: Option<&[u8]>) -> bool {
        let Some(scheme) = scheme else {
            return true;
        };
        let (https, http) = match self.scheme {
            SchemeRule::Https => (true, false),
            SchemeRule::Http => (false, true),
            SchemeRule::FromGateway => (true, true),
        };
        // RFC 3986 section 3.1: schemes are compared without case.
        https && scheme.eq_ignore_ascii_case(b"https")
            || http && scheme.eq_ignore_ascii_case(b"http")
    }
    #[inline]
    fn admits_host(&self, head: &RequestHead) -> bool {
        if self.host == HostRule::Any {
            return true;
        }
        if head.method() == b"CONNECT" && head.protocol().is_none() {
            return true;
        }
        match &self.host {
            HostRule::Any => true,
            HostRule::Named(host) => head.is_for(host),
            HostRule::Addresses => head.is_for_address(),
        }
    }
}

#[cfg(test)]
#[path = "target_rule_test.rs"]
mod target_rule_test;
