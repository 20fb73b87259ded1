use super::*;

#[test]
fn the_table_of_rfc_9110_section_9_2() {
    for method in ["GET", "HEAD", "OPTIONS", "TRACE"] {
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
fn three_safe_methods_may_be_early() {
    for method in ["GET", "HEAD", "OPTIONS"] {
        assert!(may_be_early(method.as_bytes()), "{method}");
    }
    for method in ["TRACE", "PUT", "DELETE", "POST", "CONNECT", "get", ""] {
        assert!(!may_be_early(method.as_bytes()), "{method}");
    }
}
