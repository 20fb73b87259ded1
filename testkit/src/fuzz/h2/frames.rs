//! Frames: a parsed frame is written again and parses equally.

use crate::fuzz::Input;
use trunkline_core::h2::frame::{
    Continuation, DataLayout, FRAME_HEADER_BYTES, FrameHeader, Goaway, Headers, Ping,
    PriorityUpdate, PushPromise, RstStream, SettingsFrame, StreamDependency, WindowUpdate, flag,
    kind,
};

/// Parses frame after frame; an invalid one is skipped by its length.
pub fn h2_frames(data: &[u8]) {
    let mut rest = Input::new(data).wire;
    while let Some((head, behind)) = rest.split_first_chunk::<FRAME_HEADER_BYTES>() {
        let header = FrameHeader::parse(head);
        let len = (header.len as usize).min(behind.len());
        let (payload, after) = behind.split_at(len);
        if payload.len() == header.len as usize {
            frame(header, payload);
        }
        rest = after;
    }
}

/// Writes `$frame` and parses it again with `$parser`.
macro_rules! again {
    ($frame:expr, $parser:ident) => {
        if let Ok(first) = $frame {
            let mut written = Vec::new();
            first.clone().write(&mut written);
            let (header, payload) = split(&written);
            assert_eq!($parser::parse(header, payload), Ok(first));
        }
    };
}

fn frame(header: FrameHeader, payload: &[u8]) {
    match header.kind {
        kind::DATA => data(header, payload),
        kind::HEADERS => {
            if let Ok(headers) = Headers::parse(header, payload) {
                assert!(headers.fragment.len() <= payload.len());
            }
        }
        kind::PRIORITY => again!(StreamDependency::parse(header, payload), StreamDependency),
        kind::RST_STREAM => again!(RstStream::parse(header, payload), RstStream),
        kind::SETTINGS => {
            if let Ok(settings) = SettingsFrame::parse(header, payload) {
                assert!(settings.iter().count() <= payload.len() / 6);
            }
        }
        kind::PUSH_PROMISE => again!(PushPromise::parse(header, payload), PushPromise),
        kind::PING => again!(Ping::parse(header, payload), Ping),
        kind::GOAWAY => again!(Goaway::parse(header, payload), Goaway),
        kind::WINDOW_UPDATE => again!(WindowUpdate::parse(header, payload), WindowUpdate),
        kind::CONTINUATION => again!(Continuation::parse(header, payload), Continuation),
        kind::PRIORITY_UPDATE => again!(PriorityUpdate::parse(header, payload), PriorityUpdate),
        _ => {}
    }
}

fn data(header: FrameHeader, payload: &[u8]) {
    let padded = header.has(flag::PADDED);
    if let Ok(layout) = DataLayout::parse(header, payload.first().copied().filter(|_| padded)) {
        let length_byte = u32::from(padded);
        assert_eq!(layout.pad_len + layout.body_len, header.len - length_byte);
    }
}

fn split(written: &[u8]) -> (FrameHeader, &[u8]) {
    let (head, payload) = written
        .split_first_chunk::<FRAME_HEADER_BYTES>()
        .expect("a written frame has a header");
    let header = FrameHeader::parse(head);
    assert_eq!(header.len as usize, payload.len());
    (header, payload)
}
