//! Proxies from the environment, by the variables that reqwest reads:
//!
//! | for | variables, the first that is set and not empty |
//! |---|---|
//! | `http` origins | `http_proxy`, `HTTP_PROXY`, `all_proxy`, `ALL_PROXY` |
//! | `https` origins | `https_proxy`, `HTTPS_PROXY`, `all_proxy`, `ALL_PROXY` |
//! | exceptions | `no_proxy`, `NO_PROXY` |
//!
//! `HTTP_PROXY` is not read in a CGI program, which `REQUEST_METHOD` shows (RFC 3875 section 4.1.12): there it
//! is what a request's `proxy` field becomes (section 4.1.18), so that any client could choose the proxy
//! (CVE-2016-5385).

use super::bypass::Bypass;
use super::{Proxies, Proxy};
use crate::error::Error;
use std::ffi::OsString;
use std::sync::Arc;

/// Reads the variables through `variable`.
pub(in crate::client) fn proxies(
    variable: impl Fn(&str) -> Option<OsString>,
) -> Result<Proxies, Error> {
    let first = |names: &[&'static str]| -> Result<Option<(&'static str, String)>, Error> {
        for &name in names {
            let Some(value) = variable(name).filter(|value| !value.is_empty()) else {
                continue;
            };
            let value = value.into_string().map_err(|value| {
                Error::config(format!("{name}: {value:?} is not text in UTF-8"))
            })?;
            return Ok(Some((name, value)));
        }
        Ok(None)
    };
    let proxy = |names: &[&'static str]| -> Result<Option<Arc<Proxy>>, Error> {
        first(names)?
            .map(|(name, url)| Proxy::parse(name, &url).map(Arc::new))
            .transpose()
    };
    let bypass = first(&["no_proxy", "NO_PROXY"])?
        .map(|(name, list)| Bypass::parse(name, &list))
        .transpose()?;
    let for_http: &[&'static str] = match variable("REQUEST_METHOD") {
        None => &["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"],
        Some(_) => &["http_proxy", "all_proxy", "ALL_PROXY"],
    };
    Ok(Proxies {
        for_http: proxy(for_http)?,
        for_https: proxy(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"])?,
        bypass: bypass.unwrap_or_default(),
        ..Proxies::default()
    })
}
