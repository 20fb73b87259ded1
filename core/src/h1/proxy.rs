//! The proxy that forwards requests one by one (RFC 9112 section 3.2.2), as the connection to it knows it.

use std::fmt;
use std::sync::Arc;

/// Client: the proxy at the other end, which forwards each request by itself.
#[derive(Clone, Default)]
pub struct Proxy {
    /// The value of `proxy-authorization` on every request that brings none of its own. It must
    /// be a valid field value.
    pub authorization: Option<Box<[u8]>>,
    /// Names and values of further fields on every request that brings none of that
    /// name. They must be valid, and neither about framing nor about the connection.
    pub fields: Arc<[ProxyField]>,
}

/// A field that is meant for a proxy: its name as it is spelled on the wire, and its value.
pub type ProxyField = (Box<[u8]>, Box<[u8]>);

impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Credentials stay out of logs.
        f.debug_struct("Proxy").finish_non_exhaustive()
    }
}
