//! The request that the flags make: its method, fields and body.

pub(super) mod client;
mod credentials;
pub(super) mod glob;
mod upload;

use super::body::form::{self, FormPart};
use super::given::{basic, field_lines, value};
use super::options::GetOptions;
use super::output::resume::Offset;
use super::route::redirects::RedirectOptions;
use super::{CODINGS, body, exit};
use crate::failure::Failure;
use crate::target;
use bytes::Bytes;
use http::header::{
    ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_RANGE, CONTENT_TYPE, COOKIE, HOST, RANGE,
    REFERER, TRANSFER_ENCODING, USER_AGENT,
};
use http::uri::Authority;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, StatusCode, Uri};
use std::path::Path;
use trunkline::Body;
use trunkline::client::Client;
use upload::{Upload, is_input};

/// The name of this client.
const AGENT: &str = concat!("trunkline/", env!("CARGO_PKG_VERSION"));
const FORM: HeaderValue = HeaderValue::from_static("application/x-www-form-urlencoded");
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The request without its URL: what a redirect repeats.
#[derive(Clone)]
pub(super) struct RequestTemplate {
    method: Method,
    /// By -X: redirects keep it.
    is_method_given: bool,
    fields: HeaderMap,
    content: Content,
    /// A redirect names the URL that led there.
    names_referer: bool,
    /// In place of the path of every URL.
    target: Option<String>,
    /// Standard input was sent as the body, which is there once.
    is_input_sent: bool,
}

#[derive(Clone)]
enum Content {
    None,
    Bytes(Bytes),
    /// Read anew for each request, as a file is.
    Form(Vec<FormPart>),
    File(Upload),
}

impl RequestTemplate {
    pub(super) fn of(options: &GetOptions) -> Result<Self, Failure> {
        let content = content(options)?;
        if options.head && !matches!(content, Content::None) {
            return Err(Failure::usage(
                "-I is HEAD, which has no body: -d and the other data options need -G beside it",
            ));
        }
        let method = match (&options.method, &content) {
            (Some(name), _) => Method::from_bytes(name.as_bytes())
                .map_err(|_| Failure::usage(format_args!("-X {name:?} is not a method")))?,
            _ if options.head => Method::HEAD,
            (None, Content::None) => Method::GET,
            (None, _) => Method::POST,
        };
        Ok(Self {
            method,
            is_method_given: options.method.is_some(),
            fields: fields(options)?,
            content,
            names_referer: referer(options).1,
            target: options.request_target.clone(),
            is_input_sent: false,
        })
    }

    /// Sends a file of -T.
    pub(super) fn upload(&mut self, path: &Path) {
        self.content = Content::File(Upload {
            path: path.to_owned(),
            from: None,
        });
        if !self.is_method_given {
            self.method = Method::PUT;
        }
    }

    /// Adds the credentials of a URL, where the flags give none.
    pub(super) fn authenticate(&mut self, credentials: Option<&str>) -> Result<(), Failure> {
        if let Some(credentials) = credentials {
            let value = basic("the URL", credentials)?;
            self.fields.entry(AUTHORIZATION).or_insert(value);
        }
        Ok(())
    }

    /// The host that -H gives, without its port.
    pub(super) fn host(&self) -> Option<String> {
        let given = self.fields.get(HOST)?.to_str().ok()?;
        Some(given.parse::<Authority>().ok()?.host().to_owned())
    }

    /// -C: asks for the bytes from `from` on, or sends those of a file from the offset that is given. The first byte of the
    /// answer's content.
    pub(super) fn start_at(&mut self, given: Option<Offset>, from: u64) -> Result<u64, Failure> {
        match &mut self.content {
            Content::None => {
                if from > 0 {
                    let range = HeaderValue::try_from(format!("bytes={from}-"));
                    self.fields.insert(RANGE, range.expect("digits"));
                }
                Ok(from)
            }
            // curl sends all of it, and adds the answer to what is there.
            Content::File(_) if given == Some(Offset::End) && from > 0 => Err(Failure::usage(
                "-C - is for the file of -T or for that of -o, which has its beginning: give the offset in bytes",
            )),
            Content::File(file) => {
                file.from = given;
                Ok(0)
            }
            Content::Form(_) | Content::Bytes(_) if from == 0 => Ok(0),
            Content::Form(_) | Content::Bytes(_) => Err(Failure::usage(
                "-C goes on with a file of -o or -T: a part of what -d, -F and the like give is not sent",
            )),
        }
    }

    /// A file that is sent to a URL that ends with `/` is named there as it is here.
    pub(super) fn name_upload(&self, uri: Uri) -> Result<Uri, Failure> {
        let Content::File(Upload { path, .. }) = &self.content else {
            return Ok(uri);
        };
        let name = path.file_name().filter(|_| uri.path().ends_with('/'));
        let Some(name) = name
            .and_then(|name| name.to_str())
            .filter(|name| !matches!(*name, "-" | "."))
        else {
            return Ok(uri);
        };
        let query = uri
            .query()
            .map_or(String::new(), |query| format!("?{query}"));
        let path = format!("{}{}{query}", uri.path(), body::path_part(name));
        target::with_path(uri, &path)
    }

    /// Whether -H asks for a body in chunks, which HTTP/1.1 alone has.
    fn is_chunked(&self) -> bool {
        let coding = self.fields.get(TRANSFER_ENCODING);
        let is_it = coding.is_some_and(|coding| coding.as_bytes().eq_ignore_ascii_case(b"chunked"));
        is_it && !matches!(self.content, Content::None)
    }

    /// Whether the request can be sent again.
    pub(super) fn can_repeat(&self) -> bool {
        !matches!(&self.content, Content::File(file) if is_input(&file.path))
    }

    pub(super) async fn request(
        &mut self,
        client: &Client,
        uri: &Uri,
    ) -> Result<Request<Body>, Failure> {
        if !self.can_repeat() && std::mem::replace(&mut self.is_input_sent, true) {
            let text = "the body was standard input, which cannot be sent a second time";
            return Err(Failure::new(exit::REWIND, text));
        }
        let mut request = match &self.content {
            Content::None => Request::new(Body::empty()),
            Content::Bytes(bytes) => Request::new(Body::full(bytes.clone())),
            Content::Form(parts) => {
                form::request(client, uri, parts, self.fields.get(CONTENT_TYPE)).await?
            }
            Content::File(file) => {
                file.request(self.fields.contains_key(CONTENT_RANGE))
                    .await?
            }
        };
        if self.is_chunked() {
            // The length is not said then.
            request = request.map(|body| Body::from_stream(body.into_stream()));
        }
        *request.method_mut() = self.method.clone();
        *request.uri_mut() = match &self.target {
            Some(target) => target::with_path(uri.clone(), target)?,
            None => uri.clone(),
        };
        let is_form = matches!(self.content, Content::Form(_));
        let is_taken =
            |name: &HeaderName| *name == TRANSFER_ENCODING || (is_form && *name == CONTENT_TYPE);
        for (name, value) in self.fields.iter().filter(|(name, _)| !is_taken(name)) {
            request.headers_mut().append(name, value.clone());
        }
        Ok(request)
    }

    /// RFC 9110 section 15.4: 303 turns into GET, and so by custom do 301 and 302 after POST; the body is left out
    /// then, and a method given by -X stays, as with curl. A field that was meant for one origin does not go to another.
    pub(super) fn redirect(
        &mut self,
        status: StatusCode,
        (from, to): (&Uri, &Uri),
        options: &RedirectOptions,
    ) {
        let is_post = self.method == Method::POST
            || matches!(self.content, Content::Bytes(_) | Content::Form(_));
        let custom = matches!(status, StatusCode::MOVED_PERMANENTLY | StatusCode::FOUND) && is_post;
        let becomes_get =
            (status == StatusCode::SEE_OTHER && self.method != Method::HEAD) || custom;
        if becomes_get && !(is_post && options.keeps_post(status)) {
            self.content = Content::None;
            // One of -H or --json goes with every request, as with curl.
            if self.fields.get(CONTENT_TYPE) == Some(&FORM) {
                self.fields.remove(CONTENT_TYPE);
            }
            if !self.is_method_given {
                self.method = Method::GET;
            }
        }
        let is_other = (from.scheme(), from.authority()) != (to.scheme(), to.authority());
        if is_other && !options.location_trusted {
            credentials::remove(&mut self.fields);
        }
        if self.names_referer
            && let Ok(value) = HeaderValue::try_from(from.to_string())
        {
            self.fields.insert(REFERER, value);
        }
    }
}

/// The body by the flags; with -G it is in the URL.
fn content(options: &GetOptions) -> Result<Content, Failure> {
    let parts = options.body.parts()?;
    if !parts.is_empty() {
        return Ok(Content::Form(parts));
    }
    match options.body.data.bytes()? {
        Some(bytes) if !options.body.get => Ok(Content::Bytes(bytes.into())),
        _ => Ok(Content::None),
    }
}

/// The fields of all flags. Those of -H are instead of those that other flags stand for.
fn fields(options: &GetOptions) -> Result<HeaderMap, Failure> {
    let (mut fields, mut removed) = (HeaderMap::new(), Vec::new());
    for line in &options.headers {
        for line in field_lines(line)? {
            let (name, value) = target::field(&line)?;
            // `name:` takes away what would be sent; `name;` sends it without a value.
            match value.is_empty() && !line.ends_with(';') {
                true => removed.push(name),
                false => drop(fields.append(name, value)),
            }
        }
    }
    let given = fields.clone();
    for (name, value) in printed(options)? {
        fields.entry(name).or_insert(value);
    }
    let agent = HeaderValue::from_static(AGENT);
    fields.entry(USER_AGENT).or_insert(agent);
    // Without it any type is welcome too (RFC 9110 section 12.5.1), which not every server knows.
    fields
        .entry(ACCEPT)
        .or_insert(HeaderValue::from_static("*/*"));
    // A range is one of the bytes as they come (RFC 9110 section 14.1): a part of a compressed body
    // does not decode.
    if options.compressed && options.continue_at.is_none() && !fields.contains_key(RANGE) {
        fields.entry(ACCEPT_ENCODING).or_insert(CODINGS);
    }
    // As -H `user-agent:` and `referer:` do.
    for (text, name) in [
        (options.user_agent.as_deref(), USER_AGENT),
        (referer(options).0, REFERER),
    ] {
        if text == Some("") {
            removed.push(name);
        }
    }
    for name in removed.iter().filter(|name| !given.contains_key(*name)) {
        fields.remove(name);
    }
    Ok(fields)
}

/// The field of -e, and whether redirects name the URL that led there (`;auto`).
fn referer(options: &GetOptions) -> (Option<&str>, bool) {
    let given = options.referer.as_deref();
    match given.and_then(|text| text.strip_suffix(";auto")) {
        Some(url) => (Some(url).filter(|url| !url.is_empty()), true),
        None => (given, false),
    }
}

/// Fields that flags other than -H stand for.
fn printed(options: &GetOptions) -> Result<Vec<(HeaderName, HeaderValue)>, Failure> {
    let mut fields = Vec::new();
    if let Some(token) = &options.oauth2_bearer {
        let mut bearer = value("--oauth2-bearer", &format!("Bearer {token}"))?;
        bearer.set_sensitive(true);
        fields.push((AUTHORIZATION, bearer));
    }
    // Behind a token the first one stays.
    if let Some(user) = &options.user {
        fields.push((AUTHORIZATION, basic("-u", user)?));
    }
    let texts = [
        (USER_AGENT, "-A", options.user_agent.clone()),
        (REFERER, "-e", referer(options).0.map(str::to_owned)),
        (COOKIE, "-b", options.cookies.given()),
        (RANGE, "-r", options.range.as_deref().map(range_of)),
    ];
    for (name, flag, text) in texts {
        if let Some(text) = text {
            fields.push((name, value(flag, &text)?));
        }
    }
    fields.extend(options.conditions.fields()?);
    if options.body.data.is_json() {
        fields.extend([(CONTENT_TYPE, JSON), (ACCEPT, JSON)]);
    } else if !options.body.data.is_empty() && !options.body.get {
        fields.push((CONTENT_TYPE, FORM));
    }
    Ok(fields)
}

/// The value of `range` by -r; an offset alone has all behind it, as with curl.
fn range_of(given: &str) -> String {
    let is_offset = !given.is_empty() && given.bytes().all(|byte| byte.is_ascii_digit());
    format!("bytes={given}{}", if is_offset { "-" } else { "" })
}
