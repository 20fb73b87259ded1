//! A body that decompresses another one.

use crate::body::Body;
use crate::error::{Error, ErrorKind, Fault, Retry};
use async_compression::tokio::bufread::{
    BrotliDecoder, DeflateDecoder, GzipDecoder, ZlibDecoder, ZstdDecoder,
};
use async_compression::zstd::DParameter;
use bytes::{Buf, Bytes, BytesMut};
use http::HeaderMap;
use http_body::{Body as _, Frame};
use std::io;
use std::mem;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use tokio::io::{AsyncBufRead, AsyncRead, ReadBuf};

/// Bytes of one piece that comes out.
const PIECE_BYTES: usize = 32 * 1024;
/// The window of zstd, as a power of two: 8 MiB, the most that a content coding may ask for (RFC 9659
/// section 3). More is an error.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;
/// The bits of brotli's first byte that say its window.
const BROTLI_WINDOW_BITS: u8 = 0x7f;
/// Bits that stand for none (RFC 7932 section 9.1), with which the format of large windows begins, of 1 GiB at most. Decoders
/// take it, and it is no content coding.
const BROTLI_LARGE_WINDOW: u8 = 0x11;

/// A content coding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Coding {
    Gzip,
    Brotli,
    Zstd,
    /// With or without zlib's header: servers send both.
    Deflate,
}

impl Coding {
    /// By its name in lower case (RFC 9110 section 8.4.1).
    pub(super) fn of(name: &str) -> Option<Self> {
        Some(match name {
            "gzip" | "x-gzip" => Self::Gzip,
            "br" => Self::Brotli,
            "zstd" => Self::Zstd,
            "deflate" => Self::Deflate,
            _ => return None,
        })
    }
}

/// The bytes that `Coding` was applied to.
pub(super) struct Decompressed(Stage);

enum Stage {
    /// Before the first bytes: a body without any is empty, not a broken one.
    Unstarted(Box<Source>, Coding),
    Reading(Box<Decoder>),
    /// Behind the last byte.
    Ended(Option<HeaderMap>),
}

enum Decoder {
    Gzip(GzipDecoder<Source>),
    Brotli(BrotliDecoder<Source>),
    Zstd(ZstdDecoder<Source>),
    Zlib(ZlibDecoder<Source>),
    Deflate(DeflateDecoder<Source>),
}

impl Decompressed {
    pub(super) fn new(body: Body, coding: Coding) -> Self {
        Self(Stage::Unstarted(Box::new(Source::new(body)), coding))
    }
}

impl http_body::Body for Decompressed {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        loop {
            match &mut self.0 {
                Stage::Unstarted(source, _) => {
                    let first =
                        ready!(Pin::new(&mut **source).poll_fill_buf(cx)).map(<[u8]>::first);
                    let first = match first {
                        Ok(first) => first.copied(),
                        Err(error) => return Poll::Ready(Some(Err(source.cause(error)))),
                    };
                    if let Err(error) = self.start(first) {
                        return Poll::Ready(Some(Err(error)));
                    }
                }
                Stage::Reading(decoder) => match ready!(decoder.poll_piece(cx)) {
                    Ok(piece) if !piece.is_empty() => {
                        return Poll::Ready(Some(Ok(Frame::data(piece))));
                    }
                    Ok(_) => {
                        let source = decoder.source();
                        match ready!(source.poll_end(cx)) {
                            Ok(()) => self.0 = Stage::Ended(source.trailers.take()),
                            Err(error) => {
                                self.0 = Stage::Ended(None);
                                return Poll::Ready(Some(Err(error)));
                            }
                        }
                    }
                    Err(error) => {
                        let error = decoder.source().cause(error);
                        self.0 = Stage::Ended(None);
                        return Poll::Ready(Some(Err(error)));
                    }
                },
                Stage::Ended(trailers) => {
                    return Poll::Ready(
                        trailers
                            .take()
                            .map(|trailers| Ok(Frame::trailers(trailers))),
                    );
                }
            }
        }
    }
    fn is_end_stream(&self) -> bool {
        matches!(self.0, Stage::Ended(None))
    }
}

impl Decompressed {
    /// Begins to read; `first`: the first byte of the compressed ones.
    ///
    /// # Errors
    /// They are for a window that the coding does not have.
    fn start(&mut self, first: Option<u8>) -> Result<(), Error> {
        let stage = mem::replace(&mut self.0, Stage::Ended(None));
        let Stage::Unstarted(mut source, coding) = stage else {
            self.0 = stage;
            return Ok(());
        };
        let Some(first) = first else {
            self.0 = Stage::Ended(source.trailers.take());
            return Ok(());
        };
        let source = *source;
        let decoder = match coding {
            Coding::Gzip => {
                let mut decoder = GzipDecoder::new(source);
                // RFC 1952 section 2.2: a file is one member after another.
                decoder.multiple_members(true);
                Decoder::Gzip(decoder)
            }
            Coding::Brotli if first & BROTLI_WINDOW_BITS == BROTLI_LARGE_WINDOW => {
                return Err(corrupt(
                    "the window of brotli must not have more than 16 MiB",
                ));
            }
            Coding::Brotli => Decoder::Brotli(BrotliDecoder::new(source)),
            Coding::Zstd => {
                let window = DParameter::window_log_max(ZSTD_WINDOW_LOG_MAX);
                let mut decoder = ZstdDecoder::with_params(source, &[window]);
                // RFC 8878 section 3: frames one after another.
                decoder.multiple_members(true);
                Decoder::Zstd(decoder)
            }
            // RFC 1950 section 2.2: the method 8 in the low bits of zlib's first byte. A block of
            // deflate that begins so is a stored one with bits set that must be ignored.
            Coding::Deflate if first & 0x0f == 8 => Decoder::Zlib(ZlibDecoder::new(source)),
            Coding::Deflate => Decoder::Deflate(DeflateDecoder::new(source)),
        };
        self.0 = Stage::Reading(Box::new(decoder));
        Ok(())
    }
}

impl Decoder {
    /// Some bytes; none at the end.
    fn poll_piece(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Bytes>> {
        let mut piece = BytesMut::zeroed(PIECE_BYTES);
        let mut space = ReadBuf::new(&mut piece);
        let read = match self {
            Self::Gzip(decoder) => Pin::new(decoder).poll_read(cx, &mut space),
            Self::Brotli(decoder) => Pin::new(decoder).poll_read(cx, &mut space),
            Self::Zstd(decoder) => Pin::new(decoder).poll_read(cx, &mut space),
            Self::Zlib(decoder) => Pin::new(decoder).poll_read(cx, &mut space),
            Self::Deflate(decoder) => Pin::new(decoder).poll_read(cx, &mut space),
        };
        let filled = space.filled().len();
        ready!(read)?;
        piece.truncate(filled);
        Poll::Ready(Ok(piece.freeze()))
    }
    fn source(&mut self) -> &mut Source {
        match self {
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Brotli(decoder) => decoder.get_mut(),
            Self::Zstd(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
        }
    }
}

/// The compressed bytes as a reader, with the trailers and the error that a reader cannot carry.
struct Source {
    body: Body,
    piece: Bytes,
    trailers: Option<HeaderMap>,
    failed: Option<Error>,
    ended: bool,
}

impl Source {
    fn new(body: Body) -> Self {
        Self {
            body,
            piece: Bytes::new(),
            trailers: None,
            failed: None,
            ended: false,
        }
    }
    /// Reads on to the end of the body. Bytes behind the end of the coding are an error.
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Error>> {
        let rest = ready!(Pin::new(&mut *self).poll_fill_buf(cx)).map(<[u8]>::is_empty);
        Poll::Ready(match rest {
            Ok(true) => Ok(()),
            Ok(false) => Err(corrupt(
                "there are bytes behind the end of the compressed ones",
            )),
            Err(error) => Err(self.cause(error)),
        })
    }
    /// The error behind one of reading: the body's own, or that the bytes are not the coding's.
    fn cause(&mut self, error: io::Error) -> Error {
        match self.failed.take() {
            Some(error) => error,
            None => corrupt("the body does not decompress").with_source(error),
        }
    }
}

fn corrupt(text: &str) -> Error {
    Error::new(ErrorKind::Body, Fault::Peer, Retry::Never).with_text(text)
}

impl AsyncBufRead for Source {
    fn poll_fill_buf(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<&[u8]>> {
        let this = self.get_mut();
        while this.piece.is_empty() && !this.ended {
            match ready!(Pin::new(&mut this.body).poll_frame(cx)) {
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) => this.piece = data,
                    Err(frame) => this.trailers = frame.into_trailers().ok(),
                },
                Some(Err(error)) => {
                    this.failed = Some(error);
                    this.ended = true;
                    // A decoder that gets an error drops what it has made of the bytes in front of it, and one that
                    // has to wait gives that out.
                    cx.waker().wake_by_ref();
                    return Poll::Pending;
                }
                None => this.ended = true,
            }
        }
        if this.failed.is_some() {
            return Poll::Ready(Err(io::ErrorKind::Other.into()));
        }
        Poll::Ready(Ok(&this.piece))
    }
    fn consume(mut self: Pin<&mut Self>, bytes: usize) {
        self.piece.advance(bytes);
    }
}

impl AsyncRead for Source {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        space: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let piece = ready!(self.as_mut().poll_fill_buf(cx))?;
        let taken = piece.len().min(space.remaining());
        space.put_slice(&piece[..taken]);
        self.consume(taken);
        Poll::Ready(Ok(()))
    }
}
