//! Header maps of the `http` crate from field sections of the core, and back.

use bytes::Bytes;
use http::HeaderMap;
use http::header::{HeaderName, HeaderValue};
use std::sync::LazyLock;
use trunkline_core::http::head::may_be_trailer;
use trunkline_core::http::{Field, Fields, Token};

/// The `http` crate's name of every token; pseudo-fields have none.
static NAMES: LazyLock<Vec<Option<HeaderName>>> = LazyLock::new(|| {
    let name = |token: Token| HeaderName::from_bytes(token.as_str().as_bytes()).ok();
    Token::all().map(name).collect()
});

/// Names without a token that calls of gRPC have: they need no look at each of their bytes.
static GRPC_NAMES: [HeaderName; 6] = [
    HeaderName::from_static("grpc-status"),
    HeaderName::from_static("grpc-encoding"),
    HeaderName::from_static("grpc-accept-encoding"),
    HeaderName::from_static("grpc-message"),
    HeaderName::from_static("grpc-timeout"),
    HeaderName::from_static("grpc-status-details-bin"),
];

/// The name of a field, without a look at its bytes where it has a token.
pub(crate) fn name_of(field: &Field<'_>) -> Option<HeaderName> {
    match field.token {
        Some(token) => NAMES[token.index()].clone(),
        None if field.name.starts_with(b"grpc-") => {
            let mut known = GRPC_NAMES.iter();
            let known = known.find(|name| name.as_str().as_bytes() == field.name);
            known
                .cloned()
                .or_else(|| HeaderName::from_bytes(field.name).ok())
        }
        None => HeaderName::from_bytes(field.name).ok(),
    }
}

/// Appends `fields` to `headers`; all values share one allocation. A field that the `http` crate cannot
/// carry is left out. False: they are more than a map takes.
pub(crate) fn append_all<'a>(
    headers: &mut HeaderMap,
    fields: impl ExactSizeIterator<Item = Field<'a>> + Clone,
) -> bool {
    if headers.try_reserve(fields.len()).is_err() {
        return false;
    }
    let len = fields.clone().map(|field| field.value.len()).sum();
    let mut values = Vec::with_capacity(len);
    for field in fields.clone() {
        values.extend_from_slice(field.value);
    }
    let mut values = Bytes::from(values);
    for field in fields {
        let value = values.split_to(field.value.len());
        if let (Some(name), Ok(value)) = (name_of(&field), HeaderValue::from_maybe_shared(value)) {
            // Names of one hash may fill it before.
            if headers.try_append(name, value).is_err() {
                return false;
            }
        }
    }
    true
}

/// A received trailer section; `None`: it has more fields than a map takes, which a server's `field_count_max` may be beyond.
pub(super) fn map_of(fields: &Fields) -> Option<HeaderMap> {
    let mut map = HeaderMap::new();
    append_all(&mut map, fields.iter()).then_some(map)
}

/// A trailer section to send, without the fields that frame or route a message: what a program passes
/// on of a head that it got has them (RFC 9110 section 6.5.1).
pub(crate) fn trailers_of(map: &HeaderMap) -> Fields {
    let mut fields = Fields::new();
    for (name, value) in map {
        if !may_be_trailer(name.as_str().as_bytes()) {
            continue;
        }
        fields.push_named(name.as_str().as_bytes(), value.as_bytes());
    }
    fields
}
