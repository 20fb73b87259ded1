//! The origin of a request: the pool's key, from its URL and the client's settings.

use super::Settings;
use super::url;
use crate::error::Error;
use crate::tunnel::upgrade::Protocol;
use http::Method;
use http::request::Parts;
use http::uri::{Authority, Scheme as SchemeText, Uri};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use trunkline_core::pool::{Origin, Protocols, Scheme};

/// The origins of the last few requests by the text of their URLs: nearly every request goes where
/// one has just gone, and making an origin allocates.
#[derive(Debug, Default)]
pub(in crate::client) struct RecentOrigins {
    entries: Mutex<VecDeque<RecentOrigin>>,
}

#[derive(Debug)]
struct RecentOrigin {
    scheme: SchemeText,
    authority: Authority,
    /// Its requests are gRPC's.
    is_grpc: bool,
    /// Scheme and authority stand in a URL as they are sent.
    is_plain: bool,
    origin: Arc<Origin>,
}

/// The versions to offer without HTTP/1.1.
fn multiplexed_among(protocols: Protocols, scheme: Scheme) -> Protocols {
    match (protocols, scheme) {
        (Protocols::H2AndH1, _) | (Protocols::All, Scheme::Http) => Protocols::H2Only,
        (other, _) => other,
    }
}

impl RecentOrigins {
    /// The origin of a request, perhaps from before. `is_grpc`: as of [`any_origin_of`].
    pub(in crate::client) fn find(
        &self,
        parts: &Parts,
        is_grpc: bool,
        settings: &Settings,
    ) -> Result<Arc<Origin>, Error> {
        let of_uri = parts.uri.scheme().zip(parts.uri.authority());
        let Some((scheme, authority)) = of_uri.filter(|_| parts.method != Method::CONNECT) else {
            return any_origin_of(parts, is_grpc, settings).map(Arc::new);
        };
        // No code panics while it holds the lock.
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let is = |entry: &&RecentOrigin| {
            // The comparison without case goes byte by byte.
            let (theirs, ours) = (entry.authority.as_str(), authority.as_str());
            let is_same = theirs.len() == ours.len() && (theirs == ours || entry.authority == ours);
            is_same && entry.scheme == *scheme && entry.is_grpc == is_grpc
        };
        if let Some(entry) = entries.iter().find(is) {
            return Ok(Arc::clone(&entry.origin));
        }
        let origin = Arc::new(any_origin_of(parts, is_grpc, settings)?);
        if entries.len() == RECENT_ORIGINS_MAX {
            entries.pop_front();
        }
        entries.push_back(RecentOrigin {
            scheme: scheme.clone(),
            authority: authority.clone(),
            is_grpc,
            is_plain: url::is_plain(&format!("{scheme}://{authority}/")),
            origin: Arc::clone(&origin),
        });
        Ok(origin)
    }
    /// The URI of a URL at one of these origins, if all of it is sent as it is: a URL of an origin that was asked
    /// before is parsed from its path on. `None`: it has to be parsed whole.
    pub(in crate::client) fn uri_of(&self, url: &str) -> Option<Uri> {
        let (scheme, authority, target) = {
            // No code panics while it holds the lock.
            let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            let mut plain = entries.iter().filter(|entry| entry.is_plain);
            plain.find_map(|entry| {
                let rest = url.strip_prefix(entry.scheme.as_str())?;
                let rest = rest.strip_prefix("://")?;
                let target = rest.strip_prefix(entry.authority.as_str())?;
                let is_path = target.starts_with('/');
                is_path.then(|| (entry.scheme.clone(), entry.authority.clone(), target))
            })?
        };
        url::uri_at(scheme, authority, target)
    }
}

/// Few enough to compare with all of them.
const RECENT_ORIGINS_MAX: usize = 8;

/// The pool's key for a request.
pub(in crate::client) fn origin_of(parts: &Parts, settings: &Settings) -> Result<Origin, Error> {
    any_origin_of(parts, false, settings)
}

/// As [`origin_of`]. `is_grpc`: it needs HTTP/2 or HTTP/3. Where the client offers HTTP/1.1 beside them, such requests
/// go over connections of their own without it, and to `http` URLs by HTTP/2 with prior knowledge.
fn any_origin_of(parts: &Parts, is_grpc: bool, settings: &Settings) -> Result<Origin, Error> {
    let uri = &parts.uri;
    if parts.method == Method::CONNECT && parts.extensions.get::<Protocol>().is_none() {
        return Err(Error::config(
            "the method is CONNECT, and no upgrade::Protocol among the request's extensions says \
             what for; without it a client sends CONNECT to proxies only, by itself",
        ));
    }
    let scheme = match uri.scheme_str() {
        Some("http") => Scheme::Http,
        Some("https") => Scheme::Https,
        Some(other) => {
            let text = format!("the URL {uri} has the scheme {other}; it must be http or https");
            // One with a password before its host is repeated nowhere.
            let has_credentials = uri.authority().is_some_and(|it| it.as_str().contains('@'));
            return Err(Error::config(text).with_url_of((!has_credentials).then_some(uri)));
        }
        None => {
            return Err(Error::config(format!(
                "the URL {uri} has no scheme; it must begin with http:// or https://"
            )));
        }
    };
    let authority = uri.authority().map_or("", |authority| authority.as_str());
    if authority.contains('@') {
        // RFC 9110 section 4.2.4: not in http and https URLs. The credentials are not repeated.
        return Err(Error::config(
            "the URL has credentials before its host; they belong in an authorization field",
        ));
    }
    let host = uri.host().unwrap_or_default();
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if host.is_empty() {
        return Err(Error::config(format!("the URL {uri} has no host")));
    }
    let port = match uri.port() {
        None if authority.ends_with(':') => scheme.default_port(),
        None if authority
            .rsplit_once(':')
            .is_some_and(|(_, port)| !port.ends_with(']') && port.parse::<u16>().is_err()) =>
        {
            return Err(Error::config(format!(
                "the URL {uri} has no usable port; it must be from 1 to 65535"
            )));
        }
        None => scheme.default_port(),
        Some(port) => port.as_u16(),
    };
    if port == 0 {
        return Err(Error::config(format!(
            "the URL {uri} has the port 0; it must be from 1 to 65535"
        )));
    }
    let protocols = match is_grpc {
        true => multiplexed_among(settings.protocols, scheme),
        false => settings.protocols,
    };
    let mut origin = Origin::new(scheme, host, port, protocols);
    settings.route.complete(&mut origin);
    Ok(origin)
}

#[cfg(test)]
#[path = "origin_test.rs"]
mod origin_test;
