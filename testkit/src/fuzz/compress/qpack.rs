//! QPACK: no section and no instruction panics or grows beyond its limits, and a decoded section is
//! encoded to one that decodes equally, however late the peer gets the table's instructions.

use crate::fuzz::Input;
use std::collections::BTreeMap;
use trunkline_core::http::{Fields, StreamId};
use trunkline_core::limits::{Limits, QPACK_BLOCKED_STREAMS_MAX, QPACK_TABLE_BYTES_MAX};
use trunkline_core::qpack::{DecodedSection, Decoder, Encoder};

/// Peers' limits: table bytes and blocked streams.
const OFFERS: [(usize, usize); 4] = [
    (QPACK_TABLE_BYTES_MAX, 16),
    (0, 0),
    (220, 1),
    (64 << 10, 100),
];

/// A connection's worth of pieces: by the two high bits of its choice each is a section, bytes of
/// the encoder stream, or bytes of the decoder stream.
pub fn qpack(data: &[u8]) {
    let mut input = Input::new(data);
    let limits = Limits::default();
    let mut decoder = Decoder::new(QPACK_TABLE_BYTES_MAX, QPACK_BLOCKED_STREAMS_MAX);
    let (capacity, blocked) = OFFERS[usize::from(input.choice()) % OFFERS.len()];
    let mut echo = Echo::new(capacity, blocked);
    // Its peer acknowledges what it likes.
    let mut misled = Encoder::new();
    misled.set_peer(capacity as u64, blocked as u64);
    let mut fields = Fields::new();
    let mut next = 0;
    let mut out = Vec::new();
    while let Some((piece, choice)) = input.piece() {
        out.clear();
        match choice >> 6 {
            0 | 1 => {
                let stream = StreamId(next);
                next += 4;
                match decoder.decode(stream, piece, &limits, &mut fields) {
                    // The connection is over.
                    Err(_) => return,
                    Ok(DecodedSection::Complete) => {
                        misled.encode_trailers(stream, &fields, &mut out);
                        echo.send(&limits, &fields, choice);
                    }
                    Ok(_) => {}
                }
            }
            2 => {
                if decoder.handle_encoder_bytes(piece).is_err() {
                    return;
                }
                while let Ok(Some((_, decoded))) = decoder.poll_unblocked(&limits, &mut fields) {
                    if decoded == DecodedSection::Complete {
                        echo.send(&limits, &fields, choice);
                    }
                }
            }
            _ => {
                if misled.handle_decoder_bytes(piece).is_err() {
                    return;
                }
            }
        }
        assert!(fields.len() <= limits.field_count_max);
        assert!(fields.size() <= limits.field_section_bytes_max);
        assert!(decoder.blocked_streams() <= QPACK_BLOCKED_STREAMS_MAX);
        decoder.decoder_stream_bytes(&mut out);
    }
    echo.receive(&limits, usize::MAX);
    assert!(echo.late.is_empty(), "sections wait though all has come");
}

/// Names and values.
type Pairs = Vec<(Vec<u8>, Vec<u8>)>;

/// Our encoder, and a peer's decoder at the end of a road of its own for the encoder stream.
struct Echo {
    encoder: Encoder,
    decoder: Decoder,
    /// Instructions on their way.
    road: Vec<u8>,
    next: u64,
    /// Sections that wait for instructions, and what they must give.
    late: BTreeMap<StreamId, Pairs>,
}

impl Echo {
    fn new(capacity: usize, blocked: usize) -> Self {
        let mut encoder = Encoder::new();
        encoder.set_peer(capacity as u64, blocked as u64);
        Self {
            encoder,
            decoder: Decoder::new(capacity, blocked),
            road: Vec::new(),
            next: 0,
            late: BTreeMap::new(),
        }
    }
    /// The section overtakes the instructions, of which then some arrive.
    fn send(&mut self, limits: &Limits, fields: &Fields, choice: u8) {
        let stream = StreamId(self.next);
        self.next += 4;
        let mut section = Vec::new();
        self.encoder.encode_trailers(stream, fields, &mut section);
        self.encoder.encoder_stream_bytes(&mut self.road);
        let mut again = Fields::new();
        let decoded = self
            .decoder
            .decode(stream, &section, limits, &mut again)
            .expect("what we encode decodes, and blocks no more streams than the peer bears");
        match decoded {
            DecodedSection::Complete => assert_eq!(pairs(&again), pairs(fields)),
            DecodedSection::Blocked => drop(self.late.insert(stream, pairs(fields))),
            // Many large sections wait at once.
            DecodedSection::Refused(_) => assert!(!self.late.is_empty()),
        }
        match choice & 0x20 {
            0 => self.receive(limits, usize::from(choice & 15)),
            _ => self.receive(limits, usize::MAX),
        }
    }
    /// Delivers at most `most` bytes of instructions, and returns the acknowledgements.
    fn receive(&mut self, limits: &Limits, most: usize) {
        let some = self.road.len().min(most);
        let received: Vec<u8> = self.road.drain(..some).collect();
        self.decoder
            .handle_encoder_bytes(&received)
            .expect("our instructions are valid");
        let mut again = Fields::new();
        while let Some((stream, decoded)) = self
            .decoder
            .poll_unblocked(limits, &mut again)
            .expect("what we encode decodes")
        {
            assert_eq!(decoded, DecodedSection::Complete);
            assert_eq!(self.late.remove(&stream), Some(pairs(&again)));
        }
        let mut back = Vec::new();
        self.decoder.decoder_stream_bytes(&mut back);
        self.encoder
            .handle_decoder_bytes(&back)
            .expect("true acknowledgements are believed");
    }
}

fn pairs(fields: &Fields) -> Pairs {
    fields
        .iter()
        .map(|field| (field.name.to_vec(), field.value.to_vec()))
        .collect()
}
