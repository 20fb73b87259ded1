//! The page of the directory for paths that lead to no file: its `404.html`.

use super::{Disk, reader_of};
use crate::serve::answer::SiteBody;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, Uri, header};
use http_body_util::Empty;
use tower_service::Service as _;

/// The parts of a request on which the page depends.
pub(super) struct PageRequest {
    method: Method,
    codings: Option<HeaderValue>,
}

impl PageRequest {
    pub(super) fn of<B>(request: &Request<B>) -> Self {
        Self {
            method: request.method().clone(),
            codings: request.headers().get(header::ACCEPT_ENCODING).cloned(),
        }
    }

    /// The page; `None`: there is none, or none was asked for.
    pub(super) async fn page<B>(self, disk: &Disk) -> Option<Response<SiteBody<B>>> {
        let mut request = Request::new(Empty::<Bytes>::new());
        *request.method_mut() = self.method;
        *request.uri_mut() = Uri::from_static("/404.html");
        if let Some(codings) = self.codings {
            request
                .headers_mut()
                .insert(header::ACCEPT_ENCODING, codings);
        }
        let Ok(mut page) = reader_of(disk.for_request()).call(request).await;
        if page.status() != StatusCode::OK {
            return None;
        }
        *page.status_mut() = StatusCode::NOT_FOUND;
        forget_file(page.headers_mut());
        Some(SiteBody::file(page))
    }
}

/// Takes away what is of the file of the page, and not of the path that was asked for.
fn forget_file(fields: &mut HeaderMap) {
    for name in [header::ETAG, header::LAST_MODIFIED, header::ACCEPT_RANGES] {
        fields.remove(name);
    }
}
