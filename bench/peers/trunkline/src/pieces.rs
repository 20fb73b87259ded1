//! The bodies and etags of a handler: a text, a text whose length and etag depend on the target, or pieces of unknown count, each
//! ready when it is polled.

use bytes::Bytes;
use http::HeaderValue;
use http_body_util::Full;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) const PIECE: &[u8] = &[b'x'; 16 * 1024];
const PIECES: usize = 16;
/// Where they are.
const PATH: &str = "/streamed";
/// Where as many bytes are as the path ends with, a multiple of a piece.
const BULK: &str = "/bulk/";

/// Where the answer depends on the number that the path ends with.
const VARIED: &str = "/varied/";
const VARIED_TEXT: &[u8] = &[b'x'; 1536];

pub(crate) struct Pieces {
    left: usize,
}

impl http_body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<http_body::Frame<Bytes>, Infallible>>> {
        if self.left == 0 {
            return Poll::Ready(None);
        }
        self.left -= 1;
        Poll::Ready(Some(Ok(http_body::Frame::data(Bytes::from_static(PIECE)))))
    }
}

/// As many bytes, a multiple of a piece.
pub(crate) fn of(bytes: u64) -> Pieces {
    Pieces {
        left: bytes as usize / PIECE.len(),
    }
}

/// The body of a handler's response.
pub(crate) type AnswerBody = http_body_util::Either<Full<Bytes>, Pieces>;

/// The target's number under `/varied/`.
fn varied(path: &str) -> Option<usize> {
    path.strip_prefix(VARIED)?.parse().ok()
}

/// The etag of an answer that depends on its target.
pub(crate) fn etag(path: &str) -> Option<HeaderValue> {
    HeaderValue::try_from(format!("\"v{}\"", varied(path)?)).ok()
}

/// The pieces at their path, the varied text at its own, `text` anywhere else.
pub(crate) fn answer(path: &str, text: &'static [u8]) -> AnswerBody {
    if let Some(target) = varied(path) {
        let text = &VARIED_TEXT[..512 + target * 397 % 1024];
        return AnswerBody::Left(Full::new(Bytes::from_static(text)));
    }
    let bulk = path
        .strip_prefix(BULK)
        .and_then(|bytes| bytes.parse::<u64>().ok());
    match (path, bulk) {
        (PATH, _) => AnswerBody::Right(Pieces { left: PIECES }),
        (_, Some(bytes)) => AnswerBody::Right(of(bytes)),
        _ => AnswerBody::Left(Full::new(Bytes::from_static(text))),
    }
}
