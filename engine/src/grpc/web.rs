//! gRPC-Web: calls of browsers, whose trailers are the last bytes of the body (PROTOCOL-WEB.md of gRPC).

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use bytes::{BufMut, Bytes, BytesMut};
use http::header::{ACCEPT, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue};

const TYPE: &[u8] = b"application/grpc-web";
const TEXT_TYPE: &[u8] = b"application/grpc-web-text";

/// The flag of a message that is the trailers.
const TRAILERS_FLAG: u8 = 0x80;

/// How the bytes of a call of gRPC-Web are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WebCoding {
    /// As they are.
    Binary,
    /// In base64.
    Text,
}

impl WebCoding {
    /// The coding of the response that a request accepts; `None`: the request is not one of gRPC-Web.
    pub(super) fn accepted(fields: &HeaderMap) -> Option<Self> {
        Self::of(fields.get(CONTENT_TYPE))?;
        Some(Self::of(fields.get(ACCEPT)).unwrap_or(Self::Binary))
    }
    /// The coding of a message with these fields.
    pub(super) fn used(fields: &HeaderMap) -> Option<Self> {
        Self::of(fields.get(CONTENT_TYPE))
    }
    fn of(media_type: Option<&HeaderValue>) -> Option<Self> {
        let media_type = media_type?.as_bytes();
        if media_type.starts_with(TEXT_TYPE) {
            return Some(Self::Text);
        }
        media_type.starts_with(TYPE).then_some(Self::Binary)
    }
    pub(super) fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Binary => "application/grpc-web+proto",
            Self::Text => "application/grpc-web-text+proto",
        })
    }
    /// The message that these trailers are.
    pub(super) fn trailers(self, fields: &HeaderMap) -> Bytes {
        let mut block = BytesMut::new();
        for (name, value) in fields {
            for part in [name.as_str().as_bytes(), b":", value.as_bytes(), b"\r\n"] {
                block.put_slice(part);
            }
        }
        let mut message = BytesMut::with_capacity(5 + block.len());
        message.put_u8(TRAILERS_FLAG);
        message.put_u32(block.len() as u32);
        message.put(block);
        match self {
            Self::Binary => message.freeze(),
            Self::Text => BASE64_STANDARD.encode(message).into(),
        }
    }
}
