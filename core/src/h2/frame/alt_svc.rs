//! ALTSVC (RFC 7838 section 4).

use super::{FrameHeader, kind};

#[cfg(test)]
#[path = "alt_svc_test.rs"]
mod alt_svc_test;

/// Says where else an origin is served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AltSvcFrame<'a> {
    /// 0, with an origin; or a stream, for the origin of its request.
    pub stream: u32,
    /// Empty on a stream.
    pub origin: &'a [u8],
    /// The value as the field `alt-svc` has it.
    pub value: &'a [u8],
}

impl<'a> AltSvcFrame<'a> {
    /// The frame with this payload; `None`: it is cut off within its origin.
    pub fn parse(header: FrameHeader, payload: &'a [u8]) -> Option<Self> {
        let (length, rest) = payload.split_first_chunk::<2>()?;
        let (origin, value) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        Some(Self {
            stream: header.stream,
            origin,
            value,
        })
    }
    /// Payload bytes.
    pub fn payload_len(&self) -> usize {
        2 + self.origin.len() + self.value.len()
    }
    /// Whether a receiver must ignore it: the origin is named twice, or not at all.
    pub fn is_void(&self) -> bool {
        (self.stream == 0) == self.origin.is_empty()
    }
    /// Appends the frame; all of it must fit a frame of the peer's.
    pub fn write(self, out: &mut Vec<u8>) {
        FrameHeader::new(kind::ALTSVC, self.stream, self.payload_len()).write(out);
        out.extend_from_slice(&(self.origin.len() as u16).to_be_bytes());
        out.extend_from_slice(self.origin);
        out.extend_from_slice(self.value);
    }
}
