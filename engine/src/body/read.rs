//! Reading a body to its end.

use super::Body;
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::{Buf as _, Bytes, BytesMut};
use http_body::Body as _;
use std::future::poll_fn;
use std::pin::Pin;

/// U+FEFF in UTF-8 (RFC 3629 section 6).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

impl Body {
    /// All bytes of the body; trailers are dropped. The memory is the peer's choice: see
    /// [`bytes_within`](Self::bytes_within). A body of one piece is not copied.
    ///
    /// # Errors
    /// Whatever ends the body before its end, which includes a connection that is cut.
    pub async fn bytes(self) -> Result<Bytes, Error> {
        self.bytes_within(usize::MAX).await
    }
    /// As [`bytes`](Self::bytes), of at most `max` bytes.
    ///
    /// # Errors
    /// Also [`ErrorKind::Body`] when there are more; the exchange is reset then.
    pub async fn bytes_within(mut self, max: usize) -> Result<Bytes, Error> {
        let mut first = Bytes::new();
        let mut rest = BytesMut::new();
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut self).poll_frame(cx)).await {
            let Ok(data) = frame?.into_data() else {
                continue;
            };
            if data.len() > max - first.len() - rest.len() {
                let error = Error::new(ErrorKind::Body, Fault::Peer, Retry::Never);
                let error = error.with_url_of(self.url());
                return Err(error.with_text(format!("the body has more than {max} bytes")));
            }
            if first.is_empty() {
                first = data;
            } else {
                rest.extend_from_slice(&data);
            }
        }
        if rest.is_empty() {
            return Ok(first);
        }
        let mut whole = BytesMut::with_capacity(first.len() + rest.len());
        whole.extend_from_slice(&first);
        whole.extend_from_slice(&rest);
        Ok(whole.freeze())
    }
    /// The next piece, as the connection gave it; `None` at the end. Trailers are dropped.
    ///
    /// # Errors
    /// Whatever ends the body before its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, Error> {
        while let Some(frame) = poll_fn(|cx| Pin::new(&mut *self).poll_frame(cx)).await {
            match frame?.into_data() {
                Ok(data) if !data.is_empty() => return Ok(Some(data)),
                _ => {}
            }
        }
        Ok(None)
    }
    /// The body as UTF-8, without a byte order mark; what is none becomes U+FFFD. A charset in `content-type` is not
    /// read: [`ResponseExt::text`](crate::client::ResponseExt::text) does.
    ///
    /// # Errors
    /// As [`bytes`](Self::bytes).
    pub async fn text(self) -> Result<String, Error> {
        let mut bytes = self.bytes().await?;
        if bytes.starts_with(BYTE_ORDER_MARK) {
            bytes.advance(BYTE_ORDER_MARK.len());
        }
        Ok(match String::from_utf8(bytes.into()) {
            Ok(text) => text,
            Err(bytes) => String::from_utf8_lossy(bytes.as_bytes()).into_owned(),
        })
    }
    /// The body as JSON, of at most `max` bytes. `content-type` is not read.
    ///
    /// # Errors
    /// As [`bytes_within`](Self::bytes_within), and [`ErrorKind::Body`] where the bytes are not the JSON of
    /// a `T`: serde's error, with line and column, is the source.
    #[cfg(feature = "json")]
    pub async fn json_within<T: serde::de::DeserializeOwned>(self, max: usize) -> Result<T, Error> {
        let url = self.url.clone();
        let bytes = self.bytes_within(max).await?;
        serde_json::from_slice(&bytes).map_err(|error| {
            Error::new(ErrorKind::Body, Fault::Peer, Retry::Never)
                .with_url_of(url.as_deref())
                .with_text(format!(
                    "the body is not the JSON that was expected: {error}"
                ))
                .with_source(error)
        })
    }
    /// As [`json_within`](Self::json_within) without a bound: the memory is the peer's choice.
    ///
    /// # Errors
    /// As `json_within`.
    #[cfg(feature = "json")]
    pub async fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, Error> {
        self.json_within(usize::MAX).await
    }
}
