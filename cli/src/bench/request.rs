//! The request that is sent again and again.

use super::{Plan, Protocol};
use crate::failure::Failure;
use http::header::HOST;
use trunkline::core::error::Violation;
use trunkline::core::http::{Fields, RequestHead, Token, Version};

/// The head of every request.
pub(super) fn head(plan: &Plan) -> Result<RequestHead, Failure> {
    let mut fields = Fields::new();
    fields.push(Token::METHOD, plan.method.as_bytes());
    fields.push(
        Token::SCHEME,
        if plan.target.tls { b"https" } else { b"http" },
    );
    // The site that is asked for at this address, as with other tools.
    let host = plan.fields.iter().find(|(name, _)| name == HOST);
    let authority = host.map_or(plan.target.authority().as_bytes(), |(_, value)| {
        value.as_bytes()
    });
    fields.push(Token::AUTHORITY, authority);
    fields.push(Token::PATH, plan.target.path().as_bytes());
    fields.push(
        Token::USER_AGENT,
        concat!("trunkline/", env!("CARGO_PKG_VERSION")).as_bytes(),
    );
    if let Some(body) = &plan.body {
        fields.push(Token::CONTENT_LENGTH, body.len().to_string().as_bytes());
    }
    // Fields of a connection are those of HTTP/1.1 (RFC 9113 section 8.2.2), whose requests have a host.
    let version = match plan.protocol {
        Some(Protocol::Http1) => {
            fields.push(Token::HOST, authority);
            Version::Http11
        }
        _ => Version::Http2,
    };
    for (name, value) in plan.fields.iter().filter(|(name, _)| name != HOST) {
        fields.push_named(name.as_str().as_bytes(), value.as_bytes());
    }
    RequestHead::from_fields(fields, version).map_err(|violation| {
        let way = match violation {
            Violation::ConnectionFieldForbidden => ": --http1.1 sends it",
            _ => "",
        };
        Failure::usage(format_args!("the request is invalid: {violation}{way}"))
    })
}
