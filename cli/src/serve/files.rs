//! Files below one directory, never outside it: no `..`, no link that leads out.
//!
//! `tower-http` reads files (ranges, conditions, content types, precompressed variants); this
//! file decides what may be read, and lists directories.

use super::listing;
use super::site::{SiteBody, plain};
use crate::failure::Failure;
use http::{HeaderValue, Method, Request, Response, StatusCode, header};
use percent_encoding::percent_decode_str;
use std::path::{Component, Path, PathBuf};
use tower_http::services::ServeDir;
use tower_service::Service;

/// Suffixes of the precompressed variants that may be read beside a file.
const VARIANTS: [&str; 3] = ["br", "gz", "zst"];

/// A directory to serve.
pub(crate) struct Files {
    /// Canonical: what it resolves to must start with it.
    root: PathBuf,
    reader: ServeDir,
    listings: bool,
}

impl Files {
    /// Fails with one line when `root` is not a directory that can be read.
    pub(crate) fn new(root: &Path, listings: bool) -> Result<Self, Failure> {
        let refuse = |why: &dyn std::fmt::Display| {
            Failure::usage(format_args!("cannot serve {}: {why}", root.display()))
        };
        let canonical = root.canonicalize().map_err(|error| refuse(&error))?;
        if !canonical.is_dir() {
            return Err(refuse(&"it is not a directory"));
        }
        std::fs::read_dir(&canonical).map_err(|error| refuse(&error))?;
        let reader = ServeDir::new(&canonical)
            .precompressed_br()
            .precompressed_gzip()
            .precompressed_zstd();
        Ok(Self {
            root: canonical,
            reader,
            listings,
        })
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
        let Some(place) = self.place(request.uri().path()).await else {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        };
        if place.is_dir() && request.uri().path().ends_with('/') && !self.has_index(&place).await {
            return self.list(&place, request.uri().path()).await;
        }
        self.read(request, &place).await
    }

    /// The file or directory that a request path names, if it lies inside the root with all its
    /// links resolved.
    async fn place(&self, request_path: &str) -> Option<PathBuf> {
        let decoded = percent_decode_str(request_path).decode_utf8().ok()?;
        if decoded.contains('\0') || decoded.contains('\\') {
            return None;
        }
        let relative = Path::new(decoded.trim_start_matches('/'));
        let ordinary = |part| matches!(part, Component::Normal(_) | Component::CurDir);
        if !relative.components().all(ordinary) {
            return None;
        }
        let place = tokio::fs::canonicalize(self.root.join(relative))
            .await
            .ok()?;
        place.starts_with(&self.root).then_some(place)
    }

    /// Whether `index.html` stands in `directory` and leads nowhere outside.
    async fn has_index(&self, directory: &Path) -> bool {
        self.leads_inside(&directory.join("index.html")).await
    }

    async fn leads_inside(&self, path: &Path) -> bool {
        tokio::fs::canonicalize(path)
            .await
            .is_ok_and(|real| real.starts_with(&self.root))
    }

    async fn read<B: Send + 'static>(
        &self,
        request: Request<B>,
        place: &Path,
    ) -> Response<SiteBody<B>> {
        let (mut head, _) = request.into_parts();
        if !self.variants_lead_inside(place).await {
            head.headers.remove(header::ACCEPT_ENCODING);
        }
        let request = Request::from_parts(head, http_body_util::Empty::<bytes::Bytes>::new());
        match self.reader.clone().call(request).await {
            Ok(response) => response.map(SiteBody::File),
            Err(never) => match never {},
        }
    }

    /// The reader opens `file.gz` and its kin by itself: none may be a link that leads out.
    async fn variants_lead_inside(&self, place: &Path) -> bool {
        let file = if place.is_dir() {
            place.join("index.html")
        } else {
            place.to_owned()
        };
        for suffix in VARIANTS {
            let mut name = file.clone().into_os_string();
            name.push(".");
            name.push(suffix);
            let variant = PathBuf::from(name);
            if tokio::fs::symlink_metadata(&variant).await.is_ok()
                && !self.leads_inside(&variant).await
            {
                return false;
            }
        }
        true
    }

    async fn list<B>(&self, directory: &Path, request_path: &str) -> Response<SiteBody<B>> {
        if !self.listings {
            return plain(StatusCode::NOT_FOUND, "not found\n");
        }
        let Ok(page) = listing::page(directory, request_path, &self.root).await else {
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

#[cfg(test)]
#[path = "files_test.rs"]
mod files_test;
