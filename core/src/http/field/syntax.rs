//! Allowed bytes of tokens, values and targets (RFC 9110 section 5.6.2, RFC 3986 section 3): one
//! table of byte classes, and the checks built on it. Rejects and never repairs.

use std::net::Ipv6Addr;

const TOKEN: u8 = 1;
const TOKEN_LOWER: u8 = 1 << 1;
const HOST: u8 = 1 << 2;
const SCHEME: u8 = 1 << 3;
const LITERAL: u8 = 1 << 4;

/// For every byte, the classes it is in.
static CLASSES: [u8; 256] = classes();

const fn classes() -> [u8; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = class_of(byte as u8);
        byte += 1;
    }
    table
}

const fn class_of(byte: u8) -> u8 {
    let mut class = 0;
    let alphanumeric = byte.is_ascii_alphanumeric();
    if alphanumeric || is_in(byte, b"!#$%&'*+-.^_`|~") {
        class |= TOKEN;
        if !byte.is_ascii_uppercase() {
            class |= TOKEN_LOWER;
        }
    }
    // RFC 3986 section 3.2.2: unreserved, percent-encoded, sub-delims.
    if alphanumeric || is_in(byte, b"-._~%!$&'()*+,;=") {
        class |= HOST;
    }
    if alphanumeric || is_in(byte, b"+-.") {
        class |= SCHEME;
    }
    // An IP literal between brackets: IPv6, IPvFuture; a zone id is percent-encoded (RFC 6874).
    if alphanumeric || is_in(byte, b":.-_~%") {
        class |= LITERAL;
    }
    class
}

const fn is_in(byte: u8, set: &[u8]) -> bool {
    let mut at = 0;
    while at < set.len() {
        if set[at] == byte {
            return true;
        }
        at += 1;
    }
    false
}

fn all(bytes: &[u8], class: u8) -> bool {
    bytes
        .iter()
        .all(|&byte| CLASSES[usize::from(byte)] & class != 0)
}

/// RFC 9110 section 5.6.2: a token, as methods and protocols are.
pub(crate) fn is_token(bytes: &[u8]) -> bool {
    matches!(bytes, b"GET" | b"POST" | b"HEAD") || (!bytes.is_empty() && all(bytes, TOKEN))
}

/// RFC 9113 section 8.2: a field name, without capitals.
pub(crate) fn is_lower_case_token(bytes: &[u8]) -> bool {
    !bytes.is_empty() && all(bytes, TOKEN_LOWER)
}

/// RFC 9110 section 5.5 and RFC 9113 section 8.2.1: no CR, LF, NUL or other control character but
/// HTAB, no SP or HTAB at an end. Empty is fine.
pub(crate) fn is_field_value(bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else {
        return true;
    };
    if matches!(first, b' ' | b'\t') || matches!(last, b' ' | b'\t') {
        return false;
    }
    let control = |word| below(word, b' ') | equal(word, 0x7f);
    // HTAB is the one control character that may stand inside: a value with one is checked byte by byte.
    !any_word(bytes, control)
        || bytes
            .iter()
            .all(|&byte| (byte >= b' ' && byte != 0x7f) || byte == b'\t')
}

/// CR, LF or NUL: what RFC 9110 section 5.5 calls dangerous, because a hop may read an end into it.
pub(crate) fn has_dangerous_byte(value: &[u8]) -> bool {
    value
        .iter()
        .any(|byte| matches!(byte, b'\r' | b'\n' | b'\0'))
}

/// RFC 3986 section 3.1.
pub(crate) fn is_scheme(bytes: &[u8]) -> bool {
    matches!(bytes, b"https" | b"http")
        || (bytes.first().is_some_and(u8::is_ascii_alphabetic) && all(bytes, SCHEME))
}

/// An absolute path with a query, or nothing else. `*` is the caller's to allow. Everything visible
/// but the fragment's `#`: RFC 3986 allows fewer, but curl sends UTF-8 as it is typed, and no
/// server reads another boundary into these bytes.
pub(crate) fn is_path(bytes: &[u8]) -> bool {
    let refused = |word| below(word, b' ' + 1) | equal(word, 0x7f) | equal(word, b'#');
    bytes.first() == Some(&b'/') && !any_word(bytes, refused)
}

/// Whether `test` finds something in any eight bytes of `bytes`: heads are short, and eight bytes
/// at once are cheaper than a loop over each or the setup of wider vectors. `test` gives a word
/// that is 0 when it finds nothing.
fn any_word(bytes: &[u8], test: impl Fn(u64) -> u64) -> bool {
    let (words, rest) = bytes.as_chunks::<8>();
    if words
        .iter()
        .any(|word| test(u64::from_le_bytes(*word)) != 0)
    {
        return true;
    }
    if rest.is_empty() {
        return false;
    }
    if let Some(last) = bytes.last_chunk::<8>() {
        return test(u64::from_le_bytes(*last)) != 0;
    }
    // Filled up with a letter, which no test finds.
    let mut word = u64::from_le_bytes([b'a'; 8]);
    for &byte in rest {
        word = word << 8 | u64::from(byte);
    }
    test(word) != 0
}

/// Eight times the same byte.
const fn spread(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Not 0 when a byte of `word` is below `bound`, which is at most 128.
fn below(word: u64, bound: u8) -> u64 {
    word.wrapping_sub(spread(bound)) & !word & spread(0x80)
}

/// Not 0 when a byte of `word` is `byte`.
fn equal(word: u64, byte: u8) -> u64 {
    below(word ^ spread(byte), 1)
}

/// The part behind the host that [`authority`] found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Port {
    /// No `:`, or nothing behind it.
    Default,
    /// A number.
    Number(u16),
}

/// RFC 3986 section 3.2 without userinfo (RFC 9110 section 4.2.4: `@` is an error). `None`: it is
/// no authority. An empty one is: whether it may be is the caller's question.
pub(crate) fn authority(bytes: &[u8]) -> Option<Port> {
    let (host_valid, behind) = if let [b'[', literal @ ..] = bytes {
        let end = literal.iter().position(|&byte| byte == b']')?;
        (
            end > 0 && all(&literal[..end], LITERAL),
            &literal[end + 1..],
        )
    } else {
        let end = bytes
            .iter()
            .position(|&byte| CLASSES[usize::from(byte)] & HOST == 0)
            .unwrap_or(bytes.len());
        // A port without a host is no authority.
        (end > 0 || bytes.is_empty(), &bytes[end..])
    };
    if !host_valid {
        return None;
    }
    match behind {
        [] | [b':'] => Some(Port::Default),
        [b':', digits @ ..] => decimal(digits)?.try_into().ok().map(Port::Number),
        _ => None,
    }
}

/// Whether `bytes` are an authority, or an IPv6 address without brackets, with a port or none, as clients of node:http2 say
/// one in `:authority`. A text that fits both need not be decided.
pub(crate) fn is_authority_or_bare_address(bytes: &[u8]) -> bool {
    authority(bytes).is_some() || bare_address(bytes).is_some()
}

/// The address of an IPv6 authority without brackets.
pub(crate) fn bare_address(bytes: &[u8]) -> Option<Ipv6Addr> {
    let text = std::str::from_utf8(bytes).ok()?;
    let with_port = || {
        let (address, port) = text.rsplit_once(':')?;
        decimal(port.as_bytes()).and_then(|port| u16::try_from(port).ok())?;
        address.parse().ok()
    };
    text.parse().ok().or_else(with_port)
}

/// `1*DIGIT` that fits: no sign, no space, nothing else.
pub(crate) fn decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, &digit| {
        if !digit.is_ascii_digit() {
            return None;
        }
        number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))
    })
}

#[cfg(test)]
#[path = "syntax_test.rs"]
mod syntax_test;
