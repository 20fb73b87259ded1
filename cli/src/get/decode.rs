//! Decodes content codings as the body arrives: gzip, deflate, br, zstd (RFC 9110 section 8.4.1,
//! RFC 7932, RFC 8878).

use crate::failure::Failure;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::io::{self, Write};
use zstd::stream::raw::{self, DParameter, InBuffer, Operation, OutBuffer};

/// The value of our `accept-encoding`.
pub(crate) const CODINGS: &str = "gzip, deflate, br, zstd";

/// Bytes of text that a decoder gives at a time, for brotli and zstd; flate2 has 32 KiB. A few bytes of
/// a body may stand for gigabytes: what is decoded must be written before more is.
const STEP_BYTES: usize = 16 * 1024;

/// The largest window of zstd, as a power of 2: 8 MiB, which RFC 9659 section 3 allows at most in a
/// content coding. A frame may ask for more than 2 GiB, and its decoder holds that. Brotli has 16 MiB
/// at most (RFC 7932 section 9.1), the others 32 KiB.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Undoes one coding and writes the text to `W`, in steps of at most 32 KiB.
pub(crate) struct Decoder<W: Write> {
    coding: Coding<W>,
    /// Some of the body has come. One without any is whole in every coding: that of an answer to HEAD,
    /// of a 204 and a 304, and one of length 0.
    has_begun: bool,
}

enum Coding<W: Write> {
    Identity(W),
    Gzip(flate2::write::MultiGzDecoder<W>),
    Deflate(Deflate<W>),
    Brotli(Box<brotli::DecompressorWriter<W>>),
    Zstd(Zstd<W>),
}

/// The decoders of flate2 and zstd that write take a body that was cut off for whole; these two know.
struct Deflate<W> {
    decoder: flate2::Decompress,
    is_whole: bool,
    step: Box<[u8; STEP_BYTES]>,
    out: W,
}

struct Zstd<W> {
    decoder: raw::Decoder<'static>,
    /// No frame is open.
    is_whole: bool,
    step: Box<[u8; STEP_BYTES]>,
    out: W,
}

impl<W: Write> Decoder<W> {
    /// Leaves everything as it is.
    pub(crate) fn identity(out: W) -> Self {
        Self {
            coding: Coding::Identity(out),
            has_begun: false,
        }
    }

    /// The decoder that the answer's head asks for.
    pub(crate) fn of(fields: &HeaderMap, out: W) -> Result<Self, Failure> {
        let Some(coding) = fields.get(CONTENT_ENCODING) else {
            return Ok(Self::identity(out));
        };
        let coding = match coding.as_bytes().to_ascii_lowercase().as_slice() {
            b"identity" | b"" => Coding::Identity(out),
            b"gzip" | b"x-gzip" => Coding::Gzip(flate2::write::MultiGzDecoder::new(out)),
            b"deflate" => Coding::Deflate(Deflate::new(out)),
            b"br" => Coding::Brotli(Box::new(brotli::DecompressorWriter::new(out, STEP_BYTES))),
            b"zstd" => Coding::Zstd(Zstd::new(out)?),
            _ => {
                return Err(Failure::remote(format_args!(
                    "the server used content-encoding {coding:?}, which was not asked for; --raw writes it as it is"
                )));
            }
        };
        Ok(Self {
            coding,
            has_begun: false,
        })
    }

    /// Writes what `piece` decodes to.
    ///
    /// # Errors
    /// The piece is not of the coding, or the text cannot be written.
    pub(crate) fn decode(&mut self, piece: &[u8]) -> io::Result<()> {
        if piece.is_empty() {
            return Ok(());
        }
        self.has_begun = true;
        match &mut self.coding {
            Coding::Identity(out) => out.write_all(piece),
            Coding::Gzip(decoder) => decoder.write_all(piece),
            Coding::Deflate(decoder) => decoder.decode(piece),
            Coding::Brotli(decoder) => decoder.write_all(piece),
            Coding::Zstd(decoder) => decoder.decode(piece),
        }
    }

    /// Writes what is left at the end of the body.
    ///
    /// # Errors
    /// The body was cut off, or the text cannot be written.
    pub(crate) fn finish(&mut self) -> io::Result<()> {
        if !self.has_begun {
            return Ok(());
        }
        match &mut self.coding {
            Coding::Identity(_) => Ok(()),
            Coding::Gzip(decoder) => decoder.try_finish(),
            Coding::Brotli(decoder) => decoder.close(),
            Coding::Deflate(Deflate { is_whole: true, .. })
            | Coding::Zstd(Zstd { is_whole: true, .. }) => Ok(()),
            Coding::Deflate(_) | Coding::Zstd(_) => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    /// Where the text goes.
    pub(crate) fn out(&mut self) -> &mut W {
        match &mut self.coding {
            Coding::Identity(out) => out,
            Coding::Gzip(decoder) => decoder.get_mut(),
            Coding::Deflate(decoder) => &mut decoder.out,
            Coding::Brotli(decoder) => decoder.get_mut(),
            Coding::Zstd(decoder) => &mut decoder.out,
        }
    }
}

impl<W: Write> Deflate<W> {
    fn new(out: W) -> Self {
        const HAS_ZLIB_HEADER: bool = true;
        Self {
            decoder: flate2::Decompress::new(HAS_ZLIB_HEADER),
            is_whole: false,
            step: Box::new([0; STEP_BYTES]),
            out,
        }
    }
    fn decode(&mut self, mut piece: &[u8]) -> io::Result<()> {
        loop {
            if self.is_whole && !piece.is_empty() {
                return Err(io::Error::other("there are bytes behind the end"));
            }
            let (read, written) = (self.decoder.total_in(), self.decoder.total_out());
            let step = &mut self.step[..];
            let flush = flate2::FlushDecompress::None;
            let status = self.decoder.decompress(piece, step, flush)?;
            let read = (self.decoder.total_in() - read) as usize;
            let written = (self.decoder.total_out() - written) as usize;
            self.out.write_all(&self.step[..written])?;
            piece = &piece[read..];
            self.is_whole = status == flate2::Status::StreamEnd;
            if read == 0 && written == 0 && !piece.is_empty() {
                return Err(io::Error::other("the decoder stands still"));
            }
            if piece.is_empty() && (written < STEP_BYTES || self.is_whole) {
                return Ok(());
            }
        }
    }
}

impl<W: Write> Zstd<W> {
    fn new(out: W) -> Result<Self, Failure> {
        let refuse = |error| Failure::remote(format_args!("zstd cannot start: {error}"));
        let mut decoder = raw::Decoder::new().map_err(refuse)?;
        let window = DParameter::WindowLogMax(ZSTD_WINDOW_LOG_MAX);
        decoder.set_parameter(window).map_err(refuse)?;
        Ok(Self {
            decoder,
            is_whole: true,
            step: Box::new([0; STEP_BYTES]),
            out,
        })
    }
    fn decode(&mut self, piece: &[u8]) -> io::Result<()> {
        let mut input = InBuffer::around(piece);
        loop {
            let read = input.pos();
            let mut text = OutBuffer::around(&mut self.step[..]);
            // Bytes that the decoder still wants of this frame; 0 at its end, behind which another may begin.
            let wanted = self.decoder.run(&mut input, &mut text)?;
            let is_full = text.pos() == STEP_BYTES;
            if input.pos() == read && text.pos() == 0 && read < piece.len() {
                return Err(io::Error::other("the decoder stands still"));
            }
            self.out.write_all(text.as_slice())?;
            if input.pos() < piece.len() {
                self.is_whole = false;
                continue;
            }
            self.is_whole = wanted == 0;
            if !is_full || self.is_whole {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
#[path = "decode_test.rs"]
mod decode_test;
