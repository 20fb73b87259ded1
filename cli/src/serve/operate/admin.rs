//! The admin address of `serve`: metrics, liveness and readiness.

use super::listen_address::ListenAddress;
use crate::failure::Failure;
use crate::serve::refused;
use bytes::Bytes;
use http::header::{ALLOW, AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HOST, WWW_AUTHENTICATE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body_util::Full;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use trunkline::server::{MetricsReader, OPENMETRICS_TYPE, Sockets};
use trunkline::{Body, Running, Server, service_fn};

/// Fewer characters could be guessed.
const TOKEN_CHARACTERS_MIN: usize = 16;

/// Whether new requests are welcome: `/readyz` says it.
#[derive(Clone, Debug)]
pub(super) struct Readiness(Arc<AtomicBool>);

impl Readiness {
    /// Of a server that takes requests.
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicBool::new(true)))
    }
    /// From now on load balancers are to send requests elsewhere.
    pub(super) fn withdraw(&self) {
        self.0.store(false, Ordering::Relaxed);
    }
    fn is_ready(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The flags of the admin address, checked.
#[derive(Debug)]
pub(super) struct AdminOptions {
    place: ListenAddress,
    token: Option<String>,
}

impl AdminOptions {
    /// `None`: there is no admin address.
    pub(super) fn of(
        place: Option<&ListenAddress>,
        token_file: Option<&Path>,
    ) -> Result<Option<Self>, Failure> {
        let Some(place) = place else {
            return Ok(None);
        };
        let token = token_file.map(read_token).transpose()?;
        if token.is_none() && !place.is_local()? {
            return Err(Failure::usage(format_args!(
                "--admin {place} is not a loopback address or a Unix socket: others could read it; add \
                 --admin-token-file, or take 127.0.0.1, [::1] or unix:PATH"
            )));
        }
        let place = place.clone();
        Ok(Some(Self { place, token }))
    }
    /// Starts the server of the admin address; `given`: on sockets of the process before.
    pub(super) fn serve(
        &self,
        (metrics, readiness): (MetricsReader, Readiness),
        given: Option<Sockets>,
    ) -> Result<Admin, Failure> {
        let site = Arc::new(AdminSite {
            metrics,
            readiness,
            token: self.token.clone(),
            // A page in a browser of this machine reaches loopback by a name of its own.
            checks_host: self.token.is_none() && matches!(self.place, ListenAddress::Port(_)),
        });
        let service = service_fn(move |request: Request<Body>| {
            let response = site.answer(&request);
            async move { Ok::<_, Infallible>(response) }
        });
        let given =
            given.filter(|given| given.are_unix() == matches!(self.place, ListenAddress::Unix(_)));
        match &self.place {
            ListenAddress::Port(address) => {
                let server = match given {
                    Some(given) => Server::on_sockets(given),
                    None => Server::bind(address.as_str()),
                };
                let server = server.workers(1);
                let running = server.serve(service).map_err(refused)?;
                Ok(Admin::Port(running))
            }
            ListenAddress::Unix(path) => {
                // Its owner alone may connect.
                let server = match given {
                    Some(given) => Server::on_unix_sockets(given),
                    None => Server::bind_unix(path).mode(0o600),
                };
                let server = server.workers(1);
                let running = server.serve(service).map_err(refused)?;
                Ok(Admin::Unix(running))
            }
        }
    }
}

/// A token file that others may read holds no secret.
fn read_token(path: &Path) -> Result<String, Failure> {
    use std::os::unix::fs::PermissionsExt as _;
    let shown = path.display();
    let cannot = |error| {
        Failure::usage(format_args!(
            "--admin-token-file {shown} cannot be read: {error}"
        ))
    };
    let mode = std::fs::metadata(path)
        .map_err(cannot)?
        .permissions()
        .mode();
    if mode & 0o007 != 0 {
        return Err(Failure::usage(format_args!(
            "--admin-token-file {shown} may be read by every user (mode {:o}): chmod 600 {shown}",
            mode & 0o777
        )));
    }
    let text = std::fs::read_to_string(path).map_err(cannot)?;
    let token = text.trim();
    let is_visible = token.bytes().all(|byte| byte.is_ascii_graphic());
    if token.len() < TOKEN_CHARACTERS_MIN || !is_visible {
        return Err(Failure::usage(format_args!(
            "--admin-token-file {shown} must hold one token of {TOKEN_CHARACTERS_MIN} or more visible \
             ASCII characters"
        )));
    }
    Ok(token.to_owned())
}

/// The running server of the admin address. Dropping it closes it.
pub(super) enum Admin {
    Port(Running),
    Unix(Running<std::os::unix::net::SocketAddr>),
}

impl Admin {
    /// The TCP address; `None`: a Unix socket.
    pub(super) fn address(&self) -> Option<SocketAddr> {
        match self {
            Self::Port(running) => Some(running.local_addr()),
            Self::Unix(_) => None,
        }
    }
    /// Its sockets, for the next process.
    pub(super) async fn hand_over(&self) -> Result<Sockets, trunkline::Error> {
        match self {
            Self::Port(running) => running.hand_over().await,
            Self::Unix(running) => running.hand_over().await,
        }
    }
    /// Ends: the next process serves on these sockets, and has the file of a Unix socket.
    pub(super) async fn leave(self, sockets: Sockets) {
        match self {
            Self::Port(running) => running.drain_handed_over(sockets, Duration::ZERO).await,
            Self::Unix(running) => running.drain_handed_over(sockets, Duration::ZERO).await,
        };
    }
}

struct AdminSite {
    metrics: MetricsReader,
    readiness: Readiness,
    token: Option<String>,
    checks_host: bool,
}

type AdminResponse = Response<Full<Bytes>>;

impl AdminSite {
    fn answer<B>(&self, request: &Request<B>) -> AdminResponse {
        if !matches!(*request.method(), Method::GET | Method::HEAD) {
            let mut response = plain(StatusCode::METHOD_NOT_ALLOWED, "GET or HEAD\n");
            let allowed = HeaderValue::from_static("GET, HEAD");
            response.headers_mut().insert(ALLOW, allowed);
            return response;
        }
        if self.checks_host && !is_local_host(request) {
            let text = "the host must be an address or localhost\n";
            return plain(StatusCode::MISDIRECTED_REQUEST, text);
        }
        match request.uri().path() {
            "/healthz" => plain(StatusCode::OK, "ok\n"),
            "/readyz" if self.readiness.is_ready() => plain(StatusCode::OK, "ready\n"),
            "/readyz" => plain(StatusCode::SERVICE_UNAVAILABLE, "draining\n"),
            "/metrics" if self.admits(request) => {
                let mut response = plain(StatusCode::OK, self.metrics.read().to_openmetrics());
                let kind = HeaderValue::from_static(OPENMETRICS_TYPE);
                response.headers_mut().insert(CONTENT_TYPE, kind);
                response
            }
            "/metrics" => {
                let mut response = plain(StatusCode::UNAUTHORIZED, "a token is needed\n");
                let challenge = HeaderValue::from_static("Bearer realm=\"admin\"");
                response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
                response
            }
            _ => plain(
                StatusCode::NOT_FOUND,
                "there are /metrics, /healthz and /readyz\n",
            ),
        }
    }
    fn admits<B>(&self, request: &Request<B>) -> bool {
        let Some(token) = &self.token else {
            return true;
        };
        let given = request.headers().get(AUTHORIZATION);
        let given = given.and_then(|value| value.to_str().ok());
        let given = given.and_then(|value| value.split_once(' '));
        given.is_some_and(|(scheme, given)| {
            scheme.eq_ignore_ascii_case("bearer") && is_same(given.trim(), token)
        })
    }
}

/// In a time that does not depend on where two texts of one length differ.
fn is_same(given: &str, expected: &str) -> bool {
    let differs = |sum, (a, b): (u8, u8)| sum | (a ^ b);
    given.len() == expected.len() && given.bytes().zip(expected.bytes()).fold(0, differs) == 0
}

/// Whether the request names an address or `localhost`: a page of another site that has its own name resolve to
/// loopback names neither.
fn is_local_host<B>(request: &Request<B>) -> bool {
    let field = request.headers().get(HOST);
    let field = field.and_then(|value| value.to_str().ok());
    let authority = request.uri().authority();
    let Some(host) = authority.map(|it| it.as_str()).or(field) else {
        return true;
    };
    let name = match host.strip_prefix('[') {
        Some(bracketed) => bracketed.split(']').next(),
        None => host.split(':').next(),
    };
    name.is_some_and(|name| {
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok()
    })
}

fn plain(status: StatusCode, text: impl Into<Bytes>) -> AdminResponse {
    let mut response = Response::new(Full::new(text.into()));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(
        CONTENT_TYPE,
        HeaderValue::from_static("text/plain; charset=utf-8"),
    );
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
#[path = "admin_test.rs"]
mod admin_test;
