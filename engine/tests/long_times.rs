//! Times of any length as settings: programs write "no end" as `Duration::MAX`, by which no clock can be moved.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::origin::run;
use crate::support::peer::service_fn;
use http::{Request, Response, StatusCode};
use std::convert::Infallible;
use std::time::Duration;
use trunkline::client::{ClientTimeouts, ClientTls, HealthTimes, Protocols, RetryPolicy};
use trunkline::{Body, Client, Server, ServerConfig, Timeouts, Tls};

const VERSIONS: [Protocols; 3] = [Protocols::H1Only, Protocols::H2Only, Protocols::H3Only];

/// Every time of a server without an end.
fn endless_timeouts() -> Timeouts {
    let endless = Some(Duration::MAX);
    Timeouts::default()
        .with_handshake(endless)
        .with_settings(endless)
        .with_head(endless)
        .with_first_request(endless)
        .with_body_idle(endless)
        .with_write_stall(endless)
        .with_stream_stall(endless)
        .with_scarce_stall(endless)
        .with_idle(endless)
        .with_half_closed(endless)
        .with_age_max(endless)
        .with_rate_grace(Duration::MAX)
}

/// A client of one version, with every time without an end.
fn endless_client(protocols: Protocols) -> Client {
    let endless = Some(Duration::MAX);
    let timeouts = ClientTimeouts::default()
        .with_connect(endless)
        .with_queue_stall(endless)
        .with_queue(endless)
        .with_headers(endless)
        .with_body(endless)
        .with_expect(endless)
        .with_total(endless);
    let mut health = HealthTimes::default();
    (health.quiet, health.rested, health.suspect, health.dead) =
        (Duration::MAX, Duration::MAX, Duration::MAX, Duration::MAX);
    (health.unasked, health.unanswered) = (endless, endless);
    Client::builder()
        .tls(ClientTls::new().insecure())
        .protocols(protocols)
        .timeouts(timeouts)
        .idle_timeout(Duration::MAX)
        .warm_time(Duration::MAX)
        .connection_age(endless)
        .probe_patience(endless)
        .keep_alive(Duration::MAX, Duration::ZERO)
        .health(health)
        .build()
        .unwrap()
}

#[test]
fn a_server_and_a_client_whose_times_have_no_end_serve_every_version() {
    let config = ServerConfig::default()
        .with_timeouts(endless_timeouts())
        .with_http1_timeouts(Some(endless_timeouts()));
    let echo = service_fn(async |request: Request<Body>| {
        Ok::<_, Infallible>(Response::new(request.into_body()))
    });
    let server = Server::bind("127.0.0.1:0")
        .workers(1)
        .config(config)
        .tls(Tls::self_signed(["localhost"]).unwrap())
        .http3(true)
        .serve(echo)
        .unwrap();
    let url = format!("https://localhost:{}/", server.local_addr().port());
    run(async {
        for protocols in VERSIONS {
            let client = endless_client(protocols);
            for _ in 0..2 {
                let request = client.post(&*url).body("sent back");
                let request = request.timeout(Duration::MAX).queue_timeout(Duration::MAX);
                let response = request.send().await.unwrap();
                assert_eq!(response.into_body().text().await.unwrap(), "sent back");
            }
        }
        server.drain(Duration::MAX).await;
    });
}

#[test]
fn a_pause_before_a_repetition_that_has_no_end_waits() {
    let busy = service_fn(async |_: Request<Body>| {
        let response = Response::builder().status(StatusCode::SERVICE_UNAVAILABLE);
        Ok::<_, Infallible>(response.body(Body::empty()).unwrap())
    });
    let server = Server::bind("127.0.0.1:0").workers(1).serve(busy).unwrap();
    let url = format!("http://{}/", server.local_addr());
    run(async {
        let pauses = RetryPolicy::new(3).pauses(Duration::MAX, Duration::MAX);
        let client = Client::builder().retry(pauses).build().unwrap();
        let sent = client.get(&*url).send();
        let waited = tokio::time::timeout(Duration::from_millis(50), sent).await;
        assert!(waited.is_err(), "{waited:?}");
    });
}
