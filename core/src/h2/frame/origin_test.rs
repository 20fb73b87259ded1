//! RFC 8336 section 2.

use super::{len, write};
use crate::h2::frame::frame_test::frame;
use crate::h2::frame::kind;

#[test]
fn each_origin_stands_behind_its_length() {
    let origins = ["https://a.example", "https://b.example:8"];
    let mut out = Vec::new();
    write(&origins, &mut out);
    let (header, payload) = frame(&out);
    assert_eq!(
        (header.kind, header.flags, header.stream),
        (kind::ORIGIN, 0, 0)
    );
    assert_eq!(payload, b"\0\x11https://a.example\0\x13https://b.example:8");
    assert_eq!(payload.len(), len(&origins));
}

#[test]
fn a_frame_without_origins_is_empty() {
    let mut out = Vec::new();
    write::<&str>(&[], &mut out);
    let (header, payload) = frame(&out);
    assert_eq!((header.kind, payload), (kind::ORIGIN, &b""[..]));
}
