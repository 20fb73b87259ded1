//! Parses heads and trailer sections. httparse does the syntax; input that it tolerates and we do
//! not (bare LF, over-long parts, wrong versions) is rejected here, before and after it. The
//! validator checks the meaning of a head (`http/head.rs`).

use crate::error::Violation;
use crate::http::field::syntax;
use crate::http::head::reason;
use crate::http::{FieldName, Fields, RequestHead, ResponseHead, Side, Token, Version};
use crate::limits::Limits;
use httparse::Header;
use std::mem::MaybeUninit;

/// Fields of the parser's table that stands on the stack, 32 bytes each. A section with more is parsed once more, with
/// a table of its own.
pub(super) const HEAD_FIELDS_MAX: usize = 256;

/// Room in the first line beside the target, before the target must be too long: a method, two
/// spaces and the version.
const REQUEST_LINE_BYTES_BESIDE_TARGET: usize = 64;

/// Looks for the end of a head without looking at a byte twice.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HeadScan {
    /// Bytes that were searched for LF.
    scanned: usize,
    /// The start of the current line.
    line_at: usize,
}

impl HeadScan {
    /// The length of the head in `bytes`, its empty line included; `None` when it is not all
    /// there. `bytes` starts with the head and has at least what it had the last time.
    ///
    /// RFC 9112 section 2.2 lets a recipient take a bare LF for a line end; we refuse it, because
    /// two recipients that differ here are a smuggling pair.
    pub(super) fn find_end(
        &mut self,
        bytes: &[u8],
        head_bytes_max: usize,
    ) -> Result<Option<usize>, Violation> {
        for at in memchr::memchr_iter(b'\n', &bytes[self.scanned..]) {
            let lf = self.scanned + at;
            if lf == self.line_at || bytes[lf - 1] != b'\r' {
                return Err(Violation::HeadInvalid);
            }
            if lf - self.line_at == 1 {
                if lf >= head_bytes_max {
                    return Err(Violation::HeadTooLarge);
                }
                return Ok(Some(lf + 1));
            }
            self.line_at = lf + 1;
        }
        self.scanned = bytes.len();
        if bytes.len() > head_bytes_max {
            return Err(Violation::HeadTooLarge);
        }
        Ok(None)
    }

    /// Whether nothing of the head was looked at.
    pub(super) fn is_fresh(&self) -> bool {
        self.scanned == 0
    }

    /// Whether the first line is still incomplete.
    pub(super) fn is_in_first_line(&self) -> bool {
        self.line_at == 0
    }

    /// An incomplete request line that is longer than any line with an allowed target.
    pub(super) fn check_target(&self, bytes: &[u8], limits: &Limits) -> Result<(), Violation> {
        let line_max = limits.target_bytes_max + REQUEST_LINE_BYTES_BESIDE_TARGET;
        if self.is_in_first_line() && bytes.len() > line_max {
            return Err(Violation::TargetTooLong);
        }
        Ok(())
    }
}

/// Parses a complete request head. `spare` and `fields`, which is empty, lend their memory. `spells`:
/// names are kept as they are spelled too; `needs_host`: a request of HTTP/1.1 without a host field is refused.
pub(super) fn request(
    head: &[u8],
    spare: Option<RequestHead>,
    fields: Fields,
    limits: &Limits,
    spells: bool,
    needs_host: bool,
) -> Result<(RequestHead, Version), Violation> {
    let mut table = [const { MaybeUninit::uninit() }; HEAD_FIELDS_MAX];
    let small = &mut table[..limits.field_count_max.min(HEAD_FIELDS_MAX)];
    let (fields, version) = match request_in_table(head, fields, limits, spells, small) {
        Err(Violation::FieldsTooMany) if limits.field_count_max > HEAD_FIELDS_MAX => {
            let mut large = vec![MaybeUninit::uninit(); limits.field_count_max];
            request_in_table(head, Fields::new(), limits, spells, &mut large)?
        }
        parsed => parsed?,
    };
    let head = RequestHead::received_in(spare, fields, version, needs_host)?;
    Ok((head, version))
}

fn request_in_table<'a>(
    head: &'a [u8],
    mut fields: Fields,
    limits: &Limits,
    spells: bool,
    table: &mut [MaybeUninit<Header<'a>>],
) -> Result<(Fields, Version), Violation> {
    let mut request = httparse::Request::new(&mut []);
    match request.parse_with_uninit_headers(head, table) {
        Ok(httparse::Status::Complete(used)) if used == head.len() => {}
        Ok(_) => return Err(Violation::HeadInvalid),
        Err(error) => return Err(violation(error, head)),
    }
    let (Some(method), Some(target)) = (request.method, request.path) else {
        return Err(Violation::HeadInvalid);
    };
    if target.len() > limits.target_bytes_max {
        return Err(Violation::TargetTooLong);
    }
    let version = version(request.version)?;
    fields.push(Token::METHOD, method.as_bytes());
    push_target(&mut fields, method.as_bytes(), target.as_bytes())?;
    push_fields(&mut fields, request.headers);
    check_size(&fields, limits)?;
    if spells {
        for header in request.headers.iter() {
            fields.spell(header.name.as_bytes());
        }
    }
    Ok((fields, version))
}

/// Checks the first line of a request head, once it is all there, and its method before: a client of another protocol
/// may never send the empty line that ends a head, or the end of any line.
pub(super) fn check_request_line(head: &[u8]) -> Result<(), Violation> {
    let Some(end) = memchr::memchr(b'\n', head) else {
        let end = head.iter().position(|byte| matches!(byte, b' ' | b'\r'));
        let method = &head[..end.unwrap_or(head.len())];
        let is_wrong = !method.is_empty() && !syntax::is_token(method);
        // A record of TLS begins with no token either, and is named so.
        return match is_wrong && begins_as_tls(head) == Some(false) {
            true => Err(Violation::HeadInvalid),
            false => Ok(()),
        };
    };
    let line = &head[..=end];
    let parsed = httparse::Request::new(&mut []).parse(line);
    parsed.map_or_else(|error| Err(violation(error, line)), |_| Ok(()))
}

/// Whether a response may begin with `bytes` (RFC 9112 section 4).
pub(super) fn begins_as_response(bytes: &[u8]) -> bool {
    bytes
        .iter()
        .zip(b"HTTP/")
        .all(|(byte, expected)| byte == expected)
}

/// Whether `bytes` begin as a TLS record (RFC 8446 section 5.1), so that one side uses TLS and the
/// other does not. `None`: they are too few to tell. No message of HTTP/1.1 begins so.
pub(super) fn begins_as_tls(bytes: &[u8]) -> Option<bool> {
    match bytes {
        [0x14..=0x17, 3, 0..=4, ..] => Some(true),
        [0x14..=0x17] | [0x14..=0x17, 3] => None,
        _ => Some(false),
    }
}

/// Parses a complete response head. `fields` is empty and lends its memory. `spells`: names are kept as
/// they are spelled too, where one has a capital.
pub(super) fn response(
    head: &[u8],
    fields: Fields,
    limits: &Limits,
    spells: bool,
) -> Result<(ResponseHead, Version), Violation> {
    match lines_of_response(head, fields, limits, spells) {
        Err(Violation::FieldNameInvalid) => {
            // A status line has no fold: nothing but the lines behind it has.
            let first = memchr::memchr(b'\n', head).map_or(0, |end| end + 1);
            match unfolded(head, first) {
                Some(head) => lines_of_response(&head, Fields::new(), limits, spells),
                None => Err(Violation::FieldNameInvalid),
            }
        }
        parsed => parsed,
    }
}

/// Bytes of lines with two spaces in place of each fold behind `from`, where the first of them begins: a
/// client reads a folded line as one (RFC 9112 section 5.2), where a server refuses it. `None`: there
/// is no fold.
fn unfolded(bytes: &[u8], from: usize) -> Option<Vec<u8>> {
    let mut unfolded = None;
    for at in memchr::memchr_iter(b'\n', &bytes[from..]) {
        let end = from + at;
        if matches!(bytes.get(end + 1), Some(b' ' | b'\t')) {
            unfolded.get_or_insert_with(|| bytes.to_vec())[end - 1..=end].fill(b' ');
        }
    }
    unfolded
}

fn lines_of_response(
    head: &[u8],
    fields: Fields,
    limits: &Limits,
    spells: bool,
) -> Result<(ResponseHead, Version), Violation> {
    let mut table = [const { MaybeUninit::uninit() }; HEAD_FIELDS_MAX];
    let small = &mut table[..limits.field_count_max.min(HEAD_FIELDS_MAX)];
    match lines_in_table(head, fields, spells, small) {
        Err(Violation::FieldsTooMany) if limits.field_count_max > HEAD_FIELDS_MAX => {
            let mut large = vec![MaybeUninit::uninit(); limits.field_count_max];
            lines_in_table(head, Fields::new(), spells, &mut large)
        }
        parsed => parsed,
    }
}

fn lines_in_table<'a>(
    head_bytes: &'a [u8],
    mut fields: Fields,
    spells: bool,
    table: &mut [MaybeUninit<Header<'a>>],
) -> Result<(ResponseHead, Version), Violation> {
    let mut response = httparse::Response::new(&mut []);
    let parsed = httparse::ParserConfig::default().parse_response_with_uninit_headers(
        &mut response,
        head_bytes,
        table,
    );
    match parsed {
        Ok(httparse::Status::Complete(used)) if used == head_bytes.len() => {}
        Ok(_) => return Err(Violation::HeadInvalid),
        Err(error) => return Err(violation(error, head_bytes)),
    }
    let status = response.code.ok_or(Violation::HeadInvalid)?;
    let version = version(response.version)?;
    // Its size is bounded by `head_bytes_max`, which a client sets higher than what it takes over HTTP/2.
    push_fields(&mut fields, response.headers);
    if spells {
        spell_names(&mut fields, response.headers);
    }
    let head = ResponseHead::new(status, fields, version)?;
    let phrase = phrase(response.reason, head_bytes);
    let head = match phrase == reason::usual(status).as_bytes() {
        true => head,
        false => head.with_reason(phrase)?,
    };
    Ok((head, version))
}

/// The reason phrase of a head that was parsed. httparse gives none of one that has bytes beyond ASCII, which it may
/// (RFC 9112 section 4).
fn phrase<'a>(parsed: Option<&'a str>, head: &'a [u8]) -> &'a [u8] {
    /// Bytes of `HTTP/1.1 200 `.
    const BEFORE: usize = 13;
    match parsed {
        Some("") | None => {
            let line = head.trim_ascii_start();
            let end = line.iter().position(|byte| matches!(byte, b'\r' | b'\n'));
            line.get(BEFORE..end.unwrap_or(line.len()))
                .unwrap_or_default()
        }
        Some(phrase) => phrase.as_bytes(),
    }
}

/// Parses a complete trailer section, its empty line included, of a message to `side`. `spells`: as of
/// a response head.
pub(super) fn trailers(
    section: &[u8],
    fields: Fields,
    limits: &Limits,
    side: Side,
    spells: bool,
) -> Result<Fields, Violation> {
    let parsed = lines_of_trailers(section, fields, limits, spells);
    if side == Side::Client
        && matches!(parsed, Err(Violation::FieldNameInvalid))
        && let Some(section) = unfolded(section, 0)
    {
        return lines_of_trailers(&section, Fields::new(), limits, spells);
    }
    parsed
}

fn lines_of_trailers(
    section: &[u8],
    fields: Fields,
    limits: &Limits,
    spells: bool,
) -> Result<Fields, Violation> {
    let mut table = [httparse::EMPTY_HEADER; HEAD_FIELDS_MAX];
    let small = &mut table[..limits.field_count_max.min(HEAD_FIELDS_MAX)];
    match trailers_in_table(section, fields, limits, spells, small) {
        Err(Violation::FieldsTooMany) if limits.field_count_max > HEAD_FIELDS_MAX => {
            let mut large = vec![httparse::EMPTY_HEADER; limits.field_count_max];
            trailers_in_table(section, Fields::new(), limits, spells, &mut large)
        }
        parsed => parsed,
    }
}

fn trailers_in_table<'a>(
    section: &'a [u8],
    mut fields: Fields,
    limits: &Limits,
    spells: bool,
    table: &mut [Header<'a>],
) -> Result<Fields, Violation> {
    match httparse::parse_headers(section, table) {
        Ok(httparse::Status::Complete((used, headers))) if used == section.len() => {
            push_fields(&mut fields, headers);
            check_size(&fields, limits)?;
            if spells {
                spell_names(&mut fields, headers);
            }
        }
        Ok(_) => return Err(Violation::HeadInvalid),
        Err(error) => return Err(violation(error, section)),
    }
    crate::http::head::receive_trailers(&mut fields, Version::Http11)?;
    Ok(fields)
}

/// RFC 9112 section 3.2: the four forms of a request target.
fn push_target(fields: &mut Fields, method: &[u8], target: &[u8]) -> Result<(), Violation> {
    if method == b"CONNECT" {
        fields.push(Token::AUTHORITY, target);
        return Ok(());
    }
    if target.starts_with(b"/") || target == b"*" {
        fields.push(Token::PATH, target);
        return Ok(());
    }
    let colon = memchr::memchr(b':', target).ok_or(Violation::PathInvalid)?;
    let rest = target[colon..]
        .strip_prefix(b"://")
        .ok_or(Violation::PathInvalid)?;
    let authority_len = rest
        .iter()
        .position(|byte| matches!(byte, b'/' | b'?' | b'#'))
        .unwrap_or(rest.len());
    let (authority, path) = rest.split_at(authority_len);
    fields.push(Token::SCHEME, &target[..colon]);
    fields.push(Token::AUTHORITY, authority);
    if path.starts_with(b"/") {
        fields.push(Token::PATH, path);
    } else if path.is_empty() && method == b"OPTIONS" {
        // RFC 9112 section 3.2.4: the asterisk-form, as seen through a proxy.
        fields.push(Token::PATH, b"*");
    } else {
        // RFC 9110 section 4.2.3: an empty path is the same as "/".
        fields.push_with(FieldName::Token(Token::PATH), false, |value| {
            value.push(b'/');
            value.extend_from_slice(path);
        });
    }
    Ok(())
}

/// Keeps names as they are spelled, where that is not in lower case.
fn spell_names(fields: &mut Fields, headers: &[Header<'_>]) {
    let has_capital =
        |header: &Header<'_>| header.name.bytes().any(|byte| byte.is_ascii_uppercase());
    if headers.iter().any(has_capital) {
        for header in headers {
            fields.spell(header.name.as_bytes());
        }
    }
}

fn push_fields(fields: &mut Fields, headers: &[Header<'_>]) {
    let mut short = [0; 64];
    for header in headers {
        let name = header.name.as_bytes();
        if let Some(lower) = short.get_mut(..name.len()) {
            lower.copy_from_slice(name);
            lower.make_ascii_lowercase();
            fields.push_named(lower, header.value);
        } else {
            fields.push_named(&name.to_ascii_lowercase(), header.value);
        }
    }
}

fn check_size(fields: &Fields, limits: &Limits) -> Result<(), Violation> {
    match fields.size() > limits.field_section_bytes_max {
        true => Err(Violation::FieldSectionTooLarge),
        false => Ok(()),
    }
}

fn version(minor: Option<u8>) -> Result<Version, Violation> {
    match minor {
        Some(0) => Ok(Version::Http10),
        Some(1) => Ok(Version::Http11),
        _ => Err(Violation::VersionUnsupported),
    }
}

fn violation(error: httparse::Error, head: &[u8]) -> Violation {
    match error {
        httparse::Error::TooManyHeaders => Violation::FieldsTooMany,
        httparse::Error::Version if names_a_version(head) => Violation::VersionUnsupported,
        httparse::Error::HeaderName => Violation::FieldNameInvalid,
        httparse::Error::HeaderValue => Violation::FieldValueInvalid,
        _ => Violation::HeadInvalid,
    }
}

/// Whether the first line is whole except for a version (`HTTP/` DIGIT `.` DIGIT, RFC 9112
/// section 2.3) that we do not speak: 505 rather than 400.
fn names_a_version(head: &[u8]) -> bool {
    let line = head.split(|&byte| byte == b'\r').next().unwrap_or(head);
    let is_other = |word: &[u8]| match word {
        [b'H', b'T', b'T', b'P', b'/', major, b'.', minor] => {
            let digits = major.is_ascii_digit() && minor.is_ascii_digit();
            digits && !matches!((major, minor), (b'1', b'0' | b'1'))
        }
        _ => false,
    };
    let mut words = line.split(|&byte| byte == b' ');
    let (first, _, third, fourth) = (words.next(), words.next(), words.next(), words.next());
    first.is_some_and(is_other) || fourth.is_none() && third.is_some_and(is_other)
}
