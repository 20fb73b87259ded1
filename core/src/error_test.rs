use super::*;
use std::collections::BTreeSet;

#[test]
fn every_row_has_a_name_and_a_sentence_of_its_own() {
    let names: BTreeSet<_> = Violation::ALL
        .iter()
        .map(|violation| violation.name())
        .collect();
    let texts: BTreeSet<_> = Violation::ALL
        .iter()
        .map(|violation| violation.text())
        .collect();
    assert_eq!(
        (names.len(), texts.len()),
        (Violation::ALL.len(), Violation::ALL.len())
    );
    for text in texts {
        assert!(!text.is_empty() && !text.ends_with('.'), "{text}");
    }
}

#[test]
fn every_violation_is_an_error_in_http_2() {
    for violation in Violation::ALL {
        let code = violation.h2_code();
        assert!((1..=0xd).contains(&code.0), "{violation:?}: {code:?}");
        assert_ne!(
            code,
            H2Code::INTERNAL_ERROR,
            "{violation:?} is the peer's fault"
        );
    }
}

#[test]
fn every_violation_is_an_error_in_http_3() {
    for violation in Violation::ALL {
        let code = violation.h3_code();
        // RFC 9114 section 8.1, RFC 9204 section 8.3, RFC 9297 section 5.2.
        let known = (0x101..=0x110).contains(&code.0)
            || (0x200..=0x202).contains(&code.0)
            || code == H3Code::DATAGRAM_ERROR;
        assert!(known, "{violation:?}: {code:?}");
        assert_ne!(
            code,
            H3Code::INTERNAL_ERROR,
            "{violation:?} is the peer's fault"
        );
    }
}

/// The codes of RFC 9114 and RFC 9204; each row names its section.
#[test]
fn codes_of_http_3_are_those_of_the_rfcs() {
    use H3Code as C;
    use Violation::*;
    let rows = [
        (FieldNameInvalid, C::MESSAGE_ERROR, "9114 4.2"),
        (PseudoFieldMissing, C::MESSAGE_ERROR, "9114 4.3"),
        (ConnectionFieldForbidden, C::MESSAGE_ERROR, "9114 4.2"),
        (ContentLengthMismatch, C::MESSAGE_ERROR, "9114 4.1.2"),
        (HeadersOnTunnel, C::FRAME_UNEXPECTED, "9114 4.4"),
        (TrailersWithoutEnd, C::FRAME_UNEXPECTED, "9114 4.1"),
        (DataBeforeHead, C::FRAME_UNEXPECTED, "9114 4.1"),
        (BodyTruncated, C::REQUEST_INCOMPLETE, "9114 4.1.2"),
        (StreamsTooMany, C::REQUEST_REJECTED, "9114 4.1.1"),
        (FrameSizeInvalid, C::FRAME_ERROR, "9114 7.1"),
        (FrameOnWrongStream, C::FRAME_UNEXPECTED, "9114 7.2"),
        (SettingInvalid, C::SETTINGS_ERROR, "9114 7.2.4"),
        (GoawayIdIncreased, C::ID_ERROR, "9114 5.2"),
        (GlitchesTooMany, C::EXCESSIVE_LOAD, "9114 10.5"),
        (
            QpackDecompressionFailed,
            C::QPACK_DECOMPRESSION_FAILED,
            "9204 6",
        ),
        (
            QpackEncoderStreamInvalid,
            C::QPACK_ENCODER_STREAM_ERROR,
            "9204 6",
        ),
        (
            QpackDecoderStreamInvalid,
            C::QPACK_DECODER_STREAM_ERROR,
            "9204 6",
        ),
    ];
    for (violation, code, section) in rows {
        assert_eq!(violation.h3_code(), code, "{violation:?}, RFC {section}");
    }
}

#[test]
fn every_answer_is_an_error_of_the_client_or_a_refusal() {
    for violation in Violation::ALL {
        let status = violation.h1_status();
        let known = [0, 400, 408, 414, 417, 431, 501, 505];
        assert!(known.contains(&status), "{violation:?}: {status}");
    }
}

/// The scopes and codes of RFC 9113; each row names its section.
#[test]
fn scopes_and_codes_are_those_of_the_rfc() {
    use H2Code as C;
    use Scope::{Connection, Stream};
    use Violation::*;
    let rows = [
        (PrefaceInvalid, Connection, C::PROTOCOL_ERROR, "3.4"),
        (FrameTooLarge, Connection, C::FRAME_SIZE_ERROR, "4.2"),
        (FrameSizeInvalid, Connection, C::FRAME_SIZE_ERROR, "4.2"),
        (FrameSizeInvalidOnStream, Stream, C::FRAME_SIZE_ERROR, "6.3"),
        (CompressionInvalid, Connection, C::COMPRESSION_ERROR, "4.3"),
        (ContinuationExpected, Connection, C::PROTOCOL_ERROR, "4.3"),
        (
            ContinuationUnexpected,
            Connection,
            C::PROTOCOL_ERROR,
            "6.10",
        ),
        (StreamIdle, Connection, C::PROTOCOL_ERROR, "5.1"),
        (StreamHalfClosed, Stream, C::STREAM_CLOSED, "5.1"),
        (StreamClosedByReset, Stream, C::STREAM_CLOSED, "5.1"),
        (StreamClosedByEnd, Connection, C::STREAM_CLOSED, "5.1"),
        (StreamIdInvalid, Connection, C::PROTOCOL_ERROR, "5.1.1"),
        (StreamsTooMany, Stream, C::REFUSED_STREAM, "5.1.2"),
        (
            DependsOnItself,
            Stream,
            C::PROTOCOL_ERROR,
            "5.3 of RFC 7540",
        ),
        (FrameOnWrongStream, Connection, C::PROTOCOL_ERROR, "6"),
        (PaddingTooLong, Connection, C::PROTOCOL_ERROR, "6.1"),
        (SettingInvalid, Connection, C::PROTOCOL_ERROR, "6.5.2"),
        (
            InitialWindowInvalid,
            Connection,
            C::FLOW_CONTROL_ERROR,
            "6.5.2",
        ),
        (SettingsTimeout, Connection, C::SETTINGS_TIMEOUT, "6.5.3"),
        (PushForbidden, Connection, C::PROTOCOL_ERROR, "6.6"),
        (WindowIncrementZero, Stream, C::PROTOCOL_ERROR, "6.9"),
        (
            ConnectionWindowIncrementZero,
            Connection,
            C::PROTOCOL_ERROR,
            "6.9",
        ),
        (WindowOverflow, Stream, C::FLOW_CONTROL_ERROR, "6.9.1"),
        (
            ConnectionWindowOverflow,
            Connection,
            C::FLOW_CONTROL_ERROR,
            "6.9.1",
        ),
        (CreditExceeded, Stream, C::FLOW_CONTROL_ERROR, "6.9.1"),
        (
            ConnectionCreditExceeded,
            Connection,
            C::FLOW_CONTROL_ERROR,
            "6.9.1",
        ),
    ];
    for (violation, scope, code, section) in rows {
        let row = (violation.scope(), violation.h2_code());
        assert_eq!(row, (scope, code), "{violation:?}, section {section}");
    }
}

/// RFC 9113 section 8.1.1: a malformed message is a stream error of type PROTOCOL_ERROR.
#[test]
fn a_malformed_message_costs_its_stream_only() {
    use Violation::*;
    let malformed = [
        FieldNameInvalid,
        FieldValueInvalid,
        PseudoFieldUnknown,
        PseudoFieldRepeated,
        PseudoFieldLate,
        PseudoFieldMissing,
        PseudoFieldInTrailers,
        MethodInvalid,
        PathInvalid,
        SchemeInvalid,
        AuthorityInvalid,
        AuthorityConflict,
        ConnectMalformed,
        StatusInvalid,
        ConnectionFieldForbidden,
        TeForbidden,
        ContentLengthInvalid,
        ContentLengthConflict,
        ContentLengthMismatch,
        TrailerForbidden,
        HeadersOnTunnel,
        TrailersWithoutEnd,
        SwitchUnexpected,
        InterimWithEnd,
        SwitchingProtocolsForbidden,
    ];
    for violation in malformed {
        let row = (violation.scope(), violation.h2_code());
        assert_eq!(
            row,
            (Scope::Stream, H2Code::PROTOCOL_ERROR),
            "{violation:?}"
        );
    }
}

#[test]
fn floods_are_asked_to_calm_down_and_lose_the_connection() {
    use Violation::*;
    let floods = [
        ResetsTooMany,
        GlitchesTooMany,
        EmptyFramesTooMany,
        PingsTooMany,
        WindowUpdatesTooMany,
        PriorityUpdatesTooMany,
        StreamErrorsTooMany,
        RefusedStreamsTooMany,
        SettingsTooMany,
        ContinuationsTooMany,
        HeaderBlockTooLarge,
    ];
    for violation in floods {
        let row = (violation.scope(), violation.h2_code());
        assert_eq!(
            row,
            (Scope::Connection, H2Code::ENHANCE_YOUR_CALM),
            "{violation:?}"
        );
    }
}

#[test]
fn errors_speak_in_sentences() {
    assert_eq!(
        Violation::MethodInvalid.to_string(),
        "the method is not a token"
    );
    let misuse = Misuse::Invalid(Violation::MethodInvalid);
    assert_eq!(
        misuse.to_string(),
        "the message is invalid: the method is not a token"
    );
    assert!(
        Misuse::WindowInvalid(WindowInvalid {
            asked: 0,
            window: 1
        })
        .to_string()
        .contains("2147483647"),
        "names what is allowed"
    );
}
