//! Both ends of a measured path in Rust: servers that answer `/N` with N bytes over TLS, and the
//! clients of Trunkline and reqwest.
//!
//! ```text
//! bench-path serve hyper|trunkline|trunkline-bbr|trunkline-no-udp ADDRESS CERTIFICATE KEY
//! bench-path transfer KIND URL SECONDS      one line `bytes seconds` per transfer
//! bench-path burst KIND URL COUNT SECONDS   one line `answered failed seconds reason`
//! bench-path small KIND URL COUNT AT-ONCE   one line `p50 p99` in milliseconds
//! bench-path first KIND URL                 milliseconds of a request over a new connection
//! ```

mod burst;
mod serve;
mod small;
mod transfer;

use std::error::Error;
use std::time::Duration;
use trunkline::client::{Client, ClientTimeouts, ClientTls, Protocols};
use trunkline::{Congestion, Windows};

/// Any failure here ends the program with a sentence.
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
            .timeouts(ClientTimeouts::default().with_connect(Some(CONNECT_MAX)));
        let reqwest = reqwest::Client::builder()
            .danger_accept_invalid_certs(true)
            .connect_timeout(CONNECT_MAX);
        Ok(match kind {
            "trunkline" => Self::Trunkline(ours.build()?),
            "trunkline-64k" => Self::Trunkline(ours.windows(fixed()).build()?),
            "trunkline-h3" => Self::Trunkline(ours.protocols(Protocols::H3Only).build()?),
            "trunkline-all" => Self::Trunkline(ours.protocols(Protocols::All).build()?),
            "trunkline-h1" => Self::Trunkline(ours.protocols(Protocols::H1Only).build()?),
            "reqwest" => Self::Reqwest(reqwest.build()?),
            "reqwest-h1" => Self::Reqwest(reqwest.http1_only().build()?),
            _ => return Err(format!("no client is named `{kind}`").into()),
        })
    }
}

/// Every stream at 64 KiB for good.
fn fixed() -> Windows {
    Windows::default().with_auto(false)
}

fn main() -> Outcome {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    match arguments.as_slice() {
        ["serve", "trunkline", address, certificate, key] => {
            serve::trunkline(Congestion::Cubic, address, certificate, key)
        }
        ["serve", "trunkline-bbr", address, certificate, key] => {
            serve::trunkline(Congestion::Bbr, address, certificate, key)
        }
        ["serve", "trunkline-no-udp", address, certificate, key] => {
            serve::without_udp(address, certificate, key)
        }
        ["serve", "hyper", address, certificate, key] => {
            runtime.block_on(serve::hyper(address, certificate, key))
        }
        ["transfer", kind, url, seconds] => {
            let most = Duration::from_secs_f64(seconds.parse()?);
            runtime.block_on(transfer::run(&Subject::new(kind)?, url, most))
        }
        ["small", kind, url, count, at_once] => {
            let (count, at_once) = (count.parse()?, at_once.parse()?);
            runtime.block_on(small::run(&Subject::new(kind)?, url, count, at_once))
        }
        ["first", kind, url] => {
            let learns = *kind == "trunkline-all";
            let (other, subject) = (Subject::new("trunkline")?, Subject::new(kind)?);
            runtime.block_on(small::first(&other, &subject, url, learns))
        }
        ["burst", kind, url, count, seconds] => {
            let most = Duration::from_secs_f64(seconds.parse()?);
            runtime.block_on(burst::run(&Subject::new(kind)?, url, count.parse()?, most))
        }
        _ => Err("usage: see the head of the source".into()),
    }
}
