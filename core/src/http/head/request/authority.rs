//! The authority of a request: host and port.

use super::RequestHead;
use crate::http::field::syntax;
use std::net::{Ipv4Addr, Ipv6Addr};

impl RequestHead {
    /// Whether the authority names `host`, with any port (RFC 9110 section 4.3.3: a TLS connection
    /// is for the host that the client requested). False without an authority.
    pub fn is_for(&self, host: &str) -> bool {
        let name = self.host_name();
        // A name may end in the dot of the root (RFC 1034 section 3.1); SNI leaves it out.
        let name = name.strip_suffix(b".").unwrap_or(name);
        !name.is_empty() && name.eq_ignore_ascii_case(host.as_bytes())
    }
    /// Whether the authority is an IP address, whatever the port.
    pub fn is_for_address(&self) -> bool {
        let Ok(name) = std::str::from_utf8(self.host_name()) else {
            return false;
        };
        let in_brackets = name
            .strip_prefix('[')
            .and_then(|name| name.strip_suffix(']'));
        match in_brackets {
            Some(address) => address.parse::<Ipv6Addr>().is_ok(),
            None => name.parse::<Ipv4Addr>().is_ok() || self.is_for_bare_address(),
        }
    }
    fn is_for_bare_address(&self) -> bool {
        self.authority().and_then(syntax::bare_address).is_some()
    }
    /// The authority without its port.
    fn host_name(&self) -> &[u8] {
        let authority = self.authority().unwrap_or_default();
        let end = match authority.last() {
            // An IPv6 address without a port.
            Some(b']') => authority.len(),
            _ => {
                let colon = authority.iter().rposition(|byte| *byte == b':');
                colon.unwrap_or(authority.len())
            }
        };
        &authority[..end]
    }
}

#[cfg(test)]
#[path = "authority_test.rs"]
mod authority_test;
