//! Both ends of a measured path in Rust: servers that answer `/N` with N bytes over TLS, and the
//! clients of Trunkline and reqwest.
//!
//! ```text
//! bench-path serve hyper|trunkline ADDRESS CERTIFICATE KEY
//! bench-path transfer KIND URL SECONDS      one line `bytes seconds` per transfer
//! bench-path burst KIND URL COUNT SECONDS   one line `answered failed seconds reason`
//! ```

mod burst;
mod serve;
mod transfer;

use std::error::Error;
use std::time::Duration;
use trunkline::Windows;
use trunkline::client::{Client, ClientTimeouts, ClientTls, Protocols};

/// What can go wrong here ends the program with a sentence.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// How long one connection may take to come up, in every client of the measurement.
const CONNECT_MAX: Duration = Duration::from_secs(2);

/// A client under measurement.
#[derive(Clone)]
enum Subject {
    Trunkline(Client),
    Reqwest(reqwest::Client),
}

impl Subject {
    fn new(kind: &str) -> Outcome<Self> {
        let ours = Client::builder()
            .tls(ClientTls::new().insecure())
            .timeouts(ClientTimeouts {
                connect: Some(CONNECT_MAX),
                ..ClientTimeouts::default()
            });
        let reqwest = reqwest::Client::builder()
            .danger_accept_invalid_certs(true)
            .connect_timeout(CONNECT_MAX);
        Ok(match kind {
            "trunkline" => Self::Trunkline(ours.build()?),
            "trunkline-64k" => Self::Trunkline(ours.windows(fixed()).build()?),
            "trunkline-h1" => Self::Trunkline(ours.protocols(Protocols::H1Only).build()?),
            "reqwest" => Self::Reqwest(reqwest.build()?),
            "reqwest-h1" => Self::Reqwest(reqwest.http1_only().build()?),
            _ => return Err(format!("no client is named `{kind}`").into()),
        })
    }
}

/// Every stream at 64 KiB for good.
fn fixed() -> Windows {
    Windows {
        auto: false,
        ..Windows::default()
    }
}

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match arguments.as_slice() {
        ["serve", "trunkline", address, certificate, key] => {
            serve::trunkline(address, certificate, key)
        }
        ["serve", "hyper", address, certificate, key] => {
            runtime.block_on(serve::hyper(address, certificate, key))
        }
        ["transfer", kind, url, seconds] => {
            let most = Duration::from_secs_f64(seconds.parse()?);
            runtime.block_on(transfer::run(&Subject::new(kind)?, url, most))
        }
        ["burst", kind, url, count, seconds] => {
            let most = Duration::from_secs_f64(seconds.parse()?);
            runtime.block_on(burst::run(&Subject::new(kind)?, url, count.parse()?, most))
        }
        _ => Err("usage: see the head of the source".into()),
    }
}
