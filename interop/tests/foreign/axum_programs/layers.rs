//! Layers of tower and tower-http around routers.

use super::{Program, ask, get, post};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::error_handling::HandleErrorLayer;
use axum::http::{Method, Request, StatusCode, header};
use axum::routing::{any, get as route, post as route_post};
use futures_util::stream;
use std::convert::Infallible;
use std::future::pending;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;
use tower::ServiceBuilder;
use tower_http::add_extension::AddExtensionLayer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::compression::CompressionLayer;
use tower_http::cors::{Any, CorsLayer};
use tower_http::decompression::RequestDecompressionLayer;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::normalize_path::NormalizePathLayer;
use tower_http::request_id::{
    MakeRequestId, PropagateRequestIdLayer, RequestId, SetRequestIdLayer,
};
use tower_http::sensitive_headers::SetSensitiveHeadersLayer;
use tower_http::services::{ServeDir, ServeFile};
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::{RequestBodyTimeoutLayer, TimeoutLayer};
use tower_http::trace::TraceLayer;
use tower_http::validate_request::ValidateRequestHeaderLayer;

const LONG: &str = "many requests, few connections\n";

pub(super) fn programs() -> Vec<Program> {
    vec![
        Program {
            name: "trace, request id, fields",
            router: fields,
            asks: vec![
                get("/"),
                get("/").field("x-request-id", "mine"),
                get("/none"),
            ],
        },
        Program {
            name: "CORS",
            router: || {
                let cors = CorsLayer::new()
                    .allow_origin(["http://a".parse().unwrap()])
                    .allow_methods([Method::PUT])
                    .allow_headers(Any)
                    .max_age(Duration::from_secs(60));
                Router::new()
                    .route("/", route(async || "shared"))
                    .layer(cors)
            },
            asks: vec![
                get("/").field("origin", "http://a"),
                get("/").field("origin", "http://b"),
                get("/"),
                ask(Method::OPTIONS, "/")
                    .field("origin", "http://a")
                    .field("access-control-request-method", "PUT"),
                ask(Method::OPTIONS, "/"),
            ],
        },
        Program {
            name: "compression",
            router: compressed,
            asks: ["gzip", "br", "zstd", "identity", "gzip;q=0, *", "deflate"]
                .into_iter()
                .flat_map(|coding| {
                    ["/long", "/short", "/stream", "/range", "/coded"]
                        .map(|path| get(path).field("accept-encoding", coding))
                })
                .chain([
                    get("/long"),
                    ask(Method::HEAD, "/long").field("accept-encoding", "gzip"),
                ])
                .collect(),
        },
        Program {
            name: "compressed requests",
            router: || {
                Router::new()
                    .route("/", route_post(async |body: Bytes| body))
                    .layer(RequestDecompressionLayer::new())
            },
            asks: vec![
                post("/", GZIP).field("content-encoding", "gzip"),
                post("/", &GZIP[..20]).field("content-encoding", "gzip"),
                post("/", "plain"),
                post("/", "x").field("content-encoding", "unknown"),
            ],
        },
        Program {
            name: "time and panics",
            router: || {
                let late = StatusCode::REQUEST_TIMEOUT;
                Router::new()
                    .route("/never", any(async || pending::<()>().await))
                    .layer(TimeoutLayer::with_status_code(
                        late,
                        Duration::from_millis(20),
                    ))
                    .route("/panic", any(panics))
                    .layer(CatchPanicLayer::new())
                    .layer(RequestBodyTimeoutLayer::new(Duration::from_secs(10)))
            },
            asks: vec![
                get("/never"),
                post("/never", "x"),
                get("/panic"),
                post("/panic", "x"),
            ],
        },
        Program {
            name: "a panic without a layer",
            router: || Router::new().route("/", any(panics)),
            asks: vec![
                get("/").differs("hyper ends the connection or the stream; ours answers 500"),
            ],
        },
        Program {
            name: "limits",
            router: limited,
            asks: vec![
                post("/", "0123456789"),
                post("/", "0123456789x"),
                post("/", "").parts(&[b"0123456789", b"x"]),
                post("/", vec![b'x'; 1 << 20]),
                get("/"),
                get("/shed"),
            ],
        },
        Program {
            name: "authorization and paths",
            router: || {
                #[allow(deprecated, reason = "programs use it")]
                let basic = ValidateRequestHeaderLayer::basic("u", "p");
                let guarded = Router::new().route("/a", route(async || "a")).layer(basic);
                Router::new()
                    .nest("/guarded", guarded)
                    .route("/json", route(async || "json"))
                    .layer(ValidateRequestHeaderLayer::accept("application/json"))
                    .layer(NormalizePathLayer::trim_trailing_slash())
            },
            asks: vec![
                get("/guarded/a"),
                get("/guarded/a").field("authorization", "Basic dTpw"),
                get("/guarded/a").field("authorization", "Basic eDp5"),
                get("/json"),
                get("/json").field("accept", "application/json"),
                get("/json").field("accept", "text/html"),
                get("/json/"),
            ],
        },
        Program {
            name: "files",
            router: files,
            asks: vec![
                get("/files/a.txt"),
                get("/files/"),
                get("/files"),
                get("/files/folder"),
                get("/files/none"),
                get("/files/%2e%2e/secret"),
                get("/files/../secret"),
                get("/files/a.txt").field("range", "bytes=1-3"),
                get("/files/a.txt").field("range", "bytes=-2"),
                get("/files/a.txt").field("range", "bytes=900-"),
                get("/files/a.txt").field("range", "bytes=0-1,3-4"),
                get("/files/a.txt").field("range", "lines=1"),
                get("/files/a.txt").field("if-modified-since", "Fri, 01 Jan 2100 00:00:00 GMT"),
                get("/files/a.txt").field("if-unmodified-since", "Fri, 01 Jan 1999 00:00:00 GMT"),
                get("/files/coded.txt").field("accept-encoding", "gzip"),
                get("/files/coded.txt"),
                get("/files/empty"),
                get("/files/big"),
                get("/files/big").field("range", "bytes=1000-200000"),
                ask(Method::HEAD, "/files/a.txt"),
                ask(Method::HEAD, "/files/coded.txt").field("accept-encoding", "gzip"),
                ask(Method::POST, "/files/a.txt"),
                ask(Method::OPTIONS, "/files/a.txt"),
                get("/one"),
                get("/anything").field("accept", "text/html"),
            ],
        },
    ]
}

async fn panics() {
    panic!("a handler of a test");
}

/// "hello gzip" by gzip.
const GZIP: &[u8] = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xcb\x48\xcd\xc9\xc9\x57\x48\xaf\xca\x2c\x00\x00\x9f\x5a\xf7\x6b\x0a\x00\x00\x00";

#[derive(Clone, Copy)]
struct Numbered;

impl MakeRequestId for Numbered {
    fn make_request_id<B>(&mut self, _: &Request<B>) -> Option<RequestId> {
        Some(RequestId::new(header::HeaderValue::from_static("made")))
    }
}

fn fields() -> Router {
    let name = header::HeaderName::from_static("x-request-id");
    let layers = ServiceBuilder::new()
        .layer(SetSensitiveHeadersLayer::new([header::AUTHORIZATION]))
        .layer(SetRequestIdLayer::new(name.clone(), Numbered))
        .layer(TraceLayer::new_for_http())
        .layer(PropagateRequestIdLayer::new(name))
        .layer(AddExtensionLayer::new(7_u8))
        .layer(SetResponseHeaderLayer::overriding(
            header::SERVER,
            header::HeaderValue::from_static("mine"),
        ))
        .layer(SetResponseHeaderLayer::if_not_present(
            header::CONTENT_TYPE,
            header::HeaderValue::from_static("text/odd"),
        ))
        .layer(SetResponseHeaderLayer::appending(
            header::VARY,
            header::HeaderValue::from_static("x-a"),
        ));
    Router::new()
        .route("/", route(async || "fields"))
        .layer(layers)
}

fn compressed() -> Router {
    Router::new()
        .route("/long", route(async || LONG.repeat(1000)))
        .route("/short", route(async || "short"))
        .route(
            "/stream",
            route(async || Body::from_stream(stream::iter(vec![Ok::<_, Infallible>(LONG); 200]))),
        )
        .route(
            "/range",
            route(async || ([(header::CONTENT_RANGE, "bytes 0-1/2")], LONG.repeat(10))),
        )
        .route(
            "/coded",
            route(async || ([(header::CONTENT_ENCODING, "x")], LONG.repeat(10))),
        )
        .layer(CompressionLayer::new())
}

fn limited() -> Router {
    let shed = ServiceBuilder::new()
        .layer(HandleErrorLayer::new(async |_| {
            StatusCode::SERVICE_UNAVAILABLE
        }))
        .load_shed()
        .concurrency_limit(1)
        .buffer(4);
    Router::new()
        .route("/", any(async |body: Bytes| body.len().to_string()))
        .layer(RequestBodyLimitLayer::new(10))
        .route("/shed", route(async || "let in").layer(shed))
}

/// A folder for all servers of the test.
fn folder() -> PathBuf {
    static FOLDER: OnceLock<trunkline_interop::Workplace> = OnceLock::new();
    let workplace = FOLDER.get_or_init(|| {
        let workplace = trunkline_interop::Workplace::new().unwrap();
        let root = workplace.path().join("root");
        std::fs::create_dir_all(root.join("folder")).unwrap();
        let big: Vec<u8> = (0..300_000_u32).map(|at| (at / 7) as u8).collect();
        for (name, content) in [
            ("root/a.txt", &b"0123456789"[..]),
            ("root/index.html", b"<p>index</p>"),
            ("root/folder/index.html", b"<p>folder</p>"),
            ("root/coded.txt", b"hello gzip"),
            ("root/coded.txt.gz", GZIP),
            ("root/empty", b""),
            ("root/big", &big),
            ("secret", b"secret"),
        ] {
            std::fs::write(workplace.path().join(name), content).unwrap();
        }
        workplace
    });
    workplace.path().join("root")
}

fn files() -> Router {
    let folder = folder();
    Router::new()
        .nest_service("/files", ServeDir::new(&folder).precompressed_gzip())
        .route_service("/one", ServeFile::new(folder.join("a.txt")))
        .fallback_service(ServeFile::new(folder.join("index.html")))
}
