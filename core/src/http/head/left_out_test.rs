use super::super::{RequestHead, ResponseHead, Version, receive_trailers};
use crate::error::Violation;
use crate::http::field::Fields;

const FRAMED: [Version; 2] = [Version::Http2, Version::Http3];
const GET: [(&str, &str); 4] = [
    (":method", "GET"),
    (":scheme", "https"),
    (":authority", "a"),
    (":path", "/"),
];
const BLANK_OR_CONTROL: [&str; 8] = [" ", "\t", " v", "v ", "\tv", "v\t", "a\x01b", "a\x7f"];

/// Fields that are left of `first` with a field of this name and value among others; nothing of ours is
/// refused.
fn received(
    version: Version,
    first: &[(&str, &str)],
    field: (&str, &str),
) -> [Result<Fields, Violation>; 2] {
    let section = |first: &[(&str, &str)]| -> Fields {
        let all = [first, &[("x-before", "1"), field, ("etag", "2")]].concat();
        all.into_iter().collect()
    };
    let mut trailers = section(&[]);
    let head = match first.len() {
        1 => ResponseHead::received(section(first), version).map(ResponseHead::into_fields),
        _ => RequestHead::received(section(first), version).map(RequestHead::into_fields),
    };
    [
        head,
        receive_trailers(&mut trailers, version).map(|()| trailers),
    ]
}

const HEADS: [&[(&str, &str)]; 2] = [&GET, &[(":status", "200")]];

#[test]
fn a_field_with_blanks_at_an_end_or_a_harmless_control_character_is_left_out_alone() {
    for version in FRAMED {
        for head in HEADS {
            for name in ["x-own", "content-type", "set-cookie"] {
                for value in BLANK_OR_CONTROL {
                    for left in received(version, head, (name, value)) {
                        let left = left.expect("the message is taken");
                        assert_eq!(left.get_named(name.as_bytes()), None, "{name}: {value:?}");
                        assert_eq!(left.get_named(b"x-before"), Some(&b"1"[..]));
                        assert_eq!(left.get_named(b"etag"), Some(&b"2"[..]));
                    }
                }
            }
        }
    }
}

#[test]
fn a_field_with_cr_lf_or_nul_or_no_name_refuses_its_message() {
    for version in FRAMED {
        for head in HEADS {
            for value in ["a\r", "a\n", "\0", " a\nb "] {
                for left in received(version, head, ("x-own", value)) {
                    assert_eq!(left.err(), Some(Violation::FieldValueInvalid), "{value:?}");
                }
            }
            for name in ["X-Own", "x own", ""] {
                for left in received(version, head, (name, " v")) {
                    assert_eq!(left.err(), Some(Violation::FieldNameInvalid), "{name:?}");
                }
            }
        }
    }
}

#[test]
fn a_field_of_a_head_that_frames_or_routes_a_message_is_never_left_out() {
    for version in FRAMED {
        for name in [
            "content-length",
            "te",
            "transfer-encoding",
            "connection",
            "host",
        ] {
            let [head, _] = received(version, &GET, (name, " 1"));
            assert_eq!(head.err(), Some(Violation::FieldValueInvalid), "{name}");
        }
        for pseudo in 0..GET.len() {
            let mut lines = GET;
            lines[pseudo].1 = " /";
            let [head, _] = received(version, &lines, ("x-own", " v"));
            head.expect_err("a pseudo-field is what it says");
        }
    }
}

#[test]
fn what_we_send_is_still_refused() {
    for version in FRAMED {
        for value in BLANK_OR_CONTROL {
            let request = [&GET[..], &[("x-own", value)]].concat();
            let request = RequestHead::from_fields(request.into_iter().collect(), version);
            assert_eq!(request.err(), Some(Violation::FieldValueInvalid));
            let fields = [("x-own", value)].into_iter().collect();
            let response = ResponseHead::new(200, fields, version);
            assert_eq!(response.err(), Some(Violation::FieldValueInvalid));
        }
    }
}
