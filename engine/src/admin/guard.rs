//! Refuses requests to the admin address without its token where it has one, those for a name that another site has resolved
//! to loopback, and those that another site's page makes.

use super::TOKEN_CHARACTERS_MIN;
use crate::error::Error;
use aws_lc_rs::constant_time::verify_slices_are_equal;
use http::header::{AUTHORIZATION, HOST, HeaderName, ORIGIN};
use http::{HeaderMap, Request};
use std::fmt::Write as _;
use std::net::IpAddr;

/// The field with the page's own secret, which a form or a page of another site cannot send without a preflight that is
/// never allowed.
pub(super) const PAGE_SECRET: HeaderName = HeaderName::from_static("trunkline-page");
const SEC_FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");

/// The checks of an admin address.
#[derive(Debug)]
pub(super) struct Guard {
    token: Option<String>,
    /// Without a token a page in a browser of this machine could reach it by a name of its own.
    checks_host: bool,
    /// In the state, which pages of other sites cannot read; asked for with each action.
    page_secret: String,
}

impl Guard {
    pub(super) fn new(token: Option<String>, is_port: bool) -> Result<Self, Error> {
        let mut random = [0; TOKEN_CHARACTERS_MIN];
        aws_lc_rs::rand::fill(&mut random)
            .map_err(|_| Error::config("the system gives no random bytes"))?;
        let mut page_secret = String::new();
        for byte in random {
            // Writing to a text does not fail.
            let _ = write!(page_secret, "{byte:02x}");
        }
        Ok(Self {
            checks_host: token.is_none() && is_port,
            token,
            page_secret,
        })
    }
    pub(super) fn page_secret(&self) -> &str {
        &self.page_secret
    }
    /// Whether the request names an address or `localhost`, where it must.
    pub(super) fn admits_host<B>(&self, request: &Request<B>) -> bool {
        !self.checks_host || is_local_host(request)
    }
    /// Whether the reader has the token, where there is one.
    pub(super) fn admits_reader(&self, headers: &HeaderMap) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let given = headers
            .get(AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        given.is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case("bearer") && is_same(given.trim(), token)
        })
    }
    /// Whether the request was made by this page, or by a program that has read the state.
    pub(super) fn admits_action(&self, headers: &HeaderMap) -> bool {
        let text = |name| {
            headers
                .get(name)
                .map(|value: &http::HeaderValue| value.to_str().unwrap_or("?"))
        };
        let is_own_site = text(SEC_FETCH_SITE).is_none_or(|site| site == "same-origin");
        let is_own_origin = text(ORIGIN).is_none_or(|origin| {
            let authority = origin.split_once("://").map(|(_, authority)| authority);
            authority.is_some() && authority == text(HOST)
        });
        let has_secret = text(PAGE_SECRET).is_some_and(|given| is_same(given, &self.page_secret));
        is_own_site && is_own_origin && has_secret
    }
}

/// In a time that does not depend on where two texts of one length differ.
fn is_same(given: &str, expected: &str) -> bool {
    verify_slices_are_equal(given.as_bytes(), expected.as_bytes()).is_ok()
}

/// Whether the request names an address or `localhost`: a page of another site that has its own name resolve to
/// loopback names neither.
fn is_local_host<B>(request: &Request<B>) -> bool {
    let field = request.headers().get(HOST);
    let field = field.and_then(|value| value.to_str().ok());
    let authority = request.uri().authority();
    let Some(host) = authority.map(|it| it.as_str()).or(field) else {
        return true;
    };
    let name = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    })
}

#[cfg(test)]
#[path = "guard_test.rs"]
mod guard_test;
