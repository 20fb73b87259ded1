//! Reading a response where it stands.

use super::ResponseUrl;
#[cfg(feature = "charset")]
use super::charset::charset_of;
use crate::body::{Body, BodyStream};
#[cfg(feature = "decompression")]
use crate::client::settings::policy::decompression;
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::Bytes;
use http::header::{CONTENT_LENGTH, TRANSFER_ENCODING};
use http::{Response, Uri};
use http_body::Body as _;
use std::future::Future;

/// Shorter ways to the body of a response and to its status as an error.
///
/// ```no_run
/// # async fn example() -> Result<(), trunkline::Error> {
/// use trunkline::ResponseExt;
///
/// let response = trunkline::get("https://example.org/").await?;
/// println!("{}", response.error_for_status()?.text().await?);
/// # Ok(())
/// # }
/// ```
pub trait ResponseExt: Sized {
    /// The response; or an error of kind [`ErrorKind::Status`] where its status is 400 or above.
    ///
    /// # Errors
    /// The status, with the peer at fault from 500 on.
    fn error_for_status(self) -> Result<Self, Error>;
    /// As [`error_for_status`](Self::error_for_status), by reference: the body can be read all the same.
    ///
    /// # Errors
    /// The status, with the peer at fault from 500 on.
    fn error_for_status_ref(&self) -> Result<&Self, Error>;
    /// All bytes of the body ([`Body::bytes`]).
    fn bytes(self) -> impl Future<Output = Result<Bytes, Error>> + Send;
    /// The body as text. With the feature `charset` by the charset of `content-type` where it names another than
    /// UTF-8, as browsers read it; else as [`Body::text`].
    fn text(self) -> impl Future<Output = Result<String, Error>> + Send;
    /// The body as JSON ([`Body::json`]).
    #[cfg(feature = "json")]
    fn json<T: serde::de::DeserializeOwned>(self) -> impl Future<Output = Result<T, Error>> + Send;
    /// The next piece of the body ([`Body::chunk`]).
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, Error>> + Send;
    /// The response with the bytes that were compressed by gzip, br, zstd or deflate, without the fields
    /// `content-encoding` and `content-length`; unchanged where it has no such coding, more than five, or is a part
    /// of a whole (206). For a client that does not decompress
    /// ([`ClientBuilder::decompression`](crate::client::ClientBuilder::decompression)). The body is decompressed as it
    /// is read, in pieces of at most 32 KiB; bytes that are not of the coding are an error of the body.
    #[cfg(feature = "decompression")]
    #[must_use]
    fn decompressed(self) -> Self;
    /// The bytes of the body that are left, where that is known: not of a chunked or a decompressed one. 0 for the
    /// response to a HEAD, whose field `content-length` is about another one.
    fn content_length(&self) -> Option<u64>;
    /// The body as a stream of its bytes ([`Body::into_stream`]).
    fn bytes_stream(self) -> BodyStream;
    /// The URL that the response came from: behind redirects the last one. `None`: the body is not the client's any
    /// more, or the client neither follows redirects nor retries nor decompresses and keeps no URL.
    fn url(&self) -> Option<&Uri>;
    /// The URL that the response came from, where redirects led to another than was asked for.
    fn redirected_to(&self) -> Option<&Uri>;
}

impl ResponseExt for Response<Body> {
    fn error_for_status(self) -> Result<Self, Error> {
        match self.error_for_status_ref() {
            Ok(_) => Ok(self),
            Err(error) => Err(error),
        }
    }
    fn error_for_status_ref(&self) -> Result<&Self, Error> {
        let status = self.status();
        let (fault, retry) = match status.as_u16() {
            ..400 => return Ok(self),
            400..500 => (Fault::Us, Retry::Never),
            _ => (Fault::Peer, Retry::OnlyIfIdempotent),
        };
        let error = Error::new(ErrorKind::Status(status), fault, retry);
        Err(error.with_url_of(self.body().url()))
    }
    fn bytes(self) -> impl Future<Output = Result<Bytes, Error>> + Send {
        self.into_body().bytes()
    }
    fn text(self) -> impl Future<Output = Result<String, Error>> + Send {
        #[cfg(not(feature = "charset"))]
        {
            self.into_body().text()
        }
        #[cfg(feature = "charset")]
        {
            let charset = charset_of(self.headers());
            async move {
                let Some(charset) = charset else {
                    return self.into_body().text().await;
                };
                let bytes = self.into_body().bytes().await?;
                Ok(charset.decode(&bytes).0.into_owned())
            }
        }
    }
    #[cfg(feature = "json")]
    fn json<T: serde::de::DeserializeOwned>(self) -> impl Future<Output = Result<T, Error>> + Send {
        self.into_body().json()
    }
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, Error>> + Send {
        self.body_mut().chunk()
    }
    #[cfg(feature = "decompression")]
    fn decompressed(self) -> Self {
        decompression::decompress(self)
    }
    fn content_length(&self) -> Option<u64> {
        // Whether a body that has not said its length came with its head is a matter of time.
        let is_unknown = self.headers().contains_key(TRANSFER_ENCODING)
            || self.body().url().is_some() && !self.headers().contains_key(CONTENT_LENGTH);
        let length = self.body().size_hint().exact();
        length.filter(|length| *length == 0 || !is_unknown)
    }
    fn bytes_stream(self) -> BodyStream {
        self.into_body().into_stream()
    }
    fn url(&self) -> Option<&Uri> {
        self.body().url()
    }
    fn redirected_to(&self) -> Option<&Uri> {
        self.extensions().get::<ResponseUrl>().map(|url| &url.0)
    }
}
