//! Clients that move bulk, and the server that they all use.
//!
//! ```text
//! bench-bulk serve ADDRESS CERTIFICATE KEY          one worker; HTTP/1.1, HTTP/2 and HTTP/3
//! bench-bulk get|put KIND URL BYTES COUNT           COUNT bodies of BYTES at once, after a small one
//! ```
//!
//! A client prints `bytes seconds` of its bodies: the handshake and the small request are before them, and in
//! its CPU time.

#[path = "../../../../cli/src/allocator.rs"]
mod allocator;
mod h3_quinn_client;
#[allow(dead_code, reason = "here paths are other ones")]
#[path = "../../trunkline/src/pieces.rs"]
mod pieces;
mod serve;

use bytes::Bytes;
use http_body_util::BodyExt;
use std::error::Error;
use std::time::Instant;
use tokio::task::JoinSet;
use trunkline::Body;
use trunkline::client::{Client, ClientTls, Protocols};

#[global_allocator]
static ALLOCATOR: allocator::Mimalloc = allocator::Mimalloc;

/// Any failure here ends the program with a sentence.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// The way the bytes go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Direction {
    /// The response's body.
    Down,
    /// The request's body.
    Up,
}

/// A client under measurement.
#[derive(Clone)]
enum Subject {
    Trunkline(Client),
    Reqwest(reqwest::Client),
    QuinnH3(h3_quinn_client::Client),
}

impl Subject {
    async fn new(kind: &str, url: &str) -> Outcome<Self> {
        let ours = |protocols| {
            let builder = Client::builder().tls(ClientTls::new().insecure());
            builder.protocols(protocols).build()
        };
        let reqwest = || reqwest::Client::builder().danger_accept_invalid_certs(true);
        Ok(match kind {
            "trunkline-h1" => Self::Trunkline(ours(Protocols::H1Only)?),
            "trunkline-h2" => Self::Trunkline(ours(Protocols::H2Only)?),
            "trunkline-h3" => Self::Trunkline(ours(Protocols::H3Only)?),
            "reqwest-h1" => Self::Reqwest(reqwest().http1_only().build()?),
            "reqwest-h2" => Self::Reqwest(reqwest().build()?),
            "quinn-h3" => Self::QuinnH3(h3_quinn_client::Client::connect(url).await?),
            _ => return Err(format!("no client is named `{kind}`").into()),
        })
    }

    /// Moves one body and counts its bytes.
    async fn transfer(&self, direction: Direction, url: &str, bytes: u64) -> Outcome<u64> {
        match (self, direction) {
            (Self::Trunkline(client), Direction::Down) => {
                let mut body = client
                    .get(format!("{url}/{bytes}"))
                    .send()
                    .await?
                    .into_body();
                let mut received = 0;
                while let Some(frame) = body.frame().await {
                    received += frame?.data_ref().map_or(0, |data| data.len() as u64);
                }
                Ok(received)
            }
            (Self::Trunkline(client), Direction::Up) => {
                let body = Body::wrap(pieces::of(bytes));
                let response = client.put(url).body(body).send().await?;
                count(&response.into_body().collect().await?.to_bytes())
            }
            (Self::Reqwest(client), Direction::Down) => {
                let mut response = client.get(format!("{url}/{bytes}")).send().await?;
                let mut received = 0;
                while let Some(data) = response.chunk().await? {
                    received += data.len() as u64;
                }
                Ok(received)
            }
            (Self::Reqwest(client), Direction::Up) => {
                let body = reqwest::Body::wrap(pieces::of(bytes));
                let response = client.put(url).body(body).send().await?;
                count(&response.bytes().await?)
            }
            (Self::QuinnH3(client), _) => client.transfer(direction, url, bytes).await,
        }
    }
}

/// The count that the server answers an upload with.
fn count(answer: &Bytes) -> Outcome<u64> {
    Ok(std::str::from_utf8(answer)?.parse()?)
}

async fn run(direction: Direction, kind: &str, url: &str, bytes: u64, count: usize) -> Outcome {
    let subject = Subject::new(kind, url).await?;
    // The connection stands, and the server's protocols are known.
    subject
        .transfer(Direction::Down, url, pieces::PIECE.len() as u64)
        .await?;
    let start = Instant::now();
    let mut all = JoinSet::new();
    for _ in 0..count {
        let (subject, url) = (subject.clone(), url.to_owned());
        all.spawn(async move { subject.transfer(direction, &url, bytes).await });
    }
    let mut moved = 0;
    while let Some(one) = all.join_next().await {
        moved += one??;
    }
    println!("{moved} {:.6}", start.elapsed().as_secs_f64());
    Ok(())
}

fn main() -> Outcome {
    allocator::use_small_pages();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match arguments.as_slice() {
        ["serve", address, certificate, key] => serve::run(address, certificate, key),
        [way @ ("get" | "put"), kind, url, bytes, count] => {
            let direction = match *way {
                "get" => Direction::Down,
                _ => Direction::Up,
            };
            runtime.block_on(run(direction, kind, url, bytes.parse()?, count.parse()?))
        }
        _ => Err("usage: see the head of the source".into()),
    }
}
