//! Trailer sections: fields that frame, route or control a message do not stand there.

use super::Version;
use super::left_out;
use super::marks::check_name_and_value;
use super::rules::{Rule, rule_of};
use crate::error::Violation;
use crate::http::field::{Field, Fields, Token, syntax};

/// Whether a field of this name may stand in trailers (RFC 9110 section 6.5.1). `name` is lower-case.
pub fn may_be_trailer(name: &[u8]) -> bool {
    Token::from_name(name).is_none_or(is_allowed)
}

fn is_allowed(token: Token) -> bool {
    matches!(rule_of(token), Rule::Plain | Rule::Expect | Rule::Priority)
}

/// Validates a trailer section: no pseudo-fields (RFC 9113 section 8.1), no fields that frame,
/// route or control the message (RFC 9110 section 6.5.1).
///
/// # Errors
/// [`Violation::PseudoFieldInTrailers`], [`Violation::ConnectionFieldForbidden`],
/// [`Violation::TrailerForbidden`], and those of an invalid name or value.
pub fn validate_trailers(fields: &Fields, version: Version) -> Result<(), Violation> {
    for field in fields.iter() {
        if field.name.first() == Some(&b':') {
            return Err(Violation::PseudoFieldInTrailers);
        }
        check_name_and_value(&field)?;
        match field.token {
            Some(token) if is_malformed(token, version) => {
                return Err(Violation::ConnectionFieldForbidden);
            }
            Some(token) if !is_allowed(token) => return Err(Violation::TrailerForbidden),
            _ => {}
        }
    }
    Ok(())
}

/// RFC 9113 section 8.2.2: a field of the connection makes a message malformed, wherever it stands.
fn is_malformed(token: Token, version: Version) -> bool {
    let rule = rule_of(token);
    version.is_framed() && matches!(rule, Rule::ConnectionSpecific | Rule::TransferEncoding)
}

/// As [`validate_trailers`] for a section that a peer sent, without the fields that frame, route or control the
/// message: RFC 9110 section 6.5.1 lets a recipient ignore them. Nothing can be hidden in them, as they go no
/// further, and the content in front of them is whole; hyper and nghttp2 take such a message, too. Over HTTP/1.1
/// a length behind a chunked body still refuses the message: it has two lengths, of which another recipient may
/// believe the other (RFC 9112 section 11.2), and llhttp refuses it. Over HTTP/2 and HTTP/3 fields are left out as
/// of a head, too.
///
/// # Errors
/// As [`validate_trailers`]; [`Violation::TrailerForbidden`] for a length over HTTP/1.1 alone.
pub(crate) fn receive_trailers(fields: &mut Fields, version: Version) -> Result<(), Violation> {
    let checked = left_out::check(fields, version, |fields| validate_trailers(fields, version));
    if !matches!(
        checked,
        Err(Violation::TrailerForbidden | Violation::FieldValueInvalid)
    ) {
        return checked;
    }
    *fields = left_out::without(fields, |field| is_ignored(field, version));
    left_out::check(fields, version, |fields| validate_trailers(fields, version))
}

/// Not one that is malformed, no second length, and not one with CR, LF or NUL (RFC 9110 section 5.5).
fn is_ignored(field: &Field<'_>, version: Version) -> bool {
    let Some(token) = field.token.filter(|token| !token.is_pseudo()) else {
        return false;
    };
    let is_second_length = token == Token::CONTENT_LENGTH && version == Version::Http11;
    !is_allowed(token)
        && !is_second_length
        && !is_malformed(token, version)
        && !syntax::has_dangerous_byte(field.value)
}

#[cfg(test)]
#[path = "trailers_test.rs"]
mod trailers_test;
