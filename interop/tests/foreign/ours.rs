//! Our server as foreign clients meet it.

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_service::Service;
use trunkline::{Body, Running, Server, ServerConfig, Tls};
use trunkline_interop::{Certificate, Endpoints, Workplace};

/// Our server, in the clear and under TLS.
pub(crate) struct Stage {
    pub(crate) clear: Running,
    pub(crate) secure: Running,
    pub(crate) endpoints: Endpoints,
    pub(crate) certificate: Certificate,
    pub(crate) place: Workplace,
}

/// Starts both with the default settings.
pub(crate) fn stage() -> Stage {
    stage_with(ServerConfig::default())
}

/// Starts both with these settings.
pub(crate) fn stage_with(config: ServerConfig) -> Stage {
    let place = Workplace::new().unwrap();
    let certificate = Certificate::write(place.path()).unwrap();
    let tls = Tls::from_pem_files(&certificate.chain, &certificate.key).unwrap();
    let server = || Server::bind("127.0.0.1:0").config(config.clone());
    let clear = server().serve(Site).unwrap();
    let secure = server().tls(tls).serve(Site).unwrap();
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
        place,
    }
}

#[derive(Clone)]
struct Site;

impl Service<Request<Body>> for Site {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>>>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }
    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(async { Ok(answer(request).await) })
    }
}

async fn answer(request: Request<Body>) -> Response<Body> {
    match request.uri().path() {
        "/bytes/1024" => Response::new(Body::full(vec![b'x'; 1024])),
        "/version" => Response::new(Body::full(format!("{:?}", request.version()))),
        "/echo" => Response::new(request.into_body()),
        "/trailers" => trailers(request).await,
        "/reset" => {
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                // Whoever hung up first, there is nothing more to do.
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
    let heard = collected
        .trailers()
        .and_then(|sent| sent.get("x-sent"))
        .cloned();
    let (mut sender, body) = Body::channel();
    tokio::task::spawn_local(async move {
        let _ = sender.send(collected.to_bytes()).await;
        let mut trailers = HeaderMap::new();
        trailers.insert("x-heard", heard.unwrap_or(HeaderValue::from_static("none")));
        sender.finish_with(trailers);
    });
    let mut response = Response::new(body);
    response
        .headers_mut()
        .insert("trailer", HeaderValue::from_static("x-heard"));
    response
}
