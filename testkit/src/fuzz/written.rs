//! Reads an HTTP/2 machine's output and checks rules that hold for every input.

use trunkline_core::h2::frame::{FRAME_HEADER_BYTES, FrameHeader, kind};

const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The bytes written so far that are not yet a whole frame.
#[derive(Debug, Default)]
pub(super) struct WrittenFrames {
    rest: Vec<u8>,
    past_preface: bool,
}

impl WrittenFrames {
    pub(super) fn of_client() -> Self {
        Self::default()
    }
    pub(super) fn of_server() -> Self {
        Self {
            past_preface: true,
            ..Self::default()
        }
    }
    /// Takes the next bytes.
    pub(super) fn take(&mut self, bytes: &[u8]) {
        self.rest.extend_from_slice(bytes);
        if !self.past_preface {
            if self.rest.len() < PREFACE.len() {
                return;
            }
            assert!(self.rest.starts_with(PREFACE), "no client preface");
            self.rest.drain(..PREFACE.len());
            self.past_preface = true;
        }
        let mut done = 0;
        while let Some((head, behind)) = self.rest[done..].split_first_chunk::<FRAME_HEADER_BYTES>()
        {
            let header = FrameHeader::parse(head);
            let len = header.len as usize;
            if behind.len() < len {
                break;
            }
            check(header, &behind[..len]);
            done += FRAME_HEADER_BYTES + len;
        }
        self.rest.drain(..done);
    }
}

fn check(header: FrameHeader, payload: &[u8]) {
    assert!(
        header.kind <= kind::CONTINUATION,
        "a frame of type {:#x}",
        header.kind
    );
    assert!(header.kind != kind::PUSH_PROMISE, "a push promise");
    if header.kind == kind::WINDOW_UPDATE {
        let increment: [u8; 4] = payload.try_into().expect("four bytes");
        let increment = u32::from_be_bytes(increment);
        // RFC 9113 section 6.9: 1 to 2^31-1.
        assert!((1..1 << 31).contains(&increment), "increment {increment}");
    }
}
