//! Bodies one after another.

use crate::body::Body;
use crate::error::Error;
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use std::collections::VecDeque;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// The bytes of several bodies, in order; trailers are dropped.
pub(super) struct FormBody {
    pieces: VecDeque<Body>,
}

impl FormBody {
    pub(super) fn new(pieces: Vec<Body>) -> Self {
        Self {
            pieces: pieces.into(),
        }
    }
}

impl http_body::Body for FormBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        while let Some(piece) = self.pieces.front_mut() {
            match ready!(Pin::new(piece).poll_frame(cx)) {
                Some(Ok(frame)) if frame.is_data() => return Poll::Ready(Some(Ok(frame))),
                Some(Ok(_trailers)) => {}
                Some(Err(error)) => return Poll::Ready(Some(Err(error))),
                None => {
                    self.pieces.pop_front();
                }
            }
        }
        Poll::Ready(None)
    }
    fn is_end_stream(&self) -> bool {
        self.pieces.is_empty()
    }
    fn size_hint(&self) -> SizeHint {
        let exact = self.pieces.iter().map(|piece| piece.size_hint().exact());
        let total = exact.sum::<Option<u64>>();
        total.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}
