//! RFC 7838 section 4.

use super::AltSvcFrame;
use crate::h2::frame::frame_test::frame;
use crate::h2::frame::kind;

#[test]
fn a_frame_names_its_origin_and_then_its_value() {
    let sent = AltSvcFrame {
        stream: 0,
        origin: b"https://a.example",
        value: b"h3=\":1\"",
    };
    let mut out = Vec::new();
    sent.write(&mut out);
    let (header, payload) = frame(&out);
    assert_eq!((header.kind, header.flags), (kind::ALTSVC, 0));
    assert_eq!(header.stream, 0);
    assert_eq!(payload, b"\0\x11https://a.exampleh3=\":1\"");
    assert_eq!(payload.len(), sent.payload_len());
}

#[test]
fn an_origin_is_named_on_the_connection_and_only_there() {
    let sent = |stream, origin| AltSvcFrame {
        stream,
        origin,
        value: b"clear",
    };
    assert!(!sent(0, b"https://a.example").is_void());
    assert!(!sent(3, b"").is_void());
    assert!(sent(0, b"").is_void());
    assert!(sent(3, b"https://a.example").is_void());
}
