//! Safe and idempotent methods (RFC 9110 section 9.2), which may be sent again. Methods that neither RFC 9110
//! nor the definition of QUERY (draft-ietf-httpbis-safe-method-w-body) defines count as neither safe nor idempotent.

/// RFC 9110 section 9.2.1: the client asks for no change.
pub fn is_safe(method: &[u8]) -> bool {
    matches!(method, b"GET" | b"HEAD" | b"OPTIONS" | b"TRACE" | b"QUERY")
}

/// RFC 9110 section 9.2.2: sending it twice intends the same as sending it once, so that it may
/// be sent again when a connection fails before the answer.
pub fn is_idempotent(method: &[u8]) -> bool {
    is_safe(method) || matches!(method, b"PUT" | b"DELETE")
}

/// Whether the method is pipelined behind others where its user says nothing: those that only retrieve, as undici does.
pub fn may_be_pipelined(method: &[u8]) -> bool {
    matches!(method, b"GET" | b"HEAD" | b"QUERY")
}

/// Whether the method may be sent as TLS early data, which an attacker can replay (RFC 8470 section
/// 4). TRACE is safe, but no client needs it early.
pub fn may_be_early(method: &[u8]) -> bool {
    matches!(method, b"GET" | b"HEAD" | b"OPTIONS")
}

#[cfg(test)]
#[path = "idempotence_test.rs"]
mod idempotence_test;
