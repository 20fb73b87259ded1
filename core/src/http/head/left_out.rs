//! Fields that are left out of a received HTTP/2 or HTTP/3 section, where the message would be lost
//! to its user for the sake of one value.

use super::Version;
use super::rules::{Rule, rule_of};
use crate::error::Violation;
use crate::http::field::{Field, FieldName, Fields, syntax};

/// Checks a section that a peer sent, without the fields that may be left out: they are looked for
/// only where there is a value that is refused.
///
/// RFC 9113 section 8.2.1 and RFC 9114 section 4.2 call the whole message malformed. But node:http2
/// sends every value as it is given, blanks and all, and nghttp2, which reads it in node, in undici
/// and in many servers, leaves out the field alone: what depends on that loses its requests
/// otherwise. The value goes no further, so nothing can be hidden in it.
pub(super) fn check<T>(
    fields: &mut Fields,
    version: Version,
    check: impl Fn(&Fields) -> Result<T, Violation>,
) -> Result<T, Violation> {
    let checked = check(fields);
    if !version.is_framed() || !matches!(checked, Err(Violation::FieldValueInvalid)) {
        return checked;
    }
    *fields = without(fields, is_left_out);
    check(fields)
}

/// The section without some of its regular fields.
pub(super) fn without(fields: &Fields, is_left_out: impl Fn(&Field<'_>) -> bool) -> Fields {
    let mut kept = Fields::with_capacity(fields.len(), fields.size());
    let mut spellings = fields.spellings();
    for field in fields.iter() {
        let is_regular = field.name.first() != Some(&b':');
        let spelling = is_regular.then(|| spellings.next()).flatten();
        if is_left_out(&field) {
            continue;
        }
        if let Some(spelling) = spelling {
            kept.spell(spelling);
        }
        kept.push_with(FieldName::of(field.name), field.sensitive, |bytes| {
            bytes.extend_from_slice(field.value);
        });
    }
    kept
}

/// Not a field that frames or routes the message, and no pseudo-field: they must be what they say.
/// Not one with CR, LF or NUL either: RFC 9110 section 5.5 asks for the message to be rejected, of other control characters
/// it says that a recipient may be lenient.
fn is_left_out(field: &Field<'_>) -> bool {
    let rule = field.token.map_or(Rule::Plain, rule_of);
    rule == Rule::Plain
        && syntax::is_lower_case_token(field.name)
        && !syntax::is_field_value(field.value)
        && !syntax::has_dangerous_byte(field.value)
}

#[cfg(test)]
#[path = "left_out_test.rs"]
mod left_out_test;
