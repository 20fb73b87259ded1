//! A body whose first bytes are kept while nothing of a response has come, so that a request which the peer left
//! unprocessed can be sent again whole (RFC 9113 section 8.7, gRPC's transparent retry).

use super::{Body, Kind};
use crate::error::Error;
use bytes::Bytes;
use http_body::{Body as _, Frame, SizeHint};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Bytes that are kept of one body, as many as gRPC's own libraries keep of a call. A body that has given more cannot be
/// sent again.
const KEPT_BYTES_MAX: usize = 256 * 1024;

/// The pieces that were read, and the rest.
pub(super) struct Rewindable {
    pieces: Vec<Bytes>,
    bytes: usize,
    /// Pieces that were given since the last rewind.
    given: usize,
    rest: Body,
    rest_ended: bool,
    /// It keeps everything that it gives.
    keeps: bool,
}

impl Body {
    /// Keeps what is read, as long as it is little.
    #[cfg_attr(
        not(feature = "tonic"),
        allow(dead_code, reason = "no other client asks for it")
    )]
    pub(crate) fn keeping(self) -> Self {
        match self.kind {
            // Whole bytes are shared with every copy of their request.
            Kind::Empty | Kind::Whole(_) => self,
            _ => Self::of(Kind::Rewindable(Box::new(Rewindable {
                pieces: Vec::new(),
                bytes: 0,
                given: 0,
                rest: self,
                rest_ended: false,
                keeps: true,
            }))),
        }
    }
    /// Whether everything that was read can be read again.
    pub(crate) fn can_rewind(&self) -> bool {
        matches!(&self.kind, Kind::Rewindable(kept) if kept.keeps)
    }
    /// Begins anew with what was kept.
    pub(crate) fn rewind(&mut self) {
        if let Kind::Rewindable(kept) = &mut self.kind {
            kept.given = 0;
        }
    }
    /// Frees what was kept: the body is not read again.
    pub(crate) fn forget(&mut self) {
        if let Kind::Rewindable(kept) = &mut self.kind {
            kept.forget();
        }
    }
}

impl Rewindable {
    fn forget(&mut self) {
        self.keeps = false;
        if self.given == self.pieces.len() {
            (self.pieces, self.given) = (Vec::new(), 0);
        }
    }
    pub(super) fn poll_frame(
        &mut self,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if let Some(piece) = self.pieces.get(self.given) {
            self.given += 1;
            return Poll::Ready(Some(Ok(Frame::data(piece.clone()))));
        }
        if self.rest_ended {
            return Poll::Ready(None);
        }
        let frame = ready!(Pin::new(&mut self.rest).poll_frame(cx));
        match &frame {
            None => self.rest_ended = true,
            Some(Ok(frame)) if self.keeps => match frame.data_ref() {
                Some(data) if self.bytes + data.len() <= KEPT_BYTES_MAX => {
                    self.bytes += data.len();
                    self.given += 1;
                    self.pieces.push(data.clone());
                }
                // Trailers are of servers.
                _ => self.forget(),
            },
            Some(_) => self.forget(),
        }
        Poll::Ready(frame)
    }
    pub(super) fn is_end_stream(&self) -> bool {
        self.given == self.pieces.len() && (self.rest_ended || self.rest.is_end_stream())
    }
    pub(super) fn size_hint(&self) -> SizeHint {
        match self.pieces.is_empty() {
            true => self.rest.size_hint(),
            false => SizeHint::default(),
        }
    }
}

#[cfg(test)]
#[path = "rewindable_test.rs"]
mod rewindable_test;
