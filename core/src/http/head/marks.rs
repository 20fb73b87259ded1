//! One validation pass over a section: checks each field, and marks the positions of those that
//! later code reads.

use super::Version;
use super::left_out;
use super::rules::{Rule, rule_of};
use crate::error::Violation;
use crate::http::field::syntax;
use crate::http::field::{Field, FieldName, Fields, Token};

/// The result of one pass over a section.
#[derive(Clone, Copy, Debug)]
pub(super) struct Marks {
    pub(super) content_length: Option<u64>,
    pub(super) host: Option<u32>,
    /// How many pseudo-fields stand in front.
    pub(super) pseudo: u8,
    /// Where each stands; [`ABSENT`] if it does not. They are in front, so a byte is enough.
    pub(super) at: [u8; PSEUDO_COUNT],
    /// A bit for each whose value is not what it has to be.
    pub(super) unsound: u8,
    pub(super) transfer_encoding: bool,
    /// A field that speaks of this connection, or expects something of it.
    pub(super) hop: bool,
    pub(super) priority: bool,
}

impl Marks {
    /// Checks every field by itself, and the order and number of those that may come once.
    /// `allowed` has a bit for each pseudo-field of this kind of message.
    pub(super) fn of(fields: &Fields, version: Version, allowed: u8) -> Result<Self, Violation> {
        let mut marks = Self {
            content_length: None,
            host: None,
            pseudo: 0,
            at: [ABSENT; PSEUDO_COUNT],
            unsound: 0,
            transfer_encoding: false,
            hop: false,
            priority: false,
        };
        for (index, (token, sound)) in fields.outlines().enumerate() {
            if let Some(token) = token
                && token.is_pseudo()
            {
                marks.see_pseudo(index, token, allowed)?;
                if !sound
                    && !is_sound(
                        FieldName::Token(token),
                        fields.value_at(index).unwrap_or_default(),
                    )
                {
                    marks.unsound |= bit(token);
                }
                continue;
            }
            let rule = token.map_or(Rule::Plain, rule_of);
            if sound && rule == Rule::Plain {
                continue;
            }
            let Some(field) = fields.at(index) else {
                break;
            };
            if token.is_none() && field.name.first() == Some(&b':') {
                return Err(Violation::PseudoFieldUnknown);
            }
            check_name_and_value(&field)?;
            marks.see_regular(index, rule, &field, version, allowed)?;
        }
        // RFC 9112 section 6.1: transfer-encoding in an HTTP/1.0 message means that a hop forwards
        // framing that it does not understand; beside content-length it is an attack.
        if marks.transfer_encoding && version == Version::Http10 {
            return Err(Violation::TransferEncodingInvalid);
        }
        if marks.transfer_encoding && marks.content_length.is_some() {
            return Err(Violation::ContentLengthConflict);
        }
        Ok(marks)
    }

    /// As [`of`](Self::of) for a section that a peer sent.
    pub(super) fn of_received(
        fields: &mut Fields,
        version: Version,
        allowed: u8,
    ) -> Result<Self, Violation> {
        left_out::check(fields, version, |fields| Self::of(fields, version, allowed))
    }

    /// RFC 9113 section 8.3.
    fn see_pseudo(&mut self, index: usize, token: Token, allowed: u8) -> Result<(), Violation> {
        if allowed & bit(token) == 0 {
            return Err(Violation::PseudoFieldUnknown);
        }
        if index > usize::from(self.pseudo) {
            return Err(Violation::PseudoFieldLate);
        }
        let at = &mut self.at[token.index()];
        if *at != ABSENT {
            return Err(Violation::PseudoFieldRepeated);
        }
        *at = index as u8;
        self.pseudo += 1;
        Ok(())
    }

    fn see_regular(
        &mut self,
        index: usize,
        rule: Rule,
        field: &Field<'_>,
        version: Version,
        allowed: u8,
    ) -> Result<(), Violation> {
        match rule {
            Rule::Plain | Rule::Trailer => Ok(()),
            // RFC 9113 section 8.2.2.
            Rule::ConnectionSpecific | Rule::TransferEncoding if version.is_framed() => {
                Err(Violation::ConnectionFieldForbidden)
            }
            Rule::ConnectionSpecific | Rule::Expect => {
                self.hop = true;
                Ok(())
            }
            Rule::Priority => {
                self.priority = true;
                Ok(())
            }
            Rule::TransferEncoding => {
                self.transfer_encoding = true;
                Ok(())
            }
            Rule::Te if version.is_framed() && !field.value.eq_ignore_ascii_case(b"trailers") => {
                Err(Violation::TeForbidden)
            }
            Rule::Te => Ok(()),
            // RFC 9110 section 7.2: in a response or in trailers it is a field as any other.
            Rule::Host if allowed & bit(Token::AUTHORITY) == 0 => Ok(()),
            Rule::Host if self.host.is_some() && version.is_framed() => {
                Err(Violation::AuthorityConflict)
            }
            Rule::Host if self.host.is_some() => Err(Violation::HostMissing),
            Rule::Host => {
                self.host = Some(index as u32);
                Ok(())
            }
            Rule::ContentLength => self.see_content_length(field.value),
        }
    }

    /// RFC 9110 section 8.6 lets a recipient repair a list of equal numbers; we do not.
    fn see_content_length(&mut self, value: &[u8]) -> Result<(), Violation> {
        let length = syntax::decimal(value).ok_or(Violation::ContentLengthInvalid)?;
        match self.content_length.replace(length) {
            None => Ok(()),
            Some(before) if before == length => Err(Violation::ContentLengthInvalid),
            Some(_) => Err(Violation::ContentLengthConflict),
        }
    }
}

/// Whether a field is what its name asks for, seen by itself: what a compressor's table need find
/// out only once. What depends on the rest of the head (an empty authority, `*` for a path, the
/// rules of RFC 9113 section 8.2.2) is not looked at.
pub(crate) fn is_sound(name: FieldName<'_>, value: &[u8]) -> bool {
    match name {
        FieldName::Token(Token::METHOD | Token::PROTOCOL) => syntax::is_token(value),
        FieldName::Token(Token::SCHEME) => syntax::is_scheme(value),
        FieldName::Token(Token::AUTHORITY) => syntax::is_authority_or_bare_address(value),
        FieldName::Token(Token::PATH) => syntax::is_path(value),
        FieldName::Token(_) => syntax::is_field_value(value),
        FieldName::Bytes(name) => {
            syntax::is_lower_case_token(name) && syntax::is_field_value(value)
        }
    }
}

pub(super) fn check_name_and_value(field: &Field<'_>) -> Result<(), Violation> {
    if field.token.is_none() && !syntax::is_lower_case_token(field.name) {
        return Err(Violation::FieldNameInvalid);
    }
    if !syntax::is_field_value(field.value) {
        return Err(Violation::FieldValueInvalid);
    }
    Ok(())
}

pub(super) const ABSENT: u8 = u8::MAX;
const PSEUDO_COUNT: usize = 6;
pub(super) const PSEUDO_HTTP1: u8 =
    bit(Token::METHOD) | bit(Token::SCHEME) | bit(Token::AUTHORITY) | bit(Token::PATH);
pub(super) const PSEUDO_REQUEST: u8 = PSEUDO_HTTP1 | bit(Token::PROTOCOL);
pub(super) const PSEUDO_RESPONSE: u8 = bit(Token::STATUS);

pub(super) const fn bit(pseudo: Token) -> u8 {
    1 << pseudo.index()
}

const _: () = assert!(Token::STATUS.index() + 1 == PSEUDO_COUNT);
