//! RFC 3986 for URLs with a host, where the crate `url` is left out. Characters outside ASCII are
//! percent-encoded as UTF-8 in paths and queries (RFC 3987 section 3.1) and refused in hosts, for which
//! Punycode would be needed.

use super::{BoxError, CredentialsApart};

/// The components of a URL (RFC 3986 section 3), without its fragment.
struct Components<'a> {
    scheme: &'a str,
    authority: &'a str,
    path: &'a str,
    query: Option<&'a str>,
}

pub(super) fn normalized(url: &str) -> Result<String, BoxError> {
    components_of(trimmed(url))?.composed()
}

pub(super) fn credentials_apart(url: &str) -> Result<CredentialsApart, BoxError> {
    let mut components = components_of(trimmed(url))?;
    let (credentials, host) = credentials_and_host(components.authority);
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    components.authority = host;
    Ok(CredentialsApart {
        url: components.composed()?,
        user: user.to_owned(),
        password: password.to_owned(),
    })
}

/// RFC 3986 section 5.2.2.
pub(super) fn joined(base: &str, reference: &str) -> Result<String, BoxError> {
    let reference = trimmed(reference);
    let base = components_of(base)?;
    if has_scheme(reference) {
        return components_of(reference)?.composed();
    }
    if reference.starts_with("//") {
        let url = format!("{}:{reference}", base.scheme);
        return components_of(&url)?.composed();
    }
    let (path, query) = path_and_query(reference);
    let folder = base.path.rfind('/').map_or("/", |end| &base.path[..=end]);
    let (path, query) = match path {
        "" => (base.path.to_owned(), query.or(base.query)),
        path if path.starts_with('/') => (path.to_owned(), query),
        path => (format!("{folder}{path}"), query),
    };
    let path = path.as_str();
    Components {
        path,
        query,
        ..base
    }
    .composed()
}

/// Without the spaces around a URL, and without its fragment.
fn trimmed(url: &str) -> &str {
    let url = url.trim_matches(|c: char| c <= ' ');
    url.split('#').next().unwrap_or(url)
}

fn components_of(url: &str) -> Result<Components<'_>, BoxError> {
    let (scheme, rest) = url
        .split_once("://")
        .filter(|_| has_scheme(url))
        .ok_or("it has no scheme with \"://\" behind it")?;
    let (authority, rest) = rest.split_at(rest.find(['/', '?']).unwrap_or(rest.len()));
    let (path, query) = path_and_query(rest);
    Ok(Components {
        scheme,
        authority,
        path,
        query,
    })
}

fn path_and_query(text: &str) -> (&str, Option<&str>) {
    match text.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (text, None),
    }
}

/// RFC 3986 section 3.1.
fn has_scheme(reference: &str) -> bool {
    let Some((scheme, _)) = reference.split_once(':') else {
        return false;
    };
    let may_follow = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
    scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.bytes().all(may_follow)
}

/// Credentials, if an authority has any, and the host with its port: the last `@` parts them.
fn credentials_and_host(authority: &str) -> (&str, &str) {
    authority.rsplit_once('@').unwrap_or(("", authority))
}

impl Components<'_> {
    fn composed(&self) -> Result<String, BoxError> {
        let scheme = self.scheme.to_ascii_lowercase();
        let (credentials, host) = credentials_and_host(self.authority);
        check_host(host)?;
        let default_port = match scheme.as_str() {
            "http" => ":80",
            "https" => ":443",
            _ => ":",
        };
        let host = host.strip_suffix(default_port).unwrap_or(host);
        let mut url = format!("{scheme}://");
        if !credentials.is_empty() {
            push_encoded(&mut url, credentials);
            url.push('@');
        }
        url.push_str(&host.to_ascii_lowercase());
        push_encoded(&mut url, &without_dots(self.path));
        if let Some(query) = self.query {
            url.push('?');
            push_encoded(&mut url, query);
        }
        Ok(url)
    }
}

/// RFC 3986 section 3.2.2. The parser of the URI judges addresses and ports.
fn check_host(host: &str) -> Result<(), BoxError> {
    if host.is_empty() {
        return Err("it has no host".into());
    }
    if !host.is_ascii() {
        return Err(format!(
            "the host {host:?} has characters outside ASCII; write it in Punycode (xn--..), or build \
             the crate with its feature url"
        )
        .into());
    }
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-._~!$&'()*+,;=:[]".contains(&byte);
    match host.bytes().find(|byte| !allowed(*byte)) {
        Some(byte) => Err(format!("{:?} cannot be in the host {host:?}", char::from(byte)).into()),
        None => Ok(()),
    }
}

/// RFC 3986 section 5.2.4, for `%2e` too, which servers read as a dot.
fn without_dots(path: &str) -> String {
    let mut kept = Vec::new();
    let mut segments = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(segment) = segments.next() {
        let dots = segment.to_ascii_lowercase().replace("%2e", ".");
        if !matches!(dots.as_str(), "." | "..") {
            kept.push(segment);
            continue;
        }
        if dots == ".." {
            kept.pop();
        }
        if segments.peek().is_none() {
            kept.push("");
        }
    }
    format!("/{}", kept.join("/"))
}

/// RFC 3986 section 2.1: bytes that a URI cannot have.
fn push_encoded(url: &mut String, text: &str) {
    for byte in text.bytes() {
        if byte.is_ascii_graphic() && !b"\"<>\\^`{|}".contains(&byte) {
            url.push(char::from(byte));
        } else {
            url.push_str(&format!("%{byte:02X}"));
        }
    }
}

#[cfg(test)]
#[path = "rfc3986_test.rs"]
mod rfc3986_test;
