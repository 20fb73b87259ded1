//! HPACK: no block panics or grows beyond its limits, and a decoded block is encoded to one that
//! decodes equally.

use crate::fuzz::Input;
use trunkline_core::hpack::decode::{DecodedBlock, Decoder};
use trunkline_core::hpack::encode::Encoder;
use trunkline_core::http::Fields;
use trunkline_core::limits::{HPACK_TABLE_BYTES_MAX, Limits};

/// Decodes a connection's worth of blocks, each a piece of the wire.
pub fn hpack(data: &[u8]) {
    let mut input = Input::new(data);
    let limits = Limits::default();
    let mut decoder = Decoder::new(HPACK_TABLE_BYTES_MAX);
    let mut encoder = Encoder::new();
    let mut reader = Decoder::new(HPACK_TABLE_BYTES_MAX);
    let mut fields = Fields::new();
    let mut again = Fields::new();
    let mut block = Vec::new();
    while let Some((piece, choice)) = input.piece() {
        if choice & 0x20 != 0 {
            encoder.set_peer_table_max(u32::from(choice) * 64);
        }
        match decoder.decode(piece, &limits, &mut fields) {
            // The connection is over.
            Err(_) => return,
            Ok(DecodedBlock::Refused(_)) => continue,
            Ok(DecodedBlock::Complete) => {}
        }
        assert!(fields.len() <= limits.field_count_max);
        assert!(fields.size() <= limits.field_section_bytes_max);
        block.clear();
        encoder.encode_trailers(&fields, &mut block);
        assert_eq!(
            reader.decode(&block, &limits, &mut again),
            Ok(DecodedBlock::Complete)
        );
        assert!(pairs(&again).eq(pairs(&fields)), "{fields:?} {again:?}");
    }
}

fn pairs(fields: &Fields) -> impl Iterator<Item = (&[u8], &[u8])> {
    fields.iter().map(|field| (field.name, field.value))
}
