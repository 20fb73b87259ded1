//! Heads that come again on a connection, and the compression table under them.
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "h2/rig.rs"]
mod rig;

use rig::{Cut, Rig, however_it_is_cut};
use trunkline_core::h2::frame::{FrameHeader, flag, kind};
use trunkline_core::http::{Event, StreamId};

/// `GET http://a/` and a field that is to be entered into the table as its newest entry, which has the
/// index 62 then.
const ENTERS: &[u8] = &[0x82, 0x86, 0x84, 0x01, 1, b'a', 0x40, 1, b'x', 1, b'y'];
/// The name by its index (RFC 7541 section 2.3.3).
const NAMES_IT: &[u8] = &[0x82, 0x86, 0x84, 0x01, 1, b'a', 0x80 | 62];

fn headers(stream: u32, block: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    let header = FrameHeader {
        len: block.len() as u32,
        kind: kind::HEADERS,
        flags: flag::END_HEADERS | flag::END_STREAM,
        stream,
    };
    header.write(&mut frame);
    frame.extend(block);
    frame
}

fn reads_request(rig: &mut Rig, stream: u32, block: &[u8]) -> Vec<(Vec<u8>, Vec<u8>)> {
    rig.sends(&headers(stream, block));
    match rig.event() {
        Some(Event::RequestReceived {
            stream: id, head, ..
        }) => {
            assert_eq!(id, StreamId(u64::from(stream)));
            let fields = head.fields();
            fields
                .map(|field| (field.name.to_vec(), field.value.to_vec()))
                .collect()
        }
        other => panic!("{other:?}"),
    }
}

/// RFC 7541 sections 2.3.2 and 4.3: a table that holds nothing enters nothing, and one that was enlarged
/// since does, also of a block that was read before and remembered.
#[test]
fn a_block_that_comes_again_under_a_larger_table_is_entered_into_it() {
    const TO_NOTHING: u8 = 0x20;
    /// A size update to 4,096, an integer of a prefix of 5 bits (RFC 7541 section 5.1).
    const TO_4096: [u8; 3] = [0x3f, 0xe1, 0x1f];
    however_it_is_cut(|cut: Cut| {
        let mut rig = Rig::server(cut);
        let expected = [(b"x".to_vec(), b"y".to_vec())];
        reads_request(&mut rig, 1, &[&[TO_NOTHING], ENTERS].concat());
        for stream in [3, 5, 7] {
            assert_eq!(reads_request(&mut rig, stream, ENTERS), expected);
        }
        let resize = [&TO_4096[..], &[0x82, 0x86, 0x84, 0x01, 1, b'a']].concat();
        reads_request(&mut rig, 9, &resize);
        assert_eq!(reads_request(&mut rig, 11, ENTERS), expected);
        assert_eq!(reads_request(&mut rig, 13, NAMES_IT), expected);
        assert!(rig.event().is_none(), "nothing else happened");
    });
}
