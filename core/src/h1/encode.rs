//! Writes heads, chunks and trailers as bytes. All of them passed the validator, so no value holds
//! a line end and no response can be split (RFC 9110 section 5.5).
//!
//! Framing fields are ours: the owner's `transfer-encoding` is written where the body is chunked, which is its last coding,
//! `content-length` only where it may stand, and `connection` is replaced when the connection closes.

use super::proxy::Proxy;
use crate::error::Violation;
use crate::http::head::reason;
use crate::http::{Field, Fields, RequestHead, ResponseHead, Token};
use crate::limits::WriteDate;
use std::io::Write;
use std::time::Instant;

/// The body framing that a head announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Announce {
    /// The content-length field of the head, if it has one, stands.
    AsGiven,
    /// `content-length: 0`, which the head lacks.
    Empty,
    /// `transfer-encoding: chunked`.
    Chunked,
    /// No framing fields at all: 1xx, 204, 101 and a 2xx to CONNECT (RFC 9112 section 6.1,
    /// RFC 9110 section 8.6).
    Nothing,
}

/// The connection persistence that a head announces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Persist {
    /// As in the owner's head.
    AsGiven,
    /// `connection: close` instead of what it says.
    Close,
    /// `connection: keep-alive`, for a peer that asked for it in HTTP/1.0, or that may need it said.
    KeepAlive,
}

/// The form of a request's target (RFC 9112 section 3.2).
#[derive(Clone, Copy, Debug)]
pub(super) enum Target<'a> {
    /// To the origin itself.
    Path(&'a [u8]),
    /// To a proxy that forwards the request, or to a server that the user takes for one.
    Absolute {
        path: &'a [u8],
        proxy: Option<&'a Proxy>,
    },
    /// CONNECT.
    Authority,
}

impl<'a> Target<'a> {
    /// CONNECT has no path.
    pub(super) fn of(path: Option<&'a [u8]>, proxy: Option<&'a Proxy>, form: Form) -> Self {
        match (path, proxy, form) {
            (None, ..) => Self::Authority,
            (Some(path), None, Form::Usual) => Self::Path(path),
            (Some(path), proxy, _) => Self::Absolute { path, proxy },
        }
    }
}

/// The form of a request's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As the connection needs it.
    Usual,
    Absolute,
}

/// Appends a request head.
pub(super) fn request_head(
    out: &mut Vec<u8>,
    head: &RequestHead,
    target: &Target<'_>,
    authority: &[u8],
    announce: Announce,
    persist: Persist,
) {
    out.extend_from_slice(head.method());
    out.push(b' ');
    match target {
        Target::Path(path) => out.extend_from_slice(path),
        Target::Authority => out.extend_from_slice(authority),
        Target::Absolute { path, .. } => {
            out.extend_from_slice(head.scheme().unwrap_or(b"http"));
            out.extend_from_slice(b"://");
            out.extend_from_slice(authority);
            // RFC 9112 section 3.2.4: OPTIONS for the server as a whole has no path.
            out.extend_from_slice(if *path == b"*" { b"" } else { path });
        }
    }
    out.extend_from_slice(b" HTTP/1.1\r\n");
    // RFC 9110 section 7.2: host first.
    line(out, b"host", authority);
    if let Target::Absolute {
        proxy: Some(proxy), ..
    } = target
    {
        proxy_lines(out, head, proxy);
    }
    // In front of the fields of the head, where undici has it.
    persist_line(
        out,
        persist,
        head.get(Token::CONNECTION).is_some(),
        &LOWER_CASE,
    );
    let is_cookie = |field: &Field<'_>| field.token == Some(Token::COOKIE);
    let joins = head.fields().filter(is_cookie).count() > 1;
    let mut has_te = false;
    let mut spellings = head.section().spellings();
    let rest = head
        .fields()
        .map(|field| (spellings.next().unwrap_or(field.name), field));
    let rest = rest.filter(|(_, field)| {
        has_te |= field.token == Some(Token::TE);
        field.token != Some(Token::HOST) && !(joins && is_cookie(field))
    });
    field_lines(out, rest, announce, persist, &LOWER_CASE);
    if has_te {
        // RFC 9110 section 10.1.4: it is for this hop. Said twice it means the same.
        out.extend_from_slice(b"connection: te\r\n");
    }
    if joins {
        cookie_line(out, head.fields());
    }
    out.extend_from_slice(b"\r\n");
}

/// Writes the fields meant for the proxy, where the request does not set them.
fn proxy_lines(out: &mut Vec<u8>, head: &RequestHead, proxy: &Proxy) {
    if let Some(authorization) = &proxy.authorization
        && head.get(Token::PROXY_AUTHORIZATION).is_none()
    {
        line(out, b"proxy-authorization", authorization);
    }
    for (name, value) in proxy.fields.iter() {
        if !head
            .fields()
            .any(|field| field.name.eq_ignore_ascii_case(name))
        {
            line(out, name, value);
        }
    }
}

/// The lines about framing and the connection that we add to a head.
struct OwnLines {
    empty: &'static [u8],
    chunked: &'static [u8],
    close: &'static [u8],
    keep_alive: &'static [u8],
}

const LOWER_CASE: OwnLines = OwnLines {
    empty: b"content-length: 0\r\n",
    chunked: b"transfer-encoding: chunked\r\n",
    close: b"connection: close\r\n",
    keep_alive: b"connection: keep-alive\r\n",
};
/// The lines of a head whose owner spells names with capitals.
const CAPITALS: OwnLines = OwnLines {
    empty: b"Content-Length: 0\r\n",
    chunked: b"Transfer-Encoding: chunked\r\n",
    close: b"Connection: close\r\n",
    keep_alive: b"Connection: keep-alive\r\n",
};

impl OwnLines {
    fn of(head: &ResponseHead) -> &'static Self {
        let has_capital = |name: &[u8]| name.iter().any(u8::is_ascii_uppercase);
        match head.section().spellings().any(has_capital) {
            true => &CAPITALS,
            false => &LOWER_CASE,
        }
    }
}

/// Appends a response head.
pub(super) fn response_head(
    out: &mut Vec<u8>,
    head: &ResponseHead,
    announce: Announce,
    persist: Persist,
) {
    status_line(out, head.status, head.phrase());
    let mut spellings = head.section().spellings();
    let lines = head
        .fields()
        .map(|field| (spellings.next().unwrap_or(field.name), field));
    let own = OwnLines::of(head);
    field_lines(out, lines, announce, persist, own);
    let sends_connection = persist == Persist::KeepAlive && head.get(Token::CONNECTION).is_some();
    persist_line(out, persist, sends_connection, own);
    out.extend_from_slice(b"\r\n");
}

/// Appends the whole answer to a request that broke a rule, of this date; the connection closes behind it.
pub(super) fn refusal(out: &mut Vec<u8>, violation: Violation, date: Option<(WriteDate, Instant)>) {
    let status = violation.h1_status();
    status_line(out, status, reason::usual(status).as_bytes());
    if let Some((write, now)) = date {
        out.extend_from_slice(b"date: ");
        write(now, out);
        out.extend_from_slice(b"\r\n");
    }
    out.extend_from_slice(b"content-length: 0\r\nconnection: close\r\n\r\n");
}

/// Appends the line before a chunk's data.
pub(super) fn chunk_line(out: &mut Vec<u8>, len: usize) {
    // Writing to a Vec does not fail.
    let _ = write!(out, "{len:x}\r\n");
}

/// Appends the last chunk and the trailer section.
pub(super) fn last_chunk(out: &mut Vec<u8>, trailers: Option<&Fields>) {
    out.extend_from_slice(b"0\r\n");
    if let Some(fields) = trailers {
        let mut spellings = fields.spellings();
        for field in fields.iter() {
            line(out, spellings.next().unwrap_or(field.name), field.value);
        }
    }
    out.extend_from_slice(b"\r\n");
}

/// Fields behind their names as they are to be spelled.
fn field_lines<'a>(
    out: &mut Vec<u8>,
    fields: impl Iterator<Item = (&'a [u8], Field<'a>)>,
    announce: Announce,
    persist: Persist,
    own: &OwnLines,
) {
    let mut codings = Vec::new();
    for (name, field) in fields {
        match field.token {
            Some(Token::TRANSFER_ENCODING) => {
                let named = field.value.split(|byte| *byte == b',');
                codings.extend(
                    named
                        .map(<[u8]>::trim_ascii)
                        .filter(|coding| is_other(coding)),
                );
                continue;
            }
            Some(Token::CONTENT_LENGTH) if announce != Announce::AsGiven => continue,
            Some(Token::CONNECTION) if persist == Persist::Close => continue,
            _ => {}
        }
        line(out, name, field.value);
    }
    match announce {
        Announce::AsGiven | Announce::Nothing => {}
        Announce::Empty => out.extend_from_slice(own.empty),
        Announce::Chunked if codings.is_empty() => out.extend_from_slice(own.chunked),
        Announce::Chunked => {
            // In one line: some recipients read the first one alone.
            codings.push(b"chunked");
            line(out, b"transfer-encoding", &codings.join(&b", "[..]));
        }
    }
}

/// Whether a transfer coding is one of the owner's.
fn is_other(coding: &[u8]) -> bool {
    !coding.is_empty() && !coding.eq_ignore_ascii_case(b"chunked")
}

/// The line of a head about its connection; `sends_connection`: it has such a field of its own, which counts unless the
/// connection closes.
fn persist_line(out: &mut Vec<u8>, persist: Persist, sends_connection: bool, own: &OwnLines) {
    match persist {
        Persist::Close => out.extend_from_slice(own.close),
        Persist::KeepAlive if !sends_connection => out.extend_from_slice(own.keep_alive),
        Persist::AsGiven | Persist::KeepAlive => {}
    }
}

/// RFC 9113 section 8.2.3: crumbs of an HTTP/2 head become one line again.
fn cookie_line<'a>(out: &mut Vec<u8>, fields: impl Iterator<Item = Field<'a>>) {
    out.extend_from_slice(b"cookie: ");
    let crumbs = fields.filter(|field| field.token == Some(Token::COOKIE));
    for (index, crumb) in crumbs.enumerate() {
        if index > 0 {
            out.extend_from_slice(b"; ");
        }
        out.extend_from_slice(crumb.value);
    }
    out.extend_from_slice(b"\r\n");
}

fn line(out: &mut Vec<u8>, name: &[u8], value: &[u8]) {
    debug_assert!(
        !value.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0)),
        "a value that the validator lets through cannot end its line"
    );
    out.extend_from_slice(name);
    out.extend_from_slice(b": ");
    out.extend_from_slice(value);
    out.extend_from_slice(b"\r\n");
}

fn status_line(out: &mut Vec<u8>, status: u16, phrase: &[u8]) {
    out.extend_from_slice(b"HTTP/1.1 ");
    let digits = [status / 100 % 10, status / 10 % 10, status % 10];
    out.extend(digits.map(|digit| b'0' + digit as u8));
    out.push(b' ');
    out.extend_from_slice(phrase);
    out.extend_from_slice(b"\r\n");
}
