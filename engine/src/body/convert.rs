//! Bodies from bytes and texts that are all there.

use crate::body::Body;
use bytes::Bytes;

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::full(bytes)
    }
}
impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::full(bytes)
    }
}
impl From<String> for Body {
    fn from(text: String) -> Self {
        Self::full(text)
    }
}
impl From<&'static [u8]> for Body {
    fn from(bytes: &'static [u8]) -> Self {
        Self::full(bytes)
    }
}
impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::full(text)
    }
}
