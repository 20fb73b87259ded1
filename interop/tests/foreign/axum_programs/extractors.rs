//! Extractors: paths, queries, JSON, forms, forms of several parts, files, sizes.

use super::{Program, ask, get, post};
use axum::extract::{DefaultBodyLimit, Form, Json, Multipart, Path, Query, RawQuery};
use axum::http::Method;
use axum::routing::{any, get as route, post as route_post};
use axum::{Router, body::Bytes};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Deserialize, Serialize)]
struct TeaOrder {
    item: String,
    count: u8,
    #[serde(default)]
    notes: Vec<String>,
}

const JSON: (&str, &str) = ("content-type", "application/json");
const FORM: (&str, &str) = ("content-type", "application/x-www-form-urlencoded");
const MULTIPART: (&str, &str) = ("content-type", "multipart/form-data; boundary=cut");
const PARTS: &str = "--cut\r\ncontent-disposition: form-data; name=\"a\"\r\n\r\nfirst\r\n--cut\r\ncontent-disposition: \
                     form-data; name=\"f\"; filename=\"ä.txt\"\r\ncontent-type: text/plain\r\n\r\nline\r\nline\r\n--cut--\r\n";

pub(super) fn programs() -> Vec<Program> {
    vec![
        Program {
            name: "paths and queries",
            router: || {
                Router::new()
                    .route(
                        "/user/{id}",
                        route(async |Path(id): Path<u32>| id.to_string()),
                    )
                    .route(
                        "/two/{a}/{b}",
                        route(async |Path((a, b)): Path<(String, String)>| format!("{a}|{b}")),
                    )
                    .route(
                        "/query",
                        route(async |Query(all): Query<BTreeMap<String, String>>| {
                            format!("{all:?}")
                        }),
                    )
                    .route(
                        "/order",
                        route(async |Query(order): Query<TeaOrder>| Json(order)),
                    )
                    .route(
                        "/raw",
                        route(async |RawQuery(raw): RawQuery| format!("{raw:?}")),
                    )
            },
            asks: vec![
                get("/user/7"),
                get("/user/seven"),
                get("/user/"),
                get("/two/%C3%A4%20/b%2Fc"),
                get("/two/%FF/b"),
                get("/query?a=1&b=%20+&a=2&c"),
                get("/order?item=tea&count=3"),
                get("/order?item=tea&count=300"),
                get("/order"),
                get("/raw"),
                get("/raw?"),
                get("/raw?a=b=c&%zz"),
            ],
        },
        Program {
            name: "JSON and forms",
            router: || {
                Router::new()
                    .route(
                        "/json",
                        route_post(async |Json(order): Json<TeaOrder>| Json(order)),
                    )
                    .route(
                        "/form",
                        any(async |Form(order): Form<TeaOrder>| Json(order)),
                    )
            },
            asks: vec![
                post("/json", r#"{"item":"tea","count":3,"notes":["ä"]}"#).field(JSON.0, JSON.1),
                post("/json", r#"{"item":"tea","count":3}"#),
                post("/json", r#"{"item":"tea""#).field(JSON.0, JSON.1),
                post("/json", r#"{"item":"tea","count":"x"}"#).field(JSON.0, JSON.1),
                post("/json", "").field(JSON.0, JSON.1),
                post("/json", "")
                    .parts(&[b"{\"item\":\"a\"", b",\"count\":1}"])
                    .field(JSON.0, JSON.1),
                get("/json").field(JSON.0, JSON.1),
                post("/form", "item=tea&count=3").field(FORM.0, FORM.1),
                post("/form", "item=tea").field(FORM.0, FORM.1),
                post("/form", "item=tea&count=3"),
                get("/form?item=a&count=1"),
                ask(Method::HEAD, "/form?item=a&count=1"),
            ],
        },
        Program {
            name: "sizes of bodies",
            router: || {
                let length = async |body: Bytes| body.len().to_string();
                Router::new()
                    .route("/default", route_post(length))
                    .route("/ten", route_post(length).layer(DefaultBodyLimit::max(10)))
                    .route(
                        "/any",
                        route_post(length).layer(DefaultBodyLimit::disable()),
                    )
                    .route("/text", route_post(async |text: String| text))
            },
            asks: vec![
                post("/default", vec![b'x'; 2 << 20]),
                post("/default", vec![b'x'; (2 << 20) + 1]),
                post("/ten", "0123456789"),
                post("/ten", "0123456789x"),
                post("/ten", "").parts(&[b"01234", b"56789", b"x"]),
                post("/any", vec![b'x'; 3 << 20]),
                post("/text", "ä"),
                post("/text", &b"\xff"[..]),
                post("/text", ""),
            ],
        },
        Program {
            name: "forms of several parts",
            router: || Router::new().route("/", route_post(parts)),
            asks: vec![
                post("/", PARTS).field(MULTIPART.0, MULTIPART.1),
                post("/", &PARTS[..100]).field(MULTIPART.0, MULTIPART.1),
                post("/", PARTS).field(MULTIPART.0, "multipart/form-data"),
                post("/", PARTS),
                post("/", "").field(MULTIPART.0, MULTIPART.1),
                post("/", "")
                    .parts(&[PARTS.as_bytes()])
                    .field(MULTIPART.0, MULTIPART.1),
            ],
        },
    ]
}

async fn parts(mut form: Multipart) -> Result<String, axum::extract::multipart::MultipartError> {
    let mut lines = Vec::new();
    while let Some(part) = form.next_field().await? {
        let named = format!(
            "{:?} {:?} {:?}",
            part.name(),
            part.file_name(),
            part.content_type()
        );
        lines.push(format!("{named} {:?}", part.text().await?));
    }
    Ok(lines.join("\n"))
}
