use super::super::Version;
use super::*;
use Violation::*;

const VERSIONS: [Version; 3] = [Version::Http11, Version::Http2, Version::Http3];

fn section(lines: &[(&str, &str)]) -> Fields {
    lines.iter().copied().collect()
}

fn received(version: Version, lines: &[(&str, &str)]) -> Result<Fields, Violation> {
    let mut fields = section(lines);
    receive_trailers(&mut fields, version).map(|()| fields)
}

#[test]
fn trailers_have_no_pseudo_and_no_framing_fields() {
    let trailers = |version, lines: &[(&str, &str)]| validate_trailers(&section(lines), version);
    for version in VERSIONS {
        trailers(version, &[]).unwrap();
        trailers(version, &[("grpc-status", "0"), ("x-checksum", "1")]).unwrap();
        for pseudo in [":status", ":path", ":foo"] {
            let lines = [("x", "1"), (pseudo, "200")];
            assert_eq!(trailers(version, &lines), Err(PseudoFieldInTrailers));
        }
        assert_eq!(trailers(version, &[("X", "1")]), Err(FieldNameInvalid));
        assert_eq!(trailers(version, &[("x", "1\n")]), Err(FieldValueInvalid));
        for name in ["content-length", "host", "te", "trailer"] {
            assert_eq!(trailers(version, &[(name, "1")]), Err(TrailerForbidden));
        }
    }
    for name in ["transfer-encoding", "connection", "upgrade"] {
        let refused = trailers(Version::Http11, &[(name, "x")]);
        assert_eq!(refused, Err(TrailerForbidden));
        let refused = trailers(Version::Http2, &[(name, "x")]);
        assert_eq!(refused, Err(ConnectionFieldForbidden));
    }
}

#[test]
fn received_fields_that_frame_or_route_are_left_out_alone() {
    for version in VERSIONS {
        for name in ["content-length", "host", "te", "trailer"] {
            if (version, name) == (Version::Http11, "content-length") {
                assert_eq!(
                    received(version, &[(name, "5")]).err(),
                    Some(TrailerForbidden)
                );
                continue;
            }
            for value in ["", "1", "trailers", " blanks ", "a\u{1}b"] {
                let lines = [
                    ("x-before", "1"),
                    (name, value),
                    ("x-behind", "2"),
                    (name, value),
                ];
                let left = received(version, &lines).expect("the message is taken");
                assert!(
                    left.is_twin_of(&section(&[lines[0], lines[2]])),
                    "{version:?} {name} {left:?}"
                );
            }
            let dangerous = received(version, &[(name, "a\nb")]);
            assert_eq!(dangerous.err(), Some(FieldValueInvalid));
        }
        let pseudo = received(version, &[("host", "a"), (":path", "/")]);
        assert_eq!(pseudo.err(), Some(PseudoFieldInTrailers));
    }
    for name in ["connection", "transfer-encoding", "upgrade", "keep-alive"] {
        let left = received(Version::Http11, &[(name, "x"), ("x-own", "1")]);
        assert!(left.expect("taken").is_twin_of(&section(&[("x-own", "1")])));
        for version in [Version::Http2, Version::Http3] {
            let malformed = received(version, &[("host", "a"), (name, "x")]);
            assert_eq!(malformed.err(), Some(ConnectionFieldForbidden), "{name}");
        }
    }
}

#[test]
fn the_spelling_of_the_names_that_stay_is_theirs() {
    let mut fields = Fields::new();
    for name in ["X-Before", "Host", "X-Behind"] {
        fields.push_named(name.to_ascii_lowercase().as_bytes(), b"1");
        fields.spell(name.as_bytes());
    }
    receive_trailers(&mut fields, Version::Http11).expect("the message is taken");
    let spelled: Vec<_> = fields.spellings().collect();
    assert_eq!(spelled, [&b"X-Before"[..], b"X-Behind"]);
}

#[test]
fn a_name_may_stand_in_trailers_unless_it_frames_or_routes() {
    for name in ["grpc-status", "etag", "x-sum", "expect", "priority"] {
        assert!(may_be_trailer(name.as_bytes()), "{name}");
    }
    for name in [
        "content-length",
        "host",
        "te",
        "trailer",
        "connection",
        "transfer-encoding",
    ] {
        assert!(!may_be_trailer(name.as_bytes()), "{name}");
    }
}
