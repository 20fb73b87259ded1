//! A body as a stream of its bytes, and a stream as a body.

use super::Body;
use crate::error::Error;
use bytes::Bytes;
use futures_core::Stream;
use http_body::{Body as _, Frame};
use std::error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The bytes of a body, piece by piece; trailers are dropped. Made by [`Body::into_stream`].
#[derive(Debug)]
#[must_use = "a stream does nothing until it is read"]
pub struct BodyStream {
    body: Body,
}

impl Body {
    /// The body as a stream of its bytes. Dropping it before its end resets the exchange.
    pub fn into_stream(self) -> BodyStream {
        BodyStream { body: self }
    }
    /// A body of the pieces of a stream. Its length is not known, so it is sent in chunks over HTTP/1.1. An
    /// error of the stream resets the exchange; it is the source of the error that
    /// [`send`](crate::client::RequestBuilder::send) gives.
    ///
    /// ```
    /// use trunkline::Body;
    ///
    /// let pieces = futures_util::stream::iter([Ok::<_, std::io::Error>("a"), Ok("b")]);
    /// let body = Body::from_stream(pieces);
    /// # drop(body);
    /// ```
    #[doc(alias = "wrap_stream")]
    pub fn from_stream<S, T, E>(stream: S) -> Self
    where
        S: Stream<Item = Result<T, E>> + Send + 'static,
        T: Into<Bytes>,
        E: Into<Box<dyn error::Error + Send + Sync>>,
    {
        Self::wrap(Streamed(Box::pin(stream)))
    }
}

impl Stream for BodyStream {
    type Item = Result<Bytes, Error>;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        loop {
            let frame = ready!(Pin::new(&mut self.body).poll_frame(cx));
            match frame.map(|frame| frame.map(Frame::into_data)) {
                Some(Ok(Ok(data))) => return Poll::Ready(Some(Ok(data))),
                Some(Ok(Err(_trailers))) => {}
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => return Poll::Ready(None),
            }
        }
    }
}

struct Streamed<S>(Pin<Box<S>>);

impl<S, T, E> http_body::Body for Streamed<S>
where
    S: Stream<Item = Result<T, E>>,
    T: Into<Bytes>,
{
    type Data = Bytes;
    type Error = E;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, E>>> {
        let piece = ready!(self.0.as_mut().poll_next(cx));
        Poll::Ready(piece.map(|piece| piece.map(|data| Frame::data(data.into()))))
    }
}
