//! The bytes of bodies. No two bodies and no two parts of one are alike: what is lost, doubled or of another
//! exchange shows.

use bytes::Bytes;
use std::sync::LazyLock;

const BYTES: usize = 4 << 20;
/// Where bodies begin in the content, at the latest.
const BEGIN_MAX: u64 = 1 << 20;

static CONTENT: LazyLock<Bytes> = LazyLock::new(|| {
    let mut bytes = vec![0; BYTES];
    for (word, place) in (0_u32..).zip(bytes.chunks_exact_mut(4)) {
        place.copy_from_slice(&word.wrapping_mul(0x9E37_79B9).to_le_bytes());
    }
    bytes.into()
});

/// `length` bytes of the body `content` from `at` on.
pub(crate) fn bytes_of(content: u64, at: usize, length: usize) -> Bytes {
    let begin = (content.wrapping_mul(0x9E37_79B9) % BEGIN_MAX) as usize;
    CONTENT.slice(begin + at..begin + at + length)
}

/// Whether `piece` is what the body `content` has at `at`.
pub(crate) fn is_of(content: u64, at: usize, piece: &[u8]) -> bool {
    at + piece.len() <= BYTES - BEGIN_MAX as usize && bytes_of(content, at, piece.len()) == piece
}
