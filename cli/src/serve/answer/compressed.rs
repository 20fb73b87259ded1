//! Answers that are compressed as they are sent.

use http::header::{ACCEPT_RANGES, CONTENT_ENCODING, ETAG};
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode};
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_http::compression::{Compression, CompressionLayer};
use tower_layer::Layer;
use tower_service::Service;

/// A site under a layer that compresses.
pub(in crate::serve) fn compressed<S>(site: S) -> WeakTags<Compression<NotedStatus<S>>> {
    WeakTags(CompressionLayer::new().layer(NotedStatus(site)))
}

/// The status of an answer in front of the layer.
#[derive(Clone, Copy)]
struct StatusOfSite(StatusCode);

/// Notes the status of each answer with it.
#[derive(Clone)]
pub(in crate::serve) struct NotedStatus<S>(S);

impl<S, A, B> Service<Request<A>> for NotedStatus<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Future: Unpin,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = NotedAnswer<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }
    fn call(&mut self, request: Request<A>) -> Self::Future {
        NotedAnswer(self.0.call(request))
    }
}

/// An answer to come.
pub(in crate::serve) struct NotedAnswer<F>(F);

impl<F, B, E> Future for NotedAnswer<F>
where
    F: Future<Output = Result<Response<B>, E>> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_ok(|mut response| {
            let status = StatusOfSite(response.status());
            response.extensions_mut().insert(status);
            response
        })
    }
}

/// Makes the entity tags of compressed answers weak, and gives the others the status of the site: the layer makes each a 406 where a
/// client refuses all codings, which may be a part of a file, or an error whose status says what is wrong.
#[derive(Clone)]
pub(in crate::serve) struct WeakTags<S>(S);

impl<S, A, B> Service<Request<A>> for WeakTags<S>
where
    S: Service<Request<A>, Response = Response<B>>,
    S::Future: Unpin,
{
    type Response = Response<B>;
    type Error = S::Error;
    type Future = WeakTag<S::Future>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.0.poll_ready(cx)
    }
    fn call(&mut self, mut request: Request<A>) -> Self::Future {
        // The head of an answer to HEAD is that of GET, whose length is that of the compressed content (RFC 9110 section 8.6). The
        // server sends no content with it.
        if request.method() == Method::HEAD {
            *request.method_mut() = Method::GET;
        }
        WeakTag(self.0.call(request))
    }
}

/// An answer to come.
pub(in crate::serve) struct WeakTag<F>(F);

impl<F, B, E> Future for WeakTag<F>
where
    F: Future<Output = Result<Response<B>, E>> + Unpin,
{
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(cx).map_ok(|mut response| {
            weaken(response.headers_mut());
            let of_site = response.extensions_mut().remove::<StatusOfSite>();
            if let Some(StatusOfSite(status)) = of_site {
                *response.status_mut() = status;
            }
            response
        })
    }
}

/// A strong tag is one of bytes, and those of the file are others (RFC 9110 section 8.8.3.3): with it a client would go on
/// with a part of the file behind a part of the compressed one.
fn weaken(headers: &mut HeaderMap) {
    // The layer takes the ranges from what it compresses; a file that is there compressed has them, and a tag of its own.
    if !headers.contains_key(CONTENT_ENCODING) || headers.contains_key(ACCEPT_RANGES) {
        return;
    }
    let tag = headers.get(ETAG).map(HeaderValue::as_bytes);
    let Some(tag) = tag.filter(|tag| !tag.starts_with(b"W/")) else {
        return;
    };
    if let Ok(weak) = HeaderValue::from_bytes(&[b"W/", tag].concat()) {
        headers.insert(ETAG, weak);
    }
}
