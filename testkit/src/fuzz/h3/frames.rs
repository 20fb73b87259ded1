//! HTTP/3 frames: a stream of them reads equally at every split, and a parsed frame is written
//! again and parses equally.

use crate::fuzz::Input;
use bytes::BytesMut;
use trunkline_core::h3::control_stream::{ControlFrame, admit};
use trunkline_core::h3::frame::{FrameKind, FrameReader, Piece, kind, put_frame, put_header};
use trunkline_core::h3::settings::{self, Settings, id};
use trunkline_core::http::Side;
use trunkline_core::http::priority::Priority;
use trunkline_core::wire::varint;

/// Reads the wire whole and in pieces, and then every frame that is complete.
pub fn h3_frames(data: &[u8]) {
    let mut input = Input::new(data);
    let mut whole = Read::default();
    whole.take(input.wire);
    header(input.wire);
    let mut cut = Read::default();
    while let Some((piece, _)) = input.piece() {
        cut.take(piece);
    }
    assert_eq!(whole.frames, cut.frames);
    assert_eq!(
        whole.reader.is_between_frames(),
        cut.reader.is_between_frames()
    );
    for (kind, payload, complete) in &whole.frames {
        if *complete {
            for side in [Side::Client, Side::Server] {
                frame(*kind, payload, side);
            }
        }
    }
}

/// Frames as they were read.
#[derive(Default)]
struct Read {
    reader: FrameReader,
    /// Kind, payload so far, and whether that is all.
    frames: Vec<(FrameKind, Vec<u8>, bool)>,
}

impl Read {
    fn take(&mut self, mut input: &[u8]) {
        while let Some(piece) = self.reader.next(&mut input) {
            match piece {
                Piece::Header { kind, len } => {
                    assert!(len <= varint::MAX);
                    self.frames.push((kind, Vec::new(), false));
                }
                Piece::Payload {
                    kind,
                    bytes,
                    is_last,
                } => {
                    let (of, payload, complete) =
                        self.frames.last_mut().expect("a header came first");
                    assert!(*of == kind && !*complete);
                    payload.extend_from_slice(bytes);
                    *complete = is_last;
                    assert_eq!(is_last, self.reader.left() == 0);
                }
            }
        }
        assert!(input.is_empty(), "all that came was read");
    }
}

/// The first header, written in its shortest form, reads the same.
fn header(wire: &[u8]) {
    let Some((kind, at)) = varint::take(wire) else {
        return;
    };
    let Some((len, more)) = varint::take(&wire[at..]) else {
        return;
    };
    let mut written = BytesMut::new();
    put_header(kind, len as usize, &mut written);
    assert!(written.len() <= at + more, "no shorter form than ours");
    assert_eq!(written.len(), varint::len(kind) + varint::len(len));
    let piece = FrameReader::default().next(&mut &written[..]);
    let kind = FrameKind::of(kind);
    assert_eq!(piece, Some(Piece::Header { kind, len }));
}

fn frame(kind: FrameKind, payload: &[u8], side: Side) {
    if admit(kind, side, kind != FrameKind::Settings).is_err() {
        return;
    }
    let Ok(frame) = ControlFrame::parse(kind, payload) else {
        return;
    };
    let mut written = Vec::new();
    match frame {
        ControlFrame::Settings(settings) => {
            settings::write(&sent(settings), &mut written);
        }
        ControlFrame::Goaway(id) => number(kind::GOAWAY, id, &mut written),
        ControlFrame::MaxPushId(id) => number(kind::MAX_PUSH_ID, id, &mut written),
        ControlFrame::PriorityUpdate { stream, value } => {
            assert!(Priority::parse(value).urgency <= 7);
            let mut again = Vec::new();
            varint::put(stream, &mut again);
            again.extend_from_slice(value);
            put_frame(kind::PRIORITY_UPDATE_REQUEST, &again, &mut written);
        }
        ControlFrame::Unknown => return,
    }
    let mut read = Read::default();
    read.take(&written);
    let Some((_, again, true)) = read.frames.first() else {
        panic!("a frame that was written is there");
    };
    assert_eq!(ControlFrame::parse(kind, again), Ok(frame));
}

fn number(kind: u64, id: u64, out: &mut Vec<u8>) {
    let mut payload = Vec::new();
    varint::put(id, &mut payload);
    put_frame(kind, &payload, out);
}

fn sent(settings: Settings) -> [(u64, u64); 5] {
    [
        (id::QPACK_MAX_TABLE_CAPACITY, settings.qpack_table_bytes_max),
        (
            id::QPACK_BLOCKED_STREAMS,
            settings.qpack_blocked_streams_max,
        ),
        (id::MAX_FIELD_SECTION_SIZE, settings.field_section_bytes_max),
        (
            id::ENABLE_CONNECT_PROTOCOL,
            u64::from(settings.enable_connect_protocol),
        ),
        (id::H3_DATAGRAM, u64::from(settings.datagrams)),
    ]
}
