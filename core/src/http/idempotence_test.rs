use super::*;

#[test]
fn the_table_of_rfc_9110_section_9_2() {
    for method in ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"] {
        assert!(
            is_safe(method.as_bytes()) && is_idempotent(method.as_bytes()),
            "{method}"
        );
    }
    for method in ["PUT", "DELETE"] {
        assert!(
            !is_safe(method.as_bytes()) && is_idempotent(method.as_bytes()),
            "{method}"
        );
    }
    for method in ["POST", "PATCH", "CONNECT", "get", "OWN", ""] {
        assert!(
            !is_safe(method.as_bytes()) && !is_idempotent(method.as_bytes()),
            "{method}"
        );
    }
}

#[test]
fn what_only_retrieves_is_pipelined() {
    for method in ["GET", "HEAD", "QUERY"] {
        assert!(may_be_pipelined(method.as_bytes()), "{method}");
    }
    for method in [
        "OPTIONS", "TRACE", "PUT", "DELETE", "POST", "CONNECT", "get", "",
    ] {
        assert!(!may_be_pipelined(method.as_bytes()), "{method}");
    }
}

#[test]
fn three_safe_methods_may_be_early() {
    for method in ["GET", "HEAD", "OPTIONS"] {
        assert!(may_be_early(method.as_bytes()), "{method}");
    }
    for method in [
        "TRACE", "QUERY", "PUT", "DELETE", "POST", "CONNECT", "get", "",
    ] {
        assert!(!may_be_early(method.as_bytes()), "{method}");
    }
}
