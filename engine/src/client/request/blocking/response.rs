//! A response whose body is read by calls that wait.

use super::Background;
use crate::body::Body;
use crate::client::ResponseExt;
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::{Buf, Bytes};
use http::{HeaderMap, StatusCode, Uri, Version};
use http_body::Body as _;
use std::future::poll_fn;
use std::io::{self, Read, Write};
use std::pin::Pin;
use std::sync::Arc;

/// A response. Its body is read by one of the methods, or piece by piece as [`Read`].
#[derive(Debug)]
pub struct BlockingResponse {
    response: http::Response<Body>,
    background: Arc<Background>,
    /// Bytes that were received and not read.
    piece: Bytes,
}

impl BlockingResponse {
    pub(super) fn new(response: http::Response<Body>, background: Arc<Background>) -> Self {
        Self {
            response,
            background,
            piece: Bytes::new(),
        }
    }
    /// The status.
    pub fn status(&self) -> StatusCode {
        self.response.status()
    }
    /// The version of HTTP.
    pub fn version(&self) -> Version {
        self.response.version()
    }
    /// The fields.
    pub fn headers(&self) -> &HeaderMap {
        self.response.headers()
    }
    /// The URL that the response came from, where redirects led to another than was asked for.
    pub fn redirected_to(&self) -> Option<&Uri> {
        self.response.redirected_to()
    }
    /// The URL that the response came from ([`ResponseExt::url`]).
    pub fn url(&self) -> Option<&Uri> {
        self.response.url()
    }
    /// As [`ResponseExt::error_for_status`].
    ///
    /// # Errors
    /// A status of 400 or above.
    pub fn error_for_status(mut self) -> Result<Self, Error> {
        self.response = self.response.error_for_status()?;
        Ok(self)
    }
    /// As [`ResponseExt::error_for_status_ref`].
    ///
    /// # Errors
    /// A status of 400 or above.
    pub fn error_for_status_ref(&self) -> Result<&Self, Error> {
        self.response.error_for_status_ref()?;
        Ok(self)
    }
    /// The bytes of the body that are left, where that is known ([`ResponseExt::content_length`]).
    pub fn content_length(&self) -> Option<u64> {
        let length = self.response.content_length()?;
        Some(length + self.piece.len() as u64)
    }
    /// Writes what is left of the body, piece by piece, and says how many bytes that were.
    ///
    /// # Errors
    /// The body's, or the writer's as the source of one of [`ErrorKind::Body`].
    pub fn copy_to(&mut self, writer: &mut (impl Write + ?Sized)) -> Result<u64, Error> {
        let mut copied = 0;
        loop {
            let piece = match std::mem::take(&mut self.piece) {
                piece if piece.is_empty() => self.next_piece()?,
                piece => piece,
            };
            if piece.is_empty() {
                return Ok(copied);
            }
            writer.write_all(&piece).map_err(|error| {
                let text = "the writer takes no more of the body";
                Error::new(ErrorKind::Body, Fault::Us, Retry::Never)
                    .with_text(text)
                    .with_source(error)
            })?;
            copied += piece.len() as u64;
        }
    }
    /// All bytes of the body, without those that were read already.
    ///
    /// # Errors
    /// As [`Body::bytes`].
    pub fn bytes(self) -> Result<Bytes, Error> {
        let (response, background) = self.unread();
        background.wait(response.into_body().bytes())?
    }
    /// The body as text ([`ResponseExt::text`]), without the bytes that were read already.
    ///
    /// # Errors
    /// As [`Body::text`].
    pub fn text(self) -> Result<String, Error> {
        let (response, background) = self.unread();
        background.wait(response.text())?
    }
    /// The body as JSON, without the bytes that were read already.
    ///
    /// # Errors
    /// As [`Body::json`].
    #[cfg(feature = "json")]
    pub fn json<T: serde::de::DeserializeOwned>(self) -> Result<T, Error> {
        let (response, background) = self.unread();
        background.wait(response.into_body().json())?
    }
    /// The response with the bytes that were not read: a piece that was received may be read in part.
    fn unread(self) -> (http::Response<Body>, Arc<Background>) {
        let piece = self.piece;
        let response = self.response.map(|rest| rest.behind(piece));
        (response, self.background)
    }
    /// The next piece that is not empty; an empty one at the end.
    fn next_piece(&mut self) -> Result<Bytes, Error> {
        let body = self.response.body_mut();
        self.background.wait(async {
            while let Some(frame) = poll_fn(|cx| Pin::new(&mut *body).poll_frame(cx)).await {
                match frame?.into_data() {
                    Ok(data) if !data.is_empty() => return Ok(data),
                    _ => {}
                }
            }
            Ok(Bytes::new())
        })?
    }
}

impl Read for BlockingResponse {
    fn read(&mut self, space: &mut [u8]) -> io::Result<usize> {
        if self.piece.is_empty() && !space.is_empty() {
            self.piece = self.next_piece()?;
        }
        let taken = self.piece.len().min(space.len());
        self.piece.copy_to_slice(&mut space[..taken]);
        Ok(taken)
    }
}
