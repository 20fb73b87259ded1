//! The methods that change the meaning of a message (RFC 9110 section 9.3).

use crate::http::RequestHead;

/// The method of a request, as far as it decides about its content and that of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodKind {
    /// Asks for a tunnel (RFC 9110 section 9.3.6).
    Connect,
    /// Asks for a tunnel for a protocol (RFC 8441, RFC 9220), which may have datagrams.
    ExtendedConnect,
    /// The response has no content (RFC 9110 section 9.3.2).
    Head,
    Other,
}

impl MethodKind {
    #[inline]
    pub(crate) fn of(request: &RequestHead) -> Self {
        match request.method() {
            b"CONNECT" if request.protocol().is_some() => Self::ExtendedConnect,
            b"CONNECT" => Self::Connect,
            b"HEAD" => Self::Head,
            _ => Self::Other,
        }
    }
    #[inline]
    pub(crate) fn asks_tunnel(self) -> bool {
        matches!(self, Self::Connect | Self::ExtendedConnect)
    }
    /// The method where it decides about the content of a response, else nothing.
    #[inline]
    pub(crate) fn as_bytes(self) -> &'static [u8] {
        match self {
            Self::Connect | Self::ExtendedConnect => b"CONNECT",
            Self::Head => b"HEAD",
            Self::Other => b"",
        }
    }
}
