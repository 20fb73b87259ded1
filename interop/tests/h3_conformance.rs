//! Our server against the cases of `conformance/h3`: a raw QUIC client breaks one rule of RFC 9114,
//! 9204, 9220 or 9297 after the other and looks at the code and the scope of what comes back.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use http::{Request, Response, StatusCode};
use http_body_util::BodyExt;
use std::convert::Infallible;
use std::future::{Future, pending};
use std::path::Path;
use std::pin::Pin;
use std::process::Command;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;
use trunkline::upgrade::Protocol;
use trunkline::{Body, Metrics, Server, ServerConfig, Timeouts, Tls};
use trunkline_interop::{find_python, is_python_installed};

#[test]
fn every_rule_that_a_client_can_break_is_held() {
    if !is_python_installed() {
        return;
    }
    // Hundreds of handshakes are half open while the client makes more, which takes a busy machine long.
    let timeouts = Timeouts::default().with_handshake(Some(Duration::from_secs(100)));
    let config = ServerConfig::default()
        .with_extended_connect(true)
        .with_timeouts(timeouts);
    let running = Server::bind("127.0.0.1:0")
        .workers(1)
        .tls(Tls::self_signed(["localhost"]).unwrap())
        .http3(true)
        .config(config)
        .serve(Site)
        .unwrap();
    let cases = Path::new(env!("CARGO_MANIFEST_DIR")).join("../conformance/h3/run.py");
    let output = Command::new(find_python().unwrap())
        .args(["-B", "-u"])
        .arg(cases)
        .arg(running.local_addr().port().to_string())
        .output()
        .unwrap();
    let printed = String::from_utf8_lossy(&output.stdout);
    let complaint = String::from_utf8_lossy(&output.stderr);
    let broken: Vec<&str> = printed
        .lines()
        .filter(|line| !line.starts_with("ok "))
        .collect();
    // The last line counts.
    eprintln!(
        "HTTP/3 conformance: {}",
        broken.last().unwrap_or(&"nothing was run")
    );
    assert!(
        output.status.success(),
        "{}\n{complaint}",
        broken.join("\n")
    );
    if std::env::var_os("TRUNKLINE_CASES").is_none() {
        counts_what_was_tried(&running.metrics());
    }
}

/// The metrics have, by name, what QUIC refused and the useless work that it was made to do.
fn counts_what_was_tried(metrics: &Metrics) {
    for due in [
        "INTERNAL_ERROR",
        "FLOW_CONTROL_ERROR",
        "STREAM_LIMIT_ERROR",
        "CONNECTION_ID_LIMIT_ERROR",
        "PROTOCOL_VIOLATION",
    ] {
        let counted = metrics.quic_violations.iter().any(|(name, _)| *name == due);
        assert!(counted, "{due}: {:?}", metrics.quic_violations);
    }
    assert!(metrics.quic_moves >= 75, "{}", metrics.quic_moves);
    assert!(metrics.quic_answers > 0);
    assert!(metrics.quic_answers_withheld > 0);
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
        "/echo" => Response::new(request.into_body()),
        // The length of the body, once it is whole.
        "/count" => match request.into_body().collect().await {
            Ok(body) => Response::new(Body::full(body.to_bytes().len().to_string())),
            Err(why) => {
                let mut refusal = Response::new(Body::full(why.to_string()));
                *refusal.status_mut() = StatusCode::BAD_REQUEST;
                refusal
            }
        },
        // Half an answer.
        "/never" => {
            let (mut sender, body) = Body::channel();
            tokio::task::spawn_local(async move {
                if sender.send("half").await.is_ok() {
                    pending::<()>().await;
                }
            });
            Response::new(body)
        }
        "/protocol" => {
            let protocol = request.extensions().get::<Protocol>();
            Response::new(Body::full(
                protocol.map_or("none", Protocol::as_str).to_owned(),
            ))
        }
        "/cookie" => {
            let cookies = request.headers().get_all("cookie").iter();
            let lines: Vec<_> = cookies.map(|line| line.as_bytes()).collect();
            Response::new(Body::full(lines.join(&b"\n"[..])))
        }
        _ => Response::new(Body::full("ok")),
    }
}
