//! Reads capsules (RFC 9297 section 3) from a tunnel's bytes, on either side and over any version.

use crate::body::Body;
use crate::error::Error;
use bytes::Bytes;
use http_body::Body as _;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
pub use trunkline_core::http::capsule::Capsule;
use trunkline_core::http::capsule::CapsuleReader;

/// Reads the capsules of a tunnel: of the body of an extended CONNECT at its handler, of the body of
/// its 2xx answer at the client. HTTP datagrams, and the types that were asked for, are handed on;
/// all others are skipped, as the protocol asks (RFC 9297 section 3.2).
///
/// The other direction needs no more than [`BodySender::send`](crate::BodySender::send), which takes
/// a [`Capsule`]. Both sides say with the field `capsule-protocol: ?1` that their tunnel consists of
/// capsules (RFC 9297 section 3.4).
#[derive(Debug)]
pub struct Capsules {
    /// `None`: it is over.
    body: Option<Body>,
    reader: CapsuleReader,
    /// Bytes received and not yet parsed.
    bytes: Bytes,
}

impl Capsules {
    /// Out of a body.
    pub fn of(body: Body) -> Self {
        Self {
            body: Some(body),
            reader: CapsuleReader::default(),
            bytes: Bytes::new(),
        }
    }
    /// Hands capsules of this type on too, beside datagrams (type 0).
    #[must_use]
    pub fn taking(mut self, kind: u64) -> Self {
        self.reader = self.reader.taking(kind);
        self
    }
    /// The most bytes that one may carry. Default
    /// [`CAPSULE_BYTES_MAX`](trunkline_core::limits::CAPSULE_BYTES_MAX), 64 KiB. A datagram with more
    /// is dropped, as any may be; any other capsule that is handed on ends the tunnel.
    #[must_use]
    pub fn bytes_max(mut self, bytes: usize) -> Self {
        self.reader = self.reader.bytes_max(bytes);
        self
    }
    /// The next one; `None`: the tunnel ended, behind a whole capsule.
    ///
    /// # Errors
    /// The body's own; and when the peer breaks a rule: a capsule that is too large, an end within
    /// a capsule. Then the tunnel is given up, and nothing follows.
    pub async fn receive(&mut self) -> Option<Result<Capsule, Error>> {
        poll_fn(|cx| self.poll_receive(cx)).await
    }
    /// As [`receive`](Self::receive).
    pub fn poll_receive(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Capsule, Error>>> {
        loop {
            match self.reader.next(&mut self.bytes) {
                Ok(Some(capsule)) => return Poll::Ready(Some(Ok(capsule))),
                Ok(None) => {}
                Err(violation) => return Poll::Ready(self.give_up(Error::violation(violation))),
            }
            let Some(body) = &mut self.body else {
                return Poll::Ready(None);
            };
            match ready!(Pin::new(body).poll_frame(cx)) {
                Some(Ok(frame)) => self.bytes = frame.into_data().unwrap_or_default(),
                Some(Err(error)) => return Poll::Ready(self.give_up(error)),
                None => {
                    self.body = None;
                    let ended = self.reader.end().map_err(Error::violation);
                    return Poll::Ready(ended.err().map(Err));
                }
            }
        }
    }
    /// Datagrams that were dropped because they carried too much.
    pub fn dropped(&self) -> u64 {
        self.reader.dropped()
    }

    fn give_up(&mut self, error: Error) -> Option<Result<Capsule, Error>> {
        self.body = None;
        self.bytes = Bytes::new();
        Some(Err(error))
    }
}
