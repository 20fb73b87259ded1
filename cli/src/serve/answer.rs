//! Answers of `trunkline serve` and their bodies.

pub(super) mod compressed;
pub(crate) mod policy;
pub(super) mod redirect;

use bytes::Bytes;
use http::Response;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tower_http::services::fs::ServeFileSystemResponseBody;

/// An answer that is there at once, or one that has to wait for a file, a timer or a body.
pub(crate) enum Answer<B> {
    Ready(Option<Response<SiteBody<B>>>),
    Waiting(Pin<Box<dyn Future<Output = Response<SiteBody<B>>> + Send>>),
}

impl<B> Answer<B> {
    pub(crate) fn ready(response: Response<SiteBody<B>>) -> Self {
        Self::Ready(Some(response))
    }
    pub(crate) fn waiting(
        future: impl Future<Output = Response<SiteBody<B>>> + Send + 'static,
    ) -> Self {
        Self::Waiting(Box::pin(future))
    }
}

// Nothing in it is pinned but the box, which is `Unpin` itself.
impl<B> Unpin for Answer<B> {}

impl<B> Future for Answer<B> {
    type Output = Result<Response<SiteBody<B>>, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        match self.get_mut() {
            Self::Ready(response) => Poll::Ready(Ok(response
                .take()
                .expect("a future is not polled after it is ready"))),
            Self::Waiting(future) => future.as_mut().poll(cx).map(Ok),
        }
    }
}

/// The body of an answer.
pub(crate) enum SiteBody<B> {
    /// Bytes at hand.
    Full(Full<Bytes>),
    /// A file, in pieces, `left` bytes in all.
    File {
        body: ServeFileSystemResponseBody,
        left: u64,
    },
    /// One piece repeated, `left` bytes in all.
    Repeat { piece: Bytes, left: u64 },
    /// The request's own body, sent back.
    Echo(B),
}

impl<B> SiteBody<B> {
    /// The bytes read of a file. Its reader does not know which piece is the last; the head does.
    pub(crate) fn file(response: Response<ServeFileSystemResponseBody>) -> Response<Self> {
        let printed = response.headers().get(http::header::CONTENT_LENGTH);
        let printed = printed.and_then(|length| length.to_str().ok()?.parse().ok());
        response.map(|body| {
            let left = match body.is_end_stream() {
                true => 0,
                false => printed.unwrap_or(0),
            };
            Self::File { body, left }
        })
    }
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Full(Full::new(Bytes::from(text.into())))
    }
}

impl<B> Body for SiteBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        match self.get_mut() {
            Self::Full(body) => Pin::new(body)
                .poll_frame(cx)
                .map_err(|never| match never {}),
            Self::File { left: 0, .. } => Poll::Ready(None),
            Self::File { body, left } => {
                let piece = ready!(Pin::new(body).poll_frame(cx));
                let data = piece
                    .as_ref()
                    .and_then(|piece| piece.as_ref().ok()?.data_ref());
                *left = left.saturating_sub(data.map_or(0, |data| data.len() as u64));
                Poll::Ready(piece.map(|piece| piece.map_err(Into::into)))
            }
            Self::Repeat { left: 0, .. } => Poll::Ready(None),
            Self::Repeat { piece, left } => {
                let now = (piece.len() as u64).min(*left);
                *left -= now;
                Poll::Ready(Some(Ok(Frame::data(piece.slice(..now as usize)))))
            }
            Self::Echo(body) => Pin::new(body).poll_frame(cx).map_err(Into::into),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Full(body) => body.is_end_stream(),
            Self::File { left, .. } => *left == 0,
            Self::Repeat { left, .. } => *left == 0,
            Self::Echo(body) => body.is_end_stream(),
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Full(body) => body.size_hint(),
            Self::File { left, .. } => SizeHint::with_exact(*left),
            Self::Repeat { left, .. } => SizeHint::with_exact(*left),
            Self::Echo(body) => body.size_hint(),
        }
    }
}

/// A short text answer.
pub(crate) fn plain<B>(status: http::StatusCode, text: &str) -> Response<SiteBody<B>> {
    let mut response = Response::new(SiteBody::text(text));
    *response.status_mut() = status;
    response.headers_mut().insert(
        http::header::CONTENT_TYPE,
        http::HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    response
}
