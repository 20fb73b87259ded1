//! Redirects (RFC 9110 section 15.4): whether one is followed, and the request that follows it. The method
//! changes as browsers change it (the fetch standard, "HTTP-redirect fetch").

use crate::client::settings::url::joined;
use crate::error::{Error, ErrorKind, Fault, Retry};
use http::header::{
    AUTHORIZATION, CONTENT_ENCODING, CONTENT_LANGUAGE, CONTENT_LENGTH, CONTENT_LOCATION,
    CONTENT_TYPE, COOKIE, HOST, HeaderMap, HeaderName, LOCATION, PROXY_AUTHORIZATION,
    TRANSFER_ENCODING, WWW_AUTHENTICATE,
};
use http::request::Parts;
use http::{Method, StatusCode, Uri};
use percent_encoding::{CONTROLS, percent_encode};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Redirects that are followed for one request unless a policy says another number.
const REDIRECTS_MAX: usize = 10;

/// Which redirects a client follows. Default: [`limited(10)`](Self::limited).
///
/// Followed are 301, 302, 303, 307 and 308 with a `location`. After 303 the request is a GET (a HEAD
/// stays one), and so is a POST after 301 and 302; its body and the fields about it are dropped. Every other
/// request keeps its method and body; where the body streams and cannot be sent again, the redirect itself
/// is the response. On the way to another origin (scheme, host, port) `authorization`,
/// `cookie`, `proxy-authorization`, `www-authenticate` and `host` are dropped, and stay dropped.
#[derive(Clone)]
pub struct RedirectPolicy(Rule);

#[derive(Clone)]
enum Rule {
    None,
    Limited(usize),
    Custom(Arc<dyn Fn(&RedirectAttempt<'_>) -> RedirectAction + Send + Sync>),
}

/// A redirect that a [custom policy](RedirectPolicy::custom) decides on.
#[derive(Debug)]
#[non_exhaustive]
pub struct RedirectAttempt<'a> {
    /// The status of the redirect.
    pub status: StatusCode,
    /// The URL that it leads to. Its scheme may be another than `http` and `https`, as of an app that a login ends in: that can
    /// be the end of the chain ([`RedirectAction::Stop`]) and is an error if it is to be followed.
    pub next: &'a Uri,
    /// The URLs that were requested, in order: the first is the request's own.
    pub previous: &'a [Uri],
}

/// The decision on a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RedirectAction {
    /// The next URL is requested.
    Follow,
    /// The redirect is the response.
    Stop,
    /// The request fails with [`ErrorKind::Redirect`].
    Fail,
}

impl Default for RedirectPolicy {
    fn default() -> Self {
        Self::limited(REDIRECTS_MAX)
    }
}

impl RedirectPolicy {
    /// Follows up to `max` redirects of one request; one more is an error of kind
    /// [`ErrorKind::Redirect`].
    pub fn limited(max: usize) -> Self {
        Self(Rule::Limited(max))
    }
    /// Follows none: a redirect is the response.
    pub fn none() -> Self {
        Self(Rule::None)
    }
    /// Asks a function of yours. It bounds their number itself: `attempt.previous` has them.
    ///
    /// ```
    /// use trunkline::client::{RedirectAction, RedirectPolicy};
    ///
    /// // Only on the same host, five at most.
    /// let policy = RedirectPolicy::custom(|attempt| match attempt.previous {
    ///     [first, ..] if attempt.next.host() != first.host() => RedirectAction::Stop,
    ///     [_, _, _, _, _, _, ..] => RedirectAction::Fail,
    ///     _ => RedirectAction::Follow,
    /// });
    /// let client = trunkline::Client::builder().redirect(policy).build()?;
    /// # Ok::<(), trunkline::Error>(())
    /// ```
    pub fn custom(
        decide: impl Fn(&RedirectAttempt<'_>) -> RedirectAction + Send + Sync + 'static,
    ) -> Self {
        Self(Rule::Custom(Arc::new(decide)))
    }
    /// Whether redirects are looked at.
    pub(in crate::client) fn follows(&self) -> bool {
        !matches!(self.0, Rule::None)
    }
    fn decide(&self, attempt: &RedirectAttempt<'_>) -> RedirectAction {
        match &self.0 {
            Rule::None => RedirectAction::Stop,
            Rule::Limited(max) if attempt.previous.len() > *max => RedirectAction::Fail,
            Rule::Limited(_) => RedirectAction::Follow,
            Rule::Custom(decide) => decide(attempt),
        }
    }
}

impl fmt::Debug for RedirectPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Rule::None => f.write_str("RedirectPolicy::none()"),
            Rule::Limited(max) => write!(f, "RedirectPolicy::limited({max})"),
            Rule::Custom(_) => f.write_str("RedirectPolicy::custom(..)"),
        }
    }
}

/// The request that follows a redirect.
#[derive(Debug)]
pub(in crate::client) struct Redirected {
    uri: Uri,
    method: Method,
    keeps_body: bool,
    leaves_origin: bool,
}

impl Redirected {
    /// The redirect that a response is; `None`: it is none, or is not to be followed. `previous`: the
    /// URLs that were requested, that of `parts` last. `repeats_body`: the body can be sent again, or
    /// there is none.
    ///
    /// # Errors
    /// [`ErrorKind::Redirect`]: too many, or to what cannot be requested.
    pub(in crate::client) fn of(
        policy: &RedirectPolicy,
        parts: &Parts,
        previous: &[Uri],
        (status, headers): (StatusCode, &HeaderMap),
        repeats_body: bool,
    ) -> Result<Option<Self>, Error> {
        let Some(location) = location(status, headers).filter(|_| policy.follows()) else {
            return Ok(None);
        };
        let (method, keeps_body) = next_method(status, &parts.method);
        if keeps_body && !repeats_body {
            return Ok(None);
        }
        let next = resolve(&parts.uri, location)?;
        let attempt = RedirectAttempt {
            status,
            next: &next,
            previous,
        };
        match policy.decide(&attempt) {
            RedirectAction::Stop => return Ok(None),
            RedirectAction::Fail => {
                let before = previous.len().saturating_sub(1);
                return Err(refuse(format!(
                    "the redirect to {next} is not followed: there were {before} before it"
                )));
            }
            RedirectAction::Follow if !next.scheme_str().is_some_and(is_http) => {
                return Err(refuse(format!(
                    "the redirect to {next} is not followed: {SCHEMES}"
                )));
            }
            RedirectAction::Follow => {}
        }
        let leaves_origin = origin(&parts.uri) != origin(&next);
        Ok(Some(Self {
            uri: next,
            method,
            keeps_body,
            leaves_origin,
        }))
    }
    /// Makes the request the next one. Whether it still has its body.
    pub(in crate::client) fn apply(self, parts: &mut Parts) -> bool {
        let headers = &mut parts.headers;
        if !self.keeps_body {
            for name in OF_BODY {
                headers.remove(name);
            }
        }
        if self.leaves_origin {
            for name in OF_ORIGIN {
                headers.remove(name);
            }
        }
        parts.method = self.method;
        parts.uri = self.uri;
        self.keeps_body
    }
}

/// About a body that is not sent again.
const OF_BODY: [HeaderName; 6] = [
    CONTENT_ENCODING,
    CONTENT_LANGUAGE,
    CONTENT_LENGTH,
    CONTENT_LOCATION,
    CONTENT_TYPE,
    TRANSFER_ENCODING,
];
/// Meant for one origin, credentials above all.
const OF_ORIGIN: [HeaderName; 6] = [
    AUTHORIZATION,
    COOKIE,
    HeaderName::from_static("cookie2"),
    HOST,
    PROXY_AUTHORIZATION,
    WWW_AUTHENTICATE,
];

fn location(status: StatusCode, headers: &HeaderMap) -> Option<&[u8]> {
    let leads_on = matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308);
    let location = headers.get(LOCATION).filter(|_| leads_on)?;
    Some(location.as_bytes())
}

/// The method of the next request, and whether it has the body of this one.
fn next_method(status: StatusCode, method: &Method) -> (Method, bool) {
    let becomes_get = match status.as_u16() {
        303 => method != Method::GET && method != Method::HEAD,
        301 | 302 => method == Method::POST,
        _ => false,
    };
    match becomes_get {
        true => (Method::GET, false),
        false => (method.clone(), true),
    }
}

/// The URL of a `location`, relative to the one that was requested (RFC 3986 section 5). Its fragment is not
/// sent.
fn resolve(base: &Uri, location: &[u8]) -> Result<Uri, Error> {
    // Bytes of another charset stay what they are, as in browsers: a replacement character would be another path.
    let text = match str::from_utf8(location) {
        Ok(text) => Cow::from(text),
        Err(_) => Cow::from(percent_encode(location, CONTROLS)),
    };
    let unusable = |why: &str| refuse(format!("the redirect to {text:?} is not followed: {why}"));
    let next = joined(&base.to_string(), &text)
        .map_err(|error| unusable("it cannot be parsed as a URL").with_source(error))?;
    // `data:`, `mailto:` and others that have no host.
    let Some((scheme, behind)) = next.split_once("://") else {
        return Err(unusable(SCHEMES));
    };
    let authority = behind.split(['/', '?']).next().unwrap_or(behind);
    if authority.contains('@') {
        // RFC 9110 section 4.2.4: not in http and https URLs. They are not repeated.
        return Err(refuse(
            "a redirect has credentials before its host; it is not followed",
        ));
    }
    let uri = next.parse::<Uri>();
    uri.map_err(|error| match is_http(scheme) {
        true => unusable("it cannot be parsed as a URI, or is too long").with_source(error),
        false => unusable(SCHEMES),
    })
}

const SCHEMES: &str = "its scheme must be http or https";

fn is_http(scheme: &str) -> bool {
    matches!(scheme, "http" | "https")
}

/// The server's doing, and it would do so again.
fn refuse(text: impl Into<String>) -> Error {
    Error::new(ErrorKind::Redirect, Fault::Peer, Retry::Never).with_text(text)
}

/// Scheme, host and port (RFC 6454 section 4).
fn origin(uri: &Uri) -> (Option<&str>, Option<String>, Option<u16>) {
    let port = uri.port_u16().or(match uri.scheme_str() {
        Some("http") => Some(80),
        Some("https") => Some(443),
        _ => None,
    });
    let host = uri.host().map(str::to_ascii_lowercase);
    (uri.scheme_str(), host, port)
}

#[cfg(test)]
#[path = "redirect_test.rs"]
mod redirect_test;
