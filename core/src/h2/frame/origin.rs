//! ORIGIN (RFC 8336 section 2).

use super::{FrameHeader, kind};

#[cfg(test)]
#[path = "origin_test.rs"]
mod origin_test;

/// Bytes before each origin.
const LENGTH_BYTES: usize = 2;

/// Payload bytes of a frame with these origins.
pub fn len<O: AsRef<[u8]>>(origins: &[O]) -> usize {
    origins
        .iter()
        .map(|origin| LENGTH_BYTES + origin.as_ref().len())
        .sum()
}

/// The origins of a frame; `None`: the payload is cut off within one.
pub fn parse(mut payload: &[u8]) -> Option<Vec<&[u8]>> {
    let mut origins = Vec::new();
    while !payload.is_empty() {
        let (length, rest) = payload.split_first_chunk::<LENGTH_BYTES>()?;
        let (origin, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
        origins.push(origin);
        payload = rest;
    }
    Some(origins)
}

/// Appends a frame with the origins that this server answers for beside that of the connection;
/// all of it must fit a frame of the peer's.
pub fn write<O: AsRef<[u8]>>(origins: &[O], out: &mut Vec<u8>) {
    FrameHeader::new(kind::ORIGIN, 0, len(origins)).write(out);
    for origin in origins {
        let origin = origin.as_ref();
        out.extend_from_slice(&(origin.len() as u16).to_be_bytes());
        out.extend_from_slice(origin);
    }
}
