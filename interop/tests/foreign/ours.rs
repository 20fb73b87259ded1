//! Our server as foreign clients meet it.

use crate::way::ten_mebibytes;
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use tokio::sync::Semaphore;
use tower_service::Service;
use trunkline::{Body, Datagrams, EarlyData, InterimSender, Running, Server, ServerConfig, Tls};
use trunkline_interop::{Certificate, Endpoints, Workplace};

/// Our server, in the clear and under TLS, there with HTTP/3.
pub(crate) struct Stage {
    pub(crate) clear: Running,
    pub(crate) secure: Running,
    pub(crate) endpoints: Endpoints,
    pub(crate) certificate: Certificate,
    pub(crate) workplace: Workplace,
    /// One permit lets one answer to `/hold` go.
    pub(crate) held: Arc<Semaphore>,
}

/// Starts both with the default settings.
pub(crate) fn stage() -> Stage {
    stage_with(ServerConfig::default())
}

/// Starts both with these settings.
pub(crate) fn stage_with(config: ServerConfig) -> Stage {
    stage_of(config, false)
}

/// Starts both, HTTP/3 with early data.
pub(crate) fn stage_early() -> Stage {
    stage_of(ServerConfig::default(), true)
}

fn stage_of(config: ServerConfig, early_data: bool) -> Stage {
    let workplace = Workplace::new().unwrap();
    let certificate = Certificate::write(workplace.path()).unwrap();
    let tls = Tls::from_pem_files(&certificate.chain, &certificate.key).unwrap();
    // Bounds of a worker are met by one of them.
    let server = || {
        Server::bind("127.0.0.1:0")
            .workers(1)
            .config(config.clone())
    };
    let site = Site::default();
    let held = Arc::clone(&site.held);
    let clear = server().serve(site.clone()).unwrap();
    let secure = server().tls(tls).http3(true).early_data(early_data);
    let secure = secure.serve(site).unwrap();
    let endpoints = Endpoints {
        h1: Some(clear.local_addr().port()),
        h2c: clear.local_addr().port(),
        tls: secure.local_addr().port(),
    };
    Stage {
        clear,
        secure,
        endpoints,
        certificate,
        workplace,
        held,
    }
}

#[derive(Clone)]
struct Site {
    held: Arc<Semaphore>,
    /// One permit for every handler of `/never` whose client gave up.
    gone: Arc<Semaphore>,
}

impl Default for Site {
    fn default() -> Self {
        let none = || Arc::new(Semaphore::new(0));
        Self {
            held: none(),
            gone: none(),
        }
    }
}

/// Tells when it is dropped.
struct CloseAtEnd(Arc<Semaphore>);

impl Drop for CloseAtEnd {
    fn drop(&mut self) {
        self.0.add_permits(1);
    }
}

impl Service<Request<Body>> for Site {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let site = self.clone();
        Box::pin(async move { Ok(answer(site, request).await) })
    }
}

async fn answer(site: Site, request: Request<Body>) -> Response<Body> {
    match request.uri().path() {
        "/bytes/1024" => Response::new(Body::full(vec![b'x'; 1024])),
        "/version" => Response::new(Body::full(format!("{:?}", request.version()))),
        "/echo" => Response::new(request.into_body()),
        "/when" => {
            let is_early = request.extensions().get::<EarlyData>().is_some();
            Response::new(Body::full(if is_early { "early" } else { "late" }))
        }
        "/datagrams" => {
            if let Some(datagrams) = request.extensions().get::<Datagrams>().cloned() {
                tokio::task::spawn_local(async move {
                    while let Some(datagram) = datagrams.receive().await {
                        // The other end may be gone already.
                        let _ = datagrams.send(datagram);
                    }
                });
            }
            Response::new(request.into_body())
        }
        "/early" => {
            let interims = request.extensions().get::<InterimSender>();
            if let Some(interims) = interims {
                let hint = Response::builder().status(StatusCode::EARLY_HINTS);
                let hint = hint.header("link", "</style.css>; rel=preload");
                // The other end may be gone already.
                let _ = interims.send(hint.body(()).unwrap());
            }
            Response::new(Body::full("done"))
        }
        "/page" => page(),
        path if path.starts_with("/part/") => {
            let image = Body::full("<svg xmlns='http://www.w3.org/2000/svg'/>");
            typed("image/svg+xml", image)
        }
        "/ten" => Response::new(Body::full(ten_mebibytes())),
        "/trailers" => trailers(request).await,
        // Half an answer; the rest when the test lets it go.
        "/hold" => {
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                let _ = sender.send("held ").await;
                if let Ok(permit) = site.held.acquire().await {
                    permit.forget();
                    let _ = sender.send("and let go").await;
                    sender.finish();
                }
            });
            Response::new(body)
        }
        // As above, and then it is cut off.
        "/cut" => {
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                let _ = sender.send(vec![0; 512]).await;
                if let Ok(permit) = site.held.acquire().await {
                    permit.forget();
                }
                sender.fail("cut off");
            });
            let mut response = Response::new(body);
            let length = HeaderValue::from_static("1024");
            response.headers_mut().insert("content-length", length);
            response
        }
        "/release" => {
            site.held.add_permits(1);
            Response::new(Body::empty())
        }
        // An answer without an end, until the client gives up.
        "/never" => {
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                let _close = CloseAtEnd(site.gone);
                // The request's body is read, so that a reset is noticed too.
                let _upload = tokio::task::spawn_local(request.into_body().collect());
                while sender.send(vec![0; 16 * 1024]).await.is_ok() {}
            });
            Response::new(body)
        }
        "/gone" => {
            if let Ok(permit) = site.gone.acquire().await {
                permit.forget();
            }
            Response::new(Body::full("gone"))
        }
        // Answers without reading the body.
        "/refuse" => status(StatusCode::PAYLOAD_TOO_LARGE, "no"),
        "/reset" => {
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                // The other end may be gone already.
                let _ = sender.send(vec![0; 512]).await;
                sender.fail("cut off");
            });
            Response::new(body)
        }
        // Waits for the end of the request's body before it answers.
        "/count" => match request.into_body().collect().await {
            Ok(body) => Response::new(Body::full(body.to_bytes().len().to_string())),
            Err(why) => status(StatusCode::BAD_REQUEST, why.to_string()),
        },
        _ => status(StatusCode::NOT_FOUND, "no such path"),
    }
}

/// The parts of a page of [`page`].
pub(crate) const PARTS: u64 = 200;

/// A page of many parts; when all are there it says in itself how many came over which protocol.
fn page() -> Response<Body> {
    let parts: String = (0..PARTS)
        .map(|part| format!("<img src='/part/{part}'>"))
        .collect();
    let report = "onload = () => {
        const count = {};
        for (const entry of performance.getEntriesByType('resource'))
            count[entry.nextHopProtocol] = (count[entry.nextHopProtocol] ?? 0) + 1;
        document.body.append('loaded ' + JSON.stringify(count));
    }";
    let head = "<!doctype html><link rel=icon href='data:,'>";
    let html = format!("{head}<script>{report}</script>{parts}");
    typed("text/html", Body::full(html))
}

fn typed(kind: &'static str, body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert("content-type", kind);
    response
}

fn status(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(Body::full(text));
    *response.status_mut() = status;
    response
}

/// Sends back the body, and behind it what trailer `x-sent` said.
async fn trailers(request: Request<Body>) -> Response<Body> {
    let Ok(collected) = request.into_body().collect().await else {
        return status(StatusCode::BAD_REQUEST, "the body was cut off");
    };
    let received = collected
        .trailers()
        .and_then(|sent| sent.get("x-sent"))
        .cloned();
    let (mut sender, body) = Body::channel();
    tokio::task::spawn_local(async move {
        let _ = sender.send(collected.to_bytes()).await;
        let mut trailers = HeaderMap::new();
        trailers.insert(
            "x-heard",
            received.unwrap_or(HeaderValue::from_static("none")),
        );
        sender.finish_with(trailers);
    });
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert("trailer", HeaderValue::from_static("x-heard"));
    response
}
