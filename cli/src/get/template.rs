//! The request that the flags make: its method, fields and body.

use super::form::{self, FormPart};
use super::{CODINGS, GetOptions, credentials};
use crate::failure::Failure;
use crate::target;
use base64::prelude::{BASE64_STANDARD, Engine as _};
use bytes::{Bytes, BytesMut};
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_TYPE, COOKIE, RANGE, USER_AGENT,
};
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use std::io::{self, Read};
use trunkline::Body;
use trunkline::client::Client;

const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The request without its URL: what a redirect repeats.
#[derive(Clone)]
pub(super) struct RequestTemplate {
    method: Method,
    fields: HeaderMap,
    body: Bytes,
    /// The body, if it is a form: read anew for each request.
    form: Vec<FormPart>,
}

impl RequestTemplate {
    pub(super) fn of(options: &GetOptions) -> Result<Self, Failure> {
        let body = body(options)?;
        let method = match &options.method {
            Some(name) => Method::from_bytes(name.as_bytes())
                .map_err(|_| Failure::usage(format_args!("-X {name:?} is not a method")))?,
            None if options.head => Method::HEAD,
            None if body.is_some() || !options.form.is_empty() => Method::POST,
            None => Method::GET,
        };
        let mut fields = HeaderMap::new();
        for line in &options.headers {
            let (name, value) = target::field(line)?;
            let valid = "checked by target::field";
            fields.append(
                HeaderName::try_from(name).expect(valid),
                HeaderValue::try_from(value).expect(valid),
            );
        }
        for (name, value) in printed(options)? {
            fields.entry(name).or_insert(value);
        }
        let agent = HeaderValue::from_static(concat!("trunkline/", env!("CARGO_PKG_VERSION")));
        fields.entry(USER_AGENT).or_insert(agent);
        // A range is one of the bytes as they come (RFC 9110 section 14.1): a part of a compressed body
        // does not decode.
        if !options.raw && options.continue_at.is_none() && !fields.contains_key(RANGE) {
            fields.entry(ACCEPT_ENCODING).or_insert(CODINGS);
        }
        Ok(Self {
            method,
            fields,
            body: body.unwrap_or_default(),
            form: options
                .form
                .iter()
                .map(|part| FormPart::parse(part))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Asks for the bytes from this offset on.
    pub(super) fn start_at(&mut self, from: u64) {
        if from > 0 {
            let range = HeaderValue::try_from(format!("bytes={from}-"));
            self.fields.insert(RANGE, range.expect("digits"));
        }
    }

    pub(super) async fn request(
        &self,
        client: &Client,
        uri: &Uri,
    ) -> Result<Request<Body>, Failure> {
        let mut request = match self.form.as_slice() {
            [] => Request::new(match self.body.is_empty() {
                true => Body::empty(),
                false => Body::full(self.body.clone()),
            }),
            parts => form::request(client, uri, parts).await?,
        };
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = uri.clone();
        for (name, value) in &self.fields {
            request.headers_mut().append(name, value.clone());
        }
        Ok(request)
    }

    /// RFC 9110 section 15.4: 303 turns into GET, and so by custom do 301 and 302 after POST; a
    /// field that was meant for one origin does not go to another.
    pub(super) fn redirect(&mut self, status: StatusCode, from: &Uri, to: &Uri) {
        let custom = matches!(status, StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND)
            && self.method == Method::POST;
        if (status == StatusCode::SEE_OTHER && self.method != Method::HEAD) || custom {
            self.method = Method::GET;
            self.body.clear();
            self.form.clear();
            self.fields.remove(CONTENT_TYPE);
        }
        if (from.scheme(), from.authority()) != (to.scheme(), to.authority()) {
            credentials::remove(&mut self.fields);
        }
    }
}

/// Fields that flags other than -H stand for.
fn printed(options: &GetOptions) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
    let value = |flag: &str, text: &str| {
        let value = HeaderValue::from_str(text);
        value.map_err(|_| Failure::usage(format_args!("{flag} {text:?} has a control character")))
    };
    let mut fields = Vec::new();
    if let Some(user) = &options.user {
        if !user.contains(':') {
            return Err(Failure::usage("-u must be user:password"));
        }
        let mut basic = value("-u", &format!("Basic {}", BASE64_STANDARD.encode(user)))?;
        basic.set_sensitive(true);
        fields.push((AUTHORIZATION, basic));
    }
    if let Some(agent) = &options.user_agent {
        fields.push((USER_AGENT, value("-A", agent)?));
    }
    if let Some(cookie) = &options.cookie {
        fields.push((COOKIE, value("-b", cookie)?));
    }
    if options.json.is_some() {
        fields.extend([(CONTENT_TYPE, JSON), (ACCEPT, JSON)]);
    } else if !options.data.is_empty() {
        fields.push((CONTENT_TYPE, FORM));
    }
    Ok(fields)
}

/// The body of -d or --json, if there is one.
fn body(options: &GetOptions) -> Result<Option<Bytes>, Failure> {
    if let Some(json) = &options.json {
        return data("--json", json).map(Some);
    }
    let mut parts = options.data.iter().map(|text| data("-d", text));
    let Some(first) = parts.next().transpose()? else {
        return Ok(None);
    };
    let mut whole = BytesMut::from(first);
    for part in parts {
        whole.extend_from_slice(b"&");
        whole.extend_from_slice(&part?);
    }
    Ok(Some(whole.freeze()))
}

fn data(flag: &str, text: &str) -> Result<Bytes, Failure> {
    let read = match text.strip_prefix('@') {
        None => return Ok(Bytes::from(text.to_owned())),
        Some("-") => {
            let mut bytes = Vec::new();
            io::stdin().read_to_end(&mut bytes).map(|_| bytes)
        }
        Some(path) => std::fs::read(path),
    };
    read.map(Bytes::from)
        .map_err(|error| Failure::usage(format_args!("{flag} {text} cannot be read: {error}")))
}
