//! Whom a request is for.

use super::head::RequestHead;

impl RequestHead {
    /// Whether the authority names `host`, whatever the port (RFC 9110 section 4.3.3: a TLS
    /// connection is for the host that the client asked for). A request without one names nobody.
    pub fn is_for(&self, host: &str) -> bool {
        let authority = self.authority().unwrap_or_default();
        let end = match authority.last() {
            // An IPv6 address without a port.
            Some(b']') => authority.len(),
            _ => {
                let colon = authority.iter().rposition(|byte| *byte == b':');
                colon.unwrap_or(authority.len())
            }
        };
        let name = &authority[..end];
        // A name may end in the dot of the root (RFC 1034 section 3.1); SNI leaves it out.
        let name = name.strip_suffix(b".").unwrap_or(name);
        !name.is_empty() && name.eq_ignore_ascii_case(host.as_bytes())
    }
}

#[cfg(test)]
#[path = "authority_test.rs"]
mod authority_test;
