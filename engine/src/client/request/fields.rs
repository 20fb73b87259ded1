//! Fields, queries and bodies of a request in the forms that programs have them in.

use super::RequestBuilder;
#[cfg(any(feature = "form", feature = "json"))]
use crate::body::Body;
use crate::error::Error;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
#[cfg(any(feature = "form", feature = "json"))]
use http::header::CONTENT_TYPE;
use http::header::{AUTHORIZATION, HeaderMap, HeaderValue};
use http::request::Parts;
use std::fmt::Display;

impl RequestBuilder {
    /// Sets these fields: a name that the request has already is replaced, with all its values.
    pub fn headers(mut self, headers: HeaderMap) -> Self {
        if let Ok(parts) = &mut self.parts {
            for name in headers.keys() {
                parts.headers.remove(name);
            }
            for name in headers.keys() {
                for value in headers.get_all(name) {
                    parts.headers.append(name, value.clone());
                }
            }
        }
        self
    }
    /// An `authorization` of the scheme Basic (RFC 7617), UTF-8. It is kept out of compression tables.
    pub fn basic_auth(self, user: impl Display, password: Option<impl Display>) -> Self {
        let password = password.map_or_else(String::new, |text| text.to_string());
        let credentials = BASE64_STANDARD.encode(format!("{user}:{password}"));
        self.authorization(&format!("Basic {credentials}"))
    }
    /// An `authorization` of the scheme Bearer (RFC 6750). It is kept out of compression tables.
    pub fn bearer_auth(self, token: impl Display) -> Self {
        self.authorization(&format!("Bearer {token}"))
    }
    /// Adds pairs to the URL's query, percent-encoded as a form's: serde's maps, structs and
    /// sequences of pairs. Values that are not text or numbers are an error of `send`.
    #[cfg(feature = "form")]
    pub fn query(self, pairs: &(impl serde::Serialize + ?Sized)) -> Self {
        self.with_parts(|parts| {
            let query = serde_urlencoded::to_string(pairs).map_err(|error| {
                Error::config("the query is not a list of pairs of texts").with_source(error)
            })?;
            if query.is_empty() {
                return Ok(());
            }
            let target = parts.uri.path_and_query();
            let joined = match target.map_or("/", |target| target.as_str()) {
                target if target.ends_with('?') => format!("{target}{query}"),
                target if target.contains('?') => format!("{target}&{query}"),
                target => format!("{target}?{query}"),
            };
            let mut uri = parts.uri.clone().into_parts();
            let target = joined.parse().map_err(|error| {
                Error::config(format!("the target {joined:?} is too long")).with_source(error)
            })?;
            uri.path_and_query = Some(target);
            parts.uri = http::Uri::from_parts(uri).map_err(|error| {
                Error::config("a query is for a URL with a scheme and a host").with_source(error)
            })?;
            Ok(())
        })
    }
    /// The body as a form, `application/x-www-form-urlencoded`: serde's maps, structs and sequences of
    /// pairs. Values that are not text or numbers are an error of `send`.
    #[cfg(feature = "form")]
    pub fn form(mut self, pairs: &(impl serde::Serialize + ?Sized)) -> Self {
        let text = serde_urlencoded::to_string(pairs);
        self = self.with_parts(|parts| match &text {
            Ok(_) => {
                typed(parts, "application/x-www-form-urlencoded");
                Ok(())
            }
            Err(error) => Err(Error::config(format!(
                "the form is not a list of pairs of texts: {error}"
            ))),
        });
        self.body = Body::full(text.unwrap_or_default());
        self
    }
    /// The body as JSON, `application/json` unless the request says another type. A value that has no
    /// JSON is an error of `send`.
    #[cfg(feature = "json")]
    pub fn json(mut self, value: &(impl serde::Serialize + ?Sized)) -> Self {
        let text = serde_json::to_vec(value);
        self = self.with_parts(|parts| match &text {
            Ok(_) => {
                typed(parts, "application/json");
                Ok(())
            }
            Err(error) => Err(Error::config(format!("the body has no JSON: {error}"))),
        });
        self.body = Body::full(text.unwrap_or_default());
        self
    }

    fn authorization(self, value: &str) -> Self {
        self.with_parts(|parts| {
            let mut value = HeaderValue::from_str(value).map_err(|_| {
                Error::config("the credentials have a character that a field cannot have")
            })?;
            value.set_sensitive(true);
            parts.headers.insert(AUTHORIZATION, value);
            Ok(())
        })
    }
    fn with_parts(mut self, change: impl FnOnce(&mut Parts) -> Result<(), Error>) -> Self {
        self.parts = self
            .parts
            .and_then(|mut parts| change(&mut parts).map(|()| parts));
        self
    }
}

/// Sets the type of the content unless the request has one.
#[cfg(any(feature = "form", feature = "json"))]
fn typed(parts: &mut Parts, media_type: &'static str) {
    let value = HeaderValue::from_static(media_type);
    parts.headers.entry(CONTENT_TYPE).or_insert(value);
}
