//! Bodies from bytes and texts that are all there, and from bodies of other types.

use crate::body::Body;
use crate::error::{Error, ErrorKind, Fault, Retry};
use bytes::{Buf, Bytes};
use http_body::{Frame, SizeHint};
use std::any::Any;
use std::error;
use std::pin::Pin;
use std::task::{Context, Poll};

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
/// A response that is passed on as it comes: `client.post(url).body(response)`.
impl From<http::Response<Body>> for Body {
    fn from(response: http::Response<Body>) -> Self {
        response.into_body()
    }
}
impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::full(text)
    }
}

/// The bytes of a body that has all of them, where its type says so.
pub(super) fn all_there<B: 'static>(body: &B) -> Option<Bytes> {
    let any: &dyn Any = body;
    let own = any.downcast_ref::<Body>().and_then(Body::repeatable);
    let text = || any.downcast_ref::<String>().map(String::as_bytes);
    own.or_else(|| text().map(Bytes::copy_from_slice))
}

/// A foreign body with its data and its error translated.
pub(super) struct Foreign<B>(pub(super) Pin<Box<B>>);

impl<B> http_body::Body for Foreign<B>
where
    B: http_body::Body,
    B::Error: Into<Box<dyn error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        self.0.as_mut().poll_frame(cx).map(|frame| {
            frame.map(|frame| match frame {
                Ok(frame) => Ok(frame.map_data(|mut data| data.copy_to_bytes(data.remaining()))),
                Err(source) => {
                    Err(Error::new(ErrorKind::Body, Fault::Us, Retry::Never).with_source(source))
                }
            })
        })
    }
    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }
    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
