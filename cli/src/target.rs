//! URLs and fields from the command line, checked before anything is sent.

use crate::failure::Failure;
use http::{HeaderName, HeaderValue, Uri};
use std::borrow::Cow;

/// An http or https URL that names a host and a usable port.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) uri: Uri,
    pub(crate) tls: bool,
}

impl Target {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let refuse =
            |why: &str| Failure::usage(format_args!("{text:?} is not a URL to request: {why}"));
        if !text.contains("://") {
            return Err(refuse("it must start with http:// or https://"));
        }
        let written = match is_plain(text) {
            true => Cow::Borrowed(text),
            false => Cow::Owned(as_sent(text).map_err(|error| refuse(&error.to_string()))?),
        };
        let uri: Uri = written
            .parse()
            .map_err(|error: http::uri::InvalidUri| refuse(&error.to_string()))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            _ => return Err(refuse("the scheme must be http or https")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(refuse(
                "credentials in a URL are not sent; use -u of get, or -H 'authorization: ..'",
            ));
        }
        if authority.host().trim_matches(['[', ']']).is_empty() {
            return Err(refuse("it names no host"));
        }
        let has_port = authority
            .as_str()
            .rsplit(']')
            .next()
            .is_some_and(|rest| rest.contains(':'));
        let is_empty = authority.as_str().ends_with(':');
        if has_port && !is_empty && authority.port_u16().is_none_or(|port| port == 0) {
            return Err(refuse("the port must be 1 to 65535"));
        }
        let uri = canonical(&uri, has_port, tls).unwrap_or(uri);
        Ok(Self { uri, tls })
    }

    /// The value of `:authority` and `host`.
    pub(crate) fn authority(&self) -> &str {
        self.uri
            .authority()
            .map_or("", |authority| authority.as_str())
    }

    /// The value of `:path`.
    pub(crate) fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }
}

/// The URL with its authority in one form, if it has another: without an empty port and without that of its scheme (RFC 3986
/// section 6.2.3), and with an address of IPv4 in four parts, as the WHATWG URL standard has it: a host of the form `127.1`
/// is one, whichever form a rule about hosts has.
fn canonical(uri: &Uri, has_port: bool, tls: bool) -> Option<Uri> {
    let authority = uri.authority()?;
    let host = authority.host();
    let last = host.rsplit('.').next()?;
    let is_number = last.starts_with(|first: char| first.is_ascii_digit());
    let address = match url::Host::parse(host) {
        Ok(url::Host::Ipv4(address)) if is_number => Some(address.to_string()),
        _ => None,
    };
    let host = address.as_deref().unwrap_or(host);
    let default = if tls { 443 } else { 80 };
    let port = authority.port_u16().filter(|port| *port != default);
    if host == authority.host() && port.is_some() == has_port {
        return None;
    }
    let written = match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    let mut parts = uri.clone().into_parts();
    parts.authority = Some(written.parse().ok()?);
    Uri::from_parts(parts).ok()
}

/// Whether the URL stands for itself. Every other one is read by the rules of the WHATWG URL standard, as
/// browsers do: names of other scripts, spaces, `..`.
fn is_plain(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_graphic() && !b"\"#<>\\^`{|}".contains(&byte);
    text.bytes().all(plain) && !text.contains("/.")
}

fn as_sent(text: &str) -> Result<String, url::ParseError> {
    let mut url = url::Url::parse(text)?;
    url.set_fragment(None);
    Ok(url.into())
}

/// A URL as people type it for curl: without a scheme it is http, and it may have the user and the password
/// of Basic authentication in it, which come apart.
pub(crate) fn with_credentials(text: &str) -> Result<(Target, Option<String>), Failure> {
    let whole = match (
        with_two_slashes(text),
        text.contains("://") || text.is_empty(),
    ) {
        (Some(written), _) => Cow::Owned(written),
        (None, true) => Cow::Borrowed(text),
        (None, false) => Cow::Owned(format!("http://{text}")),
    };
    let (scheme, rest) = whole.split_once("://").unwrap_or(("", text));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let Some((credentials, host)) = rest[..end].rsplit_once('@') else {
        return Target::parse(&whole).map(|target| (target, None));
    };
    let target = Target::parse(&format!("{scheme}://{host}{}", &rest[end..]))?;
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    let decoded = |text| percent_encoding::percent_decode_str(text).decode_utf8_lossy();
    let credentials = format!("{}:{}", decoded(user), decoded(password));
    Ok((target, Some(credentials)))
}

/// A URL whose scheme has one slash or three behind it, as `http:/localhost/v1` is written beside a Unix socket; `None`: it
/// has two, or no such scheme.
fn with_two_slashes(text: &str) -> Option<String> {
    let (scheme, rest) = text.split_once(':')?;
    let is_scheme = ["http", "https"]
        .iter()
        .any(|name| scheme.eq_ignore_ascii_case(name));
    let host = rest.trim_start_matches('/');
    let slashes = rest.len() - host.len();
    (is_scheme && matches!(slashes, 1 | 3) && !host.is_empty())
        .then(|| format!("{scheme}://{host}"))
}

/// The path and query of a URL as they are written.
pub(crate) fn written_path(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let rest = rest.split('#').next().unwrap_or_default();
    match rest.find(['/', '?']) {
        Some(at) if rest[at..].starts_with('/') => &rest[at..],
        // A query behind the host alone is one of the root, which is not written.
        _ => "/",
    }
}

/// The URL with another path and query.
pub(crate) fn with_path(uri: Uri, path: &str) -> Result<Uri, Failure> {
    let refuse = |error: &dyn std::fmt::Display| {
        Failure::usage(format_args!("{path:?} is no path of a URL: {error}"))
    };
    let mut parts = uri.into_parts();
    parts.path_and_query = Some(
        path.parse()
            .map_err(|error: http::uri::InvalidUri| refuse(&error))?,
    );
    Uri::from_parts(parts).map_err(|error| refuse(&error))
}

/// The URL with more in its query.
pub(crate) fn with_query(uri: Uri, more: &[u8]) -> Result<Uri, Failure> {
    let more = String::from_utf8_lossy(more);
    let path = match uri.query() {
        Some(query) if !query.is_empty() => format!("{}?{query}&{more}", uri.path()),
        _ => format!("{}?{more}", uri.path()),
    };
    with_path(uri, &path)
}

/// `name: value` as curl takes it, and `name;` for a field without a value.
pub(crate) fn field(line: &str) -> Result<(HeaderName, HeaderValue), Failure> {
    let refuse = |why: &str| Failure::usage(format_args!("-H {line:?}: {why}"));
    let (name, value) = line
        .split_once(':')
        .or_else(|| line.strip_suffix(';').map(|name| (name, "")))
        .ok_or_else(|| refuse("write it as 'name: value'"))?;
    let name = HeaderName::from_bytes(name.trim().as_bytes())
        .map_err(|_| refuse("the name has a character that a field name cannot have"))?;
    let value = HeaderValue::from_str(value.trim())
        .map_err(|_| refuse("the value has a control character"))?;
    Ok((name, value))
}

#[cfg(test)]
#[path = "target_test.rs"]
mod target_test;
