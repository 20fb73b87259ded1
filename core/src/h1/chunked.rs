//! Reads the chunked transfer coding (RFC 9112 section 7.1) one byte at a time through a state
//! machine, so that every split of the input gives the same body. Chunk data is passed on as
//! slices; the caller reads the trailer section.

use crate::error::Violation;

/// The state of the decoder between two bytes.
///
/// ```text
/// Size -> (Extension..) -> SizeLf -> Data -> DataCr -> DataLf -> Size
///                            \-> (size 0) trailers
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Position {
    /// In the hexadecimal size; `digits` seen so far.
    Size { digits: u8 },
    /// In the blanks behind the size.
    SizeEnd,
    /// Behind a `;`, before or in an extension name.
    ExtensionName { empty: bool },
    /// Behind a `=`: a token or a quoted string.
    ExtensionValue { empty: bool },
    /// Inside a quoted string.
    Quoted,
    /// Behind a backslash in a quoted string.
    QuotedPair,
    /// Behind a quoted string: `;` or the line's end.
    QuotedEnd,
    /// The LF of the size line.
    SizeLf,
    /// In the data.
    Data,
    /// The CR behind the data.
    DataCr,
    /// The LF behind the data.
    DataLf,
}

/// Decodes one body.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkDecoder {
    position: Position,
    /// The size while it is read, then what is left of the data.
    left: u64,
    /// Extension bytes of the whole body.
    extension_bytes: usize,
    /// Blanks behind a size and in extensions are passed over.
    blanks: bool,
}

/// One step of the decoder: `used` bytes were taken from the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chunked<'a> {
    /// Everything was taken; more must come.
    More,
    /// Body bytes, the last of `used`.
    Data { used: usize, data: &'a [u8] },
    /// The last chunk's line is over: the trailer section follows.
    Last { used: usize },
}

/// Sixteen hexadecimal digits are 64 bits: one more cannot be a size.
const SIZE_DIGITS_MAX: u8 = 16;

impl ChunkDecoder {
    /// `blanks`: those behind a size and in extensions are passed over ([`Config::chunk_blanks`](crate::limits::Config::chunk_blanks)).
    pub(super) fn new(blanks: bool) -> Self {
        Self {
            position: Position::Size { digits: 0 },
            left: 0,
            extension_bytes: 0,
            blanks,
        }
    }

    /// Takes framing bytes up to the next data or the end of the input.
    pub(super) fn decode<'a>(
        &mut self,
        bytes: &'a [u8],
        extension_bytes_max: usize,
    ) -> Result<Chunked<'a>, Violation> {
        let mut used = 0;
        while let Some(&byte) = bytes.get(used) {
            if self.position == Position::Data {
                let rest = &bytes[used..];
                let take = usize::try_from(self.left).map_or(rest.len(), |n| n.min(rest.len()));
                self.left -= take as u64;
                if self.left == 0 {
                    self.position = Position::DataCr;
                }
                return Ok(Chunked::Data {
                    used: used + take,
                    data: &rest[..take],
                });
            }
            used += 1;
            if self.position == Position::SizeLf {
                if byte != b'\n' {
                    return Err(Violation::ChunkInvalid);
                }
                if self.left == 0 {
                    return Ok(Chunked::Last { used });
                }
                self.position = Position::Data;
                continue;
            }
            self.position = self.step(byte, extension_bytes_max)?;
        }
        Ok(Chunked::More)
    }

    fn step(&mut self, byte: u8, extension_bytes_max: usize) -> Result<Position, Violation> {
        let next = match self.position {
            Position::Size { digits } => return self.size(digits, byte),
            Position::SizeEnd
            | Position::ExtensionName { .. }
            | Position::ExtensionValue { .. }
            | Position::Quoted
            | Position::QuotedPair
            | Position::QuotedEnd => {
                self.extension_bytes += 1;
                if self.extension_bytes > extension_bytes_max {
                    return Err(Violation::ChunkExtensionTooLarge);
                }
                match self.position {
                    Position::Quoted | Position::QuotedPair => extension(self.position, byte),
                    // RFC 9110 section 5.6.3: bad whitespace.
                    at if self.blanks && matches!(byte, b' ' | b'\t') => Some(at),
                    at => extension(at, byte),
                }
            }
            Position::DataCr => (byte == b'\r').then_some(Position::DataLf),
            Position::DataLf => (byte == b'\n').then_some(Position::Size { digits: 0 }),
            // Taken by `decode`.
            Position::SizeLf | Position::Data => None,
        };
        next.ok_or(Violation::ChunkInvalid)
    }

    /// RFC 9112 section 7.1: `chunk-size = 1*HEXDIG`, no sign, no `0x`, no space; a recipient
    /// guards against overflow.
    fn size(&mut self, digits: u8, byte: u8) -> Result<Position, Violation> {
        match (byte, char::from(byte).to_digit(16)) {
            (_, Some(_)) if digits == SIZE_DIGITS_MAX => Err(Violation::ChunkInvalid),
            (_, Some(digit)) => {
                self.left = self.left << 4 | u64::from(digit);
                Ok(Position::Size { digits: digits + 1 })
            }
            (b'\r', _) if digits > 0 => Ok(Position::SizeLf),
            (b';', _) if digits > 0 => Ok(Position::ExtensionName { empty: true }),
            (b' ' | b'\t', _) if digits > 0 && self.blanks => Ok(Position::SizeEnd),
            _ => Err(Violation::ChunkInvalid),
        }
    }
}

/// RFC 9112 section 7.1.1, without the bad whitespace it allows, which is passed over before or refused.
fn extension(position: Position, byte: u8) -> Option<Position> {
    match (position, byte) {
        (Position::SizeEnd, b';') => Some(Position::ExtensionName { empty: true }),
        (Position::SizeEnd, b'\r') => Some(Position::SizeLf),
        (Position::ExtensionName { empty: false }, b'=') => {
            Some(Position::ExtensionValue { empty: true })
        }
        (Position::ExtensionValue { empty: true }, b'"') => Some(Position::Quoted),
        (
            Position::ExtensionName { empty: false }
            | Position::ExtensionValue { empty: false }
            | Position::QuotedEnd,
            b';',
        ) => Some(Position::ExtensionName { empty: true }),
        (
            Position::ExtensionName { empty: false }
            | Position::ExtensionValue { empty: false }
            | Position::QuotedEnd,
            b'\r',
        ) => Some(Position::SizeLf),
        (Position::ExtensionName { .. }, byte) if is_token(byte) => {
            Some(Position::ExtensionName { empty: false })
        }
        (Position::ExtensionValue { .. }, byte) if is_token(byte) => {
            Some(Position::ExtensionValue { empty: false })
        }
        (Position::Quoted, b'"') => Some(Position::QuotedEnd),
        (Position::Quoted, b'\\') => Some(Position::QuotedPair),
        (Position::Quoted | Position::QuotedPair, b'\t' | b' '..=b'~' | 0x80..) => {
            Some(Position::Quoted)
        }
        _ => None,
    }
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}
