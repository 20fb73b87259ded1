//! Methods (RFC 9110 section 9.3): those that change the meaning of a message, and names for the others.

use crate::http::RequestHead;

/// The method of a request. The first three decide about its content and that of its response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MethodKind {
    /// Asks for a tunnel (RFC 9110 section 9.3.6).
    Connect,
    /// Asks for a tunnel for a protocol (RFC 8441, RFC 9220), which may have datagrams.
    ExtendedConnect,
    /// The response has no content (RFC 9110 section 9.3.2).
    Head,
    Get,
    Post,
    Put,
    Delete,
    Patch,
    Options,
    Other,
}

impl MethodKind {
    #[inline]
    pub(crate) fn of(request: &RequestHead) -> Self {
        match request.method() {
            b"GET" => Self::Get,
            b"POST" => Self::Post,
            b"HEAD" => Self::Head,
            b"PUT" => Self::Put,
            b"DELETE" => Self::Delete,
            b"PATCH" => Self::Patch,
            b"OPTIONS" => Self::Options,
            b"CONNECT" if request.protocol().is_some() => Self::ExtendedConnect,
            b"CONNECT" => Self::Connect,
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
            _ => b"",
        }
    }
    /// The method for lists of exchanges.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Connect | Self::ExtendedConnect => "CONNECT",
            Self::Head => "HEAD",
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
            Self::Patch => "PATCH",
            Self::Options => "OPTIONS",
            Self::Other => "other",
        }
    }
}
