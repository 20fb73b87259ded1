//! Programs as axum's users write them, each under `axum::serve` and under ours: the same answers on every version.

mod bodies;
mod extractors;
mod layers;
mod routes;

use crate::ports;
use crate::way::{Way, run};
use axum::Router;
use bytes::Bytes;
use futures_util::stream;
use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderMap, Method, Request};
use http_body::Frame;
use http_body_util::{BodyExt, StreamBody};
use std::convert::Infallible;
use std::net::SocketAddr;
use trunkline::client::Client;
use trunkline::{Body, Tls};
use trunkline_interop::{Certificate, Workplace};

/// A program and what is asked of it.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    pub(crate) router: fn() -> Router,
    pub(crate) asks: Vec<Ask>,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Ask {
    method: Method,
    path: &'static str,
    fields: Vec<(&'static str, &'static str)>,
    body: Sent,
    /// Why ours answers something else, where it does.
    differs: Option<&'static str>,
}

/// A body of a request.
#[derive(Clone, Debug)]
enum Sent {
    Whole(Bytes),
    Parts(Vec<Bytes>),
}

pub(crate) fn get(path: &'static str) -> Ask {
    ask(Method::GET, path)
}

pub(crate) fn post(path: &'static str, body: impl Into<Bytes>) -> Ask {
    Ask {
        body: Sent::Whole(body.into()),
        ..ask(Method::POST, path)
    }
}

pub(crate) fn ask(method: Method, path: &'static str) -> Ask {
    Ask {
        method,
        path,
        fields: Vec::new(),
        body: Sent::Whole(Bytes::new()),
        differs: None,
    }
}

impl Ask {
    pub(crate) fn field(mut self, name: &'static str, value: &'static str) -> Self {
        self.fields.push((name, value));
        self
    }
    /// Its body is a stream without a known length.
    pub(crate) fn parts(mut self, parts: &[&'static [u8]]) -> Self {
        self.body = Sent::Parts(parts.iter().copied().map(Bytes::from_static).collect());
        self
    }
    pub(crate) fn differs(mut self, why: &'static str) -> Self {
        self.differs = Some(why);
        self
    }
    fn request(&self, base: &str) -> Request<Body> {
        let mut request = Request::builder()
            .method(self.method.clone())
            .uri(format!("{base}{}", self.path));
        for (name, value) in &self.fields {
            request = request.header(*name, *value);
        }
        let body = match self.body.clone() {
            Sent::Whole(bytes) if bytes.is_empty() => Body::empty(),
            Sent::Whole(bytes) => Body::from(bytes),
            Sent::Parts(parts) => {
                let frames = parts
                    .into_iter()
                    .map(|part| Ok::<_, Infallible>(Frame::data(part)));
                Body::wrap(StreamBody::new(stream::iter(frames)))
            }
        };
        request.body(body).unwrap()
    }
}

/// The outcome of a request: the status, the fields in order of their names, the bytes, the trailers. One that ends early is
/// `cut`, whether its head had come or not: hyper may find out before it has written it.
async fn answer(client: &Client, ask: &Ask, base: &str, version: bool) -> String {
    let response = match client.execute(ask.request(base)).await {
        Ok(response) => response,
        Err(_) => return CUT.to_owned(),
    };
    let (head, body) = response.into_parts();
    let mut text = match version {
        true => format!("{:?} {}", head.version, head.status.as_u16()),
        false => head.status.as_u16().to_string(),
    };
    text.push_str(&fields(&head.headers));
    match body.collect().await {
        Err(_) => return CUT.to_owned(),
        Ok(whole) => {
            let trailers = whole.trailers().cloned().unwrap_or_default();
            text.push_str(&format!("\n {}", shown(&whole.to_bytes())));
            text.push_str(&fields(&trailers));
        }
    }
    text
}

const CUT: &str = "cut";

/// Bytes as text; long ones by their number and a sum.
fn shown(bytes: &[u8]) -> String {
    if bytes.len() <= 400 {
        return String::from_utf8_lossy(bytes).into_owned();
    }
    let sum = bytes.iter().fold(0_u64, |sum, &byte| {
        sum.wrapping_mul(31).wrapping_add(u64::from(byte))
    });
    format!("{} bytes, sum {sum}", bytes.len())
}

/// Fields in order of their names, without those of the moment, and without a length of 0, which hyper leaves out over
/// HTTP/2 where the head ends the stream. Nor with `connection`: of an upload that is not read it depends on how much has come
/// whether the connection closes.
fn fields(fields: &HeaderMap) -> String {
    let mut lines: Vec<_> = fields
        .iter()
        .filter(|(name, value)| *name != CONTENT_LENGTH || *value != "0")
        .filter(|(name, _)| *name != CONNECTION)
        .map(|(name, value)| {
            let value = match name.as_str() {
                "date" if value.as_bytes().ends_with(b"GMT") => "(now)".into(),
                "last-modified" => "(then)".into(),
                _ => String::from_utf8_lossy(value.as_bytes()),
            };
            format!("\n {name}: {value}")
        })
        .collect();
    lines.sort();
    lines.concat()
}

/// A server of axum's and one of ours with a program.
struct Served {
    hypers: SocketAddr,
    ours: SocketAddr,
    secure: SocketAddr,
}

impl Served {
    async fn start(router: fn() -> Router, certificate: &Certificate) -> Self {
        let (hypers, ours) = (ports::listener().await, ports::listener().await);
        let secure = ports::listener().await;
        let served = Self {
            hypers: hypers.local_addr().unwrap(),
            ours: ours.local_addr().unwrap(),
            secure: secure.local_addr().unwrap(),
        };
        tokio::spawn(async move { axum::serve(hypers, router()).await.unwrap() });
        tokio::spawn(async move { trunkline::serve(ours, router()).workers(1).await.unwrap() });
        let tls = Tls::from_pem_files(&certificate.chain, &certificate.key).unwrap();
        let secure = trunkline::serve(secure, router()).workers(1);
        tokio::spawn(async move { secure.tls(tls).http3(true).await.unwrap() });
        served
    }
}

#[test]
fn programs_of_axums_users_answer_as_under_axums_server() {
    let workplace = Workplace::new().unwrap();
    let certificate = Certificate::write(workplace.path()).unwrap();
    let programs = [
        routes::programs(),
        extractors::programs(),
        bodies::programs(),
        layers::programs(),
    ];
    let only = std::env::var("TRUNKLINE_PROGRAM").ok();
    run(async {
        let (mut differences, mut whole) = (Vec::new(), 0);
        for program in programs.into_iter().flatten() {
            if only.as_ref().is_some_and(|only| only != program.name) {
                continue;
            }
            let served = Served::start(program.router, &certificate).await;
            let clients = [Way::H1, Way::H2c, Way::H3].map(|way| (way, way.client(&certificate)));
            for ask in &program.asks {
                let mut differs = false;
                for (way, client) in &clients {
                    // HTTP/3 beside HTTP/2, which has its rules.
                    let (of_hyper, port) = match way {
                        Way::H3 => (Way::H2c, served.secure.port()),
                        way => (*way, served.ours.port()),
                    };
                    let of_hyper = &clients.iter().find(|(way, _)| *way == of_hyper).unwrap().1;
                    let is_same_version = *way != Way::H3;
                    let base = Way::H1.url_at(served.hypers.port(), "");
                    let expected = answer(of_hyper, ask, &base, is_same_version).await;
                    let got = answer(client, ask, &way.url_at(port, ""), is_same_version).await;
                    let (expected, got) = (unported(&expected, &served), unported(&got, &served));
                    differs |= expected != got;
                    whole += usize::from(got != CUT);
                    if expected == got || ask.differs.is_some() {
                        continue;
                    }
                    differences.push(format!(
                        "== {} {way:?} {ask:?}\n-- hyper: {expected}\n-- ours: {got}",
                        program.name
                    ));
                }
                if let (false, Some(why)) = (differs, ask.differs) {
                    differences.push(format!(
                        "== {} {ask:?} differs no more: {why}",
                        program.name
                    ));
                }
            }
        }
        assert!(differences.is_empty(), "{}", differences.join("\n"));
        assert!(whole > 300 || only.is_some(), "{whole} whole responses");
    });
}

/// A transcript without the ports and the scheme of the servers.
fn unported(text: &str, served: &Served) -> String {
    let ports = [served.hypers, served.ours, served.secure].map(|address| address.port());
    ports
        .iter()
        .fold(text.replace("https://", "http://"), |text, port| {
            text.replace(&format!(":{port}"), ":PORT")
        })
}
