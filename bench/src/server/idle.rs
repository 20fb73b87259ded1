//! Memory per idle connection: opens many, sends one GET on each, lets them rest, and measures the
//! server's growth.

mod h2;

use crate::load::Target;
use crate::load::usage::resident_kib;
use h2::get_once;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, RootCertStore};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Connections being opened at one time.
const OPENING_MAX: usize = 32;
/// Source addresses in turn: each has its own ports.
const SOURCES: u8 = 8;
const OPEN_MAX: Duration = Duration::from_secs(20);
/// The server's memory counts when it has not moved by 1 % between two looks.
const LOOK_AGAIN: Duration = Duration::from_millis(500);
const LOOKS_MAX: u32 = 16;

/// A connection that rests.
enum IdleConnection {
    Clear(TcpStream),
    Tls(Box<TlsStream<TcpStream>>),
}

/// Growth in KiB per connection at each of `counts` (ascending).
///
/// # Errors
/// When a connection cannot be opened or the server closed one.
pub(crate) fn growth_kib(
    target: &Target,
    certificate: &[u8],
    counts: &[usize],
) -> Result<Vec<f64>, String> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|error| format!("no runtime: {error}"))?;
    let tls = match target.scenario.is_tls() {
        true => Some(connector(certificate)?),
        false => None,
    };
    runtime.block_on(async {
        let mut held = Vec::new();
        // Memory that the server allocates once, with the first connection, is not a connection's cost.
        open(target.port, tls.as_ref(), OPENING_MAX, &mut held).await?;
        let before = settled_kib(target).await;
        let first = held.len();
        let mut growth = Vec::new();
        for &count in counts {
            open(target.port, tls.as_ref(), first + count, &mut held).await?;
            let after = settled_kib(target).await;
            let closed = held.iter().filter(|held| held.is_closed()).count();
            if closed > 0 {
                return Err(format!(
                    "the server closed {closed} of {count} idle connections"
                ));
            }
            growth.push(after.saturating_sub(before) as f64 / count as f64);
        }
        Ok(growth)
    })
}

/// Raises the bound of open files as far as the system allows.
///
/// # Errors
/// When it allows fewer than `needed`.
pub(crate) fn allow_open_files(needed: u64) -> Result<(), String> {
    let unknown = |error| format!("the bound of open files cannot be changed: {error}");
    let (soft, hard) = getrlimit(Resource::RLIMIT_NOFILE).map_err(unknown)?;
    let wanted = needed.max(soft);
    if wanted > hard {
        return Err(format!(
            "the system allows {hard} open files; {needed} are needed"
        ));
    }
    setrlimit(Resource::RLIMIT_NOFILE, wanted, hard).map_err(unknown)
}

/// Opens connections until `held` has `count`.
async fn open(
    port: u16,
    tls: Option<&TlsConnector>,
    count: usize,
    held: &mut Vec<IdleConnection>,
) -> Result<(), String> {
    let mut opening: JoinSet<Result<IdleConnection, String>> = JoinSet::new();
    while held.len() < count {
        while opening.len() < OPENING_MAX && held.len() + opening.len() < count {
            let source = (held.len() + opening.len()) % usize::from(SOURCES);
            opening.spawn(open_one(port, tls.cloned(), source as u8 + 1));
        }
        match opening.join_next().await {
            Some(Ok(opened)) => held.push(opened?),
            Some(Err(error)) => return Err(format!("opening failed: {error}")),
            None => break,
        }
    }
    Ok(())
}

async fn open_one(
    port: u16,
    tls: Option<TlsConnector>,
    source: u8,
) -> Result<IdleConnection, String> {
    let opened = async {
        let failed = |error: std::io::Error| error.to_string();
        let socket = TcpSocket::new_v4().map_err(failed)?;
        let from = Ipv4Addr::new(127, 0, 0, source);
        socket.bind(SocketAddr::from((from, 0))).map_err(failed)?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let mut socket = socket.connect(address).await.map_err(failed)?;
        let Some(tls) = tls else {
            get_once(&mut socket, false).await?;
            return Ok(IdleConnection::Clear(socket));
        };
        let name = ServerName::from(std::net::IpAddr::from(Ipv4Addr::LOCALHOST));
        let mut socket = tls.connect(name, socket).await.map_err(failed)?;
        get_once(&mut socket, true).await?;
        Ok(IdleConnection::Tls(Box::new(socket)))
    };
    let opened = timeout(OPEN_MAX, opened).await;
    opened
        .unwrap_or_else(|_| Err(format!("no answer in {} s", OPEN_MAX.as_secs())))
        .map_err(|why| format!("an idle connection cannot be opened: {why}"))
}

/// The server's memory once it has come to rest, in KiB.
async fn settled_kib(target: &Target) -> u64 {
    let mut last = resident_kib(&target.family);
    for _ in 0..LOOKS_MAX {
        sleep(LOOK_AGAIN).await;
        let now = resident_kib(&target.family);
        if now.abs_diff(last) * 100 <= last {
            return now;
        }
        last = now;
    }
    last
}

impl IdleConnection {
    /// Whether the server has ended it.
    fn is_closed(&self) -> bool {
        let socket = match self {
            Self::Clear(socket) => socket,
            Self::Tls(socket) => socket.get_ref().0,
        };
        // Other frames that may lie there (a ping, a window update) do not matter.
        matches!(socket.try_read(&mut [0; 1]), Ok(0))
    }
}

fn connector(certificate: &[u8]) -> Result<TlsConnector, String> {
    let mut roots = RootCertStore::empty();
    roots
        .add(CertificateDer::from(certificate.to_vec()))
        .map_err(|error| format!("our own certificate is not believed: {error}"))?;
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| format!("no TLS version: {error}"))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec()];
    // Every connection pays for a full handshake, as the first one of a stranger does.
    config.resumption = rustls::client::Resumption::disabled();
    Ok(TlsConnector::from(Arc::new(config)))
}
