//! Files below one directory, never outside it: no `..`, no link that leads out.
//!
//! `tower-http` reads files (ranges, conditions, content types, precompressed variants); this
//! module decides which may be read, and lists directories.

mod kept;
mod missing;
mod names;

use self::kept::{KeptAnswers, Unreadable, key_of};
use self::missing::PageRequest;
use self::names::{is_hidden, relative};
use super::answer::{SiteBody, plain};
use super::disk::{Disk, StandIn};
use super::listing;
use crate::failure::Failure;
use http::uri::PathAndQuery;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::time::Duration;
use tower_http::services::ServeDir;
use tower_http::services::fs::DefaultServeDirFallback;
use tower_service::Service;

/// A directory to serve.
pub(crate) struct Files {
    disk: Disk,
    policy: FilePolicy,
    kept: KeptAnswers,
}

/// The largest step of a file system's clock, that of FAT.
const CLOCK_STEP: Duration = Duration::from_secs(2);

/// The visible part of a directory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FilePolicy {
    /// A directory without `index.html` is listed.
    pub(crate) listings: bool,
    /// Names that begin with a dot are there.
    pub(crate) dot_files: bool,
    /// A path without a file is answered with the page of the directory itself.
    pub(crate) spa: bool,
}

impl Files {
    /// Fails with one line when `root` is not a directory that can be read.
    pub(crate) fn new(root: &Path, policy: FilePolicy) -> Result<Self, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::usage(format_args!("cannot serve {}: {why}", root.display()))
        };
        let disk = Disk::new(root).map_err(|error| refuse(&error))?;
        std::fs::read_dir(disk.path()).map_err(|error| refuse(&error))?;
        let kept = KeptAnswers::new(CLOCK_STEP);
        Ok(Self { disk, policy, kept })
    }

    /// Whether paths are walked component by component, because the kernel cannot keep them below the
    /// directory.
    pub(crate) fn are_walked(&self) -> bool {
        !self.disk.is_kept_by_kernel()
    }

    /// Answers GET and HEAD.
    pub(crate) async fn answer<B: Send + 'static>(
        &self,
        request: Request<B>,
    ) -> Response<SiteBody<B>> {
        let of_page = PageRequest::of(&request);
        let mut response = self.find(request).await;
        if response.status() == StatusCode::NOT_FOUND
            && let Some(page) = of_page.page(&self.disk).await
        {
            response = page;
        }
        // The media type follows from the name alone: browsers must not guess from the content that
        // it is a script.
        let headers = response.headers_mut();
        headers.insert(
            header::X_CONTENT_TYPE_OPTIONS,
            HeaderValue::from_static("nosniff"),
        );
        name_charset(headers);
        response
    }

    async fn find<B: Send + 'static>(&self, request: Request<B>) -> Response<SiteBody<B>> {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
            response
                .headers_mut()
                .insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let key = key_of(&request);
        let disk = self.disk.for_request();
        if let Some(key) = &key
            && let Some(response) = self.kept.get(key, &disk).await
        {
            return response;
        }
        let path = request.uri().path();
        let relative = relative(path).filter(|path| self.policy.dot_files || !is_hidden(path));
        let Some(relative) = relative else {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        };
        if path.ends_with('/') && is_without_index(&disk, &relative).await {
            return self.list(&relative, path).await;
        }
        let page = (self.policy.spa && is_route(path)).then(|| page_request(&request));
        let mut request = request.map(|_| http_body_util::Empty::<bytes::Bytes>::new());
        join_tags(request.headers_mut());
        collapse_slashes(request.uri_mut());
        let asked = request.uri().clone();
        let stand_in = StandIn::of(&relative);
        if let Some(stand_in) = &stand_in {
            let slash = if asked.path().ends_with('/') { "/" } else { "" };
            set_path(
                request.uri_mut(),
                &format!("{}{slash}", stand_in.url_path()),
            );
        }
        let is_replaced = stand_in.is_some();
        let mut reader = reader_of(disk.with(stand_in));
        let mut response = read_range(&mut reader, request).await;
        if let Some(page) = page
            && response.status() == StatusCode::NOT_FOUND
        {
            let Ok(of_page) = reader.call(page).await;
            response = of_page;
        }
        match response.status() {
            StatusCode::NOT_FOUND => return plain(StatusCode::NOT_FOUND, "not found\n"),
            // RFC 9110 section 15.4.5: it has the fields of a 200 on which a cache depends.
            StatusCode::NOT_MODIFIED => {
                let vary = HeaderValue::from_static("accept-encoding");
                response.headers_mut().insert(header::VARY, vary);
            }
            status if is_replaced && status.is_redirection() => {
                name_directory(response.headers_mut(), &asked);
            }
            _ => {}
        }
        match key {
            Some(key) if response.status() == StatusCode::OK => {
                let answer = self.kept.keep(key, &disk, response).await;
                answer.unwrap_or_else(|Unreadable| {
                    let text = "the file cannot be read\n";
                    plain(StatusCode::INTERNAL_SERVER_ERROR, text)
                })
            }
            _ => SiteBody::file(response),
        }
    }

    async fn list<B>(&self, directory: &Path, request_path: &str) -> Response<SiteBody<B>> {
        if !self.policy.listings {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        }
        let root = self.disk.path();
        let Ok(page) = listing::page(
            &root.join(directory),
            request_path,
            root,
            self.policy.dot_files,
        )
        .await
        else {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        };
        let mut response = Response::new(SiteBody::text(page));
        response.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/html; charset=utf-8"),
        );
        response
    }
}

/// A reader of files, which gives compressed variants that lie beside them.
fn reader_of(disk: Disk) -> ServeDir<DefaultServeDirFallback, Disk> {
    ServeDir::with_backend("", disk)
        .precompressed_br()
        .precompressed_gzip()
        .precompressed_zstd()
}

/// Whether an application may have the path as a route: a missing script or picture is missing.
fn is_route(path: &str) -> bool {
    !path.rsplit('/').next().unwrap_or_default().contains('.')
}

/// A request like it for the page of the directory itself.
fn page_request<B>(request: &Request<B>) -> Request<http_body_util::Empty<bytes::Bytes>> {
    let mut page = Request::new(http_body_util::Empty::new());
    page.method_mut().clone_from(request.method());
    page.headers_mut().clone_from(request.headers());
    // A part of a file says nothing about this one.
    page.headers_mut().remove(header::RANGE);
    *page.uri_mut() = Uri::from_static("/index.html");
    page
}

/// The answer of a reader of files to a request that may have conditions and a range.
async fn read_range<B: Default, O>(
    reader: &mut impl Service<Request<B>, Response = Response<O>, Error = Infallible>,
    mut request: Request<B>,
) -> Response<O> {
    let is_suffix = take_range(request.headers_mut());
    let if_range = request.headers_mut().remove(header::IF_RANGE);
    let whole = ranged_as(&request, None);
    let from_start = ranged_as(&request, Some("bytes=0-")).filter(|_| is_suffix);
    let Ok(mut response) = reader.call(request).await;
    // RFC 9110 section 14.1.2: the last 100 bytes of a file that has 10 are all of it.
    if response.status() == StatusCode::RANGE_NOT_SATISFIABLE
        && let Some(from_start) = from_start
    {
        let Ok(again) = reader.call(from_start).await;
        response = again;
    }
    if let Some(whole) = whole
        && !is_of_version(response.headers(), if_range.as_ref())
    {
        let Ok(again) = reader.call(whole).await;
        response = again;
    }
    response
}

/// Makes a request for a range one like it for another one, or for all of the file.
fn ranged_as<B: Default>(request: &Request<B>, range: Option<&'static str>) -> Option<Request<B>> {
    request.headers().get(header::RANGE)?;
    let mut other = Request::new(B::default());
    other.method_mut().clone_from(request.method());
    other.uri_mut().clone_from(request.uri());
    other.headers_mut().clone_from(request.headers());
    match range.map(HeaderValue::from_static) {
        Some(range) => drop(other.headers_mut().insert(header::RANGE, range)),
        None => drop(other.headers_mut().remove(header::RANGE)),
    }
    Some(other)
}

/// Digits of a position that no file has.
const POSITION_DIGITS_MAX: usize = 18;

/// Puts a range into the form that the reader of files knows. One of another unit than bytes counts for nothing, and of
/// several all of the file is given (RFC 9110 section 14.2). True: it is the last bytes of the file, of any number but 0.
fn take_range(fields: &mut HeaderMap) -> bool {
    let Some(range) = fields.remove(header::RANGE) else {
        return false;
    };
    let Some((unit, range)) = range.to_str().unwrap_or_default().split_once('=') else {
        return false;
    };
    // The names of units are case-insensitive (section 14.1).
    if !unit.trim().eq_ignore_ascii_case("bytes") || range.contains(',') {
        return false;
    }
    let range = range.trim();
    let is_number = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let range = match range.split_once('-') {
        // A last position behind the end is the end.
        Some((first, last))
            if last.len() > POSITION_DIGITS_MAX && is_number(last) && !first.is_empty() =>
        {
            format!("bytes={first}-")
        }
        _ => format!("bytes={range}"),
    };
    let last_bytes = range.strip_prefix("bytes=-");
    let is_suffix = last_bytes
        .is_some_and(|count| is_number(count) && count.bytes().any(|digit| digit != b'0'));
    if let Ok(range) = HeaderValue::try_from(range) {
        fields.insert(header::RANGE, range);
    }
    is_suffix
}

/// Whether an answer to a range is of the version that the client has a part of (RFC 9110 section 13.1.5), and of a
/// file that has a range at all: an empty one has none, and is given whole.
fn is_of_version(answer: &HeaderMap, if_range: Option<&HeaderValue>) -> bool {
    let is_empty = |range: &HeaderValue| range.as_bytes().ends_with(b"-0/0");
    if answer.get(header::CONTENT_RANGE).is_some_and(is_empty) {
        return false;
    }
    // A weak tag is equal to none here (section 8.8.3.2), and a date is an exact one.
    if_range.is_none_or(|value| {
        let validators = [header::ETAG, header::LAST_MODIFIED];
        let mut found = validators.iter().filter_map(|name| answer.get(name));
        !value.as_bytes().starts_with(b"W/") && found.any(|validator| validator == value)
    })
}

/// A redirect to a directory's name with a slash is made of the path as it was asked for, and a path that
/// begins with two would lead to another host (RFC 3986 section 4.2; CVE-2021-28861).
fn collapse_slashes(uri: &mut Uri) {
    let Some(path) = uri
        .path_and_query()
        .filter(|path| path.as_str().starts_with("//"))
    else {
        return;
    };
    let path = format!("/{}", path.as_str().trim_start_matches('/'));
    set_path(uri, &path);
}

/// Gives a target this path, and the query that it may have.
fn set_path(uri: &mut Uri, path: &str) {
    if let Ok(path) = path.parse::<PathAndQuery>() {
        let mut parts = std::mem::take(uri).into_parts();
        parts.path_and_query = Some(path);
        *uri = Uri::from_parts(parts).unwrap_or_default();
    }
}

/// Leads to a directory's name with a slash, as it was asked for.
fn name_directory(headers: &mut HeaderMap, asked: &Uri) {
    let query = asked
        .query()
        .map_or(String::new(), |query| format!("?{query}"));
    if let Ok(location) = HeaderValue::try_from(format!("{}/{query}", asked.path())) {
        headers.insert(header::LOCATION, location);
    }
}

/// Makes one list of tags of several lines, which mean the same (RFC 9110 section 5.3): the reader of files takes the first line.
fn join_tags(headers: &mut HeaderMap) {
    for name in [header::IF_MATCH, header::IF_NONE_MATCH] {
        let lines: Vec<&[u8]> = headers
            .get_all(&name)
            .iter()
            .map(HeaderValue::as_bytes)
            .collect();
        if lines.len() > 1
            && let Ok(list) = HeaderValue::from_bytes(&lines.join(&b", "[..]))
        {
            headers.insert(name, list);
        }
    }
}

/// Text is UTF-8: without a charset browsers guess another.
fn name_charset(headers: &mut HeaderMap) {
    let Some(kind) = headers.get(header::CONTENT_TYPE) else {
        return;
    };
    if kind.as_bytes().starts_with(b"text/") && !kind.as_bytes().contains(&b';') {
        let named = [kind.as_bytes(), b"; charset=utf-8"].concat();
        if let Ok(named) = HeaderValue::from_bytes(&named) {
            headers.insert(header::CONTENT_TYPE, named);
        }
    }
}

/// Whether it is a directory that has no `index.html`. One that cannot be read is there: its directory is not listed instead.
async fn is_without_index(disk: &Disk, path: &Path) -> bool {
    let found = disk.stat(path.to_owned()).await;
    let is_missing = |error: io::Error| error.kind() == io::ErrorKind::NotFound;
    found.is_ok_and(|found| found.is_dir())
        && disk
            .stat(path.join("index.html"))
            .await
            .is_err_and(is_missing)
}

#[cfg(test)]
#[path = "files_test.rs"]
mod files_test;
