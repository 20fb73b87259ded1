//! Files below one directory, never outside it: no `..`, no link that leads out.
//!
//! `tower-http` reads files (ranges, conditions, content types, precompressed variants); this
//! file decides what may be read, and lists directories.

use super::disk::Disk;
use super::listing;
use super::site::{SiteBody, plain};
use crate::failure::Failure;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use percent_encoding::percent_decode_str;
use std::path::{Component, Path, PathBuf};
use tower_http::services::ServeDir;
use tower_service::Service;

/// A directory to serve.
pub(crate) struct Files {
    disk: Disk,
    listings: bool,
}

impl Files {
    /// Fails with one line when `root` is not a directory that can be read.
    pub(crate) fn new(root: &Path, listings: bool) -> Result<Self, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::usage(format_args!("cannot serve {}: {why}", root.display()))
        };
        let disk = Disk::new(root).map_err(|error| refuse(&error))?;
        std::fs::read_dir(disk.path()).map_err(|error| refuse(&error))?;
        Ok(Self { disk, listings })
    }

    /// Answers GET and HEAD.
    pub(crate) async fn answer<B: Send + 'static>(
        &self,
        request: Request<B>,
    ) -> Response<SiteBody<B>> {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "only GET and HEAD\n");
            response
                .headers_mut()
                .insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
            return response;
        }
        let path = request.uri().path();
        let Some(relative) = relative(path) else {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        };
        let disk = self.disk.for_request();
        if path.ends_with('/') && is_without_index(&disk, &relative).await {
            return self.list(&relative, path).await;
        }
        let request = request.map(|_| http_body_util::Empty::<bytes::Bytes>::new());
        let mut reader = ServeDir::with_backend("", disk)
            .precompressed_br()
            .precompressed_gzip()
            .precompressed_zstd();
        match reader.call(request).await {
            Ok(response) => SiteBody::file(response),
            Err(never) => match never {},
        }
    }

    async fn list<B>(&self, directory: &Path, request_path: &str) -> Response<SiteBody<B>> {
        if !self.listings {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        }
        let root = self.disk.path();
        let Ok(page) = listing::page(&root.join(directory), request_path, root).await else {
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

/// The path below the directory that a request's path means; none where it would leave it.
fn relative(path: &str) -> Option<PathBuf> {
    let decoded = percent_decode_str(path).decode_utf8().ok()?;
    if decoded.contains('\0') || decoded.contains('\\') {
        return None;
    }
    let relative = Path::new(decoded.trim_start_matches('/'));
    let ordinary = |part| matches!(part, Component::Normal(_) | Component::CurDir);
    (relative.components().all(ordinary)).then(|| relative.to_owned())
}

/// Whether it is a directory that has no `index.html` which may be read.
async fn is_without_index(disk: &Disk, path: &Path) -> bool {
    let found = disk.look(path.to_owned()).await;
    found.is_ok_and(|found| found.is_dir()) && disk.look(path.join("index.html")).await.is_err()
}

#[cfg(test)]
#[path = "files_test.rs"]
mod files_test;
