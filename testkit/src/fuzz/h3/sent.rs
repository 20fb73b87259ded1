//! Reads an HTTP/3 machine's output and checks rules that hold for every input: streams of whole
//! frames of the allowed types, and sections that decode.

use std::collections::BTreeMap;
use trunkline_core::error::Violation;
use trunkline_core::h3::UniKind;
use trunkline_core::h3::control_stream::ControlFrame;
use trunkline_core::h3::frame::{FrameKind, FrameReader, Piece};
use trunkline_core::http::{Fields, StreamId};
use trunkline_core::limits::Limits;
use trunkline_core::qpack::{DecodedSection, Decoder};

/// A peer's limits for its QPACK decoder.
#[derive(Clone, Copy, Debug)]
pub(in crate::fuzz) struct Terms {
    pub(super) table_bytes_max: u64,
    pub(super) blocked_streams_max: u64,
}

/// The machine's output so far.
pub(in crate::fuzz) struct SentSettings {
    streams: BTreeMap<StreamId, Stream>,
    /// The peer's decoder; `None`: the peer never said its settings in a way that we know.
    decoder: Option<Decoder>,
    limits: Limits,
    goaway: Option<u64>,
    settings: bool,
}

#[derive(Default)]
struct Stream {
    uni: Option<UniKind>,
    past_type: bool,
    reader: FrameReader,
    /// A section or a control frame in pieces.
    payload: Vec<u8>,
    /// A section has begun: DATA may follow.
    has_head: bool,
}

impl SentSettings {
    pub(in crate::fuzz) fn new(terms: Option<Terms>) -> Self {
        let decoder = |terms: Terms| {
            Decoder::new(
                terms.table_bytes_max as usize,
                terms.blocked_streams_max as usize,
            )
        };
        Self {
            streams: BTreeMap::new(),
            decoder: terms.map(decoder),
            limits: Limits::default(),
            goaway: None,
            settings: false,
        }
    }
    pub(in crate::fuzz) fn opened(&mut self, stream: StreamId, uni: Option<UniKind>) {
        let fresh = Stream {
            uni,
            ..Stream::default()
        };
        let before = self.streams.insert(stream, fresh);
        assert!(before.is_none(), "{stream:?} was opened twice");
    }
    /// Bytes that the transport took.
    pub(in crate::fuzz) fn take(&mut self, stream: StreamId, mut bytes: &[u8], fin: bool) {
        let wire_stream = self.streams.entry(stream).or_default();
        if let Some(kind) = wire_stream.uni {
            assert!(!fin, "{kind:?} is critical and never ends");
            if !wire_stream.past_type && !bytes.is_empty() {
                assert_eq!(u64::from(bytes[0]), kind.wire(), "the type comes first");
                wire_stream.past_type = true;
                bytes = &bytes[1..];
            }
            if kind == UniKind::QpackEncoder {
                return self.instructions(bytes);
            }
            if kind == UniKind::QpackDecoder {
                return;
            }
        }
        let mut wire_stream = std::mem::take(wire_stream);
        while let Some(piece) = wire_stream.reader.next(&mut bytes) {
            self.piece(stream, &mut wire_stream, piece);
        }
        assert!(
            !fin || wire_stream.reader.is_between_frames(),
            "{stream:?} ended in a frame"
        );
        self.streams.insert(stream, wire_stream);
    }
    fn piece(&mut self, stream: StreamId, wire_stream: &mut Stream, piece: Piece<'_>) {
        let (kind, bytes, is_last) = match piece {
            Piece::Header { kind, .. } => {
                let may = match wire_stream.uni {
                    Some(_) => [FrameKind::Settings, FrameKind::Goaway],
                    None => [FrameKind::Headers, FrameKind::Data],
                };
                assert!(may.contains(&kind), "{kind:?} on {stream:?}");
                wire_stream.has_head |= kind == FrameKind::Headers;
                assert!(
                    wire_stream.has_head || kind != FrameKind::Data,
                    "DATA before a head"
                );
                return;
            }
            Piece::Payload {
                kind,
                bytes,
                is_last,
            } => (kind, bytes, is_last),
        };
        if kind == FrameKind::Data {
            return;
        }
        wire_stream.payload.extend_from_slice(bytes);
        if !is_last {
            return;
        }
        let payload = std::mem::take(&mut wire_stream.payload);
        match kind {
            FrameKind::Headers => self.section(stream, &payload),
            _ => self.control(ControlFrame::parse(kind, &payload)),
        }
    }
    fn section(&mut self, stream: StreamId, section: &[u8]) {
        let Some(decoder) = &mut self.decoder else {
            return;
        };
        let mut fields = Fields::new();
        let decoded = decoder
            .decode(stream, section, &self.limits, &mut fields)
            .expect("what we send decodes, and blocks no more than the peer bears");
        assert!(
            !matches!(decoded, DecodedSection::Refused(_)),
            "a section beyond all bounds: {decoded:?}"
        );
    }
    fn instructions(&mut self, bytes: &[u8]) {
        let Some(decoder) = &mut self.decoder else {
            return;
        };
        decoder
            .handle_encoder_bytes(bytes)
            .expect("our instructions are valid");
        let mut fields = Fields::new();
        while decoder
            .poll_unblocked(&self.limits, &mut fields)
            .expect("what we send decodes")
            .is_some()
        {}
    }
    fn control(&mut self, frame: Result<ControlFrame<'_>, Violation>) {
        match frame.expect("our control frames are valid") {
            ControlFrame::Settings(_) => {
                assert!(!self.settings, "SETTINGS come once");
                self.settings = true;
            }
            ControlFrame::Goaway(id) => {
                assert!(self.settings, "SETTINGS come first");
                assert!(self.goaway.is_none_or(|before| id <= before), "it rises");
                self.goaway = Some(id);
            }
            other => panic!("{other:?} on our control stream"),
        }
    }
    /// The machine reset a stream: what the peer has of it is worth nothing.
    pub(in crate::fuzz) fn reset(&mut self, stream: StreamId) {
        if let Some(decoder) = &mut self.decoder {
            decoder.cancel(stream);
        }
    }
    /// The peer's decoder stream for the machine.
    pub(super) fn feedback(&mut self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(decoder) = &mut self.decoder {
            decoder.decoder_stream_bytes(&mut out);
        }
        out
    }
}
