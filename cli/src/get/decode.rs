//! Content codings undone as the body comes: gzip, deflate, br, zstd (RFC 9110 section 8.4.1,
//! RFC 7932, RFC 8878).

use crate::failure::Failure;
use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use std::io::Write;

/// What we say in `accept-encoding`.
pub(crate) const CODINGS: &str = "gzip, deflate, br, zstd";

/// Undoes one coding. Each piece is decoded when it comes: memory is that of one piece's text.
pub(crate) enum Decoder {
    Identity,
    Gzip(flate2::write::MultiGzDecoder<Vec<u8>>),
    Deflate(flate2::write::ZlibDecoder<Vec<u8>>),
    Brotli(Box<brotli::DecompressorWriter<Vec<u8>>>),
    Zstd(zstd::stream::write::Decoder<'static, Vec<u8>>),
}

impl Decoder {
    /// Leaves everything as it is.
    pub(crate) fn identity() -> Self {
        Self::Identity
    }

    /// The decoder that the answer's head asks for.
    pub(crate) fn of(fields: &HeaderMap) -> Result<Self, Failure> {
        let Some(coding) = fields.get(CONTENT_ENCODING) else {
            return Ok(Self::Identity);
        };
        let out = Vec::new();
        match coding.as_bytes().to_ascii_lowercase().as_slice() {
            b"identity" | b"" => Ok(Self::Identity),
            b"gzip" | b"x-gzip" => Ok(Self::Gzip(flate2::write::MultiGzDecoder::new(out))),
            b"deflate" => Ok(Self::Deflate(flate2::write::ZlibDecoder::new(out))),
            b"br" => Ok(Self::Brotli(Box::new(brotli::DecompressorWriter::new(
                out,
                BROTLI_BUFFER_BYTES,
            )))),
            b"zstd" => zstd::stream::write::Decoder::new(out)
                .map(Self::Zstd)
                .map_err(|error| Failure::remote(format_args!("zstd cannot start: {error}"))),
            _ => Err(Failure::remote(format_args!(
                "the server used content-encoding {coding:?}, which was not asked for; --raw writes it as it is"
            ))),
        }
    }

    /// What `piece` decodes to.
    pub(crate) fn decode(&mut self, piece: &Bytes) -> Result<Bytes, Failure> {
        let out = match self {
            Self::Identity => return Ok(piece.clone()),
            Self::Gzip(decoder) => decoder.write_all(piece).map(|()| take(decoder.get_mut())),
            Self::Deflate(decoder) => decoder.write_all(piece).map(|()| take(decoder.get_mut())),
            Self::Brotli(decoder) => decoder.write_all(piece).map(|()| take(decoder.get_mut())),
            Self::Zstd(decoder) => decoder.write_all(piece).map(|()| take(decoder.get_mut())),
        };
        out.map_err(broken)
    }

    /// What is left at the end of the body; fails when the body was cut off.
    pub(crate) fn finish(self) -> Result<Bytes, Failure> {
        match self {
            Self::Identity => Ok(Bytes::new()),
            Self::Gzip(decoder) => decoder.finish().map(Bytes::from).map_err(broken),
            Self::Deflate(decoder) => decoder.finish().map(Bytes::from).map_err(broken),
            Self::Brotli(mut decoder) => decoder
                .close()
                .map(|()| take(decoder.get_mut()))
                .map_err(broken),
            Self::Zstd(mut decoder) => decoder
                .flush()
                .map(|()| take(decoder.get_mut()))
                .map_err(broken),
        }
    }
}

const BROTLI_BUFFER_BYTES: usize = 16 * 1024;

fn take(out: &mut Vec<u8>) -> Bytes {
    Bytes::from(std::mem::take(out))
}

fn broken(error: std::io::Error) -> Failure {
    Failure::remote(format_args!("the body does not decode: {error}"))
}

#[cfg(test)]
#[path = "decode_test.rs"]
mod decode_test;
