//! Clients and servers of small calls: ours beside reqwest, and tonic on ours beside tonic on hyper.
//!
//! ```text
//! bench-calls serve files ADDRESS CERTIFICATE KEY    1 KiB for each GET, over TLS, by us
//! bench-calls serve trunkline|tonic ADDRESS          unary echo over cleartext HTTP/2
//! bench-calls serve axum|axum-on-runtime|axum-on-hyper ADDRESS [CERTIFICATE KEY]
//! bench-calls get trunkline|reqwest URL COUNT AT_ONCE
//! bench-calls hello|json h1|h2|h3 URL COUNT AT_ONCE      our client asks an axum application
//! bench-calls call trunkline|tonic URL COUNT AT_ONCE
//! bench-calls rounds trunkline|tonic URL echo|stream AT_ONCE CHANNELS
//! ```
//!
//! `serve trunkline|tonic 127.0.0.1:0` prints the address, and `rounds` answers each line of its input.
//! A client prints `count seconds` of its requests: the handshake and a first request are before them, and in
//! its CPU time. Every program has one thread that works.

#[path = "../../../../cli/src/allocator.rs"]
mod allocator;
mod axum_app;
mod echo;
mod rounds;

use bytes::Bytes;
use http::uri::PathAndQuery;
use http::{Request, Response, Uri};
use std::convert::Infallible;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use tokio::task::JoinSet;
use tonic::client::{Grpc, GrpcService};
use tonic::transport::server::TcpIncoming;
use tonic::transport::{Channel, Endpoint};
use trunkline::client::{Client, ClientTls, Protocols};
use trunkline::grpc::GrpcClient;
use trunkline::{Body, ResponseExt, Server, ServerConfig, Tls, service_fn};

#[global_allocator]
static ALLOCATOR: allocator::Mimalloc = allocator::Mimalloc;

/// Any failure here ends the program with a sentence.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// A response's body.
const ANSWER: &[u8] = &[b'x'; 1024];
/// A message of gRPC, each way.
const MESSAGE: &[u8] = &[b'x'; 100];

/// A client under measurement.
#[derive(Clone)]
enum Subject {
    Trunkline(Client, String),
    Reqwest(reqwest::Client, String),
    TonicOnTrunkline(Grpc<GrpcClient>),
    TonicOnHyper(Grpc<Channel>),
    Hello(Client, String),
    Json(Client, String),
}

impl Subject {
    fn new(way: &str, kind: &str, url: &str) -> Outcome<Self> {
        let origin = || url.parse::<Uri>();
        Ok(match (way, kind) {
            ("get", "trunkline") => {
                let builder = Client::builder().tls(ClientTls::new().insecure());
                Self::Trunkline(builder.build()?, url.to_owned())
            }
            ("get", "reqwest") => {
                let builder = reqwest::Client::builder().danger_accept_invalid_certs(true);
                Self::Reqwest(builder.build()?, url.to_owned())
            }
            ("call", "trunkline") => {
                let service = GrpcClient::new(Client::new());
                Self::TonicOnTrunkline(Grpc::with_origin(service, origin()?))
            }
            ("call", "tonic") => {
                let endpoint = Endpoint::from_shared(url.to_owned())?;
                Self::TonicOnHyper(Grpc::new(endpoint.connect_lazy()))
            }
            ("hello", version) => Self::Hello(client_of(version)?, format!("{url}/hello")),
            ("json", version) => Self::Json(client_of(version)?, format!("{url}/json")),
            _ => return Err(format!("no client is named `{way} {kind}`").into()),
        })
    }

    /// One request, read to its end.
    async fn once(&mut self) -> Outcome {
        let (received, expected) = match self {
            Self::Trunkline(client, url) => {
                (client.get(&*url).send().await?.bytes().await?, ANSWER)
            }
            Self::Reqwest(client, url) => (client.get(&*url).send().await?.bytes().await?, ANSWER),
            Self::Hello(client, url) => (
                client.get(&*url).send().await?.bytes().await?,
                axum_app::HELLO.as_bytes(),
            ),
            Self::Json(client, url) => {
                let order = client
                    .post(&*url)
                    .header("content-type", "application/json");
                let receipt = order.body(axum_app::ORDER).send().await?.bytes().await?;
                (receipt, axum_app::RECEIPT.as_bytes())
            }
            Self::TonicOnTrunkline(client) => return call(client).await,
            Self::TonicOnHyper(client) => return call(client).await,
        };
        match received == expected {
            true => Ok(()),
            false => Err(format!("a response has other bytes: {} of them", received.len()).into()),
        }
    }
}

/// Our client, of one version.
fn client_of(version: &str) -> Outcome<Client> {
    let protocols = match version {
        "h1" => Protocols::H1Only,
        "h2" => Protocols::H2Only,
        "h3" => Protocols::H3Only,
        _ => return Err(format!("no version is named {version}").into()),
    };
    let tls = ClientTls::new().insecure();
    Ok(Client::builder().tls(tls).protocols(protocols).build()?)
}

async fn call<T>(client: &mut Grpc<T>) -> Outcome
where
    T: GrpcService<tonic::body::Body>,
    T::Error: Into<Box<dyn Error + Send + Sync>>,
    T::ResponseBody: http_body::Body<Data = Bytes> + Send + 'static,
    <T::ResponseBody as http_body::Body>::Error: Into<Box<dyn Error + Send + Sync>>,
{
    client.ready().await.map_err(Into::into)?;
    let request = tonic::Request::new(Bytes::from_static(MESSAGE));
    let path = PathAndQuery::from_static(echo::PATH);
    let answer: tonic::Response<Bytes> = client.unary(request, path, echo::Raw).await?;
    match answer.get_ref() == MESSAGE {
        true => Ok(()),
        false => Err("another message came back".into()),
    }
}

async fn run(way: &str, kind: &str, url: &str, count: u64, at_once: usize) -> Outcome {
    let mut subject = Subject::new(way, kind, url)?;
    // The connection stands.
    subject.once().await?;
    let start = Instant::now();
    let left = Arc::new(AtomicU64::new(count));
    let mut callers = JoinSet::new();
    for _ in 0..at_once {
        let (mut subject, left) = (subject.clone(), Arc::clone(&left));
        callers.spawn(async move {
            let next = |left: u64| left.checked_sub(1);
            let order = Ordering::Relaxed;
            while left.fetch_update(order, order, next).is_ok() {
                subject.once().await?;
            }
            Outcome::Ok(())
        });
    }
    while let Some(caller) = callers.join_next().await {
        caller??;
    }
    println!("{count} {:.6}", start.elapsed().as_secs_f64());
    Ok(())
}

fn serve_files(address: &str, certificate: &str, key: &str) -> Outcome {
    let answer =
        service_fn(async |_: Request<Body>| Ok::<_, Infallible>(Response::new(Body::from(ANSWER))));
    let tls = Tls::from_pem_files(certificate, key)?;
    let server = Server::bind(address).workers(1).config(config()).tls(tls);
    server.serve(answer)?.join();
    Ok(())
}

/// A connection of a measurement is never drained.
fn config() -> ServerConfig {
    let mut config = ServerConfig::default();
    config.limits.requests_per_connection_max = u64::MAX;
    config
}

fn main() -> Outcome {
    allocator::use_small_pages();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match arguments.as_slice() {
        ["serve", "files", address, certificate, key] => serve_files(address, certificate, key),
        ["serve", "trunkline", address] => {
            let server = Server::bind(*address).workers(1).config(config());
            let server = server.serve(echo::routes())?;
            println!("{}", server.local_addr());
            server.join();
            Ok(())
        }
        ["serve", "tonic", address] => runtime.block_on(async {
            let incoming = TcpIncoming::bind(address.parse()?)?.with_nodelay(Some(true));
            println!("{}", incoming.local_addr()?);
            let server = tonic::transport::Server::builder().add_routes(echo::routes());
            Ok(server.serve_with_incoming(incoming).await?)
        }),
        ["serve", kind, address, files @ ..] => {
            let files = match files {
                [certificate, key] => Some((*certificate, *key)),
                _ => None,
            };
            match *kind {
                "axum" => axum_app::serve_on_workers(address, files),
                "axum-on-runtime" => {
                    runtime.block_on(axum_app::serve_on_this_runtime(address, files))
                }
                "axum-on-hyper" => runtime.block_on(axum_app::serve_by_hyper(address, files)),
                _ => Err(format!("no server is named {kind}").into()),
            }
        }
        [
            way @ ("get" | "call" | "hello" | "json"),
            kind,
            url,
            count,
            at_once,
        ] => {
            let (count, at_once) = (count.parse()?, at_once.parse()?);
            runtime.block_on(run(way, kind, url, count, at_once))
        }
        ["rounds", kind, url, method, at_once, channels] => {
            let (at_once, channels) = (at_once.parse()?, channels.parse()?);
            runtime.block_on(rounds::run(kind, url, method, at_once, channels))
        }
        _ => Err("usage: see the head of the source".into()),
    }
}
