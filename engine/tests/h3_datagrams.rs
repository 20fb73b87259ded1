//! HTTP datagrams (RFC 9297) beside the bytes of an extended CONNECT, over real sockets.
#![allow(clippy::unwrap_used, reason = "what fails here fails its test")]

use crate::support::http3::Origin;
use crate::support::origin::run;
use crate::support::peer;
use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::BodyExt;
use std::sync::{Arc, Mutex};
use trunkline::client::Client;
use trunkline::upgrade::Protocol;
use trunkline::{Body, BodySender, Datagrams, ErrorKind, Server, ServerConfig};

/// An extended CONNECT, and the sender that keeps our side of it open.
fn tunnel(origin: &Origin) -> (Request<Body>, BodySender) {
    let (sender, body) = Body::channel();
    let mut request = Request::new(body);
    *request.method_mut() = Method::CONNECT;
    *request.uri_mut() = origin.url("/tunnel").parse().unwrap();
    let protocol = Protocol::new("connect-udp");
    request.extensions_mut().insert(protocol);
    (request, sender)
}

fn datagrams_of<B>(response: &Response<B>) -> Option<Datagrams> {
    response.extensions().get().cloned()
}

/// Sends back what comes, bytes and datagrams.
fn echo() -> Origin {
    Origin::with_datagrams(|request: Request<Body>| async {
        if let Some(datagrams) = request.extensions().get::<Datagrams>().cloned() {
            tokio::spawn(async move {
                while let Some(datagram) = datagrams.receive().await {
                    datagrams.send(datagram).unwrap();
                }
            });
        }
        Response::new(request.into_body())
    })
}

#[test]
fn datagrams_go_both_ways_beside_the_bytes_of_their_tunnel() {
    run(async {
        let origin = echo();
        let client = origin.client().datagrams(true).build().unwrap();
        let (first, mut up) = tunnel(&origin);
        let (second, _other_up) = tunnel(&origin);
        let first = client.execute(first).await.unwrap();
        let second = client.execute(second).await.unwrap();
        let (datagrams, others) = (
            datagrams_of(&first).unwrap(),
            datagrams_of(&second).unwrap(),
        );
        let large = vec![7; datagrams.size_max().unwrap()];
        for datagram in [&b""[..], b"ping", &large] {
            datagrams.send(datagram.to_vec()).unwrap();
            others.send("other").unwrap();
            assert_eq!(datagrams.receive().await.as_deref(), Some(datagram));
            assert_eq!(others.receive().await.as_deref(), Some(&b"other"[..]));
        }
        let larger = vec![7; 64 * 1024];
        assert!(datagrams.send(larger).is_err(), "no packet is as large");

        up.send("bytes").await.unwrap();
        let mut body = first.into_body();
        let bytes = body.frame().await.unwrap().unwrap().into_data().unwrap();
        assert_eq!(bytes, "bytes");
        up.finish();
        assert!(body.frame().await.is_none());
        assert_eq!(datagrams.receive().await, None, "the tunnel is over");
        assert!(datagrams.send("late").is_err());
        others.send("still").unwrap();
        assert_eq!(others.receive().await.as_deref(), Some(&b"still"[..]));
        assert_eq!((datagrams.dropped(), others.dropped()), (0, 0));
    });
}

#[test]
fn a_handler_learns_that_its_tunnel_is_over() {
    run(async {
        let (reported, mut reports) = tokio::sync::mpsc::unbounded_channel();
        let origin = Origin::with_datagrams(move |request: Request<Body>| {
            let (datagrams, reported) = (
                request.extensions().get::<Datagrams>().cloned(),
                reported.clone(),
            );
            async move {
                tokio::spawn(async move {
                    while let Some(datagram) = datagrams.as_ref().unwrap().receive().await {
                        reported.send(datagram).unwrap();
                    }
                    reported.send("over".into()).unwrap();
                });
                Response::new(request.into_body())
            }
        });
        let client = origin.client().datagrams(true).build().unwrap();
        let (request, up) = tunnel(&origin);
        let response = client.execute(request).await.unwrap();
        datagrams_of(&response).unwrap().send("one").unwrap();
        assert_eq!(reports.recv().await.unwrap(), "one");
        // The client gives the exchange up.
        drop((response, up));
        assert_eq!(reports.recv().await.unwrap(), "over");
    });
}

#[test]
fn only_extended_connects_have_them_and_only_where_both_sides_have_said_so() {
    run(async {
        let origin = Origin::with_datagrams(|request: Request<Body>| async move {
            let has = request.extensions().get::<Datagrams>().is_some();
            let mut response = Response::new(Body::empty());
            response
                .headers_mut()
                .insert("x-has", u16::from(has).into());
            response
        });
        for (takes, sends) in [(true, true), (false, false)] {
            let client = origin.client().datagrams(takes).build().unwrap();
            let response = client.get(origin.url("/")).send().await.unwrap();
            assert_eq!(response.headers()["x-has"], "0");
            assert!(datagrams_of(&response).is_none());
            let (request, _up) = tunnel(&origin);
            let response = client.execute(request).await.unwrap();
            assert_eq!(
                response.headers()["x-has"],
                "1",
                "the client may still say so"
            );
            assert_eq!(datagrams_of(&response).is_some(), sends);
        }
        let silent = Origin::with_extended_connect(|request: Request<Body>| async move {
            assert!(request.extensions().get::<Datagrams>().is_none());
            Response::new(Body::empty())
        });
        let client = silent.client().datagrams(true).build().unwrap();
        let (request, _up) = tunnel(&silent);
        let response = client.execute(request).await.unwrap();
        assert_eq!(response.status(), 200);
        assert!(datagrams_of(&response).is_none());
    });
}

#[test]
fn of_those_that_a_handler_leaves_unread_the_latest_are_kept() {
    run(async {
        let kept: Arc<Mutex<Option<Datagrams>>> = Arc::default();
        let keeper = Arc::clone(&kept);
        let origin = Origin::with_datagrams(move |request: Request<Body>| {
            if let Some(datagrams) = request.extensions().get().cloned() {
                *keeper.lock().unwrap() = Some(datagrams);
            }
            async { Response::new(request.into_body()) }
        });
        let client = origin.client().datagrams(true).build().unwrap();
        let (request, _up) = tunnel(&origin);
        let response = client.execute(request).await.unwrap();
        let datagrams = datagrams_of(&response).unwrap();
        for number in 0..100_u8 {
            datagrams.send(vec![number]).unwrap();
            if number % 50 == 49 {
                // So that none waits here for too long: what came before its answer has arrived.
                goes_round(&client, &origin).await;
            }
        }
        let at_handler = kept.lock().unwrap().take().unwrap();
        assert_eq!((datagrams.dropped(), at_handler.dropped()), (0, 36));
        assert_eq!(at_handler.receive().await, Some(Bytes::from(vec![36])));
    });
}

async fn goes_round(client: &Client, origin: &Origin) {
    let response = client.get(origin.url("/")).send().await.unwrap();
    response.into_body().collect().await.unwrap();
}

#[test]
fn a_server_that_cannot_have_them_says_so() {
    let config = ServerConfig::default().with_datagrams(true);
    let server = Server::bind("127.0.0.1:0").config(config);
    let refused = server.serve(peer::service(|_| async { Response::new(Body::empty()) }));
    let error = refused.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Config);
    assert!(error.to_string().contains("extended_connect"), "{error}");
}

#[test]
fn a_connect_that_does_not_say_what_for_is_refused() {
    run(async {
        let origin = echo();
        let client = origin.client().build().unwrap();
        let (mut request, _up) = tunnel(&origin);
        request.extensions_mut().remove::<Protocol>();
        let error = client.execute(request).await.unwrap_err();
        assert!(error.to_string().contains("upgrade::Protocol"), "{error}");
    });
}
