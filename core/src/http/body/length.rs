//! The length of a message's body: one decision for requests, one for responses (RFC 9112 section
//! 6.3), and the check of DATA against content-length (RFC 9113 section 8.1.1).

use crate::error::Violation;
use crate::http::field::syntax::is_token;
use crate::http::{Field, RequestHead, ResponseHead, Token};

/// The body behind a head on an HTTP/1.1 connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyLength {
    /// No body; the next message may follow.
    None,
    /// The body's bytes; may be 0.
    Known(u64),
    /// The chunked coding (RFC 9112 section 7.1).
    Chunked,
    /// Everything until the connection closes; responses only.
    UntilClose,
    /// Another protocol: after 101, and after a 2xx to CONNECT.
    Tunnel,
}

impl BodyLength {
    /// The body of a request. A CONNECT that announces a body is refused: whether its bytes belong
    /// to the body or to the tunnel would depend on the response (RFC 9110 section 9.3.6).
    ///
    /// # Errors
    /// [`Violation::TransferEncodingInvalid`] for a coding other than chunked;
    /// [`Violation::ConnectMalformed`] for a CONNECT with a body.
    pub fn of_request(head: &RequestHead) -> Result<Self, Violation> {
        let length = match (head.has_transfer_encoding(), head.content_length()) {
            (true, _) => chunked(head.fields())?,
            (false, Some(length)) => Self::Known(length),
            (false, None) => Self::None,
        };
        let connect = head.method() == b"CONNECT" && head.protocol().is_none();
        if connect && !matches!(length, Self::None | Self::Known(0)) {
            return Err(Violation::ConnectMalformed);
        }
        Ok(length)
    }
    /// The body of a response; `method` is the request's. The order of the rows is that of RFC 9112
    /// section 6.3.
    ///
    /// # Errors
    /// [`Violation::TransferEncodingInvalid`] for chunked before another coding, with a parameter or in quotes.
    pub fn of_response(method: &[u8], head: &ResponseHead) -> Result<Self, Violation> {
        match ResponseContent::by_status(method, head.status) {
            ResponseContent::None => Ok(Self::None),
            ResponseContent::Tunnel => Ok(Self::Tunnel),
            ResponseContent::Any if head.has_transfer_encoding() => coded(head.fields()),
            ResponseContent::Any => Ok(head.content_length().map_or(Self::UntilClose, Self::Known)),
        }
    }
}

/// The content that a response can have, by its status and the method of its request. The order of the
/// rows is that of RFC 9112 section 6.3, on every version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResponseContent {
    /// None (RFC 9110 section 6.4.1).
    None,
    /// Another protocol follows: after 101, and after a 2xx to CONNECT (RFC 9110 section 9.3.6).
    Tunnel,
    /// Any, of the length that the head says.
    Any,
}

impl ResponseContent {
    #[inline]
    pub(crate) fn by_status(method: &[u8], status: u16) -> Self {
        match status {
            101 => Self::Tunnel,
            100..=199 | 204 | 304 => Self::None,
            _ if method == b"HEAD" => Self::None,
            200..=299 if method == b"CONNECT" => Self::Tunnel,
            _ => Self::Any,
        }
    }
}

/// The transfer codings of a message, in their order; empty ones too.
fn codings<'a>(fields: impl Iterator<Item = Field<'a>>) -> impl Iterator<Item = &'a [u8]> {
    fields
        .filter(|field| field.token == Some(Token::TRANSFER_ENCODING))
        .flat_map(|field| field.value.split(|&byte| byte == b','))
        .map(<[u8]>::trim_ascii)
}

/// The framing of a response with transfer codings (RFC 9112 section 6.3): chunked where it is the last of
/// them, else everything until the connection closes. Codings beside chunked are left to the reader of the body,
/// as is the field. What another recipient may take for chunked and we do not is refused.
fn coded<'a>(fields: impl Iterator<Item = Field<'a>>) -> Result<BodyLength, Violation> {
    let mut length = BodyLength::UntilClose;
    // RFC 9110 section 5.6.1: empty elements of a list are ignored.
    for coding in codings(fields).filter(|coding| !coding.is_empty()) {
        if length == BodyLength::Chunked {
            return Err(Violation::TransferEncodingInvalid);
        }
        if coding.eq_ignore_ascii_case(b"chunked") {
            length = BodyLength::Chunked;
            continue;
        }
        let name = coding.split(|&byte| byte == b';').next().unwrap_or(coding);
        let name = name.trim_ascii();
        if !is_token(name) || name.eq_ignore_ascii_case(b"chunked") {
            return Err(Violation::TransferEncodingInvalid);
        }
    }
    Ok(length)
}

/// The one transfer coding of requests that we speak, and only alone. RFC 9112 section 6.1: chunked is the last
/// coding and comes once; any other coding is one that we would have to undo.
fn chunked<'a>(fields: impl Iterator<Item = Field<'a>>) -> Result<BodyLength, Violation> {
    let mut others = false;
    let mut last_is_chunked = false;
    for coding in codings(fields) {
        if coding.is_empty() || last_is_chunked {
            return Err(Violation::TransferEncodingInvalid);
        }
        last_is_chunked = coding.eq_ignore_ascii_case(b"chunked");
        others |= !last_is_chunked;
    }
    match (last_is_chunked, others) {
        (true, false) => Ok(BodyLength::Chunked),
        (true, true) => Err(Violation::TransferEncodingUnsupported),
        (false, _) => Err(Violation::TransferEncodingInvalid),
    }
}

/// Counts content against content-length: that which comes over HTTP/2 and HTTP/3, and that which we send
/// over any version. Invariant: what was received never
/// exceeds what was announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// Bytes still to come, or [`ANY`].
    left: u64,
}

/// Any number of bytes may come. No stream carries as many: a length of this size counts as one less.
const ANY: u64 = u64::MAX;

impl Expected {
    /// Any number of bytes.
    pub fn any() -> Self {
        Self { left: ANY }
    }
    fn announced(length: Option<u64>) -> Self {
        Self {
            left: length.map_or(ANY, |length| length.min(ANY - 1)),
        }
    }
    /// The body of a request.
    pub fn of_request(head: &RequestHead) -> Self {
        Self::announced(head.content_length())
    }
    /// The body of a final response; `method` is the request's. Without content are the answers
    /// to HEAD, 204 and 304: there content-length speaks of another message (RFC 9110
    /// section 8.6), and a byte of DATA is one too many.
    pub fn of_response(method: &[u8], head: &ResponseHead) -> Self {
        match ResponseContent::by_status(method, head.status) {
            ResponseContent::None => Self { left: 0 },
            // RFC 9110 section 9.3.6: content-length in a 2xx to CONNECT is ignored.
            ResponseContent::Tunnel => Self::any(),
            ResponseContent::Any => Self::announced(head.content_length()),
        }
    }
    /// `bytes` of body came, padding not counted.
    ///
    /// # Errors
    /// [`Violation::ContentLengthMismatch`] when more came than was announced.
    pub fn receive(&mut self, bytes: u64) -> Result<(), Violation> {
        if self.left != ANY {
            self.left = self
                .left
                .checked_sub(bytes)
                .ok_or(Violation::ContentLengthMismatch)?;
        }
        Ok(())
    }
    /// The peer ended its side.
    ///
    /// # Errors
    /// [`Violation::ContentLengthMismatch`] when less came than was announced.
    pub fn end(&self) -> Result<(), Violation> {
        match self.left {
            ANY | 0 => Ok(()),
            _ => Err(Violation::ContentLengthMismatch),
        }
    }
    /// Whether a body of `bytes` and no more is what was announced.
    pub fn is_met_by(&self, bytes: u64) -> bool {
        self.left == ANY || self.left == bytes
    }
    /// Bytes still to come, where content-length says so.
    pub fn left(&self) -> Option<u64> {
        (self.left != ANY).then_some(self.left)
    }
}

#[cfg(test)]
#[path = "length_test.rs"]
mod length_test;
