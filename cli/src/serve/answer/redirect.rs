//! Redirects from http to https: the port of `--redirect-from`.

use crate::failure::Failure;
use crate::serve::refused;
use http::header::{HOST, LOCATION};
use http::uri::Authority;
use http::{HeaderValue, Request, Response, StatusCode};
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::{AtomicU16, Ordering};
use trunkline::{Body, Running, Server, service_fn};

/// The port of https URLs that need not name it.
const HTTPS_PORT: u16 = 443;

/// Serves redirects to the same URLs under https on `https_port`, as it is at each request.
pub(in crate::serve) fn serve(
    server: Server,
    https_port: Arc<AtomicU16>,
) -> Result<Running, Failure> {
    let service = service_fn(move |request: Request<Body>| {
        let port = https_port.load(Ordering::Relaxed);
        std::future::ready(Ok::<_, Infallible>(redirect(&request, port)))
    });
    server.serve(service).map_err(refused)
}

/// 308 keeps the method and the content (RFC 9110 section 15.4.9). A request without a host, which HTTP/1.0 allows, or for
/// no path (`OPTIONS *`) has no such URL.
fn redirect<B>(request: &Request<B>, https_port: u16) -> Response<Body> {
    let mut response = Response::new(Body::empty());
    match location(request, https_port) {
        Some(location) => {
            *response.status_mut() = StatusCode::PERMANENT_REDIRECT;
            response.headers_mut().insert(LOCATION, location);
        }
        None => *response.status_mut() = StatusCode::BAD_REQUEST,
    }
    response
}

fn location<B>(request: &Request<B>, https_port: u16) -> Option<HeaderValue> {
    let uri = request.uri();
    let host = || request.headers().get(HOST)?.to_str().ok()?.parse().ok();
    let authority: Authority = uri.authority().cloned().or_else(host)?;
    let path = uri.path_and_query()?.as_str();
    if authority.host().is_empty() || !path.starts_with('/') {
        return None;
    }
    let host = authority.host();
    let port = match https_port {
        HTTPS_PORT => String::new(),
        other => format!(":{other}"),
    };
    HeaderValue::try_from(format!("https://{host}{port}{path}")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn located(target: &str, host: Option<&str>, port: u16) -> Option<String> {
        let mut request = Request::builder().uri(target);
        if let Some(host) = host {
            request = request.header(HOST, host);
        }
        let response = redirect(&request.body(()).expect("a request"), port);
        let location = response.headers().get(LOCATION);
        let expected = if location.is_some() { 308 } else { 400 };
        assert_eq!(response.status(), expected);
        location.map(|it| it.to_str().expect("text").to_owned())
    }

    #[test]
    fn a_request_is_redirected_to_its_own_url_under_https_on_the_sites_port() {
        for (target, host, port, expected) in [
            ("/a?b=c", Some("a.test"), 443, "https://a.test/a?b=c"),
            ("/", Some("a.test:80"), 8443, "https://a.test:8443/"),
            ("/", Some("[::1]:8080"), 443, "https://[::1]/"),
            (
                "http://b.test:80//c",
                Some("a.test"),
                443,
                "https://b.test//c",
            ),
        ] {
            assert_eq!(located(target, host, port).as_deref(), Some(expected));
        }
    }

    #[test]
    fn a_request_without_a_host_or_a_path_is_refused() {
        for (target, host) in [
            ("/", None),
            ("/", Some("")),
            ("*", Some("a.test")),
            ("/", Some("a b")),
        ] {
            assert_eq!(located(target, host, 443), None, "{target} {host:?}");
        }
    }
}
