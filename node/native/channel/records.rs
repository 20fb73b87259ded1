//! Decodes the entries of submissions: the bytes of the arena that belong to one, and the parts of its
//! text. Every length is cut to the bytes there are, so that no entry reaches beyond them.

use super::codes::submission::{
    CONTROL, FINISH, INFORM, PIECE, REQUEST, RESPOND, SEND, STREAM_PIECE, request, respond,
};
use super::codes::{Entry, LENGTH, body, http_version};
use super::ring::{body_of, code_of, text_of};
use std::path::PathBuf;
use trunkline::core::http::Version;

/// The position in the arena and the length of the bytes that belong to an entry; `None`: none do.
pub(crate) fn range(entry: &Entry) -> Option<(u32, u32)> {
    let (position, length) = text_of(entry);
    match (code_of(entry), body_of(entry)) {
        (REQUEST, body::INLINE) => Some((position, length.saturating_add(entry[request::BODY]))),
        (RESPOND, body::INLINE | body::FILE) => {
            Some((position, length.saturating_add(entry[respond::BODY])))
        }
        (REQUEST, _) | (PIECE | STREAM_PIECE | SEND, body::INLINE) => Some((position, length)),
        (RESPOND | INFORM | FINISH | CONTROL, _) if length > 0 => Some((position, length)),
        _ => None,
    }
}

/// The text of an entry, and the rest of its bytes: its body, or which file.
pub(crate) fn text_and_body<'a>(entry: &Entry, bytes: &'a [u8]) -> (&'a [u8], &'a [u8]) {
    bytes.split_at((entry[LENGTH] as usize).min(bytes.len()))
}

/// Reason phrase, fields and body of a server's response.
pub(crate) fn answer_parts<'a>(entry: &Entry, bytes: &'a [u8]) -> (&'a [u8], &'a [u8], &'a [u8]) {
    let (head, body) = text_and_body(entry, bytes);
    let reason_length = entry[respond::REASON_LENGTH] as usize;
    let (reason, fields) = head.split_at(reason_length.min(head.len()));
    (reason, fields, body)
}

/// The code of a version of HTTP.
pub(crate) fn version_code(version: Version) -> u32 {
    match version {
        Version::Http10 => http_version::HTTP10,
        Version::Http11 => http_version::HTTP11,
        Version::Http2 => http_version::HTTP2,
        Version::Http3 => http_version::HTTP3,
    }
}

/// A file as a response's body, or a part of one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct FileRequest {
    pub(crate) path: PathBuf,
    pub(crate) offset: u64,
    /// `None`: to the end.
    pub(crate) length: Option<u64>,
}

impl FileRequest {
    /// From a text: offset, length (or nothing) and path, a zero between two.
    pub(crate) fn read(text: &[u8]) -> Option<Self> {
        let mut parts = str::from_utf8(text).ok()?.splitn(3, '\0');
        Some(Self {
            offset: parts.next()?.parse().ok()?,
            length: match parts.next()? {
                "" => None,
                length => Some(length.parse().ok()?),
            },
            path: parts.next()?.into(),
        })
    }
}
