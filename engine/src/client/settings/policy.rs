//! Settings of a client that apply to every request and response: fields that each request gets,
//! cookies, redirects, retries, decompression. Pure of connections: `request/follow_up.rs` sends.

#[cfg(feature = "cookies")]
pub(in crate::client) mod cookies;
#[cfg(feature = "decompression")]
pub(in crate::client) mod decompression;
pub(in crate::client) mod redirect;
pub(in crate::client) mod retry;

use crate::body::Body;
use crate::error::Error;
use http::header::{HeaderMap, HeaderValue, USER_AGENT};
use http::request::Parts;
use http::uri::Scheme;
use http::{Method, Response, Uri};
use redirect::RedirectPolicy;
use retry::Retries;

/// The settings of a client that are about whole exchanges.
#[derive(Debug, Default)]
pub(in crate::client) struct Policies {
    /// Fields of every request that does not have them itself.
    pub(in crate::client) fields: HeaderMap,
    pub(in crate::client) redirects: RedirectPolicy,
    pub(in crate::client) retries: Option<Retries>,
    #[cfg(feature = "cookies")]
    pub(in crate::client) cookies: Option<std::sync::Arc<dyn cookies::CookieStore>>,
    /// Whether responses are decompressed; only with the feature `decompression`.
    pub(in crate::client) decompresses: bool,
    /// Requests for `http` URLs are refused.
    pub(in crate::client) https_only: bool,
    /// The first setting that cannot be used.
    refused: Option<Error>,
}

/// As the specification of gRPC over HTTP/2 has it ("User-Agents"): the language, a variant and its version.
const GRPC_USER_AGENT: &str = concat!("grpc-rust-trunkline/", env!("CARGO_PKG_VERSION"));

/// The fields that were added to a request for one hop.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::client) struct Added {
    /// The `cookie` field is the store's.
    pub(in crate::client) cookie: bool,
}

impl Policies {
    pub(in crate::client) fn new() -> Self {
        Self {
            decompresses: cfg!(feature = "decompression"),
            ..Self::default()
        }
    }
    pub(in crate::client) fn set_user_agent(&mut self, value: &str) {
        match HeaderValue::from_str(value) {
            Ok(value) => {
                self.fields.insert(USER_AGENT, value);
            }
            Err(_) => self.refuse(Error::config(format!(
                "user_agent is {value:?}; it must be visible ASCII and spaces"
            ))),
        }
    }
    /// Keeps the first error for `build`.
    pub(in crate::client) fn refuse(&mut self, error: Error) {
        self.refused.get_or_insert(error);
    }
    /// The first setting that cannot be used.
    pub(in crate::client) fn check(&mut self) -> Result<(), Error> {
        if self.decompresses && !cfg!(feature = "decompression") {
            return Err(Error::config(
                "decompression is true, and the crate was built without its feature decompression",
            ));
        }
        self.refused.take().map_or(Ok(()), Err)
    }
    /// Whether the scheme of `uri` is allowed.
    pub(in crate::client) fn check_scheme(&self, uri: &Uri) -> Result<(), Error> {
        match self.https_only && uri.scheme() != Some(&Scheme::HTTPS) {
            true => Err(Error::config(format!(
                "the URL {uri} is not requested: https_only allows https URLs alone"
            ))
            .with_url(uri)),
            false => Ok(()),
        }
    }
    /// Whether something is done with the response to a request of this method. `grpc`: a call is led nowhere else, and
    /// its messages are compressed each by itself.
    pub(in crate::client) fn concern(&self, method: &Method, grpc: bool) -> bool {
        // The response to a CONNECT has no content, and leads nowhere else.
        method != Method::CONNECT
            && (self.retries.is_some()
                || self.has_cookies()
                || !grpc && (self.redirects.follows() || self.decompresses))
    }
    /// A request was sent for the first time.
    pub(in crate::client) fn note_sent(&self) {
        if let Some(retries) = &self.retries {
            retries.earn();
        }
    }
    /// Adds the client's fields to a request, once. `grpc`: as of [`concern`](Self::concern).
    pub(in crate::client) fn add_fields(&self, parts: &mut Parts, grpc: bool) {
        for name in self.fields.keys() {
            if !parts.headers.contains_key(name) {
                for value in self.fields.get_all(name) {
                    parts.headers.append(name, value.clone());
                }
            }
        }
        if grpc && !parts.headers.contains_key(USER_AGENT) {
            let agent = HeaderValue::from_static(GRPC_USER_AGENT);
            parts.headers.insert(USER_AGENT, agent);
        }
    }
    /// The `accept-encoding` that a request is sent with beside its own fields. `grpc`: as of [`concern`](Self::concern).
    pub(in crate::client) fn codings(&self, parts: &Parts, grpc: bool) -> Option<&'static str> {
        #[cfg(feature = "decompression")]
        if self.decompresses && parts.method != Method::CONNECT && !grpc {
            return decompression::asked(&parts.headers);
        }
        let _ = (parts, grpc);
        None
    }
    /// Adds what depends on the URL: for each hop.
    pub(in crate::client) fn add_cookies(&self, parts: &mut Parts) -> Added {
        #[cfg(feature = "cookies")]
        if let Some(store) = &self.cookies
            && !parts.headers.contains_key(http::header::COOKIE)
            && let Some(value) = store.cookies(&parts.uri)
        {
            parts.headers.insert(http::header::COOKIE, value);
            return Added { cookie: true };
        }
        #[cfg(not(feature = "cookies"))]
        let _ = parts;
        Added::default()
    }
    /// Keeps the cookies of a response to a request for `uri`.
    pub(in crate::client) fn keep_cookies(&self, uri: &Uri, response: &Response<Body>) {
        #[cfg(feature = "cookies")]
        if let Some(store) = &self.cookies {
            let mut values = response.headers().get_all(http::header::SET_COOKIE).iter();
            if values.size_hint().1 != Some(0) {
                store.set_cookies(&mut values, uri);
            }
        }
        #[cfg(not(feature = "cookies"))]
        let _ = (uri, response);
    }
    /// The response as its reader gets it.
    pub(in crate::client) fn decompress(
        &self,
        method: &Method,
        response: Response<Body>,
    ) -> Response<Body> {
        #[cfg(feature = "decompression")]
        if self.decompresses && method != Method::HEAD {
            return decompression::decompress(response);
        }
        let _ = method;
        response
    }
    fn has_cookies(&self) -> bool {
        #[cfg(feature = "cookies")]
        return self.cookies.is_some();
        #[cfg(not(feature = "cookies"))]
        return false;
    }
}
