//! Routers, state, middleware and what a handler sees of its request.

use super::{Ask, Program, ask, get, post};
use axum::body::Body;
use axum::extract::{MatchedPath, NestedPath, OriginalUri, Request, State};
use axum::http::{HeaderMap, Method, StatusCode, Uri, Version, header};
use axum::middleware::{self, Next};
use axum::response::{AppendHeaders, Html, IntoResponse, NoContent, Redirect, Response};
use axum::routing::{any, get as route};
use axum::{Extension, Router};
use std::sync::Arc;

pub(super) fn programs() -> Vec<Program> {
    vec![
        Program {
            name: "hello",
            router: || Router::new().route("/", route(async || "hello")),
            asks: every_method("/")
                .into_iter()
                .chain([get("/nothing"), get("//"), get("/?"), get("/?q")])
                .collect(),
        },
        Program {
            name: "state and nests",
            router: nested,
            asks: vec![
                get("/api/v1/count"),
                get("/api/v1"),
                get("/api/v1/"),
                get("/api/missing"),
                get("/api/v1/where/a/b?c=d"),
                get("/merged"),
                post("/merged", "x"),
                get("/elsewhere"),
            ],
        },
        Program {
            name: "request seen",
            router: || Router::new().fallback(seen),
            asks: vec![
                get("/a/b?c=d"),
                get("/%20%2f?%20"),
                get("/a//b/./c/../d"),
                post("/p", "four"),
                post("/p", "").parts(&[b"ab", b"cd"]),
                get("/h").field("x-a", "1").field("x-a", "2").field("x-empty", ""),
                get("/c").field("cookie", "a=b").field("cookie", "c=d").differs(
                    "over HTTP/2 and HTTP/3 the parts of cookie are joined (RFC 9113 section 8.2.3)",
                ),
                get("/te").field("te", "trailers"),
                ask(Method::OPTIONS, "/o"),
                ask(Method::from_bytes(b"PURGE").unwrap(), "/m"),
                ask(Method::HEAD, "/head"),
                ask(Method::DELETE, "/d"),
                post("/r", "1").field("referer", "http://a/").field("user-agent", "me"),
            ],
        },
        Program {
            name: "responses",
            router: responses,
            asks: [
                "/unit", "/html", "/no-content", "/redirect", "/permanent", "/temporary", "/tuple", "/append",
                "/status", "/created", "/reset", "/bytes", "/vec", "/cookies", "/error", "/empty-string",
                "/odd-status",
            ]
            .into_iter()
            .flat_map(|path| [get(path), ask(Method::HEAD, path)])
            .chain(["/not-modified", "/no-content-with-one"].map(|path| {
                get(path).differs("hyper writes the body of a status that has none over HTTP/2")
            }))
            .chain([
                ask(Method::HEAD, "/not-modified"),
                ask(Method::HEAD, "/no-content-with-one")
                    .differs("a 204 has no content-length (RFC 9110 section 8.6)"),
            ])
            .collect(),
        },
        Program {
            name: "fields of a connection",
            router: connection_fields,
            asks: vec![
                get("/keep-alive"),
                get("/upgrade"),
                get("/transfer-encoding").differs("hyper frames what the handler frames; ours has one framing"),
                get("/te"),
                get("/named"),
                get("/date"),
                get("/server"),
                get("/content-length"),
                get("/obs-text"),
                get("/many"),
            ],
        },
        Program {
            name: "middleware",
            router: middlewares,
            asks: vec![
                get("/open"),
                get("/guarded"),
                get("/guarded").field("authorization", "Bearer yes"),
                get("/missing"),
            ],
        },
    ]
}

fn every_method(path: &'static str) -> Vec<Ask> {
    let methods = [
        "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY",
    ];
    methods
        .map(|method| ask(Method::from_bytes(method.as_bytes()).unwrap(), path))
        .to_vec()
}

fn nested() -> Router {
    let count = Arc::new(7_usize);
    let versioned = Router::new()
        .route(
            "/count",
            route(async |State(count): State<Arc<usize>>| count.to_string()),
        )
        .route("/", route(async || "index"))
        .route("/where/{*rest}", route(place))
        .with_state(count);
    let api = Router::new()
        .nest("/v1", versioned)
        .fallback(async || (StatusCode::NOT_FOUND, "no such API"));
    let merged = Router::new().route("/merged", route(async || "got").post(async || "posted"));
    Router::new()
        .nest("/api", api)
        .merge(merged)
        .fallback(async || (StatusCode::GONE, "gone"))
}

async fn place(
    OriginalUri(original): OriginalUri,
    matched: MatchedPath,
    nested: NestedPath,
    uri: Uri,
) -> String {
    format!(
        "{} {} {} {}",
        original.path(),
        matched.as_str(),
        nested.as_str(),
        uri.path()
    )
}

/// Everything that a handler sees of a request.
async fn seen(request: Request) -> String {
    let (head, body) = request.into_parts();
    let hint = http_body::Body::size_hint(&body);
    let is_empty = http_body::Body::is_end_stream(&body);
    let body = axum::body::to_bytes(body, usize::MAX).await.unwrap();
    let mut fields: Vec<_> = head
        .headers
        .iter()
        .map(|(name, value)| format!("{name}={}", String::from_utf8_lossy(value.as_bytes())))
        .collect();
    fields.sort();
    let has_scheme = head.uri.scheme().is_some();
    let version = match head.version {
        Version::HTTP_3 => Version::HTTP_2,
        version => version,
    };
    format!(
        "{} {} {version:?} scheme {has_scheme} authority {:?} {fields:?} {hint:?} {is_empty} {body:?}",
        head.method,
        head.uri
            .path_and_query()
            .map_or("none", |target| target.as_str()),
        head.uri
            .authority()
            .map(|authority| authority.host().to_owned()),
    )
}

fn responses() -> Router {
    Router::new()
        .route("/unit", route(async || ()))
        .route("/html", route(async || Html("<p>ä</p>")))
        .route("/no-content", route(async || NoContent))
        .route(
            "/redirect",
            route(async || Redirect::to("/unit?x")).head(async || "not followed"),
        )
        .route(
            "/permanent",
            any(async || (StatusCode::PERMANENT_REDIRECT, "no location")),
        )
        .route(
            "/temporary",
            any(async || (StatusCode::FOUND, [(header::LOCATION, "")])),
        )
        .route(
            "/tuple",
            route(async || (StatusCode::ACCEPTED, [("x-a", "b")], "tuple")),
        )
        .route(
            "/append",
            route(async || (AppendHeaders([("x-a", "1"), ("x-a", "2")]), "appended")),
        )
        .route("/status", route(async || StatusCode::IM_A_TEAPOT))
        .route("/created", route(async || (StatusCode::CREATED, "made")))
        .route(
            "/not-modified",
            route(async || (StatusCode::NOT_MODIFIED, "body")),
        )
        .route(
            "/reset",
            route(async || (StatusCode::RESET_CONTENT, "body")),
        )
        .route(
            "/no-content-with-one",
            route(async || (StatusCode::NO_CONTENT, "body")),
        )
        .route(
            "/bytes",
            route(async || bytes::Bytes::from_static(b"\0\xff")),
        )
        .route("/vec", route(async || vec![b'x'; 100_000]))
        .route(
            "/cookies",
            route(async || {
                AppendHeaders([
                    (header::SET_COOKIE, "a=b; Path=/"),
                    (header::SET_COOKIE, "c=d"),
                ])
            }),
        )
        .route(
            "/error",
            route(async || Err::<(), _>((StatusCode::BAD_GATEWAY, "bad"))),
        )
        .route("/empty-string", route(async || ""))
        .route(
            "/odd-status",
            route(async || (StatusCode::from_u16(799).unwrap(), "odd")),
        )
}

async fn with(name: header::HeaderName, value: &'static [u8]) -> Response {
    let mut response = "said".into_response();
    let value = header::HeaderValue::from_bytes(value).unwrap();
    response.headers_mut().insert(name, value);
    response
}

fn connection_fields() -> Router {
    let name = header::HeaderName::from_static;
    Router::new()
        .route(
            "/keep-alive",
            route(async move || with(name("keep-alive"), b"timeout=5").await),
        )
        .route(
            "/upgrade",
            route(async move || with(name("upgrade"), b"x").await),
        )
        .route(
            "/transfer-encoding",
            route(async || with(header::TRANSFER_ENCODING, b"chunked").await),
        )
        .route("/te", route(async || with(header::TE, b"trailers").await))
        .route(
            "/named",
            route(async move || {
                let mut response = with(name("x-a"), b"of the connection").await;
                let options = header::HeaderValue::from_static("X-A, x-b");
                response.headers_mut().insert(header::CONNECTION, options);
                response
            }),
        )
        .route("/date", route(async || with(header::DATE, b"never").await))
        .route("/server", route(async || with(header::SERVER, b"me").await))
        .route(
            "/content-length",
            route(async || with(header::CONTENT_LENGTH, b"4").await),
        )
        .route(
            "/obs-text",
            route(async move || with(name("x-a"), b"\xe4\xff").await),
        )
        .route(
            "/many",
            route(async || {
                let mut fields = HeaderMap::new();
                for at in 0..90 {
                    let name =
                        header::HeaderName::from_bytes(format!("x-{at}").as_bytes()).unwrap();
                    fields.insert(name, header::HeaderValue::from(at));
                }
                (fields, Body::empty())
            }),
        )
}

#[derive(Clone)]
struct User(&'static str);

async fn guard(mut request: Request, next: Next) -> Result<Response, StatusCode> {
    let shown = request.headers().get(header::AUTHORIZATION);
    if shown.is_none_or(|shown| shown != "Bearer yes") {
        return Err(StatusCode::UNAUTHORIZED);
    }
    request.extensions_mut().insert(User("ann"));
    let mut response = next.run(request).await;
    response
        .headers_mut()
        .insert("x-guard", header::HeaderValue::from_static("passed"));
    Ok(response)
}

fn middlewares() -> Router {
    let guarded = Router::new()
        .route(
            "/guarded",
            route(async |Extension(user): Extension<User>| user.0),
        )
        .route_layer(middleware::from_fn(guard));
    Router::new()
        .route(
            "/open",
            route(async || "open").layer(Extension(User("nobody"))),
        )
        .merge(guarded)
        .layer(middleware::map_response(async |mut response: Response| {
            response
                .headers_mut()
                .insert("x-outer", header::HeaderValue::from_static("yes"));
            response
        }))
}
