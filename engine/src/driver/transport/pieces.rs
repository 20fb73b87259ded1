//! Splits plaintext for rustls into pieces that are cheap to copy.

use super::{BATCH_BYTES_MAX, SLICES_MAX};
use std::io::{self, IoSlice, Write};
use std::ops::Deref;

/// Bytes of plaintext that rustls copies at once. It copies a record before it is sealed in place, and
/// glibc copies 2,112 bytes and more with `rep movsb` where the processor offers it (`fsrm`). On AMD's
/// Zen 3 to 5 that is up to 20 times slower than its vector loop where a page offset of the destination is
/// just above the source's (glibc bug 30994), and a record's header of 5 bytes makes it so.
const PIECE_BYTES: usize = 2048;
/// The pieces of a full batch, and the ends of its slices.
const PIECES_MAX: usize = BATCH_BYTES_MAX / PIECE_BYTES + SLICES_MAX;

/// Gives `slices` to rustls in pieces of at most [`PIECE_BYTES`]; returns how many bytes it took.
pub(super) fn write_pieces<S: Deref<Target = [u8]>>(
    writer: &mut rustls::Writer<'_>,
    slices: &[S],
) -> io::Result<usize> {
    if let [only] = slices
        && only.len() <= PIECE_BYTES
    {
        return writer.write(only);
    }
    let mut pieces = [IoSlice::new(&[]); PIECES_MAX];
    let mut filled = 0;
    let all = slices.iter().flat_map(|slice| slice.chunks(PIECE_BYTES));
    for (slot, piece) in pieces.iter_mut().zip(all) {
        *slot = IoSlice::new(piece);
        filled += 1;
    }
    writer.write_vectored(&pieces[..filled])
}
