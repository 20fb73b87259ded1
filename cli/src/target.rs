//! URLs and fields from the command line, checked before anything is sent.

use crate::failure::Failure;
use http::Uri;

/// An http or https URL, taken apart.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) uri: Uri,
    pub(crate) tls: bool,
    /// Without brackets around an IPv6 address: what is resolved and verified.
    pub(crate) host: String,
    pub(crate) port: u16,
}

impl Target {
    pub(crate) fn parse(text: &str) -> Result<Self, Failure> {
        let refuse =
            |why: &str| Failure::usage(format_args!("{text:?} is not a URL to request: {why}"));
        let uri: Uri = text
            .parse()
            .map_err(|error: http::uri::InvalidUri| refuse(&error.to_string()))?;
        let tls = match uri.scheme_str() {
            Some("http") => false,
            Some("https") => true,
            Some(_) => return Err(refuse("the scheme must be http or https")),
            None => return Err(refuse("it must start with http:// or https://")),
        };
        let authority = uri.authority().ok_or_else(|| refuse("it names no host"))?;
        if authority.as_str().contains('@') {
            return Err(refuse(
                "credentials in a URL are not sent; use -H 'authorization: ..'",
            ));
        }
        let host = authority
            .host()
            .trim_start_matches('[')
            .trim_end_matches(']')
            .to_owned();
        if host.is_empty() {
            return Err(refuse("it names no host"));
        }
        let has_port = authority
            .as_str()
            .rsplit(']')
            .next()
            .is_some_and(|rest| rest.contains(':'));
        let port = match (authority.port_u16(), has_port) {
            (Some(0), _) | (None, true) => return Err(refuse("the port must be 1 to 65535")),
            (Some(port), _) => port,
            (None, false) if tls => 443,
            (None, false) => 80,
        };
        Ok(Self {
            uri,
            tls,
            host,
            port,
        })
    }

    /// What goes into `:authority` and `host`.
    pub(crate) fn authority(&self) -> &str {
        self.uri
            .authority()
            .map_or("", |authority| authority.as_str())
    }

    /// What goes into `:path`.
    pub(crate) fn path(&self) -> &str {
        self.uri.path_and_query().map_or("/", |path| path.as_str())
    }
}

/// `name: value` as curl takes it.
pub(crate) fn field(line: &str) -> Result<(String, String), Failure> {
    let refuse = |why: &str| Failure::usage(format_args!("-H {line:?}: {why}"));
    let (name, value) = line
        .split_once(':')
        .ok_or_else(|| refuse("write it as 'name: value'"))?;
    let name = http::HeaderName::from_bytes(name.trim().as_bytes())
        .map_err(|_| refuse("the name has a character that a field name cannot have"))?;
    let value = value.trim();
    http::HeaderValue::from_str(value).map_err(|_| refuse("the value has a control character"))?;
    Ok((name.as_str().to_owned(), value.to_owned()))
}

#[cfg(test)]
#[path = "target_test.rs"]
mod target_test;
