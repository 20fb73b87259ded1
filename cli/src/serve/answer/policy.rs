//! Flags about every response: credentials that are asked for, fields that are added, other origins that
//! may read.

use super::{SiteBody, plain};
use crate::failure::Failure;
use crate::serve::ServeOptions;
use crate::target;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS,
    ACCESS_CONTROL_REQUEST_METHOD, AUTHORIZATION, CACHE_CONTROL, HeaderName, HeaderValue, ORIGIN,
    VARY, WWW_AUTHENTICATE,
};
use http::{HeaderMap, Method, Request, Response, StatusCode};

/// How long browsers may remember the answer to a preflight request: Chromium's bound.
const PREFLIGHT_SECONDS: &str = "7200";

/// The changes to every response.
#[derive(Debug, Default)]
pub(crate) struct AnswerPolicy {
    fields: Vec<(HeaderName, HeaderValue)>,
    /// The origin that may read responses; `*` for every one.
    cors: Option<HeaderValue>,
    /// The credentials that a request must have, as in its `authorization` behind `Basic `.
    credentials: Option<String>,
}

impl AnswerPolicy {
    pub(crate) fn of(options: &ServeOptions) -> Result<Self, Failure> {
        let value = |flag: &str, text: &str| {
            let value = HeaderValue::from_str(text);
            value.map_err(|_| {
                Failure::usage(format_args!("{flag} {text:?} has a control character"))
            })
        };
        let fields = options.headers.iter().map(|line| target::field(line));
        let mut fields = fields.collect::<Result<Vec<_>, _>>()?;
        if let Some(text) = &options.cache_control {
            fields.push((CACHE_CONTROL, value("--cache-control", text)?));
        }
        let cors = options.cors.as_deref();
        let credentials = options.auth.as_deref();
        if credentials.is_some_and(|pair| !pair.contains(':')) {
            return Err(Failure::usage("--auth must be user:password"));
        }
        Ok(Self {
            fields,
            cors: cors.map(|text| value("--cors", text)).transpose()?,
            credentials: credentials.map(|pair| BASE64_STANDARD.encode(pair)),
        })
    }

    /// Responses stay as they are.
    pub(crate) fn is_nothing(&self) -> bool {
        self.fields.is_empty() && self.cors.is_none() && self.credentials.is_none()
    }

    /// The response to a request that no file answers: one without its credentials, and a preflight
    /// request, which browsers send without them.
    pub(crate) fn answer<B>(&self, request: &Request<B>) -> Option<Response<SiteBody<B>>> {
        let headers = request.headers();
        if self.cors.is_some()
            && request.method() == Method::OPTIONS
            && headers.contains_key(ORIGIN)
            && headers.contains_key(ACCESS_CONTROL_REQUEST_METHOD)
        {
            return Some(preflight(headers));
        }
        let expected = self.credentials.as_deref()?;
        if basic(headers).is_some_and(|given| is_same(given, expected)) {
            return None;
        }
        let mut response = plain(StatusCode::UNAUTHORIZED, "credentials are needed\n");
        let challenge = HeaderValue::from_static("Basic realm=\"files\", charset=\"UTF-8\"");
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
        Some(response)
    }

    /// Adds the fields. One that is named replaces the server's own.
    pub(crate) fn finish(&self, headers: &mut HeaderMap) {
        if let Some(origin) = &self.cors {
            headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin.clone());
            let all = HeaderValue::from_static("*");
            headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, all);
            if origin != "*" {
                headers.append(VARY, HeaderValue::from_static("origin"));
            }
        }
        for (name, _) in &self.fields {
            headers.remove(name);
        }
        for (name, value) in &self.fields {
            headers.append(name, value.clone());
        }
    }
}

/// The fetch standard, "CORS-preflight request".
fn preflight<B>(asked: &HeaderMap) -> Response<SiteBody<B>> {
    let mut response = Response::new(SiteBody::text(""));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    let methods = HeaderValue::from_static("GET, HEAD, OPTIONS");
    headers.insert(ACCESS_CONTROL_ALLOW_METHODS, methods);
    if let Some(names) = asked.get(ACCESS_CONTROL_REQUEST_HEADERS) {
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, names.clone());
    }
    let age = HeaderValue::from_static(PREFLIGHT_SECONDS);
    headers.insert(ACCESS_CONTROL_MAX_AGE, age);
    response
}

/// The credentials of the scheme Basic (RFC 7617), still encoded.
fn basic(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(AUTHORIZATION)?.to_str().ok()?;
    let (scheme, credentials) = value.split_once(' ')?;
    let credentials = credentials.trim_start();
    scheme.eq_ignore_ascii_case("basic").then_some(credentials)
}

/// In a time that does not depend on where they differ, so that it does not reveal a password byte by byte.
fn is_same(given: &str, expected: &str) -> bool {
    verify_slices_are_equal(given.as_bytes(), expected.as_bytes()).is_ok()
}

#[cfg(test)]
#[path = "policy_test.rs"]
mod policy_test;
