//! Asks name servers: for HTTPS records, which the operating systems' resolvers do not return, and for
//! addresses where name servers are given.

mod record;
mod system;

use super::{HttpsRecord, Resolver, Resolving, ResolvingRecord, SystemResolver};
use crate::client::IntoAddresses;
use hickory_resolver::TokioResolver;
use hickory_resolver::config::{ConnectionConfig, NameServerConfig, ResolverConfig, ResolverOpts};
use hickory_resolver::lookup::Lookup;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use hickory_resolver::proto::rr::{Name, RecordType};
use record::{RecordAnswer, answer};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};
use system::SystemServers;
use tokio::runtime::Handle;

/// Responses kept, with and without records, each for its time to live; beyond them those that are asked for
/// least go.
const CACHE_ENTRIES_MAX: u64 = 1024;
/// The longest that "there is none" is kept, whatever the zone says (RFC 2308 section 5: one to three hours).
const NEGATIVE_TTL_MAX: Duration = Duration::from_secs(3600);
/// Aliases followed from one name (RFC 9460 section 3 asks for a bound).
const ALIASES_MAX: usize = 8;

/// Asks name servers over UDP, and over TCP where a response does not fit (feature `dns`). Responses are kept
/// for their time to live, 1,024 of them at most; a missing record for its zone's, an hour at most.
///
/// [`new`](Self::new), the default of a client, asks the name servers of the system for HTTPS records and
/// leaves addresses to the operating system: its hosts file, search domains and other sources of names
/// (`nsswitch.conf`) hold as for other programs. [`with_name_servers`](Self::with_name_servers) asks given
/// servers for both.
///
/// No record is asked for where DNS is not responsible or the answer would go past the user's own: names without a dot,
/// names under `localhost` and `local`, names of the hosts file.
#[derive(Clone)]
pub struct DnsResolver {
    servers: Servers,
}

#[derive(Clone)]
enum Servers {
    System(Arc<SystemServers>),
    Given(Box<TokioResolver>),
    /// Why the given ones cannot be used.
    Refused(Arc<str>),
}

impl DnsResolver {
    /// The name servers of the system, for HTTPS records alone. Its settings are read at the first lookup,
    /// and again where they are older than 10 s.
    pub fn new() -> Self {
        Self {
            servers: Servers::System(Arc::default()),
        }
    }
    /// These name servers, for addresses and HTTPS records; an address with port 0 stands for port 53. Names of
    /// the hosts file have the addresses that it gives. An empty list fails each lookup.
    pub fn with_name_servers(servers: impl IntoAddresses) -> Self {
        let servers = servers.into_addresses();
        let config = servers.into_iter().map(name_server).collect();
        let config = ResolverConfig::from_name_servers(config);
        let servers = match resolver(config, ResolverOpts::default()) {
            Ok(resolver) => Servers::Given(Box::new(resolver)),
            Err(error) => Servers::Refused(error.to_string().into()),
        };
        Self { servers }
    }
}

impl Default for DnsResolver {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for DnsResolver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let servers = match &self.servers {
            Servers::System(_) => "system",
            Servers::Given(_) => "given",
            Servers::Refused(_) => "refused",
        };
        f.debug_struct("DnsResolver")
            .field("servers", &servers)
            .finish()
    }
}

impl Resolver for DnsResolver {
    fn resolve(&self, host: &str, port: u16) -> Resolving {
        let resolver = match &self.servers {
            Servers::System(_) => return SystemResolver.resolve(host, port),
            Servers::Given(resolver) => resolver.clone(),
            Servers::Refused(why) => {
                let error = io::Error::other(why.to_string());
                return Box::pin(std::future::ready(Err(error)));
            }
        };
        let host = absolute(host);
        Box::pin(async move {
            let found = resolver.lookup_ip(host?).await.map_err(failure)?;
            Ok(found.iter().map(|ip| SocketAddr::new(ip, port)).collect())
        })
    }
    fn https_record(&self, host: &str, port: u16) -> ResolvingRecord {
        // Without a runtime, on an event loop of the program's own, there is nothing to ask with.
        let (true, Ok(runtime)) = (has_records(host), Handle::try_current()) else {
            return Box::pin(std::future::ready(Ok(None)));
        };
        let (servers, host) = (self.servers.clone(), host.to_owned());
        // A task of its own: a record that comes too late for this connection is kept for the next one.
        let lookup = runtime.spawn(async move {
            let resolver = match servers {
                Servers::System(system) => match system.current().await? {
                    current if current.hosts_file_has(&host) => return Ok(None),
                    current => current.resolver(),
                },
                Servers::Given(resolver) => *resolver,
                Servers::Refused(why) => return Err(io::Error::other(why.to_string())),
            };
            find(&resolver, &host, port).await
        });
        Box::pin(async move { lookup.await.map_err(io::Error::other)? })
    }
}

/// Whether DNS may have records of a name: it has no say in names without a dot (search domains would
/// complete them), `localhost` (RFC 6761 section 6.3) and `local` (RFC 6762).
fn has_records(host: &str) -> bool {
    let name = host.strip_suffix('.').unwrap_or(host);
    let last = name.rsplit_once('.').map(|(_, last)| last);
    last.is_some_and(|last| {
        !last.eq_ignore_ascii_case("localhost") && !last.eq_ignore_ascii_case("local")
    })
}

/// The record of `host` for `port`, its aliases followed.
async fn find(resolver: &TokioResolver, host: &str, port: u16) -> io::Result<Option<HttpsRecord>> {
    // RFC 9460 section 9.1: the default port needs no prefix.
    let mut name = match port {
        443 => absolute(host)?,
        _ => absolute(&format!("_{port}._https.{host}"))?,
    };
    let mut ttl = Duration::MAX;
    let mut alias = None;
    for _ in 0..=ALIASES_MAX {
        let found = match resolver.lookup(name, RecordType::HTTPS).await {
            Ok(found) => found,
            Err(error) if error.is_no_records_found() || error.is_nx_domain() => break,
            Err(error) => return Err(failure(error)),
        };
        ttl = ttl.min(time_to_live(&found));
        match answer(found.answers()) {
            RecordAnswer::None => return Ok(None),
            RecordAnswer::Alias(target) => {
                alias = Some(target.clone());
                name = target;
            }
            RecordAnswer::Service(mut record) => {
                record.ttl = ttl;
                if record.target.is_none() {
                    record.target = alias.as_ref().map(record::host);
                }
                return Ok(Some(record));
            }
        }
    }
    // RFC 9460 section 3: the addresses of the last alias are those of the service.
    Ok(alias.map(|alias| {
        let mut record = HttpsRecord::new(vec![b"http/1.1".to_vec()], ttl);
        record.target = Some(record::host(&alias));
        record
    }))
}

fn time_to_live(found: &Lookup) -> Duration {
    found
        .valid_until()
        .saturating_duration_since(Instant::now())
}

/// A name that search domains do not complete.
fn absolute(host: &str) -> io::Result<Name> {
    let wrong = |error| io::Error::new(io::ErrorKind::InvalidInput, error);
    let mut name = Name::from_ascii(host).map_err(wrong)?;
    name.set_fqdn(true);
    Ok(name)
}

fn name_server(address: SocketAddr) -> NameServerConfig {
    let mut connections = vec![ConnectionConfig::udp(), ConnectionConfig::tcp()];
    if address.port() != 0 {
        for connection in &mut connections {
            connection.port = address.port();
        }
    }
    NameServerConfig::new(address.ip(), true, connections)
}

fn resolver(config: ResolverConfig, mut options: ResolverOpts) -> io::Result<TokioResolver> {
    if config.name_servers().is_empty() {
        return Err(io::Error::other("there is no name server to ask"));
    }
    options.cache_size = CACHE_ENTRIES_MAX;
    options.negative_max_ttl = Some(NEGATIVE_TTL_MAX);
    let mut builder = TokioResolver::builder_with_config(config, TokioRuntimeProvider::default());
    *builder.options_mut() = options;
    builder.build().map_err(io::Error::other)
}

/// An error with the kind `NotFound` where the answer was that there is no such name, or nothing of it.
fn failure(error: hickory_resolver::net::NetError) -> io::Error {
    match error.is_nx_domain() || error.is_no_records_found() {
        true => io::Error::new(io::ErrorKind::NotFound, error),
        false => io::Error::other(error),
    }
}

#[cfg(test)]
#[path = "dns_test.rs"]
mod dns_test;
