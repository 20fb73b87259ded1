use super::*;

#[test]
fn a_code_has_the_name_of_the_rfc() {
    let name = |code: TransportErrorCode| NAMES[index_of(code)];
    for (code, due) in [
        (TransportErrorCode::NO_ERROR, "NO_ERROR"),
        (TransportErrorCode::FLOW_CONTROL_ERROR, "FLOW_CONTROL_ERROR"),
        (TransportErrorCode::PROTOCOL_VIOLATION, "PROTOCOL_VIOLATION"),
        (
            TransportErrorCode::CONNECTION_ID_LIMIT_ERROR,
            "CONNECTION_ID_LIMIT_ERROR",
        ),
        (TransportErrorCode::NO_VIABLE_PATH, "NO_VIABLE_PATH"),
        (TransportErrorCode::crypto(40), "CRYPTO_ERROR"),
    ] {
        assert_eq!(name(code), due);
    }
}
