//! Capsules (RFC 9297 section 3): typed pieces of a tunnel's bytes, over any version of HTTP.

use crate::error::Violation;
use crate::limits::CAPSULE_BYTES_MAX;
use crate::wire::{TypeLength, varint};
use bytes::{Buf, Bytes, BytesMut};

/// The type of a capsule that is an HTTP datagram (RFC 9297 section 3.5).
pub const DATAGRAM: u64 = 0;

/// One capsule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capsule {
    kind: u64,
    value: Bytes,
}

impl Capsule {
    /// A capsule of type `kind`; `None`: a type is at most 2^62-1.
    pub fn new(kind: u64, value: impl Into<Bytes>) -> Option<Self> {
        let value = value.into();
        (kind <= varint::MAX).then_some(Self { kind, value })
    }
    /// A capsule that is an HTTP datagram. Unlike one in a QUIC packet it arrives, and in order.
    pub fn datagram(payload: impl Into<Bytes>) -> Self {
        Self {
            kind: DATAGRAM,
            value: payload.into(),
        }
    }
    /// Its type.
    pub fn kind(&self) -> u64 {
        self.kind
    }
    /// The payload.
    pub fn value(&self) -> &Bytes {
        &self.value
    }
    /// The payload, by value.
    pub fn into_value(self) -> Bytes {
        self.value
    }
}

/// Its bytes in a tunnel.
impl From<Capsule> for Bytes {
    fn from(capsule: Capsule) -> Self {
        let Capsule { kind, value } = capsule;
        let len = value.len() as u64;
        let head = varint::len(kind) + varint::len(len);
        let mut bytes = Vec::with_capacity(head + value.len());
        varint::put(kind, &mut bytes);
        varint::put(len, &mut bytes);
        bytes.extend_from_slice(&value);
        bytes.into()
    }
}

/// Cuts the bytes of a tunnel into capsules. Datagrams and what was asked for are handed on; every
/// other type is skipped without a word (RFC 9297 section 3.2), however long it is: nothing of it
/// is kept.
#[derive(Debug)]
pub struct CapsuleReader {
    /// Types beside [`DATAGRAM`].
    wanted: Vec<u64>,
    bytes_max: usize,
    header: TypeLength,
    under_way: Option<UnderWay>,
    dropped: u64,
}

/// A capsule whose header was read.
#[derive(Debug)]
struct UnderWay {
    kind: u64,
    left: u64,
    /// The payload so far; `None`: it is skipped. Grows with the received bytes, never with the
    /// announced length.
    value: Option<BytesMut>,
}

impl Default for CapsuleReader {
    fn default() -> Self {
        Self {
            wanted: Vec::new(),
            bytes_max: CAPSULE_BYTES_MAX,
            header: TypeLength::default(),
            under_way: None,
            dropped: 0,
        }
    }
}

impl CapsuleReader {
    /// Hands capsules of this type on too.
    #[must_use]
    pub fn taking(mut self, kind: u64) -> Self {
        self.wanted.push(kind);
        self
    }
    /// The most bytes of one that is handed on. Default [`CAPSULE_BYTES_MAX`].
    #[must_use]
    pub fn bytes_max(mut self, bytes: usize) -> Self {
        self.bytes_max = bytes;
        self
    }
    /// Takes the next capsule off `input`; `None`: it is used up, and more is needed.
    ///
    /// # Errors
    /// [`Violation::CapsuleTooLarge`] for a capsule that was asked for; a datagram that is too
    /// large is dropped, as any may be, and counted.
    pub fn next(&mut self, input: &mut Bytes) -> Result<Option<Capsule>, Violation> {
        loop {
            let Some(under_way) = &mut self.under_way else {
                let mut rest = &input[..];
                let header = self.header.next(&mut rest);
                input.advance(input.len() - rest.len());
                let Some((kind, left)) = header else {
                    return Ok(None);
                };
                self.under_way = Some(self.begin(kind, left)?);
                continue;
            };
            if let Some(capsule) = under_way.take(input) {
                self.under_way = None;
                if let Some(capsule) = capsule {
                    return Ok(Some(capsule));
                }
            } else {
                return Ok(None);
            }
        }
    }
    /// The tunnel ended.
    ///
    /// # Errors
    /// When it did so within a capsule (RFC 9297 section 3.3).
    pub fn end(&self) -> Result<(), Violation> {
        match self.under_way.is_none() && self.header.is_empty() {
            true => Ok(()),
            false => Err(Violation::CapsuleTruncated),
        }
    }
    /// Datagrams that were too large.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    fn begin(&mut self, kind: u64, left: u64) -> Result<UnderWay, Violation> {
        let fits = left <= self.bytes_max as u64;
        let is_wanted = self.wanted.contains(&kind);
        if is_wanted && !fits {
            return Err(Violation::CapsuleTooLarge);
        }
        let is_datagram = kind == DATAGRAM;
        self.dropped += u64::from(is_datagram && !fits);
        let value = (is_wanted || is_datagram && fits).then(BytesMut::new);
        Ok(UnderWay { kind, left, value })
    }
}

impl UnderWay {
    /// Takes what is there off `input`; `Some` when that is all of it: the capsule, unless it is
    /// skipped.
    fn take(&mut self, input: &mut Bytes) -> Option<Option<Capsule>> {
        let len = usize::try_from(self.left).map_or(input.len(), |left| left.min(input.len()));
        let piece = input.split_to(len);
        self.left -= len as u64;
        let kind = self.kind;
        match &mut self.value {
            None => (self.left == 0).then_some(None),
            // Whole in one piece: it is not copied.
            Some(value) if value.is_empty() && self.left == 0 => {
                Some(Some(Capsule { kind, value: piece }))
            }
            Some(value) => {
                value.extend_from_slice(&piece);
                let value = (self.left == 0).then(|| std::mem::take(value).freeze())?;
                Some(Some(Capsule { kind, value }))
            }
        }
    }
}

#[cfg(test)]
#[path = "capsule_test.rs"]
mod capsule_test;
