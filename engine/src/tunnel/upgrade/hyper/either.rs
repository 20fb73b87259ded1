//! The body of a response of a service that may upgrade.

use crate::body::Body;
use crate::error::Error;
use bytes::{Buf, Bytes};
use http_body::{Body as HttpBody, Frame, SizeHint};
use pin_project_lite::pin_project;
use std::error::Error as StdError;
use std::fmt;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::{Context, Poll};

pin_project! {
    /// The service's own body, or what a tunnel carries.
    #[derive(Debug)]
    pub struct Either<B> {
        #[pin]
        source: Source<B>,
    }
}

pin_project! {
    #[project = SourceProjection]
    #[derive(Debug)]
    enum Source<B> {
        Own { #[pin] body: B },
        Tunnel { #[pin] body: Body },
    }
}

impl<B> Either<B> {
    pub(super) fn own(body: B) -> Self {
        Self {
            source: Source::Own { body },
        }
    }
    pub(super) fn tunnel(body: Body) -> Self {
        Self {
            source: Source::Tunnel { body },
        }
    }
}

impl<B: HttpBody> HttpBody for Either<B> {
    type Data = EitherData<B::Data>;
    type Error = EitherError<B::Error>;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        match self.project().source.project() {
            SourceProjection::Own { body } => body.poll_frame(cx).map(|frame| {
                frame.map(|frame| match frame {
                    Ok(frame) => Ok(frame.map_data(EitherData::Own)),
                    Err(error) => Err(EitherError::Own(error)),
                })
            }),
            SourceProjection::Tunnel { body } => body.poll_frame(cx).map(|frame| {
                frame.map(|frame| match frame {
                    Ok(frame) => Ok(frame.map_data(EitherData::Tunnel)),
                    Err(error) => Err(EitherError::Tunnel(error)),
                })
            }),
        }
    }
    fn is_end_stream(&self) -> bool {
        match &self.source {
            Source::Own { body } => body.is_end_stream(),
            Source::Tunnel { body } => body.is_end_stream(),
        }
    }
    fn size_hint(&self) -> SizeHint {
        match &self.source {
            Source::Own { body } => body.size_hint(),
            Source::Tunnel { body } => body.size_hint(),
        }
    }
}

/// The data of an [`Either`].
#[derive(Debug)]
pub enum EitherData<D> {
    /// The service's.
    Own(D),
    /// Bytes for the peer.
    Tunnel(Bytes),
}

impl<D: Buf> Buf for EitherData<D> {
    fn remaining(&self) -> usize {
        match self {
            Self::Own(data) => data.remaining(),
            Self::Tunnel(data) => data.remaining(),
        }
    }
    fn chunk(&self) -> &[u8] {
        match self {
            Self::Own(data) => data.chunk(),
            Self::Tunnel(data) => data.chunk(),
        }
    }
    fn chunks_vectored<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        match self {
            Self::Own(data) => data.chunks_vectored(slices),
            Self::Tunnel(data) => data.chunks_vectored(slices),
        }
    }
    fn advance(&mut self, count: usize) {
        match self {
            Self::Own(data) => data.advance(count),
            Self::Tunnel(data) => data.advance(count),
        }
    }
    // Bytes are passed on without a copy.
    fn copy_to_bytes(&mut self, count: usize) -> Bytes {
        match self {
            Self::Own(data) => data.copy_to_bytes(count),
            Self::Tunnel(data) => data.copy_to_bytes(count),
        }
    }
}

/// The error of an [`Either`].
#[derive(Debug)]
pub enum EitherError<E> {
    /// The service's.
    Own(E),
    /// The tunnel's.
    Tunnel(Error),
}

impl<E: fmt::Display> fmt::Display for EitherError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Own(error) => error.fmt(f),
            Self::Tunnel(error) => error.fmt(f),
        }
    }
}

impl<E> From<EitherError<E>> for Box<dyn StdError + Send + Sync>
where
    E: Into<Box<dyn StdError + Send + Sync>>,
{
    fn from(error: EitherError<E>) -> Self {
        match error {
            EitherError::Own(error) => error.into(),
            EitherError::Tunnel(error) => error.into(),
        }
    }
}
