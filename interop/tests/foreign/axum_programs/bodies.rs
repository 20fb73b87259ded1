//! Bodies of responses and requests: streams, channels, sizes, trailers, events, early ends.

use super::{Program, ask, get, post};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{Method, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get as route, post as route_post};
use futures_util::{StreamExt, stream};
use http_body::{Frame, SizeHint};
use http_body_util::{BodyExt, Channel, StreamBody};
use std::convert::Infallible;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(super) fn programs() -> Vec<Program> {
    vec![
        Program {
            name: "bodies of responses",
            router: responses,
            asks: [
                "/stream", "/channel", "/empty-stream", "/empty-frames", "/failing", "/failing-first", "/big",
                "/exact-hint", "/short-of-length", "/spawned", "/panicking", "/length-without-hint",
            ]
            .into_iter()
            .flat_map(|path| [get(path), ask(Method::HEAD, path)])
            .chain(["/trailers", "/trailers-alone"].into_iter().flat_map(|path| {
                [
                    get(path).field("te", "trailers"),
                    get(path).differs("without `te: trailers` hyper drops trailers over HTTP/1.1; ours leaves it to the peer"),
                    ask(Method::HEAD, path).differs("to HEAD over HTTP/1.1 hyper takes the field trailer away"),
                ]
            }))
            .chain([get("/beyond-length").differs(
                "hyper drops what is beyond the length over HTTP/1.1, and its client takes the rest for whole; ours cuts it",
            )])
            .collect(),
        },
        Program {
            name: "events",
            router: || {
                Router::new().route(
                    "/",
                    route(async || {
                        let events = ["a", "b\nc", ""].map(|data| {
                            Ok::<_, Infallible>(Event::default().event("word").id("7").data(data))
                        });
                        Sse::new(stream::iter(events)).keep_alive(KeepAlive::default())
                    }),
                )
            },
            asks: vec![get("/"), ask(Method::HEAD, "/")],
        },
        Program {
            name: "bodies of requests",
            router: requests,
            asks: vec![
                post("/echo", "whole"),
                post("/echo", "").parts(&[b"a", b"", b"b"]),
                post("/echo", vec![b'x'; 1 << 20]),
                post("/ignored", vec![b'x'; 1 << 20]),
                post("/ignored", "").parts(&[b"a", b"b"]),
                post("/dropped-then-slow", vec![b'x'; 1 << 20]),
                post("/first", "").parts(&[b"first", b"second"]),
                post("/refused", vec![b'x'; 1 << 20]),
                post("/mirror", vec![b'x'; 300_000]),
                get("/echo"),
                ask(Method::DELETE, "/ignored"),
            ],
        },
    ]
}

/// A body with a hint of its own.
struct Hinted(Option<Bytes>, SizeHint);

impl http_body::Body for Hinted {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.0.take().map(|bytes| Ok(Frame::data(bytes))))
    }
    fn size_hint(&self) -> SizeHint {
        self.1
    }
}

fn hinted(bytes: &'static [u8], exact: Option<u64>) -> Body {
    let hint = exact.map_or_else(SizeHint::default, SizeHint::with_exact);
    Body::new(Hinted(Some(Bytes::from_static(bytes)), hint))
}

fn words() -> Body {
    Body::from_stream(stream::iter(
        ["one ", "two ", "three"].map(Ok::<_, Infallible>),
    ))
}

fn with_trailers(data: &[&'static str]) -> Response {
    let mut trailers = header::HeaderMap::new();
    trailers.insert("x-sum", header::HeaderValue::from_static("12"));
    let data: Vec<_> = data
        .iter()
        .map(|data| Frame::data(Bytes::from_static(data.as_bytes())))
        .collect();
    let frames = data
        .into_iter()
        .chain([Frame::trailers(trailers)])
        .map(Ok::<_, Infallible>);
    let body = Body::new(StreamBody::new(stream::iter(frames)));
    ([(header::TRAILER, "x-sum")], body).into_response()
}

fn responses() -> Router {
    let failing = |before: usize| {
        let parts = (0..before)
            .map(|_| Ok("part"))
            .chain([Err(io::Error::other("no more"))]);
        Body::from_stream(stream::iter(parts.collect::<Vec<_>>()))
    };
    Router::new()
        .route("/stream", route(async || words()))
        .route(
            "/channel",
            route(async || {
                let (mut sender, body) = Channel::<Bytes, Infallible>::new(2);
                tokio::spawn(async move {
                    for word in ["a", "b", "c", "d"] {
                        sender.send_data(Bytes::from(word)).await.unwrap();
                    }
                });
                Body::new(body)
            }),
        )
        .route(
            "/empty-stream",
            route(async || Body::from_stream(stream::empty::<Result<Bytes, Infallible>>())),
        )
        .route(
            "/empty-frames",
            route(async || {
                Body::from_stream(stream::iter(["", "a", "", ""].map(Ok::<_, Infallible>)))
            }),
        )
        .route("/failing", route(async move || failing(2)))
        .route("/failing-first", route(async move || failing(0)))
        .route(
            "/trailers",
            route(async || with_trailers(&["data", "more"])),
        )
        .route("/trailers-alone", route(async || with_trailers(&[])))
        .route(
            "/big",
            route(async || {
                let chunk = Bytes::from(vec![b'x'; 100_000]);
                Body::from_stream(stream::iter(vec![Ok::<_, Infallible>(chunk); 20]))
            }),
        )
        .route("/exact-hint", route(async || hinted(b"12345", Some(5))))
        .route("/short-of-length", route(async || hinted(b"123", Some(5))))
        .route(
            "/beyond-length",
            route(async || hinted(b"1234567", Some(5))),
        )
        .route(
            "/length-without-hint",
            route(async || ([(header::CONTENT_LENGTH, "5")], hinted(b"12345", None))),
        )
        .route(
            "/spawned",
            route(async || tokio::spawn(async { "of a task" }).await.unwrap()),
        )
        .route(
            "/panicking",
            route(async || {
                let parts = stream::iter([0, 1]).map(|at| match at {
                    0 => Ok::<_, Infallible>("part"),
                    _ => panic!("a body of a test"),
                });
                Body::from_stream(parts)
            }),
        )
}

fn requests() -> Router {
    Router::new()
        .route("/echo", any(async |body: Body| body))
        .route("/ignored", any(async || "ignored"))
        .route(
            "/dropped-then-slow",
            route_post(async |request: Request| {
                drop(request);
                tokio::task::yield_now().await;
                "dropped"
            }),
        )
        .route(
            "/first",
            route_post(async |mut body: Body| {
                let frame = body.frame().await.unwrap().unwrap();
                String::from_utf8(frame.into_data().unwrap()[..1].to_vec()).unwrap()
            }),
        )
        .route(
            "/refused",
            route_post(async || (StatusCode::PAYLOAD_TOO_LARGE, "too much")),
        )
        .route(
            "/mirror",
            route_post(async |body: Body| {
                let changed = body.into_data_stream().map(|part| {
                    part.map(|part| part.iter().map(u8::to_ascii_uppercase).collect::<Vec<_>>())
                });
                Body::from_stream(changed)
            }),
        )
}
